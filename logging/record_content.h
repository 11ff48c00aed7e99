// RecordContent: what a log's records hold of a transaction.
//
// Chosen once, at the database's birth, and kept in the manifest: recovery must know what the log can serve.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "logging/record_format.h"

namespace mneme {

enum class RecordContent : uint8_t {
  kCommand,  // which procedure was called with which arguments
  kLogical,  // the images of the rows that it changed, by primary key
  kAll,      // both, to compare what recovery makes of either
};

inline constexpr std::array<std::string_view, 3> kRecordContentNames = {"command", "logical", "all"};

constexpr std::string_view name_of(RecordContent content) {
  return kRecordContentNames[static_cast<size_t>(content)];
}
// Nothing: there is none of that name.
constexpr std::optional<RecordContent> record_content(std::string_view name) {
  for (size_t i = 0; i < kRecordContentNames.size(); ++i) {
    if (kRecordContentNames[i] == name) return static_cast<RecordContent>(i);
  }
  return std::nullopt;
}

constexpr bool holds_calls(RecordContent content) {
  return content != RecordContent::kLogical;
}
constexpr bool holds_images(RecordContent content) {
  return content != RecordContent::kCommand;
}

constexpr RecordKind kind_of(RecordContent content) {
  switch (content) {
    case RecordContent::kCommand:
      return RecordKind::kCommand;
    case RecordContent::kLogical:
      return RecordKind::kLogical;
    case RecordContent::kAll:
      return RecordKind::kAll;
  }
  return RecordKind::kSkip;
}

}  // namespace mneme
