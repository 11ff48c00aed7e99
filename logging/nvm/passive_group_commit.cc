#include "logging/nvm/passive_group_commit.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/check.h"
#include "base/clock.h"

namespace mneme {

namespace {

// How long the lowest dgsn may stand before stragglers are signalled; in looks of the daemon.
constexpr uint32_t kPatientLooks = 5;
// With nothing on its way the daemon looks as seldom.
constexpr std::chrono::milliseconds kIdlePeriod{1};

// How often this process was forked off another: a thread's id is another there. Any thread (relaxed: a
// thread forks for itself).
std::atomic<uint32_t> forks{0};

pid_t this_thread_id() {
  struct Known {
    uint32_t forks = ~uint32_t{0};
    pid_t id = 0;
  };
  static thread_local Known known;
  const uint32_t now = forks.load(std::memory_order_relaxed);
  if (known.forks != now) [[unlikely]]
    known = {now, static_cast<pid_t>(::syscall(SYS_gettid))};
  return known.id;
}

int straggler_signal() {
  return SIGRTMIN;
}

// 0, or why it was not sent.
int send_signal(pid_t thread, void* value) {
  siginfo_t info;
  std::memset(&info, 0, sizeof info);
  info.si_code = SI_QUEUE;
  info.si_signo = straggler_signal();
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  info.si_value.sival_ptr = value;
  return ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), thread, straggler_signal(), &info) == 0 ? 0 : errno;
}

bool has_ended(pid_t thread) {
  return ::syscall(SYS_tgkill, ::getpid(), thread, 0) != 0 && errno == ESRCH;
}

}  // namespace

PassiveGroupCommit::PassiveGroupCommit(PassiveGroupCommitOptions options)
    : options_(std::move(options)),
      counter_(options_.begin),
      slots_(std::make_unique<CachePadded<Slot>[]>(options_.appenders)),
      durable_(options_.begin.value) {
  for (uint32_t worker = 0; worker < options_.appenders; ++worker) {
    slots_[worker]->dgsn.store(clean(options_.begin.value), std::memory_order_relaxed);
    slots_[worker]->whose = this;
  }
  if (!options_.groups) return;
  install_handler();
  daemon_ = std::thread([this] { run(); });
}

PassiveGroupCommit::~PassiveGroupCommit() {
  if (!daemon_.joinable()) return;
  {
    const std::lock_guard guard(mutex_);
    closing_ = true;
  }
  hurry_.notify_all();
  daemon_.join();
  // A handler may still be about to write to its slot.
  for (uint32_t worker = 0; worker < options_.appenders; ++worker) await_signal(*slots_[worker]);
}

// Until the signal that is under way, if one is, has been handled, or can't be any more.
void PassiveGroupCommit::await_signal(Slot& slot) {
  while (slot.is_signalled.load(std::memory_order_seq_cst)) {
    if (has_ended(slot.signalled_thread.load(std::memory_order_relaxed))) {
      slot.is_signalled.store(false, std::memory_order_relaxed);
    } else {
      std::this_thread::yield();
    }
  }
}

// Another thread works for the slot from now on. What the last one left in its processor's buffers was
// drained when the worker was handed on, at the latest.
void PassiveGroupCommit::take_over(Slot& slot) const {
  slot.thread.store(this_thread_id(), std::memory_order_seq_cst);
  await_signal(slot);
  if (is_dirty(slot.dgsn.load(std::memory_order_relaxed))) be_drained(slot);
}

void PassiveGroupCommit::install_handler() {
  static const bool installed = [] {
    struct sigaction action;
    std::memset(&action, 0, sizeof action);
    action.sa_sigaction = [](int signal, siginfo_t* info, void* context) {
      handle_signal(signal, info, context);
    };
    action.sa_flags = SA_SIGINFO;
// ThreadSanitizer runs handlers between steps of the program: then a call that waits has to return.
#if !defined(__SANITIZE_THREAD__)
    action.sa_flags |= SA_RESTART;
#endif
    sigemptyset(&action.sa_mask);
    CHECK(::sigaction(straggler_signal(), &action, nullptr) == 0);
    CHECK(::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); }) == 0);
    return true;
  }();
  CHECK(installed);
}

// The order in which a record's steps are stored is what the handler rests on, which runs between any two of
// them: it takes a record for stored only where in_record says so last.
Lsn PassiveGroupCommit::draw(WorkerId worker) {
  Slot& slot = *slots_[worker.value];
  const uint64_t bound = counter_.bound().value;
  if (slot.thread.load(std::memory_order_relaxed) != this_thread_id()) [[unlikely]]
    take_over(slot);
  slot.bound.store(bound, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  slot.in_record.store(true, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // The word of a dirty worker bounds this record, too.
  if (!is_dirty(slot.dgsn.load(std::memory_order_relaxed)))
    slot.dgsn.store(dirty(bound), std::memory_order_release);
  return counter_.draw();
}

void PassiveGroupCommit::stored(WorkerId worker, PersistentMemory& memory, size_t at, size_t bytes) {
  if (!options_.hardens) return;
  Slot& slot = *slots_[worker.value];
  const uint32_t count = slot.undrained.load(std::memory_order_relaxed);
  if (count == kMostUndrained) return memory.drain(at, bytes);
  slot.stretches[count] = {&memory, at, bytes};
  slot.undrained.store(count + 1, std::memory_order_release);
}

void PassiveGroupCommit::settled(WorkerId worker, Lsn lsn, RecordKind kind) {
  Slot& slot = *slots_[worker.value];
  slot.stored_end.store(lsn.value + 1, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  slot.in_record.store(false, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // Only for a commit does a client wait. Without a daemon no thread would ask for the others.
  if (kind == RecordKind::kSkip && options_.groups) return;
  if (options_.hardens) PersistentMemory::fence();
  be_drained(slot);
}

void PassiveGroupCommit::drain(const Slot& slot) const {
  const uint32_t count = slot.undrained.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) {
    const Stretch& each = slot.stretches[i];
    each.memory->drain(each.at, each.bytes);
  }
}

// By the owner, or in its signal handler, outside of a record: all that it stored has left the processor's
// buffers. To do it twice is to do it once: the handler may run between any two steps of it.
void PassiveGroupCommit::be_drained(Slot& slot) const {
  drain(slot);
  slot.undrained.store(0, std::memory_order_relaxed);
  slot.dgsn.store(clean(slot.stored_end.load(std::memory_order_relaxed)), std::memory_order_release);
}

// In the thread that works for the slot, between any two of its instructions.
void PassiveGroupCommit::handle_signal(int, void* info, void*) {
  const int error_before = errno;
  auto& slot = *static_cast<Slot*>(static_cast<siginfo_t*>(info)->si_value.sival_ptr);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (slot.thread.load(std::memory_order_relaxed) == static_cast<pid_t>(::syscall(SYS_gettid)) &&
      is_dirty(slot.dgsn.load(std::memory_order_relaxed))) {
    if (!slot.in_record.load(std::memory_order_relaxed)) {
      slot.whose->be_drained(slot);
    } else {
      // All before the record that it is at.
      slot.whose->drain(slot);
      slot.dgsn.store(dirty(slot.bound.load(std::memory_order_relaxed)), std::memory_order_release);
    }
  }
  slot.is_signalled.store(false, std::memory_order_release);
  errno = error_before;
}

Lsn PassiveGroupCommit::durable() const {
  return options_.groups ? Lsn{durable_->load(std::memory_order_acquire)} : drawn();
}

bool PassiveGroupCommit::await(Lsn lsn) {
  if (lsn < durable()) return true;
  {
    const std::lock_guard guard(mutex_);
    is_hurried_ = true;
  }
  hurry_.notify_all();
  risen_.await([&] { return lsn < durable() || has_failed(); });
  return lsn < durable();
}

void PassiveGroupCommit::fail() {
  failed_.store(true, std::memory_order_release);
  risen_.notify_all();
}

PassiveGroupCommitCounters PassiveGroupCommit::counters() const {
  return {looks_.load(std::memory_order_relaxed), signals_.load(std::memory_order_relaxed)};
}

// The daemon.
void PassiveGroupCommit::run() {
  // The system lets a timer be late by tens of microseconds, unless it is asked not to.
  ::prctl(PR_SET_TIMERSLACK, 1UL);
  last_rise_ns_ = monotonic_ns();
  std::unique_lock guard(mutex_);
  while (!closing_) {
    is_hurried_ = false;
    guard.unlock();
    const bool is_behind = look();
    guard.lock();
    // A waiter makes the daemon look again at once, but the daemon may still have to wait for a worker.
    const std::chrono::microseconds rest = is_behind ? options_.period : kIdlePeriod;
    hurry_.wait_for(guard, rest, [this] { return is_hurried_ || closing_; });
  }
}

// Whether a worker is dirty, so that not all that was drawn is durable.
bool PassiveGroupCommit::look() {
  const uint64_t drawn_before = counter_.drawn().value;  // before the words
  uint64_t lowest = drawn_before;
  for (uint32_t worker = 0; worker < options_.appenders; ++worker) {
    const uint64_t word = slots_[worker]->dgsn.load(std::memory_order_acquire);
    if (is_dirty(word)) lowest = std::min(lowest, word / 2);
  }
  looks_.fetch_add(1, std::memory_order_relaxed);
  const uint64_t now = monotonic_ns();
  if (lowest > durable_->load(std::memory_order_relaxed) && !has_failed()) {
    if (options_.rises) options_.rises(Lsn{lowest});
    durable_->store(lowest, std::memory_order_release);
    risen_.notify_all();
    last_rise_ns_ = now;
  }
  if (lowest == drawn_before) {
    last_rise_ns_ = now;
    return false;
  }
  const std::chrono::nanoseconds patience = kPatientLooks * options_.period;
  if (now - last_rise_ns_ >= static_cast<uint64_t>(patience.count())) {
    signal_stragglers();
    last_rise_ns_ = now;
  }
  return true;
}

void PassiveGroupCommit::signal_stragglers() {
  for (uint32_t worker = 0; worker < options_.appenders; ++worker) {
    Slot& slot = *slots_[worker];
    if (!is_dirty(slot.dgsn.load(std::memory_order_acquire))) continue;
    if (slot.is_signalled.load(std::memory_order_acquire)) {
      if (!has_ended(slot.signalled_thread.load(std::memory_order_relaxed))) continue;
      slot.is_signalled.store(false, std::memory_order_relaxed);
    }
    // A thread that takes over after this waits for the end of it, or gets the signal itself.
    const pid_t thread = slot.thread.load(std::memory_order_seq_cst);
    slot.signalled_thread.store(thread, std::memory_order_relaxed);
    slot.is_signalled.store(true, std::memory_order_seq_cst);
    if (slot.thread.load(std::memory_order_seq_cst) != thread) {
      slot.is_signalled.store(false, std::memory_order_release);
      continue;
    }
    const int status = send_signal(thread, &slot);
    if (status == 0) {
      signals_.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    if (status == ESRCH) clean_for_ended(slot);  // else there are too many signals under way: later
    slot.is_signalled.store(false, std::memory_order_release);
  }
}

// Its thread has ended, outside of a record. The worker that takes over waits until this is done.
void PassiveGroupCommit::clean_for_ended(Slot& slot) const {
  if (!is_dirty(slot.dgsn.load(std::memory_order_acquire)) || slot.in_record.load(std::memory_order_relaxed))
    return;
  drain(slot);
  slot.dgsn.store(clean(slot.stored_end.load(std::memory_order_relaxed)), std::memory_order_release);
}

}  // namespace mneme
