#include "engine/schema/enum_types.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <mutex>

namespace mneme {

namespace {

constexpr size_t kMostEnums = std::numeric_limits<uint16_t>::max();

// By number; 0 is no definition's. An entry is stored before the type that names it leaves intern_enum().
std::array<std::atomic<const EnumDefinition*>, kMostEnums + 1> definitions{};
std::mutex mutex;  // guards `count`, and who stores into `definitions`
size_t count = 0;

}  // namespace

Result<Type> intern_enum(const EnumDefinition& definition) {
  const std::lock_guard guard(mutex);
  size_t number = 1;
  while (number <= count && *definitions[number].load(std::memory_order_relaxed) != definition) ++number;
  if (number > count) {
    if (count == kMostEnums) {
      return invalid_argument(
          "this process has had {} definitions of enum types, which is the most: start it anew", kMostEnums);
    }
    definitions[++count].store(new EnumDefinition(definition), std::memory_order_release);
  }
  return Type{.kind = TypeKind::kEnum, .enumeration = static_cast<uint16_t>(number)};
}

const EnumDefinition& enum_definition(const Type& type) {
  const EnumDefinition* definition = definitions[type.enumeration].load(std::memory_order_acquire);
  CHECK(definition != nullptr);
  return *definition;
}

const EnumLabel* find_label(const Type& type, std::string_view text) {
  const std::vector<EnumLabel>& labels = enum_definition(type).labels;
  const auto found = std::ranges::find(labels, text, &EnumLabel::text);
  return found == labels.end() ? nullptr : &*found;
}

const EnumLabel* find_label(const Type& type, int64_t position) {
  const std::vector<EnumLabel>& labels = enum_definition(type).labels;
  const auto found = std::ranges::lower_bound(labels, position, {}, &EnumLabel::position);
  return found == labels.end() || found->position != position ? nullptr : &*found;
}

}  // namespace mneme
