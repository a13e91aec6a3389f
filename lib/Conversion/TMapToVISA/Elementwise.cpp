//===- Elementwise.cpp - Casts and element-wise functions as a chain ------===//
//
// A slice holds a tile of the result and of all operands. One operand streams,
// the others lie in the vector register file; what does not fit there at once
// is done pass by pass. A stream that lacks the axis of the flits is repeated
// along it by a chain of its own; results of four bits are put side by side by
// the transpose engine.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "furiosa/Dialect/Utils/ElementTypes.h"
#include "furiosa/Target/RNGD/Machine.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::tmap;
namespace machine = furiosa::rngd::machine;

namespace {

/// Elements of 32 bits in a flit.
constexpr int64_t flitSize = machine::flitBytes / 4;

/// One way to run a pass.
struct Plan {
  /// The axes of the result; that of the flit, if there is one, stands last.
  SmallVector<Cut> cuts;
  bool hasFlitAxis = false;
  /// Whether the stream lacks that axis: its numbers are repeated along it.
  bool repeatsStream = false;
  /// Cells of a flit that are in use: fewer than all where more of them do not
  /// divide the axis, so that rows lie without gaps.
  int64_t flitCells = flitSize;
  /// The cut that is done in several passes.
  size_t passCut = 0;
  int64_t passes = 1;
  /// Steps over the outermost axis in HBM.
  AxisLoop loop;
  bool stagedStream = false;
  SmallVector<bool> stagedSides;
  Place place;
  int64_t bound = 0;

  bool isFlitAxis(const Cut &cut) const {
    return hasFlitAxis && cut.axis == cuts.back().axis;
  }
};

/// Eight results of four bits are half a word of memory.
bool isFourBits(Type type) { return wireBits(*getElementType(type)) == 4; }
/// Cells of four bits in a word of memory.
constexpr int64_t fourBitCells = 16;
class Elementwise {
public:
  Elementwise(const VectorPass &pass, const Plan &plan, const KernelAxes &axes)
      : pass(pass), plan(plan), axes(axes) {}

  PlacementAttr getPlacement(MLIRContext *context) const {
    auto text = [&](StringRef value) {
      return StringAttr::get(context, value);
    };
    FlitShape flit = isTurned() ? getTurnedFlit() : getFlit();
    return PlacementAttr::get(
        context, text(plan.place.cluster), text(plan.place.slice), StringAttr(),
        text(flit.time8()), text(flit.packet8), StringAttr());
  }
  Value emit(Emitter &emitter, ValueRange operands) const;

private:
  Value emitStep(Emitter &emitter, ValueRange operands, Value step) const;
  /// Elements of a word of memory.
  static int64_t wordCells(Type type) {
    return 64 / wireBits(*getElementType(type));
  }
  /// Whole flits of the axis, and whole words of the narrowest type.
  static int64_t fillCells() { return 2 * flitSize; }
  /// Whether a tensor has the axis of the flits.
  bool hasFlit(MappedTensorType type) const {
    return plan.hasFlitAxis &&
           llvm::is_contained(getAxesInOrder(type), plan.cuts.back().axis);
  }
  /// Cells of a cut in one pass.
  int64_t cellsOf(size_t cut) const {
    return plan.cuts[cut].tile / (cut == plan.passCut ? plan.passes : 1);
  }
  FlitShape getFlit() const;
  /// Results of four bits, which the transpose engine puts side by side: of
  /// 16 x n cells, those n whose place in a word of 16 is the same are the
  /// lanes of n flits. They become a word of memory each, and again turned, n
  /// words of neighbours.
  struct Turned {
    TermList outer;
    /// `A / 16 % n` and `A % 16`.
    std::string rows, word;
    TermList time() const { return concat({outer, {word}}); }
  };
  bool isTurned() const { return isFourBits(pass.resultType); }
  Turned getTurned() const;
  /// The flits in an order that can be turned.
  FlitShape getTurnedFlit() const;
  /// What a slice holds of a tensor: all of it, or what one pass sees.
  enum class Part { Whole, Pass, ReadView, WriteView };
  TermList terms(MappedTensorType type, Part part) const;
  /// Of the result; without an axis of the flits, a cell is a word.
  TermList resultTerms(Part part) const {
    TermList list = terms(pass.result(), part);
    if (!plan.hasFlitAxis)
      list.back() = "1 # " + std::to_string(wordCells(pass.resultType));
    return list;
  }
  bool isCut(MappedTensorType type) const {
    return plan.passes > 1 && llvm::is_contained(getAxesInOrder(type),
                                                 plan.cuts[plan.passCut].axis);
  }
  Value load(Emitter &emitter, Value source, MappedTensorType type,
             bool staged) const;
  /// A tensor without the axis of the flits, a flit for each of its numbers.
  Value loadSpread(Emitter &emitter, Value source, MappedTensorType type) const;
  /// The window of one pass, which holds `view`, or the tensor itself.
  Value window(Emitter &emitter, Value tensor, MappedTensorType type, Value at,
               const TermList &view) const;
  Value loadSide(Emitter &emitter, Value tensor, const SideOperand &side) const;
  /// The stream of one pass with its numbers, which lie in `numbers`, repeated
  /// along the axis of the flits.
  Value repeatStream(Emitter &emitter, Value carrier, Value numbers) const;
  /// Results of four bits, side by side.
  Value turnBack(Emitter &emitter, Value turned, Value into, Type whole) const;

  const VectorPass &pass;
  const Plan &plan;
  const KernelAxes &axes;
};

} // namespace

static MappedTensorType getTensorType(Value value) {
  return cast<MappedTensorType>(value.getType());
}

FlitShape Elementwise::getFlit() const {
  FlitShape flit;
  size_t outer = plan.cuts.size() - (plan.hasFlitAxis ? 1 : 0);
  for (size_t i = 0; i < outer; ++i)
    flit.outer.push_back(plan.cuts[i].digit(axes, 1, cellsOf(i)));
  int64_t used = plan.hasFlitAxis ? plan.flitCells : 1;
  flit.cells = "1";
  if (plan.hasFlitAxis) {
    const Cut &cut = plan.cuts.back();
    int64_t cells = cellsOf(outer);
    flit.cells = cut.digit(axes, 1, used);
    flit.steps = cut.digit(axes, used, cells / used);
    if (used == flitSize) {
      flit.packet8 = flit.cells;
      flit.steps4 = cut.digit(axes, used / 2, cells / (used / 2));
      flit.packet4 = cut.digit(axes, 1, used / 2);
      return flit;
    }
  }
  // Four cells or less are one packet of the narrow units.
  flit.half = true;
  auto fill = [&](int64_t size) {
    return used == size ? flit.cells
                        : flit.cells + " # " + std::to_string(size);
  };
  flit.packet8 = fill(flitSize);
  flit.packet4 = fill(flitSize / 2);
  return flit;
}

Elementwise::Turned Elementwise::getTurned() const {
  const Cut &cut = plan.cuts.back();
  int64_t cells = cellsOf(plan.cuts.size() - 1);
  // As many rows as the transpose engine takes (TU-68).
  int64_t rows = wordCells(pass.resultType);
  while (cells / fourBitCells % rows != 0)
    --rows;
  Turned turned;
  turned.outer = getFlit().outer;
  turned.outer.push_back(
      cut.digit(axes, fourBitCells * rows, cells / (fourBitCells * rows)));
  turned.rows = joinTerms({cut.digit(axes, fourBitCells, rows)});
  turned.word = cut.digit(axes, 1, fourBitCells);
  return turned;
}

FlitShape Elementwise::getTurnedFlit() const {
  FlitShape flit = getFlit();
  const Cut &cut = plan.cuts.back();
  Turned turned = getTurned();
  TermList steps = {turned.outer.back(),
                    cut.digit(axes, flitSize, fourBitCells / flitSize),
                    turned.rows == "1" ? "" : turned.rows};
  flit.steps = joinTerms(steps);
  steps.push_back(cut.digit(axes, flitSize / 2, 2));
  flit.steps4 = joinTerms(steps);
  return flit;
}

TermList Elementwise::terms(MappedTensorType type, Part part) const {
  SmallVector<int> held = getAxesInOrder(type);
  TermList list;
  for (auto [i, cut] : llvm::enumerate(plan.cuts)) {
    if (!llvm::is_contained(held, cut.axis))
      continue;
    bool isView = part == Part::ReadView || part == Part::WriteView;
    if (isView && i == plan.passCut)
      list.push_back((part == Part::ReadView ? "1 # " : "1 #{!} ") +
                     std::to_string(plan.passes));
    list.push_back(
        cut.digit(axes, 1, part == Part::Whole ? cut.tile : cellsOf(i)));
  }
  // A flit for each cell.
  if (!hasFlit(type))
    list.push_back("1 # " + std::to_string(flitSize));
  return list;
}

Value Elementwise::load(Emitter &emitter, Value source, MappedTensorType type,
                        bool staged) const {
  SmallVector<int> held = getAxesInOrder(type);
  DmLayout layout;
  layout.elementType = type.getElementType();
  layout.place = plan.place;
  layout.element = terms(type, Part::Whole);
  TermList order;
  for (const Cut &cut : plan.cuts) {
    if (!llvm::is_contained(held, cut.axis))
      continue;
    int64_t filled =
        plan.isFlitAxis(cut) ? llvm::alignTo(cut.size, fillCells()) : cut.size;
    order.push_back(cut.whole(axes) +
                    (filled == cut.size ? "" : " # " + std::to_string(filled)));
  }
  if (hasFlit(type))
    return emitter.load(source, layout,
                        staged ? std::optional(order) : std::nullopt,
                        plan.loop.count == 1 ? plan.cuts.back().axis : -1);
  if (!staged)
    return loadSpread(emitter, source, type);
  // A flit for each cell: copies of it fill a word.
  std::string copies =
      axes.copies(64 / wireBits(*getElementType(type.getElementType())));
  Type view =
      emitter.dmType(layout.elementType, plan.place, joinTerms(layout.element));
  order.push_back(copies);
  layout.element.back() = copies + " # " + std::to_string(flitSize);
  Value loaded = emitter.load(source, layout, order);
  return visa::TileOp::create(emitter.builder, emitter.loc, view, loaded,
                              Value(), emitter.builder.getI64IntegerAttr(0),
                              visa::Dimension::Element, copies, 1);
}

/// Numbers come side by side; the transpose engine gives each a flit.
Value Elementwise::loadSpread(Emitter &emitter, Value source,
                              MappedTensorType type) const {
  SmallVector<int> held = getAxesInOrder(type);
  DmLayout layout;
  layout.elementType = type.getElementType();
  layout.place = plan.place;
  const Cut *last = nullptr;
  for (const Cut &cut : plan.cuts)
    if (llvm::is_contained(held, cut.axis)) {
      layout.element.push_back(cut.inner(axes));
      last = &cut;
    }
  Value loaded = emitter.load(source, layout, std::nullopt);
  unsigned bits = wireBits(*getElementType(type.getElementType()));
  int64_t cells = rngd::transposeCells(bits);
  while (last->tile % cells != 0)
    cells /= 2;
  TermList time(layout.element.begin(), layout.element.end() - 1);
  time.push_back(last->digit(axes, cells, last->tile / cells));
  std::string packet = last->digit(axes, 1, cells);
  std::string flit = " # " + std::to_string(256 / bits);
  std::string collected = packet + (cells == 256 / bits ? "" : flit);
  TermList element = terms(type, Part::Whole);
  return emitter.chain(
      visa::Context::Main,
      emitter.dmType(layout.elementType, plan.place, joinTerms(element)), [&] {
        emitter.fetch(loaded, joinTerms(time), packet);
        emitter.collect(joinTerms(time), collected);
        visa::TransposeOp::create(emitter.builder, emitter.loc,
                                  joinTerms(layout.element), "1" + flit);
        emitter.commit(element.back(), joinTerms(element));
      });
}

Value Elementwise::window(Emitter &emitter, Value tensor, MappedTensorType type,
                          Value at, const TermList &view) const {
  if (!isCut(type))
    return tensor;
  const Cut &cut = plan.cuts[plan.passCut];
  Type elementType = cast<visa::DmType>(tensor.getType()).getElementType();
  return emitter.tile(tensor, at,
                      cut.digit(axes, cut.tile / plan.passes, plan.passes),
                      emitter.dmType(elementType, plan.place, joinTerms(view)));
}

Value Elementwise::loadSide(Emitter &emitter, Value tensor,
                            const SideOperand &side) const {
  MappedTensorType type = getTensorType(side.tensor);
  TermList held = terms(type, Part::Pass);
  FlitShape flit = getFlit();
  TermList time(held.begin(), held.end() - 1);
  std::string cells = held.back(), packet = held.back();
  if (hasFlit(type)) {
    time.push_back(flit.steps);
    cells = flit.cells;
    packet = flit.packet8;
    // Rows of flits that are not full lie a flit apart.
    if (flit.half) {
      held.back() = flit.steps;
      held.push_back(packet);
    }
  }
  Type vrf = emitter.vrfType(side.type, plan.place, joinTerms(held));
  return emitter.chain(visa::Context::Sub, vrf, [&] {
    emitter.fetch(tensor, joinTerms(time), cells);
    if (side.type != type.getElementType())
      emitter.fetchCast(side.type);
    emitter.collect(joinTerms(time), packet);
    emitter.toVrf(joinTerms(held));
  });
}

Value Elementwise::repeatStream(Emitter &emitter, Value carrier,
                                Value numbers) const {
  VectorPass repeat = makeReplacingPass(pass.streamType);
  FlitShape flit = getFlit();
  TermList element = terms(pass.result(), Part::Pass);
  return emitter.chain(
      visa::Context::Main,
      emitter.dmType(pass.streamType, plan.place, joinTerms(element)), [&] {
        emitter.fetch(carrier, flit.time8(), flit.cells);
        emitter.collect(flit.time8(), flit.packet8);
        emitSteps(emitter, repeat, flit, numbers);
        emitter.commit(flit.cells, joinTerms(element));
      });
}

Value Elementwise::turnBack(Emitter &emitter, Value turned, Value into,
                            Type whole) const {
  Turned shape = getTurned();
  std::string time = joinTerms(shape.time());
  return emitter.chain(visa::Context::Main, into ? into.getType() : whole, [&] {
    emitter.fetch(turned, time, shape.rows + " # 16");
    emitter.collect(time, shape.rows + " # 64");
    visa::TransposeOp::create(emitter.builder, emitter.loc,
                              joinTerms(concat({shape.outer, {shape.rows}})),
                              shape.word + " # 64");
    emitter.commit(shape.word,
                   joinTerms(resultTerms(into ? Part::WriteView : Part::Whole)),
                   into);
  });
}

Value Elementwise::emit(Emitter &emitter, ValueRange operands) const {
  MappedTensorType result = pass.result();
  if (plan.loop.count == 1)
    return emitter.store(emitStep(emitter, operands, {}), result);
  Value target = visa::AllocOp::create(emitter.builder, emitter.loc,
                                       emitter.hbmType(result));
  emitter.forEach(plan.loop.count, [&](Value at) {
    Value computed = emitStep(emitter, operands, at);
    visa::CopyOp::create(
        emitter.builder, emitter.loc, computed,
        emitter.step(target, plan.loop, at, mapping::Pad::Bottom));
  });
  return target;
}

/// What step `step` of the loop does, from HBM to data memory.
Value Elementwise::emitStep(Emitter &emitter, ValueRange operands,
                            Value step) const {
  MappedTensorType streamTensor = getTensorType(pass.stream);
  MappedTensorType result = pass.result();
  auto loadStep = [&](Value operand, MappedTensorType type, bool staged) {
    return load(emitter,
                emitter.step(operand, plan.loop, step, mapping::Pad::Top), type,
                staged);
  };
  Value stream = loadStep(operands.front(), streamTensor, plan.stagedStream);
  SmallVector<Value> sideTensors, sides(pass.sides.size());
  for (auto [i, side] : llvm::enumerate(pass.sides)) {
    sideTensors.push_back(loadStep(operands[1 + i], getTensorType(side.tensor),
                                   plan.stagedSides[i]));
    if (!isCut(getTensorType(side.tensor)))
      sides[i] = loadSide(emitter, sideTensors[i], side);
  }
  // Zeros that streamed numbers take the place of.
  Value carrier;
  SideOperand numbers{pass.stream, pass.streamType};
  if (plan.repeatsStream) {
    size_t last = plan.cuts.size() - 1;
    std::string cells = plan.cuts[last].digit(axes, 1, cellsOf(last));
    if (cellsOf(last) % flitSize != 0)
      cells += " # " + std::to_string(llvm::alignTo(cellsOf(last), flitSize));
    carrier = emitter.zeros({pass.streamType, plan.place, {cells}, {}});
  }
  bool repeatsCut = plan.repeatsStream && isCut(streamTensor);
  Value kept = plan.repeatsStream && !repeatsCut
                   ? loadSide(emitter, stream, numbers)
                   : Value();
  FlitShape flit = isTurned() ? getTurnedFlit() : getFlit();
  Type whole = emitter.dmType(pass.resultType, plan.place,
                              joinTerms(resultTerms(Part::Whole)));
  Value target;
  if (plan.passes > 1)
    target = visa::AllocOp::create(emitter.builder, emitter.loc, whole);
  unsigned outBits = wireBits(*getElementType(pass.resultType));
  // What memory holds of a flit: its cells, or a word with a single one.
  std::string stored =
      plan.hasFlitAxis ? flit.cells
                       : "1 # " + std::to_string(wordCells(pass.resultType));
  Value last;
  emitter.forEach(plan.passes, [&](Value at) {
    auto read = [&](Value tensor, MappedTensorType type) {
      return window(emitter, tensor, type, at, terms(type, Part::ReadView));
    };
    Value streamed = read(stream, streamTensor);
    if (plan.repeatsStream)
      streamed = repeatStream(emitter, carrier,
                              repeatsCut ? loadSide(emitter, streamed, numbers)
                                         : kept);
    for (auto [i, side] : llvm::enumerate(pass.sides))
      if (MappedTensorType type = getTensorType(side.tensor); isCut(type))
        sides[i] = loadSide(emitter, read(sideTensors[i], type), side);
    Value into = target ? window(emitter, target, result, at,
                                 resultTerms(Part::WriteView))
                        : Value();
    Type made = into ? into.getType() : whole;
    std::optional<Turned> turned;
    if (isTurned()) {
      turned = getTurned();
      made = emitter.dmType(
          pass.resultType, plan.place,
          joinTerms(concat({turned->time(), {turned->rows + " # 16"}})));
    }
    last =
        emitter.chain(visa::Context::Main, made, [&] {
          emitter.fetch(streamed, flit.time8(),
                        plan.hasFlitAxis ? flit.cells : flit.packet8);
          if (!plan.repeatsStream &&
              pass.streamType != streamTensor.getElementType())
            emitter.fetchCast(pass.streamType);
          emitter.collect(flit.time8(), flit.packet8);
          if (!pass.steps.empty())
            emitSteps(emitter, pass, flit, sides);
          if (pass.resultType != pass.lastType)
            emitter.cast(pass.resultType,
                         flit.cells + " # " + std::to_string(256 / outBits));
          if (turned) {
            std::string time = joinTerms(turned->time());
            visa::TransposeOp::create(emitter.builder, emitter.loc, time,
                                      turned->rows + " # 64");
            return emitter.commit(turned->rows + " # 16",
                                  time + ", " + turned->rows + " # 16");
          }
          emitter.commit(
              stored,
              joinTerms(resultTerms(into ? Part::WriteView : Part::Whole)),
              into);
        });
    if (turned)
      last = turnBack(emitter, last, into, whole);
  });
  return target ? target : last;
}

//===----------------------------------------------------------------------===//
// Enumeration
//===----------------------------------------------------------------------===//

/// Bytes of the vector register file that the side operands take in one pass.
static int64_t getRegisterBytes(const VectorPass &pass, const Plan &plan) {
  int64_t bytes = 0;
  auto add = [&](Value tensor) {
    SmallVector<int> held = getAxesInOrder(getTensorType(tensor));
    int64_t cells = 1;
    bool hasFlitAxis = false;
    for (auto [i, cut] : llvm::enumerate(plan.cuts))
      if (llvm::is_contained(held, cut.axis)) {
        cells *= cut.tile / (i == plan.passCut ? plan.passes : 1);
        hasFlitAxis |= plan.isFlitAxis(cut);
      }
    bytes += 4 * cells * (hasFlitAxis ? flitSize / plan.flitCells : flitSize);
  };
  if (plan.repeatsStream)
    add(pass.stream);
  for (const SideOperand &side : pass.sides)
    add(side.tensor);
  return bytes;
}

/// As few passes as the register file allows; false if it is too small anyway.
static bool choosePasses(const VectorPass &pass, Plan &plan) {
  plan.passes = 1;
  if (plan.cuts.empty())
    return true;
  // The largest tile leaves most choices.
  for (auto [i, cut] : llvm::enumerate(plan.cuts))
    if (cut.tile > plan.cuts[plan.passCut].tile)
      plan.passCut = i;
  int64_t tile = plan.cuts[plan.passCut].tile;
  int64_t least = plan.isFlitAxis(plan.cuts[plan.passCut]) ? plan.flitCells : 1;
  for (int64_t passes = 1; passes <= tile / least; ++passes) {
    plan.passes = passes;
    if (tile % (passes * least) == 0 &&
        getRegisterBytes(pass, plan) <= int64_t(machine::vrfSliceBytes))
      return true;
  }
  return false;
}

static int64_t getBits(MappedTensorType type) {
  return wireBits(*getElementType(type.getElementType()));
}

/// Bytes of a slice's data memory.
static int64_t getSliceBytes(const VectorPass &pass, const Plan &plan) {
  int64_t bits = 0;
  auto add = [&](MappedTensorType type, int64_t cellBits = 0) {
    SmallVector<int> held = getAxesInOrder(type);
    int64_t cells = 1;
    bool hasFlitAxis = false;
    for (const Cut &cut : plan.cuts)
      if (llvm::is_contained(held, cut.axis)) {
        cells *= cut.tile;
        hasFlitAxis |= plan.isFlitAxis(cut);
      }
    bits += cells * (cellBits ? cellBits : getBits(type)) *
            (hasFlitAxis ? 1 : flitSize);
  };
  if (plan.repeatsStream)
    add(pass.result(), 32);
  // A word of memory for each row at the worst.
  if (isFourBits(pass.resultType))
    add(pass.result(), 64);
  add(getTensorType(pass.stream));
  for (const SideOperand &side : pass.sides)
    add(getTensorType(side.tensor));
  add(pass.result());
  return bits / 8;
}

static int64_t boundPlan(const VectorPass &pass, const Plan &plan,
                         const KernelAxes &axes) {
  auto sliceBytes = [&](MappedTensorType type) {
    SmallVector<int> held = getAxesInOrder(type);
    int64_t cells = 1;
    for (const Cut &cut : plan.cuts)
      if (llvm::is_contained(held, cut.axis))
        cells *= std::min(cut.tile, cut.size);
    return cells * getBits(type) / 8;
  };
  int64_t load =
      boundLoad({sliceBytes(getTensorType(pass.stream)), plan.place});
  for (const SideOperand &side : pass.sides)
    load += boundLoad({sliceBytes(getTensorType(side.tensor)), plan.place});
  int64_t flits = 1, cells = 1, run = 1;
  bool contiguous = true;
  for (const Cut &cut : llvm::reverse(plan.cuts)) {
    flits *= plan.isFlitAxis(cut) ? cut.tile / plan.flitCells : cut.tile;
    cells *= axes.size(cut.axis);
    if (contiguous)
      run *= std::min(cut.tile, cut.size);
    contiguous &= cut.tile >= axes.size(cut.axis);
  }
  int64_t bits = getBits(pass.result());
  load *= plan.loop.count;
  flits *= plan.loop.count;
  if (plan.repeatsStream)
    load += flits;
  return boundFixed() + load +
         flits * (pass.isNarrow() && plan.flitCells == flitSize ? 2 : 1) +
         boundStore(llvm::divideCeil(cells * bits, 8),
                    std::max<int64_t>(1, run * bits / 8));
}

std::vector<Candidate> tmap::enumeratePass(const VectorPass &pass,
                                           const Search &search) {
  const KernelAxes &axes = search.getAxes();
  MappedTensorType streamTensor = getTensorType(pass.stream);
  SmallVector<int> streamed = getAxesInOrder(streamTensor);
  auto kept = std::make_shared<VectorPass>(pass);
  std::vector<Candidate> candidates;
  auto add = [&](Plan plan) {
    auto isStaged = [&](MappedTensorType type) {
      SmallVector<int> held = getAxesInOrder(type);
      SmallVector<Cut> own;
      for (const Cut &cut : plan.cuts)
        if (llvm::is_contained(held, cut.axis))
          own.push_back(cut);
      // What has no flits is spread from whole words of whole bytes.
      bool hasFlits =
          plan.hasFlitAxis && llvm::is_contained(held, plan.cuts.back().axis);
      if (!hasFlits && (own.empty() || getBits(type) < 8 ||
                        own.back().tile * getBits(type) % 64 != 0))
        return true;
      return !isLoadable(type, own, axes);
    };
    plan.stagedStream = isStaged(streamTensor);
    for (const SideOperand &side : pass.sides)
      plan.stagedSides.push_back(isStaged(getTensorType(side.tensor)));
    plan.bound = boundPlan(pass, plan, axes);
    auto keptPlan = std::make_shared<Plan>(std::move(plan));
    Candidate candidate;
    candidate.placement = [kept, keptPlan, &axes,
                           context = streamTensor.getContext()] {
      return Elementwise(*kept, *keptPlan, axes).getPlacement(context);
    };
    candidate.bound = keptPlan->bound;
    candidate.emit = [kept, keptPlan, &axes](Emitter &emitter,
                                             ValueRange operands) {
      return Elementwise(*kept, *keptPlan, axes).emit(emitter, operands);
    };
    candidates.push_back(std::move(candidate));
  };
  // Plans whose flits are filled by `flitAxis`, which is the innermost one.
  auto enumerate = [&](int flitAxis, bool repeats) {
    SmallVector<int> order = getAxesInOrder(pass.result());
    if (flitAxis >= 0) {
      llvm::erase(order, flitAxis);
      order.push_back(flitAxis);
    }
    int64_t least = getBits(pass.result());
    if (!repeats)
      least = std::min(least, getBits(streamTensor));
    size_t before = candidates.size();
    for (int64_t used : {flitSize, flitSize / 2, flitSize / 4}) {
      // Flits that are not full make sense where rows then lie without gaps.
      int64_t size = flitAxis < 0 ? flitSize : axes.size(flitAxis);
      if (used != flitSize && (size % flitSize == 0 || size % used != 0 ||
                               size % (2 * used) == 0 || used * least < 64))
        continue;
      // Whole words of memory for the narrowest tensor.
      int64_t granule = flitAxis < 0 ? 1 : std::max<int64_t>(used, 64 / least);
      int64_t whole = 1;
      for (auto [i, axis] : llvm::enumerate(order))
        whole *= i + 1 == order.size() ? llvm::alignTo(axes.size(axis), granule)
                                       : axes.size(axis);
      for (AxisLoop loop : getLoops(order.empty() ? -1 : order.front(), axes,
                                    order.size() == 1 ? granule : 1)) {
        // Loops only where nothing fits without them, as few steps as do.
        if (loop.count > 1 && candidates.size() > before)
          break;
        // Parts of a row, then whole rows: so other ops cut tensors as well.
        int64_t row =
            order.empty() ? 1 : llvm::alignTo(axes.size(order.back()), granule);
        auto grow = [&](int64_t cells) {
          return cells < row ? std::min(2 * cells, row) : 2 * cells;
        };
        for (int64_t cells = granule;; cells = grow(cells)) {
          Plan plan;
          plan.hasFlitAxis = flitAxis >= 0;
          plan.repeatsStream = repeats;
          plan.flitCells = used;
          plan.loop = loop;
          plan.cuts =
              shareCells(order, axes, std::min(cells, whole), granule, loop);
          SmallVector<Cut *> cuts;
          for (Cut &cut : plan.cuts)
            cuts.push_back(&cut);
          auto place = spread(cuts, axes, search.getGrid());
          if (place &&
              getSliceBytes(pass, plan) <= int64_t(machine::dmSliceBytes) &&
              choosePasses(pass, plan) &&
              (loop.count == 1 || plan.passes == 1)) {
            plan.place = *place;
            add(std::move(plan));
          }
          if (cells >= whole)
            break;
        }
      }
    }
  };
  // The innermost axis that the stream has, and that of the result: runs in HBM
  // are long along that one.
  int ofStream = -1, ofResult = findInnermost(pass.result());
  for (int axis : getAxesInOrder(pass.result()))
    if (llvm::is_contained(streamed, axis))
      ofStream = axis;
  if (ofStream >= 0 || !isFourBits(pass.resultType))
    enumerate(ofStream, false);
  if (ofResult >= 0 && !llvm::is_contained(streamed, ofResult))
    enumerate(ofResult, true);
  return candidates;
}
