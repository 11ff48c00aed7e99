// QueryBinder's tables of WITH, and among them those that refer to themselves.
#include <algorithm>
#include <utility>

#include "procedures/binder/expression_binder.h"
#include "procedures/ir/source_error.h"
#include "procedures/query/query_binder.h"
#include "procedures/query/recursion_check.h"
#include "procedures/query/select_binder.h"
#include "procedures/typing/conversion.h"
#include "procedures/values/decimal.h"

namespace mneme::query {

using ir::Expr;
using syntax::Query;

namespace {

// Puts a value at the end of a stack, and takes it away again when the scope ends, an exception included.
template <typename Stack>
class Pushed {
 public:
  Pushed(Stack& stack, typename Stack::value_type value) : stack_(stack), size_(stack.size()) {
    stack.push_back(std::move(value));
  }
  ~Pushed() { stack_.resize(size_); }
  Pushed(const Pushed&) = delete;
  Pushed& operator=(const Pushed&) = delete;

 private:
  Stack& stack_;
  const size_t size_;
};

bool is_free_numeric(const Type& type) {
  return type.kind == TypeKind::kDecimal || (type.kind == TypeKind::kNumeric && type.precision == 0);
}

// Whether PostgreSQL sees one type with one modifier in both.
bool is_same_declared_type(const Type& a, const Type& b) {
  if (is_free_numeric(a) && is_free_numeric(b)) return true;
  if (a.kind != b.kind || a.is_text != b.is_text || a.elements != b.elements) return false;
  if (a.kind == TypeKind::kNumeric) return a.precision == b.precision && a.scale == b.scale;
  if (a.kind == TypeKind::kTimestamp) return a.precision == b.precision && a.is_zoned == b.is_zoned;
  if (a.kind == TypeKind::kInterval || a.kind == TypeKind::kTime) return a.precision == b.precision;
  return !a.is_string() || a.is_text || a.length == b.length;
}

// The two sides of the UNION that comes last.
struct RecursiveForm {
  Query first;
  Query step;
  bool all = false;
};

RecursiveForm split(const Query& query, const std::string& name) {
  const Query* whole = &query;
  while (whole->more.empty() && whole->first.query && whole->with.empty()) whole = whole->first.query.get();
  size_t last = whole->more.size();
  while (last > 0 && whole->more[last - 1].set == Query::Set::kIntersect) --last;
  if (last == 0 || whole->more[last - 1].set != Query::Set::kUnion) {
    refuse_as(sqlstate::kInvalidRecursion, query.where,
              "recursive query \"{}\" does not have the form non-recursive-term UNION [ALL] recursive-term",
              name);
  }
  const auto refuse_clause = [&](std::string_view clause) {
    refuse_as(sqlstate::kNotSupported, query.where, "{} in a recursive query is not implemented", clause);
  };
  if (!whole->order.empty()) refuse_clause("ORDER BY");
  if (whole->offset) refuse_clause("OFFSET");
  if (whole->limit) refuse_clause("LIMIT");
  if (whole->for_update) refuse_clause("FOR UPDATE");
  RecursiveForm form;
  form.all = whole->more[last - 1].all;
  form.first.where = form.step.where = whole->where;
  form.first.with = form.step.with = whole->with;
  form.first.recursive = form.step.recursive = whole->recursive;
  form.first.first = whole->first;
  const auto middle = whole->more.begin() + static_cast<ptrdiff_t>(last);
  form.first.more.assign(whole->more.begin(), middle - 1);
  form.step.first = whole->more[last - 1].part;
  form.step.more.assign(middle, whole->more.end());
  return form;
}

}  // namespace

void QueryBinder::add_common_tables(const Query& query, const RowScope& scope) {
  const size_t before = common_tables_.size();
  for (const Query::CommonTable& table : query.with) {
    for (size_t i = before; i < common_tables_.size(); ++i) {
      if (common_tables_[i].table->name.text == table.name.text) {
        refuse_as(sqlstate::kDuplicateAlias, table.name.where,
                  "WITH query name \"{}\" specified more than once", table.name.text);
      }
    }
    const bool is_given = std::ranges::find(given_, table.change.get(), &GivenTable::change) != given_.end();
    if (table.change && !is_given) {
      refuse_as(sqlstate::kNotSupported, table.name.where,
                "WITH clause containing a data-modifying statement must be at the top level");
    }
    common_tables_.push_back({&table, common_tables_.size(), query.recursive, &scope});
  }
  if (!query.recursive) return;
  for (size_t i = before; i < common_tables_.size(); ++i) common_tables_[i].visible = common_tables_.size();
}

// A table of WITH that nothing reads is never run, but has to be right.
void QueryBinder::check_unused_tables(size_t first, RowScope& scope) {
  const size_t raising = bound_.raising.size();
  const bool makes_rows = bound_.makes_rows;
  for (size_t i = first; i < common_tables_.size(); ++i) {
    const Query::CommonTable* table = common_tables_[i].table;
    if (!table->change && std::ranges::find(used_tables_, table) == used_tables_.end())
      bind_common_table(common_tables_[i], scope);
  }
  bound_.raising.resize(raising);
  bound_.makes_rows = makes_rows;
}

uint32_t QueryBinder::read_given(const Query::CommonTable& table, ir::SourceLocation where) {
  const auto given = std::ranges::find(given_, table.change.get(), &GivenTable::change);
  if (given->columns.empty()) {
    refuse_as(sqlstate::kNotSupported, where, "WITH query \"{}\" does not have a RETURNING clause",
              table.name.text);
  }
  const auto number = static_cast<uint32_t>(given - given_.begin());
  bound_.given_read.push_back(number);
  return number;
}

const QueryBinder::OpenRecursion* QueryBinder::find_open_recursion(const CommonTable& table) const {
  const auto found = std::ranges::find(open_recursions_, table.table, &OpenRecursion::table);
  return found == open_recursions_.end() ? nullptr : &*found;
}

QueryBinder::ReadTable QueryBinder::bind_common_table(CommonTable common, RowScope& reader) {
  if (std::ranges::find(bound_tables_, common.table) != bound_tables_.end()) {
    refuse_as(sqlstate::kNotSupported, common.table->name.where,
              "mutual recursion between WITH items is not implemented");
  }
  const Pushed bound(bound_tables_, common.table);
  used_tables_.push_back(common.table);
  // It sees the tables of WITH before it; with RECURSIVE all of them, itself included.
  std::vector<CommonTable> all = common_tables_;
  common_tables_.resize(common.visible);
  // Its outer columns are those of the query that has the WITH, which a query inside of that one doesn't pass
  // on alone.
  RowScope* const outer = reader.is_part_of(*common.scope) ? &reader : nullptr;
  ReadTable read;
  const bool is_recursive =
      common.recursive && RecursionCheck(common.table->name.text).refers(*common.table->query);
  read.plan = is_recursive ? bind_recursion(*common.table, outer, read.inputs)
                           : bind_query(*common.table->query, outer, false, &read.inputs);
  common_tables_ = std::move(all);
  return read;
}

std::unique_ptr<QueryPlan> QueryBinder::bind_recursion(const Query::CommonTable& table, RowScope* outer,
                                                       Inputs& inputs) {
  const std::string& name = table.name.text;
  const RecursiveForm form = split(*table.query, name);
  RecursionCheck(name).check(form.first, form.step);
  auto plan = std::make_unique<QueryPlan>();
  plan->recursion = std::make_unique<RecursionPlan>();
  RecursionPlan& recursion = *plan->recursion;
  recursion.number = bound_.recursions++;
  recursion.all = form.all;
  recursion.first = bind_query(form.first, outer, false, &inputs);
  for (uint32_t i = 0; i < recursion.first->columns.size(); ++i) {
    const Column& column = recursion.first->columns[i];
    Expr value = output_column(i, column.type, table.name.where);
    if (is_free_numeric(value.type)) value = with_own_digits(std::move(value));
    plan->columns.push_back({i < table.columns.size() ? table.columns[i].text : column.name, value.type});
    recursion.first_casts.push_back(std::move(value));
  }
  {
    const Pushed open(open_recursions_, {&table, recursion.number, plan->columns});
    Inputs of_step;
    recursion.step = bind_query(form.step, outer, false, &of_step, true);
    for (auto& input : of_step) inputs.push_back(std::move(input));
  }
  if (recursion.step->columns.size() != plan->columns.size())
    refuse(form.step.where, "each UNION query must have the same number of columns");
  RowScope none(names_, nullptr, false);
  SelectBinder queries(*this, none);
  ExpressionBinder binder(names_, strings_, &queries);
  for (uint32_t i = 0; i < plan->columns.size(); ++i) {
    const Type& wanted = plan->columns[i].type;
    const Type given = recursion.step->columns[i].type;
    Expr value = output_column(i, given, table.name.where);
    if (given.kind == TypeKind::kNull) {
      // A literal that has no type yet is cast where it is read.
      if (recursion.step->select) value = recursion.step->select->outputs[i];
      if (!is_unknown(value)) value.type = text_type();
    }
    if (!is_same_declared_type(wanted, value.type)) {
      Expr first = output_column(i, wanted, table.name.where);
      const std::vector<Expr*> values = {&first, &value};
      binder.give_own_digits(values);
      bool text_varies = false;
      const Type overall = unify_results(values, "UNION", text_varies);
      if (!is_same_declared_type(wanted, overall)) {
        refuse_as(sqlstate::kDatatypeMismatch, table.name.where,
                  "recursive query \"{}\" column {} has type {} in non-recursive term but type {} overall",
                  name, i + 1, to_string(wanted), to_string(overall));
      }
    }
    recursion.step_casts.push_back(is_free_numeric(wanted) ? with_own_digits(std::move(value))
                                                           : convert(std::move(value), wanted));
  }
  return plan;
}

}  // namespace mneme::query
