// to_timestamp() and to_date(): a time is read by a template.
#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/ascii.h"
#include "procedures/times/time_format.h"
#include "procedures/times/time_pattern.h"
#include "procedures/times/timestamp.h"

namespace mneme {

namespace {

// Reads a text by a template.
class TimeScanner {
 public:
  TimeScanner(std::string_view format, std::string_view text, Arena& arena, SqlError& error)
      : format_(format), whole_(text), rest_(text), arena_(arena), error_(error) {}

  bool scan(bool is_date, int64_t& microseconds) {
    read_template();
    for (size_t i = 0; i < nodes_.size() && !rest_.empty(); ++i) {
      if (nodes_[i].pattern != nullptr || i == 0) {
        while (!rest_.empty() && is_ascii_blank(rest_[0])) {
          rest_.remove_prefix(1);
          ++skipped_;
        }
      }
      if (nodes_[i].pattern == nullptr) {
        skip_literal(nodes_[i]);
      } else if (!scan_field(i)) {
        return false;
      }
    }
    return give(is_date, microseconds);
  }

 private:
  struct Node {
    const TimePattern* pattern = nullptr;  // nullptr: a character
    bool is_filled = false;                // FM stands before it
    bool is_ordinal = false;               // th stands behind it
    bool is_separator = false;             // a character that is no letter, no digit and not in quotes
    char character = '\0';
  };

  void read_template() {
    for (std::string_view rest = format_; !rest.empty();) {
      const bool is_filled = rest.starts_with("FM") || rest.starts_with("fm");
      const bool is_translated = rest.starts_with("TM") || rest.starts_with("tm");
      const size_t prefix = is_filled || is_translated ? 2 : 0;
      if (const auto found = find_pattern(rest.substr(prefix))) {
        rest.remove_prefix(prefix + found->pattern->text.size());
        Node& node = nodes_.emplace_back();
        node.pattern = found->pattern;
        node.is_filled = is_filled;
        node.is_ordinal = rest.starts_with("TH") || rest.starts_with("th");
        if (node.is_ordinal) rest.remove_prefix(2);
        continue;
      }
      rest.remove_prefix(prefix);
      if (rest.empty()) break;
      if (rest[0] == '"') {
        rest.remove_prefix(1);
        while (!rest.empty() && rest[0] != '"') {
          if (rest[0] == '\\' && rest.size() > 1) rest.remove_prefix(1);
          nodes_.emplace_back().character = rest[0];
          rest.remove_prefix(1);
        }
        if (!rest.empty()) rest.remove_prefix(1);
        continue;
      }
      Node& node = nodes_.emplace_back();
      node.character = rest[0];
      node.is_separator = is_ascii_blank(rest[0]) || is_mark(rest[0]);
      rest.remove_prefix(1);
    }
  }

  static bool is_mark(char c) { return c > ' ' && c <= '~' && !is_ascii_letter(c) && !is_ascii_digit(c); }

  // A separator stands for one, or for none; another character stands for any.
  void skip_literal(const Node& node) {
    if (node.is_separator) {
      if (is_ascii_blank(rest_[0]) || is_mark(rest_[0])) {
        rest_.remove_prefix(1);
      } else {
        --skipped_;
      }
      return;
    }
    if (skipped_ > 0) {
      --skipped_;
      return;
    }
    size_t bytes = 1;
    while (bytes < rest_.size() && (static_cast<unsigned char>(rest_[bytes]) & 0xc0) == 0x80) ++bytes;
    rest_.remove_prefix(bytes);
  }

  static bool is_digit_field(TimeField field) {
    return !is_named_field(field) && field != TimeField::kAd && field != TimeField::kAdDotted &&
           field != TimeField::kAm && field != TimeField::kAmDotted && field != TimeField::kRoman &&
           field != TimeField::kZone && field != TimeField::kOffset && field != TimeField::kFixed;
  }

  // Whether what follows ends the number, however many digits it has.
  bool ends_number(size_t i) const {
    if (nodes_[i].is_ordinal || i + 1 == nodes_.size()) return true;
    const Node& next = nodes_[i + 1];
    return next.pattern != nullptr ? !is_digit_field(next.pattern->field) : !is_ascii_digit(next.character);
  }

  bool refuse_value(std::string_view value, const TimePattern& pattern, std::string_view detail) {
    (void)fail(error_, arena_, sqlstate::kInvalidDatetime, "invalid value \"{}\" for \"{}\"", value,
               pattern.text);
    error_.detail = arena_.copy(detail);
    return false;
  }

  // `length`: the pattern's digits. `digits`: how many were read.
  bool scan_number(size_t i, size_t length, int64_t& number, size_t* digits = nullptr) {
    const TimePattern& pattern = *nodes_[i].pattern;
    while (!rest_.empty() && is_ascii_blank(rest_[0])) rest_.remove_prefix(1);
    const bool is_open = nodes_[i].is_filled || ends_number(i);
    const std::string_view copy = rest_.substr(0, length);
    if (!is_open && copy.size() < length) {
      (void)fail(error_, arena_, sqlstate::kInvalidDatetime,
                 "source string too short for \"{}\" formatting field", pattern.text);
      error_.detail =
          arena_.copy(fmt::format("Field requires {} characters, but only {} remain.", length, copy.size()));
      error_.hint = "If your source string is not fixed-width, try using the \"FM\" modifier.";
      return false;
    }
    const std::string_view from = is_open ? rest_ : copy;
    size_t at = 0;
    const bool is_negative = from.starts_with('-');
    if (is_negative || from.starts_with('+')) ++at;
    const size_t first = at;
    number = 0;
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    for (; at < from.size() && is_ascii_digit(from[at]); ++at)
      number = std::min(number * 10 + (from[at] - '0'), kMost + 1);
    if (at == first) return refuse_value(copy, pattern, "Value must be an integer.");
    if (!is_open && at < length) {
      return refuse_value(
          copy, pattern,
          fmt::format("Field requires {} characters, but only {} could be parsed.", length, at));
    }
    if (number > kMost) {
      (void)fail(error_, arena_, sqlstate::kDatetimeOverflow,
                 "value for \"{}\" in source string is out of range", pattern.text);
      error_.detail = arena_.copy(fmt::format("Value must be in the range {} to {}.", -kMost - 1, kMost));
      return false;
    }
    if (is_negative) number = -number;
    rest_.remove_prefix(at);
    if (digits != nullptr) *digits = at;
    if (nodes_[i].is_ordinal) rest_.remove_prefix(std::min<size_t>(2, rest_.size()));
    return true;
  }

  // A field that is there already must have the same value.
  bool set(std::optional<int64_t>& field, int64_t value, const TimePattern& pattern) {
    if (field && *field != value && *field != 0) {
      (void)fail(error_, arena_, sqlstate::kInvalidDatetime,
                 "conflicting values for \"{}\" field in formatting string", pattern.text);
      error_.detail = "This value contradicts a previous setting for the same field type.";
      return false;
    }
    field = value;
    return true;
  }
  bool scan_into(size_t i, size_t length, std::optional<int64_t>& field) {
    int64_t number = 0;
    return scan_number(i, length, number) && set(field, number, *nodes_[i].pattern);
  }

  // The place among the names, by the whole name or its first three letters.
  bool scan_name(size_t i, std::span<const std::string_view> names, size_t most, int64_t& place) {
    for (size_t n = 0; n < names.size(); ++n) {
      const std::string_view name = names[n].substr(0, most);
      if (spelled(rest_.substr(0, name.size()), Letters::kLower) != spelled(name, Letters::kLower)) continue;
      rest_.remove_prefix(name.size());
      place = static_cast<int64_t>(n);
      return true;
    }
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t\n\v\f\r"));
    return refuse_value(word, *nodes_[i].pattern,
                        "The given value did not match any of the allowed values for this field.");
  }

  // Two digits and the like are of the years around 2020.
  static int64_t whole_year(int64_t year) {
    return year < 70     ? year + 2000
           : year < 100  ? year + 1900
           : year < 520  ? year + 2000
           : year < 1000 ? year + 1000
                         : year;
  }

  bool scan_field(size_t i) {
    const TimePattern& pattern = *nodes_[i].pattern;
    int64_t number = 0;
    size_t digits = 0;
    constexpr std::string_view kHalves[] = {"AM", "PM"};
    constexpr std::string_view kDottedHalves[] = {"A.M.", "P.M."};
    constexpr std::string_view kEras[] = {"AD", "BC"};
    constexpr std::string_view kDottedEras[] = {"A.D.", "B.C."};
    switch (pattern.field) {
      case TimeField::kYear:
        if (!scan_number(i, pattern.digits, number, &digits)) return false;
        if (pattern.digits < 4 && digits < 4) number = whole_year(number);
        return set(year_, number, pattern);
      case TimeField::kYearWithComma: {
        int64_t thousands = 0;
        size_t at = 0;
        while (at < rest_.size() && is_ascii_digit(rest_[at]) && at < 3)
          thousands = thousands * 10 + (rest_[at++] - '0');
        if (at == 0 || rest_.size() < at + 4 || rest_[at] != ',')
          return fail(error_, arena_, sqlstate::kInvalidDatetime, "invalid input string for \"Y,YYY\"");
        for (size_t n = at + 1; n < at + 4; ++n) {
          if (!is_ascii_digit(rest_[n]))
            return fail(error_, arena_, sqlstate::kInvalidDatetime, "invalid input string for \"Y,YYY\"");
          number = number * 10 + (rest_[n] - '0');
        }
        rest_.remove_prefix(at + 4);
        return set(year_, thousands * 1000 + number, pattern);
      }
      case TimeField::kMonth:
        return scan_into(i, 2, month_);
      case TimeField::kMonthName:
        return scan_name(i, kMonths, std::string_view::npos, number) && set(month_, number + 1, pattern);
      case TimeField::kMonthShort:
        return scan_name(i, kMonths, 3, number) && set(month_, number + 1, pattern);
      case TimeField::kDayName:
        return scan_name(i, kDays, std::string_view::npos, number);
      case TimeField::kDayShort:
        return scan_name(i, kDays, 3, number);
      case TimeField::kDayOfMonth:
        return scan_into(i, 2, day_);
      case TimeField::kDayOfYear:
        return scan_into(i, 3, day_of_year_);
      case TimeField::kDayOfWeek:
        return scan_number(i, 1, number);
      case TimeField::kQuarter:
        return scan_number(i, 1, number);
      case TimeField::kHour24:
        return scan_into(i, 2, hour_);
      case TimeField::kHour12:
        is_twelve_ = true;
        return scan_into(i, 2, hour_);
      case TimeField::kMinute:
        return scan_into(i, 2, minute_);
      case TimeField::kSecond:
        return scan_into(i, 2, second_);
      case TimeField::kSecondOfDay:
        return scan_into(i, 5, second_of_day_);
      case TimeField::kFraction: {
        if (!scan_number(i, pattern.digits, number, &digits)) return false;
        for (size_t n = std::min(digits, pattern.digits); n < pattern.digits; ++n) number *= 10;
        for (size_t n = pattern.digits; n < 6; ++n) number *= 10;
        return set(fraction_, number, pattern);
      }
      case TimeField::kAm:
      case TimeField::kAmDotted:
        is_twelve_ = true;
        return scan_name(i, pattern.field == TimeField::kAm ? kHalves : kDottedHalves, std::string_view::npos,
                         number) &&
               set(half_, number, pattern);
      case TimeField::kAd:
      case TimeField::kAdDotted:
        if (!scan_name(i, pattern.field == TimeField::kAd ? kEras : kDottedEras, std::string_view::npos,
                       number))
          return false;
        return number == 0 || refuse_pattern("BC");
      default:
        break;
    }
    if (pattern.field == TimeField::kZone || pattern.field == TimeField::kOffset)
      return fail(error_, arena_, sqlstate::kNotSupported,
                  "formatting field \"{}\" is only supported in to_char", pattern.text);
    return refuse_pattern(pattern.text);
  }
  bool refuse_pattern(std::string_view pattern) {
    return fail(error_, arena_, sqlstate::kNotSupported,
                "the pattern {} is not supported in to_timestamp() and to_date()", pattern);
  }

  bool out_of_range() {
    return fail(error_, arena_, sqlstate::kDatetimeOverflow, "date/time field value out of range: \"{}\"",
                whole_);
  }

  bool give(bool is_date, int64_t& microseconds) {
    if (!year_ || *year_ == 0) {
      return fail(error_, arena_, sqlstate::kNotSupported,
                  "a time without a year is not supported, as it is one of the year 1 BC: \"{}\"", whole_);
    }
    int64_t hour = hour_.value_or(0);
    int64_t minute = minute_.value_or(0);
    int64_t second = second_.value_or(0);
    if (second_of_day_) {
      hour = *second_of_day_ / 3600;
      minute = *second_of_day_ / 60 % 60;
      second = *second_of_day_ % 60;
    }
    if (is_twelve_) {
      if (hour < 1 || hour > 12) {
        (void)fail(error_, arena_, sqlstate::kInvalidDatetime, "hour \"{}\" is invalid for the 12-hour clock",
                   hour);
        error_.hint = "Use the 24-hour clock, or give an hour between 1 and 12.";
        return false;
      }
      if (half_.value_or(0) == 1 && hour < 12)
        hour += 12;
      else if (half_ && *half_ == 0 && hour == 12)
        hour = 0;
    }
    if (*year_ < 1 || *year_ > 9999) return out_of_range();
    const std::chrono::year year{static_cast<int>(*year_)};
    int64_t month = month_.value_or(1);
    int64_t day = day_.value_or(1);
    std::chrono::sys_days date;
    if (day_of_year_ && (!month_ || !day_)) {
      if (*day_of_year_ < 1 || *day_of_year_ > (year.is_leap() ? 366 : 365)) return out_of_range();
      date = std::chrono::sys_days{year / 1 / 1} + std::chrono::days{*day_of_year_ - 1};
    } else {
      if (month < 1 || month > 12 || day < 1 || day > 31) return out_of_range();
      const std::chrono::year_month_day written{year, std::chrono::month{static_cast<unsigned>(month)},
                                                std::chrono::day{static_cast<unsigned>(day)}};
      if (!written.ok()) return out_of_range();
      date = std::chrono::sys_days{written};
    }
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
      return out_of_range();
    microseconds = timestamp_of(date);
    if (!is_date)
      microseconds += (hour * 3600 + minute * 60 + second) * kMicrosecondsPerSecond + fraction_.value_or(0);
    if (!is_timestamp(microseconds)) return out_of_range();
    return true;
  }

  const std::string_view format_;
  const std::string_view whole_;
  std::string_view rest_;
  Arena& arena_;
  SqlError& error_;
  std::vector<Node> nodes_;
  int64_t skipped_ = 0;  // characters of the text that no part of the template stood for
  std::optional<int64_t> year_;
  std::optional<int64_t> month_;
  std::optional<int64_t> day_;
  std::optional<int64_t> day_of_year_;
  std::optional<int64_t> hour_;
  std::optional<int64_t> minute_;
  std::optional<int64_t> second_;
  std::optional<int64_t> second_of_day_;
  std::optional<int64_t> fraction_;
  std::optional<int64_t> half_;  // 1: PM
  bool is_twelve_ = false;
};

}  // namespace

bool scan_time(std::string_view format, std::string_view text, bool is_date, Arena& arena,
               int64_t& microseconds, SqlError& error) {
  return TimeScanner(format, text, arena, error).scan(is_date, microseconds);
}

}  // namespace mneme
