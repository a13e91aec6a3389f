//===- Resource.td - The resource dialect: types, attributes -*- tablegen -*-===//

#ifndef FURIOSA_DIALECT_RESOURCE_IR_RESOURCE
#define FURIOSA_DIALECT_RESOURCE_IR_RESOURCE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Resource_Dialect : Dialect {
  let name = "resource";
  let summary = "Lir commands issued: engines, addresses, cycles, waits";
  let description = [{
    Block order is issue order: the chip has one in-order command queue per PE,
    `issue` starts work and returns, `wait` blocks the queue. Before scheduling,
    commands carry tokens and `after` operands, the dependences; the pass
    `resource-schedule` fixes order, addresses and cycles, drops the tokens and
    inserts the waits. The unit attribute `resource.keep_order` on a program, a
    loop or the kernel that becomes a program fixes the order of its commands;
    `resource.pipeline_loops = false` on a program or kernel keeps the iterations
    of its loops apart.
  }];
  let cppNamespace = "::furiosa::resource";
  let dependentDialects = ["::furiosa::lir::LIRDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

class Resource_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::furiosa::resource";
}

def Resource_Role : Resource_Enum<"Role", "what an HBM operand is for", [
    I32EnumAttrCase<"Input", 0, "input">, I32EnumAttrCase<"Output", 1, "output">,
    I32EnumAttrCase<"InOut", 2, "inout">, I32EnumAttrCase<"Scratch", 3, "scratch">]>;

def Resource_Engine : Resource_Enum<"Engine", "what a command runs on", [
    I32EnumAttrCase<"Main", 0, "main">, I32EnumAttrCase<"Sub", 1, "sub">,
    I32EnumAttrCase<"Dma", 2, "dma">]>;

def Resource_Condition : Resource_Enum<"Condition", "what a number is compared for", [
    I32EnumAttrCase<"Equal", 0, "eq">, I32EnumAttrCase<"NotEqual", 1, "ne">,
    I32EnumAttrCase<"Less", 2, "lt">, I32EnumAttrCase<"NotLess", 3, "ge">]>;

def Resource_TokenType : TypeDef<Resource_Dialect, "Token"> {
  let summary = "The completion of a command";
  let mnemonic = "token";
}

def Resource_OperandAttr : AttrDef<Resource_Dialect, "Operand"> {
  let summary = "What an HBM operand held as a tensor";
  let description = [{
    Element type, axes with sizes, and the mappings, as text for EDF and
    arrays on the host; nothing below computes with it.

    Rules:
    - RES-1: one size, at least 1, for each axis; names not empty and distinct.
    - RES-2: the element type is one that the chip keeps in memory.
    - RES-23: chip and element are mappings over the axes, of whole bytes.

    Example:
    ```mlir
    #resource.operand<i8, chip "1", element "I, K", axes ["I", "K"] sizes [512, 64]>
    ```
  }];
  let mnemonic = "operand";
  let parameters = (ins "::mlir::Type":$elementType, StringRefParameter<"">:$chip,
      StringRefParameter<"">:$element, ArrayRefParameter<"::mlir::StringAttr">:$axes,
      ArrayRefParameter<"int64_t">:$sizes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Bytes of the tensor: the parts of all chips.
    int64_t getBytes() const;
  }];
}

#endif // FURIOSA_DIALECT_RESOURCE_IR_RESOURCE
