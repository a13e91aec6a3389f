//===- Codes.cpp - Meanings of field values -------------------------------===//
//
// Tables of the named codes and of the fields that use them.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Target/RNGD/Codes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace furiosa::rngd;

#define FURIOSA_CODES_BEGIN(ENUM, TEXT, IS_BIT_MASK)                           \
  static constexpr CodeValue valuesOf##ENUM[] = {
#define FURIOSA_CODE(ENUM, NAME, TEXT, VALUE, MARK)                            \
  {TEXT, VALUE, CodeMark::MARK},
#define FURIOSA_CODES_END(ENUM)                                                \
  }                                                                            \
  ;
#include "furiosa/Target/RNGD/Codes.def"

static const CodeTable tables[] = {
#define FURIOSA_CODES_BEGIN(ENUM, TEXT, IS_BIT_MASK)                           \
  {#ENUM, TEXT, IS_BIT_MASK, valuesOf##ENUM},
#include "furiosa/Target/RNGD/Codes.def"
};

namespace {
/// Positions in `tables`.
enum TableIndex : unsigned {
#define FURIOSA_CODES_BEGIN(ENUM, TEXT, IS_BIT_MASK) ENUM##Index,
#include "furiosa/Target/RNGD/Codes.def"
};

struct SfrUse {
  unsigned table;
  Block block;
  llvm::StringLiteral field;
};

struct TucUse {
  unsigned table;
  TucOp op;
  llvm::StringLiteral field;
};
} // namespace

static constexpr SfrUse sfrUses[] = {
#define FURIOSA_CODE_SFR(ENUM, BLOCK, FIELD) {ENUM##Index, Block::BLOCK, FIELD},
#include "furiosa/Target/RNGD/Codes.def"
};

static constexpr TucUse tucUses[] = {
#define FURIOSA_CODE_TUC(ENUM, OP, FIELD) {ENUM##Index, TucOp::OP, FIELD},
#include "furiosa/Target/RNGD/Codes.def"
};

llvm::StringRef furiosa::rngd::toString(CodeMark mark) {
  switch (mark) {
  case CodeMark::Declared:
    return "declared";
  case CodeMark::Exercised:
    return "exercised";
  case CodeMark::Own:
    return "own";
  }
  return "unknown";
}

const CodeValue *CodeTable::find(uint64_t value) const {
  const auto *it = llvm::find_if(
      values, [&](const CodeValue &code) { return code.value == value; });
  return it == values.end() ? nullptr : it;
}

const CodeValue *CodeTable::find(llvm::StringRef text) const {
  const auto *it = llvm::find_if(
      values, [&](const CodeValue &code) { return code.name == text; });
  return it == values.end() ? nullptr : it;
}

std::string CodeTable::describe(uint64_t value) const {
  if (!isBitMask) {
    const CodeValue *code = find(value);
    return code ? code->name.str() : std::string();
  }
  llvm::SmallVector<llvm::StringRef> parts;
  uint64_t rest = value;
  for (const CodeValue &code : values) {
    if (!(value >> code.value & 1))
      continue;
    parts.push_back(code.name);
    rest &= ~(1ull << code.value);
  }
  return rest == 0 ? llvm::join(parts, "|") : std::string();
}

llvm::ArrayRef<CodeTable> furiosa::rngd::codeTables() { return tables; }

const CodeTable *furiosa::rngd::codesOf(Block block, llvm::StringRef field) {
  for (const SfrUse &use : sfrUses)
    if (use.block == block && use.field == field)
      return &tables[use.table];
  return nullptr;
}

const CodeTable *furiosa::rngd::codesOf(TucOp op, llvm::StringRef field) {
  for (const TucUse &use : tucUses)
    if (use.op == op && use.field == field)
      return &tables[use.table];
  return nullptr;
}

std::vector<std::pair<Block, llvm::StringRef>>
furiosa::rngd::fieldsOf(const CodeTable &table) {
  std::vector<std::pair<Block, llvm::StringRef>> fields;
  for (const SfrUse &use : sfrUses)
    if (&tables[use.table] == &table)
      fields.emplace_back(use.block, use.field);
  return fields;
}
