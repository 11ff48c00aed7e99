// CommitHorizon: the commit sequence of a distributed log (distributed_log.h), and below which number of it
// everything is durable, in whichever stream.
//
// Flow        worker: draw() -> ends_in() -> writes its record into one stream, or parts into several ->
//             published() each -> settled() flusher of a stream: gathers() ... rose(), may_sleep() durable()
//             passes the number: the transaction is acknowledged
// Kinds       StreamHorizon: a record is durable once its stream's flusher has written it (stream_horizon.h).
//             PassiveGroupCommit: once its worker has fenced it, in streams in persistent memory
//             (passive_group_commit.h). DurableCacheHorizon: once its worker has stored it there, as caches
//             are durable, too (durable_cache_horizon.h).
// Invariants  durable() never falls; every record below it is durable, and so is all that it may depend upon.
//             A number that a worker has drawn and not settled is not below it.
// Threads     draw, ends_in, published, settled: the worker they name. gathers, rose, may_sleep: the stream's
//             flusher. The rest: any.
// Waiting     await().
#pragma once

#include "base/strong_id.h"
#include "logging/record/lsn.h"
#include "logging/record/record_format.h"

namespace mneme {

class CommitHorizon {
 public:
  virtual ~CommitHorizon() = default;

  // A record's place in the commit order, its GSN.
  virtual Lsn draw(WorkerId worker) = 0;
  // Which stream the worker writes to last. Before it does.
  virtual void ends_in(WorkerId, uint32_t /*stream*/) {}
  // The record that the worker drew stands in the stream, up to `end`.
  virtual void published(WorkerId, uint32_t /*stream*/, StreamPosition /*end*/) {}
  // In all streams that it goes to.
  virtual void settled(WorkerId worker, Lsn lsn, RecordKind kind) = 0;

  // As FlusherObserver says.
  virtual void gathers(uint32_t /*stream*/) {}
  virtual void rose(uint32_t /*stream*/, StreamPosition /*stream_durable*/) {}
  virtual bool may_sleep(uint32_t /*stream*/) { return true; }

  // Returns what the next record draws, or less. Every lower number is drawn.
  virtual Lsn drawn() const = 0;
  virtual Lsn durable() const = 0;
  // Returns false if the log failed before the record at `lsn` was durable.
  virtual bool await(Lsn lsn) = 0;
  // A stream can't go on: nothing becomes durable any more.
  virtual void fail() = 0;
  virtual bool has_failed() const = 0;
};

}  // namespace mneme
