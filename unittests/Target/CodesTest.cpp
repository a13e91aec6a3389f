//===- CodesTest.cpp - Tests of the code tables ---------------------------===//

#include "furiosa/Target/RNGD/Codes.h"

#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringSet.h"

#include "gtest/gtest.h"

using namespace furiosa::rngd;

namespace {

TEST(Codes, NamesAndValuesAreUnique) {
  for (const CodeTable &table : codeTables()) {
    llvm::StringSet<> names;
    llvm::SmallSet<unsigned, 32> values;
    for (const CodeValue &code : table.values) {
      EXPECT_TRUE(names.insert(code.name).second)
          << table.name.str() << ' ' << code.name.str();
      EXPECT_TRUE(values.insert(code.value).second)
          << table.name.str() << ' ' << code.name.str();
    }
  }
}

TEST(Codes, FieldsExistAndHoldEveryCode) {
  for (const CodeTable &table : codeTables())
    for (auto [block, name] : fieldsOf(table)) {
      const SfrBlock &info = sfrBlock(block);
      unsigned count = info.count(name);
      ASSERT_GT(count, 0u) << info.name.str() << ' ' << name.str();
      EXPECT_EQ(codesOf(block, name), &table)
          << info.name.str() << ' ' << name.str();
      const SfrField *field = info.find(name);
      ASSERT_NE(field, nullptr);
      for (const CodeValue &code : table.values)
        EXPECT_LE(table.isBitMask ? 1ull << code.value : code.value,
                  field->max())
            << info.name.str() << ' ' << name.str() << ' ' << code.name.str();
    }
  for (const TucOpInfo &op : tucOps())
    for (const TucField &field : op.wordFields)
      if (const CodeTable *table = codesOf(op.op, field.name)) {
        for (const CodeValue &code : table->values)
          EXPECT_LE(table->isBitMask ? 1ull << code.value : code.value,
                    (1ull << field.width) - 1)
              << op.mnemonic.str() << ' ' << code.name.str();
      }
}

/// The reset values of the five cluster-route registers: 6, 5, 6, 5 and 4 in
/// the last field, which the own numbering reads as "bypass".
TEST(Codes, ResetRoutesAreBypass) {
  struct Case {
    Block block;
    const char *field;
    uint64_t value;
  };
  auto vau = Block::VectorArithmeticUnitMainContext;
  for (Case c :
       {Case{vau, "logic_cluster_source", 6},
        Case{vau, "fxp_cluster_source", 5}, Case{vau, "fp_cluster_source", 6},
        Case{Block::VectorReduceUnitMainContext, "cluster_source", 5},
        Case{vau, "clip_cluster_source", 4}}) {
    EXPECT_EQ(SfrImage::atReset(c.block).get(c.field), c.value) << c.field;
    EXPECT_EQ(codesOf(c.block, c.field)->describe(c.value), "bypass")
        << c.field;
  }
}

TEST(Codes, RoutesAndSubUnits) {
  using namespace codes;
  EXPECT_EQ(routeTrfLoad, 0x10u);
  EXPECT_EQ(subUnitsTrfLoad, 0x141u);
  EXPECT_EQ(routeVrfLoad, 0x20u);
  EXPECT_EQ(subUnitsVrfLoad, 0x241u);
  EXPECT_EQ(routeDmCopy, 0x08u);
  EXPECT_EQ(subUnitsDmCopy, 0x0C1u);
  EXPECT_EQ(subUnitsOf(0x10, ExecTarget::Sub), 0x141u);
  EXPECT_EQ(subUnitsOf(0x08, ExecTarget::Sub), 0x0C1u);
  EXPECT_EQ(subUnitsOf(0x0B, ExecTarget::Main), 0x02Fu);
  EXPECT_EQ(subUnitsOf(0x09, ExecTarget::Main), 0x027u);
  EXPECT_EQ(subUnitsOf(0x0A, ExecTarget::Main), 0x02Bu);
  EXPECT_EQ(codesOf(TucOp::Exec, "subunit_bitmap")->describe(0x141),
            "dm_slice|sub_fetch|trf");
  EXPECT_EQ(codesOf(TucOp::Exec, "subunit_bitmap")->describe(0x1000), "");
}

TEST(Codes, KnownCodesAreMarked) {
  const CodeTable *mac =
      codesOf(Block::DotProductEngineMainContext, "mac_type");
  ASSERT_NE(mac, nullptr);
  EXPECT_EQ(mac->describe(4), "bf16");
  EXPECT_EQ(mac->find(4)->mark, CodeMark::Declared);
  const CodeTable *topology = codesOf(Block::SubFetchUnit, "topology");
  EXPECT_EQ(topology->find("forwarding")->mark, CodeMark::Exercised);
  EXPECT_EQ(topology->find("broadcast1")->mark, CodeMark::Own);
  EXPECT_EQ(codesOf(Block::SubFetchUnit, "base"), nullptr);
  EXPECT_EQ(codesOf(Block::VectorArithmeticUnitMainContext, "fxp_mul.op_mode")
                ->find("mul_int")
                ->value,
            1u);
}

} // namespace
