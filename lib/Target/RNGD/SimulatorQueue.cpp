//===- SimulatorQueue.cpp - PE programs and their commands ----------------===//
//
// Runs the program of a PE and issues the commands of its queue.
//
//===----------------------------------------------------------------------===//

#include "SimulatorQueue.h"

#include "EncodingSupport.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/raw_ostream.h"

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::sim;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

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
    if (instruction.hasCount())
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
  case TucOp::StoS:
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
