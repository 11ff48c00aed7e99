#include "recovery/rows/unordered_replayer.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <vector>

#include "base/cache_line.h"
#include "recovery/log/earliest_error.h"
#include "recovery/log/timed_threads.h"
#include "recovery/rows/keyless_erasures.h"
#include "recovery/rows/newest_installer.h"
#include "recovery/rows/row_replayer.h"

namespace mneme {
namespace {

class UnorderedReplay {
 public:
  UnorderedReplay(Database& database, std::span<const RecordView> records, const ReplayOptions& options)
      : database_(database),
        records_(records),
        options_(options),
        erasures_(database),
        batches_((records.size() + options.batch_transactions - 1) / options.batch_transactions) {
    for (uint32_t t = 0; t < options.threads; ++t) threads_.emplace_back(database);
  }

  Result<ReplayStatistics> replay() {
    TimedThreads threads(threads_.size());
    threads.run(&ThreadTime::useful_work_seconds, [this](size_t t) { install_batches(*threads_[t]); });
    if (error_.is_set()) return *error_.take();
    ReplayStatistics statistics;
    statistics.transactions = done_.load(std::memory_order_relaxed);
    statistics.is_partial = statistics.transactions < records_.size();
    if (!statistics.is_partial) {
      threads.run(&ThreadTime::useful_work_seconds, [this](size_t t) { threads_[t]->installer.sweep(); });
      RETURN_IF_ERROR(erasures_.take_out());
    }
    statistics.threads = threads.times();
    for (const CachePadded<Thread>& thread : threads_) statistics.pieces += thread->installed;
    return statistics;
  }

 private:
  struct Thread {
    explicit Thread(Database& database) : installer(database) {
      for (uint32_t t = 0; t < database.table_count(); ++t)
        images.emplace_back(database.table(TableId{t}).layout().image_bytes());
    }

    NewestInstaller installer;
    std::vector<std::vector<std::byte>> images;  // by table: one whose key columns are being decoded
    uint64_t installed = 0;
  };

  void install_batches(Thread& thread) {
    const bool is_reverse = options_.order == ReplayOrder::kReverse;
    while (!error_.is_set() && !options_.interrupted()) {
      const size_t taken = next_batch_.fetch_add(1, std::memory_order_relaxed);
      if (taken >= batches_) return;
      const size_t batch = is_reverse ? batches_ - 1 - taken : taken;
      const size_t first = batch * options_.batch_transactions;
      const size_t count = std::min<size_t>(options_.batch_transactions, records_.size() - first);
      for (size_t i = 0; i < count; ++i) {
        if (!install_record(thread, records_[first + (is_reverse ? count - 1 - i : i)])) return;
      }
      const size_t done = done_.fetch_add(count, std::memory_order_relaxed) + count;
      if (&thread == &*threads_[0] && options_.progress) options_.progress(done, std::nullopt);
    }
  }

  bool install_record(Thread& thread, const RecordView& record) {
    const std::optional<LoggedChanges> changes = changes_of(record.kind, record.payload);
    if (!changes) return error_.keep(record.lsn, no_rows_error(record.lsn));
    ChangeReader reader(database_.change_codec(), *changes);
    RowChange change;
    while (reader.next(change)) {
      const InstallOutcome outcome = install(thread, record.lsn, change);
      if (outcome != InstallOutcome::kInstalled)
        return error_.keep(record.lsn, install_error(database_.catalog(), change.table, record.lsn, outcome));
      ++thread.installed;
    }
    return !reader.bad() || error_.keep(record.lsn, no_rows_error(record.lsn));
  }

  InstallOutcome install(Thread& thread, Lsn lsn, const RowChange& change) {
    const TableIndex* primary = database_.table(change.table).primary();
    Row* row = nullptr;
    if (primary != nullptr) {
      std::byte* image = thread.images[change.table.value].data();
      if (!database_.change_codec().decode_key(change.table, change.columns, image))
        return InstallOutcome::kNoRow;
      NodeVersion node;
      row = primary->index->find(primary->codec->of_row(image, 0).words.data(), node);
    } else if (change.action == ChangeAction::kErase) {
      erasures_.add(change.table, lsn, change.columns);
      return InstallOutcome::kInstalled;
    } else if (change.action != ChangeAction::kInsert) {
      return InstallOutcome::kNoRow;
    }
    return thread.installer.install(change.table, change.action, lsn, change.columns, row);
  }

  Database& database_;
  const std::span<const RecordView> records_;
  const ReplayOptions& options_;
  KeylessErasures erasures_;
  const size_t batches_;
  std::deque<CachePadded<Thread>> threads_;
  // Drawn from and added to by all threads; relaxed: they are numbers and nothing else.
  std::atomic<size_t> next_batch_{0};
  std::atomic<size_t> done_{0};
  EarliestError error_;
};

class UnorderedReplayer final : public RowReplayer {
 public:
  using RowReplayer::RowReplayer;

 private:
  Result<ReplayStatistics> replay_rows(std::span<const RecordView> rows,
                                       const ReplayOptions& options) override {
    return replay_unordered(setting().database, rows, options);
  }
};

}  // namespace

Result<ReplayStatistics> replay_unordered(Database& database, std::span<const RecordView> records,
                                          const ReplayOptions& options) {
  return UnorderedReplay(database, records, options).replay();
}

std::unique_ptr<Replayer> make_unordered_replayer(const ReplayerSetting& setting) {
  return std::make_unique<UnorderedReplayer>(setting);
}

}  // namespace mneme
