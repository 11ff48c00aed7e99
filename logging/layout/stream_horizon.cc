#include "logging/layout/stream_horizon.h"

#include <algorithm>

#include "base/check.h"

namespace mneme {

StreamHorizon::StreamHorizon(Lsn begin, uint32_t streams, uint32_t appenders)
    : counter_(begin), bounds_(appenders), durable_(begin.value), streams_(streams) {
  CHECK(streams <= kMostStreams);
  for (Stream& each : streams_) each.clock = begin;
}

Lsn StreamHorizon::oldest_unpublished() const {
  return Lsn{bounds_.lowest(counter_.drawn().value)};
}

StreamPosition StreamHorizon::end_of(uint32_t stream) const {
  uint64_t end = kFirstPosition.value;
  for (uint32_t worker = 0; worker < bounds_.workers(); ++worker) {
    end = std::max(end, bounds_.beside(worker).ends[stream].load(std::memory_order_acquire));
  }
  return StreamPosition{end};
}

void StreamHorizon::gathers(uint32_t stream) {
  const std::lock_guard guard(mutex_);
  Stream& mine = streams_[stream];
  const Lsn gsn = oldest_unpublished();  // before the ends
  const StreamPosition end = end_of(stream);
  if (end > mine.durable && gsn > mine.clock) mine.marks.push({gsn, end});
}

void StreamHorizon::rose(uint32_t stream, StreamPosition stream_durable) {
  const std::lock_guard guard(mutex_);
  streams_[stream].durable = stream_durable;
  evaluate();
}

// The flusher has seen the record, so it sees that it is the one to wait for the worker.
bool StreamHorizon::may_sleep(uint32_t stream) {
  for (uint32_t worker = 0; worker < bounds_.workers(); ++worker) {
    if (bounds_.has_cleared(worker)) continue;
    if (bounds_.beside(worker).last_stream.load(std::memory_order_acquire) == stream) return false;
  }
  const std::lock_guard guard(mutex_);
  evaluate();
  return true;
}

// The mutex is held.
void StreamHorizon::evaluate() {
  const Lsn now = oldest_unpublished();  // before the ends
  Lsn lowest = now;
  for (uint32_t i = 0; i < streams_.size(); ++i) {
    Stream& stream = streams_[i];
    for (; !stream.marks.empty() && stream.marks.front().end <= stream.durable; stream.marks.pop()) {
      stream.clock = std::max(stream.clock, stream.marks.front().gsn);
    }
    if (end_of(i) <= stream.durable) stream.clock = std::max(stream.clock, now);
    lowest = std::min(lowest, stream.clock);
  }
  if (lowest <= durable()) return;
  durable_->store(lowest.value, std::memory_order_release);
  risen_.notify_all();
}

bool StreamHorizon::await(Lsn lsn) {
  {
    const std::lock_guard guard(mutex_);
    evaluate();
  }
  risen_.await([&] { return lsn < durable() || has_failed(); });
  return lsn < durable();
}

void StreamHorizon::fail() {
  failed_.store(true, std::memory_order_release);
  risen_.notify_all();
}

}  // namespace mneme
