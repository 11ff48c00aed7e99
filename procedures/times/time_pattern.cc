#include "procedures/times/time_pattern.h"

#include <algorithm>

#include "base/ascii.h"

namespace mneme {

namespace {

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

}  // namespace

bool is_named_field(TimeField field) {
  return field == TimeField::kDayName || field == TimeField::kDayShort || field == TimeField::kMonthName ||
         field == TimeField::kMonthShort;
}

std::string spelled(std::string_view name, Letters letters) {
  std::string text(name);
  const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; };
  if (letters == Letters::kUpper) std::ranges::transform(text, text.begin(), upper);
  if (letters == Letters::kLower) std::ranges::transform(text, text.begin(), ascii_lower);
  return text;
}

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

}  // namespace mneme
