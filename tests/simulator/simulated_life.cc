#include "tests/simulator/simulated_life.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "logging/commit/ack_queue.h"
#include "procedures/interpreter/call_codec.h"
#include "procedures/session/session.h"
#include "recovery/database/checkpoint_schedule.h"
#include "recovery/database/data_directory.h"
#include "tests/simulator/examination.h"
#include "tests/simulator/ledger.h"
#include "tests/simulator/shared_state.h"
#include "tests/simulator/simulated_disk.h"
#include "tests/simulator/simulated_network.h"
#include "tests/simulator/simulated_threads.h"

namespace mneme::simulator {

namespace {

constexpr int kPowerFailed = 70;
constexpr int kFaulty = 71;
constexpr int kKilled = 72;
constexpr int kLongestChildMs = 60'000;
constexpr uint64_t kLongestAim = 80;  // steps from a checkpoint's to the power failure

// How a child ended: its exit status; below 0: the signal that ended it.
int run_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  CHECK(child >= 0);
  if (child == 0) ::_exit(body());
  // A child that hangs is a fault, and no reason to wait for ever. Twice, as the clock goes on while both are
  // stopped.
  pollfd ended{static_cast<int>(::syscall(SYS_pidfd_open, child, 0)), POLLIN, 0};
  CHECK(ended.fd >= 0);
  const auto has_ended = [&] { return ::poll(&ended, 1, kLongestChildMs) != 0; };
  if (!has_ended() && !has_ended()) ::kill(child, SIGKILL);
  ::close(ended.fd);
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

DurableLogOptions log_options(const Scenario& scenario) {
  DurableLogOptions options;
  options.workers = static_cast<uint32_t>(scenario.workers);
  options.helpers = scenario.checkpoints != 0 ? 1 : 0;
  options.layout = static_cast<LogLayout>(scenario.layout);
  options.epoch.loggers = static_cast<uint32_t>(std::min(scenario.streams, scenario.workers));
  options.streams.count = static_cast<uint32_t>(scenario.streams);
  options.streams.partition = scenario.pages != 0 ? StreamPartition::kPage : StreamPartition::kTransaction;
  if (options.layout != LogLayout::kEpoch) options.buffer = log_buffer_kinds()[scenario.buffer];
  options.largest_payload_bytes = size_t{4} << 10;
  options.ring_bytes = size_t{64} << 10;
  options.segments.bytes = size_t{24} << 10;  // so that there are many
  options.device_options.io.method = IoMethod::kThreads;
  options.device_options.io.unit_bytes = size_t{8} << 10;
  if (scenario.device == 0) return options;
  options.device = LogDeviceKind::kRemote;
  options.layout = LogLayout::kStream;
  options.device_options.remote.servers = server_addresses_of(scenario.servers);
  options.ring_bytes = size_t{16} << 10;  // a segment has room for two
  if (scenario.checkpoints == 0) options.device_options.remote.files = 1000;
  return options;
}

RecordContent records_of(const Scenario& scenario) {
  return static_cast<RecordContent>(scenario.records);
}

// --- a life ---

class Client {
 public:
  Client(const Scenario& scenario, uint64_t life, uint64_t worker, WorkingDatabase& working, Shared& shared)
      : working_(working),
        session_(working.program(), working.database(), WorkerId(static_cast<uint32_t>(worker)),
                 options(scenario, life, worker)),
        generator_(scenario.seed * 1'000'003 + life * 1009 + worker),
        acks_(scenario.window),
        window_(scenario.window),
        pause_(scenario.pause),
        calls_(calls_of(shared, scenario, life, worker)),
        counts_(shared.counts) {}

  void run() {
    for (uint64_t number = 0; number < calls_.size(); ++number) {
      if (acks_.size() >= window_ && !wait_for_first()) return;
      if (pause_.count() > 0) std::this_thread::sleep_for(pause_);
      if (!call(number)) return;
      acknowledge();
    }
    while (!acks_.empty()) {
      if (!wait_for_first()) return;
    }
  }

 private:
  static SessionOptions options(const Scenario& scenario, uint64_t life, uint64_t worker) {
    SessionOptions options;
    options.ad_hoc_percent = static_cast<uint32_t>(scenario.ad_hoc);
    options.ad_hoc_seed = scenario.seed + life * 31 + worker;
    return options;
  }

  // False: the log has failed.
  bool call(uint64_t number) {
    SharedCall& shared = calls_[number];
    const Call& call = generator_.next();
    buffer_.clear();
    encode_call(working_.program(), call, buffer_);
    shared.payload_bytes = keep(buffer_.span(), shared.payload);
    shared.state.store(SharedCall::State::kSent, std::memory_order_release);
    const CallResult result = session_.run(call);
    switch (result.status) {
      case CallResult::Status::kCommitted:
        shared.ending = result.logged ? SharedCall::Ending::kLogged : SharedCall::Ending::kReadOnly;
        buffer_.clear();
        encode_results(working_.program().procedure(call.procedure), result.results, buffer_);
        shared.result_bytes = keep(buffer_.span(), shared.results);
        break;
      case CallResult::Status::kRolledBack:
        shared.ending = SharedCall::Ending::kRolledBack;
        break;
      case CallResult::Status::kGaveUp:
        shared.ending = SharedCall::Ending::kGaveUp;
        break;
      case CallResult::Status::kLogFailed:
        return false;
      default:
        CHECK(false && "a ledger's call was refused");
    }
    shared.lsn = result.lsn;
    shared.state.store(SharedCall::State::kHasRun, std::memory_order_release);
    acks_.push({result.lsn, monotonic_ns(), number});
    return true;
  }
  static uint8_t keep(ByteSpan bytes, std::byte* to) {
    CHECK(bytes.size() <= SharedCall::kMostBytes);
    std::ranges::copy(bytes, to);
    return static_cast<uint8_t>(bytes.size());
  }
  bool wait_for_first() {
    if (!working_.database().log().wait_durable(acks_.front().lsn)) return false;
    acknowledge();
    return true;
  }
  void acknowledge() {
    acks_.poll(working_.database().log().durable(), [&](const AckQueue::Entry& entry) {
      SharedCall& shared = calls_[entry.tag];
      counts_.acknowledged += shared.ending == SharedCall::Ending::kLogged ? 1 : 0;
      shared.state.store(SharedCall::State::kAnswered, std::memory_order_release);
    });
  }

  WorkingDatabase& working_;
  Session session_;
  LedgerCalls generator_;
  AckQueue acks_;
  const uint64_t window_;
  const std::chrono::microseconds pause_;
  const std::span<SharedCall> calls_;
  LifeCounts& counts_;
  ByteBuffer buffer_;
};

// Where the log has servers, whose threads go on for a while, it returns to one of those, and to no other.
void lose_power(Shared& shared, SimulatedServers* servers) {
  if (servers != nullptr && servers->has_failed_power()) return;
  shared.counts.steps += steps();
  shared.counts.stops += stops();
  ++shared.counts.power_failures;
  if (!shared.has_opened) ++shared.counts.while_opening;
  if (shared.has_opened && shared.has_closed) ++shared.counts.after_the_end;
  const auto end = [] {
    fail_power();
    ::_exit(kPowerFailed);
  };
  if (servers == nullptr) end();
  servers->fail_power(end);
}

[[noreturn]] void be_killed(Shared& shared) {
  shared.counts.steps += steps();
  shared.counts.stops += stops();
  ++shared.counts.kills;
  keep_cache();
  ::_exit(kKilled);
}

ServerRules server_rules(const Scenario& scenario, const Folders& folders, Shared& shared) {
  ServerRules rules;
  rules.count = scenario.servers;
  rules.pause_us = 100 * scenario.calm;
  rules.folder = folders.servers;
  rules.trouble = [&shared](const std::string& sentence) {
    shared.tell("a log server: " + sentence);
    ::_exit(kFaulty);
  };
  return rules;
}

// The troubles that may come in a life.
struct Troubles {
  Fault disk = Fault::kNone;
  uint64_t network = 0;

  bool has_disk() const { return disk != Fault::kNone && disk != Fault::kForgetsSyncs; }
  bool may_fail() const { return has_disk() || network != 0; }
};

// While a majority of the servers lives, and no disk fails, the log is never damaged, and an engine that
// can't go on has saved it.
std::optional<std::string> judge_failure(const Troubles& troubles, const Error& error, bool is_open) {
  if (!troubles.may_fail()) return "nothing was to fail";
  if (troubles.has_disk())
    return error.kind == ErrorKind::kDamaged ? std::optional("nothing is damaged") : std::nullopt;
  if (error.kind == ErrorKind::kDamaged) return "the log is there";
  if (is_open && error.message.find("the log was saved in the data directory") == std::string::npos)
    return "the log was not saved";
  return std::nullopt;
}

// A sentence: what went wrong, where nothing may.
std::optional<std::string> work(const Scenario& scenario, uint64_t life, const Folders& folders,
                                const Troubles& troubles, Shared& shared) {
  RecoverOptions how;
  how.replay.threads = 2;
  how.workers = static_cast<uint32_t>(scenario.workers);
  if (scenario.device != 0 && scenario.leftovers != 0) leave_a_segment_behind(folders.data);
  auto opened = open_for_work(folders.data, how, log_options(scenario));
  if (!opened) {
    if (const auto fault = judge_failure(troubles, opened.error(), false))
      return fmt::format("life {} can't be opened, and {}: {}", life + 1, *fault, opened.error().message);
    ++shared.counts.ended_by_faults;
    return std::nullopt;
  }
  shared.has_opened = true;
  WorkingDatabase& working = opened->working;
  if (scenario.locking != 0)
    working.database().set_concurrency({ConcurrencyControl::kTwoPhaseLocking, scenario.locking == 1});
  std::unique_ptr<CheckpointSchedule> checkpoints;
  if (scenario.checkpoints != 0) {
    CheckpointScheduleOptions options;
    options.seconds = 0.005;
    // An archive keeps files, and a log in memories has none.
    if (scenario.device == 0 && scenario.reuse == 0) options.checkpoint.archive = folders.archive;
    if (scenario.aim != 0) {
      options.checkpoint.observe = [&scenario, is_aimed = false](CheckpointStep step) mutable {
        if (is_aimed || static_cast<uint64_t>(step) + 1 != scenario.aim || draw(3) == 0) return;
        is_aimed = true;
        crash_within(kLongestAim);
      };
    }
    options.failed = [&](const Error& error) {
      if (troubles.may_fail()) return;
      shared.tell(fmt::format("life {}: a checkpoint failed, and no disk did: {}", life + 1, error.message));
      ::_exit(kFaulty);
    };
    checkpoints = std::make_unique<CheckpointSchedule>(working, options);
  }
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<std::thread> threads;
  for (uint64_t worker = 0; worker < scenario.workers; ++worker)
    clients.push_back(std::make_unique<Client>(scenario, life, worker, working, shared));
  for (const auto& client : clients) threads.emplace_back([&client] { client->run(); });
  for (std::thread& thread : threads) thread.join();
  if (checkpoints != nullptr) shared.counts.checkpoints += checkpoints->finish().size();
  checkpoints.reset();
  clients.clear();
  const std::optional<Error> failure = working.log().failure();
  if (!failure) return std::nullopt;
  if (const auto fault = judge_failure(troubles, *failure, true))
    return fmt::format("life {}: the log failed, and {}: {}", life + 1, *fault, failure->message);
  ++shared.counts.ended_by_faults;
  return std::nullopt;
}

// In the simulation that has begun.
std::unique_ptr<SimulatedServers> calm_servers(const Scenario& scenario, const Folders& folders,
                                               Shared& shared) {
  // Where a log that is looked at comes to lie.
  ::setenv("TMPDIR", folders.trash.c_str(), 1);
  insert_network();
  return std::make_unique<SimulatedServers>(server_rules(scenario, folders, shared), shared.counts.network);
}

void empty_folder(const std::string& folder) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
}

// One thread runs at a time: to hand over on one processor is quickest.
void stay_on_one_processor() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(::sched_getcpu(), &one);
  ::sched_setaffinity(0, sizeof one, &one);
}

int live_once(const Scenario& scenario, uint64_t life, const Folders& folders, Shared& shared) {
  stay_on_one_processor();
  const bool is_last = life + 1 == scenario.lives;
  const auto wanted = static_cast<Fault>(scenario.fault);
  const bool is_calm = is_last && scenario.lives > 1;
  Troubles troubles;
  troubles.disk = is_calm && wanted != Fault::kForgetsSyncs ? Fault::kNone : wanted;
  troubles.network = scenario.device == 0 ? 0 : scenario.network % kNetworkFaults * (is_calm ? 0 : 1);
  std::unique_ptr<SimulatedServers> servers;
  ThreadRules rules;
  rules.seed = scenario.seed * 7919 + life;
  std::mt19937_64 random(rules.seed + 1);
  if (scenario.aim == 0 && scenario.device == 0)
    rules.crash_at_step = 1 + random() % (uint64_t{1} << scenario.steps);
  const bool is_killed = scenario.kills != 0 && !is_last && random() % 2 == 0;
  rules.crash = [&] {
    if (is_killed) be_killed(shared);
    lose_power(shared, servers.get());
  };
  rules.stuck = [&](const std::string& sentence) {
    shared.tell(fmt::format("life {}: {}", life + 1, sentence));
    ::_exit(kFaulty);
  };
  if (!shared.has_cached) empty_folder(folders.trash);
  // Before anything can fail.
  const uint64_t database_id = read_manifest(folders.data).value().database_id;
  begin(std::move(rules));
  insert_disk({folders.disk, folders.trash, troubles.disk, scenario.fault_at, scenario.slowness},
              shared.counts.disk);
  if (scenario.device != 0) {
    insert_network();
    ServerRules server = server_rules(scenario, folders, shared);
    server.faults = troubles.network + scenario.network / kNetworkFaults * kNetworkFaults;
    server.database_id = database_id;
    servers = std::make_unique<SimulatedServers>(std::move(server), shared.counts.network);
    if (scenario.aim == 0) crash_within(uint64_t{1} << scenario.steps);
  }
  if (const auto trouble = work(scenario, life, folders, troubles, shared)) {
    shared.tell(*trouble);
    return kFaulty;
  }
  shared.has_closed = true;
  if (is_killed) be_killed(shared);
  lose_power(shared, servers.get());
  return kFaulty;  // not reached
}

// --- all of them ---

Result<void> make_database(const Scenario& scenario, const Folders& folders) {
  CreateOptions options;
  options.records = records_of(scenario);
  options.log = log_options(scenario);
  const auto made = create_database(
      folders.data, ledger_program(), [](Database& database) { return load_ledger(database); }, options);
  return made.ok() ? Result<void>() : made.error();
}

std::string ending_text(int ending) {
  return ending < 0 ? fmt::format("signal {}", -ending) : fmt::format("exit status {}", ending);
}

// Power fails while a database is made, or as soon as it has been.
int make_and_lose_power(const Scenario& scenario, const Folders& folders, Shared& shared) {
  stay_on_one_processor();
  ThreadRules rules;
  rules.seed = scenario.seed * 7907;
  if (scenario.creation > 1)
    rules.crash_at_step = 1 + std::mt19937_64(rules.seed)() % (uint64_t{1} << scenario.creation);
  rules.crash = [&] { lose_power(shared, nullptr); };
  begin(std::move(rules));
  insert_disk({folders.disk, folders.trash, Fault::kNone, 1, scenario.slowness}, shared.counts.disk);
  if (const auto made = make_database(scenario, folders); !made.ok()) {
    shared.tell(fmt::format("no database can be made: {}", made.error().message));
    return kFaulty;
  }
  shared.has_opened = shared.has_closed = true;
  lose_power(shared, nullptr);
  return kFaulty;  // not reached
}

// A database, whole, or none, which can be made again.
std::optional<std::string> examine_creation(const Scenario& scenario, const Folders& folders,
                                            Shared& shared) {
  const auto manifest = read_manifest(folders.data);
  if (manifest.ok()) return examine(scenario, 0, LifesEnd::kPowerFailed, folders, shared);
  if (shared.has_opened)
    return fmt::format("a database that was made is not there: {}", manifest.error().message);
  if (manifest.error().kind == ErrorKind::kDamaged)
    return fmt::format("one that was being made is taken for damaged: {}", manifest.error().message);
  // Simulated: how its threads run, and the numbers that it draws, are the seed's, too.
  begin({.seed = scenario.seed});
  const auto made = make_database(scenario, folders);
  if (!made.ok()) return fmt::format("it can't be made again: {}", made.error().message);
  return std::nullopt;
}

int make_calmly(const Scenario& scenario, const Folders& folders, Shared& shared) {
  begin({.seed = scenario.seed});
  std::unique_ptr<SimulatedServers> servers;
  if (scenario.device != 0) servers = calm_servers(scenario, folders, shared);
  const auto made = make_database(scenario, folders);
  if (servers != nullptr) servers->end();
  if (made.ok()) return 0;
  shared.tell(fmt::format("no database can be made: {}", made.error().message));
  return kFaulty;
}

// Empty: all was well. Otherwise what a child told, or how it ended.
std::string fault_of(const Shared& shared, std::string_view what, int ending) {
  return shared.fault[0] != 0 ? shared.fault : fmt::format("{} ended by {}", what, ending_text(ending));
}

std::string make_first(const Scenario& scenario, const Folders& folders, Shared& shared) {
  for (const std::string& each : {folders.disk, folders.trash}) empty_folder(each);
  if (scenario.creation == 0 || scenario.device != 0) {
    const int made = run_child([&] { return make_calmly(scenario, folders, shared); });
    return made == 0 ? std::string() : fault_of(shared, "making a database", made);
  }
  const int made = run_child([&] { return make_and_lose_power(scenario, folders, shared); });
  if (made != kPowerFailed) return fault_of(shared, "making a database", made);
  const int examined = run_child([&] {
    const auto trouble = examine_creation(scenario, folders, shared);
    if (trouble) shared.tell(fmt::format("after power failed while it was made: {}", *trouble));
    return trouble ? kFaulty : 0;
  });
  return examined == 0 ? std::string()
                       : fault_of(shared, "the examination of a database that was being made", examined);
}

std::string live_through(const Scenario& scenario, const Folders& folders, Shared& shared) {
  if (std::string fault = make_first(scenario, folders, shared); !fault.empty()) return fault;
  for (uint64_t life = 0; life < scenario.lives; ++life) {
    shared.has_opened = shared.has_closed = false;
    const int ended = run_child([&] { return live_once(scenario, life, folders, shared); });
    if (ended != kPowerFailed && ended != kKilled)
      return fault_of(shared, fmt::format("life {}", life + 1), ended);
    const int examined = run_child([&] {
      std::unique_ptr<SimulatedServers> servers;
      if (scenario.device != 0) {
        begin({.seed = scenario.seed + life});
        servers = calm_servers(scenario, folders, shared);
      }
      const auto end = ended == kKilled ? LifesEnd::kKilled : LifesEnd::kPowerFailed;
      const auto trouble = examine(scenario, life + 1, end, folders, shared);
      if (servers != nullptr) servers->end();
      if (trouble) shared.tell(fmt::format("after life {}: {}", life + 1, *trouble));
      return trouble ? kFaulty : 0;
    });
    if (examined != 0)
      return fault_of(shared, fmt::format("the examination after life {}", life + 1), examined);
  }
  return {};
}

bool is_unanswered(const SharedCall& call) {
  const auto state = call.state.load();
  return state == SharedCall::State::kSent ||
         (state == SharedCall::State::kHasRun && call.ending == SharedCall::Ending::kLogged);
}

}  // namespace

LifeCounts& LifeCounts::operator+=(const LifeCounts& other) {
  power_failures += other.power_failures;
  while_opening += other.while_opening;
  after_the_end += other.after_the_end;
  ended_by_faults += other.ended_by_faults;
  steps += other.steps;
  acknowledged += other.acknowledged;
  lost_calls += other.lost_calls;
  kills += other.kills;
  stops += other.stops;
  disk += other.disk;
  from_checkpoints += other.from_checkpoints;
  checkpoints += other.checkpoints;
  network += other.network;
  rotten += other.rotten;
  rot_refused += other.rot_refused;
  rot_at_the_end += other.rot_at_the_end;
  stale_blocks += other.stale_blocks;
  return *this;
}

Outcome live(const Scenario& scenario, const std::string& folder) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  // The parser's tables are made at its first use: once for all children.
  static const std::unique_ptr<Program> kParsed = ledger_program();
  SharedMemory memory(scenario);
  Shared& shared = memory.get();
  Outcome outcome;
  outcome.fault = live_through(scenario, Folders(std::filesystem::canonical(folder).string()), shared);
  outcome.counts = shared.counts;
  uint64_t sent = 0;
  for (uint64_t i = 0; i < scenario.lives * scenario.workers * scenario.calls; ++i)
    sent += is_unanswered(shared.calls[i]) ? 1 : 0;
  const uint64_t unanswered_and_logged = shared.found - std::min(shared.found, shared.counts.acknowledged);
  outcome.counts.lost_calls = sent - std::min(sent, unanswered_and_logged);
  if (outcome.fault.empty()) std::filesystem::remove_all(folder);
  return outcome;
}

}  // namespace mneme::simulator
