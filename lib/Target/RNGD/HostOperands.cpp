//===- HostOperands.cpp - Operands of a binary as arrays ------------------===//

#include "furiosa/Target/RNGD/HostOperands.h"

#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace furiosa;

Expected<OperandLayout> rngd::getLayout(const edf::Operand &operand) {
  std::vector<HostAxis> axes;
  for (const edf::Axis &axis : operand.axes)
    axes.push_back({axis.name, static_cast<int64_t>(axis.size)});
  auto layout = OperandLayout::get(operand.type, axes, operand.chipMapping,
                                   operand.elementMapping);
  if (!layout)
    return createStringError("operand '" + operand.name +
                             "': " + toString(layout.takeError()));
  if (layout->sizeInBytes() != operand.bytes)
    return createStringError("operand '" + operand.name + "' has " +
                             Twine(operand.bytes) + " bytes, its mapping " +
                             Twine(layout->sizeInBytes()));
  return layout;
}
