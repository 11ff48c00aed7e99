#include "cli/option/help_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/option/workload_settings.h"
#include "workloads/workload_table.h"

namespace mneme {
namespace {

constexpr size_t kLineLength = 110;
constexpr size_t kNameLength = 30;

// The words in front of a part's colon: "crash, acid" of "crash, acid: where ...". Empty: it has none.
std::vector<std::string_view> heads_of(std::string_view part) {
  const size_t colon = part.find(": ");
  if (colon == part.npos) return {};
  std::vector<std::string_view> heads;
  for (std::string_view rest = part.substr(0, colon); !rest.empty();) {
    const size_t comma = std::min(rest.find(", "), rest.size());
    heads.push_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 2, rest.size()));
  }
  return heads;
}

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find("; ");
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 2);
  }
}

std::string shown_names(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(/*positional=*/true);
  std::string names;
  for (const std::string& name : option.get_lnames()) names += (names.empty() ? "--" : ", --") + name;
  for (const std::string& name : option.get_snames())
    names = "-" + name + (names.empty() ? "" : ", ") + names;
  return names;
}

std::string default_of(const CLI::Option& option) {
  const std::string text = option.get_default_str();
  return text.empty() ? "" : fmt::format(" [{}]", text);
}

// The workload that the command line names, if it does by now.
std::string workload_of(const CLI::App& command) {
  const CLI::Option* const named = command.get_option_no_throw("workload");
  if (named == nullptr || named->count() == 0) return "";
  const std::string text = named->results().front();
  return std::ranges::find(workload_names(), text) == workload_names().end() ? "" : text;
}

}  // namespace

std::string_view title_of(OptionGroup group) {
  switch (group) {
    case OptionGroup::kCommand:
      return "Command";
    case OptionGroup::kWorkload:
      return "Workload";
    case OptionGroup::kRun:
      return "Run";
    case OptionGroup::kLogContent:
      return "What the log holds";
    case OptionGroup::kLogBuffer:
      return "The log's buffer";
    case OptionGroup::kLogDevice:
      return "The log's device";
    case OptionGroup::kCheckpoint:
      return "Checkpoints";
    case OptionGroup::kReplay:
      return "Recovery";
    case OptionGroup::kAnalysis:
      return "Analysis of procedures";
    case OptionGroup::kOutput:
      return "Output";
  }
  return "";
}

namespace {

// The parts of a row's text that concern the command and the workload.
std::string parts_for(const std::string& all, const CLI::App& command, std::string_view workload) {
  const auto is_command = [&](std::string_view word) {
    return command.get_parent() != nullptr && !command.get_parent()
                                                   ->get_subcommands([&](const CLI::App* each) {
                                                     return each->get_name() == word &&
                                                            !each->get_group().empty();
                                                   })
                                                   .empty();
  };
  std::string text;
  for (const std::string_view part : parts_of(all)) {
    const std::vector<std::string_view> heads = heads_of(part);
    const bool is_of_some = !heads.empty() && std::ranges::all_of(heads, [&](std::string_view head) {
      const std::string_view word = head.substr(0, head.find(' '));
      return is_command(word) || std::ranges::find(workload_names(), word) != workload_names().end();
    });
    std::string_view shown = part;
    if (is_of_some) {
      const bool is_here = std::ranges::any_of(heads, [&](std::string_view head) {
        const std::string_view word = head.substr(0, head.find(' '));
        return word == command.get_name() || word == workload ||
               (workload.empty() && std::ranges::find(workload_names(), word) != workload_names().end());
      });
      if (!is_here) continue;
      // One workload's words need not name it.
      if (heads.size() == 1 && (heads[0] == command.get_name() || heads[0] == workload))
        shown = part.substr(part.find(": ") + 2);
    }
    text += (text.empty() ? "" : "; ") + std::string(shown);
  }
  return text;
}

}  // namespace

std::string help_for(const OptionRow& row, const CLI::App& command, std::string_view workload) {
  return parts_for(row.help_text(), command, workload);
}

std::string short_help_for(const OptionRow& row, const CLI::App& command, std::string_view workload) {
  return parts_for(row.short_help_text(), command, workload);
}

std::string first_line(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  // The longest beginning that ends with a part; else with a word.
  for (const std::string_view border :
       {std::string_view("; "), std::string_view(": "), std::string_view(", ")}) {
    const size_t end = text.rfind(border, most);
    if (end != text.npos && end >= most / 3) return std::string(text.substr(0, end));
  }
  const size_t end = text.rfind(' ', most - 4);
  return std::string(text.substr(0, end == text.npos ? most - 4 : end)) + " ...";
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  if (app->get_parent() == nullptr) return CLI::Formatter::make_help(app, std::move(name), mode);
  return of_command(*app, mode == CLI::AppFormatMode::All);
}

std::string HelpFormatter::of_command(const CLI::App& command, bool all) {
  const std::string workload = workload_of(command);
  std::string positionals;
  // By group, in the table's order.
  std::vector<std::pair<OptionGroup, std::string>> groups;
  size_t left_out = 0;
  for (const OptionRow& row : option_table()) {
    const std::string first(row.name.substr(0, row.name.find(',')));
    const CLI::Option* const option = command.get_option_no_throw(first);
    if (option == nullptr) continue;
    if (option->get_positional()) {
      positionals += (row.is_required ? fmt::format(" {}", option->get_name(/*positional=*/true))
                                      : fmt::format(" [{}]", option->get_name(/*positional=*/true)));
    } else if (!all && (row.is_rare || !has_use_for(first, workload))) {
      ++left_out;
      continue;
    }
    const std::string names = shown_names(*option);
    const std::string help = help_for(row, command, workload);
    const std::string standard = default_of(*option);
    std::string line;
    if (all) {
      line = fmt::format("  {}{}\n", names, standard);
      std::string_view rest = help;
      while (!rest.empty()) {
        size_t end = rest.size() <= kLineLength - 6 ? rest.size() : rest.rfind(' ', kLineLength - 6);
        if (end == rest.npos) end = rest.size();
        line += fmt::format("      {}\n", rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    } else {
      const size_t room = kLineLength - kNameLength - std::min(standard.size(), size_t{20});
      line = fmt::format("  {:<{}}{}{}\n", names, kNameLength - 2,
                         (names.size() > kNameLength - 3 ? " " : "") +
                             first_line(short_help_for(row, command, workload), room),
                         standard);
    }
    if (groups.empty() || groups.back().first != row.group) {
      const auto known = std::ranges::find(groups, row.group, &std::pair<OptionGroup, std::string>::first);
      if (known != groups.end()) {
        known->second += line;
        continue;
      }
      groups.emplace_back(row.group, "");
    }
    groups.back().second += line;
  }
  std::string text = fmt::format("Usage: mneme {}{} [OPTIONS]\n{}\n", command.get_name(), positionals,
                                 command.get_description());
  for (const auto& [group, lines] : groups) text += fmt::format("\n{}\n{}", title_of(group), lines);
  if (left_out > 0) {
    text += fmt::format("\n{} more, and all that there is to say: mneme {} --help-all\n", left_out,
                        command.get_name());
  }
  return text;
}

}  // namespace mneme
