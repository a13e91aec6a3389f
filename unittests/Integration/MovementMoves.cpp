//===- MovementMoves.cpp - Views, chains and rows of random kernels -------===//

#include "MovementGenerator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace furiosa;
using namespace furiosa::test;
using llvm::formatv;

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

MovementGenerator::Handle MovementGenerator::tile(const Handle &source,
                                                  const Digit &digit,
                                                  int64_t take, bool written,
                                                  int64_t start,
                                                  const std::string &offset) {
  Handle view = source;
  view.name = newName();
  std::string dimension;
  for (auto [name, part] : {std::pair("element", &view.layout.element),
                            std::pair("slice", &view.layout.slice),
                            std::pair("cluster", &view.layout.cluster)})
    for (Digit &other : *part)
      if (other.axis == digit.axis && other.stride == digit.stride) {
        other.take = take;
        other.bottom = written;
        view.windows.push_back(other);
        if (name != std::string("element")) {
          dimension = std::string(" of ") + name;
          note("tile of slices");
        }
      }
  view.shift[digit.axis] += start * digit.stride;
  line(formatv("{0} = visa.tile {1}[{2}]{3} along \"{4}\" take {5} : {6} -> "
               "{7}",
               view.name, source.name, offset, dimension,
               printIndex(source.layout, digit), take, type(source),
               type(view)));
  note("tile");
  return view;
}

/// A digit of at least two cells, by chance; none where there is none.
std::optional<MovementGenerator::Digit>
MovementGenerator::chooseDigit(const Handle &source, int except) {
  std::vector<Digit> digits;
  for (const std::vector<Digit> *part :
       {&source.layout.element, &source.layout.slice, &source.layout.cluster})
    for (const Digit &digit : *part)
      if (digit.axis != except && digit.count > 1 &&
          (digit.axis != inner || digit.count > word()) &&
          digit.stride < kernel.sizes[digit.axis])
        digits.push_back(digit);
  if (digits.empty())
    return std::nullopt;
  return digits[number(0, int64_t(digits.size()) - 1)];
}

/// Cells of a digit that begin inside of the axis.
int64_t MovementGenerator::getLive(const Digit &digit) const {
  int64_t size = kernel.sizes[digit.axis];
  return std::min(digit.count, (size + digit.stride - 1) / digit.stride);
}

MovementGenerator::Handle MovementGenerator::moveInLoops(const Handle &source) {
  // The digits of the windows are whole on both sides.
  auto first = chooseDigit(source, -1);
  if (!first)
    return move(source);
  std::optional<Digit> second;
  if (chance(60))
    second = chooseDigit(source, first->axis);
  bool toDm = chance(50);
  bool keeps = source.layout.isDm && toDm && chance(70);
  Layout layout =
      keeps ? source.layout : chooseLayout(toDm, source.axes, &source.layout);
  // The host may say whether the copy runs. The test stands apart from the
  // branch: the parser of scf.if reads freed memory where mutants define it in
  // the branch.
  bool isTaken = true, hasBranch = chance(20), isElse = chance(50);
  std::string test;
  if (hasBranch) {
    note("branch by a number");
    static constexpr const char *names[] = {"eq", "ne", "slt", "sge"};
    int64_t bound = number(0, 3), value = number(0, 3), which = number(0, 3);
    bool holds = which == 0   ? value == bound
                 : which == 1 ? value != bound
                 : which == 2 ? value < bound
                              : value >= bound;
    isTaken = holds != isElse;
    test = newName();
    std::string lhs = addNumber(value, 3), rhs = constant(bound);
    if (chance(75)) {
      note("two numbers compared");
      rhs = addNumber(bound, 3);
    }
    line(formatv("{0} = arith.cmpi {1}, {2}, {3} : index", test, names[which],
                 lhs, rhs));
  }
  bool fill = toDm && chance(60);
  Handle target = alloc(layout, source.axes, fill);
  bool isWritten = fill;
  if (!isWritten && chance(50)) {
    copy(source, target);
    isWritten = true;
  }
  if (!isWritten)
    note("undefined cells");

  struct Window {
    Digit digit;
    int64_t take, trips, read, write, readStep, writeStep;
    std::string counter;
    /// The trips that there is room for.
    int64_t most = 0;
    /// A start is a multiple of the unit; the last ones that leave room.
    int64_t unit = 1, lastRead = 0, lastWrite = 0;
  };
  std::vector<Window> windows;
  for (const std::optional<Digit> &digit : {first, second}) {
    if (!digit)
      continue;
    int64_t unit = digit->axis == inner ? word() : 1;
    int64_t live = getLive(*digit) / unit;
    Window window{*digit, number(1, live), 0, 0, 0, 0, 0, ""};
    int64_t room = live - window.take;
    window.unit = unit;
    window.lastRead = window.lastWrite = room;
    window.read = number(0, room);
    window.write = number(0, room);
    if (room > 0 && chance(60)) {
      window.trips = chance(25) ? 0 : number(1, 4);
      int64_t steps = std::max<int64_t>(window.trips - 1, 1);
      window.readStep = number(0, (room - window.read) / steps);
      window.writeStep = number(0, (room - window.write) / steps);
      window.most = std::max<int64_t>(window.trips, 1);
      window.lastRead -= window.readStep * steps;
      window.lastWrite -= window.writeStep * steps;
    }
    for (int64_t *value :
         {&window.take, &window.read, &window.write, &window.readStep,
          &window.writeStep, &window.lastRead, &window.lastWrite})
      *value *= unit;
    windows.push_back(window);
  }
  for (Window &window : windows) {
    if (window.trips == 0 && window.readStep == 0 && window.writeStep == 0)
      continue;
    note(window.trips ? "loop" : "loop without trips");
    window.counter = newName();
    // Those that tile data memory are unrolled.
    std::string end = constant(window.trips);
    if (chance(source.layout.isDm || toDm ? 30 : 60)) {
      window.trips = number(0, window.most);
      end = addNumber(window.trips, window.most);
      note("loop by a number");
    }
    line(formatv("scf.for {0} = {1} to {2} step {3} {{", window.counter,
                 constant(0), end, constant(1)));
    indent += 2;
  }
  if (windows.size() == 2) {
    note("tile of a tile");
    if (!windows[0].counter.empty() && !windows[1].counter.empty())
      note("nested loops");
  }
  if (hasBranch) {
    line(formatv("scf.if {0} {{", test));
    if (isElse)
      line("} else {");
    indent += 2;
  }
  auto offset = [&](const Window &window, const Layout &layout, int64_t start,
                    int64_t step, int64_t last) {
    std::string name;
    // Slices and clusters begin at counters only.
    bool movesCells =
        !layout.isDm || llvm::any_of(layout.element, [&](const Digit &digit) {
          return digit.axis == window.digit.axis &&
                 digit.stride == window.digit.stride;
        });
    if (movesCells && last > 0 && chance(30)) {
      // Upwards from nothing, or downwards from the last.
      note(layout.isDm ? "start by a number in dm" : "start by a number");
      bool falls = chance(50);
      std::string scaled = newName();
      line(formatv("{0} = arith.muli {1}, {2} : index", scaled,
                   addNumber((falls ? last - start : start) / window.unit,
                             last / window.unit),
                   constant(window.unit)));
      name = scaled;
      if (falls) {
        name = newName();
        line(formatv("{0} = arith.subi {1}, {2} : index", name, constant(last),
                     scaled));
      }
    } else if (window.counter.empty() && chance(50)) {
      return std::to_string(start);
    } else {
      name = constant(start);
    }
    if (window.counter.empty())
      return name;
    std::string scaled = newName(), sum = newName();
    line(formatv("{0} = arith.muli {1}, {2} : index", scaled, window.counter,
                 constant(step)));
    line(formatv("{0} = arith.addi {1}, {2} : index", sum, scaled, name));
    return sum;
  };
  Handle read = source, write = target;
  for (const Window &window : windows)
    read = tile(read, window.digit, window.take, false, window.read,
                offset(window, read.layout, window.read, window.readStep,
                       window.lastRead));
  for (const Window &window : windows)
    write = tile(write, window.digit, window.take, true, window.write,
                 offset(window, write.layout, window.write, window.writeStep,
                        window.lastWrite));
  size_t at = steps.size();
  // What a slice keeps, the sub context may move.
  bool isParallel = keeps && movesWords(read) && movesWords(write);
  if (keeps && canChain(read) && canChain(write) &&
      chance(isParallel ? 50 : 70))
    copyByChain(read, write);
  else
    copy(read, write, isParallel && chance(70));
  if (hasBranch) {
    indent -= 2;
    line("}");
  }
  for (const Window &window : windows)
    if (!window.counter.empty()) {
      indent -= 2;
      line("}");
    }
  // One step for each trip.
  Step step = steps[at];
  steps.resize(at);
  std::vector<Step> all;
  if (isTaken)
    all.push_back(step);
  for (const Window &window : windows) {
    if (window.counter.empty())
      continue;
    std::vector<Step> next;
    for (const Step &step : all)
      for (int64_t trip = 0; trip < window.trips; ++trip) {
        next.push_back(step);
        int axis = window.digit.axis;
        next.back().source.shift[axis] +=
            trip * window.readStep * window.digit.stride;
        next.back().target.shift[axis] +=
            trip * window.writeStep * window.digit.stride;
      }
    all = std::move(next);
  }
  steps.insert(steps.end(), all.begin(), all.end());
  return target;
}

MovementGenerator::Handle MovementGenerator::pad(const Handle &source) {
  int64_t positions = 1;
  for (const Digit &digit : source.layout.element)
    positions *= digit.extent;
  Handle view = source;
  view.name = newName();
  view.layout.tail = positions * number(2, 4);
  line(formatv("{0} = visa.pad {1} : {2} -> {3}", view.name, source.name,
               type(source), type(view)));
  note("pad");
  if (chance(50))
    return view;
  Handle back = source;
  back.name = newName();
  line(formatv("{0} = visa.unpad {1} : {2} -> {3}", back.name, view.name,
               type(view), type(back)));
  return back;
}

MovementGenerator::Handle MovementGenerator::rename(const Handle &source) {
  int axis = static_cast<int>(number(0, inner - 1));
  if (!source.axes.count(axis) || kernel.sizes[axis] == 1 ||
      llvm::is_contained(argumentBuffers, source.buffer) ||
      !source.windows.empty())
    return move(source);
  // Another name for the same digits.
  std::vector<int64_t> axisCuts = cuts[axis];
  int other = addAxis(kernel.sizes[axis]);
  cuts[other] = axisCuts;
  std::set<int> axes = source.axes;
  axes.erase(axis);
  axes.insert(other);
  Layout layout = source.layout;
  layout.padded.resize(other + 1);
  layout.padded[other] = layout.padded[axis];
  for (std::vector<Digit> *part :
       {&layout.cluster, &layout.slice, &layout.element})
    for (Digit &digit : *part)
      if (digit.axis == axis)
        digit.axis = other;
  Handle view = makeHandle(layout, axes);
  line(formatv("{0} = visa.reshape {1} : {2} -> {3}", view.name, source.name,
               type(source), type(view)));
  Step step{Step::Rename, source, view};
  step.axis = axis;
  step.other = other;
  steps.push_back(step);
  note("reshape");
  return view;
}

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

/// Whether the innermost cells are words, and the slices those of the buffer.
bool MovementGenerator::movesWords(const Handle &handle) const {
  const Layout &layout = handle.layout;
  if (!layout.isDm || layout.tail || layout.element.empty() ||
      layout.element.back().axis != inner)
    return false;
  for (const std::vector<Digit> *part : {&layout.cluster, &layout.slice})
    for (const Digit &digit : *part)
      if (digit.take)
        return false;
  return true;
}

/// Whether one flit takes a row of them, too.
bool MovementGenerator::canChain(const Handle &handle) const {
  if (!movesWords(handle))
    return false;
  const Digit &words = handle.layout.element.back();
  return (words.take ? words.take : words.count) * bits <= 256;
}

/// Copies the cells of a view by fetch and commit; all mappings but the holes
/// are alike.
void MovementGenerator::copyByChain(const Handle &source,
                                    const Handle &target) {
  const Layout &layout = source.layout;
  std::vector<std::string> time;
  for (Digit digit : llvm::ArrayRef(layout.element).drop_back()) {
    std::string text = printIndex(layout, digit);
    if (digit.take)
      text = digit.take == 1 ? "1" : text + " = " + std::to_string(digit.take);
    time.push_back(text);
  }
  if (time.empty())
    time.push_back("1");
  const Digit &words = layout.element.back();
  std::string packet = printIndex(layout, words);
  int64_t cells = words.take ? words.take : words.count;
  if (words.take)
    packet += " = " + std::to_string(words.take);
  std::string flit = packet;
  if (cells * bits != 256)
    flit += " # " + std::to_string(256 / bits);
  std::string times = llvm::join(time, ", ");
  std::string element = print(target.layout, target.layout.element);
  note("chain");
  Handle result = target;
  result.name = newName();
  line(formatv("{0} = visa.chain {1} -> {2} {{", result.name,
               chance(50) ? "main" : "sub", type(target)));
  line(formatv("  fetch {0} time \"{1}\" packet \"{2}\" : {3}", source.name,
               times, packet, type(source)));
  line(formatv("  collect time \"{0}\" packet \"{1}\"", times, flit));
  line(formatv("  commit_trim packet \"{0}\"", packet));
  line(formatv("  commit element \"{0}\" into {1} : {2}", element, target.name,
               type(target)));
  line("}");
  steps.push_back({Step::Copy, source, target});
}

MovementGenerator::Handle MovementGenerator::moveByChain(const Handle &source) {
  if (!canChain(source) || !source.windows.empty())
    return move(source);
  Handle target = alloc(source.layout, source.axes, false);
  copyByChain(source, target);
  return target;
}

//===----------------------------------------------------------------------===//
// Rows by an index
//===----------------------------------------------------------------------===//

/// A number as an argument: its name.
std::string MovementGenerator::addNumber(int64_t number, int64_t most) {
  Layout layout;
  layout.padded = kernel.sizes;
  Handle handle = addArgument(layout, {});
  arguments.back().most = most;
  kernel.arguments.back().number = number;
  return handle.name;
}

/// An index over the axis of rows as an argument.
MovementGenerator::Handle MovementGenerator::addIndex(int rows, int64_t limit,
                                                      int64_t unit,
                                                      bool distinct) {
  Layout layout;
  layout.padded = kernel.sizes;
  int64_t size = kernel.sizes[rows];
  layout.element.push_back({rows, 1, size, size + size % 2, 0, false});
  Handle index = addArgument(layout, {rows});
  arguments.back().isIndex = index.isIndex = true;
  MovementArgument &argument = kernel.arguments.back();
  argument.bits = 32;
  argument.limit = limit;
  argument.unit = unit;
  argument.distinct = distinct;
  return index;
}

MovementGenerator::Handle MovementGenerator::gather() {
  int rows = 0, key = addAxis(number(2, 20));
  bool scaled = chance(50);
  Layout flat;
  flat.padded = kernel.sizes;
  int64_t words = kernel.sizes[inner], keys = kernel.sizes[key];
  flat.element = {{key, 1, keys, keys, 0, false},
                  {inner, 1, words, words, 0, false}};
  Handle table = addArgument(flat, {key, inner});
  int64_t unit = scaled ? words * bits / 8 : 1;
  Handle index = addIndex(rows, keys, unit, false);
  if (!scaled) {
    Handle list = index;
    list.name = newName();
    list.layout.isDm = true;
    line(formatv("{0} = visa.to_dm {1} : {2} -> {3}", list.name, index.name,
                 type(index), type(list)));
    index = list;
  }
  std::set<int> axes = {rows, inner};
  Handle target = makeHandle(chooseLayout(true, axes, nullptr, true), axes);
  line(formatv("{0} = visa.gather {1}{2} by {3} : {4}, {5} -> {6}", target.name,
               scaled ? "scaled " : "", table.name, index.name, type(table),
               type(index), type(target)));
  Step step{Step::Gather, table, target};
  step.axis = key;
  step.other = index.buffer;
  step.unit = unit;
  steps.push_back(step);
  note(scaled ? "scaled gather" : "gather");
  return target;
}

/// Ends the kernel with a scatter of rows into an argument, if it can.
bool MovementGenerator::scatter(const Handle &rows) {
  int axis = 0;
  if (rows.axes != std::set<int>{axis, inner} || !rows.windows.empty() ||
      rows.layout.tail)
    return false;
  std::set<int> axes = rows.axes;
  Handle source = makeHandle(chooseLayout(true, axes, nullptr, true), axes);
  if (rows.layout.isDm) {
    line(formatv("{0} = visa.alloc : {1}", source.name, type(source)));
    copy(rows, source);
  } else {
    line(formatv("{0} = visa.to_dm {1} : {2} -> {3}", source.name, rows.name,
                 type(rows), type(source)));
    steps.push_back({Step::Copy, rows, source});
  }
  int key = addAxis(std::max<int64_t>(kernel.sizes[axis], 2) + number(0, 5));
  Layout flat;
  flat.padded = kernel.sizes;
  int64_t words = kernel.sizes[inner], keys = kernel.sizes[key];
  flat.element = {{key, 1, keys, keys, 0, false},
                  {inner, 1, words, words, 0, false}};
  int64_t unit = words * bits / 8;
  Handle index = addIndex(axis, keys, unit, true);
  Handle table = addArgument(flat, {key, inner});
  line(formatv("visa.scatter scaled {0} by {1} into {2} : {3}, {4}, {5}",
               source.name, index.name, table.name, type(source), type(index),
               type(table)));
  Step step{Step::Scatter, source, table};
  step.axis = key;
  step.other = index.buffer;
  step.unit = unit;
  steps.push_back(step);
  outputBuffers.push_back(table.buffer);
  note("scatter");
  return true;
}
