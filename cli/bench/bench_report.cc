#include "cli/bench/bench_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>

#include "cli/output/text.h"
#include "measurement/statistics/bootstrap.h"

namespace mneme {
namespace {

// With fewer the bootstrap knows too little of the noise.
constexpr size_t kTellingRounds = 10;

std::vector<double> throughputs_of(const TargetReport& target) {
  std::vector<double> rates;
  for (const RoundReport& round : target.rounds) rates.push_back(round.throughput());
  std::ranges::sort(rates);
  return rates;
}

Json procedures_json(const BenchReport& report, const RoundReport& round) {
  Json procedures = Json::object();
  for (size_t i = 0; i < round.procedures.size(); ++i) {
    const ProcedureReport& part = round.procedures[i];
    procedures[report.procedures[i]] = {{"committed", part.committed},
                                        {"aborted", part.aborted},
                                        {"user_aborts", part.user_aborts},
                                        {"latency_us", latency_json(part.latency_ns)}};
  }
  return procedures;
}

Json round_json(const BenchReport& report, const RoundReport& round) {
  const ProcedureReport total = round.total();
  return {{"seconds", round.seconds},
          {"warmup", round.warm_up.json()},
          {"committed", total.committed},
          {"aborted", total.aborted},
          {"user_aborts", total.user_aborts},
          {"user_aborts_by_sqlstate", round.rollbacks},
          {"throughput_tps", round.throughput()},
          {"throughput_per_second", round.throughput_per_second},
          {"by_procedure", procedures_json(report, round)},
          {"latency_us", latency_json(total.latency_ns)}};
}

Json target_json(const BenchReport& report, const TargetReport& target) {
  Json settings = Json::object();
  for (const auto& [name, value] : target.settings) settings[name] = value;
  Json result = {{"target", target.target.shown},
                 {"server_version", target.server.version},
                 {"server",
                  {{"host", target.server.host},
                   {"port", target.server.port},
                   {"database", target.server.database},
                   {"user", target.server.user},
                   {"on_this_machine", target.server.is_local}}},
                 {"server_settings", settings},
                 {"load_seconds", target.load_seconds ? Json(*target.load_seconds) : Json()}};
  result.update(round_json(report, target.all_rounds()));
  result["throughput_tps"] = target.median_throughput();
  const std::optional<MedianInterval> interval = median_interval(throughputs_of(target));
  result["throughput_interval"] = interval ? Json{interval->low, interval->high} : Json();
  Json rounds = Json::array();
  for (const RoundReport& round : target.rounds) rounds.push_back(round_json(report, round));
  result["rounds"] = rounds;
  if (target.book) result["by_the_book"] = target.book->json();
  if (target.checks) {
    Json checks = Json::array();
    for (const Check& check : *target.checks)
      checks.push_back({{"name", check.name}, {"ok", check.ok}, {"detail", check.detail}});
    result["checks"] = checks;
  }
  if (!target.tables.empty()) {
    Json tables = Json::object();
    for (const TableState& state : target.tables)
      tables[state.table] = {{"rows", state.digest.rows()}, {"digest", state.digest.digest().to_string()}};
    result["tables"] = tables;
  }
  return result;
}

}  // namespace

RoundReport TargetReport::all_rounds() const {
  RoundReport all;
  for (const RoundReport& round : rounds) {
    all.seconds += round.seconds;
    all.conserved += round.conserved;
    all.procedures.resize(round.procedures.size());
    for (size_t i = 0; i < round.procedures.size(); ++i) all.procedures[i].add(round.procedures[i]);
    for (const auto& [sqlstate, count] : round.rollbacks) all.rollbacks[sqlstate] += count;
    all.throughput_per_second.insert(all.throughput_per_second.end(), round.throughput_per_second.begin(),
                                     round.throughput_per_second.end());
  }
  return all;
}

double TargetReport::median_throughput() const {
  const std::vector<double> rates = throughputs_of(*this);
  if (rates.empty()) return 0;
  const size_t middle = rates.size() / 2;
  return rates.size() % 2 == 1 ? rates[middle] : (rates[middle - 1] + rates[middle]) / 2;
}

std::vector<std::string> BenchReport::broken() const {
  std::vector<std::string> broken;
  for (const TargetReport& target : targets) {
    if (!target.checks) continue;
    for (const Check& check : *target.checks) {
      if (!check.ok)
        broken.push_back(fmt::format("{}: {}: {}", target.target.shown, check.name, check.detail));
    }
  }
  return broken;
}

Json BenchReport::json() const {
  Json result = {{"command", "bench"},
                 {"workload", workload},
                 {scale_field, scale},
                 {"seed", seed},
                 {"clients", options.clients},
                 {"client_cores", std::max(1u, std::thread::hardware_concurrency())},
                 {"loop", options.rate ? "open" : "closed"},
                 {"rate", options.rate ? Json(*options.rate) : Json()},
                 {"isolation", options.isolation.empty() ? "default" : options.isolation},
                 {"partial", is_partial}};
  Json all = Json::array();
  for (const TargetReport& target : targets) all.push_back(target_json(*this, target));
  if (all.size() == 1) result.update(all[0]);
  result["targets"] = all;
  if (compares_tables && !is_partial) {
    Json differing = Json::array();
    for (const TableComparison& each : differences) {
      differing.push_back({{"table", each.table},
                           {"target", targets[each.target].target.shown},
                           {"first_difference", each.detail}});
    }
    result["comparison"] = {{"equal", differences.empty()}, {"differences", differing}};
  }
  return result;
}

std::string BenchReport::text() const {
  std::string text;
  for (const TargetReport& target : targets) {
    const RoundReport all = target.all_rounds();
    const std::vector<double> rates = throughputs_of(target);
    text += fmt::format("{}: {} transactions/s over {:.1f} s by {}, server {}\n", workload,
                        thousands(static_cast<uint64_t>(target.median_throughput())), all.seconds,
                        counted(options.clients, "client"), target.server.version);
    text += fmt::format("  {}\n", target.target.shown);
    if (rates.size() > 1) {
      text += fmt::format("  the median of {}, of {} to {}\n", counted(rates.size(), "round"),
                          thousands(static_cast<uint64_t>(rates.front())),
                          thousands(static_cast<uint64_t>(rates.back())));
    }
    if (const std::optional<MedianInterval> interval = median_interval(rates)) {
      text += fmt::format("  95% interval of the median: {} to {}{}\n",
                          thousands(static_cast<uint64_t>(interval->low)),
                          thousands(static_cast<uint64_t>(interval->high)),
                          rates.size() < kTellingRounds ? ", too narrow with so few rounds" : "");
    }
    std::vector<std::vector<std::string>> rows = {
        {"procedure", "committed", "aborted", "rolled back", "p50", "p95", "p99", "p99.9", "max"}};
    const auto row = [&](const std::string& name, const ProcedureReport& part) {
      const auto quantile = [&](double q) {
        return seconds_text(static_cast<double>(part.latency_ns.quantile(q)) / 1e9);
      };
      rows.push_back({name, thousands(part.committed), thousands(part.aborted), thousands(part.user_aborts),
                      quantile(0.5), quantile(0.95), quantile(0.99), quantile(0.999), quantile(1)});
    };
    for (size_t i = 0; i < all.procedures.size(); ++i) row(procedures[i], all.procedures[i]);
    row("all", all.total());
    text += table_text(rows);
    for (const RoundReport& round : target.rounds) text += round.warm_up.text();
    if (target.book) text += target.book->text(audits);
    if (target.checks) {
      for (const Check& check : *target.checks)
        text += fmt::format("  {} {}: {}\n", check.ok ? "holds:" : "BROKEN:", check.name, check.detail);
    }
  }
  if (!compares_tables || is_partial) return text;
  if (differences.empty()) {
    text += fmt::format("the tables of {} are equal, row by row\n", counted(targets.size(), "target"));
  }
  for (const TableComparison& each : differences) {
    text += fmt::format("the table {} of {} (the first) and {} (the second) differs: {}\n", each.table,
                        targets[0].target.shown, targets[each.target].target.shown, each.detail);
  }
  return text;
}

}  // namespace mneme
