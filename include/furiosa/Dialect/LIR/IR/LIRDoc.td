//===- LIRDoc.td - All of lir, for the generated reference -*- tablegen -*-===//

include "furiosa/Dialect/LIR/IR/LIROps.td"
include "furiosa/Dialect/LIR/IR/LIRVectorOps.td"
