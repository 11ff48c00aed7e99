// RowWriter: a statement's rows as DataRow messages.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "procedures/session/result_sink.h"
#include "server/protocol/backend_messages.h"

namespace mneme {

// A result that a client does not read yet takes memory of the server's.
inline constexpr size_t kMostResultBytes = size_t{256} << 20;

class RowWriter final : public ResultSink {
 public:
  // Both outlive it.
  RowWriter(std::span<const ValueFormat> formats, std::vector<std::byte>& bytes)
      : formats_(formats), out_(bytes), begin_(out_.mark()) {}

  void begin(std::span<const ResultColumn> columns) override {
    columns_ = columns;
    out_.take_back(begin_);
    is_too_large_ = false;
    count_ = 0;
  }
  void add(std::span<const Argument> row) override {
    if (out_.mark() - begin_ > kMostResultBytes) {
      is_too_large_ = true;
      return;
    }
    write_data_row(columns_, row, formats_, out_);
    ++count_;
  }
  size_t count() const { return count_; }
  // Rows were left out.
  bool is_too_large() const { return is_too_large_; }

 private:
  std::span<const ResultColumn> columns_;
  const std::span<const ValueFormat> formats_;
  MessageWriter out_;
  const size_t begin_;
  size_t count_ = 0;
  bool is_too_large_ = false;
};

}  // namespace mneme
