//===- OpFormat.h - Custom directives of visa op formats --------*- C++ -*-===//

#ifndef FURIOSA_LIB_DIALECT_VISA_IR_OPFORMAT_H
#define FURIOSA_LIB_DIALECT_VISA_IR_OPFORMAT_H

#include "furiosa/Dialect/VISA/IR/VISA.h"

#include "llvm/ADT/STLExtras.h"

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

/// Windows in square brackets.
inline mlir::ParseResult parseWindows(mlir::OpAsmParser &parser,
                                      mlir::ArrayAttr &windows) {
  llvm::SmallVector<mlir::Attribute> list;
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square,
                                     [&]() -> mlir::ParseResult {
                                       WindowAttr window;
                                       if (parseWindow(parser, window))
                                         return mlir::failure();
                                       list.push_back(window);
                                       return mlir::success();
                                     }))
    return mlir::failure();
  windows = mlir::ArrayAttr::get(parser.getContext(), list);
  return mlir::success();
}

inline void printWindows(mlir::OpAsmPrinter &printer, mlir::Operation *,
                         mlir::ArrayAttr windows) {
  printer << '[';
  llvm::interleaveComma(
      windows.getAsRange<WindowAttr>(), printer,
      [&](WindowAttr window) { printWindow(printer, window); });
  printer << ']';
}

} // namespace furiosa::visa

#endif // FURIOSA_LIB_DIALECT_VISA_IR_OPFORMAT_H
