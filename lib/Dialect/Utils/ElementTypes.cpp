//===- ElementTypes.cpp - Element types as MLIR types ---------------------===//

#include "furiosa/Dialect/Utils/ElementTypes.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace furiosa;

std::optional<ElementType> furiosa::getElementType(Type type) {
  if (!type)
    return std::nullopt;
  for (unsigned i = 0; i < numElementTypes; ++i)
    if (getMLIRType(type.getContext(), ElementType(i)) == type)
      return ElementType(i);
  return std::nullopt;
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
