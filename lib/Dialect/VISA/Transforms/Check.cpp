//===- Check.cpp - The pass visa-check ------------------------------------===//

#include "furiosa/Dialect/VISA/IR/KernelCheck.h"
#include "furiosa/Dialect/VISA/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace furiosa::visa {
#define GEN_PASS_DEF_VISACHECK
#include "furiosa/Dialect/VISA/Transforms/Passes.h.inc"
} // namespace furiosa::visa

using namespace furiosa::visa;

namespace {
struct Check : public impl::VISACheckBase<Check> {
  using Base::Base;

  void runOnOperation() override {
    mlir::func::FuncOp function = getOperation();
    bool isKernel = function->hasAttr(VISADialect::getKernelAttrName());
    if (function.isExternal() ||
        (!isKernel &&
         succeeded(checkOutsideKernels(function, /*mayInline=*/true))))
      return markAllAnalysesPreserved();
    if (!isKernel || failed(checkKernel(function)))
      return signalPassFailure();
    emitWarnings(function);
    markAllAnalysesPreserved();
  }
};
} // namespace
