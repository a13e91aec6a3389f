//===- KnownRegisters.h - What straight-line code sets ----------*- C++ -*-===//

#ifndef FURIOSA_LIB_TARGET_RNGD_KNOWNREGISTERS_H
#define FURIOSA_LIB_TARGET_RNGD_KNOWNREGISTERS_H

#include "furiosa/Target/RNGD/EDF.h"

#include <array>
#include <optional>

namespace furiosa::rngd::edf {

/// General registers of the PEs as far as straight-line code sets them.
class KnownRegisters {
public:
  /// Takes the next instruction of the program.
  void follow(const Instruction &inst) {
    switch (inst.opcode) {
    case Opcode::Set:
      for (unsigned pe = 0; pe < machine::pesPerCluster; ++pe)
        if (inst.peMask >> pe & 1)
          values[pe][inst.reg] = inst.imm;
      break;
    case Opcode::Loop:
    case Opcode::EndLoop:
    case Opcode::If:
    case Opcode::Else:
    case Opcode::EndIf:
      // From here on values may depend on the way that was taken.
      values = {};
      break;
    case Opcode::End:
    case Opcode::Issue:
    case Opcode::Add:
    case Opcode::Barrier:
      break;
    }
  }
  std::optional<uint64_t> get(unsigned pe, unsigned reg) const {
    return values[pe][reg];
  }

private:
  std::array<std::array<std::optional<uint64_t>, machine::tucGeneralRegisters>,
             machine::pesPerCluster>
      values = {};
};

} // namespace furiosa::rngd::edf

#endif // FURIOSA_LIB_TARGET_RNGD_KNOWNREGISTERS_H
