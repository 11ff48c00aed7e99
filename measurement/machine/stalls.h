// StallWatch: how much processor time a measurement was denied, and by whom.
//
//   steal       time in which a virtual processor was ready to run and the hypervisor ran another one
//   others      processor time that other processes of the machine used
//   preemptions how often the kernel took a processor from a thread of this process
//   late        wake-ups of the watching thread that came more than 20 ms after they were due
//
// Each of them slows the measured threads; which calls it slowed is not known. The counts are those of the
// machine that /proc/stat describes: in a container, of all of its host.
//
// Errors   none are reported: where the system has no such counter, the field is empty.
// Threads  one owner, which also sleeps between the looks.
// Units    nanoseconds of the monotonic clock; results in seconds and milliseconds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

namespace mneme {

// The machine's processor time since it was started, in seconds over all cores.
struct ProcessorTimes {
  double busy = 0;  // by processes and the kernel
  double steal = 0;
};
std::optional<ProcessorTimes> processor_times(const std::filesystem::path& root = "/");

struct Stalls {
  std::optional<double> steal_seconds;
  std::optional<double> others_seconds;
  uint64_t preemptions = 0;
  uint64_t late_wakeups = 0;
  double longest_delay_ms = 0;  // of a wake-up
};
nlohmann::ordered_json json_of(const Stalls& stalls);

class StallWatch {
 public:
  // The measurement begins.
  StallWatch();
  // The owner woke up at `now_ns`, when it was due at `due_ns`.
  void woke(uint64_t due_ns, uint64_t now_ns);
  // The measurement has ended.
  Stalls finish() const;

 private:
  static constexpr uint64_t kLateNs = 20'000'000;

  std::optional<ProcessorTimes> machine_;
  double own_seconds_;
  uint64_t preemptions_;
  Stalls stalls_;
};

}  // namespace mneme
