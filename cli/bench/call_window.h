// CallWindow: which calls of a bench count, and in which second.
// ClientTally: what one client's calls came to, of those that count.
//
// Rule        a call counts if it ends at the window's begin or after it, wherever it began or was due. No
//             call begins at the window's end or after; those that began before count until the last has
//             ended.
// Invariants  the calls of all seconds together are all commits that are counted.
// Units       nanoseconds of the monotonic clock, which the caller reads.
// Threads     a window is constant; a tally has one owner.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/measure/driver.h"

namespace mneme {

class CallWindow {
 public:
  // Without a duration it has no end.
  CallWindow(uint64_t start_ns, double warmup_seconds, std::optional<double> duration_seconds);

  bool may_begin(uint64_t now_ns) const { return now_ns < end_ns_; }
  bool counts(uint64_t now_ns) const { return now_ns >= begin_ns_; }
  // The second, from 0, of an end that counts.
  size_t second_of(uint64_t now_ns) const { return (now_ns - begin_ns_) / kSecondNs; }
  // Returns how long was measured, if the last call that counts ended at `last_end_ns`, 0 if none did, and
  // the clients stopped at `stopped_ns`: the window, up to where it was cut short, and the time in which late
  // calls ended.
  double seconds(uint64_t last_end_ns, uint64_t stopped_ns) const;

 private:
  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
  static constexpr uint64_t kSecondNs = 1'000'000'000;

  uint64_t begin_ns_;
  uint64_t end_ns_;
};

class ClientTally {
 public:
  ClientTally(const CallWindow& window, size_t procedures) : window_(&window), procedures_(procedures) {}

  // An attempt was refused for a conflict, and is made again.
  void conflicted(size_t procedure, uint64_t now_ns);
  void committed(size_t procedure, uint64_t begin_ns, uint64_t now_ns);
  // The procedure raised an error of this SQLSTATE, and was rolled back.
  void rolled_back(size_t procedure, const std::string& sqlstate, uint64_t now_ns);

  void merge(const ClientTally& other);

  const std::vector<ProcedureReport>& procedures() const { return procedures_; }
  const std::map<std::string, uint64_t>& rollbacks() const { return rollbacks_; }  // by SQLSTATE
  uint64_t last_end_ns() const { return last_end_ns_; }  // of a call that counts; 0: none has ended
  // Commits of each whole second of `seconds`.
  std::vector<double> per_second(double seconds) const;

 private:
  const CallWindow* window_;
  std::vector<ProcedureReport> procedures_;
  std::map<std::string, uint64_t> rollbacks_;
  std::vector<uint64_t> commits_by_second_;
  uint64_t last_end_ns_ = 0;
};

}  // namespace mneme
