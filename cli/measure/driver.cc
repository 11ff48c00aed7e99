#include "cli/measure/driver.h"

#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <thread>

#include "base/cache_line.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/function_ref.h"
#include "base/interrupted_cores.h"
#include "base/processor_time.h"
#include "logging/commit/ack_queue.h"

namespace mneme {
namespace {

// Deep enough for a flush of a slow device at a high rate; a full queue waits for the log.
constexpr size_t kMaxUnacknowledged = 16 * 1024;
constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kLookNs = 5'000'000;  // how often the caller's thread looks at the workers

uint64_t ns_of(double seconds) {
  return static_cast<uint64_t>(seconds * 1e9);
}

struct Shared {
  uint64_t start_ns;
  // Each worker looks at the clock itself: where the caller's thread gets no turn, as under a real-time
  // scheduler with as many workers as cores, a run would not end.
  MeasuredWindow window;
  // Written by the caller's thread when the run is interrupted, and by a worker that failed; read by all.
  // Relaxed: nothing is handed over with it.
  std::atomic<bool> stop{false};
};

class DriverWorker {
 public:
  DriverWorker(const Workload& workload, const Program& program, Database& database, WorkerId id,
               const DriverOptions& options, Shared& shared)
      : log_(database.log()),
        worker_(database.worker(id)),
        options_(options),
        shared_(shared),
        session_(program, database, id, options.session),
        generator_(workload.generator({id.value, database.worker_count(), options.incarnation})),
        acks_(kMaxUnacknowledged),
        conflicts_before_(worker_.conflicts()),
        tally_(shared.window, program.procedures.size(), options.seconds_by_procedure) {
    const uint32_t workers = database.worker_count();
    if (options.transactions) {
      call_limit_ = *options.transactions / workers + (id.value < *options.transactions % workers ? 1 : 0);
    }
    if (options.rate) {
      arrivals_.emplace(options.arrivals, *options.rate, shared.start_ns, id.value, workers,
                        options.arrival_seed);
    }
    if (options.terminals > 0) {
      terminals_.emplace(workload, *workload.terminal_rules(), options.terminals, id.value, workers,
                         options.incarnation, options.arrival_seed, shared.start_ns);
    }
  }

  void run() {
    for (uint64_t position = 0; position < call_limit_ && !shared_.stop.load(std::memory_order_relaxed);
         ++position) {
      const uint64_t begin_ns = terminals_ ? await_terminal() : arrivals_ ? await_arrival() : begin_now();
      if (begin_ns == kNever) break;
      if (!run_call(next_call(position), begin_ns)) {
        shared_.stop.store(true, std::memory_order_relaxed);
        return;
      }
    }
    while (!acks_.empty() && await_oldest()) {
    }
    logged_ = session_.counters();
  }

  const std::optional<Error>& error() const { return error_; }
  CallTally& tally() { return tally_; }
  Lsn acknowledged() const { return acknowledged_; }
  const SessionCounters& logged() const { return logged_; }

 private:
  // kNever: the run has ended.
  uint64_t begin_now() const {
    const uint64_t now = monotonic_ns();
    return shared_.window.may_begin(now) ? now : kNever;
  }

  // Sleeps until a call is due, and returns when that was; meanwhile acknowledges, which may make others due.
  // kNever: the run ends before.
  uint64_t await(FunctionRef<uint64_t()> next_ns) {
    for (;;) {
      acknowledge_durable();
      worker_.tidy(log_);
      const uint64_t now = monotonic_ns();
      if (!shared_.window.may_begin(now)) return kNever;
      const uint64_t due = next_ns();
      if (now >= due) return due;
      std::this_thread::sleep_for(std::chrono::nanoseconds(std::min<uint64_t>(due - now, 50'000)));
      if (shared_.stop.load(std::memory_order_relaxed)) return kNever;
    }
  }

  uint64_t await_arrival() {
    const uint64_t due = await([this] { return arrivals_->next_ns(); });
    if (due != kNever) arrivals_->advance();
    return due;
  }

  uint64_t await_terminal() {
    const uint64_t due = await([this] { return terminals_->next_ns(); });
    if (due != kNever) at_terminal_ = terminals_->take();
    return due;
  }

  const Call& next_call(uint64_t position) {
    return terminals_ ? *at_terminal_.call : generator_->call(position);
  }

  bool run_call(const Call& call, uint64_t begin_ns) {
    const CallResult result = session_.run(call);
    if (result.attempts > 1) count_conflicts(call.procedure, result.attempts - 1);
    switch (result.status) {
      case CallResult::Status::kCommitted:
      case CallResult::Status::kRolledBack:
        break;
      case CallResult::Status::kLogFailed:
        error_ = log_.failure();
        return false;
      case CallResult::Status::kRefused:
      case CallResult::Status::kGaveUp:
      case CallResult::Status::kOutOfMemory:
      case CallResult::Status::kStopped:
        error_ = failed("a call was not run: {}", result.message);
        return false;
    }
    const AckQueue::Entry entry{result.lsn, begin_ns, tag_of(call.procedure, result.committed())};
    switch (options_.commit) {
      case CommitMode::kAsync:
        acknowledge(entry, monotonic_ns());
        return true;
      case CommitMode::kSync:
      case CommitMode::kGroup:
        if (!log_.wait_durable(result.lsn)) {
          error_ = log_.failure();
          return false;
        }
        acknowledge(entry, monotonic_ns());
        return true;
      case CommitMode::kPipelined:
        if (acks_.full() && !await_oldest()) return false;
        acks_.push(entry);
        acknowledge_durable();
        return true;
    }
    return true;
  }

  void count_conflicts(ProcedureId procedure, uint32_t attempts) {
    const ConflictCounts& now = worker_.conflicts();
    ConflictCounts causes{};
    for (size_t i = 0; i < now.size(); ++i) causes[i] = now[i] - conflicts_before_[i];
    tally_.conflicted(procedure.value, attempts, causes, monotonic_ns());
    conflicts_before_ = now;
  }

  bool await_oldest() {
    if (!log_.wait_durable(acks_.front().lsn)) {
      error_ = log_.failure();
      return false;
    }
    acknowledge_durable();
    return true;
  }

  void acknowledge_durable() {
    const Lsn durable = log_.durable();
    if (acks_.empty() || !(acks_.front().lsn < durable)) return;
    const uint64_t now = monotonic_ns();
    acks_.poll(durable, [&](const AckQueue::Entry& entry) { acknowledge(entry, now); });
  }

  void acknowledge(const AckQueue::Entry& entry, uint64_t now) {
    acknowledged_ = std::max(acknowledged_, entry.lsn);
    tally_.ended((entry.tag & kProcedureOfTag) / 2, (entry.tag & 1) != 0, entry.begin_ns, now);
    if (terminals_) terminals_->answered(static_cast<uint32_t>(entry.tag >> kTerminalOfTag), now);
  }

  // Whose call an acknowledgement is of: the terminal, the procedure, and whether it was committed.
  static constexpr uint64_t kTerminalOfTag = 32;
  static constexpr uint64_t kProcedureOfTag = (uint64_t{1} << kTerminalOfTag) - 1;
  uint64_t tag_of(ProcedureId procedure, bool committed) const {
    return uint64_t{at_terminal_.terminal} << kTerminalOfTag | uint64_t{procedure.value} * 2 |
           (committed ? 1 : 0);
  }

  CommitLog& log_;
  Worker& worker_;
  const DriverOptions& options_;
  Shared& shared_;
  Session session_;
  const std::unique_ptr<CallGenerator> generator_;
  AckQueue acks_;
  ConflictCounts conflicts_before_;  // the worker's, up to its last call that met a conflict
  uint64_t call_limit_ = std::numeric_limits<uint64_t>::max();
  std::optional<Arrivals> arrivals_;
  std::optional<Terminals> terminals_;
  Terminals::Due at_terminal_;  // whose call runs
  CallTally tally_;
  Lsn acknowledged_;
  SessionCounters logged_;
  std::optional<Error> error_;
};

// The throughput of the last second, for the progress line.
class Pace {
 public:
  explicit Pace(uint64_t begin_ns) : last_ns_(begin_ns) {}

  double look(uint64_t now_ns, uint64_t committed) {
    if (now_ns < last_ns_ + kSecond) return per_second_;
    per_second_ = static_cast<double>(committed - last_) * 1e9 / static_cast<double>(now_ns - last_ns_);
    last_ = committed;
    last_ns_ = now_ns;
    return per_second_;
  }

 private:
  static constexpr uint64_t kSecond = 1'000'000'000;

  double per_second_ = 0;
  uint64_t last_ = 0;
  uint64_t last_ns_;
};

}  // namespace

CommitMode commit_mode(std::string_view name) {
  if (name == "sync") return CommitMode::kSync;
  if (name == "group") return CommitMode::kGroup;
  if (name == "async") return CommitMode::kAsync;
  CHECK(name == "pipelined");
  return CommitMode::kPipelined;
}

ProcedureReport RunReport::total() const {
  ProcedureReport sum;
  for (const ProcedureReport& procedure : procedures) sum.add(procedure);
  return sum;
}

Result<RunReport> drive(const Workload& workload, const Program& program, Database& database,
                        const DriverOptions& options) {
  const uint64_t start_ns = monotonic_ns();
  std::optional<uint64_t> duration_ns;
  if (!options.transactions) duration_ns = ns_of(options.duration_seconds);
  Shared shared{start_ns, MeasuredWindow(start_ns, ns_of(options.warm_up.seconds), duration_ns)};
  MeasuredWindow& window = shared.window;

  std::vector<std::unique_ptr<CachePadded<DriverWorker>>> workers;
  for (uint32_t i = 0; i < database.worker_count(); ++i) {
    workers.push_back(std::make_unique<CachePadded<DriverWorker>>(workload, program, database, WorkerId{i},
                                                                  options, shared));
  }
  std::atomic<uint32_t> running{database.worker_count()};
  std::atomic<bool> kept_off{false};  // set by any worker as it begins, read once all are joined: relaxed
  std::vector<std::thread> threads;
  for (auto& worker : workers) {
    threads.emplace_back([&, &worker = *worker] {
      if (keep_off(options.interrupted_cores, database.worker_count()))
        kept_off.store(true, std::memory_order_relaxed);
      worker->run();
      running.fetch_sub(1, std::memory_order_release);
    });
  }

  WarmUpWatch warm_up(options.warm_up, start_ns);
  Pace pace(start_ns);
  const auto committed_by_all = [&] {
    uint64_t committed = 0;
    for (auto& worker : workers) committed += (*worker)->tally().committed();
    return committed;
  };
  std::optional<uint64_t> processor_from_ns;
  std::optional<StallWatch> stalls;
  bool is_partial = false;
  for (uint64_t due_ns = start_ns + kLookNs; running.load(std::memory_order_acquire) > 0;) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(kLookNs));
    const uint64_t now = monotonic_ns();
    if (stalls) stalls->woke(due_ns, now);
    if (window.counts(now) && !stalls) {
      processor_from_ns = process_processor_ns();
      stalls.emplace();
    }
    if (options.is_interrupted && options.is_interrupted()) {
      is_partial = true;
      shared.stop.store(true, std::memory_order_relaxed);
    }
    const uint64_t committed = committed_by_all();
    warm_up.look(now, committed, window);
    if (options.progress) {
      RunProgress progress;
      progress.committed = committed;
      progress.per_second = pace.look(now, committed);
      progress.seconds = static_cast<double>(now - start_ns) / 1e9;
      if (!options.transactions) progress.seconds_total = warm_up_seconds(window) + options.duration_seconds;
      if (window.counts(now)) progress.measured_seconds = static_cast<double>(now - window.begin_ns()) / 1e9;
      options.progress(progress);
    }
    due_ns = monotonic_ns() + kLookNs;
  }
  for (std::thread& thread : threads) thread.join();
  const uint64_t stopped_ns = monotonic_ns();

  RunReport report;
  if (kept_off.load(std::memory_order_relaxed)) report.cores_kept_off = options.interrupted_cores;
  report.is_partial = is_partial;
  report.warm_up = warm_up.report(window);
  report.measured_from_ns = window.begin_ns();
  report.processor_seconds =
      static_cast<double>(process_processor_ns() - processor_from_ns.value_or(process_processor_ns())) / 1e9;
  if (stalls) report.stalls = stalls->finish();
  report.procedures.resize(program.procedures.size());
  uint64_t last_end_ns = 0;
  for (auto& worker : workers) {
    if ((*worker)->error()) return *(*worker)->error();
    CallTally& tally = (*worker)->tally();
    last_end_ns = std::max(last_end_ns, tally.last_end_ns());
    report.acknowledged = std::max(report.acknowledged, (*worker)->acknowledged());
    const SessionCounters& logged = (*worker)->logged();
    report.ad_hoc += logged.ad_hoc;
    report.hinted += logged.hinted;
    report.hint_bytes += logged.hint_bytes;
    for (size_t i = 0; i < report.procedures.size(); ++i) report.procedures[i].add(tally.procedures()[i]);
    report.series.push_back(std::move(tally.series()));
  }
  report.seconds = window.measured_seconds(last_end_ns, stopped_ns);
  report.whole_seconds = static_cast<size_t>(
      options.transactions ? report.seconds : std::min(report.seconds, options.duration_seconds));
  return report;
}

}  // namespace mneme
