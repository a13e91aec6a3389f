//===- VISADialect.cpp - The visa dialect ---------------------------------===//
//
// Registration, attributes, and what all tiers have in common.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/Utils/Numbers.h"
#include "furiosa/Dialect/VISA/IR/KernelCheck.h"
#include "furiosa/Dialect/VISA/IR/VISA.h"
#include "furiosa/Dialect/VISA/IR/Views.h"
#include "furiosa/Dialect/VISA/Transfer/Transfer.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;

#include "furiosa/Dialect/VISA/IR/VISADialect.cpp.inc"
#include "furiosa/Dialect/VISA/IR/VISAEnums.cpp.inc"
#include "furiosa/Dialect/VISA/IR/VISAOpInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "furiosa/Dialect/VISA/IR/VISAAttributes.cpp.inc"

namespace {
/// Names that the printer proposes for types and axes.
struct VISAAliases : public OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Type type, raw_ostream &os) const final {
    StringRef tier = TypeSwitch<Type, StringRef>(type)
                         .Case([](HbmType) { return "hbm"; })
                         .Case([](DmType) { return "dm"; })
                         .Case([](TrfType) { return "trf"; })
                         .Case([](VrfType) { return "vrf"; })
                         .Default([](Type) { return ""; });
    if (tier.empty())
      return AliasResult::NoAlias;
    // The element type first: `!i8_dm`, `!bf16_trf`.
    if (auto element = getElementType(getTensorParts(type).elementType))
      os << furiosa::toString(*element) << '_';
    os << tier;
    return AliasResult::OverridableAlias;
  }
};

/// Helpers that hold visa ops inline into kernels like any other.
struct VISAInliner : public DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void VISADialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "furiosa/Dialect/VISA/IR/VISAAttributes.cpp.inc"
      >();
  registerTypes();
  registerMovementOps();
  registerFetchOps();
  registerSwitchOps();
  registerRegisterFileOps();
  registerContractionOps();
  registerVectorOps();
  registerTransposeOps();
  registerCommitOps();
  addInterfaces<VISAAliases, VISAInliner>();
}

LogicalResult VISADialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  if (attribute.getName() == getTargetAttrName()) {
    if (!isa<TargetAttr>(attribute.getValue()))
      return op->emitOpError()
             << "attribute " << getTargetAttrName() << " is "
             << attribute.getValue() << ", expected a #visa.target";
    return success();
  }
  if (attribute.getName() == alternateNetworksAttrName) {
    if (!isa<func::FuncOp>(op) || !isa<UnitAttr>(attribute.getValue()))
      return op->emitOpError() << "attribute " << alternateNetworksAttrName
                               << " is a unit attribute of func.func";
    return success();
  }
  if (attribute.getName() != getKernelAttrName())
    return op->emitOpError()
           << "unknown attribute " << attribute.getName() << " of dialect visa";
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function || !isa<UnitAttr>(attribute.getValue()))
    return op->emitOpError() << "attribute " << getKernelAttrName()
                             << " is a unit attribute of func.func";
  // The structure of the function and of the ops below is not verified yet at
  // this point, parents before what they hold.
  if (failed(op->getName().verifyInvariants(op)))
    return failure();
  if (function.getSymName().empty())
    return op->emitOpError() << "a kernel needs a name";
  // A kernel that has been lowered keeps its mark; there is no visa to check.
  if (function.isExternal())
    return op->emitOpError() << "a kernel needs a body";
  if (areKernelChecksDeferred(this))
    return success();
  for (Operation &nested : function.getBody().getOps())
    if (failed(verify(&nested)))
      return failure();
  return checkKernel(function);
}

LogicalResult VISADialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned index,
                                                    NamedAttribute attribute) {
  if (attribute.getName() != rangeAttrName)
    return op->emitOpError() << "argument " << index << ": unknown attribute "
                             << attribute.getName() << " of dialect visa";
  auto range = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
  if (!range || !isNumberRange(range))
    return op->emitOpError()
           << "argument " << index << ": " << rangeAttrName << " is "
           << attribute.getValue()
           << ", expected two numbers of 32 bits that ascend, as in array<i64: "
              "0, 64>";
  return success();
}

//===----------------------------------------------------------------------===//
// TargetAttr
//===----------------------------------------------------------------------===//

static std::string listReleases() {
  std::string list;
  for (unsigned i = 0; i < rngd::numReleases; ++i)
    list +=
        (i ? ", " : "") + rngd::toString(static_cast<rngd::Release>(i)).str();
  return list;
}

/// The first field, counted from 0, that no target has, and why.
static std::optional<std::pair<unsigned, std::string>>
findFault(StringRef chip, StringRef release, int64_t chips, int64_t pes) {
  auto fault = [](unsigned field, const Twine &message) {
    return std::pair(field, message.str());
  };
  if (chip != "rngd")
    return fault(0, "unknown chip " + chip + ", expected rngd");
  if (!rngd::parseRelease(release))
    return fault(1, "unknown release \"" + release + "\", expected one of " +
                        listReleases());
  if (chips < 1)
    return fault(2, "chips is " + Twine(chips) + ", expected at least 1");
  if (pes != 1 && pes != 2 && pes != 4 && pes != 8)
    return fault(3, "pes is " + Twine(pes) + ", expected 1, 2, 4 or 8");
  return std::nullopt;
}

Attribute TargetAttr::parse(AsmParser &parser, Type) {
  StringRef chip;
  std::string release;
  int64_t chips, pes;
  SMLoc loc = parser.getCurrentLocation();
  SMLoc fields[4];
  // Where the next field stands.
  auto mark = [&](SMLoc &field) -> ParseResult {
    field = parser.getCurrentLocation();
    return success();
  };
  if (parser.parseLess() || mark(fields[0]) || parser.parseKeyword(&chip) ||
      parser.parseComma() || parser.parseKeyword("release") ||
      parser.parseEqual() || mark(fields[1]) || parser.parseString(&release) ||
      parser.parseComma() || parser.parseKeyword("chips") ||
      parser.parseEqual() || mark(fields[2]) || parser.parseInteger(chips) ||
      parser.parseComma() || parser.parseKeyword("pes") ||
      parser.parseEqual() || mark(fields[3]) || parser.parseInteger(pes) ||
      parser.parseGreater())
    return {};
  if (auto fault = findFault(chip, release, chips, pes)) {
    parser.emitError(fields[fault->first], fault->second);
    return {};
  }
  return parser.getChecked<TargetAttr>(loc, parser.getContext(), chip, release,
                                       chips, pes);
}

void TargetAttr::print(AsmPrinter &printer) const {
  printer << '<' << getChip() << ", release = \"" << getRelease()
          << "\", chips = " << getChips() << ", pes = " << getPes() << '>';
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef chip, StringRef release,
                                 int64_t chips, int64_t pes) {
  if (auto fault = findFault(chip, release, chips, pes))
    return emitError() << fault->second;
  return success();
}

//===----------------------------------------------------------------------===//
// WindowAttr
//===----------------------------------------------------------------------===//

ParseResult visa::parseWindow(AsmParser &parser, WindowAttr &window) {
  Builder builder(parser.getContext());
  SMLoc loc = parser.getCurrentLocation();
  std::string over;
  if (parser.parseKeywordOrString(&over) || parser.parseEqual())
    return failure();
  SmallVector<StringAttr> digits;
  SmallVector<int64_t> factors;
  int64_t start = 0;
  bool isNegative = false;
  while (true) {
    OptionalParseResult number = parser.parseOptionalInteger(start);
    if (number.has_value()) {
      // The start is last.
      if (failed(*number))
        return failure();
      break;
    }
    SMLoc digitLoc = parser.getCurrentLocation();
    std::string text;
    if (parser.parseKeywordOrString(&text))
      return failure();
    auto normalised = mapping::normalise(text);
    if (!normalised)
      return parser.emitError(digitLoc)
             << normalised.fault().rule << ": " << normalised.fault().message;
    digits.push_back(builder.getStringAttr(*normalised));
    factors.push_back(1);
    if (succeeded(parser.parseOptionalStar()) &&
        parser.parseInteger(factors.back()))
      return failure();
    if (succeeded(parser.parseOptionalPlus()))
      continue;
    isNegative = succeeded(parser.parseOptionalMinus());
    if (!isNegative)
      break;
    if (parser.parseInteger(start))
      return failure();
    break;
  }
  if (isNegative)
    start = static_cast<int64_t>(-static_cast<uint64_t>(start));
  window = parser.getChecked<WindowAttr>(loc, parser.getContext(),
                                         builder.getStringAttr(over), digits,
                                         factors, start);
  return success(bool(window));
}

void visa::printWindow(AsmPrinter &printer, WindowAttr window) {
  printer.printKeywordOrString(window.getOver().getValue());
  printer << " = ";
  llvm::interleave(
      llvm::zip_equal(window.getDigits(), window.getFactors()), printer,
      [&](auto term) {
        auto [digit, factor] = term;
        printer.printKeywordOrString(digit.getValue());
        if (factor != 1)
          printer << " * " << factor;
      },
      " + ");
  int64_t start = window.getStart();
  if (window.getDigits().empty())
    printer << start;
  else if (start > 0)
    printer << " + " << start;
  else if (start < 0)
    printer << " - " << -static_cast<uint64_t>(start);
}

Attribute WindowAttr::parse(AsmParser &parser, Type) {
  WindowAttr window;
  if (parser.parseLess() || parseWindow(parser, window) ||
      parser.parseGreater())
    return {};
  return window;
}

void WindowAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printWindow(printer, *this);
  printer << '>';
}

LogicalResult WindowAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringAttr over, ArrayRef<StringAttr> digits,
                                 ArrayRef<int64_t> factors, int64_t) {
  if (!over || digits.size() != factors.size())
    return emitError() << "a window names an axis and has a factor for each of "
                          "its digits";
  for (StringAttr digit : digits)
    if (auto text = mapping::normalise(digit.getValue()); !text)
      return emitError() << text.fault().rule << ": " << text.fault().message;
  return success();
}

TargetAttr visa::getDefaultTarget(MLIRContext *context) {
  return TargetAttr::get(context, "rngd", "0.6", 1, 8);
}

TargetAttr visa::getTarget(Operation *op) {
  for (Operation *at = op; at; at = at->getParentOp())
    if (auto target =
            at->getAttrOfType<TargetAttr>(VISADialect::getTargetAttrName()))
      return target;
  return getDefaultTarget(op->getContext());
}
