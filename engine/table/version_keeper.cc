#include "engine/table/version_keeper.h"

#include <algorithm>

#include "base/check.h"

namespace mneme {

namespace {

constexpr size_t kChunkBytes = size_t{256} << 10;
constexpr size_t kEntryHeaderBytes = 64;  // more than an entry's header takes
constexpr uint64_t kBits = 64;

size_t entry_bytes(const IndexedTable& table) {
  return table.rows().image_bytes() + kEntryHeaderBytes;
}

size_t version_chunk_bytes(std::span<const std::unique_ptr<IndexedTable>> tables) {
  size_t bytes = kChunkBytes;
  for (const auto& table : tables) bytes = std::max(bytes, entry_bytes(*table));
  return bytes;
}

}  // namespace

VersionKeeper::VersionKeeper(uint32_t workers, std::span<const std::unique_ptr<IndexedTable>> tables)
    : tables_(tables), pool_(version_chunk_bytes(tables)), claimed_(tables.size()) {
  for (uint32_t worker = 0; worker < workers; ++worker) {
    lists_.push_back(std::make_unique<CachePadded<KeptVersions>>(pool_));
  }
}

bool VersionKeeper::follow(std::span<const std::unique_ptr<IndexedTable>> tables,
                           std::span<const TableChanges::Changed> changed) {
  CHECK(boundary_.load(std::memory_order_relaxed) == kNothing);
  tables_ = tables;
  claimed_.resize(tables.size());
  return std::ranges::all_of(changed, [&](const TableChanges::Changed& each) {
    return entry_bytes(*tables[each.id.value]) <= pool_.chunk_bytes();
  });
}

bool VersionKeeper::is_claimed(TableId table, uint64_t slot) const {
  const ClaimedSlots& claimed = claimed_[table.value];
  if (slot >= claimed.end) return false;
  return (claimed.words[slot / kBits].load(std::memory_order_relaxed) >> slot % kBits & 1) != 0;
}

void VersionKeeper::keep(WorkerId worker, Lsn boundary, const IndexedTable& table, const Row* row,
                         Lsn version, Lsn successor) {
  const TableId id = table.definition().id;
  const uint64_t slot = table.rows().slot_of(row);
  // While the boundary is not known, the bits are being made.
  if (boundary.value != kEverything && is_claimed(id, slot)) return;
  const KeptVersion kept{id, slot, version, successor, row->image()};
  // Before the drainer can see the image: it gives the texts back.
  const RowLayout& layout = table.layout();
  keep_texts(layout, row->image());
  if ((*lists_[worker.value])->append(kept, table.rows().image_bytes())) return;
  release_texts(layout, row->image());
  lost_.store(true, std::memory_order_release);
}

void VersionKeeper::keep_texts(const RowLayout& layout, const std::byte* image) {
  for (const ColumnId column : layout.long_columns()) {
    const char* const bytes = TextCell::outside(layout.cell(image, column));
    if (bytes == nullptr) continue;
    LongText::of(bytes)->keep();
    waiting_text_bytes_.fetch_add(LongText::of(bytes)->text().size(), std::memory_order_relaxed);
  }
}

void VersionKeeper::release_texts(const RowLayout& layout, const std::byte* image) {
  for (const ColumnId column : layout.long_columns()) {
    const char* const bytes = TextCell::outside(layout.cell(image, column));
    if (bytes == nullptr) continue;
    waiting_text_bytes_.fetch_sub(LongText::of(bytes)->text().size(), std::memory_order_relaxed);
    LongText::of(bytes)->release();
  }
}

void VersionKeeper::forget() {
  for (auto& list : lists_) {
    (*list)->drain(
        [&](const KeptVersion& kept) { release_texts(tables_[kept.table.value]->layout(), kept.image); });
    (*list)->reset();
  }
}

void VersionKeeper::start() {
  CHECK(boundary_.load(std::memory_order_relaxed) == kNothing);
  forget();
  pool_.forget_peak();
  kept_images_ = kept_bytes_ = 0;
  lost_.store(false, std::memory_order_relaxed);
  boundary_.store(kEverything, std::memory_order_release);
}

void VersionKeeper::fix(Lsn boundary) {
  for (size_t i = 0; i < tables_.size(); ++i) {
    const uint64_t end = tables_[i]->rows().slot_end();
    claimed_[i] = {end, std::make_unique<std::atomic<uint64_t>[]>((end + kBits - 1) / kBits)};
  }
  boundary_.store(boundary.value, std::memory_order_release);
}

bool VersionKeeper::claim(TableId table, uint64_t slot) {
  ClaimedSlots& claimed = claimed_[table.value];
  CHECK(slot < claimed.end);
  const uint64_t bit = uint64_t{1} << slot % kBits;
  return (claimed.words[slot / kBits].fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
}

void VersionKeeper::drain(FunctionRef<void(const KeptVersion&)> visit) {
  const Lsn boundary{boundary_.load(std::memory_order_relaxed)};
  for (auto& list : lists_) {
    (*list)->drain([&](const KeptVersion& kept) {
      ++kept_images_;
      const IndexedTable& table = *tables_[kept.table.value];
      kept_bytes_ += table.rows().image_bytes() + table.layout().long_bytes(kept.image);
      if (kept.version < boundary && boundary < kept.successor && claim(kept.table, kept.slot)) visit(kept);
      release_texts(table.layout(), kept.image);
    });
  }
}

void VersionKeeper::stop() {
  boundary_.store(kNothing, std::memory_order_release);
}

}  // namespace mneme
