#include "engine/index/index.h"

namespace mneme {

Index::InsertStatus Index::insert_run(std::span<const IndexEntry> entries, InsertHint& hint, size_t& done,
                                      Row*& existing) {
  for (done = 0; done < entries.size(); ++done) {
    const InsertStatus status = insert(entries[done].key, entries[done].row, existing, nullptr, &hint);
    if (status != InsertStatus::kInserted) return status;
  }
  return InsertStatus::kInserted;
}

}  // namespace mneme
