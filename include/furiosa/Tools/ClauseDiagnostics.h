//===- ClauseDiagnostics.h - Carets inside mappings -------------*- C++ -*-===//

#ifndef FURIOSA_TOOLS_CLAUSEDIAGNOSTICS_H
#define FURIOSA_TOOLS_CLAUSEDIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

namespace furiosa {

/// Prints diagnostics with source lines. A location that names a clause of an
/// op and a column in its text (`time@7`) is shown at that very character.
class ClauseDiagnosticHandler : public mlir::SourceMgrDiagnosticHandler {
public:
  ClauseDiagnosticHandler(llvm::SourceMgr &sources, mlir::MLIRContext *context);

private:
  /// The location itself, or that of the character which it names.
  mlir::Location resolve(mlir::Location location) const;

  llvm::SourceMgr &sources;
};

} // namespace furiosa

#endif // FURIOSA_TOOLS_CLAUSEDIAGNOSTICS_H
