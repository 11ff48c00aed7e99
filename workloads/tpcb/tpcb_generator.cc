#include "workloads/tpcb/tpcb_generator.h"

#include <algorithm>
#include <array>

namespace mneme::tpcb {
namespace {

constexpr std::array<MixShare, 1> kTpcbMix = {{{"account_update", 100}}};

constexpr int kRemotePercent = 15;
constexpr int64_t kCallMicroseconds = 1'000;
constexpr int64_t kDayMicroseconds = int64_t{24} * 3600 * 1'000'000;
// 2020-01-01, in microseconds since 2000-01-01. Each incarnation begins a day later.
constexpr int64_t kFirstDay = 7305 * kDayMicroseconds;

}  // namespace

std::span<const MixShare> default_mix() {
  return kTpcbMix;
}

Choice::Choice(const Scale& scale, double skew)
    : branches(static_cast<uint64_t>(scale.branches), skew),
      other_branches(static_cast<uint64_t>(std::max<int64_t>(scale.branches - 1, 1)), skew),
      accounts(static_cast<uint64_t>(scale.accounts_per_branch), skew) {}

Generator::Generator(const Scale& scale, const Choice& choice, uint64_t seed, const StreamId& stream)
    : scale_(scale), seed_(seed), stream_(stream), choice_(choice) {}

int64_t Generator::account(Random& random, int64_t home_branch) const {
  int64_t branch = home_branch;
  if (scale_.branches > 1 && random.chance(kRemotePercent)) {
    branch = static_cast<int64_t>(choice_.other_branches.draw(random)) + 1;
    if (branch >= home_branch) ++branch;
  }
  return (branch - 1) * scale_.accounts_per_branch + static_cast<int64_t>(choice_.accounts.draw(random)) + 1;
}

const Call& Generator::call(uint64_t position) {
  Random random({seed_, /*purpose=*/0xca11, stream_.worker, stream_.incarnation, position});
  const int64_t branch = static_cast<int64_t>(choice_.branches.draw(random)) + 1;
  const int64_t teller = (branch - 1) * kTellersPerBranch + random.uniform(1, kTellersPerBranch);
  call_.start(id_of(Procedure::kAccountUpdate))
      .integer(account(random, branch))
      .integer(teller)
      .integer(branch);
  call_.integer(random.uniform(-kHighestDelta, kHighestDelta));
  call_.timestamp(kFirstDay + kDayMicroseconds * stream_.incarnation +
                  static_cast<int64_t>(position) * kCallMicroseconds);
  call_.results(1);
  return call_.call();
}

}  // namespace mneme::tpcb
