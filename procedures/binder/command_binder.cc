#include "procedures/binder/command_binder.h"

#include <algorithm>
#include <span>

#include "base/deep_stack.h"
#include "base/utf8.h"
#include "engine/schema/text_form.h"
#include "procedures/binder/change_binder.h"
#include "procedures/binder/expression_binder.h"
#include "procedures/binder/names.h"
#include "procedures/binder/operation_binder.h"
#include "procedures/binder/statement_binder.h"
#include "procedures/ir/ir_walk.h"
#include "procedures/ir/source_error.h"
#include "procedures/typing/constant_folding.h"
#include "procedures/typing/conversion.h"
#include "procedures/values/array_text.h"
#include "procedures/values/value_text.h"

namespace mneme {

namespace {

// A hash table's rows come in no order, whatever path_order() takes for granted.
void expect_no_order_of_hash_tables(const Catalog& catalog, ir::Operation& operation) {
  const bool ordered = std::ranges::all_of(operation.access, [&](const ir::TableAccess& access) {
    if (!access.path.index.valid() || access.path.kind == ir::AccessPath::Kind::kPoint) return true;
    return catalog.is_ordered(catalog.index(access.path.index));
  });
  if (ordered) return;
  operation.order_is_path_order = operation.order.empty();
  operation.path_backward = false;
  operation.first_row_decides = false;
}

class CallBinder {
 public:
  CallBinder(const Program& program, BoundCall& bound)
      : program_(program), bound_(bound), names_(program.catalog, bound.procedure) {}

  void declare(std::span<const Type> parameters) { names_.declare_parameters(parameters); }

  void bind(const syntax::Command& call) {
    const ir::Procedure* callee = program_.find_procedure(call.name.text);
    if (callee == nullptr)
      refuse_as(sqlstate::kUndefinedFunction, call.name.where, "procedure {} does not exist", call.name.text);
    if (callee->is_function && !call.calls_function) {
      refuse_as(sqlstate::kWrongObject, call.name.where,
                "{} is not a procedure; to call a function, use SELECT", callee->name);
    }
    const syntax::Procedure& routine = *program_.find_routine(call.name.text);
    const std::vector<const syntax::Expr*> given = arguments_of(routine, call.args, call.name.where);
    bound_.callee = callee->id;
    bound_.procedure.name = "arguments of " + callee->name;
    names_.open_block();
    syntax::Expr null;
    null.where = call.name.where;
    for (size_t i = 0; i < callee->parameters.size(); ++i) {
      const bool is_out = callee->parameters[i].out;
      if (is_out && i < given.size() && given[i] != nullptr && given[i]->kind == syntax::ExprKind::kParameter)
        know_parameter(*given[i], callee->variables[callee->parameters[i].variable.value].type);
      bind_argument(*callee, i, is_out ? null : *given[i]);
    }
  }

 private:
  // A parameter of the statement, without a type so far, is of this one.
  void know_parameter(const syntax::Expr& expr, Type type) {
    const VariableId own = names_.parameter(expr);
    if (names_.type_of(own).kind != TypeKind::kNull) return;
    type = without_modifiers(type);
    names_.set_parameter_type(own, type);
  }

  void bind_argument(const ir::Procedure& callee, size_t n, const syntax::Expr& expr) {
    const ir::Variable& parameter = callee.variables[callee.parameters[n].variable.value];
    bound_.arrays.emplace_back();
    if (parameter.type.is_array) {
      bound_.arrays.back() = array(expr, parameter.type, n);
      return;
    }
    if (expr.kind == syntax::ExprKind::kParameter) know_parameter(expr, parameter.type);
    ExpressionBinder binder(names_, bound_.strings);
    ir::Expr value = binder.bind(expr);
    if (!is_unknown(value) && !converts_implicitly(value.type, parameter.type)) {
      refuse_as(sqlstate::kUndefinedFunction, expr.where,
                "argument {} of {} {} is of type {}, and this is of type {}; write CAST(... AS {})", n + 1,
                callee.is_function ? "function" : "procedure", callee.name, type_name(parameter.type),
                type_name(value.type), to_string(parameter.type));
    }
    if ((callee.parameters[n].inout && !sets_parameter(callee, n)) || shows_digits(callee, n))
      check_comes_back(callee, n, value);
    assign(std::move(value), parameter, parameter.type, fmt::format("argument {}", n + 1));
  }

  // Adds a parameter of the bound procedure, which it gives the value. `name` is no name of the user's: it
  // holds a blank.
  void assign(ir::Expr value, const ir::Variable& parameter, const Type& wanted, const std::string& name) {
    ir::Statement assign;
    assign.where = value.where;
    // With its own digits and characters: PostgreSQL ignores the parameter's modifiers, so whether the value
    // is the same with them is looked at once it is known.
    Type own = without_modifiers(wanted);
    if (own.kind == TypeKind::kNumeric) own.scale = static_cast<uint8_t>(decimals_of(value).count);
    assign.expr = convert_for_assignment(std::move(value), own, parameter.name);
    ConstantFolder(bound_.strings).fold_alone(*assign.expr);
    assign.variable = names_.declare(syntax::Name{name, assign.where}, own, false, true);
    bound_.procedure.parameters.push_back({assign.variable, true});
    bound_.procedure.body.push_back(std::move(assign));
  }

  static bool returns(std::span<const ir::Statement> statements) {
    return std::ranges::any_of(statements, [](const ir::Statement& statement) {
      return statement.kind == ir::StatementKind::kReturn || returns(statement.body) ||
             returns(statement.else_body);
    });
  }

  // Whether the procedure, unless it raises, gives the parameter a value of its own.
  static bool sets_parameter(const ir::Procedure& callee, size_t n) {
    const VariableId parameter = callee.parameters[n].variable;
    for (const ir::Statement& statement : callee.body) {
      if (statement.kind == ir::StatementKind::kAssign && statement.variable == parameter) return true;
      if (statement.kind == ir::StatementKind::kOperation || statement.kind == ir::StatementKind::kForQuery) {
        const auto& outputs = callee.operations[statement.operation.value].outputs;
        if (std::ranges::find(outputs, parameter, &ir::Output::into) != outputs.end()) return true;
      }
      if (returns({&statement, 1})) return false;
    }
    return false;
  }

  // Whether the procedure makes text of a numeric parameter, or another parameter of it.
  static bool shows_digits(const ir::Procedure& callee, size_t n) {
    const VariableId parameter = callee.parameters[n].variable;
    if (callee.variables[parameter.value].type.kind != TypeKind::kNumeric) return false;
    const auto is_parameter = [&](const ir::Expr& expr) {
      return expr.kind == ir::ExprKind::kVariable && expr.variable == parameter;
    };
    const auto makes_text = [&](const ir::Expr& whole) {
      bool found = false;
      ir::walk(whole, [&](const ir::Expr& expr) {
        const bool to_text = (expr.kind == ir::ExprKind::kCast && expr.type.is_string()) ||
                             expr.function == ir::Function::kConcatFunction;
        found |= to_text && std::ranges::any_of(expr.args, is_parameter);
      });
      return found;
    };
    const auto reads = [&](const ir::Expr& whole) {
      bool found = false;
      ir::walk(whole, [&](const ir::Expr& expr) { found |= is_parameter(expr); });
      return found;
    };
    bool shows = false;
    for (const ir::Operation& operation : callee.operations) {
      ir::for_each_expression(operation, [&](const ir::Expr& expr) { shows |= makes_text(expr); });
      for (const ir::Output& output : operation.outputs) {
        shows |= output.into.value < callee.parameters.size() && is_parameter(output.expr);
      }
    }
    const auto search = [&](const auto& self, std::span<const ir::Statement> statements) -> void {
      for (const ir::Statement& statement : statements) {
        for (const auto* expr : {&statement.expr, &statement.limit, &statement.step})
          shows |= *expr && makes_text(**expr);
        const bool sets_parameter =
            statement.variable.valid() && statement.variable.value < callee.parameters.size();
        shows |= sets_parameter && statement.expr && is_parameter(*statement.expr);
        for (const ir::Expr& arg : statement.args)
          shows |= makes_text(arg) || (arg.type.kind == TypeKind::kNumeric && reads(arg));
        self(self, statement.body);
        self(self, statement.else_body);
      }
    };
    search(search, callee.body);
    return shows;
  }

  // An argument that may come back as a result, or as text, must be printed then as PostgreSQL does, which
  // gives it neither digits nor blanks.
  static void check_comes_back(const ir::Procedure& callee, size_t n, const ir::Expr& value) {
    const ir::Variable& parameter = callee.variables[callee.parameters[n].variable.value];
    const bool is_constant = value.kind == ir::ExprKind::kConstant;
    if (is_constant && value.constant.is_null()) return;
    bool same = true;
    if (parameter.type.kind == TypeKind::kNumeric) {
      const Digits digits = decimals_of(value);
      same = digits.count == parameter.type.scale && !digits.vary;
    } else if (parameter.type.kind == TypeKind::kChar) {
      const size_t size = is_constant && value.type.length == 0 ? count_characters(value.constant.as_text())
                                                                : value.type.length;
      same = size == parameter.type.length;
    }
    if (same) return;
    refuse(value.where,
           "argument {} of procedure {}, {}, may come back or be made text, as it was given in PostgreSQL, "
           "and as a {} in Mneme; write "
           "CAST(... AS {})",
           n + 1, callee.name, parameter.name, to_string(parameter.type), to_string(parameter.type));
  }

  static const syntax::Expr& without_sign(const syntax::Expr& element) {
    const bool is_negative = element.kind == syntax::ExprKind::kUnary && element.op == ir::Op::kNegate;
    return is_negative ? element.args[0] : element;
  }

  static bool is_literal(const syntax::Expr& element) {
    switch (without_sign(element).kind) {
      case syntax::ExprKind::kNull:
      case syntax::ExprKind::kInteger:
      case syntax::ExprKind::kDecimal:
      case syntax::ExprKind::kBoolean:
      case syntax::ExprKind::kString:
        return true;
      default:
        return false;
    }
  }

  // ARRAY[1, -2, NULL, 'x'] as '{1,-2,NULL,x}'.
  static std::string text_of_array(const syntax::Expr& array) {
    fmt::memory_buffer text;
    text.push_back('{');
    for (const syntax::Expr& each : array.args) {
      if (&each != &array.args[0]) text.push_back(',');
      const syntax::Expr& element = without_sign(each);
      if (element.kind == syntax::ExprKind::kNull) {
        fmt::format_to(std::back_inserter(text), "NULL");
      } else {
        append_array_element((&element != &each ? "-" : "") + element.text, text);
      }
    }
    text.push_back('}');
    return fmt::to_string(text);
  }

  // An array of numbers has the widest one's type in PostgreSQL.
  static void check_elements(const syntax::Expr& array, const Type& type) {
    TypeKind widest = TypeKind::kNull;
    for (const syntax::Expr& each : array.args) {
      const syntax::Expr& element = without_sign(each);
      TypeKind kind = TypeKind::kNull;
      if (element.kind == syntax::ExprKind::kDecimal) kind = TypeKind::kNumeric;
      if (element.kind == syntax::ExprKind::kInteger) {
        const std::string& digits = element.text;
        const int128 value = digits.size() > 19 ? int128{INT64_MAX} + 1 : int128{std::stoull(digits)};
        kind = value <= INT32_MAX   ? TypeKind::kInt
               : value <= INT64_MAX ? TypeKind::kBigInt
                                    : TypeKind::kNumeric;
      }
      if (kind != TypeKind::kNull && (widest == TypeKind::kNull || kind > widest)) widest = kind;
    }
    if (widest != TypeKind::kNull) expect_elements(Type{.kind = widest}, type, array.where);
  }

  // ARRAY[...] of more than literals: each element is computed by the bound procedure. `cast`: the type that
  // the statement casts the array to, if it does. `is_numeric`: it casts it to numbers with digits of their
  // own.
  BoundCall::Array computed(const syntax::Expr& expr, const Type& type, const Type* cast, bool is_numeric,
                            size_t n) {
    const ir::Procedure& callee = program_.procedure(bound_.callee);
    const ir::Variable& parameter = callee.variables[callee.parameters[n].variable.value];
    ExpressionBinder binder(names_, bound_.strings);
    std::vector<ir::Expr> values;
    for (const syntax::Expr& each : expr.args) {
      values.push_back(binder.bind(each));
      if (cast != nullptr) {
        values.back() = convert_explicitly(std::move(values.back()), cast->element());
      } else if (is_numeric && is_unknown(values.back())) {
        values.back() = convert(std::move(values.back()), type.element());
      }
    }
    if (cast == nullptr) {
      std::vector<ir::Expr*> all;
      for (ir::Expr& each : values) all.push_back(&each);
      bool text_varies = false;
      expect_elements(unify_results(all, "ARRAY", text_varies), type, expr.where);
    }
    for (size_t i = 0; i < values.size(); ++i)
      assign(std::move(values[i]), parameter, type.element(),
             fmt::format("argument {} element {}", n + 1, i + 1));
    return {.elements = values.size()};
  }

  static void expect_elements(const Type& given, const Type& wanted, ir::SourceLocation where) {
    if (converts_implicitly(given, wanted.element())) return;
    refuse_as(sqlstate::kUndefinedFunction, where, "an array of {} is no {}; write its elements so",
              type_name(given), to_string(wanted));
  }

  // `n`: the argument's place.
  BoundCall::Array array(const syntax::Expr& expr, const Type& type, size_t n) {
    switch (expr.kind) {
      case syntax::ExprKind::kNull:
        return {};
      case syntax::ExprKind::kEmptyArray:
        return {.text = "{}"};
      case syntax::ExprKind::kString:
        return {.text = expr.text};
      case syntax::ExprKind::kArray:
        if (!std::ranges::all_of(expr.args, is_literal)) return computed(expr, type, nullptr, false, n);
        check_elements(expr, type);
        return {.text = text_of_array(expr)};
      case syntax::ExprKind::kCast: {
        if (!expr.type.is_array) break;
        const syntax::Expr& written = expr.args[0];
        // Numbers keep their own digits then.
        const bool is_numeric = expr.type.base == "numeric" && expr.type.modifiers.empty();
        const Type cast =
            is_numeric ? Type{.kind = TypeKind::kNumeric, .is_array = true} : names_.read_type(expr.type);
        expect_elements(cast.element(), type, expr.where);
        if (written.kind == syntax::ExprKind::kArray)
          return computed(written, type, is_numeric ? nullptr : &cast, is_numeric, n);
        return array(written, is_numeric ? type : cast, n);
      }
      case syntax::ExprKind::kParameter: {
        const VariableId own = names_.parameter(expr);
        if (names_.type_of(own).kind == TypeKind::kNull) names_.set_parameter_type(own, type);
        const Type& given = names_.type_of(own);
        // Integers of all widths are kept alike. The call's arguments are checked once they are known.
        const bool widens = given.element().is_integer() && type.element().is_integer() &&
                            converts_implicitly(given.element(), type.element());
        if (!given.is_array || (given.kind != type.kind && !widens))
          refuse_as(sqlstate::kUndefinedFunction, expr.where, "${} is of type {}, and a {} is wanted",
                    expr.text, to_string(given), to_string(type));
        return {.parameter = own.value};
      }
      default:
        break;
    }
    refuse_as(is_literal(expr) ? sqlstate::kUndefinedFunction : sqlstate::kNotSupported, expr.where,
              "an array is given as text, as '{{1,2,3}}', as ARRAY[...], or as a parameter");
  }

  const Program& program_;
  BoundCall& bound_;
  Names names_;
};

}  // namespace

bool LearnedTypes::any_unknown(std::span<const Type> types) {
  return std::ranges::any_of(types, [](const Type& type) { return type.kind == TypeKind::kNull; });
}

void LearnedTypes::look_at(const ir::Expr& part) {
  if (part.kind != ir::ExprKind::kVariable || part.variable.value >= types_.size()) return;
  const size_t number = part.variable.value;
  named_[number] = 1;
  const bool is_first = !places_[number] || std::pair(part.where.line, part.where.column) <
                                                std::pair(places_[number]->line, places_[number]->column);
  if (part.type.kind == TypeKind::kNull || !is_first) return;
  if (!places_[number] && types_[number].kind != TypeKind::kNull) return;  // it was given
  places_[number] = part.where;
  types_[number] = part.type;
  // The precision of these kinds tells what the catalogs' types are (values/type_oids.h).
  const TypeKind kind = part.type.kind;
  if (kind != TypeKind::kVarchar && kind != TypeKind::kBigInt) types_[number].precision = 0;
  types_[number].length = types_[number].element_modifier = 0;
}

void LearnedTypes::finish(const ir::Procedure& procedure, bool names_all) {
  // An array is no value in an expression; the binder has noted its type at the variable.
  for (size_t i = 0; i < types_.size(); ++i) {
    if (types_[i].kind == TypeKind::kNull) types_[i] = procedure.variables[i].type;
  }
  for (size_t i = 0; i < types_.size(); ++i) {
    if (types_[i].kind != TypeKind::kNull || (!names_all && named_[i] == 0)) continue;
    refuse_as(sqlstate::kIndeterminateType, procedure.where, "could not determine data type of parameter ${}",
              i + 1);
  }
}

namespace {

void learn(const ir::Procedure& procedure, std::span<const ir::Statement> statements,
           std::vector<Type>& types) {
  LearnedTypes learned(types);
  const auto look_at = [&](const ir::Expr& whole) {
    ir::walk(whole, [&](const ir::Expr& part) { learned.look_at(part); });
  };
  for (const ir::Operation& operation : procedure.operations) ir::for_each_expression(operation, look_at);
  for (const ir::Statement& statement : statements) {
    if (statement.expr) look_at(*statement.expr);
  }
  learned.finish(procedure);
}

BoundQuery bind_query_deep(const Program& program, const syntax::Operation& operation,
                           std::span<const Type> parameters, const SessionValues* session) {
  BoundQuery query;
  query.procedure.name = "statement";
  query.procedure.where = operation.where;
  Names names(program.catalog, query.procedure, session);
  const ProgramRoutines routines(program);
  names.set_routines(&routines);
  names.declare_parameters(parameters);
  names.open_block();
  names.allow_sequences();
  std::vector<IndexId> ordered;  // has no say in a catalog that is settled
  OperationBinder binder(program.catalog, query.strings, ordered, names, query.procedure);
  ChangeBinder changes(program.catalog, query.strings, names, binder, query.procedure, false);
  size_t raisings = 0;
  const auto loop_over = [&](const syntax::Operation& part, std::vector<ir::Statement>&) {
    ir::Statement loop;
    loop.kind = ir::StatementKind::kForQuery;
    loop.where = part.where;
    names.open_block();
    loop.operation = binder.bind(part, OperationBinder::Use::kUser, {});
    names.close_block();
    // Constants are looked at before the statement's first row.
    if (std::optional<ir::Expr> raising = binder.take_raising()) {
      std::vector<ir::Statement>& all = query.body.statements;
      all.insert(all.begin() + static_cast<ptrdiff_t>(raisings++), make_raising(std::move(*raising)));
    }
    query.body.mark(loop, {.mode = ir::OperationMode::kPerformAndRecord});
    if (query.columns.empty()) {
      const std::vector<std::string> output_names = binder.output_names();
      const ir::Operation& bound = query.procedure.operations[loop.operation.value];
      for (size_t i = 0; i < bound.outputs.size(); ++i) {
        const ir::Expr& value = bound.outputs[i].expr;
        std::optional<ColumnOrigin> origin;
        if (value.kind == ir::ExprKind::kColumn)
          origin = ColumnOrigin{bound.access[value.source].table, value.column};
        query.columns.push_back({output_names[i].empty() ? "?column?" : output_names[i], value.type, origin});
      }
    }
    return loop;
  };
  ChangeBinder::Statements references;
  const auto add = [&](const syntax::Operation& part) {
    if (part.kind == ir::OperationKind::kSelect) {
      ir::Statement loop = loop_over(part, query.body.statements);
      query.body.statements.push_back(std::move(loop));
    } else {
      changes.bind(part, loop_over, query.body.statements,
                   operation.more_rows.empty() ? nullptr : &references);
    }
  };
  add(operation);
  for (const std::vector<syntax::Expr>& row : operation.more_rows) add(operation.with_row(row));
  std::ranges::move(references, std::back_inserter(query.body.statements));
  for (ir::Operation& each : query.procedure.operations)
    expect_no_order_of_hash_tables(program.catalog, each);
  return query;
}

BoundCall bind_call_deep(const Program& program, const syntax::Command& call,
                         std::span<const Type> parameters) {
  BoundCall bound;
  CallBinder binder(program, bound);
  binder.declare(parameters);
  binder.bind(call);
  return bound;
}

}  // namespace

BoundQuery bind_query(const Program& program, const syntax::Operation& operation,
                      std::vector<Type>& parameters, const SessionValues* session) {
  return on_deep_stack([&] {
    BoundQuery bound = bind_query_deep(program, operation, parameters, session);
    if (!LearnedTypes::any_unknown(parameters)) return bound;
    learn(bound.procedure, bound.body.statements, parameters);
    return bind_query_deep(program, operation, parameters, session);
  });
}

BoundCall bind_call(const Program& program, const syntax::Command& call, std::vector<Type>& parameters) {
  return on_deep_stack([&] {
    BoundCall bound = bind_call_deep(program, call, parameters);
    if (!LearnedTypes::any_unknown(parameters)) return bound;
    learn(bound.procedure, bound.procedure.body, parameters);
    return bind_call_deep(program, call, parameters);
  });
}

std::unique_ptr<BoundBlock> bind_block(const Program& program, const syntax::Command& command) {
  return on_deep_stack([&] {
    auto bound = std::make_unique<BoundBlock>();
    const ProgramRoutines routines(program);
    std::vector<IndexId> ordered;
    ProcedureBinder binder(program.catalog, bound->strings, ordered, &routines);
    bound->procedure =
        binder.bind(*command.block, ProcedureId{static_cast<uint32_t>(program.procedures.size())});
    for (ir::Operation& operation : bound->procedure.operations)
      expect_no_order_of_hash_tables(program.catalog, operation);
    return bound;
  });
}

}  // namespace mneme
