// Goal: the workloads' logs replay to the state that their transactions left, serially and in parallel.
// Method: a workload's calls run forward as transactions; those that wrote make a log in memory. From fresh
// populations it is replayed by each scheme, calls or rows, with several numbers of threads and sizes of
// batches, by machine code and by the interpreter, and all digests are compared. The whole path, through a
// directory, a kill and real files, is `mneme crash`'s.
#include <gtest/gtest.h>

#include <random>

#include "analyzer/conflict_rule.h"
#include "engine/checkpoint/checkpoint_writer.h"
#include "engine/transaction/digest.h"
#include "engine/transaction/transaction.h"
#include "logging/testing/kept_log.h"
#include "logging/testing/test_log.h"
#include "procedures/interpreter/call_codec.h"
#include "procedures/native/compiled_units.h"
#include "recovery/calls/parallel_replayer.h"
#include "recovery/calls/serial_replayer.h"
#include "recovery/calls/slice_units.h"
#include "recovery/database/checkpoint_loader.h"
#include "recovery/rows/index_builder.h"
#include "recovery/rows/location_replayer.h"
#include "recovery/rows/shuffle_replayer.h"
#include "recovery/rows/unordered_replayer.h"
#include "workloads/shared/load.h"
#include "workloads/tatp/tatp.h"
#include "workloads/tpcb/tpcb.h"
#include "workloads/workload_table.h"
#include "workloads/ycsb/ycsb.h"

namespace mneme {
namespace {

class WorkloadReplay {
 public:
  // `ad_hoc_percent`: of the calls, drawn at random, that are logged by their rows alone.
  WorkloadReplay(Result<std::unique_ptr<Workload>> workload, uint32_t calls, uint32_t ad_hoc_percent = 0,
                 TupleImage image = TupleImage::kFull)
      : ad_hoc_percent_(ad_hoc_percent), image_(image) {
    EXPECT_TRUE(workload.ok()) << (workload.ok() ? "" : workload.error().message);
    workload_ = std::move(*workload);
    auto compiled = compile(workload_->sql(), std::string(workload_->name()) + ".sql");
    EXPECT_TRUE(compiled.ok()) << (compiled.ok() ? "" : compiled.error().message);
    program_ = std::move(*compiled);
    graph_ = analyze(*program_);
    run_forward(calls);
  }

  const Digest& forward() const { return forward_; }
  size_t log_records() { return kept_.records().size(); }

  // From here on replay is by machine code.
  void use_machine_code() {
    const Schema schema(program_->catalog);
    const NativeFolders folders{"", {MNEME_NATIVE_FOLDER}};
    procedures_ = CompiledUnits::load(*program_, schema, procedure_units(*program_), folders);
    slices_ = CompiledUnits::load(*program_, schema, SliceUnits(graph_).units(), folders);
    EXPECT_EQ(procedures_.execution(), Execution::kNative) << procedures_.notices().front();
    EXPECT_EQ(slices_.execution(), Execution::kNative) << slices_.notices().front();
  }

  // Interpreted, then by machine code.
  void expect_equal_by_every_way() {
    EXPECT_EQ(serially(), forward());
    for (const uint32_t threads : {1, 2, 4, 8}) {
      for (const uint32_t batch : {1, 7, 1000}) {
        EXPECT_EQ(in_parallel(threads, batch), forward()) << threads << " threads, batches of " << batch;
        const ReplayOrder order = batch == 7 ? ReplayOrder::kForward : ReplayOrder::kReverse;
        const ReplayOrder other = batch == 7 ? ReplayOrder::kReverse : ReplayOrder::kForward;
        EXPECT_EQ(by_rows(replay_shuffled, threads, batch, order), forward())
            << threads << " threads, batches of " << batch;
        EXPECT_EQ(by_rows(replay_unordered, threads, batch, other), forward())
            << threads << " threads, batches of " << batch;
        EXPECT_EQ(by_location(threads, batch, order), forward())
            << threads << " threads, batches of " << batch;
      }
    }
    use_machine_code();
    EXPECT_EQ(serially(), forward());
    for (const uint32_t threads : {1, 2, 4}) EXPECT_EQ(in_parallel(threads, 100), forward());
  }

  // Fewer schemes can replay a log with ad-hoc transactions.
  void expect_equal_by_every_scheme() {
    EXPECT_EQ(serially(), forward());
    EXPECT_EQ(in_parallel(1, 1000), forward());
    EXPECT_EQ(in_parallel(2, 7), forward());
    EXPECT_EQ(in_parallel(4, 1), forward());
    EXPECT_EQ(in_parallel(4, 100, ReplayLevel::kSynchronous), forward());
    EXPECT_EQ(in_parallel(2, 100, ReplayLevel::kStatic), forward());
    EXPECT_EQ(by_rows(replay_shuffled, 4, 7, ReplayOrder::kForward), forward());
    if (image_ == TupleImage::kChanged) return;
    EXPECT_EQ(by_rows(replay_shuffled, 2, 1000, ReplayOrder::kReverse), forward());
    EXPECT_EQ(by_rows(replay_unordered, 4, 7, ReplayOrder::kReverse), forward());
    EXPECT_EQ(by_location(4, 7, ReplayOrder::kForward), forward());
  }

  Digest serially() {
    const auto database = populated();
    ReplayOptions options;
    options.native = procedures_.functions();
    const auto replayed = replay_serially(*database, *program_, kept_.records(), options);
    EXPECT_TRUE(replayed.ok()) << (replayed.ok() ? "" : replayed.error().message);
    return digest_of(*database, 2);
  }
  Digest in_parallel(uint32_t threads, uint32_t batch, ReplayLevel level = ReplayLevel::kPipelined) {
    const auto database = populated();
    ReplayOptions options;
    options.level = level;
    options.native = slices_.functions();
    options.threads = threads;
    options.batch_transactions = batch;
    // Small batches with many lanes, large ones with as many as the work demands.
    options.lanes_per_block = batch < 100 ? 64 : 0;
    const auto replayed = replay_in_parallel(*database, *program_, graph_, kept_.records(), options);
    EXPECT_TRUE(replayed.ok()) << (replayed.ok() ? "" : replayed.error().message);
    return digest_of(*database, 2);
  }
  // LLR-P or LLR.
  using RowReplay = Result<ReplayStatistics> (*)(Database&, std::span<const RecordView>,
                                                 const ReplayOptions&);
  Digest by_rows(RowReplay replay, uint32_t threads, uint32_t batch, ReplayOrder order) {
    const auto database = populated();
    ReplayOptions options;
    options.threads = threads;
    options.batch_transactions = batch;
    options.order = order;
    const auto replayed = replay(*database, kept_.records(), options);
    EXPECT_TRUE(replayed.ok()) << (replayed.ok() ? "" : replayed.error().message);
    const auto walked = verify_indexes(*database);
    EXPECT_TRUE(walked.ok()) << (walked.ok() ? "" : walked.error().message);
    return digest_of(*database, 2);
  }
  // PLR. The population must lie where it lay before the run, so it comes from a checkpoint.
  Digest by_location(uint32_t threads, uint32_t batch, ReplayOrder order) {
    Database database(program_->catalog, 1);
    Manifest manifest;
    manifest.checkpoint_file = checkpoint_file_;
    const auto loaded = load_checkpoint(database, directory_.path(), manifest, threads);
    EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().message);
    ReplayOptions options;
    options.threads = threads;
    options.batch_transactions = batch;
    options.order = order;
    const auto replayed = replay_by_location(database, kept_.records(), kCheckpointLsn, options);
    EXPECT_TRUE(replayed.ok()) << (replayed.ok() ? "" : replayed.error().message);
    const auto built = build_indexes(database, threads);
    EXPECT_TRUE(built.ok()) << (built.ok() ? "" : built.error().message);
    const auto walked = verify_indexes(database);
    EXPECT_TRUE(walked.ok()) << (walked.ok() ? "" : walked.error().message);
    return digest_of(database, 2);
  }

 private:
  std::unique_ptr<Database> populated() {
    auto database = std::make_unique<Database>(program_->catalog, 1);
    const Result<void> loaded = load(*workload_, *database, 2, [](uint32_t, uint32_t) {});
    EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().message);
    return database;
  }

  void run_forward(uint32_t calls) {
    const auto database = populated();
    const auto checkpoint = write_checkpoint(*database, directory_.path(), {}, /*threads=*/1);
    EXPECT_TRUE(checkpoint.ok()) << (checkpoint.ok() ? "" : checkpoint.error().message);
    if (checkpoint.ok()) checkpoint_file_ = checkpoint->file;
    database->attach_log(kept_, RecordContent::kAll, image_);
    std::mt19937 random(5);
    Interpreter interpreter(database->schema());
    Transaction transaction(*database, database->worker(WorkerId{0}));
    const auto generator = workload_->generator({});
    for (uint32_t i = 0; i < calls; ++i) {
      const Call& call = generator->call(i);
      ByteBuffer payload;
      encode_call(*program_, call, payload);
      transaction.begin();
      const ir::Procedure& procedure = program_->procedure(call.procedure);
      if (!interpreter.run(RunRequest::of(procedure, call.arguments, transaction)).completed()) {
        transaction.abort();
        continue;
      }
      const CommitOutcome committed =
          random() % 100 < ad_hoc_percent_ ? transaction.commit_ad_hoc() : transaction.commit(payload.span());
      EXPECT_EQ(committed.status, CommitStatus::kCommitted);
    }
    forward_ = digest_of(*database, 2);
  }

  std::unique_ptr<Workload> workload_;
  std::unique_ptr<Program> program_;
  DependencyGraph graph_;
  CompiledUnits procedures_;
  CompiledUnits slices_;
  const uint32_t ad_hoc_percent_;
  const TupleImage image_;
  KeptLog kept_;
  Digest forward_;
  test::TemporaryDirectory directory_;
  std::string checkpoint_file_;  // of the population
};

Result<std::unique_ptr<Workload>> small_tatp() {
  return tatp::Tatp::make(50, 1,
                          "update_subscriber_data=20,update_location=20,insert_call_forwarding=30,"
                          "delete_call_forwarding=30");
}
Result<std::unique_ptr<Workload>> small_tpcb() {
  return tpcb::Tpcb::make({.branches = 2, .accounts_per_branch = 200}, 0.9, 1, "default");
}
Result<std::unique_ptr<Workload>> small_ycsb() {
  return ycsb::Ycsb::make({.core_workload = 'D', .records = 300}, 1,
                          "update_record=50,insert_record=10,read_modify_write=40");
}

TEST(WorkloadReplay, Smallbank) {
  WorkloadReplay replay(make_workload("smallbank", {}), 4000);
  ASSERT_GT(replay.log_records(), 2000u);
  replay.expect_equal_by_every_way();
}

// So few subscribers that their rules come and go many times.
TEST(WorkloadReplay, Tatp) {
  WorkloadReplay replay(small_tatp(), 4000);
  ASSERT_GT(replay.log_records(), 1500u);
  replay.expect_equal_by_every_way();
}

TEST(WorkloadReplay, Tpcb) {
  WorkloadReplay replay(small_tpcb(), 3000);
  ASSERT_EQ(replay.log_records(), 3000u);
  replay.expect_equal_by_every_way();
}

TEST(WorkloadReplay, Ycsb) {
  WorkloadReplay replay(small_ycsb(), 3000);
  ASSERT_EQ(replay.log_records(), 3000u);
  replay.expect_equal_by_every_way();
}

// A population takes seconds, so fewer combinations; each number of threads and each size of batch is among
// them.
TEST(WorkloadReplay, Tpcc) {
  WorkloadReplay replay(make_workload("tpcc", {}), 1500);
  ASSERT_GT(replay.log_records(), 1000u);
  EXPECT_EQ(replay.serially(), replay.forward());
  const std::pair<uint32_t, uint32_t> combinations[] = {{1, 1000}, {2, 7}, {4, 100}, {8, 1}};
  for (const auto& [threads, batch] : combinations) {
    EXPECT_EQ(replay.in_parallel(threads, batch), replay.forward())
        << threads << " threads, batches of " << batch;
    EXPECT_EQ(replay.by_rows(replay_shuffled, threads, batch, ReplayOrder::kReverse), replay.forward())
        << threads << " threads, batches of " << batch;
  }
  EXPECT_EQ(replay.by_rows(replay_shuffled, 2, 100, ReplayOrder::kForward), replay.forward());
  for (const ReplayOrder order : {ReplayOrder::kForward, ReplayOrder::kReverse}) {
    EXPECT_EQ(replay.by_rows(replay_unordered, 4, 100, order), replay.forward());
    EXPECT_EQ(replay.by_location(4, 100, order), replay.forward());
  }
  replay.use_machine_code();
  EXPECT_EQ(replay.serially(), replay.forward());
  EXPECT_EQ(replay.in_parallel(4, 100), replay.forward());
}

// A share of the calls is logged by its rows, whole or not.
TEST(WorkloadReplay, WithAdHocTransactions) {
  using Make = Result<std::unique_ptr<Workload>> (*)();
  const Make workloads[] = {[] { return make_workload("smallbank", {}); }, small_tatp, small_tpcb,
                            small_ycsb};
  for (const Make make : workloads) {
    for (const uint32_t percent : {10, 50, 100}) {
      for (const TupleImage image : {TupleImage::kFull, TupleImage::kChanged}) {
        WorkloadReplay replay(make(), 1200, percent, image);
        replay.expect_equal_by_every_scheme();
      }
    }
  }
}

TEST(WorkloadReplay, TpccWithAdHocTransactions) {
  for (const uint32_t percent : {10, 100}) {
    WorkloadReplay replay(make_workload("tpcc", {}), 800, percent);
    EXPECT_EQ(replay.in_parallel(4, 100), replay.forward());
  }
  WorkloadReplay replay(make_workload("tpcc", {}), 800, 50);
  EXPECT_EQ(replay.serially(), replay.forward());
  EXPECT_EQ(replay.in_parallel(2, 7), replay.forward());
  EXPECT_EQ(replay.by_rows(replay_shuffled, 2, 100, ReplayOrder::kReverse), replay.forward());
  EXPECT_EQ(replay.by_rows(replay_unordered, 2, 100, ReplayOrder::kReverse), replay.forward());
  replay.use_machine_code();
  EXPECT_EQ(replay.in_parallel(4, 100), replay.forward());
  WorkloadReplay changed(make_workload("tpcc", {}), 800, 50, TupleImage::kChanged);
  EXPECT_EQ(changed.in_parallel(4, 100), changed.forward());
}

}  // namespace
}  // namespace mneme
