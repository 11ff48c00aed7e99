#include "cli/option/option_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/option/option_rows.h"
#include "cli/output/file_checks.h"
#include "logging/buffer/log_buffer_factory.h"
#include "logging/device/io_options.h"
#include "logging/device/log_device_kind.h"
#include "recovery/database/recovery_schemes.h"
#include "workloads/workload_table.h"

namespace mneme {
namespace {

using enum OptionGroup;

constexpr std::ptrdiff_t kResultRows = 2;  // the last ones

OptionWords scheme_words() {
  OptionWords words;
  for (const RecoveryScheme& each : recovery_schemes())
    words.push_back({std::string(each.name), std::string(each.summary)});
  return words;
}

OptionWords log_buffer_words() {
  OptionWords words = {{"default"}};
  for (const LogBufferKind kind : log_buffer_kinds()) words.push_back({std::string(name_of(kind))});
  words.push_back({"epoch", "workers in groups, each with a logger and files of its own"});
  words.push_back({"distributed", "several streams, one a socket"});
  words.push_back({"all", "of logbench alone: one after the other, to compare"});
  return words;
}

OptionWords log_device_words() {
  OptionWords words;
  for (size_t i = 0; i < kLogDeviceKinds; ++i) {
    const auto kind = static_cast<LogDeviceKind>(i);
    words.push_back({std::string(name_of(kind)), std::string(traits_of(kind).help)});
  }
  return words;
}

constexpr OptionRow kTable[] = {
    // The directory and threads of a command
    {kCommand, "directory",
     "the data directory; of follow the standby's: a copy of the primary's, or its own from before", false,
     nullptr, true},
    {kCommand, "--data-dir",
     "run: where the database lives; crash, acid: where the test may work; logbench: of a durable log, made "
     "and "
     "removed at the end; logd: where logs are saved when their engine or the server ends",
     kShown},
    {kCommand, "--threads",
     "workers that run calls or insert records; recover, follow, verify: threads that replay", kShown,
     positive},

    // Workloads
    {kWorkload, "--workload",
     "serve --create: the database begins with this workload's tables, procedures and rows: one of {}, or "
     "FILE.sql; "
     "default: empty",
     false, nullptr, false, 0, workload_words},
    {kWorkload, "workload", "one of {}; or your own, FILE.sql with tables and procedures", false, nullptr,
     true, 0, workload_words},
    {kWorkload, "--calls",
     "FILE.sql: a CSV file of its calls, a line each, PROCEDURE,ARGUMENT,... "
     "(docs/workloads.md)"},
    {kWorkload, "--rows",
     "FILE.sql: a CSV file of the rows to begin with, TABLE,VALUE,... (docs/workloads.md); default: none"},
    {kWorkload, "--checks",
     "FILE.sql: a .sql file of SELECTs that must return no row, which verify and crash run "
     "(docs/workloads.md); default: none"},
    {kWorkload, "--warehouses,--scale",
     "tpcc: warehouses, about 100 MiB each; smallbank: times 18,000 customers; tatp: times 100,000 "
     "subscribers, "
     "about 75 MiB; tpcb: branches, each with 100,000 accounts, about 15 MiB; ycsb: times 100,000 records, "
     "about 100 MiB",
     kShown, positive},
    {kWorkload, "--seed", "of the population and of the calls", kShown, not_negative},
    {kWorkload, "--mix", "NAME=PCT,... in place of the specification's mix", kShown},
    {kWorkload, "--hotspot-percent", "smallbank: share of calls to the hotspot", kShown, percent},
    {kWorkload, "--hotspot-size", "smallbank: customers in the hotspot", kShown, positive},
    {kWorkload, "--skew",
     "Zipfian theta from 0, uniform, to below 1; tpcb: of branches and accounts (default 0); ycsb: of "
     "records "
     "(default 0.99)"},
    with(+[]() -> OptionWords { return {{"A"}, {"B"}, {"C"}, {"D"}, {"E"}, {"F"}}; },
         {kWorkload, "--ycsb", "ycsb: the core workload, one of {}", kShown}),
    in(OptionUnit::kBytes,
       {kWorkload, "--field-bytes", "ycsb: the length of each of a record's ten fields", kShown, positive}),

    // A run
    {kRun, "--resume", "continue with the database in the directory: recover it, then run"},
    one_of(
        +[]() -> OptionWords {
          return {{"recovered", "its whole log is replayed before anything runs"},
                  {"on-demand",
                   "transactions run at once, and each waits for the rows that it touches (logs of calls)"}};
        },
        {kRun, "--open", "of a database that is there: {}", kShown}),
    rare(in(
        OptionUnit::kSeconds,
        {kRun, "--open-wait",
         "of --open on-demand: so long whoever asks for a row waits, at most, for all of the log, which is "
         "replayed sooner as a whole; 0: replay turns to the row at once",
         kShown, not_negative})),
    in(OptionUnit::kSeconds,
       {kRun, "--duration",
        "seconds: of the run; acid: of the load before the conditions are checked; demo: until the kill; "
        "logbench: for each buffer and round",
        kShown, positive}),
    {kRun, "--transactions", "run this many calls in place of a duration", false, not_negative},
    in(OptionUnit::kSeconds,
       with(
           +[]() -> OptionWords {
             return {{"steady", "until ten seconds of throughput show no trend"}};
           },
           {kRun, "--warmup", "seconds that are not measured; {}", kShown, not_negative})),
    in(OptionUnit::kSeconds,
       {kRun, "--warmup-limit", "--warmup steady: the most seconds that it may take", kShown, positive}),
    {kRun, "--rate",
     "open loop: calls a second over all workers, due as --arrivals says; a call's latency counts from the "
     "moment it was due, however late it began",
     false, positive},
    one_of(
        +[]() -> OptionWords {
          return {{"uniform", "at fixed intervals"},
                  {"poisson", "at random, as independent clients send them"}};
        },
        {kRun, "--arrivals", "of --rate: {}", kShown}),
    {kRun, "--terminals",
     "tpcc: users a warehouse who key in, wait and think; ten by the specification (5.2.5), with at most "
     "12.86 tpmC a "
     "warehouse; without it the next call follows at once",
     false, positive},
    {kRun, "--audit",
     "hold the run against its benchmark's specification, line by line: the mix, which rows the calls "
     "choose, "
     "how many of them succeed, response times"},
    {kRun, "--metrics",
     "serve numbers of the process on http://127.0.0.1:PORT/metrics meanwhile, in Prometheus' text format; "
     "0: a port that "
     "is free"},
    {kRun, "--histogram",
     "write the latencies of each second and procedure to this file, as an interval log that HdrHistogram's "
     "tools read",
     false, writable_file},
    one_of(
        +[]() -> OptionWords {
          return {{"pipelined"},
                  {"sync", "wait for each"},
                  {"group", "wait for each, and let the others' records gather"},
                  {"async", "may lose acknowledged work"}};
        },
        {kRun, "--commit", "{}", kShown}),
    with(
        +[]() -> OptionWords {
          return {
              {"native", "procedures are compiled to machine code, or interpreted if there is no compiler"},
              {"interpreted"}};
        },
        {kRun, "--execution", "{}", kShown}),
    one_of(
        +[]() -> OptionWords {
          return {{"occ", "optimistic"}, {"2pl", "two-phase locking, with wait-die"}};
        },
        {kRun, "--cc", "concurrency control: {}", kShown}),
    rare(one_of(
        +[]() -> OptionWords {
          return {{"on", "rows are unlocked once the commit is in the log's buffer"},
                  {"off", "written rows stay locked until it is durable"}};
        },
        {kRun, "--elr", "early lock release, of 2pl: {}", kShown})),
    rare(one_of(
        +[]() -> OptionWords {
          return {{"on", "rows that a call's arguments name are fetched before it runs"}, {"off"}};
        },
        {kRun, "--prefetch", "{}", kShown})),
    rare(with(
        +[]() -> OptionWords {
          return {{"auto", "as much as the procedures will insert"}, {"off"}};
        },
        {kRun, "--touch-ahead",
         "memory for new rows that the kernel provides before the run, which takes time: {}; or a size as in "
         "512MiB",
         kShown})),
    rare(one_of(
        +[]() -> OptionWords {
          return {{"auto",
                   "workers avoid the cores that serve the interrupts of the data directory's disk if there "
                   "are enough others"},
                  {"any"}};
        },
        {kRun, "--worker-cores", "{}", kShown})),
    rare(one_of(
        +[]() -> OptionWords {
          return {{"on"}, {"off", "rows and indexes on pages of 4 KiB, to compare, with --log off"}};
        },
        {kRun, "--huge-pages", "{}", kShown})),

    // The log's records
    with(
        +[]() -> OptionWords {
          return {{"command", "calls"},
                  {"logical", "the rows that they changed"},
                  {"physical", "the same, with their locations"},
                  {"all", "all of it, to compare"},
                  {"adaptive", "of run and crash: calls, but the rows of those that replay could not spread"},
                  {"off", "of run alone: nothing is durable, no directory is used"}};
        },
        {kLogContent, "--log", "what the log holds: {}; sql: with --create", kShown}),
    rare(with(
        +[]() -> OptionWords {
          return {{"full", "all of it"}, {"changed", "its key, and the columns with new values"}};
        },
        {kLogContent, "--tuple-image", "what the log of rows holds of an updated row: {}", kShown})),
    rare({kLogContent, "--adhoc",
          "percent of transactions, drawn at random, that are logged as ad-hoc ones: by the rows that they "
          "changed, "
          "among calls",
          kShown, percent}),
    rare(one_of(
        +[]() -> OptionWords {
          return {{"on", "the record of a call says the keys that replay could not know"}, {"off"}};
        },
        {kLogContent, "--hints", "of a log of calls: {}", kShown})),
    rare({kLogContent, "--replay-cores", "of --log adaptive: cores of the recovery that it makes shorter",
          kShown, positive}),
    rare({kLogContent, "--log-growth",
          "of --log adaptive: how many times as long as one of calls the log may become", kShown, positive}),

    // The log's buffer
    {kLogBuffer, "--log-buffer", "how threads put records in order: {}", kShown, nullptr, false, 0,
     log_buffer_words},
    rare({kLogBuffer, "--slots", "of a consolidation array (consolidation, hybrid, delegated, socket)",
          kShown, positive}),
    rare(one_of(
        +[]() -> OptionWords {
          return {{"both"}, {"crawl", "alone, to compare"}, {"hop", "alone, to compare"}};
        },
        {kLogBuffer, "--grasshopper", "of grasshopper: {}", kShown})),
    rare(in(OptionUnit::kBytes,
            {kLogBuffer, "--hop-distance",
             "bytes, a power of two: grasshopper's ranges; without it 4 MiB, or a quarter of the ring", false,
             positive})),
    rare(one_of(
        +[]() -> OptionWords {
          return {{"1", "bit by bit"}, {"64", "word by word"}};
        },
        {kLogBuffer, "--scan-bits", "how scan sets and tests its bitmap: {}", kShown})),
    rare({kLogBuffer, "--loggers",
          "epoch: number of loggers; without it one for eight workers, and at least one for each directory",
          false, positive}),
    rare({kLogBuffer, "--epoch", "epoch: as 5ms: how long an epoch lasts at most", kShown}),
    rare({kLogBuffer, "--streams",
          "distributed: number of streams; without it one a NUMA node, and at least two. Workers write to a "
          "stream "
          "of their node; on a machine with one node, streams are assigned to them in turns",
          false, positive}),
    rare({kLogBuffer, "--stream-buffer", "distributed: each stream's buffer, one of those of --log-buffer",
          kShown}),
    rare(one_of(
        +[]() -> OptionWords {
          return {{"transaction", "a record goes to its worker's stream"},
                  {"page", "the changes of a row go to the stream of its page, a range of row slots"}};
        },
        {kLogBuffer, "--partition", "distributed: {}", kShown})),
    rare({kLogBuffer, "--stream-latency",
          "distributed, as 0,2ms: as --device-latency, for the streams in turns, so that some are slower",
          false, nullptr, false, ','}),
    rare(one_of(
        +[]() -> OptionWords {
          return {{"auto", "as passive"},
                  {"passive",
                   "workers fence their records, and a daemon finds the position up to which all have"},
                  {"durable-cache", "caches survive a crash, too, so nothing is fenced"},
                  {"none",
                   "a transaction counts as durable once its own record is fenced, so that a crash test must "
                   "fail"}};
        },
        {kLogBuffer, "--group-commit", "distributed, in persistent memory (--log-device nvm): {}", kShown})),

    // The log's device
    {kLogDevice, "--log-device", "{}", kShown, nullptr, false, 0, log_device_words},
    {kLogDevice, "--log-server",
     "remote, nats, kafka: HOST:PORT of a server, of remote also unix:PATH, or of several, separated by "
     "commas: "
     "a record is acknowledged when a majority of the copies has it; follow: in place of the addresses in "
     "the "
     "primary's manifest"},
    {kLogDevice, "--log-key",
     "a file that its owner alone may read. remote: the servers' key, for TLS; without it, servers on Unix "
     "sockets and "
     "loopback only. nats, kafka: lines NAME=VALUE that say who the engine is, and how to encrypt "
     "(docs/replicated_log.md); follow: in place of the file that the primary's manifest names"},
    rare(
        {kLogDevice, "--log-files",
         "remote, nats, kafka: number of segments that the log goes round in; half full, it has a checkpoint "
         "taken, "
         "and full, it waits for it",
         kShown, between<uint32_t{3}, uint32_t{256}>}),
    rare({kLogDevice, "--log-stream",
          "nats, kafka: the name of the stream or topic; without it one that is the database's alone; "
          "follow: in "
          "place of the name in the primary's manifest"}),
    rare({kLogDevice, "--log-replicas", "nats, kafka: copies that the servers keep", kShown,
          between<uint32_t{1}, uint32_t{5}>}),
    rare(in(OptionUnit::kSeconds, {kLogDevice, "--log-patience",
                                   "nats, kafka: after so many seconds without an acknowledgement the log is "
                                   "saved in the data directory, "
                                   "and "
                                   "the engine ends",
                                   kShown, between<uint32_t{1}, uint32_t{3600}>})),
    rare({kLogDevice, "--log-directory",
          "striped: one for each stripe; --log-buffer epoch and distributed: for the loggers or streams in "
          "turns: "
          "absolute, or inside the data directory; without it stripe-1 and stripe-2 there, or itself"}),
    with(
        +[]() -> OptionWords {
          return {{"auto", "1.2us of nvm, nothing is added to others"}};
        },
        {kLogDevice, "--device-latency",
         "as 100us: no flush of the log takes less, however fast the device is; {}", kShown}),
    rare(one_of(
        +[]() -> OptionWords {
          return {{"uring"},
                  {"uring-polled", "a kernel thread takes a processor and saves system calls"},
                  {"threads", "pwrite and fdatasync on threads"},
                  {"inline", "the same by a thread that waits for its record, or by the flusher's"}};
        },
        {kLogDevice, "--io", "{}", kShown})),
    rare(one_of(
        +[]() -> OptionWords {
          return {{"flush", "an fdatasync after each write"},
                  {"write-through", "writes that are durable when they end"}};
        },
        {kLogDevice, "--io-sync", "{}", kShown})),
    rare(one_of(
        +[]() -> OptionWords {
          return {{"on", "io_uring knows the log's buffers and files beforehand"}, {"off"}};
        },
        {kLogDevice, "--io-registered", "{}", kShown})),
    rare({kLogDevice, "--io-depth", "writes in flight at most", kShown, between<uint32_t{1}, kMostInFlight>}),
    rare(in(OptionUnit::kBytes, {kLogDevice, "--io-unit",
                                 "bytes of one write, at most: a multiple of 4096; a write is sent as soon "
                                 "as this many have gathered",
                                 kShown, positive})),
    in(OptionUnit::kMicroseconds,
       with(
           +[]() -> OptionWords {
             return {{"auto",
                      "four flushes' length, from 250 to 2000, if the log has a processor to itself, 2000 if "
                      "workers need them all, 100 for the daemon"}};
           },
           {kLogDevice, "--flush-interval",
            "microseconds for which records gather for one flush, or between two looks of the daemon of "
            "passive group commit; 0: greedy, the next flush begins when the last one ends; {}. A "
            "synchronous commit does not wait for it",
            kShown})),
    rare(in(OptionUnit::kBytes, {kLogDevice, "--flush-bytes",
                                 "flush sooner when this many bytes have gathered; without it --io-unit; of "
                                 "a ring in persistent memory "
                                 "a "
                                 "quarter",
                                 false, positive})),
    rare({kLogDevice, "--flush-records", "flush sooner when about this many records have gathered", false,
          positive}),

    // Checkpoints
    in(OptionUnit::kSeconds, with(+[]() -> OptionWords { return {{"off"}}; },
                                  {kCheckpoint, "--checkpoint-every",
                                   "seconds between two checkpoints; with replay:SECONDS one is taken once "
                                   "replaying the log behind the last one would take so long; {}",
                                   kShown})),
    rare(with(
        +[]() -> OptionWords {
          return {{"auto", "all of one that no worker needs, else 6"}};
        },
        {kCheckpoint, "--checkpoint-share", "percent of a processor that a checkpoint takes; {}", kShown})),
    rare({kCheckpoint, "--checkpoint-threads", "threads that write a checkpoint", kShown, positive}),
    rare({kCheckpoint, "--log-archive",
          "run: the directory for log segments and checkpoints that a checkpoint has replaced; without it "
          "they "
          "are "
          "removed; recover, verify: that directory: all of its history is replayed, not only the log behind "
          "the "
          "last checkpoint"}),

    // Recovery and standbys
    {kReplay, "--scheme", "{}; default: the fastest that the log serves", kShown, nullptr, false, 0,
     scheme_words},
    with(
        +[]() -> OptionWords {
          return {{"pipelined"}, {"synchronous"}, {"static"}};
        },
        {kReplay, "--replay", "clr-p: {}", kShown}),
    rare(
        with(
            +[]() -> OptionWords {
              return {{"forward"}, {"reverse", "the newest image of a row first, older ones are skipped"}};
            },
            {kReplay, "--replay-order",
             "llr, llr-p, plr: {}; default: reverse, but forward where updates hold the changed columns "
             "alone",
             kShown})),
    rare({kReplay, "--batch", "transactions a log batch", kShown, positive}),
    rare({kReplay, "--lanes",
          "clr-p: number of lanes that a block is cut into; 0: as many as its share of the work demands of "
          "the "
          "threads",
          kShown, between<0, 4096>}),
    {kReplay, "--on-demand",
     "clr-p: open the database once the log is read, and run its workload's calls on so many workers while "
     "the rest is replayed; they are rolled back; 0: nobody asks for anything",
     false, not_negative},
    {kReplay, "--simulate-cores",
     "clr-p: measure the replay's steps on one thread, and report how long it would take on these numbers of "
     "cores: 2,8,40; lanes are cut for the largest",
     false, positive, false, ','},
    rare(
        {kReplay, "--memory-bandwidth",
         "clr-p, with --simulate-cores: what the simulated machine's memory gives all of its cores, in GB/s; "
         "default: what this machine's gives its own",
         false, positive}),
    with(
        +[]() -> OptionWords {
          return {{"auto", "a line on a terminal, and nothing elsewhere"},
                  {"lines", "plain lines on standard error"},
                  {"json", "JSON lines there"},
                  {"off"}};
        },
        {kReplay, "--progress", "{}", kShown}),
    {kReplay, "--trace", "write a timeline of the replay threads to this file, in Chrome's trace format",
     false, writable_file},
    {kReplay, "--trace-html",
     "write the same as a page for the browser: threads, blocks, lanes, batches, waits and their causes",
     false, writable_file},
    {kReplay, "--trace-beside",
     "recover by this scheme, too, before, and draw its stages in the trace on the same scale"},
    {kReplay, "--from",
     "the primary's data directory, at work or not: copied first, into a directory without a database"},
    rare(in(OptionUnit::kMebibytes, {kReplay, "--checkpoint-log",
                                     "take a checkpoint once so many MiB of the log have been replayed, and "
                                     "remove the log below it here; 0: "
                                     "none",
                                     kShown, between<uint64_t{0}, uint64_t{1} << 20>})),
    {kReplay, "--promote",
     "promote at once: replay all that the log holds, and end as a database to work on"},
    {kReplay, "--promote-when-primary-gone",
     "promote once nothing was heard of the primary for so long, as 5s, while its log's servers answered; it "
     "must have "
     "been heard before, and where another standby comes first, that one is followed"},
    {kReplay, "--serve",
     "answer PostgreSQL's clients meanwhile, as `mneme serve` does: they read a state that the primary had, "
     "and may "
     "write once the standby is promoted, which goes on in this process, on the same replicated log"},
    rare({kReplay, "--promote-as-is",
          "promote what the directory holds, if its replicated log is lost: asks no servers, and does not "
          "stop "
          "another engine from continuing"}),

    // How procedures are taken apart
    rare(
        one_of(
            +[]() -> OptionWords {
              return {{"column", "a common column that one writes, or rows that are inserted or deleted"},
                      {"table", "a common table that one writes, as in the paper"}};
            },
            {kAnalysis, "--conflicts", "clr-p: what puts calls in order: {}", kShown})),
    rare(
        with(
            +[]() -> OptionWords {
              return {{"none"},
                      {"unwritten", "columns that no procedure writes; implied by --conflicts column"},
                      {"insert-only", "tables that are only inserted into"},
                      {"increments", "of columns that are only added to"}};
            },
            {kAnalysis, "--elide",
             "clr-p: what is known to order nothing, or a list of it: {}; default: all of them by column, "
             "none by table; if none of these four options is given and the log has ad-hoc transactions, all "
             "but increments",
             kShown})),
    rare(
        one_of(
            +[]() -> OptionWords {
              return {{"pacman", "procedures are cut into slices"},
                      {"chopping", "as far as transaction chopping allows"},
                      {"whole",
                       "not at all, which is serial replay with look-ups ahead and without needless reads, "
                       "to compare"}};
            },
            {kAnalysis, "--decompose", "clr-p: {}", kShown})),
    rare(
        one_of(
            +[]() -> OptionWords {
              return {{"on", "slices that nothing requires to be separate are joined"},
                      {"off"},
                      {"default", "on by column, off by table"}};
            },
            {kAnalysis, "--coalesce", "clr-p: {}", kShown})),

    // Results
    {kOutput, "--json", "write the result as one JSON object to this file ('-': standard output)", false,
     writable_file},
    {kOutput, "--quiet", "no progress, no text: the exit status and --json report the result"}};

}  // namespace

OptionWords workload_words() {
  OptionWords words;
  for (const std::string_view name : workload_names()) words.push_back({std::string(name)});
  return words;
}

std::span<const OptionRow> option_table() {
  static const std::vector<OptionRow> table = [] {
    std::vector<OptionRow> rows(std::begin(kTable), std::end(kTable));
    const std::span<const OptionRow> of_commands = rows_of_commands();
    rows.insert(rows.end() - kResultRows, of_commands.begin(), of_commands.end());
    return rows;
  }();
  return table;
}

}  // namespace mneme
