//===- WindowLoads.cpp - Sources of windows in data memory ----------------===//

#include "WindowLoads.h"
#include "furiosa/Dialect/Utils/ElementTypes.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::tmap;
namespace machine = furiosa::rngd::machine;

static std::string number(int64_t value) { return std::to_string(value); }

std::optional<WindowLoad> WindowLoad::get(WindowOp op, ArrayRef<Cut> held,
                                          ArrayRef<int> over,
                                          const Place &place,
                                          const KernelAxes &axes) {
  MappedTensorType type = op.getSource().getType();
  SmallVector<int> order = getAxesInOrder(type);
  if (!mapping::same(type.getMapping().getMapping(),
                     getPlainType(type.getElementType(), axes.declared(), order)
                         .getMapping()
                         .getMapping()))
    return std::nullopt;
  WindowLoad load(axes, place);
  load.elementType = type.getElementType();
  unsigned bits = wireBits(*getElementType(load.elementType));

  SmallVector<Cut> rest(held);
  SmallVector<int> sums(over);
  for (const WindowAxis &window : op.getWindows()) {
    Rows rows;
    rows.axis = window;
    rows.size = axes.size(window.over);
    rows.windows = axes.size(window.at);
    rows.taps = axes.size(window.tap);
    rows.stride = rows.windows == 1 ? 1 : window.stride;
    rows.cut.axis = window.at;
    auto *cut = llvm::find_if(
        rest, [&](const Cut &cut) { return cut.axis == window.at; });
    if (cut != rest.end()) {
      rows.cut = *cut;
      rest.erase(cut);
    } else if (rows.windows > 1) {
      return std::nullopt;
    }
    auto *sum = llvm::find(sums, window.tap);
    if (sum != sums.end())
      sums.erase(sum);
    else if (rows.taps > 1)
      return std::nullopt;
    // What packets are made of lies in one piece; loops see all windows.
    if (window.tap == over.back() || rows.cut.size != rows.windows ||
        axes.isGrown(window.over) || axes.isGrown(window.at) ||
        axes.isGrown(window.tap))
      return std::nullopt;
    rows.reach = (rows.cut.tile - 1) * rows.stride +
                 (rows.taps - 1) * window.dilation + 1;
    rows.front = -window.start;
    load.rows.push_back(rows);
  }
  auto isCut = [](const Rows &rows) { return rows.cut.units() > 1; };
  if (llvm::count_if(load.rows, isCut) > 1)
    return std::nullopt;
  auto positionOf = [&](const Rows &rows) {
    return llvm::find(order, rows.axis.over) - order.begin();
  };
  llvm::stable_sort(load.rows, [&](const Rows &a, const Rows &b) {
    return std::pair(!isCut(a), positionOf(a)) <
           std::pair(!isCut(b), positionOf(b));
  });

  // Cells from the innermost on.
  SmallVector<Cut> cuts;
  for (int axis : sums) {
    load.inner.push_back(axes.fullSize(axis) == 1 ? "" : axes.name(axis));
    load.innerCells *= axes.fullSize(axis);
    cuts.push_back({axis, axes.size(axis), axes.size(axis), axes.size(axis)});
    if (axes.isGrown(axis))
      load.filled.push_back(axis);
  }
  for (auto [number, rows] : llvm::enumerate(load.rows))
    rows.number = number;
  for (int axis : order) {
    auto *rows = llvm::find_if(
        load.rows, [&](const Rows &rows) { return rows.axis.over == axis; });
    load.renamed.push_back(rows == load.rows.end()
                               ? axes.live(axis)
                               : rows->getLines(axes, rows->size));
  }
  int64_t pitch = 1;
  for (size_t i = load.rows.size(); i-- > 0;) {
    Rows &rows = load.rows[i];
    rows.pitch = pitch;
    if (i == 0)
      break;
    int64_t back = rows.reach - rows.front - rows.size;
    rows.padded = rows.size + std::max<int64_t>({0, rows.front, back});
    if (i + 1 == load.rows.size())
      while (rows.padded * load.innerCells * bits %
                 (8 * machine::dmWriteGranule) !=
             0)
        ++rows.padded;
    pitch *= rows.padded;
    cuts.insert(cuts.begin(),
                {rows.axis.over, rows.size, rows.size, rows.padded});
  }
  if (pitch * load.innerCells * bits % (8 * machine::dmWriteGranule) != 0)
    return std::nullopt;
  // Rows are filled up in HBM, slowly.
  load.isStaged = !isLoadable(type, cuts, axes);
  if (load.isStaged &&
      (load.filled.empty() || load.filled.back() != order.back()))
    return std::nullopt;
  for (const Cut &cut : rest) {
    load.outer.push_back(cut.inner(axes));
    load.outerCells *= cut.tile;
  }

  Rows &first = load.rows[0];
  load.chunk = first.cut.tile * first.stride;
  for (const Rows &rows : load.rows)
    load.start -= rows.front * rows.pitch;
  while (load.start < 0) {
    load.start += load.chunk * pitch;
    ++load.before;
  }
  int64_t last = load.before * load.chunk - first.front + first.reach - 1;
  load.chunks = last / load.chunk + 1;
  return load;
}

int64_t WindowLoad::getSliceBytes() const {
  return outerCells * getNumCells() * innerCells *
         wireBits(*getElementType(elementType)) / 8;
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

std::string WindowLoad::toRows(StringRef mapping) const {
  const Rows &first = rows[0];
  std::string whole = "[" + first.getLines(*axes, first.windows * first.stride);
  if (first.stride > 1)
    whole += " / " + number(first.stride);
  whole += "]";
  const std::string &windows = axes->name(first.axis.at);
  std::string result;
  while (!mapping.empty()) {
    size_t length = 0;
    while (length < mapping.size() &&
           (llvm::isAlnum(mapping[length]) || mapping[length] == '_'))
      ++length;
    length = std::max<size_t>(length, 1);
    StringRef word = mapping.take_front(length);
    result += word == windows ? StringRef(whole) : word;
    mapping = mapping.drop_front(length);
  }
  return result;
}

/// Rows of a chunk.
std::string WindowLoad::getRowDigit() const {
  if (chunk == 1)
    return "";
  int64_t cells = rows[0].cut.units() * chunk;
  std::string text = rows[0].getLines(*axes, cells);
  return cells == chunk ? text : text + " % " + number(chunk);
}

std::string WindowLoad::getChunks() const {
  return chunks == 1 ? "" : axes->windowChunks().str() + " = " + number(chunks);
}

std::string WindowLoad::getCells() const {
  int64_t cells = getNumCells();
  return cells == 1 ? "" : axes->windowCells().str() + " = " + number(cells);
}

TermList WindowLoad::getChunkTerms() const {
  TermList windows = {getChunks(), getRowDigit()};
  for (const Rows &row : ArrayRef(rows).drop_front())
    windows.push_back(row.padded == 1 ? "" : row.getLines(*axes, row.padded));
  return concat({outer, windows, inner});
}

ArrayAttr WindowLoad::getClause(MLIRContext *context) const {
  SmallVector<StringAttr> digits;
  SmallVector<int64_t> factors;
  auto add = [&](const std::string &digit, int64_t cells, int64_t factor) {
    if (cells == 1)
      return;
    digits.push_back(StringAttr::get(context, digit));
    factors.push_back(factor);
  };
  for (const Rows &row : rows) {
    const std::string &name = axes->name(row.axis.at);
    add(row.cut.tile == row.windows ? name
                                    : name + " = " + number(row.cut.tile),
        row.cut.tile, row.stride * row.pitch);
    add(axes->name(row.axis.tap), row.taps, row.axis.dilation * row.pitch);
  }
  return ArrayAttr::get(
      context, visa::WindowAttr::get(
                   context, StringAttr::get(context, axes->windowCells()),
                   digits, factors, start));
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// Whether a slice holds cells that are none of the source's.
bool WindowLoad::hasZeros() const {
  const Rows &first = rows[0];
  int64_t end = (first.windows - 1) * first.stride +
                (first.taps - 1) * first.axis.dilation + 1 - first.front;
  return (!isStaged && !filled.empty()) || first.front > 0 ||
         end > first.size ||
         llvm::any_of(ArrayRef(rows).drop_front(), [](const Rows &row) {
           return row.front > 0 || row.reach - row.front > row.size;
         });
}

Value WindowLoad::part(Emitter &emitter, Value tensor,
                       visa::Dimension dimension, StringRef index,
                       int64_t start, int64_t length) const {
  auto type = cast<visa::DmType>(tensor.getType());
  auto digits = MappingAttr::parseText(index, axes->visa());
  MappingAttr parts[] = {type.getCluster(), type.getSlice(), type.getElement()};
  MappingAttr &changed = parts[dimension == visa::Dimension::Cluster ? 0
                               : dimension == visa::Dimension::Slice ? 1
                                                                     : 2];
  // The check of the view says what is wrong with it.
  if (digits)
    if (auto window = mapping::tile(changed.getMapping(), digits->getMapping(),
                                    length, start, mapping::Pad::Bottom)) {
      if (start == 0 && length == window->live)
        return tensor;
      changed = MappingAttr::get(window->view, axes->visa());
    }
  return visa::TileOp::create(
      emitter.builder, emitter.loc,
      visa::DmType::get(tensor.getContext(), elementType, axes->visa(),
                        type.getChip(), parts[0], parts[1], parts[2]),
      tensor, Value(), emitter.builder.getI64IntegerAttr(start), dimension,
      index, length);
}

void WindowLoad::copy(Emitter &emitter, Value source, Value buffer,
                      const Piece &piece) const {
  const Rows &first = rows[0];
  // Rows between those that the slices ask for lie in the part as well.
  int64_t length = (piece.count - 1) * chunk + piece.to - piece.from;
  std::string index = first.getLines(*axes, first.size);
  int64_t at = piece.first * chunk + piece.from;
  if (first.size > 1) {
    Value view = emitter.part(source, index, at, length, mapping::Pad::Top);
    // The check of the view says what is wrong with it.
    source = view ? view
                  : visa::TileOp::create(
                        emitter.builder, emitter.loc, source.getType(), source,
                        Value(), emitter.builder.getI64IntegerAttr(at),
                        visa::Dimension::Element, index, length);
  }

  const Cut &cut = first.cut;
  int64_t clusters = cut.units() / cut.sliceUnits;
  if (clusters > 1)
    buffer = part(emitter, buffer, visa::Dimension::Cluster,
                  toRows(cut.digit(*axes, cut.sliceUnits * cut.tile, clusters)),
                  piece.cluster, 1);
  if (cut.sliceUnits > 1)
    buffer = part(emitter, buffer, visa::Dimension::Slice,
                  toRows(cut.slices(*axes)), piece.slice, piece.count);
  if (chunks > 1)
    buffer = part(emitter, buffer, visa::Dimension::Element, getChunks(),
                  piece.number, 1);
  if (chunk > 1)
    buffer = part(emitter, buffer, visa::Dimension::Element, getRowDigit(),
                  piece.from, piece.to - piece.from);
  for (const Rows &row : ArrayRef(rows).drop_front())
    if (row.padded > 1)
      buffer = part(emitter, buffer, visa::Dimension::Element,
                    row.getLines(*axes, row.padded), 0, row.size);
  if (!isStaged)
    for (int axis : filled)
      buffer = part(emitter, buffer, visa::Dimension::Element, axes->name(axis),
                    0, axes->size(axis));
  visa::CopyOp::create(emitter.builder, emitter.loc, source, buffer);
}

Value WindowLoad::rename(Emitter &emitter, Value source) const {
  Value cells = visa::ReshapeOp::create(
      emitter.builder, emitter.loc,
      emitter.hbmType(elementType, joinTerms(renamed)), source);
  if (!isStaged)
    return cells;
  TermList whole = renamed;
  for (int axis : filled)
    llvm::replace(whole, axes->live(axis), axes->name(axis));
  Value staged = emitter.hbmZeros(elementType, whole), into = staged;
  for (int axis : filled)
    if (into)
      into = emitter.part(into, axes->name(axis), 0, axes->size(axis),
                          mapping::Pad::Bottom);
  // What has no such part is refused, since the copy does not fill it.
  visa::CopyOp::create(emitter.builder, emitter.loc, cells,
                       into ? into : staged);
  return staged;
}

Value WindowLoad::emit(Emitter &emitter, Value source) const {
  const Rows &first = rows[0];
  const Cut &cut = first.cut;
  DmLayout layout;
  layout.elementType = elementType;
  layout.place = place;
  layout.place.cluster = toRows(place.cluster);
  layout.place.slice = toRows(place.slice);
  layout.element = getChunkTerms();
  Value buffer = hasZeros() ? emitter.zeros(layout)
                            : Value(visa::AllocOp::create(
                                  emitter.builder, emitter.loc,
                                  emitter.dmType(elementType, layout.place,
                                                 joinTerms(layout.element))));
  int64_t used = llvm::divideCeil(first.windows, cut.tile);
  int64_t whole = first.size / chunk, rest = first.size % chunk;
  int64_t clusters = cut.units() / cut.sliceUnits;
  for (int64_t i = 0; i < chunks; ++i) {
    // Chunk `shift` of the source is that of slice 0. Rows of a slice that are
    // read begin `front` in front of its own.
    int64_t shift = i - before;
    int64_t from = std::max<int64_t>(0, -first.front - shift * chunk);
    int64_t to = std::min(chunk, first.reach - first.front - shift * chunk);
    if (from >= to)
      continue;
    for (int64_t cluster = 0; cluster < clusters; ++cluster) {
      int64_t at = cluster * cut.sliceUnits;
      int64_t end = std::min(at + cut.sliceUnits, used);
      int64_t low = std::max(at, -shift), high = std::min(end, whole - shift);
      if (low < high)
        copy(emitter, source, buffer,
             {i, cluster, low - at, high - low, low + shift, from, to});
      int64_t last = whole - shift;
      if (rest > from && at <= last && last < end)
        copy(emitter, source, buffer,
             {i, cluster, last - at, 1, whole, from, std::min(to, rest)});
    }
  }
  return visa::ReshapeOp::create(
      emitter.builder, emitter.loc,
      emitter.dmType(elementType, place,
                     joinTerms(concat({outer, {getCells()}, inner}))),
      buffer);
}
