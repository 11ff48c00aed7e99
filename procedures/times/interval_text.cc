// The names of an interval's units, and its text.
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "procedures/times/interval.h"
#include "procedures/times/timestamp.h"

namespace mneme {

namespace {

constexpr std::pair<std::string_view, TimeUnit> kNames[] = {
    {"c", TimeUnit::kCentury},
    {"cent", TimeUnit::kCentury},
    {"centuries", TimeUnit::kCentury},
    {"century", TimeUnit::kCentury},
    {"d", TimeUnit::kDay},
    {"day", TimeUnit::kDay},
    {"days", TimeUnit::kDay},
    {"dec", TimeUnit::kDecade},
    {"decade", TimeUnit::kDecade},
    {"decades", TimeUnit::kDecade},
    {"decs", TimeUnit::kDecade},
    {"dow", TimeUnit::kDayOfWeek},
    {"doy", TimeUnit::kDayOfYear},
    {"epoch", TimeUnit::kEpoch},
    {"h", TimeUnit::kHour},
    {"hour", TimeUnit::kHour},
    {"hours", TimeUnit::kHour},
    {"hr", TimeUnit::kHour},
    {"hrs", TimeUnit::kHour},
    {"isodow", TimeUnit::kIsoDayOfWeek},
    {"isoyear", TimeUnit::kIsoYear},
    {"julian", TimeUnit::kJulian},
    {"m", TimeUnit::kMinute},
    {"microsecon", TimeUnit::kMicroseconds},
    {"mil", TimeUnit::kMillennium},
    {"millennia", TimeUnit::kMillennium},
    {"millennium", TimeUnit::kMillennium},
    {"millisecon", TimeUnit::kMilliseconds},
    {"mils", TimeUnit::kMillennium},
    {"min", TimeUnit::kMinute},
    {"mins", TimeUnit::kMinute},
    {"minute", TimeUnit::kMinute},
    {"minutes", TimeUnit::kMinute},
    {"mon", TimeUnit::kMonth},
    {"mons", TimeUnit::kMonth},
    {"month", TimeUnit::kMonth},
    {"months", TimeUnit::kMonth},
    {"ms", TimeUnit::kMilliseconds},
    {"msec", TimeUnit::kMilliseconds},
    {"msecond", TimeUnit::kMilliseconds},
    {"mseconds", TimeUnit::kMilliseconds},
    {"msecs", TimeUnit::kMilliseconds},
    {"qtr", TimeUnit::kQuarter},
    {"quarter", TimeUnit::kQuarter},
    {"s", TimeUnit::kSecond},
    {"sec", TimeUnit::kSecond},
    {"second", TimeUnit::kSecond},
    {"seconds", TimeUnit::kSecond},
    {"secs", TimeUnit::kSecond},
    {"us", TimeUnit::kMicroseconds},
    {"usec", TimeUnit::kMicroseconds},
    {"usecond", TimeUnit::kMicroseconds},
    {"useconds", TimeUnit::kMicroseconds},
    {"usecs", TimeUnit::kMicroseconds},
    {"w", TimeUnit::kWeek},
    {"week", TimeUnit::kWeek},
    {"weeks", TimeUnit::kWeek},
    {"y", TimeUnit::kYear},
    {"year", TimeUnit::kYear},
    {"years", TimeUnit::kYear},
    {"yr", TimeUnit::kYear},
    {"yrs", TimeUnit::kYear},
};

// "-2 mons": behind a negative part, and only the next behind it, a positive one has its sign.
void print_part(int64_t count, std::string_view unit, bool& is_first, bool& is_behind_negative,
                fmt::memory_buffer& out) {
  if (count == 0) return;
  fmt::format_to(std::back_inserter(out), "{}{}{} {}{}", is_first ? "" : " ",
                 is_behind_negative && count > 0 ? "+" : "", count, unit, count == 1 ? "" : "s");
  is_behind_negative = count < 0;
  is_first = false;
}

}  // namespace

void print_interval(const Interval& interval, fmt::memory_buffer& out) {
  bool is_first = true;
  bool is_behind_negative = false;
  print_part(interval.months / kMonthsPerYear, "year", is_first, is_behind_negative, out);
  print_part(interval.months % kMonthsPerYear, "mon", is_first, is_behind_negative, out);
  print_part(interval.days, "day", is_first, is_behind_negative, out);
  if (!is_first && interval.microseconds == 0) return;
  const bool is_negative = interval.microseconds < 0;
  const auto bits = static_cast<uint64_t>(interval.microseconds);
  const uint64_t size = is_negative ? 0 - bits : bits;
  constexpr uint64_t kSecond = kMicrosecondsPerSecond;
  fmt::format_to(std::back_inserter(out), "{}{}{:02}:{:02}:{:02}", is_first ? "" : " ",
                 is_negative          ? "-"
                 : is_behind_negative ? "+"
                                      : "",
                 size / (3600 * kSecond), size / (60 * kSecond) % 60, size / kSecond % 60);
  if (size % kSecond == 0) return;
  std::string fraction = fmt::format(".{:06}", size % kSecond);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  out.append(std::string_view(fraction));
}

std::optional<TimeUnit> time_unit(std::string_view name) {
  // PostgreSQL looks at the first ten letters.
  std::string word(name.substr(0, 10));
  for (char& c : word) {
    c = ascii_lower(c);
  }
  for (const auto& [known, unit] : kNames) {
    if (known == word) return unit;
  }
  if (word == "timezone") return TimeUnit::kZone;
  if (word == "timezone_h") return TimeUnit::kZoneHour;
  if (word == "timezone_m") return TimeUnit::kZoneMinute;
  return std::nullopt;
}

}  // namespace mneme
