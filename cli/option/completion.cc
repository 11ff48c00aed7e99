#include "cli/option/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "cli/option/help_text.h"
#include "cli/option/option_table.h"
#include "measurement/machine/build.h"
#include "workloads/workload_table.h"

namespace mneme {
namespace {

std::vector<const CLI::App*> shown_commands(const CLI::App& program) {
  std::vector<const CLI::App*> commands;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) commands.push_back(command);
  }
  return commands;
}

// The command's rows, in the table's order.
std::vector<const OptionRow*> rows_of(const CLI::App& command) {
  std::vector<const OptionRow*> rows;
  for (const OptionRow& row : option_table()) {
    if (command.get_option_no_throw(std::string(row.name.substr(0, row.name.find(',')))) != nullptr)
      rows.push_back(&row);
  }
  return rows;
}

std::vector<std::string> all_names(const OptionRow& row) {
  std::vector<std::string> names;
  for (std::string_view rest = row.name; !rest.empty();) {
    const size_t comma = std::min(rest.find(','), rest.size());
    names.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return names;
}

std::vector<std::string> words_of(const OptionRow& row) {
  std::vector<std::string> words;
  if (row.words == nullptr) return words;
  for (OptionWord& each : row.words()) words.push_back(std::move(each.word));
  return words;
}

std::string listed_options(const CLI::App& command) {
  std::vector<std::string> names = {"--help", "--help-all"};
  for (const OptionRow* row : rows_of(command)) {
    if (!row->name.starts_with("--")) continue;
    for (std::string& name : all_names(*row)) names.push_back(std::move(name));
  }
  return fmt::format("{}", fmt::join(names, " "));
}

bool takes_workload(const CLI::App& command) {
  for (const char* const name : {"workload", "workloads", "source"}) {
    if (command.get_option_no_throw(name) != nullptr) return true;
  }
  return false;
}

// For zsh's _arguments, in single quotes.
std::string escaped(std::string_view text) {
  std::string shown;
  for (const char c : text) {
    if (c == '\'') {
      shown += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') shown += '\\';
      shown += c;
    }
  }
  return shown;
}

// For troff.
std::string troff(std::string_view text) {
  std::string shown;
  for (const char c : text) {
    if (c == '\\') {
      shown += "\\e";
    } else if (c == '-') {
      shown += "\\-";
    } else {
      shown += c;
    }
  }
  // A line that begins with one of these would be a request.
  if (shown.starts_with('.') || shown.starts_with('\'')) shown.insert(0, "\\&");
  return shown;
}

}  // namespace

std::string bash_completion(const CLI::App& program) {
  std::vector<std::string> commands;
  std::string options;
  std::string values;
  std::string workloads;
  for (const CLI::App* command : shown_commands(program)) {
    commands.push_back(command->get_name());
    options += fmt::format("    {}) options=\"{}\" ;;\n", command->get_name(), listed_options(*command));
    if (takes_workload(*command)) workloads += (workloads.empty() ? "" : "|") + command->get_name();
    for (const OptionRow* row : rows_of(*command)) {
      const std::vector<std::string> listed = words_of(*row);
      if (listed.empty()) continue;
      const std::string line =
          fmt::format("    {}) values=\"{}\" ;;\n", fmt::join(all_names(*row), "|"), fmt::join(listed, " "));
      if (values.find(line) == values.npos) values += line;
    }
  }
  return fmt::format(
      R"(# Completion of mneme for bash: source this file, or keep it in /usr/share/bash-completion/completions/mneme.
_mneme() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" command="" options="" values=""
  local i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "${{COMP_WORDS[i]}}" in -*) ;; *) command="${{COMP_WORDS[i]}}"; break ;; esac
  done
  if [[ -z "$command" ]]; then
    COMPREPLY=($(compgen -W "{commands} --help --version" -- "$word"))
    return
  fi
  case "$before" in
{values}  esac
  if [[ -n "$values" ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$word"))
    return
  fi
  case "$command" in
{options}  esac
  if [[ "$word" == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
    return
  fi
  COMPREPLY=($(compgen -f -- "$word"))
  case "$command" in
    {workloads}) COMPREPLY+=($(compgen -W "{names}" -- "$word")) ;;
  esac
}}
complete -o filenames -F _mneme mneme
)",
      fmt::arg("commands", fmt::join(commands, " ")), fmt::arg("values", values),
      fmt::arg("options", options), fmt::arg("workloads", workloads),
      fmt::arg("names", fmt::join(workload_names(), " ")));
}

std::string zsh_completion(const CLI::App& program) {
  std::string commands;
  std::string cases;
  for (const CLI::App* command : shown_commands(program)) {
    commands += fmt::format("    '{}:{}'\n", command->get_name(), escaped(command->get_description()));
    cases += fmt::format(
        "    {})\n      _arguments '--help[show the options that are used most]' "
        "'--help-all[show all options]' \\\n",
        command->get_name());
    for (const OptionRow* row : rows_of(*command)) {
      if (!row->name.starts_with("--")) continue;
      const std::string help = escaped(first_line(short_help_for(*row, *command, ""), 70));
      const std::vector<std::string> listed = words_of(*row);
      const bool is_flag = command->get_option_no_throw(all_names(*row).front())->get_type_size() == 0;
      const std::string value = is_flag          ? ""
                                : listed.empty() ? ":value:_files"
                                                 : fmt::format(":value:({})", fmt::join(listed, " "));
      for (const std::string& name : all_names(*row))
        cases += fmt::format("        '{}[{}]{}' \\\n", name, help, value);
    }
    cases += takes_workload(*command)
                 ? fmt::format(
                       "        '*:workload:_alternative \"workloads:workload:({})\" \"files:file:_files\"'",
                       fmt::join(workload_names(), " "))
                 : std::string("        '*:file:_files'");
    cases += "\n      ;;\n";
  }
  return fmt::format(R"(#compdef mneme
# Completion of mneme for zsh: keep it as _mneme in a directory of fpath.
_mneme() {{
  local -a commands
  commands=(
{commands}  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{cases}  esac
}}
_mneme "$@"
)",
                     fmt::arg("commands", commands), fmt::arg("cases", cases));
}

std::string manual_page(const CLI::App& program) {
  std::string text = fmt::format(
      ".TH MNEME 1 \"\" \"mneme {}\" \"Mneme\"\n.SH NAME\nmneme \\- {}\n.SH SYNOPSIS\n.B mneme\n.I "
      "COMMAND\n[OPTIONS]\n"
      ".SH COMMANDS\n",
      this_build().version, troff("a main-memory OLTP engine with a command log and parallel recovery"));
  for (const CLI::App* command : shown_commands(program))
    text += fmt::format(".TP\n.B {}\n{}\n", troff(command->get_name()), troff(command->get_description()));
  for (const CLI::App* command : shown_commands(program)) {
    std::string title = command->get_name();
    std::ranges::transform(title, title.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    text += fmt::format(".SH {}\n{}\n", troff(title), troff(command->get_description()));
    for (const OptionRow* row : rows_of(*command)) {
      const CLI::Option* const option = command->get_option_no_throw(all_names(*row).front());
      const std::string standard = option->get_default_str();
      text += fmt::format(".TP\n.B {}{}\n{}\n", troff(fmt::format("{}", fmt::join(all_names(*row), ", "))),
                          standard.empty() ? "" : fmt::format("\n[{}]", troff(standard)),
                          troff(help_for(*row, *command, "")));
    }
  }
  text +=
      ".SH EXIT STATUS\n"
      "0: done. 1: the run or a check failed. 2: bad arguments. 3: the data directory is damaged. 130: "
      "interrupted, "
      "with the result so far.\n";
  return text;
}

}  // namespace mneme
