// Goal: of a checkpoint that is loaded on demand, the chunks that may have a wanted key are loaded, and no
// others; rows that come meanwhile get slots of their own, and no key that an unloaded row has; and a file
// that is not what was written is refused, or ends the recovery, before anything is read that depends on it.
// Method: checkpoints with a few rows a chunk; their files, changed, with right checksums where these would
// tell.
#include "recovery/database/unloaded_checkpoint.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "base/crc32c.h"
#include "base/file/file.h"
#include "base/testing/test_directory.h"
#include "base/testing/test_refusal.h"
#include "engine/checkpoint/checkpoint_writer.h"
#include "engine/transaction/digest.h"
#include "engine/transaction/unlogged_writer.h"
#include "procedures/binder/program.h"
#include "recovery/database/data_directory.h"
#include "recovery/demand/demand_recovery.h"
#include "recovery/testing/replay_fixture.h"

namespace mneme {
namespace {

constexpr int64_t kRowsBefore = 100;
constexpr size_t kBytesOfFewRows = 20;  // bytes of a chunk

constexpr TableId kUnloadedTable{0};
constexpr IndexId kByFirst{0};
constexpr IndexId kByOther{1};

// Row i has i in one column, and in the other what falls as i rises.
constexpr int64_t falling_of(int64_t i) {
  return 1000 - i;
}

class UnloadedRowsTest : public testing::Test {
 protected:
  UnloadedRowsTest()
      : program_(std::move(*compile(R"(
      CREATE TABLE t (a int PRIMARY KEY, b int NOT NULL UNIQUE, c int NOT NULL);
      CREATE TABLE empty (a int PRIMARY KEY);
      CREATE PROCEDURE add(x int) LANGUAGE plpgsql AS $$ BEGIN UPDATE t SET c = c + 1 WHERE a = x; END; $$;)",
                                    "t.sql"))) {
    Database database(program_->catalog, 1, PageSize::kSmall);
    UnloggedWriter rows(database);
    for (int64_t i = 0; i < kRowsBefore; ++i) insert(rows, i, falling_of(i));
    // The slots of these are free.
    for (int64_t i = 0; i < kRowsBefore; i += 10) rows.erase(kUnloadedTable, find(rows, kByFirst, i));
    const Result<WrittenCheckpoint> written =
        write_checkpoint(database, directory_.path(), CheckpointIdentity{}, 1, kBytesOfFewRows);
    EXPECT_TRUE(written.ok());
    path_ = path_in(directory_.path(), written->file);
    manifest_.checkpoint_file = written->file;
    manifest_.checkpoint_lsn = kCheckpointLsn;
  }

  static AccessStatus insert(UnloggedWriter& rows, int64_t a, int64_t b) {
    const std::array values = {Value::of_int(a), Value::of_int(b), Value::of_int(0)};
    return rows.insert(kUnloadedTable, values);
  }
  IndexKey key(IndexId index, int64_t value) const {
    const Value values[] = {Value::of_int(value)};
    return *schema().codec(index).of_whole(values);
  }
  Row* find(UnloggedWriter& rows, IndexId index, int64_t value) const {
    return rows.find(index, key(index, value));
  }
  const Schema& schema() const {
    static const Schema schema(program_->catalog);
    return schema;
  }
  std::unique_ptr<Database> empty_database() const {
    return std::make_unique<Database>(program_->catalog, 1, PageSize::kSmall);
  }
  std::unique_ptr<UnloadedCheckpoint> open(Database& database) const {
    Result<std::unique_ptr<UnloadedCheckpoint>> opened =
        UnloadedCheckpoint::open(database, directory_.path(), manifest_);
    EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().message);
    database.set_unloaded(opened->get());
    return *std::move(opened);
  }
  static void load_all(UnloadedCheckpoint& checkpoint) {
    while (checkpoint.load_next()) {
    }
    EXPECT_TRUE(checkpoint.finish());
    EXPECT_EQ(checkpoint.loaded_count(), checkpoint.chunk_count());
  }

  // With right checksums of the header page and of the bounds.
  void change_file(const std::function<void(CheckpointHeader&, std::vector<std::byte>& bytes)>& change) {
    const std::string text = *read_text_file(path_);
    std::vector<std::byte> bytes(as_bytes(text).begin(), as_bytes(text).end());
    CheckpointHeader header = *CheckpointHeader::decode(bytes, path_);
    change(header, bytes);
    header.file_bytes = bytes.size();
    if (header.bounds_offset < bytes.size())
      header.bounds_checksum = crc32c(ByteSpan(bytes).subspan(header.bounds_offset));
    header.encode(bytes.data());
    ASSERT_TRUE(replace_text_file(path_, as_text(bytes)).ok());
  }
  void expect_refused(const std::string& words) const {
    const std::unique_ptr<Database> database = empty_database();
    test::expect_refused(UnloadedCheckpoint::open(*database, directory_.path(), manifest_),
                         ErrorKind::kDamaged, words);
  }
  void expect_fails_later(const std::string& words) const {
    const std::unique_ptr<Database> database = empty_database();
    const std::unique_ptr<UnloadedCheckpoint> checkpoint = open(*database);
    EXPECT_TRUE(checkpoint->load_all(TableId{1}));
    EXPECT_FALSE(checkpoint->load_all(kUnloadedTable));
    ASSERT_TRUE(checkpoint->has_failed());
    EXPECT_NE(checkpoint->error().message.find(words), std::string::npos) << checkpoint->error().message;
    // Whatever is wanted from then on.
    EXPECT_FALSE(checkpoint->load_all(TableId{1}));
    EXPECT_FALSE(checkpoint->load_next());
    EXPECT_FALSE(checkpoint->finish());
  }
  // add(1)
  void log_call(KeptLog& log) const {
    Call call;
    call.procedure = ProcedureId{0};
    call.arguments.assign(1, Argument::of(Value::of_int(1)));
    ByteBuffer payload;
    encode_call(*program_, call, payload);
    const auto bytes = static_cast<uint32_t>(payload.size());
    log.fill(WorkerId{0}, log.reserve(WorkerId{0}, bytes), RecordKind::kCommand, payload.span());
  }
  std::unique_ptr<DemandRecovery> recovery_of_log(Database& database, std::span<const RecordView> records,
                                                  std::unique_ptr<UnloadedBase> base) const {
    AnalysisOptions analysis;
    analysis.lanes_from_arguments = true;
    ReplayOptions options;
    options.threads = 2;
    options.lanes_per_block = 64;
    auto opener = std::make_unique<DemandOpener>(
        DemandOpener::Setting{
            .database = database, .program = *program_, .analysis = analysis, .options = options},
        records);
    const DemandRecovery::Setting setting{.workers = 1, .threads = 1};
    return std::make_unique<DemandRecovery>(database, nullptr, std::move(opener), setting, std::move(base));
  }

  uint64_t first_chunk_payload() const { return kCheckpointHeaderBytes + kCheckpointChunkHeaderBytes; }

  const test::TemporaryDirectory directory_;
  const std::unique_ptr<Program> program_;
  Manifest manifest_;
  std::string path_;
};

TEST_F(UnloadedRowsTest, AKeyLoadsTheChunkThatMayHaveItByAnyIndex) {
  for (const IndexId index : {kByFirst, kByOther}) {
    const std::unique_ptr<Database> database = empty_database();
    const std::unique_ptr<UnloadedCheckpoint> checkpoint = open(*database);
    ASSERT_GT(checkpoint->chunk_count(), 10u);
    UnloggedWriter rows(*database);
    EXPECT_NE(find(rows, index, index == kByFirst ? 57 : falling_of(57)), nullptr);
    EXPECT_EQ(checkpoint->wanted_count(), 1u);
    EXPECT_EQ(checkpoint->loaded_count(), 1u);
    // The row is in the other index, too.
    EXPECT_NE(find(rows, kByFirst, 57), nullptr);
    EXPECT_NE(find(rows, kByOther, falling_of(57)), nullptr);
    EXPECT_EQ(checkpoint->loaded_count(), 1u);
    // Beyond all of them, on either side.
    EXPECT_EQ(find(rows, index, -5), nullptr);
    EXPECT_EQ(find(rows, index, 5000), nullptr);
    EXPECT_EQ(checkpoint->loaded_count(), 1u);
    load_all(*checkpoint);
    EXPECT_EQ(checkpoint->wanted_count(), 1u);
  }
}

TEST_F(UnloadedRowsTest, ARangeLoadsAllChunksThatItMeets) {
  const std::unique_ptr<Database> database = empty_database();
  const std::unique_ptr<UnloadedCheckpoint> checkpoint = open(*database);
  UnloggedWriter rows(*database);
  std::vector<int64_t> seen;
  rows.scan(kByFirst, {key(kByFirst, 33), key(kByFirst, 61)}, RowAccess::Direction::kForward, [&](Row* row) {
    seen.push_back(database->table(kUnloadedTable).layout().get(row->image(), ColumnId{0}).as_int());
    return true;
  });
  std::vector<int64_t> expected;
  for (int64_t i = 33; i <= 61; ++i) {
    if (i % 10 != 0) expected.push_back(i);
  }
  std::ranges::sort(seen);  // the index is a hash table
  EXPECT_EQ(seen, expected);
  EXPECT_LT(checkpoint->loaded_count(), checkpoint->chunk_count());
}

// As a checkpoint has them that was taken beside transactions: the ranges of later chunks reach over others.
TEST_F(UnloadedRowsTest, ChunksWhoseRangesOverlapAreAllFound) {
  Database before(program_->catalog, 1, PageSize::kSmall);
  {
    UnloggedWriter rows(before);
    for (int64_t i = 0; i < kRowsBefore; ++i) insert(rows, i * 37 % kRowsBefore, i * 53 % kRowsBefore);
  }
  manifest_.checkpoint_file =
      write_checkpoint(before, directory_.path(), {0, 0, Lsn{77}}, 1, kBytesOfFewRows)->file;
  manifest_.checkpoint_lsn = Lsn{77};
  for (int64_t i = 0; i < kRowsBefore; ++i) {
    const std::unique_ptr<Database> database = empty_database();
    const std::unique_ptr<UnloadedCheckpoint> checkpoint = open(*database);
    UnloggedWriter rows(*database);
    EXPECT_NE(find(rows, i % 2 == 0 ? kByFirst : kByOther, i), nullptr) << i;
  }
}

TEST_F(UnloadedRowsTest, RowsThatComeMeanwhileGetSlotsAndKeysThatNoUnloadedRowHas) {
  const std::unique_ptr<Database> database = empty_database();
  const std::unique_ptr<UnloadedCheckpoint> checkpoint = open(*database);
  {
    UnloggedWriter rows(*database);
    EXPECT_EQ(insert(rows, 57, 5000), AccessStatus::kDuplicateKey);
    EXPECT_EQ(insert(rows, 5000, falling_of(33)), AccessStatus::kDuplicateKey);
    for (int64_t i = 0; i < kRowsBefore; ++i)
      EXPECT_EQ(insert(rows, kRowsBefore + i, 2000 + i), AccessStatus::kOk);
    // 33's key in the other index is taken, and it has not been loaded.
    const ColumnValue taken{ColumnId{1}, Value::of_int(falling_of(71))};
    Row* const row = find(rows, kByFirst, 133);
    EXPECT_EQ(rows.update(kUnloadedTable, row, {&taken, 1}), AccessStatus::kDuplicateKey);
  }
  EXPECT_LT(checkpoint->loaded_count(), checkpoint->chunk_count());
  load_all(*checkpoint);
  database->set_unloaded(nullptr);

  const std::unique_ptr<Database> expected = empty_database();
  UnloggedWriter expected_rows(*expected);
  for (int64_t i = 0; i < kRowsBefore; ++i) {
    if (i % 10 != 0) insert(expected_rows, i, falling_of(i));
    insert(expected_rows, kRowsBefore + i, 2000 + i);
  }
  EXPECT_EQ(state_of(*database), state_of(*expected));
  // What was free in the checkpoint is free again.
  const uint64_t end = database->table(kUnloadedTable).rows().slot_end();
  UnloggedWriter rows(*database);
  for (int64_t i = 0; i < kRowsBefore / 10; ++i)
    EXPECT_EQ(insert(rows, 9000 + i, 9000 + i), AccessStatus::kOk);
  EXPECT_EQ(database->table(kUnloadedTable).rows().slot_end(), end);
  database->table(kUnloadedTable).primary()->index->verify();
}

TEST_F(UnloadedRowsTest, AFormerEnginesFileIsLoadedWhole) {
  change_file([](CheckpointHeader& header, std::vector<std::byte>& bytes) {
    bytes.resize(header.bounds_offset);
    header.bounds_offset = 0;
  });
  const std::unique_ptr<Database> database = empty_database();
  const auto opened = UnloadedCheckpoint::open(*database, directory_.path(), manifest_);
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(*opened, nullptr);
}

TEST_F(UnloadedRowsTest, BoundsThatAreNotThoseOfTheChunksAreRefused) {
  const std::string whole = *read_text_file(path_);
  std::string changed = whole;
  changed.back() ^= 1;
  ASSERT_TRUE(replace_text_file(path_, changed).ok());
  expect_refused("the chunks' bounds at offset");
  ASSERT_TRUE(replace_text_file(path_, whole).ok());
  change_file([](CheckpointHeader&, std::vector<std::byte>& bytes) { bytes.resize(bytes.size() - 8); });
  expect_refused("do not have bounds of");
  ASSERT_TRUE(replace_text_file(path_, whole).ok());
  change_file([](CheckpointHeader& header, std::vector<std::byte>& bytes) {
    header.bounds_offset = bytes.size() + 1;
  });
  expect_refused("puts the chunks' bounds behind the file's end");
}

TEST_F(UnloadedRowsTest, DamageThatALaterLoadFindsEndsAll) {
  const std::string whole = *read_text_file(path_);
  std::string changed = whole;
  changed[first_chunk_payload() + 2] ^= 1;
  ASSERT_TRUE(replace_text_file(path_, changed).ok());
  expect_fails_later("fail their checksum; no transaction is answered any more");
  // The first chunk's rows lie beyond what its bounds say: it would not be loaded for them.
  for (const size_t word : {1, 2}) {
    ASSERT_TRUE(replace_text_file(path_, whole).ok());
    change_file([word](CheckpointHeader& header, std::vector<std::byte>& bytes) {
      std::byte* const at = bytes.data() + header.bounds_offset + 8 * word;
      store(at, load<uint64_t>(at) + (word == 1 ? uint64_t{1} << 32 : -(uint64_t{1} << 32)));
    });
    expect_fails_later("has a key beyond the chunk's bounds");
  }
  // Nor may a row lie in a slot that others may get.
  ASSERT_TRUE(replace_text_file(path_, whole).ok());
  change_file([](CheckpointHeader& header, std::vector<std::byte>& bytes) {
    store(bytes.data() + header.bounds_offset, uint64_t{1});
  });
  expect_fails_later("is no row of table t");
  // The second chunk has a row with the first one's key in an index.
  ASSERT_TRUE(replace_text_file(path_, whole).ok());
  change_file([this](CheckpointHeader& header, std::vector<std::byte>& bytes) {
    const auto chunk = *CheckpointChunkHeader::decode(ByteSpan(bytes).subspan(kCheckpointHeaderBytes));
    const uint64_t second = first_chunk_payload() + chunk.payload_bytes;
    CheckpointChunkHeader other = *CheckpointChunkHeader::decode(ByteSpan(bytes).subspan(second));
    ASSERT_EQ(other.payload_bytes, chunk.payload_bytes);
    // The same rows, in slots behind all others.
    std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(first_chunk_payload()), chunk.payload_bytes,
                bytes.begin() + static_cast<ptrdiff_t>(second + kCheckpointChunkHeaderBytes));
    bytes[second + kCheckpointChunkHeaderBytes] = std::byte{100};
    other.rows = chunk.rows;
    other.payload_checksum =
        crc32c(ByteSpan(bytes).subspan(second + kCheckpointChunkHeaderBytes, other.payload_bytes));
    other.encode(bytes.data() + second);
    const size_t of_chunk = CheckpointChunkBounds::encoded_bytes(4);
    std::byte* const bounds = bytes.data() + header.bounds_offset;
    std::copy_n(bounds, of_chunk, bounds + of_chunk);
    store(bounds + of_chunk, uint64_t{60});
  });
  expect_fails_later(" that another row has");
}

// The lane of the damaged chunk's row is settled without it: nobody may be told what came of that.
TEST_F(UnloadedRowsTest, NobodyIsAnsweredOnceDamageIsFound) {
  std::string changed = *read_text_file(path_);
  changed[first_chunk_payload() + 2] ^= 1;
  ASSERT_TRUE(replace_text_file(path_, changed).ok());
  const std::unique_ptr<Database> database = empty_database();
  KeptLog log;
  database->attach_log(log, RecordContent::kCommand);
  KeptLog logged;
  log_call(logged);
  const std::vector<RecordView> records = logged.records();
  auto opened = UnloadedCheckpoint::open(*database, directory_.path(), manifest_);
  ASSERT_TRUE(opened.ok());
  UnloadedCheckpoint& checkpoint = **opened;
  const std::unique_ptr<DemandRecovery> made = recovery_of_log(*database, records, *std::move(opened));
  DemandRecovery& recovery = *made;
  // No other thread replays: the worker does.
  ASSERT_TRUE(recovery.open(0).ok());
  EXPECT_TRUE(recovery.before_read(WorkerId{0}, kByFirst, {key(kByFirst, 77), key(kByFirst, 77)}));
  EXPECT_FALSE(recovery.before_read(WorkerId{0}, kByFirst, {key(kByFirst, 1), key(kByFirst, 1)}));
  EXPECT_TRUE(checkpoint.has_failed());
  EXPECT_FALSE(recovery.before_read(WorkerId{0}, kByFirst, {key(kByFirst, 77), key(kByFirst, 77)}));
  const std::vector<std::byte> image(database->table(TableId{1}).layout().image_bytes());
  EXPECT_FALSE(recovery.before_insert(WorkerId{0}, TableId{1}, image.data()));
  EXPECT_FALSE(recovery.before_move(WorkerId{0}, TableId{1}));
  recovery.start();
  const Result<void> finished = recovery.finish();
  ASSERT_FALSE(finished.ok());
  EXPECT_NE(finished.error().message.find("fail their checksum"), std::string::npos);
  EXPECT_TRUE(recovery.has_failed());
}

TEST_F(UnloadedRowsTest, ATransactionFindsItsUniqueKeysTakenByUnloadedRows) {
  const std::unique_ptr<Database> database = empty_database();
  KeptLog log;
  database->attach_log(log, RecordContent::kCommand);
  KeptLog logged;
  log_call(logged);
  const std::vector<RecordView> records = logged.records();
  auto opened = UnloadedCheckpoint::open(*database, directory_.path(), manifest_);
  ASSERT_TRUE(opened.ok());
  UnloadedCheckpoint& checkpoint = **opened;
  const std::unique_ptr<DemandRecovery> recovery = recovery_of_log(*database, records, *std::move(opened));
  ASSERT_TRUE(recovery->open(0).ok());
  // start() would let threads load what nobody wants.
  database->set_gate(recovery.get());
  Transaction transaction(*database, database->worker(WorkerId{0}));
  for (const auto& [a, b] : {std::pair<int64_t, int64_t>(57, 5000), {5000, falling_of(33)}}) {
    transaction.begin();
    const std::array values = {Value::of_int(a), Value::of_int(b), Value::of_int(0)};
    EXPECT_EQ(transaction.insert(kUnloadedTable, values), AccessStatus::kDuplicateKey);
    transaction.abort();
  }
  EXPECT_LT(checkpoint.loaded_count(), checkpoint.chunk_count());
  // A row that moves may get any key.
  EXPECT_TRUE(recovery->before_move(WorkerId{0}, kUnloadedTable));
  EXPECT_EQ(checkpoint.loaded_count(), checkpoint.chunk_count());
  recovery->start();
  EXPECT_TRUE(recovery->finish().ok());
}

}  // namespace
}  // namespace mneme
