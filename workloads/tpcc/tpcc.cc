#include "workloads/tpcc/tpcc.h"

#include "workloads/shared/embedded_sql.h"
#include "workloads/tpcc/tpcc_checks.h"
#include "workloads/tpcc/tpcc_generator.h"

namespace mneme::tpcc {

Result<std::unique_ptr<Workload>> Tpcc::make(const Scale& scale, uint64_t seed, std::string_view mix) {
  Result<Mix> parsed = Mix::parse(mix, default_mix());
  if (!parsed.ok()) return parsed.error();
  return std::unique_ptr<Workload>(new Tpcc(scale, seed, *parsed));
}

Tpcc::Tpcc(const Scale& scale, uint64_t seed, Mix mix)
    : scale_(scale), seed_(seed), mix_(std::move(mix)), population_(scale, seed) {}

std::string_view Tpcc::sql() const {
  return embedded_sql("tpcc");
}

std::unique_ptr<CallGenerator> Tpcc::generator(const StreamId& stream) const {
  return std::make_unique<Generator>(scale_, seed_, mix_, stream);
}

std::vector<MixShare> Tpcc::mix() const {
  return mix_.applied_to(default_mix());
}

const TerminalRules* Tpcc::terminal_rules() const {
  // Keying, thinking, the response time of 90 percent (5.2.5.7) and the least share (5.2.3), in the order of
  // Procedure.
  static const TerminalRules rules{
      .times = {{18, 12, 5, 0}, {3, 12, 5, 43}, {2, 10, 5, 4}, {2, 5, 5, 4}, {2, 5, 20, 4}},
      .counted = id_of(Procedure::kNewOrder),
      .measure = "tpmC",
      .source = "TPC Benchmark C, revision 5.11, clauses 5.2.3 and 5.2.5",
      .users = 10,
      .most_per_minute = 12.86,
  };
  return &rules;
}

std::vector<Check> Tpcc::check(const RowSource& rows, std::optional<int128>) const {
  return check_conditions(rows, scale_);
}

}  // namespace mneme::tpcc
