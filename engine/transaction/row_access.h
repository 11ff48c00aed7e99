// RowAccess: what a running procedure may do to rows. The one door between procedures and data.
//
// Implemented by   Transaction (engine/transaction/transaction.h): isolated from others, logged.
//                  the replayer's access (recovery/): no locks, no validation, no log.
//                  a plain map in tests: the reference for both.
// A caller stops at the first status that is not kOk (kAbsent excepted, which is an answer) and gives up the
// transaction: conflicts are values, not exceptions.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "base/function_ref.h"
#include "engine/schema/catalog.h"
#include "engine/schema/image_parts.h"
#include "engine/schema/index_key.h"
#include "engine/schema/value.h"

namespace mneme {

enum class AccessStatus : uint8_t {
  kOk,
  kAbsent,        // find: no such row
  kConflict,      // another transaction is in the way; run this one again
  kDuplicateKey,  // insert, update: a unique key exists already
  kOutOfMemory,   // no room for another row or index node
  kLocked,        // another transaction has the row locked, and the caller does not wait for it
};

// A row as the transaction sees it. `image` is consistent and stays valid and unchanged until the transaction
// ends or the row is written through the same access; it includes the transaction's own writes.
struct RowRef {
  const std::byte* image = nullptr;
  void* handle = nullptr;  // the access's own
};

struct ColumnValue {
  ColumnId column;
  Value value;
};

// The key of a look-up that is named ahead. It has room for usual keys, since look-ups are named by the
// dozen. A wider key has its number of words alone, and is left out.
struct LookupKey {
  uint32_t word_count = 0;
  std::array<uint64_t, kUsualKeyWords> words;

  LookupKey() = default;
  LookupKey(const IndexKey& key) : word_count(key.word_count) {  // NOLINT(google-explicit-constructor)
    if (is_usual()) std::copy_n(key.words.begin(), word_count, words.begin());
  }
  bool is_usual() const { return word_count <= kUsualKeyWords; }
  // Returns the key, which must be usual.
  IndexKey index_key() const {
    IndexKey key;
    key.word_count = word_count;
    std::copy_n(words.begin(), word_count, key.words.begin());
    return key;
  }
};

// A row that will be asked for: by a whole key of a unique index, or as the first of those under a key's
// prefix. Or the place in an ordered index behind all entries up to the key, where another will be inserted.
// A look-up of an index that is not valid is none.
struct RowLookup {
  IndexId index;
  ImageParts parts;
  LookupKey key;
  bool is_place = false;
};

// Why a row was refused (kDuplicateKey): the unique index in which another stands under its key, and its
// image, which is there until the next access. Of several indexes the first, the primary key's before the
// others.
struct KeyRefusal {
  IndexId index;
  const std::byte* image = nullptr;
};

// Why rows are looked for. Where rows are locked, those to be changed are locked against readers at once: two
// transactions that both read first, and then want more, would be in each other's way.
enum class Purpose : uint8_t {
  kRead,
  kChange,  // the caller means to update or erase what it finds, or was told to keep it FOR UPDATE
  // As kChange. Where another transaction has the row locked, the caller gets kLocked, and waits for nothing.
  kChangeNow,
  // The caller looks for rows that nobody has locked, and asks lock_row() for each that it uses. What it only
  // looked at counts as not read: nothing is locked for it, and nothing of it is validated. A row that is
  // just being changed is passed over.
  kPeek,
};

// SELECT ... FOR UPDATE and its kind, of one row that was found.
enum class RowLockStrength : uint8_t {
  kShared,     // FOR SHARE, FOR KEY SHARE
  kExclusive,  // FOR UPDATE, FOR NO KEY UPDATE
};
enum class RowLockWait : uint8_t {
  kWaits,
  kNoWait,       // kLocked where another transaction has the row
  kSkipsLocked,  // kAbsent where another transaction has it, or has changed it since it was found
};

class RowAccess {
 public:
  virtual ~RowAccess() = default;

  // The row under a whole key of a unique index. Of its image only `parts` mean anything to the caller.
  virtual AccessStatus find_parts(IndexId index, const IndexKey& key, ImageParts parts, Purpose purpose,
                                  RowRef& row) = 0;
  AccessStatus find(IndexId index, const IndexKey& key, RowRef& row, Purpose purpose = Purpose::kRead) {
    return find_parts(index, key, ImageParts::all(), purpose, row);
  }

  // Visits the rows with keys in the range, in key order or backwards, until the visitor returns false.
  // The visitor must not write through this access: collect first, then write.
  enum class Direction : uint8_t { kForward, kBackward };
  virtual AccessStatus scan_parts(IndexId index, const KeyRange& range, Direction direction, ImageParts parts,
                                  Purpose purpose, FunctionRef<bool(const RowRef&)> visit) = 0;
  AccessStatus scan(IndexId index, const KeyRange& range, Direction direction,
                    FunctionRef<bool(const RowRef&)> visit, Purpose purpose = Purpose::kRead) {
    return scan_parts(index, range, direction, ImageParts::all(), purpose, visit);
  }

  // Locks a row that find() or scan() has given, until the transaction ends, as far as others ask by
  // lock_row(): with `wait` kWaits the purpose kChange was given, with kNoWait kChangeNow, with kSkipsLocked
  // kPeek. An access without other transactions has nothing to lock.
  virtual AccessStatus lock_row(const RowRef&, RowLockStrength, RowLockWait) { return AccessStatus::kOk; }

  // One value a column, in column order, already cast to the columns' types.
  virtual AccessStatus insert(TableId table, std::span<const Value> values) = 0;
  // The same in two steps, for a caller that writes columns into images itself (row_layout.h): a zeroed
  // image, which lives as long as the transaction, and then the insert.
  virtual std::byte* new_image(TableId table) = 0;
  virtual AccessStatus insert_image(TableId table, std::byte* image) = 0;

  // Changes columns of a row got from find() or scan(). Values may point into row.image.
  virtual AccessStatus update(TableId table, RowRef& row, std::span<const ColumnValue> changes) = 0;
  // The same for a caller that writes columns into images itself: columns that are in no index, all in
  // `changed`, which was read with the row. The caller writes them to `image`, which holds what row.image
  // held, before its next access. Values are not to be taken from row.image any more, which may be the very
  // same.
  virtual AccessStatus change_parts(TableId table, RowRef& row, ImageParts changed, std::byte*& image) = 0;

  virtual AccessStatus erase(TableId table, RowRef& row) = 0;

  // After kDuplicateKey. Without an index where the access does not tell, as those that replay do not.
  virtual KeyRefusal refusal() const { return {}; }

  // What was changed up to here; nullptr where changes can't be taken back. go_back_to() takes back what came
  // later, and returns false where another transaction is in the way. Text that was read since stays.
  class Mark {
   public:
    virtual ~Mark() = default;
  };
  virtual std::unique_ptr<Mark> mark() { return nullptr; }
  [[nodiscard]] virtual bool go_back_to(const Mark&) { return false; }

  // Begins to fetch what finding these rows will need, all at once, and promises nothing.
  virtual void prefetch(std::span<const RowLookup>) {}
};

}  // namespace mneme
