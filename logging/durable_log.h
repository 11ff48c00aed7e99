// DurableLog: the DirectoryLog that writes: a buffer, a flusher and a device put together.
//
// Flow        worker -> buffer -> flusher -> device. Opened as log_factory.h says.
//             As a stream in persistent memory (nvm_ring.h) its records are durable in the buffer: the flusher destages them, once a
//             quarter of it is full.
// Invariants, threads, waiting, errors  as DirectoryLog says.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
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
#include "logging/remote_options.h"
#include "logging/segment_supply.h"
#include "logging/stream_options.h"

namespace mneme {

class CommitHorizon;
class NvmRing;
class StoreObserver;

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
  EpochOptions epoch{};  // of the layout `epoch`, which has no use for buffer, tuning and group's bounds
  StreamOptions streams{};  // of the layout `distributed`
  // Of the loggers or streams of such a layout, which write to them in turns: inside the data directory, where missing
  // ones are made, or absolute.
  std::vector<std::string> stream_directories{""};
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
  RemoteLogOptions remote{};

  uint32_t appenders() const { return workers + helpers; }
};

// Whether each worker makes its own records durable, so that there is neither buffer nor flusher (nvm_log.h).
inline bool hardens_by_worker(const DurableLogOptions& options) {
  return is_nvm(options.device) && options.layout != LogLayout::kDistributed;
}

// Of the buffer: room enough for all workers' largest records.
size_t ring_bytes_for(const DurableLogOptions& options);

// What makes a log one of the streams of another (distributed_log.h).
struct StreamPlace {
  uint32_t stream = 0;
  std::string directory;
  std::shared_ptr<SegmentNumbers> numbers;  // of all streams
  FlusherObserver* observer = nullptr;
  std::function<Lsn()> durable_gsn;  // over all streams
  // Of a stream in persistent memory: where its buffer lies, and who says what is durable there, and is told of stores. They
  // outlive it.
  NvmRing* ring = nullptr;
  const CommitHorizon* horizon = nullptr;
  StoreObserver* stores = nullptr;
};

class DurableLog : public DirectoryLog {
 public:
  // As log_factory.h says, which opens the log on any device but persistent memory by this.
  static Result<std::unique_ptr<DurableLog>> open(ManifestFile& manifest, const DurableLogOptions& options);
  // The same as a stream. Its positions are counted from kFirstLsn; records stand in the commit order elsewhere.
  static Result<std::unique_ptr<DurableLog>> open_stream(ManifestFile& manifest, const DurableLogOptions& options,
                                                         const StreamPlace& place);

  // Notes in the manifest where the log ends: from then on one that ends before is damaged. A stream's is its owner's to note.
  ~DurableLog() override;

  bool await_space(WorkerId worker, uint32_t payload_bytes) override;
  Lsn reserve(WorkerId worker, uint32_t payload_bytes) override;
  void fill(WorkerId worker, Lsn lsn, RecordKind kind, ByteSpan payload) override;
  Lsn durable() const override { return flusher_.durable(); }
  bool wait_durable(Lsn lsn) override { return flusher_.wait_durable(lsn); }
  std::optional<Error> failure() const override { return device_->failure(); }

  // Of a stream, in the place of reserve() and fill(): writes the worker's record with this LSN. Returns the position of its
  // end, which is to be told to came().
  Lsn append(WorkerId worker, Lsn lsn, RecordKind kind, ByteSpan payload);
  void came(Lsn end) { flusher_.record_came(end); }
  LogFlusher& flusher() { return flusher_; }

  LogCounters counters() const override;
  std::optional<GroupCommit> group() const override { return options_.group; }
  bool wants_checkpoint() override { return device_->space() != LogSpace::kEnough; }
  const std::vector<std::string>& notices() const override { return notices_; }

 private:
  // One a worker. The counts are its own to write and counters()'s to read; relaxed: they order nothing.
  struct WorkerState {
    uint32_t reserved_bytes = 0;  // of the record that it has reserved and not filled; else 0
    std::atomic<uint64_t> records{0};
    std::atomic<uint64_t> bytes{0};
  };

  // Holds a worker back while the room that is left must serve others (LogSpace::kScarce). False: the log has failed.
  bool await_room(WorkerId worker);

  DurableLog(ManifestFile* manifest, OpenedDevice device, const LogBufferOptions& buffer, const DurableLogOptions& options,
             const StreamPlace& place);
  static std::unique_ptr<LogBuffer> make_buffer(const LogBufferOptions& buffer, const DurableLogOptions& options,
                                                const StreamPlace& place);
  static Result<std::unique_ptr<DurableLog>> open(ManifestFile& manifest, const DurableLogOptions& options,
                                                  const StreamPlace* place);
  void write(WorkerId worker, Lsn at, Lsn lsn, RecordKind kind, ByteSpan payload);

  ManifestFile* const manifest_;  // that the log's end is noted in, where it is closed in order; null: it isn't
  const DurableLogOptions options_;
  const std::vector<std::string> notices_;
  const RecordLayout layout_;
  const std::vector<std::byte> zeros_;  // a skip record's payload
  const std::unique_ptr<CachePadded<WorkerState>[]> states_;
  const std::unique_ptr<LogDevice> device_;
  const std::unique_ptr<LogBuffer> buffer_;
  LogFlusher flusher_;  // last: it ends first, while buffer and device are there
};

}  // namespace mneme
