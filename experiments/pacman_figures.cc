// PACMAN: Fast Failure Recovery for Main-Memory DBMSs on Multicores (SIGMOD'17), Figures 11 to 20 and Tables
// 1 to 3.
#include "experiments/catalog.h"

namespace mneme {
namespace pacman {

using enum FigureClaim::Relation;

constexpr const char* kPaper = "PACMAN, SIGMOD'17";

const std::string kTpcc = "run tpcc --warehouses $W --threads $cores";
const std::vector<std::string> kQuantiles = {"p50", "p95", "p99", "p999", "max"};
const std::vector<std::string> kManyCores = {"1", "2", "4", "8", "16", "40"};
const std::string kSimulated = "simulation.schedules.$index.makespan_seconds";
const std::string kReplayed = "log_load_seconds + replay_seconds + index_build_seconds";

const std::string kFewCores =
    "The paper replays on 40 cores. Here real threads go as far as the machine's cores; beyond, `recover "
    "--simulate-cores` lays the "
    "measured steps out on as many as it is asked for (docs/replay.md). ";

Figure figure_11() {
  const std::string off = kTpcc + " --duration $long --log off";
  const auto logged = [](const std::string& log) {
    return kTpcc + " --duration $long --checkpoint-every $every --log " + log;
  };
  const auto series = [&](const std::string& value) {
    return std::vector<FigureSeries>{{.name = "OFF", .command = off, .value = value},
                                     {.name = "PL", .command = logged("physical"), .value = value},
                                     {.name = "LL", .command = logged("logical"), .value = value},
                                     {.name = "CL", .command = logged("command"), .value = value}};
  };
  return {
      .name = "pacman-figure-11",
      .paper = kPaper,
      .title = "Throughput and latency while transactions are processed",
      .paper_says =
          {"Without logging TPC-C runs at about 95,000 transactions a second. With one SSD, logging rows "
           "takes 25% of that while "
           "checkpoints are written and 20% else; logging calls takes less than 6%, checkpoints included.",
           "The latency of logging rows is at least twice that of logging calls, with spikes beyond 300 ms."},
      .scaled =
          "2 warehouses in place of 200, all cores as workers in place of 32, 9 seconds in place of ten "
          "minutes, a checkpoint every 3 "
          "seconds in place of 200; new rows are inserted, which the paper left out. One disk, of which the "
          "page cache hides more than of "
          "the paper's SSD: figures of two disks are left out. OFF has no checkpoints.",
      .panels = {{.name = "over time",
                  .title = "Throughput, second by second, checkpoints shaded",
                  .chart = Chart::kTimeline,
                  .x = "seconds",
                  .xs = {"run"},
                  .unit = "transactions/s",
                  .series = series("throughput_per_second")},
                 {.name = "average",
                  .title = "Average throughput",
                  .x = "workload",
                  .xs = {"tpcc"},
                  .unit = "transactions/s",
                  .series = series("throughput_tps"),
                  .paper = {{"OFF", "tpcc", 95000},
                            {"PL", "tpcc", 71000},
                            {"LL", "tpcc", 74000},
                            {"CL", "tpcc", 93000}}},
                 {.name = "latency",
                  .title = "Latency to the durable acknowledgement",
                  .chart = Chart::kQuantiles,
                  .x = "quantile",
                  .xs = kQuantiles,
                  .unit = "us",
                  .log_y = true,
                  .series = series("latency_us.$x")}},
      .claims = {{.says = "logging calls is faster than logging rows with their places",
                  .panel = "average",
                  .left = {"CL"},
                  .relation = kAbove,
                  .right = {"PL"},
                  .reason = "The disk takes the larger log here without slowing the engine, and single runs "
                            "differ by more."},
                 {.says = "logging calls is faster than logging rows",
                  .panel = "average",
                  .left = {"CL"},
                  .relation = kAbove,
                  .right = {"LL"},
                  .reason = "The disk takes the larger log here without slowing the engine, and single runs "
                            "differ by more."},
                 {.says = "logging calls and checkpoints take less than 6%",
                  .panel = "average",
                  .left = {"CL"},
                  .relation = kAbove,
                  .times = 0.94,
                  .right = {"OFF"},
                  .reason = "With as many workers as cores, the flusher and the checkpointer take their time "
                            "from them; the paper had four "
                            "cores to spare."},
                 {.says = "logging rows has at least twice the latency",
                  .panel = "latency",
                  .left = {"PL", "p99"},
                  .relation = kAbove,
                  .times = 2,
                  .right = {"CL", "p99"},
                  .reason = "Latency here is mostly the interval for which a group gathers, the same for "
                            "both, until the disk is full."}},
      .in_tour = true};
}

Figure figure_12() {
  const std::string plain = kTpcc + " --duration $seconds --adhoc $x";
  const std::string checkpointed = plain + " --checkpoint-every 0.5";
  const auto series = [&](const std::string& value) {
    return std::vector<FigureSeries>{{.name = "without checkpoints", .command = plain, .value = value},
                                     {.name = "with checkpoints", .command = checkpointed, .value = value}};
  };
  const std::vector<std::string> shares = {"0", "25", "50", "75", "100"};
  return {.name = "pacman-figure-12",
          .paper = kPaper,
          .title = "Logging with ad-hoc transactions",
          .paper_says = {"Throughput falls almost linearly with the share of ad-hoc transactions, and "
                         "latency grows, most of all while "
                         "checkpoints are written."},
          .scaled =
              "2 warehouses, all cores as workers, runs of 0.7 seconds in place of ten minutes; with "
              "checkpoints, one every half second.",
          .panels = {{.name = "throughput",
                      .title = "Throughput",
                      .chart = Chart::kLines,
                      .x = "ad-hoc transactions, %",
                      .xs = shares,
                      .unit = "transactions/s",
                      .series = series("throughput_tps")},
                     {.name = "latency",
                      .title = "99th percentile of the latency",
                      .chart = Chart::kLines,
                      .x = "ad-hoc transactions, %",
                      .xs = shares,
                      .unit = "us",
                      .series = series("latency_us.p99")}},
          .claims = {{.says = "ad-hoc transactions alone are slower than calls alone",
                      .panel = "throughput",
                      .left = {"without checkpoints", "$last"},
                      .relation = kBelow,
                      .right = {"without checkpoints", "$first"}},
                     {.says = "and their latency is larger",
                      .panel = "latency",
                      .left = {"with checkpoints", "$last"},
                      .relation = kAbove,
                      .right = {"with checkpoints", "$first"}}}};
}

// Every scheme on a log of its own, over threads.
std::vector<FigureSeries> schemes(const std::string& value, const std::string& of_plr,
                                  const std::vector<std::string>& names) {
  const std::vector<FigureSeries> all = {
      {.name = "PLR", .command = "recover @tpcc-physical --scheme plr --threads $x", .value = of_plr},
      {.name = "LLR", .command = "recover @tpcc-logical --scheme llr --threads $x", .value = value},
      {.name = "LLR-P", .command = "recover @tpcc-logical --scheme llr-p --threads $x", .value = value},
      {.name = "CLR", .command = "recover @tpcc-command --scheme clr --threads $x", .value = value},
      {.name = "CLR-P", .command = "recover @tpcc-command --scheme clr-p --threads $x", .value = value}};
  std::vector<FigureSeries> wanted;
  for (const FigureSeries& series : all) {
    for (const std::string& name : names) {
      if (series.name == name) wanted.push_back(series);
    }
  }
  return wanted;
}
const std::vector<std::string> kAllSchemes = {"PLR", "LLR", "LLR-P", "CLR", "CLR-P"};

Figure figure_13() {
  return {
      .name = "pacman-figure-13",
      .paper = kPaper,
      .title = "Recovery of the checkpoint",
      .paper_says =
          {"(a) All schemes reload the checkpoint's files in about the same time, at the SSDs' bandwidth.",
           "(b) PLR is done with the checkpoint much sooner, because it leaves the indexes to log recovery."},
      .scaled =
          "A checkpoint of 2 warehouses (about 130 MiB) in place of 20 GB, out of the page cache. Threads up "
          "to the cores.",
      .panels = {{.name = "reload",
                  .title = "(a) The checkpoint's rows",
                  .chart = Chart::kLines,
                  .x = "threads",
                  .xs = {"1..cores"},
                  .unit = "s",
                  .series = schemes("checkpoint_seconds", "checkpoint_seconds", kAllSchemes)},
                 {.name = "overall",
                  .title = "(b) With the indexes that log recovery needs",
                  .chart = Chart::kLines,
                  .x = "threads",
                  .xs = {"1..cores"},
                  .unit = "s",
                  .series = schemes("checkpoint_seconds + index_build_seconds", "checkpoint_seconds",
                                    kAllSchemes)}},
      .claims = {{.says = "PLR is done with the checkpoint first",
                  .panel = "overall",
                  .left = {"PLR", "$last"},
                  .relation = kBelow,
                  .right = {"*", "$last"},
                  .reason = "So small a checkpoint is loaded in less than a second, and single runs differ "
                            "by more than an index's building "
                            "takes."}},
      .in_tour = true};
}

Figure figure_14() {
  std::vector<FigureSeries> overall = schemes("log_load_seconds + replay_seconds", kReplayed, kAllSchemes);
  overall.push_back({.name = "CLR-P, simulated",
                     .command = "recover @tpcc-command --scheme clr-p --simulate-cores $xs",
                     .value = kSimulated,
                     .simulated = true,
                     .xs = kManyCores});
  return {.name = "pacman-figure-14",
          .paper = kPaper,
          .title = "Recovery of the log",
          .paper_says = {"(a) Logs of calls are reloaded much sooner than logs of rows, being smaller.",
                         "(b) CLR took over 4,200 seconds, on one thread whatever there is; CLR-P was 18 "
                         "times faster with 40 threads. "
                         "PLR and LLR improve up to 20 threads and then get slower, by their latches."},
          .scaled = kFewCores +
                    "Logs of 100,000 transactions on 2 warehouses in place of five minutes' on 200. What is "
                    "simulated is "
                    "replay; the log's loading is not in it.",
          .panels = {{.name = "reload",
                      .title = "(a) Loading the log",
                      .chart = Chart::kLines,
                      .x = "threads",
                      .xs = {"1..cores"},
                      .unit = "s",
                      .series = schemes("log_load_seconds", "log_load_seconds", kAllSchemes)},
                     {.name = "overall",
                      .title = "(b) Loading and replaying it",
                      .chart = Chart::kLines,
                      .x = "threads or cores",
                      .xs = {"1..cores"},
                      .unit = "s",
                      .log_y = true,
                      .series = overall,
                      .paper = {{"CLR", "40", 4200}, {"CLR-P", "40", 4200.0 / 18}}}},
          .claims = {{.says = "logs of calls are loaded sooner than logs of rows with places",
                      .panel = "reload",
                      .left = {"CLR-P", "*"},
                      .relation = kBelow,
                      .right = {"PLR", "*"}},
                     {.says = "and sooner than logs of rows",
                      .panel = "reload",
                      .left = {"CLR-P", "*"},
                      .relation = kBelow,
                      .right = {"LLR", "*"}},
                     {.says = "CLR-P beats CLR with all threads",
                      .panel = "overall",
                      .left = {"CLR-P", "$last"},
                      .relation = kBelow,
                      .right = {"CLR", "$last"}},
                     {.says = "with 40 cores 18 times",
                      .panel = "overall",
                      .left = {"CLR", "$last"},
                      .relation = kAbove,
                      .times = 18,
                      .right = {"CLR-P, simulated", "$last"},
                      .reason = "Cut into lanes for 40 cores a call costs more than it costs CLR "
                                "(docs/replay.md), and so short a log leaves cores idle "
                                "at its beginning and its end."}},
          .in_tour = true};
}

Figure figure_15() {
  return {.name = "pacman-figure-15",
          .paper = kPaper,
          .title = "The latches of tuple-level log recovery",
          .paper_says = {"Without latches PLR and LLR scale to 20 threads, to 750 and 270 seconds; with them "
                         "they get slower beyond 12 to "
                         "20 threads."},
          .scaled =
              "There is no switch here that leaves latches away and recovers a wrong state; what replays the "
              "same log without latches is "
              "LLR-P, which deals rows to threads by key. Threads up to the cores: the paper's fall beyond "
              "20 threads can't be seen.",
          .panels = {{.name = "replay",
                      .title = "Replay of rows, latched and not",
                      .chart = Chart::kLines,
                      .x = "threads",
                      .xs = {"1..cores"},
                      .unit = "s",
                      .series = schemes("replay_seconds", "replay_seconds + index_build_seconds",
                                        {"PLR", "LLR", "LLR-P"})}},
          .claims = {{.says = "rows are replayed faster without latches, with all threads",
                      .panel = "replay",
                      .left = {"LLR-P", "$last"},
                      .relation = kBelow,
                      .right = {"LLR", "$last"}}},
          .in_tour = true};
}

FigurePanel stages(const std::string& workload, const std::string& title) {
  return {.name = workload,
          .title = title,
          .chart = Chart::kStack,
          .x = "scheme",
          .xs = kAllSchemes,
          .commands = {"recover @" + workload + "-physical --scheme plr --threads $cores",
                       "recover @" + workload + "-logical --scheme llr --threads $cores",
                       "recover @" + workload + "-logical --scheme llr-p --threads $cores",
                       "recover @" + workload + "-command --scheme clr --threads $cores",
                       "recover @" + workload + "-command --scheme clr-p --threads $cores"},
          .unit = "s",
          .series = {{.name = "checkpoint", .value = "checkpoint_seconds"},
                     {.name = "log load", .value = "log_load_seconds"},
                     {.name = "analysis", .value = "analysis_seconds"},
                     {.name = "replay", .value = "replay_seconds"},
                     {.name = "index build", .value = "index_build_seconds"}}};
}

FigurePanel totals(const std::string& workload, const std::string& title) {
  FigurePanel panel = stages(workload, title);
  panel.name += " total";
  panel.chart = Chart::kBars;
  panel.series = {{.name = "recovery", .value = "checkpoint_seconds + analysis_seconds + " + kReplayed}};
  return panel;
}

Figure figure_16() {
  return {
      .name = "pacman-figure-16",
      .paper = kPaper,
      .title = "Recovery as a whole, by stage",
      .paper_says = {"CLR is the slowest of all on both benchmarks. LLR-P is the fastest, ahead of CLR-P, "
                     "which runs the transactions' "
                     "reads as well. The checkpoint takes next to nothing."},
      .scaled =
          "All cores in place of 40 threads; logs of 100,000 transactions, of TPC-C with 2 warehouses and of "
          "Smallbank with 18,000 "
          "customers, so that the checkpoint weighs much more here. Compiling procedures, which is kept from "
          "one recovery to the next, "
          "is left out.",
      .panels = {stages("tpcc", "TPC-C, by stage"), totals("tpcc", "TPC-C, in all"),
                 stages("smallbank", "Smallbank, by stage"), totals("smallbank", "Smallbank, in all")},
      .claims =
          {{.says = "CLR is the slowest, TPC-C",
            .panel = "tpcc total",
            .left = {"recovery", "CLR"},
            .relation = kAbove,
            .right = {"recovery", "PLR"},
            .reason = "With few cores, one thread that runs calls is not far behind several that load a log "
                      "ten times as large."},
           {.says = "LLR-P beats CLR, TPC-C",
            .panel = "tpcc total",
            .left = {"recovery", "LLR-P"},
            .relation = kBelow,
            .right = {"recovery", "CLR"},
            .reason = "A log of rows is ten times as large, and how long the disk takes to load it differs "
                      "from round to "
                      "round by more than the schemes do."},
           {.says = "CLR-P beats CLR, TPC-C",
            .panel = "tpcc total",
            .left = {"recovery", "CLR-P"},
            .relation = kBelow,
            .right = {"recovery", "CLR"}},
           {.says = "LLR-P beats CLR-P, TPC-C",
            .panel = "tpcc total",
            .left = {"recovery", "LLR-P"},
            .relation = kBelow,
            .right = {"recovery", "CLR-P"},
            .reason = "Machine code and prefetching have made running calls cheap, and rows have a larger "
                      "log to load."},
           {.says = "CLR-P beats CLR, Smallbank",
            .panel = "smallbank total",
            .left = {"recovery", "CLR-P"},
            .relation = kBelow,
            .right = {"recovery", "CLR"},
            .reason =
                "So few short calls are replayed in a few tenths of a second, of which most is no replay."}},
      .in_tour = true};
}

Figure figure_17() {
  const std::vector<std::string> shares = {"0", "25", "50", "75", "100"};
  std::vector<std::string> commands = {"recover @tpcc-command --scheme clr-p --threads $cores"};
  for (size_t i = 1; i < shares.size(); ++i)
    commands.push_back("recover @tpcc-adhoc-" + shares[i] + " --scheme clr-p --threads $cores");
  return {
      .name = "pacman-figure-17",
      .paper = kPaper,
      .title = "Recovery with ad-hoc transactions",
      .paper_says =
          {"From 0% to 100% ad-hoc transactions recovery gets faster, smoothly: rows need no reads."},
      .scaled = "All cores, logs of 100,000 transactions on 2 warehouses.",
      .panels = {{.name = "recovery",
                  .title = "Loading and replaying the log by CLR-P",
                  .chart = Chart::kLines,
                  .x = "ad-hoc transactions, %",
                  .xs = shares,
                  .commands = commands,
                  .unit = "s",
                  .series = {{.name = "CLR-P", .value = "log_load_seconds + replay_seconds"}}}},
      .claims = {
          {.says = "rows alone are recovered faster than calls alone",
           .panel = "recovery",
           .left = {"CLR-P", "$last"},
           .relation = kBelow,
           .right = {"CLR-P", "$first"},
           .reason =
               "Their log is ten times as large, and loading it weighs more on a machine with few cores."}}};
}

// A way to take procedures apart and to replay, on threads and simulated.
void add_way(std::vector<FigureSeries>& series, const std::string& name, const std::string& options) {
  const std::string command = "recover @tpcc-command --scheme clr-p " + options;
  series.push_back({.name = name, .command = command + " --threads $x", .value = "replay_seconds"});
  series.push_back({.name = name + ", simulated",
                    .command = command + " --simulate-cores $xs",
                    .value = kSimulated,
                    .simulated = true,
                    .xs = kManyCores});
}

const std::string kChopping = "--conflicts table --decompose chopping --replay static";
const std::string kByTable = "--conflicts table --replay ";
const std::string kByColumn = "--conflicts column --replay ";

Figure figure_18() {
  std::vector<FigureSeries> series;
  add_way(series, "chopping", kChopping);
  add_way(series, "PACMAN, by table", kByTable + "static");
  add_way(series, "by column", kByColumn + "static");
  return {.name = "pacman-figure-18",
          .paper = kPaper,
          .title = "Static analysis alone",
          .paper_says = {"From one thread to three PACMAN's static analysis comes from 4,500 to about 2,000 "
                         "seconds, and no further; "
                         "transaction chopping always takes longer."},
          .scaled = kFewCores +
                    "A log of 100,000 transactions on 2 warehouses. `By column` is this engine's default, "
                    "finer than the paper's.",
          .panels = {{.name = "replay",
                      .title = "Replay, static",
                      .chart = Chart::kLines,
                      .x = "threads or cores",
                      .xs = {"1..cores"},
                      .unit = "s",
                      .log_y = true,
                      .series = series,
                      .paper = {{"PACMAN, by table", "1", 4500}, {"PACMAN, by table", "3", 2000}}}},
          .claims = {{.says = "chopping takes longer, on 40 cores",
                      .panel = "replay",
                      .left = {"chopping, simulated", "$last"},
                      .relation = kAbove,
                      .right = {"PACMAN, by table, simulated", "$last"}},
                     {.says = "static analysis stops gaining: 40 cores do less than three times what 4 do",
                      .panel = "replay",
                      .left = {"PACMAN, by table, simulated", "$last"},
                      .relation = kAbove,
                      .times = 0.34,
                      .right = {"PACMAN, by table, simulated", "4"}}},
          .in_tour = true};
}

Figure figure_19() {
  std::vector<FigureSeries> series;
  add_way(series, "static", kByTable + "static");
  add_way(series, "synchronous", kByTable + "synchronous");
  add_way(series, "pipelined", kByTable + "pipelined");
  return {
      .name = "pacman-figure-19",
      .paper = kPaper,
      .title = "Dynamic analysis: within batches, and between them",
      .paper_says = {"With 40 threads synchronous replay takes less than a quarter of what static analysis "
                     "alone takes; pipelined replay "
                     "takes less than 300 seconds, and is the fastest."},
      .scaled = kFewCores +
                "A log of 100,000 transactions on 2 warehouses; conflicts by table, as the paper has them.",
      .panels = {{.name = "replay",
                  .title = "Replay",
                  .chart = Chart::kLines,
                  .x = "threads or cores",
                  .xs = {"1..cores"},
                  .unit = "s",
                  .log_y = true,
                  .series = series,
                  .paper = {{"pipelined", "40", 300}}}},
      .claims = {{.says = "synchronous is 4 times as fast as static, on 40 cores",
                  .panel = "replay",
                  .left = {"static, simulated", "$last"},
                  .relation = kAbove,
                  .times = 4,
                  .right = {"synchronous, simulated", "$last"},
                  .reason = "By table, keys are warehouses or districts: two warehouses make few lanes to "
                            "replay side by side in a batch."},
                 {.says = "pipelined is the fastest, on 40 cores",
                  .panel = "replay",
                  .left = {"pipelined, simulated", "$last"},
                  .relation = kBelow,
                  .right = {"synchronous, simulated", "$last"}}},
      .in_tour = true};
}

Figure figure_20() {
  const std::string times = "breakdown.all_threads.";
  const std::vector<std::string> parts = {"data_loading", "parameter_checking", "dispatch",
                                          "useful_work",  "scheduling",         "waiting"};
  std::string sum;
  for (const std::string& part : parts) sum += (sum.empty() ? "" : " + ") + times + part + "_seconds";
  const std::string command = "recover @tpcc-command --scheme clr-p --threads $x";
  std::vector<FigureSeries> series;
  for (const std::string& part : parts) {
    std::string name = part;
    for (char& c : name) c = c == '_' ? ' ' : c;
    series.push_back(
        {.name = name, .command = command, .value = "100 * " + times + part + "_seconds / ( " + sum + " )"});
  }
  return {.name = "pacman-figure-20",
          .paper = kPaper,
          .title = "Where log recovery's time goes",
          .paper_says = {"With 40 threads scheduling takes about 30% of the time; loading the log and "
                         "dynamic analysis are light."},
          .scaled =
              "Threads up to the cores; a log of 100,000 transactions on 2 warehouses. What 40 cores would "
              "leave idle is simulated.",
          .panels = {{.name = "breakdown",
                      .title = "All threads' time, by what they do",
                      .chart = Chart::kStack,
                      .x = "threads",
                      .xs = {"1..cores"},
                      .unit = "%",
                      .series = series},
                     {.name = "idle",
                      .title = "Idle share of simulated cores",
                      .chart = Chart::kLines,
                      .x = "cores",
                      .xs = kManyCores,
                      .unit = "%",
                      .series = {{.name = "idle, simulated",
                                  .command = "recover @tpcc-command --scheme clr-p --simulate-cores $xs",
                                  .value = "100 - ( 100 * simulation.schedules.$index.busy_share )",
                                  .simulated = true}}}},
          .claims = {{.says = "loading the log takes less than a fifth, with all threads",
                      .panel = "breakdown",
                      .left = {"data loading", "$last"},
                      .relation = kBelow,
                      .times = 20,
                      .reason = "The disk was busy: loading is the part that varies most."},
                     {.says = "useful work is most of it, with all threads",
                      .panel = "breakdown",
                      .left = {"useful work", "$last"},
                      .relation = kAbove,
                      .times = 50}},
          .in_tour = true};
}

Figure table_1() {
  const auto series = [](const std::string& value, const std::string& against) {
    const auto run = [](const std::string& log) {
      return "run $x --threads $cores --duration $seconds --log " + log;
    };
    std::vector<FigureSeries> all = {{.name = "PL", .command = run("physical"), .value = value},
                                     {.name = "LL", .command = run("logical"), .value = value},
                                     {.name = "CL", .command = run("command"), .value = value}};
    if (against.empty()) return all;
    all.pop_back();
    for (FigureSeries& each : all) each.against = run(against);
    return all;
  };
  return {
      .name = "pacman-table-1",
      .paper = kPaper,
      .title = "Throughput and size of the log",
      .paper_says = {"A log of rows is 10.8 times as large as one of calls on TPC-C, one of rows with their "
                     "places 11.4 times; on Smallbank "
                     "they are about the same size."},
      .scaled = "1 warehouse in place of 200, 18,000 customers, all cores as workers, runs of 0.7 seconds.",
      .panels = {{.name = "throughput",
                  .title = "Throughput",
                  .x = "workload",
                  .xs = {"tpcc", "smallbank"},
                  .unit = "transactions/s",
                  .series = series("throughput_tps", ""),
                  .paper = {{"PL", "tpcc", 71000},
                            {"LL", "tpcc", 74000},
                            {"CL", "tpcc", 93000},
                            {"PL", "smallbank", 503000},
                            {"LL", "smallbank", 564000},
                            {"CL", "smallbank", 595000}}},
                 {.name = "size",
                  .title = "Log",
                  .x = "workload",
                  .xs = {"tpcc", "smallbank"},
                  .unit = "GB a minute",
                  .series = series("60e-9 * log_bytes / seconds", ""),
                  .paper = {{"PL", "tpcc", 13.7},
                            {"LL", "tpcc", 12.9},
                            {"CL", "tpcc", 1.2},
                            {"PL", "smallbank", 1.6},
                            {"LL", "smallbank", 1.2},
                            {"CL", "smallbank", 1.3}}},
                 {.name = "ratio",
                  .title = "Bytes a transaction, against logging calls",
                  .x = "workload",
                  .xs = {"tpcc", "smallbank"},
                  .unit = "times",
                  .series = series("log_bytes_per_txn", "command"),
                  .paper = {{"PL", "tpcc", 11.4},
                            {"LL", "tpcc", 10.8},
                            {"PL", "smallbank", 1.23},
                            {"LL", "smallbank", 0.92}}}},
      .claims =
          {{.says = "on TPC-C, logs of rows are several times as large as logs of calls",
            .panel = "ratio",
            .left = {"LL", "tpcc"},
            .relation = kAbove,
            .times = 5,
            .reason = "Rows are laid out tightly here, and only written rows are logged."},
           {.says = "logging places as well is larger still, TPC-C",
            .panel = "ratio",
            .left = {"PL", "tpcc"},
            .relation = kAbove,
            .right = {"LL", "tpcc"},
            .reason =
                "A place is a few bytes beside the row's image here, and only the new image is logged."},
           {.says = "on Smallbank logs of rows are less than twice as large",
            .panel = "ratio",
            .left = {"LL", "smallbank"},
            .relation = kBelow,
            .times = 2}},
      .in_tour = true};
}

Figure table_2() {
  const auto series = [](const std::string& options) {
    const auto run = [&](const std::string& log) {
      return kTpcc + " --duration $seconds --log " + log + options;
    };
    const std::string rate = "1e-6 * log_bytes / seconds";
    return std::vector<FigureSeries>{{.name = "PL", .command = run("physical"), .value = rate},
                                     {.name = "LL", .command = run("logical"), .value = rate},
                                     {.name = "CL", .command = run("command"), .value = rate}};
  };
  return {.name = "pacman-table-2",
          .paper = kPaper,
          .title = "Bandwidth that the log takes",
          .paper_says = {"With one SSD, logging rows writes 350 MB a second with checkpoints and 250 to 274 "
                         "without; logging calls 250 and 34."},
          .scaled =
              "2 warehouses, runs of 0.7 seconds, one disk. The paper counts the checkpoint's bytes as well; "
              "here it is the log's alone.",
          .panels = {{.name = "without",
                      .title = "Without checkpoints",
                      .x = "disks",
                      .xs = {"1"},
                      .unit = "MB/s",
                      .series = series(""),
                      .paper = {{"PL", "1", 274}, {"LL", "1", 252}, {"CL", "1", 34}}},
                     {.name = "with",
                      .title = "With checkpoints",
                      .x = "disks",
                      .xs = {"1"},
                      .unit = "MB/s",
                      .series = series(" --checkpoint-every 0.3"),
                      .paper = {{"PL", "1", 352}, {"LL", "1", 347}, {"CL", "1", 250}}}},
          .claims = {{.says = "logging rows writes more than logging calls",
                      .panel = "without",
                      .left = {"LL"},
                      .relation = kAbove,
                      .times = 2,
                      .right = {"CL"}}}};
}

Figure table_3() {
  const auto series = [](const std::string& options) {
    const auto run = [&](const std::string& log) {
      return kTpcc + " --duration $seconds --log " + log + options;
    };
    const std::string mean = "1e-3 * latency_us.mean";
    return std::vector<FigureSeries>{{.name = "PL", .command = run("physical"), .value = mean},
                                     {.name = "LL", .command = run("logical"), .value = mean},
                                     {.name = "CL", .command = run("command"), .value = mean}};
  };
  return {
      .name = "pacman-table-3",
      .paper = kPaper,
      .title = "Average latency, with and without fsync",
      .paper_says =
          {"With one SSD, logging rows takes 33 to 38 ms with fsync and 10 without; logging calls 14 and 7."},
      .scaled =
          "2 warehouses, runs of 0.7 seconds, one disk; without fsync: the device `lossy-unsynced`, which "
          "never syncs.",
      .panels = {{.name = "with",
                  .title = "With fsync",
                  .x = "disks",
                  .xs = {"1"},
                  .unit = "ms",
                  .series = series(""),
                  .paper = {{"PL", "1", 38}, {"LL", "1", 33}, {"CL", "1", 14}}},
                 {.name = "without",
                  .title = "Without fsync",
                  .x = "disks",
                  .xs = {"1"},
                  .unit = "ms",
                  .series = series(" --log-device lossy-unsynced"),
                  .paper = {{"PL", "1", 10}, {"LL", "1", 10}, {"CL", "1", 7}}}},
      .claims = {{.says = "logging calls answers sooner than logging rows, with fsync",
                  .panel = "with",
                  .left = {"CL"},
                  .relation = kBelow,
                  .right = {"PL"},
                  .reason = "Both wait for the same flushes; only a disk that is full tells them apart."}}};
}

}  // namespace pacman

std::vector<Figure> pacman_figures() {
  using namespace pacman;
  return {figure_11(), figure_12(), figure_13(), figure_14(), figure_15(), figure_16(), figure_17(),
          figure_18(), figure_19(), figure_20(), table_1(),   table_2(),   table_3()};
}

}  // namespace mneme
