//===- Residents.h - What stays in data memory ------------------*- C++ -*-===//
//
// Tensors in HBM whose cells data memory holds as well, so that an op that
// wants them in that very layout reads them there.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_CONVERSION_TMAPTOVISA_RESIDENTS_H
#define FURIOSA_LIB_CONVERSION_TMAPTOVISA_RESIDENTS_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace furiosa::tmap {

class Residents {
public:
  struct Entry {
    mlir::Value held;
    /// Axes behind whose cells zeros lie.
    llvm::SmallVector<int> filled;
  };

  /// What data memory holds of `from` it holds of `to`.
  void rename(mlir::Value from, mlir::Value to);
  void add(mlir::Value tensor, mlir::Value held, llvm::ArrayRef<int> filled);
  /// `tensor` in data memory with the mappings of `type` and zeros behind the
  /// cells of `filled`, or null. Counts what it finds.
  mlir::Value find(mlir::Value tensor, mlir::Type type,
                   llvm::ArrayRef<int> filled);
  llvm::ArrayRef<Entry> of(mlir::Value tensor) const;
  unsigned getHits() const { return hits; }
  void clear() { *this = Residents(); }

private:
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Entry, 2>> entries;
  unsigned hits = 0;
};

/// Erases transfers and chains of `block` whose results nothing reads; the
/// placement at a store goes to the chain that made what it stored.
void eraseUnread(mlir::Block &block);

} // namespace furiosa::tmap

#endif // FURIOSA_LIB_CONVERSION_TMAPTOVISA_RESIDENTS_H
