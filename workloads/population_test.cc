// Populations: their cardinalities and values (TPC-C clause 4.3.3.1), and that neither the number of threads
// nor chance changes a row. A population is summed up by a sum of hashes of its rows, so their order does not
// count.
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <set>

#include "workloads/populate.h"
#include "workloads/smallbank.h"
#include "workloads/tpcc.h"

namespace mneme {
namespace {

// Which values are text, by table: Value itself does not know.
using TextColumns = std::map<uint32_t, std::set<size_t>>;

const TextColumns& text_columns(std::string_view workload) {
  static const TextColumns tpcc = {{0, {1, 2, 3, 4, 5, 6}},
                                   {1, {2, 3, 4, 5, 6, 7}},
                                   {2, {3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 20}},
                                   {3, {7}},
                                   {6, {9}},
                                   {7, {2, 4}},
                                   {8, {3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 16}}};
  static const TextColumns smallbank = {{0, {0}}};
  return workload == "tpcc" ? tpcc : smallbank;
}

struct Summary {
  std::map<uint32_t, uint64_t> rows;  // by table
  uint64_t hash = 0;
  bool operator==(const Summary&) const = default;
};

Summary summarize(const Workload& workload, uint32_t threads) {
  Summary summary;
  std::mutex mutex;
  uint32_t last_progress = 0;
  const TextColumns& texts = text_columns(workload.name());
  populate_all(
      workload, threads,
      [&](uint32_t thread, TableId table, std::span<const Value> row) {
        EXPECT_LT(thread, threads);
        std::string bytes = std::to_string(table.value);
        for (size_t i = 0; i < row.size(); ++i) {
          const bool is_text = texts.contains(table.value) && texts.at(table.value).contains(i);
          bytes += '|';
          if (row[i].is_null()) continue;
          bytes += is_text ? std::string(row[i].as_text()) : std::to_string(row[i].as_int());
        }
        const std::lock_guard lock(mutex);
        ++summary.rows[table.value];
        summary.hash += std::hash<std::string>{}(bytes);
      },
      [&](uint32_t done, uint32_t parts) {
        EXPECT_EQ(done, last_progress + 1);
        EXPECT_LE(done, parts);
        last_progress = done;
      });
  EXPECT_EQ(last_progress, workload.part_count());
  return summary;
}

std::unique_ptr<Workload> small_tpcc(uint64_t seed) {
  return std::move(tpcc::Tpcc::make({.warehouses = 2, .items = 200, .customers = 40}, seed, "default"))
      .value();
}

std::unique_ptr<Workload> small_smallbank(uint64_t seed) {
  return std::move(smallbank::Smallbank::make(25'000, {}, seed, "default")).value();
}

TEST(Population, DoesNotDependOnTheNumberOfThreads) {
  const Summary tpcc = summarize(*small_tpcc(1), 1);
  const Summary smallbank = summarize(*small_smallbank(1), 1);
  for (const uint32_t threads : {2, 5}) {
    EXPECT_EQ(summarize(*small_tpcc(1), threads), tpcc);
    EXPECT_EQ(summarize(*small_smallbank(1), threads), smallbank);
  }
  EXPECT_NE(summarize(*small_tpcc(2), 1).hash, tpcc.hash);
  EXPECT_NE(summarize(*small_smallbank(2), 1).hash, smallbank.hash);
}

TEST(Population, TpccHasItsCardinalities) {
  const Summary summary = summarize(*small_tpcc(1), 1);
  const auto count = [&](tpcc::Table table) { return summary.rows.at(static_cast<uint32_t>(table)); };
  EXPECT_EQ(count(tpcc::Table::kWarehouse), 2u);
  EXPECT_EQ(count(tpcc::Table::kDistrict), 20u);
  EXPECT_EQ(count(tpcc::Table::kCustomer), 800u);
  EXPECT_EQ(count(tpcc::Table::kHistory), 800u);
  EXPECT_EQ(count(tpcc::Table::kOrders), 800u);
  EXPECT_EQ(count(tpcc::Table::kNewOrder), 240u);
  EXPECT_EQ(count(tpcc::Table::kItem), 200u);
  EXPECT_EQ(count(tpcc::Table::kStock), 400u);
  EXPECT_NEAR(static_cast<double>(count(tpcc::Table::kOrderLine)), 8'000, 400);
}

// One district at the specification's size: 3,000 customers, every one with one order, 900 of them
// undelivered.
TEST(Population, TpccDistrictIsAsSpecified) {
  const std::unique_ptr<Workload> workload = std::move(tpcc::Tpcc::make({}, 1, "default")).value();
  std::set<int64_t> ordering_customers;
  std::map<std::string, int> last_names;
  int customers = 0, bad_credit = 0, without_carrier = 0, new_orders = 0, lines_without_date = 0;
  workload->populate(workload->part_count() - 1, [&](TableId table, std::span<const Value> row) {
    switch (static_cast<tpcc::Table>(table.value)) {
      case tpcc::Table::kCustomer:
        if (++customers <= 1000) {
          EXPECT_EQ(row[5].as_text(), tpcc::LastName(customers - 1).text());
        }
        ++last_names[std::string(row[5].as_text())];
        bad_credit += row[13].as_text() == "BC";
        EXPECT_EQ(row[16].as_numeric(), -1000);
        EXPECT_GE(row[20].as_text().size(), 300u);
        EXPECT_LE(row[20].as_text().size(), 500u);
        break;
      case tpcc::Table::kOrders:
        ordering_customers.insert(row[3].as_int());
        without_carrier += row[5].is_null();
        EXPECT_EQ(row[5].is_null(), row[2].as_int() > 2100);
        break;
      case tpcc::Table::kNewOrder:
        ++new_orders;
        EXPECT_GT(row[2].as_int(), 2100);
        break;
      case tpcc::Table::kOrderLine:
        lines_without_date += row[6].is_null();
        EXPECT_EQ(row[6].is_null(), row[8].as_numeric() != 0);
        break;
      default:
        break;
    }
  });
  EXPECT_EQ(customers, 3'000);
  EXPECT_EQ(last_names.size(), 1'000u);
  EXPECT_NEAR(bad_credit, 300, 60);
  EXPECT_EQ(ordering_customers.size(), 3'000u);
  EXPECT_EQ(*ordering_customers.rbegin(), 3'000);
  EXPECT_EQ(without_carrier, 900);
  EXPECT_EQ(new_orders, 900);
  EXPECT_NEAR(lines_without_date, 9'000, 300);
}

TEST(Population, SmallbankGivesEachCustomerThreeRows) {
  const Summary summary = summarize(*small_smallbank(1), 1);
  for (uint32_t table = 0; table < 3; ++table) EXPECT_EQ(summary.rows.at(table), 25'000u);
}

}  // namespace
}  // namespace mneme
