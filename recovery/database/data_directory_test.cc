// Goal: a database comes back from nothing but its directory, goes on from there, and no damage goes
// unnoticed. Method: a database is created with some rows, runs calls through its durable log, is closed,
// recovered by each scheme, opened again and run on; then single bytes and whole files of the directory are
// spoiled, and recovery must refuse with kDamaged and leave every file as it was.
#include "recovery/database/data_directory.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/file/file.h"
#include "base/testing/test_effort.h"
#include "base/testing/test_refusal.h"
#include "engine/checkpoint/online_checkpointer.h"
#include "engine/transaction/unlogged_writer.h"
#include "logging/reading/log_truncation.h"
#include "recovery/testing/directory_fixture.h"

namespace mneme {
namespace {

namespace fs = std::filesystem;

using DataDirectory = DirectoryFixture;

// However long the log: batches in flight are of a few windows, and only those are there.
TEST_F(DataDirectory, ReplayOfALongLogTakesNoMoreMemoryThanOfAShortOne) {
  create_and_run(3000, RecordContent::kCommand);
  std::vector<RecoveryReport> reports;
  for (const uint32_t more_calls : {0, 9000}) {
    if (more_calls > 0) {
      Result<OpenedDatabase> opened = open_for_work(directory_, options("clr-p", 2), {});
      ASSERT_TRUE(opened.ok());
      run(opened->working, more_calls, 2);
    }
    for (const char* const scheme : {"clr", "clr-p"}) {
      Result<RecoveredDatabase> recovered = recover(directory_, with_little_memory(options(scheme, 2)));
      ASSERT_TRUE(recovered.ok()) << recovered.error().message;
      EXPECT_TRUE(recovered->log.records.empty());
      reports.push_back(recovered->report);
    }
  }
  // A window takes less than 8000 bytes with its records' places. What is in flight, nine batches of 50
  // records, lies in six at most, and two are read meanwhile.
  constexpr uint64_t kMostInMemory = 10 * 8000;
  for (const size_t scheme : {0, 1}) {
    EXPECT_GT(reports[2 + scheme].log.record_bytes, 3 * reports[scheme].log.record_bytes);
    EXPECT_LT(reports[scheme].log.memory_bytes, kMostInMemory);
    EXPECT_LT(reports[2 + scheme].log.memory_bytes, kMostInMemory);
  }
  Result<RecoveredDatabase> kept = recover(directory_, options("clr-p", 2));
  ASSERT_TRUE(kept.ok());
  EXPECT_GT(kept->report.log.memory_bytes, 2 * kMostInMemory);
}

TEST_F(DataDirectory, ComesBackAndGoesOn) {
  const Digest first = create_and_run(400);
  expect_recovers_to(first, 100);

  Digest second;
  {
    Result<OpenedDatabase> opened = open_for_work(directory_, options("clr-p", 2), {});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    EXPECT_EQ(digest_of(opened->working.database(), 1), first);
    second = run(opened->working, 400, 2);
  }
  EXPECT_NE(second, first);
  expect_recovers_to(second, 200);
}

// Each row's digest, by table and slot.
std::map<std::pair<uint32_t, uint64_t>, std::string> rows_by_slot(const Database& database) {
  std::map<std::pair<uint32_t, uint64_t>, std::string> rows;
  for (uint32_t t = 0; t < database.table_count(); ++t) {
    const IndexedTable& table = database.table(TableId{t});
    table.rows().for_each_live(0, table.rows().slot_end(), [&](const Row* row) {
      rows[{t, table.rows().slot_of(row)}] =
          digest_of_row(table.definition(), table.layout(), row->image()).to_string();
    });
  }
  return rows;
}

// Accounts come and go, so slots are used again, in one life of the database and from life to life.
// Calls run while the log of those before them is replayed, and the log of both gives what they left.
TEST_F(DataDirectory, OpensOnDemandAndGoesOn) {
  create_and_run(2000);
  Digest last;
  for (uint32_t round = 2; round < 4; ++round) {
    RecoverOptions options = this->options("clr-p", 2);
    options.on_demand = true;
    Result<OpenedDatabase> opened = open_for_work(directory_, options, {});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    WorkingDatabase& working = opened->working;
    ASSERT_NE(working.rest(), nullptr);
    run_calls(working, 500, round);
    const Result<void> finished = working.finish_recovery();
    ASSERT_TRUE(finished.ok()) << finished.error().message;
    EXPECT_TRUE(working.is_recovered());
    last = digest_of(working.database(), 1);
  }
  const Result<RecoveredDatabase> recovered = recover(directory_, options("clr", 1));
  ASSERT_TRUE(recovered.ok()) << recovered.error().message;
  EXPECT_EQ(digest_of(*recovered->database, 1), last);
}

TEST_F(DataDirectory, IsClosedWhileItsLogIsReplayed) {
  const Digest before = create_and_run(2000);
  RecoverOptions options = this->options("clr-p", 2);
  options.on_demand = true;
  {
    const Result<OpenedDatabase> opened = open_for_work(directory_, options, {});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
  }
  const Result<RecoveredDatabase> recovered = recover(directory_, this->options("clr-p", 1));
  ASSERT_TRUE(recovered.ok()) << recovered.error().message;
  EXPECT_EQ(digest_of(*recovered->database, 1), before);
}

TEST_F(DataDirectory, ALogThatTakesTooMuchMemoryIsNotOpenedOnDemand) {
  create_and_run(100);
  RecoverOptions options = this->options("clr-p", 1);
  options.on_demand = true;
  options.most_demand_log_bytes = 1;
  const Result<OpenedDatabase> opened = open_for_work(directory_, options, {});
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("recover it first"), std::string::npos) << opened.error().message;
  options.on_demand = false;
  EXPECT_TRUE(open_for_work(directory_, options, {}).ok());
}

// Interrupted ever later, it is whole at last; nothing on disk has changed by then.
TEST_F(DataDirectory, ARecoveryThatIsInterruptedReportsItsStage) {
  const Digest forward = create_and_run(1000, RecordContent::kAll);
  const std::map<std::string, std::string> before = files();
  for (const RecoveryScheme& scheme : recovery_schemes()) {
    RecoverOptions with = options(scheme.name, 2);
    std::vector<RecoveryStage> stages;
    for (uint64_t asks = 0;; asks = std::max<uint64_t>(1, 2 * asks)) {
      with.replay.is_interrupted = interrupted_after(asks);
      const Result<RecoveredDatabase> recovered = recover(directory_, with);
      ASSERT_TRUE(recovered.ok()) << recovered.error().message;
      const RecoveryReport& report = recovered->report;
      const uint64_t replayed = report.replay.statistics.transactions;
      if (!report.interrupted_in) {
        EXPECT_EQ(state_of(*recovered->database), forward) << scheme.name;
        EXPECT_EQ(replayed, report.log.records);
        break;
      }
      stages.push_back(*report.interrupted_in);
      if (stages.back() == RecoveryStage::kCheckpoint) {
        EXPECT_LT(report.checkpoint.rows, 60000u);
        EXPECT_EQ(replayed, 0u);
      } else {
        EXPECT_EQ(report.checkpoint.rows, 60000u);
      }
      if (stages.back() == RecoveryStage::kReplay) {
        EXPECT_LT(replayed, report.log.records) << scheme.name;
      }
    }
    EXPECT_EQ(stages.front(), RecoveryStage::kCheckpoint);
    EXPECT_TRUE(std::ranges::is_sorted(stages) || !scheme.builds_indexes_last) << scheme.name;
  }
  EXPECT_EQ(files(), before);
}

TEST_F(DataDirectory, RowsStayWhereTheLogSaysThatTheyLie) {
  for (const RecordContent records : {RecordContent::kAll, RecordContent::kPhysical}) {
    fs::remove_all(directory_);
    Digest state = create_and_run(400, records);
    for (uint32_t life = 2; life < 5; ++life) {
      for (const RecoveryScheme& scheme : recovery_schemes()) {
        if (!check_served(scheme, records, TupleImage::kFull)) continue;
        Result<RecoveredDatabase> recovered = recover(directory_, options(scheme.name, 3));
        ASSERT_TRUE(recovered.ok()) << recovered.error().message;
        EXPECT_EQ(state_of(*recovered->database), state) << scheme.name << ", before life " << life;
      }
      std::map<std::pair<uint32_t, uint64_t>, std::string> rows;
      {
        const Result<OpenedDatabase> refused = open_for_work(directory_, options("llr-p", 2), {});
        ASSERT_FALSE(refused.ok());
        EXPECT_THAT(refused.error().message, testing::HasSubstr("plr"));
        RecoverOptions unnamed = options("plr", 2);
        unnamed.scheme = nullptr;
        Result<OpenedDatabase> opened = open_for_work(directory_, unnamed, {});
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        EXPECT_EQ(opened->report.scheme->name, "plr");
        state = run(opened->working, 400, life);
        rows = rows_by_slot(opened->working.database());
      }
      Result<RecoveredDatabase> recovered = recover(directory_, options("plr", 3));
      ASSERT_TRUE(recovered.ok()) << recovered.error().message;
      EXPECT_EQ(rows_by_slot(*recovered->database), rows);
    }
  }
}

TEST_F(DataDirectory, ALogThatNothingCouldReplayIsRefused) {
  CreateOptions options;
  options.records = RecordContent::kPhysical;
  options.tuple_image = TupleImage::kChanged;
  const Result<CreatedDatabase> created = create_database(directory_, program(), load, options);
  ASSERT_FALSE(created.ok());
  EXPECT_THAT(created.error().message, testing::HasSubstr("plr"));
  EXPECT_FALSE(fs::exists(directory_));
}

TEST_F(DataDirectory, IsTakenByOneAtATime) {
  Result<CreatedDatabase> created = create_database(directory_, program(), load, {});
  ASSERT_TRUE(created.ok()) << created.error().message;
  EXPECT_FALSE(recover(directory_, options("clr", 1)).ok());
  EXPECT_FALSE(open_for_work(directory_, options("clr", 1), {}).ok());
}

TEST_F(DataDirectory, IsNotOverwritten) {
  const Digest digest = create_and_run(50);
  const auto again = create_database(directory_, program(), load, {});
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().kind, ErrorKind::kInvalidArgument);
  expect_recovers_to(digest, 1);
}

TEST_F(DataDirectory, WithoutADatabaseIsRefused) {
  fs::create_directories(directory_);
  put("something.txt", "else");
  expect_refused(ErrorKind::kInvalidArgument, directory_);
}

TEST_F(DataDirectory, DamageToTheCheckpointIsFound) {
  create_and_run(20);
  const std::string name = checkpoint_file();
  const std::string intact = files()[name];
  // In the header page, a chunk's header, its payload, and the last byte.
  for (const size_t offset : {size_t{20}, size_t{4096 + 9}, size_t{4096 + 1000}, intact.size() - 1}) {
    std::string spoiled = intact;
    spoiled[offset] = static_cast<char>(spoiled[offset] ^ 0x10);
    put(name, spoiled);
    expect_refused(ErrorKind::kDamaged, name);
  }
  for (const size_t bytes : {intact.size() - 5, size_t{100}, size_t{0}}) {
    put(name, intact.substr(0, bytes));
    expect_refused(ErrorKind::kDamaged, name);
  }
  // A file in its place is refused, whatever it is.
  put(name, "something else" + intact);
  expect_refused(ErrorKind::kDamaged, name);
  fs::remove(directory_ + "/" + name);
  expect_refused(ErrorKind::kDamaged, name);
}

TEST_F(DataDirectory, AnotherCatalogIsRefused) {
  create_and_run(20);
  put(kCatalogFile, std::string(kOrdersSql));
  expect_refused(ErrorKind::kDamaged, kCatalogFile);
  fs::remove(directory_ + "/" + kCatalogFile);
  expect_refused(ErrorKind::kDamaged, kCatalogFile);
}

TEST_F(DataDirectory, AFailedLoadLeavesNoDatabase) {
  const auto created = create_database(directory_, program(),
                                       [](Database&) -> Result<void> { return failed("no rows today"); }, {});
  ASSERT_FALSE(created.ok());
  EXPECT_FALSE(holds_database(directory_));
  const Digest digest = create_and_run(50);
  expect_recovers_to(digest, 1);
}

TEST_F(DataDirectory, NothingIsMadeOverFilesWithoutAManifest) {
  const Digest digest = create_and_run(50);
  fs::rename(directory_ + "/MANIFEST", directory_ + "/aside");
  const auto created = create_database(directory_, program(), [](Database&) { return Result<void>(); }, {});
  test::expect_refused(created, ErrorKind::kDamaged,
                       "MANIFEST is missing, and the directory holds files of a database: catalog.sql, ");
  expect_refused(ErrorKind::kDamaged, "MANIFEST is missing");
  fs::rename(directory_ + "/aside", directory_ + "/MANIFEST");
  expect_recovers_to(digest, 1);
}

TEST_F(DataDirectory, AnOlderManifestIsRefused) {
  create_and_run(50);
  const std::string former = *read_text_file(directory_ + "/MANIFEST");
  {
    Result<OpenedDatabase> opened = open_for_work(directory_, {}, {});
    ASSERT_TRUE(opened.ok());
    run(opened->working, 50, 2);
  }
  put("MANIFEST", former);
  expect_refused(ErrorKind::kDamaged, "/MANIFEST is older than the log: ");
}

TEST_F(DataDirectory, AnEndBelowThatOfAClosedLogIsRefused) {
  create_and_run(50);
  const std::string segment = read_manifest(directory_)->segments.front().file;
  std::string bytes = *read_text_file(directory_ + "/" + segment);
  ASSERT_TRUE(read_manifest(directory_)->incarnations.back().closed.has_value());
  std::fill(bytes.begin() + 4096, bytes.end(), '\0');
  put(segment, bytes);
  expect_refused(ErrorKind::kDamaged, segment);
}

TEST_F(DataDirectory, ASegmentThatIsCutAnywhereIsRefused) {
  create_and_run(50);
  const std::string segment = read_manifest(directory_)->segments.back().file;
  const auto whole = fs::file_size(directory_ + "/" + segment);
  for (const uintmax_t bytes : {whole + 4096, whole - 1, whole / 2, uintmax_t{8192}, uintmax_t{0}}) {
    fs::resize_file(directory_ + "/" + segment, bytes);
    expect_refused(ErrorKind::kDamaged, segment);
  }
}

TEST_F(DataDirectory, LivesThatLeftNothingInTheLogAreForgotten) {
  const Digest first = create_and_run(100);
  uint32_t number = 0;
  for (uint32_t opening = 0; opening < 5; ++opening) {
    const Result<OpenedDatabase> opened = open_for_work(directory_, {}, {});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    const std::vector<Incarnation> lives = read_manifest(directory_)->incarnations;
    ASSERT_EQ(lives.size(), 2u);
    EXPECT_GT(lives.back().number, number);
    number = lives.back().number;
  }
  expect_recovers_to(first, 10);
  {
    Result<OpenedDatabase> opened = open_for_work(directory_, {}, {});
    ASSERT_TRUE(opened.ok());
    run(opened->working, 50, 2);
  }
  Result<OpenedDatabase> opened = open_for_work(directory_, {}, {});
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(read_manifest(directory_)->incarnations.size(), 3u);
}

}  // namespace
}  // namespace mneme
