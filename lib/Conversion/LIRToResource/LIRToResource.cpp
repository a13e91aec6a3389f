//===- LIRToResource.cpp - The pass convert-lir-to-resource ---------------===//
//
// Turns a kernel on lir into a program: arguments and buffers on top, each
// command in an issue of its own, dependences as tokens, loops with their trip
// count, byte offsets folded into bases and advances.
//
//===----------------------------------------------------------------------===//

#include "Races.h"
#include "furiosa/Conversion/Passes.h"
#include "furiosa/Dialect/LIR/IR/LIR.h"
#include "furiosa/Dialect/Resource/IR/Resource.h"
#include "furiosa/Dialect/Resource/Transforms/Dependences.h"
#include "furiosa/Dialect/Resource/Transforms/Scratch.h"
#include "furiosa/Dialect/Utils/Numbers.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

#include <array>

using namespace mlir;
using namespace furiosa;

namespace furiosa {
#define GEN_PASS_DEF_CONVERTLIRTORESOURCE
#include "furiosa/Conversion/Passes.h.inc"
} // namespace furiosa

//===----------------------------------------------------------------------===//
// Affine offsets
//===----------------------------------------------------------------------===//

namespace {

/// `constant` plus for each loop around `steps[loop]` times its iteration, and
/// numbers of the host times their steps, all in bytes; unknown if a value is
/// nothing of the kind.
struct Affine {
  bool isKnown = false;
  int64_t constant = 0;
  SmallVector<int64_t, 4> steps;
  llvm::SmallMapVector<Value, int64_t, 1> numbers;

  static Affine getConstant(int64_t value) {
    Affine result;
    result.isKnown = true;
    result.constant = value;
    return result;
  }
  bool isConstant() const {
    auto isZero = [](int64_t step) { return step == 0; };
    return isKnown && llvm::all_of(steps, isZero) &&
           llvm::all_of(llvm::make_second_range(numbers), isZero);
  }
};

} // namespace

static Affine combine(const Affine &a, const Affine &b, bool subtract) {
  if (!a.isKnown || !b.isKnown)
    return {};
  Affine result = a;
  result.steps.resize(std::max(a.steps.size(), b.steps.size()), 0);
  auto join = [&](int64_t x, int64_t y, int64_t &z) {
    return subtract ? llvm::SubOverflow(x, y, z) : llvm::AddOverflow(x, y, z);
  };
  if (join(a.constant, b.constant, result.constant))
    return {};
  for (auto [i, step] : llvm::enumerate(b.steps))
    if (join(result.steps[i], step, result.steps[i]))
      return {};
  for (auto [number, step] : b.numbers)
    if (int64_t &sum = result.numbers[number]; join(sum, step, sum))
      return {};
  return result;
}

static Affine scale(const Affine &a, int64_t factor) {
  if (!a.isKnown)
    return {};
  Affine result = a;
  if (llvm::MulOverflow(a.constant, factor, result.constant))
    return {};
  for (int64_t &step : result.steps)
    if (llvm::MulOverflow(step, factor, step))
      return {};
  for (auto &[number, step] : result.numbers)
    if (llvm::MulOverflow(step, factor, step))
      return {};
  return result;
}

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

namespace {

class KernelConverter {
public:
  KernelConverter(func::FuncOp kernel, int64_t hbmBytes)
      : kernel(kernel), hbmBytes(hbmBytes) {}
  /// Builds the program in front of the kernel. What it has built in vain, it
  /// erases.
  LogicalResult run();

private:
  LogicalResult readAttributes();
  LogicalResult collectBuffers();
  LogicalResult addArguments(OpBuilder &builder);
  LogicalResult convertBlock(Block &block, OpBuilder &builder, unsigned depth);
  LogicalResult convertLoop(scf::ForOp loop, OpBuilder &builder,
                            unsigned depth);
  std::optional<NumberSum> getNumberTrips(scf::ForOp loop);
  LogicalResult convertCountedLoop(scf::ForOp loop, const NumberSum &trips,
                                   OpBuilder &builder, unsigned depth);
  LogicalResult buildLoop(scf::ForOp loop, const Affine &lower, int64_t step,
                          int64_t trips, const NumberSum *count,
                          OpBuilder &builder, unsigned depth);
  LogicalResult convertIf(scf::IfOp branch, OpBuilder &builder, unsigned depth);
  LogicalResult convertCases(Block &block, ArrayRef<NumberCase> cases,
                             OpBuilder &builder, unsigned depth);
  LogicalResult convertBranch(Block &block, ArrayRef<NumberTest> tests,
                              OpBuilder &builder, unsigned depth);
  LogicalResult convertDma(lir::DmaOp dma, resource::IssueOp issue,
                           OpBuilder &builder, unsigned depth);
  LogicalResult convertExec(lir::ExecOp exec, resource::IssueOp issue,
                            OpBuilder &builder);
  LogicalResult setStarts(resource::IssueOp issue, Operation *op,
                          Affine &source, Affine &target);
  void setCount(resource::LoopOp loop, const NumberSum &sum);
  DenseI64ArrayAttr getRange(BlockArgument argument);
  FailureOr<Affine> getOffset(Operation *op, Value offset);
  void evaluate(Operation &op);
  Affine lookup(Value value);

  func::FuncOp kernel;
  /// For all operands.
  int64_t hbmBytes;
  int64_t pes = 0;
  DenseI64ArrayAttr clusters;
  StringAttr release;
  /// The allocations that are returned, in order.
  SmallVector<lir::AllocOp> results;
  /// The other allocations that something uses, in order.
  SmallVector<lir::AllocOp> allocs;
  DenseSet<Value> written;
  resource::ProgramOp program;
  IRMapping mapping;
  DenseMap<Value, Affine> offsets;
};

} // namespace

LogicalResult KernelConverter::readAttributes() {
  auto pesAttr = kernel->getAttrOfType<IntegerAttr>("lir.pes");
  if (!pesAttr)
    return kernel.emitOpError("is no lir kernel: it has no integer attribute "
                              "lir.pes; run convert-visa-to-lir first");
  if (pesAttr.getValue().getSignificantBits() > 64)
    return kernel.emitOpError("lir.pes does not fit in 64 bits");
  pes = pesAttr.getValue().getSExtValue();
  clusters = kernel->getAttrOfType<DenseI64ArrayAttr>("lir.clusters");
  if (!clusters)
    return kernel.emitOpError("has no array attribute lir.clusters");
  release = kernel->getAttrOfType<StringAttr>("lir.release");
  if (!release)
    return kernel.emitOpError("has no string attribute lir.release");
  return success();
}

LogicalResult KernelConverter::collectBuffers() {
  if (kernel.isExternal())
    return kernel.emitOpError("not yet supported: a kernel without a body");
  if (!kernel.getBody().hasOneBlock())
    return kernel.emitOpError("not yet supported: branches in a kernel");
  for (BlockArgument argument : kernel.getArguments()) {
    if (argument.getType().isIntOrIndex()) {
      if (!getRange(argument))
        return kernel.emitOpError("argument ")
               << argument.getArgNumber()
               << " is a number, but has no array attribute lir.range";
      continue;
    }
    auto type = dyn_cast<lir::MemType>(argument.getType());
    if (!type || type.getTier() != lir::Tier::Hbm)
      return kernel.emitOpError("argument ")
             << argument.getArgNumber() << " must be a buffer in hbm, found "
             << argument.getType();
  }
  auto terminator =
      dyn_cast<func::ReturnOp>(kernel.getBody().front().getTerminator());
  if (!terminator)
    return kernel.emitOpError("not yet supported: a kernel that does not end "
                              "in return");
  llvm::SmallDenseSet<Value> returned;
  for (Value value : terminator.getOperands()) {
    if (isa<BlockArgument>(value))
      return terminator.emitOpError("not yet supported: a returned argument");
    auto alloc = value.getDefiningOp<lir::AllocOp>();
    if (!alloc)
      return terminator.emitOpError("not yet supported: a result that is no "
                                    "lir.alloc");
    if (alloc.getResult().getType().getTier() != lir::Tier::Hbm)
      return terminator.emitOpError("a result must be in hbm, found ")
             << alloc.getResult().getType();
    if (!returned.insert(value).second)
      return terminator.emitOpError(
          "not yet supported: a buffer that is returned twice");
    results.push_back(alloc);
  }
  kernel.walk([&](lir::AllocOp alloc) {
    if (!returned.contains(alloc.getResult()) && !alloc.getResult().use_empty())
      allocs.push_back(alloc);
  });
  for (const resource::Access &access : resource::getAccesses(kernel))
    if (access.isWrite)
      written.insert(access.buffer);
  return success();
}

LogicalResult KernelConverter::addArguments(OpBuilder &builder) {
  int64_t index = 0;
  auto add = [&](Location loc, Type type, resource::Role role, StringAttr name,
                 const Twine &defaultName, Attribute operand,
                 DenseI64ArrayAttr range = {}) -> Value {
    if (!name)
      name = builder.getStringAttr(defaultName);
    return resource::ArgumentOp::create(
        builder, loc, type, index++, role, name,
        dyn_cast_or_null<resource::OperandAttr>(operand), range);
  };
  auto check = [&](Attribute operand, const Twine &owner) -> LogicalResult {
    if (operand && !isa<resource::OperandAttr>(operand))
      return kernel.emitOpError("lir.operand of ")
             << owner << " must be a #resource.operand, found " << operand;
    return success();
  };
  for (BlockArgument argument : kernel.getArguments()) {
    unsigned i = argument.getArgNumber();
    Attribute operand = kernel.getArgAttr(i, "lir.operand");
    if (failed(check(operand, "argument " + Twine(i))))
      return failure();
    bool isNumber = argument.getType().isIntOrIndex();
    if (isNumber) {
      Affine value = Affine::getConstant(0);
      value.numbers[argument] = 1;
      offsets[argument] = value;
    }
    Type type = isNumber ? lir::MemType::get(builder.getContext(),
                                             lir::Tier::Hbm, sizeof(int32_t), 1)
                         : argument.getType();
    mapping.map(
        argument,
        add(argument.getLoc(), type,
            written.contains(argument) || kernel.getArgAttr(i, "lir.written")
                ? resource::Role::InOut
                : resource::Role::Input,
            dyn_cast_or_null<StringAttr>(kernel.getArgAttr(i, "lir.name")),
            "arg" + Twine(i), operand,
            isNumber ? getRange(argument) : DenseI64ArrayAttr()));
  }
  for (auto [i, alloc] : llvm::enumerate(results)) {
    Attribute operand = kernel.getResultAttr(i, "lir.operand");
    if (failed(check(operand, "result " + Twine(i))))
      return failure();
    mapping.map(
        alloc.getResult(),
        add(alloc.getLoc(), alloc.getResult().getType(), resource::Role::Output,
            dyn_cast_or_null<StringAttr>(kernel.getResultAttr(i, "lir.name")),
            "result" + Twine(i), operand));
  }
  unsigned scratch = 0;
  for (lir::AllocOp alloc : allocs)
    if (alloc.getResult().getType().getTier() == lir::Tier::Hbm)
      mapping.map(alloc.getResult(),
                  add(alloc.getLoc(), alloc.getResult().getType(),
                      resource::Role::Scratch, nullptr,
                      "scratch" + Twine(scratch++), nullptr));
  return success();
}

//===----------------------------------------------------------------------===//
// Index arithmetic
//===----------------------------------------------------------------------===//

Affine KernelConverter::lookup(Value value) {
  auto it = offsets.find(value);
  return it == offsets.end() ? Affine() : it->second;
}

/// Follows an op of index arithmetic; operands have been followed before it.
void KernelConverter::evaluate(Operation &op) {
  if (op.getNumResults() != 1)
    return;
  Affine result;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto value = dyn_cast<IntegerAttr>(constant.getValue());
    if (value && value.getValue().getSignificantBits() <= 64)
      result = Affine::getConstant(value.getValue().getSExtValue());
  } else if (auto add = dyn_cast<arith::AddIOp>(op)) {
    result = combine(lookup(add.getLhs()), lookup(add.getRhs()), false);
  } else if (auto sub = dyn_cast<arith::SubIOp>(op)) {
    result = combine(lookup(sub.getLhs()), lookup(sub.getRhs()), true);
  } else if (auto mul = dyn_cast<arith::MulIOp>(op)) {
    Affine lhs = lookup(mul.getLhs()), rhs = lookup(mul.getRhs());
    if (rhs.isConstant())
      result = scale(lhs, rhs.constant);
    else if (lhs.isConstant())
      result = scale(rhs, lhs.constant);
  } else if (auto cast = dyn_cast<arith::IndexCastOp>(op)) {
    // A cast to fewer bits may wrap, but for a number.
    auto to = dyn_cast<IntegerType>(cast.getType());
    if (BlockArgument number = getNumber(cast.getResult()))
      result = lookup(number);
    else if (!to || to.getWidth() >= 64)
      result = lookup(cast.getIn());
  }
  // Narrow integers may wrap where ours do not.
  if (auto type = dyn_cast<IntegerType>(op.getResult(0).getType());
      type && type.getWidth() < 64 && !isa<arith::ConstantOp>(op) &&
      !getNumber(op.getResult(0)))
    result = {};
  offsets[op.getResult(0)] = result;
}

/// The numbers that the host may give for an argument.
DenseI64ArrayAttr KernelConverter::getRange(BlockArgument argument) {
  auto range = kernel.getArgAttrOfType<DenseI64ArrayAttr>(
      argument.getArgNumber(), "lir.range");
  return range && range.size() == 2 ? range : DenseI64ArrayAttr();
}

FailureOr<Affine> KernelConverter::getOffset(Operation *op, Value offset) {
  if (!offset)
    return Affine::getConstant(0);
  Affine result = lookup(offset);
  if (!result.isKnown) {
    InFlightDiagnostic diag = op->emitOpError(
        "not yet supported: an offset that is not affine in the counters of "
        "loops with constant bounds and numbers of the host");
    if (Operation *producer = offset.getDefiningOp())
      diag.attachNote(producer->getLoc()) << "the offset is computed here";
    return failure();
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

/// Has numbers of the host move the bases of a command: they count from their
/// least, where all bases are in the buffer.
LogicalResult KernelConverter::setStarts(resource::IssueOp issue, Operation *op,
                                         Affine &source, Affine &target) {
  SmallVector<Value> numbers;
  SmallVector<int64_t> starts;
  for (Value number : kernel.getArguments()) {
    int64_t moves[2] = {source.numbers.lookup(number),
                        target.numbers.lookup(number)};
    if (moves[0] == 0 && moves[1] == 0)
      continue;
    int64_t least = getRange(cast<BlockArgument>(number)).asArrayRef()[0];
    for (auto [side, move] :
         llvm::zip_equal(std::array<Affine *, 2>{&source, &target}, moves)) {
      int64_t first;
      if (llvm::MulOverflow(least, move, first) ||
          llvm::AddOverflow(side->constant, first, side->constant))
        return op->emitOpError("an offset does not fit in 64 bits");
    }
    numbers.push_back(mapping.lookup(number));
    llvm::append_range(starts, moves);
  }
  if (numbers.empty())
    return success();
  issue.getNumbersMutable().assign(numbers);
  issue.setStarts(starts);
  return success();
}

/// Registers follow numbers of the host, but no counters.
LogicalResult KernelConverter::convertExec(lir::ExecOp exec,
                                           resource::IssueOp issue,
                                           OpBuilder &builder) {
  auto copy = cast<lir::ExecOp>(builder.clone(*exec, mapping));
  std::array<Affine, 2> sides = {Affine::getConstant(0),
                                 Affine::getConstant(0)};
  auto take = [&](auto unit, auto original, Affine &side) -> LogicalResult {
    FailureOr<Affine> offset = getOffset(original, original.getOffset());
    if (failed(offset))
      return failure();
    if (llvm::any_of(offset->steps, [](int64_t step) { return step != 0; }))
      return original.emitOpError("not yet supported: an offset into data "
                                  "memory that follows the counter of a loop");
    side = *offset;
    unit.getOffsetMutable().clear();
    return success();
  };
  for (auto [unit, original] :
       llvm::zip_equal(copy.getBody().getOps(), exec.getBody().getOps())) {
    if (auto fetch = dyn_cast<lir::FetchSequencerOp>(unit)) {
      if (failed(take(fetch, cast<lir::FetchSequencerOp>(original), sides[0])))
        return failure();
    } else if (auto commit = dyn_cast<lir::CommitSequencerOp>(unit)) {
      if (failed(
              take(commit, cast<lir::CommitSequencerOp>(original), sides[1])))
        return failure();
    }
  }
  if (failed(setStarts(issue, exec, sides[0], sides[1])))
    return failure();
  for (Operation &unit : copy.getBody().getOps()) {
    auto move = [&](auto op, const Affine &side) -> LogicalResult {
      int64_t base;
      if (llvm::AddOverflow<int64_t>(op.getBase(), side.constant, base))
        return op.emitOpError("an offset does not fit in 64 bits");
      op.setBase(base);
      return success();
    };
    if (auto fetch = dyn_cast<lir::FetchSequencerOp>(unit)) {
      if (failed(move(fetch, sides[0])))
        return failure();
    } else if (auto commit = dyn_cast<lir::CommitSequencerOp>(unit)) {
      if (failed(move(commit, sides[1])))
        return failure();
    }
  }
  return success();
}

LogicalResult KernelConverter::convertDma(lir::DmaOp dma,
                                          resource::IssueOp issue,
                                          OpBuilder &builder, unsigned depth) {
  FailureOr<Affine> source = getOffset(dma, dma.getSourceOffset());
  if (failed(source))
    return failure();
  FailureOr<Affine> target = getOffset(dma, dma.getTargetOffset());
  if (failed(target) || failed(setStarts(issue, dma, *source, *target)))
    return failure();
  SmallVector<Attribute> engines;
  for (Attribute attr : dma.getEngines()) {
    auto engine = cast<lir::EngineAttr>(attr);
    int64_t from, to;
    if (llvm::AddOverflow(engine.getSource(), source->constant, from) ||
        llvm::AddOverflow(engine.getTarget(), target->constant, to))
      return dma.emitOpError("an offset does not fit in 64 bits");
    auto moved = lir::EngineAttr::getChecked(
        [&]() { return dma.emitOpError(); }, dma.getContext(),
        engine.getCluster(), engine.getPe(), from, to, engine.getSizes(),
        engine.getSourceStrides(), engine.getTargetStrides(),
        engine.getPacket(), engine.getList(), engine.getKeys());
    if (!moved)
      return failure();
    engines.push_back(moved);
  }
  source->steps.resize(depth, 0);
  target->steps.resize(depth, 0);
  SmallVector<int64_t> steps;
  for (unsigned i = 0; i < depth; ++i) {
    steps.push_back(source->steps[i]);
    steps.push_back(target->steps[i]);
  }
  if (llvm::any_of(steps, [](int64_t step) { return step != 0; }))
    issue.setAdvance(steps);
  auto moved =
      lir::DmaOp::create(builder, dma.getLoc(), mapping.lookup(dma.getSource()),
                         Value(), mapping.lookup(dma.getTarget()), Value(),
                         mapping.lookupOrNull(dma.getIndices()),
                         dma.getScaleAttr(), builder.getArrayAttr(engines));
  moved->setDiscardableAttrs(dma->getDiscardableAttrDictionary());
  return success();
}

/// Has a loop count by a sum of numbers.
void KernelConverter::setCount(resource::LoopOp loop, const NumberSum &sum) {
  SmallVector<Value> counts;
  SmallVector<int64_t> scales;
  for (auto [number, factor] : sum.terms) {
    counts.push_back(mapping.lookup(Value(number)));
    scales.push_back(factor);
  }
  loop.getCountsMutable().assign(counts);
  if (llvm::any_of(scales, [](int64_t factor) { return factor != 1; }))
    loop.setScales(scales);
  if (sum.constant != 0)
    loop.setPlus(sum.constant);
}

LogicalResult KernelConverter::convertLoop(scf::ForOp loop, OpBuilder &builder,
                                           unsigned depth) {
  if (loop.getNumResults() != 0)
    return loop.emitOpError(
        "not yet supported: values carried from one iteration to the next");
  Affine lower = lookup(loop.getLowerBound());
  Affine upper = lookup(loop.getUpperBound());
  Affine step = lookup(loop.getStep());
  // As many trips as the host says, at most those of the range.
  auto trips = getNumberTrips(loop);
  if (trips) {
    if (!step.isConstant() || step.constant != 1)
      return loop.emitOpError("not yet supported: bounds known only at run "
                              "time, but for a loop in steps of 1");
    return convertCountedLoop(loop, *trips, builder, depth);
  }
  int64_t distance;
  if (lower.isConstant() && upper.isConstant() &&
      llvm::SubOverflow(upper.constant, lower.constant, distance))
    return loop.emitOpError("the trip count does not fit in 64 bits");
  Affine span = combine(upper, lower, /*subtract=*/true);
  if (!span.isConstant() || !step.isConstant())
    return loop.emitOpError("not yet supported: bounds known only at run time");
  if (step.constant <= 0)
    return loop.emitOpError("the step must be positive, found ")
           << step.constant;
  if (loop.getUnsignedCmp() &&
      (!lower.isConstant() || lower.constant < 0 || upper.constant < 0))
    return loop.emitOpError("not yet supported: unsigned bounds beyond 2^63");
  if (span.constant <= 0)
    return success();
  return buildLoop(loop, lower, step.constant,
                   (span.constant - 1) / step.constant + 1, /*count=*/nullptr,
                   builder, depth);
}

/// The trips of a loop in steps of 1 of which a bound follows numbers of the
/// host; nothing for another loop.
std::optional<NumberSum> KernelConverter::getNumberTrips(scf::ForOp loop) {
  std::array<Affine, 2> bounds = {lookup(loop.getLowerBound()),
                                  lookup(loop.getUpperBound())};
  Affine trips = combine(bounds[1], bounds[0], /*subtract=*/true);
  if (!trips.isKnown || trips.isConstant() ||
      llvm::any_of(trips.steps, [](int64_t step) { return step != 0; }))
    return std::nullopt;
  NumberSum sum;
  sum.constant = trips.constant;
  for (BlockArgument argument : kernel.getArguments())
    if (int64_t factor = trips.numbers.lookup(argument))
      sum.terms.push_back({argument, factor});
  return sum;
}

LogicalResult KernelConverter::convertCountedLoop(scf::ForOp loop,
                                                  const NumberSum &trips,
                                                  OpBuilder &builder,
                                                  unsigned depth) {
  int64_t least = trips.constant, most = trips.constant;
  for (auto [number, factor] : trips.terms) {
    ArrayRef<int64_t> range = getRange(number).asArrayRef();
    int64_t ends[2];
    if (llvm::MulOverflow(range[factor < 0], factor, ends[0]) ||
        llvm::MulOverflow(range[factor >= 0], factor, ends[1]) ||
        llvm::AddOverflow(least, ends[0], least) ||
        llvm::AddOverflow(most, ends[1], most))
      return loop.emitOpError("the trip count does not fit in 64 bits");
  }
  if (least < 0)
    return loop.emitOpError("not yet supported: a number of trips that may "
                            "be ")
           << least
           << "; give the arguments that it is computed from ranges so that it "
              "is 0 or more";
  if (most == 0)
    return success();
  return buildLoop(loop, lookup(loop.getLowerBound()), /*step=*/1, most, &trips,
                   builder, depth);
}

/// A loop of `trips` from `lower` on, or of as many as `count` says.
LogicalResult KernelConverter::buildLoop(scf::ForOp loop, const Affine &lower,
                                         int64_t step, int64_t trips,
                                         const NumberSum *count,
                                         OpBuilder &builder, unsigned depth) {
  Value counter = loop.getInductionVar();
  if (trips == 1 && !count) {
    offsets[counter] = lower;
    return convertBlock(*loop.getBody(), builder, depth);
  }
  if (depth >= resource::maxLoopDepth)
    return loop.emitOpError("not yet supported: loops nested more than ")
           << resource::maxLoopDepth << " deep";
  Affine value = lower;
  value.steps.resize(depth + 1, 0);
  value.steps[depth] = step;
  offsets[counter] = value;

  auto token = resource::TokenType::get(builder.getContext());
  auto converted = resource::LoopOp::create(builder, loop.getLoc(), token,
                                            trips, /*barrier=*/false);
  if (count)
    setCount(converted, *count);
  Block &body = converted.getBody().emplaceBlock();
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  if (failed(convertBlock(*loop.getBody(), inner, depth + 1)))
    return failure();
  if (body.empty())
    converted.erase();
  return success();
}

/// The commands of a branch, in a loop of one trip at most for each test.
LogicalResult KernelConverter::convertBranch(Block &block,
                                             ArrayRef<NumberTest> tests,
                                             OpBuilder &builder,
                                             unsigned depth) {
  if (tests.empty())
    return convertBlock(block, builder, depth);
  if (depth >= resource::maxLoopDepth)
    return block.getParentOp()->emitOpError(
               "not yet supported: loops and branches nested more than ")
           << resource::maxLoopDepth << " deep";
  const NumberTest &test = tests.front();
  auto condition = resource::Condition::Equal;
  if (test.predicate == arith::CmpIPredicate::ne)
    condition = resource::Condition::NotEqual;
  else if (test.predicate == arith::CmpIPredicate::slt)
    condition = resource::Condition::Less;
  else if (test.predicate == arith::CmpIPredicate::sge)
    condition = resource::Condition::NotLess;
  auto loop = resource::LoopOp::create(
      builder, block.getParentOp()->getLoc(),
      resource::TokenType::get(builder.getContext()), /*trips=*/1,
      /*barrier=*/false);
  setCount(loop, test.sum);
  loop.setWhen(condition);
  loop.setBound(test.bound);
  Block &body = loop.getBody().emplaceBlock();
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  if (failed(convertBranch(block, tests.drop_front(), inner, depth + 1)))
    return failure();
  if (body.empty())
    loop.erase();
  return success();
}

LogicalResult KernelConverter::convertIf(scf::IfOp branch, OpBuilder &builder,
                                         unsigned depth) {
  if (branch.getNumResults() != 0)
    return branch.emitOpError("not yet supported: values out of a branch");
  auto cases = getNumberCases(branch.getCondition(), true),
       others = getNumberCases(branch.getCondition(), false);
  if (!cases || !others)
    return branch.emitOpError("not yet supported: a condition other than "
                              "comparisons of sums of numbers of the host, "
                              "joined by and, or and xor to no more than ")
           << maxNumberCases << " cases";
  if (failed(convertCases(*branch.thenBlock(), *cases, builder, depth)))
    return failure();
  return branch.elseBlock()
             ? convertCases(*branch.elseBlock(), *others, builder, depth)
             : success();
}

LogicalResult KernelConverter::convertCases(Block &block,
                                            ArrayRef<NumberCase> cases,
                                            OpBuilder &builder,
                                            unsigned depth) {
  for (const NumberCase &tests : cases)
    if (failed(convertBranch(block, tests, builder, depth)))
      return failure();
  return success();
}

/// Recursion is as deep as loops nest; those of one trip are as deep as the
/// parser lets them be.
LogicalResult KernelConverter::convertBlock(Block &block, OpBuilder &builder,
                                            unsigned depth) {
  for (Operation &op : block) {
    if (isa<lir::AllocOp, func::ReturnOp, scf::YieldOp>(op))
      continue;
    if (isa_and_nonnull<arith::ArithDialect>(op.getDialect())) {
      evaluate(op);
      continue;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (failed(convertLoop(loop, builder, depth)))
        return failure();
      continue;
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (failed(convertIf(branch, builder, depth)))
        return failure();
      continue;
    }
    if (!isa<lir::DmaOp, lir::ExecOp>(op))
      return op.emitOpError("not yet supported: this op in a kernel");
    WalkResult mapped = op.walk([&](Operation *unit) {
      for (Value operand : unit->getOperands())
        if (isa<lir::MemType>(operand.getType()) && !mapping.contains(operand))
          return WalkResult(unit->emitOpError(
              "not yet supported: a buffer that is neither an argument nor a "
              "lir.alloc"));
      return WalkResult::advance();
    });
    if (mapped.wasInterrupted())
      return failure();

    resource::Engine engine = resource::Engine::Dma;
    if (auto exec = dyn_cast<lir::ExecOp>(op))
      engine = exec.getContext() == lir::Context::Main ? resource::Engine::Main
                                                       : resource::Engine::Sub;
    auto token = resource::TokenType::get(builder.getContext());
    auto issue = resource::IssueOp::create(builder, op.getLoc(), token, engine);
    Block &body = issue.getBody().emplaceBlock();
    OpBuilder inner = OpBuilder::atBlockEnd(&body);
    if (auto dma = dyn_cast<lir::DmaOp>(op)) {
      if (failed(convertDma(dma, issue, inner, depth)))
        return failure();
    } else if (failed(convertExec(cast<lir::ExecOp>(op), issue, inner))) {
      return failure();
    }
  }
  return success();
}

LogicalResult KernelConverter::run() {
  if (failed(readAttributes()) || failed(collectBuffers()))
    return failure();
  OpBuilder builder(kernel);
  program = resource::ProgramOp::create(
      builder, kernel.getLoc(), kernel.getSymNameAttr(),
      builder.getI64IntegerAttr(pes), clusters, release, IntegerAttr(),
      IntegerAttr());
  for (StringRef name :
       {resource::keepOrderAttrName, resource::pipelineLoopsAttrName})
    if (Attribute attr = kernel->getAttr(name))
      program->setAttr(name, attr);
  Block &body = program.getBody().emplaceBlock();
  builder.setInsertionPointToEnd(&body);
  auto build = [&]() -> LogicalResult {
    if (failed(addArguments(builder)))
      return failure();
    for (lir::AllocOp alloc : allocs)
      if (alloc.getResult().getType().getTier() != lir::Tier::Hbm)
        mapping.map(alloc.getResult(),
                    resource::BufferOp::create(
                        builder, alloc.getLoc(), alloc.getResult().getType(),
                        IntegerAttr(), DenseI64ArrayAttr())
                        .getResult());
    if (failed(convertBlock(kernel.getBody().front(), builder, 0)))
      return failure();
    // What vanished with a loop of no trips leaves buffers that nothing uses.
    for (resource::BufferOp buffer : llvm::make_early_inc_range(
             program.getBody().getOps<resource::BufferOp>()))
      if (buffer.getResult().use_empty())
        buffer.erase();
    if (failed(resource::packScratch(program, hbmBytes)))
      return failure();
    // What has been folded may leave its buffer; races are sought among
    // addresses that fit.
    if (failed(verify(program)))
      return failure();
    resource::addDependences(program);
    orderPEs(program);
    return success();
  };
  if (failed(build())) {
    program.erase();
    return failure();
  }
  kernel.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct ConvertLIRToResourcePass
    : furiosa::impl::ConvertLIRToResourceBase<ConvertLIRToResourcePass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    getOperation().walk([&](func::FuncOp op) {
      if (op->hasAttrOfType<UnitAttr>("visa.kernel"))
        kernels.push_back(op);
    });
    int64_t capacity = lir::MemType::getCapacity(lir::Tier::Hbm);
    int64_t bytes = hbmBytes == 0 ? capacity : int64_t(hbmBytes);
    constexpr int64_t unit = rngd::machine::hbmBufferAlignment;
    if (bytes < 1 || bytes > capacity || bytes % unit != 0) {
      getOperation().emitError("hbm-bytes must be a multiple of ")
          << unit << " from 0 to " << capacity << ", found " << bytes;
      return signalPassFailure();
    }
    for (func::FuncOp kernel : kernels)
      if (failed(KernelConverter(kernel, bytes).run()))
        return signalPassFailure();
  }
};
} // namespace
