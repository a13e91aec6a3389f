//===- WriteFile.cpp - Whole files or none --------------------------------===//
//
// Temporary file, checked write, rename.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Support/WriteFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace furiosa {

/// Runs `write` and turns what the stream noticed into an error: its destructor
/// would end the program otherwise.
static Error writeChecked(raw_fd_ostream &os,
                          function_ref<Error(raw_ostream &)> write) {
  Error error = write(os);
  os.flush();
  std::error_code code = os.error();
  os.clear_error();
  if (error || !code)
    return error;
  return errorCodeToError(code);
}

Error writeFile(StringRef path, function_ref<Error(raw_ostream &)> write) {
  if (path == "-") {
    if (Error error = writeChecked(outs(), write))
      return createFileError("<stdout>", std::move(error));
    return Error::success();
  }

  // A rename would replace a device or pipe instead of writing to it.
  sys::fs::file_status status;
  if (!sys::fs::status(path, status) && sys::fs::exists(status) &&
      !sys::fs::is_regular_file(status)) {
    std::error_code code;
    raw_fd_ostream os(path, code);
    if (code)
      return createFileError(path, code);
    if (Error error = writeChecked(os, write))
      return createFileError(path, std::move(error));
    return Error::success();
  }

  Expected<sys::fs::TempFile> file =
      sys::fs::TempFile::create(path + ".tmp-%%%%%%%%");
  if (!file)
    return createFileError(path, file.takeError());
  raw_fd_ostream os(file->FD, /*shouldClose=*/false);
  if (Error error = writeChecked(os, write)) {
    consumeError(file->discard());
    return createFileError(path, std::move(error));
  }
  if (Error renamed = file->keep(path))
    return createFileError(path, std::move(renamed));
  return Error::success();
}

bool flushStandardOutput() {
  outs().flush();
  if (!outs().has_error())
    return true;
  errs() << "error: cannot write to standard output: "
         << outs().error().message() << "\n";
  outs().clear_error();
  return false;
}

} // namespace furiosa
