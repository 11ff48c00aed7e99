// Progress: one line on a terminal that tells how far long work is: stage, done of total, rate, time left.
//
// Invariants  writes nothing unless standard error is a terminal and --quiet is off, and leaves no half line behind:
//             finish() (or the next stage) ends it.
// Threads     one.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace mneme {

class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Ends the stage before. `total` 0: not known. `unit` in the plural: "transactions".
  void stage(const std::string& name, uint64_t total, const std::string& unit);

  // Ends the stage before, too: a line without numbers.
  void say(const std::string& line);

  // What is known better than from the stage's beginning and total.
  struct Pace {
    double per_second = 0;
    double seconds_left = 0;
  };
  // Redraws at most ten times a second.
  void update(uint64_t done, std::optional<Pace> pace = std::nullopt);
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  Pace average_pace(uint64_t done, Clock::time_point now) const;
  void draw(uint64_t done, const Pace& pace);

  const bool enabled_;
  bool drawn_ = false;
  std::string name_;
  std::string unit_;
  uint64_t total_ = 0;
  Clock::time_point started_;
  Clock::time_point next_draw_;
};

}  // namespace mneme
