#include "logging/replicated/kafka_log.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "logging/replicated/kafka_topic.h"

namespace mneme {

namespace {

using namespace kafka;
using std::chrono::milliseconds;
using Outcome = KafkaProducer::Outcome;

constexpr int kPartition = 0;
constexpr size_t kMostBytes = size_t{896} << 10;  // below the brokers' default limit
constexpr size_t kMostRead = 64;
constexpr uint64_t kLastMessages = 16;           // looked at for the newest; the rest are control messages
constexpr milliseconds kTransactionLimit{1000};  // for one try
constexpr milliseconds kSettleLimit{2000};
constexpr milliseconds kSettleInterval{5};

Result<KafkaReader::Marks> marks_of(rd_kafka_t& client, const ReplicatedLogOptions& options) {
  int64_t low = 0;
  int64_t high = 0;
  const rd_kafka_resp_err_t error = rd_kafka_query_watermark_offsets(
      &client, options.stream.c_str(), kPartition, &low, &high, static_cast<int>(options.patience.count()));
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
    return KafkaReader::Marks{static_cast<uint64_t>(low), static_cast<uint64_t>(high)};
  }
  return failed("the Kafka brokers {} don't tell where the topic {} ends: {}", options.servers,
                options.stream, rd_kafka_err2str(error));
}

Error kafka_has_later_term(const ReplicatedLogOptions& options, const std::string& what) {
  return failed(
      "the topic {} of the Kafka brokers {} refuses this engine: {}; what it has not acknowledged may be "
      "missing "
      "from the log",
      options.stream, options.servers, what);
}

}  // namespace

Result<std::unique_ptr<KafkaProducer>> KafkaProducer::open(const ReplicatedLogOptions& options) {
  auto client = make_client(RD_KAFKA_PRODUCER, options,
                            {{"transactional.id", "mneme-log-" + options.stream},
                             {"transaction.timeout.ms", "60000"},
                             {"linger.ms", "0"},
                             {"compression.type", "none"}});
  if (!client.ok()) return client.error();
  // Otherwise the library looks for the topic a second after the first message.
  const auto topic = find_topic(*client, options);
  if (!topic.ok()) return topic.error();
  const auto deadline = Clock::now() + 4 * options.patience;
  for (;;) {
    const ErrorPointer error(rd_kafka_init_transactions(client->get(), std::max(1, left_until(deadline))));
    if (error == nullptr)
      return std::unique_ptr<KafkaProducer>(new KafkaProducer(options, std::move(*client)));
    if (!rd_kafka_error_is_retriable(error.get()) || left_until(deadline) == 0) {
      return failed("the Kafka brokers {} give nobody the topic {} to write to: {}", options.servers,
                    options.stream, rd_kafka_error_string(error.get()));
    }
  }
}

Outcome KafkaProducer::note(rd_kafka_error_t* error) {
  trouble_ = rd_kafka_error_string(error);
  const rd_kafka_resp_err_t code = rd_kafka_error_code(error);
  const bool is_fenced = code == RD_KAFKA_RESP_ERR__FENCED || code == RD_KAFKA_RESP_ERR_PRODUCER_FENCED ||
                         code == RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH;
  return is_fenced || rd_kafka_error_is_fatal(error) ? Outcome::kRefused : Outcome::kFailed;
}

Outcome KafkaProducer::write(const std::vector<std::vector<std::byte>>& messages, milliseconds limit) {
  if (const ErrorPointer error{rd_kafka_begin_transaction(client_.get())}) return note(error.get());
  ErrorPointer error;
  for (const auto& message : messages) {
    const rd_kafka_resp_err_t produced = rd_kafka_producev(
        client_.get(), RD_KAFKA_V_TOPIC(options_.stream.c_str()), RD_KAFKA_V_PARTITION(kPartition),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_VALUE(const_cast<std::byte*>(message.data()), message.size()), RD_KAFKA_V_END);
    if (produced == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    error.reset(rd_kafka_error_new(produced, "%s", rd_kafka_err2str(produced)));
    break;
  }
  const auto deadline = Clock::now() + limit;
  while (error == nullptr) {
    ErrorPointer ended(
        rd_kafka_commit_transaction(client_.get(), static_cast<int>(kTransactionLimit.count())));
    if (ended == nullptr) return Outcome::kDone;
    // It may yet end: until it has, or was aborted, its outcome is unknown.
    if (rd_kafka_error_is_retriable(ended.get()) && !rd_kafka_error_txn_requires_abort(ended.get()) &&
        left_until(deadline) > 0) {
      trouble_ = rd_kafka_error_string(ended.get());
      continue;
    }
    error = std::move(ended);
  }
  const Outcome outcome = note(error.get());
  if (outcome == Outcome::kRefused || !rd_kafka_error_txn_requires_abort(error.get())) return outcome;
  while (left_until(deadline) > 0) {
    const ErrorPointer aborted(
        rd_kafka_abort_transaction(client_.get(), static_cast<int>(kTransactionLimit.count())));
    if (aborted == nullptr) return Outcome::kFailed;
    if (note(aborted.get()) == Outcome::kRefused) return Outcome::kRefused;
  }
  return Outcome::kRefused;
}

Result<std::unique_ptr<KafkaReader>> KafkaReader::open(const ReplicatedLogOptions& options) {
  auto client = make_consumer(options);
  if (!client.ok()) return client.error();
  const auto state = find_topic(*client, options);
  if (!state.ok()) return state.error();
  if (state->replicas == 0) {
    return damaged(
        "the log is lost: the Kafka brokers {} have no topic {}, unless they are others than those that had "
        "it. "
        "Restore the data directory from a backup; nothing was changed",
        options.servers, options.stream);
  }
  return std::unique_ptr<KafkaReader>(new KafkaReader(options, std::move(*client)));
}

Result<KafkaReader::Marks> KafkaReader::marks() {
  return marks_of(*client_, options_);
}

// A transaction that has ended is committed for readers a little later. One that hasn't, since its engine
// died, will be aborted.
Result<KafkaReader::Marks> KafkaReader::settled_marks() {
  auto all = make_consumer(options_, "read_uncommitted");
  if (!all.ok()) return all.error();
  const auto with_open_ones = marks_of(**all, options_);
  if (!with_open_ones.ok()) return with_open_ones.error();
  for (const auto deadline = Clock::now() + kSettleLimit;;) {
    const auto committed = marks();
    if (!committed.ok() || committed->high >= with_open_ones->high || left_until(deadline) == 0)
      return committed;
    std::this_thread::sleep_for(kSettleInterval);
  }
}

Result<void> KafkaReader::stand_at(uint64_t position) {
  if (next_ == position) return {};
  const Partitions partitions(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(partitions.get(), options_.stream.c_str(), kPartition)->offset =
      static_cast<int64_t>(position);
  next_.reset();
  const rd_kafka_resp_err_t error = rd_kafka_assign(client_.get(), partitions.get());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return failed("the topic {} can't be read: {}", options_.stream, rd_kafka_err2str(error));
  }
  next_ = position;
  return {};
}

Result<std::vector<KafkaReader::Read>> KafkaReader::read_some(uint64_t position, milliseconds limit,
                                                              bool until_end) {
  RETURN_IF_ERROR(stand_at(position));
  const auto deadline = Clock::now() + limit;
  std::vector<Read> found;
  is_at_end_ = false;
  while (found.size() < kMostRead) {
    const MessagePointer message(
        rd_kafka_consumer_poll(client_.get(), found.empty() ? left_until(deadline) : 0));
    if (message == nullptr) break;
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      is_at_end_ = true;
      if (!found.empty() || until_end) break;
      continue;
    }
    if (message->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET ||
        message->err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE) {
      next_.reset();
      const auto range = marks();
      if (!range.ok()) return range.error();
      return damaged(
          "message {} of the topic {} is not there: it has messages {} to {}, and older ones were dropped "
          "already",
          position, options_.stream, range->low, range->high);
    }
    // The library tries again; it ends with the time.
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    const auto at = static_cast<uint64_t>(message->offset);
    const ByteSpan bytes{static_cast<const std::byte*>(message->payload), message->len};
    const std::string where = fmt::format("message {} of the topic {}", at, options_.stream);
    auto header = ReplicatedHeader::decode(bytes, options_.database_id, where);
    if (!header.ok()) {
      next_.reset();
      return header.error();
    }
    found.push_back({at, *header, {bytes.begin() + kReplicatedHeaderBytes, bytes.end()}});
    next_ = at + 1;
  }
  return found;
}

Result<std::vector<ReplicatedPiece>> KafkaReader::read(uint64_t position, milliseconds limit) {
  auto found = read_some(position, limit, /*until_end=*/false);
  if (!found.ok()) return found.error();
  std::vector<ReplicatedPiece> pieces;
  for (Read& each : *found) {
    pieces.push_back({each.position, each.header.term.number, each.header.segment, each.header.offset,
                      std::move(each.bytes)});
  }
  return pieces;
}

Result<uint64_t> KafkaReader::first() {
  const auto found = marks();
  if (!found.ok()) return found.error();
  return found->low;
}

Result<std::optional<NewestMessage>> KafkaReader::newest() {
  const auto range = settled_marks();
  if (!range.ok()) return range.error();
  for (uint64_t back = kLastMessages;; back *= 4) {
    const uint64_t begin = range->high - range->low > back ? range->high - back : range->low;
    std::optional<NewestMessage> newest;
    next_.reset();  // the end is reported once to a consumer that stands there
    for (uint64_t at = begin; at == begin || !is_at_end_;) {
      const auto found = read_some(at, options_.patience, /*until_end=*/true);
      if (!found.ok()) return found.error();
      if (found->empty()) {
        if (is_at_end_) break;
        return failed("the Kafka brokers {} don't give the last messages of the topic {}", options_.servers,
                      options_.stream);
      }
      newest = NewestMessage{found->back().position, found->back().header};
      at = newest->position + 1;
    }
    if (newest || begin == range->low) return newest;
  }
}

Result<uint64_t> KafkaReader::end() {
  const auto last = newest();
  if (!last.ok()) return last.error();
  if (*last) return (*last)->position + 1;
  return first();
}

Result<uint64_t> KafkaReader::begin_term(const LogTerm& term) {
  std::unique_ptr<KafkaProducer> producer;
  return begin_term(term, producer);
}

Result<uint64_t> KafkaReader::begin_term(const LogTerm& term, std::unique_ptr<KafkaProducer>& producer) {
  // Looked at before an engine is fenced, and again when no other can write.
  for (const bool is_alone : {false, true}) {
    const auto last = newest();
    if (!last.ok()) return last.error();
    const bool is_ours = *last && (*last)->header.term == term && (*last)->header.begins_term();
    if (*last && !is_ours && (*last)->header.term.number >= term.number) {
      return kafka_has_later_term(options_,
                                  fmt::format("term {} of the log has begun there, and this is term {}",
                                              (*last)->header.term.number, term.number));
    }
    if (is_alone && is_ours) return (*last)->position;
    if (is_alone) break;
    auto opened = KafkaProducer::open(options_);
    if (!opened.ok()) return opened.error();
    producer = std::move(*opened);
  }
  const ReplicatedHeader header{options_.database_id, term, 0, 0, 0};
  switch (producer->write({header.encode({})}, 4 * options_.patience)) {
    case Outcome::kDone:
      break;
    case Outcome::kRefused:
      return kafka_has_later_term(options_, producer->trouble());
    case Outcome::kFailed:
      return failed("the Kafka brokers {} take nothing for the topic {}: {}", options_.servers,
                    options_.stream, producer->trouble());
  }
  const auto last = newest();
  if (!last.ok()) return last.error();
  if (!*last || (*last)->header.term != term)
    return kafka_has_later_term(options_, "another term has begun there");
  return (*last)->position;
}

Result<std::unique_ptr<KafkaAppender>> KafkaAppender::open(const ReplicatedAppenderOptions& options) {
  CHECK(options.term.owner != 0);
  RETURN_IF_ERROR(make_topic(options.log, options.replicas));
  auto reader = KafkaReader::open(options.log);
  if (!reader.ok()) return reader.error();
  std::unique_ptr<KafkaProducer> producer;
  const auto begin = (*reader)->begin_term(options.term, producer);
  if (!begin.ok()) return begin.error();
  return std::unique_ptr<KafkaAppender>(new KafkaAppender(options, std::move(producer), *begin));
}

KafkaAppender::KafkaAppender(const ReplicatedAppenderOptions& options,
                             std::unique_ptr<KafkaProducer> producer, uint64_t begin)
    : options_(options), producer_(std::move(producer)), begin_(begin), thread_([this] { run(); }) {}

KafkaAppender::~KafkaAppender() {
  {
    const std::lock_guard guard(mutex_);
    is_closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

size_t KafkaAppender::most_bytes() const {
  return kMostBytes;
}

void KafkaAppender::append(uint32_t segment, uint64_t offset, ByteSpan bytes) {
  CHECK(!bytes.empty());
  CHECK(bytes.size() <= kMostBytes);
  const ReplicatedHeader header{options_.log.database_id, options_.term, segment, offset,
                                static_cast<uint32_t>(bytes.size())};
  std::vector<std::byte> message = header.encode(bytes);
  {
    const std::lock_guard guard(mutex_);
    queued_.push_back(std::move(message));
  }
  changed_.notify_all();
}

// An engine that fences this one begins its term a little later. Without one the brokers gave up a
// transaction that took too long.
bool KafkaAppender::has_later_term() const {
  const auto deadline = Clock::now() + options_.log.patience;
  do {
    const auto reader = KafkaReader::open(options_.log);
    const auto last =
        reader.ok() ? (*reader)->newest() : Result<std::optional<NewestMessage>>(reader.error());
    if (last.ok() && *last && (*last)->header.term != options_.term &&
        (*last)->header.term.number >= options_.term.number) {
      return true;
    }
    std::this_thread::sleep_for(kRetryInterval);
  } while (left_until(deadline) > 0);
  return false;
}

// Returns whether it is there; otherwise it never will be.
bool KafkaAppender::write(const std::vector<std::vector<std::byte>>& messages) {
  const auto deadline = Clock::now() + options_.silence;
  Outcome outcome = Outcome::kFailed;
  for (;;) {
    outcome = producer_->write(messages, options_.silence);
    if (outcome == Outcome::kDone) return true;
    if (outcome == Outcome::kRefused || left_until(deadline) == 0) break;
    std::this_thread::sleep_for(kRetryInterval);
  }
  const bool is_refused = outcome == Outcome::kRefused;
  const bool is_deposed = is_refused && has_later_term();
  const std::lock_guard guard(mutex_);
  is_deposed_ = is_deposed;
  failure_ = is_deposed ? kafka_has_later_term(options_.log,
                                               fmt::format("a later term than {} of the log has begun there",
                                                           options_.term.number))
             : is_refused
                 ? failed(
                       "the Kafka brokers {} refuse this engine's transactions, and no other engine writes "
                       "to the topic {}: {}",
                       options_.log.servers, options_.log.stream, producer_->trouble())
                 : failed("the Kafka brokers {} have acknowledged nothing for {} s: {}", options_.log.servers,
                          std::chrono::duration<double>(options_.silence).count(), producer_->trouble());
  return false;
}

void KafkaAppender::run() {
  for (;;) {
    std::vector<std::vector<std::byte>> messages;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !queued_.empty() || is_closing_; });
      if (is_closing_) return;
      messages.swap(queued_);
    }
    if (!write(messages)) break;
    {
      const std::lock_guard guard(mutex_);
      acknowledged_ += messages.size();
    }
    changed_.notify_all();
  }
  changed_.notify_all();
}

uint64_t KafkaAppender::wait(std::chrono::nanoseconds limit) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit,
                    [&] { return acknowledged_ > told_ || is_woken_ || (failure_ && !has_told_failure_); });
  has_told_failure_ = failure_.has_value();
  is_woken_ = false;
  return told_ = acknowledged_;
}

void KafkaAppender::wake() {
  {
    const std::lock_guard guard(mutex_);
    is_woken_ = true;
  }
  changed_.notify_all();
}

std::optional<Error> KafkaAppender::failure() const {
  const std::lock_guard guard(mutex_);
  return failure_;
}

bool KafkaAppender::is_deposed() const {
  const std::lock_guard guard(mutex_);
  return is_deposed_;
}

Result<std::optional<NewestMessage>> check_kafka_log(const ReplicatedLogOptions& options, uint32_t replicas) {
  auto client = make_consumer(options);
  if (!client.ok()) return client.error();
  const auto state = find_topic(*client, options);
  if (!state.ok()) return state.error();
  RETURN_IF_ERROR(check_topic(*state, options, replicas));
  if (state->replicas == 0) return std::optional<NewestMessage>();
  auto reader = KafkaReader::open(options);
  if (!reader.ok()) return reader.error();
  return (*reader)->newest();
}

}  // namespace mneme
