// Log windows: the records of a log that is too long to be kept, read again a few MiB at a time.
//
// Flow        read_log() checks the whole log, and releases what it has checked where
//             LogReadOptions::most_kept_bytes asks for it -> LogContents::windows -> read_window(), in any
//             order -> records as LogContents would have held them
// Invariants  a window begins and ends with a record. A change of the schema is a window by itself.
// Memory      what LogContents keeps of such a log are its blocks' places: a hundredth of its bytes.
// Threads     any, at once.
// Errors      a file that has changed since read_log() checked it: kDamaged.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "logging/reading/log_reader.h"

namespace mneme {

struct LogWindow {
  std::vector<std::byte> bytes;
  std::vector<RecordView> records;  // point into `bytes`

  uint64_t memory_bytes() const { return bytes.capacity() + records.capacity() * sizeof(RecordView); }
};

// `log`: read_log()'s of the directory.
Result<LogWindow> read_window(const std::string& directory, const LogContents& log, size_t window);

}  // namespace mneme
