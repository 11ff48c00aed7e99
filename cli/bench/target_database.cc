#include "cli/bench/target_database.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <set>

#include "base/memory/arena.h"
#include "cli/bench/copy_text.h"
#include "procedures/values/value_text.h"

namespace mneme {
namespace {

// Rows gather to so many bytes a table before they are sent by a COPY.
constexpr size_t kCopyBytes = size_t{1} << 20;

// A server's tables for a workload's conditions, which scan what they need.
class TargetRows final : public RowSource {
 public:
  TargetRows(TargetConnection& connection, const Catalog& catalog)
      : connection_(connection), catalog_(catalog) {}

  const Catalog& catalog() const override { return catalog_; }

  void scan(TableId id, FunctionRef<void(std::span<const Value> row)> visit) const override {
    if (error_) return;
    const TableDefinition& table = catalog_.table(id);
    std::vector<std::optional<std::string>> texts;
    std::vector<Value> row;
    Arena arena;
    const Result<void> read = connection_.copy_out(table.name, [&](std::string_view line) {
      if (error_ || !parse(table, line, texts, row, arena)) return;
      visit(row);
      arena.reset();
    });
    if (!read.ok() && !error_) error_ = read.error();
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  bool parse(const TableDefinition& table, std::string_view line,
             std::vector<std::optional<std::string>>& texts, std::vector<Value>& row, Arena& arena) const {
    row.assign(table.columns.size(), Value::null());
    if (!split_copy_line(line, texts) || texts.size() != row.size()) {
      error_ =
          failed("{} has a row in the table {} that is not of {} columns: the table is not this workload's",
                 connection_.target().shown, table.name, row.size());
      return false;
    }
    for (size_t i = 0; i < row.size(); ++i) {
      SqlError unread;
      if (!texts[i] || parse_value(table.columns[i].type, *texts[i], arena, row[i], unread)) continue;
      error_ = failed("{} has a value in {}.{} that is no {}: the table is not this workload's",
                      connection_.target().shown, table.name, table.columns[i].name,
                      to_string(table.columns[i].type));
      return false;
    }
    return true;
  }

  TargetConnection& connection_;
  const Catalog& catalog_;
  mutable std::optional<Error> error_;  // of the first scan that failed; those behind it visit nothing
};

std::vector<ColumnId> ordering_key(const Catalog& catalog, const TableDefinition& table) {
  if (table.primary_key) return catalog.index(*table.primary_key).columns;
  std::vector<ColumnId> all;
  for (uint32_t i = 0; i < table.columns.size(); ++i) all.push_back(ColumnId{i});
  return all;
}

std::string ordered_query(const TableDefinition& table, std::span<const ColumnId> key) {
  std::vector<std::string> columns, order;
  for (const Column& column : table.columns) columns.push_back(column.name);
  for (const ColumnId id : key) {
    const Column& column = table.column(id);
    order.push_back(column.name + (column.type.is_string() ? " COLLATE \"C\"" : ""));
  }
  return fmt::format("SELECT {} FROM {} ORDER BY {}", fmt::join(columns, ", "), table.name,
                     fmt::join(order, ", "));
}

std::string shown_value(const std::optional<std::string>& value) {
  return value ? fmt::format("'{}'", *value) : "NULL";
}

}  // namespace

void TableDigest::add(std::string_view line) {
  const XXH128_hash_t hash = XXH3_128bits(line.data(), line.size());
  digest_ += {hash.low64, hash.high64};
  ++rows_;
}

Result<TargetDatabase> TargetDatabase::open(const Target& target, const Workload& workload,
                                            const Program& program) {
  Result<std::unique_ptr<TargetConnection>> connection = TargetConnection::open(target);
  if (!connection) return connection.error();
  return TargetDatabase(std::move(*connection), workload, program);
}

Result<std::vector<std::string>> TargetDatabase::present() {
  std::set<std::string> declared;
  for (const TableDefinition& table : program_->catalog.tables()) declared.insert(table.name);
  for (const View& view : program_->views) declared.insert(view.name);
  std::vector<std::string> found;
  const auto keep = [&](const std::vector<TextRow>& rows) {
    for (const TextRow& row : rows) {
      if (declared.contains(row[0].value_or(""))) found.push_back(*row[0]);
    }
  };
  constexpr std::string_view kPurpose = "list what the schema holds";
  const Result<std::vector<TextRow>> relations = connection_->query(
      "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
      "WHERE n.nspname = current_schema() ORDER BY c.relname",
      kPurpose);
  if (!relations) return relations.error();
  keep(*relations);
  declared.clear();
  for (const ir::Procedure& procedure : program_->procedures) declared.insert(procedure.name);
  const Result<std::vector<TextRow>> routines = connection_->query(
      "SELECT p.proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace "
      "WHERE n.nspname = current_schema() ORDER BY p.proname",
      kPurpose);
  if (!routines) return routines.error();
  keep(*routines);
  return found;
}

Result<void> TargetDatabase::drop() {
  constexpr std::string_view kPurpose = "drop what --reload loads again";
  for (const ir::Procedure& procedure : program_->procedures) {
    const char* const kind = procedure.is_function ? "FUNCTION" : "PROCEDURE";
    RETURN_IF_ERROR(
        connection_->execute(fmt::format("DROP {} IF EXISTS {}", kind, procedure.name), kPurpose));
  }
  for (size_t i = program_->views.size(); i-- > 0;) {
    RETURN_IF_ERROR(
        connection_->execute(fmt::format("DROP VIEW IF EXISTS {}", program_->views[i].name), kPurpose));
  }
  // A table may refer to those before it. A column's sequence goes with its table.
  const SharedList<TableDefinition>& tables = program_->catalog.tables();
  for (const bool sequences : {false, true}) {
    for (size_t i = tables.size(); i-- > 0;) {
      if (is_sequence(tables[i]) != sequences) continue;
      RETURN_IF_ERROR(connection_->execute(
          fmt::format("DROP {} IF EXISTS {}", sequences ? "SEQUENCE" : "TABLE", tables[i].name), kPurpose));
    }
  }
  return {};
}

Result<void> TargetDatabase::create(FunctionRef<void(uint32_t parts_done)> progress) {
  RETURN_IF_ERROR(
      connection_->execute(std::string(workload_->sql()),
                           fmt::format("create the tables and procedures of {}", workload_->name())));
  RETURN_IF_ERROR(populate(progress));
  // PostgreSQL's planner knows nothing of new rows before.
  return connection_->execute("VACUUM ANALYZE", "VACUUM ANALYZE");
}

Result<void> TargetDatabase::populate(FunctionRef<void(uint32_t parts_done)> progress) {
  const Catalog& catalog = program_->catalog;
  std::vector<std::string> waiting(catalog.tables().size());
  Result<void> sent;
  const auto send = [&](size_t table) {
    if (sent.ok() && !waiting[table].empty())
      sent = connection_->copy_in(catalog.tables()[table].name, waiting[table]);
    waiting[table].clear();
  };
  for (uint32_t part = 0; part < workload_->part_count() && sent.ok(); ++part) {
    workload_->populate(part, [&](TableId table, std::span<const Value> row) {
      if (!sent.ok()) return;
      std::string& lines = waiting[table.value];
      append_copy_line(catalog.table(table), row, lines);
      if (lines.size() >= kCopyBytes) send(table.value);
    });
    progress(part + 1);
  }
  for (size_t table = 0; table < waiting.size(); ++table) send(table);
  return sent;
}

Result<std::vector<std::pair<std::string, std::string>>> TargetDatabase::settings() {
  const Result<std::vector<TextRow>> rows = connection_->query(
      "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit', "
      "'full_page_writes', "
      "'shared_buffers', 'default_transaction_isolation') ORDER BY name",
      "report its settings");
  if (!rows) return rows.error();
  std::vector<std::pair<std::string, std::string>> settings;
  for (const TextRow& row : *rows) settings.emplace_back(row[0].value_or(""), row[1].value_or(""));
  return settings;
}

Result<std::vector<TableState>> TargetDatabase::states() {
  std::vector<TableState> states;
  for (const TableDefinition& table : program_->catalog.tables()) {
    if (is_sequence(table)) continue;
    TableState& state = states.emplace_back(table.name, TableDigest());
    RETURN_IF_ERROR(
        connection_->copy_out(table.name, [&](std::string_view line) { state.digest.add(line); }));
  }
  return states;
}

Result<std::vector<Check>> TargetDatabase::check(std::optional<int128> conserved) {
  const TargetRows rows(*connection_, program_->catalog);
  std::vector<Check> checks = workload_->check(rows, conserved);
  if (rows.error()) return *rows.error();
  for (const CheckQuery& query : workload_->check_queries()) {
    const Result<std::vector<TextRow>> broken =
        connection_->query(query.sql, fmt::format("check '{}'", query.name));
    if (!broken) return broken.error();
    if (broken->empty()) {
      checks.push_back({query.name, true, "no row breaks it"});
      continue;
    }
    std::vector<std::string> first;
    for (const std::optional<std::string>& value : broken->front()) first.push_back(shown_value(value));
    checks.push_back(
        {query.name, false,
         fmt::format("{} {} it, the first is {}", broken->size(),
                     broken->size() == 1 ? "row breaks" : "rows break", fmt::join(first, ", "))});
  }
  return checks;
}

std::string difference_of(const TableDefinition& table, std::span<const ColumnId> key, const TextRow* one,
                          const TextRow* other) {
  const auto key_text = [&](const TextRow& row) {
    std::vector<std::string> parts;
    for (const ColumnId id : key)
      parts.push_back(fmt::format("{} {}", table.column(id).name, shown_value(row[id.value])));
    return fmt::format("{}", fmt::join(parts, ", "));
  };
  if (one == nullptr) return fmt::format("only the second has the row of {}", key_text(*other));
  if (other == nullptr) return fmt::format("only the first has the row of {}", key_text(*one));
  const std::string first_key = key_text(*one);
  const std::string second_key = key_text(*other);
  if (first_key != second_key)
    return fmt::format("in the order of the key the first has {}, where the second has {}", first_key,
                       second_key);
  std::vector<std::string> columns;
  for (size_t i = 0; i < one->size(); ++i) {
    if ((*one)[i] == (*other)[i]) continue;
    columns.push_back(fmt::format("{} is {} in the first and {} in the second", table.columns[i].name,
                                  shown_value((*one)[i]), shown_value((*other)[i])));
  }
  return fmt::format("under {}: {}", first_key, fmt::join(columns, "; "));
}

Result<std::string> first_difference(TargetDatabase& one, TargetDatabase& other, const Catalog& catalog,
                                     const TableDefinition& table) {
  const std::vector<ColumnId> key = ordering_key(catalog, table);
  const std::string sql = ordered_query(table, key);
  const std::string purpose = fmt::format("read the table {} in order", table.name);
  RETURN_IF_ERROR(one.connection().begin_rows(sql, purpose));
  Result<void> begun = other.connection().begin_rows(sql, purpose);
  TextRow first, second;
  std::string found;
  std::optional<Error> error;
  if (!begun) error = begun.error();
  while (!error && found.empty()) {
    const Result<bool> has_first = one.connection().next_row(first);
    const Result<bool> has_second = other.connection().next_row(second);
    if (!has_first || !has_second) {
      error = has_first ? has_second.error() : has_first.error();
    } else if (!*has_first && !*has_second) {
      break;
    } else if (!*has_first || !*has_second || first != second) {
      found = difference_of(table, key, *has_first ? &first : nullptr, *has_second ? &second : nullptr);
    }
  }
  one.connection().close_rows();
  other.connection().close_rows();
  if (error) return *error;
  return found;
}

}  // namespace mneme
