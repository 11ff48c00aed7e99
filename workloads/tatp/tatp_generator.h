// TATP's calls: seven procedures, 80 percent of the calls reading, on subscribers chosen by NURand.
#pragma once

#include <cstdint>
#include <span>

#include "workloads/shared/call_builder.h"
#include "workloads/shared/mix.h"
#include "workloads/shared/workload.h"
#include "workloads/tatp/tatp_schema.h"

namespace mneme::tatp {

// In the order of Procedure.
std::span<const MixShare> default_mix();

class Generator : public CallGenerator {
 public:
  Generator(int64_t subscribers, uint64_t seed, const Mix& mix, const StreamId& stream);

  const Call& call(uint64_t position) override;

 private:
  int64_t subscriber(Random& random) const;

  const int64_t subscribers_;
  const int64_t nu_rand_a_;
  const uint64_t seed_;
  const Mix mix_;
  const StreamId stream_;
  CallBuilder call_;
  Arena scratch_;
};

}  // namespace mneme::tatp
