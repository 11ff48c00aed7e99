// PACMAN: Fast Failure Recovery for Main-Memory DBMSs on Multicores (SIGMOD'17), on recovery: Figures 13 to
// 21. Those of logging are in pacman_logging_figures.cc.
#include "experiments/pacman.h"

namespace mneme {
namespace pacman {

using enum FigureClaim::Relation;

const std::vector<std::string> kManyCores = {"1", "2", "4", "8", "16", "40"};
const std::string kSimulated = "simulation.schedules.$index.makespan_seconds";
const std::string kReplayed = "log_load_seconds + replay_seconds + index_build_seconds";

const std::string kFewCores =
    "The paper replays on 40 cores. Here real threads go as far as the machine's cores; beyond, `recover "
    "--simulate-cores` lays the measured steps out on as many as it is asked for, with this machine's cost "
    "of "
    "taking work from another core and what its memory gives: an upper bound (docs/replay.md). ";
const std::string kBound = ", simulated (upper bound)";

// Serial replay at its best: CLR with all improvements that need no slices.
const std::string kAtItsBest = "CLR at its best";
FigureSeries serial_at_its_best(const std::string& value) {
  return {.name = kAtItsBest,
          .command = "recover @tpcc-command --scheme clr-p --decompose whole --threads 1",
          .value = value,
          .xs = {"1"}};
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

const std::string kTooShort =
    "Cut into lanes for 40 cores a call costs more than it costs one thread (docs/replay.md), so short a log "
    "leaves cores idle at its beginning and its end, and this machine's memory has few cores to feed.";

Figure figure_14() {
  std::vector<FigureSeries> replay = schemes("replay_seconds", "", {"CLR", "CLR-P"});
  replay.push_back(serial_at_its_best("replay_seconds"));
  replay.push_back({.name = "CLR-P" + kBound,
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
                    "simulated is replay alone, so (c) compares it with replay alone: with CLR as it stands, "
                    "and at its best, with look-ups ahead and without reads that no write needs.",
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
                      .x = "threads",
                      .xs = {"1..cores"},
                      .unit = "s",
                      .log_y = true,
                      .series = schemes("log_load_seconds + replay_seconds", kReplayed, kAllSchemes),
                      .paper = {{"CLR", "40", 4200}, {"CLR-P", "40", 4200.0 / 18}}},
                     {.name = "replay",
                      .title = "(c) Replaying it alone, calls",
                      .chart = Chart::kLines,
                      .x = "threads or cores",
                      .xs = {"1..cores"},
                      .unit = "s",
                      .log_y = true,
                      .series = replay}},
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
                     {.says = "CLR-P on 40 cores replays 18 times as fast as CLR",
                      .panel = "replay",
                      .left = {"CLR", "$last"},
                      .relation = kAbove,
                      .times = 18,
                      .right = {"CLR-P" + kBound, "$last"},
                      .reason = kTooShort},
                     {.says = "and as CLR at its best",
                      .panel = "replay",
                      .left = {kAtItsBest, "1"},
                      .relation = kAbove,
                      .times = 18,
                      .right = {"CLR-P" + kBound, "$last"},
                      .reason = kTooShort}},
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
          .xs = {"PLR", "LLR", "LLR-P", "CLR", kAtItsBest, "CLR-P"},
          .commands = {"recover @" + workload + "-physical --scheme plr --threads $cores",
                       "recover @" + workload + "-logical --scheme llr --threads $cores",
                       "recover @" + workload + "-logical --scheme llr-p --threads $cores",
                       "recover @" + workload + "-command --scheme clr --threads $cores",
                       "recover @" + workload + "-command --scheme clr-p --decompose whole --threads 1",
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

// Adds a claim for each other scheme: that it is faster than CLR.
void add_slowest(std::vector<FigureClaim>& claims, const std::string& workload, const std::string& title) {
  for (const char* other : {"PLR", "LLR", "LLR-P", "CLR-P"}) {
    claims.push_back({.says = "CLR is slower than " + std::string(other) + ", " + title,
                      .panel = workload + " total",
                      .left = {"recovery", "CLR"},
                      .relation = kAbove,
                      .right = {"recovery", other},
                      .reason =
                          "With few cores, one thread that runs calls as machine code is not far behind "
                          "several that load a log of rows, which is larger; and of so few calls most "
                          "of a recovery is no replay."});
  }
}

Figure figure_16() {
  Figure figure{
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
      .claims = {{.says = "LLR-P beats CLR-P, TPC-C",
                  .panel = "tpcc total",
                  .left = {"recovery", "LLR-P"},
                  .relation = kBelow,
                  .right = {"recovery", "CLR-P"},
                  .reason =
                      "Machine code and prefetching have made running calls cheap, and rows have a larger "
                      "log to load."},
                 {.says = "CLR-P beats CLR at its best, TPC-C",
                  .panel = "tpcc total",
                  .left = {"recovery", "CLR-P"},
                  .relation = kBelow,
                  .right = {"recovery", kAtItsBest},
                  .reason = "Two cores gain at most one thread's time, of a part of the recovery."}},
      .in_tour = true};
  add_slowest(figure.claims, "tpcc", "TPC-C");
  add_slowest(figure.claims, "smallbank", "Smallbank");
  return figure;
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
      .scaled =
          "All cores, logs of 100,000 transactions on 2 warehouses. Here it comes out reversed: the more "
          "ad-hoc transactions, the longer recovery takes. Calls are replayed as machine code with their "
          "look-ups ahead, and cost less than loading and installing ten times as many bytes of rows.",
      .panels = {{.name = "recovery",
                  .title = "Loading and replaying the log by CLR-P",
                  .chart = Chart::kLines,
                  .x = "ad-hoc transactions, %",
                  .xs = shares,
                  .commands = commands,
                  .unit = "s",
                  .series = {{.name = "CLR-P", .value = "log_load_seconds + replay_seconds"}}}},
      .claims =
          {{.says = "rows alone are recovered faster than calls alone",
            .panel = "recovery",
            .left = {"CLR-P", "$last"},
            .relation = kBelow,
            .right = {"CLR-P", "$first"},
            .reason =
                "Reversed: their log is ten times as large, and loading it on few cores takes longer than "
                "running the calls."}},
      .in_tour = true};
}

// A way to take procedures apart and to replay, on threads and simulated.
void add_way(std::vector<FigureSeries>& series, const std::string& name, const std::string& options) {
  const std::string command = "recover @tpcc-command --scheme clr-p " + options;
  series.push_back({.name = name, .command = command + " --threads $x", .value = "replay_seconds"});
  series.push_back({.name = name + kBound,
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
  series.push_back(serial_at_its_best("replay_seconds"));
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
                      .left = {"chopping" + kBound, "$last"},
                      .relation = kAbove,
                      .right = {"PACMAN, by table" + kBound, "$last"}},
                     {.says = "static analysis stops gaining: 40 cores do less than three times what 4 do",
                      .panel = "replay",
                      .left = {"PACMAN, by table" + kBound, "$last"},
                      .relation = kAbove,
                      .times = 0.34,
                      .right = {"PACMAN, by table" + kBound, "4"}}},
          .in_tour = true};
}

Figure figure_19() {
  std::vector<FigureSeries> series;
  add_way(series, "static", kByTable + "static");
  add_way(series, "synchronous", kByTable + "synchronous");
  add_way(series, "pipelined", kByTable + "pipelined");
  series.push_back(serial_at_its_best("replay_seconds"));
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
                  .left = {"static" + kBound, "$last"},
                  .relation = kAbove,
                  .times = 4,
                  .right = {"synchronous" + kBound, "$last"},
                  .reason = "By table, keys are warehouses or districts: two warehouses make few lanes to "
                            "replay side by side in a batch."},
                 {.says = "pipelined is the fastest, on 40 cores",
                  .panel = "replay",
                  .left = {"pipelined" + kBound, "$last"},
                  .relation = kBelow,
                  .right = {"synchronous" + kBound, "$last"}}},
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
                      .series = {{.name = "idle" + kBound,
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

Figure figure_21() {
  const std::vector<std::string> ways = {"chopping, by table", "PACMAN, by table", "by column"};
  return {
      .name = "pacman-figure-21",
      .paper = kPaper,
      .title = "Global dependency graph of TPC-C",
      .paper_says = {"A simplified graph: slices within blocks, and which block waits for which. Procedures "
                     "that only read are left out, as they leave nothing in the log."},
      .scaled =
          "Blocks and slices counted; `mneme slice tpcc --conflicts table --html FILE` draws the "
          "graph itself. `By column` is this engine's default, finer than the paper's.",
      .panels = {{.name = "graph",
                  .title = "Blocks, and slices within them",
                  .x = "analysis",
                  .xs = ways,
                  .commands = {"slice tpcc --conflicts table --decompose chopping --coalesce off",
                               "slice tpcc --conflicts table", "slice tpcc --conflicts column"},
                  .unit = "count",
                  .series = {{.name = "blocks", .value = "block_count"},
                             {.name = "slices", .value = "slice_count"}}}},
      .claims = {{.says = "PACMAN's analysis finds more blocks than chopping",
                  .panel = "graph",
                  .left = {"blocks", ways[1]},
                  .relation = kAbove,
                  .right = {"blocks", ways[0]}},
                 {.says = "columns tell more blocks apart than tables do",
                  .panel = "graph",
                  .left = {"blocks", ways[2]},
                  .relation = kAbove,
                  .right = {"blocks", ways[1]}}},
      .in_tour = true};
}

}  // namespace pacman

std::vector<Figure> pacman_figures() {
  using namespace pacman;
  return {figure_11(), figure_12(), figure_13(), figure_14(), figure_15(), figure_16(), figure_17(),
          figure_18(), figure_19(), figure_20(), figure_21(), table_1(),   table_2(),   table_3()};
}

}  // namespace mneme
