// Syntax tree: a .sql file as its author wrote it, before any name is looked up. The parser makes it, the
// binder reads it.
//
// Invariants  names are lower case (quoted ones were checked to be); every node knows its place in the file.
//             operators, CASE, IN and BETWEEN are spelled out; nothing is typed yet.
// Not here    what names and types mean (binder), what ANTLR calls things (parser.cc alone knows).
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/schema/catalog.h"
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
  std::string column_name;  // kCall: what PostgreSQL names a column after, where it is not `text`
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

// a op b op c ..., of AND or OR. At least one part.
inline Expr join(ir::Op op, std::span<Expr> parts) {
  return join_chain(parts, [op](Expr left, Expr right) {
    Expr both;
    both.kind = ExprKind::kBinary;
    both.op = op;
    both.where = left.where;
    both.args.push_back(std::move(left));
    both.args.push_back(std::move(right));
    return both;
  });
}

// qualifier.name, or name where the qualifier is empty.
inline Expr reference(std::string qualifier, std::string name, SourceLocation where) {
  Expr expr;
  expr.kind = ExprKind::kReference;
  expr.qualifier = std::move(qualifier);
  expr.text = std::move(name);
  expr.where = where;
  return expr;
}

// left op right, as left = right.
inline Expr comparison(ir::Op op, Expr left, Expr right) {
  Expr expr;
  expr.kind = ExprKind::kBinary;
  expr.op = op;
  expr.where = left.where;
  expr.args.push_back(std::move(left));
  expr.args.push_back(std::move(right));
  return expr;
}

// CREATE SEQUENCE or ALTER SEQUENCE. What is not written keeps its value, or gets PostgreSQL's.
struct Sequence {
  Name name;
  bool alters = false;
  bool if_exists = false;  // CREATE: IF NOT EXISTS
  std::optional<TypeKind> type;
  std::optional<int64_t> increment;
  std::optional<int64_t> least;
  std::optional<int64_t> most;
  bool no_least = false;
  bool no_most = false;
  std::optional<int64_t> start;
  bool restarts = false;
  std::optional<int64_t> restart;
  std::optional<bool> cycles;
  bool is_owned = false;  // OWNED BY is written
  Name owner;             // empty: NONE
  Name owner_column;
};

struct ColumnDefinition {
  Name name;
  TypeName type;
  bool not_null = false;
  std::optional<Expr> initial = std::nullopt;  // DEFAULT
  std::string initial_text = {};               // as written
  bool is_serial = false;                      // the DEFAULT draws from a sequence of its own
  Identity identity = Identity::kNone;
  std::optional<Sequence> sequence_options = std::nullopt;  // of that one, as IDENTITY has them
};

// The sequence of a table's SERIAL column, as PostgreSQL names it.
inline std::string sequence_name(const std::string& table, const std::string& column) {
  return table + "_" + column + "_seq";
}

struct UniqueConstraint {
  Name name;  // empty: PostgreSQL's rule names it
  std::vector<Name> columns;
  SourceLocation where;
};

struct ForeignKey {
  Name name;  // empty: PostgreSQL's rule names it
  std::vector<Name> columns;
  Name table;
  std::vector<Name> referenced;  // empty: the table's primary key
  ForeignKeyAction on_delete = ForeignKeyAction::kNoAction;
  ForeignKeyAction on_update = ForeignKeyAction::kNoAction;
  bool deferrable = false;
  bool deferred = false;
  SourceLocation where;
};

struct Check {
  Name name;  // empty: PostgreSQL's rule names it
  Expr condition;
  std::string text;  // the condition, as written
  bool is_of_column = false;
};

// LIKE table INCLUDING ..., in the place of columns.
struct LikeTable {
  Name table;
  size_t place = 0;  // so many columns stand before it
  bool defaults = false;
  bool constraints = false;
  bool identity = false;
  bool indexes = false;
  bool comments = false;
};

struct Table {
  Name name;
  bool if_not_exists = false;
  std::vector<LikeTable> like;
  // CREATE TABLE AS and SELECT INTO: the query whose columns, and rows, are the table's.
  std::shared_ptr<const Query> query;
  std::vector<Name> column_names;  // with a query
  bool with_data = true;
  std::vector<ColumnDefinition> columns;
  std::optional<UniqueConstraint> primary_key;
  std::vector<UniqueConstraint> unique;
  std::vector<Check> checks;
  std::vector<ForeignKey> foreign_keys;
};

struct Index {
  Name name;  // empty: PostgreSQL's rule names it
  Name table;
  std::vector<Name> columns;
  bool unique = false;
  bool if_not_exists = false;
};

// One action of ALTER TABLE. ALTER INDEX and ALTER SEQUENCE ... RENAME are kRenameTo.
struct Alteration {
  enum class Kind {
    kAddPrimaryKey,
    kAddUnique,
    kAddCheck,
    kAddForeignKey,
    kAddColumn,
    kDropColumn,
    kDropConstraint,
    kSetDefault,
    kDropDefault,
    kSetNotNull,
    kDropNotNull,
    kSetType,
    kRenameTo,
    kRenameColumn,
    kRenameConstraint,
  };

  Kind kind = Kind::kAddColumn;
  Name table;
  bool if_exists = false;
  UniqueConstraint key;  // kAddPrimaryKey, kAddUnique
  Check check;
  ForeignKey foreign_key;
  std::string constraint_text = {};  // of one that is added, without CONSTRAINT and its name
  Table added = {};                  // of one column, with its constraints; `if_not_exists`
  Name changed = {};                 // the column or constraint that is dropped, changed or renamed
  bool if_changed_exists = false;    // DROP ... IF EXISTS
  bool cascades = false;
  std::optional<Expr> initial = std::nullopt;  // kSetDefault
  std::string initial_text = {};
  TypeName type = {};                        // kSetType
  std::optional<Expr> value = std::nullopt;  // kSetType: USING
  Name new_name = {};
};

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
  bool with_ties = false;  // FETCH FIRST ... WITH TIES
  std::optional<SourceLocation> for_update;

  // Whether its own WITH changes rows.
  bool changes_in_with() const {
    return std::ranges::any_of(with, [](const CommonTable& table) { return table.change != nullptr; });
  }
};

// INSERT ... ON CONFLICT.
struct OnConflict {
  SourceLocation where;
  std::vector<Name> columns;  // of the unique key that is meant
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

struct Statement;

struct Declaration {
  Name name;
  bool constant = false;
  TypeName type;
  std::optional<Expr> initial;
  bool not_null = false;
};

// EXCEPTION WHEN ... THEN.
struct ExceptionHandler {
  // SQLSTATEs; of a whole class where three zeros end it; empty: OTHERS.
  std::vector<std::string> sqlstates;
  std::vector<Statement> statements;
  SourceLocation where;
};

struct Block {
  Name label;
  std::vector<Declaration> declarations;
  std::vector<Statement> statements;
  std::vector<ExceptionHandler> handlers;
};

struct Branch {
  std::vector<Expr> conditions;  // IF: one; CASE: one or more
  std::vector<Statement> statements;
  SourceLocation where;
};

enum class StatementKind {
  kBlock,
  kAssign,
  kIf,
  kCase,
  kLoop,
  kWhile,
  kForRange,
  kForQuery,
  kForEach,  // FOREACH target IN ARRAY expr
  kExit,
  kContinue,
  kReturn,
  kRaise,
  kAssert,       // expr, perhaps with a message in args
  kDiagnostics,  // GET DIAGNOSTICS: targets, words
  kCall,         // of a procedure: name, args
  kNull,
  kPerform,
  kOperation,
};

// What RAISE says behind USING.
struct RaiseOption {
  std::string word;
  Expr value;
};

struct Statement {
  StatementKind kind = StatementKind::kNull;
  SourceLocation where;
  Name label;                   // of a loop; EXIT, CONTINUE: the loop meant
  Target target;                // kAssign, kForRange
  std::vector<Target> targets;  // kForQuery
  bool reverse = false;
  std::optional<Expr>
      expr;  // kReturn, kAssign: value; kWhile, kExit, kContinue: condition; kForRange: from; kCase: subject
  std::optional<Expr> limit;
  std::optional<Expr> step;
  ir::RaiseLevel level = ir::RaiseLevel::kException;  // kRaise
  std::string condition;                              // kRaise: its name, or its SQLSTATE, as written
  bool raises_again = false;                          // RAISE alone
  std::string sqlstate;                               // kRaise: of the condition that it names; empty: none
  std::optional<std::string> message;                 // kRaise
  std::vector<Expr> args;                             // kRaise, kAssert, kCall
  std::vector<RaiseOption> options;                   // kRaise
  std::vector<std::string> words;                     // kDiagnostics: ROW_COUNT and its kind, one a target
  Name name;                                          // kCall
  std::vector<Branch> branches;
  bool has_else = false;
  std::vector<Statement> body;  // of a loop; ELSE
  std::optional<Operation> operation;
  std::unique_ptr<Block> block;
};

struct Parameter {
  Name name;  // empty: it is $n alone
  bool inout = false;
  bool out = false;  // no argument is taken for it; `inout`, too
  TypeName type;
  std::optional<Expr> initial;  // DEFAULT
};

// A procedure or a function.
struct Procedure {
  Name name;
  bool replaces = false;  // OR REPLACE
  bool is_function = false;
  bool is_strict = false;  // a function that is NULL where an argument is
  std::vector<Parameter> parameters;
  std::optional<TypeName> returns;  // of a function
  Block body;
  // LANGUAGE sql: what it returns where it is an expression; else the body says it.
  bool is_sql = false;

  bool returns_void() const { return returns && returns->base == kVoidType; }
};

struct View {
  Name name;
  bool replaces = false;  // OR REPLACE
  std::vector<Name> columns;
  std::shared_ptr<const Query> query;
  std::string text;  // the query, as written
};

enum class CommentOf : uint8_t {
  kTable,
  kColumn,
  kIndex,
  kView,
  kSequence,
  kFunction,
  kProcedure,
  kRoutine,
  kConstraint
};

// COMMENT ON.
struct Comment {
  CommentOf of = CommentOf::kTable;
  Name object;       // of a column or a constraint: its table
  Name part;         // the column or the constraint
  std::string text;  // empty: there is to be none
};

// A file's definitions, in order.
struct Definition {
  std::optional<Table> table;
  std::optional<Index> index;
  std::shared_ptr<const Procedure> procedure;
  std::optional<Alteration> alteration = std::nullopt;
  std::optional<Sequence> sequence = std::nullopt;
  std::optional<View> view = std::nullopt;
  std::optional<Comment> comment = std::nullopt;
  Name dropped_sequence = {};  // DROP SEQUENCE, which only the source of a data directory has
  std::string text = {};       // as written, without the semicolon
  // A table with foreign keys: its text without them, and the ALTER TABLE ... ADD that adds each. Both are
  // empty for other definitions.
  std::string text_without_foreign_keys = {};
  std::vector<std::string> foreign_keys = {};

  const Name& name() const {
    if (alteration) return alteration->table;
    if (sequence) return sequence->name;
    if (view) return view->name;
    if (comment) return comment->object;
    if (!dropped_sequence.empty()) return dropped_sequence;
    return table ? table->name : index ? index->name : procedure->name;
  }
  // There may be one of this name already: then nothing is to be done.
  bool if_not_exists() const {
    return (table && table->if_not_exists) || (index && index->if_not_exists) ||
           (sequence && !sequence->alters && sequence->if_exists);
  }
};

using File = std::vector<Definition>;

enum class DefinitionKind { kTable, kIndex, kProcedure, kSequence, kView };

// What DROP names.
enum class RoutineKind { kProcedure, kFunction, kAny };

// One statement of an SQL session.
struct Command {
  enum class Kind {
    kOperation,
    kCall,
    kCreate,
    kDrop,
    kTruncate,
    kAlter,
    kComment,
    kBegin,
    kCommit,
    kRollBack,
    kSavepoint,
    kRelease,
    kRollBackTo,
    kDo
  };

  Kind kind = Kind::kOperation;
  SourceLocation where;
  std::optional<Operation> operation;
  std::optional<Definition> definition;             // kCreate, kAlter, kComment
  std::vector<Definition> further;                  // kAlter: its other actions
  std::shared_ptr<const Procedure> block;           // kDo: of no name
  DefinitionKind altered = DefinitionKind::kTable;  // kAlter
  Name name;                                        // kCall: the procedure; of a savepoint
  std::vector<Expr> args;                           // kCall
  bool calls_function = false;                      // kCall: as SELECT f(...)
  DefinitionKind dropped = DefinitionKind::kTable;  // kDrop
  std::vector<Name> names;                          // kDrop, kTruncate
  RoutineKind routine = RoutineKind::kProcedure;    // kDrop, kComment of a procedure or function
  // kDrop, kComment: by name, the parameters' types where they are written.
  std::vector<std::optional<std::vector<TypeName>>> parameter_types;
  bool if_exists = false;   // kDrop
  bool cascades = false;    // kDrop, kTruncate: CASCADE
  bool restarts = false;    // kTruncate: RESTART IDENTITY
  bool read_only = false;   // kBegin
  bool is_start = false;    // kBegin: written as START TRANSACTION
  std::string isolation{};  // kBegin: the level that it asks for, or empty
  uint32_t parameters = 0;  // the highest n of a $n

  bool changes_schema() const {
    return kind == Kind::kCreate || kind == Kind::kDrop || kind == Kind::kTruncate || kind == Kind::kAlter ||
           kind == Kind::kComment;
  }
};

}  // namespace mneme::syntax
