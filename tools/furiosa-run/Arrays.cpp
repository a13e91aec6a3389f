//===- Arrays.cpp - Arguments from text, results to text and files --------===//

#include "Arrays.h"
#include "furiosa/Support/Npy.h"
#include "furiosa/Support/WriteFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <bit>
#include <cmath>

using namespace llvm;

namespace furiosa::run {

static std::string describeShape(const OperandLayout &layout) {
  std::string text;
  for (auto [name, extent] : zip_equal(layout.axes(), layout.shape()))
    text += (text.empty() ? "" : ", ") + name + " = " + std::to_string(extent);
  return "[" + text + "]";
}

static std::string toText(ArrayRef<int64_t> shape) {
  return "(" +
         join(map_range(shape, [](int64_t n) { return std::to_string(n); }),
              ", ") +
         ")";
}

/// A number written in a fill that is none of the element type, where that is no
/// matter of rounding: the other fills of integers may run out of their type.
static std::optional<double> findForeignNumber(const Fill &fill,
                                               ElementType type) {
  bool isConstant = fill.kind == Fill::Kind::Const;
  if (!isConstant && (fill.kind != Fill::Kind::Iota || !isInteger(type)))
    return std::nullopt;
  if (!Fill::constant(fill.start).isExact(type, 1))
    return fill.start;
  if (!isConstant && std::trunc(fill.step) != fill.step)
    return fill.step;
  return std::nullopt;
}

Expected<HostArray> makeArgument(const Operand &operand, StringRef spec) {
  const OperandLayout &layout = operand.layout;
  auto wrap = [&](const Twine &message) {
    return createStringError(operand.name + ": " + message);
  };
  if (int32_t number; operand.range && !spec.getAsInteger(10, number)) {
    HostArray array = layout.makeArray();
    array.codes[0] = static_cast<uint32_t>(number);
    array.defined[0] = 1;
    return array;
  }
  if (auto fill = parseFill(spec)) {
    if (auto number = findForeignNumber(*fill, layout.type()))
      return wrap(formatv("'{0}' is no value of {1}: {2}", spec,
                          toString(layout.type()), *number));
    uint64_t positions = layout.sizeInBytes() * 8 / wireBits(layout.type());
    if (!fill->isExact(layout.type(), positions))
      WithColor::warning() << operand.name << ": '" << spec
                           << "' has values that " << toString(layout.type())
                           << " does not hold; they are rounded or wrap\n";
    return layout.fill(*fill);
  }
  if (!spec.ends_with(".npy"))
    return wrap("'" + spec +
                "' is neither a .npy file nor one of random:SEED, bits:SEED, "
                "small:SEED, quarter:SEED, positive:SEED, iota[:START[:STEP]], "
                "zeros, const:VALUE");
  auto file = readNpy(spec);
  if (!file)
    return wrap(toString(file.takeError()));
  if (ArrayRef(file->shape) != ArrayRef(layout.shape()))
    return wrap(spec + " has shape " + toText(file->shape) + ", expected " +
                toText(layout.shape()) + " for " + describeShape(layout));
  auto codes = codesFromNpy(*file, layout.type());
  if (!codes)
    return wrap(spec + ": " + toString(codes.takeError()));
  HostArray array = layout.makeArray();
  array.codes = std::move(*codes);
  std::fill(array.defined.begin(), array.defined.end(), 1);
  return array;
}

static void printValue(raw_ostream &os, ElementType type, uint32_t code) {
  if (isInteger(type))
    os << decodeInteger(type, code);
  else
    os << format("%.9g", static_cast<double>(
                             std::bit_cast<float>(decodeFloat(type, code))));
}

Error printResult(raw_ostream &os, const Operand &operand,
                  const HostArray &array) {
  auto summary = summarize(operand.layout, array);
  if (!summary)
    return summary.takeError();
  os << operand.name << ": " << toString(array.type) << " "
     << describeShape(operand.layout) << ", " << summary->count
     << " elements, hash " << format_hex_no_prefix(summary->hash, 16) << "\n  ";
  interleave(
      summary->first, os,
      [&](uint32_t code) { printValue(os, array.type, code); }, " ");
  os << (summary->count > summary->first.size() ? " ...\n" : "\n");
  if (summary->undefined)
    os << "  " << summary->undefined << " elements are undefined\n";
  return Error::success();
}

Error writeOutputs(ArrayRef<OutputFile> files) {
  std::vector<TemporaryFile> pending;
  std::vector<std::pair<const OutputFile *, NpyArray>> direct;
  for (const OutputFile &file : files) {
    NpyArray npy =
        npyFromCodes(file.array->codes, file.array->type, file.array->shape);
    if (sys::fs::is_directory(file.path))
      return createStringError(file.path + ": is a directory");
    if (isWrittenDirectly(file.path)) {
      direct.emplace_back(&file, std::move(npy));
      continue;
    }
    auto temporary = createTemporary(file.path);
    if (!temporary)
      return temporary.takeError();
    pending.push_back(std::move(*temporary));
    if (Error error = pending.back().write(
            [&](raw_ostream &os) { return writeNpy(os, npy); }))
      return error;
  }
  for (auto &[file, npy] : direct)
    if (Error error = writeNpy(file->path, npy))
      return error;
  for (TemporaryFile &temporary : pending)
    if (Error error = temporary.keep())
      return error;
  return Error::success();
}

} // namespace furiosa::run
