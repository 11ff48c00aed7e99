#include "procedures/catalog/time_zone.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/ascii.h"

namespace mneme {

namespace {

constexpr const char* kZoneFolder = "/usr/share/zoneinfo/";
constexpr size_t kMostZoneBytes = 1 << 16;
constexpr int64_t kSecondsPerDay = 86'400;
constexpr int64_t kMostDistance = 26 * 3600;
constexpr int64_t kEpochOf2000 = 946'684'800;  // in seconds since 1970

int64_t seconds_of(int64_t microseconds) {
  const int64_t seconds = microseconds / 1'000'000;
  return seconds - (microseconds % 1'000'000 < 0 ? 1 : 0) + kEpochOf2000;
}

class FixedZone final : public TimeZone {
 public:
  explicit FixedZone(int64_t distance) : distance_(distance) {}

 private:
  int64_t distance_at(int64_t) const override { return distance_; }

  const int64_t distance_;
};

// When a rule changes the clocks in a year: the n-th weekday of a month, 5: the last one.
struct RuleDay {
  int month = 1;
  int week = 1;
  int weekday = 0;
  int64_t seconds = 2 * 3600;  // of the day, by the clock before the change

  int64_t in_year(int year) const {
    namespace chrono = std::chrono;
    const chrono::weekday day(static_cast<unsigned>(weekday));
    const chrono::year_month at = chrono::year{year} / chrono::month{static_cast<unsigned>(month)};
    const chrono::sys_days date = week == 5 ? chrono::sys_days{at / day[chrono::last]}
                                            : chrono::sys_days{at / day[static_cast<unsigned>(week)]};
    return date.time_since_epoch().count() * kSecondsPerDay + seconds;
  }
};

// The rule for what comes behind a file's last change: CET-1CEST,M3.5.0,M10.5.0/3.
class ZoneRule {
 public:
  static std::optional<ZoneRule> read(std::string_view text) {
    ZoneRule rule;
    if (!skip_name(text) || !take_time(text, rule.standard_)) return std::nullopt;
    rule.standard_ = -rule.standard_;
    if (text.empty()) return rule;
    rule.changes_ = true;
    rule.summer_ = rule.standard_ + 3600;
    if (!skip_name(text)) return std::nullopt;
    if (!text.starts_with(',')) {
      if (!take_time(text, rule.summer_)) return std::nullopt;
      rule.summer_ = -rule.summer_;
    }
    if (!take_day(text, rule.begins_) || !take_day(text, rule.ends_) || !text.empty()) return std::nullopt;
    return rule;
  }

  int64_t distance_at(int64_t seconds) const {
    if (!changes_) return standard_;
    const int64_t day =
        (seconds - (seconds % kSecondsPerDay + kSecondsPerDay) % kSecondsPerDay) / kSecondsPerDay;
    const int year =
        static_cast<int>(std::chrono::year_month_day{std::chrono::sys_days{std::chrono::days{day}}}.year());
    const int64_t begin = begins_.in_year(year) - standard_;
    const int64_t end = ends_.in_year(year) - summer_;
    const bool is_summer =
        begin < end ? seconds >= begin && seconds < end : seconds >= begin || seconds < end;
    return is_summer ? summer_ : standard_;
  }

 private:
  static bool skip_name(std::string_view& text) {
    size_t end = 0;
    if (text.starts_with('<')) {
      end = text.find('>');
      if (end == text.npos) return false;
      ++end;
    } else {
      while (end < text.size() && is_ascii_letter(text[end])) ++end;
    }
    text.remove_prefix(end);
    return end > 0;
  }
  static bool take_number(std::string_view& text, int64_t& number) {
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc() || number < 0 || number > 1'000) return false;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return true;
  }
  // hh[:mm[:ss]] with a sign.
  static bool take_time(std::string_view& text, int64_t& seconds) {
    int64_t sign = 1;
    if (text.starts_with('-') || text.starts_with('+')) {
      sign = text[0] == '-' ? -1 : 1;
      text.remove_prefix(1);
    }
    seconds = 0;
    for (int64_t unit = 3600;; unit /= 60) {
      int64_t number = 0;
      if (!take_number(text, number)) return false;
      seconds += number * unit;
      if (unit == 1 || !text.starts_with(':')) break;
      text.remove_prefix(1);
    }
    seconds *= sign;
    return true;
  }
  static bool take_day(std::string_view& text, RuleDay& day) {
    if (!text.starts_with(",M")) return false;
    text.remove_prefix(2);
    int64_t numbers[3] = {};
    for (size_t i = 0; i < 3; ++i) {
      if (!take_number(text, numbers[i])) return false;
      if (i == 2) break;
      if (!text.starts_with('.')) return false;
      text.remove_prefix(1);
    }
    if (numbers[0] < 1 || numbers[0] > 12 || numbers[1] < 1 || numbers[1] > 5 || numbers[2] > 6) return false;
    day.month = static_cast<int>(numbers[0]);
    day.week = static_cast<int>(numbers[1]);
    day.weekday = static_cast<int>(numbers[2]);
    if (!text.starts_with('/')) return true;
    text.remove_prefix(1);
    return take_time(text, day.seconds);
  }

  bool changes_ = false;
  int64_t standard_ = 0;
  int64_t summer_ = 0;
  RuleDay begins_;
  RuleDay ends_;
};

class FileZone final : public TimeZone {
 public:
  // Returns nullptr where the file is none of a zone.
  static std::shared_ptr<const TimeZone> read(std::string_view bytes) {
    auto zone = std::make_shared<FileZone>();
    return zone->parse(bytes) ? zone : nullptr;
  }

 private:
  struct Header {
    size_t utc_marks = 0;
    size_t standard_marks = 0;
    size_t leaps = 0;
    size_t changes = 0;
    size_t kinds = 0;
    size_t letters = 0;

    size_t bytes(size_t width) const {
      return changes * (width + 1) + kinds * 6 + letters + leaps * (width + 4) + standard_marks + utc_marks;
    }
  };
  static constexpr size_t kHeaderBytes = 44;

  static int64_t number(std::string_view bytes, size_t at, size_t width) {
    uint64_t bits = 0;
    for (size_t i = 0; i < width; ++i) bits = bits << 8 | static_cast<unsigned char>(bytes[at + i]);
    return width == 8 ? static_cast<int64_t>(bits) : int64_t{static_cast<int32_t>(bits)};
  }
  static bool read_header(std::string_view bytes, Header& header) {
    if (bytes.size() < kHeaderBytes || !bytes.starts_with("TZif")) return false;
    size_t* const counts[] = {&header.utc_marks, &header.standard_marks, &header.leaps,
                              &header.changes,   &header.kinds,          &header.letters};
    for (size_t i = 0; i < std::size(counts); ++i) {
      const int64_t count = number(bytes, 20 + 4 * i, 4);
      if (count < 0 || count > static_cast<int64_t>(kMostZoneBytes)) return false;
      *counts[i] = static_cast<size_t>(count);
    }
    return true;
  }

  bool parse(std::string_view bytes) {
    Header header;
    if (!read_header(bytes, header)) return false;
    size_t width = 4;
    if (bytes[4] >= '2') {
      const size_t first = kHeaderBytes + header.bytes(width);
      if (first > bytes.size()) return false;
      bytes.remove_prefix(first);
      width = 8;
      if (!read_header(bytes, header)) return false;
    }
    if (header.kinds == 0 || kHeaderBytes + header.bytes(width) > bytes.size()) return false;
    const size_t kinds_at = kHeaderBytes + header.changes * (width + 1);
    const auto distance_of = [&](size_t kind) { return number(bytes, kinds_at + 6 * kind, 4); };
    for (size_t i = 0; i < header.changes; ++i) {
      const int64_t at = number(bytes, kHeaderBytes + i * width, width);
      const auto kind = static_cast<unsigned char>(bytes[kHeaderBytes + header.changes * width + i]);
      if (kind >= header.kinds || (!changes_.empty() && at <= changes_.back().at)) return false;
      changes_.push_back({at, distance_of(kind)});
    }
    // Before the first change: the first kind that is no summer time.
    size_t first = 0;
    while (first + 1 < header.kinds && bytes[kinds_at + 6 * first + 4] != 0) ++first;
    first_ = distance_of(first);
    for (const Change& each : changes_) {
      if (std::abs(each.distance) > kMostDistance) return false;
    }
    std::string_view rest = bytes.substr(kHeaderBytes + header.bytes(width));
    if (width == 8 && rest.starts_with('\n')) {
      rest.remove_prefix(1);
      rule_ = ZoneRule::read(rest.substr(0, rest.find('\n')));
    }
    return std::abs(first_) <= kMostDistance;
  }

  int64_t distance_at(int64_t seconds) const override {
    const auto after = std::ranges::upper_bound(changes_, seconds, {}, &Change::at);
    if (after == changes_.end() && rule_) return rule_->distance_at(seconds);
    return after == changes_.begin() ? first_ : std::prev(after)->distance;
  }

  struct Change {
    int64_t at;
    int64_t distance;
  };
  std::vector<Change> changes_;
  int64_t first_ = 0;
  std::optional<ZoneRule> rule_;
};

// Hours east of UTC, times four: some are quarters of an hour.
constexpr std::pair<std::string_view, int> kAbbreviations[] = {
    {"acdt", 42}, {"acst", 38}, {"adt", -12}, {"aedt", 44}, {"aest", 40}, {"akdt", -32}, {"akst", -36},
    {"ast", -16}, {"awst", 32}, {"bst", 4},   {"cadt", 42}, {"cast", 38}, {"cdt", -20},  {"cest", 8},
    {"cet", 4},   {"cst", -24}, {"eat", 12},  {"edt", -16}, {"eest", 12}, {"eet", 8},    {"est", -20},
    {"gmt", 0},   {"hst", -40}, {"idt", 12},  {"ist", 8},   {"jst", 36},  {"kst", 36},   {"mdt", -24},
    {"mest", 8},  {"met", 4},   {"mst", -28}, {"ndt", -10}, {"nst", -14}, {"nzdt", 52},  {"nzst", 48},
    {"pdt", -28}, {"pst", -32}, {"sast", 8},  {"uct", 0},   {"utc", 0},   {"wet", 0},    {"z", 0},
    {"zulu", 0}};

std::optional<int64_t> written_distance(std::string_view name) {
  if (name.size() < 2 || (name[0] != '+' && name[0] != '-')) return std::nullopt;
  const int64_t sign = name[0] == '+' ? -1 : 1;
  name.remove_prefix(1);
  int64_t seconds = 0;
  for (int64_t unit = 3600; unit > 0; unit /= 60) {
    const size_t end = std::min(name.find_first_not_of("0123456789"), name.size());
    if (end == 0 || end > 2) return std::nullopt;
    int64_t number = 0;
    std::from_chars(name.data(), name.data() + end, number);
    if (number > (unit == 3600 ? 24 : 59)) return std::nullopt;
    seconds += number * unit;
    name.remove_prefix(end);
    if (name.empty()) return sign * seconds;
    if (name[0] != ':') return std::nullopt;
    name.remove_prefix(1);
  }
  return std::nullopt;
}

// Whether a file may have the name: of letters, digits and signs in parts, none of which leads elsewhere.
bool is_zone_name(std::string_view name) {
  constexpr size_t kMostLetters = 64;
  constexpr std::string_view kSigns = "_+-/";
  return !name.empty() && name.size() <= kMostLetters && name[0] != '/' && name.back() != '/' &&
         std::ranges::all_of(name, [&](char c) {
           return is_ascii_letter(c) || is_ascii_digit(c) || kSigns.find(c) != kSigns.npos;
         });
}

std::shared_ptr<const TimeZone> read_zone_file(const std::string& name) {
  std::ifstream file(kZoneFolder + name, std::ios::binary);
  std::string bytes(kMostZoneBytes, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const auto count = static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0));
  if (count == 0 || count == kMostZoneBytes) return nullptr;
  return FileZone::read(std::string_view(bytes).substr(0, count));
}

}  // namespace

int64_t TimeZone::clock_of(int64_t moment) const {
  return moment + distance_at(seconds_of(moment)) * 1'000'000;
}

int64_t TimeZone::moment_of(int64_t clock) const {
  const int64_t seconds = seconds_of(clock);
  const int64_t before = distance_at(seconds - kSecondsPerDay);
  const int64_t after = distance_at(seconds + kSecondsPerDay);
  int64_t distance = std::min(before, after);
  if (before != after) {
    const bool is_before = distance_at(seconds - before) == before;
    const bool is_after = distance_at(seconds - after) == after;
    if (is_before != is_after) distance = is_before ? before : after;
  }
  return clock - distance * 1'000'000;
}

std::shared_ptr<const TimeZone> find_time_zone(std::string_view written) {
  std::string lower(written);
  std::ranges::transform(lower, lower.begin(), ascii_lower);
  const auto* const known =
      std::ranges::find(kAbbreviations, lower, &std::pair<std::string_view, int>::first);
  if (known != std::end(kAbbreviations)) return std::make_shared<FixedZone>(known->second * int64_t{900});
  if (const std::optional<int64_t> distance = written_distance(written))
    return std::make_shared<FixedZone>(*distance);
  if (!is_zone_name(written)) return nullptr;
  constexpr size_t kMostKept = 700;
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const TimeZone>, std::less<>> kept;  // guarded by mutex
  const std::lock_guard guard(mutex);
  if (const auto found = kept.find(written); found != kept.end()) return found->second;
  std::shared_ptr<const TimeZone> zone = read_zone_file(std::string(written));
  if (zone && kept.size() < kMostKept) kept.emplace(written, zone);
  return zone;
}

}  // namespace mneme
