// Time zone: how far a zone's clocks are from UTC, by the system's zone files.
//
// Names       a file's, as Europe/Berlin; abbreviations that PostgreSQL knows, as CET; a distance with
//             POSIX's sign, which is west of UTC, as +02:30.
// Files       /usr/share/zoneinfo, as RFC 8536 has them: untrusted, checked, of bounded size. A zone is read
//             once, and kept for the process.
// Clocks      a clock's time that a change skips is taken with the distance before the change, and one that
//             comes twice with the distance after it, as PostgreSQL does.
// Threads     any.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace mneme {

class TimeZone {
 public:
  virtual ~TimeZone() = default;

  // What a clock of the zone shows at a moment, and the moment at which it shows a time. Microseconds since
  // 2000-01-01.
  int64_t clock_of(int64_t moment) const;
  int64_t moment_of(int64_t clock) const;

 private:
  // Seconds east of UTC. `seconds`: since 1970.
  virtual int64_t distance_at(int64_t seconds) const = 0;
};

// Returns nullptr where there is no zone of this name.
std::shared_ptr<const TimeZone> find_time_zone(std::string_view name);

}  // namespace mneme
