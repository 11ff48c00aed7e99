// Goal: each kind of queue writes what it was given and reports failures as they are; the lossy one keeps
// nothing that no sync has covered. Method: the same checks over all kinds, on real files.
#include "logging/device/io_queue.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "base/file/file.h"
#include "base/memory/aligned_bytes.h"
#include "logging/device/inline_queue.h"
#include "logging/device/lossy_queue.h"
#include "logging/device/thread_queue.h"
#include "logging/device/uring_queue.h"
#include "logging/testing/test_log.h"

namespace mneme {
namespace test {

// Plays a kernel that takes only the first of the requests that wait, and a device that fails a sync.
class UringQueuePeer {
 public:
  static void submit_one_request(UringQueue& queue) {
    io_uring_sq& ring = queue.ring_.sq;
    ring.sqe_head = ring.sqe_tail;
    std::atomic_ref(*ring.ktail).store(ring.sqe_tail, std::memory_order_release);
    ASSERT_EQ(io_uring_enter(static_cast<unsigned>(queue.ring_.ring_fd), 1, 0, 0, nullptr), 1);
    queue.after_submission();
  }
  static bool syncs_after_write(const UringQueue& queue, uint64_t tag) {
    const auto chain = queue.in_flight_.find(tag);
    return chain != queue.in_flight_.end() && chain->second.sync_after_write;
  }
  // Submits, and waits as the queue would, but leaves the kernel's answers where the queue will find them.
  static void await_answers(UringQueue& queue) {
    io_uring_submit(&queue.ring_);
    queue.after_submission();
    io_uring_cqe* first = nullptr;
    ASSERT_EQ(io_uring_wait_cqe_nr(&queue.ring_, &first, queue.completions_to_await()), 0);
  }
  // Among those answers; null: there is none to a sync. The queue receives what is written there.
  static io_uring_cqe* answer_to_sync(UringQueue& queue) {
    io_uring_cqe* answer = nullptr;
    unsigned at = 0;
    io_uring_for_each_cqe(&queue.ring_, at, answer) {
      if ((answer->user_data & 3) == UringQueue::kSyncStep) return answer;
    }
    return nullptr;
  }
};

}  // namespace test

namespace {

using namespace test;
using std::chrono::seconds;

constexpr size_t kRequestBytes = 4096;

std::unique_ptr<UringQueue> open_uring(const std::string& kind) {
  const bool registers = kind == "uring";
  auto queue = UringQueue::open({.depth = 8,
                                 .polled = kind == "uring_polled",
                                 .registers_memory = registers,
                                 .registers_files = registers});
  if (!queue.ok()) return nullptr;
  return std::move(*queue);
}

std::unique_ptr<IoQueue> open_queue(const std::string& kind) {
  if (kind == "threads") return std::make_unique<ThreadQueue>(3);
  if (kind == "inline") return std::make_unique<InlineQueue>();
  if (kind == "lossy") return std::make_unique<LossyQueue>(1);
  return open_uring(kind);
}

// Where the kernel or a container refuses io_uring, the program uses the queue of threads: what runs there is
// tested.
std::vector<std::string> kinds_here(std::vector<std::string> kinds) {
  std::erase_if(kinds, [](const std::string& kind) { return open_queue(kind) == nullptr; });
  return kinds;
}

class IoQueueTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    queue_ = open_queue(GetParam());
    ASSERT_NE(queue_, nullptr);
    file_ = must(File::open(directory_.path() + "/file", O_RDWR | O_CREAT));
  }
  std::vector<IoCompletion> wait_for(size_t count) {
    std::vector<IoCompletion> ended;
    while (ended.size() < count) queue_->wait(seconds(1), ended);
    return ended;
  }
  // One chain alone, at the file's begin.
  IoCompletion write(const File& file, ByteSpan bytes) {
    queue_->submit({5, queue_->attach(file.descriptor()), bytes, 0});
    const IoCompletion ended = wait_for(1)[0];
    EXPECT_EQ(ended.tag, 5u);
    return ended;
  }
  std::string content() const { return must(read_text_file(file_.path())); }

  TemporaryDirectory directory_;
  File file_;
  std::unique_ptr<IoQueue> queue_;
};

TEST_P(IoQueueTest, WritesEveryChainWhereItBelongs) {
  // Half of the chains lie in memory that was registered with the queue.
  const AlignedBytes registered(4 * kRequestBytes);
  if (const auto result = queue_->register_memory(registered.span()); !result.ok()) {
    EXPECT_NE(result.error().message.find("ulimit"), std::string::npos);
  }
  const int file = queue_->attach(file_.descriptor());
  std::vector<std::vector<std::byte>> written;
  for (uint64_t i = 0; i < 8; ++i) written.push_back(payload_of(i, kRequestBytes));
  for (uint64_t i = 0; i < 8; ++i) {
    ByteSpan bytes = written[i];
    if (i % 2 == 0) {
      std::byte* copy = registered.data() + i / 2 * kRequestBytes;
      bytes = {std::ranges::copy(bytes, copy).out - kRequestBytes, kRequestBytes};
    }
    const auto durability = i % 3 == 0 ? IoChain::Durability::kWriteThrough : IoChain::Durability::kSync;
    queue_->submit({i, file, bytes, i * kRequestBytes, durability});
  }
  uint64_t tags = 0;
  for (const IoCompletion& each : wait_for(8)) {
    EXPECT_EQ(each.failure, IoCompletion::Failure::kNone);
    tags |= 1u << each.tag;
  }
  queue_->detach(file);
  EXPECT_EQ(tags, 0xffu);
  const std::string text = content();
  for (uint64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(text.substr(i * kRequestBytes, kRequestBytes), as_text(written[i]));
  }
}

TEST_P(IoQueueTest, WakeEndsAWait) {
  std::thread other([&] { queue_->wake(); });
  std::vector<IoCompletion> ended;
  const auto begin = std::chrono::steady_clock::now();
  queue_->wait(seconds(20), ended);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(10));
  EXPECT_TRUE(ended.empty());
  other.join();
}

TEST_P(IoQueueTest, AWriteThatIsRefusedIsReported) {
  const File reading = must(File::open(file_.path(), O_RDONLY));
  const IoCompletion ended = write(reading, payload_of(1, kRequestBytes));
  EXPECT_NE(ended.failure, IoCompletion::Failure::kNone);
  EXPECT_EQ(ended.error_number, EBADF);
  EXPECT_EQ(content(), "");
}

// For queues that ask the kernel for a write and then for its sync: the lossy one writes all at what it calls
// a sync.
class SyncedWriteTest : public IoQueueTest {};

// /dev/null takes every write whole and can't be synced.
TEST_P(SyncedWriteTest, ASyncThatFailsIsReported) {
  const File null = must(File::open("/dev/null", O_WRONLY));
  ASSERT_EQ(::fdatasync(null.descriptor()), -1) << "this kernel has no fault to find in a sync of /dev/null";
  const int refusal = errno;
  const IoCompletion ended = write(null, payload_of(1, kRequestBytes));
  EXPECT_EQ(ended.failure, IoCompletion::Failure::kSync);
  EXPECT_EQ(ended.error_number, refusal);
}

TEST_P(SyncedWriteTest, AWriteThatFallsShortIsReported) {
  const auto signal_before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit half{kRequestBytes / 2, before.rlim_max};
  const auto bytes = payload_of(1, kRequestBytes);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &half), 0);
  const IoCompletion ended = write(file_, bytes);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, signal_before);
  EXPECT_EQ(ended.failure, IoCompletion::Failure::kShortWrite);
  EXPECT_EQ(content(), as_text(bytes).substr(0, kRequestBytes / 2));
}

INSTANTIATE_TEST_SUITE_P(Kinds, IoQueueTest,
                         ::testing::ValuesIn(kinds_here({"uring", "uring_plain", "uring_polled", "threads",
                                                         "lossy"})),
                         [](const auto& info) { return info.param; });

INSTANTIATE_TEST_SUITE_P(Kinds, SyncedWriteTest,
                         ::testing::ValuesIn(kinds_here({"uring", "uring_plain", "uring_polled", "threads",
                                                         "inline"})),
                         [](const auto& info) { return info.param; });

TEST(UringQueue, SaysThatItIsRefused) {
  constexpr uint32_t kMoreThanAnyKernelTakes = 1 << 20;
  const auto opened = UringQueue::open({.depth = kMoreThanAnyKernelTakes});
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("io_uring is not available"), std::string::npos)
      << opened.error().message;
}

class UringQueueTest : public ::testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(UringQueueTest);
// The hazard is in io_uring's submissions alone.
INSTANTIATE_TEST_SUITE_P(Kinds, UringQueueTest, ::testing::ValuesIn(kinds_here({"uring_plain"})),
                         [](const auto& info) { return info.param; });

// How many requests the kernel takes is up to it, so the test counts them out: the polls for wakes, which
// each queue has, and then a write without its sync.
TEST_P(UringQueueTest, BeginsASyncThatWasLeftBehindAfterItsWrite) {
  const auto opened = must(UringQueue::open({.depth = 8, .registers_files = false}));
  UringQueue& queue = *opened;
  TemporaryDirectory directory;
  const File file = must(File::open(directory.path() + "/file", O_RDWR | O_CREAT));
  const File reading = must(File::open(file.path(), O_RDONLY));
  const auto bytes = payload_of(1, kRequestBytes);
  UringQueuePeer::submit_one_request(queue);
  UringQueuePeer::submit_one_request(queue);

  std::vector<IoCompletion> ended;
  for (const bool fails : {false, true}) {
    ended.clear();
    queue.submit({1, fails ? reading.descriptor() : file.descriptor(), bytes, 0});
    queue.submit({2, file.descriptor(), bytes, kRequestBytes});
    UringQueuePeer::submit_one_request(queue);
    ASSERT_TRUE(UringQueuePeer::syncs_after_write(queue, 1));
    ASSERT_FALSE(UringQueuePeer::syncs_after_write(queue, 2));
    while (ended.size() < 2) queue.wait(seconds(1), ended);
    for (const IoCompletion& each : ended) {
      const bool failed = fails && each.tag == 1;
      EXPECT_EQ(each.failure, failed ? IoCompletion::Failure::kWrite : IoCompletion::Failure::kNone);
    }
    EXPECT_EQ(must(read_text_file(file.path())), std::string(as_text(bytes)) + std::string(as_text(bytes)));
  }
}

// The kernel's requests and answers, of the ring that the default device writes by.
class UringAnswersTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    queue_ = open_uring(GetParam());
    ASSERT_NE(queue_, nullptr);
    file_ = must(File::open(directory_.path() + "/file", O_RDWR | O_CREAT));
    bytes_ = payload_of(1, kRequestBytes);
  }
  bool links() const { return GetParam() != "uring_polled"; }

  TemporaryDirectory directory_;
  File file_;
  std::vector<std::byte> bytes_;
  std::unique_ptr<UringQueue> queue_;
  std::vector<IoCompletion> ended_;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(UringAnswersTest);
INSTANTIATE_TEST_SUITE_P(Kinds, UringAnswersTest,
                         ::testing::ValuesIn(kinds_here({"uring", "uring_plain", "uring_polled"})),
                         [](const auto& info) { return info.param; });

// A sync that were not bound to its write would succeed here: files that may only be read can be synced.
TEST_P(UringAnswersTest, NoSyncIsDoneForAWriteThatFailed) {
  const File reading = must(File::open(file_.path(), O_RDONLY));
  queue_->submit({5, queue_->attach(reading.descriptor()), bytes_, 0});
  UringQueuePeer::await_answers(*queue_);
  const io_uring_cqe* const sync = UringQueuePeer::answer_to_sync(*queue_);
  ASSERT_EQ(sync != nullptr, links());
  EXPECT_EQ(sync != nullptr ? sync->res : -ECANCELED, -ECANCELED);
  queue_->wait(seconds(0), ended_);
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(ended_[0].failure, IoCompletion::Failure::kWrite);
  EXPECT_EQ(ended_[0].error_number, EBADF);
}

// No file here has a device that fails, so the kernel's answer is changed on its way.
TEST_P(UringAnswersTest, WhateverASyncFailsForIsReported) {
  const int file = queue_->attach(file_.descriptor());
  for (const int error : {EIO, ENOSPC, EDQUOT, EROFS, EINTR, EAGAIN, ECANCELED}) {
    ended_.clear();
    queue_->submit({5, file, bytes_, 0});
    if (!links()) {
      UringQueuePeer::await_answers(*queue_);
      queue_->wait(seconds(0), ended_);
      ASSERT_TRUE(ended_.empty()) << "the write has ended, and its sync begins only now";
    }
    UringQueuePeer::await_answers(*queue_);
    io_uring_cqe* const sync = UringQueuePeer::answer_to_sync(*queue_);
    ASSERT_NE(sync, nullptr);
    ASSERT_EQ(sync->res, 0);
    sync->res = -error;
    queue_->wait(seconds(0), ended_);
    ASSERT_EQ(ended_.size(), 1u);
    EXPECT_EQ(ended_[0].tag, 5u);
    EXPECT_EQ(ended_[0].failure, IoCompletion::Failure::kSync);
    EXPECT_EQ(ended_[0].error_number, error);
  }
}

TEST(LossyQueue, KeepsWhatWasSyncedAndLosesTheRest) {
  TemporaryDirectory directory;
  const File file = must(File::open(directory.path() + "/file", O_RDWR | O_CREAT));
  const auto synced = payload_of(1, kRequestBytes);
  const auto unsynced = payload_of(2, kRequestBytes);
  std::vector<IoCompletion> ended;
  int lost = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    {
      LossyQueue queue(seed);
      const int name = queue.attach(file.descriptor());
      queue.submit({1, name, synced, 0});
      while (ended.empty()) queue.wait(seconds(1), ended);
      ended.clear();
      queue.submit({2, name, unsynced, kRequestBytes, IoChain::Durability::kNone});
      while (ended.empty()) queue.wait(seconds(1), ended);
      ended.clear();
    }
    const std::string text = must(read_text_file(file.path()));
    ASSERT_GE(text.size(), kRequestBytes);
    EXPECT_EQ(text.substr(0, kRequestBytes), as_text(synced));
    if (text.substr(kRequestBytes) != as_text(unsynced)) ++lost;
    std::filesystem::resize_file(file.path(), 0);
  }
  EXPECT_GT(lost, 10);  // some are written back early by chance, as real caches do
}

}  // namespace
}  // namespace mneme
