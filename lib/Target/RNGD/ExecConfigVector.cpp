//===- ExecConfigVector.cpp - Registers of the vector engine --------------===//
//
// Decodes execution ids, the chain of ALUs and their operands.
//
//===----------------------------------------------------------------------===//

#include "ExecConfigVector.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/StringExtras.h"

using namespace furiosa;
using namespace furiosa::rngd;
using codes::IndexerModule;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

static constexpr Block arithmetic = Block::VectorArithmeticUnitMainContext;

// Codes of indexers count the ALUs of the register map from 1.
static_assert(codes::value(IndexerModule::ClipMin) ==
              1 + static_cast<unsigned>(vector::Alu::ClipMin));
static uint64_t moduleOf(vector::Alu alu) {
  return 1 + static_cast<uint64_t>(alu);
}

/// The value of a code table, or an error.
static Expected<const CodeValue *> takeCode(ImageReader &reader,
                                            StringRef field) {
  uint64_t value = reader.take(field);
  const CodeTable *table = codesOf(arithmetic, field);
  if (const CodeValue *code = table ? table->find(value) : nullptr)
    return code;
  return reader.fail(field, "unknown code " + Twine(value));
}

//===----------------------------------------------------------------------===//
// Guards, slots, ALUs
//===----------------------------------------------------------------------===//

Expected<std::optional<vector::Guard>> rngd::takeGuard(ImageReader &reader,
                                                       const Twine &name) {
  std::string prefix = name.str();
  uint64_t compare = reader.take(prefix + "_cmp_op");
  std::optional<vector::Guard> guard;
  if (compare == value(codes::CmpOp::Off))
    return guard;
  guard.emplace();
  if (compare == value(codes::CmpOp::Always))
    return guard;
  guard->negated = compare == value(codes::CmpOp::NotMatch);
  guard->id = static_cast<uint8_t>(reader.take(prefix + "_execution_id"));
  guard->mask =
      static_cast<uint8_t>(reader.take(prefix + "_execution_id_mask"));
  if (guard->mask == 0)
    return reader.fail(prefix + "_execution_id_mask",
                       "must name a bit, or the comparison be always or off");
  if (guard->id & ~guard->mask)
    return reader.fail(prefix + "_execution_id",
                       "has bits outside of its mask");
  return guard;
}

/// Reads one ALU that is on the chain. Loops of VRF operands come later.
static Expected<AluConfig> decodeAlu(ImageReader &reader, vector::Alu alu) {
  std::string prefix = (vector::toString(alu) + ".").str();
  AluConfig config;
  auto code = takeCode(reader, prefix + "op_mode");
  if (!code)
    return code.takeError();
  config.operation = vector::findCode(alu, (*code)->name);
  if (!config.operation)
    return reader.fail(prefix + "op_mode",
                       "not yet supported: " + (*code)->name);
  unsigned arity = config.operation->arity;
  if (arity > 1) {
    auto mode = takeCode(reader, prefix + "arg_mode");
    if (!mode)
      return mode.takeError();
    config.mode = (*mode)->name;
    // fp_fma has codes for three arguments; two are the first of them.
    if (config.mode.size() == 3 && arity == 2) {
      if (!config.mode.ends_with("2"))
        return reader.fail(prefix + "arg_mode", "does not go with the two "
                                                "arguments of " +
                                                    config.operation->name);
      config.mode = config.mode.drop_back();
    }
  }
  bool usesOperand = config.mode.contains('1');
  bool usesSecondary = config.mode.contains('2');

  bool hasAlways = false;
  for (unsigned k = 0; k < 4; ++k) {
    std::string name = prefix + (k < 3 ? "reg" + llvm::utostr(k) : "rf");
    // A function of the stream alone has one guard.
    if (arity == 1 && k > 0)
      break;
    // fp_exp has no operands, so it has no scalars either.
    auto guard = takeGuard(reader, name);
    if (!guard)
      return guard.takeError();
    if (!*guard)
      continue;
    if (k < 3 && config.slots.size() != k)
      return reader.fail(name + "_cmp_op", "immediates fill from reg0");
    if (hasAlways)
      return reader.fail(name + "_cmp_op",
                         "an operand before it takes all elements");
    hasAlways = (*guard)->isAlways();
    AluSlot slot;
    slot.guard = **guard;
    if (k == 3) {
      slot.source = AluSlot::Source::Vrf;
      // Its guard counts where no immediate was left for it.
      if (!usesOperand && config.slots.size() < machine::vectorOpImmediates)
        return reader.fail(prefix + "arg_mode",
                           "does not use the operand from the register file");
    } else if (arity > 1) {
      slot.source = AluSlot::Source::Immediate;
      slot.value = static_cast<uint32_t>(reader.take(prefix + "scalar", k));
      if (!usesOperand && slot.value != 0)
        return reader.fail(prefix + "scalar", k,
                           "arg_mode does not use it, so it must be 0, found " +
                               Twine(slot.value));
      bool isShift = config.operation->function >= vector::Function::Shl &&
                     config.operation->function <= vector::Function::Sar;
      if (usesOperand && isShift && slot.value > 31)
        return reader.fail(prefix + "scalar", k,
                           "shift amount must be 0 to 31, found " +
                               Twine(slot.value));
    }
    if (arity == 3 && k < 3) {
      slot.secondary =
          static_cast<uint32_t>(reader.take(prefix + "secondary_scalar", k));
      if (!usesSecondary && slot.secondary != 0)
        return reader.fail(prefix + "secondary_scalar", k,
                           "arg_mode does not use it, so it must be 0");
    }
    config.slots.push_back(slot);
  }
  // The register file shares the secondary scalar that no immediate takes.
  if (arity == 3 && config.reads(AluSlot::Source::Vrf)) {
    if (config.slots.size() == 4)
      return reader.fail(prefix + "rf_cmp_op",
                         "no secondary scalar is left for the register file");
    config.slots.back().secondary = static_cast<uint32_t>(
        reader.take(prefix + "secondary_scalar", config.slots.size() - 1));
  }
  if (config.slots.empty())
    return reader.fail(prefix + "reg0_cmp_op", "the ALU applies to nothing");
  return config;
}

/// Follows the chain of sources of a cluster from its output to its input and
/// appends the ALUs in stream order.
static Error decodeCluster(ImageReader &reader, vector::Cluster cluster,
                           VectorConfig &config) {
  llvm::ArrayRef<vector::Alu> alus = vector::alusOf(cluster);
  unsigned count = alus.size();
  std::string outField = (vector::toString(cluster) + "_cluster_source").str();
  uint64_t out = reader.take(outField);
  if (out == 0 || out > count + 1)
    return reader.fail(outField, "must be an ALU, 1 to " + Twine(count) +
                                     ", or bypass, " + Twine(count + 1) +
                                     ", found " + Twine(out));
  llvm::SmallVector<uint64_t, 5> sources;
  llvm::SmallVector<std::string, 5> sourceFields;
  for (vector::Alu alu : alus) {
    sourceFields.push_back((vector::toString(alu) + "_source").str());
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
    Expected<AluConfig> alu = decodeAlu(reader, alus[k]);
    if (!alu)
      return alu.takeError();
    config.chain.emplace_back().alu = *alu;
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Indexers of the register file
//===----------------------------------------------------------------------===//

/// Checks that an indexer in use is set up to walk elements of 32 bits.
static Error expectIndexer(ImageReader &reader, const std::string &prefix) {
  if (Error error =
          reader.expect(prefix + "operation",
                        value(codes::IndexerOperation::On), "is in use"))
    return error;
  if (Error error = reader.expect(prefix + "proceed", 1, "is in use"))
    return error;
  return reader.expect(prefix + "element_size",
                       value(codes::IndexerElementSize::Bytes4),
                       "elements have 32 bits");
}

/// Address and loops of the VRF operand of `alu`, which takes `elements`.
static Error decodeIndexer(ImageReader &reader, unsigned number,
                           uint64_t elements, AluConfig &alu) {
  std::string prefix = "read_indexer" + llvm::utostr(number) + "_";
  alu.indexer = number;
  if (Error error = expectIndexer(reader, prefix))
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
  std::optional<uint64_t> steps = countSteps(alu.loops);
  if (!steps || *steps != elements)
    return reader.fail(prefix + "limit",
                       "the product of the loops must be the " +
                           Twine(elements) + " elements of the stream");
  return checkRange(reader, prefix + "base", alu.base, alu.loops, 4,
                    machine::vrfSliceBytes, "the vector register file");
}

/// The indexer that serves an ALU, or nothing.
static std::optional<unsigned> findIndexer(ImageReader &reader,
                                           vector::Alu alu) {
  for (unsigned k = 0; k < machine::vectorReadIndexers; ++k)
    if (reader.take("read_indexer" + llvm::utostr(k) + "_module") ==
        moduleOf(alu))
      return k;
  return std::nullopt;
}

/// Every indexer serves an ALU that waits for it, and no other does.
static Error checkIndexers(ImageReader &reader, const VectorConfig &config) {
  for (unsigned k = 0; k < machine::vectorReadIndexers; ++k) {
    std::string field = "read_indexer" + llvm::utostr(k) + "_module";
    uint64_t module = reader.take(field);
    // Unused: all its fields are zero, which `finish` checks.
    if (module == value(IndexerModule::None))
      continue;
    bool isAwaited = llvm::any_of(config.chain, [&](const VectorStep &step) {
      return step.kind == VectorStep::Kind::Alu &&
             step.alu.reads(AluSlot::Source::Vrf) && step.alu.indexer == k &&
             moduleOf(step.alu.operation->alu) == module;
    });
    if (!isAwaited)
      return reader.fail(field, "ALU " + Twine(module) +
                                    " does not wait for an operand from the "
                                    "register file");
  }
  return Error::success();
}

/// The ways of the stream behind each step, from the entry on.
static unsigned waysBehind(const VectorConfig &config, unsigned position) {
  // From the back: g++ 12 at -O3 miscompiles the loop that keeps the last one.
  for (const VectorStep &step :
       llvm::reverse(llvm::ArrayRef(config.chain).take_front(position)))
    switch (step.kind) {
    case VectorStep::Kind::Split:
    case VectorStep::Kind::Trim:
      return 4;
    case VectorStep::Kind::Concat:
    case VectorStep::Kind::Pad:
      return 8;
    default:
      break;
    }
  return 8;
}

/// Where the stream is kept, and the ALU that takes it as its operand.
static Error decodeStash(ImageReader &reader, VectorConfig &config) {
  uint64_t writer = reader.take("write_indexer_module");
  uint64_t user = reader.take("operand_indexer_module");
  if (writer == 0 && user == 0)
    return Error::success();
  std::optional<unsigned> from, to;
  if (writer == value(IndexerModule::Branch))
    from = 0;
  for (auto [k, step] : llvm::enumerate(config.chain)) {
    bool isAlu = step.kind == VectorStep::Kind::Alu;
    uint64_t module = isAlu ? moduleOf(step.alu.operation->alu) : 0;
    if (step.kind == VectorStep::Kind::Split ||
        step.kind == VectorStep::Kind::Trim)
      module = value(IndexerModule::Narrow);
    if (module == 0)
      continue;
    if (module == user && isAlu && step.alu.reads(AluSlot::Source::Vrf))
      to = k;
    // An ALU that writes for itself keeps what enters it.
    if (module == writer)
      from = module == user ? k : k + 1;
  }
  if (!to)
    return reader.fail("operand_indexer_module",
                       "ALU " + Twine(user) + " does not wait for an operand");
  if (!from || *from > *to)
    return reader.fail("write_indexer_module",
                       "stage " + Twine(writer) +
                           " does not write before the operand is read");
  if (waysBehind(config, *from) != waysBehind(config, *to))
    return reader.fail("write_indexer_module",
                       "written and read with different ways");
  config.chain[*to].alu.slots.back().source = AluSlot::Source::Stash;
  if (Error error = expectIndexer(reader, "operand_indexer_"))
    return error;
  if (Error error =
          reader.expect("write_indexer_operation",
                        value(codes::IndexerOperation::On), "is in use"))
    return error;
  auto guard = takeGuard(reader, "write");
  if (!guard)
    return guard.takeError();
  if (!*guard)
    return reader.fail("write_cmp_op", "the stash would stay empty");
  // Each element that is read was written: a zip reads group 0 for group 1.
  const vector::Guard &read = config.chain[*to].alu.slots.back().guard;
  bool isZip = *guard == vector::Guard{0, 8} && read == vector::Guard{8, 8} &&
               config.tag.mode == codes::BranchMode::AxisToggle;
  if (!isZip && !(*guard)->isAlways())
    return reader.fail("write_cmp_op", "not yet supported: a guarded stash");
  config.stash = StashConfig{*from, **guard};
  for (unsigned k = *from; k < *to; ++k) {
    if (config.chain[k].kind == VectorStep::Kind::Trim)
      config.stash->kept = machine::vectorNarrowElements;
    if (config.chain[k].kind == VectorStep::Kind::Pad)
      config.stash->read = machine::vectorNarrowElements;
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The chain
//===----------------------------------------------------------------------===//

static Error decodeTag(ImageReader &reader, uint64_t flits, TagConfig &tag) {
  using codes::BranchMode;
  uint64_t mode = reader.take("mode");
  if (mode > value(BranchMode::AxisToggle))
    return reader.fail("mode", "unknown code " + Twine(mode));
  tag.mode = static_cast<BranchMode>(mode);
  if (tag.mode == BranchMode::AxisToggle) {
    tag.groupFlits = static_cast<unsigned>(reader.take("group_size"));
    if (tag.groupFlits == 0 || flits % (2 * tag.groupFlits) != 0)
      return reader.fail("group_size",
                         Twine(flits) + " flits do not make whole turns of " +
                             Twine(tag.groupFlits));
  }
  if (tag.mode != BranchMode::Compare)
    return Error::success();
  uint64_t format = reader.take("format");
  if (format > value(codes::BranchFormat::F32))
    return reader.fail("format", "unknown code " + Twine(format));
  tag.type = format == value(codes::BranchFormat::F32) ? ElementType::F32
                                                       : ElementType::I32;
  for (unsigned bit = 0; bit < 4; ++bit) {
    uint64_t comparison = reader.take("compare_operation", bit);
    if (comparison >= vector::numComparisons)
      return reader.fail("compare_operation", bit,
                         "unknown code " + Twine(comparison));
    tag.comparisons[bit] = static_cast<vector::Comparison>(comparison);
    // Without a boundary it must be 0, which `finish` checks.
    if (vector::hasBoundary(tag.comparisons[bit]))
      tag.boundaries[bit] =
          static_cast<uint32_t>(reader.take("scalar_register", bit));
  }
  return Error::success();
}

/// A conversion, if its mode is on.
static Error decodeConversion(ImageReader &reader, StringRef name,
                              VectorStep::Kind kind, VectorConfig &config) {
  std::string mode = (name + "_mode").str();
  uint64_t found = reader.take(mode);
  if (found == value(codes::AdapterMode::Off))
    return Error::success();
  if (found != value(codes::AdapterMode::Convert))
    return reader.fail(mode, "unknown code " + Twine(found));
  VectorStep &step = config.chain.emplace_back();
  step.kind = kind;
  step.width = static_cast<unsigned>(reader.take((name + "_int_width").str()));
  return Error::success();
}

/// The reduction, if it is on the path.
static Error decodeReduce(ImageReader &reader, VectorConfig &config) {
  if (reader.take("reduce_data_path") == value(codes::ReduceDataPath::Bypass))
    return Error::success();
  VectorStep step;
  step.kind = VectorStep::Kind::Reduce;
  ReduceConfig &reduce = step.reduce;
  auto depth = takeCode(reader, "reduce_tree_depth");
  if (!depth)
    return depth.takeError();
  reduce.folds = (*depth)->value == value(codes::ReduceTreeDepth::Fold4);
  auto code = takeCode(reader, "reduce_row0_op_mode");
  if (!code)
    return code.takeError();
  for (const vector::Reduction &row : vector::intraSliceReductions())
    if (row.code == (*code)->name)
      reduce.row = &row;
  if (!reduce.row)
    return reader.fail("reduce_row0_op_mode",
                       "not yet supported: " + (*code)->name);
  if (Error error = reader.expect("reduce_row0_acc_init", reduce.row->identity,
                                  "the start value must change nothing"))
    return error;
  if (Error error = reader.expect("acc_indexer_proceed", 1, "is in use"))
    return error;
  reduce.count = decodeLimit(reader.take("accumulation_limit"));
  auto loops = reader.takeLoops("acc_indexer_limit", "acc_indexer_stride");
  if (!loops)
    return loops.takeError();
  reduce.loops = *loops;
  if (lastAddress(0, reduce.loops) >= machine::vectorReduceSlots)
    return reader.fail("acc_indexer_stride",
                       "the loops go beyond the " +
                           Twine(machine::vectorReduceSlots) + " accumulators");
  config.chain.push_back(step);
  return Error::success();
}

/// From the first stage of four ways to the last. Without split or concat the
/// lower half of each flit is taken, and the upper one left undefined.
static Error decodeNarrowPart(ImageReader &reader, VectorConfig &config) {
  size_t start = config.chain.size();
  if (Error error = decodeCluster(reader, vector::Cluster::Fp, config))
    return error;
  if (Error error = decodeReduce(reader, config))
    return error;
  // The divider has no route: it is in use where some operand applies.
  bool divides = false;
  for (StringRef slot : {"reg0", "reg1", "reg2", "rf"})
    divides |= reader.take(("fp_div." + slot + "_cmp_op").str()) != 0;
  if (divides) {
    Expected<AluConfig> alu = decodeAlu(reader, vector::Alu::FpDiv);
    if (!alu)
      return alu.takeError();
    config.chain.emplace_back().alu = *alu;
  }
  bool splits = reader.take("split_layer_mode") != 0;
  bool concats = reader.take("concat_layer_mode") != 0;
  if (!splits && !concats && config.chain.size() == start)
    return Error::success();
  VectorStep step;
  step.kind = splits ? VectorStep::Kind::Split : VectorStep::Kind::Trim;
  config.chain.insert(config.chain.begin() + start, step);
  step.kind = concats ? VectorStep::Kind::Concat : VectorStep::Kind::Pad;
  config.chain.push_back(step);
  return Error::success();
}

/// Counts the stream through the chain, and gives VRF operands their loops.
static Error decodeCounts(ImageReader &reader, uint64_t flits,
                          VectorConfig &config) {
  uint64_t packets = flits;
  for (auto [k, step] : llvm::enumerate(config.chain)) {
    switch (step.kind) {
    case VectorStep::Kind::Split:
      packets *= 2;
      break;
    case VectorStep::Kind::Concat:
      if (packets % 2 != 0)
        return reader.fail("concat_layer_mode",
                           "two packets make a flit, there are " +
                               Twine(packets));
      packets /= 2;
      break;
    case VectorStep::Kind::Alu: {
      if (!step.alu.reads(AluSlot::Source::Vrf))
        break;
      auto indexer = findIndexer(reader, step.alu.operation->alu);
      if (!indexer)
        return reader.fail(
            (vector::toString(step.alu.operation->alu) + ".rf_cmp_op").str(),
            "no read indexer serves the operand");
      if (Error error = decodeIndexer(
              reader, *indexer, packets * waysBehind(config, k), step.alu))
        return error;
      break;
    }
    case VectorStep::Kind::Reduce: {
      std::optional<uint64_t> steps = countSteps(step.reduce.loops);
      if (!steps || *steps != packets)
        return reader.fail("acc_indexer_limit",
                           "the product of the loops must be the " +
                               Twine(packets) + " packets of the stream");
      if (packets % step.reduce.count != 0)
        return reader.fail("accumulation_limit",
                           "must divide the " + Twine(packets) + " packets");
      packets /= step.reduce.count;
      break;
    }
    default:
      break;
    }
  }
  config.flitsOut = packets;
  return Error::success();
}

/// Flits that a slice keeps of those that are reduced.
static Error countKept(const ImageReader &reader,
                       const SliceReduceConfig &config, uint64_t &flits) {
  std::optional<uint64_t> steps = countSteps(config.loops);
  if (!steps || *steps != flits)
    return reader.fail("index_limit", "the product of the loops must be the " +
                                          Twine(flits) +
                                          " flits of the stream");
  for (const HardwareLoop &loop : config.loops)
    if (loop.stride != 0)
      flits /= loop.limit;
  return Error::success();
}

/// Whether some operand applies to a part of the ids.
static bool asksForIds(const VectorConfig &config) {
  return llvm::any_of(config.chain, [](const VectorStep &step) {
    return llvm::any_of(step.alu.slots, [](const AluSlot &slot) {
      return !slot.guard.isAlways();
    });
  });
}

Expected<VectorConfig> rngd::decodeVector(const SfrImage &routeImage,
                                          const SfrImage &reduceImage,
                                          const SfrImage &arithmeticImage,
                                          uint64_t flits) {
  VectorConfig config;
  bool usesArithmeticUnit = false;
  if (Error error = decodeRoute(routeImage, flits, config, usesArithmeticUnit))
    return error;
  if (Error error = decodeReduceUnit(reduceImage, config.sliceReduce))
    return error;
  ImageReader routeReader(routeImage);
  if (config.sliceReduce && config.sliceReduce->isFirst)
    if (Error error = countKept(routeReader, *config.sliceReduce, flits))
      return error;

  ImageReader reader(arithmeticImage);
  if (Error error = reader.unsupported({"branch_write_mode"}))
    return error;
  if (Error error = decodeTag(reader, flits, config.tag))
    return error;
  for (vector::Cluster cluster : {vector::Cluster::Logic, vector::Cluster::Fxp})
    if (Error error = decodeCluster(reader, cluster, config))
      return error;
  if (Error error = decodeConversion(reader, "fxp_to_fp",
                                     VectorStep::Kind::FxpToFp, config))
    return error;
  if (Error error = decodeNarrowPart(reader, config))
    return error;
  if (Error error = decodeConversion(reader, "fp_to_fxp",
                                     VectorStep::Kind::FpToFxp, config))
    return error;
  if (Error error = decodeCluster(reader, vector::Cluster::Clip, config))
    return error;
  if (Error error = decodeStash(reader, config))
    return error;
  if (Error error = decodeCounts(reader, flits, config))
    return error;
  if (Error error = checkIndexers(reader, config))
    return error;
  if (Error error = reader.finish())
    return error;
  if (config.tag.mode == codes::BranchMode::Compare && !asksForIds(config))
    return reader.fail("mode", "no operand asks for execution ids");
  bool toggles = config.tag.mode == codes::BranchMode::AxisToggle;
  // A reduction over time takes the flits of both groups.
  bool leavesGroups =
      toggles && llvm::none_of(config.chain, [](const VectorStep &step) {
        return step.kind == VectorStep::Kind::Reduce && step.reduce.count > 1;
      });
  if (config.compaction.has_value() != leavesGroups)
    return ImageReader(routeImage)
        .fail("collect_compaction_mode",
              leavesGroups ? "two groups leave the engine"
                           : "there are no groups to choose from");
  bool reduces = llvm::any_of(config.chain, [](const VectorStep &step) {
    return step.kind == VectorStep::Kind::Reduce;
  });
  if (config.valid && !reduces)
    return ImageReader(routeImage)
        .fail("valid_generator_mode", "no reduction takes the counts");
  if (config.sliceReduce && !config.sliceReduce->isFirst)
    if (Error error =
            countKept(routeReader, *config.sliceReduce, config.flitsOut))
      return error;
  if (config.compaction)
    config.flitsOut /= 2;
  if (usesArithmeticUnit != !config.chain.empty())
    return ImageReader(routeImage)
        .fail("data_out_source",
              usesArithmeticUnit
                  ? "takes the arithmetic unit, which has no ALU in use"
                  : "passes by the arithmetic unit, which has ALUs in use");
  return config;
}
