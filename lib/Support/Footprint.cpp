//===- Footprint.cpp - The bytes of nested loops, as loops ----------------===//

#include "furiosa/Support/Footprint.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <tuple>

using namespace furiosa;

int64_t furiosa::getExtent(llvm::ArrayRef<Stride> loops, int64_t bytes) {
  for (const Stride &loop : loops)
    bytes += (loop.count - 1) * loop.stride;
  return bytes;
}

int64_t Footprint::getExtent() const {
  return furiosa::getExtent(loops, bytes);
}

bool Footprint::normalize() {
  // Everything below stays clear of overflow if the end does.
  constexpr int64_t limit = int64_t(1) << 62;
  if (base < 0 || bytes < 1)
    return false;
  int64_t end;
  if (llvm::AddOverflow(base, bytes, end))
    return false;
  for (const Stride &loop : loops) {
    int64_t reach;
    if (loop.count < 1 || loop.stride < 0 ||
        llvm::MulOverflow(loop.count - 1, loop.stride, reach) ||
        llvm::AddOverflow(end, reach, end))
      return false;
  }
  if (end > limit)
    return false;

  llvm::erase_if(loops, [](const Stride &loop) {
    return loop.count == 1 || loop.stride == 0;
  });
  llvm::sort(loops, [](const Stride &a, const Stride &b) {
    return std::tie(a.stride, a.count) > std::tie(b.stride, b.count);
  });
  // From the inside out: a run grows by runs that touch it, a loop by one that
  // goes on where it ends.
  llvm::SmallVector<Stride, 4> joined;
  for (const Stride &loop : llvm::reverse(loops)) {
    if (joined.empty() && loop.stride <= bytes)
      bytes += (loop.count - 1) * loop.stride;
    else if (!joined.empty() && joined.back().stride == loop.stride)
      joined.back().count += loop.count - 1;
    else if (!joined.empty() &&
             joined.back().count == loop.stride / joined.back().stride &&
             loop.stride % joined.back().stride == 0)
      joined.back().count *= loop.count;
    else
      joined.push_back(loop);
  }
  loops.assign(joined.rbegin(), joined.rend());
  return true;
}

/// `a` at `delta` bytes from `b`. Looks at the pairs of steps of the widest
/// loop whose hulls meet; out of budget, says that they do.
static bool meet(llvm::ArrayRef<Stride> a, int64_t bytesA,
                 llvm::ArrayRef<Stride> b, int64_t bytesB, int64_t delta,
                 int &budget) {
  if (--budget <= 0)
    return true;
  int64_t extentA = getExtent(a, bytesA), extentB = getExtent(b, bytesB);
  if (delta >= extentB || delta + extentA <= 0)
    return false;
  if (a.empty() && b.empty())
    return true;
  bool stepA = !a.empty() && (b.empty() || a[0].stride >= b[0].stride);
  bool stepB = !b.empty() && (a.empty() || b[0].stride >= a[0].stride);
  int64_t stride = stepA ? a[0].stride : b[0].stride;
  llvm::ArrayRef<Stride> restA = a.drop_front(stepA),
                         restB = b.drop_front(stepB);
  // Steps by which `a` is ahead of `b`; only their difference counts.
  int64_t first = stepB ? 1 - b[0].count : 0;
  int64_t last = stepA ? a[0].count - 1 : 0;
  first = std::max(
      first,
      llvm::divideFloorSigned(-getExtent(restA, bytesA) - delta, stride) + 1);
  last = std::min(
      last,
      llvm::divideCeilSigned(getExtent(restB, bytesB) - delta, stride) - 1);
  for (int64_t step = first; step <= last; ++step)
    if (meet(restA, bytesA, restB, bytesB, delta + step * stride, budget))
      return true;
  return false;
}

bool furiosa::meet(const Footprint &a, const Footprint &b, int &budget) {
  return ::meet(a.loops, a.bytes, b.loops, b.bytes, a.base - b.base, budget);
}
