// Your part of chapter 8: a record of value logging: which rows a transaction has changed, as bytes, and
// back. Read engine/schema/change_codec.h first.
//
// This starter writes of each change which table and what was done, and not the row; and it reads nothing.
#include <algorithm>
#include <cstring>

#include "engine/schema/change_codec.h"

namespace mneme {

namespace {

constexpr uint64_t kActions = 8;

}  // namespace

// Makes room for so many bytes more, and returns where they begin. They count once size_ says so.
std::byte* ChangeRecord::reserve(size_t bytes) {
  if (size_ + bytes > bytes_.size()) bytes_.resize(std::max(size_ + bytes, 2 * bytes_.size()));
  return bytes_.data() + size_;
}

void ChangeRecord::put_count(uint32_t changes) {
  size_ = static_cast<size_t>(store_varint(reserve(kMaxVarintBytes), changes) - bytes_.data());
}

void ChangeRecord::put_call(ByteSpan call) {
  (void)call;
}

void ChangeRecord::put(const ChangeCodec& codec, TableId table, ChangeAction action,
                       const RowLocation* location, const std::byte* image, const ColumnBits* changed) {
  (void)location;
  (void)image;
  (void)changed;
  std::byte* to = reserve(codec.max_bytes(table));
  to = store_varint(to, kActions * table.value + static_cast<uint64_t>(action));
  to = store_varint(to, 0);  // bytes of what follows
  size_ = static_cast<size_t>(to - bytes_.data());
}

ChangeReader::ChangeReader(const ChangeCodec& codec, const LoggedChanges& changes)
    : codec_(codec), has_locations_(changes.has_locations), in_(changes.bytes), left_(0), bad_(false) {}

bool ChangeReader::next(RowChange& change) {
  (void)change;
  (void)codec_;
  (void)has_locations_;
  (void)left_;
  return false;
}

std::optional<ByteSpan> call_of(RecordKind kind, ByteSpan payload) {
  (void)kind;
  (void)payload;
  return std::nullopt;
}

std::optional<LoggedChanges> changes_of(RecordKind kind, ByteSpan payload) {
  (void)kind;
  (void)payload;
  return std::nullopt;
}

}  // namespace mneme
