//===- Packing.cpp - Lives and sizes in one memory ------------------------===//
//
// If there is a way to place all items, there is one in which each lies on
// others or on the ground. Items are placed by ascending address, each on what
// lives with it and has been placed; so what lies below the last address is
// lost wherever it is free. A branch ends where what is lost leaves no room for
// what has yet to be placed. Several orders of choice share the effort.
//
//===----------------------------------------------------------------------===//

#include "Packing.h"
#include "Shaker.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <tuple>

using namespace furiosa;
using namespace furiosa::scheduling;

namespace {

class Packer {
public:
  Packer(llvm::ArrayRef<PackedItem> given, int64_t capacity, int64_t alignment);
  /// Orders of choice among items that could lie equally low.
  static constexpr unsigned rules = 30;
  bool run(unsigned rule, int64_t effort);
  std::vector<int64_t> getAddresses() const;

private:
  struct Item {
    /// Positions, ends included, in `heights`.
    size_t first, last;
    /// What it takes of those, and what it needs if it lies on top.
    int64_t room, need;
    /// In the list of the caller.
    size_t number;
    bool isPlaced = false;
    int64_t address = -1;
  };

  bool search(size_t left, int64_t lowest, int64_t previous);
  int64_t getHeight(const Item &item) const {
    return *std::max_element(heights.begin() + item.first,
                             heights.begin() + item.last + 1);
  }
  /// Whether what has no place yet fits above `address`.
  bool fitsAbove(int64_t address) const;

  int64_t capacity, alignment;
  std::vector<Item> items;
  /// Per position where items that live then end, and what those take that have
  /// no place.
  std::vector<int64_t> heights, open;
  /// Of those that could lie equally low, the least is tried first; all differ.
  std::vector<int64_t> ranks;
  int64_t steps = 0;
  Shaker shaker;
};

} // namespace

Packer::Packer(llvm::ArrayRef<PackedItem> given, int64_t capacity,
               int64_t alignment)
    : capacity(capacity), alignment(alignment) {
  // Between two births nothing new begins to live: positions are births.
  std::vector<int64_t> births;
  for (const PackedItem &item : given)
    births.push_back(item.first);
  llvm::sort(births);
  births.erase(llvm::unique(births), births.end());
  for (auto [number, item] : llvm::enumerate(given)) {
    size_t first = llvm::lower_bound(births, item.first) - births.begin();
    size_t last = llvm::upper_bound(births, item.last) - births.begin() - 1;
    items.push_back({first, last,
                     int64_t(llvm::alignTo(item.bytes, alignment)),
                     item.bytes, number});
  }
  llvm::sort(items, [](const Item &a, const Item &b) {
    return std::tie(a.first, a.last, a.room, a.need, a.number) <
           std::tie(b.first, b.last, b.room, b.need, b.number);
  });
  heights.resize(births.size());
  open.resize(births.size());
}

bool Packer::fitsAbove(int64_t address) const {
  for (size_t i = 0; i < heights.size(); ++i)
    // The last one need not end at a multiple.
    if (open[i] > 0 &&
        std::max(heights[i], address) + open[i] - (alignment - 1) > capacity)
      return false;
  return true;
}

bool Packer::search(size_t left, int64_t lowest, int64_t previous) {
  if (left == 0)
    return true;
  // Where each could lie.
  std::vector<std::pair<int64_t, size_t>> choices;
  for (auto [i, item] : llvm::enumerate(items)) {
    if (item.isPlaced)
      continue;
    int64_t at = std::max(getHeight(item), int64_t(0));
    steps -= int64_t(item.last - item.first) + 1;
    if (at + item.need > capacity)
      return false;
    // Of those at one height, whose order does not matter, one order counts.
    if (at > lowest || (at == lowest && ranks[i] > previous))
      choices.emplace_back(at, i);
  }
  llvm::sort(choices, [&](auto a, auto b) {
    return std::tie(a.first, ranks[a.second]) <
           std::tie(b.first, ranks[b.second]);
  });
  for (auto [at, i] : choices) {
    steps -= int64_t(heights.size());
    if (steps < 0 || !fitsAbove(at))
      return false;
    Item &item = items[i];
    std::vector<int64_t> below(heights.begin() + item.first,
                               heights.begin() + item.last + 1);
    for (size_t p = item.first; p <= item.last; ++p) {
      heights[p] = at + item.room;
      open[p] -= item.room;
    }
    item.isPlaced = true;
    item.address = at;
    if (search(left - 1, at, ranks[i]))
      return true;
    item.isPlaced = false;
    for (size_t p = item.first; p <= item.last; ++p) {
      heights[p] = below[p - item.first];
      open[p] += item.room;
    }
  }
  return false;
}

bool Packer::run(unsigned rule, int64_t effort) {
  steps = effort;
  llvm::fill(heights, 0);
  llvm::fill(open, 0);
  std::vector<std::pair<int64_t, size_t>> order;
  for (Item &item : items) {
    item.isPlaced = false;
    int64_t span = int64_t(item.last - item.first) + 1;
    // Long lives first, large ones first, both.
    int64_t rank = rule % 3 == 0   ? span * 1024
                   : rule % 3 == 1 ? item.room * 1024 / alignment
                                   : span * item.room * 64 / alignment;
    if (rule >= 3)
      rank = rank / 4 + int64_t(shaker.below(rank + 1));
    order.emplace_back(-rank, order.size());
    for (size_t p = item.first; p <= item.last; ++p)
      open[p] += item.room;
  }
  llvm::sort(order);
  ranks.resize(items.size());
  for (auto [rank, entry] : llvm::enumerate(order))
    ranks[entry.second] = rank;
  return search(items.size(), 0, -1);
}

std::vector<int64_t> Packer::getAddresses() const {
  std::vector<int64_t> addresses(items.size());
  for (const Item &item : items)
    addresses[item.number] = item.address;
  return addresses;
}

std::optional<std::vector<int64_t>>
scheduling::pack(llvm::ArrayRef<PackedItem> items, int64_t capacity,
                 int64_t alignment, int64_t effort) {
  Packer packer(items, capacity, alignment);
  for (unsigned rule = 0; rule < Packer::rules; ++rule)
    if (packer.run(rule, effort / Packer::rules))
      return packer.getAddresses();
  return std::nullopt;
}
