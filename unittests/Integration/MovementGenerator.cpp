//===- MovementGenerator.cpp - Random kernels that move data --------------===//

#include "MovementGenerator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace furiosa;
using namespace furiosa::test;
using llvm::formatv;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string axisName(int axis) {
  return std::string(1, static_cast<char>('A' + axis));
}

/// The digit as an index of its own: without window and padding behind.
std::string MovementGenerator::printIndex(const Layout &layout,
                                          const Digit &digit) const {
  int64_t size = kernel.sizes[digit.axis], padded = layout.padded[digit.axis];
  std::string text = axisName(digit.axis);
  if (padded != size)
    text += " # " + std::to_string(padded);
  if (digit.stride > 1)
    text += " / " + std::to_string(digit.stride);
  if (digit.stride * digit.count < padded)
    text += " % " + std::to_string(digit.count);
  return text;
}

std::string MovementGenerator::print(const Layout &layout,
                                     const Digit &digit) const {
  std::string text = printIndex(layout, digit);
  if (digit.take) {
    text = digit.take == 1 ? "1" : text + " = " + std::to_string(digit.take);
    text += (digit.bottom ? " #{!} " : " # ") + std::to_string(digit.count);
  }
  if (digit.extent > digit.count)
    text += " # " + std::to_string(digit.extent);
  return text;
}

std::string MovementGenerator::print(const Layout &layout,
                                     const std::vector<Digit> &digits) const {
  std::vector<std::string> texts;
  for (const Digit &digit : digits)
    texts.push_back(print(layout, digit));
  return texts.empty() ? "1" : llvm::join(texts, ", ");
}

std::string MovementGenerator::type(const Handle &handle) const {
  if (handle.most)
    return formatv("index {{visa.range = array<i64: 0, {0}>}", *handle.most);
  const Layout &layout = handle.layout;
  std::string element = print(layout, layout.element);
  if (layout.tail)
    element = formatv("[{0}] # {1}", element, layout.tail);
  std::string name = handle.isIndex ? "i32" : elementType;
  if (!layout.isDm)
    return formatv("!visa.hbm<{0}, element \"{1}\", #axes>", name, element);
  int64_t positions = 1;
  for (const Digit &digit : layout.slice)
    positions *= digit.extent;
  std::string slice = print(layout, layout.slice);
  if (positions != slices())
    slice = formatv("[{0}] # {1}", slice, slices());
  std::string cluster = layout.cluster.empty() ? (pes == 8 ? "1 # 2" : "1")
                                               : print(layout, layout.cluster);
  return formatv("!visa.dm<{0}, cluster \"{1}\", slice \"{2}\", element "
                 "\"{3}\", #axes>",
                 name, cluster, slice, element);
}

std::string MovementGenerator::constant(int64_t value) {
  constants.insert(value);
  return "%c" + std::to_string(value);
}

//===----------------------------------------------------------------------===//
// Axes and layouts
//===----------------------------------------------------------------------===//

int MovementGenerator::addAxis(int64_t size) {
  kernel.sizes.push_back(size);
  cuts.emplace_back();
  return static_cast<int>(kernel.sizes.size()) - 1;
}

void MovementGenerator::chooseAxes() {
  struct Type {
    const char *name;
    unsigned bits;
  };
  static constexpr Type types[] = {{"i4", 4},   {"i8", 8},    {"i16", 16},
                                   {"i32", 32}, {"bf16", 16}, {"f8E4M3FN", 8},
                                   {"f32", 32}};
  const Type &type = types[number(0, 6)];
  elementType = type.name;
  bits = type.bits;
  static constexpr int pesOptions[] = {1, 2, 4, 4, 8, 8, 8};
  pes = pesOptions[number(0, 6)];
  note(formatv("{0} PEs", pes));

  static constexpr int64_t primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23};
  // Some tensors lie in one slice, which they must fit with all padding.
  constexpr int64_t mostRows = 1024;
  int64_t rows = 1;
  for (int64_t axes = number(1, 3), axis = 0; axis < axes; ++axis) {
    bool isPrime = chance(50);
    int64_t drawn = isPrime ? primes[number(0, 8)] : number(1, 24);
    int64_t size = std::min(drawn, mostRows / rows);
    rows *= size;
    int at = addAxis(size);
    if (isPrime && size == drawn && size > 2)
      note("prime size");
    // Clusters take a digit of two.
    if (pes == 8 && size % 2 == 0 && size > 2 && chance(60))
      cuts[at].push_back(size / 2);
    std::vector<int64_t> starts;
    for (int64_t cut = 1; chance(60);) {
      cut *= number(2, 4);
      if (cut >= size)
        break;
      starts.push_back(cut);
    }
    if (cuts[at].empty())
      cuts[at] = starts;
  }
  static constexpr int64_t words[] = {1, 1, 2, 3, 4, 4, 5, 7, 8, 11, 13};
  inner = addAxis(words[number(0, 10)] * word());
}

MovementGenerator::Layout
MovementGenerator::chooseLayout(bool isDm, const std::set<int> &axes,
                                const Layout *alike, bool inOrder) {
  Layout layout;
  layout.isDm = isDm;
  layout.padded = kernel.sizes;
  std::vector<Digit> digits;
  for (int axis : axes) {
    if (axis == inner)
      continue;
    int64_t size = kernel.sizes[axis];
    std::vector<int64_t> starts = {1};
    for (int64_t cut : cuts[axis])
      if (chance(70))
        starts.push_back(cut);
    if (alike) {
      starts.clear();
      for (const std::vector<Digit> *part :
           {&alike->cluster, &alike->slice, &alike->element})
        for (const Digit &digit : *part)
          if (digit.axis == axis)
            starts.push_back(digit.stride);
      llvm::sort(starts);
      layout.padded[axis] = alike->padded[axis];
    } else if (starts.size() > 1) {
      int64_t last = starts.back();
      layout.padded[axis] = (size + last - 1) / last * last;
      if (chance(15))
        layout.padded[axis] += last;
    }
    for (size_t i = 0; i < starts.size(); ++i) {
      int64_t end = i + 1 < starts.size() ? starts[i + 1] : layout.padded[axis];
      int64_t count = end / starts[i];
      digits.push_back({axis, starts[i], count, count, 0, false});
    }
    if (layout.padded[axis] != size)
      note("padding inside digits");
  }
  if (inOrder)
    llvm::sort(digits, [](const Digit &lhs, const Digit &rhs) {
      return lhs.stride > rhs.stride;
    });
  else
    std::shuffle(digits.begin(), digits.end(), random);
  int64_t positions = 1;
  bool isOpen = true;
  for (Digit digit : digits) {
    if (isDm && pes == 8 && layout.cluster.empty() && digit.count == 2 &&
        !inOrder && chance(60)) {
      layout.cluster.push_back(digit);
      note("cluster");
      continue;
    }
    if (chance(12)) {
      digit.extent += number(1, 3);
      note("padded digit");
    }
    if (isDm && isOpen && positions * digit.extent <= slices() && chance(65)) {
      layout.slice.push_back(digit);
      positions *= digit.extent;
      if (layout.padded[digit.axis] != kernel.sizes[digit.axis])
        note("ragged slices");
      continue;
    }
    // Rows in the order of an index go on inside of slices.
    isOpen &= !inOrder;
    layout.element.push_back(digit);
  }
  if (axes.count(inner)) {
    int64_t size = kernel.sizes[inner];
    Digit digit = {inner, 1, size, size, 0, false};
    if (chance(15)) {
      digit.extent += word() * number(1, 3);
      note("padded words");
    }
    layout.element.push_back(digit);
  }
  return layout;
}

//===----------------------------------------------------------------------===//
// Buffers and copies
//===----------------------------------------------------------------------===//

MovementGenerator::Handle
MovementGenerator::makeHandle(const Layout &layout, const std::set<int> &axes) {
  Handle handle;
  handle.name = newName();
  handle.buffer = static_cast<int>(buffers.size());
  handle.layout = layout;
  handle.shift.assign(32, 0);
  handle.axes = axes;
  buffers.emplace_back(axes.begin(), axes.end());
  return handle;
}

MovementGenerator::Handle
MovementGenerator::addArgument(const Layout &layout,
                               const std::set<int> &axes) {
  Handle handle = makeHandle(layout, axes);
  argumentBuffers.push_back(handle.buffer);
  MovementArgument argument;
  argument.bits = bits;
  kernel.arguments.push_back(argument);
  arguments.push_back(handle);
  return handle;
}

MovementGenerator::Handle MovementGenerator::alloc(const Layout &layout,
                                                   const std::set<int> &axes,
                                                   bool fill) {
  Handle handle = makeHandle(layout, axes);
  line(formatv("{0} = visa.alloc : {1}", handle.name, type(handle)));
  if (!fill)
    return handle;
  note("memset");
  bool isFloat = elementType[0] != 'i';
  std::string name = newName();
  line(formatv("{0} = arith.constant {1} : {2}", name, isFloat ? "1.5" : "3",
               elementType));
  line(formatv("visa.memset {0} with {1} : {2}, {3}", handle.name, name,
               type(handle), elementType));
  Step step{Step::Fill, handle, handle};
  step.value = !isFloat                ? 3
               : elementType == "bf16" ? 0x3FC0
               : elementType == "f32"  ? 0x3FC00000
                                       : 0x3C;
  steps.push_back(step);
  return handle;
}

static std::string tier(bool isDm) { return isDm ? "DM" : "HBM"; }

void MovementGenerator::copy(const Handle &source, const Handle &target,
                             bool isParallel) {
  note(isParallel
           ? "parallel copy"
           : tier(source.layout.isDm) + " to " + tier(target.layout.isDm));
  line(formatv("visa.copy {0}{1} into {2} : {3}, {4}",
               isParallel ? "parallel " : "", source.name, target.name,
               type(source), type(target)));
  steps.push_back({Step::Copy, source, target});
}

MovementGenerator::Handle MovementGenerator::move(const Handle &source) {
  std::set<int> axes = source.axes;
  for (int axis = 0; axis < inner; ++axis)
    if (chance(25) && axes.insert(axis).second && kernel.sizes[axis] > 1)
      note("replicated axis");
  bool fromDm = source.layout.isDm;
  bool toDm = chance(fromDm ? 50 : 70);
  if (fromDm && toDm && source.windows.empty() && movesWords(source) &&
      chance(80)) {
    // Rows of words change places in their slices.
    Layout layout = source.layout;
    if (chance(50))
      std::reverse(layout.element.begin(), std::prev(layout.element.end()));
    Handle target = alloc(layout, source.axes, false);
    copy(source, target, /*isParallel=*/true);
    return target;
  }
  Layout layout = chooseLayout(toDm, axes);
  if (fromDm == toDm || chance(30)) {
    Handle target = alloc(layout, axes, false);
    copy(source, target);
    return target;
  }
  Handle target = makeHandle(layout, axes);
  note(tier(fromDm) + " to " + tier(toDm));
  line(formatv("{0} = visa.{1} {2} : {3} -> {4}", target.name,
               toDm ? "to_dm" : "to_hbm", source.name, type(source),
               type(target)));
  steps.push_back({Step::Copy, source, target});
  return target;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void MovementGenerator::finish(const Handle &last) {
  if (chance(35) && scatter(last))
    return;
  Layout layout = chooseLayout(false, last.axes);
  bool inPlace = chance(15);
  Handle target;
  if (inPlace) {
    note("in place");
    target = addArgument(layout, last.axes);
    copy(last, target);
  } else if (last.layout.isDm && chance(70)) {
    target = makeHandle(layout, last.axes);
    note("DM to HBM");
    line(formatv("{0} = visa.to_hbm {1} : {2} -> {3}", target.name, last.name,
                 type(last), type(target)));
    steps.push_back({Step::Copy, last, target});
  } else {
    target = alloc(layout, last.axes, false);
    copy(last, target);
  }
  outputBuffers.push_back(target.buffer);
  if (!inPlace) {
    results.push_back(target.name);
    resultTypes.push_back(type(target));
  }
}

const MovementKernel &MovementGenerator::generate() {
  kernel = {};
  body.clear();
  constants.clear();
  indent = 2;
  names = 0;
  cuts.clear();
  buffers.clear();
  steps.clear();
  arguments.clear();
  argumentBuffers.clear();
  outputBuffers.clear();
  results.clear();
  resultTypes.clear();

  chooseAxes();
  Handle current;
  if (chance(25)) {
    current = gather();
  } else {
    std::set<int> axes = {inner};
    for (int axis = 0; axis < inner; ++axis)
      if (chance(85))
        axes.insert(axis);
    current = addArgument(chooseLayout(false, axes), axes);
  }
  for (int64_t moves = number(1, 3); moves > 0; --moves)
    switch (number(0, 9)) {
    case 0:
    case 1:
      current = move(current);
      break;
    case 2:
      current = move(pad(current));
      break;
    case 3:
      current = rename(current);
      break;
    case 4:
    case 5:
      current = moveByChain(current);
      break;
    default:
      current = moveInLoops(current);
    }
  finish(current);

  std::string axes, parameters;
  for (auto [axis, size] : llvm::enumerate(kernel.sizes))
    axes += formatv("{0}{1} = {2}", axis ? ", " : "", axisName(axis), size);
  for (auto [at, handle] : llvm::enumerate(arguments)) {
    parameters +=
        formatv("{0}{1}: {2}", at ? ", " : "", handle.name, type(handle));
  }
  std::string values;
  for (int64_t value : constants)
    values += formatv("  %c{0} = arith.constant {0} : index\n", value);
  std::string result =
      results.empty() ? "" : " -> (" + llvm::join(resultTypes, ", ") + ")";
  std::string returned = results.empty()
                             ? "return"
                             : "return " + llvm::join(results, ", ") + " : " +
                                   llvm::join(resultTypes, ", ");
  kernel.text = formatv("#axes = #tmap.axes<{0}>\n"
                        "module attributes {{visa.target = #visa.target<rngd, "
                        "release = \"0.6\", chips = 1, pes = {1}>} {{\n"
                        "func.func @kernel({2}){3} attributes {{visa.kernel} "
                        "{{\n{4}{5}  {6}\n}\n}\n",
                        axes, pes, parameters, result, values, body, returned);
  return kernel;
}

//===----------------------------------------------------------------------===//
// Plain loops
//===----------------------------------------------------------------------===//

/// Calls `visit` for every index over some axes; the others are 0.
static void
forEachIndex(const std::vector<int> &axes, const std::vector<int64_t> &sizes,
             llvm::function_ref<void(std::vector<int64_t> &)> visit) {
  std::vector<int64_t> index(sizes.size(), 0);
  while (true) {
    visit(index);
    size_t at = axes.size();
    while (at > 0 && ++index[axes[at - 1]] == sizes[axes[at - 1]])
      index[axes[--at]] = 0;
    if (at == 0)
      return;
  }
}

/// The cell of a buffer that a handle names; null where it names none.
std::optional<uint32_t> *
MovementGenerator::find(std::vector<Values> &contents, const Handle &handle,
                        const std::vector<int64_t> &index) const {
  for (const Digit &digit : handle.windows)
    if (index[digit.axis] / digit.stride % digit.count >= digit.take)
      return nullptr;
  Values &values = contents[handle.buffer];
  size_t offset = 0;
  for (int axis : values.axes) {
    int64_t at = index[axis] + handle.shift[axis];
    if (at >= kernel.sizes[axis])
      return nullptr;
    offset = offset * kernel.sizes[axis] + at;
  }
  return &values.codes[offset];
}

std::vector<Values> MovementGenerator::run(std::vector<Values> given) const {
  std::vector<Values> contents;
  for (const std::vector<int> &axes : buffers) {
    Values values{axes, {}};
    size_t cells = 1;
    for (int axis : axes)
      cells *= kernel.sizes[axis];
    values.codes.resize(cells);
    contents.push_back(std::move(values));
  }
  for (auto [buffer, values] : llvm::zip_equal(argumentBuffers, given)) {
    // From the host's order to the declared one.
    Handle handle;
    handle.buffer = buffer;
    handle.shift.assign(32, 0);
    size_t at = 0;
    forEachIndex(values.axes, kernel.sizes, [&](std::vector<int64_t> &index) {
      *find(contents, handle, index) = values.codes[at++];
    });
  }
  for (const Step &step : steps) {
    // A copy reads before it writes.
    std::vector<std::pair<std::optional<uint32_t> *, std::optional<uint32_t>>>
        writes;
    const Handle &over = step.kind == Step::Scatter ? step.source : step.target;
    forEachIndex(
        buffers[over.buffer], kernel.sizes, [&](std::vector<int64_t> &index) {
          std::vector<int64_t> from = index, to = index;
          if (step.kind == Step::Rename) {
            from[step.axis] = index[step.other];
          } else if (step.kind == Step::Gather || step.kind == Step::Scatter) {
            Handle list;
            list.buffer = step.other;
            list.shift.assign(32, 0);
            std::optional<uint32_t> key = *find(contents, list, index);
            (step.kind == Step::Gather ? from : to)[step.axis] =
                *key / step.unit;
          }
          std::optional<uint32_t> *cell = find(contents, step.target, to);
          if (!cell)
            return;
          if (step.kind == Step::Fill) {
            writes.push_back({cell, step.value});
            return;
          }
          std::optional<uint32_t> *source = find(contents, step.source, from);
          writes.push_back({cell, source ? *source : std::nullopt});
        });
    for (auto &[cell, value] : writes)
      *cell = value;
  }
  std::vector<Values> outputs;
  for (int buffer : outputBuffers)
    outputs.push_back(contents[buffer]);
  return outputs;
}

/// A value in the order of other axes.
std::vector<std::optional<uint32_t>>
MovementGenerator::project(const Values &values,
                           const std::vector<int> &axes) const {
  std::vector<std::optional<uint32_t>> codes;
  forEachIndex(axes, kernel.sizes, [&](std::vector<int64_t> &index) {
    size_t offset = 0;
    for (int axis : values.axes)
      offset = offset * kernel.sizes[axis] + index[axis];
    codes.push_back(values.codes[offset]);
  });
  return codes;
}
