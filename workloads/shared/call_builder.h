// CallBuilder: one call of a stream, argument by argument. The call, with its arrays and text, is valid until
// the next start().
#pragma once

#include <string_view>

#include "base/memory/arena.h"
#include "procedures/interpreter/call.h"

namespace mneme {

class CallBuilder {
 public:
  CallBuilder& start(ProcedureId procedure) {
    call_.procedure = procedure;
    call_.arguments.clear();
    memory_.reset();
    return *this;
  }
  CallBuilder& integer(int64_t v) { return add(Value::of_int(v)); }
  // Scaled by 10^(the parameter's scale): 1234 is 12.34 in a NUMERIC(p,2).
  CallBuilder& numeric(int64_t v) { return add(Value::of_numeric(v)); }
  CallBuilder& timestamp(int64_t microseconds) { return add(Value::of_int(microseconds)); }
  CallBuilder& text(std::string_view v) { return add(Value::of_text(memory_.copy(v))); }
  CallBuilder& null() { return add(Value::null()); }
  // An array parameter; its elements are the caller's to fill.
  std::span<Value> array(size_t count) {
    const std::span<Value> elements = memory_.make_array<Value>(count);
    call_.arguments.push_back(Argument::of_array(elements));
    return elements;
  }
  // The INOUT parameters that only bring results, scalars and arrays.
  CallBuilder& results(size_t count) {
    call_.arguments.resize(call_.arguments.size() + count);
    return *this;
  }

  const Call& call() const { return call_; }

 private:
  CallBuilder& add(Value value) {
    call_.arguments.push_back(Argument::of(value));
    return *this;
  }

  Call call_;
  Arena memory_;
};

}  // namespace mneme
