// An interval is read, as PostgreSQL writes it and by ISO 8601.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "procedures/times/interval.h"
#include "procedures/times/timestamp.h"

namespace mneme {

namespace {

constexpr size_t kMostText = 255;
constexpr size_t kMostFields = 25;

constexpr int64_t kMicrosecondsPerMinute = 60 * kMicrosecondsPerSecond;
constexpr int64_t kMicrosecondsPerHour = 60 * kMicrosecondsPerMinute;

// Words that a digit or a plus may follow without a blank, as in 1d2h: PostgreSQL takes them for parts of
// dates, and any other word for the beginning of one.
constexpr std::string_view kShortNames[] = {"d", "dec", "h", "m", "mon", "s", "y"};

bool is_ascii_punctuation(char c) {
  return c > ' ' && c <= '~' && !is_ascii_digit(c) && !is_ascii_letter(c);
}

// A piece of the text: a time of day, a number or a word. Signs, blanks behind them left out, are its own.
struct IntervalField {
  enum class Kind { kTime, kNumber, kWord };
  Kind kind;
  std::string text;
};

// Adds up the parts. Each function returns false where its sum is out of range.
class IntervalSum {
 public:
  bool add_microseconds(int64_t whole, double fraction, int64_t each) {
    int64_t product = 0;
    return !__builtin_mul_overflow(whole, each, &product) &&
           !__builtin_add_overflow(microseconds_, product, &microseconds_) &&
           add_fraction_of_microseconds(fraction, each);
  }
  bool add_fraction_of_microseconds(double fraction, int64_t each) {
    fraction *= static_cast<double>(each);
    auto whole = static_cast<int64_t>(fraction);
    fraction -= static_cast<double>(whole);
    if (fraction > 0.5) ++whole;
    if (fraction < -0.5) --whole;
    return !__builtin_add_overflow(microseconds_, whole, &microseconds_);
  }
  bool add_days(int64_t whole, double fraction, int32_t each) {
    int32_t product = 0;
    if (!fits(whole) || __builtin_mul_overflow(static_cast<int32_t>(whole), each, &product) ||
        __builtin_add_overflow(days_, product, &days_))
      return false;
    return each == 1 ? add_fraction_of_microseconds(fraction, kMicrosecondsPerDay)
                     : add_fraction_of_days(fraction, each);
  }
  bool add_months(int64_t whole, double fraction) {
    return fits(whole) && !__builtin_add_overflow(months_, static_cast<int32_t>(whole), &months_) &&
           add_fraction_of_days(fraction, static_cast<int32_t>(kDaysPerMonth));
  }
  bool add_years(int64_t whole, double fraction, int32_t each) {
    int32_t product = 0;
    if (!fits(whole) || __builtin_mul_overflow(static_cast<int32_t>(whole), each, &product) ||
        __builtin_add_overflow(years_, product, &years_))
      return false;
    const auto months = static_cast<int32_t>(std::rint(fraction * each * double{kMonthsPerYear}));
    return !__builtin_add_overflow(months_, months, &months_);
  }
  bool negate() {
    if (microseconds_ == std::numeric_limits<int64_t>::min() || days_ == kLeast || months_ == kLeast ||
        years_ == kLeast)
      return false;
    microseconds_ = -microseconds_;
    days_ = -days_;
    months_ = -months_;
    years_ = -years_;
    return true;
  }
  void set_time(int64_t microseconds) { microseconds_ = microseconds; }
  bool finish(Interval& interval) const {
    const int64_t months = years_ * kMonthsPerYear + months_;
    interval = {static_cast<int32_t>(months), days_, microseconds_};
    return fits(months);
  }

 private:
  static constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();

  static bool fits(int64_t number) { return number == static_cast<int32_t>(number); }
  bool add_fraction_of_days(double fraction, int32_t each) {
    fraction *= each;
    const auto whole = static_cast<int32_t>(fraction);
    if (__builtin_add_overflow(days_, whole, &days_)) return false;
    return add_fraction_of_microseconds(fraction - whole, kMicrosecondsPerDay);
  }

  int32_t years_ = 0;
  int32_t months_ = 0;
  int32_t days_ = 0;
  int64_t microseconds_ = 0;
};

// The digits at the beginning, perhaps behind a sign; without digits the number is 0.
template <typename Number>
bool take_whole(std::string_view& text, Number& number) {
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc::result_out_of_range) return false;
  if (error == std::errc()) text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

// A point and digits, up to the end.
bool read_fraction(std::string_view text, double& fraction) {
  fraction = 0;
  if (text == ".") return true;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), fraction);
  return error == std::errc() && end == text.data() + text.size();
}

// Splits the text into its fields, as PostgreSQL's ParseDateTime does. Returns false where it is no interval
// of this form.
bool split_fields(std::string_view text, std::vector<IntervalField>& fields) {
  using Kind = IntervalField::Kind;
  size_t at = 0;
  const auto next = [&]() { return at < text.size() ? text[at] : '\0'; };
  const auto skip_blanks = [&] {
    while (is_ascii_blank(next())) ++at;
  };
  if (text.size() > kMostText) return false;
  for (skip_blanks(); at < text.size(); skip_blanks()) {
    if (fields.size() == kMostFields) return false;
    IntervalField field{Kind::kNumber, {}};
    const auto take_while = [&](auto&& fits) {
      while (at < text.size() && fits(text[at])) field.text += ascii_lower(text[at++]);
    };
    if (is_ascii_digit(next())) {
      take_while(is_ascii_digit);
      if (next() == ':') {
        field.kind = Kind::kTime;
        take_while([](char c) { return is_ascii_digit(c) || c == ':' || c == '.'; });
      } else if (next() == '-' || next() == '/' || next() == '.') {
        const char delimiter = next();
        field.text += text[at++];
        const size_t before = at;
        take_while(is_ascii_digit);
        // Two delimiters, or a letter behind one, make a date, which no interval has.
        const bool is_date = next() == delimiter || (at == before && is_ascii_letter(next()));
        if (is_date || delimiter == '/') return false;
      }
    } else if (next() == '.') {
      field.text += text[at++];
      take_while(is_ascii_digit);
    } else if (is_ascii_letter(next())) {
      field.kind = Kind::kWord;
      take_while(is_ascii_letter);
      const bool is_short = std::ranges::find(kShortNames, field.text) != std::end(kShortNames);
      if (next() == '-' || next() == '/' || next() == '.') return false;
      if ((next() == '+' || is_ascii_digit(next())) && !is_short) return false;
    } else if (next() == '+' || next() == '-') {
      field.text += text[at++];
      skip_blanks();
      if (is_ascii_digit(next()) || next() == '.') {
        take_while([](char c) { return is_ascii_digit(c) || c == ':' || c == '.' || c == '-'; });
        if (field.text.find(':') != std::string::npos) field.kind = Kind::kTime;
      } else {
        return false;
      }
    } else if (is_ascii_punctuation(next())) {
      ++at;
      continue;
    } else {
      return false;
    }
    fields.push_back(std::move(field));
  }
  return true;
}

// Which kinds of parts were there, one bit each, for none may come twice.
constexpr uint32_t bit_of(TimeUnit unit) {
  return 1u << static_cast<uint32_t>(unit);
}
constexpr uint32_t kPartsOfSecond =
    bit_of(TimeUnit::kSecond) | bit_of(TimeUnit::kMilliseconds) | bit_of(TimeUnit::kMicroseconds);
constexpr uint32_t kPartsOfTime = bit_of(TimeUnit::kHour) | bit_of(TimeUnit::kMinute) | kPartsOfSecond;

// hours:minutes[:seconds[.fraction]], or minutes:seconds.fraction.
IntervalSyntax read_time_of_day(std::string_view text, int64_t& microseconds) {
  int64_t hours = 0;
  int32_t minutes = 0;
  int32_t seconds = 0;
  double fraction = 0;
  if (!take_whole(text, hours)) return IntervalSyntax::kFieldOutOfRange;
  if (!text.starts_with(':')) return IntervalSyntax::kInvalid;
  text.remove_prefix(1);
  if (!take_whole(text, minutes)) return IntervalSyntax::kFieldOutOfRange;
  if (text.starts_with('.')) {
    if (!read_fraction(text, fraction)) return IntervalSyntax::kInvalid;
    if (hours != static_cast<int32_t>(hours)) return IntervalSyntax::kFieldOutOfRange;
    seconds = minutes;
    minutes = static_cast<int32_t>(hours);
    hours = 0;
  } else if (text.starts_with(':')) {
    text.remove_prefix(1);
    if (!take_whole(text, seconds)) return IntervalSyntax::kFieldOutOfRange;
    if (!text.empty() && (!text.starts_with('.') || !read_fraction(text, fraction)))
      return IntervalSyntax::kInvalid;
  } else if (!text.empty()) {
    return IntervalSyntax::kInvalid;
  }
  if (hours < 0 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 60)
    return IntervalSyntax::kFieldOutOfRange;
  microseconds = static_cast<int64_t>(std::rint(fraction * double{kMicrosecondsPerSecond}));
  int64_t whole = 0;
  const int64_t rest = minutes * kMicrosecondsPerMinute + seconds * kMicrosecondsPerSecond;
  const bool overflows = __builtin_mul_overflow(hours, kMicrosecondsPerHour, &whole) ||
                         __builtin_add_overflow(whole, rest, &whole) ||
                         __builtin_add_overflow(whole, microseconds, &microseconds);
  return overflows ? IntervalSyntax::kFieldOutOfRange : IntervalSyntax::kOk;
}

// Reads fields from the last to the first, so that a unit is known before its number.
class FieldReader {
 public:
  explicit FieldReader(TimeUnit last) : last_(last) {}

  IntervalSyntax read(const std::vector<IntervalField>& fields, IntervalSum& sum) {
    for (auto field = fields.rbegin(); field != fields.rend(); ++field) {
      uint32_t bits = 0;
      const IntervalSyntax syntax =
          field->kind == IntervalField::Kind::kTime   ? read_time(field->text, sum, bits)
          : field->kind == IntervalField::Kind::kWord ? read_word(field->text)
                                                      : read_number(field->text, sum, bits);
      if (syntax != IntervalSyntax::kOk) return syntax;
      if ((bits & seen_) != 0) return IntervalSyntax::kInvalid;
      seen_ |= bits;
    }
    if (seen_ == 0) return IntervalSyntax::kInvalid;
    return !is_ago_ || sum.negate() ? IntervalSyntax::kOk : IntervalSyntax::kFieldOutOfRange;
  }

 private:
  enum class Next { kLast, kUnit, kNothing };

  IntervalSyntax read_word(std::string_view word) {
    if (word == "ago") {
      is_ago_ = true;
      next_ = Next::kNothing;
      return IntervalSyntax::kOk;
    }
    const std::optional<TimeUnit> unit = time_unit(word);
    if (!unit || *unit > TimeUnit::kMillennium) return IntervalSyntax::kInvalid;
    unit_ = *unit;
    next_ = Next::kUnit;
    return IntervalSyntax::kOk;
  }

  IntervalSyntax read_time(std::string_view text, IntervalSum& sum, uint32_t& bits) {
    const bool is_negative = text.starts_with('-');
    if (is_negative || text.starts_with('+')) text.remove_prefix(1);
    int64_t microseconds = 0;
    const IntervalSyntax syntax = read_time_of_day(text, microseconds);
    sum.set_time(is_negative ? -microseconds : microseconds);
    bits = kPartsOfTime;
    unit_ = TimeUnit::kDay;
    next_ = Next::kUnit;
    return syntax;
  }

  IntervalSyntax read_number(std::string_view text, IntervalSum& sum, uint32_t& bits) {
    const bool is_negative = text.starts_with('-');
    if (next_ == Next::kLast) {
      unit_ = last_;
      next_ = Next::kUnit;
    }
    int64_t whole = 0;
    double fraction = 0;
    if (!take_whole(text, whole)) return IntervalSyntax::kFieldOutOfRange;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      if (const IntervalSyntax syntax = read_months(text, is_negative, whole); syntax != IntervalSyntax::kOk)
        return syntax;
      unit_ = TimeUnit::kMonth;
      next_ = Next::kUnit;
    } else if (text.starts_with('.')) {
      if (!read_fraction(text, fraction)) return IntervalSyntax::kInvalid;
      if (is_negative) fraction = -fraction;
    } else if (!text.empty()) {
      return IntervalSyntax::kInvalid;
    }
    if (next_ == Next::kNothing || unit_ == TimeUnit::kQuarter) return IntervalSyntax::kInvalid;
    bits = unit_ == TimeUnit::kSecond && fraction != 0 ? kPartsOfSecond : bit_of(unit_);
    const bool fits = add(sum, whole, fraction);
    if (unit_ == TimeUnit::kHour) unit_ = TimeUnit::kDay;  // of a number without a unit before this one
    return fits ? IntervalSyntax::kOk : IntervalSyntax::kFieldOutOfRange;
  }

  // years-months
  static IntervalSyntax read_months(std::string_view text, bool is_negative, int64_t& whole) {
    int32_t months = 0;
    if (!take_whole(text, months) || months < 0 || months >= kMonthsPerYear)
      return IntervalSyntax::kFieldOutOfRange;
    if (!text.empty()) return IntervalSyntax::kInvalid;
    const bool overflows = __builtin_mul_overflow(whole, kMonthsPerYear, &whole) ||
                           __builtin_add_overflow(whole, is_negative ? -months : months, &whole);
    return overflows ? IntervalSyntax::kFieldOutOfRange : IntervalSyntax::kOk;
  }

  bool add(IntervalSum& sum, int64_t whole, double fraction) const {
    switch (unit_) {
      case TimeUnit::kMicroseconds:
        return sum.add_microseconds(whole, fraction, 1);
      case TimeUnit::kMilliseconds:
        return sum.add_microseconds(whole, fraction, 1000);
      case TimeUnit::kSecond:
        return sum.add_microseconds(whole, fraction, kMicrosecondsPerSecond);
      case TimeUnit::kMinute:
        return sum.add_microseconds(whole, fraction, kMicrosecondsPerMinute);
      case TimeUnit::kHour:
        return sum.add_microseconds(whole, fraction, kMicrosecondsPerHour);
      case TimeUnit::kDay:
        return sum.add_days(whole, fraction, 1);
      case TimeUnit::kWeek:
        return sum.add_days(whole, fraction, 7);
      case TimeUnit::kMonth:
        return sum.add_months(whole, fraction);
      case TimeUnit::kYear:
        return sum.add_years(whole, fraction, 1);
      case TimeUnit::kDecade:
        return sum.add_years(whole, fraction, 10);
      case TimeUnit::kCentury:
        return sum.add_years(whole, fraction, 100);
      default:
        return sum.add_years(whole, fraction, 1000);
    }
  }

  const TimeUnit last_;
  TimeUnit unit_ = TimeUnit::kSecond;
  Next next_ = Next::kLast;
  uint32_t seen_ = 0;
  bool is_ago_ = false;
};

// P1Y2M3DT4H5M6S, P0001-02-03T04:05:06 and P00010203T040506.
class IsoReader {
 public:
  explicit IsoReader(std::string_view text) : text_(text) {}

  IntervalSyntax read(IntervalSum& sum) {
    if (text_.size() < 2 || text_[0] != 'P') return IntervalSyntax::kInvalid;
    text_.remove_prefix(1);
    bool in_date = true;
    bool has_field = false;
    while (!text_.empty()) {
      if (text_[0] == 'T') {
        in_date = false;
        has_field = false;
        text_.remove_prefix(1);
        continue;
      }
      digits_ = count_digits();
      if (!take_number()) return syntax_;
      const char unit = take_unit();
      const bool is_done = in_date ? read_date(unit, has_field, sum) : read_time(unit, has_field, sum);
      if (syntax_ != IntervalSyntax::kOk || is_done) return syntax_;
      has_field = true;
      // In the alternative form a T ends the date, and was taken as a unit.
      if (in_date && unit == 'T') {
        in_date = false;
        has_field = false;
      }
    }
    return IntervalSyntax::kOk;
  }

 private:
  size_t count_digits() const {
    std::string_view rest = text_;
    if (rest.starts_with('-')) rest.remove_prefix(1);
    return static_cast<size_t>(std::ranges::find_if_not(rest, is_ascii_digit) - rest.begin());
  }
  char take_unit() {
    if (text_.empty()) return '\0';
    const char unit = text_[0];
    text_.remove_prefix(1);
    return unit;
  }
  bool check(bool fits) {
    if (!fits && syntax_ == IntervalSyntax::kOk) syntax_ = IntervalSyntax::kFieldOutOfRange;
    return fits;
  }
  bool refuse() {
    if (syntax_ == IntervalSyntax::kOk) syntax_ = IntervalSyntax::kInvalid;
    return false;
  }

  bool take_number() {
    constexpr double kLimit = 1e15;
    if (text_.empty() || !(is_ascii_digit(text_[0]) || text_[0] == '-' || text_[0] == '.')) return refuse();
    double number = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
    if (error != std::errc()) return refuse();
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    if (!check(number >= -kLimit && number <= kLimit)) return false;
    whole_ = static_cast<int64_t>(number);
    fraction_ = number - static_cast<double>(whole_);
    return true;
  }

  // Each returns true where the interval ends with it.
  bool read_date(char unit, bool has_field, IntervalSum& sum) {
    switch (unit) {
      case 'Y':
        check(sum.add_years(whole_, fraction_, 1));
        return false;
      case 'M':
        check(sum.add_months(whole_, fraction_));
        return false;
      case 'W':
        check(sum.add_days(whole_, fraction_, 7));
        return false;
      case 'D':
        check(sum.add_days(whole_, fraction_, 1));
        return false;
      case 'T':
      case '\0':
        if (digits_ == 8 && !has_field) {
          check(sum.add_years(whole_ / 10'000, 0, 1) && sum.add_months(whole_ / 100 % 100, 0) &&
                sum.add_days(whole_ % 100, fraction_, 1));
          return unit == '\0';
        }
        break;
      case '-':
        break;
      default:
        return refuse();
    }
    if (has_field) return refuse();
    if (!check(sum.add_years(whole_, fraction_, 1)) || unit == '\0') return true;
    if (unit == 'T') return false;
    if (!take_number() || !check(sum.add_months(whole_, fraction_)) || text_.empty()) return true;
    if (text_[0] == 'T') return false;
    if (take_unit() != '-') return refuse();
    if (!take_number() || !check(sum.add_days(whole_, fraction_, 1)) || text_.empty()) return true;
    return text_[0] == 'T' ? false : refuse();
  }

  bool read_time(char unit, bool has_field, IntervalSum& sum) {
    switch (unit) {
      case 'H':
        check(sum.add_microseconds(whole_, fraction_, kMicrosecondsPerHour));
        return false;
      case 'M':
        check(sum.add_microseconds(whole_, fraction_, kMicrosecondsPerMinute));
        return false;
      case 'S':
        check(sum.add_microseconds(whole_, fraction_, kMicrosecondsPerSecond));
        return false;
      case '\0':
        if (digits_ == 6 && !has_field) {
          check(sum.add_microseconds(whole_ / 10'000, 0, kMicrosecondsPerHour) &&
                sum.add_microseconds(whole_ / 100 % 100, 0, kMicrosecondsPerMinute) &&
                sum.add_microseconds(whole_ % 100, 0, kMicrosecondsPerSecond) &&
                sum.add_fraction_of_microseconds(fraction_, 1));
          return true;
        }
        break;
      case ':':
        break;
      default:
        return refuse();
    }
    if (has_field) return refuse();
    if (!check(sum.add_microseconds(whole_, fraction_, kMicrosecondsPerHour)) || unit == '\0') return true;
    if (!take_number() || !check(sum.add_microseconds(whole_, fraction_, kMicrosecondsPerMinute)) ||
        text_.empty())
      return true;
    if (take_unit() != ':') return refuse();
    if (take_number()) check(sum.add_microseconds(whole_, fraction_, kMicrosecondsPerSecond));
    return text_.empty() || refuse();
  }

  std::string_view text_;
  size_t digits_ = 0;
  int64_t whole_ = 0;
  double fraction_ = 0;
  IntervalSyntax syntax_ = IntervalSyntax::kOk;
};

}  // namespace

IntervalSyntax parse_interval(std::string_view text, Interval& interval, TimeUnit last) {
  std::vector<IntervalField> fields;
  IntervalSum sum;
  IntervalSyntax syntax =
      split_fields(text, fields) ? FieldReader(last).read(fields, sum) : IntervalSyntax::kInvalid;
  if (syntax == IntervalSyntax::kInvalid) {
    sum = IntervalSum();
    syntax = IsoReader(text).read(sum);
  }
  if (syntax != IntervalSyntax::kOk) return syntax;
  return sum.finish(interval) ? IntervalSyntax::kOk : IntervalSyntax::kOutOfRange;
}

}  // namespace mneme
