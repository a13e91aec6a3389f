//===- ControlTest.cpp - Loops, branches, views and copies ----------------===//

#include "InterpreterTestBase.h"

using namespace furiosa;
using namespace furiosa::interpreter;

namespace {
class ControlTest : public InterpreterTest {
protected:
  /// A kernel over A = 8 with a tile of one cell in a loop. `body` sees the
  /// index %i, HBM tensors %a and %y, and copies cell by cell with @@COPY
  /// from %s to %t.
  static std::string kernelText(llvm::StringRef body) {
    std::string text = R"(
#axes = #tmap.axes<A = 8, B = 3>
!h = !visa.hbm<i32, element "A", #axes>
!one = !visa.hbm<i32, element "A = 1 # 8", #axes>
!two = !visa.hbm<i32, element "A = 2 # 8", #axes>
!d = !visa.dm<i32, slice "1 # 256", element "A = 1 # 8", #axes>
!e = !visa.dm<i32, slice "1 # 256", element "A = 2 # 8", #axes>
func.func @k(%a: !h) -> !h attributes {visa.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %y = visa.alloc : !h
)";
    return text + body.str() + "\n  return %y : !h\n}\n";
  }

  HostTensor runBody(llvm::StringRef body) {
    if (!parse(kernelText(body), /*check=*/false))
      return {};
    return run(fill({Fill::iota(10)}))[0];
  }
};
} // namespace

TEST_F(ControlTest, UnwrittenResultIsUndefined) {
  HostTensor result = runBody("");
  EXPECT_EQ(result.defined, std::vector<uint8_t>(8, 0));
}

TEST_F(ControlTest, LoopReversesThroughTiles) {
  HostTensor result = runBody(R"(
  scf.for %i = %c0 to %c8 step %c1 {
    %j = arith.subi %c7, %i : index
    %s = visa.tile %a[%i] along "A" take 1 : !h -> !one
    %m = visa.to_dm %s : !one -> !d
    %t = visa.tile %y[%j] along "A" take 1 : !h -> !one
    visa.copy %m into %t : !d, !one
  })");
  EXPECT_EQ(result.codes,
            (std::vector<uint32_t>{17, 16, 15, 14, 13, 12, 11, 10}));
  EXPECT_EQ(result.defined, std::vector<uint8_t>(8, 1));
}

TEST_F(ControlTest, ZeroTripsAndPartialSteps) {
  HostTensor result = runBody(R"(
  scf.for %i = %c8 to %c0 step %c1 {
    %s = visa.tile %a[%i] along "A" take 1 : !h -> !one
  }
  scf.for %i = %c1 to %c8 step %c3 {
    %s = visa.tile %a[%i] along "A" take 1 : !h -> !one
    %m = visa.to_dm %s : !one -> !d
    %t = visa.tile %y[%i] along "A" take 1 : !h -> !one
    visa.copy %m into %t : !d, !one
  })");
  EXPECT_EQ(result.defined, (std::vector<uint8_t>{0, 1, 0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(result.codes[4], 14u);
}

TEST_F(ControlTest, LastStepMayPassTheRange) {
  HostTensor result = runBody(R"(
  %max = arith.constant 9223372036854775807 : index
  %low = arith.constant 9223372036854775800 : index
  %n = scf.for %i = %low to %max step %c3 iter_args(%k = %c0) -> index {
    %next = arith.addi %k, %c1 : index
    scf.yield %next : index
  }
  %s = visa.tile %a[%n] along "A" take 1 : !h -> !one
  %m = visa.to_dm %s : !one -> !d
  %t = visa.tile %y[0] along "A" take 1 : !h -> !one
  visa.copy %m into %t : !d, !one)");
  EXPECT_EQ(result.codes[0], 13u);
}

TEST_F(ControlTest, Branches) {
  HostTensor result = runBody(R"(
  scf.for %i = %c0 to %c8 step %c1 {
    %low = arith.cmpi slt, %i, %c3 : index
    %j = arith.select %low, %c2, %i : index
    scf.if %low {
      %s = visa.tile %a[%j] along "A" take 1 : !h -> !one
      %m = visa.to_dm %s : !one -> !d
      %t = visa.tile %y[%i] along "A" take 1 : !h -> !one
      visa.copy %m into %t : !d, !one
    }
  })");
  EXPECT_EQ(result.defined, (std::vector<uint8_t>{1, 1, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(result.codes[0], 12u);
  EXPECT_EQ(result.codes[1], 12u);
}

TEST_F(ControlTest, NestedWindows) {
  // Cell 1 of the window that begins at 5 is cell 6.
  HostTensor result = runBody(R"(
  %w = visa.tile %a[5] along "A" take 2 : !h -> !two
  %s = visa.tile %w[%c1] along "A" take 1 : !two -> !one
  %m = visa.to_dm %s : !one -> !d
  %v = visa.tile %y[2] along "A" take 2 : !h -> !two
  %t = visa.tile %v[1] along "A" take 1 : !two -> !one
  visa.copy %m into %t : !d, !one)");
  EXPECT_EQ(result.defined, (std::vector<uint8_t>{0, 0, 0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(result.codes[3], 16u);
}

TEST_F(ControlTest, WriteOfUndefinedCells) {
  // The second copy overwrites cell 1 with the unknown second cell of %s.
  HostTensor result = runBody(R"(
  %x = visa.alloc : !h
  %s = visa.tile %a[0] along "A" take 1 : !h -> !one
  %m = visa.to_dm %s : !one -> !d
  %p = visa.tile %x[0] along "A" take 1 : !h -> !one
  visa.copy %m into %p : !d, !one
  %w = visa.tile %a[0] along "A" take 2 : !h -> !two
  %n = visa.to_dm %w : !two -> !e
  %t = visa.tile %y[0] along "A" take 2 : !h -> !two
  visa.copy %n into %t : !e, !two
  %q = visa.tile %x[0] along "A" take 2 : !h -> !two
  %o = visa.to_dm %q : !two -> !e
  visa.copy %o into %t : !e, !two)");
  EXPECT_EQ(result.defined, (std::vector<uint8_t>{1, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_F(ControlTest, ReplicatedAxesMayComeToDiffer) {
  // %d holds one value per A in each of three slices; then one slice changes.
  std::string text = R"(
#axes = #tmap.axes<A = 4, B = 3>
!a = !visa.hbm<i32, element "A", #axes>
!ab = !visa.hbm<i32, element "B, A", #axes>
!row = !visa.hbm<i32, element "B = 1 # 3, A", #axes>
!d = !visa.dm<i32, slice "B # 256", element "A", #axes>
!s = !visa.dm<i32, slice "1 # 256", element "A", #axes>
func.func @k(%a: !a, %b: !a) -> !ab attributes {visa.kernel} {
  %d = visa.to_dm %a : !a -> !d
  %o = visa.to_hbm %d : !d -> !ab
  %e = visa.to_dm %b : !a -> !s
  %t = visa.tile %o[1] along "B" take 1 : !ab -> !row
  visa.copy %e into %t : !s, !row
  return %o : !ab
}
)";
  EXPECT_EQ(runCodes(text, {{1, 2, 3, 4}, {5, 6, 7, 8}}),
            (std::vector<uint32_t>{1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4}));
}

TEST_F(ControlTest, WrittenArgumentIsAnOutput) {
  ASSERT_TRUE(parse(R"(
#axes = #tmap.axes<A = 4>
!a = !visa.hbm<i32, element "A", #axes>
!d = !visa.dm<i32, slice "1 # 256", element "A", #axes>
func.func @k(%a: !a, %b: !a) attributes {visa.kernel} {
  %d = visa.to_dm %a : !a -> !d
  visa.copy %d into %b : !d, !a
  return
}
)",
                    /*check=*/false));
  auto outputs = getOutputs(kernel);
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].name, "arg1");
  auto results = run(fill({Fill::iota(3), Fill::constant(0)}));
  EXPECT_EQ(results[0].codes, (std::vector<uint32_t>{3, 4, 5, 6}));
}

TEST_F(ControlTest, Faults) {
  auto fault = [&](llvm::StringRef body) {
    return runFault(kernelText(body), {Fill::iota()});
  };
  EXPECT_EQ(fault("%q = arith.shrui %c8, %c3 : index"),
            "not yet supported: the interpreter has no model of "
            "'arith.shrui'\n");
  EXPECT_EQ(fault(R"(%s = visa.tile %a[%c8] along "A" take 1 : !h -> !one)"),
            "MM-37: a window of 1 from 8 does not lie in the live cells of "
            "\"A\", which has 8 positions\n");
  EXPECT_EQ(fault(R"(%s = visa.tile %a[%c7] along "A" take 2 : !h -> !two)"),
            "MM-37: a window of 2 from 7 does not lie in the live cells of "
            "\"A\", which has 8 positions\n");
  EXPECT_EQ(fault("scf.for %i = %c0 to %c8 step %c0 {\n}"),
            "a loop step of 0\n");
  EXPECT_EQ(fault("%f = arith.constant dense<0> : tensor<2xi32>"),
            "not yet supported: a constant of type 'tensor<2xi32>'\n");
}
