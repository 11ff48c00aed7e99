// ClientActivity: what a client's session does, for other sessions to see (pg_stat_activity).
//
// Threads     begin_session(), begin_query(), set_application(), end(): the thread that has the session.
//             look(): any.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "procedures/catalog/session_activity.h"

namespace mneme {

class ClientActivity {
 public:
  // PostgreSQL's track_activity_query_size, without the zero at its end.
  static constexpr size_t kMostQueryBytes = 1023;

  void begin_session(int64_t number, const std::string& user, const std::string& database);
  void set_application(const std::string& name);
  // A statement begins, or is tried again.
  void begin_query(std::string_view text, bool is_in_block);
  // The session is idle. `state`: that of its block, as the protocol has it: I, T or E.
  void end(char state);
  // Whether the statement that runs waits for other transactions. Relaxed: a note to look at.
  std::atomic<bool>& waits_for_lock() { return waits_for_lock_; }

  // Returns nullopt before the session has begun.
  std::optional<SessionActivity> look() const;

 private:
  std::atomic<bool> waits_for_lock_{false};
  mutable std::mutex mutex_;
  SessionActivity shown_;  // guarded by mutex_
};

}  // namespace mneme
