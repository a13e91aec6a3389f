//===- KernelCheck.h - The whole-kernel check -------------------*- C++ -*-===//
//
// What flows between the stages of a chain, and the check that walks a kernel:
// it goes on from the expected layout after a fault, and so reports several
// faults in one run.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_VISA_IR_KERNELCHECK_H
#define FURIOSA_DIALECT_VISA_IR_KERNELCHECK_H

#include "furiosa/Dialect/VISA/IR/VISA.h"
#include "furiosa/Dialect/VISA/IR/VectorState.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

namespace furiosa::visa {

/// Where a stream stands: the stage it has just left.
enum class Point {
  Begin,
  Fetch,
  TableLookup,
  FetchCast,
  ZeroPointSub,
  Switch,
  Collect,
  ContractOuter,
  ContractPacket,
  ContractTime,
  Contraction,
  VectorInit,
  Vector,
  VectorFinal,
  Cast,
  Transpose,
  CommitTrim,
  CommitCast,
  End,
};

/// "fetch", "contract_outer", …: how a user names the point.
llvm::StringRef toString(Point point);

/// A run of digits of the time positions of a contraction, kept or summed.
struct TimeSegment {
  int64_t size;
  /// Time positions that one step of the run moves.
  int64_t stride;
  bool retained;
};

/// What a switch does, in numbers.
struct SwitchShape {
  /// Parts of the slices and of time of a named configuration.
  int64_t slice2 = 1, slice1 = 1, slice0 = 1, time0 = 1;
  /// Custom: loops over the slices that receive, and over the packets that each
  /// gets in a row, outermost first; strides count slices that send.
  llvm::SmallVector<mapping::Entry, 0> slices;
  llvm::SmallVector<mapping::Entry, 0> packets;
};

/// The stream between two stages.
struct Layout {
  Point point = Point::Begin;
  Context context = Context::Main;
  /// Type of one element.
  ElementType type = ElementType::I32;
  /// In a contraction: the wire type whose bytes fill the packet.
  ElementType storage = ElementType::I32;
  mapping::Mapping chip, cluster, slice, time, packet;
  /// In a contraction: the lanes of the weight.
  mapping::Mapping lane;
  /// In a contraction: time and packet behind contract_outer.
  mapping::Mapping outerTime, outerPacket;
  /// In a contraction: how often each packet is sent.
  int64_t timeBroadcast = 1;
  /// In a contraction: flits that make a packet.
  int64_t flitsPerPacket = 1;
  /// Behind a switch.
  SwitchShape switched;
  /// Behind a transpose: rows of a batch, flits of a row, and flits that leave.
  int64_t transposeRows = 1, transposeFlits = 1, transposeOut = 1;
  /// Levels of the reduction tree.
  int64_t treeDepth = 0;
  /// Behind contract_time: outerTime cut into kept and summed runs, outermost
  /// first; their sizes multiply to |outerTime|.
  llvm::SmallVector<TimeSegment> timeSegments;
  /// In a contraction: sums that are open at a time (InnerTime of TU-60).
  int64_t innerTime = 1;
  /// From vector_init to vector_final.
  VectorState vector;
  /// A fault left the stream unknown: what depends on it is not reported.
  bool unknown = false;
  /// Ops that decided the stream, for notes; null where there was none.
  mlir::Operation *fetch = nullptr;
  mlir::Operation *fetchCast = nullptr;

  /// Bytes of a packet on the wire, or nothing where they are not whole.
  std::optional<int64_t> packetBytes() const;
  /// Time of the flits that flow: behind vector_zip, of both groups.
  const mapping::Mapping &flowTime() const {
    return vector.zip ? vector.pairTime : time;
  }
};

/// Elements of `type` in a flit of 32 bytes.
int64_t elementsPerFlit(ElementType type);

/// A stage with the stream in front of it and behind it.
struct StageRecord {
  mlir::Operation *op;
  Layout before;
  Layout after;
};

/// A stage within its chain.
struct ChainStage {
  /// All stages of the chain.
  llvm::ArrayRef<StageRecord> records;
  /// Which of them it is.
  size_t index = 0;

  const Layout &before() const { return records[index].before; }
  const Layout &after() const { return records[index].after; }
  /// The first stage of kind `Op` in the chain, or null.
  template <typename Op>
  const StageRecord *find() const {
    for (const StageRecord &record : records)
      if (mlir::isa<Op>(record.op))
        return &record;
    return nullptr;
  }
};

/// Reports faults at an op. The location of a fault in a clause names the
/// clause and the column in its text (`time@7`).
class FaultReporter {
public:
  explicit FaultReporter(mlir::Operation *op) : op(op) {}

  /// An error "RULE: …" of the op; `column` counts from 1 in the clause's text.
  mlir::InFlightDiagnostic
  fault(llvm::StringRef rule, llvm::StringRef clause = {}, int64_t column = 1);
  /// An error "not yet supported: …".
  mlir::InFlightDiagnostic notYetSupported(llvm::StringRef clause = {});
  /// "RULE: what: found …, expected …; write clause …", at the first term of
  /// `found` that differs.
  mlir::InFlightDiagnostic mismatch(llvm::StringRef rule,
                                    llvm::StringRef clause,
                                    const llvm::Twine &what,
                                    const mapping::Mapping &found,
                                    const mapping::Mapping &expected);
  /// Reports a fault of a derivation, as not yet supported if that is its
  /// reason; `rule` stands in front of its own where given.
  mlir::InFlightDiagnostic report(const mapping::Fault &fault,
                                  llvm::StringRef clause,
                                  llvm::StringRef rule = {});

  bool failed() const { return numFaults != 0; }
  mlir::Operation *getOperation() const { return op; }

protected:
  mlir::Location clauseLoc(llvm::StringRef clause, int64_t column) const;
  mlir::Operation *op;
  unsigned numFaults = 0;
};

/// The check of one stage.
class StageChecker : public FaultReporter {
public:
  StageChecker(mlir::Operation *op, ChainOp chain, KernelChecker &kernel)
      : FaultReporter(op), chain(chain), kernel(kernel) {}

  /// The mapping of a clause over the chain's axes; reports what is wrong.
  std::optional<mapping::Mapping> parse(llvm::StringRef clause,
                                        mlir::StringAttr text);
  /// Reports what is wrong with the mappings of the stage on their own.
  void parseClauses();
  /// Checks that a stage may stand behind `layout.point`; moves it on.
  bool enter(Layout &layout, Point point);
  /// Compares the chain's result type with what the last stage stores.
  void checkResult(const TensorParts &expected);

  ChainOp getChain() { return chain; }
  KernelChecker &getKernel() { return kernel; }

private:
  ChainOp chain;
  KernelChecker &kernel;
};

/// The check of a kernel.
class KernelChecker {
public:
  explicit KernelChecker(mlir::Operation *root);

  /// Checks all ops of `block` and below; true if no fault was found.
  bool checkBlock(mlir::Block &block);
  /// Checks a chain and appends its stages to `records`.
  bool checkChain(ChainOp chain, std::vector<StageRecord> &records);
  /// Device grid, capacity and padding rules of a tier type at `op`.
  bool checkTensorType(mlir::Operation *op, mlir::Type type);

  /// The mapping that a clause of the kernel spells over `axes`.
  mapping::Result<mapping::Mapping> parse(mlir::StringAttr text,
                                          tmap::AxesAttr axes);

  void noteFault() { ++numFaults; }
  bool failed() const { return numFaults != 0; }
  TargetAttr getTarget() const { return target; }

private:
  /// Tensors are used by visa ops, and given to helpers that are inlined.
  void checkTensorUse(mlir::Operation *op);

  TargetAttr target;
  unsigned numFaults = 0;
  /// What clauses read as. It goes with the check: most of it stands in one
  /// kernel alone.
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Attribute>, mapping::Mapping>
      readings;
};

/// Checks a kernel function, its types, ops and chains, with what it calls.
mlir::LogicalResult checkKernel(mlir::FunctionOpInterface kernel);

/// Makes verification leave out checkKernel() in all contexts of the registry:
/// who verifies calls checkKernels() as well.
void deferKernelChecks(mlir::DialectRegistry &registry);

/// Whether deferKernelChecks() was called for the registry of the dialect.
bool areKernelChecksDeferred(VISADialect *dialect);

/// Checks the kernels below `root`, which is verified but for them, side by side
/// and runs `meanwhile` on this thread.
mlir::LogicalResult checkKernels(mlir::Operation *root,
                                 llvm::function_ref<void()> meanwhile);

/// A copy of a kernel in which the bodies of the helpers stand for their calls;
/// null if it calls nothing. A call that cannot be inlined (of a declaration,
/// of itself, of several blocks) stays. Fails with diagnostics where an op of a
/// helper is not well formed.
mlir::FailureOr<mlir::OwningOpRef<mlir::Operation *>>
inlineIntoCopy(mlir::FunctionOpInterface kernel);

/// An argument that is a number has a range, so that the host may give it when
/// the kernel is loaded.
void checkNumber(mlir::BlockArgument argument, FaultReporter &reporter);

/// Reports tensors of `root` outside of kernels, once for each function. Those of
/// private functions are left out where these may still be inlined.
mlir::LogicalResult checkOutsideKernels(mlir::Operation *root, bool mayInline);

/// Warns of what the rules allow in a checked kernel and its helpers, but
/// behind which devices were seen to hang or to read stale data (W-1, W-2).
/// Says nothing where strict checks refuse it.
void emitWarnings(mlir::FunctionOpInterface kernel);

/// Makes the check of kernels refuse what emitWarnings() warns of, in all
/// contexts of the registry.
void makeStrict(mlir::DialectRegistry &registry);

/// The layouts along a chain of a checked kernel. Fails with diagnostics where
/// the chain has faults.
mlir::FailureOr<std::vector<StageRecord>> analyzeChain(ChainOp chain);

} // namespace furiosa::visa

#endif // FURIOSA_DIALECT_VISA_IR_KERNELCHECK_H
