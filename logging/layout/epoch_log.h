// EpochLog: the DirectoryLog of several streams: workers in groups, a logger a group, commits ordered by
// epochs. PACMAN's layout, and SiloR's.
//
// Flow        worker: reserve() draws its LSN, fill() puts the record into its logger's buffer
//             (logger_buffer.h) clock: ends the epoch every few milliseconds (epoch_clock.h) loggers: each
//             gathers the epochs that are complete in its group, writes them to its own files, syncs
//             (epoch_logger.h) pepoch thread: the epoch that the slowest logger has persisted goes to
//             pepoch.log; then durable() rises (pepoch_keeper.h) after a crash: every stream is cut at the
//             pepoch, and they are merged by LSN (epoch_log_reader.h)
// Invariants  an LSN is an epoch and a place in it (epoch_lsn.h). All records of epochs up to the pepoch are
//             durable, in every logger's stream, and durable() is the begin of the next epoch: so what is
//             durable is a prefix of the commit order, however far single loggers are ahead.
// Soundness   LSNs are drawn by one fetch_add at the very point where a log of one stream draws its own,
//             between a transaction's locks and its validation, so they follow every conflict
//             (engine/transaction/transaction.h). Epochs are begun by read-modify-writes of the same word,
//             which leave that order as it is; gaps between LSNs do no harm. SiloR's own sequence, which
//             leaves transactions of one epoch unordered where one overwrote what another only read, could
//             serve row images, but no calls.
// Threads     as DirectoryLog says; one a logger, the clock's and the pepoch thread are its own.
// Waiting, errors  as DirectoryLog says. An acknowledgement waits for the rest of its epoch, for the slowest
//                  logger and for
//             pepoch.log. A thread that waits in wait_durable() or for space ends the epoch.
// Source      PACMAN, appendix A.1, after Zheng, Tu, Kohler, Liskov: "Fast Databases with Fast Durability and
//             Recovery Through Multicore Parallelism" (OSDI'14), section 4. There a file ends after 100
//             epochs; here when its segment is full, as segments are filled with zeros beforehand.
#pragma once

#include <memory>
#include <vector>

#include "base/cache_line.h"
#include "logging/commit/directory_log.h"
#include "logging/layout/durable_log.h"
#include "logging/layout/epoch_clock.h"
#include "logging/layout/epoch_horizon.h"
#include "logging/layout/epoch_logger.h"
#include "logging/layout/pepoch_keeper.h"
#include "logging/record/record_writer.h"

namespace mneme {

// Why no log of this layout can be opened with these options, as a sentence for the user.
Result<void> check_epoch_options(const DurableLogOptions& options);

class EpochLog final : public DirectoryLog {
 public:
  // As log_factory.h says. `manifest` outlives the log.
  static Result<std::unique_ptr<EpochLog>> open(ManifestFile& manifest, const DurableLogOptions& options);
  ~EpochLog() override;

  bool await_space(WorkerId worker, uint32_t payload_bytes) override;
  Lsn reserve(WorkerId worker, uint32_t payload_bytes) override;
  void fill(WorkerId worker, Lsn lsn, RecordKind kind, ByteSpan payload) override;
  Lsn durable() const override { return horizon_.durable(); }
  bool wait_durable(Lsn lsn) override;
  std::optional<Error> failure() const override { return horizon_.failure(); }

  LogCounters counters() const override;
  std::optional<GroupCommit> group() const override;
  const std::vector<std::string>& notices() const override { return notices_; }

 private:
  // One a worker.
  struct WorkerState {
    LoggerBuffer* buffer = nullptr;
    uint32_t member = 0;  // its number there
    RecordWriter writer;
  };

  EpochLog(ManifestFile& manifest, const DurableLogOptions& options, Lsn begin,
           std::vector<OpenedDevice> devices, std::unique_ptr<PepochFile> file);

  ManifestFile& manifest_;
  const DurableLogOptions options_;
  const Lsn begin_;
  std::vector<std::string> notices_;
  const std::unique_ptr<CachePadded<WorkerState>[]> states_;
  EpochHorizon horizon_;
  EpochClock clock_;
  std::vector<std::unique_ptr<EpochLogger>> loggers_;
  std::unique_ptr<PepochKeeper> keeper_;
};

}  // namespace mneme
