//===- FromEDF.cpp - A kernel binary as a scheduled program ---------------===//
//
// Brings the programs of all clusters together into one, finds the buffer that
// each access goes to, and builds the ops.
//
//===----------------------------------------------------------------------===//

#include "KernelReader.h"
#include "furiosa/Dialect/Resource/Scheduling/Scheduling.h"

#include "mlir/IR/Verifier.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::rngd;
using Kind = ProgramEvent::Kind;

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

//===----------------------------------------------------------------------===//
// Numbers of the host
//===----------------------------------------------------------------------===//

/// A word of the image, which `checkKernel` has found inside.
static uint64_t readWord(const edf::SpmImage &spm, uint32_t address) {
  return llvm::support::endian::read64le(spm.bytes.data() +
                                         (address - spm.base));
}

/// All that numbers move, but for what is relocated, lies where their least
/// would have it: there bases are in their buffers.
LogicalResult KernelReader::applyLeastNumbers() {
  llvm::DenseSet<uint32_t> relocated;
  for (const edf::Relocation &relocation : kernel.arguments.relocations)
    relocated.insert(relocation.spmAddress);
  for (const edf::ScalarUse &use : kernel.scalars.uses) {
    wordUses[use.spmAddress].push_back(&use);
    int64_t least;
    if (llvm::MulOverflow(
            use.scale, int64_t(kernel.scalars.scalars[use.scalar].min), least))
      return emitError(locate("SCAL"))
             << "not yet supported: a number that does not fit in 64 bits in "
                "SPM address "
             << llvm::formatv("{0:x}", use.spmAddress).str();
    if (!relocated.contains(use.spmAddress))
      llvm::support::endian::write64le(
          kernel.spm.bytes.data() + (use.spmAddress - kernel.spm.base),
          readWord(kernel.spm, use.spmAddress) + uint64_t(least));
  }
  return success();
}

LogicalResult KernelReader::takeStarts(Location loc, uint32_t word,
                                       bool isTarget,
                                       SmallVectorImpl<int64_t> &scales) {
  for (const edf::ScalarUse *use : wordUses.lookup(word)) {
    int64_t &total = scales[2 * use->scalar + isTarget];
    if (llvm::AddOverflow(total, use->scale, total))
      return emitError(loc) << "SCAL: the offset does not fit in 64 bits";
    usedWords.insert(word);
  }
  return success();
}

void KernelReader::setStarts(resource::IssueOp issue,
                             ArrayRef<int64_t> scales) {
  SmallVector<Value> numbers;
  SmallVector<int64_t> steps;
  for (auto [i, scalar] : llvm::enumerate(kernel.scalars.scalars))
    if (scales[2 * i] != 0 || scales[2 * i + 1] != 0) {
      numbers.push_back(arguments[scalar.operand]);
      steps.append({scales[2 * i], scales[2 * i + 1]});
    }
  if (numbers.empty())
    return;
  issue.getNumbersMutable().assign(numbers);
  issue.setStarts(steps);
}

BufferUse KernelReader::widen(BufferUse use, ArrayRef<int64_t> scales) const {
  for (auto [i, scalar] : llvm::enumerate(kernel.scalars.scalars)) {
    int64_t scale = scales[2 * i + use.isWrite];
    // No buffer holds what is larger than all memories.
    uint64_t size = scale < 0 ? -uint64_t(scale) : uint64_t(scale);
    int64_t reach = std::min<uint64_t>(
        llvm::SaturatingMultiply(
            uint64_t(int64_t(scalar.max) - int64_t(scalar.min)), size),
        machine::hbmBytes);
    use.bytes += reach;
    if (scale < 0)
      use.address -= reach;
  }
  return use;
}

/// A loop counts by the sum that a word holds.
LogicalResult KernelReader::setCount(resource::LoopOp loop, uint32_t word) {
  if (!wordUses.contains(word))
    return emitError(loop.getLoc())
           << "not yet supported: trips that no argument says";
  SmallVector<int64_t> scales(2 * kernel.scalars.scalars.size());
  if (failed(takeStarts(loop.getLoc(), word, /*isTarget=*/false, scales)))
    return failure();
  uint64_t plus = readWord(kernel.spm, word);
  SmallVector<Value> counts;
  SmallVector<int64_t> steps;
  for (auto [i, scalar] : llvm::enumerate(kernel.scalars.scalars)) {
    int64_t scale = scales[2 * i];
    if (scale == 0)
      continue;
    plus -= uint64_t(scale) * uint64_t(int64_t(scalar.min));
    counts.push_back(arguments[scalar.operand]);
    steps.push_back(scale);
  }
  if (counts.empty())
    return emitError(loop.getLoc())
           << "not yet supported: trips that no argument says";
  loop.getCountsMutable().assign(counts);
  if (llvm::any_of(steps, [](int64_t step) { return step != 1; }))
    loop.setScales(steps);
  if (plus != 0)
    loop.setPlus(int64_t(plus));
  return success();
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

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
    if (&program != &kernel.programs.front() &&
        parser.getTests() != ArrayRef(tests))
      return emitError(locate(program.cluster, 0))
             << "not yet supported: clusters with different tests";
    tests = parser.getTests().vec();
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
  // tell them apart; what a loop uses lives in its first trip at least. Where
  // none are known, a read is of what has been written last.
  std::optional<std::pair<int64_t, int64_t>> cycles = getFirstTrip(command);
  Placement *best = nullptr;
  std::tuple<bool, unsigned, bool> bestScore;
  for (Placement &placed : placements) {
    if (placed.tier != use.tier || placed.lanes != use.lanes)
      continue;
    int64_t start = use.address - placed.address;
    int64_t end = start + use.bytes;
    if (start < 0 || start >= placed.bytes || end > placed.bytes ||
        (use.isStart && start != 0) || (use.isWhole && end != placed.bytes))
      continue;
    bool isLive = cycles && placed.firstCycle <= cycles->first &&
                  cycles->second <= placed.lastCycle;
    if (use.isProbe && cycles && !isLive)
      continue;
    std::tuple score(isLive, use.isWrite ? 0 : placed.lastWrite, start == 0);
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
      isMain ? resource::Engine::Main : resource::Engine::Sub,
      getCycles(*command));
  if (auto cycles = getFirstTrip(*command))
    contextEnds[!isMain] = cycles->second;
  SmallVector<int64_t> scales(2 * kernel.scalars.scalars.size());
  for (auto [block, image] :
       llvm::zip(blocksOnRoute(event.config->route, event.config->context),
                 event.images))
    if (std::optional<bool> isTarget = isMovedBlock(block))
      if (failed(
              takeStarts(loc, image + getBaseOffset(block), *isTarget, scales)))
        return failure();
  setStarts(issue, scales);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&issue.getBody().emplaceBlock());
  return buildExec(builder, loc, *event.config, [&](const BufferUse &use) {
    bool isMoved = use.tier == lir::Tier::Dm;
    return findBuffer(loc, isMoved ? widen(use, scales) : use, *command);
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
    bool isSame =
        first && next && first->kind == next->kind &&
        first->context == next->context && first->images == next->images &&
        first->operands == next->operands && first->trips == next->trips &&
        first->count == next->count && first->begin == next->begin &&
        first->end == next->end && first->pattern == next->pattern;
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
  resource::ConditionAttr when;
  IntegerAttr bound;
  uint32_t counting = first.count;
  auto test = llvm::find_if(
      tests, [&](const ProgramTest &test) { return test.word == counting; });
  if (counting != 0 && test != tests.end() && !wordUses.contains(counting)) {
    counting = test->tested;
    when = resource::ConditionAttr::get(
        builder.getContext(),
        static_cast<resource::Condition>(test->condition));
    bound = builder.getI64IntegerAttr(test->bound);
  }
  // A barrier that ends each iteration is the loop's own.
  bool hasBarrier =
      !first.body.empty() && first.body.back().kind == Kind::Barrier;
  auto loop = resource::LoopOp::create(
      builder, loc, Type(), builder.getI64IntegerAttr(first.trips),
      hasBarrier ? builder.getUnitAttr() : UnitAttr(),
      *command ? builder.getI64IntegerAttr(int64_t((*command)->end))
               : IntegerAttr(),
      ValueRange(), DenseI64ArrayAttr(), IntegerAttr(), ValueRange(), when,
      bound);
  if (counting != 0 && failed(setCount(loop, counting)))
    return failure();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&loop.getBody().emplaceBlock());

  // Where the clock stands behind all trips.
  std::optional<int64_t> behind;
  int64_t length, end;
  if (clock && *command &&
      !llvm::MulOverflow(int64_t(first.trips), int64_t((*command)->end),
                         length) &&
      !llvm::AddOverflow(*clock, length, end))
    behind = end;
  std::optional<int64_t> around = std::exchange(blockStart, clock);
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
  blockStart = around;
  clock = behind;
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
      builder, loc, Type(), resource::Engine::Sub, getCycles(*command));
  if (auto cycles = getFirstTrip(*command))
    contextEnds[1] = cycles->second;
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
  auto loop = resource::LoopOp::create(builder, loc, Type(), /*trips=*/1,
                                       /*barrier=*/true);
  if (*command)
    loop.setCycles(0);
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
  if (failed(applyLeastNumbers()) || failed(parsePrograms()))
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
    blockStart = 0;
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
    if (!usedWords.contains(use.spmAddress)) {
      emitError(locate("SCAL")) << "not yet supported: a number in SPM address "
                                << llvm::formatv("{0:x}", use.spmAddress).str()
                                << ", which counts no trips and moves no base";
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
