// RecoveryScheme: the ways to make a database of a checkpoint and a log, and which log serves which.
//
// Source      PACMAN (SIGMOD 2017), section 6.2, which names them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "logging/record/record_content.h"

namespace mneme {

enum class RecoveryScheme : uint8_t {
  kClr,   // serial replay of the command log
  kClrP,  // parallel replay of the command log
  kLlr,   // parallel replay of the logical log in any order, with latches: the last writer wins
  kLlrP,  // parallel replay of the logical log, latch-free
  kPlr,   // parallel replay of the physical log in any order, with latches; then the indexes
};

// "clr", "clr-p", "llr", "llr-p", "plr"; an error lists them.
Result<RecoveryScheme> recovery_scheme(std::string_view name);
std::string_view name_of(RecoveryScheme scheme);

inline constexpr std::array kRecoverySchemes = {RecoveryScheme::kClr, RecoveryScheme::kClrP,
                                                RecoveryScheme::kLlr, RecoveryScheme::kLlrP,
                                                RecoveryScheme::kPlr};

constexpr bool replays_calls(RecoveryScheme scheme) {
  return scheme == RecoveryScheme::kClr || scheme == RecoveryScheme::kClrP;
}

// Where tables come first, and all indexes are built from them; else from the checkpoint's rows, and grow
// with replay.
constexpr bool builds_indexes_last(RecoveryScheme scheme) {
  return scheme == RecoveryScheme::kPlr;
}

// Refused, with the reason, where the log does not hold what the scheme replays. `image`: of its updated
// rows.
Result<void> check_served(RecoveryScheme scheme, RecordContent records, TupleImage image);
// The fastest that the log serves. What it recovers can be opened for work.
RecoveryScheme default_scheme(RecordContent records, TupleImage image);

// To go on with, rows must lie where the log says: later records follow versions in the same slots. PLR alone
// leaves them there; the other schemes put what came after the checkpoint where there is room. So where the
// log holds locations, and images that PLR can use, only what it has recovered may be opened for work. (A
// checkpoint at once would do, too, and cost more than PLR.)
Result<void> check_served_for_work(RecoveryScheme scheme, RecordContent records, TupleImage image);

}  // namespace mneme
