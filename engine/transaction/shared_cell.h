// Shared cell: a column of a row in place to which several threads add at the same time.
//
// Invariants  whole numbers of 2, 4 or 8 bytes, aligned to their size (row_layout.h), NOT NULL, that
//             meanwhile no thread reads or stores to. Sums are taken modulo the cell's width: the last one is
//             right if it fits, whatever those between did, and all orders give the same.
// Threads     any number. Relaxed: a thread that reads the cell afterwards is ordered behind all that added
//             by other means, the end of replay; and no other data is published by it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/check.h"

namespace mneme {

template <typename Stored>
void add_to_cell(std::byte* cell, int64_t amount) {
  // Signed atomics wrap around.
  std::atomic_ref<Stored>(*reinterpret_cast<Stored*>(cell))
      .fetch_add(static_cast<Stored>(amount), std::memory_order_relaxed);
}

template <typename Stored>
void subtract_from_cell(std::byte* cell, int64_t amount) {
  std::atomic_ref<Stored>(*reinterpret_cast<Stored*>(cell))
      .fetch_sub(static_cast<Stored>(amount), std::memory_order_relaxed);
}

// Calls change.operator()<Stored>() for a cell of so many bytes.
template <typename Change>
void with_cell_type(uint32_t bytes, Change&& change) {
  switch (bytes) {
    case 2:
      return change.template operator()<int16_t>();
    case 4:
      return change.template operator()<int32_t>();
    case 8:
      return change.template operator()<int64_t>();
    default:
      CHECK(false && "a cell that can be added to");
  }
}

}  // namespace mneme
