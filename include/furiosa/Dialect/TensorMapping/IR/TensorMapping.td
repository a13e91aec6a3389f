//===- TensorMapping.td - The tmap dialect -----------------*- tablegen -*-===//
//
// Axes, mappings and plain tensors: what every level above lir shares.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_DIALECT_TENSORMAPPING_IR_TENSORMAPPING
#define FURIOSA_DIALECT_TENSORMAPPING_IR_TENSORMAPPING

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/OpBase.td"

def TMap_Dialect : Dialect {
  let name = "tmap";
  let summary = "Tensor mappings: named axes and how positions map to them";
  let description = [{
    A *mapping* lays named axes out along positions, outermost first:
    `N / 8 % 4, K # 32`. The grammar, the cells and the canonical form are in
    docs/rules.md (MA-1 …). Mappings keep the spelling of the user; two mappings
    are compared by their canonical form, never by text.
  }];
  let cppNamespace = "::furiosa::tmap";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerTensorOps();
  }];
}

class TMap_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<TMap_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def TMap_AxesAttr : TMap_Attr<"Axes", "axes"> {
  let summary = "The axes that mappings may name, with their sizes";
  let description = [{
    Declares axes in order. A name starts with an upper-case letter; a size is
    at least 1; a name occurs once (MA-12).

    Example:
    ```mlir
    #axes = #tmap.axes<N = 512, K = 64>
    ```
  }];
  // Storage and parameters are written by hand: the parsed axes are kept.
  let genStorageClass = 0;
  let storageClass = "AxesAttrStorage";
  let storageNamespace = "detail";
  let parameters = (ins "::furiosa::mapping::Axes":$axes);
  let hasCustomAssemblyFormat = 1;
  let skipDefaultBuilders = 1;
  let builders = [AttrBuilder<(ins "::furiosa::mapping::Axes":$axes)>];
  let genAccessors = 0;
  let extraClassDeclaration = [{
    const ::furiosa::mapping::Axes &getAxes() const;

    // Remembers its readings here.
    friend class MappingAttr;
  }];
}

def TMap_MappingAttr : TMap_Attr<"Mapping", "mapping"> {
  let summary = "A mapping expression over declared axes";
  let description = [{
    Example:
    ```mlir
    #tmap.mapping<"N / 8 % 4, K", #axes>
    ```
  }];
  let genStorageClass = 0;
  let storageClass = "MappingAttrStorage";
  let storageNamespace = "detail";
  let parameters = (ins "::llvm::StringRef":$text, "AxesAttr":$axes);
  let hasCustomAssemblyFormat = 1;
  let skipDefaultBuilders = 1;
  let genAccessors = 0;
  let extraClassDeclaration = [{
    /// The mapping of `text`, or a null attribute and an error at `loc` that
    /// names the column.
    static MappingAttr
    getChecked(::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError,
               ::mlir::MLIRContext *context, ::llvm::StringRef text,
               AxesAttr axes);
    /// The mapping of `text` or the fault in it, without a diagnostic.
    static ::furiosa::mapping::Result<MappingAttr>
    parseText(::llvm::StringRef text, AxesAttr axes);
    /// The attribute of a mapping over `axes`.
    static MappingAttr get(const ::furiosa::mapping::Mapping &mapping,
                           AxesAttr axes);

    ::llvm::StringRef getText() const;
    AxesAttr getAxes() const;
    const ::furiosa::mapping::Mapping &getMapping() const;
  }];
}

def TMap_PlacementAttr : TMap_Attr<"Placement", "placement"> {
  let summary = "Where and when the chip does an op";
  let description = [{
    The mappings of the chain that does the work, as visa spells them: which
    slices of which clusters hold what, how the lanes of a contraction are used,
    and in which order time and packets pass. As the attribute `placement` of an
    op it pins what it names; what is left out is chosen, and
    `convert-tmap-to-visa` prints choices in this form.

    Example:
    ```mlir
    #tmap.placement<cluster = "I / 256", slice = "I / 4 % 64, J / 128", lane = "J % 8">
    ```
  }];
  let parameters = (ins OptionalParameter<"::mlir::StringAttr">:$cluster,
      OptionalParameter<"::mlir::StringAttr">:$slice,
      OptionalParameter<"::mlir::StringAttr">:$lane,
      OptionalParameter<"::mlir::StringAttr">:$time,
      OptionalParameter<"::mlir::StringAttr">:$packet,
      OptionalParameter<"::mlir::StringAttr">:$stream);
  let assemblyFormat = "`<` struct(params) `>`";
}

def TMap_TensorType : TypeDef<TMap_Dialect, "MappedTensor"> {
  let mnemonic = "tensor";
  let summary = "Elements laid out by one mapping";
  let description = [{
    The values of a tensor in the order of a mapping, without a memory: each
    live cell holds the element of its index. The mapping is a product of digits
    (MA-13) that every reader reads alike (MA-14) and that steps through each
    digit of an axis once (MA-15).

    Types are equal when their element types, their axes and the spelling of
    their mappings are; `mapping::same` compares what the mappings mean.

    Example:
    ```mlir
    !tmap.tensor<bf16, "N / 8, K # 96", #tmap.axes<N = 512, K = 64>>
    ```
  }];
  let parameters = (ins "::mlir::Type":$elementType, "MappingAttr":$mapping);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // FURIOSA_DIALECT_TENSORMAPPING_IR_TENSORMAPPING
