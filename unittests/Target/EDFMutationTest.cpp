//===- EDFMutationTest.cpp - Mutated kernel binaries ----------------------===//
//
// 20,000 files made from sound ones: cut off, with flipped and spliced bytes
// and huge counts, the checks repaired in half of them.
//
//===----------------------------------------------------------------------===//

#include "EDFChecksums.h"
#include "EDFExercise.h"
#include "EDFKernels.h"
#include "SimulatorContractions.h"
#include "SimulatorPipelines.h"
#include "furiosa/Target/RNGD/HbmCapacity.h"

#include "gtest/gtest.h"

#include <atomic>
#include <malloc.h>
#include <new>
#include <random>
#include <time.h>

using namespace furiosa;
using namespace furiosa::rngd;

//===----------------------------------------------------------------------===//
// Memory in use
//===----------------------------------------------------------------------===//

// What `new` gives; containers of LLVM that call malloc are not counted.
static std::atomic<size_t> bytesInUse = 0, mostInUse = 0;

void *operator new(size_t size) {
  void *memory = std::malloc(size);
  if (!memory)
    std::abort();
  size_t now = bytesInUse += malloc_usable_size(memory);
  size_t most = mostInUse;
  while (now > most && !mostInUse.compare_exchange_weak(most, now))
    ;
  return memory;
}
void *operator new[](size_t size) { return operator new(size); }
void *operator new(size_t size, const std::nothrow_t &) noexcept {
  return operator new(size);
}
void *operator new[](size_t size, const std::nothrow_t &) noexcept {
  return operator new(size);
}
void operator delete(void *memory) noexcept {
  if (memory)
    bytesInUse -= malloc_usable_size(memory);
  std::free(memory);
}
void operator delete(void *memory, size_t) noexcept { operator delete(memory); }
void operator delete[](void *memory) noexcept { operator delete(memory); }
void operator delete[](void *memory, size_t) noexcept {
  operator delete(memory);
}
void operator delete(void *memory, const std::nothrow_t &) noexcept {
  operator delete(memory);
}
void operator delete[](void *memory, const std::nothrow_t &) noexcept {
  operator delete(memory);
}

namespace {

/// The most that `action` has in use at a time beside what was there before.
template <typename Action>
size_t measureMemory(Action action) {
  size_t before = bytesInUse;
  mostInUse = before;
  action();
  return mostInUse - before;
}

/// Seconds of processor time that this thread has taken, whatever else runs.
double secondsTaken() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

std::vector<uint8_t> writeFile(llvm::ArrayRef<edf::Kernel> kernels,
                               edf::WriteOptions options = {}) {
  auto bytes = edf::write(kernels, options);
  EXPECT_TRUE(bool(bytes)) << llvm::toString(bytes.takeError());
  return bytes ? *bytes : std::vector<uint8_t>();
}

/// Files with everything a writer writes, of kernels that run.
std::vector<std::vector<uint8_t>> makeSeeds() {
  std::vector<std::vector<uint8_t>> seeds;
  edf::Kernel all = furiosa::test::makeKernel();
  seeds.push_back(writeFile(all));
  edf::Kernel copy = rngd::test::Pipeline().build();
  copy.names.kernel = "copy";
  seeds.push_back(writeFile(copy));
  rngd::test::Contraction contraction;
  edf::Kernel product = contraction.build();
  product.names.kernel = "product";
  seeds.push_back(writeFile({all, copy, product}));
  // Constants that pack.
  all.constants[0].bytes.resize(8192);
  for (size_t k = 0; k < 8192; ++k)
    all.constants[0].bytes[k] = static_cast<uint8_t>(k * 37 % 101 % 16);
  all.arguments.operands[2].bytes = 8192;
  seeds.push_back(writeFile(all, {.compress = true}));
  return seeds;
}

/// Draws changes of files; the same seed gives the same ones.
class Mutator {
public:
  explicit Mutator(uint32_t seed) : random(seed) {}

  size_t draw(size_t bound) { return random() % bound; }

  std::vector<uint8_t> mutate(llvm::ArrayRef<std::vector<uint8_t>> seeds) {
    std::vector<uint8_t> file = seeds[draw(seeds.size())];
    for (size_t changes = 1 + draw(3); changes > 0 && !file.empty(); --changes)
      change(file, seeds[draw(seeds.size())]);
    if (draw(2) == 0)
      furiosa::test::repairChecks(file);
    return file;
  }

private:
  void change(std::vector<uint8_t> &file, llvm::ArrayRef<uint8_t> other) {
    size_t at = draw(file.size());
    switch (draw(6)) {
    case 0:
      file.resize(at);
      break;
    case 1:
      file[at] ^= 1u << draw(8);
      break;
    case 2:
      file[at] = static_cast<uint8_t>(random());
      break;
    case 3: { // Bytes of another file, or of another place.
      size_t from = draw(other.size());
      size_t count = std::min(other.size() - from, 1 + draw(200));
      if (draw(2) == 0)
        file.insert(file.begin() + at, other.begin() + from,
                    other.begin() + from + count);
      else
        std::copy_n(other.begin() + from, std::min(count, file.size() - at),
                    file.begin() + at);
      break;
    }
    case 4: { // A count, an offset, a size.
      const uint64_t values[] = {
          0,          1,     0x7FFFFFFF,  0x80000000, 0xFFFFFFFF, 0x100000000,
          1ull << 63, ~0ull, file.size(), 0xFFFFFFF8, 0x7FFFFFFFF};
      uint64_t value = values[draw(std::size(values))];
      at -= at % 4;
      for (size_t k = 0; k < (draw(2) ? 4u : 8u) && at + k < file.size(); ++k)
        file[at + k] = static_cast<uint8_t>(value >> 8 * k);
      break;
    }
    case 5: { // A piece less.
      size_t count = std::min(file.size() - at, 1 + draw(100));
      file.erase(file.begin() + at, file.begin() + at + count);
      break;
    }
    }
  }

  std::mt19937 random;
};

/// Reading takes at most this many bytes for a byte of the file: an empty name
/// has 4 bytes in the file, and in memory a string.
constexpr size_t memoryFactor = 12;
constexpr size_t memoryOffset = 4096;
/// Text takes about two characters a byte and a name for each field that is not
/// zero, and the assembler makes a file of it again.
constexpr size_t textFactor = 40;
/// JSON names each field and its code in a line of its own.
constexpr size_t jsonFactor = 64;
/// Running: memories of the slices that a kernel touches.
constexpr size_t runBytes = 64 << 20;
/// No file takes longer; the slowest of these takes a fiftieth.
constexpr double mostSeconds = 2;

TEST(EDFMutation, TwentyThousandFiles) {
  std::vector<std::vector<uint8_t>> seeds = makeSeeds();
  for (const std::vector<uint8_t> &seed : seeds) {
    std::vector<edf::Kernel> kernels;
    EXPECT_TRUE(furiosa::test::readFile(seed, kernels).isLoaded);
    furiosa::test::convertFile(seed, kernels);
  }
  Mutator mutator(20260101);
  unsigned opened = 0, loaded = 0, run = 0;
  double worst = 0, worstText = 0, worstJson = 0, longest = 0;
  size_t worstRun = 0;
  for (unsigned k = 0; k < 20000; ++k) {
    // A copy of its own length, so that a read past its end is found.
    std::vector<uint8_t> file = mutator.mutate(seeds);
    std::unique_ptr<uint8_t[]> exact(new uint8_t[file.size() + 1]);
    std::copy(file.begin(), file.end(), exact.get());
    llvm::ArrayRef<uint8_t> bytes(exact.get(), file.size());
    std::vector<edf::Kernel> kernels;
    furiosa::test::Outcome outcome;
    double begin = secondsTaken();
    size_t memory = measureMemory(
        [&] { outcome = furiosa::test::readFile(bytes, kernels); });
    ASSERT_LE(memory, memoryFactor * file.size() + memoryOffset) << k;
    worst = std::max(worst, double(memory) / double(file.size() + 512));
    opened += outcome.isOpened;
    loaded += outcome.isLoaded;
    if (outcome.isOpened) {
      memory =
          measureMemory([&] { furiosa::test::convertFile(bytes, kernels); });
      ASSERT_LE(memory, textFactor * file.size()) << k;
      worstText = std::max(worstText, double(memory) / double(file.size()));
      memory =
          measureMemory([&] { furiosa::test::exportFile(bytes, kernels); });
      ASSERT_LE(memory, jsonFactor * file.size()) << k;
      worstJson = std::max(worstJson, double(memory) / double(file.size()));
    }
    memory = measureMemory([&] { run += furiosa::test::runKernels(kernels); });
    ASSERT_LE(memory, runBytes) << k;
    worstRun = std::max(worstRun, memory);
    double seconds = secondsTaken() - begin;
    ASSERT_LE(seconds, mostSeconds) << k;
    longest = std::max(longest, seconds);
  }
  std::printf(
      "%u opened, %u loaded, %u kernels run; at most %.1f bytes a byte "
      "to read, %.1f for text, %.1f for JSON, %.1f MiB to run, %.3f s\n",
      opened, loaded, run, worst, worstText, worstJson,
      double(worstRun) / (1 << 20), longest);
  // The mutations get through to every part.
  EXPECT_GT(opened, 2000u);
  EXPECT_GT(loaded, 500u);
  EXPECT_GT(run, 100u);
}

/// Every 32-bit field of a file as a huge count.
TEST(EDFMutation, HugeCounts) {
  for (const std::vector<uint8_t> &seed : makeSeeds())
    for (size_t at = 8; at + 4 <= seed.size(); at += 4)
      for (uint32_t value : {0x7FFFFFFFu, 0xFFFFFFFFu}) {
        std::vector<uint8_t> file = seed;
        for (unsigned k = 0; k < 4; ++k)
          file[at + k] = static_cast<uint8_t>(value >> 8 * k);
        furiosa::test::repairChecks(file);
        std::vector<edf::Kernel> kernels;
        size_t memory =
            measureMemory([&] { furiosa::test::readFile(file, kernels); });
        ASSERT_LE(memory, memoryFactor * file.size() + memoryOffset) << at;
      }
}

/// Operands may fill HBM, and a file need not be large for it.
TEST(EDFMutation, OperandsAreBoundedWhenRun) {
  edf::Kernel kernel = rngd::test::Pipeline().build();
  ASSERT_EQ(kernel.arguments.operands.size(), 2u);
  kernel.arguments.operands[1].bytes =
      machine::hbmOperandBytes - kernel.arguments.operands[0].bytes;
  std::vector<edf::Kernel> kernels;
  ASSERT_TRUE(furiosa::test::readFile(writeFile(kernel), kernels).isLoaded);
  std::vector<OperandBuffer> operands(kernel.arguments.operands.size());
  operands[0].bytes.resize(kernel.arguments.operands[0].bytes);
  size_t memory = measureMemory([&] {
    auto result = simulate(kernels[0], operands);
    ASSERT_FALSE(bool(result));
    EXPECT_EQ(llvm::toString(result.takeError()),
              "operand 'out' takes the operands beyond the 4294967296 bytes "
              "that a simulation may have");
  });
  EXPECT_LE(memory, 1u << 20);
}

} // namespace
