//===- Passes.td - Passes on visa --------------------------*- tablegen -*-===//

#ifndef FURIOSA_DIALECT_VISA_TRANSFORMS_PASSES
#define FURIOSA_DIALECT_VISA_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def VISACheck : Pass<"visa-check", "::mlir::func::FuncOp"> {
  let summary = "Check kernels against the rules of the chip";
  let description = [{
    The check that also runs when a kernel is verified: axes, device grid,
    release and every stage of every chain. Reports every fault it can tell
    from the others, and changes nothing. A public function that is no kernel
    and handles tensors is refused: nothing would lower it. Beyond that it warns of what devices
    were seen to hang on (docs/rules.md, Warnings), as convert-visa-to-lir does.
  }];
}

#endif // FURIOSA_DIALECT_VISA_TRANSFORMS_PASSES
