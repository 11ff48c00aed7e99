#include "engine/transaction/prefetcher.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/memory/prefetch.h"
#include "engine/transaction/database.h"

namespace mneme {

namespace {

// Few words, so the call that std::copy becomes would take longer than the work.
void copy_key(const LookupKey& from, std::array<uint64_t, kUsualKeyWords>& to) {
  constexpr size_t kFew = 4;
  static_assert(kFew <= kUsualKeyWords);
  std::memcpy(to.data(), from.words.data(), kFew * sizeof(uint64_t));
  for (size_t i = kFew; i < from.word_count; ++i) to[i] = from.words[i];
}

// An entry's key may go on behind the column's words (indexed_table.h): with zeros, or for a place with ones.
void fill_up(const RowLookup& lookup, size_t key_words, std::array<uint64_t, kUsualKeyWords>& key) {
  for (size_t i = lookup.key.word_count; i < key_words; ++i) key[i] = lookup.is_place ? ~uint64_t{0} : 0;
}

}  // namespace

void Prefetcher::add(Database& database, std::span<const RowLookup> lookups) {
  if (round_count_ == kMaxRounds) return;
  const size_t first = count_;
  std::array<Entry*, kMaxLookups> waiting;
  size_t waiting_count = 0;
  // Mostly one index follows itself.
  IndexId id;
  size_t key_words = 0;
  const Table* rows = nullptr;
  for (const RowLookup& lookup : lookups.first(std::min(lookups.size(), kMaxLookups - count_))) {
    Entry& entry = entries_[count_++];
    entry.rows = nullptr;
    entry.lookup.row = nullptr;
    if (!lookup.index.valid()) continue;
    if (lookup.index != id) {
      id = lookup.index;
      key_words = database.index(id).index->key_words();
      rows = &database.table_of(id).rows();
    }
    if (key_words > kUsualKeyWords) continue;
    entry.lookup = {.key = entry.key.data(), .wants_row = !lookup.is_place};
    entry.id = id;
    entry.rows = lookup.is_place ? nullptr : rows;
    entry.parts = lookup.parts;
    copy_key(lookup.key, entry.key);
    fill_up(lookup, key_words, entry.key);
    waiting[waiting_count++] = &entry;
  }
  rounds_[round_count_++] = {count_, first};
  look_up(database, std::span(waiting).first(waiting_count));
}

// One index after the other.
void Prefetcher::look_up(Database& database, std::span<Entry*> entries) {
  std::array<AheadLookup*, kMaxLookups> lookups;
  std::array<const Entry*, kMaxLookups> of_index;
  while (!entries.empty()) {
    const IndexId id = entries.front()->id;
    size_t count = 0;
    size_t left = 0;
    for (Entry* const entry : entries) {
      if (entry->id != id) {
        entries[left++] = entry;
        continue;
      }
      of_index[count] = entry;
      lookups[count++] = &entry->lookup;
    }
    database.index(id).index->find_ahead(std::span(lookups).first(count));
    for (const Entry* entry : std::span(of_index).first(count)) {
      if (entry->lookup.row != nullptr && entry->rows != nullptr)
        lines_asked_for_ += prefetch_row(*entry->rows, entry->lookup.row, entry->parts);
    }
    entries = entries.first(left);
  }
}

Row* Prefetcher::take_later(IndexId id, const IndexKey& key) {
  for (size_t round = 0; round < round_count_; ++round) {
    size_t tries = 0;
    for (size_t i = rounds_[round].next; i < rounds_[round].end && tries < kMaxTries; ++i) {
      const Entry& entry = entries_[i];
      if (entry.rows == nullptr) continue;
      ++tries;
      if (entry.id != id || !begins_with(entry.key, key)) continue;
      rounds_[round].next = i + 1;
      return entry.lookup.is_exact ? entry.lookup.row : nullptr;
    }
  }
  return nullptr;
}

bool Prefetcher::peek(size_t at, ImageParts parts, std::byte* image) const {
  const Entry& entry = entries_[at];
  if (entry.rows == nullptr || entry.lookup.row == nullptr) return false;
  entry.lookup.row->peek(image, parts, entry.rows->image_words());
  return true;
}

size_t prefetch_row(const Table& rows, const Row* row, ImageParts parts) {
  const auto* memory = reinterpret_cast<const std::byte*>(row);
  const size_t bytes = sizeof(Row) + 8 * rows.image_words();
  // Where rows begin on cache lines, a part is one.
  const bool aligned = reinterpret_cast<uintptr_t>(row) % kCacheLineBytes == 0;
  prefetch_line(memory);
  size_t lines = 1;
  for (uint64_t rest = parts.bits(); rest != 0; rest &= rest - 1) {
    const auto part = static_cast<size_t>(std::countr_zero(rest));
    const size_t begin = part * ImageParts::kPartBytes;
    if (begin >= bytes) break;
    if (part == ImageParts::kMaxParts - 1) {
      prefetch_lines(memory + begin, bytes - begin);
      return lines + (bytes - begin + kCacheLineBytes - 1) / kCacheLineBytes;
    }
    prefetch_line(memory + begin);
    lines += begin > 0 ? 1 : 0;
    if (!aligned) prefetch_line(memory + std::min(begin + ImageParts::kPartBytes, bytes) - 1);
  }
  return lines;
}

ExpectedRows::Group* ExpectedRows::group_of(Database& database, IndexId id) {
  for (size_t g = 0; g < groups_used_; ++g) {
    if (groups_[g].id == id) return &groups_[g];
  }
  if (groups_used_ == kMostGroups) return nullptr;
  Group& group = groups_[groups_used_++];
  group.id = id;
  group.index = database.index(id).index.get();
  group.rows = &database.table_of(id).rows();
  group.count = 0;
  return &group;
}

void ExpectedRows::add(Database& database, RowLookup& lookup) {
  pass();
  if (!lookup.index.valid()) return;
  Group* const group = group_of(database, lookup.index);
  if (group == nullptr || group->index->key_words() > kUsualKeyWords) return;
  fill_up(lookup, group->index->key_words(), lookup.key.words);
  named_[found_count_] = &lookup;
  AheadLookup& found = found_[found_count_++];
  found = {.key = lookup.key.words.data(), .wants_row = !lookup.is_place};
  group->lookups[group->count++] = &found;
  if (!lookup.is_place) rows_[row_count_++] = {&lookup, &found};
}

void ExpectedRows::search() {
  for (const Group& group : std::span(groups_).first(groups_used_)) {
    const std::span<AheadLookup* const> lookups(group.lookups.data(), group.count);
    group.index->find_ahead(lookups);
    for (const AheadLookup* lookup : lookups) {
      if (lookup->row == nullptr || !lookup->wants_row) continue;
      lines_asked_for_ += prefetch_row(*group.rows, lookup->row, named_[lookup - found_.data()]->parts);
    }
  }
}

const AheadLookup* ExpectedRows::next_for(IndexId index, const IndexKey& key) {
  const size_t end = std::min(row_count_, next_ + kMostTries);
  for (size_t i = next_; i < end; ++i) {
    if (!rows_[i].is_for(index, key)) continue;
    next_ = i + 1;
    return rows_[i].found;
  }
  return nullptr;
}

Row* ExpectedRows::take_later(IndexId index, const IndexKey& key) {
  const AheadLookup* const found = next_for(index, key);
  return found != nullptr && found->is_exact ? found->row : nullptr;
}

const AheadLookup* ExpectedRows::take_first(IndexId index, const IndexKey& low) {
  return next_for(index, low);
}

}  // namespace mneme
