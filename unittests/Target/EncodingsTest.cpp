//===- EncodingsTest.cpp - Tests of registers, commands, descriptors ------===//

#include "furiosa/Target/RNGD/Encodings.h"

#include "furiosa/Target/RNGD/Codes.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

using namespace furiosa::rngd;

namespace {

TEST(Sfr, Totals) {
  size_t registers = 0, fields = 0;
  for (const SfrBlock &block : sfrBlocks()) {
    registers += block.registers.size();
    fields += block.fields.size();
  }
  EXPECT_EQ(sfrBlocks().size(), 21u);
  EXPECT_EQ(registers, 234u);
  EXPECT_EQ(fields, 1038u);
}

TEST(Sfr, BlocksFillTheirPlace) {
  struct Expected {
    const char *name;
    uint32_t base, bytes;
    size_t registers;
  };
  const Expected expected[] = {
      {"Common", 0x0000, 0x30, 6},
      {"DataMemoryAddressMode", 0x0030, 0x8, 1},
      {"DotProductEngineWarmUpControl", 0x0040, 0x8, 1},
      {"SubFetchUnit", 0x0100, 0x70, 14},
      {"OperationDataPath", 0x0170, 0x8, 1},
      {"DotProductEngineRegisterFile", 0x0178, 0x10, 2},
      {"RegisterConfig", 0x0188, 0x8, 1},
      {"VectorRegisterFile", 0x0190, 0x8, 1},
      {"SubCommitUnit", 0x0198, 0x68, 13},
      {"DataMemory", 0x0200, 0x158, 26},
      {"CommitUnit", 0x0400, 0x8, 1},
      {"DotProductEngineParityError", 0x0408, 0x8, 1},
      {"FetchUnitMainContext", 0x1000, 0x80, 16},
      {"OperationDataPathMainContext", 0x1080, 0x8, 1},
      {"DotProductEngineMainContext", 0x1088, 0x70, 14},
      {"TransposeEngineMainContext", 0x10f8, 0x8, 1},
      {"CommitUnitMainContext", 0x1100, 0x60, 12},
      {"VectorRouteUnitMainContext", 0x1160, 0x68, 13},
      {"VectorReduceUnitMainContext", 0x11c8, 0x68, 13},
      {"VectorArithmeticUnitMainContext", 0x1230, 0x2f8, 95},
      {"VectorRegisterFileParityErrorCounter", 0x1f08, 0x8, 1},
  };
  ASSERT_EQ(sfrBlocks().size(), std::size(expected));
  for (auto [block, want] : llvm::zip_equal(sfrBlocks(), expected)) {
    EXPECT_EQ(block.name, want.name);
    EXPECT_EQ(block.base, want.base) << want.name;
    EXPECT_EQ(block.sizeInBytes, want.bytes) << want.name;
    EXPECT_EQ(block.registers.size(), want.registers) << want.name;
    EXPECT_EQ(parseBlock(want.name), block.id);
    // The size operand of mtosfr has eight bits.
    EXPECT_LE(block.numWords(), 255u);
  }
}

TEST(Sfr, FieldsDoNotOverlapAndNamesAreUnique) {
  for (const SfrBlock &block : sfrBlocks()) {
    llvm::StringSet<> names;
    for (const SfrField &field : block.fields)
      EXPECT_TRUE(names.insert(field.str()).second)
          << block.name.str() << ' ' << field.str();
    uint32_t next = 0;
    for (const SfrRegister &reg : block.registers) {
      EXPECT_GE(reg.offset, next) << block.name.str() << ' ' << reg.name.str();
      EXPECT_EQ(reg.offset % 8, 0);
      next = reg.offset + 8;
      uint64_t seen = 0;
      for (const SfrField &field :
           llvm::ArrayRef(block.fields).slice(reg.firstField, reg.numFields)) {
        EXPECT_LE(field.lsb + field.width, 64);
        uint64_t mask = field.max() << field.lsb;
        EXPECT_EQ(seen & mask, 0u)
            << block.name.str() << ' ' << reg.name.str() << ' ' << field.str();
        seen |= mask;
      }
      EXPECT_EQ(seen, reg.fieldMask);
      // A reset value sets only bits that are there.
      EXPECT_EQ(reg.reset & ~seen, 0u) << reg.name.str();
    }
    EXPECT_LE(next, block.sizeInBytes) << block.name.str();
  }
}

TEST(Sfr, EveryFieldAtItsBounds) {
  for (const SfrBlock &block : sfrBlocks())
    for (const SfrField &field : block.fields) {
      SfrImage image(block.id);
      ASSERT_EQ(image.set(field.name, field.index, field.max()), std::nullopt);
      // All bits are where the table says, and nowhere else.
      const SfrRegister &reg = block.registers[field.reg];
      for (auto [i, word] : llvm::enumerate(image.words()))
        EXPECT_EQ(word, i * 8 == reg.offset ? field.max() << field.lsb : 0);
      EXPECT_EQ(image.checkReserved(), std::nullopt);

      llvm::Expected<SfrImage> copy =
          SfrImage::fromWords(block.id, image.words());
      ASSERT_TRUE(bool(copy));
      EXPECT_EQ(copy->get(field.name, field.index), field.max());
      ASSERT_EQ(image.set(field.name, field.index, 0), std::nullopt);
      EXPECT_EQ(image, SfrImage(block.id));

      if (field.width < 64) {
        Fault fault = image.set(field.name, field.index, field.max() + 1);
        ASSERT_TRUE(fault.has_value()) << field.str();
        EXPECT_NE(fault->find("does not fit the " +
                              std::to_string(field.width) + " bits of " +
                              block.name.str() + "." + field.str()),
                  std::string::npos)
            << *fault;
        EXPECT_EQ(image, SfrImage(block.id)) << "a refused value is not kept";
      }
    }
}

TEST(Sfr, ReservedBits) {
  for (const SfrBlock &block : sfrBlocks())
    for (unsigned word = 0; word < block.numWords(); ++word)
      for (unsigned bit = 0; bit < 64; ++bit) {
        std::vector<uint64_t> words(block.numWords(), 0);
        words[word] = 1ull << bit;
        llvm::Expected<SfrImage> image = SfrImage::fromWords(block.id, words);
        ASSERT_TRUE(bool(image));
        const SfrRegister *reg = block.registerAt(word * 8);
        bool reserved = !reg || !(reg->fieldMask >> bit & 1);
        Fault fault = image->checkReserved();
        EXPECT_EQ(fault.has_value(), reserved);
        if (fault && reg) {
          EXPECT_EQ(*fault, "reserved bit " + std::to_string(bit) +
                                " of register " + reg->name.str() +
                                " in block " + block.name.str() +
                                " is not zero");
        }
      }
}

TEST(Sfr, Faults) {
  SfrImage image(Block::FetchUnitMainContext);
  EXPECT_EQ(image.set("limit", 1),
            Fault("register block FetchUnitMainContext has no field 'limit'"));
  EXPECT_EQ(image.set("limits", 8, 1),
            Fault("FetchUnitMainContext.limits[8] does not exist: the field "
                  "has 8 elements"));
  EXPECT_EQ(image.set("base", 1u << 22),
            Fault("value 4194304 does not fit the 22 bits of "
                  "FetchUnitMainContext.base: at most 4194303"));
  EXPECT_EQ(image.setLimit("limits", 0, 0),
            Fault("limit 0 of FetchUnitMainContext.limits[0] is not in 1 to "
                  "65536"));
  EXPECT_TRUE(image.setLimit("limits", 0, 65537).has_value());
  EXPECT_EQ(image.get("nothing"), std::nullopt);
  llvm::Expected<SfrImage> wrong =
      SfrImage::fromWords(Block::Common, std::vector<uint64_t>(5));
  ASSERT_FALSE(bool(wrong));
  EXPECT_EQ(llvm::toString(wrong.takeError()),
            "block Common has 6 words, not 5");
}

TEST(Sfr, LimitsWrapAt65536) {
  SfrImage image(Block::FetchUnitMainContext);
  ASSERT_EQ(image.setLimit("limits", 3, 65536), std::nullopt);
  EXPECT_EQ(image.get("limits", 3), 0u);
  EXPECT_EQ(image.getLimit("limits", 3), 65536u);
  ASSERT_EQ(image.setLimit("limits", 3, 1), std::nullopt);
  EXPECT_EQ(image.get("limits", 3), 1u);
  EXPECT_EQ(encodeLimit(65536), 0);
  EXPECT_EQ(encodeLimit(65535), 65535);
  EXPECT_EQ(encodeLimit(0), std::nullopt);
}

TEST(Sfr, Resets) {
  SfrImage common = SfrImage::atReset(Block::Common);
  EXPECT_EQ(common.words()[2], 0x7ff000007ffull);
  SfrImage vau = SfrImage::atReset(Block::VectorArithmeticUnitMainContext);
  EXPECT_EQ(vau.words()[0x020 / 8], 0x600000u);
  EXPECT_EQ(vau.words()[0x0a0 / 8], 0x50000u);
  EXPECT_EQ(vau.words()[0x108 / 8], 0x600000u);
  EXPECT_EQ(vau.words()[0x1c8 / 8], 0x4000u);
  EXPECT_EQ(SfrImage::atReset(Block::VectorReduceUnitMainContext).words()[0],
            0x50000u);
}

/// The main fetch of the published 64 x 64 x 64 int8 matmul, by hand.
TEST(Sfr, MatmulFetchImage) {
  SfrImage image(Block::FetchUnitMainContext);
  const unsigned limits[] = {2, 2, 32, 2, 1, 2, 1, 1};
  const unsigned strides[] = {64, 16, 128, 0, 0, 32, 4096, 0};
  for (unsigned i = 0; i < 8; ++i) {
    ASSERT_EQ(image.setLimit("limits", i, limits[i]), std::nullopt);
    ASSERT_EQ(image.set("strides", i, strides[i]), std::nullopt);
  }
  ASSERT_EQ(image.set("base", 0x1000), std::nullopt);
  ASSERT_EQ(image.set("fetch_size", 16), std::nullopt);
  ASSERT_EQ(image.set("flit_count", 256), std::nullopt);
  ASSERT_EQ(image.set("words_per_packet", 4), std::nullopt);
  const uint64_t expected[16] = {
      0,
      0,
      0,
      0x0000001000001000, // base, fetch_size
      0x0002002000020002, // limits 0 to 3
      0x0001000100020001, // limits 4 to 7
      0x0000001000000040, // strides
      0x0000000000000080,
      0x0000002000000000,
      0x0000000000001000,
      0x0000000400000100, // flit_count, words_per_packet
      0,
  };
  EXPECT_EQ(image.words(), llvm::ArrayRef(expected));
  std::string text;
  llvm::raw_string_ostream os(text);
  printImage(os, image, "");
  EXPECT_EQ(text.substr(0, 46),
            "base = 4096\nfetch_size = 16\nlimits[0] = 2\nlimi");
}

/// Register places of ALUs, spelled out.
TEST(Sfr, AluLayout) {
  auto vau = Block::VectorArithmeticUnitMainContext;
  SfrImage image(vau);
  ASSERT_EQ(image.set("fxp_add.op_mode", 0xf), std::nullopt);
  ASSERT_EQ(image.set("fxp_add.rf_execution_id_mask", 0xf), std::nullopt);
  EXPECT_EQ(image.words()[0x0a8 / 8], 0x00f000000000000full);
  ASSERT_EQ(image.set("fxp_add.scalar", 1, 0x12345678), std::nullopt);
  EXPECT_EQ(image.words()[0x0b0 / 8], 0x1234567800000000ull);
  ASSERT_EQ(image.set("fp_fma.secondary_scalar", 0, 7), std::nullopt);
  EXPECT_EQ(image.words()[0x120 / 8], 7ull << 32);
  ASSERT_EQ(image.set("fp_fma.secondary_scalar", 2, 9), std::nullopt);
  EXPECT_EQ(image.words()[0x128 / 8], 9ull << 32);
  ASSERT_EQ(image.set("fp_div.acc_execution_id_mask", 1), std::nullopt);
  EXPECT_EQ(image.words()[0x1a8 / 8], 1ull << 60);
  EXPECT_EQ(sfrBlock(vau).count("fp_exp.scalar"), 0u);
  ASSERT_EQ(image.set("write_indexer_stride", 7, 0x1fff), std::nullopt);
  EXPECT_EQ(image.words()[0x2f0 / 8], 0x1fffull << 48);
  SfrImage reduce(Block::VectorReduceUnitMainContext);
  ASSERT_EQ(reduce.set("min.rhs_cmp_op", 3), std::nullopt);
  EXPECT_EQ(reduce.words()[0x050 / 8], 3ull << 16);
}

TEST(Sfr, Addresses) {
  EXPECT_EQ(sfrAddress(Block::FetchUnitMainContext, 0), 0xFF1000u);
  EXPECT_EQ(sfrAddress(Block::FetchUnitMainContext, 1, 0x18, 3), 0x31818u);
  for (const SfrBlock &block : sfrBlocks())
    for (unsigned bank = 0;
         bank < (block.context == BlockContext::Common ? 1u : 2u); ++bank)
      for (const SfrRegister &reg : block.registers) {
        std::optional<SfrLocation> place =
            findSfr(sfrAddress(block.id, bank, reg.offset));
        ASSERT_TRUE(place.has_value());
        EXPECT_EQ(place->block, block.id);
        EXPECT_EQ(place->bank, bank);
        EXPECT_EQ(place->offset, reg.offset);
        EXPECT_EQ(place->slice, 0xFFu);
      }
  EXPECT_EQ(findSfr(0x38), std::nullopt);
  EXPECT_EQ(findSfr(0xF00), std::nullopt);
  EXPECT_EQ(findSfr(1u << 25), std::nullopt);
}

//===----------------------------------------------------------------------===//
// TUC
//===----------------------------------------------------------------------===//

TEST(Tuc, OpcodesAndOperands) {
  EXPECT_EQ(tucOps().size(), 23u);
  const unsigned undeclared[] = {0x00, 0x0e, 0x0f, 0x17, 0x1b, 0x7f};
  for (unsigned opcode : undeclared) {
    EXPECT_EQ(findTucOp(uint64_t(opcode)), nullptr);
    llvm::Expected<TucCommand> command = TucCommand::decode(opcode << 25);
    ASSERT_FALSE(bool(command));
    EXPECT_NE(llvm::toString(command.takeError()).find("unknown TUC opcode"),
              std::string::npos);
  }
  const std::pair<const char *, unsigned> operands[] = {
      {"itosfr", 1},  {"rtosfr", 2},   {"rtosfri", 1}, {"mtosfr", 1},
      {"stosfr", 2},  {"sfrtos", 1},   {"stall", 1},   {"itos", 3},
      {"itosi", 1},   {"stos", 2},     {"stotab", 2},  {"stotrf", 3},
      {"stovrf", 3},  {"exec", 0},     {"wait", 0},    {"interrupt", 0},
      {"dma", 3},     {"dma1", 1},     {"waiti", 0},   {"dmaw", 4},
      {"profile", 1}, {"profilei", 0}, {"prflush", 0}};
  for (auto [mnemonic, count] : operands) {
    const TucOpInfo *info = findTucOp(llvm::StringRef(mnemonic));
    ASSERT_NE(info, nullptr) << mnemonic;
    EXPECT_EQ(info->registers.size(), count) << mnemonic;
  }
}

TEST(Tuc, EveryFieldAtItsBounds) {
  for (const TucOpInfo &info : tucOps()) {
    llvm::StringSet<> names;
    auto checkField = [&](const TucField &field) {
      EXPECT_TRUE(names.insert(field.name).second) << field.name.str();
      uint64_t max =
          field.checkedWidth >= 64 ? ~0ull : (1ull << field.checkedWidth) - 1;
      for (uint64_t value : {uint64_t(0), max}) {
        TucCommand command(info.op);
        ASSERT_EQ(command.set(field.name, value), std::nullopt);
        std::vector<uint64_t> operands;
        for (unsigned i = 0; i < command.numOperands(); ++i)
          operands.push_back(command.operand(i));
        llvm::Expected<TucCommand> decoded =
            TucCommand::decode(command.word(), operands);
        ASSERT_TRUE(bool(decoded)) << llvm::toString(decoded.takeError());
        EXPECT_EQ(decoded->op(), info.op);
        EXPECT_EQ(decoded->get(field.name), value);
        // Only this field is set.
        for (const TucField &other : info.wordFields)
          if (other.name != field.name) {
            EXPECT_EQ(decoded->get(other.name), 0u);
          }
        for (const auto &fields : info.registers)
          for (const TucField &other : fields)
            if (other.name != field.name) {
              EXPECT_EQ(decoded->get(other.name), 0u);
            }
      }
      if (max == ~0ull)
        return;
      TucCommand command(info.op);
      Fault fault = command.set(field.name, max + 1);
      ASSERT_TRUE(fault.has_value());
      EXPECT_NE(fault->find(info.mnemonic.str() + "." + field.name.str()),
                std::string::npos);
    };
    for (const TucField &field : info.wordFields)
      checkField(field);
    for (const auto &fields : info.registers)
      for (const TucField &field : fields)
        checkField(field);
  }
}

TEST(Tuc, LayoutsDoNotOverlap) {
  auto check = [](llvm::ArrayRef<TucField> fields, unsigned width,
                  llvm::StringRef name) {
    uint64_t seen = 0;
    for (const TucField &field : fields) {
      EXPECT_LE(unsigned(field.lsb + field.width), width) << name.str();
      EXPECT_LE(field.checkedWidth, field.width) << name.str();
      uint64_t mask = (field.width >= 64 ? ~0ull : (1ull << field.width) - 1)
                      << field.lsb;
      EXPECT_EQ(seen & mask, 0u) << name.str() << ' ' << field.name.str();
      seen |= mask;
    }
  };
  for (const TucOpInfo &info : tucOps()) {
    check(info.wordFields, 25, info.mnemonic);
    for (const auto &fields : info.registers)
      check(fields, 64, info.mnemonic);
  }
}

TEST(Tuc, KnownWords) {
  TucCommand exec(TucOp::Exec);
  ASSERT_EQ(exec.set("subunit_bitmap", 0x141), std::nullopt);
  ASSERT_EQ(exec.set("target_context", 1), std::nullopt);
  // Opcode 0x10 in bits 31:25, target in bit 24.
  EXPECT_EQ(exec.word(), 0x21000141u);
  std::string text;
  llvm::raw_string_ostream os(text);
  exec.print(os);
  EXPECT_EQ(text, "exec subunit_bitmap=dm_slice|sub_fetch|trf context_id=0 "
                  "target_context=sub");

  TucCommand dma(TucOp::DmaW);
  ASSERT_EQ(dma.setRegisters(4), std::nullopt);
  EXPECT_EQ(dma.word(), 0x16u << 25 | 4u << 19 | 5u << 13 | 6u << 7 | 7u << 1);
  EXPECT_EQ(dma.registerIndex(3), 7u);
  ASSERT_EQ(dma.set("desc_addr0", 0x200100), std::nullopt);
  ASSERT_EQ(dma.set("dma_tag_id", 63), std::nullopt);
  EXPECT_EQ(dma.operand(0), 63ull << 40 | 0x200100);
  EXPECT_TRUE(dma.setRegisters(61).has_value());
  EXPECT_TRUE(dma.setRegisters(~0u).has_value());

  TucCommand mtosfr(TucOp::MtoSfr);
  ASSERT_EQ(mtosfr.set("spm_address", 0x200000), std::nullopt);
  ASSERT_EQ(mtosfr.set("size", 16), std::nullopt);
  ASSERT_EQ(mtosfr.set("sfr_address", 0xFF1000), std::nullopt);
  EXPECT_EQ(mtosfr.operand(0), 0xFF1000ull << 32 | 16ull << 24 | 0x200000);
  EXPECT_EQ(mtosfr.set("spm_adress", 0),
            Fault("TUC command mtosfr has no field 'spm_adress'"));
}

TEST(Tuc, SmallerTargetsAreChecked) {
  EXPECT_TRUE(TucCommand(TucOp::StoTrf).set("write_row_base", 2048));
  EXPECT_FALSE(TucCommand(TucOp::StoTrf).set("write_row_base", 2047));
  EXPECT_TRUE(TucCommand(TucOp::StoVrf).set("write_row_base", 256));
  EXPECT_TRUE(TucCommand(TucOp::Dma1).set("dma_tag_id", 32));
  TucCommand command(TucOp::StoVrf);
  EXPECT_TRUE(command.setOperand(2, 256).has_value());
  EXPECT_FALSE(command.setOperand(2, 255).has_value());
  EXPECT_EQ(command.setOperand(2, 1ull << 12),
            Fault("reserved bit 12 of operand 2 of TUC command stovrf is not "
                  "zero"));
  EXPECT_TRUE(command.setOperand(3, 0).has_value());
}

TEST(Tuc, ReservedWordBits) {
  llvm::Expected<TucCommand> command = TucCommand::decode(0x20000800);
  ASSERT_FALSE(bool(command));
  EXPECT_EQ(llvm::toString(command.takeError()),
            "reserved bit 11 of TUC command exec is not zero in 0x20000800");
}

//===----------------------------------------------------------------------===//
// DMA descriptor, addresses
//===----------------------------------------------------------------------===//

static DmaDescriptor sliceScatter() {
  DmaDescriptor d;
  d.source = 0xC000400000;
  d.destination = 0x10000800;
  d.sourceLimits = {1, 64, 1, 1, 1, 1, 1, 1};
  d.sourceStrides = {1024, 1024, 0, 0, 0, 0, 0, 0};
  d.destinationLimits = d.sourceLimits;
  d.destinationStrides = {1024, 0x400000, 0, 0, 0, 0, 0, 0};
  return d;
}

TEST(Dma, LayoutAndRoundTrip) {
  DmaDescriptor d = sliceScatter();
  d.indirectIndices[31] = 0xA5A5A5A5;
  d.destinationStrides[7] = -4;
  auto bytes = d.encode();
  ASSERT_TRUE(bool(bytes));
  EXPECT_EQ((*bytes)[0x10], 0x00);
  EXPECT_EQ((*bytes)[0x12], 0x40);
  EXPECT_EQ((*bytes)[0x14], 0xC0);
  EXPECT_EQ((*bytes)[0x22], 64);
  EXPECT_EQ((*bytes)[0x31], 0x04);
  EXPECT_EQ((*bytes)[0x52], 64);
  EXPECT_EQ((*bytes)[0x66], 0x40);
  EXPECT_EQ((*bytes)[0x7c], 0xFC);
  EXPECT_EQ((*bytes)[0xff], 0xA5);
  auto decoded = DmaDescriptor::decode(*bytes);
  ASSERT_TRUE(bool(decoded));
  EXPECT_EQ(*decoded, d);
  EXPECT_EQ(d.numPackets(), 64u);
  EXPECT_EQ(d.packetBytes(), 1024u);
}

TEST(Dma, Faults) {
  auto fault = [](auto change) {
    DmaDescriptor d = sliceScatter();
    change(d);
    Fault fault = d.check();
    auto bytes = d.encode();
    EXPECT_EQ(bool(bytes), !fault.has_value());
    if (!bytes)
      llvm::consumeError(bytes.takeError());
    return fault.value_or("");
  };
  EXPECT_EQ(fault([](DmaDescriptor &) {}), "");
  EXPECT_EQ(fault([](DmaDescriptor &d) {
              d.sourceLimits[2] = d.destinationLimits[3] = 65536;
            }),
            "");
  EXPECT_EQ(fault([](DmaDescriptor &d) { d.sourceLimits[1] = 0; }),
            "source limit 1 is 0: not in 1 to 65536");
  EXPECT_EQ(fault([](DmaDescriptor &d) { d.destinationLimits[7] = 65537; }),
            "destination limit 7 is 65537: not in 1 to 65536");
  EXPECT_EQ(fault([](DmaDescriptor &d) { d.sourceLimits[1] = 32; }),
            "source limits make 32 packets, destination limits 64");
  EXPECT_EQ(fault([](DmaDescriptor &d) {
              d.sourceLimits.fill(65536);
              d.destinationLimits.fill(65536);
            }),
            "the product of the limits exceeds 64 bits");
  EXPECT_EQ(fault([](DmaDescriptor &d) { d.sourceStrides[0] = 512; }),
            "packets of 512 bytes at the source, of 1024 at the destination");
  EXPECT_EQ(fault([](DmaDescriptor &d) {
              d.sourceStrides[0] = d.destinationStrides[0] = 4097;
            }),
            "a packet has 4097 bytes: not in 1 to 4096");
  EXPECT_EQ(fault([](DmaDescriptor &d) {
              d.sourceStrides[0] = d.destinationStrides[0] = -8;
            }),
            "a packet has -8 bytes: not in 1 to 4096");
  EXPECT_EQ(
      fault([](DmaDescriptor &d) { d.opcode = static_cast<DmaOpcode>(3); }),
      "unknown DMA opcode 3");

  std::vector<uint8_t> bytes(256, 0);
  bytes[8] = 0x08;
  auto reserved = DmaDescriptor::decode(bytes);
  EXPECT_FALSE(bool(reserved));
  llvm::consumeError(reserved.takeError());
  auto shorter = DmaDescriptor::decode(llvm::ArrayRef(bytes).drop_back());
  EXPECT_FALSE(bool(shorter));
  llvm::consumeError(shorter.takeError());
}

TEST(Addresses, Regions) {
  using Kind = AddressLocation::Kind;
  EXPECT_EQ(dmAddress(63, 0x20), 0x1FC00020u);
  EXPECT_EQ(remotePEAddress(1, 5), 0x81A0000000u);
  EXPECT_EQ(remoteHBMAddress(1, 0), 0x8100000000u);
  EXPECT_EQ(remoteHBMAddress(2, 1), 0x8900000000u);
  EXPECT_EQ(remoteHBMAddress(0, 0), std::nullopt);
  EXPECT_EQ(remoteHBMAddress(2, 2), std::nullopt);
  EXPECT_EQ(locate(0x200000).kind, Kind::SPM);
  EXPECT_EQ(locate(0x380000).kind, Kind::None);
  EXPECT_EQ(locate(0x00C00040).kind, Kind::TDMA);
  EXPECT_EQ(locate(0x0C000028).kind, Kind::TUC);
  EXPECT_EQ(locate(0x0E011088).kind, Kind::SFR);
  AddressLocation dm = locate(0x10C00123);
  EXPECT_EQ(dm.kind, Kind::DM);
  EXPECT_EQ(dm.unit, 3u);
  EXPECT_EQ(dm.offset, 0x123u);
  AddressLocation remote = locate(0x81A0000010);
  EXPECT_EQ(remote.kind, Kind::Remote);
  EXPECT_EQ(remote.unit, 13u);
  AddressLocation hbm = locate(0xC000400000);
  EXPECT_EQ(hbm.kind, Kind::HBM);
  EXPECT_EQ(hbm.offset, 0x400000u);
  EXPECT_EQ(locate(0xC000000000 + (48ull << 30)).kind, Kind::None);
}

TEST(Encodings, Markdown) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printEncodingsMarkdown(os);
  EXPECT_NE(text.find("21 blocks, 234 registers, 1038 fields."),
            std::string::npos);
  EXPECT_NE(text.find("| `0x020` | `limit0` | `limits[0..3]` 15:0 step 16 |"),
            std::string::npos);
  EXPECT_NE(text.find("| `0x10` | exec | `subunit_bitmap` 10:0; `context_id` "
                      "16; `target_context` 24 |  | start"),
            std::string::npos);
  EXPECT_NE(text.find("| `0x30` | i32[8] | `source_strides` |"),
            std::string::npos);
  EXPECT_NE(text.find("0 `forwarding` (exercised); 1 `broadcast01` (own)"),
            std::string::npos);
}

} // namespace
