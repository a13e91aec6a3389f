//===- VISA.td - The visa dialect: types, attributes, interfaces -*- tablegen -*-===//
//
// What all engines share. The ops stand in one file per engine.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_VISA_IR_VISA
#define FURIOSA_DIALECT_VISA_IR_VISA

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def VISA_Dialect : Dialect {
  let name = "visa";
  let summary = "Virtual ISA: transfers and Tensor Unit chains over mapped tensors";
  let description = [{
    A kernel is a `func.func` with the unit attribute `visa.kernel`. Its ops are
    transfers between memory tiers and chains: one `visa.chain` is one execution
    of the Tensor Unit, its region lists one stage per engine in hardware order.

    Tensors are handles to buffers; their types give the memory tier, the
    element type and one mapping per hardware dimension. A kernel as a whole is
    checked when it is verified, and by the pass `visa-check`; messages name the
    rules of docs/rules.md.
  }];
  let cppNamespace = "::furiosa::visa";
  let dependentDialects = ["::furiosa::tmap::TMapDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Unit attribute of a function that is a kernel.
    static ::llvm::StringRef getKernelAttrName() { return "visa.kernel"; }
    /// Attribute of a module or function: the target it is compiled for.
    static ::llvm::StringRef getTargetAttrName() { return "visa.target"; }

    void registerTypes();
    void registerMovementOps();
    void registerFetchOps();
    void registerSwitchOps();
    void registerRegisterFileOps();
    void registerContractionOps();
    void registerVectorOps();
    void registerTransposeOps();
    void registerCommitOps();
  }];
}

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

class VISA_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::furiosa::visa";
}

def VISA_Context : VISA_Enum<"Context", "Tensor Unit context", [
    I32EnumAttrCase<"Main", 0, "main">, I32EnumAttrCase<"Sub", 1, "sub">]>;

/// In the order of the codes of the register field.
def VISA_SwitchConfig : VISA_Enum<"SwitchConfig", "configuration of the switch", [
    I32EnumAttrCase<"Forwarding", 0, "forwarding">,
    I32EnumAttrCase<"Broadcast01", 1, "broadcast01">,
    I32EnumAttrCase<"Broadcast1", 2, "broadcast1">,
    I32EnumAttrCase<"Transpose", 3, "transpose">,
    I32EnumAttrCase<"InterTranspose", 4, "inter_transpose">,
    I32EnumAttrCase<"TransposedBroadcast1", 5, "transposed_broadcast1">,
    I32EnumAttrCase<"CustomBroadcast", 6, "custom_broadcast">]>;

def VISA_LaneMode : VISA_Enum<"LaneMode", "lane folder order", [
    I32EnumAttrCase<"Sequential", 0, "sequential">,
    I32EnumAttrCase<"Interleaved", 1, "interleaved">]>;

def VISA_Dimension : VISA_Enum<"Dimension", "hardware dimension of a tensor", [
    I32EnumAttrCase<"Chip", 0, "chip">, I32EnumAttrCase<"Cluster", 1, "cluster">,
    I32EnumAttrCase<"Slice", 2, "slice">, I32EnumAttrCase<"Element", 3, "element">]>;

def VISA_TagMode : VISA_Enum<"TagMode", "how execution ids are set", [
    I32EnumAttrCase<"Zero", 0, "zero">]>;

def VISA_FxpFn : VISA_Enum<"FxpFn", "fixed-point function", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"AddSat", 1, "add_sat">,
    I32EnumAttrCase<"Sub", 2, "sub">, I32EnumAttrCase<"SubSat", 3, "sub_sat">,
    I32EnumAttrCase<"Shl", 4, "shl">, I32EnumAttrCase<"ShlSat", 5, "shl_sat">,
    I32EnumAttrCase<"MulFxp", 6, "mul_fxp">, I32EnumAttrCase<"MulInt", 7, "mul_int">,
    I32EnumAttrCase<"Shr", 8, "shr">, I32EnumAttrCase<"Sar", 9, "sar">]>;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class VISA_Attr<string name, string attrMnemonic> : AttrDef<VISA_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def VISA_TargetAttr : VISA_Attr<"Target", "target"> {
  let summary = "The chip, its release and the part of it that a kernel uses";
  let description = [{
    Stands on a module or function as `visa.target`; the nearest ancestor of an
    op wins. Without one, release 0.6 with one chip and eight PEs is meant.

    Example:
    ```mlir
    #visa.target<rngd, release = "0.6", chips = 1, pes = 8>
    ```
  }];
  let parameters = (ins StringRefParameter<"chip name">:$chip,
      StringRefParameter<"release of the toolchain">:$release,
      "int64_t":$chips, "int64_t":$pes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def VISA_SlotAttr : VISA_Attr<"Slot", "slot"> {
  let summary = "One operand slot of a vector stage";
  let description = [{
    An immediate (`imm 1`), or the next VRF operand of the op (`vrf`) where no
    immediate is given.

    Example:
    ```mlir
    #visa.slot<imm = 1 : i32>
    ```
  }];
  let parameters = (ins OptionalParameter<"::mlir::TypedAttr">:$imm);
  let assemblyFormat = "`<` (`imm` `=` $imm^)? `>`";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class VISA_TensorType<string name, string typeMnemonic> : TypeDef<VISA_Dialect, name> {
  let mnemonic = typeMnemonic;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

defvar visaTensorText = [{
    The element type, one quoted mapping per hardware dimension, and the axes
    that the mappings name. `chip "1"` and `cluster "1 # 2"` are left out when
    they are that.
}];

def VISA_HbmType : VISA_TensorType<"Hbm", "hbm"> {
  let summary = "A tensor in HBM";
  let description = visaTensorText # [{

    Example: `!visa.hbm<i8, element "N, K", #axes>`
  }];
  let parameters = (ins "::mlir::Type":$elementType, "::furiosa::tmap::AxesAttr":$axes,
      "::furiosa::tmap::MappingAttr":$chip, "::furiosa::tmap::MappingAttr":$element);
}

def VISA_DmType : VISA_TensorType<"Dm", "dm"> {
  let summary = "A tensor in the data memories of the slices";
  let description = visaTensorText # [{

    Example: `!visa.dm<i8, slice "N / 32 # 256", element "N % 32, K", #axes>`
  }];
  let parameters = (ins "::mlir::Type":$elementType, "::furiosa::tmap::AxesAttr":$axes,
      "::furiosa::tmap::MappingAttr":$chip, "::furiosa::tmap::MappingAttr":$cluster,
      "::furiosa::tmap::MappingAttr":$slice, "::furiosa::tmap::MappingAttr":$element);
}

def VISA_TrfType : VISA_TensorType<"Trf", "trf"> {
  let summary = "A tensor in the tensor register files";
  let description = visaTensorText # [{

    Example: `!visa.trf<i8, slice "N / 32 # 256", lane "N % 8", element "N / 8 % 4, K", #axes>`
  }];
  let parameters = (ins "::mlir::Type":$elementType, "::furiosa::tmap::AxesAttr":$axes,
      "::furiosa::tmap::MappingAttr":$chip, "::furiosa::tmap::MappingAttr":$cluster,
      "::furiosa::tmap::MappingAttr":$slice, "::furiosa::tmap::MappingAttr":$lane,
      "::furiosa::tmap::MappingAttr":$element);
}

def VISA_VrfType : VISA_TensorType<"Vrf", "vrf"> {
  let summary = "A tensor in the vector register files";
  let description = visaTensorText # [{

    Example: `!visa.vrf<i32, slice "A / 8 # 256", element "A % 8", #axes>`
  }];
  let parameters = (ins "::mlir::Type":$elementType, "::furiosa::tmap::AxesAttr":$axes,
      "::furiosa::tmap::MappingAttr":$chip, "::furiosa::tmap::MappingAttr":$cluster,
      "::furiosa::tmap::MappingAttr":$slice, "::furiosa::tmap::MappingAttr":$element);
}

def VISA_AnyTensor : AnyTypeOf<[VISA_HbmType, VISA_DmType, VISA_TrfType, VISA_VrfType],
    "a tensor of any memory tier">;
def VISA_HbmOrDm : AnyTypeOf<[VISA_HbmType, VISA_DmType], "an HBM or DM tensor">;

//===----------------------------------------------------------------------===//
// Interfaces
//===----------------------------------------------------------------------===//

def VISA_StageOpInterface : OpInterface<"StageOpInterface"> {
  let cppNamespace = "::furiosa::visa";
  let description = [{
    A stage of a chain: one engine on the path of the Tensor Unit.
  }];
  let methods = [
    InterfaceMethod<[{
      Checks the stage against what flows in, and turns `layout` into what
      flows out. After a fault it goes on from what the rule expects.
    }], "void", "check", (ins "::furiosa::visa::StageChecker &":$checker,
                              "::furiosa::visa::Layout &":$layout)>,
    InterfaceMethod<[{
      Checks what the stage asks of its unit, in a chain whose stages are all
      sound: what this accepts can be lowered.
    }], "void", "checkUnit", (ins "::furiosa::visa::FaultReporter &":$reporter,
                                  "const ::furiosa::visa::ChainStage &":$stage),
      "", "return;">,
  ];
}

def VISA_KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::furiosa::visa";
  let description = [{
    An op of a kernel's body outside chains.
  }];
  let methods = [
    InterfaceMethod<"Checks the rules that go beyond the op's own structure.",
      "void", "checkInKernel", (ins "::furiosa::visa::KernelChecker &":$checker)>,
  ];
}

//===----------------------------------------------------------------------===//
// Op base classes
//===----------------------------------------------------------------------===//

class VISA_Op<string opMnemonic, list<Trait> traits = []>
    : Op<VISA_Dialect, opMnemonic, traits>;

/// A stage stands only inside a chain. `methods` names what it implements of
/// the interface's optional methods.
class VISA_Stage<string opMnemonic, list<string> methods = []>
    : VISA_Op<opMnemonic, [HasParent<"::furiosa::visa::ChainOp">,
        DeclareOpInterfaceMethods<VISA_StageOpInterface, methods>]>;

#endif // FURIOSA_DIALECT_VISA_IR_VISA
