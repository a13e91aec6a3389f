//===- MovementTest.cpp - Random kernels that move data -------------------===//
//
// What the interpreter and the simulator give for kernels made at random is
// what plain loops give. Kernels with one fault are refused, or both agree.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "MovementGenerator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <iostream>

using namespace furiosa;
using namespace furiosa::test;

namespace {

/// Arrays for the arguments of a kernel; those of a mutant may be fewer.
std::vector<HostArray> makeArrays(const Built &built,
                                  const MovementKernel &kernel,
                                  std::mt19937_64 &random) {
  std::vector<HostArray> arrays;
  for (auto [at, layout] : llvm::enumerate(built.inputs)) {
    MovementArgument argument;
    if (at < kernel.arguments.size())
      argument = kernel.arguments[at];
    HostArray array = layout.makeArray();
    std::vector<int64_t> rows(std::max<int64_t>(argument.limit, 1));
    for (size_t i = 0; i < rows.size(); ++i)
      rows[i] = int64_t(i);
    std::shuffle(rows.begin(), rows.end(), random);
    for (auto [i, code] : llvm::enumerate(array.codes)) {
      array.defined[i] = 1;
      if (argument.number)
        code = static_cast<uint32_t>(*argument.number);
      else if (!argument.limit)
        code = static_cast<uint32_t>(random() &
                                     ((1ull << wireBits(array.type)) - 1));
      else if (argument.distinct)
        code = static_cast<uint32_t>(rows[i % rows.size()] * argument.unit);
      else
        code = static_cast<uint32_t>(random() % rows.size() * argument.unit);
    }
    arrays.push_back(std::move(array));
  }
  return arrays;
}

std::vector<int> getAxes(const HostArray &array) {
  std::vector<int> axes;
  for (const std::string &name : array.axes)
    axes.push_back(name[0] - 'A');
  return axes;
}

std::string toText(std::optional<uint32_t> cell) {
  return cell ? std::to_string(*cell) : "nothing";
}

/// The first cell that differs from what plain loops say, undefined cells
/// included.
std::string describeDifference(const MovementGenerator &generator,
                               llvm::ArrayRef<HostArray> arguments,
                               llvm::ArrayRef<HostArray> results) {
  std::vector<Values> given;
  for (const HostArray &array : arguments)
    given.push_back({getAxes(array), {array.codes.begin(), array.codes.end()}});
  std::vector<Values> plain = generator.run(std::move(given));
  if (plain.size() != results.size())
    return "numbers of outputs differ";
  for (auto [at, values, result] : llvm::enumerate(plain, results)) {
    auto expected = generator.project(values, getAxes(result));
    for (size_t i = 0; i < expected.size(); ++i) {
      std::optional<uint32_t> found;
      if (result.defined[i])
        found = result.codes[i];
      if (found != expected[i])
        return "output " + std::to_string(at) + ", element " +
               std::to_string(i) + ": found " + toText(found) + ", expected " +
               toText(expected[i]);
    }
  }
  return "";
}

/// One number of a type is another one, or a hole is of another kind, wherever
/// that type is written: what `mutate` changes in one place is mostly a type
/// that does not fit.
std::string mutateType(const std::string &text, std::mt19937_64 &random) {
  std::vector<std::string> types;
  llvm::StringRef rest = text;
  while (rest.contains("!visa.")) {
    rest = rest.drop_front(rest.find("!visa."));
    std::string type = rest.take_front(rest.find('>')).str();
    if (!llvm::is_contained(types, type))
      types.push_back(type);
    rest = rest.drop_front(type.size());
  }
  if (types.empty())
    return text;
  const std::string &type = types[random() % types.size()];
  std::vector<std::pair<size_t, size_t>> numbers;
  for (size_t at = type.find('"'); at < type.size();) {
    size_t end =
        std::min(type.find_first_not_of("0123456789", at), type.size());
    if (end > at)
      numbers.push_back({at, end - at});
    at = std::max(end, at + 1);
  }
  if (numbers.empty())
    return text;
  auto [at, length] = numbers[random() % numbers.size()];
  std::string number = type.substr(at, length);
  int64_t value = std::stoll(number);
  const int64_t others[] = {value + 1, std::max<int64_t>(value - 1, 0),
                            value * 2, value / 2};
  std::string other = type;
  if (type.compare(at - 2, 2, "# ") == 0 && random() % 4 == 0)
    other.replace(at - 2, length + 2, "#{!} " + number);
  else
    other.replace(at, length, std::to_string(others[random() % 4]));
  std::string result;
  for (size_t from = 0;;) {
    size_t next = text.find(type, from);
    result += text.substr(from, next - from);
    if (next == std::string::npos)
      return result;
    result += other;
    from = next + type.size();
  }
}

} // namespace

TEST(Movement, KernelsAgreeWithPlainLoops) {
  GeneratedCases cases(200);
  Histogram histogram;
  unsigned refused = 0, failures = 0;
  for (unsigned i = 0; i < cases.count && failures < 5; ++i) {
    unsigned seed = cases.first + i;
    MovementGenerator generator(seed);
    const MovementKernel &kernel = generator.generate();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + kernel.text);
    Built built;
    std::string message;
    if (tryBuild(kernel.text, built, message) != Refusal::None) {
      // What the generator makes is legal; what is too much for one descriptor
      // says so.
      ++refused;
      if (message.find("not yet supported") == std::string::npos) {
        ADD_FAILURE() << message;
        ++failures;
      } else {
        std::cout << "seed " << seed << ": " << message;
      }
      continue;
    }
    ASSERT_NO_FATAL_FAILURE(writeAndLoad(built));
    for (const std::string &kind : kernel.kinds)
      ++histogram[kind];
    std::mt19937_64 random(seed);
    std::vector<HostArray> arguments = makeArrays(built, kernel, random);
    std::vector<HostArray> results;
    std::string difference = runBoth(built, arguments, results, /*seeds=*/1);
    if (difference.empty()) {
      difference = describeDifference(generator, arguments, results);
      if (!difference.empty())
        difference = "interpreter against plain loops: " + difference;
    }
    EXPECT_EQ(difference, "");
    failures += !difference.empty();
  }
  printHistogram(histogram, cases.count);
  std::cout << refused << " refused as not yet supported\n";
  for (auto &[kind, count] : histogram)
    if (cases.count >= 200)
      EXPECT_GE(count * 20, cases.count) << kind;
  EXPECT_LE(refused * 20, cases.count);
}

TEST(Movement, MutantsAreRefusedOrAgree) {
  GeneratedCases cases(200);
  MutantCounts counts;
  unsigned stopped = 0, failures = 0;
  for (unsigned i = 0; i < cases.count && failures < 5; ++i) {
    unsigned seed = cases.first + i;
    MovementGenerator generator(seed);
    const MovementKernel &kernel = generator.generate();
    std::mt19937_64 random(seed);
    for (bool isType : {false, true}) {
      std::string what = "number of a type changed";
      std::string mutant = isType ? mutateType(kernel.text, random)
                                  : mutate(kernel.text, random, what);
      if (mutant == kernel.text)
        continue;
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + what + "\n" +
                   mutant + "of\n" + kernel.text);
      std::string difference = tryMutant(
          mutant,
          [&](const Built &built) { return makeArrays(built, kernel, random); },
          counts);
      if (testing::Test::HasFatalFailure())
        return;
      // Indices may lie outside of a smaller table, and a scatter of more rows
      // than the table has meets some row twice.
      llvm::StringRef text(difference);
      if (text.starts_with("interpreter: ") ||
          (kernel.kinds.count("scatter") &&
           text.contains("in no defined order"))) {
        ++stopped;
        continue;
      }
      EXPECT_EQ(difference, "");
      failures += !difference.empty();
    }
  }
  std::cout << counts.made << " mutants: " << counts.refused << " refused, "
            << counts.refusedLate << " of them late, " << stopped
            << " stopped, " << counts.agreed << " agree\n";
  EXPECT_GE(counts.refused, counts.made / 2);
  EXPECT_GE(counts.agreed, counts.made / 25);
  EXPECT_LE(stopped, counts.made / 20);
}
