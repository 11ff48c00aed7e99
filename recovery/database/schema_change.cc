#include "recovery/database/schema_change.h"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "procedures/binder/schema_binder.h"
#include "procedures/values/cast.h"
#include "procedures/values/expression.h"
#include "recovery/database/constraint_check.h"
#include "recovery/rows/index_builder.h"

namespace mneme {
namespace {

// Whether there are two rows under one key. An index that holds the primary key has no such, unless it is the
// primary key's own.
bool has_duplicates(const IndexedTable& table, const TableIndex& index) {
  if (!index.is_primary && !index.has_whole_key_suffix) return false;
  const size_t width = index.codec->word_count();
  std::vector<uint64_t> words;  // of one key after the other
  table.rows().for_each_live(0, table.rows().slot_end(), [&](const Row* row) {
    if (index.codec->has_null(row->image())) return;
    const IndexKey key = index.codec->of_row(row->image(), 0);
    words.insert(words.end(), key.span().begin(), key.span().end());
  });
  std::vector<const uint64_t*> keys;
  for (size_t at = 0; at < words.size(); at += width) keys.push_back(words.data() + at);
  const auto order = [&](const uint64_t* a, const uint64_t* b) { return compare_words(a, b, width); };
  std::ranges::sort(keys, [&](const uint64_t* a, const uint64_t* b) { return order(a, b) < 0; });
  const auto equal = [&](const uint64_t* a, const uint64_t* b) { return order(a, b) == 0; };
  return std::ranges::adjacent_find(keys, equal) != keys.end();
}

// What is in memory of a sequence goes on under its new name, and is forgotten where it is gone or restarted.
void follow_sequences(Database& database, const Catalog& after) {
  const Catalog& before = database.catalog();
  for (const TableDefinition& table : before.tables()) {
    if (!is_sequence(table)) continue;
    const TableDefinition* same = after.find_table(table.name);
    if (same == nullptr && before.tables().size() == after.tables().size()) {
      database.sequences().rename(table.name, after.table(table.id).name);
    } else if (same == nullptr || same->times_emptied != table.times_emptied) {
      database.sequences().forget(table.name);
    }
  }
}

StatementResult log_failure(const CommitLog& log) {
  const std::optional<Error> error = log.failure();
  CHECK(error.has_value());
  return StatementResult::failure(sqlstate::kIoError, error->message);
}

StatementResult own_block(const syntax::Command& command) {
  return StatementResult::failure(sqlstate::kLockNotAvailable,
                                  fmt::format("{} cannot wait for the transaction block that this thread has "
                                              "open on another connection: commit it or "
                                              "roll it back, and try again",
                                              tag_of_change(command)));
}

}  // namespace

bool is_to_be_followed(const Catalog& before, const Catalog& after) {
  if (after.tables().size() < before.tables().size()) return true;
  for (size_t i = 0; i < before.tables().size(); ++i) {
    const auto& was = before.tables().shared(i);
    const auto& is = after.tables().shared(i);
    if (was == is) continue;
    if (was->name != is->name || was->columns.size() > is->columns.size() ||
        !std::equal(was->columns.begin(), was->columns.end(), is->columns.begin()))
      return true;
  }
  return false;
}

bool same_tables(const Catalog& a, const Catalog& b) {
  const auto same = [](const auto& one, const auto& other) {
    if (one.size() != other.size()) return false;
    for (size_t i = 0; i < one.size(); ++i) {
      if (one.shared(i) != other.shared(i) && one[i] != other[i]) return false;
    }
    return true;
  };
  return same(a.tables(), b.tables()) && same(a.indexes(), b.indexes());
}

namespace {

// Casts values as an assignment does. What can't be cast leaves its error.
class ValueCasts {
 public:
  bool convert(const Database::Prepared::Converted& converted) {
    arena_.reset();
    return cast_value(converted.from, converted.to, TooLong::kCutBlanks, converted.value, arena_,
                      converted.value, error_);
  }
  const SqlError& error() const { return error_; }

 private:
  Arena arena_;
  SqlError error_;
};

// Makes what generated columns hold of rows that were there before. What has no value leaves its error.
class RowGenerator {
 public:
  explicit RowGenerator(const Catalog& catalog) : catalog_(catalog) {}

  bool generate(const Database::Prepared::Generated& generated) {
    const auto [place, is_new] =
        exprs_.try_emplace({generated.table.id.value, generated.column.value}, ir::Expr());
    if (is_new) {
      place->second =
          bind_generated(generated.table, generated.table.column(generated.column), catalog_, strings_);
    }
    arena_.reset();
    EvaluationContext context(arena_);
    context.rows[0] = {&generated.layout, generated.image, {}, {}};
    if (evaluate(place->second, context, generated.value)) return true;
    error_ = context.error;
    return false;
  }
  const SqlError& error() const { return error_; }

 private:
  const Catalog& catalog_;
  std::deque<std::string> strings_;
  std::map<std::pair<uint32_t, uint32_t>, ir::Expr> exprs_;  // by table and column
  Arena arena_;
  SqlError error_;
};

}  // namespace

Result<void> change_tables(Database& database, const Catalog& catalog, bool with_indexes, uint32_t threads) {
  if (same_tables(database.catalog(), catalog)) return {};
  Database::Prepared prepared = database.prepare(catalog);
  std::deque<std::string> strings;
  const auto value_of_added = [&](const Column& column) { return initial_value(catalog, column, strings); };
  ValueCasts casts;
  RowGenerator generator(catalog);
  const Database::Prepared::Copied copied = prepared.copy_rows(
      !with_indexes, value_of_added,
      [&](const Database::Prepared::Converted& converted) { return casts.convert(converted); },
      [&](const Database::Prepared::Generated& generated) { return generator.generate(generated); });
  if (copied.status != Database::Prepared::Copied::Status::kDone) {
    return failed(
        "there is no memory, or no value, for a row of table {} that its change of the schema lays out anew",
        copied.table);
  }
  if (with_indexes) {
    for (const auto& [table, index] : prepared.new_indexes())
      RETURN_IF_ERROR(build_index(table, index, threads));
  }
  database.take(std::move(prepared));
  return {};
}

Result<std::unique_ptr<Program>> program_after(const Program& program, const RecordView& record) {
  const std::string text(reinterpret_cast<const char*>(record.payload.data()), record.payload.size());
  const ParsedStatement parsed = parse_statement(text);
  if (!parsed.command || !parsed.command->changes_schema()) {
    return damaged(
        "the log's schema record at LSN {} holds no change of the schema; nothing on disk was changed",
        record.lsn.value);
  }
  ChangedProgram changed = changed_program(program, *parsed.command);
  if (changed.program == nullptr) {
    // One that changes nothing is not logged.
    const std::string why = changed.told.ok() ? "it changes nothing" : changed.told.message;
    return damaged(
        "the log's change of the schema at LSN {} does not fit the catalog that it changes: {}; nothing on "
        "disk was "
        "changed",
        record.lsn.value, why);
  }
  return std::move(changed.program);
}

StatementResult change_schema(WorkingDatabase& working, const syntax::Command& command, std::string_view text,
                              uint32_t threads, std::optional<std::chrono::milliseconds> lock_timeout) {
  if (text.size() > kMaxPayloadBytes) {
    return StatementResult::failure(
        sqlstate::kProgramLimit,
        fmt::format("this statement has {} bytes, and a log record holds {}", text.size(), kMaxPayloadBytes));
  }
  // Before it waits for another change, too, which would wait for this thread's block.
  if (working.schema_latch().is_inside()) return own_block(command);
  SchemaLatch::Change change(working.schema_latch());
  ChangedProgram changed = changed_program(working.program(), command);
  if (changed.program == nullptr) return changed.told;

  switch (change.stop(lock_timeout)) {
    case SchemaLatch::Change::Stopped::kStopped:
      break;
    case SchemaLatch::Change::Stopped::kOwnBlock:
      return own_block(command);
    case SchemaLatch::Change::Stopped::kTimedOut:
      return StatementResult::failure(sqlstate::kLockNotAvailable,
                                      fmt::format("{} has waited {} ms for transactions that other "
                                                  "connections have open, and nothing was changed: try "
                                                  "again once they have ended",
                                                  tag_of_change(command), lock_timeout->count()));
  }
  // Tables are about to be copied, and the program that the log's calls mean is about to go.
  if (const Result<void> recovered = working.finish_recovery(); !recovered)
    return StatementResult::failure(sqlstate::kDataCorrupted, recovered.error().message);
  Database& database = working.database();
  if (StatementResult fulfilled = check_added_constraints(working, changed.program->catalog); !fulfilled.ok())
    return fulfilled;
  std::optional<Database::Prepared> tables;
  if (!same_tables(database.catalog(), changed.program->catalog)) {
    tables = database.prepare(changed.program->catalog);
    using Copied = Database::Prepared::Copied;
    std::deque<std::string> strings;
    const auto value_of_added = [&](const Column& column) {
      return initial_value(changed.program->catalog, column, strings);
    };
    ValueCasts casts;
    RowGenerator generator(changed.program->catalog);
    const Copied copied = tables->copy_rows(
        false, value_of_added,
        [&](const Database::Prepared::Converted& converted) { return casts.convert(converted); },
        [&](const Database::Prepared::Generated& generated) { return generator.generate(generated); });
    if (copied.status == Copied::Status::kNoValue) {
      const bool is_of_cast = *casts.error().sqlstate != '\0';
      const SqlError& error = is_of_cast ? casts.error() : generator.error();
      return StatementResult::failure(error.sqlstate, std::string(error.message));
    }
    if (copied.status == Copied::Status::kNull) {
      return StatementResult::failure(
          sqlstate::kNotNull,
          fmt::format("column \"{}\" of relation \"{}\" contains null values", copied.column, copied.table));
    }
    if (copied.status == Copied::Status::kNoRoom) {
      return StatementResult::failure(
          sqlstate::kProgramLimit,
          fmt::format("column \"{}\" of relation \"{}\" contains a text of more bytes than its type, or an "
                      "index, has room for",
                      copied.column, copied.table));
    }
    if (copied.status == Copied::Status::kNoMemory) {
      return StatementResult::failure(sqlstate::kOutOfMemory,
                                      "the database is full: there is no room for the table's rows");
    }
    for (const auto& [table, index] : tables->new_indexes()) {
      if (has_duplicates(table, index)) {
        return StatementResult::failure(
            sqlstate::kUnique, fmt::format("could not create unique index \"{}\"", index.definition->name));
      }
      if (const Result<void> built = build_index(table, index, threads); !built) {
        return StatementResult::failure(sqlstate::kOutOfMemory, built.error().message);
      }
    }
  }

  CommitLog& log = working.log();
  const WorkerId worker{0};
  if (!log.await_space(worker, static_cast<uint32_t>(text.size()))) return log_failure(log);
  const Lsn lsn = log.reserve(worker, static_cast<uint32_t>(text.size()));
  log.fill(worker, lsn, RecordKind::kSchema, as_bytes(text));
  if (!log.wait_durable(lsn)) return log_failure(log);

  follow_sequences(database, changed.program->catalog);
  if (tables) database.take(std::move(*tables));
  working.replace(std::move(changed.program));
  return changed.told;
}

}  // namespace mneme
