// The operation emitter's selects: rows streamed or sorted, cut, put together by aggregates, or kept for a
// loop.

#include <algorithm>

#include "procedures/native/emitter_operation.h"

namespace mneme {

using ir::Aggregate;
using ir::Operation;
using ir::OperationMode;
using ir::Statement;

// ---- OFFSET and LIMIT ----

void OperationEmitter::write_count(const std::optional<ir::Expr>& expr, const std::string& name,
                                   const char* sqlstate, const char* what) {
  const Operand value = expressions_.keep(expressions_.emit(*expr));
  if (value.is_null()) return;
  text_.fail_if(
      value.is_nullable() ? fmt::format("!{} && {} < 0", value.null, value.value) : value.value + " < 0",
      fmt::format("raise_text(run, {}, sqlstate::{}, \"{} must not be negative\")", scope_.where, sqlstate,
                  what));
  if (value.is_nullable()) {
    text_.line("if (!{}) {} = static_cast<uint64_t>({});", value.null, name, value.value);
  } else {
    text_.line("{} = static_cast<uint64_t>({});", name, value.value);
  }
}

OperationEmitter::Cut OperationEmitter::write_cut(const Operation& operation, bool into) {
  Cut cut;
  if (operation.offset) {
    cut.skip = text_.new_name("skip");
    text_.line("uint64_t {} = 0;", cut.skip);
    write_count(operation.offset, cut.skip, "kInvalidOffset", "OFFSET");
  }
  const char* most = operation.strict ? "2" : "1";
  if (operation.limit) {
    cut.take = text_.new_name("take");
    text_.line("uint64_t {} = UINT32_MAX;", cut.take);
    write_count(operation.limit, cut.take, "kInvalidLimit", "LIMIT");
    if (into) text_.line("{0} = std::min<uint64_t>({0}, {1});", cut.take, most);
  } else if (into) {
    cut.take = most;
  }
  return cut;
}

// ---- rows ----

void OperationEmitter::stream_rows(const Operation& operation, const Cut& cut, const std::string& counted,
                                   const Sink& sink) {
  access_.visit_rows(operation, [&]() -> std::string {
    if (!cut.skip.empty()) {
      text_.open("if ({} > 0)", cut.skip);
      text_.line("--{};", cut.skip);
      text_.otherwise();
    }
    sink(evaluate_outputs(operation));
    if (!cut.skip.empty()) text_.close();
    if (cut.take.empty()) return "true";
    if (cut.take == "1" && cut.skip.empty()) return "false";
    return fmt::format("{} < {}", counted, cut.take);
  });
}

void OperationEmitter::select_into(const Operation& operation) {
  const Cut cut = write_cut(operation, true);
  const Sink sink = [&](const std::vector<Operand>& outputs) {
    fill_outputs(outputs);
    text_.line("++count;");
  };
  if (!operation.aggregates.empty()) return select_aggregates(operation, cut, sink);
  if (operation.limit) text_.open("if ({} > 0)", cut.take);
  if (!sorts(operation)) {
    stream_rows(operation, cut, "count", sink);
  } else {
    std::string begin;
    std::string end;
    const std::string results = collect_results(operation, cut, begin, end);
    text_.line("count = static_cast<uint32_t>({} - {});", end, begin);
    text_.open("if (count > 0)");
    for (size_t i = 0; i < outputs_.size(); ++i)
      text_.line("{} = {}[{}].output{};", outputs_[i], results, begin, i);
    text_.close();
  }
  if (operation.limit) text_.close();
}

// ---- results that are kept ----

std::string OperationEmitter::collect_results(const Operation& operation, const Cut& cut, std::string& begin,
                                              std::string& end) {
  const bool sorted = sorts(operation);
  const std::string results = text_.new_name("results");
  text_.open("struct {}Row", results);
  if (sorted) {
    text_.line("uint32_t position;");
    for (size_t i = 0; i < operation.order.size(); ++i) {
      text_.line("Nullable<{}> key{};", type_of(rep_of(operation.order[i].expr)), i);
    }
  }
  for (size_t i = 0; i < operation.outputs.size(); ++i) {
    const ir::Output& output = operation.outputs[i];
    text_.line("Nullable<{}> output{};", type_of(rep_of_found(output)), i);
  }
  for (size_t i = 0; i < operation.outputs.size(); ++i) {
    const ir::Output& output = operation.outputs[i];
    const Type& type = scope_.procedure.variables[output.into.value].type;
    if (output.cast_when_taken) text_.line("Nullable<{}> cast{}{{}};", type_of(rep_of(type)), i);
  }
  text_.close(";");
  text_.line("ArenaVector<{0}Row> {0}(*run.arena);", results);
  const auto push = [&](const std::string& first, const std::vector<Operand>& outputs) {
    std::string fields = first;
    for (const Operand& output : outputs) {
      fields += fmt::format("{}{{{}, {}}}", fields.empty() ? "" : ", ", output.value, output.null);
    }
    text_.line("{}.push_back({{{}}});", results, fields);
  };
  begin = "0";
  end = results + ".size()";
  if (operation.kind != ir::OperationKind::kSelect) {
    change(operation, [&](const std::vector<Operand>& outputs) { push("", outputs); });
    return results;
  }
  if (!operation.aggregates.empty()) {
    select_aggregates(operation, cut, [&](const std::vector<Operand>& outputs) { push("", outputs); });
    return results;
  }
  if (!sorted) {
    if (operation.limit) text_.open("if ({} > 0)", cut.take);
    stream_rows(operation, cut, end, [&](const std::vector<Operand>& outputs) { push("", outputs); });
    if (operation.limit) text_.close();
    return results;
  }
  if (operation.limit) text_.open("if ({} > 0)", cut.take);
  access_.visit_rows(operation, [&]() -> std::string {
    std::string keys = fmt::format("static_cast<uint32_t>({}.size())", results);
    for (const ir::OrderKey& key : operation.order) {
      const Operand operand = converted(expressions_.emit(key.expr), rep_of(key.expr));
      keys += fmt::format(", {{{}, {}}}", operand.value, operand.null);
    }
    push(keys, evaluate_outputs(operation));
    return "true";
  });
  sort_results(operation, results);
  if (operation.limit) text_.close();
  begin = text_.new_name("begin");
  end = text_.new_name("end");
  text_.line("const uint64_t {} = {};", begin,
             cut.skip.empty() ? "0" : fmt::format("std::min<uint64_t>({}, {}.size())", cut.skip, results));
  text_.line("const uint64_t {} = {};", end,
             cut.take.empty()
                 ? results + ".size()"
                 : fmt::format("std::min<uint64_t>({}.size(), {} + {})", results, begin, cut.take));
  return results;
}

void OperationEmitter::sort_results(const Operation& operation, const std::string& results) {
  text_.open("std::sort({0}.begin(), {0}.end(), [](const {0}Row& a, const {0}Row& b)", results);
  for (size_t i = 0; i < operation.order.size(); ++i) {
    text_.line("const auto order{0} = order_of_keys({1}, a.key{0}, b.key{0});", i,
               operation.order[i].descending);
    text_.line("if (order{0} != 0) return order{0} < 0;", i);
  }
  text_.line("return a.position < b.position;");
  text_.close(");");
}

// ---- loops over a query ----

// OperationRunner::cast_all_rows(), for one row.
void OperationEmitter::cast_recorded_row(const Operation& operation, const std::string& row) {
  const FunctionText::Leave before = text_.leave_by(FunctionText::kReturn);
  for (size_t i = 0; i < operation.outputs.size(); ++i) {
    const ir::Output& output = operation.outputs[i];
    if (!output.cast_when_taken) continue;
    text_.open("const auto cast_{} = [&]() -> bool", i);
    const std::string found = fmt::format("{}.output{}", row, i);
    const Operand value = cast_output(output, {found + ".value", found + ".null", rep_of_found(output)});
    text_.line("{}.cast{} = {{{}, {}}};", row, i, value.value, value.null);
    text_.line("return true;");
    text_.close(";");
    text_.line("if (!cast_{}()) *run.outcome = {{}};", i);
  }
  text_.leave_by(before);
}

std::string OperationEmitter::emit_loop(const Statement& statement, const std::string& iteration,
                                        const LoopBody& body) {
  const Operation& operation = scope_.procedure.operations[statement.operation.value];
  const size_t width = operation.outputs.size();
  const std::string count = text_.new_name("rows");
  const std::string number = text_.new_name("i");
  std::string results;
  std::string begin = "0";
  const ir::StatementMark& mark = scope_.marks.of(statement);
  const bool recalls = mark.mode == OperationMode::kRecall;
  if (recalls) {
    results = text_.new_name("recorded");
    text_.line(
        "const Recording::Recorded {0} = run.recording->get(OperationId{{{1}}}, {2}, "
        "executions_{1}.next({2}));",
        results, operation.id.value, iteration);
    scope_.recalled.insert(operation.id.value);
    text_.line("const int64_t {} = {}.rows;", count, results);
  } else {
    std::string end;
    const Cut cut = write_cut(operation, false);
    results = collect_results(operation, cut, begin, end);
    text_.line("const int64_t {} = static_cast<int64_t>({} - {});", count, end, begin);
  }
  if (mark.mode == OperationMode::kPerformAndRecord) {
    text_.open();
    text_.line("ArenaVector<Value> recorded(*run.arena);");
    text_.open("for (int64_t row = 0; row < {}; ++row)", count);
    if (std::ranges::any_of(operation.outputs, &ir::Output::cast_when_taken))
      cast_recorded_row(operation, results + "[" + begin + " + row]");
    for (size_t i = 0; i < width; ++i) {
      const std::string output = fmt::format("{}[{} + row].{}{}", results, begin,
                                             operation.outputs[i].cast_when_taken ? "cast" : "output", i);
      text_.line("recorded.push_back({});",
                 boxed({output + ".value", output + ".null", Rep::kNone},
                       scope_.procedure.variables[operation.outputs[i].into.value].type));
    }
    text_.close();
    text_.line("run.recording->put(OperationId{{{}}}, {}, static_cast<uint32_t>({}), recorded.span());",
               operation.id.value, iteration, count);
    text_.close();
  }
  std::string no_row;
  for (const ir::Output& output : operation.outputs)
    no_row += fmt::format(" {} = {{}};", scope_.variable(output.into));
  if (!no_row.empty()) text_.line("if ({} == 0) {{{} }}", count, no_row);
  if (mark.iterations_apart) {
    text_.line("const Iterations apart{} = iterations_apart(run, {});", number, count);
    text_.open("for (int64_t {0} = apart{0}.begin; {0} < apart{0}.end; ++{0})", number);
  } else {
    text_.open("for (int64_t {0} = 0; {0} < {1}; ++{0})", number, count);
  }
  for (size_t i = 0; i < width; ++i) {
    const VariableId into = operation.outputs[i].into;
    const std::string& variable = scope_.variable(into);
    if (recalls) {
      const Rep rep = rep_of(scope_.procedure.variables[into.value].type);
      text_.line("{} = {};", variable,
                 unboxed(rep, fmt::format("{}.values[{} * {} + {}]", results, number, width, i)));
    } else if (!operation.outputs[i].cast_when_taken) {
      text_.line("{} = {}[{} + {}].output{};", variable, results, begin, number, i);
    } else if (mark.mode == OperationMode::kPerformAndRecord) {
      text_.line("{} = {}[{} + {}].cast{};", variable, results, begin, number, i);
    } else {
      const std::string found = fmt::format("{}[{} + {}].output{}", results, begin, number, i);
      const Operand value = cast_output(
          operation.outputs[i], {found + ".value", found + ".null", rep_of_found(operation.outputs[i])});
      text_.line("{} = {{{}, {}}};", variable, value.value, value.null);
    }
  }
  body(number);
  text_.close();
  return count + " > 0";
}

// ---- aggregates ----

void OperationEmitter::select_aggregates(const Operation& operation, const Cut& cut, const Sink& sink) {
  aggregates_.clear();
  scope_.aggregates.clear();
  for (const Aggregate& aggregate : operation.aggregates) {
    const std::string name = text_.new_name("aggregate");
    aggregates_.push_back(name);
    if (aggregate.distinct) {
      text_.line("ArenaVector<{}> {}_values(*run.arena);", type_of(rep_of(*aggregate.argument)), name);
    }
    switch (aggregate.kind) {
      case Aggregate::Kind::kCountRows:
      case Aggregate::Kind::kCount:
        text_.line("int64_t {} = 0;", name);
        break;
      case Aggregate::Kind::kSum:
        text_.line("{} {} = 0;", aggregate.argument->type.is_floating() ? "double" : "int128", name);
        text_.line("bool {}_null = true;", name);
        break;
      case Aggregate::Kind::kMin:
      case Aggregate::Kind::kMax:
        text_.line("Nullable<{}> {};", type_of(rep_of(*aggregate.argument)), name);
        break;
    }
  }
  access_.visit_rows(operation, [&]() -> std::string {
    add_row(operation);
    return operation.first_row_decides ? "false" : "true";
  });
  finish_aggregates(operation);
  std::string wanted;
  if (!cut.skip.empty()) wanted = cut.skip + " == 0";
  if (operation.limit) wanted += (wanted.empty() ? "" : " && ") + cut.take + " > 0";
  if (!wanted.empty()) text_.open("if ({})", wanted);
  sink(evaluate_outputs(operation));
  if (!wanted.empty()) text_.close();
}

void OperationEmitter::add_row(const Operation& operation) {
  for (size_t i = 0; i < operation.aggregates.size(); ++i) {
    const Aggregate& aggregate = operation.aggregates[i];
    if (aggregate.kind == Aggregate::Kind::kCountRows) {
      text_.line("++{};", aggregates_[i]);
      continue;
    }
    const Operand value = converted(expressions_.emit(*aggregate.argument), rep_of(*aggregate.argument));
    if (value.is_null()) continue;
    if (value.is_nullable()) text_.open("if (!{})", value.null);
    if (aggregate.distinct) {
      text_.line("{}_values.push_back({});", aggregates_[i], value.value);
    } else {
      add_value(operation, i, value);
    }
    if (value.is_nullable()) text_.close();
  }
}

void OperationEmitter::add_value(const Operation& operation, size_t i, const Operand& value) {
  const Aggregate& aggregate = operation.aggregates[i];
  const std::string& name = aggregates_[i];
  switch (aggregate.kind) {
    case Aggregate::Kind::kSum:
      text_.line("{}_null = false;", name);
      if (aggregate.argument->type.is_floating()) {
        text_.fail_if(fmt::format("!double_arithmetic<{2}>(run, ir::Op::kAdd, {0}, {1}, {0})", name,
                                  value.value, kind_literal(aggregate.argument->type)),
                      fmt::format("raise(run, {})", scope_.where));
        return;
      }
      text_.line("{} += {};", name, value.value);
      // Numbers of 18 digits do not add up to 39 in any table's lifetime.
      if (value.rep == Rep::kWide) {
        text_.fail_if(
            fmt::format("!has_digits({}, kMaxNumericPrecision)", name),
            fmt::format("raise_out_of_range(run, {}, {})", scope_.where, kind_literal(aggregate.type)));
      }
      return;
    case Aggregate::Kind::kMin:
    case Aggregate::Kind::kMax:
      text_.line("{}<{}>({}, {}, false);",
                 aggregate.kind == Aggregate::Kind::kMin ? "keep_least" : "keep_greatest", type_of(value.rep),
                 name, value.value);
      return;
    case Aggregate::Kind::kCount:
    case Aggregate::Kind::kCountRows:
      text_.line("++{};", name);
      return;
  }
}

void OperationEmitter::finish_aggregates(const Operation& operation) {
  for (size_t i = 0; i < operation.aggregates.size(); ++i) {
    const Aggregate& aggregate = operation.aggregates[i];
    const std::string& name = aggregates_[i];
    if (aggregate.distinct) {
      text_.line("sort_distinct({}_values);", name);
      if (aggregate.kind == Aggregate::Kind::kCount) {
        text_.line("{0} = static_cast<int64_t>({0}_values.size());", name);
      } else {
        text_.open("for (const auto& value : {}_values)", name);
        add_value(operation, i, {"value", "false", rep_of(*aggregate.argument)});
        text_.close();
      }
    }
    switch (aggregate.kind) {
      case Aggregate::Kind::kCountRows:
      case Aggregate::Kind::kCount:
        scope_.aggregates.push_back({name, "false", Rep::kInt});
        break;
      case Aggregate::Kind::kSum: {
        Operand sum{name, name + "_null", Rep::kWide};
        if (aggregate.type.is_floating()) sum.rep = Rep::kDouble;
        if (aggregate.type.is_integer()) {
          const unsigned bytes = aggregate.type.kind == TypeKind::kBigInt ? 8 : 4;
          text_.fail_if(
              fmt::format("!fits<{}>({})", bytes, name),
              fmt::format("raise_out_of_range(run, {}, {})", scope_.where, kind_literal(aggregate.type)));
          sum = converted(sum, Rep::kInt);
        }
        scope_.aggregates.push_back(std::move(sum));
        break;
      }
      case Aggregate::Kind::kMin:
      case Aggregate::Kind::kMax:
        scope_.aggregates.push_back({name + ".value", name + ".null", rep_of(*aggregate.argument)});
        break;
    }
  }
}

}  // namespace mneme
