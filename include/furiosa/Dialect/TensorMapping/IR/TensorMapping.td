//===- TensorMapping.td - The tmap dialect -----------------*- tablegen -*-===//
//
// Axes and mappings: the attributes that every level above lir shares.
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

    ::llvm::StringRef getText() const;
    AxesAttr getAxes() const;
    const ::furiosa::mapping::Mapping &getMapping() const;
  }];
}

#endif // FURIOSA_DIALECT_TENSORMAPPING_IR_TENSORMAPPING
