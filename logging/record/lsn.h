// Lsn: a record's place in the commit order, counted from the database's birth; never reused.
//
// A transaction's LSN is its record's: the transaction's place in the serial order (see
// engine/transaction/transaction.h for why). 0 stands for the initial checkpoint: no record has it. The
// durable LSN always lies on a record boundary, so the record at `lsn` is durable if and only if lsn <
// durable. Where a record's bytes lie is a StreamPosition (stream_position.h).
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
// The first record of a new database.
inline constexpr Lsn kFirstLsn{64};

}  // namespace mneme
