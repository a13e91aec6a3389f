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
  /// Where a view begins.
  int64_t clusterStart = 0, sliceStart = 0;
};

struct TransferLoop {
  int64_t size;
  /// Bytes.
  int64_t sourceStride, targetStride;
  bool operator==(const TransferLoop &) const = default;
};

/// One descriptor: paired loops, outermost first, and the bytes of a packet.
/// Bases are bytes from the start of the HBM tensor; slice · 4 MiB + byte
/// within the PE's slices; or an address in the window of another PE.
struct EngineTransfer {
  int64_t cluster = 0, pe = 0;
  int64_t sourceBase = 0, targetBase = 0;
  llvm::SmallVector<TransferLoop, 7> loops;
  int64_t packet = 0;
  /// Of an indirect transfer: where its list of indices begins, and how many of
  /// the outermost loops walk it, one entry of 4 bytes after the other.
  int64_t indexBase = 0;
  size_t indexLoops = 0;
};

/// Engines of one command; a PE occurs at most once in it.
using TransferCommand = std::vector<EngineTransfer>;

/// Unit attribute of a kernel: its transfers take turns between the networks of
/// a PE (alternateNetworks()).
inline constexpr llvm::StringLiteral alternateNetworksAttrName =
    "visa.alternate_networks";

/// Reorders loops of `engine` so that packets in a row lie in slices of the two
/// networks of a PE in turn, where it moves rows of both: each network takes
/// half of the time. `toDm` says whether the target is in data memory.
void alternateNetworks(EngineTransfer &engine, bool toDm);

/// The commands that move every live cell of `target`, for elements of `bits`
/// bits; digits that the source lacks are replicated. An engine is that of the
/// source's PE, of the target's where the source is in HBM, the first one where
/// both are. Where runs do not fill words, padding that both sides declare may
/// move along if `mayMovePadding`. Faults: MA-22, MM-28 … MM-32; reason
/// "not-yet-supported" where the transfer is legal but no descriptor is
/// derived.
mapping::Result<std::vector<TransferCommand>>
deriveTransfer(const TransferSide &source, const TransferSide &target,
               unsigned bits, bool mayMovePadding);

/// The commands of a gather or scatter: as deriveTransfer, with `index` naming
/// the rows. The side in HBM is the table without its key, the other one has
/// the axes of the index in place of it.
mapping::Result<std::vector<TransferCommand>>
deriveIndirect(const TransferSide &source, const TransferSide &target,
               const TransferSide &index, unsigned bits);

} // namespace furiosa::visa

#endif // FURIOSA_DIALECT_VISA_TRANSFER_TRANSFER_H
