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
    if (!function->hasAttr(VISADialect::getKernelAttrName()) ||
        function.isExternal())
      return markAllAnalysesPreserved();
    if (failed(checkKernel(function)))
      return signalPassFailure();
    emitWarnings(function);
    markAllAnalysesPreserved();
  }
};
} // namespace
