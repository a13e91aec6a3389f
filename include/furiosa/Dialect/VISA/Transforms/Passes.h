//===- Passes.h - Passes on visa --------------------------------*- C++ -*-===//

#ifndef FURIOSA_DIALECT_VISA_TRANSFORMS_PASSES_H
#define FURIOSA_DIALECT_VISA_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace furiosa::visa {

#define GEN_PASS_DECL
#include "furiosa/Dialect/VISA/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "furiosa/Dialect/VISA/Transforms/Passes.h.inc"

} // namespace furiosa::visa

#endif // FURIOSA_DIALECT_VISA_TRANSFORMS_PASSES_H
