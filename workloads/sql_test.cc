// The .sql files and what the C++ says of them agree: numbers of tables and procedures, columns a row, parameters a
// call.
#include <gtest/gtest.h>

#include <set>

#include "procedures/call_codec.h"
#include "procedures/program.h"
#include "workloads/smallbank_schema.h"
#include "workloads/tpcc_schema.h"
#include "workloads/workload.h"

namespace mneme {
namespace {

class Sql : public testing::TestWithParam<std::string_view> {
 protected:
  Sql() : workload_(std::move(make_workload(GetParam(), {})).value()) {
    Result<std::unique_ptr<Program>> program = compile(workload_->sql(), workload_->name());
    EXPECT_TRUE(program.ok()) << program.error().message;
    program_ = std::move(program).value();
  }

  const std::unique_ptr<Workload> workload_;
  std::unique_ptr<Program> program_;
};

TEST_P(Sql, EveryCallIsOneThatItsProcedureTakes) {
  const auto generator = workload_->generator({});
  std::set<uint32_t> called;
  for (uint64_t position = 0; position < 2'000; ++position) {
    const Call& call = generator->call(position);
    const Result<void> checked = check_call(*program_, call);
    ASSERT_TRUE(checked.ok()) << checked.error().message;
    called.insert(call.procedure.value);
  }
  EXPECT_EQ(called.size(), program_->procedures.size());
}

TEST_P(Sql, EveryRowHasTheColumnsOfItsTable) {
  std::set<uint32_t> populated;
  for (const uint32_t part : {0u, workload_->part_count() - 1, workload_->part_count() / 2}) {
    workload_->populate(part, [&](TableId table, std::span<const Value> row) {
      const std::vector<Column>& columns = program_->catalog.table(table).columns;
      ASSERT_EQ(row.size(), columns.size());
      populated.insert(table.value);
      for (size_t i = 0; i < row.size(); ++i) {
        if (row[i].is_null()) {
          ASSERT_TRUE(columns[i].nullable) << columns[i].name;
        } else if (columns[i].type.is_string()) {
          ASSERT_LE(row[i].as_text().size(), columns[i].type.length) << columns[i].name;
        }
      }
    });
  }
  EXPECT_GE(populated.size(), 3u);
}

INSTANTIATE_TEST_SUITE_P(All, Sql, testing::ValuesIn(workload_names().begin(), workload_names().end()),
                         [](const auto& info) { return std::string(info.param); });

TEST(SqlNumbers, TpccDeclaresItsTablesAndProceduresInOrder) {
  const auto workload = std::move(make_workload("tpcc", {})).value();
  const auto program = std::move(compile(workload->sql(), "tpcc.sql")).value();
  EXPECT_EQ(program->catalog.tables().size(), 9u);
  EXPECT_EQ(program->catalog.find_table("history")->id, tpcc::id_of(tpcc::Table::kHistory));
  EXPECT_EQ(program->catalog.find_table("orders")->id, tpcc::id_of(tpcc::Table::kOrders));
  EXPECT_EQ(program->catalog.find_table("stock")->id, tpcc::id_of(tpcc::Table::kStock));
  EXPECT_EQ(program->find_procedure("new_order")->id, tpcc::id_of(tpcc::Procedure::kNewOrder));
  EXPECT_EQ(program->find_procedure("order_status")->id, tpcc::id_of(tpcc::Procedure::kOrderStatus));
  EXPECT_EQ(program->find_procedure("stock_level")->id, tpcc::id_of(tpcc::Procedure::kStockLevel));
}

TEST(SqlNumbers, SmallbankDeclaresItsTablesAndProceduresInOrder) {
  const auto workload = std::move(make_workload("smallbank", {})).value();
  const auto program = std::move(compile(workload->sql(), "smallbank.sql")).value();
  EXPECT_EQ(program->catalog.find_table("checking")->id, smallbank::id_of(smallbank::Table::kChecking));
  EXPECT_EQ(program->find_procedure("balance")->id, smallbank::id_of(smallbank::Procedure::kBalance));
  EXPECT_EQ(program->find_procedure("amalgamate")->id, smallbank::id_of(smallbank::Procedure::kAmalgamate));
  EXPECT_EQ(program->find_procedure("send_payment")->id,
            smallbank::id_of(smallbank::Procedure::kSendPayment));
}

}  // namespace
}  // namespace mneme
