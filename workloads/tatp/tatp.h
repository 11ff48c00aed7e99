// TATP (Telecom Application Transaction Processing benchmark, description 1.0) as a Workload: a mobile
// network's register of subscribers, mostly looked up, one row at a time.
//
// Success     by design about a quarter of the calls find no row, or one where they want to insert, and are
//             rolled back: the benchmark's report counts committed calls only, and so does ours.
// Conserved   the number of call forwarding rules: an insert adds one, a deletion takes one away.
#pragma once

#include "workloads/shared/mix.h"
#include "workloads/shared/random.h"
#include "workloads/shared/workload.h"
#include "workloads/tatp/tatp_schema.h"

namespace mneme::tatp {

class Tatp : public Workload {
 public:
  static Result<std::unique_ptr<Workload>> make(int64_t subscribers, uint64_t seed, std::string_view mix);

  std::string_view name() const override { return "tatp"; }
  std::string_view sql() const override;
  uint32_t part_count() const override;
  void populate(uint32_t part, RowSink sink) const override;
  std::unique_ptr<CallGenerator> generator(const StreamId& stream) const override;
  std::vector<MixShare> mix() const override;
  BookRules book_rules() const override;
  int128 conserved_delta(const Call& call, std::span<const Argument> results) const override;
  std::vector<Check> check(const RowSource& rows, std::optional<int128> conserved) const override;

 private:
  Tatp(int64_t subscribers, uint64_t seed, Mix mix);

  const int64_t subscribers_;
  const uint64_t seed_;
  const Mix mix_;
};

}  // namespace mneme::tatp
