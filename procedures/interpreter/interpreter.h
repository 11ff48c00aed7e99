// Interpreter: runs a procedure's IR, or a slice of it, on any RowAccess: the reference semantics of the
// language.
//
// Flow        session.h (a client's call), recovery/ (a piece of a logged call) -> run() -> expression.h,
//             engine/transaction/row_access.h
// Invariants  Where SQL leaves the order of rows open, they come in the order of the access path. The rows
//             that a statement changes are found before the first is changed; the rows of FOR .. IN query
//             before the first iteration. Text in variables never points into a row: rows may be overwritten
//             while a variable lives.
// Errors      the outcome says how the run ended. Unless it completed, the caller aborts the transaction.
// Threads     one owner; the procedure and the schema are shared. The steady state allocates nothing.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "engine/schema/schema.h"
#include "engine/transaction/row_access.h"
#include "procedures/interpreter/call.h"
#include "procedures/interpreter/call_hints.h"
#include "procedures/interpreter/native_abi.h"
#include "procedures/interpreter/notices.h"
#include "procedures/interpreter/recording.h"
#include "procedures/ir/ir.h"
#include "procedures/ir/marked_body.h"
#include "procedures/values/expression.h"
#include "procedures/values/stop_request.h"

namespace mneme {

struct Outcome {
  enum class Kind : uint8_t {
    kCompleted,
    kRaised,       // RAISE EXCEPTION, or an SQL run-time error
    kConflict,     // another transaction was in the way: run it again
    kOutOfMemory,  // the database is full
    kStopped,      // RunRequest::stop
    kOutsideHint,  // RunRequest::keys has refused a key
  };
  Kind kind = Kind::kCompleted;
  // kRaised, kStopped: PostgreSQL's code (P0001 for RAISE EXCEPTION). Texts are valid until the interpreter's
  // next run.
  const char* sqlstate = "";
  std::string_view message;
  // kRaised, kOutsideHint: the statement; kRaised: the DETAIL and HINT of the error.
  ir::SourceLocation where;
  std::string_view detail{};
  std::string_view hint{};

  bool completed() const { return kind == Kind::kCompleted; }
};

// Receives lane keys: a statement marked kLocate reports those of the rows that one access touches.
class LocateSink {
 public:
  virtual ~LocateSink() = default;

  // `iteration`: of the procedure's outermost loop around the operation, from 0. A key value may be NULL: the
  // operation then touches no row, as NULL equals nothing, unless it inserts the row.
  virtual void locate(OperationId operation, uint32_t access, uint32_t iteration,
                      std::span<const Value> key) = 0;
};

// One run: the statements, their arguments, and the objects that they work on.
struct RunRequest {
  const ir::Procedure* procedure = nullptr;
  ir::BodyView body;                    // the procedure's own, or a slice's
  NativeRunFunction native = nullptr;   // the machine code of `body`, which runs instead of it
  bool prefetch = true;                 // native code prefetches the rows that it can name early
  std::span<const Argument> arguments;  // the parameters', then the hidden ones (call.h); already checked
  RowAccess* rows = nullptr;            // needed if a statement performs
  Recording* recording = nullptr;       // needed if a statement records or recalls
  LocateSink* locate = nullptr;         // needed if a statement locates
  KeySink* keys = nullptr;              // is told keys; nullptr: statements that tell are passed over
  Sequences* sequences = nullptr;       // needed if an expression draws from one
  StopRequest* stop = nullptr;          // ends the run when it is set; nullptr: the run can't be stopped
  Notices* notices = nullptr;           // receives what RAISE NOTICE reports; nullptr: it is dropped
  // Runs only this iteration, counted from 0, of the loop marked iterations_apart. That loop is a statement
  // of `body` itself. A number past its last iteration runs none. Statements outside the loop run as always.
  std::optional<uint32_t> only_iteration = std::nullopt;

  static RunRequest of(const ir::Procedure& procedure, std::span<const Argument> arguments, RowAccess& rows) {
    RunRequest request;
    request.procedure = &procedure;
    request.body = procedure.body;
    request.arguments = arguments;
    request.rows = &rows;
    return request;
  }
};

class Interpreter {
 public:
  explicit Interpreter(const Schema& schema);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  Outcome run(const RunRequest& request);

  // The INOUT parameters' values after a completed run, in order. Valid until the next run; text may also
  // point into the arguments.
  std::span<const Argument> results();

 private:
  class Machine;
  std::unique_ptr<Machine> machine_;
};

}  // namespace mneme
