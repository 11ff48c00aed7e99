// LossyQueue: a disk with a volatile write cache, for tests. A write reaches the file only once a completed
// sync covers it; SIGKILL, which spares the system's page cache, loses here what a power failure would lose.
//
// Invariants  a sync writes every cached write of its file before it completes; chains end in random order. A
//             cached write may reach the file early, whole or some sectors of it (write_cache.h), so a crash
//             finds torn and reordered blocks. A write-through writes itself and leaves the others where they
//             are. A chain without a sync completes as soon as its write is cached: the log that forgot to
//             sync. What is cached of a file that is detached is lost.
// Threads     as IoQueue says, and one of its own.
// Not here    what a failing disk does (errors): the thread queue meets those.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "base/file/file.h"
#include "logging/device/completion_box.h"
#include "logging/device/io_queue.h"
#include "logging/device/write_cache.h"

namespace mneme {

class LossyQueue : public IoQueue {
 public:
  // The same seed and the same timing give the same losses; the threads' timing is the system's.
  explicit LossyQueue(uint64_t seed);
  // Drops what no sync has covered, as the crash would.
  ~LossyQueue() override;

  int attach(int handle) override;
  void detach(int name) override;
  void submit(const IoChain& chain) override;
  void wait(std::chrono::nanoseconds limit, std::vector<IoCompletion>& ended) override {
    box_.wait(limit, ended);
  }
  void wake() override { box_.wake(); }

 private:
  void run();
  IoCompletion run_chain(const IoChain& chain);
  int write(int name, uint64_t offset, ByteSpan bytes);

  CompletionBox box_;
  std::mutex mutex_;  // guards submitted_, closing_, files_ and next_name_
  std::condition_variable work_;
  std::deque<IoChain> submitted_;
  bool closing_ = false;
  // Attached files by name: a file of its own number, as the system gives a closed file's descriptor to the
  // next.
  std::map<int, std::shared_ptr<const File>> files_;
  int next_name_ = 0;

  // Owned by the thread.
  std::mt19937_64 random_;
  WriteCache cache_;

  std::thread thread_;
};

}  // namespace mneme
