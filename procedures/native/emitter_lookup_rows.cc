// The lookup walk's rows: which of them statements look up, and what those that were found tell.

#include <fmt/ranges.h>

#include <algorithm>

#include "engine/schema/qualified_name.h"
#include "procedures/ir/ir_walk.h"
#include "procedures/native/emitter_lookup_walk.h"

namespace mneme {

using ir::Expr;
using ir::ExprKind;
using ir::Operation;
using ir::Statement;
using ir::StatementKind;

void LookupWalk::emit_operation(const Statement& statement) {
  const Operation& operation = scope_.procedure.operations[statement.operation.value];
  const ir::TableAccess& access = operation.access[0];
  const ir::OperationMode mode = scope_.marks.of(statement).mode;
  if (mode == ir::OperationMode::kRecall) return emit_recall(statement);
  if (mode == ir::OperationMode::kLocate || mode == ir::OperationMode::kTell) return;
  if (operation.kind == ir::OperationKind::kInsert) {
    emit_insert(operation);
    return forget({&statement, 1});
  }
  std::vector<const Expr*> values;
  for (const ir::AccessPath::Equality& equality : access.path.equalities) {
    if (equality.values.empty() || !can_evaluate(equality.values[0])) break;
    values.push_back(&equality.values[0]);
  }
  // The first row of a range is named: it must be clear which one that is.
  const bool whole = values.size() == access.path.equalities.size();
  if (!access_.is_plain(access) || values.empty() || !whole || access.path.lower || operation.path_backward)
    return forget({&statement, 1});

  const uint32_t round = round_of(values);
  const auto may_decide = [&](const Expr& expr) {
    return can_evaluate(expr) && !is_sometimes(expr) && round_of(expr) <= round;
  };
  AccessEmitter::WantedParts parts;
  const FunctionText::Part choice = text_.apart([&] { parts = access_.parts(operation, 0, may_decide); });
  if (round == round_) text_.put(choice);
  Variables peeked;
  if (statement.kind == StatementKind::kOperation) peeked = peekable(operation, round);
  if (!write_lookup(operation, access.path.index, values, parts, !peeked.empty())) peeked.clear();
  if (!peeked.empty() && round < round_) emit_peek(operation, values, round, peeked);
  forget({&statement, 1});
  for (const uint32_t variable : peeked) learn(variable, {State::kKnown, round + 1});
}

// Outputs that an earlier slice has recorded are known from the beginning. With several executions in an
// iteration it is not clear which one is meant.
void LookupWalk::emit_recall(const Statement& statement) {
  const Operation& operation = scope_.procedure.operations[statement.operation.value];
  forget({&statement, 1});
  if (statement.kind != StatementKind::kOperation || loops_ > 1) return;
  const auto is_wanted = [&](uint32_t variable) {
    return rounds_ == nullptr || rounds_->peeked.contains(variable);
  };
  std::vector<std::string> lines;
  for (size_t i = 0; i < operation.outputs.size(); ++i) {
    const VariableId into = operation.outputs[i].into;
    learn(into.value, {State::kKnown, way_round_});
    if (!is_wanted(into.value)) continue;
    const Rep rep = rep_of(scope_.procedure.variables[into.value].type);
    lines.push_back(fmt::format("if (recorded->rows > 0) {} = {};", scope_.variable(into),
                                unboxed(rep, fmt::format("recorded->values[{}]", i))));
  }
  if (operation.found.valid()) {
    learn(operation.found.value, {State::kKnown, way_round_});
    if (is_wanted(operation.found.value))
      lines.push_back(fmt::format("{} = {{recorded->rows > 0, false}};", scope_.variable(operation.found)));
  }
  if (lines.empty()) return;
  text_.open();
  text_.line("const auto recorded = request.recording->find_first(OperationId{{{}}}, {});",
             operation.id.value, iteration_);
  text_.line("if (!recorded) return count;");
  for (const std::string& line : lines) text_.line("{}", line);
  text_.close();
}

Variables LookupWalk::peekable(const Operation& operation, uint32_t round) const {
  const ir::TableAccess& access = operation.access[0];
  const bool first_row_decides = access.path.kind == ir::AccessPath::Kind::kPoint ||
                                 (operation.kind == ir::OperationKind::kSelect && !access.filter &&
                                  operation.order_is_path_order && !operation.offset);
  const size_t rounds = rounds_ != nullptr ? rounds_->count : Prefetcher::kMaxRounds;
  if (round + 1 >= rounds || operation.access.size() > 1 || !operation.aggregates.empty() ||
      !first_row_decides)
    return {};
  Variables variables;
  const auto add = [&](VariableId variable) {
    if (rounds_ == nullptr || rounds_->peeked.contains(variable.value)) variables.insert(variable.value);
  };
  for (const ir::Output& output : operation.outputs) {
    if (output.into.valid() && is_peekable(operation, output.expr, round, /*of_old_row=*/false))
      add(output.into);
  }
  if (operation.found.valid()) add(operation.found);
  return variables;
}

bool LookupWalk::is_peekable(const Operation& operation, const Expr& expr, uint32_t round,
                             bool of_old_row) const {
  if (!is_inline(expr, /*over_row=*/true) || !has_key_words(expr)) return false;
  bool peekable = true;
  ir::walk(expr, [&](const Expr& e) {
    if (e.variable.valid()) {
      const Knowledge& known = known_[e.variable.value];
      peekable &= known.state == State::kKnown && known.round <= round + 1;
    }
    if (e.kind != ExprKind::kColumn) return;
    // The text that a cell points to may be gone: the row is looked at without a version.
    const RowLayout& layout = scope_.schema.layout(operation.access[0].table);
    peekable = peekable && !layout.place(e.column).is_long;
    if (of_old_row) return;
    for (const ir::Assignment& assignment : operation.assignments) {
      if (assignment.column == e.column)
        peekable = peekable && is_peekable(operation, assignment.value, round, /*of_old_row=*/true);
    }
  });
  return peekable;
}

void LookupWalk::emit_peek(const Operation& operation, std::span<const Expr* const> values, uint32_t round,
                           const Variables& peeked) {
  // Under the condition under which the row was named.
  open_if_known(values);
  std::vector<Operand> operands;
  for (const Expr* value : values) operands.push_back(access_.emit_key_value(*value));
  const std::string condition = access_.key_condition(operation.access[0].path.index, operands);
  text_.open("if ({})", condition.empty() ? "true" : condition);
  const std::string image = text_.new_name("image");
  text_.line("std::byte {}[{}];", image, scope_.schema.layout(operation.access[0].table).image_bytes());
  ImageParts parts;
  const auto add = [&](const Expr& expr) { parts |= access_.parts_of_columns(operation, 0, expr); };
  for (const ir::Output& output : operation.outputs) {
    if (peeked.contains(output.into.value)) add(output.expr);
  }
  for (const ir::Assignment& assignment : operation.assignments) add(assignment.value);
  ++written_;
  text_.open("if (request.peeks->peek({}, ImageParts(0x{:x}ul), {}))", round, parts.bits(), image);
  write_row(operation, peeked, image);
  text_.otherwise();
  for (const uint32_t variable : peeked) {
    const bool is_found = operation.found.valid() && operation.found.value == variable;
    text_.line("{} = {{{{}}, {}}};", scope_.variable(VariableId{variable}), !is_found);
  }
  text_.close();
  text_.close();
  text_.close();
}

// Sets the variables as the statement will, if the row is still the same by then.
void LookupWalk::write_row(const Operation& operation, const Variables& peeked, const std::string& image) {
  UnitScope::RowView& row = scope_.rows[0];
  row = {operation.access[0].table, image, {}};
  const TableDefinition& table = scope_.schema.catalog().table(row.table);
  const auto is_returned = [&](ColumnId column) {
    return std::ranges::any_of(operation.outputs, [&](const ir::Output& output) {
      bool returned = false;
      ir::walk(output.expr,
               [&](const Expr& e) { returned |= e.kind == ExprKind::kColumn && e.column == column; });
      return returned && peeked.contains(output.into.value);
    });
  };
  std::map<uint32_t, Operand> changed;
  for (const ir::Assignment& assignment : operation.assignments) {
    if (!is_returned(assignment.column)) continue;
    const Rep rep = rep_of(table.column(assignment.column).type);
    changed[assignment.column.value] = expressions_.keep(converted(expressions_.emit(assignment.value), rep));
  }
  row.columns = std::move(changed);
  for (const ir::Output& output : operation.outputs) {
    if (!peeked.contains(output.into.value)) continue;
    const Operand value =
        converted(expressions_.emit(output.expr), rep_of(scope_.procedure.variables[output.into.value].type));
    text_.line("{} = {{{}, {}}};", scope_.variable(output.into), value.value, value.null);
  }
  if (operation.found.valid() && peeked.contains(operation.found.value))
    text_.line("{} = {{true, false}};", scope_.variable(operation.found));
  row = {};
}

// Rows are mostly inserted behind all that have the same first key columns: an order behind its customer's,
// say.
void LookupWalk::emit_insert(const Operation& operation) {
  const Catalog& catalog = scope_.schema.catalog();
  const TableDefinition& table = catalog.table(operation.access[0].table);
  for (const IndexId id : table.indexes) {
    const IndexDefinition& index = catalog.index(id);
    if (!has_usual_key(id)) continue;
    std::vector<const Expr*> known;
    for (const ColumnId column : index.columns) {
      const Expr& value = operation.values[column.value];
      if (!can_evaluate(value) || !has_key_words(value)) break;
      known.push_back(&value);
    }
    const bool is_whole = id == table.primary_key && known.size() == index.columns.size();
    if (index.ordered && loops_ == 1 && emit_place_of_loop(operation, id, known)) continue;
    // In an ordered index the place is known before the whole key is.
    if (is_whole && (round_of(known) == 0 || !index.ordered)) {
      write_lookup(operation, id, known, {"ImageParts()"});
    } else if (index.ordered && round_ == 0) {
      while (!known.empty() && !is_constant(*known.back())) known.pop_back();
      if (!known.empty()) write_place(operation, id, known);
    }
  }
}

// Rows that a loop inserts under keys that differ in their last columns alone, such as an order's lines, go
// to one place, which is named once. Returns false if their first column differs, or the place is known only
// in a later round.
bool LookupWalk::emit_place_of_loop(const Operation& operation, IndexId index,
                                    std::span<const Expr* const> known) {
  const auto differs = std::ranges::find_if(known, [&](const Expr* value) { return is_of_loop(*value); });
  if (differs == known.begin() || differs == known.end()) return false;
  const std::span<const Expr* const> prefix(known.begin(), differs);
  if (round_of(prefix) > 0) return false;
  ++lookups_;
  ++named_in_round_[0];
  note_use(prefix);
  if (round_ > 0) return true;
  text_.open("if ({} == 0 || request.only_iteration)", iteration_);
  write_entry(operation, index, prefix, /*lookup=*/nullptr, /*is_watched=*/false);
  text_.close();
  return true;
}

void LookupWalk::write_place(const Operation& operation, IndexId index, std::span<const Expr* const> values) {
  PlannedKey key;
  const size_t written = written_;
  const FunctionText::Part place = text_.apart([&] {
    key = key_of(index, values);
    write_entry(operation, index, values, /*lookup=*/nullptr, /*is_watched=*/false);
  });
  written_ = written;  // the place does not stand in the text at hand
  if (!named_places_.insert(std::move(key)).second) return;
  places_.push_back(place);
  ++named_in_round_[0];
}

LookupWalk::PlannedKey LookupWalk::key_of(IndexId index, std::span<const Expr* const> values) {
  PlannedKey key{index, {}};
  for (const Expr* value : values) key.values.push_back(expressions_.emit(*value).value);
  return key;
}

bool LookupWalk::write_lookup(const Operation& operation, IndexId index, std::span<const Expr* const> values,
                              const AccessEmitter::WantedParts& parts, bool is_watched) {
  if (!has_usual_key(index) ||
      !std::ranges::all_of(values, [](const Expr* value) { return has_key_words(*value); }))
    return false;
  // The same row again, on the same way through the procedure: the one look-up is for all parts.
  PlannedKey key;
  (void)text_.apart([&] { key = key_of(index, values); });
  for (PlannedLookup* named : named_) {
    if (named->key != key || parts.is_chosen) continue;
    if (std::ranges::find(named->parts, parts.text) == named->parts.end()) named->parts.push_back(parts.text);
    return false;
  }
  PlannedLookup& lookup = plan_.emplace_back(std::move(key), Variables(), std::vector{parts.text});
  for (const Expr* value : values) {
    ir::walk(*value, [&](const Expr& e) {
      if (e.variable.valid()) lookup.variables.insert(e.variable.value);
    });
  }
  named_.push_back(&lookup);

  const uint32_t round = round_of(values);
  ++lookups_;
  named_in_round_[round] += loops_ > 0 ? 2 : 1;
  note_use(values);
  if (round == round_) write_entry(operation, index, values, &lookup, is_watched);
  return true;
}

bool LookupWalk::has_usual_key(IndexId index) const {
  return key_shape(scope_.schema.catalog(), index).words() <= kUsualKeyWords;
}

void LookupWalk::write_entry(const Operation& operation, IndexId index, std::span<const Expr* const> values,
                             const PlannedLookup* lookup, bool is_watched) {
  ++written_;
  text_.line("// line {}: index {}.", operation.where.line,
             shown_names(scope_.schema.catalog().index(index).name));
  open_if_known(values);
  std::vector<Operand> operands;
  for (const Expr* value : values) operands.push_back(access_.emit_key_value(*value));
  const std::string condition = access_.key_condition(index, operands);
  text_.open("if ({})", condition.empty() ? "true" : condition);
  text_.line("if (count == lookups.size()) return count;");
  access_.write_key_of_lookup(index, operands);
  if (lookup == nullptr) {
    const KeyShape shape = key_shape(scope_.schema.catalog(), index);
    const uint32_t known = shape.prefix_bytes(values.size());
    if (known < shape.bytes) text_.line("put_ones<{}, {}>(key);", known, shape.bytes);
  }
  if (is_watched) text_.line("request.peeks->watch(count);");
  text_.put_late([index, lookup] {
    const std::string parts =
        lookup == nullptr ? "ImageParts()" : fmt::format("{}", fmt::join(lookup->parts, " | "));
    return fmt::format("lookup.index = IndexId{{{}}}, lookup.parts = {}, lookup.is_place = {}, ++count;",
                       index.value, parts, lookup == nullptr);
  });
  text_.close();
  text_.close();
}

}  // namespace mneme
