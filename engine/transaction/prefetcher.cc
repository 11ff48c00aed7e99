#include "engine/transaction/prefetcher.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/memory/prefetch.h"
#include "engine/transaction/database.h"

namespace mneme {

namespace {

// Few words, so the call that std::copy becomes would take longer than the work.
void copy_key(const IndexKey& from, std::array<uint64_t, kUsualKeyWords>& to) {
  constexpr size_t kFew = 4;
  static_assert(kFew <= kUsualKeyWords);
  std::memcpy(to.data(), from.words.data(), kFew * sizeof(uint64_t));
  for (size_t i = kFew; i < from.word_count; ++i) to[i] = from.words[i];
}

}  // namespace

void Prefetcher::add(Database& database, std::span<const RowLookup> lookups) {
  if (round_count_ == kMaxRounds) return;
  const size_t first = count_;
  for (const RowLookup& lookup : lookups.first(std::min(lookups.size(), kMaxLookups - count_))) {
    Entry& entry = entries_[count_];
    if (!lookup.index.valid()) {
      entry.rows = nullptr;
      ++count_;
      continue;
    }
    const Index& index = *database.index(lookup.index).index;
    if (index.key_words() > kUsualKeyWords) {
      entry.rows = nullptr;
      ++count_;
      continue;
    }
    entry.id = lookup.index;
    entry.index = &index;
    entry.rows = lookup.is_place ? nullptr : &database.table_of(lookup.index).rows();
    entry.parts = lookup.parts;
    entry.probe = {};
    // An entry's key may go on behind the column's words (indexed_table.h): the first of all that do, or the
    // last.
    copy_key(lookup.key, entry.key);
    for (size_t i = lookup.key.word_count; i < index.key_words(); ++i)
      entry.key[i] = lookup.is_place ? ~uint64_t{0} : 0;
    // The first step waits for nothing: it looks at no node, or at a root.
    index.probe(entry.key.data(), entry.probe);
    if (entry.probe.is_done)
      end(entry);
    else
      order_[under_way_++] = static_cast<uint8_t>(count_);
    ++count_;
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
    end(entry);
    order_[i] = order_[--under_way_];
  }
}

void Prefetcher::end(const Entry& entry) {
  if (entry.probe.row != nullptr && entry.rows != nullptr)
    lines_asked_for_ += prefetch_row(*entry.rows, entry.probe.row, entry.parts);
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

}  // namespace mneme
