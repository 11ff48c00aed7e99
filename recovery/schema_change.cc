#include "recovery/schema_change.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/parallel.h"
#include "recovery/index_builder.h"

namespace mneme {
namespace {

bool same_columns(const TableDefinition& a, const TableDefinition& b) {
  return std::ranges::equal(a.columns, b.columns, [](const Column& x, const Column& y) {
    return x.name == y.name && x.type == y.type && x.nullable == y.nullable;
  });
}

// Whether a database of the one catalog serves the other as it is.
bool same_tables(const Catalog& a, const Catalog& b) {
  const bool tables =
      std::ranges::equal(a.tables(), b.tables(), [](const TableDefinition& x, const TableDefinition& y) {
        return x.name == y.name && same_columns(x, y);
      });
  return tables &&
         std::ranges::equal(a.indexes(), b.indexes(), [](const IndexDefinition& x, const IndexDefinition& y) {
           return x.name == y.name && x.table == y.table && x.columns == y.columns && x.unique == y.unique &&
                  x.ordered == y.ordered;
         });
}

// Puts the rows of a table into the slots of another that they have in the first.
bool copy_rows(const IndexedTable& from, IndexedTable& to) {
  const Table& rows = from.rows();
  // Whatever is restored already, or was given out since.
  const uint64_t end = std::max(rows.restored_end(), rows.slot_end());
  for (uint64_t slot = 0; slot < end; ++slot) {
    const Row* row = rows.at(slot);
    if (row == nullptr || !row->word().is_live()) continue;
    Row* copy = to.rows().restore(slot);
    if (copy == nullptr) return false;
    std::memcpy(copy->image(), row->image(), to.layout().image_bytes());
    copy->set_word(RowWord::live(kCheckpointLsn));
  }
  return true;
}

// The unique index, if any, under one of whose keys there are two rows. One that holds the primary key has none.
const IndexDefinition* duplicated_index(const Database& database) {
  for (const TableDefinition& definition : database.catalog().tables()) {
    const IndexedTable& table = database.table(definition.id);
    for (const TableIndex& index : table.indexes()) {
      if (!index.has_whole_key_suffix) continue;
      std::vector<IndexKey> keys;
      table.rows().for_each_live(0, table.rows().slot_end(), [&](const Row* row) {
        keys.push_back(index.codec->of_row(row->image(), 0));
      });
      const auto below = [](const IndexKey& a, const IndexKey& b) {
        return std::ranges::lexicographical_compare(a.span(), b.span());
      };
      std::ranges::sort(keys, below);
      const auto equal = [&](const IndexKey& a, const IndexKey& b) { return !below(a, b) && !below(b, a); };
      if (std::ranges::adjacent_find(keys, equal) != keys.end()) return &database.catalog().index(index.id);
    }
  }
  return nullptr;
}

// The rows of `from` in tables for another catalog.
Result<std::unique_ptr<Database>> tables_for(const Database& from, const Catalog& catalog, bool with_indexes,
                                             uint32_t threads) {
  auto changed = std::make_unique<Database>(catalog, from.worker_count());
  const std::vector<TableDefinition>& tables = catalog.tables();
  std::vector<char> copied(tables.size(), 1);
  for_each_in_parallel(threads, tables.size(), [&](size_t i) {
    const TableDefinition* former = from.catalog().find_table(tables[i].name);
    if (former == nullptr) return;
    CHECK(same_columns(*former, tables[i]));
    copied[i] = copy_rows(from.table(former->id), changed->table(tables[i].id)) ? 1 : 0;
  });
  if (std::ranges::find(copied, 0) != copied.end()) {
    return failed(
        "no memory is left for the tables of the changed schema, which stand beside the former ones "
        "meanwhile");
  }
  if (with_indexes) RETURN_IF_ERROR(build_indexes(*changed, threads));
  return changed;
}

StatementResult log_failure(const CommitLog& log) {
  const std::optional<Error> error = log.failure();
  CHECK(error.has_value());
  return StatementResult::failure(sqlstate::kIoError, error->message);
}

StatementResult own_block(const syntax::Command& command) {
  return StatementResult::failure(
      sqlstate::kLockNotAvailable,
      fmt::format("{} cannot wait for the transaction block that this thread has open on another connection: commit it or "
                  "roll it back, and try again",
                  tag_of_change(command)));
}

}  // namespace

Result<void> change_tables(std::unique_ptr<Database>& database, const Catalog& catalog, bool with_indexes,
                           uint32_t threads) {
  if (same_tables(database->catalog(), catalog)) return {};
  Result<std::unique_ptr<Database>> changed = tables_for(*database, catalog, with_indexes, threads);
  if (!changed) return changed.error();
  database = std::move(*changed);
  return {};
}

Result<std::unique_ptr<Program>> program_after(const Program& program, const RecordView& record) {
  const std::string text(reinterpret_cast<const char*>(record.payload.data()), record.payload.size());
  const ParsedStatement parsed = parse_statement(text);
  if (!parsed.command || !parsed.command->changes_schema()) {
    return damaged("the log's schema record at LSN {} holds no CREATE or DROP; nothing on disk was changed",
                   record.lsn.value);
  }
  ChangedProgram changed = changed_program(program, *parsed.command);
  if (changed.program == nullptr) {
    return damaged(
        "the log's change of the schema at LSN {} does not fit the catalog that it changes: {}; nothing on "
        "disk was "
        "changed",
        record.lsn.value, changed.failure.message);
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
  if (changed.program == nullptr) return changed.failure;

  switch (change.stop(lock_timeout)) {
    case SchemaLatch::Change::Stopped::kStopped:
      break;
    case SchemaLatch::Change::Stopped::kOwnBlock:
      return own_block(command);
    case SchemaLatch::Change::Stopped::kTimedOut:
      return StatementResult::failure(
          sqlstate::kLockNotAvailable,
          fmt::format("{} has waited {} ms for transactions that other connections have open, and nothing was changed: try "
                      "again once they have ended",
                      tag_of_change(command), lock_timeout->count()));
  }
  Database& former = working.database();
  std::unique_ptr<Database> tables;
  if (!same_tables(former.catalog(), changed.program->catalog)) {
    Result<std::unique_ptr<Database>> made = tables_for(former, changed.program->catalog, true, threads);
    if (!made) return StatementResult::failure(sqlstate::kOutOfMemory, made.error().message);
    tables = std::move(*made);
    if (const IndexDefinition* index = duplicated_index(*tables)) {
      return StatementResult::failure(sqlstate::kUnique,
                                      fmt::format("could not create unique index \"{}\"", index->name));
    }
  }

  CommitLog& log = working.log();
  const WorkerId worker{0};
  if (!log.await_space(worker, static_cast<uint32_t>(text.size()))) return log_failure(log);
  const Lsn lsn = log.reserve(worker, static_cast<uint32_t>(text.size()));
  log.fill(worker, lsn, RecordKind::kSchema, as_bytes(text));
  if (!log.wait_durable(lsn)) return log_failure(log);

  working.replace(std::move(changed.program), std::move(tables));
  StatementResult done;
  done.tag = tag_of_change(command);
  return done;
}

}  // namespace mneme
