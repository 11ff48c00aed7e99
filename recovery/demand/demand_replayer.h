// DemandReplayer: opens a stretch of the log for replay on demand, in place of replaying it.
//
// Flow        recover() -> replay(): analysis, machine code, DemandReplay::open() -> take_rest()
// Threads     one owner.
#pragma once

#include <memory>

#include "recovery/calls/call_replayer.h"
#include "recovery/demand/demand_recovery.h"

namespace mneme {

class DemandReplayer final : public CallReplayer {
 public:
  // `workers`: that transactions run on. The stretch that comes is kept in memory, and longer than none.
  DemandReplayer(const ReplayerSetting& setting, uint32_t workers)
      : CallReplayer(setting), workers_(workers) {}

  // After replay() has gone well.
  std::unique_ptr<DemandRecovery> take_rest() { return std::move(rest_); }

 private:
  Result<ReplayStatistics> replay_calls(RecordStream& stretch, const Progress& progress) override;

  const uint32_t workers_;
  std::unique_ptr<DemandRecovery> rest_;
};

}  // namespace mneme
