#include "cli/output/duration_text.h"

#include <charconv>
#include <cmath>

namespace mneme {

namespace {

struct Unit {
  std::string_view name;
  double nanoseconds;
};
constexpr Unit kDurationUnits[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
constexpr double kLongestNs = 3600e9;

}  // namespace

Result<std::chrono::nanoseconds> duration_of(std::string_view option, std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && number >= 0) {
    const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
    if (unit.empty() && number == 0) return std::chrono::nanoseconds(0);
    for (const Unit& each : kDurationUnits) {
      if (unit == each.name && number * each.nanoseconds <= kLongestNs) {
        return std::chrono::nanoseconds(std::llround(number * each.nanoseconds));
      }
    }
  }
  return invalid_argument("{} {}: say a time like 200ns, 100us or 1ms, an hour at most", option, text);
}

}  // namespace mneme
