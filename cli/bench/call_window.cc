#include "cli/bench/call_window.h"

#include <algorithm>

namespace mneme {

CallWindow::CallWindow(uint64_t start_ns, double warmup_seconds, std::optional<double> duration_seconds)
    : begin_ns_(start_ns + static_cast<uint64_t>(warmup_seconds * 1e9)),
      end_ns_(duration_seconds ? begin_ns_ + static_cast<uint64_t>(*duration_seconds * 1e9) : kNever) {}

double CallWindow::seconds(uint64_t last_end_ns, uint64_t stopped_ns) const {
  uint64_t end_ns = std::min(stopped_ns, end_ns_);
  // Without an end the clients stop with their last call.
  if (end_ns_ != kNever) end_ns = std::max(end_ns, last_end_ns);
  return end_ns > begin_ns_ ? static_cast<double>(end_ns - begin_ns_) / 1e9 : 0;
}

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
