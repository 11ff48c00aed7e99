#include "recovery/shuffle_replayer.h"

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <deque>
#include <optional>
#include <thread>

#include "base/cache_line.h"
#include "engine/prefetcher.h"
#include "recovery/earliest_error.h"
#include "recovery/newest_installer.h"
#include "recovery/row_installer.h"

namespace mneme {
namespace {

// Keys of an ordered index that differ in no higher bits share a partition.
constexpr uint64_t kNeighbours = 16;

// A change on its way to its partition.
struct ShuffledChange {
  Lsn lsn;
  const std::byte* columns;
  uint32_t column_bytes;
  uint32_t key_at;  // its key's first word, in its bucket's
  TableId table;
  ChangeAction action;

  ByteSpan bytes() const { return {columns, column_bytes}; }
};

struct Bucket {
  std::vector<ShuffledChange> changes;
  std::vector<uint64_t> key_words;

  void clear() {
    changes.clear();
    key_words.clear();
  }
};

using Clock = std::chrono::steady_clock;

class ShuffleReplay {
 public:
  ShuffleReplay(Database& database, std::span<const RecordView> records, const ReplayOptions& options)
      : database_(database),
        records_(records),
        options_(options),
        is_reverse_(options.order == ReplayOrder::kReverse),
        batches_((records.size() + options.batch_transactions - 1) / options.batch_transactions),
        rendezvous_(options.threads) {
    for (uint32_t t = 0; t < options.threads; ++t) threads_.emplace_back(database, options.threads);
  }

  Result<ReplayStatistics> replay() {
    std::vector<std::thread> others;
    for (uint32_t t = 1; t < options_.threads; ++t) others.emplace_back([this, t] { work(t); });
    work(0);
    for (std::thread& thread : others) thread.join();
    if (error_.is_set()) return *error_.take();
    ReplayStatistics statistics;
    statistics.transactions = records_.size();
    for (const CachePadded<Thread>& thread : threads_) {
      statistics.pieces += thread->installed;
      statistics.decode_seconds += thread->shuffle_seconds;
    }
    return statistics;
  }

 private:
  struct Thread {
    Thread(Database& database, uint32_t partitions)
        : in_order(database), newest(database, NewestInstaller::Sharing::kOwned) {
      for (auto& side : buckets) side.resize(partitions);
      for (uint32_t t = 0; t < database.table_count(); ++t)
        images.emplace_back(database.table(TableId{t}).layout().image_bytes());
    }

    RowInstaller in_order;   // of the forward order
    NewestInstaller newest;  // of the reverse order
    Prefetcher prefetcher;
    std::array<const ShuffledChange*, Prefetcher::kMaxLookups> group;
    std::array<RowLookup, Prefetcher::kMaxLookups> lookups;
    // What is filled with one batch is emptied while the next one fills the other.
    std::array<std::vector<Bucket>, 2> buckets;
    std::vector<std::vector<std::byte>> images;  // by table: one whose key columns are being decoded
    uint64_t anywhere = 0;                       // rows without a key, so far
    uint64_t installed = 0;
    double shuffle_seconds = 0;
  };

  void work(uint32_t t) {
    Thread& thread = *threads_[t];
    for (size_t step = 0; step <= batches_; ++step) {
      const auto begin = Clock::now();
      if (step < batches_) shuffle(thread, t, step);
      thread.shuffle_seconds += std::chrono::duration<double>(Clock::now() - begin).count();
      if (step > 0) install_partition(thread, t, step - 1);
      rendezvous_.arrive_and_wait();
      // Others may be on their way to the next rendezvous already, not knowing: it must not wait for us.
      if (error_.is_set()) return rendezvous_.arrive_and_drop();
      if (t == 0 && step > 0 && options_.progress)
        options_.progress(std::min(records_.size(), step * options_.batch_transactions));
    }
    if (is_reverse_) thread.newest.sweep();
  }

  std::span<const RecordView> batch_of(size_t step) const {
    const size_t batch = is_reverse_ ? batches_ - 1 - step : step;
    const size_t first = batch * options_.batch_transactions;
    return records_.subspan(first, std::min<size_t>(options_.batch_transactions, records_.size() - first));
  }

  void shuffle(Thread& thread, uint32_t t, size_t step) {
    std::vector<Bucket>& buckets = thread.buckets[step % 2];
    for (Bucket& bucket : buckets) bucket.clear();
    const std::span<const RecordView> batch = batch_of(step);
    const size_t end = batch.size() * (t + 1) / options_.threads;
    for (size_t i = batch.size() * t / options_.threads; i < end; ++i) {
      if (!shuffle_record(thread, buckets, batch[i])) return;
    }
  }

  bool shuffle_record(Thread& thread, std::vector<Bucket>& buckets, const RecordView& record) {
    const std::optional<LoggedChanges> changes = changes_of(record.kind, record.payload);
    if (!changes) return error_.keep(record.lsn, no_rows_error(record.lsn));
    ChangeReader reader(database_.change_codec(), *changes);
    RowChange change;
    while (reader.next(change)) {
      if (!shuffle_change(thread, buckets, record.lsn, change))
        return error_.keep(record.lsn, no_rows_error(record.lsn));
    }
    return !reader.bad() || error_.keep(record.lsn, no_rows_error(record.lsn));
  }

  bool shuffle_change(Thread& thread, std::vector<Bucket>& buckets, Lsn lsn, const RowChange& change) {
    ShuffledChange shuffled{lsn, change.columns.data(), static_cast<uint32_t>(change.columns.size()),
                            0,   change.table,          change.action};
    const TableIndex* primary = database_.table(change.table).primary();
    if (primary == nullptr) {
      if (change.action != ChangeAction::kInsert) return false;
      buckets[thread.anywhere++ % buckets.size()].changes.push_back(shuffled);
      return true;
    }
    std::byte* image = thread.images[change.table.value].data();
    if (!database_.change_codec().decode_key(change.table, change.columns, image)) return false;
    const IndexKey key = primary->codec->of_row(image, 0);
    Bucket& bucket = buckets[partition_of(change.table, *primary, key)];
    shuffled.key_at = static_cast<uint32_t>(bucket.key_words.size());
    bucket.changes.push_back(shuffled);
    bucket.key_words.insert(bucket.key_words.end(), key.span().begin(), key.span().end());
    return true;
  }

  size_t partition_of(TableId table, const TableIndex& primary, const IndexKey& key) const {
    const bool is_ordered = database_.catalog().index(primary.id).ordered;
    uint64_t hash = table.value + 1;
    for (uint32_t i = 0; i < key.word_count; ++i) {
      const bool is_last = i + 1 == key.word_count;
      const uint64_t word = key.words[i] & ~(is_last && is_ordered ? kNeighbours - 1 : 0);
      hash = (hash ^ word) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 29;
    }
    return static_cast<size_t>((hash >> 32) * options_.threads >> 32);
  }

  void install_partition(Thread& thread, uint32_t partition, size_t step) {
    for (size_t i = 0; i < threads_.size(); ++i) {
      const size_t from = is_reverse_ ? threads_.size() - 1 - i : i;
      if (!install_bucket(thread, threads_[from]->buckets[step % 2][partition])) return;
    }
  }

  bool install_bucket(Thread& thread, const Bucket& bucket) {
    const size_t count = bucket.changes.size();
    for (size_t done = 0; done < count;) {
      const size_t group = std::min(count - done, Prefetcher::kMaxLookups);
      for (size_t i = 0; i < group; ++i, ++done)
        thread.group[i] = &bucket.changes[is_reverse_ ? count - 1 - done : done];
      look_up(thread, {thread.group.data(), group}, bucket);
      if (!install_group(thread, {thread.group.data(), group})) return false;
    }
    return true;
  }

  void look_up(Thread& thread, std::span<const ShuffledChange* const> group, const Bucket& bucket) {
    size_t count = 0;
    for (const ShuffledChange* change : group) {
      const TableIndex* primary = database_.table(change->table).primary();
      if (primary == nullptr) continue;
      RowLookup& lookup = thread.lookups[count++];
      lookup.index = primary->id;
      // An older image is passed over: then the row's word, in its first line, is all that is wanted.
      lookup.parts = is_reverse_ ? ImageParts() : database_.table(change->table).image_parts();
      lookup.key.word_count = primary->index->key_words();
      std::copy_n(bucket.key_words.data() + change->key_at, lookup.key.word_count, lookup.key.words.data());
      lookup.is_place = !is_reverse_ && change->action == ChangeAction::kInsert;
    }
    thread.prefetcher.start(database_, {thread.lookups.data(), count});
    while (!thread.prefetcher.done()) thread.prefetcher.step();
  }

  bool install_group(Thread& thread, std::span<const ShuffledChange* const> group) {
    const RowLookup* lookup = thread.lookups.data();
    for (const ShuffledChange* change : group) {
      const bool has_key = database_.table(change->table).primary() != nullptr;
      Row* row = has_key ? find(thread, *change, *lookup) : nullptr;
      if (has_key) ++lookup;
      const InstallOutcome outcome = is_reverse_ ? thread.newest.install(change->table, change->action,
                                                                         change->lsn, change->bytes(), row)
                                                 : install_in_order(thread.in_order, *change, row);
      if (outcome != InstallOutcome::kInstalled)
        return error_.keep(change->lsn,
                           install_error(database_.catalog(), change->table, change->lsn, outcome));
    }
    thread.installed += group.size();
    thread.prefetcher.forget();
    thread.in_order.free_erased();
    return true;
  }

  // In the forward order, the live row; what was looked up may have been erased since, or inserted. In the reverse order
  // no row goes away, and one that was not found is added, or found by who adds it.
  Row* find(Thread& thread, const ShuffledChange& change, const RowLookup& lookup) {
    if (lookup.is_place) return nullptr;
    Row* row = thread.prefetcher.take(lookup.index, lookup.key);
    if (row != nullptr && (is_reverse_ || row->word().is_live())) return row;
    if (is_reverse_ && change.action == ChangeAction::kInsert) return nullptr;
    NodeVersion node;
    row = database_.index(lookup.index).index->find(lookup.key.words.data(), node);
    return row != nullptr && (is_reverse_ || row->word().is_live()) ? row : nullptr;
  }

  static InstallOutcome install_in_order(RowInstaller& installer, const ShuffledChange& change, Row* row) {
    switch (change.action) {
      case ChangeAction::kInsert:
        return installer.insert(change.table, change.bytes());
      case ChangeAction::kUpdate:
      case ChangeAction::kPatch:
        return installer.update(change.table, change.action, row, change.bytes());
      case ChangeAction::kErase:
        return installer.erase(change.table, row);
    }
    return InstallOutcome::kNoRow;
  }

  Database& database_;
  const std::span<const RecordView> records_;
  const ReplayOptions& options_;
  const bool is_reverse_;
  const size_t batches_;
  std::deque<CachePadded<Thread>> threads_;
  // Orders what threads put into buckets before what their owners take out.
  std::barrier<> rendezvous_;
  EarliestError error_;
};

}  // namespace

Result<ReplayStatistics> replay_shuffled(Database& database, std::span<const RecordView> records,
                                         const ReplayOptions& options) {
  return ShuffleReplay(database, records, options).replay();
}

}  // namespace mneme
