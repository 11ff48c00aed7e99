#include "tests/simulator/simulated_life.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
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
#include "cli/recovery_text.h"
#include "cli/witness.h"
#include "engine/digest.h"
#include "logging/ack_queue.h"
#include "logging/block_format.h"
#include "logging/log_archive.h"
#include "procedures/call_codec.h"
#include "procedures/session.h"
#include "recovery/checkpoint_schedule.h"
#include "recovery/data_directory.h"
#include "recovery/recovery_scheme.h"
#include "tests/simulator/ledger.h"
#include "tests/simulator/simulated_disk.h"
#include "tests/simulator/simulated_network.h"
#include "tests/simulator/simulated_threads.h"

namespace mneme::simulator {

namespace {

constexpr int kPowerFailed = 70;
constexpr int kFaulty = 71;
constexpr int kLongestChildMs = 60'000;
constexpr uint64_t kLongestAim = 80;  // steps from a checkpoint's to the power failure

// What a client knows of a call, in memory that outlives its process.
struct SharedCall {
  static constexpr size_t kMostBytes = 120;

  // In this order. Release: what belongs to it is there.
  enum class State : uint8_t { kNone, kSent, kAnswered };
  std::atomic<State> state{State::kNone};
  ReplyStatus status = ReplyStatus::kAcknowledged;
  Lsn lsn;
  uint8_t payload_bytes = 0;
  uint8_t result_bytes = 0;
  std::byte payload[kMostBytes];
  std::byte results[kMostBytes];
};

// What the children of a scenario tell the parent, and one another.
struct Shared {
  LifeCounts counts;
  bool has_opened = false;
  bool has_closed = false;
  // Of the log as the last examination found it: what has to stay of it.
  uint64_t records = 0;
  uint64_t records_hash = 0;
  uint64_t found = 0;  // all its records
  char fault[2000] = {};
  SharedCall calls[1];  // of all lives and workers

  void tell(const std::string& sentence) {
    const size_t bytes = std::min(sentence.size(), sizeof(fault) - 1);
    std::memcpy(fault, sentence.data(), bytes);
    fault[bytes] = 0;
  }
};

class SharedMemory {
 public:
  explicit SharedMemory(const Scenario& scenario)
      : bytes_(sizeof(Shared) + sizeof(SharedCall) * scenario.lives * scenario.workers * scenario.calls) {
    void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    shared_ = new (memory) Shared();
  }
  ~SharedMemory() { ::munmap(shared_, bytes_); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  Shared& get() { return *shared_; }

 private:
  const size_t bytes_;
  Shared* shared_;
};

std::span<SharedCall> calls_of(Shared& shared, const Scenario& scenario, uint64_t life, uint64_t worker) {
  return {shared.calls + (life * scenario.workers + worker) * scenario.calls, scenario.calls};
}

// How a child ended: its exit status; below 0: the signal that ended it.
int run_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  CHECK(child >= 0);
  if (child == 0) ::_exit(body());
  // A child that hangs is a fault, and no reason to wait for ever. Twice, as the clock goes on while both are stopped.
  pollfd ended{static_cast<int>(::syscall(SYS_pidfd_open, child, 0)), POLLIN, 0};
  CHECK(ended.fd >= 0);
  const auto has_ended = [&] { return ::poll(&ended, 1, kLongestChildMs) != 0; };
  if (!has_ended() && !has_ended()) ::kill(child, SIGKILL);
  ::close(ended.fd);
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

struct Folders {
  explicit Folders(const std::string& folder)
      : disk(folder + "/disk"), trash(folder + "/trash"), data(disk + "/data"), archive(disk + "/archive"), servers(folder + "/servers") {}
  const std::string disk;
  const std::string trash;
  const std::string data;
  const std::string archive;
  const std::string servers;
};

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
  options.segment_bytes = size_t{24} << 10;  // so that there are many
  options.io.method = IoMethod::kThreads;
  options.io.unit_bytes = size_t{8} << 10;
  if (scenario.device == 0) return options;
  options.device = LogDeviceKind::kRemote;
  options.layout = LogLayout::kStream;
  options.remote.servers = server_addresses_of(scenario.servers);
  options.ring_bytes = size_t{16} << 10;  // a segment has room for two
  if (scenario.checkpoints == 0) options.remote.files = 1000;
  return options;
}

RecordContent records_of(const Scenario& scenario) { return static_cast<RecordContent>(scenario.records); }

std::unique_ptr<Program> must_compile() {
  auto program = compile(ledger_sql(), "ledger.sql");
  if (!program.ok()) fmt::print(stderr, "{}\n", program.error().message);
  CHECK(program.ok());
  return std::move(*program);
}

// --- a life ---

class Client {
 public:
  Client(const Scenario& scenario, uint64_t life, uint64_t worker, WorkingDatabase& working, Shared& shared)
      : working_(working),
        session_(working.program(), working.database(), WorkerId(static_cast<uint32_t>(worker)), options(scenario, life, worker)),
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
        shared.status = result.logged ? ReplyStatus::kAcknowledged : ReplyStatus::kReadOnly;
        buffer_.clear();
        encode_results(working_.program().procedure(call.procedure), result.results, buffer_);
        shared.result_bytes = keep(buffer_.span(), shared.results);
        break;
      case CallResult::Status::kRolledBack:
      case CallResult::Status::kGaveUp:
        shared.status = ReplyStatus::kRolledBack;
        break;
      case CallResult::Status::kLogFailed:
        return false;
      default:
        CHECK(false && "a ledger's call was refused");
    }
    shared.lsn = result.lsn;
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
      counts_.acknowledged += shared.status == ReplyStatus::kAcknowledged ? 1 : 0;
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

// What may fail in a life.
struct Troubles {
  Fault disk = Fault::kNone;
  uint64_t network = 0;

  bool has_disk() const { return disk != Fault::kNone && disk != Fault::kForgetsSyncs; }
  bool may_fail() const { return has_disk() || network != 0; }
};

// While a majority of the servers lives, and no disk fails, the log is never damaged, and an engine that can't go on has saved it.
std::optional<std::string> judge_failure(const Troubles& troubles, const Error& error, bool is_open) {
  if (!troubles.may_fail()) return "nothing was to fail";
  if (troubles.has_disk()) return std::nullopt;
  if (error.kind == ErrorKind::kDamaged) return "the log is there";
  if (is_open && error.message.find("the log was saved in the data directory") == std::string::npos) return "the log was not saved";
  return std::nullopt;
}

// A sentence: what went wrong, where nothing may.
std::optional<std::string> work(const Scenario& scenario, uint64_t life, const Folders& folders, const Troubles& troubles, Shared& shared) {
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
    if (scenario.device == 0) options.checkpoint.archive = folders.archive;
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
std::unique_ptr<SimulatedServers> calm_servers(const Scenario& scenario, const Folders& folders, Shared& shared) {
  // Where a log that is looked at comes to lie.
  ::setenv("TMPDIR", folders.trash.c_str(), 1);
  insert_network();
  return std::make_unique<SimulatedServers>(server_rules(scenario, folders, shared), shared.counts.network);
}

int live_once(const Scenario& scenario, uint64_t life, const Folders& folders, Shared& shared) {
  // One thread runs at a time: to hand over on one processor is quickest.
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(::sched_getcpu(), &one);
  ::sched_setaffinity(0, sizeof one, &one);

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
  if (scenario.aim == 0 && scenario.device == 0) rules.crash_at_step = 1 + random() % (uint64_t{1} << scenario.steps);
  rules.crash = [&] { lose_power(shared, servers.get()); };
  rules.stuck = [&](const std::string& sentence) {
    shared.tell(fmt::format("life {}: {}", life + 1, sentence));
    ::_exit(kFaulty);
  };
  std::filesystem::remove_all(folders.trash);
  std::filesystem::create_directories(folders.trash);
  begin(std::move(rules));
  insert_disk({folders.disk, folders.trash, troubles.disk, scenario.fault_at, scenario.slowness});
  if (scenario.device != 0) {
    insert_network();
    ServerRules server = server_rules(scenario, folders, shared);
    server.faults = troubles.network + scenario.network / kNetworkFaults * kNetworkFaults;
    server.database_id = read_manifest(folders.data).value().database_id;
    servers = std::make_unique<SimulatedServers>(std::move(server), shared.counts.network);
    if (scenario.aim == 0) crash_within(uint64_t{1} << scenario.steps);
  }
  if (const auto trouble = work(scenario, life, folders, troubles, shared)) {
    shared.tell(*trouble);
    return kFaulty;
  }
  shared.has_closed = true;
  lose_power(shared, servers.get());
  return kFaulty;  // not reached
}

// --- its examination ---

ClientJournal journal_of(Shared& shared, const Scenario& scenario, uint64_t life, uint64_t worker) {
  ClientJournal journal;
  for (const SharedCall& each : calls_of(shared, scenario, life, worker)) {
    const auto state = each.state.load(std::memory_order_acquire);
    if (state == SharedCall::State::kNone) break;
    JournalledCall call;
    call.payload.assign(each.payload, each.payload + each.payload_bytes);
    call.answered = state == SharedCall::State::kAnswered;
    call.status = each.status;
    call.lsn = each.lsn;
    call.results.assign(each.results, each.results + each.result_bytes);
    journal.push_back(std::move(call));
  }
  return journal;
}

// FNV-1a.
uint64_t add_to_hash(uint64_t hash, ByteSpan bytes) {
  for (const std::byte each : bytes) hash = (hash ^ static_cast<uint64_t>(each)) * 0x100000001b3;
  return hash;
}

// After each record, in order, a hash of all up to it.
std::vector<uint64_t> hashes_of(const LogContents& log) {
  std::vector<uint64_t> hashes;
  uint64_t hash = 0xcbf29ce484222325;
  for (const RecordView& record : log.records) {
    if (record.kind == RecordKind::kSkip) continue;
    hash = add_to_hash(hash, std::as_bytes(std::span(&record.lsn.value, 1)));
    hash = add_to_hash(hash, record.payload);
    hashes.push_back(hash);
  }
  return hashes;
}

// Nothing that was there up to `last` may go or change, and nothing come before its end.
std::optional<std::string> compare_with_before(const LogContents& log, Lsn last, Shared& shared) {
  const std::vector<uint64_t> hashes = hashes_of(log);
  const bool is_alike =
      shared.records == 0 || (shared.records <= hashes.size() && hashes[shared.records - 1] == shared.records_hash);
  if (!is_alike) {
    return fmt::format("of the {} records that the log had after the power failure before, not all are there as they were",
                       shared.records);
  }
  shared.found = hashes.size();
  shared.records = static_cast<uint64_t>(std::ranges::count_if(
      log.records, [&](const RecordView& each) { return each.kind != RecordKind::kSkip && each.lsn <= last; }));
  shared.records_hash = shared.records == 0 ? 0 : hashes[shared.records - 1];
  return std::nullopt;
}

// One byte of a file that changes while nobody looks, and is as it was when this goes.
class RottenByte {
 public:
  RottenByte(const std::string& path, uint64_t offset, unsigned mask) : path_(path), offset_(offset), mask_(mask) { flip(); }
  ~RottenByte() { flip(); }
  RottenByte(const RottenByte&) = delete;
  RottenByte& operator=(const RottenByte&) = delete;

 private:
  void flip() const {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset_));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(offset_));
    file.put(static_cast<char>(static_cast<unsigned>(byte) ^ mask_));
    CHECK(file.good());
  }

  const std::string path_;
  const uint64_t offset_;
  const unsigned mask_;
};

// Every byte that differs must be noticed, make no difference, or lie in what no later block covers: then the log ends
// before it, says so, and is else as it was (docs/log_format.md).
std::optional<std::string> examine_rot(const Scenario& scenario, uint64_t lives, const Folders& folders, const RecoverOptions& how,
                                       const std::string& digest, const std::vector<uint64_t>& hashes, LifeCounts& counts) {
  std::mt19937_64 random(scenario.seed * 104'729 + lives);
  std::vector<std::pair<std::string, uint64_t>> files;
  for (const auto& entry : std::filesystem::directory_iterator(folders.data)) {
    if (entry.is_regular_file() && entry.file_size() > 0) files.emplace_back(entry.path().string(), entry.file_size());
  }
  std::ranges::sort(files);
  for (uint64_t i = 0; i < scenario.rot; ++i) {
    const auto& [path, bytes] = files[random() % files.size()];
    const uint64_t offset = random() % bytes;
    const auto mask = static_cast<unsigned>(random() % 255 + 1);
    const RottenByte rotten(path, offset, mask);
    ++counts.rotten;
    const auto where = fmt::format("byte {} of {} was changed by {:#04x}", offset, path, mask);
    const auto recovered = recover(folders.data, how);
    if (!recovered) {
      const Error& error = recovered.error();
      const std::string file = std::filesystem::path(path).filename().string();
      if (error.kind != ErrorKind::kDamaged) return fmt::format("{}, and is not taken for damage: {}", where, error.message);
      if (error.message.find(file) == std::string::npos) return fmt::format("{}, and the file is not named: {}", where, error.message);
      ++counts.rot_refused;
      continue;
    }
    const std::vector<uint64_t> found = hashes_of(recovered->log);
    if (found == hashes) {
      if (digest_text(*recovered->database, 1) != digest) return fmt::format("{}, and another state is recovered", where);
      continue;
    }
    const bool is_prefix = found.size() < hashes.size() && std::equal(found.begin(), found.end(), hashes.begin());
    if (!is_prefix) return fmt::format("{}, and other records are found than there were", where);
    // A block whose header is wrong, and behind which none is right, can't be told from one that was never written.
    const bool is_header = offset >= kBlockBytes && offset % kBlockBytes < kBlockHeaderBytes;
    if (recovered->report.dropped_reason.empty() && !is_header)
      return fmt::format("{}, and the log ends {} records sooner and doesn't say so", where, hashes.size() - found.size());
    ++(recovered->report.dropped_reason.empty() ? counts.rot_unsaid : counts.rot_at_the_end);
  }
  return std::nullopt;
}

std::optional<std::string> examine(const Scenario& scenario, uint64_t lives, const Folders& folders, Shared& shared) {
  const auto manifest = read_manifest(folders.data);
  if (!manifest) return manifest.error().message;
  // A log in memories lets go of what a checkpoint has passed, and no archive keeps it: what lies before is not judged.
  const bool is_whole = scenario.device == 0 || manifest->checkpoint_lsn == kCheckpointLsn;
  const Lsn begin = is_whole ? Lsn{} : manifest->checkpoint_lsn;
  Witness witness;
  for (uint64_t life = 0; life < lives; ++life) {
    for (uint64_t worker = 0; worker < scenario.workers; ++worker) {
      ClientJournal journal = journal_of(shared, scenario, life, worker);
      std::erase_if(journal, [&](const JournalledCall& each) { return each.answered && each.lsn < begin; });
      witness.add(std::move(journal));
    }
  }
  std::optional<std::string> first_digest;
  const auto take = [&](const RecoverOptions& how, const std::string& name) -> std::optional<std::string> {
    auto recovered = recover(folders.data, how);
    if (!recovered) return fmt::format("{} can't recover: {}", name, recovered.error().message);
    const std::string digest = digest_text(*recovered->database, 1);
    if (!first_digest) first_digest = digest;
    if (digest != *first_digest) return fmt::format("{} recovers {}, and serial replay {}", name, digest, *first_digest);
    if (!how.keep_log) return std::nullopt;
    std::erase_if(recovered->log.records, [&](const RecordView& each) { return each.lsn < begin; });
    // What nobody was told of may be at one server alone, and that one away when the log is read for work.
    const Lsn last = scenario.network == 0 ? Lsn{kNever} : witness.last_acknowledged();
    if (is_whole) {
      if (auto trouble = compare_with_before(recovered->log, last, shared)) return trouble;
    } else {
      shared.found = kNever;
    }
    const Verdict verdict = witness.judge(recovered->log);
    if (!verdict.good()) {
      return fmt::format("{} lost, {} invented, {} with wrong results; first: {}", verdict.lost, verdict.invented,
                         verdict.wrong_results, verdict.first_fault);
    }
    if (is_whole && verdict.acknowledged > shared.records) return "the log has fewer records than were acknowledged";
    return std::nullopt;
  };

  std::vector<RecoveryScheme> schemes;
  for (const RecoveryScheme each : kRecoverySchemes) {
    if (check_served(each, manifest->records, manifest->tuple_image)) schemes.push_back(each);
  }
  if (manifest->checkpoint_lsn != kCheckpointLsn) ++shared.counts.from_checkpoints;
  // First of the whole log, which an archive has where checkpoints have shortened it.
  RecoverOptions whole;
  whole.scheme = schemes.front();
  whole.keep_log = true;
  if (std::filesystem::exists(archive_folder(folders.archive, manifest->database_id))) whole.log_archive = folders.archive;
  const auto program = must_compile();
  if (schemes.front() == RecoveryScheme::kClr) {
    whole.visit = [&](const ReplayedCall& replayed) {
      ByteBuffer results;
      encode_results(program->procedure(replayed.call.procedure), replayed.results, results);
      witness.replayed(replayed.lsn, results.span());
    };
  }
  if (auto trouble = take(whole, fmt::format("{} of the whole log", name_of(schemes.front())))) return trouble;
  for (const RecoveryScheme each : schemes) {
    RecoverOptions how;
    how.scheme = each;
    how.replay.threads = 2;
    if (auto trouble = take(how, std::string(name_of(each)))) return trouble;
  }
  if (scenario.rot == 0) return std::nullopt;
  RecoverOptions how;
  how.scheme = schemes.front();
  how.keep_log = true;
  const auto sound = recover(folders.data, how);
  if (!sound) return sound.error().message;
  return examine_rot(scenario, lives, folders, how, *first_digest, hashes_of(sound->log), shared.counts);
}

std::string ending_text(int ending) {
  return ending < 0 ? fmt::format("signal {}", -ending) : fmt::format("exit status {}", ending);
}

Result<void> make_database(const Scenario& scenario, const Folders& folders) {
  CreateOptions options;
  options.records = records_of(scenario);
  options.log = log_options(scenario);
  const auto made = create_database(folders.data, must_compile(), [](Database& database) { return load_ledger(database); }, options);
  return made.ok() ? Result<void>() : made.error();
}

// Empty: all was well.
std::string live_through(const Scenario& scenario, const Folders& folders, Shared& shared) {
  for (const std::string& each : {folders.disk, folders.trash}) std::filesystem::create_directories(each);
  const int created = run_child([&] {
    begin({.seed = scenario.seed});
    std::unique_ptr<SimulatedServers> servers;
    if (scenario.device != 0) servers = calm_servers(scenario, folders, shared);
    const auto made = make_database(scenario, folders);
    if (servers != nullptr) servers->end();
    if (made.ok()) return 0;
    shared.tell(fmt::format("no database can be made: {}", made.error().message));
    return kFaulty;
  });
  if (created != 0) return shared.fault[0] != 0 ? shared.fault : "making a database ended by " + ending_text(created);
  for (uint64_t life = 0; life < scenario.lives; ++life) {
    shared.has_opened = shared.has_closed = false;
    const int ended = run_child([&] { return live_once(scenario, life, folders, shared); });
    if (ended != kPowerFailed) {
      return shared.fault[0] != 0 ? shared.fault : fmt::format("life {} ended by {}", life + 1, ending_text(ended));
    }
    const int examined = run_child([&] {
      std::unique_ptr<SimulatedServers> servers;
      if (scenario.device != 0) {
        begin({.seed = scenario.seed + life});
        servers = calm_servers(scenario, folders, shared);
      }
      const auto trouble = examine(scenario, life + 1, folders, shared);
      if (servers != nullptr) servers->end();
      if (trouble) shared.tell(fmt::format("after life {}: {}", life + 1, *trouble));
      return trouble ? kFaulty : 0;
    });
    if (examined != 0) {
      return shared.fault[0] != 0 ? shared.fault
                                  : fmt::format("the examination after life {} ended by {}", life + 1, ending_text(examined));
    }
  }
  return {};
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
  from_checkpoints += other.from_checkpoints;
  checkpoints += other.checkpoints;
  network += other.network;
  rotten += other.rotten;
  rot_refused += other.rot_refused;
  rot_at_the_end += other.rot_at_the_end;
  rot_unsaid += other.rot_unsaid;
  return *this;
}

Outcome live(const Scenario& scenario, const std::string& folder) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  // The parser's tables are made at its first use: once for all children.
  static const std::unique_ptr<Program> kParsed = must_compile();
  SharedMemory memory(scenario);
  Shared& shared = memory.get();
  Outcome outcome;
  outcome.fault = live_through(scenario, Folders(std::filesystem::canonical(folder).string()), shared);
  outcome.counts = shared.counts;
  uint64_t sent = 0;
  for (uint64_t i = 0; i < scenario.lives * scenario.workers * scenario.calls; ++i)
    sent += shared.calls[i].state.load() == SharedCall::State::kSent ? 1 : 0;
  const uint64_t unanswered_and_logged = shared.found - std::min(shared.found, shared.counts.acknowledged);
  outcome.counts.lost_calls = sent - std::min(sent, unanswered_and_logged);
  if (outcome.fault.empty()) std::filesystem::remove_all(folder);
  return outcome;
}

}  // namespace mneme::simulator
