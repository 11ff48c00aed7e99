// Smallbank's calls: a procedure by the mix, customers by the hotspot, amounts of 1.00 to 100.00.
#pragma once

#include <cstdint>
#include <span>

#include "workloads/shared/call_builder.h"
#include "workloads/shared/mix.h"
#include "workloads/shared/workload.h"
#include "workloads/smallbank/smallbank_schema.h"

namespace mneme::smallbank {

// H-Store's shares, as the paper's five procedures did not include send_payment. In the order of Procedure.
std::span<const MixShare> default_mix();

class Generator : public CallGenerator {
 public:
  Generator(int64_t customers, const Hotspot& hotspot, uint64_t seed, const Mix& mix, const StreamId& stream);

  const Call& call(uint64_t position) override;

 private:
  // Two different customers, both in the hotspot or both outside of it; a procedure of one customer takes the
  // first.
  struct Pair {
    int64_t first;
    int64_t second;
  };
  Pair customers(Random& random) const;

  const int64_t customer_count_;
  const Hotspot hotspot_;
  const uint64_t seed_;
  const Mix mix_;
  const StreamId stream_;
  CallBuilder call_;
};

}  // namespace mneme::smallbank
