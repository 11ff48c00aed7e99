#include "measurement/toml/toml_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/nearest_word.h"
#include "base/words.h"

namespace mneme {

bool is_among(std::span<const std::string> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

void TomlReader::problem(FilePlace place, std::string_view text) {
  problems_.push_back({place, std::string(text)});
}

Error TomlReader::error() const {
  std::vector<Problem> sorted = problems_;
  std::ranges::sort(sorted);
  sorted.erase(std::ranges::unique(sorted).begin(), sorted.end());
  std::string all;
  for (const Problem& each : sorted) {
    all += fmt::format("{}{}: {}", all.empty() ? "" : "\n", place_text(each.place), each.text);
  }
  return invalid_argument("{}", all);
}

const TomlValue* TomlReader::find(const TomlValue& table, std::string_view key) {
  const auto found = std::ranges::find(table.members, key, &TomlValue::Member::name);
  return found == table.members.end() ? nullptr : &found->value;
}

std::string TomlReader::advice(std::string_view word, std::span<const std::string> words) {
  const std::string meant = nearest_word(word, words);
  return fmt::format("{} {}: {}", meant.empty() ? "; there" : fmt::format("; did you mean {}? There", meant),
                     words.size() == 1 ? "is" : "are", fmt::join(words, ", "));
}

void TomlReader::check_keys(const TomlValue& table, std::string_view what,
                            std::span<const std::string> keys) {
  for (const TomlValue::Member& member : table.members) {
    if (is_among(keys, member.name)) continue;
    problem(member.place,
            fmt::format("{} has no key \"{}\"{}", what, member.name, advice(member.name, keys)));
  }
}

bool TomlReader::is(const TomlValue& value, TomlValue::Kind kind, std::string_view name) {
  if (value.kind == kind) return true;
  problem(value.place,
          fmt::format("{} must be {}, and is {}", name, TomlValue::name_of(kind), value.kind_name()));
  return false;
}

std::string TomlReader::required_text(const TomlValue& table, std::string_view key, std::string_view what) {
  const TomlValue* const value = find(table, key);
  if (value == nullptr) {
    problem(table.place, fmt::format("{} needs {} = \"...\"", what, key));
    return "";
  }
  if (value->kind == TomlValue::Kind::kText && value->text.empty())
    problem(value->place, fmt::format("{} is empty", key));
  return text(table, key);
}

std::string TomlReader::text(const TomlValue& table, std::string_view key) {
  const TomlValue* const value = find(table, key);
  if (value == nullptr || !is(*value, TomlValue::Kind::kText, key)) return "";
  if (value->text.find_first_of("\n\r") != std::string::npos) {
    problem(value->place, fmt::format("{} must be on one line", key));
    return "";
  }
  return value->text;
}

std::vector<std::string> TomlReader::prose_list(const TomlValue& table, std::string_view key) {
  std::vector<std::string> texts;
  const TomlValue* const value = find(table, key);
  if (value == nullptr) return texts;
  for (const TomlValue& item :
       value->kind == TomlValue::Kind::kArray ? value->items : std::vector<TomlValue>{*value}) {
    if (is(item, TomlValue::Kind::kText, key))
      texts.push_back(fmt::format("{}", fmt::join(words_of(item.text), " ")));
  }
  return texts;
}

std::string TomlReader::prose(const TomlValue& table, std::string_view key) {
  const TomlValue* const value = find(table, key);
  if (value == nullptr || !is(*value, TomlValue::Kind::kText, key)) return "";
  return prose_list(table, key)[0];
}

std::vector<const TomlValue*> TomlReader::tables(const TomlValue& table, std::string_view key,
                                                 std::string_view list, std::string_view what) {
  std::vector<const TomlValue*> found;
  const TomlValue* const value = find(table, key);
  if (value == nullptr || !is(*value, TomlValue::Kind::kArray, list)) return found;
  for (const TomlValue& item : value->items) {
    if (is(item, TomlValue::Kind::kTable, what)) found.push_back(&item);
  }
  return found;
}

uint64_t TomlReader::number(const TomlValue& table, std::string_view key, uint64_t missing, uint64_t least,
                            uint64_t most) {
  const TomlValue* const value = find(table, key);
  if (value == nullptr || !is(*value, TomlValue::Kind::kInteger, key)) return missing;
  if (value->integer < 0 || static_cast<uint64_t>(value->integer) < least ||
      static_cast<uint64_t>(value->integer) > most) {
    problem(value->place, fmt::format("{} is {}, and must be {} to {}", key, value->integer, least, most));
    return missing;
  }
  return static_cast<uint64_t>(value->integer);
}

bool TomlReader::boolean(const TomlValue& table, std::string_view key) {
  const TomlValue* const value = find(table, key);
  return value != nullptr && is(*value, TomlValue::Kind::kBoolean, key) && value->boolean;
}

std::string TomlReader::choice(const TomlValue& table, std::string_view key,
                               std::span<const std::string> choices, const std::string& missing) {
  const TomlValue* const value = find(table, key);
  if (value == nullptr || !is(*value, TomlValue::Kind::kText, key)) return missing;
  if (!is_among(choices, value->text)) {
    problem(value->place,
            fmt::format("{} can't be \"{}\"{}", key, value->text, advice(value->text, choices)));
    return missing;
  }
  return value->text;
}

}  // namespace mneme
