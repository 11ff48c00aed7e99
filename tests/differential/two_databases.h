// Mneme and PostgreSQL side by side: a scenario's statements run on both, and what each answers is compared.
//
// Mneme       in memory: a program that CREATEs make, its tables, an SQL session. Nothing is logged to a
//             device.
// PostgreSQL  a server of the program's own (tests/postgres_server.h); each scenario has a schema of its own
//             in it.
// Refusals    what Mneme refuses is run on PostgreSQL and taken back, so that both go on from the same state.
// Threads     one.
#pragma once

#include <libpq-fe.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/testing/test_database.h"
#include "procedures/session/catalog_change.h"
#include "procedures/session/sql_session.h"
#include "tests/differential/tree.h"
#include "tests/postgres_server.h"

namespace mneme::differential {

struct Answer {
  std::string sqlstate;  // empty: it succeeded
  std::string message;
  std::string tag;
  std::vector<std::string> names;
  std::vector<uint32_t> types;  // pg_type.oid of each column
  std::vector<std::vector<std::optional<std::string>>> rows;

  bool ok() const { return sqlstate.empty(); }
  // The statement was not carried out for what it says, rather than for the data that it met.
  bool is_refusal() const { return sqlstate.starts_with("42") || sqlstate.starts_with("0A"); }
  std::string text() const;
};

struct Step {
  enum class Kind { kTable, kIndex, kProcedure, kRows, kBegin, kEnd, kTableAtEnd };
  Kind kind = Kind::kRows;
  Node sql;
  bool is_ordered = false;  // the rows' order is the statement's
  std::string procedure;    // that it makes or calls
};

using Scenario = std::vector<Step>;

enum class Verdict {
  kBothSucceeded,
  kBothFailed,   // with one sqlstate
  kBothRefused,  // whatever the sqlstates
  kRefusedByMneme,
  kDifferent,
  kSkipped,  // depends on what was refused, or PostgreSQL ran out of time or memory
};

struct Outcome {
  size_t step = 0;
  std::string text;
  Verdict verdict = Verdict::kSkipped;
  Answer mneme;
  Answer postgres;

  // In the columns' names, and in nothing else.
  bool differs_in_names() const;
};

class TwoDatabases {
 public:
  explicit TwoDatabases(const PostgresServer& server);

  // All steps' outcomes, up to one after which the two may hold different rows.
  std::vector<Outcome> run(const Scenario& scenario);

  // Returns Mneme's answer to the last statement, without PostgreSQL's.
  Answer mneme_alone(const Scenario& scenario);

  // Where PostgreSQL alone fails, in a join: whether it fails so in an expression on one of the tables, over
  // all of its rows, among them those that the join leaves out. The scenario has been run to there.
  bool raises_before_it_joins(const Scenario& scenario, const Outcome& outcome);

  // Where both fail, but of different errors: whether PostgreSQL raises Mneme's once something else is left
  // out, so that there are two errors and the one that is met first is the answer.
  bool has_both_errors(const Scenario& small, const Outcome& outcome);

  // Whether PostgreSQL answers as Mneme does when it is told to prefer another plan. The scenario has been
  // run to there.
  std::optional<std::string> freedom_of_plans(const Scenario& scenario, const Outcome& outcome);

  // The statement that is being run, for a handler of signals.
  const std::string& running() const { return running_; }

 private:
  void reset();
  void reset_mneme();
  Answer in_mneme(const std::string& text);
  Answer in_postgres(const std::string& text);

  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  std::unique_ptr<PGconn, Finish> postgres_;

  struct Memory {
    explicit Memory(const Program& program)
        : database(program.catalog, 1), session(program, database, WorkerId{0}) {
      database.attach_log(log, RecordContent::kLogical);
    }
    CountingLog log;
    Database database;
    SqlSession session;
  };
  std::unique_ptr<Program> program_;
  std::unique_ptr<Memory> memory_;
  std::string running_;
};

}  // namespace mneme::differential
