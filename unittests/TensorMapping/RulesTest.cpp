//===- RulesTest.cpp - Every rule of the mapping algebra fires ------------===//
//
// One fault or more for each of MA-1 to MA-32 of docs/rules.md: its number, its
// kind, and the column or a part of the message.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/TensorMapping/Algebra/Mapping.h"

#include "gtest/gtest.h"

#include <functional>
#include <set>

using namespace furiosa::mapping;

namespace {

const Axes &axes() {
  static const Axes axes = *Axes::get(
      {{"A", 8}, {"B", 512}, {"C", 6}, {"D", 3}, {"Big", int64_t(1) << 62}});
  return axes;
}

Mapping parse(llvm::StringRef text) {
  Result<Mapping> mapping = Mapping::parse(text, axes());
  if (mapping)
    return *mapping;
  ADD_FAILURE() << text.str() << ": " << mapping.fault().message;
  return Mapping();
}

template <typename T>
Fault faultOf(const Result<T> &result) {
  return result ? Fault() : result.fault();
}
Fault faultOf(std::optional<Fault> fault) { return fault.value_or(Fault()); }

Fault parseFault(llvm::StringRef text) {
  return faultOf(Mapping::parse(text, axes()));
}

Fault sequenceFault(llvm::StringRef memory, llvm::StringRef time,
                    llvm::StringRef packet,
                    SequenceMode mode = SequenceMode::Read) {
  return faultOf(sequence(parse(memory), parse(time), parse(packet), mode));
}

struct Case {
  const char *rule, *reason;
  int64_t column;
  const char *says;
  std::function<Fault()> run;
};

/// Faults in a text.
Case text(const char *rule, const char *reason, int64_t column,
          const char *says, const char *source) {
  return {rule, reason, column, says, [=] { return parseFault(source); }};
}

std::vector<Case> cases() {
  using Mode = SequenceMode;
  const std::string tenBits = [] {
    // Bits of two axes in turn, innermost ones outside.
    std::string list;
    for (int64_t bit = 1; bit < 512; bit *= 2)
      list += (list.empty() ? "B / " : ", B / ") + std::to_string(bit) + " % 2";
    return list;
  }();
  return {
      text("MA-1", "empty", 1, "'1' is the identity", ""),
      text("MA-1", "empty", 2, "'1' is the identity", "[]"),
      text("MA-2", "expected-operand", 3, "found ','", "A,, B"),
      text("MA-2", "expected-number", 4, "the end of the text", "A /"),
      text("MA-3", "unexpected-token", 3, "joined with a comma", "A B"),
      text("MA-3", "bad-char", 3, "a product is written with a comma", "A * B"),
      text("MA-4", "unclosed", 1, "'[' is not closed", "[A, B"),
      text("MA-4", "mismatched-close", 6, "write ']'", "[A, B)"),
      text("MA-5", "bad-number", 5, "digits only", "A / 0x4"),
      text("MA-5", "bad-number", 5, "9223372036854775808",
           "A # 9223372036854775808"),
      text("MA-5", "zero-number", 5, "start at 1", "A % 0"),
      text("MA-6", "bad-name", 1, "upper-case", "a"),
      text("MA-7", "unknown-axis", 4, "did you mean 'Big'", "A, Bigg"),
      text("MA-7", "bad-escape", 1, "write out mapping", "{Rows}"),
      text("MA-7", "unknown-constant", 5, "write the number", "A / {WIDTH}"),
      text("MA-8", "stride-not-divisible", 5, "2 and 4 divide it", "A / 3"),
      text("MA-8", "modulo-not-divisible", 5, "'= 3'", "A % 3"),
      text("MA-8", "modulo-too-large", 5, "take at most 8", "A % 16"),
      text("MA-9", "resize-too-large", 5, "padding is '# 9'", "A = 9"),
      text("MA-10", "pad-too-small", 5, "shrinking is '= 7'", "A # 7"),
      text("MA-11", "size-overflow", 1, "4611686018427387904 and 512",
           "Big, B"),
      {"MA-12", "axis-twice", 0, "with sizes 4 and 8",
       [] { return faultOf(Axes::get({{"N", 4}, {"N", 8}})); }},
      {"MA-12", "axis-size", 0, "sizes start at 1",
       [] { return faultOf(Axes::get(Axis{"N", 0})); }},
      {"MA-13", "not-linear", 10, "cuts across rows of 6",
       [] { return faultOf(parse("[D, C] % 9").canonical()); }},
      {"MA-13", "memory-not-linear", 0, "cuts across rows",
       [] { return sequenceFault("[D, C] % 9", "1", "C"); }},
      {"MA-14", "deferred", 1, "pad the live cells to a multiple of 4",
       [] {
         return faultOf(checkTensor(parse("C #{0} 8 / 4, C #{0} 8 % 4")));
       }},
      {"MA-15", "repeated", 0, "steps twice through axis A",
       [] { return faultOf(checkTensor(parse("A, D, A"))); }},
      {"MA-16", "split-not-divisible", 0, "does not split at 3",
       [] { return faultOf(split(parse("A"), 3)); }},
      {"MA-17", "split", 0, "does not divide the element",
       [] {
         return faultOf(
             tile(parse("C % 2, C / 2"), parse("C / 3"), 1, 0, Pad::Top));
       }},
      {"MA-18", "view", 0, "dropping padding is an unpad",
       [] {
         return faultOf(checkTileView(parse("A, B"), parse("B"), 2, Pad::Top,
                                      parse("A, B = 2")));
       }},
      {"MA-19", "start", 0, "the start counts cells, not tiles",
       [] { return faultOf(tile(parse("A, B"), parse("A"), 1, 8, Pad::Top)); }},
      {"MA-20", "window", 0, "start at most at 6",
       [] { return faultOf(tile(parse("A, B"), parse("A"), 2, 7, Pad::Top)); }},
      {"MA-21", "narrower", 0, "'unpad' drops padding",
       [] { return faultOf(checkPadView(parse("A # 16"), parse("A"))); }},
      {"MA-21", "narrower", 0, "'pad' adds padding",
       [] { return faultOf(checkUnpadView(parse("A"), parse("A # 16"))); }},
      {"MA-21", "not-outermost", 0, "expected 'A # 16, D' and 'A, D'",
       [] { return faultOf(checkPadView(parse("A, D"), parse("A, D # 6"))); }},
      {"MA-21", "not-outermost", 0, "more than top padding",
       [] { return faultOf(checkPadView(parse("A"), parse("A #{0} 16"))); }},
      {"MA-22", "incompatible", 0, "no common refinement",
       [] { return sequenceFault("C % 2, C / 2", "1", "C % 3, C / 3"); }},
      {"MA-22", "incompatible", 0, "no common refinement",
       [] {
         return faultOf(divideExact(parse("C % 2, C / 2"), parse("C / 3")));
       }},
      {"MA-23", "no-source", 0, "the memory holds 3 of 8 values of axis A",
       [] { return sequenceFault("A = 3 # 4", "1", "A"); }},
      {"MA-24", "no-target", 0, "a broadcast cannot be written",
       [] { return sequenceFault("A", "D, A", "1", Mode::Write); }},
      {"MA-25", "written-twice", 0, "3 times by a number",
       [] { return sequenceFault("A", "3, A", "1", Mode::Write); }},
      {"MA-25", "written-twice", 0, "steps twice through axis A",
       [] { return sequenceFault("A", "A / 4", "A % 4, A / 4", Mode::Write); }},
      {"MA-26", "unwritten", 0, "the first 4 of 8 values are written",
       [] { return sequenceFault("A", "A = 4", "1", Mode::Write); }},
      {"MA-26", "unwritten-zero", 0, "zero padding from 8 to 16",
       [] { return sequenceFault("A #{0} 16", "A", "1", Mode::Write); }},
      {"MA-26", "unwritten", 0, "are read without a gap",
       [] { return faultOf(carve(parse("A = 4, D"), parse("A"))); }},
      {"MA-27", "pad-collision", 0, "padding of the stream from 8 to 16",
       [] { return sequenceFault("D, A", "D", "A # 16", Mode::Write); }},
      {"MA-28", "bottom-in-stream", 0, "no stream may touch",
       [] { return sequenceFault("A", "1", "A #{!} 16"); }},
      {"MA-28", "bottom-in-memory", 0, "is read",
       [] { return sequenceFault("A #{!} 16", "1", "A"); }},
      {"MA-29", "too-many-entries", 0, "needs 9 entries, the sequencer has 8",
       [=] {
         Result<Sequence> found =
             sequence(parse("B"), parse(tenBits), parse("1"), Mode::Read);
         return found ? faultOf(checkSequencerLimits(*found)) : found.fault();
       }},
      {"MA-29", "too-many-entries", 0, "the sequencer counts to 65536",
       [] {
         return faultOf(checkSequencerLimits(
             *sequence(parse("Big"), parse("1"), parse("Big"), Mode::Read)));
       }},
      {"MA-30", "missing", 0, "has no digit for axis D",
       [] { return faultOf(divideExact(parse("A, B"), parse("D"))); }},
      {"MA-30", "broadcast", 0, "repeats cells by the number 2",
       [] { return faultOf(divideExact(parse("A, B"), parse("A, 2"))); }},
      {"MA-30", "repeated", 0, "has a digit of axis B twice",
       [] {
         return faultOf(divideExact(parse("A, B"), parse("B % 4, B % 4")));
       }},
      {"MA-31", "size", 0, "element 'A' has 8, 'C' has 6",
       [] { return faultOf(checkReshape("element", parse("A"), parse("C"))); }},
      {"MA-32", "access", 0, "1 elements of 4 bits",
       [] {
         return faultOf(accessBytes(
             *sequence(parse("A, B"), parse("B"), parse("A"), Mode::Read), 4));
       }},
  };
}

} // namespace

TEST(MappingRules, EachFires) {
  std::set<std::string> fired;
  for (const Case &given : cases()) {
    Fault fault = given.run();
    SCOPED_TRACE(std::string(given.rule) + " " + given.reason + ", found " +
                 fault.rule + " " + fault.reason + ": " + fault.message);
    EXPECT_EQ(fault.rule, given.rule);
    EXPECT_EQ(fault.reason, given.reason);
    EXPECT_EQ(fault.column, given.column);
    EXPECT_NE(fault.message.find(given.says), std::string::npos) << given.says;
    EXPECT_FALSE(llvm::StringRef(fault.message).ends_with("."));
    fired.insert(fault.rule);
  }
  for (int rule = 1; rule <= 32; ++rule)
    EXPECT_TRUE(fired.count("MA-" + std::to_string(rule))) << rule;
}

TEST(MappingRules, LegalNeighboursPass) {
  EXPECT_FALSE(checkPadView(parse("A, D"), parse("A # 16, D")));
  EXPECT_FALSE(checkPadView(parse("A, D"), parse("[A, D] # 29")));
  EXPECT_FALSE(checkPadView(parse("A"), parse("A")));
  EXPECT_FALSE(checkUnpadView(parse("A # 16, D"), parse("A, D")));
  EXPECT_FALSE(checkUnpadView(parse("A # 16"), parse("A # 12")));
  EXPECT_FALSE(checkReshape("element", parse("A, D"), parse("C, 4")));
}

TEST(MappingOperations, PaddedExtents) {
  auto extents = [](llvm::StringRef text) {
    std::string out;
    auto found = paddedExtents(parse(text));
    for (DigitExtent digit : *found)
      out += std::to_string(digit.stride) + ":" + std::to_string(digit.extent) +
             " ";
    return out;
  };
  EXPECT_EQ(extents("A # 16, C, D # 4"), "1:4 4:6 24:16 ");
  EXPECT_EQ(extents("B / 64, B % 64"), "1:512 ");
  EXPECT_EQ(extents("[A, D] # 29"), "1:3 3:8 ");
  EXPECT_EQ(extents("1"), "");
  EXPECT_EQ(paddedExtents(parse("[D, C] % 9")).fault().rule, "MA-13");
}

TEST(MappingOperations, AccessBytes) {
  auto bytes = [](llvm::StringRef memory, llvm::StringRef packet,
                  int64_t bits) {
    Result<Sequence> found =
        sequence(parse(memory), parse("1"), parse(packet), SequenceMode::Read);
    Result<int64_t> result = accessBytes(*found, bits);
    return result ? *result : -1;
  };
  EXPECT_EQ(bytes("B", "B", 8), 32);
  EXPECT_EQ(bytes("B", "B", 16), 32);
  EXPECT_EQ(bytes("A", "A", 4), 4);
  EXPECT_EQ(bytes("A, D", "A, D", 8), 8);  // 24 bytes in accesses of 8
  EXPECT_EQ(bytes("C, A", "A, C", 16), 2); // strides: element by element
  EXPECT_EQ(bytes("C", "C", 4), 1);        // 3 bytes
  EXPECT_EQ(bytes("D", "D", 4), -1);       // a byte and a half
  EXPECT_EQ(bytes("A", "A", 9), -1);
  EXPECT_EQ(bytes("A", "A", 0), -1);
}

TEST(MappingOperations, Carve) {
  auto rest = [](llvm::StringRef stream, llvm::StringRef piece) {
    Result<Carving> found = carve(parse(stream), parse(piece));
    return found ? found->rest.str() : found.fault().rule;
  };
  EXPECT_EQ(rest("A, B", "B"), "A, 1 # 512");
  EXPECT_EQ(rest("A, B", "A"), "B # 4096");
  EXPECT_EQ(rest("A, B", "A, B"), "1 # 4096");
  EXPECT_EQ(rest("A, B", "1"), "A, B");
  EXPECT_EQ(rest("A, B, 2", "B / 2, A"), "B % 2 # 4096, 2");
  EXPECT_EQ(rest("D #{!} 4, A", "A"), "D # 4, 1 # 8");
  EXPECT_EQ(rest("D #{0} 4, A", "A"), "D #{0} 4, 1 # 8");
  EXPECT_EQ(rest("[A, D] # 29", "A, D"), "1 # 29");
  EXPECT_EQ(rest("[D, A] # 29", "A"), "MA-22"); // no loop runs over the end
  EXPECT_EQ(rest("A", "A, D"), "MA-26");
  EXPECT_EQ(rest("[D, C] % 9", "D"), "MA-13");
}
