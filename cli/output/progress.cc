#include "cli/output/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <ctime>

#include "base/processor_time.h"
#include "cli/output/text.h"

namespace mneme {
namespace {

constexpr std::chrono::milliseconds kInterval(500);
constexpr std::array<std::string_view, 4> kStyleNames = {"auto", "lines", "json", "off"};

// How many characters a line may have that can be drawn over: one that wraps can't.
size_t most_characters() {
  winsize window{};
  const bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1;
  return is_known ? window.ws_col - 1u : std::string::npos;
}

}  // namespace

std::string fitted_line(std::string line, size_t most) {
  if (line.size() <= most) return line;
  // A part of it that is cut would be read as another number.
  const size_t end = line.rfind(", ", most);
  line.resize(end != std::string::npos ? end : most);
  return line;
}

Result<ProgressStyle> progress_style(std::string_view name) {
  for (size_t i = 0; i < kStyleNames.size(); ++i) {
    if (kStyleNames[i] == name) return static_cast<ProgressStyle>(i);
  }
  return invalid_argument("{} is no style of progress: choose one of {}", name, fmt::join(kStyleNames, ", "));
}

Progress::Form Progress::form_of(ProgressStyle style) {
  switch (style) {
    case ProgressStyle::kAuto:
      return isatty(STDERR_FILENO) == 1 ? Form::kTerminalLine : Form::kNothing;
    case ProgressStyle::kLines:
      return Form::kLines;
    case ProgressStyle::kJson:
      return Form::kJson;
    case ProgressStyle::kOff:
      break;
  }
  return Form::kNothing;
}

Progress::Progress(ProgressStyle style) : form_(form_of(style)) {
  if (form_ != Form::kNothing) thread_ = std::thread([this] { tick(); });
}

Progress::~Progress() {
  finish();
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ending_.notify_one();
  thread_.join();
}

void Progress::stage(std::string_view work, std::string_view name, uint64_t total, std::string_view unit,
                     Ask ask) {
  if (form_ == Form::kNothing) return;
  std::lock_guard lock(mutex_);
  end_stage();
  work_ = work;
  name_ = name;
  unit_ = unit;
  total_ = total;
  now_ = {};
  ask_ = std::move(ask);
  started_ = told_at_ = Clock::now();
  processor_ns_ = process_processor_ns();
  in_stage_ = true;
}

void Progress::say(const std::string& line) {
  if (form_ == Form::kNothing) return;
  std::lock_guard lock(mutex_);
  end_stage();
  write(form_ == Form::kJson ? nlohmann::ordered_json{{"event", "note"}, {"text", line}}.dump() : line);
}

void Progress::update(const Now& now) {
  if (form_ == Form::kNothing) return;
  std::lock_guard lock(mutex_);
  now_ = now;
}

void Progress::finish() {
  if (form_ == Form::kNothing) return;
  std::lock_guard lock(mutex_);
  end_stage();
}

void Progress::result(const nlohmann::ordered_json& object) {
  if (form_ != Form::kJson) return;
  std::lock_guard lock(mutex_);
  end_stage();
  write(object.dump());
}

void Progress::tick() {
  std::unique_lock lock(mutex_);
  while (!ending_.wait_for(lock, kInterval, [this] { return ends_; })) {
    if (in_stage_) tell();
  }
}

void Progress::end_stage() {
  if (in_stage_ && form_ != Form::kTerminalLine) tell();
  in_stage_ = false;
  ask_ = {};
  if (!drawn_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

void Progress::tell() {
  const Clock::time_point at = Clock::now();
  const uint64_t processor_ns = process_processor_ns();
  const double passed_ns = std::chrono::duration<double, std::nano>(at - told_at_).count();
  const double busy = passed_ns > 0 ? static_cast<double>(processor_ns - processor_ns_) / passed_ns : 0;
  told_at_ = at;
  processor_ns_ = processor_ns;
  if (ask_) now_ = ask_();
  const Pace pace = now_.pace ? *now_.pace : average_pace();
  write(form_ == Form::kJson ? json(pace, busy).dump() : text(pace, busy));
}

Progress::Pace Progress::average_pace() const {
  const double seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  if (now_.done == 0 || seconds <= 0) return {};
  const double rate = static_cast<double>(now_.done) / seconds;
  return {rate, total_ > now_.done ? static_cast<double>(total_ - now_.done) / rate : 0};
}

std::string Progress::text(const Pace& pace, double threads_busy) const {
  std::string line = name_.empty() ? work_ : fmt::format("{}: {}", work_, name_);
  if (total_ > 0) {
    line += fmt::format(" {:.0f}%, {}/{} {}",
                        100.0 * static_cast<double>(now_.done) / static_cast<double>(total_),
                        thousands(now_.done), thousands(total_), unit_);
  } else {
    line += fmt::format(" {} {}", thousands(now_.done), unit_);
  }
  line += fmt::format(", {}/s, {:.1f} threads busy", thousands(static_cast<uint64_t>(pace.per_second)),
                      threads_busy);
  if (pace.seconds_left > 0) line += fmt::format(", {:.0f} s left", pace.seconds_left);
  if (now_.lsn) line += fmt::format(", LSN {}", *now_.lsn);
  if (!now_.text.empty()) line += ", " + now_.text;
  return line;
}

nlohmann::ordered_json Progress::json(const Pace& pace, double threads_busy) const {
  nlohmann::ordered_json object = {{"event", "progress"},
                                   {"work", work_},
                                   {"stage", name_},
                                   {"seconds", std::chrono::duration<double>(told_at_ - started_).count()},
                                   {"done", now_.done},
                                   {"total", total_},
                                   {"unit", unit_},
                                   {"per_second", pace.per_second},
                                   {"threads_busy", threads_busy},
                                   {"seconds_left", pace.seconds_left}};
  if (now_.lsn) object["lsn"] = *now_.lsn;
  object.update(now_.fields);
  return object;
}

void Progress::write(const std::string& line) {
  if (form_ == Form::kTerminalLine) {
    std::fputs(("\r\x1b[K" + fitted_line(line, most_characters())).c_str(), stderr);
    drawn_ = true;
  } else {
    std::fputs((line + "\n").c_str(), stderr);
  }
  std::fflush(stderr);
}

}  // namespace mneme
