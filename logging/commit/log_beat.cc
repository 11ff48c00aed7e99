#include "logging/commit/log_beat.h"

namespace mneme {

void LogBeat::run(CommitLog& log, WorkerId helper, std::chrono::milliseconds interval,
                  const std::stop_token& stop) {
  for (Lsn before = log.durable();;) {
    {
      std::unique_lock lock(mutex_);
      ended_.wait_for(lock, stop, interval, [] { return false; });
    }
    if (stop.stop_requested()) return;
    if (log.durable() == before) {
      if (!log.await_space(helper, 0)) return;
      const Lsn lsn = log.reserve(helper, 0);
      log.fill(helper, lsn, RecordKind::kSkip, {});
      if (!log.wait_durable(lsn)) return;
    }
    before = log.durable();
  }
}

}  // namespace mneme
