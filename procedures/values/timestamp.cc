#include "procedures/values/timestamp.h"

#include <chrono>
#include <iterator>

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

int64_t timestamp_of(std::chrono::sys_days date) {
  return of_date(date);
}

}  // namespace mneme
