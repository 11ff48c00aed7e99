#include "cli/crash/call_server.h"

#include <utility>

#include "base/clock.h"
#include "procedures/interpreter/call_codec.h"

namespace mneme {
namespace {

// More than a client's window: a full queue is never met.
constexpr size_t kMaxRepliesHeld = 4096;

}  // namespace

CallServer::CallServer(const Program& program, Database& database, WorkerId worker,
                       const SessionOptions& session, CallChannel channel)
    : program_(program),
      database_(database),
      worker_(database.worker(worker)),
      session_(program, database, worker, session),
      channel_(std::move(channel)),
      acks_(kMaxRepliesHeld),
      replies_(kMaxRepliesHeld) {}

Result<void> CallServer::run() {
  for (;;) {
    ByteSpan message;
    const CallChannel::Receive received = channel_.receive(message);
    if (received == CallChannel::Receive::kMessage) RETURN_IF_ERROR(run_call(message));
    acknowledge();
    if (received == CallChannel::Receive::kClosed) return {};
    if (received == CallChannel::Receive::kNothingYet) RETURN_IF_ERROR(idle());
  }
}

Result<void> CallServer::run_call(ByteSpan message) {
  if (acks_.full()) {
    if (!database_.log().wait_durable(acks_.front().lsn)) return *database_.log().failure();
    acknowledge();
  }
  ByteReader reader(message);
  const auto sequence = reader.get<uint64_t>();
  arena_.reset();
  RETURN_IF_ERROR(decode_call(program_, reader.get_bytes(reader.remaining()), arena_, call_));

  const CallResult result = session_.run(call_);
  Reply& reply = replies_[pushed_ % replies_.size()];
  reply.sequence = sequence;
  reply.lsn = result.lsn;
  reply.results.clear();
  switch (result.status) {
    case CallResult::Status::kCommitted:
      reply.status = result.logged ? ReplyStatus::kAcknowledged : ReplyStatus::kReadOnly;
      encode_results(program_.procedure(call_.procedure), result.results, reply.results);
      break;
    case CallResult::Status::kRolledBack:
      reply.status = ReplyStatus::kRolledBack;
      break;
    case CallResult::Status::kLogFailed:
      return *database_.log().failure();
    case CallResult::Status::kRefused:
    case CallResult::Status::kGaveUp:
    case CallResult::Status::kOutOfMemory:
    case CallResult::Status::kStopped:
      return failed("call {} of {}: {}", sequence, program_.procedure(call_.procedure).name, result.message);
  }
  acks_.push({result.lsn, monotonic_ns(), pushed_});
  ++pushed_;
  return {};
}

void CallServer::acknowledge() {
  acks_.poll(database_.log().durable(),
             [this](const AckQueue::Entry& entry) { send(replies_[entry.tag % replies_.size()]); });
  // A client that is gone is noticed by receive().
  (void)channel_.send_some();
}

void CallServer::send(const Reply& reply) {
  ByteBuffer& message = channel_.begin_message();
  message.put<uint64_t>(reply.sequence);
  message.put(static_cast<uint8_t>(reply.status));
  message.put<uint64_t>(reply.lsn.value);
  message.put_bytes(reply.results.span());
  channel_.end_message();
}

Result<void> CallServer::idle() {
  worker_.tidy(database_.log());
  if (acks_.empty()) {
    channel_.wait(/*timeout_ms=*/20);
  } else if (!database_.log().wait_durable(acks_.front().lsn)) {
    return *database_.log().failure();
  }
  return {};
}

}  // namespace mneme
