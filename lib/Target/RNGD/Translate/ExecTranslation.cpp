//===- ExecTranslation.cpp - One exec as register blocks ------------------===//
//
// Takes the units of an exec to their encoders, and the parts of a decoded exec
// to their builders.
//
//===----------------------------------------------------------------------===//

#include "ExecTranslation.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::rngd;

const SfrImage *ExecImages::find(Block block) const {
  for (const SfrImage &image : images)
    if (image.block() == block)
      return &image;
  return nullptr;
}

TucCommand ExecImages::exec() const {
  TucCommand command(TucOp::Exec);
  // Both values fit: a route has 7 bits, so its bitmap has no more than 11.
  Fault fault =
      command.set("subunit_bitmap", codes::subUnitsOf(route, context));
  if (!fault)
    fault = command.set("target_context", codes::value(context));
  assert(!fault && "fields of exec are wide enough");
  return command;
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

ExecEncoder::ExecEncoder(lir::ExecOp exec, AddressLookup addresses)
    : exec(exec), addresses(addresses) {}

FailureOr<ExecImages> ExecEncoder::run() {
  for (Operation &unit : exec.getBody().getOps()) {
    LogicalResult result =
        llvm::TypeSwitch<Operation *, LogicalResult>(&unit)
            .Case<lir::FetchSequencerOp, lir::TableLookupOp,
                  lir::FetchAdapterOp, lir::ZeroPointSubOp, lir::SwitchOp,
                  lir::CustomSwitchOp, lir::CollectOp, lir::TransposeOp,
                  lir::TrfStoreOp, lir::VrfStoreOp, lir::FeedBufferOp,
                  lir::TrfSequencerOp, lir::PacketReducerOp, lir::TimeReducerOp,
                  lir::LaneFolderOp, lir::VectorTagOp, lir::VectorUnzipOp,
                  lir::VectorAluOp, lir::VectorStashOp, lir::VectorFxpToFpOp,
                  lir::VectorFpToFxpOp, lir::VectorNarrowOp, lir::VectorWidenOp,
                  lir::VectorValidClipOp, lir::VectorValidFilterOp,
                  lir::VectorReduceOp, lir::VectorSliceReduceOp,
                  lir::VectorCompactOp, lir::CastOp, lir::CommitAdapterOp,
                  lir::CommitSequencerOp>([&](auto op) { return encode(op); })
            .Default([](Operation *op) {
              return op->emitOpError("not yet supported: no registers are "
                                     "known for this unit");
            });
    if (failed(result))
      return failure();
  }
  if (failed(routeVector()))
    return failure();
  ExecImages encoded;
  encoded.context = isMain() ? codes::ExecTarget::Main : codes::ExecTarget::Sub;
  encoded.route = route;
  encoded.snoopBitmaps = std::move(snoopBitmaps);
  if (failed(set(exec, routeBlock(encoded.context),
                 isMain() ? "main_context" : "data_path_route_sub_context",
                 route)))
    return failure();
  for (auto &[block, image] : images)
    encoded.images.push_back(std::move(image));
  return encoded;
}

FailureOr<ExecImages> rngd::encodeExec(lir::ExecOp exec,
                                       AddressLookup addresses) {
  return ExecEncoder(exec, addresses).run();
}

SfrImage &ExecEncoder::image(Block block) {
  return images.try_emplace(block, SfrImage(block)).first->second;
}

LogicalResult ExecEncoder::set(Operation *op, Block block, StringRef field,
                               unsigned index, uint64_t value) {
  Fault fault = image(block).set(field, index, value);
  if (!fault)
    return success();
  const SfrBlock &table = sfrBlock(block);
  InFlightDiagnostic diag = op->emitOpError() << table.name << ".";
  if (const SfrField *place = table.find(field, index))
    diag << table.registers[place->reg].name << "." << place->str();
  else
    diag << field;
  return diag << ": " << *fault;
}

LogicalResult ExecEncoder::setLimit(Operation *op, Block block, StringRef field,
                                    unsigned index, int64_t limit) {
  std::optional<uint16_t> code =
      limit < 0 ? std::nullopt : encodeLimit(static_cast<uint64_t>(limit));
  if (!code)
    return op->emitOpError()
           << toString(block) << "." << field << ": a count must be 1 to "
           << machine::sequencerEntryLimit << ", found " << limit;
  return set(op, block, field, index, *code);
}

LogicalResult ExecEncoder::setLoops(Operation *op, Block block,
                                    StringRef limits, StringRef strides,
                                    ArrayRef<int64_t> sizes,
                                    ArrayRef<int64_t> steps) {
  unsigned index = 0;
  for (auto [size, step] :
       llvm::zip_equal(llvm::reverse(sizes), llvm::reverse(steps))) {
    if (size == 1)
      continue;
    if (failed(setLimit(op, block, limits, index, size)) ||
        failed(set(op, block, strides, index, static_cast<uint64_t>(step))))
      return failure();
    ++index;
  }
  for (; index < machine::sequencerEntries; ++index)
    if (failed(setLimit(op, block, limits, index, 1)))
      return failure();
  return success();
}

FailureOr<int64_t> ExecEncoder::address(Operation *op, Value buffer) {
  std::optional<int64_t> found = addresses(buffer);
  if (found)
    return *found;
  InFlightDiagnostic diag =
      op->emitOpError("needs a buffer with an address; run resource-schedule");
  diag.attachNote(buffer.getLoc()) << "the buffer is here";
  return diag;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

LoopLists rngd::getLoops(const HardwareLoops &loops) {
  LoopLists lists;
  for (const HardwareLoop &loop : llvm::reverse(loops)) {
    if (loop.limit == 1)
      continue;
    lists.sizes.push_back(loop.limit);
    lists.strides.push_back(loop.stride);
  }
  return lists;
}

int64_t rngd::getLastOffset(const HardwareLoops &loops) {
  // At most 8 terms of 16 + 22 bits: the sum cannot overflow.
  int64_t offset = 0;
  for (const HardwareLoop &loop : loops)
    offset += int64_t(loop.limit - 1) * std::max(loop.stride, 0);
  return offset;
}

FailureOr<lir::ExecOp> rngd::buildExec(OpBuilder &builder, Location loc,
                                       const ExecConfig &config,
                                       BufferLookup buffers) {
  bool isMain = config.context == codes::ExecTarget::Main;
  auto exec = lir::ExecOp::create(
      builder, loc, isMain ? lir::Context::Main : lir::Context::Sub);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&exec.getBody().emplaceBlock());
  UnitBuilder unit{builder, loc, buffers};
  if (failed(buildFetch(unit, config.fetch)) ||
      (config.contraction &&
       failed(buildContraction(unit, *config.contraction,
                               config.fetch.subtractsZeroPoint()))) ||
      (config.vector && failed(buildVector(unit, *config.vector))) ||
      (config.transpose && failed(buildTranspose(unit, *config.transpose))) ||
      (config.commit && failed(buildCommit(unit, *config.commit))) ||
      (config.trf && failed(buildTrfStore(unit, *config.trf))) ||
      (config.vrf && failed(buildVrfStore(unit, *config.vrf)))) {
    exec.erase();
    return failure();
  }
  return exec;
}
