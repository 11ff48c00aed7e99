// TPC-B, the standard specification's revision 2.0, as a Workload: tellers who add to and take from accounts.
//
// Conserved   the sum of all accounts' balances: a call changes it by its delta.
#pragma once

#include "workloads/shared/workload.h"
#include "workloads/tpcb/tpcb_generator.h"
#include "workloads/tpcb/tpcb_schema.h"

namespace mneme::tpcb {

class Tpcb : public Workload {
 public:
  // `skew` is the Zipfian theta by which branches and accounts are chosen, 0 for the specification's uniform
  // choice.
  static Result<std::unique_ptr<Workload>> make(const Scale& scale, double skew, uint64_t seed,
                                                std::string_view mix);

  std::string_view name() const override { return "tpcb"; }
  std::string_view sql() const override;
  uint32_t part_count() const override;
  void populate(uint32_t part, RowSink sink) const override;
  std::unique_ptr<CallGenerator> generator(const StreamId& stream) const override;
  std::vector<MixShare> mix() const override;
  BookRules book_rules() const override;
  std::optional<double> skew() const override { return skew_; }
  int128 conserved_delta(const Call& call, std::span<const Argument> results) const override;
  std::vector<Check> check(const RowSource& rows, std::optional<int128> conserved) const override;

 private:
  Tpcb(const Scale& scale, double skew, uint64_t seed);

  int64_t parts_per_branch() const;

  const Scale scale_;
  const double skew_;
  const Choice choice_;
  const uint64_t seed_;
};

}  // namespace mneme::tpcb
