//===- TensorUnitContraction.cpp - Generated contractions -----------------===//

#include "TensorUnitDrawer.h"

using namespace furiosa;
using namespace furiosa::test;
using namespace furiosa::test::drawing;

namespace {
class ContractionDrawer : public Drawer {
public:
  using Drawer::Drawer;
  std::optional<TensorUnitKernel> draw();

private:
  bool drawStreamChain();
  bool drawWeightChain();
  bool finish();

  ElementType stream = I8, weight = I8, streamMemory = I8, weightMemory = I8;
  ElementType table = I8;
  int zeroA = 0, zeroB = 0;
  int64_t flits = 1, flit = 32, lanes = 8;
  Digit slice, tile, lane, rows, more, groups, shared, extra, sum, inner,
      columns;
  bool refetch = false, interleaved = true;
  bool columnsInStream = true, columnsInWeight = true;
  bool sliceInStream = true, sliceInWeight = true;
  /// The register file is filled by a chain of the main context.
  bool loadsInMain = false;
  Digits streamSlice, operandSlice;
  Digits packetDigits, streamTime, broadcast, outerTime, sumTime;
  Digits streamElement, weightElement, trfElement;
  std::string weightStages;
};
} // namespace

std::optional<TensorUnitKernel> ContractionDrawer::draw() {
  drawTarget();
  // Operands.
  struct Pair {
    ElementType stream, weight;
  };
  static const std::vector<Pair> pairs = {
      {I4, I4}, {I4, I5}, {I5, I4},     {I5, I5},     {I8, I8},    {I8, I9},
      {I9, I8}, {I9, I9}, {E4M3, E4M3}, {E5M2, E5M2}, {BF16, BF16}};
  Pair pair = pickFrom(pairs);
  stream = pair.stream;
  weight = pair.weight;
  auto inMemory = [](ElementType type) {
    return type == I5 ? I4 : type == I9 ? I8 : type;
  };
  streamMemory = table = inMemory(stream);
  weightMemory = inMemory(weight);
  if ((stream == E4M3 || stream == E5M2) && chance(30)) {
    streamMemory = E2M1;
    kind("table lookup in front of a contraction");
  }
  kind("pair " + nameOf(stream) + " x " + nameOf(weight));
  auto drawZero = [&](ElementType type) {
    int64_t limit = type == I5 ? 8 : 128;
    return type == I5 || type == I9 ? int(random() % (2 * limit) - limit) : 0;
  };
  loadsInMain = chance(20);
  if (loadsInMain)
    kind("weight loaded by main");
  if (loadsInMain && (weight == E4M3 || weight == E5M2) && chance(50)) {
    weightMemory = E2M1;
    kind("table lookup in front of a contraction");
  }
  zeroA = drawZero(stream);
  zeroB = drawZero(weight);

  // Shape.
  flit = 256 / bitsOf(stream);
  flits = pick({1, 2});
  kind(flits == 1 ? "one flit" : "two flits");
  int64_t packet = flits * flit;
  lanes = pick({1, 2, 4, 8});
  kind("lanes " + std::to_string(lanes));
  int64_t liveLanes = lanes > 2 && chance(25) ? lanes - 1 : lanes;
  lane = axis("R", liveLanes);
  if (liveLanes != lanes) {
    lane.pad = lanes;
    kind("padded lanes");
  }
  int64_t numColumns = chance(55) ? 1 : pick({2, 4, 8, 16, 32});
  if (numColumns > packet)
    return std::nullopt;
  int64_t tree = packet / numColumns, steps = pick({1, 1, 2, 3, 4});
  columns = axis("C", numColumns);
  switch (pick({0, 1, 2})) {
  case 0:
    columnsInWeight = false;
    break;
  case 1:
    columnsInStream = false;
    break;
  }
  if (numColumns > 1)
    kind(!columnsInStream   ? "columns of the weight"
         : !columnsInWeight ? "columns of the stream"
                            : "columns of both");
  Digit whole = axis("K", tree * steps);
  inner = {whole.axis, 1, tree};
  sum = {whole.axis, tree, steps};
  if (tree * steps == 1)
    inner = sum = Digit();
  rows = axis("I", pick({1, 2, 3, 4, 6}));
  if (rows.count > 1 && chance(25)) {
    rows.pad = rows.count + pick({1, 2});
    kind("padded rows");
  }
  more = axis("L", chance(30) ? pick({2, 3, 4}) : 1);
  groups = axis("J", pick({1, 2, 3, 4}));
  shared = axis("N", chance(20) ? 2 : 1);
  extra = axis("T", chance(20) ? pick({2, 3}) : 1);
  refetch = chance(35);
  interleaved = chance(50);
  kind(interleaved ? "lane interleaved" : "lane sequential");
  slice = axis("S", pick({2, 3, 5, 8}));
  switch (pick({0, 1, 2, 3})) {
  case 0:
    sliceInStream = false;
    break;
  case 1:
    sliceInWeight = false;
    break;
  }
  slice.pad = slices;
  if (pes == 8 && chance(20)) {
    cluster = axis("Q", 2);
    kind("both clusters");
  }
  streamSlice = operandSlice = {slice};
  if (!drawStreamChain())
    return std::nullopt;
  std::string streamStages = std::move(stages);
  stages.clear();
  if (!drawWeightChain())
    return std::nullopt;
  weightStages = std::move(stages);
  stages = std::move(streamStages);
  if (!finish())
    return std::nullopt;
  return kernel;
}

bool ContractionDrawer::drawStreamChain() {
  packetDigits = {columns, inner};
  streamTime = {rows, more, shared, sum};
  if (refetch)
    streamTime.push_back(groups);
  else
    broadcast.push_back(groups);
  broadcast.push_back(extra);
  llvm::erase_if(streamTime, [](const Digit &d) { return d.size() == 1; });
  llvm::erase_if(broadcast, [](const Digit &d) { return d.size() == 1; });
  llvm::erase_if(packetDigits, [](const Digit &d) { return d.size() == 1; });
  shuffle(streamTime);
  shuffle(broadcast);
  if (!broadcast.empty())
    kind("broadcast in time");
  if (refetch && groups.size() > 1)
    kind("fetched again");
  int64_t packet = flits * flit;
  Digits all = streamTime + packetDigits;

  // The tensor, in the order of its axes.
  Digits element;
  for (const Digit &digit : {rows, more, shared})
    if (digit.size() > 1)
      element.push_back(digit);
  shuffle(element);
  if (columnsInStream && columns.size() > 1)
    element.push_back(columns);
  if (sizes.count("K"))
    element.push_back({"K", 1, sizes["K"]});
  streamElement = element;

  // Multicast from one slice of a ring to all.
  bool spread = chance(25) && packet * bitsOf(stream) / 8 % 8 == 0;
  if (spread) {
    tile = axis("Y", 4);
    slice.pad = slices / 4;
    streamSlice = {slice, Digit{"", 1, 1, 4}};
    operandSlice = {slice, tile};
  }

  std::vector<int64_t> fetched = {flit, packet};
  if (!streamTime.empty() && streamTime.back().pad == 0)
    fetched.push_back(packet * streamTime.back().size());
  int64_t cells = pickFrom(fetched);
  auto fetch = split(all, cells), collect = split(all, flit),
       outer = split(all, packet);
  if (!fetch || !collect || !outer)
    return false;
  if (bitsOf(stream) * cells % 64 != 0)
    return false;
  // Runs of four bits are no bytes.
  if (bitsOf(streamMemory) == 4 && inner.size() % 2 != 0)
    return false;
  stage("fetch %ad time \"" + text(fetch->first) + "\" packet \"" +
        text(fetch->second) + "\" : !ad");
  if (streamMemory == E2M1)
    stage("table_lookup to " + nameOf(stream));
  if (stream == I5 || stream == I9)
    stage("zero_point_sub " + std::to_string(zeroA));
  if (spread) {
    kind("switch custom_broadcast");
    stage("switch custom_broadcast [4] slice \"" + text(operandSlice) +
          "\" time \"" + text(fetch->first) + "\"");
  }
  quoted("collect", collect->first, collect->second);
  outerTime = outer->first + broadcast;
  stage("contract_outer %w time \"" + text(outerTime) + "\" packet \"" +
        text(outer->second) + "\" : !w");
  stage("contract_packet packet \"" + text({columns}) + "\"");
  Digits kept;
  int64_t open = 1;
  bool sawSum = false;
  for (const Digit &digit : outerTime) {
    if (digit.axis == "K") {
      sawSum = true;
      sumTime.push_back(digit);
      continue;
    }
    kept.push_back(digit);
    if (sawSum)
      open *= digit.size();
  }
  if (open > 1)
    kind("open sums");
  if (sawSum)
    kind("sum over time");
  stage("contract_time time \"" + text(kept) + "\"");
  int64_t slots = interleaved ? 8 * open * columns.size() : lanes * open * 32;
  if (slots > 1024 || kept.size() + sumTime.size() > 6)
    return false;
  Digits time = kept;
  Digit last;
  if (interleaved) {
    if (columns.size() > 1)
      time.push_back(columns);
    last = lane;
    last.pad = 8;
  } else {
    if (lane.size() > 1)
      time.push_back(lane);
    if (columns.size() > 8)
      time.push_back({"C", 8, columns.size() / 8});
    last = columns.size() > 8 ? Digit{"C", 1, 8} : columns;
    last.pad = 8;
  }
  stage(std::string("contract_lane ") +
        (interleaved ? "interleaved" : "sequential") + " time \"" + text(time) +
        "\" packet \"" + text({last}) + "\"");
  return drawTail(time, last, isFloatType(stream) ? F32 : I32, false);
}

bool ContractionDrawer::drawWeightChain() {
  Digits packet;
  if (columnsInWeight && columns.size() > 1)
    packet.push_back(columns);
  if (inner.size() > 1)
    packet.push_back(inner);
  Digits order;
  for (const Digit &digit : {groups, shared, sum})
    if (digit.size() > 1)
      order.push_back(digit);
  shuffle(order);
  Digits element = order + packet;
  if (sizeOf(element) > 2048)
    return false;
  // A lane is whole flits; what is missing in the last is padding.
  Digits collected;
  int64_t cells = sizeOf(packet);
  int64_t bits = bitsOf(weight);
  auto parts = split(element, flit);
  if (parts && (cells >= flit || chance(70))) {
    collected = parts->second;
  } else {
    if (packet.size() != 1 || cells > flit)
      return false;
    parts = std::pair(order, packet);
    collected = packet;
    collected[0].pad = flit;
    kind("padded weight");
  }
  // A read of the register file: what repeats stands outside of it.
  if (cells * bits % 8 != 0)
    return false;
  trfElement = parts->first + collected;
  Digits fetchPacket = parts->second;
  // The sub context reads eight bytes at a time.
  Digits memory;
  for (const Digit &digit : order)
    if (digit.axis != "K")
      memory.push_back(digit);
  bool split = sum.size() > 1 && packet.size() > 1 && chance(40);
  if (split) {
    memory.push_back(sum);
    memory = memory + packet;
  } else {
    if (packet.size() > 1 || (packet.size() == 1 && packet[0].axis == "C"))
      memory.push_back(columns);
    if (sizes.count("K"))
      memory.push_back({"K", 1, sizes["K"]});
  }
  if (lane.size() > 1)
    memory.insert(memory.begin(), lane);
  // The innermost run that the packet takes from memory.
  int64_t run = 1;
  for (auto a = memory.rbegin(), b = fetchPacket.rbegin();
       a != memory.rend() && b != fetchPacket.rend(); ++a, ++b) {
    if (a->axis != b->axis || a->low != b->low)
      break;
    run *= std::min(a->count, b->count);
    if (a->count != b->count)
      break;
  }
  if (run * bitsOf(weightMemory) % (loadsInMain ? 8 : 64) != 0)
    return false;
  weightElement = memory;
  Digits time = parts->first;
  if (lane.size() > 1)
    time.insert(time.begin(), lane);
  if (time.size() > 5)
    return false;
  stage("fetch %bd time \"" + text(time) + "\" packet \"" + text(fetchPacket) +
        "\" : !bd");
  if (weightMemory == E2M1)
    stage("table_lookup to " + nameOf(weight));
  if (weight == I5 || weight == I9)
    stage("zero_point_sub " + std::to_string(zeroB));
  quoted("collect", time, collected);
  stage("to_trf lane \"" + text({lane}) + "\" element \"" + text(trfElement) +
        "\"");
  return true;
}

bool ContractionDrawer::finish() {
  auto listOf = [&](bool hasSlice, bool hasTile, const Digits &element) {
    Digits all;
    if (!cluster.axis.empty())
      all.push_back(cluster);
    if (hasSlice)
      all.push_back(slice);
    if (hasTile && !tile.axis.empty())
      all.push_back(tile);
    return axesOf(all + element);
  };
  std::vector<std::string> aAxes = listOf(sliceInStream, false, streamElement);
  std::vector<std::string> bAxes = listOf(sliceInWeight, true, weightElement);
  std::vector<std::string> cAxes = listOf(true, true, outElement);
  if (!canLoad(aAxes, streamElement, streamMemory) ||
      !canLoad(bAxes, weightElement, weightMemory) || !canStore(cAxes))
    return false;
  auto elementText = [&](const Digits &digits) {
    return "element \"" + text(digits) + "\"";
  };
  kernel.text =
      "#axes = #tmap.axes<" + axesText() +
      ">\n!ah = " + hbm(streamMemory, aAxes) +
      "\n!bh = " + hbm(weightMemory, bAxes) + "\n!ch = " + hbm(outType, cAxes) +
      "\n!ad = " +
      dm("dm", streamMemory, streamSlice, elementText(streamElement)) +
      "\n!bd = " +
      dm("dm", weightMemory, operandSlice, elementText(weightElement)) +
      "\n!cd = " + dm("dm", outType, operandSlice, elementText(outElement)) +
      "\n!w = " +
      dm("trf", weight, operandSlice,
         "lane \"" + text({lane}) + "\", " + elementText(trfElement)) +
      "\n" + target() +
      "func.func @kernel(%a: !ah, %b: !bh) -> !ch attributes {visa.kernel} {\n"
      "  %ad = visa.to_dm %a : !ah -> !ad\n"
      "  %bd = visa.to_dm %b : !bh -> !bd\n"
      "  %w = visa.chain " +
      (loadsInMain ? "main" : "sub") + " -> !w {\n" + weightStages +
      "  }\n  %c = visa.chain main -> !cd {\n" + stages +
      "  }\n"
      "  %o = visa.to_hbm %c : !cd -> !ch\n"
      "  return %o : !ch\n}\n}\n";
  bool isFloating = isFloatType(stream);
  kernel.fill = isFloating ? (chance(50) ? "small" : "bits") : "bits";

  // The plain loop.
  auto valueA = [type = streamMemory, zero = zeroA](uint32_t code) -> float {
    if (type == E2M1)
      return e2m1(code);
    return isFloatType(type) ? valueOf(type, code)
                             : float(integerOf(code, bitsOf(type)) - zero);
  };
  auto valueB = [type = weightMemory, zero = zeroB](uint32_t code) -> float {
    if (type == E2M1)
      return e2m1(code);
    return isFloatType(type) ? valueOf(type, code)
                             : float(integerOf(code, bitsOf(type)) - zero);
  };
  Digits treeDigits;
  if (inner.size() > 1)
    treeDigits.push_back(inner);
  kernel.expected = [=, sizes = sizes, sumTime = sumTime,
                     conversions = conversions](const std::vector<Codes> &in) {
    Codes result;
    forEach(cAxes, sizes, [&](const Index &at) {
      float sum = 0.0f;
      int32_t count = 0;
      for (int64_t step = 0; step < sizeOf(sumTime); ++step) {
        std::vector<float> level;
        for (int64_t k = 0; k < sizeOf(treeDigits); ++k) {
          Index index = at;
          index["K"] = 0;
          addDigits(index, sumTime, step);
          addDigits(index, treeDigits, k);
          float product = valueA(in[0][placeOf(aAxes, sizes, index)]) *
                          valueB(in[1][placeOf(bAxes, sizes, index)]);
          level.push_back(product);
          // Integers are small enough to be exact as floats.
          count += isFloating ? 0 : int32_t(product);
        }
        for (; isFloating && level.size() > 1; level.resize(level.size() / 2))
          for (size_t k = 0; k < level.size() / 2; ++k)
            level[k] = level[2 * k] + level[2 * k + 1];
        sum += level[0];
      }
      uint32_t code = isFloating ? asPattern(sum) : uint32_t(count);
      for (const Convert &convert : conversions)
        code = convert(code);
      result.push_back(code);
    });
    return result;
  };
  return true;
}

TensorUnitKernel test::drawContraction(std::mt19937_64 &random) {
  for (;;)
    if (auto kernel = ContractionDrawer(random).draw())
      return std::move(*kernel);
}
