#include "recovery/demand/bulk_replay.h"

#include <utility>

#include "recovery/calls/sliced_replayer.h"

namespace mneme {

BulkReplay::BulkReplay(const ReplayerSetting& setting, std::span<const RecordView> records)
    : records_(records), folders_(setting.folders) {
  ReplayOptions options = setting.options;
  options.is_interrupted = [this] {
    is_ended_ = is_ended_ || (is_enough_ && is_enough_(done_.load(std::memory_order_relaxed)));
    return is_ended_;
  };
  replayer_ = make_sliced_replayer({.database = setting.database,
                                    .program = setting.program,
                                    .options = options,
                                    .tables_from = setting.tables_from,
                                    .analysis = setting.analysis,
                                    .execution = setting.execution,
                                    .folders = folders_,
                                    .records_before = setting.records_before,
                                    .log_records = setting.log_records,
                                    .progress = setting.progress,
                                    .report = report_});
  replayer_->prepare(RecordStream(records_));
}

Result<ReplayStatistics> BulkReplay::run(IsEnough is_enough) {
  is_enough_ = std::move(is_enough);
  RecordStream stream(records_);
  return replayer_->replay(
      stream, [this](uint64_t done, std::optional<Lsn>) { done_.store(done, std::memory_order_relaxed); });
}

}  // namespace mneme
