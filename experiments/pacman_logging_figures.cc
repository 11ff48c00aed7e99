// PACMAN (SIGMOD'17) on what logging costs while transactions run: Figures 11 and 12, Tables 1 to 3.
#include "experiments/pacman.h"

namespace mneme {
namespace pacman {

using enum FigureClaim::Relation;

const std::vector<std::string> kQuantiles = {"p50", "p95", "p99", "p999", "max"};

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
                      .right = {"with checkpoints", "$first"},
                      .reason = "Latency here is mostly the interval for which a group gathers, and the "
                                "checkpoint's writes beside it."}},
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
    const std::string rate = "1e-6 * ( log_bytes + checkpoint_bytes ) / seconds";
    return std::vector<FigureSeries>{{.name = "PL", .command = run("physical"), .value = rate},
                                     {.name = "LL", .command = run("logical"), .value = rate},
                                     {.name = "CL", .command = run("command"), .value = rate}};
  };
  return {
      .name = "pacman-table-2",
      .paper = kPaper,
      .title = "Bandwidth that logs and checkpoints take",
      .paper_says = {"With one SSD, logging rows writes 350 MB a second with checkpoints and 250 to 274 "
                     "without; logging calls 250 and 34."},
      .scaled =
          "2 warehouses, runs of 0.7 seconds, one disk. The checkpoint's bytes are counted, too, as in the "
          "paper: those of checkpoints that ended within the run.",
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
                  .right = {"CL"}},
                 {.says = "and so with checkpoints",
                  .panel = "with",
                  .left = {"LL"},
                  .relation = kAbove,
                  .right = {"CL"},
                  .reason = "Only checkpoints that end within so short a run are counted."}},
      .in_tour = true};
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
                  .reason = "Both wait for the same flushes; only a disk that is full tells them apart."}},
      .in_tour = true};
}

}  // namespace pacman
}  // namespace mneme
