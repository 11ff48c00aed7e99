#include "procedures/query/bound_select.h"

#include <algorithm>

#include "base/deep_stack.h"
#include "procedures/binder/names.h"
#include "procedures/query/query_binder.h"
#include "procedures/typing/conversion.h"
#include "procedures/values/type_oids.h"

namespace mneme {

namespace {

std::unique_ptr<BoundSelect> bind_deep(const Program& program, const syntax::Query& query,
                                       std::span<const Type> parameters, const SessionValues* session,
                                       const query::ProvidedTables* provider, LearnedTypes& learned,
                                       const std::vector<std::optional<Type>>* targets,
                                       std::span<const query::GivenTable> given) {
  auto bound = std::make_unique<BoundSelect>();
  bound->procedure.name = "statement";
  bound->procedure.where = query.where;
  Names names(program.catalog, bound->procedure, session);
  const ProgramRoutines routines(program);
  names.set_routines(&routines);
  names.declare_parameters(parameters);
  names.open_block();
  names.allow_sequences();
  query::QueryBinder binder(
      program.catalog, names, bound->strings, provider, [&](const ir::Expr& part) { learned.look_at(part); },
      given);
  bound->queries = binder.bind(query, targets);
  for (const query::Column& column : bound->queries.plan->columns) {
    Type type = column.type;
    // A vector, and an array of numbers that have digits of their own, stay the text that spells them.
    const TypeKind elements = type.elements;
    const bool is_spelled = is_vector(type) || is_name(type) || type.precision == kOidArrayPrecision ||
                            elements == TypeKind::kDecimal || elements == TypeKind::kNumeric;
    if (elements != TypeKind::kNull && !is_spelled)
      type = Type{.kind = elements,
                  .is_array = true,
                  .precision = has_read_form(element_of(type)) ? type.precision : uint8_t{0},
                  .is_text = elements != TypeKind::kVarchar || type.is_text,
                  .is_zoned = type.is_zoned,
                  .enumeration = type.enumeration};
    bound->columns.push_back({column.name, type, column.origin});
  }
  return bound;
}

}  // namespace

std::unique_ptr<BoundSelect> bind_select(const Program& program, const syntax::Query& query,
                                         std::vector<Type>& parameters, const SessionValues* session,
                                         const query::ProvidedTables* provider,
                                         const std::vector<std::optional<Type>>* targets,
                                         const std::vector<query::GivenTable>* tables) {
  return on_deep_stack([&] {
    LearnedTypes learned(parameters);
    const std::span<const query::GivenTable> given_tables =
        tables == nullptr ? std::span<const query::GivenTable>() : *tables;
    std::vector<Type> given = parameters;
    std::unique_ptr<BoundSelect> bound =
        bind_deep(program, query, given, session, provider, learned, targets, given_tables);
    // An array that was given is a text here, where the query uses it as a value.
    for (size_t i = 0; i < given.size(); ++i) {
      const Type& used = bound->procedure.variables[i].type;
      if (given[i].is_array && used.elements != TypeKind::kNull) parameters[i] = used;
    }
    if (!learned.any_unknown(given)) return bound;
    learned.finish(bound->procedure, tables == nullptr);
    return bind_deep(program, query, parameters, session, provider, learned, targets, given_tables);
  });
}

}  // namespace mneme
