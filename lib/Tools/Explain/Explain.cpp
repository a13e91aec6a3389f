//===- Explain.cpp - The explain command ----------------------------------===//
//
// Shows the cells of a mapping, and the entries of a memory and a stream.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Tools/Explain.h"

#include "furiosa/Dialect/TensorMapping/Algebra/Explain.h"
#include "furiosa/Support/GivenOptions.h"
#include "furiosa/Support/WriteFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace furiosa;
using namespace furiosa::mapping;

/// Rows are printed as they are asked for, but not without end.
static constexpr int64_t maxCount = 65536;

/// The fault, and the text with a caret below the column.
static void report(llvm::StringRef what, llvm::StringRef text,
                   const Fault &fault) {
  std::string place = what.str();
  if (fault.column > 0)
    place += ":" + std::to_string(fault.column);
  llvm::WithColor::error(llvm::errs(), place)
      << fault.rule << ": " << fault.message << "\n";
  if (fault.column < 1)
    return;
  // One character a byte: the caret must stand below what it names.
  for (char c : text)
    llvm::errs() << (llvm::isPrint(c) ? c : '?');
  llvm::errs() << "\n" << std::string(fault.column - 1, ' ') << "^\n";
}

/// `A = 8, B = 4`, with or without angle brackets as in the attribute.
static Result<Axes> parseAxes(llvm::StringRef text) {
  llvm::StringRef list = text.trim();
  if (list.consume_front("<"))
    list.consume_back(">");
  std::vector<Axis> axes;
  if (list.trim().empty())
    return Axes::get(axes);
  llvm::SmallVector<llvm::StringRef> declarations;
  list.split(declarations, ',');
  for (llvm::StringRef declaration : declarations) {
    auto [name, size] = declaration.split('=');
    Axis axis{name.trim().str(), 0};
    int64_t column = declaration.data() - text.data() + 1 +
                     (declaration.size() - declaration.ltrim().size());
    if (size.trim().getAsInteger(10, axis.size))
      return Fault{"MA-12", "axis-size",
                   "expected 'NAME = SIZE' with a size below "
                   "9223372036854775808",
                   column};
    axes.push_back(std::move(axis));
    // With the axes before it, so that the fault is at this one.
    if (Result<Axes> checked = Axes::get(axes); !checked) {
      Fault fault = checked.fault();
      fault.column = column;
      return fault;
    }
  }
  return Axes::get(axes);
}

static std::string describeAxes(const Axes &axes) {
  std::string text;
  for (const Axis &axis : axes.list())
    text += (text.empty() ? "" : ", ") + axis.name + " = " +
            std::to_string(axis.size);
  return text.empty() ? "none" : text;
}

static void printSummary(const Mapping &mapping) {
  llvm::outs() << "mapping   " << mapping.str() << "\n"
               << "axes      " << describeAxes(mapping.axes()) << "\n"
               << "size      " << mapping.size() << " cells";
  if (Result<int64_t> live = mapping.liveCells())
    llvm::outs() << ", " << *live << " live";
  llvm::outs() << "\ncanonical ";
  if (const Result<Canonical> &form = mapping.canonical())
    llvm::outs() << describe(*form, mapping.axes());
  else
    llvm::outs() << "none: " << form.fault().message;
  llvm::outs() << "\n";
  if (std::optional<Fault> bad = checkTensor(mapping);
      bad && bad->rule != "MA-13")
    llvm::outs() << "note      no mapping of a tensor: " << bad->rule << ": "
                 << bad->message << "\n";
}

int furiosa::explainMain(int argc, char **argv) {
  static llvm::cl::OptionCategory category("explain options");
  static llvm::cl::opt<std::string> text(
      llvm::cl::Positional, llvm::cl::Required, llvm::cl::desc("MAPPING"),
      llvm::cl::cat(category));
  static llvm::cl::opt<std::string> axesText(
      "axes", llvm::cl::desc("Axes that the mappings may name"),
      llvm::cl::value_desc("A = 8, B = 4"), llvm::cl::cat(category));
  static llvm::cl::opt<int64_t> from(
      "from", llvm::cl::desc("First position to show"), llvm::cl::init(0),
      llvm::cl::value_desc("position"), llvm::cl::cat(category));
  static llvm::cl::opt<int64_t> count(
      "count", llvm::cl::desc("Positions to show"), llvm::cl::init(64),
      llvm::cl::value_desc("number"), llvm::cl::cat(category));
  static llvm::cl::opt<std::string> timeText(
      "stream-time",
      llvm::cl::desc("Show how a stream with this time visits MAPPING"),
      llvm::cl::value_desc("mapping"), llvm::cl::init("1"),
      llvm::cl::cat(category));
  static llvm::cl::opt<std::string> packetText(
      "stream-packet",
      llvm::cl::desc("Show how a stream with this packet visits MAPPING"),
      llvm::cl::value_desc("mapping"), llvm::cl::init("1"),
      llvm::cl::cat(category));
  static llvm::cl::opt<SequenceMode> mode(
      "mode", llvm::cl::desc("What the stream does with the memory"),
      llvm::cl::values(clEnumValN(SequenceMode::Read, "read", "fetch"),
                       clEnumValN(SequenceMode::Write, "write", "commit"),
                       clEnumValN(SequenceMode::Carve, "carve",
                                  "fetch; bottom padding of the stream counts "
                                  "as top")),
      llvm::cl::init(SequenceMode::Read), llvm::cl::cat(category));
  static llvm::cl::opt<int64_t> elementBits(
      "element-bits",
      llvm::cl::desc("Width of an element: also show the bytes of one access"),
      llvm::cl::value_desc("bits"), llvm::cl::cat(category));
  llvm::cl::HideUnrelatedOptions({&category, &llvm::getColorCategory()});
  llvm::cl::ParseCommandLineOptions(
      argc, argv, "Shows a tensor mapping, or how a stream visits it.\n");

  if (std::string fault = findOptionFault(); !fault.empty()) {
    llvm::WithColor::error() << fault << "\n";
    return 1;
  }
  if (from < 0 || count < 1 || count > maxCount) {
    llvm::WithColor::error()
        << "expected --from of 0 or more and --count of 1 to " << maxCount
        << "\n";
    return 1;
  }
  Result<Axes> axes = parseAxes(axesText);
  if (!axes) {
    report("--axes", axesText, axes.fault());
    return 1;
  }
  auto parse = [&](llvm::StringRef what, llvm::StringRef source,
                   Mapping &mapping) {
    Result<Mapping> parsed = Mapping::parse(source, *axes);
    if (parsed)
      mapping = *parsed;
    else
      report(what, source, parsed.fault());
    return bool(parsed);
  };
  Mapping memory, time, packet;
  if (!parse("mapping", text, memory) ||
      !parse("--stream-time", timeText, time) ||
      !parse("--stream-packet", packetText, packet))
    return 1;

  printSummary(memory);
  llvm::outs() << "\n";
  bool streams = timeText.getNumOccurrences() || packetText.getNumOccurrences();
  if (!streams) {
    if (from >= memory.size()) {
      llvm::outs().flush();
      llvm::WithColor::error() << "--from " << from << " is past the "
                               << memory.size() << " cells of the mapping\n";
      return 1;
    }
    llvm::outs() << explainCells(memory, from, count);
    return flushStandardOutput() ? 0 : 1;
  }

  // Faults of a pair have no column; they name the mapping and the axis.
  auto fail = [&](const Fault &fault) {
    llvm::outs().flush();
    Fault whole = fault;
    whole.column = 0;
    report("stream", "", whole);
    return 1;
  };
  Result<Sequence> found = sequence(memory, time, packet, mode);
  if (!found)
    return fail(found.fault());
  llvm::outs() << explainSequence(memory, *found);
  if (std::optional<Fault> limit = checkSequencerLimits(*found))
    return fail(*limit);
  if (elementBits.getNumOccurrences()) {
    Result<int64_t> bytes = accessBytes(*found, elementBits);
    if (!bytes)
      return fail(bytes.fault());
    llvm::outs() << "an access takes " << *bytes << " bytes\n";
  }
  if (mode == SequenceMode::Carve)
    if (Result<Mapping> stream = pair(time, packet))
      if (Result<Carving> carving = carve(*stream, memory))
        llvm::outs() << "rest of the stream: " << carving->rest.str() << "\n";
  return flushStandardOutput() ? 0 : 1;
}
