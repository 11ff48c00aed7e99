// Log buffer: many workers put records in order, one flusher takes them out in that order.
//
// Flow        await_space() -> reserve() -> write() -> publish()     a worker, for one record
//             contiguous_prefix() -> read() -> release()             the flusher
// Invariants  released <= contiguous_prefix <= reserved <= released + capacity
//             positions rise in the order of the reserve() calls, over all workers; the records leave no gap.
//             Every byte below contiguous_prefix() is final, and it lies on a record boundary.
//             A worker has at most one record reserved and unpublished.
// Threads     await_space, reserve, write, publish: the worker they name. contiguous_prefix, read, release,
//             quiescent: the flusher. close: any.
// Waiting     await_space() waits while the ring is full. Nothing else waits for the flusher. In some buffers
//             reserve() or publish() waits for workers that have reserved and not yet published; such a
//             worker must therefore wait for no other.
// Not here    what the bytes mean (record_format.h), when they are taken out (log_flusher.h).
//
// Order, exactly. Of two reserve() calls, what happens before the one that draws the lower position is
// visible after the other has returned. It follows that a call that begins when another has returned draws
// the higher position: were its position lower, what it saw would have to precede itself. Each buffer's
// header says why this holds for it. A commit rests on it twice: as the order of memory, and as the serial
// order (engine/transaction/transaction.h).
//
// The kinds of buffer differ in how reserve(), publish() and contiguous_prefix() agree on the prefix; the
// ring and its back-pressure are common to most of them and live here. They are made by log_buffer_factory.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.h"
#include "base/bytes.h"
#include "base/cache_line.h"
#include "base/event_count.h"
#include "base/strong_id.h"
#include "logging/buffer/log_ring.h"
#include "logging/buffer/log_source.h"
#include "logging/record/stream_position.h"

namespace mneme {

// How the grasshopper buffer advances its prefix.
enum class GrasshopperMode : uint8_t { kBoth, kCrawl, kHop };

// Options that some kinds have a use for (LogBufferTraits).
struct LogBufferTuning {
  uint32_t slots = 4;  // of a consolidation array (consolidation, hybrid, delegated, socket)
  GrasshopperMode grasshopper = GrasshopperMode::kBoth;
  size_t hop_bytes =
      0;  // hopping distance, a power of two; 0: 4 MiB, or a quarter of the ring where that is less
  uint32_t scan_bits =
      1;  // of the bitmap that one step of the scan buffer sets or tests: 1, as in ELEDA, or 64
};

struct LogBufferOptions {
  uint32_t workers = 1;
  size_t ring_bytes = size_t{16} << 20;  // a power of two, and room for every worker's largest record twice
  size_t largest_record_bytes = 0;
  StreamPosition begin = kFirstPosition;  // where the first record stands
  LogBufferTuning tuning{};
  // the ring's, of an owner that outlives the buffer; null: the buffer's own
  std::byte* ring_memory = nullptr;
};

class LogBuffer : public LogSource {
 public:
  explicit LogBuffer(const LogBufferOptions& options);

  // Waits until reserve() finds room for any record without waiting. False: the buffer is closed.
  //
  // It waits until reserved + workers * largest record <= released + capacity. Then every worker, each having
  // passed this test at its own time, may reserve one record: those that passed it before the tail went
  // beyond released + capacity - workers * largest record are at most `workers`, later ones are held back,
  // and so the tail stays at or below released + capacity.
  bool await_space(WorkerId worker);

  // Draws the next `bytes` bytes of the stream, at least one.
  virtual StreamPosition reserve(WorkerId worker, size_t bytes) = 0;
  // Writes a part of the worker's reserved record.
  virtual void write(WorkerId worker, StreamPosition at, ByteSpan bytes);
  // The whole of it.
  virtual void write_record(WorkerId worker, StreamPosition at, ByteSpan header, ByteSpan payload);
  // The worker's reserved record is written.
  virtual void publish(WorkerId worker, StreamPosition position, size_t bytes) = 0;

  // The position below which every reserved record is published, as far as the buffer knows just now. Never
  // falls.
  virtual StreamPosition contiguous_prefix() = 0;
  // How many bytes are published and will be in the prefix a little later, without another record having to
  // come. The flusher.
  virtual size_t late_bytes() const { return 0; }
  void read(StreamPosition at, std::span<std::byte> into) const override;
  // The flusher is done with everything below: its bytes may be overwritten. A record boundary.
  virtual void release(StreamPosition upto);

  // Whether nothing is reserved at or past `upto`. Ordered so that the flusher can go to sleep on it: a
  // reserve() that this call didn't see sees everything that the flusher wrote before the call.
  virtual bool quiescent(StreamPosition upto) = 0;

  // Ends the waits of await_space(), now and later: the log has failed.
  void close();

  size_t capacity() const { return ring_.capacity(); }

 protected:
  // The highest position drawn so far; may be stale.
  virtual StreamPosition reserved() const = 0;
  // Whether reserve() finds room for any record.
  virtual bool has_room(WorkerId worker) const;
  StreamPosition released() const { return StreamPosition{released_->load(std::memory_order_acquire)}; }

  std::byte* ring_memory() const { return ring_.memory(); }

  const uint32_t workers_;

 private:
  const uint64_t headroom_bytes_;  // workers * largest record
  LogRing ring_;
  // Written by the flusher (release) after its last read of those bytes; read by await_space() (acquire).
  //   Not relaxed: a worker must not overwrite bytes that the flusher still reads. A worker whose room comes
  //   from a newer value than it saw itself gets the order through reserve(), from the worker that saw it.
  //   Stale is safe: the ring merely looks fuller than it is.
  CachePadded<Atomic<uint64_t>> released_;
  // Written once, by close() (release); read by await_space() (acquire).
  Atomic<bool> closed_{false};
  EventCount space_;
};

}  // namespace mneme
