// AdvisoryLocks: the locks of pg_advisory_lock() and its kind, which clients take on numbers of their own.
//
// Flow        a session asks take() at intervals until it has the lock; end_block() and end_session() give up
//             what its block, or all that it, holds
// Invariants  A lock is held by one session exclusively, or shared by any. A session never waits for itself:
//             it may hold a lock several times, in both modes, and gives each holding up by itself.
//             Of the sessions that wait none waits for another in a circle: the last that would is refused.
// Threads     any.
// Not here    an order of those that wait: whichever asks first once the lock is free gets it. Nothing of it
//             is durable.
// Source      PostgreSQL 15, section 13.3.5.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>

namespace mneme {

class AdvisoryLocks {
 public:
  // A bigint, or two ints, which are never the same lock.
  struct Key {
    bool is_pair = false;
    int64_t number = 0;

    auto operator<=>(const Key&) const = default;
  };
  enum class Mode : uint8_t { kExclusive, kShared };
  // A holding ends when the session gives it up, or with the session's block.
  enum class Until : uint8_t { kGivenUp, kEndOfBlock };
  // kTooMany: kMostLocks are held.
  enum class Outcome : uint8_t { kTaken, kHeldByOthers, kDeadlock, kTooMany };
  static constexpr size_t kMostLocks = 100'000;

  // `waits`: the session asks again if others hold the lock, and counts as waiting for them until it has it,
  // or calls stop_waiting().
  Outcome take(uint32_t session, Key key, Mode mode, Until until, bool waits);
  void stop_waiting(uint32_t session);
  // Gives up one holding. Returns false if the session has none in this mode that it may give up.
  bool give_up(uint32_t session, Key key, Mode mode);
  // Gives up all holdings of this kind.
  void give_up_all(uint32_t session, Until until);
  void end_session(uint32_t session);

 private:
  struct Holdings {
    uint32_t counts[2][2] = {};  // by mode, and by what ends them

    bool has(Mode mode) const {
      return counts[static_cast<size_t>(mode)][0] + counts[static_cast<size_t>(mode)][1] > 0;
    }
    bool is_empty() const { return !has(Mode::kExclusive) && !has(Mode::kShared); }
  };
  struct Wish {
    Key key;
    Mode mode = Mode::kExclusive;
  };
  using Holders = std::map<uint32_t, Holdings>;  // by session

  // With mutex_ held.
  bool is_in_the_way(uint32_t holder, const Holdings& holdings, uint32_t session, Mode mode) const;
  // `seen`: the sessions that have been looked at.
  bool waits_for(uint32_t waiting, uint32_t session, std::set<uint32_t>& seen) const;

  std::mutex mutex_;  // guards what follows
  std::map<Key, Holders> locks_;
  std::map<uint32_t, Wish> wishes_;  // of the sessions that wait
};

}  // namespace mneme
