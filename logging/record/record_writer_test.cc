#include "logging/record/record_writer.h"

#include <gtest/gtest.h>

#include <vector>

namespace mneme {
namespace {

struct PutRecord {
  std::vector<std::byte> header;
  std::vector<std::byte> payload;
};

auto into(PutRecord& record) {
  return [&record](ByteSpan header, ByteSpan payload) {
    record.header.assign(header.begin(), header.end());
    record.payload.assign(payload.begin(), payload.end());
  };
}

TEST(RecordWriterTest, WritesWhatTheReaderTakesForARecord) {
  RecordWriter writer;
  EXPECT_EQ(writer.reserve(5), kRecordHeaderBytes + 5);
  PutRecord put;
  EXPECT_EQ(writer.fill({Lsn{128}, RecordKind::kCommand}, as_bytes("hello"), 7, into(put)),
            kRecordHeaderBytes + 5);
  EXPECT_EQ(as_text(put.payload), "hello");
  EXPECT_TRUE(record_is_well_formed(put.header.data(), put.payload, Lsn{128}, 7));
  EXPECT_FALSE(record_is_well_formed(put.header.data(), put.payload, Lsn{128}, 8));
}

TEST(RecordWriterTest, FillsTheReservedPlaceOfASkipRecordWithZeros) {
  RecordWriter writer;
  writer.reserve(kMaxPayloadBytes);
  PutRecord put;
  writer.fill({Lsn{64}, RecordKind::kSkip}, as_bytes("ignored"), 0, into(put));
  EXPECT_EQ(put.payload.size(), kMaxPayloadBytes);
  EXPECT_TRUE(is_zeros(put.payload));
  EXPECT_TRUE(record_is_well_formed(put.header.data(), put.payload, Lsn{64}));
}

TEST(RecordWriterTest, CountsRecordsAndTheirBytes) {
  RecordWriter writer;
  PutRecord put;
  writer.write({Lsn{64}, RecordKind::kCommand}, as_bytes("a"), 0, into(put));
  writer.reserve(3);
  EXPECT_EQ(writer.records(), 1u);  // reserved is not written
  writer.fill({Lsn{81}, RecordKind::kSkip}, {}, 0, into(put));
  EXPECT_EQ(writer.records(), 2u);
  EXPECT_EQ(writer.bytes(), 2 * kRecordHeaderBytes + 4);
}

}  // namespace
}  // namespace mneme
