#include "embedding/embedded_database.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>

#include "base/float_environment.h"
#include "base/fork.h"
#include "engine/schema/qualified_name.h"
#include "logging/directory/manifest.h"
#include "logging/remote/remote_device.h"
#include "logging/replicated/replicated_device.h"
#include "procedures/native/background_units.h"

namespace mneme {
namespace {

constexpr const char* kInOtherProcess =
    "this connection belongs to the process that this one was forked from: open the database anew here, once "
    "that process has "
    "closed it";
constexpr const char* kMovedFrom = "this connection was moved from: use the one that it was moved to";
constexpr const char* kInUse =
    "this connection is running another statement or call, of another thread or of the one that called "
    "notice(): use one "
    "connection a thread";

uint32_t hardware_threads() {
  return std::max(1u, std::thread::hardware_concurrency());
}

// For the threads that are made meanwhile: the program's handlers, timers and profilers are not for them.
// Signals that end the process, or that are a fault of the thread itself, stay unblocked.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    for (const int kept : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGSEGV,
                           SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGXCPU, SIGXFSZ, SIGRTMIN}) {
      sigdelset(&all, kept);
    }
    ::pthread_sigmask(SIG_BLOCK, &all, &former_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &former_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t former_;
};

Result<std::string> absolute(const std::string& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error);
  if (path.empty()) return invalid_argument("the directory of a database has no name: give it one");
  if (error) return file_error("find", path, error.value());
  return whole.string();
}

// Keeps an object of the parent's that a child of fork() must neither use nor free.
void leave_alone(std::shared_ptr<const void> object) {
  static auto* const left = new std::vector<std::shared_ptr<const void>>;
  left->push_back(std::move(object));
}

}  // namespace

struct EmbeddedDatabase::State {
  State(std::string of, EmbeddedOptions with, std::shared_ptr<WorkingDatabase> database)
      : directory(std::move(of)),
        options(std::move(with)),
        working(std::move(database)),
        is_connected(options.connections) {}
  ~State() {
    if (!is_in_child()) return;
    leave_alone(std::move(code));
    leave_alone(std::move(working));
  }

  bool is_in_child() const { return process != this_process(); }
  // Returns the code of the present version, which may still be in the making. The caller is inside the
  // schema's latch.
  std::shared_ptr<BackgroundUnits> present_code();
  void tell(const std::string& sentence);

  const std::string directory;
  const EmbeddedOptions options;
  const uint64_t process = this_process();
  std::shared_ptr<WorkingDatabase> working;  // a standby's is its follower's, too
  RecoveryReport report;

  std::mutex mutex;                // guards what follows
  std::vector<bool> is_connected;  // by worker
  std::shared_ptr<BackgroundUnits> code;
  uint64_t code_version = 0;
  bool code_was_told = false;  // its notices

  std::mutex telling;  // one at a time
};

struct Connection::Inside {
  // The calls of one version of the schema. Their session is made anew once the machine code is there.
  struct Calls {
    uint64_t version;
    std::shared_ptr<BackgroundUnits> code;
    bool is_interim;  // interprets while the code is in the making
    Session session;
  };

  Inside(std::shared_ptr<EmbeddedDatabase::State> of, WorkerId number)
      : database(std::move(of)),
        worker(number),
        statements(std::make_unique<LiveSession>(*database->working, worker, hardware_threads(),
                                                 database->options.lock_timeout,
                                                 [this] { return database->present_code(); })) {}
  // The sessions end before their worker is another's.
  ~Inside() {
    if (database->is_in_child()) {
      leave_alone(std::move(calls));
      leave_alone(std::move(statements));
      return;
    }
    calls.reset();
    statements.reset();
    const std::lock_guard lock(database->mutex);
    database->is_connected[worker.value] = false;
  }

  CallResult call(std::string_view procedure, std::span<const Argument> arguments);
  Calls& present_calls();
  static CallResult refuse(std::string_view message, std::string_view sqlstate);

  const std::shared_ptr<EmbeddedDatabase::State> database;
  const WorkerId worker;
  std::unique_ptr<LiveSession> statements;
  std::unique_ptr<Calls> calls;
  Call called;
  std::string message;
  std::atomic<bool> is_working{false};  // acquire and release: a connection that is handed on is whole
};

// While a statement or a call runs.
struct Connection::Working {
  // Why it can't, or nothing.
  const char* refusal = nullptr;
  const char* sqlstate = "";
  Inside* const inside;
  DefaultFloatEnvironment floats;

  explicit Working(Inside* of) : inside(of) {
    if (inside == nullptr) {
      refusal = kMovedFrom;
      sqlstate = "08003";  // connection_does_not_exist
    } else if (inside->database->is_in_child()) {
      refusal = kInOtherProcess;
      sqlstate = "08003";
    } else if (inside->is_working.exchange(true, std::memory_order_acquire)) {
      refusal = kInUse;
      sqlstate = sqlstate::kNotInPrerequisiteState;
    }
  }
  ~Working() {
    if (refusal == nullptr) inside->is_working.store(false, std::memory_order_release);
  }
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;
};

Connection::Connection(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
Connection::Connection(Connection&&) noexcept = default;
Connection::~Connection() = default;

StatementResult Connection::run(const std::string& text) {
  const Working working(inside_.get());
  if (working.refusal != nullptr) return StatementResult::failure(working.sqlstate, working.refusal);
  StatementResult result = inside_->statements->run(text);
  for (std::string* each : {&result.message, &result.detail, &result.hint, &result.notice})
    *each = shown_names(*each);
  return result;
}

CallResult Connection::call(std::string_view procedure, std::span<const Argument> arguments) {
  const Working working(inside_.get());
  if (working.refusal != nullptr) return Inside::refuse(working.refusal, working.sqlstate);
  return inside_->call(procedure, arguments);
}

LiveSession& Connection::session() {
  return *inside_->statements;
}

Connection::Inside::Calls& Connection::Inside::present_calls() {
  WorkingDatabase& working = *database->working;
  if (calls == nullptr || calls->version != working.schema_version() ||
      (calls->is_interim && calls->code->result() != nullptr)) {
    // In this order: the session of a schema that is gone must not outlive what it refers to.
    calls.reset();
    std::shared_ptr<BackgroundUnits> code = database->present_code();
    const CompiledUnits* const ready = code->result();
    std::span<const NativeFunctions> functions;
    if (ready != nullptr) functions = ready->functions();
    calls.reset(new Calls{working.schema_version(), std::move(code), ready == nullptr,
                          Session(working.program(), working.database(), worker, {.native = functions})});
  }
  return *calls;
}

CallResult Connection::Inside::refuse(std::string_view message, std::string_view sqlstate) {
  CallResult result;
  result.status = CallResult::Status::kRefused;
  result.message = message;
  result.sqlstate = sqlstate;
  return result;
}

CallResult Connection::Inside::call(std::string_view procedure, std::span<const Argument> arguments) {
  if (statements->block() != SqlSession::Block::kNone) {
    return refuse(
        "a transaction block is open, and a call is a transaction of its own: run CALL as a statement, or "
        "end the block",
        sqlstate::kActiveTransaction);
  }
  WorkingDatabase& working = *database->working;
  if (working.schema_latch().enter(worker) != SchemaLatch::Entered::kInside) {
    return refuse(
        "a change of the schema waits for the transaction block that this thread has open on another "
        "connection, and this call "
        "would wait for that change: end the block, and try again",
        sqlstate::kDeadlock);
  }
  struct Leave {  // also where an exception ends the call
    SchemaLatch& latch;
    WorkerId worker;
    ~Leave() { latch.leave(worker); }
  } leave{working.schema_latch(), worker};

  const ir::Procedure* const found = working.program().find_procedure(procedure);
  if (found == nullptr) {
    message = fmt::format("there is no procedure {}: create it, or see how it is written", procedure);
    return refuse(message, sqlstate::kUndefinedFunction);
  }
  called.procedure = found->id;
  called.arguments.assign(arguments.begin(), arguments.end());
  while (called.arguments.size() < found->parameters.size() &&
         found->parameters[called.arguments.size()].inout) {
    called.arguments.emplace_back();
  }
  CallResult result = present_calls().session.run(called);
  const bool tells_state = result.committed() || result.status == CallResult::Status::kRolledBack;
  if (tells_state && !working.log().wait_durable(result.lsn)) {
    message = working.log().failure()->message;
    result.status = CallResult::Status::kLogFailed;
    result.message = message;
  }
  return result;
}

Result<std::unique_ptr<EmbeddedDatabase>> EmbeddedDatabase::open(const std::string& name,
                                                                 EmbeddedOptions options) {
  const SignalsBlocked signals;
  const DefaultFloatEnvironment floats;
  register_remote_device();
  register_replicated_devices();
  if (options.connections == 0)
    return invalid_argument("a database without connections is of no use: allow one or more");
  Result<std::string> directory = absolute(name);
  if (!directory) return directory.error();
  if (!options.log.device_options.remote.key_file.empty()) {
    Result<std::string> key_file = absolute(options.log.device_options.remote.key_file);
    if (!key_file) return key_file.error();
    options.log.device_options.remote.key_file = *std::move(key_file);
  }
  options.log.workers = options.connections;
  std::vector<std::string> notices;
  std::optional<WorkingDatabase> working;
  RecoveryReport report;
  if (holds_database(*directory)) {
    RecoverOptions recover;
    recover.execution = options.execution;
    recover.replay.threads = hardware_threads();
    recover.on_demand = options.on_demand;
    recover.most_bulk_seconds = options.most_bulk_seconds;
    Result<OpenedDatabase> opened = open_for_work(*directory, recover, options.log);
    if (!opened) return opened.error();
    notices = opened->report.notices;
    report = std::move(opened->report);
    working.emplace(std::move(opened->working));
  } else {
    Result<std::unique_ptr<Program>> program = compile("", "");
    if (!program) return program.error();
    CreateOptions create;
    create.records = options.records;
    create.log = options.log;
    Result<CreatedDatabase> created = create_database(
        *directory, *std::move(program), [](Database&) { return Result<void>(); }, create);
    if (!created) return created.error();
    working.emplace(std::move(created->working));
  }
  for (const std::string& notice : working->log().notices()) notices.push_back(notice);
  working->database().set_concurrency(options.concurrency);
  auto state = std::make_shared<State>(*std::move(directory), std::move(options),
                                       std::make_shared<WorkingDatabase>(*std::move(working)));
  state->report = std::move(report);
  for (const std::string& notice : notices) state->tell(notice);
  return std::unique_ptr<EmbeddedDatabase>(new EmbeddedDatabase(std::move(state)));
}

std::unique_ptr<EmbeddedDatabase> EmbeddedDatabase::of_standby(std::string directory,
                                                               std::shared_ptr<WorkingDatabase> working,
                                                               EmbeddedOptions options) {
  working->database().set_concurrency(options.concurrency);
  return std::unique_ptr<EmbeddedDatabase>(new EmbeddedDatabase(
      std::make_shared<State>(std::move(directory), std::move(options), std::move(working))));
}

const RecoveryReport& EmbeddedDatabase::recovered() const {
  return state_->report;
}

WorkingDatabase& EmbeddedDatabase::working() {
  return *state_->working;
}

Execution EmbeddedDatabase::await_machine_code() {
  std::shared_ptr<BackgroundUnits> code;
  if (!state_->is_in_child()) {
    const std::lock_guard lock(state_->mutex);
    code = state_->code;
  }
  return code == nullptr ? Execution::kInterpreted : code->wait().execution();
}

Result<Connection> EmbeddedDatabase::connect() {
  State& state = *state_;
  if (state.is_in_child()) {
    return failed(
        "{} was opened by the process that this one was forked from: open it anew here, once that process "
        "has closed it",
        state.directory);
  }
  std::unique_lock lock(state.mutex);
  const auto free = std::ranges::find(state.is_connected, false);
  if (free == state.is_connected.end()) {
    return failed("{} has {} connections, as many as it was opened for: end one, or open it with more",
                  state.directory, state.is_connected.size());
  }
  const WorkerId worker(static_cast<uint32_t>(free - state.is_connected.begin()));
  auto inside = std::make_unique<Connection::Inside>(state_, worker);
  *free = true;
  return Connection(std::move(inside));
}

std::shared_ptr<BackgroundUnits> EmbeddedDatabase::State::present_code() {
  std::vector<std::string> notices;
  std::shared_ptr<BackgroundUnits> present;
  {
    const std::lock_guard lock(mutex);
    if (code == nullptr || code_version != working->schema_version()) {
      if (code != nullptr) code->stop();
      if (options.execution == Execution::kInterpreted) {
        code = std::make_shared<BackgroundUnits>();
      } else {
        const SignalsBlocked signals;
        code = std::make_shared<BackgroundUnits>(working->program(), working->database().schema(),
                                                 procedure_units(working->program()),
                                                 working_folders(directory));
      }
      code_version = working->schema_version();
      code_was_told = false;
    }
    present = code;
    if (const CompiledUnits* const ready = code->result(); ready != nullptr && !code_was_told) {
      notices = ready->notices();
      code_was_told = true;
    }
  }
  for (const std::string& notice : notices) tell(notice);
  return present;
}

void EmbeddedDatabase::State::tell(const std::string& sentence) {
  if (!options.notice) return;
  const std::lock_guard lock(telling);
  try {
    options.notice(sentence);
  } catch (...) {
    // The sentence is for people; a database that was opened, or a call, doesn't fail for want of them.
  }
}

}  // namespace mneme
