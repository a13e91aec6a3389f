//===- Passes.td - Conversions between levels --------------*- tablegen -*-===//

#ifndef FURIOSA_CONVERSION_PASSES
#define FURIOSA_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def ConvertLinalgToTMap : Pass<"convert-linalg-to-tmap", "::mlir::ModuleOp"> {
  let summary = "Turn functions of linalg ops on tensors into kernels of tmap";
  let description = [{
    Input: functions on tensors of known sizes and the chip's element types.
    Named and generic linalg ops become contractions, reductions and element-wise
    functions, `tensor.collapse_shape` and `tensor.expand_shape` reshapes;
    arith and math ops on whole tensors are taken as well. Dimensions that one
    loop runs along get one axis. A function is converted whole or not at all:
    what has no counterpart gets a remark that says why.

    ```mlir
    %c = linalg.matmul ins(%a, %b : tensor<64x96xi8>, tensor<96x32xi8>)        // before
                       outs(%zero : tensor<64x32xi32>) -> tensor<64x32xi32>
    %c = tmap.contract %a, %b over [B] : !tmap.tensor<i8, "A, B", #axes>, …    // after
    ```
  }];
  let dependentDialects = ["::furiosa::tmap::TMapDialect"];
}

def ConvertTMapToVISA : Pass<"convert-tmap-to-visa", "::mlir::ModuleOp"> {
  let summary = "Choose where and when the chip does functions of tensors";
  let description = [{
    Input: kernels of tmap ops on tensors. Output: the same kernels on HBM tensors,
    each op a few transfers and chains; no op of tmap is left. For each op the
    placements that can be written are listed, those whose bound is above the best
    are dropped, and the others are lowered and scheduled alone; the shortest
    stays, of equal ones the first. The choice stands as `tmap.placement` at the op
    that stores the result, and may be put on the tmap op to pin it.

    ```mlir
    %c = tmap.contract %a, %b over [K] : !a, !b -> !c                      // before
    %ad = visa.to_dm %a : !a_hbm -> !a_dm                                  // after
    …
    %c = visa.to_hbm %cd {tmap.placement = #tmap.placement<…>} : !c_dm -> !c_hbm
    ```
  }];
  let options = [
    Option<"explain", "explain", "bool", "false",
           "Say at each op which placements were looked at and why they lost">,
    Option<"budget", "budget", "unsigned", "24",
           "Placements that are scheduled, per op">];
  let dependentDialects = ["::furiosa::lir::LIRDialect",
                           "::furiosa::resource::ResourceDialect",
                           "::furiosa::tmap::TMapDialect",
                           "::furiosa::visa::VISADialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def ConvertVISAToLIR : Pass<"convert-visa-to-lir", "::mlir::ModuleOp"> {
  let summary = "Lower virtual ISA kernels to configured commands";
  let description = [{
    Input: kernels that the kernel check accepts. Output: the same functions on
    `!lir.mem` buffers, one `lir.exec` per chain and one `lir.dma` per transfer;
    loops and index arithmetic stay, no op of visa is left. What an argument was
    (element type, axes, mapping) stays as its attribute `lir.operand`.

    ```mlir
    %d = visa.to_dm %a : !hbm -> !dm                                       // before
    %d = lir.alloc : !lir.mem<dm, 32>                                      // after
    lir.dma %a to %d [#lir.engine<…>] : !lir.mem<hbm, 8192>, !lir.mem<dm, 32>
    ```
  }];
  let dependentDialects = ["::furiosa::lir::LIRDialect",
                           "::furiosa::resource::ResourceDialect",
                           "::mlir::arith::ArithDialect"];
}

def ConvertLIRToResource : Pass<"convert-lir-to-resource", "::mlir::ModuleOp"> {
  let summary = "Turn lir kernels into programs of commands with dependences";
  let description = [{
    Input: kernels on `lir` (`func.func` with the unit attribute `visa.kernel`)
    whose arguments are in HBM, with the attributes `lir.pes` (PEs of a cluster),
    `lir.clusters` and `lir.release`; each argument and result may have
    `lir.operand` and `lir.name`. Output: a `resource.program` per kernel,
    commands in program order with tokens for every dependence (a command that
    reads or writes what another one writes, per buffer); no op of lir is left
    outside commands. Loops with constant bounds become `resource.loop`, those
    without a trip vanish, those of one trip dissolve; byte offsets that are
    affine in loop counters become part of the bases and `advance`.

    Operands are the arguments (`inout` if some command writes them), the
    returned allocations, and `scratch` for all other allocations in HBM. If
    all of them together are more than HBM holds, scratch that does not live at
    a time in program order shares bytes of one operand (MM-5).

    Not yet supported, each an error: returned arguments, a buffer returned
    twice, branches, bounds or offsets known only at run time, engines that
    touch the same bytes of HBM where one of them writes.

    ```mlir
    %d = lir.alloc : !lir.mem<dm, 32>                                 // before
    lir.dma %a to %d engines [#lir.engine<…>] : …
    %d = resource.buffer : !lir.mem<dm, 32>                           // after
    %t = resource.issue dma {
      lir.dma %a to %d engines [#lir.engine<…>] : …
    } : !resource.token
    ```
  }];
  let options = [
    Option<"hbmBytes", "hbm-bytes", "int64_t", "0",
           "Bytes of HBM for all operands of a kernel; 0 for all that a chip has">,
  ];
  let dependentDialects = ["::furiosa::resource::ResourceDialect"];
}

#endif // FURIOSA_CONVERSION_PASSES
