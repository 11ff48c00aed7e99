// Goal: what DirectoryChanges::sync() has vouched for is durable, whichever thread's sync covered it, or
// failed. Method: the C library's fsync is defined here anew, with a model of a directory whose sync fails
// now and then: of what was made since the sync before, a failed one loses all for good, though the next
// succeeds. Threads make entries, and hold what they are told against it.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/file/directory.h"
#include "base/testing/test_directory.h"
#include "base/testing/test_refusal.h"

namespace mneme {
namespace {

enum class Entry { kMade, kDurable, kLost };

class DirectoryModel {
 public:
  // About one in this many syncs fails; 0: none.
  explicit DirectoryModel(uint32_t failing_one_in) : failing_one_in_(failing_one_in) { current = this; }
  ~DirectoryModel() { current = nullptr; }
  DirectoryModel(const DirectoryModel&) = delete;
  DirectoryModel& operator=(const DirectoryModel&) = delete;

  void make(const std::string& name) {
    const std::lock_guard guard(mutex_);
    entries_[name] = Entry::kMade;
  }
  Entry take(const std::string& name) {
    const std::lock_guard guard(mutex_);
    return entries_.extract(name).mapped();
  }
  void fail_next() { fails_next_ = true; }

  int sync() {
    std::this_thread::yield();
    bool fails = false;
    {
      const std::lock_guard guard(mutex_);
      fails = fails_next_.exchange(false) || (failing_one_in_ != 0 && random_() % failing_one_in_ == 0);
      for (auto& [name, entry] : entries_) {
        if (entry == Entry::kMade) entry = fails ? Entry::kLost : Entry::kDurable;
      }
    }
    // Others may sync before this failure is told.
    std::this_thread::yield();
    if (!fails) return 0;
    errno = EIO;
    return -1;
  }

  static inline DirectoryModel* current = nullptr;

 private:
  const uint32_t failing_one_in_;
  std::mutex mutex_;
  std::map<std::string, Entry> entries_;
  std::mt19937 random_{1};
  std::atomic<bool> fails_next_ = false;
};

constexpr std::string_view kOthersFailure = "another sync of it has failed meanwhile";

TEST(DirectoryChanges, ThatAFailedSyncOfOthersMayHaveLostAreNotDurable) {
  const test::TemporaryDirectory directory;
  const test::TemporaryDirectory other_directory;
  DirectoryModel model(0);
  const DirectoryChanges changes(directory.path());
  // Another name of it.
  const DirectoryChanges of_others(directory.path() + "/.");
  const DirectoryChanges elsewhere(other_directory.path());
  model.fail_next();
  test::expect_refused(of_others.sync(), ErrorKind::kFailed,
                       "cannot sync the directory " + directory.path() + "/.: Input/output error");
  for (int tries = 0; tries < 2; ++tries)
    test::expect_refused(changes.sync(), ErrorKind::kFailed, kOthersFailure);
  EXPECT_TRUE(elsewhere.sync().ok());
  EXPECT_TRUE(DirectoryChanges(directory.path()).sync().ok());
}

TEST(DirectoryChanges, OfADirectoryThatIsNotThereAreRefused) {
  test::expect_refused(DirectoryChanges("/nowhere").sync(), ErrorKind::kFailed,
                       "cannot open /nowhere: No such file or directory");
}

TEST(DirectoryChangesStress, WhatIsVouchedForIsDurable) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  const test::TemporaryDirectory directory;
  DirectoryModel model(8);
  std::atomic<int> durable = 0;
  std::atomic<int> refused_for_others = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      const std::string name = fmt::format("entry-{}", thread);
      for (int round = 0; round < kRounds; ++round) {
        const DirectoryChanges changes(directory.path());
        model.make(name);
        const auto synced = changes.sync();
        const Entry entry = model.take(name);
        if (synced.ok()) {
          ASSERT_EQ(entry, Entry::kDurable);
          ++durable;
        } else if (synced.error().message.find(kOthersFailure) != std::string::npos) {
          ++refused_for_others;
        }
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_GT(durable, 0);
  EXPECT_GT(refused_for_others, 0);
}

}  // namespace
}  // namespace mneme

extern "C" int fsync(int descriptor) {
  if (mneme::DirectoryModel* const model = mneme::DirectoryModel::current; model != nullptr)
    return model->sync();
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}
