#include "lab/watched_log.h"

#include <fmt/format.h>

namespace mneme::lab {

namespace {

std::string_view name_of_kind(RecordKind kind) {
  switch (kind) {
    case RecordKind::kSkip:
      return "skip";
    case RecordKind::kCommand:
      return "call";
    case RecordKind::kLogical:
    case RecordKind::kPhysical:
      return "rows";
    case RecordKind::kAll:
      return "call and rows";
    case RecordKind::kSchema:
      return "schema";
  }
  return "unknown";
}

std::string hexadecimal(ByteSpan bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

}  // namespace

bool WatchedLog::await_space(WorkerId worker, uint32_t payload_bytes) {
  if (payload_bytes <= largest_payload_) return log_.await_space(worker, payload_bytes);
  too_large_ = failed("a record of {} bytes is larger than the laboratory's log has room for, which are {}",
                      payload_bytes, largest_payload_);
  return false;
}

Lsn WatchedLog::reserve(WorkerId worker, uint32_t payload_bytes) {
  const Lsn lsn = log_.reserve(worker, payload_bytes);
  payload_bytes_ = payload_bytes;
  end_ = lsn + (kRecordHeaderBytes + payload_bytes);
  journal_.add({{"kind", "reserve"}, {"lsn", lsn.value}, {"bytes", kRecordHeaderBytes + payload_bytes}});
  return lsn;
}

void WatchedLog::fill(WorkerId worker, Lsn lsn, RecordKind kind, ByteSpan payload) {
  log_.fill(worker, lsn, kind, payload);
  // As the record's writer does: a skip record's payload is zeros.
  Json record;
  encode_record({lsn, kind}, kind == RecordKind::kSkip ? skip_payload(payload_bytes_) : payload, 0,
                [&](ByteSpan header, ByteSpan body) { record = hexadecimal(header) + hexadecimal(body); });
  last_ = lsn;
  journal_.add({{"kind", "fill"},
                {"lsn", lsn.value},
                {"record", name_of_kind(kind)},
                {"text", records_(kind, payload)},
                {"bytes", std::move(record)},
                {"changes", changed_()}});
}

}  // namespace mneme::lab
