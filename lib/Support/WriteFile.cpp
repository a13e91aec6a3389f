//===- WriteFile.cpp - Whole files or none --------------------------------===//
//
// Temporary file, checked write, rename; interrupts between files only.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Support/WriteFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <unistd.h>

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

//===----------------------------------------------------------------------===//
// Interrupts
//===----------------------------------------------------------------------===//

/// A writer counts itself, then looks for a signal; the handler notes the
/// signal, then looks for writers: one of them sees the other.
static std::atomic<int> writers = 0, interrupt = 0;
static_assert(std::atomic<int>::is_always_lock_free);

static void handleInterrupt(int signal) {
  std::signal(signal, SIG_DFL);
  bool isSecond = interrupt.exchange(signal) != 0;
  if (isSecond || writers == 0)
    std::raise(signal);
}

void handleInterrupts() {
  constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};
  bool isIgnored[std::size(signals)];
  for (auto [signal, ignored] : zip_equal(signals, isIgnored)) {
    struct sigaction action;
    ignored =
        !sigaction(signal, nullptr, &action) && action.sa_handler == SIG_IGN;
  }
  // LLVM installs its handlers with its first temporary file: not behind ours.
  sys::SetInterruptFunction(nullptr);
  // What the parent ignores (nohup) stays ignored.
  for (auto [signal, ignored] : zip_equal(signals, isIgnored))
    std::signal(signal, ignored ? SIG_IGN : handleInterrupt);
}

namespace {
/// Held while there is a temporary file.
class WriteGuard {
public:
  WriteGuard() {
    ++writers;
    if (interrupt == 0)
      return;
    leave();
    // The last of the other writers ends the program.
    for (;;)
      pause();
  }
  ~WriteGuard() { leave(); }
  WriteGuard(const WriteGuard &) = delete;

private:
  static void leave() {
    if (--writers == 0)
      if (int signal = interrupt)
        std::raise(signal);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Temporary files
//===----------------------------------------------------------------------===//

static constexpr StringLiteral prefix = ".furiosa-", suffix = ".tmp";

bool isTemporaryName(StringRef name) {
  return name.starts_with(prefix) && name.ends_with(suffix);
}

struct TemporaryFile::Open {
  // Left last.
  WriteGuard guard;
  std::string target;
  std::optional<sys::fs::TempFile> file;
};

TemporaryFile::TemporaryFile(std::unique_ptr<Open> open)
    : open(std::move(open)) {}
TemporaryFile::TemporaryFile(TemporaryFile &&other) = default;

TemporaryFile &TemporaryFile::operator=(TemporaryFile &&other) {
  std::swap(open, other.open);
  return *this;
}

TemporaryFile::~TemporaryFile() {
  if (open && open->file)
    consumeError(open->file->discard());
}

Expected<TemporaryFile> createTemporary(StringRef target) {
  auto open = std::make_unique<TemporaryFile::Open>();
  open->target = target.str();
  SmallString<128> model(sys::path::parent_path(target));
  sys::path::append(model, prefix + "%%%%%%%%" + suffix);
  Expected<sys::fs::TempFile> file = sys::fs::TempFile::create(model);
  if (!file)
    return createFileError(target, file.takeError());
  open->file = std::move(*file);
  return TemporaryFile(std::move(open));
}

Error TemporaryFile::write(function_ref<Error(raw_ostream &)> write) {
  raw_fd_ostream os(open->file->FD, /*shouldClose=*/false);
  if (Error error = writeChecked(os, write))
    return createFileError(open->target, std::move(error));
  return Error::success();
}

Error TemporaryFile::keep() {
  Error error = open->file->keep(open->target);
  if (error)
    error = createFileError(open->target, std::move(error));
  open.reset();
  return error;
}

//===----------------------------------------------------------------------===//
// Whole files
//===----------------------------------------------------------------------===//

bool isStandardOutput(StringRef path) {
  return path == "-" || path == "/dev/stdout" || path == "/dev/fd/1" ||
         path == "/proc/self/fd/1";
}

bool isWrittenDirectly(StringRef path) {
  if (isStandardOutput(path))
    return true;
  sys::fs::file_status status;
  if (!sys::fs::status(path, status) && sys::fs::exists(status) &&
      !sys::fs::is_regular_file(status))
    return !sys::fs::is_directory(status);
  // /dev/stderr and its like are links, perhaps to a regular file.
  SmallString<128> folder;
  if (!sys::fs::is_symlink_file(path) ||
      sys::fs::real_path(sys::path::parent_path(path), folder))
    return false;
  return folder == "/dev" || folder.starts_with("/proc/");
}

std::string getFileIdentity(StringRef path) {
  SmallString<128> folder, whole(path);
  (void)sys::fs::make_absolute(whole);
  if (sys::fs::real_path(sys::path::parent_path(whole), folder)) {
    sys::path::remove_dots(whole, /*remove_dot_dot=*/true);
    return whole.str().str();
  }
  sys::path::append(folder, sys::path::filename(whole));
  return folder.str().str();
}

void InputFiles::add(StringRef path) {
  sys::fs::file_status status;
  std::error_code code = path == "-" ? sys::fs::status(STDIN_FILENO, status)
                                     : sys::fs::status(path, status);
  if (code || !sys::fs::exists(status))
    return;
  files.emplace_back(status.getUniqueID(), path.str());
}

StringRef InputFiles::findReplacedBy(StringRef output) const {
  sys::fs::UniqueID id;
  if (isWrittenDirectly(output) || sys::fs::getUniqueID(output, id))
    return "";
  for (const auto &[file, path] : files)
    if (file == id)
      return path;
  return "";
}

Error InputFiles::check(StringRef flag, StringRef output) const {
  StringRef input = findReplacedBy(output);
  if (input.empty())
    return Error::success();
  return createStringError(flag + " would overwrite the input '" +
                           (input == "-" ? output : input) + "'");
}

Error writeFile(StringRef path, function_ref<Error(raw_ostream &)> write) {
  if (isStandardOutput(path)) {
    if (Error error = writeChecked(outs(), write))
      return createFileError("<stdout>", std::move(error));
    return Error::success();
  }
  if (isWrittenDirectly(path)) {
    std::error_code code;
    raw_fd_ostream os(path, code);
    if (code)
      return createFileError(path, code);
    if (Error error = writeChecked(os, write))
      return createFileError(path, std::move(error));
    return Error::success();
  }
  Expected<TemporaryFile> file = createTemporary(path);
  if (!file)
    return file.takeError();
  if (Error error = file->write(write))
    return error;
  return file->keep();
}

void reserveStandardStreams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) == -1 && errno == EBADF)
      // The lowest number that is free: all before it are in use. The wrong way
      // round, so that using it is an error as before.
      (void)open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  // LLVM's command line ends the program when it has printed its help. The
  // stream is made first, so that this comes before its destructor, for which
  // output that is lost is fatal.
  (void)outs();
  (void)errs();
  std::atexit([] {
    if (!flushStandardOutput())
      std::_Exit(1);
  });
}

bool flushStandardOutput() {
  // What standard error did not take is lost: its stream would make that a
  // fatal error when the program ends, and nobody would hear of it.
  errs().clear_error();
  outs().flush();
  if (!outs().has_error())
    return true;
  WithColor::error() << "cannot write to standard output: "
                     << outs().error().message() << "\n";
  outs().clear_error();
  return false;
}

} // namespace furiosa
