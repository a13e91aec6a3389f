//===- Control.cpp - Loops, branches and index arithmetic -----------------===//

#include "Execution.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::interpreter;

//===----------------------------------------------------------------------===//
// arith
//===----------------------------------------------------------------------===//

/// Bits of an integer or index type; 0 for another.
static unsigned getWidth(Type type) {
  if (type.isIndex())
    return IndexType::kInternalStorageBitWidth;
  auto integer = dyn_cast<IntegerType>(type);
  return integer ? integer.getWidth() : 0;
}

static LogicalResult checkScalars(Operation *op) {
  for (Type type : op->getOperandTypes())
    if (getWidth(type) == 0)
      return op->emitError()
             << "not yet supported: '" << op->getName() << "' on " << type;
  return success();
}

static LogicalResult interpretConstant(arith::ConstantOp op,
                                       KernelExecution &execution) {
  if (auto value = dyn_cast<IntegerAttr>(op.getValue()))
    execution.bind(op.getResult(), value.getValue());
  else if (auto number = dyn_cast<FloatAttr>(op.getValue()))
    execution.bind(op.getResult(), number.getValue().bitcastToAPInt());
  else
    return op.emitError() << "not yet supported: a constant of type "
                          << op.getType();
  return success();
}

template <typename OpT, typename Function>
static LogicalResult interpretBinary(OpT op, KernelExecution &execution,
                                     Function function) {
  if (failed(checkScalars(op)))
    return failure();
  execution.bind(op.getResult(),
                 APInt(function(execution.getInteger(op.getLhs()),
                                execution.getInteger(op.getRhs()))));
  return success();
}

static LogicalResult interpretAdd(arith::AddIOp op,
                                  KernelExecution &execution) {
  return interpretBinary(op, execution, std::plus<APInt>());
}
static LogicalResult interpretSub(arith::SubIOp op,
                                  KernelExecution &execution) {
  return interpretBinary(op, execution, std::minus<APInt>());
}
static LogicalResult interpretMul(arith::MulIOp op,
                                  KernelExecution &execution) {
  return interpretBinary(op, execution, std::multiplies<APInt>());
}

static LogicalResult interpretAnd(arith::AndIOp op,
                                  KernelExecution &execution) {
  return interpretBinary(op, execution, std::bit_and<APInt>());
}

/// Ops of one function of two integers; `divides` where it must not be 0.
template <typename OpT, auto function, bool divides = false>
static LogicalResult interpretPlain(OpT op, KernelExecution &execution) {
  if (failed(checkScalars(op)))
    return failure();
  if (divides && execution.getInteger(op.getRhs()).isZero())
    return op.emitError() << "'" << op->getName() << "' divides by 0";
  return interpretBinary(op, execution, function);
}

static APInt orBits(const APInt &lhs, const APInt &rhs) { return lhs | rhs; }
static APInt xorBits(const APInt &lhs, const APInt &rhs) { return lhs ^ rhs; }
static APInt divideSigned(const APInt &lhs, const APInt &rhs) {
  return lhs.sdiv(rhs);
}
static APInt divideUnsigned(const APInt &lhs, const APInt &rhs) {
  return lhs.udiv(rhs);
}
static APInt divideDown(const APInt &lhs, const APInt &rhs) {
  return llvm::APIntOps::RoundingSDiv(lhs, rhs, APInt::Rounding::DOWN);
}
static APInt divideUp(const APInt &lhs, const APInt &rhs) {
  return llvm::APIntOps::RoundingSDiv(lhs, rhs, APInt::Rounding::UP);
}
static APInt divideUpUnsigned(const APInt &lhs, const APInt &rhs) {
  return llvm::APIntOps::RoundingUDiv(lhs, rhs, APInt::Rounding::UP);
}
static APInt getRestSigned(const APInt &lhs, const APInt &rhs) {
  return lhs.srem(rhs);
}
static APInt getRestUnsigned(const APInt &lhs, const APInt &rhs) {
  return lhs.urem(rhs);
}
static APInt getLess(const APInt &lhs, const APInt &rhs) {
  return llvm::APIntOps::smin(lhs, rhs);
}
static APInt getMore(const APInt &lhs, const APInt &rhs) {
  return llvm::APIntOps::smax(lhs, rhs);
}

/// Attaches the models of ops that compute a counter from others.
static void attachPlainOps(MLIRContext &context) {
  auto attach = [&]<typename OpT, auto function, bool divides>() {
    OpT::template attachInterface<
        KernelOpModel<OpT, interpretPlain<OpT, function, divides>>>(context);
  };
  attach.operator()<arith::OrIOp, orBits, false>();
  attach.operator()<arith::XOrIOp, xorBits, false>();
  attach.operator()<arith::MinSIOp, getLess, false>();
  attach.operator()<arith::MaxSIOp, getMore, false>();
  attach.operator()<arith::DivSIOp, divideSigned, true>();
  attach.operator()<arith::DivUIOp, divideUnsigned, true>();
  attach.operator()<arith::FloorDivSIOp, divideDown, true>();
  attach.operator()<arith::CeilDivSIOp, divideUp, true>();
  attach.operator()<arith::CeilDivUIOp, divideUpUnsigned, true>();
  attach.operator()<arith::RemSIOp, getRestSigned, true>();
  attach.operator()<arith::RemUIOp, getRestUnsigned, true>();
}

static LogicalResult interpretCompare(arith::CmpIOp op,
                                      KernelExecution &execution) {
  return interpretBinary(
      op, execution, [&](const APInt &lhs, const APInt &rhs) {
        return APInt(1, arith::applyCmpPredicate(op.getPredicate(), lhs, rhs));
      });
}

static LogicalResult interpretSelect(arith::SelectOp op,
                                     KernelExecution &execution) {
  if (getWidth(op.getCondition().getType()) != 1)
    return op.emitError() << "not yet supported: a condition of type "
                          << op.getCondition().getType();
  bool condition = execution.getInteger(op.getCondition()).isOne();
  RuntimeValue chosen =
      execution.get(condition ? op.getTrueValue() : op.getFalseValue());
  execution.bind(op.getResult(), std::move(chosen));
  return success();
}

static LogicalResult interpretIndexCast(arith::IndexCastOp op,
                                        KernelExecution &execution) {
  if (failed(checkScalars(op)))
    return failure();
  execution.bind(
      op.getResult(),
      execution.getInteger(op.getIn()).sextOrTrunc(getWidth(op.getType())));
  return success();
}

//===----------------------------------------------------------------------===//
// scf
//===----------------------------------------------------------------------===//

/// Runs a block and gives what its terminator yields.
static LogicalResult runRegion(Block &block, KernelExecution &execution,
                               SmallVectorImpl<RuntimeValue> &yielded) {
  if (failed(execution.runBlock(block)))
    return failure();
  yielded.clear();
  for (Value value : block.getTerminator()->getOperands())
    yielded.push_back(execution.get(value));
  return success();
}

static LogicalResult interpretFor(scf::ForOp op, KernelExecution &execution) {
  APInt at = execution.getInteger(op.getLowerBound());
  APInt end = execution.getInteger(op.getUpperBound());
  APInt step = execution.getInteger(op.getStep());
  bool isUnsigned = op.getUnsignedCmp();
  if (isUnsigned ? step.isZero() : !step.isStrictlyPositive())
    return op.emitError() << "a loop step of " << step.getSExtValue();
  SmallVector<RuntimeValue> carried;
  for (Value value : op.getInitArgs())
    carried.push_back(execution.get(value));
  auto before = [&](const APInt &lhs, const APInt &rhs) {
    return isUnsigned ? lhs.ult(rhs) : lhs.slt(rhs);
  };
  while (before(at, end)) {
    if (failed(execution.count(op)))
      return failure();
    execution.bind(op.getInductionVar(), at);
    for (auto [argument, value] :
         llvm::zip_equal(op.getRegionIterArgs(), carried))
      execution.bind(argument, value);
    if (failed(runRegion(*op.getBody(), execution, carried)))
      return failure();
    // The last step may leave the range of the type.
    if (!(end - at).ugt(step))
      break;
    at += step;
  }
  for (auto [result, value] : llvm::zip_equal(op.getResults(), carried))
    execution.bind(result, value);
  return success();
}

static LogicalResult interpretIf(scf::IfOp op, KernelExecution &execution) {
  Block *block = execution.getInteger(op.getCondition()).isOne()
                     ? op.thenBlock()
                     : op.elseBlock();
  if (!block)
    return success();
  SmallVector<RuntimeValue> yielded;
  if (failed(runRegion(*block, execution, yielded)))
    return failure();
  for (auto [result, value] : llvm::zip_equal(op.getResults(), yielded))
    execution.bind(result, value);
  return success();
}

void interpreter::registerControlModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    arith::ConstantOp::attachInterface<
        KernelOpModel<arith::ConstantOp, interpretConstant>>(*context);
    arith::AddIOp::attachInterface<KernelOpModel<arith::AddIOp, interpretAdd>>(
        *context);
    arith::SubIOp::attachInterface<KernelOpModel<arith::SubIOp, interpretSub>>(
        *context);
    arith::MulIOp::attachInterface<KernelOpModel<arith::MulIOp, interpretMul>>(
        *context);
    arith::AndIOp::attachInterface<KernelOpModel<arith::AndIOp, interpretAnd>>(
        *context);
    arith::CmpIOp::attachInterface<
        KernelOpModel<arith::CmpIOp, interpretCompare>>(*context);
    attachPlainOps(*context);
    arith::SelectOp::attachInterface<
        KernelOpModel<arith::SelectOp, interpretSelect>>(*context);
    arith::IndexCastOp::attachInterface<
        KernelOpModel<arith::IndexCastOp, interpretIndexCast>>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, scf::SCFDialect *) {
    scf::ForOp::attachInterface<KernelOpModel<scf::ForOp, interpretFor>>(
        *context);
    scf::IfOp::attachInterface<KernelOpModel<scf::IfOp, interpretIf>>(*context);
  });
}
