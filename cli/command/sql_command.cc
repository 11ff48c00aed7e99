// mneme sql: SQL statements, typed or in a script, on a data directory.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <sstream>

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
#include "cli/shell/line_reader.h"
#include "cli/shell/shell.h"
#include "recovery/database/data_directory.h"

namespace mneme {
namespace {

// The request by which Ctrl-C ends the statement that runs at the terminal. The main thread sets it before it
// installs the signal's handler, which reads it.
StopRequest* stop_of_terminal = nullptr;

// While it lives Ctrl-C ends the statement that runs, and not the program.
class CancelOnInterrupt {
 public:
  explicit CancelOnInterrupt(StopRequest& stop) {
    stop_of_terminal = &stop;
    struct sigaction action = {};
    action.sa_handler = [](int) { stop_of_terminal->cancel(); };
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, &former_);
  }
  ~CancelOnInterrupt() {
    sigaction(SIGINT, &former_, nullptr);
    stop_of_terminal = nullptr;
  }
  CancelOnInterrupt(const CancelOnInterrupt&) = delete;
  CancelOnInterrupt& operator=(const CancelOnInterrupt&) = delete;

 private:
  struct sigaction former_ = {};
};

// Where the lines that were typed are kept; empty: nowhere.
std::string history_file() {
  if (const char* const file = std::getenv("MNEME_HISTORY")) return file;
  const char* const home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? "" : std::string(home) + "/.mneme_history";
}

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
    SqlShell shell(*opened, output, name, typed || keep_going);
    if (typed) {
      read_terminal(shell);
    } else if (file.empty() && command_text.empty()) {
      read_input(shell, std::cin);
    } else {
      std::istringstream lines(*script);
      read_input(shell, lines);
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

  static void read_terminal(SqlShell& shell) {
    std::fputs("Statements end in a semicolon; \\? shows the commands, and \\q ends the session.\n", stderr);
    const CancelOnInterrupt interrupt(shell.stop());
    if (isatty(STDERR_FILENO) != 1) return read_with_prompts(shell);
    LineReader reader(history_file(), [&](std::string_view text) { return shell.completions(text); });
    for (std::string line;;) {
      switch (reader.next(shell.prompt(), line)) {
        case LineReader::End::kLine:
          if (!shell.add(line)) return;
          break;
        case LineReader::End::kGivenUp:
          shell.give_up();
          break;
        case LineReader::End::kInput:
          std::fputs("\n", stderr);
          return;
      }
    }
  }

  // Prompts go to a file.
  static void read_with_prompts(SqlShell& shell) {
    for (std::string line;;) {
      std::fputs(shell.prompt().c_str(), stderr);
      if (!std::getline(std::cin, line)) break;
      if (!shell.add(line)) return;
    }
    std::fputs("\n", stderr);
  }

  static void read_input(SqlShell& shell, std::istream& input) {
    for (std::string line; std::getline(input, line);) {
      if (!shell.add(line)) return;
    }
    shell.finish();
  }

  Result<void> tell(const SqlShell& shell, bool typed) const {
    if (shell.in_block()) {
      output.notice("the input ended inside a BEGIN block, which was rolled back");
    }
    RETURN_IF_ERROR(
        output.json({{"command", "sql"}, {"failed", shell.failures()}, {"statements", shell.results()}}));
    if (shell.failures() == 0 || typed) return {};
    return failed("{} of {} statements failed", shell.failures(), shell.attempts());
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
