// LiveSession's CREATE TABLE AS and SELECT INTO: a CREATE TABLE of the query's columns, which is the change
// of the schema that the log has, and an INSERT of its rows.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/memory/arena.h"
#include "engine/schema/array_form.h"
#include "procedures/interpreter/call_text.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/written_names.h"
#include "procedures/values/type_oids.h"
#include "recovery/database/live_session.h"

namespace mneme {

namespace {

constexpr size_t kMostKeptBytes = size_t{256} << 20;
constexpr size_t kBytesAtOnce = 100'000;  // of one transaction, as a record of the log holds 256 KiB

// The rows of the query, until the table is there.
class KeptQueryRows final : public ResultSink {
 public:
  void begin(std::span<const ResultColumn> columns) override {
    rows_.clear();
    arena_.reset();
    bytes_ = 0;
    types_.clear();
    for (const ResultColumn& column : columns) types_.push_back(column.type);
  }
  void add(std::span<const Argument> row) override {
    bytes_ += row.size() * sizeof(Argument);
    if (is_too_large()) return;
    std::vector<Argument>& kept = rows_.emplace_back(row.begin(), row.end());
    for (size_t i = 0; i < kept.size(); ++i) {
      if (types_[i].is_array) {
        const std::optional<std::string> text = print_argument(types_[i], kept[i]);
        kept[i] = Argument::of(text ? Value::of_text(arena_.copy(*text)) : Value::null());
        bytes_ += text ? text->size() : 0;
        continue;
      }
      Value& value = kept[i].scalar;
      if (value.kind() == Value::Kind::kText) {
        bytes_ += value.as_text().size();
        value = Value::of_text(arena_.copy(value.as_text()));
      }
      if (types_[i].kind != TypeKind::kNumeric || types_[i].precision != 0 || value.is_null()) continue;
      value = Value::of_decimal(value.as_numeric(), types_[i].scale);
    }
  }

  bool is_too_large() const { return bytes_ > kMostKeptBytes; }
  const std::vector<std::vector<Argument>>& rows() const { return rows_; }

 private:
  Arena arena_{4096};
  std::vector<std::vector<Argument>> rows_;
  std::vector<Type> types_;
  size_t bytes_ = 0;
};

class NoQueryRows final : public ResultSink {
 public:
  void begin(std::span<const ResultColumn>) override {}
  void add(std::span<const Argument>) override {}
};

size_t bytes_of(std::span<const Argument> row) {
  size_t bytes = 32 + row.size() * 16;
  for (const Argument& each : row) {
    if (each.scalar.kind() == Value::Kind::kText) bytes += each.scalar.as_text().size();
  }
  return bytes;
}

StatementResult unsupported(std::string message) {
  return StatementResult::failure(sqlstate::kNotSupported, std::move(message));
}

syntax::Command control_of(syntax::Command::Kind kind) {
  syntax::Command command;
  command.kind = kind;
  return command;
}

// The CREATE TABLE of a query's columns, or why there is none.
StatementResult table_text(const syntax::Table& table, std::span<const ResultColumn> columns,
                           std::string& text) {
  if (table.column_names.size() > columns.size())
    return StatementResult::failure(sqlstate::kSyntaxError, "too many column names were specified");
  text = fmt::format("CREATE TABLE {}{} (", table.if_not_exists ? "IF NOT EXISTS " : "",
                     written_name(table.name.text));
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string& name = i < table.column_names.size() ? table.column_names[i].text : columns[i].name;
    Type type = columns[i].type;
    if (type.is_array) type = array_form(without_modifiers(type));
    if (is_record(type)) {
      return StatementResult::failure("42P16", fmt::format("column \"{}\" has pseudo-type record", name));
    }
    if (type.kind == TypeKind::kNumeric && type.precision == 0) type = Type{.kind = TypeKind::kDecimal};
    if (type.kind == TypeKind::kNull) type = Type{.kind = TypeKind::kVarchar, .is_text = true};
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", written_name(name), to_string(type));
  }
  text += ")";
  return {};
}

}  // namespace

StatementResult LiveSession::create_from_query(const syntax::Command& command) {
  const syntax::Table& table = *command.definition->table;
  const bool in_block = block() != SqlSession::Block::kNone;
  if (block() == SqlSession::Block::kFailed) return SqlSession::in_failed_block();
  const auto fail = [&](StatementResult failure) {
    if (in_block) session_->fail_block();
    return failure;
  };
  if (command.parameters > 0)
    return fail(StatementResult::failure(sqlstate::kUndefinedParameter, "there is no parameter $1"));
  if (table.query->changes_in_with()) {
    return fail(
        unsupported("a table of a query that changes rows in WITH is not supported; create the table, "
                    "and insert the rows"));
  }
  auto select = std::make_shared<syntax::Command>();
  select->where = command.where;
  syntax::Operation& operation = select->operation.emplace();
  operation.where = table.query->where;
  operation.text = table.query->text;
  operation.query = table.query;
  operation.for_update = table.query->for_update;

  KeptQueryRows rows;
  std::string text;
  {
    const Leave leave{*this};
    if (!enter()) return in_way();
    PreparedStatement prepared(select, {});
    StatementResult bound = bind(prepared);
    if (!bound.ok()) return bound;
    // In a block the rows are read behind the change of the schema, which the block may not begin with rows.
    rows.begin(prepared.bound()->columns());
    if (!in_block && table.with_data) {
      StatementResult read = session_->execute(*prepared.bound(), {}, rows);
      if (!read.ok()) return read;
      if (rows.is_too_large()) {
        return StatementResult::failure(
            sqlstate::kOutOfMemory,
            fmt::format(
                "the query gives more than {} MiB of rows; create the table, and insert them in parts",
                kMostKeptBytes >> 20));
      }
    }
    StatementResult written = table_text(table, prepared.bound()->columns(), text);
    if (!written.ok()) return fail(std::move(written));
  }
  const ParsedStatement parsed = parse_statement(text);
  if (!parsed.command) return fail(parsed.failure);
  StatementResult created = change(*parsed.command, text);
  if (!created.ok()) return created;
  const bool was_there = !created.notice.empty();
  created.tag =
      was_there || !table.with_data ? "CREATE TABLE AS" : fmt::format("SELECT {}", rows.rows().size());
  if (was_there || !table.with_data) return created;
  StatementResult inserted =
      in_block ? insert_from_query(table.name, *select->operation) : insert_rows(table.name, rows.rows());
  if (!inserted.ok()) {
    if (in_block) return inserted;
    const std::string drop = "DROP TABLE " + written_name(table.name.text);
    const ParsedStatement undo = parse_statement(drop);
    if (undo.command) change(*undo.command, drop);
    return inserted;
  }
  if (in_block) created.tag = "SELECT " + inserted.tag.substr(std::string_view("INSERT 0 ").size());
  return created;
}

StatementResult LiveSession::insert_from_query(const syntax::Name& table, const syntax::Operation& rows) {
  const Leave leave{*this};
  if (!enter()) return in_way();
  syntax::Command insert;
  syntax::Operation& operation = insert.operation.emplace();
  operation.kind = ir::OperationKind::kInsert;
  operation.where = rows.where;
  operation.text = rows.text;
  operation.tables.push_back({table, {}});
  operation.query = rows.query;
  return session_->run(insert);
}

// In transactions of about kBytesAtOnce.
StatementResult LiveSession::insert_rows(const syntax::Name& table,
                                         const std::vector<std::vector<Argument>>& rows) {
  if (rows.empty()) return {};
  auto command = std::make_shared<syntax::Command>();
  command->parameters = static_cast<uint32_t>(rows[0].size());
  syntax::Operation& operation = command->operation.emplace();
  operation.kind = ir::OperationKind::kInsert;
  operation.where = table.where;
  operation.tables.push_back({table, {}});
  for (size_t i = 0; i < rows[0].size(); ++i) {
    syntax::Expr value;
    value.kind = syntax::ExprKind::kParameter;
    value.text = std::to_string(i + 1);
    value.where = table.where;
    operation.values.push_back(std::move(value));
  }
  PreparedStatement insert(command, {});
  NoQueryRows none;
  StatementResult done;
  for (size_t next = 0; next < rows.size();) {
    const Leave leave{*this};
    if (!enter()) return in_way();
    session_->control(control_of(syntax::Command::Kind::kBegin));
    done = bind(insert);
    for (size_t bytes = 0; done.ok() && next < rows.size() && bytes < kBytesAtOnce; ++next) {
      bytes += bytes_of(rows[next]);
      done = session_->execute(*insert.bound(), rows[next], none);
    }
    const auto end = done.ok() ? syntax::Command::Kind::kCommit : syntax::Command::Kind::kRollBack;
    StatementResult ended = session_->control(control_of(end));
    if (!done.ok()) return done;
    done = session_->durable(std::move(ended));
    if (!done.ok()) return done;
  }
  return done;
}

StatementResult LiveSession::in_way() {
  return StatementResult::failure(sqlstate::kDeadlock,
                                  "a change of the schema waits for the transaction block that this thread "
                                  "has open on another connection, and this "
                                  "statement would wait for that change: end the block, and try again");
}

}  // namespace mneme
