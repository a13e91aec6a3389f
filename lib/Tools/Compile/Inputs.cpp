//===- Inputs.cpp - Files in, kernels out ---------------------------------===//
//
// Reads inputs, finds their kernels, by the manifest of the cache where it knows
// the file, and cuts those out that are asked for.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include "furiosa/Dialect/Resource/IR/Resource.h"
#include "furiosa/Dialect/VISA/IR/VISA.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::compile;

void Driver::openCache() {
  cache = std::make_unique<Cache>();
  if (options.cacheFolder.empty())
    return;
  auto opened = Cache::open(options.cacheFolder);
  if (!opened) {
    report({Message::Warning,
            llvm::toString(opened.takeError()) + "; compiling without a cache",
            {},
            {}},
           {});
    return;
  }
  cache = std::move(*opened);
}

void Driver::readInputs() {
  Stopwatch watch(times, "read files");
  files.resize(options.inputs.size());
  for (auto [file, path] : llvm::zip_equal(files, options.inputs)) {
    file.path = path;
    std::string message;
    std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(path, &message);
    if (!buffer) {
      file.failed = true;
      file.messages.push_back(makeError(message));
      continue;
    }
    std::string name = buffer->getBufferIdentifier().str();
    sources.add(std::move(buffer));
    file.buffer = sources.findInput(name);
  }
}

/// A kernel that is warned of needs its warnings, and fails where they are
/// errors.
std::optional<CompiledKernel> Driver::findCached(const KernelEntry &entry) {
  return cache->findKernel(entry.key, /*withMessages=*/!options.strict &&
                                          !entry.messages.empty());
}

void Driver::storeManifest(const InputFile &file) {
  if (!file.key.empty())
    cache->storeFile(file.key, file.buffer->getBufferIdentifier(),
                     file.kernels);
}

/// Gives every kernel's target another release.
static void overrideRelease(ModuleOp module, rngd::Release release) {
  StringRef name = visa::VISADialect::getTargetAttrName();
  auto replace = [&](Operation *op, visa::TargetAttr target) {
    op->setAttr(name,
                visa::TargetAttr::get(op->getContext(), target.getChip(),
                                      rngd::toString(release),
                                      target.getChips(), target.getPes()));
  };
  module->walk([&](Operation *op) {
    if (auto target = op->getAttrOfType<visa::TargetAttr>(name))
      replace(op, target);
  });
  if (!module->hasAttr(name))
    replace(module, visa::getDefaultTarget(module.getContext()));
  // Below visa a kernel keeps the release of its target in its own attribute.
  auto text = StringAttr::get(module.getContext(), rngd::toString(release));
  module->walk([&](Operation *op) {
    if (op->hasAttr("lir.release"))
      op->setAttr("lir.release", text);
    if (auto program = dyn_cast<resource::ProgramOp>(op))
      program.setReleaseAttr(text);
  });
}

void Driver::findKernels(InputFile &file) {
  if (file.failed)
    return;
  std::vector<KernelEntry> fromManifest;
  if (cache->isEnabled()) {
    Stopwatch watch(file.times, "look up");
    file.key = cache->getFileKey(
        file.buffer->getBuffer(),
        options.release ? rngd::toString(*options.release) : "");
    if (auto entries = cache->findFile(
            file.key, file.buffer->getBufferIdentifier())) {
      bool isComplete = true;
      file.cached.resize(entries->size());
      for (auto [entry, cached] : llvm::zip_equal(*entries, file.cached)) {
        if (options.list || !options.selection.takes(getName(file, entry)))
          continue;
        if (!options.dumps.any() && !entry.key.empty())
          cached = findCached(entry);
        isComplete &= cached.has_value();
      }
      if (isComplete) {
        file.kernels = std::move(*entries);
        file.slices.resize(file.kernels.size());
        file.refusals.resize(file.kernels.size());
        return;
      }
      file.cached.clear();
      fromManifest = std::move(*entries);
    }
  }
  parse(file, fromManifest);
}

void Driver::parse(InputFile &file, ArrayRef<KernelEntry> fromManifest) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  context.loadDialect<visa::VISADialect>();
  Collector collector(&context, sources, file.messages);
  OwningOpRef<ModuleOp> module;
  {
    Stopwatch watch(file.times, "parse");
    auto manager = std::make_shared<llvm::SourceMgr>();
    manager->AddNewSourceBuffer(
        llvm::MemoryBuffer::getMemBuffer(file.buffer->getMemBufferRef()),
        llvm::SMLoc());
    // Rules are checked kernel by kernel, and for the release that counts.
    module = parseSourceFile<ModuleOp>(
        manager, ParserConfig(&context, /*verifyAfterParse=*/false));
  }
  if (!module) {
    file.failed = true;
    if (file.messages.empty())
      file.messages.push_back(
          makeError("the file does not parse",
                    {file.buffer->getBufferIdentifier().str(), 0, 0}));
    return;
  }
  if (options.release)
    overrideRelease(*module, *options.release);

  SmallVector<Operation *> kernels;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isKernel(op))
      return WalkResult::advance();
    kernels.push_back(op);
    return WalkResult::skip();
  });
  if (kernels.empty()) {
    file.failed = true;
    file.messages.push_back(
        makeError("no kernel: a kernel is a func.func with the attribute " +
                      visa::VISADialect::getKernelAttrName().str(),
                  {file.buffer->getBufferIdentifier().str(), 1, 1}));
    return;
  }
  Stopwatch watch(file.times, "slice");
  for (Operation *kernel : kernels) {
    KernelEntry entry;
    entry.name = {getPackage(kernel), getFullName(kernel)};
    if (auto at = kernel->getLoc()->findInstanceOf<FileLineColLoc>())
      if (at.getFilename().getValue() == file.buffer->getBufferIdentifier()) {
        entry.line = at.getLine();
        entry.column = at.getColumn();
      }
    file.kernels.push_back(std::move(entry));
  }
  file.cached.resize(kernels.size());
  file.slices.resize(kernels.size());
  file.refusals.resize(kernels.size());
  SliceSymbols symbols;
  for (auto [index, kernel] : llvm::enumerate(kernels)) {
    KernelEntry &entry = file.kernels[index];
    if (fromManifest.size() == kernels.size()) {
      entry.key = fromManifest[index].key;
      entry.messages = fromManifest[index].messages;
    }
    if (!options.list && options.selection.takes(getName(file, entry)))
      slice(file, index, kernel, symbols);
  }
  // What was said about a file is to be said again.
  if (!file.messages.empty())
    file.key.clear();
  storeManifest(file);
}

/// Makes the text that a kernel is compiled from, and its key.
void Driver::slice(InputFile &file, size_t index, Operation *kernel,
                   SliceSymbols &symbols) {
  Collector collector(kernel->getContext(), sources, file.refusals[index]);
  FailureOr<KernelSlice> slice = extractSlice(kernel, symbols);
  if (failed(slice))
    return;
  llvm::raw_string_ostream bytecode(file.slices[index]);
  (void)writeBytecodeToFile(*slice->module, bytecode);
  if (!cache->isEnabled())
    return;
  // Locations are in no EDF file: they do not count.
  Location unknown = UnknownLoc::get(slice->module->getContext());
  slice->module->walk([&](Operation *op) {
    op->setLoc(unknown);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setLoc(unknown);
  });
  std::string content;
  llvm::raw_string_ostream os(content);
  (void)writeBytecodeToFile(*slice->module, os);
  KernelEntry &entry = file.kernels[index];
  entry.key = cache->getKernelKey(content, "");
  if (options.dumps.any())
    return;
  file.cached[index] = findCached(entry);
  if (file.cached[index])
    file.slices[index].clear();
}
