//===- Translate.h - Between resource and EDF -------------------*- C++ -*-===//
//
// Scheduled programs of the resource dialect as kernel binaries, and back. What
// is written here reads back to the same bytes.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_TARGET_RNGD_TRANSLATE_H
#define FURIOSA_TARGET_RNGD_TRANSLATE_H

#include "furiosa/Dialect/LIR/IR/LIR.h"
#include "furiosa/Dialect/Resource/IR/Resource.h"
#include "furiosa/Target/RNGD/EDF.h"
#include "furiosa/Target/RNGD/ExecConfig.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace furiosa::rngd {

//===----------------------------------------------------------------------===//
// One execution of the Tensor Unit
//===----------------------------------------------------------------------===//

/// The register blocks of one exec.
struct ExecImages {
  codes::ExecTarget context = codes::ExecTarget::Main;
  /// Mask of `codes::RouteUnit`.
  uint64_t route = 0;
  /// Every block on the route, whole, in the order of addresses.
  llvm::SmallVector<SfrImage, 8> images;

  /// With a custom switch, the masks of custom_snoop_bitmap of each slice of
  /// the cluster; the fetch block is written slice by slice then.
  std::vector<std::array<uint64_t, 4>> snoopBitmaps;

  /// The image of a block, or null.
  const SfrImage *find(Block block) const;
  /// The command that starts the execution.
  TucCommand exec() const;
};

/// Byte address of a buffer within a slice (a lane for TRF), if it has one.
using AddressLookup =
    llvm::function_ref<std::optional<int64_t>(mlir::Value buffer)>;

/// The registers of an exec. Loops that run once are left out. A value that
/// does not fit is an error at its unit that names block, register and field.
mlir::FailureOr<ExecImages> encodeExec(lir::ExecOp exec,
                                       AddressLookup addresses);

/// An access to a buffer that registers describe.
struct BufferUse {
  lir::Tier tier = lir::Tier::Dm;
  /// First byte, within a slice (a lane for TRF).
  int64_t address = 0;
  /// Bytes from there on to the end of the last access.
  int64_t bytes = 0;
  /// Lanes in TRF, 1 elsewhere.
  int64_t lanes = 1;
  /// The access begins at the start of the buffer.
  bool isStart = false;
  /// It fills the buffer.
  bool isWhole = false;
  bool isWrite = false;
  /// It may be that no buffer that is live holds it, which is no error then.
  bool isProbe = false;
};

/// A buffer and its address.
struct PlacedBuffer {
  mlir::Value buffer;
  int64_t address = 0;
};

/// The buffer that an access goes to; failure after an error was emitted.
using BufferLookup =
    llvm::function_ref<mlir::FailureOr<PlacedBuffer>(const BufferUse &use)>;

/// Inverse of `encodeExec` on decoded registers: builds the exec at the
/// builder's place. What lir cannot say is an error at `loc`.
mlir::FailureOr<lir::ExecOp> buildExec(mlir::OpBuilder &builder,
                                       mlir::Location loc,
                                       const ExecConfig &config,
                                       BufferLookup buffers);

//===----------------------------------------------------------------------===//
// Whole kernels
//===----------------------------------------------------------------------===//

/// The kernel of a scheduled program. Errors are located at the op at fault;
/// a program without addresses and cycles is one. Source lines depend on where
/// the text was read from, so that they are kept on demand only.
mlir::FailureOr<edf::Kernel> translateToEDF(resource::ProgramOp program,
                                            bool withSourceLines = false);

/// A module with a `resource.program` for each kernel of a file, verified; null
/// after an error that names file, section or command, and register.
mlir::OwningOpRef<mlir::ModuleOp> translateFromEDF(const edf::Reader &reader,
                                                   mlir::MLIRContext *context);

/// Lowers a module of any level to scheduled programs.
using LoweringPipeline = std::function<llvm::LogicalResult(mlir::ModuleOp)>;

/// Registers `mlir-to-edf`, `edf-to-mlir`, `disassemble`, `assemble` and
/// `strip-locations` with the driver of translations. `registerDialects` adds
/// what an input of `mlir-to-edf` may hold. Without a `pipeline` it must be
/// scheduled already.
void registerEDFTranslations(
    std::function<void(mlir::DialectRegistry &)> registerDialects,
    LoweringPipeline pipeline);

} // namespace furiosa::rngd

#endif // FURIOSA_TARGET_RNGD_TRANSLATE_H
