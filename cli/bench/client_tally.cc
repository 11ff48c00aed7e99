#include "cli/bench/client_tally.h"

#include <algorithm>

namespace mneme {

void ClientTally::conflicted(size_t procedure, uint64_t now_ns) {
  if (window_->counts(now_ns)) ++procedures_[procedure].aborted;
}

void ClientTally::committed(size_t procedure, uint64_t begin_ns, uint64_t now_ns) {
  if (!window_->counts(now_ns)) return;
  last_end_ns_ = now_ns;
  ++procedures_[procedure].committed;
  procedures_[procedure].latency_ns.record(now_ns - begin_ns);
  const size_t second = window_->second_of(now_ns);
  if (second >= commits_by_second_.size()) commits_by_second_.resize(second + 1);
  ++commits_by_second_[second];
}

void ClientTally::rolled_back(size_t procedure, const std::string& sqlstate, uint64_t now_ns) {
  if (!window_->counts(now_ns)) return;
  last_end_ns_ = now_ns;
  ++procedures_[procedure].user_aborts;
  ++rollbacks_[sqlstate];
}

void ClientTally::merge(const ClientTally& other) {
  for (size_t i = 0; i < procedures_.size(); ++i) procedures_[i].add(other.procedures_[i]);
  for (const auto& [sqlstate, count] : other.rollbacks_) rollbacks_[sqlstate] += count;
  commits_by_second_.resize(std::max(commits_by_second_.size(), other.commits_by_second_.size()));
  for (size_t i = 0; i < other.commits_by_second_.size(); ++i)
    commits_by_second_[i] += other.commits_by_second_[i];
  last_end_ns_ = std::max(last_end_ns_, other.last_end_ns_);
}

std::vector<double> ClientTally::per_second(double seconds) const {
  std::vector<double> rates(static_cast<size_t>(seconds));
  for (size_t i = 0; i < std::min(rates.size(), commits_by_second_.size()); ++i)
    rates[i] = static_cast<double>(commits_by_second_[i]);
  return rates;
}

}  // namespace mneme
