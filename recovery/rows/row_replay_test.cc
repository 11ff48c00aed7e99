// Goal: replay of rows ends where the transactions ended, for any number of threads and size of batch.
// Method: random calls of small schemas run forward as transactions whose records hold calls and rows; from
// the same records the calls are replayed serially and the rows by LLR-P, LLR and PLR, and the digests are
// compared. Then records that do not fit the tables.
#include "base/testing/test_refusal.h"
#include "recovery/rows/shuffle_replayer.h"
#include "recovery/testing/replay_fixture.h"

namespace mneme {
namespace {

// Rows that hand a unique key on, and rows whose primary key changes.
constexpr std::string_view kSeatsSql = R"(
CREATE TABLE guest (g_id INT NOT NULL, g_seat INT NOT NULL, g_name VARCHAR(20), PRIMARY KEY (g_id), UNIQUE (g_seat));

CREATE PROCEDURE arrive(p_id INT, p_seat INT, p_name VARCHAR(20)) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO guest (g_id, g_seat, g_name) VALUES (p_id, p_seat, p_name);
END; $$;

CREATE PROCEDURE leave(p_id INT) LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM guest WHERE g_id = p_id;
END; $$;

CREATE PROCEDURE take_over(p_id INT, p_other INT) LANGUAGE plpgsql AS $$
DECLARE
    v_seat INT;
BEGIN
    SELECT g_seat INTO v_seat FROM guest WHERE g_id = p_other;
    IF FOUND THEN
        DELETE FROM guest WHERE g_id = p_other;
        UPDATE guest SET g_seat = v_seat WHERE g_id = p_id;
    END IF;
END; $$;

CREATE PROCEDURE rename(p_id INT, p_new INT) LANGUAGE plpgsql AS $$
BEGIN
    UPDATE guest SET g_id = p_new WHERE g_id = p_id;
END; $$;
)";

// Threads draw batches, and how many each has begun when it is asked varies: but never all, nor more than was
// allowed.
TEST(InterruptedRowReplay, EndsBeforeItsEnd) {
  ReplayFixture fixture(kSeatsSql);
  fixture.run_forward(1500, 3);
  ReplayOptions options;
  options.batch_transactions = 10;
  options.threads = 2;
  for (const auto replay : {replay_unordered, replay_shuffled}) {
    for (const uint64_t asks : {0, 1, 5}) {
      options.is_interrupted = interrupted_after(asks);
      const std::unique_ptr<Database> database = fixture.before();
      const auto statistics = replay(*database, fixture.records(), options);
      ASSERT_TRUE(statistics.ok());
      EXPECT_TRUE(statistics->is_partial);
      EXPECT_LT(statistics->transactions, fixture.records().size());
      if (asks == 0) {
        EXPECT_EQ(statistics->transactions, 0u);
      }
    }
    options.is_interrupted = interrupted_after(1'000'000);
    const std::unique_ptr<Database> database = fixture.before();
    const auto statistics = replay(*database, fixture.records(), options);
    ASSERT_TRUE(statistics.ok());
    EXPECT_FALSE(statistics->is_partial);
    EXPECT_EQ(statistics->transactions, fixture.records().size());
  }
}

class RowReplay : public testing::TestWithParam<NamedSql> {};

TEST_P(RowReplay, EndsWhereTheTransactionsEnded) {
  for (uint32_t seed = 0; seed < 2; ++seed) {
    ReplayFixture fixture(GetParam().sql);
    const Digest forward = fixture.run_forward(2500, seed);
    ASSERT_GT(fixture.records().size(), 300u);
    EXPECT_EQ(fixture.replay_serially(), forward);
    for (const uint32_t threads : {1, 2, 4, 8}) {
      // All threads meet after each batch: where processors are few, small ones are for few threads.
      for (const uint32_t batch : {threads == 2 ? 1u : 50u, 7 * threads, 1000u}) {
        for (const ReplayOrder order : {ReplayOrder::kForward, ReplayOrder::kReverse}) {
          ReplayOptions options;
          options.threads = threads;
          options.batch_transactions = batch;
          options.order = order;
          const std::string how = fmt::format("seed {}, {} threads, batches of {}, order {}", seed, threads,
                                              batch, static_cast<int>(order));
          EXPECT_EQ(fixture.replay_rows(replay_shuffled, options), forward) << how;
          EXPECT_EQ(fixture.replay_rows(replay_unordered, options), forward) << how;
          EXPECT_EQ(fixture.replay_rows(replay_located, options), forward) << how;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schemas, RowReplay,
                         testing::Values(NamedSql{"bank", kBankSql}, NamedSql{"orders", kOrdersSql},
                                         NamedSql{"seats", kSeatsSql}),
                         [](const auto& info) { return std::string(info.param.name); });

struct Way {
  ReplayFixture::RowReplay replay;
  ReplayOrder order;
};
// Those that see all changes of a row together.
const std::vector<Way> kRowByRow = {{replay_shuffled, ReplayOrder::kForward},
                                    {replay_shuffled, ReplayOrder::kReverse}};
const std::vector<Way> kEveryWay = {
    {replay_shuffled, ReplayOrder::kForward},  {replay_shuffled, ReplayOrder::kReverse},
    {replay_unordered, ReplayOrder::kForward}, {replay_unordered, ReplayOrder::kReverse},
    {replay_located, ReplayOrder::kForward},   {replay_located, ReplayOrder::kReverse}};

// Replays the records; the error must name this LSN.
void expect_refused(const ReplayFixture& fixture, std::span<const RecordView> records, Lsn lsn,
                    std::string_view text, const std::vector<Way>& ways) {
  for (const Way& way : ways) {
    for (const uint32_t threads : {1, 3}) {
      Database database(fixture.program().catalog, 1);
      ReplayOptions options;
      options.threads = threads;
      options.batch_transactions = 20;
      options.order = way.order;
      const auto replayed = way.replay(database, records, options);
      ASSERT_FALSE(replayed.ok());
      EXPECT_EQ(replayed.error().kind, ErrorKind::kDamaged);
      EXPECT_NE(replayed.error().message.find(fmt::format("LSN {}", lsn.value)), std::string::npos)
          << replayed.error().message;
      EXPECT_NE(replayed.error().message.find(text), std::string::npos) << replayed.error().message;
    }
  }
}

// The same, after `spoil` has had its way with one of them, whose LSN it must be.
template <typename Spoil>
void expect_refused_at(size_t at, std::string_view text, const std::vector<Way>& ways, Spoil&& spoil) {
  ReplayFixture fixture(kBankSql);
  fixture.run_forward(500, 1);
  std::vector<RecordView> records = fixture.records();
  std::vector<std::byte> payload(records[at].payload.begin(), records[at].payload.end());
  spoil(records[at], payload);
  records[at].payload = payload;
  expect_refused(fixture, records, records[at].lsn, text, ways);
}

TEST(RowReplayErrors, BytesThatHoldNoRowsAreRefused) {
  expect_refused_at(40, "holds no rows", kEveryWay,
                    [](RecordView&, std::vector<std::byte>& payload) { payload.pop_back(); });
  expect_refused_at(0, "holds no rows", kEveryWay, [](RecordView& record, std::vector<std::byte>& payload) {
    record.kind = RecordKind::kCommand;
    payload.resize(3);
  });
}

// Tells the record's first change as another kind of change of the same row.
void retell(const Catalog& catalog, ChangeAction to, RecordView& record, std::vector<std::byte>& payload) {
  const Schema schema(catalog);
  const ChangeCodec codec(schema);
  ChangeReader reader(codec, *changes_of(record.kind, payload));
  std::vector<RowChange> changes(1);
  while (reader.next(changes.back())) changes.push_back(changes.back());
  changes.pop_back();
  changes.front().action = to;
  ChangeRecord retold;
  retold.put_count(static_cast<uint32_t>(changes.size()));
  for (const RowChange& change : changes) {
    const bool is_first = &change == &changes.front();
    const ChangeAction was = !is_first                     ? change.action
                             : to == ChangeAction::kInsert ? ChangeAction::kUpdate
                                                           : ChangeAction::kInsert;
    std::vector<std::byte> image(schema.layout(change.table).image_bytes());
    ASSERT_TRUE(codec.decode_row(change.table, was, change.columns, image.data()));
    const std::vector<std::byte> bits(ColumnBits::bytes_for(codec.rest(change.table).column_count()),
                                      std::byte{255});
    const ColumnBits all(bits);
    retold.put(codec, change.table, change.action, nullptr, image.data(),
               change.action == ChangeAction::kUpdate ? &all : nullptr);
  }
  payload.assign(retold.payload().begin(), retold.payload().end());
  record.kind = RecordKind::kLogical;
}

// Which of the records have this action first.
std::vector<size_t> records_with(const Catalog& catalog, std::span<const RecordView> records,
                                 ChangeAction action) {
  const Schema schema(catalog);
  const ChangeCodec codec(schema);
  std::vector<size_t> found;
  for (size_t i = 0; i < records.size(); ++i) {
    ChangeReader reader(codec, *changes_of(records[i].kind, records[i].payload));
    RowChange change;
    if (reader.next(change) && change.action == action) found.push_back(i);
  }
  return found;
}

// A record whose first change is an insert, told as an update, and one the other way round. A replayer that
// takes images in any order cannot tell.
TEST(RowReplayErrors, ARowThatIsNotThereOrIsThereAlreadyStopsReplay) {
  ReplayFixture fixture(kBankSql);
  fixture.run_forward(500, 1);
  const Catalog& catalog = fixture.program().catalog;
  const auto retold_as = [&](ChangeAction to) {
    return [&, to](RecordView& record, std::vector<std::byte>& payload) {
      retell(catalog, to, record, payload);
    };
  };
  expect_refused_at(records_with(catalog, fixture.records(), ChangeAction::kInsert).front(), "is not there",
                    kRowByRow, retold_as(ChangeAction::kUpdate));
  expect_refused_at(records_with(catalog, fixture.records(), ChangeAction::kUpdate).front(),
                    "is already there", kRowByRow, retold_as(ChangeAction::kInsert));
}

// One whose version has another LSN than the record behind it says: a replayer that goes by locations is told
// which one it follows.
TEST(RowReplayErrors, ARowOfAnotherVersionStopsReplay) {
  ReplayFixture fixture(kBankSql);
  fixture.run_forward(500, 1);
  std::vector<RecordView> records = fixture.records();
  RecordView& update =
      records[records_with(fixture.program().catalog, records, ChangeAction::kUpdate).front()];
  update.lsn = update.lsn + 1;
  // In reverse order the newest version comes first, and those before it are passed over.
  ReplayOptions options;
  options.order = ReplayOrder::kForward;
  Database database(fixture.program().catalog, 1);
  test::expect_refused(
      replay_located(database, records, options), ErrorKind::kDamaged,
      "is not the version there that the record follows; the log does not fit the checkpoint");
}

// Whichever of them the threads come to first: inserts told as updates, all over the log, and from somewhere
// on no record that holds rows.
TEST(RowReplayErrors, OfSeveralTheFirstInTheLogIsNamed) {
  ReplayFixture fixture(kBankSql);
  fixture.run_forward(2000, 3);
  const std::vector<size_t> inserts =
      records_with(fixture.program().catalog, fixture.records(), ChangeAction::kInsert);
  ASSERT_GT(inserts.size(), 20u);
  for (const size_t first : {size_t{0}, inserts.size() / 2, inserts.size() - 1}) {
    std::vector<RecordView> records = fixture.records();
    std::vector<std::vector<std::byte>> payloads(records.size());
    for (size_t i = first; i < inserts.size(); ++i) {
      RecordView& record = records[inserts[i]];
      payloads[inserts[i]].assign(record.payload.begin(), record.payload.end());
      retell(fixture.program().catalog, ChangeAction::kUpdate, record, payloads[inserts[i]]);
      record.payload = payloads[inserts[i]];
    }
    for (size_t r = inserts[first] + 1; r < records.size(); r += 50) records[r].kind = RecordKind::kCommand;
    expect_refused(fixture, records, records[inserts[first]].lsn, "is not there", kRowByRow);
  }
}

// The row that the log inserts first is there from the start.
TEST(RowReplayErrors, OfRowsThatWereThereTheFirstInsertIsNamed) {
  ReplayFixture fixture(kBankSql);
  fixture.run_forward(2000, 3);
  const std::vector<RecordView> records = fixture.records();
  const size_t first = records_with(fixture.program().catalog, records, ChangeAction::kInsert).front();
  for (const uint32_t threads : {1, 3}) {
    Database database(fixture.program().catalog, 1);
    {
      UnloggedWriter writer(database);
      ChangeReader reader(database.change_codec(), *changes_of(records[first].kind, records[first].payload));
      RowChange change;
      while (reader.next(change)) {
        ASSERT_EQ(change.action, ChangeAction::kInsert);
        std::byte* image = writer.new_image(change.table);
        ASSERT_TRUE(database.change_codec().decode_row(change.table, change.action, change.columns, image));
        ASSERT_EQ(writer.insert_image(change.table, image), AccessStatus::kOk);
      }
    }
    ReplayOptions options;
    options.threads = threads;
    options.batch_transactions = 20;
    const auto replayed = replay_shuffled(database, records, options);
    ASSERT_FALSE(replayed.ok());
    EXPECT_NE(replayed.error().message.find(fmt::format("LSN {}", records[first].lsn.value)),
              std::string::npos)
        << replayed.error().message;
    EXPECT_NE(replayed.error().message.find("is already there"), std::string::npos)
        << replayed.error().message;
  }
}

}  // namespace
}  // namespace mneme
