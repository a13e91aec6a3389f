//===- RandomLoopsTest.cpp - Loops of commands drawn at random ------------===//
//
// Loops of lir whose commands depend on one another within iterations, from one
// to the next, and through HBM: whatever commands take, iterations that overlap
// give what iterations apart give, in no more cycles; and large buffers that
// share bytes within iterations give what small ones give.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cstdio>

using namespace furiosa;
using namespace furiosa::test;

static constexpr int64_t hbmBytes = 2560;

namespace {
/// A kernel of a PE: reads %a, reads and writes %o, between them buffers of
/// which transfers fill one slice and execs all.
class LoopDrawer {
public:
  explicit LoopDrawer(unsigned seed) : random(seed) {}
  std::string draw(llvm::StringRef attributes);
  /// A kernel whose loops fill what they use, but for what they carry, in
  /// buffers of so many bytes each.
  std::string drawTrips(int64_t bytesEach, bool isOneTrip = false);

private:
  int64_t pick(std::initializer_list<int64_t> list) {
    return list.begin()[random() % list.size()];
  }
  bool chance(int percent) { return int(random() % 100) < percent; }
  /// Up to `count` - 1.
  int64_t below(int64_t count) { return int64_t(random() % count); }
  /// A transfer between HBM, at an offset if that is not empty, and a buffer.
  void addTransfer(bool isLoad, llvm::StringRef hbm, const std::string &offset,
                   int64_t buffer);
  void addExec();
  void addCommands(const std::vector<std::string> &offsets);
  void addLoop(unsigned number);
  std::string getHead(llvm::StringRef attributes) const;

  std::mt19937_64 random;
  int64_t buffers = 0, bytes = 0;
  std::string text;
};
} // namespace

void LoopDrawer::addTransfer(bool isLoad, llvm::StringRef hbm,
                             const std::string &offset, int64_t buffer) {
  auto [base, packet] =
      chance(50) ? std::pair(0, 64) : std::pair(int(pick({0, 32})), 32);
  int64_t shift = isLoad ? 0 : pick({0, 0, 64, 128});
  std::string outer =
      "%" + hbm.str() + (offset.empty() ? "" : "[" + offset + "]");
  std::string inner = "%b" + std::to_string(buffer);
  std::string hbmType = llvm::formatv("!lir.mem<hbm, {0}>", hbmBytes);
  std::string dmType = llvm::formatv("!lir.mem<dm, {0}>", bytes);
  text += llvm::formatv(
      "lir.dma {0} to {1} engines [#lir.engine<cluster 0 pe 0 from {2} to {3} "
      "loops [] packet {4}>] : {5}, {6}\n",
      isLoad ? outer : inner, isLoad ? inner : outer, base, base + shift,
      packet, isLoad ? hbmType : dmType, isLoad ? dmType : hbmType);
}

void LoopDrawer::addExec() {
  int64_t flits = pick({1, 2}), base = flits == 1 ? pick({0, 32}) : 0;
  text += llvm::formatv(R"(lir.exec main {{
  fetch_sequencer %b{0} base {1} loops [{2} : 32] read 32 packet 32 flits {2} : !lir.mem<dm, {3}>
  collect flits_per_packet 1
  vector_alu fxp_add add [imm {4}]
  commit_adapter in 32 keep 32
  commit_sequencer %b{5} base {1} loops [{2} : 32] write 32 slices [0, 63] : !lir.mem<dm, {3}>
}
)",
                        below(buffers), base, flits, bytes, 1 + below(99),
                        below(buffers));
}

void LoopDrawer::addCommands(const std::vector<std::string> &offsets) {
  for (int64_t left = 2 + below(5); left > 0; --left) {
    std::string offset;
    if (!offsets.empty() && chance(80))
      offset = offsets[below(int64_t(offsets.size()))];
    int64_t kind = below(3);
    if (kind == 0)
      addExec();
    else
      addTransfer(kind == 1, kind == 1 && chance(75) ? "a" : "o", offset,
                  below(buffers));
  }
}

void LoopDrawer::addLoop(unsigned number) {
  bool isNested = chance(25);
  std::vector<std::string> offsets;
  std::string name = std::to_string(number);
  if (isNested) {
    text += llvm::formatv("scf.for %j{0} = %c0 to %c{1} step %c1 {{\n"
                          "%y{0} = arith.muli %j{0}, %c{2} : index\n",
                          number, 2 + below(2), pick({32, 64, 128}));
    offsets.push_back("%y" + name);
    if (chance(50))
      addCommands(offsets);
  }
  text += llvm::formatv("scf.for %i{0} = %c0 to %c{1} step %c1 {{\n"
                        "%x{0} = arith.muli %i{0}, %c{2} : index\n",
                        number, 1 + below(12), pick({32, 64, 64, 128}));
  offsets.push_back("%x" + name);
  if (isNested) {
    text += llvm::formatv("%z{0} = arith.addi %x{0}, %y{0} : index\n", number);
    offsets.push_back("%z" + name);
  }
  addCommands(offsets);
  text += isNested ? "}\n}\n" : "}\n";
}

std::string LoopDrawer::getHead(llvm::StringRef attributes) const {
  std::string head = llvm::formatv(R"(
func.func @loops(%a: !lir.mem<hbm, {0}>, %o: !lir.mem<hbm, {0}>) attributes {{
    visa.kernel, lir.pes = 1, lir.clusters = array<i64: 0>,
    lir.release = "0.6"{1}} {{
)",
                                   hbmBytes, attributes);
  for (int number : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 32, 64, 128})
    head += llvm::formatv("%c{0} = arith.constant {0} : index\n", number);
  return head;
}

std::string LoopDrawer::draw(llvm::StringRef attributes) {
  buffers = 2 + below(3);
  // Of large ones there is no room for many copies.
  bytes = chance(80) ? 64 : 131072;
  text = getHead(attributes);
  for (int64_t i = 0; i < buffers; ++i) {
    text += llvm::formatv("%b{0} = lir.alloc : !lir.mem<dm, {1}>\n", i, bytes);
    addTransfer(/*isLoad=*/true, "a", "", i);
  }
  // The pass treats many loops together.
  for (unsigned loop = 0, loops = chance(10) ? 12 : 1 + below(3); loop < loops;
       ++loop) {
    addLoop(loop);
    if (chance(50))
      addCommands({});
  }
  return text + "return\n}\n";
}

std::string LoopDrawer::drawTrips(int64_t bytesEach, bool isOneTrip) {
  buffers = 3 + below(4);
  bytes = bytesEach;
  text = getHead("");
  for (int64_t i = 0; i < buffers; ++i)
    text += llvm::formatv("%b{0} = lir.alloc : !lir.mem<dm, {1}>\n", i, bytes);
  // One that carries a value from trip to trip, now and then.
  bool carries = chance(30);
  if (carries)
    addTransfer(/*isLoad=*/true, "a", "", 0);
  bool isNested = chance(30);
  if (isNested)
    text += llvm::formatv("scf.for %j = %c0 to %c{0} step %c1 {{\n",
                          isOneTrip ? 1 : 3);
  int64_t trips = 2 + below(5);
  text += llvm::formatv("scf.for %i = %c0 to %c{0} step %c1 {{\n"
                        "%x = arith.muli %i, %c64 : index\n",
                        isOneTrip ? 1 : trips);
  // A chain from buffer to buffer, in which earlier ones are met again.
  int64_t last = carries ? 0 : -1;
  for (int64_t i = carries; i < buffers; ++i) {
    if (last < 0 || chance(30)) {
      text += llvm::formatv(
          "lir.dma %a[%x] to %b{0} engines [#lir.engine<cluster 0 pe 0 from 0 "
          "to 0 loops [64 : 0 : 4194304] packet 64>] : !lir.mem<hbm, {1}>, "
          "!lir.mem<dm, {2}>\n",
          i, hbmBytes, bytes);
    } else {
      int64_t source =
          i > carries && chance(15) ? carries + below(i - carries) : last;
      text += llvm::formatv(R"(lir.exec main {{
  fetch_sequencer %b{0} loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, {1}>
  collect flits_per_packet 1
  vector_alu fxp_add add [imm {2}]
  commit_adapter in 32 keep 32
  commit_sequencer %b{3} loops [2 : 32] write 32 slices [0, 63] : !lir.mem<dm, {1}>
}
)",
                            source, bytes, 1 + below(99), i);
    }
    last = i;
    if (chance(30) || i + 1 == buffers)
      addTransfer(/*isLoad=*/false, "o", "%x", i);
  }
  if (carries)
    text += llvm::formatv(R"(lir.exec main {{
  fetch_sequencer %b0 loops [2 : 32] read 32 packet 32 flits 2 : !lir.mem<dm, {0}>
  collect flits_per_packet 1
  vector_alu fxp_add add [imm 7]
  commit_adapter in 32 keep 32
  commit_sequencer %b0 loops [2 : 32] write 32 slices [0, 63] : !lir.mem<dm, {0}>
}
)",
                          bytes);
  return text + (isNested ? "}\n}\nreturn\n}\n" : "}\nreturn\n}\n");
}

/// The cycles of a kernel.
static uint64_t getMakespan(const Built &built) {
  return built.binary.schedule.makespan;
}

/// Results of a kernel: early, late and at random times, all alike.
static void expectResults(const Built &built, std::vector<uint8_t> &expected,
                          std::vector<uint8_t> &defined) {
  using Timing = rngd::SimulationOptions::Timing;
  for (unsigned run = 0; run < 5; ++run) {
    SCOPED_TRACE("run " + std::to_string(run));
    rngd::SimulationOptions options;
    options.timing = run == 0   ? Timing::Late
                     : run == 1 ? Timing::Early
                                : Timing::Random;
    options.seed = run;
    std::vector<rngd::OperandBuffer> operands(2);
    for (rngd::OperandBuffer &operand : operands)
      for (int64_t i = 0; i < hbmBytes; ++i)
        operand.bytes.push_back(uint8_t(i * 37 + (i >> 8)));
    auto result = rngd::simulate(built.binary, operands, options);
    ASSERT_TRUE(static_cast<bool>(result))
        << llvm::toString(result.takeError());
    if (expected.empty()) {
      expected = operands[1].bytes;
      defined = operands[1].defined;
    }
    ASSERT_EQ(operands[1].bytes, expected);
    ASSERT_EQ(operands[1].defined, defined);
  }
}

TEST(RandomLoops, OverlapChangesNoResult) {
  GeneratedCases cases(60);
  unsigned shorter = 0;
  for (unsigned seed = cases.first; seed < cases.first + cases.count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Built apart, overlapping;
    std::string message;
    std::string text =
        LoopDrawer(seed).draw(", resource.pipeline_loops = false");
    ASSERT_EQ(tryBuild(text, apart, message), Refusal::None) << message << text;
    ASSERT_EQ(tryBuild(LoopDrawer(seed).draw(""), overlapping, message),
              Refusal::None)
        << message << text;
    EXPECT_LE(getMakespan(overlapping), getMakespan(apart)) << text;
    shorter += getMakespan(overlapping) < getMakespan(apart);
    std::vector<uint8_t> expected, defined;
    for (const Built *built : {&apart, &overlapping}) {
      expectResults(*built, expected, defined);
      ASSERT_FALSE(HasFatalFailure()) << text;
    }
  }
  std::printf("%u of %u kernels are shorter\n", shorter, cases.count);
  EXPECT_GT(10 * shorter, cases.count);
}

// Of three to six buffers two have room at a time. Those of one trip share
// bytes; what is carried from trip to trip keeps its own.
TEST(RandomLoops, BuffersOfOneTripShareBytes) {
  GeneratedCases cases(60);
  unsigned fit = 0;
  for (unsigned seed = cases.first; seed < cases.first + cases.count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Built small, large;
    std::string message, text = LoopDrawer(seed).drawTrips(196608);
    ASSERT_EQ(tryBuild(LoopDrawer(seed).drawTrips(64), small, message),
              Refusal::None)
        << message << text;
    if (tryBuild(text, large, message) != Refusal::None) {
      EXPECT_NE(message.find("out of memory"), std::string::npos) << message;
      // Nor would a single trip fit, without any loop.
      Built single;
      EXPECT_NE(tryBuild(LoopDrawer(seed).drawTrips(196608, true), single,
                         message),
                Refusal::None)
          << text;
      continue;
    }
    ++fit;
    std::vector<uint8_t> expected, defined;
    for (const Built *built : {&small, &large}) {
      expectResults(*built, expected, defined);
      ASSERT_FALSE(HasFatalFailure()) << text;
    }
  }
  std::printf("%u of %u kernels fit\n", fit, cases.count);
  EXPECT_GT(2 * fit, cases.count);
}
