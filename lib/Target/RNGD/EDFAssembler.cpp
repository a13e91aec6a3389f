//===- EDFAssembler.cpp - Text as EDF files -------------------------------===//
//
// The inverse of EDFDisassembler.cpp. Parentheses and # begin remarks that last
// to the end of the line.
//
//===----------------------------------------------------------------------===//

#include "EDFFormat.h"
#include "KnownRegisters.h"

#include "furiosa/Target/RNGD/Codes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::edf;
using llvm::StringRef;
using llvm::Twine;

namespace {

struct Token {
  enum class Kind : uint8_t { Word, String, Mark, EndOfLine };
  Kind kind;
  /// What stands in the text; of a string what it stands for.
  std::string text;
};

/// One line after the other. The first fault sticks, and all parsing functions
/// return false from then on.
class Assembler {
public:
  explicit Assembler(StringRef text) : rest(text) {}

  llvm::Expected<std::vector<uint8_t>> run();

private:
  bool fail(const Twine &text) {
    if (fault.empty())
      // Nothing at all is missed in line 1.
      fault = ("line " + Twine(std::max(lineNumber, 1u)) + ": " + text).str();
    return false;
  }
  bool check(const Fault &found) { return found ? fail(*found) : true; }
  /// Goes on to the next line that says something.
  bool nextLine();
  bool split(StringRef line);

  const Token &peek() const { return tokens[position]; }
  bool isAt(StringRef text) const {
    return peek().kind != Token::Kind::String && peek().text == text;
  }
  bool accept(StringRef text) {
    if (!isAt(text))
      return false;
    ++position;
    return true;
  }
  bool expect(StringRef text);
  bool expectAll(std::initializer_list<StringRef> texts) {
    return llvm::all_of(texts, [&](StringRef text) { return expect(text); });
  }
  bool endOfLine();
  /// The line is a closing brace.
  bool isClosing() {
    return fault.empty() && isAt("}") &&
           tokens[position + 1].kind == Token::Kind::EndOfLine;
  }
  bool parseWord(std::string &word, StringRef what);
  bool parseString(std::string &text);
  bool parseNumber(uint64_t &value, uint64_t max);
  template <typename T>
  bool parse(T &value) {
    uint64_t number = 0;
    if (!parseNumber(number, std::numeric_limits<T>::max()))
      return false;
    value = static_cast<T>(number);
    return true;
  }
  bool parseSigned(int64_t &value);
  bool parseRow(std::vector<uint8_t> &bytes);
  /// Lines up to a closing brace.
  template <typename Parse>
  bool parseLines(Parse parseLine);
  template <typename Enum, size_t size>
  bool parseName(Enum &value, const llvm::StringLiteral (&names)[size],
                 StringRef what);

  bool parseKernel(Kernel &kernel);
  bool parseProgram(Kernel &kernel);
  bool parseInstruction(Instruction &inst, KnownRegisters &registers);
  bool parsePEs(uint8_t &mask);
  bool parseCommand(Instruction &inst, const KnownRegisters &registers);
  bool parseCode(const CodeTable *codes, uint64_t &value);
  bool parseSourceLine(Kernel &kernel);
  bool parseSpm(SpmImage &spm);
  bool parseItem(SpmImage &spm);
  bool parseImage(SfrImage &image);
  bool parseDescriptor(DmaDescriptor &descriptor);
  bool parseSide(uint64_t &base, std::array<uint32_t, 8> &limits,
                 std::array<int32_t, 8> &strides);
  bool parseArgument(Arguments &arguments);
  bool parseScalar(Scalars &scalars);
  bool parsePlanEntry(std::vector<PlanEntry> &plan);
  bool parseConstant(std::vector<Constant> &constants);
  bool parseScheduled(Schedule &schedule);

  StringRef rest;
  unsigned lineNumber = 0;
  llvm::SmallVector<Token, 32> tokens;
  size_t position = 0;
  std::string fault;
};

} // namespace

//===----------------------------------------------------------------------===//
// Lines and tokens
//===----------------------------------------------------------------------===//

static bool isWordChar(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '.';
}

/// Reads an escaped string from behind its opening quote to its closing one;
/// nothing if it has none.
static std::optional<std::string> takeString(StringRef &line) {
  std::string text;
  while (!line.empty()) {
    char c = line.front();
    line = line.drop_front();
    if (c == '"')
      return text;
    if (c != '\\') {
      text += c;
      continue;
    }
    if (line.empty())
      return std::nullopt;
    char escaped = line.front();
    unsigned code;
    if (line.size() >= 3 && !line.take_front(3).getAsInteger(8, code) &&
        code < 256) {
      text += static_cast<char>(code);
      line = line.drop_front(3);
      continue;
    }
    text += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
    line = line.drop_front();
  }
  return std::nullopt;
}

bool Assembler::split(StringRef line) {
  tokens.clear();
  position = 0;
  while (true) {
    line = line.ltrim();
    if (line.empty() || line.front() == '#' || line.front() == '(') {
      tokens.push_back({Token::Kind::EndOfLine, "the end of the line"});
      return true;
    }
    if (line.consume_front("\"")) {
      std::optional<std::string> text = takeString(line);
      if (!text)
        return fail("a string does not end");
      tokens.push_back({Token::Kind::String, std::move(*text)});
      continue;
    }
    StringRef word = line.take_while(isWordChar);
    if (!word.empty()) {
      tokens.push_back({Token::Kind::Word, word.str()});
      line = line.drop_front(word.size());
      continue;
    }
    StringRef mark =
        line.take_while([](char c) { return StringRef("=!<>").contains(c); });
    if (mark.empty())
      mark = line.take_front(1);
    tokens.push_back({Token::Kind::Mark, mark.str()});
    line = line.drop_front(mark.size());
  }
}

bool Assembler::nextLine() {
  while (fault.empty()) {
    if (rest.empty()) {
      tokens.assign(1, {Token::Kind::EndOfLine, "the end of the text"});
      position = 0;
      return false;
    }
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    ++lineNumber;
    if (!split(line))
      return false;
    if (tokens.front().kind != Token::Kind::EndOfLine)
      return true;
  }
  return false;
}

bool Assembler::expect(StringRef text) {
  return accept(text) ||
         fail("expected '" + text + "', found '" + peek().text + "'");
}

bool Assembler::endOfLine() {
  return peek().kind == Token::Kind::EndOfLine ||
         fail("unexpected '" + peek().text + "'");
}

bool Assembler::parseWord(std::string &word, StringRef what) {
  if (peek().kind != Token::Kind::Word)
    return fail("expected " + what + ", found '" + peek().text + "'");
  word = peek().text;
  ++position;
  return true;
}

bool Assembler::parseString(std::string &text) {
  if (peek().kind != Token::Kind::String)
    return fail("expected a string, found '" + peek().text + "'");
  text = peek().text;
  ++position;
  return true;
}

bool Assembler::parseNumber(uint64_t &value, uint64_t max) {
  if (peek().kind != Token::Kind::Word ||
      StringRef(peek().text).getAsInteger(0, value))
    return fail("expected a number, found '" + peek().text + "'");
  if (value > max)
    return fail(Twine(value) + " is too large: at most " + Twine(max));
  ++position;
  return true;
}

bool Assembler::parseSigned(int64_t &value) {
  bool isNegative = accept("-");
  uint64_t magnitude = 0;
  uint64_t max = std::numeric_limits<int64_t>::max();
  if (!parseNumber(magnitude, max + isNegative))
    return false;
  value = static_cast<int64_t>(isNegative ? 0 - magnitude : magnitude);
  return true;
}

bool Assembler::parseRow(std::vector<uint8_t> &bytes) {
  std::string word, row;
  if (!parseWord(word, "bytes in hexadecimal"))
    return false;
  if (word.size() % 2 != 0 || !llvm::tryGetFromHex(word, row))
    return fail("'" + word + "' is not a row of bytes in hexadecimal");
  llvm::append_range(bytes, llvm::arrayRefFromStringRef<uint8_t>(row));
  return true;
}

template <typename Parse>
bool Assembler::parseLines(Parse parseLine) {
  if (!expect("{") || !endOfLine())
    return false;
  while (true) {
    if (!nextLine())
      return fail("a block does not end");
    if (isClosing()) {
      ++position;
      return true;
    }
    if (!parseLine() || !endOfLine())
      return false;
  }
}

template <typename Enum, size_t size>
bool Assembler::parseName(Enum &value, const llvm::StringLiteral (&names)[size],
                          StringRef what) {
  const auto *found = llvm::find(names, peek().text);
  if (peek().kind == Token::Kind::String || found == std::end(names))
    return fail("expected " + what + ", found '" + peek().text + "'");
  ++position;
  value = static_cast<Enum>(found - std::begin(names));
  return true;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

bool Assembler::parsePEs(uint8_t &mask) {
  if (!expect("pe"))
    return false;
  do {
    uint64_t first = 0, last = 0;
    if (!parseNumber(first, machine::pesPerCluster - 1))
      return false;
    last = first;
    if (accept("-") && !parseNumber(last, machine::pesPerCluster - 1))
      return false;
    for (uint64_t pe = first; pe <= last; ++pe)
      mask |= static_cast<uint8_t>(1u << pe);
  } while (accept(","));
  return true;
}

bool Assembler::parseCode(const CodeTable *codes, uint64_t &value) {
  if (peek().kind == Token::Kind::Word && llvm::isDigit(peek().text.front()))
    return parseNumber(value, ~0ull);
  value = 0;
  do {
    std::string name;
    if (!parseWord(name, "a value"))
      return false;
    const CodeValue *code = codes ? codes->find(name) : nullptr;
    if (!code)
      return fail("unknown value '" + name + "'");
    value = codes->isBitMask ? value | 1ull << code->value : code->value;
  } while (codes->isBitMask && accept("|"));
  return true;
}

bool Assembler::parseCommand(Instruction &inst,
                             const KnownRegisters &registers) {
  std::string mnemonic;
  if (!parseWord(mnemonic, "a command"))
    return false;
  const TucOpInfo *info = findTucOp(StringRef(mnemonic));
  if (!info)
    return fail("unknown command '" + mnemonic + "'");
  TucCommand command(info->op);
  // What the registers hold as far as it is known; the word is complete when
  // the operands come.
  bool inOperands = false;
  while (peek().kind != Token::Kind::EndOfLine) {
    std::string name;
    uint64_t value = 0;
    if (!parseWord(name, "a field") || !expect("=") ||
        !parseCode(codesOf(info->op, name), value))
      return false;
    bool isWordField = llvm::any_of(
        info->wordFields, [&](const TucField &f) { return f.name == name; });
    if (isWordField) {
      if (!check(command.set(name, value)))
        return false;
      continue;
    }
    if (!inOperands) {
      inOperands = true;
      unsigned pe = llvm::countr_zero(unsigned(inst.peMask));
      for (unsigned i = 0; i < command.numOperands(); ++i)
        if (auto held = registers.get(pe, command.registerIndex(i)))
          (void)command.setOperand(i, *held);
    }
    std::optional<uint64_t> held = command.get(name);
    if (!held)
      return fail("command " + mnemonic + " has no field '" + name + "'");
    if (*held != value)
      return fail(mnemonic + "." + name + " is " + Twine(value) +
                  " here, but the registers hold " + Twine(*held) +
                  ": change what sets them");
  }
  inst.opcode = Opcode::Issue;
  inst.word = command.word();
  return true;
}

bool Assembler::parseInstruction(Instruction &inst, KnownRegisters &registers) {
  std::string name;
  if (!parseWord(name, "an instruction"))
    return false;
  if (name == "end") {
    inst.opcode = Opcode::End;
  } else if (name == "barrier") {
    inst.opcode = Opcode::Barrier;
  } else if (name == "set") {
    inst.opcode = Opcode::Set;
    std::string reg;
    if (!parseWord(reg, "a register") || !expect("="))
      return false;
    if (!StringRef(reg).starts_with("r") ||
        StringRef(reg).drop_front().getAsInteger(10, inst.reg))
      return fail("expected a register, found '" + reg + "'");
    if (!parseNumber(inst.imm, ~0ull) || !expect(",") || !parsePEs(inst.peMask))
      return false;
  } else if (name == "issue") {
    if (!parsePEs(inst.peMask) || !expect(":") ||
        !parseCommand(inst, registers))
      return false;
  } else if (name == "loop") {
    inst.opcode = Opcode::Loop;
    uint32_t address = 0;
    if (!parse(inst.word) ||
        (accept("by") && !(expect("[") && parse(address) && expect("]"))) ||
        !expect("{"))
      return false;
    inst.imm = address;
  } else if (name == "add") {
    inst.opcode = Opcode::Add;
    int64_t addend = 0;
    if (!expect("[") || !parse(inst.word) || !expectAll({"]", ","}) ||
        !parseSigned(addend))
      return false;
    inst.imm = static_cast<uint64_t>(addend);
  } else if (name == "if") {
    inst.opcode = Opcode::If;
    int64_t value = 0;
    if (!expect("[") || !parse(inst.word) || !expect("]") ||
        !parseName(inst.reg, conditionNames, "a comparison") ||
        !parseSigned(value) || !expect("{"))
      return false;
    inst.imm = static_cast<uint64_t>(value);
  } else {
    return fail("unknown instruction '" + name + "'");
  }
  registers.follow(inst);
  return true;
}

bool Assembler::parseSourceLine(Kernel &kernel) {
  SourceLine line;
  std::string file;
  if (!parseString(file) || !expect(":") || !parse(line.line) || !expect(":") ||
      !parse(line.column))
    return false;
  Locations &locations = kernel.locations;
  line.program = static_cast<uint32_t>(kernel.programs.size() - 1);
  line.instruction =
      static_cast<uint32_t>(kernel.programs.back().instructions.size());
  // Files are few; the last one is asked for most often.
  if (!locations.lines.empty() &&
      locations.files[locations.lines.back().file] == file) {
    line.file = locations.lines.back().file;
  } else {
    auto found = llvm::find(locations.files, file);
    line.file = static_cast<uint32_t>(found - locations.files.begin());
    if (found == locations.files.end())
      locations.files.push_back(file);
  }
  locations.lines.push_back(line);
  return true;
}

bool Assembler::parseProgram(Kernel &kernel) {
  Program &program = kernel.programs.emplace_back();
  if (!expect("cluster") || !parse(program.cluster) || !expect("{") ||
      !endOfLine())
    return false;
  KnownRegisters registers;
  // Loops and conditions that are open.
  llvm::SmallVector<Opcode, maxLoopDepth> open;
  while (true) {
    if (!nextLine())
      return fail("a program does not end");
    if (accept("at")) {
      if (!parseSourceLine(kernel) || !endOfLine())
        return false;
      continue;
    }
    Instruction inst;
    if (accept("}")) {
      if (open.empty())
        return endOfLine();
      if (accept("else")) {
        if (open.back() != Opcode::If)
          return fail("an else without a condition");
        inst = Instruction::elseIf();
        open.back() = Opcode::Else;
        if (!expect("{"))
          return false;
      } else {
        inst = open.pop_back_val() == Opcode::Loop ? Instruction::endLoop()
                                                   : Instruction::endIf();
      }
      registers.follow(inst);
    } else if (!parseInstruction(inst, registers)) {
      return false;
    }
    if (!endOfLine())
      return false;
    if (inst.opcode == Opcode::Loop || inst.opcode == Opcode::If)
      open.push_back(inst.opcode);
    program.instructions.push_back(inst);
  }
}

//===----------------------------------------------------------------------===//
// SPM image
//===----------------------------------------------------------------------===//

bool Assembler::parseImage(SfrImage &image) {
  return parseLines([&] {
    std::string name;
    uint64_t index = 0, value = 0;
    if (!parseWord(name, "a field"))
      return false;
    if (accept("[") && !(parseNumber(index, UINT32_MAX) && expect("]")))
      return false;
    return expect("=") && parseNumber(value, ~0ull) &&
           check(image.set(name, static_cast<unsigned>(index), value));
  });
}

bool Assembler::parseSide(uint64_t &base, std::array<uint32_t, 8> &limits,
                          std::array<int32_t, 8> &strides) {
  if (!parseNumber(base, ~0ull) || !expectAll({"loops", "["}))
    return false;
  // Outermost first.
  llvm::SmallVector<std::pair<uint32_t, int32_t>, 8> loops;
  do {
    uint32_t limit = 0;
    int64_t stride = 0;
    if (!parse(limit) || !expect(":") || !parseSigned(stride))
      return false;
    if (!llvm::isInt<32>(stride) || loops.size() == limits.size())
      return fail("a descriptor has eight loops with strides of 32 bits");
    loops.push_back({limit, static_cast<int32_t>(stride)});
  } while (accept(","));
  for (auto [k, loop] : llvm::enumerate(llvm::reverse(loops)))
    std::tie(limits[k], strides[k]) = loop;
  return expect("]");
}

bool Assembler::parseDescriptor(DmaDescriptor &descriptor) {
  return parseLines([&] {
    std::string name;
    if (!parseWord(name, "a field") || !expect("="))
      return false;
    if (name == "source")
      return parseSide(descriptor.source, descriptor.sourceLimits,
                       descriptor.sourceStrides);
    if (name == "destination")
      return parseSide(descriptor.destination, descriptor.destinationLimits,
                       descriptor.destinationStrides);
    if (name == "indirect_dimension")
      return parse(descriptor.indirectDimension);
    if (name == "indirect_entries") {
      descriptor.indirectList = isAt("list");
      return accept("list") || expect("addresses");
    }
    if (name == "indirect_indices") {
      for (auto [k, index] : llvm::enumerate(descriptor.indirectIndices))
        if (!expect(k == 0 ? "[" : ",") || !parse(index))
          return false;
      return expect("]");
    }
    std::string opcode;
    if (name != "opcode" || !parseWord(opcode, "an opcode"))
      return fail("unknown field '" + name + "'");
    std::optional<DmaOpcode> found = parseDmaOpcode(opcode);
    if (!found)
      return fail("unknown opcode '" + opcode + "'");
    descriptor.opcode = *found;
    return true;
  });
}

bool Assembler::parseItem(SpmImage &spm) {
  SpmItem item;
  if (!parse(item.address) || !expect(":"))
    return false;
  std::vector<uint8_t> bytes;
  bool isItem = true;
  if (accept("bytes")) {
    isItem = false;
    if (!parseRow(bytes))
      return false;
  } else if (accept("descriptor")) {
    item.kind = ItemKind::DmaDescriptor;
    if (accept("raw")) {
      if (!parseLines([&] { return parseRow(bytes); }))
        return false;
    } else {
      DmaDescriptor descriptor;
      if (!parseDescriptor(descriptor))
        return false;
      auto encoded = descriptor.encode();
      if (!encoded)
        return fail(llvm::toString(encoded.takeError()));
      bytes.assign(encoded->begin(), encoded->end());
    }
  } else if (accept("sfr")) {
    std::string name;
    if (!parseWord(name, "a register block"))
      return false;
    std::optional<Block> block = rngd::parseBlock(name);
    if (!block)
      return fail("unknown register block '" + name + "'");
    item.block = *block;
    SfrImage image(*block);
    if (!expect("bank") || !parse(item.bank) || !parseImage(image))
      return false;
    bytes = image.bytes();
  } else {
    return fail("expected sfr, descriptor or bytes, found '" + peek().text +
                "'");
  }
  if (item.address < spm.base || bytes.size() > spm.bytes.size() ||
      item.address - spm.base > spm.bytes.size() - bytes.size())
    return fail("lies outside the SPM image");
  llvm::copy(bytes, spm.bytes.begin() + (item.address - spm.base));
  item.size = static_cast<uint32_t>(bytes.size());
  if (isItem)
    spm.items.push_back(item);
  return true;
}

bool Assembler::parseSpm(SpmImage &spm) {
  uint64_t size = 0;
  if (!expect("at") || !parse(spm.base) || !expect("size") ||
      !parseNumber(size, machine::spmDataEnd - machine::spmDataBase))
    return false;
  spm.bytes.assign(size, 0);
  return parseLines([&] { return parseItem(spm); });
}

//===----------------------------------------------------------------------===//
// Arguments, plan, constants, schedule
//===----------------------------------------------------------------------===//

bool Assembler::parseArgument(Arguments &arguments) {
  if (accept("[")) {
    Relocation relocation;
    if (!parse(relocation.spmAddress) || !expectAll({"]", "=", "operand"}) ||
        !parse(relocation.operand) || !expect("+") ||
        !parseSigned(relocation.addend))
      return false;
    arguments.relocations.push_back(relocation);
    return true;
  }
  uint64_t index = 0;
  Operand operand;
  if (!parseNumber(index, UINT32_MAX))
    return false;
  if (index != arguments.operands.size())
    return fail("expected operand " + Twine(arguments.operands.size()) +
                ", found " + Twine(index));
  if (!expect(":") || !parseName(operand.role, roleNames, "a role") ||
      !parseString(operand.name) || !expect("bytes") ||
      !parseNumber(operand.bytes, ~0ull))
    return false;
  if (operand.role != Role::Scratch) {
    std::string type;
    if (!parseWord(type, "an element type"))
      return false;
    std::optional<ElementType> parsed = parseElementType(type);
    if (!parsed)
      return fail("unknown element type '" + type + "'");
    operand.type = *parsed;
    if (!expectAll({"axes", "["}))
      return false;
    if (!accept("]")) {
      do {
        Axis axis;
        if (!parseString(axis.name) || !expect("=") ||
            !parseNumber(axis.size, ~0ull))
          return false;
        operand.axes.push_back(std::move(axis));
      } while (accept(","));
      if (!expect("]"))
        return false;
    }
    if (!expect("chip") || !parseString(operand.chipMapping) ||
        !expect("element") || !parseString(operand.elementMapping))
      return false;
  }
  arguments.operands.push_back(std::move(operand));
  return true;
}

bool Assembler::parseScalar(Scalars &scalars) {
  if (accept("[")) {
    ScalarUse use;
    if (!parse(use.spmAddress) || !expectAll({"]", "=", "scalar"}) ||
        !parse(use.scalar) || !expect("*") || !parseSigned(use.scale))
      return false;
    scalars.uses.push_back(use);
    return true;
  }
  uint64_t index = 0;
  int64_t min = 0, max = 0;
  Scalar scalar;
  if (!parseNumber(index, UINT32_MAX))
    return false;
  if (index != scalars.scalars.size())
    return fail("expected scalar " + Twine(scalars.scalars.size()) +
                ", found " + Twine(index));
  if (!expectAll({":", "operand"}) || !parse(scalar.operand) ||
      !expect("from") || !parseSigned(min) || !expect("to") ||
      !parseSigned(max))
    return false;
  if (!llvm::isInt<32>(min) || !llvm::isInt<32>(max))
    return fail("the range of a scalar does not fit in 32 bits");
  scalar.min = static_cast<int32_t>(min);
  scalar.max = static_cast<int32_t>(max);
  scalars.scalars.push_back(scalar);
  return true;
}

bool Assembler::parsePlanEntry(std::vector<PlanEntry> &plan) {
  PlanEntry entry;
  if (!parseName(entry.tier, tierNames, "a memory") || !expect("cluster") ||
      !parse(entry.cluster) || !expect("at") || !parse(entry.address) ||
      !expect("size") || !parse(entry.size))
    return false;
  if (accept("lanes") && !parse(entry.lanes))
    return false;
  if (!expectAll({"live", "["}) || !parseNumber(entry.firstCycle, ~0ull) ||
      !expect(",") || !parseNumber(entry.lastCycle, ~0ull) || !expect(")"))
    return false;
  if (accept("name") && !parse(entry.name))
    return false;
  plan.push_back(entry);
  return true;
}

bool Assembler::parseConstant(std::vector<Constant> &constants) {
  Constant &constant = constants.emplace_back();
  return parseName(constant.kind, constantKindNames, "operand or table") &&
         parse(constant.index) &&
         parseLines([&] { return parseRow(constant.bytes); });
}

bool Assembler::parseScheduled(Schedule &schedule) {
  ScheduledCommand command;
  if (!parse(command.index) || !expect(":") ||
      !parseName(command.kind, kindNames, "a kind of command") ||
      !expect("[") || !parseNumber(command.begin, ~0ull) || !expect(",") ||
      !parseNumber(command.end, ~0ull) || !expect(")") ||
      !parseString(command.description))
    return false;
  while (accept("cluster")) {
    uint64_t cluster = 0;
    if (!parseNumber(cluster, command.instructions.size() - 1) ||
        !expect("instruction") || !parse(command.instructions[cluster]))
      return false;
  }
  schedule.commands.push_back(std::move(command));
  return true;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

bool Assembler::parseKernel(Kernel &kernel) {
  if (!expect("kernel") || !parseString(kernel.names.kernel))
    return false;
  return parseLines([&] {
    if (accept("producer"))
      return parseString(kernel.info.producer) && expect("chip") &&
             parseString(kernel.info.chip) && expect("release") &&
             parseString(kernel.info.release);
    if (accept("names"))
      return parseLines(
          [&] { return parseString(kernel.names.strings.emplace_back()); });
    if (accept("program"))
      return parseProgram(kernel);
    if (accept("spm"))
      return parseSpm(kernel.spm);
    if (accept("arguments"))
      return parseLines([&] { return parseArgument(kernel.arguments); });
    if (accept("scalars"))
      return parseLines([&] { return parseScalar(kernel.scalars); });
    if (accept("plan"))
      return parseLines([&] { return parsePlanEntry(kernel.plan); });
    if (accept("constants"))
      return parseLines([&] { return parseConstant(kernel.constants); });
    if (accept("schedule"))
      return expect("makespan") &&
             parseNumber(kernel.schedule.makespan, ~0ull) &&
             expect("lower_bound") &&
             parseNumber(kernel.schedule.lowerBound, ~0ull) &&
             parseLines([&] { return parseScheduled(kernel.schedule); });
    return fail("unexpected '" + peek().text + "'");
  });
}

llvm::Expected<std::vector<uint8_t>> Assembler::run() {
  std::vector<Kernel> kernels;
  WriteOptions options;
  std::string version;
  std::string own = (Twine(majorVersion) + "." + Twine(minorVersion)).str();
  std::string before = (Twine(majorVersion) + ".0").str();
  if (!nextLine() || !accept("edf") || !accept("version") ||
      !parseWord(version, "a version"))
    (void)fail("expected 'edf version " + own + "'");
  else if (version != own && version != before)
    (void)fail("version " + version + " cannot be written, only " + before +
               " and " + own);
  options.compress = accept("packed");
  (void)endOfLine();
  while (fault.empty() && nextLine()) {
    if (!parseKernel(kernels.emplace_back()))
      break;
    (void)endOfLine();
  }
  if (!fault.empty())
    return makeError(fault);
  return write(kernels, options);
}

llvm::Expected<std::vector<uint8_t>> edf::assemble(StringRef text) {
  return Assembler(text).run();
}
