// The options of one command.
#include "cli/option/option_rows.h"
#include "cli/output/file_checks.h"

namespace mneme {
namespace {

using enum OptionGroup;

constexpr OptionRow kCommandRows[] = {
    {kCommand, "--in", "where to put the demo's directory", kShown},
    {kCommand, "--keep", "leave the database there"},
    {kCommand, "--rounds",
     "crash: crashes; acid: crashes of each kind; logbench: measurements, of which the median is shown",
     kShown, positive},
    in(OptionUnit::kSeconds, {kCommand, "--longest-run",
                              "crash: seconds after which the kill comes at the latest; lab: seconds after "
                              "which a script is stopped",
                              kShown, positive}),
    {kCommand, "--port", "lab: of 127.0.0.1; 0: one that is free", kShown},
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
    rare(one_of(
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
    {kCommand, "--svg", "the global graph as a drawing, for papers and slides", false, writable_file},
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
    {kCommand, "folder", "lab-answer: where the request is, and the answer goes", false, nullptr, true},
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
     writable_file}};

}  // namespace

std::span<const OptionRow> rows_of_commands() {
  return kCommandRows;
}

}  // namespace mneme
