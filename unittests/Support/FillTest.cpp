//===- FillTest.cpp - Generated contents of tensors -----------------------===//
//
// Expected codes were computed from the definitions by a separate script.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Support/Fill.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace furiosa;

namespace {

using Codes = std::vector<uint32_t>;

Codes codesOf(llvm::StringRef spec, ElementType type, uint64_t count) {
  std::optional<Fill> fill = parseFill(spec);
  EXPECT_TRUE(fill) << spec.str();
  return fill ? fill->codes(type, count) : Codes();
}

TEST(Fill, Sequence) {
  EXPECT_EQ(splitMix64(7, 0), 0x63CBE1E459320DD7u);
  EXPECT_EQ(splitMix64(7, 2), 0xE6984080BAB12A02u);
}

TEST(Fill, Bits) {
  EXPECT_EQ(codesOf("bits:11", ElementType::BF16, 6),
            (Codes{0x3C1D, 0x3F21, 0x3DED, 0x4170, 0x3D44, 0x3B8E}));
  EXPECT_EQ(codesOf("random:0xb", ElementType::F32, 6),
            (Codes{0x3F00309D, 0x3DEB13A1, 0x421B126D, 0x42AE6DF0, 0x408459C4,
                   0x3E30580E}));
  EXPECT_EQ(codesOf("bits:11", ElementType::I4, 8),
            (Codes{0xD, 0x1, 0xD, 0x0, 0x4, 0xE, 0x4, 0xA}));
  // The codes of NaN and infinity are moved away: 7F, FE and 7F here.
  EXPECT_EQ(Fill::bits(1).code(ElementType::F8E4M3, 61), 0x3Fu);
  EXPECT_EQ(Fill::bits(1).code(ElementType::F8E5M2, 11), 0xBEu);
  EXPECT_EQ(Fill::bits(1).code(ElementType::F8E5M2, 61), 0x3Fu);
  for (unsigned t = 0; t < numElementTypes; ++t) {
    auto type = static_cast<ElementType>(t);
    for (uint64_t n = 0; n < 5000; ++n) {
      uint32_t code = Fill::bits(42).code(type, n);
      ASSERT_TRUE(isFinite(type, code));
      ASSERT_LE(code, 0xFFFFFFFFu >> (32 - codeBits(type)));
    }
  }
}

TEST(Fill, Values) {
  EXPECT_EQ(codesOf("small:7", ElementType::I8, 8),
            (Codes{0xFC, 0xFF, 0xF8, 0xF8, 0xFE, 0xFE, 0xF9, 0xF9}));
  EXPECT_EQ(
      codesOf("small:7", ElementType::BF16, 8),
      (Codes{0xC080, 0xBF80, 0xC100, 0xC100, 0xC000, 0xC000, 0xC0E0, 0xC0E0}));
  EXPECT_EQ(
      codesOf("quarter:3", ElementType::BF16, 8),
      (Codes{0xBE80, 0x4030, 0xC020, 0x4080, 0xBF00, 0x4040, 0xBFC0, 0x4080}));
  EXPECT_EQ(codesOf("positive:3", ElementType::F32, 8),
            (Codes{0x40940000, 0x3FB00000, 0x409C0000, 0x40F00000, 0x40B80000,
                   0x40E00000, 0x3EC00000, 0x40880000}));
  EXPECT_EQ(codesOf("iota", ElementType::I32, 3), (Codes{0, 1, 2}));
  EXPECT_EQ(codesOf("iota:-1", ElementType::I8, 3), (Codes{0xFF, 0, 1}));
  EXPECT_EQ(codesOf("iota:1:-0.5", ElementType::F32, 4),
            (Codes{0x3F800000, 0x3F000000, 0, 0xBF000000}));
  EXPECT_EQ(codesOf("zeros", ElementType::F8E4M3, 2), (Codes{0, 0}));
  EXPECT_EQ(codesOf("const:-2", ElementType::I4, 1), (Codes{0xE}));
  EXPECT_EQ(codesOf("const:1.5", ElementType::F4E2M1, 1), (Codes{0x3}));
  EXPECT_EQ(codesOf("const:-0.0", ElementType::BF16, 1), (Codes{0x8000}));
  EXPECT_EQ(codesOf("const:nan", ElementType::F32, 1), (Codes{canonicalNaN}));
  EXPECT_EQ(codesOf("const:-inf", ElementType::BF16, 1), (Codes{0xFF80}));
}

TEST(Fill, OutOfRange) {
  // Integers keep their low bits, however far the sequence runs.
  EXPECT_EQ(Fill::iota().code(ElementType::I8, 300), 44u);
  EXPECT_EQ(Fill::iota(0, 3).code(ElementType::I32, 0x5555555555555556u), 2u);
  EXPECT_EQ(Fill::constant(-2.75).code(ElementType::I8, 0), 0xFEu);
  EXPECT_EQ(Fill::constant(NAN).code(ElementType::I8, 0), 0u);
  EXPECT_EQ(Fill::constant(1e300).code(ElementType::F8E4M3, 0), 0x7Eu);

  EXPECT_TRUE(Fill::iota().isExact(ElementType::I8, 128));
  EXPECT_FALSE(Fill::iota().isExact(ElementType::I8, 129));
  EXPECT_TRUE(Fill::iota().isExact(ElementType::BF16, 257));
  EXPECT_FALSE(Fill::iota().isExact(ElementType::BF16, 258));
  EXPECT_FALSE(Fill::iota(0, 0.5).isExact(ElementType::I8, 2));
  EXPECT_TRUE(Fill::small(1).isExact(ElementType::I4, 9));
  EXPECT_FALSE(Fill::small(1).isExact(ElementType::U8, 9));
  EXPECT_TRUE(Fill::quarter(1).isExact(ElementType::BF16, 9));
  EXPECT_FALSE(Fill::quarter(1).isExact(ElementType::I32, 9));
  EXPECT_TRUE(Fill::positive(1).isExact(ElementType::BF16, 9));
  EXPECT_FALSE(Fill::positive(1).isExact(ElementType::F8E4M3, 9));
  EXPECT_FALSE(Fill::constant(0.1).isExact(ElementType::F32, 1));
  EXPECT_TRUE(Fill::constant(NAN).isExact(ElementType::F32, 1));
  EXPECT_FALSE(Fill::constant(NAN).isExact(ElementType::F4E2M1, 1));
  EXPECT_FALSE(Fill::constant(NAN).isExact(ElementType::I8, 1));
}

TEST(Fill, Malformed) {
  for (const char *spec :
       {"",           "bits",      "bits:",
        "bits:x",     "bits:-1",   "bits:1:2",
        "bits:1 ",    ":",         "small",
        "iota:",      "iota:a",    "iota:1:",
        "iota:1:2:3", "iota:inf",  "iota:0:nan",
        "zeros:1",    "const",     "const:",
        "const:x",    "const:1:2", "bits:18446744073709551616",
        "Bits:1",     "data"})
    EXPECT_FALSE(parseFill(spec)) << spec;
  EXPECT_TRUE(parseFill("bits:18446744073709551615"));
}

} // namespace
