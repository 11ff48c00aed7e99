// LossyQueue: a disk with a volatile write cache, for tests. A write reaches the file only once a completed
// sync covers it; SIGKILL, which spares the system's page cache, loses here what a power failure would lose.
//
// Invariants  a sync writes every cached write of its file, in random order, before it completes; chains end
//             in random order. A cached write may reach the file early, whole or some 512-byte sectors of it:
//             a real cache writes back when it likes, so a crash finds torn and reordered blocks. A
//             write-through writes itself and leaves the others where they are. A chain without a sync
//             completes as soon as its write is cached: the log that forgot to sync.
// Threads     as IoQueue says, and one of its own.
// Not here    what a failing disk does (errors): the thread queue meets those.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "base/file/file.h"
#include "logging/device/completion_box.h"
#include "logging/device/io_queue.h"

namespace mneme {

class LossyQueue : public IoQueue {
 public:
  // The same seed and the same timing give the same losses; the threads' timing is the system's.
  explicit LossyQueue(uint64_t seed);
  // Drops what no sync has covered, as the crash would.
  ~LossyQueue() override;

  void submit(const IoChain& chain) override;
  void wait(std::chrono::nanoseconds limit, std::vector<IoCompletion>& ended) override {
    box_.wait(limit, ended);
  }
  void wake() override { box_.wake(); }

 private:
  struct CachedWrite {
    int descriptor;  // which the chain named, and its sync will
    File file;       // the same open file, for as long as the write is cached
    uint64_t offset;
    std::vector<std::byte> bytes;
  };

  void run();
  IoCompletion run_chain(const IoChain& chain);
  void write_back_early();
  int sync(int descriptor);

  CompletionBox box_;
  std::mutex mutex_;  // guards submitted_ and closing_
  std::condition_variable work_;
  std::deque<IoChain> submitted_;
  bool closing_ = false;

  // Owned by the thread.
  std::mt19937_64 random_;
  std::deque<CachedWrite> cache_;

  std::thread thread_;
};

}  // namespace mneme
