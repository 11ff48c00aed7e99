// Change codec: what a transaction changed, as the payload of a tuple record, and back.
//
//     logical     varint count of changes, then the changes
//     physical    the same, each change with a location
//     all         varint bytes of the call, the call (procedures/interpreter/call_codec.h), then as in a
//                 physical record
//     change      varint 8 * table + action, the location where there is one, varint bytes of what follows,
//                 then by action
//                     insert  the columns of the row's primary key, in the key's order, then all others in
//                             theirs
//                     update  key columns; a bit for each other column, 1 if it was changed; all others
//                     patch   key columns; the same bits; the changed columns alone
//                     erase   key columns; where there are none, all columns of the row as it was
//                 with columns as in row_codec.h, and as many bytes of bits as they take
//     location    varint slot in the table, varint 2 * LSN of the version before + whether that one lived;
//                 the new version's LSN is the record's. A slot that was free: 0.
//
// Flow        Transaction::commit -> ChangeRecord -> log;  log -> ChangeReader -> replay
// Invariants  after-images: of inserts and updates whole ones, so that nothing of the row before is needed;
//             of patches, which an option chooses in the place of updates (TupleImage), what was changed.
//             Changed is a column whose value is another than before, whatever was assigned to it. A
//             transaction changes a row once. One that it both inserted and erased is left out. A row of a
//             table without a primary key has no name that outlives its slot. Where records hold no
//             locations, it is named by all its values: which of several equal rows goes makes no difference.
//             An update of it is an erasure and an insert there, and such erasures come before a record's
//             other changes. A slot's versions form a chain in the order of LSNs, through all rows that it
//             held: a slot is used again only once the last row's erasure is durable (worker.h), so by a
//             record of a higher LSN.
// Errors      bytes from disk are the world: a reader takes any, and says `bad`.
// Threads     ChangeCodec: constant after construction. The others: one owner.
// Source      PACMAN (SIGMOD 2017), section 2.1: physical and logical logging.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "engine/schema/row_codec.h"
#include "engine/schema/schema.h"
#include "logging/record/record_format.h"

namespace mneme {

enum class ChangeAction : uint8_t { kInsert, kUpdate, kErase, kPatch };
inline constexpr size_t kChangeActions = 4;

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
  // One that follows from another, of another schema, shares the codecs of the tables that stay what they
  // were.
  explicit ChangeCodec(const Schema& schema, const ChangeCodec* former = nullptr,
                       const Schema* formers = nullptr);

  size_t table_count() const { return tables_.size(); }
  // Whether the table has no primary key.
  bool is_keyless(TableId table) const { return key(table).column_count() == 0; }
  // No columns where the table has no primary key.
  const RowCodec& key(TableId table) const { return tables_[table.value].key; }
  const RowCodec& rest(TableId table) const { return tables_[table.value].rest; }
  std::span<const ColumnId> rest_columns(TableId table) const { return tables_[table.value].rest_columns; }
  // The columns of a change (RowChange) into an image. False: they are none. Long texts as RowCodec has them.
  // Its primary key, whatever the action.
  bool decode_key(TableId table, ByteSpan columns, std::byte* image) const;
  // All that it holds: but for a patch or an erased row that has a key, the whole row.
  bool decode_row(TableId table, ChangeAction action, ByteSpan columns, std::byte* image,
                  ImageOwner owner = ImageOwner::kNone) const;
  // Decodes the changed columns of an update or a patch; no other columns of the image are touched. `among`,
  // where given, leaves out all columns of rest() that it has no bit for.
  bool decode_changed(TableId table, ChangeAction action, ByteSpan columns, const ColumnBits* among,
                      std::byte* image, ImageOwner owner = ImageOwner::kNone) const;
  // Returns a bit for each column of rest() of an update or a patch; nullopt if the bytes are none.
  std::optional<ColumnBits> changed_columns(TableId table, ByteSpan columns) const;
  // Returns the most bytes that one change can take, texts outside the image left out.
  size_t max_bytes(TableId table) const { return tables_[table.value].max_bytes; }

 private:
  struct TableCodec {
    RowCodec key;
    RowCodec rest;
    std::vector<ColumnId> rest_columns;
    size_t max_bytes;
  };
  SharedList<TableCodec> tables_;
};

// A payload under construction. Its memory is kept from one transaction to the next.
class ChangeRecord {
 public:
  void clear() { size_ = 0; }
  void put_call(ByteSpan call);
  void put_count(uint32_t changes);
  // `image`: the row's new one; of an erased row its last one, of which only the primary key counts if there
  // is one. `location`: nullptr in a
  // logical record. `changed`: of an update or a patch, the columns of ChangeCodec::rest that were changed.
  void put(const ChangeCodec& codec, TableId table, ChangeAction action, const RowLocation* location,
           const std::byte* image, const ColumnBits* changed = nullptr);
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
