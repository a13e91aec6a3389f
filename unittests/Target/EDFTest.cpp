//===- EDFTest.cpp - Tests of the kernel binary ---------------------------===//

#include "furiosa/Target/RNGD/EDF.h"

#include "EDFChecksums.h"
#include "EDFKernels.h"

#include "furiosa/Target/RNGD/Codes.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

using namespace furiosa;
using namespace furiosa::rngd;
using namespace furiosa::rngd::edf;
using namespace furiosa::test;

namespace {

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
  ASSERT_EQ(reader->sections().size(), 9u);
  EXPECT_EQ(reader->numKernels(), 1u);
  for (const SectionInfo &section : reader->sections())
    EXPECT_EQ(section.offset % 8, 0u);
  auto loaded = reader->load();
  ASSERT_TRUE(bool(loaded)) << llvm::toString(loaded.takeError());
  EXPECT_EQ(*loaded, kernel);
}

TEST(EDF, HeaderBytes) {
  std::vector<uint8_t> bytes = makeFile();
  EXPECT_EQ(std::string(bytes.begin(), bytes.begin() + 8), "\x7fRNGDEDF");
  EXPECT_EQ(bytes[8], 1);
  EXPECT_EQ(bytes[10], 0);
  EXPECT_EQ(bytes[12], 9);
  EXPECT_EQ(llvm::support::endian::read64le(&bytes[16]), bytes.size());
  EXPECT_EQ(bytes[28], 1);
  EXPECT_EQ(std::string(bytes.begin() + 64, bytes.begin() + 68), "PROG");
  // The first section stands behind the table: 64 + 9 * 40 = 0x1a8.
  EXPECT_EQ(bytes[80], 0xa8);
  EXPECT_EQ(bytes[81], 0x01);
  // What is written here from the document gives the same checks.
  std::vector<uint8_t> repaired = bytes;
  std::fill_n(repaired.begin() + 24, 4, 0xee);
  std::fill_n(repaired.begin() + 32, 32, 0xee);
  repairChecks(repaired);
  EXPECT_EQ(repaired, bytes);
}

TEST(EDF, HeaderFaults) {
  std::vector<uint8_t> bytes = makeFile();
  auto changed = [&](size_t at, uint8_t value, bool repair = true) {
    std::vector<uint8_t> copy = bytes;
    copy[at] = value;
    if (repair)
      repairChecks(copy);
    return faultOf(copy);
  };
  EXPECT_EQ(faultOf({}), "f.edf: offset 0: not an EDF file: it is empty");
  EXPECT_EQ(changed(0, 0x7e), "f.edf: offset 0: not an EDF file: wrong magic");
  EXPECT_EQ(changed(8, 9), "f.edf: offset 8: EDF version 9 is too new; this "
                           "reader knows version 1");
  EXPECT_EQ(changed(8, 0), "f.edf: offset 8: EDF version 0 is no longer read: "
                           "compile the kernel again");
  EXPECT_EQ(changed(23, 1, false).substr(0, 27), "f.edf: offset 16: truncated");
  EXPECT_EQ(changed(15, 0xff).substr(0, 27), "f.edf: offset 12: truncated");
  EXPECT_EQ(changed(24, 0, false).substr(0, 41),
            "f.edf: offset 24: the CRC-32 of header an");
  EXPECT_EQ(changed(28, 0), "f.edf: offset 28: the file holds no kernel");
  EXPECT_EQ(changed(28, 3),
            "f.edf: offset 28: 9 sections are too few for 3 kernels");
  EXPECT_EQ(changed(40, 1, false),
            "f.edf: offset 32: the SHA-256 of the file is not the one in its "
            "header");
  EXPECT_EQ(changed(64, 'Q'),
            "f.edf: offset 64: section 'QROG' is unknown and may not be "
            "skipped");
  EXPECT_EQ(changed(68, 4),
            "f.edf: offset 68: section PROG has the unknown flags 0x4");
  EXPECT_EQ(changed(68, 2),
            "f.edf: offset 68: section PROG is packed; only constants may be");
  EXPECT_EQ(changed(72, 1),
            "f.edf: offset 72: section PROG: the file has 1 kernels");
  EXPECT_EQ(changed(87, 0xff).substr(0, 40),
            "f.edf: offset 80: section PROG at offset");
  EXPECT_EQ(changed(95, 0xff).substr(0, 41),
            "f.edf: offset 88: truncated: section PROG");
  EXPECT_EQ(changed(103, 0xff).substr(0, 35),
            "f.edf: offset 96: section PROG of 3");
  std::string crc = changed(0x1a8, 3, false);
  EXPECT_EQ(crc.substr(0, 46),
            "f.edf: section PROG at offset 424: CRC-32 is 0");
  std::vector<uint8_t> longer = bytes;
  longer.push_back(0);
  EXPECT_EQ(faultOf(longer),
            "f.edf: offset 16: 1 bytes follow the end of the file");
  repairChecks(longer);
  EXPECT_NE(faultOf(longer).find("1 bytes follow the last section"),
            std::string::npos);
}

/// A section that no reader of this version knows.
std::vector<uint8_t> addSection(std::vector<uint8_t> bytes, uint32_t flags,
                                uint32_t kernel) {
  namespace endian = llvm::support::endian;
  uint32_t count = endian::read32le(&bytes[12]);
  size_t tableEnd = 64 + count * 40;
  for (uint32_t i = 0; i < count; ++i) {
    uint8_t *offset = &bytes[64 + 40 * i + 16];
    endian::write64le(offset, endian::read64le(offset) + 40);
  }
  std::vector<uint8_t> entry(40);
  std::copy_n("NEWS", 4, entry.begin());
  endian::write32le(&entry[4], flags);
  endian::write32le(&entry[8], kernel);
  size_t end = bytes.size() + 40;
  endian::write64le(&entry[16], (end + 7) / 8 * 8);
  endian::write64le(&entry[24], 5);
  endian::write64le(&entry[32], 5);
  bytes.insert(bytes.begin() + tableEnd, entry.begin(), entry.end());
  bytes.resize((end + 7) / 8 * 8);
  for (char c : {'h', 'e', 'l', 'l', 'o'})
    bytes.push_back(c);
  endian::write32le(&bytes[12], count + 1);
  repairChecks(bytes);
  return bytes;
}

TEST(EDF, NewerMinorVersions) {
  std::vector<uint8_t> bytes = makeFile();
  bytes[10] = 7;
  for (uint32_t kernel : {0u, wholeFile}) {
    std::vector<uint8_t> newer = addSection(bytes, /*flags=*/1, kernel);
    auto reader = Reader::open(newer);
    ASSERT_TRUE(bool(reader)) << llvm::toString(reader.takeError());
    EXPECT_EQ(reader->minorVersion(), 7);
    auto kernels = reader->loadAll();
    ASSERT_TRUE(bool(kernels)) << llvm::toString(kernels.takeError());
    EXPECT_EQ(kernels->front(), makeKernel());
    std::string text;
    llvm::raw_string_ostream os(text);
    EXPECT_FALSE(bool(disassemble(os, *reader)));
    EXPECT_NE(text.find("# section NEWS at"), std::string::npos) << text;
    EXPECT_NE(text.find("skipped: unknown to version 1.1"), std::string::npos);
  }
  EXPECT_NE(faultOf(addSection(bytes, /*flags=*/0, 0))
                .find("section 'NEWS' is unknown and may not be skipped"),
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
  for (size_t i = 0x1a8; i < bytes.size(); ++i)
    for (uint8_t flip : {0x01, 0x02, 0x10, 0x80, 0xff}) {
      std::vector<uint8_t> copy = bytes;
      copy[i] ^= flip;
      repairChecks(copy);
      auto reader = Reader::open(copy, "f.edf");
      if (!reader) { // Padding between sections.
        EXPECT_NE(llvm::toString(reader.takeError()).find("padding"),
                  std::string::npos);
        continue;
      }
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
      repairChecks(copy);
      (void)faultOf(copy);
    }
  std::vector<uint8_t> copy = bytes;
  llvm::support::endian::write32le(copy.data() + 0x1a8, 0xFFFFFFFF);
  repairChecks(copy);
  EXPECT_NE(faultOf(copy).find("f.edf: section PROG at offset 428: 4294967295 "
                               "programs do not fit"),
            std::string::npos)
      << faultOf(copy);
}

TEST(EDF, InformationalSectionsMayBeZero) {
  std::vector<uint8_t> bytes = makeFile();
  auto reader = Reader::open(bytes);
  ASSERT_TRUE(bool(reader));
  for (llvm::StringRef id : {"SCHD", "NAME", "INFO", "LOCS"}) {
    SectionInfo section = sectionOf(*reader, id);
    std::fill_n(bytes.begin() + section.offset, section.size, 0);
  }
  repairChecks(bytes);
  reader = Reader::open(bytes);
  ASSERT_TRUE(bool(reader));
  auto kernel = reader->load();
  ASSERT_TRUE(bool(kernel)) << llvm::toString(kernel.takeError());
  Kernel expected = makeKernel();
  expected.schedule = {};
  expected.names = {};
  expected.info = {};
  expected.locations = {};
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

TEST(EDF, SeveralKernels) {
  std::vector<Kernel> kernels(3, makeKernel());
  EXPECT_EQ(llvm::toString(edf::write(kernels).takeError()),
            "cannot write EDF: two kernels 'm::kernel'");
  kernels[1].names.kernel = "m::other";
  kernels[1].schedule = {};
  kernels[2].names.kernel = "n::kernel";
  kernels[2].arguments.relocations[0].addend = 512;
  auto bytes = edf::write(kernels);
  ASSERT_TRUE(bool(bytes)) << llvm::toString(bytes.takeError());
  auto reader = Reader::open(*bytes, "f.edf");
  ASSERT_TRUE(bool(reader)) << llvm::toString(reader.takeError());
  EXPECT_EQ(reader->numKernels(), 3u);
  auto loaded = reader->loadAll();
  ASSERT_TRUE(bool(loaded)) << llvm::toString(loaded.takeError());
  EXPECT_EQ(*loaded, kernels);
  auto third = reader->loadExecutable(2);
  ASSERT_TRUE(bool(third));
  EXPECT_EQ(third->arguments, kernels[2].arguments);

  auto find = [&](llvm::StringRef name) {
    auto index = reader->findKernel(name);
    return index ? std::to_string(*index) : llvm::toString(index.takeError());
  };
  EXPECT_EQ(find("n::kernel"), "2");
  EXPECT_EQ(find("other"), "1");
  EXPECT_EQ(find("kernel"), "f.edf has several kernels 'kernel'; it has "
                            "m::kernel, m::other, n::kernel");
  EXPECT_EQ(find("ernel"), "f.edf has no kernel 'ernel'; it has m::kernel, "
                           "m::other, n::kernel");
  EXPECT_EQ(find(""), "f.edf has several kernels; choose one: m::kernel, "
                      "m::other, n::kernel");

  // A fault names the kernel.
  SectionInfo section = reader->sections()[9];
  EXPECT_EQ(section.kernel, 1u);
  (*bytes)[section.offset] ^= 1;
  EXPECT_NE(faultOf(*bytes).find("section PROG of kernel 1 at offset"),
            std::string::npos)
      << faultOf(*bytes);
  EXPECT_EQ(llvm::toString(edf::write({}).takeError()),
            "cannot write EDF: a file holds at least one kernel");
}

TEST(EDF, PackedConstants) {
  Kernel kernel = makeKernel();
  Constant &table = kernel.constants.front();
  ASSERT_EQ(table.kind, ConstantKind::Operand);
  // Sixteen values at random pack to half.
  table.bytes.resize(100000);
  uint32_t state = 1;
  for (uint8_t &byte : table.bytes)
    byte = (state = state * 1664525 + 1013904223) >> 28;
  kernel.arguments.operands[2].bytes = table.bytes.size();
  auto plain = edf::write(kernel);
  auto packed = edf::write(kernel, {.compress = true});
  ASSERT_TRUE(bool(plain) && bool(packed));
  EXPECT_LT(packed->size(), plain->size() - 40000);
  auto reader = Reader::open(*packed);
  ASSERT_TRUE(bool(reader)) << llvm::toString(reader.takeError());
  auto loaded = reader->load();
  ASSERT_TRUE(bool(loaded)) << llvm::toString(loaded.takeError());
  EXPECT_EQ(*loaded, kernel);

  // What would pack to less than a sixteenth stays as it is.
  std::fill(table.bytes.begin(), table.bytes.end(), 0);
  plain = edf::write(kernel);
  auto again = edf::write(kernel, {.compress = true});
  ASSERT_TRUE(bool(plain) && bool(again));
  EXPECT_EQ(*plain, *again);

  // A frame that claims or holds something else.
  SectionInfo section = sectionOf(*reader, "CNST");
  size_t entry = 64 + 40 * 4;
  std::vector<uint8_t> changed = *packed;
  llvm::support::endian::write64le(&changed[entry + 32],
                                   section.unpackedSize - 1);
  repairChecks(changed);
  EXPECT_NE(faultOf(changed).find("does not unpack"), std::string::npos);
  llvm::support::endian::write64le(&changed[entry + 32],
                                   section.unpackedSize + 1);
  repairChecks(changed);
  EXPECT_NE(faultOf(changed).find("unpacks to"), std::string::npos);
  llvm::support::endian::write64le(&changed[entry + 32], 1ull << 40);
  repairChecks(changed);
  EXPECT_NE(faultOf(changed).find("cannot unpack to"), std::string::npos);
}

TEST(EDF, StrippedLocations) {
  Kernel kernel = makeKernel();
  auto stripped = edf::write(kernel, {.stripLocations = true});
  kernel.locations = {};
  auto without = edf::write(kernel);
  ASSERT_TRUE(bool(stripped) && bool(without));
  EXPECT_EQ(*stripped, *without);
  llvm::StringRef text(reinterpret_cast<const char *>(stripped->data()),
                       stripped->size());
  EXPECT_FALSE(text.contains("kernel.mlir"));
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
  odd.opcode = static_cast<Opcode>(10);
  EXPECT_EQ(fault({odd}), "instruction 0: unknown PE opcode 10");
  auto ifWord = I::ifWord(0x200000, Condition::Less, -3);
  EXPECT_EQ(fault({ifWord, I::endIf(), I::end()}), "");
  EXPECT_EQ(fault({ifWord, I::elseIf(), I::endIf(), I::end()}), "");
  EXPECT_EQ(fault({ifWord, I::elseIf(), I::elseIf(), I::endIf(), I::end()}),
            "instruction 2: an else without a condition");
  EXPECT_EQ(fault({I::endIf(), I::end()}),
            "instruction 0: a condition ends that was not begun");
  EXPECT_EQ(fault({I::loop(2), ifWord, I::endLoop(), I::endIf(), I::end()}),
            "instruction 2: a loop ends that was not begun");
  EXPECT_EQ(fault({ifWord, I::end()}),
            "instruction 1: the program ends in a condition");
  EXPECT_EQ(fault({ifWord, I::barrier(), I::endIf(), I::end()}),
            "instruction 1: a barrier stands in a condition");
  ifWord.reg = 4;
  EXPECT_EQ(fault({ifWord, I::endIf(), I::end()}),
            "instruction 0: unknown condition 4");
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
  EXPECT_EQ(fault([](Kernel &k) { k.arguments.relocations[0].operand = 4; }),
            "relocation 0: there is no operand 4");
  EXPECT_EQ(
      fault(
          [](Kernel &k) { k.arguments.relocations[0].spmAddress = 0x200200; }),
      "relocation 0: SPM address 0x200200 is not a 64-bit word of the SPM "
      "image");
  EXPECT_EQ(fault([](Kernel &k) {
              k.arguments.operands[3].axes = {{"I", 1}};
            }),
            "operand 3: scratch has bytes only");
  EXPECT_EQ(
      fault([](Kernel &k) { k.arguments.operands[3].type = ElementType::I32; }),
      "operand 3: scratch has bytes only");
  EXPECT_EQ(fault([](Kernel &k) {
              std::swap(k.arguments.operands[2], k.arguments.operands[3]);
            }),
            "operand 3: scratch comes after all other operands");
  EXPECT_EQ(fault([](Kernel &k) { k.plan[0].address = 524288 - 1023; }),
            "plan entry 0: 1024 bytes at 0x7fc01 exceed the 524288 bytes of "
            "dm");
  EXPECT_EQ(fault([](Kernel &k) { k.constants[0].bytes.pop_back(); }),
            "operand 2: the constant has 63 bytes, 64 are expected");
  EXPECT_EQ(fault([](Kernel &k) { k.constants.erase(k.constants.begin()); }),
            "operand 2: the constant's bytes are missing");
  EXPECT_EQ(
      fault([](Kernel &k) {
        k.constants.insert(k.constants.begin(), {ConstantKind::Operand, 0, {}});
      }),
      "operand 2: the constant's bytes are missing");
  EXPECT_EQ(
      fault([](Kernel &k) { k.arguments.operands[2].role = Role::Input; }),
      "operand 2: there are bytes for it, but it is no constant");
  EXPECT_EQ(fault([](Kernel &k) { std::swap(k.constants[0], k.constants[1]); }),
            "constant 1: out of order: operands by index, then tables by code");
  EXPECT_EQ(fault([](Kernel &k) { k.constants[1].index = 5; }),
            "constant 1: there is no lookup table 5");
  EXPECT_EQ(fault([](Kernel &k) { k.constants[1].bytes.resize(15); }),
            "constant 1: lookup table 1 has 16 bytes, found 15");
  EXPECT_EQ(fault([](Kernel &k) { k.locations.lines[1].instruction = 0; }),
            "source line 1: not in the order of instructions");
  EXPECT_EQ(fault([](Kernel &k) { k.locations.lines[1].file = 2; }),
            "source line 1: there is no file 2");
  EXPECT_EQ(fault([](Kernel &k) { k.locations.lines[0].file = 1; }),
            "source line 0: files are not in the order of their first use");
  EXPECT_EQ(fault([](Kernel &k) { k.locations.files.push_back("x"); }),
            "no source line is in file 2");
  EXPECT_EQ(fault([](Kernel &k) { k.locations.lines[2].instruction = 1; }),
            "source line 2: program 1 has no instruction 1");
  EXPECT_EQ(fault([](Kernel &k) { k.plan[1].lanes = 3; }),
            "plan entry 1: 3 lanes: not 1, 2, 4 or 8");
  EXPECT_EQ(fault([](Kernel &k) { k.plan[0].lanes = 8; }),
            "plan entry 0: dm has no lanes");
  EXPECT_NE(fault([](Kernel &k) {
              k.programs[0].instructions[7].word = 0x200200;
            }).find("SPM address 0x200200 is outside the SPM image"),
            std::string::npos);
  EXPECT_NE(fault([](Kernel &k) {
              for (Instruction &inst : k.programs[0].instructions)
                if (inst.opcode == Opcode::If)
                  inst.word = 0x200200;
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
            "the SPM data area of 1572864 bytes is full: no room for 256 "
            "beside 0 bytes of register images and 1572864 of DMA "
            "descriptors, which all live to the end");
}

TEST(EDF, Disassembly) {
  std::vector<uint8_t> bytes = makeFile();
  auto reader = Reader::open(bytes);
  ASSERT_TRUE(bool(reader));
  std::string text;
  llvm::raw_string_ostream os(text);
  ASSERT_FALSE(bool(disassemble(os, *reader)));
  for (
      const char *line :
      {"edf version 1.0\nkernel \"m::kernel\" {\n  # section PROG at 424",
       "\n  producer \"furiosa-opt-mlir\" chip \"rngd\" release \"0.6\"\n",
       "\n  names {\n    \"a.dm\"\n  }\n",
       "\n  program cluster 0 {\n    at \"kernel.mlir\":3:5\n    loop 64 {\n"
       "      set r0 = 0x30000200100, pe 0\n",
       "      issue pe 0: dmaw r0=0 r1=1 r2=2 r3=3 desc_addr0=0x200100 "
       "dma_tag_id=3 profile=0 profile_id=0 desc_addr1=0xffffffffff "
       "desc_addr2=0xffffffffff desc_addr3=0xffffffffff\n",
       "      issue pe 0: wait dma_tag_id=3 type=dma_tag "
       "target_context=main\n",
       "      add [0x200110], -8\n    }\n",
       "    at \"lib.mlir\":70:1\n    set r8",
       "    issue pe 0-3: mtosfr r0=8 spm_address=0x200000 size=14 "
       "sfr_address=0xff0100 (SubFetchUnit, bank 0)\n",
       "    issue pe 0-3: exec subunit_bitmap=dm_slice|sub_fetch|trf "
       "context_id=0 target_context=sub\n",
       "    if [0x200110] >= -1 {\n      add [0x200118], 4\n    } else {\n"
       "      add [0x200118], -4\n    }\n    end\n  }\n",
       "  program cluster 1 {\n    at \"kernel.mlir\":9:1\n    end\n  }\n",
       "  spm at 0x200000 size 512 {\n",
       "    0x200000: sfr SubFetchUnit bank 0 {\n      base = 2048\n    }\n",
       "      data_path_route_sub_context = 0x10 (trf_write)\n",
       "    0x200100: descriptor {\n      opcode = tensor_loop\n"
       "      source = 0x0 loops [64 : 1024, 1 : 1024]\n"
       "      destination = 0x10000800 loops [64 : 4194304, 1 : 1024]\n",
       "    0: input \"a\" bytes 65536 i8 axes [\"I\" = 512, \"K\" = 128] chip "
       "\"1\" element \"I, K\"\n",
       "    2: constant \"w\" bytes 64 i8 axes [\"I\" = 64] chip \"1\" element "
       "\"I\"\n",
       "    3: scratch \"\" bytes 4096\n", "    [0x200110] = operand 0 + 256\n",
       "    dm cluster 0 at 0x800 size 1024 live [1003, 3000) name 0 "
       "(\"a.dm\")\n",
       "    trf cluster 0 at 0x0 size 8192 lanes 8 live [2000, 4000)\n",
       "  constants {\n    operand 2 {\n      "
       "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n",
       // ±0, 0.5, 1, 1.5, 2, 3, 4, 6 as f8e4m3, and their negatives.
       "    table 1 {\n      0030383c4044484c80b0b8bcc0c4c8cc\n    }\n",
       "  schedule makespan 5000 lower_bound 4000 {\n",
       "    2: dma [1003, 2000) \"load a\" cluster 0 instruction 5\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "in\n" << text;

  auto again = assemble(text);
  ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
  EXPECT_EQ(*again, bytes);
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
