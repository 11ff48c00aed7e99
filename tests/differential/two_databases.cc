#include "tests/differential/two_databases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/check.h"
#include "procedures/values/type_oids.h"

namespace mneme::differential {
namespace {

bool is_same(const Answer& a, const Answer& b, bool is_ordered) {
  if (a.tag != b.tag || a.names != b.names || a.rows.size() != b.rows.size()) return false;
  if (a.types != b.types) return false;
  if (is_ordered) return a.rows == b.rows;
  auto left = a.rows;
  auto right = b.rows;
  std::ranges::sort(left);
  std::ranges::sort(right);
  return left == right;
}

Verdict compare(const Answer& mneme, const Answer& postgres, bool is_ordered) {
  // Out of memory, of time, of nesting: no answer about SQL.
  if (postgres.sqlstate == "57014" || postgres.sqlstate.starts_with("53") || postgres.sqlstate == "XX000") {
    return Verdict::kSkipped;
  }
  if (mneme.is_refusal() && mneme.sqlstate == postgres.sqlstate && !postgres.is_refusal())
    return Verdict::kBothFailed;
  if (mneme.is_refusal()) return postgres.is_refusal() ? Verdict::kBothRefused : Verdict::kRefusedByMneme;
  // Mneme's literals are read while the rest is bound, and which error is met first is open.
  if (mneme.message.starts_with("line ") && postgres.is_refusal()) return Verdict::kBothRefused;
  if (!mneme.ok()) return mneme.sqlstate == postgres.sqlstate ? Verdict::kBothFailed : Verdict::kDifferent;
  if (!postgres.ok()) return Verdict::kDifferent;
  return is_same(mneme, postgres, is_ordered) ? Verdict::kBothSucceeded : Verdict::kDifferent;
}

}  // namespace

bool Outcome::differs_in_names() const {
  Answer renamed = mneme;
  renamed.names = postgres.names;
  return mneme.ok() && postgres.ok() && mneme.names != postgres.names && is_same(renamed, postgres, false);
}

std::string Answer::text() const {
  if (!ok()) return sqlstate + ": " + message;
  std::string result = tag;
  for (size_t i = 0; i < names.size(); ++i) {
    result += fmt::format("{}{} {}", i == 0 ? " (" : ", ", names[i], types[i]);
  }
  if (!names.empty()) result += ")";
  for (size_t i = 0; i < rows.size() && i < 5; ++i) {
    result += " [";
    for (size_t column = 0; column < rows[i].size(); ++column) {
      if (column > 0) result += "|";
      result += rows[i][column] ? "'" + *rows[i][column] + "'" : "NULL";
    }
    result += "]";
  }
  return rows.size() > 5 ? result + " ..." : result;
}

TwoDatabases::TwoDatabases(const PostgresServer& server)
    : postgres_(PQconnectdb(
          fmt::format("host='{}' user='mneme' dbname='postgres'", server.directory().string()).c_str())) {
  CHECK(PQstatus(postgres_.get()) == CONNECTION_OK);
  PQsetNoticeProcessor(
      postgres_.get(), [](void*, const char*) {}, nullptr);
  CHECK(in_postgres("SET jit = off").ok());
  CHECK(in_postgres("SET statement_timeout = '3s'").ok());
  CHECK(in_postgres("SET client_min_messages = error").ok());
}

void TwoDatabases::reset_mneme() {
  memory_.reset();
  program_ = std::move(*compile("", ""));
}

void TwoDatabases::reset() {
  reset_mneme();
  if (PQtransactionStatus(postgres_.get()) != PQTRANS_IDLE) in_postgres("ROLLBACK");
  const Answer made = in_postgres("DROP SCHEMA IF EXISTS w CASCADE; CREATE SCHEMA w; SET search_path = w");
  if (!made.ok()) fmt::print(stderr, "{}\n", made.message);
  CHECK(made.ok());
}

Answer TwoDatabases::in_postgres(const std::string& text) {
  const std::unique_ptr<PGresult, void (*)(PGresult*)> result(PQexec(postgres_.get(), text.c_str()), PQclear);
  Answer answer;
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    const char* code = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
    answer.sqlstate = code == nullptr ? "XX000" : code;
    answer.message = PQresultErrorMessage(result.get());
    if (const char* primary = PQresultErrorField(result.get(), PG_DIAG_MESSAGE_PRIMARY))
      answer.message = primary;
    if (PQstatus(postgres_.get()) != CONNECTION_OK) PQreset(postgres_.get());
    return answer;
  }
  answer.tag = PQcmdStatus(result.get());
  for (int column = 0; column < PQnfields(result.get()); ++column) {
    answer.names.emplace_back(PQfname(result.get(), column));
    answer.types.push_back(PQftype(result.get(), column));
  }
  for (int row = 0; row < PQntuples(result.get()); ++row) {
    auto& values = answer.rows.emplace_back();
    for (int column = 0; column < PQnfields(result.get()); ++column) {
      if (PQgetisnull(result.get(), row, column) != 0) {
        values.emplace_back();
      } else {
        values.emplace_back(PQgetvalue(result.get(), row, column));
      }
    }
  }
  return answer;
}

Answer TwoDatabases::in_mneme(const std::string& text) {
  const ParsedStatement parsed = parse_statement(text);
  StatementResult result;
  if (!parsed.command) {
    if (memory_) memory_->session.fail_block();
    result = parsed.failure;
  } else if (parsed.command->changes_schema()) {
    CHECK(!memory_);
    ChangedProgram changed = changed_program(*program_, *parsed.command);
    result = changed.told;
    if (changed.program) {
      program_ = std::move(changed.program);
      result.tag = tag_of_change(*parsed.command);
    }
  } else {
    if (!memory_) memory_ = std::make_unique<Memory>(*program_);
    result = memory_->session.run(*parsed.command);
  }
  Answer answer{.sqlstate = result.sqlstate,
                .message = result.message,
                .tag = result.tag,
                .names = {},
                .types = {},
                .rows = result.rows};
  for (const ResultColumn& column : result.columns) {
    answer.names.push_back(column.name);
    answer.types.push_back(oid_of(column.type));
  }
  return answer;
}

Answer TwoDatabases::mneme_alone(const Scenario& scenario) {
  reset_mneme();
  Answer last;
  for (const Step& step : scenario) {
    running_ = step.sql.text();
    last = in_mneme(running_);
  }
  return last;
}

std::vector<Outcome> TwoDatabases::run(const Scenario& scenario) {
  reset();
  std::vector<Outcome> outcomes;
  std::set<std::string> missing;  // procedures
  bool in_block = false;
  bool skips_block = false;
  for (size_t i = 0; i < scenario.size(); ++i) {
    const Step& step = scenario[i];
    Outcome outcome{
        .step = i, .text = step.sql.text(), .verdict = Verdict::kSkipped, .mneme = {}, .postgres = {}};
    if (skips_block) {
      skips_block = step.kind != Step::Kind::kEnd;
      outcomes.push_back(outcome);
      continue;
    }
    if (step.kind == Step::Kind::kRows && missing.contains(step.procedure)) {
      outcomes.push_back(outcome);
      continue;
    }
    running_ = outcome.text;
    outcome.mneme = in_mneme(outcome.text);
    // Mneme binds a procedure's body when it is made, PostgreSQL when it is called.
    const bool takes_back =
        outcome.mneme.is_refusal() || (step.kind == Step::Kind::kProcedure && !outcome.mneme.ok());
    if (takes_back) CHECK(in_postgres(in_block ? "SAVEPOINT before" : "BEGIN").ok());
    outcome.postgres = in_postgres(outcome.text);
    if (takes_back) {
      in_postgres("ROLLBACK");
      if (in_block) {
        in_mneme("ROLLBACK");
        in_block = false;
        skips_block = true;
      }
      if (step.kind == Step::Kind::kProcedure) missing.insert(step.procedure);
    }
    outcome.verdict = takes_back && !outcome.mneme.is_refusal()
                          ? Verdict::kRefusedByMneme
                          : compare(outcome.mneme, outcome.postgres, step.is_ordered);
    if (step.kind == Step::Kind::kBegin && !takes_back) in_block = true;
    if (step.kind == Step::Kind::kEnd) in_block = false;
    outcomes.push_back(outcome);
    const bool both_fail =
        outcome.verdict == Verdict::kBothFailed || outcome.verdict == Verdict::kBothRefused;
    if (both_fail && in_block && !takes_back) {
      in_mneme("ROLLBACK");
      in_postgres("ROLLBACK");
      in_block = false;
      skips_block = true;
    }
    const bool reads = !std::ranges::any_of(
        std::to_array({"INSERT", "UPDATE", "DELETE", "CALL", "CREATE", "BEGIN", "COMMIT", "ROLLBACK"}),
        [&](const char* word) { return outcome.text.starts_with(word); });
    const bool is_over = outcome.verdict == Verdict::kDifferent ? !reads || in_block || !outcome.mneme.ok()
                         : outcome.verdict == Verdict::kSkipped
                             ? true
                             : takes_back && step.kind == Step::Kind::kTable;
    if (is_over) break;
  }
  return outcomes;
}

namespace {

// The tree with each constant NULL replaced, one at a time.
void replace_nulls(const Node& node, std::vector<Node>& trees) {
  if (node.kind == NodeKind::kLiteral && node.text().find("NULL") != std::string::npos) {
    for (const char* text : {"0", "1", "TRUE", "FALSE", "'a'", "'1'", "TIMESTAMP '2000-01-01'", "0.5"})
      trees.push_back(Literal{node.type, text});
  }
  for (size_t i = 0; i < node.children.size(); ++i) {
    std::vector<Node> below;
    replace_nulls(node.children[i], below);
    for (Node& child : below) {
      trees.push_back(node);
      trees.back().children[i] = std::move(child);
    }
  }
}

void expressions_within(const Node& node, std::vector<std::string>& texts) {
  if (node.kind == NodeKind::kExpression) texts.push_back(node.text());
  for (const Node& child : node.children) expressions_within(child, texts);
}

bool is_data_error(const Answer& answer) {
  return answer.sqlstate.starts_with("2") || answer.sqlstate == "P0001" || answer.sqlstate == "P0002" ||
         answer.sqlstate == "P0003";
}

}  // namespace

bool TwoDatabases::raises_before_it_joins(const Scenario& scenario, const Outcome& outcome) {
  if (!outcome.mneme.ok() || !is_data_error(outcome.postgres) ||
      outcome.text.find("FROM t1 l") == std::string::npos)
    return false;
  std::vector<std::string> texts;
  expressions_within(scenario.back().sql, texts);
  return std::ranges::any_of(texts, [&](const std::string& text) {
    const bool has_left = text.find("l.") != std::string::npos;
    if (has_left == (text.find("r.") != std::string::npos)) return false;
    return in_postgres(fmt::format("SELECT {} FROM {}", text, has_left ? "t1 l" : "t2 r")).sqlstate ==
           outcome.postgres.sqlstate;
  });
}

bool TwoDatabases::has_both_errors(const Scenario& small, const Outcome& outcome) {
  if (!is_data_error(outcome.mneme) || !is_data_error(outcome.postgres)) return false;
  std::vector<Scenario> variants;
  for (size_t i = 0; i < small.size(); ++i) {
    std::vector<Node> trees;
    replace_nulls(small[i].sql, trees);
    if (!outcome.postgres.ok()) {
      for (Node& tree : smaller_trees(small[i].sql)) trees.push_back(std::move(tree));
      if (i + 1 < small.size()) {
        variants.push_back(small);
        variants.back().erase(variants.back().begin() + static_cast<ptrdiff_t>(i));
      }
    }
    for (Node& tree : trees) {
      variants.push_back(small);
      variants.back()[i].sql = std::move(tree);
    }
  }
  for (const Scenario& variant : variants) {
    const std::vector<Outcome> outcomes = run(variant);
    if (outcomes.size() == variant.size() && outcomes.back().postgres.sqlstate == outcome.mneme.sqlstate)
      return true;
  }
  return false;
}

std::optional<std::string> TwoDatabases::freedom_of_plans(const Scenario& scenario, const Outcome& outcome) {
  // Both raise errors of data, or one does: which one is met first, and whether at all, is the plan's choice.
  if (outcome.text.starts_with("CREATE")) return std::nullopt;
  if (outcome.postgres.is_refusal() || outcome.mneme.is_refusal() ||
      (outcome.postgres.ok() && outcome.mneme.ok())) {
    return std::nullopt;
  }
  std::optional<std::string> found;
  for (const char* setting : {"plan_cache_mode", "enable_seqscan", "enable_indexscan", "enable_hashjoin",
                              "enable_nestloop", "enable_sort"}) {
    if (found) break;
    // A generic plan does not take a procedure's variables for constants.
    const char* value = setting == std::string_view("plan_cache_mode") ? "force_generic_plan" : "off";
    in_postgres(fmt::format("SET {} = {}", setting, value));
    if (setting == std::string_view("enable_indexscan")) in_postgres("SET enable_bitmapscan = off");
    const std::vector<Outcome> again = run(scenario);
    in_postgres("RESET enable_bitmapscan");
    in_postgres(fmt::format("RESET {}", setting));
    if (!again.empty() && again.back().step == outcome.step && again.back().verdict != Verdict::kDifferent)
      found = "another plan of PostgreSQL's answers so";
  }
  return found;
}

}  // namespace mneme::differential
