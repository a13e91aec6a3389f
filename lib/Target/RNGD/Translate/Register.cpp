//===- Register.cpp - EDF with the driver of translations -----------------===//
//
// `mlir-to-edf`, `edf-to-mlir`, `disassemble`, `assemble`, `strip-locations`.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Target/RNGD/Translate.h"

#include "mlir/Tools/mlir-translate/Translation.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace furiosa;
using namespace furiosa::rngd;

/// The file that a translation reads.
static llvm::Expected<edf::Reader> openInput(const llvm::SourceMgr &sources) {
  const llvm::MemoryBuffer *buffer =
      sources.getMemoryBuffer(sources.getMainFileID());
  StringRef text = buffer->getBuffer();
  return edf::Reader::open(llvm::arrayRefFromStringRef(text),
                           buffer->getBufferIdentifier());
}

static LogicalResult report(MLIRContext *context, llvm::Error error) {
  return emitError(UnknownLoc::get(context), llvm::toString(std::move(error)));
}

static llvm::cl::opt<bool> verifySchedule(
    "verify-schedule",
    llvm::cl::desc("Refuse a schedule that does not hold, or whose cycles are "
                   "not those of the cost model (on unless =false)"),
    llvm::cl::init(true));

static llvm::cl::opt<bool> sourceLines(
    "source-lines",
    llvm::cl::desc("Keep the source lines of commands in a kernel binary"));

static llvm::cl::opt<bool>
    packConstants("pack-constants",
                  llvm::cl::desc("Pack large constants with zstd"));

static llvm::cl::opt<bool>
    asJson("json",
           llvm::cl::desc("Disassemble to JSON (docs/edf.schema.json)"));

static void writeBytes(raw_ostream &output, ArrayRef<uint8_t> bytes) {
  output << llvm::toStringRef(bytes);
}

/// The programs of a module, lowered if need be.
static FailureOr<SmallVector<resource::ProgramOp>>
getPrograms(ModuleOp module, const LoweringPipeline &pipeline) {
  auto isScheduled = [](Operation &op) {
    auto program = dyn_cast<resource::ProgramOp>(op);
    return program && program.getMakespan();
  };
  // The pipeline also verifies the schedules of programs that have one.
  bool takesAsIs =
      !verifySchedule && llvm::all_of(*module.getBody(), isScheduled);
  if (pipeline && !takesAsIs && failed(pipeline(module)))
    return failure();
  SmallVector<resource::ProgramOp> found;
  WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<ModuleOp>(op))
      return WalkResult::advance();
    if (auto program = dyn_cast<resource::ProgramOp>(op))
      found.push_back(program);
    else if (!pipeline)
      return WalkResult(op->emitError("expected resource.program alone in the "
                                      "module, found ")
                        << op->getName());
    return WalkResult::skip();
  });
  if (result.wasInterrupted())
    return failure();
  if (found.empty())
    return module.emitError("there is no resource.program to write");
  return found;
}

void rngd::registerEDFTranslations(
    std::function<void(DialectRegistry &)> registerDialects,
    LoweringPipeline pipeline) {
  TranslateFromMLIRRegistration toEDF(
      "mlir-to-edf", "kernel binary of the programs of a module",
      [pipeline](Operation *op, raw_ostream &output) -> LogicalResult {
        auto module = dyn_cast<ModuleOp>(op);
        if (!module)
          return op->emitError("expected a module");
        auto programs = getPrograms(module, pipeline);
        if (failed(programs))
          return failure();
        std::vector<edf::Kernel> kernels;
        for (resource::ProgramOp program : *programs) {
          FailureOr<edf::Kernel> kernel = translateToEDF(program, sourceLines);
          if (failed(kernel))
            return failure();
          kernels.push_back(std::move(*kernel));
        }
        llvm::Expected<std::vector<uint8_t>> bytes =
            edf::write(kernels, {packConstants, /*stripLocations=*/false});
        if (!bytes)
          return report(op->getContext(), bytes.takeError());
        writeBytes(output, *bytes);
        return success();
      },
      [registerDialects](DialectRegistry &registry) {
        registry.insert<lir::LIRDialect, resource::ResourceDialect>();
        if (registerDialects)
          registerDialects(registry);
      });

  TranslateToMLIRRegistration fromEDF(
      "edf-to-mlir", "resource.program of a kernel binary",
      [](llvm::SourceMgr &sources,
         MLIRContext *context) -> OwningOpRef<Operation *> {
        llvm::Expected<edf::Reader> reader = openInput(sources);
        if (!reader) {
          (void)report(context, reader.takeError());
          return {};
        }
        OwningOpRef<ModuleOp> module = translateFromEDF(*reader, context);
        return module
                   ? OwningOpRef<Operation *>(module.release().getOperation())
                   : OwningOpRef<Operation *>();
      },
      [](DialectRegistry &registry) {
        registry.insert<lir::LIRDialect, resource::ResourceDialect>();
      });

  TranslateRegistration disassembler(
      "disassemble", "kernel binary as text",
      [](const std::shared_ptr<llvm::SourceMgr> &sources, raw_ostream &output,
         MLIRContext *context) -> LogicalResult {
        llvm::Expected<edf::Reader> reader = openInput(*sources);
        if (!reader)
          return report(context, reader.takeError());
        if (llvm::Error error = (asJson ? edf::disassembleJson
                                        : edf::disassemble)(output, *reader))
          return report(context, std::move(error));
        return success();
      });

  TranslateRegistration assembler(
      "assemble", "kernel binary of a disassembly",
      [](const std::shared_ptr<llvm::SourceMgr> &sources, raw_ostream &output,
         MLIRContext *context) -> LogicalResult {
        const llvm::MemoryBuffer *buffer =
            sources->getMemoryBuffer(sources->getMainFileID());
        auto bytes = edf::assemble(buffer->getBuffer());
        if (!bytes)
          return report(context, llvm::createStringError(
                                     buffer->getBufferIdentifier() + ": " +
                                     llvm::toString(bytes.takeError())));
        writeBytes(output, *bytes);
        return success();
      });

  TranslateRegistration strip(
      "strip-locations", "kernel binary without its source lines",
      [](const std::shared_ptr<llvm::SourceMgr> &sources, raw_ostream &output,
         MLIRContext *context) -> LogicalResult {
        llvm::Expected<edf::Reader> reader = openInput(*sources);
        if (!reader)
          return report(context, reader.takeError());
        auto kernels = reader->loadAll();
        if (!kernels)
          return report(context, kernels.takeError());
        bool isPacked = llvm::any_of(
            reader->sections(),
            [](const edf::SectionInfo &section) { return section.isPacked(); });
        auto bytes = edf::write(*kernels, {isPacked, /*stripLocations=*/true});
        if (!bytes)
          return report(context, bytes.takeError());
        writeBytes(output, *bytes);
        return success();
      });
}
