// Copy text: rows as COPY reads and writes them, in PostgreSQL's text format and as CSV; and as it reads them
// in its binary format, whose fields are values' bytes.
//
// Flow        COPY FROM: CopyReader: add() what has arrived -> next() row by row -> finish()
//             COPY TO: write_copy_row()
// Shapes      a field is NULL, or text without its quotes and escapes.
// Memory      what of the last row has arrived.
// Errors      next() and finish(): a quote that never ends, a row with too many fields: a sentence and its
//             line.
// Threads     one owner.
// Source      PostgreSQL 15's documentation of COPY.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/session/client_statement.h"

namespace mneme {

// Servers write these letters, behind a backslash, for control characters; any other character stands for
// itself.
char unescaped_letter(char letter);

class CopyReader {
 public:
  explicit CopyReader(const CopyStatement& copy) : copy_(copy), skips_header_(copy.has_header) {}

  void add(std::string_view bytes);
  // No more bytes come: what is left is the last row.
  void finish() { is_finished_ = true; }
  // True: fields() has the next row. False: it is not whole yet, or there is none.
  Result<bool> next();
  // Until the next call of next() or add().
  std::span<const std::optional<std::string_view>> fields() const { return fields_; }
  size_t line() const { return line_; }

 private:
  // The end of the row that begins at at_, its line's end not included; npos: not whole.
  size_t row_end() const;
  Result<void> cut_text(std::string_view row);
  Result<void> cut_csv(std::string_view row);
  Result<bool> next_binary();
  // False, or why no more bytes are kept of a row.
  Result<bool> wait_for_more() const;

  const CopyStatement copy_;
  std::string bytes_;
  size_t at_ = 0;
  size_t line_ = 0;
  bool is_finished_ = false;
  bool has_ended_ = false;  // by \.
  bool skips_header_;
  bool has_header_ = false;  // of the binary format, read
  std::vector<std::optional<std::string_view>> fields_;
  // What fields with escapes mean. They are views of it, so it has room for the whole row from the beginning.
  std::string unescaped_;
};

// What begins rows in the binary format, before flags and the size of what else there is of a header.
inline constexpr std::string_view kBinaryHeader("PGCOPY\n\xff\r\n\0", 11);

// Appends a row, with its line's end.
void write_copy_row(const CopyStatement& copy, std::span<const std::optional<std::string>> row,
                    std::string& out);

}  // namespace mneme
