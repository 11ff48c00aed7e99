#include "recovery/rows/location_replayer.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <vector>

#include "base/cache_line.h"
#include "recovery/log/earliest_error.h"
#include "recovery/log/timed_threads.h"
#include "recovery/rows/location_installer.h"
#include "recovery/rows/row_replayer.h"

namespace mneme {
namespace {

// How many changes a thread reads ahead while their rows come into the cache: about as many as the cache
// misses that a core keeps under way.
constexpr size_t kLocationsAhead = 16;

class LocationReplay {
 public:
  LocationReplay(Database& database, std::span<const RecordView> records, Lsn checkpoint,
                 const ReplayOptions& options)
      : database_(database),
        records_(records),
        options_(options),
        batches_((records.size() + options.batch_transactions - 1) / options.batch_transactions) {
    for (uint32_t t = 0; t < options.threads; ++t) threads_.emplace_back(database, checkpoint);
  }

  Result<ReplayStatistics> replay() {
    TimedThreads threads(options_.threads);
    threads.run(&ThreadTime::useful_work_seconds, [this](size_t t) { work(t); });
    if (error_.is_set()) return *error_.take();
    ReplayStatistics statistics;
    statistics.transactions = done_.load(std::memory_order_relaxed);
    statistics.is_partial = statistics.transactions < records_.size();
    statistics.threads = threads.times();
    for (const CachePadded<Thread>& thread : threads_) statistics.pieces += thread->installed;
    return statistics;
  }

 private:
  struct Thread {
    Thread(Database& database, Lsn checkpoint) : installer(database, checkpoint) {}

    LocationInstaller installer;
    // A ring of the last kLocationsAhead changes that the thread read: number n is at n % kLocationsAhead.
    std::array<LocatedChange, kLocationsAhead> ahead;
    uint64_t read = 0;
    uint64_t installed = 0;
  };

  void work(size_t t) {
    Thread& thread = *threads_[t];
    const bool is_reverse = options_.order == ReplayOrder::kReverse;
    while (!error_.is_set() && !options_.interrupted()) {
      const size_t taken = next_batch_.fetch_add(1, std::memory_order_relaxed);
      if (taken >= batches_) break;
      const size_t batch = is_reverse ? batches_ - 1 - taken : taken;
      const size_t first = batch * options_.batch_transactions;
      const size_t count = std::min<size_t>(options_.batch_transactions, records_.size() - first);
      for (size_t i = 0; i < count; ++i) {
        if (!take(thread, records_[first + (is_reverse ? count - 1 - i : i)])) return;
      }
      const size_t done = done_.fetch_add(count, std::memory_order_relaxed) + count;
      if (t == 0 && options_.progress) options_.progress(done, std::nullopt);
    }
    while (thread.installed < thread.read && install_oldest(thread)) continue;
  }

  bool take(Thread& thread, const RecordView& record) {
    const std::optional<LoggedChanges> changes = changes_of(record.kind, record.payload);
    if (!changes || !changes->has_locations) return error_.keep(record.lsn, no_rows_error(record.lsn));
    ChangeReader reader(database_.change_codec(), *changes);
    for (;;) {
      if (thread.read == thread.installed + kLocationsAhead && !install_oldest(thread)) return false;
      LocatedChange& next = thread.ahead[thread.read % kLocationsAhead];
      if (!reader.next(next.change)) break;
      next.lsn = record.lsn;
      if (!thread.installer.restore(next)) return fail(next, InstallOutcome::kOutOfMemory);
      thread.installer.prefetch(next);
      ++thread.read;
    }
    return !reader.bad() || error_.keep(record.lsn, no_rows_error(record.lsn));
  }

  bool install_oldest(Thread& thread) {
    const LocatedChange& oldest = thread.ahead[thread.installed % kLocationsAhead];
    const InstallOutcome outcome = thread.installer.install(oldest);
    ++thread.installed;
    return outcome == InstallOutcome::kInstalled || fail(oldest, outcome);
  }

  bool fail(const LocatedChange& located, InstallOutcome outcome) {
    return error_.keep(located.lsn,
                       install_error(database_.catalog(), located.change.table, located.lsn, outcome));
  }

  Database& database_;
  const std::span<const RecordView> records_;
  const ReplayOptions& options_;
  const size_t batches_;
  std::deque<CachePadded<Thread>> threads_;
  // All threads draw their batches from the first, and add to the second the transactions that they have
  // replayed. Relaxed: no other data depends on them.
  std::atomic<size_t> next_batch_{0};
  std::atomic<size_t> done_{0};
  EarliestError error_;
};

class LocationReplayer final : public RowReplayer {
 public:
  using RowReplayer::RowReplayer;

 private:
  Result<ReplayStatistics> replay_rows(std::span<const RecordView> rows,
                                       const ReplayOptions& options) override {
    return replay_by_location(setting().database, rows, setting().tables_from, options);
  }
};

}  // namespace

Result<ReplayStatistics> replay_by_location(Database& database, std::span<const RecordView> records,
                                            Lsn checkpoint, const ReplayOptions& options) {
  return LocationReplay(database, records, checkpoint, options).replay();
}

std::unique_ptr<Replayer> make_location_replayer(const ReplayerSetting& setting) {
  return std::make_unique<LocationReplayer>(setting);
}

}  // namespace mneme
