// Frame: the variables of a running procedure. Made once, begun anew for each run; the steady state allocates
// nothing.
//
// Invariants  a variable is NULL until it is set. Arrays passed as arguments are read where they lie; the
//             first append or assignment gives the variable a copy of its own.
#pragma once

#include <span>
#include <vector>

#include "procedures/interpreter/call.h"
#include "procedures/ir/ir.h"
#include "procedures/values/expression.h"

namespace mneme {

class Frame {
 public:
  void begin(const ir::Procedure& procedure, std::span<const Argument> arguments);

  std::span<const Value> scalars() const { return scalars_; }
  std::span<const ArrayValue> arrays() const { return arrays_; }

  void set(VariableId variable, const Value& value) { scalars_[variable.value] = value; }
  void append(VariableId variable, const Value& value);
  // The empty array where `source` is not valid.
  void assign_array(VariableId variable, VariableId source);

  Argument get(const ir::Procedure& procedure, VariableId variable) const;

 private:
  void bind(const ir::Procedure& procedure, VariableId variable, const Argument& argument);

  std::vector<Value> scalars_;
  std::vector<ArrayValue> arrays_;
  // The elements of arrays that the run has changed: those whose variable's span lies here.
  std::vector<std::vector<Value>> own_elements_;
};

}  // namespace mneme
