//===- EDFTest.cpp - Tests of the kernel binary ---------------------------===//

#include "furiosa/Target/RNGD/EDF.h"

#include "furiosa/Target/RNGD/Codes.h"

#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::edf;

namespace {

/// A kernel with something in every section.
Kernel makeKernel() {
  Kernel kernel;
  SpmBuilder spm;
  SfrImage fetch(Block::SubFetchUnit);
  EXPECT_FALSE(fetch.set("base", 0x800));
  EXPECT_FALSE(fetch.setLimit("limits", 0, 65536));
  EXPECT_FALSE(fetch.set("topology", 0));
  auto fetchAddress = spm.add(fetch);
  auto again = spm.add(fetch);
  EXPECT_EQ(*fetchAddress, *again);
  EXPECT_EQ(*fetchAddress, 0x200000u);
  SfrImage route(Block::OperationDataPath);
  EXPECT_FALSE(route.set("data_path_route_sub_context", codes::routeTrfLoad));
  auto routeAddress = spm.add(route, 1);
  EXPECT_EQ(*routeAddress, 0x200070u);
  DmaDescriptor descriptor;
  descriptor.destination = dmAddress(0, 0x800);
  descriptor.sourceLimits[1] = descriptor.destinationLimits[1] = 64;
  descriptor.sourceStrides = {1024, 1024};
  descriptor.destinationStrides = {1024, 0x400000};
  auto descriptorAddress = spm.add(descriptor);
  EXPECT_EQ(*descriptorAddress, 0x200100u);
  kernel.spm = spm.take();

  TucCommand dma(TucOp::DmaW);
  EXPECT_FALSE(dma.set("desc_addr0", *descriptorAddress));
  for (const char *field : {"desc_addr1", "desc_addr2", "desc_addr3"})
    EXPECT_FALSE(dma.set(field, noDescriptor40));
  EXPECT_FALSE(dma.set("dma_tag_id", 3));
  EXPECT_FALSE(dma.setRegisters(0));
  TucCommand wait(TucOp::Wait);
  EXPECT_FALSE(wait.set("dma_tag_id", 3));
  EXPECT_FALSE(wait.set("type", codes::value(codes::WaitType::DmaTag)));
  TucCommand load(TucOp::MtoSfr);
  EXPECT_FALSE(load.set("spm_address", *fetchAddress));
  EXPECT_FALSE(load.set("size", sfrBlock(Block::SubFetchUnit).numWords()));
  EXPECT_FALSE(load.set("sfr_address", sfrAddress(Block::SubFetchUnit, 0)));
  EXPECT_FALSE(load.setRegisters(8));
  TucCommand exec(TucOp::Exec);
  EXPECT_FALSE(exec.set("subunit_bitmap", codes::subUnitsTrfLoad));
  EXPECT_FALSE(exec.set("target_context", 1));

  Program program;
  program.cluster = 0;
  using I = Instruction;
  std::vector<Instruction> &code = program.instructions;
  code.push_back(I::loop(64));
  for (unsigned i = 0; i < 4; ++i)
    code.push_back(I::set(i, dma.operand(i), 1));
  code.push_back(I::issue(dma.word(), 1));
  code.push_back(I::issue(wait.word(), 1));
  code.push_back(I::add(*descriptorAddress + DmaDescriptor::sourceOffset, -8));
  code.push_back(I::endLoop());
  code.push_back(I::set(8, load.operand(0), 0xf));
  code.push_back(I::issue(load.word(), 0xf));
  code.push_back(I::issue(exec.word(), 0xf));
  code.push_back(I::end());
  kernel.programs.push_back(program);
  kernel.programs.push_back({1, {I::end()}});

  kernel.arguments.operands = {
      {"a",
       Role::Input,
       ElementType::I8,
       65536,
       {{"I", 512}, {"K", 128}},
       "1",
       "I, K"},
      {"out", Role::Output, ElementType::BF16, 1024, {{"I", 512}}, "1", "I"},
      {"", Role::Scratch, ElementType::I8, 4096, {}, "", ""}};
  kernel.arguments.relocations = {
      {*descriptorAddress + DmaDescriptor::sourceOffset, 0, 256}};
  kernel.plan = {{Tier::DM, 0, 0x800, 1024, 0, 1003, 3000, 0},
                 {Tier::TRF, 0, 0, 8192, 8, 2000, 4000, noName}};
  kernel.schedule.makespan = 5000;
  kernel.schedule.lowerBound = 4000;
  kernel.schedule.commands = {{CommandKind::Dma, 0, 1003, 2000, "load a"},
                              {CommandKind::Sub, 1, 2000, 2500, "weights"}};
  kernel.names = {"m::kernel", {"a.dm"}};
  kernel.info = {"furiosa-opt-mlir", "rngd", "0.6"};
  return kernel;
}

std::vector<uint8_t> makeFile() {
  auto bytes = edf::write(makeKernel());
  EXPECT_TRUE(bool(bytes)) << llvm::toString(bytes.takeError());
  return *bytes;
}

/// Loads everything, or the error.
std::string faultOf(llvm::ArrayRef<uint8_t> bytes) {
  auto reader = Reader::open(bytes, "f.edf");
  if (!reader)
    return llvm::toString(reader.takeError());
  auto kernel = reader->load();
  if (!kernel)
    return llvm::toString(kernel.takeError());
  return "";
}

/// Makes the CRC of every section right again.
void fixCRCs(std::vector<uint8_t> &bytes) {
  auto reader = Reader::open(bytes);
  ASSERT_TRUE(bool(reader));
  for (auto [i, section] : llvm::enumerate(reader->sections()))
    llvm::support::endian::write32le(
        bytes.data() + 16 + 24 * i + 4,
        llvm::crc32(llvm::ArrayRef(bytes).slice(section.offset, section.size)));
}

const SectionInfo sectionOf(const Reader &reader, llvm::StringRef id) {
  for (const SectionInfo &section : reader.sections())
    if (section.id == id)
      return section;
  ADD_FAILURE() << "no section " << id.str();
  return {};
}

TEST(EDF, RoundTrip) {
  Kernel kernel = makeKernel();
  std::vector<uint8_t> bytes = makeFile();
  EXPECT_EQ(bytes, makeFile()) << "the same kernel gives the same bytes";
  auto reader = Reader::open(bytes);
  ASSERT_TRUE(bool(reader)) << llvm::toString(reader.takeError());
  ASSERT_EQ(reader->sections().size(), 7u);
  for (const SectionInfo &section : reader->sections())
    EXPECT_EQ(section.offset % 8, 0u);
  auto loaded = reader->load();
  ASSERT_TRUE(bool(loaded)) << llvm::toString(loaded.takeError());
  EXPECT_EQ(*loaded, kernel);
}

TEST(EDF, HeaderBytes) {
  std::vector<uint8_t> bytes = makeFile();
  EXPECT_EQ(std::string(bytes.begin(), bytes.begin() + 8), "\x7fRNGDEDF");
  EXPECT_EQ(bytes[8], 0);
  EXPECT_EQ(bytes[12], 7);
  EXPECT_EQ(std::string(bytes.begin() + 16, bytes.begin() + 20), "PROG");
  // The first section stands behind the table: 16 + 7 * 24.
  EXPECT_EQ(bytes[24], 184);
}

TEST(EDF, HeaderFaults) {
  std::vector<uint8_t> bytes = makeFile();
  auto changed = [&](size_t at, uint8_t value) {
    std::vector<uint8_t> copy = bytes;
    copy[at] = value;
    return faultOf(copy);
  };
  EXPECT_EQ(faultOf({}), "f.edf: offset 0: not an EDF file: wrong magic");
  EXPECT_EQ(changed(0, 0x7e), "f.edf: offset 0: not an EDF file: wrong magic");
  EXPECT_EQ(changed(8, 9), "f.edf: offset 8: EDF version 9 is unknown; this "
                           "reader knows version 0");
  EXPECT_EQ(changed(15, 0xff).substr(0, 27), "f.edf: offset 12: truncated");
  EXPECT_EQ(changed(16, 'Q'), "f.edf: offset 16: unknown section 'QROG'");
  EXPECT_EQ(changed(31, 0xff).substr(0, 45),
            "f.edf: offset 24: section PROG at offset 1837");
  EXPECT_EQ(changed(39, 0xff).substr(0, 41),
            "f.edf: offset 32: truncated: section PROG");
  std::string crc = changed(184, 3);
  EXPECT_EQ(crc.substr(0, 46),
            "f.edf: section PROG at offset 184: CRC-32 is 0");
  bytes.push_back(0);
  EXPECT_NE(faultOf(bytes).find("1 bytes follow the last section"),
            std::string::npos);
}

TEST(EDF, EveryTruncationIsAnError) {
  std::vector<uint8_t> bytes = makeFile();
  for (size_t size = 0; size < bytes.size(); ++size) {
    // A copy of its own, so that a read past the end is found.
    std::vector<uint8_t> shorter(bytes.begin(), bytes.begin() + size);
    EXPECT_NE(faultOf(shorter), "") << size;
  }
}

/// Every byte of the file takes part in some check.
TEST(EDF, EveryFlippedByteIsAnError) {
  std::vector<uint8_t> bytes = makeFile();
  for (size_t i = 0; i < bytes.size(); ++i)
    for (uint8_t flip : {0x01, 0x80, 0xff}) {
      std::vector<uint8_t> copy = bytes;
      copy[i] ^= flip;
      EXPECT_NE(faultOf(copy), "") << i;
    }
}

/// With right CRCs the parsers see the wrong bytes themselves.
TEST(EDF, FlippedBytesBehindTheCRC) {
  std::vector<uint8_t> bytes = makeFile();
  for (size_t i = 184; i < bytes.size(); ++i)
    for (uint8_t flip : {0x01, 0x02, 0x10, 0x80, 0xff}) {
      std::vector<uint8_t> copy = bytes;
      copy[i] ^= flip;
      auto reader = Reader::open(copy, "f.edf");
      if (!reader) { // Padding between sections.
        llvm::consumeError(reader.takeError());
        continue;
      }
      fixCRCs(copy);
      reader = Reader::open(copy, "f.edf");
      ASSERT_TRUE(bool(reader));
      std::string text;
      llvm::raw_string_ostream os(text);
      llvm::consumeError(disassemble(os, *reader));
      auto kernel = reader->load();
      if (!kernel) {
        EXPECT_EQ(llvm::toString(kernel.takeError()).substr(0, 6), "f.edf:");
        continue;
      }
      // What loads can be written again and is the same.
      auto again = edf::write(*kernel);
      ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
      EXPECT_EQ(faultOf(*again), "");
    }
}

TEST(EDF, CountsAreCheckedBeforeUse) {
  std::vector<uint8_t> bytes = makeFile();
  auto reader = Reader::open(bytes);
  ASSERT_TRUE(bool(reader));
  for (const SectionInfo &section : reader->sections())
    for (uint64_t at = 0; at + 4 <= section.size; at += 4) {
      std::vector<uint8_t> copy = bytes;
      llvm::support::endian::write32le(copy.data() + section.offset + at,
                                       0xFFFFFFFF);
      fixCRCs(copy);
      (void)faultOf(copy);
    }
  std::vector<uint8_t> copy = bytes;
  llvm::support::endian::write32le(copy.data() + 184, 0xFFFFFFFF);
  fixCRCs(copy);
  EXPECT_NE(faultOf(copy).find("f.edf: section PROG at offset 188: 4294967295 "
                               "programs do not fit"),
            std::string::npos)
      << faultOf(copy);
}

TEST(EDF, InformationalSectionsMayBeZero) {
  std::vector<uint8_t> bytes = makeFile();
  auto reader = Reader::open(bytes);
  ASSERT_TRUE(bool(reader));
  for (llvm::StringRef id : {"SCHD", "NAME", "INFO"}) {
    SectionInfo section = sectionOf(*reader, id);
    std::fill_n(bytes.begin() + section.offset, section.size, 0);
  }
  fixCRCs(bytes);
  reader = Reader::open(bytes);
  ASSERT_TRUE(bool(reader));
  auto kernel = reader->load();
  ASSERT_TRUE(bool(kernel)) << llvm::toString(kernel.takeError());
  Kernel expected = makeKernel();
  expected.schedule = {};
  expected.names = {};
  expected.info = {};
  EXPECT_EQ(*kernel, expected);
  std::string text;
  llvm::raw_string_ostream os(text);
  EXPECT_FALSE(bool(disassemble(os, *reader)));
}

TEST(EDF, SectionsAreReadOneByOne) {
  std::vector<uint8_t> bytes = makeFile();
  auto reader = Reader::open(bytes);
  ASSERT_TRUE(bool(reader));
  bytes[sectionOf(*reader, "INFO").offset] ^= 1;
  // The others can be looked at; what is damaged is not run.
  EXPECT_TRUE(bool(reader->programs()));
  auto kernel = reader->loadExecutable();
  EXPECT_FALSE(bool(kernel));
  llvm::consumeError(kernel.takeError());
  auto info = reader->info();
  EXPECT_FALSE(bool(info));
  llvm::consumeError(info.takeError());
}

TEST(EDF, ProgramFaults) {
  using I = Instruction;
  auto fault = [](std::vector<Instruction> code) {
    return checkProgram({0, std::move(code)}).value_or("");
  };
  EXPECT_EQ(fault({I::end()}), "");
  EXPECT_EQ(fault({}), "the program has no end");
  EXPECT_EQ(fault({I::loop(2), I::endLoop(), I::end()}), "");
  EXPECT_EQ(fault({I::loop(2), I::end()}),
            "instruction 1: the program ends inside a loop");
  EXPECT_EQ(fault({I::endLoop(), I::end()}),
            "instruction 0: a loop ends that was not begun");
  EXPECT_EQ(fault({I::loop(0), I::endLoop(), I::end()}),
            "instruction 0: a loop runs at least once");
  EXPECT_EQ(fault({I::end(), I::end()}),
            "instruction 0: instructions follow the end of the program");
  EXPECT_EQ(fault({I::set(64, 0, 1), I::end()}),
            "instruction 0: general register 64 does not exist");
  EXPECT_NE(fault({I::set(0, 0, 0), I::end()}), "");
  EXPECT_NE(fault({I::set(0, 0, 0x10), I::end()}), "");
  EXPECT_EQ(fault({I::issue(0, 1), I::end()}),
            "instruction 0: unknown TUC opcode 0x0 in word 0x0");
  EXPECT_EQ(fault({I::add(0x200004, 1), I::end()}),
            "instruction 0: SPM address 0x200004 is not a multiple of 8");
  Instruction odd = I::endLoop();
  odd.imm = 1;
  EXPECT_EQ(fault({I::loop(1), odd, I::end()}),
            "instruction 1: a field that opcode 4 does not use is not zero");
  odd = I::end();
  odd.opcode = static_cast<Opcode>(7);
  EXPECT_EQ(fault({odd}), "instruction 0: unknown PE opcode 7");
  EXPECT_EQ(fault({I::loop(2), I::barrier(), I::endLoop(), I::end()}), "");
  odd = I::barrier();
  odd.word = 1;
  EXPECT_EQ(fault({odd, I::end()}),
            "instruction 0: a field that opcode 6 does not use is not zero");
  std::vector<Instruction> deep;
  for (unsigned i = 0; i < maxLoopDepth + 1; ++i)
    deep.push_back(I::loop(1));
  EXPECT_EQ(fault(deep), "instruction 16: loops nest deeper than 16");
}

TEST(EDF, KernelFaults) {
  auto fault = [](auto change) {
    Kernel kernel = makeKernel();
    change(kernel);
    Fault fault = checkKernel(kernel);
    auto bytes = edf::write(kernel);
    EXPECT_EQ(bool(bytes), !fault.has_value());
    if (!bytes)
      llvm::consumeError(bytes.takeError());
    return fault.value_or("");
  };
  EXPECT_EQ(fault([](Kernel &) {}), "");
  EXPECT_EQ(fault([](Kernel &k) {
              auto &code = k.programs[1].instructions;
              code.insert(code.begin(), Instruction::barrier());
            }),
            "the programs of the clusters come to different barriers");
  EXPECT_EQ(fault([](Kernel &k) { k.programs[1].cluster = 0; }),
            "program of cluster 0: there are two");
  EXPECT_EQ(fault([](Kernel &k) { k.programs[1].cluster = 2; }),
            "program of cluster 2: the chip has 2 clusters");
  EXPECT_EQ(fault([](Kernel &k) { k.spm.base = 0x1ffff8; }),
            "SPM image at 0x1ffff8 is not in the data area 0x200000 to "
            "0x380000 on a multiple of 8");
  EXPECT_EQ(fault([](Kernel &k) { k.spm.bytes.resize(0x180001); }),
            "SPM image of 1572865 bytes exceeds the data area by 1 bytes");
  EXPECT_EQ(fault([](Kernel &k) { k.spm.items[1].address = 0x200068; }),
            "SPM item 1: items overlap or are not in the order of addresses");
  EXPECT_EQ(fault([](Kernel &k) { k.spm.items[2].size = 512; }),
            "SPM item 2: lies outside the SPM image");
  // Bit 22 of the first register of the sub fetch unit is reserved.
  EXPECT_EQ(fault([](Kernel &k) { k.spm.bytes[2] = 0x40; }),
            "SPM item 0: reserved bit 22 of register base in block "
            "SubFetchUnit is not zero");
  EXPECT_EQ(fault([](Kernel &k) { k.arguments.relocations[0].operand = 3; }),
            "relocation 0: there is no operand 3");
  EXPECT_EQ(
      fault(
          [](Kernel &k) { k.arguments.relocations[0].spmAddress = 0x200200; }),
      "relocation 0: SPM address 0x200200 is not a 64-bit word of the SPM "
      "image");
  EXPECT_EQ(fault([](Kernel &k) { k.arguments.operands[2].axes = {{"I", 1}}; }),
            "operand 2: scratch has bytes only");
  EXPECT_EQ(fault([](Kernel &k) {
              std::swap(k.arguments.operands[1], k.arguments.operands[2]);
            }),
            "operand 2: scratch comes after all other operands");
  EXPECT_EQ(fault([](Kernel &k) { k.plan[0].address = 524288 - 1023; }),
            "plan entry 0: 1024 bytes at 0x7fc01 exceed the 524288 bytes of "
            "dm");
  EXPECT_EQ(fault([](Kernel &k) { k.plan[1].lanes = 3; }),
            "plan entry 1: 3 lanes: not 1, 2, 4 or 8");
  EXPECT_EQ(fault([](Kernel &k) { k.plan[0].lanes = 8; }),
            "plan entry 0: dm has no lanes");
  EXPECT_NE(fault([](Kernel &k) {
              k.programs[0].instructions[7].word = 0x200200;
            }).find("SPM address 0x200200 is outside the SPM image"),
            std::string::npos);
}

TEST(EDF, SpmIsBounded) {
  SpmBuilder builder;
  DmaDescriptor descriptor;
  descriptor.sourceStrides[0] = descriptor.destinationStrides[0] = 256;
  // 1.5 MiB of descriptors of 256 bytes.
  for (unsigned i = 0; i < 6144; ++i) {
    auto address = builder.add(descriptor);
    ASSERT_TRUE(bool(address)) << llvm::toString(address.takeError());
    ASSERT_EQ(*address, 0x200000 + 256 * i);
  }
  auto full = builder.add(descriptor);
  ASSERT_FALSE(bool(full));
  EXPECT_EQ(llvm::toString(full.takeError()),
            "the SPM data area of 1572864 bytes is full");
}

TEST(EDF, Disassembly) {
  std::vector<uint8_t> bytes = makeFile();
  auto reader = Reader::open(bytes);
  ASSERT_TRUE(bool(reader));
  std::string text;
  llvm::raw_string_ostream os(text);
  ASSERT_FALSE(bool(disassemble(os, *reader)));
  for (const char *line :
       {"edf version 0\n",
        "kernel \"m::kernel\"\n",
        "producer \"furiosa-opt-mlir\" chip \"rngd\" release \"0.6\"\n",
        "program cluster 0 {\n  loop 64 {\n    set r0 = 0x30000200100, pe 0\n",
        "    issue pe 0: dmaw r0=0 r1=1 r2=2 r3=3 desc_addr0=0x200100 "
        "dma_tag_id=3 profile=0 profile_id=0 desc_addr1=0xffffffffff "
        "desc_addr2=0xffffffffff desc_addr3=0xffffffffff\n",
        "    issue pe 0: wait dma_tag_id=3 type=dma_tag target_context=main\n",
        "    add [0x200110], -8\n  }\n",
        "  issue pe 0-3: mtosfr r0=8 spm_address=0x200000 size=14 "
        "sfr_address=0xff0100 (SubFetchUnit, bank 0)\n",
        "  issue pe 0-3: exec subunit_bitmap=dm_slice|sub_fetch|trf "
        "context_id=0 target_context=sub\n  end\n}\n",
        "program cluster 1 {\n  end\n}\n",
        "spm at 0x200000 size 512 {\n",
        "  0x200000: sfr SubFetchUnit bank 0\n    base = 2048\n",
        "    data_path_route_sub_context = 0x10 (trf_write)\n",
        "  0x200100: descriptor\n    opcode = tensor_loop\n"
        "    source = 0x0 loops [64 : 1024, 1 : 1024]\n"
        "    destination = 0x10000800 loops [64 : 4194304, 1 : 1024]\n",
        "  0: input \"a\" bytes 65536 i8 axes [I = 512, K = 128] chip \"1\" "
        "element \"I, K\"\n",
        "  2: scratch \"\" bytes 4096\n",
        "  [0x200110] = operand 0 + 256\n",
        "  dm cluster 0 at 0x800 size 1024 live [1003, 3000) \"a.dm\"\n",
        "  trf cluster 0 at 0x0 size 8192 lanes 8 live [2000, 4000)\n",
        "schedule makespan 5000 lower_bound 4000 {\n",
        "  0: dma [1003, 2000) \"load a\"\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "in\n" << text;
}

TEST(EDF, DisassemblyShowsFaults) {
  std::vector<uint8_t> bytes = makeFile();
  auto reader = Reader::open(bytes, "f.edf");
  ASSERT_TRUE(bool(reader));
  bytes[sectionOf(*reader, "SPMI").offset] ^= 1;
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::Error error = disassemble(os, *reader);
  ASSERT_TRUE(bool(error));
  EXPECT_NE(llvm::toString(std::move(error)).find("section SPMI"),
            std::string::npos);
  EXPECT_NE(text.find("<f.edf: section SPMI"), std::string::npos);
  EXPECT_NE(text.find("schedule makespan"), std::string::npos);
}

} // namespace
