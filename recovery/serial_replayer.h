// SerialReplayer: CLR, replays the logged calls one after the other, whole, in commit order.
//
// What every other way of replaying must agree with; so it uses nothing of the analyzer.
// Source      PACMAN (SIGMOD 2017), section 2.2, CLR; Malviya et al., Rethinking Main Memory OLTP Recovery (ICDE 2014).
#pragma once

#include "base/function_ref.h"
#include "recovery/replay.h"

namespace mneme {

// A call as it was run again, and the INOUT parameters' values that it ended with. Valid during the callback.
struct ReplayedCall {
  Lsn lsn;
  const Call& call;
  std::span<const Argument> results;
};
using ReplayedCallVisitor = std::function<void(const ReplayedCall&)>;

// `visit`, where given, sees each call after it has run. One thread, whatever the options say.
Result<ReplayStatistics> replay_serially(Database& database, const Program& program, CommandSource& source,
                                         const ReplayOptions& options, const ReplayedCallVisitor& visit = {});

}  // namespace mneme
