//===- FromEDF.cpp - A kernel binary as a scheduled program ---------------===//
//
// Brings the programs of all clusters together into one, finds the buffer that
// each access goes to, and builds the ops.
//
//===----------------------------------------------------------------------===//

#include "KernelTranslation.h"
#include "ProgramParser.h"
#include "furiosa/Dialect/Resource/Scheduling/Scheduling.h"

#include "mlir/IR/Verifier.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::rngd;
using Kind = ProgramEvent::Kind;

namespace {

/// A buffer of the memory plan.
struct Placement {
  resource::BufferOp op;
  lir::Tier tier;
  /// Bytes, in a lane for TRF.
  int64_t address;
  int64_t bytes;
  int64_t lanes;
  int64_t firstCycle;
  int64_t lastCycle;
  /// Rises with every write; 0 if there was none.
  unsigned lastWrite = 0;
};

/// A list of commands of one cluster, and how many of them are built.
struct EventCursor {
  unsigned cluster;
  ArrayRef<ProgramEvent> events;
  size_t position = 0;

  const ProgramEvent *next() const {
    return position < events.size() ? &events[position] : nullptr;
  }
};

class KernelReader {
public:
  /// For kernel `index` of the file, which is `kernel`.
  KernelReader(const edf::Reader &reader, unsigned index, edf::Kernel kernel,
               MLIRContext *context)
      : reader(reader), index(index), builder(context),
        kernel(std::move(kernel)) {}

  OwningOpRef<ModuleOp> run();

private:
  Location locate(const Twine &place) {
    return NameLoc::get(builder.getStringAttr(
        Twine(reader.fileName()) + ": " +
        (reader.numKernels() > 1 ? "kernel " + Twine(index) + ": " : Twine()) +
        place));
  }
  /// With the source line, if the file has one.
  Location locate(unsigned cluster, size_t instruction);

  LogicalResult parsePrograms();
  LogicalResult buildArguments();
  LogicalResult buildBuffers();
  LogicalResult buildBlock(SmallVectorImpl<EventCursor> &cursors);
  LogicalResult buildLoop(ArrayRef<const ProgramEvent *> events,
                          ArrayRef<EventCursor> cursors);
  LogicalResult buildExecution(const ProgramEvent &event, unsigned cluster);
  LogicalResult buildFill(const ProgramEvent &event, unsigned cluster);
  LogicalResult buildBarrier(const ProgramEvent &event, unsigned cluster);
  LogicalResult buildDma(SmallVectorImpl<EventCursor> &cursors);
  LogicalResult checkSame(ArrayRef<EventCursor> cursors);
  bool isReady(ArrayRef<EventCursor> cursors, unsigned tag) const;
  LogicalResult buildWait(SmallVectorImpl<EventCursor> &cursors, unsigned tag);

  /// The cycles of the next command; null where no schedule is known.
  FailureOr<const edf::ScheduledCommand *> takeCycles(Location loc,
                                                      edf::CommandKind kind);
  DenseI64ArrayAttr getCycles(const edf::ScheduledCommand *command) {
    if (!command)
      return {};
    return builder.getDenseI64ArrayAttr(
        {int64_t(command->begin), int64_t(command->end)});
  }
  FailureOr<PlacedBuffer> findBuffer(Location loc, const BufferUse &use,
                                     const edf::ScheduledCommand *command);
  /// The queue of the program's own block gets on when a command ends.
  void passCycle(int64_t end) {
    if (clock)
      clock = std::max(*clock, end);
  }
  /// What a loop adds to a word in an iteration.
  int64_t takeStep(size_t level, uint32_t word);

  const edf::Reader &reader;
  unsigned index;
  OpBuilder builder;
  edf::Kernel kernel;
  uint8_t allPEs = 0;
  int64_t pes = 1;
  SmallVector<std::vector<ProgramEvent>, 2> programs;
  /// Of each cluster's program in the file.
  std::array<size_t, machine::clusters> programIndex = {};

  SmallVector<Value> arguments;
  /// Numbers of the host by the SPM word that holds them, and the words that
  /// count trips.
  llvm::DenseMap<uint32_t, Value> counts;
  llvm::DenseSet<uint32_t> usedCounts;
  std::vector<Placement> placements;
  unsigned numWrites = 0;
  /// Relocations by the word that they set; erased when used.
  llvm::DenseMap<uint32_t, const edf::Relocation *> relocations;
  /// Addresses of the first descriptors of DMAs, where the schedule says them.
  llvm::DenseSet<uint32_t> firstDescriptors;
  bool hasSchedule = false;
  size_t scheduled = 0;
  /// When the queue gets to the next command of the program's own block;
  /// nothing where the cycles are not known.
  std::optional<int64_t> clock;
  /// The ends of what that block has issued.
  std::array<int64_t, 2> contextEnds = {};
  llvm::DenseMap<unsigned, int64_t> tagEnds;
  /// Cycles from the first to the last trip of the outermost loop around.
  std::optional<std::pair<int64_t, int64_t>> loopCycles;
  /// Steps of the loops around that no descriptor has taken yet.
  SmallVector<llvm::DenseMap<uint32_t, int64_t>, 4> loopSteps;
  TagTracker tags;
};

} // namespace

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

Location KernelReader::locate(unsigned cluster, size_t instruction) {
  Location place = locate("PROG: cluster " + Twine(cluster) + ", instruction " +
                          Twine(instruction));
  const edf::Locations &locations = kernel.locations;
  // The last line that begins at the instruction or before.
  auto at =
      llvm::partition_point(locations.lines, [&](const edf::SourceLine &line) {
        return std::pair<size_t, size_t>(line.program, line.instruction) <=
               std::pair<size_t, size_t>(programIndex[cluster], instruction);
      });
  if (at == locations.lines.begin())
    return place;
  const edf::SourceLine &line = *std::prev(at);
  if (line.program != programIndex[cluster] || line.line == 0)
    return place;
  return NameLoc::get(cast<NameLoc>(place).getName(),
                      FileLineColLoc::get(builder.getContext(),
                                          locations.files[line.file], line.line,
                                          line.column));
}

LogicalResult KernelReader::parsePrograms() {
  // Before the programs are sorted, as source lines count them.
  for (auto [i, program] : llvm::enumerate(kernel.programs))
    programIndex[program.cluster] = i;
  llvm::sort(kernel.programs, [](const edf::Program &a, const edf::Program &b) {
    return a.cluster < b.cluster;
  });
  uint8_t used = 0;
  for (const edf::Program &program : kernel.programs)
    for (const edf::Instruction &instruction : program.instructions)
      used |= instruction.peMask;
  pes = used == 0 || used > 3 ? 4 : used > 1 ? 2 : 1;
  allPEs = static_cast<uint8_t>((1u << pes) - 1);
  for (const edf::Program &program : kernel.programs) {
    ProgramParser parser(program, kernel.spm, allPEs);
    std::optional<std::vector<ProgramEvent>> events = parser.run();
    if (!events)
      return emitError(locate(program.cluster, parser.getFault().instruction),
                       parser.getFault().message);
    programs.push_back(std::move(*events));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Operands and buffers
//===----------------------------------------------------------------------===//

static std::optional<int64_t> toSigned(uint64_t value) {
  if (value > uint64_t(std::numeric_limits<int64_t>::max()))
    return std::nullopt;
  return static_cast<int64_t>(value);
}

LogicalResult KernelReader::buildArguments() {
  MLIRContext *context = builder.getContext();
  for (auto [i, operand] : llvm::enumerate(kernel.arguments.operands)) {
    Location loc = locate("ARGS: operand " + Twine(i));
    auto report = [&]() { return emitError(loc); };
    if (operand.role == edf::Role::Constant)
      return report() << "not yet supported: a constant";
    // `checkKernel` has bounded the bytes by the memory.
    auto type = lir::MemType::getChecked(report, context, lir::Tier::Hbm,
                                         int64_t(operand.bytes), int64_t(1));
    if (!type)
      return failure();
    resource::OperandAttr tensor;
    if (!operand.axes.empty() || !operand.chipMapping.empty() ||
        !operand.elementMapping.empty() || operand.type != ElementType::I8) {
      Type element = getMLIRType(context, operand.type);
      SmallVector<StringAttr> axes;
      SmallVector<int64_t> sizes;
      for (const edf::Axis &axis : operand.axes) {
        std::optional<int64_t> size = toSigned(axis.size);
        if (!size)
          return report() << "axis of " << axis.size << " elements";
        axes.push_back(builder.getStringAttr(axis.name));
        sizes.push_back(*size);
      }
      tensor = resource::OperandAttr::getChecked(
          report, context, element, StringRef(operand.chipMapping),
          StringRef(operand.elementMapping), ArrayRef(axes), ArrayRef(sizes));
      if (!tensor)
        return failure();
    }
    arguments.push_back(resource::ArgumentOp::create(
        builder, loc, type, int64_t(i),
        static_cast<resource::Role>(operand.role),
        builder.getStringAttr(operand.name), tensor, DenseI64ArrayAttr()));
  }
  for (const edf::Scalar &scalar : kernel.scalars.scalars)
    arguments[scalar.operand]
        .getDefiningOp<resource::ArgumentOp>()
        .setRangeAttr(builder.getDenseI64ArrayAttr({scalar.min, scalar.max}));
  for (const edf::ScalarUse &use : kernel.scalars.uses) {
    uint64_t word = llvm::support::endian::read64le(
        kernel.spm.bytes.data() + (use.spmAddress - kernel.spm.base));
    Value argument = arguments[kernel.scalars.scalars[use.scalar].operand];
    if (use.scale != 1 || word != 0 ||
        !counts.try_emplace(use.spmAddress, argument).second)
      return emitError(locate("SCAL"))
             << "not yet supported: a number that is scaled or added in SPM "
                "address "
             << llvm::formatv("{0:x}", use.spmAddress).str();
  }
  for (const edf::Relocation &relocation : kernel.arguments.relocations)
    if (!relocations.try_emplace(relocation.spmAddress, &relocation).second)
      return emitError(locate("ARGS"))
             << "not yet supported: two relocations of SPM address "
             << llvm::formatv("{0:x}", relocation.spmAddress).str();
  return success();
}

LogicalResult KernelReader::buildBuffers() {
  auto sameBuffers = [](edf::PlanEntry a, const edf::PlanEntry &b) {
    a.cluster = b.cluster;
    // Each cluster may have strings of its own.
    a.name = b.name;
    return a == b;
  };
  SmallVector<SmallVector<edf::PlanEntry>, 2> plans(kernel.programs.size());
  for (auto [i, entry] : llvm::enumerate(kernel.plan)) {
    auto program = llvm::find_if(kernel.programs, [&](const auto &p) {
      return p.cluster == entry.cluster;
    });
    if (program == kernel.programs.end())
      return emitError(locate("PLAN: entry " + Twine(i)))
             << "cluster " << entry.cluster << " has no program";
    plans[program - kernel.programs.begin()].push_back(entry);
  }
  for (auto &plan : plans)
    if (plan.size() != plans[0].size() ||
        !std::equal(plan.begin(), plan.end(), plans[0].begin(), sameBuffers))
      return emitError(locate("PLAN"))
             << "not yet supported: clusters with different buffers";

  for (auto [i, entry] : llvm::enumerate(plans[0])) {
    Location loc = locate("PLAN: entry " + Twine(i));
    auto report = [&]() { return emitError(loc); };
    Placement placed;
    placed.tier = entry.tier == edf::Tier::DM    ? lir::Tier::Dm
                  : entry.tier == edf::Tier::TRF ? lir::Tier::Trf
                                                 : lir::Tier::Vrf;
    placed.address = entry.address;
    placed.bytes = entry.size;
    placed.lanes = entry.tier == edf::Tier::TRF ? entry.lanes : 1;
    std::optional<int64_t> first = toSigned(entry.firstCycle);
    std::optional<int64_t> last = toSigned(entry.lastCycle);
    if (!first || !last)
      return report() << "cycles do not fit in 63 bits";
    placed.firstCycle = *first;
    placed.lastCycle = *last;
    auto type =
        lir::MemType::getChecked(report, builder.getContext(), placed.tier,
                                 placed.bytes * placed.lanes, placed.lanes);
    if (!type)
      return failure();
    placed.op = resource::BufferOp::create(
        builder, loc, type, builder.getI64IntegerAttr(placed.address),
        builder.getDenseI64ArrayAttr({*first, *last}));
    if (entry.name < kernel.names.strings.size())
      placed.op->setAttr(bufferNameAttr, builder.getStringAttr(
                                             kernel.names.strings[entry.name]));
    placements.push_back(placed);
  }
  return success();
}

FailureOr<PlacedBuffer>
KernelReader::findBuffer(Location loc, const BufferUse &use,
                         const edf::ScheduledCommand *command) {
  // The plan may give one place to several buffers, one after the other. Cycles
  // tell them apart; what a loop uses lives for all its trips. Where none are
  // known, a read is of what has been written last.
  std::optional<std::pair<int64_t, int64_t>> cycles = loopCycles;
  if (command && loopSteps.empty())
    cycles = {int64_t(command->begin), int64_t(command->end)};
  Placement *best = nullptr;
  std::tuple<bool, bool, unsigned, bool> bestScore;
  for (Placement &placed : placements) {
    if (placed.tier != use.tier || placed.lanes != use.lanes)
      continue;
    int64_t start = use.address - placed.address;
    int64_t end = start + use.bytes;
    if (start < 0 || start >= placed.bytes || end - use.slack > placed.bytes ||
        (use.isStart && start != 0) || (use.isWhole && end != placed.bytes))
      continue;
    bool isLive = cycles && placed.firstCycle <= cycles->first &&
                  cycles->second <= placed.lastCycle;
    if (use.isProbe && cycles && !isLive)
      continue;
    std::tuple score(isLive, end <= placed.bytes,
                     use.isWrite ? 0 : placed.lastWrite, start == 0);
    if (best && score <= bestScore)
      continue;
    best = &placed;
    bestScore = score;
  }
  if (!best && use.isProbe)
    return failure();
  if (!best)
    return emitError(loc) << "no buffer of the plan holds the "
                          << lir::stringifyTier(use.tier) << " bytes "
                          << use.address << " to "
                          << use.address + use.bytes - 1
                          << (use.tier == lir::Tier::Trf
                                  ? " of " + std::to_string(use.lanes) +
                                        " lanes"
                                  : std::string())
                          << (use.isWhole ? " exactly" : "");
  if (use.isWrite)
    best->lastWrite = ++numWrites;
  return PlacedBuffer{best->op.getResult(), best->address};
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

FailureOr<const edf::ScheduledCommand *>
KernelReader::takeCycles(Location loc, edf::CommandKind kind) {
  if (!hasSchedule)
    return static_cast<const edf::ScheduledCommand *>(nullptr);
  if (scheduled == kernel.schedule.commands.size())
    return emitError(loc) << "SCHD has fewer commands than PROG";
  const edf::ScheduledCommand &command = kernel.schedule.commands[scheduled];
  if (command.kind != kind)
    return emitError(loc) << "SCHD: command " << scheduled << " is "
                          << edf::toString(command.kind) << ", PROG has "
                          << edf::toString(kind);
  if (!toSigned(command.begin) || !toSigned(command.end))
    return emitError(loc) << "SCHD: cycles of command " << scheduled
                          << " do not fit in 63 bits";
  ++scheduled;
  return &command;
}

LogicalResult KernelReader::buildExecution(const ProgramEvent &event,
                                           unsigned cluster) {
  bool isMain = event.context == codes::ExecTarget::Main;
  Location loc = locate(cluster, event.instruction);
  auto command =
      takeCycles(loc, isMain ? edf::CommandKind::Main : edf::CommandKind::Sub);
  if (failed(command))
    return failure();
  auto issue = resource::IssueOp::create(
      builder, loc, Type(),
      isMain ? resource::Engine::Main : resource::Engine::Sub, IntegerAttr(),
      getCycles(*command), DenseI64ArrayAttr(), ValueRange());
  if (*command && loopSteps.empty())
    contextEnds[!isMain] = int64_t((*command)->end);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&issue.getBody().emplaceBlock());
  return buildExec(builder, loc, *event.config, [&](const BufferUse &use) {
    return findBuffer(loc, use, *command);
  });
}

int64_t KernelReader::takeStep(size_t level, uint32_t word) {
  auto it = loopSteps[level].find(word);
  if (it == loopSteps[level].end())
    return 0;
  int64_t addend = it->second;
  loopSteps[level].erase(it);
  return addend;
}

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
    auto locateSide = [&](Side &side, uint32_t word, uint64_t base,
                          StringRef name) -> LogicalResult {
      if (auto it = relocations.find(word); it != relocations.end()) {
        side.operand = arguments[it->second->operand];
        side.offset = it->second->addend;
        relocations.erase(it);
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
      if (side.offset < 0)
        return fail() << name << ": the offset " << side.offset
                      << " lies before the operand";
      return success();
    };
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
                            isTarget ? plain.destination : plain.source, name)))
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
      int64_t span = machine::dmSliceStride;
      int64_t first = side.offset % span, last = first;
      // Eight terms of 16 and 22 bits. A step to an earlier byte of the next
      // slice is shorter than a slice.
      for (auto [size, stride] : llvm::zip(side.sizes, side.strides)) {
        int64_t step = (stride + span / 2) % span - span / 2;
        (step < 0 ? first : last) += (size - 1) * step;
      }
      use.address = std::min(use.address, first);
      end = std::max(end, last + engine.packet);
    }
    if (first.operand) {
      buffers[isTarget].buffer = first.operand;
      continue;
    }
    use.bytes = end - use.address;
    FailureOr<PlacedBuffer> found = findBuffer(loc, use, *command);
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
  auto issue =
      resource::IssueOp::create(builder, loc, Type(), resource::Engine::Dma,
                                builder.getI64IntegerAttr(event.tag),
                                getCycles(*command), advanceAttr, ValueRange());
  if (*command && loopSteps.empty())
    tagEnds[event.tag] = int64_t((*command)->end);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&issue.getBody().emplaceBlock());
  lir::DmaOp::create(builder, loc, buffers[0].buffer, Value(),
                     buffers[1].buffer, Value(), index.buffer,
                     isIndirect ? builder.getI64IntegerAttr(*scale)
                                : IntegerAttr(),
                     builder.getArrayAttr(attributes));
  return success();
}

//===----------------------------------------------------------------------===//
// Clusters side by side
//===----------------------------------------------------------------------===//

/// Whether all clusters that wait for a tag have come to that wait.
bool KernelReader::isReady(ArrayRef<EventCursor> cursors, unsigned tag) const {
  bool anyone = false;
  for (const EventCursor &cursor : cursors) {
    uint8_t waiting = tags.getWaiting(cursor.cluster, tag);
    if (waiting == 0)
      continue;
    anyone = true;
    const ProgramEvent *next = cursor.next();
    if (!next || next->kind != Kind::WaitTag || next->tag != tag ||
        next->peMask != waiting)
      return false;
  }
  return anyone;
}

LogicalResult KernelReader::buildWait(SmallVectorImpl<EventCursor> &cursors,
                                      unsigned tag) {
  std::optional<Location> loc;
  for (EventCursor &cursor : cursors) {
    if (tags.getWaiting(cursor.cluster, tag) == 0)
      continue;
    if (!loc)
      loc = locate(cursor.cluster, cursor.next()->instruction);
    ++cursor.position;
  }
  tags.finish(tag);
  if (loopSteps.empty())
    passCycle(tagEnds.lookup(tag));
  resource::WaitOp::create(builder, *loc, resource::Engine::Dma,
                           builder.getI64IntegerAttr(tag));
  return success();
}

/// Commands other than DMAs and their waits are the same on all clusters.
LogicalResult KernelReader::checkSame(ArrayRef<EventCursor> cursors) {
  const ProgramEvent *first = cursors.front().next();
  for (const EventCursor &cursor : cursors) {
    const ProgramEvent *next = cursor.next();
    bool isSame = first && next && first->kind == next->kind &&
                  first->context == next->context &&
                  first->images == next->images &&
                  first->operands == next->operands &&
                  first->trips == next->trips && first->count == next->count &&
                  first->begin == next->begin && first->end == next->end &&
                  first->pattern == next->pattern;
    if (isSame)
      continue;
    const EventCursor &there = next ? cursor : cursors.front();
    return emitError(locate(there.cluster, there.next()->instruction))
           << "not yet supported: clusters with different commands";
  }
  return success();
}

LogicalResult KernelReader::buildLoop(ArrayRef<const ProgramEvent *> events,
                                      ArrayRef<EventCursor> cursors) {
  const ProgramEvent &first = *events.front();
  Location loc = locate(cursors.front().cluster, first.instruction);
  auto command = takeCycles(loc, edf::CommandKind::Loop);
  if (failed(command))
    return failure();
  Value count;
  if (first.count != 0) {
    count = counts.lookup(first.count);
    if (!count)
      return emitError(loc) << "not yet supported: trips that no argument says";
    usedCounts.insert(first.count);
  }
  // A barrier that ends each iteration is the loop's own.
  bool hasBarrier =
      !first.body.empty() && first.body.back().kind == Kind::Barrier;
  auto loop = resource::LoopOp::create(
      builder, loc, Type(), builder.getI64IntegerAttr(first.trips),
      hasBarrier ? builder.getUnitAttr() : UnitAttr(),
      *command ? builder.getI64IntegerAttr(int64_t((*command)->end))
               : IntegerAttr(),
      count, ValueRange());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&loop.getBody().emplaceBlock());

  if (loopSteps.empty()) {
    int64_t length, end;
    if (clock && *command &&
        !llvm::MulOverflow(int64_t(first.trips), int64_t((*command)->end),
                           length) &&
        !llvm::AddOverflow(*clock, length, end))
      loopCycles = {*clock, end};
    clock = loopCycles ? std::optional(loopCycles->second) : std::nullopt;
  }
  loopSteps.emplace_back();
  SmallVector<EventCursor, 2> bodies;
  for (auto [event, cursor] : llvm::zip(events, cursors)) {
    bodies.push_back(
        {cursor.cluster, ArrayRef(event->body).drop_back(hasBarrier)});
    for (const ProgramEvent::Step &step : event->steps)
      if (!loopSteps.back().try_emplace(step.address, step.addend).second)
        return emitError(locate(cursor.cluster, step.instruction))
               << "not yet supported: two clusters ADD to one word";
  }
  if (failed(buildBlock(bodies)))
    return failure();
  // In the order of the program, so that the message is always the same.
  for (auto [event, cursor] : llvm::zip(events, cursors))
    for (const ProgramEvent::Step &step : event->steps)
      if (loopSteps.back().count(step.address))
        return emitError(locate(cursor.cluster, step.instruction))
               << "not yet supported: ADD to SPM address "
               << llvm::formatv("{0:x}", step.address).str()
               << ", which is no base of a DMA in the loop";
  loopSteps.pop_back();
  if (loopSteps.empty())
    loopCycles.reset();
  return success();
}

LogicalResult KernelReader::buildFill(const ProgramEvent &event,
                                      unsigned cluster) {
  Location loc = locate(cluster, event.instruction);
  auto command = takeCycles(loc, edf::CommandKind::Sub);
  if (failed(command))
    return failure();
  BufferUse use;
  use.isWrite = use.isStart = use.isWhole = true;
  use.address = static_cast<int64_t>(event.begin);
  use.bytes = static_cast<int64_t>(event.end - event.begin);
  FailureOr<PlacedBuffer> target = findBuffer(loc, use, *command);
  if (failed(target))
    return failure();
  auto issue = resource::IssueOp::create(
      builder, loc, Type(), resource::Engine::Sub, IntegerAttr(),
      getCycles(*command), DenseI64ArrayAttr(), ValueRange());
  if (*command && loopSteps.empty())
    contextEnds[1] = int64_t((*command)->end);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&issue.getBody().emplaceBlock());
  auto exec = lir::ExecOp::create(builder, loc, lir::Context::Sub);
  builder.setInsertionPointToStart(&exec.getBody().emplaceBlock());
  lir::FillOp::create(builder, loc, target->buffer, int64_t(event.pattern));
  return success();
}

LogicalResult KernelReader::buildBarrier(const ProgramEvent &event,
                                         unsigned cluster) {
  Location loc = locate(cluster, event.instruction);
  auto command = takeCycles(loc, edf::CommandKind::Sync);
  if (failed(command))
    return failure();
  auto loop = resource::LoopOp::create(
      builder, loc, Type(), builder.getI64IntegerAttr(1), builder.getUnitAttr(),
      *command ? builder.getI64IntegerAttr(0) : IntegerAttr(), Value(),
      ValueRange());
  loop.getBody().emplaceBlock();
  return success();
}

LogicalResult KernelReader::buildBlock(SmallVectorImpl<EventCursor> &cursors) {
  while (true) {
    // A wait that all its clusters have come to; then a DMA; then what all
    // clusters do.
    const EventCursor *wait = nullptr;
    bool anyDma = false, isDone = true;
    for (const EventCursor &cursor : cursors) {
      const ProgramEvent *next = cursor.next();
      if (!next)
        continue;
      isDone = false;
      anyDma |= next->kind == Kind::Dma;
      if (!wait && next->kind == Kind::WaitTag && isReady(cursors, next->tag))
        wait = &cursor;
    }
    if (isDone)
      return success();
    if (wait) {
      if (failed(buildWait(cursors, wait->next()->tag)))
        return failure();
      continue;
    }
    if (anyDma) {
      if (failed(buildDma(cursors)))
        return failure();
      continue;
    }
    if (failed(checkSame(cursors)))
      return failure();
    const ProgramEvent &event = *cursors.front().next();
    Location loc = locate(cursors.front().cluster, event.instruction);
    SmallVector<const ProgramEvent *, 2> events;
    for (EventCursor &cursor : cursors)
      events.push_back(&cursor.events[cursor.position++]);
    switch (event.kind) {
    case Kind::Exec:
      if (failed(buildExecution(event, cursors.front().cluster)))
        return failure();
      break;
    case Kind::Fill:
      if (failed(buildFill(event, cursors.front().cluster)))
        return failure();
      break;
    case Kind::Barrier:
      if (failed(buildBarrier(event, cursors.front().cluster)))
        return failure();
      break;
    case Kind::WaitContext:
      if (loopSteps.empty())
        passCycle(contextEnds[event.context == codes::ExecTarget::Sub]);
      resource::WaitOp::create(builder, loc,
                               event.context == codes::ExecTarget::Main
                                   ? resource::Engine::Main
                                   : resource::Engine::Sub,
                               IntegerAttr());
      break;
    case Kind::Loop:
      if (failed(buildLoop(events, cursors)))
        return failure();
      break;
    case Kind::WaitTag:
      return emitError(loc)
             << "not yet supported: a wait for tag " << event.tag
             << " on PEs other than those that started a DMA with it";
    case Kind::Dma:
      break;
    }
  }
}

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

OwningOpRef<ModuleOp> KernelReader::run() {
  Location file = NameLoc::get(builder.getStringAttr(reader.fileName()));
  if (kernel.programs.empty()) {
    emitError(locate("PROG")) << "there is no program";
    return {};
  }
  if (failed(parsePrograms()))
    return {};

  auto [moduleName, name] = StringRef(kernel.names.kernel).rsplit("::");
  if (!StringRef(kernel.names.kernel).contains("::"))
    std::swap(moduleName, name);
  OwningOpRef<ModuleOp> module(ModuleOp::create(
      builder, file,
      moduleName.empty() ? std::nullopt : std::optional(moduleName)));
  builder.setInsertionPointToStart(module->getBody());

  hasSchedule = kernel.schedule != edf::Schedule();
  IntegerAttr makespan, lowerBound;
  if (hasSchedule) {
    std::optional<int64_t> cycles = toSigned(kernel.schedule.makespan);
    std::optional<int64_t> bound = toSigned(kernel.schedule.lowerBound);
    if (!cycles || !bound) {
      emitError(locate("SCHD")) << "cycles do not fit in 63 bits";
      return {};
    }
    clock = scheduling::getKernelStart();
    makespan = builder.getI64IntegerAttr(*cycles);
    lowerBound = builder.getI64IntegerAttr(*bound);
    for (const edf::ScheduledCommand &command : kernel.schedule.commands)
      if (command.kind == edf::CommandKind::Dma &&
          command.index < kernel.spm.items.size())
        firstDescriptors.insert(kernel.spm.items[command.index].address);
  }
  SmallVector<int64_t> clusters;
  SmallVector<EventCursor, 2> cursors;
  for (auto [program, events] : llvm::zip(kernel.programs, programs)) {
    clusters.push_back(program.cluster);
    cursors.push_back({program.cluster, events});
  }
  auto program = resource::ProgramOp::create(
      builder, file, builder.getStringAttr(name.empty() ? "kernel" : name),
      builder.getI64IntegerAttr(pes), builder.getDenseI64ArrayAttr(clusters),
      builder.getStringAttr(kernel.info.release.empty()
                                ? toString(latestRelease)
                                : StringRef(kernel.info.release)),
      makespan, lowerBound);
  builder.setInsertionPointToStart(&program.getBody().emplaceBlock());
  // The tables of lir are those of the formats.
  for (const edf::Constant &constant : kernel.constants)
    if (constant.kind == edf::ConstantKind::Table &&
        constant.bytes != edf::makeLookupTable(constant.index)) {
      emitError(locate("CNST"))
          << "not yet supported: entries of its own in lookup table "
          << constant.index;
      return {};
    }
  if (failed(buildArguments()) || failed(buildBuffers()) ||
      failed(buildBlock(cursors)))
    return {};
  if (hasSchedule && scheduled != kernel.schedule.commands.size()) {
    emitError(locate("SCHD")) << "has more commands than PROG";
    return {};
  }
  for (const edf::Relocation &relocation : kernel.arguments.relocations)
    if (relocations.count(relocation.spmAddress)) {
      emitError(locate("ARGS"))
          << "not yet supported: the relocation of SPM address "
          << llvm::formatv("{0:x}", relocation.spmAddress).str()
          << ", which is no base of a DMA";
      return {};
    }
  for (const edf::ScalarUse &use : kernel.scalars.uses)
    if (!usedCounts.contains(use.spmAddress)) {
      emitError(locate("SCAL")) << "not yet supported: a number in SPM address "
                                << llvm::formatv("{0:x}", use.spmAddress).str()
                                << ", which counts no trips";
      return {};
    }
  if (failed(verify(*module)))
    return {};
  return module;
}

OwningOpRef<ModuleOp> rngd::translateFromEDF(const edf::Reader &reader,
                                             MLIRContext *context) {
  context->loadDialect<lir::LIRDialect, resource::ResourceDialect>();
  llvm::Expected<std::vector<edf::Kernel>> kernels = reader.loadAll();
  if (!kernels) {
    // The reader names the file itself.
    emitError(UnknownLoc::get(context), llvm::toString(kernels.takeError()));
    return {};
  }
  OwningOpRef<ModuleOp> module;
  for (auto [index, kernel] : llvm::enumerate(*kernels)) {
    OwningOpRef<ModuleOp> single =
        KernelReader(reader, static_cast<unsigned>(index), std::move(kernel),
                     context)
            .run();
    if (!single)
      return {};
    if (!module) {
      module = std::move(single);
      continue;
    }
    if (module->getSymName() != single->getSymName()) {
      emitError(single->getLoc())
          << "not yet supported: kernels of several modules";
      return {};
    }
    module->getBody()->getOperations().splice(
        module->getBody()->end(), single->getBody()->getOperations());
  }
  // Names of programs are unique in a module.
  if (failed(verify(*module)))
    return {};
  return module;
}
