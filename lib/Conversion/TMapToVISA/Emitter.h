//===- Emitter.h - Writes visa ops ------------------------------*- C++ -*-===//

#ifndef FURIOSA_LIB_CONVERSION_TMAPTOVISA_EMITTER_H
#define FURIOSA_LIB_CONVERSION_TMAPTOVISA_EMITTER_H

#include "Layout.h"
#include "Residents.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace furiosa::tmap {

/// An operand or a result in data memory, and how it is brought there.
struct DmLayout {
  mlir::Type elementType;
  Place place;
  /// The cells in a slice, outermost first.
  TermList element;
  /// Axes that are longer in visa and summed: their last cells hold zeros.
  llvm::SmallVector<int> filled;
};

/// Writes the ops of one function of tensors.
class Emitter {
public:
  /// With `residents`, what data memory holds is not loaded again.
  Emitter(mlir::OpBuilder &builder, mlir::Location loc, const KernelAxes &axes,
          Residents *residents = nullptr)
      : builder(builder), loc(loc), axes(axes), residents(residents) {}

  mlir::Type hbmType(mlir::Type elementType, llvm::StringRef element) const;
  mlir::Type hbmType(MappedTensorType type) const;
  mlir::Type dmType(mlir::Type elementType, const Place &place,
                    llvm::StringRef element) const;
  mlir::Type trfType(mlir::Type elementType, const Place &place,
                     llvm::StringRef lane, llvm::StringRef element) const;
  mlir::Type vrfType(mlir::Type elementType, const Place &place,
                     llvm::StringRef element) const;

  /// Brings a tensor from HBM into data memory. With `staged`, an HBM tensor in
  /// the order of `staged` is made first: any order and any size can be read
  /// so, slowly.
  mlir::Value load(mlir::Value source, const DmLayout &layout,
                   std::optional<TermList> staged, int longAxis = -1);
  mlir::Value store(mlir::Value source, MappedTensorType type);
  /// `held`, of this block, has the cells of `tensor` in HBM as well.
  void hold(mlir::Value tensor, mlir::Value held,
            llvm::ArrayRef<int> filled = {});
  mlir::Value copy(mlir::Value source, mlir::Type hbmType);

  /// A tensor of `type` in HBM with the cells of `source`, whose tiles the
  /// transpose engine turns; null where a copy is as good.
  mlir::Value turn(mlir::Value source, mlir::Type type);

  /// Copies all of a tensor; along a long axis in a part of round size and the
  /// rest, since a transfer has few and short loops.
  void copyInto(mlir::Value source, mlir::Value target, int axis);

  /// The part of a tensor in HBM that step `at` of a loop sees; the tensor
  /// itself without a loop, or where it does not have the axis.
  mlir::Value step(mlir::Value tensor, const AxisLoop &loop, mlir::Value at,
                   mapping::Pad hole);

  /// The cells from `start` along `index` of a tensor in HBM, with `hole`
  /// around them; the tensor itself where these are all. Null where the index
  /// is none of the tensor's.
  mlir::Value part(mlir::Value tensor, llvm::StringRef index, int64_t start,
                   int64_t length, mapping::Pad hole);

  /// A buffer in data memory that is filled with zeros. The innermost term is
  /// whole flits of 32 bits.
  mlir::Value zeros(const DmLayout &layout);

  /// A tensor in HBM that is 0.
  mlir::Value hbmZeros(mlir::Type elementType,
                       llvm::ArrayRef<std::string> terms);

  /// A window of one cell along `index`.
  mlir::Value tile(mlir::Value source, mlir::Value at, llvm::StringRef index,
                   mlir::Type type);
  /// `body` for 0 … count - 1; once and without a loop for a count of 1.
  void forEach(int64_t count, llvm::function_ref<void(mlir::Value)> body);
  mlir::Value index(int64_t value);

  /// A chain; `stages` writes what is in it, with the methods below.
  mlir::Value chain(visa::Context context, mlir::Type result,
                    llvm::function_ref<void()> stages);
  void fetch(mlir::Value source, llvm::StringRef time, llvm::StringRef packet,
             mlir::ArrayAttr windows = {});
  void fetchCast(mlir::Type to);
  /// Exchanges packets between slices; `params` are slice1, slice0 and, for an
  /// inter_transpose, time0.
  void exchange(visa::SwitchConfig config, llvm::ArrayRef<int64_t> params,
                llvm::StringRef slice, llvm::StringRef time);
  void collect(llvm::StringRef time, llvm::StringRef packet);
  void toTrf(llvm::StringRef lane, llvm::StringRef element);
  void toVrf(llvm::StringRef element);
  void cast(mlir::Type to, llvm::StringRef packet);
  void commit(llvm::StringRef trimmed, llvm::StringRef element,
              mlir::Value into = {});

  mlir::OpBuilder &builder;
  const mlir::Location loc;
  const KernelAxes &axes;

private:
  MappingAttr mapping(llvm::StringRef text) const;
  mlir::Value loadAnew(mlir::Value source, const DmLayout &layout,
                       mlir::Type type, std::optional<TermList> staged,
                       int longAxis);

  Residents *residents;
};

} // namespace furiosa::tmap

#endif // FURIOSA_LIB_CONVERSION_TMAPTOVISA_EMITTER_H
