#include "cli/measure/log_bench.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "base/cache_line.h"
#include "base/clock.h"
#include "logging/buffer/grasshopper_buffer.h"
#include "logging/commit/ack_queue.h"
#include "logging/commit/log_flusher.h"
#include "logging/device/null_device.h"
#include "logging/directory/directory_lock.h"
#include "logging/directory/incarnation.h"
#include "logging/layout/log_factory.h"
#include "logging/reading/log_reader.h"

namespace mneme {

namespace {

// Where records are inserted: a bare buffer, or the durable log.
class Target {
 public:
  virtual ~Target() = default;
  // False: the log has failed.
  virtual bool insert(WorkerId worker, ByteSpan payload, Lsn& lsn) = 0;
  virtual Lsn durable() const = 0;
  virtual std::optional<Error> failure() const = 0;
  // To be called when no thread inserts any more.
  virtual std::optional<double> crawling_ratio() { return std::nullopt; }
  virtual bool wait_durable(Lsn lsn) = 0;
  virtual void report_log(LogBenchReport&) const {}
};

size_t largest_record(const LogBenchOptions& options) {
  return std::max(options.record_bytes, options.outlier_percent > 0 ? options.outlier_bytes : 0);
}

class BareBuffer : public Target {
 public:
  BareBuffer(LogBufferKind kind, const LogBufferOptions& options)
      : buffer_(make_log_buffer(kind, options)),
        device_(options.begin),
        flusher_(std::make_unique<LogFlusher>(*buffer_, device_,
                                              LogFlusherOptions{options.begin,
                                                                {.interval = std::chrono::microseconds(100),
                                                                 .bytes = options.ring_bytes / 16}})) {}

  bool insert(WorkerId worker, ByteSpan payload, Lsn& lsn) override {
    if (!buffer_->await_space(worker)) return false;
    const size_t bytes = kRecordHeaderBytes + payload.size();
    const StreamPosition at = buffer_->reserve(worker, bytes);
    lsn = one_stream_lsn(at);
    std::byte header[kRecordHeaderBytes];
    RecordHeader{0, static_cast<uint32_t>(bytes), RecordKind::kCommand, lsn}.encode(header);
    buffer_->write(worker, at, header);
    buffer_->write(worker, at + kRecordHeaderBytes, payload);
    buffer_->publish(worker, at, bytes);
    flusher_->record_came(at + bytes);
    return true;
  }
  Lsn durable() const override { return one_stream_lsn(flusher_->durable()); }
  std::optional<Error> failure() const override { return std::nullopt; }
  bool wait_durable(Lsn lsn) override { return flusher_->wait_durable(one_stream_position(lsn)); }
  std::optional<double> crawling_ratio() override {
    flusher_.reset();
    const auto* grasshopper = dynamic_cast<const GrasshopperBuffer*>(buffer_.get());
    return grasshopper == nullptr ? std::nullopt : std::optional(grasshopper->crawling_ratio());
  }

 private:
  const std::unique_ptr<LogBuffer> buffer_;
  NullDevice device_;
  std::unique_ptr<LogFlusher> flusher_;
};

// Segments that the bytes fit in, of each stripe.
uint32_t segments_for(const LogBenchOptions& options) {
  const size_t stripes =
      traits_of(options.log.device).is_striped ? options.log.device_options.directories.size() : 1;
  // Each write pads its last block, by half a block on average; a tenth covers units of 64 KiB and more.
  const double bytes = 1.1 * static_cast<double>(options.bytes) / static_cast<double>(stripes);
  return 2 + static_cast<uint32_t>(bytes / static_cast<double>(options.log.segments.bytes));
}

class WholeLog : public Target {
 public:
  static Result<std::unique_ptr<Target>> open(const LogBenchOptions& options) {
    Result<DirectoryLock> lock = DirectoryLock::for_work(*options.directory);
    if (!lock) return lock.error();
    Manifest born;
    born.database_id = new_database_id();
    born.layout = options.log.layout.value_or(LogLayout::kStream);
    Result<std::unique_ptr<ManifestFile>> manifest = ManifestFile::create(*options.directory, born);
    if (!manifest) return manifest.error();
    const Result<LogContents> contents = read_log(*options.directory, (*manifest)->current(), {});
    if (!contents) return contents.error();
    RETURN_IF_ERROR(begin_incarnation(**manifest, *contents));
    DurableLogOptions log = options.log;
    if (options.bytes > 0) log.segments.ahead = segments_for(options);
    log.workers = options.threads;
    log.buffer = options.buffer;
    log.tuning = options.tuning;
    log.ring_bytes = options.ring_bytes;
    log.largest_payload_bytes = largest_record(options) - kRecordHeaderBytes;
    Result<std::unique_ptr<DirectoryLog>> opened = open_directory_log(**manifest, log);
    if (!opened) return opened.error();
    return std::unique_ptr<Target>(new WholeLog(std::move(*lock), std::move(*manifest), std::move(*opened)));
  }

  bool insert(WorkerId worker, ByteSpan payload, Lsn& lsn) override {
    const auto bytes = static_cast<uint32_t>(payload.size());
    if (!log_->await_space(worker, bytes)) return false;
    lsn = log_->reserve(worker, bytes);
    log_->fill(worker, lsn, RecordKind::kCommand, payload);
    return true;
  }
  Lsn durable() const override { return log_->durable(); }
  std::optional<Error> failure() const override { return log_->failure(); }
  bool wait_durable(Lsn lsn) override { return log_->wait_durable(lsn); }
  void report_log(LogBenchReport& report) const override {
    report.log = log_->counters();
    report.notices = log_->notices();
  }

 private:
  WholeLog(DirectoryLock lock, std::unique_ptr<ManifestFile> manifest, std::unique_ptr<DirectoryLog> log)
      : lock_(std::move(lock)), manifest_(std::move(manifest)), log_(std::move(log)) {}

  const DirectoryLock lock_;
  const std::unique_ptr<ManifestFile> manifest_;
  const std::unique_ptr<DirectoryLog> log_;
};

// Work that touches nothing: steps of a recurrence that the compiler cannot shorten.
uint64_t private_work(uint64_t x, uint64_t steps) {
  for (uint64_t i = 0; i < steps; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}

double ns_per_step() {
  constexpr uint64_t kSteps = 2'000'000;
  double best = 1e9;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const uint64_t begin = monotonic_ns();
    std::atomic<uint64_t> kept = private_work(begin, kSteps);  // so that it is computed
    const uint64_t end = monotonic_ns() + (kept.load(std::memory_order_relaxed) & 0);
    best = std::min(best, static_cast<double>(end - begin) / kSteps);
  }
  return best;
}

class Inserter {
 public:
  Inserter(Target& target, const LogBenchOptions& options, WorkerId worker, uint64_t work_steps)
      : target_(target),
        options_(options),
        worker_(worker),
        work_steps_(work_steps),
        outlier_below_(static_cast<uint64_t>(options.outlier_percent / 100 * 0x1p32)),
        random_((worker.value + 1) * uint64_t{0x9e3779b97f4a7c15}),
        payload_(largest_record(options), std::byte{0x5a}),
        waiting_(kWaiting) {
    if (options.bytes > 0) bytes_limit_ = options.bytes / options.threads;
  }

  void run(const std::atomic<bool>& stop) {
    // Once at least, though it gets its first turn when the time is over.
    do {
      random_ = private_work(random_, work_steps_ + 1);
      if (!insert()) return;
    } while (!stop.load(std::memory_order_relaxed) && bytes < bytes_limit_);
  }

  uint64_t inserts = 0;
  uint64_t bytes = 0;
  Lsn last;
  Histogram latency_ns;

 private:
  static constexpr uint64_t kTimedOneIn = 64;
  static constexpr size_t kWaiting = 4096;  // timed inserts that are not durable; more are not timed

  bool insert() {
    const bool outlier = (random_ >> 32) < outlier_below_;
    const size_t record_bytes = outlier ? options_.outlier_bytes : options_.record_bytes;
    const ByteSpan payload = ByteSpan(payload_).first(record_bytes - kRecordHeaderBytes);
    const bool timed = inserts % kTimedOneIn == 0;
    const uint64_t begin = timed ? monotonic_ns() : 0;
    Lsn lsn;
    if (!target_.insert(worker_, payload, lsn)) return false;
    ++inserts;
    bytes += record_bytes;
    last = lsn;
    if (timed) {
      if (!waiting_.full()) waiting_.push({lsn, begin, inserts});
      waiting_.poll(target_.durable(), [&](const AckQueue::Entry& entry) {
        latency_ns.record(monotonic_ns() - entry.begin_ns);
      });
    }
    return true;
  }

  Target& target_;
  const LogBenchOptions& options_;
  const WorkerId worker_;
  const uint64_t work_steps_;
  const uint64_t outlier_below_;
  uint64_t bytes_limit_ = std::numeric_limits<uint64_t>::max();
  uint64_t random_;
  const std::vector<std::byte> payload_;
  AckQueue waiting_;
};

Result<std::unique_ptr<Target>> make_target(const LogBenchOptions& options) {
  if (options.directory) return WholeLog::open(options);
  LogBufferOptions buffer;
  buffer.workers = options.threads;
  buffer.largest_record_bytes = largest_record(options);
  buffer.ring_bytes =
      std::bit_ceil(std::max(options.ring_bytes, 4 * options.threads * buffer.largest_record_bytes));
  buffer.tuning = options.tuning;
  RETURN_IF_ERROR(check_options(options.buffer, buffer));
  return std::unique_ptr<Target>(std::make_unique<BareBuffer>(options.buffer, buffer));
}

}  // namespace

Result<LogBenchReport> run_log_bench(const LogBenchOptions& options) {
  Result<std::unique_ptr<Target>> target = make_target(options);
  if (!target) return target.error();
  const auto work_steps = options.work_ns > 0
                              ? static_cast<uint64_t>(std::llround(options.work_ns / ns_per_step()))
                              : uint64_t{0};

  std::vector<std::unique_ptr<CachePadded<Inserter>>> inserters;
  for (uint32_t i = 0; i < options.threads; ++i) {
    inserters.push_back(std::make_unique<CachePadded<Inserter>>(**target, options, WorkerId{i}, work_steps));
  }
  std::atomic<bool> stop{false};  // relaxed: it orders nothing; joining does
  std::barrier start(options.threads + 1);
  std::vector<std::thread> threads;
  for (auto& inserter : inserters) {
    threads.emplace_back([&start, &stop, &inserter] {
      start.arrive_and_wait();
      (*inserter)->run(stop);
    });
  }
  start.arrive_and_wait();
  const uint64_t begin = monotonic_ns();
  if (options.bytes == 0) {
    std::this_thread::sleep_for(std::chrono::duration<double>(options.seconds));
    stop.store(true, std::memory_order_relaxed);
  }
  for (std::thread& thread : threads) thread.join();
  if (options.bytes > 0) {
    Lsn last;
    for (auto& inserter : inserters) last = std::max(last, (*inserter)->last);
    (*target)->wait_durable(last);  // false: failure() says so below
  }
  LogBenchReport report;
  report.seconds = static_cast<double>(monotonic_ns() - begin) / 1e9;
  if (const auto failure = (*target)->failure()) return *failure;
  for (auto& inserter : inserters) {
    report.inserts += (*inserter)->inserts;
    report.bytes += (*inserter)->bytes;
    report.latency_ns.merge((*inserter)->latency_ns);
  }
  (*target)->report_log(report);
  report.crawling_ratio = (*target)->crawling_ratio();
  return report;
}

}  // namespace mneme
