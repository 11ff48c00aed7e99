// Expression binder: names resolved, types known, casts explicit.
//
//     ExpressionBinder binder(names, strings, sources);
//     ir::Expr condition = binder.bind_condition(where_clause);
//
// Errors      refuse(), with the place of the smallest part that is wrong.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "procedures/binder/names.h"
#include "procedures/ir/ir.h"
#include "procedures/parser/syntax.h"

namespace mneme {

class ExpressionBinder;

// What a session's query knows of the rows around an expression (query/query_binder.h).
class QueryNames {
 public:
  virtual ~QueryNames() = default;
  // The column that `text`, or qualifier.text, means, here or in a query around this one; nothing where there
  // is none.
  virtual std::optional<ir::Expr> find_column(const std::string& qualifier, const std::string& text,
                                              ir::SourceLocation where) = 0;
  virtual bool is_aggregate(const std::string& function) const = 0;
  virtual ir::Expr bind_aggregate(const syntax::Expr& call) = 0;
  // A call with OVER.
  virtual ir::Expr bind_window(const syntax::Expr& call) = 0;
  // One of syntax::ExprKind's queries.
  virtual ir::Expr bind_query(const syntax::Expr& expr) = 0;
  // A function that says something of the database itself; nothing where there is none of that name.
  // The call of a function of the database's that is more than an expression; nothing where a query can't
  // have one. `given`: as arguments_of() has them.
  virtual std::optional<ir::Expr> bind_routine_call(const syntax::Expr& call,
                                                    const syntax::Procedure& routine,
                                                    std::span<const syntax::Expr* const> given,
                                                    ExpressionBinder& binder) = 0;
  virtual std::optional<ir::Expr> bind_catalog_call(const syntax::Expr& call, ExpressionBinder& binder) = 0;
  // An array of values, a subscript of an array, a composite value's field, or a bit operator.
  virtual ir::Expr bind_array(const syntax::Expr& expr, ExpressionBinder& binder) = 0;
  // A function or an operator of values that are texts in one form (engine/schema/text_form.h), as
  // length(bytea); nothing where there is none of the name for these types.
  virtual std::optional<ir::Expr> bind_form_call(const std::string& name, std::vector<ir::Expr>& args,
                                                 ir::SourceLocation where) = 0;
  // left || right, one of which is an array.
  virtual ir::Expr concat_arrays(ir::Expr left, ir::Expr right, ir::SourceLocation where) = 0;
  // A cast to a type that only such descriptions have: oid, name, regclass ...
  virtual std::optional<ir::Expr> bind_catalog_cast(const syntax::Expr& cast, ExpressionBinder& binder) = 0;
};

class ExpressionBinder {
 public:
  // `sources`: the tables whose columns are visible; none outside database operations. `strings` keeps text
  // constants.
  ExpressionBinder(Names& names, std::deque<std::string>& strings, std::span<const RowSource> sources = {})
      : names_(names), strings_(strings), sources_(sources) {}
  // For the expressions of a session's query, whose exact numbers may keep their own digits after the point
  // (values/decimal.h).
  ExpressionBinder(Names& names, std::deque<std::string>& strings, QueryNames* query)
      : names_(names), strings_(strings), query_(query) {}

  // Aggregates are accepted from here on and collected in `aggregates`.
  void accept_aggregates(std::vector<ir::Aggregate>& aggregates) { aggregates_ = &aggregates; }

  // May be of unknown type (conversion.h).
  ir::Expr bind(const syntax::Expr& expr);
  // Binds to an expression of a known type.
  ir::Expr bind_value(const syntax::Expr& expr);
  ir::Expr bind_condition(const syntax::Expr& expr);
  // Converted as an assignment to `target` does.
  ir::Expr bind_for(const syntax::Expr& expr, const Type& target, std::string_view what);
  // Spells a quoted literal as the text of an array of `element`.
  ir::Expr spell_array(ir::Expr literal, const Type& element);
  // Makes numbers of different digits, which are results of one expression, keep their own digits. Only a
  // session's query needs that.
  void give_own_digits(const std::vector<ir::Expr*>& results) const;

 private:
  ir::Expr bind_literal(const syntax::Expr& expr);
  ir::Expr bind_decimal(const syntax::Expr& expr);
  ir::Expr bind_reference(const syntax::Expr& expr);
  std::optional<ir::Expr> bind_session_value(const syntax::Expr& expr);
  ir::Expr bind_enum_function(const syntax::Expr& expr);
  ir::Expr bind_parameter(const syntax::Expr& expr);
  ir::Expr bind_unary(const syntax::Expr& expr);
  std::optional<ir::Expr> bind_least_integer(const syntax::Expr& expr);
  ir::Expr bind_binary(const syntax::Expr& expr);
  ir::Expr bind_concat(const syntax::Expr& expr);
  ir::Expr bind_form_operator(const std::string& name, ir::Expr left, ir::Expr right,
                              ir::SourceLocation where);
  ir::Expr bind_case(const syntax::Expr& expr);
  ir::Expr bind_cast(const syntax::Expr& expr);
  ir::Expr bind_subscript(const syntax::Expr& expr);
  ir::Expr bind_in_list(const syntax::Expr& expr);
  std::optional<syntax::Expr> any_of_parameter(const syntax::Expr& expr);
  bool is_compared_by_elements(const syntax::Expr& expr);
  void compare_arrays(ir::Op op, ir::Expr& left, ir::Expr& right, ir::SourceLocation where);
  ir::Expr bind_any_of_elements(const syntax::Expr& expr);
  std::optional<ir::Expr> bind_any_of_text(const syntax::Expr& expr);
  ir::Expr bind_sequence(const syntax::Expr& expr);
  ir::Expr bind_last_value(const syntax::Expr& expr);
  ir::Expr bind_like(const syntax::Expr& expr);
  ir::Expr bind_any(const syntax::Expr& expr);
  ir::Expr bind_between(const syntax::Expr& expr);
  ir::Expr bind_call(const syntax::Expr& expr);
  ir::Expr bind_aggregate(const syntax::Expr& expr);
  // A call of a function whose body is an expression.
  ir::Expr bind_routine(const syntax::Expr& expr, const syntax::Procedure& routine);
  ir::Expr negate_if(bool negated, ir::Expr expr);
  ir::Expr key_of_json(ir::Expr json);
  ir::Expr scalar_of_json(ir::Expr json, const Type& target);
  ir::Expr compare(ir::Op op, ir::Expr left, ir::Expr right, ir::SourceLocation where);
  void spell_as_array(ir::Expr& literal, const ir::Expr& array);
  // An array that is a constant, a variable or a parameter, for a column. Nothing: it is another expression.
  std::optional<ir::Expr> bind_array_for(const syntax::Expr& expr, const Type& target, std::string_view what);
  ir::Expr text_of_array(VariableId variable, ir::SourceLocation where);
  VariableId bind_array(const syntax::Expr& expr, std::string_view construct);

  Names& names_;
  std::deque<std::string>& strings_;
  std::span<const RowSource> sources_;
  QueryNames* query_ = nullptr;
  std::vector<ir::Aggregate>* aggregates_ = nullptr;
  bool in_aggregate_ = false;
};

// The substitute for the functions that ask for the time.
inline constexpr std::string_view kTimeAdvice =
    "use LOCALTIMESTAMP, the call's time without time zone, which is logged with the call and the same at "
    "replay; or "
    "pass the time as an argument";

// Returns whether the database itself has a function of this name, aggregates included.
bool is_own_function(std::string_view name);
// Returns the expression that a function's body returns, if that is all it does. `with_branches`: IF may
// choose among several, which are one CASE then.
std::optional<syntax::Expr> expression_of(const syntax::Procedure& routine, bool with_branches);
// Returns whether PostgreSQL converts an argument of one type to a parameter of the other without a cast.
bool converts_implicitly(const Type& from, const Type& to);
// Binds the argument of a parameter, with its own digits and characters: PostgreSQL ignores a parameter's
// modifiers. `what` names the routine.
ir::Expr argument_for(ir::Expr value, const Type& parameter, size_t number, const syntax::Procedure& routine);
// The type that a function says it returns, without modifiers.
Type result_type(const syntax::Procedure& routine, const Names& names);
// Refuses a function that returns rows.
void check_returns_value(const syntax::Procedure& routine, ir::SourceLocation where);
// A function that returns rows: its columns, and SELECT of them from its query.
std::vector<std::pair<syntax::Name, syntax::TypeName>> columns_of_rows(const syntax::Procedure& routine,
                                                                       const Names& names);
syntax::Query query_of_rows(const syntax::Procedure& routine, const Names& names);
// Pairs a call's arguments with the parameters that take some; those that are left out have defaults.
// `takes_out`: CALL names those of OUT parameters, too.
std::vector<const syntax::Expr*> arguments_of(const syntax::Procedure& routine,
                                              const std::vector<syntax::Expr>& args,
                                              ir::SourceLocation where);

// Refuses a name that is no function, with advice.
// Refuses a function that a query has called so with these arguments, if there is none of this name.
void check_query_function(std::string_view name, std::span<const ir::Expr> args, ir::SourceLocation where);
// The arguments of one of PostgreSQL's functions, in the order of its parameters, where some are named.
std::vector<syntax::Expr> in_order_of_parameters(const syntax::Expr& call);
void check_function(std::string_view name, ir::SourceLocation where);

// Binds a scalar function's call over bound arguments; not an aggregate, not cardinality(). The caller has
// checked the function. `own_digits`: whether numbers keep their own digits, as in a session's query.
ir::Expr bind_function(const std::string& name, std::vector<ir::Expr> args, ir::SourceLocation where,
                       bool own_digits = false);

// extract() and date_trunc(), of a unit and a time or an interval.
ir::Expr bind_extract(std::string_view name, std::vector<ir::Expr> args, ir::SourceLocation where);
ir::Expr bind_truncation(std::string_view name, std::vector<ir::Expr> args, ir::SourceLocation where);
// age(), justify_days() and its like, and make_interval().
ir::Expr bind_interval_function(ir::Function function, std::string_view name, std::vector<ir::Expr> args,
                                ir::SourceLocation where);
// timezone(zone, time), which AT TIME ZONE stands for: of a moment what a clock there shows, and the other
// way round. The zone is UTC.
ir::Expr bind_time_zone(std::vector<ir::Expr> args);
// Operators of which one side at least is a time or an interval; what PostgreSQL lacks is refused.
ir::Expr bind_time_arithmetic(ir::Op op, ir::Expr left, ir::Expr right, ir::SourceLocation where);

bool is_aggregate(std::string_view function);

}  // namespace mneme
