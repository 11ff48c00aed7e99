#include "cli/crash/witness.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "engine/schema/change_codec.h"
#include "procedures/interpreter/call_codec.h"

namespace mneme {

void Witness::add(ClientJournal journal) {
  for (JournalledCall& call : journal) {
    Bytes payload(as_text(call.payload));
    if (call.answered) last_told_ = std::max(last_told_, call.lsn);
    if (!call.answered) {
      ++unanswered_[std::move(payload)];
    } else if (call.status == ReplyStatus::kAcknowledged) {
      const bool fresh =
          acknowledged_.try_emplace(call.lsn, Acknowledged{std::move(payload), Bytes(as_text(call.results))})
              .second;
      CHECK(fresh);
    }
  }
}

void Witness::replayed(Lsn lsn, ByteSpan results) {
  replayed_.insert_or_assign(lsn, Bytes(as_text(results)));
}

// A call has one encoding, so what the record has beyond it is the hint. What is no call stays what it is.
std::optional<Witness::Bytes> Witness::sent_call(const RecordView& record) const {
  const std::optional<ByteSpan> logged = call_of(record.kind, record.payload);
  if (!logged) return std::nullopt;
  Arena arena;
  Call call;
  if (program_ == nullptr || !decode_call(*program_, *logged, arena, call).ok() || call.hints.empty())
    return Bytes(as_text(*logged));
  ByteBuffer sent;
  encode_call(*program_, call, sent);
  return Bytes(as_text(sent.span()));
}

Verdict Witness::judge(const LogContents& log) {
  Verdict verdict;
  verdict.acknowledged = acknowledged_.size();
  auto expected = acknowledged_.begin();
  auto settled = settled_.begin();
  std::map<Bytes, uint64_t, std::less<>> unanswered = unanswered_;
  uint64_t unanswered_count = 0;
  for (const auto& [payload, count] : unanswered_) unanswered_count += count;

  const auto lose_until = [&](Lsn end) {
    for (; expected != acknowledged_.end() && expected->first < end; ++expected) {
      fault(verdict, verdict.lost,
            fmt::format("the call acknowledged at LSN {} is not in the log", expected->first.value));
    }
    for (; settled != settled_.end() && settled->first < end; ++settled) {
      fault(verdict, verdict.lost,
            fmt::format(
                "the record at LSN {}, which the log had when another incarnation went on with it, is gone",
                settled->first.value));
    }
  };
  for (const RecordView& record : log.records) {
    if (record.kind == RecordKind::kSkip) continue;
    lose_until(record.lsn);
    const std::optional<Bytes> call = sent_call(record);
    if (expected != acknowledged_.end() && expected->first == record.lsn) {
      if (call && expected->second.payload != *call) {
        fault(verdict, verdict.lost,
              fmt::format("the log holds another call at LSN {} than was acknowledged there",
                          record.lsn.value));
      }
      const auto results = replayed_.find(record.lsn);
      if (results != replayed_.end() && results->second != expected->second.results) {
        fault(verdict, verdict.wrong_results,
              fmt::format("replay of the call at LSN {} gives other results than its client was given",
                          record.lsn.value));
      }
      ++expected;
      continue;
    }
    if (settled != settled_.end() && settled->first == record.lsn) {
      if (settled->second.has_value() != call.has_value() || (call && *settled->second != *call)) {
        fault(verdict, verdict.lost,
              fmt::format("the log holds something else at LSN {} than it did before", record.lsn.value));
      }
      ++settled;
      continue;
    }
    if (!call) {
      // Which of the unanswered calls left these rows is not told: there must be no more such records than
      // calls.
      if (unanswered_count > 0) {
        --unanswered_count;
      } else {
        fault(
            verdict, verdict.invented,
            fmt::format(
                "the log holds rows at LSN {} that no call changed which was acknowledged there, and more of "
                "those than calls that were not answered",
                record.lsn.value));
      }
      continue;
    }
    const auto sent = unanswered.find(*call);
    if (sent == unanswered.end() || sent->second == 0) {
      fault(verdict, verdict.invented,
            fmt::format(
                "the log holds a call at LSN {} that no client sent, or that was rolled back or acknowledged "
                "elsewhere",
                record.lsn.value));
    } else {
      --sent->second;
      if (unanswered_count > 0) --unanswered_count;
    }
  }
  lose_until(Lsn{std::numeric_limits<uint64_t>::max()});
  // A skip record's, too: a checkpoint's, which its rows have.
  if (last_told_ >= log.end && verdict.lost == 0) {
    fault(verdict, verdict.lost,
          fmt::format("a client was told what depends on the record at LSN {}, and the log ends at {}",
                      last_told_.value, log.end.value));
  }
  return verdict;
}

void Witness::settle(const LogContents& log) {
  for (const RecordView& record : log.records) {
    if (record.kind == RecordKind::kSkip || acknowledged_.contains(record.lsn)) continue;
    settled_.insert_or_assign(record.lsn, sent_call(record));
  }
  unanswered_.clear();
}

void Witness::fault(Verdict& verdict, uint64_t& count, std::string sentence) const {
  ++count;
  if (verdict.first_fault.empty()) verdict.first_fault = std::move(sentence);
}

}  // namespace mneme
