//===- Options.h - The command line of compile ------------------*- C++ -*-===//

#ifndef FURIOSA_LIB_TOOLS_COMPILE_OPTIONS_H
#define FURIOSA_LIB_TOOLS_COMPILE_OPTIONS_H

#include "Selection.h"

#include "furiosa/Target/RNGD/Machine.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace furiosa::compile {

enum class MessageFormat : uint8_t { Human, Json, Sarif };

/// Files to dump to; empty: none. "-" is standard output.
struct DumpPaths {
  std::string visa, dfg, ir, graph, schedule, trace;
  /// A folder.
  std::string summary;

  /// Flag and path of the files, in the order of levels.
  std::vector<std::pair<llvm::StringRef, llvm::StringRef>> getFiles() const;
  bool any() const { return !getFiles().empty() || !summary.empty(); }
};

struct Options {
  std::vector<std::string> inputs;
  Selection selection;
  /// A folder, or the file of the only kernel.
  std::string output;
  bool list = false;
  std::optional<rngd::Release> release;
  /// Warnings of the kernel check are errors.
  bool strict = false;
  unsigned jobs = 1;
  MessageFormat format = MessageFormat::Human;
  /// No table unless something failed.
  bool quiet = false;
  bool depfiles = false;
  std::string depfile;
  bool timing = false;
  DumpPaths dumps;
  /// Empty: no cache.
  std::string cacheFolder;
  uint64_t cacheLimit = 0;
  bool pruneNow = false;
  bool cacheStatistics = false;

  /// `output` is the file of the only kernel.
  bool outputIsFile() const;
  /// Flag and path of all files that have a flag.
  std::vector<std::pair<llvm::StringRef, llvm::StringRef>> getFiles() const;
  /// Flags that make standard output carry something for programs.
  std::vector<llvm::StringRef> findStandardOutputUsers() const;
};

/// Whether a positional argument is an input rather than a filter.
bool isInput(llvm::StringRef argument);

/// Empty after a message on standard error.
std::optional<Options> parseOptions(int argc, char **argv);

} // namespace furiosa::compile

#endif // FURIOSA_LIB_TOOLS_COMPILE_OPTIONS_H
