//===- ExecTranslation.h - Units of lir as register fields ------*- C++ -*-===//
//
// One encoder and one builder per engine; each pair stands in one file.
//
//===----------------------------------------------------------------------===//

#ifndef FURIOSA_LIB_TARGET_RNGD_TRANSLATE_EXECTRANSLATION_H
#define FURIOSA_LIB_TARGET_RNGD_TRANSLATE_EXECTRANSLATION_H

#include "furiosa/Target/RNGD/Translate.h"

#include "mlir/IR/Builders.h"

#include <map>

namespace furiosa::rngd {

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

/// The images of one exec while its units are encoded one after the other.
class ExecEncoder {
public:
  ExecEncoder(lir::ExecOp exec, AddressLookup addresses);

  /// All units; then the images are complete.
  llvm::FailureOr<ExecImages> run();

  bool isMain() { return exec.getContext() == lir::Context::Main; }

private:
  // One overload per unit.
  llvm::LogicalResult encode(lir::FetchSequencerOp op);
  llvm::LogicalResult encode(lir::TableLookupOp op);
  llvm::LogicalResult encode(lir::FetchAdapterOp op);
  llvm::LogicalResult encode(lir::ZeroPointSubOp op);
  llvm::LogicalResult encode(lir::SwitchOp op);
  llvm::LogicalResult encode(lir::CustomSwitchOp op);
  llvm::LogicalResult encode(lir::CollectOp op);
  llvm::LogicalResult encode(lir::TrfStoreOp op);
  llvm::LogicalResult encode(lir::VrfStoreOp op);
  llvm::LogicalResult encode(lir::FeedBufferOp op);
  llvm::LogicalResult encode(lir::TrfSequencerOp op);
  llvm::LogicalResult encode(lir::PacketReducerOp op);
  llvm::LogicalResult encode(lir::TimeReducerOp op);
  llvm::LogicalResult encode(lir::LaneFolderOp op);
  llvm::LogicalResult encode(lir::VectorTagOp op);
  llvm::LogicalResult encode(lir::VectorUnzipOp op);
  llvm::LogicalResult encode(lir::VectorAluOp op);
  llvm::LogicalResult encode(lir::VectorStashOp op);
  llvm::LogicalResult encode(lir::VectorFxpToFpOp op);
  llvm::LogicalResult encode(lir::VectorFpToFxpOp op);
  llvm::LogicalResult encode(lir::VectorNarrowOp op);
  llvm::LogicalResult encode(lir::VectorWidenOp op);
  llvm::LogicalResult encode(lir::VectorValidClipOp op);
  llvm::LogicalResult encode(lir::VectorValidFilterOp op);
  llvm::LogicalResult encode(lir::VectorReduceOp op);
  llvm::LogicalResult encode(lir::VectorSliceReduceOp op);
  llvm::LogicalResult encode(lir::VectorCompactOp op);
  llvm::LogicalResult encode(lir::CastOp op);
  llvm::LogicalResult encode(lir::TransposeOp op);
  llvm::LogicalResult encode(lir::CommitAdapterOp op);
  llvm::LogicalResult encode(lir::CommitSequencerOp op);

  /// The image of a block, added when first asked for.
  SfrImage &image(Block block);
  /// The block of fetch in the context.
  Block fetchBlock();
  Block commitBlock();
  /// The blocks of the vector engine, passing everything by.
  void addVectorBlocks();
  /// Has the stream go through the arithmetic unit.
  llvm::LogicalResult useArithmeticUnit(mlir::Operation *op);
  /// The path through the units that the vector engine uses.
  llvm::LogicalResult routeVector();
  /// Sets a field of the arithmetic unit.
  llvm::LogicalResult setArithmetic(mlir::Operation *op,
                                    const llvm::Twine &field, uint64_t value,
                                    unsigned index = 0);
  /// Sets a code of the arithmetic unit by its name.
  llvm::LogicalResult setCode(mlir::Operation *op, const llvm::Twine &field,
                              llvm::StringRef name);
  llvm::LogicalResult setGuard(mlir::Operation *op, Block block,
                               const llvm::Twine &prefix,
                               llvm::StringRef guard);
  /// One dimension of the valid count generator.
  llvm::LogicalResult setValidCount(mlir::Operation *op, unsigned dim,
                                    int64_t count, int64_t match,
                                    llvm::ArrayRef<int64_t> sizes,
                                    llvm::ArrayRef<int64_t> strides);
  /// An indexer of the register file that walks elements of 32 bits.
  llvm::LogicalResult useIndexer(mlir::Operation *op, const llvm::Twine &prefix,
                                 uint64_t module);
  void addToRoute(codes::RouteUnit unit) { route |= codes::bit(unit); }

  /// Sets a field; an error at `op` that names block, register and field.
  llvm::LogicalResult set(mlir::Operation *op, Block block,
                          llvm::StringRef field, uint64_t value) {
    return set(op, block, field, 0, value);
  }
  llvm::LogicalResult set(mlir::Operation *op, Block block,
                          llvm::StringRef field, unsigned index,
                          uint64_t value);
  /// Writes all eight loops, given outermost first; those that run once are
  /// left out.
  llvm::LogicalResult setLoops(mlir::Operation *op, Block block,
                               llvm::StringRef limits, llvm::StringRef strides,
                               llvm::ArrayRef<int64_t> sizes,
                               llvm::ArrayRef<int64_t> steps);
  llvm::LogicalResult setLimit(mlir::Operation *op, Block block,
                               llvm::StringRef field, unsigned index,
                               int64_t limit);
  llvm::FailureOr<int64_t> address(mlir::Operation *op, mlir::Value buffer);

  lir::ExecOp exec;
  AddressLookup addresses;
  /// `Block` counts in the order of addresses.
  std::map<Block, SfrImage> images;
  uint64_t route = 0;
  std::vector<std::array<uint64_t, 4>> snoopBitmaps;
  /// Sizes of the loops of the TRF sequencer, for the slots of the reducer.
  llvm::SmallVector<int64_t, 8> weightSizes;
  /// The last ALU of each cluster so far, which feeds the next.
  std::map<vector::Cluster, vector::Alu> lastAlu;
  bool usesArithmetic = false;
  bool reducesFirst = false, reducesLast = false;
  unsigned numIndexers = 0;
  /// The stage that the stream has just left, as a code of indexers.
  uint64_t vectorModule = codes::value(codes::IndexerModule::Branch);
};

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// Loops as lir has them: outermost first, without those that run once.
struct LoopLists {
  llvm::SmallVector<int64_t, 8> sizes;
  llvm::SmallVector<int64_t, 8> strides;
};
LoopLists getLoops(const HardwareLoops &loops);

/// Offset of the last step of the loops.
int64_t getLastOffset(const HardwareLoops &loops);

/// Where units are built.
struct UnitBuilder {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  BufferLookup buffers;
};

llvm::LogicalResult buildFetch(UnitBuilder &unit, const FetchConfig &config);
llvm::LogicalResult buildTrfStore(UnitBuilder &unit,
                                  const TrfWriteConfig &config);
llvm::LogicalResult buildVrfStore(UnitBuilder &unit,
                                  const VrfWriteConfig &config);
/// `isWide`: a zero point was subtracted from the stream.
llvm::LogicalResult buildContraction(UnitBuilder &unit,
                                     const DotProductConfig &config,
                                     bool isWide);
llvm::LogicalResult buildVector(UnitBuilder &unit, const VectorConfig &config);
llvm::LogicalResult buildTranspose(UnitBuilder &unit,
                                   const TransposeConfig &config);
llvm::LogicalResult buildCommit(UnitBuilder &unit, const CommitConfig &config);

} // namespace furiosa::rngd

#endif // FURIOSA_LIB_TARGET_RNGD_TRANSLATE_EXECTRANSLATION_H
