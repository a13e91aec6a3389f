//===- ElementTypes.cpp - Element types as MLIR types ---------------------===//

#include "furiosa/Dialect/Utils/ElementTypes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace furiosa;

std::optional<ElementType> furiosa::getElementType(Type type) {
  using Result = std::optional<ElementType>;
  if (!type)
    return std::nullopt;
  // By kind: types would have to be made to compare with them.
  return TypeSwitch<Type, Result>(type)
      .Case([](IntegerType integer) -> Result {
        if (integer.isUnsigned())
          return integer.getWidth() == 8 ? Result(ElementType::U8)
                                         : std::nullopt;
        if (integer.isSigned())
          return std::nullopt;
        switch (integer.getWidth()) {
        case 4:
          return ElementType::I4;
        case 5:
          return ElementType::I5;
        case 8:
          return ElementType::I8;
        case 9:
          return ElementType::I9;
        case 16:
          return ElementType::I16;
        case 32:
          return ElementType::I32;
        default:
          return std::nullopt;
        }
      })
      .Case([](Float4E2M1FNType) { return ElementType::F4E2M1; })
      .Case([](Float8E4M3FNType) { return ElementType::F8E4M3; })
      .Case([](Float8E5M2Type) { return ElementType::F8E5M2; })
      .Case([](BFloat16Type) { return ElementType::BF16; })
      .Case([](Float32Type) { return ElementType::F32; })
      .Default([](Type) { return std::nullopt; });
}

Type furiosa::getMLIRType(MLIRContext *context, ElementType type) {
  switch (type) {
  case ElementType::I4:
    return IntegerType::get(context, 4);
  case ElementType::I5:
    return IntegerType::get(context, 5);
  case ElementType::I8:
    return IntegerType::get(context, 8);
  case ElementType::I9:
    return IntegerType::get(context, 9);
  case ElementType::I16:
    return IntegerType::get(context, 16);
  case ElementType::I32:
    return IntegerType::get(context, 32);
  case ElementType::U8:
    return IntegerType::get(context, 8, IntegerType::Unsigned);
  case ElementType::F4E2M1:
    return Float4E2M1FNType::get(context);
  case ElementType::F8E4M3:
    return Float8E4M3FNType::get(context);
  case ElementType::F8E5M2:
    return Float8E5M2Type::get(context);
  case ElementType::BF16:
    return BFloat16Type::get(context);
  case ElementType::F32:
    return Float32Type::get(context);
  }
  llvm_unreachable("all element types are listed");
}
