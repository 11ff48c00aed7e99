// Goal: durable is what can be known of flushes that end in any order, well or badly, and no more. Method:
// small histories by hand, then random ones, held against the definition.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "course/grading.h"
#include "logging/device/flush_order.h"

namespace mneme::course {
namespace {

constexpr StreamPosition kBegin{64};

StreamPosition at(uint64_t position) {
  return StreamPosition{position};
}

// Three flushes in flight: up to 100, 200 and 300.
struct ThreeInFlight {
  explicit ThreeInFlight(uint32_t slots = 4) : order(kBegin, slots) {
    first = order.send(at(100));
    second = order.send(at(200));
    third = order.send(at(300));
  }
  FlushOrder order;
  uint32_t first = 0;
  uint32_t second = 0;
  uint32_t third = 0;
};

// All slots were in use, and the third flush has ended: its slot is free, while it waits for those before it.
struct ThirdHasEnded : ThreeInFlight {
  ThirdHasEnded() : ThreeInFlight(3) { order.ended(third, true); }
};

TEST(FlushOrder, NothingIsDurableBeforeAFlushHasEnded) {
  ThreeInFlight flushes;
  EXPECT_EQ(flushes.order.durable().value, 64u)
      << broken("A flush that was sent has not ended: the log is durable up to where it began.",
                "Clients are told that their transactions are safe while the device is still at work.");
}

TEST(FlushOrder, AFlushThatEndsMakesItsRecordsDurable) {
  ThreeInFlight flushes;
  flushes.order.ended(flushes.first, true);
  EXPECT_EQ(flushes.order.durable().value, 100u)
      << broken("Once the first flush has ended, the log is durable up to its end.",
                "Nothing is lost, but clients wait for flushes that are none of theirs.");
}

TEST(FlushOrder, AFlushThatEndsEarlyMakesNothingBeforeItDurable) {
  ThreeInFlight flushes;
  flushes.order.ended(flushes.third, true);
  EXPECT_EQ(flushes.order.durable().value, 64u) << broken(
      "A flush that ends early makes nothing durable before those before it have ended. Here the "
      "third of three has ended, up to 300.",
      "The power fails, and the first flush never happened. Recovery stops at the gap: all that was "
      "acknowledged behind it is gone.");
  flushes.order.ended(flushes.first, true);
  EXPECT_EQ(flushes.order.durable().value, 100u) << broken(
      "Only the flushes before the first gap count. Here the first and the third have ended, and the "
      "second, from 100 to 200, has not.",
      "The power fails, and the second flush never happened. What was acknowledged from 100 on is "
      "gone.");
}

TEST(FlushOrder, TheOneThatWasMissingBringsAllBehindIt) {
  ThreeInFlight flushes;
  flushes.order.ended(flushes.third, true);
  flushes.order.ended(flushes.second, true);
  flushes.order.ended(flushes.first, true);
  EXPECT_EQ(flushes.order.durable().value, 300u)
      << broken("When the first of the missing flushes ends, all behind it that have ended count at once.",
                "Nothing is lost, but clients wait for a later flush that may never come.");
}

constexpr const char* kFreeAtOnce =
    "A flush's slot is free as soon as it has ended, whatever is before it: the device is done with its "
    "buffer.";
constexpr const char* kSlowStops = "Nothing is lost, but one slow flush stops the whole device.";

TEST(FlushOrder, ASlotIsFreeOnceItsFlushHasEnded) {
  ThreeInFlight flushes(3);
  EXPECT_FALSE(flushes.order.has_room())
      << broken("With three slots and three flushes in flight there is no room.",
                "A flush is written into a buffer that the device still reads.");
  flushes.order.ended(flushes.third, true);
  ASSERT_TRUE(flushes.order.has_room()) << broken(kFreeAtOnce, kSlowStops);
  EXPECT_EQ(flushes.order.send(at(400)), flushes.third)
      << broken("send() takes a slot that is free.", "Two flushes share a buffer: one overwrites the other.");
}

TEST(FlushOrder, TheNextFlushInASlotIsAnother) {
  ThirdHasEnded flushes;
  ASSERT_TRUE(flushes.order.has_room()) << broken(kFreeAtOnce, kSlowStops);
  // In the same slot, while the flush that had it before still waits for those before it.
  const uint32_t again = flushes.order.send(at(400));
  flushes.order.ended(flushes.first, true);
  flushes.order.ended(flushes.second, true);
  EXPECT_EQ(flushes.order.durable().value, 300u) << broken(
      "A slot's next flush is another one. The flush up to 300 has ended, and the one up to 400, in the same "
      "slot, has not.",
      "The power fails, and the last flush never happened. What was acknowledged from 300 on is gone.");
  flushes.order.ended(again, true);
  EXPECT_EQ(flushes.order.durable().value, 400u)
      << broken("Once the flush up to 400 has ended, too, the log is durable up to 400.",
                "Nothing is lost, but its clients wait for ever.");
  ThirdHasEnded others;
  others.order.ended(others.order.send(at(400)), true);
  others.order.ended(others.first, true);
  others.order.ended(others.second, true);
  EXPECT_EQ(others.order.durable().value, 400u) << broken(
      "What ends is the flush that is in the slot now, not the one that was there before. Here the flushes "
      "up "
      "to 300 and to 400 had one slot after the other, and both have ended before those before them.",
      "Nothing is lost, but the clients of the later one wait for ever.");
}

TEST(FlushOrder, AFailedFlushHoldsBackAllBehindIt) {
  ThreeInFlight flushes;
  flushes.order.ended(flushes.first, false);
  EXPECT_EQ(flushes.order.durable().value, 64u) << broken(
      "A flush that ended badly makes nothing durable: it is unknown what the medium holds.",
      "The client is told that its transfer is done. The sync has failed, and the record is nowhere.");
  flushes.order.ended(flushes.second, true);
  flushes.order.ended(flushes.third, true);
  EXPECT_EQ(flushes.order.durable().value, 64u)
      << broken("A failed flush holds back all behind it, for good: recovery stops at the gap.",
                "What is acknowledged behind the gap is gone at the next start.");
}

TEST(FlushOrder, WhatWasDurableStaysDurable) {
  ThreeInFlight flushes;
  flushes.order.ended(flushes.first, true);
  flushes.order.ended(flushes.second, false);
  EXPECT_EQ(flushes.order.durable().value, 100u) << broken(
      "What was durable stays durable when a later flush fails: durable() never falls.",
      "Nothing is lost, but the program takes back what it has said, and the next block claims too little.");
  flushes.order.ended(flushes.third, true);
  EXPECT_EQ(flushes.order.durable().value, 100u)
      << broken("After a failure durable() doesn't rise any more. Here the flush up to 200 has failed.",
                "What is acknowledged behind the gap is gone at the next start.");
}

TEST(FlushOrder, NothingIsSentAfterAFailure) {
  ThreeInFlight flushes;
  flushes.order.ended(flushes.third, false);
  EXPECT_FALSE(flushes.order.has_room()) << broken(
      "After a failure there is no room: nothing behind the gap could ever become durable.",
      "Nothing is lost, but the engine goes on writing to a broken device, and its clients wait for ever.");
  EXPECT_TRUE(flushes.order.has_failed())
      << broken("A flush that ended badly is a failure (has_failed).",
                "The engine doesn't notice that its log has ended: its clients wait for ever.");
}

TEST(FlushOrder, AfterAFailureNothingRises) {
  ThreeInFlight flushes;
  flushes.order.ended(flushes.third, false);
  flushes.order.ended(flushes.first, true);
  EXPECT_EQ(flushes.order.durable().value, 64u) << broken(
      "After a failure durable() doesn't rise, not even by flushes before the failed one: the device has "
      "shown "
      "that it can't be relied on.",
      "A device that has failed once may report what isn't so. The client is told that its transfer is "
      "done.");
}

// What the definition says, kept by other means: of all flushes that were ever sent, in order.
struct Sent {
  uint64_t end;
  bool is_good = false;
};

TEST(FlushOrder, RandomHistoriesAreAsTheDefinitionSays) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    const uint32_t slots = 1 + random() % 6;
    FlushOrder order(kBegin, slots);
    std::vector<Sent> sent;
    std::vector<std::pair<uint32_t, size_t>> in_flight;  // slot, index in sent
    uint64_t end = kBegin.value;
    for (int step = 0; step < 60; ++step) {
      if (in_flight.size() < slots && random() % 2 == 0) {
        ASSERT_TRUE(order.has_room()) << broken("There is room while a slot is free and nothing has failed.",
                                                "Nothing is lost, but the device is idle.");
        end += 1 + random() % 100;
        const uint32_t slot = order.send(at(end));
        ASSERT_LT(slot, slots) << broken("Slots are numbered from 0 on.",
                                         "A flush is written behind all buffers.");
        for (const auto& [taken, index] : in_flight) {
          ASSERT_NE(slot, taken) << broken("No two flushes in flight have one slot.",
                                           "Two flushes share a buffer: one overwrites the other.");
        }
        in_flight.emplace_back(slot, sent.size());
        sent.push_back({end});
      } else if (!in_flight.empty()) {
        const auto chosen = in_flight.begin() + static_cast<int64_t>(random() % in_flight.size());
        sent[chosen->second].is_good = true;
        order.ended(chosen->first, true);
        in_flight.erase(chosen);
      }
      uint64_t durable = kBegin.value;
      for (const Sent& each : sent) {
        if (!each.is_good) break;
        durable = each.end;
      }
      ASSERT_EQ(order.durable().value, durable) << broken(
          "Durable is the end of the longest run of flushes, from the first one on, that have ended.",
          "If it is higher, acknowledged transactions are lost in a crash. If it is lower, clients "
          "wait.");
    }
  }
}

}  // namespace
}  // namespace mneme::course
