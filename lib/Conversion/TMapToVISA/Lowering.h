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

/// Makes the axes that `op` sums longer in visa where it takes that: the last
/// one, which packets are made of, is filled up to what the multiplier takes at
/// a time, and all of them to the parts of long sums.
void growSums(ContractOp op, llvm::MutableArrayRef<int64_t> sizes);
/// Fills up the parts of a sum where the engine cannot leave out what is
/// beyond.
void growSums(ReduceOp op, llvm::MutableArrayRef<int64_t> sizes);

/// Ways to run a contraction whose sums go through `pass` on their way to
/// memory: functions and casts of which they are the stream. The operands are
/// those of `op`, then the sides of the pass. An operand in `windows` is the
/// source of these, and the stream. Fails with an error at the op.
mlir::FailureOr<std::vector<Candidate>>
enumerateContraction(ContractOp op, std::optional<VectorPass> pass,
                     std::array<WindowOp, 2> windows, const Search &search);
/// Whether results of `op` can be narrowed by the cast engine on their way.
bool canNarrow(mlir::Operation *op, CastOp cast);

/// Ways to run casts and element-wise functions in one pass.
std::vector<Candidate> enumeratePass(const VectorPass &pass,
                                     const Search &search);

/// Ways to fold one axis of what `widen` widens on its way to the engine; the
/// results are narrowed by `narrow`. Both may be null. Fails with an error at
/// the op.
mlir::FailureOr<std::vector<Candidate>>
enumerateReduction(ReduceOp op, CastOp widen, CastOp narrow,
                   const Search &search);

/// Ways to write a tensor in another order, or along more axes.
std::vector<Candidate> enumerateMove(MoveOp op, const Search &search);

/// Whether the index of a gather has to count bytes: it is too long for a list
/// in data memory, or no whole words.
bool needsByteOffsets(GatherOp op);
/// Bytes from row to row of a table; nothing where rows do not follow each
/// other or are no whole bytes.
std::optional<int64_t> getRowBytes(GatherOp op);
/// Ways to gather rows; the index counts bytes if `needsByteOffsets`.
std::vector<Candidate> enumerateGather(GatherOp op, const Search &search);

/// Cells of the axis in visa along which the rows of `window` are brought
/// first, with zeros around them; 0 where windows can be cut from the source.
/// `isGrown` says that the axis of the rows is longer in visa.
int64_t getRowAxisSize(const WindowAxis &window, AxesAttr axes, bool isGrown);

/// Writes the windows of `source` into HBM, a copy for each tap. `rows` has the
/// number of the row axis for each window, or -1; `mayRename` says that nothing
/// else reads the source. An error at the op where its cells cannot be copied.
mlir::FailureOr<mlir::Value> emitWindows(Emitter &emitter, WindowOp op,
                                         mlir::Value source, bool mayRename,
                                         llvm::ArrayRef<int> rows);

} // namespace furiosa::tmap

#endif // FURIOSA_LIB_CONVERSION_TMAPTOVISA_LOWERING_H
