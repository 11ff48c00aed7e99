#include "procedures/parser/renamed_text.h"

#include <map>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "engine/schema/qualified_name.h"
#include "procedures/parser/parser.h"
#include "procedures/parser/written_names.h"

namespace mneme {

namespace {

// Where the reference's last name begins in the text; its qualifier begins at `at`.
size_t begin_of_name(std::string_view text, size_t at) {
  const auto skip = [&](auto&& is_part) {
    while (at < text.size() && is_part(text[at])) ++at;
  };
  at = end_of_written_name(text, at);
  skip(is_ascii_blank);
  skip([](char c) { return c == '.'; });
  skip(is_ascii_blank);
  return at;
}

// Returns the condition with other names for a column or the table, which its references are qualified by.
class Renamer {
 public:
  explicit Renamer(const std::string& condition) : text_(condition) {
    size_t begin = 0;
    do {
      lines_.push_back(begin);
      begin = text_.find('\n', begin) + 1;
    } while (begin != 0);
    look_at(parse_expression(text_));
  }

  std::string column(const std::string& former, const std::string& name) {
    for (const syntax::Expr& each : references_) {
      if (each.text != former) continue;
      const size_t at = offset(each);
      const size_t of_table = each.qualifier.starts_with(kSchemaBegin) ? begin_of_name(text_, at) : at;
      edits_[each.qualifier.empty() ? at : begin_of_name(text_, of_table)] = written_name(name);
    }
    return edited();
  }
  std::string table(const std::string& former, const std::string& name) {
    for (const syntax::Expr& each : references_) {
      if (!names_source(each.qualifier, former)) continue;
      // Behind a schema stands the table's name.
      const bool has_schema = each.qualifier != bare_name(former);
      edits_[has_schema ? begin_of_name(text_, offset(each)) : offset(each)] = written_name(bare_name(name));
      if (has_schema) edits_[offset(each)] = written_name(schema_of(name));
    }
    return edited();
  }

 private:
  void look_at(const syntax::Expr& expr) {
    if (expr.kind == syntax::ExprKind::kReference) references_.push_back(expr);
    for (const syntax::Expr& each : expr.args) look_at(each);
  }
  size_t offset(const syntax::Expr& expr) const {
    return lines_[expr.where.line - 1] + expr.where.column - 1;
  }
  std::string edited() {
    std::string text = text_;
    for (auto edit = edits_.rbegin(); edit != edits_.rend(); ++edit) {
      const size_t end = end_of_written_name(text, edit->first);
      text.replace(edit->first, end - edit->first, edit->second);
    }
    return text;
  }

  const std::string text_;
  std::vector<size_t> lines_;
  std::vector<syntax::Expr> references_;
  std::map<size_t, std::string> edits_;
};

}  // namespace

std::string with_column_renamed(const std::string& expression, const std::string& former,
                                const std::string& name) {
  return Renamer(expression).column(former, name);
}

std::string with_table_renamed(const std::string& expression, const std::string& former,
                               const std::string& name) {
  return Renamer(expression).table(former, name);
}

}  // namespace mneme
