// Concurrency: how a database keeps its transactions apart. Chosen once, before the first of them begins.
#pragma once

#include <cstdint>

namespace mneme {

enum class ConcurrencyControl : uint8_t {
  kOptimistic,       // reads are validated at the commit (transaction.h)
  kTwoPhaseLocking,  // rows are locked before they are read (row_locks.h)
};

struct Concurrency {
  ConcurrencyControl control = ConcurrencyControl::kOptimistic;
  // For two-phase locking. False: the rows that a transaction wrote stay locked until it is durable.
  bool early_lock_release = true;
};

}  // namespace mneme
