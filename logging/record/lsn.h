// Lsn: a position in the log's stream of record bytes, counted from the database's birth; never reused.
//
// A record's LSN is the position of its first byte, and a transaction's LSN is its record's: the
// transaction's place in the serial order (see engine/transaction/transaction.h for why). 0 stands for the
// initial checkpoint: no record has it. The durable LSN always lies on a record boundary, so the record at
// `lsn` is durable if and only if lsn < durable.
#pragma once

#include <compare>
#include <cstdint>

namespace mneme {

struct Lsn {
  uint64_t value = 0;

  constexpr Lsn() = default;
  constexpr explicit Lsn(uint64_t v) : value(v) {}
  constexpr auto operator<=>(const Lsn&) const = default;
  constexpr Lsn operator+(uint64_t bytes) const { return Lsn{value + bytes}; }
};

inline constexpr Lsn kCheckpointLsn{0};
// Where the first record of a new database stands.
inline constexpr Lsn kFirstLsn{64};

}  // namespace mneme
