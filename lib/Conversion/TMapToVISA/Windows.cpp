//===- Windows.cpp - Windows of a tensor in HBM, a tap at a time ----------===//
//
// A tap of all windows is a part of the source that begins where the tap
// stands. It is copied to the windows, which therefore have the names of the
// source's rows until all taps are there. Rows that do not divide into steps,
// or that zeros stand around, are brought along an axis of their own first.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::tmap;

namespace {
/// How the rows of one axis are read.
struct RowWindow {
  WindowAxis axis;
  int64_t windows, taps;
  /// Steps from window to window; 1 where there is one.
  int64_t stride;
  /// Rows of zeros in front of the source.
  int64_t front = 0;
  /// The source's rows from the first one that a window reads on.
  int64_t first = 0;
  /// One past the last row of the source that a window reads.
  int64_t end = 0;

  RowWindow(const WindowAxis &window, AxesAttr axes)
      : axis(window), windows(axes.getAxes()[window.at].size),
        taps(axes.getAxes()[window.tap].size),
        stride(windows == 1 ? 1 : window.stride),
        front(std::max<int64_t>(0, -window.start)),
        first(std::max<int64_t>(0, window.start)),
        end(window.start + stride * (windows - 1) +
            window.dilation * (taps - 1) + 1) {}
};
} // namespace

int64_t tmap::getRowAxisSize(const WindowAxis &window, AxesAttr axes,
                             bool isGrown) {
  RowWindow row(window, axes);
  int64_t size = axes.getAxes()[window.over].size;
  if (!isGrown && row.front == 0 && row.end <= size && size % row.stride == 0)
    return 0;
  return llvm::alignTo(std::max(row.front + size, row.front + row.end),
                       row.stride);
}

namespace {
class Windows {
public:
  Windows(Emitter &emitter, WindowOp op, ArrayRef<int> rows)
      : emitter(emitter), axes(emitter.axes), op(op),
        sourceType(op.getSource().getType()), rows(rows) {
    for (const WindowAxis &window : op.getWindows())
      list.push_back(RowWindow(window, axes.declared()));
  }

  FailureOr<Value> emit(Value source, bool mayRename);

private:
  Type typeOf(ArrayRef<std::string> terms) const {
    return emitter.hbmType(sourceType.getElementType(), joinTerms(terms));
  }
  /// Without padding between rows.
  MappedTensorType getPlain(MappedTensorType type) const {
    return getPlainType(type.getElementType(), axes.declared(),
                        getAxesInOrder(type));
  }
  bool isStaged(size_t i) const { return rows[i] >= 0; }
  /// The axis that the rows of window `i` lie along.
  std::string rowsOf(size_t i) const {
    return isStaged(i) ? axes.rows(rows[i]).str()
                       : axes.live(list[i].axis.over);
  }
  /// Positions of windows `i` as an index of the rows.
  std::string stepsOf(size_t i) const {
    return list[i].stride == 1
               ? rowsOf(i)
               : rowsOf(i) + " / " + std::to_string(list[i].stride);
  }
  /// The window that has `axis` in the place `part`, or -1.
  int find(int WindowAxis::*part, int axis) const {
    for (auto [i, row] : llvm::enumerate(list))
      if (row.axis.*part == axis)
        return i;
    return -1;
  }
  /// The source in the order of its axes, rows of staged windows as the axis of
  /// their own: all of that, or the cells that the source has.
  TermList getStagedTerms(bool whole) const;
  Value stage(Value source);
  /// Copies one tap of all windows; false if a part is none.
  bool copyTap(Value source, Value target, ArrayRef<int64_t> taps);

  Emitter &emitter;
  const KernelAxes &axes;
  WindowOp op;
  MappedTensorType sourceType;
  ArrayRef<int> rows;
  SmallVector<RowWindow> list;
};
} // namespace

TermList Windows::getStagedTerms(bool whole) const {
  TermList terms;
  SmallVector<int> order = getAxesInOrder(sourceType);
  for (auto [i, row] : llvm::enumerate(list))
    if (isStaged(i) && !llvm::is_contained(order, row.axis.over))
      order.push_back(row.axis.over);
  for (int axis : order) {
    int i = find(&WindowAxis::over, axis);
    terms.push_back(
        i < 0 || !isStaged(i)
            ? axes.live(axis)
            : rowsOf(i) +
                  (whole ? "" : " = " + std::to_string(axes.size(axis))));
  }
  return terms;
}

/// The source, which nothing else reads, with the rows of staged windows along
/// axes of their own, and zeros around them.
Value Windows::stage(Value source) {
  Value renamed = visa::ReshapeOp::create(
      emitter.builder, emitter.loc, typeOf(getStagedTerms(false)), source);
  TermList whole = getStagedTerms(true);
  bool isFilled = false;
  for (auto [i, row] : llvm::enumerate(list))
    isFilled |=
        isStaged(i) && (row.front > 0 || row.end > axes.size(row.axis.over));
  Value target = isFilled ? emitter.hbmZeros(sourceType.getElementType(), whole)
                          : Value(visa::AllocOp::create(
                                emitter.builder, emitter.loc, typeOf(whole)));
  Value into = target;
  for (auto [i, row] : llvm::enumerate(list))
    if (into && isStaged(i))
      into = emitter.part(into, rowsOf(i), row.front, axes.size(row.axis.over),
                          mapping::Pad::Bottom);
  if (!into)
    return {};
  visa::CopyOp::create(emitter.builder, emitter.loc, renamed, into);
  return target;
}

bool Windows::copyTap(Value source, Value target, ArrayRef<int64_t> taps) {
  for (auto [i, row] : llvm::enumerate(list)) {
    int64_t start = row.first + taps[i] * row.axis.dilation;
    // A single row has no axis to cut.
    bool isCut = isStaged(i) || axes.size(row.axis.over) > 1;
    if (source && isCut)
      source = emitter.part(source, stepsOf(i), start / row.stride, row.windows,
                            mapping::Pad::Top);
    if (source && row.stride > 1)
      source =
          emitter.part(source, rowsOf(i) + " % " + std::to_string(row.stride),
                       start % row.stride, 1, mapping::Pad::Top);
    if (target && row.taps > 1)
      target = emitter.part(target, axes.live(row.axis.tap), taps[i], 1,
                            mapping::Pad::Bottom);
  }
  if (!source || !target)
    return false;
  visa::CopyOp::create(emitter.builder, emitter.loc, source, target);
  return true;
}

FailureOr<Value> Windows::emit(Value source, bool mayRename) {
  bool stages = llvm::any_of(rows, [](int row) { return row >= 0; });
  if (sourceType != getPlain(sourceType) || (stages && !mayRename))
    source = emitter.copy(source, emitter.hbmType(getPlain(sourceType)));
  if (stages)
    source = stage(source);
  MappedTensorType result = op.getType();
  TermList terms;
  SmallVector<int> order = getAxesInOrder(result);
  for (int axis : order) {
    int i = find(&WindowAxis::at, axis);
    terms.push_back(i < 0
                        ? axes.live(axis)
                        : stepsOf(i) + " = " + std::to_string(list[i].windows));
  }
  Value target =
      visa::AllocOp::create(emitter.builder, emitter.loc, typeOf(terms));
  SmallVector<int64_t> taps(list.size());
  bool isCopied = bool(source);
  while (isCopied) {
    isCopied = copyTap(source, target, taps);
    size_t i = 0;
    while (i < list.size() && ++taps[i] == list[i].taps)
      taps[i++] = 0;
    if (i == list.size())
      break;
  }
  if (!isCopied)
    return op.emitOpError()
           << "not yet supported: windows of \""
           << op.getSource().getType().getMapping().getText() << "\"";
  Type type = emitter.hbmType(getPlain(result));
  if (target.getType() != type)
    target =
        visa::ReshapeOp::create(emitter.builder, emitter.loc, type, target);
  if (result != getPlain(result))
    target = emitter.copy(target, emitter.hbmType(result));
  return target;
}

FailureOr<Value> tmap::emitWindows(Emitter &emitter, WindowOp op, Value source,
                                   bool mayRename, ArrayRef<int> rows) {
  return Windows(emitter, op, rows).emit(source, mayRename);
}
