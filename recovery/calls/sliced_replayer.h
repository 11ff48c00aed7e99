// SlicedReplayer: the scheme CLR-P. It analyses the procedures, compiles their slices, counts lanes, and
// gives the stretches to a ParallelReplayer.
//
// Flow        prepare(): graph -> SliceUnits -> machine code; replay(): lanes, ParallelReplayer
// Analysis    the finest that orders what comes, unless the setting names one: the first stretch with rows of
//             ad-hoc transactions makes it allow for them, from there on.
// Lanes       counted by a sample of the records; again when a stretch is far larger than the sample
//             (lane_count.h).
// Serial      a stretch with fewer records than the program has procedures, if others follow it in the log:
//             the analysis would take longer. The last program of a log is analysed in any case, since the
//             report shows it.
// Source      PACMAN (SIGMOD 2017), section 4.
#pragma once

#include <memory>

#include "recovery/log/replayer.h"

namespace mneme {

std::unique_ptr<Replayer> make_sliced_replayer(const ReplayerSetting& setting);

}  // namespace mneme
