//===- NumericVectorsTest.cpp - Number formats against vectors ------------===//
//
// Every case of numeric.json: computed with exact rational arithmetic,
// independently of this implementation.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Support/NumberFormats.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <string>

using namespace furiosa;
using llvm::StringRef;
namespace json = llvm::json;

namespace {

class NumericVectors : public testing::Test {
protected:
  static void SetUpTestSuite() {
    const char *folder = std::getenv("FURIOSA_VECTORS");
    std::string path =
        std::string(folder ? folder : FURIOSA_TEST_VECTORS) + "/numeric.json";
    auto buffer = llvm::MemoryBuffer::getFile(path);
    ASSERT_TRUE(buffer) << path;
    llvm::Expected<json::Value> value = json::parse((*buffer)->getBuffer());
    ASSERT_TRUE(bool(value)) << path;
    root = new json::Value(std::move(*value));
  }
  static void TearDownTestSuite() {
    delete root;
    root = nullptr;
  }

  void SetUp() override {
    ASSERT_TRUE(root && root->getAsObject());
    ASSERT_EQ(root->getAsObject()->getString("schema"), "numeric-vectors-1");
  }

  static const json::Object &section(StringRef name) {
    const json::Object *object = root->getAsObject()->getObject(name);
    EXPECT_TRUE(object) << name.str();
    static const json::Object empty;
    return object ? *object : empty;
  }

  /// Calls `check` with each case of an array and counts them.
  template <typename Check>
  static void forEach(const json::Value *value, Check check) {
    ASSERT_TRUE(value && value->getAsArray());
    ASSERT_FALSE(value->getAsArray()->empty());
    for (const json::Value &entry : *value->getAsArray())
      check(*entry.getAsArray());
  }

  static json::Value *root;
};

json::Value *NumericVectors::root = nullptr;

uint32_t hex(const json::Value &value) {
  uint32_t result = 0;
  EXPECT_FALSE(value.getAsString()->getAsInteger(0, result));
  return result;
}

int32_t decimal(const json::Value &value) {
  return static_cast<int32_t>(*value.getAsInteger());
}

ElementType typeNamed(StringRef name) {
  std::optional<ElementType> type = parseElementType(name);
  EXPECT_TRUE(type) << name.str();
  return type.value_or(ElementType::I8);
}

TEST_F(NumericVectors, Decode) {
  EXPECT_EQ(section("decode").size(), 8u);
  for (const auto &[name, cases] : section("decode")) {
    StringRef format = name;
    ElementType type = typeNamed(format);
    forEach(&cases, [&](const json::Array &c) {
      uint32_t code = hex(c[0]);
      if (isFloat(type))
        EXPECT_EQ(decodeFloat(type, code), hex(c[1]))
            << format.str() << " " << code;
      else
        EXPECT_EQ(decodeInteger(type, code), decimal(c[1]))
            << format.str() << " " << code;
    });
  }
}

TEST_F(NumericVectors, EncodeFloats) {
  auto check = [](StringRef name, auto function) {
    forEach(section("convert").get(name), [&](const json::Array &c) {
      uint32_t pattern = hex(c[0]);
      EXPECT_EQ(uint32_t(function(pattern)), hex(c[1]))
          << name.str() << " " << std::hex << pattern;
    });
  };
  check("f32_to_bf16", f32ToBf16);
  check("f32_to_bf16_relu", f32ToBf16Relu);
  check("f32_to_f8e4m3", f32ToF8E4M3);
  check("f32_to_f8e5m2", f32ToF8E5M2);
}

TEST_F(NumericVectors, NarrowIntegers) {
  auto check = [](StringRef name, ElementType type) {
    forEach(section("convert").get(name), [&](const json::Array &c) {
      EXPECT_EQ(decodeInteger(type, encodeInteger(type, decimal(c[0]))),
                decimal(c[1]))
          << name.str() << " " << decimal(c[0]);
    });
  };
  check("i32_to_i16", ElementType::I16);
  check("i32_to_i8", ElementType::I8);
  check("i32_to_i4", ElementType::I4);
}

TEST_F(NumericVectors, FixedToF32) {
  forEach(root->getAsObject()->get("fixed_to_f32"), [](const json::Array &c) {
    EXPECT_EQ(fixedToF32(decimal(c[0]), unsigned(decimal(c[1]))), hex(c[2]))
        << decimal(c[0]) << " width " << decimal(c[1]);
  });
}

TEST_F(NumericVectors, F32ToFixed) {
  forEach(root->getAsObject()->get("f32_to_fixed"), [](const json::Array &c) {
    EXPECT_EQ(f32ToFixed(hex(c[0]), unsigned(decimal(c[1]))), decimal(c[2]))
        << std::hex << hex(c[0]) << " width " << decimal(c[1]);
  });
}

TEST_F(NumericVectors, Lookup) {
  EXPECT_EQ(section("lookup").size(), 4u);
  for (const auto &[name, cases] : section("lookup")) {
    auto [from, to] = StringRef(name).split("_to_");
    ElementType source = typeNamed(from), target = typeNamed(to);
    forEach(&cases, [&](const json::Array &c) {
      EXPECT_EQ(tableLookup(source, target, hex(c[0])), hex(c[1])) << hex(c[0]);
    });
  }
}

TEST_F(NumericVectors, ZeroPoint) {
  forEach(root->getAsObject()->get("zero_point_sub"), [](const json::Array &c) {
    ElementType type = typeNamed(*c[0].getAsString());
    ElementType wide =
        type == ElementType::I4 ? ElementType::I5 : ElementType::I9;
    std::optional<int32_t> result =
        subtractZeroPoint(type, decimal(c[1]), decimal(c[2]));
    ASSERT_TRUE(result);
    EXPECT_EQ(*result, decimal(c[3]));
    EXPECT_EQ(decodeInteger(wide, encodeInteger(wide, *result)), decimal(c[3]));
  });
}

TEST_F(NumericVectors, Pack4) {
  const json::Array *cases = root->getAsObject()->getArray("pack4");
  ASSERT_TRUE(cases && !cases->empty());
  for (const json::Value &entry : *cases) {
    const json::Object &c = *entry.getAsObject();
    std::vector<uint32_t> codes;
    for (const json::Value &code : *c.getArray("codes"))
      codes.push_back(uint32_t(decimal(code)));
    std::optional<std::vector<uint8_t>> bytes =
        packCodes(ElementType::I4, codes);
    if (c.getString("error")) {
      EXPECT_EQ(*c.getString("error"), "odd-count");
      EXPECT_FALSE(bytes);
      continue;
    }
    ASSERT_TRUE(bytes);
    std::vector<uint8_t> expected;
    for (const json::Value &byte : *c.getArray("bytes"))
      expected.push_back(uint8_t(decimal(byte)));
    EXPECT_EQ(*bytes, expected);
    EXPECT_EQ(unpackCodes(ElementType::I4, *bytes, codes.size()), codes);
  }
}

} // namespace
