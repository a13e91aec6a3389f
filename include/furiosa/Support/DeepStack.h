//===- DeepStack.h - Programs that take deeply nested input -----*- C++ -*-===//

#ifndef FURIOSA_SUPPORT_DEEPSTACK_H
#define FURIOSA_SUPPORT_DEEPSTACK_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/ProgramStack.h"

namespace furiosa {

/// Runs a program's main function on a stack of 1 GiB (reserved, not used):
/// MLIR parses, verifies and prints nested regions by recursion, and ten
/// thousand nested loops are legal text. AddressSanitizer cannot give such a
/// stack back, so under it the program keeps its own.
inline int runOnDeepStack(llvm::function_ref<int()> body) {
#if LLVM_ADDRESS_SANITIZER_BUILD
  return body();
#endif
  int result = 1;
  llvm::runOnNewStack(1u << 30, [&] { result = body(); });
  return result;
}

} // namespace furiosa

#endif // FURIOSA_SUPPORT_DEEPSTACK_H
