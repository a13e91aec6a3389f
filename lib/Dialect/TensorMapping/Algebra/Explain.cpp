//===- Explain.cpp - Mappings and sequences in words ----------------------===//
//
// Text tables for tools and messages.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/TensorMapping/Algebra/Explain.h"

#include "Detail.h"

#include "llvm/Support/Format.h"
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
  if (cell.index.empty())
    return "origin";
  std::string text;
  for (auto [axis, coordinate] : cell.index)
    text += (text.empty() ? "" : " ") + axes[axis].name + "=" +
            std::to_string(coordinate) +
            (coordinate >= axes[axis].size ? "!" : "");
  return text;
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

std::string furiosa::mapping::explainCells(const Mapping &mapping, int64_t from,
                                           int64_t count) {
  std::string text;
  llvm::raw_string_ostream os(text);
  from = std::max<int64_t>(from, 0);
  if (from >= mapping.size() || count <= 0)
    return text;
  int64_t end = from + std::min(count, mapping.size() - from);
  size_t width = std::to_string(end - 1).size();
  for (int64_t position = from; position < end; ++position)
    os << llvm::format_decimal(position, width) << "  "
       << describe(mapping.cellAt(position), mapping.axes()) << "\n";
  return text;
}

/// The digit of a term as a user would write it.
static std::string digitText(const SequenceTerm &term, const Axes &axes) {
  if (term.axis < 0)
    return term.source == TermSource::Padding
               ? "1 # " + std::to_string(term.entry.size)
               : std::to_string(term.live);
  Factor factor;
  factor.axis = term.axis;
  factor.stride = term.axisStride;
  factor.live = factor.extent = term.live;
  if (term.live == 1)
    return axes[term.axis].name;
  Form form;
  if (term.entry.size > term.live) {
    factor.extent = term.entry.size;
    factor.runs.push_back({term.entry.size, Pad::Top});
  }
  form.factors.push_back(factor);
  if (std::optional<std::string> text = spell(form, axes))
    return *text;
  return axes[term.axis].name + " / " + std::to_string(term.axisStride);
}

std::string furiosa::mapping::explainSequence(const Sequence &sequence,
                                              const Axes &axes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const SequenceTerm &term : sequence.terms) {
    os << (term.inPacket ? "packet  " : "time    ")
       << llvm::left_justify(digitText(term, axes), 16) << "  "
       << llvm::left_justify((llvm::Twine(term.entry.size) + ":" +
                              llvm::Twine(term.entry.stride))
                                 .str(),
                             12)
       << "  ";
    switch (term.source) {
    case TermSource::Memory: {
      int64_t step = term.axisStride / term.digitStride;
      os << "memory holds " << axes[term.axis].name;
      if (term.digitStride != 1)
        os << " / " << term.digitStride;
      os << " at " << term.digitElements << " elements";
      if (step != 1)
        os << ", " << step << " values a step";
      if (term.entry.size > term.live)
        os << "; steps from " << term.live << " on are padding";
      break;
    }
    case TermSource::Broadcast:
      os << "not in the memory, repeats";
      break;
    case TermSource::Padding:
      os << "padding of the stream";
      break;
    }
    os << "\n";
  }
  auto list = [&](llvm::ArrayRef<Entry> entries) {
    if (entries.empty())
      os << "1";
    llvm::interleave(
        entries, os,
        [&](Entry entry) { os << entry.size << ":" << entry.stride; }, " ");
  };
  os << "entries ";
  list(sequence.time);
  os << " | ";
  list(sequence.packet);
  os << "; run " << sequence.contiguousRun << ", access " << sequence.accessSize
     << "\n";
  return text;
}
