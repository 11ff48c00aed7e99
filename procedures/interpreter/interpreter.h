// Interpreter: runs a procedure's IR, or a slice of it, on any RowAccess: the reference semantics of the
// language.
//
// Flow        session.h (a client's call) and recovery/ (a piece) -> run() -> expression.h,
//             engine/transaction/row_access.h
// Invariants  Where SQL leaves the order of rows open, they come in the order of the access path. The rows
//             that a statement changes are found before the first is changed; the rows of FOR .. IN query
//             before the first iteration. Text in variables never points into a row: rows may be overwritten
//             while a variable lives.
// Errors      the outcome says how it ended. After anything but kCompleted the caller gives the transaction
//             up.
// Threads     one owner; the procedure and the schema are shared. The steady state allocates nothing.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "engine/schema/schema.h"
#include "engine/transaction/row_access.h"
#include "procedures/interpreter/call.h"
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
  };
  Kind kind = Kind::kCompleted;
  const char* sqlstate = "";  // of kRaised: PostgreSQL's code, P0001 for RAISE EXCEPTION; of kStopped, too
  std::string_view message;   // of the two: valid until the interpreter's next run
  ir::SourceLocation where;   // of kRaised: the statement
  std::string_view detail{};  // of kRaised, as the message
  std::string_view hint{};

  bool completed() const { return kind == Kind::kCompleted; }
};

// Told by statements that are marked kLocate which lane keys the rows of an operation's access have.
class LocateSink {
 public:
  virtual ~LocateSink() = default;

  // `iteration` of the procedure's outermost loop around the operation, from 0. A key value may be NULL: then
  // no row is touched, as NULL equals nothing (but an inserted one is).
  virtual void locate(OperationId operation, uint32_t access, uint32_t iteration,
                      std::span<const Value> key) = 0;
};

// One run: what, with which arguments, on what.
struct RunRequest {
  const ir::Procedure* procedure = nullptr;
  ir::BodyView body;                    // the procedure's own, or a slice's
  NativeRunFunction native = nullptr;   // the machine code of `body`: run in its place
  bool prefetch = true;                 // native code fetches rows ahead, where it knows which
  std::span<const Argument> arguments;  // one a parameter, then the hidden ones; checked (call_codec.h)
  RowAccess* rows = nullptr;            // needed if a statement performs
  Recording* recording = nullptr;       // needed if a statement records or recalls
  LocateSink* locate = nullptr;         // needed if a statement locates
  Sequences* sequences = nullptr;       // needed if an expression draws from one
  StopRequest* stop = nullptr;          // may end the run; nullptr: nothing does
  Notices* notices = nullptr;           // what RAISE says goes here; nullptr: nowhere
  // Runs only this iteration, counted from 0, of the loop marked iterations_apart, which stands in `body`
  // itself; one past the loop's end runs none. Everything outside the loop runs as always.
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
