//===- ClauseDiagnostics.cpp - Carets inside mappings ---------------------===//

#include "furiosa/Tools/ClauseDiagnostics.h"

#include "furiosa/Dialect/TensorMapping/Algebra/Mapping.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace furiosa;

ClauseDiagnosticHandler::ClauseDiagnosticHandler(llvm::SourceMgr &sources,
                                                 MLIRContext *context)
    : SourceMgrDiagnosticHandler(sources, context), sources(sources) {
  setHandler([this](Diagnostic &diagnostic) {
    emitDiagnostic(resolve(diagnostic.getLocation()), diagnostic.str(),
                   diagnostic.getSeverity());
    for (Diagnostic &note : diagnostic.getNotes())
      emitDiagnostic(resolve(note.getLocation()), note.str(),
                     note.getSeverity());
  });
}

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
  size_t wanted = llvm::count_if(
      StringRef(*normalised).take_front(column - 1),
      [](char c) { return !llvm::isSpace(c); });
  size_t offset = 0;
  for (;; ++offset) {
    while (offset < written.size() && llvm::isSpace(written[offset]))
      ++offset;
    if (wanted-- == 0 || offset >= written.size())
      return std::min(offset, written.size());
  }
}

Location ClauseDiagnosticHandler::resolve(Location location) const {
  auto name = dyn_cast<NameLoc>(location);
  if (!name)
    return location;
  auto [clause, columnText] = name.getName().getValue().split('@');
  auto at = dyn_cast<FileLineColLoc>(name.getChildLoc());
  unsigned column;
  if (!at || clause.empty() || columnText.getAsInteger(10, column) || column == 0)
    return location;
  unsigned bufferId = sources.getMainFileID();
  const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(bufferId);
  if (buffer->getBufferIdentifier() != at.getFilename().getValue())
    return location;
  SMLoc start =
      sources.FindLocForLineAndColumn(bufferId, at.getLine(), at.getColumn());
  if (!start.isValid())
    return location;
  StringRef text(start.getPointer(),
                 buffer->getBufferEnd() - start.getPointer());
  size_t begin = findClause(text, clause);
  if (begin == StringRef::npos)
    return location;
  StringRef written = text.slice(begin, text.find('"', begin));
  size_t position = begin + getWrittenOffset(written, column);
  auto [line, sourceColumn] = sources.getLineAndColumn(
      SMLoc::getFromPointer(text.data() + position), bufferId);
  return FileLineColLoc::get(location.getContext(), at.getFilename(), line,
                             sourceColumn);
}
