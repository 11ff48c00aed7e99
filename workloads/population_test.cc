// Populations: their cardinalities and values (TPC-C clause 4.3.3.1), and that neither the number of threads
// nor chance changes a row. A population is summed up by a sum of hashes of its rows, so their order does not
// count.
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <set>

#include "workloads/shared/populate.h"
#include "workloads/smallbank/smallbank.h"
#include "workloads/tatp/tatp.h"
#include "workloads/tpcb/tpcb.h"
#include "workloads/tpcc/tpcc.h"
#include "workloads/ycsb/ycsb.h"

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
  static const TextColumns tatp = {{0, {1}}, {1, {4, 5}}, {2, {5}}, {3, {4}}};
  static const TextColumns tpcb = {{0, {2}}, {1, {3}}, {2, {3}}};
  static const TextColumns ycsb = {{0, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}};
  if (workload == "tpcc") return tpcc;
  if (workload == "smallbank") return smallbank;
  if (workload == "tatp") return tatp;
  return workload == "tpcb" ? tpcb : ycsb;
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

constexpr int64_t kSubscribers = 12'000;

std::unique_ptr<Workload> small_tatp(uint64_t seed) {
  return std::move(tatp::Tatp::make(kSubscribers, seed, "default")).value();
}

std::unique_ptr<Workload> small_tpcb(uint64_t seed) {
  return std::move(tpcb::Tpcb::make({.branches = 3, .accounts_per_branch = 15'000}, 0, seed, "default"))
      .value();
}

std::unique_ptr<Workload> small_ycsb(uint64_t seed) {
  return std::move(ycsb::Ycsb::make({.records = 12'000, .field_bytes = 20}, seed, "default")).value();
}

TEST(Population, DoesNotDependOnTheNumberOfThreads) {
  for (const auto& make : {small_tpcc, small_smallbank, small_tatp, small_tpcb, small_ycsb}) {
    const std::unique_ptr<Workload> workload = make(1);
    const Summary alone = summarize(*workload, 1);
    for (const uint32_t threads : {2, 5}) {
      EXPECT_EQ(summarize(*make(1), threads), alone) << workload->name();
    }
    // No value of TPC-B's population is random.
    const bool same = summarize(*make(2), 1).hash == alone.hash;
    EXPECT_EQ(same, workload->name() == "tpcb") << workload->name();
  }
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

TEST(Population, TatpHasItsCardinalities) {
  const Summary summary = summarize(*small_tatp(1), 2);
  const auto rows = [&](tatp::Table table) {
    return static_cast<double>(summary.rows.at(static_cast<uint32_t>(table)));
  };
  EXPECT_EQ(rows(tatp::Table::kSubscriber), kSubscribers);
  EXPECT_NEAR(rows(tatp::Table::kAccessInfo) / kSubscribers, 2.5, 0.05);
  EXPECT_NEAR(rows(tatp::Table::kSpecialFacility) / kSubscribers, 2.5, 0.05);
  EXPECT_NEAR(rows(tatp::Table::kCallForwarding) / kSubscribers, 3.75, 0.1);
}

TEST(Population, TatpIsAsDescribed) {
  const std::unique_ptr<Workload> workload = small_tatp(1);
  std::map<int64_t, std::set<int64_t>> access_infos, facilities;
  std::map<std::pair<int64_t, int64_t>, std::set<int64_t>> start_times;
  std::map<int64_t, int> hours;
  int active = 0, count = 0;
  for (uint32_t part = 0; part < workload->part_count(); ++part) {
    workload->populate(part, [&](TableId table, std::span<const Value> row) {
      const int64_t subscriber = row[0].as_int();
      switch (static_cast<tatp::Table>(table.value)) {
        case tatp::Table::kSubscriber:
          EXPECT_EQ(row[1].as_text().size(), 15u);
          EXPECT_EQ(std::stoll(std::string(row[1].as_text())), subscriber);
          break;
        case tatp::Table::kAccessInfo:
          EXPECT_TRUE(access_infos[subscriber].insert(row[1].as_int()).second);
          break;
        case tatp::Table::kSpecialFacility:
          EXPECT_TRUE(facilities[subscriber].insert(row[1].as_int()).second);
          start_times[{subscriber, row[1].as_int()}];
          active += static_cast<int>(row[2].as_int());
          ++count;
          break;
        case tatp::Table::kCallForwarding: {
          const auto facility = start_times.find({subscriber, row[1].as_int()});
          ASSERT_NE(facility, start_times.end()) << "a rule before its special facility";
          EXPECT_TRUE(facility->second.insert(row[2].as_int()).second);
          EXPECT_EQ(row[2].as_int() % 8, 0);
          ++hours[row[3].as_int() - row[2].as_int()];
          EXPECT_EQ(row[4].as_text().size(), 15u);
          break;
        }
      }
    });
  }
  for (const auto* types : {&access_infos, &facilities}) {
    std::map<size_t, int> sizes;
    std::map<int64_t, int> of_type;
    EXPECT_EQ(types->size(), static_cast<size_t>(kSubscribers));
    for (const auto& [subscriber, of_subscriber] : *types) {
      ++sizes[of_subscriber.size()];
      for (const int64_t type : of_subscriber) ++of_type[type];
    }
    ASSERT_EQ(sizes.size(), 4u);
    ASSERT_EQ(of_type.size(), 4u);
    for (int i = 1; i <= 4; ++i) {
      EXPECT_NEAR(sizes[static_cast<size_t>(i)], kSubscribers / 4.0, kSubscribers / 40.0);
      EXPECT_NEAR(of_type[i], kSubscribers * 0.625, kSubscribers * 0.02);
    }
  }
  EXPECT_NEAR(active, count * 0.85, count * 0.02);
  EXPECT_EQ(hours.begin()->first, 1);
  EXPECT_EQ(hours.rbegin()->first, 8);
  std::map<size_t, int> rules;
  for (const auto& [facility, starts] : start_times) ++rules[starts.size()];
  ASSERT_EQ(rules.size(), 4u);
  for (size_t i = 0; i <= 3; ++i) EXPECT_NEAR(rules[i], count / 4.0, count / 40.0);
}

TEST(Population, TpcbHasItsCardinalitiesAndNoMoneyYet) {
  const std::unique_ptr<Workload> workload = small_tpcb(1);
  const Summary summary = summarize(*workload, 2);
  EXPECT_EQ(summary.rows, (std::map<uint32_t, uint64_t>{{0, 3}, {1, 30}, {2, 45'000}}));
  const tpcb::Scale scale{.branches = 3, .accounts_per_branch = 15'000};
  for (uint32_t part = 0; part < workload->part_count(); ++part) {
    workload->populate(part, [&](TableId table, std::span<const Value> row) {
      const bool is_branch = table == tpcb::id_of(tpcb::Table::kBranch);
      EXPECT_EQ(row[is_branch ? 1 : 2].as_int(), 0);
      if (table == tpcb::id_of(tpcb::Table::kTeller)) {
        EXPECT_EQ(scale.branch_of_teller(row[0].as_int()), row[1].as_int());
      }
      if (table == tpcb::id_of(tpcb::Table::kAccount)) {
        EXPECT_EQ(scale.branch_of_account(row[0].as_int()), row[1].as_int());
      }
    });
  }
}

TEST(Population, YcsbKeysAreDistinctAndScattered) {
  const std::unique_ptr<Workload> workload = small_ycsb(1);
  std::set<int64_t> keys;
  int ascents = 0;
  int64_t last = 0;
  for (uint32_t part = 0; part < workload->part_count(); ++part) {
    workload->populate(part, [&](TableId, std::span<const Value> row) {
      const int64_t key = row[0].as_int();
      EXPECT_TRUE(ycsb::is_key(key));
      keys.insert(key);
      ascents += key > last;
      last = key;
    });
  }
  EXPECT_EQ(keys.size(), 12'000u);
  EXPECT_NEAR(ascents, 6'000, 300);
}

}  // namespace
}  // namespace mneme
