// PostgreSQL agrees: a workload's .sql file, its population and a seeded sequence of calls, on Mneme and on a real
// PostgreSQL 15, give the same results and errors call by call, and leave equal tables.
//
// Mneme's tables, once loaded, are copied into PostgreSQL. The calls are made one after another on both, so the order of
// commits is the order of calls. Everything is compared as PostgreSQL's text.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "procedures/call_text.h"
#include "procedures/program.h"
#include "procedures/value_text.h"
#include "tests/local_database.h"
#include "tests/postgres_server.h"
#include "workloads/smallbank.h"
#include "workloads/tpcc.h"

namespace mneme {
namespace {

constexpr size_t kMostDifferences = 5;  // reported of a table

// A row as a line of COPY's text format.
std::string copy_line(const TableDefinition& table, std::span<const Value> row) {
  std::string line;
  for (size_t i = 0; i < row.size(); ++i) {
    if (i > 0) line += '\t';
    if (row[i].is_null()) {
      line += "\\N";
      continue;
    }
    fmt::memory_buffer text;
    print_value(table.columns[i].type, row[i], text);
    for (const char c : text) {
      if (c == '\\') line += '\\';
      line += c;
    }
  }
  return line;
}

std::vector<std::string> sorted_lines(const RowSource& rows, const TableDefinition& table) {
  std::vector<std::string> lines;
  rows.scan(table.id, [&](std::span<const Value> row) { lines.push_back(copy_line(table, row)); });
  std::ranges::sort(lines);
  return lines;
}

class PostgresOracle : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<PostgresServer>> server = PostgresServer::start();
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(server).value();
  }

  void compare(const Workload& workload, uint64_t calls);

 private:
  void copy_tables();
  void compare_call(uint64_t number, const Call& call);
  void compare_tables();

  std::unique_ptr<PostgresServer> server_;
  std::unique_ptr<PostgresConnection> postgres_;
  std::unique_ptr<LocalDatabase> mneme_;
  std::map<std::string, uint64_t> ends_;  // how the calls ended: SQLSTATE and message, empty for a commit
};

void PostgresOracle::copy_tables() {
  for (const TableDefinition& table : mneme_->program().catalog.tables()) {
    postgres_->copy_in(table.name, [&](FunctionRef<void(std::string_view)> add) {
      mneme_->rows().scan(table.id, [&](std::span<const Value> row) { add(copy_line(table, row)); });
    });
  }
}

void PostgresOracle::compare_call(uint64_t number, const Call& call) {
  const ir::Procedure& procedure = mneme_->program().procedure(call.procedure);
  std::string statement = "CALL " + procedure.name + "(";
  std::vector<std::optional<std::string>> arguments;
  for (size_t i = 0; i < procedure.parameters.size(); ++i) {
    const Type& type = procedure.variables[procedure.parameters[i].variable.value].type;
    statement += fmt::format("{}${}::{}", i == 0 ? "" : ", ", i + 1, to_string(type));
    arguments.push_back(print_argument(type, call.arguments[i]));
  }
  const CallOutcome expected = postgres_->call(statement + ")", arguments);
  const CallOutcome found = mneme_->call(call);
  const std::string what = fmt::format("call {}: {}", number, print_call(mneme_->program(), call));
  ASSERT_EQ(found.sqlstate, expected.sqlstate) << what << "\n" << found.message << "\n" << expected.message;
  ASSERT_EQ(found.message, expected.message) << what;
  ASSERT_EQ(found.results, expected.results) << what;
  ++ends_[found.sqlstate + " " + found.message];
}

void PostgresOracle::compare_tables() {
  for (const TableDefinition& table : mneme_->program().catalog.tables()) {
    std::vector<std::string> expected = postgres_->copy_out(table.name);
    std::ranges::sort(expected);
    const std::vector<std::string> found = sorted_lines(mneme_->rows(), table);
    EXPECT_EQ(found.size(), expected.size()) << table.name;
    std::vector<std::string> missing, invented;
    std::ranges::set_difference(expected, found, std::back_inserter(missing));
    std::ranges::set_difference(found, expected, std::back_inserter(invented));
    for (size_t i = 0; i < std::min(missing.size(), kMostDifferences); ++i) {
      ADD_FAILURE() << table.name << ": only PostgreSQL has\n" << missing[i];
    }
    for (size_t i = 0; i < std::min(invented.size(), kMostDifferences); ++i) {
      ADD_FAILURE() << table.name << ": only Mneme has\n" << invented[i];
    }
  }
}

void PostgresOracle::compare(const Workload& workload, uint64_t calls) {
  mneme_ = std::make_unique<LocalDatabase>(workload);
  postgres_ = std::make_unique<PostgresConnection>(*server_, std::string(workload.name()));
  postgres_->execute(std::string(workload.sql()));
  copy_tables();
  compare_tables();

  const std::unique_ptr<CallGenerator> generator = workload.generator({});
  for (uint64_t number = 0; number < calls; ++number) {
    compare_call(number, generator->call(number));
    if (HasFatalFailure()) return;
  }
  compare_tables();
  for (const Check& check : workload.check(mneme_->rows(), {}))
    EXPECT_TRUE(check.ok) << check.name << check.detail;
  // The sequence must have met the user's rollback, or it has compared only half of what it should.
  EXPECT_GE(ends_.size(), 2u);
}

// Districts so small, and deliveries so frequent, that some districts run out of orders to deliver.
TEST_F(PostgresOracle, AgreesOnTpcc) {
  const tpcc::Scale scale{.warehouses = 2, .items = 500, .customers = 60};
  compare(*std::move(tpcc::Tpcc::make(scale, 1,
                                      "new_order=40,payment=30,order_status=10,delivery=10,stock_level=10"))
               .value(),
          3'000);
}

TEST_F(PostgresOracle, AgreesOnSmallbank) {
  compare(*std::move(smallbank::Smallbank::make(300, {.percent = 90, .customers = 50}, 1, "default")).value(),
          5'000);
}

}  // namespace
}  // namespace mneme
