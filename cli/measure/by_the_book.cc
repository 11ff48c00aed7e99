#include "cli/measure/by_the_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/output/text.h"

namespace mneme {
namespace {

constexpr double kDeviations = 3;

bool is_below_chance(double share_percent, double asked_percent, uint64_t calls) {
  if (calls == 0) return false;
  const double asked = asked_percent / 100;
  const double deviation = std::sqrt(asked * (1 - asked) / static_cast<double>(calls));
  return share_percent / 100 < asked - kDeviations * deviation;
}

}  // namespace

bool BookReport::holds() const {
  return std::ranges::all_of(parts, [](const Part& part) { return part.is_mix_met && part.is_response_met; });
}

Json BookReport::json() const {
  Json audit = Json::object();
  for (const Part& part : parts) {
    audit[part.procedure] = {
        {"share_percent", part.share_percent},
        {"least_percent", part.least_percent},
        {"mix_met", part.is_mix_met},
        {"response_p90_us", part.response_p90_seconds * 1e6},
        {"longest_response_us",
         part.longest_response_seconds ? Json(*part.longest_response_seconds * 1e6) : Json()},
        {"response_met", part.is_response_met}};
  }
  return {{"measure", measure.empty() ? Json() : Json(measure)},
          {"per_minute", per_minute ? Json(*per_minute) : Json()},
          {"share_of_most", share_of_most ? Json(*share_of_most) : Json()},
          {"audit", audit},
          {"audit_met", holds()}};
}

std::string BookReport::text(bool audits) const {
  std::string text;
  if (per_minute) {
    text = fmt::format("  {}: {:.1f}", measure, *per_minute);
    if (share_of_most)
      text += fmt::format(", {:.1f}% of the most that its terminals can have", *share_of_most * 100);
    text += "\n";
  }
  if (!audits) return text;
  for (const Part& part : parts) {
    text += fmt::format("  {}: {:.2f}% of the calls, {:.0f}% at least: {}", part.procedure,
                        part.share_percent, part.least_percent, part.is_mix_met ? "met" : "NOT MET");
    if (part.longest_response_seconds) {
      text +=
          fmt::format("; 90% within {}, {} allowed: {}", seconds_text(part.response_p90_seconds),
                      seconds_text(*part.longest_response_seconds), part.is_response_met ? "met" : "NOT MET");
    }
    text += "\n";
  }
  return text;
}

BookReport by_the_book(const Workload& workload, const Program& program,
                       const std::vector<ProcedureReport>& procedures, double seconds, uint32_t scale,
                       uint32_t terminals) {
  BookReport report;
  const TerminalRules* const rules = workload.terminal_rules();
  uint64_t calls = 0;
  for (const ProcedureReport& part : procedures) calls += part.committed + part.user_aborts;
  const std::vector<MixShare> mix = workload.mix();
  for (size_t i = 0; i < program.procedures.size(); ++i) {
    const auto asked = std::ranges::find(mix, program.procedures[i].name, &MixShare::procedure);
    if (asked == mix.end()) continue;
    const ProcedureReport& measured = procedures[i];
    BookReport::Part part{.procedure = program.procedures[i].name,
                          .least_percent = static_cast<double>(asked->percent)};
    if (calls > 0) {
      part.share_percent =
          100 * static_cast<double>(measured.committed + measured.user_aborts) / static_cast<double>(calls);
    }
    part.response_p90_seconds = static_cast<double>(measured.latency_ns.quantile(0.9)) / 1e9;
    if (rules != nullptr) {
      part.least_percent = rules->times[i].least_percent;
      part.longest_response_seconds = rules->times[i].longest_response_seconds;
      part.is_response_met = part.response_p90_seconds <= *part.longest_response_seconds;
    }
    part.is_mix_met = !is_below_chance(part.share_percent, part.least_percent, calls);
    report.parts.push_back(std::move(part));
  }
  if (rules != nullptr) {
    // Its name is the specification's, for what comes from its terminals.
    report.measure = terminals == rules->users ? std::string(rules->measure)
                                               : program.procedures[rules->counted.value].name + " a minute";
    report.per_minute =
        seconds > 0 ? 60 * static_cast<double>(procedures[rules->counted.value].committed) / seconds : 0;
    if (terminals > 0) {
      const double most = rules->most_per_minute * scale * terminals / rules->users;
      report.share_of_most = *report.per_minute / most;
    }
  }
  return report;
}

}  // namespace mneme
