//===- Diagnostics.cpp - Messages as data ---------------------------------===//

#include "Diagnostics.h"

#include "ClauseDiagnostics.h"
#include "TerminalText.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace furiosa::compile {

Message makeError(std::string text, Place place) {
  return {Message::Error, std::move(text), std::move(place), {}};
}

/// Length of a rule's number, as `TU-29`, that a text begins with; 0 if none.
static size_t getRuleLength(StringRef text) {
  for (StringRef family : {"MA-", "MM-", "TU-", "VE-", "TM-", "LIR-", "RES-", "W-"}) {
    if (!text.starts_with(family))
      continue;
    size_t end = text.find_if_not(llvm::isDigit, family.size());
    end = std::min(end, text.size());
    bool isWhole = end == text.size() || !llvm::isAlnum(text[end]);
    return end != family.size() && isWhole ? end : 0;
  }
  return 0;
}

llvm::StringRef Message::getRule() const {
  StringRef all = text;
  for (size_t i = 0; i < all.size(); ++i) {
    bool startsWord = i == 0 || !llvm::isAlnum(all[i - 1]);
    // Mappings and names stand in quotes; an apostrophe stands in a word.
    if (all[i] == '"' || (all[i] == '\'' && startsWord))
      if (size_t end = all.find(all[i], i + 1); end != StringRef::npos) {
        i = end;
        continue;
      }
    if (startsWord)
      if (size_t length = getRuleLength(all.substr(i)))
        return all.substr(i, length);
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

void Sources::add(std::unique_ptr<llvm::MemoryBuffer> buffer) {
  std::string name = buffer->getBufferIdentifier().str();
  inputs[name] = buffer.get();
  buffers[name] = manager.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
}

unsigned Sources::findBuffer(StringRef file) {
  auto [it, isNew] = buffers.try_emplace(file, 0);
  if (!isNew || file.empty())
    return it->second;
  auto buffer = llvm::MemoryBuffer::getFile(file);
  // An empty answer is remembered as well.
  if (buffer)
    it->second = manager.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  return it->second;
}

std::optional<SourceLine> Sources::findLine(const Place &place) {
  if (place.line == 0)
    return std::nullopt;
  unsigned id = findBuffer(place.file);
  if (id == 0)
    return std::nullopt;
  llvm::SMLoc at = manager.FindLocForLineAndColumn(id, place.line,
                                                   std::max(place.column, 1u));
  if (!at.isValid())
    return std::nullopt;
  StringRef all = manager.getMemoryBuffer(id)->getBuffer();
  auto offset = static_cast<size_t>(at.getPointer() - all.data());
  // 0 if there is no line in front of it.
  size_t begin = all.take_front(offset).rfind('\n') + 1;
  StringRef text = all.slice(begin, all.find('\n', offset));
  text.consume_back("\r");
  return SourceLine{text, begin, std::min(offset - begin, text.size())};
}

//===----------------------------------------------------------------------===//
// From diagnostics
//===----------------------------------------------------------------------===//

namespace {
class Converter {
public:
  explicit Converter(const Sources &sources) : sources(sources) {}

  Message convert(Diagnostic &diagnostic) {
    Message message;
    message.level = getLevel(diagnostic.getSeverity());
    message.text = diagnostic.str();
    message.place = getPlace(diagnostic.getLocation(), message.children, 0);
    for (Diagnostic &note : diagnostic.getNotes())
      message.children.push_back(convert(note));
    return message;
  }

private:
  static Message::Level getLevel(DiagnosticSeverity severity) {
    switch (severity) {
    case DiagnosticSeverity::Error:
      return Message::Error;
    case DiagnosticSeverity::Warning:
      return Message::Warning;
    case DiagnosticSeverity::Note:
      return Message::Note;
    case DiagnosticSeverity::Remark:
      return Message::Remark;
    }
    llvm_unreachable("unknown severity");
  }

  /// Where to show a location; the callers of inlined code become notes.
  Place getPlace(Location location, std::vector<Message> &notes,
                 unsigned depth) {
    // Locations nest as deep as their writer likes.
    if (depth > 64)
      return {};
    if (auto at = dyn_cast<FileLineColLoc>(location))
      return {at.getFilename().str(), at.getLine(), at.getColumn()};
    if (auto call = dyn_cast<CallSiteLoc>(location)) {
      Place place = getPlace(call.getCallee(), notes, depth + 1);
      std::vector<Message> outer;
      Place caller = getPlace(call.getCaller(), outer, depth + 1);
      if (place.file.empty())
        return caller;
      if (!caller.file.empty())
        notes.push_back({Message::Note, "called from here", caller, {}});
      llvm::append_range(notes, outer);
      return place;
    }
    if (auto name = dyn_cast<NameLoc>(location)) {
      Place place = getPlace(name.getChildLoc(), notes, depth + 1);
      const llvm::MemoryBuffer *buffer = sources.findInput(place.file);
      if (buffer && isa<FileLineColLoc, CallSiteLoc>(name.getChildLoc()))
        if (auto found =
                findClauseCharacter(buffer->getBuffer(), place.line,
                                    place.column, name.getName().getValue()))
          std::tie(place.line, place.column) = *found;
      return place;
    }
    if (auto fused = dyn_cast<FusedLoc>(location))
      for (Location part : fused.getLocations()) {
        Place place = getPlace(part, notes, depth + 1);
        if (!place.file.empty())
          return place;
      }
    return {};
  }

  const Sources &sources;
};
} // namespace

Collector::Collector(MLIRContext *context, const Sources &sources,
                     std::vector<Message> &messages)
    : ScopedDiagnosticHandler(context) {
  setHandler([&sources, &messages](Diagnostic &diagnostic) {
    messages.push_back(Converter(sources).convert(diagnostic));
  });
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static llvm::SourceMgr::DiagKind getKind(Message::Level level) {
  switch (level) {
  case Message::Error:
    return llvm::SourceMgr::DK_Error;
  case Message::Warning:
    return llvm::SourceMgr::DK_Warning;
  case Message::Note:
    return llvm::SourceMgr::DK_Note;
  case Message::Remark:
    return llvm::SourceMgr::DK_Remark;
  }
  llvm_unreachable("unknown level");
}

void printText(llvm::raw_ostream &os, const Message &message, Sources &sources,
               bool colours, const Place *shown) {
  const Place &place = message.place;
  std::string where = printable(place.file);
  if (place.line != 0)
    where += ":" + std::to_string(place.line) + ":" +
             std::to_string(std::max(place.column, 1u));
  // A memory map is many lines; anything else that moves a cursor is not meant.
  std::string text = llvm::join(
      llvm::map_range(llvm::split(message.text, '\n'), printable), "\n");
  // Without a line number LLVM's class looks for no excerpt.
  llvm::SMDiagnostic(where, getKind(message.level), text)
      .print(nullptr, os, colours);
  std::optional<SourceLine> line = sources.findLine(place);
  if (line && !(shown && *shown == place))
    printExcerpt(os, line->text, line->offset, colours);
  for (const Message &child : message.children)
    printText(os, child, sources, colours, &place);
}

} // namespace furiosa::compile
