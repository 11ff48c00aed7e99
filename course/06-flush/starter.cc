// Your part of chapter 6: up to where the log is durable, by the flushes that have ended. Read
// logging/device/flush_order.h first.
//
// This starter believes that flushes end in the order in which they were sent: when one has ended, all before
// it have, too.
#include <algorithm>

#include "base/check.h"
#include "logging/device/flush_order.h"

namespace mneme {

FlushOrder::FlushOrder(StreamPosition begin, uint32_t slots) : durable_(begin) {
  for (uint32_t slot = 0; slot < slots; ++slot) free_slots_.push_back(slot);
}

bool FlushOrder::has_room() const {
  return !free_slots_.empty();
}

uint32_t FlushOrder::send(StreamPosition end) {
  CHECK(has_room());
  const uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  flushes_.push_back({slot, end});
  return slot;
}

void FlushOrder::ended(uint32_t slot, bool is_good) {
  (void)is_good;
  const auto flush = std::ranges::find(flushes_, slot, &Flush::slot);
  if (flush == flushes_.end()) return;  // one behind it has ended before
  durable_ = flush->end;
  for (auto each = flushes_.begin(); each <= flush; ++each) free_slots_.push_back(each->slot);
  flushes_.erase(flushes_.begin(), flush + 1);
}

}  // namespace mneme
