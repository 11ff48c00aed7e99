#include "experiments/value.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "experiments/plan.h"
#include "measurement/statistics/median.h"

namespace mneme {
namespace {

using Json = nlohmann::ordered_json;

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

class Evaluation {
 public:
  Evaluation(std::vector<std::string> words, const Json& result)
      : words_(std::move(words)), result_(result) {}

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
    const Json* const part = part_of(result_, word);
    if (part == nullptr || !part->is_number()) return failed("the command's JSON has no number \"{}\"", word);
    return part->get<double>();
  }

  const std::vector<std::string> words_;
  const Json& result_;
  size_t at_ = 0;
};

}  // namespace

Result<double> value_of(std::string_view expression, const Json& result) {
  return Evaluation(words_of(expression), result).whole();
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
