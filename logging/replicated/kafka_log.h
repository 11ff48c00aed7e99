// KafkaLog: a replicated log on a topic of Kafka's, of one partition: acknowledged once the transaction that
// wrote it has ended, which as many brokers have as min.insync.replicas says, in their page caches.
//
// Writing     all that waits goes into one transaction, by a thread of the appender's, of a transactional id
//             that all writers of the topic share. An engine that initialises it has the brokers refuse every
//             earlier writer for good, and abort what that has under way: so a term has one writer, and each
//             message is there once.
// Reading     what is committed, in order. Control messages take positions, so those of the log have gaps.
// Dropping    is left to the keeper of the topic: it is an archive, made without limits.
// Threads     as replicated_log.h says.
// Source      KIP-98 (transactions, fencing by producer epochs), over librdkafka.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "logging/replicated/replicated_log.h"

struct rd_kafka_s;
struct rd_kafka_error_s;

namespace mneme {

struct DestroyKafkaClient {
  void operator()(rd_kafka_s* client) const;
};
using KafkaClient = std::unique_ptr<rd_kafka_s, DestroyKafkaClient>;

// The one that may write to a topic, until the next one is opened.
class KafkaProducer {
 public:
  enum class Outcome { kDone, kRefused, kFailed };  // kRefused: another one was opened

  // No producer that was opened before can write any more when this returns.
  static Result<std::unique_ptr<KafkaProducer>> open(const ReplicatedLogOptions& options);

  // Writes them in one transaction. kFailed: none of them is there, and it can be tried again; why:
  // trouble().
  Outcome write(const std::vector<std::vector<std::byte>>& messages, std::chrono::milliseconds limit);
  const std::string& trouble() const { return trouble_; }

 private:
  KafkaProducer(const ReplicatedLogOptions& options, KafkaClient client)
      : options_(options), client_(std::move(client)) {}
  Outcome note(rd_kafka_error_s* error);

  const ReplicatedLogOptions options_;
  const KafkaClient client_;
  std::string trouble_ = "no answer";
};

class KafkaReader : public ReplicatedClaimant {
 public:
  struct Marks {
    uint64_t low;
    uint64_t high;
  };
  // The topic must be there.
  static Result<std::unique_ptr<KafkaReader>> open(const ReplicatedLogOptions& options);

  Result<std::vector<ReplicatedPiece>> read(uint64_t position, std::chrono::milliseconds limit) override;
  Result<uint64_t> first() override;
  Result<uint64_t> end() override;
  Result<std::optional<NewestMessage>> newest() override;
  Result<uint64_t> begin_term(const LogTerm& term) override;
  // As begin_term(), and gives away the producer that may go on.
  Result<uint64_t> begin_term(const LogTerm& term, std::unique_ptr<KafkaProducer>& producer);

 private:
  struct Read {
    uint64_t position;
    ReplicatedHeader header;
    std::vector<std::byte> bytes;
  };

  KafkaReader(const ReplicatedLogOptions& options, KafkaClient client)
      : options_(options), client_(std::move(client)) {}
  Result<Marks> marks();
  Result<Marks> settled_marks();
  Result<void> stand_at(uint64_t position);
  // From there on, at least one unless the time is over, or, where `until_end` says so, none is there.
  Result<std::vector<Read>> read_some(uint64_t position, std::chrono::milliseconds limit, bool until_end);

  const ReplicatedLogOptions options_;
  const KafkaClient client_;
  std::optional<uint64_t> next_;  // where the consumer stands
  bool is_at_end_ = false;        // of what was there when it was asked for
};

class KafkaAppender : public ReplicatedAppender {
 public:
  static Result<std::unique_ptr<KafkaAppender>> open(const ReplicatedAppenderOptions& options);
  ~KafkaAppender() override;

  void append(uint32_t segment, uint64_t offset, ByteSpan bytes) override;
  uint64_t wait(std::chrono::nanoseconds limit) override;
  void wake() override;
  void drop(uint64_t) override {}
  std::optional<Error> failure() const override;
  bool is_deposed() const override;
  uint64_t begin() const override { return begin_; }
  size_t most_bytes() const override;

 private:
  KafkaAppender(const ReplicatedAppenderOptions& options, std::unique_ptr<KafkaProducer> producer,
                uint64_t begin);
  void run();
  bool write(const std::vector<std::vector<std::byte>>& messages);
  bool has_later_term() const;

  const ReplicatedAppenderOptions options_;
  const std::unique_ptr<KafkaProducer> producer_;  // the thread's
  const uint64_t begin_;

  mutable std::mutex mutex_;  // guards the next ones
  std::condition_variable changed_;
  std::vector<std::vector<std::byte>> queued_;
  uint64_t acknowledged_ = 0;
  uint64_t told_ = 0;  // of these, by wait()
  bool has_told_failure_ = false;
  bool is_woken_ = false;
  bool is_closing_ = false;
  bool is_deposed_ = false;
  std::optional<Error> failure_;

  std::thread thread_;  // last: it uses all of the above
};

// Whether such a log could be made, or is there and could be written to.
Result<std::optional<NewestMessage>> check_kafka_log(const ReplicatedLogOptions& options, uint32_t replicas);

}  // namespace mneme
