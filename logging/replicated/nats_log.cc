#include "logging/replicated/nats_log.h"

#include <algorithm>
#include <charconv>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/clock.h"

namespace mneme {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

constexpr uint64_t kWidestWindow = 32;
constexpr milliseconds kAnswerLimit{500};       // for one answer, before others are asked
constexpr milliseconds kNatsRetryInterval{50};  // between two looks at servers that don't answer
// Between two looks for the next message, at the end: the longer nothing came, the longer.
constexpr milliseconds kShortestPoll{1};
constexpr milliseconds kLongestPoll{10};
constexpr milliseconds kUnsureAfter{1000};   // without an acknowledgement, what came is looked at
constexpr milliseconds kCountedAtOnce{200};  // of a silence: this process may itself have stood still
constexpr size_t kLeastBytes = size_t{16} << 10;

uint64_t ns(milliseconds time) {
  return static_cast<uint64_t>(nanoseconds(time).count());
}

// The numbers behind the inbox: "INBOX.a.b". False: they are others.
bool parse_numbers(std::string_view subject, size_t inbox_size, uint64_t& a, uint64_t& b) {
  if (subject.size() <= inbox_size + 1) return false;
  const char* end = subject.data() + subject.size();
  const auto first = std::from_chars(subject.data() + inbox_size + 1, end, a);
  if (first.ec != std::errc() || first.ptr == end) return false;
  const auto second = std::from_chars(first.ptr + 1, end, b);
  return second.ec == std::errc() && second.ptr == end;
}

Error later_term(const ReplicatedLogOptions& options, const LogTerm& newest, const LogTerm& wanted) {
  return failed(
      "the stream {} of the NATS servers {} refuses this engine: term {} of the log has begun there, and "
      "this is term {}; "
      "what it has not acknowledged may be missing from the log",
      options.stream, options.servers, newest.number, wanted.number);
}

}  // namespace

Result<std::unique_ptr<NatsReader>> NatsReader::open(const ReplicatedLogOptions& options) {
  auto connection = NatsConnection::open(options);
  if (!connection.ok()) return connection.error();
  std::unique_ptr<NatsReader> reader(new NatsReader(std::move(*connection)));
  const auto state = reader->connection_->info(options.patience);
  if (!state.ok()) return state.error();
  auto subscription = reader->connection_->subscribe(
      [raw = reader.get()](const NatsMessage& message) { raw->hear(message); });
  if (!subscription.ok()) return subscription.error();
  reader->subscription_ = std::move(*subscription);
  return reader;
}

void NatsReader::hear(const NatsMessage& message) {
  uint64_t round = 0;
  uint64_t index = 0;
  const size_t inbox_size = message.subject.find('.', message.subject.find('.') + 1);
  if (inbox_size == std::string_view::npos) return;
  if (!parse_numbers(message.subject, inbox_size, round, index)) return;
  const std::lock_guard guard(mutex_);
  if (round != round_ || index >= answers_.size() || answers_[index].has_come) return;
  Answer& answer = answers_[index];
  // Another status: no server is there for the request. It will be made again.
  if (message.status.empty()) {
    answer.bytes.assign(message.bytes.begin(), message.bytes.end());
  } else if (message.status == "404") {
    answer.is_missing = true;
  }
  answer.has_come = true;
  ++come_;
  changed_.notify_one();
}

// Asks for the window from that position on.
std::vector<NatsReader::Answer> NatsReader::ask(uint64_t position, milliseconds limit) {
  uint64_t round = 0;
  {
    const std::lock_guard guard(mutex_);
    round = ++round_;
    answers_.assign(window_, {});
    come_ = 0;
  }
  for (uint64_t i = 0; i < window_; ++i) {
    connection_->ask_message(position + i, fmt::format("{}.{}.{}", subscription_->inbox(), round, i));
  }
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit, [&] { return come_ == answers_.size(); });
  ++round_;
  return std::exchange(answers_, {});
}

Result<std::vector<ReplicatedPiece>> NatsReader::read(uint64_t position, milliseconds limit) {
  const std::string& stream = connection_->options().stream;
  const auto began = Clock::now();
  const auto deadline = began + limit;
  auto looked = began;
  uint32_t missed = 0;
  for (;;) {
    std::vector<Answer> answers = ask(position, kAnswerLimit);
    std::vector<ReplicatedPiece> pieces;
    for (Answer& each : answers) {
      if (each.bytes.empty()) break;
      const uint64_t at = position + pieces.size();
      const std::string where = fmt::format("message {} of the stream {}", at, stream);
      const auto header = ReplicatedHeader::decode(each.bytes, connection_->options().database_id, where);
      if (!header.ok()) return header.error();
      each.bytes.erase(each.bytes.begin(), each.bytes.begin() + kReplicatedHeaderBytes);
      pieces.push_back({at, header->term.number, header->segment, header->offset, std::move(each.bytes)});
    }
    window_ = pieces.size() == window_ ? std::min(2 * window_, kWidestWindow)
                                       : std::max<uint64_t>(1, pieces.size());
    if (!pieces.empty()) return pieces;
    const auto now = Clock::now();
    if (now >= deadline) return pieces;
    if (answers.front().is_missing && now - looked < kAnswerLimit) {
      const nanoseconds pause = std::clamp<nanoseconds>((now - began) / 8, kShortestPoll, kLongestPoll);
      std::this_thread::sleep_for(std::min<nanoseconds>(pause, deadline - now));
      continue;
    }
    // Is it yet to come, or gone?
    const auto state = connection_->info(kAnswerLimit);
    looked = Clock::now();
    if (!state.ok()) {
      if (state.error().kind != ErrorKind::kFailed) return state.error();
      std::this_thread::sleep_for(kNatsRetryInterval);
      continue;
    }
    if (position < state->first) {
      return damaged("message {} of the stream {} was dropped already: the oldest one there is {}", position,
                     stream, state->first);
    }
    // A server that has come back lacks it until it has caught up.
    if (position <= state->last && answers.front().is_missing && ++missed > 20) {
      return damaged("message {} of the stream {} is missing: it was deleted by hand", position, stream);
    }
  }
}

Result<uint64_t> NatsReader::first() {
  const auto state = connection_->info(connection_->options().patience);
  if (!state.ok()) return state.error();
  return state->first;
}

// A leader without followers may be a former one, behind the stream's real end.
Result<uint64_t> NatsReader::end() {
  const ReplicatedLogOptions& options = connection_->options();
  for (const auto deadline = Clock::now() + options.patience;;) {
    const auto state = connection_->info(options.patience);
    if (!state.ok()) return state.error();
    if (state->has_majority) return state->last + 1;
    if (Clock::now() >= deadline) {
      return failed(
          "no majority of the {} NATS servers that keep the stream {} is there: start those that are missing "
          "and "
          "try again; nothing was changed",
          state->replicas, options.stream);
    }
    std::this_thread::sleep_for(kNatsRetryInterval);
  }
}

Result<std::optional<NewestMessage>> NatsReader::newest() {
  return connection_->newest(connection_->options().patience);
}

Result<uint64_t> NatsReader::begin_term(const LogTerm& term) {
  const ReplicatedLogOptions& options = connection_->options();
  const auto deadline = Clock::now() + options.patience;
  const std::vector<std::byte> message = ReplicatedHeader{options.database_id, term, 0, 0, 0}.encode({});
  Error trouble;
  do {
    const auto newest = connection_->newest(kAnswerLimit);
    if (!newest.ok()) {
      if (newest.error().kind != ErrorKind::kFailed) return newest.error();
      trouble = newest.error();
      std::this_thread::sleep_for(kNatsRetryInterval);
      continue;
    }
    uint64_t last = 0;
    if (*newest) {
      const ReplicatedHeader& header = (*newest)->header;
      if (header.term == term && header.begins_term()) return (*newest)->position;
      if (header.term.number >= term.number) return later_term(options, header.term, term);
      last = (*newest)->position;
    } else {
      const auto state = connection_->info(kAnswerLimit);
      if (!state.ok()) return state.error();
      if (state->last > 0) {
        return damaged(
            "all messages of the stream {} have been removed: nobody can tell which engine may write to it; "
            "choose another --log-stream",
            options.stream);
      }
    }
    const auto appended = connection_->append(message, last, kAnswerLimit);
    if (appended.ok() && *appended) return **appended;
    // It may have come all the same: the newest message says so.
    trouble = appended.ok() ? failed("others append to the stream {} all the time", options.stream)
                            : appended.error();
  } while (Clock::now() < deadline);
  return trouble;
}

Result<std::unique_ptr<NatsAppender>> NatsAppender::open(const ReplicatedAppenderOptions& options) {
  CHECK(options.term.owner != 0);
  auto connection = NatsConnection::open(options.log);
  if (!connection.ok()) return connection.error();
  const auto made = (*connection)->make_stream(options.replicas);
  if (!made.ok()) return made.error();
  if ((*connection)->most_bytes() < kLeastBytes) {
    return invalid_argument(
        "the NATS servers {} take no messages above {} bytes: raise max_payload in their configuration",
        options.log.servers, (*connection)->most_bytes());
  }
  auto reader = NatsReader::open(options.log);
  if (!reader.ok()) return reader.error();
  const auto begin = (*reader)->begin_term(options.term);
  if (!begin.ok()) return begin.error();
  std::unique_ptr<NatsAppender> appender(new NatsAppender(options, std::move(*connection), *begin));
  auto subscription = appender->connection_->subscribe(
      [raw = appender.get()](const NatsMessage& message) { raw->hear(message); });
  if (!subscription.ok()) return subscription.error();
  appender->subscription_ = std::move(*subscription);
  return appender;
}

NatsAppender::NatsAppender(const ReplicatedAppenderOptions& options,
                           std::unique_ptr<NatsConnection> connection, uint64_t begin)
    : options_(options), connection_(std::move(connection)), begin_(begin), counted_ns_(monotonic_ns()) {}

size_t NatsAppender::most_bytes() const {
  return connection_->most_bytes() - kReplicatedHeaderBytes;
}

void NatsAppender::hear(const NatsMessage& message) {
  Answer answer;
  const size_t inbox_size = message.subject.find('.', message.subject.find('.') + 1);
  if (inbox_size == std::string_view::npos) return;
  if (!parse_numbers(message.subject, inbox_size, answer.generation, answer.number)) return;
  answer.ack = parse_nats_ack(message);
  const std::lock_guard guard(mutex_);
  answers_.push_back(std::move(answer));
  changed_.notify_one();
}

void NatsAppender::wake() {
  const std::lock_guard guard(mutex_);
  is_woken_ = true;
  changed_.notify_one();
}

// Sends it as the generation that is at work. What can't be sent is found missing later.
void NatsAppender::publish(uint64_t number) {
  const Piece& piece = pending_[number - acknowledged_];
  const ReplicatedHeader header{options_.log.database_id, options_.term, piece.segment, piece.offset,
                                static_cast<uint32_t>(piece.bytes.size())};
  const std::string answer_to = fmt::format("{}.{}.{}", subscription_->inbox(), generation_, number);
  if (!connection_->publish(header.encode(piece.bytes), last_before(number), answer_to)) is_unsure_ = true;
}

void NatsAppender::append(uint32_t segment, uint64_t offset, ByteSpan bytes) {
  CHECK(!bytes.empty());
  CHECK(bytes.size() <= most_bytes());
  if (pending_.empty()) {
    sent_ns_ = monotonic_ns();
    silent_ns_ = 0;
  }
  pending_.push_back({segment, offset, bytes});
  // Messages behind a missing one would be refused.
  if (!is_unsure_ && !failure_) publish(acknowledged_ + pending_.size() - 1);
}

void NatsAppender::acknowledge(uint64_t count) {
  if (count <= acknowledged_) return;
  CHECK(count - acknowledged_ <= pending_.size());
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count - acknowledged_));
  acknowledged_ = count;
  silent_ns_ = 0;
  sent_ns_ = monotonic_ns();
}

void NatsAppender::take(const Answer& answer) {
  if (answer.ack.sequence > 0) {
    if (answer.ack.sequence == last_before(answer.number) + 1) return acknowledge(answer.number + 1);
    return fail(damaged("the NATS servers {} put message {} of the stream {} where another belongs ({})",
                        options_.log.servers, last_before(answer.number) + 1, options_.log.stream,
                        answer.ack.sequence));
  }
  if (answer.generation != generation_ || answer.number < acknowledged_) return;
  trouble_ = answer.ack.error;
  is_unsure_ = true;
}

// The newest message shows how many of ours are there: a leader has applied what a majority has.
void NatsAppender::look_again() {
  look_at_ns_ = monotonic_ns() + ns(kNatsRetryInterval);
  const auto newest = connection_->newest(kAnswerLimit);
  if (!newest.ok()) {
    trouble_ = newest.error().message;
    return;
  }
  const uint64_t least = last_before(acknowledged_);
  if (*newest && (*newest)->header.term != options_.term &&
      (*newest)->header.term.number >= options_.term.number) {
    is_deposed_ = true;
    return fail(later_term(options_.log, (*newest)->header.term, options_.term));
  }
  // A leader that has been cut off may not know yet; one whose memory is lost will never know.
  if (!*newest || (*newest)->position < least || (*newest)->header.term != options_.term) {
    trouble_ =
        fmt::format("they have lost what they had acknowledged: the stream ends at {}, and had {} messages",
                    *newest ? (*newest)->position : 0, least);
    return;
  }
  acknowledge((*newest)->position - begin_);
  ++generation_;
  is_unsure_ = false;
  sent_ns_ = monotonic_ns();
  for (uint64_t i = 0; i < pending_.size() && !is_unsure_; ++i) publish(acknowledged_ + i);
}

void NatsAppender::count_silence() {
  const uint64_t now = monotonic_ns();
  const uint64_t passed = std::min(now - std::exchange(counted_ns_, now), ns(kCountedAtOnce + kAnswerLimit));
  if (pending_.empty()) {
    silent_ns_ = 0;
    return;
  }
  silent_ns_ += passed;
  if (silent_ns_ > ns(options_.silence)) {
    fail(failed("the NATS servers {} have acknowledged nothing for {} s: {}", options_.log.servers,
                std::chrono::duration<double>(options_.silence).count(), trouble_));
  }
}

void NatsAppender::fail(Error error) {
  if (!failure_) failure_ = std::move(error);
}

uint64_t NatsAppender::wait(nanoseconds limit) {
  const auto deadline = Clock::now() + limit;
  const uint64_t before = acknowledged_;
  for (;;) {
    std::deque<Answer> answers;
    bool is_woken = false;
    {
      std::unique_lock lock(mutex_);
      const auto look = Clock::now() + (is_unsure_ ? kNatsRetryInterval : kCountedAtOnce);
      changed_.wait_until(lock, std::min<Clock::time_point>(deadline, look),
                          [&] { return !answers_.empty() || is_woken_; });
      answers.swap(answers_);
      is_woken = std::exchange(is_woken_, false);
    }
    for (const Answer& each : answers) take(each);
    if (!failure_ && !pending_.empty()) {
      const uint64_t now = monotonic_ns();
      if (now - sent_ns_ > ns(kUnsureAfter)) is_unsure_ = true;
      if (is_unsure_ && now >= look_at_ns_) look_again();
    }
    count_silence();
    if (acknowledged_ > before || is_woken || failure_ || Clock::now() >= deadline) return acknowledged_;
  }
}

void NatsAppender::drop(uint64_t appended) {
  // An answer that is not heard is asked for again with the next one.
  connection_->ask_purge(begin_ + appended + 1, subscription_->inbox() + ".purge");
}

Result<std::optional<NewestMessage>> check_nats_log(const ReplicatedLogOptions& options, uint32_t replicas) {
  auto connection = NatsConnection::open(options);
  if (!connection.ok()) return connection.error();
  if (!options.stream.empty()) {
    const auto found = (*connection)->find_stream(options.patience);
    if (!found.ok()) return found.error();
    if (*found) {
      const auto made = (*connection)->make_stream(replicas);
      if (!made.ok()) return made.error();
      return (*connection)->newest(options.patience);
    }
  }
  RETURN_IF_ERROR((*connection)->check_replicas(replicas));
  return std::optional<NewestMessage>();
}

}  // namespace mneme
