//===- InlinedKernel.cpp - A kernel with what it calls --------------------===//
//
// Helpers are inlined before a kernel is lowered: what a call gives (a tensor,
// a view, an index, a condition) is known there, and so are the rules on it.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/VISA/IR/KernelCheck.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;

/// Calls that are copied at most: helpers that call helpers twice each double.
static constexpr unsigned maxCalls = 4096;

namespace {
/// A call of the copy and where its callee's name is looked up.
struct Call {
  func::CallOp op;
  Operation *scope;
  /// The functions it stands in, for recursion.
  SmallVector<Operation *> stack;
};

class Inliner {
public:
  explicit Inliner(FunctionOpInterface kernel) : kernel(kernel) {}
  FailureOr<OwningOpRef<Operation *>> run();

private:
  void addCalls(Operation *root, Operation *scope, ArrayRef<Operation *> stack);
  LogicalResult inlineCall(Call call);
  /// Whether the ops of a function are well formed, which nobody may have asked
  /// yet.
  LogicalResult verifyBody(func::FuncOp function);

  FunctionOpInterface kernel;
  std::vector<Call> calls;
  SmallPtrSet<Operation *, 8> verified;
};
} // namespace

void Inliner::addCalls(Operation *root, Operation *scope,
                       ArrayRef<Operation *> stack) {
  root->walk([&](func::CallOp call) {
    calls.push_back({call, scope, llvm::to_vector(stack)});
  });
}

LogicalResult Inliner::verifyBody(func::FuncOp function) {
  if (!verified.insert(function).second)
    return success();
  if (failed(function->getName().verifyInvariants(function)))
    return failure();
  for (Operation &op : function.getBody().getOps())
    if (failed(verify(&op)))
      return failure();
  return success();
}

LogicalResult Inliner::inlineCall(Call call) {
  auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call.scope, call.op.getCalleeAttr());
  // What is no call of a helper is said by others: the op's own verifier, and
  // the lowering.
  if (!function || function->getNumRegions() != 1 || function.isExternal() ||
      !llvm::hasSingleElement(function.getBody()) ||
      llvm::is_contained(call.stack, function))
    return success();
  if (failed(verifyBody(function)))
    return failure();
  Block &body = function.getBody().front();
  if (body.empty() || !isa<func::ReturnOp>(body.back()) ||
      body.getArgumentTypes() != call.op.getOperandTypes() ||
      body.back().getOperandTypes() != call.op.getResultTypes())
    return success();
  IRMapping mapping;
  mapping.map(body.getArguments(), call.op.getOperands());
  OpBuilder builder(call.op);
  call.stack.push_back(function);
  for (Operation &op : body.without_terminator()) {
    Operation *copy = builder.clone(op, mapping);
    copy->walk([&](Operation *nested) {
      nested->setLoc(CallSiteLoc::get(nested->getLoc(), call.op.getLoc()));
    });
    addCalls(copy, function, call.stack);
  }
  for (auto [result, value] :
       llvm::zip_equal(call.op.getResults(), body.back().getOperands()))
    result.replaceAllUsesWith(mapping.lookup(value));
  call.op.erase();
  return success();
}

FailureOr<OwningOpRef<Operation *>> Inliner::run() {
  OwningOpRef<Operation *> copy(kernel->clone());
  // The modules around are not there to ask.
  (*copy)->setAttr(VISADialect::getTargetAttrName(), getTarget(kernel));
  addCalls(*copy, kernel, {kernel});
  for (size_t i = 0; i < calls.size() && i < maxCalls; ++i)
    if (failed(inlineCall(calls[i])))
      return failure();
  return copy;
}

FailureOr<OwningOpRef<Operation *>>
visa::inlineIntoCopy(FunctionOpInterface kernel) {
  bool hasCalls =
      kernel->walk([](func::CallOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  if (!hasCalls)
    return OwningOpRef<Operation *>();
  return Inliner(kernel).run();
}

LogicalResult visa::checkOutsideKernels(Operation *root, bool mayInline) {
  bool ok = true;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->hasAttr(VISADialect::getKernelAttrName()))
      return WalkResult::skip();
    bool hasTensors =
        isa_and_nonnull<VISADialect>(op->getDialect()) || usesTensors(op);
    if (auto function = dyn_cast<FunctionOpInterface>(op)) {
      if (mayInline && function.isPrivate())
        return WalkResult::skip();
      hasTensors |= llvm::any_of(function.getArgumentTypes(), isTensor) ||
                    llvm::any_of(function.getResultTypes(), isTensor);
    }
    if (!hasTensors)
      return WalkResult::advance();
    FaultReporter(op).notYetSupported()
        << "tensors outside of a kernel; make a helper private, so that it is "
           "inlined into its callers, or mark a kernel as visa.kernel";
    ok = false;
    // One message for each function.
    return WalkResult::skip();
  });
  return success(ok);
}
