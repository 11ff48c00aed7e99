#include "workloads/shared/check_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "procedures/parser/statement_splitter.h"
#include "procedures/session/sql_session.h"
#include "procedures/values/value_text.h"

namespace mneme {

namespace {

// The comment that ends right above the line `number`, from 1.
std::string comment_above(std::string_view text, size_t number) {
  std::string_view above;
  for (size_t line = 1; line < number; ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    above = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!above.starts_with("--")) return "";
  above.remove_prefix(2);
  above.remove_prefix(std::min(above.find_first_not_of(" \t"), above.size()));
  return std::string(above.substr(0, above.find_last_not_of(" \t\r") + 1));
}

// Keeps the first row, and counts all.
class FirstRow final : public ResultSink {
 public:
  void begin(std::span<const ResultColumn> columns) override {
    columns_ = columns;
    count_ = 0;
    text_.clear();
  }
  void add(std::span<const Argument> row) override {
    if (count_++ > 0) return;
    for (size_t i = 0; i < row.size(); ++i) {
      fmt::memory_buffer value;
      if (row[i].scalar.is_null()) {
        value.append(std::string_view("NULL"));
      } else {
        print_value(columns_[i].type.is_array ? Type{.kind = TypeKind::kVarchar} : columns_[i].type,
                    row[i].scalar, value);
      }
      text_ += fmt::format("{}{} {}", i == 0 ? "" : ", ", columns_[i].name, fmt::to_string(value));
    }
  }
  size_t count() const { return count_; }
  const std::string& text() const { return text_; }

 private:
  std::span<const ResultColumn> columns_;
  size_t count_ = 0;
  std::string text_;
};

Check run_check_query(const CheckQuery& query, const Program& program, SqlSession& session) {
  ParsedStatement parsed = parse_statement(query.sql);
  if (!parsed.command) return {query.name, false, parsed.failure.message};
  FirstRow rows;
  StatementResult result;
  try {
    const BoundStatement bound(program, std::make_shared<const syntax::Command>(*std::move(parsed.command)),
                               {});
    result = session.execute(bound, {}, rows);
  } catch (const SourceError& error) {
    result = failure_of(error);
  }
  if (!result.ok())
    return {query.name, false, fmt::format("it fails with {}: {}", result.sqlstate, result.message)};
  if (rows.count() == 0) return {query.name, true, "no row breaks it"};
  return {query.name, false,
          fmt::format("{} {} it, the first with {}", rows.count(),
                      rows.count() == 1 ? "row breaks" : "rows break", rows.text())};
}

}  // namespace

Result<std::vector<CheckQuery>> parse_check_queries(std::string_view text, const std::string& file,
                                                    const Program& program) {
  std::vector<CheckQuery> queries;
  StatementSplitter splitter;
  splitter.add(text);
  splitter.add("\n");
  const auto read = [&](const StatementSplitter::Statement& statement) -> Result<void> {
    ParsedStatement parsed = parse_statement(statement.text);
    if (!parsed.command)
      return invalid_argument("{}, line {}: this check is refused: {}", file, statement.line,
                              parsed.failure.message);
    const bool is_select = parsed.command->kind == syntax::Command::Kind::kOperation &&
                           parsed.command->operation->kind == ir::OperationKind::kSelect;
    if (!is_select) {
      return invalid_argument(
          "{}, line {}: a check is a SELECT that must return no row; this is another statement", file,
          statement.line);
    }
    try {
      const BoundStatement bound(program, std::make_shared<const syntax::Command>(*std::move(parsed.command)),
                                 {});
    } catch (const SourceError& error) {
      return invalid_argument("{}, line {}: this check is refused: {}", file, statement.line,
                              failure_of(error).message);
    }
    std::string name = comment_above(text, statement.line);
    if (name.empty()) name = fmt::format("line {} of the checks", statement.line);
    queries.push_back({std::move(name), statement.text});
    return {};
  };
  while (const auto statement = splitter.next()) RETURN_IF_ERROR(read(*statement));
  if (const auto rest = splitter.finish()) RETURN_IF_ERROR(read(*rest));
  if (queries.empty())
    return invalid_argument("{} holds no check: write SELECTs that must return no row, or leave --checks out",
                            file);
  return queries;
}

std::vector<Check> run_check_queries(std::span<const CheckQuery> queries, const Program& program,
                                     Database& database) {
  std::vector<Check> checks;
  if (queries.empty()) return checks;
  SqlSession session(program, database, WorkerId{0});
  for (const CheckQuery& query : queries) checks.push_back(run_check_query(query, program, session));
  return checks;
}

}  // namespace mneme
