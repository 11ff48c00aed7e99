// UringQueue: chains as linked requests of an io_uring: the kernel begins the fdatasync when the write is done.
//
// Threads  as IoQueue says. wake() is an eventfd that the ring polls, so one system call waits for both.
#pragma once

#include <liburing.h>

#include <memory>
#include <unordered_map>

#include "base/file.h"
#include "base/result.h"
#include "logging/io_queue.h"

namespace mneme {

class UringQueue : public IoQueue {
 public:
  // `depth`: the most chains in flight. An error where the kernel or the container refuses io_uring.
  static Result<std::unique_ptr<UringQueue>> open(uint32_t depth);
  ~UringQueue() override;

  void submit(const IoChain& chain) override;
  void wait(std::chrono::nanoseconds limit, std::vector<IoCompletion>& ended) override;
  void wake() override;

 private:
  struct InFlight {
    uint64_t bytes = 0;  // the write must move as many
    int steps = 0;       // requests that haven't completed yet
    IoCompletion result;
  };

  UringQueue() = default;
  io_uring_sqe* next_request();
  void poll_for_wakes();
  void take_wakes();
  void complete(const io_uring_cqe& completion, std::vector<IoCompletion>& ended);

  io_uring ring_{};
  bool ring_is_open_ = false;
  int wake_descriptor_ = -1;
  std::unordered_map<uint64_t, InFlight> in_flight_;  // by the chain's tag
};

}  // namespace mneme
