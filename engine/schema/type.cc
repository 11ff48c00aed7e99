#include "engine/schema/type.h"

#include <fmt/format.h>

#include "base/check.h"
#include "engine/schema/array_form.h"
#include "engine/schema/enum_types.h"
#include "engine/schema/text_form.h"

namespace mneme {

std::string to_string(const Type& type) {
  const auto element = [&]() -> std::string {
    switch (type.kind) {
      case TypeKind::kBoolean:
        return "boolean";
      case TypeKind::kSmallInt:
        return "smallint";
      case TypeKind::kInt:
        return "int";
      case TypeKind::kBigInt:
        return "bigint";
      case TypeKind::kNumeric:
        return type.precision == 0 ? "numeric" : fmt::format("numeric({},{})", type.precision, type.scale);
      case TypeKind::kReal:
        return "real";
      case TypeKind::kDouble:
        return "double precision";
      case TypeKind::kChar:
        return type.length == 0 ? "char" : fmt::format("char({})", type.length);
      case TypeKind::kVarchar:
        if (const char* name = form_name(type)) return name;
        if (type.is_text) return "text";
        return type.length == 0 ? "varchar" : fmt::format("varchar({})", type.length);
      case TypeKind::kTimestamp:
        return fmt::format(
            "timestamp{}{}",
            type.precision == 0 || type.precision == 7 ? "" : fmt::format("({})", type.precision - 1),
            type.is_zoned ? " with time zone" : "");
      case TypeKind::kDate:
        return "date";
      case TypeKind::kTime:
        return type.precision == 0 || type.precision == 7 ? "time"
                                                          : fmt::format("time({})", type.precision - 1);
      case TypeKind::kInterval:
        return type.precision == 0 || type.precision == 7 ? "interval"
                                                          : fmt::format("interval({})", type.precision - 1);
      case TypeKind::kDecimal:
        return "numeric";
      case TypeKind::kEnum:
        return enum_definition(type).shown;
      case TypeKind::kNull:
        return "null";
    }
    CHECK(false && "no such type");
    return {};
  };
  if (type.elements != TypeKind::kNull) return to_string(declared_element(type)) + "[]";
  return element() + (type.is_array ? "[]" : "");
}

}  // namespace mneme
