// What the statements of a session share: where their rows go, and what they begin with.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "procedures/binder/command_binder.h"
#include "procedures/interpreter/interpreter.h"
#include "procedures/query/row_store.h"
#include "procedures/session/result_sink.h"
#include "procedures/times/timestamp.h"

namespace mneme {

// Hands the rows that the interpreter records to a sink.
class RecordedRows final : public Recording {
 public:
  RecordedRows(std::span<const ResultColumn> columns, ResultSink& rows)
      : columns_(columns), row_(columns.size()), rows_(rows) {}

  // Before an attempt.
  void begin() {
    rows_.begin(columns_);
    count_ = 0;
  }
  void record(OperationId, uint32_t, uint32_t rows, std::span<const Value> values) override {
    count_ += rows;
    const size_t width = row_.size();
    if (width == 0 || rows == 0) return;
    const size_t stride = values.size() / rows;  // what constraints look at comes behind the columns
    for (uint32_t row = 0; row < rows; ++row) {
      for (size_t column = 0; column < width; ++column)
        row_[column] = Argument::of(values[row * stride + column]);
      rows_.add(row_);
    }
  }
  Recorded recall(OperationId, uint32_t, uint32_t) override {
    CHECK(false && "a statement recalls nothing");
    return {};
  }
  std::optional<Recorded> find(OperationId, uint32_t, uint32_t) override { return std::nullopt; }

  uint32_t count() const { return count_; }
  // The last ones are taken back. Only where there are no columns.
  void count_again_from(uint32_t count) {
    CHECK(row_.empty());
    count_ = count;
  }

 private:
  const std::span<const ResultColumn> columns_;
  std::vector<Argument> row_;
  ResultSink& rows_;
  uint32_t count_ = 0;
};

// Keeps rows in a store.
class StoredRows final : public ResultSink {
 public:
  StoredRows(query::RowStore& rows, Arena& texts) : rows_(rows), texts_(texts) {}
  void begin(std::span<const ResultColumn> columns) override {
    rows_ = query::RowStore(columns.size());
    row_.resize(columns.size());
  }
  void add(std::span<const Argument> row) override {
    for (size_t i = 0; i < row.size(); ++i) row_[i] = row[i].scalar;
    rows_.add(row_, &texts_);
  }

 private:
  query::RowStore& rows_;
  Arena& texts_;
  std::vector<Value> row_;
};

class NoRows final : public ResultSink {
 public:
  void begin(std::span<const ResultColumn>) override {}
  void add(std::span<const Argument>) override {}
};

// A value for each variable of a query: its parameters, the time, and what it sets itself.
struct QueryInputs {
  QueryInputs(const ir::Procedure& procedure, std::span<const Argument> parameters)
      : variables(procedure.variables.size()), arrays(parameters.size()) {
    for (size_t i = 0; i < parameters.size(); ++i) {
      variables[i] = parameters[i].scalar;
      arrays[i] = {parameters[i].array, parameters[i].null_array};
    }
    if (procedure.call_time.valid())
      variables[procedure.call_time.value] = Value::of_int(current_timestamp());
  }

  std::vector<Value> variables;
  std::vector<ArrayValue> arrays;
};

// Hands on a query's row. Arrays, which are their texts in queries, are read into the arena; false where one
// is no text of its type.
[[nodiscard]] bool hand_on(std::span<const ResultColumn> columns, std::span<const Value> values, Arena& arena,
                           std::vector<Argument>& row, ResultSink& rows);
StatementResult no_array();

// Returns the command tag that a client gets, as in "UPDATE 3".
std::string tag_of(ir::OperationKind kind, uint64_t rows);

}  // namespace mneme
