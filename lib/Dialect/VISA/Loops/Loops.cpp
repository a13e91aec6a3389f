//===- Loops.cpp - Sequencer loops in bytes -------------------------------===//
//
// The algebra gives entries in elements; what is left is to split them into
// accesses, to cut them at the borders that a unit cares about, and to check
// what a sequencer holds.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/VISA/Loops/Loops.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace furiosa;
using namespace furiosa::loops;
using mapping::Entry;
using mapping::Fault;
using mapping::Mapping;
using mapping::Result;
using mapping::SequenceMode;
namespace machine = furiosa::rngd::machine;

static Fault notYetSupported(llvm::StringRef rule, const llvm::Twine &message) {
  return {rule.str(), "not-yet-supported", message.str()};
}

std::optional<int64_t> loops::getBytes(int64_t elements, unsigned bits) {
  auto total = llvm::checkedMul<int64_t>(elements, bits);
  if (!total || *total % 8 != 0)
    return std::nullopt;
  return *total / 8;
}

/// The entries with strides in bytes.
static Result<LoopNest> toBytes(llvm::ArrayRef<Entry> entries, unsigned bits) {
  LoopNest nest;
  for (const Entry &entry : entries) {
    if (entry.size == 1)
      continue;
    auto stride = getBytes(entry.stride, bits);
    if (!stride)
      return notYetSupported("MM-5", "a stride of " +
                                         llvm::Twine(entry.stride) +
                                         " elements of " + llvm::Twine(bits) +
                                         " bits, which is no whole number of "
                                         "bytes");
    nest.push_back({entry.size, *stride});
  }
  return nest;
}

/// The offset behind the last byte of accesses of `access` bytes.
template <typename Range, typename GetStride>
static std::optional<int64_t> getEnd(const Range &nest, int64_t access,
                                     GetStride getStride) {
  std::optional<int64_t> end = access;
  for (const auto &loop : nest) {
    auto reach = llvm::checkedMul<int64_t>(loop.size - 1, getStride(loop));
    end = reach && end ? llvm::checkedAdd<int64_t>(*end, *reach) : std::nullopt;
  }
  return end;
}

/// MM-6, MM-7: what a sequencer holds.
template <typename Range>
static std::optional<Fault> checkLimits(const Range &nest) {
  if (nest.size() > machine::sequencerEntries)
    return notYetSupported("MM-6", "an order of access of " +
                                       llvm::Twine(nest.size()) +
                                       " loops, a sequencer has " +
                                       llvm::Twine(machine::sequencerEntries));
  for (const auto &loop : nest)
    if (loop.size > int64_t(machine::sequencerEntryLimit))
      return notYetSupported("MM-7",
                             "a loop of " + llvm::Twine(loop.size) +
                                 " steps, the limit is " +
                                 llvm::Twine(machine::sequencerEntryLimit));
  return std::nullopt;
}

static int64_t getStrideOf(const Loop &loop) { return loop.stride; }

//===----------------------------------------------------------------------===//
// Fetch
//===----------------------------------------------------------------------===//

std::optional<int64_t> FetchLoops::getEnd() const {
  auto end = ::getEnd(loops, read, getStrideOf);
  return end ? llvm::checkedAdd(*end, start) : std::nullopt;
}

/// The loops, wherever they reach.
static Result<FetchLoops> walkFetch(const Result<mapping::Sequence> &sequence,
                                    const FetchWidth &width) {
  if (!sequence)
    return sequence.fault();
  // The contiguous part of a packet: its innermost loop, or one element.
  llvm::SmallVector<Entry, 4> outer(sequence->packet);
  int64_t run = 1;
  if (!outer.empty() && outer.back().stride == 1)
    run = outer.pop_back_val().size;
  auto runBytes = getBytes(run, width.bits);
  if (!runBytes)
    return notYetSupported("MM-5", "a fetch of runs of " + llvm::Twine(run) +
                                       " elements of " +
                                       llvm::Twine(width.bits) +
                                       " bits, which are no whole bytes");

  FetchLoops result;
  int64_t widest =
      width.isSub ? machine::subFetchBytes : machine::mainFetchBytes;
  int64_t narrowest = width.isSub ? widest : 1;
  for (int64_t read = widest; read >= narrowest; read /= 2)
    if (*runBytes % read == 0 &&
        read * width.convertedBits <=
            int64_t(machine::mainFetchBytes) * width.bits) {
      result.read = read;
      break;
    }
  if (result.read == 0) {
    if (width.isSub && *runBytes % widest == 0)
      return notYetSupported(
          "TU-7", "a read of " + llvm::Twine(widest) +
                      " bytes in the sub context that grows to " +
                      llvm::Twine(widest * width.convertedBits / width.bits) +
                      " bytes, the limit is " +
                      llvm::Twine(machine::mainFetchBytes));
    return notYetSupported("MM-12",
                           "contiguous runs of " + llvm::Twine(*runBytes) +
                               " bytes in a packet; the sub context reads " +
                               llvm::Twine(widest) + " bytes at a time");
  }

  auto timeLoops = toBytes(sequence->time, width.bits);
  auto packetLoops = toBytes(outer, width.bits);
  if (!timeLoops || !packetLoops)
    return timeLoops ? packetLoops.fault() : timeLoops.fault();
  result.loops = std::move(*timeLoops);
  result.loops.append(packetLoops->begin(), packetLoops->end());
  if (*runBytes != result.read)
    result.loops.push_back({*runBytes / result.read, result.read});
  if (auto fault = checkLimits(result.loops))
    return *fault;
  return result;
}

/// What padding reads behind the end may be at most the rest of a packet: a
/// buffer has nothing to read beyond that.
static Result<FetchLoops> checkReach(Result<FetchLoops> result,
                                     const Mapping &memory,
                                     const Mapping &packet,
                                     const FetchWidth &width) {
  if (!result)
    return result;
  auto end = result->getEnd();
  auto memoryBytes = getBytes(memory.size(), width.bits);
  auto packetBytes = getBytes(packet.size(), width.convertedBits);
  if (!end || !memoryBytes || !packetBytes ||
      *end - (std::max(result->read, *packetBytes) - 1) > *memoryBytes)
    return notYetSupported(
        "MM-10", "a fetch whose padding reads more than a packet behind the "
                 "end of element \"" +
                     memory.str() + "\"; pad the tensor as the stream");
  return result;
}

Result<FetchLoops> loops::deriveFetchLoops(const Mapping &memory,
                                           const Mapping &time,
                                           const Mapping &packet,
                                           const FetchWidth &width) {
  return checkReach(
      walkFetch(mapping::sequence(memory, time, packet, SequenceMode::Read),
                width),
      memory, packet, width);
}

Result<FetchLoops> loops::deriveWindowLoops(
    const Mapping &memory, llvm::ArrayRef<mapping::Window> windows,
    const Mapping &time, const Mapping &packet, const FetchWidth &width) {
  auto windowed = mapping::sequenceWindows(memory, windows, time, packet);
  if (!windowed)
    return windowed.fault();
  auto start = getBytes(windowed->start, width.bits);
  if (!start)
    return notYetSupported("TU-80", "windows that begin inside a byte");
  auto result = walkFetch(std::move(windowed->sequence), width);
  if (result)
    result->start = *start;
  return checkReach(std::move(result), memory, packet, width);
}

/// Elements from one tensor of a pair to the other.
static std::optional<int64_t> getPairDistance(const Mapping &memory) {
  return llvm::checkedMul<int64_t>(memory.size(), 2);
}

Result<Mapping> loops::pairTensors(const Mapping &index,
                                   const Mapping &memory) {
  auto distance = getPairDistance(memory);
  if (!distance)
    return notYetSupported("TU-10", "tensors of more than 2^62 elements");
  auto far = mapping::pad(memory, *distance);
  return far ? mapping::pair(index, *far) : far;
}

Result<FetchLoops> loops::derivePairLoops(const Mapping &memory,
                                          const Mapping &index,
                                          const Mapping &time,
                                          const Mapping &packet,
                                          const FetchWidth &width) {
  auto both = pairTensors(index, memory);
  if (!both)
    return both.fault();
  auto result = walkFetch(
      mapping::sequence(*both, time, packet, SequenceMode::Read), width);
  if (!result)
    return result;
  auto distance = getPairDistance(memory);
  std::optional<Loop> between;
  if (distance)
    if (auto bytes = getBytes(*distance, width.bits))
      between = Loop{2, *bytes};
  Loop *loop =
      between ? llvm::find(result->loops, *between) : result->loops.end();
  if (loop == result->loops.end())
    return Fault{"TU-10", "pair",
                 "time \"" + time.str() +
                     "\" takes the tensors in another way "
                     "than one after the other; write axis " +
                     index.str() + " as it is"};
  loop->stride = 0;
  result->pairLoop = loop - result->loops.begin();
  return checkReach(std::move(result), memory, packet, width);
}

//===----------------------------------------------------------------------===//
// Contraction
//===----------------------------------------------------------------------===//

namespace {
/// A loop that counts time positions `low`, `2 * low`, … below `high`.
struct Digit {
  int64_t low, high, stride;
};
} // namespace

/// Places loops (outermost first) from position 1 upward; nothing where their
/// sizes do not multiply to `total`.
template <typename Range, typename GetStride>
static std::optional<llvm::SmallVector<Digit, 8>>
placeDigits(const Range &loops, int64_t total, GetStride getStride) {
  llvm::SmallVector<Digit, 8> digits;
  int64_t low = 1;
  for (const auto &loop : llvm::reverse(loops)) {
    auto high = llvm::checkedMul<int64_t>(low, loop.size);
    if (!high)
      return std::nullopt;
    digits.push_back({low, *high, getStride(loop)});
    low = *high;
  }
  if (low != total)
    return std::nullopt;
  return digits;
}

/// How far one step of position `low` moves.
static std::optional<int64_t> getStrideAt(llvm::ArrayRef<Digit> digits,
                                          int64_t low) {
  for (const Digit &digit : digits)
    if (digit.low <= low && low < digit.high)
      return llvm::checkedMul<int64_t>(digit.stride, low / digit.low);
  return 0;
}

/// The slot stride of each run: within the outermost sum, kept runs count
/// through the slots, innermost fastest.
static std::optional<llvm::SmallVector<int64_t>>
getSlotStrides(llvm::ArrayRef<TimeRun> runs, ContractionLoops &result) {
  llvm::SmallVector<int64_t> strides(runs.size(), 0);
  const TimeRun *outermost =
      llvm::find_if(runs, [](const TimeRun &run) { return !run.retained; });
  size_t first = outermost - runs.begin();
  for (size_t i = runs.size(); i-- > first;) {
    int64_t &total = runs[i].retained ? result.slots : result.count;
    if (runs[i].retained)
      strides[i] = total;
    auto next = llvm::checkedMul<int64_t>(total, runs[i].size);
    if (!next)
      return std::nullopt;
    total = *next;
  }
  return strides;
}

Result<ContractionLoops> loops::deriveContractionLoops(
    const Mapping &weight, const Mapping &time, const Mapping &packet,
    unsigned bits, int64_t timeBroadcast, llvm::ArrayRef<TimeRun> runs) {
  auto sequence = mapping::sequence(weight, time, packet, SequenceMode::Read);
  if (!sequence)
    return sequence.fault();

  // One read is a contiguous run; loops outside of it repeat the run.
  int64_t run = 1;
  llvm::SmallVector<Entry, 4> entries(sequence->packet);
  if (!entries.empty() && entries.back().stride == 1)
    run = entries.pop_back_val().size;
  if (llvm::any_of(entries, [](Entry entry) { return entry.stride != 0; }))
    return notYetSupported("TU-45", "packet \"" + packet.str() +
                                        "\", which is not one contiguous run "
                                        "of the weight's element \"" +
                                        weight.str() + "\"");
  auto read = getBytes(run, bits);
  if (!read || !llvm::isPowerOf2_64(*read) ||
      *read > int64_t(machine::macWindowBytes))
    return notYetSupported("TU-45", "a read of " + llvm::Twine(run) +
                                        " elements of " + llvm::Twine(bits) +
                                        " bits, expected a power of two of "
                                        "bytes up to " +
                                        llvm::Twine(machine::macWindowBytes));
  ContractionLoops result;
  result.read = *read;

  auto weightLoops = toBytes(sequence->time, bits);
  if (!weightLoops)
    return weightLoops.fault();
  auto slotStrides = getSlotStrides(runs, result);
  std::optional<llvm::SmallVector<Digit, 8>> weightDigits, slotDigits;
  if (slotStrides) {
    llvm::SmallVector<Loop> slotLoops;
    for (auto [timeRun, stride] : llvm::zip(runs, *slotStrides))
      slotLoops.push_back({timeRun.size, stride});
    weightDigits = placeDigits(*weightLoops, time.size(), getStrideOf);
    slotDigits = placeDigits(slotLoops, time.size(), getStrideOf);
  }
  if (!weightDigits || !slotDigits)
    return notYetSupported("TU-54", "time \"" + time.str() +
                                        "\", which is no product of loops");

  // Every border of either side is one of the result.
  llvm::SmallVector<int64_t> bounds = {1, timeBroadcast, time.size()};
  for (const auto &digits : {*weightDigits, *slotDigits})
    for (const Digit &digit : digits)
      bounds.push_back(digit.high);
  llvm::sort(bounds);
  bounds.erase(llvm::unique(bounds), bounds.end());
  for (size_t i = bounds.size() - 1; i > 0; --i) {
    int64_t low = bounds[i - 1], high = bounds[i];
    if (high % low != 0)
      return notYetSupported(
          "TU-54", "time \"" + time.str() +
                       "\", whose kept, summed and broadcast parts end inside "
                       "the loops over the weight's element \"" +
                       weight.str() + "\"");
    auto weightStride = getStrideAt(*weightDigits, low);
    auto slotStride = getStrideAt(*slotDigits, low);
    if (!weightStride || !slotStride)
      return notYetSupported("MM-7", "strides of more than 2^63 bytes");
    ContractionLoop loop = {high / low, *weightStride, *slotStride};
    if (!result.loops.empty() && high != timeBroadcast) {
      ContractionLoop &outer = result.loops.back();
      auto size = llvm::checkedMul<int64_t>(outer.size, loop.size);
      auto weightStep = llvm::checkedMul<int64_t>(loop.size, loop.weightStride);
      auto slotStep = llvm::checkedMul<int64_t>(loop.size, loop.slotStride);
      if (size && *size <= int64_t(machine::sequencerEntryLimit) &&
          weightStep == outer.weightStride && slotStep == outer.slotStride) {
        outer = {*size, loop.weightStride, loop.slotStride};
        continue;
      }
    }
    result.loops.push_back(loop);
  }
  int64_t position = 1;
  for (const ContractionLoop &loop : llvm::reverse(result.loops)) {
    if (position >= timeBroadcast)
      break;
    position *= loop.size;
    ++result.broadcast;
  }
  if (auto fault = checkLimits(result.loops))
    return *fault;
  if (result.count > int64_t(machine::sequencerEntryLimit))
    return notYetSupported("TU-51",
                           "a sum of " + llvm::Twine(result.count) +
                               " time steps, the accumulator counts to " +
                               llvm::Twine(machine::sequencerEntryLimit));
  auto end = getEnd(result.loops, result.read, [](const ContractionLoop &loop) {
    return loop.weightStride;
  });
  auto weightBytes = getBytes(weight.size(), bits);
  if (!end || !weightBytes || *end > *weightBytes)
    return notYetSupported("TU-45", "a read behind the end of the weight's "
                                    "element \"" +
                                        weight.str() +
                                        "\"; pad the weight as the stream");
  if (result.read == int64_t(machine::macWindowBytes))
    for (const ContractionLoop &loop : result.loops)
      if (loop.weightStride % int64_t(machine::macWindowBytes) != 0)
        return notYetSupported("TU-45", "a stride of " +
                                            llvm::Twine(loop.weightStride) +
                                            " bytes in the weight, reads of 64 "
                                            "bytes need multiples of 64");
  return result;
}

//===----------------------------------------------------------------------===//
// VRF and commit
//===----------------------------------------------------------------------===//

Result<LoopNest> loops::deriveVrfLoops(const Mapping &memory,
                                       const Mapping &time,
                                       const Mapping &packet, unsigned bits) {
  auto sequence = mapping::sequence(memory, time, packet, SequenceMode::Read);
  if (!sequence)
    return sequence.fault();
  llvm::SmallVector<Entry, 8> entries(sequence->time);
  entries.append(sequence->packet.begin(), sequence->packet.end());
  auto nest = toBytes(mapping::coalesce(entries), bits);
  if (!nest)
    return nest.fault();
  if (auto fault = checkLimits(*nest))
    return *fault;
  auto access = getBytes(1, bits);
  auto memoryBytes = getBytes(memory.size(), bits);
  auto end = access ? getEnd(*nest, *access, getStrideOf) : std::nullopt;
  if (!end || !memoryBytes || *end > *memoryBytes)
    return notYetSupported("VE-66", "an operand that is shorter than the "
                                    "padded stream");
  return nest;
}

Result<LoopNest> loops::deriveCommitLoops(const Mapping &memory,
                                          const Mapping &time,
                                          const Mapping &packet, unsigned bits,
                                          bool isSub) {
  auto sequence = mapping::sequence(memory, time, packet, SequenceMode::Write);
  if (!sequence)
    return sequence.fault();
  // One write covers a contiguous run: the whole packet, or 8 bytes of it in
  // the sub context.
  llvm::SmallVector<Entry, 8> entries(sequence->time);
  llvm::SmallVector<Entry, 4> outer(sequence->packet);
  int64_t run = 1;
  if (!outer.empty() && outer.back().stride == 1)
    run = outer.pop_back_val().size;
  entries.append(outer.begin(), outer.end());
  auto runBytes = getBytes(run, bits);
  int64_t granule = machine::dmWriteGranule;
  if (!runBytes || (isSub ? *runBytes % granule != 0 : run != packet.size()))
    return notYetSupported("MM-26", "packet \"" + packet.str() +
                                        "\", which is not one contiguous run "
                                        "of bytes in data memory");
  auto nest = toBytes(entries, bits);
  if (!nest)
    return nest.fault();
  int64_t write = isSub ? granule : *runBytes;
  if (*runBytes != write)
    nest->push_back({*runBytes / write, write});
  if (auto fault = checkLimits(*nest))
    return *fault;
  for (const Loop &loop : *nest)
    if (loop.stride % int64_t(machine::dmWriteGranule) != 0)
      return notYetSupported("MM-26", "a stride of " +
                                          llvm::Twine(loop.stride) +
                                          " bytes in data memory, which is no "
                                          "multiple of 8");
  auto end = getEnd(*nest, write, getStrideOf);
  auto memoryBytes = getBytes(memory.size(), bits);
  if (!end || !memoryBytes || *end > *memoryBytes)
    return notYetSupported("MM-26", "writes behind the end of element \"" +
                                        memory.str() + "\"");
  return nest;
}

/// Whether an index stands there that lies within all axes.
static bool isLive(const Mapping &mapping, int64_t position) {
  mapping::Cell cell = mapping.cellAt(position);
  return cell.kind == mapping::Cell::Kind::Index &&
         llvm::all_of(cell.index, [&](const auto &entry) {
           return entry.second < mapping.axes()[entry.first].size;
         });
}

bool loops::hasLivePosition(const Mapping &mapping) {
  return llvm::any_of(
      llvm::seq<int64_t>(0, mapping.size()),
      [&](int64_t position) { return isLive(mapping, position); });
}

llvm::SmallVector<int64_t> loops::getLiveRanges(const Mapping &mapping) {
  llvm::SmallVector<int64_t> ranges;
  for (int64_t position = 0; position < mapping.size(); ++position) {
    if (!isLive(mapping, position))
      continue;
    if (!ranges.empty() && ranges.back() == position - 1)
      ranges.back() = position;
    else
      ranges.append({position, position});
  }
  return ranges;
}
