#include "recovery/standby/follower.h"

#include <algorithm>
#include <charconv>
#include <thread>

#include "base/clock.h"
#include "logging/directory/newest_manifest.h"
#include "logging/reading/log_truncation.h"
#include "recovery/database/data_directory.h"
#include "recovery/database/private_files.h"
#include "recovery/database/standby_base.h"

namespace mneme {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTakeLimit(50);
// For a log that was just read to its end, and a servers' answer.
constexpr milliseconds kFenceLimit(30'000);
constexpr milliseconds kReceiveLimit(1000);
// What a round is to take that keeps readers out.
constexpr uint64_t kRoundNanoseconds = 10'000'000;
constexpr size_t kLeastRoundRecords = 64;
// What readers have between two rounds, if one has kept some out: of a round's time, and at least. A server's
// session tries again after a millisecond.
constexpr uint64_t kReadersPart = 4;
constexpr uint64_t kLeastReadersNanoseconds = 1'500'000;

// Where the pieces begin that the directory does not hold; some before it hold nothing new.
Result<uint64_t> first_position(ReplicatedReader& reader, const Manifest& manifest) {
  const auto first = reader.first();
  if (!first.ok()) return first.error();
  const auto noted = manifest.attributes.find(kReceivedFromAttribute);
  if (noted == manifest.attributes.end()) return *first;
  uint64_t from = 0;
  const std::string& text = noted->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), from);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return damaged("the manifest's \"{}\" is no position: {}", kReceivedFromAttribute, text);
  }
  const auto log_end = reader.end();
  if (!log_end.ok()) return log_end.error();
  if (from >= *log_end) {
    return damaged(
        "the replicated log ends at position {}, before {}, up to where the standby has it: it is another "
        "log, or was made anew. "
        "Name the right one, or begin the standby anew with a copy of the primary's directory "
        "(docs/standby.md)",
        *log_end, from);
  }
  return std::max(*first, from);
}

}  // namespace

Result<void> check_can_be_read(const Manifest& manifest) {
  if (!default_scheme(manifest.records, manifest.tuple_image).builds_indexes_last) return {};
  return invalid_argument(
      "the log says where rows lie, and not by which keys they are found, so nothing can be read before all "
      "is "
      "replayed: a standby that is read follows a log of calls or of keys (--log command or logical)");
}

Result<std::unique_ptr<Follower>> Follower::open(const std::string& directory,
                                                 std::unique_ptr<ReplicatedReader> reader,
                                                 const FollowOptions& options) {
  const Result<Manifest> found = read_manifest(directory);
  if (!found) return found.error();
  Result<DirectoryLock> lock = DirectoryLock::for_work(directory);
  if (!lock) return lock.error();
  std::unique_ptr<Follower> follower(new Follower(std::move(*lock), options));
  Result<std::unique_ptr<ManifestFile>> manifest = ManifestFile::open(directory);
  if (!manifest) return manifest.error();
  follower->manifest_ = std::move(*manifest);
  const Result<bool> closed = close_to_others(directory);
  if (!closed) return closed.error();
  RETURN_IF_ERROR(check_is_newest(directory, follower->manifest_->current()));
  RETURN_IF_ERROR(adopt_base(*follower->manifest_));
  RETURN_IF_ERROR(remove_unlisted_files(*follower->manifest_));
  const Manifest current = follower->manifest_->current();
  const auto from = first_position(*reader, current);
  if (!from.ok()) return from.error();

  RecoverOptions recover;
  recover.scheme = &default_scheme(current.records, current.tuple_image);
  if (options.has_readers) RETURN_IF_ERROR(check_can_be_read(current));
  recover.indexes = false;
  recover.replay = options.standby.replay;
  recover.execution = options.standby.execution;
  recover.workers = options.standby.log.workers;
  recover.progress = options.progress;
  const NativeFolders folders = working_folders(directory);
  Result<RecoveredDatabase> recovered = recover_locked(directory, recover, folders);
  if (!recovered) return recovered.error();
  follower->recovered_ = recovered->report;
  follower->checkpointed_ = current.checkpoint_lsn;
  auto log = ReceivedLog::open(*follower->manifest_, recovered->log);
  if (!log.ok()) return log.error();
  follower->log_ = std::move(*log);
  follower->standby_ = std::make_unique<Standby>(std::move(*recovered), options.standby, folders);
  follower->replayed_lsn_ = follower->standby_->end().value;
  follower->replayed_position_ = *from;
  follower->reader_ = std::move(reader);
  follower->receiver_ =
      std::make_unique<LogReceiver>(*follower->reader_, *follower->log_, *from, options.ask_interval);
  return follower;
}

Result<void> Follower::run(const std::function<bool()>& ends) {
  while (!ends()) {
    const auto batches = receiver_->take(kTakeLimit);
    if (!batches.ok()) return batches.error();
    RETURN_IF_ERROR(replay(*batches));
    RETURN_IF_ERROR(take_checkpoint_if_due());
  }
  return {};
}

Result<void> Follower::end() {
  receiver_->stop();
  standby_->working()->standby_log().end();
  return log_->sync();
}

// One round.
Result<void> Follower::replay(const std::vector<ReceivedBatch>& batches) {
  if (batches.empty()) return {};
  const uint64_t begin_ns = monotonic_ns();
  std::vector<RecordView> records;
  for (const ReceivedBatch& batch : batches) {
    records.insert(records.end(), batch.records.records.begin(), batch.records.records.end());
  }
  const uint64_t before = replayed_records_.load(std::memory_order_relaxed);
  const auto progress = [&](uint64_t done, std::optional<Lsn> last) {
    replayed_records_.store(before + done, std::memory_order_relaxed);
    if (last) replayed_lsn_.store(last->value, std::memory_order_relaxed);
  };
  const auto statistics = advance(records, batches.back().records.end, progress);
  if (!statistics) return statistics.error();
  replayed_lsn_.store(standby_->end().value, std::memory_order_relaxed);
  replayed_records_.store(before + records.size(), std::memory_order_relaxed);
  transactions_.fetch_add(statistics->transactions, std::memory_order_relaxed);
  replayed_position_ = batches.back().end_position;
  receiver_->replayed(replayed_position_);
  if (!records.empty()) ++rounds_;
  replay_seconds_ += seconds_since(begin_ns);
  return {};
}

Result<ReplayStatistics> Follower::advance(std::span<const RecordView> records, Lsn end,
                                           const Replayer::Progress& progress) {
  if (!options_.has_readers) return standby_->advance(records, end, progress);
  ReplayStatistics total;
  SchemaLatch& latch = standby_->working()->schema_latch();
  do {
    const uint64_t begin_ns = monotonic_ns();
    const auto round = records.first(std::min(round_records_, records.size()));
    records = records.subspan(round.size());
    const uint64_t before = total.transactions;
    const auto replayed =
        standby_->advance(round, records.empty() ? end : records.front().lsn,
                          [&](uint64_t done, std::optional<Lsn> last) { progress(before + done, last); });
    if (!replayed) return replayed.error();
    total.add(*replayed);
    const uint64_t round_ns = monotonic_ns() - begin_ns;
    if (round.size() == round_records_) {
      if (round_ns < kRoundNanoseconds / 2) round_records_ *= 2;
      if (round_ns > kRoundNanoseconds) round_records_ = std::max(round_records_ / 2, kLeastRoundRecords);
    }
    if (latch.take_refused()) {
      std::this_thread::sleep_for(
          std::chrono::nanoseconds(std::max(round_ns / kReadersPart, kLeastReadersNanoseconds)));
    }
  } while (!records.empty());
  return total;
}

Result<void> Follower::replay_waiting() {
  const auto batches = receiver_->take(milliseconds(0));
  if (!batches.ok()) return batches.error();
  return replay(*batches);
}

Result<void> Follower::take_checkpoint_if_due() {
  const uint64_t since = standby_->end().value - std::min(checkpointed_, standby_->end()).value;
  if (options_.checkpoint_log_bytes == 0 || since < options_.checkpoint_log_bytes) return {};
  // The checkpoint removes segments, which may be all that holds the log below its LSN on this disk.
  RETURN_IF_ERROR(log_->sync());
  const auto taken = standby_->take_checkpoint(*manifest_);
  if (!taken) return taken.error();
  checkpointed_ = taken->lsn;
  ++checkpoints_;
  if (options_.checkpointed) options_.checkpointed(*taken);
  return {};
}

FollowLag Follower::lag() const {
  FollowLag lag;
  // Reads what was received first: then the replayed part is at least what it was at that time, and the lag
  // is never too small.
  const ReceivedLag received = receiver_->lag();
  lag.replayed = Lsn{replayed_lsn_.load(std::memory_order_relaxed)};
  const uint64_t records = replayed_records_.load(std::memory_order_relaxed);
  lag.total_transactions = transactions_.load(std::memory_order_relaxed);
  lag.log_end = std::max(received.received, lag.replayed);
  lag.bytes = lag.log_end.value - lag.replayed.value;
  lag.transactions = received.records - std::min(records, received.records);
  lag.unread = received.unread;
  lag.seconds = received.seconds;
  lag.trouble = received.trouble;
  return lag;
}

Result<std::optional<Promotion>> Follower::take_over(bool if_first) {
  const uint64_t before = transactions_.load(std::memory_order_relaxed);
  receiver_->stop();
  RETURN_IF_ERROR(replay_waiting());
  Promotion promotion;
  for (;;) {
    const std::vector<Incarnation> lives = manifest_->current().incarnations;
    const uint64_t newest = std::max<uint64_t>(log_->newest_term(), lives.empty() ? 0 : lives.back().number);
    const auto fenced = reader_->fence(newest + 1);
    if (fenced.ok()) {
      promotion.term = static_cast<uint32_t>(newest + 1);
      RETURN_IF_ERROR(receiver_->receive_through(*fenced, kFenceLimit));
      break;
    }
    // Perhaps a term has begun that has not come yet.
    const auto came = receiver_->receive(kReceiveLimit);
    if (!came.ok()) return came.error();
    if (!*came) return fenced.error();
    if (!if_first) continue;
    RETURN_IF_ERROR(replay_waiting());
    receiver_->go_on();
    return std::optional<Promotion>();
  }
  RETURN_IF_ERROR(replay_waiting());
  RETURN_IF_ERROR(log_->sync());
  log_ = nullptr;  // with its open file, which a reader would wait for
  promotion.transactions = transactions_.load(std::memory_order_relaxed) - before;
  return std::optional(promotion);
}

Result<std::optional<Promotion>> Follower::promote(How how) {
  const uint64_t begin_ns = monotonic_ns();
  Result<std::optional<Promotion>> promotion = take_over(how.if_first);
  if (!promotion || !*promotion) return promotion;
  const Result<LogContents> held =
      become_database(*manifest_, (*promotion)->term, standby_->end(), options_.standby.replay.threads);
  if (!held) return held.error();
  (*promotion)->end = held->end;
  if (how.in_place) RETURN_IF_ERROR(standby_->become_primary(std::move(lock_), std::move(manifest_), *held));
  (*promotion)->seconds = seconds_since(begin_ns);
  return promotion;
}

}  // namespace mneme
