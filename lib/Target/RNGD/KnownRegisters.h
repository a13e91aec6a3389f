//===- KnownRegisters.h - What straight-line code sets ----------*- C++ -*-===//

#ifndef FURIOSA_LIB_TARGET_RNGD_KNOWNREGISTERS_H
#define FURIOSA_LIB_TARGET_RNGD_KNOWNREGISTERS_H

#include "furiosa/Target/RNGD/EDF.h"

#include "llvm/ADT/bit.h"

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

/// A command with the operands that are known.
struct IssuedCommand {
  TucCommand command;
  /// Whether all operands are.
  bool allKnown = true;
  /// Contents of registers that are none for the command.
  std::vector<std::string> faults = {};

  /// The command that an Issue gives to the first PE of its mask.
  static llvm::Expected<IssuedCommand> decode(const Instruction &issue,
                                              const KnownRegisters &registers) {
    llvm::Expected<TucCommand> command = TucCommand::decode(issue.word);
    if (!command)
      return command.takeError();
    unsigned pe = llvm::countr_zero(unsigned(issue.peMask));
    IssuedCommand result{*command};
    for (unsigned i = 0; i < command->numOperands(); ++i) {
      std::optional<uint64_t> value =
          registers.get(pe, command->registerIndex(i));
      Fault fault;
      if (value)
        fault = result.command.setOperand(i, *value);
      if (fault)
        result.faults.push_back(*fault);
      result.allKnown &= value && !fault;
    }
    return result;
  }
  /// Of an mtosfr whose operands are known, if there is a register.
  std::optional<SfrLocation> sfrLocation() const {
    if (!allKnown || command.op() != TucOp::MtoSfr)
      return std::nullopt;
    return findSfr(static_cast<uint32_t>(*command.get("sfr_address")));
  }
};

} // namespace furiosa::rngd::edf

#endif // FURIOSA_LIB_TARGET_RNGD_KNOWNREGISTERS_H
