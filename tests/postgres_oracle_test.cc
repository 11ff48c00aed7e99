// PostgreSQL agrees: a workload's .sql file, its population and seeded calls, on Mneme and on a real
// PostgreSQL 15, give the same results and errors call by call, and leave equal tables.
//
// Mneme's tables, once loaded, are copied into PostgreSQL. One worker, or several at once, then make calls on
// Mneme. PostgreSQL gets the same calls one after another in the order that Mneme's commits had: by LSN, and
// a call that wrote nothing, or was rolled back, after the last that it depends on. So the comparison holds
// concurrency control to its word as well. Everything is compared as PostgreSQL's text.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "engine/transaction/digest.h"
#include "procedures/binder/program.h"
#include "procedures/interpreter/call_text.h"
#include "procedures/values/value_text.h"
#include "tests/local_database.h"
#include "tests/postgres_server.h"
#include "workloads/smallbank/smallbank.h"
#include "workloads/tatp/tatp.h"
#include "workloads/tpcb/tpcb.h"
#include "workloads/tpcc/tpcc.h"
#include "workloads/ycsb/ycsb.h"

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

// A call that a worker has made; the workload's generator tells its arguments.
struct MadeCall {
  uint32_t worker;
  uint64_t position;
  PlacedOutcome placed;

  auto place() const { return std::tuple(placed.lsn, !placed.logged); }
};

class PostgresOracle : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<PostgresServer>> server = PostgresServer::start();
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(server).value();
  }

  // `calls` by each of `workers`. Where `rolls_back`, some of them must be the user's rollback, or the
  // sequence has compared only half of what it should.
  void compare(const Workload& workload, uint32_t workers, uint64_t calls, bool rolls_back = true);

 private:
  void copy_tables();
  // In the order of their commits.
  std::vector<MadeCall> make_calls(const Workload& workload, uint32_t workers, uint64_t calls);
  void compare_call(const MadeCall& made, const Call& call);
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

std::vector<MadeCall> PostgresOracle::make_calls(const Workload& workload, uint32_t workers, uint64_t calls) {
  std::vector<std::vector<MadeCall>> made(workers);
  {
    std::vector<std::jthread> threads;
    for (uint32_t worker = 0; worker < workers; ++worker) {
      threads.emplace_back([&, worker] {
        const auto generator = workload.generator({.worker = worker, .worker_count = workers});
        for (uint64_t position = 0; position < calls; ++position) {
          PlacedOutcome placed = mneme_->call(WorkerId(worker), generator->call(position));
          made[worker].push_back({worker, position, std::move(placed)});
        }
      });
    }
  }
  std::vector<MadeCall> all;
  for (std::vector<MadeCall>& of_worker : made) std::ranges::move(of_worker, std::back_inserter(all));
  if (workers > 1) std::ranges::sort(all, {}, &MadeCall::place);
  return all;
}

void PostgresOracle::compare_call(const MadeCall& made, const Call& call) {
  const ir::Procedure& procedure = mneme_->program().procedure(call.procedure);
  std::string statement = "CALL " + procedure.name + "(";
  std::vector<std::optional<std::string>> arguments;
  for (size_t i = 0; i < procedure.parameters.size(); ++i) {
    const Type& type = procedure.variables[procedure.parameters[i].variable.value].type;
    statement += fmt::format("{}${}::{}", i == 0 ? "" : ", ", i + 1, to_string(type));
    arguments.push_back(print_argument(type, call.arguments[i]));
  }
  const CallOutcome expected = postgres_->call(statement + ")", arguments);
  const CallOutcome& found = made.placed.outcome;
  const std::string what = fmt::format("call {} of worker {}, LSN {}: {}", made.position, made.worker,
                                       made.placed.lsn.value, print_call(mneme_->program(), call));
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

void PostgresOracle::compare(const Workload& workload, uint32_t workers, uint64_t calls, bool rolls_back) {
  mneme_ = std::make_unique<LocalDatabase>(workload, workers);
  if (workers > 1) mneme_->keep_tombstones();
  postgres_ = std::make_unique<PostgresConnection>(*server_, std::string(workload.name()));
  postgres_->execute(std::string(workload.sql()));
  copy_tables();
  compare_tables();

  std::vector<std::unique_ptr<CallGenerator>> generators;
  for (uint32_t worker = 0; worker < workers; ++worker) {
    generators.push_back(workload.generator({.worker = worker, .worker_count = workers}));
  }
  for (const MadeCall& made : make_calls(workload, workers, calls)) {
    compare_call(made, generators[made.worker]->call(made.position));
    if (HasFatalFailure()) return;
  }
  compare_tables();
  for (const Check& check : workload.check(mneme_->rows(), {}))
    EXPECT_TRUE(check.ok) << check.name << check.detail;
  EXPECT_EQ(ends_.size() > 1, rolls_back);
}

// Districts so small, and deliveries so frequent, that some districts run out of orders to deliver.
constexpr tpcc::Scale kTpccScale{.warehouses = 2, .items = 500, .customers = 60};
constexpr std::string_view kTpccMix = "new_order=40,payment=30,order_status=10,delivery=10,stock_level=10";
constexpr smallbank::Hotspot kHotspot{.percent = 90, .customers = 50};
// As many inserts and deletions as lookups, of so few subscribers that many meet.
constexpr std::string_view kTatpMix =
    "get_subscriber_data=10,get_new_destination=20,get_access_data=10,update_subscriber_data=10,update_"
    "location=10,"
    "insert_call_forwarding=20,delete_call_forwarding=20";
constexpr tpcb::Scale kTpcbScale{.branches = 2, .accounts_per_branch = 100};
constexpr ycsb::Settings kYcsbSettings{.core_workload = 'D', .records = 200, .field_bytes = 20};
constexpr std::string_view kYcsbMix =
    "read_record=20,update_record=30,insert_record=10,scan_records=10,read_modify_write=30";

TEST_F(PostgresOracle, AgreesOnTpcc) {
  compare(*std::move(tpcc::Tpcc::make(kTpccScale, 1, kTpccMix)).value(), 1, 3'000);
}

TEST_F(PostgresOracle, AgreesOnTpccOfSeveralWorkers) {
  compare(*std::move(tpcc::Tpcc::make(kTpccScale, 2, kTpccMix)).value(), 3, 1'000);
}

TEST_F(PostgresOracle, AgreesOnSmallbank) {
  compare(*std::move(smallbank::Smallbank::make(300, kHotspot, 1, "default")).value(), 1, 5'000);
}

TEST_F(PostgresOracle, AgreesOnSmallbankOfSeveralWorkers) {
  compare(*std::move(smallbank::Smallbank::make(300, kHotspot, 2, "default")).value(), 3, 2'000);
}

TEST_F(PostgresOracle, AgreesOnTatp) {
  compare(*std::move(tatp::Tatp::make(100, 1, kTatpMix)).value(), 1, 4'000);
}

TEST_F(PostgresOracle, AgreesOnTatpOfSeveralWorkers) {
  compare(*std::move(tatp::Tatp::make(20, 2, kTatpMix)).value(), 3, 1'500);
}

TEST_F(PostgresOracle, AgreesOnTpcb) {
  compare(*std::move(tpcb::Tpcb::make(kTpcbScale, 0, 1, "default")).value(), 1, 2'000, /*rolls_back=*/false);
}

TEST_F(PostgresOracle, AgreesOnTpcbOfSeveralWorkers) {
  compare(*std::move(tpcb::Tpcb::make(kTpcbScale, 0.8, 2, "default")).value(), 3, 1'000,
          /*rolls_back=*/false);
}

TEST_F(PostgresOracle, AgreesOnYcsb) {
  compare(*std::move(ycsb::Ycsb::make(kYcsbSettings, 1, kYcsbMix)).value(), 1, 3'000, /*rolls_back=*/false);
}

TEST_F(PostgresOracle, AgreesOnYcsbOfSeveralWorkers) {
  compare(*std::move(ycsb::Ycsb::make(kYcsbSettings, 2, kYcsbMix)).value(), 3, 1'000, /*rolls_back=*/false);
}

}  // namespace
}  // namespace mneme
