//===- ResourceDialect.cpp - Types and attributes of resource -------------===//
//
// Registration, text forms and verifiers of the resource types and attributes.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/Resource/IR/Resource.h"
#include "furiosa/Dialect/TensorMapping/Algebra/Mapping.h"
#include "furiosa/Dialect/Utils/ElementTypes.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::resource;

#include "furiosa/Dialect/Resource/IR/ResourceDialect.cpp.inc"

#include "furiosa/Dialect/Resource/IR/ResourceEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "furiosa/Dialect/Resource/IR/ResourceAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "furiosa/Dialect/Resource/IR/ResourceTypes.cpp.inc"

LogicalResult
ResourceDialect::verifyOperationAttribute(Operation *op,
                                          NamedAttribute attribute) {
  StringRef name = attribute.getName();
  bool isOrder = name == keepOrderAttrName;
  if (!isOrder && name != pipelineLoopsAttrName)
    return success();
  bool isKind = isOrder ? isa<UnitAttr>(attribute.getValue())
                        : isa<BoolAttr>(attribute.getValue());
  if (!isKind)
    return op->emitOpError()
           << name << " must be " << (isOrder ? "a unit" : "a boolean")
           << " attribute, found " << attribute.getValue();
  bool isProgram = isa<ProgramOp>(op) || op->hasAttr("visa.kernel");
  if (!isProgram && !(isOrder && isa<LoopOp>(op)))
    return op->emitOpError()
           << name << " is for a resource.program"
           << (isOrder ? ", a resource.loop or a kernel" : " or a kernel");
  return success();
}

void ResourceDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "furiosa/Dialect/Resource/IR/ResourceAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "furiosa/Dialect/Resource/IR/ResourceTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "furiosa/Dialect/Resource/IR/ResourceOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// OperandAttr
//===----------------------------------------------------------------------===//

Attribute OperandAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  Type elementType;
  std::string chip, element;
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> sizes;
  auto parseAxis = [&]() -> ParseResult {
    std::string name;
    if (parser.parseString(&name))
      return failure();
    axes.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  };
  auto parseSize = [&]() -> ParseResult {
    return parser.parseInteger(sizes.emplace_back());
  };
  if (parser.parseLess() || parser.parseType(elementType) ||
      parser.parseComma() || parser.parseKeyword("chip") ||
      parser.parseString(&chip) || parser.parseComma() ||
      parser.parseKeyword("element") || parser.parseString(&element) ||
      parser.parseComma() || parser.parseKeyword("axes") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis) ||
      parser.parseKeyword("sizes") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseSize) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<OperandAttr>(loc, parser.getContext(), elementType,
                                        chip, element, axes, sizes);
}

void OperandAttr::print(AsmPrinter &printer) const {
  printer << "<" << getElementType() << ", chip ";
  printer.printString(getChip());
  printer << ", element ";
  printer.printString(getElement());
  printer << ", axes [";
  llvm::interleaveComma(getAxes(), printer, [&](StringAttr name) {
    printer.printString(name.getValue());
  });
  printer << "] sizes [";
  llvm::interleaveComma(getSizes(), printer);
  printer << "]>";
}

/// Bytes of a tensor that `chip` and `element` map.
static mapping::Result<int64_t> getTensorBytes(Type elementType, StringRef chip,
                                               StringRef element,
                                               ArrayRef<StringAttr> names,
                                               ArrayRef<int64_t> sizes) {
  SmallVector<mapping::Axis> list;
  for (auto [name, size] : llvm::zip(names, sizes))
    list.push_back({name.str(), size});
  auto axes = mapping::Axes::get(list);
  if (!axes)
    return axes.fault();
  auto chips = mapping::Mapping::parse(chip, *axes);
  if (!chips)
    return chips.fault();
  auto elements = mapping::Mapping::parse(element, *axes);
  if (!elements)
    return elements.fault();
  auto cells = llvm::checkedMul<int64_t>(chips->size(), elements->size());
  auto bits = cells
                  ? llvm::checkedMul<int64_t>(
                        *cells, wireBits(*furiosa::getElementType(elementType)))
                  : std::nullopt;
  if (!bits || *bits % 8 != 0)
    return mapping::Fault{"MM-5", "size",
                          bits
                              ? "a tensor of " + std::to_string(*bits) + " bits"
                              : "the tensor's size does not fit in 64 bits"};
  return *bits / 8;
}

int64_t OperandAttr::getBytes() const {
  return *getTensorBytes(getElementType(), getChip(), getElement(), getAxes(),
                         getSizes());
}

LogicalResult OperandAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  Type elementType, StringRef chip,
                                  StringRef element, ArrayRef<StringAttr> axes,
                                  ArrayRef<int64_t> sizes) {
  if (axes.size() != sizes.size())
    return emitError() << "RES-1: " << axes.size() << " axes, but "
                       << sizes.size() << " sizes";
  llvm::StringSet<> names;
  for (auto [axis, size] : llvm::zip(axes, sizes)) {
    if (axis.getValue().empty())
      return emitError() << "RES-1: the name of an axis is empty";
    if (!names.insert(axis.getValue()).second)
      return emitError() << "RES-1: two axes are named " << axis;
    if (size < 1)
      return emitError() << "RES-1: the size of axis " << axis
                         << " must be positive, found " << size;
  }
  auto type = furiosa::getElementType(elementType);
  if (!type || !isStored(*type))
    return emitError() << "RES-2: the chip keeps no elements of " << elementType
                       << " in memory; it keeps i4, i8, i16, i32, ui8, "
                          "f4E2M1FN, f8E4M3FN, f8E5M2, bf16, f32";
  auto bytes = getTensorBytes(elementType, chip, element, axes, sizes);
  if (!bytes)
    return emitError() << "RES-23: chip \"" << chip << "\", element \""
                       << element << "\": " << bytes.fault().rule << ": "
                       << bytes.fault().message;
  return success();
}
