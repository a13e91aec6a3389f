//===- EDFFieldsTest.cpp - Every field at its bounds ----------------------===//
//
// Fields of PE instructions, DMA descriptors and section records at minimum,
// maximum and one over. What the bounds are stands in docs/EDF.md. Those of
// registers and commands are in EncodingsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "EDFKernels.h"
#include "furiosa/Target/RNGD/HbmCapacity.h"

#include "llvm/Support/Endian.h"

#include "gtest/gtest.h"

#include <limits>

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::edf;
using namespace furiosa::test;

namespace {

/// Writes and reads the kernel, which must come back the same; false where
/// the writer refuses it.
bool comesBack(const Kernel &kernel) {
  auto bytes = edf::write(kernel);
  if (!bytes) {
    llvm::consumeError(bytes.takeError());
    return false;
  }
  auto reader = Reader::open(*bytes);
  if (!reader) {
    ADD_FAILURE() << llvm::toString(reader.takeError());
    return false;
  }
  auto loaded = reader->load();
  if (!loaded) {
    ADD_FAILURE() << llvm::toString(loaded.takeError());
    return false;
  }
  EXPECT_EQ(*loaded, kernel);
  return true;
}

//===----------------------------------------------------------------------===//
// PE instructions
//===----------------------------------------------------------------------===//

/// A kernel that runs the instruction, with what has to stand around it.
Kernel makeKernelOf(const Instruction &inst) {
  using I = Instruction;
  Kernel kernel = makeKernel();
  kernel.locations = {};
  kernel.schedule = {};
  std::vector<Instruction> code;
  auto ifWord = I::ifWord(0x200000, Condition::Equal, 0);
  switch (inst.opcode) {
  case Opcode::Loop:
    code = {inst, I::endLoop(), I::end()};
    break;
  case Opcode::EndLoop:
    code = {I::loop(1), inst, I::end()};
    break;
  case Opcode::If:
    code = {inst, I::endIf(), I::end()};
    break;
  case Opcode::Else:
    code = {ifWord, inst, I::endIf(), I::end()};
    break;
  case Opcode::EndIf:
    code = {ifWord, inst, I::end()};
    break;
  case Opcode::End:
    code = {inst};
    break;
  default:
    code = {inst, I::end()};
    break;
  }
  kernel.programs = {{0, code}};
  return kernel;
}

/// Bounds of a field: what is taken, and what is not.
struct Bounds {
  std::vector<uint64_t> good;
  std::vector<uint64_t> bad;
};

/// All of it is own, and stands in section 2 of the document.
struct OpcodeBounds {
  Opcode opcode;
  Bounds reg, mask, word, imm;
};

TEST(EDFFields, InstructionsAtTheirBounds) {
  constexpr uint64_t all64 = ~0ull;
  const Bounds unused8 = {{0}, {1, 255}};
  const Bounds unused32 = {{0}, {1, 0xFFFFFFFF}};
  const Bounds unused64 = {{0}, {1, all64}};
  const Bounds any64 = {{0, 1, all64 >> 1, 1ull << 63, all64}, {}};
  const Bounds mask = {{1, 15}, {0, 16, 255}};
  // The image of the kernel ends at 0x200200.
  const Bounds address = {
      {0x200000, 0x2001f8},
      {0, 0x1ffff8, 0x200001, 0x2001f9, 0x200200, 0xFFFFFFF8, 0xFFFFFFFF}};
  // exec without fields, prflush with all it can have; opcode 0 and a reserved
  // bit.
  const Bounds command = {{0x20u << 24}, {0, 0x20000800, 0xFFFFFFFF}};
  const OpcodeBounds table[] = {
      {Opcode::End, unused8, unused8, unused32, unused64},
      {Opcode::Set, {{0, 63}, {64, 255}}, mask, unused32, any64},
      {Opcode::Issue, unused8, mask, command, unused64},
      {Opcode::Loop, unused8, unused8, {{1, 0xFFFFFFFF}, {0}}, unused64},
      {Opcode::EndLoop, unused8, unused8, unused32, unused64},
      {Opcode::Add, unused8, unused8, address, any64},
      {Opcode::Barrier, unused8, unused8, unused32, unused64},
      {Opcode::If, {{0, 3}, {4, 255}}, unused8, address, any64},
      {Opcode::Else, unused8, unused8, unused32, unused64},
      {Opcode::EndIf, unused8, unused8, unused32, unused64},
  };
  ASSERT_EQ(std::size(table), size_t(Opcode::EndIf) + 1);
  for (const OpcodeBounds &row : table) {
    Instruction base;
    base.opcode = row.opcode;
    base.reg = static_cast<uint8_t>(row.reg.good[0]);
    base.peMask = static_cast<uint8_t>(row.mask.good[0]);
    base.word = static_cast<uint32_t>(row.word.good[0]);
    base.imm = row.imm.good[0];
    auto sweep = [&](const Bounds &bounds, auto set) {
      for (bool isGood : {true, false})
        for (uint64_t value : isGood ? bounds.good : bounds.bad) {
          Instruction inst = base;
          set(inst, value);
          EXPECT_EQ(comesBack(makeKernelOf(inst)), isGood)
              << "opcode " << unsigned(row.opcode) << " value " << value;
        }
    };
    sweep(row.reg, [](Instruction &i, uint64_t v) { i.reg = v; });
    sweep(row.mask, [](Instruction &i, uint64_t v) { i.peMask = v; });
    sweep(row.word, [](Instruction &i, uint64_t v) { i.word = v; });
    sweep(row.imm, [](Instruction &i, uint64_t v) { i.imm = v; });
  }
  Instruction unknown;
  for (unsigned opcode : {unsigned(Opcode::EndIf) + 1, 255u}) {
    unknown.opcode = static_cast<Opcode>(opcode);
    EXPECT_FALSE(comesBack(makeKernelOf(unknown)));
  }
}

//===----------------------------------------------------------------------===//
// DMA descriptors
//===----------------------------------------------------------------------===//

/// The little-endian number at `offset`.
uint64_t valueAt(llvm::ArrayRef<uint8_t> bytes, size_t offset, unsigned size) {
  uint64_t value = 0;
  for (unsigned k = 0; k < size; ++k)
    value |= uint64_t(bytes[offset + k]) << 8 * k;
  return value;
}

class DescriptorFields : public testing::Test {
protected:
  DescriptorFields() { base.sourceStrides[0] = base.destinationStrides[0] = 1; }
  /// Encodes; the number of `size` bytes at `offset` is `stored`, all other
  /// bytes but those at `also` are those of `base`, and it decodes the same.
  void good(const DmaDescriptor &descriptor, size_t offset, unsigned size,
            uint64_t stored, std::optional<size_t> also = std::nullopt) {
    auto bytes = descriptor.encode();
    ASSERT_TRUE(bool(bytes)) << llvm::toString(bytes.takeError());
    EXPECT_EQ(valueAt(*bytes, offset, size), stored) << offset;
    auto plain = *base.encode();
    for (size_t k = 0; k < bytes->size(); ++k) {
      bool isOther = (k < offset || k >= offset + size) &&
                     !(also && k >= *also && k < *also + size);
      EXPECT_TRUE(!isOther || (*bytes)[k] == plain[k]) << k;
    }
    auto decoded = DmaDescriptor::decode(*bytes);
    ASSERT_TRUE(bool(decoded)) << llvm::toString(decoded.takeError());
    EXPECT_EQ(*decoded, descriptor);
  }
  void bad(const DmaDescriptor &descriptor) {
    auto bytes = descriptor.encode();
    EXPECT_FALSE(bool(bytes));
    if (!bytes)
      llvm::consumeError(bytes.takeError());
  }
  void badBytes(size_t offset, unsigned size, uint64_t value) {
    auto bytes = *base.encode();
    for (unsigned k = 0; k < size; ++k)
      bytes[offset + k] = static_cast<uint8_t>(value >> 8 * k);
    auto decoded = DmaDescriptor::decode(bytes);
    EXPECT_FALSE(bool(decoded)) << value;
    if (!decoded)
      llvm::consumeError(decoded.takeError());
  }
  DmaDescriptor base;
};

TEST_F(DescriptorFields, Opcode) {
  for (unsigned opcode = 0; opcode <= 2; ++opcode) {
    DmaDescriptor d = base;
    d.opcode = static_cast<DmaOpcode>(opcode);
    good(d, 0x00, 8, opcode);
  }
  DmaDescriptor d = base;
  for (unsigned opcode : {3u, 255u}) {
    d.opcode = static_cast<DmaOpcode>(opcode);
    bad(d);
  }
  badBytes(0x00, 8, 3);
  for (unsigned bit = 2; bit < 64; ++bit)
    badBytes(0x00, 8, 1ull << bit);
}

TEST_F(DescriptorFields, Indirect) {
  for (unsigned dimension = 0; dimension < 8; ++dimension)
    for (bool isList : {false, true}) {
      DmaDescriptor d = base;
      d.indirectDimension = static_cast<uint8_t>(dimension);
      d.indirectList = isList;
      good(d, 0x08, 8, dimension | (isList ? 0x100 : 0));
    }
  DmaDescriptor d = base;
  d.indirectDimension = 8;
  bad(d);
  for (unsigned bit = 3; bit < 64; ++bit)
    if (bit != 8)
      badBytes(0x08, 8, 1ull << bit);
}

TEST_F(DescriptorFields, Addresses) {
  for (uint64_t address : {uint64_t(0), ~uint64_t(0)}) {
    DmaDescriptor d = base;
    d.source = address;
    good(d, 0x10, 8, address);
    d = base;
    d.destination = address;
    good(d, 0x18, 8, address);
  }
}

TEST_F(DescriptorFields, Limits) {
  for (unsigned k = 0; k < 8; ++k) {
    for (uint32_t limit : {1u, 2u, 65535u, 65536u}) {
      DmaDescriptor d = base;
      d.sourceLimits[k] = d.destinationLimits[k] = limit;
      good(d, 0x20 + 2 * k, 2, limit % 65536, 0x50 + 2 * k);
      good(d, 0x50 + 2 * k, 2, limit % 65536, 0x20 + 2 * k);
    }
    for (uint32_t limit : {0u, 65537u, 0xFFFFFFFFu}) {
      DmaDescriptor d = base;
      d.sourceLimits[k] = limit;
      bad(d);
      d = base;
      d.destinationLimits[k] = limit;
      bad(d);
    }
  }
}

TEST_F(DescriptorFields, Strides) {
  // Those of loop 0 are the packet.
  for (int32_t packet : {1, 4096}) {
    DmaDescriptor d = base;
    d.sourceStrides[0] = d.destinationStrides[0] = packet;
    good(d, 0x30, 4, packet, 0x60);
    good(d, 0x60, 4, packet, 0x30);
  }
  for (int32_t packet : {0, -1, 4097}) {
    DmaDescriptor d = base;
    d.sourceStrides[0] = d.destinationStrides[0] = packet;
    bad(d);
  }
  for (unsigned k = 1; k < 8; ++k)
    for (int32_t stride : {std::numeric_limits<int32_t>::min(), -1, 0,
                           std::numeric_limits<int32_t>::max()}) {
      DmaDescriptor d = base;
      d.sourceStrides[k] = stride;
      good(d, 0x30 + 4 * k, 4, static_cast<uint32_t>(stride));
      d = base;
      d.destinationStrides[k] = stride;
      good(d, 0x60 + 4 * k, 4, static_cast<uint32_t>(stride));
    }
}

TEST_F(DescriptorFields, Indices) {
  for (unsigned k = 0; k < 32; ++k)
    for (uint32_t index : {0u, 0xFFFFFFFFu}) {
      DmaDescriptor d = base;
      d.indirectIndices[k] = index;
      good(d, 0x80 + 4 * k, 4, index);
    }
}

//===----------------------------------------------------------------------===//
// Records of the sections
//===----------------------------------------------------------------------===//

/// `set` puts a value into a sound kernel.
template <typename Set>
void sweep(const char *name, const Bounds &bounds, Set set) {
  for (bool isGood : {true, false})
    for (uint64_t value : isGood ? bounds.good : bounds.bad) {
      Kernel kernel = makeKernel();
      set(kernel, value);
      EXPECT_EQ(comesBack(kernel), isGood) << name << ' ' << value;
    }
}

TEST(EDFFields, RecordsAtTheirBounds) {
  constexpr uint64_t all32 = 0xFFFFFFFF, all64 = ~0ull;
  sweep("PROG.cluster", {{1}, {0, 2, all32}},
        [](Kernel &k, uint64_t v) { k.programs[1].cluster = v; });

  sweep("SPMI.base", {{0x200000}, {0x1ffff8, 0x200001, 0x380008, all32}},
        [](Kernel &k, uint64_t v) { k.spm.base = v; });
  sweep("SPMI.kind", {{}, {2, 255}}, [](Kernel &k, uint64_t v) {
    k.spm.items[0].kind = static_cast<ItemKind>(v);
  });
  sweep("SPMI.block", {{}, {numBlocks, 255}}, [](Kernel &k, uint64_t v) {
    k.spm.items[0].block = static_cast<Block>(v);
  });
  sweep("SPMI.bank", {{0, 1}, {2, 255}},
        [](Kernel &k, uint64_t v) { k.spm.items[0].bank = v; });

  sweep("ARGS.role", {{0, 1, 2}, {5, 255}}, [](Kernel &k, uint64_t v) {
    k.arguments.operands[0].role = static_cast<Role>(v);
  });
  sweep("ARGS.type", {{0, 11}, {12, 255}}, [](Kernel &k, uint64_t v) {
    k.arguments.operands[0].type = static_cast<ElementType>(v);
  });
  // The other three have 1,024, 64 and 4,096 bytes; all share one HBM.
  sweep(
      "ARGS.bytes",
      {{0, machine::hbmOperandBytes - 5184},
       {machine::hbmOperandBytes - 5183, machine::hbmOperandBytes + 1, all64}},
      [](Kernel &k, uint64_t v) { k.arguments.operands[0].bytes = v; });
  sweep("ARGS.axis", {{0, all64}, {}}, [](Kernel &k, uint64_t v) {
    k.arguments.operands[0].axes[0].size = v;
  });
  sweep(
      "ARGS.relocation.address",
      {{0x200000, 0x2001f8}, {0x1ffff8, 0x2001f9, 0x200200, all32}},
      [](Kernel &k, uint64_t v) { k.arguments.relocations[0].spmAddress = v; });
  sweep("ARGS.relocation.operand", {{0, 3}, {4, all32}},
        [](Kernel &k, uint64_t v) { k.arguments.relocations[0].operand = v; });
  sweep("ARGS.relocation.addend", {{0, 1ull << 63, all64 >> 1}, {}},
        [](Kernel &k, uint64_t v) {
          k.arguments.relocations[0].addend = static_cast<int64_t>(v);
        });

  sweep("PLAN.tier", {{0, 2}, {3, 255}},
        [](Kernel &k, uint64_t v) { k.plan[0].tier = static_cast<Tier>(v); });
  sweep("PLAN.lanes", {{1, 2, 4, 8}, {0, 3, 9, 16, 255}},
        [](Kernel &k, uint64_t v) {
          k.plan[1].lanes = v;
          k.plan[1].size = 1;
        });
  sweep("PLAN.cluster", {{0, 1}, {2, all32}},
        [](Kernel &k, uint64_t v) { k.plan[0].cluster = v; });
  sweep("PLAN.address", {{0, 524288 - 1024}, {524288 - 1023, all32}},
        [](Kernel &k, uint64_t v) { k.plan[0].address = v; });
  sweep("PLAN.size", {{0, 524288 - 0x800}, {524288 - 0x7ff, all32}},
        [](Kernel &k, uint64_t v) { k.plan[0].size = v; });
  sweep("PLAN.size of TRF", {{8192}, {8193}},
        [](Kernel &k, uint64_t v) { k.plan[1].size = v; });
  sweep("PLAN.size of VRF", {{8192 - 0x800}, {8192 - 0x7ff}},
        [](Kernel &k, uint64_t v) {
          k.plan[0].tier = Tier::VRF;
          k.plan[0].size = v;
        });
  sweep("PLAN.first", {{0, 3000}, {3001, all64}},
        [](Kernel &k, uint64_t v) { k.plan[0].firstCycle = v; });
  sweep("PLAN.last", {{1003, all64}, {0, 1002}},
        [](Kernel &k, uint64_t v) { k.plan[0].lastCycle = v; });
  sweep("PLAN.name", {{0, 7, all32}, {}},
        [](Kernel &k, uint64_t v) { k.plan[0].name = v; });

  sweep("CNST.kind", {{}, {2, all32}}, [](Kernel &k, uint64_t v) {
    k.constants[0].kind = static_cast<ConstantKind>(v);
  });
  sweep("CNST.table", {{}, {0, 5, all32}},
        [](Kernel &k, uint64_t v) { k.constants[1].index = v; });
  for (uint32_t code : {1u, 2u, 3u, 4u}) {
    Kernel kernel = makeKernel();
    kernel.constants[1] = {ConstantKind::Table, code, makeLookupTable(code)};
    EXPECT_TRUE(comesBack(kernel)) << code;
    kernel.constants[1].bytes.push_back(0);
    EXPECT_FALSE(comesBack(kernel)) << code;
  }

  sweep("SCHD.kind", {{0, 5}, {6, 255}}, [](Kernel &k, uint64_t v) {
    k.schedule.commands[0].kind = static_cast<CommandKind>(v);
  });
  for (uint64_t cycles : {uint64_t(0), all64}) {
    Kernel kernel = makeKernel();
    kernel.schedule.makespan = kernel.schedule.lowerBound = cycles;
    kernel.schedule.commands[0].begin = kernel.schedule.commands[0].end =
        cycles;
    kernel.schedule.commands[0].index = static_cast<uint32_t>(cycles);
    kernel.schedule.commands[0].instructions = {static_cast<uint32_t>(cycles),
                                                static_cast<uint32_t>(cycles)};
    EXPECT_TRUE(comesBack(kernel));
  }

  sweep("LOCS.program", {{1}, {0, 2, all32}}, [](Kernel &k, uint64_t v) {
    k.locations.lines[2].program = v;
    k.locations.lines[2].instruction = 0;
  });
  sweep("LOCS.instruction", {{0}, {1, all32}},
        [](Kernel &k, uint64_t v) { k.locations.lines[2].instruction = v; });
  sweep("LOCS.file", {{0, 1}, {2, all32}},
        [](Kernel &k, uint64_t v) { k.locations.lines[2].file = v; });
  sweep("LOCS.line", {{0, all32}, {}},
        [](Kernel &k, uint64_t v) { k.locations.lines[2].line = v; });
  sweep("LOCS.column", {{0, all32}, {}},
        [](Kernel &k, uint64_t v) { k.locations.lines[2].column = v; });
}

//===----------------------------------------------------------------------===//
// Flipped bytes
//===----------------------------------------------------------------------===//

/// Two kernels, one with a constant that is packed: headers, padding, frames.
TEST(EDFFields, EveryFlippedByteOfAPackedFileIsNoticed) {
  std::vector<Kernel> kernels(2, makeKernel());
  kernels[1].names.kernel = "m::packed";
  std::vector<uint8_t> &constant = kernels[1].constants[0].bytes;
  constant.resize(8191);
  uint32_t state = 1;
  for (uint8_t &byte : constant)
    byte = (state = state * 1664525 + 1013904223) >> 28;
  kernels[1].arguments.operands[2].bytes = constant.size();
  auto bytes = edf::write(kernels, {.compress = true});
  ASSERT_TRUE(bool(bytes)) << llvm::toString(bytes.takeError());
  auto fault = [&] {
    auto reader = Reader::open(*bytes);
    if (!reader)
      return llvm::toString(reader.takeError());
    auto loaded = reader->loadAll();
    return loaded ? std::string() : llvm::toString(loaded.takeError());
  };
  ASSERT_EQ(fault(), "");
  EXPECT_TRUE(Reader::open(*bytes)->sections()[13].isPacked());
  for (uint8_t &byte : *bytes)
    for (uint8_t flip : {0x01, 0x80, 0xff}) {
      byte ^= flip;
      EXPECT_NE(fault(), "") << &byte - bytes->data();
      byte ^= flip;
    }
}

} // namespace
