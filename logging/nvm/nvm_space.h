// NvmSpace: the log's place in persistent memory: hands out positions, each of which is an address, and keeps
// segments mapped around the tail.
//
// Flow        await_room() -> draw() -> place_of(), stores -> settle()      a worker, for one record
//             its own thread: maps the next segment ahead of the tail, unmaps what no worker writes to any
//             more
// Invariants  positions rise in the order of the draw() calls, over all workers, and order memory: draw() is
//             a read-modify-write (acquire and release) of one tail. Every position below mapped_end has its
//             segment mapped until the worker that drew it has settled it. A worker has at most one stretch
//             of the log drawn and not settled. So a crash leaves at most as many holes as there are workers.
// Unmapping   a worker publishes a lower bound before it draws, and clears it once it has settled. The thread
//             unmaps what lies below the lowest bound (bound_set.h).
// Threads     await_room, draw, place_of, settle: the worker they name. The rest: any.
// Waiting     await_room() waits for a segment to be mapped, and for workers that have stood between draw()
//             and settle() while the others filled several segments; nothing else waits.
// Errors      a segment can't be made: await_room() returns false once what is mapped is used up; failure()
//             says why.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/cache_line.h"
#include "base/event_count.h"
#include "base/file/file.h"
#include "base/result.h"
#include "base/strong_id.h"
#include "logging/buffer/bound_set.h"
#include "logging/directory/manifest.h"
#include "logging/nvm/persistent_memory.h"
#include "logging/record/stream_position.h"

namespace mneme {

struct NvmSpaceOptions {
  uint32_t workers = 1;
  uint32_t longest_record_bytes = 0;
  size_t segment_bytes = size_t{32} << 20;  // rounded up to a power of two, and raised for many long records
  uint32_t segments_ahead = 1;              // mapped besides the one that the tail is in; at least 1
  PersistentMemoryOptions memory{};
};

class NvmSpace {
 public:
  // The space begins where the manifest's last incarnation does. `manifest` outlives it.
  static Result<std::unique_ptr<NvmSpace>> open(ManifestFile& manifest, const NvmSpaceOptions& options);
  ~NvmSpace();

  // Waits until draw() finds mapped memory for any record, also where it must be repeated. False: there will
  // be none.
  bool await_room(WorkerId worker);
  // Draws the next `bytes` of the log, whole lines. They may reach into the next segment: then they hold no
  // record.
  StreamPosition draw(WorkerId worker, uint64_t bytes);
  // All that the worker has drawn is hardened.
  void settle(WorkerId worker);

  // From `position` to its segment's end.
  uint64_t bytes_left(StreamPosition position) const { return segment_bytes_ - offset_of(position); }
  struct Place {
    PersistentMemory* memory;
    size_t at;
  };
  // Returns where a position lies that the caller has drawn and not settled.
  Place place_of(StreamPosition position) const;

  StreamPosition tail() const { return StreamPosition{tail_->load(std::memory_order_acquire)}; }
  // Everything below is settled; never falls.
  StreamPosition settled() const;
  bool is_persistent() const { return is_persistent_; }
  uint64_t waits() const { return waits_.load(std::memory_order_relaxed); }
  std::optional<Error> failure() const;

 private:
  // Segments that may stay mapped behind the tail's, for workers that are late.
  static constexpr uint32_t kBehind = 3;

  struct Mapped {
    File file;  // keeps its lock, which tells readers that somebody writes
    std::unique_ptr<PersistentMemory> memory;
    StreamPosition end;
  };

  NvmSpace(ManifestFile& manifest, const NvmSpaceOptions& options);

  uint64_t offset_of(StreamPosition position) const {
    return (position.value - begin_.value) & (segment_bytes_ - 1);
  }
  std::atomic<PersistentMemory*>& slot_of(StreamPosition position) const {
    return slots_[(position.value - begin_.value) / segment_bytes_ % slot_count_];
  }
  bool has_room() const;
  bool wants_segment() const;
  void run();
  void unmap_settled();
  Result<void> map_next();

  ManifestFile& manifest_;
  const NvmSpaceOptions options_;
  const StreamPosition begin_;
  const uint64_t room_bytes_;     // every worker's longest record
  const uint64_t segment_bytes_;  // a power of two, without the header page
  const uint32_t slot_count_;

  // Read-modify-written by draw() (acq_rel: the order of commits and of memory); read by all (acquire).
  CachePadded<std::atomic<uint64_t>> tail_;
  BoundSet<> bounds_;  // of each worker's drawn, unsettled position
  // Written by the thread (release: the segment below stands in its slot), read by await_room() (acquire). A
  // worker whose position lies above what it read itself gets the order through the tail, from the worker
  // that moved it there.
  CachePadded<std::atomic<uint64_t>> mapped_end_;
  // Segment i, in order from the beginning, stands in slot i modulo their count. Written by the thread
  // (release), read by workers (acquire).
  const std::unique_ptr<std::atomic<PersistentMemory*>[]> slots_;

  // Owned by the thread; the destructor's after it has ended.
  std::deque<Mapped> mapped_;
  uint32_t next_number_;

  std::atomic<bool> is_persistent_{
      true};                         // written by the thread before open() returns, relaxed; read by any
  std::atomic<uint64_t> waits_{0};   // written by workers that wait, read by waits(); relaxed: a count
  std::atomic<bool> failed_{false};  // written by the thread, after failure_ (release); read by any (acquire)
  std::atomic<bool> closing_{false};  // written by the destructor (release), read by the thread (acquire)
  EventCount room_;                   // mapped_end_ or failed_ changed
  EventCount work_;                   // the tail left a segment, or closing_
  mutable std::mutex mutex_;          // guards failure_
  std::optional<Error> failure_;

  std::thread thread_;
};

}  // namespace mneme
