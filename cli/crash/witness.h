// Witness: holds a recovered log against what clients sent and were told: was anything acknowledged lost, was
// anything invented?
//
// Judgement   an acknowledged call's LSN must hold exactly that call ("lost" otherwise), and serial replay
//             must give the results that the client was given for it ("wrong results"). a logged call must be
//             one that was acknowledged at that LSN, or one that was sent and never answered ("invented"
//             otherwise): a client that was told of a rollback, or never sent the call, must not find it. a
//             call that was never answered may be in the log or not, once; and once a log has been settled,
//             for ever. a client that was told what the database holds was told nothing that the log doesn't
//             reach ("lost" otherwise). Records of rows alone don't tell the call: they are held against
//             LSNs, and against how many calls were never answered; what the rows must be is the workload's
//             conditions' business.
// Threads     one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/crash/client_journal.h"
#include "logging/reading/log_reader.h"
#include "procedures/binder/program.h"

namespace mneme {

struct Verdict {
  uint64_t acknowledged = 0;  // calls that wrote and were told to be durable, over the database's whole life
  uint64_t lost = 0;
  uint64_t invented = 0;
  uint64_t wrong_results = 0;
  std::string first_fault;  // a sentence; empty when all counts are zero

  bool good() const { return lost == 0 && invented == 0 && wrong_results == 0; }
};

// Over the life of one data directory: crash after crash, all that was ever acknowledged must stay.
class Witness {
 public:
  // `program`: of the logged calls, whose records may have hints, which no client sends; nullptr: none has
  // one. It outlives the witness.
  explicit Witness(const Program* program = nullptr) : program_(program) {}

  // The clients' knowledge when their incarnation had been killed.
  void add(ClientJournal journal);
  // The highest LSN that a client was told of; 0: none.
  Lsn last_acknowledged() const { return acknowledged_.empty() ? Lsn{} : acknowledged_.rbegin()->first; }

  // The results that serial replay gave for the record at `lsn`, encoded as the server encodes them.
  void replayed(Lsn lsn, ByteSpan results);

  // Judges the whole log; replayed() was called for each of its command records, or for none to leave results
  // out.
  Verdict judge(const LogContents& log);
  // Another incarnation goes on with this log: what it has of calls that were never answered stays, and no
  // more of them comes.
  void settle(const LogContents& log);

 private:
  using Bytes = std::string;

  // Returns the record's call as its client sent it, or nullopt if the record is of rows.
  std::optional<Bytes> sent_call(const RecordView& record) const;
  void fault(Verdict& verdict, uint64_t& count, std::string sentence) const;

  struct Acknowledged {
    Bytes payload;
    Bytes results;
  };
  const Program* program_;
  std::map<Lsn, Acknowledged> acknowledged_;
  std::map<Bytes, uint64_t, std::less<>> unanswered_;  // payload -> how often it was sent
  std::map<Lsn, std::optional<Bytes>> settled_;        // nothing: of a record of rows
  // of all answers, those of calls that left no record included
  Lsn last_told_;
  std::map<Lsn, Bytes> replayed_;
};

}  // namespace mneme
