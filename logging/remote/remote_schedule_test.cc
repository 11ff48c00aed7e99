// Goal: whatever dies in whatever order, nothing that was acknowledged is lost while enough copies live;
// where fewer do, the log is refused with the right reason and never guessed; and a deposed engine
// acknowledges nothing. Method: short schedules, each drawn from its number: an engine's queue, driven step
// by step, one to three servers in this process, and a link to each. Servers die, end in order, come back,
// are cut off; engines die and are deposed; checkpoints pass segments. A model beside them counts whole
// copies, and says what a recovery must find. A failure prints the schedule's number and steps;
// MNEME_REMOTE_SCHEDULE=NUMBER runs it alone, MNEME_REMOTE_SCHEDULES=COUNT more of them. Threads still take
// their own turns.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <random>

#include "logging/reading/remote_recovery.h"
#include "logging/record/block_format.h"
#include "logging/remote/remote_queue.h"
#include "logging/testing/test_log.h"
#include "logging/testing/test_remote_log.h"
#include "network/testing/test_log_cluster.h"

namespace mneme {
namespace {

using test::copy_directory;
using test::LinkedServer;
using test::must;

constexpr uint32_t kBlocksOfSegment = 3;
constexpr size_t kScheduledSegmentBytes = block_offset(kBlocksOfSegment);
constexpr auto kLongest = std::chrono::seconds(10);  // for what must happen

// In memory where that is to be had: thousands of syncs are no part of the test.
std::filesystem::path scratch_folder() {
  const std::filesystem::path memory = "/dev/shm";
  const std::filesystem::path base =
      ::access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
  return base / ("mneme-schedules-" + std::to_string(::getpid()));
}

struct Chain {
  uint32_t segment;
  uint64_t offset;
  Lsn begin;
  std::vector<std::byte> bytes;
};

// The records that an engine of one term wrote, and how much of it was acknowledged.
struct Written {
  std::vector<Chain> chains;
  size_t acknowledged = 0;
  bool is_saved = false;  // by the engine itself, into its directory
};

// An engine's agent: claims a term, brings the log of the last one home, and writes.
class Engine {
 public:
  static Result<std::unique_ptr<Engine>> open(const std::string& directory, uint64_t database_id,
                                              const RemoteLogOptions& remote) {
    if (!holds_database(directory)) {
      Manifest manifest = test::new_manifest();
      manifest.database_id = database_id;
      (void)must(ManifestFile::create(directory, manifest));
    }
    DurableLogOptions log;
    log.device = LogDeviceKind::kRemote;
    log.device_options.remote = remote;
    const auto claim = claim_remote_log(directory, log);
    if (!claim.ok()) return claim.error();
    std::unique_ptr<Engine> engine(new Engine(directory, claim->term));
    RemoteQueueOptions options;
    options.servers.servers = must(server_addresses(remote.servers));
    options.servers.patience = remote.patience;
    options.servers.first_pause = options.servers.longest_pause = std::chrono::milliseconds(2);
    options.servers.steady = {};
    options.servers.hello.database_id = database_id;
    options.servers.hello.role = LogRole::kWriter;
    options.servers.hello.term = claim->term;
    options.segment_bytes = kScheduledSegmentBytes;
    auto queue = RemoteQueue::open(options, engine->segments_);
    if (!queue.ok()) return queue.error();
    engine->queue_ = std::move(*queue);
    must(engine->manifest_->update(
        [&](Manifest& manifest) { manifest.attributes[kLogServersAttribute] = remote.servers; }));
    return engine;
  }

  const std::string& directory() const { return manifest_->directory(); }
  uint32_t term() const { return term_.number; }
  const Written& written() const { return written_; }
  bool has_failed() const { return queue_->failure().has_value(); }
  bool is_all_acknowledged() const { return written_.acknowledged == written_.chains.size(); }

  void append(std::mt19937_64& random) {
    if (has_failed()) return;
    if (segment_ == nullptr || next_block_ == segment_->blocks) {
      segment_ = must(segments_.make(next_segment_++, [] { return true; }));
      file_ = queue_->attach(segment_->handle);
      next_block_ = 0;
    }
    Chain chain{segment_->number, block_offset(next_block_), one_stream_lsn(next_),
                std::vector<std::byte>(kBlockBytes)};
    for (size_t i = kBlockHeaderBytes; i < kBlockBytes; i += 8) store(chain.bytes.data() + i, random());
    BlockHeader header;
    header.used_bytes = kBlockPayloadBytes;
    header.begin = next_;
    header.incarnation = term_.number;
    header.segment = segment_->number;
    header.index = next_block_++;
    header.encode(chain.bytes.data());
    next_ = header.end();
    written_.chains.push_back(std::move(chain));
    const Chain& sent = written_.chains.back();
    queue_->submit(
        {.tag = written_.chains.size(), .file = file_, .bytes = sent.bytes, .offset = sent.offset});
  }

  void wait(std::chrono::microseconds limit) {
    std::vector<IoCompletion> ended;
    queue_->wait(limit, ended);
    for (const IoCompletion& each : ended) {
      if (each.failure == IoCompletion::Failure::kNone) written_.acknowledged = each.tag;
    }
    const auto failure = queue_->failure();
    written_.is_saved =
        failure && failure->message.find("was saved in the data directory") != std::string::npos;
  }

  // All that was acknowledged but for the last chain is in a checkpoint.
  void take_checkpoint() {
    if (written_.acknowledged == 0) return;
    const Lsn lsn = written_.chains[written_.acknowledged - 1].begin;
    must(manifest_->update([&](Manifest& manifest) { manifest.checkpoint_lsn = lsn; }));
  }

 private:
  Engine(const std::string& directory, const LogTerm& term)
      : term_(term),
        manifest_(must(ManifestFile::open(directory))),
        segments_(*manifest_, kScheduledSegmentBytes, /*files=*/200),
        next_segment_(manifest_->current().next_segment_number()) {
    must(manifest_->update([&](Manifest& manifest) {
      if (!manifest.incarnations.empty())
        next_ = one_stream_position(manifest.incarnations.back().begin + kScheduledSegmentBytes * 100);
      manifest.incarnations.push_back({.number = term.number, .begin = one_stream_lsn(next_)});
    }));
    std::filesystem::create_directory(directory + "/" + kRemoteFolder);
  }

  const LogTerm term_;
  const std::unique_ptr<ManifestFile> manifest_;
  RemoteSegments segments_;
  uint32_t next_segment_;
  StreamPosition next_ = kFirstPosition;
  std::shared_ptr<Segment> segment_;
  int file_ = -1;
  uint32_t next_block_ = 0;
  Written written_;
  std::unique_ptr<RemoteQueue> queue_;  // last: it uses the segments
};

enum class Found { kIntact, kAbsent, kOther };

Found look_for(const std::string& directory, const Chain& chain) {
  std::ifstream file(directory + "/" + remote_segment_file(chain.segment), std::ios::binary);
  std::vector<std::byte> bytes(chain.bytes.size());
  file.seekg(static_cast<std::streamoff>(chain.offset));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (bytes == chain.bytes) return Found::kIntact;
  return bytes == std::vector<std::byte>(bytes.size()) ? Found::kAbsent : Found::kOther;
}

class Schedule {
 public:
  struct Totals {
    size_t acknowledged = 0;
    size_t recoveries = 0;
    size_t depositions = 0;
    size_t rejoined = 0;
    size_t lost = 0;  // logs of which too few copies were left
  };

  Schedule(uint64_t number, std::vector<std::unique_ptr<LinkedServer>>& servers,
           const std::filesystem::path& folder, Totals& totals)
      : number_(number), folder_(folder), totals_(totals), random_(number) {
    servers_.resize(random_() % 4 == 0 ? 1 + random_() % 2 : 3);
    for (size_t i = 0; i < servers_.size(); ++i) servers_[i].server = servers[i].get();
    remote_.patience = std::chrono::milliseconds(5000);
    for (const Server& each : servers_) {
      remote_.servers += (remote_.servers.empty() ? "" : ",") + each.server->address().text();
    }
  }

  void run() {
    mend_all();
    engine_ = must(Engine::open(new_directory(), number_, remote_));
    note_copies();
    const uint64_t steps = 8 + random_() % 12;
    for (uint64_t i = 0; i < steps && engine_ != nullptr && !testing::Test::HasFailure(); ++i) step();
    if (engine_ != nullptr && !testing::Test::HasFailure()) die_and_recover();
    if (testing::Test::HasFailure()) ADD_FAILURE() << "schedule " << number_ << ":" << steps_;
    engine_.reset();
  }

 private:
  struct Server {
    LinkedServer* server;
    // Whether it surely has the engine's log whole. Of one that died and came back it is not known when.
    bool is_whole = false;
  };

  std::string new_directory() {
    const std::string path = folder_ / fmt::format("engine-{}-{}", number_, directories_++);
    std::filesystem::create_directories(path);
    return path;
  }
  size_t majority() const { return copies_to_acknowledge(static_cast<uint32_t>(servers_.size())); }
  size_t quorum() const { return copies_to_recover(static_cast<uint32_t>(servers_.size())); }
  size_t reachable() const {
    return std::ranges::count_if(servers_, [](const Server& each) { return each.server->is_reachable(); });
  }
  size_t whole(bool reachable_ones) const {
    return std::ranges::count_if(servers_, [&](const Server& each) {
      return each.is_whole && (!reachable_ones || each.server->is_reachable());
    });
  }
  // An engine has just been opened.
  void note_copies() {
    for (Server& each : servers_) each.is_whole = each.server->is_reachable();
  }
  void mend_all() {
    for (Server& each : servers_) {
      each.server->link().mend();
      if (!each.server->is_up()) each.server->start();
    }
  }
  void kill(size_t i) {
    servers_[i].server->die();
    servers_[i].is_whole = false;
  }

  void step() {
    const size_t i = random_() % servers_.size();
    LinkedServer& server = *servers_[i].server;
    const auto say = [&](std::string_view what) { steps_ += fmt::format(" {} {};", what, i); };
    switch (random_() % 16) {
      case 0:
        say("kill");
        return kill(i);
      case 1:
        say("end");
        return server.end_in_order();
      case 2:
        say("cut");
        return server.link().cut();
      case 3:
        say("mend");
        return server.link().mend();
      case 4:
      case 5:
        if (server.is_up()) return;
        say("start");
        server.start();
        if (random_() % 2 == 0) await_copies();
        return;
      case 6:
        steps_ += " checkpoint;";
        engine_->take_checkpoint();
        return append();  // as likely as not into a new segment, for which old ones are let go of
      case 7:
        return await_copies();
      case 8:
        return depose();
      case 9:
        return die_and_recover();
      case 10:
      case 11:
        return await_acknowledgement();
      case 12:
        return restart(i);
      case 13:
        return partition();
      case 14:
        return leave_behind(i);
      default:
        return append();
    }
  }

  void append() {
    const uint64_t count = 1 + random_() % 6;
    steps_ += fmt::format(" append {};", count);
    for (uint64_t i = 0; i < count; ++i) engine_->append(random_);
    engine_->wait(std::chrono::microseconds(0));
  }

  // Where too few servers are there nothing need come.
  void await_acknowledgement() {
    steps_ += " await;";
    const auto limit = whole(/*reachable_ones=*/true) >= majority() ? std::chrono::milliseconds(kLongest)
                                                                    : std::chrono::milliseconds(3);
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!engine_->is_all_acknowledged() && !engine_->has_failed() &&
           std::chrono::steady_clock::now() < deadline) {
      engine_->wait(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(limit < kLongest || engine_->is_all_acknowledged() || engine_->has_failed());
  }

  bool says_whole(const Server& server) {
    HelloMessage hello;
    hello.database_id = number_;
    auto reader = LogConnection::open(server.server->address(), nullptr, hello, remote_.patience);
    if (!reader.ok()) return false;
    const auto files = reader->list();
    return files.ok() && files->whole_term == engine_->term();
  }
  // Servers that came back get all of the log.
  void await_copies() {
    steps_ += " await copies;";
    for (Server& each : servers_) {
      if (each.is_whole || !each.server->is_reachable()) continue;
      const auto deadline = std::chrono::steady_clock::now() + kLongest;
      while (!engine_->has_failed() && !each.is_whole) {
        engine_->wait(std::chrono::milliseconds(1));
        each.is_whole = says_whole(each);
        if (each.is_whole) ++totals_.rejoined;
        if (std::chrono::steady_clock::now() > deadline) {
          ADD_FAILURE() << "a server that came back gets no copy";
          return;
        }
      }
    }
  }

  // The log goes on without a server, past segments that it has, and it is back before the engine knows.
  void leave_behind(size_t i) {
    append();
    await_acknowledgement();
    steps_ += fmt::format(" leave {} behind;", i);
    servers_[i].server->end_in_order();
    for (int k = 0; k < 2; ++k) {
      append();
      await_acknowledgement();
      engine_->take_checkpoint();
    }
    append();
    await_acknowledgement();
    servers_[i].server->start();
  }

  // The network falls apart: some servers hear the engine yet, and others don't.
  void partition() {
    for (size_t i = 0; i < servers_.size(); ++i) {
      const bool is_heard = random_() % 2 == 0;
      steps_ += fmt::format(" {} {};", is_heard ? "mend" : "cut", i);
      is_heard ? servers_[i].server->link().mend() : servers_[i].server->link().cut();
    }
    append();
    await_acknowledgement();
  }

  // One loses its memory, comes back, and gets a copy again.
  void restart(size_t i) {
    steps_ += fmt::format(" restart {};", i);
    kill(i);
    append();
    servers_[i].server->start();
    await_copies();
  }

  // Opens the log that `written` is of. Nothing: it is lost, as it may be.
  std::unique_ptr<Engine> open(const std::string& directory, const Written& written) {
    const bool must_open =
        reachable() >= majority() && (written.is_saved || whole(/*reachable_ones=*/true) >= quorum());
    auto opened = Engine::open(directory, number_, remote_);
    if (opened.ok()) return std::move(*opened);
    steps_ += fmt::format(" refused ({});", opened.error().message);
    EXPECT_FALSE(must_open) << opened.error().message;
    const bool is_left = written.is_saved || whole(/*reachable_ones=*/false) >= quorum();
    mend_all();
    opened = Engine::open(directory, number_, remote_);
    if (opened.ok()) return std::move(*opened);
    EXPECT_FALSE(is_left) << opened.error().message;
    EXPECT_EQ(opened.error().kind, ErrorKind::kDamaged) << opened.error().message;
    return nullptr;
  }

  // The directory has all that was acknowledged and no checkpoint has passed, and besides only what was
  // written, without holes.
  void check(const std::string& directory, const Written& written) {
    const auto manifest = must(read_manifest(directory));
    bool has_ended = false;
    for (size_t i = 0; i < written.chains.size(); ++i) {
      const Chain& chain = written.chains[i];
      const auto is_chains = [&](const SegmentEntry& each) { return each.number == chain.segment; };
      if (std::ranges::none_of(manifest.segments, is_chains)) {
        EXPECT_TRUE(i >= written.acknowledged || chain.begin < manifest.checkpoint_lsn)
            << "chain " << i << " was acknowledged, and is in no segment";
        continue;
      }
      const Found found = look_for(directory, chain);
      EXPECT_NE(found, Found::kOther) << "chain " << i;
      EXPECT_TRUE(found == Found::kIntact || i >= written.acknowledged)
          << "chain " << i << " was acknowledged";
      EXPECT_TRUE(found == Found::kAbsent || !has_ended) << "chain " << i << " is behind a hole";
      has_ended = found == Found::kAbsent;
    }
    totals_.acknowledged += written.acknowledged;
  }

  // The fate of a server at the moment that its engine dies.
  void meet_fate(size_t i) {
    LinkedServer& server = *servers_[i].server;
    const uint64_t fate = random_() % 8;
    constexpr const char* kFates[] = {"dies", "dies and is back", "is cut off", "is there"};
    if (fate < std::size(kFates)) steps_ += fmt::format(" {} {};", i, kFates[fate]);
    if (fate <= 1) kill(i);
    if (fate == 2) server.link().cut();
    if (fate == 3) server.link().mend();
    if ((fate == 1 || fate == 3) && !server.is_up()) server.start();
  }

  void die_and_recover() {
    steps_ += " die;";
    const Written written = engine_->written();
    const std::string directory = engine_->directory();
    for (size_t i = 0; i < servers_.size(); ++i) meet_fate(i);
    engine_.reset();
    engine_ = open(directory, written);
    if (engine_ == nullptr) {
      ++totals_.lost;
      return;
    }
    ++totals_.recoveries;
    check(directory, written);
    note_copies();
  }

  // Another engine takes over, from a copy of the directory, while this one lives and doesn't know.
  void depose() {
    steps_ += " depose;";
    const std::string copy = new_directory();
    copy_directory(engine_->directory(), copy);
    const size_t sent = engine_->written().chains.size();
    std::unique_ptr<Engine> next = open(copy, engine_->written());
    if (next == nullptr) {
      ++totals_.lost;
      engine_.reset();
      return;
    }
    ++totals_.depositions;
    for (int i = 0; i < 3; ++i) {
      engine_->append(random_);
      engine_->wait(std::chrono::milliseconds(1));
    }
    EXPECT_LE(engine_->written().acknowledged, sent) << "a deposed engine acknowledges";
    check(copy, engine_->written());
    engine_ = std::move(next);
    note_copies();
  }

  const uint64_t number_;
  const std::filesystem::path folder_;
  Totals& totals_;
  std::mt19937_64 random_;
  std::vector<Server> servers_;
  RemoteLogOptions remote_;
  std::unique_ptr<Engine> engine_;  // none: the log was lost
  size_t directories_ = 0;
  std::string steps_;
};

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(RemoteSchedule, NothingAcknowledgedIsLostWhileEnoughCopiesLive) {
  const uint64_t alone = number_from("MNEME_REMOTE_SCHEDULE", 0);
  const uint64_t count = number_from("MNEME_REMOTE_SCHEDULES", 80);
  constexpr uint64_t kOfOneCluster = 100;  // a server keeps each database's log
  const std::filesystem::path folder = scratch_folder();
  std::vector<std::unique_ptr<LinkedServer>> servers;
  Schedule::Totals totals;
  for (uint64_t number = alone == 0 ? 1 : alone; !HasFailure(); ++number) {
    if (servers.empty() || number % kOfOneCluster == 0) {
      servers.clear();
      std::filesystem::remove_all(folder);
      std::filesystem::create_directories(folder);
      for (int i = 0; i < 3; ++i)
        servers.push_back(std::make_unique<LinkedServer>(folder / std::to_string(i)));
    }
    Schedule(number, servers, folder, totals).run();
    if (number == (alone == 0 ? count : alone)) break;
  }
  servers.clear();
  std::filesystem::remove_all(folder);
  std::printf("%zu acknowledged, %zu recoveries, %zu depositions, %zu copies rejoined, %zu logs lost\n",
              totals.acknowledged, totals.recoveries, totals.depositions, totals.rejoined, totals.lost);
  if (alone != 0) return;
  EXPECT_GT(totals.acknowledged, count);
  EXPECT_GT(totals.recoveries, count);
  EXPECT_GT(totals.depositions, count / 4);
  EXPECT_GT(totals.rejoined, count / 20);
  EXPECT_LT(totals.lost, count / 2);
}

}  // namespace
}  // namespace mneme
