//===- StageHelpers.h - What the checks of several stages share -*- C++ -*-===//

#ifndef FURIOSA_LIB_DIALECT_VISA_IR_STAGEHELPERS_H
#define FURIOSA_LIB_DIALECT_VISA_IR_STAGEHELPERS_H

#include "furiosa/Dialect/TensorMapping/Algebra/Explain.h"
#include "furiosa/Dialect/VISA/IR/KernelCheck.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/Support/CheckedArithmetic.h"

namespace furiosa::visa {

/// MM-6, MM-7: a sequencer has eight loops of at most 65,536 steps. A note shows
/// where the loops over `memory` come from.
inline bool checkSequencerLimits(StageChecker &checker,
                                 const mapping::Mapping &memory,
                                 const mapping::Sequence &sequence,
                                 llvm::StringRef clause) {
  std::optional<mapping::Fault> limit = mapping::checkSequencerLimits(sequence);
  if (!limit)
    return true;
  bool tooMany = sequence.time.size() + sequence.packet.size() >
                 rngd::machine::sequencerEntries;
  checker.report(*limit, clause, tooMany ? "MM-6" : "MM-7").attachNote()
      << "the loops over \"" << memory.str() << "\":\n"
      << llvm::StringRef(mapping::explainSequence(memory, sequence)).rtrim();
  return false;
}

/// The parts of a stored tensor that follow from the stream; lane and element
/// are the stage's own.
inline TensorParts getStoredParts(StageChecker &checker, const Layout &layout) {
  tmap::AxesAttr axes = checker.getChain().getAxes();
  TensorParts parts;
  parts.elementType =
      getMLIRType(checker.getOperation()->getContext(), layout.type);
  parts.axes = axes;
  parts.chip = tmap::MappingAttr::get(layout.chip, axes);
  parts.cluster = tmap::MappingAttr::get(layout.cluster, axes);
  parts.slice = tmap::MappingAttr::get(layout.slice, axes);
  return parts;
}

/// TU-38, VE-66: a register file operand lies over the chain's axes and in the
/// slices of the stream. False if the axes differ: nothing else can be
/// compared.
inline bool checkOperandPlace(StageChecker &checker, llvm::StringRef rule,
                              llvm::StringRef what, mlir::Value operand,
                              const Layout &layout) {
  TensorParts parts = getTensorParts(operand.getType());
  if (parts.axes != checker.getChain().getAxes()) {
    checker.fault(rule) << "the " << what << " is over axes " << parts.axes
                        << ", the chain over " << checker.getChain().getAxes();
    return false;
  }
  auto compare = [&](llvm::StringRef name, tmap::MappingAttr found,
                     const mapping::Mapping &expected) {
    if (mapping::same(found.getMapping(), expected))
      return;
    mlir::InFlightDiagnostic diag = checker.fault(rule);
    diag << name << " of the " << what << " does not match the stream: found \""
         << found.getText() << "\", expected \"" << expected.str() << "\"";
    diag.attachNote(operand.getLoc()) << what << " is loaded here";
  };
  compare("chip", parts.chip, layout.chip);
  compare("cluster", parts.cluster, layout.cluster);
  compare("slice", parts.slice, layout.slice);
  return true;
}

} // namespace furiosa::visa

#endif // FURIOSA_LIB_DIALECT_VISA_IR_STAGEHELPERS_H
