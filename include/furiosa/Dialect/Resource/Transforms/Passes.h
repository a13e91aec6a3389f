//===- Passes.h - Passes on resource programs -------------------*- C++ -*-===//

#ifndef FURIOSA_DIALECT_RESOURCE_TRANSFORMS_PASSES_H
#define FURIOSA_DIALECT_RESOURCE_TRANSFORMS_PASSES_H

#include "furiosa/Dialect/Resource/IR/Resource.h"

#include "mlir/Pass/Pass.h"

namespace furiosa::resource {

#define GEN_PASS_DECL
#include "furiosa/Dialect/Resource/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "furiosa/Dialect/Resource/Transforms/Passes.h.inc"

} // namespace furiosa::resource

#endif // FURIOSA_DIALECT_RESOURCE_TRANSFORMS_PASSES_H
