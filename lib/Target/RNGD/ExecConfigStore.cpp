//===- ExecConfigStore.cpp - Register files, transpose, commit ------------===//
//
// Decodes the register images of the units that a stream ends in, and of the
// transpose engine in front of commit.
//
//===----------------------------------------------------------------------===//

#include "ImageReader.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/StringExtras.h"

using namespace furiosa;
using namespace furiosa::rngd;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

static Error checkMultiple(const ImageReader &reader, StringRef field,
                           unsigned index, uint64_t value, unsigned unit) {
  if (value % unit == 0)
    return Error::success();
  return reader.fail(field, index,
                     "must be a multiple of " + Twine(unit) + ", found " +
                         Twine(value));
}

//===----------------------------------------------------------------------===//
// Register files
//===----------------------------------------------------------------------===//

Expected<TrfWriteConfig> rngd::decodeTrfWrite(const SfrImage &image,
                                              uint64_t flits) {
  ImageReader reader(image);
  TrfWriteConfig config;
  config.lanes = static_cast<unsigned>(reader.take("mac_rows"));
  if (config.lanes > 8 || !llvm::isPowerOf2_32(config.lanes))
    return reader.fail("mac_rows",
                       "must be 1, 2, 4 or 8, found " + Twine(config.lanes));
  config.rowBase = static_cast<uint32_t>(reader.take("row_base"));
  config.rowsPerLane = static_cast<uint32_t>(reader.take("row_count"));
  for (StringRef field : {"flits_per_period", "valid_flits_per_period"})
    if (uint64_t value = reader.take(field); value != 1)
      return reader.fail(field, value == 0 ? Twine("must not be 0")
                                           : "not yet supported: value " +
                                                 Twine(value));
  if (Error error = reader.unsupported(
          {"mode", "skip_flit_count", "mac_row_interleaving", "flit_count"}))
    return error;
  if (uint64_t(config.rowsPerLane) * config.lanes != flits)
    return reader.fail("row_count",
                       Twine(config.lanes) + " lanes of " +
                           Twine(config.rowsPerLane) + " rows take " +
                           Twine(config.lanes * uint64_t(config.rowsPerLane)) +
                           " flits, fetch gives " + Twine(flits));
  uint64_t rows = machine::trfSliceBytes / machine::trfRowBytes / config.lanes;
  if (config.rowBase + config.rowsPerLane > rows)
    return reader.fail("row_base",
                       "rows up to " +
                           Twine(config.rowBase + config.rowsPerLane - 1) +
                           " of a lane that has " + Twine(rows));
  if (Error error = reader.finish())
    return error;
  return config;
}

Expected<VrfWriteConfig> rngd::decodeVrfWrite(const SfrImage &image,
                                              uint64_t flits) {
  ImageReader reader(image);
  VrfWriteConfig config;
  config.rowBase = static_cast<uint32_t>(reader.take("row_base"));
  config.rows = static_cast<uint32_t>(reader.take("row_count"));
  if (config.rows != flits)
    return reader.fail("row_count", Twine(config.rows) +
                                        " rows, the stream has " +
                                        Twine(flits) + " flits");
  if (uint64_t stride = reader.take("row_stride"); stride != 1)
    return reader.fail("row_stride", stride == 0 ? Twine("must not be 0")
                                                 : "not yet supported: value " +
                                                       Twine(stride));
  if (Error error = reader.unsupported({"skip_flit_count"}))
    return error;
  if (config.rowBase + config.rows > machine::vrfRows)
    return reader.fail("row_base", "rows up to " +
                                       Twine(config.rowBase + config.rows - 1) +
                                       " of a register file that has " +
                                       Twine(machine::vrfRows));
  if (Error error = reader.finish())
    return error;
  return config;
}

//===----------------------------------------------------------------------===//
// Transpose
//===----------------------------------------------------------------------===//

Expected<TransposeConfig> rngd::decodeTranspose(const SfrImage &image,
                                                uint64_t flits) {
  ImageReader reader(image);
  TransposeConfig config;
  // Codes count the widths from 4 bits on.
  config.bits = 4u << reader.take("data_type");
  unsigned maxRows = machine::transposeRowBits / config.bits;
  config.rows = static_cast<unsigned>(reader.take("fetch_in_rows"));
  if (config.rows < 1 || config.rows > maxRows)
    return reader.fail("fetch_in_rows", "must be 1 to " + Twine(maxRows) +
                                            " for " + Twine(config.bits) +
                                            " bits, found " +
                                            Twine(config.rows) + " (TU-68)");
  unsigned cells = transposeCells(config.bits);
  auto columns = static_cast<unsigned>(reader.take("fetch_in_cols"));
  if (columns < cells || columns > machine::transposeColumns ||
      !llvm::isPowerOf2_32(columns))
    return reader.fail("fetch_in_cols", "must be a power of two from " +
                                            Twine(cells) + " to 32, found " +
                                            Twine(columns) + " (TU-69)");
  config.flitsPerRow = columns / cells;
  config.outRows = static_cast<unsigned>(reader.take("fetch_out_rows"));
  if (config.outRows < 1 || config.outRows > columns)
    return reader.fail("fetch_out_rows", "must be 1 to the " + Twine(columns) +
                                             " of fetch_in_cols, found " +
                                             Twine(config.outRows) +
                                             " (TU-69)");
  uint64_t perBatch = uint64_t(config.rows) * config.flitsPerRow;
  if (flits % perBatch != 0)
    return reader.fail("fetch_in_rows", Twine(flits) +
                                            " flits are no batches of " +
                                            Twine(perBatch));
  if (Error error = reader.finish())
    return error;
  return config;
}

//===----------------------------------------------------------------------===//
// Commit
//===----------------------------------------------------------------------===//

/// Every cell of the data memory is written at most once (TU-77). `granules`
/// counts the slice in units of the smallest write.
static Error checkWrittenOnce(const ImageReader &reader,
                              const CommitConfig &config) {
  const unsigned unit = machine::dmWriteGranule;
  llvm::BitVector written(machine::dmSliceBytes / unit);
  LoopCounter counter(config.base, config.loops);
  for (uint64_t step = 0; step < config.steps; ++step, counter.next()) {
    uint64_t first = counter.address() / unit;
    for (uint64_t g = first; g < first + config.writeBytes / unit; ++g) {
      if (written[g])
        return reader.fail("strides", "byte " + Twine(g * unit) +
                                          " is written more than once (TU-77)");
      written.set(g);
    }
  }
  return Error::success();
}

Expected<CommitConfig> rngd::decodeCommit(const SfrImage &image,
                                          uint64_t flits) {
  ImageReader reader(image);
  bool isMain = image.block() == Block::CommitUnitMainContext;
  CommitConfig config;
  StringRef sizeField = isMain ? "commit_size" : "packet_valid_count";
  if (isMain) {
    uint64_t cast = reader.take("type_conversion");
    if (cast > value(codes::CommitCast::F32ToBF16Relu))
      return reader.fail("type_conversion", "unknown code " + Twine(cast));
    config.cast = static_cast<codes::CommitCast>(cast);
  } else if (Error error = reader.unsupported({"mode"})) {
    return error;
  }
  config.keptBytes = static_cast<unsigned>(reader.take(sizeField));
  if (config.keptBytes % machine::minCommitBytes != 0 ||
      config.keptBytes == 0 || config.keptBytes > machine::flitBytes)
    return reader.fail(sizeField, "must be 8, 16, 24 or 32, found " +
                                      Twine(config.keptBytes) + " (TU-73)");
  config.writeBytes = isMain ? config.keptBytes : machine::subCommitBytes;
  unsigned writesPerFlit = config.keptBytes / config.writeBytes;
  if (config.cast != codes::CommitCast::None) {
    config.writeBytes /= 2;
    if (config.writeBytes % machine::minCommitBytes != 0)
      return reader.fail(sizeField, "a cast takes 16 or 32 bytes, found " +
                                        Twine(config.keptBytes) + " (TU-75)");
  }
  if (Error error =
          reader.expect("commit_in_size",
                        isMain ? machine::flitBytes : machine::subCommitBytes,
                        "bytes that the unit takes at a time"))
    return error;

  config.base = static_cast<uint32_t>(reader.take("base"));
  Expected<HardwareLoops> loops = reader.takeLoops("limits", "strides");
  if (!loops)
    return loops.takeError();
  config.loops = *loops;
  if (Error error = checkMultiple(reader, "base", 0, config.base,
                                  machine::dmWriteGranule))
    return error;
  for (unsigned k = 0; k < 8; ++k)
    if (Error error =
            checkMultiple(reader, "strides", k, config.loops[k].stride,
                          machine::dmWriteGranule))
      return error;
  if (Error error =
          checkRange(reader, "base", config.base, config.loops,
                     config.writeBytes, machine::dmSliceBytes, "the slice"))
    return error;

  std::optional<uint64_t> steps = countSteps(config.loops);
  // Before the comparison: flits beyond this could not be committed once each.
  uint64_t most = machine::dmSliceBytes / config.writeBytes;
  if (!steps || *steps > most)
    return reader.fail("limits", "the loops write more than the slice holds");
  config.steps = *steps;
  if (flits > most || config.steps != flits * writesPerFlit)
    return reader.fail("limits", "the loops make " + Twine(config.steps) +
                                     " writes, the stream has " + Twine(flits) +
                                     " flits of " + Twine(writesPerFlit));
  if (Error error = checkWrittenOnce(reader, config))
    return error;
  for (unsigned k = 0; k < 4; ++k)
    config.sliceEnable[k] =
        reader.take("slice_enable_bitmap_mask" + llvm::utostr(k));
  if (Error error = reader.finish())
    return error;
  return config;
}
