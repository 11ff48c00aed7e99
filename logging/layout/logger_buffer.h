// The buffer of one logger (epoch_log.h): each of its workers puts records into a ring of its own; the logger
// gathers whole epochs of them into one stream.
//
// Flow        await_space -> reserve: publish a lower bound of the LSN to come, then draw it -> fill: write
//             the record into the own ring, publish it, clear the bound. gather: load the counter, then scan
//             the bounds; the epochs below the minimum's are complete -> read -> release.
// Invariants  while a worker's record at r is drawn and not published, its bound is at most r. In a ring LSNs
//             rise. The stream holds the records epoch by epoch; within an epoch worker by worker. Positions
//             in the stream count record bytes from 64 on and have no gaps.
// Threads     await_space, reserve, fill: the member they name. gather, read, release: the logger. close:
//             any.
// Waiting     await_space() waits while the member's own ring has no room for its largest record. Nothing
//             else waits.
// Source      PACMAN, appendix A.1, after SiloR; the bounds are bound_set.h's.
//
// Why no record is overlooked. Let gather() find m as the lowest bound. Every record below m, so every record
// of an epoch before m's, is published in its member's ring (bound_set.h), and the member stored the end of
// its records before it cleared its bound: the logger, which loads that end after the bounds, finds the
// record in the ring. Later draws lie at m or above: what gather() calls complete stays complete.
#pragma once

#include <memory>
#include <vector>

#include "base/atomic.h"
#include "base/bytes.h"
#include "base/cache_line.h"
#include "base/event_count.h"
#include "base/fifo_queue.h"
#include "logging/buffer/bound_set.h"
#include "logging/buffer/log_ring.h"
#include "logging/buffer/log_source.h"
#include "logging/layout/epoch_counter.h"

namespace mneme {

struct LoggerBufferOptions {
  uint32_t members = 1;
  size_t ring_bytes = 0;  // of each member: a power of two, room for the largest record twice
  size_t largest_record_bytes = 0;
};

class LoggerBuffer final : public LogSource {
 public:
  // An epoch of which the logger's workers have records, gathered whole.
  struct Gathered {
    LogEpoch epoch;
    StreamPosition end;    // where it ends in the stream
    uint64_t records = 0;  // that the stream holds up to there
  };

  LoggerBuffer(EpochCounter& counter, const LoggerBufferOptions& options);

  bool has_space(uint32_t member) const;
  // Waits until reserve() finds room for any record without waiting. False: the buffer is closed.
  bool await_space(uint32_t member);
  Lsn reserve(uint32_t member);
  void fill(uint32_t member, ByteSpan header, ByteSpan payload);

  // Appends what has become complete since the last call to `gathered`. Returns the first epoch that may not
  // be: all below are in the stream. Never falls.
  LogEpoch gather(FifoQueue<Gathered>& gathered);
  void read(StreamPosition at, std::span<std::byte> into) const override;
  void release(StreamPosition upto);
  uint32_t persisted_epochs() const override { return persisted_epochs_; }
  void set_persisted_epochs(uint32_t epochs) { persisted_epochs_ = epochs; }

  // Ends the waits of await_space(), now and later: the log has failed.
  void close();

 private:
  struct Published {
    // The end of the records in the ring: the member's alone to write (release, after the records' bytes and
    // before it clears its bound), gather()'s to read (acquire).
    Atomic<uint64_t> end{0};
  };
  struct Member {
    explicit Member(size_t ring_bytes) : ring(ring_bytes) {}

    LogRing ring;                   // addressed by the count of bytes that went through it
    CachePadded<uint64_t> written;  // the member's: where its next record begins
    // Written by the logger after its last read of the bytes below (release), read by the member (acquire).
    CachePadded<Atomic<uint64_t>> released{0};
    CachePadded<uint64_t> gathered;  // the logger's: records before this are in the stream
  };
  // Records of one member that follow one another in its ring and in the stream.
  struct Piece {
    StreamPosition begin;
    uint64_t bytes = 0;
    uint32_t member = 0;
    uint64_t ring_begin = 0;

    StreamPosition end() const { return begin + bytes; }
  };

  LogEpoch oldest_ungathered(LogEpoch open);
  void gather_member(uint32_t member, Lsn limit);
  Lsn lsn_at(const Member& member, uint64_t at) const;
  size_t piece_at(StreamPosition at) const;

  EpochCounter& counter_;
  const size_t largest_record_bytes_;
  std::vector<std::unique_ptr<Member>> members_;
  BoundSet<Published> bounds_;  // by member

  // The logger's, on lines of its own.
  alignas(kCacheLineBytes) LogEpoch open_;
  StreamPosition end_ = kFirstPosition;
  uint64_t records_ = 0;
  std::vector<uint64_t> published_;  // by member: the end of its records that is safe to read
  FifoQueue<Piece> pieces_;          // in the stream's order
  mutable size_t last_read_ = 0;     // in pieces_: the stream is read in order
  uint32_t persisted_epochs_ = 0;

  // Written once, by close() (release); read by await_space() (acquire).
  Atomic<bool> closed_{false};
  EventCount space_;
};

}  // namespace mneme
