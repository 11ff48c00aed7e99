#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "cli/text.h"

namespace mneme {

Progress::Progress(bool quiet) : enabled_(!quiet && isatty(STDERR_FILENO) == 1) {}

void Progress::stage(const std::string& name, uint64_t total, const std::string& unit) {
  finish();
  name_ = name;
  unit_ = unit;
  total_ = total;
  started_ = Clock::now();
  next_draw_ = started_;
}

void Progress::say(const std::string& line) {
  finish();
  if (!enabled_) return;
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::update(uint64_t done, std::optional<Pace> pace) {
  if (!enabled_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_draw_) return;
  next_draw_ = now + std::chrono::milliseconds(100);
  draw(done, pace ? *pace : average_pace(done, now));
}

Progress::Pace Progress::average_pace(uint64_t done, Clock::time_point now) const {
  const double seconds = std::chrono::duration<double>(now - started_).count();
  if (done == 0 || seconds <= 0) return {};
  const double rate = static_cast<double>(done) / seconds;
  return {rate, total_ > done ? static_cast<double>(total_ - done) / rate : 0};
}

void Progress::finish() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

void Progress::draw(uint64_t done, const Pace& pace) {
  std::string line = fmt::format("\r\x1b[K{}: {}", name_, thousands(done));
  if (total_ > 0) line += fmt::format("/{}", thousands(total_));
  line += fmt::format(" {}, {}/s", unit_, thousands(static_cast<uint64_t>(pace.per_second)));
  if (pace.seconds_left > 0) line += fmt::format(", {:.0f} s left", pace.seconds_left);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace mneme
