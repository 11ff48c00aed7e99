// CommitLog: what a transaction needs of a log. The engine sees this and no buffer, device or flusher.
//
// Flow        await_space -> (lock the write set) -> reserve -> (validate) -> fill -> ... durable() passes
//             the LSN
// Invariants  reserve() returns LSNs that rise in the order of the calls, over all workers: an LSN is a place
//             in the serial order. A worker has at most one reservation unfilled. Every reservation is
//             filled, with a skip record where the transaction failed its validation. reserve() orders
//             memory, too: what a worker did before a reservation is visible to a worker that reserves later
//             (a read-modify-write with acquire and release). The engine's locks rest on it. durable() never
//             falls and lies on a record boundary: the record at `lsn` is durable iff lsn < durable(), for
//             every LSN that a worker may know: its own after fill(), or one that it read from a row.
// Threads     await_space, reserve, fill: the worker they name. durable, wait_durable: any thread.
// Waiting     await_space() waits while the ring is full, before any row is locked; reserve() and fill()
//             never wait: await_space() keeps room for every worker's largest record.
// Errors      when the device fails, durable() stops rising, failure() says why, and waits end; nothing is
//             acknowledged any more.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "base/strong_id.h"
#include "logging/record/lsn.h"
#include "logging/record/record_format.h"

namespace mneme {

class CommitLog {
 public:
  virtual ~CommitLog() = default;

  // Waits until a record of this payload can be reserved without waiting. False: the log has failed.
  virtual bool await_space(WorkerId worker, uint32_t payload_bytes) = 0;

  // Draws the record's place in the commit order.
  virtual Lsn reserve(WorkerId worker, uint32_t payload_bytes) = 0;

  // Writes the record that reserve() made room for. `payload` has exactly the bytes that were reserved; a
  // skip record's payload is ignored.
  virtual void fill(WorkerId worker, Lsn lsn, RecordKind kind, ByteSpan payload) = 0;

  // Whether a crash may take a record and leave later ones. Such a log makes a record durable in fill(), and
  // a transaction shows what it wrote to others only after that: no other can have seen what is lost
  // (nvm_log.h).
  virtual bool leaves_holes() const { return false; }

  virtual Lsn durable() const = 0;

  // Waits until the record at `lsn` is durable. False: the log has failed before that.
  virtual bool wait_durable(Lsn lsn) = 0;

  virtual std::optional<Error> failure() const = 0;
};

}  // namespace mneme
