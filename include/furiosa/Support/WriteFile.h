//===- WriteFile.h - Whole files or none ------------------------*- C++ -*-===//
//
// Writing of output files such that a failure leaves no part of one behind.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_SUPPORT_WRITEFILE_H
#define FURIOSA_SUPPORT_WRITEFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace furiosa {

/// Calls `write` with a stream to a temporary file beside `path` and renames it
/// to `path` if that succeeds; otherwise an earlier file stays as it was. Path
/// "-" is standard output; pipes and devices are written directly. An error
/// names the file.
llvm::Error
writeFile(llvm::StringRef path,
          llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write);

/// Flushes standard output; false, and a message on standard error, if what was
/// printed did not all arrive (a full disk).
bool flushStandardOutput();

} // namespace furiosa

#endif // FURIOSA_SUPPORT_WRITEFILE_H
