#include "workloads/shared/mix.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "base/check.h"

namespace mneme {
namespace {

std::string names_of_shares(std::span<const MixShare> shares) {
  std::vector<std::string_view> names;
  for (const MixShare& share : shares) names.push_back(share.procedure);
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<uint32_t> parse_percent(std::string_view entry, std::string_view text) {
  uint32_t percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error != std::errc{} || end != text.data() + text.size() || percent > 100) {
    return invalid_argument("the mix entry '{}' is not NAME=PERCENT with a whole percent from 0 to 100",
                            entry);
  }
  return percent;
}

}  // namespace

Result<Mix> Mix::parse(std::string_view text, std::span<const MixShare> shares) {
  std::vector<uint32_t> percents(shares.size(), 0);
  if (text == "default") {
    std::ranges::transform(shares, percents.begin(), &MixShare::percent);
    return Mix(std::move(percents));
  }

  std::vector<bool> named(shares.size(), false);
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string_view entry = text.substr(at, end - at);
    at = end + 1;
    const size_t equals = std::min(entry.find('='), entry.size());
    const auto share = std::ranges::find(shares, entry.substr(0, equals), &MixShare::procedure);
    if (share == shares.end()) {
      return invalid_argument("the mix entry '{}' names no procedure of this workload, which has {}", entry,
                              names_of_shares(shares));
    }
    const size_t procedure = static_cast<size_t>(share - shares.begin());
    if (named[procedure]) return invalid_argument("the mix names {} twice", share->procedure);
    named[procedure] = true;
    const Result<uint32_t> percent = parse_percent(entry, entry.substr(std::min(equals + 1, entry.size())));
    if (!percent.ok()) return percent.error();
    percents[procedure] = *percent;
  }
  const uint32_t sum = std::accumulate(percents.begin(), percents.end(), 0u);
  if (sum != 100) return invalid_argument("the percents of the mix '{}' add up to {}, not to 100", text, sum);
  return Mix(std::move(percents));
}

std::vector<MixShare> Mix::applied_to(std::span<const MixShare> shares) const {
  std::vector<MixShare> applied(shares.begin(), shares.end());
  for (size_t i = 0; i < applied.size(); ++i) applied[i].percent = percents_[i];
  return applied;
}

uint32_t Mix::pick(Random& random) const {
  auto ticket = static_cast<uint32_t>(random.uniform(0, 99));
  uint32_t procedure = 0;
  while (ticket >= percents_[procedure]) ticket -= percents_[procedure++];
  return procedure;
}

uint32_t Mix::pick_except(uint32_t procedure, Random& random) const {
  CHECK(percents_[procedure] < 100);
  auto ticket = static_cast<uint32_t>(random.uniform(0, 99 - percents_[procedure]));
  uint32_t picked = 0;
  while (picked == procedure || ticket >= percents_[picked]) {
    if (picked != procedure) ticket -= percents_[picked];
    ++picked;
  }
  return picked;
}

}  // namespace mneme
