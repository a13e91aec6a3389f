//===- EDFKernels.h - Kernels for tests of the binary -----------*- C++ -*-===//

#ifndef FURIOSA_UNITTESTS_TARGET_EDFKERNELS_H
#define FURIOSA_UNITTESTS_TARGET_EDFKERNELS_H

#include "furiosa/Target/RNGD/Codes.h"
#include "furiosa/Target/RNGD/EDF.h"

#include "gtest/gtest.h"

namespace furiosa::test {

/// A kernel with something in every section.
inline rngd::edf::Kernel makeKernel() {
  using namespace rngd;
  using namespace rngd::edf;
  Kernel kernel;
  SpmBuilder spm;
  SfrImage fetch(Block::SubFetchUnit);
  EXPECT_FALSE(fetch.set("base", 0x800));
  EXPECT_FALSE(fetch.setLimit("limits", 0, 65536));
  EXPECT_FALSE(fetch.set("topology", 0));
  auto fetchAddress = spm.add(fetch);
  auto again = spm.add(fetch);
  EXPECT_EQ(*fetchAddress, *again);
  EXPECT_EQ(*fetchAddress, 0x200000u);
  SfrImage route(Block::OperationDataPath);
  EXPECT_FALSE(route.set("data_path_route_sub_context", codes::routeTrfLoad));
  auto routeAddress = spm.add(route, 1);
  EXPECT_EQ(*routeAddress, 0x200070u);
  DmaDescriptor descriptor;
  descriptor.destination = dmAddress(0, 0x800);
  descriptor.sourceLimits[1] = descriptor.destinationLimits[1] = 64;
  descriptor.sourceStrides = {1024, 1024};
  descriptor.destinationStrides = {1024, 0x400000};
  auto descriptorAddress = spm.add(descriptor);
  EXPECT_EQ(*descriptorAddress, 0x200100u);
  kernel.spm = spm.take();

  TucCommand dma(TucOp::DmaW);
  EXPECT_FALSE(dma.set("desc_addr0", *descriptorAddress));
  for (const char *field : {"desc_addr1", "desc_addr2", "desc_addr3"})
    EXPECT_FALSE(dma.set(field, noDescriptor40));
  EXPECT_FALSE(dma.set("dma_tag_id", 3));
  EXPECT_FALSE(dma.setRegisters(0));
  TucCommand wait(TucOp::Wait);
  EXPECT_FALSE(wait.set("dma_tag_id", 3));
  EXPECT_FALSE(wait.set("type", codes::value(codes::WaitType::DmaTag)));
  TucCommand load(TucOp::MtoSfr);
  EXPECT_FALSE(load.set("spm_address", *fetchAddress));
  EXPECT_FALSE(load.set("size", sfrBlock(Block::SubFetchUnit).numWords()));
  EXPECT_FALSE(load.set("sfr_address", sfrAddress(Block::SubFetchUnit, 0)));
  EXPECT_FALSE(load.setRegisters(8));
  TucCommand exec(TucOp::Exec);
  EXPECT_FALSE(exec.set("subunit_bitmap", codes::subUnitsTrfLoad));
  EXPECT_FALSE(exec.set("target_context", 1));

  Program program;
  program.cluster = 0;
  using I = Instruction;
  std::vector<Instruction> &code = program.instructions;
  code.push_back(I::loop(64));
  for (unsigned i = 0; i < 4; ++i)
    code.push_back(I::set(i, dma.operand(i), 1));
  code.push_back(I::issue(dma.word(), 1));
  code.push_back(I::issue(wait.word(), 1));
  code.push_back(I::add(*descriptorAddress + DmaDescriptor::sourceOffset, -8));
  code.push_back(I::endLoop());
  code.push_back(I::set(8, load.operand(0), 0xf));
  code.push_back(I::issue(load.word(), 0xf));
  code.push_back(I::issue(exec.word(), 0xf));
  code.push_back(I::ifWord(*descriptorAddress + DmaDescriptor::sourceOffset,
                           Condition::NotLess, -1));
  code.push_back(
      I::add(*descriptorAddress + DmaDescriptor::destinationOffset, 4));
  code.push_back(I::elseIf());
  code.push_back(
      I::add(*descriptorAddress + DmaDescriptor::destinationOffset, -4));
  code.push_back(I::endIf());
  code.push_back(I::end());
  kernel.programs.push_back(program);
  kernel.programs.push_back({1, {I::end()}});

  kernel.arguments.operands = {
      {"a",
       Role::Input,
       ElementType::I8,
       65536,
       {{"I", 512}, {"K", 128}},
       "1",
       "I, K"},
      {"out", Role::Output, ElementType::BF16, 1024, {{"I", 512}}, "1", "I"},
      {"w", Role::Constant, ElementType::I8, 64, {{"I", 64}}, "1", "I"},
      {"", Role::Scratch, ElementType::I8, 4096, {}, "", ""}};
  kernel.constants = {{ConstantKind::Operand, 2, {}},
                      {ConstantKind::Table, 1, makeLookupTable(1)}};
  for (unsigned i = 0; i < 64; ++i)
    kernel.constants[0].bytes.push_back(static_cast<uint8_t>(i));
  kernel.arguments.relocations = {
      {*descriptorAddress + DmaDescriptor::sourceOffset, 0, 256}};
  kernel.plan = {{Tier::DM, 0, 0x800, 1024, 0, 1003, 3000, 0},
                 {Tier::TRF, 0, 0, 8192, 8, 2000, 4000, noName}};
  kernel.schedule.makespan = 5000;
  kernel.schedule.lowerBound = 4000;
  kernel.schedule.commands = {
      {CommandKind::Dma, 2, 1003, 2000, "load a", {5, noInstruction}},
      {CommandKind::Sub, 0, 2000, 2500, "weights", {11, noInstruction}}};
  kernel.names = {"m::kernel", {"a.dm"}};
  kernel.info = {"furiosa-opt-mlir", "rngd", "0.6"};
  kernel.locations.files = {"kernel.mlir", "lib.mlir"};
  kernel.locations.lines = {{0, 0, 0, 3, 5}, {0, 9, 1, 70, 1}, {1, 0, 0, 9, 1}};
  return kernel;
}

} // namespace furiosa::test

#endif // FURIOSA_UNITTESTS_TARGET_EDFKERNELS_H
