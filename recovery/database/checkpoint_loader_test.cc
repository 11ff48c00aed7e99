// Goal: a checkpoint whose checksums are all right, and which is not what its header, its chunks or the
// manifest say, is refused as damage. Method: a database's checkpoint file, taken to pieces, changed, and put
// together again with right checksums.
#include "recovery/database/checkpoint_loader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/crc32c.h"
#include "base/file/file.h"
#include "base/testing/test_refusal.h"
#include "engine/checkpoint/checkpoint_format.h"
#include "recovery/database/data_directory.h"
#include "recovery/testing/replay_fixture.h"

namespace mneme {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kRows = 50;  // of each table

struct Chunk {
  CheckpointChunkHeader header;
  std::vector<std::byte> payload;
};

struct Checkpoint {
  CheckpointHeader header;
  std::vector<Chunk> chunks;
};

class WrongCheckpoint : public testing::Test {
 protected:
  WrongCheckpoint() : directory_(testing::TempDir() + "wrong_checkpoint_" + std::to_string(::getpid())) {
    fs::remove_all(directory_);
    auto load = [](Database& database) -> Result<void> {
      UnloggedWriter rows(database);
      for (int64_t i = 0; i < kRows; ++i) {
        const std::array pair = {Value::of_int(i), Value::of_int(i / 2)};
        for (uint32_t t = 0; t < 3; ++t) EXPECT_EQ(rows.insert(TableId{t}, pair), AccessStatus::kOk);
      }
      return {};
    };
    EXPECT_TRUE(create_database(directory_, std::move(*compile(kBankSql, "bank.sql")), load, {}).ok());
    path_ = path_in(directory_, read_manifest(directory_)->checkpoint_file);
    whole_ = taken_apart();
  }
  ~WrongCheckpoint() override { fs::remove_all(directory_); }

  Checkpoint taken_apart() const {
    const std::string text = *read_text_file(path_);
    ByteSpan rest = as_bytes(text);
    Checkpoint checkpoint{*CheckpointHeader::decode(rest.first(kCheckpointHeaderBytes), path_), {}};
    for (rest = rest.first(checkpoint.header.chunks_end()).subspan(kCheckpointHeaderBytes); !rest.empty();) {
      Chunk& chunk = checkpoint.chunks.emplace_back();
      chunk.header = *CheckpointChunkHeader::decode(rest.first(kCheckpointChunkHeaderBytes));
      rest = rest.subspan(kCheckpointChunkHeaderBytes);
      chunk.payload.assign(rest.begin(), rest.begin() + chunk.header.payload_bytes);
      rest = rest.subspan(chunk.header.payload_bytes);
    }
    return checkpoint;
  }
  // With lengths and checksums of what is there, as a former engine would have written it: without bounds.
  void put(Checkpoint checkpoint) const {
    std::vector<std::byte> file(kCheckpointHeaderBytes);
    for (Chunk& chunk : checkpoint.chunks) {
      chunk.header.payload_bytes = static_cast<uint32_t>(chunk.payload.size());
      chunk.header.payload_checksum = crc32c(chunk.payload);
      file.resize(file.size() + kCheckpointChunkHeaderBytes);
      chunk.header.encode(file.data() + file.size() - kCheckpointChunkHeaderBytes);
      file.insert(file.end(), chunk.payload.begin(), chunk.payload.end());
    }
    checkpoint.header.file_bytes = file.size();
    checkpoint.header.bounds_offset = 0;
    checkpoint.header.encode(file.data());
    ASSERT_TRUE(replace_text_file(path_, as_text(file)).ok());
  }
  void expect_refused(const Checkpoint& checkpoint, const std::string& words) const {
    put(checkpoint);
    test::expect_refused(recover(directory_, {}), ErrorKind::kDamaged, words);
  }

  const std::string directory_;
  std::string path_;
  Checkpoint whole_;
};

TEST_F(WrongCheckpoint, PutTogetherAsItWasIsRight) {
  put(whole_);
  EXPECT_TRUE(recover(directory_, {}).ok());
}

TEST_F(WrongCheckpoint, OfAnotherLsn) {
  Checkpoint changed = whole_;
  changed.header.lsn = changed.header.lsn + 5;
  expect_refused(changed, fmt::format("is the checkpoint at LSN {}, and the manifest names the one at LSN {}",
                                      changed.header.lsn.value, whole_.header.lsn.value));
}

TEST_F(WrongCheckpoint, WithAChunkThatBelongsElsewhere) {
  const std::string words =
      fmt::format("the chunk header at offset {} does not belong there", kCheckpointHeaderBytes);
  Checkpoint changed = whole_;
  ++changed.chunks[0].header.offset;
  expect_refused(changed, words);
  changed = whole_;
  changed.chunks[0].header.table = 99;
  expect_refused(changed, words);
}

TEST_F(WrongCheckpoint, WithMoreOrFewerChunksAndRows) {
  for (const int64_t more : {1, -1}) {
    Checkpoint changed = whole_;
    changed.header.rows += static_cast<uint64_t>(more);
    expect_refused(changed, fmt::format("chunks with {} rows are there, and 3 with {} were written",
                                        3 * kRows, 3 * kRows + more));
    changed = whole_;
    changed.header.chunks += static_cast<uint64_t>(more);
    expect_refused(changed, fmt::format("3 chunks with {0} rows are there, and {1} with {0} were written",
                                        3 * kRows, 3 + more));
  }
}

TEST_F(WrongCheckpoint, WithAChunkThatEndsInTheMiddleOfARow) {
  Checkpoint changed = whole_;
  ASSERT_EQ(changed.chunks[0].header.rows, kRows);
  changed.chunks[0].payload.pop_back();
  // Where the chunks after it begin.
  for (size_t i = 1; i < changed.chunks.size(); ++i) --changed.chunks[i].header.offset;
  expect_refused(changed, fmt::format("row {} of the chunk at offset {} is no row of table ", kRows - 1,
                                      kCheckpointHeaderBytes));
}

TEST_F(WrongCheckpoint, WithARowTwice) {
  Checkpoint changed = whole_;
  changed.chunks.push_back(changed.chunks[0]);
  changed.chunks.back().header.offset = whole_.header.chunks_end();
  ++changed.header.chunks;
  changed.header.rows += kRows;
  expect_refused(changed, "that is there twice");
}

// The index finds it, which is built behind the replay.
TEST_F(WrongCheckpoint, WithARowTwiceInSlotsOfItsOwn) {
  Checkpoint changed = whole_;
  changed.chunks.push_back(changed.chunks[0]);
  Chunk& again = changed.chunks.back();
  again.header.offset = whole_.header.chunks_end();
  ASSERT_EQ(again.payload[0], std::byte{0}) << "the first row is in slot 0";
  again.payload[0] = std::byte{2 * kRows};  // a zigzag varint
  ++changed.header.chunks;
  changed.header.rows += kRows;
  expect_refused(changed, " have one key in ");
}

TEST_F(WrongCheckpoint, WithBytesBehindARow) {
  Checkpoint changed = whole_;
  changed.chunks.back().payload.push_back(std::byte{0});
  expect_refused(changed, fmt::format("the chunk at offset {} has bytes after its last row",
                                      changed.chunks.back().header.offset));
}

}  // namespace
}  // namespace mneme
