//===- Orders.h - How orders of commands are found --------------*- C++ -*-===//
//
// Each of these looks for an order of the commands of one block that its queue
// ends early with.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_DIALECT_RESOURCE_SCHEDULING_ORDERS_H
#define FURIOSA_LIB_DIALECT_RESOURCE_SCHEDULING_ORDERS_H

#include "Queue.h"

namespace furiosa::scheduling {

using Order = std::vector<unsigned>;

/// How a list scheduler compares what it could issue next.
struct ListOptions {
  /// Whether the first to start goes first, or the first to be issued. They
  /// differ for transfers, which start later than they are issued.
  bool byStart = true;
  /// Only so many commands from the first one in program order that has not
  /// been issued are looked at. 1 is program order; few keep buffers short
  /// lived.
  size_t window = SIZE_MAX;
};

/// An order, and when it ends.
struct TimedOrder {
  Order order;
  int64_t end = 0;
};

/// Issues the command that starts first, among equals the one of the highest
/// priority.
TimedOrder scheduleByList(const Work &work, llvm::ArrayRef<int64_t> priority,
                          ListOptions options);

/// More commands are not searched exactly. Fewer than the engines have slots.
inline constexpr size_t maxExactCommands = 24;

/// Tries all orders of a block of at most that many commands, as long as that
/// takes no time. Improves `best`; true if nothing is better.
bool searchExactly(const Work &work, TimedOrder &best, int64_t bound);

/// Moves commands of `best` to other places, some `effort` times the work of
/// issuing one command, as long as it ends behind `bound`.
void searchLocally(const Work &work, TimedOrder &best, int64_t bound,
                   int64_t effort);

} // namespace furiosa::scheduling

#endif // FURIOSA_LIB_DIALECT_RESOURCE_SCHEDULING_ORDERS_H
