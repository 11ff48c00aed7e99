// Calls: that they have the proportions that TPC-C (2.4.1 to 2.8.1, 5.2.3) and Smallbank give them, and that
// a call depends on its stream and position alone.
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

#include "workloads/smallbank/smallbank.h"
#include "workloads/smallbank/smallbank_generator.h"
#include "workloads/tpcc/tpcc.h"
#include "workloads/tpcc/tpcc_generator.h"
#include "workloads/workload_table.h"

namespace mneme {
namespace {

constexpr int kTpccCalls = 100'000;

std::unique_ptr<Workload> tpcc_of(int64_t warehouses, std::string_view mix = "default") {
  return std::move(tpcc::Tpcc::make({.warehouses = warehouses}, 1, mix)).value();
}

// All that a TPC-C call says, comparable.
std::string tpcc_text(const Call& call) {
  std::string text = std::to_string(call.procedure.value);
  const bool by_name = static_cast<tpcc::Procedure>(call.procedure.value) == tpcc::Procedure::kPayment ||
                       static_cast<tpcc::Procedure>(call.procedure.value) == tpcc::Procedure::kOrderStatus;
  const size_t name_at =
      static_cast<tpcc::Procedure>(call.procedure.value) == tpcc::Procedure::kPayment ? 5 : 3;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument& argument = call.arguments[i];
    text += '|';
    for (const Value& element : argument.array) text += std::to_string(element.as_int()) + ",";
    if (argument.scalar.is_null()) continue;
    text += by_name && i == name_at ? std::string(argument.scalar.as_text())
                                    : std::to_string(argument.scalar.as_int());
  }
  return text;
}

TEST(TpccGenerator, ACallDependsOnItsStreamAndPositionAlone) {
  const std::unique_ptr<Workload> workload = tpcc_of(4);
  const auto forward = workload->generator({.worker = 1, .worker_count = 2});
  std::vector<std::string> calls;
  for (uint64_t position = 0; position < 500; ++position) calls.push_back(tpcc_text(forward->call(position)));

  const auto backward = workload->generator({.worker = 1, .worker_count = 2});
  for (uint64_t position = 500; position-- > 0;)
    EXPECT_EQ(tpcc_text(backward->call(position)), calls[position]);

  const auto other_worker = workload->generator({.worker = 0, .worker_count = 2});
  const auto other_life = workload->generator({.worker = 1, .worker_count = 2, .incarnation = 1});
  int same = 0;
  for (uint64_t position = 0; position < 500; ++position) {
    same += tpcc_text(other_worker->call(position)) == calls[position];
    same += tpcc_text(other_life->call(position)) == calls[position];
  }
  EXPECT_LT(same, 5);  // only calls without a time, such as stock_level, can be alike
}

TEST(TpccGenerator, CallsAreMixedAsSpecified) {
  const auto generator = tpcc_of(1)->generator({});
  std::array<int, 5> called{};
  for (uint64_t position = 0; position < kTpccCalls; ++position)
    ++called[generator->call(position).procedure.value];
  EXPECT_NEAR(called[0], kTpccCalls * 0.45, kTpccCalls * 0.01);
  EXPECT_NEAR(called[1], kTpccCalls * 0.43, kTpccCalls * 0.01);
  for (const size_t rare : {2, 3, 4}) EXPECT_NEAR(called[rare], kTpccCalls * 0.04, kTpccCalls * 0.005);
}

TEST(TpccGenerator, NewOrderIsAsSpecified) {
  const auto generator = tpcc_of(10, "new_order=100")->generator({});
  int64_t lines = 0, remote_lines = 0, rolled_back = 0;
  for (uint64_t position = 0; position < kTpccCalls / 4; ++position) {
    const Call& call = generator->call(position);
    ASSERT_EQ(call.arguments.size(), 19u);
    const int64_t warehouse = call.arguments[0].scalar.as_int();
    const auto items = call.arguments[4].array;
    EXPECT_TRUE(items.size() >= 5 && items.size() <= 15);
    EXPECT_EQ(call.arguments[5].array.size(), items.size());
    EXPECT_EQ(call.arguments[6].array.size(), items.size());
    lines += static_cast<int64_t>(items.size());
    for (const Value& supplier : call.arguments[5].array) {
      EXPECT_TRUE(supplier.as_int() >= 1 && supplier.as_int() <= 10);
      remote_lines += supplier.as_int() != warehouse;
    }
    for (const Value& quantity : call.arguments[6].array) {
      EXPECT_TRUE(quantity.as_int() >= 1 && quantity.as_int() <= 10);
    }
    for (size_t line = 0; line + 1 < items.size(); ++line) EXPECT_LE(items[line].as_int(), 100'000);
    rolled_back += items.back().as_int() > 100'000;
  }
  const double calls = kTpccCalls / 4.0;
  EXPECT_NEAR(static_cast<double>(lines) / calls, 10.0, 0.1);
  EXPECT_NEAR(static_cast<double>(remote_lines) / static_cast<double>(lines), 0.01, 0.002);
  EXPECT_NEAR(static_cast<double>(rolled_back) / calls, 0.01, 0.003);
}

TEST(TpccGenerator, PaymentIsAsSpecified) {
  const auto generator = tpcc_of(10, "payment=100")->generator({});
  int remote = 0, by_name = 0;
  int64_t last_time = 0;
  for (uint64_t position = 0; position < kTpccCalls / 4; ++position) {
    const Call& call = generator->call(position);
    ASSERT_EQ(call.arguments.size(), 34u);
    const bool is_remote = call.arguments[2].scalar.as_int() != call.arguments[0].scalar.as_int();
    if (!is_remote) {
      EXPECT_EQ(call.arguments[3].scalar.as_int(), call.arguments[1].scalar.as_int());
    }
    remote += is_remote;
    EXPECT_NE(call.arguments[4].scalar.is_null(), call.arguments[5].scalar.is_null());
    by_name += call.arguments[4].scalar.is_null();
    const int128 amount = call.arguments[6].scalar.as_numeric();
    EXPECT_TRUE(amount >= 100 && amount <= 500'000);
    EXPECT_GT(call.arguments[7].scalar.as_int(), last_time);
    last_time = call.arguments[7].scalar.as_int();
  }
  EXPECT_NEAR(remote, kTpccCalls / 4.0 * 0.15, kTpccCalls / 4.0 * 0.01);
  EXPECT_NEAR(by_name, kTpccCalls / 4.0 * 0.60, kTpccCalls / 4.0 * 0.012);
}

TEST(TpccGenerator, WorkersServeAllWarehousesAndNoneTwice) {
  for (const int64_t warehouses : {1, 2, 3, 7}) {
    for (const uint32_t workers : {1u, 2u, 3u, 8u}) {
      const std::unique_ptr<Workload> workload = tpcc_of(warehouses, "stock_level=100");
      std::multiset<int64_t> served;
      for (uint32_t worker = 0; worker < workers; ++worker) {
        const auto generator = workload->generator({.worker = worker, .worker_count = workers});
        std::set<int64_t> homes;
        for (uint64_t i = 0; i < 300; ++i) homes.insert(generator->call(i).arguments[0].scalar.as_int());
        served.insert(homes.begin(), homes.end());
      }
      EXPECT_EQ(*served.begin(), 1);
      EXPECT_EQ(*served.rbegin(), warehouses);
      EXPECT_EQ(served.size(), static_cast<size_t>(std::max<int64_t>(warehouses, workers)))
          << warehouses << " warehouses, " << workers << " workers";
    }
  }
}

TEST(SmallbankGenerator, HotspotTakesItsShareOfCallsAndCustomersDiffer) {
  const auto workload =
      std::move(smallbank::Smallbank::make(18'000, {.percent = 90, .customers = 100}, 1, "send_payment=100"))
          .value();
  const auto generator = workload->generator({});
  const std::string last_hot = smallbank::customer_name(100);
  int hot = 0;
  for (uint64_t position = 0; position < kTpccCalls; ++position) {
    const Call& call = generator->call(position);
    ASSERT_EQ(call.arguments.size(), 3u);
    const std::string_view from = call.arguments[0].scalar.as_text();
    const std::string_view to = call.arguments[1].scalar.as_text();
    EXPECT_NE(from, to);
    EXPECT_EQ(from <= last_hot, to <= last_hot);
    EXPECT_LE(to, smallbank::customer_name(18'000));
    hot += from <= last_hot;
  }
  EXPECT_NEAR(hot, kTpccCalls * 0.9, kTpccCalls * 0.01);
}

TEST(SmallbankGenerator, CallsAreMixedAsGiven) {
  const auto workload = std::move(smallbank::Smallbank::make(18'000, {}, 1, "default")).value();
  const auto generator = workload->generator({});
  std::array<int, 6> called{};
  for (uint64_t position = 0; position < kTpccCalls; ++position)
    ++called[generator->call(position).procedure.value];
  for (const size_t procedure : {0, 1, 2, 3, 4})
    EXPECT_NEAR(called[procedure], kTpccCalls * 0.15, kTpccCalls * 0.01);
  EXPECT_NEAR(called[5], kTpccCalls * 0.25, kTpccCalls * 0.01);
}

TEST(SmallbankGenerator, WithoutAHotspotAllCustomersAreAlike) {
  const auto workload =
      std::move(smallbank::Smallbank::make(2'000, {.percent = 0, .customers = 1'000}, 1, "balance=100"))
          .value();
  const auto generator = workload->generator({});
  const std::string middle = smallbank::customer_name(1'000);
  int low = 0;
  for (uint64_t position = 0; position < kTpccCalls; ++position) {
    low += generator->call(position).arguments[0].scalar.as_text() <= middle;
  }
  EXPECT_NEAR(low, kTpccCalls * 0.5, kTpccCalls * 0.01);
}

TEST(SmallbankGenerator, RefusesAHotspotThatIsNotInside) {
  EXPECT_FALSE(smallbank::Smallbank::make(1'000, {.percent = 90, .customers = 1'000}, 1, "default").ok());
  EXPECT_FALSE(smallbank::Smallbank::make(1'000, {.percent = 101, .customers = 10}, 1, "default").ok());
  EXPECT_FALSE(smallbank::Smallbank::make(1'000, {.percent = 90, .customers = 1}, 1, "default").ok());
}

TEST(Workloads, AreMadeByName) {
  EXPECT_EQ((*make_workload("tpcc", {}))->name(), "tpcc");
  EXPECT_EQ((*make_workload("smallbank", {{.scale = 2}}))->part_count(), 4u);
  EXPECT_FALSE(make_workload("tpcd", {}).ok());
  EXPECT_FALSE(make_workload("tpcc", {{.scale = 0}}).ok());
  EXPECT_FALSE(make_workload("tpcc", {{.mix = "new_order=50"}}).ok());
}

}  // namespace
}  // namespace mneme
