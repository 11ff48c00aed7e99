// Session activity: what the sessions of a server do, for pg_stat_activity to show.
//
// Flow        the server, before a statement that may ask: set_activities() -> the session's values -> the
//             rows of the table, as of when the statement began
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "procedures/ir/session_values.h"

namespace mneme {

struct SessionActivity {
  // Microseconds since 2000-01-01 00:00:00 UTC; 0: there is no such time.
  struct Times {
    int64_t session = 0;
    int64_t transaction = 0;
    int64_t query = 0;
    int64_t state = 0;
  };

  int64_t pid = 0;
  std::string user = {};
  std::string database = {};
  std::string application = {};
  std::string state = {};  // "active", "idle", "idle in transaction", "idle in transaction (aborted)"
  std::string query = {};  // the last one, cut off
  bool waits_for_lock = false;
  Times times = {};
};

// They stand among the session's values under names that no function has.
void set_activities(SessionValues& session, std::span<const SessionActivity> activities);

}  // namespace mneme
