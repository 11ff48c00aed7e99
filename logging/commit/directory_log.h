// DirectoryLog: a CommitLog that a data directory keeps, and what it reports of itself. log_factory.h opens
// one.
//
// Flow        read_log() -> begin_incarnation() -> open_directory_log() -> transactions
// Invariants  its records begin where its incarnation does, in a segment of its own.
// Threads     as CommitLog says. counters, group, notices: any thread.
// Waiting, errors  as CommitLog says. The destructor makes every filled record durable, unless the log has
//                  failed.
//             Workers must have filled what they reserved before.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "logging/commit/commit_log.h"
#include "logging/commit/group_commit.h"
#include "logging/commit/log_flusher.h"
#include "logging/commit/stream_options.h"
#include "logging/device/log_device.h"

namespace mneme {

// Counters of a log of loggers and epochs (epoch_log.h).
struct EpochCounters {
  uint32_t loggers = 0;
  std::chrono::microseconds interval{0};  // of an epoch, at most
  std::optional<uint64_t> pepoch{};       // the last one that all loggers have persisted; nothing: none yet
  uint64_t pepoch_writes = 0;             // to its file
};

// Counters of a log of streams (distributed_log.h).
struct StreamCounters {
  uint32_t streams = 0;
  uint32_t nodes = 0;                    // of the machine: what workers were dealt by
  std::optional<StreamCommit> commit{};  // of streams in persistent memory
  PassiveGroupCommitCounters passive{};
};

struct LogCounters {
  uint64_t log_records = 0;
  uint64_t log_bytes = 0;  // of records, headers included; without blocks and padding
  DeviceCounters device;
  FlusherCounters flusher;  // of a log that has one; of several, together
  std::optional<EpochCounters> epochs{};
  std::optional<StreamCounters> streams{};

  // Adds the counts of records, bytes and flushes; not how they are grouped.
  void add(const LogCounters& other) {
    log_records += other.log_records;
    log_bytes += other.log_bytes;
    device.flushes += other.device.flushes;
    device.device_bytes += other.device.device_bytes;
    device.segment_waits += other.device.segment_waits;
    device.segments_reused += other.device.segments_reused;
    flusher.flush_ns.merge(other.flusher.flush_ns);
    flusher.processor_ns += other.flusher.processor_ns;
    flusher.interval_ns = std::max(flusher.interval_ns, other.flusher.interval_ns);
  }
};

class DirectoryLog : public CommitLog {
 public:
  virtual LogCounters counters() const = 0;
  // How records are grouped, as it was asked for, or chosen. Nothing: each is made durable by itself.
  virtual std::optional<GroupCommit> group() const = 0;
  // Whether the log is about to run out of room, which a checkpoint would make. May take as long as a
  // manifest's sync.
  virtual bool wants_checkpoint() { return false; }
  // A sentence for each thing that the log has to do without, for the user.
  virtual const std::vector<std::string>& notices() const = 0;
};

}  // namespace mneme
