// ELEDA: Scalable Database Logging for Multicores (VLDB'18), Figures 8 to 21.
#include "experiments/catalog.h"

namespace mneme {
namespace eleda {

using enum FigureClaim::Relation;

constexpr const char* kPaper = "ELEDA, VLDB'18";

const std::vector<std::string> kQuantiles = {"p50", "p95", "p99", "p999", "max"};
const std::string kVanilla = " --log-buffer consolidation --commit sync";
const std::string kEleda = " --log-buffer grasshopper";

const std::string kSystems =
    "The paper puts ELEDA into WiredTiger and Shore-MT, on 36 cores with two NVMe SSDs; here the three "
    "systems are this engine with other "
    "options: `vanilla` a consolidation array, each worker waiting for its commit (--log-buffer "
    "consolidation --commit sync); `vanilla, memory` "
    "the same on a device that drops everything; `ELEDA` its grasshopper buffer and pipelined commits. ";

// The three systems of most figures, as workload and number of threads go.
std::vector<FigureSeries> systems(const std::string& run, const std::string& value) {
  return {{.name = "vanilla", .command = run + kVanilla, .value = value},
          {.name = "vanilla, memory", .command = run + kVanilla + " --log-device null", .value = value},
          {.name = "ELEDA", .command = run + kEleda, .value = value}};
}

const std::string kKeyValue = "run ycsb --ycsb A --skew 0 --duration $seconds";
const std::string kOltp = "run tatp --duration $seconds";

Figure throughput(const std::string& number, const std::string& title, const std::string& workload,
                  const std::string& run) {
  return {.name = "eleda-figure-" + number,
          .paper = kPaper,
          .title = title,
          .scaled = kSystems + workload,
          .panels = {{.name = "throughput",
                      .title = "Throughput",
                      .chart = Chart::kLines,
                      .x = "threads",
                      .xs = {"1..4cores"},
                      .unit = "transactions/s",
                      .series = systems(run + " --threads $x", "throughput_tps")}},
          .claims = {{.says = "ELEDA is faster than vanilla, with any number of threads",
                      .panel = "throughput",
                      .left = {"ELEDA", "*"},
                      .relation = kAbove,
                      .right = {"vanilla", "*"}},
                     {.says = "and than vanilla in memory, with as many threads as cores",
                      .panel = "throughput",
                      .left = {"ELEDA", "$cores"},
                      .relation = kAbove,
                      .right = {"vanilla, memory", "$cores"}}}};
}

Figure figure_8() {
  Figure figure =
      throughput("8", "Throughput of the key-value workload",
                 "YCSB A on 100,000 records, uniform; threads to four times the cores.", kKeyValue);
  figure.paper_says = {
      "WiredTiger with ELEDA peaks at 3.9 million transactions a second with 32 threads, 71 times the "
      "vanilla system on NVMe; "
      "about 10 times with one thread. Vanilla on tmpfs peaks at 740,000 with 4 threads and collapses. "
      "Shore-MT: 898,000 (16 "
      "threads) against 143,000 on NVMe and 492,000 on tmpfs."};
  figure.panels[0].paper = {
      {"ELEDA", "32", 3.9e6}, {"vanilla", "32", 3.9e6 / 71}, {"vanilla, memory", "4", 740e3}};
  figure.claims.push_back({.says = "hiding the latency makes one thread 10 times as fast",
                           .panel = "throughput",
                           .left = {"ELEDA", "1"},
                           .relation = kAbove,
                           .times = 10,
                           .right = {"vanilla", "1"}});
  figure.in_tour = true;
  return figure;
}

Figure latency(const std::string& number, const std::string& title, const std::string& workload,
               const std::string& run) {
  return {.name = "eleda-figure-" + number,
          .paper = kPaper,
          .title = title,
          .scaled = kSystems + workload,
          .panels = {{.name = "latency",
                      .title = "Commit latency, with four threads a core",
                      .chart = Chart::kQuantiles,
                      .x = "quantile",
                      .xs = kQuantiles,
                      .unit = "us",
                      .log_y = true,
                      .series = systems(run, "latency_us.$x")},
                     {.name = "mean",
                      .title = "Mean commit latency",
                      .x = "workload",
                      .xs = {number == "9" ? "key-value" : "OLTP"},
                      .unit = "us",
                      .series = systems(run, "latency_us.mean")}}};
}

Figure figure_9() {
  Figure figure = latency("9", "Commit latency of the key-value workload", "YCSB A, as in figure 8.",
                          kKeyValue + " --threads 8");
  figure.paper_says = {
      "With 32 threads: WiredTiger with ELEDA 1.3 ms on average, vanilla on NVMe 576 us, on tmpfs 1.1 ms. "
      "Latency is what ELEDA "
      "pays for throughput."};
  figure.panels[1].paper = {
      {"ELEDA", "key-value", 1300}, {"vanilla", "key-value", 576}, {"vanilla, memory", "key-value", 1100}};
  figure.claims = {
      {.says = "vanilla answers sooner than ELEDA, on average",
       .panel = "mean",
       .left = {"vanilla"},
       .relation = kBelow,
       .right = {"ELEDA"},
       .reason = "With more threads than cores a worker that waits for its commit also waits for a core."}};
  return figure;
}

Figure figure_10() {
  Figure figure = throughput("10", "Throughput of the OLTP workload",
                             "TATP in the place of sysbench; threads to four times the cores.", kOltp);
  figure.paper_says = {
      "WiredTiger with ELEDA peaks at 1 million transactions a second with 32 threads; vanilla at 30,000 on "
      "NVMe and 421,000 on "
      "tmpfs (4 threads). Shore-MT: 810,000, 67,000 and 248,000."};
  figure.panels[0].paper = {{"ELEDA", "32", 1e6}, {"vanilla", "32", 30e3}, {"vanilla, memory", "4", 421e3}};
  return figure;
}

Figure figure_11() {
  Figure figure = latency("11", "Commit latency of the OLTP workload", "TATP in the place of sysbench.",
                          kOltp + " --threads 8");
  figure.paper_says = {
      "With 32 threads: WiredTiger with ELEDA 3.7 ms on average, vanilla 1 ms on NVMe and 2.5 ms on tmpfs."};
  figure.panels[1].paper = {
      {"ELEDA", "OLTP", 3700}, {"vanilla", "OLTP", 1000}, {"vanilla, memory", "OLTP", 2500}};
  figure.claims = {
      {.says = "vanilla answers sooner than ELEDA, on average",
       .panel = "mean",
       .left = {"vanilla"},
       .relation = kBelow,
       .right = {"ELEDA"},
       .reason = "With more threads than cores a worker that waits for its commit also waits for a core."}};
  return figure;
}

Figure figure_12() {
  Figure figure = throughput("12", "TPC-C: new orders and payments",
                             "NEW_ORDER and PAYMENT in equal parts, on as many warehouses as TPC-C's scale "
                             "here has, not one a thread.",
                             "run tpcc --warehouses $W --mix new_order=50,payment=50 --duration $seconds");
  figure.paper_says = {"Vanilla on tmpfs scales to 16 threads and collapses; ELEDA does not collapse."};
  return figure;
}

Figure figure_13() {
  return {
      .name = "eleda-figure-13",
      .paper = kPaper,
      .title = "Throughput under snapshot isolation",
      .paper_says = {"Under snapshot isolation, WiredTiger's own snapshots limit ELEDA beyond 16 threads."},
      .not_here =
          "It shows another isolation level of WiredTiger's. This engine has one, serializable, in which "
          "figures 8 and 10 are "
          "measured already."};
}

Figure figure_14() {
  const std::string run = kKeyValue + " --threads $cores --field-bytes $x";
  std::vector<FigureSeries> bandwidth = systems(run, "1e-6 * log_bytes / seconds");
  for (FigureSeries& series : bandwidth) series.command += " --log logical";
  std::vector<FigureSeries> rate = bandwidth;
  for (FigureSeries& series : rate) series.value = "throughput_tps";
  return {.name = "eleda-figure-14",
          .paper = kPaper,
          .title = "Payloads of other sizes",
          .paper_says = {"From 512 bytes to 5 KiB ELEDA's throughput falls slowly, as the log grows, to 6.2 "
                         "GiB a second; the others stay where "
                         "they are."},
          .scaled = kSystems +
                    "A record's ten fields have 50 to 500 bytes each; rows are logged (--log logical), so "
                    "that the payload is in the log.",
          .panels = {{.name = "throughput",
                      .title = "Throughput",
                      .chart = Chart::kLines,
                      .x = "bytes a field",
                      .xs = {"50", "100", "200", "500"},
                      .unit = "transactions/s",
                      .series = rate},
                     {.name = "bandwidth",
                      .title = "Log",
                      .chart = Chart::kLines,
                      .x = "bytes a field",
                      .xs = {"50", "100", "200", "500"},
                      .unit = "MB/s",
                      .series = bandwidth}},
          .claims = {{.says = "ELEDA's throughput falls as payloads grow",
                      .panel = "throughput",
                      .left = {"ELEDA", "$last"},
                      .relation = kBelow,
                      .right = {"ELEDA", "$first"}},
                     {.says = "ELEDA writes more of a log than vanilla, at each size",
                      .panel = "bandwidth",
                      .left = {"ELEDA", "*"},
                      .relation = kAbove,
                      .right = {"vanilla", "*"}}}};
}

Figure figure_15() {
  const auto run = [](const std::string& name, const std::string& options) {
    return FigureSeries{.name = name,
                        .command = "run $x --threads $cores --duration $seconds" + options,
                        .value = "throughput_tps"};
  };
  return {.name = "eleda-figure-15",
          .paper = kPaper,
          .title = "Against logging in persistent memory",
          .paper_says = {"ELEDA on SSDs is about as fast as logging in emulated NVM, at times faster."},
          .scaled =
              "NVM is this engine's emulated persistent memory (--log-device nvm), whose flush of a record "
              "takes 1.2 us longer, or nothing.",
          .panels = {{.name = "throughput",
                      .title = "Throughput",
                      .x = "workload",
                      .xs = {"ycsb", "tatp"},
                      .unit = "transactions/s",
                      .series = {run("ELEDA", kEleda), run("NVM, 1.2 us", " --log-device nvm"),
                                 run("NVM, 0 us", " --log-device nvm --device-latency 0")}}},
          .claims = {{.says = "ELEDA reaches nine tenths of NVM, key-value",
                      .panel = "throughput",
                      .left = {"ELEDA", "ycsb"},
                      .relation = kAbove,
                      .times = 0.9,
                      .right = {"NVM, 1.2 us", "ycsb"}}}};
}

std::string micro(const std::string& options) {
  return "logbench --log-buffer grasshopper --duration $short " + options;
}

Figure figure_16() {
  const std::vector<std::string> sizes = {"128", "512", "2048", "8192"};
  std::vector<FigureSeries> inserts, bandwidth, tail;
  for (const char* threads : {"1", "2", "4"}) {
    const std::string name = std::string(threads) + (threads[0] == '1' ? " thread" : " threads");
    const std::string command =
        micro("--log-device file --threads " + std::string(threads) + " --record-bytes $x");
    inserts.push_back({.name = name, .command = command, .value = "inserts_per_s"});
    bandwidth.push_back({.name = name, .command = command, .value = "1e-6 * bytes_per_s"});
    tail.push_back(
        {.name = name,
         .command = micro("--log-device file --threads " + std::string(threads) + " --record-bytes 128"),
         .value = "latency_us.$x"});
  }
  return {.name = "eleda-figure-16",
          .paper = kPaper,
          .title = "The log alone: throughput, bandwidth, latency",
          .paper_says = {"1.34 million transactions a second with logs of 128 bytes, held up to 2 KiB; "
                         "beyond, the device's bandwidth (6.9 GiB/s, "
                         "reached at 4 KiB) sets the limit. More threads widen the latencies."},
          .scaled =
              "`mneme logbench` inserts single records, without transactions around them, into a durable log "
              "on one disk.",
          .panels = {{.name = "inserts",
                      .title = "(a) Records a second",
                      .chart = Chart::kLines,
                      .x = "bytes a record",
                      .xs = sizes,
                      .unit = "records/s",
                      .log_y = true,
                      .series = inserts},
                     {.name = "bandwidth",
                      .title = "(b) Bandwidth",
                      .chart = Chart::kLines,
                      .x = "bytes a record",
                      .xs = sizes,
                      .unit = "MB/s",
                      .series = bandwidth},
                     {.name = "latency",
                      .title = "(c) Latency until it is durable, records of 128 bytes",
                      .chart = Chart::kQuantiles,
                      .x = "quantile",
                      .xs = kQuantiles,
                      .unit = "us",
                      .log_y = true,
                      .series = tail}},
          .claims = {{.says = "records of 8 KiB are fewer a second than of 128 bytes",
                      .panel = "inserts",
                      .left = {"1 thread", "$last"},
                      .relation = kBelow,
                      .right = {"1 thread", "$first"}},
                     {.says = "but more bytes",
                      .panel = "bandwidth",
                      .left = {"1 thread", "$last"},
                      .relation = kAbove,
                      .right = {"1 thread", "$first"}}},
          .in_tour = true};
}

Figure figure_17() {
  return {.name = "eleda-figure-17",
          .paper = kPaper,
          .title = "How much of the processors is used",
          .paper_says = {"With 32 threads vanilla WiredTiger on NVMe sleeps 88% of the time, on tmpfs it "
                         "spins 20%; with ELEDA nearly all "
                         "processors work, and the kernel takes next to nothing."},
          .scaled = kSystems +
                    "YCSB A. The workers' processor time against the cores' (which the flusher and other "
                    "processes need as well); who "
                    "spins and who works is not told apart, for want of a profile.",
          .panels = {{.name = "busy",
                      .title = "Workers' share of the processors",
                      .chart = Chart::kLines,
                      .x = "threads",
                      .xs = {"1..4cores"},
                      .unit = "%",
                      .series = systems(kKeyValue + " --threads $x",
                                        "100 * processor_seconds / ( seconds * $cores )")}},
          .claims = {{.says = "ELEDA uses more of the processors than vanilla, with as many threads as cores",
                      .panel = "busy",
                      .left = {"ELEDA", "$cores"},
                      .relation = kAbove,
                      .right = {"vanilla", "$cores"}}},
          .in_tour = true};
}

Figure figure_18() {
  std::vector<FigureSeries> series;
  for (const auto& [name, bytes] : {std::pair{"64 KiB", "65536"}, std::pair{"512 KiB", "524288"}}) {
    series.push_back({.name = name,
                      .command = kKeyValue + " --threads $cores" + kEleda +
                                 " --flush-interval 1000000 --io-unit " + bytes + " --flush-bytes " + bytes,
                      .value = "latency_us.$x"});
  }
  return {.name = "eleda-figure-18",
          .paper = kPaper,
          .title = "The unit of I/O",
          .paper_says = {"A unit of 64 KiB has much shorter commit latencies than one of 512 KiB (an order "
                         "of magnitude), and about half its bandwidth."},
          .scaled =
              "YCSB A, all cores as workers. The log is sent when a unit is full, or after a second "
              "(--flush-bytes, --flush-interval).",
          .panels = {{.name = "latency",
                      .title = "Commit latency",
                      .chart = Chart::kQuantiles,
                      .x = "quantile",
                      .xs = kQuantiles,
                      .unit = "us",
                      .log_y = true,
                      .series = series}},
          .claims = {{.says = "the smaller unit answers sooner, in the middle",
                      .panel = "latency",
                      .left = {"64 KiB", "p50"},
                      .relation = kBelow,
                      .right = {"512 KiB", "p50"}}}};
}

Figure figure_19() {
  const std::string run = kKeyValue + " --threads $x";
  return {.name = "eleda-figure-19",
          .paper = kPaper,
          .title = "What each part of ELEDA gains",
          .paper_says = {"With few threads hiding the latency gains most; from about 4 threads on it "
                         "collapses by lock contention, and the "
                         "grasshopper buffer is what scales."},
          .scaled = kSystems + "YCSB A. `Latency hiding` is pipelined commits on the consolidation array.",
          .panels = {{.name = "throughput",
                      .title = "Throughput",
                      .chart = Chart::kLines,
                      .x = "threads",
                      .xs = {"1..4cores"},
                      .unit = "transactions/s",
                      .series = {{.name = "vanilla", .command = run + kVanilla, .value = "throughput_tps"},
                                 {.name = "latency hiding",
                                  .command = run + " --log-buffer consolidation",
                                  .value = "throughput_tps"},
                                 {.name = "ELEDA", .command = run + kEleda, .value = "throughput_tps"}}}},
          .claims = {{.says = "hiding the latency gains most of it with one thread",
                      .panel = "throughput",
                      .left = {"latency hiding", "1"},
                      .relation = kAbove,
                      .times = 2,
                      .right = {"vanilla", "1"}},
                     {.says = "ELEDA beats hiding the latency alone, with as many threads as cores",
                      .panel = "throughput",
                      .left = {"ELEDA", "$cores"},
                      .relation = kAbove,
                      .right = {"latency hiding", "$cores"},
                      .reason = "On few cores no lock of the log is contended enough: transactions cost a "
                                "hundred times an insert."}}};
}

Figure figure_20() {
  std::vector<FigureSeries> series;
  for (const char* bytes : {"128", "1024", "4096"}) {
    series.push_back({.name = std::string(bytes) + " bytes",
                      .command = micro("--threads $x --record-bytes " + std::string(bytes)),
                      .value = "100 * crawling_ratio"});
  }
  return {
      .name = "eleda-figure-20",
      .paper = kPaper,
      .title = "Crawling and hopping",
      .paper_says = {"With few threads most of the log is passed by crawling; with more threads and smaller "
                     "payloads crawling falls behind and "
                     "hopping takes over."},
      .scaled = "`mneme logbench` without a device, threads to four times the cores.",
      .panels = {{.name = "crawled",
                  .title = "Share of the log that is passed by crawling",
                  .chart = Chart::kLines,
                  .x = "threads",
                  .xs = {"1..4cores"},
                  .unit = "%",
                  .series = series}},
      .claims = {{.says = "less is crawled with the most threads than with one, 128 bytes",
                  .panel = "crawled",
                  .left = {"128 bytes", "$last"},
                  .relation = kBelow,
                  .right = {"128 bytes", "$first"},
                  .reason = "More threads than cores insert no faster, so the crawler need not fall behind."},
                 {.says =
                      "more is crawled of large records than of small ones, with as many threads as cores",
                  .panel = "crawled",
                  .left = {"4096 bytes", "$cores"},
                  .relation = kAbove,
                  .right = {"128 bytes", "$cores"},
                  .reason = "The crawler has no core to itself here, and falls behind by whole ranges, "
                            "whatever the size of records."}},
      .in_tour = true};
}

Figure figure_21() {
  const auto buffer = [](const std::string& name, const std::string& options) {
    return FigureSeries{
        .name = name,
        .command = "logbench --duration $short --threads $x --record-bytes 128 --log-buffer " + options,
        .value = "1e-6 * bytes_per_s"};
  };
  return {
      .name = "eleda-figure-21",
      .paper = kPaper,
      .title = "Grasshopper against scanning a bitmap",
      .paper_says = {"Scanning a bitmap of a bit a byte reaches its limit, about 40 MiB a second, with 2 "
                     "threads already; grasshopper is far "
                     "above."},
      .scaled =
          "`mneme logbench` without a device, records of 128 bytes; scanning bit by bit, as the paper has "
          "it, and word by word.",
      .panels = {{.name = "bandwidth",
                  .title = "Bandwidth",
                  .chart = Chart::kLines,
                  .x = "threads",
                  .xs = {"1..4cores"},
                  .unit = "MB/s",
                  .log_y = true,
                  .series = {buffer("grasshopper", "grasshopper"), buffer("scan, bits", "scan --scan-bits 1"),
                             buffer("scan, words", "scan --scan-bits 64")},
                  .paper = {{"scan, bits", "2", 42}}}},
      .claims = {{.says = "grasshopper is several times as fast as scanning bits, with any number of threads",
                  .panel = "bandwidth",
                  .left = {"grasshopper", "*"},
                  .relation = kAbove,
                  .times = 3,
                  .right = {"scan, bits", "*"}}},
      .in_tour = true};
}

}  // namespace eleda

std::vector<Figure> eleda_figures() {
  using namespace eleda;
  return {figure_8(),  figure_9(),  figure_10(), figure_11(), figure_12(), figure_13(), figure_14(),
          figure_15(), figure_16(), figure_17(), figure_18(), figure_19(), figure_20(), figure_21()};
}

}  // namespace mneme
