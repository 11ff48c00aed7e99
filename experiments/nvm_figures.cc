// Scalable Logging through Emerging Non-Volatile Memory (VLDB'14), Figures 4 to 8.
#include "experiments/catalog.h"

namespace mneme {
namespace nvm {

using enum FigureClaim::Relation;

constexpr const char* kPaper = "NVM distributed logging, VLDB'14";

const std::string kStreams = " --log-buffer distributed --streams 2 --log-device nvm --group-commit ";
const std::string kPages = " --log physical --partition page";

const std::string kScaled =
    "Emulated persistent memory on one socket, two streams in place of four sockets' logs, runs of 0.7 "
    "seconds in place of five of 30. "
    "`TX` gives a transaction's records to its worker's stream, `PG` to its pages', which takes logs of "
    "rows; `D` is a durable cache, `V` "
    "passive group commit; 1.2 us is what a record takes longer. ";

std::vector<FigureSeries> sides(const std::vector<std::pair<std::string, std::string>>& wanted,
                                const std::string& run) {
  std::vector<FigureSeries> series;
  for (const auto& [name, options] : wanted) {
    series.push_back({.name = name, .command = run + options, .value = "throughput_tps"});
  }
  return series;
}

const std::vector<std::pair<std::string, std::string>> kDurableCache = {
    {"baseline", " --log-buffer mutex"},
    {"Aether", " --log-buffer hybrid"},
    {"TX-D", kStreams + "durable-cache --device-latency 0"},
    {"TX-D, 1.2 us", kStreams + "durable-cache"},
    {"PG-D", kStreams + "durable-cache --device-latency 0" + kPages}};

FigurePanel panel(const std::string& name, const std::string& title, const std::string& workload,
                  const std::vector<std::pair<std::string, std::string>>& wanted,
                  const std::string& threads = "1..4cores") {
  return {.name = name,
          .title = title,
          .chart = Chart::kLines,
          .x = "threads",
          .xs = {threads},
          .unit = "transactions/s",
          .series = sides(wanted, "run " + workload + " --duration $seconds --threads $x")};
}

Figure figure_4() {
  const std::string few =
      "On two cores of one socket one log, behind a mutex, is not contended, and there is no remote memory "
      "to avoid.";
  return {.name = "nvm-figure-4",
          .paper = kPaper,
          .title = "Distributed against centralized logging, workloads that write",
          .paper_says = {"TATP: TX-D is 1.6 to 3.2 times as fast as Aether, PG-D 1.3 to 2.7 times; TPC-B and "
                         "TPC-C alike. 1.2 us cost up to 15%."},
          .scaled = kScaled,
          .panels = {panel("tatp", "TATP UpdateLocation", "tatp --mix update_location=100", kDurableCache),
                     panel("tpcb", "TPC-B", "tpcb --scale 2", kDurableCache),
                     panel("tpcc", "TPC-C Payment", "tpcc --warehouses $W --mix payment=100", kDurableCache)},
          .claims = {{.says = "TX-D is 1.6 times as fast as Aether, TATP",
                      .panel = "tatp",
                      .left = {"TX-D", "$last"},
                      .relation = kAbove,
                      .times = 1.6,
                      .right = {"Aether", "$last"},
                      .reason = few},
                     {.says = "TX-D is at least as fast as PG-D, TATP",
                      .panel = "tatp",
                      .left = {"TX-D", "$last"},
                      .relation = kAbove,
                      .right = {"PG-D", "$last"}},
                     {.says = "1.2 us cost less than 15%, TPC-C",
                      .panel = "tpcc",
                      .left = {"TX-D, 1.2 us", "$last"},
                      .relation = kAbove,
                      .times = 0.85,
                      .right = {"TX-D", "$last"},
                      .reason = "A transaction is short here, so that 1.2 us are a larger part of it."}}};
}

Figure breakdown(const std::string& number, const std::string& title, const std::string& says) {
  return {
      .name = "nvm-figure-" + number,
      .paper = kPaper,
      .title = title,
      .paper_says = {says},
      .not_here =
          "It splits processor time into logging, locking and other work by a profile of stack traces "
          "(perf), which this program "
          "doesn't take of itself. docs/performance.md has such profiles, with the commands that made them."};
}

Figure figure_6() {
  std::vector<std::pair<std::string, std::string>> wanted = {kDurableCache[0], kDurableCache[1],
                                                             kDurableCache[2], kDurableCache[4]};
  return {.name = "nvm-figure-6",
          .paper = kPaper,
          .title = "Distributed against centralized logging, whole benchmarks",
          .paper_says = {"TATP: Aether scales almost as well as distributed logs, slightly below; the "
                         "baseline does not scale. TPC-C: beyond 16 "
                         "threads only distributed logs scale."},
          .scaled = kScaled,
          .panels = {panel("tatp", "TATP", "tatp", wanted),
                     panel("tpcc", "TPC-C", "tpcc --warehouses $W", wanted)},
          .claims = {{.says = "TX-D is at least as fast as Aether, TATP",
                      .panel = "tatp",
                      .left = {"TX-D", "$last"},
                      .relation = kAbove,
                      .right = {"Aether", "$last"},
                      .reason = "Two cores of one socket have no contended log."}}};
}

Figure figure_8() {
  const std::vector<std::pair<std::string, std::string>> wanted = {
      {"TX-D", kStreams + "durable-cache --device-latency 0"},
      {"TX-V", kStreams + "passive --device-latency 0"},
      {"TX-V, 1.2 us", kStreams + "passive"},
      {"PG-V", kStreams + "passive --device-latency 0" + kPages}};
  return {
      .name = "nvm-figure-8",
      .paper = kPaper,
      .title = "Passive group commit",
      .paper_says = {"Passive group commit costs TX-V 4 to 10% against durable caches; PG-V more, up to 50% "
                     "beyond 32 cores, by the memory of one "
                     "node. Fewer than one commit in 20,000 takes a signal."},
      .scaled = kScaled,
      .panels = {panel("tatp", "TATP UpdateLocation", "tatp --mix update_location=100", wanted, "1..cores"),
                 panel("tpcb", "TPC-B", "tpcb --scale 2", wanted, "1..cores")},
      .claims = {{.says = "passive group commit costs no more than 10%, TATP, one thread a core",
                  .panel = "tatp",
                  .left = {"TX-V", "$last"},
                  .relation = kAbove,
                  .times = 0.9,
                  .right = {"TX-D", "$last"},
                  .reason = "The daemon wants a core as well, and with a worker on each there is none left."},
                 {.says = "TX-V is at least as fast as PG-V, TATP",
                  .panel = "tatp",
                  .left = {"TX-V", "$last"},
                  .relation = kAbove,
                  .right = {"PG-V", "$last"}}},
      .in_tour = true};
}

}  // namespace nvm

std::vector<Figure> nvm_figures() {
  using namespace nvm;
  return {figure_4(),
          breakdown("5", "Where time goes, workloads that write",
                    "Logging stays small; other contention grows for TPC-B and TPC-C."),
          figure_6(),
          breakdown("7", "Where time goes with passive group commit",
                    "From 32 to 44 threads other work grows by about 4%; logging does not."),
          figure_8()};
}

}  // namespace mneme
