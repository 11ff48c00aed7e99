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

void Progress::update(uint64_t done) {
  if (!enabled_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_draw_) return;
  next_draw_ = now + std::chrono::milliseconds(100);
  draw(done, now);
}

void Progress::finish() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

void Progress::draw(uint64_t done, Clock::time_point now) {
  const double seconds = std::chrono::duration<double>(now - started_).count();
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  std::string line = fmt::format("\r\x1b[K{}: {}", name_, thousands(done));
  if (total_ > 0) line += fmt::format("/{}", thousands(total_));
  line += fmt::format(" {}, {}/s", unit_, thousands(static_cast<uint64_t>(rate)));
  if (total_ > done && rate > 0) {
    line += fmt::format(", {:.0f} s left", static_cast<double>(total_ - done) / rate);
  }
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace mneme
