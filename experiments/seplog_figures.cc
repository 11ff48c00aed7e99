// SepLog: a log apart from the engine, in another machine's memory: Figures 3 to 7, Tables 1 and 2.
#include "experiments/catalog.h"

namespace mneme {
namespace seplog {

using enum FigureClaim::Relation;

constexpr const char* kPaper = "SepLog";

const std::string kRemote = " --log-device remote --log-server $server";
const std::string kMajority = " --log-device remote --log-server $servers";
const std::string kScaled =
    "Log servers are processes on this machine (`mneme logd`), so that their work comes out of the same "
    "cores and the network is loopback; "
    "MySQL's part is this engine on a file. The slow disk is a file of whose flushes none takes less than 1 "
    "ms. A client is a worker that "
    "waits for each commit. ";

std::vector<FigureSeries> sides(const std::string& run, const std::string& value) {
  return {{.name = "disk", .command = run, .value = value},
          {.name = "disk, 1 ms", .command = run + " --device-latency 1ms", .value = value},
          {.name = "SepLog", .command = run + kRemote, .value = value},
          {.name = "SepLog, 2 of 3", .command = run + kMajority, .value = value}};
}

std::string smallbank(const std::string& mix, const std::string& options) {
  return "run smallbank --hotspot-percent 0 --commit sync --duration $seconds --mix " + mix +
         "=100 --threads $x" + options;
}

FigurePanel over_clients(const std::string& name, const std::string& title, const std::string& run,
                         const std::string& value, const std::string& unit) {
  return {.name = name,
          .title = title,
          .chart = Chart::kLines,
          .x = "clients",
          .xs = {"1", "2", "4", "8"},
          .unit = unit,
          .log_y = true,
          .series = sides(run, value)};
}

const std::string kSameMachine =
    "The disk here flushes into a virtual machine's host in a fraction of the paper's time, and a log server "
    "shares two cores with the engine.";

Figure figure_3() {
  return {
      .name = "seplog-figure-3",
      .paper = kPaper,
      .title = "The log alone: throughput",
      .paper_says = {"With one client the disk has more throughput, with two and more SepLog has; both fall "
                     "with the number of clients, by the "
                     "mutex."},
      .scaled = kScaled + "Commits of one small write each, a mutex in front of the log.",
      .panels = {over_clients("throughput", "Commits", smallbank("deposit_checking", " --log-buffer mutex"),
                              "throughput_tps", "commits/s")},
      .claims = {{.says = "with one client the disk is faster",
                  .panel = "throughput",
                  .left = {"disk", "1"},
                  .relation = kAbove,
                  .right = {"SepLog", "1"},
                  .reason = "A round trip over loopback takes less than this disk's flush."},
                 {.says = "with 8 clients SepLog is",
                  .panel = "throughput",
                  .left = {"SepLog", "8"},
                  .relation = kAbove,
                  .right = {"disk", "8"},
                  .reason = kSameMachine}},
      .in_tour = true};
}

Figure figure_4() {
  return {
      .name = "seplog-figure-4",
      .paper = kPaper,
      .title = "The log alone: latency",
      .paper_says = {"As figure 3: with two and more clients SepLog answers sooner."},
      .scaled = kScaled + "The runs of figure 3.",
      .panels = {over_clients("latency", "Median latency of a commit",
                              smallbank("deposit_checking", " --log-buffer mutex"), "latency_us.p50", "us")},
      .claims = {{.says = "with 8 clients SepLog answers sooner",
                  .panel = "latency",
                  .left = {"SepLog", "8"},
                  .relation = kBelow,
                  .right = {"disk", "8"},
                  .reason = kSameMachine}},
      .in_tour = true};
}

Figure figure_5() {
  return {.name = "seplog-figure-5",
          .paper = kPaper,
          .title = "The commit test",
          .paper_says = {"SepLog is always faster, 1.1 to 2 times, and varies much less."},
          .scaled = kScaled + "Deposits, of one written row each.",
          .panels = {over_clients("throughput", "Commits", smallbank("deposit_checking", ""),
                                  "throughput_tps", "commits/s")},
          .claims = {{.says = "SepLog is faster, with any number of clients",
                      .panel = "throughput",
                      .left = {"SepLog", "*"},
                      .relation = kAbove,
                      .right = {"disk", "*"},
                      .reason = kSameMachine},
                     {.says = "and than a disk of 1 ms",
                      .panel = "throughput",
                      .left = {"SepLog", "*"},
                      .relation = kAbove,
                      .right = {"disk, 1 ms", "*"},
                      .reason = kSameMachine}},
          .in_tour = true};
}

Figure figure_6() {
  return {.name = "seplog-figure-6",
          .paper = kPaper,
          .title = "The small transaction test",
          .paper_says =
              {"SepLog is up to 12 times as fast, and its throughput grows with the number of clients."},
          .scaled = kScaled + "Amalgamations, of three written rows each.",
          .panels = {over_clients("throughput", "Transactions", smallbank("amalgamate", ""), "throughput_tps",
                                  "transactions/s")},
          .claims = {{.says = "SepLog is faster, with any number of clients",
                      .panel = "throughput",
                      .left = {"SepLog", "*"},
                      .relation = kAbove,
                      .right = {"disk", "*"},
                      .reason = kSameMachine},
                     {.says = "its throughput grows with the clients",
                      .panel = "throughput",
                      .left = {"SepLog", "$last"},
                      .relation = kAbove,
                      .right = {"SepLog", "$first"}}}};
}

Figure figure_7() {
  return {.name = "seplog-figure-7",
          .paper = kPaper,
          .title = "Latency of both tests",
          .paper_says = {"SepLog answers sooner in both; in the commit test the disk can compete, with small "
                         "transactions it is 100 times slower."},
          .scaled = kScaled + "The runs of figures 5 and 6.",
          .panels = {over_clients("commit", "Commit test, median latency", smallbank("deposit_checking", ""),
                                  "latency_us.p50", "us"),
                     over_clients("small", "Small transactions, median latency", smallbank("amalgamate", ""),
                                  "latency_us.p50", "us")},
          .claims = {{.says = "SepLog answers sooner, commit test",
                      .panel = "commit",
                      .left = {"SepLog", "*"},
                      .relation = kBelow,
                      .right = {"disk", "*"},
                      .reason = kSameMachine},
                     {.says = "100 times sooner than a disk, small transactions",
                      .panel = "small",
                      .left = {"disk, 1 ms", "*"},
                      .relation = kAbove,
                      .times = 100,
                      .right = {"SepLog", "*"},
                      .reason = "Commits of several workers share a flush here, so that no disk is a hundred "
                                "round trips slow."}}};
}

// Warehouses beside terminals, as the paper's tables have them: its scales 2, 6, 12 beside our 1, 2, 4.
Figure table(const std::string& number, const std::string& title, const std::vector<std::string>& says,
             bool latency, const std::vector<PaperValue>& paper) {
  const auto run = [](const std::string& terminals) {
    return "run tpcc --commit sync --duration $seconds --threads " + terminals + " --warehouses $x";
  };
  std::vector<FigureSeries> series;
  for (const std::string terminals : {"2", "6"}) {
    for (const auto& [name, disk] :
         {std::pair{" terminals", ""}, std::pair{" terminals, disk of 1 ms", " --device-latency 1ms"}}) {
      const std::string on_disk = run(terminals) + disk, remote = run(terminals) + kRemote;
      series.push_back({.name = terminals + name,
                        .command = latency ? on_disk : remote,
                        .value = latency ? "latency_us.p50" : "throughput_tps",
                        .against = latency ? remote : on_disk});
    }
  }
  return {.name = "seplog-table-" + number,
          .paper = kPaper,
          .title = title,
          .paper_says = says,
          .scaled = kScaled + "1, 2 and 4 warehouses beside the paper's scales 2, 6 and 12.",
          .panels = {{.name = "improvement",
                      .title = title,
                      .x = "warehouses",
                      .xs = {"1", "2", "4"},
                      .unit = "times",
                      .series = series,
                      .paper = paper}},
          .claims = {{.says = "SepLog is better, 2 terminals",
                      .panel = "improvement",
                      .left = {"2 terminals", "*"},
                      .relation = kAbove,
                      .times = 1,
                      .reason = kSameMachine},
                     {.says = "and against a disk of 1 ms",
                      .panel = "improvement",
                      .left = {"2 terminals, disk of 1 ms", "*"},
                      .relation = kAbove,
                      .times = 1,
                      .reason = kSameMachine}}};
}

}  // namespace seplog

std::vector<Figure> seplog_figures() {
  using namespace seplog;
  return {figure_3(),
          figure_4(),
          figure_5(),
          figure_6(),
          figure_7(),
          table("1", "TPC-C: throughput, SepLog against a disk",
                {"With two terminals 5.4, 4.2 and 4.5 times at scales 2, 6 and 12; with six 2.1, 1.4 and 1.3 "
                 "times."},
                false,
                {{"2 terminals", "scale 2", 5.382},
                 {"2 terminals", "scale 6", 4.234},
                 {"2 terminals", "scale 12", 4.463},
                 {"6 terminals", "scale 2", 2.146},
                 {"6 terminals", "scale 6", 1.368},
                 {"6 terminals", "scale 12", 1.262}}),
          table("2", "TPC-C: median latency, a disk against SepLog",
                {"With two terminals 14.5, 14.0 and 11.0 times at scales 2, 6 and 12; with six 2.5 and 2.3 "
                 "times at scales 6 and 12."},
                true,
                {{"2 terminals", "scale 2", 14.4897641},
                 {"2 terminals", "scale 6", 14.0033568},
                 {"2 terminals", "scale 12", 10.9591736},
                 {"6 terminals", "scale 6", 2.52732689},
                 {"6 terminals", "scale 12", 2.25611341}})};
}

}  // namespace mneme
