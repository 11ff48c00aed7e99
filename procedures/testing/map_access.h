// MapAccess: rows in maps, one transaction at a time: the reference for Transaction and for the replayer's
// access.
//
// Invariants  obviously right is all that it is for: each index is a std::map from key to row.
//             every image that a transaction has seen stays as it was until commit() or roll_back().
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/schema/schema.h"
#include "engine/transaction/row_access.h"

namespace mneme {

class MapAccess final : public RowAccess {
 public:
  explicit MapAccess(const Schema& schema);

  AccessStatus find_parts(IndexId index, const IndexKey& key, ImageParts parts, Purpose,
                          RowRef& row) override;
  AccessStatus scan_parts(IndexId index, const KeyRange& range, Direction direction, ImageParts parts,
                          Purpose, FunctionRef<bool(const RowRef&)> visit) override;
  AccessStatus insert(TableId table, std::span<const Value> values) override;
  std::byte* new_image(TableId table) override;
  AccessStatus insert_image(TableId table, std::byte* image) override;
  AccessStatus update(TableId table, RowRef& row, std::span<const ColumnValue> changes) override;
  AccessStatus change_parts(TableId table, RowRef& row, ImageParts changed, std::byte*& image) override;
  AccessStatus erase(TableId table, RowRef& row) override;
  KeyRefusal refusal() const override { return refusal_; }

  void commit() {
    undo_.clear();
    new_images_.clear();
  }
  void roll_back();

  // The table's rows in the order of their insertion.
  void visit_rows(TableId table, FunctionRef<void(const std::byte* image)> visit) const;
  // Each row as text, its columns as PostgreSQL prints them, sorted: equal for equal contents.
  std::vector<std::string> dump(TableId table) const;

 private:
  using Slot = uint64_t;
  using Image = std::unique_ptr<std::byte[]>;
  // The image before a write; none for an insert.
  struct Undo {
    TableId table;
    Slot slot;
    Image image;
  };

  void set(TableId table, std::byte* image, ColumnId column, const Value& value);
  Image copy_of(TableId table, const std::byte* image) const;
  // Whether no other row than `slot` has one of the image's unique keys. Where one has, the image is kept as
  // refused.
  bool keys_are_free(TableId table, Slot slot, Image& image);
  void link(TableId table, Slot slot, const std::byte* image);
  void unlink(TableId table, Slot slot, const std::byte* image);
  // Puts an image (or nothing) in a row's place and returns the one that was there.
  Image exchange(TableId table, Slot slot, Image image);
  RowRef ref(TableId table, Slot slot);

  const Schema& schema_;
  std::vector<std::map<Slot, Image>> rows_;        // by TableId
  std::vector<std::map<IndexKey, Slot>> indexes_;  // by IndexId
  std::vector<Undo> undo_;
  KeyRefusal refusal_;
  Image refused_image_;
  std::deque<std::string> texts_;  // that images point to
  std::vector<Image> new_images_;  // handed out by new_image() since the last commit() or roll_back()
  Slot next_slot_ = 1;
};

}  // namespace mneme
