//===- TensorUnitRowsTest.cpp - Contractions by the table -----------------===//
//
// The shapes of contractions that the rules of the Tensor Unit tell apart, by
// the numbers of their rows: packets of one and two flits, broadcasts in every
// place, partial trees, kept and summed time, both lane modes at the capacity
// of the accumulator, every pair of element types. Each is the sum over the
// axes that the result lacks; interpreter and simulator give the plain loops.
//
//===----------------------------------------------------------------------===//

#include "KernelText.h"
#include "Kernels.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace furiosa;
using namespace furiosa::test;
using llvm::formatv;

namespace {

struct Clauses {
  std::string time, packet;
};

/// One operand, in HBM and in one slice.
struct Operand {
  ElementType type;
  /// Its axes, a plain list, and its element mapping where that is another one.
  std::string axes, element = "";
  Clauses fetch, collect;
  std::optional<int> zeroPoint = std::nullopt;

  std::string mapping() const { return element.empty() ? axes : element; }
  /// The type behind the zero point.
  ElementType fed() const {
    if (!zeroPoint)
      return type;
    return type == ElementType::I4 ? ElementType::I5 : ElementType::I9;
  }
};

struct Product {
  /// Rows of the table, as the name of the test.
  std::string name;
  std::string axes;
  Operand stream, weight;
  std::string lane, trf;
  Clauses outer;
  std::string columns, kept;
  std::string mode;
  Clauses fold;
  std::string trim;
  /// Axes of the result, and its element mapping where that is another one.
  std::string outAxes, outElement = "";
};

void PrintTo(const Product &product, std::ostream *os) { *os << product.name; }

ElementType resultOf(const Product &product) {
  return isInteger(product.stream.type) ? ElementType::I32 : ElementType::F32;
}

std::string fetchText(const Operand &operand, const std::string &name) {
  std::string text =
      formatv("    fetch %{0}d time \"{1}\" packet \"{2}\" : !{0}d\n", name,
              operand.fetch.time, operand.fetch.packet);
  if (operand.zeroPoint)
    text += formatv("    zero_point_sub {0}\n", *operand.zeroPoint);
  return text + formatv("    collect time \"{0}\" packet \"{1}\"\n",
                        operand.collect.time, operand.collect.packet)
                    .str();
}

std::string makeText(const Product &product) {
  std::string text = formatv("#axes = #tmap.axes<{0}>\n", product.axes);
  auto declare = [&](const char *name, ElementType type,
                     const std::string &axes, const std::string &element) {
    text += formatv("!{0} = !visa.hbm<{1}, element \"{2}\", #axes>\n"
                    "!{0}d = !visa.dm<{1}, slice \"1 # 256\", element \"{3}\", "
                    "#axes>\n",
                    name, mlirName(type), axes, element);
  };
  const Operand &stream = product.stream, &weight = product.weight;
  declare("a", stream.type, stream.axes, stream.mapping());
  declare("b", weight.type, weight.axes, weight.mapping());
  std::string outElement =
      product.outElement.empty() ? product.outAxes : product.outElement;
  declare("c", resultOf(product), product.outAxes, outElement);
  text += formatv("!w = !visa.trf<{0}, slice \"1 # 256\", lane \"{1}\", "
                  "element \"{2}\", #axes>\n",
                  mlirName(weight.fed()), product.lane, product.trf);
  return text +
         formatv(
             R"(func.func @kernel(%a: !a, %b: !b) -> !c attributes {{visa.kernel} {{
  %ad = visa.to_dm %a : !a -> !ad
  %bd = visa.to_dm %b : !b -> !bd
  %w = visa.chain sub -> !w {{
{0}    to_trf lane "{1}" element "{2}"
  }
  %cd = visa.chain main -> !cd {{
{3}    contract_outer %w time "{4}" packet "{5}" : !w
    contract_packet packet "{6}"
    contract_time time "{7}"
    contract_lane {8} time "{9}" packet "{10}"
    commit_trim packet "{11}"
    commit element "{12}"
  }
  %c = visa.to_hbm %cd : !cd -> !c
  return %c : !c
}
)",
             fetchText(weight, "b"), product.lane, product.trf,
             fetchText(stream, "a"), product.outer.time, product.outer.packet,
             product.columns, product.kept, product.mode, product.fold.time,
             product.fold.packet, product.trim, outElement)
             .str();
}

/// A row-major array over a list of axes.
struct Table {
  std::vector<std::string> names;
  const Codes *codes;

  uint32_t at(const std::map<std::string, int64_t> &sizes,
              const std::map<std::string, int64_t> &index) const {
    int64_t place = 0;
    for (const std::string &name : names)
      place = place * sizes.at(name) + index.at(name);
    return codes->at(place);
  }
};

/// Moves an index to the next one, the last axis fastest; false behind the end.
bool advance(const std::vector<std::string> &names,
             const std::map<std::string, int64_t> &sizes,
             std::map<std::string, int64_t> &index) {
  for (const std::string &name : llvm::reverse(names)) {
    if (++index[name] < sizes.at(name))
      return true;
    index[name] = 0;
  }
  return false;
}

/// The sums, in integers that wrap, or in floats that are exact for the fills
/// of these tests.
Codes expectedCodes(const Product &product,
                    const std::vector<HostArray> &arguments) {
  auto sizes = axesOf(product.axes);
  Table a{namesOf(product.stream.axes), &arguments[0].codes};
  Table b{namesOf(product.weight.axes), &arguments[1].codes};
  std::vector<std::string> out = namesOf(product.outAxes), summed;
  for (const Table &table : {a, b})
    for (const std::string &name : table.names)
      if (!llvm::is_contained(out, name) && !llvm::is_contained(summed, name))
        summed.push_back(name);
  std::map<std::string, int64_t> index;
  for (auto &[name, size] : sizes)
    index[name] = 0;
  auto integer = [](const Operand &operand, uint32_t code) {
    return uint32_t(decodeInteger(operand.type, code) -
                    operand.zeroPoint.value_or(0));
  };
  Codes codes;
  do {
    uint32_t integers = 0;
    float floats = 0;
    do {
      uint32_t left = a.at(sizes, index), right = b.at(sizes, index);
      if (isInteger(product.stream.type))
        integers +=
            integer(product.stream, left) * integer(product.weight, right);
      else
        floats += valueOf(product.stream.type, left) *
                  valueOf(product.weight.type, right);
    } while (advance(summed, sizes, index));
    codes.push_back(isInteger(product.stream.type) ? integers
                                                   : asPattern(floats));
  } while (advance(out, sizes, index));
  return codes;
}

class TensorUnitRow : public testing::TestWithParam<Product> {};

TEST_P(TensorUnitRow, AgreesWithLoops) {
  const Product &product = GetParam();
  std::string text = makeText(product);
  SCOPED_TRACE(text);
  Built built;
  ASSERT_NO_FATAL_FAILURE(build(text, built));
  // Small whole numbers: sums of floats are exact in any order.
  std::vector<HostArray> arguments =
      makeArguments(built, isInteger(product.stream.type) ? "bits" : "small");
  compare(built, arguments, expectedCodes(product, arguments), /*seeds=*/1);
}

constexpr ElementType I4 = ElementType::I4, I8 = ElementType::I8,
                      E4M3 = ElementType::F8E4M3, E5M2 = ElementType::F8E5M2,
                      BF16 = ElementType::BF16;

/// A packet for each step of `time`, of one flit, or of `flits` by `flit`.
Operand rowsOf(ElementType type, const std::string &time,
               const std::string &packet, const std::string &flits = "",
               const std::string &flit = "") {
  Clauses collect = {time, packet};
  if (!flits.empty())
    collect = {time + ", " + flits, flit};
  return {type, time + ", " + packet, "", {time, packet}, collect};
}

/// The same with A padded to 16: 64 elements of A and C.
Operand paddedRows(const std::string &time, const std::string &axes) {
  std::string outer = time == "1" ? "" : time + ", ";
  return {I8,
          axes,
          outer + "A # 16, C",
          {time, "A # 16, C"},
          {outer + "A # 16 / 8", "A # 16 % 8, C"}};
}

/// The weight R by E, one flit a lane.
Operand oneFlit(ElementType type) { return rowsOf(type, "R", "E"); }

/// a[A, E] by b[R, E] of one flit each.
Product pairOf(const std::string &name, ElementType stream, ElementType weight,
               std::optional<int> zeroA = {}, std::optional<int> zeroB = {}) {
  int64_t flit = 256 / wireBits(stream);
  Product product{name,
                  "A = 8, E = " + std::to_string(flit) + ", R = 8",
                  rowsOf(stream, "A", "E"),
                  oneFlit(weight),
                  "R",
                  "E",
                  {"A", "E"},
                  "1",
                  "A",
                  "interleaved",
                  {"A", "R"},
                  "R",
                  "A, R"};
  product.stream.zeroPoint = zeroA;
  product.weight.zeroPoint = zeroB;
  return product;
}

/// a of one flit over `time` by b[R, E]; `kept` of time is not summed.
Product keeping(const std::string &name, const std::string &kept) {
  Product product = pairOf(name, I8, I8);
  product.axes = "A = 8, B = 4, E = 32, R = 8";
  product.stream = rowsOf(I8, "A, B", "E");
  product.outer = {"A, B", "E"};
  product.kept = product.fold.time = kept;
  product.outAxes = kept + ", R";
  return product;
}

/// a[A, E] by b[R, …, E] with `outer` behind A.
Product tiled(const std::string &name, const std::string &weightAxes,
              const std::string &outer) {
  Product product = pairOf(name, I8, I8);
  product.axes = "A = 8, E = 32, R = 8, T = 5, U = 3, V = 2";
  if (!weightAxes.empty()) {
    std::string time = "R, " + weightAxes;
    product.weight = rowsOf(I8, time, "E");
    product.trf = weightAxes + ", E";
  }
  product.outer.time = product.kept = product.fold.time = "A, " + outer;
  product.outAxes = "A, " + outer + ", R";
  return product;
}

INSTANTIATE_TEST_SUITE_P(
    Outer, TensorUnitRow,
    testing::Values(
        Product{"Rows6And14TwoFlits",
                "A = 8, B = 64, R = 8",
                rowsOf(I8, "A", "B", "B / 32", "B % 32"),
                rowsOf(I8, "R", "B", "B / 32", "B % 32"),
                "R",
                "B",
                {"A", "B"},
                "1",
                "A",
                "interleaved",
                {"A", "R"},
                "R",
                "A, R"},
        pairOf("Row15OneFlit", I8, I8), tiled("Row21OneTile", "T", "T"),
        tiled("TwoTiles", "U, T", "U, T"),
        tiled("Row22Reordered", "T, V", "V, T"),
        tiled("Row23InNeither", "", "T"),
        // A tile inside of the packet's own axis of time.
        Product{"Row24PartialRead",
                "B = 5, K = 16, L = 2, M = 32, R = 8",
                rowsOf(BF16, "M, L", "K"),
                rowsOf(BF16, "R, B, L", "K"),
                "R",
                "B, L, K",
                {"M, B", "L, K"},
                "1",
                "M, B",
                "interleaved",
                {"M, B", "R"},
                "R",
                "M, B, R"},
        // A register file that is exactly full: 4 lanes of 4 rows of 2,048.
        Product{
            "Row12FullRegisterFile",
            "H = 16, Q = 2048",
            Operand{BF16, "Q", "", {"Q / 16", "Q % 16"}, {"Q / 16", "Q % 16"}},
            Operand{BF16,
                    "H, Q",
                    "",
                    {"H, Q / 16", "Q % 16"},
                    {"H, Q / 16", "Q % 16"}},
            "H / 4",
            "H % 4, Q",
            {"Q / 32, H % 4", "Q % 32"},
            "1",
            "H % 4",
            "interleaved",
            {"H % 4", "H / 4 # 8"},
            "H / 4",
            "H",
            "H % 4, H / 4"}),
    [](const auto &info) { return info.param.name; });

/// All pairs of types that the multiplier takes.
INSTANTIATE_TEST_SUITE_P(
    Types, TensorUnitRow,
    testing::Values(
        pairOf("Row65I4ByI4", I4, I4), pairOf("Row65I5ByI4", I4, I4, -8),
        pairOf("Row65I4ByI5", I4, I4, {}, 7),
        pairOf("Row65I5ByI5", I4, I4, 7, -8), pairOf("Row65I8ByI8", I8, I8),
        pairOf("Row65I9ByI8", I8, I8, 127),
        pairOf("Row65I8ByI9", I8, I8, {}, -128),
        pairOf("Row65I9ByI9", I8, I8, -128, 127),
        pairOf("Row65E4M3", E4M3, E4M3), pairOf("Row65E5M2", E5M2, E5M2),
        pairOf("Row65BF16", BF16, BF16)),
    [](const auto &info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Packet, TensorUnitRow,
    testing::Values(
        // Sixteen columns of four cells.
        Product{"Row25SixteenColumns",
                "A = 8, C = 16, D = 4, R = 8",
                rowsOf(I8, "A", "C, D", "C / 8", "C % 8, D"),
                rowsOf(I8, "R", "C, D", "C / 8", "C % 8, D"),
                "R",
                "C, D",
                {"A", "C, D"},
                "C",
                "A",
                "interleaved",
                {"A, C", "R"},
                "R",
                "A, C, R"},
        Product{
            "Row26InnermostOfThree",
            "A = 4, C = 4, D = 4, R = 8",
            Operand{
                I8, "A, C, D", "", {"1", "A, C, D"}, {"A / 2", "A % 2, C, D"}},
            rowsOf(I8, "R", "A, C, D", "A / 2", "A % 2, C, D"),
            "R",
            "A, C, D",
            {"1", "A, C, D"},
            "A, C",
            "1",
            "interleaved",
            {"A, C", "R"},
            "R",
            "A, C, R"},
        // Padding of the columns may go or stay.
        Product{"Row27PaddingGoes",
                "A = 8, C = 4, R = 8",
                paddedRows("1", "A, C"),
                paddedRows("R", "R, A, C"),
                "R",
                "A # 16, C",
                {"1", "A # 16, C"},
                "A",
                "1",
                "interleaved",
                {"A", "R"},
                "R",
                "A, R"},
        Product{"Row27PaddingStays",
                "A = 8, C = 4, R = 8",
                paddedRows("1", "A, C"),
                paddedRows("R", "R, A, C"),
                "R",
                "A # 16, C",
                {"1", "A # 16, C"},
                "A # 16",
                "1",
                "interleaved",
                {"A # 16", "R"},
                "R",
                "A, R",
                "A # 16, R"},
        Product{"Row28NoTree",
                "A = 8, D = 32, R = 8",
                rowsOf(BF16, "A", "D", "D / 16", "D % 16"),
                rowsOf(BF16, "R", "D", "D / 16", "D % 16"),
                "R",
                "D",
                {"A", "D"},
                "D",
                "A",
                "sequential",
                {"A, R, D / 8", "D % 8"},
                "D % 8",
                "A, R, D"}),
    [](const auto &info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    TimeAndLane, TensorUnitRow,
    testing::Values(keeping("Row30Outer", "A"), keeping("Row30Inner", "B"),
                    keeping("Row30Both", "A, B"),
                    Product{"Row31FourLanes",
                            "B = 3, C = 5, E = 32, R = 4",
                            rowsOf(I8, "C, B", "E"),
                            oneFlit(I8),
                            "R",
                            "E",
                            {"C, B", "E"},
                            "1",
                            "C, B",
                            "interleaved",
                            {"C, B", "R # 8"},
                            "R",
                            "C, B, R"},
                    Product{"Row32SequentialColumns",
                            "B = 2, K = 32, M = 6, N = 8",
                            rowsOf(I8, "M", "B, K", "B", "K"),
                            rowsOf(I8, "N", "B, K", "B", "K"),
                            "N",
                            "B, K",
                            {"M", "B, K"},
                            "B",
                            "M",
                            "sequential",
                            {"M, N", "B # 8"},
                            "B",
                            "M, N, B"},
                    // 8 lanes, 4 open sums, 32 columns: all 1,024 accumulators.
                    Product{"Row33FullSequential",
                            "A = 2, D = 32, M = 4, R = 8",
                            rowsOf(BF16, "A, M", "D", "D / 16", "D % 16"),
                            rowsOf(BF16, "R", "D", "D / 16", "D % 16"),
                            "R",
                            "D",
                            {"A, M", "D"},
                            "D",
                            "M",
                            "sequential",
                            {"M, R, D / 8", "D % 8"},
                            "D % 8",
                            "M, R, D"},
                    // 8 lanes, 128 open sums, 1 column.
                    Product{"Row35FullInterleaved",
                            "C = 2, K = 64, M = 128, R = 8",
                            rowsOf(I8, "C, M", "K", "K / 32", "K % 32"),
                            rowsOf(I8, "R, C", "K", "K / 32", "K % 32"),
                            "R",
                            "C, K",
                            {"C, M", "K"},
                            "1",
                            "M",
                            "interleaved",
                            {"M", "R"},
                            "R",
                            "M, R"},
                    // What is kept outside of the sum needs no accumulators.
                    Product{"Row36AnyNumberOutside",
                            "C = 2, K = 32, M = 4096, R = 8",
                            rowsOf(I8, "M, C", "K"),
                            rowsOf(I8, "R, C", "K"),
                            "R",
                            "C, K",
                            {"M, C", "K"},
                            "1",
                            "M",
                            "interleaved",
                            {"M", "R"},
                            "R",
                            "M, R"}),
    [](const auto &info) { return info.param.name; });

/// The public worked matmul of 64 x 64 x 64 in int8, whose lanes take every
/// second row of 16 (the registers of its load are in TranslateTest.cpp).
INSTANTIATE_TEST_SUITE_P(Worked, TensorUnitRow,
                         testing::Values(Product{
                             "Matmul64",
                             "J = 64, K = 64, M = 64",
                             rowsOf(I8, "M", "K", "K / 32", "K % 32"),
                             Operand{I8,
                                     "J, K",
                                     "",
                                     {"J / 2 % 8, J % 2, J / 16", "K"},
                                     {"J / 2 % 8, J % 2, J / 16, K / 32",
                                      "K % 32"}},
                             "J / 2 % 8",
                             "J % 2, J / 16, K",
                             {"M, J % 2, J / 16", "K"},
                             "1",
                             "M, J % 2, J / 16",
                             "interleaved",
                             {"M, J % 2, J / 16", "J / 2 % 8"},
                             "J / 2 % 8",
                             "M, J",
                             "M, J % 2, J / 16, J / 2 % 8"}),
                         [](const auto &info) { return info.param.name; });

/// Row 69: 256 products of 100 by 100 are 2,560,000, whose low byte is 0.
TEST(TensorUnitValues, Row69SumAndItsLowByte) {
  for (bool narrow : {false, true}) {
    Product product{"",
                    "A = 8, K = 256, R = 8",
                    rowsOf(I8, "A", "K", "K / 32", "K % 32"),
                    rowsOf(I8, "R", "K", "K / 32", "K % 32"),
                    "R",
                    "K",
                    {"A, K / 64", "K % 64"},
                    "1",
                    "A",
                    "interleaved",
                    {"A", "R"},
                    "R",
                    "A, R"};
    std::string text = makeText(product);
    if (narrow) {
      auto replace = [&](llvm::StringRef from, llvm::StringRef to) {
        for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
             at += to.size())
          text.replace(at, from.size(), to.str());
      };
      replace("hbm<i32", "hbm<i8");
      replace("dm<i32", "dm<i8");
      replace("    commit_trim", "    cast to i8 packet \"R # 32\"\n"
                                 "    commit_trim");
    }
    SCOPED_TRACE(text);
    Built built;
    ASSERT_NO_FATAL_FAILURE(build(text, built));
    std::vector<HostArray> arguments = makeArguments(built, "bits");
    for (HostArray &argument : arguments)
      std::fill(argument.codes.begin(), argument.codes.end(), 100);
    compare(built, arguments, Codes(64, narrow ? 0 : 2560000), /*seeds=*/0);
  }
}

/// Row 63: i8 −128 less a zero point of 127 is −255, 127 less −128 is 255; the
/// ninth bit reaches the multiplier.
TEST(TensorUnitValues, Row63NineBits) {
  for (auto [code, zeroPoint, expected] :
       {std::tuple(0x80u, 127, -255 * 32), {0x7Fu, -128, 255 * 32}}) {
    Product product = pairOf("", I8, I8, zeroPoint);
    Built built;
    ASSERT_NO_FATAL_FAILURE(build(makeText(product), built));
    std::vector<HostArray> arguments = makeArguments(built, "bits");
    std::fill(arguments[0].codes.begin(), arguments[0].codes.end(), code);
    std::fill(arguments[1].codes.begin(), arguments[1].codes.end(), 1);
    compare(built, arguments, Codes(64, uint32_t(expected)), /*seeds=*/0);
  }
}

} // namespace
