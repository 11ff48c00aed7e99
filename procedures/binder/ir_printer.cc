#include "procedures/binder/ir_printer.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "base/check.h"
#include "procedures/ir/expression_printer.h"
#include "procedures/parser/written_names.h"

namespace mneme {

using ir::AccessPath;
using ir::Operation;
using ir::OperationKind;
using ir::Statement;
using ir::StatementKind;
using ir::TableAccess;

namespace {

constexpr size_t kStep = 2;

template <typename Items, typename Print>
std::string join(const Items& items, Print&& print) {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += ", ";
    text += print(item);
  }
  return text;
}

std::string_view operator_of(ir::Assignment::How how) {
  switch (how) {
    case ir::Assignment::How::kSet:
      return ":=";
    case ir::Assignment::How::kAdd:
      return "+=";
    case ir::Assignment::How::kSubtract:
      return "-=";
  }
  CHECK(false && "a way to assign");
}

std::string_view mode_name(ir::OperationMode mode) {
  switch (mode) {
    case ir::OperationMode::kPerform:
      return "";
    case ir::OperationMode::kPerformAndRecord:
      return "record ";
    case ir::OperationMode::kRecall:
      return "recall ";
    case ir::OperationMode::kLocate:
      return "locate ";
    case ir::OperationMode::kTell:
      return "tell ";
  }
  CHECK(false && "no such mode");
  return "";
}

class Printer {
 public:
  Printer(const Catalog& catalog, const ir::Procedure& procedure, ir::StatementMarks marks = {})
      : catalog_(catalog), procedure_(procedure), marks_(marks) {}

  void body(std::span<const Statement> statements, size_t indent) {
    for (const Statement& each : statements) statement(each, indent);
  }

  void operation(const Operation& operation, size_t indent) {
    const ExpressionPrinter print(catalog_, procedure_, &operation);
    std::string head = fmt::format("#{} {}", operation.id.value, kind_of(operation));
    for (size_t i = 0; i < operation.access.size(); ++i) {
      head += fmt::format("{}{}", i == 0 ? " " : " join ", access(operation, operation.access[i], print));
    }
    if (!operation.groups.empty()) head += " group " + join(operation.groups, print);
    if (operation.having) head += " having " + print(*operation.having);
    if (!operation.order.empty()) {
      head += fmt::format(
          " order {}{}",
          join(operation.order,
               [&](const ir::OrderKey& key) { return print(key.expr) + (key.descending ? " desc" : ""); }),
          operation.order_is_path_order ? (operation.path_backward ? " by path backward" : " by path")
                                        : " by sort");
    }
    if (operation.first_row_decides)
      head += operation.path_backward ? " last row decides" : " first row decides";
    if (operation.limit) head += " limit " + print(*operation.limit);
    if (operation.offset) head += " offset " + print(*operation.offset);
    if (operation.found.valid()) head += " sets " + print.variable(operation.found);
    if (operation.row_count.valid()) head += " counts " + print.variable(operation.row_count);
    line(indent, head);
    details(operation, indent + 2 * kStep, print);
  }

  std::string take() { return std::move(text_); }

 private:
  void line(size_t indent, std::string_view text) {
    text_.append(indent, ' ');
    text_ += text;
    text_ += '\n';
  }

  static std::string kind_of(const Operation& operation) {
    switch (operation.kind) {
      case OperationKind::kSelect:
        return operation.strict ? "select strict" : "select";
      case OperationKind::kInsert:
        return "insert";
      case OperationKind::kUpdate:
        return "update";
      case OperationKind::kDelete:
        return "delete";
    }
    CHECK(false && "no such operation");
    return "";
  }

  std::string column(const TableAccess& access, ColumnId id) const {
    return catalog_.table(access.table).column(id).name;
  }

  std::string access(const Operation& operation, const TableAccess& access,
                     const ExpressionPrinter& print) const {
    std::string text = catalog_.table(access.table).name;
    if (operation.kind == OperationKind::kInsert) return text;
    const IndexDefinition& index = catalog_.index(access.path.index);
    std::vector<std::string> parts;
    for (size_t i = 0; i < access.path.equalities.size(); ++i) {
      const AccessPath::Equality& equality = access.path.equalities[i];
      const std::string name = column(access, index.columns[i]);
      if (equality.array.valid()) {
        parts.push_back(fmt::format("{} = any {}", name, print.variable(equality.array)));
      } else if (equality.values.size() == 1) {
        parts.push_back(fmt::format("{} = {}", name, print(equality.values[0])));
      } else {
        parts.push_back(fmt::format("{} in ({})", name, join(equality.values, print)));
      }
    }
    const auto bound = [&](const std::optional<AccessPath::Bound>& side, std::string_view op) {
      if (!side) return;
      parts.push_back(fmt::format("{} {}{} {}", column(access, index.columns[access.path.equalities.size()]),
                                  op, side->inclusive ? "=" : "", print(side->value)));
    };
    bound(access.path.lower, ">");
    bound(access.path.upper, "<");
    text += fmt::format(" {} {}({})", access.path.kind == AccessPath::Kind::kPoint ? "point" : "range",
                        index.name, fmt::join(parts, ", "));
    if (access.filter) text += " where " + print(*access.filter);
    return text;
  }

  std::string columns(const TableAccess& access, const std::vector<ColumnId>& ids) const {
    return fmt::format("{}({})", catalog_.table(access.table).name,
                       join(ids, [&](ColumnId id) { return column(access, id); }));
  }

  void details(const Operation& operation, size_t indent, const ExpressionPrinter& print) {
    std::vector<std::string> reads;
    for (const TableAccess& access : operation.access) {
      if (!access.columns_read.empty()) reads.push_back(columns(access, access.columns_read));
    }
    if (!reads.empty()) line(indent, fmt::format("reads {}", fmt::join(reads, " ")));
    if (operation.kind == OperationKind::kInsert) {
      line(indent, fmt::format("values {}", join(operation.values, print)));
    }
    if (!operation.columns_written.empty() && operation.kind != OperationKind::kInsert) {
      line(indent, "writes " + columns(operation.access[0], operation.columns_written));
    }
    for (const ir::Assignment& assignment : operation.assignments) {
      line(indent, fmt::format("set {} {} {}", column(operation.access[0], assignment.column),
                               operator_of(assignment.how), print(assignment.value)));
    }
    for (const ir::Output& output : operation.outputs) {
      line(indent, fmt::format("into {} := {}", print.variable(output.into), print(output.expr)));
    }
  }

  void loop(std::string_view head, const Statement& statement, size_t indent) {
    line(indent, head);
    body(statement.body, indent + kStep);
  }

  void statement(const Statement& statement, size_t indent) {
    const ExpressionPrinter print(catalog_, procedure_, nullptr);
    const auto found = [&] {
      return statement.found.valid() ? " sets " + print.variable(statement.found) : "";
    };
    switch (statement.kind) {
      case StatementKind::kAssign:
        return line(indent,
                    fmt::format("{} := {}", print.variable(statement.variable), print(*statement.expr)));
      case StatementKind::kArrayAppend:
        return line(indent, fmt::format("append to {} {}", print.variable(statement.variable),
                                        print(*statement.expr)));
      case StatementKind::kArrayAssign:
        return line(
            indent,
            fmt::format("{} := {}", print.variable(statement.variable),
                        statement.source_array.valid() ? print.variable(statement.source_array) : "{}"));
      case StatementKind::kIf:
        line(indent, "if " + print(*statement.expr));
        body(statement.body, indent + kStep);
        if (statement.else_body.empty()) return;
        line(indent, "else");
        return body(statement.else_body, indent + kStep);
      case StatementKind::kForRange:
        return loop(
            fmt::format("for {} in {}{} .. {}{}{}", print.variable(statement.variable),
                        statement.reverse ? "reverse " : "", print(*statement.expr), print(*statement.limit),
                        statement.step ? " by " + print(*statement.step) : "", found()),
            statement, indent);
      case StatementKind::kForQuery:
        line(indent, fmt::format("{}for each row of{}", mode_name(marks_.of(statement).mode), found()));
        perform(statement, indent + 2 * kStep);
        return body(statement.body, indent + kStep);
      case StatementKind::kWhile:
        return loop("while " + print(*statement.expr), statement, indent);
      case StatementKind::kExit:
      case StatementKind::kContinue:
        return line(indent,
                    fmt::format("{} {} when {}", statement.kind == StatementKind::kExit ? "exit" : "continue",
                                statement.loop_depth, print(*statement.expr)));
      case StatementKind::kReturn:
        return line(indent, "return");
      case StatementKind::kRaise:
        return line(indent, fmt::format("raise {}'{}'{}{}", raised_as(statement), statement.message,
                                        statement.args.empty() ? "" : ", ", join(statement.args, print)));
      case StatementKind::kTry:
        line(indent, fmt::format("try sets {}, {}", print.variable(statement.sqlstate_variable),
                                 print.variable(statement.message_variable)));
        body(statement.body, indent + kStep);
        line(indent, "on error");
        return body(statement.else_body, indent + kStep);
      case StatementKind::kOperation:
        return perform(statement, indent);
    }
    CHECK(false && "no such statement");
  }

  // What RAISE has beside a message and arguments.
  static std::string raised_as(const Statement& statement) {
    std::string text;
    if (statement.level != ir::RaiseLevel::kException)
      text += fmt::format("at level {} ", static_cast<int>(statement.level));
    if (statement.sqlstate_variable.valid()) text += "again ";
    if (std::string_view(statement.sqlstate) != sqlstate::kRaise &&
        (statement.has_detail || statement.has_hint || statement.level != ir::RaiseLevel::kException))
      text += fmt::format("as {} ", statement.sqlstate);
    if (statement.has_detail) text += "with detail ";
    if (statement.has_hint) text += "with hint ";
    return text;
  }

  // Prints how a statement treats its operation.
  void perform(const Statement& statement, size_t indent) {
    const Operation& operation = procedure_.operations[statement.operation.value];
    const ExpressionPrinter print(catalog_, procedure_, &operation);
    const ir::StatementMark& mark = marks_.of(statement);
    switch (mark.mode) {
      case ir::OperationMode::kPerform:
        return this->operation(operation, indent);
      case ir::OperationMode::kPerformAndRecord:
        line(indent, "record");
        return this->operation(operation, indent + kStep);
      case ir::OperationMode::kRecall: {
        std::vector<std::string> variables;
        for (const VariableId variable : operation.defines) variables.push_back(print.variable(variable));
        return line(indent,
                    fmt::format("recall #{} into {}", operation.id.value, fmt::join(variables, ", ")));
      }
      case ir::OperationMode::kTell:
        return line(indent, fmt::format("tell #{} ({})", operation.id.value, join(mark.lane_key, print)));
      case ir::OperationMode::kLocate:
        return line(indent, fmt::format("locate #{} {} by ({})", operation.id.value,
                                        catalog_.table(operation.access[mark.access].table).name,
                                        join(mark.lane_key, print)));
    }
    CHECK(false && "no such mode");
  }

  const Catalog& catalog_;
  const ir::Procedure& procedure_;
  const ir::StatementMarks marks_;
  std::string text_;
};

}  // namespace

std::string print_catalog(const Catalog& catalog) {
  std::string text;
  for (const Type& type : catalog.enums()) {
    text += fmt::format("enum {}\n", to_string(type));
    for (const EnumLabel& label : enum_definition(type).labels)
      text += fmt::format("  {} {}\n", label.position, written_string(label.text));
  }
  for (const TableDefinition& table : catalog.tables()) {
    text += fmt::format("table {}\n", table.name);
    for (const Column& column : table.columns) {
      Type type = column.type;
      if (type.is_string() && type.length == 0) type.length = column.assumed_length;
      text += fmt::format("  {} {}{}{}{}\n", column.name, to_string(type),
                          type.is_text ? fmt::format("({})", type.length) : "",
                          column.nullable ? "" : " not null",
                          column.initial.empty() ? "" : " default " + column.initial);
      // A sequence that a column draws from is its own, as SERIAL's.
      const std::string own = column.sequence.empty() ? "" : written_draw(column.sequence);
      if (own.empty() != !column.initial.starts_with("nextval(") || (!own.empty() && own != column.initial))
        text += fmt::format("    owns {}\n", column.sequence);
    }
    for (const IndexId id : table.indexes) {
      const IndexDefinition& index = catalog.index(id);
      text += fmt::format("  {}{} {}({})\n", index.unique ? "unique " : "",
                          table.primary_key == id ? "primary key" : "index", index.name,
                          join(index.columns, [&](ColumnId column) { return table.column(column).name; }));
      const bool looks_made_by_constraint =
          table.primary_key == id || (index.unique && index.name.ends_with("_key"));
      if (looks_made_by_constraint != (index.origin == IndexOrigin::kConstraint))
        text += fmt::format("    made by {}\n", static_cast<int>(index.origin));
    }
    if (const SequenceOptions& options = table.sequence; options != SequenceOptions()) {
      text += fmt::format("  type {} increment {} from {} to {}{} first {}\n", static_cast<int>(options.type),
                          options.increment, options.least, options.most, options.cycles ? " cycle" : "",
                          options.first);
    }
    for (const CheckConstraint& check : table.checks)
      text += fmt::format("  check {} ({})\n", check.name, check.condition);
    for (const ForeignKey& key : table.foreign_keys) {
      const TableDefinition& other = catalog.table(key.referenced);
      text += fmt::format(
          "  foreign key {}({}) references {}({}) on delete {} on update {}\n", key.name,
          join(key.columns, [&](ColumnId column) { return table.column(column).name; }), other.name,
          join(key.referenced_columns, [&](ColumnId column) { return other.column(column).name; }),
          static_cast<int>(key.on_delete), static_cast<int>(key.on_update));
    }
  }
  return text;
}

std::string print_procedure(const Catalog& catalog, const ir::Procedure& procedure) {
  const ExpressionPrinter print(catalog, procedure, nullptr);
  std::string text = fmt::format("{} {}({})\n", procedure.is_function ? "function" : "procedure",
                                 procedure.name, join(procedure.parameters, [&](const auto& each) {
                                   const ir::Variable& variable = procedure.variables[each.variable.value];
                                   return fmt::format("{}{} {}",
                                                      each.out     ? "out "
                                                      : each.inout ? "inout "
                                                                   : "",
                                                      variable.name, to_string(variable.type));
                                 }));
  for (size_t i = procedure.parameters.size(); i < procedure.variables.size(); ++i) {
    text += fmt::format("  variable {} {}\n", print.variable(VariableId{static_cast<uint32_t>(i)}),
                        to_string(procedure.variables[i].type));
  }
  Printer body(catalog, procedure);
  body.body(procedure.body, kStep);
  return text + body.take();
}

std::string print_body(const Program& program, const ir::Procedure& procedure, ir::BodyView body,
                       size_t indent) {
  Printer printer(program.catalog, procedure, body.marks);
  printer.body(body.statements, indent);
  return printer.take();
}

std::string print_operation(const Program& program, const ir::Procedure& procedure,
                            const Operation& operation, size_t indent) {
  Printer printer(program.catalog, procedure);
  printer.operation(operation, indent);
  return printer.take();
}

std::string print_expr(const Program& program, const ir::Procedure& procedure, const ir::Expr& expr,
                       const Operation* operation) {
  return ExpressionPrinter(program.catalog, procedure, operation)(expr);
}

std::string print_program(const Program& program) {
  std::string text = print_catalog(program.catalog);
  for (const ir::Procedure& procedure : program.procedures)
    text += print_procedure(program.catalog, procedure);
  return text;
}

}  // namespace mneme
