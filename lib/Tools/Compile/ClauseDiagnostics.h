//===- ClauseDiagnostics.h - Columns inside mappings ------------*- C++ -*-===//

#ifndef FURIOSA_LIB_TOOLS_COMPILE_CLAUSEDIAGNOSTICS_H
#define FURIOSA_LIB_TOOLS_COMPILE_CLAUSEDIAGNOSTICS_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <utility>

namespace furiosa::compile {

/// Line and column, from 1, of a character in a clause of the op that begins at
/// `line` and `column` of `text`. `clause` is a name and the column in the
/// clause's normalised string, as `time@7`. Empty if there is no such place.
std::optional<std::pair<unsigned, unsigned>>
findClauseCharacter(llvm::StringRef text, unsigned line, unsigned column,
                    llvm::StringRef clause);

} // namespace furiosa::compile

#endif // FURIOSA_LIB_TOOLS_COMPILE_CLAUSEDIAGNOSTICS_H
