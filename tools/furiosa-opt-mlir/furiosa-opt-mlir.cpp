//===- furiosa-opt-mlir.cpp - The optimizer driver ------------------------===//
//
// `mlir-opt` for the dialects, passes and pipelines of this stack.
//
//===----------------------------------------------------------------------===//

#include "furiosa/InitAllDialects.h"
#include "furiosa/InitAllPasses.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  furiosa::registerAllDialects(registry);
  furiosa::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "furiosa optimizer driver\n", registry));
}
