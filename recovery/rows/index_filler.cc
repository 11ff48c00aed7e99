#include "recovery/rows/index_filler.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

namespace mneme {

namespace {

// The number of entries of a hash index whose buckets are prefetched together.
constexpr size_t kEntriesAhead = 16;

}  // namespace

IndexFiller::Outcome IndexFiller::add(const IndexedTable& table, const TableIndex& index,
                                      std::span<Row* const> rows) {
  const size_t words = index.index->key_words();
  keys_.resize(rows.size() * words);
  for (size_t i = 0; i < rows.size(); ++i) {
    const IndexKey key = table.entry_key(index, rows[i]->image(), rows[i]);
    std::copy_n(key.words.data(), words, keys_.data() + i * words);
  }
  InsertHint& hint = hints_[index.index.get()];
  std::span<const uint32_t> order;
  if (index.is_ordered) {
    order = sorter_.sort(keys_, words);
  } else {
    as_given_.resize(rows.size());
    std::iota(as_given_.begin(), as_given_.end(), 0);
    order = as_given_;
  }
  for (size_t i = 0; i < order.size(); ++i) {
    if (!index.is_ordered && i % kEntriesAhead == 0) {
      std::array<AheadLookup, kEntriesAhead> ahead;
      std::array<AheadLookup*, kEntriesAhead> together;
      size_t count = 0;
      for (size_t j = i; j < std::min(i + kEntriesAhead, order.size()); ++j, ++count) {
        ahead[count] = {.key = keys_.data() + order[j] * words, .wants_row = false};
        together[count] = &ahead[count];
      }
      index.index->find_ahead(std::span(together).first(count));
    }
    Outcome outcome;
    outcome.row = rows[order[i]];
    outcome.status =
        index.index->insert(keys_.data() + order[i] * words, outcome.row, outcome.existing, nullptr, &hint);
    if (outcome.status != Index::InsertStatus::kInserted) return outcome;
  }
  return {};
}

}  // namespace mneme
