//===- Lexer.cpp - Tokens of mapping expressions --------------------------===//
//
// The lexer of mapping expressions, and wording shared by messages (MA-3).
//
//===----------------------------------------------------------------------===//

#include "Lexer.h"

#include "llvm/ADT/StringExtras.h"

using namespace furiosa::mapping;
using namespace furiosa::mapping::detail;

static bool isNamePart(char c) { return llvm::isAlnum(c) || c == '_'; }

std::string detail::quoted(llvm::StringRef text) {
  constexpr size_t limit = 40;
  std::string out = "'";
  for (char c : text.take_front(limit)) {
    if (llvm::isPrint(c))
      out += c;
    else
      out += "\\x" + llvm::toHex(llvm::StringRef(&c, 1), /*LowerCase=*/true);
  }
  if (text.size() > limit)
    out += "...";
  return out + "'";
}

std::string detail::nearest(llvm::StringRef name,
                            llvm::ArrayRef<llvm::StringRef> known) {
  // Edit distance is quadratic in the lengths: long names get no hint.
  constexpr size_t longest = 32, most = 64;
  if (name.size() > longest)
    return {};
  unsigned best = 4;
  llvm::StringRef found;
  for (llvm::StringRef other : known.take_front(most)) {
    if (other.size() > longest)
      continue;
    unsigned distance = name.edit_distance_insensitive(other);
    if (distance < best && distance < name.size()) {
      best = distance;
      found = other;
    }
  }
  return found.empty() ? std::string() : "; did you mean " + quoted(found);
}

static Fault badCharacter(llvm::StringRef text, size_t position) {
  char c = text[position];
  std::string hint;
  if (c == '*')
    hint = "; a product is written with a comma";
  else if (c == ':')
    hint = "; an axis size is written in braces, '{N::SIZE}'";
  else if (c == '!')
    hint = "; bottom padding is written '#{!}'";
  else if (c == '-')
    hint = "; numbers are positive";
  else if (c == '+')
    hint = "; digits are joined with a comma";
  return fault("MA-3", "bad-char",
               "unexpected character " + quoted(text.substr(position, 1)) +
                   " in a mapping" + hint,
               position + 1);
}

std::optional<Fault> detail::lex(llvm::StringRef text,
                                 llvm::SmallVectorImpl<Token> &tokens) {
  bool inBraces = false;
  size_t i = 0, size = text.size();
  auto add = [&](Token::Kind kind, size_t end) {
    tokens.push_back({kind, text.slice(i, end), static_cast<int64_t>(i + 1)});
    i = end;
  };
  auto skip = [&](size_t from) {
    while (from < size && llvm::isSpace(text[from]))
      ++from;
    return from;
  };
  while ((i = skip(i)) < size) {
    char c = text[i];
    if (isNamePart(c)) {
      size_t end = i;
      while (end < size && isNamePart(text[end]))
        ++end;
      add(llvm::isDigit(c) ? Token::Kind::Number : Token::Kind::Name, end);
      continue;
    }
    if (c == '{' && !tokens.empty() && tokens.back().is('#')) {
      size_t mark = skip(i + 1);
      size_t end = mark < size ? skip(mark + 1) : size;
      if (end < size && text[end] == '}' &&
          llvm::StringRef("*!0").contains(text[mark])) {
        tokens.push_back({Token::Kind::Fill, text.substr(mark, 1),
                          static_cast<int64_t>(i + 1)});
        i = end + 1;
        continue;
      }
    }
    if (c == ':' && inBraces && i + 1 < size && text[i + 1] == ':') {
      add(Token::Kind::Scope, i + 2);
      continue;
    }
    if (!llvm::StringRef("/%=#,[](){}").contains(c))
      return badCharacter(text, i);
    inBraces = c == '{' || (inBraces && c != '}');
    add(Token::Kind::Punctuation, i + 1);
  }
  tokens.push_back(
      {Token::Kind::End, llvm::StringRef(), static_cast<int64_t>(size + 1)});
  return std::nullopt;
}
