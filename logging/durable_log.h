// DurableLog: the DirectoryLog that writes: a buffer, a flusher and a device put together.
//
// Flow        worker -> buffer -> flusher -> device. Opened as log_factory.h says.
// Invariants, threads, waiting, errors  as DirectoryLog says.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cache_line.h"
#include "base/result.h"
#include "logging/device_factory.h"
#include "logging/directory_log.h"
#include "logging/epoch_options.h"
#include "logging/log_buffer.h"
#include "logging/log_buffer_factory.h"
#include "logging/log_flusher.h"
#include "logging/manifest.h"

namespace mneme {

// An interval that the log chooses: a quarter of a millisecond where the flusher has a processor to itself, which keeps it from
// flushing for a handful of records. Where the workers need all processors, each flush takes time from them, whatever it
// carries; then flushes are spaced so that this is a few hundredths of theirs (docs/performance.md). Who waits for one
// record is not held up by either (GroupCommit::waiters_hurry).
inline constexpr std::chrono::microseconds kChosenInterval{-1};

struct DurableLogOptions {
  uint32_t workers = 1;
  // Threads besides, which append a record now and then, and are no reason to space flushes: their ids follow the
  // workers'. A checkpoint's LSN is drawn by one.
  uint32_t helpers = 0;
  std::optional<LogLayout> layout{};  // of a new directory; of an old one, what it must be. Nothing: stream; any
  EpochOptions epoch{};               // of the layout `epoch`, which has no use for buffer, tuning and group's bounds
  LogBufferKind buffer = kDefaultLogBuffer;
  LogBufferTuning tuning{};
  LogDeviceKind device = LogDeviceKind::kFile;
  size_t largest_payload_bytes = kMaxPayloadBytes;
  size_t ring_bytes = size_t{16} << 20;  // raised where the workers' largest records need more
  size_t segment_bytes = size_t{32} << 20;
  uint32_t segments_ahead = 1;  // ready when open() returns; later one is
  IoOptions io{};
  std::vector<std::string> directories{};  // of the striped device, as DeviceOptions says
  // Injected: no flush takes less. Without it as the device has it: none, but of emulated persistent memory.
  std::optional<std::chrono::nanoseconds> device_latency{};
  GroupCommit group{.interval = kChosenInterval};
  uint64_t lossy_seed = 1;  // of the lossy devices

  uint32_t appenders() const { return workers + helpers; }
};

class DurableLog : public DirectoryLog {
 public:
  // As log_factory.h says, which opens the log on any device but persistent memory by this.
  static Result<std::unique_ptr<DurableLog>> open(ManifestFile& manifest, const DurableLogOptions& options);

  bool await_space(WorkerId worker, uint32_t payload_bytes) override;
  Lsn reserve(WorkerId worker, uint32_t payload_bytes) override;
  void fill(WorkerId worker, Lsn lsn, RecordKind kind, ByteSpan payload) override;
  Lsn durable() const override { return flusher_.durable(); }
  bool wait_durable(Lsn lsn) override { return flusher_.wait_durable(lsn); }
  std::optional<Error> failure() const override { return device_->failure(); }

  LogCounters counters() const override;
  std::optional<GroupCommit> group() const override { return options_.group; }
  const std::vector<std::string>& notices() const override { return notices_; }

 private:
  // One a worker. The counts are its own to write and counters()'s to read; relaxed: they order nothing.
  struct WorkerState {
    uint32_t reserved_bytes = 0;  // of the record that it has reserved and not filled; else 0
    std::atomic<uint64_t> records{0};
    std::atomic<uint64_t> bytes{0};
  };

  DurableLog(OpenedDevice device, const LogBufferOptions& buffer, const DurableLogOptions& options);

  const DurableLogOptions options_;
  const std::vector<std::string> notices_;
  const std::vector<std::byte> zeros_;  // a skip record's payload
  const std::unique_ptr<CachePadded<WorkerState>[]> states_;
  const std::unique_ptr<LogDevice> device_;
  const std::unique_ptr<LogBuffer> buffer_;
  LogFlusher flusher_;  // last: it ends first, while buffer and device are there
};

}  // namespace mneme
