// COPY of a client: rows from it into a table, and out of one to it.
#include <fmt/format.h>

#include <algorithm>

#include "procedures/interpreter/call_text.h"
#include "procedures/parser/written_names.h"
#include "server/protocol/sqlstates.h"
#include "server/session/client_session.h"
#include "server/session/kept_values.h"
#include "server/session/row_writer.h"

namespace mneme {

namespace {

// COPY into a table is one transaction to PostgreSQL. A record of the log has room for so many rows at most;
// so those of a longer COPY are committed a batch at a time.
constexpr size_t kBatchBytes = size_t{96} << 10;

// It stands before the first row, in the same message, as PostgreSQL has it.
void write_binary_header(MessageWriter& out) {
  out.raw(kBinaryHeader);
  out.i32(0);  // flags
  out.i32(0);  // the bytes of more header
}

// Keeps rows as lines of COPY.
class CopyRows final : public KeptRows {
 public:
  CopyRows(const CopyStatement& copy, std::vector<std::byte>& bytes) : KeptRows(bytes), copy_(copy) {}

 private:
  void write(std::span<const ResultColumn> columns, std::span<const Argument> row,
             MessageWriter& out) override {
    if (copy_.is_binary) {
      out.begin('d');
      if (count() == 0) write_binary_header(out);
      out.i16(static_cast<int64_t>(row.size()));
      for (size_t i = 0; i < row.size(); ++i) write_value(columns[i].type, row[i], ValueFormat::kBinary, out);
      out.end();
      return;
    }
    texts_.clear();
    for (size_t i = 0; i < row.size(); ++i) texts_.push_back(print_argument(columns[i].type, row[i]));
    line_.clear();
    write_copy_row(copy_, texts_, line_);
    out.begin('d');
    out.raw(line_);
    out.end();
  }

  const CopyStatement& copy_;
  std::vector<std::optional<std::string>> texts_;
  std::string line_;
};

std::string column_list(const CopyStatement& copy) {
  std::string list;
  for (const std::string& column : copy.columns) list += (list.empty() ? "" : ", ") + name_in_quotes(column);
  return list;
}

void write_copy_response(char type, bool is_binary, size_t columns, MessageWriter& out) {
  out.begin(type);
  out.u8(is_binary ? 1 : 0);
  out.i16(static_cast<int64_t>(columns));
  for (size_t i = 0; i < columns; ++i) out.i16(is_binary ? 1 : 0);
  out.end();
}

Result<std::shared_ptr<const syntax::Command>> command_of(const std::string& text, StatementResult& failure) {
  ParsedStatement parsed = parse_statement(text);
  if (parsed.command) return std::make_shared<const syntax::Command>(*std::move(parsed.command));
  failure = std::move(parsed.failure);
  failure.where = {};
  return invalid_argument("{}", failure.message);
}

}  // namespace

// A COPY of a table has no generated columns.
ClientSession::Ran ClientSession::choose_columns(CopyStatement& statement) {
  if (!statement.query.empty()) return {};
  KeptValues found;
  Ran ran = run_own_query(fmt::format("SELECT attname, attgenerated = 's' FROM pg_catalog.pg_attribute WHERE "
                                      "attrelid = {}::regclass AND attnum > 0 ORDER BY attnum",
                                      written_string(statement.table)),
                          found, /*alone=*/true);
  if (ran.done != Done::kYes || !ran.result.ok()) return ran;
  std::vector<std::string> stored;
  for (size_t i = 0; i < found.size(); ++i) {
    const std::string name(found.row(i)[0].scalar.as_text());
    if (!found.row(i)[1].scalar.as_bool()) {
      stored.push_back(name);
    } else if (std::ranges::find(statement.columns, name) != statement.columns.end()) {
      return {Done::kYes,
              StatementResult::failure("42P10", fmt::format("column \"{}\" is a generated column", name))};
    }
  }
  if (statement.columns.empty() && stored.size() < found.size()) statement.columns = std::move(stored);
  return {};
}

ClientSession::Ran ClientSession::copy_out(const CopyStatement& given) {
  if (waiting_ == Waiting::kNever) return {Done::kWork};
  if (seat_.block() == SqlSession::Block::kFailed) return {Done::kYes, SqlSession::in_failed_block()};
  CopyStatement statement = given;
  if (Ran chosen = choose_columns(statement); chosen.done != Done::kYes || !chosen.result.ok()) return chosen;
  StatementResult failure;
  const std::string list = statement.columns.empty() ? "*" : column_list(statement);
  const auto command = command_of(
      statement.query.empty() ? fmt::format("SELECT {} FROM {}", list, statement.table) : statement.query,
      failure);
  if (!command) return {Done::kYes, std::move(failure)};
  const syntax::Command& copied = **command;
  if (copied.kind != syntax::Command::Kind::kOperation ||
      copied.operation->kind != ir::OperationKind::kSelect) {
    return {Done::kYes, StatementResult::failure(
                            sqlstate::kNotSupported,
                            "COPY of a statement that changes rows is not supported; COPY a SELECT")};
  }
  PreparedStatement select(*command, {}, values_);
  if (!seat_.take()) return {Done::kRetry};
  std::optional<StatementResult> prepared = seat_.session().prepare(select);
  if (!prepared) return {Done::kRetry};
  if (!prepared->ok())
    return {Done::kYes, statement.query.empty() ? without_place(*std::move(prepared)) : *std::move(prepared)};
  if (!select.bound()->parameters().empty())
    return {Done::kYes, StatementResult::failure(sqlstate::kUndefinedParameter, "there is no parameter $1")};
  const auto columns = select.bound()->columns();
  std::vector<std::byte> lines;
  if (statement.has_header) {
    std::vector<std::optional<std::string>> names;
    for (const ResultColumn& column : columns) names.emplace_back(column.name);
    std::string line;
    write_copy_row(statement, names, line);
    MessageWriter header(lines);
    header.begin('d');
    header.raw(line);
    header.end();
  }
  CopyRows rows(statement, lines);
  std::optional<StatementResult> result = seat_.session().execute(select, {}, {}, rows, stop_.get());
  if (!result) return {Done::kRetry};
  if (rows.is_too_large()) return {Done::kYes, too_large()};
  if (!result->ok()) return {Done::kYes, *std::move(result)};
  const size_t mark = replies_.mark();
  MessageWriter writer = out();
  write_copy_response('H', statement.is_binary, columns.size(), writer);
  writer.bytes(lines);
  if (statement.is_binary) {
    writer.begin('d');
    if (rows.count() == 0) write_binary_header(writer);
    writer.i16(-1);
    writer.end();
  }
  write_bare('c', writer);
  write_command_complete(fmt::format("COPY {}", rows.count()), writer);
  if (result->lsn) replies_.hold(mark, *result->lsn);
  return {Done::kYes, *std::move(result)};
}

ClientSession::Ran ClientSession::begin_copy_in(const CopyStatement& given, bool is_extended) {
  if (seat_.block() == SqlSession::Block::kFailed) return {Done::kYes, SqlSession::in_failed_block()};
  if (!seat_.take()) return {Done::kRetry};
  if (settings_.is_read_only()) {
    seat_.session().fail_block();
    return {Done::kYes, StatementResult::failure(sqlstate::kReadOnlyTransaction,
                                                 "cannot execute COPY FROM in a read-only transaction")};
  }
  seat_.session().set_read_only(false);
  CopyStatement statement = given;
  if (Ran chosen = choose_columns(statement); chosen.done != Done::kYes || !chosen.result.ok()) return chosen;
  StatementResult failure;
  // How many columns there are says a SELECT of them; then an INSERT of as many values is made.
  const std::string list = statement.columns.empty() ? "*" : column_list(statement);
  const auto probe = command_of(fmt::format("SELECT {} FROM {}", list, statement.table), failure);
  if (!probe) return {Done::kYes, std::move(failure)};
  PreparedStatement columns(*probe, {}, values_);
  std::optional<StatementResult> prepared = seat_.session().prepare(columns);
  if (!prepared) return {Done::kRetry};
  if (!prepared->ok()) return {Done::kYes, without_place(*std::move(prepared))};
  const size_t width = columns.bound()->columns().size();
  std::vector<std::string> column_names;
  for (const ResultColumn& column : columns.bound()->columns()) column_names.push_back(column.name);
  std::string values;
  for (size_t i = 1; i <= width; ++i) values += (i == 1 ? "$" : ", $") + std::to_string(i);
  const std::string names = statement.columns.empty() ? "" : "(" + column_list(statement) + ") ";
  const auto insert = command_of(
      fmt::format("INSERT INTO {} {}OVERRIDING SYSTEM VALUE VALUES ({})", statement.table, names, values),
      failure);
  if (!insert) return {Done::kYes, std::move(failure)};
  CopyIn copy{.statement = statement,
              .reader = CopyReader(statement),
              .insert = std::make_unique<PreparedStatement>(*insert, std::vector<Type>(), values_),
              .width = width,
              .column_names = std::move(column_names)};
  prepared = seat_.session().prepare(*copy.insert);
  if (!prepared) return {Done::kRetry};
  if (!prepared->ok()) return {Done::kYes, without_place(*std::move(prepared))};
  copy.may_wait = copy.insert->bound()->refers_to_itself();
  copy.opens_block = seat_.block() == SqlSession::Block::kNone;
  copy.batches = copy.opens_block || !seat_.session().has_read_rows();
  copy.is_extended = is_extended;
  copy_in_.emplace(std::move(copy));
  MessageWriter writer = out();
  write_copy_response('G', statement.is_binary, width, writer);
  return {};
}

ClientSession::Done ClientSession::fail_copy(const StatementResult& failure) {
  if (seat_.is_taken()) {
    seat_.session().fail_block();
    if (copy_in_->opens_block) seat_.give_back();  // rolls it back
  }
  StatementResult told = failure;
  const size_t line = copy_in_->line.value_or(copy_in_->reader.line());
  if (line > 0)
    told.context = fmt::format("COPY {}, line {}", read_relation_name(copy_in_->statement.table), line);
  const uint64_t kept = copy_in_->rows - copy_in_->rows_in_batch;
  if (copy_in_->batches && kept > 0)
    told.message += fmt::format("; the first {} rows are in the table", kept);
  report(told);
  const bool is_extended = copy_in_->is_extended;
  copy_in_.reset();
  if (is_extended) {
    skips_to_sync_ = true;
  } else if (query_) {
    query_->next = query_->parts.size();
  }
  return Done::kYes;
}

ClientSession::Done ClientSession::copy_data(ByteSpan bytes) {
  if (waiting_ == Waiting::kNever && host_.statements_wait()) return Done::kWork;
  if (!seat_.take()) return Done::kRetry;
  copy_in_->reader.add(as_text(bytes));
  return copy_rows();
}

ClientSession::Done ClientSession::copy_rows() {
  for (;;) {
    const Result<bool> next = copy_in_->reader.next();
    if (!next) return fail_copy(StatementResult::failure(sqlstate::kBadCopyFormat, next.error().message));
    if (!*next) return Done::kYes;
    const Done done = copy_row(copy_in_->reader.fields());
    if (done != Done::kYes || !copy_in_) return done;
  }
}

ClientSession::Done ClientSession::copy_row(std::span<const std::optional<std::string_view>> fields) {
  const ValueFormat format = copy_in_->statement.is_binary ? ValueFormat::kBinary : ValueFormat::kText;
  const std::span<const Type> types = copy_in_->insert->bound()->parameters();
  if (fields.size() > types.size())
    return fail_copy(
        StatementResult::failure(sqlstate::kBadCopyFormat, "extra data after last expected column"));
  if (fields.size() < types.size())
    return fail_copy(StatementResult::failure(
        sqlstate::kBadCopyFormat,
        fmt::format("missing data for column \"{}\"", copy_in_->column_names[fields.size()])));
  Arena& arena = *copy_in_->arena;
  std::vector<Argument>& values = copy_in_->values;
  std::vector<uint8_t>& scales = copy_in_->scales;
  arena.reset();
  values.resize(copy_in_->width);
  scales.resize(copy_in_->width);
  size_t bytes = 0;
  for (size_t i = 0; i < fields.size(); ++i) {
    values[i] = {};
    scales[i] = types[i].scale;
    if (!fields[i]) continue;
    bytes += fields[i]->size();
    SqlError error;
    if (!read_value(types[i], as_bytes(*fields[i]), format, arena, values[i], scales[i], error))
      return fail_copy(StatementResult::failure(error.sqlstate, std::string(error.message)));
  }
  if (copy_in_->opens_block && seat_.block() == SqlSession::Block::kNone && !begin_copy_batch()) {
    return fail_copy(
        StatementResult::failure(sqlstate::kSerializationFailure, "a change of the schema came between"));
  }
  bool waits = false;
  const StatementResult inserted = insert_copied(values, scales, waits);
  if (waits) {
    copy_in_->waiting_bytes += bytes + fields.size() * sizeof(std::optional<std::string>);
    if (copy_in_->waiting_bytes > kMostResultBytes) return fail_copy(inserted);
    CopyIn::WaitingRow& row = copy_in_->waiting.emplace_back();
    row.line = copy_in_->line.value_or(copy_in_->reader.line());
    row.fields.assign(fields.begin(), fields.end());
    return Done::kYes;
  }
  if (!inserted.ok()) return fail_copy(inserted);
  ++copy_in_->rows;
  copy_in_->rows_in_batch += 1;
  copy_in_->batch_bytes += bytes + 32;
  return copy_in_->batches && copy_in_->batch_bytes >= kBatchBytes ? commit_copy_batch() : Done::kYes;
}

// `waits`: the row refers to one that is not there; nothing has happened then.
StatementResult ClientSession::insert_copied(std::span<const Argument> values,
                                             std::span<const uint8_t> scales, bool& waits) {
  struct NoRows final : ResultSink {
    void begin(std::span<const ResultColumn>) override {}
    void add(std::span<const Argument>) override {}
  } none;
  syntax::Command point;
  point.name.text = "before a copied row";  // no name of the user's begins so and has blanks
  const auto control = [&](syntax::Command::Kind kind) {
    point.kind = kind;
    return seat_.session().control(point)->ok();
  };
  if (copy_in_->may_wait) control(syntax::Command::Kind::kSavepoint);
  std::optional<StatementResult> inserted = seat_.session().execute(*copy_in_->insert, values, scales, none);
  CHECK(inserted.has_value());  // the open block keeps changes of the schema off
  if (!copy_in_->may_wait) return *std::move(inserted);
  if (inserted->ok()) {
    control(syntax::Command::Kind::kRelease);
    return *std::move(inserted);
  }
  const bool is_reference = inserted->sqlstate == std::string_view(sqlstate::kForeignKey);
  waits =
      is_reference && control(syntax::Command::Kind::kRollBackTo) && control(syntax::Command::Kind::kRelease);
  return *std::move(inserted);
}

// Inserts the rows that waited, as long as there are some whose rows to refer to have come. One that is left
// fails.
ClientSession::Done ClientSession::copy_waiting_rows() {
  while (!copy_in_->waiting.empty()) {
    std::vector<CopyIn::WaitingRow> rows = std::exchange(copy_in_->waiting, {});
    std::ranges::reverse(rows);  // a chain in one direction, however long, takes two rounds
    copy_in_->waiting_bytes = 0;
    const uint64_t before = copy_in_->rows;
    for (const CopyIn::WaitingRow& row : rows) {
      copy_in_->line = row.line;
      const std::vector<std::optional<std::string_view>> fields(row.fields.begin(), row.fields.end());
      const Done done = copy_row(fields);
      if (done != Done::kYes || !copy_in_) return done;
    }
    copy_in_->may_wait = copy_in_->rows > before;
  }
  return Done::kYes;
}

ClientSession::Done ClientSession::commit_copy_batch() {
  if (seat_.block() == SqlSession::Block::kNone) return Done::kYes;
  syntax::Command commit;
  commit.kind = syntax::Command::Kind::kCommit;
  // The block keeps changes of the schema off, so there is a result.
  const StatementResult done = *seat_.session().control(commit);
  if (!done.ok()) return fail_copy(done);
  copy_in_->rows_in_batch = 0;
  copy_in_->batch_bytes = 0;
  copy_in_->has_committed = true;
  copy_in_->lsn = done.lsn;
  if (!copy_in_->opens_block && !begin_copy_batch()) {
    return fail_copy(
        StatementResult::failure(sqlstate::kSerializationFailure, "a change of the schema came between"));
  }
  return Done::kYes;
}

bool ClientSession::begin_copy_batch() {
  syntax::Command begin;
  begin.kind = syntax::Command::Kind::kBegin;
  return seat_.session().control(begin).has_value();
}

ClientSession::Done ClientSession::end_copy() {
  if (!seat_.take()) return Done::kRetry;
  copy_in_->reader.finish();
  Done done = copy_rows();
  if (done != Done::kYes || !copy_in_) return done;
  done = copy_waiting_rows();
  if (done != Done::kYes || !copy_in_) return done;
  if (copy_in_->opens_block) done = commit_copy_batch();
  if (done != Done::kYes || !copy_in_) return done;
  const size_t mark = replies_.mark();
  MessageWriter writer = out();
  if (!copy_in_->opens_block && copy_in_->has_committed) {
    StatementResult told;
    told.warning = "a COPY of many rows is committed in parts: ROLLBACK does not undo those";
    report_notices(told);
  }
  write_command_complete(fmt::format("COPY {}", copy_in_->rows), writer);
  if (copy_in_->lsn) replies_.hold(mark, *copy_in_->lsn);
  copy_in_.reset();
  return Done::kYes;
}

}  // namespace mneme
