//===- Compile.h - The compile command --------------------------*- C++ -*-===//

#ifndef FURIOSA_TOOLS_COMPILE_H
#define FURIOSA_TOOLS_COMPILE_H

#include "furiosa/Target/RNGD/EDF.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace furiosa {

/// Whether an op is a kernel of any level.
bool isKernel(mlir::Operation *op);

/// `module::function` below the outermost module.
std::string getFullName(mlir::Operation *kernel);

/// Lowers one kernel of `module`, with its helpers and without the other
/// kernels, to a binary. Faults are diagnostics; `module` is not changed.
mlir::FailureOr<rngd::edf::Kernel> compileKernel(mlir::ModuleOp module,
                                                 mlir::Operation *kernel);

/// `furiosa-opt-mlir compile FILE… -o DIR [--release R]`: kernels to EDF
/// files. `argv[0]` is the name shown in messages.
int compileMain(int argc, char **argv);

} // namespace furiosa

#endif // FURIOSA_TOOLS_COMPILE_H
