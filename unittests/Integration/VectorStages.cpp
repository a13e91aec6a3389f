//===- VectorStages.cpp - Drawing stages that work on elements ------------===//

#include "VectorDrawer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <bit>

using namespace furiosa;
using namespace furiosa::test;
using namespace furiosa::test::vectors;
using vector::Alu;
using vector::Cluster;

bool Slot::admits(unsigned id) const {
  bool matches = true;
  for (unsigned bit = 0; bit < 4; ++bit)
    matches &= guard[bit] == '-' || (guard[bit] == '1') == (id >> bit & 1);
  return matches != negated;
}

static std::string number(uint32_t value, bool isFloat) {
  if (!isFloat)
    return std::to_string(int32_t(value));
  return "0x" + llvm::utohexstr(value, false, 8) + " : f32";
}

static bool isShift(const vector::Operation &row) {
  return row.name.starts_with("sh") || row.name == "sar";
}

//===----------------------------------------------------------------------===//
// Constants, tags, guards
//===----------------------------------------------------------------------===//

/// A constant of the stream's type: small, or any bits.
uint32_t VectorDrawer::scalar() {
  if (isFloat)
    return std::bit_cast<uint32_t>((float(pick(129)) - 64) / 4);
  if (chance(70))
    return pick(64) - 32;
  return uint32_t(random());
}

void VectorDrawer::tag() {
  isTagged = hasWritePort = true;
  if (chance(25)) {
    kind("tag zero");
    stage("vector_tag zero");
    step([](Flow &flow, const std::vector<Codes> &) {
      for (Cell &cell : flow.cells)
        cell.id = 0;
    });
    return;
  }
  std::vector<std::pair<std::string, uint32_t>> list;
  std::string text;
  unsigned count = 1 + pick(4);
  for (unsigned i = 0; i < count; ++i) {
    auto comparison = vector::Comparison(pick(vector::numComparisons));
    std::string name = vector::toString(comparison).str();
    kind("compare " + name);
    text += (text.empty() ? "" : ", ") + name;
    uint32_t edge = 0;
    if (vector::hasBoundary(comparison)) {
      edge = scalar();
      text += " " + number(edge, isFloat);
    }
    list.emplace_back(name, edge);
  }
  stage("vector_tag compare [" + text + "]");
  step([list, ofFloats = isFloat](Flow &flow, const std::vector<Codes> &) {
    for (Cell &cell : flow.cells) {
      cell.id = 0;
      for (auto [bit, comparison] : llvm::enumerate(list))
        cell.id |= unsigned(holds(comparison.first, ofFloats,
                                  cell.value.value_or(0), comparison.second))
                   << bit;
    }
  });
}

void VectorDrawer::guard(Slot &slot) {
  for (char &bit : slot.guard)
    bit = "-01"[pick(3)];
  // One of bit 3 alone is a group's, which the stash must not have.
  if (slot.guard.substr(0, 3) == "---")
    slot.guard[pick(3)] = '1';
  slot.negated = chance(25);
}

//===----------------------------------------------------------------------===//
// Stash, conversions
//===----------------------------------------------------------------------===//

bool VectorDrawer::canStash() const {
  return !hasStash && hasWritePort && !wasPaired && isTagged && !hasEmptySlices;
}

void VectorDrawer::maybeStash() {
  if (!canStash() || !chance(30))
    return;
  kind("stash");
  stage("vector_stash");
  hasStash = true;
  stashIsFloat = isFloat;
  stashIsNarrow = isNarrow;
  stashIsFirst = !wasNarrow;
  step([](Flow &flow, const std::vector<Codes> &) {
    for (Cell &cell : flow.cells)
      cell.stash = cell.value;
  });
}

void VectorDrawer::reinterpret() {
  kind("reinterpret");
  isFloat = !isFloat;
  stage("vector_reinterpret to " + typeName());
}
void VectorDrawer::maybeReinterpret() {
  if (chance(25))
    reinterpret();
}

void VectorDrawer::convert(bool toFloat) {
  unsigned width = chance(40) ? 31 : pick(32);
  std::string name = toFloat ? "fxp_to_fp" : "fp_to_fxp";
  kind(name + (isPaired ? " of a pair" : ""));
  stage("vector_" + name + " width " + std::to_string(width));
  step([toFloat, width](Flow &flow, const std::vector<Codes> &) {
    for (Cell &cell : flow.cells)
      if (cell.value)
        cell.value = toFloat ? fixedToFloat(*cell.value, width)
                             : floatToFixed(*cell.value, width);
  });
  isFloat = toFloat;
  hasWritePort = false;
  hasMoved = true;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// A tensor in the register file that fits the stream: one that is there, or a
/// new one, which may lack axes of slices and time.
size_t VectorDrawer::drawRegister() {
  ++registerReads;
  Operand operand{isFloat, slice, {}, {}, ""};
  // In terms of flits: narrow only takes a digit of the packet into time.
  Digits outer = time;
  operand.packet = packet;
  if (isNarrow && packet.front().padded > 4) {
    Digit half = outer.back();
    outer.pop_back();
    half.count *= half.weight;
    half.weight = 1;
    operand.packet = {half};
  } else if (isNarrow) {
    operand.packet = {{packet.front().axis, 8, 1, 8}};
  }
  bool isWhole = outer.empty();
  // An axis that lies elsewhere as well cannot be dropped in part.
  for (const Digit &digit : outer)
    isWhole |= uses(slice + operand.packet, digit.axis);
  bool isShared = !isWhole && chance(40);
  if (!isShared)
    operand.time = outer;
  else
    kind("register file broadcast in time");
  bool everySlice = chance(20);
  if (everySlice)
    kind("register file broadcast over slices");
  for (const Digit &digit : slice)
    if (!everySlice && digit.axis != '1' &&
        operand.axes.find(digit.axis) == std::string::npos)
      operand.axes += digit.axis;
  for (const Digit &digit : operand.time + operand.packet)
    if (operand.axes.find(digit.axis) == std::string::npos)
      operand.axes += digit.axis;
  for (auto [index, other] : llvm::enumerate(operands))
    if (other.isFloat == operand.isFloat && other.axes == operand.axes &&
        text(other.slice) == text(operand.slice) &&
        text(other.time + other.packet) ==
            text(operand.time + operand.packet)) {
      kind("register file read again");
      return index;
    }
  operands.push_back(operand);
  return operands.size() - 1;
}

std::string VectorDrawer::drawMode(const vector::Operation &row) {
  if (row.arity == 3)
    return pickFrom<std::string>(
        {"012", "002", "102", "112", "020", "021", "120"});
  // The amount of a shift is not that of the stream.
  if (isShift(row))
    return pickFrom<std::string>({"01", "01", "11"});
  return pickFrom<std::string>({"01", "01", "01", "10", "00", "11"});
}

/// Whether an operand may come from the stash, and from the register file, to
/// which a packet that has been folded does not compare.
bool VectorDrawer::canReadStash(const vector::Operation &row) const {
  return !isShift(row) && hasStash && !stashUsed && stashIsFloat == isFloat &&
         stashIsNarrow == isNarrow && !isPaired;
}
bool VectorDrawer::canReadRegister(const vector::Operation &row) const {
  // Room for one more, and for what the chain may leave there.
  int64_t elements = 2 * sizeOf(time + packet);
  for (const Operand &operand : operands)
    elements += sizeOf(operand.time + operand.packet);
  return !isShift(row) && registerReads < 4 && packet.front().axis != '1' &&
         elements * 4 <= 8192;
}

/// The register file is read by the last slot.
void VectorDrawer::drawOperand(const vector::Operation &row,
                               const std::string &mode, Slot &slot, bool isLast,
                               bool mustRead) {
  if (isLast && canReadStash(row) && (mustRead || chance(80))) {
    slot.kind = Slot::Stash;
    stashUsed = true;
    kind(isNarrow ? "slot stash of four" : "slot stash of eight");
    if (hasCrossed && stashIsFirst)
      kind(packet.front().axis == '1' ? "stash read behind split and pad"
                                      : "stash read behind trim and concat");
  } else if (isLast && canReadRegister(row) && (mustRead || chance(35))) {
    slot.kind = Slot::Register;
    slot.operand = drawRegister();
    kind(isNarrow ? "slot vrf of four" : "slot vrf of eight");
  } else {
    slot.value = isShift(row) ? pick(32) : scalar();
    kind("slot imm");
  }
  if (row.arity == 3) {
    slot.with = std::bit_cast<uint32_t>((float(pick(65)) - 32) / 4);
    if (slot.kind != Slot::Immediate)
      kind("fma with an operand of the register file");
  }
  if (mode == "01" || mode == "012")
    return;
  kind("mode with " + std::string(slot.kind == Slot::Immediate ? "imm" : "rf"));
}

void VectorDrawer::drawSlots(const vector::Operation &row,
                             const std::string &mode,
                             std::vector<Slot> &slots) {
  unsigned count = chance(60) ? 1 : 2 + pick(3);
  // The fourth one is the register file's; fma has none.
  if (count == 4 &&
      (row.arity == 3 || !(canReadStash(row) || canReadRegister(row))))
    count = 3;
  for (unsigned i = 0; i < count; ++i) {
    bool isLast = i + 1 == count;
    Slot slot;
    if (!isLast || chance(40))
      guard(slot);
    drawOperand(row, mode, slot, isLast, /*mustRead=*/i == 3);
    if (!slot.isAlways())
      kind(slot.negated ? "guard negated" : "guard");
    slots.push_back(slot);
  }
  kind("slots " + std::to_string(slots.size()));
}

/// An operand for each group, or skip.
void VectorDrawer::drawGroups(const vector::Operation &row,
                              const std::string &mode,
                              std::vector<Slot> &slots) {
  bool readsFile = false;
  for (unsigned group = 0; group < 2; ++group) {
    Slot slot;
    slot.guard = group ? "---1" : "---0";
    if (chance(25)) {
      slot.kind = Slot::Skip;
      kind("group skips");
    } else {
      drawOperand(row, mode, slot, /*isLast=*/!readsFile,
                  /*mustRead=*/false);
      readsFile |= slot.kind == Slot::Register;
      kind(slot.kind == Slot::Register ? "group vrf" : "group imm");
    }
    slots.push_back(slot);
  }
}

std::string VectorDrawer::slotText(const Slot &slot, unsigned arity) const {
  std::string text;
  switch (slot.kind) {
  case Slot::Skip:
    return "skip";
  case Slot::Stash:
    text = "stash";
    break;
  case Slot::Register:
    text = "vrf %v" + std::to_string(slot.operand);
    break;
  case Slot::Immediate:
    text = "imm " + number(slot.value, isFloat);
    break;
  }
  if (arity == 3)
    text += " with " + number(slot.with, true);
  if (!isPaired && !slot.isAlways())
    text += " if \"" + std::string(slot.negated ? "!" : "") + slot.guard + "\"";
  return text;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// The first slot that admits an element gives the operand.
void VectorDrawer::apply(const vector::Operation &row, const std::string &mode,
                         std::vector<Slot> slots) {
  std::vector<std::string> axes;
  for (const Slot &slot : slots)
    axes.push_back(slot.kind == Slot::Register ? operands[slot.operand].axes
                                               : "");
  step([=, name = row.name.str(), ofFloats = isFloat, pair = isPaired,
        axis = pairAxis](Flow &flow, const std::vector<Codes> &arguments) {
    std::vector<std::vector<Value>> registers(slots.size());
    for (auto [index, slot] : llvm::enumerate(slots))
      if (slot.kind == Slot::Register)
        registers[index] = flow.read(arguments[slot.operand + 1], axes[index]);
    for (auto [at, cell] : llvm::enumerate(flow.cells)) {
      unsigned id = cell.id;
      if (pair)
        id = flow.isSecond(at, axis) ? 8 : 0;
      for (auto [index, slot] : llvm::enumerate(slots)) {
        if (!slot.admits(id))
          continue;
        if (slot.kind == Slot::Skip)
          break;
        Value operand = slot.kind == Slot::Immediate ? Value(slot.value)
                        : slot.kind == Slot::Stash   ? cell.stash
                                                     : registers[index][at];
        Value sources[] = {cell.value, operand, Value(slot.with)};
        Value values[3] = {cell.value, Value(0), Value(0)};
        bool isKnown = true;
        for (size_t i = 0; i < mode.size(); ++i)
          values[i] = sources[mode[i] - '0'];
        for (size_t i = 0; i < std::max<size_t>(mode.size(), 1); ++i)
          isKnown &= values[i].has_value();
        cell.value = isKnown ? evaluate(name, ofFloats, *values[0], *values[1],
                                        *values[2])
                             : std::nullopt;
        break;
      }
    }
  });
}

void VectorDrawer::unary(const vector::Operation &row,
                         const std::string &head) {
  std::vector<Slot> slots;
  std::string text = head;
  if (isPaired) {
    // Either group may pass.
    unsigned passes = pick(3);
    for (unsigned group = 0; group < 2; ++group) {
      Slot &slot = slots.emplace_back();
      slot.guard = group ? "---1" : "---0";
      if (passes == group)
        slot.kind = Slot::Skip;
    }
    text += std::string(" group [") + (passes == 0 ? "skip" : "apply") + ", " +
            (passes == 1 ? "skip" : "apply") + "]";
    kind("pair function");
  } else {
    Slot &slot = slots.emplace_back();
    if (chance(40)) {
      guard(slot);
      kind("function with a guard");
      text +=
          " if \"" + std::string(slot.negated ? "!" : "") + slot.guard + "\"";
    }
  }
  stage(text);
  apply(row, "", slots);
}

/// A stage of a cluster whose ALU is free.
bool VectorDrawer::drawStage(Cluster cluster) {
  std::vector<const vector::Operation *> rows;
  for (const vector::Operation &row : vector::operations())
    if (vector::clusterOf(row.alu) == cluster && !used.count(row.alu) &&
        row.takes(isFloat ? ElementType::F32 : ElementType::I32))
      rows.push_back(&row);
  if (rows.empty())
    return false;
  const vector::Operation &row = *pickFrom(rows);
  std::string name = vector::toString(cluster).str();
  std::string head = "vector_" + name;
  if (cluster != Cluster::FpDiv)
    head += " " + row.name.str();
  used.insert(row.alu);
  if (isPaired)
    kind("pair " + name);
  else if (wasPaired)
    kind("merged " + name);
  kind(name + " " + row.name.str() + (isFloat ? " f32" : " i32"));
  hasWritePort = hasMoved = true;
  if (row.arity == 1) {
    unary(row, head);
    return true;
  }
  std::string mode = drawMode(row);
  kind("mode " + mode);
  std::vector<Slot> slots;
  if (isPaired)
    drawGroups(row, mode, slots);
  else
    drawSlots(row, mode, slots);
  std::string list, types;
  for (const Slot &slot : slots) {
    list += (list.empty() ? "" : ", ") + slotText(slot, row.arity);
    if (slot.kind == Slot::Register)
      types = " : !v" + std::to_string(slot.operand);
  }
  // The default mode may be left out.
  std::string modeText;
  if (mode != vector::defaultMode(row.arity).str() || chance(50))
    modeText = " mode \"" + mode + "\"";
  stage(head + (isPaired ? " group" : "") + " [" + list + "]" + modeText +
        types);
  apply(row, mode, slots);
  return true;
}

void VectorDrawer::cluster(Cluster cluster) {
  if (hasEmptySlices)
    return;
  auto most = unsigned(vector::alusOf(cluster).size());
  // One ALU is left for the zip.
  unsigned count = pick(isPaired && most > 1 ? most : most + 1);
  for (unsigned i = 0; i < count; ++i) {
    if (!drawStage(cluster))
      return;
    maybeStash();
  }
}
