//===- TerminalText.cpp - Any bytes on a terminal -------------------------===//

#include "TerminalText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <vector>

using namespace llvm;

namespace furiosa::compile {

/// Bytes of the character of UTF-8 that a text begins with; 1 if it begins with
/// none.
static size_t getCharacterLength(StringRef text) {
  const auto *begin = reinterpret_cast<const UTF8 *>(text.data());
  size_t length = getNumBytesForUTF8(*begin);
  return length <= text.size() && isLegalUTF8Sequence(begin, begin + length)
             ? length
             : 1;
}

/// Whether one character, as `getCharacterLength` cuts it, would move the
/// cursor or be garbled.
static bool isUnprintable(StringRef character) {
  auto first = static_cast<unsigned char>(character.front());
  if (character.size() == 1)
    return first < 0x20 || first >= 0x7F;
  // U+0080 to U+009F are control characters as well.
  return first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
}

std::string printable(StringRef text) {
  std::string out;
  while (!text.empty()) {
    StringRef character = text.take_front(getCharacterLength(text));
    text = text.drop_front(character.size());
    if (!isUnprintable(character)) {
      out += character;
      continue;
    }
    for (char c : character) {
      auto byte = static_cast<unsigned char>(c);
      out += "\\x";
      out += hexdigit(byte >> 4);
      out += hexdigit(byte & 15);
    }
  }
  return out;
}

void printExcerpt(raw_ostream &os, StringRef line, size_t offset,
                  bool colours) {
  constexpr size_t mostColumns = 400, around = 120, tab = 8;
  struct Cell {
    std::string text;
    size_t column;
  };
  std::vector<Cell> cells;
  size_t column = 0, caret = 0;
  bool isFound = false;
  for (size_t i = 0; i < line.size();) {
    if (!isFound && i >= offset) {
      caret = column;
      isFound = true;
    }
    StringRef character = line.substr(i, getCharacterLength(line.substr(i)));
    i += character.size();
    std::string text = character == "\t" ? std::string(tab - column % tab, ' ')
                                         : printable(character);
    cells.push_back({text, column});
    int width = sys::unicode::columnWidthUTF8(text);
    // What has no known width is taken to be one column wide.
    column += width < 0 ? 1 : static_cast<size_t>(width);
  }
  if (!isFound)
    caret = column;

  bool isCut = column > mostColumns;
  size_t begin = isCut && caret > around ? caret - around : 0;
  size_t end = isCut ? caret + around : column;
  StringRef dots = "...";
  std::string indent;
  if (begin != 0)
    os << dots;
  for (const Cell &cell : cells)
    if (cell.column >= begin && cell.column < end) {
      if (indent.empty() && begin != 0)
        // A wide character may end at `begin`, so that the first is behind it.
        indent = std::string(dots.size() + caret - cell.column, ' ');
      os << cell.text;
    }
  if (begin == 0)
    indent = std::string(caret, ' ');
  if (end < column)
    os << dots;
  os << "\n" << indent;
  WithColor(os, raw_ostream::GREEN, /*Bold=*/true, /*BG=*/false,
            colours ? ColorMode::Auto : ColorMode::Disable)
      << "^";
  os << "\n";
}

} // namespace furiosa::compile
