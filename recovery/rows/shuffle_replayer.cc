#include "recovery/rows/shuffle_replayer.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/memory/prefetch.h"
#include "engine/transaction/prefetcher.h"
#include "recovery/log/earliest_error.h"
#include "recovery/log/timed_threads.h"
#include "recovery/rows/change_buckets.h"
#include "recovery/rows/change_keys.h"
#include "recovery/rows/index_filler.h"
#include "recovery/rows/key_groups.h"
#include "recovery/rows/key_installer.h"
#include "recovery/rows/key_partitions.h"
#include "recovery/rows/keyless_erasures.h"
#include "recovery/rows/row_replayer.h"

namespace mneme {
namespace {

// Threads take stretches as they go: more of them than threads, so that none waits long for the last.
constexpr size_t kStretchesPerThread = 4;
// The log's bytes for each partition of all tables. The changes take a quarter of that besides the log, which
// fits a cache.
constexpr size_t kPartitionBytes = size_t{8} << 20;
// A thread writes to all buckets in turn, a cache line each.
constexpr size_t kMaxPartitions = 512;
// The bytes prefetched of the next record while one is being read: what the first-level cache can hold
// besides.
constexpr size_t kMaxAheadBytes = 8192;
// Changes whose columns, in the log, are on their way into the cache.
constexpr size_t kAhead = 16;

class ShuffleReplay {
 public:
  ShuffleReplay(Database& database, std::span<const RecordView> records, const ReplayOptions& options)
      : database_(database),
        records_(records),
        options_(options),
        erasures_(database),
        tables_(database.table_count()),
        partitions_(database, records, partitions_for(records, options.threads)) {
    CHECK(records.size() <= std::numeric_limits<uint32_t>::max());
    const size_t batches = (records.size() + options.batch_transactions - 1) / options.batch_transactions;
    stretches_.resize(std::min(batches, kStretchesPerThread * options.threads));
    for (size_t s = 0; s < stretches_.size(); ++s) {
      const size_t end = batches * (s + 1) / stretches_.size() * options.batch_transactions;
      stretches_[s].end = static_cast<uint32_t>(std::min(end, records.size()));
      stretches_[s].buckets.resize(tables_ * partitions_.count());
    }
  }

  Result<ReplayStatistics> replay() {
    TimedThreads threads(options_.threads);
    threads.run(&ThreadTime::dispatch_seconds, [&](size_t t) { Shuffler(*this).work(t == 0); });
    if (!is_exhausted() && !options_.interrupted()) {
      threads.run(&ThreadTime::useful_work_seconds, [&](size_t t) { Installer(*this).work(t == 0); });
    }
    if (error_.is_set()) return *error_.take();
    ReplayStatistics statistics;
    const size_t shuffled = shuffled_.load(std::memory_order_relaxed);
    const size_t installed = installed_.load(std::memory_order_relaxed);
    statistics.is_partial = shuffled < stretches_.size() || installed < parts();
    statistics.transactions = records_.size();
    if (statistics.is_partial) {
      statistics.transactions =
          half_of_records(shuffled, stretches_.size()) + half_of_records(installed, parts());
    } else {
      RETURN_IF_ERROR(erasures_.take_out());
      tell_progress(1, 1);
    }
    statistics.threads = threads.times();
    for (const Stretch& stretch : stretches_) {
      statistics.decode_seconds += stretch.seconds;
      for (const ChangeBucket& bucket : stretch.buckets) statistics.pieces += bucket.count();
    }
    return statistics;
  }

 private:
  // Written by the one thread that takes it; read by others once all have been.
  struct Stretch {
    uint32_t end = 0;                   // of its records: it begins where the one before ends
    std::vector<ChangeBucket> buckets;  // by table, and by partition
    uint64_t anywhere = 0;              // rows without a key, so far
    double seconds = 0;
  };

  class Shuffler {
   public:
    explicit Shuffler(ShuffleReplay& all) : all_(all), memory_(all.bucket_memory_), keys_(all.database_) {}

    void work(bool is_caller) {
      for (;;) {
        const size_t next = all_.next_stretch_.fetch_add(1, std::memory_order_relaxed);
        if (next >= all_.stretches_.size() || all_.is_exhausted() || all_.options_.interrupted()) return;
        Stretch& stretch = all_.stretches_[next];
        const uint64_t begin = monotonic_ns();
        for (uint32_t r = next == 0 ? 0 : all_.stretches_[next - 1].end; r < stretch.end; ++r) {
          if (!add_record(stretch, r)) break;
        }
        stretch.seconds = static_cast<double>(monotonic_ns() - begin) * 1e-9;
        all_.shuffled_.fetch_add(1, std::memory_order_relaxed);
        if (is_caller) all_.tell_progress(next + 1, 2 * all_.stretches_.size());
      }
    }

   private:
    // False: what comes behind it in the stretch does not matter any more.
    bool add_record(Stretch& stretch, uint32_t number) {
      const RecordView& record = all_.records_[number];
      if (all_.is_past_error(record.lsn)) return false;
      // Keys lie here and there in it: no pattern that the processor would see.
      if (number + 1 < all_.records_.size()) prefetch_record(all_.records_[number + 1]);
      const std::optional<LoggedChanges> changes = changes_of(record.kind, record.payload);
      if (!changes) return all_.error_.keep(record.lsn, no_rows_error(record.lsn));
      ChangeReader reader(all_.database_.change_codec(), *changes);
      RowChange change;
      while (reader.next(change)) {
        const InstallOutcome outcome = add_change(stretch, number, change);
        if (outcome == InstallOutcome::kInstalled) continue;
        all_.goes_on(change.table, record.lsn, outcome);
        return false;
      }
      return !reader.bad() || all_.error_.keep(record.lsn, no_rows_error(record.lsn));
    }

    static void prefetch_record(const RecordView& record) {
      prefetch_lines(record.payload.data(), std::min(record.payload.size(), kMaxAheadBytes));
    }

    InstallOutcome add_change(Stretch& stretch, uint32_t number, const RowChange& change) {
      DCHECK(change.columns.size() <= ShuffledChange::kMaxColumnBytes);
      const ShuffledChange shuffled{change.columns.data(), number,
                                    static_cast<uint32_t>(change.columns.size()),
                                    static_cast<uint32_t>(change.action)};
      ChangeBucket* const buckets = stretch.buckets.data() + change.table.value * all_.partitions_.count();
      const TableIndex* primary = all_.database_.table(change.table).primary();
      bool is_added = false;
      if (primary == nullptr) {
        if (change.action == ChangeAction::kErase) {
          all_.erasures_.add(change.table, all_.records_[number].lsn, change.columns);
          return InstallOutcome::kInstalled;
        }
        if (change.action != ChangeAction::kInsert) return InstallOutcome::kNoRow;
        is_added = buckets[stretch.anywhere++ % all_.partitions_.count()].add(shuffled, {}, memory_);
      } else {
        IndexKey key;
        if (!keys_.of(change.table, change.columns, key)) return InstallOutcome::kNoRow;
        is_added = buckets[all_.partitions_.of(change.table, key)].add(shuffled, key.span(), memory_);
      }
      return is_added ? InstallOutcome::kInstalled : InstallOutcome::kOutOfMemory;
    }

    ShuffleReplay& all_;
    BucketMemory memory_;
    ChangeKeys keys_;
  };

  class Installer {
   public:
    explicit Installer(ShuffleReplay& all)
        : all_(all), keys_(all.database_, all.records_, all.options_.order) {}

    void work(bool is_caller) {
      const size_t count = all_.parts();
      for (;;) {
        const size_t next = all_.next_partition_.fetch_add(1, std::memory_order_relaxed);
        if (next >= count || all_.is_exhausted() || all_.options_.interrupted()) return;
        // A partition of each table in turn: so threads seldom fill one index at a time.
        table_ = TableId{static_cast<uint32_t>(next % all_.tables_)};
        if (!install(next / all_.tables_) || !link_made()) return;
        all_.installed_.fetch_add(1, std::memory_order_relaxed);
        if (is_caller) all_.tell_progress(count + next + 1, 2 * count);
      }
    }

   private:
    bool install(size_t partition) {
      buckets_.clear();
      for (const Stretch& stretch : all_.stretches_)
        buckets_.push_back(&stretch.buckets[table_.value * all_.partitions_.count() + partition]);
      const TableIndex* primary = all_.database_.table(table_).primary();
      if (primary == nullptr) return install_without_key();
      groups_.gather(buckets_, primary->index->key_words());
      size_t waiting = 0;
      for (size_t g = 0; g < groups_.size(); ++g) {
        if (g + kAhead < groups_.size()) {
          const ShuffledChange* ahead = groups_.changes(g + kAhead).back();
          prefetch_lines(ahead->columns, ahead->column_bytes);
          prefetch_line(&all_.records_[ahead->record]);  // for its LSN
        }
        const KeyInstaller::Changes changes = groups_.changes(g);
        if (all_.is_past_error(changes.front())) continue;
        if (KeyInstaller::make_row(changes)) {
          if (!done(keys_.install(table_, changes, nullptr))) return false;
        } else {
          waiting_[waiting++] = changes;
          if (waiting == waiting_.size() && !install_found(*primary, std::exchange(waiting, 0))) return false;
        }
      }
      return install_found(*primary, waiting);
    }

    bool install_without_key() {
      bool is_installed = true;
      for (const ChangeBucket* bucket : buckets_) {
        bucket->for_each(0, [&](const ShuffledChange* change) {
          if (!is_installed || all_.is_past_error(change)) return;
          is_installed = done(keys_.install(table_, {&change, 1}, nullptr));
        });
      }
      return is_installed;
    }

    // Those of rows that were there before.
    bool install_found(const TableIndex& primary, size_t count) {
      if (count == 0) return true;
      for (size_t i = 0; i < count; ++i) {
        RowLookup& lookup = lookups_[i];
        lookup.index = primary.id;
        lookup.parts = all_.database_.table(table_).image_parts();
        lookup.key = key_of(primary, waiting_[i]);
      }
      prefetcher_.start(all_.database_, {lookups_.data(), count});
      for (size_t i = 0; i < count; ++i) {
        const IndexKey key = key_of(primary, waiting_[i]);
        if (!done(keys_.install(table_, waiting_[i], find(primary, key)))) return false;
      }
      prefetcher_.forget();
      return true;
    }

    static IndexKey key_of(const TableIndex& primary, const KeyInstaller::Changes& changes) {
      IndexKey key;
      key.word_count = primary.index->key_words();
      std::copy_n(changes.front()->key(), key.word_count, key.words.data());
      return key;
    }

    Row* find(const TableIndex& primary, const IndexKey& key) {
      Row* row = prefetcher_.take(primary.id, key);
      NodeVersion node;
      if (row == nullptr) row = primary.index->find(key.words.data(), node);
      return row != nullptr && row->word().is_live() ? row : nullptr;
    }

    bool link_made() {
      const IndexedTable& table = all_.database_.table(table_);
      for (const TableIndex& index : table.indexes()) {
        const IndexFiller::Outcome outcome = filler_.add(table, index, keys_.made());
        if (outcome.status == Index::InsertStatus::kOutOfMemory)
          return all_.goes_on(table_, outcome.row->word().lsn(), InstallOutcome::kOutOfMemory);
        if (outcome.status == Index::InsertStatus::kInserted) continue;
        CHECK(index.is_primary);  // entries of others name their rows
        all_.goes_on(table_, outcome.row->word().lsn(), InstallOutcome::kExists);
        find_inserts_of_former_rows(index);
        break;
      }
      keys_.forget_made();
      return true;
    }

    // Some of the partition's rows that the log inserts were there before: which insert is the earliest?
    void find_inserts_of_former_rows(const TableIndex& primary) {
      for (size_t g = 0; g < groups_.size(); ++g) {
        const ShuffledChange* first = groups_.changes(g).front();
        if (first->action() != ChangeAction::kInsert) continue;
        NodeVersion node;
        const Row* row = primary.index->find(first->key(), node);
        const Lsn lsn = all_.lsn_of(first);
        const bool was_there = row != nullptr && row->word().is_live() && row->word().lsn() < lsn;
        if (was_there) all_.goes_on(table_, lsn, InstallOutcome::kExists);
      }
    }

    // Whether to go on.
    bool done(InstallOutcome outcome) {
      return outcome == InstallOutcome::kInstalled || all_.goes_on(table_, keys_.failed_at(), outcome);
    }

    ShuffleReplay& all_;
    KeyInstaller keys_;
    IndexFiller filler_;
    KeyGroups groups_;
    Prefetcher prefetcher_;
    std::array<KeyInstaller::Changes, Prefetcher::kMaxLookups> waiting_;
    std::array<RowLookup, Prefetcher::kMaxLookups> lookups_;
    // About the partition at hand.
    TableId table_;
    std::vector<const ChangeBucket*> buckets_;
  };

  static size_t partitions_for(std::span<const RecordView> records, size_t threads) {
    size_t bytes = 0;
    for (const RecordView& record : records) bytes += record.payload.size();
    return std::max(threads, std::min(std::bit_ceil(bytes / kPartitionBytes), kMaxPartitions));
  }

  // Partitions of all tables.
  size_t parts() const { return tables_ * partitions_.count(); }
  // Returns how many transactions count as replayed for `done` of the `total` steps of one of the two passes.
  size_t half_of_records(size_t done, size_t total) const {
    return total == 0 ? 0 : records_.size() * done / total / 2;
  }

  Lsn lsn_of(const ShuffledChange* change) const { return records_[change->record].lsn; }

  // Notes that a change failed. Returns whether to go on: without memory no thread does. Otherwise earlier
  // records are still read, because the first record at fault is the one to report.
  bool goes_on(TableId table, Lsn lsn, InstallOutcome outcome) {
    if (!error_.is_at_or_before(lsn))
      error_.keep(lsn, install_error(database_.catalog(), table, lsn, outcome));
    if (outcome == InstallOutcome::kOutOfMemory) is_exhausted_.store(true, std::memory_order_relaxed);
    return outcome != InstallOutcome::kOutOfMemory;
  }
  bool is_exhausted() const { return is_exhausted_.load(std::memory_order_relaxed); }
  // Returns whether the error to report lies before.
  bool is_past_error(Lsn lsn) const { return error_.is_set() && error_.is_at_or_before(lsn); }
  bool is_past_error(const ShuffledChange* change) const {
    return error_.is_set() && error_.is_at_or_before(lsn_of(change));
  }

  // Each transaction is gone through twice, and counts by half each time.
  void tell_progress(size_t done, size_t total) const {
    if (options_.progress) options_.progress(records_.size() * done / total, std::nullopt);
  }

  Database& database_;
  const std::span<const RecordView> records_;
  const ReplayOptions& options_;
  KeylessErasures erasures_;
  const size_t tables_;
  const KeyPartitions partitions_;
  std::vector<Stretch> stretches_;
  HugePageSource bucket_memory_;
  // Drawn from by all threads; relaxed, they hand out numbers and nothing else.
  std::atomic<size_t> next_stretch_{0};
  std::atomic<size_t> next_partition_{0};
  // Counted by all threads, read once they are joined; relaxed.
  std::atomic<size_t> shuffled_{0};   // stretches
  std::atomic<size_t> installed_{0};  // partitions
  // Set by a thread that finds no memory, read by all, which then stop. Relaxed: no other data depends on it.
  std::atomic<bool> is_exhausted_{false};
  EarliestError error_;
};

class ShuffleReplayer final : public RowReplayer {
 public:
  using RowReplayer::RowReplayer;

  // Each transaction is gone through twice: when half of the work is done, the log has been read to its end.
  std::optional<Lsn> position(std::span<const RecordView> rows, uint64_t done) const override {
    const size_t read = std::min<size_t>(2 * done, rows.size());
    return read == 0 ? std::nullopt : std::optional(rows[read - 1].lsn);
  }

 private:
  Result<ReplayStatistics> replay_rows(std::span<const RecordView> rows,
                                       const ReplayOptions& options) override {
    return replay_shuffled(setting().database, rows, options);
  }
};

}  // namespace

Result<ReplayStatistics> replay_shuffled(Database& database, std::span<const RecordView> records,
                                         const ReplayOptions& options) {
  return ShuffleReplay(database, records, options).replay();
}

std::unique_ptr<Replayer> make_shuffle_replayer(const ReplayerSetting& setting) {
  return std::make_unique<ShuffleReplayer>(setting);
}

}  // namespace mneme
