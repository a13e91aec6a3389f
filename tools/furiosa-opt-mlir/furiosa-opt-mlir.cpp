//===- furiosa-opt-mlir.cpp - The optimizer driver ------------------------===//
//
// `mlir-opt` for the dialects, passes and pipelines of this stack, and the
// command `compile`.
//
//===----------------------------------------------------------------------===//

#include "furiosa/InitAllDialects.h"
#include "furiosa/InitAllPasses.h"
#include "furiosa/Support/DeepStack.h"
#include "furiosa/Support/WriteFile.h"
#include "furiosa/Tools/Compile.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

static int run(int argc, char **argv) {
  if (argc > 1 && llvm::StringRef(argv[1]) == "compile") {
    std::string name = std::string(argv[0]) + " compile";
    argv[1] = name.data();
    return furiosa::compileMain(argc - 1, argv + 1);
  }
  mlir::DialectRegistry registry;
  furiosa::registerAllDialects(registry);
  furiosa::registerAllPasses();
  mlir::LogicalResult result = mlir::MlirOptMain(
      argc, argv, "furiosa optimizer driver\n", registry);
  return furiosa::flushStandardOutput() && succeeded(result) ? 0 : 1;
}

int main(int argc, char **argv) {
  return furiosa::runOnDeepStack([&] { return run(argc, argv); });
}
