#include "logging/device/flush_order.h"

#include <algorithm>

#include "base/check.h"

namespace mneme {

FlushOrder::FlushOrder(StreamPosition begin, uint32_t slots) : durable_(begin) {
  for (uint32_t slot = 0; slot < slots; ++slot) free_slots_.push_back(slot);
}

bool FlushOrder::has_room() const {
  return !has_failed_ && !free_slots_.empty();
}

uint32_t FlushOrder::send(StreamPosition end) {
  CHECK(has_room());
  const uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  flushes_.push_back({slot, end});
  return slot;
}

void FlushOrder::ended(uint32_t slot, bool is_good) {
  const auto flush =
      std::ranges::find_if(flushes_, [&](const Flush& each) { return each.slot == slot && !each.has_ended; });
  CHECK(flush != flushes_.end());
  free_slots_.push_back(slot);
  if (!is_good) return fail();
  flush->has_ended = true;
  while (!has_failed_ && !flushes_.empty() && flushes_.front().has_ended) {
    durable_ = flushes_.front().end;
    flushes_.pop_front();
  }
}

}  // namespace mneme
