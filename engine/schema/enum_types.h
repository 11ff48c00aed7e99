// Enum types: the definitions behind types of kind kEnum, which CREATE TYPE ... AS ENUM makes.
//
// A Type has the number of a definition, so that a value's text is found without a catalog. A catalog says
// which definitions its database has, and under which names (Catalog::find_enum()).
//
// Invariants  A definition never changes and is never freed: a change of the type makes another one. Equal
//             definitions have one number. Numbers are the process's own: nothing durable holds one.
//             A label's position is the value that rows, keys and logs hold. Positions follow from the
//             statements that made the type alone, and a label keeps its own for life. They ascend in the
//             type's order, and are far apart, so that ADD VALUE ... BEFORE finds room between two.
// Threads     Any thread may call these. Reading takes no lock.
// Errors      intern_enum() fails once the process has had 65,535 definitions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/schema/type.h"

namespace mneme {

struct EnumLabel {
  std::string text;
  int64_t position = 0;

  bool operator==(const EnumLabel&) const = default;
};

struct EnumDefinition {
  std::string name;
  std::string shown;              // the name as SQL text has it, in quotes where it needs some
  uint32_t id = 0;                // among the types of its catalog; for what clients know the type by
  std::vector<EnumLabel> labels;  // in the type's order

  bool operator==(const EnumDefinition&) const = default;
};

inline constexpr int64_t kEnumLabelDistance = int64_t{1} << 32;

// Returns the type of the definition.
Result<Type> intern_enum(const EnumDefinition& definition);
// The type, or the type of the elements, is of kind kEnum.
const EnumDefinition& enum_definition(const Type& type);
// Whether values of the type, or elements of its arrays, are of this enum.
inline bool is_of_enum(const Type& type, const Type& of) {
  return (type.kind == TypeKind::kEnum || type.elements == TypeKind::kEnum) &&
         type.enumeration == of.enumeration;
}
// Each returns nullptr if the type has no such label.
const EnumLabel* find_label(const Type& type, std::string_view text);
const EnumLabel* find_label(const Type& type, int64_t position);

}  // namespace mneme
