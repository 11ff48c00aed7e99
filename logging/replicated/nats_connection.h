// NatsConnection: one stream of NATS JetStream, by the requests that its servers document (ADR-1, ADR-8,
// ADR-31), over libnats.
//
// Flow        open() -> info(), or make_stream() -> newest(), request_message(), publish()
// Reconnects  by itself, to whichever of the servers is there; what was under way is lost, and its caller
//             tries again.
// Threads     any; a subscription's function is called on a thread of the library's.
// Errors      kFailed: no server answers. kInvalidArgument: JetStream is off, or the stream is of another
//             kind. kDamaged: the stream is gone.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "logging/replicated/replicated_log.h"

struct __natsConnection;
struct __natsMsg;
struct __natsSubscription;

namespace mneme {

struct NatsStreamState {
  uint64_t first = 0;  // sequences; of an empty stream, `last` + 1
  uint64_t last = 0;   // 0: nothing was ever written
  uint32_t replicas = 0;
  // Whether the leader that says this has heard from a majority so lately that no other server leads.
  bool has_majority = false;
};

// A message of a subscription: the subject, an error's status ("404", "503"; empty: none), and what it
// says.
struct NatsMessage {
  std::string_view subject;
  std::string_view status;
  ByteSpan bytes;
};
using NatsHandler = std::function<void(const NatsMessage&)>;

class NatsConnection;

// Ends when it goes: its function is not called any more.
class NatsSubscription {
 public:
  NatsSubscription(NatsSubscription&&) = delete;
  ~NatsSubscription();
  // Answers to `inbox() + "." + anything` come here.
  const std::string& inbox() const { return inbox_; }

 private:
  friend class NatsConnection;
  struct State;
  NatsSubscription(std::unique_ptr<State> state, std::string inbox);

  const std::string inbox_;
  std::unique_ptr<State> state_;
};

class NatsConnection {
 public:
  static Result<std::unique_ptr<NatsConnection>> open(const ReplicatedLogOptions& options);
  ~NatsConnection();

  const ReplicatedLogOptions& options() const { return options_; }
  // The largest message, headers included.
  size_t most_bytes() const;
  bool is_connected() const;

  // Returns nullopt if there is no such stream.
  Result<std::optional<NatsStreamState>> find_stream(std::chrono::milliseconds limit);
  // kDamaged: there is none.
  Result<NatsStreamState> info(std::chrono::milliseconds limit);
  // Makes the stream, or finds it as it should be.
  Result<NatsStreamState> make_stream(uint32_t replicas);
  // Whether the servers could keep so many copies of a stream.
  Result<void> check_replicas(uint32_t replicas);
  // The newest message, by the stream's leader; nothing: it has none.
  Result<std::optional<NewestMessage>> newest(std::chrono::milliseconds limit);
  // Appends if `last` is the newest sequence. Its own sequence; nothing: it is not.
  Result<std::optional<uint64_t>> append(ByteSpan message, uint64_t last, std::chrono::milliseconds limit);

  Result<std::unique_ptr<NatsSubscription>> subscribe(NatsHandler handler);
  // Without waiting; the answer goes to that subject. False: it could not be sent.
  bool publish(ByteSpan message, uint64_t last, const std::string& answer_to);
  bool ask_message(uint64_t sequence, const std::string& answer_to);
  bool ask_purge(uint64_t keep_from, const std::string& answer_to);

 private:
  NatsConnection(const ReplicatedLogOptions& options, __natsConnection* connection)
      : options_(options), connection_(connection) {}
  Result<nlohmann::json> request(const std::string& subject, const std::string& text,
                                 std::chrono::milliseconds limit);
  Result<nlohmann::json> create(const std::string& stream, uint32_t replicas);

  const ReplicatedLogOptions options_;
  __natsConnection* const connection_;
};

// JetStream's answer to a publish.
struct NatsAck {
  uint64_t sequence = 0;  // 0: an error
  bool is_wrong_last = false;
  std::string error;
};
NatsAck parse_nats_ack(const NatsMessage& message);

}  // namespace mneme
