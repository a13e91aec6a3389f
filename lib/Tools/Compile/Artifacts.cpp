//===- Artifacts.cpp - Files that compiling leaves ------------------------===//

#include "Artifacts.h"

#include "furiosa/Support/WriteFile.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace furiosa::compile {

bool isFileName(StringRef name) {
  return !name.empty() && name.front() != '.' &&
         name.find_first_of(StringRef("/\0", 2)) == StringRef::npos;
}

std::error_code makeFolders(const Twine &path) {
  if (std::error_code error = sys::fs::create_directories(
          path, /*IgnoreExisting=*/true, sys::fs::perms::all_all))
    return error;
  // LLVM is content with anything of that name.
  return sys::fs::is_directory(path)
             ? std::error_code()
             : std::make_error_code(std::errc::not_a_directory);
}

Error writeBytes(StringRef path, ArrayRef<uint8_t> bytes) {
  return writeText(path, toStringRef(bytes));
}

/// Whether a file holds these bytes; if so it is made to look new.
static bool refresh(StringRef path, StringRef text) {
  // To open a pipe would wait for its other end.
  if (isWrittenDirectly(path))
    return false;
  sys::fs::file_status status;
  if (sys::fs::status(path, status) || !sys::fs::is_regular_file(status) ||
      status.getSize() != text.size())
    return false;
  int file;
  if (sys::fs::openFileForRead(path, file))
    return false;
  scope_exit close([&] { sys::Process::SafelyCloseFileDescriptor(file); });
  auto buffer = MemoryBuffer::getOpenFile(file, path, status.getSize(),
                                          /*RequiresNullTerminator=*/false);
  return buffer && (*buffer)->getBuffer() == text &&
         !sys::fs::setLastAccessAndModificationTime(
             file, std::chrono::system_clock::now());
}

Error writeText(StringRef path, StringRef text) {
  if (refresh(path, text))
    return Error::success();
  return writeFile(path, [&](raw_ostream &os) {
    os << text;
    return Error::success();
  });
}

static std::string escape(StringRef path) {
  std::string out;
  for (char c : path) {
    if (c == '$')
      out += '$';
    else if (StringRef(" #:\t\\").contains(c))
      out += '\\';
    out += c;
  }
  return out;
}

Expected<std::string> makeDependency(StringRef artifact, StringRef input) {
  for (StringRef path : {artifact, input})
    if (path.contains('\n'))
      return createStringError("a depfile cannot name a path with a line break");
  return escape(artifact) + ": " + escape(input) + "\n";
}

std::string getDepfilePath(StringRef artifact) {
  artifact.consume_back(".edf");
  return (artifact + ".d").str();
}

} // namespace furiosa::compile
