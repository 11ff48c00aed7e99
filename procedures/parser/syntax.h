// Syntax tree: a .sql file as its author wrote it, before any name is looked up. The parser makes it, the
// binder reads it.
//
// Invariants  names are lower case (quoted ones were checked to be); every node knows its place in the file.
//             operators, CASE, IN and BETWEEN are spelled out; nothing is typed yet.
// Not here    what names and types mean (binder), what ANTLR calls things (parser.cc alone knows).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/schema/catalog.h"
#include "procedures/ir/ir.h"
#include "procedures/parser/syntax_queries.h"

namespace mneme::syntax {

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
  std::string generated = {};  // GENERATED ALWAYS AS (...) STORED, as written
  SourceLocation generated_where = {};
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
  bool generated = false;
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
  std::optional<Expr> condition = std::nullopt;  // WHERE
  std::string condition_text = {};               // as written
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
    kAddIdentity,
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
  std::optional<Expr> initial = std::nullopt;       // kSetDefault
  Identity identity = Identity::kNone;              // kAddIdentity
  std::optional<Sequence> sequence = std::nullopt;  // kAddIdentity: perhaps without a name
  std::string initial_text = {};
  TypeName type = {};                        // kSetType
  std::optional<Expr> value = std::nullopt;  // kSetType: USING
  Name new_name = {};
};

struct Statement;

struct Parameter {
  Name name;  // empty: it is $n alone
  bool inout = false;
  bool out = false;  // no argument is taken for it; `inout`, too
  TypeName type;
  std::optional<Expr> initial;  // DEFAULT
};

// name CURSOR (parameters) FOR query
struct Cursor {
  std::vector<Parameter> parameters;
  Operation query;
};

struct Declaration {
  Name name;
  std::shared_ptr<const Cursor> cursor;  // it is one, and has no type
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
  kForCursor,   // FOR target IN cursor `name`, opened with args
  kOpen,        // the cursor `name`, with args
  kClose,       // the cursor `name`
  kFetch,       // from the cursor `name` into targets, or none: words: which row; expr: its number
  kReturnRows,  // RETURN QUERY operation
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

// A column of the rows that a function returns.
struct RowColumn {
  Name name;
  TypeName type;
};

// A procedure or a function.
struct Procedure {
  Name name;
  bool replaces = false;  // OR REPLACE
  bool is_function = false;
  bool is_strict = false;  // a function that is NULL where an argument is
  std::vector<Parameter> parameters;
  std::optional<TypeName> returns;  // of a function that returns a value
  // A function that returns the rows of a query: RETURNS TABLE, or SETOF, whose one column has the function's
  // name, and perhaps a table's for its type: then the columns are the table's. Without any, they are the OUT
  // parameters.
  bool returns_rows = false;
  std::vector<RowColumn> row_columns;
  std::shared_ptr<const Query> rows;
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
  kConstraint,
  kSchema
};

// CREATE TYPE ... AS ENUM, or a change of such a type.
struct EnumChange {
  enum class Kind { kCreate, kAddValue, kRenameValue, kRename, kDrop };

  Kind kind = Kind::kCreate;
  Name name;
  std::vector<std::string> labels = {};  // kCreate; kAddValue, kRenameValue: the one
  bool if_not_exists = false;            // kAddValue
  std::string neighbour = {};            // kAddValue: the label that it comes before or behind
  bool is_before = false;
  bool is_behind = false;
  std::string new_label = {};  // kRenameValue
  Name new_name = {};          // kRename
};

// CREATE SCHEMA, or DROP SCHEMA in a data directory's file.
struct SchemaChange {
  Name name;
  bool drops = false;
  bool if_not_exists = false;
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
  std::optional<EnumChange> enum_change = std::nullopt;
  std::optional<SchemaChange> schema_change = std::nullopt;
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
    if (enum_change) return enum_change->name;
    if (schema_change) return schema_change->name;
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

enum class DefinitionKind { kTable, kIndex, kProcedure, kSequence, kView, kType, kSchema };

// What DROP names.
enum class RoutineKind { kProcedure, kFunction, kAny };

// A DO block with changes of the schema. Each of its statements is one of a session's, as text.
struct ChangeBlock;

struct ChangeStep {
  std::string text;                          // the statement; of PL/pgSQL: a DO block of it
  std::shared_ptr<const ChangeBlock> block;  // in the place of a statement
  // IF, in the place of a statement: the first whose condition holds is taken.
  std::vector<std::pair<std::string, std::vector<ChangeStep>>> branches;
};

struct ChangeHandler {
  std::vector<std::string> sqlstates;  // as ExceptionHandler's
  std::vector<ChangeStep> steps;
};

struct ChangeBlock {
  std::vector<ChangeStep> steps;
  std::vector<ChangeHandler> handlers;
};

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
    kDo,
    kDoChanges
  };

  Kind kind = Kind::kOperation;
  SourceLocation where;
  std::optional<Operation> operation;
  std::optional<Definition> definition;             // kCreate, kAlter, kComment
  std::vector<Definition> further;                  // kAlter: its other actions
  std::shared_ptr<const Procedure> block;           // kDo: of no name
  std::shared_ptr<const ChangeBlock> changes;       // kDoChanges
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
  std::string text{};       // the whole statement, as written

  bool changes_schema() const {
    return kind == Kind::kCreate || kind == Kind::kDrop || kind == Kind::kTruncate || kind == Kind::kAlter ||
           kind == Kind::kComment;
  }
};

}  // namespace mneme::syntax
