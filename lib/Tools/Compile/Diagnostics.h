//===- Diagnostics.h - Messages as data -------------------------*- C++ -*-===//
//
// Diagnostics that outlive their context, with places resolved to line and
// column, and their forms: text with excerpts, JSON lines as cargo's tools read
// them, SARIF 2.1.0.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_TOOLS_COMPILE_DIAGNOSTICS_H
#define FURIOSA_LIB_TOOLS_COMPILE_DIAGNOSTICS_H

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SourceMgr.h"

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace furiosa::compile {

/// A place in a file; line and column count from 1, a column counts bytes; a
/// line of 0 is the file as a whole, an empty file no place at all.
struct Place {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
  bool operator==(const Place &) const = default;
};

struct Message {
  enum Level : uint8_t { Error, Warning, Note, Remark } level = Error;
  std::string text;
  Place place;
  /// Notes.
  std::vector<Message> children;

  /// The first rule that the text names outside of what it quotes, as "TU-29";
  /// empty if none.
  llvm::StringRef getRule() const;
};

Message makeError(std::string text, Place place = {});

/// A line of a file, without its end, and a place in it.
struct SourceLine {
  llvm::StringRef text;
  /// In bytes: of the line in the file, of the place in the line.
  uint64_t begin;
  uint64_t offset;
};

/// The text of files that messages point into. Inputs are added; others are
/// read when a message needs them.
class Sources {
public:
  /// The buffer's identifier is the name of the file.
  void add(std::unique_ptr<llvm::MemoryBuffer> buffer);
  /// Null if the file is no input. Other threads may call this at any time once
  /// all inputs are added.
  const llvm::MemoryBuffer *findInput(llvm::StringRef file) const {
    return inputs.lookup(file);
  }
  /// The line of a place, if the file and the line exist.
  std::optional<SourceLine> findLine(const Place &place);

private:
  unsigned findBuffer(llvm::StringRef file);

  llvm::StringMap<const llvm::MemoryBuffer *> inputs;
  /// Of the thread that prints.
  llvm::SourceMgr manager;
  llvm::StringMap<unsigned> buffers;
};

/// Turns the diagnostics of a context into messages while it lives. A location
/// that names a clause of an op and a column in its text (`time@7`) becomes the
/// place of that very character if the op's file is an input.
class Collector : public mlir::ScopedDiagnosticHandler {
public:
  /// Other threads may read `sources` at the same time.
  Collector(mlir::MLIRContext *context, const Sources &sources,
            std::vector<Message> &messages);
};

/// Prints a message and its notes with source lines and carets, without where
/// the place is the one `shown` just before. Bytes that would garble a terminal
/// are escaped.
void printText(llvm::raw_ostream &os, const Message &message, Sources &sources,
               bool colours, const Place *shown = nullptr);

/// The kernel, or the file, that a JSON message is about.
struct Subject {
  std::string package;
  std::string name;
  std::string file;
};

/// `{"reason": "compiler-message", …}`.
nlohmann::ordered_json toJson(const Message &message, const Subject &subject,
                              Sources &sources);
/// `{"reason": "compiler-artifact", …}`.
nlohmann::ordered_json artifactToJson(const Subject &subject,
                                      llvm::ArrayRef<std::string> files,
                                      bool fresh);
/// One SARIF log of all messages.
nlohmann::ordered_json toSarif(llvm::ArrayRef<Message> messages,
                               Sources &sources, bool success);
/// Says of commands where they come from, as the viewers show it, and their
/// text. One for all commands of a root: each looks at all that is in the root.
class CommandDescriber {
public:
  explicit CommandDescriber(mlir::Operation *root);
  std::string describe(mlir::Location location, mlir::Operation &command);

private:
  mlir::AsmState state;
};
/// Text of a JSON value; bytes that are no UTF-8 become U+FFFD. `indent` as for
/// `dump`: -1 is one line.
std::string dumpJson(const nlohmann::ordered_json &value, int indent = -1);

} // namespace furiosa::compile

#endif // FURIOSA_LIB_TOOLS_COMPILE_DIAGNOSTICS_H
