// For tests of log buffers: records that say what they must hold, and a drainer that checks each byte of
// them.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "base/bytes.h"
#include "logging/buffer/log_buffer_factory.h"

namespace mneme::test {

inline constexpr uint32_t kSmallestTestRecord = 8;

// The record at `lsn`, of `bytes` bytes: its length, then a pattern of both.
inline std::vector<std::byte> record_at(Lsn lsn, uint32_t bytes) {
  std::vector<std::byte> record(bytes);
  store(record.data(), bytes);
  for (size_t i = 4; i < bytes; ++i) record[i] = static_cast<std::byte>(lsn.value * 31 + i);
  return record;
}

inline void fill(LogBuffer& buffer, WorkerId worker, Lsn lsn, uint32_t bytes) {
  buffer.write(worker, lsn, record_at(lsn, bytes));
  buffer.publish(worker, lsn, bytes);
}

inline Lsn append(LogBuffer& buffer, WorkerId worker, uint32_t bytes) {
  EXPECT_TRUE(buffer.await_space(worker));
  const Lsn lsn = buffer.reserve(worker, bytes);
  fill(buffer, worker, lsn, bytes);
  return lsn;
}

// Takes records out of a buffer, as the flusher would.
class Drainer {
 public:
  Drainer(LogBuffer& buffer, Lsn begin, uint32_t largest) : buffer_(buffer), at_(begin), largest_(largest) {}

  Lsn at() const { return at_; }
  uint64_t records() const { return records_; }

  // Checks and releases all that is published.
  void drain() {
    const Lsn prefix = check_published();
    if (prefix > released_) buffer_.release(prefix);
    released_ = prefix;
  }
  // Checks it only. Returns the prefix.
  Lsn check_published() {
    const Lsn prefix = buffer_.contiguous_prefix();
    EXPECT_GE(prefix, at_);
    while (at_ < prefix) {
      std::byte length[4];
      buffer_.read(at_, length);
      const auto bytes = load<uint32_t>(length);
      if (bytes < kSmallestTestRecord || bytes > largest_) {
        ADD_FAILURE() << "no record stands at LSN " << at_.value;
        std::abort();
      }
      std::vector<std::byte> record(bytes);
      buffer_.read(at_, record);
      EXPECT_EQ(record, record_at(at_, bytes));
      at_ = at_ + bytes;
      ++records_;
    }
    EXPECT_EQ(at_, prefix);  // a record boundary
    return prefix;
  }

 private:
  LogBuffer& buffer_;
  Lsn at_;
  Lsn released_ = at_;
  const uint32_t largest_;
  uint64_t records_ = 0;
};

}  // namespace mneme::test
