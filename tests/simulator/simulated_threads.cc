#include "tests/simulator/simulated_threads.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "base/check.h"
#include "tests/simulator/real_calls.h"

namespace mneme::simulator {

namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kClockBegin = 1000 * kSecond;
constexpr uint64_t kRealTimeBegin = 1'700'000'000 * kSecond;
constexpr uint64_t kLongestStepNs = 200;
// One step in so many gives way to another thread, and one in so many is the begin of a longer stop.
constexpr uint64_t kGivesWay = 4;
constexpr uint64_t kStops = 4000;
constexpr uint64_t kLongestStop = 2000;  // steps
// No life that goes on takes so many.
constexpr uint64_t kMostSteps = 20'000'000;

struct Thread {
  enum class State : uint8_t { kReady, kWaiting, kEnded };

  sem_t turn;
  State state = State::kReady;
  const void* waits_for = nullptr;
  uint64_t until = kNever;
  bool is_late = false;  // what it waited for didn't come in time
  uint64_t stopped_to = 0;
  uint64_t machine = 0;
  uint64_t machine_of_children = 0;
  pthread_t handle{};
  void* (*entry)(void*) = nullptr;
  void* argument = nullptr;

  Thread() { sem_init(&turn, 0, 0); }
};

thread_local Thread* self = nullptr;

class Simulation {
 public:
  explicit Simulation(ThreadRules rules) : rules_(std::move(rules)), random_(rules_.seed) {}

  uint64_t draw(uint64_t below) { return random_() % below; }
  void crash_within(uint64_t most) { rules_.crash_at_step = steps_ + 1 + draw(most); }
  uint64_t now_ns() const { return now_ns_; }
  uint64_t steps() const { return steps_; }
  uint64_t stops() const { return stops_; }
  Thread* add() {
    threads_.push_back(std::make_unique<Thread>());
    if (self != nullptr)
      threads_.back()->machine = threads_.back()->machine_of_children = self->machine_of_children;
    ++counts_[threads_.back()->machine];
    return threads_.back().get();
  }
  Thread* find(pthread_t handle) {
    for (const auto& each : threads_) {
      if (each->entry != nullptr && pthread_equal(each->handle, handle) != 0) return each.get();
    }
    return nullptr;
  }
  bool has_ended() const {
    for (const auto& each : threads_) {
      if (each.get() != self && each->state != Thread::State::kEnded) return false;
    }
    return true;
  }

  // For calls that matter only to other threads, and are no step while the machine has none. The SQL parser
  // makes many.
  void step_among_others() {
    if (counts_[self->machine] > 1) step();
  }
  void step() {
    count_step();
    if (draw(kStops) == 0) {
      self->stopped_to = steps_ + draw(kLongestStop);
      ++stops_;
    }
    if (self->stopped_to > steps_ || paused_to(*self) != 0 || draw(kGivesWay) == 0) switch_over();
  }
  void give_way() {
    count_step();
    if (!others_are_ready()) pass_to_next_event();
    switch_over();
  }
  // False: the time is over.
  bool wait(const void* what, uint64_t until) {
    count_step();
    self->state = Thread::State::kWaiting;
    self->waits_for = what;
    self->until = until;
    self->is_late = false;
    switch_over();
    return !self->is_late;
  }
  void wake(const void* what, uint64_t most) {
    std::vector<Thread*> waiting;
    for (const auto& each : threads_) {
      if (each->state == Thread::State::kWaiting && each->waits_for == what) waiting.push_back(each.get());
    }
    for (; most > 0 && !waiting.empty(); --most) {
      const size_t chosen = draw(waiting.size());
      get_ready(*waiting[chosen]);
      waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
  }
  void pause_machine(uint64_t machine, uint64_t until) { paused_to_[machine] = until; }
  void stop_machine(uint64_t machine) {
    for (const auto& each : threads_) {
      if (each->machine != machine || each->state == Thread::State::kEnded) continue;
      each->state = Thread::State::kEnded;
      --counts_[machine];
    }
    if (self->machine == machine) switch_over();
  }
  void end_self() {
    self->state = Thread::State::kEnded;
    --counts_[self->machine];
    wake(self, kNever);
    Thread* next = choose();
    self = nullptr;
    sem_post(&next->turn);
  }

 private:
  static void get_ready(Thread& thread) {
    thread.state = Thread::State::kReady;
    thread.waits_for = nullptr;
    thread.until = kNever;
  }
  void count_step() {
    ++steps_;
    now_ns_ += draw(kLongestStepNs);
    if (steps_ == rules_.crash_at_step) rules_.crash();
    if (steps_ > kMostSteps) rules_.stuck(fmt::format("it goes on and on: {} steps", steps_));
    take_late();
  }
  void take_late() {
    for (const auto& each : threads_) {
      if (each->state != Thread::State::kWaiting || each->until > now_ns_) continue;
      get_ready(*each);
      each->is_late = true;
    }
  }
  uint64_t paused_to(const Thread& thread) const {
    const auto found = paused_to_.find(thread.machine);
    return found == paused_to_.end() || found->second <= now_ns_ ? 0 : found->second;
  }
  bool others_are_ready() const {
    for (const auto& each : threads_) {
      if (each.get() != self && each->state == Thread::State::kReady && paused_to(*each) == 0) return true;
    }
    return false;
  }
  // Returns false if no thread waits for a time.
  bool pass_to_next_event() {
    uint64_t next = kNever;
    for (const auto& each : threads_) {
      if (each->state == Thread::State::kWaiting) next = std::min(next, each->until);
      if (each->state == Thread::State::kReady && paused_to(*each) != 0)
        next = std::min(next, paused_to(*each));
    }
    if (next == kNever) return false;
    now_ns_ = std::max(now_ns_, next);
    take_late();
    return true;
  }
  Thread* choose() {
    for (;;) {
      std::vector<Thread*> ready;
      std::vector<Thread*> stopped;
      for (const auto& each : threads_) {
        if (each->state != Thread::State::kReady || paused_to(*each) != 0) continue;
        (each->stopped_to > steps_ ? stopped : ready).push_back(each.get());
      }
      // One that is stopped goes on at once where all the others wait for it.
      if (ready.empty()) ready.swap(stopped);
      if (!ready.empty()) return ready[draw(ready.size())];
      if (!pass_to_next_event()) rules_.stuck("all threads wait for one another");
    }
  }
  void switch_over() {
    Thread* next = choose();
    if (next == self) return;
    sem_post(&next->turn);
    while (sem_wait(&self->turn) != 0) {
    }
  }

  ThreadRules rules_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::map<uint64_t, uint64_t> paused_to_;  // by machine
  std::map<uint64_t, size_t> counts_;       // by machine: of threads that have not ended
  uint64_t now_ns_ = kClockBegin;
  uint64_t steps_ = 0;
  uint64_t stops_ = 0;
};

// Made once and left as it is: threads that have ended still look at it.
Simulation* simulation = nullptr;

void* run_thread(void* of) {
  self = static_cast<Thread*>(of);
  while (sem_wait(&self->turn) != 0) {
  }
  void* const result = self->entry(self->argument);
  simulation->end_self();
  return result;
}

uint64_t ns_of(const timespec& time) {
  return static_cast<uint64_t>(time.tv_sec) * kSecond + static_cast<uint64_t>(time.tv_nsec);
}
timespec time_of(uint64_t ns) {
  return {static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)};
}
uint64_t offset_of(clockid_t clock) {
  return clock == CLOCK_REALTIME ? kRealTimeBegin : 0;
}
bool is_virtual(clockid_t clock) {
  // The processor's time, too: a checkpointer paces itself by it.
  return clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME || clock == CLOCK_THREAD_CPUTIME_ID ||
         clock == CLOCK_PROCESS_CPUTIME_ID;
}

void lock(pthread_mutex_t* mutex) {
  while (REAL(pthread_mutex_trylock)(mutex) != 0) simulation->wait(mutex, kNever);
}
void unlock(pthread_mutex_t* mutex) {
  REAL(pthread_mutex_unlock)(mutex);
  simulation->wake(mutex, kNever);
}
int wait_for_signal(pthread_cond_t* condition, pthread_mutex_t* mutex, uint64_t until) {
  unlock(mutex);
  const bool in_time = simulation->wait(condition, until);
  lock(mutex);
  return in_time ? 0 : ETIMEDOUT;
}

long wait_for_futex(const uint32_t* word, uint32_t value, uint64_t until) {
  simulation->step();
  if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value) {
    errno = EAGAIN;
    return -1;
  }
  if (simulation->wait(word, until)) return 0;
  errno = ETIMEDOUT;
  return -1;
}

}  // namespace

void begin(ThreadRules rules) {
  CHECK(simulation == nullptr);
  simulation = new Simulation(std::move(rules));
  self = simulation->add();
}

void end() {
  CHECK(simulation->has_ended());
  self = nullptr;
}

bool is_simulated() {
  return self != nullptr;
}
void step() {
  simulation->step();
}
uint64_t steps() {
  return simulation->steps();
}
uint64_t stops() {
  return simulation->stops();
}
uint64_t draw(uint64_t below) {
  return simulation->draw(below);
}
void crash_within(uint64_t most) {
  simulation->crash_within(most);
}
void pass(uint64_t ns) {
  simulation->wait(self, simulation->now_ns() + ns);
}
uint64_t now_ns() {
  return simulation->now_ns();
}
bool wait_for(const void* what, uint64_t until_ns) {
  return simulation->wait(what, until_ns);
}
void wake_all(const void* what) {
  simulation->wake(what, kNever);
}
uint64_t machine() {
  return self->machine;
}
void start_threads_on(uint64_t machine) {
  self->machine_of_children = machine;
}
void pause_machine(uint64_t machine, uint64_t until_ns) {
  simulation->pause_machine(machine, until_ns);
}
void stop_machine(uint64_t machine) {
  simulation->stop_machine(machine);
}

}  // namespace mneme::simulator

// These take the place of the C library's calls.

using namespace mneme::simulator;

std::random_device::result_type std::random_device::_M_getval() {
  if (is_simulated()) return static_cast<result_type>(draw(uint64_t{1} << 32));
  result_type value = 0;
  REAL(syscall)(SYS_getrandom, &value, sizeof value, 0);
  return value;
}

extern "C" {

int pthread_create(pthread_t* handle, const pthread_attr_t* attributes, void* (*entry)(void*),
                   void* argument) {
  const auto create = REAL(pthread_create);
  if (!is_simulated()) return create(handle, attributes, entry, argument);
  Thread* const thread = simulation->add();
  thread->entry = entry;
  thread->argument = argument;
  const int failure = create(&thread->handle, attributes, run_thread, thread);
  CHECK(failure == 0);
  *handle = thread->handle;
  simulation->step();
  return 0;
}

int pthread_join(pthread_t handle, void** result) {
  if (is_simulated()) {
    simulation->step();
    Thread* const thread = simulation->find(handle);
    while (thread != nullptr && thread->state != Thread::State::kEnded) simulation->wait(thread, kNever);
    // The next one may get the same handle.
    if (thread != nullptr) thread->entry = nullptr;
  }
  return REAL(pthread_join)(handle, result);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  if (!is_simulated()) return REAL(pthread_mutex_lock)(mutex);
  simulation->step_among_others();
  lock(mutex);
  return 0;
}

int pthread_mutex_trylock(pthread_mutex_t* mutex) {
  if (is_simulated()) simulation->step_among_others();
  return REAL(pthread_mutex_trylock)(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  if (!is_simulated()) return REAL(pthread_mutex_unlock)(mutex);
  unlock(mutex);
  simulation->step_among_others();
  return 0;
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  if (!is_simulated()) return REAL(pthread_cond_wait)(condition, mutex);
  return wait_for_signal(condition, mutex, kNever);
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
  if (!is_simulated()) {
    return REAL(pthread_cond_timedwait)(condition, mutex, until);
  }
  return wait_for_signal(condition, mutex, ns_of(*until) - kRealTimeBegin);
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* until) {
  if (!is_simulated()) {
    return REAL(pthread_cond_clockwait)(condition, mutex, clock, until);
  }
  return wait_for_signal(condition, mutex, ns_of(*until) - offset_of(clock));
}

int pthread_cond_signal(pthread_cond_t* condition) {
  if (!is_simulated()) return REAL(pthread_cond_signal)(condition);
  simulation->wake(condition, 1);
  simulation->step_among_others();
  return 0;
}

int pthread_cond_broadcast(pthread_cond_t* condition) {
  if (!is_simulated()) return REAL(pthread_cond_broadcast)(condition);
  simulation->wake(condition, kNever);
  simulation->step_among_others();
  return 0;
}

int sched_yield() {
  if (!is_simulated()) return static_cast<int>(REAL(syscall)(SYS_sched_yield));
  simulation->give_way();
  return 0;
}

int clock_gettime(clockid_t clock, timespec* time) {
  if (!is_simulated() || !is_virtual(clock)) return REAL(clock_gettime)(clock, time);
  // A step, for some callers look at the clock until it is time.
  simulation->step();
  *time = time_of(simulation->now_ns() + offset_of(clock));
  return 0;
}

int nanosleep(const timespec* time, timespec* left) {
  if (!is_simulated()) return REAL(nanosleep)(time, left);
  pass(ns_of(*time));
  return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  if (!is_simulated()) return REAL(clock_nanosleep)(clock, flags, time, left);
  const bool is_absolute = (flags & TIMER_ABSTIME) != 0;
  simulation->wait(self, is_absolute ? ns_of(*time) - offset_of(clock) : simulation->now_ns() + ns_of(*time));
  return 0;
}

long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& each : a) each = va_arg(list, long);
  va_end(list);
  if (number != SYS_futex || !is_simulated()) {
    return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  }
  auto* word = reinterpret_cast<uint32_t*>(a[0]);
  const auto* time = reinterpret_cast<const timespec*>(a[3]);
  const int how = static_cast<int>(a[1]) & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
  switch (how) {
    case FUTEX_WAIT:
      return wait_for_futex(word, static_cast<uint32_t>(a[2]),
                            time == nullptr ? kNever : simulation->now_ns() + ns_of(*time));
    case FUTEX_WAIT_BITSET: {
      const bool is_real_time = (a[1] & FUTEX_CLOCK_REALTIME) != 0;
      return wait_for_futex(word, static_cast<uint32_t>(a[2]),
                            time == nullptr ? kNever : ns_of(*time) - (is_real_time ? kRealTimeBegin : 0));
    }
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
      simulation->wake(word, static_cast<uint64_t>(a[2]));
      simulation->step();
      return 0;
    default:
      CHECK(false && "a futex's operation that is not simulated");
      return -1;
  }
}

}  // extern "C"
