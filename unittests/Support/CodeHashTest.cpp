//===- CodeHashTest.cpp - Hash of tensor contents -------------------------===//
//
// Published FNV-1a values, and hashes of known kernel results.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Support/CodeHash.h"

#include "furiosa/Support/Fill.h"

#include "gtest/gtest.h"

using namespace furiosa;

namespace {

TEST(CodeHash, PublishedValues) {
  EXPECT_EQ(fnv1a64({}), 0xCBF29CE484222325u);
  EXPECT_EQ(fnv1a64({'a'}), 0xAF63DC4C8601EC8Cu);
  EXPECT_EQ(fnv1a64({'f', 'o', 'o', 'b', 'a', 'r'}), 0x85944171F73967E8u);
}

TEST(CodeHash, Packing) {
  EXPECT_EQ(hashCodes(ElementType::I8, {}), 0xCBF29CE484222325u);
  // Bytes 21 03: the odd last nibble is filled with zero.
  EXPECT_EQ(hashCodes(ElementType::I4, {1, 2, 3}), 0x07C26507B48C2CBDu);
  EXPECT_EQ(hashCodes(ElementType::F4E2M1, {1, 2, 3, 0}), 0x07C26507B48C2CBDu);
  EXPECT_EQ(hashCodes(ElementType::BF16, {0x3F80, 0xC000}),
            0x532535AABD94C7E0u);
  CodeHash hash(ElementType::I4);
  for (uint32_t code : {1, 2, 3}) {
    hash.add(code);
    (void)hash.value(); // Asking does not end the sequence.
  }
  EXPECT_EQ(hash.value(), 0x07C26507B48C2CBDu);
}

// Expected results of three kernels of the test corpus that copy, or add one.
TEST(CodeHash, KernelResults) {
  EXPECT_EQ(hashCodes(ElementType::BF16,
                      Fill::bits(170).codes(ElementType::BF16, 256)),
            0x58EB93CEDF489A2Bu);
  EXPECT_EQ(
      hashCodes(ElementType::I8, Fill::bits(171).codes(ElementType::I8, 2048)),
      0x2CE7638399E9FA5Cu);
  std::vector<uint32_t> codes = Fill::bits(115).codes(ElementType::I32, 2048);
  for (uint32_t &code : codes)
    ++code;
  EXPECT_EQ(codes[0], 0xF92F0F6Du);
  EXPECT_EQ(hashCodes(ElementType::I32, codes), 0x17A397F60C7CC096u);
}

} // namespace
