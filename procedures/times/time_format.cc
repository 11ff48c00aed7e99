#include "procedures/times/time_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/ascii.h"
#include "procedures/times/time_pattern.h"
#include "procedures/times/timestamp.h"

namespace mneme {

namespace {

// The parts of a time that templates name.
struct TimeParts {
  explicit TimeParts(int64_t microseconds) {
    const int64_t day = date_of_timestamp(microseconds);
    time = microseconds - day * kMicrosecondsPerDay;
    const std::chrono::sys_days at = kDayZero + std::chrono::days{day};
    const std::chrono::year_month_day date{at};
    year = int{date.year()};
    month = static_cast<int64_t>(static_cast<unsigned>(date.month()));
    day_of_month = static_cast<int64_t>(static_cast<unsigned>(date.day()));
    day_of_year = (at - std::chrono::sys_days{date.year() / 1 / 1}).count() + 1;
    day_of_week = static_cast<int64_t>(std::chrono::weekday{at}.c_encoding());
    julian = day + kJulianDayZero;
    // The ISO year is that of the week's Thursday.
    const int64_t iso_day = day_of_week == 0 ? 7 : day_of_week;
    const std::chrono::year iso = std::chrono::year_month_day{at + std::chrono::days{4 - iso_day}}.year();
    iso_year = int{iso};
    const std::chrono::sys_days fourth{iso / 1 / 4};
    const int64_t fourth_day = static_cast<int64_t>(std::chrono::weekday{fourth}.iso_encoding());
    iso_day_of_year = (at - fourth).count() + fourth_day;
  }

  // Takes an interval apart: a month has 30 days, and hours are not cut at a day.
  explicit TimeParts(const Interval& interval) {
    time = interval.microseconds;
    year = interval.months / kMonthsPerYear;
    month = interval.months % kMonthsPerYear;
    day_of_month = interval.days;
    day_of_year = interval.months * kDaysPerMonth + interval.days;
    day_of_week = 0;
    julian = 0;
    iso_year = 0;
    iso_day_of_year = 0;
  }

  int64_t hour() const { return time / (3600 * kMicrosecondsPerSecond); }
  int64_t minute() const { return time / (60 * kMicrosecondsPerSecond) % 60; }
  int64_t second() const { return time / kMicrosecondsPerSecond % 60; }
  int64_t fraction() const { return time % kMicrosecondsPerSecond; }

  static constexpr std::chrono::sys_days kDayZero = std::chrono::year{2000} / 1 / 1;
  static constexpr int64_t kJulianDayZero = 2451545;

  int64_t time;
  int64_t year;
  int64_t month;
  int64_t day_of_month;
  int64_t day_of_year;
  int64_t day_of_week;  // 0: Sunday
  int64_t julian;
  int64_t iso_year;
  int64_t iso_day_of_year;
};

class TimeWriter {
 public:
  TimeWriter(int64_t microseconds, bool has_zone) : parts_(microseconds), has_zone_(has_zone) {}
  explicit TimeWriter(const Interval& interval) : parts_(interval), has_zone_(false), is_interval_(true) {}

  // Whether a pattern was met that an interval has nothing for.
  bool is_invalid() const { return is_invalid_; }

  std::string write(std::string_view format) {
    while (!format.empty()) format.remove_prefix(write_part(format));
    return std::move(text_);
  }

 private:
  // Returns how much of the template it took.
  size_t write_part(std::string_view rest) {
    size_t taken = 0;
    const bool fills = !rest.starts_with("FM") && !rest.starts_with("fm");
    const bool is_translated = rest.starts_with("TM") || rest.starts_with("tm");
    if (!fills || is_translated) taken = 2;
    if (const auto found = find_pattern(rest.substr(taken))) {
      taken += found->pattern->text.size();
      const bool upper = rest.substr(taken).starts_with("TH");
      const bool lower = rest.substr(taken).starts_with("th");
      const size_t begin = text_.size();
      const bool counts = write_field(*found, fills, is_translated);
      if (counts && (upper || lower)) text_ += ordinal_ending(std::string_view(text_).substr(begin), upper);
      return taken + (upper || lower || rest.substr(taken).starts_with("SP") ? 2 : 0);
    }
    return taken == rest.size() ? taken : taken + write_literal(rest.substr(taken));
  }

  size_t write_literal(std::string_view rest) {
    if (rest[0] != '"') {
      const bool is_escaped = rest.starts_with("\\\"");
      text_.push_back(rest[is_escaped ? 1 : 0]);
      return is_escaped ? 2 : 1;
    }
    size_t at = 1;
    for (; at < rest.size() && rest[at] != '"'; ++at) {
      if (rest[at] == '\\' && at + 1 < rest.size()) ++at;
      text_.push_back(rest[at]);
    }
    return std::min(at + 1, rest.size());
  }

  // A number of at least so many digits, and of one more with a minus, unless FM stands before it.
  bool number(int64_t value, size_t digits = 1) {
    if (value < 0 && digits > 1) ++digits;
    text_ += fmt::format("{:0{}}", value, digits);
    return true;
  }

  bool name(std::string_view value, Letters letters, size_t width) {
    text_ += fmt::format("{:<{}}", spelled(value, letters), width);
    return false;
  }

  bool either(bool second, std::string_view one, std::string_view other, Letters letters) {
    return name(second ? other : one, letters, 0);
  }

  bool year(int64_t value, size_t digits, bool fills) {
    const int64_t shown[] = {value % 10, value % 100, value % 1000, value};
    return number(shown[digits - 1], fills ? digits : 1);
  }

  // Returns whether it is a number that th may follow.
  bool write_field(const FoundPattern& found, bool fills, bool is_translated) {
    if (is_interval_ && is_of_days_alone(found.pattern->field)) {
      is_invalid_ = true;
      return false;
    }
    const Letters letters = found.letters;
    const size_t two = fills ? 2 : 1;
    constexpr size_t kNameWidth = 9;
    constexpr size_t kRomanWidth = 4;
    switch (found.pattern->field) {
      case TimeField::kAdDotted:
        return name("A.D.", letters, 0);
      case TimeField::kAd:
        return name("AD", letters, 0);
      case TimeField::kAmDotted:
        return either(parts_.hour() >= 12, "A.M.", "P.M.", letters);
      case TimeField::kAm:
        return either(parts_.hour() >= 12, "AM", "PM", letters);
      case TimeField::kCentury:
        return number((parts_.year - 1) / 100 + 1, two);
      case TimeField::kDayName:
        return name(kDays[parts_.day_of_week], letters, fills && !is_translated ? kNameWidth : 0);
      case TimeField::kDayShort:
        return name(kDays[parts_.day_of_week].substr(0, 3), letters, 0);
      case TimeField::kDayOfYear:
        return number(parts_.day_of_year, !fills ? 1 : parts_.day_of_year < 0 ? 2 : 3);
      case TimeField::kDayOfMonth:
        return number(parts_.day_of_month, two);
      case TimeField::kDayOfWeek:
        return number(parts_.day_of_week + 1);
      case TimeField::kFraction: {
        int64_t shown = parts_.fraction();
        for (size_t digits = found.pattern->digits; digits < 6; ++digits) shown /= 10;
        return number(shown, found.pattern->digits);
      }
      case TimeField::kFixed:
        return false;
      case TimeField::kHour24:
        return number(parts_.hour(), two);
      case TimeField::kHour12:
        return number(parts_.hour() % 12 == 0 ? 12 : parts_.hour() % 12, two);
      case TimeField::kIsoDayOfYear:
        return number(parts_.iso_day_of_year, fills ? 3 : 1);
      case TimeField::kIsoDayOfWeek:
        return number(parts_.day_of_week == 0 ? 7 : parts_.day_of_week);
      case TimeField::kIsoWeek:
        return number((parts_.iso_day_of_year - 1) / 7 + 1, two);
      case TimeField::kIsoYear:
        return year(parts_.iso_year, found.pattern->digits, fills);
      case TimeField::kJulian:
        return number(parts_.julian);
      case TimeField::kMinute:
        return number(parts_.minute(), two);
      case TimeField::kMonth:
        return number(parts_.month, two);
      case TimeField::kMonthName:
        return name(kMonths[parts_.month - 1], letters, fills && !is_translated ? kNameWidth : 0);
      case TimeField::kMonthShort:
        return name(kMonths[parts_.month - 1].substr(0, 3), letters, 0);
      case TimeField::kOffset:
        text_ += fills ? "+00" : "+0";
        return false;
      case TimeField::kQuarter:
        return number((parts_.month - 1) / 3 + 1);
      case TimeField::kRoman:
        return name(kRomanMonths[parts_.month - 1], letters, fills ? kRomanWidth : 0);
      case TimeField::kSecondOfDay:
        return number(parts_.time / kMicrosecondsPerSecond);
      case TimeField::kSecond:
        return number(parts_.second(), two);
      case TimeField::kZoneHour:
        text_ += "+00";
        return false;
      case TimeField::kZoneMinute:
        text_ += "00";
        return false;
      case TimeField::kZone:
        return name(has_zone_ ? "UTC" : "", letters, 0);
      case TimeField::kWeekOfYear:
        return number((parts_.day_of_year - 1) / 7 + 1, two);
      case TimeField::kWeekOfMonth:
        return number((parts_.day_of_month - 1) / 7 + 1);
      case TimeField::kYearWithComma:
        text_ += fmt::format("{},{:03}", parts_.year / 1000, parts_.year % 1000);
        return true;
      case TimeField::kYear:
        return year(parts_.year, found.pattern->digits, fills);
    }
    return false;
  }

  static bool is_of_days_alone(TimeField field) {
    return is_named_field(field) || field == TimeField::kAd || field == TimeField::kAdDotted ||
           field == TimeField::kDayOfWeek || field == TimeField::kIsoDayOfWeek || field == TimeField::kZone ||
           field == TimeField::kOffset || field == TimeField::kZoneHour || field == TimeField::kZoneMinute ||
           field == TimeField::kRoman || field == TimeField::kJulian || field == TimeField::kIsoWeek ||
           field == TimeField::kIsoYear || field == TimeField::kIsoDayOfYear;
  }

  const TimeParts parts_;
  const bool has_zone_;
  const bool is_interval_ = false;
  bool is_invalid_ = false;
  std::string text_;
};

}  // namespace

std::string_view ordinal_ending(std::string_view digits, bool is_upper) {
  const char last = digits.back();
  const bool is_teen = digits.size() > 1 && digits[digits.size() - 2] == '1';
  if (!is_teen && last == '1') return is_upper ? "ST" : "st";
  if (!is_teen && last == '2') return is_upper ? "ND" : "nd";
  if (!is_teen && last == '3') return is_upper ? "RD" : "rd";
  return is_upper ? "TH" : "th";
}

std::string format_time(std::string_view format, int64_t microseconds, bool has_zone) {
  return TimeWriter(microseconds, has_zone).write(format);
}

bool format_interval(std::string_view format, const Interval& interval, Arena& arena, std::string& text,
                     SqlError& error) {
  TimeWriter writer(interval);
  text = writer.write(format);
  if (!writer.is_invalid()) return true;
  (void)fail(error, arena, sqlstate::kInvalidDatetime, "invalid format specification for an interval value");
  error.hint = "Intervals are not tied to specific calendar dates.";
  return false;
}

}  // namespace mneme
