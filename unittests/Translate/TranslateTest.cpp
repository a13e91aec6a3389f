//===- TranslateTest.cpp - Resource programs to EDF and back --------------===//
//
// Generated programs read back as they were written, damaged kernels are
// refused and never crash, and fields stand where the public worked example of
// a matmul has them.
//
//===----------------------------------------------------------------------===//

#include "furiosa/Target/RNGD/Translate.h"
#include "furiosa/Target/RNGD/Simulator.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace furiosa;
using namespace furiosa::rngd;

namespace {

class TranslateTest : public ::testing::Test {
protected:
  TranslateTest()
      : handler(&context, [this](Diagnostic &diag) {
          messages += diag.str() + "\n";
          return success();
        }) {
    context.loadDialect<lir::LIRDialect, resource::ResourceDialect>();
  }

  OwningOpRef<ModuleOp> parse(StringRef text) {
    return parseSourceString<ModuleOp>(text, &context);
  }
  resource::ProgramOp programOf(ModuleOp module) {
    return *module.getBody()->getOps<resource::ProgramOp>().begin();
  }
  static std::string print(Operation *op) {
    std::string text;
    llvm::raw_string_ostream os(text);
    op->print(os);
    return text;
  }
  std::vector<uint8_t> write(const edf::Kernel &kernel) {
    llvm::Expected<std::vector<uint8_t>> bytes = edf::write(kernel);
    if (bytes)
      return *bytes;
    messages += llvm::toString(bytes.takeError());
    return {};
  }
  /// The kernel as a module; null with `messages` set after an error.
  OwningOpRef<ModuleOp> read(const edf::Kernel &kernel) {
    std::vector<uint8_t> bytes = write(kernel);
    if (bytes.empty())
      return {};
    llvm::Expected<edf::Reader> reader = edf::Reader::open(bytes, "k.edf");
    if (!reader) {
      messages += llvm::toString(reader.takeError());
      return {};
    }
    return translateFromEDF(*reader, &context);
  }
  /// Text to EDF to text and to EDF again.
  void expectRoundTrip(const std::string &text) {
    messages.clear();
    OwningOpRef<ModuleOp> module = parse(text);
    ASSERT_TRUE(module) << messages << text;
    FailureOr<edf::Kernel> kernel = translateToEDF(programOf(*module));
    ASSERT_TRUE(succeeded(kernel)) << messages << text;
    OwningOpRef<ModuleOp> back = read(*kernel);
    ASSERT_TRUE(back) << messages << text;
    EXPECT_EQ(print(*module), print(*back));
    FailureOr<edf::Kernel> again = translateToEDF(programOf(*back));
    ASSERT_TRUE(succeeded(again)) << messages;
    EXPECT_EQ(write(*kernel), write(*again));
  }
  edf::Kernel translate(const std::string &text) {
    OwningOpRef<ModuleOp> module = parse(text);
    EXPECT_TRUE(module) << messages;
    if (!module)
      return {};
    FailureOr<edf::Kernel> kernel = translateToEDF(programOf(*module));
    EXPECT_TRUE(succeeded(kernel)) << messages;
    return succeeded(kernel) ? *kernel : edf::Kernel();
  }
  SfrImage imageOf(const edf::Kernel &kernel, rngd::Block block) {
    for (const edf::SpmItem &item : kernel.spm.items) {
      if (item.kind != edf::ItemKind::SfrImage || item.block != block)
        continue;
      std::vector<uint64_t> words(item.size / 8);
      std::memcpy(words.data(),
                  kernel.spm.bytes.data() + item.address - kernel.spm.base,
                  item.size);
      return cantFail(SfrImage::fromWords(block, words));
    }
    ADD_FAILURE() << "no image of " << toString(block).str();
    return SfrImage(block);
  }
  /// The word of a field in the SPM image of a kernel.
  void setField(edf::Kernel &kernel, rngd::Block block, StringRef field,
                uint64_t value) {
    SfrImage image = imageOf(kernel, block);
    ASSERT_FALSE(image.set(field, value));
    for (const edf::SpmItem &item : kernel.spm.items)
      if (item.kind == edf::ItemKind::SfrImage && item.block == block) {
        llvm::copy(image.bytes(),
                   kernel.spm.bytes.begin() + item.address - kernel.spm.base);
        return;
      }
  }

  MLIRContext context;
  std::string messages;
  ScopedDiagnosticHandler handler;
};

//===----------------------------------------------------------------------===//
// Generated programs
//===----------------------------------------------------------------------===//

/// Writes programs whose execs the verifier and the registers take.
class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {}

  std::string program() {
    std::string body;
    for (unsigned k = 0; k < 6; ++k)
      body += command(k);
    return "resource.program @p pes 4 clusters [0] release \"0.6\" makespan "
           "1000 lower_bound 10 {\n"
           "%h = resource.argument 0 inout \"h\" : !lir.mem<hbm, 1048576>\n"
           "%d = resource.buffer at 64 live [0, 999] : !lir.mem<dm, 65536>\n"
           "%e = resource.buffer at 65600 live [0, 999] : !lir.mem<dm, "
           "262144>\n" +
           buffers + body + "}\n";
  }

private:
  int64_t pick(std::initializer_list<int64_t> values) {
    return values.begin()[random() % values.size()];
  }
  static std::string str(int64_t value) { return std::to_string(value); }

  std::string command(unsigned k) {
    std::string cycles = " cycles [" + str(k) + ", " + str(k + 5) + "] {\n";
    switch (random() % 5) {
    case 0:
      return "resource.issue dma tag " + str(k) + cycles + dma() +
             "}\nresource.wait dma tag " + str(k) + "\n";
    case 1:
      return "resource.issue sub" + cycles + "lir.exec sub {\n" + sub() +
             "}}\nresource.wait sub\n";
    default:
      return "resource.issue main" + cycles + "lir.exec main {\n" + main() +
             "}}\nresource.wait main\n";
    }
  }

  std::string dma() {
    bool load = random() % 2;
    std::string engines;
    for (unsigned pe = 0; pe < 4; ++pe) {
      if (pe != 0 && random() % 2)
        continue;
      // Engines run in no order and write bytes of their own.
      // Bytes of its own for each engine. One draw a statement: the compiler
      // orders those of an expression.
      std::string hbm = str(65536 * pe + 8 * (random() % 64));
      std::string dm = str(1024 * pe + 8 * (random() % 64));
      bool isLooped = random() % 2;
      std::string packet = str(pick({8, 16}));
      engines += (engines.empty() ? "" : ", ") +
                 ("#lir.engine<cluster 0 pe " + str(pe) + " from ") +
                 (load ? hbm : dm) + " to " + (load ? dm : hbm) + " loops [" +
                 (load ? "64 : 512 : 4194304" : "64 : 4194304 : 512") +
                 (isLooped ? ", 3 : 16 : 32" : "") + "] packet " + packet + ">";
    }
    return load ? "lir.dma %h to %d engines [" + engines +
                      "] : !lir.mem<hbm, 1048576>, !lir.mem<dm, 65536>\n"
                : "lir.dma %d to %h engines [" + engines +
                      "] : !lir.mem<dm, 65536>, !lir.mem<hbm, 1048576>\n";
  }

  /// A fetch of `packets` packets; returns the flits of each.
  int64_t fetch(std::string &text, int64_t read, int64_t packets,
                int64_t readsPerPacket) {
    int64_t packet = read * readsPerPacket;
    int64_t perPacket = (packet + 31) / 32;
    std::string base = str(8 * (1 + random() % 16));
    text += "fetch_sequencer %d base " + base + " loops [";
    if (packets > 1)
      text += str(packets) + " : " + str(pick({0, 8, 64, 128})) +
              (readsPerPacket > 1 ? ", " : "");
    if (readsPerPacket > 1)
      text += str(readsPerPacket) + " : " + str(pick({8, 32, 40}));
    text += "] read " + str(read) + " packet " + str(packet) + " flits " +
            str(packets * perPacket) +
            " : !lir.mem<dm, 65536>\ncollect flits_per_packet " +
            str(perPacket) + "\n";
    return perPacket;
  }

  void commit(std::string &text, int64_t flits, bool isSub) {
    int64_t keep = pick({8, 16, 24, 32});
    text += "commit_adapter in 32 keep " + str(keep) +
            "\ncommit_sequencer %e base " + str(8 * (1 + random() % 8)) +
            " loops [";
    int64_t writes = isSub ? keep / 8 : 1;
    if (flits % 4 == 0 && flits > 4)
      text += "4 : 65536, " + str(flits / 4) + " : " + str(keep);
    else if (flits > 1)
      text += str(flits) + " : " + str(keep);
    if (writes > 1)
      text += (flits > 1 ? ", " : "") + str(writes) + " : 8";
    text += "] write " + str(isSub ? 8 : keep) + " slices " +
            (random() % 2 ? "[0, 255]" : "[0, 3, 64, 200]") +
            " : !lir.mem<dm, 262144>\n";
  }

  std::string sub() {
    std::string text;
    switch (random() % 3) {
    case 0: {
      int64_t packets = pick({1, 2, 16, 40});
      int64_t flits = packets * fetch(text, 8, packets, pick({1, 4, 5}));
      commit(text, flits, /*isSub=*/true);
      return text;
    }
    case 1: {
      int64_t rows = pick({1, 3, 8});
      fetch(text, 8, rows, 4);
      std::string v = buffer("vrf", 32 * rows, 1);
      return text + "vrf_store " + v + "\n";
    }
    default: {
      int64_t lanes = pick({1, 2, 4, 8}), rows = pick({2, 4, 8});
      fetch(text, 8, lanes * rows, 4);
      std::string type = "!lir.mem<trf, " + str(32 * lanes * rows) +
                         (lanes > 1 ? ", lanes " + str(lanes) : std::string()) +
                         ">";
      return text + "trf_store " + trf(type, lanes, rows * 32) +
             " rows_per_lane " + str(rows) + " : " + type + "\n";
    }
    }
  }

  /// A new VRF buffer with what follows it in a store.
  std::string buffer(StringRef, int64_t bytes, int64_t) {
    std::string name = vrf(bytes);
    return name + " rows " + str(bytes / 32) + " : !lir.mem<vrf, " +
           str(bytes) + ">";
  }
  std::string vrf(int64_t bytes) {
    std::string name = "%v" + str(numBuffers++);
    buffers += name + " = resource.buffer at " + str(nextVrf) +
               " live [0, 999] : !lir.mem<vrf, " + str(bytes) + ">\n";
    nextVrf += bytes;
    return name;
  }
  std::string trf(const std::string &type, int64_t lanes, int64_t laneBytes) {
    std::string name = "%t" + str(numBuffers++);
    buffers += name + " = resource.buffer at " + str(nextTrf) +
               " live [0, 999] : " + type + "\n";
    nextTrf += (laneBytes + 63) / 64 * 64;
    return name;
  }

  std::string main() {
    std::string text;
    int64_t flits;
    bool isInt = true, isTyped = false;
    if (random() % 2) {
      int64_t packets = pick({1, 2, 12, 33}), bytes = pick({8, 16, 32}),
              reads = pick({1, 2, 3});
      flits = packets * fetch(text, bytes, packets, reads);
    } else {
      flits = contraction(text, isInt);
      isTyped = true;
    }
    if (isInt)
      alus(text, flits);
    if (random() % 2) {
      // Without ALUs the cast says the type.
      if (!isTyped)
        isInt = true;
      text += isInt ? "cast i32 to " + std::string(random() % 2 ? "i8" : "i16")
                    : "cast f32 to bf16";
      text += "\n";
    }
    commit(text, flits, /*isSub=*/false);
    return text;
  }

  void alus(std::string &text, int64_t flits) {
    struct Alu {
      const char *name;
      std::vector<const char *> ops;
    };
    std::vector<Alu> all = {{"fxp_add", {"add", "add_sat", "sub", "sub_sat"}},
                            {"fxp_left_shift", {"shl", "shl_sat"}},
                            {"fxp_mul", {"mul_fxp", "mul_int"}},
                            {"fxp_right_shift", {"shr", "sar"}}};
    std::shuffle(all.begin(), all.end(), random);
    for (unsigned k = 0, count = random() % 5; k < count; ++k) {
      const Alu &alu = all[k];
      text += std::string("vector_alu ") + alu.name + " " +
              alu.ops[random() % alu.ops.size()];
      if (random() % 2) {
        text += " [imm " + str(random() % 32) + "]\n";
        continue;
      }
      text += " [vrf " + vrf(32) + " loops [" +
              (flits > 1 ? str(flits) + " : 0, " : "") +
              "8 : 4]] : !lir.mem<vrf, 32>\n";
    }
  }

  /// Returns the flits that come out.
  int64_t contraction(std::string &text, bool &isInt) {
    struct Kind {
      const char *name, *promoted;
      int64_t bits;
    };
    static const Kind kinds[] = {{"RawInt4", "RawInt5", 4},
                                 {"RawInt8", "RawInt9", 8},
                                 {"RawF8E4M3", "RawF8E4M3", 8},
                                 {"RawF8E5M2", "RawF8E5M2", 8},
                                 {"RawBF16", "RawBF16", 16}};
    const Kind &kind = kinds[random() % 5];
    isInt = kind.promoted != std::string(kind.name);
    int64_t perInput = pick({1, 2}), inputs = pick({2, 4, 12});
    int64_t elements = perInput * 256 / kind.bits;
    int64_t broadcast = pick({1, 2, 4}), count = pick({1, inputs});
    bool moves = broadcast > 1 && random() % 2;
    // Loops with a slot of their own lie inside the sum.
    if (moves)
      count = inputs;
    else if (broadcast > 1)
      count = broadcast * count;
    int64_t slots = moves ? broadcast : 1;
    int64_t depth = llvm::Log2_64(elements) - random() % 3;
    while (elements >> depth > 32)
      ++depth;
    int64_t columns = elements >> depth;
    int64_t lanes = pick({1, 2, 4, 8});
    bool interleaved = random() % 2;
    if (interleaved ? 8 * slots * columns > 1024 : lanes * slots * 32 > 1024)
      interleaved = true, depth = llvm::Log2_64(elements), columns = 1;
    int64_t steps = inputs * broadcast;

    fetch(text, 32, inputs, perInput);
    std::string type = "!lir.mem<trf, " + str(1024 * lanes) +
                       (lanes > 1 ? ", lanes " + str(lanes) : std::string()) +
                       ">";
    int64_t read = pick({16, 32});
    text += std::string("feed_buffer ") + kind.name + " Flit" + str(perInput) +
            " stream [time " + str(steps) + ", packet " + str(elements) +
            "] weight " + kind.name + " [lane " + str(lanes) + ", element " +
            str(1024 * 8 / kind.bits) + "] promoted " + kind.promoted +
            " lane_broadcast " + str(lanes) + " time_broadcast " +
            str(broadcast) + "\ntrf_sequencer " + trf(type, lanes, 1024) +
            " base 64 loops [" + str(inputs) + " : 32" +
            (broadcast > 1 ? ", " + str(broadcast) + " : 64" : "") + "] read " +
            str(read) + " broadcast " + (broadcast > 1 ? "1" : "0") + " : " +
            type + "\npacket_reducer add depth " + str(depth) + " columns " +
            str(columns) + " to " + (isInt ? "i32" : "f32") +
            "\ntime_reducer slots " + str(slots) + " count " + str(count) +
            " strides [0" + (broadcast > 1 ? (moves ? ", 1" : ", 0") : "") +
            "]\nlane_folder " + (interleaved ? "interleaved" : "sequential") +
            " live " + str(lanes) + "\n";
    int64_t emissions = steps / count;
    return emissions * (interleaved ? columns : lanes * ((columns + 7) / 8));
  }

  std::mt19937 random;
  std::string buffers;
  unsigned numBuffers = 0;
  int64_t nextVrf = 32;
  int64_t nextTrf = 64;
};

TEST_F(TranslateTest, GeneratedProgramsReadBack) {
  for (unsigned seed = 0; seed < 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expectRoundTrip(Generator(seed).program());
  }
}

/// Loops that run once and are not needed go; the bytes stay.
TEST_F(TranslateTest, LoopsThatRunOnceAreLeftOut) {
  auto text = [](const std::string &loops) {
    return "resource.program @p pes 1 clusters [0] release \"0.6\" makespan 9 "
           "lower_bound 9 {\n"
           "%d = resource.buffer at 0 live [0, 9] : !lir.mem<dm, 256>\n"
           "%e = resource.buffer at 256 live [0, 9] : !lir.mem<dm, 256>\n"
           "resource.issue main cycles [0, 9] { lir.exec main {\n"
           "fetch_sequencer %d loops [" +
           loops +
           "] read 32 packet 32 flits 8 : !lir.mem<dm, 256>\n"
           "collect flits_per_packet 1\ncommit_adapter in 32 keep 32\n"
           "commit_sequencer %e loops [8 : 32] write 32 slices [0, 63] : "
           "!lir.mem<dm, 256>\n}}}\n";
  };
  EXPECT_EQ(write(translate(text("1 : 8, 4 : 64, 1 : 0, 2 : 32, 1 : 77"))),
            write(translate(text("4 : 64, 2 : 32"))));
}

//===----------------------------------------------------------------------===//
// Damage
//===----------------------------------------------------------------------===//

TEST_F(TranslateTest, DamagedKernelsDoNotCrash) {
  unsigned refused = 0, accepted = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    edf::Kernel whole = translate(Generator(seed).program());
    std::mt19937 random(seed);
    for (unsigned k = 0; k < 50; ++k) {
      edf::Kernel kernel = whole;
      switch (random() % 4) {
      case 0: {
        auto &code = kernel.programs[0].instructions;
        edf::Instruction &at = code[random() % code.size()];
        switch (random() % 4) {
        case 0:
          at.imm ^= 1ull << random() % 48;
          break;
        case 1:
          at.word ^= 1u << random() % 32;
          break;
        case 2:
          at.peMask = random() % 16;
          break;
        case 3:
          std::swap(at, code[random() % code.size()]);
          break;
        }
        break;
      }
      case 1:
        if (!kernel.plan.empty())
          kernel.plan[random() % kernel.plan.size()].address ^=
              1u << random() % 20;
        break;
      default:
        if (!kernel.spm.bytes.empty())
          kernel.spm.bytes[random() % kernel.spm.bytes.size()] ^=
              1u << random() % 8;
        break;
      }
      messages.clear();
      OwningOpRef<ModuleOp> module = read(kernel);
      if (!module) {
        EXPECT_FALSE(messages.empty());
        ++refused;
        continue;
      }
      ++accepted;
      (void)translateToEDF(programOf(*module));
    }
  }
  EXPECT_GT(refused, 100u);
  EXPECT_GT(accepted, 100u);
}

static constexpr const char *copyLoop = R"(
resource.program @p pes 2 clusters [0] release "0.6" makespan 9 lower_bound 9 {
  %h = resource.argument 0 inout "h" : !lir.mem<hbm, 65536>
  %d = resource.buffer at 0 live [0, 9] : !lir.mem<dm, 256>
  %e = resource.buffer at 256 live [0, 9] : !lir.mem<dm, 256>
  resource.loop 4 cycles 9 {
    resource.issue dma tag 7 cycles [0, 1] advance [64, 0] {
      lir.dma %h to %d engines [#lir.engine<cluster 0 pe 1 from 0 to 0 loops [64 : 256 : 4194304] packet 64>] : !lir.mem<hbm, 65536>, !lir.mem<dm, 256>
    }
    resource.wait dma tag 7
    resource.issue main cycles [1, 2] {
      lir.exec main {
        fetch_sequencer %d loops [8 : 32] read 32 packet 32 flits 8 : !lir.mem<dm, 256>
        collect flits_per_packet 1
        commit_adapter in 32 keep 32
        commit_sequencer %e loops [8 : 32] write 32 slices [0, 63] : !lir.mem<dm, 256>
      }
    }
    resource.wait main
  }
}
)";

TEST_F(TranslateTest, ErrorsNamePlaceAndField) {
  edf::Kernel whole = translate(copyLoop);
  auto expectError = [&](const edf::Kernel &kernel, StringRef part) {
    messages.clear();
    EXPECT_FALSE(read(kernel));
    EXPECT_NE(messages.find(part.str()), std::string::npos) << messages;
  };
  {
    edf::Kernel kernel = whole;
    setField(kernel, rngd::Block::FetchUnitMainContext, "flit_count", 9);
    expectError(kernel, "FetchUnitMainContext.fetch.flit_count");
  }
  {
    edf::Kernel kernel = whole;
    setField(kernel, rngd::Block::CommitUnitMainContext, "base", 4096);
    expectError(kernel,
                "no buffer of the plan holds the dm bytes 4096 to 4351");
  }
  {
    edf::Kernel kernel = whole;
    kernel.schedule.commands.pop_back();
    expectError(kernel, "SCHD has fewer commands than PROG");
  }
  {
    edf::Kernel kernel = whole;
    kernel.arguments.relocations[0].spmAddress += 8;
    expectError(kernel, "is neither relocated nor in data memory");
  }
  {
    edf::Kernel kernel = whole;
    for (edf::Instruction &instruction : kernel.programs[0].instructions)
      if (instruction.opcode == edf::Opcode::Add)
        instruction.word += 16;
    expectError(kernel, "which is no base of a DMA in the loop");
  }
  {
    edf::Kernel kernel = whole;
    kernel.programs.clear();
    expectError(kernel, "there is no program");
  }
}

/// Without the informational sections a program is not scheduled, but there.
TEST_F(TranslateTest, InformationalSectionsMayBeAbsent) {
  edf::Kernel kernel = translate(copyLoop);
  kernel.schedule = {};
  kernel.names = {};
  kernel.info = {};
  OwningOpRef<ModuleOp> module = read(kernel);
  ASSERT_TRUE(module) << messages;
  EXPECT_FALSE(programOf(*module).getMakespan());
  EXPECT_NE(print(*module).find("advance [64, 0]"), std::string::npos);
  EXPECT_TRUE(failed(translateToEDF(programOf(*module))));
  EXPECT_NE(messages.find("is not scheduled"), std::string::npos) << messages;
}

//===----------------------------------------------------------------------===//
// The public worked example: 64 x 64 x 64 in int8, one batch a slice
//===----------------------------------------------------------------------===//

TEST_F(TranslateTest, WorkedExampleOfAMatmul) {
  edf::Kernel kernel = translate(R"(
resource.program @p pes 4 clusters [0] release "0.6" makespan 9 lower_bound 9 {
  %d = resource.buffer at 0 live [0, 9] : !lir.mem<dm, 4096>
  %c = resource.buffer at 8192 live [0, 9] : !lir.mem<dm, 4096>
  %w = resource.buffer at 0 live [0, 9] : !lir.mem<trf, 4096, lanes 8>
  resource.issue sub cycles [0, 1] {
    lir.exec sub {
      fetch_sequencer %d loops [8 : 128, 2 : 64, 2 : 32, 4 : 1024, 4 : 8] read 8 packet 32 flits 128 : !lir.mem<dm, 4096>
      collect flits_per_packet 1
      trf_store %w rows_per_lane 16 : !lir.mem<trf, 4096, lanes 8>
    }
  }
  resource.wait sub
  resource.issue main cycles [1, 2] {
    lir.exec main {
      fetch_sequencer %d loops [128 : 32] read 32 packet 32 flits 128 : !lir.mem<dm, 4096>
      collect flits_per_packet 1
      commit_adapter in 32 keep 32
      commit_sequencer %c loops [2 : 32, 2 : 64, 4 : 1024, 8 : 128] write 32 slices [0, 255] : !lir.mem<dm, 4096>
    }
  }
  resource.wait main
}
)");
  SfrImage fetch = imageOf(kernel, rngd::Block::SubFetchUnit);
  const unsigned limits[] = {4, 4, 2, 2, 8, 1, 1, 1};
  const unsigned strides[] = {8, 1024, 32, 64, 128, 0, 0, 0};
  for (unsigned k = 0; k < 8; ++k) {
    EXPECT_EQ(fetch.get("limits", k), limits[k]) << k;
    EXPECT_EQ(fetch.get("strides", k), strides[k]) << k;
  }
  // As 64-bit words: limits 0 to 3, strides 0 and 1, counts.
  EXPECT_EQ(fetch.words()[2], 0x0002'0002'0004'0004u);
  EXPECT_EQ(fetch.words()[4], 0x0000'0400'0000'0008u);
  EXPECT_EQ(fetch.words()[8], 0x0000'0004'0000'0080u);
  SfrImage trf = imageOf(kernel, rngd::Block::DotProductEngineRegisterFile);
  EXPECT_EQ(trf.get("mac_rows"), 8u);
  EXPECT_EQ(trf.get("row_count"), 16u);
  EXPECT_EQ(trf.get("flits_per_period"), 1u);
  EXPECT_EQ(trf.get("valid_flits_per_period"), 1u);
  EXPECT_EQ(imageOf(kernel, rngd::Block::OperationDataPath).words()[0], 0x10u);
  SfrImage commit = imageOf(kernel, rngd::Block::CommitUnitMainContext);
  const unsigned writes[] = {8, 4, 2, 2, 1, 1, 1, 1};
  const unsigned steps[] = {128, 1024, 64, 32, 0, 0, 0, 0};
  for (unsigned k = 0; k < 8; ++k) {
    EXPECT_EQ(commit.get("limits", k), writes[k]) << k;
    EXPECT_EQ(commit.get("strides", k), steps[k]) << k;
  }
  EXPECT_EQ(commit.get("commit_in_size"), 32u);
  EXPECT_EQ(commit.get("commit_size"), 32u);
  for (unsigned k = 0; k < 4; ++k)
    EXPECT_EQ(commit.words()[8 + k], ~0ull);
  // The TRF load starts DM, sub fetch and TRF in the sub context.
  std::vector<uint32_t> execs;
  for (const edf::Instruction &instruction : kernel.programs[0].instructions)
    if (instruction.opcode == edf::Opcode::Issue &&
        instruction.word >> 25 == 0x10)
      execs.push_back(instruction.word);
  ASSERT_EQ(execs.size(), 2u);
  EXPECT_EQ(execs[0], 0x10u << 25 | 1u << 24 | 0x141);
  EXPECT_EQ(execs[1], 0x10u << 25 | 0x023);
}

// In all slices it would be one command, without registers.
TEST_F(TranslateTest, WorkedExampleOfACopy) {
  edf::Kernel kernel = translate(R"(
resource.program @p pes 4 clusters [0] release "0.6" makespan 9 lower_bound 9 {
  %d = resource.buffer at 0 live [0, 9] : !lir.mem<dm, 1024>
  %c = resource.buffer at 65536 live [0, 9] : !lir.mem<dm, 1024>
  resource.issue sub cycles [0, 1] {
    lir.exec sub {
      fetch_sequencer %d loops [128 : 8] read 8 packet 8 flits 128 : !lir.mem<dm, 1024>
      collect flits_per_packet 1
      commit_adapter in 32 keep 8
      commit_sequencer %c loops [128 : 8] write 8 slices [0, 254] : !lir.mem<dm, 1024>
    }
  }
  resource.wait sub
}
)");
  SfrImage fetch = imageOf(kernel, rngd::Block::SubFetchUnit);
  EXPECT_EQ(fetch.get("limits", 0), 128u);
  EXPECT_EQ(fetch.get("strides", 0), 8u);
  EXPECT_EQ(fetch.get("flit_count"), 128u);
  EXPECT_EQ(fetch.get("words_per_packet"), 1u);
  SfrImage commit = imageOf(kernel, rngd::Block::SubCommitUnit);
  EXPECT_EQ(commit.get("packet_valid_count"), 8u);
  EXPECT_EQ(commit.get("base"), 0x10000u);
  EXPECT_EQ(commit.get("commit_in_size"), 8u);
  EXPECT_EQ(imageOf(kernel, rngd::Block::OperationDataPath).words()[0], 0x08u);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// A loop that advances, a VRF operand and two PEs, on the simulator.
TEST_F(TranslateTest, TranslatedLoopRuns) {
  edf::Kernel kernel = translate(R"(
resource.program @p pes 2 clusters [1] release "0.6" makespan 9 lower_bound 9 {
  %x = resource.argument 0 input "x" : !lir.mem<hbm, 12288>
  %y = resource.argument 1 output "y" : !lir.mem<hbm, 12288>
  %d = resource.buffer at 64 live [0, 9] : !lir.mem<dm, 32>
  %e = resource.buffer at 128 live [0, 9] : !lir.mem<dm, 32>
  %v = resource.buffer at 32 live [0, 9] : !lir.mem<vrf, 32>
  resource.loop 3 cycles 9 {
    resource.issue dma tag 1 cycles [0, 1] advance [4096, 0] {
      lir.dma %x to %d engines [#lir.engine<cluster 1 pe 0 from 0 to 0 loops [64 : 32 : 4194304] packet 32>,
                                #lir.engine<cluster 1 pe 1 from 2048 to 0 loops [64 : 32 : 4194304] packet 32>] : !lir.mem<hbm, 12288>, !lir.mem<dm, 32>
    }
    resource.wait dma tag 1
    resource.issue sub cycles [1, 2] {
      lir.exec sub {
        fetch_sequencer %d loops [4 : 8] read 8 packet 32 flits 1 : !lir.mem<dm, 32>
        collect flits_per_packet 1
        vrf_store %v rows 1 : !lir.mem<vrf, 32>
      }
    }
    resource.wait sub
    resource.issue main cycles [2, 3] {
      lir.exec main {
        fetch_sequencer %d loops [] read 32 packet 32 flits 1 : !lir.mem<dm, 32>
        collect flits_per_packet 1
        vector_alu fxp_mul mul_int [imm 5]
        vector_alu fxp_add sub [vrf %v loops [8 : 4]] : !lir.mem<vrf, 32>
        commit_adapter in 32 keep 32
        commit_sequencer %e loops [] write 32 slices [0, 127] : !lir.mem<dm, 32>
      }
    }
    resource.wait main
    resource.issue dma tag 0 cycles [3, 4] advance [0, 4096] {
      lir.dma %e to %y engines [#lir.engine<cluster 1 pe 0 from 0 to 0 loops [64 : 4194304 : 32] packet 32>,
                                #lir.engine<cluster 1 pe 1 from 0 to 2048 loops [64 : 4194304 : 32] packet 32>] : !lir.mem<dm, 32>, !lir.mem<hbm, 12288>
    }
    resource.wait dma tag 0
  }
}
)");
  for (auto timing :
       {SimulationOptions::Timing::Late, SimulationOptions::Timing::Early}) {
    std::vector<OperandBuffer> operands(2);
    std::vector<int32_t> x(3072);
    for (auto [i, element] : llvm::enumerate(x))
      element = static_cast<int32_t>(i * 77 - 1000);
    operands[0].bytes.resize(12288);
    std::memcpy(operands[0].bytes.data(), x.data(), 12288);
    SimulationOptions options;
    options.timing = timing;
    auto result = simulate(kernel, operands, options);
    ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
    ASSERT_EQ(operands[1].bytes.size(), 12288u);
    EXPECT_EQ(operands[1].undefinedBytes(), 0u);
    for (auto [i, element] : llvm::enumerate(x)) {
      int32_t found;
      std::memcpy(&found, operands[1].bytes.data() + 4 * i, 4);
      ASSERT_EQ(found, 4 * element) << i;
    }
  }
}

} // namespace
