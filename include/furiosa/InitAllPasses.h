//===- InitAllPasses.h - Registration of passes -----------------*- C++ -*-===//
//
// The one place that lists the passes and pipelines of the stack.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_INITALLPASSES_H
#define FURIOSA_INITALLPASSES_H

#include "furiosa/Conversion/Passes.h"
#include "furiosa/Conversion/Pipelines.h"
#include "furiosa/Dialect/Resource/Transforms/Passes.h"
#include "furiosa/Dialect/VISA/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

namespace furiosa {

inline void registerAllPasses() {
  registerFuriosaConversionPasses();
  registerFuriosaPipelines();
  resource::registerResourcePasses();
  visa::registerVISAPasses();
  mlir::registerTransformsPasses();
}

} // namespace furiosa

#endif // FURIOSA_INITALLPASSES_H
