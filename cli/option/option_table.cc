#include "cli/option/option_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/option/option_checks.h"
#include "cli/output/file_checks.h"
#include "logging/buffer/log_buffer_factory.h"
#include "logging/device/io_options.h"
#include "logging/device/log_device_kind.h"
#include "recovery/database/recovery_schemes.h"
#include "workloads/workload_table.h"

namespace mneme {
namespace {

using enum OptionGroup;

constexpr bool kShown = true;  // the help shows the default

OptionWords scheme_words() {
  OptionWords words;
  for (const RecoveryScheme& each : recovery_schemes())
    words.push_back({std::string(each.name), std::string(each.summary)});
  return words;
}

OptionWords workload_words() {
  OptionWords words;
  for (const std::string_view name : workload_names()) words.push_back({std::string(name)});
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

// The option takes these words, and no other text.
constexpr OptionRow one_of(OptionWords (*words)(), OptionRow row) {
  row.words = words;
  row.has_words_alone = true;
  return row;
}

// The option takes these words, and other texts: its command checks them.
constexpr OptionRow with(OptionWords (*words)(), OptionRow row) {
  row.words = words;
  return row;
}

constexpr OptionRow rare(OptionRow row) {
  row.is_rare = true;
  return row;
}

constexpr OptionRow in(OptionUnit unit, OptionRow row) {
  row.unit = unit;
  return row;
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
    {kWorkload, "--hotspot-customers", "smallbank: customers in the hotspot", kShown, positive},
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

    // Options of one command
    {kCommand, "--in", "where to put the demo's directory", kShown},
    {kCommand, "--keep", "leave the database there"},
    {kCommand, "--rounds",
     "crash: crashes; acid: crashes of each kind; logbench: measurements, of which the median is shown",
     kShown, positive},
    in(OptionUnit::kSeconds,
       {kCommand, "--longest-run", "seconds after which the kill comes at the latest", kShown, positive}),
    rare({kCommand, "--hook",
          "a shell command that disturbs the run, for instance the log's servers. Each round runs it twice "
          "and "
          "waits "
          "for it: with the word \"answered\" behind it once the first call is answered, and with \"killed\" "
          "before "
          "the recovery. MNEME_ENGINE_PROCESS is the engine's process id"}),
    rare(
        {kCommand, "--may-end",
         "an engine that ends by itself, as one does that has lost the majority of its log's servers, counts "
         "like "
         "one that was killed: it does not fail the test"}),
    {kCommand, "--limit", "records to show", kShown, not_negative},
    in(OptionUnit::kBytes, {kCommand, "--record-bytes", "of a record, header included", kShown, positive}),
    {kCommand, "--work", "private work between two inserts, as 200ns", kShown},
    {kCommand, "--outliers", "BYTES:PCT: so many of the records have this size instead"},
    in(OptionUnit::kBytes,
       {kCommand, "--bytes",
        "insert so many in place of a duration, into segments that are ready before, until all is durable: "
        "measures "
        "the flusher's bandwidth",
        false, positive}),
    {kCommand, "--listen",
     "HOST:PORT, of TCP; port 0: one that is free; serve: on loopback, and elsewhere with --tls-cert and "
     "--auth "
     "scram; 127.0.0.1:5433 unless --socket is given alone; logd: with --key or, on loopback, --no-key; with "
     "one of those two alone 127.0.0.1:7433"},
    one_of(
        +[]() -> OptionWords {
          return {{"trust", "clients are who they say"},
                  {"scram", "they show it by a password (SCRAM-SHA-256)"}};
        },
        {kCommand, "--auth", "{}", kShown}),
    {kCommand, "--users",
     "a file with a line a user, NAME SECRET: the password, or a verifier as PostgreSQL keeps it "
     "(SCRAM-SHA-256$...)"},
    {kCommand, "--tls-cert",
     "a file in PEM with the server's certificate, and those between it and the authority that clients know: "
     "clients over TCP may use TLS"},
    {kCommand, "--tls-key",
     "a file in PEM with the certificate's private key, without a passphrase, that no other user may read"},
    one_of(
        +[]() -> OptionWords {
          return {{"offered", "clients on loopback may use TLS, and those elsewhere must"},
                  {"required", "all over TCP must"}};
        },
        {kCommand, "--tls", "{}", kShown}),
    rare({kCommand, "--connections", "clients at the same time", kShown, positive}),
    rare({kCommand, "--blocks", "transaction blocks that are open at the same time; clients beyond them wait",
          kShown, positive}),
    {kCommand, "--socket",
     "serve: a directory for the Unix socket .s.PGSQL.PORT, which no other user can write; logd: the PATH of "
     "a Unix socket, for this user's engines and root's, in a directory that no other user can "
     "write; "
     "without any option of TCP, `socket` in the data directory"},
    {kCommand, "--key",
     "a file with the key that engines share, 32 bytes or more: every engine must have it then, and TLS is "
     "used"},
    {kCommand, "--no-key",
     "TCP without a key: every user of this machine can then read, overwrite and end the logs"},
    in(OptionUnit::kMebibytes, {kCommand, "--memory", "MiB for all logs together", kShown, positive}),
    rare(
        one_of(
            +[]() -> OptionWords {
              return {{"uring"}, {"poll"}};
            },
            {kCommand, "--network", "{}", kShown})),
    {kCommand, "--shut-down", "unix:PATH or HOST:PORT of another server, which saves its logs and ends"},
    {kCommand, "workloads", "of {}", false, nullptr, true, 0, workload_words},
    {kCommand, "--into", "the folder, which will hold nothing else", false, nullptr, true},
    {kCommand, "--precompile", "first precompile the headers of machine code, into the build's folder"},
    rare({kCommand, "--device-seed", "of what a lossy device tears and reorders"}),
    {kCommand, "--channel", "descriptor of a connected socket, one a worker", false, nullptr, true},
    {kCommand, "source", "a .sql file with tables and procedures, or one of {}", false, nullptr, true, 0,
     workload_words},
    {kCommand, "--dot", "the global graph for Graphviz"},
    {kCommand, "--html",
     "a page for the browser: of slice the procedures' text, their slices and the graphs, to point at; of "
     "bench the throughput of each target, and its latencies",
     false, writable_file},
    {kCommand, "--target",
     "a server that speaks PostgreSQL's protocol: postgresql://USER@HOST:PORT/DATABASE, or libpq's 'host=... "
     "dbname=...'; again for each further one, which gets the same calls. Passwords are better left to "
     "PGPASSWORD or ~/.pgpass",
     false, nullptr, true},
    {kCommand, "--clients", "connections that make calls at the same time, each by a thread of its own",
     kShown, positive},
    {kCommand, "--no-load",
     "use the tables, rows and procedures that the target has; without it they are made"},
    {kCommand, "--reload",
     "drop the workload's tables and procedures, with all their rows, and load them again before each round"},
    {kCommand, "--repeat",
     "rounds: each measures every target once, in turns, with calls of its own; the median counts", kShown,
     positive},
    one_of(
        +[]() -> OptionWords {
          return {{"serializable", "as a workload's conditions ask for and Mneme's are in any case"},
                  {"repeatable-read"},
                  {"read-committed"},
                  {"default", "the server's own"}};
        },
        {kCommand, "--isolation", "of the clients' transactions: {}", kShown}),
    one_of(
        +[]() -> OptionWords {
          return {{"lossy", "it loses what was never synced"},
                  {"lossy-unsynced", "the same, and nothing is ever synced, so that the test must fail"}};
        },
        {kCommand, "--power-device", "acid: the disk under the log when the power fails: {}", kShown}),
    {kCommand, "--kill-command",
     "acid --target: a shell command that ends the server as a crash would, as in pg_ctl stop -m immediate"},
    {kCommand, "--start-command", "acid --target: a shell command that starts it again, as in pg_ctl start"},
    one_of(
        +[]() -> OptionWords {
          return {{"auto", "tables where that can be, else checks"},
                  {"tables",
                   "those of two targets or more are compared, row by row, which takes --clients 1 and "
                   "--transactions"},
                  {"checks", "the workload's conditions are held against each target's"},
                  {"off"}};
        },
        {kCommand, "--final", "what becomes of the final tables: {}", kShown}),
    {kCommand, "--file", "a script to run; without it, standard input"},
    {kCommand, "--command", "statements to run"},
    {kCommand, "--keep-going",
     "continue after a statement that fails; without it a script ends there, with exit status 1"},
    {kCommand, "--create",
     "make the database, if the directory holds none (sql: it must hold none): without tables, which "
     "statements create, or with "
     "--workload"},
    {kCommand, "first", "the result to compare with: a file that --json wrote, or a folder of such files",
     false, nullptr, true},
    {kCommand, "second", "the result that is judged: a file or a folder, likewise", false, nullptr, true},
    one_of(
        +[]() -> OptionWords {
          return {{"bash"}, {"zsh"}};
        },
        {kCommand, "shell", "{}", false, nullptr, true}),
    {kCommand, "name",
     "figures, as pacman-figure-16; FILE.toml: an experiment of one's own; list: all there are, or those "
     "named "
     "behind it with their commands; show NAME: a figure's file; report: write the report of what --output "
     "holds "
     "again"},
    {kCommand, "--all", "a tour of figures of all papers, in less than 20 minutes"},
    {kCommand, "--quick", "tiny runs at the outer points of the axes: to see that all works"},
    {kCommand, "--runs", "rounds, in each of which every setting runs once; medians count", kShown, positive},
    {kCommand, "--output",
     "the folder of results, CSV and JSON, and of report.html; what was measured there is not measured "
     "again. "
     "Databases are made in it while it runs",
     kShown},
    {kCommand, "--fresh", "measure again what the folder holds already"},
    {kCommand, "--report", "write the report, one HTML file, here and not into --output", false,
     writable_file},

    // Results
    {kOutput, "--json", "write the result as one JSON object to this file ('-': standard output)", false,
     writable_file},
    {kOutput, "--quiet", "no progress, no text: the exit status and --json report the result"}};

}  // namespace

std::span<const OptionRow> option_table() {
  return kTable;
}

}  // namespace mneme
