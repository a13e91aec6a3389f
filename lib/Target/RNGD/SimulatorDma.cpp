//===- SimulatorDma.cpp - Tensor DMA --------------------------------------===//
//
// Moves packets between operands in HBM and the slices of PEs.
//
//===----------------------------------------------------------------------===//

#include "SimulatorImpl.h"
#include "SimulatorRaces.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"

using namespace furiosa::rngd;
using namespace furiosa::rngd::sim;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;

static Error checkStrides(llvm::ArrayRef<uint32_t> limits,
                          llvm::ArrayRef<int32_t> strides,
                          llvm::StringRef field) {
  // Loop 0 holds the packet size in its stride, whatever its limit.
  for (unsigned k = 1; k < limits.size(); ++k)
    if (limits[k] == 1 && strides[k] != 0)
      return llvm::createStringError(
          "DMA descriptor: " + field + "[" + Twine(k) +
          "]: the loop runs once, so its stride must be 0, found " +
          Twine(strides[k]));
  return Error::success();
}

Expected<DmaDescriptor> sim::decodeDescriptor(llvm::ArrayRef<uint8_t> bytes) {
  Expected<DmaDescriptor> descriptor = DmaDescriptor::decode(bytes);
  if (!descriptor)
    return descriptor;
  bool isIndirect = descriptor->opcode != DmaOpcode::TensorLoop;
  if (!isIndirect &&
      (descriptor->indirectDimension != 0 || descriptor->indirectList))
    return llvm::createStringError(
        "DMA descriptor: indirect: field is unused in this mode and must be 0");
  if (isIndirect &&
      (descriptor->indirectDimension == 0 || !descriptor->indirectList))
    return llvm::createStringError("DMA descriptor: indirect: not yet "
                                   "supported: addresses in the descriptor");
  for (auto [k, index] : llvm::enumerate(descriptor->indirectIndices))
    if (index != 0 && (!isIndirect || k > 2))
      return llvm::createStringError(
          "DMA descriptor: indirect_indices[" + Twine(k) +
          "]: field is unused in this mode and must be 0, found " +
          Twine(index));
  if (Fault fault = descriptor->check())
    return llvm::createStringError("DMA descriptor: " + *fault);
  if (Error error = checkStrides(descriptor->sourceLimits,
                                 descriptor->sourceStrides, "source_strides"))
    return error;
  if (Error error =
          checkStrides(descriptor->destinationLimits,
                       descriptor->destinationStrides, "destination_strides"))
    return error;
  return descriptor;
}

namespace {

/// Addresses of the packets of one side. Strides are signed; sums wrap and are
/// checked where they are used.
class PacketCounter {
public:
  PacketCounter(uint64_t base, llvm::ArrayRef<uint32_t> limits,
                llvm::ArrayRef<int32_t> strides)
      : limits(limits), strides(strides), position(base) {}

  uint64_t address() const { return position; }
  uint32_t digit(unsigned loop) const { return digits[loop]; }
  void next() {
    for (unsigned k = 0; k < limits.size(); ++k) {
      uint64_t stride = static_cast<uint64_t>(int64_t(strides[k]));
      if (++digits[k] < limits[k]) {
        position += stride;
        return;
      }
      digits[k] = 0;
      position -= uint64_t(limits[k] - 1) * stride;
    }
  }

private:
  llvm::ArrayRef<uint32_t> limits;
  llvm::ArrayRef<int32_t> strides;
  std::array<uint32_t, 8> digits = {};
  uint64_t position;
};

/// Where a packet is.
struct Place {
  TrackedMemory *memory;
  uint64_t offset;
};

class Mover {
public:
  Mover(SliceLookup slices, OperandMemory &operands, DmaFootprint &footprint,
        unsigned pe)
      : slices(slices), operands(operands), footprint(footprint), pe(pe) {}

  Expected<Place> find(uint64_t address, uint64_t bytes, bool isWrite) {
    if (address >= machine::hbmBase) {
      auto found = operands.find(address, bytes);
      if (!found)
        return found.takeError();
      auto [operand, offset] = *found;
      if (Error error = operands.use(operand, offset, bytes, pe, isWrite))
        return error;
      if (operands.isWritable(operand))
        footprint.insert(DmaFootprint::ofOperand(operand), offset, bytes,
                         isWrite);
      return Place{&operands.memory(operand), offset};
    }
    unsigned owner = pe;
    uint64_t local = address;
    if (address >= machine::remoteBase) {
      // PEs 0 to 3 are those of the own cluster.
      AddressLocation place = locate(address);
      unsigned cluster = pe / machine::pesPerCluster;
      owner = (place.unit + cluster * machine::pesPerCluster) % machine::pes;
      if (place.unit >= machine::pes)
        owner = machine::pes;
      local = place.offset;
      if (owner == pe)
        return llvm::createStringError(
            "address 0x" + Twine::utohexstr(address) +
            " names the PE itself, whose data memory has a local address");
    }
    uint64_t relative = local - machine::dmBase;
    uint64_t slice = relative / machine::dmSliceStride;
    uint64_t offset = relative % machine::dmSliceStride;
    if (owner >= machine::pes || local < machine::dmBase ||
        slice >= machine::slicesPerPE)
      return llvm::createStringError(
          "address 0x" + Twine::utohexstr(address) +
          " is neither in an operand nor in the data memory of a PE");
    if (offset + bytes > machine::dmSliceBytes)
      return llvm::createStringError(
          "address 0x" + Twine::utohexstr(address) + ": bytes " +
          Twine(offset) + " to " + Twine(offset + bytes - 1) + " of slice " +
          Twine(slice) + ", which has " + Twine(machine::dmSliceBytes));
    footprint.insert(DmaFootprint::ofSlice(owner, static_cast<unsigned>(slice)),
                     offset, bytes, isWrite);
    return Place{&slices(owner)[slice].dm, offset};
  }

  /// The bytes that the list of an indirect transfer adds at a step.
  Expected<uint64_t> entry(const DmaDescriptor &descriptor, uint32_t step) {
    Expected<Place> place =
        find(descriptor.listAddress() + 4 * uint64_t(step), 4, false);
    if (!place)
      return place.takeError();
    if (!place->memory->allDefined(place->offset, 4))
      return llvm::createStringError("entry " + Twine(step) + " is undefined");
    uint8_t bytes[4];
    place->memory->read(place->offset, bytes, 4);
    auto value = static_cast<int32_t>(llvm::support::endian::read32le(bytes));
    if (value < 0)
      return llvm::createStringError("entry " + Twine(step) + " is " +
                                     Twine(value));
    return uint64_t(value) * descriptor.listScale();
  }

private:
  SliceLookup slices;
  OperandMemory &operands;
  DmaFootprint &footprint;
  unsigned pe;
};

} // namespace

Error sim::runDma(const DmaDescriptor &descriptor, SliceLookup slices,
                  OperandMemory &operands, DmaFootprint &footprint,
                  unsigned pe) {
  uint64_t bytes = descriptor.packetBytes();
  uint64_t packets = descriptor.numPackets().value_or(0);
  Mover mover(slices, operands, footprint, pe);
  PacketCounter source(descriptor.source, descriptor.sourceLimits,
                       descriptor.sourceStrides);
  PacketCounter destination(descriptor.destination,
                            descriptor.destinationLimits,
                            descriptor.destinationStrides);
  bool isGather = descriptor.opcode == DmaOpcode::SourceIndirect;
  bool isScatter = descriptor.opcode == DmaOpcode::DestinationIndirect;
  for (uint64_t k = 0; k < packets; ++k) {
    uint64_t moved = 0;
    if (isGather || isScatter) {
      Expected<uint64_t> entry =
          mover.entry(descriptor, (isGather ? source : destination)
                                      .digit(descriptor.indirectDimension));
      if (!entry)
        return llvm::createStringError("DMA list: " +
                                       llvm::toString(entry.takeError()));
      moved = *entry;
    }
    Expected<Place> from = mover.find(source.address() + (isGather ? moved : 0),
                                      bytes, /*isWrite=*/false);
    if (!from)
      return llvm::createStringError("DMA source: " +
                                     llvm::toString(from.takeError()));
    Expected<Place> to =
        mover.find(destination.address() + (isScatter ? moved : 0), bytes,
                   /*isWrite=*/true);
    if (!to)
      return llvm::createStringError("DMA destination: " +
                                     llvm::toString(to.takeError()));
    to->memory->copyFrom(to->offset, *from->memory, from->offset, bytes);
    source.next();
    destination.next();
  }
  return Error::success();
}
