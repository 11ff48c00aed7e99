#include "cli/crash/call_client.h"

#include <utility>

#include "base/check.h"
#include "procedures/interpreter/call_codec.h"
#include "procedures/times/timestamp.h"

namespace mneme {

CallClient::CallClient(const Program& program, std::unique_ptr<CallGenerator> generator, CallChannel channel,
                       Options options)
    : program_(program), generator_(std::move(generator)), channel_(std::move(channel)), options_(options) {}

void CallClient::run() {
  for (;;) {
    const bool sending = !stopping_.load(std::memory_order_relaxed) && journal_.size() < options_.call_limit;
    if (sending) send_calls();
    if (!sending && unanswered_ == 0) return;
    // A server that no longer takes calls may still have sent replies: only the end of its replies ends the
    // run.
    const bool server_reads = channel_.send_some();
    if (!take_replies()) return;
    const bool can_send_more = sending && server_reads && unanswered_ < options_.window;
    if (!can_send_more) channel_.wait(/*timeout_ms=*/20);
  }
}

void CallClient::send_calls() {
  while (unanswered_ < options_.window && journal_.size() < options_.call_limit) {
    const uint64_t sequence = journal_.size();
    payload_.clear();
    encode_call(program_, next_call(sequence), payload_);
    JournalledCall& call = journal_.emplace_back();
    call.payload.assign(payload_.span().begin(), payload_.span().end());

    ByteBuffer& message = channel_.begin_message();
    message.put<uint64_t>(sequence);
    message.put_bytes(payload_.span());
    channel_.end_message();
    ++unanswered_;
  }
}

const Call& CallClient::next_call(uint64_t sequence) {
  const Call& call = generator_->call(sequence);
  if (!program_.procedure(call.procedure).call_time.valid()) return call;
  timed_call_ = call;
  timed_call_.arguments.push_back(Argument::of(Value::of_int(current_timestamp())));
  return timed_call_;
}

bool CallClient::take_replies() {
  for (;;) {
    ByteSpan message;
    switch (channel_.receive(message)) {
      case CallChannel::Receive::kMessage:
        take_reply(message);
        break;
      case CallChannel::Receive::kNothingYet:
        return true;
      case CallChannel::Receive::kClosed:
        return false;
    }
  }
}

void CallClient::take_reply(ByteSpan message) {
  ByteReader reader(message);
  const auto sequence = reader.get<uint64_t>();
  CHECK(sequence < journal_.size());
  JournalledCall& call = journal_[sequence];
  CHECK(!call.answered);
  call.answered = true;
  call.status = static_cast<ReplyStatus>(reader.get<uint8_t>());
  call.lsn = Lsn{reader.get<uint64_t>()};
  const ByteSpan results = reader.get_bytes(reader.remaining());
  CHECK(!reader.bad());
  call.results.assign(results.begin(), results.end());
  --unanswered_;
  answered_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace mneme
