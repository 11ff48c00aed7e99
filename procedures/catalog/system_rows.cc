#include "procedures/catalog/system_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "procedures/catalog/activity_rows.h"
#include "procedures/catalog/constraint_rows.h"
#include "procedures/catalog/information_schema_rows.h"
#include "procedures/catalog/object_numbers.h"
#include "procedures/catalog/relation_rows.h"
#include "procedures/catalog/server_rows.h"

namespace mneme {

RowMaker& RowMaker::put(std::string_view column, const Value& value) {
  const auto found = std::ranges::find(columns_, column, &query::Column::name);
  CHECK(found != columns_.end());
  row_[static_cast<size_t>(found - columns_.begin())] = value;
  return *this;
}

std::string database_name(const SystemCatalog& catalog) {
  return catalog.session_text("current_database", "mneme");
}

std::string column_numbers(const std::vector<ColumnId>& columns) {
  std::string text;
  for (const ColumnId column : columns) text += (text.empty() ? "{" : ",") + std::to_string(column.value + 1);
  return text + "}";
}

std::string owner_name(const SystemCatalog& catalog) {
  return catalog.session_text("current_user", "mneme");
}

std::string with_blanks(std::string text) {
  std::ranges::replace(text, ',', ' ');
  return text;
}

namespace {

// What follows a column's name: o: oid or number, b: boolean, t: text, z: a time with its zone, v: a vector
// of numbers, w: an array of them, a: of texts. After = its value where no row says another;
// without it NULL.
constexpr const char* kClass =
    "oid:o relname:t relnamespace:o=2200 reltype:o=0 reloftype:o=0 relowner:o=10 relam:o=0 relfilenode:o=0 "
    "reltablespace:o=0 relpages:o=0 reltuples:o=-1 relallvisible:o=0 reltoastrelid:o=0 relhasindex:b=f "
    "relisshared:b=f relpersistence:t=p relkind:t=r relnatts:o=0 relchecks:o=0 relhasrules:b=f "
    "relhastriggers:b=f "
    "relhassubclass:b=f relrowsecurity:b=f relforcerowsecurity:b=f relispopulated:b=t relreplident:t=d "
    "relispartition:b=f relrewrite:o=0 relfrozenxid:o=0 relminmxid:o=0 relacl:a reloptions:a relpartbound:t";
constexpr const char* kAttribute =
    "attrelid:o attname:t atttypid:o attstattarget:o=-1 attlen:o=-1 attnum:o attndims:o=0 attcacheoff:o=-1 "
    "atttypmod:o=-1 attbyval:b=f attalign:t=i attstorage:t=p attcompression:t= attnotnull:b=f atthasdef:b=f "
    "atthasmissing:b=f attidentity:t= attgenerated:t= attisdropped:b=f attislocal:b=t attinhcount:o=0 "
    "attcollation:o=0 attacl:a attoptions:a attfdwoptions:a attmissingval:t";
constexpr const char* kIndexColumns =
    "indexrelid:o indrelid:o indnatts:o indnkeyatts:o indisunique:b indnullsnotdistinct:b=f indisprimary:b "
    "indisexclusion:b=f indimmediate:b=t indisclustered:b=f indisvalid:b=t indcheckxmin:b=f indisready:b=t "
    "indislive:b=t indisreplident:b=f indkey:v indcollation:v= indclass:v= indoption:v= indexprs:t indpred:t";
constexpr const char* kConstraint =
    "oid:o conname:t connamespace:o=2200 contype:t condeferrable:b=f condeferred:b=f convalidated:b=t "
    "conrelid:o "
    "contypid:o=0 conindid:o=0 conparentid:o=0 confrelid:o=0 confupdtype:t= confdeltype:t= confmatchtype:t= "
    "conislocal:b=t coninhcount:o=0 connoinherit:b=t conkey:w confkey:w conpfeqop:w conppeqop:w conffeqop:w "
    "confdelsetcols:w conexclop:w conbin:t";
constexpr const char* kTypeColumns =
    "oid:o typname:t typnamespace:o=11 typowner:o=10 typlen:o=-1 typbyval:b=f typtype:t=b typcategory:t=U "
    "typispreferred:b=f typisdefined:b=t typdelim:t=, typrelid:o=0 typsubscript:t=- typelem:o=0 typarray:o=0 "
    "typinput:o=0 typoutput:t= typreceive:t= typsend:t= typmodin:t=- typmodout:t=- typanalyze:t=- "
    "typalign:t=i "
    "typstorage:t=p typnotnull:b=f typbasetype:o=0 typtypmod:o=-1 typndims:o=0 typcollation:o=0 "
    "typdefaultbin:t "
    "typdefault:t typacl:a";
constexpr const char* kProcedureColumns =
    "oid:o proname:t pronamespace:o=2200 proowner:o=10 prolang:o=13500 procost:o=100 prorows:o=0 "
    "provariadic:o=0 "
    "prosupport:t=- prokind:t=p prosecdef:b=f proleakproof:b=f proisstrict:b=f proretset:b=f provolatile:t=v "
    "proparallel:t=u pronargs:o pronargdefaults:o=0 prorettype:o=2278 proargtypes:v proallargtypes:w "
    "proargmodes:a "
    "proargnames:a proargdefaults:t protrftypes:w prosrc:t probin:t prosqlbody:t proconfig:a proacl:a";
constexpr const char* kDatabaseColumns =
    "oid:o=16000 datname:t datdba:o=10 encoding:o=6 datlocprovider:t=c datistemplate:b=f datallowconn:b=t "
    "datconnlimit:o=-1 datfrozenxid:o=0 datminmxid:o=0 dattablespace:o=1663 datcollate:t=C datctype:t=C "
    "daticulocale:t datcollversion:t datacl:a";
constexpr const char* kRole =
    "rolname:t rolsuper:b=t rolinherit:b=t rolcreaterole:b=f rolcreatedb:b=f rolcanlogin:b=t "
    "rolreplication:b=f "
    "rolconnlimit:o=-1 rolpassword:t rolvaliduntil:t rolbypassrls:b=f rolconfig:a oid:o=10";

SystemTable define(const char* schema, const char* name, std::string_view columns,
                   void (*rows)(const SystemCatalog&, RowMaker&) = nullptr) {
  static std::deque<std::string> texts;  // of default values
  SystemTable table{schema, name, {}, {}, rows};
  while (!columns.empty()) {
    const size_t end = std::min(columns.find(' '), columns.size());
    const std::string_view column = columns.substr(0, end);
    columns.remove_prefix(std::min(end + 1, columns.size()));
    const size_t colon = column.find(':');
    const char kind = column[colon + 1];
    const bool is_text = kind != 'o' && kind != 'b' && kind != 'z';
    Type type{.kind = kind == 'b' ? TypeKind::kBoolean : TypeKind::kBigInt};
    if (is_text) type = {.kind = TypeKind::kVarchar, .is_text = true};
    if (kind == 'z') type = {.kind = TypeKind::kTimestamp, .is_zoned = true};
    if (kind == 'v') type.elements = TypeKind::kSmallInt;
    if (kind == 'w') type.elements = TypeKind::kBigInt;
    if (kind == 'a') type.elements = TypeKind::kVarchar;
    table.columns.push_back({std::string(column.substr(0, colon)), type});
    Value& value = table.defaults.emplace_back();
    if (column.size() <= colon + 2) continue;
    const std::string initial(column.substr(colon + 3));
    if (is_text) {
      value = Value::of_text(texts.emplace_back(initial));
    } else {
      value = kind == 'b' ? Value::of_bool(initial == "t") : Value::of_int(std::stoll(initial));
    }
  }
  return table;
}

std::vector<SystemTable> define_all() {
  std::vector<SystemTable> tables;
  const auto add = [&](const char* name, const char* columns,
                       void (*rows)(const SystemCatalog&, RowMaker&) = nullptr) {
    tables.push_back(define("pg_catalog", name, columns, rows));
  };
  const auto add_schema = [&](const char* name, const char* columns,
                              void (*rows)(const SystemCatalog&, RowMaker&) = nullptr) {
    tables.push_back(define("information_schema", name, columns, rows));
  };
  add("pg_namespace", "oid:o nspname:t nspowner:o=10 nspacl:a", server_rows::namespaces);
  add("pg_class", kClass, relation_rows::classes);
  add("pg_attribute", kAttribute, relation_rows::attributes);
  add("pg_attrdef", "oid:o adrelid:o adnum:o adbin:t", relation_rows::defaults);
  add("pg_index", kIndexColumns, relation_rows::indexes);
  add("pg_constraint", kConstraint, constraint_rows::constraints);
  add("pg_type", kTypeColumns, server_rows::types);
  add("pg_proc", kProcedureColumns, server_rows::procedures);
  add("pg_am", "oid:o amname:t amhandler:t= amtype:t=i", server_rows::access_methods);
  add("pg_database", kDatabaseColumns, server_rows::databases);
  add("pg_roles", kRole, server_rows::roles);
  add("pg_authid", kRole, server_rows::roles);
  add("pg_user",
      "usename:t usesysid:o=10 usecreatedb:b=f usesuper:b=t userepl:b=f usebypassrls:b=f passwd:t "
      "valuntil:t useconfig:a",
      server_rows::users);
  add("pg_language",
      "oid:o lanname:t lanowner:o=10 lanispl:b=t lanpltrusted:b=t lanplcallfoid:o=13501 laninline:o=13502 "
      "lanvalidator:o=13503 lanacl:a",
      server_rows::languages);
  add("pg_collation",
      "oid:o collname:t collnamespace:o=11 collowner:o=10 collprovider:t=c collisdeterministic:b=t "
      "collencoding:o=-1 collcollate:t=C collctype:t=C colliculocale:t collversion:t",
      server_rows::collations);
  add("pg_tables",
      "schemaname:t=public tablename:t tableowner:t tablespace:t hasindexes:b=f hasrules:b=f "
      "hastriggers:b=f rowsecurity:b=f",
      relation_rows::table_list);
  add("pg_indexes", "schemaname:t=public tablename:t indexname:t tablespace:t indexdef:t",
      relation_rows::index_list);
  add("pg_views", "schemaname:t=public viewname:t viewowner:t definition:t", relation_rows::views);
  // What there is none of.
  add("pg_matviews",
      "schemaname:t matviewname:t matviewowner:t tablespace:t hasindexes:b ispopulated:b definition:t");
  add("pg_sequence",
      "seqrelid:o seqtypid:o=20 seqstart:o=1 seqincrement:o=1 seqmax:o=9223372036854775807 seqmin:o=1 "
      "seqcache:o=1 seqcycle:b=f",
      relation_rows::sequences);
  add("pg_sequences",
      "schemaname:t=public sequencename:t sequenceowner:t data_type:t=bigint start_value:o=1 min_value:o=1 "
      "max_value:o=9223372036854775807 increment_by:o=1 cycle:b=f cache_size:o=1 last_value:o",
      relation_rows::sequence_list);
  add("pg_get_keywords()", "word:t catcode:t barelabel:b catdesc:t baredesc:t", server_rows::keywords);
  add("pg_description", "objoid:o classoid:o objsubid:o description:t", relation_rows::descriptions);
  add("pg_shdescription", "objoid:o classoid:o description:t");
  add("pg_depend", "classid:o objid:o objsubid:o=0 refclassid:o refobjid:o refobjsubid:o deptype:t",
      relation_rows::dependencies);
  add("pg_inherits", "inhrelid:o inhparent:o inhseqno:o inhdetachpending:b");
  add("pg_trigger",
      "oid:o tgrelid:o tgparentid:o tgname:t tgfoid:o tgtype:o tgenabled:t tgisinternal:b "
      "tgconstrrelid:o tgconstrindid:o tgconstraint:o tgdeferrable:b tginitdeferred:b tgnargs:o tgattr:v "
      "tgargs:t tgqual:t tgoldtable:t tgnewtable:t");
  add("pg_rewrite", "oid:o rulename:t ev_class:o ev_type:t ev_enabled:t is_instead:b ev_qual:t ev_action:t");
  add("pg_policy", "oid:o polname:t polrelid:o polcmd:t polpermissive:b polroles:w polqual:t polwithcheck:t");
  add("pg_statistic_ext",
      "oid:o stxrelid:o stxname:t stxnamespace:o stxowner:o stxstattarget:o stxkeys:v stxkind:a "
      "stxexprs:t");
  add("pg_publication",
      "oid:o pubname:t pubowner:o puballtables:b pubinsert:b pubupdate:b pubdelete:b "
      "pubtruncate:b pubviaroot:b");
  add("pg_publication_rel", "oid:o prpubid:o prrelid:o prqual:t prattrs:w");
  add("pg_publication_namespace", "oid:o pnpubid:o pnnspid:o");
  add("pg_opclass",
      "oid:o opcmethod:o opcname:t opcnamespace:o opcowner:o opcfamily:o opcintype:o opcdefault:b "
      "opckeytype:o");
  add("pg_opfamily", "oid:o opfmethod:o opfname:t opfnamespace:o opfowner:o");
  add("pg_operator", "oid:o oprname:t oprnamespace:o oprowner:o oprkind:t oprleft:o oprright:o oprresult:o");
  add("pg_cast", "oid:o castsource:o casttarget:o castfunc:o castcontext:t castmethod:t");
  add("pg_aggregate", "aggfnoid:o aggkind:t aggnumdirectargs:o");
  add("pg_conversion", "oid:o conname:t connamespace:o conowner:o");
  add("pg_largeobject_metadata", "oid:o lomowner:o");
  add("pg_enum", "oid:o enumtypid:o enumsortorder:o enumlabel:t");
  add("pg_range", "rngtypid:o rngsubtype:o rngmultitypid:o rngcollation:o rngsubopc:o");
  add("pg_extension",
      "oid:o extname:t extowner:o extnamespace:o extrelocatable:b extversion:t extconfig:w "
      "extcondition:a");
  add("pg_auth_members", "roleid:o member:o grantor:o admin_option:b");
  add("pg_db_role_setting", "setdatabase:o setrole:o setconfig:a");
  add("pg_tablespace", "oid:o spcname:t spcowner:o spcacl:a spcoptions:a", server_rows::tablespaces);
  add("pg_foreign_table", "ftrelid:o ftserver:o ftoptions:a");
  add("pg_foreign_server",
      "oid:o srvname:t srvowner:o srvfdw:o srvtype:t srvversion:t srvacl:a srvoptions:a");
  add("pg_foreign_data_wrapper",
      "oid:o fdwname:t fdwowner:o fdwhandler:o fdwvalidator:o fdwacl:a fdwoptions:a");
  add("pg_user_mappings", "umid:o srvid:o srvname:t umuser:o usename:t umoptions:a");
  add("pg_default_acl", "oid:o defaclrole:o defaclnamespace:o defaclobjtype:t defaclacl:a");
  add("pg_subscription",
      "oid:o subdbid:o subskiplsn:t subname:t subowner:o subenabled:b subbinary:b substream:b "
      "subtwophasestate:t subdisableonerr:b subconninfo:t subslotname:t subsynccommit:t subpublications:a");
  add("pg_partitioned_table",
      "partrelid:o partstrat:t partnatts:o partdefid:o partattrs:v partclass:v "
      "partcollation:v partexprs:t");
  add("pg_event_trigger", "oid:o evtname:t evtevent:t evtowner:o evtfoid:o evtenabled:t evttags:a");
  add("pg_prepared_statements", "name:t statement:t");
  add("pg_prepared_xacts", "transaction:o gid:t prepared:t owner:t database:t");
  add("pg_settings",
      "name:t setting:t unit:t category:t short_desc:t extra_desc:t context:t=user vartype:t source:t "
      "min_val:t max_val:t enumvals:a boot_val:t reset_val:t sourcefile:t sourceline:o pending_restart:b=f",
      server_rows::settings);
  add("pg_stat_activity",
      "datid:o datname:t pid:o leader_pid:o usesysid:o=10 usename:t application_name:t= client_addr:t "
      "client_hostname:t client_port:o backend_start:z xact_start:z query_start:z state_change:z "
      "wait_event_type:t wait_event:t state:t backend_xid:o backend_xmin:o query_id:o query:t= "
      "backend_type:t=client_backend",
      activity_rows::activities);
  add("pg_cursors", "name:t statement:t is_holdable:b is_binary:b is_scrollable:b");

  add_schema("schemata",
             "catalog_name:t schema_name:t schema_owner:t default_character_set_catalog:t "
             "default_character_set_schema:t default_character_set_name:t sql_path:t",
             information_schema_rows::schemata);
  add_schema("tables",
             "table_catalog:t table_schema:t=public table_name:t table_type:t=BASE_TABLE "
             "self_referencing_column_name:t reference_generation:t user_defined_type_catalog:t "
             "user_defined_type_schema:t user_defined_type_name:t is_insertable_into:t=YES is_typed:t=NO "
             "commit_action:t",
             information_schema_rows::tables);
  add_schema("columns",
             "table_catalog:t table_schema:t=public table_name:t column_name:t ordinal_position:o "
             "column_default:t is_nullable:t data_type:t character_maximum_length:o "
             "character_octet_length:o numeric_precision:o numeric_precision_radix:o numeric_scale:o "
             "datetime_precision:o interval_type:t interval_precision:o character_set_catalog:t "
             "character_set_schema:t character_set_name:t collation_catalog:t collation_schema:t "
             "collation_name:t domain_catalog:t domain_schema:t domain_name:t udt_catalog:t "
             "udt_schema:t=pg_catalog udt_name:t is_identity:t=NO identity_generation:t identity_start:t "
             "identity_increment:t identity_maximum:t identity_minimum:t identity_cycle:t=NO "
             "is_generated:t=NEVER generation_expression:t is_updatable:t=YES",
             information_schema_rows::columns);
  add_schema("table_constraints",
             "constraint_catalog:t constraint_schema:t=public constraint_name:t table_catalog:t "
             "table_schema:t=public table_name:t constraint_type:t is_deferrable:t=NO "
             "initially_deferred:t=NO enforced:t=YES nulls_distinct:t",
             constraint_rows::table_constraints);
  add_schema("key_column_usage",
             "constraint_catalog:t constraint_schema:t=public constraint_name:t table_catalog:t "
             "table_schema:t=public table_name:t column_name:t ordinal_position:o "
             "position_in_unique_constraint:o",
             constraint_rows::key_columns);
  add_schema("constraint_column_usage",
             "table_catalog:t table_schema:t=public table_name:t column_name:t "
             "constraint_catalog:t constraint_schema:t=public constraint_name:t",
             constraint_rows::constraint_columns);
  add_schema("referential_constraints",
             "constraint_catalog:t constraint_schema:t=public constraint_name:t "
             "unique_constraint_catalog:t unique_constraint_schema:t=public "
             "unique_constraint_name:t match_option:t=NONE update_rule:t delete_rule:t",
             constraint_rows::referential_constraints);
  add_schema("check_constraints",
             "constraint_catalog:t constraint_schema:t=public constraint_name:t check_clause:t",
             constraint_rows::check_constraints);
  add_schema("routines",
             "specific_catalog:t specific_schema:t=public specific_name:t routine_catalog:t "
             "routine_schema:t=public routine_name:t routine_type:t=PROCEDURE data_type:t "
             "routine_body:t=EXTERNAL routine_definition:t external_language:t=PLPGSQL",
             information_schema_rows::routines);
  add_schema("views",
             "table_catalog:t table_schema:t=public table_name:t view_definition:t check_option:t=NONE "
             "is_updatable:t=NO is_insertable_into:t=NO is_trigger_updatable:t=NO is_trigger_deletable:t=NO "
             "is_trigger_insertable_into:t=NO",
             information_schema_rows::views);
  add_schema("sequences",
             "sequence_catalog:t sequence_schema:t sequence_name:t data_type:t numeric_precision:o "
             "numeric_precision_radix:o numeric_scale:o start_value:t minimum_value:t maximum_value:t "
             "increment:t cycle_option:t");
  return tables;
}

}  // namespace

const std::vector<SystemTable>& system_tables() {
  static const std::vector<SystemTable> tables = [] {
    std::vector<SystemTable> all = define_all();
    // A blank, which parts the columns above, stands in two values.
    int64_t number = 0;
    for (SystemTable& table : all) {
      if (table.has_system_column()) {
        table.columns.push_back({"tableoid", Type{.kind = TypeKind::kBigInt}});
        table.defaults.push_back(Value::of_int(oids::of_system_table(static_cast<uint32_t>(number))));
      }
      ++number;
      for (Value& value : table.defaults) {
        if (value.kind() != Value::Kind::kText) continue;
        if (value.as_text() == "BASE_TABLE") value = Value::of_text("BASE TABLE");
        if (value.as_text() == "client_backend") value = Value::of_text("client backend");
      }
    }
    return all;
  }();
  return tables;
}

}  // namespace mneme
