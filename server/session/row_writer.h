// Kept rows: a statement's rows as messages, which the server keeps until its client reads them. RowWriter
// makes DataRow messages of them; COPY has another kind (client_copy.cc).
//
// Memory      a result takes kMostResultBytes at most; rows beyond that are left out, and is_too_large() says
//             so.
// Threads     one owner.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "procedures/session/result_sink.h"
#include "server/protocol/backend_messages.h"

namespace mneme {

inline constexpr size_t kMostResultBytes = size_t{256} << 20;

class KeptRows : public ResultSink {
 public:
  // `bytes` outlives it.
  explicit KeptRows(std::vector<std::byte>& bytes) : out_(bytes), begin_(out_.mark()) {}

  void begin(std::span<const ResultColumn> columns) final {
    columns_ = columns;
    out_.take_back(begin_);
    is_too_large_ = false;
    count_ = 0;
  }
  void add(std::span<const Argument> row) final {
    is_too_large_ |= out_.mark() - begin_ > kMostResultBytes;
    if (is_too_large_) return;
    write(columns_, row, out_);
    ++count_;
  }
  size_t count() const { return count_; }
  bool is_too_large() const { return is_too_large_; }

 private:
  // Appends the message of one row.
  virtual void write(std::span<const ResultColumn> columns, std::span<const Argument> row,
                     MessageWriter& out) = 0;

  std::span<const ResultColumn> columns_;
  MessageWriter out_;
  const size_t begin_;
  size_t count_ = 0;
  bool is_too_large_ = false;
};

class RowWriter final : public KeptRows {
 public:
  // Both outlive it.
  RowWriter(std::span<const ValueFormat> formats, std::vector<std::byte>& bytes)
      : KeptRows(bytes), formats_(formats) {}

 private:
  void write(std::span<const ResultColumn> columns, std::span<const Argument> row,
             MessageWriter& out) override {
    write_data_row(columns, row, formats_, out);
  }

  const std::span<const ValueFormat> formats_;
};

}  // namespace mneme
