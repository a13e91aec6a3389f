//===- VISATypes.cpp - Tensor types of the memory tiers -------------------===//
//
// Parsing, printing and structural rules of HBM, DM, TRF and VRF tensors.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/VISA/IR/VISA.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;
using furiosa::tmap::AxesAttr;
using furiosa::tmap::MappingAttr;

#define GET_TYPEDEF_CLASSES
#include "furiosa/Dialect/VISA/IR/VISATypes.cpp.inc"

void VISADialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "furiosa/Dialect/VISA/IR/VISATypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Parsing and printing
//===----------------------------------------------------------------------===//

namespace {
enum TypeClause { Chip, Cluster, Slice, Lane, Element, numDimensions };
constexpr StringRef dimensionNames[numDimensions] = {"chip", "cluster", "slice",
                                                     "lane", "element"};
/// What is meant where the dimension is left out; empty: it is required.
constexpr StringRef defaultTexts[numDimensions] = {"1", "1 # 2", "", "", ""};

struct Clause {
  SMLoc literal;
  std::string text;
  bool given = false;
};
} // namespace

/// Parses `<i8, slice "…", element "…", #axes>` with the dimensions of a tier.
/// The axes stand last, so the mappings are resolved when all is read.
static FailureOr<TensorParts> parseTensor(AsmParser &parser,
                                          ArrayRef<TypeClause> dimensions) {
  TensorParts parts;
  Clause clauses[numDimensions];
  SMLoc typeLoc;
  if (parser.parseLess() || parser.getCurrentLocation(&typeLoc) ||
      parser.parseType(parts.elementType))
    return failure();
  if (!getElementType(parts.elementType))
    return parser.emitError(typeLoc)
           << "the chip has no element type " << parts.elementType
           << ", expected one of i4, i8, i16, i32, ui8, f4E2M1FN, f8E4M3FN, "
              "f8E5M2, bf16, f32";
  while (true) {
    if (parser.parseComma())
      return failure();
    SMLoc keywordLoc = parser.getCurrentLocation();
    StringRef keyword;
    if (failed(parser.parseOptionalKeyword(&keyword)))
      break;
    const TypeClause *found = llvm::find_if(
        dimensions, [&](TypeClause d) { return dimensionNames[d] == keyword; });
    if (found == dimensions.end()) {
      InFlightDiagnostic diag = parser.emitError(keywordLoc)
                                << "unknown dimension '" << keyword
                                << "', expected ";
      llvm::interleaveComma(dimensions, diag,
                            [&](TypeClause d) { diag << dimensionNames[d]; });
      return diag;
    }
    Clause &clause = clauses[*found];
    if (clause.given)
      return parser.emitError(keywordLoc)
             << "dimension '" << keyword << "' is given twice";
    clause.given = true;
    clause.literal = parser.getCurrentLocation();
    if (parser.parseString(&clause.text))
      return failure();
    if (StringRef(clause.literal.getPointer() + 1, clause.text.size()) !=
            clause.text ||
        clause.literal.getPointer()[clause.text.size() + 1] != '"')
      return parser.emitError(clause.literal)
             << "MA-3: escapes are not allowed in a mapping";
  }
  SMLoc axesLoc = parser.getCurrentLocation();
  if (parser.parseCustomAttributeWithFallback(parts.axes) ||
      parser.parseGreater())
    return failure();

  MappingAttr *fields[numDimensions] = {
      &parts.chip, &parts.cluster, &parts.slice, &parts.lane, &parts.element};
  for (TypeClause dimension : dimensions) {
    Clause &clause = clauses[dimension];
    if (!clause.given) {
      if (defaultTexts[dimension].empty())
        return parser.emitError(axesLoc)
               << "expected dimension '" << dimensionNames[dimension] << "'";
      clause.text = defaultTexts[dimension];
    }
    auto parsed = MappingAttr::parseText(clause.text, parts.axes);
    if (!parsed) {
      const mapping::Fault &fault = parsed.fault();
      SMLoc loc = SMLoc::getFromPointer(clause.literal.getPointer() +
                                        std::max<int64_t>(fault.column, 0));
      return parser.emitError(loc) << fault.rule << ": " << fault.message;
    }
    *fields[dimension] = *parsed;
  }
  return parts;
}

static void printTensor(AsmPrinter &printer, Type type) {
  TensorParts parts = getTensorParts(type);
  MappingAttr fields[numDimensions] = {parts.chip, parts.cluster, parts.slice,
                                       parts.lane, parts.element};
  printer << '<' << parts.elementType;
  for (unsigned d = 0; d < numDimensions; ++d)
    if (fields[d] &&
        (defaultTexts[d].empty() || fields[d].getText() != defaultTexts[d]))
      printer << ", " << dimensionNames[d] << " \"" << fields[d].getText()
              << '"';
  printer << ", ";
  // By alias where the printer has one.
  printer.printAttribute(parts.axes);
  printer << '>';
}

/// Structure that holds for any tensor: its element type and its axes. The
/// kernel check looks at the rest.
static LogicalResult verifyTensor(function_ref<InFlightDiagnostic()> emitError,
                                  Type elementType, AxesAttr axes,
                                  ArrayRef<MappingAttr> mappings) {
  if (!getElementType(elementType))
    return emitError() << "the chip has no element type " << elementType;
  for (MappingAttr mapping : mappings)
    if (mapping.getAxes() != axes)
      return emitError() << "mapping \"" << mapping.getText()
                         << "\" is over other axes than the type";
  return success();
}

#define FURIOSA_TENSOR_TYPE(NAME, ...)                                         \
  void NAME::print(AsmPrinter &printer) const { printTensor(printer, *this); }

FURIOSA_TENSOR_TYPE(HbmType)
FURIOSA_TENSOR_TYPE(DmType)
FURIOSA_TENSOR_TYPE(TrfType)
FURIOSA_TENSOR_TYPE(VrfType)
#undef FURIOSA_TENSOR_TYPE

Type HbmType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  auto parts = parseTensor(parser, {Chip, Element});
  if (failed(parts))
    return {};
  return parser.getChecked<HbmType>(loc, parser.getContext(),
                                    parts->elementType, parts->axes,
                                    parts->chip, parts->element);
}

Type DmType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  auto parts = parseTensor(parser, {Chip, Cluster, Slice, Element});
  if (failed(parts))
    return {};
  return parser.getChecked<DmType>(loc, parser.getContext(), parts->elementType,
                                   parts->axes, parts->chip, parts->cluster,
                                   parts->slice, parts->element);
}

Type TrfType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  auto parts = parseTensor(parser, {Chip, Cluster, Slice, Lane, Element});
  if (failed(parts))
    return {};
  return parser.getChecked<TrfType>(
      loc, parser.getContext(), parts->elementType, parts->axes, parts->chip,
      parts->cluster, parts->slice, parts->lane, parts->element);
}

Type VrfType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  auto parts = parseTensor(parser, {Chip, Cluster, Slice, Element});
  if (failed(parts))
    return {};
  return parser.getChecked<VrfType>(
      loc, parser.getContext(), parts->elementType, parts->axes, parts->chip,
      parts->cluster, parts->slice, parts->element);
}

LogicalResult HbmType::verify(function_ref<InFlightDiagnostic()> emitError,
                              Type elementType, AxesAttr axes, MappingAttr chip,
                              MappingAttr element) {
  return verifyTensor(emitError, elementType, axes, {chip, element});
}

LogicalResult DmType::verify(function_ref<InFlightDiagnostic()> emitError,
                             Type elementType, AxesAttr axes, MappingAttr chip,
                             MappingAttr cluster, MappingAttr slice,
                             MappingAttr element) {
  return verifyTensor(emitError, elementType, axes,
                      {chip, cluster, slice, element});
}

LogicalResult TrfType::verify(function_ref<InFlightDiagnostic()> emitError,
                              Type elementType, AxesAttr axes, MappingAttr chip,
                              MappingAttr cluster, MappingAttr slice,
                              MappingAttr lane, MappingAttr element) {
  return verifyTensor(emitError, elementType, axes,
                      {chip, cluster, slice, lane, element});
}

LogicalResult VrfType::verify(function_ref<InFlightDiagnostic()> emitError,
                              Type elementType, AxesAttr axes, MappingAttr chip,
                              MappingAttr cluster, MappingAttr slice,
                              MappingAttr element) {
  return verifyTensor(emitError, elementType, axes,
                      {chip, cluster, slice, element});
}

TensorParts visa::getTensorParts(Type type) {
  TensorParts parts;
  TypeSwitch<Type>(type)
      .Case([&](HbmType t) {
        parts = {t.getElementType(), t.getAxes(), t.getChip(), {}, {}, {},
                 t.getElement()};
      })
      .Case([&](DmType t) {
        parts = {t.getElementType(), t.getAxes(), t.getChip(),   t.getCluster(),
                 t.getSlice(),       {},          t.getElement()};
      })
      .Case([&](TrfType t) {
        parts = {t.getElementType(), t.getAxes(), t.getChip(),   t.getCluster(),
                 t.getSlice(),       t.getLane(), t.getElement()};
      })
      .Case([&](VrfType t) {
        parts = {t.getElementType(), t.getAxes(), t.getChip(),   t.getCluster(),
                 t.getSlice(),       {},          t.getElement()};
      });
  return parts;
}

bool visa::isTensor(Type type) {
  return bool(getTensorParts(type).elementType);
}

bool visa::usesTensors(Operation *op) {
  auto hasTensor = [](TypeRange types) {
    return llvm::any_of(types, isTensor);
  };
  if (hasTensor(op->getOperandTypes()) || hasTensor(op->getResultTypes()))
    return true;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (hasTensor(block.getArgumentTypes()))
        return true;
  return false;
}

unsigned visa::getElementBits(const TensorParts &tensor) {
  return wireBits(
      visa::getElementType(tensor.elementType).value_or(ElementType::I8));
}
