#include "procedures/parser/column_names.h"

#include <map>
#include <string_view>

#include "engine/schema/qualified_name.h"

namespace mneme {
namespace {

// A type's name in PostgreSQL's catalog.
std::string catalog_name(const syntax::TypeName& written) {
  const std::string& type = written.base;
  constexpr uint32_t kDigitsOfReal = 24;
  if (type == "float" && !written.modifiers.empty() && written.modifiers[0] <= kDigitsOfReal) return "float4";
  static const std::map<std::string_view, std::string_view> kNames = {{"smallint", "int2"},
                                                                      {"int", "int4"},
                                                                      {"integer", "int4"},
                                                                      {"bigint", "int8"},
                                                                      {"decimal", "numeric"},
                                                                      {"dec", "numeric"},
                                                                      {"double precision", "float8"},
                                                                      {"real", "float4"},
                                                                      {"float", "float8"},
                                                                      {"char", "bpchar"},
                                                                      {"character", "bpchar"},
                                                                      {"boolean", "bool"}};
  const auto found = kNames.find(type);
  return found == kNames.end() ? type : std::string(found->second);
}

// The name that PostgreSQL gives to a column of the result without AS. A weak name is a type's or CASE's: a
// cast around it, or CASE whose ELSE it is, then gives its own.
struct ColumnName {
  std::string text;  // "": PostgreSQL's ?column?
  bool weak = true;
};
ColumnName column_name(const syntax::Expr& expr) {
  // PostgreSQL gives an operator no name. Some operators are calls here, and some are CASE.
  if (expr.column_name == "?column?") return {};
  switch (expr.kind) {
    case syntax::ExprKind::kReference:
      return {expr.text, false};
    case syntax::ExprKind::kCall:
      if (expr.text == "trim") return {"btrim", false};
      return {expr.column_name.empty() ? expr.text : expr.column_name, false};
    case syntax::ExprKind::kSubscript:
      return column_name(expr.args[0]);
    case syntax::ExprKind::kTimestamp:
      return {"timestamp", true};
    case syntax::ExprKind::kField:
      return {expr.text, false};
    case syntax::ExprKind::kArray:
    case syntax::ExprKind::kArrayQuery:
    case syntax::ExprKind::kEmptyArray:
      return {"array", false};
    case syntax::ExprKind::kRow:
      return {"row", false};
    case syntax::ExprKind::kExists:
      return {"exists", false};
    case syntax::ExprKind::kScalarQuery: {
      const syntax::QueryPart* part = &expr.query->first;
      while (part->query) part = &part->query->first;
      if (!part->select) return {"column1", false};
      if (part->select->items.empty() || part->select->items[0].star) return {};
      const std::string name = column_name_of(part->select->items[0]);
      return {name.empty() ? "?column?" : name, false};
    }
    case syntax::ExprKind::kCast:
    case syntax::ExprKind::kCase: {
      const bool is_cast = expr.kind == syntax::ExprKind::kCast;
      ColumnName inner;
      if (is_cast) {
        inner = column_name(expr.args[0]);
      } else if (expr.has_else) {
        inner = column_name(expr.args.back());
      }
      if (!inner.weak) return inner;
      return {is_cast ? catalog_name(expr.type) : "case", true};
    }
    default:
      return {};
  }
}

}  // namespace

std::string column_name_of(const syntax::SelectItem& item) {
  return item.alias.empty() ? std::string(bare_name(column_name(item.expr).text)) : item.alias.text;
}

}  // namespace mneme
