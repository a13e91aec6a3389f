//===- ImageReader.h - Field by field through a register image --*- C++ -*-===//
//
// Reads the fields of one register block, keeps account of those that were
// looked at, and words the errors.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_TARGET_RNGD_IMAGEREADER_H
#define FURIOSA_LIB_TARGET_RNGD_IMAGEREADER_H

#include "furiosa/Target/RNGD/ExecConfig.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/Twine.h"

namespace furiosa::rngd {

/// A field that is never taken must be 0: `finish` sees to that.
class ImageReader {
public:
  explicit ImageReader(const SfrImage &image)
      : image(image), block(sfrBlock(image.block())),
        taken(block.fields.size()) {}

  /// Value of a field that the caller uses or checks. The field exists.
  uint64_t take(llvm::StringRef field, unsigned index = 0);

  /// An error that names the field.
  llvm::Error fail(llvm::StringRef field, unsigned index,
                   const llvm::Twine &message) const;
  llvm::Error fail(llvm::StringRef field, const llvm::Twine &message) const {
    return fail(field, 0, message);
  }

  /// Takes the fields; refuses values other than 0 as not yet supported.
  llvm::Error unsupported(llvm::ArrayRef<llvm::StringRef> fields);
  /// Takes a field that has one legal value.
  llvm::Error expect(llvm::StringRef field, uint64_t value,
                     const llvm::Twine &why);

  /// Eight loops; refuses a stride of a loop that runs once.
  llvm::Expected<HardwareLoops> takeLoops(llvm::StringRef limits,
                                          llvm::StringRef strides);

  /// Refuses reserved bits and fields that were not taken and are not 0.
  llvm::Error finish() const;

private:
  const SfrImage &image;
  const SfrBlock &block;
  llvm::BitVector taken;
};

/// Product of the limits; empty if it does not fit.
std::optional<uint64_t> countSteps(const HardwareLoops &loops);
/// Smallest and largest address that the loops reach from `base`; the smallest
/// may lie below 0.
int64_t firstAddress(uint64_t base, const HardwareLoops &loops);
uint64_t lastAddress(uint64_t base, const HardwareLoops &loops);

/// Checks that the loops' `bytes` from every address lie below `capacity`.
llvm::Error checkRange(const ImageReader &reader, llvm::StringRef field,
                       uint64_t base, const HardwareLoops &loops,
                       uint64_t bytes, uint64_t capacity,
                       llvm::StringRef memory);

// The parts of an exec, each from its block. `flits` enter the part.
llvm::Expected<FetchConfig>
decodeFetch(const SfrImage &image, llvm::ArrayRef<const SfrImage *> bySlice);
llvm::Expected<DotProductConfig> decodeDotProduct(const SfrImage &image,
                                                  const FetchConfig &fetch);
llvm::Expected<VectorConfig> decodeVector(const SfrImage &routeImage,
                                          const SfrImage &reduceImage,
                                          const SfrImage &arithmeticImage,
                                          uint64_t flits);
llvm::Expected<TransposeConfig> decodeTranspose(const SfrImage &image,
                                                uint64_t flits);
llvm::Expected<CommitConfig> decodeCommit(const SfrImage &image,
                                          uint64_t flits);
llvm::Expected<TrfWriteConfig> decodeTrfWrite(const SfrImage &image,
                                              uint64_t flits);
llvm::Expected<VrfWriteConfig> decodeVrfWrite(const SfrImage &image,
                                              uint64_t flits);

} // namespace furiosa::rngd

#endif // FURIOSA_LIB_TARGET_RNGD_IMAGEREADER_H
