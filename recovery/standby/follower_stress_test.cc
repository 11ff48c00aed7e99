// Goal: receiving, replaying, taking checkpoints and looking at the lag go on side by side. Method: one
// thread publishes a primary's log in small pieces, with pauses and times without answers; a standby
// follows, with checkpoints one after the other; a third thread looks at its lag, which must never go
// backwards. Promoted, the standby must be where serial replay of the whole log ends. Sessions that read
// meanwhile must see what the primary was between two transactions: accounts that are opened and closed as a
// whole, and one state in all of a block.
#include <atomic>
#include <thread>

#include "recovery/database/live_session.h"
#include "recovery/testing/standby_fixture.h"

namespace mneme {
namespace {

using test::must;

class FollowerStress : public test::StandbyFixture {
 protected:
  // So far the log is whole for sure once the piece has come.
  static Lsn lsn_behind(const ReplicatedPiece& piece) {
    if (piece.bytes.empty()) return Lsn{};
    return one_stream_lsn(BlockHeader::decode(std::span(piece.bytes).last(kBlockBytes))->begin);
  }
};

TEST_P(FollowerStress, AllGoOnSideBySide) {
  make_primary(GetParam(), 100);
  copy_base_of(primary_);
  test::Oracle oracle(primary_, GetParam());
  const std::vector<ReplicatedPiece> pieces = test::pieces_of(primary_, random_, 2);
  const uint32_t seed = static_cast<uint32_t>(random_());
  const auto follower = open(1'000);
  std::atomic<bool> is_done{false};
  std::thread publisher([&] {
    std::mt19937 random(seed);
    for (size_t i = 0; i < pieces.size(); ++i) {
      EXPECT_TRUE(log_.append(pieces[i]));
      // At first one round after the other, then as it comes.
      while (i < pieces.size() / 3 && i % 4 == 0 && follower->lag().log_end < lsn_behind(pieces[i])) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
      if (i == pieces.size() / 2) log_.set_silent(true);
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
    }
    log_.set_silent(false);
  });
  std::thread watcher([&] {
    Lsn replayed;
    Lsn log_end;
    while (!is_done.load()) {
      const FollowLag lag = follower->lag();
      EXPECT_GE(lag.replayed, replayed);
      EXPECT_GE(lag.log_end, log_end);
      EXPECT_EQ(lag.bytes, lag.log_end.value - lag.replayed.value);
      replayed = lag.replayed;
      log_end = lag.log_end;
      std::this_thread::yield();
    }
  });
  catch_up(*follower, Lsn{oracle.end().value * 2 / 3});
  publisher.join();
  must(follower->promote({}));
  is_done.store(true);
  watcher.join();
  EXPECT_EQ(digest_of(follower->standby().database()), oracle.digest(oracle.end()));
  EXPECT_GT(follower->checkpoints(), 0u);
  EXPECT_GT(follower->rounds(), 1u);
}

// Sessions can read a standby only if its log says by which keys rows are found.
class ReadStandbyStress : public FollowerStress {};

TEST_P(ReadStandbyStress, ReadersSeeStatesOfThePrimary) {
  make_primary(GetParam(), 100);
  copy_base_of(primary_);
  test::Oracle oracle(primary_, GetParam());
  const std::vector<ReplicatedPiece> pieces = test::pieces_of(primary_, random_, 2);
  constexpr uint32_t kReaders = 2;
  const auto follower = open(1'000, kReaders);
  const std::shared_ptr<WorkingDatabase> working = follower->standby().working();
  std::atomic<bool> is_done{false};
  std::vector<std::thread> readers;
  for (uint32_t n = 0; n < kReaders; ++n) {
    readers.emplace_back([&, n] {
      LiveSession session(*working, WorkerId{n}, 1);
      const auto row = [&](const char* query) {
        const StatementResult result = session.run(query);
        EXPECT_TRUE(result.ok()) << result.message;
        return result.ok() ? result.rows.at(0) : std::vector<std::optional<std::string>>(3);
      };
      Lsn seen;
      while (!is_done.load()) {
        const Lsn before = working->log().durable();
        EXPECT_GE(before, seen);
        seen = before;
        const auto counts = row(
            "SELECT (SELECT count(*) FROM family), (SELECT count(*) FROM current_account), (SELECT count(*) "
            "FROM saving)");
        EXPECT_EQ(counts[0], counts[1]);
        EXPECT_EQ(counts[0], counts[2]);
        EXPECT_TRUE(session.run("BEGIN").ok());
        const auto sums = "SELECT sum(c_balance), count(*), max(c_id) FROM current_account";
        const auto first = row(sums);
        std::this_thread::yield();
        EXPECT_EQ(row(sums), first);
        EXPECT_TRUE(session.run("COMMIT").ok());
        EXPECT_EQ(session.run("DELETE FROM saving").sqlstate, sqlstate::kReadOnlyTransaction);
      }
    });
  }
  std::thread publisher([&] {
    for (const ReplicatedPiece& piece : pieces) {
      EXPECT_TRUE(log_.append(piece));
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  publisher.join();
  catch_up(*follower, Lsn{oracle.end().value * 2 / 3});
  is_done.store(true);
  for (std::thread& reader : readers) reader.join();
  must(follower->promote({}));
  EXPECT_EQ(digest_of(follower->standby().database()), oracle.digest(oracle.end()));
}

INSTANTIATE_TEST_SUITE_P(Records, FollowerStress,
                         testing::Values(RecordContent::kCommand, RecordContent::kLogical,
                                         RecordContent::kAll),
                         [](const auto& info) { return std::string(name_of(info.param)); });

INSTANTIATE_TEST_SUITE_P(Records, ReadStandbyStress,
                         testing::Values(RecordContent::kCommand, RecordContent::kLogical),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace mneme
