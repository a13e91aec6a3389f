//===- SimulatorKernels.h - Kernels built by hand ---------------*- C++ -*-===//
//
// Puts kernel binaries together command by command for the simulator's tests.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_UNITTESTS_TARGET_SIMULATORKERNELS_H
#define FURIOSA_UNITTESTS_TARGET_SIMULATORKERNELS_H

#include "furiosa/Target/RNGD/Codes.h"
#include "furiosa/Target/RNGD/EDF.h"
#include "furiosa/Target/RNGD/Simulator.h"

#include "gtest/gtest.h"

#include <initializer_list>
#include <utility>

namespace furiosa::rngd::test {

using codes::ExecTarget;

/// Limit and stride, innermost first.
using Loops = std::vector<std::pair<uint32_t, uint32_t>>;

/// A register image; a field that does not take the value fails the test.
class Image {
public:
  explicit Image(Block block) : image(SfrImage::atReset(block)) {}

  Image &set(llvm::StringRef field, uint64_t value, unsigned index = 0) {
    Fault fault = image.set(field, index, value);
    EXPECT_FALSE(fault) << *fault;
    return *this;
  }
  Image &loops(llvm::StringRef limits, llvm::StringRef strides,
               const Loops &loops) {
    for (unsigned k = 0; k < 8; ++k) {
      auto [limit, stride] = k < loops.size() ? loops[k] : std::pair(1u, 0u);
      Fault fault = image.setLimit(limits, k, limit);
      EXPECT_FALSE(fault) << *fault;
      set(strides, stride, k);
    }
    return *this;
  }
  operator const SfrImage &() const { return image; }

private:
  SfrImage image;
};

inline Image mainFetch(uint32_t base, const Loops &loops, unsigned read,
                       unsigned words, unsigned flits) {
  return Image(Block::FetchUnitMainContext)
      .set("base", base)
      .set("fetch_size", read)
      .loops("limits", "strides", loops)
      .set("words_per_packet", words)
      .set("flit_count", flits);
}
inline Image subFetch(uint32_t base, const Loops &loops, unsigned words,
                      unsigned flits) {
  return Image(Block::SubFetchUnit)
      .set("base", base)
      .loops("limits", "strides", loops)
      .set("words_per_packet", words)
      .set("flit_count", flits);
}
inline Image mainCommit(uint32_t base, const Loops &loops, unsigned keep) {
  Image image(Block::CommitUnitMainContext);
  image.set("base", base)
      .set("commit_in_size", 32)
      .set("commit_size", keep)
      .loops("limits", "strides", loops);
  for (unsigned k = 0; k < 4; ++k)
    image.set("slice_enable_bitmap_mask" + std::to_string(k), ~0ull);
  return image;
}
inline Image trfWrite(unsigned lanes, uint32_t row, uint32_t rows) {
  return Image(Block::DotProductEngineRegisterFile)
      .set("mac_rows", lanes)
      .set("row_base", row)
      .set("row_count", rows)
      .set("flits_per_period", 1)
      .set("valid_flits_per_period", 1);
}

/// Adds commands and finishes with a kernel.
class KernelBuilder {
public:
  explicit KernelBuilder(uint8_t peMask = 1) : mask(peMask) {}

  /// Which PEs the next commands are for.
  void setMask(uint8_t peMask) { mask = peMask; }

  unsigned operand(std::string name, edf::Role role, uint64_t bytes) {
    edf::Operand operand;
    operand.name = std::move(name);
    operand.role = role;
    operand.bytes = bytes;
    kernel.arguments.operands.push_back(std::move(operand));
    return kernel.arguments.operands.size() - 1;
  }

  void add(edf::Instruction instruction) {
    program.instructions.push_back(instruction);
  }
  void issue(TucCommand command) {
    if (command.numOperands() > 0) {
      // Registers go round, so that a stale one would be noticed.
      if (nextRegister + command.numOperands() > 64)
        nextRegister = 0;
      EXPECT_FALSE(command.setRegisters(nextRegister));
      for (unsigned k = 0; k < command.numOperands(); ++k)
        add(edf::Instruction::set(nextRegister + k, command.operand(k), mask));
      nextRegister += command.numOperands();
    }
    add(edf::Instruction::issue(command.word(), mask));
  }

  void write(const SfrImage &image) {
    llvm::Expected<uint32_t> address = spm.add(image);
    ASSERT_TRUE(static_cast<bool>(address));
    TucCommand command(TucOp::MtoSfr);
    EXPECT_FALSE(command.set("spm_address", *address));
    EXPECT_FALSE(command.set("size", image.words().size()));
    EXPECT_FALSE(command.set("sfr_address", sfrAddress(image.block(), 0)));
    issue(command);
  }
  /// Writes the route register and the other blocks, then starts.
  void exec(ExecTarget context, uint64_t route,
            std::initializer_list<SfrImage> images) {
    bool isMain = context == ExecTarget::Main;
    for (const SfrImage &image : images)
      write(image);
    write(isMain ? Image(Block::OperationDataPathMainContext)
                       .set("main_context", route)
                 : Image(Block::OperationDataPath)
                       .set("data_path_route_sub_context", route));
    TucCommand command(TucOp::Exec);
    EXPECT_FALSE(
        command.set("subunit_bitmap", codes::subUnitsOf(route, context)));
    EXPECT_FALSE(command.set("target_context", codes::value(context)));
    issue(command);
  }
  void wait(ExecTarget context) {
    TucCommand command(TucOp::Wait);
    EXPECT_FALSE(command.set("target_context", codes::value(context)));
    issue(command);
  }

  /// One side of a DMA: an operand with an offset, or (-1) the data memory.
  struct Side {
    int operand = -1;
    int64_t offset = 0;
    std::vector<std::pair<uint32_t, int32_t>> loops;
  };
  static Side hbm(unsigned operand, int64_t offset,
                  std::vector<std::pair<uint32_t, int32_t>> loops) {
    return {static_cast<int>(operand), offset, std::move(loops)};
  }
  static Side dm(uint32_t offset,
                 std::vector<std::pair<uint32_t, int32_t>> loops) {
    return {-1, offset, std::move(loops)};
  }
  /// Loops lie outside the packets, innermost first. Returns the address of the
  /// descriptor.
  uint32_t dma(unsigned tag, uint32_t packet, const Side &source,
               const Side &destination) {
    DmaDescriptor descriptor;
    descriptor.sourceStrides[0] = descriptor.destinationStrides[0] =
        static_cast<int32_t>(packet);
    auto loops = [](const Side &side, auto &limits, auto &strides) {
      for (unsigned k = 0; k < side.loops.size(); ++k)
        std::tie(limits[k + 1], strides[k + 1]) = side.loops[k];
    };
    loops(source, descriptor.sourceLimits, descriptor.sourceStrides);
    loops(destination, descriptor.destinationLimits,
          descriptor.destinationStrides);
    if (source.operand < 0)
      descriptor.source = dmAddress(0, source.offset);
    if (destination.operand < 0)
      descriptor.destination = dmAddress(0, destination.offset);
    llvm::Expected<uint32_t> address = spm.add(descriptor);
    if (!address) {
      ADD_FAILURE() << llvm::toString(address.takeError());
      return 0;
    }
    auto relocate = [&](const Side &side, uint32_t at) {
      if (side.operand >= 0)
        kernel.arguments.relocations.push_back(
            {*address + at, static_cast<uint32_t>(side.operand), side.offset});
    };
    relocate(source, DmaDescriptor::sourceOffset);
    relocate(destination, DmaDescriptor::destinationOffset);
    TucCommand command(TucOp::DmaW);
    EXPECT_FALSE(command.set("desc_addr0", *address));
    for (const char *field : {"desc_addr1", "desc_addr2", "desc_addr3"})
      EXPECT_FALSE(command.set(field, noDescriptor40));
    EXPECT_FALSE(command.set("dma_tag_id", tag));
    issue(command);
    return *address;
  }
  void waitTag(unsigned tag) {
    TucCommand command(TucOp::Wait);
    EXPECT_FALSE(command.set("type", codes::value(codes::WaitType::DmaTag)));
    EXPECT_FALSE(command.set("dma_tag_id", tag));
    issue(command);
  }

  void barrier() { add(edf::Instruction::barrier()); }
  /// Fills bytes [begin, end) of all slices.
  void fill(uint64_t begin, uint64_t end, uint64_t pattern) {
    TucCommand command(TucOp::ItoS);
    EXPECT_FALSE(command.set("address_begin", begin));
    EXPECT_FALSE(command.set("address_end", end));
    EXPECT_FALSE(command.set("value", pattern));
    EXPECT_FALSE(command.set("limit1", 1));
    issue(command);
  }
  void waitSub() {
    TucCommand command(TucOp::Wait);
    EXPECT_FALSE(command.set("type", codes::value(codes::WaitType::Execution)));
    EXPECT_FALSE(
        command.set("target_context", codes::value(codes::ExecTarget::Sub)));
    issue(command);
  }

  edf::Kernel take() {
    add(edf::Instruction::end());
    kernel.programs.push_back(std::move(program));
    kernel.spm = spm.take();
    return std::move(kernel);
  }

private:
  edf::Kernel kernel;
  edf::SpmBuilder spm;
  edf::Program program;
  uint8_t mask;
  unsigned nextRegister = 0;
};

/// Loop over the 64 slices of a PE: on the side of HBM, and of the data memory.
inline std::pair<uint32_t, int32_t> eachSlice(int32_t bytes) {
  return {64, bytes};
}
inline const std::pair<uint32_t, int32_t> acrossSlices = {64, 0x400000};

/// A generator of bytes; the same on every host.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint32_t next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state >> 33);
  }
  std::vector<uint8_t> bytes(size_t count) {
    std::vector<uint8_t> result(count);
    for (uint8_t &byte : result)
      byte = static_cast<uint8_t>(next() >> 8);
    return result;
  }

private:
  uint64_t state;
};

/// Runs and returns the text of the error, or nothing.
inline std::string run(const edf::Kernel &kernel,
                       llvm::MutableArrayRef<OperandBuffer> operands,
                       const SimulationOptions &options = {}) {
  llvm::Expected<SimulationResult> result = simulate(kernel, operands, options);
  return result ? std::string() : llvm::toString(result.takeError());
}

} // namespace furiosa::rngd::test

#endif // FURIOSA_UNITTESTS_TARGET_SIMULATORKERNELS_H
