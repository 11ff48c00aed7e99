// TPC-B's calls: a teller, an account of the teller's branch or (15 percent, where there is another) of
// another branch, a delta [1.3].
//
// Skew        Zipfian, the teller's branch, the account's and the account in its branch alike: branch 1 and
//             each branch's first account are the most frequent. Skew 0 is the specification's uniform
//             choice.
#pragma once

#include <cstdint>
#include <span>

#include "workloads/shared/call_builder.h"
#include "workloads/shared/mix.h"
#include "workloads/shared/workload.h"
#include "workloads/shared/zipf.h"
#include "workloads/tpcb/tpcb_schema.h"

namespace mneme::tpcb {

// In the order of Procedure.
std::span<const MixShare> default_mix();

// How branches and accounts are chosen.
struct Choice {
  Choice(const Scale& scale, double skew);

  Zipf branches;
  Zipf other_branches;
  Zipf accounts;  // of a branch
};

class Generator : public CallGenerator {
 public:
  static constexpr size_t kDeltaArgument = 3;

  Generator(const Scale& scale, const Choice& choice, uint64_t seed, const StreamId& stream);

  const Call& call(uint64_t position) override;

 private:
  int64_t account(Random& random, int64_t home_branch) const;

  const Scale scale_;
  const uint64_t seed_;
  const StreamId stream_;
  const Choice choice_;
  CallBuilder call_;
};

}  // namespace mneme::tpcb
