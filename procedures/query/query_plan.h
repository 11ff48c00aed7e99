// Query plan: a session's SELECT as the runner carries it out (query_runner.h).
//
// Flow        syntax::Query -> query_binder.h -> QueryPlan -> query_runner.h
// Rows        a SELECT's FROM fills one frame: a flat row that has a slot for each column of each of its
//             tables, wherever that table stands in the order of the joins. Expressions name slots as columns
//             of source 0; a table's own condition, which is looked at while the table is read, names the
//             table's columns as source 1.
// Queries     a query inside of an expression is a kQuery: what it takes of the row around it are arguments
//             of that expression, put into variables before it runs.
// Invariants  a plan is constant once bound, and refers to the catalog that it was bound to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/schema/catalog.h"
#include "engine/transaction/row_access.h"
#include "procedures/binder/command_binder.h"
#include "procedures/ir/ir.h"
#include "procedures/ir/window_frame.h"

namespace mneme::query {

struct QueryPlan;
struct FromPlan;

// Slots of the frame.
struct Slots {
  uint32_t begin = 0;
  uint32_t count = 0;
  uint32_t end() const { return begin + count; }
};

struct Column {
  std::string name;  // as PostgreSQL names it, "?column?" included
  Type type;
  std::optional<ColumnOrigin> origin{};
};

// One table, query or function of FROM, in the order in which the joins take them.
struct FromStep {
  enum class Source {
    kTable,     // rows of a table, by its access path
    kQuery,     // rows of a query, or of a group of joins
    kSets,      // set-returning functions side by side, each a column: rows until the longest ends
    kProvided,  // rows that a provider makes: a table that describes the database
    kWorking,   // the rows that the recursion around it found last, or that a change in WITH has returned
  };
  enum class Kind { kInner, kLeft, kFull };

  Source source = Source::kTable;
  Kind kind = Kind::kInner;
  Slots slots;
  std::string name;  // its alias

  // kTable: access[1] of an operation, whose path may use slots of the steps before it.
  ir::Operation lookup;
  bool is_lookup = false;  // some key column is fixed
  // FOR UPDATE and its kind: the last slot is the found row's handle.
  bool gives_handle = false;
  std::vector<ColumnId>
      columns;  // those that are wanted, with the table's numbers; slots.begin + number each
  std::unique_ptr<QueryPlan> query;
  std::unique_ptr<FromPlan> group;  // shares the frame's numbers
  struct SetFunction {
    enum class Kind {
      kElements,
      kSubscripts,
      kExpanded,  // (element, number from 1), as text
      kSeries,
      kTimes,    // two timestamps, and the step, an interval
      kNumbers,  // as kSeries, of numeric
      kMatches,  // of args[0] with the pattern args[1], by the options args[2]: each one's groups, an array
    };           // of args[0]'s array; from args[0] to args[1] by args[2]
    Kind kind;
    std::vector<ir::Expr> args;
    Type result;
  };
  std::vector<SetFunction> sets;
  bool with_ordinality = false;  // the last slot counts the sets' rows from 1
  uint32_t provided = 0;
  uint32_t recursion = 0;  // kWorking
  // Depends on slots of the steps before it: it runs again for each of their rows.
  bool is_lateral = false;
  std::vector<std::pair<VariableId, ir::Expr>> inputs;

  // Where there are keys, the step's rows are put into a hash table once: outer over the steps before it,
  // inner over its own slots. Each pair is equal and of one type.
  std::vector<ir::Expr> outer_keys;
  std::vector<ir::Expr> inner_keys;
  std::optional<ir::Expr> match;   // of the row with those before it: decides whether it is joined
  std::optional<ir::Expr> filter;  // of the joined row: decides whether there is one
};

// Column number `number` of the rows at hand.
inline ir::Expr output_column(uint32_t number, const Type& type, ir::SourceLocation where) {
  ir::Expr column;
  column.kind = ir::ExprKind::kColumn;
  column.column = ColumnId{number};
  column.type = type;
  column.where = where;
  return column;
}

struct FromPlan {
  std::optional<ir::Expr> gate;  // evaluated once: without it there is no row
  std::vector<FromStep> steps;   // none: one row without columns
  Slots slots;                   // of all steps
  bool streams = false;          // the only step's rows are used as they are read
};

// A key by which rows are sorted.
struct RowOrder {
  ir::Expr expr;
  bool descending = false;
  bool nulls_first = false;
};

struct Aggregate {
  enum class Kind : uint8_t {
    kCountRows,
    kCount,
    kSum,
    kAverage,
    kMin,
    kMax,
    kEvery,
    kAny,
    kConcatenation,
    kArray,  // its text; NULLs are elements, too
    kBitAnd,
    kBitOr,
    kBitXor,
    kVariance,             // of the rows as a sample
    kPopulationVariance,   // of the rows as all that there are
    kDeviation,            // the root of kVariance
    kPopulationDeviation,  // the root of kPopulationVariance
    kRegression,           // `regression` of the pairs (argument, separator), that is y and x
    // These look at the rows in their order.
    kPercentile,      // the value between two, at the fraction `separator`
    kPercentileDisc,  // the first value at the fraction `separator`, or behind it
    kMode,            // the most frequent one
    kGrouping,        // grouping(): of the group, not of its rows
  };

  // What least squares say of y and x.
  enum class Regression : uint8_t {
    kNone,
    kCount,
    kAverageX,
    kAverageY,
    kSumXX,
    kSumYY,
    kSumXY,
    kSlope,
    kIntercept,
    kFit,  // r squared
    kCorrelation,
    kCovariance,        // of the rows as all that there are
    kSampleCovariance,  // of the rows as a sample
  };

  Kind kind = Kind::kCountRows;
  Regression regression = Regression::kNone;
  bool distinct = false;
  std::optional<ir::Expr> argument;
  std::optional<ir::Expr> separator;  // kConcatenation; a percentile's fraction; kRegression: x
  std::optional<ir::Expr> filter;
  std::vector<RowOrder> order;
  std::vector<ir::Expr> grouped;       // kGrouping: its arguments
  std::vector<uint32_t> grouped_keys;  // kGrouping: their numbers among the keys
  Type type;
};

// A window function: a value for each row, of the rows around it.
struct WindowFunction {
  enum class Kind : uint8_t {
    kAggregate,
    kRowNumber,
    kRank,
    kDenseRank,
    kPercentRank,
    kCumeDist,
    kNtile,
    kLag,
    kLead,
    kFirstValue,
    kLastValue,
    kNthValue,
  };
  struct Bound {
    ir::FrameBoundKind kind = ir::FrameBoundKind::kUnboundedPreceding;
    std::optional<ir::Expr> offset;  // evaluated once; kRange: of the ORDER BY column's type
  };

  Kind kind = Kind::kRowNumber;
  Aggregate aggregate;         // kAggregate
  std::vector<ir::Expr> args;  // the others
  ir::FrameMode mode = ir::FrameMode::kRange;
  Bound start;
  Bound end{ir::FrameBoundKind::kCurrentRow, std::nullopt};
  ir::FrameExclusion exclusion = ir::FrameExclusion::kNone;
  Type type;
};

using WindowOrder = RowOrder;

// The functions that see the rows in one order, which the rows are sorted into once.
struct WindowPlan {
  std::vector<ir::Expr> partition;
  std::vector<WindowOrder> order;
  std::vector<uint32_t> functions;
};

// Calls visit(expr) for each expression of the function that is evaluated for a row.
template <typename FunctionType, typename Visit>
void for_each_expression_of_window_function(FunctionType& function, Visit&& visit) {
  for (auto& arg : function.args) visit(arg);
  if (function.aggregate.argument) visit(*function.aggregate.argument);
  if (function.aggregate.separator) visit(*function.aggregate.separator);
  if (function.aggregate.filter) visit(*function.aggregate.filter);
}

struct SortKey {
  uint32_t column = 0;  // of the output row
  Type type;
  bool descending = false;
  bool nulls_first = false;
};

struct SelectPlan {
  uint32_t width = 0;  // of the frame
  FromPlan from;
  bool grouped = false;
  std::vector<ir::Expr> keys;  // over the frame; afterwards columns of source 0
  // The keys of each grouping set, by number; none: all are the only set. The others are NULL in its groups.
  std::vector<std::vector<uint32_t>> grouping_sets;
  std::vector<Aggregate> aggregates;
  std::optional<ir::Expr> having;
  // With window functions, the rows that HAVING leaves become rows of the functions' results and, behind
  // them, the `kept` columns and aggregates. The outputs, and all expressions of windows, are over these.
  std::vector<WindowFunction> window_functions;
  std::vector<WindowPlan> windows;
  std::vector<ir::Expr> kept;
  // With functions that give rows in the select list, each row that groups and windows leave is put into a
  // frame: first the `set_inputs`, then a slot for each function. `sets` has a step for each level of such
  // functions in each other's arguments. The outputs are over its frame.
  std::vector<ir::Expr> set_inputs;
  FromPlan sets;
  std::vector<ir::Expr> outputs;  // the columns, then what ORDER BY and DISTINCT ON need beside them
  bool distinct = false;
  std::vector<SortKey> distinct_on;  // the first row of those that agree in these
};

struct SetPlan {
  enum class Kind { kUnion, kExcept, kIntersect };
  Kind kind = Kind::kUnion;
  bool all = false;
  std::unique_ptr<QueryPlan> left;
  std::unique_ptr<QueryPlan> right;
  // Over a row of the left's or the right's; none: it is as it is.
  std::vector<ir::Expr> left_casts;
  std::vector<ir::Expr> right_casts;
};

// A table of WITH RECURSIVE: the rows of `first`, then those of `step` over the rows found last, until it
// finds no more.
struct RecursionPlan {
  uint32_t number = 0;  // among the statement's
  bool all = false;     // otherwise rows that are there already are dropped
  std::unique_ptr<QueryPlan> first;
  std::unique_ptr<QueryPlan> step;
  // Make the table's types of what a row of `first`, or of `step`, holds.
  std::vector<ir::Expr> first_casts;
  std::vector<ir::Expr> step_casts;
};

// FOR UPDATE and its kind, of one table: a row is locked once its place in the order has come, before LIMIT
// counts it.
struct RowLocking {
  uint32_t output = 0;  // the row's handle; NULL: there is none
  std::string table;    // as errors name it
  RowLockStrength strength = RowLockStrength::kExclusive;
  RowLockWait wait = RowLockWait::kWaits;
};

struct QueryPlan {
  std::vector<Column> columns;
  std::vector<RowLocking> locks;
  // Exactly one of the four is there; `rows` is the plan of VALUES.
  std::unique_ptr<SelectPlan> select;
  std::unique_ptr<SetPlan> set;
  std::unique_ptr<RecursionPlan> recursion;
  std::vector<std::vector<ir::Expr>> rows;

  std::vector<SortKey> sort;
  std::optional<ir::Expr> limit;
  std::optional<ir::Expr> offset;
  // FETCH FIRST ... WITH TIES: so many of the sort's keys tell whether a row ties with the last one; 0: none.
  size_t tie_keys = 0;
};

// A query inside of an expression: ExprKind::kQuery's `query` is its number.
struct Subquery {
  // kArray: its rows as an array's text. kCall: no query, but a provider's function of the arguments, or one
  // of the database's.
  // kRow: whether the only row of the query matches.
  enum class Kind { kScalar, kExists, kAny, kAll, kRow, kArray, kCall };

  Kind kind = Kind::kScalar;
  std::unique_ptr<QueryPlan> plan;
  // The expression's first arguments are put into `tested`, the others into `inputs`.
  std::vector<VariableId> tested;
  std::vector<VariableId> inputs;
  // kAny, kAll, kRow: over `tested` and the query's row. All must hold for the row to match.
  std::vector<ir::Expr> comparisons;
  bool is_equality = false;                // of one column: kAny may look it up
  uint32_t function = 0;                   // kCall
  const ir::Procedure* routine = nullptr;  // kCall: of the database's, which reads rows at most
  bool is_volatile = false;                // kCall
  // Gives the same rows whenever it runs.
  bool is_constant() const { return inputs.empty() && kind != Kind::kCall; }
};

// A table of WITH that an INSERT, UPDATE or DELETE makes. Whoever runs a query gives it the rows; among the
// working rows they stand first.
struct GivenTable {
  const syntax::Operation* change = nullptr;
  std::vector<Column> columns;  // none: it returns nothing
};

// A statement's queries: the outermost one, and those inside of expressions, by number.
struct BoundQueries {
  std::unique_ptr<QueryPlan> plan;
  std::vector<Subquery> subqueries;
  uint32_t recursions = 0;           // and given tables before them
  std::vector<uint32_t> given_read;  // the given tables that it reads
  // Constant parts that raise, as PostgreSQL has them raise before it looks at any row.
  std::vector<ir::Expr> raising;
  std::vector<TableId> tables;  // of the database, those that it reads
  bool locks_rows = false;      // by FOR UPDATE and its kind
  bool makes_rows = false;      // by functions, as many as their arguments say
};

}  // namespace mneme::query
