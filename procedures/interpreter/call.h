// Call: a procedure and its arguments: what a client sends, a command record holds, and replay runs again.
//
// One argument a parameter, in order (the initial values of INOUT parameters included, NULL as a rule), then
// the hidden ones (ir::Procedure::call_time). Values already have the parameters' types; text and arrays
// belong to the caller and outlive the run.
#pragma once

#include <span>
#include <vector>

#include "engine/schema/value.h"
#include "procedures/ir/ir.h"

namespace mneme {

struct Argument {
  Value scalar;
  std::span<const Value> array;  // of an array parameter; scalar is then ignored
  bool null_array = true;

  static Argument of(Value value) { return {value, {}, true}; }
  static Argument of_array(std::span<const Value> values) { return {{}, values, false}; }
};

// The keys of the rows that one of the procedure's operations was about when the call ran first
// (call_hints.h).
struct CallHint {
  OperationId operation;
  uint32_t columns = 0;           // of a key; 0 where there is none
  std::span<const Value> keys{};  // each so many values, none NULL; all of a column are of one kind
};

struct Call {
  ProcedureId procedure;
  std::vector<Argument> arguments;
  std::span<const CallHint> hints{};  // of a logged call, by ascending operation; most calls have none
};

}  // namespace mneme
