//===- VectorShapes.cpp - Drawing where elements lie ----------------------===//
//
// Axes in slices, time and packet, the stages that move or fuse elements, and
// the order of all stages.
//
//===----------------------------------------------------------------------===//

#include "VectorDrawer.h"

#include "llvm/ADT/STLExtras.h"

using namespace furiosa;
using namespace furiosa::test;
using namespace furiosa::test::vectors;
using vector::Cluster;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// All elements on their own; packets of four may come without an upper half.
void VectorDrawer::drawPlain() {
  kind("plain");
  sizes['N'] = 256;
  slice = {{'N', 256, 1, 256}};
  int64_t steps = 1 + pick(4);
  if (steps > 1) {
    sizes['A'] = steps;
    time = {{'A', steps, 1, steps}};
  }
  inAxes = steps > 1 ? "NA" : "N";
  if (chance(35)) {
    sizes['B'] = chance(50) ? 2 : 4;
    packet = {{'B', 8, 1, 8}};
    inAxes += "B";
  } else {
    sizes['C'] = 8;
    packet = {{'C', 8, 1, 8}};
    inAxes += "C";
  }
  outAxes = inAxes;
}

/// The reduced axis in time and packet: packets fold.
void VectorDrawer::drawFold() {
  sizes['N'] = 256;
  slice = {{'N', 256, 1, 256}};
  int64_t steps = 1 + pick(3);
  // Rows of whole words of eight bytes.
  int64_t live = 2 + 2 * pick(12);
  int64_t padded = (live + 7) / 8 * 8;
  sizes['A'] = steps;
  sizes['R'] = live;
  if (steps > 1)
    time = {{'A', steps, 1, steps}};
  if (padded > 8)
    time.push_back({'R', padded, 8, padded / 8});
  packet = {{'R', padded, 1, 8}};
  inAxes = steps > 1 ? "NAR" : "NR";
  outAxes = steps > 1 ? "NA" : "N";
  reducedAxis = 'R';
  kind(padded == 8 ? "reduce of a packet" : "reduce of time and packet");
  kind(padded == live ? "reduce without padding" : "reduce with padding");
}

/// The reduced axis in time alone: eight sums at a time.
void VectorDrawer::drawPass() {
  sizes['N'] = 256;
  slice = {{'N', 256, 1, 256}};
  // An axis of one element is none; neither is a digit without live ones.
  int64_t live = 2 + pick(19);
  int64_t padded = live + pick(5);
  int64_t steps = 1 + pick(4);
  sizes['A'] = steps;
  sizes['R'] = live;
  bool isHalf = chance(25);
  char inner = isHalf ? 'B' : 'C';
  sizes[inner] = isHalf ? 4 : 8;
  Digits reduced = {{'R', padded, 1, padded}};
  Digits kept;
  if (steps > 1)
    kept = {{'A', steps, 1, steps}};
  unsigned order = pick(3);
  if (order == 2 && (padded % 2 != 0 || live == 2))
    order = 0;
  if (order == 2) {
    // On both sides of what is kept.
    time = Digits{{'R', padded, 2, padded / 2}} + kept +
           Digits{{'R', padded, 1, 2}};
    kind("reduce on both sides");
  } else {
    time = order == 1 ? reduced + kept : kept + reduced;
  }
  if (steps > 1 && order != 2)
    kind(order == 0 ? "reduce inside of what is kept"
                    : "reduce outside of what is kept");
  packet = {{inner, 8, 1, 8}};
  inAxes = outAxes = steps > 1 ? "NA" : "N";
  inAxes += 'R';
  inAxes += inner;
  outAxes += inner;
  reducedAxis = 'R';
  kind("reduce of time");
  kind(padded == live ? "reduce without padding" : "reduce with padding");
}

/// The reduced axis over slices and time: first in the slice, then between
/// slices.
void VectorDrawer::drawSpread() {
  sizes['N'] = 64;
  sizes['C'] = 8;
  int64_t steps = 2 + pick(4);
  bool isSliceMajor = chance(50);
  int64_t padded = 4 * steps;
  int64_t missing = chance(30) ? 0 : pick(isSliceMajor ? unsigned(steps) : 4);
  sizes['R'] = padded - missing;
  Digit outer{'R', padded, padded / 4, 4}, inner{'R', padded, 1, steps};
  if (!isSliceMajor) {
    outer = {'R', padded, 1, 4};
    inner = {'R', padded, 4, steps};
  }
  slice = {{'N', 64, 1, 64}, outer};
  reducedSlices = {outer};
  time = {inner};
  packet = {{'C', 8, 1, 8}};
  inAxes = "NRC";
  outAxes = "NC";
  reducedAxis = 'R';
  reducesLast = true;
  kind(isSliceMajor ? "reduce of slices and time"
                    : "reduce of time and slices");
  kind(missing == 0 ? "reduce without padding" : "reduce with padding");
}

/// The reduced axis over slices, time and packet: flits are whole or padding.
void VectorDrawer::drawFoldedSpread() {
  sizes['N'] = 64;
  int64_t steps = 1 + pick(3);
  int64_t padded = 32 * steps;
  // Padding that slices alone make up, or none.
  int64_t missing = chance(30) ? 0 : 8 * (1 + pick(unsigned(steps)));
  sizes['R'] = padded - missing;
  Digit outer{'R', padded, 8 * steps, 4};
  slice = {{'N', 64, 1, 64}, outer};
  reducedSlices = {outer};
  if (steps > 1)
    time = {{'R', padded, 8, steps}};
  packet = {{'R', padded, 1, 8}};
  inAxes = "NR";
  outAxes = "N";
  reducedAxis = 'R';
  reducesLast = true;
  kind("reduce of slices and packet");
  kind(missing == 0 ? "reduce without padding" : "reduce with padding");
}

/// Whole slices, in front of the chain or behind it.
void VectorDrawer::drawSlices() {
  int64_t group = int64_t(2) << pick(8);
  if (group > 64)
    kind("groups of slices of several PEs");
  sizes['N'] = 256 / group;
  sizes['R'] = group;
  sizes['C'] = 8;
  Digit reduced{'R', group, 1, group};
  slice = {{'N', 256 / group, 1, 256 / group}, reduced};
  reducedSlices = {reduced};
  packet = {{'C', 8, 1, 8}};
  inAxes = "NR";
  outAxes = "N";
  // Axes of time that go into slices: V, and W of size 2.
  int64_t steps = 1 + pick(3);
  if (group <= 8) {
    sizes['V'] = group;
    sizes['W'] = group / 2;
  }
  if (steps > 1)
    sizes['A'] = steps;
  Digits list;
  for (char axis : {'V', 'W', 'A'})
    if (sizes.count(axis) && sizes[axis] > 1 && (axis == 'A' || chance(60))) {
      list.push_back({axis, sizes[axis], 1, sizes[axis]});
      if (axis == 'V' && group > 2 && chance(40)) {
        kind("padded axis of time beside slices");
        --sizes[axis];
      }
    } else {
      sizes.erase(axis);
    }
  for (const Digit &digit : list) {
    inAxes += digit.axis;
    outAxes += digit.axis;
  }
  // In any order in time, also with A between two digits of V.
  if (list.size() > 1 && chance(50))
    std::reverse(list.begin(), list.end());
  time = list;
  if (uses(list, 'V') && uses(list, 'A') && sizes['V'] == group &&
      group > 2 && chance(60)) {
    int64_t inner = group == 4 || chance(50) ? 2 : 4;
    time = Digits{{'V', group, inner, group / inner}, {'A', steps, 1, steps},
                  {'V', group, 1, inner}};
    if (uses(list, 'W'))
      time.insert(time.begin() + pick(4), {'W', group / 2, 1, group / 2});
  }
  inAxes += "C";
  outAxes += "C";
  bool isFirst = chance(50);
  (isFirst ? reducesFirst : reducesLast) = true;
  kind(isFirst ? "slices first" : "slices last");
}

/// Two groups side by side in time.
void VectorDrawer::drawPair() {
  sizes['N'] = 256;
  sizes['I'] = 2;
  sizes['C'] = 8;
  slice = {{'N', 256, 1, 256}};
  packet = {{'C', 8, 1, 8}};
  int64_t steps = 1 + pick(4);
  bool isLong = chance(15);
  if (isLong)
    steps = chance(50) ? 255 : 100 + pick(156);
  Digit pair{'I', 2, 1, 2};
  time = {pair};
  inAxes = "NI";
  outAxes = "N";
  bool isOuter = isLong || chance(50);
  if (steps > 1) {
    sizes['A'] = steps;
    Digit other{'A', steps, 1, steps};
    time = isOuter ? Digits{pair, other} : Digits{other, pair};
    inAxes += "A";
    outAxes += "A";
    kind(isOuter ? "pair outside in time" : "pair inside in time");
  }
  inAxes += "C";
  outAxes += "C";
  pairAxis = 'I';
  if (isLong) {
    // One PE is enough of so many.
    kind("pair with long turns");
    sizes['N'] = 64;
    slice = {{'N', 64, 1, 64}};
    pes = 1;
    return;
  }
  if (chance(40)) {
    // An axis of time is reduced behind the zip.
    kind("reduce behind a zip");
    reducedAxis = 'R';
    sizes['R'] = 3 + pick(3);
    int64_t padded = sizes['R'] + pick(2);
    time.insert(time.begin() + pick(unsigned(time.size()) + 1),
                {'R', padded, 1, padded});
    inAxes.insert(1, "R");
    // What a group could not do without.
    used.insert(vector::Alu::FpFma);
    used.insert(vector::Alu::FxpAdd);
    return;
  }
  if (chance(60))
    return;
  // Slices are reduced behind the zip.
  kind("slices behind a zip");
  sizes['N'] = 64;
  sizes['R'] = 4;
  reducedSlices = {{'R', 4, 1, 4}};
  slice = {{'N', 64, 1, 64}, {'R', 4, 1, 4}};
  inAxes.insert(1, "R");
  reducesLast = true;
  if (chance(50))
    return;
  // An axis of time that the groups cut, and that goes into the slices.
  kind("promoted axis cut by groups");
  sizes['V'] = 4;
  time.insert(time.begin(), {'V', 4, 2, 2});
  time.push_back({'V', 4, 1, 2});
  inAxes.insert(2, "V");
  outAxes.insert(1, "V");
}

void VectorDrawer::drawShape() {
  switch (pick(10)) {
  case 0:
  case 1:
  case 2:
    return drawPlain();
  case 3:
    return drawFold();
  case 4:
  case 5:
    return drawPass();
  case 6:
    if (chance(30))
      return drawFoldedSpread();
    return drawSpread();
  case 7:
    return drawSlices();
  default:
    return drawPair();
  }
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

void VectorDrawer::narrow() {
  isNarrow = wasNarrow = hasWritePort = true;
  const Digit digit = packet.front();
  // An upper half without live elements is none of a reduced axis.
  if (sizes.at(digit.axis) <= 4 && digit.padded == 8 &&
      (digit.axis == reducedAxis || chance(70))) {
    packet = {{digit.axis, 4, 1, 4}};
    stage("vector_narrow trim packet \"" + text(packet) + "\"");
    kind("narrow trim");
    step([packet = packet](Flow &flow, const std::vector<Codes> &) {
      flow.trim(packet);
    });
    return;
  }
  time.push_back({digit.axis, digit.padded, 4, 2});
  packet = {{digit.axis, digit.padded, 1, 4}};
  stage("vector_narrow split time \"" + text(time) + "\" packet \"" +
        text(packet) + "\"");
  kind(isPaired ? "narrow split of a pair" : "narrow split");
  step([time = time, packet = packet](Flow &flow, const std::vector<Codes> &) {
    flow.regroup(time, packet);
  });
}

/// Makes packets of eight again: as narrow has cut them, or by the other way.
void VectorDrawer::widen() {
  isNarrow = hasWritePort = false;
  hasMoved = true;
  const Digit digit = packet.front();
  bool isFolded = digit.axis == '1', isSplit = digit.padded == 8;
  bool crosses = !isPaired && !isFolded && chance(40);
  if (crosses && !isSplit &&
      (time.empty() || time.back().count % 2 != 0 ||
       time.back().padded != sizes.at(time.back().axis)))
    crosses = false;
  if (isFolded || isSplit == crosses) {
    packet = {{digit.axis, 8, 1, 8}};
    if (crosses)
      packet = {{'1', 2, 1, 2}, digit};
    stage("vector_widen pad packet \"" + text(packet) + "\"");
    kind(crosses ? "widen pad of a split" : "widen pad");
    step([packet = packet](Flow &flow, const std::vector<Codes> &) {
      flow.pad(packet);
    });
  } else {
    Digit outer = time.back();
    time.pop_back();
    packet = {{digit.axis, digit.padded, 1, 8}};
    if (crosses) {
      // Two steps make a flit.
      packet = {{outer.axis, outer.padded, outer.weight, 2}, digit};
      outer.weight *= 2;
      outer.count /= 2;
      if (outer.count > 1)
        time.push_back(outer);
    }
    stage("vector_widen concat time \"" + text(time) + "\" packet \"" +
          text(packet) + "\"");
    kind(crosses    ? "widen concat of a trim"
         : isPaired ? "widen concat of a pair"
                    : "widen concat");
    step(
        [time = time, packet = packet](Flow &flow, const std::vector<Codes> &) {
          flow.regroup(time, packet);
        });
  }
  hasCrossed = crosses;
}

void VectorDrawer::reduce() {
  isStuck |= isPaired;
  std::string fn = pickFrom<std::string>(
      {isFloat ? std::string("add") : "add_sat", "max", "min"});
  bool folds = uses(packet, reducedAxis);
  time = without(time, reducedAxis);
  if (folds)
    packet = {{'1', 4, 1, 4}};
  stage("vector_reduce " + fn + " axis \"" + reducedAxis + "\" time \"" +
        text(time) + "\" packet \"" + text(packet) + "\"");
  kind("reduce " + fn + (isFloat ? " f32" : " i32"));
  hasWritePort = false;
  // What was stashed has another shape.
  stashUsed = hasStash;
  reduction = fn;
  hasEmptySlices =
      uses(slice, reducedAxis) && slice.back().padded != sizes.at(reducedAxis);
  step([=, axis = reducedAxis, ofFloats = isFloat](Flow &flow,
                                                   const std::vector<Codes> &) {
    flow.reduce(axis, fn, ofFloats);
  });
}

/// Digits of `part` that time may give to the slices: whole axes, however many
/// digits of them there are, and parts of digits.
static Digits getPromotable(const Digits &time, int64_t part,
                            const Sizes &sizes) {
  Digits found;
  auto isMoving = [](const Digit &digit) {
    return digit.axis == 'V' || digit.axis == 'W';
  };
  for (const Digit &digit : time) {
    if (!isMoving(digit))
      continue;
    if (digit.count == part)
      found.push_back(digit);
    else
      for (int64_t at = 1; digit.count % (at * part) == 0; at *= 2)
        found.push_back({digit.axis, digit.padded, digit.weight * at, part});
  }
  // All of V where something stands between its digits.
  int64_t all = 1;
  for (const Digit &digit : time)
    if (digit.axis == 'V')
      all *= digit.count;
  auto digits = llvm::count_if(
      time, [](const Digit &digit) { return digit.axis == 'V'; });
  if (all == part && digits == 2 && all == sizes.at('V'))
    found.push_back({'V', all, 1, all});
  return found;
}

/// Takes what `wanted` covers out of time. Whether that was a digit as it is.
static bool take(Digits &time, const Digit &wanted) {
  Digits left;
  bool isWhole = false;
  int64_t end = wanted.weight * wanted.count;
  for (const Digit &digit : time) {
    int64_t top = digit.weight * digit.count;
    if (digit.axis != wanted.axis || top <= wanted.weight ||
        digit.weight >= end) {
      left.push_back(digit);
      continue;
    }
    isWhole |= digit.weight == wanted.weight && top == end;
    if (top > end)
      left.push_back({digit.axis, digit.padded, end, top / end});
    if (digit.weight < wanted.weight)
      left.push_back({digit.axis, digit.padded, digit.weight,
                      wanted.weight / digit.weight});
  }
  time = std::move(left);
  return isWhole;
}

void VectorDrawer::reduceSlices() {
  std::vector<std::string> functions = {"add", "max", "min"};
  functions.push_back(isFloat ? "mul" : "add_sat");
  if (hasEmptySlices && reduction == "add_sat")
    functions = {"add", "add_sat"};
  else if (hasEmptySlices)
    functions = {reduction};
  std::string fn = pickFrom(functions);
  kind("between slices " + fn + (isFloat ? " f32" : " i32"));
  // What takes the place of the reduced slices, in one part or two.
  int64_t group = sizeOf(reducedSlices);
  std::vector<int64_t> parts = {group};
  if (group > 2 && chance(40))
    parts = {2, group / 2};
  Digits freed, newTime = time;
  std::string newAxes, fresh = "XY";
  for (int64_t part : parts) {
    std::vector<Digit> choices = {{'1', part, 1, part}};
    char axis = fresh[freed.size()];
    choices.push_back({axis, part, 1, part});
    for (const Digit &digit : getPromotable(newTime, part, sizes))
      choices.push_back(digit);
    Digit choice = pickFrom(choices);
    freed.push_back(choice);
    if (choice.axis == axis) {
      sizes[axis] = part;
      newAxes += axis;
    } else if (choice.axis != '1' && !take(newTime, choice)) {
      kind("promoted axis cut");
    }
    kind(choice.axis == '1'    ? "freed for padding"
         : choice.axis == axis ? "freed for a new axis"
                               : "freed for an axis of time");
  }
  if (parts.size() > 1)
    kind("freed in two parts");
  Digits kept = {slice.begin(), slice.end() - 1};
  slice = kept + freed;
  time = newTime;
  outAxes.insert(1, newAxes);
  stage("vector_inter_slice_reduce " + fn + " slice \"" + text(slice) +
        "\" time \"" + text(time) + "\"");
  hasWritePort = false;
  step([=, reduced = reducedSlices,
        ofFloats = isFloat](Flow &flow, const std::vector<Codes> &) {
    flow.reduceSlices(kept, reduced, freed, newTime, fn, ofFloats);
  });
}

/// Fuses the groups in a cluster.
void VectorDrawer::zip(Cluster cluster) {
  std::vector<const vector::Operation *> rows;
  for (const vector::Operation &row : vector::operations()) {
    // The amount of a shift is not that of the stream.
    bool isShift = row.name.starts_with("sh") || row.name == "sar";
    if (vector::clusterOf(row.alu) == cluster && !used.count(row.alu) &&
        row.arity == 2 && !isShift &&
        row.takes(isFloat ? ElementType::F32 : ElementType::I32))
      rows.push_back(&row);
  }
  if (rows.empty())
    return;
  const vector::Operation &row = *pickFrom(rows);
  used.insert(row.alu);
  std::string mode = pickFrom<std::string>({"01", "10", "00", "11"});
  std::string name = vector::toString(cluster).str();
  kind("zip " + name);
  kind("zip mode " + mode);
  time = without(time, pairAxis);
  isPaired = false;
  stage("vector_zip " + name + " " + row.name.str() + " mode \"" + mode + "\"");
  step([=, fn = row.name.str(), axis = pairAxis,
        ofFloats = isFloat](Flow &flow, const std::vector<Codes> &) {
    flow.zip(axis, fn, ofFloats, mode);
  });
}

//===----------------------------------------------------------------------===//
// The chain
//===----------------------------------------------------------------------===//

/// The stages of the chain behind its beginning, in their order.
void VectorDrawer::drawChain() {
  // Where two groups are fused.
  Cluster zipAt = Cluster::Clip;
  if (isPaired)
    zipAt = pickFrom<Cluster>({Cluster::Logic, Cluster::Fxp, Cluster::Fp,
                               reducedAxis ? Cluster::Fp : Cluster::Clip});
  auto pass = [&](Cluster next) {
    cluster(next);
    if (!isPaired || zipAt != next)
      return;
    zip(next);
    if (!isPaired)
      cluster(next);
  };
  maybeStash();
  pass(Cluster::Logic);
  maybeReinterpret();
  if (isFloat && isPaired && zipAt == Cluster::Fxp)
    reinterpret();
  if (!isFloat)
    pass(Cluster::Fxp);
  bool fusesFour = isPaired && zipAt == Cluster::Fp;
  if (!isFloat && (fusesFour || chance(50)))
    convert(/*toFloat=*/true);
  if (reducedAxis || fusesFour || chance(isFloat ? 70 : 15)) {
    narrow();
    maybeStash();
    if (isFloat)
      pass(Cluster::Fp);
    if (reducedAxis)
      reduce();
    if (isFloat && chance(40))
      cluster(Cluster::FpDiv);
    widen();
  }
  if (hasEmptySlices)
    return;
  if (isFloat && chance(40))
    convert(/*toFloat=*/false);
  maybeReinterpret();
  // What another cluster could not fuse is fused here.
  zipAt = Cluster::Clip;
  pass(Cluster::Clip);
  // Slices are not reduced directly behind the tag.
  if (reducesLast && !hasMoved)
    drawStage(Cluster::Clip);
}
