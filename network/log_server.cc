#include "network/log_server.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/clock.h"
#include "base/file/directory.h"
#include "network/saved_log.h"

namespace mneme {

namespace {

constexpr size_t kMostClients = 64;
// Their memory: a receive buffer, a TLS session and kMostStrangerBytes each.
constexpr size_t kMostStrangers = 256;
// A TLS handshake and a HELLO have one or two thousand.
constexpr size_t kMostStrangerBytes = size_t{16} << 10;
constexpr size_t kMostLeaving = 64;
constexpr size_t kMostLogs = 256;
constexpr size_t kMostHollowLogs = 256;
// Each opening of a database takes the next term. A server that was away has missed those of the openings
// meanwhile.
constexpr uint32_t kMostTermStep = 10'000;
// The highest first term of a database that the server doesn't know. The database may be old, and needs terms
// above for the rest of its life.
constexpr uint32_t kMostFirstTerm = uint32_t{1} << 31;
constexpr uint64_t kTellIntervalNs = 10'000'000'000;
constexpr size_t kMostTold = 20;
constexpr size_t kMostFilesOfLog = 1024;
constexpr size_t kMostUnsentBytes = size_t{16} << 20;
// To a client that is cut off: its refusal, and answers that are on their way. The server does not wait for
// one that has more to read.
constexpr size_t kMostFarewellBytes = size_t{1} << 20;
constexpr std::chrono::seconds kLongestWait{1};

std::string name_of(uint64_t database_id) {
  return fmt::format("log {:016x}", database_id);
}

uint64_t ns(std::chrono::nanoseconds time) {
  return static_cast<uint64_t>(time.count());
}

// As DirectoryLock of a data directory: it ends with the process, however that dies. No other user can write
// what is found there.
Result<File> lock_directory(const std::string& directory) {
  std::error_code error;
  const bool was_there = std::filesystem::exists(directory, error);
  RETURN_IF_ERROR(make_directories(directory));
  auto held = File::open(directory, O_RDONLY | O_DIRECTORY);
  if (!held.ok()) return held.error();
  if (!was_there && ::fchmod(held->descriptor(), 0700) != 0)
    return file_error("close to others", directory, errno);
  RETURN_IF_ERROR(check_directory_is_own(directory, held->descriptor()));
  auto file = File::open_own(directory + "/lock", O_RDWR | O_CREAT);
  if (!file.ok()) return file.error();
  file->close_in_child();
  if (::flock(file->descriptor(), LOCK_EX | LOCK_NB) == 0) return file;
  return invalid_argument("another log server works in {}: give this one a directory of its own", directory);
}

}  // namespace

Result<std::unique_ptr<LogServer>> LogServer::start(const LogServerOptions& options) {
  const bool is_local = options.listen.is_local();
  const auto stays_here = is_loopback(options.listen);
  if (!stays_here.ok()) return stays_here.error();
  if (!*stays_here && options.key == nullptr) {
    return invalid_argument(
        "{} can be reached from other machines, and without a key anybody there could read and overwrite "
        "logs: give a key "
        "file, or listen on 127.0.0.1",
        options.listen.text());
  }
  if (!is_local && options.key == nullptr && !options.without_key) {
    return invalid_argument(
        "{} can be reached by every user of this machine, and without a key each of them could read, "
        "overwrite and end these logs: give --key "
        "FILE, or listen on a Unix socket (--socket PATH), or accept it with --no-key",
        options.listen.text());
  }
  auto lock = lock_directory(options.directory);
  if (!lock.ok()) return lock.error();
  auto saved = load_logs(options.directory);
  if (!saved.ok()) return saved.error();
  auto opened = open_socket_loop(options.network);
  if (!opened.ok()) return opened.error();
  if (!opened->notice.empty()) options.tell(opened->notice);
  auto local = is_local ? LocalSocket::listen(options.listen.path) : Result<LocalSocket>(LocalSocket());
  if (!local.ok()) return local.error();
  auto listening = is_local ? Result<ListeningSocket>(ListeningSocket{local->take_descriptor()})
                            : listen_on(options.listen);
  if (!listening.ok()) return listening.error();

  std::unique_ptr<LogServer> server(
      new LogServer(options, std::move(*lock), std::move(*local), std::move(opened->loop)));
  server->loop_->listen(listening->descriptor);
  server->port_ = listening->port;
  if (!is_local && options.key == nullptr) {
    options.tell(
        fmt::format("there is no key: anybody who reaches {}, every user of this machine, can read, "
                    "overwrite and end these logs",
                    server->address().text()));
  }
  for (auto& [database_id, store] : *saved) {
    if (store.whole_term() == 0 && store.term().number > 0) {
      options.tell(
          fmt::format("{} was in memory when this server ended without saving it: its copy here is lost",
                      name_of(database_id)));
    }
    const LogTerm term = store.term();
    // A log that was lost was given bytes, for all that is known of it.
    const bool has_lasted = store.has_content() || store.whole_term() == 0;
    if (!has_lasted) store.drop_unwritten();
    server->logs_.emplace(database_id,
                          Log{.store = std::move(store), .kept_term = term, .has_lasted = has_lasted});
  }
  server->forget_hollow_logs();
  return server;
}

void LogServer::stop() {
  stops_.store(true, std::memory_order_relaxed);
  loop_->wake();
}

Result<void> LogServer::run() {
  std::vector<SocketEvent> events;
  looked_ns_ = monotonic_ns();
  while (!shuts_down_ && !stops_.load(std::memory_order_relaxed)) {
    events.clear();
    loop_->wait(longest_wait(), events);
    for (const SocketEvent& event : events) take(event);
    end_overdue();
  }
  size_t unsaved = 0;
  for (auto& [database_id, log] : logs_) unsaved += log.is_saved || save(database_id, log) ? 0 : 1;
  // Answers the connection that asked for the end of all this.
  events.clear();
  loop_->wait(std::chrono::milliseconds(1), events);
  if (unsaved == 0) return {};
  return failed("{} of {} logs could not be saved, and are lost with this server's memory", unsaved,
                logs_.size());
}

void LogServer::take(const SocketEvent& event) {
  if (event.kind == SocketEvent::Kind::kAccepted) return accept(event.socket);
  if (event.kind == SocketEvent::Kind::kNotAccepted) return not_accepted(event.error_number);
  const auto client = clients_.find(event.socket);
  if (client == clients_.end()) return;
  if (event.kind == SocketEvent::Kind::kReceived) return receive(event.socket, *client->second, event.bytes);
  const bool has_left = event.error_number == 0 && client->second->hello.has_value();
  const std::string why = event.error_number == 0 ? "it hung up" : reason_text(event.error_number);
  end(event.socket, has_left ? "" : why);
}

void LogServer::accept(SocketId socket) {
  Peer peer = peer_of(loop_->descriptor(socket));
  // The socket's file keeps others out already, as long as it is as it was made.
  if (options_.listen.is_local() && (!peer.user || (*peer.user != ::geteuid() && *peer.user != 0))) {
    tell_of_client(
        fmt::format("a client {} was sent away: only the server's own user and root are let in", peer.text));
    return loop_->abort(socket);
  }
  const uint64_t now = monotonic_ns();
  auto client =
      std::make_unique<Client>(socket, std::move(peer), options_.listen.is_local() ? nullptr : options_.key);
  client->since_ns = client->heard_ns = client->sent_ns = now;
  clients_.emplace(socket, std::move(client));
  if (strangers() <= kMostStrangers) return;
  end(*spare_stranger(), "it has said no HELLO yet, and others wait", Farewell::kNone);
}

// More files may be open once a client has left.
void LogServer::not_accepted(int error_number) {
  tell_of_client(fmt::format("a client can't be accepted: {}", reason_text(error_number)));
  if (const auto stranger = spare_stranger())
    end(*stranger, "it has said no HELLO yet, and others wait", Farewell::kNone);
}

size_t LogServer::strangers() const {
  return static_cast<size_t>(
      std::ranges::count_if(clients_, [](const auto& each) { return !each.second->hello; }));
}

std::optional<SocketId> LogServer::spare_stranger() const {
  struct Origin {
    SocketId oldest;
    size_t count = 0;
  };
  std::map<std::string_view, Origin> origins;
  for (const auto& [socket, client] : clients_) {
    if (client->hello) continue;
    Origin& origin = origins[client->peer.origin];
    if (origin.count++ == 0) origin.oldest = socket;
  }
  const auto most = std::ranges::max_element(
      origins, {}, [](const auto& each) { return std::pair(each.second.count, ~each.second.oldest.value); });
  return most == origins.end() ? std::nullopt : std::optional(most->second.oldest);
}

std::chrono::nanoseconds LogServer::longest_wait() const {
  return std::min<std::chrono::nanoseconds>(
      kLongestWait,
      std::min({options_.hello_patience, options_.answer_patience, options_.idle_patience}) / 4);
}

void LogServer::receive(SocketId socket, Client& client, ByteSpan bytes) {
  const Result<void> received = client.channel.receive(bytes);
  const size_t unsent_before = loop_->unsent_bytes(socket);
  if (!client.hello) client.received_bytes += bytes.size();
  while (received.ok() && !client.is_over) {
    // One arrival may hold thousands of requests.
    if (unsent_before + client.channel.outgoing_bytes() > kMostUnsentBytes) {
      return end(socket, "it doesn't read what it asks for", Farewell::kNone);
    }
    const auto message = client.channel.next();
    if (!message.ok()) {
      refuse(client, {Reason::kNoMessage, message.error().message});
      break;
    }
    if (!*message) break;
    handle(client, **message);
  }
  loop_->send(socket, client.channel.take_outgoing());
  if (!received.ok()) return end(socket, received.error().message);
  if (client.is_over) return end(socket, "");
  if (!client.hello && client.received_bytes > kMostStrangerBytes) {
    end(socket, fmt::format("it sent {} bytes, and no HELLO", client.received_bytes), Farewell::kNone);
  }
}

// `why`: empty where it has been told already, or is as it should be.
void LogServer::end(SocketId socket, std::string_view why, Farewell farewell) {
  const auto at = clients_.find(socket);
  const std::unique_ptr<Client> client = std::move(at->second);
  clients_.erase(at);
  const bool waits = farewell == Farewell::kAnswers && loop_->unsent_bytes(socket) <= kMostFarewellBytes;
  waits ? loop_->close(socket) : loop_->abort(socket);
  if (waits && loop_->unsent_bytes(socket) > 0) leaving_.push_back({socket, monotonic_ns()});
  if (leaving_.size() > kMostLeaving) {
    loop_->abort(leaving_.front().socket);
    leaving_.pop_front();
  }
  if (!why.empty())
    tell_of_client(fmt::format("the connection of a client {} was ended: {}", client->peer.text, why));
  if (client->log == nullptr) return;
  const uint64_t database_id = client->hello->database_id;
  Log& log = *client->log;
  if (log.writer == socket) {
    log.writer = {};
    if (!log.has_lasted) log.store.drop_unwritten();
    if (!log.is_saved && save(database_id, log) && !log.is_bare()) {
      tell_of_client(fmt::format("{}: the engine's connection has ended; saved up to {} bytes in {} files",
                                 name_of(database_id), log.store.bytes(), log.store.files().size()));
    }
  }
  forget_if_bare(database_id);
  forget_hollow_logs();
}

void LogServer::end_overdue() {
  const uint64_t now = monotonic_ns();
  // Between two looks that lie far apart this process stood still itself: what the clients did meanwhile is
  // yet to be seen.
  const bool stood_still = now - std::exchange(looked_ns_, now) > 4 * ns(kLongestWait);
  std::vector<std::pair<SocketId, std::string>> ended;
  for (const auto& [socket, client] : clients_) {
    if (stood_still) client->sent_ns = now;
    if (std::string why = overdue(*client, now); !why.empty()) ended.emplace_back(socket, std::move(why));
  }
  for (const auto& [socket, why] : ended) end(socket, why, Farewell::kNone);
  while (!leaving_.empty() && now - leaving_.front().since_ns > ns(options_.answer_patience)) {
    loop_->abort(leaving_.front().socket);
    leaving_.pop_front();
  }
  if (left_out_ > 0 && now - told_ns_ > kTellIntervalNs) tell_of_client("so much of clients");
}

std::string LogServer::overdue(Client& client, uint64_t now) const {
  if (!client.hello) {
    return now - client.since_ns > ns(options_.hello_patience)
               ? fmt::format("it has said no HELLO within {} ms", options_.hello_patience.count())
               : "";
  }
  const uint64_t sent = loop_->sent_bytes(client.socket);
  if (loop_->unsent_bytes(client.socket) == 0 || sent != client.sent_bytes) {
    client.sent_bytes = sent;
    client.sent_ns = now;
  }
  if (now - client.sent_ns > ns(options_.answer_patience)) {
    return fmt::format("it has read nothing of what waits for it for {} ms",
                       options_.answer_patience.count());
  }
  if (!is_at_work(client) && now - client.heard_ns > ns(options_.idle_patience)) {
    return fmt::format("it has said nothing for {} ms", options_.idle_patience.count());
  }
  return "";
}

// An engine that has written, and is neither deposed nor connected anew, may be silent for as long as it
// likes.
bool LogServer::is_at_work(const Client& client) const {
  return client.hello && client.hello->role == LogRole::kWriter && client.log->writer == client.socket &&
         client.hello->term == client.log->store.term() && !client.log->is_bare();
}

bool LogServer::make_place_for_client() {
  if (clients_.size() - strangers() < kMostClients) return true;
  const Client* idlest = nullptr;
  for (const auto& [socket, client] : clients_) {
    const bool can_go = client->hello && (!is_at_work(*client) || client->log->is_hollow());
    if (can_go && (idlest == nullptr || client->heard_ns < idlest->heard_ns)) idlest = client.get();
  }
  if (idlest == nullptr) return false;
  end(idlest->socket, "others need its place, and it is no engine that has written", Farewell::kNone);
  return true;
}

void LogServer::tell_of_client(const std::string& sentence) {
  const uint64_t now = monotonic_ns();
  if (told_ns_ == 0 || now - told_ns_ > kTellIntervalNs) {
    if (left_out_ > 0) options_.tell(fmt::format("{} sentences about clients were left out here", left_out_));
    told_ns_ = now;
    told_ = 0;
    left_out_ = 0;
  }
  if (told_ == kMostTold) {
    ++left_out_;
    return;
  }
  ++told_;
  options_.tell(sentence);
}

void LogServer::refuse(Client& client, RefusedMessage refusal) {
  tell_of_client(fmt::format("a client {} was refused: {}", client.peer.text, refusal.text));
  // A connection that can't carry the refusal is ended all the same.
  (void)client.channel.send(std::move(refusal));
  client.is_over = true;
}

void LogServer::refuse_if(Client& client, LogStore::Refusal refusal) {
  if (refusal) refuse(client, std::move(*refusal));
}

void LogServer::answer(Client& client, const LogMessage& message) {
  if (!client.channel.send(message).ok()) client.is_over = true;
}

void LogServer::handle(Client& client, const LogMessage& message) {
  if (!client.hello && !std::holds_alternative<HelloMessage>(message)) {
    return refuse(client, {Reason::kNotAllowed, "HELLO comes first"});
  }
  client.heard_ns = monotonic_ns();
  std::visit([&](const auto& m) { handle(client, m); }, message);
}

void LogServer::handle(Client& client, const HelloMessage& hello) {
  if (hello.version != kLogProtocolVersion) {
    return refuse(client,
                  {Reason::kVersion, fmt::format("version {} is spoken here, and the client speaks {}",
                                                 kLogProtocolVersion, hello.version)});
  }
  if (client.hello) return refuse(client, {Reason::kNotAllowed, "one HELLO is enough"});
  if (!make_place_for_client()) {
    return refuse(client,
                  {Reason::kNoMemory,
                   fmt::format("{} engines are at work here, and there is place for no more", kMostClients)});
  }
  if (hello.role != LogRole::kReader) {
    if (auto refusal = claim(hello)) return refuse(client, std::move(*refusal));
  }
  client.hello = hello;
  const auto log = logs_.find(hello.database_id);
  client.log = log == logs_.end() ? nullptr : &log->second;
  if (hello.role == LogRole::kWriter) client.log->writer = client.socket;
  answer(client, WelcomeMessage{.term = client.log == nullptr ? LogTerm{} : client.log->store.term(),
                                .server = identity_});
}

LogStore::Refusal LogServer::claim(const HelloMessage& hello) {
  const auto there = logs_.find(hello.database_id);
  const uint32_t known = there == logs_.end() ? 0 : there->second.store.term().number;
  const uint32_t term = hello.term.number;
  if (term == 0) return RefusedMessage{Reason::kNotAllowed, "a term is 1 at least"};
  // The subtraction is of what is above: nothing wraps around.
  if (term > known && (known == 0 ? term > kMostFirstTerm : term - known > kMostTermStep)) {
    return RefusedMessage{Reason::kNotAllowed,
                          fmt::format("the term {} is too far above {}, the last that this server knows of "
                                      "the database {:016x}: it rises "
                                      "by {} at most. If it is right all the same, end the server and remove "
                                      "the database's files from its directory",
                                      term, known, hello.database_id, kMostTermStep)};
  }
  if (there == logs_.end() && lasting_logs() >= kMostLogs) {
    return RefusedMessage{Reason::kNoMemory, fmt::format("this server holds {} logs already", kMostLogs)};
  }
  Log& log = logs_[hello.database_id];
  if (auto refusal = log.store.claim(hello.term)) return refusal;
  // A term that was promised is promised for good: it must outlast this server. It can't matter where no
  // engine ever got an acknowledgement: there is nothing that a former one could go on with.
  if (log.is_bare() || log.kept_term == hello.term) return {};
  const Result<void> kept = keep_term(options_.directory, hello.database_id, hello.term);
  if (!kept.ok()) {
    return RefusedMessage{Reason::kNotAllowed,
                          fmt::format("the server's disk can't keep the term: {}", kept.error().message)};
  }
  log.kept_term = hello.term;
  return {};
}

bool LogServer::may_change(Client& client, Change change) {
  if (client.hello->role != LogRole::kWriter) {
    refuse(client, {Reason::kNotAllowed, "only an engine at work may change its log"});
    return false;
  }
  Log& log = *client.log;
  // The store itself refuses a deposed engine's change.
  if (client.hello->term != log.store.term()) return true;
  if (log.writer != client.socket) {
    refuse(client, {Reason::kNotAllowed, "the engine has connected anew, and writes there"});
    return false;
  }
  if (change == Change::kAsItIs && !log.has_lasted) return true;
  if (change == Change::kLasting && !log.has_lasted && lasting_logs() >= kMostLogs) {
    refuse(client, {Reason::kNoMemory, fmt::format("this server holds {} logs already", kMostLogs)});
    return false;
  }
  if (log.is_noted) return true;
  // A failure may come when the note is in place already.
  log.is_saved = false;
  const Result<void> noted = note_serving(options_.directory, client.hello->database_id, log.store.term());
  if (!noted.ok()) {
    refuse(client, {Reason::kNotAllowed, noted.error().message});
    return false;
  }
  log.is_noted = true;
  log.kept_term = log.store.term();
  return true;
}

void LogServer::handle(Client& client, const CreateMessage& create) {
  if (!may_change(client, Change::kAsItIs)) return;
  LogStore& store = client.log->store;
  if (store.files().size() >= kMostFilesOfLog && !store.files().contains(create.file)) {
    return refuse(client,
                  {Reason::kNoMemory, fmt::format("a log has at most {} files here", kMostFilesOfLog)});
  }
  if (bytes_of_others(*client.log) + store.bytes() + create.bytes > options_.memory_bytes)
    end_unwritten_but(*client.log);
  const uint64_t others = bytes_of_others(*client.log);
  refuse_if(client, store.create(client.hello->term, create,
                                 options_.memory_bytes - std::min(others, options_.memory_bytes)));
}

void LogServer::handle(Client& client, const CloseMessage& close) {
  if (may_change(client, Change::kAsItIs))
    refuse_if(client, client.log->store.close(client.hello->term, close));
}

void LogServer::handle(Client& client, const WriteMessage& write) {
  if (!may_change(client, write.bytes.empty() ? Change::kAsItIs : Change::kLasting)) return;
  auto refusal = client.log->store.write(client.hello->term, write);
  if (refusal) return refuse(client, std::move(*refusal));
  client.log->has_lasted |= !write.bytes.empty();
}

void LogServer::handle(Client& client, const FlushMessage& flush) {
  if (!may_change(client, flush.is_whole ? Change::kWhole : Change::kAsItIs)) return;
  LogStore& store = client.log->store;
  auto refusal = flush.is_whole ? store.set_whole(client.hello->term) : store.check_owner(client.hello->term);
  if (refusal) return refuse(client, std::move(*refusal));
  answer(client, FlushedMessage{flush.sequence});
}

void LogServer::handle(Client& client, const ReadMessage& read) {
  const auto bytes = client.log == nullptr ? std::nullopt : client.log->store.read(read);
  if (!bytes)
    return refuse(client, {Reason::kNoSuchFile, fmt::format("there is no log file {} here", read.file)});
  answer(client, ContentMessage{read.file, read.offset, *bytes});
}

void LogServer::handle(Client& client, const ListMessage&) {
  answer(client, client.log == nullptr ? FilesMessage{} : client.log->store.list());
}

void LogServer::handle(Client& client, const ShutdownMessage&) {
  bool all_saved = true;
  for (auto& [database_id, log] : logs_) all_saved = (log.is_saved || save(database_id, log)) && all_saved;
  if (!all_saved)
    return refuse(client, {Reason::kNotAllowed, "a log could not be saved, so the server goes on"});
  options_.tell("shut down by a client");
  answer(client, SavedMessage{});
  shuts_down_ = true;
}

bool LogServer::save(uint64_t database_id, Log& log) {
  const Result<void> saved = log.is_bare() ? remove_log(options_.directory, database_id)
                                           : save_log(options_.directory, database_id, log.store);
  log.is_saved = saved.ok();
  // After a failure, too, it is unknown which of the two the disk has, so the mark is written again before
  // the next change.
  log.is_noted = false;
  if (saved.ok()) {
    log.kept_term = log.store.term();
  } else {
    options_.tell(fmt::format("{} can't be saved: {}", name_of(database_id), saved.error().message));
  }
  return log.is_saved;
}

size_t LogServer::lasting_logs() const {
  return static_cast<size_t>(
      std::ranges::count_if(logs_, [](const auto& each) { return each.second.has_lasted; }));
}

bool LogServer::has_clients(const Log& log) const {
  return std::ranges::any_of(clients_, [&](const auto& each) { return each.second->log == &log; });
}

void LogServer::forget_if_bare(uint64_t database_id) {
  const auto at = logs_.find(database_id);
  if (at != logs_.end() && at->second.is_bare() && !has_clients(at->second)) logs_.erase(at);
}

void LogServer::forget_hollow_logs() {
  std::vector<std::map<uint64_t, Log>::iterator> hollow;
  for (auto at = logs_.begin(); at != logs_.end(); ++at) {
    if (!at->second.is_hollow() || has_clients(at->second)) continue;
    if (at->second.used == 0) at->second.used = ++hollow_logs_;
    hollow.push_back(at);
  }
  if (hollow.size() <= kMostHollowLogs) return;
  std::ranges::sort(hollow, {}, [](const auto& each) { return each->second.used; });
  hollow.resize(hollow.size() - kMostHollowLogs);
  for (const auto each : hollow) {
    // If the disk keeps the log all the same, it is hollow at the next start, too.
    (void)remove_log(options_.directory, each->first);
    tell_of_client(fmt::format("{} was never given a byte, and gives way to others", name_of(each->first)));
    logs_.erase(each);
  }
}

void LogServer::end_unwritten_but(const Log& log) {
  std::vector<SocketId> ended;
  for (const auto& [socket, client] : clients_) {
    const Log* const other = client->log;
    if (other != nullptr && other != &log && !other->has_lasted && other->store.bytes() > 0 &&
        other->writer == socket)
      ended.push_back(socket);
  }
  for (const SocketId socket : ended)
    end(socket, "others need the memory that it took, and it has written nothing", Farewell::kNone);
}

uint64_t LogServer::bytes_of_others(const Log& log) const {
  uint64_t bytes = 0;
  for (const auto& [database_id, other] : logs_) bytes += &other == &log ? 0 : other.store.bytes();
  return bytes;
}

}  // namespace mneme
