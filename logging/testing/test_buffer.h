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

// The record at `position`, of `bytes` bytes: its length, then a pattern of both.
inline std::vector<std::byte> record_at(StreamPosition position, uint32_t bytes) {
  std::vector<std::byte> record(bytes);
  store(record.data(), bytes);
  for (size_t i = 4; i < bytes; ++i) record[i] = static_cast<std::byte>(position.value * 31 + i);
  return record;
}

inline void fill(LogBuffer& buffer, WorkerId worker, StreamPosition position, uint32_t bytes) {
  buffer.write(worker, position, record_at(position, bytes));
  buffer.publish(worker, position, bytes);
}

inline StreamPosition append(LogBuffer& buffer, WorkerId worker, uint32_t bytes) {
  EXPECT_TRUE(buffer.await_space(worker));
  const StreamPosition position = buffer.reserve(worker, bytes);
  fill(buffer, worker, position, bytes);
  return position;
}

// Takes records out of a buffer, as the flusher would.
class Drainer {
 public:
  Drainer(LogBuffer& buffer, StreamPosition begin, uint32_t largest)
      : buffer_(buffer), at_(begin), largest_(largest) {}

  StreamPosition at() const { return at_; }
  uint64_t records() const { return records_; }

  // Checks and releases all that is published.
  void drain() {
    const StreamPosition prefix = check_published();
    if (prefix > released_) buffer_.release(prefix);
    released_ = prefix;
  }
  // Checks it only. Returns the prefix.
  StreamPosition check_published() {
    const StreamPosition prefix = buffer_.contiguous_prefix();
    EXPECT_GE(prefix, at_);
    while (at_ < prefix) {
      std::byte length[4];
      buffer_.read(at_, length);
      const auto bytes = load<uint32_t>(length);
      if (bytes < kSmallestTestRecord || bytes > largest_) {
        ADD_FAILURE() << "no record stands at position " << at_.value;
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
  StreamPosition at_;
  StreamPosition released_ = at_;
  const uint32_t largest_;
  uint64_t records_ = 0;
};

}  // namespace mneme::test
