//===- Passes.td - Conversions between levels --------------*- tablegen -*-===//

#ifndef FURIOSA_CONVERSION_PASSES
#define FURIOSA_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

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
    Input: kernels on `lir`. Output: a `resource.program` per kernel, commands
    in program order with tokens for every dependence (a command that reads or
    writes what another one writes, per buffer); no op of lir is left outside
    commands. Loops with constant bounds become `resource.loop`; byte offsets
    that are affine in loop counters become `advance`.
  }];
  let dependentDialects = ["::furiosa::resource::ResourceDialect"];
}

#endif // FURIOSA_CONVERSION_PASSES
