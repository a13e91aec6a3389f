//===- EDFSizeTest.cpp - Large kernel binaries, fields at their bounds ----===//

#include "furiosa/Target/RNGD/EDF.h"

#include "gtest/gtest.h"

#include <cstdio>
#include <limits>
#include <time.h>

// g++ has a macro for it, clang a feature.
#ifdef __SANITIZE_ADDRESS__
#define FURIOSA_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define FURIOSA_SANITIZED
#endif
#endif

using namespace furiosa;
using namespace furiosa::rngd;

/// Milliseconds of processor time, whatever else runs.
template <typename Action>
static double measure(Action action) {
  auto now = [] {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e3 * double(time.tv_sec) + 1e-6 * double(time.tv_nsec);
  };
  double begin = now();
  action();
  return now() - begin;
}

/// 10,000 transfers: registers, command and wait of each, and its place in the
/// schedule.
TEST(EDFSize, TenThousandCommands) {
  constexpr unsigned numCommands = 10000;
  edf::SpmBuilder spm;
  uint32_t address = llvm::cantFail(spm.add(DmaDescriptor{
      .destination = dmAddress(0, 0),
      .sourceStrides = {1024},
      .destinationStrides = {1024},
  }));
  TucCommand dma(TucOp::DmaW), wait(TucOp::Wait);
  edf::Kernel kernel;
  kernel.spm = spm.take();
  kernel.names.kernel = "large";
  std::vector<edf::Instruction> code;
  for (unsigned k = 0; k < numCommands; ++k) {
    code.push_back(edf::Instruction::set(0, address, 0xf));
    code.push_back(edf::Instruction::issue(dma.word(), 0xf));
    kernel.schedule.commands.push_back(
        {edf::CommandKind::Dma,
         0,
         500ull * k,
         500ull * k + 500,
         "in -> dm 0x0",
         {static_cast<uint32_t>(code.size() - 1), edf::noInstruction}});
    code.push_back(edf::Instruction::issue(wait.word(), 0xf));
  }
  code.push_back(edf::Instruction::end());
  kernel.programs.push_back({0, code});

  std::vector<uint8_t> bytes;
  double writing = measure([&] { bytes = llvm::cantFail(edf::write(kernel)); });
  edf::Kernel again;
  double reading = measure([&] {
    again = llvm::cantFail(llvm::cantFail(edf::Reader::open(bytes)).load());
  });
  EXPECT_EQ(again, kernel);
  std::printf("%u commands: written in %.1f ms, read in %.1f ms, %.1f bytes a "
              "command\n",
              numCommands, writing, reading,
              double(bytes.size()) / numCommands);
  // Without a sanitizer: 50 ms each are what is asked for.
#ifndef FURIOSA_SANITIZED
  EXPECT_LT(writing, 50);
  EXPECT_LT(reading, 50);
#endif
  EXPECT_LT(bytes.size(), 120u * numCommands);
}

/// Every field of a descriptor at its least and its greatest value comes back.
TEST(EDFSize, DescriptorFieldsAtTheirBounds) {
  auto check = [](auto change, bool isLegal = true) {
    DmaDescriptor descriptor;
    descriptor.sourceStrides[0] = descriptor.destinationStrides[0] = 8;
    change(descriptor);
    auto bytes = descriptor.encode();
    EXPECT_EQ(bool(bytes), isLegal);
    if (!bytes) {
      llvm::consumeError(bytes.takeError());
      return;
    }
    auto decoded = DmaDescriptor::decode(*bytes);
    ASSERT_TRUE(bool(decoded)) << llvm::toString(decoded.takeError());
    EXPECT_EQ(*decoded, descriptor);
  };
  using D = DmaDescriptor;
  constexpr uint64_t most = std::numeric_limits<uint64_t>::max();
  constexpr int32_t least = std::numeric_limits<int32_t>::min();
  constexpr int32_t greatest = std::numeric_limits<int32_t>::max();
  for (uint64_t value : {uint64_t(0), most}) {
    check([&](D &d) { d.source = value; });
    check([&](D &d) { d.destination = value; });
  }
  for (unsigned k = 0; k < 8; ++k) {
    for (uint32_t limit : {1u, 65536u})
      check([&](D &d) { d.sourceLimits[k] = d.destinationLimits[k] = limit; });
    for (uint32_t limit : {0u, 65537u}) {
      check([&](D &d) { d.sourceLimits[k] = d.destinationLimits[k] = limit; },
            false);
      check([&](D &d) { d.sourceLimits[k] = limit; }, false);
      check([&](D &d) { d.destinationLimits[k] = limit; }, false);
    }
    if (k == 0)
      continue;
    for (int32_t stride : {least, -1, 0, greatest}) {
      check([&](D &d) { d.sourceStrides[k] = stride; });
      check([&](D &d) { d.destinationStrides[k] = stride; });
    }
  }
  for (int32_t packet : {1, 4096})
    check([&](D &d) { d.sourceStrides[0] = d.destinationStrides[0] = packet; });
  for (int32_t packet : {0, 4097, least, greatest})
    check([&](D &d) { d.sourceStrides[0] = d.destinationStrides[0] = packet; },
          false);
  for (unsigned k = 0; k < 32; ++k)
    check([&](D &d) { d.indirectIndices[k] = ~0u; });
}
