#include "recovery/demand/demand_recovery.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
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

DemandRecovery::DemandRecovery(Database& database, Parts parts, uint32_t workers, uint32_t threads)
    : database_(database),
      parts_(std::move(parts)),
      workers_(workers),
      thread_count_(threads),
      share_interval_ns_(kFirstShareIntervalNs) {
  CHECK(threads > 0);
  for (uint32_t w = 0; w < workers; ++w) visitors_.push_back(std::make_unique<CachePadded<Visitor>>());
  report_.opening_seconds = parts_.opening_seconds;
  report_.lanes = parts_.replay->schedule().lane_count();
  report_.pieces = parts_.replay->schedule().piece_count();
}

DemandRecovery::~DemandRecovery() {
  is_stopped_.store(true, std::memory_order_relaxed);
  for (std::thread& thread : threads_) thread.join();
}

void DemandRecovery::start() {
  CHECK(threads_.empty());
  start_ns_ = next_share_ns_ = monotonic_ns();
  database_.set_gate(this);
  running_.store(thread_count_, std::memory_order_relaxed);
  for (uint32_t t = 0; t < thread_count_; ++t) threads_.emplace_back([this, t] { go_on(t); });
}

void DemandRecovery::go_on(uint32_t thread) {
  DemandReplay& replay = *parts_.replay;
  while (!is_stopped_.load(std::memory_order_relaxed) && replay.go_on(ReplayThreadId{workers_ + thread})) {
    if (thread == 0) note_share();
  }
  if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1 && !is_stopped_.load(std::memory_order_relaxed))
    end();
}

void DemandRecovery::note_share() {
  const DemandSchedule& schedule = parts_.replay->schedule();
  const double share =
      static_cast<double>(schedule.pieces_run()) / static_cast<double>(schedule.piece_count());
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

void DemandRecovery::end() {
  DemandSchedule& schedule = parts_.replay->schedule();
  const bool has_failed = schedule.has_failed();
  CHECK(has_failed || schedule.is_settled());
  report_.seconds = seconds_of(monotonic_ns() - start_ns_);
  report_.settled.push_back({report_.seconds, 1});
  if (!has_failed) {
    database_.set_gate(nullptr);
    is_settled_.store(true, std::memory_order_seq_cst);
    for (const auto& padded : visitors_) {
      const Visitor& visitor = **padded;
      while (visitor.is_inside.load(std::memory_order_seq_cst)) std::this_thread::yield();
      report_.waits += visitor.waits;
      report_.longest_wait_seconds =
          std::max(report_.longest_wait_seconds, seconds_of(visitor.longest_wait_ns));
    }
  }
  {
    const std::lock_guard lock(mutex_);
    report_.statistics = parts_.replay->statistics();
    if (has_failed) {
      error_ = parts_.replay->error();
      has_failed_.store(true, std::memory_order_release);
    } else {
      parts_.replay = nullptr;
      parts_.code = {};
      parts_.units = nullptr;
      parts_.graph = nullptr;
      log_ = {};
    }
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

bool DemandRecovery::settle(Visitor& visitor, WorkerId worker) {
  DemandReplay& replay = *parts_.replay;
  const auto is_settled = [&](const SettlingRules::Need& need) { return replay.is_settled(need); };
  if (std::ranges::all_of(visitor.needs, is_settled)) return true;
  const uint64_t begin_ns = monotonic_ns();
  if (!std::ranges::all_of(visitor.needs, [&](const auto& need) { return settle(need, worker); }))
    return false;
  ++visitor.waits;
  visitor.longest_wait_ns = std::max(visitor.longest_wait_ns, monotonic_ns() - begin_ns);
  return true;
}

// The worker replays a little itself, at once. It leaves more to the threads that replay the rest, and waits.
bool DemandRecovery::settle(const SettlingRules::Need& need, WorkerId worker) {
  DemandReplay& replay = *parts_.replay;
  for (;;) {
    const uint64_t begin_ns = monotonic_ns();
    const Settling settling =
        replay.try_settle(need, ReplayThreadId{worker.value}, parts_.most_pieces_of_worker);
    if (settling != Settling::kTooMuch) return settling == Settling::kSettled;
    replay.schedule().wish(need.block);
    const uint64_t end_ns = monotonic_ns();
    const uint64_t again_ns = end_ns + kRests * (end_ns - begin_ns);
    do {
      if (is_stopped_.load(std::memory_order_relaxed) || replay.schedule().has_failed()) return false;
      if (RowWait::must_end()) return false;
      std::this_thread::sleep_for(kSettledLook);
      if (replay.is_settled(need)) return true;
    } while (monotonic_ns() < again_ns);
  }
}

bool DemandRecovery::before_read(WorkerId worker, IndexId index, const KeyRange& range) {
  Visit visit(*this, worker);
  if (visit.is_settled()) return true;
  Visitor& visitor = visit.visitor();
  const IndexDefinition& definition = database_.catalog().index(index);
  if (!parts_.replay->rules().is_written(definition.table)) return true;
  database_.schema().codec(index).common_values(range, visitor.values);
  parts_.replay->rules().of_rows(definition.table,
                                 std::span(definition.columns).first(visitor.values.values.size()),
                                 visitor.values.values, visitor.needs);
  return settle(visitor, worker);
}

bool DemandRecovery::before_insert(WorkerId worker, TableId table, const std::byte* image) {
  Visit visit(*this, worker);
  if (visit.is_settled()) return true;
  parts_.replay->rules().of_insert(table, image, visit.visitor().needs);
  return settle(visit.visitor(), worker);
}

bool DemandRecovery::before_change(WorkerId worker, TableId table, ImageParts parts,
                                   std::span<const ColumnId> changes) {
  Visit visit(*this, worker);
  if (visit.is_settled()) return true;
  parts_.replay->rules().of_change(table, parts, changes, visit.visitor().needs);
  return settle(visit.visitor(), worker);
}

bool DemandRecovery::before_move(WorkerId worker, TableId table) {
  Visit visit(*this, worker);
  if (visit.is_settled()) return true;
  parts_.replay->rules().of_rows(table, {}, {}, visit.visitor().needs);
  parts_.replay->rules().of_coming_and_going(table, visit.visitor().needs);
  return settle(visit.visitor(), worker);
}

bool DemandRecovery::before_erase(WorkerId worker, TableId table) {
  Visit visit(*this, worker);
  if (visit.is_settled()) return true;
  parts_.replay->rules().of_coming_and_going(table, visit.visitor().needs);
  return settle(visit.visitor(), worker);
}

}  // namespace mneme
