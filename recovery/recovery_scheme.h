// RecoveryScheme: the ways to make a database of a checkpoint and a log, and which log serves which.
//
// Source      PACMAN (SIGMOD 2017), section 6.2, which names them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "logging/record_content.h"

namespace mneme {

enum class RecoveryScheme : uint8_t {
  kClr,   // serial replay of the command log
  kClrP,  // parallel replay of the command log
  kLlr,   // parallel replay of the logical log in any order, with latches: the last writer wins
  kLlrP,  // parallel replay of the logical log, latch-free
};

// "clr", "clr-p", "llr", "llr-p"; an error lists them.
Result<RecoveryScheme> recovery_scheme(std::string_view name);
std::string_view name_of(RecoveryScheme scheme);

inline constexpr std::array kRecoverySchemes = {RecoveryScheme::kClr, RecoveryScheme::kClrP,
                                                RecoveryScheme::kLlr, RecoveryScheme::kLlrP};

constexpr bool replays_calls(RecoveryScheme scheme) {
  return scheme == RecoveryScheme::kClr || scheme == RecoveryScheme::kClrP;
}

// Refused, with the reason, where the log does not hold what the scheme replays.
Result<void> check_served(RecoveryScheme scheme, RecordContent records);
// The fastest that the log serves.
RecoveryScheme default_scheme(RecordContent records);

}  // namespace mneme
