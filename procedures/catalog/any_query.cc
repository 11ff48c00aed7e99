#include "procedures/interpreter/any_query.h"

#include <algorithm>
#include <utility>

#include "base/deep_stack.h"
#include "procedures/binder/any_query_binder.h"
#include "procedures/catalog/query_functions.h"
#include "procedures/query/query_binder.h"
#include "procedures/query/query_runner.h"

namespace mneme {

namespace {

// The functions of queries, without the tables that describe the database, whose rows depend on the session.
class FunctionsAlone final : public query::ProvidedTables {
 public:
  std::optional<uint32_t> find(const std::string&, const std::string&) const override { return std::nullopt; }
  std::span<const query::Column> columns(uint32_t) const override { return {}; }
  void visit(uint32_t, FunctionRef<void(std::span<const Value>)>) const override {}
  std::optional<View> find_view(const std::string&, const std::string&) const override {
    return std::nullopt;
  }
  bool is_always_empty(uint32_t) const override { return false; }
  const ir::Procedure* find_routine(const std::string&) const override { return nullptr; }
  std::optional<int64_t> find_object(const std::string&, const std::string&) const override {
    return std::nullopt;
  }

  std::optional<Function> find_function(const std::string& name, size_t arguments) const override {
    for (size_t i = 0; i < count_query_functions(); ++i) {
      const QueryFunction& each = query_function(i);
      if (each.name != name || arguments < each.least || arguments > each.most || each.is_volatile) continue;
      return Function{static_cast<uint32_t>(i), each.arguments, each.result, each.like, each.compares};
    }
    return std::nullopt;
  }
  bool call(uint32_t function, std::span<const Value> arguments, Arena& arena, Value& result,
            SqlError& error) const override {
    const QueryFunction& called = query_function(function);
    result = Value::null();
    const bool any_null = std::ranges::any_of(arguments, &Value::is_null);
    return (called.is_strict && any_null) || called.call(arguments, arena, result, error);
  }
};

const FunctionsAlone kFunctionsAlone;

class PlannedQuery final : public AnyQuery {
 public:
  explicit PlannedQuery(query::BoundQueries queries) : queries_(std::move(queries)) {}

  Outcome run(const Run& run, FunctionRef<bool(std::span<const Value>)> visit) const override {
    query::QueryRunner runner(run.schema);
    Outcome outcome = runner.run(queries_, run.variables, run.arrays, run.rows, &kFunctionsAlone,
                                 run.sequences, run.stop, visit);
    for (std::string_view* text : {&outcome.message, &outcome.detail, &outcome.hint})
      *text = run.texts.copy(*text);
    return outcome;
  }

  bool reads(TableId table) const override {
    return std::ranges::find(queries_.tables, table) != queries_.tables.end();
  }

 private:
  const query::BoundQueries queries_;
};

}  // namespace

BoundAnyQuery bind_any_query(const Catalog& catalog, Names& names, std::deque<std::string>& strings,
                             const syntax::Query& query, const std::vector<std::optional<Type>>* targets) {
  return on_deep_stack([&] {
    BoundAnyQuery bound;
    const auto note = [&](const ir::Expr& part) { bound.uses.push_back(part.variable); };
    query::QueryBinder binder(catalog, names, strings, &kFunctionsAlone, note);
    query::BoundQueries queries = binder.bind(query, targets);
    for (const query::Column& column : queries.plan->columns) {
      bound.names.push_back(column.name);
      bound.types.push_back(column.type);
    }
    std::ranges::sort(bound.uses);
    bound.uses.erase(std::unique(bound.uses.begin(), bound.uses.end()), bound.uses.end());
    bound.query = std::make_shared<const PlannedQuery>(std::move(queries));
    return bound;
  });
}

}  // namespace mneme
