// Change codec: what a transaction changed, as the payload of a tuple record, and back.
//
//     logical     varint count of changes, then the changes
//     physical    the same, each change with a location
//     all         varint bytes of the call, the call (procedures/call_codec.h), then as in a physical record
//     change      varint 4 * table + action, the location where there is one, varint bytes of what follows, then the
//                 row: the columns of its primary key, in the key's order, and, unless it was erased, all others in
//                 theirs (row_codec.h)
//     location    varint slot in the table, varint 2 * LSN of the version before + whether that one lived; the new
//                 version's LSN is the record's. A slot that was free: 0.
//
// Flow        Transaction::commit -> ChangeRecord -> log;  log -> ChangeReader -> replay
// Invariants  after-images, whole ones: nothing of the row before is needed. A transaction changes a row once. One that
//             it both inserted and erased is left out.
//             A row of a table without a primary key has no name that outlives its slot: where records hold no
//             locations, it can be inserted, and what identifies it is the record's LSN and the change's place in it.
//             A slot's versions form a chain in the order of LSNs, through all rows that it held: a slot is used again
//             only once the last row's erasure is durable (worker.h), so by a record of a higher LSN.
// Errors      bytes from disk are the world: a reader takes any, and says `bad`.
// Threads     ChangeCodec: constant after construction. The others: one owner.
// Source      PACMAN (SIGMOD 2017), section 2.1: physical and logical logging.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "engine/row_codec.h"
#include "engine/schema.h"
#include "logging/record_format.h"

namespace mneme {

enum class ChangeAction : uint8_t { kInsert, kUpdate, kErase };

// Where a changed row lies, and which version of it, or of the slot, the change follows.
struct RowLocation {
  uint64_t slot = 0;
  Lsn before;          // 0: of the checkpoint, or none
  bool lived = false;  // before

  bool operator==(const RowLocation&) const = default;
};

// The codecs of each table's rows.
class ChangeCodec {
 public:
  explicit ChangeCodec(const Schema& schema);

  size_t table_count() const { return tables_.size(); }
  // No columns where the table has no primary key.
  const RowCodec& key(TableId table) const { return tables_[table.value].key; }
  const RowCodec& rest(TableId table) const { return tables_[table.value].rest; }
  // The columns of a change (RowChange) into an image: its primary key; a whole row. False: they are none.
  bool decode_key(TableId table, ByteSpan columns, std::byte* image) const;
  bool decode_row(TableId table, ByteSpan columns, std::byte* image) const;
  // Of one change, all told.
  size_t max_bytes(TableId table) const { return tables_[table.value].max_bytes; }

 private:
  struct TableCodec {
    RowCodec key;
    RowCodec rest;
    size_t max_bytes;
  };
  std::vector<TableCodec> tables_;
};

// A payload under construction. Its memory is kept from one transaction to the next.
class ChangeRecord {
 public:
  void clear() { size_ = 0; }
  void put_call(ByteSpan call);
  void put_count(uint32_t changes);
  // Of an erased row's image only the primary key counts. `location`: nullptr in a logical record.
  void put(const ChangeCodec& codec, TableId table, ChangeAction action, const RowLocation* location,
           const std::byte* image);
  ByteSpan payload() const { return {bytes_.data(), size_}; }

 private:
  std::byte* reserve(size_t bytes);

  std::vector<std::byte> bytes_;
  size_t size_ = 0;
};

struct RowChange {
  TableId table;
  ChangeAction action = ChangeAction::kInsert;
  RowLocation location;  // where the record has locations
  ByteSpan columns;      // into the payload
};

// The part of a record's payload that holds rows.
struct LoggedChanges {
  ByteSpan bytes;
  bool has_locations = false;
};

// Goes through the changes of one record.
class ChangeReader {
 public:
  ChangeReader(const ChangeCodec& codec, const LoggedChanges& changes);

  // False: there is no other, or the bytes are no changes.
  bool next(RowChange& change);
  bool bad() const { return bad_; }

 private:
  const ChangeCodec& codec_;
  const bool has_locations_;
  ByteReader in_;
  uint64_t left_;
  bool bad_;
};

// The parts of a record's payload. Nothing: its kind has no such part, or its bytes are damaged.
std::optional<ByteSpan> call_of(RecordKind kind, ByteSpan payload);
std::optional<LoggedChanges> changes_of(RecordKind kind, ByteSpan payload);

}  // namespace mneme
