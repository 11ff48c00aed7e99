#include "engine/prefetcher.h"

#include <algorithm>

#include "base/prefetch.h"
#include "engine/database.h"

namespace mneme {

void Prefetcher::start(Database& database, std::span<const RowLookup> lookups) {
  under_way_ = count_ = std::min(lookups.size(), kMaxLookups);
  next_ = 0;
  for (size_t i = 0; i < under_way_; ++i) {
    const RowLookup& lookup = lookups[i];
    Entry& entry = entries_[i];
    const Index& index = *database.index(lookup.index).index;
    entry.id = lookup.index;
    entry.index = &index;
    entry.rows = lookup.is_place ? nullptr : &database.table_of(lookup.index).rows();
    entry.parts = lookup.parts;
    entry.probe = {};
    // An entry's key may go on behind the column's words (indexed_table.h): the first of all that do, or the last.
    std::copy_n(lookup.key.words.data(), lookup.key.word_count, entry.key.data());
    std::fill(entry.key.data() + lookup.key.word_count, entry.key.data() + index.key_words(),
              lookup.is_place ? ~uint64_t{0} : 0);
    order_[i] = static_cast<uint8_t>(i);
  }
}

void Prefetcher::step() {
  for (size_t i = 0; i < under_way_;) {
    Entry& entry = entries_[order_[i]];
    entry.index->probe(entry.key.data(), entry.probe);
    if (!entry.probe.is_done) {
      ++i;
      continue;
    }
    if (entry.probe.row != nullptr && entry.rows != nullptr)
      prefetch_row(*entry.rows, entry.probe.row, entry.parts);
    order_[i] = order_[--under_way_];
  }
}

Row* Prefetcher::take(IndexId id, const IndexKey& key) {
  size_t tries = 0;
  for (size_t i = next_; i < count_ && tries < kMaxTries; ++i) {
    const Entry& entry = entries_[i];
    if (entry.rows == nullptr) continue;
    ++tries;
    if (entry.id != id || !std::equal(key.words.data(), key.words.data() + key.word_count, entry.key.data()))
      continue;
    next_ = i + 1;
    return entry.probe.is_exact ? entry.probe.row : nullptr;
  }
  return nullptr;
}

void prefetch_row(const Table& rows, const Row* row, ImageParts parts) {
  const auto* memory = reinterpret_cast<const std::byte*>(row);
  prefetch_line(memory);
  parts.for_each_run(rows.image_words(), [&](size_t begin, size_t end) {
    prefetch_lines(memory + sizeof(Row) + 8 * begin, 8 * (end - begin));
  });
}

}  // namespace mneme
