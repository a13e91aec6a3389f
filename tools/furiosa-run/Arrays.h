//===- Arrays.h - Arguments from text, results to text and files -*- C++
//-*-===//

#ifndef FURIOSA_TOOLS_FURIOSA_RUN_ARRAYS_H
#define FURIOSA_TOOLS_FURIOSA_RUN_ARRAYS_H

#include "Runner.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace furiosa::run {

/// The array of an argument: a file `NAME.npy`, or a fill such as `random:1`;
/// of a number also that number.
llvm::Expected<HostArray> makeArgument(const Operand &operand,
                                       llvm::StringRef spec);

/// Name, type, shape, count, hash, first values, and undefined cells.
llvm::Error printResult(llvm::raw_ostream &os, const Operand &operand,
                        const HostArray &array);

/// An array and where it goes.
struct OutputFile {
  std::string path;
  const HostArray *array;
};

/// Writes all files or none: each is complete under another name before the
/// first one appears.
llvm::Error writeOutputs(llvm::ArrayRef<OutputFile> files);

} // namespace furiosa::run

#endif // FURIOSA_TOOLS_FURIOSA_RUN_ARRAYS_H
