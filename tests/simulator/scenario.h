// Scenario: all that decides how a simulated database lives and dies: a few numbers, drawn from a seed, that
// can be told, read again, and made smaller.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mneme::simulator {

struct Scenario {
  uint64_t seed = 1;
  uint64_t lives = 1;     // each ends with a power failure, or a kill
  uint64_t kills = 0;     // 1: about every other life but the last is killed, and no power fails
  uint64_t creation = 0;  // 1: power fails once the database is made; more: within 2^creation steps
  uint64_t workers = 1;
  uint64_t calls = 1;   // of each worker, in each life
  uint64_t window = 1;  // calls of a worker that wait for their acknowledgement, at most
  uint64_t pause = 0;   // of a worker before each call, in microseconds
  // 2^steps at most before a life's power failure: one that is over before fails after its end
  uint64_t steps = 0;
  uint64_t records = 0;  // RecordContent
  uint64_t buffer = 0;   // LogBufferKind, where there is a choice
  uint64_t layout = 0;   // LogLayout
  uint64_t streams = 1;  // of that layout
  uint64_t pages = 0;    // 1: partitioned by pages
  uint64_t checkpoints = 0;
  uint64_t ad_hoc = 0;   // percent
  uint64_t locking = 0;  // 1: two-phase locking; 2: until durable
  uint64_t fault = 0;    // Fault, of each life but the last
  uint64_t fault_at = 1;
  uint64_t slowness = 1;  // of the disk
  // where checkpoints are taken: power fails soon after a CheckpointStep of one, from 1 on; 0: wherever
  uint64_t aim = 0;
  uint64_t device = 0;   // 1: remote
  uint64_t servers = 1;  // of that device: 1 or 3
  uint64_t network = 0;  // bits of NetworkFault, in each life but the last
  uint64_t calm = 1;     // between two of those, in hundreds of microseconds
  // 1, of that device: each life finds a file of the segment's name that it begins with
  uint64_t leftovers = 0;
  // 1, where checkpoints are taken: no archive keeps the segments that one has passed, so they are reused
  uint64_t reuse = 0;
  uint64_t rot = 0;  // after each power failure so many bytes change in turn, and recovery must notice

  static Scenario draw(uint64_t seed);
  // As it is, but for what doesn't go with the device.
  Scenario remote() const;
  // "seed=1 lives=2 ...": what parse() takes.
  std::string text() const;
  static Result<Scenario> parse(std::string_view text);
  // Each is simpler in one respect.
  std::vector<Scenario> simpler() const;
};

}  // namespace mneme::simulator
