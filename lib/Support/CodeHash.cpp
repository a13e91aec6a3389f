//===- CodeHash.cpp - Hash of tensor contents -----------------------------===//
//
// Hash of a whole tensor.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Support/CodeHash.h"

namespace furiosa {

uint64_t hashCodes(ElementType type, llvm::ArrayRef<uint32_t> codes) {
  CodeHash hash(type);
  for (uint32_t code : codes)
    hash.add(code);
  return hash.value();
}

} // namespace furiosa
