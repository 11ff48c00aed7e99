#include "recovery/log/record_stream.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace mneme {

void LogMemory::add(uint64_t bytes) {
  const uint64_t now = bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  uint64_t peak = peak_.load(std::memory_order_relaxed);
  while (peak < now &&
         !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed, std::memory_order_relaxed)) {
  }
}

RecordStream::RecordStream(std::span<const RecordView> records)
    : size_(records.size()),
      has_rows_(std::ranges::any_of(records,
                                    [](const RecordView& record) {
                                      return record.kind == RecordKind::kLogical ||
                                             record.kind == RecordKind::kPhysical;
                                    })),
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
      end_(end) {
  for (size_t w = first; w < end; ++w) {
    size_ += log.windows[w].records;
    has_rows_ |= log.windows[w].has_rows;
  }
  if (next_ < end_) ahead_ = read(next_);
}

Result<HeldWindow> RecordStream::next() {
  if (kept_ != nullptr) return std::exchange(kept_, nullptr);
  if (next_ == end_) return HeldWindow();
  Result<HeldWindow> window = ahead_.get();
  if (++next_ < end_) ahead_ = read(next_);
  return window;
}

std::future<Result<HeldWindow>> RecordStream::read(size_t window) const {
  return std::async(std::launch::async,
                    [directory = directory_, log = log_, memory = memory_, window]() -> Result<HeldWindow> {
                      Result<LogWindow> read = read_window(*directory, *log, window);
                      if (!read) return read.error();
                      return HeldWindow(std::make_shared<RecordWindow>(*std::move(read), *memory));
                    });
}

RecordStream LogStretches::next_stretch() {
  const size_t begin = next_;
  if (log_.is_kept) {
    const auto rest = std::span(log_.records).subspan(begin);
    const auto change = std::ranges::find(rest, RecordKind::kSchema, &RecordView::kind);
    next_ += static_cast<size_t>(change - rest.begin());
    return RecordStream(rest.first(next_ - begin));
  }
  while (next_ < log_.windows.size() && !log_.windows[next_].is_of_schema) ++next_;
  return {directory_, log_, begin, next_, memory_};
}

Result<std::optional<RecordView>> LogStretches::next_change() {
  if (log_.is_kept) {
    if (next_ == log_.records.size()) return std::optional<RecordView>();
    return std::optional(log_.records[next_++]);
  }
  if (next_ == log_.windows.size()) return std::optional<RecordView>();
  Result<LogWindow> window = read_window(directory_, log_, next_++);
  if (!window) return window.error();
  change_ = std::make_shared<RecordWindow>(*std::move(window), memory_);
  CHECK(change_->records().size() == 1);
  return std::optional(change_->records().front());
}

uint64_t LogStretches::peak_memory_bytes() const {
  uint64_t bytes = memory_.peak() + log_.records.capacity() * sizeof(RecordView);
  for (const LogContents::Segment& segment : log_.segments) bytes += segment.bytes.size();
  return bytes;
}

}  // namespace mneme
