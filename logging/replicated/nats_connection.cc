#include "logging/replicated/nats_connection.h"

#include <nats/nats.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "logging/replicated/server_access.h"

namespace mneme {

namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr size_t kHeaderRoom = 512;  // for the headers of a publish
constexpr milliseconds kReconnectWait{50};
constexpr milliseconds kLongestConnect{3000};  // to one server
constexpr milliseconds kAskAgainAfter{1000};
constexpr milliseconds kPingInterval{1000};
constexpr milliseconds kWriteDeadline{2000};
// A server of a Raft group stands for election after four seconds at the earliest without its leader.
constexpr milliseconds kLeaseTime{3500};
constexpr const char* kExpectedLast = "Nats-Expected-Last-Sequence";

// JetStream's error codes.
constexpr int kNoSuitablePeers = 10005;
constexpr int kNotAvailable = 10008;
constexpr int kInsufficientResources = 10023;
constexpr int kNoMessage = 10037;
constexpr int kNotEnabledForAccount = 10039;
constexpr int kNoStream = 10059;
constexpr int kWrongLastSequence = 10071;
constexpr int kReplicasNotSupported = 10074;
constexpr int kNotEnabled = 10076;

struct DestroyOptions {
  void operator()(natsOptions* options) const { natsOptions_Destroy(options); }
};
struct DestroyMessage {
  void operator()(natsMsg* message) const { natsMsg_Destroy(message); }
};
using Options = std::unique_ptr<natsOptions, DestroyOptions>;
using Message = std::unique_ptr<natsMsg, DestroyMessage>;

std::vector<std::string> urls_of(const std::string& servers) {
  std::vector<std::string> urls;
  for (size_t at = 0; at <= servers.size();) {
    const size_t comma = std::min(servers.find(',', at), servers.size());
    const std::string each = servers.substr(at, comma - at);
    if (!each.empty()) urls.push_back(each.find("://") == std::string::npos ? "nats://" + each : each);
    at = comma + 1;
  }
  return urls;
}

std::string_view text_of(natsMsg* message) {
  const int bytes = natsMsg_GetDataLength(message);
  return bytes > 0 ? std::string_view(natsMsg_GetData(message), static_cast<size_t>(bytes)) : "";
}

std::string status_of(natsMsg* message) {
  if (natsMsg_IsNoResponders(message)) return "503";
  const char* status = nullptr;
  return natsMsgHeader_Get(message, "Status", &status) == NATS_OK ? status : "";
}

// The error of an answer of JetStream's; code 0: it is none.
struct ApiError {
  int code = 0;
  std::string text;
};
ApiError error_of(const json& answer) {
  const auto error = answer.find("error");
  if (error == answer.end() || !error->is_object()) return {};
  return {error->value("err_code", -1), error->value("description", "it says no more")};
}

Error no_jetstream(const std::string& servers) {
  return invalid_argument(
      "the NATS servers {} have no JetStream: start them with `jetstream` in their configuration", servers);
}

Error refused(const ReplicatedLogOptions& options, uint32_t replicas, const ApiError& error) {
  switch (error.code) {
    case kNoSuitablePeers:
    case kInsufficientResources:
    case kReplicasNotSupported:
      return invalid_argument(
          "the NATS servers {} can't keep {} copies of the log in their memories ({}): start as many servers "
          "as one "
          "cluster, give them more memory (max_memory_store), or ask for fewer copies with --log-replicas",
          options.servers, replicas, error.text);
    case kNotEnabled:
    case kNotEnabledForAccount:
      return no_jetstream(options.servers);
    default:
      return failed("the NATS servers {} refuse the stream {}: {} (error {})", options.servers,
                    options.stream, error.text, error.code);
  }
}

Error lost_stream(const ReplicatedLogOptions& options) {
  return damaged(
      "the log is lost: the NATS servers {} have no stream {}, as is to be expected after a majority of them "
      "ended, unless "
      "they are others than those that had it. Restore the data directory from a backup; nothing was changed",
      options.servers, options.stream);
}

json configuration(const std::string& stream, uint32_t replicas) {
  return {{"name", stream},
          {"subjects", {stream}},
          {"retention", "limits"},
          {"storage", "memory"},
          {"discard", "new"},
          {"max_msgs", -1},
          {"max_bytes", -1},
          {"max_age", 0},
          {"max_consumers", -1},
          {"max_msg_size", -1},
          {"num_replicas", replicas},
          {"allow_direct", true},
          {"max_msgs_per_subject", -1}};
}

Result<NatsStreamState> state_of(const ReplicatedLogOptions& options, const json& answer) {
  const json config = answer.value("config", json::object());
  const json state = answer.value("state", json::object());
  const auto is = [&](const char* key, const json& wanted) { return config.value(key, json()) == wanted; };
  const bool has_no_limits = config.value("max_msgs", 0) <= 0 && config.value("max_bytes", 0) <= 0 &&
                             config.value("max_age", 0) == 0 && config.value("max_msgs_per_subject", 0) <= 0;
  if (!is("storage", "memory") || !is("discard", "new") || !is("allow_direct", true) ||
      !is("subjects", json::array({options.stream})) || !has_no_limits) {
    return invalid_argument(
        "the stream {} of the NATS servers {} is not one that this program made: it must be in memory, "
        "without limits, "
        "with its name as its only subject, discard new, and allow direct; choose another --log-stream",
        options.stream, options.servers);
  }
  NatsStreamState found;
  found.first = state.value("first_seq", uint64_t{0});
  found.last = state.value("last_seq", uint64_t{0});
  found.replicas = config.value("num_replicas", 1u);
  if (state.value("messages", uint64_t{0}) == 0) found.first = found.last + 1;
  uint32_t there = 1;
  for (const json& each : answer.value("cluster", json::object()).value("replicas", json::array())) {
    const int64_t silent_ns = each.value("active", std::numeric_limits<int64_t>::max());
    if (!each.value("offline", false) && silent_ns < nanoseconds(kLeaseTime).count()) ++there;
  }
  found.has_majority = there > found.replicas / 2;
  return found;
}

}  // namespace

namespace {

constexpr std::string_view kNatsAccess[] = {"user",   "password",        "token",   "credentials", "tls",
                                            "tls_ca", "tls_certificate", "tls_key", "tls_hostname"};

// Addresses without the names and passwords in them, for errors.
std::string shown_servers(std::string text) {
  for (size_t at = 0; (at = text.find("//", at)) != text.npos;) {
    at += 2;
    const size_t end = std::min(text.find(',', at), text.size());
    const size_t user = text.rfind('@', end);
    if (user != text.npos && user >= at && user < end) text.erase(at, user + 1 - at);
  }
  return text;
}

// Tells the library who the engine is, and how to encrypt.
Result<void> show_access(natsOptions* options, const std::string& key_file) {
  const Result<ServerAccess> access = ServerAccess::read(key_file, kNatsAccess);
  if (!access) return access.error();
  const auto refuse = [&](const char* name, natsStatus why) -> Result<void> {
    return invalid_argument("--log-key {}: the NATS library does not take this value of {}: {}", key_file,
                            name, natsStatus_GetText(why));
  };
  const auto value = [&](const char* name) { return access->value(name); };
  if (value("user").empty() != value("password").empty())
    return invalid_argument("--log-key {}: user and password belong together: say both, or neither",
                            key_file);
  const int identities = static_cast<int>(!value("user").empty()) +
                         static_cast<int>(!value("token").empty()) +
                         static_cast<int>(!value("credentials").empty());
  if (identities > 1) {
    return invalid_argument(
        "--log-key {}: it says more than once who the engine is: user, token or credentials", key_file);
  }
  if (value("tls_certificate").empty() != value("tls_key").empty()) {
    return invalid_argument("--log-key {}: tls_certificate and tls_key belong together: say both, or neither",
                            key_file);
  }
  if (const std::string tls = value("tls"); !tls.empty() && tls != "required")
    return invalid_argument("--log-key {}: tls is required, or left out", key_file);
  natsStatus took = NATS_OK;
  if (!value("user").empty()) {
    took = natsOptions_SetUserInfo(options, value("user").c_str(), value("password").c_str());
    if (took != NATS_OK) return refuse("user", took);
  }
  if (!value("token").empty() && (took = natsOptions_SetToken(options, value("token").c_str())) != NATS_OK)
    return refuse("token", took);
  if (!value("credentials").empty()) {
    took = natsOptions_SetUserCredentialsFromFiles(options, value("credentials").c_str(), nullptr);
    if (took != NATS_OK) return refuse("credentials", took);
  }
  const bool is_encrypted = !value("tls").empty() || !value("tls_ca").empty() ||
                            !value("tls_certificate").empty() || !value("tls_hostname").empty();
  if (!is_encrypted) return {};
  took = natsOptions_SetSecure(options, true);
  if (took != NATS_OK) return refuse("tls", took);
  if (!value("tls_ca").empty()) {
    took = natsOptions_LoadCATrustedCertificates(options, value("tls_ca").c_str());
    if (took != NATS_OK) return refuse("tls_ca", took);
  }
  if (!value("tls_certificate").empty()) {
    took = natsOptions_LoadCertificatesChain(options, value("tls_certificate").c_str(),
                                             value("tls_key").c_str());
    if (took != NATS_OK) return refuse("tls_certificate", took);
  }
  if (!value("tls_hostname").empty()) {
    took = natsOptions_SetExpectedHostname(options, value("tls_hostname").c_str());
    if (took != NATS_OK) return refuse("tls_hostname", took);
  }
  return {};
}

// What another try would not change.
bool is_refusal(natsStatus status) {
  return status == NATS_CONNECTION_AUTH_FAILED || status == NATS_SSL_ERROR || status == NATS_NOT_PERMITTED ||
         status == NATS_SECURE_CONNECTION_REQUIRED || status == NATS_SECURE_CONNECTION_WANTED;
}

}  // namespace

struct NatsSubscription::State {
  // Between the library's thread and the subscription's end: whichever comes last frees it.
  struct Shared {
    std::mutex mutex;  // guards `handler`, and is held while it runs
    NatsHandler handler;
  };
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();
  natsSubscription* subscription = nullptr;

  static void hear(natsConnection*, natsSubscription*, natsMsg* raw, void* closure) {
    const Message message(raw);
    Shared& shared = **static_cast<std::shared_ptr<Shared>*>(closure);
    const std::string status = status_of(raw);
    const std::string_view text = text_of(raw);
    const std::lock_guard guard(shared.mutex);
    if (shared.handler) shared.handler({natsMsg_GetSubject(raw), status, as_bytes(text)});
  }
  static void complete(void* closure) { delete static_cast<std::shared_ptr<Shared>*>(closure); }
};

NatsSubscription::NatsSubscription(std::unique_ptr<State> state, std::string inbox)
    : inbox_(std::move(inbox)), state_(std::move(state)) {}

NatsSubscription::~NatsSubscription() {
  {
    const std::lock_guard guard(state_->shared->mutex);
    state_->shared->handler = nullptr;
  }
  natsSubscription_Destroy(state_->subscription);
}

Result<std::unique_ptr<NatsConnection>> NatsConnection::open(const ReplicatedLogOptions& options) {
  const std::vector<std::string> urls = urls_of(options.servers);
  if (urls.empty()) return invalid_argument("--log-server names no NATS server: say nats://HOST:PORT");
  std::vector<const char*> names;
  for (const std::string& each : urls) names.push_back(each.c_str());
  natsOptions* raw = nullptr;
  if (const natsStatus made = natsOptions_Create(&raw); made != NATS_OK) {
    return failed("the NATS library can't be used: {}", natsStatus_GetText(made));
  }
  const Options chosen(raw);
  const natsStatus accepted[] = {
      natsOptions_SetServers(raw, names.data(), static_cast<int>(names.size())),
      natsOptions_SetName(raw, "mneme"),
      natsOptions_SetTimeout(raw, std::min(options.patience, kLongestConnect).count()),
      natsOptions_SetMaxReconnect(raw, -1), natsOptions_SetReconnectWait(raw, kReconnectWait.count()),
      natsOptions_SetReconnectJitter(raw, kReconnectWait.count(), kReconnectWait.count()),
      natsOptions_SetPingInterval(raw, kPingInterval.count()), natsOptions_SetMaxPingsOut(raw, 2),
      natsOptions_SetWriteDeadline(raw, kWriteDeadline.count()), natsOptions_SetSendAsap(raw, true),
      // Failures show by answers that do not come; the library would print them.
      natsOptions_SetErrorHandler(
          raw, [](natsConnection*, natsSubscription*, natsStatus, void*) {}, nullptr)};
  const auto not_addresses = [&](natsStatus why) {
    return invalid_argument("--log-server {}: {}: say nats://HOST:PORT, with commas between several",
                            shown_servers(options.servers), natsStatus_GetText(why));
  };
  for (const natsStatus each : accepted) {
    if (each != NATS_OK) return not_addresses(each);
  }
  RETURN_IF_ERROR(show_access(raw, options.key_file));
  natsConnection* connection = nullptr;
  // The library tries each server once, and one that has just been started may be a moment late.
  const auto deadline = std::chrono::steady_clock::now() + std::min(options.patience, kLongestConnect);
  natsStatus connected = natsConnection_Connect(&connection, raw);
  if (connected == NATS_INVALID_ARG) return not_addresses(connected);  // the library reads them only now
  while (connected != NATS_OK && !is_refusal(connected) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(kReconnectWait);
    connected = natsConnection_Connect(&connection, raw);
  }
  if (is_refusal(connected)) {
    return failed(
        "the NATS servers at {} refuse the engine, or it refuses them: {}; --log-key FILE says who it is, "
        "and by "
        "whom their certificates are signed",
        shown_servers(options.servers), natsStatus_GetText(connected));
  }
  if (connected != NATS_OK) {
    return failed("no NATS server answers at {}: {}", shown_servers(options.servers),
                  natsStatus_GetText(connected));
  }
  return std::unique_ptr<NatsConnection>(new NatsConnection(options, connection));
}

NatsConnection::~NatsConnection() {
  natsConnection_Destroy(connection_);
}

size_t NatsConnection::most_bytes() const {
  const int64_t most = natsConnection_GetMaxPayload(connection_);
  return most > static_cast<int64_t>(kHeaderRoom) ? static_cast<size_t>(most) - kHeaderRoom : 0;
}

bool NatsConnection::is_connected() const {
  return natsConnection_Status(connection_) == NATS_CONN_STATUS_CONNECTED;
}

Result<json> NatsConnection::request(const std::string& subject, const std::string& text,
                                     milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  natsStatus status = NATS_TIMEOUT;
  // A request while there is no leader is lost, or answered by an error.
  for (auto left = limit; left.count() > 0;) {
    natsMsg* raw = nullptr;
    status = natsConnection_RequestString(&raw, connection_, subject.c_str(), text.c_str(),
                                          std::min(left, kAskAgainAfter).count());
    const Message reply(raw);
    if (status == NATS_OK) {
      json answer = json::parse(text_of(raw), nullptr, /*allow_exceptions=*/false);
      if (!answer.is_object()) {
        return failed("the NATS servers {} answer what is no JSON for the stream {}", options_.servers,
                      options_.stream);
      }
      if (error_of(answer).code != kNotAvailable) return answer;
      status = NATS_NO_RESPONDERS;
    }
    if (status != NATS_TIMEOUT) std::this_thread::sleep_for(std::min(left, kReconnectWait));
    left = std::chrono::duration_cast<milliseconds>(deadline - std::chrono::steady_clock::now());
  }
  return failed("the NATS servers {} give no answer for the stream {}: {}", options_.servers, options_.stream,
                status == NATS_NO_RESPONDERS ? "JetStream is off, or has no leader just now"
                                             : natsStatus_GetText(status));
}

// Servers that were just started don't know one another for a moment, and would refuse.
Result<json> NatsConnection::create(const std::string& stream, uint32_t replicas) {
  const auto deadline = std::chrono::steady_clock::now() + std::min(options_.patience, kLongestConnect);
  for (;;) {
    auto answer =
        request("$JS.API.STREAM.CREATE." + stream, configuration(stream, replicas).dump(), options_.patience);
    if (!answer.ok()) return answer.error();
    const ApiError error = error_of(*answer);
    if (error.code == 0) return answer;
    const bool may_pass = error.code == kNoSuitablePeers && std::chrono::steady_clock::now() < deadline;
    if (!may_pass) return refused(options_, replicas, error);
    std::this_thread::sleep_for(kReconnectWait);
  }
}

Result<std::optional<NatsStreamState>> NatsConnection::find_stream(milliseconds limit) {
  auto answer = request("$JS.API.STREAM.INFO." + options_.stream, "", limit);
  if (!answer.ok()) return answer.error();
  const ApiError error = error_of(*answer);
  if (error.code == kNoStream) return std::optional<NatsStreamState>();
  if (error.code != 0) return refused(options_, 0, error);
  auto state = state_of(options_, *answer);
  if (!state.ok()) return state.error();
  return std::optional(*state);
}

Result<NatsStreamState> NatsConnection::info(milliseconds limit) {
  const auto found = find_stream(limit);
  if (!found.ok()) return found.error();
  if (*found) return **found;
  return lost_stream(options_);
}

Result<NatsStreamState> NatsConnection::make_stream(uint32_t replicas) {
  const auto found = find_stream(options_.patience);
  if (!found.ok()) return found.error();
  if (*found) {
    if ((*found)->replicas == replicas) return **found;
    return invalid_argument(
        "the stream {} has {} copies, and --log-replicas asks for {}: say --log-replicas {}", options_.stream,
        (*found)->replicas, replicas, (*found)->replicas);
  }
  const auto answer = create(options_.stream, replicas);
  if (!answer.ok()) return answer.error();
  return state_of(options_, *answer);
}

Result<void> NatsConnection::check_replicas(uint32_t replicas) {
  std::random_device random;
  const std::string probe = fmt::format("mneme-probe-{:08x}{:08x}", random(), random());
  const auto made = create(probe, replicas);
  if (!made.ok()) return made.error();
  const auto removed = request("$JS.API.STREAM.DELETE." + probe, "", options_.patience);
  return removed.ok() ? Result<void>() : removed.error();
}

Result<std::optional<NewestMessage>> NatsConnection::newest(milliseconds limit) {
  const json asked{{"last_by_subj", options_.stream}};
  auto answer = request("$JS.API.STREAM.MSG.GET." + options_.stream, asked.dump(), limit);
  if (!answer.ok()) return answer.error();
  const ApiError error = error_of(*answer);
  if (error.code == kNoMessage) return std::optional<NewestMessage>();
  if (error.code == kNoStream) return lost_stream(options_);
  if (error.code != 0) return refused(options_, 0, error);
  const json message = answer->value("message", json::object());
  const std::string data = message.value("data", "");
  NewestMessage newest;
  newest.position = message.value("seq", uint64_t{0});
  // Four characters for three bytes: of the header alone.
  constexpr size_t kCharacters = kReplicatedHeaderBytes / 3 * 4;
  static_assert(kReplicatedHeaderBytes % 3 == 0);
  std::array<std::byte, kReplicatedHeaderBytes> bytes{};
  const std::string where = fmt::format("message {} of the stream {}", newest.position, options_.stream);
  const bool is_decoded =
      data.size() >= kCharacters && EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                                    reinterpret_cast<const unsigned char*>(data.data()),
                                                    kCharacters) == kReplicatedHeaderBytes;
  auto header = ReplicatedHeader::decode_header(ByteSpan(bytes).first(is_decoded ? bytes.size() : 0),
                                                options_.database_id, where);
  if (!header.ok()) return header.error();
  newest.header = *header;
  return std::optional(newest);
}

Result<std::optional<uint64_t>> NatsConnection::append(ByteSpan message, uint64_t last, milliseconds limit) {
  natsMsg* raw = nullptr;
  if (natsMsg_Create(&raw, options_.stream.c_str(), nullptr, reinterpret_cast<const char*>(message.data()),
                     static_cast<int>(message.size())) != NATS_OK) {
    return failed("out of memory for a message to the NATS servers");
  }
  const Message sent(raw);
  natsMsgHeader_Set(raw, kExpectedLast, std::to_string(last).c_str());
  natsMsg* raw_reply = nullptr;
  const natsStatus status = natsConnection_RequestMsg(&raw_reply, connection_, raw, limit.count());
  const Message reply(raw_reply);
  if (status != NATS_OK) {
    return failed("the NATS servers {} acknowledge nothing in the stream {}: {}", options_.servers,
                  options_.stream, natsStatus_GetText(status));
  }
  const NatsAck ack = parse_nats_ack({"", status_of(raw_reply), as_bytes(text_of(raw_reply))});
  if (ack.sequence > 0) return std::optional(ack.sequence);
  if (ack.is_wrong_last) return std::optional<uint64_t>();
  return failed("the NATS servers {} refuse to append to the stream {}: {}", options_.servers,
                options_.stream, ack.error);
}

Result<std::unique_ptr<NatsSubscription>> NatsConnection::subscribe(NatsHandler handler) {
  natsInbox* raw = nullptr;
  if (natsInbox_Create(&raw) != NATS_OK) return failed("out of memory for the NATS library");
  const std::string inbox = raw;
  natsInbox_Destroy(raw);
  auto state = std::make_unique<NatsSubscription::State>();
  state->shared->handler = std::move(handler);
  auto* closure = new std::shared_ptr(state->shared);
  const natsStatus status = natsConnection_Subscribe(
      &state->subscription, connection_, (inbox + ".>").c_str(), &NatsSubscription::State::hear, closure);
  if (status != NATS_OK) {
    delete closure;
    return failed("the NATS servers {} can't be listened to: {}", options_.servers,
                  natsStatus_GetText(status));
  }
  natsSubscription_SetPendingLimits(state->subscription, -1, -1);
  natsSubscription_SetOnCompleteCB(state->subscription, &NatsSubscription::State::complete, closure);
  return std::unique_ptr<NatsSubscription>(new NatsSubscription(std::move(state), inbox));
}

bool NatsConnection::publish(ByteSpan message, uint64_t last, const std::string& answer_to) {
  natsMsg* raw = nullptr;
  if (natsMsg_Create(&raw, options_.stream.c_str(), answer_to.c_str(),
                     reinterpret_cast<const char*>(message.data()),
                     static_cast<int>(message.size())) != NATS_OK) {
    return false;
  }
  const Message sent(raw);
  natsMsgHeader_Set(raw, kExpectedLast, std::to_string(last).c_str());
  return natsConnection_PublishMsg(connection_, raw) == NATS_OK;
}

bool NatsConnection::ask_message(uint64_t sequence, const std::string& answer_to) {
  const std::string text = json{{"seq", sequence}}.dump();
  return natsConnection_PublishRequestString(connection_, ("$JS.API.DIRECT.GET." + options_.stream).c_str(),
                                             answer_to.c_str(), text.c_str()) == NATS_OK;
}

bool NatsConnection::ask_purge(uint64_t keep_from, const std::string& answer_to) {
  const std::string text = json{{"seq", keep_from}}.dump();
  return natsConnection_PublishRequestString(connection_, ("$JS.API.STREAM.PURGE." + options_.stream).c_str(),
                                             answer_to.c_str(), text.c_str()) == NATS_OK;
}

NatsAck parse_nats_ack(const NatsMessage& message) {
  if (!message.status.empty()) return {0, false, "the stream has no leader just now"};
  const json answer = json::parse(as_text(message.bytes), nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) return {0, false, "the answer is no JSON"};
  const ApiError error = error_of(answer);
  if (error.code != 0) return {0, error.code == kWrongLastSequence, error.text};
  return {answer.value("seq", uint64_t{0}), false, ""};
}

}  // namespace mneme
