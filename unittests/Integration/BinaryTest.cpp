//===- BinaryTest.cpp - What the bits of a kernel binary mean -------------===//
//
// Results come from programs, SPM image, arguments and plan alone; and every
// defined bit of the register images of gemm_i8 counts.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "furiosa/Support/Fill.h"
#include "furiosa/Target/RNGD/Encodings.h"

#include "../Target/EDFChecksums.h"

#include "gtest/gtest.h"

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::test;

namespace {

/// A binary with arguments and what it computes from them.
struct Reference {
  edf::Kernel kernel;
  std::vector<uint8_t> file;
  std::vector<OperandBuffer> arguments, results;
};

} // namespace

static std::string runKernel(const edf::Kernel &kernel,
                             std::vector<OperandBuffer> &operands,
                             const SimulationOptions &options = {}) {
  auto result = simulate(kernel, operands, options);
  return result ? std::string() : llvm::toString(result.takeError());
}

static void load(llvm::StringRef example, Reference &reference) {
  Built built;
  ASSERT_NO_FATAL_FAILURE(buildFile(example, built));
  reference.kernel = built.binary;
  reference.file = built.file;
  for (auto [index, operand] :
       llvm::enumerate(reference.kernel.arguments.operands)) {
    OperandBuffer buffer;
    if (operand.role == edf::Role::Input) {
      auto packed = packOperand(
          built.inputs[index], built.inputs[index].fill(Fill::bits(3 + index)));
      ASSERT_TRUE(static_cast<bool>(packed));
      buffer = {packed->bytes, packed->defined};
    }
    reference.arguments.push_back(std::move(buffer));
  }
  reference.results = reference.arguments;
  ASSERT_EQ(runKernel(reference.kernel, reference.results), "");
}

static bool sameResults(const std::vector<OperandBuffer> &lhs,
                        const std::vector<OperandBuffer> &rhs) {
  for (size_t i = 0; i < lhs.size(); ++i)
    if (lhs[i].bytes != rhs[i].bytes || lhs[i].defined != rhs[i].defined)
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Sections
//===----------------------------------------------------------------------===//

class Sections : public testing::TestWithParam<const char *> {};

TEST_P(Sections, OnlyFourOfThemCount) {
  Reference reference;
  ASSERT_NO_FATAL_FAILURE(load(GetParam(), reference));
  auto opened = edf::Reader::open(reference.file);
  ASSERT_TRUE(static_cast<bool>(opened));
  std::vector<uint8_t> file = reference.file;
  unsigned zeroed = 0;
  for (auto [index, section] : llvm::enumerate(opened->sections())) {
    if (section.id == "PROG" || section.id == "SPMI" || section.id == "ARGS" ||
        section.id == "PLAN")
      continue;
    auto bytes =
        llvm::MutableArrayRef(file).slice(section.offset, section.size);
    std::fill(bytes.begin(), bytes.end(), 0);
    ++zeroed;
  }
  ASSERT_EQ(zeroed, 3u);
  test::repairChecks(file);
  auto reader = edf::Reader::open(file);
  ASSERT_TRUE(static_cast<bool>(reader));
  std::vector<OperandBuffer> operands = reference.arguments;
  auto result = simulate(*reader, operands);
  ASSERT_TRUE(static_cast<bool>(result)) << llvm::toString(result.takeError());
  EXPECT_TRUE(sameResults(operands, reference.results));
}

INSTANTIATE_TEST_SUITE_P(Integration, Sections,
                         testing::Values("gemm_bf16", "gemm_i8", "constant_add",
                                         "elementwise_mul", "gemv_tiled"));

//===----------------------------------------------------------------------===//
// Register images
//===----------------------------------------------------------------------===//

/// Whether an error gives "Block.register.field".
static bool namesField(llvm::StringRef error) {
  for (const SfrBlock &block : sfrBlocks()) {
    auto [before, after] = error.split((block.name + ".").str());
    if (after.empty())
      continue;
    auto [reg, rest] = after.split('.');
    for (const SfrRegister &candidate : block.registers)
      if (candidate.name == reg && !rest.empty())
        return true;
  }
  return false;
}

/// Flips each defined bit of the n-th register image of gemm_i8.
class Flips : public testing::TestWithParam<unsigned> {};

TEST_P(Flips, EveryDefinedBitCounts) {
  Reference reference;
  ASSERT_NO_FATAL_FAILURE(load("gemm_i8", reference));
  std::vector<edf::SpmItem> images;
  for (const edf::SpmItem &item : reference.kernel.spm.items)
    if (item.kind == edf::ItemKind::SfrImage)
      images.push_back(item);
  ASSERT_EQ(images.size(), 7u) << "adjust the parameters below";
  const edf::SpmItem &item = images[GetParam()];
  const SfrBlock &block = sfrBlock(item.block);
  unsigned changed = 0, refused = 0, raced = 0;
  for (const SfrField &field : block.fields) {
    const SfrRegister *reg = nullptr;
    for (const SfrRegister &candidate : block.registers)
      if (&field >= &block.fields[candidate.firstField] &&
          &field < &block.fields[candidate.firstField] + candidate.numFields)
        reg = &candidate;
    ASSERT_TRUE(reg);
    for (unsigned bit = 0; bit < field.width; ++bit) {
      unsigned position = reg->offset * 8 + field.lsb + bit;
      uint8_t &byte =
          reference.kernel.spm
              .bytes[item.address - reference.kernel.spm.base + position / 8];
      byte ^= 1u << position % 8;
      std::vector<OperandBuffer> operands = reference.arguments;
      std::string error = runKernel(reference.kernel, operands);
      // Other bytes may race with other commands, which names those; what
      // counts here is what the register does then.
      if (llvm::StringRef(error).ends_with("(MM-39)")) {
        ++raced;
        SimulationOptions options;
        options.refuseRaces = false;
        operands = reference.arguments;
        error = runKernel(reference.kernel, operands, options);
      }
      byte ^= 1u << position % 8;
      std::string name =
          (block.name + "." + reg->name + "." + field.str()).str();
      if (error.empty()) {
        ++changed;
        EXPECT_FALSE(sameResults(operands, reference.results))
            << name << " bit " << bit << " counts for nothing";
        continue;
      }
      ++refused;
      // By block, register and field; where two fields contradict each other
      // it may be the other one that is named.
      EXPECT_TRUE(namesField(error)) << name << " bit " << bit << ": " << error;
    }
  }
  RecordProperty("changed", changed);
  RecordProperty("refused", refused);
  RecordProperty("raced", raced);
  std::printf("%s: %u bits change the result, %u are refused; %u race\n",
              block.name.str().c_str(), changed, refused, raced);
}

INSTANTIATE_TEST_SUITE_P(Integration, Flips, testing::Range(0u, 7u));
