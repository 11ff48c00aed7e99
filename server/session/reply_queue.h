// ReplyQueue: the bytes for one client, in order, some of which may leave only once an LSN is durable.
//
// Flow        writer() -> hold(mark, lsn) -> take(durable), which goes to the socket
// Invariants  bytes leave in the order in which they were written; none behind a mark before the mark's LSN
//             is durable. So a client never learns what a crash could take back.
// Threads     one owner.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "logging/record/lsn.h"
#include "server/protocol/wire.h"

namespace mneme {

class ReplyQueue {
 public:
  MessageWriter writer() { return MessageWriter(bytes_); }
  size_t mark() const { return bytes_.size(); }
  // Bytes from the mark on leave only once the record at `lsn` is durable.
  void hold(size_t mark, Lsn lsn) {
    newest_ = std::max(newest_, lsn);
    if (!gates_.empty() && gates_.back().lsn >= lsn) return;
    gates_.push_back({taken_ + mark, lsn});
  }
  // The bytes that may leave when everything below `durable` is.
  std::vector<std::byte> take(Lsn durable) {
    while (!gates_.empty() && gates_.front().lsn < durable) gates_.pop_front();
    const size_t count = gates_.empty() ? bytes_.size() : gates_.front().at - taken_;
    std::vector<std::byte> leaving;
    if (count == bytes_.size()) {
      leaving.swap(bytes_);
    } else {
      leaving.assign(bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(count));
      bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(count));
    }
    taken_ += count;
    return leaving;
  }
  // The first LSN that is waited for.
  std::optional<Lsn> gate() const {
    return gates_.empty() ? std::nullopt : std::optional(gates_.front().lsn);
  }
  // What is held back will never leave: the log has failed.
  void drop_held() {
    if (!gates_.empty()) bytes_.resize(gates_.front().at - taken_);
    gates_.clear();
  }
  size_t bytes() const { return bytes_.size(); }
  // The client has seen what the record at `lsn` did, which is durable.
  void saw(Lsn lsn) { newest_ = std::max(newest_, lsn); }
  // The highest that any reply was held for, or that was seen.
  Lsn newest() const { return newest_; }

 private:
  struct Gate {
    size_t at;  // counted from the first byte ever
    Lsn lsn;
  };

  std::vector<std::byte> bytes_;
  size_t taken_ = 0;
  Lsn newest_;
  std::deque<Gate> gates_;
};

}  // namespace mneme
