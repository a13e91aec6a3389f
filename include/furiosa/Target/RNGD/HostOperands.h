//===- HostOperands.h - Operands of a binary as arrays ----------*- C++ -*-===//
//
// What a host needs to know of the operands of a kernel binary: in which order
// it meets them, and how their cells lie in HBM.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_TARGET_RNGD_HOSTOPERANDS_H
#define FURIOSA_TARGET_RNGD_HOSTOPERANDS_H

#include "furiosa/HostArrays/HostArray.h"
#include "furiosa/Target/RNGD/EDF.h"

namespace furiosa::rngd {

/// The layout of an operand that is no scratch. The error names the operand
/// and what is wrong with its mapping, or that it has other bytes.
llvm::Expected<OperandLayout> getLayout(const edf::Operand &operand);

} // namespace furiosa::rngd

#endif // FURIOSA_TARGET_RNGD_HOSTOPERANDS_H
