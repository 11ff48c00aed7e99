// Type oids: our types under the numbers, lengths and modifiers that PostgreSQL's clients know them by.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/schema/type.h"

namespace mneme {

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
