//===- TensorUnitStream.cpp - Generated chains that move and convert ------===//

#include "TensorUnitDrawer.h"

#include "llvm/Support/MathExtras.h"

using namespace furiosa;
using namespace furiosa::test;
using namespace furiosa::test::drawing;

namespace {
class StreamDrawer : public Drawer {
public:
  using Drawer::Drawer;
  std::optional<TensorUnitKernel> draw();

private:
  bool drawAdapter();
  bool drawSwitch();
  bool finish();

  ElementType memory = I8, type = I8;
  bool isSub = false;
  /// Two tensors in turn, told apart by axis I.
  bool isPair = false;
  Digit packet;
  Digits slice, newSlice, time, element;
  std::string adapter;
};
} // namespace

bool StreamDrawer::drawAdapter() {
  struct Path {
    ElementType from, to;
    const char *stages;
    Convert convert;
  };
  auto decode = [](ElementType from) -> Convert {
    return [from](uint32_t code) { return asPattern(valueOf(from, code)); };
  };
  auto extend = [](unsigned bits) -> Convert {
    return [bits](uint32_t code) { return uint32_t(integerOf(code, bits)); };
  };
  Convert none;
  static const std::vector<Path> paths = {
      {I4, I4, "", none},
      {I8, I8, "", none},
      {I16, I16, "", none},
      {I32, I32, "", none},
      {U8, U8, "", none},
      {E2M1, E2M1, "", none},
      {E4M3, E4M3, "", none},
      {E5M2, E5M2, "", none},
      {BF16, BF16, "", none},
      {F32, F32, "", none},
      {I8, I8, "fetch_cast to i8", none},
      {I4, I32, "fetch_cast to i32", extend(4)},
      {I8, I32, "fetch_cast to i32", extend(8)},
      {I16, I32, "fetch_cast to i32", extend(16)},
      {E4M3, F32, "fetch_cast to f32", decode(E4M3)},
      {E5M2, F32, "fetch_cast to f32", decode(E5M2)},
      {BF16, F32, "fetch_cast to f32", decode(BF16)},
      {F32, BF16, "fetch_cast to bf16", toBF16},
      {E2M1, E4M3, "table_lookup to f8E4M3FN",
       [](uint32_t code) { return toF8(E4M3, asPattern(e2m1(code))); }},
      {E2M1, E5M2, "table_lookup to f8E5M2",
       [](uint32_t code) { return toF8(E5M2, asPattern(e2m1(code))); }},
      {E4M3, BF16, "table_lookup to bf16",
       [](uint32_t code) { return asPattern(valueOf(E4M3, code)) >> 16; }},
      {E5M2, BF16, "table_lookup to bf16",
       [](uint32_t code) { return asPattern(valueOf(E5M2, code)) >> 16; }},
      {E2M1, F32, "table_lookup to f8E4M3FN\n    fetch_cast to f32",
       [](uint32_t code) { return asPattern(e2m1(code)); }}};
  const Path &path = pickFrom(paths);
  memory = path.from;
  type = path.to;
  adapter = path.stages;
  if (path.convert)
    conversions.push_back(path.convert);
  bool hasTable = adapter.find("table") != std::string::npos;
  kind(hasTable          ? "table lookup"
       : adapter.empty() ? "no conversion"
                         : "fetch cast");
  isSub = !hasTable && chance(20);
  // Eight bytes that would grow beyond a flit.
  if (isSub && bitsOf(type) > 4 * bitsOf(memory))
    return false;
  kind(isSub ? "sub copy" : "main copy");
  return true;
}

/// Slices `C` are exchanged by a named configuration, or `P, Z` by a custom
/// one.
bool StreamDrawer::drawSwitch() {
  int64_t config = pick({0, 1, 2, 3, 4, 5, 6});
  auto log2 = [](int64_t value) { return llvm::Log2_64(value); };
  auto power = [&](int64_t most) {
    return int64_t(1) << (random() % (log2(most) + 1));
  };
  if (config == 6) {
    kind("switch custom_broadcast");
    int64_t ring = pick({2, 4, 8, 16});
    Digit outer = axis("P", slices / ring), tile = axis("Y", ring);
    int64_t form = pick({0, 1, 2, 3});
    Digit whole = axis("Z", ring);
    std::string number = std::to_string(ring);
    if (form == 0) {
      sizes.erase("Z");
      slice = {outer, Digit{"", 1, 1, ring}};
      newSlice = {outer, tile};
    } else if (form == 1) {
      slice = {outer, whole};
      newSlice = {outer, tile};
      time.push_back(whole);
    } else if (form == 2) {
      // What changes is everything.
      sizes.erase("Y");
      slice = {outer, whole};
      newSlice = {whole, outer};
      number = std::to_string(slices);
    } else {
      // A ragged axis is replaced, its padding dropped.
      if (ring < 4)
        return false;
      sizes.erase("Z");
      whole = axis("Z", ring - 1);
      slice = {outer, Digit{"Z", 1, ring - 1, ring}};
      newSlice = {outer, tile};
      time.push_back(whole);
    }
    if (sizeOf(time) > 64)
      return false;
    stage("switch custom_broadcast [" + number + "] slice \"" + text(newSlice) +
          "\" time \"" + text(time) + "\"");
    return true;
  }
  Digit whole = axis("C", slices);
  slice = newSlice = {whole};
  if (config == 0) {
    kind("switch forwarding");
    stage("switch forwarding [] slice \"C\" time \"" + text(time) + "\"");
    return true;
  }
  int64_t slice1 = power(16), slice0 = power(16), time0 = 1, time1 = 1;
  if (slice1 * slice0 > slices)
    return false;
  if (config == 1 || config == 4)
    time0 = pick({1, 1, 2, 3, 4});
  if (config == 4)
    time1 = slice1;
  auto parts = split(time, time1 * time0);
  if (!parts)
    return false;
  auto both = split(parts->second, time0);
  if (!both)
    return false;
  Digits outer = parts->first, middle = both->first, innermost = both->second;
  Digit s2 = {"C", slice1 * slice0, slices / (slice1 * slice0)},
        s1 = {"C", slice0, slice1}, s0 = {"C", 1, slice0};
  // The tile: a new axis, or padding.
  auto tileOf = [&](int64_t size) {
    if (size == 1)
      return Digit();
    if (chance(30)) {
      kind("tile of padding");
      return Digit{"", 1, 1, size};
    }
    return axis("D", size);
  };
  std::string numbers =
      "[" + std::to_string(slice1) + ", " + std::to_string(slice0);
  std::string name;
  switch (config) {
  case 1:
    name = "broadcast01";
    numbers += ", " + std::to_string(time0);
    newSlice = {s2, tileOf(slice1 * slice0)};
    time = outer + Digits{s1} + innermost + Digits{s0};
    break;
  case 2:
    name = "broadcast1";
    newSlice = {s2, tileOf(slice1), s0};
    time.push_back(s1);
    break;
  case 3:
    name = "transpose";
    newSlice = {s2, s0, s1};
    break;
  case 4:
    name = "inter_transpose";
    numbers += ", " + std::to_string(time0);
    newSlice = Digits{s2} + middle + Digits{s0};
    time = outer + innermost + Digits{s1};
    break;
  default:
    name = "transposed_broadcast1";
    newSlice = {s2, tileOf(slice0), s1};
    time.push_back(s0);
    break;
  }
  if (sizeOf(time) > 64)
    return false;
  kind("switch " + name);
  stage("switch " + name + " " + numbers + "] slice \"" + text(newSlice) +
        "\" time \"" + text(time) + "\"");
  return true;
}

std::optional<TensorUnitKernel> StreamDrawer::draw() {
  drawTarget();
  if (!drawAdapter())
    return std::nullopt;
  int64_t bits = bitsOf(type), flit = 256 / bits;
  Digits axes;
  axes.push_back(axis("A", pick({2, 3, 4, 8})));
  if (chance(50))
    axes.push_back(axis("B", pick({2, 3, 4})));
  time = axes;
  shuffle(time);
  // Elements of a packet: words, a flit, several, or what is left over.
  bool exchanged = chance(60);
  int64_t count = 1;
  switch (pick({0, 1, 2, 3})) {
  case 0:
    count = pick({1, 2, 3}) * 64 / bits;
    kind("packet below a flit");
    break;
  case 1:
  case 2:
    count = flit;
    kind("packet of a flit");
    break;
  default:
    count = pick({2, 4}) * flit;
    kind("packet of several flits");
    break;
  }
  if (!exchanged && !isSub && chance(15)) {
    // No whole words.
    count = std::max<int64_t>(8 / bits, 1) * pick({1, 3, 5, 7});
    if (count > flit)
      return std::nullopt;
    kind("packet of no whole words");
  }
  packet = axis("X", count);
  if (count == 1)
    return std::nullopt;
  element = axes;
  shuffle(element);
  bool turned = !isSub && bitsOf(memory) >= 8 && chance(20);
  element.insert(turned ? element.begin() : element.end(), packet);
  if (turned)
    kind("packet of strided cells");
  // Reads and the sub context's words.
  int64_t memoryBits = count * bitsOf(memory);
  if (memoryBits % 8 != 0 || (isSub && memoryBits % 64 != 0))
    return std::nullopt;

  isPair = chance(25);
  if (isPair) {
    time.insert(time.begin() + random() % (time.size() + 1), axis("I", 2));
    kind("interleaved pair");
  }
  stage("fetch %d " + std::string(isPair ? "interleave %e along \"I\" " : "") +
        "time \"" + text(time) + "\" packet \"" + text({packet}) +
        "\" : !in_dm" + (isPair ? ", !in_dm" : ""));
  if (!adapter.empty())
    stage(adapter);
  if (exchanged) {
    if (!drawSwitch())
      return std::nullopt;
  } else {
    Digit plain = axis("S", pick({2, 5, 8}));
    plain.pad = slices;
    slice = newSlice = {plain};
  }
  Digit last = packet;
  if (count > flit) {
    time.push_back({"X", flit, count / flit});
    last = {"X", 1, flit};
  } else if (count < flit) {
    last.pad = flit;
  }
  llvm::erase_if(time, [](const Digit &d) { return d.size() == 1; });
  quoted("collect", time, {last});
  if (!drawTail(time, last, type, isSub))
    return std::nullopt;
  if (!finish())
    return std::nullopt;
  return kernel;
}

bool StreamDrawer::finish() {
  auto real = [](const Digits &digits) {
    Digits list;
    for (const Digit &digit : digits)
      if (!digit.axis.empty())
        list.push_back(digit);
    return list;
  };
  std::vector<std::string> inAxes = axesOf(real(slice) + element);
  std::vector<std::string> outAxes = axesOf(real(newSlice) + outElement);
  if (!canLoad(inAxes, element, memory) || !canStore(outAxes))
    return false;
  kernel.text =
      "#axes = #tmap.axes<" + axesText() + ">\n!in = " + hbm(memory, inAxes) +
      "\n!out = " + hbm(outType, outAxes) + "\n!in_dm = " +
      dm("dm", memory, slice, "element \"" + text(element) + "\"") +
      "\n!out_dm = " +
      dm("dm", outType, newSlice, "element \"" + text(outElement) + "\"") +
      "\n" + target() +
      "func.func @kernel(%a: !in" + (isPair ? ", %b: !in" : "") +
      ") -> !out attributes {visa.kernel} {\n"
      "  %d = visa.to_dm %a : !in -> !in_dm\n" +
      (isPair ? "  %e = visa.to_dm %b : !in -> !in_dm\n" : "") +
      "  %r = visa.chain " +
      (isSub ? "sub" : "main") + " -> !out_dm {\n" + stages +
      "  }\n"
      "  %o = visa.to_hbm %r : !out_dm -> !out\n"
      "  return %o : !out\n}\n}\n";
  kernel.fill = "bits";
  kernel.expected = [=, sizes = sizes, isPair = isPair,
                     conversions = conversions](const std::vector<Codes> &in) {
    Codes result;
    forEach(outAxes, sizes, [&](const Index &at) {
      uint32_t code =
          in[isPair ? at.at("I") : 0][placeOf(inAxes, sizes, at)];
      for (const Convert &convert : conversions)
        code = convert(code);
      result.push_back(code);
    });
    return result;
  };
  return true;
}

TensorUnitKernel test::drawStream(std::mt19937_64 &random) {
  for (;;)
    if (auto kernel = StreamDrawer(random).draw())
      return std::move(*kernel);
}
