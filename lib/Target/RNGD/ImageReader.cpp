//===- ImageReader.cpp - Field by field through a register image ----------===//
//
// Accounts for every field of an image, and words the errors.
//
//===----------------------------------------------------------------------===//

#include "ImageReader.h"

#include "EncodingSupport.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace furiosa;
using namespace furiosa::rngd;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

static std::string fieldPath(const SfrBlock &block, const SfrField &field) {
  return (block.name + "." + block.registers[field.reg].name + "." +
          field.str())
      .str();
}

uint64_t ImageReader::take(StringRef name, unsigned index) {
  const SfrField *field = block.find(name, index);
  assert(field && "field names are literals of the decoder");
  if (!field)
    return 0;
  taken.set(field - block.fields.data());
  return image.get(*field);
}

Error ImageReader::fail(StringRef name, unsigned index,
                        const Twine &message) const {
  const SfrField *field = block.find(name, index);
  std::string path =
      field ? fieldPath(block, *field) : (block.name + "." + name).str();
  return makeError(path + ": " + message);
}

Error ImageReader::unsupported(llvm::ArrayRef<StringRef> fields) {
  for (StringRef field : fields) {
    uint64_t value = take(field);
    if (value == 0)
      continue;
    const CodeTable *codes = codesOf(block.id, field);
    std::string name = codes ? codes->describe(value) : std::string();
    return fail(field, "not yet supported: value " + Twine(value) +
                           (name.empty() ? "" : " (" + Twine(name) + ")"));
  }
  return Error::success();
}

Error ImageReader::expect(StringRef field, uint64_t value, const Twine &why) {
  uint64_t found = take(field);
  if (found == value)
    return Error::success();
  return fail(field,
              why + ", expected " + Twine(value) + ", found " + Twine(found));
}

Expected<HardwareLoops> ImageReader::takeLoops(StringRef limits,
                                               StringRef strides) {
  HardwareLoops loops;
  for (unsigned k = 0; k < 8; ++k) {
    loops[k].limit = decodeLimit(take(limits, k));
    loops[k].stride = static_cast<int32_t>(take(strides, k));
    if (loops[k].limit == 1 && loops[k].stride != 0)
      return fail(strides, k,
                  "the loop runs once, so its stride must be 0, found " +
                      Twine(loops[k].stride));
  }
  return loops;
}

Error ImageReader::finish() const {
  if (Fault fault = image.checkReserved())
    return makeError(block.name + ": " + *fault);
  for (auto [i, field] : llvm::enumerate(block.fields))
    if (!taken[i] && image.get(field) != 0)
      return makeError(fieldPath(block, field) +
                       ": field is unused in this mode and must be 0, found " +
                       Twine(image.get(field)));
  return Error::success();
}

std::optional<uint64_t> rngd::countSteps(const HardwareLoops &loops) {
  uint64_t steps = 1;
  for (const HardwareLoop &loop : loops) {
    std::optional<uint64_t> product =
        llvm::checkedMulUnsigned<uint64_t>(steps, loop.limit);
    if (!product)
      return std::nullopt;
    steps = *product;
  }
  return steps;
}

// At most 8 terms of 16 + 22 bits: the sums cannot overflow.
int64_t rngd::firstAddress(uint64_t base, const HardwareLoops &loops) {
  int64_t first = static_cast<int64_t>(base);
  for (const HardwareLoop &loop : loops)
    first += (loop.limit - 1) * int64_t(std::min(loop.stride, 0));
  return first;
}

uint64_t rngd::lastAddress(uint64_t base, const HardwareLoops &loops) {
  for (const HardwareLoop &loop : loops)
    base += uint64_t(loop.limit - 1) * uint32_t(std::max(loop.stride, 0));
  return base;
}

Error rngd::checkRange(const ImageReader &reader, StringRef field,
                       uint64_t base, const HardwareLoops &loops,
                       uint64_t bytes, uint64_t capacity, StringRef memory) {
  if (int64_t first = firstAddress(base, loops); first < 0)
    return reader.fail(field, "the loops reach byte " + Twine(first) + " of " +
                                  memory);
  uint64_t end = lastAddress(base, loops) + bytes;
  if (end <= capacity)
    return Error::success();
  return reader.fail(field, "the loops reach byte " + Twine(end - 1) + " of " +
                                memory + ", which has " + Twine(capacity));
}
