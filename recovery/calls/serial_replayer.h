// SerialReplayer: replays the logged calls one after the other, whole, in commit order (CLR). Where an ad-hoc
// transaction stands in that order, it installs the transaction's rows.
//
// Every other scheme must agree with this one. So it uses nothing of the analyzer.
// Source      PACMAN (SIGMOD 2017), section 2.2, CLR; Malviya et al., Rethinking Main Memory OLTP Recovery
//             (ICDE 2014).
#pragma once

#include <memory>

#include "recovery/log/replayer.h"

namespace mneme {

std::unique_ptr<Replayer> make_serial_replayer(const ReplayerSetting& setting);

// `records`: of a log that holds calls, in commit order, without skips.
// `visit`, where given, sees each call after it has run. One thread, whatever the options say.
Result<ReplayStatistics> replay_serially(Database& database, const Program& program, RecordStream& records,
                                         const ReplayOptions& options, const ReplayedCallVisitor& visit = {});
inline Result<ReplayStatistics> replay_serially(Database& database, const Program& program,
                                                std::span<const RecordView> records,
                                                const ReplayOptions& options,
                                                const ReplayedCallVisitor& visit = {}) {
  RecordStream stream(records);
  return replay_serially(database, program, stream, options, visit);
}

}  // namespace mneme
