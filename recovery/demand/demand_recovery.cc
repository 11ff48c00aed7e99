#include "recovery/demand/demand_recovery.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "base/parallel.h"
#include "engine/table/row_wait.h"

namespace mneme {

namespace {

constexpr uint64_t kFirstShareIntervalNs = 1'000'000;
constexpr size_t kMostShares = 400;
// A worker for which a row takes too much tries again after so many times what its last attempt took: the
// processor belongs to the threads that replay in bulk.
constexpr uint64_t kRests = 8;
// Meanwhile it looks so often whether the row is settled.
constexpr std::chrono::microseconds kSettledLook{500};

// Bulk's rate is not known before: the first batches find all caches cold.
constexpr uint64_t kLeastBulkNs = 50'000'000;

double seconds_of(uint64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

}  // namespace

// A worker's time in the gate.
class DemandRecovery::Visit {
 public:
  Visit(DemandRecovery& recovery, WorkerId worker) : visitor_(**recovery.visitors_[worker.value]) {
    visitor_.is_inside.store(true, std::memory_order_seq_cst);
    is_settled_ = recovery.is_settled_.load(std::memory_order_seq_cst);
    visitor_.needs.clear();
  }
  ~Visit() { visitor_.is_inside.store(false, std::memory_order_release); }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  bool is_settled() const { return is_settled_; }
  Visitor& visitor() { return visitor_; }

 private:
  Visitor& visitor_;
  bool is_settled_;
};

DemandRecovery::DemandRecovery(Database& database, std::unique_ptr<BulkReplay> bulk,
                               std::unique_ptr<DemandOpener> opener, Setting setting,
                               std::unique_ptr<UnloadedBase> base)
    : database_(database),
      setting_(setting),
      base_(std::move(base)),
      bulk_(std::move(bulk)),
      opener_(std::move(opener)),
      share_interval_ns_(kFirstShareIntervalNs) {
  CHECK(setting_.threads > 0);
  for (uint32_t w = 0; w < setting_.workers; ++w)
    visitors_.push_back(std::make_unique<CachePadded<Visitor>>());
  if (base_ == nullptr) return;
  report_.base_chunks = base_->chunk_count();
  database_.set_unloaded(base_.get());
}

DemandRecovery::~DemandRecovery() {
  is_stopped_.store(true, std::memory_order_relaxed);
  if (first_.joinable()) first_.join();
  for (std::thread& thread : threads_) thread.join();
}

void DemandRecovery::start() {
  CHECK(!first_.joinable());
  start_ns_ = next_share_ns_ = monotonic_ns();
  database_.set_gate(this);
  first_ = std::thread([this] { replay(); });
}

void DemandRecovery::replay() {
  uint64_t done = 0;
  if (bulk_ != nullptr) {
    const bool is_whole = load_base();
    if (is_stopped_.load(std::memory_order_relaxed)) return;
    if (!is_base_sound()) return fail(base_->error());
    if (is_whole) {
      const Result<uint64_t> replayed = replay_in_bulk();
      if (!replayed) return fail(replayed.error());
      if (is_stopped_.load(std::memory_order_relaxed)) return;
      done = *replayed;
    }
  }
  if (done == opener_->record_count()) {
    load_rest_of_base();
    if (is_stopped_.load(std::memory_order_relaxed)) return;
    return finish_base() ? end() : fail(base_->error());
  }
  if (!is_open_.load(std::memory_order_acquire)) {
    if (const Result<void> opened = open(done); !opened)
      return fail(is_base_sound() ? opened.error() : base_->error());
  }
  running_.store(setting_.threads, std::memory_order_relaxed);
  for (uint32_t t = 1; t < setting_.threads; ++t) threads_.emplace_back([this, t] { go_on(t); });
  go_on(0);
}

// Returns whether all of it is loaded, and not left for those who ask.
bool DemandRecovery::load_base() {
  if (base_ == nullptr) return true;
  std::atomic<bool> is_left{false};  // relaxed: joining the threads orders it
  for_each_in_parallel(setting_.threads, setting_.threads, [&](size_t) {
    do {
      if (is_base_enough()) return is_left.store(true, std::memory_order_relaxed);
    } while (base_->load_next());
  });
  return !is_left.load(std::memory_order_relaxed) && finish_base();
}

bool DemandRecovery::is_base_enough() {
  if (is_stopped_.load(std::memory_order_relaxed)) return true;
  if (!is_asked_.load(std::memory_order_acquire)) return false;
  if (setting_.most_bulk_seconds == 0) return true;
  const uint64_t passed_ns = monotonic_ns() - start_ns_;
  const uint64_t loaded = base_->loaded_count();
  if (passed_ns < kLeastBulkNs || loaded == 0) return false;
  const auto left = static_cast<double>(base_->chunk_count() - loaded);
  return left * seconds_of(passed_ns) / static_cast<double>(loaded) > setting_.most_bulk_seconds;
}

// All chunks have been begun. False: loading has failed.
bool DemandRecovery::finish_base() {
  if (base_ == nullptr || report_.base_seconds > 0) return true;
  if (!base_->finish()) return false;
  report_.base_seconds = seconds_of(monotonic_ns() - start_ns_);
  report_.base_wanted = base_->wanted_count();
  return true;
}

// Ends where loading fails.
void DemandRecovery::load_rest_of_base() {
  if (base_ == nullptr) return;
  while (!is_stopped_.load(std::memory_order_relaxed) && base_->load_next()) {
  }
}

// Returns how many records were replayed.
Result<uint64_t> DemandRecovery::replay_in_bulk() {
  const uint64_t begin_ns = monotonic_ns();
  const size_t notices = bulk_->report().notices.size();
  const Result<ReplayStatistics> replayed = bulk_->run([this](uint64_t so_far) {
    note_share(static_cast<double>(so_far) / static_cast<double>(opener_->record_count()));
    return is_bulk_enough(so_far);
  });
  if (!replayed) return replayed.error();
  report_.bulk_transactions = replayed->transactions;
  report_.bulk_seconds = seconds_of(monotonic_ns() - begin_ns);
  report_.statistics = *replayed;
  const std::vector<std::string>& all = bulk_->report().notices;
  report_.notices.assign(all.begin() + static_cast<std::ptrdiff_t>(notices), all.end());
  return replayed->transactions;
}

// Decides once, as soon as it can: later, less would be left to gain.
bool DemandRecovery::is_bulk_enough(uint64_t done) {
  if (is_stopped_.load(std::memory_order_relaxed)) return true;
  const uint64_t now_ns = monotonic_ns();
  if (rate_from_records_ == 0) {
    rate_from_records_ = done;
    rate_from_ns_ = now_ns;
  }
  if (!is_asked_.load(std::memory_order_acquire) || is_decided_) return false;
  if (setting_.most_bulk_seconds == 0) return true;
  const uint64_t records = done - rate_from_records_;
  const uint64_t passed_ns = now_ns - rate_from_ns_;
  if (records == 0 || passed_ns < kLeastBulkNs) return false;
  is_decided_ = true;
  const double bulk = seconds_of(passed_ns) / static_cast<double>(records);
  const auto left = static_cast<double>(opener_->record_count() - done);
  return left * bulk > setting_.most_bulk_seconds && bulk > kLeastGain * opener_->seconds_a_record();
}

Result<void> DemandRecovery::open(uint64_t first) {
  std::call_once(is_prepared_, [this] { opener_->prepare(); });
  const uint64_t begin_ns = monotonic_ns();
  Result<OpenedDemand> opened = opener_->open(first);
  if (!opened) return opened.error();
  opened_ = std::move(*opened);
  report_.opening_seconds = seconds_of(monotonic_ns() - begin_ns);
  report_.lanes = opened_.replay->schedule().lane_count();
  report_.pieces = opened_.replay->schedule().piece_count();
  is_open_.store(true, std::memory_order_release);
  return {};
}

void DemandRecovery::go_on(uint32_t thread) {
  DemandReplay& replay = *opened_.replay;
  load_rest_of_base();
  // A failure ends the next loop, too, and then counts.
  if (thread == 0 && !is_stopped_.load(std::memory_order_relaxed)) (void)finish_base();
  while (!is_stopped_.load(std::memory_order_relaxed) && is_base_sound() &&
         replay.go_on(ReplayThreadId{setting_.workers + thread})) {
    if (thread == 0) note_share(share_of_pieces());
  }
  if (running_.fetch_sub(1, std::memory_order_acq_rel) != 1 || is_stopped_.load(std::memory_order_relaxed))
    return;
  // What replay fails by may come of it.
  if (!is_base_sound()) return fail(base_->error());
  if (replay.schedule().has_failed()) return fail(replay.error());
  end();
}

double DemandRecovery::share_of_pieces() const {
  const DemandSchedule& schedule = opened_.replay->schedule();
  const double before =
      static_cast<double>(report_.bulk_transactions) / static_cast<double>(opener_->record_count());
  return before + (1 - before) * static_cast<double>(schedule.pieces_run()) /
                      static_cast<double>(schedule.piece_count());
}

void DemandRecovery::note_share(double share) {
  share_.store(share, std::memory_order_relaxed);
  const uint64_t now = monotonic_ns();
  if (now < next_share_ns_) return;
  std::vector<SettledShare>& shares = report_.settled;
  shares.push_back({seconds_of(now - start_ns_), share});
  if (shares.size() == kMostShares) {
    for (size_t i = 0; i < kMostShares / 2; ++i) shares[i] = shares[2 * i];
    shares.resize(kMostShares / 2);
    share_interval_ns_ *= 2;
  }
  next_share_ns_ = now + share_interval_ns_;
}

// Those who wait see it, and give up.
void DemandRecovery::fail(Error error) {
  {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    has_failed_.store(true, std::memory_order_release);
    has_ended_ = true;
  }
  changed_.notify_all();
}

void DemandRecovery::end() {
  CHECK(opened_.replay == nullptr || opened_.replay->schedule().is_settled());
  report_.seconds = seconds_of(monotonic_ns() - start_ns_);
  report_.settled.push_back({report_.seconds, 1});
  database_.set_gate(nullptr);
  is_settled_.store(true, std::memory_order_seq_cst);
  for (const auto& padded : visitors_) {
    const Visitor& visitor = **padded;
    while (visitor.is_inside.load(std::memory_order_seq_cst)) std::this_thread::yield();
    report_.waits += visitor.waits;
    report_.longest_wait_seconds =
        std::max(report_.longest_wait_seconds, seconds_of(visitor.longest_wait_ns));
  }
  if (opened_.replay != nullptr) report_.statistics.add(opened_.replay->statistics());
  {
    const std::lock_guard lock(mutex_);
    // Each needs the next.
    opened_.replay = nullptr;
    opened_ = {};
    opener_ = nullptr;
    bulk_ = nullptr;
    database_.set_unloaded(nullptr);
    base_ = nullptr;
    log_ = {};
    has_ended_ = true;
  }
  changed_.notify_all();
}

Result<void> DemandRecovery::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return has_ended_; });
  if (error_) return *error_;
  return {};
}

// While the log is replayed in bulk, what it does not change may be read.
DemandRecovery::Pass DemandRecovery::enter(Visit& visit, TableId table, bool reads) {
  if (visit.is_settled()) return Pass::kGo;
  if (is_open_.load(std::memory_order_acquire)) return Pass::kSettle;
  if (reads && !opener_->is_written(table)) return Pass::kGo;
  const uint64_t begin_ns = monotonic_ns();
  std::call_once(is_prepared_, [this] { opener_->prepare(); });
  is_asked_.store(true, std::memory_order_release);
  for (;;) {
    const bool is_open = is_open_.load(std::memory_order_acquire);
    if (is_open || is_settled()) {
      note_wait(visit.visitor(), begin_ns);
      return is_open ? Pass::kSettle : Pass::kGo;
    }
    if (is_stopped_.load(std::memory_order_relaxed) || has_failed() || RowWait::must_end())
      return Pass::kGiveUp;
    std::this_thread::sleep_for(kSettledLook);
  }
}

void DemandRecovery::note_wait(Visitor& visitor, uint64_t begin_ns) {
  ++visitor.waits;
  visitor.longest_wait_ns = std::max(visitor.longest_wait_ns, monotonic_ns() - begin_ns);
}

bool DemandRecovery::settle(Visitor& visitor, WorkerId worker) {
  DemandReplay& replay = *opened_.replay;
  const auto is_settled = [&](const SettlingRules::Need& need) { return replay.is_settled(need); };
  if (std::ranges::all_of(visitor.needs, is_settled)) return true;
  const uint64_t begin_ns = monotonic_ns();
  if (!std::ranges::all_of(visitor.needs, [&](const auto& need) { return settle(need, worker); }))
    return false;
  note_wait(visitor, begin_ns);
  return true;
}

// The worker replays a little itself, at once. It leaves more to the threads that replay the rest, and waits.
bool DemandRecovery::settle(const SettlingRules::Need& need, WorkerId worker) {
  DemandReplay& replay = *opened_.replay;
  for (;;) {
    const uint64_t begin_ns = monotonic_ns();
    const Settling settling = replay.try_settle(need, ReplayThreadId{worker.value}, most_pieces());
    if (settling != Settling::kTooMuch) return settling == Settling::kSettled;
    replay.schedule().wish(need.block);
    const uint64_t end_ns = monotonic_ns();
    const uint64_t again_ns = end_ns + kRests * (end_ns - begin_ns);
    do {
      if (is_stopped_.load(std::memory_order_relaxed) || replay.schedule().has_failed() || has_failed())
        return false;
      if (RowWait::must_end()) return false;
      std::this_thread::sleep_for(kSettledLook);
      if (replay.is_settled(need)) return true;
    } while (monotonic_ns() < again_ns);
  }
}

// While threads load the base, nothing comes of a wish.
uint64_t DemandRecovery::most_pieces() const {
  const bool is_loaded = base_ == nullptr || base_->loaded_count() == base_->chunk_count();
  return setting_.most_pieces_of_worker * (is_loaded ? 1 : kTimesMoreBeforeLoaded);
}

bool DemandRecovery::load_equals(TableId id, const std::byte* image) {
  for (const TableIndex& index : database_.table(id).indexes()) {
    if (!index.is_unique) continue;
    const IndexKey key = index.codec->of_row(image, 0);
    if (!load(index.id, {key, key})) return false;
  }
  return is_base_sound();
}

bool DemandRecovery::before_read(WorkerId worker, IndexId index, const KeyRange& range) {
  Visit visit(*this, worker);
  const IndexDefinition& definition = database_.catalog().index(index);
  const Pass pass = enter(visit, definition.table, true);
  if (pass == Pass::kGiveUp) return false;
  if (visit.is_settled()) return true;
  if (pass == Pass::kSettle && opened_.replay->rules().is_written(definition.table)) {
    Visitor& visitor = visit.visitor();
    database_.schema().codec(index).common_values(range, visitor.values);
    opened_.replay->rules().of_rows(definition.table,
                                    std::span(definition.columns).first(visitor.values.values.size()),
                                    visitor.values.values, visitor.needs);
    if (!settle(visitor, worker)) return false;
  }
  return load(index, range);
}

bool DemandRecovery::before_insert(WorkerId worker, TableId table, const std::byte* image) {
  Visit visit(*this, worker);
  const Pass pass = enter(visit, table, false);
  if (pass == Pass::kGiveUp) return false;
  if (visit.is_settled()) return true;
  if (pass == Pass::kSettle) {
    opened_.replay->rules().of_insert(table, image, visit.visitor().needs);
    if (!settle(visit.visitor(), worker)) return false;
  }
  return load_equals(table, image);
}

bool DemandRecovery::before_change(WorkerId worker, TableId table, ImageParts parts,
                                   std::span<const ColumnId> changes) {
  Visit visit(*this, worker);
  const Pass pass = enter(visit, table, false);
  if (pass != Pass::kSettle) return pass == Pass::kGo;
  opened_.replay->rules().of_change(table, parts, changes, visit.visitor().needs);
  return settle(visit.visitor(), worker) && is_base_sound();
}

bool DemandRecovery::before_move(WorkerId worker, TableId table) {
  Visit visit(*this, worker);
  const Pass pass = enter(visit, table, false);
  if (pass == Pass::kGiveUp) return false;
  if (visit.is_settled()) return true;
  if (pass == Pass::kSettle) {
    opened_.replay->rules().of_rows(table, {}, {}, visit.visitor().needs);
    opened_.replay->rules().of_coming_and_going(table, visit.visitor().needs);
    if (!settle(visit.visitor(), worker)) return false;
  }
  // The row gets a key that is not known here.
  return base_ == nullptr || base_->load_all(table);
}

bool DemandRecovery::before_erase(WorkerId worker, TableId table) {
  Visit visit(*this, worker);
  const Pass pass = enter(visit, table, false);
  if (pass != Pass::kSettle) return pass == Pass::kGo;
  opened_.replay->rules().of_coming_and_going(table, visit.visitor().needs);
  return settle(visit.visitor(), worker) && is_base_sound();
}

}  // namespace mneme
