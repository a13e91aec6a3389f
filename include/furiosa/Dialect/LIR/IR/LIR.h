//===- LIR.h - The lir dialect ----------------------------------*- C++ -*-===//
//
// Configured hardware commands in bytes, loops, flits and lanes.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_LIR_IR_LIR_H
#define FURIOSA_DIALECT_LIR_IR_LIR_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "furiosa/Dialect/LIR/IR/LIREnums.h.inc"

#include "furiosa/Dialect/LIR/IR/LIRDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "furiosa/Dialect/LIR/IR/LIRAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "furiosa/Dialect/LIR/IR/LIRTypes.h.inc"

#define GET_OP_CLASSES
#include "furiosa/Dialect/LIR/IR/LIROps.h.inc"

#endif // FURIOSA_DIALECT_LIR_IR_LIR_H
