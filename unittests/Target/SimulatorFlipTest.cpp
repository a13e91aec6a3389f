//===- SimulatorFlipTest.cpp - Every bit of an image counts ---------------===//
//
// Flips each bit of each register image and DMA descriptor of a kernel: the
// result must change, or the run must be refused by register and field.
//
//===----------------------------------------------------------------------===//

#include "SimulatorContractions.h"
#include "SimulatorPipelines.h"

#include "llvm/ADT/StringExtras.h"

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::test;

namespace {

/// Name of a bit as an error must give it: "Block.register.field[k]", or for a
/// reserved bit the name of the register.
std::string nameOfBit(const SfrBlock &block, unsigned word, unsigned bit) {
  const SfrRegister *reg = block.registerAt(word * 8);
  if (!reg)
    return block.name.str();
  for (unsigned k = 0; k < reg->numFields; ++k) {
    const SfrField &field = block.fields[reg->firstField + k];
    if (bit >= field.lsb && bit < unsigned(field.lsb) + field.width)
      return (block.name + "." + reg->name + "." + field.str()).str();
  }
  return reg->name.str();
}

/// Bits whose flip changes nothing and is not refused.
std::vector<std::string>
findSilentBits(edf::Kernel kernel, const std::vector<OperandBuffer> &given,
               unsigned output,
               llvm::function_ref<bool(const edf::SpmItem &)> isChosen) {
  std::vector<OperandBuffer> reference = given;
  EXPECT_EQ(run(kernel, reference), "");
  std::vector<std::string> silent;
  unsigned refused = 0, changed = 0;
  for (const edf::SpmItem &item : kernel.spm.items) {
    if (!isChosen(item))
      continue;
    for (unsigned k = 0; k < item.size * 8; ++k) {
      uint8_t &byte = kernel.spm.bytes[item.address - kernel.spm.base + k / 8];
      byte ^= 1u << k % 8;
      std::vector<OperandBuffer> operands = given;
      std::string error = run(kernel, operands);
      byte ^= 1u << k % 8;
      bool isImage = item.kind == edf::ItemKind::SfrImage;
      std::string name = isImage
                             ? nameOfBit(sfrBlock(item.block), k / 64, k % 64)
                             : "descriptor byte " + std::to_string(k / 8);
      if (error.empty()) {
        bool same = operands[output].bytes == reference[output].bytes &&
                    operands[output].defined == reference[output].defined;
        ++changed;
        if (same)
          silent.push_back(name + " bit " + std::to_string(k % 64));
        continue;
      }
      ++refused;
      // Refused, so some register and field must be named: the one that was
      // hit or one that it contradicts.
      if (isImage) {
        EXPECT_TRUE(
            llvm::StringRef(error).contains(sfrBlock(item.block).name) ||
            llvm::StringRef(error).contains("MainContext."))
            << name << ": " << error;
      }
    }
  }
  printf("%u bits change the result, %u are refused, %zu are silent\n",
         changed - unsigned(silent.size()), refused, silent.size());
  return silent;
}

Contraction smallContraction() {
  Contraction shape;
  shape.rows = 2;
  shape.outputs = 2;
  shape.times = 2;
  return shape;
}

void expectNone(const std::vector<std::string> &silent) {
  EXPECT_TRUE(silent.empty()) << llvm::join(silent, "\n");
}

TEST(Flip, ContractionImages) {
  Contraction shape = smallContraction();
  expectNone(findSilentBits(shape.build(), shape.makeOperands(7), 2,
                            [](const edf::SpmItem &item) {
                              return item.kind == edf::ItemKind::SfrImage &&
                                     item.block != Block::CommitUnitMainContext;
                            }));
}

// On all slices of a cluster, so that every bit of the slice bitmap counts.
TEST(Flip, ContractionCommit) {
  Contraction shape = smallContraction();
  shape.pes = 4;
  expectNone(findSilentBits(shape.build(), shape.makeOperands(7), 2,
                            [](const edf::SpmItem &item) {
                              return item.kind == edf::ItemKind::SfrImage &&
                                     item.block == Block::CommitUnitMainContext;
                            }));
}

TEST(Flip, ContractionDescriptors) {
  Contraction shape = smallContraction();
  expectNone(findSilentBits(shape.build(), shape.makeOperands(7), 2,
                            [](const edf::SpmItem &item) {
                              return item.kind == edf::ItemKind::DmaDescriptor;
                            }));
}

TEST(Flip, FloatContraction) {
  Contraction shape = smallContraction();
  shape.type = ElementType::BF16;
  shape.depth = 4;
  shape.lanes = 4;
  shape.logRead = 5;
  shape.interleaved = false;
  expectNone(findSilentBits(
      shape.build(), shape.makeOperands(8), 2, [](const edf::SpmItem &item) {
        return item.kind == edf::ItemKind::SfrImage &&
               item.block == Block::DotProductEngineMainContext;
      }));
}

bool isVectorImage(const edf::SpmItem &item) {
  return item.kind == edf::ItemKind::SfrImage &&
         sfrBlock(item.block).name.starts_with("Vector");
}

TEST(Flip, VectorWithImmediate) {
  Pipeline p;
  p.route = 0x0A;
  p.units = {vectorRoute(0, true), Image(Block::VectorReduceUnitMainContext),
             // Saturates half of the random words.
             fxp("fxp_add", 1, 1, 0x7FFF1234)};
  edf::Kernel kernel = p.build();
  expectNone(findSilentBits(kernel, operandsFor(kernel, 9), 1, isVectorImage));
}

TEST(Flip, Cast) {
  Pipeline p;
  p.route = 0x0A;
  p.units = {vectorRoute(6), Image(Block::VectorReduceUnitMainContext),
             Image(Block::VectorArithmeticUnitMainContext)};
  edf::Kernel kernel = p.build();
  expectNone(findSilentBits(kernel, operandsFor(kernel, 9), 1, isVectorImage));
}

TEST(Flip, VectorWithRegisterFile) {
  Pipeline p;
  p.route = 0x0A;
  p.loadsVrf = true;
  p.units = {vectorRoute(0, true), Image(Block::VectorReduceUnitMainContext),
             multiplyByVrf(2, {{8, 4}})};
  edf::Kernel kernel = p.build();
  expectNone(findSilentBits(kernel, operandsFor(kernel, 9), 1,
                            [](const edf::SpmItem &item) {
                              return item.kind == edf::ItemKind::SfrImage &&
                                     item.block != Block::CommitUnitMainContext;
                            }));
}

} // namespace
