//===- MappingTest.cpp - Unit tests of the mapping algebra ----------------===//
//
// Spelling, faults and limits of mappings: what the vectors do not hold.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/TensorMapping/Algebra/Explain.h"

#include "gtest/gtest.h"

using namespace furiosa::mapping;

static Axes axesOf(std::initializer_list<Axis> list) {
  Result<Axes> axes = Axes::get(std::vector<Axis>(list));
  EXPECT_TRUE(bool(axes));
  return *axes;
}

static const Axes &common() {
  static const Axes axes = axesOf({{"N", 64},
                                   {"K", 512},
                                   {"I", 256},
                                   {"J", 32},
                                   {"R", 19},
                                   {"B", 56},
                                   {"Big", int64_t(1) << 40}});
  return axes;
}

static Mapping parse(llvm::StringRef text, const Axes &axes = common()) {
  Result<Mapping> mapping = Mapping::parse(text, axes);
  if (mapping)
    return *mapping;
  ADD_FAILURE() << text.str() << ": " << mapping.fault().message;
  return Mapping();
}

static Fault faultOf(llvm::StringRef text, const Axes &axes = common()) {
  Result<Mapping> mapping = Mapping::parse(text, axes);
  EXPECT_FALSE(bool(mapping)) << text.str();
  return mapping ? Fault() : mapping.fault();
}

TEST(Mapping, KeepsSpelling) {
  EXPECT_EQ(parse(" N/8%4 ,K#520 % 2,").str(), "N / 8 % 4, K # 520 % 2");
  EXPECT_EQ(parse("N#{ ! }64").str(), "N #{!} 64");
  EXPECT_EQ(parse("N #{ 0 } 64, N#{*}64").str(), "N #{0} 64, N #{*} 64");
  EXPECT_EQ(parse("( N,[ K ] )=2").str(), "(N, [K]) = 2");
  EXPECT_EQ(parse("N\n/\t8").str(), "N / 8");
  EXPECT_EQ(Mapping().str(), "1");
  EXPECT_TRUE(Mapping().isIdentity());
}

TEST(Mapping, DerivedSpelling) {
  auto halves = split(parse("K"), 32);
  ASSERT_TRUE(bool(halves));
  EXPECT_EQ(halves->first.str(), "K / 32");
  EXPECT_EQ(halves->second.str(), "K % 32");
  EXPECT_EQ(pair(parse("I % 32"), parse("K / 32"))->str(), "I % 32, K / 32");
  EXPECT_EQ(pair(halves->first, halves->second)->str(), "K");
  EXPECT_EQ(pair(Mapping(), parse("K # 600"))->str(), "K # 600");
  EXPECT_EQ(pad(parse("J % 8"), 16)->str(), "J % 8 # 16");
  EXPECT_EQ(pad(parse("J % 8"), 16, Pad::Bottom)->str(), "J % 8 #{!} 16");
  EXPECT_EQ(pad(parse("K / 16 % 4"), 8)->str(), "K / 16 % 4 # 8");
  EXPECT_EQ(modulo(parse("N / 8, K"), 128)->str(), "K % 128");
  EXPECT_EQ(resize(parse("N"), 5)->str(), "N = 5");
  EXPECT_EQ(divide(parse("R # 24"), 4)->str(), "R # 24 / 4");
  EXPECT_EQ(divide(parse("R #{0} 24 # 32"), 4)->str(), "R #{0} 24 / 4 # 8");
  EXPECT_EQ(split(parse("B # 64"), 32)->first.str(), "B # 64 / 32");
  EXPECT_EQ(peel(parse("1 # 2, N # 128"))->str(), "N");
  EXPECT_EQ(peel(parse("[R, B, 2] # 4096"))->str(), "R, B, 2");
  EXPECT_EQ(peel(parse("1 # 4"))->str(), "1");
  EXPECT_EQ(pair(parse("B # 64 / 32"), parse("B # 64 % 32 "))->str(),
            "B # 64 / 32, B # 64 % 32");
}

TEST(Mapping, UnalignedComposesText) {
  Axes axes = axesOf({{"A", 3}, {"B", 6}});
  Mapping cut = parse("[A, B] % 9", axes);
  EXPECT_EQ(cut.canonical().fault().rule, "MA-13");
  EXPECT_EQ(cut.canonical().fault().column, 10);
  EXPECT_EQ(modulo(parse("A, B", axes), 9)->str(), "[A, B] % 9");
  EXPECT_EQ(pair(cut, parse("A", axes))->str(), "[A, B] % 9, A");
  EXPECT_TRUE(*equivalent(cut, parse("[A,B]%9", axes)));
  EXPECT_EQ(equivalent(cut, parse("[A, B] = 9", axes)).fault().rule, "MA-13");
  EXPECT_FALSE(same(cut, parse("[A, B] = 9", axes)));
}

TEST(Mapping, OvershootSpells) {
  for (const char *text :
       {"[R # 20 / 5, R # 20 % 5] # 24", "[R # 21 / 7, R # 21 % 7] = 20",
        "[B # 64 / 32, B # 64 / 2 % 16]", "J, R # 25 / 5, R # 25 % 5",
        "[B # 90 / 45, B # 90 % 45] # 112 / 56 # 4",
        "[R # 30 / 15, R # 30 % 15] # 60 / 20, J",
        "[R # 30 / 15, R # 30 % 15] # 60 / 20, "
        "[R # 30 / 15, R # 30 % 15] = 20"}) {
    Mapping mapping = parse(text);
    Mapping spelled = Mapping::fromCanonical(*mapping.canonical(), common());
    EXPECT_TRUE(*spelled.canonical() == *mapping.canonical())
        << text << " as " << spelled.str();
  }
}

TEST(Mapping, ResolvedReading) {
  EXPECT_FALSE(*equivalent(parse("R # 24 / 4, R # 24 % 4"), parse("R # 24")));
  EXPECT_TRUE(
      *equivalentResolved(parse("R # 24 / 4, R # 24 % 4"), parse("R # 24")));
  EXPECT_TRUE(same(parse("R # 24 / 4, R # 24 % 4"), parse("R # 24")));
  EXPECT_EQ(*parse("R # 24 / 4, J, R # 24 % 4").liveCells(), 19 * 32);
  // A zero pad inside wins over overshoot outside, so nothing is clipped.
  Axes axes = axesOf({{"A", 6}, {"B", 3}});
  EXPECT_FALSE(
      *equivalentResolved(parse("A # 8 / 4, A # 8 % 4, B #{0} 4", axes),
                          parse("A # 8, B #{0} 4", axes)));
}

TEST(Mapping, IsResizeOf) {
  EXPECT_TRUE(*isResizeOf(parse("K % 32"), parse("K")));
  EXPECT_TRUE(*isResizeOf(parse("R"), parse("R # 24")));
  EXPECT_FALSE(*isResizeOf(parse("R # 24"), parse("R")));
  EXPECT_FALSE(*isResizeOf(parse("K / 32"), parse("K")));
}

TEST(Mapping, AxesFaults) {
  EXPECT_EQ(Axes::get(Axis{"n", 4}).fault().rule, "MA-6");
  EXPECT_EQ(Axes::get(Axis{"", 4}).fault().rule, "MA-6");
  EXPECT_EQ(Axes::get(Axis{"N", 0}).fault().rule, "MA-12");
  std::vector<Axis> twice = {{"N", 4}, {"N", 8}};
  EXPECT_EQ(Axes::get(twice).fault().rule, "MA-12");
}

TEST(Mapping, MessagesOfferAWayOut) {
  EXPECT_EQ(faultOf("N / 3").message,
            "'/ 3' does not divide a size of 64; 2 and 4 divide it, or pad it "
            "with '# 66' first");
  EXPECT_EQ(faultOf("N = 65").message,
            "'= 65' exceeds a size of 64; padding is '# 65'");
  EXPECT_EQ(faultOf("N # 8").message,
            "'# 8' is below a size of 64; shrinking is '= 8'");
  EXPECT_EQ(faultOf("Bog").message,
            "axis 'Bog' is not declared; did you mean 'Big'");
  EXPECT_EQ(faultOf("N / K").message,
            "expected a number after the operator, found 'K'; an axis size is "
            "written '{K::SIZE}' or as a number");
  EXPECT_EQ(faultOf("{L}").rule, "MA-7");
  EXPECT_EQ(faultOf("N / {8}").rule, "MA-7");
}

TEST(Mapping, Escapes) {
  Environment environment;
  environment.mappings.emplace("Tiles", parse("N / 8, K"));
  environment.mappings.emplace("Rows", parse("N / 8"));
  environment.constants.emplace("WIDTH", 16);
  auto text = [&](llvm::StringRef source) {
    Result<Mapping> mapping = Mapping::parse(source, common(), environment);
    return mapping ? mapping->str()
                   : mapping.fault().reason + "@" +
                         std::to_string(mapping.fault().column);
  };
  EXPECT_EQ(text("{Tiles} / {WIDTH}"), "[N / 8, K] / 16");
  EXPECT_EQ(text("{ Rows } % 4, J"), "N / 8 % 4, J");
  EXPECT_EQ(text("N # { K::SIZE }, N #{0} {WIDTH}"), "pad-too-small@25");
  EXPECT_EQ(text("N #{!} { K :: SIZE }"), "N #{!} 512");
  EXPECT_EQ(text("N % {WIDHT}"), "unknown-constant@5");
  EXPECT_EQ(text("{Tile}"), "bad-escape@1");
  EXPECT_EQ(text("{8}"), "bad-escape@2");
  EXPECT_EQ(text("N % {8"), "unclosed@5");
  EXPECT_EQ(text("N % {8]"), "mismatched-close@7");
  EXPECT_EQ(text("N % {}"), "expected-number@6");
  EXPECT_EQ(text("N % {K::LEN}"), "unexpected-token@9");
  EXPECT_EQ(text("N % {Q::SIZE}"), "unknown-axis@6");
}

TEST(Mapping, HostileText) {
  EXPECT_EQ(faultOf(llvm::StringRef("N\0", 2)).reason, "bad-char");
  EXPECT_EQ(faultOf("N, \xc3\xa9").column, 4);
  EXPECT_EQ(faultOf("\xff\xfe").rule, "MA-3");
  EXPECT_EQ(faultOf(std::string(100000, '[')).reason, "too-deep");
  EXPECT_EQ(faultOf(std::string(100000, '(') + "N").reason, "too-deep");
  EXPECT_EQ(faultOf("N / " + std::string(100000, '9')).reason, "bad-number");
  EXPECT_EQ(faultOf(std::string(100000, 'A')).reason, "unknown-axis");
  EXPECT_EQ(faultOf("#{").reason, "expected-operand");
  EXPECT_EQ(faultOf("N #{").reason, "unclosed");
  EXPECT_EQ(faultOf("N #{*").reason, "bad-char");

  std::string wide = "N", chain = "N", pads = "N";
  for (int i = 0; i < 100000; ++i) {
    wide += ", 1";
    chain += " / 1";
    if (i < 2000)
      pads += (i % 2 ? " # " : " #{0} ") + std::to_string(65 + i);
  }
  EXPECT_EQ(parse(wide).canonical()->factors.size(), 1u);
  EXPECT_EQ(parse(chain).canonical()->factors.size(), 1u);
  EXPECT_EQ(parse(chain).cellAt(3).index.begin()->second, 3);
  EXPECT_EQ(parse(pads).canonical()->factors[0].runs.size(), 2000u);
}

TEST(Mapping, LargeSizes) {
  Axes axes = axesOf({{"A", INT64_MAX}, {"B", int64_t(1) << 62}});
  EXPECT_EQ(parse("A", axes).cellAt(INT64_MAX - 1).index.begin()->second,
            INT64_MAX - 1);
  EXPECT_EQ(faultOf("A, B", axes).reason, "size-overflow");
  EXPECT_EQ(faultOf("A # 9223372036854775808", axes).reason, "bad-number");
  EXPECT_EQ(pair(parse("A", axes), parse("B", axes)).fault().rule, "MA-11");
  // Sums of coordinates may leave 64 bits; they stay overshoot.
  std::string sums = "B / 2305843009213693952";
  for (int i = 0; i < 40; ++i)
    sums += ", B / 2305843009213693952";
  Mapping mapping = parse(sums, axes);
  EXPECT_EQ(mapping.cellAt(mapping.size() - 1).index.begin()->second,
            INT64_MAX);
  EXPECT_TRUE(bool(mapping.canonical()));
}

TEST(Mapping, CheckTensor) {
  Axes axes = axesOf({{"A", 6}, {"B", 3}, {"D", 64}, {"E", 6}});
  auto reason = [&](llvm::StringRef text) {
    std::optional<Fault> bad = checkTensor(parse(text, axes));
    return bad ? bad->rule : "";
  };
  EXPECT_EQ(reason("A # 8 / 4, A # 8 % 4"), "");
  EXPECT_EQ(reason("A #{0} 8 / 4, A #{0} 8 % 4"), "MA-14");
  EXPECT_EQ(reason("A #{!} 8 / 4, B, A #{!} 8 % 4"), "MA-14");
  EXPECT_EQ(reason("A #{0} 8 / 2, A #{0} 8 % 2"), "");
  EXPECT_EQ(reason("[D = 28 # 32] / 8, [D = 28 # 32] % 8"), "MA-14");
  EXPECT_EQ(reason("D = 28 # 32 / 4, D = 28 # 32 % 4"), "");
  EXPECT_EQ(reason("[B, E] / 9, [B, E] % 9"), "MA-14");
  EXPECT_EQ(reason("[B, E] / 6, [B, E] % 6"), "");
  EXPECT_EQ(reason("[B, E] / 9"), "MA-13");
  EXPECT_EQ(reason("A, A"), "MA-15");
  EXPECT_EQ(reason("D / 8, D % 16"), "MA-15");
  EXPECT_EQ(reason("D / 8, D % 8"), "");
}

TEST(Mapping, SequencerLimits) {
  Axes axes = axesOf({{"X", 1 << 20}, {"Y", 4}});
  auto derive = [&](llvm::StringRef memory, llvm::StringRef time,
                    llvm::StringRef packet,
                    SequenceMode mode = SequenceMode::Read) {
    return sequence(parse(memory, axes), parse(time, axes), parse(packet, axes),
                    mode);
  };
  // Merging stops where one entry would get too long.
  Result<Sequence> kept = derive("X", "X / 32, X / 16 % 2", "X % 16");
  ASSERT_TRUE(bool(kept));
  EXPECT_EQ(kept->time.size(), 1u);
  Result<Sequence> apart = derive("X", "X / 16, X / 8 % 2", "X % 8");
  ASSERT_TRUE(bool(apart));
  EXPECT_EQ(apart->time.size(), 2u);
  EXPECT_FALSE(checkSequencerLimits(*apart));
  std::optional<Fault> tooLong = checkSequencerLimits(*derive("X", "1", "X"));
  ASSERT_TRUE(bool(tooLong));
  EXPECT_EQ(tooLong->rule, "MA-29");
  EXPECT_TRUE(llvm::StringRef(tooLong->message).contains("1048576 steps"));

  EXPECT_EQ(derive("Y", "1", "Y #{!} 8").fault().reason, "bottom-in-stream");
  EXPECT_TRUE(bool(derive("Y", "1", "Y #{!} 8", SequenceMode::Carve)));
  EXPECT_EQ(derive("Y, Y", "1", "Y").fault().rule, "MA-15");
  EXPECT_EQ(derive("[Y, X] = 1572864", "1", "Y").fault().reason,
            "memory-not-linear");
}

TEST(Mapping, ExplainsCells) {
  Axes axes = axesOf({{"A", 3}, {"B", 16}});
  // As the book draws it: outer digits down, the innermost one across.
  EXPECT_EQ("\n" + explainCells(parse("B / 4, B % 4", axes), 0, 8), R"(
position |          | B % 4: 0 | B % 4: 1 | B % 4: 2 | B % 4: 3
---------|----------|----------|----------|----------|---------
0        | B / 4: 0 | {}       | {B: 1}   | {B: 2}   | {B: 3}
4        | B / 4: 1 | {B: 4}   | {B: 5}   | {B: 6}   | {B: 7}
)");
  // A range that begins inside a row; padding.
  EXPECT_EQ("\n" + explainCells(parse("A #{0} 4, B % 2", axes), 3, 100), R"(
position |             | B % 2: 0     | B % 2: 1
---------|-------------|--------------|-------------
2        | A #{0} 4: 1 |              | {A: 1, B: 1}
4        | A #{0} 4: 2 | {A: 2}       | {A: 2, B: 1}
6        | A #{0} 4: 3 | zero padding | zero padding
)");
  // Wide rows are wrapped; overshoot is marked.
  EXPECT_EQ("\n" + explainCells(parse("A, B # 20", axes), 34, 3), R"(
position |                  | +0          | +1 | +2 | +3 | +4 | +5 | +6            | +7
---------|------------------|-------------|----|----|----|----|----|---------------|--------------
28       | A: 1, B # 20: 8  |             |    |    |    |    |    | {A: 1, B: 14} | {A: 1, B: 15}
36       | A: 1, B # 20: 16 | top padding |    |    |    |    |    |               |
)");
  EXPECT_NE(
      explainCells(parse("A # 4 / 2, A # 4 % 2", axes), 3, 1).find("{A: 3!}"),
      std::string::npos);
  EXPECT_EQ(explainCells(parse("B", axes), 16, 1), "");
  EXPECT_EQ(
      describe(*parse("[B / 4, A, 5 # 6] #{!} 75", axes).canonical(), axes),
      "B·4 [4], A·1 [3], ·[5/6 top]; tail 75 bottom");
}

TEST(Mapping, ExplainsDifferences) {
  Axes axes = axesOf({{"A", 8}, {"B", 16}, {"L", int64_t(1) << 40}});
  EXPECT_EQ(explainDifference(parse("A, B", axes), parse("B", axes)),
            "\"A, B\" has 128 positions, \"B\" has 16");
  EXPECT_EQ(explainDifference(parse("A # 16", axes), parse("A #{0} 16", axes)),
            "at position 8, \"A # 16\" is top padding and \"A #{0} 16\" is "
            "zero padding");
  EXPECT_EQ(explainDifference(parse("B / 2, B % 2", axes), parse("B", axes)),
            "");
  // Far behind what is scanned: one step of a term.
  EXPECT_EQ(explainDifference(parse("A, L", axes), parse("A # 9 = 8, L", axes)),
            "");
  EXPECT_EQ(explainDifference(parse("A, L", axes), parse("B % 8, L", axes)),
            "at position 1099511627776, \"A, L\" is {A: 1} and \"B % 8, L\" is "
            "{B: 1}");
}

TEST(Mapping, ExplainsSequences) {
  Axes axes = axesOf({{"A", 8}, {"B", 8}, {"C", 4}, {"T", 4}});
  Mapping memory = parse("A, B, C # 8", axes);
  Result<Sequence> found =
      sequence(memory, parse("A % 2, T, B % 4, A / 2, B / 4", axes),
               parse("C # 32", axes), SequenceMode::Read);
  ASSERT_TRUE(bool(found));
  // The rows of the book's table for splitting axes, and a broadcast.
  EXPECT_EQ("\n" + explainSequence(memory, *found), R"(
       | term   | entry | stride source                | memory after
-------|--------|-------|------------------------------|----------------------------------
time   | A % 2  | 2:64  | |B, C # 8|                   | A / 2, 1 # 2, B, C # 8
time   | T      | 4:0   | not in the memory, repeats   | A / 2, 1 # 2, B, C # 8
time   | B % 4  | 4:8   | |C # 8|                      | A / 2, 1 # 2, B / 4, 1 # 4, C # 8
time   | A / 2  | 4:128 | |1 # 2, B / 4, 1 # 4, C # 8| | 1 # 8, B / 4, 1 # 4, C # 8
time   | B / 4  | 2:32  | |1 # 4, C # 8|               | 1 # 64, C # 8
packet | C # 32 | 32:1  | contiguous, padding from 4   | 1 # 512
entries 2:64 4:0 4:8 4:128 2:32 | 32:1; packet of 32, contiguous run of 64, access of 32 elements
padding of the stream reaches 24 elements past the end of the memory
)");
  // A window takes its digit whole; what is left over is said.
  memory = parse("A, B", axes);
  found = sequence(memory, parse("A / 4, A % 4 = 3", axes), parse("B", axes),
                   SequenceMode::Read);
  ASSERT_TRUE(bool(found));
  EXPECT_EQ("\n" + explainSequence(memory, *found), R"(
       | term  | entry | stride source | memory after
-------|-------|-------|---------------|----------------
time   | A / 4 | 2:32  | |A % 4, B|    | 1 # 2, A % 4, B
time   | A = 3 | 3:8   | |B|           | 1 # 8, B
packet | B     | 8:1   | contiguous    | 1 # 64
entries 2:32 3:8 | 8:1; packet of 8, contiguous run of 24, access of 8 elements
live cells of the memory are left over
)");
}

TEST(Mapping, TilesAcrossDigits) {
  Axes axes = axesOf({{"A", 16}, {"B", 3}, {"H", 24}, {"L", 8}});
  Mapping element = parse("A / 4, B, A % 4", axes), index = parse("A", axes);
  Result<Tile> rows = tile(element, index, 8, 4, Pad::Top);
  ASSERT_TRUE(bool(rows));
  EXPECT_EQ(rows->view.str(), "A / 4 = 2 # 4, B, A % 4");
  EXPECT_EQ(rows->offset, 12);
  EXPECT_EQ(rows->step, 0);
  EXPECT_EQ(rows->live, 16);
  // The window would cross a row, or no list of digits is the view.
  EXPECT_EQ(tile(element, index, 8, 2, Pad::Top).fault().rule, "MA-20");
  EXPECT_EQ(tile(element, index, 6, 0, Pad::Top).fault().rule, "MA-17");
  EXPECT_EQ(tile(element, index, 0, 0, Pad::Top).fault().rule, "MA-20");
  EXPECT_EQ(tile(element, index, 1, 16, Pad::Top).fault().rule, "MA-19");
  EXPECT_EQ(tile(element, index, 1, -1, Pad::Top).fault().rule, "MA-19");
  EXPECT_EQ(tile(parse("L, B", axes), parse("L", axes), 2, 6, Pad::Bottom)
                ->view.str(),
            "L = 2 #{!} 8, B");
  EXPECT_EQ(
      tile(parse("L, B", axes), parse("L / 2", axes), 1, 0, Pad::Top)->step, 6);

  // Padding that is there already may keep its kind or become the hole.
  Mapping padded = parse("H # 32, B", axes), along = parse("H", axes);
  for (const char *view : {"H = 4 #{!} 32, B", "H = 4 #{!} 24 # 32, B"})
    EXPECT_FALSE(
        checkTileView(padded, along, 4, Pad::Bottom, parse(view, axes)));
  EXPECT_EQ(
      checkTileView(padded, along, 4, Pad::Bottom, parse("H = 4 # 32, B", axes))
          ->rule,
      "MA-18");
}

TEST(Mapping, TilesBesidePadding) {
  Axes axes = axesOf({{"A", 5}, {"B", 3}, {"H", 24}});
  // Padding outside of all digits stays outside.
  Result<Tile> inner =
      tile(parse("[A, B] # 64", axes), parse("A", axes), 2, 1, Pad::Top);
  ASSERT_TRUE(bool(inner));
  EXPECT_EQ(inner->view.size(), 64);
  EXPECT_TRUE(same(inner->view, parse("[A = 2 # 5, B] # 64", axes)));
  EXPECT_EQ(inner->offset, 3);
  EXPECT_EQ(inner->step, 3);
  EXPECT_EQ(inner->live, 5);
  EXPECT_FALSE(checkTileView(parse("[A, B] # 64", axes), parse("A", axes), 2,
                             Pad::Bottom,
                             parse("[A = 2 #{!} 5, B] # 64", axes)));
  // An axis that ends in the middle of its last row.
  Mapping ragged = parse("A # 6 / 2, B, A # 6 % 2", axes);
  Mapping rows = parse("A # 6 / 2", axes);
  Result<Tile> last = tile(ragged, rows, 2, 1, Pad::Top);
  ASSERT_TRUE(bool(last));
  EXPECT_TRUE(
      same(last->view, parse("A # 6 / 2 = 2 # 3, B, A # 6 % 2", axes)));
  EXPECT_EQ(last->offset, 6);
  // The hole ends with the index, or with the padding behind it.
  Mapping padded = parse("H # 32, B", axes), along = parse("H # 28", axes);
  for (const char *view : {"H = 4 #{!} 32, B", "H = 4 #{!} 28 # 32, B"})
    EXPECT_FALSE(
        checkTileView(padded, along, 4, Pad::Bottom, parse(view, axes)));
  // Not of another kind, of other cells, or at another digit.
  for (const char *view : {"H = 4 # 32, B", "H = 5 #{!} 32, B",
                           "H = 4 # 32, B # 3", "H = 4 # 16 #{!} 32, B",
                           "[H = 4 # 31, B] #{!} 96"}) {
    std::optional<Fault> wrong =
        checkTileView(padded, along, 4, Pad::Bottom, parse(view, axes));
    ASSERT_TRUE(wrong) << view;
    EXPECT_EQ(wrong->rule, "MA-18") << view;
  }
}

TEST(Mapping, RelaxedDivision) {
  Axes axes = axesOf({{"A", 16}, {"B", 3}, {"C", 4}});
  Result<RelaxedDivision> found =
      divideRelaxed(parse("C, A", axes), parse("B, A", axes));
  ASSERT_TRUE(bool(found));
  EXPECT_EQ(found->terms.size(), 1u);
  EXPECT_EQ(found->dividendRest.str(), "C, 1 # 16");
  EXPECT_EQ(found->divisorRest.str(), "B, 1 # 16");
  EXPECT_EQ(found->contiguousTail, 16);
  found = divideRelaxed(parse("A, C", axes), parse("A, 2", axes));
  ASSERT_TRUE(bool(found));
  EXPECT_EQ(found->dividendRest.str(), "C # 64");
  EXPECT_EQ(found->contiguousTail, 1);
}
