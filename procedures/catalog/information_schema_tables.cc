// The tables of information_schema.
#include <string>

#include "procedures/catalog/constraint_rows.h"
#include "procedures/catalog/information_schema_rows.h"

namespace mneme::information_schema_rows {

void define_tables(std::vector<SystemTable>& all) {
  const auto add = [&](const char* name, const char* columns,
                       void (*rows)(const SystemCatalog&, RowMaker&) = nullptr) {
    all.push_back(define_table("information_schema", name, columns, rows));
  };
  add("schemata",
      "catalog_name:t schema_name:t schema_owner:t default_character_set_catalog:t "
      "default_character_set_schema:t default_character_set_name:t sql_path:t",
      schemata);
  add("tables",
      "table_catalog:t table_schema:t=public table_name:t table_type:t=BASE_TABLE "
      "self_referencing_column_name:t reference_generation:t user_defined_type_catalog:t "
      "user_defined_type_schema:t user_defined_type_name:t is_insertable_into:t=YES is_typed:t=NO "
      "commit_action:t",
      tables);
  add("columns",
      "table_catalog:t table_schema:t=public table_name:t column_name:t ordinal_position:o "
      "column_default:t is_nullable:t data_type:t character_maximum_length:o "
      "character_octet_length:o numeric_precision:o numeric_precision_radix:o numeric_scale:o "
      "datetime_precision:o interval_type:t interval_precision:o character_set_catalog:t "
      "character_set_schema:t character_set_name:t collation_catalog:t collation_schema:t "
      "collation_name:t domain_catalog:t domain_schema:t domain_name:t udt_catalog:t "
      "udt_schema:t=pg_catalog udt_name:t scope_catalog:t scope_schema:t scope_name:t "
      "maximum_cardinality:o dtd_identifier:t is_self_referencing:t=NO "
      "is_identity:t=NO identity_generation:t identity_start:t "
      "identity_increment:t identity_maximum:t identity_minimum:t identity_cycle:t=NO "
      "is_generated:t=NEVER generation_expression:t is_updatable:t=YES",
      columns);
  add("table_constraints",
      "constraint_catalog:t constraint_schema:t=public constraint_name:t table_catalog:t "
      "table_schema:t=public table_name:t constraint_type:t is_deferrable:t=NO "
      "initially_deferred:t=NO enforced:t=YES nulls_distinct:t",
      constraint_rows::table_constraints);
  add("key_column_usage",
      "constraint_catalog:t constraint_schema:t=public constraint_name:t table_catalog:t "
      "table_schema:t=public table_name:t column_name:t ordinal_position:o "
      "position_in_unique_constraint:o",
      constraint_rows::key_columns);
  add("constraint_column_usage",
      "table_catalog:t table_schema:t=public table_name:t column_name:t "
      "constraint_catalog:t constraint_schema:t=public constraint_name:t",
      constraint_rows::constraint_columns);
  add("referential_constraints",
      "constraint_catalog:t constraint_schema:t=public constraint_name:t "
      "unique_constraint_catalog:t unique_constraint_schema:t=public "
      "unique_constraint_name:t match_option:t=NONE update_rule:t delete_rule:t",
      constraint_rows::referential_constraints);
  add("check_constraints", "constraint_catalog:t constraint_schema:t=public constraint_name:t check_clause:t",
      constraint_rows::check_constraints);
  add("routines",
      "specific_catalog:t specific_schema:t=public specific_name:t routine_catalog:t "
      "routine_schema:t=public routine_name:t routine_type:t=PROCEDURE module_catalog:t "
      "module_schema:t module_name:t udt_catalog:t udt_schema:t udt_name:t data_type:t "
      "character_maximum_length:o character_octet_length:o character_set_catalog:t "
      "character_set_schema:t character_set_name:t collation_catalog:t collation_schema:t "
      "collation_name:t numeric_precision:o numeric_precision_radix:o numeric_scale:o "
      "datetime_precision:o interval_type:t interval_precision:o type_udt_catalog:t "
      "type_udt_schema:t type_udt_name:t scope_catalog:t scope_schema:t scope_name:t "
      "maximum_cardinality:o dtd_identifier:t routine_body:t=EXTERNAL routine_definition:t "
      "external_name:t external_language:t=PLPGSQL parameter_style:t=GENERAL is_deterministic:t=NO "
      "sql_data_access:t=MODIFIES is_null_call:t sql_path:t schema_level_routine:t=YES "
      "max_dynamic_result_sets:o=0 is_user_defined_cast:t is_implicitly_invocable:t "
      "security_type:t=INVOKER to_sql_specific_catalog:t to_sql_specific_schema:t "
      "to_sql_specific_name:t as_locator:t=NO created:z last_altered:z new_savepoint_level:t "
      "is_udt_dependent:t=NO result_cast_from_data_type:t result_cast_as_locator:t "
      "result_cast_char_max_length:o result_cast_char_octet_length:o "
      "result_cast_char_set_catalog:t result_cast_char_set_schema:t "
      "result_cast_char_set_name:t result_cast_collation_catalog:t "
      "result_cast_collation_schema:t result_cast_collation_name:t "
      "result_cast_numeric_precision:o result_cast_numeric_precision_radix:o "
      "result_cast_numeric_scale:o result_cast_datetime_precision:o "
      "result_cast_interval_type:t result_cast_interval_precision:o "
      "result_cast_type_udt_catalog:t result_cast_type_udt_schema:t "
      "result_cast_type_udt_name:t result_cast_scope_catalog:t result_cast_scope_schema:t "
      "result_cast_scope_name:t result_cast_maximum_cardinality:o "
      "result_cast_dtd_identifier:t",
      routines);
  add("views",
      "table_catalog:t table_schema:t=public table_name:t view_definition:t check_option:t=NONE "
      "is_updatable:t=NO is_insertable_into:t=NO is_trigger_updatable:t=NO is_trigger_deletable:t=NO "
      "is_trigger_insertable_into:t=NO",
      views);
  add("sequences",
      "sequence_catalog:t sequence_schema:t=public sequence_name:t data_type:t numeric_precision:o "
      "numeric_precision_radix:o=2 numeric_scale:o=0 start_value:t minimum_value:t maximum_value:t "
      "increment:t cycle_option:t",
      sequences);
  add("parameters",
      "specific_catalog:t specific_schema:t=public specific_name:t ordinal_position:o "
      "parameter_mode:t is_result:t=NO as_locator:t=NO parameter_name:t data_type:t "
      "character_maximum_length:o character_octet_length:o character_set_catalog:t "
      "character_set_schema:t character_set_name:t collation_catalog:t collation_schema:t "
      "collation_name:t numeric_precision:o numeric_precision_radix:o numeric_scale:o "
      "datetime_precision:o interval_type:t interval_precision:o udt_catalog:t udt_schema:t "
      "udt_name:t scope_catalog:t scope_schema:t scope_name:t maximum_cardinality:o "
      "dtd_identifier:t parameter_default:t",
      parameters);
  add("information_schema_catalog_name", "catalog_name:t", catalog_name);
  add("view_table_usage",
      "view_catalog:t view_schema:t=public view_name:t table_catalog:t table_schema:t=public "
      "table_name:t",
      view_tables);
  add("constraint_table_usage",
      "table_catalog:t table_schema:t=public table_name:t constraint_catalog:t "
      "constraint_schema:t=public constraint_name:t",
      constraint_rows::constraint_tables);
  add("enabled_roles", "role_name:t", enabled_roles);
  for (const char* const name : {"applicable_roles", "administrable_role_authorizations"})
    add(name, "grantee:t role_name:t is_grantable:t");
  for (const char* const name : {"table_privileges", "role_table_grants"}) {
    add(name,
        "grantor:t grantee:t table_catalog:t table_schema:t=public table_name:t privilege_type:t "
        "is_grantable:t=YES with_hierarchy:t=NO",
        table_privileges);
  }
  for (const char* const name : {"column_privileges", "role_column_grants"}) {
    add(name,
        "grantor:t grantee:t table_catalog:t table_schema:t=public table_name:t column_name:t "
        "privilege_type:t is_grantable:t=YES",
        column_privileges);
  }
  add("character_sets",
      "character_set_catalog:t character_set_schema:t character_set_name:t=UTF8 "
      "character_repertoire:t=UCS form_of_use:t=UTF8 default_collate_catalog:t "
      "default_collate_schema:t default_collate_name:t",
      [](const SystemCatalog&, RowMaker& rows) { rows.add(); });
  add("collations",
      "collation_catalog:t collation_schema:t=pg_catalog collation_name:t pad_attribute:t=NO_PAD",
      collations);
  // What there is none of.
  const std::string type_parts =
      "data_type:t character_maximum_length:o "
      "character_octet_length:o character_set_catalog:t character_set_schema:t "
      "character_set_name:t collation_catalog:t collation_schema:t collation_name:t "
      "numeric_precision:o numeric_precision_radix:o numeric_scale:o datetime_precision:o "
      "interval_type:t interval_precision:o domain_default:t udt_catalog:t udt_schema:t "
      "udt_name:t scope_catalog:t scope_schema:t scope_name:t maximum_cardinality:o "
      "dtd_identifier:t";
  add("domains", ("domain_catalog:t domain_schema:t domain_name:t " + type_parts).c_str());
  add("domain_constraints",
      "constraint_catalog:t constraint_schema:t constraint_name:t domain_catalog:t "
      "domain_schema:t domain_name:t is_deferrable:t initially_deferred:t");
  add("element_types",
      ("object_catalog:t object_schema:t object_name:t object_type:t collection_type_identifier:t " +
       type_parts)
          .c_str(),
      element_types);
  add("triggers",
      "trigger_catalog:t trigger_schema:t trigger_name:t event_manipulation:t "
      "event_object_catalog:t event_object_schema:t event_object_table:t action_order:o "
      "action_condition:t action_statement:t action_orientation:t action_timing:t "
      "action_reference_old_table:t action_reference_new_table:t action_reference_old_row:t "
      "action_reference_new_row:t created:z");
  add("foreign_tables",
      "foreign_table_catalog:t foreign_table_schema:t foreign_table_name:t "
      "foreign_server_catalog:t foreign_server_name:t");
  add("column_options",
      "table_catalog:t table_schema:t table_name:t column_name:t option_name:t option_value:t");
}

}  // namespace mneme::information_schema_rows
