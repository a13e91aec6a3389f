//===- ClauseDiagnostics.cpp - Columns inside mappings --------------------===//

#include "ClauseDiagnostics.h"

#include "furiosa/Dialect/TensorMapping/Algebra/Mapping.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace furiosa::compile {

/// Offset in `text` of the string behind the first `clause "`, outside of
/// strings and comments; npos if there is none.
static size_t findClause(StringRef text, StringRef clause) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      i = text.find('"', i + 1);
      if (i == StringRef::npos)
        return i;
      continue;
    }
    if (text.substr(i).starts_with("//")) {
      i = text.find('\n', i);
      if (i == StringRef::npos)
        return i;
      continue;
    }
    bool startsWord = i == 0 || !(llvm::isAlnum(text[i - 1]) ||
                                  text[i - 1] == '_' || text[i - 1] == '%');
    if (!startsWord || !text.substr(i).starts_with(clause))
      continue;
    size_t quote = text.find_first_not_of(" \t\r\n", i + clause.size());
    if (quote != StringRef::npos && text[quote] == '"' &&
        quote > i + clause.size() - 1)
      return quote + 1;
  }
  return StringRef::npos;
}

/// Offset in the text as written of a column (from 1) of the same text with its
/// white space normalised: only blanks differ, so the n-th other character of
/// one is the n-th of the other.
static size_t getWrittenOffset(StringRef written, unsigned column) {
  auto normalised = mapping::normalise(written);
  if (!normalised)
    return 0;
  size_t wanted = llvm::count_if(StringRef(*normalised).take_front(column - 1),
                                 [](char c) { return !llvm::isSpace(c); });
  size_t offset = 0;
  for (;; ++offset) {
    while (offset < written.size() && llvm::isSpace(written[offset]))
      ++offset;
    if (wanted-- == 0 || offset >= written.size())
      return std::min(offset, written.size());
  }
}

/// Offset of a line and a column, from 1; npos outside of the text.
static size_t getOffset(StringRef text, unsigned line, unsigned column) {
  size_t offset = 0;
  for (unsigned at = 1; at < line; ++at) {
    offset = text.find('\n', offset);
    if (offset == StringRef::npos)
      return offset;
    ++offset;
  }
  offset += column - 1;
  return offset <= text.size() ? offset : StringRef::npos;
}

std::optional<std::pair<unsigned, unsigned>>
findClauseCharacter(StringRef text, unsigned line, unsigned column,
                    StringRef clause) {
  auto [name, columnText] = clause.split('@');
  unsigned inClause;
  if (name.empty() || columnText.getAsInteger(10, inClause) || inClause == 0 ||
      line == 0 || column == 0)
    return std::nullopt;
  size_t start = getOffset(text, line, column);
  if (start == StringRef::npos)
    return std::nullopt;
  size_t begin = findClause(text.substr(start), name);
  if (begin == StringRef::npos)
    return std::nullopt;
  begin += start;
  StringRef written = text.slice(begin, text.find('"', begin));
  size_t position = begin + getWrittenOffset(written, inClause);
  StringRef between = text.slice(start, position);
  size_t newline = between.rfind('\n');
  if (newline == StringRef::npos)
    return std::pair(line, column + static_cast<unsigned>(between.size()));
  return std::pair(line + static_cast<unsigned>(between.count('\n')),
                   static_cast<unsigned>(between.size() - newline));
}

} // namespace furiosa::compile
