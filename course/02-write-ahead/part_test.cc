// Goal: nothing is acknowledged before it is durable, and all that is durable is. Method: small queues by
// hand, then random ones against a list.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "course/grading.h"
#include "logging/commit/ack_queue.h"

namespace {
size_t allocations = 0;
}

void* operator new(size_t bytes) {
  ++allocations;
  void* memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace mneme::course {
namespace {

using Tags = std::vector<uint64_t>;

Tags poll(AckQueue& queue, uint64_t durable) {
  Tags tags;
  // A queue that never stops releasing is stopped here.
  const auto take = [&](const AckQueue::Entry& entry) {
    tags.push_back(entry.tag);
    if (tags.size() < 5000) return;
    ADD_FAILURE() << broken("Each reply leaves once.", "The client gets replies without end.");
    throw std::runtime_error("poll() never ends");
  };
  const size_t released = queue.poll(Lsn{durable}, take);
  EXPECT_EQ(released, tags.size()) << broken(
      "poll() returns how many it released.",
      "Nothing is lost, but a worker that waits for so many replies would wait for too many.");
  return tags;
}

void push(AckQueue& queue, uint64_t lsn, uint64_t tag) {
  queue.push({Lsn{lsn}, 0, tag});
}

TEST(AckQueue, AReplyLeavesOnlyOnceItsRecordIsDurable) {
  AckQueue queue(4);
  push(queue, 100, 1);
  push(queue, 200, 2);
  EXPECT_EQ(poll(queue, 64), (Tags{})) << broken(
      "A reply leaves only once its record is durable: nothing below LSN 64 is durable here, and the records "
      "are at 100 and 200.",
      "The client is told that its transfer is done. Then the power fails, and the money is where it was.");
  EXPECT_EQ(poll(queue, 100), (Tags{})) << broken(
      "The record at `lsn` is durable if and only if lsn < durable. Durable up to 100 means that the bytes "
      "before 100 are safe; the record that begins at 100 is not.",
      "The last transaction before each flush is acknowledged too early, and lost if the power fails just "
      "then. A test that never fails at this moment does not notice.");
  EXPECT_EQ(poll(queue, 200), (Tags{1})) << broken(
      "Durable up to 200, the reply of the record at 100 leaves, and that of the record at 200 stays.",
      "If neither leaves, the first client waits for ever. If both leave, the second client is told of "
      "a transaction that a crash can still take.");
  EXPECT_EQ(poll(queue, 201), (Tags{2})) << broken("A reply leaves once its record is durable.",
                                                   "Nothing is lost, but the client waits for ever.");
}

TEST(AckQueue, NoReplyOvertakesAnother) {
  AckQueue queue(4);
  push(queue, 300, 1);
  push(queue, 50, 2);  // it wrote nothing, and read only what was durable long ago
  push(queue, 400, 3);
  EXPECT_EQ(poll(queue, 299), (Tags{})) << broken(
      "No reply overtakes another: entries leave in the order they came, although the second could leave by "
      "its own LSN.",
      "A client takes replies in the order of its calls, so it takes the second one's for the first one's, "
      "and the first may be lost.");
  EXPECT_EQ(poll(queue, 399), (Tags{1, 2})) << broken("What waited behind another leaves together with it.",
                                                      "Nothing is lost, but replies are late.");
}

TEST(AckQueue, NumbersInTheQueueNeedNotRise) {
  AckQueue queue(8);
  push(queue, 100, 1);
  push(queue, 900, 2);  // it wrote nothing, and read a row of the transaction at 900, of another worker
  push(queue, 200, 3);
  push(queue, 300, 4);
  EXPECT_EQ(poll(queue, 500), (Tags{1})) << broken(
      "LSNs in the queue need not rise: an entry whose own LSN is durable waits for those before it.",
      "A reader reports what the crash then takes back: it has seen a transaction that never happened.");
  EXPECT_EQ(poll(queue, 901), (Tags{2, 3, 4}))
      << broken("All that may leave leaves.", "Nothing is lost, but replies are late.");
}

TEST(AckQueue, EachReplyLeavesOnce) {
  AckQueue queue(4);
  push(queue, 100, 1);
  EXPECT_EQ(poll(queue, 101), (Tags{1}))
      << broken("A durable transaction is acknowledged.", "Nothing is lost, but the client waits for ever.");
  EXPECT_EQ(poll(queue, 101), (Tags{}))
      << broken("Each reply leaves once.",
                "The client takes the second reply for that of its next call, which may be "
                "lost.");
  EXPECT_TRUE(queue.empty()) << broken("What has left is gone.",
                                       "Nothing is lost, but the queue fills, and the worker stops.");
}

TEST(AckQueue, AFullQueueSaysSoAndOverwritesNothing) {
  AckQueue queue(4);
  Tags all;
  Tags expected;
  uint64_t pushed = 0;
  for (int round = 0; round < 50; ++round) {
    while (!queue.full()) {
      ASSERT_LE(queue.size(), 4u) << broken(
          "A queue for 4 entries is full with 4: only a bounded queue makes the worker wait for the device.",
          "Where the fifth entry overwrites the first, that client never gets its reply. Where memory is "
          "taken "
          "for it, the queue takes all memory when the device is slower than the workers.");
      push(queue, 64 + pushed, pushed);
      expected.push_back(pushed++);
    }
    ASSERT_EQ(queue.size(), 4u) << broken(
        "full() says that no more has room, and size() how many wait: when full() says so of a queue for 4 "
        "entries, size() is 4.",
        "Nothing is lost, but a worker that takes its queue for full too early waits for the device in "
        "vain.");
    EXPECT_EQ(queue.front().tag, pushed - 4)
        << broken("front() is the entry that leaves next.",
                  "Nothing is lost, but a worker whose queue is full waits for the wrong record.");
    for (const uint64_t tag : poll(queue, 64 + pushed - 1)) all.push_back(tag);
  }
  for (const uint64_t tag : poll(queue, 64 + pushed)) all.push_back(tag);
  EXPECT_EQ(all, expected) << broken(
      "The ring goes round: each entry leaves, in order, also when the places are used again.",
      "The replies whose entries were overwritten are lost: their clients wait for ever.");
}

TEST(AckQueue, TheCapacityIsRoundedUpToAPowerOfTwo) {
  AckQueue queue(5);
  Tags expected;
  for (uint64_t i = 0; i < 8; ++i) {
    ASSERT_FALSE(queue.full()) << broken(
        "Room for 5 is rounded up to 8: the place of an entry is its number modulo the size, and for a power "
        "of two that is an `and`.",
        "Nothing is lost, but the caller was promised room.");
    push(queue, 64 + i, i);
    expected.push_back(i);
  }
  EXPECT_TRUE(queue.full()) << broken("Room for 5 is 8 places, not more.",
                                      "The bound is lost: the queue grows when the device is slow.");
  EXPECT_EQ(poll(queue, 1000), expected) << broken(
      "Each entry has a place of its own.",
      "Replies are lost: `n & (size - 1)` is n modulo size only if size is a power of two. For 5 it uses "
      "two places, over and over.");
}

TEST(AckQueue, APushTakesNoMemory) {
  AckQueue queue(64);
  size_t released = 0;
  const auto count = [&](const AckQueue::Entry&) { ++released; };
  const size_t before = allocations;
  for (uint64_t i = 0; i < 10000; ++i) {
    push(queue, 64 + i, i);
    if (i % 32 == 31) queue.poll(Lsn{64 + i}, count);
  }
  EXPECT_EQ(allocations - before, 0u) << broken(
      "A push takes no memory: the constructor takes it all.",
      "Nothing is lost, but each transaction would pay for it, and workers would meet in the allocator.");
}

TEST(AckQueue, RandomQueuesAreAsTheListSays) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    AckQueue queue(1 + random() % 20);
    std::deque<AckQueue::Entry> model;
    uint64_t durable = 64;
    for (uint64_t step = 0; step < 200; ++step) {
      if (random() % 3 != 0 && !queue.full()) {
        const AckQueue::Entry entry{Lsn{durable + random() % 100}, 0, step};
        queue.push(entry);
        model.push_back(entry);
        continue;
      }
      durable += random() % 60;
      Tags expected;
      while (!model.empty() && model.front().lsn < Lsn{durable}) {
        expected.push_back(model.front().tag);
        model.pop_front();
      }
      ASSERT_EQ(poll(queue, durable), expected) << broken(
          "What leaves at a durable LSN is the longest run from the front whose LSNs are all below it "
          "(seed " +
              std::to_string(seed) + ").",
          "Replies that leave too early can be lost; those that leave too late are late.");
    }
  }
}

}  // namespace
}  // namespace mneme::course
