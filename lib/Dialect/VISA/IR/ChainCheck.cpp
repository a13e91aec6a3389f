//===- ChainCheck.cpp - The check of a chain ------------------------------===//
//
// Walks a chain stage by stage with the stream between them, and goes on behind
// a fault where what follows does not depend on it.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/VISA/IR/KernelCheck.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Threading.h"

#include <tuple>

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;
using mapping::Mapping;

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

StringRef visa::toString(Point point) {
  switch (point) {
  case Point::Begin:
    return "the start of the chain";
  case Point::Fetch:
    return "fetch";
  case Point::TableLookup:
    return "table_lookup";
  case Point::FetchCast:
    return "fetch_cast";
  case Point::ZeroPointSub:
    return "zero_point_sub";
  case Point::Switch:
    return "switch";
  case Point::Collect:
    return "collect";
  case Point::ContractOuter:
    return "contract_outer";
  case Point::ContractPacket:
    return "contract_packet";
  case Point::ContractTime:
    return "contract_time";
  case Point::Contraction:
    return "contract_lane";
  case Point::VectorInit:
    return "vector_init";
  case Point::Vector:
    return "a vector stage";
  case Point::VectorFinal:
    return "vector_final";
  case Point::Cast:
    return "cast";
  case Point::Transpose:
    return "transpose";
  case Point::CommitTrim:
    return "commit_trim";
  case Point::CommitCast:
    return "commit_cast";
  case Point::End:
    return "the end of the chain";
  }
  llvm_unreachable("all points are listed");
}

std::optional<int64_t> Layout::packetBytes() const {
  auto bits = llvm::checkedMul<int64_t>(packet.size(), wireBits(storage));
  if (!bits || *bits % 8 != 0)
    return std::nullopt;
  return *bits / 8;
}

int64_t visa::elementsPerFlit(ElementType type) {
  return rngd::machine::flitBytes * 8 / wireBits(type);
}

//===----------------------------------------------------------------------===//
// StageChecker
//===----------------------------------------------------------------------===//

std::optional<Mapping> StageChecker::parse(StringRef clause, StringAttr text) {
  auto parsed = kernel.parse(text, chain.getAxes());
  if (parsed)
    return std::move(*parsed);
  report(parsed.fault(), clause);
  return std::nullopt;
}

void StageChecker::parseClauses() {
  for (StringRef clause : {"time", "packet", "lane", "element"})
    if (auto text = op->getAttrOfType<StringAttr>(clause))
      (void)parse(clause, text);
}

namespace {
/// Stages that may stand directly behind a point, and the rule that says so.
struct Transition {
  Point to;
  StringRef rule;
  ArrayRef<Point> from;
};
} // namespace

static const Transition &getTransition(Point to) {
  using P = Point;
  static const P fetch[] = {P::Begin};
  static const P lookup[] = {P::Fetch};
  static const P fetchCast[] = {P::Fetch, P::TableLookup};
  static const P zeroPoint[] = {P::Fetch, P::TableLookup, P::FetchCast};
  static const P fetched[] = {P::Fetch, P::TableLookup, P::FetchCast,
                              P::ZeroPointSub};
  static const P collect[] = {P::Fetch, P::TableLookup, P::FetchCast,
                              P::ZeroPointSub, P::Switch};
  static const P outer[] = {P::Collect};
  static const P packet[] = {P::ContractOuter};
  static const P time[] = {P::ContractPacket};
  static const P lane[] = {P::ContractTime};
  static const P init[] = {P::Collect, P::Contraction};
  static const P vector[] = {P::VectorInit, P::Vector};
  static const P cast[] = {P::Collect, P::Contraction, P::VectorFinal};
  static const P transpose[] = {P::Collect, P::Contraction, P::VectorFinal,
                                P::Cast};
  static const P trim[] = {P::Collect, P::Contraction, P::VectorFinal, P::Cast,
                           P::Transpose};
  static const P commitCast[] = {P::CommitTrim};
  static const P end[] = {P::CommitTrim, P::CommitCast};
  static const Transition table[] = {
      {P::Fetch, "TU-2", fetch},
      {P::TableLookup, "TU-4", lookup},
      {P::FetchCast, "TU-4", fetchCast},
      {P::ZeroPointSub, "TU-4", zeroPoint},
      {P::Switch, "TU-4", fetched},
      {P::Collect, "TU-28", collect},
      {P::ContractOuter, "TU-46", outer},
      {P::ContractPacket, "TU-47", packet},
      {P::ContractTime, "TU-51", time},
      {P::Contraction, "TU-55", lane},
      {P::VectorInit, "VE-1", init},
      {P::Vector, "VE-6", vector},
      {P::VectorFinal, "VE-6", vector},
      {P::Cast, "TU-61", cast},
      {P::Transpose, "TU-65", transpose},
      {P::CommitTrim, "MM-27", trim},
      {P::CommitCast, "TU-72", commitCast},
      {P::End, "TU-72", end},
  };
  for (const Transition &transition : table)
    if (transition.to == to)
      return transition;
  llvm_unreachable("every point but the start has a transition");
}

bool StageChecker::enter(Layout &layout, Point point) {
  Point from = layout.point;
  layout.point = point;
  const Transition &transition = getTransition(point);
  if (llvm::is_contained(transition.from, from))
    return true;
  InFlightDiagnostic diag = fault(transition.rule);
  diag << "this stage may not follow " << toString(from) << "; it may follow ";
  llvm::interleave(
      transition.from, [&](Point p) { diag << toString(p); },
      [&] { diag << " or "; });
  return false;
}

void StageChecker::checkResult(const TensorParts &expected) {
  Type resultType = chain.getResult().getType();
  TensorParts found = getTensorParts(resultType);
  if (found.elementType != expected.elementType) {
    fault("TU-77") << "the chain stores " << expected.elementType
                   << ", but its result holds " << found.elementType
                   << "; write the element type " << expected.elementType;
    return;
  }
  auto compare = [&](StringRef name, tmap::MappingAttr foundMapping,
                     tmap::MappingAttr expectedMapping) {
    if (!foundMapping || !expectedMapping ||
        mapping::same(foundMapping.getMapping(), expectedMapping.getMapping()))
      return;
    InFlightDiagnostic diag = fault("TU-77");
    diag << name << " of the chain's result does not match the stage: found \""
         << foundMapping.getText() << "\", expected \""
         << expectedMapping.getText() << "\"; write " << name << " \""
         << expectedMapping.getText() << "\" in the result type";
    diag.attachNote(chain.getLoc()) << "result type is written here";
  };
  compare("chip", found.chip, expected.chip);
  compare("cluster", found.cluster, expected.cluster);
  compare("slice", found.slice, expected.slice);
  compare("lane", found.lane, expected.lane);
  compare("element", found.element, expected.element);
}

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

/// Whether the stages from `op` on have no fault behind the stream `layout`.
/// Nothing is reported.
static bool agreesWithRest(Operation *op, ChainOp chain, Layout layout) {
  // Other threads go on reporting.
  uint64_t thread = llvm::get_threadid();
  ScopedDiagnosticHandler quiet(chain->getContext(), [&](Diagnostic &) {
    return success(llvm::get_threadid() == thread);
  });
  KernelChecker scratch(chain);
  for (; op; op = op->getNextNode()) {
    auto stage = dyn_cast<StageOpInterface>(op);
    if (!stage)
      continue;
    StageChecker checker(op, chain, scratch);
    stage.check(checker, layout);
    if (checker.failed() || layout.unknown)
      return false;
  }
  return layout.point == Point::End;
}

/// Time and packet behind a stage that says all of what it leaves; nothing for
/// other stages, and for clauses that are wrong on their own.
static std::optional<std::pair<Mapping, Mapping>>
getWritten(Operation *op, ChainOp chain, KernelChecker &kernel) {
  if (!isa<CollectOp, ContractLaneOp>(op))
    return std::nullopt;
  auto parse = [&](StringRef clause) {
    return kernel.parse(op->getAttrOfType<StringAttr>(clause), chain.getAxes());
  };
  auto time = parse("time");
  auto packet = parse("packet");
  if (!time || !packet)
    return std::nullopt;
  return std::pair(*time, *packet);
}

/// The stream behind a stage as its clauses say it, if all stages behind agree
/// with that: then what contradicts them stands in front, and is one fault.
/// `after` is the rest of the stream.
static std::optional<Layout> takeAsWritten(Operation &op, ChainOp chain,
                                           KernelChecker &kernel,
                                           Layout after) {
  auto written = getWritten(&op, chain, kernel);
  if (!written)
    return std::nullopt;
  int64_t width = isa<CollectOp>(op)
                      ? elementsPerFlit(after.type)
                      : int64_t(rngd::machine::laneFolderElements);
  if (written->second.size() != width)
    return std::nullopt;
  std::tie(after.time, after.packet) = std::move(*written);
  if (!agreesWithRest(op.getNextNode(), chain, after))
    return std::nullopt;
  return after;
}

/// Goes on behind a fault after which nobody knows the stream: a stage that
/// says time and packet of what leaves it is taken by its word, so that only
/// what follows from the fault is passed over.
static void resume(StageChecker &checker, Layout &layout) {
  Operation *op = checker.getOperation();
  checker.parseClauses();
  if (isa<CommitOp, ToTrfOp, ToVrfOp>(op))
    layout.point = Point::End;
  auto convert = [&](Type type) {
    if (auto to = visa::getElementType(type))
      layout.type = layout.storage = *to;
  };
  if (auto cast = dyn_cast<FetchCastOp>(op))
    return convert(cast.getTo());
  if (auto lookup = dyn_cast<TableLookupOp>(op))
    return convert(lookup.getTo());
  if (isa<ZeroPointSubOp>(op)) {
    layout.type = layout.storage =
        layout.type == ElementType::I4 ? ElementType::I5 : ElementType::I9;
    return;
  }
  auto written = getWritten(op, checker.getChain(), checker.getKernel());
  if (!written)
    return;
  // A stream over other axes cannot be compared with any clause.
  tmap::AxesAttr axes = checker.getChain().getAxes();
  if (layout.slice.axes() != axes.getAxes())
    return;
  // What is no flit of the type is of another type than the one that was meant.
  if (isa<CollectOp>(op) &&
      written->second.size() != elementsPerFlit(layout.type))
    return;
  layout.point = Point::Collect;
  if (isa<ContractLaneOp>(op)) {
    layout.type = isFloat(layout.storage) ? ElementType::F32 : ElementType::I32;
    layout.storage = layout.type;
    layout.point = Point::Contraction;
  }
  std::tie(layout.time, layout.packet) = std::move(*written);
  layout.unknown = false;
}

bool KernelChecker::checkChain(ChainOp chain,
                               std::vector<StageRecord> &records) {
  Layout layout;
  layout.context = chain.getContext();
  bool ok = true;
  bool foundStage = false, wasChecked = true, isFetchRefused = false;
  // A record is two layouts, which are costly to move.
  records.reserve(records.size() +
                  chain.getBody().front().getOperations().size());
  for (Operation &op : chain.getBody().front()) {
    auto stage = dyn_cast<StageOpInterface>(op);
    if (!stage)
      continue; // The chain's own verifier refuses it.
    if (layout.point == Point::End) {
      StageChecker checker(&op, chain, *this);
      checker.fault("TU-72") << "a stage behind the end of the chain";
      noteFault();
      return false;
    }
    StageChecker checker(&op, chain, *this);
    Layout before = layout;
    // Behind a stream that nobody knows there is nothing to compare with.
    wasChecked = !layout.unknown;
    if (!wasChecked) {
      resume(checker, layout);
    } else {
      // What only contradicts a fetch that was refused is no fault of its own.
      std::optional<Layout> written;
      if (isFetchRefused && isa<CollectOp>(op) &&
          !agreesWithRest(&op, chain, layout)) {
        Layout after = layout;
        after.point = Point::Collect;
        written = takeAsWritten(op, chain, *this, std::move(after));
      }
      if (written)
        layout = std::move(*written);
      else
        stage.check(checker, layout);
    }
    if (checker.failed()) {
      noteFault();
      ok = false;
      isFetchRefused |= isa<FetchOp>(op);
      if (wasChecked && !layout.unknown)
        if (auto written = takeAsWritten(op, chain, *this, layout))
          layout = std::move(*written);
    }
    foundStage = true;
    records.push_back({&op, std::move(before), layout});
  }
  if (layout.unknown && (layout.point == Point::End || !wasChecked))
    return false;
  // Behind the stages, whose rules say more about a result that is wrong.
  if (!layout.unknown)
    ok &= checkTensorType(chain, chain.getResult().getType());
  if (layout.point != Point::End) {
    FaultReporter reporter(chain);
    reporter.fault("TU-72")
        << "the chain ends with "
        << (foundStage ? toString(layout.point) : StringRef("no stage"))
        << "; its last stage must be commit, to_trf or "
           "to_vrf";
    noteFault();
    return false;
  }
  // The units are asked once the streams between all stages are known.
  for (size_t i = 0; ok && i < records.size(); ++i) {
    FaultReporter reporter(records[i].op);
    cast<StageOpInterface>(records[i].op)
        .checkUnit(reporter, ChainStage{records, i});
    ok = !reporter.failed();
  }
  if (!ok)
    noteFault();
  return ok;
}

FailureOr<std::vector<StageRecord>> visa::analyzeChain(ChainOp chain) {
  KernelChecker checker(chain);
  std::vector<StageRecord> records;
  if (!checker.checkChain(chain, records))
    return failure();
  return records;
}
