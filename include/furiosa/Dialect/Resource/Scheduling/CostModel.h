//===- CostModel.h - Static cycles of commands ------------------*- C++ -*-===//
//
// What one command costs on an idle chip, in cycles at 1 GHz. The formulas are
// those of the public cost tables; where none is public, the sum is assumed and
// says so. Every figure comes from the machine description.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_RESOURCE_SCHEDULING_COSTMODEL_H
#define FURIOSA_DIALECT_RESOURCE_SCHEDULING_COSTMODEL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <string>

namespace furiosa::scheduling {

/// One execution of a Tensor Unit context, in steps of its units.
struct ExecShape {
  bool isSub = false;
  /// Reads of the fetch sequencer, each one cycle.
  int64_t reads = 0;
  /// Flits behind collect.
  int64_t flits = 0;
  /// Steps of the rings of the switch; 0 without one.
  int64_t switched = 0;
  /// Cycles of the transpose engine; 0 without one.
  int64_t transposed = 0;
  /// Multiplications; 0 without a contraction.
  int64_t macs = 0;
  /// Flits that leave the lane folder; 0 without a contraction.
  int64_t drained = 0;
  /// Writes of the commit sequencer; 0 for register-file stores.
  int64_t writes = 0;
  /// Packets of half a flit in the vector engine; 0 unless flits are split.
  int64_t beats = 0;
  /// Slices of a group that the vector engine reduces; 0 without that.
  int64_t reducedSlices = 0;
  /// An ALU of the vector engine is on the route.
  bool hasVectorPass = false;
};

/// What a command costs, and how that came about: "max(reads 512, flits 128) +
/// sub load 263".
struct Cost {
  int64_t cycles = 0;
  std::string formula;
};

/// Of an exec: the slowest unit plus the fill of the route. Empty if a count
/// does not fit.
std::optional<Cost> getExecCost(const ExecShape &shape);

/// The memory at one end of a transfer.
enum class Side : uint8_t { Hbm, Dm };

/// What one DMA engine moves; strides and bases in bytes, loops outermost
/// first. In DM an address is `slice * 4 MiB + byte`.
struct EngineShape {
  int64_t source = 0;
  int64_t target = 0;
  llvm::SmallVector<int64_t, 8> sizes;
  llvm::SmallVector<int64_t, 8> sourceStrides;
  llvm::SmallVector<int64_t, 8> targetStrides;
  int64_t packet = 0;
};

/// Of a transfer, up to the end of its slowest engine. HBM buffers are taken to
/// start at an address that maps to the first channel. Empty if a count does
/// not fit.
std::optional<Cost> getDmaCost(Side source, Side target,
                               llvm::ArrayRef<EngineShape> engines);

/// How often a sequencer hits one DM bank in a row (MM-40): the steps of its
/// innermost loops that stay in one bank. Loops outermost first.
int64_t getSameBankRun(llvm::ArrayRef<int64_t> sizes,
                       llvm::ArrayRef<int64_t> strides);

} // namespace furiosa::scheduling

#endif // FURIOSA_DIALECT_RESOURCE_SCHEDULING_COSTMODEL_H
