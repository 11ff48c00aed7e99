// Segment supply: prepares the log's next segment files, in one directory, while the current one fills.
//
// Flow        a thread of its own makes the file (segment_file.h) -> the file device takes it; or none, and
//             the file device makes it when it needs it (SegmentSupplyOptions::at_need)
// Pace        Zeros disturb the log's flushes, so they are written the more slowly the more time there is: at
//             once while the log waits for the segment, or will be opened with it; in short stretches with
//             pauses where the current segment has room; with longer pauses where another one is ready. A
//             spare that a checkpoint has passed (spare_segments.h) needs no zeros: it is read in the same
//             stretches.
// Invariants  first `ahead` segments are made ready; later kSpareFiles are ready or being made at any time,
//             or one, where segments are no files. Those of one log have different numbers, whichever supply
//             makes them.
// Threads     try_take, failure: the file device's thread. `ready` is called on the supply's own.
// Waiting     wait_until_ready() alone.
// Errors      the disk is full, or the file can't be made: failure() says so, and no more segments come.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/file/file.h"
#include "base/function_ref.h"
#include "base/result.h"
#include "logging/directory/manifest.h"
#include "logging/directory/segment_file.h"

namespace mneme {

struct Segment {
  File file;         // not open where the segment lies elsewhere
  std::string path;  // for people
  int handle = -1;  // what the device's queue attaches: the file's descriptor, or as it agrees with the maker
  uint32_t number = 0;
  uint32_t incarnation = 0;
  uint32_t blocks = 0;
  int queue_file = -1;  // what the device's queue calls it, once taken
};

// Gives the supplies of one log the numbers of their segments, past those that the manifest lists. Any
// thread.
class SegmentNumbers {
 public:
  explicit SegmentNumbers(const Manifest& manifest) : next_(manifest.next_segment_number()) {}
  uint32_t next() { return next_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<uint32_t> next_;  // relaxed: only that no two get the same matters
};

// Makes the segment of this number, listed in the manifest; gives up, with any error, once `closing` says so.
using SegmentMaker =
    std::function<Result<std::shared_ptr<Segment>>(uint32_t number, FunctionRef<bool()> closing)>;

struct SegmentSupplyOptions {
  SegmentFileOptions file;
  SegmentMaker make{};  // none: a file, as `file` says
  uint32_t ahead = 1;   // at least 1: ready before the first is taken
  // wait_until_ready() and try_take() make what is missing, and there is no thread.
  bool at_need = false;
  // Takes files that a checkpoint has passed. Not with `make`, nor of a stream's destaged segments, for which
  // no flush waits.
  bool reuses = false;
};

class SegmentSupply {
 public:
  SegmentSupply(ManifestFile& manifest, const SegmentSupplyOptions& options, SegmentNumbers& numbers,
                std::function<void()> ready);
  ~SegmentSupply();

  // Waits until `ahead` segments are ready or one couldn't be made.
  Result<void> wait_until_ready();
  // A prepared segment; nothing while none is ready.
  std::shared_ptr<Segment> try_take();
  std::optional<Error> failure() const;
  // Segments whose files a checkpoint had passed.
  uint64_t reused() const { return reused_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kSpareFiles = 2;

  void run();
  void make_at_need(size_t count);
  Result<std::shared_ptr<Segment>> make_next();
  bool is_closing() const;
  size_t next_stretch();

  ManifestFile& manifest_;
  const SegmentSupplyOptions options_;
  SegmentNumbers& numbers_;
  const std::function<void()> ready_;
  std::atomic<uint64_t> reused_{0};  // relaxed: a count

  mutable std::mutex mutex_;  // guards all below but the thread
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Segment>> prepared_;  // by number
  std::optional<Error> failure_;
  bool is_waited_for_ = true;  // the log, or its opening, waits for a segment
  bool closing_ = false;

  std::thread thread_;
};

}  // namespace mneme
