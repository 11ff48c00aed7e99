// Workload: a benchmark as a client of the engine: schema and procedures in SQL, a population, a stream of
// calls, and the conditions that its database must always meet.
//
// Flow        make_workload (workload_table.h) -> sql() -> compile -> load (workloads/shared/load.h) ->
//             generator() -> calls ... -> check()
// Invariants  Everything is a function of the options: the population of nothing else (so not of the number
//             of threads), call number n of a stream of the stream and n alone (so a run can go on where
//             another ended). Tables and procedures are numbered in the order in which the SQL declares them,
//             as the binder does.
// Threads     a Workload is constant once made; a CallGenerator belongs to one worker.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/schema/value.h"
#include "procedures/interpreter/call.h"
#include "workloads/shared/book_rules.h"
#include "workloads/shared/mix.h"
#include "workloads/shared/rows.h"
#include "workloads/shared/terminal_rules.h"

namespace mneme {

// One worker's calls.
struct StreamId {
  uint32_t worker = 0;
  uint32_t worker_count = 1;
  // How often the database has been opened for work before. Streams of different incarnations are unrelated,
  // so that a resumed run need not know how far the crashed one had come.
  uint32_t incarnation = 0;
  // A worker's number is a terminal's: a user at one place, of whom a worker has many (terminal_rules.h).
  bool is_terminal = false;
};

class CallGenerator {
 public:
  virtual ~CallGenerator() = default;

  // The stream's call number `position`, from 0. Valid until the next call().
  virtual const Call& call(uint64_t position) = 0;
};

struct Check {
  std::string name;
  bool ok = true;
  std::string detail;  // what was counted; where not ok, the first violation and how many there are
};

// A SELECT that must return no row (check_query.h).
struct CheckQuery {
  std::string name;
  std::string sql;
};

class Workload {
 public:
  virtual ~Workload() = default;

  virtual std::string_view name() const = 0;
  // The .sql file, built into the program.
  virtual std::string_view sql() const = 0;

  // The population consists of parts, made in any order, by any threads at once.
  virtual uint32_t part_count() const = 0;
  virtual void populate(uint32_t part, RowSink sink) const = 0;

  virtual std::unique_ptr<CallGenerator> generator(const StreamId& stream) const = 0;
  // Whether a generator may give a call of it.
  virtual bool calls(ProcedureId) const { return true; }
  // The share of the calls that each procedure has. Empty: a user's own calls, in turn or by their weights.
  virtual std::vector<MixShare> mix() const { return {}; }
  // The Zipfian theta by which rows are chosen, of a workload that does so.
  virtual std::optional<double> skew() const { return std::nullopt; }

  // What its specification says of its calls, for a run to be held against.
  virtual BookRules book_rules() const { return {}; }
  // How users at terminals make its calls; null: its specification has none.
  virtual const TerminalRules* terminal_rules() const { return nullptr; }

  // By how much a committed call changed what the workload conserves (Smallbank: money, in hundredths).
  // `results` has one argument for each INOUT parameter, in order. Zero for a workload without such a
  // quantity, and for calls that were rolled back, for which the caller should not ask.
  virtual int128 conserved_delta(const Call& call, std::span<const Argument> results) const = 0;

  // Checks every condition. `conserved`: the sum of conserved_delta over all committed calls since the
  // population, by any reckoning: the client's, or that of a replay of the whole log. Without it the
  // conditions that need it are left out.
  virtual std::vector<Check> check(const RowSource& rows, std::optional<int128> conserved) const = 0;
  // Conditions that are queries.
  virtual std::span<const CheckQuery> check_queries() const { return {}; }
};

// The options that workloads share. workload_table.h adds each workload's own.
struct SharedWorkloadOptions {
  // tpcc: warehouses; smallbank: times 18,000 customers; tatp: times 100,000 subscribers; tpcb: branches,
  // each with 100,000 accounts; ycsb: times 100,000 records. A user's own workload has no scale.
  uint32_t scale = 1;
  uint64_t seed = 1;
  std::string mix = "default";  // or NAME=PCT,...
  // The Zipfian theta of workloads that choose rows by it, from 0, uniform, to below 1. Without it each has
  // its own default: tpcb 0, of branches and accounts; ycsb 0.99, of records.
  std::optional<double> skew = {};
};

}  // namespace mneme
