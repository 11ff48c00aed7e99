// The access emitter's reading ahead: which parts of rows an operation needs, and a join's inner rows fetched
// in groups.

#include <algorithm>

#include "procedures/ir/ir_walk.h"
#include "procedures/native/emitter_access.h"

namespace mneme {

using ir::Expr;
using ir::ExprKind;
using ir::Operation;

namespace {

// Outer rows whose inner rows are on their way at once.
constexpr int kGroup = 32;

bool reads_rows(const Expr& expr) {
  bool reads = false;
  ir::walk(expr,
           [&](const Expr& e) { reads |= e.kind == ExprKind::kColumn || e.kind == ExprKind::kAggregate; });
  return reads;
}

std::string number_of(ImageParts parts) {
  return fmt::format("0x{:x}ul", parts.bits());
}

}  // namespace

ImageParts AccessEmitter::parts_of(const Operation& operation, uint8_t source, ColumnId column) const {
  const RowLayout::Place& place = scope_.schema.layout(operation.access[source].table).place(column);
  ImageParts parts = ImageParts::of(place.offset, place.bytes);
  if (place.null_flag >= 0) parts |= ImageParts::of(static_cast<size_t>(place.null_flag), 1);
  return parts;
}

ImageParts AccessEmitter::parts_of_columns(const Operation& operation, uint8_t source,
                                           const Expr& expr) const {
  ImageParts parts;
  ir::walk(expr, [&](const Expr& e) {
    if (e.kind == ExprKind::kColumn && e.source == source) parts |= parts_of(operation, source, e.column);
  });
  return parts;
}

void AccessEmitter::collect_parts(const Operation& operation, uint8_t source, const Expr& expr,
                                  const MayDecide& may_decide, Parts& parts) {
  if (expr.kind == ExprKind::kColumn && expr.source == source) {
    parts.always |= parts_of(operation, source, expr.column);
    return;
  }
  bool decides = expr.kind == ExprKind::kCase;
  for (size_t i = 0; decides && i + 1 < expr.args.size(); i += 2) {
    decides = !reads_rows(expr.args[i]) && may_decide(expr.args[i]);
  }
  if (decides) return collect_chosen_parts(operation, source, expr, parts);
  for (const Expr& arg : expr.args) collect_parts(operation, source, arg, may_decide, parts);
}

void AccessEmitter::collect_chosen_parts(const Operation& operation, uint8_t source, const Expr& expr,
                                         Parts& parts) {
  const ImageParts all = parts_of_columns(operation, source, expr);
  std::string choice;
  const FunctionText::Part part = text_.apart([&] {
    for (size_t i = 0; i + 1 < expr.args.size(); i += 2) {
      choice += fmt::format("{} ? {} : ", expressions_.condition(expr.args[i]),
                            number_of(parts_of_columns(operation, source, expr.args[i + 1])));
    }
  });
  choice += number_of(parts_of_columns(operation, source, expr.args.back()));
  if (part.may_fail) {
    parts.always |= all;
    return;
  }
  text_.put(part);
  parts.chosen.emplace_back(all, std::move(choice));
}

AccessEmitter::WantedParts AccessEmitter::parts(const Operation& operation, uint8_t source,
                                                const MayDecide& may_decide) {
  if (source == 0 && changes_indexes(scope_.schema.catalog(), operation)) return {"ImageParts::all()"};
  Parts parts;
  ir::for_each_expression(
      operation, [&](const Expr& expr) { collect_parts(operation, source, expr, may_decide, parts); });
  if (source == 0) {
    for (const ir::Assignment& assignment : operation.assignments) {
      parts.always |= parts_of(operation, source, assignment.column);
    }
  }
  WantedParts wanted{number_of(parts.always)};
  for (const auto& [all, choice] : parts.chosen) {
    if (parts.always.covers(all)) continue;
    wanted.text += fmt::format(" | ({})", choice);
    wanted.is_chosen = true;
  }
  wanted.text = fmt::format("ImageParts({})", wanted.text);
  return wanted;
}

void AccessEmitter::write_group_prefetch(const Operation& operation, const std::string& outer_rows,
                                         const std::string& at) {
  const ir::TableAccess& inner = operation.access[1];
  if (!is_plain(inner) || inner.path.equalities.empty() || inner.path.lower || operation.path_backward)
    return;
  const FunctionText::Part part = text_.apart([&] {
    text_.open("if (run.prefetch && {} % {} == 0)", at, kGroup);
    text_.line("RowLookup lookups[{}];", kGroup);
    text_.line("size_t count = 0;");
    text_.open("for (size_t i = {0}; i < {1}.size() && i < {0} + {2}; ++i)", at, outer_rows, kGroup);
    text_.line("const RowRef& row = {}[i];", outer_rows);
    std::vector<Operand> values;
    for (const ir::AccessPath::Equality& equality : inner.path.equalities) {
      values.push_back(emit_key_value(equality.values[0]));
    }
    const std::string wanted = parts(operation, 1, [](const Expr&) { return false; }).text;
    const std::string condition = key_condition(inner.path.index, values);
    text_.open("if ({})", condition.empty() ? "true" : condition);
    write_key(inner.path.index, values, "key");
    text_.line("lookups[count++] = {{IndexId{{{}}}, {}, key}};", inner.path.index.value, wanted);
    text_.close();
    text_.close();
    text_.line("rows->prefetch({{lookups, count}});");
    text_.close();
  });
  // A key that may fail is evaluated when its turn has come, not before.
  if (!part.may_fail) text_.put(part);
}

}  // namespace mneme
