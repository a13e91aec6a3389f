//===- Register.cpp - EDF with the driver of translations -----------------===//
//
// `mlir-to-edf`, `edf-to-mlir` and `disassemble`.
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

/// The one program of a module, lowered if need be.
static FailureOr<resource::ProgramOp>
getProgram(ModuleOp module, const LoweringPipeline &pipeline) {
  auto isScheduled = [](Operation &op) {
    auto program = dyn_cast<resource::ProgramOp>(op);
    return program && program.getMakespan();
  };
  // The pipeline also verifies the schedules of programs that have one.
  bool takesAsIs =
      !verifySchedule && llvm::all_of(*module.getBody(), isScheduled);
  if (pipeline && !takesAsIs && failed(pipeline(module)))
    return failure();
  resource::ProgramOp found;
  for (Operation &op : *module.getBody()) {
    auto program = dyn_cast<resource::ProgramOp>(op);
    if (!program) {
      if (!pipeline)
        return op.emitError("expected resource.program alone in the module, "
                            "found ")
               << op.getName();
      continue;
    }
    if (found) {
      InFlightDiagnostic diag = program.emitOpError(
          "a kernel binary holds one program, this is the second");
      diag.attachNote(found.getLoc()) << "the first is here";
      return diag;
    }
    found = program;
  }
  if (!found)
    return module.emitError("there is no resource.program to write");
  return found;
}

void rngd::registerEDFTranslations(
    std::function<void(DialectRegistry &)> registerDialects,
    LoweringPipeline pipeline) {
  TranslateFromMLIRRegistration toEDF(
      "mlir-to-edf", "kernel binary of the one program of a module",
      [pipeline](Operation *op, raw_ostream &output) -> LogicalResult {
        auto module = dyn_cast<ModuleOp>(op);
        if (!module)
          return op->emitError("expected a module");
        FailureOr<resource::ProgramOp> program = getProgram(module, pipeline);
        if (failed(program))
          return failure();
        FailureOr<edf::Kernel> kernel = translateToEDF(*program);
        if (failed(kernel))
          return failure();
        llvm::Expected<std::vector<uint8_t>> bytes = edf::write(*kernel);
        if (!bytes)
          return report(op->getContext(), bytes.takeError());
        output.write(reinterpret_cast<const char *>(bytes->data()),
                     bytes->size());
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
        if (llvm::Error error = edf::disassemble(output, *reader))
          return report(context, std::move(error));
        return success();
      });
}
