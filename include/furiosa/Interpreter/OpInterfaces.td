//===- OpInterfaces.td - What the interpreter runs ---------*- tablegen -*-===//
//
// The interfaces are attached to ops of the dialects by the interpreter's
// library, so that the dialects do not depend on it.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_INTERPRETER_OPINTERFACES
#define FURIOSA_INTERPRETER_OPINTERFACES

include "mlir/IR/OpBase.td"

def StageInterpreter : OpInterface<"StageInterpreter"> {
  let cppNamespace = "::furiosa::interpreter";
  let description = [{
    A stage of a chain that can be run by index.
  }];
  let methods = [
    InterfaceMethod<[{
      Turns the stream in `execution` into what leaves the stage. Reports a
      fault at the op.
    }], "::llvm::LogicalResult", "interpretStage",
      (ins "::furiosa::interpreter::ChainExecution &":$execution)>,
  ];
}

def KernelOpInterpreter : OpInterface<"KernelOpInterpreter"> {
  let cppNamespace = "::furiosa::interpreter";
  let description = [{
    An op of a kernel's body, outside chains, that can be run.
  }];
  let methods = [
    InterfaceMethod<[{
      Runs the op: binds its results. Reports a fault at the op.
    }], "::llvm::LogicalResult", "interpretOp",
      (ins "::furiosa::interpreter::KernelExecution &":$execution)>,
  ];
}

#endif // FURIOSA_INTERPRETER_OPINTERFACES
