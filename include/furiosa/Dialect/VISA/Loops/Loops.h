//===- Loops.h - Sequencer loops in bytes -----------------------*- C++ -*-===//
//
// Derives the loops of fetch, TRF, VRF and commit sequencers from the mappings
// of a memory and a stream. Plain data, no IR; the kernel check and the
// lowering share it, so that whatever the check accepts can be lowered. Loops
// stand outermost first; loops of one step are dropped.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_VISA_LOOPS_LOOPS_H
#define FURIOSA_DIALECT_VISA_LOOPS_LOOPS_H

#include "furiosa/Dialect/TensorMapping/Algebra/Windows.h"

namespace furiosa::loops {

/// `size` steps that are `stride` bytes apart.
struct Loop {
  int64_t size;
  int64_t stride;
  bool operator==(const Loop &) const = default;
};

using LoopNest = llvm::SmallVector<Loop, 8>;

/// Bytes of `elements` elements of `bits` bits; nothing where they are not
/// whole or do not fit.
std::optional<int64_t> getBytes(int64_t elements, unsigned bits);

/// How wide a fetch may read.
struct FetchWidth {
  /// Bits of an element in memory, and behind the fetch adapter.
  unsigned bits = 8;
  unsigned convertedBits = 8;
  /// The sub context reads 8 bytes at a time.
  bool isSub = false;
};

struct FetchLoops {
  LoopNest loops;
  /// Bytes of one step.
  int64_t read = 0;
  /// Of two tensors: which loop goes from one to the other. Its stride is 0.
  size_t pairLoop = 0;
  /// Bytes in front of the first one that is read.
  int64_t start = 0;

  /// One past the last byte that is read, from the start of the tensor on;
  /// nothing beyond 2^63.
  std::optional<int64_t> getEnd() const;
};

/// Two tensors of one mapping as one: `index` of 2 outermost, so far apart that
/// its loop is no part of another one.
mapping::Result<mapping::Mapping> pairTensors(const mapping::Mapping &index,
                                              const mapping::Mapping &memory);

/// Loops of a fetch (MM-6, MM-7, MM-12, TU-7). Each step reads the widest
/// access that divides the contiguous part of a packet: 1 to 32 bytes that stay
/// within 32 bytes behind the adapter, or 8 bytes in the sub context. Loops of
/// time and of the packet are not merged with one another.
mapping::Result<FetchLoops> deriveFetchLoops(const mapping::Mapping &memory,
                                             const mapping::Mapping &time,
                                             const mapping::Mapping &packet,
                                             const FetchWidth &width);
/// Loops of a fetch that reads windows (TU-79, TU-80).
mapping::Result<FetchLoops>
deriveWindowLoops(const mapping::Mapping &memory,
                  llvm::ArrayRef<mapping::Window> windows,
                  const mapping::Mapping &time, const mapping::Mapping &packet,
                  const FetchWidth &width);
/// Loops of a fetch of two tensors that `index` tells apart (TU-10); the loops
/// but one are those over either.
mapping::Result<FetchLoops> derivePairLoops(const mapping::Mapping &memory,
                                            const mapping::Mapping &index,
                                            const mapping::Mapping &time,
                                            const mapping::Mapping &packet,
                                            const FetchWidth &width);

/// A run of time positions of a contraction, kept or summed.
struct TimeRun {
  int64_t size;
  bool retained;
};

/// A loop of multiplications.
struct ContractionLoop {
  int64_t size;
  /// Bytes in a lane of the weight.
  int64_t weightStride;
  /// Accumulator slots.
  int64_t slotStride;
  bool operator==(const ContractionLoop &) const = default;
};

struct ContractionLoops {
  llvm::SmallVector<ContractionLoop, 8> loops;
  /// Bytes that a step reads in each lane; repeated to fill the packet.
  int64_t read = 0;
  /// Inner loops that use the same packet of the stream again.
  int64_t broadcast = 0;
  /// Sums open at a time (InnerTime), and steps of each.
  int64_t slots = 1;
  int64_t count = 1;
};

/// Loops of the TRF sequencer and of the accumulator over the time of
/// contract_outer (TU-45, TU-51, TU-60). `runs` cut time, outermost first; the
/// innermost `timeBroadcast` steps use one packet. Loops are merged only where
/// weight and slot walk on, and never across the border of the broadcast.
mapping::Result<ContractionLoops>
deriveContractionLoops(const mapping::Mapping &weight,
                       const mapping::Mapping &time,
                       const mapping::Mapping &packet, unsigned bits,
                       int64_t timeBroadcast, llvm::ArrayRef<TimeRun> runs);

/// Loops over the elements of a VRF operand in stream order, time and packet
/// merged (VE-66).
mapping::Result<LoopNest> deriveVrfLoops(const mapping::Mapping &memory,
                                         const mapping::Mapping &time,
                                         const mapping::Mapping &packet,
                                         unsigned bits);

/// Loops of a commit (MM-23 … MM-26): a write takes a whole packet, or in the
/// sub context 8 bytes of it.
mapping::Result<LoopNest> deriveCommitLoops(const mapping::Mapping &memory,
                                            const mapping::Mapping &time,
                                            const mapping::Mapping &packet,
                                            unsigned bits, bool isSub = false);

/// Whether a position is live under the resolved reading.
bool hasLivePosition(const mapping::Mapping &mapping);

/// First and last of each run of live positions under the resolved reading, in
/// rising order: `[0, 3, 8, 11]`. Costs grow with the size of the mapping.
llvm::SmallVector<int64_t> getLiveRanges(const mapping::Mapping &mapping);

} // namespace furiosa::loops

#endif // FURIOSA_DIALECT_VISA_LOOPS_LOOPS_H
