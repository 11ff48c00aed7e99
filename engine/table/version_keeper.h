// Version keeper: while a checkpoint is taken, a worker that writes over a row that belongs to it keeps the
// row's older image.
//
// Flow        checkpointer: start() -> draws the checkpoint's LSN C -> fix(C) -> claim() for each row that it
//             captures -> drain() now and then, and once more behind its walk -> stop() worker: boundary(),
//             after it has reserved its own LSN -> keep() for each row that it writes over and that is older
//             than the boundary, under the row's lock, before its word is released
// Texts       that lie outside a kept image have a reference more until it is drained (long_text.h).
// Invariants  exactly one version of a slot is the one at C: the last one below C. The first to claim it, the
//             walk or drain(), writes it, and no other does.
// Threads     boundary, keep: the worker that is named, in a transaction. The rest: the checkpointer; claim()
//             by several of its threads, drain() by one at a time. Between stop() and the next start(), every
//             transaction that was running at stop() has ended.
// Errors      no memory for an image: lost(), and the checkpoint is to be given up. The transaction goes on.
//
// Why no version at C is missed. A worker with an LSN n > C reserved it after the checkpointer had drawn C,
// so it sees the start() that came before that: reserving orders memory (commit_log.h). CALC's prepare phase,
// which waits until every transaction has heard of the checkpoint, is not needed where the flag is read
// behind the reservation. Let v < C be a slot's live version at C, and n > C the first one that was installed
// over it, if any. A transaction that writes below C had its rows locked when it reserved, so the walk, which
// begins behind that and waits for locked rows, never sees what was before v. Either n is not installed yet:
// the walk sees v, and claims it. Or the word tells of n or of what came later, a newer version, a tombstone,
// a free slot, or another row that was inserted there since: then n's worker had put v into its list before
// it released the word, the walk has synchronized with that through the word, and the drain behind the walk
// finds it. Other versions are not taken for it: those that were installed over below C (v < n < C, before C
// was known) and those that came above C fail v < C < n; what was not live, a tombstone, a free slot, a row
// being inserted, is not kept, and was no row at C. A slot's number means one row at C, whatever was deleted
// from it above C and inserted there again.
//
// Source      Ren, Diamond, Abadi, Thomson: "Low-Overhead Asynchronous Checkpointing in Main-Memory Database
//             Systems" (CALC, SIGMOD'16), with LSNs in place of its two copies of each record and of its
//             phases.
#pragma once

#include <atomic>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/cache_line.h"
#include "base/function_ref.h"
#include "base/strong_id.h"
#include "engine/table/indexed_table.h"
#include "engine/table/kept_versions.h"

namespace mneme {

class VersionKeeper {
 public:
  VersionKeeper(uint32_t workers, std::span<const std::unique_ptr<IndexedTable>> tables);
  ~VersionKeeper() { forget(); }
  VersionKeeper(const VersionKeeper&) = delete;
  VersionKeeper& operator=(const VersionKeeper&) = delete;

  // Drops what the last checkpoint has left. No checkpoint is taken, and no transaction runs.
  void forget();
  // The tables are others now, since forget(). No checkpoint is taken. False: a row of theirs is too wide for
  // this keeper.
  bool follow(std::span<const std::unique_ptr<IndexedTable>> tables,
              std::span<const TableChanges::Changed> changed);

  // Versions below it are to be kept: none at 0, where no checkpoint is taken.
  Lsn boundary() const { return Lsn{boundary_.load(std::memory_order_acquire)}; }
  // Keeps the row, which the caller has locked and which is live, with a version below `boundary`, unless it
  // is claimed.
  void keep(WorkerId worker, Lsn boundary, const IndexedTable& table, const Row* row, Lsn version,
            Lsn successor);

  void start();
  // The checkpoint's LSN is drawn.
  void fix(Lsn boundary);
  // Whether the caller is to write the slot's version at the boundary: true once for each slot.
  bool claim(TableId table, uint64_t slot);
  // Calls visit for each version at the boundary that was kept since the last call and is claimed by this
  // one.
  void drain(FunctionRef<void(const KeptVersion&)> visit);
  void stop();

  bool lost() const { return lost_.load(std::memory_order_acquire); }
  // That wait to be drained, in whole chunks, and the texts outside; and the most of chunks since start().
  size_t waiting_bytes() const {
    return pool_.bytes_in_use() + waiting_text_bytes_.load(std::memory_order_relaxed);
  }
  size_t peak_bytes() const { return pool_.peak_bytes(); }
  // Drained since start(), of whatever version.
  uint64_t kept_images() const { return kept_images_; }
  uint64_t kept_bytes() const { return kept_bytes_; }

 private:
  static constexpr uint64_t kNothing = 0;
  static constexpr uint64_t kEverything = std::numeric_limits<uint64_t>::max();  // C is not known yet

  // A bit a slot: claimed. Set by the checkpointer's threads (fetch_or: one of them gets it), looked at by
  // workers. Relaxed: they order nothing, and a worker that sees an old bit only keeps what will be passed
  // over.
  struct ClaimedSlots {
    uint64_t end = 0;
    std::unique_ptr<std::atomic<uint64_t>[]> words;
  };
  bool is_claimed(TableId table, uint64_t slot) const;
  void keep_texts(const RowLayout& layout, const std::byte* image);
  void release_texts(const RowLayout& layout, const std::byte* image);

  std::span<const std::unique_ptr<IndexedTable>> tables_;
  KeptChunkPool pool_;
  std::vector<std::unique_ptr<CachePadded<KeptVersions>>> lists_;  // by worker
  std::vector<ClaimedSlots> claimed_;  // by table; made before fix() publishes the boundary
  uint64_t kept_images_ = 0;
  uint64_t kept_bytes_ = 0;

  // Written by the checkpointer (release: lists and bits are ready), read by a worker once for each
  // transaction that installs something (acquire). A line of its own, which is only read while no checkpoint
  // begins or ends.
  alignas(kCacheLineBytes) std::atomic<uint64_t> boundary_{kNothing};
  // The bytes of texts outside of kept images. Raised by workers, lowered by the drainer, read by those who
  // ask for waiting_bytes(): relaxed, as it orders nothing.
  std::atomic<size_t> waiting_text_bytes_{0};
  // Set by a worker before it releases the row's word (release), read by the checkpointer behind its walk
  // (acquire).
  std::atomic<bool> lost_{false};
};

}  // namespace mneme
