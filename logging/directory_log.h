// DirectoryLog: a CommitLog that a data directory keeps, and what it can tell of itself. log_factory.h opens one.
//
// Flow        read_log() -> begin_incarnation() -> open_directory_log() -> transactions
// Invariants  its records begin where its incarnation does, in a segment of its own.
// Threads     as CommitLog says. counters, group, notices: any thread.
// Waiting, errors  as CommitLog says. The destructor makes every filled record durable, unless the log has failed.
//             Workers must have filled what they reserved before.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "logging/commit_log.h"
#include "logging/group_commit.h"
#include "logging/log_device.h"
#include "logging/log_flusher.h"

namespace mneme {

// Of a log of loggers and epochs (epoch_log.h).
struct EpochCounters {
  uint32_t loggers = 0;
  std::chrono::microseconds interval{0};  // of an epoch, at most
  std::optional<uint64_t> pepoch{};       // the last one that all loggers have persisted; nothing: none yet
  uint64_t pepoch_writes = 0;             // to its file
};

struct LogCounters {
  uint64_t log_records = 0;
  uint64_t log_bytes = 0;  // of records, headers included; without blocks and padding
  DeviceCounters device;
  FlusherCounters flusher;  // of a log that has one; of several, together
  std::optional<EpochCounters> epochs{};
};

class DirectoryLog : public CommitLog {
 public:
  virtual LogCounters counters() const = 0;
  // How records are grouped, as it was asked for, or chosen. Nothing: each is made durable by itself.
  virtual std::optional<GroupCommit> group() const = 0;
  // What it had to do without: a sentence each, for the user.
  virtual const std::vector<std::string>& notices() const = 0;
};

}  // namespace mneme
