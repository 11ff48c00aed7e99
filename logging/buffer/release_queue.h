// ReleaseQueue: regions of a log buffer that are to be released in position order. A worker that is done
// before its turn leaves its region to a predecessor that is not.
//
// Flow        join() under the tail's lock -> fill -> delegate(): true, and leave;
//             false: release the region, handoff(), and again for each delegated region that follows
// Invariants  regions join in position order and leave in it. A region is released by the thread that holds
//             the turn: its owner, or the thread that held it before. kTurn passes from a node to its
//             successor.
// Threads     join: the holder of the tail's lock. delegate: the region's owner. handoff: the holder of the
//             turn.
// Waiting     join() waits while kNodes regions are queued: with so many delegated to a stopped thread, the
//             others wait for it in the end. One time in 32 delegate() waits for its turn instead of leaving,
//             so that no thread releases for the others for ever (the treadmill).
// Source      Aether, section 5.2 and appendix A.6, Algorithm 5: Scott's abortable queue lock with Oyama's
//             combining. Nodes are taken under the lock, in the queue's order: so the queue is an array, a
//             node's successor is its neighbour, and the turn may wait there for a region that hasn't joined
//             yet.
#pragma once

#include <cstdint>
#include <memory>

#include "base/atomic.h"
#include "base/cache_line.h"
#include "logging/record/stream_position.h"

namespace mneme {

class ReleaseQueue {
 public:
  explicit ReleaseQueue(uint32_t nodes = kNodes);

  // Appends the region; returns its ticket.
  uint64_t join(StreamPosition begin, uint64_t bytes);
  // Returns whether another thread will release the region. `stay`: wait for the turn rather than leave.
  bool delegate(uint64_t ticket, bool stay);
  StreamPosition begin(uint64_t ticket) const { return node(ticket).begin; }
  uint64_t bytes(uint64_t ticket) const { return node(ticket).bytes; }
  // The region is released. Returns whether the next one is delegated, and the caller's to release.
  bool handoff(uint64_t ticket);

 private:
  static constexpr uint32_t kNodes = 4096;

  enum class Status : uint8_t {
    kFree,       // no region has joined here
    kWaiting,    // its owner fills it, or waits for its turn
    kDelegated,  // its owner has filled it and left
    kTurn,       // all before it are released: its owner, or the thread that joins here, may release it
  };
  struct Node {
    // Written by its owner (join, delegate) and by the holder of the turn before it; every change that they
    // may contend for is a read-modify-write. acq_rel: a delegated region's bytes become visible to the
    // thread that releases it, earlier releases to the thread that gets the turn.
    Atomic<Status> status{Status::kFree};
    // Written by join() before the status; read by the thread that releases it.
    StreamPosition begin;
    uint64_t bytes = 0;
  };

  Node& node(uint64_t ticket) const { return *nodes_[ticket % size_]; }

  const uint32_t size_;
  const std::unique_ptr<CachePadded<Node>[]> nodes_;
  uint64_t joined_ = 0;  // guarded by the tail's lock
  // Tickets below have left. Written by the holder of the turn (release, after it freed the node); read by
  // join() (acquire).
  CachePadded<Atomic<uint64_t>> left_{0};
};

}  // namespace mneme
