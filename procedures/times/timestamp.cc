#include "procedures/times/timestamp.h"

#include <array>
#include <chrono>
#include <iterator>

namespace mneme {

namespace {

using std::chrono::days;
using std::chrono::microseconds;
using std::chrono::sys_days;
using std::chrono::year_month_day;

constexpr sys_days kEpoch = std::chrono::year{2000} / 1 / 1;

constexpr int64_t of_date(sys_days date) {
  return (date - kEpoch).count() * kMicrosecondsPerDay;
}

constexpr int64_t kFirst = of_date(std::chrono::year{1} / 1 / 1);
constexpr int64_t kEnd = of_date(std::chrono::year{10000} / 1 / 1);

}  // namespace

int64_t current_timestamp() {
  const auto now = std::chrono::time_point_cast<microseconds>(std::chrono::system_clock::now());
  return (now - kEpoch).count();
}

bool is_timestamp(int64_t value) {
  return value >= kFirst && value < kEnd;
}

bool is_time_of_day(int64_t value) {
  return value >= 0 && value <= kMicrosecondsPerDay;
}

int64_t time_of_day(__int128 value) {
  const auto time = static_cast<int64_t>(value % kMicrosecondsPerDay);
  return time < 0 ? time + kMicrosecondsPerDay : time;
}

void print_time_of_day(int64_t time, fmt::memory_buffer& out) {
  fmt::format_to(std::back_inserter(out), "{:02}:{:02}:{:02}", time / (3600 * kMicrosecondsPerSecond),
                 time / (60 * kMicrosecondsPerSecond) % 60, time / kMicrosecondsPerSecond % 60);
  int64_t fraction = time % kMicrosecondsPerSecond;
  if (fraction == 0) return;
  int width = 6;
  while (fraction % 10 == 0) {
    fraction /= 10;
    --width;
  }
  fmt::format_to(std::back_inserter(out), ".{:0{}}", fraction, width);
}

void print_timestamp(int64_t value, fmt::memory_buffer& out) {
  int64_t day = value / kMicrosecondsPerDay;
  int64_t time = value % kMicrosecondsPerDay;
  if (time < 0) {
    time += kMicrosecondsPerDay;
    --day;
  }
  const year_month_day date{kEpoch + days{day}};
  fmt::format_to(std::back_inserter(out), "{:04}-{:02}-{:02} ", static_cast<int>(date.year()),
                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  print_time_of_day(time, out);
}

bool is_date(int64_t value) {
  constexpr int64_t kFirstDay = -2451545;            // 4714-11-24 BC
  constexpr int64_t kEndDay = 2147483494 - 2451545;  // 5874898-01-01
  return value >= kFirstDay && value < kEndDay;
}

void print_date(int64_t value, fmt::memory_buffer& out) {
  // Years repeat after 400, of 146,097 days, and a year of std::chrono ends at 32767.
  constexpr int64_t kCycle = 146'097;
  int64_t cycles = value / kCycle;
  int64_t rest = value % kCycle;
  if (rest < 0) {
    rest += kCycle;
    --cycles;
  }
  const year_month_day date{kEpoch + days{rest}};
  const int64_t year = static_cast<int>(date.year()) + cycles * 400;
  fmt::format_to(std::back_inserter(out), "{:04}-{:02}-{:02}{}", year > 0 ? year : 1 - year,
                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                 year > 0 ? "" : " BC");
}

bool timestamp_of_date(int64_t value, int64_t& result) {
  if (value < kFirst / kMicrosecondsPerDay || value >= kEnd / kMicrosecondsPerDay) return false;
  result = value * kMicrosecondsPerDay;
  return true;
}

int64_t date_of_timestamp(int64_t value) {
  return value / kMicrosecondsPerDay - (value % kMicrosecondsPerDay < 0 ? 1 : 0);
}

int64_t round_timestamp(int64_t value, int digits) {
  constexpr std::array<int64_t, 7> kSteps = {1'000'000, 100'000, 10'000, 1'000, 100, 10, 1};
  const int64_t step = kSteps[static_cast<size_t>(digits)];
  const int64_t half = value < 0 ? -step / 2 : step / 2;
  return (value + half) / step * step;
}

int64_t timestamp_of(std::chrono::sys_days date) {
  return of_date(date);
}

}  // namespace mneme
