#include "recovery/database/standby_log.h"

#include "base/check.h"

namespace mneme {

StandbyLog::~StandbyLog() = default;

DirectoryLog& StandbyLog::own() const {
  DirectoryLog* const log = log_.load(std::memory_order_acquire);
  CHECK(log != nullptr);
  return *log;
}

void StandbyLog::replayed_to(Lsn end) {
  {
    const std::lock_guard lock(mutex_);
    replayed_.store(end.value, std::memory_order_relaxed);
  }
  changed_.notify_all();
}

void StandbyLog::go_on_with(std::unique_ptr<DirectoryLog> log) {
  CHECK(follows());
  {
    const std::lock_guard lock(mutex_);
    own_ = std::move(log);
    log_.store(own_.get(), std::memory_order_release);
  }
  changed_.notify_all();
}

void StandbyLog::end() {
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  changed_.notify_all();
}

bool StandbyLog::await_space(WorkerId worker, uint32_t payload_bytes) {
  return own().await_space(worker, payload_bytes);
}

Lsn StandbyLog::reserve(WorkerId worker, uint32_t payload_bytes) {
  return own().reserve(worker, payload_bytes);
}

void StandbyLog::fill(WorkerId worker, Lsn lsn, RecordKind kind, ByteSpan payload) {
  own().fill(worker, lsn, kind, payload);
}

bool StandbyLog::leaves_holes() const {
  return !follows() && own().leaves_holes();
}

Lsn StandbyLog::durable() const {
  return follows() ? Lsn{replayed_.load(std::memory_order_relaxed)} : own().durable();
}

bool StandbyLog::wait_durable(Lsn lsn) {
  {
    std::unique_lock lock(mutex_);
    const auto is_replayed = [&] { return lsn.value < replayed_.load(std::memory_order_relaxed); };
    changed_.wait(lock, [&] { return is_replayed() || has_ended_ || own_ != nullptr; });
    if (is_replayed()) return true;
    if (own_ == nullptr) return false;
  }
  return own().wait_durable(lsn);
}

std::optional<Error> StandbyLog::failure() const {
  return follows() ? std::nullopt : own().failure();
}

LogCounters StandbyLog::counters() const {
  return follows() ? LogCounters{} : own().counters();
}

std::optional<GroupCommit> StandbyLog::group() const {
  return follows() ? std::nullopt : own().group();
}

bool StandbyLog::wants_checkpoint() {
  return !follows() && own().wants_checkpoint();
}

const std::vector<std::string>& StandbyLog::notices() const {
  return follows() ? no_notices_ : own().notices();
}

}  // namespace mneme
