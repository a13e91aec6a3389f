//===- StageHelpers.h - What the checks of several stages share -*- C++ -*-===//

#ifndef FURIOSA_LIB_DIALECT_VISA_IR_STAGEHELPERS_H
#define FURIOSA_LIB_DIALECT_VISA_IR_STAGEHELPERS_H

#include "furiosa/Dialect/VISA/IR/KernelCheck.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/Support/CheckedArithmetic.h"

namespace furiosa::visa {

/// MM-6, MM-7: a sequencer has eight loops of at most 65,536 steps.
inline bool checkSequencerLimits(StageChecker &checker,
                                 const mapping::Sequence &sequence,
                                 llvm::StringRef clause) {
  size_t entries = sequence.time.size() + sequence.packet.size();
  if (entries > rngd::machine::sequencerEntries) {
    checker.fault("MM-6", clause)
        << "the order of access needs " << entries << " loops, a sequencer has "
        << rngd::machine::sequencerEntries;
    return false;
  }
  for (auto list : {llvm::ArrayRef<mapping::Entry>(sequence.time),
                    llvm::ArrayRef<mapping::Entry>(sequence.packet)})
    for (const mapping::Entry &entry : list)
      if (entry.size > int64_t(rngd::machine::sequencerEntryLimit)) {
        checker.fault("MM-7", clause)
            << "one loop of " << entry.size << " steps, the limit is "
            << rngd::machine::sequencerEntryLimit;
        return false;
      }
  return true;
}

/// The attribute of a mapping over `axes`.
inline tmap::MappingAttr getMappingAttr(const mapping::Mapping &mapping,
                                        tmap::AxesAttr axes) {
  auto attr = tmap::MappingAttr::parseText(mapping.str(), axes);
  assert(attr && "a mapping's own text parses");
  return attr ? *attr : tmap::MappingAttr();
}

} // namespace furiosa::visa

#endif // FURIOSA_LIB_DIALECT_VISA_IR_STAGEHELPERS_H
