//===- Passes.h - Conversions between levels --------------------*- C++ -*-===//

#ifndef FURIOSA_CONVERSION_PASSES_H
#define FURIOSA_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace furiosa {

#define GEN_PASS_DECL
#include "furiosa/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "furiosa/Conversion/Passes.h.inc"

} // namespace furiosa

#endif // FURIOSA_CONVERSION_PASSES_H
