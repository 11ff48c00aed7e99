// Your part of chapter 13: the records of a log, as replay takes them: a window at a time, of which the
// next is read while one is replayed. Read recovery/log/record_stream.h first, then
// logging/reading/log_windows.h.
//
// This starter reads a window when it is asked for it, takes the whole log for one stretch, and forgets
// how much memory there was.
#include <algorithm>
#include <utility>

#include "recovery/log/record_stream.h"

namespace mneme {

void LogMemory::add(uint64_t bytes) {
  peak_.store(bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
}

RecordStream::RecordStream(std::span<const RecordView> records)
    : size_(records.size()),
      has_rows_(false),
      all_(records),
      kept_(std::make_shared<RecordWindow>(records)) {}

RecordStream::RecordStream(const std::string& directory, const LogContents& log, size_t first, size_t end,
                           LogMemory& memory)
    : size_(0),
      has_rows_(false),
      directory_(&directory),
      log_(&log),
      memory_(&memory),
      next_(first),
      end_(end) {}

Result<HeldWindow> RecordStream::next() {
  if (kept_ != nullptr) return std::exchange(kept_, nullptr);
  if (next_ == end_) return HeldWindow();
  Result<LogWindow> read = read_window(*directory_, *log_, next_++);
  if (!read) return read.error();
  return HeldWindow(std::make_shared<RecordWindow>(*std::move(read), *memory_));
}

RecordStream LogStretches::next_stretch() {
  const size_t begin = next_;
  if (log_.is_kept) {
    next_ = log_.records.size();
    return RecordStream(std::span(log_.records).subspan(begin));
  }
  next_ = log_.windows.size();
  return {directory_, log_, begin, next_, memory_};
}

Result<std::optional<RecordView>> LogStretches::next_change() {
  return std::optional<RecordView>();
}

// This one is the engine's own.
uint64_t LogStretches::peak_memory_bytes() const {
  uint64_t bytes = memory_.peak() + log_.records.capacity() * sizeof(RecordView);
  for (const LogContents::Segment& segment : log_.segments) bytes += segment.bytes.size();
  return bytes;
}

}  // namespace mneme
