#include "procedures/query/bound_with.h"

#include <algorithm>

#include "procedures/ir/source_error.h"

namespace mneme {

namespace {

using ir::OperationKind;
using CommonTables = std::vector<syntax::Query::CommonTable>;

const CommonTables& tables_of_with(const syntax::Operation& operation) {
  return operation.kind == OperationKind::kSelect && operation.query ? operation.query->with : operation.with;
}

bool is_recursive_with(const syntax::Operation& operation) {
  return operation.kind == OperationKind::kSelect && operation.query ? operation.query->recursive
                                                                     : operation.recursive;
}

// What the part gives to those that read it; no column where it returns nothing.
std::vector<query::Column> returned_columns(const BoundChange& change) {
  std::vector<query::Column> columns;
  if (change.returns_in_rows) {
    const std::vector<query::Column>& all = change.rows->queries.plan->columns;
    columns.assign(all.begin() + static_cast<ptrdiff_t>(change.key_columns), all.end());
    return columns;
  }
  for (const ResultColumn& column : change.columns())
    columns.push_back({column.name, column.type, column.origin});
  return columns;
}

// One of the statement's changes: a part, or the statement itself.
struct Changed {
  size_t number;
  TableId table;
  OperationKind kind;
  std::vector<uint32_t> read;  // the parts that it reads
};

// Whether `later` reads what `part` returns, be it through others.
bool reads_part(const std::vector<Changed>& all, size_t later, size_t part) {
  return std::ranges::any_of(all[later].read, [&](uint32_t number) {
    return number == part || (number < later && reads_part(all, number, part));
  });
}

bool refers_to_table(const Catalog& catalog, TableId from, TableId to) {
  const std::vector<ForeignKey>& keys = catalog.table(from).foreign_keys;
  return from != to && std::ranges::find(keys, to, &ForeignKey::referenced) != keys.end();
}

// Whether a foreign key is looked at in vain, or in the way, where `first` comes before `second`. PostgreSQL
// looks at them when all is done.
bool comes_too_early(const Catalog& catalog, const Changed& first, const Changed& second) {
  if (first.kind == OperationKind::kDelete) {
    return second.kind != OperationKind::kInsert && refers_to_table(catalog, second.table, first.table);
  }
  return second.kind == OperationKind::kInsert && refers_to_table(catalog, first.table, second.table);
}

void refuse_open_order(const Program& program, const std::vector<Changed>& all,
                       const syntax::Operation& operation) {
  for (size_t second = 0; second < all.size(); ++second) {
    for (size_t first = 0; first < second; ++first) {
      const bool both_insert =
          all[first].kind == OperationKind::kInsert && all[second].kind == OperationKind::kInsert;
      if (all[first].table != all[second].table || both_insert || reads_part(all, second, first)) continue;
      refuse_as(sqlstate::kNotSupported, operation.where,
                "two parts of this statement change table {}, and neither reads what the other returns, so "
                "that their order is open; write two statements, in a BEGIN block",
                program.catalog.table(all[first].table).name);
    }
  }
}

}  // namespace

bool changes_in_with(const syntax::Operation& operation) {
  return std::ranges::any_of(tables_of_with(operation),
                             [](const syntax::Query::CommonTable& table) { return table.change != nullptr; });
}

std::unique_ptr<BoundWith> bind_with(const Program& program, const syntax::Operation& operation,
                                     std::vector<Type>& parameters, const SessionValues* session,
                                     const query::ProvidedTables* provider) {
  auto with = std::make_unique<BoundWith>();
  CommonTables before;
  for (const syntax::Query::CommonTable& table : tables_of_with(operation)) {
    const bool is_taken =
        std::ranges::any_of(before, [&](const auto& each) { return each.name.text == table.name.text; });
    if (is_taken) {
      refuse_as(sqlstate::kDuplicateAlias, table.name.where,
                "WITH query name \"{}\" specified more than once", table.name.text);
    }
    if (table.change) {
      syntax::Operation change = *table.change;
      const syntax::Name& name = change.tables[0].table;
      if (program.find_view(name.text) != nullptr) {
        refuse_as(sqlstate::kNotSupported, name.where,
                  "\"{}\" is a view, which is read only; change its tables", name.text);
      }
      change.with.insert(change.with.begin(), before.begin(), before.end());
      change.recursive |= is_recursive_with(operation);
      BoundWith::Part& part = with->parts.emplace_back();
      part.name = table.name.text;
      part.kind = change.kind;
      part.change = bind_change(program, change, parameters, session, provider, &with->given, true);
      with->given.push_back({table.change.get(), returned_columns(*part.change)});
    }
    before.push_back(table);
  }
  return with;
}

void finish_with(const Program& program, const syntax::Operation& operation, const BoundSelect& rows,
                 BoundWith& with) {
  std::vector<Changed> all;
  const auto note = [&](const BoundSelect& select) {
    for (const uint32_t number : select.queries.given_read) with.parts[number].is_read = true;
    return select.queries.given_read;
  };
  for (size_t i = 0; i < with.parts.size(); ++i) {
    const BoundWith::Part& part = with.parts[i];
    all.push_back({i, part.change->table, part.kind, note(*part.change->rows)});
  }
  const std::vector<uint32_t> read = note(rows);
  if (operation.kind != OperationKind::kSelect) {
    const TableId table = program.catalog.find_table(operation.tables[0].table.text)->id;
    all.push_back({with.parts.size(), table, operation.kind, read});
  }
  // The changes of a MERGE have no row in common.
  if (!operation.merges) refuse_open_order(program, all, operation);
  std::vector<Changed> ordered;
  for (Changed& each : all) {
    const auto place = std::ranges::find_if(ordered, [&](const Changed& other) {
      return comes_too_early(program.catalog, other, each) && !comes_too_early(program.catalog, each, other);
    });
    ordered.insert(place, std::move(each));
  }
  for (const Changed& each : ordered) with.order.push_back(each.number);
}

}  // namespace mneme
