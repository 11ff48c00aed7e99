// DemandStudy: a recovery on demand under a given load: the workload's own calls run while the log is being
// replayed, and are rolled back, so that the database ends as the recovery leaves it.
//
// Flow        recover() with on_demand -> study_demand(): workers run calls until all is settled
// Threads     one a worker, beside those that replay the rest; the caller waits.
// Units       seconds since the recovery began.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/output/output.h"
#include "recovery/database/recover.h"
#include "recovery/demand/demand_recovery.h"
#include "workloads/shared/workload.h"

namespace mneme {

struct DemandStudy {
  // It was interrupted: so much of the rest had been settled. The rest goes on until `recovered` is
  // destroyed.
  std::optional<double> settled_share;
  uint64_t calls = 0;                                       // that ran to their end
  std::optional<double> first_transaction_seconds;          // when the first one had
  std::vector<std::pair<double, double>> calls_per_second;  // by time: of steps of kStep
  static constexpr double kStepSeconds = 0.01;
};

// `recovered`: with a rest. `workload`: nullptr where `workers` is 0, and nobody asks. Starts the rest, and
// returns when it is settled, or once `is_interrupted`, which it asks often, returns true. The report has the
// replay's statistics and seconds, if it is settled.
Result<DemandStudy> study_demand(RecoveredDatabase& recovered, const Workload* workload, uint32_t workers,
                                 const std::function<bool()>& is_interrupted);

Json demand_json(const DemandReport& report);
std::string demand_text(const DemandReport& report);
// What is added of the study.
void add_study(Json& json, const DemandStudy& study);
std::string study_text(const DemandStudy& study);

}  // namespace mneme
