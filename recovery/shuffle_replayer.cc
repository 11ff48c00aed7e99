#include "recovery/shuffle_replayer.h"

#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "base/cache_line.h"
#include "engine/prefetcher.h"
#include "recovery/row_installer.h"

namespace mneme {
namespace {

// Keys of an ordered index that differ in no higher bits share a partition.
constexpr uint64_t kNeighbours = 16;

// A change on its way to its partition. Its key's words lie beside it in the bucket, in the same order.
struct ShuffledChange {
  Lsn lsn;
  const std::byte* columns;
  uint32_t column_bytes;
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
        batches_((records.size() + options.batch_transactions - 1) / options.batch_transactions),
        rendezvous_(options.threads) {
    for (uint32_t t = 0; t < options.threads; ++t) threads_.emplace_back(database, options.threads);
  }

  Result<ReplayStatistics> replay() {
    std::vector<std::thread> others;
    for (uint32_t t = 1; t < options_.threads; ++t) others.emplace_back([this, t] { work(t); });
    work(0);
    for (std::thread& thread : others) thread.join();
    if (error_) return *error_;
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
    Thread(Database& database, uint32_t partitions) : installer(database) {
      for (auto& side : buckets) side.resize(partitions);
      for (uint32_t t = 0; t < database.table_count(); ++t)
        images.emplace_back(database.table(TableId{t}).layout().image_bytes());
    }

    RowInstaller installer;
    Prefetcher prefetcher;
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
    for (size_t batch = 0; batch <= batches_; ++batch) {
      const auto begin = Clock::now();
      if (batch < batches_) shuffle(thread, t, batch);
      thread.shuffle_seconds += std::chrono::duration<double>(Clock::now() - begin).count();
      if (batch > 0) install_partition(thread, t, batch - 1);
      rendezvous_.arrive_and_wait();
      // Others may be on their way to the next rendezvous already, not knowing: it must not wait for us.
      if (has_failed_.load(std::memory_order_relaxed)) return rendezvous_.arrive_and_drop();
      if (t == 0 && batch > 0 && options_.progress) options_.progress(batch_end(batch - 1));
    }
  }

  size_t batch_end(size_t batch) const {
    return std::min(records_.size(), (batch + 1) * options_.batch_transactions);
  }

  void shuffle(Thread& thread, uint32_t t, size_t batch) {
    std::vector<Bucket>& buckets = thread.buckets[batch % 2];
    for (Bucket& bucket : buckets) bucket.clear();
    const size_t first = batch * options_.batch_transactions;
    const size_t count = batch_end(batch) - first;
    const size_t end = first + count * (t + 1) / options_.threads;
    for (size_t i = first + count * t / options_.threads; i < end; ++i) {
      if (!shuffle_record(thread, buckets, records_[i])) return;
    }
  }

  bool shuffle_record(Thread& thread, std::vector<Bucket>& buckets, const RecordView& record) {
    const std::optional<ByteSpan> changes = changes_of(record.kind, record.payload);
    if (!changes) return fail(record.lsn, no_changes(record.lsn));
    ChangeReader reader(database_.change_codec(), *changes);
    RowChange change;
    while (reader.next(change)) {
      const ShuffledChange shuffled{record.lsn, change.columns.data(),
                                    static_cast<uint32_t>(change.columns.size()), change.table,
                                    change.action};
      const TableIndex* primary = database_.table(change.table).primary();
      if (primary == nullptr) {
        if (change.action != ChangeAction::kInsert) return fail(record.lsn, no_changes(record.lsn));
        buckets[thread.anywhere++ % buckets.size()].changes.push_back(shuffled);
        continue;
      }
      std::byte* image = thread.images[change.table.value].data();
      ByteReader in(change.columns);
      if (!database_.change_codec().key(change.table).decode(in, image))
        return fail(record.lsn, no_changes(record.lsn));
      const IndexKey key = primary->codec->of_row(image, 0);
      Bucket& bucket = buckets[partition_of(change.table, *primary, key)];
      bucket.changes.push_back(shuffled);
      bucket.key_words.insert(bucket.key_words.end(), key.span().begin(), key.span().end());
    }
    return !reader.bad() || fail(record.lsn, no_changes(record.lsn));
  }

  size_t partition_of(TableId table, const TableIndex& primary, const IndexKey& key) const {
    uint64_t hash = table.value + 1;
    for (uint32_t i = 0; i < key.word_count; ++i) {
      const bool is_last = i + 1 == key.word_count;
      const uint64_t word = key.words[i] & ~(is_last && is_ordered(primary) ? kNeighbours - 1 : 0);
      hash = (hash ^ word) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 29;
    }
    return static_cast<size_t>((hash >> 32) * options_.threads >> 32);
  }
  bool is_ordered(const TableIndex& index) const { return database_.catalog().index(index.id).ordered; }

  void install_partition(Thread& thread, uint32_t partition, size_t batch) {
    for (CachePadded<Thread>& from : threads_) {
      const Bucket& bucket = from->buckets[batch % 2][partition];
      const uint64_t* key_words = bucket.key_words.data();
      for (std::span<const ShuffledChange> rest = bucket.changes; !rest.empty();) {
        const size_t group = std::min(rest.size(), Prefetcher::kMaxLookups);
        if (!install_group(thread, rest.first(group), key_words)) return;
        rest = rest.subspan(group);
      }
    }
  }

  // Moves `key_words` on past the group's.
  bool install_group(Thread& thread, std::span<const ShuffledChange> group, const uint64_t*& key_words) {
    size_t count = 0;
    for (const ShuffledChange& change : group) {
      const TableIndex* primary = database_.table(change.table).primary();
      if (primary == nullptr) continue;
      RowLookup& lookup = thread.lookups[count++];
      lookup.index = primary->id;
      lookup.parts = database_.table(change.table).image_parts();
      lookup.key.word_count = primary->index->key_words();
      std::copy_n(key_words, lookup.key.word_count, lookup.key.words.data());
      lookup.is_place = change.action == ChangeAction::kInsert;
      key_words += lookup.key.word_count;
    }
    thread.prefetcher.start(database_, {thread.lookups.data(), count});
    while (!thread.prefetcher.done()) thread.prefetcher.step();

    const RowLookup* lookup = thread.lookups.data();
    for (const ShuffledChange& change : group) {
      Row* row = nullptr;
      if (change.action != ChangeAction::kInsert) row = find(thread, *lookup);
      if (database_.table(change.table).primary() != nullptr) ++lookup;
      const RowInstaller::Outcome outcome = install(thread.installer, change, row);
      if (outcome != RowInstaller::Outcome::kInstalled)
        return fail(change.lsn, not_installed(change, outcome));
    }
    thread.installed += group.size();
    thread.prefetcher.forget();
    thread.installer.free_erased();
    return true;
  }

  // What was looked up may have been erased since, or inserted.
  Row* find(Thread& thread, const RowLookup& lookup) {
    Row* row = thread.prefetcher.take(lookup.index, lookup.key);
    if (row != nullptr && row->word().is_live()) return row;
    NodeVersion node;
    row = database_.index(lookup.index).index->find(lookup.key.words.data(), node);
    return row != nullptr && row->word().is_live() ? row : nullptr;
  }

  static RowInstaller::Outcome install(RowInstaller& installer, const ShuffledChange& change, Row* row) {
    switch (change.action) {
      case ChangeAction::kInsert:
        return installer.insert(change.table, change.bytes());
      case ChangeAction::kUpdate:
        return installer.update(change.table, row, change.bytes());
      case ChangeAction::kErase:
        return installer.erase(change.table, row);
    }
    return RowInstaller::Outcome::kNoRow;
  }

  static Error no_changes(Lsn lsn) {
    return damaged(
        "the log's record at LSN {} holds no rows of this database's tables; recovery stops here and has "
        "changed "
        "nothing on disk",
        lsn.value);
  }
  Error not_installed(const ShuffledChange& change, RowInstaller::Outcome outcome) const {
    const std::string& table = database_.catalog().table(change.table).name;
    switch (outcome) {
      case RowInstaller::Outcome::kOutOfMemory:
        return failed(
            "no memory is left to replay the record at LSN {}; nothing on disk was changed: recover with "
            "more memory",
            change.lsn.value);
      case RowInstaller::Outcome::kMissing:
      case RowInstaller::Outcome::kExists:
        return damaged(
            "replay stopped at LSN {}: a row of table {} that was to be {} is {} there; the log does not fit "
            "the "
            "checkpoint, or Mneme has a bug; nothing on disk was changed",
            change.lsn.value, table, outcome == RowInstaller::Outcome::kExists ? "inserted" : "changed",
            outcome == RowInstaller::Outcome::kExists ? "already" : "not");
      case RowInstaller::Outcome::kNoRow:
      case RowInstaller::Outcome::kInstalled:
        break;
    }
    return no_changes(change.lsn);
  }

  // Of several errors the earliest is reported: the later ones may be its consequence.
  bool fail(Lsn lsn, Error error) {
    const std::lock_guard lock(error_mutex_);
    if (!error_ || lsn < error_lsn_) {
      error_ = std::move(error);
      error_lsn_ = lsn;
    }
    has_failed_.store(true, std::memory_order_relaxed);
    return false;
  }

  Database& database_;
  const std::span<const RecordView> records_;
  const ReplayOptions& options_;
  const size_t batches_;
  std::deque<CachePadded<Thread>> threads_;
  // Orders what threads put into buckets before what their owners take out.
  std::barrier<> rendezvous_;
  // Set by who fails, read by all behind the rendezvous, which orders it: relaxed.
  std::atomic<bool> has_failed_{false};

  std::mutex error_mutex_;
  std::optional<Error> error_;  // guarded by error_mutex_ while threads run, as is the next
  Lsn error_lsn_;
};

}  // namespace

Result<ReplayStatistics> replay_shuffled(Database& database, std::span<const RecordView> records,
                                         const ReplayOptions& options) {
  return ShuffleReplay(database, records, options).replay();
}

}  // namespace mneme
