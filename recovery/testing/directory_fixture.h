// DirectoryFixture: a data directory of a bank with 20,000 families, for tests that close it, spoil it and
// recover it.
#pragma once

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "base/file/file.h"
#include "engine/transaction/unlogged_writer.h"
#include "recovery/database/data_directory.h"
#include "recovery/testing/replay_fixture.h"

namespace mneme {

class DirectoryFixture : public testing::Test {
 protected:
  DirectoryFixture()
      : directory_(testing::TempDir() + "data_directory_" + std::to_string(::getpid()) + "_" +
                   testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(directory_);
  }
  ~DirectoryFixture() override { std::filesystem::remove_all(directory_); }

  static std::unique_ptr<Program> program() {
    auto compiled = compile(kBankSql, "bank.sql");
    EXPECT_TRUE(compiled.ok());
    return std::move(*compiled);
  }

  // 20000 families, which make a checkpoint of several ranges of slots.
  static constexpr auto load = [](Database& database) -> Result<void> {
    UnloggedWriter rows(database);
    for (int64_t i = 100; i < 20100; ++i) {
      const Value spouse = i % 3 == 0 ? Value::null() : Value::of_int(i + 1);
      const std::array family = {Value::of_int(i), spouse};
      const std::array account = {Value::of_int(i), Value::of_int(i * 7)};
      EXPECT_EQ(rows.insert(TableId{0}, family), AccessStatus::kOk);
      EXPECT_EQ(rows.insert(TableId{1}, account), AccessStatus::kOk);
      EXPECT_EQ(rows.insert(TableId{2}, account), AccessStatus::kOk);
    }
    return {};
  };

  Digest create_and_run(uint32_t calls, RecordContent records = RecordContent::kCommand,
                        const DurableLogOptions& log = {}) {
    CreateOptions options;
    options.records = records;
    options.log = log;
    options.threads = 2;
    options.attributes["workload"] = "bank";
    Result<CreatedDatabase> created = create_database(directory_, program(), load, options);
    EXPECT_TRUE(created.ok()) << (created.ok() ? "" : created.error().message);
    EXPECT_EQ(created->rows, 60000u);
    return run(created->working, calls, 1);
  }

  static Digest run(WorkingDatabase& working, uint32_t calls, uint32_t seed) {
    run_calls(working, calls, seed);
    return digest_of(working.database(), 1);
  }

  // All are durable when it returns.
  static void run_calls(WorkingDatabase& working, uint32_t calls, uint32_t seed) {
    Database& database = working.database();
    Interpreter interpreter(database.schema());
    Transaction transaction(database, database.worker(WorkerId{0}));
    RandomCalls random(working.program(), seed);
    Lsn last;
    for (uint32_t i = 0; i < calls; ++i) {
      const Call& call = random.next();
      ByteBuffer payload;
      encode_call(working.program(), call, payload);
      transaction.begin();
      const ir::Procedure& procedure = working.program().procedure(call.procedure);
      if (!interpreter.run(RunRequest::of(procedure, call.arguments, transaction)).completed()) {
        transaction.abort();
        continue;
      }
      const CommitOutcome committed = transaction.commit(payload.span());
      EXPECT_EQ(committed.status, CommitStatus::kCommitted);
      last = std::max(last, committed.lsn);
    }
    EXPECT_TRUE(working.log().wait_durable(last));
  }

  static RecoverOptions options(std::string_view scheme, uint32_t threads) {
    RecoverOptions options;
    options.scheme = *recovery_scheme(scheme);
    options.replay.threads = threads;
    options.replay.batch_transactions = 50;
    return options;
  }

  // Replay keeps nothing of the log, but for a few KiB at a time.
  static RecoverOptions with_little_memory(RecoverOptions options) {
    options.most_kept_log_bytes = 0;
    options.log_window_bytes = 4000;
    return options;
  }

  void expect_recovers_to(const Digest& digest, uint64_t at_least_transactions) {
    for (const char* const scheme : {"clr", "clr-p"}) {
      for (const uint32_t threads : {1, 3}) {
        const RecoverOptions with_much = options(scheme, threads);
        Result<RecoveredDatabase> recovered =
            recover(directory_, threads == 1 ? with_much : with_little_memory(with_much));
        ASSERT_TRUE(recovered.ok()) << recovered.error().message;
        EXPECT_EQ(state_of(*recovered->database), digest) << scheme << ", " << threads << " threads";
        EXPECT_GE(recovered->report.replay.statistics.transactions, at_least_transactions);
        EXPECT_EQ(recovered->report.checkpoint.rows, 60000u);
        EXPECT_EQ(recovered->manifest.attributes.at("workload"), "bank");
      }
    }
  }

  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> contents;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      contents[entry.path().filename()] = *read_text_file(entry.path());
    }
    return contents;
  }
  void put(const std::string& name, const std::string& content) {
    std::ofstream(directory_ + "/" + name, std::ios::binary | std::ios::trunc) << content;
  }
  std::string checkpoint_file() const { return read_manifest(directory_)->checkpoint_file; }

  // Recovery fails, says `text`, and touches nothing.
  void expect_refused(ErrorKind kind, const std::string& text) {
    const auto before = files();
    for (const char* const scheme : {"clr", "clr-p"}) {
      const Result<RecoveredDatabase> recovered = recover(directory_, options(scheme, 2));
      ASSERT_FALSE(recovered.ok());
      EXPECT_EQ(recovered.error().kind, kind) << recovered.error().message;
      EXPECT_THAT(recovered.error().message, testing::HasSubstr(text));
    }
    EXPECT_TRUE(files() == before) << "recovery changed the directory";
  }

  const std::string directory_;
};

}  // namespace mneme
