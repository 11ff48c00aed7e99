// RowReplayer: the replayer of a scheme that replays rows: it keeps nothing from one stretch to the next, and
// the stretch's records are all in memory.
#pragma once

#include "recovery/log/replayer.h"

namespace mneme {

class RowReplayer : public Replayer {
 public:
  explicit RowReplayer(const ReplayerSetting& setting) : setting_(setting) {}

  Result<ReplayStatistics> replay(RecordStream& stretch, const Progress& progress) final;
  std::optional<Lsn> position(std::span<const RecordView> rows, uint64_t done) const override;

 protected:
  const ReplayerSetting& setting() const { return setting_; }
  virtual Result<ReplayStatistics> replay_rows(std::span<const RecordView> rows,
                                               const ReplayOptions& options) = 0;

 private:
  const ReplayerSetting setting_;
};

}  // namespace mneme
