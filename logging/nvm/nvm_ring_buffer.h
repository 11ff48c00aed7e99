// NvmRingBuffer: a stream's log buffer whose ring is persistent memory (nvm_ring.h): the watermark buffer's
// order, over whole lines.
//
// Invariants  the flusher, which destages, sees only what is durable: streaming stores may be late, so that
//             what is published is not yet there for other processors to read. So a prefix counts once the
//             horizon has passed all numbers that were drawn when it was found. Records stay until they are
//             destaged (LogFlusherOptions::keeps_until_durable).
// Threads, waiting  as LogBuffer says.
#pragma once

#include <algorithm>

#include "logging/buffer/watermark_buffer.h"
#include "logging/commit/commit_horizon.h"
#include "logging/nvm/nvm_ring.h"

namespace mneme {

// Told of stores that are not durable yet: the thread that fences them has to know (passive_group_commit.h).
class StoreObserver {
 public:
  virtual ~StoreObserver() = default;
  // The worker has stored [at, at + bytes) of the memory. Of memory behind a volatile cache only, which is
  // emulated store by store: a processor's fence drains whatever was stored.
  virtual void stored(WorkerId worker, PersistentMemory& memory, size_t at, size_t bytes) = 0;
};

class NvmRingBuffer final : public WatermarkBuffer {
 public:
  // All outlive it. `observer` may be none.
  NvmRingBuffer(const LogBufferOptions& options, NvmRing& ring, const CommitHorizon& horizon,
                StoreObserver* observer)
      : WatermarkBuffer(options),
        ring_(ring),
        horizon_(horizon),
        observer_(ring.memory().has_volatile_cache() ? observer : nullptr),
        prefix_(options.begin),
        published_(options.begin),
        durable_prefix_(options.begin) {}

  void write_record(WorkerId worker, StreamPosition at, ByteSpan header, ByteSpan payload) override {
    ring_.store_record(at, header, payload);
    if (observer_ == nullptr) return;
    const size_t bytes = ring_.layout().stream_bytes(header.size() + payload.size());
    ring_.for_each_range(at, bytes, [&](size_t begin, size_t count) {
      observer_->stored(worker, ring_.memory(), begin, count);
    });
  }

  StreamPosition contiguous_prefix() override {
    published_ = WatermarkBuffer::contiguous_prefix();
    if (horizon_.durable() >= drawn_) durable_prefix_ = prefix_;
    if (prefix_ == durable_prefix_ && published_ > prefix_) {
      prefix_ = published_;
      drawn_ = horizon_.drawn();  // after the prefix: all of its records are drawn
      if (horizon_.durable() >= drawn_) durable_prefix_ = prefix_;
    }
    return durable_prefix_;
  }
  size_t late_bytes() const override { return published_.value - durable_prefix_.value; }

 private:
  NvmRing& ring_;
  const CommitHorizon& horizon_;
  StoreObserver* const observer_;

  // The flusher's: a prefix that was found, and the number below which all of its records are; what was found
  // last.
  StreamPosition prefix_;
  StreamPosition published_;
  Lsn drawn_;
  StreamPosition durable_prefix_;
};

}  // namespace mneme
