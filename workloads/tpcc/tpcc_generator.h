// TPC-C's calls (clauses 2.4.1, 2.5.1, 2.6.1, 2.7.1, 2.8.1, 5.2.3).
//
// A worker serves the terminals of its own warehouses: worker k of n those numbered k+1, k+1+n, ...; where
// there are fewer warehouses than workers, several workers share one. Times rise by a millisecond a call.
// Terminals are many such workers: those of a warehouse have its districts in turn.
#pragma once

#include <cstdint>
#include <span>

#include "workloads/shared/call_builder.h"
#include "workloads/shared/mix.h"
#include "workloads/shared/workload.h"
#include "workloads/tpcc/tpcc_random.h"
#include "workloads/tpcc/tpcc_schema.h"

namespace mneme::tpcc {

// The specification's least shares (5.2.3); New-Order has the rest. In the order of Procedure.
std::span<const MixShare> default_mix();

class Generator : public CallGenerator {
 public:
  Generator(const Scale& scale, uint64_t seed, const Mix& mix, const StreamId& stream);

  const Call& call(uint64_t position) override;

 private:
  void new_order(Random& random, int64_t time);
  void payment(Random& random, int64_t time);
  void order_status(Random& random);
  void delivery(Random& random, int64_t time);
  void stock_level(Random& random);

  int64_t home_warehouse(Random& random) const;
  int64_t home_district() const;  // of a terminal
  int64_t other_warehouse(Random& random, int64_t home) const;
  int64_t customer(Random& random) const;
  // A customer's number and NULL, or (60%) NULL and a last name.
  void add_customer_choice(Random& random);

  const Scale scale_;
  const uint64_t seed_;
  const Mix mix_;
  const StreamId stream_;
  const NuRandConstants constants_;
  int64_t home_count_;  // warehouses that this worker serves
  CallBuilder call_;
};

}  // namespace mneme::tpcc
