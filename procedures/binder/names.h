// Names: what a procedure's identifiers stand for: variables and records in nested blocks, and the columns of
// the tables of one statement.
//
// Invariants  an inner block's name hides an outer one's. A name that is a variable and a column at once is
//             an error, as in PostgreSQL. a RECORD is as many variables as it has fields; the first statement
//             that fills it says which.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/schema/catalog.h"
#include "procedures/ir/ir.h"
#include "procedures/ir/session_values.h"
#include "procedures/parser/syntax.h"

namespace mneme {

// One table of a statement, under the name by which its columns may be qualified.
struct RowSource {
  std::string name;
  const TableDefinition* table;
  uint8_t source;
};

struct Record {
  std::string name;
  std::optional<std::vector<std::pair<std::string, VariableId>>> fields;  // absent until a statement fills it
};

struct Declared {
  VariableId variable;  // valid, or
  // what a parameter of an expression's function stands for, or
  std::shared_ptr<const ir::Expr> value = nullptr;
  Record* record = nullptr;  // not null
  bool constant = false;
  bool parameter = false;
};

// The type that is written, table.column%TYPE and RECORD excepted.
Type read_plain_type(const syntax::TypeName& name, const Catalog& catalog);
// The other way round: the type, without an array, as a cast writes it.
syntax::TypeName written_type(const Type& type, ir::SourceLocation where);
// The procedures and functions that others call.
class Routines {
 public:
  virtual ~Routines() = default;
  // Returns nullptr where there is none of this name.
  virtual const syntax::Procedure* find_routine(const std::string& name) const = 0;
};

struct Program;

// Those of a program, which a session's statements may call.
class ProgramRoutines final : public Routines {
 public:
  explicit ProgramRoutines(const Program& program) : program_(program) {}
  const syntax::Procedure* find_routine(const std::string& name) const override;

 private:
  const Program& program_;
};

class Names {
 public:
  // `session`: nothing: no session's statement.
  Names(const Catalog& catalog, ir::Procedure& procedure, const SessionValues* session = nullptr)
      : catalog_(catalog), procedure_(procedure), session_(session) {}

  void open_block() { blocks_.emplace_back(); }
  void close_block() { blocks_.pop_back(); }

  // What a procedure or function may call; nothing unless it is set.
  void set_routines(const Routines* routines) { routines_ = routines; }
  // Returns the procedure or function of this name, and notes that it is called; nullptr: there is none.
  const syntax::Procedure* find_routine(const std::string& name);
  // Those that were found, by name.
  const std::vector<std::string>& called() const { return called_; }
  using Blocks = std::vector<std::map<std::string, Declared>>;
  // While the body of a routine is bound, which is written in the place of a call: it sees no name around the
  // call. The constructor refuses a routine that calls itself.
  class InRoutine {
   public:
    InRoutine(Names& names, const std::string& name, ir::SourceLocation where)
        : names_(names), around_(names.enter_routine(name, where)) {}
    ~InRoutine() {
      names_.blocks_ = std::move(around_);
      names_.active_.pop_back();
    }
    InRoutine(const InRoutine&) = delete;
    InRoutine& operator=(const InRoutine&) = delete;

   private:
    Names& names_;
    Blocks around_;
  };
  // The procedure that is bound is one that no other may call from here on.
  void begin_routine(const std::string& name) { active_.push_back(name); }
  // Refuses the call of a routine whose body is being bound.
  void check_recursion(const std::string& name, ir::SourceLocation where) const;

  VariableId declare(const syntax::Name& name, const Type& type, bool constant, bool parameter);
  // A parameter of an expression's function.
  void declare_value(const syntax::Name& name, ir::Expr value);
  // Another name for a variable, as $1 is for a parameter.
  void declare_alias(const syntax::Name& name, VariableId variable);
  // A variable that no name stands for.
  VariableId declare_hidden(std::string name, const Type& type) {
    return add_variable(std::move(name), type);
  }
  void declare_record(const syntax::Name& name);
  // The parameters $1, $2 ... of a statement, of these types; kNull: of a type that its context decides.
  // Before anything else is declared.
  void declare_parameters(std::span<const Type> types);
  // The variable of $n.
  VariableId parameter(const syntax::Expr& expr) const;
  // The context of a parameter without a type has said that it is of this one.
  void set_parameter_type(VariableId variable, const Type& type) {
    procedure_.variables[variable.value].type = type;
  }

  // The statement is a session's, which may draw from sequences.
  void allow_sequences() { allows_sequences_ = true; }
  bool allows_sequences() const { return allows_sequences_; }
  // A procedure may draw, too: its calls are then logged by their rows, as another run would draw other
  // numbers.
  void allow_draws() { allows_draws_ = true; }
  bool allows_draws() const { return allows_sequences_ || allows_draws_; }
  void note_draw(std::string_view function, bool writes, ir::SourceLocation where);
  const TableDefinition* find_table(const std::string& name) const { return catalog_.find_table(name); }

  // The type that a declaration writes, table.column%TYPE included.
  Type read_type(const syntax::TypeName& name) const;
  // A parameter's. PostgreSQL ignores how many digits of a second it says; a string's length is looked at as
  // it is given (argument_for()).
  Type read_parameter_type(const syntax::TypeName& name) const {
    Type type = read_type(name);
    if (type.kind == TypeKind::kTimestamp || type.kind == TypeKind::kInterval) type.precision = 0;
    return type;
  }

  const Declared* find(const std::string& name) const;
  // As find; an unknown name is an error.
  const Declared& get(const syntax::Name& name) const;

  // The fields of a record that a statement with these columns fills. Later statements must agree with the
  // first.
  std::vector<VariableId> fill_record(const Declared& record, const std::vector<std::string>& names,
                                      const std::vector<Type>& types, ir::SourceLocation where);
  VariableId field(const Record& record, const std::string& name, ir::SourceLocation where) const;

  // FOUND, which then has to be kept.
  VariableId found();
  // LOCALTIMESTAMP, which then is a hidden argument of every call.
  VariableId call_time();

  // Returns what the session's function returns; nullptr if there is no such function.
  const SessionValue* session_value(const std::string& function) const;

  // Called for each part of an expression as it is bound. BETWEEN, IN and CASE have what they compare bound
  // once for each comparison, so that a short text can mean an expression of any size: too large a one is
  // refused.
  void count_expression(ir::SourceLocation where);

  const Type& type_of(VariableId variable) const { return procedure_.variables[variable.value].type; }
  const std::string& name_of(VariableId variable) const { return procedure_.variables[variable.value].name; }
  bool is_parameter(VariableId variable) const;
  // The variable is a parameter of a routine whose body stands in the place of its call.
  void note_parameter(VariableId variable) { inlined_parameters_.push_back(variable); }

  // ir::Expr::text_varies of the variable's value: it may be a char(n) parameter, whose n PostgreSQL ignores,
  // or a record's field filled with such a value. A numeric parameter's digits are seen to at the call
  // (command_binder.cc).
  bool text_varies(VariableId variable) const;
  void note_text_varies(VariableId variable) { text_varies_.push_back(variable); }

 private:
  Blocks enter_routine(const std::string& name, ir::SourceLocation where);
  VariableId add_variable(std::string name, const Type& type);
  void add(const syntax::Name& name, Declared declared);

  const Catalog& catalog_;
  ir::Procedure& procedure_;
  const SessionValues* const session_;
  Blocks blocks_;
  const Routines* routines_ = nullptr;
  std::vector<std::string> called_;
  std::vector<VariableId> inlined_parameters_;
  std::vector<std::string> active_;      // the routines whose bodies are being bound
  std::vector<VariableId> text_varies_;  // of records' fields
  std::deque<Record> records_;
  size_t statement_parameters_ = 0;
  size_t expressions_ = 0;
  bool allows_sequences_ = false;
  bool allows_draws_ = false;
};

// The column that `text`, or qualifier.text, means; nothing where no table has it. Two tables having it is an
// error.
std::optional<ir::Expr> find_column(std::span<const RowSource> sources, const std::string& qualifier,
                                    const std::string& text, ir::SourceLocation where);

// The value of `expr` as the variable stores it. PostgreSQL drops modifiers from a parameter's type, so a
// value that would be changed for a parameter here, and not there, is refused: numeric and char(n) here, a
// varchar(n) that is too long as it runs.
ir::Expr convert_for_variable(const Names& names, VariableId variable, ir::Expr expr);

}  // namespace mneme
