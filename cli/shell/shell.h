// SqlShell: runs the statements and commands of `mneme sql`, out of a script or as a person types them, and
// prints what comes of each.
//
// Flow        add(): a line -> a command (a backslash begins it, as in psql) or a part of a statement ->
//             at its semicolon: LiveSession::run() -> its table or tag, or its error
// Errors      are printed, with PostgreSQL's SQLSTATE, the line of the script and the place in that line.
// Stopping    the statement that runs, or would run next, fails with 57014 at stop().cancel(), and the rest
//             of what was typed with it is dropped.
// Threads     one; stop(): any, and signal handlers.
// Not here    how lines are read (line_reader.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/output/output.h"
#include "cli/shell/shell_catalog.h"
#include "procedures/parser/statement_splitter.h"
#include "procedures/values/stop_request.h"
#include "recovery/database/live_session.h"

namespace mneme {

class SqlShell {
 public:
  // `script`: what stands before an error's line in its message; empty for what is typed. `keeps_going`:
  // after a statement that has failed.
  SqlShell(WorkingDatabase& working, const Output& output, std::string script, bool keeps_going);

  // One line, without its end. False: that is the end, for a failure or a command has ended the session.
  bool add(std::string_view line);
  // The input has ended.
  void finish();
  // Drops a statement that has begun.
  void give_up() { input_ = Input{input_.name}; }

  std::string prompt() const;
  bool in_block() const { return session_.block() != SqlSession::Block::kNone; }
  StopRequest& stop() { return stop_; }
  // Returns what the last word of a line that is typed may become: keywords, and names of the database.
  std::vector<std::string> completions(std::string_view line) const;

  size_t failures() const { return failures_; }
  // Statements and commands.
  size_t attempts() const { return attempts_; }
  const Json& results() const { return results_; }

 private:
  // Where statements come from.
  struct Input {
    std::string name;  // of a script; empty: a terminal
    StatementSplitter splitter{};
  };

  bool is_typed() const { return input_.name.empty(); }
  bool run(const StatementSplitter::Statement& statement);
  // Whether what is left of the line or file is not to run. Tells it, if no statement has failed of it.
  bool is_stopped();
  void report(const StatementResult& failure, const StatementSplitter::Statement& statement);
  void report_notices(const StatementResult& result) const;
  // Commands. False: the session ends.
  bool run_command(std::string_view line);
  bool run_file(const std::string& path);
  bool describe(std::string_view command, std::string_view pattern);
  bool set_timing(std::string_view value);
  // A command has failed.
  bool refuse(const std::string& message);
  void print_time(uint64_t begin) const;

  WorkingDatabase& working_;
  LiveSession session_;
  const Output& output_;
  const bool keeps_going_;
  const std::vector<std::string> keywords_;
  Input input_;
  size_t depth_ = 0;  // of files that include files
  bool has_ended_ = false;
  bool is_timed_ = false;
  StopRequest stop_;
  bool is_stop_told_ = false;
  size_t failures_ = 0;
  size_t attempts_ = 0;
  Json results_ = Json::array();
};

}  // namespace mneme
