//===- TensorOps.cpp - Rules of tensor functions --------------------------===//

#include "TensorRules.h"
#include "furiosa/Dialect/Utils/ElementTypes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::tmap;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static ParseResult parseKeyword(OpAsmParser &parser, StringAttr &name) {
  std::string text;
  if (parser.parseKeywordOrString(&text))
    return failure();
  name = parser.getBuilder().getStringAttr(text);
  return success();
}

static void printKeyword(OpAsmPrinter &printer, Operation *, StringAttr name) {
  printer.printKeywordOrString(name.getValue());
}

/// `[K, L]`.
static ParseResult parseAxisNames(OpAsmParser &parser, ArrayAttr &names) {
  SmallVector<Attribute> list;
  auto parseName = [&]() -> ParseResult {
    StringAttr name;
    if (parseKeyword(parser, name))
      return failure();
    list.push_back(name);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseName))
    return failure();
  names = parser.getBuilder().getArrayAttr(list);
  return success();
}

static void printAxisNames(OpAsmPrinter &printer, Operation *op,
                           ArrayAttr names) {
  printer << '[';
  llvm::interleaveComma(
      names.getAsRange<StringAttr>(), printer,
      [&](StringAttr name) { printKeyword(printer, op, name); });
  printer << ']';
}

#define GET_OP_CLASSES
#include "furiosa/Dialect/TensorMapping/IR/TensorOps.cpp.inc"

void TMapDialect::registerTensorOps() {
  addOperations<
#define GET_OP_LIST
#include "furiosa/Dialect/TensorMapping/IR/TensorOps.cpp.inc"
      >();
}

Operation *TMapDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  auto number = dyn_cast<TypedAttr>(value);
  auto tensor = dyn_cast<MappedTensorType>(type);
  if (!number || !tensor || number.getType() != tensor.getElementType() ||
      !getAxesInOrder(tensor).empty())
    return nullptr;
  return ConstantOp::create(builder, loc, tensor, number);
}

//===----------------------------------------------------------------------===//
// Axes and types
//===----------------------------------------------------------------------===//

SmallVector<int> tmap::getAxesInOrder(MappedTensorType type) {
  const mapping::Mapping &mapping = type.getMapping().getMapping();
  SmallVector<int> order;
  if (const auto &canonical = mapping.resolved())
    for (const mapping::Factor &factor : canonical->factors)
      if (factor.axis >= 0 && !llvm::is_contained(order, factor.axis))
        order.push_back(factor.axis);
  return order;
}

/// Cuts axes of `sizes`, the outermost one first and the last one in whole
/// `granule`, until a part has at most `most` elements or they are `maxCount`.
static void cutSum(ArrayRef<int64_t> sizes, MutableArrayRef<SumParts> parts,
                   int64_t granule, int64_t most, int64_t maxCount) {
  auto alignLength = [&](size_t i) {
    int64_t step = i + 1 == parts.size() ? granule : 1;
    int64_t length = llvm::divideCeil(sizes[i], parts[i].count);
    parts[i].length = llvm::divideCeil(length, step) * step;
    return parts[i].length > step;
  };
  auto isDone = [&] {
    uint64_t elements = 1;
    uint64_t count = 1;
    for (const SumParts &part : parts) {
      elements = llvm::SaturatingMultiply<uint64_t>(elements, part.length);
      count = llvm::SaturatingMultiply<uint64_t>(count, part.count);
    }
    return elements <= uint64_t(most) || count >= uint64_t(maxCount);
  };
  alignLength(parts.size() - 1);
  for (size_t i = 0; i < parts.size(); ++i)
    while (alignLength(i) && !isDone()) {
      parts[i].count *= 2;
      alignLength(i);
    }
}

SmallVector<SumParts> tmap::getSumParts(ContractOp op) {
  AxesAttr axes = op.getLhs().getType().getMapping().getAxes();
  ElementType type = *getElementType(op.getLhs().getType().getElementType());
  SmallVector<int64_t> sizes;
  for (int axis : findAxes(axes, op.getOver()))
    sizes.push_back(axes.getAxes()[axis].size);
  SmallVector<SumParts> parts(sizes.size());
  for (auto [part, size] : llvm::zip_equal(parts, sizes))
    part.length = size;
  int64_t packet = getPacketSize(type), kibibyte = 1024 * 8 / wireBits(type);
  cutSum(sizes, parts, packet, 8 * kibibyte, int64_t(1) << 40);
  if (llvm::any_of(parts, [](const SumParts &part) { return part.count > 1; }))
    cutSum(sizes, parts, packet, kibibyte, 64);
  return parts;
}

SumParts tmap::getSumParts(int64_t length) {
  SumParts parts{length, 1};
  cutSum(length, parts, /*granule=*/8, /*most=*/2048, /*maxCount=*/256);
  return parts;
}

bool tmap::hasAxis(MappedTensorType type, int axis) {
  const mapping::Mapping &mapping = type.getMapping().getMapping();
  return mapping.axes()[axis].size == 1 || mapping.uses(axis);
}

MappedTensorType tmap::getPlainType(Type elementType, AxesAttr axes,
                                    ArrayRef<int> order) {
  std::string text;
  for (int axis : order)
    text += (text.empty() ? "" : ", ") + axes.getAxes()[axis].name;
  auto mapping = MappingAttr::parseText(text.empty() ? "1" : text, axes);
  assert(mapping && "names of declared axes make a mapping");
  return MappedTensorType::get(axes.getContext(), elementType, *mapping);
}

SmallVector<int> tmap::findAxes(AxesAttr axes, ArrayAttr names) {
  return llvm::map_to_vector(
      names.getAsRange<StringAttr>(),
      [&](StringAttr name) { return axes.getAxes().find(name.getValue()); });
}

Type tmap::getAccumulatorType(Type elementType) {
  auto type = getElementType(elementType);
  if (!type)
    return {};
  switch (*type) {
  case ElementType::I4:
  case ElementType::I8:
    return getMLIRType(elementType.getContext(), ElementType::I32);
  case ElementType::F8E4M3:
  case ElementType::F8E5M2:
  case ElementType::BF16:
    return getMLIRType(elementType.getContext(), ElementType::F32);
  default:
    return {};
  }
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

namespace {
struct NamedTest {
  StringLiteral name, mirrored;
  ElementTest test;
};
} // namespace

static ArrayRef<NamedTest> getTests() {
  using vector::Comparison;
  static constexpr Comparison equal[] = {Comparison::Equal};
  static constexpr Comparison less[] = {Comparison::Less, Comparison::Equal};
  static constexpr Comparison greater[] = {Comparison::Greater,
                                           Comparison::Equal};
  // A NaN passes none but not_equal.
  static const NamedTest tests[] = {
      {"equal", "equal", {equal, {1, 1, false}}},
      {"not_equal", "not_equal", {equal, {1, 1, true}}},
      {"less", "greater", {ArrayRef(less, 1), {1, 1, false}}},
      {"greater", "less", {ArrayRef(greater, 1), {1, 1, false}}},
      {"less_equal", "greater_equal", {less, {0, 3, true}}},
      {"greater_equal", "less_equal", {greater, {0, 3, true}}},
  };
  return tests;
}

bool ElementTest::admits(ElementType type, uint32_t value,
                         uint32_t boundary) const {
  unsigned id = 0;
  for (auto [bit, comparison] : llvm::enumerate(comparisons))
    id |= unsigned(vector::compare(comparison, type, value, boundary)) << bit;
  return holds.admits(id);
}

static const NamedTest *findNamedTest(StringRef name) {
  const auto *found = llvm::find_if(
      getTests(), [&](const NamedTest &test) { return test.name == name; });
  return found == getTests().end() ? nullptr : found;
}

const ElementTest *tmap::findTest(StringRef name) {
  const NamedTest *found = findNamedTest(name);
  return found ? &found->test : nullptr;
}

StringRef tmap::mirrorTest(StringRef name) {
  const NamedTest *found = findNamedTest(name);
  if (!found)
    return name;
  return found->mirrored;
}

std::optional<ElementFunction> ElementFunction::find(StringRef name, Type type,
                                                     unsigned arity) {
  auto elementType = getElementType(type);
  if (!elementType ||
      (*elementType != ElementType::I32 && *elementType != ElementType::F32))
    return std::nullopt;
  if (name == selectName && arity == 3)
    return ElementFunction{nullptr, nullptr, *elementType};
  if (const ElementTest *test = findTest(name); test && arity == 2)
    return ElementFunction{nullptr, test, *elementType};
  for (const vector::Operation &row : vector::operations()) {
    // Several units multiply; which of them does is no matter of this level.
    bool isMul = row.code == "mul";
    if ((isMul ? name == "mul" : name == row.name) && row.arity == arity &&
        row.takes(*elementType))
      return ElementFunction{&row, nullptr, *elementType};
  }
  return std::nullopt;
}

std::optional<uint32_t>
ElementFunction::apply(uint32_t a, uint32_t b, uint32_t c,
                       ElementType conditionType) const {
  if (row)
    return vector::apply(row->function, a, b, c);
  if (!test)
    return findTest(selectTest)->admits(conditionType, a, 0) ? b : c;
  bool isFloat = type == ElementType::F32;
  auto difference = vector::apply(
      isFloat ? vector::Function::SubF32 : vector::Function::SubSatI32, a, b);
  bool holds = difference && test->admits(type, *difference, 0);
  constexpr uint32_t one = 0x3F800000;
  return holds ? (isFloat ? one : 1u) : 0u;
}

const vector::Reduction *tmap::findReduction(StringRef name, Type type) {
  auto elementType = getElementType(type);
  return elementType ? vector::findIntraSlice(name, *elementType) : nullptr;
}

std::optional<uint32_t> tmap::castCode(ElementType from, ElementType to,
                                       uint32_t code) {
  if (from == to || !isStored(from) || !isStored(to))
    return std::nullopt;
  bool narrows = wireBits(to) < wireBits(from);
  if (isInteger(from) && isInteger(to) && to != ElementType::U8 &&
      from != ElementType::U8) {
    int32_t value = decodeInteger(from, code);
    if (to == ElementType::I32 || (narrows && from == ElementType::I32))
      return encodeInteger(to, value);
    return std::nullopt;
  }
  if (from == ElementType::I32 && to == ElementType::F32)
    return fixedToF32(static_cast<int32_t>(code), 31);
  if (from == ElementType::F32 && to == ElementType::I32)
    return static_cast<uint32_t>(f32ToFixed(code, 31));
  if (!isFloat(from) || !isFloat(to) || from == ElementType::F4E2M1 ||
      to == ElementType::F4E2M1)
    return std::nullopt;
  if (to == ElementType::F32)
    return decodeFloat(from, code);
  if (from == ElementType::F32)
    return encodeFloat(to, code);
  return std::nullopt;
}

bool tmap::isCast(Type from, Type to) {
  auto source = getElementType(from), target = getElementType(to);
  return source && target && castCode(*source, *target, 0);
}

std::optional<uint32_t> tmap::getCode(TypedAttr number) {
  auto type = getElementType(number.getType());
  if (!type)
    return std::nullopt;
  if (auto integer = dyn_cast<IntegerAttr>(number))
    return integer.getValue().getZExtValue();
  if (auto real = dyn_cast<FloatAttr>(number))
    return real.getValue().bitcastToAPInt().getZExtValue();
  return std::nullopt;
}

TypedAttr tmap::getNumber(Type type, uint32_t code) {
  if (auto real = dyn_cast<FloatType>(type))
    return FloatAttr::get(
        type, APFloat(real.getFloatSemantics(), APInt(real.getWidth(), code)));
  auto integer = cast<IntegerType>(type);
  return IntegerAttr::get(type,
                          APInt(integer.getWidth(), code, /*isSigned=*/false,
                                /*implicitTrunc=*/true));
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

InFlightDiagnostic tmap::fault(Operation *op, StringRef rule) {
  return op->emitOpError() << rule << ": ";
}

static std::string listAxes(AxesAttr axes, ArrayRef<int> list) {
  std::string text;
  for (int axis : list)
    text += (text.empty() ? "" : ", ") + axes.getAxes()[axis].name;
  return text.empty() ? "none" : text;
}

/// TM-1: elements are the chip's, and the tensor has each index of its axes
/// once.
static LogicalResult checkTensor(Operation *op, MappedTensorType type) {
  auto elementType = getElementType(type.getElementType());
  if (!elementType || !isStored(*elementType))
    return fault(op, "TM-1") << type.getElementType()
                             << " is no element type of tensors of the chip";
  const mapping::Mapping &mapping = type.getMapping().getMapping();
  auto live = mapping.liveCells();
  if (!live)
    return fault(op, live.fault().rule) << live.fault().message;
  int64_t indices = 1;
  bool fits = true;
  for (int axis : getAxesInOrder(type))
    fits &= !llvm::MulOverflow(indices, mapping.axes()[axis].size, indices);
  if (!fits || indices != *live)
    return fault(op, "TM-1")
           << "\"" << mapping.str() << "\" has " << *live
           << " live cells, its axes "
           << listAxes(getAxes(type), getAxesInOrder(type)) << " have "
           << (fits ? std::to_string(indices) : "more than 2^63")
           << " indices; a tensor holds each index once";
  return success();
}

LogicalResult tmap::checkTensors(Operation *op) {
  AxesAttr axes;
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  for (Type type : types) {
    auto tensor = cast<MappedTensorType>(type);
    if (failed(checkTensor(op, tensor)))
      return failure();
    if (axes && axes != getAxes(tensor))
      return fault(op, "TM-2")
             << "tensors over " << axes << " and over " << getAxes(tensor)
             << "; declare all axes of a kernel once";
    axes = getAxes(tensor);
  }
  return success();
}

LogicalResult tmap::checkOver(Operation *op, AxesAttr axes, ArrayAttr over) {
  if (over.empty())
    return fault(op, "TM-3") << "no axis to fold over";
  SmallVector<StringRef> seen;
  for (StringAttr name : over.getAsRange<StringAttr>()) {
    if (axes.getAxes().find(name.getValue()) < 0)
      return fault(op, "TM-3") << "axis '" << name.getValue()
                               << "' is not declared; declared are " << axes;
    if (llvm::is_contained(seen, name.getValue()))
      return fault(op, "TM-3")
             << "axis '" << name.getValue() << "' is listed twice";
    seen.push_back(name.getValue());
  }
  return success();
}

LogicalResult tmap::checkResultAxes(Operation *op, StringRef rule,
                                    MappedTensorType result,
                                    ArrayRef<int> expected) {
  SmallVector<int> found = getAxesInOrder(result);
  SmallVector<int> want(expected), have(found);
  llvm::sort(want);
  llvm::sort(have);
  if (want == have)
    return success();
  return fault(op, rule) << "the result has axes "
                         << listAxes(getAxes(result), found) << ", expected "
                         << listAxes(getAxes(result), expected);
}

//===----------------------------------------------------------------------===//
// ContractOp
//===----------------------------------------------------------------------===//

static SmallVector<int> getContractAxes(MappedTensorType lhs,
                                        MappedTensorType rhs,
                                        ArrayRef<int> over) {
  SmallVector<int> order;
  for (MappedTensorType type : {lhs, rhs})
    for (int axis : getAxesInOrder(type))
      if (!llvm::is_contained(over, axis) && !llvm::is_contained(order, axis))
        order.push_back(axis);
  return order;
}

void ContractOp::build(OpBuilder &builder, OperationState &state, Value lhs,
                       Value rhs, ArrayRef<StringRef> over) {
  auto left = cast<MappedTensorType>(lhs.getType());
  auto right = cast<MappedTensorType>(rhs.getType());
  ArrayAttr names = builder.getStrArrayAttr(over);
  AxesAttr axes = getAxes(left);
  Type accumulator = getAccumulatorType(left.getElementType());
  build(builder, state,
        getPlainType(accumulator ? accumulator : left.getElementType(), axes,
                     getContractAxes(left, right, findAxes(axes, names))),
        lhs, rhs, names);
}

LogicalResult ContractOp::verify() {
  MappedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  AxesAttr axes = getAxes(lhs);
  if (failed(checkTensors(*this)) || failed(checkOver(*this, axes, getOver())))
    return failure();
  Type accumulator = getAccumulatorType(lhs.getElementType());
  if (!accumulator || lhs.getElementType() != rhs.getElementType())
    return fault(*this, "TM-5")
           << "the multiplier takes two of i4, i8, f8E4M3FN, f8E5M2 or bf16, "
              "found "
           << lhs.getElementType() << " and " << rhs.getElementType()
           << "; cast first";
  SmallVector<int> over = findAxes(axes, getOver());
  for (int axis : over)
    for (auto [name, type] :
         {std::pair<StringRef, MappedTensorType>{"lhs", lhs}, {"rhs", rhs}})
      if (!hasAxis(type, axis))
        return fault(*this, "TM-4")
               << "axis '" << axes.getAxes()[axis].name << "' is summed, but "
               << name << " \"" << type.getMapping().getText()
               << "\" does not have it";
  if (failed(checkResultAxes(*this, "TM-4", getType(),
                             getContractAxes(lhs, rhs, over))))
    return failure();
  if (getType().getElementType() != accumulator)
    return fault(*this, "TM-6")
           << "products of " << lhs.getElementType() << " are summed in "
           << accumulator << ", the result is of " << getType().getElementType()
           << "; narrow it with tmap.cast";
  return success();
}

//===----------------------------------------------------------------------===//
// ElementwiseOp
//===----------------------------------------------------------------------===//

static SmallVector<int> joinAxes(TypeRange types) {
  SmallVector<int> order;
  for (Type type : types)
    for (int axis : getAxesInOrder(cast<MappedTensorType>(type)))
      if (!llvm::is_contained(order, axis))
        order.push_back(axis);
  return order;
}

void ElementwiseOp::build(OpBuilder &builder, OperationState &state,
                          StringRef fn, ValueRange operands) {
  // The condition of a select may be of another element type.
  auto last = cast<MappedTensorType>(operands.back().getType());
  build(builder, state,
        getPlainType(last.getElementType(), getAxes(last),
                     joinAxes(operands.getTypes())),
        fn, operands);
}

LogicalResult ElementwiseOp::verify() {
  if (getOperands().empty())
    return fault(*this, "TM-7") << "a function of no operands";
  if (failed(checkTensors(*this)))
    return failure();
  Type type = getType().getElementType();
  TypeRange alike = getOperandTypes();
  if (getFn() == selectName) {
    Type condition = cast<MappedTensorType>(alike.front()).getElementType();
    if (!condition.isInteger(32) && !condition.isF32())
      return fault(*this, "TM-8")
             << "the condition of a select is of i32 or f32, found "
             << condition << "; cast first";
    alike = alike.drop_front();
  }
  for (Type operand : alike)
    if (cast<MappedTensorType>(operand).getElementType() != type)
      return fault(*this, "TM-8")
             << "element types " << type << " and "
             << cast<MappedTensorType>(operand).getElementType()
             << " in one op; cast first";
  unsigned arity = getOperands().size();
  if (!ElementFunction::find(getFn(), type, arity)) {
    if (!type.isInteger(32) && !type.isF32())
      return fault(*this, "TM-7")
             << "functions are of i32 or f32, found " << type << "; cast first";
    for (unsigned other : {1u, 2u, 3u})
      if (ElementFunction::find(getFn(), type, other))
        return fault(*this, "TM-7") << "'" << getFn() << "' takes " << other
                                    << " operands, found " << arity;
    return fault(*this, "TM-7")
           << "no function '" << getFn() << "' of " << type;
  }
  return checkResultAxes(*this, "TM-9", getType(), joinAxes(getOperandTypes()));
}

OpFoldResult ElementwiseOp::fold(FoldAdaptor adaptor) {
  auto function = ElementFunction::find(getFn(), getType().getElementType(),
                                        getOperands().size());
  if (!function)
    return {};
  auto getNumberCode = [&](size_t i) -> std::optional<uint32_t> {
    auto number = dyn_cast_if_present<TypedAttr>(adaptor.getOperands()[i]);
    return number ? getCode(number) : std::nullopt;
  };
  ElementType firstType = *getElementType(
      cast<MappedTensorType>(getOperands().front().getType()).getElementType());
  if (getFn() == selectName)
    if (auto condition = getNumberCode(0)) {
      bool holds = findTest(selectTest)->admits(firstType, *condition, 0);
      Value chosen = getOperand(holds ? 1 : 2);
      if (chosen.getType() == getType())
        return chosen;
    }
  if (!getAxesInOrder(getType()).empty())
    return {};
  uint32_t codes[3] = {};
  for (size_t i = 0; i < getOperands().size(); ++i) {
    auto code = getNumberCode(i);
    if (!code)
      return {};
    codes[i] = *code;
  }
  // What has no defined result stays, as the run says so.
  auto result = function->apply(codes[0], codes[1], codes[2], firstType);
  return result ? OpFoldResult(getNumber(getType().getElementType(), *result))
                : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// ReduceOp
//===----------------------------------------------------------------------===//

static SmallVector<int> without(ArrayRef<int> axes, ArrayRef<int> dropped) {
  SmallVector<int> rest;
  llvm::copy_if(axes, std::back_inserter(rest),
                [&](int axis) { return !llvm::is_contained(dropped, axis); });
  return rest;
}

void ReduceOp::build(OpBuilder &builder, OperationState &state, StringRef fn,
                     Value source, ArrayRef<StringRef> over) {
  auto type = cast<MappedTensorType>(source.getType());
  ArrayAttr names = builder.getStrArrayAttr(over);
  build(builder, state,
        getPlainType(
            type.getElementType(), getAxes(type),
            without(getAxesInOrder(type), findAxes(getAxes(type), names))),
        fn, source, names);
}

LogicalResult ReduceOp::verify() {
  MappedTensorType source = getSource().getType();
  AxesAttr axes = getAxes(source);
  if (failed(checkTensors(*this)) || failed(checkOver(*this, axes, getOver())))
    return failure();
  SmallVector<int> over = findAxes(axes, getOver());
  for (int axis : over)
    if (!hasAxis(source, axis))
      return fault(*this, "TM-10")
             << "axis '" << axes.getAxes()[axis].name
             << "' is folded, but the source \""
             << source.getMapping().getText() << "\" does not have it";
  if (getType().getElementType() != source.getElementType())
    return fault(*this, "TM-8")
           << "element types " << source.getElementType() << " and "
           << getType().getElementType() << " in one op; cast first";
  if (!findReduction(getFn(), source.getElementType()))
    return fault(*this, "TM-11")
           << "no reduction '" << getFn() << "' of " << source.getElementType()
           << "; there are add_sat, max, min of i32 and add, max, min of f32";
  return checkResultAxes(*this, "TM-10", getType(),
                         without(getAxesInOrder(source), over));
}

/// Of several axes the last one is folded first: an op for each.
LogicalResult ReduceOp::canonicalize(ReduceOp op, PatternRewriter &rewriter) {
  if (op.getOver().size() < 2)
    return failure();
  StringRef last = cast<StringAttr>(op.getOver().getValue().back()).getValue();
  Value inner =
      ReduceOp::create(rewriter, op.getLoc(), op.getFn(), op.getSource(), last);
  rewriter.replaceOpWithNewOp<ReduceOp>(
      op, op.getType(), op.getFn(), inner,
      rewriter.getArrayAttr(op.getOver().getValue().drop_back()));
  return success();
}

//===----------------------------------------------------------------------===//
// CastOp, MoveOp
//===----------------------------------------------------------------------===//

void CastOp::build(OpBuilder &builder, OperationState &state, Value source,
                   Type elementType) {
  auto type = cast<MappedTensorType>(source.getType());
  build(builder, state,
        MappedTensorType::get(builder.getContext(), elementType,
                              type.getMapping()),
        source);
}

/// TM-13: all axes of the source are in the result.
static LogicalResult checkMoved(Operation *op, MappedTensorType source,
                                MappedTensorType result) {
  for (int axis : getAxesInOrder(source))
    if (!hasAxis(result, axis))
      return fault(op, "TM-13")
             << "the result \"" << result.getMapping().getText()
             << "\" lacks axis '" << getAxes(source).getAxes()[axis].name
             << "' of the source";
  return success();
}

LogicalResult CastOp::verify() {
  Type from = getSource().getType().getElementType();
  Type to = getType().getElementType();
  if (failed(checkTensors(*this)))
    return failure();
  if (!isCast(from, to))
    return fault(*this, "TM-12")
           << "no cast from " << from << " to " << to
           << (from == to ? "; a tmap.move keeps the elements" : "");
  return checkMoved(*this, getSource().getType(), getType());
}

OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  auto number = dyn_cast_if_present<TypedAttr>(adaptor.getSource());
  if (!number || !getAxesInOrder(getType()).empty())
    return {};
  auto code = getCode(number);
  auto from = getElementType(number.getType());
  auto to = getElementType(getType().getElementType());
  if (!code || !from || !to)
    return {};
  auto result = castCode(*from, *to, *code);
  return result ? OpFoldResult(getNumber(getType().getElementType(), *result))
                : OpFoldResult();
}

LogicalResult MoveOp::verify() {
  if (failed(checkTensors(*this)))
    return failure();
  if (getSource().getType().getElementType() != getType().getElementType())
    return fault(*this, "TM-8")
           << "element types " << getSource().getType().getElementType()
           << " and " << getType().getElementType() << " in one op; cast first";
  return checkMoved(*this, getSource().getType(), getType());
}

OpFoldResult MoveOp::fold(FoldAdaptor) {
  return getSource().getType() == getType() ? OpFoldResult(getSource())
                                            : OpFoldResult();
}

/// Only the last order of two moves is seen.
LogicalResult MoveOp::canonicalize(MoveOp op, PatternRewriter &rewriter) {
  auto inner = op.getSource().getDefiningOp<MoveOp>();
  if (!inner)
    return failure();
  rewriter.replaceOpWithNewOp<MoveOp>(op, op.getType(), inner.getSource());
  return success();
}

//===----------------------------------------------------------------------===//
// ReshapeOp
//===----------------------------------------------------------------------===//

/// TM-15: positions are those of whole axes.
static LogicalResult checkDense(Operation *op, MappedTensorType type) {
  MappedTensorType plain =
      getPlainType(type.getElementType(), getAxes(type), getAxesInOrder(type));
  if (mapping::same(type.getMapping().getMapping(),
                    plain.getMapping().getMapping()))
    return success();
  return fault(op, "TM-15")
         << "\"" << type.getMapping().getText()
         << "\" does not list whole axes without padding; a tmap.move to \""
         << plain.getMapping().getText() << "\" does";
}

LogicalResult ReshapeOp::verify() {
  MappedTensorType source = getSource().getType(), result = getType();
  if (failed(checkTensors(*this)))
    return failure();
  if (source.getElementType() != result.getElementType())
    return fault(*this, "TM-8")
           << "element types " << source.getElementType() << " and "
           << result.getElementType() << " in one op; cast first";
  if (failed(checkDense(*this, source)) || failed(checkDense(*this, result)))
    return failure();
  int64_t before = source.getMapping().getMapping().size();
  int64_t after = result.getMapping().getMapping().size();
  if (before != after)
    return fault(*this, "TM-15")
           << "the source has " << before << " elements, the result " << after;
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  return getSource().getType() == getType() ? OpFoldResult(getSource())
                                            : OpFoldResult();
}

/// Only the last axes of two reshapes are seen.
LogicalResult ReshapeOp::canonicalize(ReshapeOp op, PatternRewriter &rewriter) {
  auto inner = op.getSource().getDefiningOp<ReshapeOp>();
  if (!inner)
    return failure();
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getSource());
  return success();
}

//===----------------------------------------------------------------------===//
// GatherOp
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::verify() {
  MappedTensorType table = getTable().getType(), index = getIndex().getType();
  AxesAttr axes = getAxes(table);
  if (failed(checkTensors(*this)) || failed(checkOver(*this, axes, getOver())))
    return failure();
  if (getOver().size() != 1)
    return fault(*this, "TM-16")
           << "rows lie along one axis, found " << getOver().size();
  int key = findAxes(axes, getOver()).front();
  if (!index.getElementType().isInteger(32))
    return fault(*this, "TM-16")
           << "the index is of i32, found " << index.getElementType();
  if (table.getElementType() != getType().getElementType())
    return fault(*this, "TM-8")
           << "element types " << table.getElementType() << " and "
           << getType().getElementType() << " in one op; cast first";
  SmallVector<int> held = getAxesInOrder(table), named = getAxesInOrder(index);
  if (!hasAxis(table, key))
    return fault(*this, "TM-16")
           << "the table has no axis '" << axes.getAxes()[key].name << "'";
  for (int axis : named)
    if (llvm::is_contained(held, axis))
      return fault(*this, "TM-16")
             << "axis '" << axes.getAxes()[axis].name
             << "' is of the index and of the table; a row is read whole";
  SmallVector<int> expected(named);
  llvm::append_range(expected, without(held, key));
  return checkResultAxes(*this, "TM-16", getType(), expected);
}

//===----------------------------------------------------------------------===//
// ConstantOp
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::verify() {
  if (failed(checkTensors(*this)))
    return failure();
  if (getValue().getType() != getType().getElementType())
    return fault(*this, "TM-14")
           << "a number of " << getValue().getType() << " in a tensor of "
           << getType().getElementType();
  if (!getCode(getValue()))
    return fault(*this, "TM-14") << getValue() << " is no number";
  if (!getAxesInOrder(getType()).empty())
    return fault(*this, "TM-14")
           << "a constant has no axes, found \""
           << getType().getMapping().getText()
           << "\"; operands of tmap.elementwise are replicated by axis name";
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }
