#include "cli/output/provenance.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "measurement/machine/build.h"
#include "measurement/machine/command_line.h"
#include "measurement/machine/host.h"

namespace mneme {
namespace {

template <typename Value>
Json value_or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

// JSON is UTF-8, and arguments are any bytes: where they are no UTF-8, what is not ASCII becomes "?".
std::string printable(std::string text) {
  if (invalid_utf8(text) == std::string_view::npos) return text;
  std::ranges::replace_if(
      text, [](char each) { return (each & 0x80) != 0; }, '?');
  return text;
}

}  // namespace

Provenance::Provenance(std::string data_directory)
    : data_directory_(std::move(data_directory)), started_(date()), load_before_(load_average()) {}

std::vector<std::string> Provenance::shown_command_line() const {
  std::vector<std::string> words = command_line();
  for (std::string& word : words) {
    for (const auto& [hidden, shown] : hidden_) {
      // By itself, or behind an option and "=".
      if (!hidden.empty() && word.ends_with(hidden))
        word.replace(word.size() - hidden.size(), hidden.size(), shown);
    }
  }
  return words;
}

void Provenance::add_to(Json& result, std::optional<uint64_t> seed) const {
  const Build& build = this_build();
  result["version"] = build.version;
  result["commit"] = commit_json(build);
  result["command_line"] = printable(command_line_text(shown_command_line()));
  result["seed"] = value_or_null(seed);
  result["started"] = utc_text(started_);
  Json& host = result["host"] = json_of(examine_host());
  host["disk"] = data_directory_.empty() ? Json() : json_of(disk_of(data_directory_));
  host["load_before"] = value_or_null(load_before_);
  host["load_after"] = value_or_null(load_average());
  result["build"] = json_of(build);
}

}  // namespace mneme
