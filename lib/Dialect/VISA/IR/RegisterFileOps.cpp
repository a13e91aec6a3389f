//===- RegisterFileOps.cpp - Rules of register file stores ----------------===//

#include "OpFormat.h"
#include "StageHelpers.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::visa;
using mapping::Mapping;

#define GET_OP_CLASSES
#include "furiosa/Dialect/VISA/IR/RegisterFileOps.cpp.inc"

void VISADialect::registerRegisterFileOps() {
  addOperations<
#define GET_OP_LIST
#include "furiosa/Dialect/VISA/IR/RegisterFileOps.cpp.inc"
      >();
}

/// The lanes with which a TRF store of the stream has this element mapping: the
/// outer part of time of the size that leaves so many elements to a lane.
static std::optional<Mapping> findLanes(const Layout &layout,
                                        const Mapping &element) {
  for (int64_t lanes : {1, 2, 4, 8}) {
    if (layout.time.size() % lanes != 0)
      continue;
    auto parts = mapping::split(layout.time, layout.time.size() / lanes);
    if (!parts)
      continue;
    auto stored = mapping::pair(parts->second, layout.packet);
    if (stored && mapping::same(*stored, element))
      return parts->first;
  }
  return std::nullopt;
}

void ToTrfOp::check(StageChecker &checker, Layout &layout) {
  if (layout.point != Point::Collect)
    checker.fault("TU-33") << "this stage may not follow "
                           << toString(layout.point)
                           << "; it may follow collect";
  layout.point = Point::End;
  auto lane = checker.parse("lane", getLaneAttr());
  auto element = checker.parse("element", getElementAttr());
  if (!isa<TrfType>(checker.getChain().getResult().getType())) {
    checker.fault("TU-33") << "the chain ends in the TRF, but its result is "
                           << checker.getChain().getResult().getType();
    return;
  }
  if (!lane || !element)
    return;
  int64_t lanes = lane->size();
  if (lanes != 1 && lanes != 2 && lanes != 4 && lanes != 8) {
    InFlightDiagnostic diag = checker.fault("TU-30", "lane");
    diag << "lane \"" << lane->str() << "\" has " << lanes
         << " positions, expected 1, 2, 4 or 8";
    if (auto expected = findLanes(layout, *element))
      diag << "; write lane \"" << expected->str() << "\"";
    return;
  }
  auto laneBits =
      llvm::checkedMul<int64_t>(element->size(), wireBits(layout.type));
  auto bits =
      laneBits ? llvm::checkedMul<int64_t>(*laneBits, lanes) : std::nullopt;
  if (!bits || *bits / 8 > int64_t(rngd::machine::trfSliceBytes))
    checker.fault("TU-31", "element")
        << lanes << " lanes of " << element->size() << " elements of "
        << furiosa::toString(layout.type) << " need "
        << (bits ? std::to_string(*bits / 8) : "more than 2^60")
        << " bytes, the register file of a slice has "
        << rngd::machine::trfSliceBytes << "; fetch at most "
        << int64_t(rngd::machine::trfSliceBytes) * 8 /
               (lanes * wireBits(layout.type))
        << " elements for each lane at a time, or put more of them in other "
           "slices";
  if (layout.time.size() % lanes != 0) {
    checker.fault("TU-32", "lane")
        << lanes << " lanes do not divide time \"" << layout.time.str()
        << "\" of " << layout.time.size() << " steps";
    return;
  }
  auto parts = mapping::split(layout.time, layout.time.size() / lanes);
  if (!parts) {
    checker.report(parts.fault(), "lane", "TU-33");
    return;
  }
  if (!mapping::same(*lane, parts->first)) {
    // Where element tells how many lanes there are, only they are wrong.
    auto fitting = findLanes(layout, *element);
    checker.mismatch("TU-33", "lane", "lane is not the outer part of time",
                     *lane, fitting.value_or(parts->first));
    // Of another number of lanes another element would follow.
    if (fitting ||
        lanes * element->size() != layout.time.size() * layout.packet.size())
      return;
  }
  auto expected = mapping::pair(parts->second, layout.packet);
  if (!expected) {
    checker.report(expected.fault(), "element", "TU-34");
    return;
  }
  if (!mapping::same(*element, *expected))
    checker.mismatch("TU-34", "element",
                     "element is not the rest of time with the packet",
                     *element, *expected);
  if (checker.failed())
    return;
  TensorParts stored = getStoredParts(checker, layout);
  stored.lane = tmap::MappingAttr::get(*lane, stored.axes);
  stored.element = tmap::MappingAttr::get(*element, stored.axes);
  checker.checkResult(stored);
}

void ToVrfOp::check(StageChecker &checker, Layout &layout) {
  if (layout.point != Point::Collect && layout.point != Point::VectorFinal)
    checker.fault("TU-35") << "this stage may not follow "
                           << toString(layout.point)
                           << "; it may follow collect or vector_final";
  layout.point = Point::End;
  auto element = checker.parse("element", getElementAttr());
  if (!isa<VrfType>(checker.getChain().getResult().getType())) {
    checker.fault("TU-35") << "the chain ends in the VRF, but its result is "
                           << checker.getChain().getResult().getType();
    return;
  }
  if (layout.type != ElementType::I32 && layout.type != ElementType::F32) {
    checker.fault("TU-35") << "the VRF holds i32 and f32, found "
                           << furiosa::toString(layout.type)
                           << "; widen it with fetch_cast";
    return;
  }
  if (!element)
    return;
  auto expected = mapping::pair(layout.time, layout.packet);
  if (!expected) {
    checker.report(expected.fault(), "element", "TU-35");
    return;
  }
  if (!mapping::same(*element, *expected))
    checker.mismatch("TU-35", "element", "element is not time with the packet",
                     *element, *expected);
  auto bytes = llvm::checkedMul<int64_t>(element->size(), 4);
  if (!bytes || *bytes > int64_t(rngd::machine::vrfSliceBytes))
    checker.fault("TU-35", "element")
        << "element \"" << element->str() << "\" needs "
        << (bytes ? std::to_string(*bytes) : "more than 2^60")
        << " bytes a slice, the vector register file has "
        << rngd::machine::vrfSliceBytes;
  if (checker.failed())
    return;
  TensorParts stored = getStoredParts(checker, layout);
  stored.element = tmap::MappingAttr::get(*element, stored.axes);
  checker.checkResult(stored);
}
