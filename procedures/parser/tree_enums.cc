// CREATE TYPE ... AS ENUM and ALTER TYPE; CREATE SCHEMA.
#include "procedures/ir/source_error.h"
#include "procedures/parser/definition_reader.h"

namespace mneme {

using Kind = syntax::EnumChange::Kind;

namespace {

void check_new_schema(const syntax::Name& name) {
  if (!name.text.starts_with("pg_")) return;
  throw SourceError{name.where,
                    "unacceptable schema name \"" + name.text +
                        "\": the prefix \"pg_\" is reserved for "
                        "system schemas",
                    "42939"};
}

}  // namespace

syntax::EnumChange DefinitionReader::created_enum(MnemeParser::CreateEnumContext* context) {
  expect_word(context->IDENTIFIER(), {"enum"});
  syntax::EnumChange made;
  made.name = read_relation(context->relation());
  for (auto* label : context->STRING()) made.labels.push_back(read_string(label));
  return made;
}

syntax::EnumChange DefinitionReader::altered_enum(MnemeParser::AlterEnumContext* context) {
  const auto words = context->IDENTIFIER();
  syntax::EnumChange made;
  made.name = read_relation(context->relation());
  if (context->ADD()) {
    made.kind = Kind::kAddValue;
    expect_word(words[0], {"value"});
    made.if_not_exists = context->ifNotExists() != nullptr;
    made.labels.push_back(read_string(context->STRING(0)));
    if (words.size() < 2) return made;
    expect_word(words[1], {"before", "after"});
    made.neighbour = read_string(context->STRING(1));
    made.is_before = lowered(words[1]->getText()) == "before";
    made.is_behind = !made.is_before;
    return made;
  }
  if (context->SCHEMA()) {
    made.kind = Kind::kRename;
    made.new_name = moved_name(made.name, context->name());
    return made;
  }
  expect_word(words[0], {"rename"});
  if (context->name()) {
    made.kind = Kind::kRename;
    made.new_name = read_beside(made.name, context->name());
    return made;
  }
  expect_word(words[1], {"value"});
  made.kind = Kind::kRenameValue;
  made.labels.push_back(read_string(context->STRING(0)));
  made.new_label = read_string(context->STRING(1));
  return made;
}

syntax::SchemaChange DefinitionReader::schema_change(MnemeParser::CreateSchemaContext* context) {
  syntax::SchemaChange made;
  made.if_not_exists = context->ifNotExists() != nullptr;
  // The role, behind AUTHORIZATION, names a schema that has no other name.
  if (context->IDENTIFIER()) expect_word(context->IDENTIFIER(), {"authorization"});
  if (context->name().empty()) refuse(location(context), "a schema has a name");
  made.name = read_name(context->name(0));
  check_new_schema(made.name);
  return made;
}

void DefinitionReader::refuse_new_name(MnemeParser::AlterSchemaContext* context) {
  refuse_as(
      sqlstate::kNotSupported, location(context),
      "ALTER SCHEMA is not supported; create another schema, and move what is in this one by ALTER ... SET "
      "SCHEMA");
}

}  // namespace mneme
