#include "measurement/machine/stalls.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>

#include "base/processor_time.h"

namespace mneme {
namespace {

double own_processor_seconds() {
  return static_cast<double>(process_processor_ns()) / 1e9;
}

uint64_t preemptions_so_far() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_nivcsw);
}

nlohmann::ordered_json number_or_null(const std::optional<double>& number) {
  return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json();
}

}  // namespace

// "cpu  user nice system idle iowait irq softirq steal guest guest_nice", in ticks. Guests' time is in
// user's.
std::optional<ProcessorTimes> processor_times(const std::filesystem::path& root) {
  std::ifstream file(root / "proc/stat");
  std::string name;
  std::array<double, 8> ticks{};
  if (!(file >> name) || name != "cpu") return std::nullopt;
  for (double& each : ticks) {
    if (!(file >> each)) return std::nullopt;
  }
  const auto per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  return ProcessorTimes{(ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) / per_second,
                        ticks[7] / per_second};
}

nlohmann::ordered_json json_of(const Stalls& stalls) {
  return {{"steal_seconds", number_or_null(stalls.steal_seconds)},
          {"others_seconds", number_or_null(stalls.others_seconds)},
          {"preemptions", stalls.preemptions},
          {"late_wakeups", stalls.late_wakeups},
          {"longest_delay_ms", stalls.longest_delay_ms}};
}

StallWatch::StallWatch()
    : machine_(processor_times()),
      own_seconds_(own_processor_seconds()),
      preemptions_(preemptions_so_far()) {}

void StallWatch::woke(uint64_t due_ns, uint64_t now_ns) {
  const uint64_t delay = now_ns > due_ns ? now_ns - due_ns : 0;
  if (delay > kLateNs) ++stalls_.late_wakeups;
  stalls_.longest_delay_ms = std::max(stalls_.longest_delay_ms, static_cast<double>(delay) / 1e6);
}

Stalls StallWatch::finish() const {
  Stalls stalls = stalls_;
  stalls.preemptions = preemptions_so_far() - preemptions_;
  const std::optional<ProcessorTimes> now = processor_times();
  if (!machine_ || !now) return stalls;
  stalls.steal_seconds = now->steal - machine_->steal;
  // /proc/stat counts in ticks: what this process used within one may be counted in the next.
  const double own = own_processor_seconds() - own_seconds_;
  stalls.others_seconds = std::max(0.0, now->busy - machine_->busy - own);
  return stalls;
}

}  // namespace mneme
