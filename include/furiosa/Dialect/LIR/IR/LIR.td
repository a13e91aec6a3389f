//===- LIR.td - The lir dialect: types and attributes ------*- tablegen -*-===//
//
// What all lir ops share.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_LIR_IR_LIR
#define FURIOSA_DIALECT_LIR_IR_LIR

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def LIR_Dialect : Dialect {
  let name = "lir";
  let summary = "Low-level IR: one configured hardware command per op";
  let description = [{
    No mapping is left: every number is in bytes, flits, lanes or loop counts,
    except that `feed_buffer` counts elements. One `lir.exec` is one execution
    of a Tensor Unit context, its region lists the operation units on its route;
    one `lir.dma` is one transfer with a descriptor per engine.
  }];
  let cppNamespace = "::furiosa::lir";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

class LIR_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::furiosa::lir";
}

/// A number with the sign that the verifiers look at.
def LIR_Int : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit integer">;

def LIR_Tier : LIR_Enum<"Tier", "memory tier", [
    I32EnumAttrCase<"Hbm", 0, "hbm">, I32EnumAttrCase<"Dm", 1, "dm">,
    I32EnumAttrCase<"Trf", 2, "trf">, I32EnumAttrCase<"Vrf", 3, "vrf">]>;

def LIR_Context : LIR_Enum<"Context", "Tensor Unit context", [
    I32EnumAttrCase<"Main", 0, "main">, I32EnumAttrCase<"Sub", 1, "sub">]>;

/// The vendor's names of element types in feed buffers. Those that no
/// multiplier takes are here so that they can be refused by name.
def LIR_FeedType : LIR_Enum<"FeedType", "element type of a feed buffer", [
    I32EnumAttrCase<"RawInt4", 0>, I32EnumAttrCase<"RawInt5", 1>,
    I32EnumAttrCase<"RawInt8", 2>, I32EnumAttrCase<"RawInt9", 3>,
    I32EnumAttrCase<"RawF8E4M3", 4>, I32EnumAttrCase<"RawF8E5M2", 5>,
    I32EnumAttrCase<"RawBF16", 6>, I32EnumAttrCase<"RawInt16", 7>,
    I32EnumAttrCase<"RawInt32", 8>, I32EnumAttrCase<"RawUInt8", 9>,
    I32EnumAttrCase<"RawF32", 10>, I32EnumAttrCase<"RawF4E2M1", 11>]>;

def LIR_Flits : LIR_Enum<"Flits", "collect flits of a feed buffer", [
    I32EnumAttrCase<"Flit1", 1>, I32EnumAttrCase<"Flit2", 2>]>;

def LIR_LaneMode : LIR_Enum<"LaneMode", "lane folder order", [
    I32EnumAttrCase<"Sequential", 0, "sequential">,
    I32EnumAttrCase<"Interleaved", 1, "interleaved">]>;

/// In the order of the codes of the register field.
def LIR_Topology : LIR_Enum<"Topology", "configuration of the switch", [
    I32EnumAttrCase<"Forwarding", 0, "forwarding">,
    I32EnumAttrCase<"Broadcast01", 1, "broadcast01">,
    I32EnumAttrCase<"Broadcast1", 2, "broadcast1">,
    I32EnumAttrCase<"Transpose", 3, "transpose">,
    I32EnumAttrCase<"InterTranspose", 4, "inter_transpose">,
    I32EnumAttrCase<"TransposedBroadcast1", 5, "transposed_broadcast1">]>;

def LIR_CommitCast : LIR_Enum<"CommitCast", "conversion of a commit", [
    I32EnumAttrCase<"F32ToBF16", 1, "f32_to_bf16">,
    I32EnumAttrCase<"F32ToBF16Relu", 2, "f32_to_bf16_relu">]>;

/// In the order of vector::Alu.
def LIR_Alu : LIR_Enum<"Alu", "vector ALU", [
    I32EnumAttrCase<"LogicAnd", 0, "logic_and">, I32EnumAttrCase<"LogicOr", 1, "logic_or">,
    I32EnumAttrCase<"LogicXor", 2, "logic_xor">, I32EnumAttrCase<"LogicLeftShift", 3, "logic_left_shift">,
    I32EnumAttrCase<"LogicRightShift", 4, "logic_right_shift">, I32EnumAttrCase<"FxpAdd", 5, "fxp_add">,
    I32EnumAttrCase<"FxpLeftShift", 6, "fxp_left_shift">, I32EnumAttrCase<"FxpMul", 7, "fxp_mul">,
    I32EnumAttrCase<"FxpRightShift", 8, "fxp_right_shift">, I32EnumAttrCase<"FpFma", 9, "fp_fma">,
    I32EnumAttrCase<"FpFpu", 10, "fp_fpu">, I32EnumAttrCase<"FpExp", 11, "fp_exp">,
    I32EnumAttrCase<"FpMul0", 12, "fp_mul0">, I32EnumAttrCase<"FpMul1", 13, "fp_mul1">,
    I32EnumAttrCase<"FpDiv", 14, "fp_div">, I32EnumAttrCase<"ClipAdd", 15, "clip_add">,
    I32EnumAttrCase<"ClipMax", 16, "clip_max">, I32EnumAttrCase<"ClipMin", 17, "clip_min">]>;

def LIR_NarrowKind : LIR_Enum<"NarrowKind", "how eight elements become four", [
    I32EnumAttrCase<"Split", 0, "split">, I32EnumAttrCase<"Trim", 1, "trim">]>;
def LIR_WidenKind : LIR_Enum<"WidenKind", "how four elements become eight", [
    I32EnumAttrCase<"Concat", 0, "concat">, I32EnumAttrCase<"Pad", 1, "pad">]>;

class LIR_Attr<string name, string attrMnemonic> : AttrDef<LIR_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def LIR_EngineAttr : LIR_Attr<"Engine", "engine"> {
  let summary = "What one DMA engine moves";
  let description = [{
    Paired loops of a source and a target walk, outermost first, each
    `size : source stride : target stride` in bytes; the innermost step moves
    `packet` bytes. Bases are bytes from the start of an HBM buffer, or
    `slice * 4 MiB + byte` in the data memories of the engine's PE (D1 …). In
    those of another PE they are `2^39 + pe * 512 MiB + 256 MiB + slice * 4 MiB
    + byte`, pe 0 to 3 in the engine's cluster, 4 to 7 in the other one.

    In an indirect transfer the `keys` outermost loops walk a list of row numbers
    from byte `list` of the index on (an address in DM as above); on the side of
    the table they have stride 0.

    Rules:
    - LIR-3: as many source strides and target strides as sizes.
    - LIR-4: cluster 0 or 1, pe 0 to 3.
    - LIR-5: at most 7 loops of 1 to 65,536; bases and strides not negative.
    - MM-31: a packet has 1 to 4096 bytes.

    Example:
    ```mlir
    #lir.engine<cluster 0 pe 1 from 65536 to 0 loops [64 : 1024 : 4194304] packet 1024>
    ```
  }];
  let parameters = (ins "int64_t":$cluster, "int64_t":$pe, "int64_t":$source,
      "int64_t":$target, ArrayRefParameter<"int64_t">:$sizes,
      ArrayRefParameter<"int64_t">:$sourceStrides,
      ArrayRefParameter<"int64_t">:$targetStrides, "int64_t":$packet,
      "int64_t":$list, "int64_t":$keys);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def LIR_MemType : TypeDef<LIR_Dialect, "Mem"> {
  let summary = "A buffer of one memory tier";
  let description = [{
    Bytes in all for HBM, per slice for DM, TRF and VRF. A TRF buffer also says
    over how many lanes its bytes spread.

    Rules:
    - LIR-1, MM-5, TU-31, TU-35: at least 1 byte, at most the tier's capacity.
    - TU-30: lanes are 1, 2, 4 or 8.
    - LIR-2: lanes only in TRF, whose buffers hold whole rows of 32 bytes in
      every lane; VRF buffers hold whole rows of 32 bytes.

    Examples: `!lir.mem<hbm, 32768>`, `!lir.mem<trf, 2048, lanes 8>`
  }];
  let mnemonic = "mem";
  let parameters = (ins "Tier":$tier, "int64_t":$bytes, DefaultValuedParameter<"int64_t", "1">:$lanes);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Bytes of a tier: of the chip for HBM, of one slice for the others.
    static int64_t getCapacity(Tier tier);
    /// Bytes at each address range of its own: per lane in TRF, all otherwise.
    int64_t getBytesPerLane() const { return getBytes() / getLanes(); }
  }];
  let genVerifyDecl = 1;
}

#endif // FURIOSA_DIALECT_LIR_IR_LIR
