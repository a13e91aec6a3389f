//===- Parse.h - Syntax of mapping expressions ------------------*- C++ -*-===//
//
// The syntax half of Mapping::parse, and wording shared by messages.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_DIALECT_TENSORMAPPING_ALGEBRA_PARSE_H
#define FURIOSA_LIB_DIALECT_TENSORMAPPING_ALGEBRA_PARSE_H

#include "Detail.h"

namespace furiosa::mapping::detail {

/// A tree without sizes and axis numbers, and its text with white space
/// normalised and escapes resolved. MA-1 to MA-7, apart from unknown axes.
/// Without an environment every escape is refused.
Result<Spelling> parseText(llvm::StringRef text, const Axes &axes,
                           const Environment *environment);

/// Whether `text` is known to be a list of axes and numbers with operators,
/// without brackets, which parseText spells as it is: most texts are.
bool isNormal(llvm::StringRef text);

/// `text` in quotes, shortened, with unprintable bytes escaped.
std::string quoted(llvm::StringRef text);

/// "; did you mean 'X'" where a known name is near.
std::string nearest(llvm::StringRef name,
                    llvm::ArrayRef<llvm::StringRef> known);

} // namespace furiosa::mapping::detail

#endif // FURIOSA_LIB_DIALECT_TENSORMAPPING_ALGEBRA_PARSE_H
