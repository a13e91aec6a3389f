//===- AllocationTest.cpp - No memory that grows with sizes ---------------===//
//
// Counts what the algebra allocates, with axes of usual size and 1000 and
// 10^9 times larger. A program of its own, since it replaces operator new.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Dialect/TensorMapping/Algebra/Explain.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <iostream>
#include <new>

using namespace furiosa::mapping;

static size_t allocations, allocatedBytes, largestBlock;

void *operator new(size_t size) {
  ++allocations;
  allocatedBytes += size;
  largestBlock = std::max(largestBlock, size);
  if (void *block = std::malloc(size))
    return block;
  std::abort();
}
void operator delete(void *block) noexcept { std::free(block); }
void operator delete(void *block, size_t) noexcept { std::free(block); }

static Mapping parse(const std::string &text, const Axes &axes) {
  Result<Mapping> mapping = Mapping::parse(text, axes);
  if (mapping)
    return *mapping;
  ADD_FAILURE() << text << ": " << mapping.fault().message;
  return Mapping();
}

/// Everything that the library computes, once.
static void useAll(int64_t scale) {
  std::vector<Axis> list = {{"N", 64}, {"C", 16}, {"H", 32}, {"W", 24}};
  for (Axis &axis : list)
    axis.size *= scale;
  Axes axes = *Axes::get(list);
  Mapping memory = parse("N / 8, C / 4, H % 4 # 5, N % 8, C % 4 #{0} 8", axes);
  Mapping other = parse("C / 4, N / 8, H % 4, N % 8, C % 4", axes);
  EXPECT_TRUE(bool(memory.canonical()));
  EXPECT_TRUE(bool(memory.resolved()));
  EXPECT_TRUE(bool(memory.liveCells()));
  EXPECT_FALSE(*equivalent(memory, other));
  EXPECT_FALSE(same(memory, other));
  EXPECT_TRUE(bool(split(memory, 8)));
  EXPECT_TRUE(bool(pair(parse("3", axes), other)));
  EXPECT_TRUE(bool(resize(other, 32)));
  EXPECT_TRUE(bool(pad(other, other.size() + 1)));
  EXPECT_TRUE(bool(peel(memory)));
  EXPECT_TRUE(bool(paddedExtents(memory)));
  EXPECT_TRUE(bool(divideExact(memory, other)));
  EXPECT_TRUE(bool(divideRelaxed(memory, parse("W, N / 8", axes))));
  EXPECT_FALSE(checkTensor(memory));
  EXPECT_TRUE(bool(tile(memory, parse("C / 4", axes), 1, 2, Pad::Top)));
  EXPECT_TRUE(bool(carve(other, parse("C / 4, N / 8", axes))));
  Result<Sequence> found =
      sequence(memory, other, Mapping(), SequenceMode::Read);
  ASSERT_TRUE(bool(found));
  EXPECT_FALSE(explainSequence(memory, *found).empty());
  EXPECT_FALSE(explainCells(memory, memory.size() - 20, 20).empty());
}

TEST(MappingAllocation, DoesNotGrowWithSizes) {
  useAll(1); // what is made once
  size_t usual = 0;
  for (int64_t scale : {int64_t(1), int64_t(1000), int64_t(1000000)}) {
    allocations = allocatedBytes = largestBlock = 0;
    useAll(scale);
    std::cout << "axes * " << scale << ": " << allocations << " allocations of "
              << allocatedBytes << " bytes, the largest of " << largestBlock
              << "\n";
    if (usual == 0)
      usual = allocatedBytes;
    // Numbers in text get longer, nothing else.
    EXPECT_LE(allocatedBytes, usual + usual / 4);
    EXPECT_LE(largestBlock, 16384u);
  }
}
