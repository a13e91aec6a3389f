//===- LoopOrder.h - The order of the loops of descriptors ------*- C++ -*-===//

#ifndef FURIOSA_LIB_CONVERSION_VISATOLIR_LOOPORDER_H
#define FURIOSA_LIB_CONVERSION_VISATOLIR_LOOPORDER_H

#include "furiosa/Dialect/VISA/IR/TransferPlan.h"

namespace furiosa::visa {

/// Reorders the loops of each command of `plan` so that it costs least: packets
/// in a row take turns between the two networks of a PE, unless rows of HBM
/// would then be opened again and again. Lists of rows keep their order.
void chooseLoopOrders(TransferPlan &plan, bool fromDm, bool toDm);

} // namespace furiosa::visa

#endif // FURIOSA_LIB_CONVERSION_VISATOLIR_LOOPORDER_H
