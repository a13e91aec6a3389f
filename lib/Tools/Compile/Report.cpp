//===- Report.cpp - What a run says ---------------------------------------===//
//
// Messages in the order of inputs and kernels, progress, the table, timing and
// statistics.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "TerminalText.h"

#include "furiosa/Support/Colours.h"
#include "furiosa/Support/WriteFile.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json.hpp>

using namespace mlir;
using namespace furiosa;
using namespace furiosa::compile;

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

void Driver::report(const Message &message, const Subject &subject) {
  clearProgress();
  if (message.level == Message::Error)
    ok = false;
  std::string text;
  llvm::raw_string_ostream os(text);
  printText(os, message, sources, /*colours=*/false);
  // A helper that many kernels reach is wrong once.
  if (!printed.insert(text).second)
    return;
  switch (options.format) {
  case MessageFormat::Human:
    printText(llvm::errs(), message, sources, /*colours=*/true);
    return;
  case MessageFormat::Json:
    llvm::outs() << dumpJson(toJson(message, subject, sources)) << "\n";
    llvm::outs().flush();
    return;
  case MessageFormat::Sarif:
    sarif.push_back(message);
    return;
  }
}

void Driver::error(const Twine &text) { report(makeError(text.str()), {}); }

/// What files say stands in front of what their kernels say.
void Driver::reportFilesUpTo(const InputFile *last) {
  for (; reportedFiles < files.size() && &files[reportedFiles] <= last;
       ++reportedFiles) {
    const InputFile &file = files[reportedFiles];
    Subject subject{"", llvm::sys::path::stem(file.path).str(), file.path};
    for (const Message &message : file.messages)
      report(message, subject);
  }
}

void Driver::reportTask(const KernelTask &task) {
  reportFilesUpTo(task.file);
  for (const Message &message : task.messages)
    report(message, getSubject(task));
  if (options.format == MessageFormat::Json &&
      task.status != KernelTask::Failed) {
    llvm::outs() << dumpJson(artifactToJson(getSubject(task), {task.path},
                                            task.status == KernelTask::Cached))
                 << "\n";
    llvm::outs().flush();
  }
  ++reportedTasks;
  showProgress(task);
}

void Driver::showProgress(const KernelTask &task) {
  if (tasks.size() < 2 || options.format != MessageFormat::Human ||
      !isTerminalOnStandardError())
    return;
  std::string line = "[" + std::to_string(reportedTasks) + "/" +
                     std::to_string(tasks.size()) + "] " +
                     printable(task.entry().name.name);
  // What goes on in a second line is not taken back by the next.
  if (size_t end = getColumnsOfStandardError() - 1; line.size() > end) {
    // Whole characters; none has more columns than bytes.
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80)
      --end;
    line.resize(end);
  }
  llvm::errs() << "\r\x1b[K" << line;
  hasProgress = true;
}

void Driver::clearProgress() {
  if (hasProgress)
    llvm::errs() << "\r\x1b[K";
  hasProgress = false;
}

KernelName Driver::getName(const InputFile &file,
                           const KernelEntry &entry) const {
  KernelName name = entry.name;
  if (name.package.empty())
    name.package =
        file.path == "-" ? "stdin" : llvm::sys::path::stem(file.path).str();
  return name;
}

Subject Driver::getSubject(const KernelTask &task) const {
  return {getName(*task.file, task.entry()).package, task.entry().name.name,
          task.file->path};
}

Place Driver::getPlace(const KernelTask &task) const {
  return {task.file->buffer->getBufferIdentifier().str(), task.entry().line,
          task.entry().column};
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

/// The first error of a task on one line.
static std::string getFirstError(const KernelTask &task) {
  for (const Message &message : task.messages) {
    if (message.level != Message::Error)
      continue;
    std::string text;
    if (!message.place.file.empty()) {
      text = message.place.file;
      if (message.place.line != 0)
        text += ":" + std::to_string(message.place.line) + ":" +
                std::to_string(message.place.column);
      text += ": ";
    }
    return printable(text + message.text);
  }
  return "";
}

void Driver::printTable(llvm::raw_ostream &os) const {
  size_t compiled = 0, cached = 0, failed = 0;
  llvm::ColorMode mode = options.format == MessageFormat::Human
                             ? llvm::ColorMode::Auto
                             : llvm::ColorMode::Disable;
  auto print = [&](llvm::raw_ostream::Colors colour, StringRef status) {
    llvm::WithColor(os, colour, /*Bold=*/true, /*BG=*/false, mode) << status;
  };
  for (const KernelTask &task : tasks) {
    switch (task.status) {
    case KernelTask::Compiled:
      ++compiled;
      print(llvm::raw_ostream::GREEN, "compiled  ");
      break;
    case KernelTask::Cached:
      ++cached;
      print(llvm::raw_ostream::GREEN, "cached    ");
      break;
    case KernelTask::Failed:
      ++failed;
      print(llvm::raw_ostream::RED, "failed    ");
      break;
    }
    os << printable(task.entry().name.name) << "  ";
    if (task.status == KernelTask::Failed)
      os << getFirstError(task);
    else
      os << printable(task.path) << "  " << task.kernel.edf.size()
         << " bytes, makespan " << task.kernel.makespan
         << " cycles, lower bound " << task.kernel.lowerBound;
    SmallVector<unsigned> filters =
        options.selection.findFilters(getName(*task.file, task.entry()));
    for (auto [i, filter] : llvm::enumerate(filters))
      os << (i == 0 ? "  (by '" : ", '")
         << printable(options.selection.filters[filter]) << "'"
         << (i + 1 == filters.size() ? ")" : "");
    os << "\n";
  }
  size_t unread =
      llvm::count_if(files, [](const InputFile &file) { return file.failed; });
  os << compiled << " compiled, " << cached << " cached, " << failed
     << " failed";
  if (unread != 0)
    os << ", " << unread << (unread == 1 ? " file" : " files") << " not read";
  os << "\n";
}

void Driver::printTiming(double seconds) const {
  Usage usage = getUsage();
  auto &os = llvm::errs();
  os << "timing: " << llvm::format("%.3f", seconds) << " s, processor "
     << llvm::format("%.3f", usage.processorSeconds) << " s, memory "
     << (usage.peakMemoryBytes >> 20) << " MiB, " << options.jobs
     << (options.jobs == 1 ? " worker\n" : " workers\n");
  for (const auto &[what, entry] : times.entries)
    os << "  " << llvm::format("%9.4f", entry.seconds) << " s "
       << llvm::format("%7llu", (unsigned long long)entry.count) << " x "
       << what << "\n";
}

void Driver::printStatistics() const {
  auto &os = llvm::errs();
  if (!cache->isEnabled()) {
    os << "cache: off\n";
    return;
  }
  Cache::Statistics statistics = cache->getStatistics();
  os << "cache: kernels " << statistics.kernelHits << " hits, "
     << statistics.kernelMisses << " misses; files " << statistics.fileHits
     << " hits, " << statistics.fileMisses << " misses; " << statistics.entries
     << " entries, " << statistics.bytes << " bytes in "
     << printable(cache->getFolder()) << "\n";
}

/// What every run ends with.
int Driver::finish() {
  if (!files.empty())
    reportFilesUpTo(&files.back());
  clearProgress();
  if (cache && cache->isEnabled() &&
      (cache->getStatistics().kernelMisses != 0 || options.pruneNow))
    cache->prune(options.cacheLimit, options.pruneNow);
  if (!options.list && hasTable && !(options.quiet && ok))
    printTable(options.findStandardOutputUsers().empty() ? llvm::outs()
                                                         : llvm::errs());
  if (options.format == MessageFormat::Json) {
    nlohmann::ordered_json end = {{"reason", "build-finished"},
                                  {"success", ok}};
    llvm::outs() << dumpJson(end) << "\n";
  }
  if (options.format == MessageFormat::Sarif)
    llvm::outs() << dumpJson(toSarif(sarif, sources, ok), 2) << "\n";
  llvm::outs().flush();
  if (options.timing)
    printTiming(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
            .count());
  if (options.cacheStatistics)
    printStatistics();
  return flushStandardOutput() && ok ? 0 : 1;
}
