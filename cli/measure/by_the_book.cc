#include "cli/measure/by_the_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "cli/output/text.h"

namespace mneme {
namespace {

constexpr double kDeviations = 3;
constexpr double kExactDeviations = 4;
constexpr double kSuccessTolerancePercent = 1;
constexpr uint64_t kAuditedCalls = 100'000;

bool is_below_chance(double share_percent, double asked_percent, uint64_t calls) {
  if (calls == 0) return false;
  const double asked = asked_percent / 100;
  const double deviation = std::sqrt(asked * (1 - asked) / static_cast<double>(calls));
  return share_percent / 100 < asked - kDeviations * deviation;
}

bool is_by_chance(double share_percent, double asked_percent, uint64_t calls, double tolerance_percent = 0) {
  if (calls == 0) return true;
  const double asked = asked_percent / 100;
  const double deviation = std::sqrt(asked * (1 - asked) / static_cast<double>(calls));
  return std::abs(share_percent - asked_percent) <=
         100 * kExactDeviations * deviation + tolerance_percent + 1e-9;
}

BookReport::Share share_of(std::string name, uint64_t count, uint64_t calls, double asked_percent,
                           double tolerance_percent) {
  BookReport::Share share{std::move(name), 0, asked_percent, calls};
  if (calls > 0) share.percent = 100 * static_cast<double>(count) / static_cast<double>(calls);
  share.is_met = is_by_chance(share.percent, asked_percent, calls, tolerance_percent);
  return share;
}

Json share_json(const BookReport::Share& share) {
  return {{"percent", share.percent},
          {"asked_percent", share.asked_percent},
          {"calls", share.calls},
          {"met", share.is_met}};
}

const char* met(bool is_met) {
  return is_met ? "met" : "NOT MET";
}

}  // namespace

bool BookReport::holds() const {
  return std::ranges::all_of(parts,
                             [](const Part& part) { return part.is_mix_met && part.is_response_met; }) &&
         std::ranges::all_of(shares, &Share::is_met) && is_load_met();
}

Json BookReport::json() const {
  Json audit = Json::object();
  for (const Part& part : parts) {
    audit[part.procedure] = {
        {"share_percent", part.share_percent},
        {"least_percent", part.least_percent},
        {"exact", part.is_exact},
        {"mix_met", part.is_mix_met},
        {"response_p90_us", part.response_p90_seconds * 1e6},
        {"longest_response_us",
         part.longest_response_seconds ? Json(*part.longest_response_seconds * 1e6) : Json()},
        {"response_met", part.is_response_met}};
  }
  Json others = Json::object();
  for (const Share& share : shares) others[share.name] = share_json(share);
  return {{"source", source.empty() ? Json() : Json(source)},
          {"measure", measure.empty() ? Json() : Json(measure)},
          {"per_minute", per_minute ? Json(*per_minute) : Json()},
          {"share_of_most", share_of_most ? Json(*share_of_most) : Json()},
          {"audit", audit},
          {"shares", others},
          {"measured_per_second", per_second},
          {"most_per_second", most_per_second ? Json(*most_per_second) : Json()},
          {"load_met", is_load_met()},
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
  if (!source.empty()) text += fmt::format("  by the book, {}:\n", source);
  for (const Part& part : parts) {
    text += fmt::format("  {}: {:.2f}% of the calls", part.procedure, part.share_percent);
    if (part.is_exact || part.least_percent > 0) {
      text += fmt::format(", {:.0f}%{}: {}", part.least_percent, part.is_exact ? " asked for" : " at least",
                          met(part.is_mix_met));
    }
    if (part.longest_response_seconds) {
      text += fmt::format("; 90% within {}, {} allowed: {}", seconds_text(part.response_p90_seconds),
                          seconds_text(*part.longest_response_seconds), met(part.is_response_met));
    }
    text += "\n";
  }
  for (const Share& share : shares) {
    text += fmt::format("  {}: {:.2f}% of {}, {:.2f}% asked for: {}\n", share.name, share.percent,
                        counted(share.calls, "call"), share.asked_percent, met(share.is_met));
  }
  if (most_per_second) {
    text += fmt::format("  {:.0f} transactions/s, {:.0f} at most in a database of this size: {}\n",
                        per_second, *most_per_second, met(is_load_met()));
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
  const BookRules book = workload.book_rules();
  const std::vector<MixShare> mix = book.mix.empty() ? workload.mix() : book.mix;
  report.source = book.source;
  report.most_per_second = book.most_per_second;
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
    if (book.longest_response_seconds) {
      part.longest_response_seconds = book.longest_response_seconds;
      part.is_response_met = part.response_p90_seconds <= *part.longest_response_seconds;
    }
    part.is_exact = !book.mix.empty();
    part.is_mix_met = part.is_exact ? is_by_chance(part.share_percent, part.least_percent, calls)
                                    : !is_below_chance(part.share_percent, part.least_percent, calls);
    report.parts.push_back(std::move(part));
  }
  uint64_t committed = 0;
  for (size_t i = 0; i < program.procedures.size(); ++i) {
    const ProcedureReport& measured = procedures[i];
    committed += measured.committed;
    const std::string& name = program.procedures[i].name;
    const auto asked = std::ranges::find(book.successes, name, &BookRules::Success::procedure);
    if (asked == book.successes.end()) continue;
    report.shares.push_back(share_of("success of " + name, measured.committed,
                                     measured.committed + measured.user_aborts, asked->percent,
                                     kSuccessTolerancePercent));
  }
  if (seconds > 0) report.per_second = static_cast<double>(committed) / seconds;
  if (rules != nullptr) {
    if (report.source.empty()) report.source = rules->source;
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

void add_choices(BookReport& report, const Workload& workload, uint32_t workers, uint32_t incarnation) {
  struct Count {
    uint64_t calls = 0;
    uint64_t have = 0;
  };
  const BookRules book = workload.book_rules();
  std::vector<Count> counts(book.choices.size());
  const std::unique_ptr<CallGenerator> generator = workload.generator({0, workers, incarnation});
  for (uint64_t position = 0; position < kAuditedCalls && !counts.empty(); ++position) {
    const Call& call = generator->call(position);
    for (size_t i = 0; i < counts.size(); ++i) {
      const std::optional<bool> has = book.choices[i].has(call);
      counts[i].calls += has ? 1 : 0;
      counts[i].have += has.value_or(false) ? 1 : 0;
    }
  }
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i].calls == 0) continue;
    report.shares.push_back(
        share_of(book.choices[i].name, counts[i].have, counts[i].calls, book.choices[i].percent, 0));
  }
}

}  // namespace mneme
