//===- WindowOp.cpp - Windows of a tensor, a tap at a time ----------------===//

#include "TensorRules.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::tmap;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

ParseResult tmap::parseWindows(OpAsmParser &parser, ArrayAttr &over,
                               ArrayAttr &at, ArrayAttr &taps,
                               DenseI64ArrayAttr &strides,
                               DenseI64ArrayAttr &dilations,
                               DenseI64ArrayAttr &starts) {
  Builder &builder = parser.getBuilder();
  SmallVector<Attribute> rows, windows, tapNames;
  SmallVector<int64_t> windowSteps, tapSteps, sums;
  auto parseName = [&](SmallVector<Attribute> &names) -> ParseResult {
    std::string text;
    if (parser.parseKeywordOrString(&text))
      return failure();
    names.push_back(builder.getStringAttr(text));
    return success();
  };
  auto parseFactor = [&](SmallVector<int64_t> &factors) -> ParseResult {
    factors.push_back(1);
    return failed(parser.parseOptionalStar())
               ? success()
               : parser.parseInteger(factors.back());
  };
  auto parseWindow = [&]() -> ParseResult {
    if (parseName(rows) || parser.parseEqual() || parseName(windows) ||
        parseFactor(windowSteps) || parser.parsePlus() || parseName(tapNames) ||
        parseFactor(tapSteps))
      return failure();
    sums.push_back(0);
    if (succeeded(parser.parseOptionalPlus()))
      return parser.parseInteger(sums.back());
    if (failed(parser.parseOptionalMinus()))
      return success();
    if (parser.parseInteger(sums.back()))
      return failure();
    sums.back() = static_cast<int64_t>(-static_cast<uint64_t>(sums.back()));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseWindow))
    return failure();
  over = builder.getArrayAttr(rows);
  at = builder.getArrayAttr(windows);
  taps = builder.getArrayAttr(tapNames);
  strides = builder.getDenseI64ArrayAttr(windowSteps);
  dilations = builder.getDenseI64ArrayAttr(tapSteps);
  starts = builder.getDenseI64ArrayAttr(sums);
  return success();
}

void tmap::printWindows(OpAsmPrinter &printer, Operation *, ArrayAttr over,
                        ArrayAttr at, ArrayAttr taps, DenseI64ArrayAttr strides,
                        DenseI64ArrayAttr dilations, DenseI64ArrayAttr starts) {
  auto printName = [&](Attribute name) {
    printer.printKeywordOrString(cast<StringAttr>(name).getValue());
  };
  auto printFactor = [&](int64_t factor) {
    if (factor != 1)
      printer << " * " << factor;
  };
  printer << '[';
  llvm::interleaveComma(llvm::seq<size_t>(over.size()), printer, [&](size_t i) {
    printName(over[i]);
    printer << " = ";
    printName(at[i]);
    printFactor(strides[i]);
    printer << " + ";
    printName(taps[i]);
    printFactor(dilations[i]);
    if (starts[i] > 0)
      printer << " + " << starts[i];
    else if (starts[i] < 0)
      printer << " - " << -static_cast<uint64_t>(starts[i]);
  });
  printer << ']';
}

//===----------------------------------------------------------------------===//
// WindowOp
//===----------------------------------------------------------------------===//

void WindowOp::build(OpBuilder &builder, OperationState &state, Type result,
                     Value source, ArrayRef<WindowAxis> windows) {
  AxesAttr axes = getAxes(cast<MappedTensorType>(source.getType()));
  SmallVector<StringRef> names[3];
  SmallVector<int64_t> strides, dilations, starts;
  for (const WindowAxis &window : windows) {
    for (auto [list, axis] : llvm::zip_equal(
             names, ArrayRef<int>{window.over, window.at, window.tap}))
      list.push_back(axes.getAxes()[axis].name);
    strides.push_back(window.stride);
    dilations.push_back(window.dilation);
    starts.push_back(window.start);
  }
  build(builder, state, result, source, builder.getStrArrayAttr(names[0]),
        builder.getStrArrayAttr(names[1]), builder.getStrArrayAttr(names[2]),
        strides, dilations, starts);
}

SmallVector<WindowAxis> WindowOp::getWindows() {
  AxesAttr axes = getAxes(getType());
  SmallVector<int> over = findAxes(axes, getOver()),
                   at = findAxes(axes, getAt()),
                   taps = findAxes(axes, getTaps());
  SmallVector<WindowAxis> windows;
  for (size_t i = 0; i < over.size(); ++i)
    windows.push_back({over[i], at[i], taps[i], getStrides()[i],
                       getDilations()[i], getStarts()[i]});
  return windows;
}

LogicalResult WindowOp::verify() {
  MappedTensorType source = getSource().getType();
  AxesAttr axes = getAxes(source);
  if (failed(checkTensors(*this)))
    return failure();
  size_t count = getOver().size();
  if (getAt().size() != count || getTaps().size() != count ||
      getStrides().size() != count || getDilations().size() != count ||
      getStarts().size() != count)
    return fault(*this, "TM-17")
           << "over, at, taps, strides, dilations and starts are of one length";
  SmallVector<Attribute> all(getOver().getValue());
  llvm::append_range(all, getAt());
  llvm::append_range(all, getTaps());
  if (failed(checkOver(*this, axes, ArrayAttr::get(getContext(), all))))
    return failure();
  if (source.getElementType() != getType().getElementType())
    return fault(*this, "TM-8")
           << "element types " << source.getElementType() << " and "
           << getType().getElementType() << " in one op; cast first";
  auto nameOf = [&](int axis) -> const std::string & {
    return axes.getAxes()[axis].name;
  };
  auto sizeOf = [&](int axis) { return axes.getAxes()[axis].size; };
  SmallVector<int> expected = getAxesInOrder(source);
  for (const WindowAxis &window : getWindows()) {
    if (!hasAxis(source, window.over))
      return fault(*this, "TM-17")
             << "the source has no axis '" << nameOf(window.over) << "'";
    llvm::erase(expected, window.over);
    for (int axis : {window.at, window.tap}) {
      if (sizeOf(axis) == 1)
        continue;
      if (hasAxis(source, axis))
        return fault(*this, "TM-17")
               << "axis '" << nameOf(axis)
               << "' is of the source already; windows and taps have axes of "
                  "their own";
      expected.push_back(axis);
    }
    if (window.stride < 1 || window.dilation < 1)
      return fault(*this, "TM-17")
             << "windows of '" << nameOf(window.over) << "' are "
             << window.stride << " apart and taps " << window.dilation
             << ", expected at least 1";
    int64_t rows = 0, taps = 0, reach = 0;
    if (llvm::MulOverflow(window.stride, sizeOf(window.at) - 1, rows) ||
        llvm::MulOverflow(window.dilation, sizeOf(window.tap) - 1, taps) ||
        llvm::AddOverflow(rows, taps, reach) || reach > WindowAxis::maxReach ||
        window.start > WindowAxis::maxReach ||
        window.start < -WindowAxis::maxReach)
      return fault(*this, "TM-17") << "windows of '" << nameOf(window.over)
                                   << "' reach further than 2^31 rows";
  }
  return checkResultAxes(*this, "TM-17", getType(), expected);
}

/// Windows of windows are those of the source, if they read none of the zeros
/// around the inner ones and no more than two axes make a row.
LogicalResult WindowOp::canonicalize(WindowOp op, PatternRewriter &rewriter) {
  auto inner = op.getSource().getDefiningOp<WindowOp>();
  if (!inner)
    return failure();
  MappedTensorType source = inner.getSource().getType();
  AxesAttr axes = getAxes(source);
  auto sizeOf = [&](int axis) { return axes.getAxes()[axis].size; };
  SmallVector<WindowAxis> windows, rest = inner.getWindows();
  for (WindowAxis outer : op.getWindows()) {
    auto *found = llvm::find_if(rest, [&](const WindowAxis &window) {
      return window.at == outer.over || window.tap == outer.over;
    });
    if (found == rest.end()) {
      windows.push_back(outer);
      continue;
    }
    WindowAxis joined = *found;
    rest.erase(found);
    // What the outer one reads is the sum of an axis and another one.
    if (joined.tap == outer.over) {
      std::swap(joined.at, joined.tap);
      std::swap(joined.stride, joined.dilation);
    }
    int64_t last = outer.start + outer.stride * (sizeOf(outer.at) - 1) +
                   outer.dilation * (sizeOf(outer.tap) - 1);
    if (outer.start < 0 || last >= sizeOf(outer.over))
      return failure();
    int64_t factor = joined.stride, start = 0;
    auto take = [&](int axis, int64_t step, int &into, int64_t &intoStep) {
      into = axis;
      return !llvm::MulOverflow(step, factor, intoStep);
    };
    bool fits = take(outer.at, outer.stride, joined.at, joined.stride);
    if (sizeOf(joined.tap) == 1)
      fits &= take(outer.tap, outer.dilation, joined.tap, joined.dilation);
    else if (sizeOf(outer.at) == 1)
      fits &= take(outer.tap, outer.dilation, joined.at, joined.stride);
    else if (sizeOf(outer.tap) != 1)
      return failure();
    if (!fits || llvm::MulOverflow(outer.start, factor, start) ||
        llvm::AddOverflow(joined.start, start, joined.start))
      return failure();
    windows.push_back(joined);
  }
  windows.append(rest);
  // Axes of the source may count windows, but not of the same tensor.
  SmallVector<int> named;
  for (const WindowAxis &window : windows) {
    named.append({window.over, window.at, window.tap});
    if (window.start > WindowAxis::maxReach ||
        window.start < -WindowAxis::maxReach)
      return failure();
    for (int axis : {window.at, window.tap})
      if (sizeOf(axis) > 1 && hasAxis(source, axis))
        return failure();
  }
  llvm::sort(named);
  if (llvm::adjacent_find(named) != named.end())
    return failure();
  rewriter.replaceOpWithNewOp<WindowOp>(op, op.getType(), inner.getSource(),
                                        windows);
  return success();
}
