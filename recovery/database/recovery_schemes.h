// The table of recovery schemes: each by its name, which logs each can read, and which is a log's default.
//
// Adding      a scheme is a header and a source file with a Replayer (recovery/log/replayer.h), and a line of
//             the table in recovery_schemes.cc.
// Errors      a scheme that a log does not serve: kInvalidArgument, with the reason and the scheme that does.
// Threads     any.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "logging/record/record_content.h"
#include "recovery/log/recovery_scheme.h"

namespace mneme {

// All schemes. Of those that a log serves the last is its default.
std::span<const RecoveryScheme> recovery_schemes();

// The scheme of this name; an error lists all names.
Result<const RecoveryScheme*> recovery_scheme(std::string_view name);

// The scheme that shows calls with their results (RecoveryScheme::shows_calls).
const RecoveryScheme& scheme_that_shows_calls();

// Fails with kInvalidArgument if the log does not hold what the scheme replays. `image`: what it holds of an
// updated row.
Result<void> check_served(const RecoveryScheme& scheme, RecordContent records, TupleImage image);

// The fastest scheme that the log serves. What it recovers can be opened for work.
const RecoveryScheme& default_scheme(RecordContent records, TupleImage image);

// Fails like check_served(), and if a database that the scheme recovers cannot be worked on. Later records of
// a log with locations follow versions in the same slots, so rows must lie where the log says. A scheme that
// replays located rows leaves them there; the others put what came after the checkpoint where there is room.
// So where the log holds locations, and images that such a scheme can use, only that scheme may open it. (A
// checkpoint at once would do, too, and cost more than that replay.)
Result<void> check_served_for_work(const RecoveryScheme& scheme, RecordContent records, TupleImage image);

}  // namespace mneme
