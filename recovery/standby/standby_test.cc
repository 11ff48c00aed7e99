// Goal: a standby's database is at any time what serial replay makes of the log so far; it goes on after any
// end of its own; promoted, it is the database, and no other engine's. Method: an engine runs random calls,
// ad-hoc transactions among them, and changes its schema, in several lives; its log, cut into random pieces
// between blocks, comes to a standby in random rounds. After each round the digest must be that of an oracle
// that replays the same records one after the other. Standbys are ended and opened again anywhere, with
// blocks lost as a machine's end loses them; logs are damaged, dropped and go on past torn ends; then
// promoted, worked on, and recovered. Pieces and manifests that are wrong behind right checksums are refused,
// each in its words.
#include "recovery/standby/standby.h"

#include <gmock/gmock.h>

#include "base/testing/test_refusal.h"
#include "logging/reading/log_truncation.h"
#include "logging/replicated/log_receiver.h"
#include "recovery/testing/standby_fixture.h"

namespace mneme {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using test::expect_refused;
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
    for (size_t n = 1 + random_() % 4; n > 0 && next < pieces.size(); --n)
      must(received->take(pieces[next++]));
    const ReceivedRecords records = must(received->take_records());
    const auto replayed = must(standby.advance(records.records, records.end));
    EXPECT_LE(replayed.transactions, records.records.size());
    ASSERT_EQ(digest_of(standby.database()), oracle.digest(standby.end()))
        << "at LSN " << standby.end().value;
    ++rounds;
    if (random_() % 8 == 0) {
      must(received->sync());
      const StandbyCheckpoint taken = must(standby.take_checkpoint(*manifest));
      EXPECT_EQ(taken.lsn.value, standby.end().value - 1) << "no record's place";
    }
  }
  EXPECT_EQ(standby.end(), oracle.end());
  EXPECT_GT(rounds, 10u);
  if (!standby.scheme().builds_indexes_last) {
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
      must(follower->run(
          [&] { return follower->lag().replayed > begin || std::chrono::steady_clock::now() > deadline; }));
      // Lost records may come again: an oracle cannot go back.
      Oracle so_far(primary_, GetParam());
      ASSERT_EQ(digest_of(follower->standby().database()), so_far.digest(follower->standby().end()));
      durable = follower->durable();
    }
    lost += lose_blocks(durable);
    // As it is it can be recovered, by a command that only looks.
    RecoverOptions look;
    look.scheme = &default_scheme(GetParam(), TupleImage::kFull);
    const RecoveredDatabase recovered = must(recover(directory_, look));
    Oracle fresh(primary_, GetParam());
    EXPECT_EQ(digest_of(*recovered.database), fresh.digest(recovered.report.log.end));
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
    const Promotion promotion = *must(follower->promote({}));
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
  // At the end of the first term: a flush's first block alone came through, and the next term did not take
  // its record. Where.
  static size_t tear(std::vector<ReplicatedPiece>& pieces) {
    const auto second =
        std::find_if(pieces.begin() + 1, pieces.end(), [](const auto& each) { return each.bytes.empty(); });
    EXPECT_NE(second, pieces.end());
    ReplicatedPiece torn = *std::prev(second);
    BlockHeader header = *BlockHeader::decode(std::span(torn.bytes).last(kBlockBytes));
    header.begin = header.end();
    ++header.index;
    header.used_bytes = kBlockPayloadBytes;
    torn.offset += torn.bytes.size();
    torn.bytes.assign(kBlockBytes, std::byte{0});
    RecordHeader{0, 8000, RecordKind::kCommand, one_stream_lsn(header.begin)}.encode(torn.bytes.data() +
                                                                                     kBlockHeaderBytes);
    header.encode(torn.bytes.data());
    return static_cast<size_t>(pieces.insert(second, torn) - pieces.begin());
  }

  // The first piece of a term, with its segment's header page.
  static size_t first_of(const std::vector<ReplicatedPiece>& pieces, uint64_t term) {
    const auto found = std::ranges::find_if(
        pieces, [&](const auto& each) { return each.term == term && !each.bytes.empty(); });
    EXPECT_NE(found, pieces.end());
    EXPECT_EQ(found->offset, 0u);
    return static_cast<size_t>(found - pieces.begin());
  }
  // With their checksums.
  template <typename Change>
  static void change_page(ReplicatedPiece& piece, const Change& change) {
    SegmentHeader header =
        must(SegmentHeader::decode(std::span(piece.bytes).first(kSegmentHeaderBytes), "the piece"));
    change(header);
    header.encode(piece.bytes.data());
  }
  template <typename Change>
  static void change_blocks(ReplicatedPiece& piece, const Change& change) {
    for (size_t at = piece.offset == 0 ? kSegmentHeaderBytes : 0; at < piece.bytes.size();
         at += kBlockBytes) {
      const std::span block = std::span(piece.bytes).subspan(at, kBlockBytes);
      BlockHeader header = *BlockHeader::decode(block);
      change(header, block);
      header.encode(block.data());
    }
  }
  Error error_of(const std::vector<ReplicatedPiece>& pieces) {
    auto manifest = must(ManifestFile::open(directory_));
    must(adopt_base(*manifest));
    const auto received =
        must(ReceivedLog::open(*manifest, must(read_log(directory_, manifest->current(), {}))));
    for (const ReplicatedPiece& each : pieces) {
      const Result<void> taken = received->take(each);
      if (!taken) return taken.error();
      const auto records = received->take_records();
      if (!records) return records.error();
    }
    return failed("all was taken");
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
  must(follower->promote({}));
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
  must(follower->promote({}));
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
    must(follower->run([&] {
      return follower->lag().unread == 0 && follower->lag().transactions == 0 &&
             follower->lag().log_end > kFirstLsn;
    }));
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

TEST_P(StandbyOfCalls, TellsPiecesThatAreWrongBehindRightChecksums) {
  make_primary(GetParam(), 50);
  copy_base_of(primary_);
  const std::vector<ReplicatedPiece> whole = test::pieces_of(primary_, random_, 2);
  const size_t first = first_of(whole, 1);
  auto pieces = whole;
  change_page(pieces[first], [](SegmentHeader& header) { ++header.database_id; });
  expect_error(error_of(pieces), ErrorKind::kDamaged, "the replicated log is another database's: its id is ");
  pieces = whole;
  change_page(pieces[first], [](SegmentHeader& header) { ++header.catalog_hash; });
  expect_error(error_of(pieces), ErrorKind::kDamaged,
               "the replicated log was written under another catalog: its hash is ");
  pieces = whole;
  change_blocks(pieces[first], [](BlockHeader&, std::span<std::byte> block) {
    block[kBlockHeaderBytes + kRecordHeaderBytes] ^= std::byte{1};
  });
  expect_error(error_of(pieces), ErrorKind::kDamaged, "is not what was written, though its block is");
  // The second term's first segment under the number of the first term's.
  pieces = whole;
  ReplicatedPiece& second = pieces[first_of(pieces, 2)];
  second.segment = whole[first].segment;
  change_page(second, [&](SegmentHeader& header) { header.number = second.segment; });
  change_blocks(second, [&](BlockHeader& header, std::span<std::byte>) { header.segment = second.segment; });
  expect_error(error_of(pieces), ErrorKind::kDamaged,
               fmt::format("the replicated log has two segments of number {}, and ", second.segment));
}

TEST_P(StandbyOfCalls, TellsWhereTheLogBeginsByNow) {
  make_primary(GetParam(), 50);
  copy_base_of(primary_);
  std::vector<ReplicatedPiece> pieces = test::pieces_of(primary_, random_, 2);
  size_t next = 0;
  publish(pieces, next, pieces.size() / 2);
  const auto follower = open();
  must(follower->run([&] { return follower->lag().seconds == 0 && follower->lag().log_end > kFirstLsn; }));
  log_.set_silent(true);
  must(follower->run([&] { return !follower->lag().trouble.empty(); }));
  const uint64_t position = log_.size() + 1;
  publish(pieces, next, pieces.size());
  log_.drop(log_.size());
  log_.set_silent(false);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  expect_refused(
      follower->run([&] { return std::chrono::steady_clock::now() > deadline; }), ErrorKind::kDamaged,
      fmt::format("the replicated log begins at position {} by now, and the standby has it up to {}: ",
                  log_.size() + 1, position));
  expect_refused(log_.reader()->read(position, std::chrono::milliseconds(0)), ErrorKind::kDamaged,
                 fmt::format("position {} was dropped", position));
}

TEST_P(StandbyOfCalls, GivesUpWhereNothingComes) {
  make_primary(GetParam(), 50);
  copy_base_of(primary_);
  std::vector<ReplicatedPiece> pieces = test::pieces_of(primary_, random_, 2);
  size_t next = 0;
  publish(pieces, next, pieces.size());
  const auto manifest = must(ManifestFile::open(directory_));
  must(adopt_base(*manifest));
  const auto received =
      must(ReceivedLog::open(*manifest, must(read_log(directory_, manifest->current(), {}))));
  const auto reader = log_.reader();
  LogReceiver receiver(*reader, *received, 1);
  receiver.stop();
  must(receiver.receive_through(log_.size(), std::chrono::seconds(20)));
  expect_refused(receiver.receive_through(log_.size() + 7, std::chrono::milliseconds(20)), ErrorKind::kFailed,
                 fmt::format("the replicated log goes up to position {}, and nothing comes from {} on",
                             log_.size() + 7, log_.size() + 1));
}

// The standby's own manifest is right by its checksum, and does not fit the log.
TEST_P(StandbyOfCalls, TellsPositionsThatAreNone) {
  make_primary(GetParam(), 50);
  copy_base_of(primary_);
  ASSERT_TRUE(log_.append(test::term_begin(1)));
  const auto refusal_at = [&](const std::string& position) {
    must(must(ManifestFile::open(directory_))->update([&](Manifest& manifest) {
      manifest.attributes[kStandbyAttribute] = "follows";
      manifest.attributes[kReceivedFromAttribute] = position;
    }));
    return Follower::open(directory_, log_.reader(), options());
  };
  for (const std::string position : {"", "soon", "7 or so"}) {
    expect_refused(refusal_at(position), ErrorKind::kDamaged,
                   fmt::format("the manifest's \"{}\" is no position: {}", kReceivedFromAttribute, position));
  }
  expect_refused(refusal_at("1000"), ErrorKind::kDamaged,
                 "the replicated log ends at position 2, before 1000, up to where the standby has it");
}

TEST_P(StandbyOfCalls, RefusesABaseThatItCannotFollow) {
  make_primary(GetParam(), 50);
  const auto change = [](const std::string& directory, const auto& changed) {
    must(must(ManifestFile::open(directory))->update(changed));
  };
  // Something else in a file's place.
  fs::create_directories(directory_ + "/" + kCatalogFile);
  expect_refused(copy_base(primary_, directory_), ErrorKind::kDamaged,
                 fmt::format("{}/{} is not a regular file", directory_, kCatalogFile));
  fs::remove_all(directory_);
  const std::string segment = must(read_manifest(primary_)).segments.front().file;
  const std::string outside = primary_ + "/" + segment;
  change(primary_, [&](Manifest& manifest) { manifest.segments.front().file = outside; });
  expect_refused(copy_base(primary_, directory_), ErrorKind::kInvalidArgument,
                 outside + " lies outside of " + primary_);
  fs::remove_all(directory_);
  change(primary_, [&](Manifest& manifest) { manifest.segments.front().file = segment; });

  must(copy_base(primary_, directory_));
  const auto manifest = must(ManifestFile::open(directory_));
  const Lsn end = must(read_log(directory_, manifest->current(), {})).end;
  expect_refused(become_database(*manifest, 1, end + 8, 1), ErrorKind::kDamaged,
                 fmt::format("{} holds the log up to LSN {}, and the standby has replayed it up to {}: ",
                             directory_, end.value, end.value + 8));
  for (const std::string& each : {primary_, directory_}) {
    change(each, [](Manifest& changed) { changed.layout = LogLayout::kEpoch; });
  }
  const std::string words =
      "has several streams (--log-buffer epoch), and a standby follows one of one stream";
  expect_refused(Follower::open(directory_, log_.reader(), options()), ErrorKind::kInvalidArgument, words);
  fs::remove_all(directory_);
  expect_refused(copy_base(primary_, directory_), ErrorKind::kInvalidArgument, words);
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
  must(follower->promote({}));
  EXPECT_EQ(digest_of(follower->standby().database()), digest);
  const Result<void> again = copy_base(primary_, directory_);
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.error().message, HasSubstr("--from"));
}

INSTANTIATE_TEST_SUITE_P(Records, StandbyOfCalls, testing::Values(RecordContent::kCommand),
                         [](const auto& info) { return std::string(name_of(info.param)); });

INSTANTIATE_TEST_SUITE_P(Records, StandbyTest,
                         testing::Values(RecordContent::kCommand, RecordContent::kLogical,
                                         RecordContent::kAll),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace mneme
