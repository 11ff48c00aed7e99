// Goal: locks exclude what they should, and age alone decides which transaction waits and which dies. Method:
// a few transactions of known ages ask for locks on one row; those that wait do so in threads of their own.
#include "engine/transaction/lock_table.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

namespace mneme {
namespace {

constexpr LockMode kShared = LockMode::kShared;
constexpr LockMode kExclusive = LockMode::kExclusive;

class LockTableTest : public testing::Test {
 protected:
  // A transaction with one lock: the lower its age, the older it is.
  class Client {
   public:
    Client(LockTable& table, const Row& row, uint32_t age)
        : table_(table), lock_{&row, {age, WorkerId{age}}, &waiter_} {}
    ~Client() {
      if (lock_.mode != LockMode::kNone) release();
    }
    bool acquire(LockMode mode) { return table_.acquire(lock_, mode); }
    void release() { table_.release(lock_); }

   private:
    LockTable& table_;
    LockWaiter waiter_;
    RowLock lock_;
  };

  // An acquire() that is expected to wait.
  class Waiting {
   public:
    Waiting(Client& client, LockMode mode)
        : thread_([this, &client, mode] {
            granted_ = client.acquire(mode);
            done_.store(true, std::memory_order_release);
          }) {}
    bool is_done() const { return done_.load(std::memory_order_acquire); }
    bool granted() {
      thread_.join();
      return granted_;
    }

   private:
    std::atomic<bool> done_{false};
    bool granted_ = false;
    std::jthread thread_;
  };

  // Returns once somebody older waits to have the row, which others share, for itself: then a younger sharer
  // dies.
  void await_older_waiter() {
    Client probe = client(1000);
    while (probe.acquire(kShared)) {
      probe.release();
      std::this_thread::yield();
    }
  }

  Client client(uint32_t age) { return Client(table, row, age); }

  LockTable table;
  Row row;
};

TEST_F(LockTableTest, ReadersShareAndWritersDont) {
  Client a = client(1), b = client(2), c = client(3);
  EXPECT_TRUE(a.acquire(kShared));
  EXPECT_TRUE(b.acquire(kShared));
  EXPECT_FALSE(c.acquire(kExclusive));
  a.release();
  EXPECT_FALSE(c.acquire(kExclusive));
  b.release();
  EXPECT_TRUE(c.acquire(kExclusive));
}

TEST_F(LockTableTest, TheYoungerDies) {
  Client old = client(1), young = client(2);
  EXPECT_TRUE(old.acquire(kExclusive));
  EXPECT_FALSE(young.acquire(kShared));
  EXPECT_FALSE(young.acquire(kExclusive));
  old.release();
  EXPECT_TRUE(young.acquire(kShared));
}

TEST_F(LockTableTest, OtherRowsAreNotInTheWay) {
  std::array<Row, 3> rows;
  Client old = client(1);
  EXPECT_TRUE(old.acquire(kExclusive));
  for (const Row& other : rows) {
    Client young(table, other, 2);
    EXPECT_TRUE(young.acquire(kExclusive));
    young.release();
  }
}

TEST_F(LockTableTest, TheOlderWaits) {
  Client old = client(1), young = client(2);
  EXPECT_TRUE(young.acquire(kShared));
  Waiting waiting(old, kExclusive);
  await_older_waiter();
  EXPECT_FALSE(waiting.is_done());
  young.release();
  EXPECT_TRUE(waiting.granted());
  EXPECT_FALSE(young.acquire(kShared));
}

TEST_F(LockTableTest, AWaiterWaitsForAllWhoShare) {
  Client old = client(1), young = client(2), younger = client(3);
  EXPECT_TRUE(young.acquire(kShared));
  EXPECT_TRUE(younger.acquire(kShared));
  Waiting waiting(old, kExclusive);
  await_older_waiter();
  younger.release();
  // Were it granted by mistake, then soon: it has been woken.
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_FALSE(waiting.is_done());
  young.release();
  EXPECT_TRUE(waiting.granted());
}

TEST_F(LockTableTest, OfTwoWhoWantMoreTheOlderGetsIt) {
  Client old = client(1), young = client(2);
  EXPECT_TRUE(old.acquire(kShared));
  EXPECT_TRUE(young.acquire(kShared));
  Waiting waiting(old, kExclusive);
  await_older_waiter();
  EXPECT_FALSE(young.acquire(kExclusive)) << "both would wait for ever";
  EXPECT_FALSE(waiting.is_done()) << "the younger still shares the row, until it is undone";
  young.release();
  EXPECT_TRUE(waiting.granted());
}

TEST_F(LockTableTest, WhoHoldsItAloneGetsMoreAtOnce) {
  Client one = client(5);
  EXPECT_TRUE(one.acquire(kShared));
  EXPECT_TRUE(one.acquire(kExclusive));
  one.release();
  EXPECT_TRUE(client(9).acquire(kExclusive));
}

// Otherwise readers who come and go could keep a writer waiting for ever.
TEST_F(LockTableTest, NoYoungerOnePassesAWaiter) {
  Client holder = client(5), waiter = client(2), younger = client(3);
  EXPECT_TRUE(holder.acquire(kShared));
  Waiting waiting(waiter, kExclusive);
  await_older_waiter();
  EXPECT_FALSE(younger.acquire(kShared));
  holder.release();
  EXPECT_TRUE(waiting.granted());
}

// The waiter would wait for an older one, which may come to wait for it.
TEST_F(LockTableTest, AWaiterDiesWhenAnOlderOneIsGrantedTheRow) {
  Client holder = client(5), waiter = client(2), older = client(1);
  EXPECT_TRUE(holder.acquire(kShared));
  Waiting waiting(waiter, kExclusive);
  await_older_waiter();
  EXPECT_TRUE(older.acquire(kShared));
  EXPECT_FALSE(waiting.granted());
  older.release();
  holder.release();
}

}  // namespace
}  // namespace mneme
