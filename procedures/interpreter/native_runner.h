// NativeRunner: runs slices' machine code without the interpreter around it, many times on the same rows.
//
// For         replay, which runs some million slices a second and knows that each has machine code. What
//             needs variables, results or interpreted statements goes by Interpreter.
// Errors      run() returns false, and outcome() says why; its message lasts until the next run.
// Threads     one owner. The steady state allocates nothing.
#pragma once

#include <optional>
#include <span>

#include "base/memory/arena.h"
#include "engine/schema/schema.h"
#include "procedures/interpreter/interpreter.h"
#include "procedures/interpreter/native_abi.h"

namespace mneme {

class NativeRunner {
 public:
  // What a unit doesn't use may be nullptr, as in RunRequest.
  NativeRunner(const Schema& schema, RowAccess* rows, Recording* recording, LocateSink* locate)
      : run_{.schema = &schema,
             .procedure = nullptr,
             .arguments = {},
             .rows = rows,
             .recording = recording,
             .locate = locate,
             .only_iteration = std::nullopt,
             .arena = &arena_,
             .outcome = &outcome_,
             .error = &error_,
             .prefetch = true,
             .results = nullptr,
             .notices = nullptr,
             .stop = nullptr,
             .keys = nullptr} {}
  NativeRunner(const NativeRunner&) = delete;
  NativeRunner& operator=(const NativeRunner&) = delete;

  // `unit`: of a slice of the procedure; not a whole procedure, which has results. `keys`: as
  // RunRequest::keys.
  [[nodiscard]] bool run(NativeRunFunction unit, const ir::Procedure& procedure,
                         std::span<const Argument> arguments,
                         std::optional<uint32_t> only_iteration = std::nullopt, KeySink* keys = nullptr) {
    arena_.reset();
    run_.procedure = &procedure;
    run_.arguments = arguments;
    run_.only_iteration = only_iteration;
    run_.keys = keys;
    return unit(run_);
  }
  // How a run ended that did not complete.
  const Outcome& outcome() const { return outcome_; }

 private:
  Arena arena_;
  Outcome outcome_;
  SqlError error_;
  NativeRun run_;
};

}  // namespace mneme
