// InlineQueue: chains run by the thread that submits them, with pwrite and fdatasync: no other thread stands
// between it and the device.
//
// Invariants  a chain has ended when submit() returns.
// Waiting     submit(), for the device.
// Threads     as IoQueue says.
#pragma once

#include "logging/device/completion_box.h"
#include "logging/device/io_queue.h"

namespace mneme {

// Writes the chain's bytes, and syncs its file where that is asked for. Returns once both are done.
IoCompletion run_chain(const IoChain& chain);

class InlineQueue : public IoQueue {
 public:
  void submit(const IoChain& chain) override { box_.put(run_chain(chain)); }
  void wait(std::chrono::nanoseconds limit, std::vector<IoCompletion>& ended) override {
    box_.wait(limit, ended);
  }
  void wake() override { box_.wake(); }
  bool ends_in_submit() const override { return true; }

 private:
  CompletionBox box_;
};

}  // namespace mneme
