//===- TerminalText.h - Any bytes on a terminal -----------------*- C++ -*-===//

#ifndef FURIOSA_LIB_TOOLS_COMPILE_TERMINALTEXT_H
#define FURIOSA_LIB_TOOLS_COMPILE_TERMINALTEXT_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace furiosa::compile {

/// Text on one line of a terminal: control characters and bytes that are no
/// UTF-8 as `\x1B`.
std::string printable(llvm::StringRef text);

/// Prints a source line and, below, a caret at the byte `offset` of it. Tabs
/// end at multiples of eight columns, other characters are `printable`; of a
/// line that nobody could read only what is around the caret is shown.
void printExcerpt(llvm::raw_ostream &os, llvm::StringRef line, size_t offset,
                  bool colours);

} // namespace furiosa::compile

#endif // FURIOSA_LIB_TOOLS_COMPILE_TERMINALTEXT_H
