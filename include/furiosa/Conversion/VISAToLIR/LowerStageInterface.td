//===- LowerStageInterface.td - Lowering of one stage ------*- tablegen -*-===//

#ifndef FURIOSA_CONVERSION_VISATOLIR_LOWERSTAGEINTERFACE
#define FURIOSA_CONVERSION_VISATOLIR_LOWERSTAGEINTERFACE

include "mlir/IR/OpBase.td"

def LowerStageInterface : OpInterface<"LowerStageInterface"> {
  let cppNamespace = "::furiosa";
  let description = [{
    How a stage of a `visa.chain` becomes operation units of a `lir.exec`. The
    conversion attaches a model to each stage op, so that the conversion itself
    has no list of them.
  }];
  let methods = [
    InterfaceMethod<"Creates the units of a stage that the kernel check has accepted.",
      "void", "lower", (ins "const ::furiosa::StageLowering &":$stage,
                            "::mlir::OpBuilder &":$builder)>,
  ];
}

#endif // FURIOSA_CONVERSION_VISATOLIR_LOWERSTAGEINTERFACE
