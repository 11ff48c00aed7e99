// PassiveGroupCommit: the CommitHorizon of streams in persistent memory behind volatile caches: each worker
// fences its own commits, a daemon finds out below which number all workers have, and that is durable.
//
// Flow        worker: draw() sets its dirty bit -> streaming stores into its stream's ring -> settled(): of a
//             commit, a fence, then the dirty bit is cleared, and its dgsn is the record's GSN -> the
//             transaction waits in the worker's queue (ack_queue.h) daemon: every period the lowest dgsn over
//             all workers -> durable() -> the workers tell their clients a straggler, which stays dirty: a
//             signal, by which its stores are drained, and its handler says so
// Why         a fence drains the write-combining buffers of the processor that executes it, and no other's. A
//             transaction may depend upon records that other workers have stored into other streams, or have
//             yet to store, since rows are unlocked before their record is written; a crash that takes such a
//             record leaves a hole in the commit sequence, which ends the log. So nothing is acknowledged
//             before all lower numbers are fenced, by any worker. With that switched off (`groups`), or the
//             fence (`hardens`), a crash test must find losses.
// dgsn        one word a worker: 2 * GSN + dirty bit. All that the worker has written with lower GSNs is
//             durable; while the bit is not set, all that it has written. Written by its owner alone, in
//             program order or in its signal handler, and read by the daemon: no atomic read-modify-write
//             (section 4.1). There is one exception, a worker whose thread has ended: its stores are drained,
//             and the daemon clears its bit, while a thread that takes the worker's place waits.
// Soundness   of what the daemon finds. It loads the counter, then the words. A word with the bit bounds its
//             worker: what it drew is at or above the GSN there (sequence_counter.h). A clean one bounds
//             nothing: all it drew below that counter is fenced, and what it will draw is above. The paper's
//             daemon takes the dgsn of a clean thread, too, whose next record could get a low GSN by its
//             Lamport clock; ours come from one sequence, so a worker that has nothing to log delays no
//             other, and needs no signal.
// Stragglers  a record that is no commit, the skip record of a transaction that failed its validation, is
//             stored without a fence, and the worker stays dirty until its next commit; it may read for long
//             until then, or wait. And a thread may be taken off its processor while it is dirty. Once the
//             lowest dgsn has stood for a while, the daemon signals all threads that are dirty. To take the
//             interrupt, and to switch threads, drains a processor's write-combining buffers (section 4.1),
//             so all that the thread had stored is durable when its handler runs: it clears the bit; in the
//             middle of a record it moves the dgsn up to that. The signal is a queued real-time one, for one
//             thread, with its word's address: sent again only once it has been handled, and the destructor
//             waits for those that are under way. A system call that it interrupts is restarted, or its
//             caller repeats it. (`membarrier` would drain the processors of all threads in one call, and
//             leave it to the daemon to say so for others; the paper signals, and so a word has one writer.)
// Undo        the paper keeps a private undo buffer in DRAM, as its log is write-only, and rollback reads it
//             (section 3.1). Here rollback needs nothing of the log: a transaction keeps its changes to
//             itself until it has been validated, so its write set, in DRAM, is all that it takes back, and
//             it writes one record, when it commits (engine/transaction/transaction.h). Recovery is redo
//             alone. So there is no such buffer; only destaging reads the log.
// Threads     as CommitHorizon says; a daemon of its own. A worker is handed to another thread by a mutex, or
//             by a thread's end: their locked instructions drain the buffers, too.
// Waiting     await(), for the daemon. settled() does not wait.
// Source      Wang, Johnson: "Scalable Logging through Emerging Non-Volatile Memory" (VLDB'14), sections 3.1
//             and 4.1, Figure 3.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "base/cache_line.h"
#include "base/event_count.h"
#include "logging/commit/commit_horizon.h"
#include "logging/commit/sequence_counter.h"
#include "logging/commit/stream_options.h"
#include "logging/nvm/nvm_ring_buffer.h"

namespace mneme {

// Between two looks of the daemon.
inline constexpr std::chrono::microseconds kPassivePeriod{100};

struct PassiveGroupCommitOptions {
  Lsn begin = kFirstLsn;
  uint32_t appenders = 1;
  std::chrono::microseconds period = kPassivePeriod;
  bool hardens = true;  // false: the fence is left out; a crash test must fail on it
  // false: a worker that has fenced its own record takes it for durable, without a daemon; likewise
  bool groups = true;
  // Told by the daemon of each rise of durable(), before anybody else.
  std::function<void(Lsn)> rises{};
};

class PassiveGroupCommit final : public CommitHorizon, public StoreObserver {
 public:
  explicit PassiveGroupCommit(PassiveGroupCommitOptions options);
  ~PassiveGroupCommit() override;

  Lsn draw(WorkerId worker) override;
  void stored(WorkerId worker, PersistentMemory& memory, size_t at, size_t bytes) override;
  void settled(WorkerId worker, Lsn lsn, RecordKind kind) override;

  Lsn drawn() const override { return counter_.drawn(); }
  Lsn durable() const override;
  bool await(Lsn lsn) override;
  void fail() override;
  bool has_failed() const override { return failed_.load(std::memory_order_acquire); }

  PassiveGroupCommitCounters counters() const;

 private:
  struct Stretch {
    PersistentMemory* memory = nullptr;
    size_t at = 0;
    size_t bytes = 0;
  };
  // For a volatile cache only. Stretches beyond this number are drained as they come.
  static constexpr uint32_t kMostUndrained = 64;

  // A worker's. Written by its owner and the owner's signal handler, where nothing else is said: the same
  // thread, so that signal fences order them.
  struct Slot {
    // 2 * GSN + dirty bit. Release: the fence before it; read by the daemon (acquire).
    std::atomic<uint64_t> dgsn{0};
    // The worker's thread. The thread writes it before it reads is_signalled; the daemon writes is_signalled
    // and then reads it. All four are sequentially consistent. So either the daemon sees the new thread, or
    // the new thread sees that the daemon is at work, and waits.
    std::atomic<pid_t> thread{0};
    // Whether a record is drawn and not all of it stored; what it drew, or less. Relaxed: for the thread
    // itself.
    std::atomic<bool> in_record{false};
    std::atomic<uint64_t> bound{0};
    std::atomic<uint64_t> stored_end{0};  // the GSN behind the last record that is stored
    // How many of its stretches an emulated volatile cache holds. Release: the stretches below the count are
    // written; the daemon reads it (acquire).
    std::atomic<uint32_t> undrained{0};
    std::array<Stretch, kMostUndrained> stretches{};
    // Set by the daemon before it sends a signal, cleared by the handler when it is done (release; acquire),
    // by the daemon where it could not be sent, or by the thread that finds its receiver ended.
    std::atomic<bool> is_signalled{false};
    std::atomic<pid_t> signalled_thread{0};  // written by the daemon before is_signalled
    const PassiveGroupCommit* whose = nullptr;
  };

  static constexpr uint64_t clean(uint64_t gsn) { return 2 * gsn; }
  static constexpr uint64_t dirty(uint64_t gsn) { return 2 * gsn + 1; }
  static constexpr bool is_dirty(uint64_t word) { return (word & 1) != 0; }

  static void handle_signal(int signal, void* info, void* context);
  static void install_handler();
  void take_over(Slot& slot) const;
  static void await_signal(Slot& slot);
  void drain(const Slot& slot) const;
  void be_drained(Slot& slot) const;
  void run();
  bool look();
  void signal_stragglers();
  void clean_for_ended(Slot& slot) const;

  const PassiveGroupCommitOptions options_;
  SequenceCounter counter_;
  const std::unique_ptr<CachePadded<Slot>[]> slots_;

  // Written by the daemon (release: the records below are durable before anybody hears of it); read by all
  // (acquire).
  CachePadded<std::atomic<uint64_t>> durable_;
  std::atomic<bool> failed_{false};  // written by fail() (release), read by waiters (acquire)
  EventCount risen_;                 // durable_ or failed_ changed
  // Counts, by the daemon; relaxed: they order nothing.
  std::atomic<uint64_t> looks_{0};
  std::atomic<uint64_t> signals_{0};

  // The daemon's.
  uint64_t last_rise_ns_ = 0;

  std::mutex mutex_;  // guards the two below
  std::condition_variable hurry_;
  bool is_hurried_ = false;
  bool closing_ = false;

  std::thread daemon_;
};

}  // namespace mneme
