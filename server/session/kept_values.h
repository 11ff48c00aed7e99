// Kept values: a result's rows as values, which outlive the statement that found them: a cursor's, and the
// arguments of EXECUTE.
//
// Memory      kMostResultBytes at most; rows beyond that are left out, and is_too_large() says so.
// Threads     one owner.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/memory/arena.h"
#include "procedures/session/result_sink.h"
#include "server/session/row_writer.h"

namespace mneme {

class KeptValues final : public ResultSink {
 public:
  void begin(std::span<const ResultColumn> columns) override {
    columns_.assign(columns.begin(), columns.end());
    values_.clear();
    bytes_ = 0;
  }
  void add(std::span<const Argument> row) override {
    if (is_too_large()) return;
    for (const Argument& each : row) values_.push_back(kept(each));
  }

  std::span<const ResultColumn> columns() const { return columns_; }
  size_t size() const { return columns_.empty() ? 0 : values_.size() / columns_.size(); }
  std::span<const Argument> row(size_t number) const {
    return std::span(values_).subspan(number * columns_.size(), columns_.size());
  }
  size_t bytes() const { return bytes_; }
  bool is_too_large() const { return bytes_ > kMostResultBytes; }

 private:
  Value kept(const Value& value) {
    if (value.kind() != Value::Kind::kText) return value;
    bytes_ += value.as_text().size();
    return Value::of_text(arena_.copy(value.as_text()));
  }
  Argument kept(const Argument& argument) {
    bytes_ += sizeof(Argument);
    if (argument.null_array) return Argument::of(kept(argument.scalar));
    const std::span<Value> elements = arena_.make_array<Value>(argument.array.size());
    for (size_t i = 0; i < elements.size(); ++i) elements[i] = kept(argument.array[i]);
    bytes_ += elements.size_bytes();
    return Argument::of_array(elements);
  }

  std::vector<ResultColumn> columns_;
  std::vector<Argument> values_;
  size_t bytes_ = 0;
  Arena arena_;
};

}  // namespace mneme
