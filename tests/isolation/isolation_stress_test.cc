// Goal: what transactions see could have happened one after the other, whatever the engine says of their
// order; and the order that it does claim, its log's, is one that explains it. Method: threads call one
// procedure that does what its arguments say, a few steps at random on a few items: read, write, read a group
// by a scan, put a row there or take it away. Items count their own versions, so the history tells its
// dependencies (history.h), which must form no cycle, and agree with the LSNs. A group's rows have a counter
// each that goes on while they are away: odd, the row is there. A scan that overlooks a row, or sees one that
// is gone, contradicts them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "engine/testing/test_database.h"
#include "engine/transaction/unlogged_writer.h"
#include "logging/testing/test_log.h"
#include "procedures/session/session.h"
#include "tests/isolation/history.h"

namespace mneme {
namespace {

constexpr uint32_t kThreads = 4;
constexpr int kCells = 6;
constexpr int kGroups = 2;
constexpr int kSeatsOfGroup = 3;
constexpr int kFirstSeat = 100;

constexpr std::string_view kSql = R"(
CREATE TABLE cell (id INT PRIMARY KEY, version BIGINT NOT NULL);
CREATE TABLE turn (id INT PRIMARY KEY, version BIGINT NOT NULL);
CREATE TABLE seat (id INT PRIMARY KEY, row_group INT NOT NULL, version BIGINT NOT NULL);
CREATE INDEX seat_by_group ON seat (row_group, id);

-- r_seen: for each step its item and the version that was read or written; a scan gives its group's rows, then -1.
CREATE PROCEDURE steps(p_kinds INT[], p_items INT[], p_groups INT[], p_pause INT, INOUT r_seen BIGINT[])
LANGUAGE plpgsql AS $$
DECLARE v_version BIGINT; v_row RECORD;
BEGIN
  r_seen := '{}';
  FOR v_n IN 1..cardinality(p_kinds) LOOP
    -- So that others come between two steps, though there may be but one processor.
    FOR v_pause IN 1..p_pause LOOP
      v_version := v_pause;
    END LOOP;
    v_version := 0;
    IF p_kinds[v_n] = 0 THEN
      SELECT version INTO v_version FROM cell WHERE id = p_items[v_n];
      r_seen := array_append(r_seen, p_items[v_n]);
      r_seen := array_append(r_seen, v_version);
    ELSIF p_kinds[v_n] = 1 THEN
      UPDATE cell SET version = version + 1 WHERE id = p_items[v_n] RETURNING version INTO v_version;
      r_seen := array_append(r_seen, p_items[v_n]);
      r_seen := array_append(r_seen, v_version);
    ELSIF p_kinds[v_n] = 2 THEN
      FOR v_row IN SELECT id, version FROM seat WHERE row_group = p_groups[v_n] ORDER BY id LOOP
        r_seen := array_append(r_seen, v_row.id);
        r_seen := array_append(r_seen, v_row.version);
      END LOOP;
      r_seen := array_append(r_seen, -1);
    ELSIF p_kinds[v_n] = 3 THEN
      SELECT version INTO v_version FROM turn WHERE id = p_items[v_n];
      r_seen := array_append(r_seen, p_items[v_n]);
      r_seen := array_append(r_seen, v_version);
    ELSE
      UPDATE turn SET version = version + 1 WHERE id = p_items[v_n] RETURNING version INTO v_version;
      IF v_version % 2 = 1 THEN
        INSERT INTO seat (id, row_group, version) VALUES (p_items[v_n], p_groups[v_n], v_version);
      ELSE
        DELETE FROM seat WHERE id = p_items[v_n];
      END IF;
      r_seen := array_append(r_seen, p_items[v_n]);
      r_seen := array_append(r_seen, v_version);
    END IF;
  END LOOP;
END
$$;
)";

enum Kind : int { kRead, kWrite, kScan, kReadTurn, kToggle, kKinds };

struct Step {
  int kind;
  int item;   // a cell, or a seat
  int group;  // of the seat
};

int seat(int group, int number) {
  return kFirstSeat + group * kSeatsOfGroup + number;
}

std::vector<Step> random_steps(std::mt19937_64& random) {
  std::vector<Step> steps(1 + random() % 5);
  for (Step& each : steps) {
    each.kind = static_cast<int>(random() % kKinds);
    each.group = static_cast<int>(random() % kGroups);
    each.item = each.kind <= kWrite ? static_cast<int>(random() % kCells)
                                    : seat(each.group, static_cast<int>(random() % kSeatsOfGroup));
  }
  // A scan's rows are held against the counters of its group, which are read sometimes before and sometimes
  // after it.
  if (random() % 2 == 0) return steps;
  std::vector<Step> more;
  const int group = static_cast<int>(random() % kGroups);
  for (int i = 0; i < kSeatsOfGroup; ++i) more.push_back({kReadTurn, seat(group, i), group});
  const Step scan{kScan, seat(group, 0), group};
  more.insert(random() % 2 == 0 ? more.begin() : more.end(), scan);
  steps.insert(steps.begin() + static_cast<ptrdiff_t>(random() % (steps.size() + 1)), more.begin(),
               more.end());
  return steps;
}

// Turns what the steps have seen into reads and writes. Returns what can't be, whatever the others did.
std::string interpret(const std::vector<Step>& steps, std::span<const Value> seen,
                      test::HistoryTransaction& told) {
  size_t next = 0;
  const auto take = [&] { return seen[next++].as_int(); };
  std::map<int, uint64_t> turns;  // as the transaction knows them
  std::set<int> absent;           // seats that a scan did not see, before it knew of their counters
  for (const Step& step : steps) {
    if (step.kind == kScan) {
      std::map<int, uint64_t> rows;
      for (int64_t id = take(); id >= 0; id = take())
        rows[static_cast<int>(id)] = static_cast<uint64_t>(take());
      for (int i = 0; i < kSeatsOfGroup; ++i) {
        const int id = seat(step.group, i);
        if (const auto row = rows.find(id); row != rows.end()) {
          told.reads.push_back({static_cast<uint32_t>(id), row->second});
          if (turns.contains(id) && turns[id] != row->second)
            return fmt::format("a scan saw seat {} at {}, and its counter is {}", id, row->second, turns[id]);
          turns[id] = row->second;
        } else if (turns.contains(id) && turns[id] % 2 == 1) {
          return fmt::format("a scan overlooked seat {}, whose counter is {}", id, turns[id]);
        } else {
          absent.insert(id);
        }
      }
      continue;
    }
    const auto item = static_cast<uint32_t>(take());
    const auto version = static_cast<uint64_t>(take());
    const bool writes = step.kind == kWrite || step.kind == kToggle;
    if (step.kind >= kReadTurn) {
      const auto known = turns.find(step.item);
      if (known != turns.end() && version != known->second + (writes ? 1 : 0))
        return fmt::format("the counter of seat {} was {}, and is {}", step.item, known->second, version);
      // Before this step the counter stood there, in a scan of this transaction too.
      const uint64_t before = writes ? version - 1 : version;
      if (known == turns.end() && absent.contains(step.item) && before % 2 == 1)
        return fmt::format("a scan overlooked seat {}, whose counter was {}", step.item, before);
      turns[step.item] = version;
    }
    (writes ? told.writes : told.reads).push_back({item, version});
    if (writes) told.reads.push_back({item, version - 1});
  }
  return next == seen.size() ? "" : "there is more than the steps have seen";
}

struct Setting {
  std::string_view name;
  Concurrency concurrency;
  // The layout of a log whose device drops what it gets. None: the log is a counter, which draws LSNs in the
  // fewest instructions.
  std::optional<LogLayout> layout = {};
};

class Isolation : public testing::TestWithParam<Setting> {
 protected:
  Isolation() : program_(compiled()), database_(program_->catalog, kThreads) {
    UnloggedWriter rows(database_);
    for (int id = 0; id < kCells; ++id) put(rows, "cell", id);
    for (int group = 0; group < kGroups; ++group) {
      for (int i = 0; i < kSeatsOfGroup; ++i) put(rows, "turn", seat(group, i));
    }
    if (GetParam().layout) {
      DurableLogOptions options = test::small_log(kThreads);
      options.layout = GetParam().layout;
      options.device = LogDeviceKind::kNull;
      opened_ = test::open_for_work(directory_.path(), options);
      database_.attach_log(*opened_.log);
    } else {
      database_.attach_log(counter_);
    }
    database_.set_concurrency(GetParam().concurrency);
  }

  static std::unique_ptr<Program> compiled() {
    auto program = compile(kSql, "isolation.sql");
    if (!program.ok()) fmt::print(stderr, "{}\n", program.error().message);
    return std::move(program).value();
  }
  void put(UnloggedWriter& rows, std::string_view table, int id) {
    const std::array values = {Value::of_int(id), Value::of_int(0)};
    EXPECT_EQ(rows.insert(program_->catalog.find_table(table)->id, values), AccessStatus::kOk);
  }

  void run_calls(uint32_t worker, uint64_t seed, size_t calls, std::vector<test::HistoryTransaction>& told) {
    std::mt19937_64 random(seed);
    Session session(*program_, database_, WorkerId{worker});
    const ProcedureId procedure = program_->find_procedure("steps")->id;
    for (size_t number = 0; number < calls; ++number) {
      const std::vector<Step> steps = random_steps(random);
      std::vector<Value> kinds;
      std::vector<Value> items;
      std::vector<Value> groups;
      for (const Step& step : steps) {
        kinds.push_back(Value::of_int(step.kind));
        items.push_back(Value::of_int(step.item));
        groups.push_back(Value::of_int(step.group));
      }
      const int pause = random() % 4 == 0 ? 1000 : 0;
      const CallResult result =
          session.run({procedure,
                       {Argument::of_array(kinds), Argument::of_array(items), Argument::of_array(groups),
                        Argument::of(Value::of_int(pause)), Argument{}}});
      ASSERT_TRUE(result.committed()) << result.message;
      test::HistoryTransaction transaction{.name = fmt::format("call {} of worker {}", number, worker)};
      if (result.logged) transaction.place = result.lsn.value;
      const std::string fault = interpret(steps, result.results[0].array, transaction);
      ASSERT_EQ(fault, "") << transaction.name;
      told.push_back(std::move(transaction));
    }
  }

  std::unique_ptr<Program> program_;
  const test::TemporaryDirectory directory_;
  CountingLog counter_;
  test::OpenLog opened_;
  Database database_;
};

TEST_P(Isolation, WhatTransactionsSeeCouldHappenOneAfterTheOther) {
  const char* wanted = std::getenv("MNEME_ISOLATION_CALLS");
  const size_t calls = wanted == nullptr ? 3000 : std::strtoull(wanted, nullptr, 10);
  std::vector<std::vector<test::HistoryTransaction>> told(kThreads);
  std::vector<std::thread> threads;
  for (uint32_t worker = 0; worker < kThreads; ++worker) {
    threads.emplace_back([&, worker] { run_calls(worker, 17 + worker, calls, told[worker]); });
  }
  for (std::thread& each : threads) each.join();
  test::History history;
  for (auto& of_worker : told) {
    for (test::HistoryTransaction& each : of_worker) history.add(std::move(each));
  }
  EXPECT_EQ(history.fault(), "");
  EXPECT_EQ(history.fault_of_places(), "");
  EXPECT_GT(history.dependencies(), history.size());
}

constexpr Concurrency kOptimistic{ConcurrencyControl::kOptimistic, true};
constexpr Concurrency kLocking{ConcurrencyControl::kTwoPhaseLocking, true};
constexpr Concurrency kLockingUntilDurable{ConcurrencyControl::kTwoPhaseLocking, false};

INSTANTIATE_TEST_SUITE_P(Protocols, Isolation,
                         testing::Values(Setting{"optimistic", kOptimistic}, Setting{"locking", kLocking},
                                         Setting{"locking_until_durable", kLockingUntilDurable},
                                         Setting{"optimistic_in_a_stream", kOptimistic, LogLayout::kStream},
                                         Setting{"optimistic_in_streams", kOptimistic,
                                                 LogLayout::kDistributed},
                                         Setting{"locking_in_epochs", kLocking, LogLayout::kEpoch}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace mneme
