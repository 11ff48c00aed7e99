// LedgerJudge: holds a recovered log, and the database that it was replayed into, against what clients of the
// ledger sent and were told, and against what the ledger's model gives for the log's calls, one after the
// other.
//
// Judgement   an acknowledged call is in the log, at its LSN, and its client was given what the model gives
//             for it there; nothing else is in it but calls that were sent and never answered, in the lives
//             since the last log that was settled: one that was not in that does not come up again; a call
//             that wrote nothing, or raised, was answered from a state of the log's, not before its LSN's;
//             the database holds what the model does in the end.
// Rows        a record of rows doesn't tell its call. Its LSN does, but where power failed just as the call
//             ran: of those, few as they are, any is taken with which all the rest comes true.
// Threads     one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/memory/arena.h"
#include "logging/reading/log_reader.h"
#include "procedures/binder/program.h"
#include "tests/simulator/ledger_model.h"
#include "tests/simulator/shared_state.h"

namespace mneme::simulator {

class LedgerJudge {
 public:
  // Judges the scenario's first lives.
  LedgerJudge(const Scenario& scenario, uint64_t lives, Shared& shared);

  // The highest LSN that a client was told of; 0: none.
  Lsn last_acknowledged() const;
  // A sentence, where anything is not as it should be. The log is whole.
  std::optional<std::string> judge(const LogContents& log, const Database& database);
  // Judges the records of a log that begins there, but no states.
  std::optional<std::string> judge_records(const LogContents& log, Lsn begin);
  // Compares a database that was recovered from the judged log without its last records.
  std::optional<std::string> compare_without_last(uint64_t records, const Database& database) const;
  // From now on calls that no client was told of must stay as the judged log has them.
  void settle();

 private:
  struct Sent {
    SharedCall* shared;
    Call call;
    bool is_found = false;
  };
  struct Logged {
    Lsn lsn;
    Sent* sent = nullptr;  // none as yet: one of open_
  };

  std::optional<std::string> find_calls(const LogContents& log, Lsn begin);
  // From the n-th of the records whose call isn't known.
  std::optional<std::string> try_calls(size_t n, const Database& database);
  std::optional<std::string> follow(const Database& database) const;
  std::optional<std::string> judge_reads(Lsn end) const;
  bool gives(const Sent& sent, const std::optional<LedgerResults>& results) const;

  const std::unique_ptr<Program> program_;
  Arena arena_;
  std::vector<Sent> sent_;
  std::vector<Sent*> open_;  // that power failed on
  std::vector<Logged> log_;
  std::vector<size_t> unknown_;  // of log_
};

}  // namespace mneme::simulator
