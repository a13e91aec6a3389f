//===- Explain.cpp - Mappings and sequences in words ----------------------===//
//
// Text tables for tools and messages.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/TensorMapping/Algebra/Explain.h"

#include "Divide.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/Support/raw_ostream.h"

using namespace furiosa::mapping;
using namespace furiosa::mapping::detail;

std::string furiosa::mapping::describe(const Cell &cell, const Axes &axes) {
  switch (cell.kind) {
  case Cell::Kind::OutOfBounds:
    return "past the end";
  case Cell::Kind::Pad:
    return (toString(cell.pad) + " padding").str();
  case Cell::Kind::Index:
    break;
  }
  std::string text = "{";
  for (auto [axis, coordinate] : cell.index)
    text += (text.size() > 1 ? ", " : "") + axes[axis].name + ": " +
            std::to_string(coordinate) +
            (coordinate >= axes[axis].size ? "!" : "");
  return text + "}";
}

static void printRuns(llvm::raw_ostream &os, llvm::ArrayRef<PadRun> runs) {
  llvm::interleave(
      runs, os,
      [&](PadRun run) { os << run.upTo << " " << toString(run.kind); }, ", ");
}

std::string furiosa::mapping::describe(const Canonical &canonical,
                                       const Axes &axes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (canonical.factors.empty())
    os << "1";
  llvm::interleaveComma(canonical.factors, os, [&](const Factor &factor) {
    if (factor.axis >= 0)
      os << axes[factor.axis].name;
    os << "·";
    if (factor.axis >= 0)
      os << factor.stride << " ";
    os << "[" << factor.live;
    if (!factor.runs.empty()) {
      os << "/";
      printRuns(os, factor.runs);
    }
    os << "]";
  });
  if (!canonical.tail.empty()) {
    os << "; tail ";
    printRuns(os, canonical.tail);
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

namespace {
/// Rows of text in columns of equal width. The first row is the head.
class TextTable {
public:
  using Row = std::vector<std::string>;

  void add(Row row) { rows.push_back(std::move(row)); }

  std::string str() const {
    std::vector<size_t> widths;
    for (const Row &row : rows)
      for (auto [column, text] : llvm::enumerate(row)) {
        widths.resize(std::max(widths.size(), column + 1));
        widths[column] = std::max(widths[column], text.size());
      }
    std::string out;
    auto line = [&](const Row &row) {
      std::string text;
      for (auto [column, width] : llvm::enumerate(widths)) {
        llvm::StringRef cell =
            column < row.size() ? llvm::StringRef(row[column]) : "";
        text += ((column ? " | " : "") + cell).str();
        text.append(width - cell.size(), ' ');
      }
      out += (llvm::StringRef(text).rtrim(' ') + "\n").str();
    };
    for (auto [number, row] : llvm::enumerate(rows)) {
      line(row);
      if (number == 0) {
        for (auto [column, width] : llvm::enumerate(widths))
          out += (column ? "-|-" : "") + std::string(width, '-');
        out += '\n';
      }
    }
    return out;
  }

private:
  std::vector<Row> rows;
};
} // namespace

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

std::string furiosa::mapping::explainCells(const Mapping &mapping, int64_t from,
                                           int64_t count) {
  // Wider tables do not fit on a screen.
  constexpr int64_t maxColumns = 8;
  from = std::max<int64_t>(from, 0);
  if (from >= mapping.size() || count <= 0)
    return {};
  const int64_t end = from + std::min(count, mapping.size() - from);

  // The terms of the comma list, outermost first.
  const Expr &expr = mapping.node->expr();
  bool isList = expr.kind == Expr::Kind::Product && expr.ops.empty();
  llvm::ArrayRef<Expr> terms =
      isList ? llvm::ArrayRef(expr.parts) : llvm::ArrayRef(expr);
  auto digit = [&](const Expr &term, int64_t value) {
    return print(term, term.ops.size(), mapping.axes()) + ": " +
           std::to_string(value);
  };
  const Expr &inner = terms.back();
  const int64_t columns = std::min(inner.size, maxColumns);

  TextTable table;
  TextTable::Row head = {"position"};
  if (isList)
    head.emplace_back();
  for (int64_t column = 0; column < columns; ++column)
    head.push_back(inner.size == columns ? digit(inner, column)
                                         : "+" + std::to_string(column));
  table.add(std::move(head));

  const int64_t first = from - from % inner.size % columns;
  for (int64_t row = first; row < end;) {
    const int64_t inside = row % inner.size;
    const int64_t next = row + std::min(columns, inner.size - inside);
    TextTable::Row cells = {std::to_string(row)};
    if (isList) {
      std::string label;
      int64_t rows = mapping.size(), rest = row;
      for (const Expr &term : terms.drop_back()) {
        rows /= term.size;
        label += (label.empty() ? "" : ", ") + digit(term, rest / rows);
        rest %= rows;
      }
      if (inner.size != columns)
        label += ", " + digit(inner, inside);
      cells.push_back(std::move(label));
    }
    for (int64_t position = row; position < next; ++position)
      cells.push_back(position < from || position >= end
                          ? ""
                          : describe(mapping.cellAt(position), mapping.axes()));
    table.add(std::move(cells));
    row = next;
  }
  return table.str();
}

/// Positions of one step of each term of the comma list, innermost first.
static void addSteps(const Mapping &mapping,
                     llvm::SmallVectorImpl<int64_t> &positions) {
  const Expr &expr = mapping.node->expr();
  if (expr.kind != Expr::Kind::Product || !expr.ops.empty())
    return;
  int64_t step = 1;
  for (const Expr &term : llvm::reverse(expr.parts)) {
    positions.push_back(step);
    step *= term.size;
  }
}

std::string furiosa::mapping::explainDifference(const Mapping &left,
                                                const Mapping &right) {
  if (left.size() != right.size())
    return "\"" + left.str() + "\" has " + std::to_string(left.size()) +
           (left.size() == 1 ? " position, \"" : " positions, \"") +
           right.str() + "\" has " + std::to_string(right.size());
  constexpr int64_t maxScanned = 65536;
  auto scanned = llvm::seq(std::min(left.size(), maxScanned));
  llvm::SmallVector<int64_t> positions(scanned.begin(), scanned.end());
  addSteps(left, positions);
  addSteps(right, positions);
  for (int64_t position : positions) {
    std::string one = describe(left.cellAt(position), left.axes());
    std::string other = describe(right.cellAt(position), right.axes());
    if (one != other)
      return "at position " + std::to_string(position) + ", \"" + left.str() +
             "\" is " + one + " and \"" + right.str() + "\" is " + other;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

/// The digit of a term as a user would write it.
static std::string digitText(const SequenceTerm &term, const Axes &axes) {
  if (term.axis < 0)
    return term.source == TermSource::Padding
               ? "1 # " + std::to_string(term.entry.size)
               : std::to_string(term.live);
  if (term.live == 1)
    return axes[term.axis].name;
  Factor factor;
  factor.axis = term.axis;
  factor.stride = term.axisStride;
  factor.live = factor.extent = term.live;
  if (term.entry.size > term.live) {
    factor.extent = term.entry.size;
    factor.runs.push_back({term.entry.size, Pad::Top});
  }
  Form form;
  form.factors.push_back(factor);
  if (std::optional<std::string> text = spell(form, axes))
    return *text;
  return axes[term.axis].name + " / " + std::to_string(term.axisStride);
}

namespace {
/// The memory while the terms of a stream take their digits from it.
class TakenMemory {
public:
  TakenMemory(const Mapping &memory, llvm::ArrayRef<SequenceTerm> terms)
      : axes(memory.axes()), terms(terms) {
    if (const Result<Canonical> &canonical = memory.resolved())
      form = Form::from(*canonical);
  }

  /// Takes the digit of `term`; what of the memory lies inside of it.
  std::string take(const SequenceTerm &term);
  /// The memory as it is now.
  std::string str() const;

private:
  const Factor *find(const SequenceTerm &term) const {
    return llvm::find_if(form.factors, [&](const Factor &factor) {
      return factor.axis == term.axis && factor.stride == term.digitStride;
    });
  }
  /// `pieces`, taken ones as `1 # n`; nothing where they cannot be spelled.
  std::string text(llvm::ArrayRef<Piece> pieces) const;

  const Axes &axes;
  llvm::ArrayRef<SequenceTerm> terms;
  Form form;
  std::vector<MatchedDigits> matched;
};
} // namespace

std::string TakenMemory::take(const SequenceTerm &term) {
  const Factor *factor = find(term);
  if (factor == form.factors.end())
    return {};
  MatchedDigits digits;
  digits.factor = factor - form.factors.begin();
  digits.from = term.axisStride / term.digitStride;
  digits.count = term.live;
  // A window takes the whole digit, up to where another term goes on.
  int64_t end;
  if (llvm::MulOverflow(digits.from, digits.count, end) ||
      factor->extent % end != 0) {
    int64_t next = factor->extent;
    for (const SequenceTerm &other : terms)
      if (other.source == TermSource::Memory && find(other) == factor) {
        int64_t from = other.axisStride / other.digitStride;
        if (from >= end && from < next)
          next = from;
      }
    digits.count = std::max<int64_t>(next / digits.from, 1);
  }
  matched.push_back(digits);
  std::optional<std::vector<Piece>> pieces = cutPieces(form, matched);
  if (!pieces)
    return {};
  const int number = static_cast<int>(matched.size()) - 1;
  const size_t inside = std::distance(
      pieces->begin(), llvm::find_if(*pieces, [&](const Piece &piece) {
        return piece.match == number;
      }));
  // Steps that overlap those of another term have no piece of their own.
  if (inside == pieces->size())
    return {};
  std::string rows = text(llvm::ArrayRef(*pieces).take_front(inside));
  return rows == "1" ? "contiguous" : rows.empty() ? "" : "|" + rows + "|";
}

std::string TakenMemory::text(llvm::ArrayRef<Piece> pieces) const {
  // Spelled piece by piece: the canonical form would fold padding into digits.
  std::string out;
  int64_t taken = 1;
  auto append = [&](const std::string &part) {
    out += (out.empty() ? "" : ", ") + part;
  };
  auto appendTaken = [&] {
    if (taken > 1)
      append("1 # " + std::to_string(taken));
    taken = 1;
  };
  for (const Piece &piece : llvm::reverse(pieces)) {
    if (piece.match >= 0) {
      taken *= piece.factor.extent;
      continue;
    }
    appendTaken();
    if (piece.factor.extent == 1)
      continue;
    Form single;
    single.factors.push_back(piece.factor);
    std::optional<std::string> part = spell(single, axes);
    if (!part)
      return {};
    append(*part);
  }
  appendTaken();
  return out.empty() ? "1" : out;
}

std::string TakenMemory::str() const {
  std::optional<std::vector<Piece>> pieces = cutPieces(form, matched);
  if (!pieces)
    return {};
  std::string out = text(*pieces);
  for (PadRun run : form.tail)
    out = (run.upTo == form.tail.front().upTo ? "[" + out + "]" : out) + " " +
          padOperator(run.kind).str() + " " + std::to_string(run.upTo);
  return out;
}

static std::string listEntries(llvm::ArrayRef<Entry> entries) {
  std::string text;
  for (Entry entry : entries)
    text += (text.empty() ? "" : " ") + std::to_string(entry.size) + ":" +
            std::to_string(entry.stride);
  return text.empty() ? "1" : text;
}

std::string furiosa::mapping::explainSequence(const Mapping &memory,
                                              const Sequence &sequence) {
  const Axes &axes = memory.axes();
  TakenMemory taken(memory, sequence.terms);
  TextTable table;
  table.add({"", "term", "entry", "stride source", "memory after"});
  for (const SequenceTerm &term : sequence.terms) {
    std::string source;
    switch (term.source) {
    case TermSource::Memory:
      source = taken.take(term);
      if (source.empty())
        source = axes[term.axis].name + " at " +
                 std::to_string(term.digitElements) + " elements";
      if (term.entry.size > term.live)
        source += ", padding from " + std::to_string(term.live);
      break;
    case TermSource::Broadcast:
      source = "not in the memory, repeats";
      break;
    case TermSource::Padding:
      source = "padding of the stream";
      break;
    }
    table.add({term.inPacket ? "packet" : "time", digitText(term, axes),
               listEntries(term.entry), source, taken.str()});
  }

  std::string text = table.str();
  llvm::raw_string_ostream os(text);
  os << "entries " << listEntries(sequence.time) << " | "
     << listEntries(sequence.packet) << "; packet of " << sequence.packetSize
     << ", contiguous run of " << sequence.contiguousRun << ", access of "
     << sequence.accessSize << " elements\n";
  if (sequence.overRead > 0)
    os << "padding of the stream reaches " << sequence.overRead
       << " elements past the end of the memory\n";
  if (!sequence.coversMemory)
    os << "live cells of the memory are left over\n";
  return text;
}
