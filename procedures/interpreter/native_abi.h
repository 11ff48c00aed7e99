// The door between Mneme and the machine code of procedures: what a native function is given, and what it
// gives back.
//
// Flow        emitter.h writes C++ for units (a procedure's body, or a slice of one) -> native_code.h has the
//             compiler make a shared object of it -> Interpreter::run() calls a unit's function where
//             RunRequest::native names one, and interprets otherwise: callers see no difference but speed.
// Invariants  a function means what the interpreter does with the same body: same rows, results, recordings,
//             errors.
// Threads     functions keep no state between runs: any thread may call them, each with a NativeRun of its
//             own.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/memory/arena.h"
#include "engine/schema/schema.h"
#include "engine/transaction/row_access.h"
#include "procedures/interpreter/call.h"
#include "procedures/interpreter/notices.h"
#include "procedures/interpreter/recording.h"
#include "procedures/interpreter/row_peeks.h"
#include "procedures/ir/ir.h"
#include "procedures/ir/marked_body.h"
#include "procedures/ir/sql_error.h"
#include "procedures/values/stop_request.h"

namespace mneme {

struct Outcome;
class KeySink;
class LocateSink;

// One run of a unit: what RunRequest says, the interpreter's memory, and where the outcome goes.
struct NativeRun {
  const Schema* schema;
  const ir::Procedure* procedure;
  std::span<const Argument> arguments;
  RowAccess* rows;  // null where the unit performs nothing
  Recording* recording;
  LocateSink* locate;
  std::optional<uint32_t> only_iteration;
  Arena* arena;       // reset before each run; text and arrays that outlive an operation lie here
  Outcome* outcome;   // kCompleted, until the function says otherwise
  SqlError* error;    // where arithmetic and the like leave what went wrong
  bool prefetch;      // whether rows whose keys are known are fetched ahead (RowAccess::prefetch)
  Argument* results;  // one for each INOUT parameter, in order: set by a run that completes
  Notices* notices;   // what RAISE says goes here; null: nowhere
  StopRequest* stop;  // looked at in each iteration of a loop; null: the run goes on to its end
  KeySink* keys;      // is told the keys of statements marked kTell; null: they are passed over
};

// False: the outcome says how it ended.
using NativeRunFunction = bool (*)(NativeRun& run);
// The call, or slice, whose look-ups are to be named.
struct LookupRequest {
  const Schema* schema = nullptr;
  std::span<const Argument> arguments{};
  RowPeeks* peeks = nullptr;       // of a procedure: what earlier rounds have found
  Recording* recording = nullptr;  // of a slice that recalls something
  std::optional<uint32_t> only_iteration{};
};
// The rows that a procedure or a slice will look up, as far as its arguments and recordings tell, and in
// later rounds what earlier ones have found: at most `lookups.size()`, and how many. What is named need not
// exist, and will not be asked for in every case.
using NativeLookupFunction = size_t (*)(const LookupRequest& request, std::span<RowLookup> lookups);
// One a round, as many as there are; then nullptr.
using NativeLookupRounds = std::array<NativeLookupFunction, Prefetcher::kMaxRounds>;

struct NativeFunctions {
  NativeRunFunction run_on_transaction = nullptr;  // rows is a Transaction
  NativeRunFunction run_on_any = nullptr;          // rows is any RowAccess
  NativeRunFunction run_on_replay = nullptr;       // rows is a ReplayAccess
  NativeLookupRounds lookups{};                    // of a slice there is one round, if any
};

// Code to be compiled as one function.
struct NativeUnit {
  std::string name;  // an identifier, unique among the units compiled together
  const ir::Procedure* procedure = nullptr;
  ir::BodyView body;
  // A slice that runs on a ReplayAccess, whose functions its code then holds. Else it runs on any rows.
  bool is_for_replay = false;
  // The body is the procedure's, with statements that tell keys among its own.
  bool tells_keys = false;

  // A procedure, not a slice of one.
  bool is_whole() const {
    return tells_keys || (body.statements.data() == procedure->body.data() &&
                          body.statements.size() == procedure->body.size());
  }
};

}  // namespace mneme
