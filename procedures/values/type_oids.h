// Type oids: our types under the numbers, lengths and modifiers that PostgreSQL's clients know them by.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/schema/text_form.h"
#include "engine/schema/type.h"

namespace mneme {

// What numbers an object in the catalogs, and an array of such: told by its precision.
inline constexpr Type kOidType{.kind = TypeKind::kBigInt, .precision = 1};
inline constexpr uint8_t kOidArrayPrecision = 4;

// A name in the system catalogs, and an array of names: text to us, told by its precision likewise.
inline constexpr Type kNameType{.kind = TypeKind::kVarchar, .precision = 3, .is_text = true};
inline bool is_name(const Type& type) {
  return type.kind == TypeKind::kVarchar && type.precision == kNameType.precision;
}

// A row of values, as ROW(1, 2) and a table's name give it: a query's text that spells it as PostgreSQL
// prints it, (1,2), told by its precision likewise (no form of engine/schema/text_form.h has that one).
// Its scale of 1 says that rows that are equal may have different texts.
inline constexpr Type kRecordType{.kind = TypeKind::kVarchar, .precision = 8, .is_text = true};
inline bool is_record(const Type& type) {
  return type.kind == TypeKind::kVarchar && type.precision == kRecordType.precision &&
         type.elements == TypeKind::kNull;
}

// A vector of the system catalogs, int2vector or oidvector: an array of a query's that is no text to
// PostgreSQL. It is spelled as 1 2 3, and its elements are counted from 0.
inline bool is_vector(const Type& type) {
  return (type.elements == TypeKind::kSmallInt || type.elements == TypeKind::kBigInt) && !type.is_text;
}

// pg_type.oid. A VARCHAR declared as text is text.
uint32_t oid_of(const Type& type);
// pg_type.typlen: -1 for what varies.
int16_t length_of(const Type& type);
// pg_attribute.atttypmod: -1 without one.
int32_t modifier_of(const Type& type);

// The type that a client names, without modifiers. kNull: one that the context is to decide, because
// the client leaves it open, or because its type is written in the same text as one of ours (name, date and
// timestamp with time zone are). Nothing: a type that we lack.
std::optional<Type> type_of_oid(uint32_t oid);
inline constexpr uint32_t kVoidOid = 2278;

}  // namespace mneme
