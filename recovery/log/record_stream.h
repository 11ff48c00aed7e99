// RecordStream: the records of a stretch of the log, in commit order, as replay takes them: all at once where
// the log is kept in memory, else a window at a time.
//
// Flow        LogContents -> LogStretches -> a RecordStream a stretch, up to where the schema changes ->
//             next() -> records
// Invariants  a window's records are valid as long as the window is held. While one is replayed the next is
//             being read. So of a log that is not kept the windows being replayed are in memory, and two
//             more.
// Threads     one owner; a window may be held, and let go of, by any. Reading ahead takes a thread of its
//             own.
// Errors      read_window()'s (log_windows.h).
#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "logging/reading/log_windows.h"

namespace mneme {

// Counts how much of the log is in memory.
class LogMemory {
 public:
  void add(uint64_t bytes);
  void remove(uint64_t bytes) { bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
  uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }

 private:
  // Relaxed: numbers to look at when all threads are done. Written by the threads that make or drop a window.
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> peak_{0};
};

class RecordWindow {
 public:
  explicit RecordWindow(std::span<const RecordView> kept) : records_(kept) {}
  RecordWindow(LogWindow window, LogMemory& memory)
      : window_(std::move(window)), records_(window_.records), memory_(&memory) {
    memory_->add(window_.memory_bytes());
  }
  RecordWindow(const RecordWindow&) = delete;
  RecordWindow& operator=(const RecordWindow&) = delete;
  ~RecordWindow() {
    if (memory_ != nullptr) memory_->remove(window_.memory_bytes());
  }

  std::span<const RecordView> records() const { return records_; }

 private:
  const LogWindow window_;
  const std::span<const RecordView> records_;
  LogMemory* const memory_ = nullptr;
};

using HeldWindow = std::shared_ptr<const RecordWindow>;

class RecordStream {
 public:
  // A stream of records that the caller keeps.
  explicit RecordStream(std::span<const RecordView> records);
  // A stream of the windows [first, end) of a log that is not kept. All arguments must outlive the stream and
  // its windows.
  RecordStream(const std::string& directory, const LogContents& log, size_t first, size_t end,
               LogMemory& memory);

  uint64_t size() const { return size_; }
  // Returns whether there are records of ad-hoc transactions.
  bool has_rows() const { return has_rows_; }

  // Returns all records, where they are kept.
  std::span<const RecordView> kept() const { return all_; }

  // Returns nullptr if the stream has ended.
  Result<HeldWindow> next();

 private:
  std::future<Result<HeldWindow>> read(size_t window) const;

  uint64_t size_;
  bool has_rows_;
  std::span<const RecordView> all_;
  HeldWindow kept_;  // of these; it comes next
  const std::string* directory_ = nullptr;
  const LogContents* log_ = nullptr;
  LogMemory* memory_ = nullptr;
  size_t next_ = 0;
  size_t end_ = 0;
  std::future<Result<HeldWindow>> ahead_;  // of window next_
};

// A log from its begin on: a stretch, a change of the schema, the next stretch.
class LogStretches {
 public:
  // Both must outlive what comes from here.
  LogStretches(const std::string& directory, const LogContents& log) : directory_(directory), log_(log) {}

  // The records up to the next change, or to the end of the log. Perhaps there are none.
  RecordStream next_stretch();
  // Returns the record behind the last stretch, valid until the next call; nullopt if the log has ended.
  Result<std::optional<RecordView>> next_change();

  // Returns the most memory that the log took; a kept log counts whole.
  uint64_t peak_memory_bytes() const;

 private:
  const std::string& directory_;
  const LogContents& log_;
  LogMemory memory_;
  size_t next_ = 0;  // a record of a kept log, a window of another
  HeldWindow change_;
};

}  // namespace mneme
