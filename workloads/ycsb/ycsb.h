// YCSB's core workloads A to F as a Workload: records of ten fields, read, updated, inserted and scanned by
// key.
//
// Conserved   the number of records: an insert adds one.
#pragma once

#include <string>

#include "workloads/shared/workload.h"
#include "workloads/ycsb/ycsb_generator.h"
#include "workloads/ycsb/ycsb_schema.h"

namespace mneme::ycsb {

class Ycsb : public Workload {
 public:
  static Result<std::unique_ptr<Workload>> make(const Options& options, const SharedWorkloadOptions& shared);
  // `mix` default: the core workload's.
  static Result<std::unique_ptr<Workload>> make(const Settings& settings, uint64_t seed,
                                                std::string_view mix);

  std::string_view name() const override { return "ycsb"; }
  // With the settings' length of fields.
  std::string_view sql() const override { return sql_; }
  uint32_t part_count() const override;
  void populate(uint32_t part, RowSink sink) const override;
  std::unique_ptr<CallGenerator> generator(const StreamId& stream) const override;
  std::vector<MixShare> mix() const override;
  BookRules book_rules() const override;
  std::optional<double> skew() const override { return settings_.skew; }
  int128 conserved_delta(const Call& call, std::span<const Argument> results) const override;
  std::vector<Check> check(const RowSource& rows, std::optional<int128> conserved) const override;

 private:
  Ycsb(const Settings& settings, uint64_t seed, Mix mix);

  const Settings settings_;
  const uint64_t seed_;
  const Mix mix_;
  const Zipf ranks_;
  const std::string sql_;
};

}  // namespace mneme::ycsb
