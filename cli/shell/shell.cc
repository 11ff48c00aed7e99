#include "cli/shell/shell.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/file/file.h"
#include "cli/measure/recovery_text.h"
#include "cli/output/result_table.h"
#include "cli/shell/line_reader.h"
#include "procedures/parser/reserved_words.h"
#include "procedures/values/run_errors.h"

namespace mneme {

namespace {

constexpr size_t kDeepestFile = 16;

constexpr const char* kHelp =
    "  \\d [NAME]        list tables, views and sequences, or describe one\n"
    "  \\dt [NAME]       list tables; \\dv views, \\ds sequences, \\di indexes\n"
    "  \\df [NAME]       list procedures\n"
    "  \\i FILE          run the statements of a file\n"
    "  \\r               drop the statement that has begun\n"
    "  \\timing [on|off] print how long each statement takes\n"
    "  \\?               show this help\n"
    "  \\q               end the session; so do quit, exit and Ctrl-D\n"
    "A NAME may have * for any text and ? for any character. Ctrl-C ends the statement that runs.\n";

void say(const std::string& text) {
  std::fputs(text.c_str(), stderr);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_ascii_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_ascii_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), ascii_lower);
  return lower;
}

// The line of a statement that an error is in, and a mark below the place.
std::string excerpt(std::string_view statement, const ir::SourceLocation& where, std::string_view before) {
  for (size_t line = 1; line < where.line && !statement.empty(); ++line)
    statement.remove_prefix(std::min(statement.find('\n'), statement.size() - 1) + 1);
  const std::string_view line = statement.substr(0, statement.find('\n'));
  std::string blanks(before.size(), ' ');
  size_t column = 1;
  for (const char c : line) {
    if ((c & 0xC0) == 0x80) continue;  // goes on with a character
    if (column++ >= where.column) break;
    blanks += c == '\t' ? '\t' : ' ';
  }
  return fmt::format("{}{}\n{}^\n", before, line, blanks);
}

const char* name_of_level(ir::RaiseLevel level) {
  switch (level) {
    case ir::RaiseLevel::kDebug:
      return "DEBUG";
    case ir::RaiseLevel::kLog:
      return "LOG";
    case ir::RaiseLevel::kInfo:
      return "INFO";
    case ir::RaiseLevel::kWarning:
      return "WARNING";
    default:
      return "NOTICE";
  }
}

}  // namespace

SqlShell::SqlShell(WorkingDatabase& working, const Output& output, std::string script, bool keeps_going)
    : working_(working),
      session_(working, WorkerId{0}, default_threads()),
      output_(output),
      keeps_going_(keeps_going),
      keywords_(script.empty() ? keywords() : std::vector<std::string>()),
      input_{std::move(script)} {}

bool SqlShell::add(std::string_view line) {
  if (is_typed()) {
    stop_.begin();
    is_stop_told_ = false;
  }
  const std::string_view words = trimmed(line);
  if (words.starts_with('\\') && !input_.splitter.in_quotes()) return run_command(words);
  const std::string lower = in_lower_case(words.substr(0, words.find(';')));
  if (is_typed() && (lower == "quit" || lower == "exit")) {
    if (!input_.splitter.in_statement()) return false;
    say("Use \\q to quit.\n");
  }
  input_.splitter.add(std::string(line) + "\n");
  while (const auto statement = input_.splitter.next()) {
    if (is_stopped()) {
      give_up();
      break;
    }
    if (!run(*statement)) return false;
  }
  return true;
}

bool SqlShell::is_stopped() {
  if (stop_.reason() == StopRequest::Reason::kNone) return false;
  // It may have come between two statements.
  if (!std::exchange(is_stop_told_, true)) {
    ++failures_;
    const SqlError error = stopped_error(stop_);
    say(fmt::format("ERROR:  {}: {}\n", error.sqlstate, error.message));
  }
  return true;
}

void SqlShell::finish() {
  if (const auto statement = input_.splitter.finish()) run(*statement);
}

std::string SqlShell::prompt() const {
  if (input_.splitter.in_statement() || input_.splitter.in_quotes()) return "mneme-> ";
  switch (session_.block()) {
    case SqlSession::Block::kNone:
      return "mneme=> ";
    case SqlSession::Block::kOpen:
      return "mneme=*> ";
    case SqlSession::Block::kFailed:
      break;
  }
  return "mneme=!> ";
}

bool SqlShell::run(const StatementSplitter::Statement& statement) {
  if (statement.text == ";") return true;
  ++attempts_;
  const uint64_t begin = monotonic_ns();
  const StatementResult result = session_.run(statement.text, &stop_);
  Json object = result_json(result);
  object["statement"] = statement.text;
  results_.push_back(std::move(object));
  report_notices(result);
  if (result.ok()) {
    output_.text(result_text(result));
    print_time(begin);
    return true;
  }
  ++failures_;
  if (result.sqlstate == sqlstate::kQueryCanceled) is_stop_told_ = true;
  report(result, statement);
  print_time(begin);
  return keeps_going_;
}

void SqlShell::report_notices(const StatementResult& result) const {
  for (const RaisedNotice& each : result.raised) {
    if (each.level < ir::RaiseLevel::kNotice && each.level != ir::RaiseLevel::kInfo) continue;
    say(fmt::format("{}:  {}\n", name_of_level(each.level), each.message));
    if (!each.detail.empty()) say(fmt::format("DETAIL:  {}\n", each.detail));
    if (!each.hint.empty()) say(fmt::format("HINT:  {}\n", each.hint));
  }
  if (!result.notice.empty()) say(fmt::format("NOTICE:  {}\n", result.notice));
  if (!result.warning.empty()) say(fmt::format("WARNING:  {}\n", result.warning));
}

void SqlShell::report(const StatementResult& failure, const StatementSplitter::Statement& statement) {
  std::string_view message = failure.message;
  const bool has_place = failure.where.line > 0;
  // The place is shown in another way.
  const std::string written = fmt::format("line {}:{}: ", failure.where.line, failure.where.column);
  if (has_place && message.starts_with(written)) message.remove_prefix(written.size());
  const size_t line = statement.line + (has_place ? failure.where.line - 1 : 0);
  const std::string place = is_typed() ? "" : fmt::format("{}:{}: ", input_.name, line);
  say(fmt::format("{}ERROR:  {}: {}\n", place, failure.sqlstate, message));
  if (has_place) {
    const std::string before = is_typed() ? fmt::format("LINE {}: ", failure.where.line) : "    ";
    say(excerpt(statement.text, failure.where, before));
  }
  if (!failure.detail.empty()) say(fmt::format("DETAIL:  {}\n", failure.detail));
  if (!failure.hint.empty()) say(fmt::format("HINT:  {}\n", failure.hint));
  if (!failure.context.empty()) say(fmt::format("CONTEXT:  {}\n", failure.context));
}

void SqlShell::print_time(uint64_t begin) const {
  if (!is_timed_) return;
  output_.text(fmt::format("Time: {:.3f} ms\n", static_cast<double>(monotonic_ns() - begin) / 1e6));
}

bool SqlShell::refuse(const std::string& message) {
  ++failures_;
  say(is_typed() ? message + "\n" : fmt::format("{}: {}\n", input_.name, message));
  return keeps_going_;
}

bool SqlShell::run_command(std::string_view line) {
  ++attempts_;
  const size_t end = std::min(line.find_first_of(" \t"), line.size());
  std::string_view command = line.substr(0, end);
  std::string_view argument = trimmed(line.substr(end));
  if (argument.ends_with(';')) argument = trimmed(argument.substr(0, argument.size() - 1));
  if (command.ends_with(';')) command.remove_suffix(1);
  if (command == "\\q") {
    has_ended_ = true;
    return false;
  }
  if (command == "\\?") {
    output_.text(kHelp);
    return true;
  }
  if (command == "\\r") {
    give_up();
    if (is_typed()) say("Query buffer reset (cleared).\n");
    return true;
  }
  if (command == "\\timing") return set_timing(argument);
  if (command == "\\i") {
    return argument.empty() ? refuse("\\i: missing required argument") : run_file(std::string(argument));
  }
  if (command.starts_with("\\d")) return describe(command, argument);
  return refuse(fmt::format("invalid command {}\nTry \\? for help.", command));
}

bool SqlShell::set_timing(std::string_view value) {
  if (!value.empty() && value != "on" && value != "off") {
    return refuse(fmt::format("unrecognized value \"{}\" for \"\\timing\": on and off are", value));
  }
  is_timed_ = value.empty() ? !is_timed_ : value == "on";
  output_.text(fmt::format("Timing is {}.\n", is_timed_ ? "on" : "off"));
  return true;
}

bool SqlShell::describe(std::string_view command, std::string_view pattern) {
  struct Kind {
    std::string_view command;
    std::string_view kinds;
  };
  static constexpr std::array kKinds{Kind{"\\dt", "r"}, Kind{"\\dv", "v"}, Kind{"\\ds", "S"},
                                     Kind{"\\di", "i"}};
  const auto run_query = [this](const std::string& query) { return session_.run(query, &stop_); };
  const Ask ask(run_query);
  const auto kind = std::ranges::find(kKinds, command, &Kind::command);
  Description found;
  if (kind != kKinds.end()) {
    found = list_relations(kind->kinds, pattern, ask);
  } else if (command == "\\df") {
    found = list_procedures(pattern, ask);
  } else if (command == "\\d") {
    found = pattern.empty() ? list_relations("rvS", "", ask) : describe_relations(pattern, ask);
  } else {
    return refuse(fmt::format("invalid command {}\nTry \\? for help.", command));
  }
  if (found.failure) {
    return refuse(fmt::format("ERROR:  {}: {}", found.failure->sqlstate, found.failure->message));
  }
  if (found.found) {
    output_.text(found.text);
    return true;
  }
  found.text.pop_back();
  return refuse(found.text);
}

bool SqlShell::run_file(const std::string& path) {
  if (depth_ == kDeepestFile) return refuse(fmt::format("{}: files include each other too deeply", path));
  const Result<std::string> text = read_text_file(path);
  if (!text) return refuse(text.error().message);
  Input outer = std::exchange(input_, Input{path});
  ++depth_;
  bool goes_on = true;
  std::string_view rest = *text;
  while (goes_on && !rest.empty() && !is_stopped()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    goes_on = add(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (goes_on && stop_.reason() == StopRequest::Reason::kNone) finish();
  --depth_;
  input_ = std::move(outer);
  // As in psql, \q ends the file that it stands in.
  return goes_on || std::exchange(has_ended_, false);
}

std::vector<std::string> SqlShell::completions(std::string_view line) const {
  const std::string_view word = last_word(line);
  const std::string lower = in_lower_case(word);
  const std::string before = in_lower_case(last_word(trimmed(line.substr(0, line.size() - word.size()))));
  const auto is_before = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, before) != words.end();
  };
  const bool wants_relation =
      is_before({"from", "join", "into", "update", "table", "view", "\\d", "\\dt", "copy"});
  const bool wants_procedure = is_before({"call", "procedure", "\\df"});
  std::vector<std::string> found;
  const auto add = [&](const std::string& name) {
    if (in_lower_case(name).starts_with(lower)) found.push_back(name);
  };
  if (word.starts_with('\\')) {
    for (const char* command :
         {"\\?", "\\d", "\\df", "\\di", "\\ds", "\\dt", "\\dv", "\\i", "\\q", "\\r", "\\timing"})
      add(command);
    return found;
  }
  const Program& program = working_.program();
  if (!wants_procedure) {
    for (const TableDefinition& table : program.catalog.tables()) add(table.name);
    for (const View& view : program.views) add(view.name);
  }
  if (!wants_relation) {
    for (const ir::Procedure& procedure : program.procedures) add(procedure.name);
  }
  if (!wants_relation && !wants_procedure && !word.empty()) {
    // In the case of what is typed.
    const bool is_upper = std::ranges::none_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
    for (const std::string& keyword : keywords_) add(is_upper ? keyword : in_lower_case(keyword));
  }
  std::ranges::sort(found);
  const auto twice = std::ranges::unique(found);
  found.erase(twice.begin(), twice.end());
  return found;
}

}  // namespace mneme
