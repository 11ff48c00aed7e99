#include "analyzer/conflict_rule.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace mneme {
namespace {

bool contains(const std::vector<ColumnId>& columns, ColumnId column) {
  return std::ranges::binary_search(columns, column);
}

// Returns whether one use writes the column and the other reads or writes it. Two that only add don't meet.
bool meet_in(const TableUse& a, const TableUse& b, ColumnId column) {
  const bool a_adds = contains(a.adds, column);
  const bool b_adds = contains(b.adds, column);
  if (a_adds && b_adds) return false;
  const bool a_writes = a_adds || contains(a.sets, column);
  const bool b_writes = b_adds || contains(b.sets, column);
  return (a_writes && (b_writes || contains(b.reads, column))) || (b_writes && contains(a.reads, column));
}

std::string_view verb(const TableUse& use, ColumnId column) {
  if (contains(use.adds, column)) return "adds";
  return contains(use.sets, column) ? "writes" : "reads";
}

std::string_view verb(const TableUse& use) {
  switch (use.kind) {
    case ir::OperationKind::kSelect:
      return "reads";
    case ir::OperationKind::kInsert:
      return "inserts";
    case ir::OperationKind::kUpdate:
      return "writes";
    case ir::OperationKind::kDelete:
      return "deletes";
  }
  CHECK(false);
}

}  // namespace

ConflictRule::ConflictRule(const Catalog& catalog, const AnalysisOptions& options,
                           std::span<const ConflictSubject> subjects)
    : catalog_(catalog), options_(options) {
  for (const TableDefinition& table : catalog.tables()) {
    totals_.emplace_back().is_written.resize(table.columns.size());
  }
  for (const ConflictSubject& subject : subjects) {
    std::vector<Operation>& operations = operations_.emplace_back();
    for (const ir::Operation& operation : subject.replayed->operations) {
      const bool is_live = subject.is_live[operation.id.value];
      Operation& known = operations.emplace_back();
      known.procedure = subject.replayed->name;
      known.line = operation.where.line;
      // By columns, an operation that replay leaves out has no conflicts. The paper's rule has no exception.
      if (!is_live && options.conflicts == ConflictGrain::kColumn) continue;
      known.uses = table_uses(catalog, operation);
      for (TableUse& use : known.uses) {
        if (!options.elide.increments && !use.adds.empty()) {
          for (std::vector<ColumnId>* into : {&use.reads, &use.sets}) {
            into->insert(into->end(), use.adds.begin(), use.adds.end());
            std::ranges::sort(*into);
          }
          use.adds.clear();
        }
        if (subject.is_logged) add_to_totals(use);
      }
    }
  }
}

void ConflictRule::add_to_totals(const TableUse& use) {
  TableTotal& total = totals_[use.table.value];
  total.is_modified |= use.modifies();
  total.is_only_inserted &= use.inserts();
  total.moves_rows |= use.moves_rows;
  for (const std::vector<ColumnId>* columns : {&use.sets, &use.adds}) {
    for (const ColumnId column : *columns) total.is_written[column.value] = true;
  }
}

std::optional<std::string> ConflictRule::conflict(OperationRef first, OperationRef second) const {
  const Operation& a = operation(first);
  const Operation& b = operation(second);
  for (const TableUse& use_a : a.uses) {
    for (const TableUse& use_b : b.uses) {
      if (use_a.table != use_b.table || are_free_inserts(use_a, use_b)) continue;
      const bool by_columns = options_.conflicts == ConflictGrain::kColumn;
      const std::optional<Meeting> met = by_columns ? by_column(use_a, use_b) : by_table(use_a, use_b);
      if (!met) continue;
      std::string reason = fmt::format("{}: {} (line {}) {}, {} (line {}) {}", met->where, a.procedure,
                                       a.line, met->first, b.procedure, b.line, met->second);
      if (met->more_columns > 0) reason += fmt::format(" (and {} more)", met->more_columns);
      return reason;
    }
  }
  return std::nullopt;
}

std::optional<ConflictRule::Meeting> ConflictRule::by_table(const TableUse& a, const TableUse& b) const {
  const auto only_looks = [&](const TableUse& use) { return !use.modifies() && finds_the_same_always(use); };
  const auto only_adds = [&](const TableUse& use) { return use.only_adds() && finds_the_same_always(use); };
  if (!a.modifies() && !b.modifies()) return std::nullopt;
  if (options_.elide.unwritten && (only_looks(a) || only_looks(b))) return std::nullopt;
  if (only_adds(a) && only_adds(b)) return std::nullopt;
  return Meeting{catalog_.table(a.table).name, verb(a), verb(b)};
}

std::optional<ConflictRule::Meeting> ConflictRule::by_column(const TableUse& a, const TableUse& b) const {
  const TableDefinition& table = catalog_.table(a.table);
  if (a.moves_rows || b.moves_rows) return Meeting{table.name, verb(a), verb(b)};
  std::optional<Meeting> met;
  for (uint32_t c = 0; c < table.columns.size(); ++c) {
    const ColumnId column{c};
    if (!meet_in(a, b, column)) continue;
    if (met) {
      ++met->more_columns;
    } else {
      met = Meeting{table.name + "." + table.column(column).name, verb(a, column), verb(b, column)};
    }
  }
  return met;
}

bool ConflictRule::finds_the_same_always(const TableUse& use) const {
  const TableTotal& total = totals_[use.table.value];
  return !total.moves_rows &&
         std::ranges::none_of(use.reads, [&](ColumnId column) { return total.is_written[column.value]; });
}

bool ConflictRule::are_free_inserts(const TableUse& a, const TableUse& b) const {
  return options_.elide.insert_only && a.inserts() && b.inserts() && totals_[a.table.value].is_only_inserted;
}

std::vector<TableId> ConflictRule::insert_only_tables() const {
  std::vector<TableId> tables;
  for (uint32_t t = 0; t < totals_.size() && options_.elide.insert_only; ++t) {
    if (totals_[t].is_modified && totals_[t].is_only_inserted) tables.emplace_back(t);
  }
  return tables;
}

bool ConflictRule::only_adds_to(OperationRef ref, TableId table, ColumnId column) const {
  return std::ranges::any_of(operation(ref).uses, [&](const TableUse& use) {
    return use.table == table && contains(use.adds, column);
  });
}

}  // namespace mneme
