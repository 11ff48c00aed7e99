// Slot ranges: all slots of a database's tables, in pieces that threads take one after the other.
//
// Invariants  every slot below its table's slot_end(), as it is when this is made, is handed out once.
// Threads     next, stop: any.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/transaction/database.h"

namespace mneme {

struct SlotRange {
  TableId table;
  uint64_t begin = 0;
  uint64_t end = 0;
};

class SlotRanges {
 public:
  explicit SlotRanges(const Database& database) {
    for (const TableDefinition& table : database.catalog().tables()) {
      const uint64_t end = database.table(table.id).rows().slot_end();
      for (uint64_t begin = 0; begin < end; begin += kRangeSlots)
        ranges_.push_back({table.id, begin, std::min(end, begin + kRangeSlots)});
    }
  }

  std::optional<SlotRange> next() {
    const size_t taken = next_.fetch_add(1, std::memory_order_relaxed);
    if (taken >= ranges_.size()) return std::nullopt;
    return ranges_[taken];
  }
  // No thread gets another.
  void stop() { next_.store(ranges_.size(), std::memory_order_relaxed); }

 private:
  static constexpr uint64_t kRangeSlots = 8192;

  std::vector<SlotRange> ranges_;
  // Relaxed: it hands out numbers and nothing else.
  std::atomic<size_t> next_{0};
};

}  // namespace mneme
