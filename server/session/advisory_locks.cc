#include "server/session/advisory_locks.h"

#include <algorithm>

namespace mneme {

bool AdvisoryLocks::is_in_the_way(uint32_t holder, const Holdings& holdings, uint32_t session,
                                  Mode mode) const {
  if (holder == session) return false;
  return mode == Mode::kExclusive ? !holdings.is_empty() : holdings.has(Mode::kExclusive);
}

// Whether the one waits for the other, perhaps through further ones.
bool AdvisoryLocks::waits_for(uint32_t waiting, uint32_t session, std::set<uint32_t>& seen) const {
  const auto wish = wishes_.find(waiting);
  if (wish == wishes_.end() || !seen.insert(waiting).second) return false;
  const auto lock = locks_.find(wish->second.key);
  if (lock == locks_.end()) return false;
  return std::ranges::any_of(lock->second, [&](const auto& each) {
    const auto& [holder, holdings] = each;
    if (!is_in_the_way(holder, holdings, waiting, wish->second.mode)) return false;
    return holder == session || waits_for(holder, session, seen);
  });
}

AdvisoryLocks::Outcome AdvisoryLocks::take(uint32_t session, Key key, Mode mode, Until until, bool waits) {
  const std::lock_guard guard(mutex_);
  wishes_.erase(session);
  if (locks_.size() >= kMostLocks && !locks_.contains(key)) return Outcome::kTooMany;
  Holders& holders = locks_[key];
  const auto stands = [&](const auto& each) { return is_in_the_way(each.first, each.second, session, mode); };
  if (std::ranges::none_of(holders, stands)) {
    ++holders[session].counts[static_cast<size_t>(mode)][static_cast<size_t>(until)];
    return Outcome::kTaken;
  }
  if (!waits) return Outcome::kHeldByOthers;
  std::set<uint32_t> seen;
  for (const auto& each : holders) {
    if (stands(each) && waits_for(each.first, session, seen)) return Outcome::kDeadlock;
  }
  wishes_[session] = {key, mode};
  return Outcome::kHeldByOthers;
}

void AdvisoryLocks::stop_waiting(uint32_t session) {
  const std::lock_guard guard(mutex_);
  wishes_.erase(session);
}

bool AdvisoryLocks::give_up(uint32_t session, Key key, Mode mode) {
  const std::lock_guard guard(mutex_);
  const auto lock = locks_.find(key);
  if (lock == locks_.end()) return false;
  const auto held = lock->second.find(session);
  if (held == lock->second.end()) return false;
  uint32_t& count = held->second.counts[static_cast<size_t>(mode)][static_cast<size_t>(Until::kGivenUp)];
  if (count == 0) return false;
  --count;
  if (held->second.is_empty()) lock->second.erase(held);
  if (lock->second.empty()) locks_.erase(lock);
  return true;
}

void AdvisoryLocks::give_up_all(uint32_t session, Until until) {
  const std::lock_guard guard(mutex_);
  for (auto lock = locks_.begin(); lock != locks_.end();) {
    if (const auto held = lock->second.find(session); held != lock->second.end()) {
      for (auto& of_mode : held->second.counts) of_mode[static_cast<size_t>(until)] = 0;
      if (held->second.is_empty()) lock->second.erase(held);
    }
    lock = lock->second.empty() ? locks_.erase(lock) : std::next(lock);
  }
}

void AdvisoryLocks::end_session(uint32_t session) {
  stop_waiting(session);
  give_up_all(session, Until::kGivenUp);
  give_up_all(session, Until::kEndOfBlock);
}

}  // namespace mneme
