// RecordContent: what a log's records hold of a transaction.
//
// Chosen once, at the database's birth, and kept in the manifest: recovery must know what the log can serve.
// In a log that holds calls, a transaction may be logged ad hoc, by the images of its rows alone (a logical
// record), be it that no procedure was called or that calling it again could do something else. The log's
// content stays what it is.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "logging/record/record_format.h"

namespace mneme {

enum class RecordContent : uint8_t {
  kCommand,   // which procedure was called with which arguments
  kLogical,   // the images of the rows that it changed, by primary key
  kPhysical,  // the same, by their locations
  kAll,       // all of it, to compare what recovery makes of each
};

inline constexpr std::array<std::string_view, 4> kRecordContentNames = {"command", "logical", "physical",
                                                                        "all"};

constexpr std::string_view name_of(RecordContent content) {
  return kRecordContentNames[static_cast<size_t>(content)];
}
// Returns nullopt if no content has that name.
constexpr std::optional<RecordContent> record_content(std::string_view name) {
  for (size_t i = 0; i < kRecordContentNames.size(); ++i) {
    if (kRecordContentNames[i] == name) return static_cast<RecordContent>(i);
  }
  return std::nullopt;
}

constexpr bool holds_calls(RecordContent content) {
  return content == RecordContent::kCommand || content == RecordContent::kAll;
}
constexpr bool holds_images(RecordContent content) {
  return content != RecordContent::kCommand;
}
// Whether every changed row can be found by its primary key: a row without one can then only be inserted.
constexpr bool holds_keys(RecordContent content) {
  return content == RecordContent::kLogical || content == RecordContent::kAll;
}
// Whether every changed row can be found by its location: slots mean something beyond the process then.
constexpr bool holds_locations(RecordContent content) {
  return content == RecordContent::kPhysical || content == RecordContent::kAll;
}

constexpr RecordKind kind_of(RecordContent content) {
  switch (content) {
    case RecordContent::kCommand:
      return RecordKind::kCommand;
    case RecordContent::kLogical:
      return RecordKind::kLogical;
    case RecordContent::kPhysical:
      return RecordKind::kPhysical;
    case RecordContent::kAll:
      return RecordKind::kAll;
  }
  return RecordKind::kSkip;
}

// The part of an updated row that a record with images holds.
enum class TupleImage : uint8_t {
  kFull,     // all of it
  kChanged,  // its primary key, and the columns that were changed
};

inline constexpr std::array<std::string_view, 2> kTupleImageNames = {"full", "changed"};

constexpr std::string_view name_of(TupleImage image) {
  return kTupleImageNames[static_cast<size_t>(image)];
}
// Returns nullopt if no image has that name.
constexpr std::optional<TupleImage> tuple_image(std::string_view name) {
  for (size_t i = 0; i < kTupleImageNames.size(); ++i) {
    if (kTupleImageNames[i] == name) return static_cast<TupleImage>(i);
  }
  return std::nullopt;
}

}  // namespace mneme
