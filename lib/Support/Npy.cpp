//===- Npy.cpp - NumPy array files ----------------------------------------===//
//
// Header parsing, layout and byte order of .npy files; conversion to codes.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Support/Npy.h"

#include "furiosa/Support/WriteFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

using namespace llvm;

namespace furiosa {

namespace {
struct NpyTypeInfo {
  StringLiteral name;
  /// The dtype as NumPy stores it, without the byte order.
  StringLiteral descr;
  unsigned size;
};
} // namespace

static constexpr NpyTypeInfo typeInfos[] = {
    {"bool", "b1", 1},    {"int8", "i1", 1},    {"uint8", "u1", 1},
    {"int16", "i2", 2},   {"uint16", "u2", 2},  {"int32", "i4", 4},
    {"uint32", "u4", 4},  {"int64", "i8", 8},   {"uint64", "u8", 8},
    {"float32", "f4", 4}, {"float64", "f8", 8},
};

/// NumPy itself allows no more dimensions.
static constexpr size_t maxRank = 64;

static constexpr StringLiteral magic("\x93NUMPY");

static const NpyTypeInfo &infoOf(NpyType type) {
  return typeInfos[static_cast<unsigned>(type)];
}

StringRef toString(NpyType type) { return infoOf(type).name; }
unsigned npyItemSize(NpyType type) { return infoOf(type).size; }

/// Product of the dimensions; none if one is negative or it does not fit.
static std::optional<uint64_t> elementCount(ArrayRef<int64_t> shape) {
  if (llvm::any_of(shape, [](int64_t dim) { return dim < 0; }))
    return std::nullopt;
  if (llvm::is_contained(shape, 0))
    return 0;
  uint64_t count = 1;
  for (int64_t dim : shape) {
    std::optional<uint64_t> product =
        checkedMulUnsigned(count, static_cast<uint64_t>(dim));
    if (!product)
      return std::nullopt;
    count = *product;
  }
  return count;
}

static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text = "(";
  for (auto [i, dim] : llvm::enumerate(shape))
    text += (i ? ", " : "") + std::to_string(dim);
  return text + (shape.size() == 1 ? ",)" : ")");
}

//===----------------------------------------------------------------------===//
// Header
//===----------------------------------------------------------------------===//

namespace {
struct Header {
  NpyType type = NpyType::F32;
  bool bigEndian = false;
  bool fortranOrder = false;
  SmallVector<int64_t> shape;
};

/// Parser of the Python dictionary that describes an array.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : rest(text) {}

  Expected<Header> parse();

private:
  template <typename... Ts>
  Error fail(const Ts &...parts) {
    std::string text = "header: ";
    raw_string_ostream os(text);
    (os << ... << parts);
    return createStringError(inconvertibleErrorCode(), text);
  }
  bool consume(char c) {
    rest = rest.ltrim(" \t\r\n");
    return rest.consume_front(StringRef(&c, 1));
  }
  /// The unread text, short and printable.
  std::string here() {
    StringRef text = rest.ltrim(" \t\r\n").take_front(16);
    if (text.empty())
      return "its end";
    std::string quoted = "'";
    raw_string_ostream os(quoted);
    printEscapedString(text, os);
    os << "'";
    return quoted;
  }
  Expected<StringRef> parseString();
  Error parseDescr();
  Error parseOrder();
  Error parseShape();

  StringRef rest;
  Header header;
};
} // namespace

Expected<StringRef> HeaderParser::parseString() {
  char quote = '\'';
  if (!consume(quote)) {
    quote = '"';
    if (!consume(quote))
      return fail("expected a string at ", here());
  }
  size_t end = rest.find(quote);
  if (end == StringRef::npos)
    return fail("a string has no end");
  StringRef text = rest.take_front(end);
  rest = rest.drop_front(end + 1);
  return text;
}

Error HeaderParser::parseDescr() {
  if (consume('['))
    return fail("not yet supported: a structured dtype");
  Expected<StringRef> descr = parseString();
  if (!descr)
    return descr.takeError();
  StringRef name = *descr;
  char order = name.empty() ? '\0' : name.front();
  if (order == '<' || order == '>' || order == '=' || order == '|')
    name = name.drop_front();
  const auto *info =
      llvm::find_if(typeInfos, [&](const NpyTypeInfo &candidate) {
        return candidate.descr == name;
      });
  // '|' says that the byte order does not matter.
  if (info == std::end(typeInfos) || (order == '|' && info->size > 1)) {
    std::string shown;
    raw_string_ostream os(shown);
    printEscapedString(descr->take_front(16), os);
    return fail("not yet supported: dtype '", shown, "'");
  }
  header.type = static_cast<NpyType>(info - std::begin(typeInfos));
  header.bigEndian = order == '>' || (order != '<' && sys::IsBigEndianHost);
  return Error::success();
}

Error HeaderParser::parseOrder() {
  rest = rest.ltrim(" \t\r\n");
  if (rest.consume_front("True"))
    header.fortranOrder = true;
  else if (rest.consume_front("False"))
    header.fortranOrder = false;
  else
    return fail("fortran_order is neither True nor False at ", here());
  return Error::success();
}

Error HeaderParser::parseShape() {
  if (!consume('('))
    return fail("expected the tuple of shape at ", here());
  bool comma = true;
  while (!consume(')')) {
    if (!comma)
      return fail("expected ',' or ')' in shape at ", here());
    rest = rest.ltrim(" \t\r\n");
    if (rest.starts_with("-"))
      return fail("dimension ", header.shape.size(), " is negative in shape");
    std::string place = here();
    int64_t dim;
    if (rest.consumeInteger(10, dim))
      return fail("dimension ", header.shape.size(),
                  " of shape is no 64-bit integer at ", place);
    rest.consume_front("L"); // Written by Python 2.
    if (header.shape.size() == maxRank)
      return fail("shape has more than ", maxRank, " dimensions");
    header.shape.push_back(dim);
    comma = consume(',');
  }
  if (header.shape.size() == 1 && !comma)
    return fail("shape is not a tuple but a number, at ", here(), "; write (",
                header.shape[0], ",)");
  return Error::success();
}

Expected<Header> HeaderParser::parse() {
  if (!consume('{'))
    return fail("expected a dictionary at ", here());
  bool seenDescr = false, seenOrder = false, seenShape = false;
  bool comma = true;
  while (!consume('}')) {
    if (!comma)
      return fail("expected ',' or '}' at ", here());
    Expected<StringRef> key = parseString();
    if (!key)
      return key.takeError();
    if (!consume(':'))
      return fail("expected ':' at ", here());
    bool *seen = nullptr;
    Error error = Error::success();
    if (*key == "descr") {
      seen = &seenDescr;
      error = joinErrors(std::move(error), parseDescr());
    } else if (*key == "fortran_order") {
      seen = &seenOrder;
      error = joinErrors(std::move(error), parseOrder());
    } else if (*key == "shape") {
      seen = &seenShape;
      header.shape.clear();
      error = joinErrors(std::move(error), parseShape());
    } else {
      std::string shown;
      raw_string_ostream os(shown);
      printEscapedString(key->take_front(16), os);
      error = joinErrors(std::move(error), fail("unknown key '", shown, "'"));
    }
    if (error)
      return error;
    if (*seen)
      return fail("key '", *key, "' occurs twice");
    *seen = true;
    comma = consume(',');
  }
  if (!rest.trim(" \t\r\n").empty())
    return fail("unexpected text after the dictionary at ", here());
  if (!seenDescr || !seenOrder || !seenShape)
    return fail("key '",
                !seenDescr   ? "descr"
                : !seenOrder ? "fortran_order"
                             : "shape",
                "' is missing");
  return std::move(header);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Copies elements of `size` bytes that lie in Fortran order into row-major
/// order. No dimension is 0.
static void transpose(const uint8_t *source, uint8_t *target, size_t size,
                      ArrayRef<int64_t> shape, uint64_t count) {
  SmallVector<uint64_t> strides(shape.size()), index(shape.size(), 0);
  uint64_t stride = size;
  for (auto [i, dim] : llvm::enumerate(shape)) {
    strides[i] = stride;
    stride *= static_cast<uint64_t>(dim);
  }
  uint64_t offset = 0;
  for (uint64_t n = 0; n < count; ++n) {
    std::memcpy(target + n * size, source + offset, size);
    for (size_t i = shape.size(); i-- > 0;) {
      offset += strides[i];
      if (++index[i] < static_cast<uint64_t>(shape[i]))
        break;
      offset -= strides[i] * index[i];
      index[i] = 0;
    }
  }
}

Expected<NpyArray> parseNpy(MemoryBufferRef buffer) {
  auto fail = [&](const Twine &message) {
    return createFileError(buffer.getBufferIdentifier(),
                           inconvertibleErrorCode(), message);
  };
  StringRef rest = buffer.getBuffer();
  if (!rest.consume_front(magic))
    return fail("not a .npy file: the first bytes are not \\x93NUMPY");
  if (rest.size() < 2)
    return fail("ends within the version");
  unsigned major = static_cast<uint8_t>(rest[0]);
  unsigned minor = static_cast<uint8_t>(rest[1]);
  rest = rest.drop_front(2);
  if (major < 1 || major > 3 || minor != 0)
    return fail("not yet supported: .npy version " + Twine(major) + "." +
                Twine(minor));
  size_t lengthSize = major == 1 ? 2 : 4;
  if (rest.size() < lengthSize)
    return fail("ends within the length of the header");
  size_t length = lengthSize == 2 ? support::endian::read16le(rest.data())
                                  : support::endian::read32le(rest.data());
  rest = rest.drop_front(lengthSize);
  if (length > rest.size())
    return fail("header of " + Twine(length) + " bytes, but only " +
                Twine(rest.size()) + " are left");
  Expected<Header> header = HeaderParser(rest.take_front(length)).parse();
  if (!header)
    return createFileError(buffer.getBufferIdentifier(), header.takeError());
  rest = rest.drop_front(length);

  size_t size = npyItemSize(header->type);
  std::optional<uint64_t> count = elementCount(header->shape);
  std::optional<uint64_t> bytes =
      count ? checkedMulUnsigned<uint64_t>(*count, size) : std::nullopt;
  if (!bytes)
    return fail("shape " + shapeText(header->shape) +
                " has more bytes than 64 bits can count");
  if (*bytes != rest.size())
    return fail("shape " + shapeText(header->shape) + " of " +
                toString(header->type) + " needs " + Twine(*bytes) +
                " bytes of data, the file has " + Twine(rest.size()));

  NpyArray array;
  array.type = header->type;
  array.shape.assign(header->shape.begin(), header->shape.end());
  if (header->fortranOrder && header->shape.size() > 1 && *count) {
    array.data.resize(*bytes);
    transpose(rest.bytes_begin(), array.data.data(), size, header->shape,
              *count);
  } else {
    array.data.assign(rest.bytes_begin(), rest.bytes_end());
  }
  if (header->bigEndian && size > 1)
    for (size_t i = 0; i < array.data.size(); i += size)
      std::reverse(array.data.begin() + i, array.data.begin() + i + size);
  return array;
}

Expected<NpyArray> readNpy(StringRef path) {
  // Devices without an end would be read for ever.
  sys::fs::file_status status;
  if (std::error_code code = sys::fs::status(path, status))
    return createFileError(path, code);
  if (!sys::fs::is_regular_file(status) &&
      status.type() != sys::fs::file_type::fifo_file)
    return createFileError(path, inconvertibleErrorCode(),
                           Twine("not a regular file"));
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(
      path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createFileError(path, buffer.getError());
  return parseNpy(**buffer);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// An error if the data is not what type and shape say.
static Error checkArray(const NpyArray &array) {
  std::optional<uint64_t> count = elementCount(array.shape);
  std::optional<uint64_t> bytes =
      count ? checkedMulUnsigned<uint64_t>(*count, npyItemSize(array.type))
            : std::nullopt;
  if (array.shape.size() > maxRank)
    return createStringError(inconvertibleErrorCode(),
                             "shape has more than 64 dimensions");
  if (!bytes || *bytes != array.data.size())
    return createStringError(inconvertibleErrorCode(),
                             "shape " + shapeText(array.shape) + " of " +
                                 toString(array.type) + " does not match " +
                                 Twine(array.data.size()) + " bytes of data");
  return Error::success();
}

Error writeNpy(raw_ostream &os, const NpyArray &array) {
  if (Error error = checkArray(array))
    return error;
  const NpyTypeInfo &info = infoOf(array.type);
  std::string header =
      ("{'descr': '" + Twine(info.size > 1 ? "<" : "|") + info.descr +
       "', 'fortran_order': False, 'shape': " + shapeText(array.shape) + ", }")
          .str();
  // Magic, version, length and header fill a multiple of 64 bytes, so that the
  // data is aligned in a mapped file; the header ends with a newline.
  size_t prefix = magic.size() + 2 + 2;
  header.resize(alignTo(prefix + header.size() + 1, 64) - prefix - 1, ' ');
  header += '\n';
  os << magic << '\1' << '\0';
  char length[2];
  support::endian::write16le(length, static_cast<uint16_t>(header.size()));
  os.write(length, 2);
  os << header;
  os.write(reinterpret_cast<const char *>(array.data.data()),
           array.data.size());
  return Error::success();
}

Error writeNpy(StringRef path, const NpyArray &array) {
  return writeFile(path, [&](raw_ostream &os) { return writeNpy(os, array); });
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

NpyType npyTypeFor(ElementType type) {
  switch (type) {
  case ElementType::I4:
  case ElementType::I5:
  case ElementType::I8:
    return NpyType::I8;
  case ElementType::I9:
  case ElementType::I16:
    return NpyType::I16;
  case ElementType::I32:
    return NpyType::I32;
  case ElementType::U8:
    return NpyType::U8;
  case ElementType::F4E2M1:
  case ElementType::F8E4M3:
  case ElementType::F8E5M2:
  case ElementType::BF16:
  case ElementType::F32:
    return NpyType::F32;
  }
  llvm_unreachable("all element types are listed");
}

/// The f32 pattern that carries a float code. Unlike decodeFloat it keeps what
/// memory can hold beyond values: bf16 subnormals, signs and payloads of NaN.
static uint32_t carryFloat(ElementType type, uint32_t code) {
  uint32_t sign = (code & 0x80u) << 24;
  if (type == ElementType::BF16)
    return code << 16;
  if (type == ElementType::F8E4M3 && (code & 0x7F) == 0x7F)
    return sign | canonicalNaN;
  if (type == ElementType::F8E5M2 && (code & 0x7F) > 0x7C)
    return sign | detail::infinity | (code & 3) << 21;
  return decodeFloat(type, code);
}

/// Inverse of carryFloat; none for a value that `type` does not hold exactly.
static std::optional<uint32_t> uncarryFloat(ElementType type,
                                            uint32_t pattern) {
  if (type == ElementType::F32)
    return pattern;
  bool nan = (pattern & detail::absMask) > detail::infinity;
  uint32_t code;
  switch (type) {
  case ElementType::BF16:
    code = nan && (pattern & 0xFFFFu) ? 0x7FC0u : pattern >> 16;
    break;
  case ElementType::F8E4M3:
    code = nan ? 0x7Fu | (pattern >> 24 & 0x80u) : f32ToF8E4M3(pattern);
    break;
  case ElementType::F8E5M2:
    if (!nan)
      code = f32ToF8E5M2(pattern);
    else if (pattern & 0x1FFFFFu)
      code = 0x7E;
    else
      code = (pattern >> 24 & 0x80u) | 0x7Cu | (pattern >> 21 & 3u);
    break;
  default:
    if (nan)
      return std::nullopt;
    code = encodeFloat(type, pattern);
    break;
  }
  if (!nan && carryFloat(type, code) != pattern)
    return std::nullopt;
  return code;
}

/// The f32 pattern of an integer; none if f32 does not hold it exactly.
static std::optional<uint32_t> exactF32(bool negative, uint64_t magnitude) {
  if (magnitude == 0)
    return 0;
  unsigned top = 63 - static_cast<unsigned>(std::countl_zero(magnitude));
  unsigned low = static_cast<unsigned>(std::countr_zero(magnitude));
  if (top - low > 23)
    return std::nullopt;
  uint64_t significand =
      top > 23 ? magnitude >> (top - 23) : magnitude << (23 - top);
  // The implicit bit of the significand raises the exponent by one.
  return (negative ? detail::signBit : 0) |
         (((top + 126) << 23) + static_cast<uint32_t>(significand));
}

namespace {
/// One element of an array: an integer, or a float as an f64 pattern.
struct Number {
  bool isFloat = false;
  bool negative = false;
  uint64_t magnitude = 0;
  uint64_t f64 = 0;
};
} // namespace

static Number loadNumber(const NpyArray &array, uint64_t i) {
  const uint8_t *p = array.data.data() + i * npyItemSize(array.type);
  auto signedNumber = [](int64_t value) {
    uint64_t bits = static_cast<uint64_t>(value);
    return Number{false, value < 0, value < 0 ? 0 - bits : bits, 0};
  };
  auto unsignedNumber = [](uint64_t value) {
    return Number{false, false, value, 0};
  };
  using namespace support::endian;
  switch (array.type) {
  case NpyType::Bool:
    return unsignedNumber(*p != 0);
  case NpyType::I8:
    return signedNumber(static_cast<int8_t>(*p));
  case NpyType::U8:
    return unsignedNumber(*p);
  case NpyType::I16:
    return signedNumber(static_cast<int16_t>(read16le(p)));
  case NpyType::U16:
    return unsignedNumber(read16le(p));
  case NpyType::I32:
    return signedNumber(static_cast<int32_t>(read32le(p)));
  case NpyType::U32:
    return unsignedNumber(read32le(p));
  case NpyType::I64:
    return signedNumber(static_cast<int64_t>(read64le(p)));
  case NpyType::U64:
    return unsignedNumber(read64le(p));
  case NpyType::F32:
    return {true, false, 0, f32ToF64(read32le(p))};
  case NpyType::F64:
    return {true, false, 0, read64le(p)};
  }
  llvm_unreachable("all array types are listed");
}

/// Code of `number` in `type`; none if it is not held exactly.
static std::optional<uint32_t> exactCode(ElementType type,
                                         const Number &number) {
  if (isInteger(type)) {
    int64_t least = minInteger(type), greatest = maxInteger(type);
    uint64_t limit = static_cast<uint64_t>(number.negative ? -least : greatest);
    if (number.isFloat || number.magnitude > limit)
      return std::nullopt;
    uint32_t low = static_cast<uint32_t>(number.magnitude);
    return encodeInteger(type,
                         static_cast<int32_t>(number.negative ? 0 - low : low));
  }
  if (!number.isFloat) {
    std::optional<uint32_t> pattern =
        exactF32(number.negative, number.magnitude);
    return pattern ? uncarryFloat(type, *pattern) : std::nullopt;
  }
  uint32_t pattern = f64ToF32(number.f64);
  if ((pattern & detail::absMask) <= detail::infinity &&
      f32ToF64(pattern) != number.f64)
    return std::nullopt;
  return uncarryFloat(type, pattern);
}

/// "element [1, 2] is 300, …".
static Error inexact(const NpyArray &array, uint64_t i, ElementType type,
                     const Number &number) {
  std::string text;
  raw_string_ostream os(text);
  SmallVector<uint64_t> index(array.shape.size());
  uint64_t rest = i;
  for (size_t d = index.size(); d-- > 0;) {
    uint64_t dim = static_cast<uint64_t>(array.shape[d]);
    index[d] = rest % dim;
    rest /= dim;
  }
  os << "element [";
  interleaveComma(index, os);
  os << "] is ";
  bool nan = false;
  if (number.isFloat) {
    double value = std::bit_cast<double>(number.f64);
    nan = (number.f64 << 1) > uint64_t(0x7FF) << 53;
    if (nan)
      os << "NaN";
    else
      os << format(array.type == NpyType::F32 ? "%.9g" : "%.17g", value);
  } else {
    os << (number.negative ? "-" : "") << number.magnitude;
  }
  if (nan)
    os << ", which " << toString(type) << " does not have";
  else if (isInteger(type))
    os << ", but " << toString(type) << " holds " << minInteger(type) << " to "
       << maxInteger(type);
  else
    os << ", which " << toString(type) << " does not hold exactly";
  return createStringError(inconvertibleErrorCode(), text);
}

Expected<std::vector<uint32_t>> codesFromNpy(const NpyArray &array,
                                             ElementType type) {
  if (Error error = checkArray(array))
    return error;
  bool floats = array.type == NpyType::F32 || array.type == NpyType::F64;
  if (floats && isInteger(type))
    return createStringError(inconvertibleErrorCode(),
                             "an array of " + toString(array.type) +
                                 " cannot be " + toString(type) +
                                 "; expected an integer dtype");
  std::vector<uint32_t> codes(array.size());
  for (uint64_t i = 0; i < codes.size(); ++i) {
    // The way over f64 would lose the payload of a NaN.
    std::optional<uint32_t> code;
    if (array.type == NpyType::F32)
      code = uncarryFloat(type,
                          support::endian::read32le(array.data.data() + 4 * i));
    else
      code = exactCode(type, loadNumber(array, i));
    if (!code)
      return inexact(array, i, type, loadNumber(array, i));
    codes[i] = *code;
  }
  return codes;
}

NpyArray npyFromCodes(ArrayRef<uint32_t> codes, ElementType type,
                      ArrayRef<int64_t> shape) {
  assert(elementCount(shape) == codes.size() && "shape does not match");
  NpyArray array;
  array.type = npyTypeFor(type);
  array.shape.assign(shape.begin(), shape.end());
  size_t size = npyItemSize(array.type);
  array.data.resize(codes.size() * size);
  for (size_t i = 0; i < codes.size(); ++i) {
    uint32_t value = isFloat(type)
                         ? carryFloat(type, codes[i])
                         : static_cast<uint32_t>(decodeInteger(type, codes[i]));
    for (size_t b = 0; b < size; ++b)
      array.data[i * size + b] = static_cast<uint8_t>(value >> (8 * b));
  }
  return array;
}

} // namespace furiosa
