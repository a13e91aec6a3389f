//===- TensorMapping.cpp - The tmap dialect -------------------------------===//
//
// Attributes and types of the tmap dialect. Mappings are uniqued by text and
// axes, and parsed once.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/TensorMapping/IR/TensorMapping.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

#include <mutex>

using namespace mlir;
using namespace furiosa;
using namespace furiosa::tmap;

#include "furiosa/Dialect/TensorMapping/IR/TensorMappingDialect.cpp.inc"

namespace furiosa::tmap::detail {

struct AxesAttrStorage : public AttributeStorage {
  using KeyTy = mapping::Axes;
  explicit AxesAttrStorage(const KeyTy &axes) : axes(axes) {}

  bool operator==(const KeyTy &key) const { return axes == key; }
  static llvm::hash_code hashKey(const KeyTy &key) {
    llvm::hash_code hash = llvm::hash_value(key.size());
    for (const mapping::Axis &axis : key.list())
      hash = llvm::hash_combine(hash, axis.name, axis.size);
    return hash;
  }
  static AxesAttrStorage *construct(AttributeStorageAllocator &allocator,
                                    const KeyTy &key) {
    return new (allocator.allocate<AxesAttrStorage>()) AxesAttrStorage(key);
  }

  MappingAttr find(StringRef text) const {
    std::lock_guard<std::mutex> lock(mutex);
    return readings.lookup(text);
  }
  void remember(StringRef text, MappingAttr mapping) const {
    std::lock_guard<std::mutex> lock(mutex);
    readings.try_emplace(text, mapping);
  }

  mapping::Axes axes;

private:
  /// What texts read as over these axes: a kernel writes each of its mappings
  /// in many places. A cache, no part of the attribute.
  mutable std::mutex mutex;
  mutable llvm::StringMap<MappingAttr> readings;
};

struct MappingAttrStorage : public AttributeStorage {
  /// A mapping is uniqued by its spelling and its axes.
  struct KeyTy {
    const mapping::Mapping &mapping;
    AxesAttr axes;
  };
  MappingAttrStorage(mapping::Mapping mapping, AxesAttr axes)
      : mapping(std::move(mapping)), axes(axes) {}

  bool operator==(const KeyTy &key) const {
    // Kernels spell `1 # 256` alike, over axes of their own.
    return axes == key.axes && mapping.str() == key.mapping.str();
  }
  static llvm::hash_code hashKey(const KeyTy &key) {
    return llvm::hash_combine(StringRef(key.mapping.str()), key.axes);
  }
  static MappingAttrStorage *construct(AttributeStorageAllocator &allocator,
                                       const KeyTy &key) {
    return new (allocator.allocate<MappingAttrStorage>())
        MappingAttrStorage(key.mapping, key.axes);
  }

  mapping::Mapping mapping;
  AxesAttr axes;
};

} // namespace furiosa::tmap::detail

#define GET_ATTRDEF_CLASSES
#include "furiosa/Dialect/TensorMapping/IR/TensorMappingAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "furiosa/Dialect/TensorMapping/IR/TensorMappingTypes.cpp.inc"

namespace {
/// Axes are printed by alias wherever a type names them.
struct TMapAliases : public OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attribute, raw_ostream &os) const final {
    if (!isa<AxesAttr>(attribute))
      return AliasResult::NoAlias;
    os << "axes";
    return AliasResult::OverridableAlias;
  }
};
} // namespace

void TMapDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "furiosa/Dialect/TensorMapping/IR/TensorMappingAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "furiosa/Dialect/TensorMapping/IR/TensorMappingTypes.cpp.inc"
      >();
  registerTensorOps();
  addInterfaces<TMapAliases>();
}

LogicalResult TMapDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  if (attribute.getName() != getPlacementAttrName())
    return op->emitOpError()
           << "unknown attribute " << attribute.getName() << " of dialect tmap";
  if (!isa<PlacementAttr>(attribute.getValue()))
    return op->emitOpError()
           << "attribute " << getPlacementAttrName() << " is "
           << attribute.getValue() << ", expected a #tmap.placement";
  return success();
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

AxesAttr AxesAttr::get(MLIRContext *context, mapping::Axes axes) {
  return Base::get(context, std::move(axes));
}

const mapping::Axes &AxesAttr::getAxes() const { return getImpl()->axes; }

Attribute AxesAttr::parse(AsmParser &parser, Type) {
  SmallVector<mapping::Axis> axes;
  SmallVector<SMLoc> locations;
  auto parseAxis = [&]() -> ParseResult {
    locations.push_back(parser.getCurrentLocation());
    mapping::Axis axis;
    if (parser.parseKeywordOrString(&axis.name) || parser.parseEqual())
      return failure();
    SMLoc sizeLoc = parser.getCurrentLocation();
    APInt size;
    OptionalParseResult parsed = parser.parseOptionalInteger(size);
    if (!parsed.has_value())
      return parser.emitError(sizeLoc, "expected the size of axis ")
             << axis.name;
    if (failed(*parsed))
      return failure();
    if (size.getSignificantBits() > 64)
      return parser.emitError(sizeLoc, "MA-12: axis ")
             << axis.name << " has a size that does not fit in 64 bits";
    axis.size = size.getSExtValue();
    if (axis.size < 1)
      return parser.emitError(sizeLoc, "MA-12: axis ")
             << axis.name << " has size " << axis.size
             << ", expected at least 1";
    axes.push_back(std::move(axis));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalLessGreater,
                                     parseAxis))
    return {};
  auto checked = mapping::Axes::get(axes);
  if (!checked) {
    // Point at the second declaration where a name repeats.
    SMLoc loc = parser.getNameLoc();
    for (size_t i = 0; i < axes.size(); ++i)
      if (!mapping::Axes::get(ArrayRef(axes).take_front(i + 1))) {
        loc = locations[i];
        break;
      }
    parser.emitError(loc, checked.fault().rule)
        << ": " << checked.fault().message;
    return {};
  }
  return AxesAttr::get(parser.getContext(), *checked);
}

void AxesAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getAxes().list(), printer,
                        [&](const mapping::Axis &axis) {
                          printer << axis.name << " = " << axis.size;
                        });
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Mapping
//===----------------------------------------------------------------------===//

StringRef MappingAttr::getText() const { return getImpl()->mapping.str(); }
AxesAttr MappingAttr::getAxes() const { return getImpl()->axes; }
const mapping::Mapping &MappingAttr::getMapping() const {
  return getImpl()->mapping;
}

MappingAttr MappingAttr::get(const mapping::Mapping &mapping, AxesAttr axes) {
  if (!(mapping.axes() == axes.getAxes())) {
    // The identity lies over any axes.
    auto read = parseText(mapping.str(), axes);
    assert(read && "the mapping is over other axes");
    return read ? *read : MappingAttr();
  }
  return Base::get(axes.getContext(),
                   detail::MappingAttrStorage::KeyTy{mapping, axes});
}

mapping::Result<MappingAttr> MappingAttr::parseText(StringRef text,
                                                    AxesAttr axes) {
  if (MappingAttr known = axes.getImpl()->find(text))
    return known;
  auto parsed = mapping::Mapping::parse(text, axes.getAxes());
  if (!parsed)
    return parsed.fault();
  MappingAttr mapping = get(*parsed, axes);
  axes.getImpl()->remember(text, mapping);
  return mapping;
}

MappingAttr
MappingAttr::getChecked(function_ref<InFlightDiagnostic()> emitError,
                        MLIRContext *, StringRef text, AxesAttr axes) {
  auto parsed = parseText(text, axes);
  if (parsed)
    return *parsed;
  emitError() << parsed.fault().rule << ": " << parsed.fault().message
              << " (column " << parsed.fault().column << " of \"" << text
              << "\")";
  return {};
}

/// Reports `fault` at the character of the string literal at `literal` that it
/// names.
static void emitFault(AsmParser &parser, SMLoc literal,
                      const mapping::Fault &fault) {
  SMLoc loc = literal;
  if (fault.column > 0)
    loc = SMLoc::getFromPointer(literal.getPointer() + fault.column);
  parser.emitError(loc, fault.rule) << ": " << fault.message;
}

/// Parses a string literal and refuses escapes: a column of the text must be a
/// column of the source.
static ParseResult parseLiteral(AsmParser &parser, SMLoc &literal,
                                std::string &text) {
  literal = parser.getCurrentLocation();
  if (parser.parseString(&text))
    return failure();
  // The closing quote follows the text exactly iff nothing was escaped.
  if (literal.getPointer()[text.size() + 1] != '"' ||
      StringRef(literal.getPointer() + 1, text.size()) != text)
    return parser.emitError(literal,
                            "MA-3: escapes are not allowed in a mapping");
  return success();
}

FailureOr<MappingAttr> tmap::parseMapping(AsmParser &parser, AxesAttr axes) {
  SMLoc literal;
  std::string text;
  if (parseLiteral(parser, literal, text))
    return failure();
  auto parsed = MappingAttr::parseText(text, axes);
  if (!parsed) {
    emitFault(parser, literal, parsed.fault());
    return failure();
  }
  return *parsed;
}

FailureOr<StringAttr> tmap::parseMappingText(AsmParser &parser) {
  SMLoc literal;
  std::string text;
  if (parseLiteral(parser, literal, text))
    return failure();
  auto normalised = mapping::normalise(text);
  if (!normalised) {
    emitFault(parser, literal, normalised.fault());
    return failure();
  }
  return StringAttr::get(parser.getContext(), *normalised);
}

Attribute MappingAttr::parse(AsmParser &parser, Type) {
  SMLoc literal;
  std::string text;
  AxesAttr axes;
  if (parser.parseLess() || parseLiteral(parser, literal, text) ||
      parser.parseComma() || parser.parseCustomAttributeWithFallback(axes) ||
      parser.parseGreater())
    return {};
  auto parsed = parseText(text, axes);
  if (!parsed) {
    emitFault(parser, literal, parsed.fault());
    return {};
  }
  return *parsed;
}

void MappingAttr::print(AsmPrinter &printer) const {
  printer << "<\"" << getText() << "\", ";
  printer.printAttribute(getAxes());
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Tensor
//===----------------------------------------------------------------------===//

LogicalResult
MappedTensorType::verify(function_ref<InFlightDiagnostic()> emitError,
                         Type elementType, MappingAttr mapping) {
  if (!elementType.isIntOrFloat())
    return emitError() << "expected an integer or float element type, found "
                       << elementType;
  // MA-13, MA-14, MA-15.
  if (auto fault = mapping::checkTensor(mapping.getMapping()))
    return emitError() << fault->rule << ": " << fault->message;
  return success();
}

Type MappedTensorType::parse(AsmParser &parser) {
  SMLoc typeLoc, literal;
  Type elementType;
  std::string text;
  AxesAttr axes;
  if (parser.parseLess() || parser.getCurrentLocation(&typeLoc) ||
      parser.parseType(elementType) || parser.parseComma() ||
      parseLiteral(parser, literal, text) || parser.parseComma() ||
      parser.parseCustomAttributeWithFallback(axes) || parser.parseGreater())
    return {};
  auto mapping = MappingAttr::parseText(text, axes);
  if (!mapping) {
    emitFault(parser, literal, mapping.fault());
    return {};
  }
  // Here and not in the verifier, so that the character is known.
  if (auto fault = mapping::checkTensor(mapping->getMapping())) {
    emitFault(parser, literal, *fault);
    return {};
  }
  return parser.getChecked<MappedTensorType>(typeLoc, parser.getContext(),
                                             elementType, *mapping);
}

void MappedTensorType::print(AsmPrinter &printer) const {
  printer << '<' << getElementType() << ", \"" << getMapping().getText()
          << "\", ";
  printer.printAttribute(getMapping().getAxes());
  printer << '>';
}
