#include "tests/simulator/ledger_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/check.h"
#include "engine/schema/change_codec.h"
#include "procedures/interpreter/call_codec.h"
#include "tests/simulator/ledger.h"

namespace mneme::simulator {

namespace {

using State = SharedCall::State;
using Ending = SharedCall::Ending;
using Fate = SharedCall::Fate;

ByteSpan payload_of(const SharedCall& call) {
  return {call.payload, call.payload_bytes};
}
bool is_acknowledged(const SharedCall& call) {
  return call.state.load() == State::kAnswered && call.ending == Ending::kLogged;
}

// Returns whether the call's LSN is known, and its record may be in the log.
bool has_place(const SharedCall& call) {
  if (call.fate != Fate::kOpen) return call.fate == Fate::kFound;
  return call.state.load() >= State::kHasRun && call.ending == Ending::kLogged;
}

}  // namespace

LedgerJudge::LedgerJudge(const Scenario& scenario, uint64_t lives, Shared& shared)
    : program_(ledger_program()) {
  for (uint64_t life = 0; life < lives; ++life) {
    for (uint64_t worker = 0; worker < scenario.workers; ++worker) {
      for (SharedCall& each : calls_of(shared, scenario, life, worker)) {
        if (each.state.load(std::memory_order_acquire) == State::kNone) break;
        Sent sent{&each, {}};
        const auto decoded = decode_call(*program_, payload_of(each), arena_, sent.call);
        CHECK(decoded.ok());
        sent_.push_back(std::move(sent));
      }
    }
  }
  for (Sent& each : sent_) {
    if (each.shared->state.load() == State::kSent && each.shared->fate == Fate::kOpen) open_.push_back(&each);
  }
}

Lsn LedgerJudge::last_acknowledged() const {
  Lsn last;
  for (const Sent& each : sent_) {
    if (is_acknowledged(*each.shared)) last = std::max(last, each.shared->lsn);
  }
  return last;
}

std::optional<std::string> LedgerJudge::judge(const LogContents& log, const Database& database) {
  if (auto trouble = find_calls(log, Lsn{})) return trouble;
  if (auto trouble = try_calls(0, database)) return trouble;
  return judge_reads(log.end);
}

std::optional<std::string> LedgerJudge::judge_records(const LogContents& log, Lsn begin) {
  return find_calls(log, begin);
}

std::optional<std::string> LedgerJudge::find_calls(const LogContents& log, Lsn begin) {
  log_.clear();
  unknown_.clear();
  for (Sent& each : sent_) each.is_found = false;
  // A place that one life's lost call had may be a later one's.
  std::map<Lsn, Sent*> by_place;
  for (Sent& each : sent_) {
    if (!has_place(*each.shared)) continue;
    const auto [at, is_first] = by_place.try_emplace(each.shared->lsn, &each);
    if (is_first) continue;
    if (is_acknowledged(*at->second->shared) || at->second->shared->fate == Fate::kFound)
      return fmt::format("two calls were logged at LSN {}", at->first.value);
    at->second = &each;
  }
  for (const RecordView& record : log.records) {
    if (record.kind == RecordKind::kSkip || record.lsn < begin) continue;
    const std::optional<ByteSpan> call = call_of(record.kind, record.payload);
    Logged logged{record.lsn};
    if (const auto placed = by_place.find(record.lsn); placed != by_place.end()) {
      logged.sent = placed->second;
      if (call && !std::ranges::equal(*call, payload_of(*logged.sent->shared)))
        return fmt::format("the log holds another call at LSN {} than its client was told", record.lsn.value);
    } else if (call) {
      const auto found = std::ranges::find_if(open_, [&](const Sent* each) {
        return !each->is_found && std::ranges::equal(*call, payload_of(*each->shared));
      });
      if (found == open_.end()) {
        return fmt::format(
            "the log holds a call at LSN {} that no client sent, or that had another end, or was lost before",
            record.lsn.value);
      }
      logged.sent = *found;
    } else {
      unknown_.push_back(log_.size());
    }
    if (logged.sent != nullptr) logged.sent->is_found = true;
    log_.push_back(logged);
  }
  for (const Sent& each : sent_) {
    if (is_acknowledged(*each.shared) && each.shared->lsn >= begin && !each.is_found)
      return fmt::format("the call acknowledged at LSN {} is not in the log", each.shared->lsn.value);
  }
  const auto free = std::ranges::count_if(open_, [](const Sent* each) { return !each->is_found; });
  if (std::cmp_greater(unknown_.size(), free)) {
    return fmt::format(
        "the log holds rows at LSN {} that no call left which was told of it, and more of those than calls "
        "that the power failed on",
        log_[unknown_.back()].lsn.value);
  }
  return std::nullopt;
}

std::optional<std::string> LedgerJudge::try_calls(size_t n, const Database& database) {
  if (n == unknown_.size()) return follow(database);
  std::optional<std::string> first;
  Logged& logged = log_[unknown_[n]];
  for (Sent* each : open_) {
    if (each->is_found) continue;
    logged.sent = each;
    each->is_found = true;
    auto trouble = try_calls(n + 1, database);
    if (!trouble) return std::nullopt;
    if (!first) first = std::move(trouble);
    each->is_found = false;
  }
  CHECK(first);
  return first;
}

bool LedgerJudge::gives(const Sent& sent, const std::optional<LedgerResults>& results) const {
  if (!results) return sent.shared->ending == Ending::kRolledBack;
  if (sent.shared->ending == Ending::kRolledBack) return false;
  std::vector<Argument> arguments;
  for (const std::optional<int64_t>& each : *results)
    arguments.push_back(Argument::of(each ? Value::of_int(*each) : Value::null()));
  ByteBuffer encoded;
  encode_results(program_->procedure(sent.call.procedure), arguments, encoded);
  return std::ranges::equal(encoded.span(), std::span(sent.shared->results, sent.shared->result_bytes));
}

std::optional<std::string> LedgerJudge::follow(const Database& database) const {
  LedgerModel model;
  for (const Logged& each : log_) {
    const auto results = model.run(each.sent->call);
    if (!results) return fmt::format("the log holds a call at LSN {} that raises there", each.lsn.value);
    if (each.sent->shared->state.load() >= State::kHasRun && !gives(*each.sent, results))
      return fmt::format("the call at LSN {} gives other results there than its client was given",
                         each.lsn.value);
  }
  return model.compare(database);
}

// Such a call's LSN is that of the youngest record which it depends on: it was answered from the state behind
// that, or behind a later one that deleted what it didn't find.
std::optional<std::string> LedgerJudge::judge_reads(Lsn end) const {
  std::vector<const Sent*> reads;
  for (const Sent& each : sent_) {
    if (each.shared->state.load() != State::kAnswered) continue;
    if (each.shared->ending != Ending::kReadOnly && each.shared->ending != Ending::kRolledBack) continue;
    // That of a skip record, too: a checkpoint's, which its rows have.
    if (each.shared->lsn >= end) {
      return fmt::format("a client was told what depends on the record at LSN {}, and the log ends at {}",
                         each.shared->lsn.value, end.value);
    }
    reads.push_back(&each);
  }
  LedgerModel model;
  const auto answer = [&](Lsn next) {
    std::erase_if(reads, [&](const Sent* each) {
      if (each->shared->lsn >= next || model.writes(each->call)) return false;
      LedgerModel same = model;
      return gives(*each, same.run(each->call));
    });
  };
  // A state is there until the next record, and those of skips are among them.
  for (size_t i = 0; i <= log_.size(); ++i) {
    if (i > 0) model.run(log_[i - 1].sent->call);
    answer(i < log_.size() ? log_[i].lsn : end);
  }
  if (reads.empty()) return std::nullopt;
  return fmt::format(
      "a call of {} that wrote nothing was answered, at LSN {}, what no state of the log from there on gives",
      program_->procedure(reads.front()->call.procedure).name, reads.front()->shared->lsn.value);
}

std::optional<std::string> LedgerJudge::compare_without_last(uint64_t records,
                                                             const Database& database) const {
  CHECK(records <= log_.size());
  LedgerModel model;
  for (size_t i = 0; i + records < log_.size(); ++i) model.run(log_[i].sent->call);
  return model.compare(database);
}

void LedgerJudge::settle() {
  for (const Logged& each : log_) each.sent->shared->lsn = each.lsn;
  for (Sent& each : sent_) {
    SharedCall& call = *each.shared;
    const bool may_be_logged = call.state.load() == State::kSent || has_place(call);
    if (may_be_logged && !is_acknowledged(call) && call.fate == Fate::kOpen)
      call.fate = each.is_found ? Fate::kFound : Fate::kGone;
  }
}

}  // namespace mneme::simulator
