#include "cli/acid/durability_tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <tuple>

#include "cli/acid/tpcc_statements.h"
#include "cli/bench/bench_driver.h"
#include "cli/bench/target_database.h"
#include "cli/output/interrupt.h"
#include "cli/output/text.h"
#include "workloads/tpcc/tpcc_schema.h"

namespace mneme {
namespace {

// A crash comes once so many New-Orders were acknowledged, as chance has it.
constexpr uint64_t kFewestOrders = 20;
constexpr uint64_t kMostOrders = 400;
// Clients that get no answer at all end the test after so long.
constexpr double kLongestRound = 120;

// An order as its client knows it: warehouse, district, number, customer, lines.
using OrderFacts = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>;

// The file of successes that 3.5.4 asks for. Any client adds to it.
class Successes {
 public:
  void add(const Call& call, std::span<const Argument> results) {
    if (call.procedure != tpcc::id_of(tpcc::Procedure::kNewOrder)) return;
    const auto lines = static_cast<int64_t>(call.arguments[4].array.size());
    const std::lock_guard lock(mutex_);
    orders_.emplace_back(call.arguments[0].scalar.as_int(), call.arguments[1].scalar.as_int(),
                         results[0].scalar.as_int(), call.arguments[2].scalar.as_int(), lines);
  }
  size_t size() {
    const std::lock_guard lock(mutex_);
    return orders_.size();
  }
  const std::vector<OrderFacts>& orders() const { return orders_; }  // once no client adds any more

 private:
  std::mutex mutex_;
  std::vector<OrderFacts> orders_;
};

Result<int64_t> sum_of_next_orders(const AcidTarget& target) {
  Result<AcidSession> session = AcidSession::open(target);
  if (!session) return session.error();
  const Result<TextRow> sum = session->settle("SELECT sum(d_next_o_id) FROM district");
  if (!sum) return sum.error();
  return number_of(sum->empty() ? std::nullopt : (*sum)[0]);
}

Result<std::set<OrderFacts>> all_orders(const AcidTarget& target) {
  Result<std::unique_ptr<TargetConnection>> connection = TargetConnection::open(target.target);
  if (!connection) return connection.error();
  RETURN_IF_ERROR(
      (*connection)
          ->begin_rows("SELECT o_w_id, o_d_id, o_id, o_c_id, o_ol_cnt FROM orders", "read the orders"));
  std::set<OrderFacts> orders;
  TextRow row;
  for (;;) {
    const Result<bool> more = (*connection)->next_row(row);
    if (!more) return more.error();
    if (!*more) return orders;
    orders.emplace(number_of(row[0]), number_of(row[1]), number_of(row[2]), number_of(row[3]),
                   number_of(row[4]));
  }
}

struct RoundFound {
  bool was_made = true;  // false: Ctrl-C came before the crash
  size_t acknowledged = 0;
  std::string fault;  // empty: none
};

Result<RoundFound> crash_once(const DurabilityTest& test, const Workload& workload, const Program& program,
                              CrashableServer& server, AcidTarget& target, uint32_t round,
                              std::mt19937_64& random) {
  const Result<int64_t> before = sum_of_next_orders(target);
  if (!before) return before.error();
  const uint64_t wanted = std::uniform_int_distribution<uint64_t>(kFewestOrders, kMostOrders)(random);
  Successes successes;
  std::atomic<bool> has_crashed{false};  // set here, read by the clients; relaxed: nothing is handed over
  Result<void> crashed;
  BenchOptions options;
  options.clients = test.clients;
  options.duration_seconds = kLongestRound;
  options.isolation = target.isolation;
  options.ends_with_server = true;
  // A command that was to end the server may not have.
  options.is_interrupted = [&] {
    return has_crashed.load(std::memory_order_relaxed) || Interrupt::has_come();
  };
  options.committed = [&](const Call& call, std::span<const Argument> results) {
    successes.add(call, results);
  };
  options.progress = [&](const RunProgress&) {
    if (has_crashed.load(std::memory_order_relaxed) || successes.size() < wanted) return;
    crashed = server.crash();
    has_crashed.store(true, std::memory_order_relaxed);
  };
  const Result<RoundReport> driven = drive_target(workload, program, target.target, round, options);
  RETURN_IF_ERROR(crashed);
  if (!driven) return driven.error();
  if (!has_crashed.load(std::memory_order_relaxed)) {
    if (Interrupt::has_come()) return RoundFound{.was_made = false, .fault = {}};
    return failed(
        "{} New-Orders were acknowledged in {}, and {} were waited for: the server ended before it was "
        "crashed, or is stuck",
        successes.size(), seconds_text(driven->seconds), wanted);
  }
  RoundFound found{.acknowledged = successes.size(), .fault = {}};
  Result<Target> again = server.start();
  if (!again) {
    found.fault = again.error().message;
    return found;
  }
  target.target = *std::move(again);

  const Result<std::set<OrderFacts>> orders = all_orders(target);
  if (!orders) return orders.error();
  const auto lost = std::ranges::find_if(successes.orders(),
                                         [&](const OrderFacts& order) { return !orders->contains(order); });
  if (lost != successes.orders().end()) {
    const auto& [warehouse, district, number, customer, lines] = *lost;
    found.fault = fmt::format(
        "the order {} of warehouse {}, district {}, customer {}, with {} lines, was acknowledged, "
        "and is not there",
        number, warehouse, district, customer, lines);
    return found;
  }
  const Result<int64_t> after = sum_of_next_orders(target);
  if (!after) return after.error();
  const int64_t grown = *after - *before;
  const auto acknowledged = static_cast<int64_t>(successes.size());
  if (grown < acknowledged || grown > acknowledged + test.clients) {
    found.fault =
        fmt::format("the sum of D_NEXT_O_ID grew by {}, with {} New-Orders acknowledged to {} clients", grown,
                    acknowledged, test.clients);
  }
  return found;
}

}  // namespace

Result<std::optional<AcidFinding>> test_durability(const DurabilityTest& test, const Workload& workload,
                                                   const Program& program, CrashableServer& server,
                                                   AcidTarget& target, uint32_t first_round,
                                                   std::mt19937_64& random) {
  size_t acknowledged = 0;
  uint32_t made = 0;
  for (uint32_t round = 0; round < test.rounds && !Interrupt::has_come(); ++round) {
    const Result<RoundFound> found =
        crash_once(test, workload, program, server, target, first_round + round, random);
    if (!found) return found.error();
    if (!found->was_made) break;
    ++made;
    acknowledged += found->acknowledged;
    std::string fault = found->fault;
    if (fault.empty()) {
      const Result<AcidFinding> conditions = test_consistency(workload, program, target);
      if (!conditions) return conditions.error();
      if (!conditions->ok) fault = conditions->detail;
    }
    if (!fault.empty())
      return std::optional(
          AcidFinding{false, fmt::format("crash {} of {}: {}", round + 1, test.rounds, fault)});
  }
  if (made == 0) return std::optional<AcidFinding>();
  return std::optional(
      AcidFinding{true, fmt::format("{}, {} acknowledged, none lost", counted(made, "crash", "crashes"),
                                    counted(acknowledged, "New-Order"))});
}

Result<AcidFinding> test_consistency(const Workload& workload, const Program& program,
                                     const AcidTarget& target) {
  Result<TargetDatabase> database = TargetDatabase::open(target.target, workload, program);
  if (!database) return database.error();
  const Result<std::vector<Check>> checks = database->check(std::nullopt);
  if (!checks) return checks.error();
  for (const Check& check : *checks) {
    if (!check.ok) return AcidFinding{false, fmt::format("{}: {}", check.name, check.detail)};
  }
  return AcidFinding{true, fmt::format("{} hold", counted(checks->size(), "condition"))};
}

}  // namespace mneme
