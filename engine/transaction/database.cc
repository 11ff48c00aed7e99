#include "engine/transaction/database.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/table/version_keeper.h"

namespace mneme {

namespace {

// Whether each index of the one catalog is that of its number in the other.
bool keeps_indexes(const Catalog& before, const Catalog& after) {
  if (after.indexes().size() < before.indexes().size()) return false;
  for (size_t i = 0; i < before.indexes().size(); ++i) {
    const auto& a = before.indexes().shared(i);
    const auto& b = after.indexes().shared(i);
    if (a != b && *a != *b) return false;
  }
  return true;
}

// Returns what the table was before, or nullptr if it is new. A change that renames a table makes no other
// one, and takes none out.
const TableDefinition* former_of(const TableDefinition& table, const Catalog& before, const Catalog& after) {
  if (const TableDefinition* same = before.find_table(table.name)) return same;
  if (before.tables().size() != after.tables().size()) return nullptr;
  const TableDefinition& former = before.table(table.id);
  return after.find_table(former.name) == nullptr ? &former : nullptr;
}

}  // namespace

Database::Database(Catalog catalog, uint32_t worker_count, PageSize pages)
    : meaning_(std::make_unique<const Meaning>(std::move(catalog))),
      memory_(pages),
      epochs_(worker_count),
      indexes_(this->catalog().indexes().size()) {
  for (const TableDefinition& table : this->catalog().tables()) {
    tables_.push_back(std::make_unique<IndexedTable>(schema(), table.id, memory_));
    for (const TableIndex& index : tables_.back()->indexes()) indexes_[index.id.value] = &index;
  }
  for (uint32_t i = 0; i < worker_count; ++i) {
    workers_.push_back(std::make_unique<Worker>(WorkerId{i}, epochs_, tables_));
  }
  versions_ = std::make_unique<VersionKeeper>(worker_count, tables_);
}

Database::~Database() = default;

Database::Prepared Database::prepare(Catalog changed) {
  Prepared prepared;
  prepared.meaning_ = std::make_unique<const Meaning>(std::move(changed), *meaning_);
  const Catalog& before = catalog();
  const Catalog& after = prepared.meaning_->catalog;
  const auto is_same = [&](TableId id) {
    if (id.value >= tables_.size() || before.tables().shared(id.value) != after.tables().shared(id.value))
      return false;
    return std::ranges::all_of(after.table(id).indexes, [&](IndexId index) {
      return before.indexes().shared(index.value) == after.indexes().shared(index.value);
    });
  };
  for (uint32_t t = 0; t < after.tables().size(); ++t) {
    const TableId id{t};
    if (is_same(id)) continue;
    Prepared::Part& part = prepared.parts_.emplace_back();
    part.changed.id = id;
    const TableDefinition* former = former_of(after.table(id), before, after);
    const bool is_emptied = former != nullptr && former->times_emptied != after.table(id).times_emptied;
    const bool is_remade = former != nullptr && former->times_remade != after.table(id).times_remade;
    if (is_remade && !is_emptied) part.remade = tables_[former->id.value].get();
    if (former != nullptr && !is_emptied && !is_remade) {
      part.changed.former = former->id;
      part.stays = tables_[former->id.value].get();
      part.shape = part.stays->shape_in(prepared.meaning_->schema, id, memory_);
    } else {
      part.made = std::make_unique<IndexedTable>(prepared.meaning_->schema, id, memory_);
    }
  }
  return prepared;
}

Database::Prepared::Copied Database::Prepared::copy_rows(bool restores,
                                                         FunctionRef<Value(const Column&)> value_of_added,
                                                         FunctionRef<bool(const Converted&)> convert,
                                                         FunctionRef<bool(const Generated&)> generate) {
  for (Part& part : parts_) {
    if (part.remade == nullptr) continue;
    const TableDefinition& definition = part.made->definition();
    const Catalog& catalog = meaning_->catalog;
    const RowLayout& from = part.remade->layout();
    const RowLayout& to = part.made->layout();
    const Table& rows = part.remade->rows();
    Table& copies = part.made->rows();
    // By column: its number in the former table, or its value.
    std::vector<std::optional<ColumnId>> former;
    std::vector<Value> added;
    std::vector<ColumnId> generated;  // those that the former table lacks
    for (uint32_t c = 0; c < definition.columns.size(); ++c) {
      const Column& column = definition.columns[c];
      former.push_back(part.remade->definition().find_column(column.name));
      const bool is_made_of_row = !former.back() && column.is_generated();
      if (is_made_of_row) generated.push_back(ColumnId{c});
      added.push_back(former.back() || is_made_of_row ? Value::null() : value_of_added(column));
    }
    SlotCache cache;
    Copied copied{.table = definition.name};
    uint64_t slot = 0;
    const uint64_t end = restores ? rows.restored_end() : rows.slot_end();
    rows.for_each_live(0, end, [&](const Row* row) {
      if (copied.status != Copied::Status::kDone) return;
      Row* const copy = restores ? copies.restore(slot++) : copies.allocate(cache);
      if (copy == nullptr) {
        copied.status = Copied::Status::kNoMemory;
        return;
      }
      std::memset(copy->image(), 0, to.image_bytes());
      for (uint32_t c = 0; c < definition.columns.size(); ++c) {
        if (!former[c] && definition.columns[c].is_generated()) continue;
        Value value = former[c] ? from.get(row->image(), *former[c]) : added[c];
        if (value.is_null() && !definition.columns[c].nullable) {
          copied.status = Copied::Status::kNull;
          copied.column = definition.columns[c].name;
          return;
        }
        if (former[c] && !value.is_null()) {
          const Column& was = part.remade->definition().column(*former[c]);
          const Converted converted{was.type, definition.columns[c].type, value};
          if (was.type != definition.columns[c].type && !convert(converted)) {
            copied.status = Copied::Status::kNoValue;
            return;
          }
        }
        if (!value.is_null() && definition.columns[c].type.is_string() &&
            value.as_text().size() > text_room(catalog, definition, ColumnId{c})) {
          copied.status = Copied::Status::kNoRoom;
          copied.column = definition.columns[c].name;
          return;
        }
        if (!to.set_in_row(copy->image(), ColumnId{c}, value)) {
          copied.status = Copied::Status::kNoMemory;
          return;
        }
      }
      for (const ColumnId column : generated) {
        Value value;
        if (!generate({definition, column, to, copy->image(), value})) {
          copied.status = Copied::Status::kNoValue;
          return;
        }
        if (value.is_null() && !definition.column(column).nullable) {
          copied.status = Copied::Status::kNull;
          copied.column = definition.column(column).name;
          return;
        }
        if (!to.set_in_row(copy->image(), column, value)) {
          copied.status = Copied::Status::kNoMemory;
          return;
        }
      }
      copy->set_word(row->word());
    });
    copies.give_back(cache);
    if (copied.status != Copied::Status::kDone) return copied;
  }
  return {};
}

std::vector<Database::Prepared::NewIndex> Database::Prepared::new_indexes() const {
  std::vector<NewIndex> made;
  for (const Part& part : parts_) {
    if (part.remade != nullptr) {
      for (const TableIndex& index : part.made->indexes()) made.push_back({*part.made, index});
    }
    if (part.stays == nullptr) continue;
    for (const TableIndex& index : part.shape->indexes) {
      if (index.index != nullptr) made.push_back({*part.stays, index});
    }
  }
  return made;
}

void Database::take(Prepared&& prepared) {
  if (log_ != nullptr) {
    for (const std::unique_ptr<Worker>& worker : workers_) worker->come_to_rest(*log_);
  }
  versions_->forget();
  const Catalog& after = prepared.meaning_->catalog;
  std::vector<TableChanges::Changed> changed;
  TableChanges changes;
  changes.indexes = after.indexes().size();
  changes.keeps_indexes = keeps_indexes(catalog(), after);
  // First all that stay leave their places, which others may get.
  for (Prepared::Part& part : prepared.parts_) {
    changed.push_back(part.changed);
    if (part.stays != nullptr) part.made = std::move(tables_[part.changed.former->value]);
  }
  tables_.resize(after.tables().size());
  indexes_.resize(after.indexes().size());
  for (Prepared::Part& part : prepared.parts_) {
    if (part.stays != nullptr) part.made->take(std::move(*part.shape));
    for (const TableIndex& index : part.made->indexes()) indexes_[index.id.value] = &index;
    tables_[part.changed.id.value] = std::move(part.made);
  }
  changes.tables = tables_;
  changes.changed = changed;
  for (const std::unique_ptr<Worker>& worker : workers_) worker->follow(changes);
  if (!versions_->follow(tables_, changed))
    versions_ = std::make_unique<VersionKeeper>(worker_count(), tables_);
  meaning_ = std::move(prepared.meaning_);
}

void Database::set_concurrency(const Concurrency& concurrency) {
  CHECK(locks_ == nullptr);
  if (concurrency.control == ConcurrencyControl::kOptimistic) return;
  locks_ = std::make_unique<LockTable>();
  for (const std::unique_ptr<Worker>& worker : workers_)
    worker->lock_rows(*locks_, concurrency.early_lock_release);
}

LockTable& Database::claims() {
  std::call_once(makes_claims_, [this] { claims_ = std::make_unique<LockTable>(); });
  return *claims_;
}

std::vector<Database::TableMemory> Database::memory_by_table() const {
  std::vector<TableMemory> memory;
  for (const std::unique_ptr<IndexedTable>& table : tables_) {
    const Table& rows = table->rows();
    TableMemory& part = memory.emplace_back();
    part.table = table->definition().id;
    part.chunk_bytes = rows.memory_bytes();
    const size_t row_bytes = table->layout().column_bytes();
    rows.for_each_live(0, rows.slot_end(), [&](const Row* row) {
      const size_t long_bytes = table->layout().long_bytes(row->image());
      part.row_bytes += row_bytes + long_bytes;
      part.long_text_bytes += long_bytes;
    });
    for (const TableIndex& index : table->indexes()) part.index_bytes.push_back(index.index->memory_bytes());
  }
  return memory;
}

}  // namespace mneme
