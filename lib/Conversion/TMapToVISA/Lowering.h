//===- Lowering.h - Functions of tensors as chains --------------*- C++ -*-===//
//
// Each gives the candidates of one op, or of several that one chain does.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_CONVERSION_TMAPTOVISA_LOWERING_H
#define FURIOSA_LIB_CONVERSION_TMAPTOVISA_LOWERING_H

#include "Fusion.h"
#include "Search.h"

namespace furiosa::tmap {

/// The size in visa of an axis that `op` sums, filled up to what the multiplier
/// takes at a time. `last` is the axis that packets are made of.
int64_t getGrownSize(ContractOp op, int64_t size, bool last);

/// Ways to run a contraction whose sums are narrowed by `cast`, if not null, on
/// their way to memory. Fails with an error at the op.
mlir::FailureOr<std::vector<Candidate>>
enumerateContraction(ContractOp op, CastOp cast, const Search &search);
/// Whether the sums can be narrowed to this type on the way.
bool canNarrow(ContractOp op, CastOp cast);

/// Ways to run casts and element-wise functions in one pass.
std::vector<Candidate> enumeratePass(const VectorPass &pass,
                                     const Search &search);

/// Ways to fold one axis.
std::vector<Candidate> enumerateReduction(ReduceOp op, const Search &search);

} // namespace furiosa::tmap

#endif // FURIOSA_LIB_CONVERSION_TMAPTOVISA_LOWERING_H
