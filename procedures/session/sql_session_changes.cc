// The statements of a session that change the rows which a query finds, and those with changes in WITH. Each
// runs in a transaction of its own or in the block that is open (sql_session.cc).
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <numeric>
#include <string>
#include <unordered_set>
#include <utility>

#include "procedures/query/query_runner.h"
#include "procedures/query/row_store.h"
#include "procedures/session/sql_session.h"
#include "procedures/session/statement_rows.h"

namespace mneme {

StatementResult SqlSession::run_change(const BoundStatement& statement, std::span<const Argument> parameters,
                                       ResultSink& rows) {
  const BoundChange& change = *statement.change();
  StatementResult result;
  uint64_t count = 0;
  const bool done = run_attempts(
      [&] {
        arena_.reset();
        query::RowStore found(change.rows->columns.size());
        std::unordered_set<std::string> seen;
        const Ran ran = find_changed(statement, change, parameters, {}, seen, found, arena_, result);
        if (ran != Ran::kCompleted) return ran;
        return change_found(statement, change, parameters, found, rows, count, arena_, result);
      },
      result);
  if (done) result.tag = tag_of(statement.command().operation->kind, count);
  return result;
}

SqlSession::Ran SqlSession::find_changed(const BoundStatement& statement, const BoundChange& change,
                                         std::span<const Argument> parameters,
                                         std::span<const query::RowStore* const> given,
                                         std::unordered_set<std::string>& seen, query::RowStore& found,
                                         Arena& texts, StatementResult& failure) {
  const BoundSelect& select = *change.rows;
  const QueryInputs inputs(select.procedure, parameters);
  bool found_again = false;
  const auto add = [&](std::span<const Value> values) {
    std::string key = std::to_string(change.table.value) + ":";
    for (size_t i = 0; i < change.key_columns; ++i)
      query::append_key(select.columns[i].type.kind, values[i], key);
    const bool is_new = change.key_columns == 0 || seen.insert(std::move(key)).second;
    if (is_new) found.add(values, &texts);
    found_again |= !is_new;
    return true;
  };
  const Ran ran = ended(queries_->run(select.queries, inputs.variables, inputs.arrays, transaction_,
                                      statement.system(), &sequences_, stop_, add, given),
                        failure);
  failure.raised = queries_->notices();
  if (ran != Ran::kCompleted || !found_again || !statement.command().operation->merges) return ran;
  failure = StatementResult::failure(sqlstate::kCardinality, "MERGE command cannot affect row a second time");
  failure.hint = "Ensure that not more than one source row matches any one target row.";
  return roll_back(failure);
}

SqlSession::Ran SqlSession::run_or_wait(const RunRequest& request, RecordedRows& recorded, bool& waits,
                                        StatementResult& failure) {
  const Transaction::Savepoint before = transaction_.savepoint();
  const uint32_t count = recorded.count();
  const Outcome outcome = interpreter_.run(request);
  waits = outcome.kind == Outcome::Kind::kRaised && !sequences_.met_conflict() &&
          std::string_view(outcome.sqlstate) == sqlstate::kForeignKey;
  if (!waits) return ended(outcome, failure);
  recorded.count_again_from(count);
  const bool is_as_before = transaction_.roll_back_to(before) && sequences_.went_back();
  if (is_as_before) return Ran::kCompleted;
  transaction_.abort();
  return Ran::kConflict;
}

SqlSession::Ran SqlSession::change_found(const BoundStatement& statement, const BoundChange& change,
                                         std::span<const Argument> parameters, const query::RowStore& found,
                                         ResultSink& rows, uint64_t& count, Arena& texts,
                                         StatementResult& failure) {
  query::RowStore kept(0);
  StoredRows changed(kept, texts);
  RecordedRows recorded(change.each.columns, change.returned ? static_cast<ResultSink&>(changed) : rows);
  recorded.begin();
  std::vector<uint32_t> times(found.size(), 1);
  Ran ran = change.erase ? erase_found(change, found, times, failure) : Ran::kCompleted;
  std::unordered_set<std::string> conflicts;
  std::vector<size_t> found_as;  // by row that is kept: which of the found ones it was
  std::vector<Argument> arguments;
  std::vector<size_t> turn(found.size());
  std::iota(turn.begin(), turn.end(), size_t{0});
  // Rows that refer to others of the statement wait for these, until no more can be inserted.
  std::vector<size_t> waiting;
  bool may_wait = change.may_wait;
  for (size_t at = 0; at < turn.size() && ran == Ran::kCompleted; ++at) {
    const size_t i = turn[at];
    arguments.clear();
    for (size_t column = 0; column < change.parameters; ++column)
      arguments.push_back(Argument::of(found.row(i)[column]));
    arguments.insert(arguments.end(), parameters.begin(), parameters.end());
    for (const Argument& hidden : hidden_arguments(change.each.procedure)) arguments.push_back(hidden);
    RunRequest request = RunRequest::of(change.each.procedure, arguments, transaction_);
    request.body = change.each.body;
    request.recording = &recorded;
    request.sequences = &sequences_;
    request.stop = stop_;
    const auto is_null = [&](size_t column) { return found.row(i)[column].is_null(); };
    std::string key;
    const bool may_conflict =
        !change.conflict_columns.empty() && std::ranges::none_of(change.conflict_columns, is_null);
    if (may_conflict) {
      for (const size_t column : change.conflict_columns)
        query::append_key(change.rows->columns[column].type.kind, found.row(i)[column], key);
      if (conflicts.contains(key)) {
        failure = StatementResult::failure(sqlstate::kCardinality,
                                           "ON CONFLICT DO UPDATE command cannot affect row a second time");
        failure.hint =
            "Ensure that no rows proposed for insertion within the same command have duplicate constrained "
            "values.";
        return roll_back(failure);
      }
    }
    const uint64_t changed_before = recorded.count();
    bool waits = false;
    if (may_wait) {
      ran = run_or_wait(request, recorded, waits, failure);
      if (waits) waiting.push_back(i);
    } else {
      for (uint32_t n = 0; n < times[i] && ran == Ran::kCompleted; ++n) ran = run_body(request, failure);
    }
    if (at + 1 == turn.size() && !waiting.empty()) {
      may_wait = waiting.size() < turn.size();
      turn = std::exchange(waiting, {});
      std::ranges::reverse(turn);  // a chain in one direction, however long, takes two rounds
      at = SIZE_MAX;
    }
    if (waits) continue;
    // One that ON CONFLICT leaves as it is may be met again.
    if (may_conflict && recorded.count() > changed_before) conflicts.insert(std::move(key));
    found_as.resize(kept.size(), i);
  }
  count = recorded.count();
  if (!change.returned || ran != Ran::kCompleted) return ran;
  const size_t columns_beside = change.rows->columns.size() - change.parameters;
  query::RowStore returning(change.each.columns.size() + columns_beside);
  std::vector<Value> row;
  for (size_t i = 0; i < kept.size(); ++i) {
    row.assign(kept.row(i).begin(), kept.row(i).end());
    const std::span<const Value> beside = found.row(found_as[i]).subspan(change.parameters);
    row.insert(row.end(), beside.begin(), beside.end());
    returning.add(row, nullptr);
  }
  return run_returned(statement, change, parameters, returning, rows, failure);
}

// ---- Changes in WITH ----

struct SqlSession::WithRun {
  WithRun(const BoundStatement& bound, std::span<const Argument> values, ResultSink& sink,
          StatementResult& failed)
      : statement(bound), with(*bound.with()), parameters(values), rows(sink), result(failed) {
    for (const BoundWith::Part& part : with.parts) found.emplace_back(part.change->rows->columns.size());
    if (bound.change() != nullptr) found.emplace_back(bound.change()->rows->columns.size());
    for (const query::GivenTable& table : with.given) given.emplace_back(table.columns.size());
    for (const query::RowStore& each : given) given_rows.push_back(&each);
    numbers.resize(with.parts.size() + 1);
    has_run.resize(numbers.size());
  }

  // Carries out what is found of the part, or of the statement. The rows that it returns go to the sink.
  Ran change_part(SqlSession& session, size_t number, ResultSink& returned);

  const BoundChange& change(size_t number) const {
    return number < with.parts.size() ? *with.parts[number].change : *statement.change();
  }

  const BoundStatement& statement;
  const BoundWith& with;
  const std::span<const Argument> parameters;
  ResultSink& rows;
  StatementResult& result;
  uint64_t count = 0;  // of the statement's own rows
  Arena texts{4096};
  std::unordered_set<std::string> seen;  // keys of the rows that are changed: each is changed once
  std::vector<query::RowStore> found;    // by part, and behind the last one the statement's own
  std::vector<query::RowStore> given;    // what each part returns
  std::vector<const query::RowStore*> given_rows;
  std::vector<std::deque<Value>> numbers;  // that a part has drawn from sequences when it ran first
  std::vector<char> has_run;               // by part
};

SqlSession::Ran SqlSession::WithRun::change_part(SqlSession& session, size_t number, ResultSink& returned) {
  std::deque<Value> drawn = numbers[number];
  const bool runs_again = std::exchange(has_run[number], char{1}) != 0;
  session.sequences_.keep_numbers(runs_again ? &drawn : &numbers[number], runs_again);
  uint64_t changed = 0;
  const Ran ran = session.change_found(statement, change(number), parameters, found[number], returned,
                                       changed, texts, result);
  session.sequences_.keep_numbers(nullptr);
  if (statement.command().operation->merges) {
    count += changed;
  } else if (number == with.parts.size()) {
    count = changed;
  }
  return ran;
}

namespace {

// The numbers that are kept go with the run, whatever ends it.
class NoKeptNumbers {
 public:
  explicit NoKeptNumbers(SequenceDraws& draws) : draws_(draws) {}
  ~NoKeptNumbers() { draws_.keep_numbers(nullptr); }
  NoKeptNumbers(const NoKeptNumbers&) = delete;
  NoKeptNumbers& operator=(const NoKeptNumbers&) = delete;

 private:
  SequenceDraws& draws_;
};

}  // namespace

StatementResult SqlSession::run_with(const BoundStatement& statement, std::span<const Argument> parameters,
                                     ResultSink& rows) {
  StatementResult result;
  uint64_t count = 0;
  const bool done = run_attempts(
      [&] {
        WithRun run(statement, parameters, rows, result);
        const NoKeptNumbers at_end(sequences_);
        const Ran ran = run_parts(run);
        count = run.count;
        return ran;
      },
      result);
  const bool merges = statement.command().operation->merges;
  if (done)
    result.tag = merges ? fmt::format("MERGE {}", count) : tag_of(statement.command().operation->kind, count);
  return result;
}

SqlSession::Ran SqlSession::run_returned(const BoundStatement& statement, const BoundChange& change,
                                         std::span<const Argument> parameters, const query::RowStore& changed,
                                         ResultSink& rows, StatementResult& failure) {
  const BoundSelect& select = *change.returned;
  rows.begin(select.columns);
  std::vector<Argument> inputs(parameters.begin(), parameters.end());
  std::vector<Argument> row;
  Arena arena;
  bool is_read = true;
  const auto add = [&](std::span<const Value> values) {
    arena.reset();
    is_read = hand_on(select.columns, values, arena, row, rows);
    return is_read;
  };
  for (size_t i = 0; i < changed.size(); ++i) {
    inputs.resize(parameters.size());
    for (const Value& value : changed.row(i)) inputs.push_back(Argument::of(value));
    const QueryInputs all(select.procedure, inputs);
    const Ran ran = ended(queries_->run(select.queries, all.variables, all.arrays, transaction_,
                                        statement.system(), &sequences_, stop_, add),
                          failure);
    for (const RaisedNotice& each : queries_->notices()) failure.raised.push_back(each);
    if (ran != Ran::kCompleted) return ran;
    if (is_read) continue;
    failure = no_array();
    return roll_back(failure);
  }
  return Ran::kCompleted;
}

SqlSession::Ran SqlSession::run_parts(WithRun& run) {
  const size_t parts = run.with.parts.size();
  for (size_t i = 0; i < parts; ++i) {
    Ran ran = find_part(run, i);
    if (ran == Ran::kCompleted && run.with.parts[i].is_read) ran = return_rows(run, i);
    if (ran != Ran::kCompleted) return ran;
  }
  if (run.statement.command().operation->merges) {
    run.rows.begin({});
    return change_merged(run);
  }
  const Ran own =
      run.statement.select() != nullptr
          ? find_selected(run.statement, run.parameters, run.given_rows, run.rows, run.count, run.result)
          : find_part(run, parts);
  if (own != Ran::kCompleted) return own;
  NoRows none;
  for (const size_t number : run.with.order) {
    const Ran ran =
        run.change_part(*this, number, number == parts ? run.rows : static_cast<ResultSink&>(none));
    if (ran != Ran::kCompleted) return ran;
  }
  return Ran::kCompleted;
}

SqlSession::Ran SqlSession::change_merged(WithRun& run) {
  NoRows none;
  for (const size_t number : run.with.order) {
    const Ran ran = run.change_part(*this, number, none);
    if (ran != Ran::kCompleted) return ran;
  }
  return Ran::kCompleted;
}

SqlSession::Ran SqlSession::find_part(WithRun& run, size_t number) {
  return find_changed(run.statement, run.change(number), run.parameters, run.given_rows, run.seen,
                      run.found[number], run.texts, run.result);
}

SqlSession::Ran SqlSession::return_rows(WithRun& run, size_t number) {
  const BoundChange& change = run.change(number);
  if (change.returns_in_rows) {
    for (size_t i = 0; i < run.found[number].size(); ++i)
      run.given[number].add(run.found[number].row(i).subspan(change.key_columns), nullptr);
    return Ran::kCompleted;
  }
  // Those that come before it are carried out, too: it may refer to their rows.
  const Transaction::Savepoint before = transaction_.savepoint();
  NoRows none;
  StoredRows returned(run.given[number], run.texts);
  for (const size_t each : run.with.order) {
    if (each > number) continue;
    const Ran ran = run.change_part(*this, each, each == number ? static_cast<ResultSink&>(returned) : none);
    if (ran != Ran::kCompleted) return ran;
    if (each == number) break;
  }
  if (transaction_.roll_back_to(before) && sequences_.went_back()) return Ran::kCompleted;
  transaction_.abort();
  return Ran::kConflict;
}

SqlSession::Ran SqlSession::erase_found(const BoundChange& change, const query::RowStore& found,
                                        std::vector<uint32_t>& times, StatementResult& failure) {
  NoRows none;
  for (size_t i = 0; i < found.size(); ++i) {
    std::vector<Argument> arguments;
    for (size_t column = 0; column < change.key_columns; ++column)
      arguments.push_back(Argument::of(found.row(i)[column]));
    for (const Argument& hidden : hidden_arguments(change.erase->procedure)) arguments.push_back(hidden);
    RecordedRows erased({}, none);
    RunRequest request = RunRequest::of(change.erase->procedure, arguments, transaction_);
    request.body = change.erase->body;
    request.recording = &erased;
    request.stop = stop_;
    if (const Ran ran = run_body(request, failure); ran != Ran::kCompleted) return ran;
    times[i] = erased.count();
  }
  return Ran::kCompleted;
}

}  // namespace mneme
