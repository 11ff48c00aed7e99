#include "engine/prefetcher.h"

#include <algorithm>

#include "base/prefetch.h"
#include "engine/database.h"

namespace mneme {

void Prefetcher::add(Database& database, std::span<const RowLookup> lookups) {
  if (round_count_ == kMaxRounds) return;
  const size_t first = count_;
  for (const RowLookup& lookup : lookups.first(std::min(lookups.size(), kMaxLookups - count_))) {
    Entry& entry = entries_[count_];
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
    order_[under_way_++] = static_cast<uint8_t>(count_++);
  }
  rounds_[round_count_++] = {count_, first};
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
  for (size_t round = 0; round < round_count_; ++round) {
    size_t tries = 0;
    for (size_t i = rounds_[round].next; i < rounds_[round].end && tries < kMaxTries; ++i) {
      const Entry& entry = entries_[i];
      if (entry.rows == nullptr) continue;
      ++tries;
      if (entry.id != id ||
          !std::equal(key.words.data(), key.words.data() + key.word_count, entry.key.data()))
        continue;
      rounds_[round].next = i + 1;
      return entry.probe.is_exact ? entry.probe.row : nullptr;
    }
  }
  return nullptr;
}

bool Prefetcher::peek(size_t at, ImageParts parts, std::byte* image) const {
  const Entry& entry = entries_[at];
  if (entry.rows == nullptr || entry.probe.row == nullptr) return false;
  entry.probe.row->peek(image, parts, entry.rows->image_words());
  return true;
}

void prefetch_row(const Table& rows, const Row* row, ImageParts parts) {
  const auto* memory = reinterpret_cast<const std::byte*>(row);
  prefetch_line(memory);
  parts.for_each_run(rows.image_words(), [&](size_t begin, size_t end) {
    prefetch_lines(memory + sizeof(Row) + 8 * begin, 8 * (end - begin));
  });
}

}  // namespace mneme
