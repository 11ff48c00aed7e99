#include "procedures/interpreter/frame.h"

#include "base/check.h"

namespace mneme {

void Frame::begin(const ir::Procedure& procedure, std::span<const Argument> arguments) {
  const size_t count = procedure.variables.size();
  scalars_.assign(count, Value::null());
  arrays_.assign(count, ArrayValue{});
  if (own_elements_.size() < count) own_elements_.resize(count);

  const size_t hidden = procedure.call_time.valid() ? 1 : 0;
  CHECK(arguments.size() == procedure.parameters.size() + hidden);
  for (size_t i = 0; i < procedure.parameters.size(); ++i) {
    bind(procedure, procedure.parameters[i].variable, arguments[i]);
  }
  if (hidden != 0) bind(procedure, procedure.call_time, arguments.back());
}

void Frame::bind(const ir::Procedure& procedure, VariableId variable, const Argument& argument) {
  if (procedure.variables[variable.value].type.is_array) {
    arrays_[variable.value] = {argument.array, argument.null_array};
  } else {
    scalars_[variable.value] = argument.scalar;
  }
}

void Frame::append(VariableId variable, const Value& value) {
  ArrayValue& array = arrays_[variable.value];
  std::vector<Value>& own = own_elements_[variable.value];
  if (array.elements.data() != own.data()) own.assign(array.elements.begin(), array.elements.end());
  own.resize(array.elements.size());
  own.push_back(value);
  array = {own, false};
}

void Frame::assign_array(VariableId variable, VariableId source) {
  if (variable == source) return;
  std::vector<Value>& own = own_elements_[variable.value];
  own.clear();
  bool null = false;
  if (source.valid()) {
    const ArrayValue& from = arrays_[source.value];
    own.assign(from.elements.begin(), from.elements.end());
    null = from.null;
  }
  arrays_[variable.value] = {own, null};
}

Argument Frame::get(const ir::Procedure& procedure, VariableId variable) const {
  if (!procedure.variables[variable.value].type.is_array) return Argument::of(scalars_[variable.value]);
  const ArrayValue& array = arrays_[variable.value];
  return {{}, array.elements, array.null};
}

}  // namespace mneme
