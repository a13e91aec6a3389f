//===- GivenOptions.h - What a command line says twice or not ---*- C++ -*-===//

#ifndef FURIOSA_SUPPORT_GIVENOPTIONS_H
#define FURIOSA_SUPPORT_GIVENOPTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/CommandLine.h"

#include <string>

namespace furiosa {

/// What is wrong with the options that were given, as a message; empty if
/// nothing is. LLVM's command line takes the last of several values of an
/// option, and an empty one: here an option that takes one value may be given
/// once, and those of `named`, which are paths and names, not without one.
std::string findOptionFault(
    llvm::ArrayRef<const llvm::cl::opt<std::string> *> named = {});

} // namespace furiosa

#endif // FURIOSA_SUPPORT_GIVENOPTIONS_H
