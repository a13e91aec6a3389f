//===- Cache.h - Compiled kernels by content --------------------*- C++ -*-===//
//
// A folder of compiled kernels, keyed by what they are made of, and of the
// names and keys of the kernels in a file and what is said about them, keyed by
// its bytes. Entries are written whole under a temporary name and renamed, and carry a digest: runs
// may share the folder and die at any time. Nothing is locked.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_TOOLS_COMPILE_CACHE_H
#define FURIOSA_LIB_TOOLS_COMPILE_CACHE_H

#include "Diagnostics.h"
#include "Selection.h"

#include "llvm/Support/Error.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace furiosa::compile {

/// A binary and what the table says about it.
struct CompiledKernel {
  std::vector<uint8_t> edf;
  uint64_t makespan = 0;
  uint64_t lowerBound = 0;
  /// Nothing is said about it. Otherwise its binary is of use only together
  /// with what is said, which names places in its file.
  bool isSilent = true;
};

/// A kernel of a file. Lines and columns count from 1.
struct KernelEntry {
  KernelName name;
  unsigned line = 0, column = 0;
  /// Empty if nobody has asked for it.
  std::string key;
  /// What was said when it was compiled, if it does not fail.
  std::vector<Message> messages;
};

class Cache {
public:
  /// A cache that holds nothing.
  Cache() = default;
  /// A failure to make the folder is an error.
  static llvm::Expected<std::unique_ptr<Cache>> open(std::string folder);

  bool isEnabled() const { return !folder.empty(); }
  llvm::StringRef getFolder() const { return folder; }

  /// Keys are 64 hexadecimal digits. The compiler itself is part of all.
  std::string getFileKey(llvm::StringRef bytes, llvm::StringRef options) const;
  std::string getKernelKey(llvm::StringRef slice,
                           llvm::StringRef options) const;

  // What is not there, or damaged, is empty. All may run on several threads.

  /// A kernel about which something is said is found only if `withMessages`.
  std::optional<CompiledKernel> findKernel(llvm::StringRef key,
                                           bool withMessages);
  /// Messages point into `file`, whatever its name was.
  std::optional<std::vector<KernelEntry>> findFile(llvm::StringRef key,
                                                   llvm::StringRef file);
  // A cache that cannot be written (full, read-only) compiles as before.
  void storeKernel(llvm::StringRef key, const CompiledKernel &kernel);
  /// Messages that point elsewhere are left out.
  void storeFile(llvm::StringRef key, llvm::StringRef file,
                 llvm::ArrayRef<KernelEntry> entries);

  /// Removes the entries that were not used for longest until the others take
  /// at most `bytes`; without `now` only if the last time is a while ago.
  void prune(uint64_t bytes, bool now);

  struct Statistics {
    uint64_t kernelHits = 0, kernelMisses = 0, fileHits = 0, fileMisses = 0;
    /// Of the folder.
    uint64_t entries = 0, bytes = 0;
  };
  Statistics getStatistics() const;

private:
  std::string getPath(char kind, llvm::StringRef key) const;
  std::optional<std::vector<uint8_t>> read(const std::string &path);
  void write(const std::string &path, std::vector<uint8_t> payload);

  std::string folder;
  std::string compiler;
  std::atomic<uint64_t> kernelHits = 0, kernelMisses = 0, fileHits = 0,
                        fileMisses = 0;
};

/// What tells this build of the compiler from all others: version and build id.
std::string getCompilerIdentity();

/// The folder that the environment asks for: `FURIOSA_OPT_CACHE_DIR` (empty: no
/// cache), else `furiosa-opt` in the user's folder for caches; empty if there
/// is none.
std::string getDefaultCacheFolder();

/// "64m": a number of bytes with an optional k, m, g.
std::optional<uint64_t> parseSize(llvm::StringRef text);

} // namespace furiosa::compile

#endif // FURIOSA_LIB_TOOLS_COMPILE_CACHE_H
