// SampledSchedule: estimates how long CLR-P would take for a sample of calls, were some procedures' calls
// logged by the rows that they changed.
//
// Flow        load(samples) -> estimate(which procedures are logged by rows) -> for each block the placement
//             that suits it (lane_planner.h) -> pieces in lanes (piece_dispatch.h) -> a virtual clock a lane
//             -> the longest path, and all work
// Model       a piece begins once its lanes have run what stands before it, and once the pieces of its own
//             transaction have ended in the blocks that its block waits for. So there are as many threads as
//             are wanted, and batches cost no one anything: what is left is what no number of threads
//             shortens.
// Costs       counted, not timed, in operations: those of a slice or, where these are more, the rows that the
//             call changed in the tables that the slice writes; one for each logged row. To locate a piece
//             and to meet in several lanes costs what it does for the planner.
// Rows        with any among the calls, CLR-P's analysis leaves additions in order
//             (AnalysisOptions::for_ad_hoc), and a change that the graph does not order is a barrier: it
//             waits for all before it, and all behind it waits.
// Lanes       a slice whose keys come from what other slices find cannot be located before these have run.
//             Its pieces are placed by the rows that the call changed, or where these do not say, in a lane
//             of the call's own.
// Invariants  the same samples give the same estimate.
// Threads     one owner.
// Source      PACMAN (SIGMOD 2017), sections 4.3 to 4.5; Yao, Agrawal, Chen, Ooi, Wu: Adaptive Logging
//             (SIGMOD 2016), section 3, choose by the cost of replaying a transaction on its own.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/schema/change_codec.h"
#include "engine/schema/schema.h"
#include "procedures/binder/program.h"
#include "procedures/session/call_choices.h"

namespace mneme {

struct ScheduleEstimate {
  double path = 0;  // the longest one, in operations
  double work = 0;  // of all pieces, decoding included
  uint64_t log_bytes = 0;
  uint64_t barriers = 0;
  std::vector<double> on_path;  // by procedure: its pieces' part of the path

  // No replay on so many cores is shorter.
  double length(uint32_t cores) const;
};

class SampledSchedule {
 public:
  // Both outlive it. `cores`: of the replay.
  SampledSchedule(const Program& program, const Schema& schema, uint32_t cores);
  ~SampledSchedule();

  // Takes the place of the samples before; they must be valid until the next load(). In commit order. Fails
  // if they are none of the program's calls.
  Result<void> load(std::span<const CallSample> samples);
  // `by_rows`: by procedure; a sample that cannot be logged so is taken as a call, and the other way round.
  // `log_has_rows`: among other calls, which the sample doesn't show.
  ScheduleEstimate estimate(const std::vector<bool>& by_rows, bool log_has_rows);

 private:
  class Model;
  class PlacedPieces;

  const Program& program_;
  const Schema& schema_;
  const ChangeCodec codec_;
  const uint32_t cores_;
  std::span<const CallSample> samples_;
  // What each sample changed; an empty record where its rows are not known.
  class Changes;
  std::unique_ptr<Changes> changes_;
  std::array<std::unique_ptr<Model>, 2> models_;  // of logs of calls alone, and with rows; made when needed
};

}  // namespace mneme
