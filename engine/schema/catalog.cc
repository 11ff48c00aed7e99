#include "engine/schema/catalog.h"

#include <algorithm>

#include "engine/schema/index_key.h"
#include "engine/schema/text_form.h"

namespace mneme {

namespace {

// The bytes that an index has room for of a column without a length.
constexpr uint32_t kIndexedTextBytes = 255;
constexpr uint32_t kIndexedByteaBytes = 1002;

uint32_t value_key_bytes(const Type& type) {
  switch (type.kind) {
    case TypeKind::kBoolean:
      return 1;
    case TypeKind::kSmallInt:
      return 2;
    case TypeKind::kInt:
    case TypeKind::kDate:
      return 4;
    case TypeKind::kBigInt:
    case TypeKind::kReal:
    case TypeKind::kDouble:
    case TypeKind::kTimestamp:
    case TypeKind::kTime:
    case TypeKind::kEnum:
      return 8;
    case TypeKind::kNumeric:
      return type.precision <= kNarrowNumericPrecision ? 8 : 16;
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      if (type.length > 0) return type.length;
      return is_form(type, TextForm::kBytea) ? kIndexedByteaBytes : kIndexedTextBytes;
    case TypeKind::kDecimal:
      return 17;  // sign and magnitude, and 38 digits (key_codec.cc)
    case TypeKind::kInterval:
    case TypeKind::kNull:
      break;
  }
  CHECK(false && "a column has a type");
  return 0;
}

Result<void> check_column(const std::string& table, const Column& column) {
  if (column.type.is_array || column.type.kind == TypeKind::kNull) {
    return invalid_argument("column {}.{} cannot be of type {}: a column holds one value of a scalar type",
                            table, column.name, to_string(column.type));
  }
  if (column.type.kind == TypeKind::kChar && column.type.length == 0)
    return invalid_argument("column {}.{} needs a length: char(n)", table, column.name);
  if (column.type.kind == TypeKind::kNumeric && column.type.precision == 0) {
    return invalid_argument("column {}.{} needs a precision: numeric(p,s) with p from 1 to {}", table,
                            column.name, kMaxNumericPrecision);
  }
  return {};
}

constexpr uint32_t kSlotBytes = 8;

constexpr uint32_t words(uint32_t bytes) {
  return (bytes + 7) / 8;
}

}  // namespace

bool is_sequence(const TableDefinition& table) {
  return table.columns.size() == 3 && table.columns[0].name == "last_value" &&
         table.columns[1].name == "log_cnt" && table.columns[2].name == "is_called" && table.primary_key;
}

uint32_t key_bytes(const Column& column) {
  return value_key_bytes(column.type) + (column.nullable ? 1 : 0);
}

bool is_indexed(const Catalog& catalog, const TableDefinition& table, ColumnId column) {
  return std::ranges::any_of(table.indexes, [&](IndexId id) {
    const std::vector<ColumnId>& columns = catalog.index(id).columns;
    return std::ranges::find(columns, column) != columns.end();
  });
}

bool is_long_text(const Catalog& catalog, const TableDefinition& table, ColumnId column) {
  const Type& type = table.column(column).type;
  if (type.kind != TypeKind::kVarchar) return false;
  return type.length > kMostTextBytesInRow || (type.length == 0 && !is_indexed(catalog, table, column));
}

uint32_t text_room(const Catalog& catalog, const TableDefinition& table, ColumnId column) {
  const Type& type = table.column(column).type;
  if (!is_long_text(catalog, table, column)) return value_key_bytes(type);
  if (type.length == 0) return kMostTextBytes;
  // A character takes up to four bytes. A text's length counts bytes.
  return type.is_text ? type.length : std::min(4 * uint32_t{type.length}, kMostTextBytes);
}

std::optional<ColumnId> TableDefinition::find_column(std::string_view column_name) const {
  for (uint32_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == column_name) return ColumnId{i};
  }
  return std::nullopt;
}

const IndexDefinition* Catalog::find_index(std::string_view name) const {
  const auto found = std::ranges::find(indexes_, name, &IndexDefinition::name);
  return found == indexes_.end() ? nullptr : &*found;
}

bool Catalog::has_relation(std::string_view name) const {
  return find_table(name) != nullptr || find_index(name) != nullptr;
}

const TableDefinition* Catalog::find_table(std::string_view name) const {
  const auto found = std::ranges::find(tables_, name, &TableDefinition::name);
  return found == tables_.end() ? nullptr : &*found;
}

Result<TableId> Catalog::add_table(std::string name, std::vector<Column> columns,
                                   std::vector<ColumnId> primary_key, std::string key_name) {
  if (has_relation(name)) return invalid_argument("\"{}\" exists already; give the table another name", name);
  if (columns.empty()) return invalid_argument("table {} has no columns", name);
  for (size_t i = 0; i < columns.size(); ++i) {
    RETURN_IF_ERROR(check_column(name, columns[i]));
    for (size_t j = 0; j < i; ++j) {
      if (columns[j].name == columns[i].name) {
        return invalid_argument("column {} is declared twice in table {}", columns[i].name, name);
      }
    }
  }
  for (ColumnId column : primary_key) {
    if (column.value < columns.size()) columns[column.value].nullable = false;
  }

  TableDefinition table;
  table.id = TableId{static_cast<uint32_t>(tables_.size())};
  table.name = std::move(name);
  table.columns = std::move(columns);
  if (primary_key.empty()) {
    tables_.push_back(std::move(table));
    return tables_.back().id;
  }

  if (key_name.empty()) key_name = table.name + "_pkey";
  if (has_relation(key_name)) {
    return invalid_argument("\"{}\", the name of table {}'s primary key, exists already", key_name,
                            table.name);
  }
  RETURN_IF_ERROR(check_key(table, key_name, primary_key, true, true));
  const TableId id = table.id;
  table.primary_key = IndexId{static_cast<uint32_t>(indexes_.size())};
  tables_.push_back(std::move(table));
  append_index(std::move(key_name), id, std::move(primary_key), true, IndexOrigin::kConstraint);
  return id;
}

Result<IndexId> Catalog::add_index(std::string name, TableId table_id, std::vector<ColumnId> columns,
                                   bool unique, IndexOrigin origin) {
  if (has_relation(name)) return invalid_argument("\"{}\" exists already; give the index another name", name);
  RETURN_IF_ERROR(check_key(table(table_id), name, columns, unique, false));
  return append_index(std::move(name), table_id, std::move(columns), unique, origin);
}

IndexId Catalog::append_index(std::string name, TableId table, std::vector<ColumnId> columns, bool unique,
                              IndexOrigin origin) {
  IndexDefinition index;
  index.id = IndexId{static_cast<uint32_t>(indexes_.size())};
  index.name = std::move(name);
  index.table = table;
  index.columns = std::move(columns);
  index.unique = unique;
  index.origin = origin;
  const IndexId id = index.id;
  // Texts that may lie elsewhere come into the rows.
  const bool moves_texts = std::ranges::any_of(
      index.columns, [&](ColumnId column) { return is_long_text(*this, this->table(table), column); });
  indexes_.push_back(std::move(index));
  tables_.change(table.value, [&](TableDefinition& changed) {
    changed.indexes.push_back(id);
    if (moves_texts) ++changed.times_remade;
  });
  return id;
}

Result<IndexId> Catalog::add_primary_key(TableId id, std::vector<ColumnId> columns, std::string key_name) {
  if (key_name.empty()) key_name = table(id).name + "_pkey";
  if (has_relation(key_name)) {
    return invalid_argument("\"{}\", the name of table {}'s primary key, exists already", key_name,
                            table(id).name);
  }
  tables_.change(id.value, [&](TableDefinition& changed) {
    for (const ColumnId column : columns) changed.columns[column.value].nullable = false;
    ++changed.times_remade;
  });
  RETURN_IF_ERROR(check_key(table(id), key_name, columns, true, true));
  const IndexId key =
      append_index(std::move(key_name), id, std::move(columns), true, IndexOrigin::kConstraint);
  tables_.change(id.value, [&](TableDefinition& changed) {
    changed.primary_key = key;
    std::ranges::rotate(changed.indexes, changed.indexes.end() - 1);
  });
  RETURN_IF_ERROR(check_keys(table(id)));
  return key;
}

Result<ColumnId> Catalog::add_column(TableId id, Column column) {
  RETURN_IF_ERROR(check_column(table(id).name, column));
  const ColumnId added{static_cast<uint32_t>(table(id).columns.size())};
  tables_.change(id.value, [&](TableDefinition& changed) {
    changed.columns.push_back(std::move(column));
    ++changed.times_remade;
  });
  return added;
}

void Catalog::drop_column(TableId id, ColumnId column) {
  const auto renumber = [&](std::vector<ColumnId>& columns) {
    for (ColumnId& each : columns) {
      CHECK(each != column);
      if (each.value > column.value) --each.value;
    }
  };
  for (const IndexId index : table(id).indexes)
    indexes_.change(index.value, [&](IndexDefinition& changed) { renumber(changed.columns); });
  for (size_t i = 0; i < tables_.size(); ++i) {
    const bool refers = std::ranges::find(tables_[i].foreign_keys, id, &ForeignKey::referenced) !=
                        tables_[i].foreign_keys.end();
    if (!refers && i != id.value) continue;
    tables_.change(i, [&](TableDefinition& changed) {
      for (ForeignKey& key : changed.foreign_keys) {
        if (key.referenced == id) renumber(key.referenced_columns);
        if (i == id.value) renumber(key.columns);
      }
      if (i != id.value) return;
      for (CheckConstraint& check : changed.checks) renumber(check.columns);
      changed.columns.erase(changed.columns.begin() + column.value);
      ++changed.times_remade;
    });
  }
}

void Catalog::empty(TableId id) {
  tables_.change(id.value, [](TableDefinition& changed) { ++changed.times_emptied; });
}

void Catalog::add_check(TableId id, CheckConstraint check) {
  tables_.change(id.value, [&](TableDefinition& changed) { changed.checks.push_back(std::move(check)); });
}

void Catalog::add_foreign_key(TableId id, ForeignKey key) {
  tables_.change(id.value, [&](TableDefinition& changed) { changed.foreign_keys.push_back(std::move(key)); });
}

void Catalog::drop_foreign_key(TableId id, std::string_view name) {
  tables_.change(id.value, [&](TableDefinition& changed) {
    std::erase_if(changed.foreign_keys, [&](const ForeignKey& key) { return key.name == name; });
  });
}

void Catalog::drop_check(TableId id, std::string_view name) {
  tables_.change(id.value, [&](TableDefinition& changed) {
    std::erase_if(changed.checks, [&](const CheckConstraint& check) { return check.name == name; });
  });
}

void Catalog::set_sequence(TableId id, const SequenceOptions& options) {
  tables_.change(id.value, [&](TableDefinition& changed) { changed.sequence = options; });
}

void Catalog::set_owned(TableId id, ColumnId column, std::string sequence) {
  tables_.change(id.value, [&](TableDefinition& changed) {
    changed.columns[column.value].sequence = std::move(sequence);
  });
}

void Catalog::set_default(TableId id, ColumnId column, std::string initial) {
  tables_.change(id.value, [&](TableDefinition& changed) {
    changed.columns[column.value].initial = std::move(initial);
  });
}

void Catalog::set_identity(TableId id, ColumnId column, Identity identity) {
  tables_.change(id.value,
                 [&](TableDefinition& changed) { changed.columns[column.value].identity = identity; });
}

Result<void> Catalog::set_nullable(TableId id, ColumnId column, bool nullable) {
  tables_.change(id.value, [&](TableDefinition& changed) {
    changed.columns[column.value].nullable = nullable;
    ++changed.times_remade;
  });
  return check_keys(table(id));
}

Result<void> Catalog::set_type(TableId id, ColumnId column, const Type& type, uint16_t assumed_length) {
  tables_.change(id.value, [&](TableDefinition& changed) {
    changed.columns[column.value].type = type;
    changed.columns[column.value].assumed_length = assumed_length;
    ++changed.times_remade;
  });
  const TableDefinition& changed = table(id);
  RETURN_IF_ERROR(check_column(changed.name, changed.column(column)));
  return check_keys(changed);
}

Result<void> Catalog::check_keys(const TableDefinition& table) const {
  for (const IndexId each : table.indexes) {
    const IndexDefinition& key = index(each);
    RETURN_IF_ERROR(check_key(table, key.name, key.columns, key.unique, table.primary_key == each));
  }
  return {};
}

void Catalog::rename(TableId id, std::string name) {
  tables_.change(id.value, [&](TableDefinition& changed) { changed.name = std::move(name); });
}

void Catalog::rename(IndexId id, std::string name) {
  indexes_.change(id.value, [&](IndexDefinition& changed) { changed.name = std::move(name); });
}

void Catalog::rename_column(TableId id, ColumnId column, std::string name) {
  tables_.change(id.value,
                 [&](TableDefinition& changed) { changed.columns[column.value].name = std::move(name); });
}

void Catalog::rename_check(TableId id, std::string_view former, const std::string& name) {
  tables_.change(id.value, [&](TableDefinition& changed) {
    std::ranges::find(changed.checks, former, &CheckConstraint::name)->name = name;
  });
}

void Catalog::rename_foreign_key(TableId id, std::string_view former, const std::string& name) {
  tables_.change(id.value, [&](TableDefinition& changed) {
    std::ranges::find(changed.foreign_keys, former, &ForeignKey::name)->name = name;
  });
}

void Catalog::set_generated(TableId id, ColumnId column, std::string expression) {
  tables_.change(id.value, [&](TableDefinition& changed) {
    changed.columns[column.value].generated = std::move(expression);
  });
}

void Catalog::set_predicate(IndexId id, std::string predicate, bool unique_in_part) {
  indexes_.change(id.value, [&](IndexDefinition& changed) {
    changed.predicate = std::move(predicate);
    changed.unique_in_part = unique_in_part;
  });
}

void Catalog::set_condition(TableId id, std::string_view check, std::string condition) {
  tables_.change(id.value, [&](TableDefinition& changed) {
    std::ranges::find(changed.checks, check, &CheckConstraint::name)->condition = std::move(condition);
  });
}

Result<Type> Catalog::add_enum(EnumDefinition definition) {
  const auto is_taken = [&](uint32_t id) {
    return std::ranges::any_of(enums_, [&](const Type& type) { return enum_definition(type).id == id; });
  };
  definition.id = 0;
  while (is_taken(definition.id)) ++definition.id;
  Result<Type> type = intern_enum(definition);
  if (type.ok()) enums_.push_back(*type);
  return type;
}

Result<void> Catalog::change_enum(const Type& former, const EnumDefinition& definition) {
  const Result<Type> next = intern_enum(definition);
  if (!next.ok()) return next.error();
  std::ranges::replace(enums_, former, *next);
  for (size_t i = 0; i < tables_.size(); ++i) {
    const auto is_changed = [&](const Column& column) { return is_of_enum(column.type, former); };
    if (std::ranges::none_of(tables_[i].columns, is_changed)) continue;
    tables_.change(i, [&](TableDefinition& changed) {
      for (Column& column : changed.columns) {
        if (is_changed(column)) column.type.enumeration = next->enumeration;
      }
    });
  }
  return {};
}

void Catalog::drop_enum(const Type& type) {
  std::erase(enums_, type);
}

std::optional<Type> Catalog::find_enum(std::string_view name) const {
  for (const Type& type : enums_) {
    if (enum_definition(type).name == name) return type;
  }
  return std::nullopt;
}

bool Catalog::is_ordered(const IndexDefinition& index) const {
  return index.ordered || !names_rows(index);
}

bool Catalog::names_rows(const IndexDefinition& index) const {
  const TableDefinition& of = table(index.table);
  return index.unique &&
         std::ranges::none_of(index.columns, [&](ColumnId column) { return of.column(column).nullable; });
}

void Catalog::mark_ordered(IndexId index, bool ordered) {
  if (indexes_[index.value].ordered == ordered) return;
  indexes_.change(index.value, [&](IndexDefinition& changed) { changed.ordered = ordered; });
}

Catalog Catalog::without(TableId table_id) const {
  return without(table_id, table(table_id).indexes);
}

Catalog Catalog::without(IndexId index) const {
  return without(std::nullopt, {index});
}

Catalog Catalog::without(std::optional<TableId> gone, const std::vector<IndexId>& gone_indexes) const {
  std::vector<IndexId> indexes(indexes_.size());  // their numbers, by the former ones
  for (uint32_t i = 0, next = 0; i < indexes.size(); ++i) {
    if (std::ranges::find(gone_indexes, IndexId{i}) == gone_indexes.end()) indexes[i] = IndexId{next++};
  }
  const auto number_of = [&](TableId table) {
    return TableId{gone && table.value > gone->value ? table.value - 1 : table.value};
  };
  Catalog left;
  left.enums_ = enums_;
  for (size_t i = 0; i < tables_.size(); ++i) {
    const TableDefinition& former = tables_[i];
    if (gone == former.id) continue;
    const auto stays = [&](IndexId index) { return indexes[index.value] == index; };
    const auto refers_to_same = [&](const ForeignKey& key) {
      return key.referenced != gone && number_of(key.referenced) == key.referenced;
    };
    if (number_of(former.id) == former.id && std::ranges::all_of(former.indexes, stays) &&
        std::ranges::all_of(former.foreign_keys, refers_to_same)) {
      left.tables_.push_back(tables_.shared(i));
      continue;
    }
    TableDefinition table = former;
    table.id = number_of(former.id);
    table.indexes.clear();
    std::vector<ColumnId> kept;  // in an index that stays
    for (const IndexId index : former.indexes) {
      if (!indexes[index.value].valid()) continue;
      const std::vector<ColumnId>& columns = indexes_[index.value].columns;
      kept.insert(kept.end(), columns.begin(), columns.end());
    }
    // Texts of a column that no index has any more may lie elsewhere.
    for (uint32_t c = 0; c < former.columns.size(); ++c) {
      const Type& type = former.columns[c].type;
      if (type.kind == TypeKind::kVarchar && type.length == 0 && is_indexed(*this, former, ColumnId{c}) &&
          std::ranges::find(kept, ColumnId{c}) == kept.end()) {
        ++table.times_remade;
        break;
      }
    }
    for (const IndexId index : former.indexes) {
      if (indexes[index.value].valid()) table.indexes.push_back(indexes[index.value]);
    }
    if (table.primary_key) table.primary_key = indexes[table.primary_key->value];
    if (table.primary_key && !table.primary_key->valid()) {
      table.primary_key = std::nullopt;
      ++table.times_remade;
    }
    std::erase_if(table.foreign_keys, [&](const ForeignKey& key) { return key.referenced == gone; });
    for (ForeignKey& key : table.foreign_keys) key.referenced = number_of(key.referenced);
    left.tables_.push_back(std::move(table));
  }
  for (size_t i = 0; i < indexes_.size(); ++i) {
    if (!indexes[i].valid()) continue;
    if (indexes[i].value == i && number_of(indexes_[i].table) == indexes_[i].table) {
      left.indexes_.push_back(indexes_.shared(i));
      continue;
    }
    IndexDefinition index = indexes_[i];
    index.id = indexes[i];
    index.table = number_of(index.table);
    left.indexes_.push_back(std::move(index));
  }
  return left;
}

Result<void> Catalog::check_key(const TableDefinition& table, const std::string& name,
                                const std::vector<ColumnId>& columns, bool unique,
                                bool is_primary_key) const {
  if (unique && columns.empty()) return invalid_argument("unique index {} has no columns", name);
  uint32_t bytes = 0;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].value >= table.columns.size()) {
      return invalid_argument("index {} names a column that table {} does not have", name, table.name);
    }
    const Column& column = table.column(columns[i]);
    if (std::find(columns.begin(), columns.begin() + i, columns[i]) != columns.begin() + i) {
      return invalid_argument("index {} names column {} twice", name, column.name);
    }
    bytes += key_bytes(column);
  }

  // The bytes that the engine appends to make every entry's key unique: the primary key, else the row's slot
  // number. To a unique index's key it is appended as whole words (engine/table/indexed_table.h), to
  // another's as bytes.
  // Without its primary key, a table has slot numbers.
  uint32_t suffix = 0;
  if (table.primary_key)
    for (ColumnId column : index(*table.primary_key).columns) suffix += key_bytes(table.column(column));
  suffix = std::max(suffix, kSlotBytes);
  const uint32_t needed = is_primary_key ? words(bytes)
                          : unique       ? words(bytes) + words(suffix)
                                         : words(bytes + suffix);
  if (needed > kMaxKeyWords) {
    return invalid_argument(
        "index {} needs keys of {} bytes, the primary key included; at most {} are possible", name,
        needed * 8, kMaxKeyWords * 8);
  }
  return {};
}

}  // namespace mneme
