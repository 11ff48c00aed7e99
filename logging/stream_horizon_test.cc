// Goal: durable() is the lowest clock of the streams: it passes no record that is not durable in its stream, be that one
// slow, or its record not published yet; and it waits for nobody who has nothing on the way. Method: each step of workers
// and flushers by hand, in the orders that matter.
#include "logging/stream_horizon.h"

#include <gtest/gtest.h>

namespace mneme {
namespace {

constexpr WorkerId kLeft{0};
constexpr WorkerId kRight{1};
constexpr Lsn kBegin{1000};

class StreamHorizonTest : public ::testing::Test {
 protected:
  // A record of 100 bytes, into the stream of the worker's number.
  Lsn write(WorkerId worker) {
    const Lsn lsn = horizon_.draw(worker);
    publish(worker);
    horizon_.settled(worker, {}, RecordKind::kCommand);
    return lsn;
  }
  void publish(WorkerId worker) {
    horizon_.ends_in(worker, worker.value);
    ends_[worker.value] = ends_[worker.value] + 100;
    horizon_.published(worker, worker.value, ends_[worker.value]);
  }
  void flush(WorkerId worker) {
    horizon_.gathers(worker.value);
    horizon_.rose(worker.value, ends_[worker.value]);
  }

  StreamHorizon horizon_{kBegin, 2, 2};
  Lsn ends_[2] = {kFirstLsn, kFirstLsn};
};

TEST_F(StreamHorizonTest, LsnsFollowOneAnother) {
  EXPECT_EQ(write(kLeft), kBegin);
  EXPECT_EQ(write(kRight), kBegin + 1);
  EXPECT_EQ(write(kRight), kBegin + 2);
  EXPECT_EQ(horizon_.durable(), kBegin);
}

TEST_F(StreamHorizonTest, AnIdleStreamHoldsNobodyUp) {
  for (int i = 0; i < 3; ++i) {
    const Lsn lsn = write(kLeft);
    flush(kLeft);
    EXPECT_EQ(horizon_.durable(), lsn + 1);
  }
}

TEST_F(StreamHorizonTest, ASlowStreamHoldsUpWhatComesAfterItsOwn) {
  const Lsn before = write(kLeft);
  const Lsn slow = write(kRight);
  const Lsn after = write(kLeft);
  flush(kLeft);
  EXPECT_EQ(horizon_.durable(), before);
  horizon_.gathers(kRight.value);
  const Lsn sent = ends_[kRight.value];
  write(kRight);  // not in that flush
  horizon_.rose(kRight.value, sent);
  EXPECT_EQ(horizon_.durable(), after + 1);
  EXPECT_GT(horizon_.durable(), slow);
  flush(kRight);
  EXPECT_EQ(horizon_.durable(), after + 2);
}

// A flush that began before a record of a lower LSN was published says nothing of the records above.
TEST_F(StreamHorizonTest, ARecordThatIsNotPublishedHoldsUpAll) {
  const Lsn open = horizon_.draw(kRight);
  write(kLeft);
  flush(kLeft);
  EXPECT_EQ(horizon_.durable(), open);
  publish(kRight);
  EXPECT_FALSE(horizon_.may_sleep(kRight.value));  // its flusher looks again
  EXPECT_TRUE(horizon_.may_sleep(kLeft.value));
  flush(kRight);
  EXPECT_EQ(horizon_.durable(), open);  // the worker has not settled
  horizon_.settled(kRight, {}, RecordKind::kCommand);
  EXPECT_TRUE(horizon_.may_sleep(kRight.value));
  EXPECT_EQ(horizon_.durable(), open + 2);
}

// The end of a flush covers what was published when it began, and not what came meanwhile.
TEST_F(StreamHorizonTest, AFlushCoversWhatWasThereWhenItBegan) {
  write(kLeft);
  horizon_.gathers(kLeft.value);
  const Lsn sent = ends_[kLeft.value];
  const Lsn later = write(kLeft);
  horizon_.rose(kLeft.value, sent);
  EXPECT_EQ(horizon_.durable(), later);
  EXPECT_TRUE(horizon_.await(kBegin));
  horizon_.fail();
  EXPECT_FALSE(horizon_.await(later));
}

// Parts in both streams: durable only when both are.
TEST_F(StreamHorizonTest, ARecordInPartsWaitsForAllOfThem) {
  const Lsn lsn = horizon_.draw(kLeft);
  horizon_.published(kLeft, 0, ends_[0] = ends_[0] + 50);
  horizon_.ends_in(kLeft, 1);
  horizon_.published(kLeft, 1, ends_[1] = ends_[1] + 50);
  horizon_.settled(kLeft, {}, RecordKind::kCommand);
  flush(kLeft);
  EXPECT_EQ(horizon_.durable(), lsn);
  flush(kRight);
  EXPECT_EQ(horizon_.durable(), lsn + 1);
}

}  // namespace
}  // namespace mneme
