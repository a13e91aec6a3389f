//===- ExecConfigVectorRoute.cpp - Registers around the vector chain ------===//
//
// Decodes which units the stream passes in which order, valid counts, the
// reduction between slices, the choice of a group, and the cast.
//
//===----------------------------------------------------------------------===//

#include "ExecConfigVector.h"
#include "furiosa/Target/RNGD/Machine.h"

using namespace furiosa;
using namespace furiosa::rngd;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;

/// One dimension of the valid count generator: 0 a filter, 3 the clip.
static Error decodeValid(ImageReader &reader, uint64_t flits,
                         std::optional<ValidConfig> &config) {
  if (reader.take("valid_generator_mode") == 0)
    return Error::success();
  ValidConfig &valid = config.emplace();
  uint64_t dim = reader.take("allocated_original_dim");
  if (dim != 1 && dim != 4)
    return reader.fail("allocated_original_dim",
                       "not yet supported: dimension " + Twine(dim));
  for (unsigned k = 1; k < machine::sequencerEntries; ++k)
    if (reader.take("allocated_original_dim", k) != dim)
      return reader.fail("allocated_original_dim", k,
                         "not yet supported: loops of several dimensions");
  unsigned index = static_cast<unsigned>(dim - 1);
  valid.isClip = dim == 4;
  valid.count =
      static_cast<uint32_t>(reader.take("original_dim_valid_count", index));
  auto match = static_cast<uint32_t>(reader.take("slice_id_match", index));
  if (valid.isClip) {
    valid.span = match;
    if (valid.span == 0 || valid.span > machine::vectorWideElements)
      return reader.fail("slice_id_match", index,
                         "a flit holds 1 to 8 elements, found " + Twine(match));
  } else {
    valid.match = match;
    valid.mask = static_cast<uint32_t>(reader.take("slice_mask", index));
    valid.isMajor = reader.take("original_dim_partition_config", index) != 0;
  }
  auto loops = reader.takeLoops("lowered_limit", "lowered_stride");
  if (!loops)
    return loops.takeError();
  valid.loops = *loops;
  std::optional<uint64_t> steps = countSteps(valid.loops);
  if (!steps || *steps != flits)
    return reader.fail("lowered_limit",
                       "the product of the loops must be the " + Twine(flits) +
                           " flits of the stream");
  return Error::success();
}

Error rngd::decodeRoute(const SfrImage &image, uint64_t flits,
                        VectorConfig &config, bool &usesArithmeticUnit) {
  using codes::ArithmeticUnitInSource;
  using codes::CastCompactionCount;
  using codes::CastCompactionMode;
  using codes::DataOutSource;
  using codes::ReduceUnitInSource;
  ImageReader reader(image);
  uint64_t out = reader.take("data_out_source");
  uint64_t arithmeticIn = reader.take("arithmetic_unit_in_source");
  uint64_t reduceIn = reader.take("reduce_unit_in_source");
  if (out == value(DataOutSource::Off) ||
      out > value(DataOutSource::ReduceUnit))
    return reader.fail("data_out_source",
                       "must be 1 to 3, found " + Twine(out));
  // The units from the last to the first; each is on the path once.
  bool outIsReduce = out == value(DataOutSource::ReduceUnit);
  usesArithmeticUnit = out == value(DataOutSource::ArithmeticUnit);
  bool reducesFirst = usesArithmeticUnit &&
                      arithmeticIn == value(ArithmeticUnitInSource::ReduceUnit);
  bool arithmeticFirst =
      outIsReduce && reduceIn == value(ReduceUnitInSource::ArithmeticUnit);
  usesArithmeticUnit |= arithmeticFirst;
  uint64_t expectedArithmetic =
      value(!usesArithmeticUnit ? ArithmeticUnitInSource::Off
            : reducesFirst      ? ArithmeticUnitInSource::ReduceUnit
                                : ArithmeticUnitInSource::Stream);
  if (arithmeticIn != expectedArithmetic)
    return reader.fail("arithmetic_unit_in_source",
                       "does not agree with data_out_source, found " +
                           Twine(arithmeticIn));
  bool reduces = outIsReduce || reducesFirst;
  uint64_t expectedReduce =
      value(!reduces          ? ReduceUnitInSource::Off
            : arithmeticFirst ? ReduceUnitInSource::ArithmeticUnit
                              : ReduceUnitInSource::Stream);
  if (reduceIn != expectedReduce)
    return reader.fail("reduce_unit_in_source",
                       "does not agree with data_out_source, found " +
                           Twine(reduceIn));
  // What a slice hands round is what enters its reduce unit.
  if (Error error = reader.expect("reduce_channel_out_source", reduceIn,
                                  "must be that of reduce_unit_in_source"))
    return error;
  if (reduces) {
    SliceReduceConfig &reduce = config.sliceReduce.emplace();
    reduce.isFirst = !arithmeticFirst;
    uint64_t log = reader.take("route_group_size");
    reduce.slices = 1u << std::min<uint64_t>(log, 15);
    reduce.mask = static_cast<unsigned>(reader.take("route_mask"));
    if (reduce.slices < 2 || reduce.slices > machine::slicesPerCluster)
      return reader.fail("route_group_size", "not yet supported: groups of " +
                                                 Twine(reduce.slices) +
                                                 " slices");
    if (reduce.mask >= reduce.slices)
      return reader.fail("route_mask", "goes beyond the group");
    auto loops = reader.takeLoops("index_limit", "index_stride");
    if (!loops)
      return loops.takeError();
    reduce.loops = *loops;
    if (lastAddress(0, reduce.loops) > reduce.mask)
      return reader.fail("index_stride", "the loops go beyond the mask");
  }
  if (Error error = decodeValid(reader, flits, config.valid))
    return error;
  uint64_t compacts = reader.take("collect_compaction_mode");
  if (compacts > 1)
    return reader.fail("collect_compaction_mode",
                       "unknown code " + Twine(compacts));
  if (compacts) {
    auto guard = takeGuard(reader, "collect_compaction");
    if (!guard)
      return guard.takeError();
    if (!*guard || **guard != vector::Guard{8, 8})
      return reader.fail("collect_compaction_cmp_op",
                         "not yet supported: a filter other than of group 1");
    config.compaction = **guard;
  }
  uint64_t cast = reader.take("cast_compaction_mode");
  if (cast > value(CastCompactionMode::BF16))
    return reader.fail("cast_compaction_mode", "unknown type " + Twine(cast));
  config.cast = static_cast<CastCompactionMode>(cast);
  uint64_t count = reader.take("cast_compaction_count");
  if (count == value(CastCompactionCount::Pack4))
    return reader.fail("cast_compaction_count",
                       "not yet supported: packing of several flits");
  if (count !=
      value(cast ? CastCompactionCount::Pad : CastCompactionCount::Off))
    return reader.fail("cast_compaction_count",
                       "does not agree with cast_compaction_mode " +
                           Twine(cast) + ", found " + Twine(count));
  return reader.finish();
}

Error rngd::decodeReduceUnit(const SfrImage &image,
                             std::optional<SliceReduceConfig> &config) {
  ImageReader reader(image);
  constexpr Block block = Block::VectorReduceUnitMainContext;
  uint64_t source = reader.take("cluster_source");
  bool isBypass = source == value(codes::ReduceUnitSource::Bypass);
  if (isBypass == config.has_value())
    return reader.fail("cluster_source", isBypass
                                             ? "the reduce unit is on the path"
                                             : "the reduce unit is not used");
  if (!config)
    return reader.finish();
  const CodeValue *unit = codesOf(block, "cluster_source")->find(source);
  std::string prefix = unit ? unit->name.str() + "." : std::string();
  const CodeTable *codes = unit ? codesOf(block, prefix + "op_mode") : nullptr;
  if (!codes)
    return reader.fail("cluster_source",
                       "must be a unit, found " + Twine(source));
  uint64_t op = reader.take(prefix + "op_mode");
  if (const CodeValue *code = codes->find(op))
    for (const vector::Reduction &row : vector::interSliceReductions())
      if (row.unit == unit->name && row.code == code->name)
        config->row = &row;
  if (!config->row)
    return reader.fail(prefix + "op_mode", "unknown operation " + Twine(op));
  if (Error error = reader.expect(prefix + "arg_mode",
                                  value(codes::ArgMode::StreamOperand),
                                  "a slice and its neighbour are combined"))
    return error;
  if (Error error =
          reader.expect(prefix + "rhs_cmp_op", value(codes::CmpOp::Always),
                        "all elements are combined"))
    return error;
  return reader.finish();
}
