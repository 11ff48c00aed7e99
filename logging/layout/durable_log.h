// DurableLog: the DirectoryLog that writes: a buffer, a flusher and a device put together.
//
// Flow        worker -> buffer -> flusher -> device. Opened as log_factory.h says. As a stream in persistent
//             memory (nvm_ring.h) its records are durable in the buffer: the flusher destages them, once a
//             quarter of it is full.
// Invariants, threads, waiting, errors  as DirectoryLog says.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cache_line.h"
#include "base/result.h"
#include "logging/buffer/log_buffer.h"
#include "logging/buffer/log_buffer_factory.h"
#include "logging/commit/directory_log.h"
#include "logging/commit/epoch_options.h"
#include "logging/commit/log_flusher.h"
#include "logging/commit/log_options.h"
#include "logging/commit/stream_options.h"
#include "logging/device/device_factory.h"
#include "logging/device/remote_options.h"
#include "logging/directory/manifest.h"
#include "logging/directory/segment_supply.h"
#include "logging/record/record_writer.h"

namespace mneme {

class CommitHorizon;
class NvmRing;
class StoreObserver;

// Returns the size of the buffer's ring: it has room for all workers' largest records.
size_t ring_bytes_for(const DurableLogOptions& options);

// Makes a log one of the streams of another (distributed_log.h).
struct StreamPlace {
  uint32_t stream = 0;
  std::string directory;
  std::shared_ptr<SegmentNumbers> numbers;  // of all streams
  FlusherObserver* observer = nullptr;
  std::function<Lsn()> durable_gsn;  // over all streams
  // For a stream in persistent memory: the ring that is its buffer, the horizon that knows what is durable
  // there, and the observer of its stores. They outlive the log.
  NvmRing* ring = nullptr;
  const CommitHorizon* horizon = nullptr;
  StoreObserver* stores = nullptr;
};

class DurableLog : public DirectoryLog {
 public:
  // As log_factory.h says, which opens the log on any device but persistent memory by this.
  static Result<std::unique_ptr<DurableLog>> open(ManifestFile& manifest, const DurableLogOptions& options);
  // The same as a stream. Its positions are counted from kFirstPosition; records stand in the commit order
  // elsewhere.
  static Result<std::unique_ptr<DurableLog>> open_stream(ManifestFile& manifest,
                                                         const DurableLogOptions& options,
                                                         const StreamPlace& place);

  // Notes in the manifest where the log ends: from then on one that ends before is damaged. A stream's is its
  // owner's to note.
  ~DurableLog() override;

  bool await_space(WorkerId worker, uint32_t payload_bytes) override;
  Lsn reserve(WorkerId worker, uint32_t payload_bytes) override;
  void fill(WorkerId worker, Lsn lsn, RecordKind kind, ByteSpan payload) override;
  Lsn durable() const override { return one_stream_lsn(flusher_.durable()); }
  bool wait_durable(Lsn lsn) override { return flusher_.wait_durable(one_stream_position(lsn)); }
  std::optional<Error> failure() const override { return device_->failure(); }

  // In a stream, in place of reserve() and fill(): writes a record for the worker. Returns the record's end,
  // which the caller passes to came().
  StreamPosition append(WorkerId worker, const RecordHead& head, ByteSpan payload);
  void came(StreamPosition end) { flusher_.record_came(end); }
  LogFlusher& flusher() { return flusher_; }

  LogCounters counters() const override;
  std::optional<GroupCommit> group() const override { return options_.group; }
  bool wants_checkpoint() override { return device_->space() != LogSpace::kEnough; }
  const std::vector<std::string>& notices() const override { return notices_; }

 private:
  // Holds a worker back while the room that is left must serve others (LogSpace::kScarce). False: the log has
  // failed.
  bool await_room(WorkerId worker);

  DurableLog(ManifestFile* manifest, OpenedDevice device, const LogBufferOptions& buffer,
             const DurableLogOptions& options, const StreamPlace& place);
  static std::unique_ptr<LogBuffer> make_buffer(const LogBufferOptions& buffer,
                                                const DurableLogOptions& options, const StreamPlace& place);
  static Result<std::unique_ptr<DurableLog>> open(ManifestFile& manifest, const DurableLogOptions& options,
                                                  const StreamPlace* place);
  // Puts the worker's encoded record at a position that is the worker's.
  void put(WorkerId worker, StreamPosition at, ByteSpan header, ByteSpan payload);

  // that the log's end is noted in, where it is closed in order; null: it isn't
  ManifestFile* const manifest_;
  const DurableLogOptions options_;
  const bool is_bounded_;  // LogDeviceTraits::is_bounded
  const std::vector<std::string> notices_;
  const RecordLayout layout_;
  const std::unique_ptr<CachePadded<RecordWriter>[]> writers_;  // by worker
  const std::unique_ptr<LogDevice> device_;
  const std::unique_ptr<LogBuffer> buffer_;
  LogFlusher flusher_;  // last: it ends first, while buffer and device are there
};

}  // namespace mneme
