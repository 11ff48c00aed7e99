// The typed intermediate representation of stored procedures: one IR, three readers.
//
// Flow        SQL text -> parser -> binder -> Program (this) -> interpreter, analyzer, C++ emitter
//             (procedures/native/emitter.h).
// Invariants  every name is resolved, every conversion is an explicit kCast: the two sides of an operator
//             have the type kinds (and, for numeric +, -, comparisons, the scale) that the operator works on.
//             control flow is structured; every database operation is an Operation with its table, access
//             path, key expressions and columns spelled out. RECORD variables are spelled out as one variable
//             a field. a Program is constant once bound: statements and operations may be pointed at.
// Semantics   PostgreSQL 15's, for all that is accepted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/strong_id.h"
#include "engine/schema/catalog.h"
#include "engine/schema/type.h"
#include "engine/schema/value.h"
#include "procedures/ir/node_list.h"
#include "procedures/ir/sql_error.h"

namespace mneme {

using ProcedureId = StrongId<struct ProcedureIdTag>;
using VariableId = StrongId<struct VariableIdTag>;
using OperationId = StrongId<struct OperationIdTag>;  // counts within its procedure, in program order

class AnyQuery;

}  // namespace mneme

namespace mneme::ir {

struct SourceLocation {
  uint32_t line = 0;  // from 1
  uint32_t column = 0;
};

enum class ExprKind : uint8_t {
  kConstant,   // constant
  kVariable,   // variable
  kColumn,     // column of the row of `source` (0: the operation's table, 1: the joined table)
  kAggregate,  // the result of the operation's aggregate number `aggregate`
  kUnary,      // op(args[0])
  kBinary,     // args[0] op args[1]
  // args: condition, result, condition, result, ..., else (always there; NULL where SQL left it out)
  kCase,
  kFunction,      // function(args...)
  kCast,          // args[0] converted to `type`; see explicit_cast
  kArrayElement,  // array variable `variable`, subscript args[0] (from 1); NULL when out of bounds
  kInArray,       // args[0] = ANY (array variable `variable`)
  kInList,        // args[0] IN (args[1], ...)
  kQuery,         // what query number `query` of a session's statement says of args (query/query_plan.h)
};

enum class Op : uint8_t {
  kNone,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kNegate,  // over integers, numeric (no division), double
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIsDistinct,
  kIsNotDistinct,
  kAnd,
  kOr,
  kNot,  // three-valued
  kIsNull,
  kIsNotNull,
  kIsTrue,
  kIsNotTrue,
  kIsFalse,
  kIsNotFalse,
  kConcat,  // ||
};

enum class Function : uint8_t {
  kNone,
  kCoalesce,
  kNullIf,
  kGreatest,
  kLeast,
  kAbs,
  kSign,
  kFloor,
  kCeil,
  kRound,
  kTrunc,
  kMod,
  kSqrt,
  kPower,
  // substring(text, from [, count]), position(text, wanted), as strpos() has them; trim(text [, characters]).
  kLength,
  kLower,
  kUpper,
  kSubstring,
  kLeft,
  kRight,
  kTrim,
  kLtrim,
  kRtrim,
  kLpad,
  kRpad,
  kReplace,
  kPosition,
  kRepeat,
  kReverse,
  kInitcap,
  kSplitPart,  // split_part(text, separator, number)
  kTranslate,  // translate(text, characters, their replacements)
  kStartsWith,
  kAscii,
  kChr,    // chr(code point)
  kToHex,  // to_hex(int or bigint)
  kExp,
  kLn,
  kLog,  // to the base 10
  kOctetLength,
  kBitLength,
  // args[0] is a timestamp, a date or an interval, and a unit the number of a TimeUnit
  // (times/interval.h).
  kExtract,       // extract(time, unit)
  kTruncateTime,  // date_trunc(time, unit)
  kAddInterval,   // add_interval(timestamp, months, days, microseconds, times)
  // Over intervals: see times/interval.h and times/time_functions.h.
  kMoveTime,          // move_time(timestamp, interval)
  kTimeDifference,    // time_difference(timestamp, timestamp)
  kAge,               // age(timestamp, timestamp)
  kMultiplyInterval,  // multiply_interval(interval, double)
  kDivideInterval,    // divide_interval(interval, double)
  kJustifyDays,
  kJustifyHours,
  kJustifyInterval,
  kMakeInterval,    // make_interval(years, months, weeks, days, hours, minutes, seconds)
  kMatches,         // matches(text, regular expression, 'i': in any case, or '')
  kLike,            // like(text, pattern, escape): the escape is one character, or none
  kNextValue,       // nextval(args[0]): of a sequence, by its table's number
  kCurrentValue,    // currval(args[0])
  kLastValue,       // lastval(); args[0]: 0
  kRandomUuid,      // gen_random_uuid(); args[0]: 0
  kSetValue,        // setval(args[0], args[1] [, whether it has been drawn])
  kConcatFunction,  // concat(): NULL counts as ''
  kCardinality,     // of array variable `variable`; NULL for a NULL array
  kArrayText,       // the text of array variable `variable`; args[0]: a NULL of its elements' type
};

struct Expr {
  ExprKind kind = ExprKind::kConstant;
  Op op = Op::kNone;
  Function function = Function::kNone;
  uint8_t source = 0;
  // kCast to a bounded string: written as CAST or ::, so that what is too long is cut; an assignment's cast
  // refuses it unless only blanks are lost.
  bool explicit_cast = false;
  // kCast to a varchar(n), or of a number that keeps its own digits, for a parameter: nothing is cut, not
  // even blanks, and nothing rounded, as PostgreSQL ignores a parameter's modifiers.
  bool whole_cast = false;
  // For the binder alone: a numeric or char(n) whose digits after the point, or blanks at the end, depend on
  // the value at hand in PostgreSQL, while here they follow from the type. So its text is refused wherever it
  // would be seen.
  bool text_varies = false;
  // kAnd, kOr: part of the chain of the same operator that the node around it is (join())
  bool joined = false;
  Type type;
  VariableId variable;
  ColumnId column;
  uint32_t aggregate = 0;
  uint32_t query = 0;
  // kInList: so many of the first elements are evaluated even if one before them is equal, as PostgreSQL
  // makes an array of them first.
  uint32_t eager_elements = 0;
  Value constant;  // text points into the Program's string pool
  NodeList<Expr> args;
  SourceLocation where;
};

template <typename Visit>
void for_each_child_list(Expr& expr, Visit&& visit) {
  visit(expr.args);
}

// a op b op c ..., of kAnd or kOr: boolean, its parts evaluated from the left. At least one part.
inline Expr join(Op op, std::span<Expr> parts) {
  return join_chain(parts, [op](Expr left, Expr right) {
    Expr both;
    both.kind = ExprKind::kBinary;
    both.op = op;
    both.type.kind = TypeKind::kBoolean;
    both.where = left.where;
    both.args.push_back(std::move(left));
    both.args.push_back(std::move(right));
    return both;
  });
}

// How an operation finds its rows.
struct AccessPath {
  enum class Kind : uint8_t {
    kPoint,  // a whole key of a unique index: at most one row
    kRange,  // equalities on the index's first columns, then perhaps bounds on the next: rows in key order
  };
  struct Bound {
    Expr value;
    bool inclusive;
  };
  // Equality with one value, or (IN, = ANY) with each of several: `values` as written, or the elements of the
  // array, tried in the column's order, each once.
  struct Equality {
    std::vector<Expr> values;  // cast to a type that compares with the column's
    VariableId array;          // valid: = ANY (array)
  };

  Kind kind = Kind::kRange;
  IndexId index;
  std::vector<Equality> equalities;  // for the first columns of the index; empty: the whole index
  std::optional<Bound> lower;
  std::optional<Bound> upper;
};

struct Aggregate {
  enum class Kind : uint8_t { kCountRows, kCount, kSum, kMin, kMax };
  Kind kind;
  bool distinct = false;
  std::optional<Expr> argument;  // absent for kCountRows
  Type type;
};

struct OrderKey {
  Expr expr;
  bool descending = false;
};

struct Output {
  Expr expr;
  VariableId into;
  // `expr` casts what the statement selects to the variable's type, and rows may be found that are not taken.
  // PostgreSQL casts once a row is taken: an error of the cast is one of a row that INTO takes, or an
  // iteration runs for, alone. Until then rows have selected().
  bool cast_when_taken = false;

  const Expr& selected() const { return cast_when_taken ? expr.args[0] : expr; }
};

struct Assignment {
  // kAdd, kSubtract: the column, an integer of at most 8 bytes, changes by `value`, modulo its width, in one
  // atomic step: of slices only, where others add to it at the same time (analyzer/dependency_graph.h).
  enum class How : uint8_t { kSet, kAdd, kSubtract };

  ColumnId column;
  Expr value;  // over the old row and the variables; kSet: cast to the column's type
  How how = How::kSet;
};

enum class OperationKind : uint8_t { kSelect, kInsert, kUpdate, kDelete };

// One table access of an operation: the table, how rows are found, and what of them is kept.
struct TableAccess {
  TableId table;
  AccessPath path;
  // what the path does not check; over this row and, in a join, the outer one
  std::optional<Expr> filter;
  std::vector<ColumnId> columns_read;  // predicate, key, ordering and result columns, sorted
};

// What SELECT ... FOR UPDATE and its kind do with a row that another transaction has locked: wait for it,
// fail (NOWAIT), or leave it out (SKIP LOCKED).
enum class LockWait : uint8_t { kWaits, kNoWait, kSkipsLocked };

struct Operation {
  OperationId id;
  OperationKind kind = OperationKind::kSelect;
  SourceLocation where;
  std::string text;  // one line, as the user wrote it, for listings

  // The rows: access[0], and for a join access[1], whose path and filter may use columns of access[0]'s row.
  // An insert has access[0] for its table alone.
  std::vector<TableAccess> access;
  // update, delete, select ... FOR UPDATE: the rows are found in order to be changed
  bool for_update = false;
  LockWait lock_wait =
      LockWait::kWaits;  // with for_update, of any query: what becomes of rows that others have
  // select ... FOR UPDATE: others are to know which rows it keeps (RowAccess::lock_row). Machine code keeps
  // none: its transaction is one call, and short.
  bool keeps_rows = false;
  std::vector<ColumnId> columns_written;  // of access[0]; all of them for insert and delete, sorted

  // select: rows are filtered, ordered, cut, and put into the outputs' variables. With aggregates and no
  // groups there is one row.
  std::vector<Aggregate> aggregates;
  // select: the rows that agree in these become one, and so the outputs, `having` and the order are over one
  // of the group's rows and its aggregates. GROUP BY's keys, or all that DISTINCT selects.
  std::vector<Expr> groups;
  std::optional<Expr> having;   // with groups
  std::vector<OrderKey> order;  // ends in the primary key wherever SQL leaves the order of rows open
  // The path already delivers `order`: rows stream and LIMIT stops the scan.
  bool order_is_path_order = false;
  bool path_backward = false;
  // One aggregate, min() or max() of the column by which the path's rows come: the first row decides it.
  bool first_row_decides = false;
  std::optional<Expr> limit;
  std::optional<Expr> offset;
  bool strict = false;  // INTO STRICT: not exactly one row is an error
  // select: a query of a form that the rest of this can't say (interpreter/any_query.h), which gives the
  // outputs' values; there is no access then, and `by_chance` says so. Null: there is none.
  std::shared_ptr<const AnyQuery> any_query;
  // Why what it finds may be another thing in another run on equal tables; empty where it may not.
  std::string by_chance;

  std::vector<Assignment> assignments;  // update: SET
  std::vector<Expr> values;             // insert: one a column
  // select: the select list. insert, update, delete: RETURNING, over the new row (delete: the old one). Rows
  // beyond the first are an error for RETURNING INTO, and ignored for SELECT INTO; no row sets the variables
  // NULL.
  std::vector<Output> outputs;

  VariableId found;      // FOUND, valid where the procedure reads it
  VariableId row_count;  // ROW_COUNT, valid where the procedure asks for it

  // The variables that expressions of this operation read, and those it sets (outputs, found). Sorted.
  std::vector<VariableId> uses;
  std::vector<VariableId> defines;
};

enum class StatementKind : uint8_t {
  kAssign,       // variable := expr
  kArrayAppend,  // array variable := array_append(variable, expr)
  kArrayAssign,  // array variable := array variable `source_array`, or the empty array when that is not valid
  kIf,           // expr: condition; body, else_body
  kForRange,     // variable runs from expr to `limit` (REVERSE: down), by `step`; body
  kForQuery,     // operation's rows, all found before the first iteration; outputs set for each; body
  kWhile,        // while expr; body (LOOP: a true constant)
  kExit,         // leaves the loop `loop_depth` levels up (0: the innermost) when expr is true
  kContinue,     // the same, to its next iteration
  kReturn,
  kRaise,      // RAISE: message, args; at kException the user's rollback, else a notice to the client
  kTry,        // body; an error in it takes back what it changed, sets sqlstate and message, runs else_body
  kOperation,  // operation
};

// How serious what RAISE says is, from the least.
enum class RaiseLevel : uint8_t { kDebug, kLog, kInfo, kNotice, kWarning, kException };

struct Statement {
  StatementKind kind = StatementKind::kAssign;
  bool reverse = false;
  uint32_t loop_depth = 0;
  uint32_t mark = 0;  // what is said of it beside the IR (marked_body.h); 0: nothing
  SourceLocation where;
  VariableId variable;
  VariableId source_array;
  VariableId found;  // kForRange, kForQuery: FOUND, set after the loop, valid where the procedure reads it
  std::optional<Expr> expr;
  std::optional<Expr> limit;
  std::optional<Expr> step;
  OperationId operation;
  const char* sqlstate = sqlstate::kRaise;  // kRaise
  std::string message;     // kRaise: the format, with % for each argument and %% for a percent sign
  std::vector<Expr> args;  // kRaise: the message's arguments, then the detail and the hint
  RaiseLevel level = RaiseLevel::kException;  // kRaise
  bool has_detail = false;                    // kRaise
  bool has_hint = false;
  // kRaise of what a handler has caught: the variable's text is the SQLSTATE. kTry: the variables that an
  // error sets.
  VariableId sqlstate_variable;
  VariableId message_variable;
  NodeList<Statement> body;
  NodeList<Statement> else_body;
};

template <typename Visit>
void for_each_child_list(Statement& statement, Visit&& visit) {
  visit(statement.body);
  visit(statement.else_body);
}

struct Variable {
  std::string name;  // as written; "record.field" for a RECORD's field
  Type type;
};

struct Parameter {
  VariableId variable;
  bool inout = false;  // its value comes back
  bool out = false;    // it is NULL as the call begins: OUT, or a function's result; `inout`, too
};

struct Procedure {
  ProcedureId id;
  std::string name;
  SourceLocation where;
  bool is_function = false;
  bool has_result = false;          // a function's last parameter is what it returns
  bool is_sql = false;              // LANGUAGE sql
  std::vector<Variable> variables;  // parameters first, in order
  std::vector<Parameter> parameters;
  // The call's time, where the procedure asks for it: a hidden argument after the others, fixed at the call
  // and logged.
  VariableId call_time;
  VariableId found;
  std::vector<Operation> operations;
  std::vector<Statement> body;
  bool writes = false;  // some operation is not a select
  // The line of its first operation that chance decides, and why; or why its calls are not replayed.
  std::string by_chance;
  bool draws = false;  // numbers of sequences, or uuids
  // A function that returns rows: what \df shows of them, as TABLE(a integer). Its operation is its query,
  // and its body empty: who calls it binds the query into its own.
  std::string rows;
  bool has_any_query() const {
    for (const Operation& operation : operations) {
      if (operation.any_query) return true;
    }
    return false;
  }
  // A call in the log would not say what was done.
  bool is_logged_by_rows() const { return writes && !by_chance.empty(); }
  bool is_logged_by_call() const { return writes && by_chance.empty(); }
};

}  // namespace mneme::ir
