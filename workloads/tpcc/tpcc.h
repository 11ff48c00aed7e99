// TPC-C, the standard specification's revision 5.11: what is here put together as a Workload.
#pragma once

#include "workloads/shared/mix.h"
#include "workloads/shared/workload.h"
#include "workloads/tpcc/tpcc_population.h"
#include "workloads/tpcc/tpcc_schema.h"

namespace mneme::tpcc {

class Tpcc : public Workload {
 public:
  static Result<std::unique_ptr<Workload>> make(const Scale& scale, uint64_t seed, std::string_view mix);

  std::string_view name() const override { return "tpcc"; }
  std::string_view sql() const override;
  uint32_t part_count() const override { return population_.part_count(); }
  void populate(uint32_t part, RowSink sink) const override { population_.populate(part, sink); }
  std::unique_ptr<CallGenerator> generator(const StreamId& stream) const override;
  std::vector<MixShare> mix() const override;
  const TerminalRules* terminal_rules() const override;
  int128 conserved_delta(const Call&, std::span<const Argument>) const override { return 0; }
  std::vector<Check> check(const RowSource& rows, std::optional<int128> conserved) const override;

 private:
  Tpcc(const Scale& scale, uint64_t seed, Mix mix);

  const Scale scale_;
  const uint64_t seed_;
  const Mix mix_;
  const Population population_;
};

}  // namespace mneme::tpcc
