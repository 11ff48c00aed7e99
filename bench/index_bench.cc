// Indexes by themselves, with keys of one word in an order that looks random: find a key that is there;
// insert one, and erase one again; walk over a hundred entries from a random one on (ordered index only).
//
// Unit        nanoseconds a find, a pair of insert and erase, a walk.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <bit>
#include <memory>

#include "base/check.h"
#include "base/memory/huge_pages.h"
#include "bench/benchmarks.h"
#include "engine/index/index.h"

namespace mneme::bench {
namespace {

constexpr uint64_t kWalk = 100;

// Even keys 0, 2, ...: the odd ones are free to be inserted. An index never looks into rows: any address will
// do.
class FilledIndex {
 public:
  FilledIndex(bool ordered, uint64_t entries)
      : count_(std::bit_floor(entries)),
        index_(ordered ? make_btree_index(1, memory_) : make_hash_index(1, 1, memory_)) {
    for (uint64_t i = 0, at = 0; i < count_; ++i, at = next(at)) insert(2 * at);
  }

  uint64_t next(uint64_t at) const { return next_in_cycle(at, count_); }
  uint64_t count() const { return count_; }
  const Index& index() const { return *index_; }

  Row* row(uint64_t key) { return reinterpret_cast<Row*>(8 * (key + 1)); }
  void insert(uint64_t key) {
    Row* existing = nullptr;
    CHECK(index_->insert(&key, row(key), existing, nullptr) == Index::InsertStatus::kInserted);
  }
  void erase(uint64_t key) { CHECK(index_->erase(&key, row(key))); }

 private:
  HugePageSource memory_;
  const uint64_t count_;
  std::unique_ptr<Index> index_;
};

void find(benchmark::State& state, FilledIndex& filled) {
  uint64_t at = 0;
  for (auto _ : state) {
    const uint64_t key = 2 * at;
    NodeVersion node;
    CHECK(filled.index().find(&key, node) == filled.row(key));
    at = filled.next(at);
  }
}

void insert_and_erase_entries(benchmark::State& state, FilledIndex& filled) {
  uint64_t at = 0;
  for (auto _ : state) {
    filled.insert(2 * at + 1);
    filled.erase(2 * at + 1);
    at = filled.next(at);
  }
}

void walk(benchmark::State& state, FilledIndex& filled) {
  uint64_t at = 0;
  for (auto _ : state) {
    const uint64_t low = 2 * std::min(at, filled.count() - kWalk);
    const uint64_t high = low + 2 * (kWalk - 1);
    IndexCursor cursor({&low, 1}, {&high, 1}, ScanDirection::kForward);
    uint64_t seen = 0;
    while (filled.index().next(cursor)) seen += cursor.count;
    CHECK(seen == kWalk);
    at = filled.next(at);
  }
}

}  // namespace

void register_index(const Sizes& sizes) {
  for (const bool ordered : {false, true}) {
    // Filled by the first benchmark that is run, not where a filter leaves all of them out.
    auto filled = std::make_shared<std::unique_ptr<FilledIndex>>();
    const auto add = [&](const char* what, void (*run)(benchmark::State&, FilledIndex&)) {
      const std::string name = fmt::format("index/{}/{}", ordered ? "btree" : "hash", what);
      benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
        if (*filled == nullptr) *filled = std::make_unique<FilledIndex>(ordered, sizes.entries);
        run(state, **filled);
      });
    };
    add("find", find);
    add("insert_and_erase_entries", insert_and_erase_entries);
    if (ordered) add("walk_100", walk);
  }
}

}  // namespace mneme::bench
