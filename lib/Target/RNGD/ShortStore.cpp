//===- ShortStore.cpp - Commands that fill a register file, or copy -------===//
//
// `stotrf` and `stovrf` say in three operands, and `stos` in two, what else
// takes three register blocks and an exec. They are read as those blocks, so
// that all rules are those of the blocks.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Target/RNGD/ExecConfig.h"
#include "furiosa/Target/RNGD/Machine.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace furiosa;
using namespace furiosa::rngd;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

/// The exec of the sub context that has these blocks.
static Expected<ExecConfig> decodeBlocks(uint64_t route,
                                         llvm::ArrayRef<SfrImage> images) {
  TucCommand exec(TucOp::Exec);
  Fault fault = exec.set("subunit_bitmap",
                         codes::subUnitsOf(route, codes::ExecTarget::Sub));
  if (!fault)
    fault = exec.set("target_context", codes::value(codes::ExecTarget::Sub));
  if (fault)
    return llvm::createStringError(*fault);
  return decodeExec(exec, [&](Block block) -> const SfrImage * {
    for (const SfrImage &image : images)
      if (image.block() == block)
        return &image;
    return nullptr;
  });
}

/// Words in a row, to words in a row in the same slice; in all slices.
static Expected<ExecConfig> decodeShortCopy(const TucCommand &command) {
  auto fail = [&](const Twine &message) {
    return llvm::createStringError("stos: " + message);
  };
  auto get = [&](StringRef field) { return command.get(field).value_or(0); };
  for (auto [field, expected] :
       {std::pair<StringRef, uint64_t>("slice_log_size", 0),
        {"dim1_log_size", 0},
        {"words_per_packet", 1}})
    if (get(field) != expected)
      return fail(field + ": not yet supported: value " + Twine(get(field)));
  uint64_t begin = get("address_begin"), end = get("address_end");
  uint64_t word = machine::subFetchBytes;
  auto limit = end > begin && (end - begin) % word == 0
                   ? encodeLimit((end - begin) / word)
                   : std::nullopt;
  if (!limit)
    return fail("address_end: 1 to " + Twine(machine::sequencerEntryLimit) +
                " words of " + Twine(word) + " bytes are copied, found bytes " +
                Twine(begin) + " to " + Twine(end));
  SfrImage fetch(Block::SubFetchUnit), path(Block::OperationDataPath),
      commit(Block::SubCommitUnit);
  Fault fault;
  auto set = [&](SfrImage &image, StringRef field, uint64_t value,
                 unsigned index = 0) {
    if (!fault)
      fault = image.set(field, index, value);
  };
  uint64_t words = (end - begin) / word;
  for (SfrImage *image : {&fetch, &commit}) {
    for (unsigned k = 0; k < machine::sequencerEntries; ++k)
      set(*image, "limits", k == 0 ? *limit : 1, k);
    set(*image, "strides", words > 1 ? word : 0);
  }
  set(fetch, "base", begin);
  set(fetch, "flit_count", words);
  set(fetch, "words_per_packet", 1);
  set(path, "data_path_route_sub_context", codes::routeDmCopy);
  set(commit, "base", get("destination_begin"));
  set(commit, "commit_in_size", machine::subCommitBytes);
  set(commit, "packet_valid_count", word);
  for (unsigned k = 0; k < 4; ++k)
    set(commit, "slice_enable_bitmap_mask" + llvm::utostr(k), ~0ull);
  if (fault)
    return fail(*fault);
  auto config = decodeBlocks(codes::routeDmCopy, {fetch, path, commit});
  if (!config)
    return fail(llvm::toString(config.takeError()));
  return config;
}

Expected<ExecConfig> rngd::decodeShortStore(const TucCommand &command) {
  if (command.op() == TucOp::StoS)
    return decodeShortCopy(command);
  bool isTrf = command.op() == TucOp::StoTrf;
  StringRef name = tucOpInfo(command.op()).mnemonic;
  auto fail = [&](const Twine &message) {
    return llvm::createStringError(name + ": " + message);
  };
  auto get = [&](StringRef field) { return command.get(field).value_or(0); };
  for (StringRef field : {"topology", "slice_log_size", "dim0_log_size",
                          "dim1_log_size", "skip_flit_count"})
    if (get(field) != 0)
      return fail(field + ": not yet supported: value " + Twine(get(field)));
  if (isTrf)
    for (StringRef field : {"write_mode", "dim0_chunk_size"})
      if (get(field) != 0)
        return fail(field + ": not yet supported: value " + Twine(get(field)));

  uint64_t route = isTrf ? codes::routeTrfLoad : codes::routeVrfLoad;
  SfrImage fetch(Block::SubFetchUnit), path(Block::OperationDataPath),
      store(isTrf ? Block::DotProductEngineRegisterFile
                  : Block::VectorRegisterFile);
  Fault fault;
  auto set = [&](SfrImage &image, StringRef field, uint64_t value,
                 unsigned index = 0) {
    if (!fault)
      fault = image.set(field, index, value);
  };
  uint64_t words = get("fetch_limit");
  auto limit = encodeLimit(words);
  if (!limit)
    return fail("fetch_limit: a count must be 1 to " +
                Twine(machine::sequencerEntryLimit) + ", found " +
                Twine(words));
  set(fetch, "base", get("fetch_base"));
  for (unsigned k = 0; k < machine::sequencerEntries; ++k)
    set(fetch, "limits", k == 0 ? *limit : 1, k);
  set(fetch, "strides", words > 1 ? machine::subFetchBytes : 0);
  set(fetch, "type_conversion", get("type_conversion"));
  set(path, "data_path_route_sub_context", route);
  uint64_t rows = get("write_row_count");
  set(store, "row_base", get("write_row_base"));
  set(store, "row_count", rows);
  if (isTrf) {
    set(fetch, "flit_count", rows * get("write_mac_row"));
    set(fetch, "words_per_packet",
        get("flits_per_packet") * machine::flitBytes /
            machine::accessWordBytes);
    const FetchConversion *conversion =
        findConversion(/*isLookup=*/false, get("type_conversion"));
    set(fetch, "num_zero_points",
        conversion && conversion->stage == AdapterStage::ZeroPoint);
    set(fetch, "zero_point", get("zeropoint"));
    set(store, "mac_rows", get("write_mac_row"));
    for (StringRef field : {"flits_per_period", "valid_flits_per_period"})
      set(store, field, get(field));
  } else {
    set(fetch, "flit_count", rows);
    set(fetch, "words_per_packet", get("words_per_packet"));
    set(store, "row_stride", get("write_row_stride"));
  }
  if (fault)
    return fail(*fault);
  auto config = decodeBlocks(route, {fetch, path, store});
  if (!config)
    return fail(llvm::toString(config.takeError()));
  return config;
}

/// Whether the words of loops follow one another.
static bool areInRow(const HardwareLoops &loops) {
  int64_t next = machine::subFetchBytes;
  for (const HardwareLoop &loop : loops) {
    if (loop.limit == 1)
      continue;
    if (loop.stride != next)
      return false;
    next *= loop.limit;
  }
  return true;
}

static std::optional<TucCommand> encodeShortCopy(const ExecConfig &config) {
  if (!config.commit)
    return std::nullopt;
  const FetchConfig &fetch = config.fetch;
  const CommitConfig &commit = *config.commit;
  uint64_t word = machine::subFetchBytes;
  bool isCopy = !fetch.exchange && !fetch.lookup && !fetch.cast &&
                fetch.packetBytes == word && areInRow(fetch.loops) &&
                commit.cast == codes::CommitCast::None &&
                commit.keptBytes == word && areInRow(commit.loops) &&
                fetch.reads <= machine::sequencerEntryLimit &&
                llvm::all_of(commit.sliceEnable,
                             [](uint64_t mask) { return ~mask == 0; });
  if (!isCopy)
    return std::nullopt;
  TucCommand command(TucOp::StoS);
  for (auto [field, value] :
       {std::pair<StringRef, uint64_t>("address_begin", fetch.base),
        {"address_end", fetch.base + word * fetch.reads},
        {"destination_begin", commit.base},
        {"words_per_packet", 1}})
    if (command.set(field, value))
      return std::nullopt;
  return command;
}

std::optional<TucCommand> rngd::encodeShortStore(const ExecConfig &config) {
  if (config.context == codes::ExecTarget::Sub &&
      config.route == codes::routeDmCopy)
    return encodeShortCopy(config);
  bool isTrf = config.route == codes::routeTrfLoad;
  const FetchConfig &fetch = config.fetch;
  if (config.context != codes::ExecTarget::Sub ||
      !(isTrf ? config.trf.has_value()
              : config.vrf && config.route == codes::routeVrfLoad) ||
      fetch.exchange || fetch.lookup)
    return std::nullopt;
  if (!areInRow(fetch.loops))
    return std::nullopt;
  uint32_t packetUnit = isTrf ? machine::flitBytes : machine::accessWordBytes;
  if (fetch.packetBytes % packetUnit != 0)
    return std::nullopt;

  TucCommand command(isTrf ? TucOp::StoTrf : TucOp::StoVrf);
  // A field that a value does not fit leaves it to the register blocks.
  bool fits = true;
  auto set = [&](StringRef field, uint64_t value) {
    fits &= !command.set(field, value);
  };
  if (fetch.reads > machine::sequencerEntryLimit)
    return std::nullopt;
  set("fetch_base", fetch.base);
  set("fetch_limit", fetch.reads);
  set("type_conversion", fetch.cast ? fetch.cast->code : 0);
  if (isTrf) {
    const TrfWriteConfig &store = *config.trf;
    set("zeropoint", static_cast<uint8_t>(fetch.zeroPoint));
    set("flits_per_packet", fetch.packetBytes / machine::flitBytes);
    set("write_row_base", store.rowBase);
    set("write_row_count", store.rowsPerLane);
    set("write_mac_row", store.lanes);
    set("flits_per_period", 1);
    set("valid_flits_per_period", 1);
  } else {
    const VrfWriteConfig &store = *config.vrf;
    set("words_per_packet", fetch.packetBytes / machine::accessWordBytes);
    set("write_row_base", store.rowBase);
    set("write_row_count", store.rows);
    set("write_row_stride", 1);
  }
  if (!fits)
    return std::nullopt;
  return command;
}
