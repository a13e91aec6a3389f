//===- ExecConfigVector.cpp - Registers of the vector engine --------------===//
//
// Decodes the chain of ALUs, their operands and the cast.
//
//===----------------------------------------------------------------------===//

#include "ImageReader.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/StringExtras.h"

using namespace furiosa;
using namespace furiosa::rngd;
using codes::IndexerModule;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

namespace {
/// A group of ALUs behind one another in the register map.
struct Cluster {
  StringRef name;
  /// In the order of the registers.
  llvm::SmallVector<IndexerModule, 5> alus;
};
} // namespace

static const CodeTable &moduleTable() {
  return *codesOf(Block::VectorArithmeticUnitMainContext,
                  "read_indexer0_module");
}

/// "fxp_add".
static StringRef aluName(IndexerModule alu) {
  const CodeValue *code = moduleTable().find(value(alu));
  return code ? code->name : StringRef();
}

static bool isLogic(IndexerModule alu) {
  return alu <= IndexerModule::LogicRightShift;
}

static bool isShift(IndexerModule alu) {
  return alu == IndexerModule::LogicLeftShift ||
         alu == IndexerModule::LogicRightShift ||
         alu == IndexerModule::FxpLeftShift ||
         alu == IndexerModule::FxpRightShift;
}

/// Reads one ALU that is on the chain. VRF operands are filled in later.
static Expected<AluConfig> decodeAlu(ImageReader &reader, IndexerModule alu) {
  std::string prefix = (aluName(alu) + ".").str();
  AluConfig config;
  config.alu = alu;

  std::string opField = prefix + "op_mode";
  uint64_t op = reader.take(opField);
  const CodeTable *ops =
      codesOf(Block::VectorArithmeticUnitMainContext, opField);
  const CodeValue *code = ops ? ops->find(op) : nullptr;
  if (!code)
    return reader.fail(opField, "unknown operation " + Twine(op));
  // The rounding of sar_round is not public.
  if (code->name == "sar_round" || code->name.ends_with("_f32"))
    return reader.fail(opField, "not yet supported: " + code->name);
  config.op = static_cast<uint8_t>(op);

  uint64_t args = reader.take(prefix + "arg_mode");
  if (args > value(codes::ArgMode::OperandOperand))
    return reader.fail(prefix + "arg_mode", "unknown mode " + Twine(args));
  config.args = static_cast<codes::ArgMode>(args);

  using codes::CmpOp;
  std::string regField = prefix + "reg0_cmp_op",
              vrfField = prefix + "rf_cmp_op";
  uint64_t reg = reader.take(regField), vrf = reader.take(vrfField);
  for (auto [field, guard] : {std::pair(&regField, reg), {&vrfField, vrf}})
    if (guard != value(CmpOp::Off) && guard != value(CmpOp::Always))
      return reader.fail(*field, "not yet supported: guard on execution ids");
  if (reg == vrf)
    return reader.fail(regField, reg == value(CmpOp::Off)
                                     ? "the ALU has no operand"
                                     : "hides the operand of rf_cmp_op");
  config.hasVrfOperand = vrf == value(CmpOp::Always);
  bool usesOperand = config.args != codes::ArgMode::StreamStream;
  if (config.hasVrfOperand) {
    if (!usesOperand)
      return reader.fail(prefix + "arg_mode",
                         "does not use the operand from the register file");
    return config;
  }
  config.immediate = static_cast<uint32_t>(reader.take(prefix + "scalar"));
  if (!usesOperand && config.immediate != 0)
    return reader.fail(prefix + "scalar",
                       "arg_mode does not use it, so it must be 0, found " +
                           Twine(config.immediate));
  if (usesOperand && isShift(alu) && config.immediate > 31)
    return reader.fail(prefix + "scalar",
                       "shift amount must be 0 to 31, found " +
                           Twine(config.immediate));
  return config;
}

/// Follows the chain of sources of a cluster from its output to its input and
/// appends the ALUs in stream order.
static Error decodeCluster(ImageReader &reader, const Cluster &cluster,
                           VectorConfig &config) {
  unsigned count = cluster.alus.size();
  std::string outField = (cluster.name + "_cluster_source").str();
  uint64_t out = reader.take(outField);
  if (out == 0 || out > count + 1)
    return reader.fail(outField, "must be an ALU, 1 to " + Twine(count) +
                                     ", or bypass, " + Twine(count + 1) +
                                     ", found " + Twine(out));
  llvm::SmallVector<uint64_t, 5> sources;
  llvm::SmallVector<std::string, 5> sourceFields;
  for (IndexerModule alu : cluster.alus) {
    sourceFields.push_back((aluName(alu) + "_source").str());
    sources.push_back(reader.take(sourceFields.back()));
  }

  llvm::SmallVector<unsigned, 5> order;
  std::vector<bool> used(count);
  for (uint64_t position = out == count + 1 ? 0 : out; position != 0;
       position = sources[position - 1]) {
    if (used[position - 1])
      return reader.fail(sourceFields[position - 1],
                         "the chain runs in a circle");
    used[position - 1] = true;
    order.push_back(static_cast<unsigned>(position - 1));
    if (sources[position - 1] > count)
      return reader.fail(sourceFields[position - 1],
                         "must be 0 to " + Twine(count) + ", found " +
                             Twine(sources[position - 1]));
  }
  for (unsigned k = 0; k < count; ++k)
    if (!used[k] && sources[k] != 0)
      return reader.fail(
          sourceFields[k],
          "the ALU is not on the chain, so it must be 0, found " +
              Twine(sources[k]));
  for (unsigned k : llvm::reverse(order)) {
    Expected<AluConfig> alu = decodeAlu(reader, cluster.alus[k]);
    if (!alu)
      return alu.takeError();
    config.chain.push_back(*alu);
  }
  return Error::success();
}

/// Gives the ALUs with a VRF operand their indexers.
static Error decodeIndexers(ImageReader &reader, uint64_t flits,
                            VectorConfig &config) {
  llvm::SmallVector<AluConfig *, 4> waiting;
  for (AluConfig &alu : config.chain)
    if (alu.hasVrfOperand)
      waiting.push_back(&alu);

  for (unsigned k = 0; k < machine::vectorReadIndexers; ++k) {
    std::string prefix = "read_indexer" + llvm::utostr(k) + "_";
    uint64_t module = reader.take(prefix + "module");
    // Unused: all its fields are zero, which `finish` checks.
    if (module == value(IndexerModule::None))
      continue;
    auto *it = llvm::find_if(waiting, [&](AluConfig *alu) {
      return alu && value(alu->alu) == module;
    });
    if (it == waiting.end())
      return reader.fail(prefix + "module",
                         "ALU " + Twine(module) +
                             " does not wait for an operand from the register "
                             "file");
    AluConfig &alu = **it;
    *it = nullptr;
    alu.indexer = k;
    if (Error error =
            reader.expect(prefix + "operation",
                          value(codes::IndexerOperation::On), "is in use"))
      return error;
    if (Error error = reader.expect(prefix + "proceed", 1, "is in use"))
      return error;
    if (Error error = reader.expect(prefix + "element_size",
                                    value(codes::IndexerElementSize::Bytes4),
                                    "elements have 32 bits"))
      return error;
    alu.base = static_cast<uint32_t>(reader.take(prefix + "base"));
    Expected<HardwareLoops> loops =
        reader.takeLoops(prefix + "limit", prefix + "stride");
    if (!loops)
      return loops.takeError();
    alu.loops = *loops;
    if (alu.base % 4 != 0)
      return reader.fail(prefix + "base",
                         "must be a multiple of 4, found " + Twine(alu.base));
    for (unsigned i = 0; i < 8; ++i)
      if (alu.loops[i].stride % 4 != 0)
        return reader.fail(prefix + "stride", i,
                           "must be a multiple of 4, found " +
                               Twine(alu.loops[i].stride));
    std::optional<uint64_t> elements = countSteps(alu.loops);
    if (!elements || *elements != flits * machine::vectorWideElements)
      return reader.fail(prefix + "limit",
                         "the product of the loops must be the " +
                             Twine(flits * machine::vectorWideElements) +
                             " elements of the stream");
    if (Error error =
            checkRange(reader, prefix + "base", alu.base, alu.loops, 4,
                       machine::vrfSliceBytes, "the vector register file"))
      return error;
  }
  for (AluConfig *alu : waiting)
    if (alu)
      return reader.fail((aluName(alu->alu) + ".rf_cmp_op").str(),
                         "no read indexer serves the operand");
  return Error::success();
}

static Error decodeRoute(const SfrImage &image, VectorConfig &config,
                         bool &usesArithmeticUnit) {
  using codes::ArithmeticUnitInSource;
  using codes::CastCompactionCount;
  using codes::CastCompactionMode;
  using codes::DataOutSource;
  ImageReader reader(image);
  uint64_t out = reader.take("data_out_source");
  usesArithmeticUnit = out == value(DataOutSource::ArithmeticUnit);
  if (!usesArithmeticUnit && out != value(DataOutSource::Stream))
    return reader.fail(
        "data_out_source",
        out == value(DataOutSource::ReduceUnit)
            ? Twine("not yet supported: reduction between slices")
            : "must be 1 or 2, found " + Twine(out));
  if (Error error = reader.expect("arithmetic_unit_in_source",
                                  value(usesArithmeticUnit
                                            ? ArithmeticUnitInSource::Stream
                                            : ArithmeticUnitInSource::Off),
                                  "does not agree with data_out_source"))
    return error;
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

static Error decodeReduceUnit(const SfrImage &image) {
  ImageReader reader(image);
  if (Error error = reader.expect("cluster_source",
                                  value(codes::ReduceUnitSource::Bypass),
                                  "the reduce unit is not used"))
    return error;
  return reader.finish();
}

/// Checks that the operations go with the type of the stream.
static Error checkTypes(const SfrImage &routeImage, const SfrImage &aluImage,
                        const VectorConfig &config,
                        std::optional<ElementType> type) {
  for (const AluConfig &alu : config.chain) {
    if (isLogic(alu.alu))
      continue;
    if (type == ElementType::F32)
      return ImageReader(aluImage).fail((aluName(alu.alu) + ".op_mode").str(),
                                        "takes i32, the stream is f32");
    type = ElementType::I32;
  }
  using codes::CastCompactionMode;
  if (config.cast == CastCompactionMode::Off || !type)
    return Error::success();
  bool toFloat = config.cast >= CastCompactionMode::F8E4M3;
  if (toFloat != (type == ElementType::F32))
    return ImageReader(routeImage)
        .fail("cast_compaction_mode",
              "does not take the " + toString(*type) + " of the stream");
  return Error::success();
}

Expected<VectorConfig> rngd::decodeVector(const SfrImage &routeImage,
                                          const SfrImage &reduceImage,
                                          const SfrImage &arithmeticImage,
                                          uint64_t flits,
                                          std::optional<ElementType> type) {
  VectorConfig config;
  bool usesArithmeticUnit = false;
  if (Error error = decodeRoute(routeImage, config, usesArithmeticUnit))
    return error;
  if (Error error = decodeReduceUnit(reduceImage))
    return error;

  ImageReader reader(arithmeticImage);
  if (Error error = reader.unsupported(
          {"mode", "branch_write_mode", "fxp_to_fp_mode", "fp_to_fxp_mode",
           "split_layer_mode", "concat_layer_mode", "reduce_rows",
           "operand_indexer_module", "write_indexer_module"}))
    return error;
  if (uint64_t source = reader.take("fp_cluster_source");
      source != value(codes::FpSource::Bypass))
    return reader.fail("fp_cluster_source",
                       "not yet supported: floating-point ALUs; must be " +
                           Twine(value(codes::FpSource::Bypass)) + ", found " +
                           Twine(source));
  const Cluster clusters[] = {
      {"logic",
       {IndexerModule::LogicAnd, IndexerModule::LogicOr,
        IndexerModule::LogicXor, IndexerModule::LogicLeftShift,
        IndexerModule::LogicRightShift}},
      {"fxp",
       {IndexerModule::FxpAdd, IndexerModule::FxpLeftShift,
        IndexerModule::FxpMul, IndexerModule::FxpRightShift}},
      {"clip",
       {IndexerModule::ClipAdd, IndexerModule::ClipMax,
        IndexerModule::ClipMin}}};
  for (const Cluster &cluster : clusters)
    if (Error error = decodeCluster(reader, cluster, config))
      return error;
  if (Error error = decodeIndexers(reader, flits, config))
    return error;
  if (Error error = reader.finish())
    return error;
  if (usesArithmeticUnit != !config.chain.empty())
    return ImageReader(routeImage)
        .fail("data_out_source",
              usesArithmeticUnit
                  ? "takes the arithmetic unit, which has no ALU in use"
                  : "passes by the arithmetic unit, which has ALUs in use");
  if (Error error = checkTypes(routeImage, arithmeticImage, config, type))
    return error;
  return config;
}
