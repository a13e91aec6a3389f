//===- DumpFiles.cpp - Files of the dumps of a kernel ---------------------===//
//
// Writes what was dumped where the flags want it.
//
//===----------------------------------------------------------------------===//

#include "Artifacts.h"
#include "Driver.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::compile;

void Driver::writeDumps() {
  if (!options.dumps.any() || tasks.empty())
    return;
  auto write = [&](StringRef path, StringRef text) {
    if (llvm::Error failure = writeText(path, text))
      error(llvm::toString(std::move(failure)));
  };
  // What a kernel that fails has got to is worth seeing.
  bool isCompiled = tasks.front().status != KernelTask::Failed;
  const DumpPaths &paths = options.dumps;
  for (auto [flag, path, text, level] : std::initializer_list<
           std::tuple<StringRef, StringRef, StringRef, StringRef>>{
           {"--dump-visa", paths.visa, dumps.visa, "visa"},
           {"--dump-dfg", paths.dfg, dumps.dfg, "visa"},
           {"--dump-ir", paths.ir, dumps.lirBytecode, "lir"},
           {"--dump-graph", paths.graph, dumps.lirGraph, "lir"},
           {"--dump-schedule", paths.schedule, dumps.schedule, "resource"},
           {"--dump-trace", paths.trace, dumps.trace, "resource"}}) {
    if (path.empty())
      continue;
    if (!text.empty())
      write(path, text);
    else if (isCompiled)
      error(flag + ": the kernel begins below " + level +
            ", there is nothing to dump");
  }
  if (paths.summary.empty() || !isCompiled)
    return;
  SmallString<128> folder(paths.summary);
  for (StringRef sub : {"", "json", "text_form"}) {
    SmallString<128> path = folder;
    llvm::sys::path::append(path, sub);
    if (std::error_code code = makeFolders(path)) {
      error("cannot make folder '" + path.str() + "': " + code.message());
      return;
    }
  }
  Usage usage = getUsage();
  Summary &summary = dumps.summary;
  summary.kernel = tasks.front().entry().name.name;
  summary.processorSeconds = usage.processorSeconds;
  summary.peakMemoryBytes = usage.peakMemoryBytes;
  for (const auto &[what, entry] : times.entries)
    summary.seconds[StringRef(what).trim().str()] = entry.seconds;
  const std::string texts[] = {
      summary.toJson(), summary.toText(), dumps.schedule,
      dumps.lifetimes,  dumps.dfg,        dumps.lirGraph,
      dumps.tmap, dumps.visa,       dumps.lirText,    dumps.resourceText};
  for (auto [name, text] : llvm::zip_equal(Summary::files, texts)) {
    SmallString<128> path = folder;
    llvm::sys::path::append(path, name);
    // The file of a level that the kernel began below would be an older one.
    if (text.empty())
      llvm::sys::fs::remove(path);
    else
      write(path, text);
  }
}
