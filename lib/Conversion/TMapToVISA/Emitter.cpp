//===- Emitter.cpp - Writes visa ops --------------------------------------===//

#include "Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::tmap;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

MappingAttr Emitter::mapping(StringRef text) const {
  auto parsed = MappingAttr::parseText(text, axes.visa());
  // Faults of a placement are for the check of the kernel to find; this one
  // can only be a size beyond 63 bits, and is out of all memory.
  return parsed ? *parsed : *MappingAttr::parseText("1", axes.visa());
}

Type Emitter::hbmType(Type elementType, StringRef element) const {
  return visa::HbmType::get(builder.getContext(), elementType, axes.visa(),
                            mapping("1"), mapping(element));
}

Type Emitter::hbmType(MappedTensorType type) const {
  return hbmType(type.getElementType(), axes.rewrite(type.getMapping()));
}

Type Emitter::dmType(Type elementType, const Place &place,
                     StringRef element) const {
  return visa::DmType::get(builder.getContext(), elementType, axes.visa(),
                           mapping("1"), mapping(place.cluster),
                           mapping(place.slice), mapping(element));
}

Type Emitter::trfType(Type elementType, const Place &place, StringRef lane,
                      StringRef element) const {
  return visa::TrfType::get(builder.getContext(), elementType, axes.visa(),
                            mapping("1"), mapping(place.cluster),
                            mapping(place.slice), mapping(lane),
                            mapping(element));
}

Type Emitter::vrfType(Type elementType, const Place &place,
                      StringRef element) const {
  return visa::VrfType::get(builder.getContext(), elementType, axes.visa(),
                            mapping("1"), mapping(place.cluster),
                            mapping(place.slice), mapping(element));
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

/// `K = 100 #{!} 128` in place of `K`.
static TermList withWindows(ArrayRef<std::string> terms, ArrayRef<int> filled,
                            const KernelAxes &axes, const char *pad) {
  TermList result(terms.begin(), terms.end());
  for (int axis : filled)
    for (std::string &term : result)
      if (term == axes.name(axis))
        term = axes.live(axis) + " " + pad + " " +
               std::to_string(axes.fullSize(axis));
  return result;
}

void Emitter::hold(Value tensor, Value held, ArrayRef<int> filled) {
  // What a loop makes is of one step.
  if (residents && held.getDefiningOp() &&
      isa<func::FuncOp>(held.getDefiningOp()->getParentOp()))
    residents->add(tensor, held, filled);
}

Value Emitter::load(Value source, const DmLayout &layout,
                    std::optional<TermList> staged, int longAxis) {
  Type type =
      dmType(layout.elementType, layout.place, joinTerms(layout.element));
  if (residents)
    if (Value held = residents->find(source, type, layout.filled))
      return held;
  Value loaded = loadAnew(source, layout, type, std::move(staged), longAxis);
  hold(source, loaded, layout.filled);
  return loaded;
}

Value Emitter::zeros(const DmLayout &layout) {
  auto fill = [&](Type numbers) -> Value {
    Value buffer = visa::AllocOp::create(
        builder, loc, dmType(numbers, layout.place, joinTerms(layout.element)));
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(numbers));
    visa::MemsetOp::create(builder, loc, buffer, zero);
    return buffer;
  };
  if (!isa<Float8E5M2Type>(layout.elementType))
    return fill(layout.elementType);
  // There is no fill of this type: f32 zeros are narrowed.
  Value wide = fill(builder.getF32Type());
  const std::string &last = layout.element.back();
  TermList time(layout.element.begin(), layout.element.end() - 1);
  time.push_back(last + " / 8");
  Type type =
      dmType(layout.elementType, layout.place, joinTerms(layout.element));
  return chain(visa::Context::Main, type, [&] {
    fetch(wide, joinTerms(time), last + " % 8");
    collect(joinTerms(time), last + " % 8");
    cast(layout.elementType, last + " % 8 # 32");
    commit(last + " % 8", joinTerms(layout.element));
  });
}

Value Emitter::hbmZeros(Type elementType, ArrayRef<std::string> terms) {
  Value target = visa::AllocOp::create(builder, loc,
                                       hbmType(elementType, joinTerms(terms)));
  DmLayout layout;
  layout.elementType = elementType;
  Grid grid =
      Grid::get(visa::getTarget(builder.getInsertionBlock()->getParentOp()));
  layout.place.cluster = "1 # " + std::to_string(grid.clusters);
  layout.place.slice = "1 # " + std::to_string(grid.slices);
  // What follows each other in HBM, as far as a slice has room for it and zeros
  // that are narrowed have no padding; else a number.
  constexpr int64_t most = 16384, whole = 16, longRun = 4096;
  auto sizeOf = [&](StringRef term) {
    auto parsed = MappingAttr::parseText(term, axes.visa());
    return parsed ? parsed->getMapping().size() : 1;
  };
  int64_t cells = sizeOf(terms.back());
  bool isWhole = cells % whole == 0;
  bool isNumber =
      cells > most || (!isWhole && isa<Float8E5M2Type>(layout.elementType));
  layout.element.push_back(
      isNumber ? "1 # 8"
      : isWhole
          ? terms.back()
          : terms.back() + " # " + std::to_string(llvm::alignTo(cells, whole)));
  // Short runs would be slow.
  for (const std::string &term : llvm::reverse(terms.drop_back())) {
    int64_t size = sizeOf(term);
    if (!isWhole || isNumber || size > longRun / cells)
      break;
    cells *= size;
    layout.element.insert(layout.element.begin(), term);
  }
  visa::CopyOp::create(builder, loc, zeros(layout), target);
  return target;
}

Value Emitter::loadAnew(Value source, const DmLayout &layout, Type type,
                        std::optional<TermList> staged, int longAxis) {
  // The part of `whole` that the source fills.
  auto window = [&](Value whole, ArrayRef<std::string> terms,
                    function_ref<Type(StringRef)> makeType) {
    for (size_t i = 0; i < layout.filled.size(); ++i) {
      int axis = layout.filled[i];
      TermList view = withWindows(
          terms, ArrayRef(layout.filled).take_front(i + 1), axes, "#{!}");
      whole = visa::TileOp::create(
          builder, loc, makeType(joinTerms(view)), whole, /*offset=*/Value(),
          builder.getI64IntegerAttr(0), visa::Dimension::Element,
          axes.name(axis), axes.size(axis));
    }
    return whole;
  };
  if (staged) {
    auto makeType = [&](StringRef text) {
      return hbmType(layout.elementType, text);
    };
    Type stagedType = makeType(joinTerms(*staged));
    if (layout.filled.empty())
      if (Value turned = turn(source, stagedType))
        return visa::ToDmOp::create(builder, loc, type, turned);
    Value scratch = layout.filled.empty()
                        ? Value(visa::AllocOp::create(builder, loc, stagedType))
                        : Value(visa::ToHbmOp::create(builder, loc, stagedType,
                                                      zeros(layout)));
    copyInto(source, window(scratch, *staged, makeType), longAxis);
    return visa::ToDmOp::create(builder, loc, type, scratch);
  }
  if (layout.filled.empty())
    return visa::ToDmOp::create(builder, loc, type, source);
  Value buffer = zeros(layout);
  visa::CopyOp::create(builder, loc, source,
                       window(buffer, layout.element, [&](StringRef text) {
                         return dmType(layout.elementType, layout.place, text);
                       }));
  return buffer;
}

Value Emitter::store(Value source, MappedTensorType type) {
  Value stored = visa::ToHbmOp::create(builder, loc, hbmType(type), source);
  hold(stored, source);
  return stored;
}

Value Emitter::copy(Value source, Type hbmType) {
  Value target = visa::AllocOp::create(builder, loc, hbmType);
  visa::CopyOp::create(builder, loc, source, target);
  return target;
}

Value Emitter::part(Value tensor, StringRef index, int64_t start,
                    int64_t length, mapping::Pad hole) {
  auto type = mlir::cast<visa::HbmType>(tensor.getType());
  auto digits = MappingAttr::parseText(index, axes.visa());
  if (!digits)
    return {};
  auto window = mapping::tile(type.getElement().getMapping(),
                              digits->getMapping(), length, start, hole);
  if (!window)
    return {};
  if (start == 0 && length == window->live)
    return tensor;
  return visa::TileOp::create(
      builder, loc, hbmType(type.getElementType(), window->view.str()), tensor,
      Value(), builder.getI64IntegerAttr(start), visa::Dimension::Element,
      index, length);
}

void Emitter::copyInto(Value source, Value target, int axis) {
  constexpr int64_t round = 1024;
  int64_t size = axis < 0 ? 0 : axes.size(axis);
  int64_t head = size / round * round;
  std::string index = axis < 0 ? "" : axes.live(axis);
  if (head >= 4 * round && head != size) {
    Value from = part(source, index, 0, head, mapping::Pad::Top);
    Value to = part(target, index, 0, head, mapping::Pad::Bottom);
    Value fromRest = part(source, index, head, size - head, mapping::Pad::Top);
    Value toRest = part(target, index, head, size - head, mapping::Pad::Bottom);
    if (from && to && fromRest && toRest) {
      visa::CopyOp::create(builder, loc, from, to);
      visa::CopyOp::create(builder, loc, fromRest, toRest);
      return;
    }
  }
  visa::CopyOp::create(builder, loc, source, target);
}

Value Emitter::step(Value tensor, const AxisLoop &loop, Value at,
                    mapping::Pad hole) {
  if (loop.count == 1)
    return tensor;
  auto type = mlir::cast<visa::HbmType>(tensor.getType());
  const mapping::Mapping &element = type.getElement().getMapping();
  std::string index = axes.name(loop.axis) + " / " + std::to_string(loop.tile);
  auto digits = MappingAttr::parseText(index, axes.visa());
  if (!digits || !element.uses(loop.axis))
    return tensor;
  auto window = mapping::tile(element, digits->getMapping(), 1, 0, hole);
  // The check of the view says what is wrong with it.
  return tile(tensor, at, index,
              window ? hbmType(type.getElementType(), window->view.str())
                     : tensor.getType());
}

Value Emitter::tile(Value source, Value at, StringRef index, Type type) {
  return visa::TileOp::create(builder, loc, type, source, at, IntegerAttr(),
                              visa::Dimension::Element, index, 1);
}

Value Emitter::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

void Emitter::forEach(int64_t count, function_ref<void(Value)> body) {
  if (count == 1)
    return body({});
  auto loop =
      scf::ForOp::create(builder, loc, index(0), index(count), index(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

Value Emitter::chain(visa::Context context, Type result,
                     function_ref<void()> stages) {
  auto op = visa::ChainOp::create(builder, loc, result, context);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&op.getBody());
  stages();
  return op.getResult();
}

void Emitter::fetch(Value source, StringRef time, StringRef packet,
                    ArrayAttr windows) {
  visa::FetchOp::create(builder, loc, source, time, packet, windows);
}
void Emitter::fetchCast(Type to) {
  visa::FetchCastOp::create(builder, loc, to);
}
void Emitter::exchange(visa::SwitchConfig config, ArrayRef<int64_t> params,
                       StringRef slice, StringRef time) {
  visa::SwitchOp::create(builder, loc, config, params, slice, time);
}
void Emitter::collect(StringRef time, StringRef packet) {
  visa::CollectOp::create(builder, loc, time, packet);
}
void Emitter::toTrf(StringRef lane, StringRef element) {
  visa::ToTrfOp::create(builder, loc, lane, element);
}
void Emitter::toVrf(StringRef element) {
  visa::ToVrfOp::create(builder, loc, element);
}
void Emitter::cast(Type to, StringRef packet) {
  visa::CastOp::create(builder, loc, to, packet);
}
void Emitter::commit(StringRef trimmed, StringRef element, Value into) {
  visa::CommitTrimOp::create(builder, loc, trimmed);
  visa::CommitOp::create(builder, loc, element, into);
}
