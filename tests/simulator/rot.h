// Rot: single bytes of a directory that change while nobody looks, and what recovery makes of it.
//
// Judgement   each must be refused as damage of its file, or make no difference, or lie in the log's last blocks, past all that any other
//             block vouches for (docs/log_format.md): then the log ends sooner, not below that, and the state is that of what is left.
//             It must say so, but where the header of a stream's last block has changed: that can't be told from a block that was
//             never written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "logging/manifest.h"
#include "recovery/recovery_scheme.h"
#include "tests/simulator/ledger_judge.h"
#include "tests/simulator/scenario.h"
#include "tests/simulator/shared_state.h"

namespace mneme::simulator {

struct RotSetting {
  const Scenario& scenario;
  uint64_t lives;
  const Folders& folders;
  const Manifest& manifest;
  const std::vector<RecoveryScheme>& schemes;
  const std::string& archive;  // empty: none
  const std::string& digest;   // without rot
  const LedgerJudge& judge;    // it has judged the whole log
};

std::optional<std::string> examine_rot(const RotSetting& setting, LifeCounts& counts);

}  // namespace mneme::simulator
