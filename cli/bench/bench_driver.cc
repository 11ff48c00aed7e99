#include "cli/bench/bench_driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "base/cache_line.h"
#include "base/clock.h"
#include "cli/bench/client_tally.h"
#include "procedures/interpreter/call_codec.h"
#include "procedures/interpreter/call_text.h"

namespace mneme {
namespace {

// A call that meets a conflict so often will not get through.
constexpr uint32_t kMostBenchAttempts = 1000;
constexpr uint64_t kNoArrival = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kLongestSleepNs = 10'000'000;

uint64_t bench_ns(double seconds) {
  return static_cast<uint64_t>(seconds * 1e9);
}

struct SharedBench {
  std::atomic<bool> failed{false};  // a client has: the others end; relaxed, nothing is handed over by it
  std::atomic<uint64_t> acknowledged{0};  // commits, the warm-up's included; relaxed: a count
};

class BenchClient {
 public:
  BenchClient(const Workload& workload, const Program& program, uint32_t number, uint32_t round,
              const BenchOptions& options, SharedBench& shared)
      : program_(program),
        workload_(workload),
        options_(options),
        shared_(shared),
        number_(number),
        generator_(workload.generator({number, options.clients, round})) {
    if (options.transactions) {
      call_limit_ = *options.transactions / options.clients +
                    (number < *options.transactions % options.clients ? 1 : 0);
    }
  }

  Result<void> connect(const Target& target) {
    Result<std::unique_ptr<TargetConnection>> opened = TargetConnection::open(target);
    if (!opened) return opened.error();
    connection_ = std::move(*opened);
    if (!options_.isolation.empty()) {
      RETURN_IF_ERROR(connection_->execute(
          fmt::format("SET default_transaction_isolation = '{}'", options_.isolation), "set --isolation"));
    }
    for (const ir::Procedure& procedure : program_.procedures) {
      if (!workload_.calls(procedure.id)) continue;
      // A server need not know which length the text of a parameter has: char(2), not char, says it.
      std::string parameters;
      for (size_t i = 0; i < procedure.parameters.size(); ++i)
        parameters +=
            fmt::format("{}${}::{}", i == 0 ? "" : ", ", i + 1, to_string(argument_type(procedure, i)));
      const char* const verb = procedure.is_function ? "SELECT * FROM" : "CALL";
      RETURN_IF_ERROR(
          connection_->prepare(procedure.name, fmt::format("{} {}({})", verb, procedure.name, parameters)));
    }
    return {};
  }

  void run(const MeasuredWindow& window, uint64_t start_ns) {
    tally_.emplace(window, program_.procedures.size());
    window_ = &window;
    if (options_.rate) {
      interval_ns_ = std::max<uint64_t>(1, static_cast<uint64_t>(1e9 * options_.clients / *options_.rate));
      next_arrival_ns_ = start_ns + interval_ns_ * number_ / options_.clients;
    }
    for (uint64_t position = 0; position < call_limit_ && !must_stop(); ++position) {
      const uint64_t begin_ns = options_.rate ? await_arrival() : monotonic_ns();
      if (begin_ns == kNoArrival || !window.may_begin(begin_ns)) break;
      if (!make_call(generator_->call(position), begin_ns)) {
        shared_.failed.store(true, std::memory_order_relaxed);
        break;
      }
    }
    connection_.reset();
  }

  const std::optional<Error>& error() const { return error_; }
  const ClientTally& tally() const { return *tally_; }
  int128 conserved() const { return conserved_; }

 private:
  bool must_stop() const {
    return shared_.failed.load(std::memory_order_relaxed) ||
           (options_.is_interrupted && options_.is_interrupted());
  }

  // Sleeps until the next call is due, and returns when that was.
  uint64_t await_arrival() {
    for (;;) {
      const uint64_t now = monotonic_ns();
      if (must_stop() || !window_->may_begin(now)) return kNoArrival;
      if (now >= next_arrival_ns_) break;
      std::this_thread::sleep_for(
          std::chrono::nanoseconds(std::min(next_arrival_ns_ - now, kLongestSleepNs)));
    }
    const uint64_t due = next_arrival_ns_;
    next_arrival_ns_ += interval_ns_;
    return due;
  }

  bool make_call(const Call& call, uint64_t begin_ns) {
    const ir::Procedure& procedure = program_.procedure(call.procedure);
    arguments_.clear();
    for (size_t i = 0; i < procedure.parameters.size(); ++i)
      arguments_.push_back(print_argument(argument_type(procedure, i), call.arguments[i]));
    for (uint32_t attempt = 1;; ++attempt) {
      const CallReply& reply = connection_->call(procedure.name, arguments_);
      const uint64_t now = monotonic_ns();
      if (reply.ok()) {
        shared_.acknowledged.fetch_add(1, std::memory_order_relaxed);
        tally_->committed(call.procedure.value, begin_ns, now);
        return read_result(procedure, call, reply);
      }
      if (has_ended(reply)) return false;
      if (reply.is_lost) return fail_lost(procedure, call, reply);
      switch (class_of(reply.sqlstate)) {
        case ErrorClass::kRollback:
          tally_->rolled_back(call.procedure.value, reply.sqlstate, now);
          return true;
        case ErrorClass::kFatal:
          return fail_refused(procedure, call, reply);
        case ErrorClass::kConflict:
          tally_->conflicted(call.procedure.value, now);
          // What the end of the time or of the bench leaves undone counts for nothing.
          if (must_stop() || !window_->may_begin(now)) return true;
          if (attempt == kMostBenchAttempts) return fail_refused(procedure, call, reply);
      }
    }
  }

  // PostgreSQL says 57P.. to its clients where it still can.
  bool has_ended(const CallReply& reply) const {
    return options_.ends_with_server && (reply.is_lost || reply.sqlstate.starts_with("57P"));
  }

  bool read_result(const ir::Procedure& procedure, const Call& call, const CallReply& reply) {
    memory_.reset();
    results_.clear();
    for (size_t i = 0; i < procedure.parameters.size(); ++i) {
      if (!procedure.parameters[i].inout) continue;
      if (!reply.has_row || results_.size() >= reply.row.size())
        return fail_result(procedure, call, "it has too few values");
      const std::optional<std::string>& text = reply.row[results_.size()];
      Argument& result = results_.emplace_back();
      SqlError unread;
      if (text && !parse_argument(argument_type(procedure, i), *text, memory_, result, unread))
        return fail_result(procedure, call,
                           fmt::format("'{}' is no {}", *text, to_string(argument_type(procedure, i))));
    }
    conserved_ += workload_.conserved_delta(call, results_);
    if (options_.committed) options_.committed(call, results_);
    return true;
  }

  std::string statement(const ir::Procedure& procedure, const Call& call) const {
    std::string text = fmt::format("CALL {}(", procedure.name);
    for (size_t i = 0; i < procedure.parameters.size(); ++i)
      text += (i == 0 ? "" : ", ") + sql_literal(argument_type(procedure, i), call.arguments[i]);
    return text + ")";
  }
  uint64_t acknowledged() const { return shared_.acknowledged.load(std::memory_order_relaxed); }

  bool fail_lost(const ir::Procedure& procedure, const Call& call, const CallReply& reply) {
    error_ = failed(
        "client {} lost its connection to {} in {}: {}; {} commits were acknowledged to all clients, and "
        "this call "
        "may have been committed or not: see the server's log, and load anew with --reload",
        number_ + 1, connection_->target().shown, statement(procedure, call), reply.message, acknowledged());
    return false;
  }
  bool fail_refused(const ir::Procedure& procedure, const Call& call, const CallReply& reply) {
    error_ = failed("{} refuses {}: {} (SQLSTATE {}); {} commits were acknowledged to all clients before",
                    connection_->target().shown, statement(procedure, call), reply.message, reply.sqlstate,
                    acknowledged());
    return false;
  }
  bool fail_result(const ir::Procedure& procedure, const Call& call, const std::string& reason) {
    error_ = failed(
        "{} has answered {} by what is no result of it: {}; the procedure there is not this workload's",
        connection_->target().shown, statement(procedure, call), reason);
    return false;
  }

  const Program& program_;
  const Workload& workload_;
  const BenchOptions& options_;
  SharedBench& shared_;
  const uint32_t number_;
  const std::unique_ptr<CallGenerator> generator_;
  std::unique_ptr<TargetConnection> connection_;
  const MeasuredWindow* window_ = nullptr;
  std::optional<ClientTally> tally_;
  uint64_t call_limit_ = std::numeric_limits<uint64_t>::max();
  uint64_t interval_ns_ = 0;
  uint64_t next_arrival_ns_ = 0;
  std::vector<std::optional<std::string>> arguments_;
  Arena memory_;
  std::vector<Argument> results_;
  int128 conserved_ = 0;
  std::optional<Error> error_;
};

}  // namespace

ErrorClass class_of(std::string_view sqlstate) {
  if (sqlstate == "40001" || sqlstate == "40P01") return ErrorClass::kConflict;
  if (sqlstate == "P0001" || sqlstate.starts_with("22") || sqlstate.starts_with("23"))
    return ErrorClass::kRollback;
  return ErrorClass::kFatal;
}

ProcedureReport RoundReport::total() const {
  ProcedureReport sum;
  for (const ProcedureReport& procedure : procedures) sum.add(procedure);
  return sum;
}

double RoundReport::throughput() const {
  return seconds > 0 ? static_cast<double>(total().committed) / seconds : 0;
}

Result<RoundReport> drive_target(const Workload& workload, const Program& program, const Target& target,
                                 uint32_t round, const BenchOptions& options) {
  SharedBench shared;
  std::vector<std::unique_ptr<CachePadded<BenchClient>>> clients;
  for (uint32_t i = 0; i < options.clients; ++i) {
    clients.push_back(
        std::make_unique<CachePadded<BenchClient>>(workload, program, i, round, options, shared));
    RETURN_IF_ERROR((*clients.back())->connect(target));
  }
  const uint64_t start_ns = monotonic_ns();
  std::optional<uint64_t> duration_ns;
  if (!options.transactions) duration_ns = bench_ns(options.duration_seconds);
  MeasuredWindow window(start_ns, bench_ns(options.warm_up.seconds), duration_ns);
  std::atomic<uint32_t> running{options.clients};
  std::vector<std::thread> threads;
  for (auto& client : clients) {
    threads.emplace_back([&, &client = *client] {
      client->run(window, start_ns);
      running.fetch_sub(1, std::memory_order_release);
    });
  }
  WarmUpWatch warm_up(options.warm_up, start_ns);
  while (running.load(std::memory_order_acquire) > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const uint64_t now = monotonic_ns();
    const uint64_t done = shared.acknowledged.load(std::memory_order_relaxed);
    warm_up.look(now, done, window);
    if (!options.progress) continue;
    const double seconds = seconds_since(start_ns);
    std::optional<double> seconds_total;
    if (duration_ns) seconds_total = warm_up_seconds(window) + options.duration_seconds;
    options.progress({done, seconds > 0 ? static_cast<double>(done) / seconds : 0, seconds_total, seconds});
  }
  for (std::thread& thread : threads) thread.join();
  const uint64_t stopped_ns = monotonic_ns();

  ClientTally tally(window, program.procedures.size());
  RoundReport report;
  for (auto& client : clients) {
    if ((*client)->error()) return *(*client)->error();
    tally.merge((*client)->tally());
    report.conserved += (*client)->conserved();
  }
  report.warm_up = warm_up.report(window);
  report.seconds = window.measured_seconds(tally.last_end_ns(), stopped_ns);
  report.throughput_per_second = tally.per_second(report.seconds);
  report.procedures = tally.procedures();
  report.rollbacks = tally.rollbacks();
  report.is_partial = options.is_interrupted && options.is_interrupted();
  return report;
}

}  // namespace mneme
