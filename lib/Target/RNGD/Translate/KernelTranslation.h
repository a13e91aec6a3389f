//===- KernelTranslation.h - What both directions share ---------*- C++ -*-===//
//
// Names and types that the writer and the reader of kernels agree on.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_TARGET_RNGD_TRANSLATE_KERNELTRANSLATION_H
#define FURIOSA_LIB_TARGET_RNGD_TRANSLATE_KERNELTRANSLATION_H

#include "furiosa/Dialect/Utils/ElementTypes.h"
#include "furiosa/Support/Version.h"
#include "furiosa/Target/RNGD/Encodings.h"
#include "furiosa/Target/RNGD/Translate.h"

#include "mlir/IR/Builders.h"

namespace furiosa::rngd {

/// Discardable attribute of a `resource.buffer`: its name in the memory plan.
inline constexpr llvm::StringLiteral bufferNameAttr = "name";

/// General register that holds "no descriptor" for the PEs that a `dmaw` does
/// not name; the others are used in turn.
inline constexpr unsigned noDescriptorRegister =
    machine::tucGeneralRegisters - 1;

inline constexpr llvm::StringLiteral producer =
    "furiosa-opt-mlir " FURIOSA_VERSION;

/// Whether a block holds the base of what an exec commits (true) or fetches
/// (false), which numbers of the host move; nothing for other blocks.
inline std::optional<bool> isMovedBlock(Block block) {
  if (block == Block::FetchUnitMainContext || block == Block::SubFetchUnit)
    return false;
  if (block == Block::CommitUnitMainContext || block == Block::SubCommitUnit)
    return true;
  return std::nullopt;
}

/// Bytes from the start of such a block to the word that begins with the base.
inline uint32_t getBaseOffset(Block block) {
  const SfrBlock &layout = sfrBlock(block);
  return layout.registers[layout.find("base")->reg].offset;
}

/// Which DMAs a wait may be about, for each PE: a wait for a tag goes to the
/// PEs that started a DMA with it since the last wait; if there are none on any
/// cluster, to those that ever did.
class TagTracker {
public:
  void start(unsigned cluster, unsigned tag, uint8_t peMask) {
    pending[cluster][tag] |= peMask;
    started[cluster][tag] |= peMask;
  }
  /// PEs of a cluster that wait.
  uint8_t getWaiting(unsigned cluster, unsigned tag) const {
    for (unsigned c = 0; c < machine::clusters; ++c)
      if (pending[c][tag])
        return pending[cluster][tag];
    return started[cluster][tag];
  }
  void finish(unsigned tag) {
    for (auto &tags : pending)
      tags[tag] = 0;
  }

private:
  uint8_t pending[machine::clusters][machine::dmaTags] = {};
  uint8_t started[machine::clusters][machine::dmaTags] = {};
};

} // namespace furiosa::rngd

#endif // FURIOSA_LIB_TARGET_RNGD_TRANSLATE_KERNELTRANSLATION_H
