//===- ContractionChains.cpp - The chains of a contraction ----------------===//

#include "Contraction.h"
#include "furiosa/Dialect/Utils/ElementTypes.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::tmap;
using namespace furiosa::tmap::contraction;
namespace machine = furiosa::rngd::machine;

DmLayout Contraction::layout(int operand) const {
  DmLayout layout;
  layout.elementType = problem.elementType;
  layout.place = plan.place;
  if (operand == plan.stream && plan.ring > 1)
    layout.place.slice = streamSlice();
  layout.element = concat({batch,
                           operand == plan.stream ? fetchedRows : columns,
                           outerSums,
                           {piece(heldSums(operand))}});
  for (int axis : problem.over)
    if (axes.isGrown(axis))
      layout.filled.push_back(axis);
  return layout;
}

std::string Contraction::streamSlice() const {
  TermList terms;
  for (ArrayRef<Cut> cuts : {ArrayRef(plan.batch), ArrayRef(plan.rows)})
    for (const Cut &cut : cuts)
      terms.push_back(cut.slices(axes));
  terms.push_back(ringRows);
  for (const Cut &cut : plan.sums)
    terms.push_back(cut.slices(axes));
  terms.push_back(sumSteps(heldSums(plan.stream)));
  return joinTerms(terms);
}

/// Slices, rows and columns before: […, J / t % n], I % r, J % t. Behind it
/// each slice has a part of the rows of its neighbours.
Value Contraction::emitExchange(Emitter &emitter, Value tile) const {
  const Cut &row = plan.rows.back(), &column = plan.columns.back();
  int64_t count = plan.exchange, kept = row.held() / count;
  TermList slice, time = batch;
  for (ArrayRef<Cut> cuts : {ArrayRef(plan.batch), ArrayRef(plan.rows),
                             ArrayRef(plan.columns).drop_back()})
    for (const Cut &cut : cuts)
      slice.push_back(cut.slices(axes));
  slice.push_back(column.slices(axes, count));
  auto [rowSlice, keptRows] = shareRows(count);
  slice.push_back(rowSlice);
  time.append(rows.begin(), rows.end() - 1);
  time.append(outerColumns);
  TermList exchanged = time;
  std::string others = column.digit(axes, column.tile, count);
  exchanged.append({keptRows, others});
  time.append({rowSlice, keptRows});

  // The order of the result, wider by the columns of the neighbours.
  TermList element;
  for (int axis : problem.order)
    for (ArrayRef<Cut> cuts : {ArrayRef(plan.batch), ArrayRef(plan.rows),
                               ArrayRef(plan.columns).drop_back()})
      for (const Cut &cut : cuts)
        if (cut.axis == axis)
          element.push_back(&cut == &row ? keptRows : cut.inner(axes));
  element.push_back(column.digit(axes, 1, column.tile * count));
  Place place = plan.place;
  place.slice = joinTerms(slice);
  Type type = emitter.dmType(problem.resultType, place, joinTerms(element));
  // A packet of the switch is the columns of a slice.
  int64_t cells = getFlit(*getElementType(problem.resultType));
  std::string columnsHeld = column.inner(axes);
  TermList collected = exchanged;
  std::string flitText = columnsHeld;
  if (column.tile > cells) {
    collected.push_back(column.digit(axes, cells, column.tile / cells));
    flitText = column.digit(axes, 1, cells);
  } else if (column.tile < cells) {
    flitText += " # " + std::to_string(cells);
  }
  // Beside the products of the next step.
  visa::Context context =
      plan.overlaps ? visa::Context::Sub : visa::Context::Main;
  return emitter.chain(context, type, [&] {
    emitter.fetch(tile, joinTerms(time), columnsHeld);
    emitter.exchange(visa::SwitchConfig::InterTranspose, {count, 1, kept},
                     place.slice, joinTerms(exchanged));
    emitter.collect(joinTerms(collected), flitText);
    emitter.commit(column.tile < cells ? columnsHeld : flitText,
                   joinTerms(element));
  });
}

/// In memory […, R, K, J % t] as it comes, then […, J % t, R, K].
Value Contraction::loadTransposed(Emitter &emitter, int operand,
                                  Value source) const {
  bool isStream = operand == plan.stream;
  ArrayRef<Cut> cuts = isStream ? plan.rows : plan.columns;
  const Cut &turned = cuts.back();
  int64_t tile = isStream ? turned.tile / plan.ring : turned.tile;
  TermList outer = batch;
  for (const Cut &cut : cuts.drop_back())
    outer.push_back(cut.inner(axes));
  outer.append(outerSums);
  DmLayout target = layout(operand), given = target;
  given.element = concat({outer, {lastSum}, {turned.digit(axes, 1, tile)}});
  Value loaded = emitter.load(source, given, std::nullopt);
  unsigned bits = wireBits(problem.type);
  int64_t columns = rngd::transposeCells(bits), word = 64 / bits;
  std::string fill = " # " + std::to_string(flit);
  std::string packet = turned.digit(axes, 1, columns);
  std::string steps = turned.digit(axes, columns, tile / columns);
  std::string time = joinTerms(concat({outer, {steps}, {lastSum}}));
  std::string element = joinTerms(target.element);
  return emitter.chain(
      visa::Context::Main,
      emitter.dmType(problem.elementType, target.place, element), [&] {
        emitter.fetch(loaded, time, packet);
        emitter.collect(time, packet + fill);
        visa::TransposeOp::create(
            emitter.builder, emitter.loc,
            joinTerms(concat({outer, {steps}, {sumSteps(word)}, {packet}})),
            piece(word) + fill);
        emitter.commit(piece(word), element);
      });
}

/// The order in which a staged operand lies in HBM.
static TermList getStagedOrder(const Problem &problem, int operand,
                               const KernelAxes &axes, const Plan &plan) {
  TermList terms;
  for (ArrayRef<Cut> cuts :
       {ArrayRef(plan.batch),
        ArrayRef(operand == plan.stream ? plan.rows : plan.columns)})
    for (const Cut &cut : cuts)
      terms.push_back(cut.whole(axes));
  for (int axis : problem.over)
    terms.push_back(axes.name(axis));
  return terms;
}

/// The result in a slice: the order of the result, but the axis of the lanes
/// innermost, since they are written together.
TermList Contraction::resultTerms(ArrayRef<std::string> lastTerms) const {
  TermList terms;
  for (int axis : problem.order)
    for (const SmallVector<Cut> *cuts :
         {&plan.batch, &plan.rows, &plan.columns})
      for (const Cut &cut : *cuts)
        if (cut.axis == axis &&
            (!plan.hasColumns() || axis != plan.columns.back().axis))
          terms.push_back(cut.inner(axes));
  terms.append(lastTerms.begin(), lastTerms.end());
  return terms;
}

Value Contraction::loadOperand(Emitter &emitter, int operand,
                               Value source) const {
  if (plan.windows && operand == plan.stream)
    return plan.windows->emit(emitter, source);
  if (plan.transposed[operand])
    return loadTransposed(emitter, operand, source);
  return emitter.load(source, layout(operand),
                      plan.staged[operand] ? std::optional(getStagedOrder(
                                                 problem, operand, axes, plan))
                                           : std::nullopt);
}

/// Steps of different lengths over the rows of a slice; all of them lie in the
/// slices of the whole plan, so the weight is loaded once.
Value Contraction::emitInSteps(Emitter &emitter, ValueRange operands) const {
  int weight = 1 - plan.stream;
  Value result = visa::AllocOp::create(emitter.builder, emitter.loc,
                                       emitter.hbmType(problem.result));
  Value loaded = loadOperand(emitter, weight, operands[weight]);
  Value registers = plan.passes == 1 ? loadRegisters(emitter, loaded) : Value();
  SmallVector<Value> sides = loadSides(emitter, operands.drop_front(2));
  const Cut &row = plan.rows.back();
  std::string index = row.inner(axes);
  int64_t start = 0;
  for (int64_t rows : plan.steps) {
    Plan part = getStep(plan, rows);
    Contraction step(problem, part, axes);
    auto view = [&](Value tensor, mapping::Pad hole) {
      return emitter.part(tensor, index, start, rows, hole);
    };
    Value stream = step.loadOperand(
        emitter, plan.stream, view(operands[plan.stream], mapping::Pad::Top));
    visa::CopyOp::create(
        emitter.builder, emitter.loc,
        step.emitTile(emitter, stream, loaded, sides, registers),
        view(result, mapping::Pad::Bottom));
    start += rows;
  }
  return result;
}

Value Contraction::emit(Emitter &emitter, ValueRange given) const {
  if (!plan.steps.empty())
    return emitInSteps(emitter, given);
  SmallVector<Value> operands(given);
  if (plan.windows)
    operands[plan.stream] =
        plan.windows->rename(emitter, operands[plan.stream]);
  auto load = [&](int operand, Value source) {
    return loadOperand(emitter, operand, source);
  };
  int weight = 1 - plan.stream;
  ValueRange sides = given.drop_front(2);
  if (plan.rowLoop.count == 1 && plan.columnLoop.count == 1) {
    Value loaded[2] = {load(0, operands[0]), load(1, operands[1])};
    return emitter.store(emitTile(emitter, loaded[plan.stream], loaded[weight],
                                  loadSides(emitter, sides)),
                         problem.result);
  }
  Value result = visa::AllocOp::create(emitter.builder, emitter.loc,
                                       emitter.hbmType(problem.result));
  if (plan.overlaps) {
    Value loaded = load(weight, operands[weight]);
    Value registers =
        plan.passes == 1 ? loadRegisters(emitter, loaded) : Value();
    SmallVector<Value> loadedSides = loadSides(emitter, sides);
    for (int64_t i = 0; i < plan.rowLoop.count; ++i) {
      Value row = emitter.index(i);
      Value stream =
          load(plan.stream, emitter.step(operands[plan.stream], plan.rowLoop,
                                         row, mapping::Pad::Top));
      visa::CopyOp::create(
          emitter.builder, emitter.loc,
          emitTile(emitter, stream, loaded, loadedSides, registers),
          emitter.step(result, plan.rowLoop, row, mapping::Pad::Bottom));
    }
    return result;
  }
  emitter.forEach(plan.rowLoop.count, [&](Value row) {
    Value stream =
        load(plan.stream, emitter.step(operands[plan.stream], plan.rowLoop, row,
                                       mapping::Pad::Top));
    Value rows = emitter.step(result, plan.rowLoop, row, mapping::Pad::Bottom);
    emitter.forEach(plan.columnLoop.count, [&](Value column) {
      Value loaded =
          load(weight, emitter.step(operands[weight], plan.columnLoop, column,
                                    mapping::Pad::Top));
      Value tile =
          emitTile(emitter, stream, loaded, loadSides(emitter, sides, column));
      visa::CopyOp::create(
          emitter.builder, emitter.loc, tile,
          emitter.step(rows, plan.columnLoop, column, mapping::Pad::Bottom));
    });
  });
  return result;
}

/// The weight, or a window of it for one pass, in the register file.
Value Contraction::loadRegisters(Emitter &emitter, Value weight) const {
  TermList terms = concat({batch, groupTerms(), outerSums, {lastSum}});
  TermList time = concat({{lane}, batch, groupTerms(), outerSums});
  return emitter.chain(visa::Context::Sub,
                       emitter.trfType(problem.elementType, plan.place,
                                       joinTerms(lane), joinTerms(terms)),
                       [&] {
                         emitter.fetch(weight, joinTerms(time), lastSum);
                         emitter.collect(
                             joinTerms(concat({time, {sumSteps(flit)}})),
                             piece(flit));
                         emitter.toTrf(joinTerms(lane), joinTerms(terms));
                       });
}

/// Eight lanes are a flit.
FlitShape Contraction::getFlitShape() const {
  FlitShape shape;
  shape.outer = concat({batch, timeRows, outerColumns});
  if (!plan.hasColumns()) {
    shape.half = true;
    shape.cells = "1";
    shape.packet8 = "1 # 8";
    shape.packet4 = "1 # 4";
    return shape;
  }
  const Cut &inner = plan.columns.back();
  shape.steps = group;
  shape.cells = shape.packet8 = lane;
  shape.steps4 = inner.digit(axes, lanes() / 2, 2 * plan.groups);
  shape.packet4 = inner.digit(axes, 1, lanes() / 2);
  return shape;
}

SmallVector<Value> Contraction::loadSides(Emitter &emitter, ValueRange tensors,
                                          Value column) const {
  SmallVector<Value> loaded;
  if (!problem.hasSides())
    return loaded;
  for (auto [side, tensor] : llvm::zip_equal(problem.pass->sides, tensors)) {
    auto type = cast<MappedTensorType>(side.tensor.getType());
    SmallVector<int> axesHeld = getAxesInOrder(type);
    DmLayout layout;
    layout.elementType = type.getElementType();
    layout.place = plan.resultPlace;
    TermList order, time;
    SmallVector<Cut> held;
    for (ArrayRef<Cut> cuts : {ArrayRef(plan.batch), ArrayRef(plan.columns)})
      for (const Cut &cut : cuts)
        if (llvm::is_contained(axesHeld, cut.axis)) {
          held.push_back(cut);
          // Staged rows are whole words of the narrowest type.
          int64_t filled = llvm::alignTo(cut.size, lanes());
          order.push_back(cut.whole(axes) +
                          (&cut != &plan.columns.back() || filled == cut.size
                               ? ""
                               : " # " + std::to_string(filled)));
          layout.element.push_back(cut.inner(axes));
          if (&cut != &plan.columns.back())
            time.push_back(cut.inner(axes));
        }
    time.push_back(group);
    Value source =
        emitter.step(tensor, plan.columnLoop, column, mapping::Pad::Top);
    Value memory = emitter.load(
        source, layout,
        isLoadable(type, held, axes) ? std::nullopt : std::optional(order));
    std::string element = joinTerms(concat({time, {lane}}));
    loaded.push_back(emitter.chain(
        visa::Context::Sub,
        emitter.vrfType(side.type, plan.resultPlace, element), [&] {
          emitter.fetch(memory, joinTerms(time), lane);
          if (side.type != layout.elementType)
            emitter.fetchCast(side.type);
          emitter.collect(joinTerms(time), lane);
          emitter.toVrf(element);
        }));
  }
  return loaded;
}

/// Parts in time, each a flit: the order of their addition is that of time.
Value Contraction::emitJoin(Emitter &emitter, Value parts) const {
  OpBuilder &b = emitter.builder;
  Location loc = emitter.loc;
  bool half = !plan.hasColumns();
  std::string packet = half ? "1 # 8" : lane;
  std::string packet4 =
      half ? "1 # 4" : plan.columns.back().digit(axes, 1, lanes() / 2);
  TermList time = resultTerms({});
  std::string element =
      joinTerms(concat({time,
                        {half ? filledWord(problem.resultType)
                              : plan.columns.back().inner(axes)}}));
  if (!half)
    time.push_back(plan.columns.back().digit(
        axes, lanes(), plan.columns.back().tile / lanes()));
  TermList joined = time;
  std::string axis;
  for (const Cut &cut : plan.sums)
    if (cut.units() > 1) {
      joined.push_back(cut.slices(axes));
      axis = axes.name(cut.axis);
    }
  TermList halves;
  if (!half)
    halves.push_back(plan.columns.back().digit(axes, lanes() / 2, 2));
  return emitter.chain(
      visa::Context::Main,
      emitter.dmType(problem.resultType, plan.resultPlace, element), [&] {
        emitter.fetch(parts, joinTerms(time),
                      half ? filledWord(problem.sumType) : lane);
        emitter.exchange(visa::SwitchConfig::Broadcast1,
                         {plan.partCount(), plan.place.gap},
                         plan.resultPlace.slice, joinTerms(joined));
        emitter.collect(joinTerms(joined), packet);
        visa::VectorInitOp::create(b, loc);
        visa::VectorTagOp::create(b, loc, visa::TagMode::Zero,
                                  b.getArrayAttr({}));
        visa::VectorNarrowOp::create(
            b, loc, half ? visa::NarrowKind::Trim : visa::NarrowKind::Split,
            half ? StringAttr()
                 : b.getStringAttr(joinTerms(concat({joined, halves}))),
            b.getStringAttr(packet4));
        visa::VectorReduceOp::create(b, loc, visa::VectorFn::Add, axis,
                                     joinTerms(concat({time, halves})),
                                     packet4);
        visa::VectorWidenOp::create(
            b, loc, half ? visa::WidenKind::Pad : visa::WidenKind::Concat,
            half ? StringAttr() : b.getStringAttr(joinTerms(time)),
            b.getStringAttr(packet));
        visa::VectorFinalOp::create(b, loc);
        emitNarrowing(emitter, problem.sumType);
        emitter.commit(half ? filledWord(problem.resultType) : lane, element);
      });
}

void Contraction::emitNarrowing(Emitter &emitter, Type from) const {
  if (problem.resultType != from)
    emitter.cast(
        problem.resultType,
        (plan.hasColumns() ? lane : std::string("1")) + " # " +
            std::to_string(getFlit(*getElementType(problem.resultType))));
}

/// The chains on what a step of the loops has brought into data memory.
Value Contraction::emitTile(Emitter &emitter, Value stream, Value weight,
                            ValueRange sides, Value registers) const {
  bool isPart = plan.joinsInSwitch();
  Type tileType = isPart ? problem.sumType : problem.resultType;
  const Place &place = isPart ? plan.place : plan.resultPlace;
  // Fewer than eight lanes fill a word with padding.
  std::string trimmed = plan.hasColumns() ? lane : filledWord(tileType);
  std::string folded = plan.hasColumns() ? lane : "1 # 8";

  TermList kept = concat({batch, timeRows, groupTerms()});

  auto runPass = [&](Value weightTile, ArrayRef<std::string> resultElement,
                     Value into) {
    Value file = registers ? registers : loadRegisters(emitter, weightTile);
    Type resultDm =
        into ? into.getType()
             : emitter.dmType(tileType, place, joinTerms(resultElement));
    return emitter.chain(visa::Context::Main, resultDm, [&] {
      TermList fetchTime = concat({batch, fetchedRows, outerSums});
      int64_t held = heldSums(plan.stream);
      emitter.fetch(stream, joinTerms(fetchTime), piece(held),
                    plan.windows ? plan.windows->getClause(stream.getContext())
                                 : ArrayAttr());
      if (plan.ring > 1) {
        fetchTime.append({ringRows, sumSteps(held)});
        emitter.exchange(visa::SwitchConfig::Broadcast1,
                         {plan.ring, plan.partCount()}, plan.place.slice,
                         joinTerms(fetchTime));
      }
      std::string flits = plan.sums.back().digit(axes, flit, held / flit);
      emitter.collect(joinTerms(concat({fetchTime, {flits}})), piece(flit));
      OpBuilder &b = emitter.builder;
      visa::ContractOuterOp::create(b, emitter.loc, file, outerTime(),
                                    piece(packet));
      visa::ContractPacketOp::create(b, emitter.loc, "1");
      visa::ContractTimeOp::create(b, emitter.loc, joinTerms(kept));
      visa::ContractLaneOp::create(b, emitter.loc, visa::LaneMode::Interleaved,
                                   joinTerms(kept), folded);
      auto addSlices = [&] {
        if (plan.partCount() > 1)
          visa::VectorInterSliceReduceOp::create(
              b, emitter.loc, visa::VectorFn::Add, plan.resultPlace.slice,
              joinTerms(kept));
      };
      if (!isPart && problem.hasSteps()) {
        emitSteps(emitter, *problem.pass, getFlitShape(), sides, addSlices);
      } else if (!isPart && plan.partCount() > 1) {
        visa::VectorInitOp::create(b, emitter.loc);
        addSlices();
        visa::VectorFinalOp::create(b, emitter.loc);
      }
      if (!isPart)
        emitNarrowing(emitter,
                      problem.pass ? problem.pass->lastType : problem.sumType);
      emitter.commit(trimmed, joinTerms(resultElement), into);
    });
  };

  std::string whole =
      plan.hasColumns() ? plan.columns.back().inner(axes) : trimmed;
  TermList wholeResult = resultTerms({whole});
  auto finish = [&](Value tile) {
    return isPart              ? emitJoin(emitter, tile)
           : plan.exchange > 1 ? emitExchange(emitter, tile)
                               : tile;
  };
  if (plan.passes == 1)
    return finish(runPass(weight, wholeResult, {}));
  // A window of the weight and of the result for each pass.
  const Cut &inner = plan.columns.back();
  std::string tile = inner.digit(axes, 1, plan.groups * lanes());
  auto window = [&](const char *pad) {
    return TermList{"1 " + std::string(pad) + " " + std::to_string(plan.passes),
                    tile};
  };
  Type resultDm = emitter.dmType(tileType, place, joinTerms(wholeResult));
  Value result = visa::AllocOp::create(emitter.builder, emitter.loc, resultDm);
  Type weightView = emitter.dmType(
      problem.elementType, plan.place,
      joinTerms(
          concat({batch, outerColumns, window("#"), outerSums, {lastSum}})));
  TermList viewTerms = resultTerms(window("#{!}"));
  Type resultView = emitter.dmType(tileType, place, joinTerms(viewTerms));
  emitter.forEach(plan.passes, [&](Value at) {
    Value weightTile = emitter.tile(weight, at, pass, weightView);
    Value into = emitter.tile(result, at, pass, resultView);
    runPass(weightTile, viewTerms, into);
  });
  return finish(result);
}
