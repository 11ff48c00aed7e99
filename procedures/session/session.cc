#include "procedures/session/session.h"

#include <algorithm>

#include "engine/table/row_wait.h"
#include "procedures/interpreter/call_codec.h"
#include "procedures/times/timestamp.h"

namespace mneme {

Session::Session(const Program& program, Database& database, WorkerId worker, const SessionOptions& options)
    : program_(program),
      options_(options),
      database_(database),
      transaction_(database, database.worker(worker)),
      interpreter_(database.schema()),
      sequences_(database, transaction_, options.last_drawn),
      peeks_(transaction_.prefetcher()),
      pause_(database.worker_count(), worker.value * 0x9e3779b97f4a7c15),
      ad_hoc_random_(options.ad_hoc_seed * 1000 + worker.value) {
  CHECK(options.native.empty() || options.native.size() == program.procedures.size());
  if (options.choices != nullptr) chosen_.assign(program.procedures.size(), 0);
}

Session::~Session() {
  for (uint32_t p = 0; p < chosen_.size(); ++p) options_.choices->add_logged(ProcedureId{p}, chosen_[p]);
}

void Session::choose_record(const ir::Procedure& procedure, LoggedAs logged_as) {
  logged_as_ = procedure.is_logged_by_rows() || draw_ad_hoc() ? LoggedAs::kAdHoc : logged_as;
  is_chosen_ = is_sampled_ = false;
  if (options_.choices == nullptr || !procedure.writes) return;
  const CallChoices::State state = options_.choices->state(procedure.id);
  is_sampled_ = state.is_sampled() && options_.choices->wants_samples();
  is_chosen_ = state.is_logged_by_rows() && logged_as_ == LoggedAs::kContent;
  if (is_chosen_) logged_as_ = LoggedAs::kAdHoc;
}

CallResult Session::run(const Call& clients, LoggedAs logged_as, StopRequest* stop, uint32_t most_attempts) {
  stop_ = stop;
  notices_.clear();
  const Call& call = with_call_time(clients);
  const char* code = "";
  if (Result<void> checked = check_call(program_, call, &code); !checked.ok())
    return refuse(checked.error().message, code);
  const ir::Procedure& procedure = program_.procedure(call.procedure);
  choose_record(procedure, logged_as);
  payload_.clear();
  // A call is refused, or not, whatever has been chosen.
  const bool logs_call =
      (logged_as_ == LoggedAs::kContent || is_chosen_) && holds_calls(database_.record_content());
  if (procedure.writes && logs_call) encode_call(program_, call, payload_);
  call_bytes_ = payload_.size();
  if (payload_.size() > kMaxPayloadBytes) {
    return refuse(
        fmt::format("a call of {} with these arguments takes {} bytes of log, and a record holds {}",
                    procedure.name, payload_.size(), kMaxPayloadBytes),
        sqlstate::kProgramLimit);
  }
  CallResult result;
  pause_.begin();
  for (result.attempts = 1;; ++result.attempts) {
    try {
      const Attempt attempted = attempt(procedure, call, result);
      if (attempted == Attempt::kDone) return result;
      if (attempted == Attempt::kAsCall) {
        is_chosen_ = false;
        logged_as_ = LoggedAs::kContent;
        --result.attempts;
        continue;
      }
    } catch (...) {
      transaction_.abort();
      throw;
    }
    ++counters_.conflicts;
    if (result.attempts >= most_attempts || RowWait::has_ended()) break;
    pause_.after_conflict();
  }
  message_ = fmt::format("{} met conflicting transactions {} times in a row and was not run", procedure.name,
                         result.attempts);
  result.status = CallResult::Status::kGaveUp;
  result.message = message_;
  return result;
}

// Hints are for logs of calls alone, as a record with images has no need of them.
const ToldProcedure* Session::told(const ir::Procedure& procedure) const {
  if (options_.told.empty() || !options_.told[procedure.id.value].has_hints()) return nullptr;
  const bool is_call = call_bytes_ > 0 && database_.record_content() == RecordContent::kCommand;
  return is_call ? &options_.told[procedure.id.value] : nullptr;
}

bool Session::draw_ad_hoc() {
  return options_.ad_hoc_percent > 0 && ad_hoc_random_() % 100 < options_.ad_hoc_percent;
}

const Call& Session::with_call_time(const Call& call) {
  if (!call.procedure.valid() || call.procedure.value >= program_.procedures.size()) return call;
  const ir::Procedure& procedure = program_.procedure(call.procedure);
  if (!procedure.call_time.valid() || call.arguments.size() != procedure.parameters.size()) return call;
  timed_call_ = call;
  timed_call_.arguments.push_back(Argument::of(Value::of_int(current_timestamp())));
  return timed_call_;
}

CallResult Session::refuse(std::string message, std::string_view sqlstate) {
  message_ = std::move(message);
  CallResult result;
  result.status = CallResult::Status::kRefused;
  result.sqlstate = sqlstate;
  result.message = message_;
  return result;
}

void Session::prefetch(const Call& call) {
  if (!options_.prefetch || options_.native.empty()) return;
  const LookupRequest request{.schema = &database_.schema(), .arguments = call.arguments, .peeks = &peeks_};
  peeks_.begin();
  for (const NativeLookupFunction lookups : options_.native[call.procedure.value].lookups) {
    if (lookups == nullptr) break;
    peeks_.begin_round();
    const size_t count = lookups(request, lookups_);
    transaction_.prefetch_more({lookups_.data(), count});
  }
}

Session::Attempt Session::attempt(const ir::Procedure& procedure, const Call& call, CallResult& result) {
  if (result.attempts == 1) {
    transaction_.begin();
  } else {
    transaction_.begin_again();
  }
  if (procedure.draws) sequences_.rolled_back();  // what an attempt before this one has written
  // The rows that an attempt has fetched are still in the cache for the next.
  if (result.attempts == 1) prefetch(call);
  RunRequest request = RunRequest::of(procedure, call.arguments, transaction_);
  if (!options_.native.empty()) request.native = options_.native[procedure.id.value].run_on_transaction;
  request.prefetch = options_.prefetch;
  request.stop = stop_;
  notices_.clear();
  request.notices = &notices_;
  request.sequences = &sequences_;
  const ToldProcedure* const tells = told(procedure);
  if (tells != nullptr) {
    notes_of_keys_.begin(*tells);
    request.body = tells->body;
    request.keys = &notes_of_keys_;
  }
  const Outcome outcome = interpreter_.run(request);
  switch (outcome.kind) {
    case Outcome::Kind::kCompleted:
      if (tells != nullptr) add_hint();
      return commit(procedure, result);
    case Outcome::Kind::kRaised:
      // Another transaction draws from the same sequence.
      if (procedure.draws && sequences_.met_conflict()) {
        transaction_.abort();
        return Attempt::kConflict;
      }
      return roll_back(outcome, result);
    case Outcome::Kind::kConflict:
      transaction_.abort();
      return Attempt::kConflict;
    case Outcome::Kind::kOutsideHint:
      break;
    case Outcome::Kind::kStopped:
      transaction_.abort();
      result.status = CallResult::Status::kStopped;
      result.sqlstate = outcome.sqlstate;
      result.message = outcome.message;
      return Attempt::kDone;
    case Outcome::Kind::kOutOfMemory:
      transaction_.abort();
      result.status = CallResult::Status::kOutOfMemory;
      result.message = "the database is full: there is no room for another row";
      return Attempt::kDone;
  }
  CHECK(false && "a kind of outcome");
  return Attempt::kDone;
}

void Session::add_hint() {
  payload_.resize(call_bytes_);
  if (call_bytes_ + kMostHintBytes <= kMaxPayloadBytes) notes_of_keys_.encode(payload_);
}

// The rows of the sample are taken while the transaction runs: they show what it will have changed.
CommitOutcome Session::commit_sampled(const ir::Procedure& procedure) {
  ByteSpan rows;
  rows_.clear();
  if (transaction_.wrote()) {
    const CommitStatus made = transaction_.ad_hoc_record(rows);
    if (made == CommitStatus::kConflict) {
      transaction_.abort();
      return {made, Lsn{}, false};
    }
    if (made == CommitStatus::kCommitted) rows_.put_bytes(rows);
  }
  const CommitOutcome committed = commit_as_chosen();
  if (committed.status == CommitStatus::kCommitted && committed.wrote)
    options_.choices->add({procedure.id, committed.lsn, payload_.span(), rows_.span()});
  return committed;
}

Session::Attempt Session::commit(const ir::Procedure& procedure, CallResult& result) {
  const CommitOutcome committed = is_sampled_ ? commit_sampled(procedure) : commit_as_chosen();
  if (committed.status == CommitStatus::kConflict) return Attempt::kConflict;
  const bool makes_no_record =
      committed.status == CommitStatus::kTooLarge || committed.status == CommitStatus::kUnnamed;
  if (is_chosen_ && makes_no_record) return Attempt::kAsCall;
  if (committed.status != CommitStatus::kCommitted) return not_committed(procedure, committed.status, result);
  CHECK(!committed.wrote || procedure.writes);
  if (procedure.draws) sequences_.committed();
  result.status = CallResult::Status::kCommitted;
  result.lsn = committed.lsn;
  result.logged = committed.wrote;
  result.results = interpreter_.results();
  ++counters_.committed;
  if (committed.wrote) {
    ++counters_.logged;
    counters_.ad_hoc += logged_as_ == LoggedAs::kAdHoc ? 1 : 0;
    if (logged_as_ == LoggedAs::kContent) count_logged_call();
    if (is_chosen_) ++chosen_[procedure.id.value];
  }
  return Attempt::kDone;
}

void Session::count_logged_call() {
  counters_.payload_bytes += payload_.size();
  counters_.hinted += payload_.size() > call_bytes_ ? 1 : 0;
  counters_.hint_bytes += payload_.size() - call_bytes_;
}

Session::Attempt Session::roll_back(const Outcome& outcome, CallResult& result) {
  // The values that raised may have been read from an inconsistent state: then the error does not count.
  const CommitOutcome ended = transaction_.roll_back();
  if (ended.status == CommitStatus::kConflict) return Attempt::kConflict;
  if (ended.status == CommitStatus::kLogFailed) return log_failed(result);
  result.status = CallResult::Status::kRolledBack;
  result.lsn = ended.lsn;
  result.sqlstate = outcome.sqlstate;
  result.message = outcome.message;
  result.detail = outcome.detail;
  result.hint = outcome.hint;
  ++counters_.rolled_back;
  return Attempt::kDone;
}

Session::Attempt Session::not_committed(const ir::Procedure& procedure, CommitStatus why,
                                        CallResult& result) {
  if (why == CommitStatus::kLogFailed) return log_failed(result);
  const uint32_t attempts = result.attempts;
  result = refuse(
      why == CommitStatus::kTooLarge
          ? fmt::format(
                "the rows that {} changed with these arguments take more than the {} bytes that a log record "
                "holds: change fewer at a time, or log commands",
                procedure.name, kMaxPayloadBytes)
          : fmt::format("{} changed a row of a table that has no primary key, and this log, made with --log "
                        "all, names rows by it: give the table one",
                        procedure.name));
  result.attempts = attempts;
  return Attempt::kDone;
}

Session::Attempt Session::log_failed(CallResult& result) {
  result.status = CallResult::Status::kLogFailed;
  result.message = "the log has failed: nothing more is committed";
  return Attempt::kDone;
}

}  // namespace mneme
