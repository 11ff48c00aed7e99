#include "workloads/shared/drawn_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "procedures/interpreter/call_text.h"
#include "procedures/values/value_text.h"
#include "workloads/shared/random_values.h"

namespace mneme {
namespace {

constexpr std::string_view kRange = "..";
// More would be a mistake, and take memory for each call.
constexpr int64_t kMostElements = 10'000;

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// Cuts `text` at the first `mark`. False: it has none.
bool cut(std::string_view text, std::string_view mark, std::string_view& before, std::string_view& after) {
  const size_t at = text.find(mark);
  if (at == std::string_view::npos) return false;
  before = trimmed(text.substr(0, at));
  after = trimmed(text.substr(at + mark.size()));
  return true;
}

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word) || text.size() == word.size() || text[word.size()] != ' ') return false;
  text = trimmed(text.substr(word.size()));
  return true;
}

Error no_rule(const Type& type, std::string_view rule) {
  return invalid_argument(
      "'={}' is no rule for a value of type {}: there are =LOW..HIGH, =LOW..HIGH zipf THETA, =A|B|C, "
      "=number; of text, with "
      "braces, =user-{{1..1000}}, ={{letters 8..16}}, ={{digits 4}}; of arrays, =COUNT of RULE; and a value "
      "that begins with = "
      "is written with two",
      rule, to_string(type));
}

Result<Value> parse_bound(const Type& type, std::string_view text, Arena& kept) {
  const Result<Argument> bound = parse_argument(type, text, kept);
  if (!bound) return bound.error();
  return bound->scalar;
}

}  // namespace

Result<DrawnValue> DrawnValue::parse(const Type& type, std::string_view field, int64_t most, Arena& kept) {
  if (field.starts_with('=') && !field.starts_with("==")) {
    field.remove_prefix(1);
    if (type.is_array) return parse_elements(type, field, most, kept);
    return type.is_string() ? parse_text(type, field, most, kept)
                            : parse_rule(type, trimmed(field), most, kept);
  }
  if (field.starts_with("==")) field.remove_prefix(1);
  const Result<Argument> value = parse_argument(type, kept.copy(field), kept);
  if (!value) return value.error();
  DrawnValue drawn;
  drawn.rule_ = *value;
  return drawn;
}

Result<DrawnValue> DrawnValue::parse_rule(const Type& type, std::string_view rule, int64_t most,
                                          Arena& kept) {
  DrawnValue drawn;
  if (rule == "number" && type.is_integer()) {
    if (!fits_integer(type.kind, most)) {
      return invalid_argument("'=number' goes beyond what a value of type {} holds: declare it as BIGINT",
                              to_string(type));
    }
    drawn.rule_ = Number{};
    return drawn;
  }
  if (rule.find('|') != std::string_view::npos) {
    OneOf values;
    for (std::string_view rest = rule; !rest.empty();) {
      const size_t end = std::min(rest.find('|'), rest.size());
      const Result<Value> value = parse_bound(type, kept.copy(trimmed(rest.substr(0, end))), kept);
      if (!value) return value.error();
      values.push_back(*value);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    drawn.rule_ = std::move(values);
    return drawn;
  }
  if (rule.find(kRange) != std::string_view::npos) return parse_range(type, rule, kept);
  return no_rule(type, rule);
}

Result<DrawnValue> DrawnValue::parse_range(const Type& type, std::string_view rule, Arena& kept) {
  std::string_view theta;
  std::string_view bounds = rule;
  const bool is_skewed = cut(rule, " zipf ", bounds, theta);
  std::string_view low_text;
  std::string_view high_text;
  if (!cut(bounds, kRange, low_text, high_text) || type.kind == TypeKind::kBoolean ||
      type.kind == TypeKind::kInterval)
    return no_rule(type, rule);
  const Result<Value> low = parse_bound(type, low_text, kept);
  if (!low) return low.error();
  const Result<Value> high = parse_bound(type, high_text, kept);
  if (!high) return high.error();

  DrawnValue drawn;
  if (type.is_floating()) {
    if (is_skewed)
      return invalid_argument("'={}': zipf draws among whole steps, which a double has none of", rule);
    if (!(low->as_double() <= high->as_double()))
      return invalid_argument("'={}' is empty: write the lower bound first", rule);
    drawn.rule_ = DoubleRange{low->as_double(), high->as_double(), type.kind == TypeKind::kReal};
    return drawn;
  }
  drawn.is_numeric_ = type.kind == TypeKind::kNumeric;
  const auto narrow = [&](const Value& value) { return static_cast<int64_t>(value.as_numeric()); };
  if (drawn.is_numeric_ && (low->as_numeric() != narrow(*low) || high->as_numeric() != narrow(*high))) {
    return invalid_argument("'={}': the bounds of what is drawn have 18 digits at most", rule);
  }
  const Range range =
      drawn.is_numeric_ ? Range{narrow(*low), narrow(*high)} : Range{low->as_int(), high->as_int()};
  if (range.low > range.high) return invalid_argument("'={}' is empty: write the lower bound first", rule);
  if (!is_skewed) {
    drawn.rule_ = range;
    return drawn;
  }
  double skew = -1;
  const auto [end, error] = std::from_chars(theta.data(), theta.data() + theta.size(), skew);
  if (error != std::errc() || end != theta.data() + theta.size()) return no_rule(type, rule);
  RETURN_IF_ERROR(Zipf::check(skew));
  constexpr uint64_t kMostRanks = 100'000'000;  // the sum over all of them takes a second or two
  const uint64_t ranks = static_cast<uint64_t>(range.high) - static_cast<uint64_t>(range.low) + 1;
  if (ranks == 0 || ranks > kMostRanks) {
    return invalid_argument("'={}': zipf draws among {} values at most", rule, kMostRanks);
  }
  drawn.rule_ = Skewed{range.low, std::make_shared<const Zipf>(ranks, skew)};
  return drawn;
}

Result<DrawnValue::Range> DrawnValue::parse_count(std::string_view text) {
  std::string_view low_text = text;
  std::string_view high_text = text;
  cut(text, kRange, low_text, high_text);
  Range range{};
  const auto read = [](std::string_view digits, int64_t& number) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return error == std::errc() && end == digits.data() + digits.size();
  };
  if (!read(low_text, range.low) || !read(high_text, range.high) || range.low < 0 || range.low > range.high ||
      range.high > kMostElements) {
    return invalid_argument("'{}' is no count: write a number, or LOW..HIGH, up to {}", text, kMostElements);
  }
  return range;
}

Result<DrawnValue> DrawnValue::parse_elements(const Type& type, std::string_view rule, int64_t most,
                                              Arena& kept) {
  std::string_view count_text;
  std::string_view element_text;
  if (!cut(rule, " of ", count_text, element_text)) return no_rule(type, rule);
  const Result<Range> count = parse_count(count_text);
  if (!count) return count.error();
  Result<DrawnValue> element = parse(type.element(), std::string("=").append(element_text), most, kept);
  if (!element) return element.error();
  DrawnValue drawn;
  drawn.rule_ = Elements{*count, std::make_unique<DrawnValue>(*std::move(element))};
  return drawn;
}

Result<DrawnValue> DrawnValue::parse_braces(std::string_view rule, int64_t most, Arena& kept) {
  DrawnValue drawn;
  std::string_view count_text = rule;
  for (const auto& [word, alphabet] : {std::pair{"letters", kLetters}, std::pair{"digits", kDigits}}) {
    if (!take_word(count_text, word)) continue;
    const Result<Range> count = parse_count(count_text);
    if (!count) return count.error();
    drawn.rule_ = Characters{alphabet, *count};
    return drawn;
  }
  if (rule.find('|') != std::string_view::npos) {
    return parse_rule(Type{.kind = TypeKind::kVarchar, .is_text = true}, rule, most, kept);
  }
  return parse_rule(Type{.kind = TypeKind::kBigInt}, rule, most, kept);
}

Result<DrawnValue> DrawnValue::parse_text(const Type& type, std::string_view text, int64_t most,
                                          Arena& kept) {
  if (text.find('{') != std::string_view::npos) return parse_template(type, text, most, kept);
  // A rule alone needs no braces.
  Result<DrawnValue> drawn = parse_template(type, fmt::format("{{{}}}", text), most, kept);
  const bool looks_like_a_rule =
      text.find('|') != std::string_view::npos || text.find(kRange) != std::string_view::npos;
  if (!drawn && !looks_like_a_rule) return no_rule(type, text);
  return drawn;
}

Result<DrawnValue> DrawnValue::parse_template(const Type& type, std::string_view text, int64_t most,
                                              Arena& kept) {
  Template parts;
  const std::string_view whole = kept.copy(text);
  for (std::string_view rest = whole;;) {
    const size_t open = rest.find('{');
    Part part{rest.substr(0, std::min(open, rest.size())), nullptr};
    if (open == std::string_view::npos) {
      if (parts.empty()) return no_rule(type, text);
      parts.push_back(std::move(part));
      break;
    }
    const size_t close = rest.find('}', open);
    if (close == std::string_view::npos) return no_rule(type, text);
    Result<DrawnValue> drawn = parse_braces(trimmed(rest.substr(open + 1, close - open - 1)), most, kept);
    if (!drawn) return drawn.error();
    part.drawn = std::make_shared<const DrawnValue>(*std::move(drawn));
    parts.push_back(std::move(part));
    rest.remove_prefix(close + 1);
  }
  DrawnValue drawn;
  drawn.trims_ = type.kind == TypeKind::kChar;
  drawn.rule_ = std::move(parts);
  if (const size_t longest = drawn.most_bytes(most); type.length != 0 && longest > type.length) {
    return invalid_argument("'={}' may take {} bytes, and {} has room for {}", text, longest, to_string(type),
                            type.length);
  }
  // The fixed part must be text that the type takes, which is UTF-8.
  std::string fixed;
  for (const Part& part : std::get<Template>(drawn.rule_)) fixed += part.before;
  if (const Result<Value> fits =
          parse_bound(Type{.kind = TypeKind::kVarchar, .is_text = true}, kept.copy(fixed), kept);
      !fits) {
    return fits.error();
  }
  return drawn;
}

size_t DrawnValue::most_bytes(int64_t most) const {
  const auto digits = [](int64_t number) { return std::to_string(number).size(); };
  if (const auto* range = std::get_if<Range>(&rule_))
    return std::max(digits(range->low), digits(range->high));
  if (const auto* skewed = std::get_if<Skewed>(&rule_)) {
    return std::max(digits(skewed->low),
                    digits(skewed->low + static_cast<int64_t>(skewed->ranks->count()) - 1));
  }
  if (std::holds_alternative<Number>(rule_)) return digits(most);
  if (const auto* characters = std::get_if<Characters>(&rule_))
    return static_cast<size_t>(characters->count.high);
  size_t bytes = 0;
  if (const auto* argument = std::get_if<Argument>(&rule_)) {
    if (argument->scalar.kind() == Value::Kind::kText) bytes = argument->scalar.as_text().size();
  } else if (const auto* values = std::get_if<OneOf>(&rule_)) {
    for (const Value& value : *values) bytes = std::max(bytes, value.as_text().size());
  } else if (const auto* parts = std::get_if<Template>(&rule_)) {
    for (const Part& part : *parts) {
      bytes += part.before.size() + (part.drawn ? part.drawn->most_bytes(most) : 0);
    }
  }
  return bytes;
}

Value DrawnValue::draw_scalar(Drawing& drawing) const {
  const auto of_steps = [&](int64_t steps) {
    return is_numeric_ ? Value::of_numeric(steps) : Value::of_int(steps);
  };
  if (const auto* range = std::get_if<Range>(&rule_)) return of_steps(range->draw(drawing.random));
  if (const auto* skewed = std::get_if<Skewed>(&rule_)) {
    return of_steps(skewed->low + static_cast<int64_t>(skewed->ranks->draw(drawing.random)));
  }
  if (std::holds_alternative<Number>(rule_)) return Value::of_int(drawing.number);
  if (const auto* range = std::get_if<DoubleRange>(&rule_)) {
    const double part = static_cast<double>(drawing.random.next() >> 11) * 0x1p-53;
    const double drawn = range->low + part * (range->high - range->low);
    return Value::of_double(range->is_real ? double{static_cast<float>(drawn)} : drawn);
  }
  if (const auto* values = std::get_if<OneOf>(&rule_)) {
    return (
        *values)[static_cast<size_t>(drawing.random.uniform(0, static_cast<int64_t>(values->size()) - 1))];
  }
  if (const auto* characters = std::get_if<Characters>(&rule_)) {
    const auto count = static_cast<size_t>(characters->count.draw(drawing.random));
    const std::span<char> drawn =
        random_characters(drawing.random, characters->alphabet, count, drawing.memory);
    return Value::of_text({drawn.data(), drawn.size()});
  }
  std::string text;
  for (const Part& part : std::get<Template>(rule_)) {
    text += part.before;
    if (part.drawn == nullptr) continue;
    const Value drawn = part.drawn->draw_scalar(drawing);
    const bool is_text = std::holds_alternative<Characters>(part.drawn->rule_) ||
                         std::holds_alternative<OneOf>(part.drawn->rule_);
    text += is_text ? std::string(drawn.as_text()) : std::to_string(drawn.as_int());
  }
  while (trims_ && text.ends_with(' ')) text.pop_back();
  return Value::of_text(drawing.memory.copy(text));
}

Argument DrawnValue::draw(Drawing& drawing) const {
  if (const auto* value = std::get_if<Argument>(&rule_)) return *value;
  const auto* elements = std::get_if<Elements>(&rule_);
  if (elements == nullptr) return Argument::of(draw_scalar(drawing));
  const auto count = static_cast<size_t>(elements->count.draw(drawing.random));
  const std::span<Value> values = drawing.memory.make_array<Value>(count);
  for (Value& value : values) value = elements->element->draw(drawing).scalar;
  return Argument::of_array(values);
}

}  // namespace mneme
