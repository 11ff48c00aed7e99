#include "recovery/serial_replayer.h"

#include <chrono>

#include "recovery/log_batch.h"
#include "recovery/replay_access.h"

namespace mneme {

Result<ReplayStatistics> replay_serially(Database& database, const Program& program, CommandSource& source,
                                         const ReplayOptions& options, const ReplayedCallVisitor& visit) {
  ReplayStatistics statistics;
  ReplayAccess rows(database);
  Interpreter interpreter(database.schema());
  LogBatch batch;
  for (;;) {
    const auto begin = std::chrono::steady_clock::now();
    RETURN_IF_ERROR(batch.load(program, source, options.batch_transactions));
    const std::chrono::duration<double> decode = std::chrono::steady_clock::now() - begin;
    statistics.decode_seconds += decode.count();
    if (batch.size() == 0) break;

    for (uint32_t t = 0; t < batch.size(); ++t) {
      const Call& call = batch.call(t);
      const ir::Procedure& procedure = program.procedure(call.procedure);
      RunRequest request = RunRequest::of(procedure, call.arguments, rows);
      if (!options.native.empty()) request.native = options.native[call.procedure.value].run_on_any;
      const Outcome outcome = interpreter.run(request);
      if (!outcome.completed()) return replay_error(procedure, batch.lsn(t), outcome);
      if (visit) visit({batch.lsn(t), call, interpreter.results()});
    }
    statistics.transactions += batch.size();
    if (options.progress) options.progress(statistics.transactions);
  }
  statistics.pieces = statistics.transactions;
  return statistics;
}

}  // namespace mneme
