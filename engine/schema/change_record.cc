// The payload of a tuple record, written and read (change_codec.h).
#include <algorithm>
#include <cstring>

#include "engine/schema/change_codec.h"

namespace mneme {

namespace {

// Room for actions to come.
constexpr uint64_t kActions = 8;
static_assert(kChangeActions <= kActions);

}  // namespace

std::byte* ChangeRecord::reserve(size_t bytes) {
  if (size_ + bytes > bytes_.size()) bytes_.resize(std::max(size_ + bytes, 2 * bytes_.size()));
  return bytes_.data() + size_;
}

void ChangeRecord::put_call(ByteSpan call) {
  std::byte* to = store_varint(reserve(kMaxVarintBytes + call.size()), call.size());
  to = std::copy(call.begin(), call.end(), to);
  size_ = static_cast<size_t>(to - bytes_.data());
}

void ChangeRecord::put_count(uint32_t changes) {
  size_ = static_cast<size_t>(store_varint(reserve(kMaxVarintBytes), changes) - bytes_.data());
}

void ChangeRecord::put(const ChangeCodec& codec, TableId table, ChangeAction action,
                       const RowLocation* location, const std::byte* image, const ColumnBits* changed) {
  DCHECK((action == ChangeAction::kUpdate || action == ChangeAction::kPatch) == (changed != nullptr));
  const bool has_rest = action != ChangeAction::kErase || codec.is_keyless(table);
  const size_t long_bytes = action == ChangeAction::kPatch ? codec.rest(table).long_bytes(image, *changed)
                            : has_rest                     ? codec.rest(table).long_bytes(image)
                                                           : 0;
  std::byte* to = reserve(codec.max_bytes(table) + long_bytes);
  to = store_varint(to, kActions * table.value + static_cast<uint64_t>(action));
  if (location != nullptr) {
    to = store_varint(to, location->slot);
    to = store_varint(to, location->before.value << 1 | static_cast<uint64_t>(location->lived));
  }
  // The length comes first and is known last: most rows leave it the byte that it is given, others move on.
  std::byte* const columns = to + 1;
  std::byte* end = codec.key(table).encode(image, columns);
  if (changed != nullptr) end = std::copy(changed->bytes().begin(), changed->bytes().end(), end);
  if (action == ChangeAction::kPatch)
    end = codec.rest(table).encode(image, *changed, end);
  else if (has_rest)
    end = codec.rest(table).encode(image, end);
  const auto length = static_cast<size_t>(end - columns);
  const size_t more = varint_bytes(length) - 1;
  if (more > 0) std::memmove(columns + more, columns, length);
  store_varint(to, length);
  size_ = static_cast<size_t>(end + more - bytes_.data());
}

ChangeReader::ChangeReader(const ChangeCodec& codec, const LoggedChanges& changes)
    : codec_(codec), has_locations_(changes.has_locations), in_(changes.bytes) {
  left_ = in_.get_varint();
  bad_ = in_.bad();
}

bool ChangeReader::next(RowChange& change) {
  if (bad_) return false;
  if (left_ == 0) {
    bad_ = in_.remaining() > 0;
    return false;
  }
  --left_;
  ByteReader in = in_;
  const uint64_t head = in.get_varint();
  const uint64_t table = head / kActions;
  const uint64_t action = head % kActions;
  if (has_locations_) {
    change.location.slot = in.get_varint();
    const uint64_t before = in.get_varint();
    change.location.before = Lsn{before >> 1};
    change.location.lived = before % 2 != 0;
  }
  const uint64_t bytes = in.get_varint();
  const std::byte* columns = in.take(bytes);
  in_ = in;
  bad_ = in.bad() || table >= codec_.table_count() || action >= kChangeActions;
  if (bad_) return false;
  change.columns = {columns, bytes};
  change.table = TableId{static_cast<uint32_t>(table)};
  change.action = static_cast<ChangeAction>(action);
  return true;
}

std::optional<ByteSpan> call_of(RecordKind kind, ByteSpan payload) {
  if (kind == RecordKind::kCommand) return payload;
  if (kind != RecordKind::kAll) return std::nullopt;
  ByteReader in(payload);
  const ByteSpan call = in.get_bytes(in.get_varint());
  return in.bad() ? std::nullopt : std::optional(call);
}

std::optional<LoggedChanges> changes_of(RecordKind kind, ByteSpan payload) {
  if (kind == RecordKind::kLogical) return LoggedChanges{payload, false};
  if (kind == RecordKind::kPhysical) return LoggedChanges{payload, true};
  if (kind != RecordKind::kAll) return std::nullopt;
  ByteReader in(payload);
  in.get_bytes(in.get_varint());
  if (in.bad()) return std::nullopt;
  return LoggedChanges{payload.last(in.remaining()), true};
}

}  // namespace mneme
