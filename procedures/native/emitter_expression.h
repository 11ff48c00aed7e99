// Expression emitter: an ir::Expr as C++ over a unit's variables, the rows at hand and aggregates.
//
// Flow        emit() writes what has to happen first (checks that end the run, values kept under a name) and
//             returns an operand: two C++ expressions without effect, the value and whether it is NULL.
// Invariants  evaluation has the interpreter's order, and goes no further than the interpreter's: what may
//             fail stands behind the condition under which it is evaluated. an operand may be used until a
//             variable or a row's image is written; a caller that needs it longer keeps it.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/schema/schema.h"
#include "procedures/interpreter/native_abi.h"
#include "procedures/ir/ir.h"
#include "procedures/native/emitter_text.h"

namespace mneme {

// How a value is held in C++: see native_values.h. kNone: the type of a bare NULL.
enum class Rep : uint8_t { kNone, kBool, kInt, kWide, kDouble, kText };

struct Operand {
  std::string value;
  std::string null;  // "false" and "true" where that is known
  Rep rep = Rep::kNone;
  uint32_t key_bytes = 8;  // as part of a key: an integer has no more

  bool is_null() const { return null == "true"; }
  bool is_nullable() const { return null != "false"; }
};

Rep rep_of(const Type& type);  // of a variable or column
Rep rep_of(const ir::Expr& expr);
const char* type_of(Rep rep);  // in C++
// The most digits that a numeric expression's value can have.
unsigned digits_of(const ir::Expr& expr);
// A value of a representation from a boxed Value.
std::string unboxed(Rep rep, std::string_view value);
std::string boxed(const Operand& operand, const Type& type);
Operand converted(const Operand& operand, Rep rep);
std::string literal_of(std::string_view text);
// A part of an identifier, different for different names, whatever characters these have.
std::string identifier_of(std::string_view name);
// The enumerator of the type's kind, and the type itself, as C++ has them.
const char* kind_literal(const Type& type);
std::string type_literal(const Type& type);
// Returns the condition that either of the two is NULL.
std::string null_of_any(const std::string& a, const std::string& b);
// Where the column lies in the table's images: an object of native_rows.h.
std::string column_name(const TableDefinition& table, ColumnId column);

// Whether some string in the expression's value may lie in the image of a row.
bool reads_row_text(const ir::Expr& expr);

// The meaning of names in a unit: its variables, the rows at hand.
struct UnitScope {
  UnitScope(const Schema& s, const NativeUnit& unit);

  const std::string& variable(VariableId id) {
    used[id.value] = true;
    return variables[id.value];
  }

  const Schema& schema;
  const ir::Procedure& procedure;
  const ir::StatementMarks marks;
  FunctionText text;
  std::vector<std::string> variables;  // in C++, by VariableId
  std::vector<bool> used;
  std::set<uint32_t> recalled;  // operations whose executions are counted

  struct RowView {
    TableId table;
    std::string image;                    // C++; unused where all columns are replaced
    std::map<uint32_t, Operand> columns;  // those that do not come from the image
  };
  std::array<RowView, 2> rows;
  std::vector<Operand> aggregates;
  // Array elements that the operation at hand reads more than once, by their C++: they are read beforehand.
  std::map<std::string, Operand> elements;
  std::string where;  // the statement's place, as errors give it
};

class ExpressionEmitter {
 public:
  explicit ExpressionEmitter(UnitScope& scope) : scope_(scope), text_(scope.text) {}

  Operand emit(const ir::Expr& expr);
  // A C++ condition: whether the expression is true, neither false nor NULL.
  std::string condition(const ir::Expr& expr);
  // The operand under names of its own, which stay as they are whatever is written.
  Operand keep(const Operand& operand, std::string_view stem = "x");

 private:
  Operand emit_column(const ir::Expr& expr);
  Operand emit_unary(const ir::Expr& expr);
  Operand emit_binary(const ir::Expr& expr);
  Operand emit_logic(const ir::Expr& expr);
  Operand emit_comparison(const ir::Expr& expr, const Operand& a, const Operand& b);
  Operand emit_arithmetic(const ir::Expr& expr, ir::Op op, const Operand& a, const Operand& b);
  Operand emit_integer_arithmetic(const ir::Expr& expr, ir::Op op, const Operand& a, const Operand& b);
  Operand emit_numeric_arithmetic(const ir::Expr& expr, ir::Op op, const Operand& a, const Operand& b);
  Operand emit_concatenation(const ir::Expr& expr);
  Operand emit_case(const ir::Expr& expr);
  Operand emit_function(const ir::Expr& expr);
  Operand emit_coalesce(const ir::Expr& expr);
  Operand emit_nullif(const ir::Expr& expr);
  Operand emit_extreme(const ir::Expr& expr);
  Operand emit_concat_function(const ir::Expr& expr);
  Operand emit_called_function(const ir::Expr& expr);
  Operand emit_cast(const ir::Expr& expr);
  Operand emit_cast_to_integer(const ir::Expr& expr, const Operand& a);
  Operand emit_cast_to_numeric(const ir::Expr& expr, const Operand& a);
  Operand emit_cast_to_string(const ir::Expr& expr, const Operand& a);
  Operand emit_called_cast(const ir::Expr& expr, const Operand& a);
  Operand emit_array_element(const ir::Expr& expr);
  Operand emit_in_array(const ir::Expr& expr);
  Operand emit_in_list(const ir::Expr& expr);
  void emit_in_list_member(const ir::Expr& expr, size_t i, const Operand& wanted, const std::string& into);

  // A call that writes a Value to `result` and may fail, where no argument is NULL.
  Operand emit_call(const ir::Expr& expr, const std::string& null, const std::string& result,
                    const std::string& call);
  Operand declare_nullable(Rep rep, std::string& name);
  std::string raise() const;
  std::string raise_out_of_range(const Type& type) const;

  UnitScope& scope_;
  FunctionText& text_;
};

}  // namespace mneme
