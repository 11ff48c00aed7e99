// GrasshopperList: one worker's records that are in the buffer and not yet confirmed, in position order, with
// a second list of places to hop to.
//
// Flow        the worker append()s a record to the c-list, and to the h-list when it is its first in its
//             range of 2^H bytes; the flusher peek()s and pop()s, or hop_to()s; the worker collect()s what is
//             durable.
// Invariants  in each of the two lists gc, head, tail name nodes in this order; those up to head are
//             confirmed.
//             Spec1  head == tail: the flusher does not move head, while the worker may move tail.
//             Spec2  gc at the last node below the SDL: the worker does not move gc, while the SDL may rise.
// Threads     ELEDA's Table 2. tail: written by the worker, read by the flusher. gc: the worker's alone.
//             head: the flusher's alone.
// Waiting     none. Nodes that are collected are used again, so that appending allocates only to reach a new
//             height.
// Source      ELEDA (Jung et al., PVLDB 2017), sections 4.1, 4.4 and 4.5, Table 2.
//
// Why a node may be used again although the flusher follows pointers to it. A node leaves when the one behind
// it is collected: that one lies below the SDL, so below the SBL, and the flusher had moved head on to it
// before it published the SBL. A hop's `before` is followed only for a range that begins at or past the
// boundary, whose first record the SBL has not reached: gc stands at `before` at the latest. A hop may become
// visible after the flusher has crawled past its record (the c-list comes first); then the flusher drops it
// with that worker's next record, and so the worker takes a hop back only once a record that came after it is
// collected.
#pragma once

#include <memory>
#include <vector>

#include "base/atomic.h"
#include "base/cache_line.h"
#include "base/check.h"
#include "logging/record/stream_position.h"

namespace mneme {

// The function to call once the record at `position` is durable.
struct CommitCallback {
  void (*function)(void* context, StreamPosition position) = nullptr;
  void* context = nullptr;
};

// A queue of one producer, which also takes the nodes back, and one consumer: Figure 4's head, tail and gc.
// The nodes at head and gc are consumed and collected already.
template <typename Item>
class PendingList {
 public:
  struct Node {
    Item item;
    Node* next = nullptr;  // written before tail leads past this node; also chains the nodes to use again
  };

  explicit PendingList(const Item& sentinel) : tail_(take_free()), gc_(tail()), head_(tail()) {
    gc_->item = sentinel;
  }

  // The producer's.
  void append(const Item& item) {
    Node* const node = take_free();
    node->item = item;
    node->next = nullptr;
    Node* const last = tail_.load(std::memory_order_relaxed);
    last->next = node;
    tail_.store(node, std::memory_order_release);
  }
  Node* last() const { return tail_.load(std::memory_order_relaxed); }
  // The oldest item that is not collected; null: there is none.
  const Item* oldest() const { return gc_ == last() ? nullptr : &gc_->next->item; }
  void collect_oldest() {
    DCHECK(gc_ != last());
    Node* const unused = gc_;
    gc_ = gc_->next;
    unused->next = free_;
    free_ = unused;
  }

  // The consumer's.
  Node* tail() const { return tail_.load(std::memory_order_acquire); }
  Node* head() const { return *head_; }
  // The oldest item that is not consumed; null: head has reached tail.
  const Item* first() const { return *head_ == tail() ? nullptr : &(*head_)->next->item; }
  void pop() {
    DCHECK(*head_ != tail());  // Spec1
    *head_ = (*head_)->next;
  }
  void move_head(Node* node) { *head_ = node; }

 private:
  static constexpr size_t kChunk = 256;

  Node* take_free() {
    if (free_ == nullptr) {
      chunks_.push_back(std::make_unique<Node[]>(kChunk));
      for (size_t i = 0; i < kChunk; ++i) {
        chunks_.back()[i].next = free_;
        free_ = &chunks_.back()[i];
      }
    }
    Node* const node = free_;
    free_ = node->next;
    return node;
  }

  std::vector<std::unique_ptr<Node[]>> chunks_;  // the producer's
  Node* free_ = nullptr;                         // the producer's
  // Written by the producer (release: the node, and its predecessor's link to it); read by the consumer
  // (acquire).
  Atomic<Node*> tail_;
  Node* gc_;                 // the producer's
  CachePadded<Node*> head_;  // the consumer's
};

class GrasshopperList {
 public:
  struct Record {
    StreamPosition begin;
    StreamPosition end;
    CommitCallback callback;
  };

  GrasshopperList(StreamPosition begin, uint32_t hop_shift)
      : hop_shift_(hop_shift),
        last_range_(begin.value >> hop_shift),
        records_({begin, begin, {}}),
        hops_({last_range_, begin, nullptr}) {}

  // The worker's: steps 1 and 2 of enqueuing (Figure 6).
  void append(const Record& record);
  // The worker's: collects records below `sdl` and invokes their callbacks. Returns how many it invoked.
  size_t collect(StreamPosition sdl);
  // The worker's: the same, up to the first record that has a callback.
  void collect_silent(StreamPosition sdl);

  // The flusher's: the first record that is not confirmed, and on to the next one.
  const Record* first() const { return records_.first(); }
  void pop();
  // The flusher's: every record that begins below the boundary, where this range begins, is in its worker's
  // list. Confirms this list's; returns the end of its last one.
  StreamPosition hop_to(uint64_t range);

 private:
  using Records = PendingList<Record>;
  struct Hop {
    uint64_t range = 0;
    StreamPosition first;             // the first record's begin in this range
    Records::Node* before = nullptr;  // the node before it
  };

  void collect_oldest();

  const uint32_t hop_shift_;
  uint64_t last_range_;    // the worker's: that of its last record, or of the buffer's begin
  Records records_;        // the c-list
  PendingList<Hop> hops_;  // the h-list
};

}  // namespace mneme
