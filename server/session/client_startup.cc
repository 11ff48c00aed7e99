// The beginning of a client's session: its startup packet.
#include <fmt/format.h>

#include <utility>

#include "base/random_number.h"
#include "server/protocol/sqlstates.h"
#include "server/session/client_session.h"

namespace mneme {

namespace {

constexpr uint32_t kProtocol3 = 3;
constexpr uint32_t kCancelRequest = 80877102;
constexpr uint32_t kSslRequest = 80877103;
constexpr uint32_t kGssEncryptionRequest = 80877104;
// Kinds of authentication requests.
constexpr int32_t kAskSasl = 10;
constexpr int32_t kSaslContinue = 11;
constexpr int32_t kSaslFinal = 12;
constexpr const char* kScram = "SCRAM-SHA-256";
constexpr const char* kScramPlus = "SCRAM-SHA-256-PLUS";

std::shared_ptr<SessionValues> session_values(const std::string& user, const std::string& database,
                                              uint32_t id) {
  const Type text{.kind = TypeKind::kVarchar, .is_text = true};
  const Type integer{.kind = TypeKind::kInt};
  SessionValues values;
  values["version"] = {text, "PostgreSQL 15.0 (Mneme " MNEME_VERSION ")"};
  values["current_database"] = values["current_catalog"] = {text, database};
  for (const char* name : {"current_user", "session_user", "current_role", "user"})
    values[name] = {text, user};
  values["pg_backend_pid"] = {integer, std::to_string(id)};
  return std::make_shared<SessionValues>(std::move(values));
}

}  // namespace

ClientSession::Step ClientSession::answer_encryption_request(bool asks_for_tls) {
  (asks_for_tls ? has_asked_for_tls_ : has_asked_for_gss_) = true;
  // The bytes behind the request came in the clear, perhaps from somebody between the client and this server.
  // Handled later, they would pass for what the client has sent enciphered (CVE-2021-23222).
  constexpr size_t kRequestBytes = 8;
  if (frames_.waiting_bytes() > kRequestBytes)
    return refuse(sqlstate::kProtocolViolation, "received unencrypted data after an encryption request");
  is_enciphered_ = asks_for_tls && link_.offers_tls;
  out().u8(is_enciphered_ ? 'S' : 'N');
  return is_enciphered_ ? Step::kTls : Step::kWaits;
}

ClientSession::Step ClientSession::start_session(ByteSpan body) {
  WireReader in(body);
  const uint32_t code = in.u32();
  if (in.is_done() && !is_enciphered_) {
    if (code == kSslRequest && !has_asked_for_tls_) return answer_encryption_request(/*asks_for_tls=*/true);
    if (code == kGssEncryptionRequest && !has_asked_for_gss_)
      return answer_encryption_request(/*asks_for_tls=*/false);
  }
  if (code == kCancelRequest) {
    const uint32_t session = in.u32();
    const uint32_t secret = in.u32();
    if (in.is_done()) host_.cancel(session, secret);
    stage_ = Stage::kEnded;
    return Step::kEnds;
  }
  if (code >> 16 != kProtocol3) {
    return refuse(
        sqlstate::kNotSupported,
        fmt::format("unsupported frontend protocol {}.{}: server supports 3.0", code >> 16, code & 0xffff));
  }
  std::string user;
  std::string database;
  std::vector<std::string> unknown;  // options of the protocol
  while (in.remaining() > 1) {
    const std::string_view name = in.text();
    const std::string value(in.text());
    if (in.bad()) break;
    if (name == "user") {
      user = value;
    } else if (name == "database") {
      database = value;
    } else if (name == "replication") {
      if (value != "false" && value != "off" && value != "no" && value != "0")
        return refuse(sqlstate::kNotSupported, "replication connections are not supported");
    } else if (name.starts_with("_pq_.")) {
      unknown.emplace_back(name);
    } else if (name == "options") {
      // -c name=value, or --name=value; blanks between, which a backslash makes part of the value.
      std::vector<std::string> words(1);
      for (size_t i = 0; i < value.size(); ++i) {
        if (value[i] == '\\' && i + 1 < value.size()) {
          words.back().push_back(value[++i]);
        } else if (value[i] == ' ') {
          words.emplace_back();
        } else {
          words.back().push_back(value[i]);
        }
      }
      for (size_t i = 0; i < words.size(); ++i) {
        std::string word = words[i];
        if (word.empty()) continue;
        if (word == "-c" && i + 1 < words.size()) {
          word = words[++i];
        } else if (word.starts_with("-c") || word.starts_with("--")) {
          word.erase(0, 2);
        }
        const size_t equal = word.find('=');
        if (equal == word.npos)
          return refuse(sqlstate::kProtocolViolation,
                        fmt::format("invalid command-line argument for server process: {}", word));
        const StatementResult set = settings_.start_with(word.substr(0, equal), word.substr(equal + 1));
        if (!set.ok()) return refuse(set.sqlstate, set.message);
      }
    } else {
      const StatementResult set = settings_.start_with(name, value);
      if (!set.ok()) return refuse(set.sqlstate, set.message);
    }
  }
  if (in.bad() || in.u8() != 0 || !in.is_done())
    return refuse(sqlstate::kProtocolViolation,
                  "invalid startup packet layout: expected terminator as last byte");
  if (user.empty())
    return refuse(sqlstate::kInvalidAuthorization, "no PostgreSQL user name specified in startup packet");
  if (link_.needs_tls && !is_enciphered_) {
    return refuse(
        sqlstate::kInvalidAuthorization,
        fmt::format("the client {} is not encrypted, and this server requires it to use TLS: connect "
                    "with sslmode=require",
                    link_.peer));
  }
  if (!link_.refusal.empty()) return refuse(sqlstate::kTooManyConnections, link_.refusal);
  settings_.start_with("session_authorization", user);
  settings_.set_standby(host_.is_standby());
  values_ = session_values(user, database.empty() ? user : database, id_);
  activity_->begin_session(id_, user, database.empty() ? user : database);
  share_settings();
  user_ = user;
  unknown_options_ = std::move(unknown);
  is_newer_protocol_ = (code & 0xffff) != 0;
  frames_.expect_messages();
  const Users* users = host_.users();
  if (users == nullptr) {
    admit();
    return Step::kWaits;
  }
  scram_.emplace(users->verifier(user),
                 fmt::format("{:016x}{:016x}", unforeseen_number(), unforeseen_number()),
                 is_enciphered_ ? link_.end_point : std::string());
  stage_ = Stage::kAuthentication;
  MessageWriter writer = out();
  writer.begin('R');
  writer.i32(kAskSasl);
  if (scram_->offers_binding()) writer.text(kScramPlus);
  writer.text(kScram);
  writer.u8(0);
  writer.end();
  return Step::kWaits;
}

ClientSession::Step ClientSession::authenticate(const ClientMessage& message) {
  if (message.type != 'p')
    return refuse(sqlstate::kProtocolViolation,
                  "expected a SASL response of the client that is asked for one");
  WireReader in(message.body);
  Result<std::string> answer = std::string();
  if (!has_answered_) {
    const std::string_view mechanism = in.text();
    const int32_t length = in.i32();
    const ByteSpan first = in.bytes(length < 0 ? 0 : static_cast<size_t>(length));
    const bool is_bound = mechanism == kScramPlus && scram_->offers_binding();
    if (!in.is_done() || (mechanism != kScram && !is_bound))
      return refuse(sqlstate::kProtocolViolation, "client selected an invalid SASL authentication mechanism");
    answer = scram_->first(as_text(first), is_bound);
  } else {
    answer = scram_->last(as_text(message.body));
  }
  if (!answer) {
    const bool is_password = answer.error().kind == ErrorKind::kFailed;
    return is_password ? refuse(sqlstate::kInvalidPassword,
                                fmt::format("password authentication failed for user \"{}\"", user_))
                       : refuse(sqlstate::kProtocolViolation, answer.error().message);
  }
  MessageWriter writer = out();
  writer.begin('R');
  writer.i32(has_answered_ ? kSaslFinal : kSaslContinue);
  writer.raw(*answer);
  writer.end();
  if (has_answered_) {
    scram_.reset();
    admit();
  }
  has_answered_ = true;
  return Step::kWaits;
}

void ClientSession::admit() {
  MessageWriter writer = out();
  if (is_newer_protocol_ || !unknown_options_.empty()) {
    writer.begin('v');  // NegotiateProtocolVersion
    writer.i32(kProtocol3 << 16);
    writer.i32(static_cast<int64_t>(unknown_options_.size()));
    for (const std::string& name : unknown_options_) writer.text(name);
    writer.end();
  }
  writer.begin('R');  // AuthenticationOk
  writer.i32(0);
  writer.end();
  report_settings();
  writer.begin('K');
  writer.i32(id_);
  writer.i32(secret_);
  writer.end();
  write_ready('I');
  stage_ = Stage::kOpen;
  frames_.trust();
}

}  // namespace mneme
