// Your part of chapter 14: while a checkpoint is taken, what rows were before they are written over. Read
// engine/table/version_keeper.h first, then engine/table/kept_versions.h, which has the lists.
//
// This starter keeps nothing, and each claim of a slot succeeds. The constructor and follow() are the
// engine's own.
#include <algorithm>

#include "base/check.h"
#include "engine/table/version_keeper.h"

namespace mneme {

namespace {

constexpr size_t kChunkBytes = size_t{256} << 10;
constexpr size_t kEntryHeaderBytes = 64;  // more than an entry's header takes

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

// For keep(), if you want it.
bool VersionKeeper::is_claimed(TableId table, uint64_t slot) const {
  (void)table;
  (void)slot;
  return false;
}

void VersionKeeper::keep(WorkerId worker, Lsn boundary, const IndexedTable& table, const Row* row,
                         Lsn version, Lsn successor) {
  (void)worker;
  (void)boundary;
  (void)table;
  (void)row;
  (void)version;
  (void)successor;
}

void VersionKeeper::forget() {}

void VersionKeeper::start() {}

void VersionKeeper::fix(Lsn boundary) {
  boundary_.store(boundary.value, std::memory_order_release);
}

bool VersionKeeper::claim(TableId table, uint64_t slot) {
  (void)table;
  (void)slot;
  return true;
}

void VersionKeeper::drain(FunctionRef<void(const KeptVersion&)> visit) {
  (void)visit;
}

void VersionKeeper::stop() {
  boundary_.store(kNothing, std::memory_order_release);
}

}  // namespace mneme
