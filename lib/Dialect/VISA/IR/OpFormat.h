//===- OpFormat.h - Custom directives of visa op formats --------*- C++ -*-===//

#ifndef FURIOSA_LIB_DIALECT_VISA_IR_OPFORMAT_H
#define FURIOSA_LIB_DIALECT_VISA_IR_OPFORMAT_H

#include "furiosa/Dialect/VISA/IR/VISA.h"

namespace furiosa::visa {

/// A quoted mapping; the axes are not known while a stage is parsed, so the
/// grammar alone is checked here.
inline mlir::ParseResult parseMappingText(mlir::OpAsmParser &parser,
                                          mlir::StringAttr &text) {
  auto parsed = tmap::parseMappingText(parser);
  if (failed(parsed))
    return mlir::failure();
  text = *parsed;
  return mlir::success();
}

inline void printMappingText(mlir::OpAsmPrinter &printer, mlir::Operation *,
                             mlir::StringAttr text) {
  printer << '"' << text.getValue() << '"';
}

/// What is left of the attributes that an op declares where other clauses spell
/// all of them: nothing.
inline mlir::ParseResult parseSpelled(mlir::OpAsmParser &,
                                      mlir::OperationState &) {
  return mlir::success();
}

template <typename Properties>
void printSpelled(mlir::OpAsmPrinter &, mlir::Operation *, const Properties &) {
}

} // namespace furiosa::visa

#endif // FURIOSA_LIB_DIALECT_VISA_IR_OPFORMAT_H
