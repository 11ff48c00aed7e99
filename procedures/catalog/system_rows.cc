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
#include "procedures/values/type_oids.h"

namespace mneme {

RowMaker& RowMaker::put(std::string_view column, const Value& value) {
  const auto found = std::ranges::find(columns_, column, &query::Column::name);
  CHECK(found != columns_.end());
  row_[static_cast<size_t>(found - columns_.begin())] = value;
  return *this;
}

void RowMaker::set_schema(std::string_view column, std::string_view schema) {
  struct Named {
    std::string_view name;
    std::string_view schema;
  };
  constexpr Named kNamed[] = {{"relname", "relnamespace"},
                              {"relname", "schemaname"},
                              {"proname", "pronamespace"},
                              {"typname", "typnamespace"},
                              {"conname", "connamespace"},
                              {"tablename", "schemaname"},
                              {"viewname", "schemaname"},
                              {"sequencename", "schemaname"},
                              {"table_name", "table_schema"},
                              {"constraint_name", "constraint_schema"},
                              {"unique_constraint_name", "unique_constraint_schema"},
                              {"routine_name", "routine_schema"},
                              {"specific_name", "specific_schema"},
                              {"view_name", "view_schema"},
                              {"sequence_name", "sequence_schema"},
                              {"udt_name", "udt_schema"},
                              {"type_udt_name", "type_udt_schema"}};
  for (const Named& each : kNamed) {
    if (each.name != column) continue;
    const auto found = std::ranges::find(columns_, each.schema, &query::Column::name);
    if (found == columns_.end()) continue;
    const bool is_number = found->type.kind != TypeKind::kVarchar;
    put(each.schema,
        is_number ? Value::of_int(oids::of_schema(program_, schema)) : Value::of_text(arena_.copy(schema)));
  }
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

SystemTable define_table(const char* schema, const char* name, std::string_view columns,
                         void (*rows)(const SystemCatalog&, RowMaker&)) {
  static std::deque<std::string> texts;  // of default values
  SystemTable table{schema, name, {}, {}, rows};
  while (!columns.empty()) {
    const size_t end = std::min(columns.find(' '), columns.size());
    const std::string_view column = columns.substr(0, end);
    columns.remove_prefix(std::min(end + 1, columns.size()));
    const size_t colon = column.find(':');
    const char kind = column[colon + 1];
    const bool is_text = kind != 'o' && kind != 'O' && kind != 'b' && kind != 'z' && kind != 'f';
    Type type{.kind = kind == 'b' ? TypeKind::kBoolean : TypeKind::kBigInt};
    if (is_text) type = {.kind = TypeKind::kVarchar, .is_text = true};
    if (kind == 'z') type = {.kind = TypeKind::kTimestamp, .is_zoned = true};
    if (kind == 'f') type = {.kind = TypeKind::kReal};
    if (kind == 'O') type = kOidType;
    if (kind == 'n') type = kNameType;
    if (kind == 'v') type = {.kind = TypeKind::kVarchar, .elements = TypeKind::kSmallInt};
    if (kind == 'V') type = {.kind = TypeKind::kVarchar, .elements = TypeKind::kBigInt};
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

namespace {

constexpr const char* kClass =
    "oid:O relname:n relnamespace:O=2200 reltype:O=0 reloftype:O=0 relowner:O=10 relam:O=0 relfilenode:O=0 "
    "reltablespace:O=0 relpages:o=0 reltuples:o=-1 relallvisible:o=0 reltoastrelid:O=0 relhasindex:b=f "
    "relisshared:b=f relpersistence:t=p relkind:t=r relnatts:o=0 relchecks:o=0 relhasrules:b=f "
    "relhastriggers:b=f "
    "relhassubclass:b=f relrowsecurity:b=f relforcerowsecurity:b=f relispopulated:b=t relreplident:t=d "
    "relispartition:b=f relrewrite:o=0 relfrozenxid:o=0 relminmxid:o=0 relacl:a reloptions:a relpartbound:t";
constexpr const char* kAttribute =
    "attrelid:O attname:n atttypid:O attstattarget:o=-1 attlen:o=-1 attnum:o attndims:o=0 attcacheoff:o=-1 "
    "atttypmod:o=-1 attbyval:b=f attalign:t=i attstorage:t=p attcompression:t= attnotnull:b=f atthasdef:b=f "
    "atthasmissing:b=f attidentity:t= attgenerated:t= attisdropped:b=f attislocal:b=t attinhcount:o=0 "
    "attcollation:O=0 attacl:a attoptions:a attfdwoptions:a attmissingval:t";
constexpr const char* kIndexColumns =
    "indexrelid:O indrelid:O indnatts:o indnkeyatts:o indisunique:b indnullsnotdistinct:b=f indisprimary:b "
    "indisexclusion:b=f indimmediate:b=t indisclustered:b=f indisvalid:b=t indcheckxmin:b=f indisready:b=t "
    "indislive:b=t indisreplident:b=f indkey:v indcollation:V= indclass:V= indoption:v= indexprs:t indpred:t";
constexpr const char* kConstraint =
    "oid:O conname:n connamespace:O=2200 contype:t condeferrable:b=f condeferred:b=f convalidated:b=t "
    "conrelid:O "
    "contypid:O=0 conindid:O=0 conparentid:O=0 confrelid:O=0 confupdtype:t= confdeltype:t= confmatchtype:t= "
    "conislocal:b=t coninhcount:o=0 connoinherit:b=t conkey:w confkey:w conpfeqop:w conppeqop:w conffeqop:w "
    "confdelsetcols:w conexclop:w conbin:t";
constexpr const char* kTypeColumns =
    "oid:O typname:n typnamespace:O=11 typowner:O=10 typlen:o=-1 typbyval:b=f typtype:t=b typcategory:t=U "
    "typispreferred:b=f typisdefined:b=t typdelim:t=, typrelid:O=0 typsubscript:t=- typelem:O=0 typarray:O=0 "
    "typinput:O=0 typoutput:t= typreceive:t= typsend:t= typmodin:t=- typmodout:t=- typanalyze:t=- "
    "typalign:t=i "
    "typstorage:t=p typnotnull:b=f typbasetype:O=0 typtypmod:o=-1 typndims:o=0 typcollation:O=0 "
    "typdefaultbin:t "
    "typdefault:t typacl:a";
constexpr const char* kProcedureColumns =
    "oid:O proname:n pronamespace:O=2200 proowner:O=10 prolang:O=13500 procost:o=100 prorows:o=0 "
    "provariadic:O=0 "
    "prosupport:t=- prokind:t=p prosecdef:b=f proleakproof:b=f proisstrict:b=f proretset:b=f provolatile:t=v "
    "proparallel:t=u pronargs:o pronargdefaults:o=0 prorettype:O=2278 proargtypes:V proallargtypes:w "
    "proargmodes:a "
    "proargnames:a proargdefaults:t protrftypes:w prosrc:t probin:t prosqlbody:t proconfig:a proacl:a";
constexpr const char* kDatabaseColumns =
    "oid:O=16000 datname:n datdba:O=10 encoding:o=6 datlocprovider:t=c datistemplate:b=f datallowconn:b=t "
    "datconnlimit:o=-1 datfrozenxid:o=0 datminmxid:o=0 dattablespace:O=1663 datcollate:t=C datctype:t=C "
    "daticulocale:t datcollversion:t datacl:a";
constexpr const char* kRole =
    "rolname:n rolsuper:b=t rolinherit:b=t rolcreaterole:b=f rolcreatedb:b=f rolcanlogin:b=t "
    "rolreplication:b=f "
    "rolconnlimit:o=-1 rolpassword:t rolvaliduntil:t rolbypassrls:b=f rolconfig:a oid:O=10";

std::vector<SystemTable> define_all() {
  std::vector<SystemTable> tables;
  const auto add = [&](const char* name, const char* columns,
                       void (*rows)(const SystemCatalog&, RowMaker&) = nullptr) {
    tables.push_back(define_table("pg_catalog", name, columns, rows));
  };
  add("pg_namespace", "oid:O nspname:n nspowner:O=10 nspacl:a", server_rows::namespaces);
  add("pg_class", kClass, relation_rows::classes);
  add("pg_attribute", kAttribute, relation_rows::attributes);
  add("pg_attrdef", "oid:O adrelid:O adnum:o adbin:t", relation_rows::defaults);
  add("pg_index", kIndexColumns, relation_rows::indexes);
  add("pg_constraint", kConstraint, constraint_rows::constraints);
  add("pg_type", kTypeColumns, server_rows::types);
  add("pg_proc", kProcedureColumns, server_rows::procedures);
  add("pg_am", "oid:O amname:n amhandler:t amtype:t=i", server_rows::access_methods);
  add("pg_database", kDatabaseColumns, server_rows::databases);
  add("pg_roles", kRole, server_rows::roles);
  add("pg_authid", kRole, server_rows::roles);
  add("pg_user",
      "usename:n usesysid:O=10 usecreatedb:b=f usesuper:b=t userepl:b=f usebypassrls:b=f passwd:t "
      "valuntil:t useconfig:a",
      server_rows::users);
  add("pg_language",
      "oid:O lanname:n lanowner:O=10 lanispl:b=t lanpltrusted:b=t lanplcallfoid:O=13501 laninline:O=13502 "
      "lanvalidator:O=13503 lanacl:a",
      server_rows::languages);
  add("pg_collation",
      "oid:O collname:n collnamespace:O=11 collowner:O=10 collprovider:t=c collisdeterministic:b=t "
      "collencoding:o=-1 collcollate:t=C collctype:t=C colliculocale:t collversion:t",
      server_rows::collations);
  add("pg_tables",
      "schemaname:n=public tablename:n tableowner:n tablespace:n hasindexes:b=f hasrules:b=f "
      "hastriggers:b=f rowsecurity:b=f",
      relation_rows::table_list);
  add("pg_indexes", "schemaname:n=public tablename:n indexname:n tablespace:n indexdef:t",
      relation_rows::index_list);
  add("pg_views", "schemaname:n=public viewname:n viewowner:n definition:t", relation_rows::views);
  // What there is none of.
  add("pg_matviews",
      "schemaname:n matviewname:n matviewowner:n tablespace:n hasindexes:b ispopulated:b definition:t");
  add("pg_sequence",
      "seqrelid:O seqtypid:O=20 seqstart:o=1 seqincrement:o=1 seqmax:o=9223372036854775807 seqmin:o=1 "
      "seqcache:o=1 seqcycle:b=f",
      relation_rows::sequences);
  add("pg_sequences",
      "schemaname:n=public sequencename:n sequenceowner:n data_type:t=bigint start_value:o=1 min_value:o=1 "
      "max_value:o=9223372036854775807 increment_by:o=1 cycle:b=f cache_size:o=1 last_value:o",
      relation_rows::sequence_list);
  add("pg_get_keywords()", "word:t catcode:t barelabel:b catdesc:t baredesc:t", server_rows::keywords);
  add("pg_description", "objoid:O classoid:O objsubid:o description:t", relation_rows::descriptions);
  add("pg_shdescription", "objoid:O classoid:O description:t");
  add("pg_depend", "classid:o objid:O objsubid:o=0 refclassid:O refobjid:O refobjsubid:o deptype:t",
      relation_rows::dependencies);
  add("pg_inherits", "inhrelid:O inhparent:O inhseqno:o inhdetachpending:b");
  add("pg_trigger",
      "oid:O tgrelid:o tgparentid:o tgname:n tgfoid:o tgtype:o tgenabled:t tgisinternal:b "
      "tgconstrrelid:o tgconstrindid:o tgconstraint:o tgdeferrable:b tginitdeferred:b tgnargs:o tgattr:v "
      "tgargs:t tgqual:t tgoldtable:t tgnewtable:t");
  add("pg_rewrite", "oid:O rulename:n ev_class:o ev_type:t ev_enabled:t is_instead:b ev_qual:t ev_action:t");
  add("pg_policy", "oid:O polname:n polrelid:o polcmd:t polpermissive:b polroles:w polqual:t polwithcheck:t");
  add("pg_statistic_ext",
      "oid:O stxrelid:o stxname:n stxnamespace:o stxowner:o stxstattarget:o stxkeys:v stxkind:a "
      "stxexprs:t");
  add("pg_publication",
      "oid:O pubname:n pubowner:o puballtables:b pubinsert:b pubupdate:b pubdelete:b "
      "pubtruncate:b pubviaroot:b");
  add("pg_publication_rel", "oid:O prpubid:o prrelid:o prqual:t prattrs:w");
  add("pg_publication_namespace", "oid:O pnpubid:o pnnspid:o");
  add("pg_opclass",
      "oid:O opcmethod:O opcname:n opcnamespace:O opcowner:O opcfamily:O opcintype:O opcdefault:b "
      "opckeytype:o");
  add("pg_opfamily", "oid:O opfmethod:o opfname:n opfnamespace:o opfowner:o");
  add("pg_operator", "oid:O oprname:n oprnamespace:o oprowner:o oprkind:t oprleft:o oprright:o oprresult:o");
  add("pg_cast", "oid:O castsource:o casttarget:o castfunc:o castcontext:t castmethod:t");
  add("pg_aggregate", "aggfnoid:o aggkind:t aggnumdirectargs:o");
  add("pg_conversion", "oid:O conname:n connamespace:O conowner:o");
  add("pg_largeobject_metadata", "oid:O lomowner:o");
  add("pg_enum", "oid:O enumtypid:O enumsortorder:f enumlabel:n", server_rows::enums);
  add("pg_range", "rngtypid:O rngsubtype:O rngmultitypid:O rngcollation:o rngsubopc:o");
  add("pg_extension",
      "oid:O extname:n extowner:o extnamespace:o extrelocatable:b extversion:t extconfig:w "
      "extcondition:a");
  add("pg_auth_members", "roleid:O member:O grantor:O admin_option:b");
  add("pg_db_role_setting", "setdatabase:o setrole:o setconfig:a");
  add("pg_tablespace", "oid:O spcname:n spcowner:O spcacl:a spcoptions:a", server_rows::tablespaces);
  add("pg_foreign_table", "ftrelid:o ftserver:o ftoptions:a");
  add("pg_foreign_server",
      "oid:O srvname:n srvowner:o srvfdw:o srvtype:t srvversion:t srvacl:a srvoptions:a");
  add("pg_foreign_data_wrapper",
      "oid:O fdwname:n fdwowner:o fdwhandler:o fdwvalidator:o fdwacl:a fdwoptions:a");
  add("pg_user_mappings", "umid:o srvid:o srvname:n umuser:o usename:n umoptions:a");
  add("pg_default_acl", "oid:O defaclrole:o defaclnamespace:o defaclobjtype:t defaclacl:a");
  add("pg_subscription",
      "oid:O subdbid:o subskiplsn:t subname:n subowner:o subenabled:b subbinary:b substream:b "
      "subtwophasestate:t subdisableonerr:b subconninfo:t subslotname:t subsynccommit:t subpublications:a");
  add("pg_partitioned_table",
      "partrelid:o partstrat:t partnatts:o partdefid:o partattrs:v partclass:V "
      "partcollation:V partexprs:t");
  add("pg_event_trigger", "oid:O evtname:n evtevent:t evtowner:o evtfoid:o evtenabled:t evttags:a");
  add("pg_prepared_statements", "name:t statement:t");
  add("pg_prepared_xacts", "transaction:o gid:t prepared:t owner:t database:t");
  add("pg_settings",
      "name:t setting:t unit:t category:t short_desc:t extra_desc:t context:t=user vartype:t source:t "
      "min_val:t max_val:t enumvals:a boot_val:t reset_val:t sourcefile:t sourceline:o pending_restart:b=f",
      server_rows::settings);
  add("pg_init_privs", "objoid:O classoid:O objsubid:o privtype:t initprivs:a");
  add("pg_ts_config", "oid:O cfgname:n cfgnamespace:o cfgowner:o cfgparser:o");
  add("pg_ts_config_map", "mapcfg:o maptokentype:o mapseqno:o mapdict:o");
  add("pg_ts_dict", "oid:O dictname:n dictnamespace:o dictowner:o dicttemplate:o dictinitoption:t");
  add("pg_ts_parser",
      "oid:O prsname:n prsnamespace:o prsstart:o prstoken:o prsend:o prsheadline:o prslextype:o");
  add("pg_ts_template", "oid:O tmplname:n tmplnamespace:o tmplinit:o tmpllexize:o");
  add("pg_transform", "oid:O trftype:o trflang:o trffromsql:o trftosql:o");
  add("pg_seclabel", "objoid:O classoid:O objsubid:o provider:t label:t");
  add("pg_shseclabel", "objoid:O classoid:O provider:t label:t");
  add("pg_seclabels", "objoid:O classoid:O objsubid:o objtype:t objnamespace:o objname:t provider:t label:t");
  add("pg_amop",
      "oid:O amopfamily:o amoplefttype:o amoprighttype:o amopstrategy:o amoppurpose:t amopopr:o amopmethod:o "
      "amopsortfamily:o");
  add("pg_amproc", "oid:O amprocfamily:o amproclefttype:o amprocrighttype:o amprocnum:o amproc:o");
  add("pg_options_to_table()", "option_name:t option_value:t");
  add("pg_rules", "schemaname:n tablename:n rulename:n definition:t");
  add("pg_policies", "schemaname:n tablename:n policyname:n permissive:t roles:a cmd:t qual:t with_check:t");
  add("pg_user_mapping", "oid:O umuser:o umserver:o umoptions:a");
  add("pg_subscription_rel", "srsubid:o srrelid:o srsubstate:t srsublsn:t");
  add("pg_publication_tables", "pubname:n schemaname:n tablename:n attnames:a rowfilter:t");
  add("pg_largeobject", "loid:o pageno:o data:t");
  add("pg_statistic_ext_data", "stxoid:o stxdinherit:b stxdndistinct:t stxddependencies:t stxdmcv:t");
  add("pg_shdepend", "dbid:o classid:o objid:O objsubid:o refclassid:O refobjid:O deptype:t");
  add("pg_parameter_acl", "oid:O parname:t paracl:a");
  add("pg_available_extensions", "name:t default_version:t installed_version:t comment:t");
  add("pg_replication_slots", "slot_name:t plugin:t slot_type:t datoid:o database:t temporary:b active:b");
  add("pg_file_settings", "sourcefile:t sourceline:o seqno:o name:t setting:t applied:b error:t");
  for (const char* const name : {"pg_stat_all_indexes", "pg_stat_user_indexes"}) {
    add(name,
        "relid:O indexrelid:O schemaname:n=public relname:n indexrelname:n idx_scan:o idx_tup_read:o "
        "idx_tup_fetch:o",
        relation_rows::counted_indexes);
  }
  for (const char* const name : {"pg_statio_all_tables", "pg_statio_user_tables"}) {
    add(name,
        "relid:O schemaname:n=public relname:n heap_blks_read:o heap_blks_hit:o idx_blks_read:o "
        "idx_blks_hit:o toast_blks_read:o toast_blks_hit:o tidx_blks_read:o tidx_blks_hit:o",
        relation_rows::counted_tables);
  }
  for (const char* const name : {"pg_stat_all_tables", "pg_stat_user_tables"}) {
    add(name,
        "relid:O schemaname:n=public relname:n seq_scan:o seq_tup_read:o idx_scan:o idx_tup_fetch:o "
        "n_tup_ins:o "
        "n_tup_upd:o n_tup_del:o n_tup_hot_upd:o n_live_tup:o n_dead_tup:o n_mod_since_analyze:o "
        "n_ins_since_vacuum:o last_vacuum:z last_autovacuum:z last_analyze:z last_autoanalyze:z "
        "vacuum_count:o "
        "autovacuum_count:o analyze_count:o autoanalyze_count:o",
        relation_rows::counted_tables);
  }
  add("pg_stat_activity",
      "datid:O datname:n pid:o leader_pid:o usesysid:O=10 usename:n application_name:t= client_addr:t "
      "client_hostname:t client_port:o backend_start:z xact_start:z query_start:z state_change:z "
      "wait_event_type:t wait_event:t state:t backend_xid:o backend_xmin:o query_id:o query:t= "
      "backend_type:t=client_backend",
      activity_rows::activities);
  add("pg_cursors", "name:t statement:t is_holdable:b is_binary:b is_scrollable:b");

  information_schema_rows::define_tables(tables);
  return tables;
}

struct KnownNumber {
  std::string_view name;
  int64_t oid;
};
constexpr KnownNumber kKnownNumbers[] = {{"pg_aggregate", 2600},
                                         {"pg_am", 2601},
                                         {"pg_amop", 2602},
                                         {"pg_amproc", 2603},
                                         {"pg_attrdef", 2604},
                                         {"pg_attribute", 1249},
                                         {"pg_auth_members", 1261},
                                         {"pg_authid", 1260},
                                         {"pg_cast", 2605},
                                         {"pg_class", 1259},
                                         {"pg_collation", 3456},
                                         {"pg_constraint", 2606},
                                         {"pg_conversion", 2607},
                                         {"pg_database", 1262},
                                         {"pg_db_role_setting", 2964},
                                         {"pg_default_acl", 826},
                                         {"pg_depend", 2608},
                                         {"pg_description", 2609},
                                         {"pg_enum", 3501},
                                         {"pg_event_trigger", 3466},
                                         {"pg_extension", 3079},
                                         {"pg_foreign_data_wrapper", 2328},
                                         {"pg_foreign_server", 1417},
                                         {"pg_foreign_table", 3118},
                                         {"pg_index", 2610},
                                         {"pg_inherits", 2611},
                                         {"pg_init_privs", 3394},
                                         {"pg_language", 2612},
                                         {"pg_largeobject", 2613},
                                         {"pg_largeobject_metadata", 2995},
                                         {"pg_namespace", 2615},
                                         {"pg_opclass", 2616},
                                         {"pg_operator", 2617},
                                         {"pg_opfamily", 2753},
                                         {"pg_parameter_acl", 6243},
                                         {"pg_partitioned_table", 3350},
                                         {"pg_policy", 3256},
                                         {"pg_proc", 1255},
                                         {"pg_publication", 6104},
                                         {"pg_publication_namespace", 6237},
                                         {"pg_publication_rel", 6106},
                                         {"pg_range", 3541},
                                         {"pg_rewrite", 2618},
                                         {"pg_seclabel", 3596},
                                         {"pg_sequence", 2224},
                                         {"pg_shdepend", 1214},
                                         {"pg_shdescription", 2396},
                                         {"pg_shseclabel", 3592},
                                         {"pg_statistic_ext", 3381},
                                         {"pg_statistic_ext_data", 3429},
                                         {"pg_subscription", 6100},
                                         {"pg_subscription_rel", 6102},
                                         {"pg_tablespace", 1213},
                                         {"pg_transform", 3576},
                                         {"pg_trigger", 2620},
                                         {"pg_ts_config", 3602},
                                         {"pg_ts_config_map", 3603},
                                         {"pg_ts_dict", 3600},
                                         {"pg_ts_parser", 3601},
                                         {"pg_ts_template", 3764},
                                         {"pg_type", 1247},
                                         {"pg_user_mapping", 1418}};

}  // namespace

int64_t oids::of_system_table(uint32_t number) {
  return system_tables()[number].oid;
}

const std::vector<SystemTable>& system_tables() {
  static const std::vector<SystemTable> tables = [] {
    std::vector<SystemTable> all = define_all();
    // A blank, which parts the columns above, stands in three values.
    int64_t number = 12'000;
    for (SystemTable& table : all) {
      const auto* const known = std::ranges::find(kKnownNumbers, table.name, &KnownNumber::name);
      const bool is_known = table.schema == "pg_catalog" && known != std::end(kKnownNumbers);
      table.oid = is_known ? known->oid : number++;
      if (table.has_system_column()) {
        table.columns.push_back({"tableoid", kOidType});
        table.defaults.push_back(Value::of_int(table.oid));
      }
      for (Value& value : table.defaults) {
        if (value.kind() != Value::Kind::kText) continue;
        if (value.as_text() == "BASE_TABLE") value = Value::of_text("BASE TABLE");
        if (value.as_text() == "NO_PAD") value = Value::of_text("NO PAD");
        if (value.as_text() == "client_backend") value = Value::of_text("client backend");
      }
    }
    return all;
  }();
  return tables;
}

}  // namespace mneme
