//===- Kernels.cpp - Kernels built for tests ------------------------------===//

#include "Kernels.h"

#include "furiosa/InitAllDialects.h"
#include "furiosa/Interpreter/Interpreter.h"
#include "furiosa/Support/Fill.h"
#include "furiosa/Tools/Compile.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>

using namespace furiosa;
using namespace furiosa::test;
using namespace mlir;

void test::build(const std::string &text, Built &built) {
  DialectRegistry registry;
  registerAllDialects(registry);
  interpreter::registerInterpreterModels(registry);
  built.context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  built.module = parseSourceString<ModuleOp>(text, built.context.get());
  ASSERT_TRUE(built.module) << text;
  built.module->walk([&](func::FuncOp op) { built.kernel = op; });
  auto binary = compileKernel(*built.module, built.kernel);
  ASSERT_TRUE(succeeded(binary)) << text;
  auto bytes = rngd::edf::write(*binary);
  ASSERT_TRUE(static_cast<bool>(bytes)) << llvm::toString(bytes.takeError());
  built.file = std::move(*bytes);
  auto reader = rngd::edf::Reader::open(built.file);
  ASSERT_TRUE(static_cast<bool>(reader)) << llvm::toString(reader.takeError());
  auto loaded = reader->loadExecutable();
  ASSERT_TRUE(static_cast<bool>(loaded)) << llvm::toString(loaded.takeError());
  built.binary = std::move(*loaded);
  for (Type type : built.kernel.getArgumentTypes())
    built.inputs.push_back(llvm::cantFail(interpreter::getOperandLayout(type)));
  for (const interpreter::Output &output :
       interpreter::getOutputs(built.kernel))
    built.outputs.push_back(
        llvm::cantFail(interpreter::getOperandLayout(output.type)));
}

static std::vector<HostArray> simulate(const Built &built,
                                       ArrayRef<HostArray> arguments,
                                       rngd::SimulationOptions::Timing timing,
                                       uint64_t seed = 0) {
  std::vector<rngd::OperandBuffer> buffers(
      built.binary.arguments.operands.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    OperandBytes packed =
        llvm::cantFail(packOperand(built.inputs[i], arguments[i]));
    buffers[i] = {std::move(packed.bytes), std::move(packed.defined)};
  }
  rngd::SimulationOptions options;
  options.timing = timing;
  options.seed = seed;
  auto result = rngd::simulate(built.binary, buffers, options);
  if (!result) {
    ADD_FAILURE() << llvm::toString(result.takeError());
    return {};
  }
  std::vector<HostArray> outputs;
  for (size_t i = 0; i < built.outputs.size(); ++i) {
    const rngd::OperandBuffer &buffer = buffers[arguments.size() + i];
    outputs.push_back(llvm::cantFail(
        unpackOperand(built.outputs[i], buffer.bytes, buffer.defined)));
  }
  return outputs;
}

void test::compare(const Built &built, ArrayRef<HostArray> arguments,
                   const Codes &expected) {
  auto interpreted = interpreter::interpret(built.kernel, arguments);
  ASSERT_TRUE(succeeded(interpreted));
  auto check = [&](ArrayRef<HostArray> outputs, const char *who) {
    ASSERT_EQ(outputs.size(), 1u) << who;
    ASSERT_EQ(outputs[0].codes.size(), expected.size()) << who;
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_TRUE(outputs[0].defined[i]) << who << ", element " << i;
      ASSERT_EQ(outputs[0].codes[i], expected[i]) << who << ", element " << i;
    }
  };
  check(*interpreted, "interpreter");
  check(simulate(built, arguments, rngd::SimulationOptions::Timing::Late),
        "simulator, late effects");
  check(simulate(built, arguments, rngd::SimulationOptions::Timing::Early),
        "simulator, early effects");
  for (uint64_t seed = 1; seed <= 5; ++seed)
    check(
        simulate(built, arguments, rngd::SimulationOptions::Timing::Random,
                 seed),
        ("simulator, random durations, seed " + std::to_string(seed)).c_str());
}

std::vector<HostArray> test::makeArguments(const Built &built, StringRef kind) {
  std::vector<HostArray> arguments;
  for (auto [index, layout] : llvm::enumerate(built.inputs)) {
    auto fill = parseFill((kind + ":" + Twine(100 + index)).str());
    arguments.push_back(layout.fill(*fill));
  }
  return arguments;
}

void test::buildFile(StringRef name, Built &built) {
  auto buffer = llvm::MemoryBuffer::getFile(llvm::Twine(FURIOSA_EXAMPLES "/") +
                                            name + ".mlir");
  ASSERT_TRUE(static_cast<bool>(buffer)) << name.str();
  build((*buffer)->getBuffer().str(), built);
}

test::Choices::Choices(int defaultCases) : cases(defaultCases) {
  uint64_t seed = std::random_device()();
  if (const char *text = std::getenv("FURIOSA_SEED"))
    seed = std::strtoull(text, nullptr, 0);
  if (const char *text = std::getenv("FURIOSA_CASES"))
    cases = std::atoi(text);
  random.seed(seed);
  std::cout << "FURIOSA_SEED=" << seed << " FURIOSA_CASES=" << cases << "\n";
}

float test::asFloat(uint32_t pattern) {
  float value;
  std::memcpy(&value, &pattern, sizeof value);
  return value;
}

uint32_t test::asPattern(float value) {
  if (std::isnan(value))
    return 0x7FC00000u;
  uint32_t pattern;
  std::memcpy(&pattern, &value, sizeof pattern);
  return pattern;
}

float test::valueOf(ElementType type, uint32_t code) {
  if (type == ElementType::BF16) {
    // Subnormals count as zero of their sign.
    if ((code & 0x7F80) == 0)
      code &= 0x8000;
    return asFloat(code << 16);
  }
  int exponentBits = type == ElementType::F8E4M3 ? 4 : 5;
  int mantissaBits = 7 - exponentBits;
  int bias = type == ElementType::F8E4M3 ? 7 : 15;
  int exponent = (code >> mantissaBits) & ((1 << exponentBits) - 1);
  int mantissa = code & ((1 << mantissaBits) - 1);
  float sign = code & 0x80 ? -1.0f : 1.0f;
  if (type == ElementType::F8E4M3 && (code & 0x7F) == 0x7F)
    return NAN;
  if (type == ElementType::F8E5M2 && exponent == 31)
    return mantissa ? NAN : sign * INFINITY;
  float fraction = std::ldexp(static_cast<float>(mantissa), -mantissaBits);
  if (exponent == 0)
    return sign * std::ldexp(fraction, 1 - bias);
  return sign * std::ldexp(1.0f + fraction, exponent - bias);
}
