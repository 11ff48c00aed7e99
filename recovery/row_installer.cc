#include "recovery/row_installer.h"

#include <algorithm>
#include <cstring>

namespace mneme {

RowInstaller::RowInstaller(Database& database)
    : database_(database),
      codec_(database.change_codec()),
      slots_(database.table_count()),
      hints_(database.catalog().indexes().size()) {
  size_t widest = 0;
  for (uint32_t t = 0; t < database.table_count(); ++t)
    widest = std::max(widest, database.table(TableId{t}).layout().image_bytes());
  image_.resize(widest);
}

RowInstaller::~RowInstaller() {
  free_erased();
  for (uint32_t t = 0; t < slots_.size(); ++t) database_.table(TableId{t}).rows().give_back(slots_[t]);
}

void RowInstaller::free_erased() {
  for (const ErasedRow& erased : erased_) {
    database_.table(erased.table).rows().free(slots_[erased.table.value], erased.row);
  }
  erased_.clear();
}

bool RowInstaller::decode(TableId table, ByteSpan columns, std::byte* image) const {
  ByteReader in(columns);
  return codec_.key(table).decode(in, image) && codec_.rest(table).decode(in, image) && in.remaining() == 0;
}

RowInstaller::Outcome RowInstaller::insert(TableId id, ByteSpan columns) {
  IndexedTable& table = database_.table(id);
  Row* row = table.rows().allocate(slots_[id.value]);
  if (row == nullptr) return Outcome::kOutOfMemory;
  const bool is_row = decode(id, columns, row->image());
  const Outcome outcome = is_row ? link(table, row) : Outcome::kNoRow;
  if (outcome == Outcome::kInstalled) {
    row->set_word(RowWord::live(kCheckpointLsn));
  } else {
    row->set_word(RowWord());
    table.rows().free(slots_[id.value], row);
  }
  return outcome;
}

RowInstaller::Outcome RowInstaller::link(IndexedTable& table, Row* row) {
  for (const TableIndex& index : table.indexes()) {
    const IndexKey key = table.entry_key(index, row->image(), row);
    Row* existing = nullptr;
    switch (index.index->insert(key.words.data(), row, existing, nullptr, &hints_[index.id.value])) {
      case Index::InsertStatus::kInserted:
        break;
      case Index::InsertStatus::kExists:
        return Outcome::kExists;
      case Index::InsertStatus::kOutOfMemory:
        return Outcome::kOutOfMemory;
    }
  }
  return Outcome::kInstalled;
}

RowInstaller::Outcome RowInstaller::update(TableId id, Row* row, ByteSpan columns) {
  if (row == nullptr) return Outcome::kMissing;
  IndexedTable& table = database_.table(id);
  if (table.indexes().size() == 1)
    return decode(id, columns, row->image()) ? Outcome::kInstalled : Outcome::kNoRow;
  if (!decode(id, columns, image_.data())) return Outcome::kNoRow;
  const Outcome outcome = relink(table, row, image_.data());
  if (outcome == Outcome::kInstalled) std::memcpy(row->image(), image_.data(), table.layout().image_bytes());
  return outcome;
}

RowInstaller::Outcome RowInstaller::relink(IndexedTable& table, Row* row, const std::byte* image) {
  for (const TableIndex& index : table.indexes()) {
    if (index.is_primary) continue;
    const IndexKey old_key = table.entry_key(index, row->image(), row);
    const IndexKey key = table.entry_key(index, image, row);
    if (old_key == key) continue;
    index.index->erase(old_key.words.data(), row);
    Row* existing = nullptr;
    const Index::InsertStatus status = index.index->insert(key.words.data(), row, existing, nullptr);
    if (status == Index::InsertStatus::kExists) return Outcome::kExists;
    if (status == Index::InsertStatus::kOutOfMemory) return Outcome::kOutOfMemory;
  }
  return Outcome::kInstalled;
}

RowInstaller::Outcome RowInstaller::erase(TableId id, Row* row) {
  if (row == nullptr) return Outcome::kMissing;
  IndexedTable& table = database_.table(id);
  for (const TableIndex& index : table.indexes()) {
    index.index->erase(table.entry_key(index, row->image(), row).words.data(), row);
  }
  row->set_word(RowWord());
  erased_.push_back({id, row});
  return Outcome::kInstalled;
}

}  // namespace mneme
