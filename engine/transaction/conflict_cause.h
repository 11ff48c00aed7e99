// ConflictCause: why an attempt to run a transaction met another in its way, and how often.
//
// Each conflict is counted once, where it is decided, by the worker whose transaction gives up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mneme {

enum class ConflictCause : uint8_t {
  kRead,            // a row was locked, or had changed since its other columns were read
  kClaim,           // somebody else holds a key, or a row whose keys are to change
  kLock,            // a row to be written had changed since it was read, or stayed locked for too long
  kRowValidation,   // a row that was read has changed, or is being changed
  kNodeValidation,  // an index node that was searched has changed: another row may stand there (a phantom)
  kWaitDie,         // an older transaction held, or waited for, a lock in the way (lock_table.h)
};

inline constexpr std::array<std::string_view, 6> kConflictCauseNames = {
    "read", "claim", "lock", "row_validation", "node_validation", "wait_die"};
// By cause.
using ConflictCounts = std::array<uint64_t, kConflictCauseNames.size()>;

}  // namespace mneme
