#include "procedures/timestamp.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <string>

#include "procedures/float_text.h"

namespace mneme {

namespace {

using std::chrono::days;
using std::chrono::microseconds;
using std::chrono::sys_days;
using std::chrono::year_month_day;

constexpr sys_days kEpoch = std::chrono::year{2000} / 1 / 1;
constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kDay = 86'400 * kSecond;

constexpr int64_t of_date(sys_days date) {
  return (date - kEpoch).count() * kDay;
}

constexpr int64_t kFirst = of_date(std::chrono::year{1} / 1 / 1);
constexpr int64_t kEnd = of_date(std::chrono::year{10000} / 1 / 1);

// Takes between `least` and `most` digits off the front of `text`; -1 when there are fewer.
int take_number(std::string_view& text, size_t least, size_t most) {
  size_t count = 0;
  int number = 0;
  while (count < most && count < text.size() && text[count] >= '0' && text[count] <= '9') {
    number = number * 10 + (text[count++] - '0');
  }
  text.remove_prefix(count);
  return count < least ? -1 : number;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text[0] != c) return false;
  text.remove_prefix(1);
  return true;
}

// .123: microseconds, as PostgreSQL has them: the fraction as a double, a million times, rounded, halves to even.
int64_t take_fraction(std::string_view& text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string fraction = "0.";
  fraction += text.substr(0, digits);
  text.remove_prefix(digits);
  double seconds = 0;
  if (digits > 0 && parse_double(fraction, seconds) == DoubleSyntax::kInvalid) return -1;
  return static_cast<int64_t>(std::rint(seconds * static_cast<double>(kSecond)));
}

// Hours:minutes[:seconds[.fraction]] as microseconds, or -1.
int64_t take_time(std::string_view& text) {
  const int hours = take_number(text, 1, 2);
  if (hours < 0 || !take(text, ':')) return -1;
  const int minutes = take_number(text, 2, 2);
  int seconds = 0;
  int64_t fraction = 0;
  if (take(text, ':')) {
    seconds = take_number(text, 2, 2);
    if (take(text, '.')) fraction = take_fraction(text);
  }
  if (hours > 24 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 60 || fraction < 0) return -1;
  const int64_t time = (int64_t{hours} * 3600 + minutes * 60 + seconds) * kSecond + fraction;
  return time > kDay ? -1 : time;
}

}  // namespace

int64_t current_timestamp() {
  const auto now = std::chrono::time_point_cast<microseconds>(std::chrono::system_clock::now());
  return (now - kEpoch).count();
}

bool is_timestamp(int64_t value) {
  return value >= kFirst && value < kEnd;
}

void print_timestamp(int64_t value, fmt::memory_buffer& out) {
  int64_t day = value / kDay;
  int64_t time = value % kDay;
  if (time < 0) {
    time += kDay;
    --day;
  }
  const year_month_day date{kEpoch + days{day}};
  fmt::format_to(std::back_inserter(out), "{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
                 static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                 static_cast<unsigned>(date.day()), time / (3600 * kSecond), time / (60 * kSecond) % 60,
                 time / kSecond % 60);
  int64_t fraction = time % kSecond;
  if (fraction == 0) return;
  int width = 6;
  while (fraction % 10 == 0) {
    fraction /= 10;
    --width;
  }
  fmt::format_to(std::back_inserter(out), ".{:0{}}", fraction, width);
}

TimestampSyntax parse_timestamp(std::string_view text, int64_t& value) {
  const int year = take_number(text, 4, 4);
  if (year < 0 || !take(text, '-')) return TimestampSyntax::kInvalid;
  const int month = take_number(text, 1, 2);
  if (month < 0 || !take(text, '-')) return TimestampSyntax::kInvalid;
  const int day = take_number(text, 1, 2);
  if (day < 0) return TimestampSyntax::kInvalid;
  int64_t time = 0;
  if (!text.empty()) {
    if (!take(text, ' ') && !take(text, 'T')) return TimestampSyntax::kInvalid;
    while (take(text, ' ')) {
    }
    time = take_time(text);
    if (!text.empty()) return TimestampSyntax::kInvalid;
    if (time < 0) return TimestampSyntax::kOutOfRange;
  }
  const year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                            std::chrono::day{static_cast<unsigned>(day)}};
  if (year == 0 || !date.ok()) return TimestampSyntax::kOutOfRange;
  value = of_date(sys_days{date}) + time;
  return is_timestamp(value) ? TimestampSyntax::kOk : TimestampSyntax::kOutOfRange;
}

}  // namespace mneme
