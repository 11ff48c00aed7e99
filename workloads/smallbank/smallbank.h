// Smallbank as a Workload: population, and money, which no procedure makes or loses but by what its call
// says.
//
// Conserved   the sum of all balances, in hundredths. Among the procedures only deposit_checking,
//             transact_savings and write_check change it: by their amount, write_check by what it says that
//             it debited.
#pragma once

#include "workloads/shared/mix.h"
#include "workloads/shared/workload.h"
#include "workloads/smallbank/smallbank_schema.h"

namespace mneme::smallbank {

class Smallbank : public Workload {
 public:
  static Result<std::unique_ptr<Workload>> make(int64_t customers, const Hotspot& hotspot, uint64_t seed,
                                                std::string_view mix);

  std::string_view name() const override { return "smallbank"; }
  std::string_view sql() const override;
  uint32_t part_count() const override;
  void populate(uint32_t part, RowSink sink) const override;
  std::unique_ptr<CallGenerator> generator(const StreamId& stream) const override;
  std::vector<MixShare> mix() const override;
  BookRules book_rules() const override;
  int128 conserved_delta(const Call& call, std::span<const Argument> results) const override;
  std::vector<Check> check(const RowSource& rows, std::optional<int128> conserved) const override;

 private:
  Smallbank(int64_t customers, const Hotspot& hotspot, uint64_t seed, Mix mix);

  int128 initial_money() const;

  const int64_t customers_;
  const Hotspot hotspot_;
  const uint64_t seed_;
  const Mix mix_;
};

}  // namespace mneme::smallbank
