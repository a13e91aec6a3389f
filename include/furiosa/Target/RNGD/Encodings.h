//===- Encodings.h - Registers, commands and descriptors --------*- C++ -*-===//
//
// The bit layouts of RNGD: special-function registers (SFR) of the Tensor
// Unit, command words and operands of its controller (TUC), Tensor DMA
// descriptors, and the address map. Tables are data; writer, reader,
// disassembler and documentation come from them. What the values of a field
// mean is in Codes.h.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_TARGET_RNGD_ENCODINGS_H
#define FURIOSA_TARGET_RNGD_ENCODINGS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace furiosa::rngd {

/// The text of what is wrong, or nothing.
using Fault = std::optional<std::string>;

//===----------------------------------------------------------------------===//
// Special-function registers
//===----------------------------------------------------------------------===//

/// Register blocks in the order of their addresses: Common, SubFetchUnit,
/// FetchUnitMainContext, … EDF files store the value.
enum class Block : uint8_t {
#define FURIOSA_SFR_BLOCK(NAME, BASE, BYTES, CONTEXT) NAME,
#define FURIOSA_SFR_REG(NAME, OFFSET, RESET)
#define FURIOSA_SFR_FIELD(NAME, LSB, WIDTH)
#define FURIOSA_SFR_ARRAY(NAME, FIRST, LAST, LSB, WIDTH, STEP)
#include "furiosa/Target/RNGD/Sfr.def"
};
inline constexpr unsigned numBlocks = 21;

/// Which context a block belongs to.
enum class BlockContext : uint8_t { Common, Sub, Main };
llvm::StringRef toString(BlockContext context);

/// One field: `width` bits from bit `lsb` of a 64-bit register.
struct SfrField {
  /// Unique in its block together with `index`: "limits", "fxp_add.op_mode",
  /// "fxp_add.scalar". Where two registers of a block have a field of one name
  /// the register stands before it ("feed_data_type").
  llvm::StringRef name;
  /// Position in `SfrBlock::registers`.
  uint16_t reg;
  uint8_t lsb;
  uint8_t width;
  /// Element of an array such as `limits[0..7]`, which may span registers.
  uint8_t index;
  bool isArray;

  /// All ones in `width` bits.
  uint64_t max() const { return width >= 64 ? ~0ull : (1ull << width) - 1; }
  /// "limits[3]" or the plain name.
  std::string str() const;
};

struct SfrRegister {
  llvm::StringRef name;
  /// Bytes from the base of the block, a multiple of 8.
  uint16_t offset;
  uint64_t reset;
  /// Bits that belong to some field.
  uint64_t fieldMask;
  /// Fields of this register: a range of `SfrBlock::fields`.
  uint16_t firstField;
  uint16_t numFields;
};

struct SfrBlock {
  Block id;
  llvm::StringRef name;
  /// SFR address of the first register in slice 0, bank 0.
  uint32_t base;
  /// Length; a word without a register inside (DataMemory) is reserved.
  uint32_t sizeInBytes;
  BlockContext context;
  std::vector<SfrRegister> registers;
  std::vector<SfrField> fields;

  /// The field, or null. A plain field has index 0.
  const SfrField *find(llvm::StringRef field, unsigned index = 0) const;
  /// Number of elements of an array, 1 for a plain field, 0 if unknown.
  unsigned count(llvm::StringRef field) const;
  /// The register at a byte offset, or null where a word is reserved.
  const SfrRegister *registerAt(uint32_t offset) const;
  unsigned numWords() const { return sizeInBytes / 8; }
};

/// All blocks, indexed by `Block`.
llvm::ArrayRef<SfrBlock> sfrBlocks();
const SfrBlock &sfrBlock(Block block);
/// Block by its stored number, or nothing.
std::optional<Block> toBlock(uint64_t value);
/// Block by name ("FetchUnitMainContext"), or nothing.
std::optional<Block> parseBlock(llvm::StringRef name);
llvm::StringRef toString(Block block);

/// The 25-bit SFR address of a register: slice 0xFF is all slices.
uint32_t sfrAddress(Block block, unsigned bank, uint32_t offset = 0,
                    unsigned slice = 0xFF);
/// What an SFR address names.
struct SfrLocation {
  Block block;
  unsigned bank;
  /// Bytes from the base of the block.
  uint32_t offset;
  unsigned slice;
};
/// Inverse of `sfrAddress`; nothing if no block is there.
std::optional<SfrLocation> findSfr(uint32_t address);

/// How a loop limit is written in its 16-bit field: 65,536 as 0 [own]. Empty
/// for 0 and beyond 65,536.
std::optional<uint16_t> encodeLimit(uint64_t limit);
inline uint32_t decodeLimit(uint64_t field) {
  return field == 0 ? 65536 : static_cast<uint32_t>(field);
}

/// The contents of one register block.
class SfrImage {
public:
  /// All registers at zero (not at their reset values: images are written
  /// whole, and an unused field is 0).
  explicit SfrImage(Block block);
  /// An image from its words; refused unless the length is the block's.
  static llvm::Expected<SfrImage> fromWords(Block block,
                                            llvm::ArrayRef<uint64_t> words);
  /// The image after reset.
  static SfrImage atReset(Block block);

  Block block() const { return id; }
  llvm::ArrayRef<uint64_t> words() const { return contents; }
  /// The words in little-endian bytes, as they stand in SPM.
  std::vector<uint8_t> bytes() const;

  /// Sets a field. The fault says that the field does not exist, or by how
  /// much the value is too wide.
  [[nodiscard]] Fault set(llvm::StringRef field, uint64_t value);
  [[nodiscard]] Fault set(llvm::StringRef field, unsigned index,
                          uint64_t value);
  /// Sets a 16-bit limit from a count of 1 … 65,536.
  [[nodiscard]] Fault setLimit(llvm::StringRef field, unsigned index,
                               uint64_t limit);
  /// Value of a field; empty if the block has no such field.
  std::optional<uint64_t> get(llvm::StringRef field, unsigned index = 0) const;
  /// Value of a field of this block's table.
  uint64_t get(const SfrField &field) const;
  /// A limit field as the count it stands for; empty if there is none.
  std::optional<uint32_t> getLimit(llvm::StringRef field, unsigned index) const;

  /// One field with its place and value.
  struct Entry {
    const SfrRegister &reg;
    const SfrField &field;
    uint64_t value;
  };
  /// Calls `callback` for every field in the order of the registers.
  void forEach(llvm::function_ref<void(const Entry &)> callback) const;

  /// Names register and bit of the first reserved bit that is not zero.
  Fault checkReserved() const;

  friend bool operator==(const SfrImage &, const SfrImage &) = default;

private:
  Block id;
  std::vector<uint64_t> contents;
};

//===----------------------------------------------------------------------===//
// Tensor Unit controller
//===----------------------------------------------------------------------===//

/// Opcodes, bits 31:25 of a command word: ItoSfr, MtoSfr, Exec, Wait, DmaW, …
enum class TucOp : uint8_t {
#define FURIOSA_TUC_OP(NAME, OPCODE, MNEMONIC, TEXT) NAME = OPCODE,
#define FURIOSA_TUC_WORD(NAME, LSB, WIDTH)
#define FURIOSA_TUC_OPERAND()
#define FURIOSA_TUC_FIELD(NAME, LSB, WIDTH, CHECKED)
#include "furiosa/Target/RNGD/Tuc.def"
};

/// A field of a command word or of an operand register.
struct TucField {
  llvm::StringRef name;
  uint8_t lsb;
  /// Bits of the layout.
  uint8_t width;
  /// Bits that the target of the value has; a wider value is refused even if
  /// it fits the layout (`write_row_base` of stotrf and stovrf).
  uint8_t checkedWidth;
};

struct TucOpInfo {
  TucOp op;
  llvm::StringRef mnemonic;
  llvm::StringRef summary;
  /// Fields of the word without opcode; register indices are "r0" … "r3".
  std::vector<TucField> wordFields;
  /// Layout of the general registers that the command reads, r0 first.
  std::vector<std::vector<TucField>> registers;
};

/// All commands in the order of their opcodes.
llvm::ArrayRef<TucOpInfo> tucOps();
const TucOpInfo &tucOpInfo(TucOp op);
/// Null for an opcode that is not declared.
const TucOpInfo *findTucOp(uint64_t opcode);
const TucOpInfo *findTucOp(llvm::StringRef mnemonic);

/// A DMA descriptor address that says "this PE takes no part".
inline constexpr uint64_t noDescriptor32 = 0xFFFFFFFF;
inline constexpr uint64_t noDescriptor40 = 0xFFFFFFFFFF;

/// One command: its word and the contents of its operand registers. Field
/// names are unique in a command; "r0" … "r3" are the register indices.
class TucCommand {
public:
  explicit TucCommand(TucOp op);

  /// From a word, refused if the opcode is unknown or a reserved bit is set.
  static llvm::Expected<TucCommand> decode(uint32_t word);
  /// From a word and the operand registers it names, r0 first.
  static llvm::Expected<TucCommand> decode(uint32_t word,
                                           llvm::ArrayRef<uint64_t> operands);

  TucOp op() const { return info->op; }
  unsigned numOperands() const { return info->registers.size(); }

  [[nodiscard]] Fault set(llvm::StringRef field, uint64_t value);
  std::optional<uint64_t> get(llvm::StringRef field) const;
  /// Uses general registers first, first + 1, … for r0, r1, …
  [[nodiscard]] Fault setRegisters(unsigned first);

  const TucOpInfo &opInfo() const { return *info; }
  uint32_t word() const { return bits; }
  /// General register that operand `i` is in.
  unsigned registerIndex(unsigned i) const;
  uint64_t operand(unsigned i) const { return operands[i]; }
  /// Sets an operand from the contents of its register, with all checks.
  [[nodiscard]] Fault setOperand(unsigned i, uint64_t value);

  /// "exec subunit_bitmap=0x2f context_id=0 target_context=main".
  void print(llvm::raw_ostream &os, bool withOperands = true) const;

private:
  const TucOpInfo *info;
  uint32_t bits;
  std::array<uint64_t, 4> operands = {};
};

//===----------------------------------------------------------------------===//
// Tensor DMA descriptor
//===----------------------------------------------------------------------===//

/// Opcode of a descriptor, bits 1:0 of its first word.
enum class DmaOpcode : uint8_t {
  TensorLoop = 0,
  SourceIndirect = 1,
  DestinationIndirect = 2,
};

llvm::StringRef toString(DmaOpcode opcode);
std::optional<DmaOpcode> parseDmaOpcode(llvm::StringRef name);

/// A field of the 256-byte descriptor.
struct DmaField {
  llvm::StringRef name;
  uint16_t offset;
  /// Bytes of one element.
  uint8_t size;
  uint8_t count;
  bool isSigned;
};
llvm::ArrayRef<DmaField> dmaFields();

/// A Tensor DMA descriptor. Loop 0 is innermost: its limit counts packets and
/// its stride on both sides is the packet's bytes [own]. Address = base + sum
/// of index times stride.
struct DmaDescriptor {
  DmaOpcode opcode = DmaOpcode::TensorLoop;
  /// Loop that the index list replaces, and whether entries are addresses of a
  /// list (true) or addresses.
  uint8_t indirectDimension = 0;
  bool indirectList = false;
  /// PE-view addresses.
  uint64_t source = 0;
  uint64_t destination = 0;
  /// 1 … 65,536 each.
  std::array<uint32_t, 8> sourceLimits = {1, 1, 1, 1, 1, 1, 1, 1};
  std::array<int32_t, 8> sourceStrides = {};
  std::array<uint32_t, 8> destinationLimits = {1, 1, 1, 1, 1, 1, 1, 1};
  std::array<int32_t, 8> destinationStrides = {};
  std::array<uint32_t, 32> indirectIndices = {};

  static constexpr unsigned sizeInBytes = 256;
  static constexpr unsigned sourceOffset = 0x10;
  static constexpr unsigned destinationOffset = 0x18;
  /// Of an indirect transfer, all own: the address of the list of 32-bit
  /// entries (two words of indirectIndices), and what an entry counts in bytes
  /// (the next). The address of that side moves by entry times scale; entry n
  /// belongs to the n-th step of the indirect loop.
  static constexpr unsigned listOffset = 0x80;
  uint64_t listAddress() const {
    return indirectIndices[0] | uint64_t(indirectIndices[1]) << 32;
  }
  uint32_t listScale() const { return indirectIndices[2]; }

  /// Limits in range, products equal on both sides, one packet size of
  /// 1 … 4096 bytes.
  Fault check() const;
  /// Bytes of a packet: stride of loop 0.
  uint64_t packetBytes() const {
    return static_cast<uint32_t>(sourceStrides[0]);
  }
  /// Packets moved; empty if the product overflows.
  std::optional<uint64_t> numPackets() const;

  /// Little-endian bytes; refused where `check` finds a fault.
  llvm::Expected<std::array<uint8_t, sizeInBytes>> encode() const;
  /// From 256 bytes; reserved bits must be zero. Does not call `check`.
  static llvm::Expected<DmaDescriptor> decode(llvm::ArrayRef<uint8_t> bytes);

  friend bool operator==(const DmaDescriptor &,
                         const DmaDescriptor &) = default;
};

//===----------------------------------------------------------------------===//
// Address map
//===----------------------------------------------------------------------===//

/// PE-view address of byte `offset` in `slice` (0 … 63) of the own PE.
uint64_t dmAddress(unsigned slice, uint64_t offset);
/// Address of the window of another PE (0 … 7) of chip `npu`.
uint64_t remotePEAddress(unsigned npu, unsigned pe);
/// Address of the HBM of chip `npu` out of `numNpus`; empty for 0 chips, more
/// than 16, or a chip that is not there.
std::optional<uint64_t> remoteHBMAddress(unsigned numNpus, unsigned npu);

/// What a PE-view address means.
struct AddressLocation {
  enum class Kind : uint8_t { SPM, TDMA, TUC, SFR, DM, HBM, Remote, None } kind;
  /// Slice for DM and SFR, PE for Remote (npu * 8 + pe).
  unsigned unit;
  /// Bytes from the start of the region or slice.
  uint64_t offset;
};
AddressLocation locate(uint64_t address);

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// One line per field: "limits[0] = 32"; only non-zero ones unless `all`.
/// Fields with a code table print the name of the code.
void printImage(llvm::raw_ostream &os, const SfrImage &image,
                llvm::StringRef indent = "  ", bool all = false);
void printDescriptor(llvm::raw_ostream &os, const DmaDescriptor &descriptor,
                     llvm::StringRef indent = "  ");
/// Tables of all registers, commands, descriptors, addresses and codes in
/// Markdown, for docs/EDF.md.
void printEncodingsMarkdown(llvm::raw_ostream &os);

} // namespace furiosa::rngd

#endif // FURIOSA_TARGET_RNGD_ENCODINGS_H
