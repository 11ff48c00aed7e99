#include "cli/bench/copy_text.h"

#include <fmt/format.h>

#include "procedures/values/value_text.h"
#include "server/session/copy_text.h"

namespace mneme {
namespace {

void append_copy_value(std::string_view text, std::string& out) {
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\\\";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        out += c;
    }
  }
}

}  // namespace

void append_copy_line(const TableDefinition& table, std::span<const Value> row, std::string& out) {
  fmt::memory_buffer text;
  for (size_t i = 0; i < row.size(); ++i) {
    if (i > 0) out += '\t';
    if (row[i].is_null()) {
      out += "\\N";
      continue;
    }
    text.clear();
    print_value(table.columns[i].type, row[i], text);
    append_copy_value({text.data(), text.size()}, out);
  }
  out += '\n';
}

bool split_copy_line(std::string_view line, std::vector<std::optional<std::string>>& values) {
  values.clear();
  while (true) {
    const size_t end = std::min(line.find('\t'), line.size());
    const std::string_view written = line.substr(0, end);
    if (written == "\\N") {
      values.emplace_back();
    } else {
      std::string& value = values.emplace_back(std::in_place).value();
      for (size_t i = 0; i < written.size(); ++i) {
        if (written[i] != '\\') {
          value += written[i];
        } else if (++i < written.size()) {
          value += unescaped_letter(written[i]);
        } else {
          return false;
        }
      }
    }
    if (end == line.size()) return true;
    line.remove_prefix(end + 1);
  }
}

}  // namespace mneme
