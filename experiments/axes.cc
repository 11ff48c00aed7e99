#include "experiments/axes.h"

#include <fmt/format.h>

#include <algorithm>

namespace mneme {
namespace {

// Calls `text_part` and `name_part` for what `text` consists of, in order.
template <typename TextPart, typename NamePart>
void split_at_names(std::string_view text, TextPart&& text_part, NamePart&& name_part) {
  while (!text.empty()) {
    const size_t open = text.find('{');
    const size_t close = open == text.npos ? open : text.find('}', open);
    if (close == text.npos) break;
    text_part(text.substr(0, open));
    name_part(text.substr(open + 1, close - open - 1));
    text.remove_prefix(close + 1);
  }
  text_part(text);
}

}  // namespace

bool is_range(std::string_view value) {
  return value == "1..cores" || value == "1..4cores";
}

const FigureAxis* find_axis(const Figure& figure, std::string_view name) {
  const auto found = std::ranges::find(figure.axes, name, &FigureAxis::name);
  return found == figure.axes.end() ? nullptr : &*found;
}

std::vector<AxisValue> values_of(const FigureAxis& axis, const ExperimentScale& scale) {
  std::vector<AxisValue> values;
  for (const AxisValue& value : scale.quick && !axis.quick.empty() ? axis.quick : axis.values) {
    if (!is_range(value.text)) {
      values.push_back(value);
      continue;
    }
    const uint32_t last = value.text == "1..cores" ? scale.cores : 4 * scale.cores;
    for (uint32_t count = 1; count < 2 * last; count *= 2) {
      const std::string text = std::to_string(std::min(count, last));
      values.push_back({text, text});
    }
  }
  return values;
}

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  split_at_names(
      text, [](std::string_view) {}, [&](std::string_view name) { names.emplace_back(name); });
  return names;
}

std::string axis_in(std::string_view name) {
  for (const std::string_view part : {".index", ".all"}) {
    if (name.ends_with(part)) return std::string(name.substr(0, name.size() - part.size()));
  }
  return std::string(name);
}

std::string with_names(std::string_view text, const AxisTexts& texts) {
  std::string filled;
  split_at_names(
      text, [&](std::string_view part) { filled += part; },
      [&](std::string_view name) {
        const auto found = texts.find(std::string(name));
        // Each name once on the way down, so that a text that names itself ends.
        AxisTexts others = texts;
        others.erase(std::string(name));
        filled += found == texts.end() ? fmt::format("{{{}}}", name) : with_names(found->second, others);
      });
  return filled;
}

void add_texts(AxisTexts& texts, const std::string& axis, const std::vector<AxisValue>& values,
               size_t index) {
  std::string all;
  for (const AxisValue& value : values) all += (all.empty() ? "" : ",") + value.text;
  texts[axis] = values[index].text;
  texts[axis + ".index"] = std::to_string(index);
  texts[axis + ".all"] = all;
}

AxisTexts fixed_texts(const Figure& figure, const std::map<std::string, std::string>& where,
                      const ExperimentScale& scale) {
  AxisTexts texts = {{std::string(kCoresName), std::to_string(scale.cores)}};
  for (const FigureAxis& axis : figure.axes) {
    const std::vector<AxisValue> values = values_of(axis, scale);
    if (values.size() == 1) add_texts(texts, axis.name, values, 0);
    const auto chosen = where.find(axis.name);
    if (chosen == where.end()) continue;
    // It need not be among the quick ones.
    for (const auto* const list : {&axis.values, &values}) {
      const auto value = std::ranges::find(*list, chosen->second, &AxisValue::label);
      if (value != list->end())
        add_texts(texts, axis.name, *list, static_cast<size_t>(value - list->begin()));
    }
  }
  return texts;
}

}  // namespace mneme
