// Expression printer: one expression of the IR as text. Private to the IR printer.
#pragma once

#include <string>

#include "engine/schema/catalog.h"
#include "procedures/ir/ir.h"

namespace mneme {

class ExpressionPrinter {
 public:
  // `operation`: whose rows the expression's columns belong to; nullptr outside of one.
  ExpressionPrinter(const Catalog& catalog, const ir::Procedure& procedure, const ir::Operation* operation)
      : catalog_(catalog), procedure_(procedure), operation_(operation) {}

  std::string operator()(const ir::Expr& expr) const;

  // The variable's name, with its id where the procedure has another of that name.
  std::string variable(VariableId id) const;

 private:
  std::string constant(const ir::Expr& expr) const;
  std::string column(const ir::Expr& expr) const;
  std::string aggregate(const ir::Expr& expr) const;
  std::string unary(const ir::Expr& expr) const;
  std::string cases(const ir::Expr& expr) const;
  std::string binary(const ir::Expr& expr) const;
  std::string list(const std::vector<ir::Expr>& exprs, size_t first) const;

  const Catalog& catalog_;
  const ir::Procedure& procedure_;
  const ir::Operation* operation_;
};

}  // namespace mneme
