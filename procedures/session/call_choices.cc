#include "procedures/session/call_choices.h"

#include <algorithm>
#include <new>

#include "base/check.h"
#include "base/spin.h"

namespace mneme {

CallChoices::CallChoices(size_t procedures, size_t most_samples)
    : procedures_(procedures),
      most_samples_(most_samples),
      states_(std::make_unique<std::atomic<uint8_t>[]>(procedures)),
      logged_(std::make_unique<std::atomic<uint64_t>[]>(procedures)),
      places_(std::make_unique<Place[]>(most_samples)) {}

void CallChoices::add(const CallSample& sample) {
  const size_t number = next_->fetch_add(1, std::memory_order_acq_rel);
  const size_t size = window_size();
  if (number >= size) return;
  if (number + 1 == size) stop_sampling();
  copy(sample, places_[number]);
  if (filled_->fetch_add(1, std::memory_order_acq_rel) + 1 < size) return;
  // Under the mutex, so that the adviser is not between its look at the count and its sleep.
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

void CallChoices::copy(const CallSample& sample, Place& place) {
  place.sample = {};
  const size_t bytes = sample.call.size() + sample.rows.size();
  if (window_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes > kMostWindowBytes) return;
  try {
    place.bytes.resize(bytes);
  } catch (const std::bad_alloc&) {
    return;
  }
  std::byte* const rows = std::ranges::copy(sample.call, place.bytes.data()).out;
  std::ranges::copy(sample.rows, rows);
  place.sample = sample;
  place.sample.call = ByteSpan(place.bytes).first(sample.call.size());
  place.sample.rows = ByteSpan(place.bytes).subspan(sample.call.size());
}

void CallChoices::choose(ProcedureId procedure, bool by_rows) {
  std::atomic<uint8_t>& state = states_[procedure.value];
  if (by_rows)
    state.fetch_or(kByRows, std::memory_order_relaxed);
  else
    state.fetch_and(static_cast<uint8_t>(~kByRows), std::memory_order_relaxed);
}

void CallChoices::stop_sampling() {
  for (size_t p = 0; p < procedures_; ++p)
    states_[p].fetch_and(static_cast<uint8_t>(~kSampled), std::memory_order_relaxed);
}

void CallChoices::open_window(size_t samples) {
  CHECK(samples > 0 && samples <= most_samples_ && !wants_samples());
  window_size_.store(samples, std::memory_order_relaxed);
  window_bytes_.store(0, std::memory_order_relaxed);
  filled_->store(0, std::memory_order_relaxed);
  next_->store(0, std::memory_order_release);
  for (size_t p = 0; p < procedures_; ++p) states_[p].fetch_or(kSampled, std::memory_order_relaxed);
}

bool CallChoices::await_full(std::chrono::nanoseconds longest) {
  await(longest, true);
  return filled_->load(std::memory_order_acquire) >= window_size();
}

void CallChoices::rest(std::chrono::nanoseconds longest) {
  await(longest, false);
}

void CallChoices::await(std::chrono::nanoseconds longest, bool full_is_enough) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, longest, [&] {
    const bool is_full = filled_->load(std::memory_order_acquire) >= window_size();
    return is_woken_ || (full_is_enough && is_full);
  });
}

void CallChoices::wake() {
  const std::lock_guard lock(mutex_);
  is_woken_ = true;
  changed_.notify_all();
}

std::vector<CallSample> CallChoices::close_window() {
  const size_t drawn = std::min(next_->exchange(kClosed, std::memory_order_acq_rel), window_size());
  stop_sampling();
  for (uint32_t tries = 0; filled_->load(std::memory_order_acquire) < drawn; ++tries) spin_pause(tries);
  std::vector<CallSample> samples;
  for (size_t i = 0; i < drawn; ++i) {
    const CallSample& sample = places_[i].sample;
    if (!sample.call.empty() || !sample.rows.empty()) samples.push_back(sample);
  }
  std::ranges::sort(samples, {}, &CallSample::lsn);
  return samples;
}

}  // namespace mneme
