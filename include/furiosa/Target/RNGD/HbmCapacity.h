//===- HbmCapacity.h - What operands may take of HBM ------------*- C++ -*-===//

#ifndef FURIOSA_TARGET_RNGD_HBMCAPACITY_H
#define FURIOSA_TARGET_RNGD_HBMCAPACITY_H

#include "furiosa/Target/RNGD/Machine.h"

namespace furiosa::rngd::machine {

/// Bytes of HBM behind what is reserved at its beginning: all that operands of
/// a kernel, scratch among them, can take together.
inline constexpr uint64_t hbmOperandBytes = hbmBytes - hbmReservedBytes;

} // namespace furiosa::rngd::machine

#endif // FURIOSA_TARGET_RNGD_HBMCAPACITY_H
