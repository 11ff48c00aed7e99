// ClientTally: what one client's calls came to, of those that count (MeasuredWindow,
// cli/measure/call_tally.h).
//
// Invariants  the calls of all seconds together are all commits that are counted.
// Units       nanoseconds of the monotonic clock, which the caller reads.
// Threads     one owner.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/measure/call_tally.h"

namespace mneme {

class ClientTally {
 public:
  ClientTally(const MeasuredWindow& window, size_t procedures) : window_(&window), procedures_(procedures) {}

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
  const MeasuredWindow* window_;
  std::vector<ProcedureReport> procedures_;
  std::map<std::string, uint64_t> rollbacks_;
  std::vector<uint64_t> commits_by_second_;
  uint64_t last_end_ns_ = 0;
};

}  // namespace mneme
