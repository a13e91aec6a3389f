//===- LoopsTest.cpp - Sequencer loops against enumeration
//-----------------===//
//
// Draws random layouts as lists of axis digits, computes every address with
// mixed-radix arithmetic on the digits, and holds the derived loops against it.
// The seed is printed; FURIOSA_SEED and FURIOSA_CASES set seed and number of
// layouts.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/VISA/Loops/Loops.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>

using namespace furiosa;
using namespace furiosa::loops;
using mapping::Mapping;

namespace {

/// One digit of an axis, or a number that repeats, as it stands in a list.
struct Digit {
  std::string text;
  /// Which digit it is; -1 for a number.
  int id = -1;
  int64_t live = 1;
  int64_t extent = 1;
};

using Digits = std::vector<Digit>;

int64_t sizeOf(const Digits &digits) {
  int64_t size = 1;
  for (const Digit &digit : digits)
    size *= digit.extent;
  return size;
}

std::string spell(const Digits &digits) {
  std::string text;
  for (const Digit &digit : digits) {
    text += (text.empty() ? "" : ", ") + digit.text;
    if (digit.extent != digit.live)
      text += " # " + std::to_string(digit.extent);
  }
  return text.empty() ? "1" : text;
}

/// Values of the digits at a position, outermost first; none where one of them
/// is padding.
std::optional<std::vector<int64_t>> valuesAt(const Digits &digits,
                                             int64_t position) {
  std::vector<int64_t> values(digits.size());
  for (size_t i = digits.size(); i-- > 0;) {
    values[i] = position % digits[i].extent;
    position /= digits[i].extent;
    if (values[i] >= digits[i].live)
      return std::nullopt;
  }
  return values;
}

/// The element of `memory` that the digits of a stream name; digits that the
/// memory lacks do not count.
int64_t addressOf(const Digits &memory, const Digits &stream,
                  const std::vector<int64_t> &values) {
  int64_t address = 0;
  for (const Digit &digit : memory) {
    address *= digit.extent;
    for (size_t i = 0; i < stream.size(); ++i)
      if (stream[i].id == digit.id)
        address += values[i];
  }
  return address;
}

/// Offsets of all steps of a nest, outermost loop slowest.
template <typename Range, typename GetStride>
std::vector<int64_t> walkNest(const Range &nest, GetStride getStride) {
  std::vector<int64_t> offsets = {0};
  for (const auto &loop : nest) {
    std::vector<int64_t> next;
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < loop.size; ++i)
        next.push_back(offset + i * getStride(loop));
    offsets = std::move(next);
  }
  return offsets;
}

int64_t byteStride(const Loop &loop) { return loop.stride; }

class LoopsTest : public ::testing::Test {
protected:
  void SetUp() override {
    const char *seedText = std::getenv("FURIOSA_SEED");
    const char *casesText = std::getenv("FURIOSA_CASES");
    uint64_t seed =
        seedText ? std::strtoull(seedText, nullptr, 0) : std::random_device()();
    cases = casesText ? std::atoi(casesText) : 6000;
    random.seed(seed);
    std::cout << "FURIOSA_SEED=" << seed << " FURIOSA_CASES=" << cases << "\n";
  }

  int64_t pick(std::initializer_list<int64_t> list) {
    return list.begin()[random() % list.size()];
  }
  bool chance(int percent) { return int(random() % 100) < percent; }

  /// New axes A, B, C, cut into digits of which each occurs once.
  void drawAxes() {
    std::vector<mapping::Axis> list;
    all.clear();
    for (std::string name : {"A", "B", "C"}) {
      int64_t stride = 1;
      int64_t count = pick({1, 2, 2, 3});
      for (int64_t i = 0; i < count; ++i) {
        Digit digit;
        digit.live = digit.extent = pick({2, 2, 3, 4, 4, 8});
        digit.id = int(all.size());
        digit.text = name + (stride == 1 ? "" : " / " + std::to_string(stride));
        // The topmost digit ends with its axis.
        if (i + 1 != count)
          digit.text += " % " + std::to_string(digit.live);
        stride *= digit.live;
        all.push_back(digit);
      }
      list.push_back({name, stride});
    }
    axes = *mapping::Axes::get(list);
    std::shuffle(all.begin(), all.end(), random);
  }

  /// Takes `count` of the drawn digits, some of them padded.
  Digits take(size_t count, int padPercent) {
    Digits digits;
    while (digits.size() < count && !all.empty()) {
      digits.push_back(all.back());
      all.pop_back();
      if (chance(padPercent))
        digits.back().extent += pick({1, 2, 4});
    }
    return digits;
  }

  Mapping parse(const Digits &digits) {
    auto mapping = Mapping::parse(spell(digits), axes);
    EXPECT_TRUE(bool(mapping))
        << spell(digits) << ": " << (mapping ? "" : mapping.fault().message);
    return mapping ? *mapping : Mapping();
  }

  std::mt19937_64 random;
  int cases = 0;
  mapping::Axes axes;
  Digits all;
};

TEST_F(LoopsTest, FetchVisitsTheCellsOfTheStream) {
  int legal = 0;
  for (int n = 0; n < cases; ++n) {
    drawAxes();
    Digits memory = take(pick({1, 2, 3, 4}), 20);
    Digits stream = memory;
    for (Digit &digit : stream)
      if (!chance(50))
        digit.extent = digit.live;
    // Digits that the memory lacks, and plain numbers, are broadcast.
    Digits extra = take(pick({0, 0, 1, 2}), 10);
    stream.insert(stream.end(), extra.begin(), extra.end());
    if (chance(20))
      stream.push_back({"2", -1, 2, 2});
    if (chance(60))
      std::shuffle(stream.begin(), stream.end(), random);
    else
      std::rotate(stream.begin(), stream.begin() + memory.size(), stream.end());
    size_t split =
        stream.size() - std::min<size_t>(pick({1, 2, 2, 3}), stream.size());
    Digits time(stream.begin(), stream.begin() + split);
    Digits packet(stream.begin() + split, stream.end());
    FetchWidth width;
    width.bits = width.convertedBits = pick({4, 8, 16, 32});
    if (width.bits < 32 && chance(20))
      width.convertedBits = 32;
    width.isSub = chance(30);
    std::string what = "memory \"" + spell(memory) + "\" time \"" +
                       spell(time) + "\" packet \"" + spell(packet) + "\" " +
                       std::to_string(width.bits) + " to " +
                       std::to_string(width.convertedBits) + " bits" +
                       (width.isSub ? " sub" : "");
    int64_t elements = sizeOf(stream);
    if (elements > 20000 || sizeOf(packet) * width.convertedBits % 64 != 0)
      continue;
    auto derived =
        deriveFetchLoops(parse(memory), parse(time), parse(packet), width);
    if (!derived)
      continue;
    ++legal;
    // Widths: as wide as the hardware allows.
    ASSERT_LE(derived->read * width.convertedBits, 32 * int64_t(width.bits))
        << what;
    ASSERT_TRUE(llvm::is_contained({1, 2, 4, 8, 16, 32}, derived->read));
    ASSERT_LE(derived->loops.size(), 8u);
    if (width.isSub) {
      ASSERT_EQ(derived->read, 8) << what;
    }
    std::vector<int64_t> steps = walkNest(derived->loops, byteStride);
    ASSERT_EQ(int64_t(steps.size()) * derived->read * 8,
              elements * int64_t(width.bits))
        << what;
    for (int64_t position = 0; position < elements; ++position) {
      auto values = valuesAt(stream, position);
      if (!values)
        continue;
      int64_t streamBit = position * width.bits;
      int64_t step = streamBit / 8 / derived->read;
      int64_t bit =
          (steps[step] + streamBit / 8 % derived->read) * 8 + streamBit % 8;
      ASSERT_EQ(bit, addressOf(memory, stream, *values) * int64_t(width.bits))
          << what << " at " << position;
    }
  }
  std::cout << legal << " legal layouts\n";
  EXPECT_GT(legal, cases / 20);
}

TEST_F(LoopsTest, CommitWritesEachCellOnce) {
  int legal = 0;
  for (int n = 0; n < cases; ++n) {
    drawAxes();
    Digits memory = take(pick({1, 2, 3, 4, 5}), 25);
    unsigned bits = pick({4, 8, 16, 32});
    // The packet is what lies innermost; time comes in any order.
    size_t inner = std::min<size_t>(pick({1, 1, 2}), memory.size());
    Digits time(memory.begin(), memory.end() - inner);
    Digits packet(memory.end() - inner, memory.end());
    std::shuffle(time.begin(), time.end(), random);
    for (Digits *digits : {&time, &packet})
      for (Digit &digit : *digits)
        if (!chance(40))
          digit.extent = digit.live;
    int64_t write = sizeOf(packet) * bits / 8;
    if (sizeOf(packet) * bits % 64 != 0 || write > 32)
      continue;
    Digits stream = time;
    stream.insert(stream.end(), packet.begin(), packet.end());
    std::string what = "memory \"" + spell(memory) + "\" time \"" +
                       spell(time) + "\" packet \"" + spell(packet) + "\" " +
                       std::to_string(bits) + " bits";
    auto nest =
        deriveCommitLoops(parse(memory), parse(time), parse(packet), bits);
    if (!nest)
      continue;
    ++legal;
    std::vector<int64_t> steps = walkNest(*nest, byteStride);
    ASSERT_EQ(int64_t(steps.size()), sizeOf(time)) << what;
    std::vector<int> written(sizeOf(memory) * bits / 4, 0);
    for (int64_t position = 0; position < sizeOf(stream); ++position) {
      int64_t streamBit = position % sizeOf(packet) * bits;
      int64_t bit = steps[position / sizeOf(packet)] * 8 + streamBit;
      ASSERT_LT(bit / 4, int64_t(written.size())) << what;
      auto values = valuesAt(stream, position);
      auto cell = valuesAt(memory, bit / bits);
      // Padding of the stream lands on padding of the memory.
      ASSERT_EQ(values.has_value(), cell.has_value()) << what;
      if (!values)
        continue;
      ASSERT_EQ(bit, addressOf(memory, stream, *values) * int64_t(bits))
          << what << " at " << position;
      ASSERT_EQ(written[bit / 4]++, 0) << what;
    }
  }
  std::cout << legal << " legal layouts\n";
  EXPECT_GT(legal, cases / 20);
}

TEST_F(LoopsTest, ContractionStepsThroughWeightAndSlots) {
  int legal = 0;
  for (int n = 0; n < cases; ++n) {
    drawAxes();
    Digits weight = take(pick({1, 2, 3, 4}), 0);
    unsigned bits = pick({4, 8, 16});
    size_t inner = std::min<size_t>(pick({1, 2, 2, 3}), weight.size());
    Digits packet(weight.end() - inner, weight.end());
    Digits time(weight.begin(), weight.end() - inner);
    Digits extra = take(pick({0, 1, 2}), 20);
    time.insert(time.end(), extra.begin(), extra.end());
    std::shuffle(time.begin(), time.end(), random);
    if (chance(20)) {
      // A row that is repeated to fill the packet.
      packet.insert(packet.begin(), {"2", -1, 2, 2});
    }
    // Digits are kept or summed one by one; equal neighbours may be one run.
    std::vector<bool> kept;
    std::vector<TimeRun> runs;
    for (const Digit &digit : time) {
      kept.push_back(chance(50));
      if (!runs.empty() && runs.back().retained == kept.back() && chance(50))
        runs.back().size *= digit.extent;
      else
        runs.push_back({digit.extent, kept.back()});
    }
    int64_t timeBroadcast = 1;
    size_t inside = time.empty() ? 0 : random() % (time.size() + 1);
    for (size_t i = time.size() - inside; i < time.size(); ++i)
      timeBroadcast *= time[i].extent;
    std::string what = "weight \"" + spell(weight) + "\" time \"" +
                       spell(time) + "\" packet \"" + spell(packet) + "\" " +
                       std::to_string(bits) + " bits, broadcast " +
                       std::to_string(timeBroadcast);
    if (sizeOf(time) > 20000)
      continue;
    auto derived = deriveContractionLoops(
        parse(weight), parse(time), parse(packet), bits, timeBroadcast, runs);
    if (!derived)
      continue;
    ++legal;
    ASSERT_LE(derived->loops.size(), 8u) << what;
    std::vector<int64_t> addresses =
        walkNest(derived->loops,
                 [](const ContractionLoop &loop) { return loop.weightStride; });
    std::vector<int64_t> slots =
        walkNest(derived->loops,
                 [](const ContractionLoop &loop) { return loop.slotStride; });
    ASSERT_EQ(int64_t(addresses.size()), sizeOf(time)) << what;
    int64_t innerSteps = 1;
    for (int64_t i = 0; i < derived->broadcast; ++i)
      innerSteps *= derived->loops[derived->loops.size() - 1 - i].size;
    ASSERT_EQ(innerSteps, timeBroadcast) << what;

    // InnerTime: what is kept inside the outermost sum.
    size_t outermost =
        std::find(kept.begin(), kept.end(), false) - kept.begin();
    int64_t wantSlots = 1, wantCount = 1;
    for (size_t i = outermost; i < time.size(); ++i)
      (kept[i] ? wantSlots : wantCount) *= time[i].extent;
    ASSERT_EQ(derived->slots, wantSlots) << what;
    ASSERT_EQ(derived->count, wantCount) << what;

    Digits stream = time;
    stream.insert(stream.end(), packet.begin(), packet.end());
    for (int64_t step = 0; step < sizeOf(time); ++step) {
      int64_t slot = 0, rest = step;
      std::vector<int64_t> digits(time.size());
      for (size_t i = time.size(); i-- > 0;) {
        digits[i] = rest % time[i].extent;
        rest /= time[i].extent;
      }
      for (size_t i = outermost; i < time.size(); ++i)
        if (kept[i])
          slot = slot * time[i].extent + digits[i];
      ASSERT_EQ(slots[step], slot) << what << " at step " << step;
      for (int64_t k = 0; k < sizeOf(packet); ++k) {
        auto values = valuesAt(stream, step * sizeOf(packet) + k);
        if (!values)
          continue;
        int64_t bit =
            addresses[step] * 8 + k * int64_t(bits) % (derived->read * 8);
        ASSERT_EQ(bit, addressOf(weight, stream, *values) * int64_t(bits))
            << what << " at step " << step << " cell " << k;
      }
    }
  }
  std::cout << legal << " legal layouts\n";
  EXPECT_GT(legal, cases / 20);
}

TEST_F(LoopsTest, VrfOperandIsReadInStreamOrder) {
  int legal = 0;
  for (int n = 0; n < cases; ++n) {
    drawAxes();
    Digits memory = take(pick({0, 1, 2, 3}), 20);
    Digits stream = memory;
    for (Digit &digit : stream)
      if (!chance(50))
        digit.extent = digit.live;
    Digits extra = take(pick({0, 1, 2}), 10);
    stream.insert(stream.end(), extra.begin(), extra.end());
    std::shuffle(stream.begin(), stream.end(), random);
    size_t split = stream.empty() ? 0 : random() % stream.size();
    Digits time(stream.begin(), stream.begin() + split);
    Digits packet(stream.begin() + split, stream.end());
    std::string what = "memory \"" + spell(memory) + "\" time \"" +
                       spell(time) + "\" packet \"" + spell(packet) + "\"";
    if (sizeOf(stream) > 20000)
      continue;
    auto nest = deriveVrfLoops(parse(memory), parse(time), parse(packet), 32);
    if (!nest)
      continue;
    ++legal;
    std::vector<int64_t> steps = walkNest(*nest, byteStride);
    ASSERT_EQ(int64_t(steps.size()), sizeOf(stream)) << what;
    for (int64_t position = 0; position < sizeOf(stream); ++position)
      if (auto values = valuesAt(stream, position)) {
        ASSERT_EQ(steps[position], addressOf(memory, stream, *values) * 4)
            << what << " at " << position;
      }
  }
  std::cout << legal << " legal layouts\n";
  EXPECT_GT(legal, cases / 20);
}

// The loops of docs' examples, worked by hand.

mapping::Axes gemmAxes() {
  return *mapping::Axes::get({{"I", 512}, {"J", 512}, {"K", 64}});
}

Mapping over(const mapping::Axes &axes, llvm::StringRef text) {
  auto mapping = Mapping::parse(text, axes);
  EXPECT_TRUE(bool(mapping)) << text.str();
  return mapping ? *mapping : Mapping();
}

TEST(LoopsByHand, FetchOfAGemm) {
  auto axes = gemmAxes();
  auto main =
      deriveFetchLoops(over(axes, "I % 32, K"), over(axes, "I % 32, J / 8 % 4"),
                       over(axes, "K"), {8, 8, false});
  ASSERT_TRUE(bool(main));
  EXPECT_EQ(main->loops, (LoopNest{{32, 64}, {4, 0}, {2, 32}}));
  EXPECT_EQ(main->read, 32);
  auto sub =
      deriveFetchLoops(over(axes, "J % 32, K"), over(axes, "J % 8, J / 8 % 4"),
                       over(axes, "K"), {8, 8, true});
  ASSERT_TRUE(bool(sub));
  EXPECT_EQ(sub->loops, (LoopNest{{8, 64}, {4, 512}, {8, 8}}));
  EXPECT_EQ(sub->read, 8);
}

// i8 grows fourfold on the way to i32: 32 bytes behind the adapter are 8 in
// front of it, so 64 bytes take 8 reads (fetch table, row F10).
TEST(LoopsByHand, FetchWithACastReadsLess) {
  auto axes = *mapping::Axes::get({{"A", 16}, {"B", 8}});
  auto fetch =
      deriveFetchLoops(over(axes, "A / 8, A % 8, B"), over(axes, "A / 8"),
                       over(axes, "A % 8, B"), {8, 32, false});
  ASSERT_TRUE(bool(fetch));
  EXPECT_EQ(fetch->read, 8);
  EXPECT_EQ(fetch->loops, (LoopNest{{2, 64}, {8, 8}}));
  // i4 grows eightfold: a read of 8 bytes would be 64.
  auto sub = deriveFetchLoops(over(axes, "A, B"), over(axes, "A"),
                              over(axes, "B"), {4, 32, true});
  ASSERT_FALSE(bool(sub));
  EXPECT_EQ(sub.fault().reason, "not-yet-supported");
}

// Padding of time that the memory has not would read far behind its end.
TEST(LoopsByHand, FetchStaysNearItsMemory) {
  auto axes = *mapping::Axes::get({{"A", 5}, {"B", 8}});
  auto far = deriveFetchLoops(over(axes, "A, B"), over(axes, "A # 8"),
                              over(axes, "B"), {8, 8, false});
  ASSERT_FALSE(bool(far));
  EXPECT_EQ(far.fault().reason, "not-yet-supported");
  auto padded = deriveFetchLoops(over(axes, "A # 8, B"), over(axes, "A # 8"),
                                 over(axes, "B"), {8, 8, false});
  ASSERT_TRUE(bool(padded));
  EXPECT_EQ(padded->loops, (LoopNest{{8, 8}}));
}

// K is summed outermost, J inside of it is kept: four sums are open at a time.
TEST(LoopsByHand, SlotsOfASumOutside) {
  auto axes = gemmAxes();
  auto loops = deriveContractionLoops(
      over(axes, "J / 8 % 4, K"), over(axes, "K / 32, J / 8 % 4"),
      over(axes, "K % 32"), 8, 4, {{2, false}, {4, true}});
  ASSERT_TRUE(bool(loops));
  EXPECT_EQ(loops->loops,
            (llvm::SmallVector<ContractionLoop, 8>{{2, 32, 0}, {4, 64, 1}}));
  EXPECT_EQ(loops->read, 32);
  EXPECT_EQ(loops->broadcast, 1);
  EXPECT_EQ(loops->slots, 4);
  EXPECT_EQ(loops->count, 2);
}

// The accumulator counts 65,536 additions: 512 times 256 are more.
TEST(LoopsByHand, SumsHaveALimit) {
  auto axes = *mapping::Axes::get({{"T", 512}, {"U", 256}, {"K", 64}});
  auto loops = deriveContractionLoops(over(axes, "K"), over(axes, "T, U"),
                                      over(axes, "K"), 8, 1,
                                      {{512, false}, {256, false}});
  ASSERT_FALSE(bool(loops));
  EXPECT_EQ(loops.fault().reason, "not-yet-supported");
  loops = deriveContractionLoops(over(axes, "K"), over(axes, "T, U"),
                                 over(axes, "K"), 8, 256,
                                 {{512, true}, {256, false}});
  ASSERT_TRUE(bool(loops));
  EXPECT_EQ(loops->loops,
            (llvm::SmallVector<ContractionLoop, 8>{{512, 0, 0}, {256, 0, 0}}));
  EXPECT_EQ(loops->count, 256);
}

// Positions 20 to 23 name coordinates that A has not.
TEST(LoopsByHand, LiveRangesClipOvershoot) {
  auto axes = *mapping::Axes::get({{"A", 20}});
  EXPECT_EQ(getLiveRanges(over(axes, "A # 24 / 8, A # 24 % 8, 1 # 2")).back(),
            38);
  EXPECT_EQ(getLiveRanges(over(axes, "A # 24 / 8, A # 24 % 8 # 64")),
            (llvm::SmallVector<int64_t>{0, 7, 64, 71, 128, 131}));
}

} // namespace
