// Statement emitter: control flow, assignments and operations in C++, one block of statements at a time.
//
// Loops       EXIT and CONTINUE of the innermost loop are break and continue; of outer ones they are jumps to
//             labels, which set FOUND for the loops that they leave.
// Iterations  a recording's and a lane key's iteration is that of the outermost loop: its counter in C++.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "procedures/native/emitter_operation.h"

namespace mneme {

class StatementEmitter {
 public:
  explicit StatementEmitter(UnitScope& scope)
      : scope_(scope), text_(scope.text), expressions_(scope), operations_(scope) {}

  void emit_block(std::span<const ir::Statement> statements);
  // Some statement jumps to the label `done`.
  bool returns() const { return returns_; }

 private:
  struct Loop {
    VariableId found;  // FOUND, where the loop sets it
    std::string number;
    std::string label;
    bool jumped_out = false;
    bool jumped_on = false;
  };

  void emit(const ir::Statement& statement);
  void emit_array_assign(const ir::Statement& statement);
  void emit_if(const ir::Statement& statement);
  void emit_for_range(const ir::Statement& statement);
  void emit_for_query(const ir::Statement& statement);
  void emit_while(const ir::Statement& statement);
  void emit_leave(const ir::Statement& statement);
  void emit_raise(const ir::Statement& statement);
  std::string emit_bound(const ir::Expr& expr, const char* what);
  void begin_loop(const ir::Statement& statement, const std::string& number);
  // The body, and the label behind it.
  void emit_loop_body(const ir::Statement& statement);
  // The label behind the loop, and FOUND.
  void end_loop(const std::string& found);
  void comment(const ir::Statement& statement);
  std::string iteration() const;

  UnitScope& scope_;
  FunctionText& text_;
  ExpressionEmitter expressions_;
  OperationEmitter operations_;
  std::vector<Loop> loops_;
  bool returns_ = false;
};

std::string place_literal(ir::SourceLocation where);

}  // namespace mneme
