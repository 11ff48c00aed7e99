// SimulatedThreads: the process's threads, one at a time, in an order that a seed chooses, on a clock that
// they drive.
//
// Flow        begin() makes the caller a simulated thread, and so is each that such a one starts -> they run
//             until one of them waits, or is told to give way -> ... -> end(), or crash
// How         what C and C++ threads ask of the C library (threads, mutexes, condition variables, futexes,
//             pauses, clocks) is defined anew in simulated_threads.cc, which the program links: the engine's
//             code is as it is shipped. From a thread that is not simulated the calls go on to the library.
// Invariants  one simulated thread runs. What it does is a function of the seed and of the files that it
//             finds: the next thread is drawn, time passes by steps alone, and std::random_device draws from
//             the seed. (The processor's own counter of ticks goes on; the engine measures with it, and
//             decides nothing by it.)
// Machines    a thread belongs to one, 0 unless it was given another: all the threads of one can stand still
//             for a while, or for ever.
// Steps       each such call is one, and may be where another thread goes on; between two of them no other
//             thread runs. What may happen there is the business of the interleaving tests and of
//             ThreadSanitizer.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

namespace mneme::simulator {

struct ThreadRules {
  uint64_t seed = 1;
  // At this step the crash comes. Where it returns, the thread that it came to goes on. 0: never.
  uint64_t crash_at_step = 0;
  std::function<void()> crash{};
  // Called with a sentence if no thread can go on, or if going on leads nowhere. It must not return.
  std::function<void(const std::string&)> stuck{};
};

inline constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

void begin(ThreadRules rules);
// By the thread that began, when all others have ended.
void end();

bool is_simulated();
// For simulated threads:
void step();
uint64_t steps();
uint64_t stops();  // of a thread, for a while, while others went on
uint64_t draw(uint64_t below);
void pass(uint64_t ns);             // others may run meanwhile
void crash_within(uint64_t steps);  // of the next so many, at one that is drawn
uint64_t now_ns();
inline constexpr uint64_t kMillisecond = 1'000'000;
// Waits for wake_all(what); false: the time has come before.
bool wait_for(const void* what, uint64_t until_ns);
void wake_all(const void* what);

uint64_t machine();
// Those that the caller starts from now on, and those that they start.
void start_threads_on(uint64_t machine);
void pause_machine(uint64_t machine, uint64_t until_ns);
// For ever: what its threads held stays held. Doesn't return to one of them.
void stop_machine(uint64_t machine);

}  // namespace mneme::simulator
