//===- Transfer.h - Descriptors of a DMA transfer ---------------*- C++ -*-===//
//
// Derives what each DMA engine does from the mappings of both sides. Plain
// data, no IR; the kernel check and the lowering share it, so that whatever
// the check accepts can be lowered.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_VISA_TRANSFER_TRANSFER_H
#define FURIOSA_DIALECT_VISA_TRANSFER_TRANSFER_H

#include "furiosa/Dialect/TensorMapping/Algebra/Mapping.h"

namespace furiosa::visa {

/// One side of a transfer. HBM has an element mapping only.
struct TransferSide {
  bool isDm = false;
  mapping::Mapping cluster, slice, element;
};

struct TransferLoop {
  int64_t size;
  /// Bytes.
  int64_t sourceStride, targetStride;
  bool operator==(const TransferLoop &) const = default;
};

/// One descriptor: paired loops, outermost first, and the bytes of a packet.
/// Bases are bytes from the start of the HBM tensor, or slice · 4 MiB + byte
/// within the PE's slices.
struct EngineTransfer {
  int64_t cluster = 0, pe = 0;
  int64_t sourceBase = 0, targetBase = 0;
  llvm::SmallVector<TransferLoop, 7> loops;
  int64_t packet = 0;
};

/// Engines of one command; a PE occurs at most once in it.
using TransferCommand = std::vector<EngineTransfer>;

/// The commands that move every live cell of `target` (HBM to DM: replicating
/// axes that the source lacks), for elements of `bits` bits. Exactly one side
/// is DM. Faults: MM-10, MM-28 … MM-32; reason "not-yet-supported" where the
/// transfer is legal but no descriptor is derived.
mapping::Result<std::vector<TransferCommand>>
deriveTransfer(const TransferSide &source, const TransferSide &target,
               unsigned bits);

} // namespace furiosa::visa

#endif // FURIOSA_DIALECT_VISA_TRANSFER_TRANSFER_H
