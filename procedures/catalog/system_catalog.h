// System catalog: the database as pg_catalog and information_schema describe it, for clients that look
// around: psql's \d, drivers' metadata, tools that list tables.
//
// Flow        query_binder.h finds a table or a function here -> query_runner.h reads its rows
// Rows        made from the program's catalog whenever they are asked for: nothing is stored. A table that
//             describes what Mneme lacks (policies, publications ...) has PostgreSQL's columns and no rows.
// Types       oids are bigint; names, "char", arrays and vectors are text, as PostgreSQL prints them.
// Numbers     a table's oid, an index's and a procedure's follow from its id, so that they change where
//             something before it is dropped.
// Source      PostgreSQL 15, chapters 53 (system catalogs) and 37 (the information schema).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "procedures/binder/program.h"
#include "procedures/catalog/search_path.h"
#include "procedures/ir/session_values.h"
#include "procedures/query/provided_tables.h"

namespace mneme {

// The oid under which pg_class lists the table.
int64_t oid_of(TableId table);

class SystemCatalog final : public query::ProvidedTables {
 public:
  // `session`: of the client, or nullptr. Both outlive the catalog.
  SystemCatalog(const Program& program, const SessionValues* session)
      : program_(program), session_(session) {}

  std::optional<uint32_t> find(const std::string& schema, const std::string& name) const override;
  std::span<const query::Column> columns(uint32_t table) const override;
  void visit(uint32_t table, FunctionRef<void(std::span<const Value>)> visit) const override;

  std::optional<View> find_view(const std::string& schema, const std::string& name) const override;

  bool is_always_empty(uint32_t table) const override;
  std::optional<Function> find_function(const std::string& name, size_t arguments) const override;
  bool call(uint32_t function, std::span<const Value> arguments, Arena& arena, Value& result,
            SqlError& error) const override;
  const ir::Procedure* find_routine(const std::string& name) const override {
    return program_.find_procedure(name);
  }
  std::optional<int64_t> find_object(const std::string& type, const std::string& name) const override;

  // The client's settings, as SHOW has them, stand among the session's values under names that no function
  // has.
  struct Setting {
    std::string_view name;
    std::string_view value;
  };
  static void set_settings(SessionValues& session, std::span<const Setting> settings);
  std::vector<Setting> settings() const;

  // What set_config() asked for since the last take_wishes(), in its order: the session that runs the query
  // sets it behind the query.
  struct Wish {
    std::string name;
    std::string value;
    bool is_local = false;  // for the rest of its block
  };
  void wish(Wish wish) const { wishes_.push_back(std::move(wish)); }
  std::vector<Wish> take_wishes() const { return std::exchange(wishes_, {}); }

  // What pg_notify() asked for since the last take_notices(): the session sends it as its transaction
  // commits.
  struct Notice {
    std::string channel;
    std::string payload;
  };
  void notice(Notice notice) const { notices_.push_back(std::move(notice)); }
  std::vector<Notice> take_notices() const { return std::exchange(notices_, {}); }

  // Whether pg_stat_activity was found here, by its name or out of a view.
  bool shows_activities() const { return shows_activities_; }

  const Program& program() const { return program_; }
  // The session's.
  SearchPath search_path() const;
  // As SHOW search_path has it. `session`: nullptr: there is none.
  static std::string_view search_path_of(const SessionValues* session);
  // The relation's name as regclass shows it: behind its schema where the path does not lead to it.
  std::string shown_relation(const std::string& name) const;
  // What names a table of the database's behind its schema: public. where the session's search path lacks it.
  std::string_view schema_prefix() const;
  // Whether the table or index is found without its schema.
  bool is_visible(int64_t oid) const;
  // What the session's function of that name says, or `otherwise`.
  std::string session_text(std::string_view function, std::string_view otherwise) const;

 private:
  const Program& program_;
  const SessionValues* const session_;
  mutable bool shows_activities_ = false;
  mutable std::vector<Wish> wishes_;  // of the one session that runs the statement
  mutable std::vector<Notice> notices_;
};

}  // namespace mneme
