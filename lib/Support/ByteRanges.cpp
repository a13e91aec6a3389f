//===- ByteRanges.cpp - The bytes that nested loops touch -----------------===//

#include "furiosa/Support/ByteRanges.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace furiosa;

std::optional<ByteRanges>
furiosa::getByteRanges(int64_t base, llvm::ArrayRef<int64_t> sizes,
                       llvm::ArrayRef<int64_t> strides, int64_t packet) {
  // More than this are only looked at as one range.
  constexpr int64_t maxRanges = 1 << 16;
  int64_t count = 1;
  for (int64_t size : sizes)
    if (llvm::MulOverflow(count, size, count) || count > maxRanges)
      return std::nullopt;
  ByteRanges ranges;
  llvm::SmallVector<int64_t> digits(sizes.size(), 0);
  int64_t address = base;
  for (int64_t i = 0; i < count; ++i) {
    ranges.emplace_back(address, address + packet);
    for (size_t loop = sizes.size(); loop-- > 0;) {
      address += strides[loop];
      if (++digits[loop] < sizes[loop])
        break;
      address -= strides[loop] * sizes[loop];
      digits[loop] = 0;
    }
  }
  llvm::sort(ranges);
  ByteRanges merged;
  for (auto range : ranges) {
    if (!merged.empty() && range.first <= merged.back().second)
      merged.back().second = std::max(merged.back().second, range.second);
    else
      merged.push_back(range);
  }
  return merged;
}

bool furiosa::overlap(const std::optional<ByteRanges> &lhs,
                      const std::optional<ByteRanges> &rhs) {
  if (!lhs || !rhs)
    return true;
  for (auto i = lhs->begin(), j = rhs->begin();
       i != lhs->end() && j != rhs->end();) {
    if (i->second <= j->first)
      ++i;
    else if (j->second <= i->first)
      ++j;
    else
      return true;
  }
  return false;
}
