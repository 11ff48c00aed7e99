#include "embedding/embedded_database.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "logging/manifest.h"

namespace mneme {
namespace {

uint32_t hardware_threads() { return std::max(1u, std::thread::hardware_concurrency()); }

}  // namespace

Connection::Place::~Place() {
  const std::lock_guard lock(database->mutex_);
  database->is_connected_[worker.value] = false;
}

Connection::Connection(EmbeddedDatabase& database, WorkerId worker)
    : place_(std::make_unique<Place>(database, worker)),
      statements_(std::make_unique<LiveSession>(database.working(), worker, hardware_threads())) {}

// The sessions end before their worker is another's.
Connection::~Connection() {
  calls_.reset();
  statements_.reset();
}

StatementResult Connection::run(const std::string& text) { return statements_->run(text); }

Connection::Calls& Connection::calls() {
  EmbeddedDatabase& database = *place_->database;
  WorkingDatabase& working = database.working();
  if (calls_ == nullptr || calls_->version != working.schema_version()) {
    // In this order: the session of a schema that is gone must not outlive what it refers to.
    calls_.reset();
    std::shared_ptr<const CompiledUnits> code = database.code();
    const std::span<const NativeFunctions> functions = code->functions();
    calls_.reset(new Calls{working.schema_version(), std::move(code),
                           Session(working.program(), working.database(), place_->worker, {.native = functions})});
  }
  return *calls_;
}

CallResult Connection::refuse(std::string message) {
  message_ = std::move(message);
  CallResult result;
  result.status = CallResult::Status::kRefused;
  result.message = message_;
  return result;
}

CallResult Connection::call(std::string_view procedure, std::span<const Argument> arguments) {
  if (statements_->block() != SqlSession::Block::kNone) {
    return refuse("a transaction block is open, and a call is a transaction of its own: run CALL as a statement, or end the block");
  }
  WorkingDatabase& working = place_->database->working();
  working.schema_latch().enter(place_->worker);
  CallResult result;
  if (const ir::Procedure* called = working.program().find_procedure(procedure); called == nullptr) {
    result = refuse(fmt::format("there is no procedure {}: create it, or see how it is written", procedure));
  } else {
    call_.procedure = called->id;
    call_.arguments.assign(arguments.begin(), arguments.end());
    while (call_.arguments.size() < called->parameters.size() && called->parameters[call_.arguments.size()].inout) {
      call_.arguments.emplace_back();
    }
    result = calls().session.run(call_);
    const bool tells_state = result.committed() || result.status == CallResult::Status::kRolledBack;
    if (tells_state && !working.log().wait_durable(result.lsn)) {
      message_ = working.log().failure()->message;
      result.status = CallResult::Status::kLogFailed;
      result.message = message_;
    }
  }
  working.schema_latch().leave(place_->worker);
  return result;
}

EmbeddedDatabase::EmbeddedDatabase(std::string directory, EmbeddedOptions options, WorkingDatabase working)
    : directory_(std::move(directory)),
      options_(std::move(options)),
      working_(std::move(working)),
      is_connected_(options_.connections) {}

Result<std::unique_ptr<EmbeddedDatabase>> EmbeddedDatabase::open(const std::string& directory, EmbeddedOptions options) {
  if (options.connections == 0) return invalid_argument("a database without connections is of no use: allow one or more");
  options.log.workers = options.connections;
  std::vector<std::string> notices;
  std::optional<WorkingDatabase> working;
  if (holds_database(directory)) {
    RecoverOptions recover;
    recover.execution = options.execution;
    recover.replay.threads = hardware_threads();
    Result<OpenedDatabase> opened = open_for_work(directory, recover, options.log);
    if (!opened) return opened.error();
    notices = opened->report.notices;
    working.emplace(std::move(opened->working));
  } else {
    Result<std::unique_ptr<Program>> program = compile("", "");
    if (!program) return program.error();
    CreateOptions create;
    create.records = options.records;
    create.log = options.log;
    Result<CreatedDatabase> created =
        create_database(directory, *std::move(program), [](Database&) { return Result<void>(); }, create);
    if (!created) return created.error();
    working.emplace(std::move(created->working));
  }
  for (const std::string& notice : working->log().notices()) notices.push_back(notice);
  std::unique_ptr<EmbeddedDatabase> database(new EmbeddedDatabase(directory, std::move(options), *std::move(working)));
  for (const std::string& notice : notices) database->tell(notice);
  return database;
}

Result<Connection> EmbeddedDatabase::connect() {
  std::unique_lock lock(mutex_);
  const auto free = std::ranges::find(is_connected_, false);
  if (free == is_connected_.end()) {
    return failed("{} has {} connections, as many as it was opened for: end one, or open it with more", directory_,
                  is_connected_.size());
  }
  *free = true;
  const WorkerId worker(static_cast<uint32_t>(free - is_connected_.begin()));
  lock.unlock();
  return Connection(*this, worker);
}

std::shared_ptr<const CompiledUnits> EmbeddedDatabase::code() {
  const std::lock_guard lock(mutex_);
  if (code_ != nullptr && code_version_ == working_.schema_version()) return code_;
  if (options_.execution == Execution::kInterpreted) {
    code_ = std::make_shared<CompiledUnits>();
  } else {
    code_ = std::make_shared<CompiledUnits>(CompiledUnits::load(working_.program(), working_.database().schema(),
                                                                procedure_units(working_.program()),
                                                                working_folders(directory_)));
    if (options_.notice) {
      for (const std::string& notice : code_->notices()) options_.notice(notice);
    }
  }
  code_version_ = working_.schema_version();
  return code_;
}

void EmbeddedDatabase::tell(const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  if (options_.notice) options_.notice(sentence);
}

}  // namespace mneme
