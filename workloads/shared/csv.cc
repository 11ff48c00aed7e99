#include "workloads/shared/csv.h"

#include <algorithm>
#include <vector>

namespace mneme {
namespace {

class Reader {
 public:
  Reader(std::string_view text, std::string_view name) : rest_(text), name_(name) {}

  bool at_end() const { return rest_.empty(); }
  size_t line() const { return line_; }

  // A line that holds no record. False: it holds one.
  bool skip_line() {
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    const bool is_blank = rest_.substr(0, end).find_first_not_of("\r\t ") == std::string_view::npos;
    if (!is_blank && rest_[0] != '#') return false;
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++line_;
    return true;
  }

  // Whether another field of the record follows.
  Result<bool> take_field(CsvField& field) {
    field.text.clear();
    field.quoted = !rest_.empty() && rest_[0] == '"';
    if (field.quoted) RETURN_IF_ERROR(take_quoted(field.text));
    const size_t end = std::min(rest_.find_first_of(",\n"), rest_.size());
    std::string_view plain = rest_.substr(0, end);
    const bool more = end < rest_.size() && rest_[end] == ',';
    if (!more && plain.ends_with('\r')) plain.remove_suffix(1);
    if (field.quoted && !plain.empty()) {
      return invalid_argument(
          "{}, line {}: '{}' follows a closing quote; a quote inside of quotes is written twice", name_,
          line_, plain);
    }
    field.text += plain;
    if (end < rest_.size() && !more) ++line_;
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return more;
  }

 private:
  Result<void> take_quoted(std::string& text) {
    const size_t begun = line_;
    for (rest_.remove_prefix(1); !rest_.empty(); rest_.remove_prefix(1)) {
      if (rest_[0] == '"') {
        rest_.remove_prefix(1);
        if (!rest_.starts_with('"')) return {};
      }
      line_ += rest_[0] == '\n' ? 1 : 0;
      text.push_back(rest_[0]);
    }
    return invalid_argument("{}, line {}: the quote that begins there is never closed", name_, begun);
  }

  std::string_view rest_;
  const std::string_view name_;
  size_t line_ = 1;
};

}  // namespace

Result<void> for_each_csv_record(std::string_view text, std::string_view name, CsvVisitor visit) {
  Reader reader(text, name);
  std::vector<CsvField> fields;
  while (!reader.at_end()) {
    if (reader.skip_line()) continue;
    const size_t line = reader.line();
    size_t count = 0;
    for (bool more = true; more; ++count) {
      if (count == fields.size()) fields.emplace_back();
      const Result<bool> taken = reader.take_field(fields[count]);
      if (!taken) return taken.error();
      more = *taken;
    }
    RETURN_IF_ERROR(visit(line, std::span(fields).first(count)));
  }
  return {};
}

}  // namespace mneme
