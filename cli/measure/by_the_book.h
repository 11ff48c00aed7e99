// BookReport: a run held against its specification: what it counts a minute, the mix, the response times, and
// what it says of the calls (workloads/shared/book_rules.h).
//
// Mix         the share of each procedure among the calls that ended, and the least that was asked for. A run
//             draws its calls: a share below that by more than three standard deviations of so many draws is
//             not met. Where the specification asks for a share exactly, four standard deviations in either
//             direction are not met: a run is held against more of them.
// Successes   as the shares, with a percentage point more: the rows that a run leaves change them.
// Choices     counted in calls that the first worker makes, which are drawn anew: a call follows from its
//             place.
// Source      TPC Benchmark C, revision 5.11, clauses 5.2.3, 5.2.5.3, 5.4; BookRules::source of the others.
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
    bool is_exact = false;     // more is not met either
    bool is_mix_met = true;
    double response_p90_seconds = 0;
    std::optional<double> longest_response_seconds =
        {};  // that 90 percent may take; nothing: there is no rule
    bool is_response_met = true;
  };
  // A share that the specification names, other than the mix.
  struct Share {
    std::string name;
    double percent = 0;
    double asked_percent = 0;
    uint64_t calls = 0;  // of which it is the share
    bool is_met = true;
  };
  std::vector<Part> parts;  // of the workload's mix; empty: it has none
  std::string_view source = {};
  std::vector<Share> shares = {};
  double per_second = 0;
  std::optional<double> most_per_second = {};  // that count in a database of this size
  // What the specification counts, as tpmC, a minute, and of the most that its terminals could have. Nothing:
  // it has no such measure.
  std::string measure;
  std::optional<double> per_minute;
  std::optional<double> share_of_most;

  bool is_load_met() const { return !most_per_second || per_second <= *most_per_second; }
  bool holds() const;
  Json json() const;
  // With `audits` also the mix and the response times, line by line.
  std::string text(bool audits) const;
};

// `terminals`: of each warehouse, from which the calls came; 0: none, and the throughput has no bound.
BookReport by_the_book(const Workload& workload, const Program& program,
                       const std::vector<ProcedureReport>& procedures, double seconds, uint32_t scale,
                       uint32_t terminals);
// Adds the choices to the report, from the first calls of a run's first worker.
void add_choices(BookReport& report, const Workload& workload, uint32_t workers, uint32_t incarnation);

}  // namespace mneme
