//===- SimulatorPipelines.h - Kernels of one main exec ----------*- C++ -*-===//
//
// 32 bytes a slice through fetch, vector engine and commit.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_UNITTESTS_TARGET_SIMULATORPIPELINES_H
#define FURIOSA_UNITTESTS_TARGET_SIMULATORPIPELINES_H

#include "SimulatorKernels.h"

namespace furiosa::rngd::test {

inline Image vectorRoute(unsigned cast = 0, bool arithmetic = false) {
  return Image(Block::VectorRouteUnitMainContext)
      .set("data_out_source", arithmetic ? 2 : 1)
      .set("arithmetic_unit_in_source", arithmetic ? 1 : 0)
      .set("cast_compaction_mode", cast)
      .set("cast_compaction_count", cast ? 1 : 0);
}

/// One fxp ALU with an immediate. `source`: its number in the cluster.
inline Image fxp(const char *alu, unsigned source, unsigned op,
                 uint32_t immediate, unsigned args = 1) {
  std::string prefix = alu;
  return Image(Block::VectorArithmeticUnitMainContext)
      .set("fxp_cluster_source", source)
      .set(prefix + ".op_mode", op)
      .set(prefix + ".arg_mode", args)
      .set(prefix + ".reg0_cmp_op", 3)
      .set(prefix + ".scalar", immediate);
}

/// fxp_mul with an operand from row 3 of the VRF.
inline Image multiplyByVrf(unsigned indexer, const Loops &loops) {
  std::string prefix = "read_indexer" + std::to_string(indexer) + "_";
  return Image(Block::VectorArithmeticUnitMainContext)
      .set("fxp_cluster_source", 3)
      .set("fxp_mul.op_mode", 1)
      .set("fxp_mul.arg_mode", 1)
      .set("fxp_mul.rf_cmp_op", 3)
      .set(prefix + "module", 8)
      .set(prefix + "operation", 1)
      .set(prefix + "proceed", 1)
      .set(prefix + "element_size", 2)
      .set(prefix + "base", 96)
      .loops(prefix + "limit", prefix + "stride", loops);
}

/// 32 bytes a slice from operand 0 through one exec to operand 1.
struct Pipeline {
  uint64_t route = 0x08;
  Image fetch = mainFetch(0, {}, 32, 4, 1);
  std::vector<SfrImage> units;
  Image commit = mainCommit(0x100, {}, 32);
  uint32_t inBytes = 32;
  uint32_t outBytes = 32;
  /// Loads 32 bytes a slice of operand 2 into the VRF first.
  bool loadsVrf = false;
  /// Which waits are left out, counted from 0.
  int missingWait = -1;

  edf::Kernel build() const {
    using K = KernelBuilder;
    K b;
    unsigned in = b.operand("in", edf::Role::Input, 64 * inBytes);
    unsigned out = b.operand("out", edf::Role::Output, 64 * outBytes);
    int waits = 0;
    auto wait = [&](auto what) {
      if (waits++ == missingWait)
        return;
      if constexpr (std::is_same_v<decltype(what), ExecTarget>)
        b.wait(what);
      else
        b.waitTag(what);
    };
    b.dma(5, inBytes, K::hbm(in, 0, {eachSlice(int32_t(inBytes))}),
          K::dm(0, {acrossSlices}));
    wait(5u);
    if (loadsVrf) {
      unsigned operand = b.operand("v", edf::Role::Input, 64 * 32);
      b.dma(6, 32, K::hbm(operand, 0, {eachSlice(32)}),
            K::dm(0x200, {acrossSlices}));
      wait(6u);
      b.exec(ExecTarget::Sub, codes::routeVrfLoad,
             {subFetch(0x200, {{4, 8}}, 4, 1), Image(Block::VectorRegisterFile)
                                                   .set("row_base", 3)
                                                   .set("row_count", 1)
                                                   .set("row_stride", 1)});
      wait(ExecTarget::Sub);
    }
    b.write(fetch);
    for (const SfrImage &image : units)
      b.write(image);
    b.exec(ExecTarget::Main, route, {commit});
    wait(ExecTarget::Main);
    b.dma(7, outBytes, K::dm(0x100, {acrossSlices}),
          K::hbm(out, 0, {eachSlice(int32_t(outBytes))}));
    return b.take();
  }
};

inline std::vector<OperandBuffer> operandsFor(const edf::Kernel &kernel,
                                              uint64_t seed) {
  Random random(seed);
  std::vector<OperandBuffer> operands;
  for (const edf::Operand &operand : kernel.arguments.operands) {
    operands.emplace_back();
    if (operand.role != edf::Role::Output)
      operands.back().bytes = random.bytes(operand.bytes);
  }
  return operands;
}

} // namespace furiosa::rngd::test

#endif // FURIOSA_UNITTESTS_TARGET_SIMULATORPIPELINES_H
