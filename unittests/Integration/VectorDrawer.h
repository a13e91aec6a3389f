//===- VectorDrawer.h - How vector kernels are drawn ------------*- C++ -*-===//
//
// What the parts of the generator share: the state of the chain that is being
// written, its text, and its steps on a stream of cells.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_UNITTESTS_INTEGRATION_VECTORDRAWER_H
#define FURIOSA_UNITTESTS_INTEGRATION_VECTORDRAWER_H

#include "VectorKernel.h"

#include "furiosa/Support/VectorOps.h"

#include <memory>

namespace furiosa::test::vectors {

/// A slot of a stage.
struct Slot {
  enum Kind { Immediate, Register, Stash, Skip } kind = Immediate;
  uint32_t value = 0, with = 0;
  /// The tensor in the register file.
  size_t operand = 0;
  /// Bits of the id, '-' for any; negated.
  std::string guard = "----";
  bool negated = false;

  bool isAlways() const { return guard == "----" && !negated; }
  bool admits(unsigned id) const;
};

/// A tensor that is loaded into the register file: the argument with its axes.
struct Operand {
  bool isFloat;
  Digits slice, time, packet;
  std::string axes;
};

class VectorDrawer {
public:
  explicit VectorDrawer(std::mt19937_64 &random) : random(random) {}
  VectorKernel draw();
  /// What was drawn cannot be ended.
  bool isStuck = false;

private:
  // One draw each: the order in which arguments and operands are evaluated is
  // the compiler's, so no expression may hold two.
  unsigned pick(unsigned n) { return unsigned(random() % n); }
  bool chance(unsigned percent) { return pick(100) < percent; }
  template <typename T>
  T pickFrom(const std::vector<T> &list) {
    return list[pick(unsigned(list.size()))];
  }

  void kind(const std::string &name) { kernel.kinds.insert(name); }
  void stage(const std::string &text) { stages += "    " + text + "\n"; }
  std::string typeName() const { return isFloat ? "f32" : "i32"; }
  std::string text(const Digits &digits) const { return textOf(digits, sizes); }
  using Step = std::function<void(Flow &, const std::vector<Codes> &arguments)>;
  void step(Step step) { steps.push_back(std::move(step)); }

  // VectorShapes.cpp: axes, where they lie, and what changes them.
  void drawShape();
  void drawPlain();
  void drawFold();
  void drawPass();
  void drawSpread();
  void drawFoldedSpread();
  void drawSlices();
  void drawPair();
  void narrow();
  void widen();
  void reduce();
  void reduceSlices();
  void zip(vector::Cluster cluster);
  void drawChain();

  // VectorKernel.cpp: what stands around the chain.
  Digits getLivePacket() const;
  void drawCast();
  void drawTranspose();
  void drawEnd();
  std::string write();

  // VectorStages.cpp: what is done to elements.
  void tag();
  void maybeStash();
  void reinterpret();
  void maybeReinterpret();
  void convert(bool toFloat);
  void cluster(vector::Cluster cluster);
  bool drawStage(vector::Cluster cluster);
  void unary(const vector::Operation &row, const std::string &head);
  void drawSlots(const vector::Operation &row, const std::string &mode,
                 std::vector<Slot> &slots);
  void drawGroups(const vector::Operation &row, const std::string &mode,
                  std::vector<Slot> &slots);
  void drawOperand(const vector::Operation &row, const std::string &mode,
                   Slot &slot, bool isLast, bool mustRead);
  bool canReadStash(const vector::Operation &row) const;
  bool canReadRegister(const vector::Operation &row) const;
  bool canStash() const;
  size_t drawRegister();
  void guard(Slot &slot);
  std::string drawMode(const vector::Operation &row);
  uint32_t scalar();
  std::string slotText(const Slot &slot, unsigned arity) const;
  void apply(const vector::Operation &row, const std::string &mode,
             std::vector<Slot> slots);

  std::mt19937_64 &random;
  VectorKernel kernel;
  std::string stages;
  std::vector<Step> steps;

  // Shape. Text and steps are made of the present state.
  std::shared_ptr<Sizes> sizeTable = std::make_shared<Sizes>();
  Sizes &sizes = *sizeTable;
  /// Orders of the argument and of the result; digits now and at first.
  std::string inAxes, outAxes;
  Digits slice, time, packet, inSlice, inTime, inPacket;
  /// The digits of the slices that are reduced, the innermost ones.
  Digits reducedSlices;
  char reducedAxis = 0, pairAxis = 0;
  bool reducesFirst = false, reducesLast = false, startsFloat = false;
  /// Slices hold sums of nothing, which nothing but a reduction may touch.
  bool hasEmptySlices = false;
  std::string reduction;

  // State of the chain.
  bool isFloat = false, isNarrow = false, wasNarrow = false, isPaired = false, wasPaired = false;
  /// The last stage that moved on; those with a write port may stash.
  bool hasWritePort = false;
  /// A stage behind the tag that slices may be reduced behind.
  bool hasMoved = false;
  bool isTagged = false;
  bool hasStash = false, stashUsed = false, stashIsFloat = false,
       stashIsNarrow = false, stashIsFirst = false;
  /// Widen has not undone what narrow did.
  bool hasCrossed = false;
  unsigned registerReads = 0;
  bool isSub = false, storesRegister = false;
  unsigned pes = 8;
  ElementType outType = ElementType::I32;
  std::set<vector::Alu> used;
  std::vector<Operand> operands;
};

} // namespace furiosa::test::vectors

#endif // FURIOSA_UNITTESTS_INTEGRATION_VECTORDRAWER_H
