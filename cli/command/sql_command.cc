// mneme sql: SQL statements, typed or in a script, on a data directory.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>

#include "base/file/file.h"
#include "cli/command/commands.h"
#include "cli/measure/recovery_text.h"
#include "cli/option/execution_option.h"
#include "cli/option/log_buffer_settings.h"
#include "cli/option/log_device_settings.h"
#include "cli/option/option_table.h"
#include "cli/option/output_options.h"
#include "cli/option/record_content_option.h"
#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "cli/output/result_table.h"
#include "procedures/parser/statement_splitter.h"
#include "recovery/database/data_directory.h"
#include "recovery/database/live_session.h"

namespace mneme {
namespace {

// Runs statements and shows what comes of each.
class Shell {
 public:
  // `script`: what stands before an error's line in its message; empty for what is typed.
  Shell(WorkingDatabase& working, const Output& output, std::string script, bool keeps_going)
      : session_(working, WorkerId{0}, default_threads()),
        output_(output),
        script_(std::move(script)),
        keeps_going_(keeps_going) {}

  // Lines of statements. False: one has failed, and that is the end.
  bool add(std::string_view lines) {
    splitter_.add(lines);
    while (const auto statement = splitter_.next()) {
      if (!run(*statement)) return false;
    }
    return true;
  }
  bool finish() {
    const auto statement = splitter_.finish();
    return !statement || run(*statement);
  }

  std::string prompt() const {
    if (splitter_.in_statement()) return "mneme-> ";
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
  bool in_block() const { return session_.block() != SqlSession::Block::kNone; }
  bool in_statement() const { return splitter_.in_statement(); }
  size_t failures() const { return failures_; }
  const Json& results() const { return results_; }

 private:
  bool run(const StatementSplitter::Statement& statement) {
    if (statement.text == ";") return true;
    const StatementResult result = session_.run(statement.text);
    Json object = result_json(result);
    object["statement"] = statement.text;
    results_.push_back(std::move(object));
    if (!result.notice.empty()) say(fmt::format("NOTICE:  {}\n", result.notice));
    if (!result.warning.empty()) say(fmt::format("WARNING:  {}\n", result.warning));
    if (result.ok()) {
      output_.text(result_text(result));
      return true;
    }
    ++failures_;
    const std::string place = script_.empty() ? "" : fmt::format("{}:{}: ", script_, statement.line);
    say(fmt::format("{}ERROR:  {}: {}\n", place, result.sqlstate, result.message));
    return keeps_going_;
  }

  static void say(const std::string& text) { std::fputs(text.c_str(), stderr); }

  LiveSession session_;
  const Output& output_;
  const std::string script_;
  const bool keeps_going_;
  StatementSplitter splitter_;
  size_t failures_ = 0;
  Json results_ = Json::array();
};

struct SqlCommand {
  std::string directory;
  std::string file;
  std::string command_text;
  bool keep_going = false;
  bool create = false;
  std::string log = "command";
  LogDeviceSettings device;
  LogBufferSettings buffer;
  ExecutionOption execution;
  Output output;

  Result<void> run(const CLI::App& command) const {
    if (!file.empty() && !command_text.empty()) {
      return invalid_argument("--file and --command both say what to run: leave one of them out");
    }
    if (command.count("--log") > 0 && !create) {
      return invalid_argument(
          "--log says what a new database's log is to hold, and {} is there already: leave it out, or "
          "say --create",
          directory);
    }
    const Result<Execution> wanted = execution.get();
    if (!wanted) return wanted.error();
    DurableLogOptions log_options;
    RETURN_IF_ERROR(buffer.choose(command, log_options));
    RETURN_IF_ERROR(device.choose(command, log_options));
    if (traits_of(log_options.device).is_bounded) {
      return invalid_argument(
          "a log on other machines goes round, and needs the checkpoints that `mneme run` takes: choose the "
          "device file");
    }
    // An error in the script is reported before the database is recovered.
    Result<std::string> script = command_text;
    if (!file.empty()) script = read_text_file(file);
    if (!script) return script.error();

    Result<WorkingDatabase> opened = create ? create_empty(log_options) : open(*wanted, log_options);
    if (!opened) return opened.error();
    for (const std::string& notice : opened->log().notices()) output.notice(notice);
    const bool typed = file.empty() && command_text.empty() && isatty(STDIN_FILENO) == 1;
    const std::string name = typed || !command_text.empty() ? "" : file.empty() ? "stdin" : file;
    Shell shell(*opened, output, name, typed || keep_going);
    if (typed) {
      read_terminal(shell);
    } else if (file.empty() && command_text.empty()) {
      read_input(shell);
    } else if (shell.add(*script)) {
      shell.finish();
    }
    return tell(shell, typed);
  }

 private:
  Result<WorkingDatabase> open(Execution wanted, const DurableLogOptions& log_options) const {
    RecoverOptions recover;
    recover.execution = wanted;
    recover.replay.threads = default_threads();
    Progress progress(output.quiet());
    show_progress(recover, progress);
    Result<OpenedDatabase> opened = open_for_work(directory, recover, log_options);
    progress.finish();
    if (!opened) return opened.error();
    for (const std::string& notice : opened->report.notices) output.notice(notice);
    return std::move(opened->working);
  }

  Result<WorkingDatabase> create_empty(const DurableLogOptions& log_options) const {
    CreateOptions options;
    const Result<RecordContent> records = record_content_option(log, "");
    if (!records) return records.error();
    options.records = *records;
    options.log = log_options;
    Result<std::unique_ptr<Program>> program = compile("", "");
    if (!program) return program.error();
    Result<CreatedDatabase> created = create_database(
        directory, *std::move(program), [](Database&) { return Result<void>(); }, options);
    if (!created) return created.error();
    return std::move(created->working);
  }

  static void read_terminal(Shell& shell) {
    std::fputs("Statements end in a semicolon; \\q, or the end of the input, ends the session.\n", stderr);
    for (std::string line;;) {
      std::fputs(shell.prompt().c_str(), stderr);
      if (!std::getline(std::cin, line)) break;
      if (line == "\\q" && !shell.in_statement()) return;
      shell.add(line + "\n");
    }
    std::fputs("\n", stderr);
  }

  static void read_input(Shell& shell) {
    for (std::string line; std::getline(std::cin, line);) {
      if (!shell.add(line + "\n")) return;
    }
    shell.finish();
  }

  Result<void> tell(const Shell& shell, bool typed) const {
    if (shell.in_block()) {
      output.notice("the input ended inside a BEGIN block, which was rolled back");
    }
    RETURN_IF_ERROR(
        output.json({{"command", "sql"}, {"failed", shell.failures()}, {"statements", shell.results()}}));
    if (shell.failures() == 0 || typed) return {};
    return failed("{} of {} statements failed", shell.failures(), shell.results().size());
  }
};

}  // namespace

void add_sql_command(CLI::App& program, Action& chosen) {
  auto command = std::make_shared<SqlCommand>();
  CLI::App* app = program.add_subcommand("sql", "SQL statements and scripts on a data directory");
  const OptionTaker take(*app);
  take("directory", command->directory);
  take("--file", command->file);
  take("--command", command->command_text);
  take("--keep-going", command->keep_going);
  take("--create", command->create);
  take("--log", command->log);
  command->buffer.add_options(*app);
  command->device.add_options(*app);
  command->execution.add_option(*app);
  add_output_options(*app, command->output);
  app->callback([&chosen, command, app] { chosen = [command, app] { return command->run(*app); }; });
}

}  // namespace mneme
