// NatsLog: a replicated log on a stream of NATS JetStream in the memories of its servers: acknowledged once a
// majority of the stream's Raft group has it.
//
// Order       a message says which sequence must be the stream's newest when it is appended; the servers
//             check that as they apply it, so several may be under way and none is appended twice, or out of
//             order, or after another term's. A term's messages have sequences without a gap.
// Lost answers, new leaders  whatever goes wrong, the newest message shows how much of ours is there: the
//                            rest is sent again.
// Reading     by sequence, several asked for at once, of whichever server answers.
// Threads     as replicated_log.h says; answers come on a thread of the library's.
// Source      NATS' ADR-1 (API), ADR-8 (direct get), and expected-last-sequence of its publishes.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "logging/replicated/nats_connection.h"
#include "logging/replicated/replicated_log.h"

namespace mneme {

class NatsReader : public ReplicatedClaimant {
 public:
  static Result<std::unique_ptr<NatsReader>> open(const ReplicatedLogOptions& options);

  Result<std::vector<ReplicatedPiece>> read(uint64_t position, std::chrono::milliseconds limit) override;
  Result<uint64_t> first() override;
  Result<uint64_t> end() override;
  Result<std::optional<NewestMessage>> newest() override;
  Result<uint64_t> begin_term(const LogTerm& term) override;

 private:
  struct Answer {
    bool has_come = false;
    bool is_missing = false;  // there is none, as far as that server knows
    std::vector<std::byte> bytes;
  };

  explicit NatsReader(std::unique_ptr<NatsConnection> connection) : connection_(std::move(connection)) {}
  void hear(const NatsMessage& message);
  std::vector<Answer> ask(uint64_t position, std::chrono::milliseconds limit);

  const std::unique_ptr<NatsConnection> connection_;
  uint64_t window_ = 1;  // messages asked for at once

  std::mutex mutex_;  // guards the next ones
  std::condition_variable changed_;
  uint64_t round_ = 0;
  std::vector<Answer> answers_;  // of this round
  size_t come_ = 0;

  std::unique_ptr<NatsSubscription> subscription_;  // last: it ends first
};

class NatsAppender : public ReplicatedAppender {
 public:
  static Result<std::unique_ptr<NatsAppender>> open(const ReplicatedAppenderOptions& options);

  void append(uint32_t segment, uint64_t offset, ByteSpan bytes) override;
  uint64_t wait(std::chrono::nanoseconds limit) override;
  void wake() override;
  void drop(uint64_t appended) override;
  std::optional<Error> failure() const override { return failure_; }
  bool is_deposed() const override { return is_deposed_; }
  uint64_t begin() const override { return begin_; }
  size_t most_bytes() const override;

 private:
  struct Piece {
    uint32_t segment;
    uint64_t offset;
    ByteSpan bytes;
  };
  struct Answer {
    uint64_t generation;
    uint64_t number;
    NatsAck ack;
  };

  NatsAppender(const ReplicatedAppenderOptions& options, std::unique_ptr<NatsConnection> connection,
               uint64_t begin);
  void hear(const NatsMessage& message);
  uint64_t last_before(uint64_t number) const { return begin_ + number; }
  void publish(uint64_t number);
  void take(const Answer& answer);
  void acknowledge(uint64_t count);
  void look_again();
  void count_silence();
  void fail(Error error);

  const ReplicatedAppenderOptions options_;
  const std::unique_ptr<NatsConnection> connection_;
  const uint64_t begin_;  // the sequence of the message by which the term begins

  std::deque<Piece> pending_;  // appended, and not acknowledged
  uint64_t acknowledged_ = 0;  // so many
  uint64_t generation_ = 0;    // of sending: an error of an older one means nothing any more
  bool is_unsure_ = false;     // what the stream holds must be looked at
  uint64_t look_at_ns_ = 0;    // not before
  uint64_t sent_ns_ = 0;       // the oldest pending one, as far as is known
  uint64_t silent_ns_ = 0;     // without an acknowledgement, while one is owed
  uint64_t counted_ns_ = 0;    // when silent_ns_ was
  std::string trouble_ = "no answer";
  std::optional<Error> failure_;
  bool is_deposed_ = false;

  std::mutex mutex_;  // guards the next ones
  std::condition_variable changed_;
  std::deque<Answer> answers_;
  bool is_woken_ = false;

  std::unique_ptr<NatsSubscription> subscription_;  // last: it ends first
};

// Whether such a log could be made, or is there and could be written to.
Result<std::optional<NewestMessage>> check_nats_log(const ReplicatedLogOptions& options, uint32_t replicas);

}  // namespace mneme
