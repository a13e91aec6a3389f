//===- InitAllDialects.h - Registration of dialects -------------*- C++ -*-===//
//
// The one place that lists the dialects of the stack.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_INITALLDIALECTS_H
#define FURIOSA_INITALLDIALECTS_H

#include "furiosa/Conversion/LinalgToTMap.h"
#include "furiosa/Dialect/LIR/IR/LIR.h"
#include "furiosa/Dialect/Resource/IR/Resource.h"
#include "furiosa/Dialect/TensorMapping/IR/TensorMapping.h"
#include "furiosa/Dialect/VISA/IR/VISA.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace furiosa {

inline void registerAllDialects(mlir::DialectRegistry &registry) {
  registry
      .insert<mlir::arith::ArithDialect, mlir::func::FuncDialect,
              mlir::scf::SCFDialect, lir::LIRDialect, resource::ResourceDialect,
              tmap::TMapDialect, visa::VISADialect>();
  registerLinalgDialects(registry);
  mlir::func::registerInlinerExtension(registry);
  // A function may carry the mark of a kernel and hold nothing of visa; only a
  // loaded dialect checks its attributes.
  registry.addExtension(
      +[](mlir::MLIRContext *context, mlir::func::FuncDialect *) {
        context->loadDialect<visa::VISADialect>();
      });
}

} // namespace furiosa

#endif // FURIOSA_INITALLDIALECTS_H
