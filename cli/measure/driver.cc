#include "cli/measure/driver.h"

#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <thread>

#include "base/cache_line.h"
#include "base/clock.h"
#include "base/interrupted_cores.h"
#include "base/processor_time.h"
#include "logging/commit/ack_queue.h"

namespace mneme {
namespace {

// Deep enough for a flush of a slow device at a high rate; a full queue waits for the log.
constexpr size_t kMaxUnacknowledged = 16 * 1024;
constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

struct Shared {
  // Written by the caller's thread when the time is up, and by a worker that failed; read by all. Relaxed:
  // nothing is handed over with it.
  std::atomic<bool> stop{false};
  uint64_t start_ns = 0;
  uint64_t measure_from_ns = 0;
  // Each worker looks at the clock itself: where the caller's thread gets no turn, as under a real-time
  // scheduler with as many workers as cores, a run would not end.
  uint64_t end_ns = kNever;
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
        conflicts_before_(worker_.conflicts()) {
    report_.procedures.resize(program.procedures.size());
    const uint32_t workers = database.worker_count();
    if (options.transactions) {
      call_limit_ = *options.transactions / workers + (id.value < *options.transactions % workers ? 1 : 0);
    }
    if (options.rate) {
      interval_ns_ = static_cast<uint64_t>(1e9 * workers / *options.rate);
      next_arrival_ns_ = shared.start_ns + interval_ns_ * id.value / workers;
    }
  }

  void run() {
    for (uint64_t position = 0; position < call_limit_ && !shared_.stop.load(std::memory_order_relaxed);
         ++position) {
      const uint64_t begin_ns = options_.rate ? await_arrival() : monotonic_ns();
      if (begin_ns >= shared_.end_ns) break;
      if (!run_call(generator_->call(position), begin_ns)) {
        shared_.stop.store(true, std::memory_order_relaxed);
        return;
      }
    }
    while (!acks_.empty() && await_oldest()) {
    }
    report_.ad_hoc = session_.counters().ad_hoc;
  }

  const std::optional<Error>& error() const { return error_; }
  RunReport& report() { return report_; }
  // When its last measured call ended; 0: none did.
  uint64_t last_end_ns() const { return last_end_ns_; }
  uint64_t committed() const { return committed_.load(std::memory_order_relaxed); }

 private:
  // Sleeps until the next call is due, and returns when that was; meanwhile acknowledges. kNever: the run
  // ends before.
  uint64_t await_arrival() {
    for (;;) {
      acknowledge_durable();
      worker_.tidy(log_);
      const uint64_t now = monotonic_ns();
      if (now >= shared_.end_ns) return kNever;
      if (now >= next_arrival_ns_) break;
      std::this_thread::sleep_for(
          std::chrono::nanoseconds(std::min<uint64_t>(next_arrival_ns_ - now, 50'000)));
      if (shared_.stop.load(std::memory_order_relaxed)) return kNever;
    }
    const uint64_t due = next_arrival_ns_;
    next_arrival_ns_ += interval_ns_;
    return due;
  }

  bool run_call(const Call& call, uint64_t begin_ns) {
    const CallResult result = session_.run(call);
    if (result.attempts > 1) count_conflicts(report_.procedures[call.procedure.value], result.attempts - 1);
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
    const AckQueue::Entry entry{result.lsn, begin_ns,
                                call.procedure.value * 2 + (result.committed() ? 1 : 0)};
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

  void count_conflicts(ProcedureReport& procedure, uint32_t aborted) {
    const ConflictCounts& now = worker_.conflicts();
    if (monotonic_ns() >= shared_.measure_from_ns) {
      procedure.aborted += aborted;
      for (size_t i = 0; i < now.size(); ++i) procedure.conflicts[i] += now[i] - conflicts_before_[i];
    }
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
    report_.acknowledged = std::max(report_.acknowledged, entry.lsn);
    if (now < shared_.measure_from_ns) return;
    last_end_ns_ = now;
    ProcedureReport& procedure = report_.procedures[entry.tag / 2];
    if ((entry.tag & 1) == 0) {
      ++procedure.user_aborts;
      return;
    }
    ++procedure.committed;
    procedure.latency_ns.record(now - entry.begin_ns);
    committed_.store(committed_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
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
  uint64_t interval_ns_ = 0;
  uint64_t next_arrival_ns_ = 0;
  uint64_t last_end_ns_ = 0;
  RunReport report_;
  std::optional<Error> error_;
  // Written by this worker, read by the caller's thread for progress. Relaxed: a number to look at.
  std::atomic<uint64_t> committed_{0};
};

// Looks at what has been committed so far, and makes of it each second's throughput.
class Throughput {
 public:
  explicit Throughput(uint64_t begin_ns) : last_ns_(begin_ns), next_ns_(begin_ns + kSecond) {}

  void look(uint64_t now_ns, uint64_t committed) {
    if (now_ns < next_ns_) return;
    // A late look is divided by the time that it took, and followed by one that is earlier. Seconds that
    // no probe looked at have the average of all.
    const double rate = static_cast<double>(committed - last_) * 1e9 / static_cast<double>(now_ns - last_ns_);
    const uint64_t seconds = 1 + (now_ns - next_ns_) / kSecond;
    per_second_.insert(per_second_.end(), seconds, rate);
    last_ = committed;
    last_ns_ = now_ns;
    next_ns_ += seconds * kSecond;
  }
  double latest() const { return per_second_.empty() ? 0 : per_second_.back(); }
  std::vector<double> take() { return std::move(per_second_); }

 private:
  static constexpr uint64_t kSecond = 1'000'000'000;

  std::vector<double> per_second_;
  uint64_t last_ = 0;
  uint64_t last_ns_;
  uint64_t next_ns_;
};

}  // namespace

Result<CommitMode> commit_mode(std::string_view name) {
  if (name == "pipelined") return CommitMode::kPipelined;
  if (name == "sync") return CommitMode::kSync;
  if (name == "group") return CommitMode::kGroup;
  if (name == "async") return CommitMode::kAsync;
  return invalid_argument("--commit {}: there are pipelined, sync, group and async", name);
}

void ProcedureReport::add(const ProcedureReport& other) {
  committed += other.committed;
  aborted += other.aborted;
  user_aborts += other.user_aborts;
  for (size_t i = 0; i < conflicts.size(); ++i) conflicts[i] += other.conflicts[i];
  latency_ns.merge(other.latency_ns);
}

ProcedureReport RunReport::total() const {
  ProcedureReport sum;
  for (const ProcedureReport& procedure : procedures) sum.add(procedure);
  return sum;
}

Result<RunReport> drive(const Workload& workload, const Program& program, Database& database,
                        const DriverOptions& options) {
  Shared shared;
  shared.start_ns = monotonic_ns();
  shared.measure_from_ns = shared.start_ns + static_cast<uint64_t>(options.warmup_seconds * 1e9);
  if (!options.transactions)
    shared.end_ns = shared.measure_from_ns + static_cast<uint64_t>(options.duration_seconds * 1e9);

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

  std::optional<double> seconds_total;
  if (!options.transactions) seconds_total = options.warmup_seconds + options.duration_seconds;
  Throughput throughput(shared.measure_from_ns);
  const auto committed_by_all = [&] {
    uint64_t committed = 0;
    for (auto& worker : workers) committed += (*worker)->committed();
    return committed;
  };
  std::optional<uint64_t> processor_from_ns;
  while (running.load(std::memory_order_acquire) > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const uint64_t now = monotonic_ns();
    if (now >= shared.measure_from_ns && !processor_from_ns) processor_from_ns = process_processor_ns();
    const uint64_t committed = committed_by_all();
    // After the end, what comes is late acknowledgements.
    if (now < shared.end_ns) throughput.look(now, committed);
    if (options.progress) {
      options.progress(
          {committed, throughput.latest(), seconds_total, static_cast<double>(now - shared.start_ns) / 1e9});
    }
  }
  for (std::thread& thread : threads) thread.join();
  uint64_t stopped_ns = monotonic_ns();
  throughput.look(std::min(stopped_ns, shared.end_ns), committed_by_all());
  // No call begins after the end, and those that began before are measured until the last of them is
  // acknowledged.
  if (!options.transactions) {
    stopped_ns = std::min(stopped_ns, shared.end_ns);
    for (auto& worker : workers) stopped_ns = std::max(stopped_ns, (*worker)->last_end_ns());
  }

  RunReport report;
  if (kept_off.load(std::memory_order_relaxed)) report.cores_kept_off = options.interrupted_cores;
  report.measured_from_ns = shared.measure_from_ns;
  report.seconds = static_cast<double>(stopped_ns - std::min(stopped_ns, shared.measure_from_ns)) / 1e9;
  report.processor_seconds =
      static_cast<double>(process_processor_ns() - processor_from_ns.value_or(process_processor_ns())) / 1e9;
  report.throughput_per_second = throughput.take();
  report.procedures.resize(program.procedures.size());
  for (auto& worker : workers) {
    if ((*worker)->error()) return *(*worker)->error();
    const RunReport& part = (*worker)->report();
    report.acknowledged = std::max(report.acknowledged, part.acknowledged);
    report.ad_hoc += part.ad_hoc;
    for (size_t i = 0; i < part.procedures.size(); ++i) report.procedures[i].add(part.procedures[i]);
  }
  return report;
}

}  // namespace mneme
