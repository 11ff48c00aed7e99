#include "procedures/values/interval_text.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "procedures/values/timestamp.h"

namespace mneme {

namespace {

constexpr size_t kMostText = 1024;

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

// The months of a unit, or its microseconds; a week's days and a day's are none.
int64_t months_of(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kMonth:
      return 1;
    case TimeUnit::kYear:
      return 12;
    case TimeUnit::kDecade:
      return 120;
    case TimeUnit::kCentury:
      return 1200;
    case TimeUnit::kMillennium:
      return 12000;
    default:
      return 0;
  }
}
int64_t microseconds_of(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kMicroseconds:
      return 1;
    case TimeUnit::kMilliseconds:
      return 1000;
    case TimeUnit::kSecond:
      return kMicrosecondsPerSecond;
    case TimeUnit::kMinute:
      return 60 * kMicrosecondsPerSecond;
    case TimeUnit::kHour:
      return 3600 * kMicrosecondsPerSecond;
    default:
      return 0;
  }
}

class IntervalReader {
 public:
  explicit IntervalReader(std::string_view text) : text_(text) {}

  IntervalSyntax read(Interval& interval) {
    if (text_.size() > kMostText) return IntervalSyntax::kInvalid;
    skip_blanks();
    if (text_.empty()) return IntervalSyntax::kInvalid;
    if ((text_[0] | 0x20) == 'p') return IntervalSyntax::kOtherForm;
    while (!text_.empty() && syntax_ == IntervalSyntax::kOk) {
      if (is_ascii_letter(text_[0])) {
        if (!take_ago()) return IntervalSyntax::kInvalid;
      } else {
        read_part();
      }
      skip_blanks();
    }
    constexpr int64_t kLimit = INT32_MAX;
    const auto fits = [](int64_t v) { return v >= -kLimit && v <= kLimit; };
    if (syntax_ == IntervalSyntax::kOk && !(fits(sum_.months) && fits(sum_.days)))
      return IntervalSyntax::kOutOfRange;
    interval = sum_;
    return syntax_;
  }

 private:
  // A number with a unit, or hours:minutes[:seconds].
  void read_part() {
    const bool is_negative = text_[0] == '-';
    if (text_[0] == '-' || text_[0] == '+') text_.remove_prefix(1);
    skip_blanks();
    int64_t whole = 0;
    int64_t millionths = 0;
    bool has_fraction = false;
    if (!take_number(whole, millionths, has_fraction)) return fail(IntervalSyntax::kInvalid);
    if (!text_.empty() && text_[0] == ':') return read_time(is_negative, whole, has_fraction);
    skip_blanks();
    TimeUnit unit = TimeUnit::kSecond;
    if (!text_.empty() && is_ascii_letter(text_[0])) {
      const size_t letters =
          static_cast<size_t>(std::ranges::find_if_not(text_, is_ascii_letter) - text_.begin());
      const std::string_view name = text_.substr(0, letters);
      const std::optional<TimeUnit> named = time_unit(name);
      if (!named || *named > TimeUnit::kMillennium || *named == TimeUnit::kQuarter)
        return fail(IntervalSyntax::kInvalid);
      unit = *named;
      text_.remove_prefix(letters);
    } else if (!text_.empty()) {
      return fail(IntervalSyntax::kOtherForm);  // years-months, days hours:minutes
    }
    if (is_negative) {
      whole = -whole;
      millionths = -millionths;
    }
    add(unit, whole, millionths);
  }

  void read_time(bool is_negative, int64_t hours, bool has_fraction) {
    if (has_fraction) return fail(IntervalSyntax::kInvalid);
    int64_t minutes = 0;
    int64_t seconds = 0;
    int64_t millionths = 0;
    text_.remove_prefix(1);
    if (!take_number(minutes, millionths, has_fraction)) return fail(IntervalSyntax::kInvalid);
    if (has_fraction) return fail(IntervalSyntax::kOtherForm);  // minutes:seconds.fraction
    if (!text_.empty() && text_[0] == ':') {
      text_.remove_prefix(1);
      if (!take_number(seconds, millionths, has_fraction)) return fail(IntervalSyntax::kInvalid);
    }
    if (minutes > 59 || seconds > 60) return fail(IntervalSyntax::kOutOfRange);
    const int64_t sign = is_negative ? -1 : 1;
    add(TimeUnit::kHour, sign * hours, 0);
    add(TimeUnit::kMinute, sign * minutes, 0);
    add(TimeUnit::kSecond, sign * seconds, sign * millionths);
  }

  void add(TimeUnit unit, int64_t whole, int64_t millionths) {
    if (const int64_t months = months_of(unit); months != 0) {
      if (millionths != 0) return fail(IntervalSyntax::kOtherForm);
      return add_to(sum_.months, whole, months);
    }
    if (const int64_t each = microseconds_of(unit); each != 0) {
      add_to(sum_.microseconds, whole, each);
      return add_to(sum_.microseconds, millionths * each / kMicrosecondsPerSecond, 1);
    }
    const int64_t days = unit == TimeUnit::kWeek ? 7 : 1;
    add_to(sum_.days, whole, days);
    if (unit == TimeUnit::kWeek && millionths != 0) return fail(IntervalSyntax::kOtherForm);
    add_to(sum_.microseconds, millionths * (kMicrosecondsPerDay / kMicrosecondsPerSecond), 1);
  }

  void add_to(int64_t& sum, int64_t count, int64_t each) {
    int64_t product = 0;
    if (__builtin_mul_overflow(count, each, &product) || __builtin_add_overflow(sum, product, &sum))
      fail(IntervalSyntax::kOutOfRange);
    if (sum == INT64_MIN) {  // it has no opposite
      fail(IntervalSyntax::kOutOfRange);
      sum = 0;
    }
  }

  bool take_number(int64_t& whole, int64_t& millionths, bool& has_fraction) {
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), whole);
    const size_t digits =
        static_cast<size_t>(std::ranges::find_if_not(text_, is_ascii_digit) - text_.begin());
    if (error == std::errc::result_out_of_range) {
      fail(IntervalSyntax::kOutOfRange);
      whole = 0;
    }
    text_.remove_prefix(digits);
    has_fraction = !text_.empty() && text_[0] == '.';
    if (!has_fraction) return digits > 0;
    text_.remove_prefix(1);
    size_t count = 0;
    for (; !text_.empty() && is_ascii_digit(text_[0]); text_.remove_prefix(1), ++count) {
      if (count < 6) millionths = millionths * 10 + (text_[0] - '0');
      if (count == 6 && text_[0] >= '5') ++millionths;
    }
    for (size_t i = count; i < 6; ++i) millionths *= 10;
    return digits + count > 0;
  }

  bool take_ago() {
    if (time_word(3) != "ago") return false;
    text_.remove_prefix(3);
    skip_blanks();
    sum_ = {-sum_.months, -sum_.days, -sum_.microseconds};
    return text_.empty();
  }
  std::string time_word(size_t size) const {
    std::string word(text_.substr(0, size));
    for (char& c : word) c = static_cast<char>(c | 0x20);
    return word;
  }

  // Keeps the first thing that is wrong.
  void fail(IntervalSyntax syntax) {
    if (syntax_ == IntervalSyntax::kOk) syntax_ = syntax;
  }
  void skip_blanks() {
    text_.remove_prefix(static_cast<size_t>(std::ranges::find_if_not(text_, is_ascii_blank) - text_.begin()));
  }

  std::string_view text_;
  Interval sum_;
  IntervalSyntax syntax_ = IntervalSyntax::kOk;
};

}  // namespace

IntervalSyntax parse_interval(std::string_view text, Interval& interval) {
  return IntervalReader(text).read(interval);
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
  return std::nullopt;
}

}  // namespace mneme
