// WatchedLog: the log of a database, of which each reservation and each record is an event.
//
// Invariants  as CommitLog says: it hands everything on.
// Threads     one.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "lab/journal.h"
#include "logging/commit/commit_log.h"
#include "logging/record/record_writer.h"

namespace mneme::lab {

class WatchedLog final : public CommitLog {
 public:
  // `records`: what a record's payload says, for people. `changed`: the rows that have changed since it was
  // last called.
  WatchedLog(CommitLog& log, Journal& journal, size_t largest_payload,
             std::function<std::string(RecordKind, ByteSpan)> records, std::function<Json()> changed)
      : log_(log),
        journal_(journal),
        largest_payload_(largest_payload),
        records_(std::move(records)),
        changed_(std::move(changed)) {}

  // False, too, for a record that is larger than the log has room for.
  bool await_space(WorkerId worker, uint32_t payload_bytes) override;
  Lsn reserve(WorkerId worker, uint32_t payload_bytes) override;
  void fill(WorkerId worker, Lsn lsn, RecordKind kind, ByteSpan payload) override;
  bool leaves_holes() const override { return log_.leaves_holes(); }
  Lsn durable() const override { return log_.durable(); }
  bool wait_durable(Lsn lsn) override { return log_.wait_durable(lsn); }
  std::optional<Error> failure() const override { return too_large_ ? too_large_ : log_.failure(); }

  // Where the last record ends.
  Lsn end() const { return end_; }
  // Where it begins; nothing: there is none.
  std::optional<Lsn> last() const { return last_; }

 private:
  CommitLog& log_;
  Journal& journal_;
  const size_t largest_payload_;
  const std::function<std::string(RecordKind, ByteSpan)> records_;
  const std::function<Json()> changed_;
  std::optional<Lsn> last_;
  Lsn end_ = kFirstLsn;
  std::optional<Error> too_large_;
  uint32_t payload_bytes_ = 0;  // of the reservation
};

}  // namespace mneme::lab
