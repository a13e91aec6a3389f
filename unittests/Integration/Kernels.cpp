//===- Kernels.cpp - Kernels built for tests ------------------------------===//

#include "Kernels.h"

#include "furiosa/Dialect/VISA/IR/KernelCheck.h"
#include "furiosa/InitAllDialects.h"
#include "furiosa/Interpreter/Interpreter.h"
#include "furiosa/Support/Fill.h"
#include "furiosa/Tools/Compile.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>

using namespace furiosa;
using namespace furiosa::test;
using namespace mlir;

static std::string toText(Diagnostic &diagnostic) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto at = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
    stream << at.getLine() << ":" << at.getColumn() << ": ";
  stream << (diagnostic.getSeverity() == DiagnosticSeverity::Error ? "error: "
                                                                   : "note: ")
         << diagnostic << "\n";
  for (Diagnostic &note : diagnostic.getNotes())
    stream << toText(note);
  return text;
}

Refusal test::tryBuild(const std::string &text, Built &built,
                       std::string &message) {
  DialectRegistry registry;
  registerAllDialects(registry);
  interpreter::registerInterpreterModels(registry);
  built.context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  unsigned errors = 0;
  ScopedDiagnosticHandler handler(
      built.context.get(), [&](Diagnostic &diagnostic) {
        errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
        message += toText(diagnostic);
      });
  auto refuse = [&](Refusal by) {
    EXPECT_NE(errors, 0u) << "refused without an error:\n" << text;
    return by;
  };
  built.module = parseSourceString<ModuleOp>(text, built.context.get());
  if (!built.module)
    return refuse(Refusal::Check);
  // What is no kernel has not been checked yet.
  if (failed(visa::checkOutsideKernels(*built.module, /*mayInline=*/true)))
    return refuse(Refusal::Check);
  built.module->walk([&](func::FuncOp op) { built.kernel = op; });
  FailureOr<rngd::edf::Kernel> binary = failure();
  if (built.kernel)
    binary = compileKernel(*built.module, built.kernel);
  else
    emitError(built.module->getLoc()) << "there is no function";
  if (failed(binary))
    return refuse(Refusal::Lowering);
  // A kernel that is accepted has no errors.
  EXPECT_EQ(errors, 0u) << message;
  built.binary = std::move(*binary);
  return Refusal::None;
}

void test::writeAndLoad(Built &built) {
  auto bytes = rngd::edf::write(built.binary);
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

void test::build(const std::string &text, Built &built) {
  std::string message;
  ASSERT_EQ(tryBuild(text, built, message), Refusal::None) << message << text;
  writeAndLoad(built);
}

void test::expectRefusedAt(const std::string &text, unsigned line,
                           StringRef rule) {
  Built built;
  std::string message;
  EXPECT_EQ(tryBuild(text, built, message), Refusal::Check);
  SmallVector<StringRef> errors;
  StringRef(message).split(errors, '\n');
  EXPECT_TRUE(llvm::any_of(errors,
                           [&](StringRef error) {
                             return error.starts_with(std::to_string(line) +
                                                      ":") &&
                                    error.contains("error: ") &&
                                    error.contains((rule + ":").str());
                           }))
      << rule.str() << " at line " << line << ", found\n"
      << message;
}

static llvm::Expected<std::vector<HostArray>>
simulate(const Built &built, ArrayRef<HostArray> arguments,
         rngd::SimulationOptions options) {
  std::vector<rngd::OperandBuffer> buffers(
      built.binary.arguments.operands.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    OperandBytes packed =
        llvm::cantFail(packOperand(built.inputs[i], arguments[i]));
    buffers[i] = {std::move(packed.bytes), std::move(packed.defined)};
  }
  if (auto result = rngd::simulate(built.binary, buffers, options); !result)
    return result.takeError();
  // Results come last; arguments that are written are results as well.
  auto outputs = interpreter::getOutputs(built.kernel);
  std::vector<HostArray> results;
  size_t next = arguments.size();
  for (auto [layout, output] : llvm::zip_equal(built.outputs, outputs)) {
    const rngd::OperandBuffer &buffer =
        buffers[output.argument ? *output.argument : next++];
    results.push_back(
        llvm::cantFail(unpackOperand(layout, buffer.bytes, buffer.defined)));
  }
  return results;
}

/// The first cell that `expected` defines and `found` has otherwise.
static std::string describeDifference(ArrayRef<HostArray> expected,
                                      ArrayRef<HostArray> found) {
  for (auto [number, lhs, rhs] : llvm::enumerate(expected, found))
    for (size_t i = 0; i < lhs.codes.size(); ++i) {
      if (!lhs.defined[i] || (rhs.defined[i] && lhs.codes[i] == rhs.codes[i]))
        continue;
      std::string text;
      llvm::raw_string_ostream stream(text);
      stream << "result " << number << ", element " << i << ": interpreter "
             << llvm::format_hex(lhs.codes[i], 10) << ", ";
      if (rhs.defined[i])
        stream << llvm::format_hex(rhs.codes[i], 10);
      else
        stream << "undefined";
      return text;
    }
  return "";
}

std::string test::runBoth(const Built &built, ArrayRef<HostArray> arguments,
                          std::vector<HostArray> &results, unsigned seeds) {
  std::string message;
  {
    ScopedDiagnosticHandler handler(
        built.context.get(),
        [&](Diagnostic &diagnostic) { message += toText(diagnostic); });
    auto interpreted = interpreter::interpret(built.kernel, arguments);
    if (failed(interpreted))
      return "interpreter: " + message;
    results = std::move(*interpreted);
  }
  using Timing = rngd::SimulationOptions::Timing;
  for (unsigned run = 0; run < 2 + seeds; ++run) {
    rngd::SimulationOptions options;
    options.timing = run == 0   ? Timing::Late
                     : run == 1 ? Timing::Early
                                : Timing::Random;
    options.seed = run < 2 ? 0 : run - 1;
    std::string who = run == 0   ? "simulator, late effects: "
                      : run == 1 ? "simulator, early effects: "
                                 : "simulator, random durations, seed " +
                                       std::to_string(options.seed) + ": ";
    auto simulated = simulate(built, arguments, options);
    if (!simulated)
      return who + llvm::toString(simulated.takeError());
    if (std::string text = describeDifference(results, *simulated);
        !text.empty())
      return who + text;
  }
  return "";
}

void test::expectAgreement(const Built &built, ArrayRef<HostArray> arguments) {
  std::vector<HostArray> results;
  std::string difference = runBoth(built, arguments, results);
  EXPECT_EQ(difference, "");
}

void test::compare(const Built &built, ArrayRef<HostArray> arguments,
                   const Codes &expected, unsigned seeds) {
  std::vector<HostArray> results;
  std::string difference = runBoth(built, arguments, results, seeds);
  ASSERT_EQ(difference, "");
  ASSERT_EQ(results.size(), 1u);
  ASSERT_EQ(results[0].codes.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(results[0].defined[i]) << "element " << i;
    ASSERT_EQ(results[0].codes[i], expected[i]) << "element " << i;
  }
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

//===----------------------------------------------------------------------===//
// Generated kernels
//===----------------------------------------------------------------------===//

static unsigned environmentOr(const char *name, unsigned otherwise) {
  const char *text = std::getenv(name);
  return text ? unsigned(std::strtoul(text, nullptr, 0)) : otherwise;
}

test::GeneratedCases::GeneratedCases(unsigned defaultCount)
    : first(environmentOr("FURIOSA_SEED", 0)),
      count(environmentOr("FURIOSA_GENERATED_CASES", defaultCount)) {
  std::cout << "FURIOSA_SEED=" << first << " FURIOSA_GENERATED_CASES=" << count
            << "\n";
}

void test::printHistogram(const Histogram &histogram, unsigned cases) {
  for (const auto &[thing, count] : histogram)
    std::cout << "  " << thing
              << std::string(32 - std::min<size_t>(thing.size(), 31), ' ')
              << count << " (" << 100 * count / std::max(cases, 1u) << " %)\n";
}

/// Where a kind of fault may be put, and what stands there then.
struct Edit {
  size_t at, length;
  std::string replacement;
};

/// Whole lines that `accept` takes, each with its line break.
static std::vector<std::pair<size_t, size_t>> listLines(StringRef text) {
  std::vector<std::pair<size_t, size_t>> lines;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.emplace_back(at, end - at);
    at = end;
  }
  return lines;
}

static bool isWord(char c) { return llvm::isAlnum(c) || c == '_'; }

/// Maximal runs of word characters, of digits alone or not.
static std::vector<std::pair<size_t, size_t>> listWords(StringRef text,
                                                        bool numbers) {
  std::vector<std::pair<size_t, size_t>> words;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && isWord(text[end]))
      ++end;
    StringRef word = text.slice(at, end);
    if (!word.empty() && llvm::all_of(word, llvm::isDigit) == numbers)
      words.emplace_back(at, end - at);
    at = end + 1;
  }
  return words;
}

/// Clauses `WORD "…"` and slots between brackets, with what parts them.
static std::vector<std::pair<size_t, size_t>> listParts(StringRef text) {
  std::vector<std::pair<size_t, size_t>> parts;
  for (size_t at = text.find('"'); at != StringRef::npos;
       at = text.find('"', at)) {
    size_t end = text.find('"', at + 1);
    if (end == StringRef::npos)
      break;
    size_t start = at;
    while (start > 0 && text[start - 1] == ' ')
      --start;
    while (start > 0 && isWord(text[start - 1]))
      --start;
    parts.emplace_back(start, end + 1 - start);
    at = end + 1;
  }
  for (size_t at = text.find('['); at != StringRef::npos;
       at = text.find('[', at)) {
    size_t close = std::min(text.find(']', at), text.size());
    for (size_t start = at + 1; start < close;) {
      size_t end = std::min(text.find(',', start), close);
      parts.emplace_back(start, std::min(end + 1, close) - start);
      start = end + 1;
    }
    at = close;
  }
  return parts;
}

std::string test::mutate(const std::string &text, std::mt19937_64 &random,
                         std::string &what) {
  auto pick = [&](const auto &list) { return list[random() % list.size()]; };
  StringRef body(text);
  // A fault in the program is more telling than one in its types.
  size_t from = random() % 4 ? body.find("func.func") : 0;
  if (from == StringRef::npos)
    from = 0;
  body = body.drop_front(from);
  Edit edit;
  switch (random() % 8) {
  case 0:
  case 1: {
    auto [at, length] = pick(listLines(body));
    edit = {at, length, ""};
    what = "left out";
    break;
  }
  case 2: {
    auto [at, length] = pick(listLines(body));
    edit = {at, 0, body.substr(at, length).str()};
    what = "doubled";
    break;
  }
  case 3: {
    auto lines = listLines(body);
    size_t first = random() % std::max<size_t>(lines.size() - 1, 1);
    auto [at, length] = lines[first];
    auto [next, nextLength] = lines[std::min(first + 1, lines.size() - 1)];
    edit = {at, next + nextLength - at,
            (body.substr(next, nextLength) + body.substr(at, length)).str()};
    what = "exchanged";
    break;
  }
  case 4: {
    auto numbers = listWords(body, /*numbers=*/true);
    if (numbers.empty())
      return text;
    auto [at, length] = pick(numbers);
    uint64_t value = 0;
    (void)body.substr(at, length).getAsInteger(10, value);
    const uint64_t values[] = {value + 1, value - 1, 2 * value,
                               value / 2, 0,         1};
    edit = {at, length, std::to_string(values[random() % 6])};
    what = "number changed";
    break;
  }
  case 5: {
    auto words = listWords(body, /*numbers=*/false);
    if (words.empty())
      return text;
    auto [at, length] = pick(words);
    auto [other, otherLength] = pick(words);
    edit = {at, length, body.substr(other, otherLength).str()};
    what = "word changed";
    break;
  }
  case 6: {
    auto parts = listParts(body);
    if (parts.empty())
      return text;
    auto [at, length] = pick(parts);
    edit = {at, length, ""};
    what = "part left out";
    break;
  }
  default: {
    auto parts = listParts(body);
    if (parts.empty())
      return text;
    auto [at, length] = pick(parts);
    static constexpr char characters[] = "01248-!/%#,=AR";
    edit = {at + random() % length, 1,
            std::string(1, characters[random() % (sizeof(characters) - 1)])};
    what = "character changed";
    break;
  }
  }
  edit.at += from;
  what += ": '" + text.substr(edit.at, edit.length) + "' to '" +
          edit.replacement + "'";
  std::string mutant = text;
  mutant.replace(edit.at, edit.length, edit.replacement);
  return mutant;
}

std::string
test::tryMutant(const std::string &mutant,
                llvm::function_ref<std::vector<HostArray>(const Built &)> make,
                MutantCounts &counts) {
  ++counts.made;
  Built built;
  std::string message;
  Refusal refusal = tryBuild(mutant, built, message);
  if (refusal != Refusal::None) {
    ++counts.refused;
    counts.refusedLate += refusal == Refusal::Lowering;
    if (refusal == Refusal::Lowering)
      std::cout << "refused late: " << message;
    return "";
  }
  writeAndLoad(built);
  if (testing::Test::HasFatalFailure())
    return "";
  std::vector<HostArray> results;
  std::string difference = runBoth(built, make(built), results);
  counts.agreed += difference.empty();
  return difference;
}

void test::tryMutants(const std::string &text, unsigned seed, unsigned count,
                      StringRef fill, MutantCounts &counts) {
  std::mt19937_64 random(seed);
  for (unsigned i = 0; i < count; ++i) {
    std::string what;
    std::string mutant = mutate(text, random, what);
    if (mutant == text)
      continue;
    SCOPED_TRACE(what + "\n" + mutant);
    std::string difference = tryMutant(
        mutant, [&](const Built &built) { return makeArguments(built, fill); },
        counts);
    if (testing::Test::HasFatalFailure())
      return;
    EXPECT_EQ(difference, "");
  }
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

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
