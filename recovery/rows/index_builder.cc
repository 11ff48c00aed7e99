#include "recovery/rows/index_builder.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

#include "base/parallel.h"
#include "recovery/rows/index_filler.h"

namespace mneme {
namespace {

// So many that a thread's keys stay in its caches.
constexpr uint64_t kStretchSlots = 8192;

struct Stretch {
  TableId table;
  uint64_t begin;
  uint64_t end;
};

class IndexBuilder {
 public:
  IndexBuilder(Database& database, const std::function<bool()>& is_interrupted)
      : database_(database), is_interrupted_(is_interrupted), free_(database.table_count()) {
    for (uint32_t t = 0; t < database.table_count(); ++t) {
      const uint64_t end = database.table(TableId{t}).rows().restored_end();
      for (uint64_t begin = 0; begin < end; begin += kStretchSlots)
        stretches_.push_back({TableId{t}, begin, std::min(end, begin + kStretchSlots)});
    }
  }

  Result<bool> build(uint32_t threads, const std::function<void(uint64_t, uint64_t)>& progress) {
    if (progress) progress(0, stretches_.size());
    // As many jobs as threads: each keeps its memory and its hints from stretch to stretch.
    for_each_in_parallel(threads, threads,
                         [&](size_t t) { Builder(*this).work(t == 0 ? progress : nullptr); });
    if (error_) return *error_;
    if (done_.load(std::memory_order_relaxed) < stretches_.size()) return false;
    for (uint32_t t = 0; t < free_.size(); ++t) database_.table(TableId{t}).rows().end_restoring(free_[t]);
    return true;
  }

 private:
  class Builder {
   public:
    explicit Builder(IndexBuilder& all) : all_(all), free_(all.free_.size()) {}

    void work(const std::function<void(uint64_t, uint64_t)>& progress) {
      while (!all_.is_interrupted_ || !all_.is_interrupted_()) {
        const size_t next = all_.next_.fetch_add(1, std::memory_order_relaxed);
        if (next >= all_.stretches_.size()) break;
        if (const Result<void> added = add(all_.stretches_[next]); !added) return all_.fail(added.error());
        all_.done_.fetch_add(1, std::memory_order_relaxed);
        if (progress) progress(next + 1, all_.stretches_.size());
      }
      all_.keep_free(free_);
    }

   private:
    Result<void> add(const Stretch& stretch) {
      IndexedTable& table = all_.database_.table(stretch.table);
      rows_.clear();
      for (uint64_t slot = stretch.begin; slot < stretch.end; ++slot) {
        Row* row = table.rows().at(slot);
        if (row == nullptr) continue;
        if (row->word().is_live()) {
          rows_.push_back(row);
          continue;
        }
        row->set_word(RowWord());
        free_[stretch.table.value].push_back(row);
      }
      for (const TableIndex& index : table.indexes()) RETURN_IF_ERROR(add(table, index));
      return {};
    }

    Result<void> add(const IndexedTable& table, const TableIndex& index) {
      const IndexFiller::Outcome outcome = filler_.add(table, index, rows_);
      switch (outcome.status) {
        case Index::InsertStatus::kInserted:
          break;
        case Index::InsertStatus::kExists:
          return damaged(
              "the rows in slots {} and {} of table {} have one key in {}; the log does not fit the "
              "checkpoint, or "
              "Mneme has a bug; nothing on disk was changed",
              table.rows().slot_of(outcome.existing), table.rows().slot_of(outcome.row),
              table.definition().name, all_.database_.catalog().index(index.id).name);
        case Index::InsertStatus::kOutOfMemory:
          return failed(
              "no memory is left to build the indexes; nothing on disk was changed: recover with more "
              "memory");
      }
      return {};
    }

    IndexBuilder& all_;
    IndexFiller filler_;
    std::vector<std::vector<Row*>> free_;  // by table
    std::vector<Row*> rows_;               // of one stretch
  };

  void fail(const Error& error) {
    const std::lock_guard lock(mutex_);
    error_ = error;
    // No thread begins another stretch.
    next_.store(stretches_.size(), std::memory_order_relaxed);
  }
  void keep_free(const std::vector<std::vector<Row*>>& free) {
    const std::lock_guard lock(mutex_);
    for (size_t t = 0; t < free.size(); ++t) free_[t].insert(free_[t].end(), free[t].begin(), free[t].end());
  }

  Database& database_;
  const std::function<bool()>& is_interrupted_;
  std::vector<Stretch> stretches_;
  // Drawn from by all threads; relaxed, it hands out numbers and nothing else.
  std::atomic<size_t> next_{0};
  // Counted by all threads, read once they are joined; relaxed.
  std::atomic<size_t> done_{0};

  std::mutex mutex_;
  // Guarded by mutex_ while threads run.
  std::vector<std::vector<Row*>> free_;  // by table
  std::optional<Error> error_;
};

}  // namespace

Result<bool> build_indexes(Database& database, uint32_t threads,
                           const std::function<void(uint64_t, uint64_t)>& progress,
                           const std::function<bool()>& is_interrupted) {
  return IndexBuilder(database, is_interrupted).build(threads, progress);
}

Result<void> build_index(const IndexedTable& table, const TableIndex& index, uint32_t threads) {
  // Whatever is restored already, or was given out since.
  const uint64_t end = std::max(table.rows().restored_end(), table.rows().slot_end());
  const uint64_t stretches = (end + kStretchSlots - 1) / kStretchSlots;
  // Relaxed: they hand out numbers, and tell others to stop.
  std::atomic<uint64_t> next{0};
  std::atomic<bool> is_full{false};
  for_each_in_parallel(threads, std::min<uint64_t>(threads, stretches), [&](size_t) {
    IndexFiller filler;
    std::vector<Row*> rows;
    for (uint64_t stretch; (stretch = next.fetch_add(1, std::memory_order_relaxed)) < stretches &&
                           !is_full.load(std::memory_order_relaxed);) {
      rows.clear();
      const uint64_t begin = stretch * kStretchSlots;
      table.rows().for_each_live(begin, std::min(end, begin + kStretchSlots),
                                 [&](Row* row) { rows.push_back(row); });
      const IndexFiller::Outcome outcome = filler.add(table, index, rows);
      CHECK(outcome.status != Index::InsertStatus::kExists);  // an entry's key names its row
      if (outcome.status == Index::InsertStatus::kOutOfMemory) is_full.store(true, std::memory_order_relaxed);
    }
  });
  if (is_full.load(std::memory_order_relaxed))
    return failed("no memory is left for index {}; nothing was changed", index.definition->name);
  return {};
}

}  // namespace mneme
