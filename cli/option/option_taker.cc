// Finds options by name, and gives them to commands.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "base/nearest_word.h"
#include "cli/option/option_table.h"

namespace mneme {

namespace {

bool has_name(std::string_view names, std::string_view name) {
  if (names == name) return true;
  const size_t comma = names.find(',');
  return comma != names.npos && (names.substr(0, comma) == name || names.substr(comma + 1) == name);
}

// "occ: optimistic; 2pl: ...", or, where none has a meaning, "pipelined, static".
std::string words_text(const OptionWords& words, bool with_meanings) {
  const bool has_meanings = with_meanings && !std::ranges::all_of(words, [](const OptionWord& each) {
                              return each.meaning.empty();
                            });
  std::string text;
  for (const OptionWord& each : words) {
    if (!text.empty()) text += has_meanings ? "; " : ", ";
    text += each.word;
    if (has_meanings && !each.meaning.empty()) text += ": " + each.meaning;
  }
  return text;
}

std::string filled_help(const OptionRow& row, bool with_meanings) {
  if (row.words == nullptr) return std::string(row.help);
  return fmt::format(fmt::runtime(row.help), words_text(row.words(), with_meanings));
}

CLI::Validator one_of_the_words(const OptionWords& words) {
  std::vector<std::string> known;
  for (const OptionWord& each : words) known.push_back(each.word);
  return CLI::Validator(
      [known](std::string& text) -> std::string {
        if (std::ranges::find(known, text) != known.end()) return "";
        const std::string meant = nearest_word(text, known);
        return fmt::format("{} is none of {}{}", text, fmt::join(known, ", "),
                           meant.empty() ? "" : fmt::format("; did you mean {}?", meant));
      },
      "");
}

}  // namespace

std::string OptionRow::help_text() const {
  return filled_help(*this, /*with_meanings=*/true);
}

std::string OptionRow::short_help_text() const {
  return filled_help(*this, /*with_meanings=*/false);
}

const OptionRow& option_row(std::string_view name) {
  const std::span table = option_table();
  const auto row =
      std::ranges::find_if(table, [&](const OptionRow& each) { return has_name(each.name, name); });
  if (row != table.end()) return *row;
  std::fprintf(stderr, "mneme: the option table has no row %.*s\n", static_cast<int>(name.size()),
               name.data());
  std::abort();
}

const std::vector<const char*>& option_names(OptionGroup group) {
  static const auto names = [] {
    std::array<std::vector<const char*>, static_cast<size_t>(OptionGroup::kOutput) + 1> lists;
    const std::span table = option_table();
    // "--warehouses,--scale" is found by CLI11 under its first name alone.
    static std::vector<std::string> first(table.size());
    for (size_t i = 0; i < table.size(); ++i) {
      first[i] = table[i].name.substr(0, table[i].name.find(','));
      lists[static_cast<size_t>(table[i].group)].push_back(first[i].c_str());
    }
    return lists;
  }();
  return names[static_cast<size_t>(group)];
}

bool is_given(const CLI::App& command, const char* name) {
  const CLI::Option* option = command.get_option_no_throw(name);
  return option != nullptr && option->count() > 0;
}

bool is_any_given(const CLI::App& command, OptionGroup group) {
  return std::ranges::any_of(option_names(group), [&](const char* name) { return is_given(command, name); });
}

CLI::Option* OptionTaker::function(std::string_view name,
                                   const std::function<void(const std::string&)>& sets) const {
  const OptionRow& row = option_row(name);
  return finish(row, command_->add_option_function<std::string>(std::string(name), sets, row.help_text()),
                false);
}

CLI::Option* OptionTaker::finish(const OptionRow& row, CLI::Option* option, bool is_whole) {
  if (row.is_required) option->required();
  if (row.delimiter != 0) option->delimiter(row.delimiter);
  if (row.unit != OptionUnit::kNone) {
    option->transform(CLI::Validator(
        [unit = row.unit, is_whole](std::string& text) { return convert_to(unit, is_whole, text); }, ""));
  }
  if (row.check != nullptr) option->check(row.check());
  if (row.has_words_alone) option->check(one_of_the_words(row.words()));
  if (row.shows_default) option->capture_default_str();
  return option;
}

}  // namespace mneme
