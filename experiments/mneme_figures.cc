// Our own table, which no paper has: this engine's parts compared in whole runs.
#include "experiments/catalog.h"

namespace mneme {
namespace own {

using enum FigureClaim::Relation;

const std::string kTpcc = "run tpcc --warehouses $W --duration $seconds --threads ";

Figure table_1() {
  return {
      .name = "mneme-table-1",
      .paper = "Mneme",
      .title = "Whole runs: what each part of the forward path is worth",
      .paper_says = {"No paper has this table. Machine code, prefetching and huge pages make a transaction "
                     "faster; the log and checkpoints take little."},
      .scaled = "Two warehouses of TPC-C; workers that need all cores share them with the log's flusher.",
      .panels = {{.name = "runs",
                  .title = "Transactions a second",
                  .x = "setting",
                  .xs = {"one thread", "interpreted", "prefetch off", "log off", "log off, small pages",
                         "all cores", "all cores, log off", "all cores, checkpoints"},
                  .commands = {kTpcc + "1", kTpcc + "1 --execution interpreted", kTpcc + "1 --prefetch off",
                               kTpcc + "1 --log off", kTpcc + "1 --log off --huge-pages off",
                               kTpcc + "$cores", kTpcc + "$cores --log off",
                               kTpcc + "$cores --checkpoint-every 1"},
                  .unit = "transactions/s",
                  .series = {{.name = "TPC-C", .value = "throughput_tps"}}}},
      .claims = {{.says = "machine code is twice as fast as the interpreter",
                  .panel = "runs",
                  .left = {"TPC-C", "one thread"},
                  .relation = kAbove,
                  .times = 2,
                  .right = {"TPC-C", "interpreted"}},
                 {.says = "prefetching makes one thread faster",
                  .panel = "runs",
                  .left = {"TPC-C", "one thread"},
                  .relation = kAbove,
                  .right = {"TPC-C", "prefetch off"}},
                 {.says = "the log takes less than a tenth of one thread",
                  .panel = "runs",
                  .left = {"TPC-C", "one thread"},
                  .relation = kAbove,
                  .times = 0.9,
                  .right = {"TPC-C", "log off"},
                  .reason = "On a machine with one core the flusher takes its time from the worker."}}};
}

}  // namespace own

std::vector<Figure> mneme_figures() {
  return {own::table_1()};
}

}  // namespace mneme
