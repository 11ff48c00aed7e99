#include "procedures/testing/map_access.h"

#include <algorithm>
#include <cstring>

#include "procedures/values/value_text.h"

namespace mneme {

MapAccess::MapAccess(const Schema& schema)
    : schema_(schema), rows_(schema.catalog().tables().size()), indexes_(schema.catalog().indexes().size()) {}

RowRef MapAccess::ref(TableId table, Slot slot) {
  return {rows_[table.value].at(slot).get(), reinterpret_cast<void*>(slot)};
}

AccessStatus MapAccess::find_parts(IndexId index, const IndexKey& key, ImageParts, Purpose, RowRef& row) {
  const auto found = indexes_[index.value].find(key);
  if (found == indexes_[index.value].end()) return AccessStatus::kAbsent;
  row = ref(schema_.catalog().index(index).table, found->second);
  return AccessStatus::kOk;
}

AccessStatus MapAccess::scan_parts(IndexId index, const KeyRange& range, Direction direction, ImageParts,
                                   Purpose, FunctionRef<bool(const RowRef&)> visit) {
  const TableId table = schema_.catalog().index(index).table;
  const auto begin = indexes_[index.value].lower_bound(range.low);
  const auto end = indexes_[index.value].upper_bound(range.high);
  if (direction == Direction::kForward) {
    for (auto at = begin; at != end; ++at) {
      if (!visit(ref(table, at->second))) break;
    }
  } else {
    for (auto at = end; at != begin;) {
      if (!visit(ref(table, (--at)->second))) break;
    }
  }
  return AccessStatus::kOk;
}

AccessStatus MapAccess::insert(TableId table, std::span<const Value> values) {
  std::byte* image = new_image(table);
  for (uint32_t i = 0; i < values.size(); ++i) set(table, image, ColumnId{i}, values[i]);
  return insert_image(table, image);
}

// Texts stay for good.
void MapAccess::set(TableId table, std::byte* image, ColumnId column, const Value& value) {
  const bool is_text = !value.is_null() && schema_.catalog().table(table).column(column).type.is_string();
  const Value kept = is_text ? Value::of_text(texts_.emplace_back(value.as_text())) : value;
  schema_.layout(table).set(image, column, kept);
}

std::byte* MapAccess::new_image(TableId table) {
  new_images_.push_back(std::make_unique<std::byte[]>(schema_.layout(table).image_bytes()));
  return new_images_.back().get();
}

AccessStatus MapAccess::insert_image(TableId table, std::byte* new_image) {
  Image image = copy_of(table, new_image);
  const Slot slot = next_slot_++;
  if (!keys_are_free(table, slot, image)) return AccessStatus::kDuplicateKey;
  undo_.push_back({table, slot, exchange(table, slot, std::move(image))});
  return AccessStatus::kOk;
}

AccessStatus MapAccess::update(TableId table, RowRef& row, std::span<const ColumnValue> changes) {
  const auto slot = reinterpret_cast<Slot>(row.handle);
  Image image = copy_of(table, row.image);
  for (const ColumnValue& change : changes) set(table, image.get(), change.column, change.value);
  if (!keys_are_free(table, slot, image)) return AccessStatus::kDuplicateKey;
  undo_.push_back({table, slot, exchange(table, slot, std::move(image))});
  row = ref(table, slot);
  return AccessStatus::kOk;
}

AccessStatus MapAccess::change_parts(TableId table, RowRef& row, ImageParts, std::byte*& image) {
  const auto slot = reinterpret_cast<Slot>(row.handle);
  Image copy = copy_of(table, row.image);
  image = copy.get();
  undo_.push_back({table, slot, exchange(table, slot, std::move(copy))});
  row = ref(table, slot);
  return AccessStatus::kOk;
}

AccessStatus MapAccess::erase(TableId table, RowRef& row) {
  const auto slot = reinterpret_cast<Slot>(row.handle);
  undo_.push_back({table, slot, exchange(table, slot, nullptr)});
  return AccessStatus::kOk;
}

void MapAccess::roll_back() {
  for (; !undo_.empty(); undo_.pop_back()) {
    Undo& undo = undo_.back();
    exchange(undo.table, undo.slot, std::move(undo.image));
  }
  new_images_.clear();
}

void MapAccess::visit_rows(TableId table, FunctionRef<void(const std::byte* image)> visit) const {
  for (const auto& [slot, image] : rows_[table.value]) visit(image.get());
}

std::vector<std::string> MapAccess::dump(TableId table) const {
  const TableDefinition& definition = schema_.catalog().table(table);
  std::vector<std::string> lines;
  visit_rows(table, [&](const std::byte* image) {
    fmt::memory_buffer line;
    for (uint32_t i = 0; i < definition.columns.size(); ++i) {
      if (i > 0) line.push_back('|');
      const Value value = schema_.layout(table).get(image, ColumnId{i});
      if (!value.is_null()) {
        print_value(definition.columns[i].type, value, line);
      } else {
        line.append(std::string_view("NULL"));
      }
    }
    lines.emplace_back(line.data(), line.size());
  });
  std::ranges::sort(lines);
  return lines;
}

MapAccess::Image MapAccess::copy_of(TableId table, const std::byte* image) const {
  const size_t bytes = schema_.layout(table).image_bytes();
  Image copy = std::make_unique<std::byte[]>(bytes);
  std::memcpy(copy.get(), image, bytes);
  return copy;
}

bool MapAccess::keys_are_free(TableId table, Slot slot, Image& image) {
  for (IndexId index : schema_.catalog().table(table).indexes) {
    const auto found = indexes_[index.value].find(schema_.codec(index).of_row(image.get(), slot));
    if (found == indexes_[index.value].end() || found->second == slot) continue;
    refused_image_ = std::move(image);
    refusal_ = {index, refused_image_.get()};
    return false;
  }
  return true;
}

MapAccess::Image MapAccess::exchange(TableId table, Slot slot, Image image) {
  std::map<Slot, Image>& rows = rows_[table.value];
  Image old;
  if (const auto found = rows.find(slot); found != rows.end()) {
    old = std::move(found->second);
    unlink(table, slot, old.get());
    rows.erase(found);
  }
  if (image != nullptr) {
    link(table, slot, image.get());
    rows.emplace(slot, std::move(image));
  }
  return old;
}

void MapAccess::link(TableId table, Slot slot, const std::byte* image) {
  for (IndexId index : schema_.catalog().table(table).indexes) {
    const bool is_new = indexes_[index.value].emplace(schema_.codec(index).of_row(image, slot), slot).second;
    CHECK(is_new);
  }
}

void MapAccess::unlink(TableId table, Slot slot, const std::byte* image) {
  for (IndexId index : schema_.catalog().table(table).indexes) {
    const size_t count = indexes_[index.value].erase(schema_.codec(index).of_row(image, slot));
    CHECK(count == 1);
  }
}

}  // namespace mneme
