// Goal: a standby's database is at any time what serial replay makes of the log so far; it goes on after any end of its own;
// promoted, it is the database, and nobody else's.
// Method: an engine runs random calls, ad-hoc transactions among them, and changes its schema, in several lives;
// its log, cut into random pieces between blocks, comes to a standby in random rounds. After each round the digest
// must be that of an oracle that replays the same records one after the other. Standbys are ended and opened again
// anywhere, with blocks lost as a machine's end loses them; logs are damaged, dropped and go on past torn ends;
// then promoted, worked on, and recovered.
#include "recovery/standby.h"

#include <gmock/gmock.h>

#include "logging/log_truncation.h"
#include "recovery/standby_fixture.h"

namespace mneme {
namespace {

namespace fs = std::filesystem;
using test::kSmallCheckpoint;
using test::must;
using test::Oracle;
using testing::HasSubstr;

class StandbyTest : public test::StandbyFixture {};

// Without threads of its own: every prefix at which a piece may end.
TEST_P(StandbyTest, IsAfterEachRoundWhatSerialReplayMakes) {
  make_primary(GetParam());
  copy_base_of(primary_);
  Oracle oracle(primary_, GetParam());
  const std::vector<ReplicatedPiece> pieces = test::pieces_of(primary_, random_, 3);
  auto manifest = must(ManifestFile::open(directory_));
  must(adopt_base(*manifest));
  RecoverOptions recover;
  recover.indexes = false;
  auto recovered = must(recover_locked(directory_, recover, {}));
  auto received = must(ReceivedLog::open(*manifest, recovered.log));
  Standby standby(std::move(recovered), options().standby, {});
  uint32_t rounds = 0;
  for (size_t next = 0; next < pieces.size();) {
    for (size_t n = 1 + random_() % 4; n > 0 && next < pieces.size(); --n) must(received->take(pieces[next++]));
    const ReceivedRecords records = must(received->take_records());
    const auto replayed = must(standby.advance(records.records, records.end));
    EXPECT_LE(replayed.transactions, records.records.size());
    ASSERT_EQ(digest_of(standby.database()), oracle.digest(standby.end())) << "at LSN " << standby.end().value;
    ++rounds;
    if (random_() % 8 == 0) {
      must(received->sync());
      const StandbyCheckpoint taken = must(standby.take_checkpoint(*manifest));
      EXPECT_EQ(taken.lsn.value, standby.end().value - 1) << "no record's place";
    }
  }
  EXPECT_EQ(standby.end(), oracle.end());
  EXPECT_GT(rounds, 10u);
  if (!builds_indexes_last(standby.scheme())) {
    EXPECT_TRUE(verify_indexes(standby.database()).ok());
  }
}

// Ended anywhere, and by the machine's end: what was not durable may be lost, in any blocks.
TEST_P(StandbyTest, GoesOnAfterAnyEnd) {
  make_primary(GetParam());
  copy_base_of(primary_);
  Oracle oracle(primary_, GetParam());
  std::vector<ReplicatedPiece> pieces = test::pieces_of(primary_, random_, 5);
  uint32_t lost = 0;
  uint32_t round = 0;
  for (size_t next = 0; next < pieces.size();) {
    publish(pieces, next, 1 + random_() % (pieces.size() / 5));
    Lsn durable;
    {
      // A checkpoint makes all durable, and nothing can be lost: so not in every round.
      const auto follower = open(round++ % 2 == 0 ? 0 : kSmallCheckpoint);
      // Some way into what has been published, if there is more of it than the directory holds.
      const Lsn begin = follower->standby().end();
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
      must(follower->run([&] { return follower->lag().replayed > begin || std::chrono::steady_clock::now() > deadline; }));
      // What was lost may come anew: an oracle can't go back.
      Oracle so_far(primary_, GetParam());
      ASSERT_EQ(digest_of(follower->standby().database()), so_far.digest(follower->standby().end()));
      durable = follower->durable();
    }
    lost += lose_blocks(durable);
    // As it is it can be recovered, by whoever only looks.
    RecoverOptions look;
    look.scheme = default_scheme(GetParam(), TupleImage::kFull);
    const RecoveredDatabase recovered = must(recover(directory_, look));
    Oracle fresh(primary_, GetParam());
    EXPECT_EQ(digest_of(*recovered.database), fresh.digest(recovered.report.end));
  }
  const auto follower = open();
  catch_up(*follower, oracle.end());
  EXPECT_EQ(digest_of(follower->standby().database()), oracle.digest(oracle.end()));
  EXPECT_GT(lost, 0u) << "the test proves little";
}

TEST_P(StandbyTest, IsPromotedToADatabase) {
  make_primary(GetParam());
  copy_base_of(primary_);
  const std::string digest = Oracle(primary_, GetParam()).digest(Lsn{~uint64_t{0}});
  std::vector<ReplicatedPiece> pieces = test::pieces_of(primary_, random_, 5);
  size_t next = 0;
  publish(pieces, next, pieces.size());
  const uint64_t last_term = log_.term();
  {
    const auto follower = open(kSmallCheckpoint);
    must(follower->run([] { return true; }));  // it has all to do when it is promoted
    EXPECT_THAT(open_for_work(primary_, {}, small_log()).ok(), true);
    const Result<OpenedDatabase> refused = open_for_work(directory_, {}, small_log());
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().message, HasSubstr("promote"));
    const Promotion promotion = must(follower->promote());
    EXPECT_GT(promotion.term, last_term);
    EXPECT_EQ(digest_of(follower->standby().database()), digest);
  }
  EXPECT_FALSE(log_.append(test::term_begin(last_term))) << "the old engine still writes";
  EXPECT_FALSE(is_standby(must(read_manifest(directory_))));
  std::string worked;
  {
    OpenedDatabase opened = must(open_for_work(directory_, {}, small_log()));
    EXPECT_EQ(state_of(opened.working.database()).to_string(), digest);
    calls(opened.working, 100);
    worked = digest_of(opened.working.database());
  }
  EXPECT_EQ(state_of(*must(recover(directory_, {})).database).to_string(), worked);
  const auto leftovers = must(unlisted_files(directory_, must(read_manifest(directory_))));
  EXPECT_THAT(leftovers, testing::IsEmpty());
}

class StandbyOfCalls : public StandbyTest {
 protected:
  // At the end of the first term: a flush's first block alone came through, and the next term did not take its record. Where.
  static size_t tear(std::vector<ReplicatedPiece>& pieces) {
    const auto second = std::find_if(pieces.begin() + 1, pieces.end(), [](const auto& each) { return each.bytes.empty(); });
    EXPECT_NE(second, pieces.end());
    ReplicatedPiece torn = *std::prev(second);
    BlockHeader header = *BlockHeader::decode(std::span(torn.bytes).last(kBlockBytes));
    header.begin = header.end();
    ++header.index;
    header.used_bytes = kBlockPayloadBytes;
    torn.offset += torn.bytes.size();
    torn.bytes.assign(kBlockBytes, std::byte{0});
    RecordHeader{0, 8000, RecordKind::kCommand, header.begin}.encode(torn.bytes.data() + kBlockHeaderBytes);
    header.encode(torn.bytes.data());
    return static_cast<size_t>(pieces.insert(second, torn) - pieces.begin());
  }
};

TEST_P(StandbyOfCalls, PassesOverWhatANewTermLeftOut) {
  make_primary(GetParam());
  copy_base_of(primary_);
  Oracle oracle(primary_, GetParam());
  std::vector<ReplicatedPiece> pieces = test::pieces_of(primary_, random_, 1);
  tear(pieces);
  size_t next = 0;
  publish(pieces, next, pieces.size());
  const auto follower = open();
  must(follower->promote());
  EXPECT_EQ(digest_of(follower->standby().database()), oracle.digest(oracle.end()));
}

TEST_P(StandbyOfCalls, GoesOnBetweenATornEndAndTheNextTerm) {
  make_primary(GetParam());
  copy_base_of(primary_);
  Oracle oracle(primary_, GetParam());
  std::vector<ReplicatedPiece> pieces = test::pieces_of(primary_, random_, 1);
  const size_t torn = tear(pieces);
  size_t next = 0;
  publish(pieces, next, torn + 1);
  {
    const auto follower = open();
    must(follower->run([&] { return follower->lag().seconds == 0 && follower->lag().log_end > kFirstLsn; }));
  }
  publish(pieces, next, pieces.size());
  const auto follower = open();
  must(follower->promote());
  EXPECT_EQ(digest_of(follower->standby().database()), oracle.digest(oracle.end()));
}

TEST_P(StandbyOfCalls, TellsWhatItCannotFollow) {
  make_primary(GetParam());
  copy_base_of(primary_);
  std::vector<ReplicatedPiece> pieces = test::pieces_of(primary_, random_, 2);
  size_t next = 0;
  publish(pieces, next, pieces.size() / 2);
  // Spoiled on the way to the standby.
  const std::string backup = folder_ + "/backup";
  fs::copy(directory_, backup, fs::copy_options::recursive);
  const auto anew = [&] {
    fs::remove_all(directory_);
    fs::copy(backup, directory_, fs::copy_options::recursive);
  };
  log_.spoil(3, 5000 % pieces[3].bytes.size());
  EXPECT_THAT(error_of_following(), HasSubstr("doesn't match its checksum"));
  log_.spoil(3, 5000 % pieces[3].bytes.size());
  anew();
  // Its begin is gone, before the standby has begun, and after.
  {
    const auto follower = open();
    must(follower->run([&] { return follower->lag().unread == 0 && follower->lag().transactions == 0 &&
                                    follower->lag().log_end > kFirstLsn; }));
  }
  log_.drop(log_.size());
  for (size_t left_out = 0; left_out < 3; ++left_out) ++next;
  publish(pieces, next, 100);
  EXPECT_THAT(error_of_following(), HasSubstr("begin it anew"));
  anew();
  EXPECT_THAT(error_of_following(), HasSubstr("begin it anew"));
  // Another database's.
  must(must(ManifestFile::open(directory_))->update([](Manifest& manifest) { ++manifest.database_id; }));
  EXPECT_THAT(error_of_following(), HasSubstr("another database"));
}

TEST_P(StandbyOfCalls, WaitsForServersAndSaysSo) {
  make_primary(GetParam());
  copy_base_of(primary_);
  std::vector<ReplicatedPiece> pieces = test::pieces_of(primary_, random_, 2);
  size_t next = 0;
  publish(pieces, next, pieces.size() / 2);
  const auto follower = open();
  log_.set_silent(true);
  must(follower->run([&] { return !follower->lag().trouble.empty(); }));
  EXPECT_THAT(follower->lag().trouble, HasSubstr("answer"));
  publish(pieces, next, pieces.size());
  log_.set_silent(false);
  Oracle oracle(primary_, GetParam());
  catch_up(*follower, oracle.end());
  // The records are there a moment before the receiver says that all is well.
  must(follower->run([&] {
    const FollowLag lag = follower->lag();
    return lag.seconds == 0 && lag.trouble.empty();
  }));
  EXPECT_EQ(follower->lag().bytes, 0u);
  EXPECT_EQ(follower->lag().transactions, 0u);
  EXPECT_THAT(follower->lag().trouble, testing::IsEmpty());
}

TEST_P(StandbyOfCalls, CopiesABaseThatNamesNoLog) {
  make_primary(GetParam());
  must(copy_base(primary_, directory_));
  // Its files hold the log already: it has nothing to receive, and may be promoted.
  ASSERT_TRUE(log_.append(test::term_begin(3)));
  const std::string digest = Oracle(primary_, GetParam()).digest(Lsn{~uint64_t{0}});
  const auto follower = open();
  must(follower->promote());
  EXPECT_EQ(digest_of(follower->standby().database()), digest);
  const Result<void> again = copy_base(primary_, directory_);
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.error().message, HasSubstr("--from"));
}

INSTANTIATE_TEST_SUITE_P(Records, StandbyOfCalls, testing::Values(RecordContent::kCommand),
                         [](const auto& info) { return std::string(name_of(info.param)); });

INSTANTIATE_TEST_SUITE_P(Records, StandbyTest,
                         testing::Values(RecordContent::kCommand, RecordContent::kLogical, RecordContent::kAll),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace mneme
