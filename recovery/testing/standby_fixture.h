// Standby fixture: a primary with files, whose log is sent to a replicated log in memory, and an oracle.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "engine/transaction/unlogged_writer.h"
#include "logging/testing/memory_replicated_log.h"
#include "logging/testing/test_log.h"
#include "procedures/session/session.h"
#include "recovery/database/checkpoint_loader.h"
#include "recovery/database/schema_change.h"
#include "recovery/database/standby_base.h"
#include "recovery/standby/follower.h"
#include "recovery/testing/replay_fixture.h"

namespace mneme::test {

namespace fs = std::filesystem;

inline constexpr uint64_t kSmallCheckpoint = 2'000;  // bytes of the log

// Serial replay, record by record, of what stands in the engine's directory.
class Oracle {
 public:
  Oracle(const std::string& directory, RecordContent records)
      : manifest_(must(read_manifest(directory))), records_(records) {
    program_ = must(read_catalog(directory, manifest_));
    database_ = std::make_unique<Database>(program_->catalog, 1);
    must(load_checkpoint(*database_, directory, manifest_, 1));
    must(build_indexes(*database_, 1));
    log_ = must(read_log(directory, manifest_, {}));
  }

  Lsn end() const { return log_.end; }
  // Returns the digest of all records below `end`.
  std::string digest(Lsn end) {
    for (; next_ < log_.records.size() && log_.records[next_].lsn < end; ++next_) replay(log_.records[next_]);
    return digest_of(*database_, 1).to_string();
  }

 private:
  void replay(const RecordView& record) {
    if (record.kind == RecordKind::kSchema) {
      program_ = must(program_after(*program_, record));
      must(change_tables(*database_, program_->catalog, true, 1));
    } else if (holds_calls(records_)) {
      must(replay_serially(*database_, *program_, std::span(&record, 1), ReplayOptions{}));
    } else {
      must(replay_shuffled(*database_, std::span(&record, 1), ReplayOptions{}));
    }
  }

  const Manifest manifest_;
  const RecordContent records_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Database> database_;
  LogContents log_;
  size_t next_ = 0;
};

class StandbyFixture : public testing::TestWithParam<RecordContent> {
 protected:
  StandbyFixture()
      : folder_(testing::TempDir() + "standby_" + std::to_string(::getpid())),
        primary_(folder_ + "/primary"),
        directory_(folder_ + "/standby"),
        random_(seed()) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~StandbyFixture() override { fs::remove_all(folder_); }

  // Printed, so that a failure may be had again: MNEME_SEED=n.
  static uint32_t seed() {
    const char* const given = std::getenv("MNEME_SEED");
    const auto seed =
        given != nullptr ? static_cast<uint32_t>(std::strtoul(given, nullptr, 10)) : std::random_device{}();
    fmt::print("MNEME_SEED={}\n", seed);
    std::fflush(stdout);
    return seed;
  }

  static DurableLogOptions small_log() {
    DurableLogOptions log;
    log.largest_payload_bytes = 16 * 1024;
    log.segments.bytes = 96 * 1024;
    log.helpers = 1;
    return log;
  }

  WorkingDatabase create(RecordContent records) {
    auto program = compile(kBankSql, "bank.sql");
    CreateOptions options;
    options.records = records;
    options.log = small_log();
    auto load = [](Database& database) -> Result<void> {
      UnloggedWriter rows(database);
      for (int64_t i = 100; i < 400; ++i) {
        const std::array pair = {Value::of_int(i), Value::of_int(i / 2)};
        for (uint32_t t = 0; t < 3; ++t) EXPECT_EQ(rows.insert(TableId{t}, pair), AccessStatus::kOk);
      }
      return {};
    };
    return std::move(must(create_database(primary_, std::move(*program), load, options)).working);
  }

  static void change(WorkingDatabase& working, const std::string& text) {
    const ParsedStatement parsed = parse_statement(text);
    const StatementResult result = change_schema(working, *parsed.command, text, 2);
    EXPECT_TRUE(result.ok()) << text << ": " << result.message;
  }
  // Some flushes' worth.
  void calls(WorkingDatabase& working, int count) {
    RandomCalls random(working.program(), static_cast<uint32_t>(random_()));
    Lsn last;
    for (int i = 0; i < count;) {
      Session session(working.program(), working.database(), WorkerId{0});
      for (int n = 0; n < 4; ++n, ++i) {
        const CallResult result =
            session.run(random.next(), i % 20 == 7 ? LoggedAs::kAdHoc : LoggedAs::kContent);
        EXPECT_TRUE(result.committed() || result.status == CallResult::Status::kRolledBack) << result.message;
        last = std::max(last, result.lsn);
      }
      EXPECT_TRUE(working.log().wait_durable(last));
    }
  }

  // A log of three lives, in which the schema changes.
  void make_primary(RecordContent records, int calls_each = 150) {
    {
      WorkingDatabase working = create(records);
      calls(working, calls_each);
    }
    {
      WorkingDatabase working = std::move(must(open_for_work(primary_, {}, small_log())).working);
      calls(working, calls_each);
      change(working, "CREATE INDEX by_balance ON current_account (c_balance)");
      calls(working, calls_each);
    }
    WorkingDatabase working = std::move(must(open_for_work(primary_, {}, small_log())).working);
    change(working, "CREATE TABLE other (o_id INT PRIMARY KEY, o_n INT)");
    calls(working, calls_each);
  }

  // Copies a primary whose log lies elsewhere: there are no segments.
  void copy_base_of(const std::string& primary) {
    must(copy_base(primary, directory_));
    must(must(ManifestFile::open(directory_))->update([&](Manifest& manifest) {
      for (const SegmentEntry& each : manifest.segments) fs::remove(path_in(directory_, each.file));
    }));
  }

  static FollowOptions options(uint64_t checkpoint_bytes = 0) {
    FollowOptions options;
    options.standby.replay.threads = 2;
    options.standby.replay.batch_transactions = 7;
    options.checkpoint_log_bytes = checkpoint_bytes;
    options.ask_interval = std::chrono::milliseconds(2);
    return options;
  }
  std::unique_ptr<Follower> open(uint64_t checkpoint_bytes = 0, uint32_t readers = 0) {
    FollowOptions wanted = options(checkpoint_bytes);
    wanted.has_readers = readers > 0;
    wanted.standby.log.workers = std::max(readers, 1u);
    return must(Follower::open(directory_, log_.reader(), wanted));
  }
  // All that has been published.
  static void catch_up(Follower& follower, Lsn end) {
    must(follower.run([&] { return follower.lag().replayed >= end; }));
  }
  static std::string digest_of(const Database& database) { return mneme::digest_of(database, 1).to_string(); }

  void publish(std::vector<ReplicatedPiece>& pieces, size_t& next, size_t count) {
    for (; count > 0 && next < pieces.size(); --count) ASSERT_TRUE(log_.append(pieces[next++]));
  }
  // Zeros some of the blocks that were not durable. How many.
  uint32_t lose_blocks(Lsn durable) {
    const Manifest manifest = must(read_manifest(directory_));
    if (manifest.segments.empty()) return 0;
    const std::string path = path_in(directory_, manifest.segments.back().file);
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const ByteSpan bytes = as_bytes(text);
    std::vector<std::pair<uint64_t, BlockHeader>> blocks;
    for (uint32_t i = 0; block_offset(i + 1) <= bytes.size(); ++i) {
      const auto header = BlockHeader::decode(bytes.subspan(block_offset(i), kBlockBytes));
      EXPECT_TRUE(header.has_value());
      EXPECT_LE(header->durable, durable);
      blocks.push_back({block_offset(i), *header});
    }
    uint32_t lost = 0;
    file.clear();
    for (const auto& [offset, header] : blocks) {
      if (one_stream_lsn(header.begin) < durable || random_() % 2 == 0) continue;
      file.seekp(static_cast<std::streamoff>(offset));
      file.write(std::string(kBlockBytes, '\0').data(), kBlockBytes);
      ++lost;
    }
    return lost;
  }

  std::string error_of_following() {
    auto follower = Follower::open(directory_, log_.reader(), options());
    if (!follower) return follower.error().message;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    const Result<void> ran = (*follower)->run([&] { return std::chrono::steady_clock::now() > deadline; });
    return ran ? "it goes on" : ran.error().message;
  }

  const std::string folder_;
  const std::string primary_;
  const std::string directory_;
  std::mt19937 random_;
  MemoryReplicatedLog log_;
};

}  // namespace mneme::test
