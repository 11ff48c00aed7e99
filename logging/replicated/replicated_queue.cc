#include "logging/replicated/replicated_queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "logging/record/block_format.h"

namespace mneme {

int ReplicatedQueue::attach(int handle) {
  const auto number = static_cast<uint32_t>(handle);
  attached_[number].copy = segments_.copy(number);
  return handle;
}

void ReplicatedQueue::submit(const IoChain& chain) {
  const auto number = static_cast<uint32_t>(chain.file);
  Attached& segment = attached_.at(number);
  segments_.fill(*segment.copy, chain);
  uint64_t begin = chain.offset == block_offset(0) ? 0 : chain.offset;
  for (const uint64_t end = segment.copy->filled; begin < end;) {
    const uint64_t bytes = std::min<uint64_t>(log_->most_bytes() / kBlockBytes * kBlockBytes, end - begin);
    log_->append(number, begin, segment.copy->content().subspan(begin, bytes));
    begin += bytes;
    ++appended_;
  }
  segment.end = appended_;
  in_flight_.push_back({chain.tag, appended_});
}

void ReplicatedQueue::let_go_of_dropped() {
  uint64_t end = 0;
  for (std::shared_ptr<SegmentCopy>& copy : segments_.take_dropped()) {
    // One that was never taken has nothing there.
    if (const auto segment = attached_.find(copy->number); segment != attached_.end()) {
      end = std::max(end, segment->second.end);
      attached_.erase(segment);
    }
    segments_.give_back(std::move(copy));
  }
  if (end > 0) log_->drop(end);
}

void ReplicatedQueue::wait(std::chrono::nanoseconds limit, std::vector<IoCompletion>& ended) {
  let_go_of_dropped();
  const std::chrono::nanoseconds longest = failure_ ? std::chrono::milliseconds(1) : limit;
  const uint64_t acknowledged = log_->wait(std::min(limit, longest));
  if (!failure_) {
    if (auto error = log_->failure()) {
      failure_ = log_->is_deposed() ? std::move(*error) : segments_.save_after(error->message);
    }
  }
  while (!in_flight_.empty() && (failure_ || in_flight_.front().end <= acknowledged)) {
    const auto failure =
        in_flight_.front().end <= acknowledged ? IoCompletion::Failure::kNone : IoCompletion::Failure::kWrite;
    ended.push_back({in_flight_.front().tag, failure, 0});
    in_flight_.pop_front();
  }
}

}  // namespace mneme
