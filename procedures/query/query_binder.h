// Query binder: a session's SELECT, of whatever form, to a plan.
//
//     QueryBinder binder(catalog, names, strings, provider);
//     std::unique_ptr<QueryPlan> plan = binder.bind(query);
//
// Flow        syntax::Query -> bind() -> query_plan.h
// Order       a SELECT's tables are taken in the order in which indexes reach them: first the one that
//             constants find fewest rows of, then those that an index finds by what is there already, then by
//             a hash table. Behind an outer join the written order stays.
// Numbers     what is computed from numeric has its own digits after the point, as in PostgreSQL
//             (values/decimal.h).
// Errors      refuse() and refuse_as() with PostgreSQL's SQLSTATE.
// Source      PostgreSQL 15, chapter 7 (queries): which names a clause may use.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/schema/catalog.h"
#include "procedures/binder/names.h"
#include "procedures/parser/syntax.h"
#include "procedures/query/provided_tables.h"
#include "procedures/query/query_plan.h"
#include "procedures/query/row_scope.h"
#include "procedures/typing/constant_folding.h"

namespace mneme::query {

// 0A000, or where PostgreSQL has another reason, with the clause's own words before the sentence's rest.
[[noreturn]] void refuse_lock(const syntax::LockClause& lock, std::string_view rest);

class QueryBinder {
 public:
  // `provider` may be nullptr. The binder calls `note` with each part of an expression that is a
  // variable, so that the caller learns the parameters' types.
  QueryBinder(const Catalog& catalog, Names& names, std::deque<std::string>& strings,
              const ProvidedTables* provider, std::function<void(const ir::Expr&)> note,
              std::span<const GivenTable> given = {})
      : catalog_(catalog),
        names_(names),
        strings_(strings),
        provider_(provider),
        note_(std::move(note)),
        given_(given),
        folder_(strings) {}

  // `targets`: as bind_select() has them, or nullptr.
  BoundQueries bind(const syntax::Query& query, const std::vector<std::optional<Type>>* targets = nullptr);

 private:
  friend class SelectBinder;

  // A table of WITH, as its name is seen from where it stands on.
  struct CommonTable {
    const syntax::Query::CommonTable* table;
    size_t visible;         // so many of the first tables does its query see
    bool recursive;         // of WITH RECURSIVE
    const RowScope* scope;  // of the query that has the WITH
  };
  // What a query takes from those around it: each variable is set before it runs.
  using Inputs = std::vector<std::pair<VariableId, ir::Expr>>;
  struct ReadTable {
    std::unique_ptr<QueryPlan> plan;
    Inputs inputs;
  };
  // A table of WITH RECURSIVE whose step is being bound: its name means the rows found last.
  struct OpenRecursion {
    const syntax::Query::CommonTable* table = nullptr;
    uint32_t number = 0;
    std::vector<Column> columns;
  };

  // `keeps_unknown`: literals without a type stay so, for a UNION to give them one.
  std::unique_ptr<QueryPlan> bind_query(const syntax::Query& query, RowScope* outer, bool sees_beside,
                                        Inputs* captured, bool keeps_unknown = false);
  std::unique_ptr<QueryPlan> bind_part(const syntax::QueryPart& part, RowScope& scope,
                                       const syntax::Query* ordered, bool keeps_unknown);
  std::unique_ptr<QueryPlan> bind_values(const syntax::QueryPart& part, RowScope& scope, bool keeps_unknown);
  std::unique_ptr<QueryPlan> bind_set(const syntax::Query& query, RowScope& scope);
  std::unique_ptr<QueryPlan> combine(std::unique_ptr<QueryPlan> left, std::unique_ptr<QueryPlan> right,
                                     const syntax::Query::More& more);
  void bind_order_of_columns(const syntax::Query& query, QueryPlan& plan);
  void convert_columns(const std::vector<std::optional<Type>>& targets, ir::SourceLocation where);
  void bind_limits(const syntax::Query& query, RowScope& scope, QueryPlan& plan);
  const CommonTable* find_common_table(const std::string& name) const;
  void add_common_tables(const syntax::Query& query, const RowScope& scope);
  void check_unused_tables(size_t first, RowScope& scope);
  // The number of the table that the change makes.
  uint32_t read_given(const syntax::Query::CommonTable& table, ir::SourceLocation where);
  const OpenRecursion* find_open_recursion(const CommonTable& table) const;
  // `reader`: of the query that reads the table.
  ReadTable bind_common_table(CommonTable common, RowScope& reader);
  std::unique_ptr<QueryPlan> bind_recursion(const syntax::Query::CommonTable& table, RowScope* outer,
                                            Inputs& inputs);

  // Folds constants, and tells the parameters.
  ir::Expr finish(ir::Expr expr);

  const Catalog& catalog_;
  Names& names_;
  std::deque<std::string>& strings_;
  const ProvidedTables* const provider_;
  const std::function<void(const ir::Expr&)> note_;
  const std::span<const GivenTable> given_;
  ConstantFolder folder_;
  BoundQueries bound_;
  std::vector<CommonTable> common_tables_;
  std::vector<const syntax::Query::CommonTable*> bound_tables_;  // whose queries are being bound
  std::vector<const syntax::Query::CommonTable*> used_tables_;   // whose queries have been bound
  std::vector<OpenRecursion> open_recursions_;
  bool reads_sequences_ = false;  // as the tables that they are
  size_t depth_ = 0;
  size_t tables_ = 0;
};

}  // namespace mneme::query
