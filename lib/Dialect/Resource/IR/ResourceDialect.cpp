//===- ResourceDialect.cpp - Types and attributes of resource -------------===//
//
// Registration, text forms and verifiers of the resource types and attributes.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/Resource/IR/Resource.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::resource;

#include "furiosa/Dialect/Resource/IR/ResourceDialect.cpp.inc"

#include "furiosa/Dialect/Resource/IR/ResourceEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "furiosa/Dialect/Resource/IR/ResourceAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "furiosa/Dialect/Resource/IR/ResourceTypes.cpp.inc"

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

LogicalResult OperandAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  Type elementType, StringRef, StringRef,
                                  ArrayRef<StringAttr> axes,
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
  unsigned bits =
      elementType.isIntOrFloat() ? elementType.getIntOrFloatBitWidth() : 0;
  if (bits != 4 && bits != 8 && bits != 16 && bits != 32)
    return emitError() << "RES-2: an element has 4, 8, 16 or 32 bits, found "
                       << elementType;
  return success();
}
