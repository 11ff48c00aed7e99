// Goal: messages reach each session that listens, all of them, once, and in one order; sessions that come and
// go disturb no other. Method: threads publish numbered messages, each with the turn; listeners that stay
// note what they take; another begins to listen and ends again and again. Then all that stayed have the same
// list, it has each sender's numbers in their order, and no byte is counted as kept.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/session/notifications.h"

namespace mneme {
namespace {

constexpr uint32_t kSenders = 3;
constexpr uint32_t kMessages = 300;
constexpr uint32_t kListeners = 3;
constexpr uint32_t kFirstListener = 100;

TEST(NotificationsStress, AllListenersTakeAllMessagesInOneOrder) {
  Notifications hub;
  std::atomic<uint64_t> wakes{0};
  hub.on_arrival([&] { wakes.fetch_add(1, std::memory_order_relaxed); });
  std::vector<std::shared_ptr<Notifications::Box>> boxes;
  for (uint32_t i = 0; i < kListeners; ++i) boxes.push_back(hub.listen(kFirstListener + i, "news"));

  using Taken = std::vector<std::pair<uint32_t, std::string>>;
  std::vector<Taken> taken(kListeners);
  std::atomic<bool> sent{false};
  std::vector<std::jthread> threads;
  for (uint32_t i = 0; i < kListeners; ++i) {
    threads.emplace_back([&, i] {
      for (;;) {
        // Whether all was sent is asked before the box is found empty.
        const bool is_all = sent.load(std::memory_order_acquire);
        while (boxes[i]->has_any()) {
          const auto arrived = boxes[i]->take();
          ASSERT_TRUE(arrived);
          taken[i].emplace_back(arrived->sender, arrived->message.payload);
        }
        if (is_all) return;
        std::this_thread::yield();
      }
    });
  }
  threads.emplace_back([&] {
    for (uint32_t round = 0; !sent.load(std::memory_order_acquire); ++round) {
      const uint32_t session = kFirstListener + kListeners + round;
      const auto box = hub.listen(session, "news");
      hub.listen(session, "other");
      EXPECT_EQ(hub.channels_of(session).size(), 2);
      (void)box->take();
      if (round % 2 == 0) hub.unlisten(session, "news");
      hub.end_session(session);
    }
  });
  {
    std::vector<std::jthread> senders;
    for (uint32_t sender = 0; sender < kSenders; ++sender) {
      senders.emplace_back([&, sender] {
        for (uint32_t i = 0; i < kMessages; ++i) {
          const NotifyMessage messages[] = {{"news", std::to_string(i)}, {"unheard", "x"}};
          const Notifications::Turn turn = hub.take_turn();
          ASSERT_TRUE(hub.has_room(messages));
          hub.publish(turn, sender, messages, std::nullopt);
        }
      });
    }
  }
  sent.store(true, std::memory_order_release);
  threads.clear();

  ASSERT_EQ(taken[0].size(), kSenders * kMessages);
  for (uint32_t i = 1; i < kListeners; ++i) EXPECT_EQ(taken[i], taken[0]);
  std::vector<uint32_t> next(kSenders);
  for (const auto& [sender, payload] : taken[0]) EXPECT_EQ(payload, std::to_string(next[sender]++));
  EXPECT_EQ(wakes.load(), kSenders * kMessages);
  // A message as large as all boxes together finds room only in empty ones.
  const NotifyMessage large[] = {{"news", std::string(Notifications::kMostBytes / kListeners - 1000, 'x')}};
  EXPECT_TRUE(hub.has_room(large));
  hub.publish(hub.take_turn(), 0, large, std::nullopt);
  EXPECT_FALSE(hub.has_room(large));
}

}  // namespace
}  // namespace mneme
