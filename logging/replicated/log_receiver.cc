#include "logging/replicated/log_receiver.h"

#include <algorithm>

#include "base/back_off.h"

namespace mneme {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kReadLimit(100);
constexpr milliseconds kSyncInterval(1000);
constexpr uint32_t kIdleReads = 3;

}  // namespace

LogReceiver::LogReceiver(ReplicatedReader& reader, ReceivedLog& log, uint64_t from, milliseconds ask_interval)
    : reader_(reader),
      log_(log),
      ask_interval_(ask_interval),
      position_(from),
      next_position_(from),
      replayed_(from),
      thread_([this] { run(); }) {}

void LogReceiver::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void LogReceiver::go_on() {
  ends_ = false;
  thread_ = std::thread([this] { run(); });
}

void LogReceiver::run() {
  BackOff back_off(milliseconds(100), milliseconds(2000));
  while (wait_for_room()) {
    const Result<void> result = receive_in_turn();
    if (result.ok()) back_off.reset();
    std::unique_lock lock(mutex_);
    trouble_ = result.ok() ? "" : result.error().message;
    if (result.ok()) continue;
    if (result.error().kind != ErrorKind::kFailed) {
      error_ = result.error();
      changed_.notify_all();
      return;
    }
    changed_.wait_for(lock, back_off.next(), [this] { return ends_; });
  }
}

Result<void> LogReceiver::receive_in_turn() {
  RETURN_IF_ERROR(ask_if_due());
  RETURN_IF_ERROR(receive(kReadLimit));
  return sync_if_due();
}

// False: the thread is to end.
bool LogReceiver::wait_for_room() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ends_ || waiting_bytes_ < kMostWaitingBytes; });
  return !ends_;
}

Result<void> LogReceiver::ask_if_due() {
  const Clock::time_point now = Clock::now();
  if (now - asked_at_ < ask_interval_) return {};
  const auto end = reader_.end();
  if (!end.ok()) return end.error();
  asked_at_ = now;
  const std::lock_guard lock(mutex_);
  answered_at_ = now;
  if (*end > end_position_) {
    end_position_ = *end;
    idle_reads_ = 0;
    seen_.push_back({now, *end});
  }
  return {};
}

Result<bool> LogReceiver::receive(milliseconds limit) {
  auto pieces = reader_.read(position_, limit);
  if (!pieces.ok()) {
    if (pieces.error().kind != ErrorKind::kDamaged) return pieces.error();
    const auto first = reader_.first();
    if (!first.ok() || *first <= position_) return pieces.error();
    return damaged(
        "the replicated log begins at position {} by now, and the standby has it up to {}: what lies between "
        "was dropped, as a "
        "checkpoint of the primary's made it superfluous there; begin the standby anew with a copy of the "
        "primary's directory "
        "(docs/standby.md)",
        *first, position_);
  }
  if (pieces->empty()) {
    const std::lock_guard lock(mutex_);
    ++idle_reads_;
    forget_replayed();
    return false;
  }
  for (const ReplicatedPiece& piece : *pieces) RETURN_IF_ERROR(log_.take(piece));
  auto records = log_.take_records();
  if (!records.ok()) return records.error();
  position_ = pieces->back().position + 1;
  const Clock::time_point now = Clock::now();

  const std::lock_guard lock(mutex_);
  next_position_ = position_;
  came_at_ = now;
  idle_reads_ = 0;
  if (position_ > end_position_) {
    end_position_ = position_;
    seen_.push_back({now, position_});
  }
  received_ = records->end;
  records_ += records->records.size();
  waiting_bytes_ += records->bytes.size();
  waiting_.push_back({std::move(*records), position_});
  changed_.notify_all();
  return true;
}

Result<void> LogReceiver::sync_if_due() {
  const Clock::time_point now = Clock::now();
  if (now - synced_at_ < kSyncInterval) return {};
  synced_at_ = now;
  return log_.sync();
}

Result<std::vector<ReceivedBatch>> LogReceiver::take(milliseconds limit) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit, [this] { return !waiting_.empty() || error_; });
  if (waiting_.empty() && error_) return *error_;
  std::vector<ReceivedBatch> taken(std::make_move_iterator(waiting_.begin()),
                                   std::make_move_iterator(waiting_.end()));
  waiting_.clear();
  waiting_bytes_ = 0;
  changed_.notify_all();
  return taken;
}

void LogReceiver::replayed(uint64_t position) {
  const std::lock_guard lock(mutex_);
  replayed_ = position;
  forget_replayed();
}

void LogReceiver::forget_replayed() {
  const bool is_all = idle_reads_ >= kIdleReads && replayed_ == next_position_;
  while (!seen_.empty() && (is_all || seen_.front().end <= replayed_)) seen_.pop_front();
}

ReceivedLag LogReceiver::lag() const {
  const std::lock_guard lock(mutex_);
  ReceivedLag lag;
  lag.received = received_;
  lag.records = records_;
  if (idle_reads_ < kIdleReads && end_position_ > next_position_) lag.unread = end_position_ - next_position_;
  if (!seen_.empty()) lag.seconds = std::chrono::duration<double>(Clock::now() - seen_.front().at).count();
  lag.trouble = trouble_;
  return lag;
}

bool LogReceiver::is_silent(milliseconds limit) const {
  const std::lock_guard lock(mutex_);
  const bool is_all = idle_reads_ >= kIdleReads || end_position_ <= next_position_;
  // What lies between the two is known: neither this process nor the servers were away meanwhile.
  return came_at_ && is_all && trouble_.empty() && answered_at_ >= *came_at_ + limit;
}

Result<void> LogReceiver::receive_through(uint64_t position, milliseconds limit) {
  if (error_) return *error_;
  const Clock::time_point deadline = Clock::now() + limit;
  while (position_ <= position) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) {
      return failed(
          "the replicated log goes up to position {}, and nothing comes from {} on: see that its servers "
          "answer, and try "
          "again",
          position, position_);
    }
    RETURN_IF_ERROR(receive(std::min(left, kReadLimit)));
  }
  return {};
}

}  // namespace mneme
