// Mix: how often each procedure of a workload is called, in percent.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "workloads/shared/random.h"

namespace mneme {

struct MixShare {
  std::string_view procedure;
  uint32_t percent;
};

class Mix {
 public:
  // `text` is "default", or NAME=PCT,...: every name one of `shares`, each at most once, percents adding up
  // to 100. A procedure that is not named is not called.
  static Result<Mix> parse(std::string_view text, std::span<const MixShare> shares);

  // The number, counted in the order of `shares`, of the procedure to call.
  uint32_t pick(Random& random) const;
  // As pick(), among all but one; at least one of them has a share.
  uint32_t pick_except(uint32_t procedure, Random& random) const;

  uint32_t percent(uint32_t procedure) const { return percents_[procedure]; }
  // `shares`, of which the mix was parsed, with this mix's percents.
  std::vector<MixShare> applied_to(std::span<const MixShare> shares) const;

 private:
  explicit Mix(std::vector<uint32_t> percents) : percents_(std::move(percents)) {}

  std::vector<uint32_t> percents_;  // adding up to 100
};

}  // namespace mneme
