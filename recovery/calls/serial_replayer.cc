#include "recovery/calls/serial_replayer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/transaction/replay_access.h"
#include "recovery/calls/call_replayer.h"
#include "recovery/log/log_batch.h"
#include "recovery/rows/change_replayer.h"

namespace mneme {

namespace {

class SerialReplay {
 public:
  SerialReplay(Database& database, const Program& program, const ReplayOptions& options,
               const ReplayedCallVisitor& visit)
      : database_(database),
        program_(program),
        options_(options),
        visit_(visit),
        rows_(database),
        changes_(database),
        interpreter_(database.schema()) {}

  Result<ReplayStatistics> replay(RecordStream& stream) {
    ReplayStatistics statistics;
    const auto replay_begin = std::chrono::steady_clock::now();
    for (;;) {
      const Result<HeldWindow> window = stream.next();
      if (!window) return window.error();
      if (*window == nullptr) break;
      RETURN_IF_ERROR(replay((*window)->records(), statistics));
      if (statistics.is_partial) break;
    }
    statistics.pieces = statistics.transactions;
    const std::chrono::duration<double> all = std::chrono::steady_clock::now() - replay_begin;
    ThreadTime& time = statistics.threads.emplace_back();
    time.data_loading_seconds = statistics.decode_seconds;
    time.useful_work_seconds = all.count() - statistics.decode_seconds;
    return statistics;
  }

 private:
  Result<void> replay(std::span<const RecordView> records, ReplayStatistics& statistics) {
    while (!records.empty()) {
      if (options_.interrupted()) {
        statistics.is_partial = true;
        return {};
      }
      const auto begin = std::chrono::steady_clock::now();
      RETURN_IF_ERROR(
          batch_.load(program_, database_.change_codec(),
                      records.first(std::min<size_t>(options_.batch_transactions, records.size()))));
      const std::chrono::duration<double> decode = std::chrono::steady_clock::now() - begin;
      statistics.decode_seconds += decode.count();
      for (uint32_t t = 0; t < batch_.size(); ++t)
        RETURN_IF_ERROR(batch_.is_ad_hoc(t) ? install(t) : call(t));
      records = records.subspan(batch_.size());
      statistics.transactions += batch_.size();
      statistics.ad_hoc += batch_.ad_hoc_count();
      statistics.replayed_to = batch_.lsn(batch_.size() - 1);
      if (options_.progress) options_.progress(statistics.transactions, statistics.replayed_to);
    }
    return {};
  }

  Result<void> call(uint32_t t) {
    const Call& call = batch_.call(t);
    const ir::Procedure& procedure = program_.procedure(call.procedure);
    RunRequest request = RunRequest::of(procedure, call.arguments, rows_);
    if (!options_.native.empty()) request.native = options_.native[call.procedure.value].run_on_any;
    Outcome outcome = interpreter_.run(request);
    if (outcome.completed()) outcome = end_of_run(rows_.end_run());
    if (!outcome.completed()) return replay_error(procedure, batch_.lsn(t), outcome);
    if (visit_) visit_({batch_.lsn(t), call, interpreter_.results()});
    return {};
  }

  Result<void> install(uint32_t t) {
    for (const LoggedChange& change : batch_.changes(t)) {
      const InstallOutcome outcome = changes_.replay(change.row);
      if (outcome != InstallOutcome::kInstalled)
        return install_error(database_.catalog(), change.row.table, batch_.lsn(t), outcome);
    }
    return {};
  }

  Database& database_;
  const Program& program_;
  const ReplayOptions& options_;
  const ReplayedCallVisitor& visit_;
  ReplayAccess rows_;
  ChangeReplayer changes_;
  Interpreter interpreter_;
  LogBatch batch_;
};

class SerialReplayer final : public CallReplayer {
 public:
  using CallReplayer::CallReplayer;

  void prepare(const RecordStream& stretch) override {
    if (std::exchange(is_prepared_, true)) return;
    code_ = load_units(setting(), procedure_units(setting().program), stretch.size());
  }

 private:
  Result<ReplayStatistics> replay_calls(RecordStream& stretch, const Progress& progress) override {
    ReplayOptions options = setting().options;
    options.native = code_.functions();
    options.progress = progress;
    return replay_serially(setting().database, setting().program, stretch, options, setting().visit);
  }

  bool is_prepared_ = false;
  CompiledUnits code_;
};

}  // namespace

Result<ReplayStatistics> replay_serially(Database& database, const Program& program, RecordStream& stream,
                                         const ReplayOptions& options, const ReplayedCallVisitor& visit) {
  return SerialReplay(database, program, options, visit).replay(stream);
}

std::unique_ptr<Replayer> make_serial_replayer(const ReplayerSetting& setting) {
  return std::make_unique<SerialReplayer>(setting);
}

}  // namespace mneme
