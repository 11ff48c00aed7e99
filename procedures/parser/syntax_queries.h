// Syntax of expressions and queries: the part of the syntax tree (syntax.h) that procedures, sessions and
// definitions share.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "procedures/ir/ir.h"
#include "procedures/ir/window_frame.h"

namespace mneme::syntax {

using ir::SourceLocation;

struct Name {
  std::string text;  // empty: not written
  SourceLocation where;

  bool empty() const { return text.empty(); }
};

// TypeName::base of table%ROWTYPE.
inline constexpr const char* kRowType = "%rowtype";
// TypeName::base of what a function returns that has no result.
inline constexpr const char* kVoidType = "void";

struct TypeName {
  std::string base;                 // "int", "double precision", ...; empty for table.column%TYPE
  std::vector<uint32_t> modifiers;  // (n) or (p,s)
  bool is_array = false;
  bool is_own = false;  // written behind a schema of the user's or public
  Name table;
  Name column;
  SourceLocation where;
};

enum class ExprKind {
  kNull,
  kBoolean,     // text: "true" or "false"
  kInteger,     // text: digits
  kDecimal,     // text: digits, a point, digits
  kString,      // text, without its quotes
  kTimestamp,   // TIMESTAMP 'text'
  kEmptyArray,  // ARRAY[]
  kReference,   // text, or qualifier.text
  kParameter,   // $n: text: the digits
  kDefault,     // DEFAULT, as a value of INSERT
  kUnary,       // op args[0]; kAdd: + args[0]
  kBinary,      // args[0] op args[1]
  kCase,        // condition, result, ..., else (`has_else`); after the subject where `has_subject`
  kCall,        // text(args); `distinct`, `star`
  kCast,        // args[0] to type
  kSubscript,   // args[0][args[1]]
  kField,       // (args[0]).text: of a composite value
  kBits,        // args[0] text args[1], or ~args[0]: text: &, |, #, <<, >> or ~
  kInList,      // args[0] IN (args[1], ...); `negated`
  kAny,         // args[0] op ANY (args[1])
  kBetween,     // args[0] BETWEEN args[1] AND args[2]; `negated`
  kLike,        // args[0] LIKE args[1]; `negated`, `ignores_case`; text: the escape character, or empty: none
  kRow,         // (args[0], args[1], ...)
  kArray,       // ARRAY[args[0], ...], of one at least
  kMatches,     // args[0] ~ args[1], a regular expression; `negated`, `ignores_case`
  kNamed,       // text => args[0], an argument of a call
  // The kinds from here on look at the rows of `query`. Only a session's statements may have them.
  kScalarQuery,  // (query)
  kExists,       // EXISTS (query)
  kInQuery,      // args[0] IN (query); `negated`
  kAnyQuery,     // args[0] op ANY (query)
  kAllQuery,     // args[0] op ALL (query)
  kArrayQuery,   // ARRAY(query)
  kRowQuery,     // args[0], a row, = (query); `negated`
};

// kCall's text of the only function outside of pg_catalog.
inline constexpr const char* kExpandArray = "information_schema._pg_expandarray";

struct Query;
struct Operation;
struct Expr;
struct OrderItem;
struct Window;

struct Expr {
  ExprKind kind = ExprKind::kNull;
  ir::Op op = ir::Op::kNone;
  bool negated = false;
  bool distinct = false;
  bool star = false;
  bool has_subject = false;
  bool has_else = false;
  bool ignores_case = false;
  bool is_all = false;        // kAny: ALL in its place
  bool joined = false;        // as ir::Expr's
  bool within_group = false;  // kCall: `order` is that of WITHIN GROUP
  std::string text;
  std::string qualifier;
  std::string column_name;  // kCall, kCase: what PostgreSQL names a column after, where it is not `text`
  TypeName type;
  NodeList<Expr> args;
  std::shared_ptr<const Query> query;
  std::shared_ptr<const Expr> filter;                   // kCall: FILTER (WHERE ...)
  std::shared_ptr<const std::vector<OrderItem>> order;  // kCall: ORDER BY among its arguments
  std::shared_ptr<const Window> window;                 // kCall: OVER ...
  SourceLocation where;
};

template <typename Visit>
void for_each_child_list(Expr& expr, Visit&& visit) {
  visit(expr.args);
}

inline Expr make_expression(ExprKind kind, SourceLocation where) {
  Expr expr;
  expr.kind = kind;
  expr.where = where;
  return expr;
}

inline Expr make_unary(ir::Op op, Expr arg, SourceLocation where) {
  Expr expr = make_expression(ExprKind::kUnary, where);
  expr.op = op;
  expr.args.push_back(std::move(arg));
  return expr;
}

inline Expr make_binary(ir::Op op, Expr left, Expr right) {
  Expr expr = make_expression(ExprKind::kBinary, left.where);
  expr.op = op;
  expr.args.push_back(std::move(left));
  expr.args.push_back(std::move(right));
  return expr;
}

inline Expr make_call(std::string name, std::vector<Expr> args, SourceLocation where) {
  Expr expr = make_expression(ExprKind::kCall, where);
  expr.text = std::move(name);
  expr.args = std::move(args);
  return expr;
}

// a op b op c ..., of AND or OR. At least one part.
inline Expr join(ir::Op op, std::span<Expr> parts) {
  return join_chain(
      parts, [op](Expr left, Expr right) { return make_binary(op, std::move(left), std::move(right)); });
}

// qualifier.name, or name where the qualifier is empty.
inline Expr reference(std::string qualifier, std::string name, SourceLocation where) {
  Expr expr = make_expression(ExprKind::kReference, where);
  expr.qualifier = std::move(qualifier);
  expr.text = std::move(name);
  return expr;
}

// A variable, record or record's field that a value goes to.
struct Target {
  Name name;
  Name field;
};

struct SelectItem {
  bool star = false;
  Name qualifier;  // of qualifier.*
  Expr expr;
  Name alias;
};

struct TableReference {
  Name table;
  Name alias;
};

struct OrderItem {
  Expr expr;
  bool descending = false;
  std::optional<bool> nulls_first = std::nullopt;  // as written
};

struct FrameBound {
  ir::FrameBoundKind kind = ir::FrameBoundKind::kCurrentRow;
  std::optional<Expr> offset;  // kPreceding, kFollowing
};

struct WindowFrame {
  ir::FrameMode mode = ir::FrameMode::kRange;
  FrameBound start;
  FrameBound end;
  ir::FrameExclusion exclusion = ir::FrameExclusion::kNone;
};

// What stands behind OVER, or in parentheses behind WINDOW name AS.
struct Window {
  SourceLocation where;
  Name base;             // the window that it extends; empty: none
  bool is_base = false;  // OVER name: it is that window, and nothing else is written
  std::vector<Expr> partition;
  std::vector<OrderItem> order;
  std::optional<WindowFrame> frame;
};

struct NamedWindow {
  Name name;
  Window window;
};

// A query's FROM: tables, queries and functions, and what they are joined by.
enum class JoinKind { kInner, kLeft, kRight, kFull };

struct FromItem {
  enum class Kind { kTable, kQuery, kFunction, kJoins };

  Kind kind = Kind::kTable;
  SourceLocation where;
  std::string schema;  // kTable, as written; empty: none
  Name name;           // kTable, kFunction
  std::shared_ptr<const Query> query;
  bool lateral = false;
  std::vector<Expr> args;        // kFunction
  bool with_ordinality = false;  // kFunction
  Name alias;
  std::vector<Name> column_aliases;
  // kJoins: the first item, and what is joined to all before it.
  struct Join;
  std::vector<FromItem> first;
  std::vector<Join> joins;
};

struct FromItem::Join {
  JoinKind kind = JoinKind::kInner;
  bool natural = false;
  std::vector<Name> using_columns;
  std::optional<Expr> on;
  FromItem item;
};

struct SelectCore {
  SourceLocation where;
  bool distinct = false;
  std::vector<Expr> distinct_on;
  std::vector<SelectItem> items;
  std::vector<FromItem> from;
  std::optional<Expr> condition;
  // Without GROUPING SETS there is one set.
  std::vector<std::vector<Expr>> grouping_sets;
  bool distinct_sets = false;  // GROUP BY DISTINCT
  bool has_group = false;
  std::optional<Expr> having;
  std::vector<NamedWindow> windows;
};

// One part of a query: a SELECT, VALUES, or a query in parentheses.
struct QueryPart {
  std::optional<SelectCore> select;
  std::vector<std::vector<Expr>> rows;
  std::shared_ptr<const Query> query;
  SourceLocation where;
};

// FOR UPDATE, NO KEY UPDATE, SHARE or KEY SHARE.
struct LockClause {
  SourceLocation where;
  std::string_view words;  // "FOR NO KEY UPDATE"
  ir::LockWait wait = ir::LockWait::kWaits;
  bool is_shared = false;
  std::vector<Name> tables;  // OF; none: all of FROM
};

struct Query {
  enum class Set { kUnion, kExcept, kIntersect };
  struct More {
    Set set;
    bool all;
    QueryPart part;
  };
  struct CommonTable {
    Name name;
    std::vector<Name> columns;
    std::shared_ptr<const Query> query;
    std::shared_ptr<const Operation> change;  // INSERT, UPDATE or DELETE in the query's place
  };

  SourceLocation where;
  std::string text;  // as written, on one line
  std::vector<CommonTable> with;
  bool recursive = false;  // WITH RECURSIVE
  QueryPart first;
  std::vector<More> more;  // in order; INTERSECT binds closer than the others
  std::vector<OrderItem> order;
  std::optional<Expr> limit;
  std::optional<Expr> offset;
  bool with_ties = false;                    // FETCH FIRST ... WITH TIES
  std::optional<SourceLocation> for_update;  // of the last of `locks`
  std::vector<LockClause> locks;

  // Whether its own WITH changes rows.
  bool changes_in_with() const {
    return std::ranges::any_of(with, [](const CommonTable& table) { return table.change != nullptr; });
  }
};

// INSERT ... ON CONFLICT.
struct OnConflict {
  SourceLocation where;
  std::vector<Name> columns;  // of the unique key that is meant
  std::optional<Expr> rows;   // WHERE behind them: of the partial index that is meant
  Name constraint;            // or its name; neither: all unique keys
  bool updates = false;       // DO UPDATE; else DO NOTHING
  std::vector<Name> set_columns;
  std::vector<Expr> set_values;
  std::vector<Expr> conditions;
};

struct Operation {
  ir::OperationKind kind = ir::OperationKind::kSelect;
  SourceLocation where;
  std::string text;  // as written, on one line
  std::vector<TableReference> tables;
  std::vector<Expr> conditions;   // WHERE and ON, joined by AND
  std::vector<SelectItem> items;  // select list, or RETURNING
  std::vector<Target> into;
  bool strict = false;
  bool distinct = false;       // select of a procedure: DISTINCT
  std::vector<Expr> groups;    // select of a procedure: GROUP BY
  std::optional<Expr> having;  // select of a procedure
  std::vector<OrderItem> order;
  std::optional<Expr> limit;
  std::optional<Expr> offset;
  std::optional<SourceLocation> for_update;
  std::vector<Name> columns;    // insert: as listed (none: all); update: SET's left sides
  std::vector<Expr> values;     // insert: VALUES' first row; update: SET's right sides
  bool gives_defaults = false;  // insert: DEFAULT VALUES
  // A value may be given for a column that is GENERATED ALWAYS AS IDENTITY: OVERRIDING SYSTEM VALUE, a COPY,
  // or an operation whose own values have been checked already.
  bool gives_identities = false;
  // insert: the values for identity columns count for nothing: OVERRIDING USER VALUE.
  bool ignores_identities = false;
  // insert: the rows of VALUES after the first. Each is an insert of its own.
  std::vector<std::vector<Expr>> more_rows;
  std::optional<OnConflict> on_conflict = std::nullopt;
  std::shared_ptr<const Query> query;  // insert: whose rows are inserted; select of a session: the whole
  std::vector<FromItem> from;          // update's FROM, delete's USING
  // The WITH queries that a session writes in front of an insert, update or delete.
  std::vector<Query::CommonTable> with = {};
  bool recursive = false;
  bool merges = false;  // MERGE, as a query whose WITH has a change for each WHEN

  // The insert of one of them.
  Operation with_row(const std::vector<Expr>& row) const {
    Operation one = *this;
    one.values = row;
    one.more_rows.clear();
    return one;
  }
};

}  // namespace mneme::syntax
