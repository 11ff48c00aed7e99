// SharedState: what a scenario's processes, one after the other, tell its parent and one another, in memory
// that outlives them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "logging/record/lsn.h"
#include "tests/simulator/scenario.h"
#include "tests/simulator/simulated_life.h"

namespace mneme::simulator {

// A call as its client knows it.
struct SharedCall {
  static constexpr size_t kMostBytes = 120;

  // In this order. Its client's thread writes it, with release, once what belongs to it is there; the
  // processes that judge read it, with acquire, when that client's has ended.
  enum class State : uint8_t {
    kNone,
    kSent,
    kHasRun,  // its client has not been told of it
    kAnswered,
  };
  enum class Ending : uint8_t { kLogged, kReadOnly, kRolledBack, kGaveUp };
  // For a call that was never answered: whether the log of a former examination had it.
  enum class Fate : uint8_t { kOpen, kFound, kGone };

  std::atomic<State> state{State::kNone};
  Ending ending = Ending::kLogged;  // of one that has run
  Fate fate = Fate::kOpen;
  // of its record; of one that left none, the youngest of those that it depends on
  Lsn lsn;
  uint8_t payload_bytes = 0;
  uint8_t result_bytes = 0;
  std::byte payload[kMostBytes];
  std::byte results[kMostBytes];
};

// A log as an examination found it: so many records, and a hash of them.
struct FoundLog {
  uint64_t records = 0;
  uint64_t hash = 0;
};

struct Shared {
  LifeCounts counts;
  bool has_opened = false;
  bool has_closed = false;
  // The part of the log that has to stay. `cached` has to stay as well once the next life has opened the log,
  // because the engine died and no power was lost.
  FoundLog settled;
  FoundLog cached;
  bool has_cached = false;
  uint64_t found = 0;  // all its records
  char fault[2000] = {};
  SharedCall calls[1];  // of all lives and workers

  void tell(const std::string& sentence);
};

std::span<SharedCall> calls_of(Shared& shared, const Scenario& scenario, uint64_t life, uint64_t worker);

class SharedMemory {
 public:
  explicit SharedMemory(const Scenario& scenario);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  Shared& get() { return *shared_; }

 private:
  const size_t bytes_;
  Shared* shared_;
};

// Where a scenario's files lie.
struct Folders {
  explicit Folders(const std::string& folder)
      : disk(folder + "/disk"),
        trash(folder + "/trash"),
        data(disk + "/data"),
        archive(disk + "/archive"),
        servers(folder + "/servers") {}
  const std::string disk;
  const std::string trash;
  const std::string data;
  const std::string archive;
  const std::string servers;
};

}  // namespace mneme::simulator
