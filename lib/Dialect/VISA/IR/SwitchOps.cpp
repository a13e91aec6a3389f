//===- SwitchOps.cpp - Rules of the switch engine -------------------------===//
//
// The named configurations move parts of the slices and of time as a whole; the
// custom one is derived from the mappings.
//
//===----------------------------------------------------------------------===//

#include "OpFormat.h"
#include "StageHelpers.h"

#include "mlir/IR/Builders.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;
using mapping::Mapping;

#define GET_OP_CLASSES
#include "furiosa/Dialect/VISA/IR/SwitchOps.cpp.inc"

void VISADialect::registerSwitchOps() {
  addOperations<
#define GET_OP_LIST
#include "furiosa/Dialect/VISA/IR/SwitchOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Configurations
//===----------------------------------------------------------------------===//

namespace {
/// Parts that slices and time are cut into and put together from.
enum class Part : uint8_t { Slice2, Slice1, Slice0, Time2, Time1, Time0 };

/// One row of the table of configurations. A tile stands for new cells, as
/// many as the parts it replaces.
struct SwitchRule {
  SwitchConfig config;
  unsigned numParams;
  /// Parts of the new slices around the tile.
  SmallVector<Part, 3> outer, tile, inner;
  SmallVector<Part, 5> time;
};
} // namespace

/// Section 5 of the Tensor Unit path, by configuration.
static const SwitchRule &getRule(SwitchConfig config) {
  using enum Part;
  using enum SwitchConfig;
  static const SwitchRule rules[] = {
      {Forwarding, 0, {Slice2}, {}, {}, {Time2}},
      {Broadcast01,
       3,
       {Slice2},
       {Slice1, Slice0},
       {},
       {Time2, Slice1, Time0, Slice0}},
      {Broadcast1, 2, {Slice2}, {Slice1}, {Slice0}, {Time2, Slice1}},
      {SwitchConfig::Transpose, 2, {Slice2, Slice0, Slice1}, {}, {}, {Time2}},
      {InterTranspose,
       3,
       {Slice2, Time1, Slice0},
       {},
       {},
       {Time2, Time0, Slice1}},
      {TransposedBroadcast1, 2, {Slice2}, {Slice0}, {Slice1}, {Time2, Slice0}},
      {CustomBroadcast, 1, {}, {}, {}, {}},
  };
  return rules[static_cast<unsigned>(config)];
}

LogicalResult SwitchOp::verify() {
  unsigned expected = getRule(getConfig()).numParams;
  if (getParams().size() == expected)
    return success();
  return emitOpError() << stringifySwitchConfig(getConfig()) << " has "
                       << expected << " numbers, found " << getParams().size();
}

//===----------------------------------------------------------------------===//
// Digits
//===----------------------------------------------------------------------===//

/// Whether a factor and one of `mapping` are parts of the same digits.
static bool overlaps(const mapping::Factor &factor, const Mapping &mapping) {
  auto canonical = mapping.canonical();
  if (!canonical || factor.axis < 0)
    return false;
  return llvm::any_of(canonical->factors, [&](const mapping::Factor &other) {
    return other.axis == factor.axis &&
           factor.stride < other.stride * other.extent &&
           other.stride < factor.stride * factor.extent;
  });
}

/// TU-19: the cells of a tile are new. False and a fault if not.
static bool checkTile(StageChecker &checker, const Mapping &tile,
                      const Layout &layout) {
  auto canonical = tile.canonical();
  if (!canonical)
    return true; // Nothing to compare; what is read of it is undefined.
  for (const mapping::Factor &factor : canonical->factors)
    for (auto [what, carried] :
         {std::pair("slices", &layout.slice), std::pair("time", &layout.time)})
      if (overlaps(factor, *carried)) {
        checker.fault("TU-19", "slice")
            << "the tile \"" << tile.str() << "\" is carried by the stream's "
            << what << " \"" << carried->str() << "\" already; broadcast over "
            << "a new axis, or \"1 # " << tile.size() << "\"";
        return false;
      }
  return true;
}

/// The parts one after the other.
static mapping::Result<Mapping> join(ArrayRef<Part> parts,
                                     ArrayRef<Mapping> mappings) {
  mapping::Result<Mapping> joined = Mapping();
  for (Part part : parts) {
    joined = mapping::pair(*joined, mappings[unsigned(part)]);
    if (!joined)
      break;
  }
  return joined;
}

//===----------------------------------------------------------------------===//
// Named configurations
//===----------------------------------------------------------------------===//

/// Checks the numbers of a named configuration and cuts slices and time.
static std::optional<SmallVector<Mapping, 6>>
cutStream(SwitchOp op, StageChecker &checker, Layout &layout) {
  ArrayRef<int64_t> params = op.getParams();
  SwitchShape &shape = layout.switched;
  shape = SwitchShape();
  static constexpr StringLiteral names[] = {"slice1", "slice0", "time0"};
  for (auto [name, value] : llvm::zip(names, params))
    if (value < 1) {
      checker.fault("TU-12")
          << name << " is " << value << ", expected at least 1";
      return std::nullopt;
    }
  if (params.size() > 1) {
    shape.slice1 = params[0];
    shape.slice0 = params[1];
  }
  if (params.size() > 2)
    shape.time0 = params[2];
  for (auto [name, value] :
       {std::pair("slice1", shape.slice1), std::pair("slice0", shape.slice0)})
    if (!llvm::isPowerOf2_64(value)) {
      checker.fault("TU-13")
          << name << " is " << value << ", expected a power of two";
      return std::nullopt;
    }
  int64_t slices = layout.slice.size();
  auto inner = llvm::checkedMul(shape.slice1, shape.slice0);
  if (!inner || slices % *inner != 0) {
    checker.fault("TU-14") << "slice1 " << shape.slice1 << " times slice0 "
                           << shape.slice0 << " does not divide the " << slices
                           << " slices";
    return std::nullopt;
  }
  shape.slice2 = slices / *inner;
  if (!llvm::isPowerOf2_64(shape.slice2)) {
    checker.fault("TU-13") << "slice2 is " << shape.slice2
                           << ", expected a power of two";
    return std::nullopt;
  }
  if (shape.time0 > int64_t(UINT16_MAX)) {
    checker.notYetSupported()
        << "a time0 of " << shape.time0 << ", its field holds " << UINT16_MAX;
    return std::nullopt;
  }
  // InterTranspose takes slice1 steps out of time (TU-18).
  int64_t time1 =
      op.getConfig() == SwitchConfig::InterTranspose ? shape.slice1 : 1;
  auto innerTime = llvm::checkedMul(time1, shape.time0);
  if (!innerTime || layout.time.size() % *innerTime != 0) {
    checker.fault("TU-15") << (time1 == 1 ? "time0 " : "slice1 times time0, ")
                           << (innerTime ? *innerTime : shape.time0)
                           << (time1 == 1 ? " does" : ", do")
                           << " not divide the " << layout.time.size()
                           << " steps of time \"" << layout.time.str() << "\"";
    return std::nullopt;
  }
  auto cut = [&](const Mapping &whole, int64_t middle, int64_t innermost,
                 SmallVectorImpl<Mapping> &parts) {
    auto outer = mapping::split(whole, middle * innermost);
    auto inner = outer ? mapping::split(outer->second, innermost) : outer;
    if (!inner) {
      checker.report(inner.fault(), {}, "TU-16");
      return false;
    }
    parts.append({outer->first, inner->first, inner->second});
    return true;
  };
  SmallVector<Mapping, 6> parts;
  if (!cut(layout.slice, shape.slice1, shape.slice0, parts) ||
      !cut(layout.time, time1, shape.time0, parts))
    return std::nullopt;
  return parts;
}

static void checkNamed(SwitchOp op, StageChecker &checker, Layout &layout,
                       const Mapping &slice, const Mapping &time) {
  auto parts = cutStream(op, checker, layout);
  if (!parts) {
    layout.unknown = true;
    return;
  }
  const SwitchRule &rule = getRule(op.getConfig());
  // The user's tile, where the new slices can be cut.
  auto sizeOf = [&](ArrayRef<Part> list) {
    int64_t size = 1;
    for (Part part : list)
      size *= (*parts)[unsigned(part)].size();
    return size;
  };
  int64_t tileSize = sizeOf(rule.tile), innerSize = sizeOf(rule.inner);
  Mapping tile;
  if (tileSize > 1) {
    auto outer = mapping::split(slice, innerSize);
    auto cut = outer ? mapping::modulo(outer->first, tileSize)
                     : mapping::Result<Mapping>(outer.fault());
    if (!cut) {
      checker.report(cut.fault(), "slice", "TU-16");
      layout.unknown = true;
      return;
    }
    tile = *cut;
  }
  auto expectedSlice = join(rule.outer, *parts);
  auto inner = join(rule.inner, *parts);
  if (expectedSlice)
    expectedSlice = mapping::pair(*expectedSlice, tile);
  if (expectedSlice && inner)
    expectedSlice = mapping::pair(*expectedSlice, *inner);
  auto expectedTime = join(rule.time, *parts);
  if (!expectedSlice || !inner || !expectedTime) {
    layout.unknown = true;
    checker.report(!expectedSlice ? expectedSlice.fault()
                   : !inner       ? inner.fault()
                                  : expectedTime.fault(),
                   {}, "TU-16");
    return;
  }
  bool fits = mapping::same(slice, *expectedSlice);
  // A grid of another size is no rewrite.
  if (!fits && expectedSlice->size() != layout.slice.size())
    checker.fault("TU-16", "slice")
        << "the new slices are not those of "
        << stringifySwitchConfig(op.getConfig()) << ": \"" << slice.str()
        << "\" leads to \"" << expectedSlice->str() << "\", which has "
        << expectedSlice->size() << " positions instead of "
        << layout.slice.size() << "; keep the size of each part of \""
        << layout.slice.str() << "\", or use custom_broadcast";
  else if (!fits)
    checker.mismatch("TU-16", "slice",
                     "the new slices are not those of " +
                         stringifySwitchConfig(op.getConfig()),
                     slice, *expectedSlice);
  else if (tileSize > 1)
    checkTile(checker, tile, layout);
  if (!mapping::same(time, *expectedTime))
    checker.mismatch(
        op.getConfig() == SwitchConfig::Transpose ? "TU-17" : "TU-16", "time",
        "time is not that of " + stringifySwitchConfig(op.getConfig()), time,
        *expectedTime);
  layout.slice = fits ? slice : *expectedSlice;
  layout.time = mapping::same(time, *expectedTime) ? time : *expectedTime;
}

//===----------------------------------------------------------------------===//
// Custom broadcast
//===----------------------------------------------------------------------===//

/// TU-26: the slices stand in rings as long as the part of them that changes.
static int64_t getRingSize(const Mapping &before, const Mapping &after) {
  int64_t ring = before.size();
  for (; ring > 1; ring /= 2) {
    auto digit = [&](const Mapping &mapping) {
      auto outer = mapping::divide(mapping, ring / 2);
      return outer ? mapping::modulo(*outer, 2) : outer;
    };
    auto from = digit(before), to = digit(after);
    if (!from || !to || !mapping::same(*from, *to))
      break;
  }
  return ring;
}

/// TU-21: zeros and cells that must not be written stay where they are; the
/// cells of a named tile are all live.
static bool checkHoles(StageChecker &checker, const Layout &layout,
                       const Mapping &slice, ArrayRef<mapping::Factor> tiles) {
  for (const mapping::Factor &tile : tiles)
    if (tile.live != tile.extent) {
      checker.fault("TU-21", "slice")
          << "the tile of axis " << slice.axes()[tile.axis].name
          << " has padding of its own; give it " << tile.live
          << " cells, or write padding alone";
      return false;
    }
  auto before = layout.slice.canonical(), after = slice.canonical();
  if (!before || !after)
    return true;
  for (const mapping::Factor &factor : before->factors) {
    bool isFixed = llvm::any_of(factor.runs, [](const mapping::PadRun &run) {
      return run.kind != mapping::Pad::Top;
    });
    if (isFixed && !llvm::is_contained(after->factors, factor)) {
      checker.fault("TU-21", "slice")
          << "padding of the stream's slices \"" << layout.slice.str()
          << "\" that reads zero or must not be written is taken for a tile; "
             "only \"# n\" padding may be";
      return false;
    }
  }
  return true;
}

static void checkCustom(SwitchOp op, StageChecker &checker, Layout &layout,
                        const Mapping &slice, const Mapping &time) {
  layout.unknown = true; // Until all is well.
  SwitchShape shape;
  // TU-23: the packets of the stream stay in order; each is followed by those
  // of the other slices.
  int64_t steps = layout.time.size();
  if (time.size() % steps != 0) {
    checker.fault("TU-23", "time")
        << "time \"" << time.str() << "\" of " << time.size()
        << " steps does not begin with the " << steps
        << " steps of the stream, \"" << layout.time.str() << "\"";
    return;
  }
  auto parts = mapping::split(time, time.size() / steps);
  if (!parts || !mapping::same(parts->first, layout.time)) {
    auto expected = parts ? mapping::pair(layout.time, parts->second)
                          : mapping::Result<Mapping>(parts.fault());
    checker.mismatch("TU-23", "time",
                     "the outer part of time is not that of the stream", time,
                     expected ? *expected : layout.time);
    return;
  }
  const Mapping &moved = parts->second;
  auto sequence = mapping::sequence(layout.slice, slice, moved,
                                    mapping::SequenceMode::Read);
  if (!sequence) {
    checker.report(sequence.fault(), "slice", "TU-25");
    return;
  }
  SmallVector<mapping::Factor> tiles;
  for (const mapping::SequenceTerm &term : sequence->terms) {
    if (term.source != mapping::TermSource::Broadcast || term.axis < 0 ||
        term.entry.size == 1)
      continue;
    mapping::Factor factor;
    factor.axis = term.axis;
    factor.stride = term.axisStride;
    factor.extent = term.entry.size;
    factor.live = term.live;
    StringRef axis = slice.axes()[term.axis].name;
    if (term.inPacket) {
      checker.fault("TU-23", "time")
          << "axis " << axis << " of time comes neither from the stream's time "
          << "nor from its slices \"" << layout.slice.str() << "\"";
      return;
    }
    if (overlaps(factor, layout.time)) {
      checker.fault("TU-22", "slice")
          << "axis " << axis << " of the new slices comes from time \""
          << layout.time.str() << "\"; slices hold axes of the stream's slices "
          << "\"" << layout.slice.str() << "\" and tiles";
      return;
    }
    for (const mapping::Factor &other : tiles)
      if (other.axis == factor.axis &&
          factor.stride < other.stride * other.extent &&
          other.stride < factor.stride * factor.extent) {
        checker.fault("TU-20", "slice")
            << "two tiles claim the same digit of axis " << axis;
        return;
      }
    tiles.push_back(factor);
  }
  if (!sequence->coversMemory) {
    checker.fault("TU-25", "slice")
        << "slices of the stream are read by no new slice: it has slice \""
        << layout.slice.str() << "\"; move what a tile replaces to the end of "
        << "time, whole";
    return;
  }
  for (size_t i = 1; i < sequence->packet.size(); ++i)
    if (sequence->packet[i].stride >= sequence->packet[i - 1].stride) {
      checker.fault("TU-24", "time")
          << "the axes \"" << moved.str() << "\" moved into time have strides "
          << sequence->packet[i - 1].stride << " and "
          << sequence->packet[i].stride << " in the stream's slices \""
          << layout.slice.str() << "\"; keep their order";
      return;
    }
  if (!checkHoles(checker, layout, slice, tiles))
    return;
  int64_t ring = getRingSize(layout.slice, slice);
  if (op.getParams()[0] != ring) {
    checker.fault("TU-26") << "a ring of " << op.getParams()[0]
                           << " slices, the mappings need " << ring
                           << "; write custom_broadcast [" << ring << "]";
    return;
  }
  shape.slices.append(sequence->time.begin(), sequence->time.end());
  shape.packets.append(sequence->packet.begin(), sequence->packet.end());
  layout.switched = std::move(shape);
  layout.slice = slice;
  layout.time = time;
  layout.unknown = false;
}

void SwitchOp::check(StageChecker &checker, Layout &layout) {
  checker.enter(layout, Point::Switch);
  auto slice = checker.parse("slice", getSliceAttr());
  auto time = checker.parse("time", getTimeAttr());
  auto bytes = layout.packetBytes();
  int64_t word = rngd::machine::accessWordBytes;
  if (bytes && *bytes % word != 0)
    checker.fault("TU-3") << "packet \"" << layout.packet.str() << "\" is "
                          << *bytes << " bytes, the switch moves words of "
                          << word << "; pad the fetch packet";
  if (!slice || !time) {
    layout.unknown = true;
    return;
  }
  if (slice->size() != layout.slice.size()) {
    checker.fault("TU-11", "slice")
        << "slice \"" << slice->str() << "\" has " << slice->size()
        << " positions, the stream has " << layout.slice.size();
    layout.unknown = true;
    return;
  }
  if (getConfig() == SwitchConfig::CustomBroadcast)
    checkCustom(*this, checker, layout, *slice, *time);
  else
    checkNamed(*this, checker, layout, *slice, *time);
}
