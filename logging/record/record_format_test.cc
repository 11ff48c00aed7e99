// Goal: the one definition of a well-formed record takes what a writer makes and nothing else.
// Method: records of each kind and many sizes, round trip, then every single-bit mutation of each.
#include "logging/record/record_format.h"

#include <gtest/gtest.h>

#include "logging/testing/test_log.h"

namespace mneme {
namespace {

std::vector<std::byte> make_record(RecordKind kind, Lsn lsn, ByteSpan payload) {
  std::vector<std::byte> bytes(kRecordHeaderBytes);
  RecordHeader header{0, static_cast<uint32_t>(kRecordHeaderBytes + payload.size()), kind, lsn};
  header.encode(bytes.data());
  header.checksum = record_checksum(bytes.data(), payload);
  header.encode(bytes.data());
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

bool well_formed(const std::vector<std::byte>& record, Lsn at) {
  return record_is_well_formed(record.data(), ByteSpan(record).subspan(kRecordHeaderBytes), at);
}

TEST(RecordFormat, RoundTripAndEveryFlippedBitIsSeen) {
  for (const RecordKind kind : {RecordKind::kSkip, RecordKind::kCommand}) {
    for (const size_t payload_bytes : {0, 1, 15, 16, 100, 700}) {
      const Lsn lsn{1000 + payload_bytes};
      std::vector<std::byte> record = make_record(kind, lsn, test::payload_of(7, payload_bytes));
      ASSERT_TRUE(well_formed(record, lsn));
      const RecordHeader header = RecordHeader::decode(record.data());
      EXPECT_EQ(header.kind, kind);
      EXPECT_EQ(header.lsn, lsn);
      EXPECT_EQ(header.record_bytes, record.size());
      for (size_t bit = 0; bit < 8 * record.size(); ++bit) {
        record[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
        EXPECT_FALSE(well_formed(record, lsn)) << "bit " << bit;
        record[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
      }
    }
  }
}

// Pins the format: the example in docs/log_format.md.
TEST(RecordFormat, TheDocumentedExample) {
  const auto record = make_record(RecordKind::kSkip, kFirstLsn, {});
  std::string hex;
  for (const std::byte each : record) hex += fmt::format("{:02x}", static_cast<unsigned>(each));
  EXPECT_EQ(hex, "347077dc100000014000000000000000");
  EXPECT_EQ(crc32c(as_bytes("123456789")), 0xe3069283u);
}

TEST(RecordFormat, RefusesAnotherPlaceAnotherKindAndAnotherLength) {
  const Lsn lsn{4096};
  const auto payload = test::payload_of(1, 40);
  const auto record = make_record(RecordKind::kCommand, lsn, payload);
  EXPECT_FALSE(well_formed(record, Lsn{4097}));
  EXPECT_FALSE(record_is_well_formed(record.data(), ByteSpan(payload).first(39), lsn));
  EXPECT_FALSE(well_formed(make_record(static_cast<RecordKind>(77), lsn, payload), lsn));
  EXPECT_FALSE(well_formed(make_record(RecordKind::kCommand, Lsn{1}, payload), Lsn{1}));
}

}  // namespace
}  // namespace mneme
