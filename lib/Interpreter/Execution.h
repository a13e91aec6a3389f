//===- Execution.h - State of a running kernel ------------------*- C++ -*-===//
//
// What the interpreter's models of ops work on.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_INTERPRETER_EXECUTION_H
#define FURIOSA_LIB_INTERPRETER_EXECUTION_H

#include "IndexedArray.h"
#include "furiosa/Dialect/VISA/IR/VISA.h"
#include "furiosa/Interpreter/Interpreter.h"

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/APInt.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <memory>
#include <variant>

namespace furiosa::interpreter {
class ChainExecution;
class KernelExecution;
} // namespace furiosa::interpreter

#include "furiosa/Interpreter/OpInterfaces.h.inc"

namespace furiosa::interpreter {

/// What a tensor handle stands on.
struct Buffer {
  IndexedArray array;
  /// Type of the buffer as a whole.
  mlir::Type type;
};

/// A handle: the buffer, and where the coordinates of the view begin in it,
/// per declared axis.
struct Tensor {
  std::shared_ptr<Buffer> buffer;
  std::vector<int64_t> shift;
};

/// An integer or index (64 bits), or a tensor.
using RuntimeValue = std::variant<llvm::APInt, Tensor>;

/// Declared axes and their sizes.
struct AxisTable {
  std::vector<HostAxis> axes;
  std::vector<int64_t> sizes;
};

/// The terms of a tensor type.
struct TensorTerms {
  /// Chip and cluster.
  Terms place;
  Terms slice, lane, element;

  Terms spatial() const { return join(place, slice); }
  Terms all() const { return join(join(spatial(), lane), element); }
};

/// A kernel that runs.
class KernelExecution {
public:
  explicit KernelExecution(const Limits &limits) : limits(limits) {}

  /// Counts one instruction; an error at `op` where it is one too many, or the
  /// steps so far are.
  mlir::LogicalResult count(mlir::Operation *op);
  /// Counts what an instruction does; the next one finds that it is too much.
  void addSteps(uint64_t more) { steps = llvm::SaturatingAdd(steps, more); }

  void bind(mlir::Value value, RuntimeValue content) {
    values[value] = std::move(content);
  }
  /// Binds `value` to a new buffer.
  void bindBuffer(mlir::Value value, IndexedArray array);
  RuntimeValue &get(mlir::Value value);
  const llvm::APInt &getInteger(mlir::Value value);
  Tensor &getTensor(mlir::Value value);

  /// Runs all ops of a block but its terminator.
  mlir::LogicalResult runBlock(mlir::Block &block);

  const AxisTable &getAxes(tmap::AxesAttr axes);
  const AxisTable &getAxes(mlir::Type tensor);
  /// The terms of a mapping; they live as long as the execution. Faults are
  /// reported at `op`.
  mlir::FailureOr<Terms> getTerms(mlir::Operation *op, tmap::AxesAttr axes,
                                  llvm::StringRef text);
  mlir::FailureOr<TensorTerms> getTerms(mlir::Operation *op, mlir::Type tensor);

  /// The box around all live cells of a tensor type.
  mlir::FailureOr<Box> makeBox(mlir::Operation *op, mlir::Type tensor);

private:
  Limits limits;
  uint64_t instructions = 0, steps = 0;
  llvm::DenseMap<mlir::Value, RuntimeValue> values;
  std::map<const void *, AxisTable> axisTables;
  /// Looked up only, never walked.
  std::map<std::pair<const void *, std::string>, std::vector<TermCells>>
      termTables;
};

/// The contraction that is open between contract_outer and contract_time.
struct OpenContraction {
  IndexedArray stream, weight;
  Terms lane, outerTime, packet, columns;
};

/// The vector engine between vector_init and vector_final.
struct OpenVector {
  /// Execution ids by index; all 0 where there are none.
  std::optional<IndexedArray> ids;
  std::optional<IndexedArray> stash;
  /// Axis of the groups in pair mode, or -1.
  int pairAxis = -1;
};

/// A chain that runs: the stream between two stages.
class ChainExecution {
public:
  ChainExecution(KernelExecution &kernel, visa::ChainOp chain)
      : kernel(kernel), chain(chain) {}

  mlir::LogicalResult run();

  KernelExecution &getKernel() { return kernel; }
  llvm::ArrayRef<int64_t> axisSizes() {
    return kernel.getAxes(chain.getAxes()).sizes;
  }
  mlir::FailureOr<Terms> getTerms(mlir::Operation *op, llvm::StringRef text) {
    return kernel.getTerms(op, chain.getAxes(), text);
  }
  Terms spatial() const { return join(place, slice); }
  /// The same function of the index, on the live cells of the terms.
  mlir::LogicalResult restrict(mlir::Operation *op, const Terms &terms);
  /// Goes on with new mappings of time and packet.
  mlir::LogicalResult moveOn(mlir::Operation *op, mlir::FailureOr<Terms> time,
                             mlir::FailureOr<Terms> packet);

  /// The stream as a function of the logical index.
  IndexedArray stream;
  /// Chip and cluster; slice, time and packet.
  Terms place, slice, time, packet;
  std::optional<OpenContraction> contraction;
  OpenVector vector;

private:
  KernelExecution &kernel;
  visa::ChainOp chain;
};

/// The parts of a tensor type; a tensor without a tier counts as one of one
/// chip.
visa::TensorParts getParts(mlir::Type tensor);

/// Reports an error of a plain library at `op`.
mlir::LogicalResult report(mlir::Operation *op, llvm::Error error);

/// Moves the value of an Expected into `target`, or reports the error.
template <typename T>
mlir::LogicalResult take(mlir::Operation *op, llvm::Expected<T> value,
                         T &target) {
  if (!value)
    return report(op, value.takeError());
  target = std::move(*value);
  return mlir::success();
}

/// Writes the live cells of a view of type `type` from a function of the index.
mlir::LogicalResult writeTensor(mlir::Operation *op, Tensor &target,
                                mlir::Type type, const IndexedArray &content,
                                KernelExecution &execution);

/// A model of one op as a plain function.
template <typename OpT, mlir::LogicalResult (*function)(OpT, ChainExecution &)>
struct StageModel
    : StageInterpreter::ExternalModel<StageModel<OpT, function>, OpT> {
  mlir::LogicalResult interpretStage(mlir::Operation *op,
                                     ChainExecution &execution) const {
    return function(mlir::cast<OpT>(op), execution);
  }
};
template <typename OpT, mlir::LogicalResult (*function)(OpT, KernelExecution &)>
struct KernelOpModel
    : KernelOpInterpreter::ExternalModel<KernelOpModel<OpT, function>, OpT> {
  mlir::LogicalResult interpretOp(mlir::Operation *op,
                                  KernelExecution &execution) const {
    return function(mlir::cast<OpT>(op), execution);
  }
};

/// Each attaches the models of one file.
void registerStageModels(mlir::DialectRegistry &registry);
void registerVectorModels(mlir::DialectRegistry &registry);
void registerMovementModels(mlir::DialectRegistry &registry);
void registerControlModels(mlir::DialectRegistry &registry);
void registerTensorModels(mlir::DialectRegistry &registry);

} // namespace furiosa::interpreter

#endif // FURIOSA_LIB_INTERPRETER_EXECUTION_H
