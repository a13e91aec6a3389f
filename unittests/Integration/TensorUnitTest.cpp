//===- TensorUnitTest.cpp - Generated Tensor Unit kernels -----------------===//
//
// Each kernel is drawn with a plain loop over logical indices. Interpreter and
// simulator give what the loop gives. With one fault planted in its text a
// kernel is refused, or both semantics agree.
//
// FURIOSA_SEED and FURIOSA_GENERATED_CASES set what is drawn.
//
//===----------------------------------------------------------------------===//

#include "TensorUnitKernel.h"

#include "furiosa/InitAllDialects.h"
#include "furiosa/Interpreter/Interpreter.h"
#include "furiosa/Tools/Compile.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>

using namespace furiosa;
using namespace furiosa::test;
using namespace mlir;

namespace {

/// A kernel that may be refused.
struct Attempt {
  Built built;
  bool verified = false, compiled = false;
  std::string messages;
};

void tryKernel(const std::string &text, Attempt &attempt) {
  DialectRegistry registry;
  registerAllDialects(registry);
  interpreter::registerInterpreterModels(registry);
  Built &built = attempt.built;
  built.context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler handler(
      built.context.get(), [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
          attempt.messages += diagnostic.str() + "\n";
        return success();
      });
  built.module = parseSourceString<ModuleOp>(text, built.context.get());
  if (!built.module)
    return;
  built.module->walk([&](func::FuncOp op) { built.kernel = op; });
  if (!built.kernel)
    return;
  attempt.verified = true;
  auto binary = compileKernel(*built.module, built.kernel);
  if (failed(binary))
    return;
  auto bytes = rngd::edf::write(*binary);
  if (!bytes) {
    attempt.messages += llvm::toString(bytes.takeError());
    return;
  }
  built.file = std::move(*bytes);
  built.binary = llvm::cantFail(
      llvm::cantFail(rngd::edf::Reader::open(built.file)).loadExecutable());
  for (Type type : built.kernel.getArgumentTypes())
    built.inputs.push_back(llvm::cantFail(interpreter::getOperandLayout(type)));
  for (const interpreter::Output &output :
       interpreter::getOutputs(built.kernel))
    built.outputs.push_back(
        llvm::cantFail(interpreter::getOperandLayout(output.type)));
  attempt.compiled = true;
}

struct Outcome {
  std::optional<HostArray> interpreted, simulated;
  std::string interpreterError, simulatorError;
};

Outcome runKernel(Attempt &attempt, ArrayRef<HostArray> arguments,
                  rngd::SimulationOptions::Timing timing) {
  Outcome outcome;
  Built &built = attempt.built;
  attempt.messages.clear();
  ScopedDiagnosticHandler handler(
      built.context.get(), [&](Diagnostic &diagnostic) {
        outcome.interpreterError += diagnostic.str() + "\n";
        return success();
      });
  auto interpreted = interpreter::interpret(built.kernel, arguments);
  if (succeeded(interpreted) && interpreted->size() == 1)
    outcome.interpreted = std::move((*interpreted)[0]);
  std::vector<rngd::OperandBuffer> buffers(
      built.binary.arguments.operands.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    OperandBytes packed =
        llvm::cantFail(packOperand(built.inputs[i], arguments[i]));
    buffers[i] = {std::move(packed.bytes), std::move(packed.defined)};
  }
  rngd::SimulationOptions options;
  options.timing = timing;
  options.seed = 1;
  auto result = rngd::simulate(built.binary, buffers, options);
  if (!result) {
    outcome.simulatorError = llvm::toString(result.takeError());
    return outcome;
  }
  const rngd::OperandBuffer &buffer = buffers[arguments.size()];
  outcome.simulated = llvm::cantFail(
      unpackOperand(built.outputs[0], buffer.bytes, buffer.defined));
  return outcome;
}

constexpr rngd::SimulationOptions::Timing timings[] = {
    rngd::SimulationOptions::Timing::Late,
    rngd::SimulationOptions::Timing::Early,
    rngd::SimulationOptions::Timing::Random};

int64_t countOf(const char *variable, int64_t value) {
  if (const char *text = std::getenv(variable))
    value = std::strtoll(text, nullptr, 0);
  return value;
}

/// A generator whose seed is printed.
std::mt19937_64 makeRandom(int64_t cases) {
  uint64_t seed = std::random_device()();
  if (const char *text = std::getenv("FURIOSA_SEED"))
    seed = std::strtoull(text, nullptr, 0);
  std::cout << "FURIOSA_SEED=" << seed << " FURIOSA_GENERATED_CASES=" << cases
            << "\n";
  return std::mt19937_64(seed);
}

/// Draws kernels such that none of their kinds is rare.
class KernelDrawer {
public:
  explicit KernelDrawer(int64_t cases)
      : cases(cases), random(makeRandom(cases)) {
    for (const std::string &kind : getTensorUnitKinds())
      histogram[kind] = 0;
  }

  /// A kernel of the kind that has been drawn least.
  TensorUnitKernel draw() {
    std::vector<std::string> rarest;
    int64_t least = INT64_MAX;
    for (const auto &[kind, count] : histogram)
      least = std::min(least, count);
    for (const auto &[kind, count] : histogram)
      if (count == least)
        rarest.push_back(kind);
    const std::string &wanted = rarest[random() % rarest.size()];
    for (;;) {
      TensorUnitKernel kernel =
          random() % 100 < 55 ? drawContraction(random) : drawStream(random);
      if (!kernel.kinds.count(wanted))
        continue;
      for (const std::string &kind : kernel.kinds)
        ++histogram.at(kind);
      return kernel;
    }
  }

  void printHistogram() const {
    std::cout << "kinds, in " << cases << " cases:\n";
    for (const auto &[kind, count] : histogram) {
      std::cout << "  " << kind << ": " << count << "\n";
      // In few cases not all kinds have their turn.
      if (cases >= 100)
        EXPECT_GE(count * 100, cases * 3) << kind;
    }
  }

  int64_t cases;
  std::mt19937_64 random;

private:
  std::map<std::string, int64_t> histogram;
};

TEST(TensorUnit, GeneratedKernels) {
  KernelDrawer drawer(countOf("FURIOSA_GENERATED_CASES", 200));
  int64_t faults = 0;
  for (int64_t i = 0; i < drawer.cases && faults < 20; ++i) {
    TensorUnitKernel kernel = drawer.draw();
    Attempt attempt;
    tryKernel(kernel.text, attempt);
    if (!attempt.compiled) {
      ++faults;
      ADD_FAILURE() << "case " << i << " is refused: " << attempt.messages
                    << kernel.text;
      continue;
    }
    std::vector<HostArray> arguments =
        makeArguments(attempt.built, kernel.fill);
    std::vector<Codes> codes;
    for (const HostArray &argument : arguments)
      codes.push_back(argument.codes);
    Codes expected = kernel.expected(codes);
    Outcome outcome = runKernel(attempt, arguments, timings[i % 3]);
    auto check = [&](const std::optional<HostArray> &result, const char *who,
                     const std::string &error) {
      std::string fault;
      if (!result)
        fault = error;
      else if (result->codes.size() != expected.size())
        fault = std::to_string(result->codes.size()) + " elements, expected " +
                std::to_string(expected.size());
      for (size_t at = 0; fault.empty() && at < expected.size(); ++at)
        if (!result->defined[at])
          fault = "element " + std::to_string(at) + " is undefined";
        else if (result->codes[at] != expected[at])
          fault = "element " + std::to_string(at) + " is 0x" +
                  llvm::utohexstr(result->codes[at]) + ", expected 0x" +
                  llvm::utohexstr(expected[at]);
      if (fault.empty())
        return;
      ++faults;
      ADD_FAILURE() << "case " << i << ", " << who << ": " << fault << "\n"
                    << kernel.text;
    };
    check(outcome.interpreted, "interpreter", outcome.interpreterError);
    check(outcome.simulated, "simulator", outcome.simulatorError);
  }
  drawer.printHistogram();
}

//===----------------------------------------------------------------------===//
// One fault
//===----------------------------------------------------------------------===//

/// `text` with one thing changed in the types of its tensors or in a chain: a
/// number, an axis, the order of terms, a stage, the context or an element
/// type.
std::string plantFault(StringRef text, std::mt19937_64 &random) {
  auto pick = [&](size_t size) { return size_t(random() % size); };
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  // Lines of types and stages.
  SmallVector<size_t> places;
  for (auto [i, line] : llvm::enumerate(lines))
    if (line.starts_with("!") || line.starts_with("    "))
      places.push_back(i);
  std::vector<std::string> changed;
  for (StringRef line : lines)
    changed.push_back(line.str());
  size_t place = places[pick(places.size())];
  std::string &line = changed[place];
  SmallVector<size_t> digits, letters, commas;
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    quoted ^= line[i] == '"';
    if (llvm::isDigit(line[i]) && i > 0 && !llvm::isAlnum(line[i - 1]))
      digits.push_back(i);
    if (quoted && llvm::isUpper(line[i]))
      letters.push_back(i);
    if (quoted && line[i] == ',')
      commas.push_back(i);
  }
  switch (pick(7)) {
  case 0:
  case 1:
    if (!digits.empty()) {
      size_t at = digits[pick(digits.size())];
      StringRef rest = StringRef(line).substr(at).take_while(llvm::isDigit);
      int64_t value = 0;
      (void)rest.getAsInteger(10, value);
      int64_t others[] = {value + 1, value - 1, value * 2, value / 2, 0, 1};
      line.replace(at, rest.size(), std::to_string(others[pick(6)]));
    }
    break;
  case 2:
    if (letters.size() > 1) {
      char letter = line[letters[pick(letters.size())]];
      line[letters[pick(letters.size())]] = letter;
    }
    break;
  case 3:
    if (!commas.empty()) {
      // Two neighbours change places.
      size_t at = commas[pick(commas.size())];
      size_t begin = line.find_last_of(",\"", at - 1) + 1;
      size_t end = line.find_first_of(",\"", at + 1);
      std::string left = line.substr(begin, at - begin),
                  right = line.substr(at + 1, end - at - 1);
      line = line.substr(0, begin) + right + "," + left + line.substr(end);
    }
    break;
  case 4:
    if (StringRef(line).starts_with("    "))
      line.clear();
    break;
  case 5:
    if (StringRef(line).starts_with("    "))
      line += "\n" + line;
    break;
  default: {
    const char *words[][2] = {{"main", "sub"},
                              {"sub", "main"},
                              {"i8", "i4"},
                              {"i4", "i8"},
                              {"bf16", "f32"},
                              {"i32", "f32"},
                              {"f32", "i32"},
                              {"sequential", "interleaved"},
                              {"interleaved", "sequential"}};
    auto &word = words[pick(std::size(words))];
    std::string whole = llvm::join(changed, "\n");
    if (size_t at = whole.find(word[0]); at != std::string::npos)
      whole.replace(at, strlen(word[0]), word[1]);
    return whole;
  }
  }
  return llvm::join(changed, "\n");
}

TEST(TensorUnit, OneFault) {
  KernelDrawer drawer(countOf("FURIOSA_GENERATED_CASES", 200));
  int64_t faults = 0, refused = 0, agreed = 0;
  for (int64_t i = 0; i < 4 * drawer.cases && faults < 20; ++i) {
    TensorUnitKernel kernel = drawer.draw();
    std::string text = plantFault(kernel.text, drawer.random);
    Attempt attempt;
    tryKernel(text, attempt);
    auto fail = [&](const std::string &what) {
      ++faults;
      ADD_FAILURE() << "case " << i << ", " << what << "\n" << text;
    };
    if (!attempt.compiled) {
      ++refused;
      if (attempt.messages.empty())
        fail("refused without a message");
      // What the check accepts is lowered.
      else if (attempt.verified &&
               attempt.messages.find("not yet supported") == std::string::npos)
        fail("refused late: " + attempt.messages);
      continue;
    }
    std::vector<HostArray> arguments =
        makeArguments(attempt.built, kernel.fill);
    Outcome outcome = runKernel(attempt, arguments, timings[i % 3]);
    if (!outcome.interpreted || !outcome.simulated) {
      fail("interpreter: " + outcome.interpreterError +
           ", simulator: " + outcome.simulatorError);
      continue;
    }
    // What the interpreter knows the simulator knows as well.
    const HostArray &left = *outcome.interpreted, &right = *outcome.simulated;
    bool same = left.codes.size() == right.codes.size();
    for (size_t at = 0; same && at < left.codes.size(); ++at)
      if (left.defined[at] &&
          !(right.defined[at] && left.codes[at] == right.codes[at])) {
        same = false;
        fail("element " + std::to_string(at) + ": interpreter 0x" +
             llvm::utohexstr(left.codes[at]) + ", simulator " +
             (right.defined[at] ? "0x" + llvm::utohexstr(right.codes[at])
                                : std::string("undefined")));
      }
    agreed += same;
  }
  std::cout << refused << " refused, " << agreed << " agree\n";
  drawer.printHistogram();
}

} // namespace
