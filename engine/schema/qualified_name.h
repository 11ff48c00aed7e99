// Qualified names: the one name of an object that lies in a schema of the user's.
//
// Flow        the parser makes it of s.t; catalog, rows, logs and replay know nothing else; written_name()
//             writes it as SQL again, and shown_names() takes it out of what people read.
// Invariants  an object of public has its plain name. Any other has its schema before that, between two bytes
//             that no valid UTF-8 text has: so no plain name, and no value of a user's, is taken for one. Two
//             objects of two schemas have two names. A name that is made of a table's by adding to its end,
//             as that of its key, lies in the table's schema.
// Threads     any.
// Source      PostgreSQL 15, section 5.9 (schemas).
#pragma once

#include <string>
#include <string_view>

namespace mneme {

inline constexpr char kSchemaBegin = '\xfe';
inline constexpr char kSchemaEnd = '\xff';
inline constexpr std::string_view kPublicSchema = "public";
// The schema of a name that the search path does not reach: no user can create it.
inline constexpr std::string_view kNowhere = "pg_nowhere";

// Whether it holds the tables that describe the database.
inline bool is_system_schema(std::string_view schema) {
  return schema == "pg_catalog" || schema == "information_schema";
}

inline std::string qualified_name(std::string_view schema, std::string_view name) {
  if (schema == kPublicSchema) return std::string(name);
  std::string made(1, kSchemaBegin);
  made += schema;
  made.push_back(kSchemaEnd);
  made += name;
  return made;
}

inline std::string_view schema_of(std::string_view name) {
  if (!name.starts_with(kSchemaBegin)) return kPublicSchema;
  return name.substr(1, name.find(kSchemaEnd) - 1);
}

inline std::string_view bare_name(std::string_view name) {
  return name.starts_with(kSchemaBegin) ? name.substr(name.find(kSchemaEnd) + 1) : name;
}

// The name in the schema that the other object lies in.
inline std::string beside(std::string_view other, std::string_view name) {
  return qualified_name(schema_of(other), name);
}

// Whether a column's qualifier, as t or s.t, means the table of this name.
inline bool names_source(std::string_view qualifier, std::string_view source) {
  return qualifier == source || (source.starts_with(kSchemaBegin) && bare_name(source) == qualifier);
}

// The text for people: names without their schemas; but as s.t where it says that there is no such object.
std::string shown_names(std::string_view text);

}  // namespace mneme
