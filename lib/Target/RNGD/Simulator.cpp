//===- Simulator.cpp - PE programs and command queues ---------------------===//
//
// Runs the program of each PE, executes the commands of its queue, and keeps
// account of what is under way: contexts and DMA tags.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Target/RNGD/Simulator.h"

#include "SimulatorImpl.h"
#include "SimulatorRaces.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::sim;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;
namespace endian = llvm::support::endian;

namespace {

Error makeError(const Twine &message) {
  return llvm::createStringError(message);
}

/// An exec and the bytes that it uses.
struct DecodedExec {
  std::shared_ptr<const ExecConfig> config;
  std::shared_ptr<const ExecFootprint> footprint;
};

/// State that all PEs share.
struct Machine {
  const SimulationOptions &options;
  SimulationResult result;
  OperandMemory operands;
  /// Execs by exec word and images: loops run the same ones again and again.
  std::map<std::vector<uint64_t>, DecodedExec> decoded;
  /// For random timing.
  uint64_t random = 0;
  /// Where the schedule has an Issue, by cluster and instruction. For traces.
  std::map<std::pair<uint32_t, size_t>, std::pair<uint64_t, uint64_t>> cycles =
      {};

  uint64_t drawRandom() {
    // The finaliser of splitmix64.
    uint64_t z = random += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }

  LookupTables tables = {};
  /// What PEs have used since they met.
  SharedMemory shared = {};
  /// By PE, over both clusters; those that nothing touches stay empty.
  std::array<std::vector<Slice>, machine::pes> slices = {};

  llvm::MutableArrayRef<Slice> getSlices(unsigned pe) {
    if (slices[pe].empty()) {
      slices[pe].resize(machine::slicesPerPE);
      for (Slice &slice : slices[pe])
        slice.tables = &tables;
    }
    return slices[pe];
  }
};

/// The SPM image after relocation; one copy for each PE.
class Spm {
public:
  Spm(const edf::SpmImage &image) : base(image.base), bytes(image.bytes) {}

  bool contains(uint64_t address, uint64_t size) const {
    return address >= base && size <= bytes.size() &&
           address - base <= bytes.size() - size;
  }
  uint64_t word(uint64_t address) const {
    return endian::read64le(bytes.data() + (address - base));
  }
  void setWord(uint64_t address, uint64_t value) {
    endian::write64le(bytes.data() + (address - base), value);
  }
  llvm::ArrayRef<uint8_t> slice(uint64_t address, uint64_t size) const {
    return llvm::ArrayRef(bytes).slice(address - base, size);
  }

private:
  uint64_t base;
  std::vector<uint8_t> bytes;
};

/// An exec, a fill or a DMA whose effect may still have to happen.
struct Work {
  size_t instruction = 0;
  /// One is set, or it is a DMA.
  std::shared_ptr<const ExecConfig> exec;
  std::optional<FillConfig> fill;
  DmaDescriptor descriptor;
  bool isDone = false;
  /// Of an exec or a fill; that of a DMA is known when its effect is.
  Footprint footprint;
  /// What was under way with it and has had its effect before.
  std::vector<Footprint> beside;

  bool isTransfer() const { return !exec && !fill; }

  /// Slices of several PEs send one another packets.
  bool isExchange() const { return exec && exec->fetch.exchange; }
};

/// One PE with its queue.
class ProcessingElement {
public:
  ProcessingElement(Machine &machine, const edf::Program &program,
                    std::shared_ptr<const std::vector<uint32_t>> targets,
                    Spm spm, unsigned index)
      : machine(machine), program(program), targets(std::move(targets)),
        spm(std::move(spm)), index(index),
        memories(machine.getSlices(program.cluster * machine::pesPerCluster +
                                   index)) {
    tags.fill(idle);
    for (Slice &slice : memories)
      slices.push_back(&slice);
  }

  /// Runs to the end, to the next barrier, or until the effect of an exchange
  /// is due.
  Error run();
  bool waits() const { return isAtBarrier; }
  void passBarrier() { isAtBarrier = false; }
  /// The exchange that is due; null where the PE is at its end.
  const Work *dueExchange() const {
    return due == idle ? nullptr : &works[due];
  }
  /// Performs the exchange together with the other PEs of the cluster.
  static Error
  exchange(llvm::ArrayRef<std::unique_ptr<ProcessingElement>> elements);

private:
  struct Frame {
    size_t body;
    uint32_t left;
    /// Words that an Add changed, with their values at entry.
    std::map<uint32_t, uint64_t> saved;
  };

  bool takesPart(const edf::Instruction &instruction) const {
    return instruction.peMask >> index & 1;
  }
  Error fail(size_t instruction, Error error) const;
  Error step();
  /// Whether the condition of an If does.
  bool holds(const edf::Instruction &instruction) const;
  Error issue(uint32_t word);
  Error finishAll();

  Error writeRegisters(const TucCommand &command);
  Error startExec(const TucCommand &command);
  Error startFill(const TucCommand &command);
  Error startStore(const TucCommand &command);
  Error startDma(const TucCommand &command);
  Error checkIdle() const;
  Error wait(const TucCommand &command);

  /// Puts work under way; with early timing its effect happens now.
  Error start(Work work, size_t &slot);
  /// With random timing, lets some of what is under way happen.
  Error performSome();
  Error perform(Work &work);
  /// What `work` does, on `all` slices that take part.
  Error applyExec(const Work &work, Slices all);
  /// Holds the bytes that `work` uses against those of what is under way.
  Error checkRaces(Work &work);
  bool isUnderWay(const Work &work) const {
    size_t slot = &work - works.data();
    return llvm::is_contained(contexts, slot) || llvm::is_contained(tags, slot);
  }
  /// Calls `callback` for all that is under way but `work`.
  void forOthers(const Work &work, llvm::function_ref<void(Work &)> callback);
  /// MM-40.
  Error checkBanks(const Work &work);
  Error spend(uint64_t steps);

  /// Whether a busy context works with a block of its bank.
  bool usesBlock(unsigned context, Block block) const;
  Expected<DecodedExec *> decode(const TucCommand &exec, unsigned bank);

  static constexpr size_t idle = ~size_t(0);

  Machine &machine;
  const edf::Program &program;
  /// Where conditions jump to, by instruction.
  std::shared_ptr<const std::vector<uint32_t>> targets;
  Spm spm;
  /// In the cluster.
  unsigned index;
  llvm::MutableArrayRef<Slice> memories;
  llvm::SmallVector<Slice *, 64> slices;

  size_t position = 0;
  bool isAtEnd = false;
  bool isAtBarrier = false;
  llvm::SmallVector<Frame, 4> frames;
  std::array<std::optional<uint64_t>, machine::tucGeneralRegisters> registers;

  /// Register blocks by bank, and whether an exec has used their contents.
  std::array<std::map<Block, SfrImage>, machine::sfrBanks> banks;
  /// Blocks that were written slice by slice.
  std::array<std::map<Block, std::vector<SfrImage>>, machine::sfrBanks> bySlice;
  std::array<std::map<Block, size_t>, machine::sfrBanks> unused;

  /// An exchange that the PE waits for.
  size_t due = idle;
  /// Everything issued; the busy contexts and tags point into it.
  std::vector<Work> works;
  std::array<size_t, 2> contexts = {idle, idle};
  /// Bank that a busy context works with.
  std::array<unsigned, 2> contextBanks = {};
  std::array<size_t, machine::dmaTags> tags;
  std::array<bool, machine::dmaTags> tagsEverUsed = {};
};

} // namespace

static StringRef contextName(uint64_t context) {
  return context == value(codes::ExecTarget::Main) ? "main" : "sub";
}

Error ProcessingElement::fail(size_t instruction, Error error) const {
  return makeError("cluster " + Twine(program.cluster) + " PE " + Twine(index) +
                   ": command " + Twine(instruction) + ": " +
                   llvm::toString(std::move(error)));
}

Error ProcessingElement::run() {
  while (!isAtEnd && !isAtBarrier && due == idle) {
    if (++machine.result.instructions > machine.options.maxInstructions)
      return fail(position, makeError("more than " +
                                      Twine(machine.options.maxInstructions) +
                                      " instructions run"));
    size_t current = position;
    if (Error error = step())
      return fail(current, std::move(error));
  }
  return isAtEnd && due == idle ? finishAll() : Error::success();
}

Error ProcessingElement::checkIdle() const {
  auto isIdle = [](size_t slot) { return slot == idle; };
  if (llvm::all_of(contexts, isIdle) && llvm::all_of(tags, isIdle))
    return Error::success();
  return makeError("barrier: work is still under way; a wait is missing");
}

bool ProcessingElement::holds(const edf::Instruction &instruction) const {
  auto word = static_cast<int64_t>(spm.word(instruction.word));
  auto value = static_cast<int64_t>(instruction.imm);
  switch (static_cast<edf::Condition>(instruction.reg)) {
  case edf::Condition::Equal:
    return word == value;
  case edf::Condition::NotEqual:
    return word != value;
  case edf::Condition::Less:
    return word < value;
  case edf::Condition::NotLess:
    return word >= value;
  }
  return false;
}

Error ProcessingElement::step() {
  // `checkKernel` has seen to opcodes, nesting, registers and Add addresses.
  const edf::Instruction &instruction = program.instructions[position];
  switch (instruction.opcode) {
  case edf::Opcode::End:
    isAtEnd = true;
    return Error::success();
  case edf::Opcode::Set:
    if (takesPart(instruction))
      registers[instruction.reg] = instruction.imm;
    break;
  case edf::Opcode::Issue:
    if (takesPart(instruction))
      if (Error error = issue(instruction.word))
        return error;
    break;
  case edf::Opcode::Barrier:
    if (Error error = checkIdle())
      return error;
    isAtBarrier = true;
    break;
  case edf::Opcode::Loop: {
    uint64_t trips = instruction.word;
    if (instruction.imm != 0)
      trips = spm.word(static_cast<uint32_t>(instruction.imm));
    if (trips > instruction.word)
      return makeError("loop: " + Twine(trips) + " trips, at most " +
                       Twine(instruction.word) + " are allowed");
    if (trips == 0) {
      position = (*targets)[position];
      break;
    }
    frames.push_back({position, static_cast<uint32_t>(trips), {}});
    break;
  }
  case edf::Opcode::EndLoop: {
    Frame &frame = frames.back();
    if (--frame.left > 0) {
      position = frame.body;
      break;
    }
    for (auto [address, word] : frame.saved)
      spm.setWord(address, word);
    frames.pop_back();
    break;
  }
  case edf::Opcode::Add: {
    uint64_t word = spm.word(instruction.word);
    if (!frames.empty())
      frames.back().saved.try_emplace(instruction.word, word);
    spm.setWord(instruction.word, word + instruction.imm);
    break;
  }
  case edf::Opcode::If:
    if (holds(instruction))
      break;
    position = (*targets)[position];
    return Error::success();
  case edf::Opcode::Else:
    position = (*targets)[position];
    return Error::success();
  case edf::Opcode::EndIf:
    break;
  }
  ++position;
  return Error::success();
}

Error ProcessingElement::issue(uint32_t word) {
  ++machine.result.commands;
  Expected<TucCommand> command = TucCommand::decode(word);
  if (!command)
    return command.takeError();
  for (unsigned k = 0; k < command->numOperands(); ++k) {
    unsigned reg = command->registerIndex(k);
    if (!registers[reg])
      return makeError("general register " + Twine(reg) +
                       " is used before it is set");
    if (Fault fault = command->setOperand(k, *registers[reg]))
      return makeError(*fault);
  }
  if (llvm::raw_ostream *trace = machine.options.trace) {
    *trace << "cluster " << program.cluster << " PE " << index << ": command "
           << position << ": ";
    command->print(*trace);
    if (auto at = machine.cycles.find({program.cluster, position});
        at != machine.cycles.end())
      *trace << ": cycles [" << at->second.first << ", " << at->second.second
             << (frames.empty() ? ")" : ") of the iteration");
    *trace << '\n';
  }
  switch (command->op()) {
  case TucOp::MtoSfr:
    return writeRegisters(*command);
  case TucOp::Exec:
    return startExec(*command);
  case TucOp::ItoS:
    return startFill(*command);
  case TucOp::StoTrf:
  case TucOp::StoVrf:
    return startStore(*command);
  case TucOp::DmaW:
    return startDma(*command);
  case TucOp::Wait:
    return wait(*command);
  default:
    return makeError("not yet supported: command " +
                     tucOpInfo(command->op()).mnemonic);
  }
}

//===----------------------------------------------------------------------===//
// Registers and execution
//===----------------------------------------------------------------------===//

Error ProcessingElement::writeRegisters(const TucCommand &command) {
  uint64_t address = *command.get("spm_address");
  uint64_t words = *command.get("size");
  uint64_t sfr = *command.get("sfr_address");
  std::optional<SfrLocation> location = findSfr(static_cast<uint32_t>(sfr));
  if (!location)
    return makeError("mtosfr: there is no register at SFR address 0x" +
                     llvm::utohexstr(sfr));
  const SfrBlock &block = sfrBlock(location->block);
  bool isBroadcast = location->slice == machine::sfrBroadcastSlice;
  if (!isBroadcast && location->slice >= machine::slicesPerPE)
    return makeError("mtosfr: a PE has no slice " + Twine(location->slice));
  bool isFetch = block.id == Block::FetchUnitMainContext ||
                 block.id == Block::SubFetchUnit;
  if (!isBroadcast && !isFetch)
    return makeError("mtosfr: not yet supported: registers of one slice");
  if (block.context == BlockContext::Common)
    return makeError("mtosfr: not yet supported: block " + block.name);
  if (location->offset != 0 || words != block.numWords())
    return makeError("mtosfr: block " + block.name + " is written whole, " +
                     Twine(block.numWords()) + " words from its start, found " +
                     Twine(words) + " words from byte " +
                     Twine(location->offset));
  if (address % 8 != 0 || !spm.contains(address, words * 8))
    return makeError("mtosfr: SPM address 0x" + llvm::utohexstr(address) +
                     " of block " + block.name +
                     " is not in the SPM image or not a multiple of 8");
  for (unsigned context : {0, 1})
    if (contexts[context] != idle && contextBanks[context] == location->bank &&
        usesBlock(context, block.id))
      return makeError("mtosfr: writes " + block.name + " while the " +
                       contextName(context) + " context runs");

  llvm::SmallVector<uint64_t, 96> contents;
  for (uint64_t k = 0; k < words; ++k)
    contents.push_back(spm.word(address + 8 * k));
  Expected<SfrImage> image = SfrImage::fromWords(block.id, contents);
  if (!image)
    return image.takeError();
  auto &slicesOfBlock = bySlice[location->bank];
  if (isBroadcast) {
    slicesOfBlock.erase(block.id);
  } else {
    // The others keep what they have.
    auto before = banks[location->bank].find(block.id);
    auto &images = slicesOfBlock
                       .try_emplace(block.id, machine::slicesPerPE,
                                    before == banks[location->bank].end()
                                        ? SfrImage::atReset(block.id)
                                        : before->second)
                       .first->second;
    images[location->slice] = *image;
  }
  banks[location->bank].insert_or_assign(block.id, std::move(*image));
  unused[location->bank][block.id] = position;
  return Error::success();
}

bool ProcessingElement::usesBlock(unsigned context, Block block) const {
  const Work &work = works[contexts[context]];
  if (isShared(block))
    return work.exec &&
           llvm::is_contained(
               blocksOnRoute(work.exec->route, work.exec->context), block);
  bool isMain = sfrBlock(block).context == BlockContext::Main;
  return isMain == (context == value(codes::ExecTarget::Main));
}

Expected<DecodedExec *> ProcessingElement::decode(const TucCommand &exec,
                                                  unsigned bank) {
  auto context = static_cast<codes::ExecTarget>(*exec.get("target_context"));
  auto find = [&](Block block) -> const SfrImage * {
    auto it = banks[bank].find(block);
    return it == banks[bank].end() ? nullptr : &it->second;
  };

  // The key holds all that the decoder looks at.
  std::vector<uint64_t> key = {exec.word()};
  for (auto &[block, image] : banks[bank]) {
    bool isMain = sfrBlock(block).context == BlockContext::Main;
    if (isMain != (context == codes::ExecTarget::Main) && !isShared(block))
      continue;
    key.push_back(static_cast<uint64_t>(block));
    llvm::append_range(key, image.words());
  }
  std::vector<const SfrImage *> fetchBySlice;
  auto found = bySlice[bank].find(context == codes::ExecTarget::Main
                                      ? Block::FetchUnitMainContext
                                      : Block::SubFetchUnit);
  if (found != bySlice[bank].end())
    for (const SfrImage &image : found->second) {
      fetchBySlice.push_back(&image);
      llvm::append_range(key, image.words());
    }
  // A program that keeps changing its images must not fill the memory.
  if (machine.decoded.size() > 1024)
    machine.decoded.clear();
  DecodedExec &decoded = machine.decoded[key];
  if (decoded.config)
    return &decoded;
  Expected<ExecConfig> fresh = decodeExec(exec, find, fetchBySlice);
  if (!fresh)
    return fresh.takeError();
  decoded.config = std::make_shared<const ExecConfig>(std::move(*fresh));
  return &decoded;
}

Error ProcessingElement::startExec(const TucCommand &command) {
  uint64_t context = *command.get("target_context");
  unsigned bank = static_cast<unsigned>(*command.get("context_id"));
  if (contexts[context] != idle)
    return makeError(
        "exec: the " + contextName(context) + " context still runs command " +
        Twine(works[contexts[context]].instruction) + "; a wait is missing");
  Expected<DecodedExec *> decoded = decode(command, bank);
  if (!decoded)
    return decoded.takeError();
  std::shared_ptr<const ExecConfig> config = (*decoded)->config;

  size_t other = contexts[1 - context];
  for (auto [unit, name, rule] :
       {std::tuple(codes::RouteUnit::VectorEngine, "vector", " (MM-41)"),
        {codes::RouteUnit::TransposeEngine, "transpose", ""}})
    if (other != idle && works[other].exec &&
        (works[other].exec->route & config->route & codes::bit(unit)))
      return makeError("exec: command " + Twine(works[other].instruction) +
                       " of the " + contextName(1 - context) +
                       " context still uses the " + name +
                       " engine; a wait is missing" + rule);
  if (const FetchConversion *lookup = config->fetch.lookup)
    if (machine.tables[lookup->code].empty())
      return makeError("exec: FetchUnitMainContext.fetch_mode."
                       "table_entry_size: the kernel has no lookup table " +
                       Twine(unsigned(lookup->code)));

  // What was written for this exec and takes no part in it is a mistake that
  // nothing else would show.
  bool isMain = context == value(codes::ExecTarget::Main);
  auto route = blocksOnRoute(config->route, config->context);
  for (auto [block, instruction] : unused[bank])
    if ((sfrBlock(block).context == BlockContext::Main) == isMain &&
        !llvm::is_contained(route, block))
      return makeError(toString(block) + " was written by command " +
                       Twine(instruction) + ", but is not on the route 0x" +
                       llvm::utohexstr(config->route));
  for (Block block : route)
    unused[bank].erase(block);

  if (Error error = spend(machine::slicesPerPE * countWork(*config)))
    return error;
  if (config->contraction) {
    const DotProductConfig &part = *config->contraction;
    machine.result.multiplications +=
        machine::slicesPerPE * part.steps * part.lanes * part.packetElements();
  }
  contextBanks[context] = bank;
  if (!(*decoded)->footprint)
    (*decoded)->footprint = std::make_shared<const ExecFootprint>(*config);
  Work work;
  work.exec = config;
  work.footprint.exec = (*decoded)->footprint;
  return start(std::move(work), contexts[context]);
}

Error ProcessingElement::startFill(const TucCommand &command) {
  auto context = value(codes::ExecTarget::Sub);
  if (contexts[context] != idle)
    return makeError("itos: the sub context still runs command " +
                     Twine(works[contexts[context]].instruction) +
                     "; a wait is missing");
  Expected<FillConfig> fill = decodeFill(command);
  if (!fill)
    return fill.takeError();
  // The sub context writes 8 bytes at a time.
  if (Error error =
          spend(machine::slicesPerPE * (fill->end - fill->begin + 7) / 8))
    return error;
  Work work;
  work.fill = *fill;
  return start(std::move(work), contexts[context]);
}

Error ProcessingElement::startStore(const TucCommand &command) {
  auto context = value(codes::ExecTarget::Sub);
  if (contexts[context] != idle)
    return makeError(tucOpInfo(command.op()).mnemonic +
                     ": the sub context still runs command " +
                     Twine(works[contexts[context]].instruction) +
                     "; a wait is missing");
  Expected<ExecConfig> config = decodeShortStore(command);
  if (!config)
    return config.takeError();
  if (Error error = spend(machine::slicesPerPE * countWork(*config)))
    return error;
  Work work;
  work.footprint.exec = std::make_shared<const ExecFootprint>(*config);
  work.exec = std::make_shared<const ExecConfig>(std::move(*config));
  return start(std::move(work), contexts[context]);
}

//===----------------------------------------------------------------------===//
// DMA and waits
//===----------------------------------------------------------------------===//

Error ProcessingElement::startDma(const TucCommand &command) {
  for (StringRef field : {"desc_addr1", "desc_addr2", "desc_addr3"})
    if (command.get(field) != noDescriptor40)
      return makeError("dmaw: " + field +
                       ": not yet supported: descriptors of other PEs");
  for (StringRef field : {"profile", "profile_id"})
    if (command.get(field) != 0)
      return makeError("dmaw: " + field + ": not yet supported: profiling");
  uint64_t tag = *command.get("dma_tag_id");
  if (tags[tag] != idle)
    return makeError(
        "dmaw: tag " + Twine(tag) + " is still in use by command " +
        Twine(works[tags[tag]].instruction) + "; a wait is missing");
  uint64_t address = *command.get("desc_addr0");
  if (address % DmaDescriptor::sizeInBytes != 0 ||
      !spm.contains(address, DmaDescriptor::sizeInBytes))
    return makeError("dmaw: descriptor address 0x" + llvm::utohexstr(address) +
                     " is not in the SPM image or not a multiple of 256");
  Expected<DmaDescriptor> descriptor =
      decodeDescriptor(spm.slice(address, DmaDescriptor::sizeInBytes));
  if (!descriptor)
    return descriptor.takeError();
  // A packet is work in proportion to its bytes, a flit's worth a step.
  std::optional<uint64_t> steps = llvm::checkedMulUnsigned<uint64_t>(
      descriptor->numPackets().value_or(0),
      1 + descriptor->packetBytes() / machine::flitBytes);
  if (Error error = spend(steps.value_or(~0ull)))
    return error;
  Work work;
  work.descriptor = *descriptor;
  tagsEverUsed[tag] = true;
  return start(std::move(work), tags[tag]);
}

Error ProcessingElement::wait(const TucCommand &command) {
  uint64_t tag = *command.get("dma_tag_id");
  uint64_t context = *command.get("target_context");
  size_t *slot;
  if (*command.get("type") == value(codes::WaitType::DmaTag)) {
    if (context != 0)
      return makeError("wait: target_context: field is unused in this mode "
                       "and must be 0, found " +
                       Twine(context));
    if (!tagsEverUsed[tag])
      return makeError("wait: no DMA with tag " + Twine(tag) +
                       " was started, so it would never end");
    slot = &tags[tag];
  } else {
    if (tag != 0)
      return makeError("wait: dma_tag_id: field is unused in this mode and "
                       "must be 0, found " +
                       Twine(tag));
    slot = &contexts[context];
  }
  if (Error error = performSome())
    return error;
  if (*slot == idle)
    return Error::success();
  Work &work = works[*slot];
  *slot = idle;
  if (work.isDone)
    work.footprint = {};
  return perform(work);
}

Error ProcessingElement::spend(uint64_t steps) {
  if (steps > machine.options.maxSteps ||
      machine.result.steps > machine.options.maxSteps - steps)
    return makeError("the command would take the simulation beyond " +
                     Twine(machine.options.maxSteps) + " steps");
  machine.result.steps += steps;
  return Error::success();
}

Error ProcessingElement::start(Work work, size_t &slot) {
  // Finished work at the end is dropped, so that long loops stay small.
  while (!works.empty() && works.back().isDone && !isUnderWay(works.back()))
    works.pop_back();
  work.instruction = work.footprint.instruction = position;
  if (work.fill)
    work.footprint.exec = std::make_shared<const ExecFootprint>(*work.fill);
  else if (work.exec && !work.footprint.exec)
    work.footprint.exec = std::make_shared<const ExecFootprint>(*work.exec);
  if (Error error = checkBanks(work))
    return error;
  forOthers(work, [&](Work &other) {
    if (other.isDone)
      work.beside.push_back(other.footprint);
  });
  slot = works.size();
  works.push_back(std::move(work));
  if (machine.options.timing == SimulationOptions::Timing::Early)
    return perform(works.back());
  return performSome();
}

Error ProcessingElement::performSome() {
  if (machine.options.timing != SimulationOptions::Timing::Random)
    return Error::success();
  llvm::SmallVector<size_t, 8> underWay;
  for (size_t slot : contexts)
    if (slot != idle)
      underWay.push_back(slot);
  for (size_t slot : tags)
    if (slot != idle)
      underWay.push_back(slot);
  // One after the other, each drawn from those that are left.
  while (!underWay.empty()) {
    uint64_t drawn = machine.drawRandom();
    size_t &slot = underWay[(drawn >> 1) % underWay.size()];
    if (drawn & 1)
      if (Error error = perform(works[slot]))
        return error;
    slot = underWay.back();
    underWay.pop_back();
  }
  return Error::success();
}

void ProcessingElement::forOthers(const Work &work,
                                  llvm::function_ref<void(Work &)> callback) {
  auto visit = [&](size_t slot) {
    if (slot != idle && &works[slot] != &work)
      callback(works[slot]);
  };
  llvm::for_each(contexts, visit);
  llvm::for_each(tags, visit);
}

Error ProcessingElement::checkBanks(const Work &work) {
  auto isLong = [](const Work &work) {
    return work.exec &&
           work.footprint.exec->sameBankRun >= machine::dmSameBankAccesses;
  };
  const Work *found = nullptr;
  forOthers(work, [&](Work &other) {
    if ((isLong(work) && other.isTransfer()) ||
        (work.isTransfer() && isLong(other)))
      found = &other;
  });
  if (!found)
    return Error::success();
  return makeError(Twine(work.isTransfer() ? "dmaw: command "
                                           : "exec: the DMA of command ") +
                   Twine(found->instruction) +
                   (work.isTransfer() ? " still runs, and it"
                                      : " is still under way, and this") +
                   " hits one bank of the data memory " +
                   Twine(machine::dmSameBankAccesses) +
                   " times in a row or more; a wait is missing (MM-40)");
}

Error ProcessingElement::checkRaces(Work &work) {
  if (!machine.options.refuseRaces)
    return Error::success();
  unsigned pe = program.cluster * machine::pesPerCluster + index;
  machine.shared.add(pe, work.footprint);
  for (const Footprint &other : work.beside) {
    auto text = findConflict(work.footprint, other, pe, [&](unsigned operand) {
      return machine.operands.name(operand).str();
    });
    if (text)
      return makeError(
          "commands " + Twine(std::min(work.instruction, other.instruction)) +
          " and " + Twine(std::max(work.instruction, other.instruction)) +
          " both use " + *text +
          ", one of them writing; a wait is missing (MM-39)");
  }
  work.beside.clear();
  forOthers(work, [&](Work &other) {
    if (other.isDone)
      return;
    // Loops do the same again and again beside a long command.
    for (Footprint &known : other.beside) {
      if (known.instruction != work.instruction)
        continue;
      if (known.exec && known.exec == work.footprint.exec)
        return;
      if (known.dma && work.footprint.dma) {
        auto both = std::make_shared<DmaFootprint>(*known.dma);
        both->insert(*work.footprint.dma);
        known.dma = std::move(both);
        return;
      }
    }
    other.beside.push_back(work.footprint);
  });
  // What comes later has waited for it.
  if (!isUnderWay(work))
    work.footprint = {};
  return Error::success();
}

Error ProcessingElement::applyExec(const Work &work, Slices all) {
  if (work.exec->vector && work.exec->vector->sliceReduce)
    return runReducingExec(*work.exec, all,
                           static_cast<unsigned>(index * machine::slicesPerPE),
                           machine.options.plainContraction);
  for (size_t k = 0; k < slices.size(); ++k)
    if (Error error =
            runExec(*work.exec, all,
                    static_cast<unsigned>(index * machine::slicesPerPE + k),
                    machine.options.plainContraction))
      return makeError("slice " + Twine(k) + ": " +
                       llvm::toString(std::move(error)));
  return Error::success();
}

Error ProcessingElement::perform(Work &work) {
  if (work.isDone)
    return Error::success();
  if (work.isExchange()) {
    due = &work - works.data();
    return Error::success();
  }
  work.isDone = true;
  unsigned pe = program.cluster * machine::pesPerCluster + index;
  auto effect = [&]() -> Error {
    if (work.isTransfer()) {
      auto footprint = std::make_shared<DmaFootprint>();
      if (Error error = runDma(
              work.descriptor,
              [&](unsigned pe) { return machine.getSlices(pe); },
              machine.operands, *footprint, pe))
        return error;
      work.footprint.dma = std::move(footprint);
    }
    if (Error error = checkRaces(work))
      return error;
    if (work.exec)
      return applyExec(work, slices);
    if (work.fill)
      for (Slice *slice : slices)
        runFill(*work.fill, slice->dm);
    return Error::success();
  };
  Error error = effect();
  if (!error)
    return Error::success();
  // The effect belongs to the command that started it.
  if (work.instruction == position)
    return error;
  return makeError("effect of command " + Twine(work.instruction) + ": " +
                   llvm::toString(std::move(error)));
}

Error ProcessingElement::exchange(
    llvm::ArrayRef<std::unique_ptr<ProcessingElement>> elements) {
  // The exec is one for all PEs: it begins when the last of them has issued it,
  // and ends for all at once.
  ProcessingElement &first = *elements.front();
  auto report = [&](const Twine &message) {
    const Work *work = first.dueExchange();
    return first.fail(work ? work->instruction : first.position,
                      makeError("exec: FetchUnit.topology: " + message));
  };
  llvm::SmallVector<Slice *, 256> all;
  for (const auto &element : elements) {
    const Work *work = element->dueExchange();
    if (!work || !first.dueExchange())
      return report("PE " + Twine((work ? first : *element).index) +
                    " takes no part in an exchange of PE " +
                    Twine((work ? *element : first).index));
    // The parts of slice numbers are counted from slice 0 on.
    if (element->index != all.size() / machine::slicesPerPE)
      return report("not yet supported: an exchange without PE " +
                    Twine(all.size() / machine::slicesPerPE));
    const FetchConfig &fetch = work->exec->fetch;
    const FetchConfig &common = first.dueExchange()->exec->fetch;
    if (work->exec->context != first.dueExchange()->exec->context ||
        !fetch.exchange->agrees(*common.exchange) ||
        fetch.packets != common.packets ||
        fetch.packetBytes != common.packetBytes)
      return report("PE " + Twine(element->index) +
                    " exchanges packets in another way");
    all.append(element->slices.begin(), element->slices.end());
  }
  unsigned expected = first.dueExchange()->exec->fetch.exchange->slices();
  if (all.size() != expected)
    return report("outer_slice_log_size: the parts of the slices multiply to " +
                  Twine(expected) + ", " + Twine(all.size()) +
                  " slices take part");
  for (const auto &element : elements) {
    Work &work = element->works[element->due];
    element->due = idle;
    work.isDone = true;
    if (Error error = element->checkRaces(work))
      return element->fail(work.instruction, std::move(error));
    if (Error error = element->applyExec(work, all))
      return element->fail(work.instruction, std::move(error));
  }
  return Error::success();
}

Error ProcessingElement::finishAll() {
  for (Work &work : works) {
    if (Error error = perform(work))
      return fail(position, std::move(error));
    if (due != idle)
      return Error::success();
  }
  for (auto &bank : unused)
    if (!bank.empty())
      return fail(bank.begin()->second,
                  makeError(toString(bank.begin()->first) +
                            " is written, but no exec follows"));
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

/// Runs the PEs of a cluster one after the other, from exchange to exchange, up
/// to a barrier or the end.
static Error
runToBarrier(llvm::ArrayRef<std::unique_ptr<ProcessingElement>> elements,
             bool isReversed) {
  bool isDue;
  do {
    isDue = false;
    for (size_t i = 0; i < elements.size(); ++i) {
      auto &element = elements[isReversed ? elements.size() - 1 - i : i];
      if (Error error = element->run())
        return error;
      isDue |= element->dueExchange() != nullptr;
    }
    if (isDue)
      if (Error error = ProcessingElement::exchange(elements))
        return error;
  } while (isDue);
  return Error::success();
}

/// Adds the numbers that the host gave to the words that use them.
static Error addScalars(const edf::Kernel &kernel,
                        llvm::ArrayRef<OperandBuffer> operands, Spm &spm) {
  std::vector<int64_t> values;
  for (const edf::Scalar &scalar : kernel.scalars.scalars) {
    const OperandBuffer &buffer = operands[scalar.operand];
    std::string name = kernel.arguments.operands[scalar.operand].name;
    if (buffer.bytes.size() < 4 || buffer.undefinedBytes() != 0)
      return makeError("scalar '" + name + "' is not given");
    int64_t value = static_cast<int32_t>(endian::read32le(buffer.bytes.data()));
    if (value < scalar.min || value > scalar.max)
      return makeError("scalar '" + name + "' is " + Twine(value) +
                       ", it must be from " + Twine(scalar.min) + " to " +
                       Twine(scalar.max));
    values.push_back(value);
  }
  for (const edf::ScalarUse &use : kernel.scalars.uses)
    spm.setWord(use.spmAddress,
                spm.word(use.spmAddress) +
                    uint64_t(values[use.scalar]) * uint64_t(use.scale));
  return Error::success();
}

Expected<SimulationResult>
rngd::simulate(const edf::Kernel &kernel,
               llvm::MutableArrayRef<OperandBuffer> operands,
               const SimulationOptions &options) {
  if (Fault fault = edf::checkKernel(kernel))
    return makeError(*fault);
  Machine machine{options, {}, {}, {}, options.seed};
  uint64_t operandBytes = 0;
  // `checkKernel` has bounded each by HBM.
  for (const edf::Operand &operand : kernel.arguments.operands) {
    operandBytes += operand.bytes;
    if (operandBytes > options.maxOperandBytes)
      return makeError("operand '" + operand.name +
                       "' takes the operands "
                       "beyond the " +
                       Twine(options.maxOperandBytes) +
                       " bytes that a simulation may have");
  }
  if (Error error = machine.operands.load(kernel, operands))
    return error;
  for (const edf::Constant &constant : kernel.constants)
    if (constant.kind == edf::ConstantKind::Table)
      machine.tables[constant.index] = constant.bytes;

  for (const edf::ScheduledCommand &command : kernel.schedule.commands)
    for (auto [cluster, instruction] : llvm::enumerate(command.instructions))
      if (options.trace && instruction != edf::noInstruction)
        machine.cycles.try_emplace({cluster, instruction}, command.begin,
                                   command.end);

  Spm spm(kernel.spm);
  for (const edf::Relocation &relocation : kernel.arguments.relocations) {
    // Two relocations of one word would hide one another, too.
    if (uint64_t word = spm.word(relocation.spmAddress); word != 0)
      return makeError("relocation of SPM address 0x" +
                       llvm::utohexstr(relocation.spmAddress) +
                       ": the word must be 0 before, found 0x" +
                       llvm::utohexstr(word));
    spm.setWord(relocation.spmAddress,
                OperandMemory::address(relocation.operand) +
                    static_cast<uint64_t>(relocation.addend));
  }

  if (Error error = addScalars(kernel, operands, spm))
    return error;

  std::vector<std::vector<std::unique_ptr<ProcessingElement>>> clusters;
  for (const edf::Program &program : kernel.programs) {
    auto &elements = clusters.emplace_back();
    auto targets = std::make_shared<const std::vector<uint32_t>>(
        edf::findBranchTargets(program));
    for (unsigned pe = 0; pe < machine::pesPerCluster; ++pe) {
      bool hasWork = llvm::any_of(
          program.instructions, [&](const edf::Instruction &instruction) {
            return instruction.opcode == edf::Opcode::Issue &&
                   (instruction.peMask >> pe & 1);
          });
      if (hasWork)
        elements.push_back(std::make_unique<ProcessingElement>(
            machine, program, targets, spm, pe));
    }
  }
  // All programs have the same barriers. Between two of them PEs depend on one
  // another by exchanges alone, so that their order is free otherwise.
  bool isWaiting;
  do {
    isWaiting = false;
    for (auto &elements : clusters) {
      if (Error error = runToBarrier(
              elements, options.timing == SimulationOptions::Timing::Early))
        return error;
      for (auto &element : elements) {
        isWaiting |= element->waits();
        element->passBarrier();
      }
    }
    machine.operands.forgetUses();
    if (Fault fault = machine.shared.findConflict())
      return makeError(*fault);
    machine.shared.forget();
  } while (isWaiting);
  machine.operands.store(operands);
  for (const OperandBuffer &operand : operands)
    machine.result.undefinedBytes.push_back(operand.undefinedBytes());
  return std::move(machine.result);
}

Expected<SimulationResult>
rngd::simulate(const edf::Reader &reader,
               llvm::MutableArrayRef<OperandBuffer> operands,
               const SimulationOptions &options) {
  Expected<edf::Kernel> kernel = reader.loadExecutable();
  if (!kernel)
    return kernel.takeError();
  return simulate(*kernel, operands, options);
}
