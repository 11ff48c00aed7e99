#include "cli/option/units.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <span>
#include <string_view>

namespace mneme {
namespace {

struct NamedUnit {
  std::string_view name;
  double size;  // in seconds, or in bytes
};
constexpr NamedUnit kTimes[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}};
constexpr NamedUnit kSizes[] = {{"B", 1}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}};

struct OwnUnit {
  std::span<const NamedUnit> units;
  double size;
  const char* name;
  const char* examples;
};

OwnUnit own_unit(OptionUnit unit) {
  switch (unit) {
    case OptionUnit::kSeconds:
      return {kTimes, 1, "seconds", "10, 10s, 500ms or 2min"};
    case OptionUnit::kMicroseconds:
      return {kTimes, 1e-6, "microseconds", "250, 250us or 2ms"};
    case OptionUnit::kBytes:
      return {kSizes, 1, "bytes", "4096, 64KiB or 4MiB"};
    case OptionUnit::kMebibytes:
      return {kSizes, 1048576, "MiB", "64, 64MiB or 2GiB"};
    case OptionUnit::kNone:
      break;
  }
  return {{}, 1, "", ""};
}

}  // namespace

std::string convert_to(OptionUnit unit, bool whole, std::string& text) {
  const size_t colon = text.rfind(':');
  const size_t begin = colon == text.npos ? 0 : colon + 1;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data() + begin, text.data() + text.size(), number);
  const std::string_view name(end, static_cast<size_t>(text.data() + text.size() - end));
  const bool is_hexadecimal = std::string_view(text).substr(begin).starts_with("0x");
  if (error != std::errc() || name.empty() || is_hexadecimal) return "";
  const OwnUnit own = own_unit(unit);
  for (const NamedUnit& each : own.units) {
    if (each.name != name) continue;
    const double converted = number * each.size / own.size;
    const double rounded = std::round(converted);
    // 0.1s is 100 ms, and not 99.99...
    const bool is_whole = std::abs(converted - rounded) <= 1e-9 * std::abs(converted);
    if (whole && !is_whole)
      return fmt::format("{} is no whole number of {}: say {}", text, own.name, own.examples);
    text = text.substr(0, begin) +
           (is_whole ? fmt::format("{:.0f}", rounded) : fmt::format("{:.12g}", converted));
    return "";
  }
  return fmt::format("{} has no unit that is known here: say {}", text, own.examples);
}

}  // namespace mneme
