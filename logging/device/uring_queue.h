// UringQueue: chains as requests of an io_uring.
//
// A write that needs a sync is linked to it: the kernel begins the fdatasync when the write is done.
// A write-through is a single request.
//
// Invariants  the link holds only among requests that the kernel takes in one go. Where it has taken a
//             chain's write and left the sync (it may, when it lacks memory), the sync is called back, and
//             begins once the write is done. With polling it is unknown what the kernel takes when, so each
//             sync is begun when its write has ended.
// Threads     as IoQueue says. wake() is an eventfd that the ring polls, so one system call waits for both.
//             It polls it twice, so that a wait for two completions ends with a wake, too.
#pragma once

#include <liburing.h>

#include <memory>
#include <unordered_map>
#include <vector>

#include "base/file/file.h"
#include "base/result.h"
#include "logging/device/io_queue.h"

namespace mneme {

namespace test {
class UringQueuePeer;
}

struct UringOptions {
  uint32_t depth = 1;   // the most chains in flight
  bool polled = false;  // the kernel looks for requests by itself (SQPOLL)
  // Made known to the kernel once: what register_memory() and attach() name.
  bool registers_memory = true;
  bool registers_files = true;
};

class UringQueue : public IoQueue {
 public:
  // An error where the kernel or the container refuses io_uring.
  static Result<std::unique_ptr<UringQueue>> open(const UringOptions& options);
  ~UringQueue() override;

  Result<void> register_memory(std::span<std::byte> memory) override;
  int attach(int descriptor) override;
  void detach(int file) override;
  void submit(const IoChain& chain) override;
  void wait(std::chrono::nanoseconds limit, std::vector<IoCompletion>& ended) override;
  void wake() override;

  bool registers_files() const { return !file_slots_.empty(); }

 private:
  friend class test::UringQueuePeer;

  // The purpose of a request, as a part of its user data.
  enum Step : uint64_t { kWriteStep = 0, kSyncStep = 1, kWakeStep = 2, kNothingStep = 3 };
  struct InFlight {
    int file = -1;
    uint64_t bytes = 0;             // the write must move as many
    int steps = 0;                  // requests that haven't completed yet
    bool sync_after_write = false;  // not linked: complete() begins the sync
    IoCompletion result;
  };
  // A request that the kernel hasn't taken yet.
  struct Prepared {
    io_uring_sqe* request;
    uint64_t tag;
    Step step;
  };

  explicit UringQueue(const UringOptions& options) : options_(options) {}
  int open_ring();
  bool is_registered(ByteSpan bytes) const;
  io_uring_sqe* next_request(uint64_t tag, Step step);
  void name_file(io_uring_sqe* request, int file) const;
  void prepare_sync(uint64_t tag, int file);
  void poll_for_wakes();
  void take_wakes();
  unsigned completions_to_await() const;
  // After each call that submits: mends the chain that the kernel has taken in part, if there is one.
  void after_submission();
  // The write has ended: true, if the chain has.
  bool end_write(InFlight& chain, int status);
  void complete(const io_uring_cqe& completion, std::vector<IoCompletion>& ended);

  const UringOptions options_;
  io_uring ring_{};
  bool ring_is_open_ = false;
  std::unique_ptr<ClosedInChild> in_child_;  // a ring refers to files, and so keeps their locks
  int wake_descriptor_ = -1;
  ByteSpan memory_;  // registered
  std::vector<bool>
      file_slots_;  // of the kernel's table, which are taken; empty: files are named by descriptor
  std::unordered_map<uint64_t, InFlight> in_flight_;  // by the chain's tag
  std::vector<Prepared> prepared_;                    // in the ring's order
};

}  // namespace mneme
