//===- NpyTest.cpp - NumPy array files ------------------------------------===//
//
// Files as NumPy writes them, damaged ones, and conversion to and from codes.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Support/Npy.h"

#include "furiosa/Support/WriteFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

using namespace furiosa;
using llvm::StringRef;

namespace {

/// A file with the given header text, not padded.
std::string npyFile(StringRef header, StringRef data, char version = 1) {
  std::string text = "\x93NUMPY";
  text += version;
  text += '\0';
  size_t length = header.size();
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i, length >>= 8)
    text += static_cast<char>(length & 0xFF);
  return text + header.str() + data.str();
}

std::string headerOf(StringRef descr, StringRef shape,
                     StringRef fortran = "False") {
  return ("{'descr': '" + descr + "', 'fortran_order': " + fortran +
          ", 'shape': " + shape + ", }   \n")
      .str();
}

llvm::Expected<NpyArray> parse(StringRef text) {
  return parseNpy(llvm::MemoryBufferRef(text, "x.npy"));
}

/// The message of the error with which parsing must fail.
std::string messageOf(StringRef text) {
  llvm::Expected<NpyArray> array = parse(text);
  EXPECT_FALSE(bool(array));
  return array ? "" : llvm::toString(array.takeError());
}

NpyArray parseOk(StringRef text) {
  llvm::Expected<NpyArray> array = parse(text);
  EXPECT_TRUE(bool(array)) << (array ? "" : llvm::toString(array.takeError()));
  return array ? std::move(*array) : NpyArray();
}

using Bytes = std::vector<uint8_t>;
using Shape = std::vector<int64_t>;
using Codes = std::vector<uint32_t>;

// The bytes of np.save(f, np.array([[1, 2, 3], [4, 5, 6]], np.int16)).
TEST(Npy, AsNumPyWrites) {
  std::string header = "{'descr': '<i2', 'fortran_order': False, "
                       "'shape': (2, 3), }";
  header.resize(117, ' ');
  header += '\n';
  std::string data("\1\0\2\0\3\0\4\0\5\0\6\0", 12);
  std::string text = npyFile(header, data);
  EXPECT_EQ(text.size(), 128u + 12u);
  NpyArray array = parseOk(text);
  EXPECT_EQ(array.type, NpyType::I16);
  EXPECT_EQ(array.shape, (Shape{2, 3}));
  EXPECT_EQ(array.size(), 6u);
  EXPECT_EQ(array.data, Bytes(data.begin(), data.end()));

  std::string written;
  llvm::raw_string_ostream os(written);
  EXPECT_FALSE(bool(writeNpy(os, array)));
  EXPECT_EQ(written.size() % 64, 12u);
  EXPECT_EQ(StringRef(written).take_front(10),
            StringRef("\x93NUMPY\1\0\x76\0", 10));
  EXPECT_EQ(written.substr(10, 118), header);
  EXPECT_EQ(written.substr(128), data);
}

TEST(Npy, TypesAndShapes) {
  struct Case {
    const char *descr;
    NpyType type;
    unsigned size;
  } cases[] = {{"|b1", NpyType::Bool, 1}, {"|i1", NpyType::I8, 1},
               {"|u1", NpyType::U8, 1},   {"<i2", NpyType::I16, 2},
               {"<u2", NpyType::U16, 2},  {"<i4", NpyType::I32, 4},
               {"<u4", NpyType::U32, 4},  {"<i8", NpyType::I64, 8},
               {"<u8", NpyType::U64, 8},  {"<f4", NpyType::F32, 4},
               {"<f8", NpyType::F64, 8}};
  for (const Case &c : cases) {
    std::string data;
    for (unsigned i = 0; i < 2 * c.size; ++i)
      data += static_cast<char>(i);
    NpyArray array = parseOk(npyFile(headerOf(c.descr, "(2,)"), data));
    EXPECT_EQ(array.type, c.type) << c.descr;
    EXPECT_EQ(npyItemSize(array.type), c.size);
    EXPECT_EQ(array.data, Bytes(data.begin(), data.end()));
    // What is written is read back.
    std::string written;
    llvm::raw_string_ostream os(written);
    EXPECT_FALSE(bool(writeNpy(os, array)));
    EXPECT_NE(written.find(c.descr), std::string::npos);
    EXPECT_EQ(written.find(data), written.size() - data.size());
    EXPECT_EQ((written.size() - data.size()) % 64, 0u);
    EXPECT_EQ(parseOk(written).data, array.data);
  }
  EXPECT_EQ(parseOk(npyFile(headerOf("|u1", "()"), "x")).shape, Shape());
  EXPECT_EQ(parseOk(npyFile(headerOf("|u1", "(0, 5)"), "")).shape,
            (Shape{0, 5}));
  EXPECT_EQ(parseOk(npyFile(headerOf("|u1", "(2L, 1L)"), "xy")).shape,
            (Shape{2, 1}));
}

TEST(Npy, HeaderVariants) {
  std::string text = "{\"shape\":(1,2),'fortran_order':False,'descr':'|i1'}";
  EXPECT_EQ(parseOk(npyFile(text, "ab")).shape, (Shape{1, 2}));
  for (char version : {2, 3})
    EXPECT_EQ(parseOk(npyFile(headerOf("|i1", "(1, 2)"), "ab", version)).shape,
              (Shape{1, 2}));
}

TEST(Npy, FortranOrder) {
  // np.asfortranarray([[1, 2, 3], [4, 5, 6]]) stores 1 4 2 5 3 6.
  NpyArray array =
      parseOk(npyFile(headerOf("|u1", "(2, 3)", "True"), "\1\4\2\5\3\6"));
  EXPECT_EQ(array.data, (Bytes{1, 2, 3, 4, 5, 6}));
  // Shape (2, 2, 2): byte p + 2q + 4r holds element [p, q, r].
  array = parseOk(npyFile(headerOf("|u1", "(2, 2, 2)", "True"), "abcdefgh"));
  EXPECT_EQ(StringRef(reinterpret_cast<char *>(array.data.data()), 8),
            "aecgbfdh");
  array = parseOk(npyFile(headerOf(">i2", "(2, 2)", "True"), "AaBbCcDd"));
  EXPECT_EQ(StringRef(reinterpret_cast<char *>(array.data.data()), 8),
            "aAcCbBdD");
  EXPECT_TRUE(
      parseOk(npyFile(headerOf("<i2", "(2, 0)", "True"), "")).data.empty());
}

TEST(Npy, BigEndian) {
  EXPECT_EQ(
      parseOk(npyFile(headerOf(">f4", "(1,)"), StringRef("\x3F\x80\0\1", 4)))
          .data,
      (Bytes{1, 0, 0x80, 0x3F}));
  EXPECT_EQ(parseOk(npyFile(headerOf(">u1", "(2,)"), "ab")).data,
            (Bytes{'a', 'b'}));
}

TEST(Npy, EveryTruncationIsRefused) {
  for (char version : {1, 2}) {
    std::string text =
        npyFile(headerOf("<f4", "(2, 3)"), std::string(24, '\1'), version);
    EXPECT_TRUE(parseOk(text).size() == 6);
    for (size_t size = 0; size < text.size(); ++size) {
      // A copy of its own, so that a sanitizer sees a read beyond the end.
      std::unique_ptr<char[]> copy(new char[size]);
      std::copy_n(text.data(), size, copy.get());
      std::string message = messageOf(StringRef(copy.get(), size));
      EXPECT_TRUE(StringRef(message).starts_with("'x.npy': ")) << message;
    }
    EXPECT_NE(messageOf(text + "x").find("24 bytes of data, the file has 25"),
              std::string::npos);
  }
}

// Any one byte of the header changed: refused or read, never a crash.
TEST(Npy, EveryDamagedByte) {
  std::string text = npyFile(headerOf("<i2", "(2, 3)", "True"), "abcdefghijkl");
  for (size_t i = 0; i < text.size() - 12; ++i)
    for (int value = 0; value < 256; ++value) {
      std::string damaged = text;
      damaged[i] = static_cast<char>(value);
      llvm::Expected<NpyArray> array = parse(damaged);
      if (array)
        EXPECT_EQ(array->data.size(), 12u);
      else
        llvm::consumeError(array.takeError());
    }
}

TEST(Npy, Malformed) {
  struct Case {
    std::string text;
    const char *message;
  } cases[] = {
      {"not numpy at all", "not a .npy file"},
      {npyFile(headerOf("<f4", "(1,)"), "abcd", 4), "version 4.0"},
      {npyFile("", ""), "expected a dictionary at its end"},
      {npyFile("[1]", ""), "expected a dictionary at '[1]'"},
      {npyFile("{'descr': '<f4'", ""), "expected ',' or '}'"},
      {npyFile("{'descr': '<f4", ""), "a string has no end"},
      {npyFile("{'descr' '<f4'}", ""), "expected ':'"},
      {npyFile("{'descr': '<f4', 'shape': (1,)}", ""),
       "key 'fortran_order' is missing"},
      {npyFile("{'fortran_order': False, 'shape': (1,)}", ""),
       "key 'descr' is missing"},
      {npyFile("{'descr': '<f4', 'descr': '<f4'}", ""), "occurs twice"},
      {npyFile("{'depth': 1}", ""), "unknown key 'depth'"},
      {npyFile(headerOf("<f2", "(1,)"), "ab"),
       "not yet supported: dtype '<f2'"},
      {npyFile(headerOf("<c8", "(1,)"), "abcdefgh"), "dtype '<c8'"},
      {npyFile(headerOf("|O", "(1,)"), ""), "dtype '|O'"},
      {npyFile(headerOf("|i4", "(1,)"), "abcd"), "dtype '|i4'"},
      {npyFile(headerOf("", "(1,)"), "abcd"), "dtype ''"},
      {npyFile("{'descr': [('a', '<f4')]}", ""), "structured dtype"},
      {npyFile(headerOf("<f4", "(1,)", "None"), "abcd"),
       "neither True nor False at 'None"},
      {npyFile(headerOf("<f4", "[1]"), "abcd"), "expected the tuple of shape"},
      {npyFile(headerOf("<f4", "(1)"), "abcd"),
       "shape is not a tuple but a number"},
      {npyFile(headerOf("<f4", "(1 2)"), "abcd"), "expected ',' or ')'"},
      {npyFile(headerOf("<f4", "(1,"), ""), "dimension 1 of shape"},
      {npyFile(headerOf("<f4", "(2, -1)"), "abcd"),
       "dimension 1 is negative in shape"},
      {npyFile(headerOf("<f4", "(2, 1.5)"), "abcd"), "expected ',' or ')'"},
      {npyFile(headerOf("<f4", "(99999999999999999999,)"), "abcd"),
       "dimension 0 of shape is no 64-bit integer"},
      {npyFile(headerOf("<f4", "(4294967296, 4294967296)"), "abcd"),
       "more bytes than 64 bits can count"},
      {npyFile(headerOf("<f8", "(4611686018427387904,)"), "abcd"),
       "more bytes than 64 bits can count"},
      {npyFile(headerOf("<f4", "(1000000000000,)"), "abcd"),
       "needs 4000000000000 bytes of data, the file has 4"},
      {npyFile(headerOf("<f4", "(1,)") + "x", "abcd"),
       "unexpected text after the dictionary at 'x'"},
      {npyFile("{\x01}", ""), "expected a string at '\\01}'"},
      // The length of the header is checked before anything is allocated.
      {std::string("\x93NUMPY\2\0\xFF\xFF\xFF\xFF{}", 14),
       "header of 4294967295 bytes, but only 2 are left"},
  };
  for (const Case &c : cases) {
    std::string message = messageOf(c.text);
    EXPECT_NE(message.find(c.message), std::string::npos)
        << message << "\nexpected: " << c.message;
    EXPECT_TRUE(StringRef(message).starts_with("'x.npy': ")) << message;
  }
  std::string many = "(";
  for (int i = 0; i < 65; ++i)
    many += "1, ";
  EXPECT_NE(messageOf(npyFile(headerOf("|u1", many + ")"), "x"))
                .find("more than 64 dimensions"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

class NpyFiles : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("npy-test", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string path(StringRef name) {
    llvm::SmallString<128> result = folder;
    llvm::sys::path::append(result, name);
    return std::string(result);
  }
  size_t numFiles() {
    std::error_code code;
    size_t count = 0;
    for (llvm::sys::fs::directory_iterator it(folder, code), end;
         it != end && !code; it.increment(code))
      ++count;
    return count;
  }

  llvm::SmallString<128> folder;
};

TEST_F(NpyFiles, WriteAndRead) {
  NpyArray array = npyFromCodes({1, 0xFF, 0x80, 0}, ElementType::I8, {2, 2});
  for (int i = 0; i < 2; ++i) // The second time over the first.
    EXPECT_FALSE(bool(writeNpy(path("a.npy"), array)));
  EXPECT_EQ(numFiles(), 1u);
  llvm::Expected<NpyArray> read = readNpy(path("a.npy"));
  ASSERT_TRUE(bool(read));
  EXPECT_EQ(read->type, NpyType::I8);
  EXPECT_EQ(read->shape, (Shape{2, 2}));
  EXPECT_EQ(read->data, (Bytes{1, 0xFF, 0x80, 0}));
}

TEST_F(NpyFiles, Errors) {
  auto message = [](llvm::Error error) {
    EXPECT_TRUE(bool(error));
    return llvm::toString(std::move(error));
  };
  NpyArray wrong{NpyType::F32, {3}, Bytes(8)};
  std::string text = message(writeNpy(path("a.npy"), wrong));
  EXPECT_NE(text.find("shape (3,) of float32 does not match 8 bytes of data"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("a.npy"), std::string::npos) << text;
  EXPECT_EQ(numFiles(), 0u);

  NpyArray fine{NpyType::U8, {1}, Bytes(1)};
  text = message(writeNpy(path("none/a.npy"), fine));
  EXPECT_NE(text.find("none/a.npy"), std::string::npos) << text;
  text = message(readNpy(path("none.npy")).takeError());
  EXPECT_NE(text.find("none.npy"), std::string::npos) << text;
  text = message(readNpy(folder).takeError());
  EXPECT_NE(text.find("not a regular file"), std::string::npos) << text;
}

// A failing writer leaves the earlier file as it was, and no other.
TEST_F(NpyFiles, FailureKeepsTheOldFile) {
  NpyArray fine{NpyType::U8, {1}, Bytes{7}};
  ASSERT_FALSE(bool(writeNpy(path("a.npy"), fine)));
  llvm::Error error =
      writeFile(path("a.npy"), [](llvm::raw_ostream &os) -> llvm::Error {
        os << "half";
        return llvm::createStringError("no more");
      });
  EXPECT_NE(llvm::toString(std::move(error)).find("no more"),
            std::string::npos);
  EXPECT_EQ(numFiles(), 1u);
  llvm::Expected<NpyArray> read = readNpy(path("a.npy"));
  ASSERT_TRUE(bool(read));
  EXPECT_EQ(read->data, Bytes{7});
}

#ifdef __linux__
// The stream fails, although the writer does not notice.
TEST(WriteFile, FullDevice) {
  if (!llvm::sys::fs::exists("/dev/full"))
    GTEST_SKIP();
  llvm::Error error =
      writeFile("/dev/full", [](llvm::raw_ostream &os) -> llvm::Error {
        os << std::string(100000, 'x');
        return llvm::Error::success();
      });
  EXPECT_NE(llvm::toString(std::move(error)).find("/dev/full"),
            std::string::npos);
}
#endif

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

template <typename T>
NpyArray arrayOf(NpyType type, std::vector<T> values) {
  NpyArray array;
  array.type = type;
  array.shape = {static_cast<int64_t>(values.size())};
  for (T value : values)
    for (size_t b = 0; b < sizeof(T); ++b)
      array.data.push_back(
          static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * b)));
  return array;
}
NpyArray floats(std::vector<float> values) {
  std::vector<uint32_t> patterns;
  for (float value : values)
    patterns.push_back(std::bit_cast<uint32_t>(value));
  return arrayOf(NpyType::F32, patterns);
}
NpyArray doubles(std::vector<double> values) {
  std::vector<uint64_t> patterns;
  for (double value : values)
    patterns.push_back(std::bit_cast<uint64_t>(value));
  return arrayOf(NpyType::F64, patterns);
}

Codes codesOf(const NpyArray &array, ElementType type) {
  llvm::Expected<Codes> codes = codesFromNpy(array, type);
  EXPECT_TRUE(bool(codes)) << (codes ? "" : llvm::toString(codes.takeError()));
  return codes ? *codes : Codes();
}
std::string refusal(const NpyArray &array, ElementType type) {
  llvm::Expected<Codes> codes = codesFromNpy(array, type);
  EXPECT_FALSE(bool(codes));
  return codes ? "" : llvm::toString(codes.takeError());
}

TEST(NpyCodes, Carriers) {
  EXPECT_EQ(npyTypeFor(ElementType::I4), NpyType::I8);
  EXPECT_EQ(npyTypeFor(ElementType::I16), NpyType::I16);
  EXPECT_EQ(npyTypeFor(ElementType::I32), NpyType::I32);
  EXPECT_EQ(npyTypeFor(ElementType::U8), NpyType::U8);
  EXPECT_EQ(npyTypeFor(ElementType::F4E2M1), NpyType::F32);
  EXPECT_EQ(toString(NpyType::F32), "float32");
  EXPECT_EQ(npyFromCodes({0xF, 7}, ElementType::I4, {2}).data,
            (Bytes{0xFF, 7}));
  EXPECT_EQ(npyFromCodes({0x3F80}, ElementType::BF16, {}).data,
            (Bytes{0, 0, 0x80, 0x3F}));
  EXPECT_EQ(npyFromCodes({0x1FF}, ElementType::I9, {1}).data,
            (Bytes{0xFF, 0xFF}));
}

// Every code comes back, but for the payload of an f8e4m3 NaN there is none.
TEST(NpyCodes, EveryCodeSurvives) {
  for (unsigned t = 0; t < numElementTypes; ++t) {
    auto type = static_cast<ElementType>(t);
    Codes codes;
    if (codeBits(type) < 32)
      for (uint32_t code = 0; code < 1u << codeBits(type); ++code)
        codes.push_back(code);
    else
      codes = {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7F800001};
    NpyArray array =
        npyFromCodes(codes, type, {static_cast<int64_t>(codes.size())});
    EXPECT_EQ(codesOf(array, type), codes) << toString(type).str();
  }
}

TEST(NpyCodes, Floats) {
  EXPECT_EQ(codesOf(floats({1.0f, -0.0f, 448.0f}), ElementType::F8E4M3),
            (Codes{0x38, 0x80, 0x7E}));
  EXPECT_EQ(codesOf(floats({INFINITY}), ElementType::F8E5M2), (Codes{0x7C}));
  EXPECT_EQ(codesOf(floats({0.5f, -6.0f}), ElementType::F4E2M1),
            (Codes{0x1, 0xF}));
  EXPECT_EQ(codesOf(doubles({0.5, -2.0, 0x1p-149}), ElementType::F32),
            (Codes{0x3F000000, 0xC0000000, 1}));
  EXPECT_EQ(codesOf(doubles({NAN}), ElementType::F32), (Codes{canonicalNaN}));
  EXPECT_EQ(codesOf(arrayOf<uint32_t>(NpyType::F32, {0x7FC00000, 0x7F800001}),
                    ElementType::BF16),
            (Codes{0x7FC0, 0x7FC0}));
  EXPECT_EQ(codesOf(arrayOf<uint32_t>(NpyType::F32, {0x7FC00000, 0x7F800001}),
                    ElementType::F8E5M2),
            (Codes{0x7E, 0x7E}));
  EXPECT_EQ(codesOf(arrayOf<uint32_t>(NpyType::F32, {0x7FC00001}),
                    ElementType::F8E4M3),
            (Codes{0x7F}));

  EXPECT_EQ(refusal(floats({1.0f, 1.00390625f}), ElementType::BF16),
            "element [1] is 1.00390625, which bf16 does not hold exactly");
  EXPECT_EQ(refusal(floats({449.0f}), ElementType::F8E4M3),
            "element [0] is 449, which f8e4m3 does not hold exactly");
  EXPECT_EQ(refusal(floats({INFINITY}), ElementType::F8E4M3),
            "element [0] is inf, which f8e4m3 does not hold exactly");
  EXPECT_EQ(refusal(floats({-0.25f}), ElementType::F4E2M1),
            "element [0] is -0.25, which f4e2m1 does not hold exactly");
  EXPECT_EQ(refusal(floats({NAN}), ElementType::F4E2M1),
            "element [0] is NaN, which f4e2m1 does not have");
  EXPECT_EQ(refusal(doubles({0.1}), ElementType::F32),
            "element [0] is 0.10000000000000001, which f32 does not hold "
            "exactly");
  EXPECT_EQ(refusal(doubles({1e300}), ElementType::F32),
            "element [0] is 1.0000000000000001e+300, which f32 does not hold "
            "exactly");
  EXPECT_EQ(refusal(floats({1.0f}), ElementType::I8),
            "an array of float32 cannot be i8; expected an integer dtype");
}

TEST(NpyCodes, Integers) {
  EXPECT_EQ(codesOf(arrayOf<int64_t>(NpyType::I64, {-8, 7}), ElementType::I4),
            (Codes{0x8, 0x7}));
  EXPECT_EQ(codesOf(arrayOf<uint64_t>(NpyType::U64, {255}), ElementType::U8),
            (Codes{255}));
  EXPECT_EQ(codesOf(arrayOf<int32_t>(NpyType::I32, {INT32_MIN, INT32_MAX}),
                    ElementType::I32),
            (Codes{0x80000000, 0x7FFFFFFF}));
  EXPECT_EQ(
      codesOf(arrayOf<uint8_t>(NpyType::Bool, {0, 1, 2}), ElementType::I8),
      (Codes{0, 1, 1}));
  EXPECT_EQ(codesOf(arrayOf<int16_t>(NpyType::I16, {-256}), ElementType::I9),
            (Codes{0x100}));
  EXPECT_EQ(codesOf(arrayOf<int64_t>(NpyType::I64, {-3, 0, 16777216}),
                    ElementType::F32),
            (Codes{0xC0400000, 0, 0x4B800000}));

  NpyArray array = arrayOf<int16_t>(NpyType::I16, {0, 0, 0, 0, 0, 128});
  array.shape = {2, 3};
  EXPECT_EQ(refusal(array, ElementType::I8),
            "element [1, 2] is 128, but i8 holds -128 to 127");
  EXPECT_EQ(refusal(arrayOf<int8_t>(NpyType::I8, {-1}), ElementType::U8),
            "element [0] is -1, but u8 holds 0 to 255");
  EXPECT_EQ(refusal(arrayOf<int8_t>(NpyType::I8, {-9}), ElementType::I4),
            "element [0] is -9, but i4 holds -8 to 7");
  EXPECT_EQ(
      refusal(arrayOf<int64_t>(NpyType::I64, {INT64_MIN}), ElementType::I32),
      "element [0] is -9223372036854775808, but i32 holds -2147483648 "
      "to 2147483647");
  EXPECT_EQ(
      refusal(arrayOf<uint64_t>(NpyType::U64, {UINT64_MAX}), ElementType::I32),
      "element [0] is 18446744073709551615, but i32 holds -2147483648 "
      "to 2147483647");
  EXPECT_EQ(
      refusal(arrayOf<int32_t>(NpyType::I32, {16777217}), ElementType::F32),
      "element [0] is 16777217, which f32 does not hold exactly");
  NpyArray wrong{NpyType::I8, {3}, Bytes(2)};
  EXPECT_EQ(refusal(wrong, ElementType::I8),
            "shape (3,) of int8 does not match 2 bytes of data");
}

} // namespace
