#include "server/session/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/ascii.h"
#include "recovery/database/live_session.h"
#include "server/protocol/sqlstates.h"

namespace mneme {
namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), ascii_lower);
  return lower;
}

// An encoding's name as PostgreSQL compares it: its letters and digits alone.
std::string plain_encoding(std::string_view text) {
  std::string name;
  for (const char c : text) {
    if (is_ascii_letter(c) || (c >= '0' && c <= '9')) name += ascii_lower(c);
  }
  return name;
}

constexpr const char* kIsolation = "transaction_isolation";
constexpr const char* kDefaultIsolation = "default_transaction_isolation";
constexpr const char* kReadOnly = "transaction_read_only";
constexpr const char* kDefaultReadOnly = "default_transaction_read_only";

// The values of a parameter that is a duration: a number of milliseconds, or one with a unit.
constexpr std::string_view kDuration = "milliseconds";
// Those of client_encoding, as plain_encoding() has them.
constexpr std::string_view kEncodings = "utf8,unicode,sqlascii";
// Those of a parameter that is a place in the log.
constexpr std::string_view kPlace = "lsn";

struct Unit {
  std::string_view name;
  uint64_t milliseconds;
};
// The largest first.
constexpr std::array<Unit, 5> kUnits{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"min", 60'000}, {"s", 1000}, {"ms", 1}}};

std::optional<uint64_t> milliseconds_of(std::string_view text) {
  constexpr double kMost = 2147483647;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !(number >= 0)) return std::nullopt;
  std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  if (unit == "us") {
    number /= 1000;
  } else if (!unit.empty()) {
    const auto* const found = std::ranges::find(kUnits, unit, &Unit::name);
    if (found == kUnits.end()) return std::nullopt;
    number *= static_cast<double>(found->milliseconds);
  }
  number = std::round(number);
  return number > kMost ? std::nullopt : std::optional(static_cast<uint64_t>(number));
}

std::optional<uint64_t> place_of(std::string_view text) {
  uint64_t place = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), place);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(place) : std::nullopt;
}

// Returns the duration as PostgreSQL shows it, in the largest unit that leaves a whole number.
std::string text_of_duration(uint64_t milliseconds) {
  if (milliseconds == 0) return "0";
  const auto* const unit =
      std::ranges::find_if(kUnits, [&](const Unit& each) { return milliseconds % each.milliseconds == 0; });
  return fmt::format("{}{}", milliseconds / unit->milliseconds, unit->name);
}

}  // namespace

struct Settings::Parameter {
  std::string_view name;  // as PostgreSQL writes it
  std::string_view initial;
  // In lower case, with commas between; "*": any; "": it can not be changed; kDuration; kPlace.
  std::string_view accepted;
  bool is_reported = false;
};

const std::vector<Settings::Parameter>& Settings::parameters() {
  // Boolean ones take on, off and their like.
  static constexpr std::string_view kBool = "on,off,true,false,yes,no,1,0";
  static constexpr std::string_view kOn = "on,true,yes,1";
  static constexpr std::string_view kOff = "off,false,no,0";
  static constexpr std::string_view kLevels =
      "serializable,repeatable read,read committed,read uncommitted,default";
  static const std::vector<Parameter> all = {
      {"application_name", "", "*", true},
      {"array_nulls", "on", kOn},
      {"backslash_quote", "safe_encoding", "safe_encoding"},
      {"bytea_output", "hex", "hex"},
      {"check_function_bodies", "on", kBool},
      {"client_encoding", "UTF8", kEncodings, true},
      {"client_min_messages", "notice", "debug5,debug4,debug3,debug2,debug1,debug,log,notice,warning,error"},
      {"DateStyle", "ISO, MDY", "iso,iso, mdy,iso,mdy,iso, dmy,iso,dmy,iso, ymd,iso,ymd", true},
      {"default_table_access_method", "heap", "heap"},
      {"default_tablespace", "", ",pg_default"},
      {"default_transaction_deferrable", "off", kOff},
      {"default_transaction_isolation", "serializable", kLevels},
      {"default_transaction_read_only", "off", kBool, true},
      {"extra_float_digits", "1", "1,2,3"},
      {"idle_in_transaction_session_timeout", "0", kDuration},
      {"idle_session_timeout", "0", "0"},
      {"in_hot_standby", "off", "", true},
      {"integer_datetimes", "on", "", true},
      {"IntervalStyle", "postgres", "postgres", true},
      {"is_superuser", "on", "", true},
      {"jit", "off", kOff},
      {"lc_collate", "C", ""},
      {"lc_ctype", "C", ""},
      {"lc_messages", "C", "c,posix"},
      {"lc_monetary", "C", "c,posix"},
      {"lc_numeric", "C", "c,posix"},
      {"lc_time", "C", "c,posix"},
      {"lock_timeout", "0", "0"},
      {"max_identifier_length", "63", ""},
      {"max_index_keys", "32", ""},
      {kChangeCommits, "off", kBool},
      {kSettleTimeout, "0", kDuration},
      {kWaitForLsn, "0", kPlace},
      {"role", "none", "*"},
      {"row_security", "off", kOff},
      {"search_path", "\"$user\", public", "*"},
      {"server_encoding", "UTF8", "", true},
      {"server_version", "15.0 (Mneme " MNEME_VERSION ")", "", true},
      {"server_version_num", "150000", ""},
      {"session_authorization", "", "", true},
      {"standard_conforming_strings", "on", kOn, true},
      {"statement_timeout", "0", kDuration},
      {"synchronize_seqscans", "on", kBool},
      {"synchronous_commit", "on", "on,true,yes,1,local,remote_write,remote_apply"},
      {"temp_tablespaces", "", ",pg_default"},
      {"TimeZone", "UTC", "*", true},
      {"transaction_deferrable", "off", kOff},
      {"transaction_isolation", "serializable", kLevels},
      {"transaction_read_only", "off", kBool},
      {"transaction_timeout", "0", "0"},
      {"xmloption", "content", "content,document"},
  };
  return all;
}

const Settings::Parameter* Settings::find(std::string_view name) {
  const auto found = std::ranges::find_if(
      parameters(), [&](const Parameter& each) { return lower_case(each.name) == lower_case(name); });
  return found == parameters().end() ? nullptr : &*found;
}

Settings::Settings() {
  for (const Parameter& parameter : parameters())
    values_.emplace(lower_case(parameter.name), std::string(parameter.initial));
  defaults_ = values_;
}

std::optional<std::string> Settings::get(std::string_view name) const {
  const auto found = values_.find(lower_case(name));
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

std::string Settings::shown_name(const std::string& name) {
  const Parameter* parameter = find(name);
  return parameter == nullptr ? name : std::string(parameter->name);
}

uint64_t Settings::place(std::string_view name) const {
  return place_of(values_.find(name)->second).value_or(0);
}

void Settings::set_standby(bool is_standby) {
  is_standby_ = is_standby;
  for (Values* values : {&values_, &defaults_}) {
    (*values)["in_hot_standby"] = is_standby ? "on" : "off";
    (*values)[kReadOnly] = is_standby ? "on" : (*values)[kDefaultReadOnly];
  }
}

uint64_t Settings::milliseconds(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? 0 : milliseconds_of(found->second).value_or(0);
}

std::vector<Settings::Shown> Settings::all() const {
  std::vector<Shown> shown;
  for (const auto& [name, value] : values_) {
    const Parameter* parameter = find(name);
    shown.push_back({parameter != nullptr ? std::string(parameter->name) : name, value});
  }
  return shown;
}

StatementResult Settings::set(std::string_view name, const std::string& value, bool is_local) {
  const std::string key = lower_case(name);
  const Parameter* parameter = find(key);
  if (parameter == nullptr && key.find('.') == key.npos) {
    return StatementResult::failure(sqlstate::kUndefinedObject,
                                    fmt::format("unrecognized configuration parameter \"{}\"", name));
  }
  if (parameter != nullptr && parameter->accepted.empty())
    return StatementResult::failure(sqlstate::kCantChangeParameter,
                                    fmt::format("parameter \"{}\" cannot be changed", parameter->name));
  // A session has the role that its client said at the start, and no other.
  if (key == "role" && value != "none" && value != values_["session_authorization"]) {
    return StatementResult::failure(sqlstate::kInvalidParameter,
                                    fmt::format("role \"{}\" does not exist", value));
  }
  std::string stored = value;
  if (parameter != nullptr && parameter->accepted == kDuration) {
    const std::optional<uint64_t> duration = milliseconds_of(value);
    if (!duration) {
      return StatementResult::failure(
          sqlstate::kInvalidParameter,
          fmt::format("invalid value for parameter \"{}\": \"{}\"; a number, and one of the units us, ms, s, "
                      "min, h and d, up to 2147483647 ms",
                      parameter->name, value));
    }
    stored = text_of_duration(*duration);
  } else if (parameter != nullptr && parameter->accepted == kPlace) {
    if (!place_of(value)) {
      return StatementResult::failure(sqlstate::kInvalidParameter,
                                      fmt::format("invalid value for parameter \"{}\": \"{}\"; a place in "
                                                  "the log, as SHOW mneme.last_lsn says it",
                                                  parameter->name, value));
    }
  } else if (parameter != nullptr && parameter->accepted != "*") {
    const bool is_encoding = parameter->accepted == kEncodings;
    const std::string wanted = "," + (is_encoding ? plain_encoding(value) : lower_case(value)) + ",";
    const std::string accepted = "," + std::string(parameter->accepted) + ",";
    if (accepted.find(wanted) == accepted.npos) {
      return StatementResult::failure(
          sqlstate::kInvalidParameter,
          fmt::format("invalid value for parameter \"{}\": \"{}\"; accepted here: {}", parameter->name, value,
                      parameter->accepted));
    }
    // A style of dates prints as ISO.
    // PostgreSQL converts nothing for SQL_ASCII, and takes valid text of the server's encoding.
    if (is_encoding) stored = plain_encoding(value) == "sqlascii" ? "SQL_ASCII" : "UTF8";
    if (key == "datestyle")
      stored = lower_case(value).find("dmy") != std::string::npos ? "ISO, DMY" : "ISO, MDY";
    if (parameter->initial == "on" || parameter->initial == "off") {
      const std::string low = lower_case(value);
      stored = low == "on" || low == "true" || low == "yes" || low == "1" ? "on" : "off";
    }
  }
  // What runs is serializable, whatever is asked for, and SHOW says what was.
  const bool is_level = key == kIsolation || key == kDefaultIsolation;
  if (is_level) stored = lower_case(value) == "default" ? "serializable" : lower_case(value);
  if (key == kReadOnly) {
    if (is_standby_ && stored == "off") {
      return StatementResult::failure(sqlstate::kNotSupported,
                                      "cannot set transaction read-write mode during recovery");
    }
    if (stored == "off" && values_[key] == "on" && has_run_statement_) {
      return StatementResult::failure(sqlstate::kActiveTransaction,
                                      "transaction read-write mode must be set before any query");
    }
    // It is of one transaction: outside of a block, of this statement's.
    if (before_block_) values_[key] = stored;
  } else {
    values_[key] = stored;
    if (!is_local && before_block_) after_block_[key] = stored;
  }
  // What the transactions that follow begin with.
  if (key == kDefaultIsolation || key == kDefaultReadOnly) {
    const char* const now = key == kDefaultIsolation ? kIsolation : kReadOnly;
    if (!before_block_) {
      values_[now] = stored;
    } else if (!is_local) {
      after_block_[now] = stored;
    }
    if (is_standby_) values_[kReadOnly] = "on";
  }
  StatementResult done;
  done.tag = "SET";
  return done;
}

StatementResult Settings::reset(std::string_view name, bool is_local) {
  const auto found = defaults_.find(lower_case(name));
  StatementResult done =
      found == defaults_.end()
          ? StatementResult::failure(sqlstate::kUndefinedObject,
                                     fmt::format("unrecognized configuration parameter \"{}\"", name))
          : set(name, found->second, is_local);
  if (done.ok()) done.tag = "RESET";
  return done;
}

void Settings::reset_all() {
  values_ = defaults_;
  if (before_block_) after_block_ = defaults_;
}

StatementResult Settings::start_with(std::string_view name, const std::string& value) {
  if (name == "session_authorization" || name == "is_superuser") {
    values_[std::string(name)] = defaults_[std::string(name)] = value;
    return {};
  }
  StatementResult done = set(name, value, false);
  if (done.ok()) defaults_[lower_case(name)] = values_[lower_case(name)];
  return done;
}

void Settings::begin_block(const std::string& isolation, std::optional<bool> read_only) {
  if (!before_block_) before_block_ = values_;
  if (!isolation.empty()) values_[kIsolation] = isolation;
  if (read_only) values_[kReadOnly] = *read_only ? "on" : "off";
  has_run_statement_ = false;
}

bool Settings::is_read_only() const {
  return is_standby_ || values_.find(kReadOnly)->second == "on";
}

void Settings::end_block(bool is_committed) {
  if (!before_block_) return;
  values_ = *std::move(before_block_);
  before_block_.reset();
  has_run_statement_ = false;
  if (is_committed) {
    for (const auto& [name, value] : after_block_) values_[name] = value;
  }
  after_block_.clear();
}

std::vector<Settings::Shown> Settings::take_reports() {
  std::vector<Shown> reports;
  for (const Parameter& parameter : parameters()) {
    if (!parameter.is_reported) continue;
    const std::string key = lower_case(parameter.name);
    const std::string& value = values_[key];
    const auto former = reported_.find(key);
    if (former != reported_.end() && former->second == value) continue;
    reported_[key] = value;
    reports.push_back({std::string(parameter.name), value});
  }
  return reports;
}

}  // namespace mneme
