// Reads timestamps as PostgreSQL 15 with DateStyle ISO, MDY does (utils/adt/datetime.c), in the forms that
// timestamp.h lists.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "base/ascii.h"
#include "procedures/times/timestamp.h"

namespace mneme {

namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kSpaces = " \t\n\v\f\r";
constexpr int kLastPostgresqlYear = 294276;

// Words that PostgreSQL knows in a timestamp, in its other forms. A name with a slash may be a time zone's as
// well.
constexpr std::array kOtherWords = {
    "jan",    "feb",      "mar",       "apr",      "may",      "jun",      "jul",    "aug",      "sep",
    "sept",   "oct",      "nov",       "dec",      "january",  "february", "march",  "april",    "june",
    "july",   "august",   "september", "october",  "november", "december", "sun",    "mon",      "tue",
    "tues",   "wed",      "weds",      "thu",      "thur",     "thurs",    "fri",    "sat",      "sunday",
    "monday", "tuesday",  "wednesday", "thursday", "friday",   "saturday", "bc",     "infinity", "now",
    "today",  "tomorrow", "yesterday", "allballs", "j",        "jd",       "julian", "at",       "on",
    "est",    "edt",      "cst",       "cdt",      "mst",      "mdt",      "pst",    "pdt",      "cet",
    "cest",   "eet",      "eest",      "wet",      "west",     "bst",      "msk",    "jst"};

class TimestampReader {
 public:
  TimestampReader(std::string_view text, bool is_moment) : whole_(text), text_(text), is_moment_(is_moment) {}

  // The day of `value`, unless the time leads to the next one.
  int64_t day() const { return day_number_; }

  TimestampSyntax read(int64_t& value) {
    if (lower(whole_) == "epoch") {
      value = timestamp_of(std::chrono::sys_days{});
      day_number_ = date_of_timestamp(value);
      return TimestampSyntax::kOk;
    }
    if (count(whole_) == whole_.size()) {
      // A number alone: a month or a day, which is out of range first, or six digits of a date.
      if (whole_.size() == 6) return TimestampSyntax::kOtherForm;
      if (whole_ == "0" || whole_ == "00" || (whole_.size() == 2 && whole_ > "31"))
        return TimestampSyntax::kOutOfRange;
    }
    const TimestampSyntax read = read_iso(value);
    return read == TimestampSyntax::kInvalid && has_other_form() ? TimestampSyntax::kOtherForm : read;
  }

  // The time of the day alone.
  TimestampSyntax read_time_of_day(int64_t& value) {
    if (lower(whole_) == "allballs") {
      value = 0;
      return TimestampSyntax::kOk;
    }
    const bool has_day = read_date();
    if (!has_day) text_ = whole_;
    const std::string_view before = text_;
    if (has_day ? !read_time() || text_.size() == before.size() : !read_clock()) return other_or_invalid();
    if (!read_rest()) return other_or_invalid();
    if (zone_out_of_range_) return TimestampSyntax::kZoneOutOfRange;
    const int64_t seconds = seconds_of_day();
    if (seconds < 0) return TimestampSyntax::kOutOfRange;
    value = seconds * kMicrosecondsPerSecond + fraction_;
    return TimestampSyntax::kOk;
  }

 private:
  TimestampSyntax other_or_invalid() const {
    return has_other_form() ? TimestampSyntax::kOtherForm : TimestampSyntax::kInvalid;
  }

  // Nothing lies behind the day's end: 24:00, which is 23:59:60 as well. Returns -1 where it would.
  int64_t seconds_of_day() {
    const bool is_twelve_hours = half_day_ >= 0;
    if (hour_ > (is_twelve_hours ? 12 : 24) || minute_ > 59 || second_ > 60) return -1;
    if (is_twelve_hours) hour_ = hour_ % 12 + half_day_;
    const int seconds = hour_ * 3600 + minute_ * 60 + second_;
    return seconds > 86'400 || (seconds == 86'400 && fraction_ > 0) ? -1 : seconds;
  }

  // As read_time(), at the text's beginning.
  bool read_clock() {
    take('t');
    const size_t digits = count_digits();
    const bool has_colon = text_.size() > digits && text_[digits] == ':';
    if (digits == 0 || (!has_colon && digits != 4 && digits != 6)) return false;
    return read_digits_of_time(digits);
  }

  static std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
      if (is_ascii_letter(c)) c = static_cast<char>(c | 0x20);
    }
    return result;
  }

  TimestampSyntax read_iso(int64_t& value) {
    has_date_ = read_date();
    if (!has_date_ || !read_time() || !read_rest()) return TimestampSyntax::kInvalid;
    if (zone_out_of_range_) return TimestampSyntax::kZoneOutOfRange;
    // Years repeat after 400, and a year of std::chrono ends at 32767. Months and days that are too large
    // stay so within its 8 bits.
    const std::chrono::year_month_day date{std::chrono::year{year_ > 9999 ? 2000 + year_ % 400 : year_},
                                           std::chrono::month{static_cast<unsigned>(month_)},
                                           std::chrono::day{static_cast<unsigned>(std::min(day_, 99))}};
    if (year_ == 0 || !date.ok()) return TimestampSyntax::kOutOfRange;
    const int64_t of_day = seconds_of_day();
    if (of_day < 0) return TimestampSyntax::kOutOfRange;
    if (year_ > 9999)
      return year_ > kLastPostgresqlYear ? TimestampSyntax::kOutOfRange : TimestampSyntax::kOtherForm;
    value = timestamp_of(std::chrono::sys_days{date});
    day_number_ = date_of_timestamp(value);
    const int64_t seconds = of_day - (is_moment_ ? zone_seconds_ : 0);
    value += seconds * kMicrosecondsPerSecond + fraction_;
    return is_timestamp(value) ? TimestampSyntax::kOk : TimestampSyntax::kOtherForm;
  }

  // Year, month and day, by one separator; or eight digits; or with the month's name.
  bool read_date() {
    if (read_date_with_name()) return true;
    const size_t digits = count_digits();
    if (digits == 8) {
      year_ = take_number(4);
      month_ = take_number(2);
      day_ = take_number(2);
      return true;
    }
    if (digits < 3 || digits > 9) return false;
    year_ = take_number(digits);
    const char separator = text_.empty() ? '\0' : text_[0];
    if (separator != '-' && separator != '/' && separator != '.') return false;
    return take(separator) && take_field(2, month_) && take(separator) && take_field(3, day_);
  }

  // January 8, 1999; 8 Jan 1999; 1999-Jan-08; Jan-08-1999: whatever the order, only the year has three digits
  // or more.
  bool read_date_with_name() {
    const std::string_view before = text_;
    const size_t digits = count_digits();
    const bool is_year_first = digits > 2;
    int* const first = is_year_first ? &year_ : &day_;
    const bool is_read =
        digits == 0 ? take_month() && skip_separator() && take_day() && skip_separator() && take_year()
                    : take_field(9, *first) && skip_separator() && take_month() && skip_separator() &&
                          (is_year_first ? take_day() : take_year());
    // What follows is no part of a number or a word.
    const bool is_whole = text_.empty() || kSpaces.find(text_[0]) != kSpaces.npos;
    if (is_read && is_whole) return true;
    text_ = before;
    return false;
  }

  bool take_month() {
    constexpr std::array<std::string_view, 12> kMonths = {"january",   "february", "march",    "april",
                                                          "may",       "june",     "july",     "august",
                                                          "september", "october",  "november", "december"};
    const size_t letters =
        static_cast<size_t>(std::ranges::find_if_not(text_, is_ascii_letter) - text_.begin());
    const std::string word = lower(text_.substr(0, letters));
    const auto found = std::ranges::find_if(kMonths, [&](std::string_view month) {
      return word == month || word == month.substr(0, 3) || (word == "sept" && month == "september");
    });
    if (found == kMonths.end()) return false;
    month_ = static_cast<int>(found - kMonths.begin()) + 1;
    text_.remove_prefix(letters);
    return true;
  }
  bool take_day() { return count_digits() <= 2 && take_field(2, day_); }
  bool take_year() { return count_digits() > 2 && take_field(9, year_); }

  // A hyphen, or blanks with a comma before them or without.
  bool skip_separator() {
    if (take('-')) return true;
    const std::string_view before = text_;
    take(',');
    skip_blanks();
    return text_.size() < before.size();
  }

  // Hours:minutes[:seconds[.fraction]], or four or six digits; behind blanks or T. None of it: midnight.
  bool read_time() {
    const std::string_view before = text_;
    skip_blanks();
    const bool has_t = take('t');
    skip_blanks();
    const size_t digits = count_digits();
    if (digits == 0) {
      text_ = before;
      return !has_t;
    }
    if (!has_t && before.size() == text_.size()) return false;
    return read_digits_of_time(digits);
  }

  bool read_digits_of_time(size_t digits) {
    const bool has_colon = text_.size() > digits && text_[digits] == ':';
    if (!has_colon && (digits == 4 || digits == 6)) {
      hour_ = take_number(2);
      minute_ = take_number(2);
      if (digits == 6) second_ = take_number(2);
    } else {
      if (!take_field(9, hour_) || !take(':') || !take_field(9, minute_)) return false;
      if (!take(':')) return true;
      if (count_digits() > 0 && !take_field(9, second_)) return false;
    }
    if (take('.')) fraction_ = take_fraction();
    return true;
  }

  // AM or PM, AD, and a time zone, in any order.
  bool read_rest() {
    for (bool has_era = false, has_zone = false;;) {
      skip_blanks();
      if (text_.empty()) return true;
      if (!is_ascii_letter(text_[0])) {
        if (has_zone || !read_offset()) return false;
        has_zone = true;
        continue;
      }
      const size_t letters =
          static_cast<size_t>(std::ranges::find_if_not(text_, is_ascii_letter) - text_.begin());
      const std::string word = lower(text_.substr(0, letters));
      text_.remove_prefix(letters);
      const bool is_half = word == "am" || word == "pm";
      if (is_half ? half_day_ >= 0 : word == "ad" ? has_era : has_zone) return false;
      if (is_half) {
        half_day_ = word == "pm" ? 12 : 0;
      } else if (word == "ad") {
        has_era = true;
      } else {
        if (word != "z" && word != "utc" && word != "gmt" && word != "zulu") return false;
        has_zone = true;
      }
    }
  }

  // +hh[:mm[:ss]] or +hhmm
  bool read_offset() {
    const bool is_west = take('-');
    if (!is_west && !take('+')) return false;
    const size_t digits = count_digits();
    int hours = 0;
    int minutes = 0;
    int seconds = 0;
    if (!take_field(9, hours)) return false;
    if (take(':')) {
      if (!take_field(9, minutes) || (take(':') && !take_field(9, seconds))) return false;
    } else if (digits > 2) {
      minutes = hours % 100;
      hours /= 100;
    }
    zone_out_of_range_ |= hours > 15 || minutes > 59 || seconds > 59;
    if (!zone_out_of_range_) zone_seconds_ = (hours * 3600 + minutes * 60 + seconds) * (is_west ? -1 : 1);
    return true;
  }

  bool has_other_form() const {
    const std::string text = lower(whole_);
    if (std::ranges::any_of(text, [](char c) { return c < 0; })) return false;
    for (size_t i = 0; i < text.size();) {
      if (!is_ascii_letter(text[i])) {
        ++i;
        continue;
      }
      size_t end = i;
      while (end < text.size() && (is_ascii_letter(text[end]) || text[end] == '/' || text[end] == '_')) ++end;
      const std::string_view word = std::string_view(text).substr(i, end - i);
      if (std::ranges::find(kOtherWords, word) != kOtherWords.end() || word.find('/') != word.npos)
        return true;
      if (word != "t" && word != "z" && word != "am" && word != "pm" && word != "ad" && word != "utc" &&
          word != "gmt")
        return false;
      i = end;
    }
    if (has_date_) return false;
    // a year and the day in it
    if (count(text) == 4 && text.size() == 8 && text[4] == '-' && count(text.substr(5)) == 3) return true;
    // Three numbers with a separator: a date that is not in ISO's order, or has brackets or other signs
    // around it.
    const size_t first = text.find_first_of(kDigits);
    size_t at = first;
    for (int separators = 0; at < text.size(); ++at) {
      if (text[at] == '-' || text[at] == '/' || text[at] == '.') {
        if (++separators == 2) return at + 1 < text.size() && kDigits.find(text[at + 1]) != kDigits.npos;
      } else if (kDigits.find(text[at]) == kDigits.npos) {
        break;
      }
    }
    return false;
  }

  static size_t count(std::string_view text) {
    return std::min(text.find_first_not_of(kDigits), text.size());
  }
  size_t count_digits() const { return count(text_); }

  int take_number(size_t digits) {
    int number = 0;
    for (size_t i = 0; i < digits; ++i) number = number * 10 + (text_[i] - '0');
    text_.remove_prefix(digits);
    return number;
  }
  // A number of up to `most` digits.
  bool take_field(size_t most, int& number) {
    const size_t digits = count_digits();
    if (digits == 0 || digits > most) return false;
    number = take_number(digits);
    return true;
  }
  // `c`: a sign, or a small letter.
  bool take(char c) {
    if (text_.empty() || (is_ascii_letter(c) ? text_[0] | 0x20 : text_[0]) != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void skip_blanks() { text_.remove_prefix(std::min(text_.find_first_not_of(kSpaces), text_.size())); }

  // Microseconds, as PostgreSQL has them: the fraction as a double, a million times, rounded, halves to even.
  int64_t take_fraction() {
    const size_t digits = count_digits();
    std::string fraction = "0.";
    fraction += text_.substr(0, digits);
    text_.remove_prefix(digits);
    double seconds = 0;  // stays 0 where the fraction is too small for a double
    std::from_chars(fraction.data(), fraction.data() + fraction.size(), seconds);
    return static_cast<int64_t>(std::rint(seconds * static_cast<double>(kMicrosecondsPerSecond)));
  }

  const std::string_view whole_;
  std::string_view text_;
  int64_t day_number_ = 0;
  int year_ = 0;
  int month_ = 0;
  int day_ = 0;
  int hour_ = 0;
  int minute_ = 0;
  int second_ = 0;
  int64_t fraction_ = 0;
  int half_day_ = -1;  // 0: AM, 12: PM
  bool has_date_ = false;
  bool zone_out_of_range_ = false;
  int zone_seconds_ = 0;  // east of UTC
  const bool is_moment_;
};

}  // namespace

TimestampSyntax parse_timestamp(std::string_view text, int64_t& value) {
  return TimestampReader(text, false).read(value);
}

TimestampSyntax parse_moment(std::string_view text, int64_t& value) {
  return TimestampReader(text, true).read(value);
}

TimestampSyntax parse_time_of_day(std::string_view text, int64_t& value) {
  return TimestampReader(text, false).read_time_of_day(value);
}

TimestampSyntax parse_date(std::string_view text, int64_t& days) {
  TimestampReader reader(text, false);
  int64_t moment = 0;
  const TimestampSyntax syntax = reader.read(moment);
  days = reader.day();
  return syntax;
}

}  // namespace mneme
