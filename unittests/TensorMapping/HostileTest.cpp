//===- HostileTest.cpp - Random text and huge sizes -----------------------===//
//
// Nothing that can be written may crash or overflow, and no cost may grow with
// sizes. Meant for the sanitizer build, where it checks most.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/TensorMapping/Algebra/Explain.h"

#include "gtest/gtest.h"

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>

using namespace furiosa::mapping;

namespace {
class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed) {}

  int64_t below(int64_t n) { return int64_t(random() % uint64_t(n)); }

  std::string number() {
    static const int64_t numbers[] = {1,
                                      2,
                                      3,
                                      4,
                                      7,
                                      64,
                                      65536,
                                      65537,
                                      int64_t(1) << 40,
                                      (int64_t(1) << 40) + 1,
                                      int64_t(1) << 61,
                                      int64_t(1) << 62,
                                      (int64_t(1) << 62) + 2,
                                      INT64_MAX - 1,
                                      INT64_MAX};
    return std::to_string(numbers[below(std::size(numbers))]);
  }

  std::string expression(int depth) {
    static const char *const atoms[] = {"A", "B", "C", "D"};
    std::string text;
    if (depth > 0 && below(2))
      text = "[" + expression(depth - 1) + ", " + expression(depth - 1) + "]";
    else
      text = below(6) ? atoms[below(4)] : number();
    static const char *const signs[] = {" / ", " % ",    " = ",
                                        " # ", " #{0} ", " #{!} "};
    for (int64_t i = below(3); i > 0; --i)
      text += signs[below(std::size(signs))] + number();
    return text;
  }

  void damage(std::string &text) {
    static const char alphabet[] = "ABx_09 /%=#{}[](),*!:\xc3\0";
    for (int64_t i = below(4); i >= 0 && !text.empty(); --i) {
      size_t at = below(text.size());
      char c = alphabet[below(sizeof(alphabet))];
      if (below(3) == 0)
        text.erase(at, 1);
      else if (below(2))
        text.insert(at, 1, c);
      else
        text[at] = c;
    }
  }

private:
  std::mt19937_64 random;
};

uint64_t seedOf() {
  const char *given = std::getenv("FURIOSA_SEED");
  uint64_t seed =
      given ? std::strtoull(given, nullptr, 10) : std::random_device()();
  std::cout << "seed " << seed << "\n";
  return seed;
}

Axes hugeAxes() {
  std::vector<Axis> list = {{"A", 6},
                            {"B", int64_t(1) << 40},
                            {"C", (int64_t(1) << 62) + 2},
                            {"D", INT64_MAX}};
  return *Axes::get(list);
}

void expectGoodFault(const Fault &fault) {
  EXPECT_TRUE(llvm::StringRef(fault.rule).starts_with("MA-"));
  EXPECT_FALSE(fault.reason.empty());
  EXPECT_FALSE(fault.message.empty());
  EXPECT_FALSE(llvm::StringRef(fault.message).ends_with("."));
  EXPECT_LT(fault.message.size(), 1500u);
}
} // namespace

TEST(Hostile, DamagedText) {
  Generator generator(seedOf());
  Axes axes = hugeAxes();
  Environment environment;
  environment.mappings.emplace("A",
                               *Mapping::parse("A, B # 1099511627780", axes));
  environment.constants.emplace("B", -1);
  for (int number = 0; number < 20000; ++number) {
    std::string text = generator.expression(2);
    generator.damage(text);
    SCOPED_TRACE(text);
    for (bool escapes : {false, true}) {
      Result<Mapping> mapping = escapes
                                    ? Mapping::parse(text, axes, environment)
                                    : Mapping::parse(text, axes);
      if (!mapping) {
        expectGoodFault(mapping.fault());
        EXPECT_GE(mapping.fault().column, 1);
        EXPECT_LE(mapping.fault().column,
                  static_cast<int64_t>(text.size()) + 1);
        continue;
      }
      Result<Mapping> again = Mapping::parse(mapping->str(), axes);
      ASSERT_TRUE(bool(again)) << mapping->str();
      EXPECT_EQ(again->str(), mapping->str());
      EXPECT_EQ(again->size(), mapping->size());
    }
    if (testing::Test::HasFailure())
      return;
  }
}

TEST(Hostile, HugeSizes) {
  Generator generator(seedOf());
  Axes axes = hugeAxes();
  std::vector<Mapping> pool;
  int parsed = 0, aligned = 0, sequenced = 0;
  for (int number = 0; number < 60000; ++number) {
    std::string text = generator.expression(2);
    Result<Mapping> mapping = Mapping::parse(text, axes);
    if (!mapping)
      continue;
    SCOPED_TRACE(text);
    ++parsed;
    Result<Canonical> form = mapping->canonical();
    for (int64_t position :
         {int64_t(0), mapping->size() - 1, generator.below(mapping->size())})
      EXPECT_FALSE(explainCells(*mapping, position, 2).empty());
    if (form) {
      ++aligned;
      EXPECT_FALSE(describe(*form, axes).empty());
      Mapping spelled = Mapping::fromCanonical(*form, axes);
      if (spelled.size() == mapping->size()) {
        EXPECT_TRUE(*spelled.canonical() == *form) << spelled.str();
      }
    }
    if (Result<int64_t> live = mapping->liveCells()) {
      EXPECT_LE(*live, mapping->size());
    }
    if (std::optional<Fault> bad = checkTensor(*mapping))
      expectGoodFault(*bad);
    int64_t n = 1 + generator.below(mapping->size());
    for (const Result<Mapping> &derived :
         {divide(*mapping, n), modulo(*mapping, n), resize(*mapping, n),
          pad(*mapping, INT64_MAX), peel(*mapping)})
      if (!derived)
        expectGoodFault(derived.fault());
    pool.push_back(*mapping);
    const Mapping &other = pool[generator.below(pool.size())];
    const Mapping &third = pool[generator.below(pool.size())];
    SCOPED_TRACE(other.str() + " and " + third.str());
    if (Result<Mapping> both = pair(*mapping, other); !both)
      expectGoodFault(both.fault());
    for (SequenceMode mode :
         {SequenceMode::Read, SequenceMode::Write, SequenceMode::Carve}) {
      Result<Sequence> found = sequence(*mapping, other, third, mode);
      if (!found) {
        expectGoodFault(found.fault());
        continue;
      }
      ++sequenced;
      EXPECT_FALSE(explainSequence(*mapping, *found).empty());
      if (std::optional<Fault> bad = checkSequencerLimits(*found))
        expectGoodFault(*bad);
      for (int64_t bits : {int64_t(4), int64_t(8), n})
        if (Result<int64_t> bytes = accessBytes(*found, bits); !bytes)
          expectGoodFault(bytes.fault());
    }
    if (Result<RelaxedDivision> found = divideRelaxed(*mapping, other); !found)
      expectGoodFault(found.fault());
    if (Result<Carving> found = carve(*mapping, other); !found) {
      expectGoodFault(found.fault());
    } else {
      EXPECT_EQ(found->rest.size(), mapping->size());
    }
    for (const std::optional<Fault> &bad :
         {checkPadView(*mapping, other), checkUnpadView(*mapping, other),
          checkReshape("element", *mapping, other)})
      if (bad)
        expectGoodFault(*bad);
    if (Result<llvm::SmallVector<DigitExtent, 4>> found =
            paddedExtents(*mapping);
        !found)
      expectGoodFault(found.fault());
    int64_t start = generator.below(other.size());
    for (int64_t len : {int64_t(1), n, INT64_MAX}) {
      Result<Tile> found = tile(*mapping, other, len, start, Pad::Bottom);
      if (!found)
        expectGoodFault(found.fault());
      if (std::optional<Fault> bad =
              checkTileView(*mapping, other, len, Pad::Top, third))
        expectGoodFault(*bad);
    }
    if (testing::Test::HasFailure())
      return;
  }
  std::cout << parsed << " mappings, " << aligned << " aligned, " << sequenced
            << " sequences\n";
}

/// Not a limit, a record: what one mapping costs.
TEST(Hostile, CostPerMapping) {
  Axes axes = hugeAxes();
  constexpr int rounds = 20000;
  const char *text = "B / 1024 % 64 # 100, A #{0} 8, B % 32, C / 2 = 17 # 32";
  auto now = std::chrono::steady_clock::now;
  auto begin = now();
  std::vector<Mapping> all;
  for (int i = 0; i < rounds; ++i)
    all.push_back(*Mapping::parse(text, axes));
  auto parsed = now();
  for (const Mapping &mapping : all)
    ASSERT_TRUE(bool(mapping.canonical()));
  auto formed = now();
  auto nanoseconds = [](auto duration) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(duration)
               .count() /
           rounds;
  };
  std::cout << "parse " << nanoseconds(parsed - begin) << " ns, canonical "
            << nanoseconds(formed - parsed) << " ns\n";
}
