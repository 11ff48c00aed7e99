#include "measurement/result/value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <utility>

#include "base/nearest_word.h"
#include "base/words.h"
#include "measurement/statistics/median.h"

namespace mneme {
namespace {

using Json = nlohmann::ordered_json;

using NumberOf = std::function<Result<double>(const std::string& name)>;

class Evaluation {
 public:
  Evaluation(std::vector<std::string> words, NumberOf number_of)
      : words_(std::move(words)), number_of_(std::move(number_of)) {}

  Result<double> whole() {
    const Result<double> value = sequence();
    if (!value.ok() || at_ == words_.size()) return value;
    return failed("nothing can follow behind \"{}\"", words_[at_ - 1]);
  }

 private:
  Result<double> sequence() {
    Result<double> value = operand();
    while (value.ok() && at_ < words_.size() && words_[at_] != ")") {
      const std::string& word = words_[at_++];
      const Result<double> next = operand();
      if (!next) return next.error();
      if (word == "+") {
        *value += *next;
      } else if (word == "-") {
        *value -= *next;
      } else if (word == "*") {
        *value *= *next;
      } else if (word == "/") {
        *value = *next == 0 ? 0 : *value / *next;
      } else {
        return failed("\"{}\" is no operator: there are + - * /", word);
      }
    }
    return value;
  }

  Result<double> operand() {
    if (at_ == words_.size()) return failed("an expression ends too soon");
    const std::string& word = words_[at_++];
    if (word == "(") {
      const Result<double> inner = sequence();
      if (!inner) return inner;
      if (at_ == words_.size()) return failed("a bracket is not closed");
      ++at_;
      return inner;
    }
    if (const auto number = number_in(word)) return *number;
    return number_of_(word);
  }

  const std::vector<std::string> words_;
  const NumberOf number_of_;
  size_t at_ = 0;
};

// The names of all numbers in `result`, except those in lists, "a.b" for those in objects.
void add_number_names(const Json& result, const std::string& before, std::vector<std::string>& names) {
  for (const auto& [name, part] : result.items()) {
    if (part.is_number()) names.push_back(before + name);
    if (part.is_object()) add_number_names(part, before + name + ".", names);
  }
}

// What might have been meant by `name`, and what stands beside it.
std::string names_there(std::string_view name, const Json& result) {
  std::vector<std::string> all;
  add_number_names(result, "", all);
  const std::string meant = nearest_word(name, all);
  const Json* part = &result;
  std::string_view above;
  for (size_t dot = name.find('.'); dot != name.npos; dot = name.find('.', dot + 1)) {
    const Json* const next = part_of(result, name.substr(0, dot));
    if (next == nullptr || !next->is_object()) break;
    part = next;
    above = name.substr(0, dot);
  }
  std::vector<std::string> beside;
  for (const auto& [key, value] : part->items()) {
    if (value.is_number()) beside.push_back(key);
    if (value.is_object()) beside.push_back(key + ".*");
  }
  return fmt::format("{} are{}: {}",
                     meant.empty() ? "; there" : fmt::format("; did you mean {}? There", meant),
                     above.empty() ? "" : fmt::format(" in {}", above), fmt::join(beside, ", "));
}

}  // namespace

std::optional<double> number_in(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

const Json* part_of(const Json& result, std::string_view name) {
  const Json* at = &result;
  while (!name.empty()) {
    const size_t dot = std::min(name.find('.'), name.size());
    const std::string part(name.substr(0, dot));
    name.remove_prefix(std::min(dot + 1, name.size()));
    if (at->is_array()) {
      const std::optional<double> index = number_in(part);
      if (!index || *index < 0 || *index >= static_cast<double>(at->size())) return nullptr;
      at = &(*at)[static_cast<size_t>(*index)];
    } else if (at->is_object() && at->contains(part)) {
      at = &(*at)[part];
    } else {
      return nullptr;
    }
  }
  return at;
}

Result<double> value_of(std::string_view expression, const Json& result) {
  return Evaluation(words_of(expression),
                    [&](const std::string& name) -> Result<double> {
                      const Json* const part = part_of(result, name);
                      if (part == nullptr || !part->is_number())
                        return failed("the command's JSON has no number \"{}\"{}", name,
                                      names_there(name, result));
                      return part->get<double>();
                    })
      .whole();
}

Result<std::vector<std::string>> names_of_expression(std::string_view expression) {
  std::vector<std::string> names;
  const Result<double> value = Evaluation(words_of(expression), [&](const std::string& name) {
                                 names.push_back(name);
                                 return Result<double>(1);
                               }).whole();
  if (!value) return value.error();
  return names;
}

Result<std::vector<double>> list_of(std::string_view name, const Json& result) {
  const Json* const part = part_of(result, name);
  if (part == nullptr || !part->is_array()) return failed("the command's JSON has no list \"{}\"", name);
  std::vector<double> list;
  for (const Json& each : *part) {
    if (!each.is_number()) return failed("the command's JSON has a list \"{}\" that is not of numbers", name);
    list.push_back(each.get<double>());
  }
  return list;
}

Spread spread_of(std::vector<double> runs) {
  const auto [least, most] = std::ranges::minmax(runs);
  return {median_of(runs), least, most};
}

}  // namespace mneme
