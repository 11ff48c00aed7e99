// Goal: a checkpoint that is taken while calls go on never harms the database. Method: a process takes a
// checkpoint, and ends at each of its steps: its state must come back from the directory alone, and from the
// archive's whole history. Logs of every layout are shortened by one checkpoint after the other.
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
#include "recovery/database/data_directory.h"
#include "recovery/testing/directory_fixture.h"

namespace mneme {
namespace {

namespace fs = std::filesystem;

class OnlineCheckpoint : public DirectoryFixture {
 protected:
  OnlineCheckpoint() : archive_(directory_ + "-archive") { fs::remove_all(archive_); }
  ~OnlineCheckpoint() override { fs::remove_all(archive_); }

  // Segments that a few dozen flushes fill, and a thread that draws checkpoints' LSNs.
  static DurableLogOptions log_on(LogDeviceKind device, LogLayout layout = LogLayout::kStream) {
    DurableLogOptions log;
    log.layout = layout;
    log.helpers = 1;
    log.device = device;
    log.largest_payload_bytes = 16 * 1024;
    log.segments.bytes = 96 * 1024;
    if (device == LogDeviceKind::kStriped) log.device_options.directories = {"left", "right"};
    // The log holds locations: a transaction's changes lie in several streams.
    if (layout == LogLayout::kDistributed) log.streams.partition = StreamPartition::kPage;
    return log;
  }

  // By every scheme from the newest checkpoint on, and, where there is an archive, all of the history from
  // the first.
  void expect_state(const std::string& digest, RecordContent records) {
    for (const RecoveryScheme& scheme : recovery_schemes()) {
      if (!check_served(scheme, records, TupleImage::kFull)) continue;
      for (const bool whole : {false, true}) {
        if (whole && !archives_) continue;
        RecoverOptions recovery = options(scheme.name, 2);
        if (whole && fs::exists(archive_)) recovery.log_archive = archive_;
        Result<RecoveredDatabase> recovered = recover(directory_, recovery);
        ASSERT_TRUE(recovered.ok()) << recovered.error().message;
        EXPECT_EQ(state_of(*recovered->database).to_string(), digest)
            << scheme.name << (whole ? ", whole" : "");
        EXPECT_TRUE(!whole || recovered->report.checkpoint.lsn == kCheckpointLsn);
      }
    }
  }

  // A process that opens the directory, takes a checkpoint with calls at each of its steps, and ends at
  // `step`. Returns the digest of its last state.
  std::string die_at(CheckpointStep step, uint32_t seed) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t process = ::fork();
    if (process == 0) {
      Result<OpenedDatabase> opened = open_for_work(directory_, {}, log_on(LogDeviceKind::kFile));
      CHECK(opened.ok());
      WorkingDatabase& working = opened->working;
      OnlineCheckpointOptions taking;
      if (archives_) taking.archive = archive_;
      taking.observe = [&](CheckpointStep done) {
        run_calls(working, 20, ++seed);
        if (done != step) return;
        const std::string digest = digest_of(working.database(), 1).to_string();
        CHECK(::write(ends[1], digest.data(), digest.size()) == static_cast<ssize_t>(digest.size()));
        ::_exit(0);
      };
      (void)OnlineCheckpointer(working.database(), working.log(), working.manifest(), WorkerId{1}, taking)
          .take();
      ::_exit(1);
    }
    ::close(ends[1]);
    std::string digest(256, ' ');
    const ssize_t bytes = ::read(ends[0], digest.data(), digest.size());
    digest.resize(bytes > 0 ? static_cast<size_t>(bytes) : 0);
    ::close(ends[0]);
    int status = -1;
    ::waitpid(process, &status, 0);
    EXPECT_EQ(status, 0) << "step " << static_cast<int>(step) << " was not reached";
    return digest;
  }

  const std::string archive_;
  bool archives_ = true;  // what checkpoints replace
};

TEST_F(OnlineCheckpoint, ACrashAtAnyStepLeavesAGoodOne) {
  for (const auto& [records, archives] :
       {std::pair(RecordContent::kCommand, true), std::pair(RecordContent::kAll, true),
        std::pair(RecordContent::kCommand, false)}) {
    if (kIsSanitized && records == RecordContent::kAll) continue;
    archives_ = archives;
    fs::remove_all(directory_);
    fs::remove_all(archive_);
    create_and_run(100, records, log_on(LogDeviceKind::kFile));
    for (uint32_t step = 0; step < kCheckpointSteps; ++step) {
      const std::string before = checkpoint_file();
      const std::string digest = die_at(static_cast<CheckpointStep>(step), 100 * (step + 1));
      EXPECT_EQ(checkpoint_file() != before, step >= static_cast<uint32_t>(CheckpointStep::kCurrent));
      expect_state(digest, records);
    }
    // Without an archive nothing needs those before the last checkpoint but one.
    const size_t lives = read_manifest(directory_)->incarnations.size();
    if (archives) {
      EXPECT_GE(lives, kCheckpointSteps);
    } else {
      EXPECT_LE(lives, 3u);
    }
    {
      const Result<OpenedDatabase> opened = open_for_work(directory_, {}, log_on(LogDeviceKind::kFile));
      ASSERT_TRUE(opened.ok()) << opened.error().message;
    }
    const auto leftovers = unlisted_files(directory_, *read_manifest(directory_));
    ASSERT_TRUE(leftovers.ok()) << leftovers.error().message;
    EXPECT_THAT(*leftovers, testing::IsEmpty());
  }
}

TEST_F(OnlineCheckpoint, ShortensTheLog) {
  struct Log {
    LogDeviceKind device;
    LogLayout layout;
  };
  for (const auto& [device, layout] :
       {Log{LogDeviceKind::kFile, LogLayout::kStream}, Log{LogDeviceKind::kStriped, LogLayout::kStream},
        Log{LogDeviceKind::kNvm, LogLayout::kStream}, Log{LogDeviceKind::kFile, LogLayout::kEpoch},
        Log{LogDeviceKind::kFile, LogLayout::kDistributed}}) {
    const DurableLogOptions log = log_on(device, layout);
    fs::remove_all(directory_);
    fs::remove_all(archive_);
    create_and_run(100, RecordContent::kAll, log);
    uint64_t removed = 0;
    for (uint32_t life = 1; life < 3; ++life) {
      Digest state;
      {
        Result<OpenedDatabase> opened = open_for_work(directory_, {}, log);
        ASSERT_TRUE(opened.ok()) << opened.error().message;
        WorkingDatabase& working = opened->working;
        OnlineCheckpointOptions taking;
        taking.archive = archive_;
        OnlineCheckpointer checkpointer(working.database(), working.log(), working.manifest(), WorkerId{1},
                                        taking);
        for (uint32_t i = 0; i < 4; ++i) {
          for (uint32_t flush = 0; flush < 40; ++flush) run_calls(working, 5, 1000 * life + 100 * i + flush);
          const Result<TakenCheckpoint> taken = checkpointer.take();
          ASSERT_TRUE(taken.ok()) << taken.error().message;
          removed += taken->removed_segments;
        }
        state = run(working, 20, life);
        // Counts what the last checkpoint needs, and what is being written or made ready, in each of two
        // directories at most.
        EXPECT_LE(working.manifest().current().segments.size(), 8u);
      }
      expect_state(state.to_string(), RecordContent::kAll);
    }
    EXPECT_GT(removed, 1u);
  }
}

// An archive that was kept for a while is told from a whole history.
TEST_F(OnlineCheckpoint, AnArchiveWithAGapIsRefused) {
  create_and_run(100, RecordContent::kCommand, log_on(LogDeviceKind::kFile));
  std::string digest;
  for (const bool archives : {true, false}) {
    Result<OpenedDatabase> opened = open_for_work(directory_, {}, log_on(LogDeviceKind::kFile));
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    WorkingDatabase& working = opened->working;
    OnlineCheckpointOptions taking;
    if (archives) taking.archive = archive_;
    OnlineCheckpointer checkpointer(working.database(), working.log(), working.manifest(), WorkerId{1},
                                    taking);
    for (uint32_t flush = 0; flush < 60; ++flush) run_calls(working, 5, flush);
    ASSERT_TRUE(checkpointer.take().ok());
    digest = digest_of(working.database(), 1).to_string();
  }
  archives_ = false;
  expect_state(digest, RecordContent::kCommand);
  RecoverOptions whole = options("clr", 1);
  whole.log_archive = archive_;
  const Result<RecoveredDatabase> recovered = recover(directory_, whole);
  ASSERT_FALSE(recovered.ok());
  EXPECT_THAT(recovered.error().message, testing::HasSubstr("the whole history is lost"));
}

// Files that a checkpoint has made superfluous may be missing, and no others.
TEST_F(OnlineCheckpoint, AMissingSegmentIsToldFromAShortenedLog) {
  create_and_run(100, RecordContent::kCommand, log_on(LogDeviceKind::kFile));
  {
    Result<OpenedDatabase> opened = open_for_work(directory_, {}, log_on(LogDeviceKind::kFile));
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    WorkingDatabase& working = opened->working;
    OnlineCheckpointer checkpointer(working.database(), working.log(), working.manifest(), WorkerId{1}, {});
    ASSERT_TRUE(checkpointer.take().ok());
    for (uint32_t flush = 0; flush < 60; ++flush) run_calls(working, 5, flush);
  }
  Manifest manifest = *read_manifest(directory_);
  ASSERT_GE(manifest.segments.size(), 3u);
  const std::string path = path_in(directory_, manifest.segments[1].file);
  fs::rename(path, path + ".away");
  expect_refused(ErrorKind::kDamaged, manifest.segments[1].file);
  // The manifest itself forgets it, as no checkpoint would.
  const Result<std::unique_ptr<ManifestFile>> file = ManifestFile::open(directory_);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->update([](Manifest& m) { m.segments.erase(m.segments.begin() + 1); }).ok());
  expect_refused(ErrorKind::kDamaged, "is missing");
}

}  // namespace
}  // namespace mneme
