//===- EDF.cpp - C API to kernel binaries ---------------------------------===//

#include "furiosa-c/EDF.h"

#include "furiosa/Target/RNGD/HostOperands.h"
#include "furiosa/Target/RNGD/Simulator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstring>

using namespace furiosa;
namespace edf = furiosa::rngd::edf;

// The enumerators of the header are those of the formats.
static_assert(FURIOSA_INPUT == int(edf::Role::Input) &&
              FURIOSA_OUTPUT == int(edf::Role::Output) &&
              FURIOSA_INOUT == int(edf::Role::InOut));
static_assert(FURIOSA_I4 == int(ElementType::I4) &&
              FURIOSA_I8 == int(ElementType::I8) &&
              FURIOSA_I16 == int(ElementType::I16) &&
              FURIOSA_I32 == int(ElementType::I32) &&
              FURIOSA_U8 == int(ElementType::U8) &&
              FURIOSA_F4E2M1 == int(ElementType::F4E2M1) &&
              FURIOSA_F8E4M3 == int(ElementType::F8E4M3) &&
              FURIOSA_F8E5M2 == int(ElementType::F8E5M2) &&
              FURIOSA_BF16 == int(ElementType::BF16) &&
              FURIOSA_F32 == int(ElementType::F32));

namespace {
/// An operand that a host binds, and its place among those of the file.
struct Operand {
  size_t index;
  OperandLayout layout;
};

struct Kernel {
  edf::Kernel kernel;
  std::vector<Operand> operands;

  const edf::Operand &get(size_t operand) const {
    return kernel.arguments.operands[operands[operand].index];
  }
};

struct Binary {
  /// As errors call it.
  std::string file;
  std::vector<Kernel> kernels;
};
} // namespace

//===----------------------------------------------------------------------===//
// Errors and strings
//===----------------------------------------------------------------------===//

static FuriosaError success() { return {nullptr}; }

static FuriosaError fail(const llvm::Twine &message) {
  return {new std::string(message.str())};
}

static FuriosaError fail(llvm::Error error) {
  return fail(llvm::toString(std::move(error)));
}

static FuriosaStringRef wrap(llvm::StringRef text) {
  return {text.data(), text.size()};
}

static const Kernel &unwrap(FuriosaKernel kernel) {
  return *static_cast<const Kernel *>(kernel.ptr);
}

uint32_t furiosaGetApiVersion(void) { return FURIOSA_C_API_VERSION; }

int furiosaErrorIsFailure(FuriosaError error) { return error.ptr != nullptr; }

FuriosaStringRef furiosaErrorGetMessage(FuriosaError error) {
  if (!error.ptr)
    return wrap("success");
  return wrap(*static_cast<std::string *>(error.ptr));
}

void furiosaErrorDestroy(FuriosaError error) {
  delete static_cast<std::string *>(error.ptr);
}

//===----------------------------------------------------------------------===//
// Binaries
//===----------------------------------------------------------------------===//

/// A kernel of a file, ready to be bound.
static llvm::Expected<Kernel> prepare(edf::Kernel kernel) {
  Kernel result;
  for (auto [index, operand] : llvm::enumerate(kernel.arguments.operands)) {
    if (operand.role == edf::Role::Scratch ||
        operand.role == edf::Role::Constant)
      continue;
    auto layout = rngd::getLayout(operand);
    if (!layout)
      return layout.takeError();
    result.operands.push_back({index, std::move(*layout)});
  }
  result.kernel = std::move(kernel);
  return result;
}

static FuriosaError create(llvm::ArrayRef<uint8_t> bytes, llvm::StringRef name,
                           FuriosaBinary *binary) {
  auto reader = edf::Reader::open(bytes, name);
  if (!reader)
    return fail(reader.takeError());
  auto kernels = reader->loadAll();
  if (!kernels)
    return fail(kernels.takeError());
  auto result = std::make_unique<Binary>();
  result->file = name.str();
  result->kernels.reserve(kernels->size());
  for (edf::Kernel &kernel : *kernels) {
    auto prepared = prepare(std::move(kernel));
    if (!prepared)
      return fail(prepared.takeError());
    result->kernels.push_back(std::move(*prepared));
  }
  binary->ptr = result.release();
  return success();
}

FuriosaError furiosaBinaryCreate(const void *bytes, size_t size,
                                 FuriosaBinary *binary) {
  binary->ptr = nullptr;
  return create({static_cast<const uint8_t *>(bytes), size}, "<memory>",
                binary);
}

FuriosaError furiosaBinaryCreateFromFile(const char *path,
                                         FuriosaBinary *binary) {
  binary->ptr = nullptr;
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail(llvm::createFileError(path, buffer.getError()));
  return create(llvm::arrayRefFromStringRef<uint8_t>((*buffer)->getBuffer()),
                path, binary);
}

void furiosaBinaryDestroy(FuriosaBinary binary) {
  delete static_cast<Binary *>(binary.ptr);
}

size_t furiosaBinaryGetNumKernels(FuriosaBinary binary) {
  return static_cast<Binary *>(binary.ptr)->kernels.size();
}

FuriosaKernel furiosaBinaryGetKernel(FuriosaBinary binary, size_t index) {
  const auto &kernels = static_cast<Binary *>(binary.ptr)->kernels;
  return {index < kernels.size() ? &kernels[index] : nullptr};
}

FuriosaError furiosaBinaryFindKernel(FuriosaBinary binary, const char *name,
                                     FuriosaKernel *kernel) {
  kernel->ptr = nullptr;
  const Binary &file = *static_cast<Binary *>(binary.ptr);
  llvm::SmallVector<llvm::StringRef> names;
  for (const Kernel &candidate : file.kernels)
    names.push_back(candidate.kernel.names.kernel);
  auto index = edf::findKernel(names, name ? name : "", file.file);
  if (!index)
    return fail(index.takeError());
  kernel->ptr = &file.kernels[*index];
  return success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Whether the header has the value, which a caller may have made up.
static bool isElementType(FuriosaElementType type) {
  return static_cast<unsigned>(type) < numElementTypes;
}

FuriosaStringRef furiosaElementTypeGetName(FuriosaElementType type) {
  return wrap(isElementType(type) ? toString(static_cast<ElementType>(type))
                                  : llvm::StringRef());
}

unsigned furiosaElementTypeGetBits(FuriosaElementType type) {
  return isElementType(type) ? wireBits(static_cast<ElementType>(type)) : 0;
}

FuriosaStringRef furiosaKernelGetName(FuriosaKernel kernel) {
  return wrap(unwrap(kernel).kernel.names.kernel);
}

uint64_t furiosaKernelGetMakespan(FuriosaKernel kernel) {
  return unwrap(kernel).kernel.schedule.makespan;
}

size_t furiosaKernelGetNumOperands(FuriosaKernel kernel) {
  return unwrap(kernel).operands.size();
}

static FuriosaError checkIndex(const Kernel &kernel, size_t operand) {
  if (operand < kernel.operands.size())
    return success();
  return fail("no operand " + llvm::Twine(operand) + ", the kernel has " +
              llvm::Twine(kernel.operands.size()));
}

FuriosaError furiosaKernelGetOperand(FuriosaKernel wrapped, size_t index,
                                     FuriosaOperand *operand) {
  const Kernel &kernel = unwrap(wrapped);
  if (FuriosaError error = checkIndex(kernel, index); error.ptr)
    return error;
  const edf::Operand &from = kernel.get(index);
  *operand = {wrap(from.name),
              static_cast<FuriosaRole>(from.role),
              static_cast<FuriosaElementType>(from.type),
              from.bytes,
              kernel.operands[index].layout.axes().size(),
              wrap(from.chipMapping),
              wrap(from.elementMapping)};
  return success();
}

FuriosaError furiosaKernelGetAxis(FuriosaKernel wrapped, size_t operand,
                                  size_t axis, FuriosaStringRef *name,
                                  uint64_t *extent) {
  const Kernel &kernel = unwrap(wrapped);
  if (FuriosaError error = checkIndex(kernel, operand); error.ptr)
    return error;
  const OperandLayout &layout = kernel.operands[operand].layout;
  if (axis >= layout.axes().size())
    return fail("no axis " + llvm::Twine(axis) + ", operand " +
                llvm::Twine(operand) + " has " +
                llvm::Twine(layout.axes().size()));
  *name = wrap(layout.axes()[axis]);
  *extent = layout.shape()[axis];
  return success();
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

FuriosaError furiosaKernelGetNumCells(FuriosaKernel wrapped, size_t operand,
                                      uint64_t *numCells) {
  const Kernel &kernel = unwrap(wrapped);
  if (FuriosaError error = checkIndex(kernel, operand); error.ptr)
    return error;
  *numCells = kernel.operands[operand].layout.numCells();
  return success();
}

/// Whether buffer and array have the operand's sizes.
static FuriosaError checkSizes(const Kernel &kernel, size_t operand,
                               uint64_t numCells, uint64_t sizeInBytes) {
  if (FuriosaError error = checkIndex(kernel, operand); error.ptr)
    return error;
  const OperandLayout &layout = kernel.operands[operand].layout;
  if (sizeInBytes != layout.sizeInBytes())
    return fail("a buffer of " + llvm::Twine(sizeInBytes) + " bytes, operand " +
                llvm::Twine(operand) + " has " +
                llvm::Twine(layout.sizeInBytes()));
  uint64_t expected = layout.numCells();
  if (numCells != expected)
    return fail("an array of " + llvm::Twine(numCells) + " cells, operand " +
                llvm::Twine(operand) + " has " + llvm::Twine(expected));
  return success();
}

FuriosaError furiosaKernelPack(FuriosaKernel wrapped, size_t operand,
                               const uint32_t *codes, uint64_t numCells,
                               void *buffer, uint64_t sizeInBytes) {
  const Kernel &kernel = unwrap(wrapped);
  if (FuriosaError error = checkSizes(kernel, operand, numCells, sizeInBytes);
      error.ptr)
    return error;
  const OperandLayout &layout = kernel.operands[operand].layout;
  HostArray array = layout.makeArray();
  unsigned bits = wireBits(layout.type());
  for (uint64_t i = 0; i < numCells; ++i) {
    if (bits < 32 && codes[i] >> bits != 0)
      return fail("code " + llvm::Twine(codes[i]) + " of cell " +
                  llvm::Twine(i) + " has more than the " + llvm::Twine(bits) +
                  " bits of " + toString(layout.type()));
    array.codes[i] = codes[i];
    array.defined[i] = 1;
  }
  auto bytes = packOperand(layout, array);
  if (!bytes)
    return fail(bytes.takeError());
  llvm::copy(bytes->bytes, static_cast<uint8_t *>(buffer));
  return success();
}

FuriosaError furiosaKernelUnpack(FuriosaKernel wrapped, size_t operand,
                                 const void *buffer, uint64_t sizeInBytes,
                                 uint32_t *codes, uint64_t numCells) {
  const Kernel &kernel = unwrap(wrapped);
  if (FuriosaError error = checkSizes(kernel, operand, numCells, sizeInBytes);
      error.ptr)
    return error;
  auto array =
      unpackOperand(kernel.operands[operand].layout,
                    {static_cast<const uint8_t *>(buffer), sizeInBytes}, {});
  if (!array)
    return fail(array.takeError());
  llvm::copy(array->codes, codes);
  return success();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

FuriosaError furiosaKernelRun(FuriosaKernel wrapped,
                              const FuriosaBuffer *buffers, size_t numBuffers,
                              uint64_t *undefinedBytes) {
  const Kernel &kernel = unwrap(wrapped);
  if (numBuffers != kernel.operands.size())
    return fail(llvm::Twine(numBuffers) + " buffers, the kernel has " +
                llvm::Twine(kernel.operands.size()) + " operands");
  std::vector<rngd::OperandBuffer> operands(
      kernel.kernel.arguments.operands.size());
  for (size_t i = 0; i < numBuffers; ++i) {
    const edf::Operand &operand = kernel.get(i);
    if (buffers[i].sizeInBytes != operand.bytes)
      return fail("buffer " + llvm::Twine(i) + " has " +
                  llvm::Twine(buffers[i].sizeInBytes) + " bytes, operand '" +
                  operand.name + "' has " + llvm::Twine(operand.bytes));
    if (operand.role == edf::Role::Output)
      continue;
    const auto *data = static_cast<const uint8_t *>(buffers[i].data);
    operands[kernel.operands[i].index].bytes.assign(data, data + operand.bytes);
  }
  auto result = rngd::simulate(kernel.kernel, operands);
  if (!result)
    return fail(result.takeError());
  for (size_t i = 0; i < numBuffers; ++i) {
    size_t index = kernel.operands[i].index;
    const rngd::OperandBuffer &operand = operands[index];
    if (undefinedBytes)
      undefinedBytes[i] = result->undefinedBytes[index];
    if (kernel.get(i).role == edf::Role::Input)
      continue;
    auto *data = static_cast<uint8_t *>(buffers[i].data);
    for (size_t at = 0; at < operand.bytes.size(); ++at)
      if (operand.defined.empty() || operand.defined[at])
        data[at] = operand.bytes[at];
  }
  return success();
}
