#include "engine/transaction/digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "base/bytes.h"

namespace mneme {

namespace {

// Slots that a thread takes at once: about a millisecond's work.
constexpr uint64_t kSlotsAtOnce = 16 * 1024;

std::string describe(const IndexedTable& table, const TableIndex& index, const Row* row,
                     const Catalog& catalog) {
  return fmt::format("index {} of table {}, row in slot {}", catalog.index(index.id).name,
                     table.definition().name, table.rows().slot_of(row));
}

// All of one index's entries against the table; how many are valid, and how many wait.
Result<IndexReport> verify_entries(const Catalog& catalog, const IndexedTable& table,
                                   const TableIndex& index) {
  IndexReport report;
  std::optional<Error> fault;
  index.index->for_each([&](const uint64_t* key, Row* row) {
    const RowWord word = row->word();
    const bool matches = compare_words(table.entry_key(index, row->image(), row).words.data(), key,
                                       index.index->key_words()) == 0;
    if (word.is_live() && matches) {
      ++report.entries;
    } else if (!word.is_live() || !index.is_primary) {
      ++report.waiting;
    } else if (!fault) {
      fault = damaged("{}: the row has another primary key than the entry that leads to it",
                      describe(table, index, row, catalog));
    }
  });
  if (fault) return *fault;
  return report;
}

Result<void> verify_rows(const Catalog& catalog, const IndexedTable& table, IndexReport& report) {
  std::optional<Error> fault;
  uint64_t rows = 0;
  table.rows().for_each_live(0, table.rows().slot_end(), [&](Row* row) {
    ++rows;
    for (const TableIndex& index : table.indexes()) {
      NodeVersion node;
      const IndexKey key = table.entry_key(index, row->image(), row);
      if (index.index->find(key.words.data(), node) != row && !fault) {
        fault = damaged("{}: the row is missing from the index", describe(table, index, row, catalog));
      }
    }
  });
  if (fault) return *fault;
  report.rows += rows;
  for (const TableIndex& index : table.indexes()) {
    const Result<IndexReport> entries = verify_entries(catalog, table, index);
    if (!entries.ok()) return entries.error();
    // Every row has an entry, and entries are unique, so more entries than rows would be two for one row.
    if (entries->entries != rows) {
      return damaged("index {}: {} entries lead to the {} rows of table {}", catalog.index(index.id).name,
                     entries->entries, rows, table.definition().name);
    }
    report.entries += entries->entries;
    report.waiting += entries->waiting;
  }
  return {};
}

}  // namespace

Digest digest_of_row(const TableDefinition& table, const RowLayout& layout, const std::byte* image) {
  ByteBuffer bytes;
  return digest_of_row(table, layout, image, bytes);
}

Digest digest_of(const Database& database, uint32_t threads) {
  struct Part {
    const IndexedTable* table;
    uint64_t begin;
  };
  std::vector<Part> parts;
  for (uint32_t i = 0; i < database.table_count(); ++i) {
    const IndexedTable& table = database.table(TableId{i});
    for (uint64_t begin = 0; begin < table.rows().slot_end(); begin += kSlotsAtOnce)
      parts.push_back({&table, begin});
  }

  // Advanced by each thread for its next part; relaxed, for the parts were there before the threads.
  std::atomic<size_t> next_part{0};
  std::mutex mutex;
  Digest total;
  const auto work = [&] {
    ByteBuffer bytes;
    Digest sum;
    for (size_t i = next_part.fetch_add(1, std::memory_order_relaxed); i < parts.size();
         i = next_part.fetch_add(1, std::memory_order_relaxed)) {
      const IndexedTable& table = *parts[i].table;
      const uint64_t end = std::min(parts[i].begin + kSlotsAtOnce, table.rows().slot_end());
      table.rows().for_each_live(parts[i].begin, end, [&](const Row* row) {
        sum += digest_of_row(table.definition(), table.layout(), row->image(), bytes);
      });
    }
    std::lock_guard lock(mutex);
    total += sum;
  };
  std::vector<std::jthread> helpers;
  for (uint32_t i = 1; i < threads; ++i) helpers.emplace_back(work);
  work();
  helpers.clear();
  return total;
}

Result<IndexReport> verify_indexes(const Database& database) {
  IndexReport report;
  for (uint32_t i = 0; i < database.table_count(); ++i) {
    const IndexedTable& table = database.table(TableId{i});
    for (const TableIndex& index : table.indexes()) index.index->verify();
    RETURN_IF_ERROR(verify_rows(database.catalog(), table, report));
  }
  return report;
}

}  // namespace mneme
