#include "cli/measure/touch_ahead.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/memory/available_memory.h"
#include "cli/measure/recovery_text.h"
#include "cli/option/option_table.h"
#include "cli/output/progress.h"
#include "cli/output/text.h"
#include "workloads/shared/expected_growth.h"

namespace mneme {
namespace {

// More than a thread reaches on machines of today where it inserts rows.
constexpr double kNativeCallsPerSecond = 150'000;
constexpr double kInterpretedCallsPerSecond = 80'000;

// "512MiB", "2G", "1000000".
std::optional<size_t> size_of(std::string_view text) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  std::string_view unit(end, text.data() + text.size());
  int shift = 0;
  constexpr std::string_view kUnits = "KMGT";
  if (!unit.empty()) {
    const size_t power = kUnits.find(unit.front());
    if (power == std::string_view::npos) return std::nullopt;
    unit.remove_prefix(1);
    if (!unit.empty() && unit != "iB") return std::nullopt;
    shift = 10 * (static_cast<int>(power) + 1);
  }
  if (number > std::numeric_limits<size_t>::max() >> shift) return std::nullopt;
  return number << shift;
}

// Calls a second of users who key in and think: each at most one in its shortest keying time.
std::optional<double> most_by_terminals(const Workload& workload, const DriverOptions& options) {
  if (options.terminals == 0) return std::nullopt;
  double shortest = std::numeric_limits<double>::max();
  for (const TerminalRules::Times& times : workload.terminal_rules()->times)
    shortest = std::min(shortest, times.keying_seconds);
  return options.terminals / shortest;
}

double expected_calls(const Workload& workload, const DriverOptions& options, uint32_t workers) {
  if (options.transactions) return static_cast<double>(*options.transactions);
  const double seconds = options.warm_up.seconds + options.duration_seconds;
  const double per_second =
      options.session.native.empty() ? kInterpretedCallsPerSecond : kNativeCallsPerSecond;
  const double most = per_second * workers;
  return seconds * std::min(options.rate.value_or(most_by_terminals(workload, options).value_or(most)), most);
}

}  // namespace

void TouchAheadOption::add_option(CLI::App& command) {
  OptionTaker{command}("--touch-ahead", text_);
}

Result<void> TouchAheadOption::check() const {
  if (text_ == "auto" || text_ == "off" || size_of(text_)) return {};
  return invalid_argument("--touch-ahead {}: say auto, off, or a size as in 512MiB", text_);
}

TouchedAhead TouchAheadOption::touch(const Workload& workload, const Program& program, Database& database,
                                     const DriverOptions& options, const Output& output) const {
  if (text_ == "off") return {};
  const std::optional<size_t> wanted_size = size_of(text_);
  const size_t wanted = wanted_size
                            ? *wanted_size
                            : static_cast<size_t>(expected_growth_per_call(workload, program, database) *
                                                  expected_calls(workload, options, database.worker_count()));
  if (wanted == 0) return {};
  size_t bytes = wanted;
  if (const std::optional<size_t> available = available_memory_bytes())
    bytes = std::min(bytes, *available / 2);
  if (bytes < wanted) {
    output.notice(fmt::format(
        "--touch-ahead {}: of {} that the run may grow by, {} are touched ahead, half of the memory "
        "available; the rest is touched as the run goes, and slows it down",
        text_, bytes_text(wanted), bytes_text(bytes)));
  }
  Progress progress(output.quiet());
  constexpr size_t kMiB = size_t{1} << 20;
  progress.stage("touch memory ahead", "", bytes / kMiB, "MiB");
  const uint64_t begin_ns = monotonic_ns();
  TouchedAhead touched;
  touched.bytes = database.memory().touch_ahead(bytes, default_threads(),
                                                [&](size_t sum) { progress.update({.done = sum / kMiB}); });
  touched.seconds = static_cast<double>(monotonic_ns() - begin_ns) / 1e9;
  progress.finish();
  if (touched.bytes < bytes) {
    output.notice(fmt::format(
        "--touch-ahead {}: the kernel provides {} of {}; the run goes on, and stops where it needs "
        "more than that",
        text_, bytes_text(touched.bytes), bytes_text(bytes)));
  }
  return touched;
}

}  // namespace mneme
