#include "procedures/values/time_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/ascii.h"
#include "procedures/values/timestamp.h"

namespace mneme {

namespace {

enum class TimeField {
  kAdDotted,
  kAd,
  kAmDotted,
  kAm,
  kCentury,
  kDayName,
  kDayShort,
  kDayOfYear,
  kDayOfMonth,
  kDayOfWeek,
  kFraction,  // as many digits as the pattern says
  kFixed,     // FX says nothing of output
  kHour24,
  kHour12,
  kIsoDayOfYear,
  kIsoDayOfWeek,
  kIsoWeek,
  kIsoYear,
  kJulian,
  kMinute,
  kMonth,
  kMonthName,
  kMonthShort,
  kOffset,
  kQuarter,
  kRoman,
  kSecondOfDay,
  kSecond,
  kZoneHour,
  kZoneMinute,
  kZone,
  kWeekOfYear,
  kWeekOfMonth,
  kYearWithComma,
  kYear,
};

struct TimePattern {
  std::string_view text;  // in capitals; it may be written in small letters, too
  TimeField field;
  size_t digits = 0;
};

// The first pattern that fits is taken, so each stands before the shorter ones that it begins with.
constexpr TimePattern kTimePatterns[] = {
    {"A.D.", TimeField::kAdDotted},
    {"A.M.", TimeField::kAmDotted},
    {"AD", TimeField::kAd},
    {"AM", TimeField::kAm},
    {"B.C.", TimeField::kAdDotted},
    {"BC", TimeField::kAd},
    {"CC", TimeField::kCentury},
    {"DAY", TimeField::kDayName},
    {"DDD", TimeField::kDayOfYear},
    {"DD", TimeField::kDayOfMonth},
    {"DY", TimeField::kDayShort},
    {"D", TimeField::kDayOfWeek},
    {"FF1", TimeField::kFraction, 1},
    {"FF2", TimeField::kFraction, 2},
    {"FF3", TimeField::kFraction, 3},
    {"FF4", TimeField::kFraction, 4},
    {"FF5", TimeField::kFraction, 5},
    {"FF6", TimeField::kFraction, 6},
    {"FX", TimeField::kFixed},
    {"HH24", TimeField::kHour24},
    {"HH12", TimeField::kHour12},
    {"HH", TimeField::kHour12},
    {"IDDD", TimeField::kIsoDayOfYear},
    {"ID", TimeField::kIsoDayOfWeek},
    {"IW", TimeField::kIsoWeek},
    {"IYYY", TimeField::kIsoYear, 4},
    {"IYY", TimeField::kIsoYear, 3},
    {"IY", TimeField::kIsoYear, 2},
    {"I", TimeField::kIsoYear, 1},
    {"J", TimeField::kJulian},
    {"MI", TimeField::kMinute},
    {"MM", TimeField::kMonth},
    {"MONTH", TimeField::kMonthName},
    {"MON", TimeField::kMonthShort},
    {"MS", TimeField::kFraction, 3},
    {"OF", TimeField::kOffset},
    {"P.M.", TimeField::kAmDotted},
    {"PM", TimeField::kAm},
    {"Q", TimeField::kQuarter},
    {"RM", TimeField::kRoman},
    {"SSSSS", TimeField::kSecondOfDay},
    {"SSSS", TimeField::kSecondOfDay},
    {"SS", TimeField::kSecond},
    {"TZH", TimeField::kZoneHour},
    {"TZM", TimeField::kZoneMinute},
    {"TZ", TimeField::kZone},
    {"US", TimeField::kFraction, 6},
    {"WW", TimeField::kWeekOfYear},
    {"W", TimeField::kWeekOfMonth},
    {"Y,YYY", TimeField::kYearWithComma},
    {"YYYY", TimeField::kYear, 4},
    {"YYY", TimeField::kYear, 3},
    {"YY", TimeField::kYear, 2},
    {"Y", TimeField::kYear, 1},
};

constexpr std::string_view kMonths[] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};
constexpr std::string_view kDays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                      "Thursday", "Friday", "Saturday"};
constexpr std::string_view kRomanMonths[] = {"I",   "II",   "III", "IV", "V",  "VI",
                                             "VII", "VIII", "IX",  "X",  "XI", "XII"};

enum class Letters { kCapital, kUpper, kLower };

std::string spelled(std::string_view name, Letters letters) {
  std::string text(name);
  const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; };
  if (letters == Letters::kUpper) std::ranges::transform(text, text.begin(), upper);
  if (letters == Letters::kLower) std::ranges::transform(text, text.begin(), ascii_lower);
  return text;
}

bool is_named_field(TimeField field) {
  return field == TimeField::kDayName || field == TimeField::kDayShort || field == TimeField::kMonthName ||
         field == TimeField::kMonthShort;
}

// A pattern as it stands in the template.
struct FoundPattern {
  const TimePattern* pattern;
  Letters letters;
};

std::optional<FoundPattern> find_pattern(std::string_view rest) {
  for (const TimePattern& pattern : kTimePatterns) {
    const std::string_view text = pattern.text;
    const std::string_view here = rest.substr(0, text.size());
    if (here == text) return FoundPattern{&pattern, Letters::kUpper};
    if (here == spelled(text, Letters::kLower)) return FoundPattern{&pattern, Letters::kLower};
    const bool is_capital = is_named_field(pattern.field) && here.size() == text.size() &&
                            here[0] == text[0] && here.substr(1) == spelled(text.substr(1), Letters::kLower);
    if (is_capital) return FoundPattern{&pattern, Letters::kCapital};
  }
  return std::nullopt;
}

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
        return number(parts_.day_of_year, fills ? 3 : 1);
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

bool scan_time(std::string_view format, std::string_view text, bool is_date, Arena& arena,
               int64_t& microseconds, SqlError& error) {
  return TimeScanner(format, text, arena, error).scan(is_date, microseconds);
}

}  // namespace mneme
