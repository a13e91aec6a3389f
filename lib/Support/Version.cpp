//===- Version.cpp - What this is, and how new ----------------------------===//

#include "furiosa/Support/Version.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

namespace furiosa {

void announceVersion() {
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &os) {
    os << "furiosa-opt-mlir " FURIOSA_VERSION " (LLVM " LLVM_VERSION_STRING
          ")\n";
  });
}

} // namespace furiosa
