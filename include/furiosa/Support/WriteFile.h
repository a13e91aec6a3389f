//===- WriteFile.h - Whole files or none ------------------------*- C++ -*-===//
//
// Writing of output files such that neither a failure nor an interrupt leaves a
// part of one behind.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_SUPPORT_WRITEFILE_H
#define FURIOSA_SUPPORT_WRITEFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem/UniqueID.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace furiosa {

/// Whether a path names standard output: "-", or the device.
bool isStandardOutput(llvm::StringRef path);

/// Whether a rename to `path` would replace what it should write to: standard
/// output, a pipe, a device, or a name of an open file.
bool isWrittenDirectly(llvm::StringRef path);

/// A path by which an output file can be told from others: two spellings of one
/// path have the same.
std::string getFileIdentity(llvm::StringRef path);

/// The files that a run reads. No output of the run may replace one of them,
/// however the two are spelled.
class InputFiles {
public:
  /// "-" is standard input.
  void add(llvm::StringRef path);
  /// The input that writing `output` would replace, as `add` got it; empty if
  /// there is none. Pipes and devices are not replaced.
  llvm::StringRef findReplacedBy(llvm::StringRef output) const;
  /// An error if `output`, of a flag such as "-o", would replace an input.
  llvm::Error check(llvm::StringRef flag, llvm::StringRef output) const;

private:
  std::vector<std::pair<llvm::sys::fs::UniqueID, std::string>> files;
};

/// A file that becomes `target` when it is kept, and nothing otherwise. While
/// there is one an interrupt waits (`handleInterrupts`).
class TemporaryFile {
public:
  /// Errors name `target`.
  llvm::Error write(llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write);
  /// Renames it to `target`.
  llvm::Error keep();

  TemporaryFile(TemporaryFile &&other);
  TemporaryFile &operator=(TemporaryFile &&other);
  ~TemporaryFile();

private:
  friend llvm::Expected<TemporaryFile> createTemporary(llvm::StringRef target);
  struct Open;
  explicit TemporaryFile(std::unique_ptr<Open> open);
  std::unique_ptr<Open> open;
};

/// Makes `.furiosa-XXXXXXXX.tmp` in the folder of `target`: short, so that any
/// name that the folder can hold can be written.
llvm::Expected<TemporaryFile> createTemporary(llvm::StringRef target);

/// Whether a file name is one of a temporary file.
bool isTemporaryName(llvm::StringRef name);

/// To be called before anything is opened. Keeps the numbers of standard streams
/// that are closed from being given to files, which would get what is printed;
/// reading or writing them stays an error. However the program ends (`--help`
/// exits), it says if standard output did not take all, and exits with 1.
void reserveStandardStreams();

/// From now on an interrupt, a hang-up or a request to end ends the program at
/// once if there is no temporary file, else when the last one is kept or gone;
/// a second one ends it at once.
void handleInterrupts();

/// Calls `write` with a stream to a temporary file beside `path` and renames it
/// to `path` if that succeeds; otherwise an earlier file stays as it was. Path
/// "-" is standard output; pipes and devices are written directly. An error
/// names the file.
llvm::Error
writeFile(llvm::StringRef path,
          llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write);

/// For the end of a program: flushes standard output; false, and a message on
/// standard error, if what was printed did not all arrive (a full disk).
bool flushStandardOutput();

} // namespace furiosa

#endif // FURIOSA_SUPPORT_WRITEFILE_H
