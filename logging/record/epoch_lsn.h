// The LSN of the layout `epoch` (epoch_log.h): a commit sequence number whose high part is the epoch.
//
//     bit 60 ... 24   epoch
//     bit 23 ...  0   place: how many records were drawn before, since the database's birth, modulo 2^24
//
// Invariants  places have no gaps, from epoch to epoch and from incarnation to incarnation: drawing a record
//             adds 1, beginning an epoch adds 2^24, which leaves the place. So a reader knows where each
//             record belongs, and that none is missing. A place that runs over carries into the epoch: the
//             next one has begun, a little early. So an epoch never holds more than 2^24 records, and no LSN
//             comes twice. 2^37 epochs of 5 ms are 21 years.
#pragma once

#include <compare>
#include <cstdint>

#include "logging/record/lsn.h"

namespace mneme {

inline constexpr uint32_t kPlaceBits = 24;
inline constexpr uint64_t kPlacesPerEpoch = uint64_t{1} << kPlaceBits;

struct LogEpoch {
  uint64_t value = 0;

  constexpr LogEpoch() = default;
  constexpr explicit LogEpoch(uint64_t v) : value(v) {}
  constexpr auto operator<=>(const LogEpoch&) const = default;
  constexpr LogEpoch next() const { return LogEpoch{value + 1}; }
};

constexpr LogEpoch epoch_of(Lsn lsn) {
  return LogEpoch{lsn.value >> kPlaceBits};
}
constexpr uint64_t place_in_epoch(Lsn lsn) {
  return lsn.value & (kPlacesPerEpoch - 1);
}
// No record of an earlier epoch lies at or above this, none of this one below.
constexpr Lsn begin_of(LogEpoch epoch) {
  return Lsn{epoch.value << kPlaceBits};
}
// The LSN of the epoch's first record, where `records` come before it since `from`.
constexpr Lsn first_of(LogEpoch epoch, Lsn from, uint64_t records) {
  return begin_of(epoch) + ((from.value + records) & (kPlacesPerEpoch - 1));
}

}  // namespace mneme
