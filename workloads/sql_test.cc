// The .sql files and what the C++ says of them agree: numbers of tables and procedures, columns a row,
// parameters a call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "procedures/binder/program.h"
#include "procedures/interpreter/call_codec.h"
#include "workloads/smallbank/smallbank_schema.h"
#include "workloads/tatp/tatp_schema.h"
#include "workloads/tpcb/tpcb_schema.h"
#include "workloads/tpcc/tpcc_schema.h"
#include "workloads/workload_table.h"
#include "workloads/ycsb/ycsb_schema.h"

namespace mneme {
namespace {

// Options by which every procedure is called.
WorkloadOptions all_procedures(std::string_view workload) {
  WorkloadOptions options;
  if (workload == "ycsb") {
    options.mix = "read_record=20,update_record=20,insert_record=20,scan_records=20,read_modify_write=20";
  }
  return options;
}

class Sql : public testing::TestWithParam<std::string_view> {
 protected:
  Sql() : workload_(std::move(make_workload(GetParam(), all_procedures(GetParam()))).value()) {
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
  EXPECT_GE(populated.size(), std::min<size_t>(program_->catalog.tables().size(), 3));
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

TEST(SqlNumbers, TatpDeclaresItsTablesAndProceduresInOrder) {
  const auto workload = std::move(make_workload("tatp", {})).value();
  const auto program = std::move(compile(workload->sql(), "tatp.sql")).value();
  EXPECT_EQ(program->catalog.find_table("subscriber")->id, tatp::id_of(tatp::Table::kSubscriber));
  EXPECT_EQ(program->catalog.find_table("call_forwarding")->id, tatp::id_of(tatp::Table::kCallForwarding));
  EXPECT_EQ(program->find_procedure("get_access_data")->id, tatp::id_of(tatp::Procedure::kGetAccessData));
  EXPECT_EQ(program->find_procedure("delete_call_forwarding")->id,
            tatp::id_of(tatp::Procedure::kDeleteCallForwarding));
}

// The rows' sizes are the specification's: 100 bytes, and 50 in history, which consists of fixed lengths and
// a filler.
TEST(SqlNumbers, TpcbDeclaresItsTablesInOrderAndInTheirSizes) {
  const auto workload = std::move(make_workload("tpcb", {})).value();
  const auto program = std::move(compile(workload->sql(), "tpcb.sql")).value();
  EXPECT_EQ(program->catalog.find_table("teller")->id, tpcb::id_of(tpcb::Table::kTeller));
  EXPECT_EQ(program->catalog.find_table("history")->id, tpcb::id_of(tpcb::Table::kHistory));
  EXPECT_EQ(program->find_procedure("account_update")->id, tpcb::id_of(tpcb::Procedure::kAccountUpdate));
  for (const TableDefinition& table : program->catalog.tables()) {
    size_t bytes = 0;
    for (const Column& column : table.columns) {
      bytes += column.type.is_string() ? column.type.length : column.type.kind == TypeKind::kInt ? 4 : 8;
    }
    EXPECT_EQ(bytes, table.name == "history" ? 50u : 100u) << table.name;
  }
}

TEST(SqlNumbers, YcsbDeclaresItsTableAndProceduresInOrderWithFieldsOfTheWantedLength) {
  WorkloadOptions options;
  options.ycsb.field_bytes = 37;
  const auto workload = std::move(make_workload("ycsb", options)).value();
  const auto program = std::move(compile(workload->sql(), "ycsb.sql")).value();
  const TableDefinition* table = program->catalog.find_table("usertable");
  EXPECT_EQ(table->id, ycsb::id_of(ycsb::Table::kUsertable));
  ASSERT_EQ(table->columns.size(), 1 + ycsb::kFields);
  for (uint32_t field = 0; field < ycsb::kFields; ++field) {
    EXPECT_EQ(table->columns[1 + field].name, "field" + std::to_string(field));
    EXPECT_EQ(table->columns[1 + field].type.length, 37);
  }
  EXPECT_EQ(program->find_procedure("read_record")->id, ycsb::id_of(ycsb::Procedure::kReadRecord));
  EXPECT_EQ(program->find_procedure("insert_record")->id, ycsb::id_of(ycsb::Procedure::kInsertRecord));
  EXPECT_EQ(program->find_procedure("read_modify_write")->id, ycsb::id_of(ycsb::Procedure::kReadModifyWrite));
}

TEST(Workloads, RefuseOptionsWithTheReason) {
  const auto reason = [](std::string_view name, auto&& change) {
    WorkloadOptions options;
    change(options);
    const auto made = make_workload(name, options);
    return made.ok() ? std::string() : made.error().message;
  };
  using testing::HasSubstr;
  EXPECT_THAT(reason("tpcd", [](WorkloadOptions&) {}),
              HasSubstr("there are tpcc, smallbank, tatp, tpcb, ycsb"));
  EXPECT_THAT(reason("tpcb", [](WorkloadOptions& o) { o.skew = 1; }), HasSubstr("below 1"));
  EXPECT_THAT(reason("ycsb", [](WorkloadOptions& o) { o.skew = -0.1; }), HasSubstr("below 1"));
  EXPECT_THAT(reason("tpcb", [](WorkloadOptions& o) { o.scale = 30'000; }), HasSubstr("choose fewer"));
  EXPECT_THAT(reason("ycsb", [](WorkloadOptions& o) { o.ycsb.core_workload = "G"; }),
              HasSubstr("no core workload G"));
  EXPECT_THAT(reason("ycsb", [](WorkloadOptions& o) { o.ycsb.core_workload = "AB"; }),
              HasSubstr("A, B, C, D, E, F"));
  EXPECT_THAT(reason("ycsb", [](WorkloadOptions& o) { o.ycsb.field_bytes = 15; }),
              HasSubstr("from 16 to 10000"));
}

}  // namespace
}  // namespace mneme
