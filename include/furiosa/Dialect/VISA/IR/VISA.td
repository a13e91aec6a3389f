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
  let hasRegionArgAttrVerify = 1;
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
    I32EnumAttrCase<"Zero", 0, "zero">, I32EnumAttrCase<"Compare", 1, "compare">,
    I32EnumAttrCase<"AxisToggle", 2, "axis_toggle">,
    I32EnumAttrCase<"ValidCount", 3, "valid_count">, I32EnumAttrCase<"Vrf", 4, "vrf">]>;

/// In the order of vector::Comparison.
def VISA_Comparison : VISA_Enum<"Comparison", "comparison of a tag", [
    I32EnumAttrCase<"Equal", 0, "equal">, I32EnumAttrCase<"Less", 1, "less">,
    I32EnumAttrCase<"Greater", 2, "greater">,
    I32EnumAttrCase<"LessUnsigned", 3, "less_unsigned">,
    I32EnumAttrCase<"GreaterUnsigned", 4, "greater_unsigned">,
    I32EnumAttrCase<"True", 5, "true">, I32EnumAttrCase<"False", 6, "false">]>;

/// Names of the functions of all clusters; which cluster has which stands in
/// VectorOps.def. `mul` leaves the multiplier open.
def VISA_VectorFn : VISA_Enum<"VectorFn", "function of a vector stage", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"AddSat", 1, "add_sat">,
    I32EnumAttrCase<"Sub", 2, "sub">, I32EnumAttrCase<"SubSat", 3, "sub_sat">,
    I32EnumAttrCase<"Shl", 4, "shl">, I32EnumAttrCase<"ShlSat", 5, "shl_sat">,
    I32EnumAttrCase<"Shr", 6, "shr">, I32EnumAttrCase<"Sar", 7, "sar">,
    I32EnumAttrCase<"SarRound", 8, "sar_round">, I32EnumAttrCase<"And", 9, "and">,
    I32EnumAttrCase<"Or", 10, "or">, I32EnumAttrCase<"Xor", 11, "xor">,
    I32EnumAttrCase<"MulFxp", 12, "mul_fxp">, I32EnumAttrCase<"MulInt", 13, "mul_int">,
    I32EnumAttrCase<"Mul", 14, "mul">, I32EnumAttrCase<"Mul0", 15, "mul0">,
    I32EnumAttrCase<"Mul1", 16, "mul1">, I32EnumAttrCase<"MulFma", 17, "mul_fma">,
    I32EnumAttrCase<"Fma", 18, "fma">, I32EnumAttrCase<"Div", 19, "div">,
    I32EnumAttrCase<"Exp", 20, "exp">, I32EnumAttrCase<"NegExp", 21, "neg_exp">,
    I32EnumAttrCase<"Sqrt", 22, "sqrt">, I32EnumAttrCase<"Tanh", 23, "tanh">,
    I32EnumAttrCase<"Sigmoid", 24, "sigmoid">, I32EnumAttrCase<"Erf", 25, "erf">,
    I32EnumAttrCase<"Ln", 26, "ln">, I32EnumAttrCase<"Sin", 27, "sin">,
    I32EnumAttrCase<"Cos", 28, "cos">, I32EnumAttrCase<"Max", 29, "max">,
    I32EnumAttrCase<"Min", 30, "min">, I32EnumAttrCase<"AbsMax", 31, "abs_max">,
    I32EnumAttrCase<"AbsMin", 32, "abs_min">]>;

def VISA_SlotKind : VISA_Enum<"SlotKind", "source of an operand", [
    I32EnumAttrCase<"Imm", 0, "imm">, I32EnumAttrCase<"Vrf", 1, "vrf">,
    I32EnumAttrCase<"Stash", 2, "stash">, I32EnumAttrCase<"Skip", 3, "skip">,
    I32EnumAttrCase<"Apply", 4, "apply">]>;

def VISA_NarrowKind : VISA_Enum<"NarrowKind", "how eight elements become four", [
    I32EnumAttrCase<"Split", 0, "split">, I32EnumAttrCase<"Trim", 1, "trim">]>;
def VISA_WidenKind : VISA_Enum<"WidenKind", "how four elements become eight", [
    I32EnumAttrCase<"Concat", 0, "concat">, I32EnumAttrCase<"Pad", 1, "pad">]>;

def VISA_ZipStage : VISA_Enum<"ZipStage", "cluster that fuses two groups", [
    I32EnumAttrCase<"Logic", 0, "logic">, I32EnumAttrCase<"Fxp", 1, "fxp">,
    I32EnumAttrCase<"Fp", 2, "fp">, I32EnumAttrCase<"Clip", 3, "clip">]>;

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
    An immediate, the VRF operand of the op, the stash; in pair mode also nothing
    (`skip`) or, for a function without operands, `apply`. `with` is the second
    operand of a ternary function, `guard` names the execution ids that the slot
    applies to, bit 0 first.

    Example:
    ```mlir
    #visa.slot<imm value 2.0 : f32 with 1.0 : f32 if "1---">
    ```
  }];
  let parameters = (ins EnumParameter<VISA_SlotKind>:$kind,
      OptionalParameter<"::mlir::TypedAttr">:$value,
      OptionalParameter<"::mlir::TypedAttr">:$with,
      StringRefParameter<"execution ids", "\"\"">:$guard);
  let assemblyFormat = [{
    `<` $kind (`value` $value^)? (`with` $with^)? (`if` $guard^)? `>`
  }];
  let builders = [AttrBuilder<(ins "::furiosa::visa::SlotKind":$kind), [{
    return $_get($_ctxt, kind, ::mlir::TypedAttr(), ::mlir::TypedAttr(), "");
  }]>];
  let extraClassDeclaration = [{
    /// The ids that the slot applies to; all where the text is no guard.
    ::furiosa::vector::Guard getIds() const;
  }];
}

def VISA_WindowAttr : VISA_Attr<"Window", "window"> {
  let summary = "Rows of a tensor that a fetch reads in windows";
  let description = [{
    Row `over` of the source is the sum of `digits`, each times its factor, and
    `start`. Digits are quoted mappings, or names of axes.

    Example:
    ```mlir
    #visa.window<Y = "P % 7" * 2 + R>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$over,
      ArrayRefParameter<"::mlir::StringAttr">:$digits,
      ArrayRefParameter<"int64_t">:$factors, "int64_t":$start);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}
def VISA_WindowArrayAttr
    : TypedArrayAttrBase<VISA_WindowAttr, "rows that are read in windows">;

def VISA_CompareAttr : VISA_Attr<"Compare", "compare"> {
  let summary = "How one bit of the execution id is made";
  let description = [{
    Example:
    ```mlir
    #visa.compare<less, 10 : i32>
    ```
  }];
  let parameters = (ins EnumParameter<VISA_Comparison>:$kind,
      OptionalParameter<"::mlir::TypedAttr">:$boundary);
  let assemblyFormat = "`<` $kind (`,` $boundary^)? `>`";
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

def VISA_VectorAluInterface : OpInterface<"VectorAluInterface"> {
  let cppNamespace = "::furiosa::visa";
  let description = [{
    A vector stage that claims an ALU and takes operand slots.
  }];
  let methods = [
    InterfaceMethod<"The cluster of the stage.", "::furiosa::vector::Cluster", "getCluster">,
    InterfaceMethod<"The function's name in the table of operations.", "::llvm::StringRef", "getFnName">,
    InterfaceMethod<"The operand slots, #visa.slot, in match order.", "::mlir::ArrayAttr", "getSlots">,
    InterfaceMethod<"VRF tensors of the slots.", "::mlir::OperandRange", "getTensors">,
    InterfaceMethod<"Where the arguments come from; the default if absent.",
      "::std::optional<::llvm::StringRef>", "getMode">,
    InterfaceMethod<"The ids that a function without operands applies to.",
      "::std::optional<::llvm::StringRef>", "getGuard">,
    InterfaceMethod<"Whether the two slots belong to the groups of pair mode.", "bool", "getGroup">,
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
    : Op<VISA_Dialect, opMnemonic, traits> {
  /// `attr-dict` of a format whose other clauses spell all attributes that the
  /// op declares: so they are not gathered in a dictionary for each op printed.
  string attrDict = " `` custom<Spelled>(prop-dict) attr-dict";
}

/// A stage stands only inside a chain. `methods` names what it implements of
/// the interface's optional methods.
class VISA_Stage<string opMnemonic, list<string> methods = [], list<Trait> traits = []>
    : VISA_Op<opMnemonic, [HasParent<"::furiosa::visa::ChainOp">,
        DeclareOpInterfaceMethods<VISA_StageOpInterface, methods>] # traits>;

#endif // FURIOSA_DIALECT_VISA_IR_VISA
