//===- ToEDF.cpp - A scheduled program as a kernel binary -----------------===//
//
// Lays out register images and descriptors, writes the program of each cluster,
// and keeps what readers want to know: operands, memory plan, schedule, names.
//
//===----------------------------------------------------------------------===//

#include "KernelTranslation.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <set>

using namespace mlir;
using namespace furiosa;
using namespace furiosa::rngd;

namespace {

/// A place in a source file.
struct SourcePlace {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
  friend bool operator==(const SourcePlace &, const SourcePlace &) = default;
};

/// The program of one cluster as it grows.
struct ClusterProgram {
  edf::Program program;
  /// From which instruction on they come from a place.
  std::vector<std::pair<uint32_t, SourcePlace>> places;
  unsigned nextRegister = 0;
  /// Instructions in front of those of the current op.
  uint32_t sizeBefore = 0;

  /// A general register; 63 of them are used in turn.
  unsigned takeRegister() {
    unsigned taken = nextRegister;
    nextRegister = (nextRegister + 1) % noDescriptorRegister;
    return taken;
  }
  void push(edf::Instruction instruction) {
    program.instructions.push_back(instruction);
  }
  uint32_t size() const {
    return static_cast<uint32_t>(program.instructions.size());
  }
  /// What follows comes from `place`.
  void enter(const SourcePlace &place) {
    if (!places.empty() && places.back().first == size())
      places.pop_back();
    if (places.empty() || places.back().second != place)
      places.push_back({size(), place});
  }
};

/// Adds at the end of each iteration of a loop, by cluster.
struct LoopFrame {
  SmallVector<std::pair<uint32_t, int64_t>> adds[machine::clusters];
};

class KernelWriter {
public:
  KernelWriter(resource::ProgramOp program, bool withSourceLines)
      : program(program), withSourceLines(withSourceLines) {}

  FailureOr<edf::Kernel> run();

private:
  LogicalResult checkScheduled();
  LogicalResult addArguments();
  LogicalResult addPlan();
  LogicalResult addBlock(mlir::Block &block);
  LogicalResult addIssue(resource::IssueOp issue);
  LogicalResult addExec(resource::IssueOp issue, lir::ExecOp exec);
  LogicalResult addFill(resource::IssueOp issue, lir::FillOp fill);
  LogicalResult addDma(resource::IssueOp issue, lir::DmaOp dma);
  LogicalResult addWait(resource::WaitOp wait);
  LogicalResult addTests();
  LogicalResult addLoop(resource::LoopOp loop);
  FailureOr<uint32_t> getScalar(Operation *op, Value number);
  FailureOr<uint32_t> getNumberWord(resource::LoopOp loop);
  LogicalResult addStarts(resource::IssueOp issue, uint32_t word,
                          bool isTarget);
  FailureOr<int64_t> getStartAtZero(resource::IssueOp issue, bool isTarget);
  FailureOr<uint32_t> getCountWord(resource::LoopOp loop);
  void addNames();
  void addLocations();
  LogicalResult finish();
  /// What follows comes from `op`.
  void enter(Operation *op);

  /// A side of a descriptor: sets its base, or relocates it.
  LogicalResult encodeDescriptor(lir::DmaOp dma, lir::EngineAttr engine,
                                 DmaDescriptor &descriptor);
  void schedule(edf::CommandKind kind, uint32_t spmAddress,
                std::optional<ArrayRef<int64_t>> cycles, std::string text);
  std::string describe(Value buffer, int64_t offset) const;
  std::string describe(lir::ExecOp exec) const;
  std::string describeCount(resource::LoopOp loop) const;

  std::optional<int64_t> getAddress(Value buffer) const {
    auto it = addresses.find(buffer);
    return it == addresses.end() ? std::nullopt
                                 : std::optional<int64_t>(it->second);
  }
  uint8_t getAllPEs() {
    return static_cast<uint8_t>((1u << program.getPes()) - 1);
  }
  /// SET for each operand, then ISSUE, on all PEs.
  void push(ClusterProgram &cluster, const TucCommand &command, uint8_t peMask);

  resource::ProgramOp program;
  bool withSourceLines;
  edf::Kernel kernel;
  /// Codes of the lookup tables in use.
  std::set<uint32_t> tables;
  edf::SpmBuilder spm;
  llvm::DenseMap<Value, int64_t> addresses;
  llvm::DenseMap<Value, uint32_t> operands;
  /// SPM words by the sum of scalars, with their scales, and a number that they
  /// hold.
  std::map<std::pair<SmallVector<std::pair<uint32_t, int64_t>>, int64_t>,
           uint32_t>
      numberWords;
  /// SPM words that are 1 if another word compares so, else 0.
  std::map<std::tuple<uint32_t, resource::Condition, int64_t>, uint32_t>
      testWords;
  SmallVector<ClusterProgram, 2> clusters;
  SmallVector<LoopFrame, 4> frames;
  TagTracker tags;
};

} // namespace

/// Sets a field of a command; an error at `op` if the value is too wide.
static LogicalResult setField(Operation *op, TucCommand &command,
                              StringRef field, uint64_t value) {
  Fault fault = command.set(field, value);
  if (!fault)
    return success();
  return op->emitOpError() << tucOpInfo(command.op()).mnemonic << "." << field
                           << ": " << *fault;
}

//===----------------------------------------------------------------------===//
// Operands, memory plan, names
//===----------------------------------------------------------------------===//

LogicalResult KernelWriter::checkScheduled() {
  if (!program.getMakespan())
    return program.emitOpError(
        "is not scheduled: it has no makespan; run resource-schedule");
  // The verifier sees to the rest, but it may not have run.
  WalkResult result = program.getBody().walk([&](Operation *op) {
    auto refuse = [&](StringRef what) {
      return WalkResult(op->emitOpError("is not scheduled: it has no ")
                        << what << "; run resource-schedule");
    };
    if (auto buffer = dyn_cast<resource::BufferOp>(op)) {
      if (!buffer.getAddress() || !buffer.getLive())
        return refuse("address");
    } else if (auto issue = dyn_cast<resource::IssueOp>(op)) {
      if (!issue.getCycles())
        return refuse("cycles");
      if (issue.getEngine() == resource::Engine::Dma && !issue.getTag())
        return refuse("tag");
    } else if (auto loop = dyn_cast<resource::LoopOp>(op)) {
      if (!loop.getCycles())
        return refuse("cycles");
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult KernelWriter::addArguments() {
  // EDF wants scratch behind all others.
  SmallVector<resource::ArgumentOp> ordered;
  for (bool wantsScratch : {false, true})
    for (auto argument : program.getBody().getOps<resource::ArgumentOp>())
      if ((argument.getRole() == resource::Role::Scratch) == wantsScratch)
        ordered.push_back(argument);
  for (resource::ArgumentOp argument : ordered) {
    edf::Operand operand;
    operand.name = argument.getName().str();
    operand.role = static_cast<edf::Role>(argument.getRole());
    operand.bytes =
        static_cast<uint64_t>(argument.getResult().getType().getBytes());
    std::optional<resource::OperandAttr> tensor = argument.getOperand();
    if (tensor && operand.role != edf::Role::Scratch) {
      // The attribute has seen to it that there is one.
      operand.type = *getElementType(tensor->getElementType());
      operand.chipMapping = tensor->getChip().str();
      operand.elementMapping = tensor->getElement().str();
      for (auto [axis, size] : llvm::zip(tensor->getAxes(), tensor->getSizes()))
        operand.axes.push_back({axis.str(), static_cast<uint64_t>(size)});
    }
    operands[argument.getResult()] =
        static_cast<uint32_t>(kernel.arguments.operands.size());
    if (std::optional<ArrayRef<int64_t>> range = argument.getRange())
      kernel.scalars.scalars.push_back({operands[argument.getResult()],
                                        static_cast<int32_t>((*range)[0]),
                                        static_cast<int32_t>((*range)[1])});
    kernel.arguments.operands.push_back(std::move(operand));
  }
  return success();
}

LogicalResult KernelWriter::addPlan() {
  std::vector<edf::PlanEntry> entries;
  for (auto buffer : program.getBody().getOps<resource::BufferOp>()) {
    lir::MemType type = buffer.getResult().getType();
    edf::PlanEntry entry;
    switch (type.getTier()) {
    case lir::Tier::Dm:
      entry.tier = edf::Tier::DM;
      break;
    case lir::Tier::Trf:
      entry.tier = edf::Tier::TRF;
      entry.lanes = static_cast<uint8_t>(type.getLanes());
      break;
    case lir::Tier::Vrf:
      entry.tier = edf::Tier::VRF;
      break;
    case lir::Tier::Hbm:
      return buffer.emitOpError("buffers in hbm are arguments");
    }
    // The verifier has bounded both by the memory.
    entry.address = static_cast<uint32_t>(*buffer.getAddress());
    entry.size = static_cast<uint32_t>(type.getBytesPerLane());
    entry.firstCycle = static_cast<uint64_t>((*buffer.getLive())[0]);
    entry.lastCycle = static_cast<uint64_t>((*buffer.getLive())[1]);
    if (auto name = buffer->getAttrOfType<StringAttr>(bufferNameAttr)) {
      entry.name = static_cast<uint32_t>(kernel.names.strings.size());
      kernel.names.strings.push_back(name.str());
    }
    addresses[buffer.getResult()] = *buffer.getAddress();
    entries.push_back(entry);
  }
  for (int64_t cluster : program.getClusters())
    for (edf::PlanEntry entry : entries) {
      entry.cluster = static_cast<uint32_t>(cluster);
      kernel.plan.push_back(entry);
    }
  return success();
}

void KernelWriter::addNames() {
  std::string name = program.getSymName().str();
  for (auto module = program->getParentOfType<ModuleOp>(); module;
       module = module->getParentOfType<ModuleOp>())
    if (std::optional<StringRef> moduleName = module.getSymName())
      name = (*moduleName + "::" + name).str();
  kernel.names.kernel = name;
  kernel.info.producer = producer.str();
  kernel.info.chip = "rngd";
  kernel.info.release = program.getRelease().str();
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

std::string KernelWriter::describe(Value buffer, int64_t offset) const {
  if (auto argument = buffer.getDefiningOp<resource::ArgumentOp>())
    return argument.getName().str();
  auto type = cast<lir::MemType>(buffer.getType());
  uint64_t address =
      static_cast<uint64_t>(getAddress(buffer).value_or(0) +
                            offset % int64_t(machine::dmSliceStride));
  return llvm::formatv("{0} {1:x}", lir::stringifyTier(type.getTier()), address)
      .str();
}

std::string KernelWriter::describe(lir::ExecOp exec) const {
  std::string from, to;
  for (Operation &unit : exec.getBody().getOps()) {
    if (auto op = dyn_cast<lir::FetchSequencerOp>(unit))
      from = describe(op.getSource(), op.getBase()) +
             (op.getOther() ? ", " + describe(op.getOther(), op.getOtherBase())
                            : std::string());
    else if (auto op = dyn_cast<lir::TrfStoreOp>(unit))
      to = describe(op.getTarget(), 0);
    else if (auto op = dyn_cast<lir::VrfStoreOp>(unit))
      to = describe(op.getTarget(), 0);
    else if (auto op = dyn_cast<lir::CommitSequencerOp>(unit))
      to = describe(op.getTarget(), op.getBase());
  }
  return from + " -> " + to;
}

/// " by n", or " by 2 n - m + 3".
std::string KernelWriter::describeCount(resource::LoopOp loop) const {
  std::string text;
  auto add = [&](int64_t number, std::string unit) {
    uint64_t size = number < 0 ? -uint64_t(number) : uint64_t(number);
    text += text.empty() ? (number < 0 ? " by -" : " by ")
            : number < 0 ? " - "
                         : " + ";
    if (unit.empty() || size != 1)
      text += std::to_string(size) + (unit.empty() ? "" : " ");
    text += unit;
  };
  for (auto [i, number] : llvm::enumerate(loop.getCounts()))
    add(loop.getScale(i), describe(number, 0));
  if (loop.getPlus())
    add(*loop.getPlus(), "");
  return text;
}

void KernelWriter::schedule(edf::CommandKind kind, uint32_t index,
                            std::optional<ArrayRef<int64_t>> cycles,
                            std::string text) {
  edf::ScheduledCommand command;
  command.kind = kind;
  command.index = index;
  if (cycles) {
    command.begin = static_cast<uint64_t>((*cycles)[0]);
    command.end = static_cast<uint64_t>((*cycles)[1]);
  }
  command.description = std::move(text);
  // Its last instruction so far is the Issue, Loop or Barrier; a cluster that
  // takes no part has got none.
  for (const ClusterProgram &cluster : clusters)
    if (cluster.size() != cluster.sizeBefore)
      command.instructions[cluster.program.cluster] = cluster.size() - 1;
  kernel.schedule.commands.push_back(std::move(command));
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

void KernelWriter::push(ClusterProgram &cluster, const TucCommand &command,
                        uint8_t peMask) {
  for (unsigned k = 0; k < command.numOperands(); ++k)
    cluster.push(
        edf::Instruction::set(static_cast<uint8_t>(command.registerIndex(k)),
                              command.operand(k), peMask));
  cluster.push(edf::Instruction::issue(command.word(), peMask));
}

LogicalResult KernelWriter::addFill(resource::IssueOp issue, lir::FillOp fill) {
  std::optional<int64_t> address = getAddress(fill.getTarget());
  if (!address)
    return fill.emitOpError("has no address; run resource-schedule");
  uint64_t begin = static_cast<uint64_t>(*address);
  for (ClusterProgram &cluster : clusters) {
    TucCommand command(TucOp::ItoS);
    for (auto [field, value] :
         {std::pair<StringRef, uint64_t>("r0", cluster.takeRegister()),
          {"r1", cluster.takeRegister()},
          {"r2", cluster.takeRegister()},
          {"address_begin", begin},
          {"address_end",
           begin + uint64_t(fill.getTarget().getType().getBytes())},
          {"value", uint64_t(fill.getPattern())},
          {"limit1", 1}})
      if (failed(setField(fill, command, field, value)))
        return failure();
    push(cluster, command, getAllPEs());
  }
  schedule(edf::CommandKind::Sub, 0, issue.getCycles(),
           "fill -> " + describe(fill.getTarget(), 0));
  return success();
}

LogicalResult KernelWriter::addExec(resource::IssueOp issue, lir::ExecOp exec) {
  if (auto fill = dyn_cast<lir::FillOp>(exec.getBody().front().front()))
    return addFill(issue, fill);
  FailureOr<ExecImages> encoded =
      encodeExec(exec, [&](Value buffer) { return getAddress(buffer); });
  if (failed(encoded))
    return failure();
  // The registers that numbers move.
  bool isMoved = !issue.getNumbers().empty();
  for (SfrImage &image : encoded->images) {
    std::optional<bool> isTarget = isMovedBlock(image.block());
    if (!isMoved || !isTarget)
      continue;
    FailureOr<int64_t> moved = getStartAtZero(issue, *isTarget);
    if (failed(moved))
      return failure();
    if (Fault fault =
            image.set("base", 0, *image.get("base") + uint64_t(*moved)))
      return exec.emitOpError() << *fault;
  }
  TucCommand start = encoded->exec();
  // With a custom switch each slice has a fetch block of its own.
  std::vector<SfrImage> bySlice;
  std::vector<const SfrImage *> bySlicePointers;
  rngd::Block fetch = encoded->images.front().block();
  for (const std::array<uint64_t, 4> &bitmap : encoded->snoopBitmaps) {
    SfrImage &image = bySlice.emplace_back(encoded->images.front());
    for (auto [k, mask] : llvm::enumerate(bitmap))
      // A mask fills its field.
      (void)image.set("custom_snoop_bitmap_mask" + std::to_string(k), 0, mask);
  }
  for (const SfrImage &image : bySlice)
    bySlicePointers.push_back(&image);
  // What a reader of the registers would refuse is better known here.
  llvm::Expected<ExecConfig> decoded = decodeExec(
      start, [&](rngd::Block block) { return encoded->find(block); },
      bySlicePointers);
  if (!decoded)
    return exec.emitOpError() << llvm::toString(decoded.takeError());
  if (const FetchConversion *lookup = decoded->fetch.lookup)
    tables.insert(lookup->code);

  // Words in a row go by one command.
  if (std::optional<TucCommand> store =
          isMoved ? std::nullopt : encodeShortStore(*decoded)) {
    for (ClusterProgram &cluster : clusters) {
      TucCommand command = *store;
      for (unsigned k = 0; k < command.numOperands(); ++k)
        if (failed(setField(exec, command, "r" + std::to_string(k),
                            cluster.takeRegister())))
          return failure();
      push(cluster, command, getAllPEs());
    }
    schedule(edf::CommandKind::Sub, 0, issue.getCycles(), describe(exec));
    return success();
  }

  // Where an image goes: PEs and slice.
  struct Write {
    rngd::Block block;
    uint32_t place;
    uint64_t words;
    unsigned slice = machine::sfrBroadcastSlice;
    uint8_t peMask;
  };
  SmallVector<Write, 8> writes;
  auto addWrite = [&](const SfrImage &image, unsigned slice, uint8_t peMask) {
    std::optional<bool> isTarget =
        isMoved ? isMovedBlock(image.block()) : std::nullopt;
    llvm::Expected<uint32_t> place =
        spm.add(image, /*bank=*/0, /*isOwn=*/isTarget.has_value());
    if (!place)
      return LogicalResult(exec.emitOpError()
                           << llvm::toString(place.takeError()));
    if (isTarget &&
        failed(
            addStarts(issue, *place + getBaseOffset(image.block()), *isTarget)))
      return failure();
    writes.push_back(
        {image.block(), *place, image.words().size(), slice, peMask});
    return success();
  };
  uint8_t all = getAllPEs();
  for (auto [slice, image] : llvm::enumerate(bySlice))
    if (failed(addWrite(image, slice % machine::slicesPerPE,
                        uint8_t(1u << slice / machine::slicesPerPE))))
      return failure();
  for (const SfrImage &image : encoded->images)
    if (bySlice.empty() || image.block() != fetch)
      if (failed(addWrite(image, machine::sfrBroadcastSlice, all)))
        return failure();
  for (ClusterProgram &cluster : clusters) {
    for (const Write &target : writes) {
      TucCommand write(TucOp::MtoSfr);
      if (failed(setField(exec, write, "r0", cluster.takeRegister())) ||
          failed(setField(exec, write, "spm_address", target.place)) ||
          failed(setField(exec, write, "size", target.words)) ||
          failed(setField(exec, write, "sfr_address",
                          sfrAddress(target.block, /*bank=*/0, /*offset=*/0,
                                     target.slice))))
        return failure();
      push(cluster, write, target.peMask);
    }
    push(cluster, start, all);
  }
  schedule(exec.getContext() == lir::Context::Main ? edf::CommandKind::Main
                                                   : edf::CommandKind::Sub,
           writes.front().place, issue.getCycles(), describe(exec));
  return success();
}

LogicalResult KernelWriter::encodeDescriptor(lir::DmaOp dma,
                                             lir::EngineAttr engine,
                                             DmaDescriptor &descriptor) {
  auto fail = [&](StringRef field, int64_t value) {
    return dma.emitOpError("DmaDescriptor.")
           << field << ": " << value
           << " does not fit, in the engine of cluster " << engine.getCluster()
           << " pe " << engine.getPe();
  };
  for (bool isTarget : {false, true}) {
    Value buffer = isTarget ? dma.getTarget() : dma.getSource();
    int64_t offset = isTarget ? engine.getTarget() : engine.getSource();
    StringRef side = isTarget ? "destination" : "source";
    ArrayRef<int64_t> steps =
        isTarget ? engine.getTargetStrides() : engine.getSourceStrides();
    auto &limits =
        isTarget ? descriptor.destinationLimits : descriptor.sourceLimits;
    auto &strides =
        isTarget ? descriptor.destinationStrides : descriptor.sourceStrides;
    uint64_t &base = isTarget ? descriptor.destination : descriptor.source;
    // An operand's address comes by relocation.
    if (!operands.count(buffer)) {
      std::optional<int64_t> address = getAddress(buffer);
      if (!address)
        return dma.emitOpError("the ")
               << side << " has no address; run resource-schedule";
      base = static_cast<uint64_t>(offset + *address);
      if (!lir::isRemoteAddress(offset))
        base += machine::dmBase;
    }
    // The first loop says the size of a packet.
    strides[0] = static_cast<int32_t>(engine.getPacket());
    unsigned index = 1;
    // The keys of a table are one loop, over the entries of the list.
    ArrayRef<int64_t> sizes = engine.getSizes();
    bool isTable = dma.isIndirect() && dma.isGather() != isTarget;
    SmallVector<int64_t> tableSizes, tableSteps;
    if (isTable) {
      tableSizes = {*lir::getProduct(sizes.take_front(engine.getKeys()))};
      tableSteps = {0};
      llvm::append_range(tableSizes, sizes.drop_front(engine.getKeys()));
      llvm::append_range(tableSteps, steps.drop_front(engine.getKeys()));
      sizes = tableSizes;
      steps = tableSteps;
    }
    for (auto [k, size, step] :
         llvm::enumerate(llvm::reverse(sizes), llvm::reverse(steps))) {
      bool isList = isTable && k + 1 == sizes.size();
      if (isList)
        descriptor.indirectDimension = static_cast<uint8_t>(index);
      if (size == 1 && !isList)
        continue;
      if (index == limits.size())
        return dma.emitOpError("not yet supported: more loops than a "
                               "descriptor holds");
      if (!llvm::isInt<32>(step))
        return fail((side + "_strides").str(), step);
      if (!llvm::isUInt<32>(size))
        return fail((side + "_limits").str(), size);
      limits[index] = static_cast<uint32_t>(size);
      strides[index] = static_cast<int32_t>(step);
      ++index;
    }
  }
  if (!dma.isIndirect())
    return success();
  descriptor.opcode = dma.isGather() ? DmaOpcode::SourceIndirect
                                     : DmaOpcode::DestinationIndirect;
  descriptor.indirectList = true;
  if (!llvm::isUInt<32>(*dma.getScale()))
    return fail("indirect_indices", *dma.getScale());
  descriptor.indirectIndices[2] = static_cast<uint32_t>(*dma.getScale());
  if (operands.count(dma.getIndices()))
    return success();
  std::optional<int64_t> address = getAddress(dma.getIndices());
  if (!address)
    return dma.emitOpError("the index has no address; run resource-schedule");
  uint64_t list = static_cast<uint64_t>(engine.getList() + *address);
  if (!lir::isRemoteAddress(engine.getList()))
    list += machine::dmBase;
  descriptor.indirectIndices[0] = static_cast<uint32_t>(list);
  descriptor.indirectIndices[1] = static_cast<uint32_t>(list >> 32);
  return success();
}

LogicalResult KernelWriter::addDma(resource::IssueOp issue, lir::DmaOp dma) {
  unsigned tag = static_cast<unsigned>(*issue.getTag());
  if (dma.getSourceOffset() || dma.getTargetOffset())
    return dma.emitOpError("not yet supported: an SSA offset in a descriptor");
  struct Placed {
    lir::EngineAttr engine;
    uint32_t address;
  };
  SmallVector<Placed, 8> placed;
  for (auto engine : dma.getEngines().getAsRange<lir::EngineAttr>()) {
    DmaDescriptor descriptor;
    if (failed(encodeDescriptor(dma, engine, descriptor)))
      return failure();
    int64_t atZero[2];
    for (bool isTarget : {false, true}) {
      FailureOr<int64_t> moved = getStartAtZero(issue, isTarget);
      if (failed(moved))
        return failure();
      atZero[isTarget] = *moved;
      // Of an operand the relocation says it.
      if (!operands.count(isTarget ? dma.getTarget() : dma.getSource()))
        (isTarget ? descriptor.destination : descriptor.source) +=
            uint64_t(*moved);
    }
    llvm::Expected<uint32_t> address = spm.add(descriptor);
    if (!address)
      return dma.emitOpError("engine of cluster ")
             << engine.getCluster() << " pe " << engine.getPe() << ": "
             << llvm::toString(address.takeError());
    placed.push_back({engine, *address});
    if (dma.isIndirect())
      if (auto list = operands.find(dma.getIndices()); list != operands.end())
        kernel.arguments.relocations.push_back(
            {*address + DmaDescriptor::listOffset, list->second,
             engine.getList()});
    for (bool isTarget : {false, true}) {
      auto operand =
          operands.find(isTarget ? dma.getTarget() : dma.getSource());
      uint32_t word = *address + (isTarget ? DmaDescriptor::destinationOffset
                                           : DmaDescriptor::sourceOffset);
      int64_t first = isTarget ? engine.getTarget() : engine.getSource();
      first += atZero[isTarget];
      if (failed(addStarts(issue, word, isTarget)))
        return failure();
      if (operand != operands.end())
        kernel.arguments.relocations.push_back({word, operand->second, first});
      std::optional<ArrayRef<int64_t>> advance = issue.getAdvance();
      if (!advance)
        continue;
      if (advance->size() != 2 * frames.size())
        return issue.emitOpError(
            "RES-17: advance has two numbers for each loop around");
      for (auto [level, frame] : llvm::enumerate(frames))
        if (int64_t step = (*advance)[2 * level + isTarget])
          frame.adds[engine.getCluster()].push_back({word, step});
    }
  }

  for (ClusterProgram &cluster : clusters) {
    unsigned index = cluster.program.cluster;
    // A cluster without an engine takes no part.
    if (llvm::none_of(placed, [&](const Placed &side) {
          return side.engine.getCluster() == int64_t(index);
        }))
      continue;
    TucCommand command(TucOp::DmaW);
    unsigned reg = cluster.takeRegister();
    uint8_t mask = 0;
    for (auto [field, value] : {std::pair<StringRef, uint64_t>("r0", reg),
                                {"r1", noDescriptorRegister},
                                {"r2", noDescriptorRegister},
                                {"r3", noDescriptorRegister}})
      if (failed(setField(dma, command, field, value)))
        return failure();
    for (auto [engine, address] : placed) {
      if (engine.getCluster() != int64_t(index))
        continue;
      if (failed(setField(dma, command, "desc_addr0", address)) ||
          failed(setField(dma, command, "dma_tag_id", tag)))
        return failure();
      uint8_t bit = static_cast<uint8_t>(1u << engine.getPe());
      cluster.push(edf::Instruction::set(static_cast<uint8_t>(reg),
                                         command.operand(0), bit));
      mask |= bit;
    }
    cluster.push(
        edf::Instruction::set(noDescriptorRegister, noDescriptor40, mask));
    cluster.push(edf::Instruction::issue(command.word(), mask));
    tags.start(index, tag, mask);
  }
  auto first = cast<lir::EngineAttr>(dma.getEngines()[0]);
  schedule(edf::CommandKind::Dma, placed.front().address, issue.getCycles(),
           describe(dma.getSource(), first.getSource()) + " -> " +
               describe(dma.getTarget(), first.getTarget()));
  return success();
}

LogicalResult KernelWriter::addIssue(resource::IssueOp issue) {
  Operation &command = issue.getBody().front().front();
  if (auto exec = dyn_cast<lir::ExecOp>(command))
    return addExec(issue, exec);
  if (auto dma = dyn_cast<lir::DmaOp>(command))
    return addDma(issue, dma);
  return command.emitOpError("not yet supported: no encoding is known");
}

LogicalResult KernelWriter::addWait(resource::WaitOp wait) {
  TucCommand command(TucOp::Wait);
  if (wait.getEngine() != resource::Engine::Dma) {
    auto context = wait.getEngine() == resource::Engine::Main
                       ? codes::ExecTarget::Main
                       : codes::ExecTarget::Sub;
    if (failed(setField(wait, command, "type",
                        value(codes::WaitType::Execution))) ||
        failed(setField(wait, command, "target_context", value(context))))
      return failure();
    for (ClusterProgram &cluster : clusters)
      push(cluster, command, getAllPEs());
    return success();
  }
  unsigned tag = static_cast<unsigned>(*wait.getTag());
  if (failed(setField(wait, command, "type", value(codes::WaitType::DmaTag))) ||
      failed(setField(wait, command, "dma_tag_id", tag)))
    return failure();
  bool anyone = false;
  for (ClusterProgram &cluster : clusters) {
    uint8_t mask = tags.getWaiting(cluster.program.cluster, tag);
    if (mask == 0)
      continue;
    anyone = true;
    push(cluster, command, mask);
  }
  if (!anyone)
    return wait.emitOpError("no dma with tag ")
           << tag << " is issued before, so it would never end";
  tags.finish(tag);
  return success();
}

/// The scalar that an argument is.
FailureOr<uint32_t> KernelWriter::getScalar(Operation *op, Value number) {
  uint32_t operand = operands.lookup(number);
  auto scalar =
      llvm::find_if(kernel.scalars.scalars, [&](const edf::Scalar &scalar) {
        return scalar.operand == operand;
      });
  if (scalar == kernel.scalars.scalars.end())
    return op->emitOpError("takes an argument without a range for a number");
  return static_cast<uint32_t>(scalar - kernel.scalars.scalars.begin());
}

/// The SPM word that holds what a loop counts by.
FailureOr<uint32_t> KernelWriter::getNumberWord(resource::LoopOp loop) {
  SmallVector<std::pair<uint32_t, int64_t>> sum;
  for (auto [i, number] : llvm::enumerate(loop.getCounts())) {
    FailureOr<uint32_t> scalar = getScalar(loop, number);
    if (failed(scalar))
      return failure();
    sum.push_back({*scalar, loop.getScale(i)});
  }
  int64_t plus = loop.getPlus().value_or(0);
  auto [known, isNew] = numberWords.try_emplace({sum, plus}, 0);
  if (!isNew)
    return known->second;
  auto word = spm.addWord(uint64_t(plus));
  if (!word)
    return loop.emitOpError(llvm::toString(word.takeError()));
  for (auto [scalar, scale] : sum)
    kernel.scalars.uses.push_back({*word, scalar, scale});
  return known->second = *word;
}

/// How far a base is moved from that of the least numbers to that of zeros,
/// which the file holds.
FailureOr<int64_t> KernelWriter::getStartAtZero(resource::IssueOp issue,
                                                bool isTarget) {
  ArrayRef<int64_t> starts = issue.getStarts().value_or(ArrayRef<int64_t>());
  int64_t moved = 0;
  for (auto [i, number] : llvm::enumerate(issue.getNumbers())) {
    FailureOr<uint32_t> scalar = getScalar(issue, number);
    if (failed(scalar))
      return failure();
    // RES-28 has bounded all.
    moved -= starts[2 * i + isTarget] * kernel.scalars.scalars[*scalar].min;
  }
  return moved;
}

/// Has numbers move the base in an SPM word.
LogicalResult KernelWriter::addStarts(resource::IssueOp issue, uint32_t word,
                                      bool isTarget) {
  ArrayRef<int64_t> starts = issue.getStarts().value_or(ArrayRef<int64_t>());
  for (auto [i, number] : llvm::enumerate(issue.getNumbers())) {
    FailureOr<uint32_t> scalar = getScalar(issue, number);
    if (failed(scalar))
      return failure();
    if (int64_t step = starts[2 * i + isTarget])
      kernel.scalars.uses.push_back({word, *scalar, step});
  }
  return success();
}

/// The SPM word that holds how often a loop runs. That of a test is set where
/// the programs begin: an ADD in a loop would be undone at its end.
FailureOr<uint32_t> KernelWriter::getCountWord(resource::LoopOp loop) {
  FailureOr<uint32_t> number = getNumberWord(loop);
  if (failed(number) || !loop.getWhen())
    return number;
  return testWords.at({*number, *loop.getWhen(), *loop.getBound()});
}

LogicalResult KernelWriter::addTests() {
  WalkResult result = program.walk([&](resource::LoopOp loop) {
    if (!loop.getWhen())
      return WalkResult::advance();
    FailureOr<uint32_t> number = getNumberWord(loop);
    if (failed(number))
      return WalkResult::interrupt();
    auto [known, isNew] =
        testWords.try_emplace({*number, *loop.getWhen(), *loop.getBound()}, 0);
    if (!isNew)
      return WalkResult::advance();
    auto word = spm.addWord(0);
    if (!word)
      return WalkResult(loop.emitOpError(llvm::toString(word.takeError())));
    known->second = *word;
    for (ClusterProgram &cluster : clusters) {
      cluster.push(edf::Instruction::ifWord(
          *number, static_cast<edf::Condition>(*loop.getWhen()),
          *loop.getBound()));
      cluster.push(edf::Instruction::add(*word, 1));
      cluster.push(edf::Instruction::endIf());
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult KernelWriter::addLoop(resource::LoopOp loop) {
  if (!llvm::isUInt<32>(loop.getTrips()))
    return loop.emitOpError("not yet supported: ")
           << loop.getTrips() << " trips, a loop of a kernel binary makes at "
           << "most " << UINT32_MAX;
  if (loop.getBarrier() && loop.getTrips() == 1 &&
      loop.getBody().front().empty()) {
    for (ClusterProgram &cluster : clusters)
      cluster.push(edf::Instruction::barrier());
    schedule(edf::CommandKind::Sync, 0, std::nullopt, "barrier");
    return success();
  }
  uint32_t count = 0;
  if (loop.isCounted()) {
    FailureOr<uint32_t> word = getCountWord(loop);
    if (failed(word))
      return failure();
    count = *word;
  }
  for (ClusterProgram &cluster : clusters)
    cluster.push(
        edf::Instruction::loop(static_cast<uint32_t>(loop.getTrips()), count));
  // Cycles of the body count from the start of an iteration.
  int64_t cycles[2] = {0, *loop.getCycles()};
  schedule(
      edf::CommandKind::Loop, 0, ArrayRef<int64_t>(cycles),
      (Twine("loop ") + Twine(loop.getTrips()) + describeCount(loop) +
       (loop.getWhen()
            ? " when " + resource::stringifyCondition(*loop.getWhen()).str() +
                  " " + std::to_string(*loop.getBound())
            : ""))
          .str());
  frames.emplace_back();
  if (failed(addBlock(loop.getBody().front())))
    return failure();
  LoopFrame frame = frames.pop_back_val();
  enter(loop);
  for (ClusterProgram &cluster : clusters) {
    for (auto [word, step] : frame.adds[cluster.program.cluster])
      cluster.push(edf::Instruction::add(word, step));
    if (loop.getBarrier())
      cluster.push(edf::Instruction::barrier());
    cluster.push(edf::Instruction::endLoop());
  }
  return success();
}

LogicalResult KernelWriter::addBlock(mlir::Block &block) {
  for (Operation &op : block) {
    LogicalResult result = success();
    enter(&op);
    for (ClusterProgram &cluster : clusters)
      cluster.sizeBefore = cluster.size();
    if (auto issue = dyn_cast<resource::IssueOp>(op))
      result = addIssue(issue);
    else if (auto wait = dyn_cast<resource::WaitOp>(op))
      result = addWait(wait);
    else if (auto loop = dyn_cast<resource::LoopOp>(op))
      result = addLoop(loop);
    if (failed(result))
      return failure();
  }
  return success();
}

void KernelWriter::enter(Operation *op) {
  if (!withSourceLines)
    return;
  SourcePlace place;
  if (auto found = op->getLoc()->findInstanceOf<FileLineColLoc>())
    place = {found.getFilename().str(), found.getLine(), found.getColumn()};
  for (ClusterProgram &cluster : clusters)
    cluster.enter(place);
}

void KernelWriter::addLocations() {
  edf::Locations &locations = kernel.locations;
  llvm::StringMap<uint32_t> files;
  for (auto [index, cluster] : llvm::enumerate(clusters))
    for (const auto &[instruction, place] : cluster.places) {
      auto [file, isNew] =
          files.try_emplace(place.file, static_cast<uint32_t>(files.size()));
      if (isNew)
        locations.files.push_back(place.file);
      locations.lines.push_back({static_cast<uint32_t>(index), instruction,
                                 file->second, place.line, place.column});
    }
}

LogicalResult KernelWriter::finish() {
  kernel.spm = spm.take();
  for (uint32_t code : tables)
    kernel.constants.push_back(
        {edf::ConstantKind::Table, code, edf::makeLookupTable(code)});
  // Readers find the images of a command by the number of their item.
  llvm::DenseMap<uint32_t, uint32_t> items;
  for (auto [i, item] : llvm::enumerate(kernel.spm.items))
    items[item.address] = static_cast<uint32_t>(i);
  for (edf::ScheduledCommand &command : kernel.schedule.commands)
    if (command.kind != edf::CommandKind::Loop &&
        command.kind != edf::CommandKind::Sync)
      command.index = items.lookup(command.index);
  kernel.schedule.makespan = static_cast<uint64_t>(*program.getMakespan());
  kernel.schedule.lowerBound = static_cast<uint64_t>(*program.getLowerBound());
  for (ClusterProgram &cluster : clusters)
    cluster.push(edf::Instruction::end());
  addLocations();
  for (ClusterProgram &cluster : clusters) {
    kernel.programs.push_back(std::move(cluster.program));
  }
  addNames();
  if (Fault fault = edf::checkKernel(kernel))
    return program.emitOpError() << *fault;
  return success();
}

FailureOr<edf::Kernel> KernelWriter::run() {
  if (failed(checkScheduled()) || failed(addArguments()) || failed(addPlan()))
    return failure();
  for (int64_t index : program.getClusters())
    clusters.emplace_back().program.cluster = static_cast<uint32_t>(index);
  if (failed(addTests()) || failed(addBlock(program.getBody().front())) ||
      failed(finish()))
    return failure();
  return std::move(kernel);
}

FailureOr<edf::Kernel> rngd::translateToEDF(resource::ProgramOp program,
                                            bool withSourceLines) {
  return KernelWriter(program, withSourceLines).run();
}
