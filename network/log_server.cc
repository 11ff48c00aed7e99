#include "network/log_server.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/clock.h"
#include "base/directory.h"
#include "network/saved_log.h"

namespace mneme {

namespace {

constexpr size_t kMostClients = 64;
constexpr size_t kMostLogs = 256;
constexpr size_t kMostFilesOfLog = 1024;
constexpr size_t kMostUnsentBytes = size_t{16} << 20;
// To a client that is cut off: its refusal, and answers that are on their way. Nobody waits for one that has more to read.
constexpr size_t kMostFarewellBytes = size_t{1} << 20;
constexpr uint64_t kHelloPatienceNs = 10'000'000'000;
constexpr std::chrono::seconds kLongestWait{1};

std::string name_of(uint64_t database_id) {
  return fmt::format("log {:016x}", database_id);
}

// As DirectoryLock of a data directory: it ends with the process, however that dies.
Result<File> lock_directory(const std::string& directory) {
  RETURN_IF_ERROR(make_directories(directory));
  auto file = File::open(directory + "/lock", O_RDWR | O_CREAT, 0600);
  if (!file.ok()) return file.error();
  if (::flock(file->descriptor(), LOCK_EX | LOCK_NB) == 0) return file;
  return invalid_argument("another log server works in {}: give this one a directory of its own", directory);
}

}  // namespace

Result<std::unique_ptr<LogServer>> LogServer::start(const LogServerOptions& options) {
  const auto stays_here = is_loopback(options.listen);
  if (!stays_here.ok()) return stays_here.error();
  if (!*stays_here && options.key == nullptr) {
    return invalid_argument(
        "{} can be reached from other machines, and without a key anybody there could read and overwrite "
        "logs: give a key "
        "file, or listen on 127.0.0.1",
        options.listen.text());
  }
  auto lock = lock_directory(options.directory);
  if (!lock.ok()) return lock.error();
  auto saved = load_logs(options.directory);
  if (!saved.ok()) return saved.error();
  auto opened = open_socket_loop(options.network);
  if (!opened.ok()) return opened.error();
  if (!opened->notice.empty()) options.tell(opened->notice);
  auto listening = listen_on(options.listen);
  if (!listening.ok()) return listening.error();

  std::unique_ptr<LogServer> server(new LogServer(options, std::move(*lock), std::move(opened->loop)));
  server->loop_->listen(listening->descriptor);
  server->port_ = listening->port;
  for (auto& [database_id, store] : *saved) {
    if (store.whole_term() == 0 && store.term().number > 0) {
      options.tell(
          fmt::format("{} was in memory when this server ended without saving it: its copy here is lost",
                      name_of(database_id)));
    }
    const LogTerm term = store.term();
    server->logs_.emplace(database_id, Log{.store = std::move(store), .kept_term = term});
  }
  return server;
}

void LogServer::stop() {
  stops_.store(true, std::memory_order_relaxed);
  loop_->wake();
}

Result<void> LogServer::run() {
  std::vector<SocketEvent> events;
  while (!shuts_down_ && !stops_.load(std::memory_order_relaxed)) {
    events.clear();
    loop_->wait(kLongestWait, events);
    for (const SocketEvent& event : events) {
      if (event.kind == SocketEvent::Kind::kAccepted) {
        accept(event.socket);
        continue;
      }
      const auto client = clients_.find(event.socket);
      if (client == clients_.end()) continue;
      if (event.kind == SocketEvent::Kind::kReceived) {
        receive(event.socket, *client->second, event.bytes);
      } else {
        const bool has_left = event.error_number == 0 && client->second->hello.has_value();
        const std::string why = event.error_number == 0 ? "it hung up" : reason_text(event.error_number);
        end(event.socket, has_left ? "" : why);
      }
    }
    end_silent_clients();
  }
  size_t unsaved = 0;
  for (auto& [database_id, log] : logs_) unsaved += log.is_saved || save(database_id, log) ? 0 : 1;
  // Answers to who asked for the end of all this.
  events.clear();
  loop_->wait(std::chrono::milliseconds(1), events);
  if (unsaved == 0) return {};
  return failed("{} of {} logs could not be saved, and are lost with this server's memory", unsaved,
                logs_.size());
}

void LogServer::accept(SocketId socket) {
  if (clients_.size() == kMostClients) {
    options_.tell(fmt::format("a client was sent away: {} are connected", kMostClients));
    return loop_->close(socket);
  }
  const auto client = clients_.emplace(socket, std::make_unique<Client>(socket, options_.key)).first;
  client->second->since_ns = monotonic_ns();
}

void LogServer::receive(SocketId socket, Client& client, ByteSpan bytes) {
  const Result<void> received = client.channel.receive(bytes);
  const size_t unsent_before = loop_->unsent_bytes(socket);
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
  if (client.is_over) end(socket, "");
}

// `why`: empty where it has been told already, or is as it should be.
void LogServer::end(SocketId socket, std::string_view why, Farewell farewell) {
  const auto at = clients_.find(socket);
  const std::unique_ptr<Client> client = std::move(at->second);
  clients_.erase(at);
  const bool waits = farewell == Farewell::kAnswers && loop_->unsent_bytes(socket) <= kMostFarewellBytes;
  waits ? loop_->close(socket) : loop_->abort(socket);
  if (!why.empty()) options_.tell(fmt::format("a client's connection was ended: {}", why));
  if (client->log == nullptr || client->log->is_saved || client->log->writer != socket) return;
  const uint64_t database_id = client->hello->database_id;
  if (save(database_id, *client->log)) {
    options_.tell(fmt::format("{}: the engine's connection has ended; saved up to {} bytes in {} files",
                              name_of(database_id), client->log->store.bytes(),
                              client->log->store.files().size()));
  }
}

void LogServer::end_silent_clients() {
  const uint64_t now = monotonic_ns();
  std::vector<SocketId> silent;
  for (const auto& [socket, client] : clients_) {
    if (!client->hello && now - client->since_ns > kHelloPatienceNs) silent.push_back(socket);
  }
  for (const SocketId socket : silent) end(socket, "it said nothing");
}

void LogServer::refuse(Client& client, RefusedMessage refusal) {
  options_.tell(fmt::format("a client was refused: {}", refusal.text));
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
  std::visit([&](const auto& m) { handle(client, m); }, message);
}

void LogServer::handle(Client& client, const HelloMessage& hello) {
  if (hello.version != kLogProtocolVersion) {
    return refuse(client,
                  {Reason::kVersion, fmt::format("version {} is spoken here, and the client speaks {}",
                                                 kLogProtocolVersion, hello.version)});
  }
  if (client.hello) return refuse(client, {Reason::kNotAllowed, "one HELLO is enough"});
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
  if (!logs_.contains(hello.database_id) && logs_.size() == kMostLogs) {
    return RefusedMessage{Reason::kNoMemory, fmt::format("this server holds {} logs already", kMostLogs)};
  }
  Log& log = logs_[hello.database_id];
  if (auto refusal = log.store.claim(hello.term)) return refusal;
  // A term that was promised is promised for good: it must outlast this server.
  if (log.kept_term == hello.term) return {};
  const Result<void> kept = keep_term(options_.directory, hello.database_id, hello.term);
  if (!kept.ok()) {
    return RefusedMessage{Reason::kNotAllowed,
                          fmt::format("the server's disk can't keep the term: {}", kept.error().message)};
  }
  log.kept_term = hello.term;
  return {};
}

bool LogServer::may_change(Client& client) {
  if (client.hello->role != LogRole::kWriter) {
    refuse(client, {Reason::kNotAllowed, "only an engine at work may change its log"});
    return false;
  }
  Log& log = *client.log;
  // Of a deposed engine the store refuses the change itself.
  if (client.hello->term != log.store.term()) return true;
  if (log.writer != client.socket) {
    refuse(client, {Reason::kNotAllowed, "the engine has connected anew, and writes there"});
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
  if (!may_change(client)) return;
  LogStore& store = client.log->store;
  if (store.files().size() >= kMostFilesOfLog && !store.files().contains(create.file)) {
    return refuse(client,
                  {Reason::kNoMemory, fmt::format("a log has at most {} files here", kMostFilesOfLog)});
  }
  const uint64_t others = bytes_of_others(*client.log);
  refuse_if(client, store.create(client.hello->term, create,
                                 options_.memory_bytes - std::min(others, options_.memory_bytes)));
}

void LogServer::handle(Client& client, const CloseMessage& close) {
  if (may_change(client)) refuse_if(client, client.log->store.close(client.hello->term, close));
}

void LogServer::handle(Client& client, const WriteMessage& write) {
  if (may_change(client)) refuse_if(client, client.log->store.write(client.hello->term, write));
}

void LogServer::handle(Client& client, const FlushMessage& flush) {
  if (!may_change(client)) return;
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
  const Result<void> saved = save_log(options_.directory, database_id, log.store);
  log.is_saved = saved.ok();
  // Even of a failure nobody knows which of the two the disk has: before the next change it is told again.
  log.is_noted = false;
  if (saved.ok()) {
    log.kept_term = log.store.term();
  } else {
    options_.tell(fmt::format("{} can't be saved: {}", name_of(database_id), saved.error().message));
  }
  return log.is_saved;
}

uint64_t LogServer::bytes_of_others(const Log& log) const {
  uint64_t bytes = 0;
  for (const auto& [database_id, other] : logs_) bytes += &other == &log ? 0 : other.store.bytes();
  return bytes;
}

}  // namespace mneme
