#include "engine/index/unread_index.h"

#include "base/check.h"

namespace mneme {

namespace {

class UnreadIndex final : public Index {
 public:
  using Index::Index;

  bool keeps_entries() const override { return false; }
  Row* find(const uint64_t*, NodeVersion&) const override { CHECK(false); }
  bool next(IndexCursor&) const override { CHECK(false); }
  InsertStatus insert(const uint64_t*, Row*, Row*&, NodeChanges*, InsertHint*) override {
    return InsertStatus::kInserted;
  }
  InsertStatus insert_run(std::span<const IndexEntry> entries, InsertHint&, size_t& done, Row*&) override {
    done = entries.size();
    return InsertStatus::kInserted;
  }
  bool replace(const uint64_t*, const Row*, Row*, NodeChanges*) override { return true; }
  bool erase(const uint64_t*, const Row*, const NodeVersion&) override { return true; }
  void find_ahead(std::span<AheadLookup* const>) const override {}
  void for_each(FunctionRef<void(const uint64_t*, Row*)>) const override {}
  size_t memory_bytes() const override { return 0; }
  void verify() const override {}
};

}  // namespace

std::unique_ptr<Index> make_unread_index(uint32_t key_words) {
  return std::make_unique<UnreadIndex>(key_words);
}

}  // namespace mneme
