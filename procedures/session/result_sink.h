// ResultSink: takes the rows of a statement as it finds them.
#pragma once

#include <span>

#include "procedures/binder/command_binder.h"
#include "procedures/interpreter/call.h"

namespace mneme {

class ResultSink {
 public:
  virtual ~ResultSink() = default;

  // Before the first row. Again where a conflict ended the attempt that found the rows so far, and the
  // statement runs once more: they are to be forgotten. The columns last until the statement has ended.
  virtual void begin(std::span<const ResultColumn> columns) = 0;
  // One value a column, NULL or of the column's type. Text and arrays last until the call returns.
  virtual void add(std::span<const Argument> row) = 0;
};

}  // namespace mneme
