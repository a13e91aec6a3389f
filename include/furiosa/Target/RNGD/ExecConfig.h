//===- ExecConfig.h - What one execution of the Tensor Unit does *- C++ -*-===//
//
// Register images of one exec as plain structs: every field is used, checked
// against the others, or required to be zero. The rules stand in docs/EDF.md.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_TARGET_RNGD_EXECCONFIG_H
#define FURIOSA_TARGET_RNGD_EXECCONFIG_H

#include "furiosa/Support/VectorOps.h"
#include "furiosa/Target/RNGD/Conversions.h"
#include "furiosa/Target/RNGD/Encodings.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace furiosa::rngd {

/// One hardware loop; the stride is added once per iteration.
struct HardwareLoop {
  /// 1 … 65,536.
  uint32_t limit = 1;
  /// Below 0 in a fetch only.
  int32_t stride = 0;
  friend bool operator==(const HardwareLoop &, const HardwareLoop &) = default;
};
/// The eight loops of a sequencer, innermost first; unused ones at the end have
/// limit 1 and stride 0.
using HardwareLoops = std::array<HardwareLoop, 8>;

/// Visits the addresses of a loop nest, innermost loop fastest.
class LoopCounter {
public:
  LoopCounter(uint64_t base, const HardwareLoops &loops)
      : loops(loops), position(base) {}

  uint64_t address() const { return position; }
  /// Goes to a step, counted from the first one.
  void seek(uint64_t step) {
    for (unsigned k = 0; k < 8; ++k) {
      position -= uint64_t(digits[k] * int64_t(loops[k].stride));
      digits[k] = static_cast<uint32_t>(step % loops[k].limit);
      position += uint64_t(digits[k] * int64_t(loops[k].stride));
      step /= loops[k].limit;
    }
  }
  /// Moves to the next step; after the last one to the first again.
  void next() {
    for (unsigned k = 0; k < 8; ++k) {
      if (++digits[k] < loops[k].limit) {
        position += uint64_t(int64_t(loops[k].stride));
        return;
      }
      digits[k] = 0;
      position -= uint64_t((loops[k].limit - 1) * int64_t(loops[k].stride));
    }
  }

private:
  HardwareLoops loops;
  std::array<uint32_t, 8> digits = {};
  uint64_t position;
};

/// A packet of a slice.
struct PacketSource {
  unsigned slice;
  uint64_t packet;
};

/// Exchange of packets between the slices of a cluster.
struct SwitchConfig {
  codes::Topology topology = codes::Topology::Forwarding;
  /// Parts of the slice number, outermost first, and of the packet number.
  unsigned slice2 = 1, slice1 = 1, slice0 = 1;
  uint32_t time0 = 1;
  /// Custom broadcast: for each slice the slices whose packets it gets, rising;
  /// as many for each. A PE that knows its own slices only has those.
  std::vector<uint8_t> senders;
  unsigned sendersPerSlice = 1;

  /// Whether slices that are set so exchange packets with one another.
  bool agrees(const SwitchConfig &other) const {
    return topology == other.topology && slice2 == other.slice2 &&
           slice1 == other.slice1 && slice0 == other.slice0 &&
           time0 == other.time0 && sendersPerSlice == other.sendersPerSlice;
  }
  unsigned slices() const { return slice2 * slice1 * slice0; }
  /// Packets that a slice gets for each one that it sends.
  unsigned copies() const;
  /// Where the `index`-th packet that `slice` gets comes from.
  PacketSource source(unsigned slice, uint64_t index) const;
};

/// Fetch engine, main or sub context, up to the collect engine.
struct FetchConfig {
  /// Byte address in the slice.
  uint32_t base = 0;
  HardwareLoops loops;
  /// Bytes that one step reads, and the bytes they are after the conversions.
  unsigned readBytes = 0;
  unsigned outBytes = 0;
  /// Null where there is none; `cast` may be a zero-point subtraction.
  const FetchConversion *lookup = nullptr;
  const FetchConversion *cast = nullptr;
  int8_t zeroPoint = 0;
  /// Steps of the loops.
  uint64_t reads = 0;
  /// Packets behind the adapter; each is padded to whole flits by collect.
  uint32_t packets = 0;
  uint32_t packetBytes = 0;
  uint32_t flitsPerPacket = 0;
  /// Without: every slice gets its own packets.
  std::optional<SwitchConfig> exchange;
  /// Flits behind collect.
  uint32_t flits = 0;

  bool subtractsZeroPoint() const {
    return cast && cast->stage == AdapterStage::ZeroPoint;
  }
};

/// Dot-product engine: feed buffer, TRF sequencer, reducers, lane folder.
struct DotProductConfig {
  /// I4, I8, F8E4M3, F8E5M2 or BF16: of both operands. Integers are multiplied
  /// with a fifth or ninth bit, which repeats the sign unless a zero point was
  /// subtracted.
  ElementType type = ElementType::I8;
  /// Flits of 32 bytes that form an input packet: 1 or 2.
  unsigned flitsPerInput = 1;
  /// Loops of the TRF sequencer: one step is one multiply-accumulate.
  HardwareLoops weights;
  /// The same loops with strides in accumulator slots.
  HardwareLoops slotLoops;
  /// Byte address in the lane.
  uint32_t weightBase = 0;
  /// Bytes a step reads in each lane; repeated to fill the input packet.
  unsigned weightBytes = 0;
  /// 1, 2, 4 or 8.
  unsigned lanes = 1;
  /// Levels of the tree, and the columns it leaves.
  unsigned depth = 0;
  unsigned columns = 1;
  /// Inner loops that reuse one input packet.
  unsigned broadcastLoops = 0;
  uint64_t steps = 0;
  uint64_t stepsPerInput = 1;
  uint64_t inputs = 0;
  /// Accumulator slots, and additions after which one is emitted.
  unsigned slots = 1;
  uint32_t accumulations = 1;
  uint32_t initialValue = 0;
  /// Lane folder: interleaved (true) or sequential.
  bool interleaved = true;
  uint64_t flitsOut = 0;

  /// Elements of an input packet.
  unsigned packetElements() const {
    return flitsPerInput * 256 / wireBits(type);
  }
  /// Bytes of the TRF that a lane has.
  unsigned laneBytes() const { return 65536 / lanes; }
};

/// One operand slot of an ALU.
struct AluSlot {
  enum class Source { None, Immediate, Vrf, Stash };
  Source source = Source::None;
  vector::Guard guard;
  /// The immediate, and the second operand of a ternary operation.
  uint32_t value = 0;
  uint32_t secondary = 0;
};

/// One ALU of the vector engine in use.
struct AluConfig {
  const vector::Operation *operation = nullptr;
  /// Where the arguments come from: "01".
  llvm::StringRef mode;
  /// In match order; one without a source where the operation has no operand.
  llvm::SmallVector<AluSlot, 4> slots;
  /// VRF operand: the indexer, byte address, and loops that count elements of 4
  /// bytes.
  unsigned indexer = 0;
  uint32_t base = 0;
  HardwareLoops loops;

  bool reads(AluSlot::Source source) const {
    return !slots.empty() && slots.back().source == source;
  }
};

/// Reduction inside the slice.
struct ReduceConfig {
  const vector::Reduction *row = nullptr;
  /// The four elements of a packet fold to one.
  bool folds = false;
  /// Packets after which a slot is emitted.
  uint32_t count = 1;
  /// Over packets, strides in accumulator slots.
  HardwareLoops loops;
};

/// The valid count generator: a filter of flits, or a clip of their elements.
struct ValidConfig {
  bool isClip = false;
  /// Filter: a slice passes if `slice & mask` is below `match`; if it is above
  /// and `isMajor`, it does not; else by the index.
  uint32_t mask = 0, match = 0;
  bool isMajor = false;
  /// The index must lie below it; clip: the elements that are left.
  uint32_t count = 0;
  /// Clip: most elements of a flit.
  uint32_t span = 8;
  /// Over flits; they make the index.
  HardwareLoops loops;
};

/// Reduction over groups of neighbouring slices.
struct SliceReduceConfig {
  const vector::Reduction *row = nullptr;
  /// A power of two, at most those of a cluster.
  unsigned slices = 1;
  /// A slice keeps the flits whose index is its position on these bits.
  unsigned mask = 0;
  /// Over flits; they make the index.
  HardwareLoops loops;
  /// In front of the arithmetic unit, or behind it.
  bool isFirst = true;
};

/// One step of the stream through the arithmetic unit.
struct VectorStep {
  enum class Kind {
    Alu,
    FxpToFp,
    Split,
    Trim,
    Reduce,
    Concat,
    Pad,
    FpToFxp,
  };
  Kind kind = Kind::Alu;
  /// Of Alu.
  AluConfig alu;
  /// Integer width of FxpToFp and FpToFxp.
  unsigned width = 31;
  ReduceConfig reduce;
};

/// How execution ids are made.
struct TagConfig {
  codes::BranchMode mode = codes::BranchMode::Zero;
  /// Compare: bit i by comparison i.
  ElementType type = ElementType::I32;
  std::array<vector::Comparison, 4> comparisons = {};
  std::array<uint32_t, 4> boundaries = {};
  /// AxisToggle: flits of a group's turn.
  unsigned groupFlits = 0;
};

/// Where the stream is kept for a later ALU.
struct StashConfig {
  /// Behind this many steps.
  unsigned position = 0;
  vector::Guard guard;
  /// How many of a flit are kept and are read: the lower half where trim cuts
  /// the upper one off, and where pad has filled it up.
  unsigned kept = machine::vectorWideElements;
  unsigned read = machine::vectorWideElements;
};

struct VectorConfig {
  std::optional<ValidConfig> valid;
  TagConfig tag;
  /// In the order in which the stream passes.
  llvm::SmallVector<VectorStep, 8> chain;
  std::optional<StashConfig> stash;
  std::optional<SliceReduceConfig> sliceReduce;
  /// Elements that pass on at the end.
  std::optional<vector::Guard> compaction;
  codes::CastCompactionMode cast = codes::CastCompactionMode::Off;
  uint64_t flitsOut = 0;
};

/// Transpose engine.
struct TransposeConfig {
  unsigned bits = 32;
  /// Rows of a batch, flits of a row, and flits that leave for a batch.
  unsigned rows = 1;
  unsigned flitsPerRow = 1;
  unsigned outRows = 1;
};

/// Commit unit, main or sub context.
struct CommitConfig {
  /// Byte address in the slice.
  uint32_t base = 0;
  HardwareLoops loops;
  codes::CommitCast cast = codes::CommitCast::None;
  /// Bytes of each flit that are kept, and bytes of one write.
  unsigned keptBytes = 32;
  unsigned writeBytes = 32;
  /// Writes; in the sub context `keptBytes / writeBytes` a flit.
  uint64_t steps = 0;
  /// Bit s of the 256 is slice s of the cluster.
  std::array<uint64_t, 4> sliceEnable = {};

  bool isEnabled(unsigned slice) const {
    return sliceEnable[slice / 64] >> (slice % 64) & 1;
  }
};

struct TrfWriteConfig {
  unsigned lanes = 1;
  /// In rows of 32 bytes of a lane.
  uint32_t rowBase = 0;
  uint32_t rowsPerLane = 0;
};

struct VrfWriteConfig {
  /// In rows of 32 bytes.
  uint32_t rowBase = 0;
  uint32_t rows = 0;
};

/// One execution of the Tensor Unit. The stream goes through the parts that are
/// present, in the order of the members.
struct ExecConfig {
  codes::ExecTarget context = codes::ExecTarget::Main;
  /// Mask of `codes::RouteUnit`.
  uint64_t route = 0;
  FetchConfig fetch;
  std::optional<DotProductConfig> contraction;
  std::optional<VectorConfig> vector;
  std::optional<TransposeConfig> transpose;
  std::optional<CommitConfig> commit;
  std::optional<TrfWriteConfig> trf;
  std::optional<VrfWriteConfig> vrf;

  /// Flits that leave the last of fetch, contraction and vector engine.
  uint64_t flitsOut() const {
    if (vector)
      return vector->flitsOut;
    return contraction ? contraction->flitsOut : fetch.flits;
  }
};

/// The blocks of a route in the order of their addresses.
llvm::SmallVector<Block, 8> blocksOnRoute(uint64_t route,
                                          codes::ExecTarget context);

/// Whether both contexts use a block, one at a time: the vector engine has one
/// set of registers (*assumed*; the names speak of the main context alone).
bool isShared(Block block);

/// Block of the route register of a context.
Block routeBlock(codes::ExecTarget context);

/// Reads the images that `image` gives for the blocks on the route (null: never
/// written). An error names block, register and field:
/// "FetchUnitMainContext.fetch.flit_count: …".
///
/// Where the fetch block was written slice by slice, `bySlice` has its images.
llvm::Expected<ExecConfig>
decodeExec(const TucCommand &exec,
           llvm::function_ref<const SfrImage *(Block)> image,
           llvm::ArrayRef<const SfrImage *> bySlice = {});

/// What a `stotrf`, `stovrf` or `stos` does: the exec of the sub context that it stands
/// for. An error names command and field, or block, register and field.
llvm::Expected<ExecConfig> decodeShortStore(const TucCommand &command);
/// The command, without its general registers, that stands for an exec; nothing
/// where there is none: it reads other than words in a row, exchanges them, or
/// takes another route.
std::optional<TucCommand> encodeShortStore(const ExecConfig &config);

/// What an `itos` fills: bytes [begin, end) of the data memory of each slice of
/// the PE, with a pattern of 32 bits that starts at `begin` (assumed).
struct FillConfig {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t pattern = 0;
};
llvm::Expected<FillConfig> decodeFill(const TucCommand &itos);

} // namespace furiosa::rngd

#endif // FURIOSA_TARGET_RNGD_EXECCONFIG_H
