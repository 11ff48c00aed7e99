// Session: a client's calls, one at a time, each run as a transaction on one worker.
//
// Flow        check the call -> encode it for the log -> prefetch the rows that it will look up -> run it ->
//             commit; after a conflict again, from the start
// Ad hoc      a transaction is logged by its rows in the place of its call where the caller says so, where it
//             is drawn or chosen (SessionOptions), or where running the procedure again might do something
//             else (ir::Procedure::by_chance). What is chosen so, and whose rows make no record, is run again
//             and logged as a call.
// Invariants  a call that was refused, or raised, has changed nothing.
//             an outcome, a rollback included, was read from a consistent state.
// Waiting     for conflicts, a growing pause between attempts; for the log's space (Transaction::commit). Not
//             for durability: the caller waits until `lsn` is durable before it answers the client (or does
//             not, and says so).
// Errors      a CallResult, never an exception. Attempts are bounded: kGaveUp.
// Threads     the worker's. Results and messages stay valid until the next run().
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "engine/transaction/conflict_pause.h"
#include "engine/transaction/database.h"
#include "engine/transaction/transaction.h"
#include "procedures/binder/program.h"
#include "procedures/interpreter/call.h"
#include "procedures/interpreter/interpreter.h"
#include "procedures/session/call_choices.h"
#include "procedures/session/sequence_draws.h"

namespace mneme {

struct CallResult {
  enum class Status : uint8_t {
    kCommitted,
    kRolledBack,   // RAISE EXCEPTION or an SQL run-time error
    kRefused,      // the call is not well-formed, or what it changed cannot be logged
    kGaveUp,       // other transactions were in the way too often
    kOutOfMemory,  // the database is full
    kLogFailed,    // CommitLog::failure() says why
    kStopped,      // it was asked to end, and has changed nothing
  };
  Status status = Status::kCommitted;
  // kCommitted, kRolledBack: may be reported to the client once the record at `lsn` is durable. Of a
  // transaction that wrote (`logged`) it is its own record, otherwise the youngest that it depends on.
  Lsn lsn;
  bool logged = false;
  std::string_view sqlstate;  // kRolledBack, kStopped; kRefused, where PostgreSQL has one for it
  std::string_view message;   // of everything but kCommitted
  std::string_view detail{};  // kRolledBack, of RAISE
  std::string_view hint{};
  std::span<const Argument> results;  // kCommitted: the INOUT parameters, in order
  uint32_t attempts = 0;

  bool committed() const { return status == Status::kCommitted; }
};

struct SessionCounters {
  uint64_t committed = 0;
  uint64_t rolled_back = 0;
  uint64_t conflicts = 0;  // attempts that had to be run again
  uint64_t logged = 0;
  uint64_t ad_hoc = 0;         // of those that were logged, by their rows alone
  uint64_t payload_bytes = 0;  // of logged calls
  uint64_t hinted = 0;         // of these, that have a hint
  uint64_t hint_bytes = 0;
};

// The record of a call's transaction in a log that holds calls.
enum class LoggedAs : uint8_t {
  kContent,  // what its records hold (logging/record/record_content.h)
  kAdHoc,    // the rows that it changed, alone: to replay, it is as if no procedure had been called
};

struct SessionOptions {
  std::span<const NativeFunctions>
      native;  // the procedures' machine code, by id; empty: they are interpreted
  bool prefetch =
      true;  // with machine code: rows that the arguments name are fetched, all at once, before it runs
  // The share of transactions, drawn at random, that are logged as ad-hoc ones instead of by their calls.
  uint32_t ad_hoc_percent = 0;
  uint64_t ad_hoc_seed = 0;
  // Which procedures' calls are logged by their rows from now on; nullptr: none beyond what is said above.
  // The log's records are calls (RecordContent::kCommand). It outlives the session.
  CallChoices* choices = nullptr;
  // By procedure: the bodies that tell keys, and so give the records of a log of calls hints; empty: no
  // record has one. The machine code is that of these bodies. They outlive the session.
  std::span<const ToldProcedure> told{};
  // What the client's other sessions have drawn from sequences, too; nullptr: there are none. It outlives the
  // session.
  LastDrawn* last_drawn = nullptr;
};

// A transaction that meets a conflict at each of so many attempts is given up.
inline constexpr uint32_t kMostAttempts = 10'000;

class Session {
 public:
  // The program, the database and the machine code outlive the session; the program's catalog is the
  // database's.
  Session(const Program& program, Database& database, WorkerId worker, const SessionOptions& options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // A call has its procedure's parameters; the hidden argument, its time, is added here. Where it throws, as
  // for want of memory, its transaction has ended.
  // `stop`: may end it, in one of its loops or reads; nullptr: nothing does.
  // `most_attempts`: after so many that met a conflict it gives up (kGaveUp).
  CallResult run(const Call& call, LoggedAs logged_as = LoggedAs::kContent, StopRequest* stop = nullptr,
                 uint32_t most_attempts = kMostAttempts);

  // What the last call's procedure has said by RAISE NOTICE and its kind.
  const Notices& notices() const { return notices_; }
  const SessionCounters& counters() const { return counters_; }

 private:
  enum class Attempt { kDone, kConflict, kAsCall /* run it again, and log the call */ };

  bool draw_ad_hoc();
  // Returns the procedure's body that tells keys; nullptr if the call's record has no hint.
  const ToldProcedure* told(const ir::Procedure& procedure) const;
  void choose_record(const ir::Procedure& procedure, LoggedAs logged_as);
  CommitOutcome commit_sampled(const ir::Procedure& procedure);
  CommitOutcome commit_as_chosen() {
    return logged_as_ == LoggedAs::kAdHoc ? transaction_.commit_ad_hoc()
                                          : transaction_.commit(payload_.span());
  }

  const Call& with_call_time(const Call& call);
  void prefetch(const Call& call);
  void add_hint();
  void count_logged_call();
  CallResult refuse(std::string message, std::string_view sqlstate = {});
  Attempt attempt(const ir::Procedure& procedure, const Call& call, CallResult& result);
  Attempt commit(const ir::Procedure& procedure, CallResult& result);
  Attempt roll_back(const Outcome& outcome, CallResult& result);
  Attempt not_committed(const ir::Procedure& procedure, CommitStatus why, CallResult& result);
  Attempt log_failed(CallResult& result);

  const Program& program_;
  const SessionOptions options_;
  Database& database_;
  Transaction transaction_;
  Interpreter interpreter_;
  SequenceDraws sequences_;
  // The look-ups of the call at hand, a round at a time; the beginning of a longer list is enough.
  std::array<RowLookup, Prefetcher::kMaxLookups> lookups_;
  RowPeeks peeks_;
  Call timed_call_;
  LoggedAs logged_as_ = LoggedAs::kContent;
  bool is_chosen_ = false;        // logged by its rows because SessionOptions::choices says so
  bool is_sampled_ = false;       // SessionOptions::choices gets a sample of it
  std::vector<uint64_t> chosen_;  // by procedure, where there are choices: calls that were logged so
  StopRequest* stop_ = nullptr;
  ByteBuffer payload_;
  size_t call_bytes_ = 0;  // of payload_, without the hint
  HintNotes notes_of_keys_;
  ByteBuffer rows_;  // of a sample
  std::string message_;
  Notices notices_;
  SessionCounters counters_;
  ConflictPause pause_;
  std::mt19937_64 ad_hoc_random_;
};

}  // namespace mneme
