// Goal: a record that is what a writer made is taken, and nothing else is. Method: records of several sizes,
// made here byte by byte; then each bit is flipped, and each field is made wrong under a right checksum.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/crc32c.h"
#include "course/grading.h"
#include "logging/record/record_format.h"

namespace mneme::course {
namespace {

using Bytes = std::vector<std::byte>;

Bytes payload_of(size_t bytes) {
  Bytes payload(bytes);
  for (size_t i = 0; i < bytes; ++i) payload[i] = static_cast<std::byte>(7 * i + 1);
  return payload;
}

// The header as the format says, by hand: what a part is held against.
Bytes header_of(uint32_t checksum, uint32_t record_bytes, uint8_t kind, uint64_t lsn_and_part) {
  Bytes header;
  for (int i = 0; i < 4; ++i) header.push_back(static_cast<std::byte>(checksum >> 8 * i));
  for (int i = 0; i < 3; ++i) header.push_back(static_cast<std::byte>(record_bytes >> 8 * i));
  header.push_back(static_cast<std::byte>(kind));
  for (int i = 0; i < 8; ++i) header.push_back(static_cast<std::byte>(lsn_and_part >> 8 * i));
  return header;
}

// A whole record with a right checksum, whatever the fields are.
Bytes record_of(uint32_t record_bytes, uint8_t kind, uint64_t lsn, const Bytes& payload, uint32_t seed = 0) {
  Bytes record = header_of(0, record_bytes, kind, lsn);
  record.insert(record.end(), payload.begin(), payload.end());
  store(record.data(), crc32c(ByteSpan(record).subspan(4), seed));
  return record;
}
Bytes good_record(uint64_t lsn, const Bytes& payload, uint32_t seed = 0) {
  return record_of(static_cast<uint32_t>(kRecordHeaderBytes + payload.size()), 2, lsn, payload, seed);
}

bool well_formed(const Bytes& record, uint64_t at, uint32_t seed = 0) {
  return record_is_well_formed(record.data(), ByteSpan(record).subspan(kRecordHeaderBytes), Lsn{at}, seed);
}

std::string hex(const Bytes& bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte each : bytes) {
    text += kDigits[static_cast<unsigned>(each) / 16];
    text += kDigits[static_cast<unsigned>(each) % 16];
    text += ' ';
  }
  return text;
}

TEST(Record, TheHeaderIsWrittenAsTheFormatSays) {
  RecordHeader header{0x11223344, 0x0a0b0c, RecordKind::kLogical, Lsn{0x0102030405060708}};
  Bytes bytes(kRecordHeaderBytes);
  header.encode(bytes.data());
  EXPECT_EQ(hex(bytes), hex(header_of(0x11223344, 0x0a0b0c, 3, 0x0102030405060708))) << broken(
      "The header is written as the format says: checksum, three bytes of length, kind, LSN, each with its "
      "lowest byte first.",
      "Every log that another build of the program has written can't be read: a format is a promise to files "
      "that exist.");
}

TEST(Record, WhatIsWrittenIsReadAgain) {
  for (const bool is_part : {false, true}) {
    for (const uint64_t lsn : {uint64_t{64}, uint64_t{0x0102030405060708}, RecordHeader::kPartBit - 1}) {
      const Bytes bytes = header_of(0xdeadbeef, 0xfffffe, 6, lsn | (is_part ? RecordHeader::kPartBit : 0));
      const RecordHeader header = RecordHeader::decode(bytes.data());
      EXPECT_TRUE(header.checksum == 0xdeadbeef && header.record_bytes == 0xfffffe &&
                  header.kind == RecordKind::kSchema)
          << broken("What is written is read again: checksum, length and kind.",
                    "Recovery would look for the next record at a wrong place, and find none.");
      EXPECT_EQ(header.lsn.value, lsn) << broken(
          "The LSN is the lower 63 bits; bit 63 says that the record is a part, and belongs to no number.",
          "Each record that lies in several streams is lost: its LSN would be above all others, at the log's "
          "end.");
      EXPECT_EQ(header.is_part, is_part) << broken("Bit 63 says that the record is a part.",
                                                   "A part would be replayed as if it were the whole.");
      Bytes again(kRecordHeaderBytes);
      header.encode(again.data());
      EXPECT_EQ(hex(again), hex(bytes)) << broken(
          "What is read is written again, bit 63 too.",
          "A record of several parts is lost: without the bit each part is taken for a whole record.");
    }
  }
}

TEST(Record, TheChecksumIsOfAllBytesAfterIt) {
  EXPECT_EQ(hex(record_of(16, 1, 64, {})), "34 70 77 dc 10 00 00 01 40 00 00 00 00 00 00 00 ");
  for (const size_t payload_bytes : {0, 1, 22, 700}) {
    const Bytes payload = payload_of(payload_bytes);
    Bytes record = good_record(1000, payload);
    const auto right = load<uint32_t>(record.data());
    EXPECT_EQ(record_checksum(record.data(), payload), right) << broken(
        "The checksum is the CRC32C of all bytes of the record after it: twelve of the header, then the "
        "payload.",
        "What the checksum leaves out can change unseen: a transfer of 30.00 becomes one of 70.96 by one "
        "bit.");
    // Whatever stands in the first four bytes.
    store(record.data(), uint32_t{0x12345678});
    EXPECT_EQ(record_checksum(record.data(), payload), right) << broken(
        "The checksum does not include itself: the first four bytes of the header count for nothing.",
        "Each record is lost: no checksum would be right once it is written down.");
  }
}

TEST(Record, WhatAWriterMakesIsTaken) {
  for (const size_t payload_bytes : {size_t{0}, size_t{1}, size_t{22}, kMaxPayloadBytes}) {
    EXPECT_TRUE(well_formed(good_record(4096, payload_of(payload_bytes)), 4096)) << broken(
        "What a writer makes is taken, here with " + std::to_string(payload_bytes) + " bytes of payload.",
        "Recovery would end the log at the first such record, and lose all behind it.");
  }
  for (uint8_t kind = 1; kind <= 6; ++kind) {
    EXPECT_TRUE(well_formed(record_of(16, kind, 64, {}), 64))
        << broken("All six kinds are records.", "Recovery would end the log at the first such record.");
  }
  const Bytes payload = payload_of(22);
  EXPECT_TRUE(well_formed(record_of(38, 3, 4096 | RecordHeader::kPartBit, payload), 4096))
      << broken("A part is a record like any other: one with bit 63 set is taken at its own LSN.",
                "Recovery would end the log at the first transaction that wrote to several streams.");
  EXPECT_TRUE(well_formed(record_of(38, 1, 4096, payload), 4096)) << broken(
      "A payload is not looked at: also of the kind kSkip, any bytes with a right checksum are a record.",
      "Nothing is lost today, but a reader that asks for zeros would refuse a log of a writer that has a use "
      "for these bytes.");
}

TEST(Record, AFlippedBitIsSeen) {
  for (const size_t payload_bytes : {0, 1, 22, 100}) {
    Bytes record = good_record(1000, payload_of(payload_bytes));
    for (size_t bit = 0; bit < 8 * record.size(); ++bit) {
      record[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
      ASSERT_FALSE(well_formed(record, 1000))
          << broken("A flipped bit is seen, wherever it is: here bit " + std::to_string(bit % 8) +
                        " of byte " + std::to_string(bit / 8) +
                        (bit / 8 < kRecordHeaderBytes ? ", in the header." : ", in the payload."),
                    "Recovery replays what nobody has called, without a word.");
      record[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    }
  }
}

TEST(Record, ARecordBelongsToItsPlace) {
  const Bytes record = good_record(1000, payload_of(22));
  for (const uint64_t at : {999, 1001, 64, 100000}) {
    EXPECT_FALSE(well_formed(record, at)) << broken(
        "A record belongs to its place: it is one only at its own LSN, however right its checksum is.",
        "A block that the disk wrote to another place, or a record that was left there by a former life of "
        "the file, is intact. It would be replayed in the wrong order, or twice.");
  }
}

TEST(Record, NoRecordIsBelowTheFirst) {
  for (const uint64_t lsn : {0, 1, 63}) {
    EXPECT_FALSE(well_formed(good_record(lsn, payload_of(22)), lsn)) << broken(
        "No record has an LSN below kFirstLsn: 0 stands for the first checkpoint.",
        "No writer makes such a record, so none is lost; but 0 is what a page that was never written says.");
  }
}

TEST(Record, TheLengthIsThatOfThePayload) {
  const Bytes payload = payload_of(22);
  for (const uint32_t length : {0u, 15u, 16u, 37u, 39u, 0xffffffu}) {
    EXPECT_FALSE(well_formed(record_of(length, 2, 1000, payload), 1000)) << broken(
        "The length in the header is that of header and payload together.",
        "The reader finds the next record by this length. With a wrong one it goes on in the middle of a "
        "record, or without end at the same one.");
  }
}

TEST(Record, NoPayloadIsLongerThanTheLongest) {
  const Bytes large = payload_of(kMaxPayloadBytes + 1);
  EXPECT_FALSE(well_formed(good_record(1000, large), 1000))
      << broken("No payload is longer than kMaxPayloadBytes, which a writer never exceeds.",
                "No record is lost, but memory: a reader that believes any length makes room for 16 MiB.");
}

TEST(Record, AnUnknownKindIsNoRecord) {
  for (const uint8_t kind : {0, 7, 77, 255}) {
    EXPECT_FALSE(well_formed(record_of(38, kind, 1000, payload_of(22)), 1000))
        << broken("An unknown kind is no record: there are 1 to 6, and this is " + std::to_string(kind) + ".",
                  "A program that meets a newer format would skip, or misread, what it does not know.");
  }
}

TEST(Record, ZerosAreNoRecord) {
  const Bytes zeros(64);
  for (const uint64_t at : {0, 64, 1000}) {
    EXPECT_FALSE(well_formed(zeros, at))
        << broken("Zeros are no record: a fresh segment is full of them.",
                  "Recovery would run past the log's end into the empty part of the file.");
  }
}

TEST(Record, TheSeedIsInTheChecksum) {
  const Bytes record = good_record(1000, payload_of(22), 12345);
  EXPECT_TRUE(well_formed(record, 1000, 12345))
      << broken("The checksum begins with the seed that the layout gives.",
                "Every log in persistent memory is lost: none of its records would have a right checksum.");
  EXPECT_FALSE(well_formed(record, 1000)) << broken(
      "A record with another seed is none.",
      "Where a file's place is used again, a record of the former use would be taken for a new one.");
}

}  // namespace
}  // namespace mneme::course
