// Simulated life: a scenario from a new database to its last power failure, and the examination after each.
//
// Flow        for each life: a child opens the database (which recovers it), runs clients, takes checkpoints,
//             and loses power at some step, or is killed there; another child, in the real world, recovers
//             what is left by every scheme and judges it (examination.h). Power may fail while the database
//             is made, too: then it is there, or can be made again.
// Threads     one: it forks. Nothing of the engine's runs in the calling process.
#pragma once

#include <cstdint>
#include <string>

#include "tests/simulator/scenario.h"
#include "tests/simulator/simulated_disk.h"
#include "tests/simulator/simulated_servers.h"

namespace mneme::simulator {

struct LifeCounts {
  uint64_t power_failures = 0;
  uint64_t kills = 0;          // that took the process alone
  uint64_t while_opening = 0;  // of those, before the database was open
  uint64_t after_the_end = 0;  // or when it had been closed
  uint64_t ended_by_faults = 0;
  uint64_t steps = 0;
  uint64_t acknowledged = 0;
  uint64_t lost_calls = 0;        // sent, never answered, and not in the log
  uint64_t checkpoints = 0;       // taken by lives that came to their end
  uint64_t from_checkpoints = 0;  // examinations that began with one of those

  uint64_t stops = 0;  // of threads, for a while, while others went on

  ServerCounts network{};
  DiskCounts disk{};

  uint64_t rotten = 0;          // bytes that were changed, one at a time
  uint64_t rot_refused = 0;     // of those, damage that recovery named
  uint64_t rot_at_the_end = 0;  // or a log that ended before it, and said so; the rest made no difference
  uint64_t stale_blocks = 0;    // that former segments left in reused ones, at the ends of lives

  LifeCounts& operator+=(const LifeCounts& other);
  bool operator==(const LifeCounts&) const = default;
};

struct Outcome {
  LifeCounts counts;
  std::string fault;  // empty: all was as it should be
};

// `folder` is made anew, and removed where all was well.
Outcome live(const Scenario& scenario, const std::string& folder);

}  // namespace mneme::simulator
