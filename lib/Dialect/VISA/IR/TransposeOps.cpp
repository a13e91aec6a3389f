//===- TransposeOps.cpp - Rules of the transpose engine -------------------===//

#include "OpFormat.h"
#include "StageHelpers.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;
using mapping::Mapping;

#define GET_OP_CLASSES
#include "furiosa/Dialect/VISA/IR/TransposeOps.cpp.inc"

void VISADialect::registerTransposeOps() {
  addOperations<
#define GET_OP_LIST
#include "furiosa/Dialect/VISA/IR/TransposeOps.cpp.inc"
      >();
}

/// Whether all cells of a flit behind the first `cells` are padding.
static bool isPaddedBehind(const Mapping &flit, int64_t cells) {
  auto kept = mapping::resize(flit, std::min(cells, flit.size()));
  auto padded = kept ? mapping::pad(*kept, flit.size()) : kept;
  return padded && mapping::same(*padded, flit);
}

namespace {
/// One way to read time as batches of rows.
struct Shape {
  int64_t rows = 1, flits = 1;
  Mapping batch, rowAxes;
  /// The cells of a row: its flits with what they hold.
  Mapping columns;
};
} // namespace

/// Time as `batch, rows, flits of a row`.
static mapping::Result<Shape> cut(const Layout &layout, int64_t rows,
                                  int64_t flits, int64_t cells) {
  auto outer = mapping::split(layout.time, flits);
  if (!outer)
    return outer.fault();
  auto inner = mapping::split(outer->first, rows);
  if (!inner)
    return inner.fault();
  auto kept = mapping::resize(layout.packet, cells);
  auto columns = kept ? mapping::pair(outer->second, *kept) : kept;
  if (!columns)
    return columns.fault();
  return Shape{rows, flits, inner->first, inner->second, *columns};
}

void TransposeOp::check(StageChecker &checker, Layout &layout) {
  checker.enter(layout, Point::Transpose);
  auto time = checker.parse("time", getTimeAttr());
  auto packet = checker.parse("packet", getPacketAttr());
  layout.unknown = true; // Until there is a shape to go on with.
  if (layout.type == ElementType::I5 || layout.type == ElementType::I9) {
    checker.fault("TU-65") << "the transpose engine takes elements of 4, 8, 16 "
                              "and 32 bits, found "
                           << furiosa::toString(layout.type);
    return;
  }
  if (!time || !packet)
    return;
  const int64_t flit = elementsPerFlit(layout.type);
  const unsigned bits = wireBits(layout.type);
  const int64_t cells = rngd::transposeCells(bits);
  const int64_t maxRows = rngd::machine::transposeRowBits / bits;
  for (auto [what, mapping] : {std::pair("the stream's packet", &layout.packet),
                               std::pair("packet", &*packet)})
    if (mapping->size() != flit) {
      checker.fault("TU-66", "packet")
          << what << " \"" << mapping->str() << "\" has " << mapping->size()
          << " elements, a flit holds " << flit << " of "
          << furiosa::toString(layout.type);
      return;
    }
  if (!isPaddedBehind(layout.packet, cells)) {
    checker.fault("TU-67", "packet")
        << "the stream's packet \"" << layout.packet.str() << "\" has data "
        << "behind its first " << cells << " cells, which are all that the "
        << "engine takes; collect narrower packets, padded to " << flit;
    return;
  }
  if (!isPaddedBehind(*packet, maxRows)) {
    checker.fault("TU-68", "packet")
        << "packet \"" << packet->str() << "\" has data behind its first "
        << maxRows << " cells, one for each row of "
        << furiosa::toString(layout.type);
    return;
  }

  // The rows are those that the packet shows; what leaves is a batch of the
  // first columns.
  std::optional<Shape> rowsFit;
  for (int64_t flits = 1;
       flits * cells <= int64_t(rngd::machine::transposeColumns); flits *= 2)
    for (int64_t rows = 1; rows <= maxRows; ++rows) {
      if (layout.time.size() % (rows * flits) != 0)
        continue;
      auto shape = cut(layout, rows, flits, cells);
      auto expected = shape ? mapping::pad(shape->rowAxes, flit)
                            : mapping::Result<Mapping>(shape.fault());
      if (!expected || !mapping::same(*expected, *packet))
        continue;
      if (!rowsFit)
        rowsFit = *shape;
      int64_t batches = shape->batch.size();
      if (time->size() % batches != 0)
        continue;
      int64_t out = time->size() / batches;
      auto parts = mapping::split(*time, out);
      if (!parts || !mapping::same(parts->first, shape->batch))
        continue;
      auto prefix = mapping::isResizeOf(parts->second, shape->columns);
      if (!prefix || !*prefix)
        continue;
      layout.transposeRows = rows;
      layout.transposeFlits = flits;
      layout.transposeOut = out;
      layout.time = *time;
      layout.packet = *packet;
      layout.unknown = false;
      return;
    }
  if (!rowsFit) {
    checker.fault("TU-70", "packet")
        << "the rows of packet \"" << packet->str()
        << "\" are not found in time \"" << layout.time.str()
        << "\": they are its innermost axes, or stand outside of 2 or 4 flits "
           "of one row";
    return;
  }
  auto expected = mapping::pair(rowsFit->batch, rowsFit->columns);
  if (!expected)
    checker.report(expected.fault(), "time", "TU-69");
  else
    checker.mismatch("TU-69", "time",
                     "time is not the batches with at most the " +
                         Twine(rowsFit->columns.size()) + " columns of a row",
                     *time, *expected);
  layout.time = expected ? *expected : *time;
  layout.packet = *packet;
  layout.unknown = false;
}
