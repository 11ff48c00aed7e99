// RemoteQueue: SepLog's agent: chains of a write and a flush, to the memories of log servers, several in
// flight.
//
// Flow        submit(): into the engine's own copy, and to all servers, without waiting for any -> wait():
//             FLUSHED of a majority ends the chain
// Join        a server that comes back gets all of the log that is left, from the copy, piece by piece beside
//             what is written meanwhile; once it has all it counts again.
// Invariants  each server is sent the log in its order, so what it holds of it always ends at one place: of a
//             majority, the one that goes furthest has all that was acknowledged. A file's handle is its
//             segment's number.
// Threads     as IoQueue says, and the keeper's.
// Waiting     as IoQueue says; and once, when the majority is lost, for the copy to be saved.
// Errors      without a majority, or deposed by a later term, no chain succeeds any more: failure() says why.
//             In the first case the engine's copy is saved into the data directory before.
// Source      SepLog, sections 4 and 5; several servers, and flushes in flight, are what its section 7 asks
//             for.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "logging/device/io_queue.h"
#include "logging/remote/remote_segments.h"
#include "logging/remote/server_keeper.h"
#include "network/message_channel.h"
#include "network/socket_loop.h"

namespace mneme {

struct RemoteQueueOptions {
  ServerKeeperOptions servers;
  size_t segment_bytes = 0;
  // A server that owes an answer for so long is lost, though its machine may live.
  std::chrono::milliseconds silence{10'000};
  std::function<void(const std::string&)> tell = [](const std::string&) {};
};

class RemoteQueue : public IoQueue {
 public:
  // Returns once a majority of the servers has accepted the term. `segments` outlives the queue.
  static Result<std::unique_ptr<RemoteQueue>> open(const RemoteQueueOptions& options,
                                                   RemoteSegments& segments);

  int attach(int handle) override;
  void submit(const IoChain& chain) override;
  void wait(std::chrono::nanoseconds limit, std::vector<IoCompletion>& ended) override;
  void wake() override { loop_->wake(); }
  std::optional<Error> failure() const override { return failure_; }

  // A sentence for each thing that had to be done without.
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  // One server. Without a channel it is lost, and the keeper looks for it.
  struct Server {
    SocketId socket;
    std::unique_ptr<MessageChannel> channel;
    uint64_t identity = 0;   // as WELCOME reported it
    uint64_t asked = 0;      // the last flush that it was asked for
    uint64_t flushed = 0;    // the last that it has reported
    uint64_t silent_ns = 0;  // since it began to owe an answer, or gave one
    // While it is behind: the part of the copy that it gets next.
    bool is_behind = false;
    uint32_t next_file = 0;
    uint64_t next_offset = 0;

    bool is_there() const { return channel != nullptr; }
  };
  struct InFlight {
    uint64_t tag;
    uint64_t sequence;
  };

  RemoteQueue(const RemoteQueueOptions& options, RemoteSegments& segments, std::unique_ptr<SocketLoop> loop);
  Result<void> check_identity(size_t index, const JoinedServer& joined) const;
  void join(size_t index, JoinedServer joined, bool is_behind);
  void take_outcomes();
  void lose(size_t index, std::string why);
  void send(size_t index, const LogMessage& message);
  void send_range(size_t index, const SegmentCopy& copy, uint64_t begin, uint64_t end);
  void push(size_t index);
  void catch_up(size_t index);
  bool send_next_piece(size_t index);
  void let_go_of_dropped();
  void take_event(const SocketEvent& event);
  void lose_silent();
  std::chrono::nanoseconds look_interval() const { return options_.silence / 10; }
  void take_message(size_t index, const LogMessage& message);
  void end_chains(std::vector<IoCompletion>& ended);
  uint32_t servers_there() const;
  void fail(Error error);

  const RemoteQueueOptions options_;
  const uint32_t majority_;  // that make a record durable
  RemoteSegments& segments_;
  std::vector<std::string> notices_;
  const std::unique_ptr<SocketLoop> loop_;

  // Owned by the flusher.
  std::vector<Server> servers_;
  std::map<uint32_t, std::shared_ptr<SegmentCopy>> copies_;  // of the attached segments
  std::deque<InFlight> in_flight_;                           // in log order
  uint64_t sequence_ = 0;                                    // of the last flush
  std::vector<SocketEvent> events_;                          // of one wait()
  uint64_t looked_ns_;                                       // when lose_silent() was called last
  std::string last_loss_;
  std::optional<Error> failure_;

  ServerKeeper keeper_;  // last: it ends first, while the loop that it wakes is there
};

}  // namespace mneme
