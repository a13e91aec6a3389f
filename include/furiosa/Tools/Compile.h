//===- Compile.h - The compile command --------------------------*- C++ -*-===//
//
// Kernels of a module, one by one, and the command that turns them into files.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_TOOLS_COMPILE_H
#define FURIOSA_TOOLS_COMPILE_H

#include "furiosa/Target/RNGD/EDF.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <string>

namespace furiosa {

/// Whether an op is a kernel of any level.
bool isKernel(mlir::Operation *op);

/// `module::function` below the package.
std::string getFullName(mlir::Operation *kernel);

/// The name of the outermost named module around a kernel; empty if no module
/// around it has a name.
std::string getPackage(mlir::Operation *kernel);

/// A module with one kernel and what it reaches.
struct KernelSlice {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Operation *kernel = nullptr;
};

/// Names of a module and what they stand for, for all slices of it.
class SliceSymbols {
public:
  /// What a symbol used in `user` stands for; null if there is nothing.
  mlir::Operation *lookup(mlir::Operation *user, mlir::SymbolRefAttr symbol) {
    return tables.lookupNearestSymbolFrom(user, symbol);
  }
  /// Another op with the name of `op` in its module; null if there is none.
  mlir::Operation *findTwin(mlir::Operation *op);

private:
  mlir::SymbolTableCollection tables;
  /// By module and name: the ops, at most two.
  llvm::DenseMap<
      mlir::Operation *,
      llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<mlir::Operation *, 2>>>
      named;
};

/// Copies a kernel, the symbols it reaches and the modules around them, in
/// their order. Other kernels are left out; one that is called is a plain
/// function in the copy. The module need not be verified: fails with
/// diagnostics where an op is so faulty that it cannot be copied or written.
mlir::FailureOr<KernelSlice> extractSlice(mlir::Operation *kernel,
                                          SliceSymbols &symbols);

/// Lowers one kernel, with its helpers and without the other kernels, to a
/// binary. Faults are diagnostics; `module`, which the kernel is in, is not
/// changed.
mlir::FailureOr<rngd::edf::Kernel> compileKernel(mlir::ModuleOp module,
                                                 mlir::Operation *kernel);

/// `furiosa-opt-mlir compile FILE… [FILTER]…`; see docs/compile.md. `argv[0]`
/// is the name shown in messages.
int compileMain(int argc, char **argv);

} // namespace furiosa

#endif // FURIOSA_TOOLS_COMPILE_H
