//===- VectorKernel.cpp - Drawing whole vector kernels --------------------===//
//
// What stands around the chain: arguments, loads of the register file, and
// where the stream goes.
//
//===----------------------------------------------------------------------===//

#include "TensorUnitDrawer.h"
#include "VectorDrawer.h"

#include "llvm/ADT/STLExtras.h"

using namespace furiosa;
using namespace furiosa::test;
using namespace furiosa::test::vectors;

//===----------------------------------------------------------------------===//
// Behind the engine
//===----------------------------------------------------------------------===//

/// A code of a narrower type.
static uint32_t castCode(ElementType type, uint32_t pattern) {
  switch (type) {
  case ElementType::I8:
    return pattern & 0xFF;
  case ElementType::I16:
    return pattern & 0xFFFF;
  case ElementType::BF16:
    return drawing::toBF16(pattern);
  default:
    return drawing::toF8(type, pattern);
  }
}

/// The packet without an upper half of padding.
Digits VectorDrawer::getLivePacket() const {
  if (packet.size() > 1 && packet.front().axis == '1')
    return {packet.begin() + 1, packet.end()};
  return packet;
}

/// The cast engine; the packet is padded to a flit.
void VectorDrawer::drawCast() {
  outType = isFloat
                ? pickFrom<ElementType>({ElementType::BF16, ElementType::F8E4M3,
                                         ElementType::F8E5M2})
                : pickFrom<ElementType>({ElementType::I8, ElementType::I16});
  // A commit writes eight bytes at least.
  if (sizeOf(getLivePacket()) < 8)
    outType = isFloat ? ElementType::BF16 : ElementType::I16;
  kind(isFloat ? "end cast f32" : "end cast i32");
  // Padding on top stands in front.
  unsigned flit = 256 / drawing::bitsOf(outType);
  std::string text = std::string(1, packet.front().axis) + " # " +
                     std::to_string(flit);
  if (Digits live = getLivePacket(); packet.size() > 1)
    text = "1 # " + std::to_string(flit / sizeOf(live)) + ", " +
           this->text(live);
  stage("cast to " + drawing::nameOf(outType) + " packet \"" + text + "\"");
  step([type = outType](Flow &flow, const std::vector<Codes> &) {
    for (Cell &cell : flow.cells)
      if (cell.value)
        cell.value = castCode(type, *cell.value);
  });
}

/// Two rows of eight elements become eight of two, which have no padding.
void VectorDrawer::drawTranspose() {
  kind("end transpose");
  Digit row = time.back();
  time.back() = packet.front();
  packet = {row};
  stage("transpose time \"" + text(time) + "\" packet \"" +
        textOf({row}, sizes) + " # 8\"");
}

/// Where the stream goes.
void VectorDrawer::drawEnd() {
  outType = isFloat ? ElementType::F32 : ElementType::I32;
  const Digit &digit = packet.front();
  bool isFolded = digit.axis == '1';
  bool hasRows = !time.empty() && time.back().count == 2 &&
                 time.back().padded == 2 && digit.axis == 'C' && !isSub;
  unsigned choice = pick(10);
  if (choice < 3) {
    drawCast();
  } else if (choice < 5 && hasRows) {
    drawTranspose();
  } else if (choice < 7 && !isFolded) {
    // A second chain reads it back, beside an argument of its own.
    kind("end register file");
    storesRegister = true;
    step([in = outAxes, index = operands.size() + 1](
             Flow &flow, const std::vector<Codes> &arguments) {
      std::vector<Value> others = flow.read(arguments[index], in);
      for (size_t at = 0; at < others.size(); ++at) {
        Value &value = flow.cells[at].value;
        if (value && others[at])
          value = *value ^ *others[at];
      }
    });
  } else {
    kind("end commit");
  }
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

VectorKernel VectorDrawer::draw() {
  drawShape();
  inSlice = slice;
  inTime = time;
  inPacket = packet;
  startsFloat = isFloat = chance(50);
  if (reducesFirst)
    reduceSlices();
  if (pairAxis) {
    isPaired = wasPaired = true;
    stage(std::string("vector_unzip axis \"") + pairAxis + "\" time \"" +
          text(without(time, pairAxis)) + "\"");
    drawChain();
  } else if (!reducesFirst || chance(80)) {
    tag();
    drawChain();
  } else {
    kind("slices alone");
  }
  if (reducesLast)
    reduceSlices();
  if (hasStash && !stashUsed)
    kind("stash that nothing reads");
  stage("vector_final");
  isSub = chance(15);
  if (isSub)
    kind("sub context");
  drawEnd();
  kernel.integers = chance(50) ? "small" : "bits";
  kernel.expected = [table = sizeTable, slice = inSlice, time = inTime,
                     packet = inPacket, in = inAxes, out = outAxes,
                     list = steps](const std::vector<Codes> &arguments) {
    Flow flow(*table, slice, time, packet);
    flow.load(arguments[0], in);
    for (const Step &step : list)
      step(flow, arguments);
    return flow.store(out);
  };
  kernel.text = write();
  return kernel;
}

/// What an argument and a result declare, and what moves between them.
std::string VectorDrawer::write() {
  auto join = [](const std::string &axes) {
    std::string joined;
    for (char axis : axes) {
      joined += joined.empty() ? "" : ", ";
      joined += axis;
    }
    return joined;
  };
  std::string types;
  for (const auto &[axis, size] : sizes) {
    types += types.empty() ? "#axes = #tmap.axes<" : ", ";
    types += axis;
    types += " = " + std::to_string(size);
  }
  types += ">\n";
  auto declare = [&](const std::string &name, const std::string &tier,
                     const std::string &type, const std::string &slice,
                     const std::string &element) {
    types += "!" + name + " = !visa." + tier + "<" + type;
    if (!slice.empty() && pes == 1)
      types += ", cluster \"1\"";
    if (!slice.empty())
      types += ", slice \"" + slice + "\"";
    types += ", element \"" + element + "\", #axes>\n";
  };
  auto order = [&](const Digits &time, const Digits &packet) {
    return " time \"" + text(time) + "\" packet \"" + text(packet) + "\"";
  };
  // The element of the argument in the order of its axes.
  Digits element;
  for (char axis : inAxes)
    for (const Digit &digit : inTime + inPacket)
      if (digit.axis == axis)
        element.push_back(digit);
  auto nameOf = [](bool isFloat) {
    return std::string(isFloat ? "f32" : "i32");
  };
  Digits live = getLivePacket();
  std::string stored = text(time + live), outName = drawing::nameOf(outType);
  declare("a", "hbm", nameOf(startsFloat), "", join(inAxes));
  declare("ad", "dm", nameOf(startsFloat), text(inSlice), text(element));
  declare("r", "hbm", outName, "", join(outAxes));
  declare("rd", "dm", outName, text(slice), stored);
  std::string signature = "%a: !a", loads, target;
  if (pes != 8)
    target = ", visa.target = #visa.target<rngd, release = \"0.6\", chips = 1, "
             "pes = " +
             std::to_string(pes) + ">";
  for (auto [index, operand] : llvm::enumerate(operands)) {
    std::string n = std::to_string(index), slice = text(operand.slice),
                element = text(operand.time + operand.packet);
    declare("b" + n, "hbm", nameOf(operand.isFloat), "", join(operand.axes));
    declare("d" + n, "dm", nameOf(operand.isFloat), slice, element);
    declare("v" + n, "vrf", nameOf(operand.isFloat), slice, element);
    signature += ", %b" + n + ": !b" + n;
    std::string flow = order(operand.time, operand.packet);
    loads += "  %d" + n + " = visa.to_dm %b" + n + " : !b" + n + " -> !d" + n +
             "\n  %v" + n + " = visa.chain sub -> !v" + n + " {\n    fetch %d" +
             n + flow + " : !d" + n + "\n    collect" + flow +
             "\n    to_vrf element \"" + element + "\"\n  }\n";
  }
  std::string flow = order(inTime, inPacket), out = order(time, packet);
  std::string commit = "    commit_trim packet \"" + text(live) +
                       "\"\n    commit element \"" + stored + "\"\n  }\n";
  std::string chain = std::string(isSub ? "sub" : "main") + " -> ";
  std::string body = " {\n    fetch %ad" + flow + " : !ad\n    collect" + flow +
                     "\n    vector_init\n" + stages;
  if (storesRegister) {
    declare("z", "vrf", outName, text(slice), stored);
    signature += ", %e: !r";
    body = "  %z = visa.chain " + chain + "!z" + body +
           "    to_vrf element \"" + stored +
           "\"\n  }\n  %ed = visa.to_dm %e : !r -> !rd\n" +
           "  %rd = visa.chain main -> !rd {\n    fetch %ed" + out +
           " : !rd\n    collect" + out +
           "\n    vector_init\n    vector_tag zero\n"
           "    vector_logic xor [vrf %z] : !z\n    vector_final\n" +
           commit;
  } else {
    body = "  %rd = visa.chain " + chain + "!rd" + body + commit;
  }
  return types + "func.func @kernel(" + signature +
         ") -> !r attributes {visa.kernel" + target + "} {\n" + loads +
         "  %ad = visa.to_dm %a : !a -> !ad\n" + body +
         "  %r = visa.to_hbm %rd : !rd -> !r\n  return %r : !r\n}\n";
}

VectorKernel vectors::drawVectorKernel(std::mt19937_64 &random) {
  while (true) {
    VectorDrawer drawer(random);
    VectorKernel kernel = drawer.draw();
    if (!drawer.isStuck)
      return kernel;
  }
}

std::vector<std::string> vectors::getVectorKinds() {
  std::vector<std::string> kinds = {
      "plain",
      "narrow split",
      "narrow trim",
      "widen concat",
      "widen pad",
      "fxp_to_fp",
      "fp_to_fxp",
      "reinterpret",
      "stash",
      "stash that nothing reads",
      "stash read behind split and pad",
      "stash read behind trim and concat",
      "widen pad of a split",
      "widen concat of a trim",
      "sub context",
      "end commit",
      "end cast i32",
      "end cast f32",
      "end transpose",
      "end register file",
      // Operands.
      "slot imm",
      "slot vrf of four",
      "slot vrf of eight",
      "slot stash of four",
      "slot stash of eight",
      "register file broadcast in time",
      "register file broadcast over slices",
      "register file read again",
      "fma with an operand of the register file",
      "mode with imm",
      "mode with rf",
      "slots 1",
      "slots 2",
      "slots 3",
      "slots 4",
      "guard",
      "guard negated",
      "function with a guard",
      "tag zero",
      // Reductions.
      "reduce of a packet",
      "reduce of time",
      "reduce of time and packet",
      "reduce of slices and time",
      "reduce of time and slices",
      "reduce of slices and packet",
      "reduce inside of what is kept",
      "reduce outside of what is kept",
      "reduce on both sides",
      "reduce with padding",
      "reduce without padding",
      "slices first",
      "slices last",
      "slices alone",
      "freed for padding",
      "freed for a new axis",
      "freed for an axis of time",
      "freed in two parts",
      "promoted axis cut",
      "promoted axis cut by groups",
      "groups of slices of several PEs",
      "padded axis of time beside slices",
      "slices behind a zip",
      "reduce behind a zip",
      // Pairs.
      "pair inside in time",
      "pair outside in time",
      "pair with long turns",
      "pair function",
      "group imm",
      "group vrf",
      "group skips",
      "narrow split of a pair",
      "widen concat of a pair",
      "fxp_to_fp of a pair",
      "fp_to_fxp of a pair",
  };
  for (const vector::Operation &row : vector::operations())
    for (ElementType type : {ElementType::I32, ElementType::F32})
      if (row.takes(type))
        kinds.push_back((vector::toString(vector::clusterOf(row.alu)) + " " +
                         row.name + " " + furiosa::toString(type))
                            .str());
  for (const char *mode : {"00", "01", "10", "11", "012", "002", "102", "112",
                           "020", "021", "120"})
    kinds.push_back("mode " + std::string(mode));
  for (unsigned i = 0; i < vector::numComparisons; ++i)
    kinds.push_back(
        ("compare " + vector::toString(vector::Comparison(i))).str());
  for (const char *fn :
       {"add f32", "add_sat i32", "max f32", "max i32", "min f32", "min i32"})
    kinds.push_back("reduce " + std::string(fn));
  for (const char *fn : {"add f32", "add i32", "add_sat i32", "max f32",
                         "max i32", "min f32", "min i32", "mul f32"})
    kinds.push_back("between slices " + std::string(fn));
  for (const char *cluster : {"logic", "fxp", "fp", "fp_div", "clip"}) {
    kinds.push_back("pair " + std::string(cluster));
    kinds.push_back("merged " + std::string(cluster));
    if (std::string(cluster) != "fp_div")
      kinds.push_back("zip " + std::string(cluster));
  }
  for (const char *mode : {"00", "01", "10", "11"})
    kinds.push_back("zip mode " + std::string(mode));
  return kinds;
}
