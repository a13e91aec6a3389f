//===- KernelCheck.cpp - The whole-kernel check ---------------------------===//
//
// Walks a kernel op by op, with the rules that need more than one op; reports
// faults at their clauses.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/VISA/IR/KernelCheck.h"
#include "furiosa/Dialect/TensorMapping/Algebra/Explain.h"
#include "furiosa/Dialect/Utils/Numbers.h"
#include "furiosa/Dialect/VISA/IR/Views.h"
#include "furiosa/Target/RNGD/HbmCapacity.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Threading.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/ThreadPool.h"

#include <atomic>

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;
using mapping::Mapping;

//===----------------------------------------------------------------------===//
// FaultReporter
//===----------------------------------------------------------------------===//

Location FaultReporter::clauseLoc(StringRef clause, int64_t column) const {
  if (clause.empty())
    return op->getLoc();
  auto name = StringAttr::get(
      op->getContext(), clause + "@" + Twine(std::max<int64_t>(column, 1)));
  return NameLoc::get(name, op->getLoc());
}

InFlightDiagnostic FaultReporter::fault(StringRef rule, StringRef clause,
                                        int64_t column) {
  ++numFaults;
  return emitError(clauseLoc(clause, column))
         << "'" << op->getName() << "' op " << rule << ": ";
}

InFlightDiagnostic FaultReporter::notYetSupported(StringRef clause) {
  return fault("not yet supported", clause);
}

/// Column (from 1) of the first top-level term of `found` that differs from
/// the term of `expected` at its place.
static int64_t firstDifference(StringRef found, StringRef expected) {
  auto terms = [](StringRef text) {
    SmallVector<std::pair<size_t, StringRef>> result;
    size_t start = 0;
    int depth = 0;
    for (size_t i = 0; i <= text.size(); ++i) {
      if (i < text.size() && (text[i] == '[' || text[i] == '('))
        ++depth;
      if (i < text.size() && (text[i] == ']' || text[i] == ')'))
        --depth;
      if (i != text.size() && (text[i] != ',' || depth != 0))
        continue;
      StringRef term = text.slice(start, i);
      size_t blanks = term.size() - term.ltrim().size();
      result.push_back({start + blanks, term.trim()});
      start = i + 1;
    }
    return result;
  };
  auto foundTerms = terms(found), expectedTerms = terms(expected);
  for (size_t i = 0; i < foundTerms.size(); ++i)
    if (i >= expectedTerms.size() ||
        foundTerms[i].second != expectedTerms[i].second)
      return foundTerms[i].first + 1;
  return 1;
}

InFlightDiagnostic FaultReporter::mismatch(StringRef rule, StringRef clause,
                                           const Twine &what,
                                           const Mapping &found,
                                           const Mapping &expected) {
  InFlightDiagnostic diag =
      fault(rule, clause, firstDifference(found.str(), expected.str()));
  diag << what << ": found \"" << found.str() << "\", expected \""
       << expected.str() << "\"; write " << clause << " \"" << expected.str()
       << "\"";
  std::string difference = mapping::explainDifference(found, expected);
  if (!difference.empty())
    diag.attachNote() << difference;
  return diag;
}

InFlightDiagnostic FaultReporter::report(const mapping::Fault &mappingFault,
                                         StringRef clause, StringRef rule) {
  if (mappingFault.reason == "not-yet-supported")
    return notYetSupported(clause) << mappingFault.message;
  std::string name = mappingFault.rule;
  if (!rule.empty())
    name = (rule + " (" + name + ")").str();
  return fault(name, clause, mappingFault.column) << mappingFault.message;
}

//===----------------------------------------------------------------------===//
// KernelChecker
//===----------------------------------------------------------------------===//

KernelChecker::KernelChecker(Operation *root) : target(visa::getTarget(root)) {}

mapping::Result<Mapping> KernelChecker::parse(StringAttr text,
                                              tmap::AxesAttr axes) {
  if (auto known = readings.find({text, axes}); known != readings.end())
    return known->second;
  auto parsed = Mapping::parse(text, axes.getAxes());
  if (parsed)
    readings.try_emplace({text, axes}, *parsed);
  return parsed;
}

bool KernelChecker::checkTensorType(Operation *op, Type type) {
  TensorParts parts = getTensorParts(type);
  auto elementType = getElementType(parts.elementType);
  if (!elementType)
    return true; // Not a tensor: the op's own structure says so.
  FaultReporter reporter(op);
  int64_t chips = target.getChips();
  if (parts.chip.getMapping().size() != chips)
    reporter.fault("MM-3") << "chip \"" << parts.chip.getText() << "\" has "
                           << parts.chip.getMapping().size()
                           << " positions, the target has " << chips
                           << "; set chips in visa.target, or write chip \""
                           << (chips == 1 ? std::string("1")
                                          : "1 # " + std::to_string(chips))
                           << "\"";
  unsigned bits = wireBits(*elementType);
  auto totalBits =
      llvm::checkedMul<int64_t>(parts.element.getMapping().size(), bits);
  int64_t capacity = isa<DmType>(type) ? rngd::machine::dmSliceBytes
                                       : rngd::machine::hbmOperandBytes;
  if (isa<DmType, HbmType>(type) && (!totalBits || *totalBits / 8 > capacity)) {
    InFlightDiagnostic diag = reporter.fault("MM-5");
    diag << "element \"" << parts.element.getText() << "\" needs ";
    if (totalBits)
      diag << *totalBits / 8;
    else
      diag << "more than 2^60";
    diag << (isa<DmType>(type) ? " bytes a slice, the data memory has "
                               : " bytes, HBM has ")
         << capacity;
  }
  if (totalBits && *totalBits % 8 != 0)
    reporter.fault("MM-5") << "element \"" << parts.element.getText()
                           << "\" is not a whole number of bytes of "
                           << parts.elementType;
  // MA-13 … MA-15 over all dimensions together. Padding outside of a dimension
  // fills no rows of another one.
  Mapping whole = parts.chip.getMapping();
  bool joined = true;
  for (tmap::MappingAttr part :
       {parts.cluster, parts.slice, parts.lane, parts.element})
    if (part && joined) {
      auto pair = mapping::pair(whole, part.getMapping());
      if (!pair || !pair->canonical())
        if (auto inner = mapping::peel(part.getMapping()))
          pair = mapping::pair(whole, *inner);
      joined = static_cast<bool>(pair);
      if (joined)
        whole = *pair;
    }
  if (joined)
    if (auto fault = mapping::checkTensor(whole))
      reporter.report(*fault, {});
  if (parts.cluster) {
    int64_t clusters = parts.cluster.getMapping().size();
    int64_t slices = parts.slice.getMapping().size();
    bool known = true;
    if (clusters != 1 && clusters != 2) {
      reporter.fault("MM-1")
          << "cluster \"" << parts.cluster.getText() << "\" has " << clusters
          << " positions, expected 1 or 2";
      known = false;
    }
    if (slices != 64 && slices != 128 && slices != 256) {
      reporter.fault("MM-2") << "slice \"" << parts.slice.getText() << "\" has "
                             << slices << " positions, expected 64, 128 or 256";
      known = false;
    }
    if (known) {
      unsigned pes = target.getPes();
      unsigned expectedSlices = rngd::slicesPerClusterFor(pes).value_or(0);
      unsigned expectedClusters = rngd::clustersFor(pes).value_or(0);
      if (slices != expectedSlices)
        reporter.fault("MM-3")
            << "slice \"" << parts.slice.getText() << "\" has " << slices
            << " positions, a target with " << pes << " PEs has "
            << expectedSlices
            << (slices < expectedSlices
                    ? "; pad it with # "
                    : "; move digits into element until there are ")
            << expectedSlices;
      if (clusters != expectedClusters)
        reporter.fault("MM-3")
            << "cluster \"" << parts.cluster.getText() << "\" has " << clusters
            << " positions, a target with " << pes << " PEs has "
            << expectedClusters << "; write cluster \""
            << (expectedClusters == 1 ? "1" : "1 # 2")
            << (expectedClusters == 1 ? "\" and move its digit into element"
                                      : "\"");
    }
  }
  if (isa<DmType, HbmType>(type) &&
      (*elementType == ElementType::I5 || *elementType == ElementType::I9))
    reporter.fault("TU-78") << parts.elementType
                            << " lives between fetch and contraction only, "
                               "never in memory";
  if (reporter.failed())
    noteFault();
  return !reporter.failed();
}

void KernelChecker::checkTensorUse(Operation *op) {
  if (isa<CallOpInterface>(op) || op->hasTrait<OpTrait::ReturnLike>())
    return;
  if (!usesTensors(op))
    return;
  FaultReporter(op).notYetSupported()
      << "tensors as operands or results of this op in a kernel";
  noteFault();
}

/// The step of a loop is a constant.
static bool checkStep(scf::ForOp loop, FaultReporter &reporter) {
  if (getConstantIntValue(loop.getStep()))
    return true;
  reporter.notYetSupported() << "a step known only at run time";
  return false;
}

/// How often a loop runs is known, or the host says it.
static bool checkBounds(scf::ForOp loop) {
  FaultReporter reporter(loop);
  for (Value bound : {loop.getLowerBound(), loop.getUpperBound()}) {
    // Ranges that are wrong themselves are said at the arguments.
    if (BlockArgument number = getNumber(bound);
        number && !getNumberRange(number))
      return true;
    if (!isKnownWhenUnrolled(bound) &&
        !getNumberSum(bound, isKnownWhenUnrolled)) {
      reporter.notYetSupported()
          << "bounds known only at run time, other than sums of numbers of the "
             "host and of counters of loops with known steps";
      return false;
    }
    if (hasTooManySteps(bound))
      reporter.notYetSupported()
          << "a bound that follows counters of loops of more than "
          << maxUnrolledSteps << " steps, which are unrolled";
  }
  if (auto trips = loop.getStaticTripCount();
      trips && trips->getActiveBits() > 32)
    reporter.notYetSupported()
        << llvm::toString(*trips, 10, /*Signed=*/false)
        << " trips of a loop, which makes at most " << UINT32_MAX;
  else if (!checkStep(loop, reporter))
    return false;
  else if (needsConditions(loop) &&
           getMostTrips(loop).value_or(INT64_MAX) > maxUnrolledSteps)
    reporter.notYetSupported()
        << "a loop whose trips the host says, which may make more than "
        << maxUnrolledSteps
        << ", other than in steps of 1 to an upper bound that is never below "
           "the lower one; give the numbers such ranges";
  else if (getConstantIntValue(loop.getStep()) != 1 &&
           !isKnownWhenUnrolled(loop.getLowerBound()))
    reporter.notYetSupported()
        << "steps of " << *getConstantIntValue(loop.getStep())
        << " from a number of the host on; count from 0 in steps of 1, and "
           "multiply and add in the loop";
  return !reporter.failed();
}

/// A branch is taken as counters that are known or numbers of the host say.
static bool checkCondition(scf::IfOp branch) {
  FaultReporter reporter(branch);
  Value condition = branch.getCondition();
  if (!isKnownWhenUnrolled(condition)) {
    if (!getNumberCases(condition, true, isKnownWhenUnrolled) ||
        !getNumberCases(condition, false, isKnownWhenUnrolled))
      reporter.notYetSupported()
          << "a branch on what only the run knows, other than comparisons of "
             "sums of numbers of the host, joined by and, or and xor to no "
             "more than "
          << maxNumberCases << " cases";
    else if (branch.getNumResults() != 0)
      reporter.notYetSupported()
          << "values out of a branch on a number of the host";
  }
  if (!reporter.failed() && hasTooManySteps(condition))
    reporter.notYetSupported()
        << "a branch in loops of more than " << maxUnrolledSteps
        << " steps, which are unrolled";
  return !reporter.failed();
}

/// Control flow that ends: a loop counts up, and nothing goes back to a block.
static bool checkControl(Operation *op) {
  FaultReporter reporter(op);
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    auto step = getConstantIntValue(loop.getStep());
    if (step && *step < 1) {
      op->emitError() << "a loop step of " << *step
                      << "; loops count up by at least 1";
      return false;
    }
  } else if (isa<scf::WhileOp>(op)) {
    reporter.notYetSupported() << "scf.while in a kernel; use scf.for";
  } else if (llvm::any_of(op->getRegions(), [](Region &region) {
               return !region.empty() && !llvm::hasSingleElement(region);
             })) {
    reporter.notYetSupported()
        << "a region of several blocks in a kernel; use scf.for and scf.if";
  }
  return !reporter.failed();
}

bool KernelChecker::checkBlock(Block &block) {
  for (Operation &op : block) {
    for (Type type : op.getResultTypes())
      if (!isa<ChainOp>(op)) // Checked with the chain.
        checkTensorType(&op, type);
    if (auto kernelOp = dyn_cast<KernelOpInterface>(op))
      kernelOp.checkInKernel(*this);
    if (isa<ChainOp>(op))
      continue;
    if (!isa_and_nonnull<VISADialect>(op.getDialect()))
      checkTensorUse(&op);
    if (!checkControl(&op))
      noteFault();
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && !checkBounds(loop))
      noteFault();
    if (auto branch = dyn_cast<scf::IfOp>(op);
        branch && !checkCondition(branch))
      noteFault();
    for (Region &region : op.getRegions())
      for (Block &nested : region)
        checkBlock(nested);
  }
  return !failed();
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

/// MM-5: arguments and results are in HBM at the same time.
static void checkHbmSum(FunctionOpInterface kernel, Operation *terminator,
                        FaultReporter &reporter) {
  constexpr int64_t capacity = rngd::machine::hbmOperandBytes;
  std::optional<int64_t> sum = 0;
  SmallVector<std::pair<std::string, int64_t>> parts;
  auto add = [&](const Twine &name, Type type) {
    TensorParts tensor = getTensorParts(type);
    auto elementType = getElementType(tensor.elementType);
    if (!isa<HbmType>(type) || !elementType)
      return;
    auto bits = llvm::checkedMul<int64_t>(tensor.element.getMapping().size(),
                                          wireBits(*elementType));
    // One that is too large alone is said at its type.
    if (!sum || !bits || *bits / 8 > capacity) {
      sum = std::nullopt;
      return;
    }
    parts.emplace_back(name.str(), *bits / 8);
    sum = llvm::checkedAdd(*sum, *bits / 8);
  };
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes()))
    add("argument " + Twine(index), type);
  for (auto [index, type] : llvm::enumerate(terminator->getOperandTypes()))
    add("result " + Twine(index), type);
  if (!sum || *sum <= capacity)
    return;
  InFlightDiagnostic diag = reporter.fault("MM-5");
  diag << "arguments and results need " << *sum << " bytes together, HBM has "
       << capacity << "; split them over several kernels";
  for (auto &[name, bytes] : parts)
    diag.attachNote(kernel.getLoc()) << name << " needs " << bytes << " bytes";
}

void visa::checkNumber(BlockArgument argument, FaultReporter &reporter) {
  if (!getNumberRange(argument))
    reporter.notYetSupported()
        << "argument " << argument.getArgNumber() << " of type "
        << argument.getType() << " without a range; write {" << rangeAttrName
        << " = array<i64: FIRST, LAST>} behind its type";
}

/// Arguments and results of a kernel that still is at this level.
static void checkInterface(FunctionOpInterface kernel, KernelChecker &checker) {
  FaultReporter reporter(kernel);
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    if (isa<DmType, TrfType, VrfType>(type))
      reporter.fault("MM-52")
          << "argument " << index
          << " is no HBM tensor; arguments and results of a "
             "kernel live in HBM";
    else if (type.isIndex() || type.isInteger(32))
      checkNumber(kernel.getArgument(index), reporter);
    else if (!isa<HbmType>(type))
      reporter.notYetSupported() << "argument " << index << " of type " << type;
    checker.checkTensorType(kernel, type);
  }
  for (auto [index, type] : llvm::enumerate(kernel.getResultTypes()))
    if (!isa<HbmType>(type))
      reporter.fault("MM-52") << "result " << index << " of type " << type
                              << " is no HBM tensor; store it with "
                                 "visa.to_hbm";
  Operation *terminator = kernel.getFunctionBody().front().getTerminator();
  SmallPtrSet<Value, 4> returned;
  for (Value value : terminator->getOperands()) {
    FaultReporter at(terminator);
    Value base = getBaseBuffer(value);
    if (!base.getDefiningOp())
      at.notYetSupported() << "a kernel that returns its own argument; write "
                              "the argument and return nothing, or copy it";
    else if (isa<CallOpInterface>(base.getDefiningOp()))
      at.notYetSupported() << "a result of a call that is not inlined: of a "
                              "declaration, of several blocks, or recursive";
    else if (!isa<AllocOp, ToHbmOp>(base.getDefiningOp()) || base != value)
      at.notYetSupported() << "a result that is not a visa.alloc or a "
                              "visa.to_hbm of the kernel";
    else if (!returned.insert(base).second)
      at.notYetSupported() << "one buffer returned twice";
    if (at.failed())
      checker.noteFault();
  }
  checkHbmSum(kernel, terminator, reporter);
  if (reporter.failed())
    checker.noteFault();
}

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

namespace {
/// What a registry asks of the check, beside its dialect.
struct CheckSettings : DialectInterface::Base<CheckSettings> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckSettings)
  explicit CheckSettings(Dialect *dialect) : Base(dialect) {}

  /// Warnings are errors.
  bool isStrict = false;
  /// Who verifies calls checkKernels().
  bool isDeferred = false;
};
} // namespace

/// Asks for a setting in all contexts of the registry.
template <bool CheckSettings::*setting>
static void addSetting(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, VISADialect *dialect) {
    auto *settings = dialect->getRegisteredInterface<CheckSettings>();
    if (!settings)
      settings = &dialect->addInterface<CheckSettings>();
    settings->*setting = true;
  });
}

static bool hasSetting(VISADialect *dialect, bool CheckSettings::*setting) {
  auto *settings = dialect->getRegisteredInterface<CheckSettings>();
  return settings && settings->*setting;
}

void visa::makeStrict(DialectRegistry &registry) {
  addSetting<&CheckSettings::isStrict>(registry);
}

void visa::deferKernelChecks(DialectRegistry &registry) {
  addSetting<&CheckSettings::isDeferred>(registry);
}

bool visa::areKernelChecksDeferred(VISADialect *dialect) {
  return hasSetting(dialect, &CheckSettings::isDeferred);
}

static bool isStrict(MLIRContext *context) {
  auto *dialect = context->getLoadedDialect<VISADialect>();
  return dialect && hasSetting(dialect, &CheckSettings::isStrict);
}

//===----------------------------------------------------------------------===//
// Warnings
//===----------------------------------------------------------------------===//

/// Reports hazards as errors or warnings; the number of them.
static unsigned reportHazards(FunctionOpInterface kernel,
                              DiagnosticSeverity severity) {
  unsigned found = 0;
  auto begin = [&](Operation *op) {
    ++found;
    InFlightDiagnostic diag = severity == DiagnosticSeverity::Error
                                  ? mlir::emitError(op->getLoc())
                                  : mlir::emitWarning(op->getLoc());
    diag << "'" << op->getName() << "' op ";
    return diag;
  };
  forEachUndefinedRead(
      kernel, [&](Operation *op, StringRef cells, Value tensor) {
        InFlightDiagnostic diag = begin(op);
        diag << "W-3: "
             << (op->hasTrait<OpTrait::ReturnLike>() ? "returns " : "reads ")
             << cells
             << "a tensor that nothing has written: they are undefined; write "
                "them before, or fill the tensor with visa.memset";
        diag.attachNote(tensor.getLoc()) << "the tensor is made here";
      });
  kernel.getFunctionBody().walk([&](ChainOp chain) {
    bool isMain = chain.getContext() == Context::Main;
    bool hasVector = false;
    for (Operation &stage : chain.getBody().front()) {
      hasVector |= isa<VectorInitOp>(stage);
      bool isHazard = isMain ? isa<ToTrfOp, ToVrfOp>(stage)
                             : isa<ToVrfOp>(stage) && hasVector;
      if (!isHazard)
        continue;
      InFlightDiagnostic diag = begin(&stage);
      if (isMain)
        diag << "W-1: a register-file store from the main context, behind "
                "which devices hung or read stale data; load the register file "
                "in the sub context, or commit and load what was committed";
      else
        diag << "W-2: a vector chain of the sub context that ends in the "
                "vector register file, behind which devices hung or read stale "
                "data; commit, and load what was committed";
      diag.attachNote(chain.getLoc()) << "the chain begins here";
    }
  });
  return found;
}

void visa::emitWarnings(FunctionOpInterface kernel) {
  if (isStrict(kernel->getContext()))
    return;
  FailureOr<OwningOpRef<Operation *>> inlined = inlineIntoCopy(kernel);
  if (failed(inlined))
    return;
  if (*inlined)
    kernel = cast<FunctionOpInterface>(**inlined);
  reportHazards(kernel, DiagnosticSeverity::Warning);
}

/// MM-5 of tensors that become operands in HBM as they are.
static LogicalResult checkMappedTensors(FunctionOpInterface kernel) {
  FaultReporter reporter(kernel);
  auto check = [&](StringRef what, size_t index, Type type) {
    auto tensor = dyn_cast<tmap::MappedTensorType>(type);
    if (!tensor)
      return;
    auto element = visa::getElementType(tensor.getElementType());
    auto bits =
        element
            ? llvm::checkedMul<int64_t>(tensor.getMapping().getMapping().size(),
                                        wireBits(*element))
            : std::nullopt;
    if (bits && *bits % 8 != 0)
      reporter.fault("MM-5")
          << what << ' ' << index << ": \"" << tensor.getMapping().getText()
          << "\" is not a whole number of bytes of " << tensor.getElementType()
          << "; pad it with #";
  };
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes()))
    check("argument", index, type);
  for (auto [index, type] : llvm::enumerate(kernel.getResultTypes()))
    check("result", index, type);
  return failure(reporter.failed());
}

LogicalResult visa::checkKernel(FunctionOpInterface kernel) {
  if (failed(checkMappedTensors(kernel)))
    return failure();
  // Below visa the interface of a kernel is in bytes: nothing to check here.
  bool hasTensors = llvm::any_of(kernel.getArgumentTypes(), [](Type type) {
    return static_cast<bool>(getTensorParts(type).elementType);
  });
  kernel.getFunctionBody().walk([&](Operation *op) {
    hasTensors |= isa_and_nonnull<VISADialect>(op->getDialect());
  });
  if (!hasTensors && kernel->hasAttr("lir.pes"))
    return success();
  if (!llvm::hasSingleElement(kernel.getFunctionBody())) {
    FaultReporter reporter(kernel);
    reporter.notYetSupported() << "a kernel of several blocks; use scf.for";
    return failure();
  }
  // A loop without an end is none to be optimized away.
  if (!hasTensors) {
    bool ok = true;
    kernel.getFunctionBody().walk([&](Operation *op) {
      ok &= checkControl(op);
      FaultReporter reporter(op);
      if (auto loop = dyn_cast<scf::ForOp>(op))
        ok &= checkStep(loop, reporter);
    });
    return success(ok);
  }
  FailureOr<OwningOpRef<Operation *>> inlined = inlineIntoCopy(kernel);
  if (failed(inlined))
    return failure();
  if (*inlined)
    kernel = cast<FunctionOpInterface>(**inlined);
  KernelChecker checker(kernel);
  checkInterface(kernel, checker);
  checker.checkBlock(kernel.getFunctionBody().front());
  if (isStrict(kernel->getContext()) &&
      reportHazards(kernel, DiagnosticSeverity::Error) != 0)
    checker.noteFault();
  return success(!checker.failed());
}

//===----------------------------------------------------------------------===//
// Kernels side by side
//===----------------------------------------------------------------------===//

LogicalResult visa::checkKernels(Operation *root,
                                 function_ref<void()> meanwhile) {
  SmallVector<func::FuncOp> kernels;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      return WalkResult::advance();
    if (function->hasAttr(VISADialect::getKernelAttrName()))
      kernels.push_back(function);
    return WalkResult::skip();
  });
  MLIRContext *context = root->getContext();
  std::atomic<size_t> next = 0;
  std::atomic<bool> ok = true;
  ParallelDiagnosticHandler handler(context);
  auto check = [&] {
    for (size_t i; (i = next++) < kernels.size();) {
      handler.setOrderIDForThread(i);
      if (failed(checkKernel(kernels[i])))
        ok = false;
      handler.eraseOrderIDForThread();
    }
  };
  if (!context->isMultithreadingEnabled()) {
    meanwhile();
    check();
    return success(ok);
  }
  // This thread is one of them, once it is free.
  llvm::ThreadPoolInterface &threads = context->getThreadPool();
  llvm::ThreadPoolTaskGroup tasks(threads);
  for (unsigned i = 1; i < threads.getMaxConcurrency(); ++i)
    tasks.async(check);
  meanwhile();
  check();
  tasks.wait();
  return success(ok);
}
