// CallServer: runs the calls that come through one channel on one worker, and answers each once it is
// durable.
//
// Flow        channel -> decode -> Session -> AckQueue -> (durable) -> channel
// Invariants  a reply is written to the channel only after what it tells is durable: pipelined
//             acknowledgement, as `mneme run` does it.
// Threads     run(): the worker's.
// Errors      run() ends with an error when the log fails, a call is malformed, or memory is exhausted; with
//             success when the client closes the channel.
#pragma once

#include <vector>

#include "cli/crash/call_channel.h"
#include "logging/commit/ack_queue.h"
#include "procedures/session/session.h"

namespace mneme {

class CallServer {
 public:
  CallServer(const Program& program, Database& database, WorkerId worker, const SessionOptions& session,
             CallChannel channel);

  Result<void> run();

 private:
  // A reply that waits to be durable; AckQueue::Entry::tag is its place in replies_.
  struct Reply {
    uint64_t sequence = 0;
    ReplyStatus status = ReplyStatus::kAcknowledged;
    Lsn lsn;
    ByteBuffer results;
  };

  Result<void> run_call(ByteSpan message);
  void acknowledge();
  void send(const Reply& reply);
  // Nothing more can be done now: waits for the log, or for the client.
  Result<void> idle();

  const Program& program_;
  Database& database_;
  Worker& worker_;
  Session session_;
  CallChannel channel_;
  AckQueue acks_;
  std::vector<Reply> replies_;  // a ring as large as acks_
  uint64_t pushed_ = 0;
  Arena arena_;
  Call call_;
};

}  // namespace mneme
