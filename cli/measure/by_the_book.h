// BookReport: a run held against its specification: what it counts a minute, the mix, and the response times.
//
// Mix         the share of each procedure among the calls that ended, and the least that was asked for. A run
//             draws its calls: a share below that by more than three standard deviations of so many draws is
//             not met.
// Source      TPC Benchmark C, revision 5.11, clauses 5.2.3, 5.2.5.3, 5.4.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/measure/call_tally.h"
#include "cli/output/output.h"
#include "procedures/binder/program.h"
#include "workloads/shared/workload.h"

namespace mneme {

struct BookReport {
  struct Part {
    std::string procedure;
    double share_percent = 0;  // of the calls that ended
    double least_percent = 0;  // that its specification asks for, or else its mix
    bool is_mix_met = true;
    double response_p90_seconds = 0;
    std::optional<double> longest_response_seconds =
        {};  // that 90 percent may take; nothing: there is no rule
    bool is_response_met = true;
  };
  std::vector<Part> parts;  // of the workload's mix; empty: it has none
  // What the specification counts, as tpmC, a minute, and of the most that its terminals could have. Nothing:
  // it has no such measure.
  std::string measure;
  std::optional<double> per_minute;
  std::optional<double> share_of_most;

  bool holds() const;
  Json json() const;
  // With `audits` also the mix and the response times, line by line.
  std::string text(bool audits) const;
};

// `terminals`: of each warehouse, from which the calls came; 0: none, and the throughput has no bound.
BookReport by_the_book(const Workload& workload, const Program& program,
                       const std::vector<ProcedureReport>& procedures, double seconds, uint32_t scale,
                       uint32_t terminals);

}  // namespace mneme
