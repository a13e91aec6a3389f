//===- VectorOps.h - What the vector engine computes ------------*- C++ -*-===//
//
// ALUs, operations and execution ids of the vector engine on 32-bit patterns,
// bit for bit. Interpreter and simulator share it, as they share the number
// formats.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_SUPPORT_VECTOROPS_H
#define FURIOSA_SUPPORT_VECTOROPS_H

#include "furiosa/Support/NumberFormats.h"

namespace furiosa::vector {

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// A function of one to three 32-bit patterns. Integers are two's complement,
/// floats f32. Rounding of the last nine is not public and *assumed*.
enum class Function : uint8_t {
  And,
  Or,
  Xor,
  Shl,
  ShlSat,
  Shr,
  Sar,
  AddI32,
  AddSatI32,
  SubI32,
  SubSatI32,
  MulI32,
  MulFxp,
  MaxI32,
  MinI32,
  AbsMaxI32,
  AbsMinI32,
  AddF32,
  SubF32,
  MulF32,
  FmaF32,
  DivF32,
  MaxF32,
  MinF32,
  AbsMaxF32,
  AbsMinF32,
  Exp,
  NegExp,
  Sqrt,
  Tanh,
  Sigmoid,
  Erf,
  Ln,
  Sin,
  Cos,
};

/// The function's result; nothing where none is defined: a shift amount outside
/// 0 to 31, the magnitude of -2^31. A float result that is NaN is 0x7FC00000.
///
/// - ShlSat multiplies by 2^b formed in 32 bits: -2^31 for b = 31.
/// - MulFxp rounds half up (toward +infinity) at bit 31.
/// - MaxF32, MinF32 drop a NaN whose partner is a number; -0 lies below +0
///   (assumed). The magnitude forms give b on a tie or a NaN.
/// - AddF32 to DivF32 and Sqrt are IEEE-754, nearest even, with subnormals.
/// - The other float functions give the f32 that is nearest to their value in
///   f64, which is off by less than 2^-40 of it (assumed).
std::optional<uint32_t> apply(Function function, uint32_t a, uint32_t b = 0,
                              uint32_t c = 0);

//===----------------------------------------------------------------------===//
// ALUs and operations
//===----------------------------------------------------------------------===//

/// A stage of the engine that has ALUs.
enum class Cluster : uint8_t { Logic, Fxp, Fp, FpDiv, Clip };
/// "logic", "fxp", "fp", "fp_div", "clip".
llvm::StringRef toString(Cluster cluster);
/// Elements of a flit that a cluster takes at a time: 4 in Fp and FpDiv.
inline unsigned ways(Cluster cluster) {
  return cluster == Cluster::Fp || cluster == Cluster::FpDiv ? 4 : 8;
}

/// In the order of the register map.
enum class Alu : uint8_t {
#define FURIOSA_VECTOR_ALU(NAME, TEXT, CLUSTER) NAME,
#include "furiosa/Support/VectorOps.def"
};
/// "fxp_add".
llvm::StringRef toString(Alu alu);
Cluster clusterOf(Alu alu);
/// The ALUs of a cluster in register order.
llvm::ArrayRef<Alu> alusOf(Cluster cluster);

/// Scalars that an operation takes.
enum class Scalar : uint8_t { I32, F32, Any };

/// A row of the table of operations.
struct Operation {
  Alu alu;
  /// In a stage, "mul0"; and as a code of the ALU's registers, "mul".
  llvm::StringLiteral name;
  llvm::StringLiteral code;
  Scalar scalar;
  /// 1: the stream alone; 2: with one operand; 3: with two.
  unsigned arity;
  Function function;

  bool takes(ElementType type) const {
    return scalar == Scalar::Any ||
           (scalar == Scalar::I32) == (type == ElementType::I32);
  }
};

llvm::ArrayRef<Operation> operations();
/// The operation of a stage on a stream of i32 or f32, or null.
const Operation *findOperation(Cluster cluster, llvm::StringRef name,
                               ElementType type);
/// The operation of an ALU with this code, or null.
const Operation *findCode(Alu alu, llvm::StringRef code);

/// Where the arguments of an operation come from: a digit each, 0 the stream,
/// 1 the operand, 2 the secondary scalar ("01", "012").
bool isMode(llvm::StringRef mode, unsigned arity);
/// "01" or "012"; empty for one argument.
llvm::StringRef defaultMode(unsigned arity);
/// The function on arguments that the mode picks.
inline std::optional<uint32_t> apply(const Operation &operation,
                                     llvm::StringRef mode, uint32_t stream,
                                     uint32_t operand, uint32_t secondary) {
  uint32_t sources[] = {stream, operand, secondary};
  uint32_t arguments[3] = {stream, 0, 0};
  for (size_t i = 0; i < mode.size(); ++i)
    arguments[i] = sources[mode[i] - '0'];
  return apply(operation.function, arguments[0], arguments[1], arguments[2]);
}

//===----------------------------------------------------------------------===//
// Execution ids and guards
//===----------------------------------------------------------------------===//

/// How one bit of an execution id is made.
enum class Comparison : uint8_t {
  Equal,
  Less,
  Greater,
  LessUnsigned,
  GreaterUnsigned,
  True,
  False,
};
inline constexpr unsigned numComparisons = 7;
/// "less_unsigned".
llvm::StringRef toString(Comparison comparison);
std::optional<Comparison> parseComparison(llvm::StringRef name);
/// Whether the comparison has a boundary.
inline bool hasBoundary(Comparison comparison) {
  return comparison < Comparison::True;
}
/// Signed or IEEE by `type`; the unsigned forms compare patterns. A NaN
/// satisfies none, -0 equals +0.
bool compare(Comparison comparison, ElementType type, uint32_t value,
             uint32_t boundary);

/// Which execution ids (four bits) a slot applies to: those that agree with
/// `id` on the bits of `mask`, or with `negated` those that do not.
struct Guard {
  uint8_t id = 0;
  uint8_t mask = 0;
  bool negated = false;

  bool admits(unsigned executionId) const {
    return (((executionId ^ id) & mask) == 0) != negated;
  }
  bool isAlways() const { return mask == 0 && !negated; }
  bool isNever() const { return mask == 0 && negated; }
  /// Constrains bit 3, the group, alone.
  bool isGroup() const { return mask == 8; }
  /// "1--0", bit 0 first, with "!" in front where negated.
  std::string str() const;
  static std::optional<Guard> parse(llvm::StringRef text);
  bool operator==(const Guard &) const = default;
};

/// Bit that unzip sets in the ids of group 1.
inline constexpr unsigned groupBit = 8;

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// A function that a reduction folds with: its name in a stage, its code, and
/// the value that changes nothing.
struct Reduction {
  llvm::StringLiteral name;
  /// Of the reduce unit between slices: "add", "max", "min", "mul".
  llvm::StringLiteral unit;
  llvm::StringLiteral code;
  ElementType type;
  Function function;
  uint32_t identity;
};
/// Inside a slice: add_sat, max, min on i32; add, max, min on f32.
const Reduction *findIntraSlice(llvm::StringRef name, ElementType type);
/// Between slices: add, add_sat, max, min on i32; add, mul, max, min on f32.
const Reduction *findInterSlice(llvm::StringRef name, ElementType type);
llvm::ArrayRef<Reduction> intraSliceReductions();
llvm::ArrayRef<Reduction> interSliceReductions();

} // namespace furiosa::vector

#endif // FURIOSA_SUPPORT_VECTOROPS_H
