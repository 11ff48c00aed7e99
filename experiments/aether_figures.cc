// Scalability of write-ahead logging on multicore and multisocket hardware (Aether, VLDB Journal 2012),
// Figures 3 to 6, 9 to 13.
#include "experiments/catalog.h"

namespace mneme {
namespace aether {

using enum FigureClaim::Relation;

constexpr const char* kPaper = "Aether, VLDB Journal 2012";

// TPC-B, as the paper runs it: short transactions, and rows that many of them want.
const std::string kTpcb = "run tpcb --scale 2 --cc 2pl --duration $seconds";

Figure figure_3() {
  std::vector<FigureSeries> series;
  for (const auto& [name, latency] : {std::pair{"0 ms", "0"}, std::pair{"0.1 ms", "100us"},
                                      std::pair{"1 ms", "1ms"}, std::pair{"10 ms", "10ms"}}) {
    const std::string run = "run tpcb --scale 4 --cc 2pl --duration $seconds --threads 4 --device-latency " +
                            std::string(latency) + " --skew $x --elr ";
    series.push_back(
        {.name = name, .command = run + "on", .value = "throughput_tps", .against = run + "off"});
  }
  return {.name = "aether-figure-3",
          .paper = kPaper,
          .title = "What early lock release gains, by skew and by the device's latency",
          .paper_says = {"35 times with the slowest device (10 ms), 2 times with flash drives (0.1 ms), "
                         "where there is contention; little at very "
                         "low and at very high skew."},
          .scaled =
              "TPC-B on 4 branches, two-phase locking. 4 workers go on while their commits are pending, in "
              "place of sixty clients that wait: "
              "so the gain is not bounded by the number of clients, and larger than the paper's; and with so "
              "few branches transactions "
              "meet without any skew. A flush takes at least so long (`--device-latency`); the disk's own "
              "time comes on top, where the paper "
              "had a RAM disk.",
          .panels = {{.name = "speedup",
                      .title = "Throughput with early lock release against without",
                      .chart = Chart::kLines,
                      .x = "Zipfian skew",
                      .xs = {"0", "0.85", "0.95"},
                      .unit = "times",
                      .log_y = true,
                      .series = series,
                      .paper = {{"10 ms", "peak", 35}, {"0.1 ms", "peak", 2}}}},
          .claims = {{.says = "the slower the device, the larger the gain: 10 ms against none",
                      .panel = "speedup",
                      .left = {"10 ms", "*"},
                      .relation = kAbove,
                      .right = {"0 ms", "*"}},
                     {.says = "twice as fast with a flash drive, where rows are skewed",
                      .panel = "speedup",
                      .left = {"0.1 ms", "$last"},
                      .relation = kAbove,
                      .times = 2},
                     {.says = "and more than twice with the slowest",
                      .panel = "speedup",
                      .left = {"10 ms", "$last"},
                      .relation = kAbove,
                      .times = 2}},
          .in_tour = true};
}

Figure figure_4() {
  const std::string run =
      "run tpcc --warehouses $W --cc 2pl --device-latency 4ms --duration $seconds --threads $x --elr ";
  return {.name = "aether-figure-4",
          .paper = kPaper,
          .title = "Early lock release with TPC-C on a slow device",
          .paper_says = {"1.1, 1.5 and 2.2 times the throughput with 150, 200 and 400 threads: the more "
                         "clients, the more it gains."},
          .scaled =
              "2 warehouses in place of 100, so that few workers meet as often; a flush takes 4 ms at least.",
          .panels =
              {{.name = "throughput",
                .title = "Throughput",
                .chart = Chart::kLines,
                .x = "threads",
                .xs = {"2", "4", "8"},
                .unit = "transactions/s",
                .series = {{.name = "baseline", .command = run + "off", .value = "throughput_tps"},
                           {.name = "early lock release", .command = run + "on", .value = "throughput_tps"}}},
               {.name = "gain",
                .title = "What it gains",
                .chart = Chart::kLines,
                .x = "threads",
                .xs = {"2", "4", "8"},
                .unit = "times",
                .series = {{.name = "early lock release",
                            .command = run + "on",
                            .value = "throughput_tps",
                            .against = run + "off"}},
                .paper = {{"early lock release", "150", 1.1},
                          {"early lock release", "200", 1.5},
                          {"early lock release", "400", 2.2}}}},
          .claims = {{.says = "early lock release is faster, with any number of threads",
                      .panel = "gain",
                      .left = {"early lock release", "*"},
                      .relation = kAbove,
                      .times = 1}}};
}

// Baseline, and the parts of Aether one upon the other.
struct Step {
  const char* name;
  const char* options;
};
constexpr Step kBaseline = {"baseline", " --elr off --commit sync --log-buffer mutex"};
constexpr Step kReleased = {"early lock release", " --elr on --commit sync --log-buffer mutex"};
constexpr Step kPipelined = {"flush pipelining", " --elr on --commit pipelined --log-buffer mutex"};
constexpr Step kAsync = {"asynchronous commit", " --elr on --commit async --log-buffer mutex"};
constexpr Step kAether = {"Aether", " --elr on --commit pipelined --log-buffer hybrid"};

std::vector<FigureSeries> steps(const std::vector<Step>& wanted, const std::string& value) {
  std::vector<FigureSeries> series;
  for (const Step& step : wanted) {
    series.push_back({.name = step.name, .command = kTpcb + " --threads $x" + step.options, .value = value});
  }
  return series;
}

Figure figure_5() {
  return {.name = "aether-figure-5",
          .paper = kPaper,
          .title = "Switches between threads, without and with flush pipelining",
          .paper_says = {"Without it, context switches grow with the clients and 12 of 64 hardware contexts "
                         "stay idle; with it they stay nearly "
                         "steady, and all contexts are used."},
          .scaled =
              "TPC-B on 2 branches. Switches are the kernel's count for the whole process, loading included, "
              "by the run's seconds.",
          .panels = {{.name = "switches",
                      .title = "Context switches",
                      .chart = Chart::kLines,
                      .x = "threads",
                      .xs = {"1..4cores"},
                      .unit = "a second",
                      .series = steps({kReleased, kPipelined}, "process.context_switches / seconds")},
                     {.name = "per transaction",
                      .title = "Context switches a transaction",
                      .chart = Chart::kLines,
                      .x = "threads",
                      .xs = {"1..4cores"},
                      .unit = "switches",
                      .log_y = true,
                      .series = steps({kReleased, kPipelined}, "process.context_switches / committed")},
                     {.name = "busy",
                      .title = "Workers' share of the processors",
                      .chart = Chart::kLines,
                      .x = "threads",
                      .xs = {"1..4cores"},
                      .unit = "%",
                      .series =
                          steps({kReleased, kPipelined}, "100 * processor_seconds / ( seconds * $cores )")}},
          .claims = {{.says = "flush pipelining switches less a transaction, with any number of threads",
                      .panel = "per transaction",
                      .left = {"flush pipelining", "*"},
                      .relation = kBelow,
                      .right = {"early lock release", "*"}},
                     {.says = "and uses more of the processors, with the most threads",
                      .panel = "busy",
                      .left = {"flush pipelining", "$last"},
                      .relation = kAbove,
                      .right = {"early lock release", "$last"}}},
          .in_tour = true};
}

Figure figure_6() {
  return {.name = "aether-figure-6",
          .paper = kPaper,
          .title = "Flush pipelining against asynchronous commit",
          .paper_says = {"Flush pipelining is as fast as asynchronous commit, which loses transactions, and "
                         "up to 22% above the baseline."},
          .scaled = "TPC-B on 2 branches; early lock release in all three.",
          .panels = {{.name = "throughput",
                      .title = "Throughput",
                      .chart = Chart::kLines,
                      .x = "threads",
                      .xs = {"1..4cores"},
                      .unit = "transactions/s",
                      .series = steps({kReleased, kPipelined, kAsync}, "throughput_tps")}},
          .claims = {{.says = "flush pipelining beats waiting for each commit, with any number of threads",
                      .panel = "throughput",
                      .left = {"flush pipelining", "*"},
                      .relation = kAbove,
                      .right = {"early lock release", "*"}},
                     {.says = "it reaches nine tenths of asynchronous commit, with the most threads",
                      .panel = "throughput",
                      .left = {"flush pipelining", "$last"},
                      .relation = kAbove,
                      .times = 0.9,
                      .right = {"asynchronous commit", "$last"}}},
          .in_tour = true};
}

const std::string kSpinning =
    "A thread waits here until all earlier records are published, and where one of their threads has lost "
    "its core, that takes a turn of the "
    "system's scheduler; who holds a mutex for a few nanoseconds is rarely stopped within them "
    "(docs/performance.md, \"Log buffers\"). Two "
    "cores have no contention that would make up for it.";

std::string bench(const std::string& buffer, const std::string& options) {
  return "logbench --duration $short --log-buffer " + buffer + " " + options;
}

Figure figure_9() {
  const std::vector<std::pair<std::string, std::string>> variants = {{"baseline", "mutex"},
                                                                     {"consolidation (C)", "consolidation"},
                                                                     {"decoupled (D)", "decoupled"},
                                                                     {"hybrid (CD)", "hybrid"}};
  std::vector<FigureSeries> threads, sizes;
  for (const auto& [name, buffer] : variants) {
    threads.push_back({.name = name,
                       .command = bench(buffer, "--record-bytes 120 --threads $x"),
                       .value = "1e-6 * bytes_per_s"});
    sizes.push_back({.name = name,
                     .command = bench(buffer, "--threads $cores --record-bytes $x"),
                     .value = "1e-6 * bytes_per_s"});
  }
  return {.name = "aether-figure-9",
          .paper = kPaper,
          .title = "Log buffers, by threads and by the size of records",
          .paper_says = {"With records of 120 bytes the baseline peaks at 140 MB a second; consolidation "
                         "starts lower and scales, decoupling is better "
                         "and then contended; the hybrid has the best of both. Over sizes from 48 bytes to "
                         "12 kB it is ahead throughout; up to 1 kB "
                         "consolidation beats decoupling, beyond it the other way round."},
          .scaled =
              "The null device. The cores in place of 64 hardware contexts; on the left, threads to four "
              "times as many: then most of them "
              "wait for a core.",
          .panels = {{.name = "threads",
                      .title = "Records of 120 bytes",
                      .chart = Chart::kLines,
                      .x = "threads",
                      .xs = {"1..4cores"},
                      .unit = "MB/s",
                      .series = threads,
                      .paper = {{"baseline", "peak", 140}}},
                     {.name = "sizes",
                      .title = "As many threads as cores",
                      .chart = Chart::kLines,
                      .x = "bytes a record",
                      .xs = {"48", "120", "1024", "4096", "12288"},
                      .unit = "MB/s",
                      .log_y = true,
                      .series = sizes}},
          .claims = {{.says = "hybrid at least as fast as the mutex, with as many threads as cores",
                      .panel = "threads",
                      .left = {"hybrid (CD)", "$cores"},
                      .relation = kAbove,
                      .right = {"baseline", "$cores"},
                      .reason = kSpinning},
                     {.says = "and with four times as many",
                      .panel = "threads",
                      .left = {"hybrid (CD)", "$last"},
                      .relation = kAbove,
                      .right = {"baseline", "$last"},
                      .reason = kSpinning},
                     {.says = "consolidation starts below the baseline, with one thread",
                      .panel = "threads",
                      .left = {"consolidation (C)", "1"},
                      .relation = kBelow,
                      .times = 1.05,
                      .right = {"baseline", "1"}},
                     {.says = "hybrid ahead of the mutex at every size",
                      .panel = "sizes",
                      .left = {"hybrid (CD)", "*"},
                      .relation = kAbove,
                      .right = {"baseline", "*"},
                      .reason = kSpinning}},
          .in_tour = true};
}

Figure figure_10() {
  const auto outliers = [](const std::string& name, const std::string& buffer) {
    return FigureSeries{.name = name,
                        .command = bench(buffer, "--threads $cores --record-bytes 48 --outliers $x:1.64"),
                        .value = "1e-6 * bytes_per_s"};
  };
  return {
      .name = "aether-figure-10",
      .paper = kPaper,
      .title = "Rare large records",
      .paper_says = {"Hybrid and delegated are alike up to outliers of 8 kB; beyond 65 kB delegated release "
                     "is up to twice as fast, and under "
                     "normal sizes about 10% slower."},
      .scaled =
          "One record of 61 is large, the others have 48 bytes, as in the paper; as many threads as cores, "
          "the null device.",
      .panels = {{.name = "bandwidth",
                  .title = "Bandwidth",
                  .chart = Chart::kLines,
                  .x = "bytes of the outliers",
                  .xs = {"1024", "8192", "65536", "262144"},
                  .unit = "MB/s",
                  .log_y = true,
                  .series = {outliers("hybrid (CD)", "hybrid"), outliers("delegated (CDE)", "delegated")}}},
      .claims = {{.says = "delegated is faster with the largest outliers",
                  .panel = "bandwidth",
                  .left = {"delegated (CDE)", "$last"},
                  .relation = kAbove,
                  .right = {"hybrid (CD)", "$last"},
                  .reason = "Runs of 0.3 seconds on busy cores differ by more than the two buffers do; "
                            "docs/performance.md (\"Log buffers\") has a "
                            "sitting in which delegated is far ahead."}},
      .in_tour = true};
}

Figure figure_11() {
  std::vector<FigureSeries> series;
  for (const char* slots : {"1", "2", "3", "4", "8"}) {
    series.push_back(
        {.name = std::string(slots) + (slots[0] == '1' ? " slot" : " slots"),
         .command = bench("hybrid", "--record-bytes 120 --threads $x --slots " + std::string(slots)),
         .value = "1e-6 * bytes_per_s"});
  }
  return {
      .name = "aether-figure-11",
      .paper = kPaper,
      .title = "Slots of the consolidation array",
      .paper_says = {"3 to 4 slots are best; fewer threads want fewer, many threads somewhat more."},
      .scaled = "The hybrid buffer, records of 120 bytes, the null device, threads to four times the cores.",
      .panels = {{.name = "bandwidth",
                  .title = "Bandwidth",
                  .chart = Chart::kLines,
                  .x = "threads",
                  .xs = {"1..4cores"},
                  .unit = "MB/s",
                  .series = series}},
      .claims = {
          {.says = "4 slots are no slower than one, with as many threads as cores",
           .panel = "bandwidth",
           .left = {"4 slots", "$cores"},
           .relation = kAbove,
           .right = {"1 slot", "$cores"},
           .reason = "On few cores threads seldom meet at a slot, so that their number hardly matters."}}};
}

Figure figure_12() {
  return {.name = "aether-figure-12",
          .paper = kPaper,
          .title = "What each part of Aether gains",
          .paper_says =
              {"Flush pipelining 37% above the baseline's peak, the scalable buffer 15% more, 58% in all."},
          .scaled = "TPC-B on 2 branches, threads to four times the cores.",
          .panels = {{.name = "throughput",
                      .title = "Throughput",
                      .chart = Chart::kLines,
                      .x = "threads",
                      .xs = {"1..4cores"},
                      .unit = "transactions/s",
                      .series = steps({kBaseline, kReleased, kPipelined, kAether}, "throughput_tps")}},
          .claims = {{.says = "flush pipelining is 37% above the baseline, with as many threads as cores",
                      .panel = "throughput",
                      .left = {"flush pipelining", "$cores"},
                      .relation = kAbove,
                      .times = 1.37,
                      .right = {"baseline", "$cores"}},
                     {.says = "the scalable buffer adds to it",
                      .panel = "throughput",
                      .left = {"Aether", "$cores"},
                      .relation = kAbove,
                      .right = {"flush pipelining", "$cores"},
                      .reason = "On few cores the log's mutex is not what transactions wait for."},
                     {.says = "Aether as a whole is 58% above the baseline",
                      .panel = "throughput",
                      .left = {"Aether", "$cores"},
                      .relation = kAbove,
                      .times = 1.58,
                      .right = {"baseline", "$cores"}}},
          .in_tour = true};
}

Figure figure_13() {
  const auto variant = [](const std::string& name, const std::string& buffer) {
    return FigureSeries{.name = name,
                        .command = bench(buffer, "--record-bytes 120 --log-device null --threads $x"),
                        .value = "1e-6 * bytes_per_s"};
  };
  return {
      .name = "aether-figure-13",
      .paper = kPaper,
      .title = "Buffers for several sockets",
      .paper_says = {"On four sockets the plain combination array loses a factor of 2 with each thread from "
                     "2 to 4 and collapses beyond 32; an "
                     "array a socket does not collapse; a distributed log scales linearly and is far ahead."},
      .scaled =
          "As many sockets as the machine has, on most one: then an array a socket is a plain one, and two "
          "streams are dealt to threads "
          "in turns.",
      .panels = {{.name = "bandwidth",
                  .title = "Bandwidth",
                  .chart = Chart::kLines,
                  .x = "threads",
                  .xs = {"1..4cores"},
                  .unit = "MB/s",
                  .series = {variant("CD-Vanilla", "hybrid"), variant("CD-Socket", "socket"),
                             variant("CD-Distributed", "distributed --streams 2 --stream-buffer hybrid")}}},
      .claims = {{.says = "the distributed log is ahead, with as many threads as cores",
                  .panel = "bandwidth",
                  .left = {"CD-Distributed", "$cores"},
                  .relation = kAbove,
                  .right = {"CD-Vanilla", "$cores"},
                  .reason = "It has two flushers to feed, and on one socket no remote memory to save."}},
      .in_tour = true};
}

}  // namespace aether

std::vector<Figure> aether_figures() {
  using namespace aether;
  return {figure_3(),  figure_4(),  figure_5(),  figure_6(), figure_9(),
          figure_10(), figure_11(), figure_12(), figure_13()};
}

}  // namespace mneme
