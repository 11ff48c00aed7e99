// Examination: what a scenario's life has left, recovered by every scheme and judged.
//
// Judgement   what clients were told holds (ledger_judge.h); what a former examination found in the log is
//             there still, and nothing else before its end; all schemes recover one state, whose indexes lead
//             to its rows and to nothing else; a byte that changes on the disk is named as damage, or makes
//             no difference, or is past what a later block covers (rot.h).
// Kills       what an engine that was killed had written, and not synced, is there as the disk caches it. It
//             has to stay once the next life has opened it, and may go with a power failure before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tests/simulator/scenario.h"
#include "tests/simulator/shared_state.h"

namespace mneme::simulator {

enum class LifesEnd : uint8_t { kPowerFailed, kKilled };

// A sentence: what is not as it should be. `lives`: so many have been.
std::optional<std::string> examine(const Scenario& scenario, uint64_t lives, LifesEnd end,
                                   const Folders& folders, Shared& shared);

}  // namespace mneme::simulator
