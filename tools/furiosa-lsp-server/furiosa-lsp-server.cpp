//===- furiosa-lsp-server.cpp - Language server ---------------------------===//
//
// Diagnostics, hover and completion in editors for all dialects of the stack.
//
//===----------------------------------------------------------------------===//

#include "furiosa/InitAllDialects.h"
#include "furiosa/Support/Version.h"
#include "furiosa/Support/WriteFile.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  furiosa::reserveStandardStreams();
  furiosa::announceVersion();
  mlir::DialectRegistry registry;
  furiosa::registerAllDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
