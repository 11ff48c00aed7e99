// Progress: how far long work is, for the person or the script that waits: stage, share done, rate, threads
// busy, time left.
//
// Flow        stage() -> update() as often as the work likes -> a thread of this class's own tells it each
//             half second
// Styles      auto: one line of a terminal, drawn over and over, and nothing where standard error is none;
//             lines: plain lines, wherever they go; json: an object a line, of which a stage's last one is
//             always told; off.
// Invariants  all goes to standard error. A terminal is left without half a line: finish(), or the next
//             stage, ends it.
// Threads     any; `threads busy` is the processor time of the whole process, so one that spins while it
//             waits counts.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/result.h"

namespace mneme {

enum class ProgressStyle : uint8_t { kAuto, kLines, kJson, kOff };
// "auto", "lines", "json", "off".
Result<ProgressStyle> progress_style(std::string_view name);

// `line`, or as many of its parts, which commas part, as have `most` characters together: no number is cut.
std::string fitted_line(std::string line, size_t most);

class Progress {
 public:
  explicit Progress(ProgressStyle style);
  explicit Progress(bool quiet) : Progress(quiet ? ProgressStyle::kOff : ProgressStyle::kAuto) {}
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // A rate and time left that are known better than from the stage's begin and total.
  struct Pace {
    double per_second = 0;
    double seconds_left = 0;
  };
  struct Now {
    uint64_t done = 0;
    std::optional<Pace> pace{};
    std::optional<uint64_t> lsn{};                                     // the last one that was reached
    std::string text{};                                                // more text, at the end of a line
    nlohmann::ordered_json fields = nlohmann::ordered_json::object();  // the same, of a JSON line
  };
  using Ask = std::function<Now()>;

  // Ends the stage before. `work`: "recover"; `name`: what of it, or nothing. `total` 0: not known. `unit` in
  // the plural. `ask`, where given, is called for each line, in place of update(): by the thread of this
  // class's own, or the thread's that ends the stage.
  void stage(std::string_view work, std::string_view name, uint64_t total, std::string_view unit,
             Ask ask = {});

  // Ends the stage before, too: a line without numbers.
  void say(const std::string& line);

  void update(const Now& now);
  void finish();

  // Reports the result to scripts: a line of the style json, and of no other.
  void result(const nlohmann::ordered_json& object);

 private:
  using Clock = std::chrono::steady_clock;
  enum class Form : uint8_t { kNothing, kTerminalLine, kLines, kJson };

  static Form form_of(ProgressStyle style);
  void tick();
  // The rest with mutex_ held.
  void end_stage();
  void tell();
  std::string text(const Pace& pace, double threads_busy) const;
  nlohmann::ordered_json json(const Pace& pace, double threads_busy) const;
  Pace average_pace() const;
  void write(const std::string& line);

  const Form form_;

  std::mutex mutex_;  // guards all below but thread_
  std::condition_variable ending_;
  bool ends_ = false;
  bool in_stage_ = false;
  bool drawn_ = false;  // there is a line on the terminal
  std::string work_;
  std::string name_;
  std::string unit_;
  uint64_t total_ = 0;
  Now now_;
  Ask ask_;
  Clock::time_point started_;
  // When it was told last: of the clock, and the process's processor time.
  Clock::time_point told_at_;
  uint64_t processor_ns_ = 0;

  std::thread thread_;  // of those forms that tell anything
};

}  // namespace mneme
