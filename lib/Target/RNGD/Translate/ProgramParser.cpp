//===- ProgramParser.cpp - PE programs as commands ------------------------===//

#include "ProgramParser.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

using namespace furiosa::rngd;
using llvm::StringRef;
using llvm::Twine;
using Kind = ProgramEvent::Kind;

bool ProgramParser::fail(const Twine &message) {
  fault = {position, message.str()};
  return false;
}

std::optional<std::vector<ProgramEvent>> ProgramParser::run() {
  std::vector<ProgramEvent> events;
  if (!parseBlock(events, nullptr))
    return std::nullopt;
  return events;
}

// Recursion is as deep as loops nest, which `checkKernel` has bounded.
bool ProgramParser::parseBlock(std::vector<ProgramEvent> &events,
                               ProgramEvent *loop) {
  for (;; ++position) {
    const edf::Instruction &instruction = program.instructions[position];
    if (loop && !loop->steps.empty() &&
        instruction.opcode != edf::Opcode::Add &&
        instruction.opcode != edf::Opcode::Barrier &&
        instruction.opcode != edf::Opcode::EndLoop)
      return fail("not yet supported: commands behind an ADD in a loop");
    switch (instruction.opcode) {
    case edf::Opcode::End:
    case edf::Opcode::EndLoop:
      return true;
    case edf::Opcode::Set:
      for (unsigned pe = 0; pe < machine::pesPerCluster; ++pe)
        if (instruction.peMask >> pe & 1)
          registers[pe][instruction.reg] = instruction.imm;
      break;
    case edf::Opcode::Issue:
      if (!parseIssue(events))
        return false;
      break;
    case edf::Opcode::Loop: {
      ProgramEvent event;
      event.kind = Kind::Loop;
      event.instruction = position;
      event.trips = instruction.word;
      event.count = static_cast<uint32_t>(instruction.imm);
      enterLoop();
      ++position;
      if (!parseBlock(event.body, &event))
        return false;
      events.push_back(std::move(event));
      break;
    }
    case edf::Opcode::Barrier: {
      ProgramEvent event;
      event.kind = Kind::Barrier;
      event.instruction = position;
      events.push_back(std::move(event));
      break;
    }
    case edf::Opcode::If:
      if (loop || !events.empty() || !parseTest())
        return fail("not yet supported: conditions, but for tests in front of "
                    "all commands that set a word to 1");
      break;
    case edf::Opcode::Else:
    case edf::Opcode::EndIf:
      return fail("not yet supported: conditions");
    case edf::Opcode::Add:
      if (!loop)
        return fail("not yet supported: ADD outside of loops");
      for (const ProgramEvent::Step &step : loop->steps)
        if (step.address == instruction.word)
          return fail("not yet supported: two ADD to SPM address 0x" +
                      llvm::utohexstr(instruction.word) + " in one iteration");
      loop->steps.push_back(
          {position, instruction.word, static_cast<int64_t>(instruction.imm)});
      break;
    }
  }
}

/// IF, ADD 1, ENDIF; `position` is then that of the last.
bool ProgramParser::parseTest() {
  // A program ends with END, so there are two more behind an ADD.
  llvm::ArrayRef<edf::Instruction> code = program.instructions;
  const edf::Instruction &test = code[position], &add = code[position + 1];
  if (add.opcode != edf::Opcode::Add || add.imm != 1 ||
      code[position + 2].opcode != edf::Opcode::EndIf ||
      llvm::any_of(tests, [&](const ProgramTest &other) {
        return other.word == add.word || other.tested == add.word ||
               other.word == test.word;
      }))
    return false;
  tests.push_back({add.word, test.word, static_cast<edf::Condition>(test.reg),
                   static_cast<int64_t>(test.imm)});
  position += 2;
  return true;
}

void ProgramParser::enterLoop() {
  unsigned depth = 1;
  for (size_t i = position + 1; depth > 0; ++i) {
    const edf::Instruction &instruction = program.instructions[i];
    if (instruction.opcode == edf::Opcode::Loop)
      ++depth;
    else if (instruction.opcode == edf::Opcode::EndLoop)
      --depth;
    else if (instruction.opcode == edf::Opcode::Set)
      for (unsigned pe = 0; pe < machine::pesPerCluster; ++pe)
        if (std::optional<uint64_t> &value = registers[pe][instruction.reg];
            instruction.peMask >> pe & 1 && value != instruction.imm)
          value.reset();
  }
  for (auto &bank : written)
    for (std::optional<Written> &block : bank)
      block.reset();
  bySlice = {};
}

bool ProgramParser::readCommand(uint32_t word, unsigned pe,
                                std::optional<TucCommand> &out) {
  llvm::Expected<TucCommand> command = TucCommand::decode(word);
  if (!command)
    return fail(llvm::toString(command.takeError()));
  for (unsigned k = 0; k < command->numOperands(); ++k) {
    unsigned reg = command->registerIndex(k);
    const std::optional<uint64_t> &value = registers[pe][reg];
    if (!value)
      return fail(tucOpInfo(command->op()).mnemonic + ": general register " +
                  Twine(reg) + " is used before it is set");
    if (Fault wrong = command->setOperand(k, *value))
      return fail(tucOpInfo(command->op()).mnemonic + ": " + *wrong);
  }
  out = *command;
  return true;
}

bool ProgramParser::parseIssue(std::vector<ProgramEvent> &events) {
  const edf::Instruction &instruction = program.instructions[position];
  std::optional<TucCommand> command;
  unsigned first = llvm::countr_zero(instruction.peMask);
  if (!readCommand(instruction.word, first, command))
    return false;
  StringRef mnemonic = tucOpInfo(command->op()).mnemonic;
  ProgramEvent event;
  event.instruction = position;
  event.peMask = instruction.peMask;
  bool isDma = command->op() == TucOp::DmaW;
  bool isTagWait = command->op() == TucOp::Wait &&
                   command->get("type") == value(codes::WaitType::DmaTag);
  // One slice of one PE.
  if (command->op() == TucOp::MtoSfr &&
      command->get("sfr_address").value_or(0) / machine::sfrSliceStride !=
          machine::sfrBroadcastSlice) {
    if (llvm::popcount(instruction.peMask) != 1)
      return fail("mtosfr: not yet supported: one slice of several PEs");
    return parseWrite(*command, first * machine::slicesPerPE +
                                    *command->get("sfr_address") /
                                        machine::sfrSliceStride);
  }
  if (!isDma && !isTagWait) {
    if (instruction.peMask != allPEs)
      return fail(mnemonic + ": not yet supported: PE mask 0x" +
                  llvm::utohexstr(instruction.peMask) +
                  ", the program runs on 0x" + llvm::utohexstr(allPEs));
    for (unsigned pe = first + 1; pe < machine::pesPerCluster; ++pe) {
      std::optional<TucCommand> other;
      if (!(instruction.peMask >> pe & 1))
        continue;
      if (!readCommand(instruction.word, pe, other))
        return false;
      for (unsigned k = 0; k < command->numOperands(); ++k)
        if (other->operand(k) != command->operand(k))
          return fail(mnemonic +
                      ": not yet supported: PEs with different operands");
    }
  }

  switch (command->op()) {
  case TucOp::MtoSfr:
    return parseWrite(*command, -1);
  case TucOp::Exec:
    if (!parseExec(*command, event))
      return false;
    break;
  case TucOp::ItoS:
    if (!parseFill(*command, event))
      return false;
    break;
  case TucOp::StoTrf:
  case TucOp::StoVrf:
  case TucOp::StoS:
    if (!parseStore(*command, event))
      return false;
    break;
  case TucOp::DmaW:
    if (!parseDma(*command, instruction, event))
      return false;
    break;
  case TucOp::Wait:
    event.kind = isTagWait ? Kind::WaitTag : Kind::WaitContext;
    event.tag = static_cast<unsigned>(*command->get("dma_tag_id"));
    event.context =
        static_cast<codes::ExecTarget>(*command->get("target_context"));
    if (isTagWait ? event.context != codes::ExecTarget::Main : event.tag != 0)
      return fail("wait: a field is unused in this mode and must be 0");
    break;
  default:
    return fail("not yet supported: command " + mnemonic);
  }
  events.push_back(std::move(event));
  return true;
}

bool ProgramParser::parseWrite(const TucCommand &command, int slice) {
  uint64_t address = *command.get("spm_address");
  uint64_t words = *command.get("size");
  uint64_t sfr = *command.get("sfr_address");
  std::optional<SfrLocation> location = findSfr(static_cast<uint32_t>(sfr));
  if (!location || (slice >= 0 && location->slice >= machine::slicesPerPE))
    return fail("mtosfr: not yet supported: SFR address 0x" +
                llvm::utohexstr(sfr));
  const SfrBlock &block = sfrBlock(location->block);
  if (location->offset != 0 || words != block.numWords())
    return fail("mtosfr: block " + block.name + " is written whole, " +
                Twine(block.numWords()) + " words from its start, found " +
                Twine(words) + " words from byte " + Twine(location->offset));
  if (address % 8 != 0 || address < spm.base ||
      address - spm.base > spm.bytes.size() ||
      spm.bytes.size() - (address - spm.base) < words * 8)
    return fail("mtosfr: SPM address 0x" + llvm::utohexstr(address) +
                " of block " + block.name + " is not in the SPM image");
  std::vector<uint64_t> contents;
  for (uint64_t k = 0; k < words; ++k)
    contents.push_back(llvm::support::endian::read64le(
        spm.bytes.data() + (address - spm.base) + 8 * k));
  llvm::Expected<SfrImage> image = SfrImage::fromWords(block.id, contents);
  if (!image)
    return fail("mtosfr: " + llvm::toString(image.takeError()));
  auto &place = written[location->bank][static_cast<unsigned>(block.id)];
  if (block.id == Block::FetchUnitMainContext ||
      block.id == Block::SubFetchUnit) {
    auto &slices = bySlice[location->bank][block.context == BlockContext::Sub];
    if (slice < 0)
      slices.clear();
    else if (slices.empty())
      slices.resize(machine::slicesPerPE * llvm::popcount(allPEs));
    if (slice >= int(slices.size()))
      return fail("mtosfr: slice " + Twine(slice) + " belongs to no PE in use");
    if (slice >= 0) {
      slices[slice] = *image;
      // The first slice stands for the block.
      if (slice > 0)
        return true;
    }
  } else if (slice >= 0) {
    return fail("mtosfr: not yet supported: registers of one slice");
  }
  place = Written{std::move(*image), static_cast<uint32_t>(address)};
  return true;
}

bool ProgramParser::parseExec(const TucCommand &command, ProgramEvent &event) {
  event.kind = Kind::Exec;
  event.context =
      static_cast<codes::ExecTarget>(*command.get("target_context"));
  auto &bank = written[*command.get("context_id")];
  std::vector<const SfrImage *> slices;
  for (std::optional<SfrImage> &image : bySlice[*command.get(
           "context_id")][event.context == codes::ExecTarget::Sub]) {
    if (!image)
      return fail("exec: " + Twine("the fetch block of slice ") +
                  Twine(slices.size()) + " was never written");
    slices.push_back(&*image);
  }
  llvm::Expected<ExecConfig> config = decodeExec(
      command,
      [&](Block block) -> const SfrImage * {
        auto &entry = bank[static_cast<unsigned>(block)];
        return entry ? &entry->image : nullptr;
      },
      slices);
  if (!config)
    return fail("exec: " + llvm::toString(config.takeError()));
  for (Block block : blocksOnRoute(config->route, config->context))
    event.images.push_back(bank[static_cast<unsigned>(block)]->address);
  event.config = std::make_shared<const ExecConfig>(std::move(*config));
  return true;
}

bool ProgramParser::parseFill(const TucCommand &command, ProgramEvent &event) {
  llvm::Expected<FillConfig> fill = decodeFill(command);
  if (!fill)
    return fail(llvm::toString(fill.takeError()));
  event.kind = Kind::Fill;
  event.context = codes::ExecTarget::Sub;
  event.begin = fill->begin;
  event.end = fill->end;
  event.pattern = fill->pattern;
  return true;
}

bool ProgramParser::parseStore(const TucCommand &command, ProgramEvent &event) {
  llvm::Expected<ExecConfig> config = decodeShortStore(command);
  if (!config)
    return fail(llvm::toString(config.takeError()));
  event.kind = Kind::Exec;
  event.context = codes::ExecTarget::Sub;
  event.operands = {uint64_t(command.op())};
  for (unsigned k = 0; k < command.numOperands(); ++k)
    event.operands.push_back(command.operand(k));
  event.config = std::make_shared<const ExecConfig>(std::move(*config));
  return true;
}

bool ProgramParser::parseDma(const TucCommand &,
                             const edf::Instruction &instruction,
                             ProgramEvent &event) {
  event.kind = Kind::Dma;
  for (unsigned pe = 0; pe < machine::pesPerCluster; ++pe) {
    if (!(instruction.peMask >> pe & 1))
      continue;
    std::optional<TucCommand> command;
    if (!readCommand(instruction.word, pe, command))
      return false;
    for (StringRef field : {"desc_addr1", "desc_addr2", "desc_addr3"})
      if (command->get(field) != noDescriptor40)
        return fail("dmaw: " + field +
                    ": not yet supported: descriptors of other PEs");
    for (StringRef field : {"profile", "profile_id"})
      if (command->get(field) != 0)
        return fail("dmaw: " + field + ": not yet supported: profiling");
    unsigned tag = static_cast<unsigned>(*command->get("dma_tag_id"));
    if (!event.descriptors.empty() && tag != event.tag)
      return fail("dmaw: dma_tag_id: not yet supported: PEs with different "
                  "tags");
    event.tag = tag;
    uint64_t address = *command->get("desc_addr0");
    // Items stand in the order of addresses.
    auto item =
        llvm::partition_point(spm.items, [&](const edf::SpmItem &entry) {
          return entry.address < address;
        });
    if (item == spm.items.end() || item->address != address ||
        item->kind != edf::ItemKind::DmaDescriptor)
      return fail("dmaw: there is no descriptor at SPM address 0x" +
                  llvm::utohexstr(address));
    event.descriptors.push_back({pe, item->address});
  }
  llvm::sort(event.descriptors, [](const auto &a, const auto &b) {
    return std::tie(a.address, a.pe) < std::tie(b.address, b.pe);
  });
  return true;
}
