//===- ScalarsTest.cpp - Numbers of the host in kernel binaries -----------===//

#include "EDFKernels.h"

#include "furiosa/Target/RNGD/Simulator.h"

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::edf;

namespace {

constexpr uint32_t word = machine::spmDataBase;

/// A loop that the host says the trips of, 0 to 5, in one of 3 trips. It adds
/// to a word that a condition compares.
Kernel makeCounted() {
  Kernel kernel;
  kernel.spm.bytes.resize(16);
  kernel.arguments.operands = {
      {"n", Role::Input, ElementType::I32, 4, {}, "1", "1"}};
  kernel.scalars.scalars = {{0, 0, 5}};
  kernel.scalars.uses = {{word, 0, 1}};
  using I = Instruction;
  kernel.programs.push_back({0,
                             {I::loop(3), I::loop(5, word), I::add(word + 8, 1),
                              I::endLoop(), I::endLoop(), I::end()}});
  return kernel;
}

std::string faultOf(const Kernel &kernel) {
  Fault fault = checkKernel(kernel);
  return fault.value_or("");
}

TEST(Scalars, GoThroughTheFile) {
  Kernel kernel = makeCounted();
  auto bytes = write(kernel);
  ASSERT_TRUE(bool(bytes)) << llvm::toString(bytes.takeError());
  auto reader = Reader::open(*bytes, "f.edf");
  ASSERT_TRUE(bool(reader));
  EXPECT_EQ(reader->minorVersion(), 1);
  auto loaded = reader->load();
  ASSERT_TRUE(bool(loaded)) << llvm::toString(loaded.takeError());
  EXPECT_EQ(*loaded, kernel);
  std::string text;
  llvm::raw_string_ostream os(text);
  ASSERT_FALSE(bool(disassemble(os, *reader)));
  auto again = assemble(text);
  ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
  EXPECT_EQ(*again, *bytes);
  // Without them a file is one that older readers take.
  auto plain = write(test::makeKernel());
  ASSERT_TRUE(bool(plain));
  EXPECT_EQ((*plain)[10], 0);
}

TEST(Scalars, FaultsAreFound) {
  EXPECT_EQ(faultOf(makeCounted()), "");
  auto faultWith = [](void (*change)(Kernel &)) {
    Kernel kernel = makeCounted();
    change(kernel);
    return faultOf(kernel);
  };
  EXPECT_EQ(faultWith([](Kernel &k) { k.scalars.scalars[0].operand = 1; }),
            "scalar 0: there is no operand 1");
  EXPECT_EQ(faultWith([](Kernel &k) { k.scalars.scalars[0].min = 6; }),
            "scalar 0: there is no number from 6 to 5");
  EXPECT_EQ(faultWith([](Kernel &k) {
              k.scalars.scalars.push_back(k.scalars.scalars[0]);
            }),
            "scalar 1: not in the order of operands");
  for (void (*change)(Operand &) :
       {+[](Operand &o) { o.role = Role::InOut; },
        +[](Operand &o) { o.bytes = 8; },
        +[](Operand &o) { o.type = ElementType::F32; },
        +[](Operand &o) {
          o.axes.push_back({"A", 1});
        }}) {
    Kernel kernel = makeCounted();
    change(kernel.arguments.operands[0]);
    EXPECT_EQ(faultOf(kernel),
              "scalar 0: operand 0 is not an input of one i32");
  }
  EXPECT_EQ(faultWith([](Kernel &k) { k.scalars.uses[0].scalar = 1; }),
            "use 0 of a scalar: there is no scalar 1");
  EXPECT_EQ(faultWith([](Kernel &k) { k.scalars.uses[0].spmAddress += 16; }),
            "use 0 of a scalar: SPM address 0x200010 is not a 64-bit word of "
            "the SPM image");
  EXPECT_EQ(
      faultWith([](Kernel &k) { k.programs[0].instructions[1].imm += 16; }),
      "program of cluster 0: instruction 1: SPM address 0x200010 is outside "
      "the SPM image");
  EXPECT_EQ(
      faultWith([](Kernel &k) { k.programs[0].instructions[1].imm += 4; }),
      "program of cluster 0: instruction 1: SPM address 0x200004 is not a "
      "multiple of 8");
}

/// Instructions that the kernel runs with a number, or the error.
std::string run(const Kernel &kernel, std::optional<int32_t> number) {
  std::vector<OperandBuffer> operands(1);
  operands[0].bytes.assign(4, 0);
  operands[0].defined.assign(4, number.has_value());
  for (unsigned k = 0; k < 4; ++k)
    operands[0].bytes[k] =
        static_cast<uint8_t>(uint32_t(number.value_or(0)) >> (8 * k));
  auto result = simulate(kernel, operands);
  return result ? std::to_string(result->instructions)
                : llvm::toString(result.takeError());
}

TEST(Scalars, CountTrips) {
  Kernel kernel = makeCounted();
  // Some PE must take part.
  TucCommand wait(TucOp::Wait);
  EXPECT_FALSE(wait.set("type", codes::value(codes::WaitType::Execution)));
  EXPECT_FALSE(
      wait.set("target_context", codes::value(codes::ExecTarget::Sub)));
  auto &code = kernel.programs[0].instructions;
  code.insert(code.begin(), Instruction::issue(wait.word(), 1));
  // The wait, the outer loop, its end thrice, the end; in each of three trips
  // the inner loop, and each of its trips two.
  EXPECT_EQ(run(kernel, 0), std::to_string(3 + 3 + 3 * 1));
  EXPECT_EQ(run(kernel, 4), std::to_string(3 + 3 + 3 * (1 + 2 * 4)));
  EXPECT_EQ(run(kernel, 6), "scalar 'n' is 6, it must be from 0 to 5");
  EXPECT_EQ(run(kernel, -1), "scalar 'n' is -1, it must be from 0 to 5");
  EXPECT_EQ(run(kernel, std::nullopt), "scalar 'n' is not given");
  // More trips than the loop allows.
  kernel.scalars.uses[0].scale = 2;
  EXPECT_EQ(run(kernel, 2), std::to_string(3 + 3 + 3 * (1 + 2 * 4)));
  EXPECT_EQ(run(kernel, 3),
            "cluster 0 PE 0: command 2: loop: 6 trips, at most 5 are allowed");
}

} // namespace
