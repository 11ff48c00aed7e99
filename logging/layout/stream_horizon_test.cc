// Goal: durable() is the lowest clock of the streams: it passes no record that is not durable in its stream,
// be that one slow, or its record not published yet; and it waits for no worker that has nothing on the way.
// Method: each step of workers and flushers by hand, in the orders that matter.
#include "logging/layout/stream_horizon.h"

#include <gtest/gtest.h>

namespace mneme {
namespace {

constexpr WorkerId kLeftWorker{0};
constexpr WorkerId kRightWorker{1};
constexpr Lsn kHorizonBegin{1000};

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

  StreamHorizon horizon_{kHorizonBegin, 2, 2};
  StreamPosition ends_[2] = {kFirstPosition, kFirstPosition};
};

TEST_F(StreamHorizonTest, LsnsFollowOneAnother) {
  EXPECT_EQ(write(kLeftWorker), kHorizonBegin);
  EXPECT_EQ(write(kRightWorker), kHorizonBegin + 1);
  EXPECT_EQ(write(kRightWorker), kHorizonBegin + 2);
  EXPECT_EQ(horizon_.durable(), kHorizonBegin);
}

TEST_F(StreamHorizonTest, AnIdleStreamHoldsNobodyUp) {
  for (int i = 0; i < 3; ++i) {
    const Lsn lsn = write(kLeftWorker);
    flush(kLeftWorker);
    EXPECT_EQ(horizon_.durable(), lsn + 1);
  }
}

TEST_F(StreamHorizonTest, ASlowStreamHoldsUpWhatComesAfterItsOwn) {
  const Lsn before = write(kLeftWorker);
  const Lsn slow = write(kRightWorker);
  const Lsn after = write(kLeftWorker);
  flush(kLeftWorker);
  EXPECT_EQ(horizon_.durable(), before);
  horizon_.gathers(kRightWorker.value);
  const StreamPosition sent = ends_[kRightWorker.value];
  write(kRightWorker);  // not in that flush
  horizon_.rose(kRightWorker.value, sent);
  EXPECT_EQ(horizon_.durable(), after + 1);
  EXPECT_GT(horizon_.durable(), slow);
  flush(kRightWorker);
  EXPECT_EQ(horizon_.durable(), after + 2);
}

// A flush that began before a record of a lower LSN was published says nothing of the records above.
TEST_F(StreamHorizonTest, ARecordThatIsNotPublishedHoldsUpAll) {
  const Lsn open = horizon_.draw(kRightWorker);
  write(kLeftWorker);
  flush(kLeftWorker);
  EXPECT_EQ(horizon_.durable(), open);
  publish(kRightWorker);
  EXPECT_FALSE(horizon_.may_sleep(kRightWorker.value));  // its flusher looks again
  EXPECT_TRUE(horizon_.may_sleep(kLeftWorker.value));
  flush(kRightWorker);
  EXPECT_EQ(horizon_.durable(), open);  // the worker has not settled
  horizon_.settled(kRightWorker, {}, RecordKind::kCommand);
  EXPECT_TRUE(horizon_.may_sleep(kRightWorker.value));
  EXPECT_EQ(horizon_.durable(), open + 2);
}

// The end of a flush covers what was published when it began, and not what came meanwhile.
TEST_F(StreamHorizonTest, AFlushCoversWhatWasThereWhenItBegan) {
  write(kLeftWorker);
  horizon_.gathers(kLeftWorker.value);
  const StreamPosition sent = ends_[kLeftWorker.value];
  const Lsn later = write(kLeftWorker);
  horizon_.rose(kLeftWorker.value, sent);
  EXPECT_EQ(horizon_.durable(), later);
  EXPECT_TRUE(horizon_.await(kHorizonBegin));
  horizon_.fail();
  EXPECT_FALSE(horizon_.await(later));
}

// Parts in both streams: durable only when both are.
TEST_F(StreamHorizonTest, ARecordInPartsWaitsForAllOfThem) {
  const Lsn lsn = horizon_.draw(kLeftWorker);
  horizon_.published(kLeftWorker, 0, ends_[0] = ends_[0] + 50);
  horizon_.ends_in(kLeftWorker, 1);
  horizon_.published(kLeftWorker, 1, ends_[1] = ends_[1] + 50);
  horizon_.settled(kLeftWorker, {}, RecordKind::kCommand);
  flush(kLeftWorker);
  EXPECT_EQ(horizon_.durable(), lsn);
  flush(kRightWorker);
  EXPECT_EQ(horizon_.durable(), lsn + 1);
}

}  // namespace
}  // namespace mneme
