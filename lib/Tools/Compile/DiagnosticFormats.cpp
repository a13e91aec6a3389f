//===- DiagnosticFormats.cpp - Messages for programs ----------------------===//
//
// The JSON of cargo's `--message-format json` and SARIF 2.1.0.
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"

#include "furiosa/Support/Version.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json.hpp>

using json = nlohmann::ordered_json;
using llvm::StringRef;

namespace furiosa::compile {

// Who asks has verified the root.
CommandDescriber::CommandDescriber(mlir::Operation *root)
    : state(root, mlir::OpPrintingFlags().useLocalScope().assumeVerified()) {}

std::string CommandDescriber::describe(mlir::Location location,
                                       mlir::Operation &command) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto at = location->findInstanceOf<mlir::FileLineColLoc>())
    os << "--> " << at.getFilename().getValue() << ":" << at.getLine() << ":"
       << at.getColumn() << "\n\n";
  command.print(os, state);
  return text;
}

std::string dumpJson(const json &value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

namespace {
/// A place as programs want it: what is marked, in bytes of the file and in
/// characters of the line.
struct Span {
  uint64_t byteBegin = 0, byteEnd = 0;
  /// From 1; the end is behind the last character.
  uint64_t columnBegin = 1, columnEnd = 1;
  std::string lineText;
};
} // namespace

/// Characters of UTF-8 text; a byte that begins none counts as one.
static uint64_t countCharacters(StringRef text) {
  return static_cast<uint64_t>(llvm::count_if(text, [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

static bool isWord(char c) {
  return llvm::isAlnum(c) || StringRef("_.$%#@!").contains(c) ||
         static_cast<unsigned char>(c) >= 0x80;
}

static std::optional<Span> findSpan(const Place &place, Sources &sources) {
  std::optional<SourceLine> line = sources.findLine(place);
  if (!line)
    return std::nullopt;
  // A word, else a character.
  size_t begin = line->offset, end = begin;
  while (end < line->text.size() && isWord(line->text[end]))
    ++end;
  if (end == begin && end < line->text.size())
    ++end;
  Span span;
  span.byteBegin = line->begin + begin;
  span.byteEnd = line->begin + end;
  span.columnBegin = 1 + countCharacters(line->text.take_front(begin));
  span.columnEnd =
      span.columnBegin + countCharacters(line->text.slice(begin, end));
  span.lineText = line->text.str();
  return span;
}

static StringRef getLevelName(Message::Level level) {
  switch (level) {
  case Message::Error:
    return "error";
  case Message::Warning:
    return "warning";
  case Message::Note:
    return "note";
  case Message::Remark:
    // rustc's word for what informs and is no part of another message.
    return "note";
  }
  llvm_unreachable("unknown level");
}

//===----------------------------------------------------------------------===//
// cargo's JSON
//===----------------------------------------------------------------------===//

static json spansToJson(const Place &place, Sources &sources) {
  json spans = json::array();
  if (place.file.empty())
    return spans;
  Span span;
  span.columnBegin = span.columnEnd = std::max(place.column, 1u);
  json text = json::array();
  if (std::optional<Span> found = findSpan(place, sources)) {
    span = *found;
    text.push_back({{"text", span.lineText},
                    {"highlight_start", span.columnBegin},
                    {"highlight_end", span.columnEnd}});
  }
  unsigned line = std::max(place.line, 1u);
  spans.push_back({{"file_name", place.file},
                   {"byte_start", span.byteBegin},
                   {"byte_end", span.byteEnd},
                   {"line_start", line},
                   {"line_end", line},
                   {"column_start", span.columnBegin},
                   {"column_end", span.columnEnd},
                   {"is_primary", true},
                   {"text", std::move(text)},
                   {"label", nullptr},
                   {"suggested_replacement", nullptr},
                   {"suggestion_applicability", nullptr},
                   {"expansion", nullptr}});
  return spans;
}

static json diagnosticToJson(const Message &message, Sources &sources,
                             bool isChild) {
  json children = json::array();
  for (const Message &child : message.children)
    children.push_back(diagnosticToJson(child, sources, true));
  json code = nullptr;
  if (StringRef rule = message.getRule(); !rule.empty())
    code = {{"code", rule.str()}, {"explanation", nullptr}};
  json rendered = nullptr;
  if (!isChild) {
    std::string text;
    llvm::raw_string_ostream os(text);
    printText(os, message, sources, /*colours=*/false);
    rendered = text;
  }
  return {{"$message_type", "diagnostic"},
          {"message", message.text},
          {"code", std::move(code)},
          {"level", getLevelName(message.level).str()},
          {"spans", spansToJson(message.place, sources)},
          {"children", std::move(children)},
          {"rendered", std::move(rendered)}};
}

/// What cargo says about the target of a message.
static json targetToJson(const Subject &subject) {
  return {{"kind", {"kernel"}},   {"crate_types", {"edf"}},
          {"name", subject.name}, {"src_path", subject.file},
          {"edition", "2021"},    {"doc", false},
          {"doctest", false},     {"test", false}};
}

json toJson(const Message &message, const Subject &subject, Sources &sources) {
  return {{"reason", "compiler-message"},
          {"package_id", subject.package},
          {"manifest_path", subject.file},
          {"target", targetToJson(subject)},
          {"message", diagnosticToJson(message, sources, false)}};
}

json artifactToJson(const Subject &subject, llvm::ArrayRef<std::string> files,
                    bool fresh) {
  return {{"reason", "compiler-artifact"},
          {"package_id", subject.package},
          {"manifest_path", subject.file},
          {"target", targetToJson(subject)},
          {"profile",
           {{"opt_level", "3"},
            {"debuginfo", 0},
            {"debug_assertions", false},
            {"overflow_checks", false},
            {"test", false}}},
          {"features", json::array()},
          {"filenames", std::vector<std::string>(files)},
          {"executable", nullptr},
          {"fresh", fresh}};
}

//===----------------------------------------------------------------------===//
// SARIF
//===----------------------------------------------------------------------===//

/// A relative reference or a file URI: everything outside of the unreserved
/// characters and the slash is percent-encoded.
static std::string toUri(StringRef path) {
  std::string uri = path.starts_with("/") ? "file://" : "";
  for (char c : path) {
    if (llvm::isAlnum(c) || StringRef("-._~/").contains(c)) {
      uri += c;
      continue;
    }
    auto byte = static_cast<unsigned char>(c);
    uri += '%';
    uri += llvm::hexdigit(byte >> 4);
    uri += llvm::hexdigit(byte & 15);
  }
  return uri;
}

static json locationToSarif(const Place &place, Sources &sources) {
  json physical = {{"artifactLocation", {{"uri", toUri(place.file)}}}};
  if (place.line != 0) {
    json region = {{"startLine", place.line}};
    if (std::optional<Span> span = findSpan(place, sources)) {
      region["startColumn"] = span->columnBegin;
      region["endColumn"] = span->columnEnd;
      region["snippet"] = {{"text", span->lineText}};
    } else if (place.column != 0) {
      region["startColumn"] = place.column;
    }
    physical["region"] = std::move(region);
  }
  return {{"physicalLocation", std::move(physical)}};
}

json toSarif(llvm::ArrayRef<Message> messages, Sources &sources, bool success) {
  llvm::SmallSetVector<StringRef, 8> rules;
  json results = json::array();
  for (const Message &message : messages) {
    json result = json::object();
    if (StringRef rule = message.getRule(); !rule.empty()) {
      rules.insert(rule);
      result["ruleId"] = rule.str();
    }
    result["level"] = getLevelName(message.level).str();
    result["message"] = {{"text", message.text}};
    if (!message.place.file.empty())
      result["locations"] =
          json::array({locationToSarif(message.place, sources)});
    json related = json::array();
    for (const Message &child : message.children) {
      json location = child.place.file.empty()
                          ? json::object()
                          : locationToSarif(child.place, sources);
      location["message"] = {{"text", child.text}};
      related.push_back(std::move(location));
    }
    if (!related.empty())
      result["relatedLocations"] = std::move(related);
    results.push_back(std::move(result));
  }
  json ruleList = json::array();
  for (StringRef rule : rules)
    ruleList.push_back({{"id", rule.str()}});
  json driver = {{"name", "furiosa-opt-mlir"},
                 {"version", FURIOSA_VERSION},
                 {"rules", std::move(ruleList)}};
  json invocation = {{"executionSuccessful", success}};
  json run = json::object();
  run["tool"] = {{"driver", std::move(driver)}};
  run["columnKind"] = "unicodeCodePoints";
  run["invocations"] = json::array({std::move(invocation)});
  run["results"] = std::move(results);
  json log = json::object();
  log["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
  log["version"] = "2.1.0";
  log["runs"] = json::array({std::move(run)});
  return log;
}

} // namespace furiosa::compile
