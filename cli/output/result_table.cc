#include "cli/output/result_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "engine/schema/type.h"

namespace mneme {

namespace {

std::string centered(const std::string& text, size_t width) {
  const size_t blanks = width - count_characters(text);
  return std::string(blanks / 2, ' ') + text + std::string(blanks - blanks / 2, ' ');
}

}  // namespace

std::string result_text(const StatementResult& result) {
  if (result.columns.empty()) return result.tag + "\n";
  return table_text(result, "",
                    {fmt::format("({} row{})", result.rows.size(), result.rows.size() == 1 ? "" : "s")});
}

std::string table_text(const StatementResult& result, std::string_view title,
                       const std::vector<std::string>& footers) {
  std::vector<size_t> widths;
  size_t whole = result.columns.size() * 3 - 1;
  for (size_t i = 0; i < result.columns.size(); ++i) {
    size_t width = count_characters(result.columns[i].name);
    for (const auto& row : result.rows) width = std::max(width, row[i] ? count_characters(*row[i]) : 0);
    widths.push_back(width);
    whole += width;
  }
  std::string text;
  if (!title.empty()) {
    const size_t length = count_characters(title);
    text += std::string(length < whole ? (whole - length) / 2 : 0, ' ') + std::string(title) + "\n";
  }
  std::string rule;
  for (size_t i = 0; i < widths.size(); ++i) {
    text += fmt::format("{} {} ", i == 0 ? "" : "|", centered(result.columns[i].name, widths[i]));
    rule += (i == 0 ? "" : "+") + std::string(widths[i] + 2, '-');
  }
  text += "\n" + rule + "\n";
  for (const auto& row : result.rows) {
    for (size_t i = 0; i < widths.size(); ++i) {
      const std::string& value = row[i] ? *row[i] : std::string();
      const bool to_the_right = result.columns[i].type.is_number();
      const std::string blanks(widths[i] - count_characters(value), ' ');
      const bool is_last = i + 1 == widths.size();
      text += i == 0 ? " " : "| ";
      text += to_the_right ? blanks + value : is_last ? value : value + blanks;
      if (!is_last) text += " ";
    }
    text += "\n";
  }
  for (const std::string& footer : footers) text += footer + "\n";
  return text + "\n";
}

Json result_json(const StatementResult& result) {
  if (!result.ok()) return {{"sqlstate", result.sqlstate}, {"message", result.message}};
  Json object{{"tag", result.tag}};
  if (!result.warning.empty()) object["warning"] = result.warning;
  if (!result.notice.empty()) object["notice"] = result.notice;
  if (result.columns.empty()) return object;
  object["columns"] = Json::array();
  for (const ResultColumn& column : result.columns) {
    object["columns"].push_back({{"name", column.name}, {"type", to_string(column.type)}});
  }
  object["rows"] = Json::array();
  for (const auto& row : result.rows) {
    Json values = Json::array();
    for (const std::optional<std::string>& value : row) values.push_back(value ? Json(*value) : Json());
    object["rows"].push_back(std::move(values));
  }
  return object;
}

}  // namespace mneme
