//===- Views.cpp - Tensors that name parts of buffers ---------------------===//
//
// The ops that make views with their rules, and what users of views ask.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/VISA/IR/Views.h"
#include "furiosa/Dialect/Utils/Numbers.h"
#include "furiosa/Dialect/VISA/Loops/Loops.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;
using mapping::Mapping;

Value visa::getBaseBuffer(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    Value source;
    if (auto view = dyn_cast<ViewLikeOpInterface>(op))
      source =
          isa<VISADialect>(op->getDialect()) ? view.getViewSource() : Value();
    else if (auto chain = dyn_cast<ChainOp>(op))
      source = chain.getInto();
    if (!source)
      break;
    tensor = source;
  }
  return tensor;
}

Value visa::getViewSource(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (auto chain = dyn_cast_or_null<ChainOp>(op))
    return chain.getInto();
  if (isa_and_nonnull<TileOp, PadOp, UnpadOp, ReshapeOp>(op))
    return op->getOperand(0);
  return {};
}

tmap::MappingAttr visa::getMapping(const TensorParts &parts,
                                   Dimension dimension) {
  switch (dimension) {
  case Dimension::Chip:
    return parts.chip;
  case Dimension::Cluster:
    return parts.cluster;
  case Dimension::Slice:
    return parts.slice;
  case Dimension::Element:
    return parts.element;
  }
  llvm_unreachable("all dimensions are listed");
}

static constexpr Dimension allDimensions[] = {
    Dimension::Chip, Dimension::Cluster, Dimension::Slice, Dimension::Element};

//===----------------------------------------------------------------------===//
// Where views begin
//===----------------------------------------------------------------------===//

/// Adds to `start` where a tile begins in its source.
static LogicalResult addTile(TileOp tile, ViewStart &start,
                             FaultReporter &reporter) {
  TensorParts parts = getTensorParts(tile.getSource().getType());
  Dimension dimension = tile.getDimension();
  tmap::MappingAttr mapping = getMapping(parts, dimension);
  auto along = tmap::MappingAttr::parseText(tile.getAlong(), parts.axes);
  if (!along || !mapping)
    return failure(); // Reported at the tile, as all that it has wrong itself.
  std::optional<int64_t> first;
  if (auto number = tile.getStart())
    first = *number;
  else if (auto range = getIndexRange(tile.getOffset());
           range && range->first == range->second)
    first = range->first;
  auto window =
      mapping::tile(mapping.getMapping(), along->getMapping(), tile.getTake(),
                    first.value_or(0), mapping::Pad::Top);
  if (!window)
    return failure();
  // An index of one cell has one start.
  if (!first && window->live == 1)
    first = 0;
  if (!first && window->step == 0)
    return failure();
  std::optional<int64_t> units = first ? window->offset : window->step;
  if (dimension == Dimension::Element)
    units = loops::getBytes(*units, getElementBits(parts));
  if (!units)
    return failure();
  if (!first) {
    start.terms.push_back({tile.getOffset(), dimension, *units});
    return success();
  }
  auto sum = llvm::checkedAdd<int64_t>(start.at(dimension), *units);
  if (!sum) {
    reporter.notYetSupported() << "a view that begins beyond 2^63 bytes";
    return failure();
  }
  start.at(dimension) = *sum;
  return success();
}

std::optional<int64_t> ViewStart::getLast() const {
  int64_t last = bytes;
  for (auto [index, dimension, step] : terms) {
    auto range = getIndexRange(index);
    int64_t most;
    if (!range ||
        llvm::MulOverflow(step < 0 ? range->first : range->second, step,
                          most) ||
        llvm::AddOverflow(last, most, last))
      return std::nullopt;
  }
  return last;
}

bool ViewStart::isMultiple(int64_t word) const {
  int64_t rest = bytes % word;
  for (const ViewStart::Term &term : terms) {
    if (term.dimension != Dimension::Element)
      continue;
    Congruence values =
        getIndexCongruence(term.index).value_or(Congruence{0, 1});
    rest += values.rest % word * (term.step % word);
    if (values.modulus % word * (term.step % word) % word != 0)
      return false;
  }
  return rest % word == 0;
}

FailureOr<ViewStart> visa::getViewStart(Value tensor, FaultReporter &reporter) {
  ViewStart start;
  for (; tensor; tensor = getViewSource(tensor))
    if (auto tile = tensor.getDefiningOp<TileOp>();
        tile && failed(addTile(tile, start, reporter)))
      return failure();
  return start;
}

void visa::checkWritable(Value target, FaultReporter &reporter) {
  bool changes = false;
  for (Value at = target; at; at = getViewSource(at))
    if (auto reshape = at.getDefiningOp<ReshapeOp>())
      changes |= changesIndex(reshape);
  if (changes && isa<BlockArgument>(getBaseBuffer(target)))
    reporter.notYetSupported()
        << "writing an argument whose cells were given another index";
  Value at = target;
  while (at && !at.getDefiningOp<TileOp>())
    at = getViewSource(at);
  if (!at)
    return;
  auto tile = at.getDefiningOp<TileOp>();
  Dimension dimension = tile.getDimension();
  TensorParts source = getTensorParts(tile.getSource().getType());
  tmap::MappingAttr declared =
      getMapping(getTensorParts(tile.getResult().getType()), dimension);
  tmap::MappingAttr mapping = getMapping(source, dimension);
  auto along = tmap::MappingAttr::parseText(tile.getAlong(), source.axes);
  if (!along || !mapping || !declared)
    return; // Reported at the tile.
  auto expected = mapping::tile(mapping.getMapping(), along->getMapping(),
                                tile.getTake(), 0, mapping::Pad::Bottom);
  if (!expected ||
      !mapping::checkTileView(mapping.getMapping(), along->getMapping(),
                              tile.getTake(), mapping::Pad::Bottom,
                              declared.getMapping()))
    return;
  InFlightDiagnostic diag = reporter.fault("MM-36");
  diag << "a view that is written has bottom padding: the tile has "
       << stringifyDimension(dimension) << " \"" << declared.getText()
       << "\", expected \"" << expected->view.str() << "\"";
  diag.attachNote(tile.getLoc()) << "the tile is made here";
}

SmallVector<unsigned> visa::getWrittenArguments(FunctionOpInterface kernel) {
  SmallVector<unsigned> written;
  kernel.getFunctionBody().walk([&](MemoryEffectOpInterface op) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    op.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      if (!effect.getValue() || !isa<MemoryEffects::Write>(effect.getEffect()))
        continue;
      auto argument = dyn_cast<BlockArgument>(getBaseBuffer(effect.getValue()));
      if (argument && argument.getOwner()->getParentOp() == kernel)
        written.push_back(argument.getArgNumber());
    }
  });
  llvm::sort(written);
  written.erase(llvm::unique(written), written.end());
  return written;
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

/// A view holds the elements of its source, in the same memory; over the same
/// axes, too, unless it is a reshape.
static LogicalResult verifyView(Operation *op) {
  Type sourceType = op->getOperand(0).getType();
  Type resultType = op->getResult(0).getType();
  if (sourceType.getTypeID() != resultType.getTypeID())
    return op->emitOpError() << "a view of " << sourceType
                             << " is in the same memory, found " << resultType;
  TensorParts source = getTensorParts(sourceType);
  TensorParts result = getTensorParts(resultType);
  if (source.elementType != result.elementType)
    return op->emitOpError()
           << "reads " << source.elementType << " as " << result.elementType;
  if (source.axes != result.axes && !isa<ReshapeOp>(op))
    return op->emitOpError() << "source is over axes " << source.axes
                             << ", result over " << result.axes;
  return success();
}

LogicalResult TileOp::verify() {
  if (getOffset() && getStart())
    return emitOpError() << "has a start value and a start number";
  if (!getOffset() && !getStart())
    return emitOpError() << "needs a start value or a start number";
  if (!getMapping(getTensorParts(getSource().getType()), getDimension()))
    return emitOpError() << getSource().getType() << " has no "
                         << stringifyDimension(getDimension());
  return verifyView(*this);
}
LogicalResult PadOp::verify() { return verifyView(*this); }
LogicalResult UnpadOp::verify() { return verifyView(*this); }

LogicalResult ReshapeOp::verify() {
  if (failed(verifyView(*this)))
    return failure();
  TensorParts from = getTensorParts(getSource().getType());
  TensorParts to = getTensorParts(getResult().getType());
  for (Dimension dimension : allDimensions) {
    tmap::MappingAttr source = getMapping(from, dimension);
    tmap::MappingAttr result = getMapping(to, dimension);
    if (source && source.getMapping().size() != result.getMapping().size())
      return emitOpError() << "MM-34: " << stringifyDimension(dimension)
                           << " \"" << result.getText() << "\" has "
                           << result.getMapping().size()
                           << " positions, the source has "
                           << source.getMapping().size();
  }
  return success();
}

Value TileOp::getViewSource() { return getSource(); }
Value PadOp::getViewSource() { return getSource(); }
Value UnpadOp::getViewSource() { return getSource(); }
Value ReshapeOp::getViewSource() { return getSource(); }

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// The other dimensions of a view are those of its source.
static void checkOtherDimensions(Operation *op, Dimension changed,
                                 StringRef rule, FaultReporter &reporter) {
  TensorParts source = getTensorParts(op->getOperand(0).getType());
  TensorParts result = getTensorParts(op->getResult(0).getType());
  for (Dimension dimension : allDimensions) {
    tmap::MappingAttr from = getMapping(source, dimension);
    tmap::MappingAttr to = getMapping(result, dimension);
    if (dimension != changed && from &&
        !mapping::same(from.getMapping(), to.getMapping()))
      reporter.fault(rule) << stringifyDimension(dimension)
                           << " of the view is \"" << to.getText()
                           << "\", expected \"" << from.getText() << "\"";
  }
}

/// Whether a start that is known only at run time can be lowered.
static void checkRunTimeStart(TileOp tile, const mapping::Tile &window,
                              FaultReporter &reporter) {
  if (window.step == 0)
    reporter.notYetSupported("along")
        << "a start known only at run time along \"" << tile.getAlong()
        << "\", which is no single digit";
  Value offset = tile.getOffset();
  bool isKnown = isKnownWhenUnrolled(offset), isConstant;
  bool inDm = isa<DmType>(tile.getSource().getType());
  if (!inDm && isAffine(offset, isConstant))
    return;
  // Data memory is addressed by what stands in registers and descriptors, which
  // numbers of the host move.
  if (!isKnown && (!inDm || !getNumberSum(offset, isKnownWhenUnrolled))) {
    reporter.notYetSupported()
        << "a tile of " << (inDm ? "a DM" : "an HBM")
        << " tensor that begins where only the run knows, other than at sums "
           "of numbers of the host and of counters of loops with known steps; "
           "branch on the number with scf.if where the tile begins";
    return;
  }
  if (!isKnown && tile.getDimension() != Dimension::Element)
    reporter.notYetSupported()
        << "a tile along the " << stringifyDimension(tile.getDimension())
        << " of a DM tensor that begins at a number of the host; take the tile "
           "in HBM";
  if (hasTooManySteps(offset))
    reporter.notYetSupported()
        << "a tile of " << (inDm ? "a DM" : "an HBM")
        << " tensor in loops of more than " << maxUnrolledSteps
        << " steps, which are unrolled";
}

/// Whether a loop around an op makes no trip.
static bool neverRuns(Operation *op) {
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>())
    if (auto trips = loop.getStaticTripCount(); trips && trips->isZero())
      return true;
  return false;
}

void TileOp::checkInKernel(KernelChecker &checker) {
  FaultReporter reporter(*this);
  TensorParts source = getTensorParts(getSource().getType());
  Dimension dimension = getDimension();
  auto index = tmap::MappingAttr::parseText(getAlong(), source.axes);
  if (!index) {
    reporter.report(index.fault(), "along");
    return checker.noteFault();
  }
  int64_t first = 0, last = 0;
  bool known = true;
  if (auto start = getStart()) {
    first = last = *start;
  } else if (auto range = getIndexRange(getOffset())) {
    first = range->first;
    last = range->second;
  } else {
    known = false;
  }
  const Mapping &mapping = getMapping(source, dimension).getMapping();
  int64_t take = getTake();
  auto check = [&](int64_t at, mapping::Pad hole) {
    return mapping::tile(mapping, index->getMapping(), take, at, hole);
  };
  auto top = check(0, mapping::Pad::Top);
  if (!top) {
    StringRef rule = top.fault().rule == "MA-17" ? "MM-35" : "MM-37";
    InFlightDiagnostic diag = reporter.report(top.fault(), "along", rule);
    diag.attachNote(getSource().getLoc())
        << "the source has " << stringifyDimension(dimension) << " \""
        << mapping.str() << "\"";
    return checker.noteFault();
  }
  int64_t bits = dimension == Dimension::Element ? getElementBits(source) : 8;
  bool wholeBytes = true;
  if (known)
    for (int64_t at : {first, last}) {
      auto tile = check(at, mapping::Pad::Top);
      if (!tile) {
        reporter.report(tile.fault(), "along", "MM-37");
        return checker.noteFault();
      }
      wholeBytes &= tile->offset * bits % 8 == 0;
    }
  bool constant = known && first == last;
  if (!constant && top->live != 1 && !neverRuns(*this)) {
    checkRunTimeStart(*this, *top, reporter);
    wholeBytes &= top->step * bits % 8 == 0;
  }
  if (!wholeBytes)
    reporter.notYetSupported("along") << "a window that begins inside a byte";
  auto bottom = check(0, mapping::Pad::Bottom);
  const Mapping &declared =
      getMapping(getTensorParts(getResult().getType()), dimension).getMapping();
  auto isView = [&](mapping::Pad hole) {
    return !mapping::checkTileView(mapping, index->getMapping(), take, hole,
                                   declared);
  };
  if (!isView(mapping::Pad::Top) && !isView(mapping::Pad::Bottom)) {
    InFlightDiagnostic diag = reporter.fault("MM-36");
    diag << "the view has " << stringifyDimension(dimension) << " \""
         << declared.str() << "\", expected \"" << top->view.str()
         << "\" where it is read";
    if (bottom)
      diag << ", \"" << bottom->view.str() << "\" where it is written";
  }
  checkOtherDimensions(*this, dimension, "MM-36", reporter);
  if (reporter.failed())
    checker.noteFault();
}

/// MM-38: `wide` is `narrow` with more top padding behind it.
static void checkPadding(Operation *op, Type narrow, Type wide,
                         KernelChecker &checker) {
  FaultReporter reporter(op);
  tmap::MappingAttr small = getTensorParts(narrow).element;
  tmap::MappingAttr big = getTensorParts(wide).element;
  if (big.getMapping().size() < small.getMapping().size()) {
    reporter.fault("MM-38")
        << "element \"" << big.getText() << "\" has " << big.getMapping().size()
        << " positions, fewer than \"" << small.getText() << "\" with "
        << small.getMapping().size();
  } else {
    auto padded = mapping::pad(small.getMapping(), big.getMapping().size());
    if (!padded || !mapping::same(*padded, big.getMapping()))
      reporter.fault("MM-38")
          << "element \"" << big.getText() << "\" is not \"" << small.getText()
          << "\" with padding behind all its cells; write \"["
          << small.getText() << "] # " << big.getMapping().size() << "\"";
  }
  checkOtherDimensions(op, Dimension::Element, "MM-38", reporter);
  if (reporter.failed())
    checker.noteFault();
}

void PadOp::checkInKernel(KernelChecker &checker) {
  checkPadding(*this, getSource().getType(), getResult().getType(), checker);
}
void UnpadOp::checkInKernel(KernelChecker &checker) {
  checkPadding(*this, getResult().getType(), getSource().getType(), checker);
}

bool visa::changesIndex(ReshapeOp reshape) {
  TensorParts from = getTensorParts(reshape.getSource().getType());
  TensorParts to = getTensorParts(reshape.getResult().getType());
  return from.axes != to.axes ||
         llvm::any_of(allDimensions, [&](Dimension dimension) {
           tmap::MappingAttr source = getMapping(from, dimension);
           return source &&
                  !mapping::same(source.getMapping(),
                                 getMapping(to, dimension).getMapping());
         });
}

/// Adds all handles of a buffer.
static void addHandles(Value tensor, SetVector<Value> &handles) {
  if (!handles.insert(tensor))
    return;
  for (Operation *user : tensor.getUsers())
    for (Value result : user->getResults())
      if (getViewSource(result) == tensor)
        addHandles(result, handles);
  // A chain names its target inside.
  for (Operation *user : tensor.getUsers())
    if (auto chain = dyn_cast<ChainOp>(user->getParentOp());
        chain && chain.getInto() == tensor)
      addHandles(chain.getResult(), handles);
}

void ReshapeOp::checkInKernel(KernelChecker &checker) {
  if (!changesIndex(*this))
    return;
  // The new names of the cells replace the old ones.
  FaultReporter reporter(*this);
  SetVector<Value> renamed, handles;
  addHandles(getResult(), renamed);
  addHandles(getBaseBuffer(getSource()), handles);
  Block *block = (*this)->getBlock();
  if (getBaseBuffer(getSource()).getParentBlock() != block)
    reporter.notYetSupported()
        << "a reshape to other cells of a tensor from outside a loop";
  for (Value handle : handles) {
    if (renamed.contains(handle))
      continue;
    for (Operation *user : handle.getUsers()) {
      Operation *at = block->findAncestorOpInBlock(*user);
      if (!at || at == *this || at->isBeforeInBlock(*this))
        continue;
      InFlightDiagnostic diag = reporter.fault("MM-34");
      diag << "the cells get another index, but the source is used behind the "
              "reshape";
      diag.attachNote(user->getLoc()) << "it is used here";
      return checker.noteFault();
    }
  }
  if (reporter.failed())
    checker.noteFault();
}
