// Syntax tree: a .sql file as its author wrote it, before any name is looked up. The parser makes it, the
// binder reads it.
//
// Here        procedures and their statements, views, and what a file or a session is made of: Definition and
//             Command. Queries and expressions: syntax_queries.h. Tables: syntax_schema.h.
// Invariants  names are lower case (quoted ones were checked to be); every node knows its place in the file.
//             operators, CASE, IN and BETWEEN are spelled out; nothing is typed yet.
// Not here    what names and types mean (binder), what ANTLR calls things (parser.cc alone knows).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "procedures/ir/ir.h"
#include "procedures/parser/syntax_queries.h"
#include "procedures/parser/syntax_schema.h"

namespace mneme::syntax {

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

// A file's definitions, in order.
struct Definition {
  std::optional<Table> table;
  std::optional<Index> index;
  std::shared_ptr<const Procedure> procedure;
  std::optional<Alteration> alteration = std::nullopt;
  std::optional<Sequence> sequence = std::nullopt;
  std::optional<View> view = std::nullopt;
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
  std::optional<Definition> definition;             // kCreate, kAlter
  std::vector<Definition> further;                  // kAlter: its other actions
  std::shared_ptr<const Procedure> block;           // kDo: of no name
  DefinitionKind altered = DefinitionKind::kTable;  // kAlter
  Name name;                                        // kCall: the procedure; of a savepoint
  std::vector<Expr> args;                           // kCall
  bool calls_function = false;                      // kCall: as SELECT f(...)
  DefinitionKind dropped = DefinitionKind::kTable;  // kDrop
  std::vector<Name> names;                          // kDrop, kTruncate
  RoutineKind routine = RoutineKind::kProcedure;    // kDrop of a procedure or function
  // kDrop: by name, the parameters' types where they are written.
  std::vector<std::optional<std::vector<TypeName>>> parameter_types;
  bool if_exists = false;   // kDrop
  bool cascades = false;    // kDrop, kTruncate: CASCADE
  bool restarts = false;    // kTruncate: RESTART IDENTITY
  bool read_only = false;   // kBegin
  bool is_start = false;    // kBegin: written as START TRANSACTION
  std::string isolation{};  // kBegin: the level that it asks for, or empty
  uint32_t parameters = 0;  // the highest n of a $n

  bool changes_schema() const {
    return kind == Kind::kCreate || kind == Kind::kDrop || kind == Kind::kTruncate || kind == Kind::kAlter;
  }
};

}  // namespace mneme::syntax
