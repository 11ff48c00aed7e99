// Rot: single bytes of a directory change while no process has it open. Checks what recovery makes of it.
//
// Judgement   each must be refused as damage of its file, or make no difference. Alone where a block is left
//             as a crash may leave it, with a sector of zeros, and lies past all that any other block vouches
//             for (docs/log_format.md), the log may end sooner: not below that, it must say so, and the state
//             is that of what is left.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "logging/directory/manifest.h"
#include "recovery/database/recovery_schemes.h"
#include "tests/simulator/ledger_judge.h"
#include "tests/simulator/scenario.h"
#include "tests/simulator/shared_state.h"

namespace mneme::simulator {

struct RotSetting {
  const Scenario& scenario;
  uint64_t lives;
  const Folders& folders;
  const Manifest& manifest;
  const std::vector<const RecoveryScheme*>& schemes;
  const std::string& archive;  // empty: none
  const std::string& digest;   // without rot
  const LedgerJudge& judge;
  bool is_whole;  // that has judged the whole log
};

std::optional<std::string> examine_rot(const RotSetting& setting, LifeCounts& counts);

}  // namespace mneme::simulator
