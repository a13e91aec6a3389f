//===- ExecConfigContraction.cpp - Registers of the dot-product engine ----===//
//
// Decodes the dot-product engine and checks that feed buffer, TRF sequencer,
// reduction tree, accumulator and lane folder fit together.
//
//===----------------------------------------------------------------------===//

#include "ImageReader.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/Support/MathExtras.h"

using namespace furiosa;
using namespace furiosa::rngd;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

/// Sets `config.type` from the three fields that say it.
static Error decodeType(ImageReader &reader, DotProductConfig &config) {
  using codes::FeedDataType;
  using codes::MacType;
  using codes::TrfDataType;
  FeedDataType feed;
  TrfDataType stored;
  uint64_t code = reader.take("mac_type");
  if (code > value(MacType::BF16))
    return reader.fail("mac_type", "unknown code " + Twine(code));
  switch (static_cast<MacType>(code)) {
  case MacType::Int4:
    config.type = ElementType::I4;
    feed = FeedDataType::Bits4;
    stored = TrfDataType::I5;
    break;
  case MacType::Int8:
    config.type = ElementType::I8;
    feed = FeedDataType::Bits8;
    stored = TrfDataType::I9;
    break;
  case MacType::F8E4M3:
  case MacType::F8E5M2:
    config.type = code == value(MacType::F8E4M3) ? ElementType::F8E4M3
                                                 : ElementType::F8E5M2;
    feed = FeedDataType::Bits8;
    stored = TrfDataType::F8;
    break;
  case MacType::BF16:
    config.type = ElementType::BF16;
    feed = FeedDataType::Bits16;
    stored = TrfDataType::BF16;
    break;
  }
  std::string why = ("does not agree with mac_type " + Twine(code)).str();
  if (Error error = reader.expect("feed_data_type", value(feed), why))
    return error;
  return reader.expect("register_file_read_data_type", value(stored), why);
}

/// Input packets: how many, and how often each is used.
static Error decodeFeed(ImageReader &reader, const FetchConfig &fetch,
                        DotProductConfig &config) {
  config.flitsPerInput = static_cast<unsigned>(reader.take("flits_per_input"));
  if (config.flitsPerInput != 1 && config.flitsPerInput != 2)
    return reader.fail("flits_per_input",
                       "must be 1 or 2, found " + Twine(config.flitsPerInput));
  std::optional<uint64_t> steps = countSteps(config.weights);
  if (!steps || *steps > 1ull << 40)
    return reader.fail("iter_seq_limits",
                       "the product of the loops is too large");
  config.steps = *steps;

  config.broadcastLoops = static_cast<unsigned>(reader.take("pop_dim"));
  for (unsigned k = 0; k < config.broadcastLoops; ++k) {
    // One encoding for one meaning: a loop that runs once reuses nothing.
    if (config.weights[k].limit == 1)
      return reader.fail("pop_dim", "counts loop " + Twine(k) +
                                        ", which runs once, found " +
                                        Twine(config.broadcastLoops));
    config.stepsPerInput *= config.weights[k].limit;
  }
  config.inputs = config.steps / config.stepsPerInput;
  if (config.inputs * config.flitsPerInput != fetch.flits)
    return reader.fail(
        "pop_dim", "the loops from " + Twine(config.broadcastLoops) +
                       " on take " + Twine(config.inputs) + " packets of " +
                       Twine(config.flitsPerInput) + " flits, fetch gives " +
                       Twine(fetch.flits) + " flits");
  return Error::success();
}

/// Reads of the tensor register file.
static Error decodeWeights(ImageReader &reader, DotProductConfig &config) {
  config.lanes = static_cast<unsigned>(reader.take("mac_rows"));
  if (config.lanes > machine::lanes || !llvm::isPowerOf2_32(config.lanes))
    return reader.fail("mac_rows",
                       "must be 1, 2, 4 or 8, found " + Twine(config.lanes));
  unsigned packetBytes = config.flitsPerInput * machine::flitBytes;
  uint64_t logSize = reader.take("reg_read_log_size");
  config.weightBytes = 1u << logSize;
  if (config.weightBytes > packetBytes ||
      config.weightBytes * 8 < wireBits(config.type))
    return reader.fail("reg_read_log_size",
                       "a step reads " + Twine(config.weightBytes) +
                           " bytes for an input packet of " +
                           Twine(packetBytes));
  config.weightBase = static_cast<uint32_t>(reader.take("reg_indexer_base"));
  // TU-45: a read lies in one row, or in the two rows of both banks.
  if (config.weightBase % config.weightBytes != 0)
    return reader.fail("reg_indexer_base", "must be a multiple of the " +
                                               Twine(config.weightBytes) +
                                               " bytes of a read, found " +
                                               Twine(config.weightBase));
  for (unsigned k = 0; k < 8; ++k)
    if (uint32_t(config.weights[k].stride) % config.weightBytes != 0)
      return reader.fail(
          "reg_indexer_strides", k,
          "must be a multiple of the " + Twine(config.weightBytes) +
              " bytes of a read, found " + Twine(config.weights[k].stride));
  return checkRange(reader, "reg_indexer_base", config.weightBase,
                    config.weights, config.weightBytes, config.laneBytes(),
                    "the lane");
}

/// Which steps are added into which slot. Loops with an accumulator stride walk
/// slots and lie inside the reduction; the others, from the innermost on, are
/// summed until `acc_limit` additions are together.
static Error decodeSlots(ImageReader &reader, DotProductConfig &config) {
  config.accumulations = decodeLimit(reader.take("acc_limit"));
  uint64_t left = config.accumulations;
  for (unsigned k = 0; k < 8; ++k) {
    const HardwareLoop &loop = config.slotLoops[k];
    if (loop.limit == 1)
      continue;
    if (loop.stride == 0) {
      if (loop.limit <= left ? left % loop.limit != 0 : loop.limit % left != 0)
        return reader.fail("acc_limit", Twine(config.accumulations) +
                                            " additions do not end with loop " +
                                            Twine(k) + " of " +
                                            Twine(loop.limit) + " steps");
      left = loop.limit <= left ? left / loop.limit : 1;
      continue;
    }
    if (left == 1)
      return reader.fail("acc_indexer_strides", k,
                         "must be 0: all additions of a slot lie inside the "
                         "loop, found " +
                             Twine(loop.stride));
    if (uint32_t(loop.stride) != config.slots)
      return reader.fail("acc_indexer_strides", k,
                         "slots of a loop follow those of the loops inside, "
                         "expected " +
                             Twine(config.slots) + " or 0, found " +
                             Twine(loop.stride));
    // At most 255 * 65536 * … but the cells below bound it at once.
    config.slots *= loop.limit;
    if (config.slots > machine::accumulatorCells)
      return reader.fail("acc_indexer_strides", k, "more than 1024 slots");
  }
  if (left != 1)
    return reader.fail("acc_limit", Twine(config.accumulations) +
                                        " additions, the loops make only " +
                                        Twine(config.accumulations / left));
  return Error::success();
}

Expected<DotProductConfig> rngd::decodeDotProduct(const SfrImage &image,
                                                  const FetchConfig &fetch) {
  ImageReader reader(image);
  DotProductConfig config;
  Expected<HardwareLoops> weights =
      reader.takeLoops("iter_seq_limits", "reg_indexer_strides");
  if (!weights)
    return weights.takeError();
  config.weights = *weights;
  Expected<HardwareLoops> slots =
      reader.takeLoops("iter_seq_limits", "acc_indexer_strides");
  if (!slots)
    return slots.takeError();
  config.slotLoops = *slots;

  if (Error error = reader.unsupported(
          {"operation", "channel_config", "input_transpose", "reg_read_mode",
           "reg_read_cache_mode", "fp_ieee_nan_multiplication",
           "fxp_shift_rounding_mode"}))
    return error;
  if (Error error = reader.expect("acc_reset", 1, "slots start anew"))
    return error;
  if (Error error = decodeType(reader, config))
    return error;
  if (Error error = decodeFeed(reader, fetch, config))
    return error;
  if (Error error = decodeWeights(reader, config))
    return error;

  config.depth = static_cast<unsigned>(reader.take("depth"));
  if (config.packetElements() >> config.depth == 0)
    return reader.fail("depth",
                       "a packet of " + Twine(config.packetElements()) +
                           " elements has no level " + Twine(config.depth));
  config.columns = static_cast<unsigned>(reader.take("acc_cols"));
  unsigned columns = config.columns;
  unsigned most = std::min<unsigned>(config.packetElements() >> config.depth,
                                     machine::reducerColumns);
  if (columns > most || !llvm::isPowerOf2_32(columns))
    return reader.fail("acc_cols", "must be a power of two up to the " +
                                       Twine(most) +
                                       " columns that a tree of depth " +
                                       Twine(config.depth) + " leaves, found " +
                                       Twine(columns) + " (TU-48 … TU-50)");
  if (Error error = decodeSlots(reader, config))
    return error;

  config.initialValue = static_cast<uint32_t>(reader.take("acc_init_value"));
  // A start value below the last bit of a sum would have no effect.
  if (isFloat(config.type) && config.initialValue != 0)
    return reader.fail("acc_init_value",
                       "not yet supported: start value other than +0 for "
                       "floats");
  config.interleaved =
      reader.take("output_major") == value(codes::OutputMajor::Interleaved);
  uint64_t cells =
      config.interleaved
          ? uint64_t(machine::lanes) * config.slots * columns
          : uint64_t(config.lanes) * config.slots * machine::reducerColumns;
  if (cells > machine::accumulatorCells)
    return reader.fail("output_major",
                       Twine(config.slots) + " slots take " + Twine(cells) +
                           " accumulator cells of 1024 (TU-60)");
  uint64_t emissions = config.steps / config.accumulations;
  uint64_t flitsPerEmission =
      config.interleaved
          ? columns
          : config.lanes *
                llvm::divideCeil(columns, machine::laneFolderElements);
  config.flitsOut = emissions * flitsPerEmission;
  if (Error error = reader.finish())
    return error;
  return config;
}
