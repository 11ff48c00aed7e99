// LogBench: threads that insert records into a log buffer as fast as they can, and what they reached: the
// microbenchmark of Aether (section 6.3) and ELEDA (section 6.5.1).
//
// Flow        each thread: private work -> await space, reserve, write, publish -> and again, until the time
//             is over. The flusher takes the records out and gives them to the device all the while.
// Latency     from before the wait for space to the moment at which the inserting thread, which goes on
//             meanwhile, sees the durable LSN pass: flush pipelining. Taken of one insert in 64, so that
//             reading the clock does not count.
// Device      null: the buffer alone, with headers and without checksums, taken out in order and dropped.
//             others: the durable log, checksums and all; of nvm, without a buffer. With a number of bytes in
//             place of a duration, the log's segments are prepared beforehand, and the time ends when all is
//             durable: the flusher's bandwidth.
// Threads     its own; the caller waits.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/histogram.h"
#include "base/result.h"
#include "logging/buffer/log_buffer_factory.h"
#include "logging/layout/durable_log.h"

namespace mneme {

struct LogBenchOptions {
  LogBufferKind buffer = kDefaultLogBuffer;
  LogBufferTuning tuning{};
  uint32_t threads = 1;
  size_t record_bytes = 120;
  size_t outlier_bytes = 0;    // of the other records
  double outlier_percent = 0;  // how many of all records these are
  double work_ns = 0;          // between two inserts
  double seconds = 1;
  uint64_t bytes = 0;  // of records, in place of the seconds
  size_t ring_bytes = size_t{16} << 20;
  std::optional<std::string> directory;  // of the durable log; without: the null device
  DurableLogOptions log{};               // its device
};

struct LogBenchReport {
  double seconds = 0;
  uint64_t inserts = 0;
  uint64_t bytes = 0;
  Histogram latency_ns;
  std::optional<double> crawling_ratio;  // of the grasshopper, on the null device
  std::optional<LogCounters> log;        // of the durable log
  std::vector<std::string> notices;

  double inserts_per_s() const { return static_cast<double>(inserts) / seconds; }
  double bytes_per_s() const { return static_cast<double>(bytes) / seconds; }
};

Result<LogBenchReport> run_log_bench(const LogBenchOptions& options);

}  // namespace mneme
