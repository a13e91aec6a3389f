//===- Lexer.h - Tokens of mapping expressions ------------------*- C++ -*-===//
//
// Cuts the text of a mapping into tokens.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_DIALECT_TENSORMAPPING_ALGEBRA_LEXER_H
#define FURIOSA_LIB_DIALECT_TENSORMAPPING_ALGEBRA_LEXER_H

#include "Parse.h"

namespace furiosa::mapping::detail {

struct Token {
  enum class Kind { Name, Number, Fill, Punctuation, Scope, End };
  Kind kind;
  llvm::StringRef text;
  int64_t column;

  bool is(char c) const {
    return kind == Kind::Punctuation && text.front() == c;
  }
  bool isOperator() const { return is('/') || is('%') || is('=') || is('#'); }
  bool opens() const { return is('[') || is('('); }
  bool closes() const { return is(']') || is(')') || is('}'); }
  std::string describe() const {
    return kind == Kind::End ? "the end of the text" : quoted(text);
  }
};

/// Appends the tokens of `text`, an End token last. MA-3 on an unknown
/// character.
std::optional<Fault> lex(llvm::StringRef text,
                         llvm::SmallVectorImpl<Token> &tokens);

} // namespace furiosa::mapping::detail

#endif // FURIOSA_LIB_DIALECT_TENSORMAPPING_ALGEBRA_LEXER_H
