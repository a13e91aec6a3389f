//===- FromEDFTransfers.cpp - DMA commands from their descriptors ---------===//
//
// Joins the descriptors that the clusters issue as one command, and finds the
// buffers that they move.
//
//===----------------------------------------------------------------------===//

#include "KernelReader.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::rngd;
using Kind = ProgramEvent::Kind;

namespace {
/// One side of a descriptor.
struct Side {
  /// Of an operand, or null: in data memory.
  Value operand;
  /// Bytes from the start of the operand; slice * 4 MiB + byte in data memory.
  int64_t offset = 0;
  SmallVector<int64_t, 8> sizes, strides;
};
struct EngineSides {
  unsigned cluster;
  unsigned pe;
  uint32_t address;
  Side sides[2];
  int64_t packet;
  /// Of an indirect transfer: its index, and which loops walk it.
  Side list;
  int64_t keys = 0;
};
} // namespace

/// Gives the table of an indirect transfer the loops of its rows: its outermost
/// loop, over the list, is that of several keys.
static LogicalResult joinKeys(EngineSides &engine, bool isGather) {
  Side &table = engine.sides[isGather ? 0 : 1];
  Side &rows = engine.sides[isGather ? 1 : 0];
  if (table.sizes.empty() || table.strides.front() != 0)
    return failure();
  if (table.sizes.front() == 1) {
    rows.sizes.insert(rows.sizes.begin(), 1);
    rows.strides.insert(rows.strides.begin(), 0);
    engine.keys = 1;
    return success();
  }
  int64_t entries = 1;
  while (entries < table.sizes.front() &&
         size_t(engine.keys) < rows.sizes.size())
    entries *= rows.sizes[engine.keys++];
  if (entries != table.sizes.front())
    return failure();
  ArrayRef<int64_t> keys = ArrayRef(rows.sizes).take_front(engine.keys);
  table.sizes.erase(table.sizes.begin());
  table.strides.erase(table.strides.begin());
  table.sizes.insert(table.sizes.begin(), keys.begin(), keys.end());
  table.strides.insert(table.strides.begin(), keys.size(), 0);
  return success();
}

LogicalResult KernelReader::buildDma(SmallVectorImpl<EventCursor> &cursors) {
  // Descriptors stand in SPM in the order of their commands. The cluster whose
  // descriptor comes first leads; the others join if theirs are of the same
  // command.
  EventCursor *lead = nullptr;
  for (EventCursor &cursor : cursors)
    if (const ProgramEvent *next = cursor.next();
        next && next->kind == Kind::Dma &&
        (!lead || next->descriptors.front().address <
                      lead->next()->descriptors.front().address))
      lead = &cursor;
  const ProgramEvent &event = *lead->next();
  Location loc = locate(lead->cluster, event.instruction);
  auto command = takeCycles(loc, edf::CommandKind::Dma);
  if (failed(command))
    return failure();

  SmallVector<EngineSides, 8> engines;
  for (EventCursor &cursor : cursors) {
    const ProgramEvent *next = cursor.next();
    if (!next || next->kind != Kind::Dma || next->tag != event.tag ||
        (&cursor != lead &&
         firstDescriptors.count(next->descriptors.front().address)))
      continue;
    for (auto [pe, address] : next->descriptors)
      engines.push_back({cursor.cluster, pe, address, {}, 0, {}, 0});
    tags.start(cursor.cluster, next->tag, next->peMask);
    ++cursor.position;
  }
  llvm::sort(engines, [](const EngineSides &a, const EngineSides &b) {
    return std::tie(a.address, a.cluster, a.pe) <
           std::tie(b.address, b.cluster, b.pe);
  });

  std::optional<SmallVector<int64_t>> advance;
  // Two steps for each scalar of the kernel.
  std::optional<SmallVector<int64_t>> moves;
  std::optional<int64_t> scale;
  for (EngineSides &engine : engines) {
    auto fail = [&]() {
      return emitError(loc)
             << "descriptor at SPM address "
             << llvm::formatv("{0:x}", engine.address).str() << ": ";
    };
    auto bytes = llvm::ArrayRef(kernel.spm.bytes)
                     .slice(engine.address - kernel.spm.base,
                            DmaDescriptor::sizeInBytes);
    llvm::Expected<DmaDescriptor> descriptor = DmaDescriptor::decode(bytes);
    if (!descriptor)
      return fail() << llvm::toString(descriptor.takeError());
    if (Fault fault = descriptor->check())
      return fail() << *fault;
    DmaDescriptor plain = *descriptor;
    bool isIndirect = plain.opcode != DmaOpcode::TensorLoop;
    if (isIndirect != plain.indirectList ||
        isIndirect != (plain.indirectDimension != 0) ||
        llvm::any_of(
            llvm::drop_begin(plain.indirectIndices, isIndirect ? 3 : 0),
            [](uint32_t k) { return k != 0; }))
      return fail() << "not yet supported: indirect access of this kind";
    if (scale && *scale != plain.listScale())
      return fail() << "not yet supported: engines with different scales";
    scale = plain.listScale();
    engine.packet = static_cast<int64_t>(plain.packetBytes());

    SmallVector<int64_t> steps(2 * loopSteps.size());
    SmallVector<int64_t> scales(2 * kernel.scalars.scalars.size());
    auto locateSide = [&](Side &side, uint32_t word, uint64_t base,
                          StringRef name,
                          bool isTargetSide = false) -> LogicalResult {
      if (auto it = relocations.find(word); it != relocations.end()) {
        side.operand = arguments[it->second->operand];
        side.offset = it->second->addend;
        relocations.erase(it);
        // Bases count from the least number.
        for (const edf::ScalarUse *use : wordUses.lookup(word)) {
          int64_t first =
              use->scale * int64_t(kernel.scalars.scalars[use->scalar].min);
          if (llvm::AddOverflow(side.offset, first, side.offset))
            return fail() << name << ": the offset does not fit in 64 bits";
        }
      } else {
        AddressLocation place = rngd::locate(base);
        if (place.kind != AddressLocation::Kind::DM &&
            place.kind != AddressLocation::Kind::Remote)
          return fail() << name << ": " << llvm::formatv("{0:x}", base).str()
                        << " is neither relocated nor in data memory";
        side.offset = static_cast<int64_t>(base);
        if (place.kind == AddressLocation::Kind::DM)
          side.offset -= int64_t(machine::dmBase);
      }
      if (failed(takeStarts(loc, word, isTargetSide, scales)))
        return failure();
      if (side.offset < 0)
        return fail() << name << ": the offset " << side.offset
                      << " lies before the operand";
      return success();
    };
    if (isIndirect &&
        wordUses.contains(engine.address + DmaDescriptor::listOffset))
      return fail() << "not yet supported: an index that starts by a number";
    if (isIndirect &&
        failed(locateSide(engine.list,
                          engine.address + DmaDescriptor::listOffset,
                          plain.listAddress(), "indirect_indices")))
      return failure();
    for (bool isTarget : {false, true}) {
      Side &side = engine.sides[isTarget];
      uint32_t word =
          engine.address + (isTarget ? DmaDescriptor::destinationOffset
                                     : DmaDescriptor::sourceOffset);
      StringRef name = isTarget ? "destination" : "source";
      if (failed(locateSide(side, word,
                            isTarget ? plain.destination : plain.source, name,
                            isTarget)))
        return failure();
      auto &limits = isTarget ? plain.destinationLimits : plain.sourceLimits;
      auto &strides = isTarget ? plain.destinationStrides : plain.sourceStrides;
      bool isTable = isIndirect && isTarget == (plain.opcode ==
                                                DmaOpcode::DestinationIndirect);
      for (unsigned k = limits.size(); k-- > 0;) {
        if (limits[k] == 1 && !(isTable && k == plain.indirectDimension))
          continue;
        if (strides[k] < 0)
          return fail() << name << "_strides[" << k
                        << "]: not yet supported: a negative stride";
        side.sizes.push_back(limits[k]);
        side.strides.push_back(strides[k]);
      }
      for (size_t level = 0; level < loopSteps.size(); ++level)
        steps[2 * level + isTarget] = takeStep(level, word);
    }
    if (isIndirect &&
        failed(joinKeys(engine, plain.opcode == DmaOpcode::SourceIndirect)))
      return fail() << "not yet supported: an index that is not walked by the "
                       "outermost loops";
    if (engine.sides[0].sizes != engine.sides[1].sizes)
      return fail() << "not yet supported: sides with different loops";
    if (advance && *advance != steps)
      return fail() << "not yet supported: engines that advance by different "
                       "steps";
    advance = steps;
    if (moves && *moves != scales)
      return fail() << "not yet supported: engines that start by different "
                       "numbers";
    moves = scales;
  }

  // One buffer of data memory for all engines of a side.
  PlacedBuffer buffers[2];
  for (bool isTarget : {false, true}) {
    const Side &first = engines.front().sides[isTarget];
    BufferUse use;
    use.isWrite = isTarget;
    use.address = std::numeric_limits<int64_t>::max();
    int64_t end = 0;
    for (const EngineSides &engine : engines) {
      const Side &side = engine.sides[isTarget];
      if (side.operand != first.operand)
        return emitError(loc) << "not yet supported: engines with different "
                                 "operands in one DMA";
      auto [first, last] = lir::getSliceBytes(side.offset, side.sizes,
                                              side.strides, engine.packet);
      use.address = std::min(use.address, first);
      end = std::max(end, last);
    }
    if (first.operand) {
      buffers[isTarget].buffer = first.operand;
      continue;
    }
    use.bytes = end - use.address;
    FailureOr<PlacedBuffer> found =
        findBuffer(loc, widen(use, *moves), *command);
    if (failed(found))
      return failure();
    buffers[isTarget] = *found;
  }

  // The index, of which all engines read a part.
  PlacedBuffer index;
  bool isIndirect = engines.front().keys != 0;
  if (isIndirect) {
    index.buffer = engines.front().list.operand;
    BufferUse use;
    use.address = std::numeric_limits<int64_t>::max();
    int64_t end = 0;
    for (const EngineSides &engine : engines) {
      if (engine.list.operand != index.buffer || engine.keys == 0)
        return emitError(loc) << "not yet supported: engines with different "
                                 "indices in one DMA";
      int64_t byte = engine.list.offset % int64_t(machine::dmSliceStride);
      int64_t entries = 1;
      for (int64_t size :
           ArrayRef(engine.sides[0].sizes).take_front(engine.keys))
        entries *= size;
      use.address = std::min(use.address, byte);
      end = std::max(end, byte + 4 * entries);
    }
    use.bytes = end - use.address;
    if (!index.buffer) {
      FailureOr<PlacedBuffer> found = findBuffer(loc, use, *command);
      if (failed(found))
        return failure();
      index = *found;
    }
  }

  SmallVector<Attribute> attributes;
  for (const EngineSides &engine : engines) {
    auto attribute = lir::EngineAttr::getChecked(
        [&]() { return emitError(loc); }, builder.getContext(),
        int64_t(engine.cluster), int64_t(engine.pe),
        engine.sides[0].offset - buffers[0].address,
        engine.sides[1].offset - buffers[1].address,
        ArrayRef<int64_t>(engine.sides[0].sizes),
        ArrayRef<int64_t>(engine.sides[0].strides),
        ArrayRef<int64_t>(engine.sides[1].strides), engine.packet,
        engine.list.offset - index.address, engine.keys);
    if (!attribute)
      return failure();
    attributes.push_back(attribute);
  }
  DenseI64ArrayAttr advanceAttr;
  if (llvm::any_of(*advance, [](int64_t step) { return step != 0; }))
    advanceAttr = builder.getDenseI64ArrayAttr(*advance);
  auto issue = resource::IssueOp::create(
      builder, loc, Type(), resource::Engine::Dma,
      builder.getI64IntegerAttr(event.tag), getCycles(*command), advanceAttr,
      ValueRange(), ValueRange(), DenseI64ArrayAttr());
  setStarts(issue, *moves);
  if (auto cycles = getFirstTrip(*command))
    tagEnds[event.tag] = cycles->second;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&issue.getBody().emplaceBlock());
  lir::DmaOp::create(builder, loc, buffers[0].buffer, Value(),
                     buffers[1].buffer, Value(), index.buffer,
                     isIndirect ? builder.getI64IntegerAttr(*scale)
                                : IntegerAttr(),
                     builder.getArrayAttr(attributes));
  return success();
}
