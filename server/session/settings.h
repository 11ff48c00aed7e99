// Settings: what a client SETs and SHOWs: PostgreSQL's run-time parameters, as far as they mean something
// here.
//
// Rule        a parameter that PostgreSQL has is known under its name, and takes the values under which this
//             server does what PostgreSQL would do; others are refused. Names with a point are the client's
//             own, as in PostgreSQL.
//             mneme.* is this server's: places in the log.
// Blocks      a change in a BEGIN block is taken back if the block is rolled back; SET LOCAL ends with the
//             block.
// Threads     one owner.
// Errors      PostgreSQL's: 42704 for a name that is none, 22023 for a value that can't be, 55P02 for a
//             parameter that can't be changed.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "procedures/session/sql_session.h"

namespace mneme {

// So long a statement waits for rows that are being recovered; 0: as long as it takes.
inline constexpr const char* kSettleTimeout = "mneme.settle_timeout";
// A client's statements wait until so much of the log is in the rows.
inline constexpr const char* kWaitForLsn = "mneme.wait_for_lsn";

class Settings {
 public:
  Settings();

  // nullopt: there is no such parameter.
  std::optional<std::string> get(std::string_view name) const;
  // Returns the value of a parameter that is a duration, such as statement_timeout.
  uint64_t milliseconds(std::string_view name) const;
  struct Shown {
    std::string name;
    std::string value;
  };
  std::vector<Shown> all() const;
  // The name as PostgreSQL writes it.
  static std::string shown_name(const std::string& name);
  // A success, or why not. `is_local`: until the block ends.
  StatementResult set(std::string_view name, const std::string& value, bool is_local);
  StatementResult reset(std::string_view name, bool is_local);
  void reset_all();

  // The client's startup packet: the values that RESET goes back to.
  StatementResult start_with(std::string_view name, const std::string& value);

  // What BEGIN asks for: the level, or empty; whether the block is read only, or nothing.
  void begin_block(const std::string& isolation, std::optional<bool> read_only);
  // A statement on rows runs in the block. From there on it may not become one that writes.
  void runs_statement() { has_run_statement_ = before_block_.has_value(); }
  // While the database follows another engine's log, every transaction is read-only.
  void set_standby(bool is_standby);
  bool is_standby() const { return is_standby_; }
  // Returns the value of a parameter that is a place in the log; 0: none.
  uint64_t place(std::string_view name) const;
  // Whether the transaction that is open or comes next must write nothing.
  bool is_read_only() const;
  void end_block(bool is_committed);

  // Parameters that the client is told about, whose value has changed since the last call, or all at the
  // first.
  std::vector<Shown> take_reports();

 private:
  struct Parameter;
  static const Parameter* find(std::string_view name);
  static const std::vector<Parameter>& parameters();

  using Values = std::map<std::string, std::string, std::less<>>;
  Values values_;  // by lower-case name
  Values defaults_;
  std::optional<Values> before_block_;
  Values after_block_;  // what SET without LOCAL has set in the block
  bool has_run_statement_ = false;
  bool is_standby_ = false;
  Values reported_;
};

}  // namespace mneme
