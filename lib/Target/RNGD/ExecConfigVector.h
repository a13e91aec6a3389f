//===- ExecConfigVector.h - Parts of the vector decoder ---------*- C++ -*-===//

#ifndef FURIOSA_LIB_TARGET_RNGD_EXECCONFIGVECTOR_H
#define FURIOSA_LIB_TARGET_RNGD_EXECCONFIGVECTOR_H

#include "ImageReader.h"

namespace furiosa::rngd {

/// The guard of `prefix` + "_cmp_op", …; nothing where it is off.
llvm::Expected<std::optional<vector::Guard>> takeGuard(ImageReader &reader,
                                                       const llvm::Twine &name);

/// What stands around the chain of ALUs: the order of the units, valid counts,
/// groups of slices, the group that is kept, and the cast.
llvm::Error decodeRoute(const SfrImage &image, uint64_t flits,
                        VectorConfig &config, bool &usesArithmeticUnit);

/// The function of the reduction between slices, if there is one.
llvm::Error decodeReduceUnit(const SfrImage &image,
                             std::optional<SliceReduceConfig> &config);

} // namespace furiosa::rngd

#endif // FURIOSA_LIB_TARGET_RNGD_EXECCONFIGVECTOR_H
