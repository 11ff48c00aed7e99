// For tests: a record of a log that is another than was written, behind checksums that are right.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file/file.h"
#include "logging/reading/log_reader.h"
#include "logging/record/block_format.h"
#include "logging/record/record_format.h"
#include "logging/testing/test_log.h"

namespace mneme::test {

// The last record that lies in one block, not counting those of the last `but` records.
inline RecordView last_in_one_block(const LogContents& log, size_t but = 0) {
  for (size_t i = log.records.size() - but; i-- > 0;) {
    const LogContents::Place place = log.place_of(log.records[i]);
    const uint64_t end = place.offset + kRecordHeaderBytes + log.records[i].payload.size();
    if (place.offset / kBlockBytes == (end - 1) / kBlockBytes) return log.records[i];
  }
  ADD_FAILURE() << "no record lies in one block";
  std::abort();
}

// `change` gets the record's header and its payload; the record and its block get the checksums of what it
// leaves.
template <typename Change>
void rewrite_record(const std::string& directory, const LogContents::Place& place, const Change& change) {
  const File file = must(File::open(directory + "/" + place.file, O_RDWR));
  const uint64_t block_at = place.offset / kBlockBytes * kBlockBytes;
  std::vector<std::byte> block(kBlockBytes);
  ASSERT_EQ(must(file.read_at(block, block_at)), kBlockBytes);
  std::byte* record = block.data() + (place.offset - block_at);
  RecordHeader header = RecordHeader::decode(record);
  const std::span<std::byte> payload(record + kRecordHeaderBytes, header.record_bytes - kRecordHeaderBytes);
  change(header, payload);
  header.encode(record);
  header.checksum = record_checksum(record, payload);
  header.encode(record);
  BlockHeader::decode(block)->encode(block.data());
  must(file.write_at(block, block_at));
}

}  // namespace mneme::test
