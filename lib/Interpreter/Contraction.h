//===- Contraction.h - Sums of products by index ----------------*- C++ -*-===//

#ifndef FURIOSA_LIB_INTERPRETER_CONTRACTION_H
#define FURIOSA_LIB_INTERPRETER_CONTRACTION_H

#include "IndexedArray.h"

namespace furiosa::interpreter {

/// A contraction from contract_outer to contract_time.
struct Contraction {
  /// Both operands as functions of the index of (spatial, outer time, packet),
  /// the weight of the lane as well; read without clipping.
  const IndexedArray &stream, &weight;
  Terms spatial, lane;
  Terms outerTime, packet;
  /// What is left of packet and of time.
  Terms columns, keptTime;
};

/// The sums, as a function of the index of (spatial, lane, keptTime, columns):
/// i32, wrapping, for integer operands, else f32. Products of one packet are
/// added neighbour by neighbour, level by level; then the packets in the order
/// of outer time, from +0. A sum with an undefined operand is undefined.
llvm::Expected<IndexedArray> contract(const Contraction &contraction,
                                      llvm::ArrayRef<int64_t> axisSizes);

} // namespace furiosa::interpreter

#endif // FURIOSA_LIB_INTERPRETER_CONTRACTION_H
