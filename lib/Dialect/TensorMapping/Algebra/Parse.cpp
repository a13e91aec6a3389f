//===- Parse.cpp - From text to a checked mapping -------------------------===//
//
// The parser of mapping expressions (MA-1 to MA-7). The checks of sizes are in
// Mapping.cpp.
//
//===----------------------------------------------------------------------===//

#include "Parse.h"
#include "Lexer.h"

#include "llvm/ADT/StringExtras.h"

using namespace furiosa::mapping;
using namespace furiosa::mapping::detail;

static constexpr unsigned maxDepth = 256;

namespace {

class Parser {
public:
  Parser(llvm::StringRef text, const Axes &axes, const Environment *environment)
      : text(text), axes(axes), environment(environment) {}

  /// Brackets count from `depth`.
  Result<Spelling> run(unsigned depth = 0);

private:
  using MaybeFault = std::optional<Fault>;

  MaybeFault parseProduct(Expr &out, unsigned depth, const Token *opener);
  MaybeFault parseChain(Expr &out, unsigned depth);
  MaybeFault parseAtom(Expr &out, unsigned depth);
  MaybeFault parseAlias(Expr &out, unsigned depth);
  MaybeFault parseNumber(const Token &token, int64_t &value) const;
  MaybeFault parseOperand(int64_t &value);
  MaybeFault parseConstant(const Token &brace, int64_t &value);
  MaybeFault closeBrace(const Token &brace);

  const Token &peek() const { return tokens[next]; }
  const Token &take() {
    return tokens[peek().kind == Token::Kind::End ? next : next++];
  }
  /// Remembers the first escape that cannot be resolved: faults of the grammar
  /// come first.
  void refuse(Fault fault) {
    if (!refused)
      refused = std::move(fault);
  }

  llvm::StringRef text;
  const Axes &axes;
  const Environment *environment;
  llvm::SmallVector<Token, 32> tokens;
  size_t next = 0;
  std::string out;
  MaybeFault refused;
};

} // namespace

Parser::MaybeFault Parser::parseNumber(const Token &token,
                                       int64_t &value) const {
  if (!llvm::all_of(token.text, llvm::isDigit))
    return fault("MA-5", "bad-number",
                 quoted(token.text) +
                     " is not a plain decimal number; write digits only",
                 token.column);
  if (token.text.getAsInteger(10, value))
    return fault("MA-5", "bad-number",
                 quoted(token.text) +
                     " does not fit; numbers stay below 9223372036854775808",
                 token.column);
  return std::nullopt;
}

Parser::MaybeFault Parser::closeBrace(const Token &brace) {
  const Token &close = peek();
  if (close.is('}')) {
    take();
    return std::nullopt;
  }
  if (close.kind == Token::Kind::End)
    return fault("MA-4", "unclosed", "'{' is not closed", brace.column);
  if (close.closes())
    return fault("MA-4", "mismatched-close",
                 close.describe() + " closes '{' of column " +
                     llvm::Twine(brace.column) + "; write '}'",
                 close.column);
  return fault("MA-3", "unexpected-token",
               "expected '}', found " + close.describe(), close.column);
}

/// After the brace: a number, an axis size, or a constant.
Parser::MaybeFault Parser::parseConstant(const Token &brace, int64_t &value) {
  value = 1;
  const Token &token = peek();
  if (token.kind == Token::Kind::Number) {
    take();
    if (MaybeFault bad = parseNumber(token, value))
      return bad;
    if (!environment)
      refuse(fault("MA-7", "bad-escape",
                   "escapes are not resolved here; write the number " +
                       llvm::Twine(value) + " without braces",
                   brace.column));
    return closeBrace(brace);
  }
  if (token.kind != Token::Kind::Name) {
    if (token.kind == Token::Kind::End)
      return closeBrace(brace);
    return fault("MA-2", "expected-number",
                 "expected a number or a constant in braces, found " +
                     token.describe(),
                 token.column);
  }
  take();
  if (peek().kind == Token::Kind::Scope) {
    take();
    const Token &member = take();
    if (member.text != "SIZE")
      return fault("MA-3", "unexpected-token",
                   "expected 'SIZE' after '::', found " + member.describe(),
                   member.column);
    int axis = axes.find(token.text);
    if (axis < 0)
      refuse(fault("MA-7", "unknown-axis",
                   "axis " + quoted(token.text) + " is not declared",
                   token.column));
    else if (!environment)
      refuse(fault("MA-7", "bad-escape",
                   "escapes are not resolved here; write the number " +
                       llvm::Twine(axes[axis].size),
                   brace.column));
    else
      value = axes[axis].size;
    return closeBrace(brace);
  }
  auto known = environment ? environment->constants.find(token.text.str())
                           : decltype(environment->constants.begin())();
  if (!environment || known == environment->constants.end()) {
    std::string hint = "; write the number";
    if (environment) {
      std::vector<llvm::StringRef> names;
      for (const auto &[name, number] : environment->constants)
        names.push_back(name);
      if (std::string near = nearest(token.text, names); !near.empty())
        hint = near;
    }
    refuse(fault("MA-7", "unknown-constant",
                 "constant " + quoted(token.text) + " is not known here" + hint,
                 brace.column));
  } else if (known->second < 0) {
    refuse(fault("MA-5", "bad-number",
                 "constant " + quoted(token.text) + " is " +
                     llvm::Twine(known->second) + "; numbers are positive",
                 brace.column));
  } else {
    value = known->second;
  }
  return closeBrace(brace);
}

Parser::MaybeFault Parser::parseOperand(int64_t &value) {
  const Token &token = peek();
  if (token.is('{')) {
    take();
    if (MaybeFault bad = parseConstant(token, value))
      return bad;
  } else if (token.kind == Token::Kind::Number) {
    take();
    if (MaybeFault bad = parseNumber(token, value))
      return bad;
  } else {
    std::string hint;
    if (token.is('/'))
      hint = "; '/' divides exactly, there is no '//'";
    else if (token.kind == Token::Kind::Name)
      hint = "; an axis size is written '{" + token.text.take_front(40).str() +
             "::SIZE}' or as a number";
    return fault("MA-2", "expected-number",
                 "expected a number after the operator, found " +
                     token.describe() + hint,
                 token.column);
  }
  if (value == 0)
    return fault("MA-5", "zero-number", "0 is not a size; numbers start at 1",
                 token.column);
  return std::nullopt;
}

Parser::MaybeFault Parser::parseAlias(Expr &expr, unsigned depth) {
  Token brace = take();
  const Token &token = peek();
  if (token.kind == Token::Kind::End)
    return fault("MA-4", "unclosed", "'{' is not closed", brace.column);
  if (token.kind != Token::Kind::Name)
    return fault("MA-7", "bad-escape",
                 "expected the name of a mapping in braces, found " +
                     token.describe(),
                 token.column);
  take();
  if (MaybeFault bad = closeBrace(brace))
    return bad;
  expr.column = brace.column;
  auto refuseAlias = [&](const llvm::Twine &message) {
    refuse(fault("MA-7", "bad-escape", message, brace.column));
  };
  if (!environment) {
    refuseAlias("named mappings are not resolved here; write out mapping " +
                quoted(token.text) + " in brackets");
    return std::nullopt;
  }
  auto known = environment->mappings.find(token.text.str());
  if (known == environment->mappings.end()) {
    std::vector<llvm::StringRef> names;
    for (const auto &[name, mapping] : environment->mappings)
      names.push_back(name);
    refuseAlias("mapping " + quoted(token.text) + " is not known here" +
                nearest(token.text, names));
    return std::nullopt;
  }
  // Its text holds resolved numbers only, so this nests no further escapes.
  const Mapping &alias = known->second;
  Parser inner(alias.str(), axes, nullptr);
  Result<Spelling> parsed = inner.run(depth + 1);
  if (!parsed) {
    refuseAlias("mapping " + quoted(token.text) +
                " does not read over these axes: " + parsed.fault().message);
    return std::nullopt;
  }
  // A chain stays one unit without brackets.
  expr = std::move(parsed->expr);
  bool list = alias.node->expr().kind == Expr::Kind::Product &&
              alias.node->expr().ops.empty();
  // Names of axes live in the alias, columns point at the escape.
  std::vector<Expr *> todo = {&expr};
  while (!todo.empty()) {
    Expr *at = todo.back();
    todo.pop_back();
    at->column = brace.column;
    for (Op &op : at->ops)
      op.column = brace.column;
    for (Expr &part : at->parts)
      todo.push_back(&part);
  }
  out += list ? "[" + alias.str() + "]" : alias.str();
  return std::nullopt;
}

Parser::MaybeFault Parser::parseAtom(Expr &expr, unsigned depth) {
  const Token &token = peek();
  expr.column = token.column;
  if (token.kind == Token::Kind::Name) {
    take();
    if (!llvm::isUpper(token.text.front()))
      return fault("MA-6", "bad-name",
                   quoted(token.text) +
                       " is not an axis name; names start with an upper-case "
                       "letter",
                   token.column);
    expr.kind = Expr::Kind::Axis;
    expr.name = token.text;
    out += token.text;
    return std::nullopt;
  }
  if (token.kind == Token::Kind::Number) {
    take();
    if (MaybeFault bad = parseNumber(token, expr.baseSize))
      return bad;
    if (expr.baseSize == 0)
      return fault("MA-5", "zero-number", "0 is not a size; numbers start at 1",
                   token.column);
    expr.kind = Expr::Kind::Number;
    out += std::to_string(expr.baseSize);
    return std::nullopt;
  }
  if (token.opens()) {
    take();
    if (depth >= maxDepth)
      return fault("MA-4", "too-deep",
                   "brackets nest deeper than " + llvm::Twine(maxDepth) +
                       "; drop the ones that group nothing",
                   token.column);
    out += token.text;
    if (MaybeFault bad = parseProduct(expr, depth + 1, &token))
      return bad;
    out += take().text;
    return std::nullopt;
  }
  if (token.is('{'))
    return parseAlias(expr, depth);
  if (token.is(',') || token.isOperator() || token.kind == Token::Kind::End)
    return fault("MA-2", "expected-operand",
                 "expected an axis, a number or a bracket, found " +
                     token.describe(),
                 token.column);
  return fault("MA-3", "unexpected-token",
               "unexpected " + token.describe() +
                   "; expected an axis, a "
                   "number or a bracket",
               token.column);
}

Parser::MaybeFault Parser::parseChain(Expr &expr, unsigned depth) {
  if (MaybeFault bad = parseAtom(expr, depth))
    return bad;
  while (peek().isOperator()) {
    const Token &sign = take();
    Op op{OpKind::Divide};
    out += ' ';
    out += sign.text;
    if (sign.is('%')) {
      op.kind = OpKind::Modulo;
    } else if (sign.is('=')) {
      op.kind = OpKind::Resize;
    } else if (sign.is('#')) {
      op.kind = OpKind::Pad;
      if (peek().kind == Token::Kind::Fill) {
        char mark = take().text.front();
        out += {'{', mark, '}'};
        op.pad = mark == '0' ? Pad::Zero : mark == '!' ? Pad::Bottom : Pad::Top;
      }
    }
    op.column = peek().column;
    if (MaybeFault bad = parseOperand(op.n))
      return bad;
    out += ' ';
    out += std::to_string(op.n);
    expr.ops.push_back(op);
  }
  return std::nullopt;
}

/// A comma list up to the closing bracket, which is left to the caller.
Parser::MaybeFault Parser::parseProduct(Expr &expr, unsigned depth,
                                        const Token *opener) {
  auto unclosed = [&] {
    return fault("MA-4", "unclosed", quoted(opener->text) + " is not closed",
                 opener->column);
  };
  auto mismatched = [&](const Token &close) {
    return fault("MA-4", "mismatched-close",
                 close.describe() + " closes " + quoted(opener->text) +
                     " of column " + llvm::Twine(opener->column) + "; write " +
                     (opener->is('[') ? "']'" : "')'"),
                 close.column);
  };
  auto matches = [&](const Token &close) {
    return opener && close.is(opener->is('[') ? ']' : ')');
  };
  auto empty = [](int64_t column) {
    return fault("MA-1", "empty",
                 "a mapping is expected here; '1' is the identity", column);
  };

  const Token &first = peek();
  if (first.kind == Token::Kind::End) {
    if (opener)
      return unclosed();
    return empty(1);
  }
  if (first.closes() && opener)
    return matches(first) ? empty(first.column) : mismatched(first);

  llvm::SmallVector<Expr, 4> parts;
  while (true) {
    if (MaybeFault bad = parseChain(parts.emplace_back(), depth))
      return bad;
    if (!peek().is(','))
      break;
    const Token &comma = take();
    if (peek().kind == Token::Kind::End || peek().closes())
      break;
    out += comma.text;
    out += ' ';
  }

  const Token &last = peek();
  if (opener) {
    if (last.kind == Token::Kind::End)
      return unclosed();
    if (last.closes() && !matches(last))
      return mismatched(last);
  }
  if (opener ? !matches(last) : last.kind != Token::Kind::End) {
    std::string hint;
    if (last.kind == Token::Kind::Name || last.opens() || last.is('{'))
      hint = "; digits are joined with a comma";
    else if (last.kind == Token::Kind::Number)
      hint = "; a number follows an operator or a comma";
    return fault("MA-3", "unexpected-token",
                 "unexpected " + last.describe() + hint, last.column);
  }

  int64_t column = expr.column;
  if (parts.size() == 1) {
    expr = std::move(parts.front());
    if (column)
      expr.column = column;
    return std::nullopt;
  }
  expr.kind = Expr::Kind::Product;
  expr.column = column ? column : parts.front().column;
  expr.parts.assign(std::make_move_iterator(parts.begin()),
                    std::make_move_iterator(parts.end()));
  return std::nullopt;
}

Result<Spelling> Parser::run(unsigned depth) {
  if (MaybeFault bad = lex(text, tokens))
    return std::move(*bad);
  out.reserve(text.size());
  Spelling parsed;
  if (MaybeFault bad = parseProduct(parsed.expr, depth, nullptr))
    return std::move(*bad);
  if (refused)
    return std::move(*refused);
  parsed.text = std::move(out);
  return parsed;
}

Result<Spelling> detail::parseText(llvm::StringRef text, const Axes &axes,
                                   const Environment *environment) {
  return Parser(text, axes, environment).run();
}

bool detail::isNormal(llvm::StringRef text) {
  auto takeNumber = [&] {
    llvm::StringRef digits = text.take_while(llvm::isDigit);
    text = text.drop_front(digits.size());
    // What is that short is below 2^63.
    return !digits.empty() && digits.front() != '0' && digits.size() <= 18;
  };
  do {
    if (!text.empty() && llvm::isUpper(text.front()))
      text = text.drop_while(
          [](char c) { return llvm::isAlnum(c) || c == '_'; });
    else if (!takeNumber())
      return false;
    while (text.size() > 3 && llvm::StringRef("/%=#").contains(text[1]) &&
           text[0] == ' ' && text[2] == ' ') {
      text = text.drop_front(3);
      if (!takeNumber())
        return false;
    }
  } while (text.consume_front(", "));
  return text.empty();
}
