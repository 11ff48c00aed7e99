#include "tests/simulator/simulated_servers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/file/file.h"
#include "logging/device/remote_options.h"
#include "logging/directory/manifest.h"
#include "network/log_connection.h"
#include "network/saved_log.h"
#include "tests/simulator/simulated_network.h"
#include "tests/simulator/simulated_threads.h"

namespace mneme::simulator {

namespace {

constexpr uint64_t kEngine = 0;
constexpr uint64_t kFirstServer = 1;
constexpr uint64_t kWatcher = kMachines;
constexpr uint16_t kFirstPort = 7433;
// Most faults are over soon; some last longer than a connection, or an engine's patience.
constexpr uint64_t kShortWhileNs = 20 * kMillisecond;
constexpr uint64_t kLongWhileNs = 14'000 * kMillisecond;
constexpr uint64_t kQuietNs = 100 * kMillisecond;
constexpr uint64_t kLookNs = kMillisecond;
constexpr uint64_t kLongestLookNs = 1'000 * kMillisecond;
constexpr std::chrono::milliseconds kPatience{100};
constexpr uint64_t kForgottenBytes = 4096;

uint64_t machine_of(size_t index) {
  return kFirstServer + index;
}
size_t index_of(uint64_t machine) {
  return machine - kFirstServer;
}
ServerAddress address_of(size_t index) {
  return {"127.0.0.1", static_cast<uint16_t>(kFirstPort + index)};
}
uint64_t bit(NetworkFault fault) {
  return static_cast<uint64_t>(fault);
}

}  // namespace

ServerCounts& ServerCounts::operator+=(const ServerCounts& other) {
  resets += other.resets;
  cuts += other.cuts;
  lost += other.lost;
  ended += other.ended;
  hung += other.hung;
  return *this;
}

std::string server_addresses_of(uint64_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + address_of(i).text();
  return text;
}

SimulatedServers::SimulatedServers(ServerRules rules, ServerCounts& counts)
    : rules_(std::move(rules)), counts_(counts), servers_(rules_.count) {
  for (size_t i = 0; i < servers_.size(); ++i) start(i);
  while (!std::ranges::all_of(servers_, &Server::is_up)) pass(kLookNs);
  start_threads_on(kWatcher);
  watcher_ = std::thread([this] { watch(); });
  start_threads_on(kEngine);
}

std::string SimulatedServers::folder_of(size_t index) const {
  return fmt::format("{}/{}", rules_.folder, index);
}

void SimulatedServers::start(size_t index) {
  // One that was killed holds its lock until the whole process ends; its successor makes another.
  std::filesystem::remove(folder_of(index) + "/lock");
  start_threads_on(machine_of(index));
  servers_[index].thread = std::thread([this, index] {
    LogServerOptions options;
    options.listen = address_of(index);
    options.without_key = true;
    options.directory = folder_of(index);
    options.network = SocketMethod::kPoll;
    auto started = LogServer::start(options);
    if (!started.ok()) return rules_.trouble(started.error().message);
    Server& server = servers_[index];
    server.server = started->get();
    server.is_up = true;
    const auto ran = (*started)->run();
    server.server = nullptr;
    server.is_up = false;
    started->reset();
    if (!ran.ok()) return rules_.trouble(ran.error().message);
    server.has_ended = true;
    wake_all(this);
  });
}

// On the watcher's thread from here on.

void SimulatedServers::watch() {
  // Most engines are to open, and to have acknowledged something.
  if (draw(2) == 0) wait_for(this, now_ns() + draw(kQuietNs));
  while (!has_failed_ && !ends_) {
    const bool has_faults = (rules_.faults & (kNetworkFaults - 1)) != 0;
    // A wake may come just before the wait.
    wait_for(this, now_ns() + (has_faults ? kMillisecond / 1000 * (1 + draw(2 * rules_.pause_us + 1))
                                          : kLongestLookNs));
    if (has_failed_ || ends_) break;
    take_joins();
    come_back();
    if (has_faults) befall();
  }
  see_off();
  if (has_failed_) ended_();
}

void SimulatedServers::take_joins() {
  for (Server& each : servers_) {
    if (!std::exchange(each.has_ended, false)) continue;
    each.thread.join();
    each.back_at = now_ns() + a_while();
  }
}

void SimulatedServers::come_back() {
  for (size_t i = 0; i < servers_.size(); ++i) {
    if (servers_[i].back_at == 0 || servers_[i].back_at > now_ns()) continue;
    servers_[i].back_at = 0;
    start(i);
    start_threads_on(kWatcher);
  }
}

uint64_t SimulatedServers::a_while() const {
  return 1 + draw(draw(8) == 0 ? kLongWhileNs : kShortWhileNs);
}

void SimulatedServers::befall() {
  std::vector<NetworkFault> kinds;
  for (uint64_t each = 1; each < kNetworkFaults; each *= 2) {
    if ((rules_.faults & each) != 0) kinds.push_back(static_cast<NetworkFault>(each));
  }
  const size_t index = draw(servers_.size());
  Server& server = servers_[index];
  switch (kinds[draw(kinds.size())]) {
    case NetworkFault::kReset:
      if (reset_a_connection()) ++counts_.resets;
      break;
    case NetworkFault::kCut:
      if (server.mended_at > now_ns()) break;
      server.mended_at = now_ns() + a_while();
      cut_link(machine_of(index), server.mended_at - now_ns());
      ++counts_.cuts;
      break;
    case NetworkFault::kKill:
      lose(index);
      break;
    case NetworkFault::kEnd:
      if (server.is_up) end(index);
      break;
    case NetworkFault::kHang:
      if (!server.is_up || server.goes_on_at > now_ns()) break;
      server.goes_on_at = now_ns() + a_while();
      pause_machine(machine_of(index), server.goes_on_at);
      ++counts_.hung;
      break;
    case NetworkFault::kForgets:
      break;
  }
}

void SimulatedServers::kill(size_t index) {
  Server& server = servers_[index];
  stop_machine(machine_of(index));
  pause_machine(machine_of(index), 0);
  end_sockets(machine_of(index), static_cast<Farewell>(draw(3)));
  server.thread.detach();
  server.server = nullptr;
  server.is_up = false;
  server.goes_on_at = 0;
  server.back_at = now_ns() + a_while();
  ++counts_.lost;
}

// It stands still while the others are asked whether they can do without.
void SimulatedServers::lose(size_t index) {
  pause_machine(machine_of(index), kNever);
  const bool can_be_spared = may_lose(index);
  pause_machine(machine_of(index), servers_[index].goes_on_at);
  if (can_be_spared) kill(index);
}

void SimulatedServers::end(size_t index) {
  servers_[index].server->stop();
  ++counts_.ended;
}

bool SimulatedServers::may_lose(size_t index) const {
  if (servers_.size() == 1 || !servers_[index].is_up) return false;
  std::optional<uint32_t> term;
  for (size_t i = 0; i < servers_.size(); ++i) {
    if (i == index) continue;
    const uint32_t whole = whole_term(i);
    if (whole == 0 || (term && *term != whole)) return false;
    term = whole;
  }
  return true;
}

// 0: it holds none, or doesn't say.
uint32_t SimulatedServers::whole_term(size_t index) const {
  HelloMessage hello;
  hello.database_id = rules_.database_id;
  auto connection = LogConnection::open(address_of(index), nullptr, hello, kPatience);
  if (!connection.ok()) return 0;
  const auto files = connection->list();
  return files.ok() ? files->whole_term : 0;
}

// No engine is there, and none of its connections will be.
void SimulatedServers::see_off() {
  mend_links();
  for (size_t i = 0; i < servers_.size(); ++i) {
    servers_[i].goes_on_at = 0;
    pause_machine(machine_of(i), 0);
  }
  // One may be lost with the engine, before it has saved anything; most often the one that had answered
  // first.
  if ((rules_.faults & bit(NetworkFault::kKill)) != 0 && draw(8) != 0)
    lose(draw(3) == 0 ? draw(servers_.size()) : index_of(fastest_link(servers_.size())));
  const auto has_engine = [&] {
    for (size_t i = 0; i < servers_.size(); ++i) {
      if (has_connections(machine_of(i))) return true;
    }
    return false;
  };
  while (has_engine()) pass(kLookNs);
  for (size_t i = 0; i < servers_.size(); ++i) {
    Server& server = servers_[i];
    // One that was about to come back finds what it would have found in the next life.
    if (!server.thread.joinable()) continue;
    while (!server.is_up && !server.has_ended) pass(kLookNs);
    if (server.is_up) server.server->stop();
    server.thread.join();
    if ((rules_.faults & bit(NetworkFault::kForgets)) != 0) forget_last(i);
  }
}

// Cuts the last bytes off the log that the server has saved, and leaves it marked as whole.
void SimulatedServers::forget_last(size_t index) const {
  const auto logs = load_logs(folder_of(index));
  CHECK(logs.ok());
  for (const auto& [database_id, log] : *logs) {
    FilesMessage files = log.list();
    if (files.files.empty()) continue;
    uint64_t& end = files.files.back().end;
    end -= std::min(end, kForgottenBytes);
    LogStore shorter;
    shorter.restore(log.term(), files.whole_term);
    for (const LogFileInfo& each : files.files) {
      const LogStore::File* const file = shorter.restore_file(each);
      CHECK(file != nullptr);
      std::ranges::copy(ByteSpan(log.files().at(each.number).memory.span()).first(each.end),
                        file->memory.span().begin());
    }
    CHECK(save_log(folder_of(index), database_id, shorter).ok());
  }
}

// By the engine's.

void SimulatedServers::fail_power(std::function<void()> ended) {
  if (has_failed_) return;
  has_failed_ = true;
  ended_ = std::move(ended);
  end_sockets(kEngine, draw(2) == 0 ? Farewell::kReset : Farewell::kSilent);
  wake_all(this);
  stop_machine(kEngine);
}

void SimulatedServers::end() {
  ends_ = true;
  wake_all(this);
  watcher_.join();
}

// A disk that fails now leaves nothing, which does no harm.
void leave_a_segment_behind(const std::string& directory) {
  const Result<Manifest> manifest = read_manifest(directory);
  if (!manifest) return;
  const std::string file = remote_segment_file(manifest->next_segment_number());
  (void)replace_text_file(path_in(directory, file), "of another life");
}

}  // namespace mneme::simulator
