// Goal: machine code means what the interpreter does, bit for bit: results, errors and their places, rows,
// recordings. Method: schemas and procedures are made at random (random_sql.h), whole and as slices that
// record, recall and locate, compiled many at a time, and called with random arguments on rows that collide
// often. Interpreter and machine code run each call on databases of their own, maps and real transactions,
// which must stay equal.
//
// The seed is printed; MNEME_SEED=n runs that one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "engine/testing/test_database.h"
#include "engine/transaction/digest.h"
#include "procedures/binder/program.h"
#include "procedures/interpreter/call_text.h"
#include "procedures/interpreter/interpreter.h"
#include "procedures/native/emitter.h"
#include "procedures/native/native_code.h"
#include "procedures/testing/map_access.h"
#include "procedures/testing/random_sql.h"
#include "procedures/values/run_errors.h"

namespace mneme {
namespace {

using ir::OperationMode;
using ir::Statement;
using ir::StatementKind;

#ifdef NDEBUG
constexpr int kPrograms = 1;
constexpr int kProcedures = 30;
#else
// The compiler takes the most time, and sanitizers make it take several times more.
constexpr int kPrograms = 1;
constexpr int kProcedures = 10;
#endif
constexpr int kCallsEach = 50;
constexpr int kRowsAtFirst = 25;  // of a table, at first

// The reports of slices, as text, and the outputs that they hand on.
class Notes final : public Recording, public LocateSink {
 public:
  explicit Notes(const ir::Procedure& procedure) : procedure_(procedure) {}

  void record(OperationId id, uint32_t iteration, uint32_t rows, std::span<const Value> values) override {
    const auto& outputs = procedure_.operations[id.value].outputs;
    text_ += fmt::format("record {} in {}: {} rows", id.value, iteration, rows);
    Execution execution{rows, {}};
    for (size_t i = 0; i < values.size(); ++i) {
      const Type& type = procedure_.variables[outputs[i % outputs.size()].into.value].type;
      print(type, values[i]);
      const bool is_text = type.is_string() && !values[i].is_null();
      execution.values.push_back(is_text ? Value::of_text(arena_.copy(values[i].as_text())) : values[i]);
    }
    executions_[{id.value, iteration}].push_back(std::move(execution));
  }
  Recorded recall(OperationId id, uint32_t iteration, uint32_t execution) override {
    text_ += fmt::format("recall {} in {} as {}; ", id.value, iteration, execution);
    return find(id, iteration, execution).value_or(Recorded{0, {}});
  }
  std::optional<Recorded> find(OperationId id, uint32_t iteration, uint32_t execution) override {
    const auto found = executions_.find({id.value, iteration});
    if (found == executions_.end() || execution >= found->second.size()) return std::nullopt;
    return Recorded{found->second[execution].rows, found->second[execution].values};
  }
  void locate(OperationId id, uint32_t access, uint32_t iteration, std::span<const Value> key) override {
    text_ += fmt::format("locate {} in {}:", id.value, iteration);
    const ir::TableAccess& of = procedure_.operations[id.value].access[access];
    for (size_t i = 0; i < key.size(); ++i) print(of.path.equalities[i].values[0].type, key[i]);
  }

  const std::string& text() const { return text_; }

 private:
  struct Execution {
    uint32_t rows;
    std::vector<Value> values;
  };
  void print(const Type& type, const Value& value) {
    text_ += " " + print_argument(type, Argument::of(value)).value_or("NULL");
  }

  const ir::Procedure& procedure_;
  std::string text_;
  Arena arena_;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<Execution>> executions_;
};

// ---- slices by hand ----

// Gives every operation a mode; what has no key of its own to locate is recalled.
void set_modes(std::vector<Statement>& statements, ir::MarkedBody& body, const ir::Procedure& procedure,
               bool outermost, OperationMode of_selects, OperationMode of_changes) {
  for (Statement& statement : statements) {
    ir::StatementMark mark;
    if (statement.operation.valid()) {
      const ir::Operation& operation = procedure.operations[statement.operation.value];
      mark.mode = operation.kind == ir::OperationKind::kSelect ? of_selects : of_changes;
      if (mark.mode == OperationMode::kLocate) {
        // A query of any form has no access of its own.
        for (const ir::TableAccess& access :
             std::span(operation.access).first(operation.access.empty() ? 0 : 1)) {
          for (const ir::AccessPath::Equality& equality : access.path.equalities) {
            if (equality.array.valid() || equality.values.size() != 1) break;
            mark.lane_key.push_back(equality.values[0]);
          }
        }
        if (mark.lane_key.empty() || statement.kind == StatementKind::kForQuery) {
          mark.lane_key.clear();
          mark.mode = OperationMode::kRecall;
        }
      }
    }
    const bool loop =
        statement.kind == StatementKind::kForRange || statement.kind == StatementKind::kForQuery;
    mark.iterations_apart = loop && outermost;
    body.mark(statement, std::move(mark));
    const bool inside = loop || statement.kind == StatementKind::kWhile;
    set_modes(statement.body, body, procedure, outermost && !inside, of_selects, of_changes);
    set_modes(statement.else_body, body, procedure, outermost, of_selects, of_changes);
  }
}

// ---- both ways ----

// Rows that one way of running works on.
class Rows {
 public:
  virtual ~Rows() = default;
  virtual RowAccess& begin() = 0;
  virtual void end(bool commit) = 0;
  virtual std::string contents() = 0;
  virtual std::string fault() { return ""; }
};

class MapRows final : public Rows {
 public:
  explicit MapRows(const Schema& schema) : schema_(schema), access_(schema) {}
  RowAccess& begin() override { return access_; }
  void end(bool commit) override { commit ? access_.commit() : access_.roll_back(); }
  std::string contents() override {
    std::string text;
    for (const TableDefinition& table : schema_.catalog().tables()) {
      for (const std::string& line : access_.dump(table.id)) text += table.name + ": " + line + "\n";
    }
    return text;
  }

 private:
  const Schema& schema_;
  MapAccess access_;
};

class TransactionRows final : public Rows {
 public:
  explicit TransactionRows(const Catalog& catalog)
      : database_(catalog, 1), transaction_(database_, database_.worker(WorkerId(0))) {
    database_.attach_log(log_);
  }
  RowAccess& begin() override {
    transaction_.begin();
    return transaction_;
  }
  void end(bool commit) override {
    if (!commit) return transaction_.abort();
    CHECK(transaction_.commit(as_bytes("a call")).status == CommitStatus::kCommitted);
  }
  std::string contents() override { return digest_of(database_, 1).to_string(); }
  std::string fault() override {
    const auto indexes = verify_indexes(database_);
    return indexes.ok() ? "" : indexes.error().message;
  }

 private:
  CountingLog log_;
  Database database_;
  Transaction transaction_;
};

class Equivalence {
 public:
  explicit Equivalence(uint64_t seed) : sql_(seed), seed_(seed) {}

  void run();

 private:
  void make_program();
  void compile_units();
  void fill(Rows& rows, const std::vector<std::vector<std::string>>& lines);
  void compare_calls(const ir::Procedure& procedure);
  std::vector<Argument> arguments(const ir::Procedure& procedure);
  std::string outcome_of(const RunRequest& request, Interpreter& interpreter);
  // One unit on one pair of rows: what was reported the one way and the other.
  void compare(const ir::Procedure& procedure, size_t unit, std::span<const Argument> arguments,
               std::optional<uint32_t> only_iteration, Rows& interpreted, Rows& native, Notes& expected_notes,
               Notes& found_notes, bool on_transaction);

  static constexpr size_t kUnitsEach = 4;  // whole, recording, recalling its selects, locating

  RandomSql sql_;
  uint64_t seed_;
  std::string schema_sql_;
  std::vector<std::string> procedures_sql_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Schema> schema_;
  std::vector<std::array<ir::MarkedBody, kUnitsEach - 1>> slices_;
  std::optional<NativeCode> code_;
  Arena arena_;
  uint64_t completed_ = 0;
  std::map<std::string, uint64_t> errors_;
};

void Equivalence::make_program() {
  schema_sql_ = sql_.schema();
  std::string text = schema_sql_;
  while (procedures_sql_.size() < kProcedures) {
    const std::string sql = sql_.procedure(fmt::format("p{}", procedures_sql_.size()));
    if (!compile(schema_sql_ + sql, "one.sql").ok()) continue;
    procedures_sql_.push_back(sql);
    text += sql;
  }
  auto program = compile(text, "random.sql");
  ASSERT_TRUE(program.ok()) << program.error().message;
  program_ = std::move(program).value();
  schema_ = std::make_unique<Schema>(program_->catalog);
}

void Equivalence::compile_units() {
  std::vector<NativeUnit> units;
  slices_.resize(program_->procedures.size());
  for (const ir::Procedure& procedure : program_->procedures) {
    auto& slices = slices_[procedure.id.value];
    units.push_back({procedure.name, &procedure, procedure.body});
    for (size_t i = 0; i < slices.size(); ++i) {
      slices[i].statements = procedure.body;
      const OperationMode record = OperationMode::kPerformAndRecord;
      set_modes(slices[i].statements, slices[i], procedure, true,
                i == 0   ? record
                : i == 1 ? OperationMode::kRecall
                         : OperationMode::kLocate,
                i == 2 ? OperationMode::kLocate : record);
      if (procedure.id.value % 4 == 0) {
        units.push_back({fmt::format("{}_slice{}", procedure.name, i), &procedure, slices[i]});
      }
    }
  }
  auto toolchain = NativeToolchain::of_this_program();
  ASSERT_TRUE(toolchain.ok());
  // The emitted code is compared, not its speed.
  toolchain->flags.push_back("-O1");
  auto code =
      NativeCode::load(emit_cpp(*program_, *schema_, units), units.size(), NativeFolders{}, *toolchain);
  ASSERT_TRUE(code.ok()) << code.error().message;
  code_.emplace(std::move(code).value());
}

void Equivalence::fill(Rows& rows, const std::vector<std::vector<std::string>>& lines) {
  for (const std::vector<std::string>& line : lines) {
    const TableId table{static_cast<uint32_t>(std::stoul(line[0]))};
    const TableDefinition& definition = schema_->catalog().table(table);
    std::vector<Value> values;
    bool has_room = true;
    for (size_t i = 0; i < definition.columns.size(); ++i) {
      const Column& column = definition.columns[i];
      if (line[i + 1].empty() && (column.nullable || !column.type.is_string())) {
        values.push_back(Value::null());
        continue;
      }
      const auto argument = parse_argument(column.type, line[i + 1], arena_);
      ASSERT_TRUE(argument.ok()) << argument.error().message;
      values.push_back(argument->scalar);
      has_room &=
          !lacks_room(schema_->catalog(), definition, ColumnId{static_cast<uint32_t>(i)}, values.back());
    }
    if (!has_room) continue;
    // A row whose key is there already is none.
    const AccessStatus status = rows.begin().insert(table, values);
    ASSERT_TRUE(status == AccessStatus::kOk || status == AccessStatus::kDuplicateKey);
    rows.end(status == AccessStatus::kOk);
  }
}

std::vector<Argument> Equivalence::arguments(const ir::Procedure& procedure) {
  std::vector<Argument> arguments;
  for (size_t i = 0; i < procedure.parameters.size(); ++i) {
    const Type& type = procedure.variables[procedure.parameters[i].variable.value].type;
    const std::string text = sql_.argument(i);
    if (text.empty()) {
      arguments.push_back(Argument{});
      continue;
    }
    auto argument = parse_argument(type, text, arena_);
    CHECK(argument.ok());
    arguments.push_back(*argument);
  }
  if (procedure.call_time.valid()) arguments.push_back(Argument::of(Value::of_int(123'456'789)));
  return arguments;
}

std::string Equivalence::outcome_of(const RunRequest& request, Interpreter& interpreter) {
  const Outcome outcome = interpreter.run(request);
  std::string text = fmt::format("{} {} \"{}\" at {}:{};", static_cast<int>(outcome.kind), outcome.sqlstate,
                                 outcome.message, outcome.where.line, outcome.where.column);
  if (!outcome.completed()) return text;
  if (request.body.statements.data() != request.procedure->body.data()) return text;
  size_t next = 0;
  for (const ir::Parameter& parameter : request.procedure->parameters) {
    if (!parameter.inout) continue;
    const Type& type = request.procedure->variables[parameter.variable.value].type;
    text += " " + print_argument(type, interpreter.results()[next++]).value_or("NULL");
  }
  return text;
}

void Equivalence::compare(const ir::Procedure& procedure, size_t unit, std::span<const Argument> arguments,
                          std::optional<uint32_t> only_iteration, Rows& interpreted, Rows& native,
                          Notes& expected_notes, Notes& found_notes, bool on_transaction) {
  size_t first = 0;
  for (uint32_t i = 0; i < procedure.id.value; ++i) first += i % 4 == 0 ? kUnitsEach : 1;
  const NativeFunctions& functions = code_->unit(first + unit);
  Interpreter interpreter(*schema_);
  Interpreter runner(*schema_);

  RunRequest request = RunRequest::of(procedure, arguments, interpreted.begin());
  if (unit > 0) request.body = slices_[procedure.id.value][unit - 1];
  request.recording = &expected_notes;
  request.locate = &expected_notes;
  request.only_iteration = only_iteration;
  const std::string expected = outcome_of(request, interpreter);
  interpreted.end(expected[0] == '0');

  request.rows = &native.begin();
  request.recording = &found_notes;
  request.locate = &found_notes;
  request.native = on_transaction ? functions.run_on_transaction : functions.run_on_any;
  const std::string found = outcome_of(request, runner);
  native.end(found[0] == '0');

  ++(expected[0] == '0' ? completed_ : errors_[expected.substr(2, 5)]);
  Call call{procedure.id, {arguments.begin(), arguments.end()}};
  const auto what = [&] {
    return fmt::format("MNEME_SEED={} unit {} of\n{}{}{}", seed_, unit, schema_sql_,
                       procedures_sql_[procedure.id.value], print_call(*program_, call));
  };
  ASSERT_EQ(found, expected) << what();
  ASSERT_EQ(found_notes.text(), expected_notes.text()) << what();
  ASSERT_EQ(native.contents(), interpreted.contents()) << what();
  ASSERT_EQ(interpreted.fault(), "") << what();
  ASSERT_EQ(native.fault(), "") << what();
}

void Equivalence::compare_calls(const ir::Procedure& procedure) {
  std::vector<std::vector<std::string>> lines;
  for (size_t table = 0; table < program_->catalog.tables().size(); ++table) {
    for (int i = 0; i < kRowsAtFirst; ++i) {
      std::vector<std::string> line = {fmt::format("{}", table)};
      for (size_t column = 0; column < sql_.column_count(table); ++column) {
        line.push_back(sql_.column_value(table, column));
      }
      lines.push_back(std::move(line));
    }
  }
  MapRows interpreted(*schema_);
  MapRows native(*schema_);
  TransactionRows interpreted_transaction(program_->catalog);
  TransactionRows native_transaction(program_->catalog);
  for (Rows* rows : {static_cast<Rows*>(&interpreted), static_cast<Rows*>(&native),
                     static_cast<Rows*>(&interpreted_transaction), static_cast<Rows*>(&native_transaction)}) {
    fill(*rows, lines);
  }
  for (int i = 0; i < kCallsEach; ++i) {
    const std::vector<Argument> chosen = arguments(procedure);
    Notes expected(procedure);
    Notes found(procedure);
    compare(procedure, 0, chosen, std::nullopt, interpreted, native, expected, found, false);
    if (testing::Test::HasFatalFailure()) return;
    compare(procedure, 0, chosen, std::nullopt, interpreted_transaction, native_transaction, expected, found,
            true);
    if (testing::Test::HasFatalFailure()) return;
    if (procedure.id.value % 4 != 0) continue;
    for (size_t unit = 1; unit < kUnitsEach; ++unit) {
      std::optional<uint32_t> only;
      if (unit > 1 && sql_.below(2) == 0) only = static_cast<uint32_t>(sql_.below(4));
      compare(procedure, unit, chosen, only, interpreted, native, expected, found, false);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

void Equivalence::run() {
  make_program();
  if (testing::Test::HasFatalFailure()) return;
  compile_units();
  if (testing::Test::HasFatalFailure()) return;
  for (const ir::Procedure& procedure : program_->procedures) {
    compare_calls(procedure);
    if (testing::Test::HasFatalFailure()) return;
  }
  std::string errors;
  for (const auto& [sqlstate, count] : errors_) errors += fmt::format(", {} of {}", count, sqlstate);
  fmt::print("seed {}: {} runs completed{}\n", seed_, completed_, errors);
  EXPECT_GT(completed_, uint64_t{kProcedures} * kCallsEach / 4) << "most calls should get somewhere";
}

TEST(NativeEquivalence, RandomProceduresMeanTheSame) {
  const char* const given = std::getenv("MNEME_SEED");
  const uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  const int programs = given != nullptr ? 1 : kPrograms;
  for (int i = 0; i < programs && !HasFatalFailure(); ++i) {
    fmt::print("MNEME_SEED={}\n", first + static_cast<uint64_t>(i));
    std::fflush(stdout);
    Equivalence(first + static_cast<uint64_t>(i)).run();
  }
}

}  // namespace
}  // namespace mneme
