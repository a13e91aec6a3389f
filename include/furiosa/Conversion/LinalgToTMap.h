//===- LinalgToTMap.h - Functions of upstream tensors -----------*- C++ -*-===//

#ifndef FURIOSA_CONVERSION_LINALGTOTMAP_H
#define FURIOSA_CONVERSION_LINALGTOTMAP_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace furiosa {

/// The dialects that `convert-linalg-to-tmap` reads: linalg, math, tensor.
void registerLinalgDialects(mlir::DialectRegistry &registry);

} // namespace furiosa

#endif // FURIOSA_CONVERSION_LINALGTOTMAP_H
