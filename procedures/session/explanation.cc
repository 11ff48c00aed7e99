#include "procedures/session/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "engine/schema/qualified_name.h"

namespace mneme {

namespace {

using query::FromPlan;
using query::FromStep;
using query::NodeRows;
using query::QueryPlan;
using query::SelectPlan;

// A node with its properties, and the nodes that its rows come from.
struct PlanNode {
  std::string text;
  std::vector<std::string> properties = {};
  std::vector<PlanNode> inputs = {};
};

PlanNode over(std::string text, PlanNode input) {
  PlanNode node{std::move(text)};
  node.inputs.push_back(std::move(input));
  return node;
}

void write(const PlanNode& node, size_t indent, std::vector<std::string>& lines) {
  const bool is_first = lines.empty();
  lines.push_back(std::string(indent, ' ') + (is_first ? "" : "->  ") + node.text);
  const size_t inner = indent + (is_first ? 2 : 6);
  for (const std::string& property : node.properties) lines.push_back(std::string(inner, ' ') + property);
  for (const PlanNode& input : node.inputs) write(input, inner, lines);
}

class Explanation {
 public:
  Explanation(const Catalog& catalog, const query::RowCounts* counts) : catalog_(catalog), counts_(counts) {}

  PlanNode access(const ir::TableAccess& access, std::string_view alias, bool is_backward = false) const {
    const std::string& table = catalog_.table(access.table).name;
    std::string name = table;
    if (!alias.empty() && alias != table) name += fmt::format(" {}", alias);
    const ir::AccessPath& path = access.path;
    const bool is_bounded = path.lower || path.upper;
    if (!path.index.valid() ||
        (path.kind == ir::AccessPath::Kind::kRange && path.equalities.empty() && !is_bounded && !is_backward))
      return with_filter({"Scan on " + name}, access.filter.has_value());
    const IndexDefinition& index = catalog_.index(path.index);
    PlanNode node{fmt::format("{}{} on {} using {}",
                              path.kind == ir::AccessPath::Kind::kPoint ? "Point Lookup" : "Range Scan",
                              is_backward ? " Backward" : "", name, index.name)};
    const auto column = [&](size_t number) {
      return catalog_.table(access.table).column(index.columns[number]).name;
    };
    std::string key;
    for (size_t i = 0; i < path.equalities.size(); ++i) key += (i == 0 ? "" : ", ") + column(i);
    if (!key.empty()) node.properties.push_back("Key: " + key);
    if (is_bounded) {
      node.properties.push_back(fmt::format("Bounds: {} {}", column(path.equalities.size()),
                                            path.lower && path.upper ? "from and to"
                                            : path.lower             ? "from"
                                                                     : "to"));
    }
    return with_filter(std::move(node), access.filter.has_value());
  }

  PlanNode operation(const ir::Operation& operation) const {
    if (operation.kind == ir::OperationKind::kInsert)
      return {"Insert on " + catalog_.table(operation.access[0].table).name};
    PlanNode node = rows_of(operation);
    if (operation.kind == ir::OperationKind::kUpdate || operation.kind == ir::OperationKind::kDelete) {
      const bool is_update = operation.kind == ir::OperationKind::kUpdate;
      return over((is_update ? "Update on " : "Delete on ") + catalog_.table(operation.access[0].table).name,
                  std::move(node));
    }
    if (operation.for_update) node = over("Lock Rows", std::move(node));
    if (!operation.aggregates.empty()) node = over("Aggregate", std::move(node));
    if (!operation.order.empty() && !operation.order_is_path_order) node = over("Sort", std::move(node));
    return with_limit(std::move(node), operation.limit || operation.offset);
  }

  PlanNode plan(const QueryPlan& plan) const {
    PlanNode node = plan.select      ? select(*plan.select, plan)
                    : plan.set       ? set(*plan.set)
                    : plan.recursion ? recursion(*plan.recursion)
                                     : PlanNode{"Values Scan"};
    if (!plan.select) node = counted(std::move(node), &plan, plan.sort.empty() ? &NodeRows::given : nullptr);
    if (!plan.sort.empty()) {
      node = counted(over("Sort", std::move(node)), &plan, &NodeRows::sorted);
      std::string keys;
      for (const query::SortKey& key : plan.sort)
        keys +=
            fmt::format("{}{}{}", keys.empty() ? "" : ", ", key.column + 1, key.descending ? " DESC" : "");
      node.properties.push_back("Sort Key: " + keys);
    }
    if (plan.select && !plan.select->distinct_on.empty()) node = over("Unique", std::move(node));
    if (!plan.locks.empty()) node = over("Lock Rows", std::move(node));
    return plan.limit || plan.offset ? counted(over("Limit", std::move(node)), &plan, &NodeRows::given)
                                     : node;
  }

  PlanNode queries(const query::BoundQueries& bound) const {
    PlanNode node = plan(*bound.plan);
    for (const query::Subquery& subquery : bound.subqueries) {
      if (subquery.plan) node.inputs.push_back(over("SubPlan", plan(*subquery.plan)));
    }
    return node;
  }

 private:
  static PlanNode with_filter(PlanNode node, bool has_filter) {
    if (has_filter) node.properties.emplace_back("Filtered");
    return node;
  }
  static PlanNode with_limit(PlanNode node, bool has_limit) {
    return has_limit ? over("Limit", std::move(node)) : std::move(node);
  }
  // `which`: nullptr: nothing counts the node's rows.
  PlanNode counted(PlanNode node, const void* place, uint64_t NodeRows::*which) const {
    if (counts_ == nullptr || which == nullptr) return node;
    const auto found = counts_->find(place);
    node.text += fmt::format(" (actual rows={})", found == counts_->end() ? 0 : found->second.*which);
    return node;
  }

  PlanNode rows_of(const ir::Operation& operation) const {
    if (operation.access.empty()) return {"Result"};
    PlanNode node = access(operation.access[0], "", operation.path_backward);
    for (size_t i = 1; i < operation.access.size(); ++i) {
      node = over("Nested Loop", std::move(node));
      node.inputs.push_back(access(operation.access[i], ""));
    }
    return node;
  }

  PlanNode source(const FromStep& step) const {
    switch (step.source) {
      case FromStep::Source::kTable:
        return access(step.lookup.access[1], step.name);
      case FromStep::Source::kQuery:
        return over("Subquery Scan on " + step.name, step.query ? plan(*step.query) : from(*step.group));
      case FromStep::Source::kSets:
        return {step.name.empty() ? "Function Scan" : "Function Scan on " + step.name};
      case FromStep::Source::kProvided:
        return {"Catalog Scan on " + step.name};
      case FromStep::Source::kWorking:
        return {"WorkTable Scan on " + step.name};
    }
    CHECK(false && "a source");
    return {};
  }

  PlanNode from(const FromPlan& plan) const {
    if (plan.steps.empty()) return {"Result"};
    PlanNode node = counted(source(plan.steps[0]), plan.steps.data(), &NodeRows::given);
    if (plan.steps[0].filter) node = with_filter(std::move(node), true);
    for (size_t i = 1; i < plan.steps.size(); ++i) {
      const FromStep& step = plan.steps[i];
      const std::string_view kind = step.kind == FromStep::Kind::kLeft   ? " Left"
                                    : step.kind == FromStep::Kind::kFull ? " Full"
                                                                         : "";
      node = over(step.inner_keys.empty() ? fmt::format("Nested Loop{}{}", kind, kind.empty() ? "" : " Join")
                                          : fmt::format("Hash{} Join", kind),
                  std::move(node));
      node = counted(with_filter(std::move(node), step.match || step.filter), &step, &NodeRows::given);
      node.inputs.push_back(counted(source(step), &step, &NodeRows::source));
    }
    return node;
  }

  PlanNode select(const SelectPlan& plan, const QueryPlan& query) const {
    PlanNode node = from(plan.from);
    if (plan.grouped) {
      node = over(plan.keys.empty() ? "Aggregate" : "HashAggregate", std::move(node));
      node = counted(with_filter(std::move(node), plan.having.has_value()), &plan, &NodeRows::source);
    }
    if (!plan.grouped && plan.from.steps.empty()) node = counted(std::move(node), &plan, &NodeRows::given);
    if (!plan.window_functions.empty())
      node = counted(over("WindowAgg", std::move(node)), &plan, &NodeRows::given);
    if (!plan.sets.steps.empty())
      node = counted(over("ProjectSet", std::move(node)), &plan.sets, &NodeRows::given);
    return plan.distinct ? counted(over("Unique", std::move(node)), &query, &NodeRows::source)
                         : std::move(node);
  }

  PlanNode set(const query::SetPlan& set) const {
    using Kind = query::SetPlan::Kind;
    PlanNode node = over(fmt::format("{}{}",
                                     set.kind == Kind::kUnion    ? "Union"
                                     : set.kind == Kind::kExcept ? "Except"
                                                                 : "Intersect",
                                     set.all ? " All" : ""),
                         plan(*set.left));
    node.inputs.push_back(plan(*set.right));
    return node;
  }

  PlanNode recursion(const query::RecursionPlan& recursion) const {
    PlanNode node = over("Recursive Union", plan(*recursion.first));
    node.inputs.push_back(plan(*recursion.step));
    return node;
  }

  const Catalog& catalog_;
  const query::RowCounts* const counts_;
};

}  // namespace

std::vector<std::string> explain(const Program& program, const BoundStatement& statement,
                                 const ReplayNotes& notes, const ExplainCounts* counts) {
  const Explanation explanation(program.catalog, counts == nullptr ? nullptr : &counts->nodes);
  std::vector<std::string> lines;
  const auto add = [&](const PlanNode& node) {
    std::vector<std::string> more;
    write(node, 0, more);
    // Rows of one INSERT are inserted alike.
    if (!std::ranges::equal(more, std::span(lines).last(std::min(more.size(), lines.size()))))
      lines.insert(lines.end(), more.begin(), more.end());
  };
  const auto note_first = [](PlanNode& node, std::vector<std::string> properties) {
    properties.insert(properties.end(), node.properties.begin(), node.properties.end());
    node.properties = std::move(properties);
  };
  if (statement.call() != nullptr) {
    const ir::Procedure& procedure = program.procedure(statement.call()->callee);
    PlanNode call{"Call of " + procedure.name, notes.of_call(procedure)};
    for (const ir::Operation& each : procedure.operations) {
      std::vector<std::string> properties = {"Statement: " + each.text};
      for (std::string& note : notes.of_operation(procedure, each)) properties.push_back(std::move(note));
      note_first(call.inputs.emplace_back(explanation.operation(each)), std::move(properties));
    }
    add(call);
  } else if (statement.with() != nullptr) {
    const auto changed = [&](const BoundChange& change) {
      const ir::Operation& each = change.each.procedure.operations.back();
      PlanNode node = explanation.operation(each);
      node.properties = notes.of_statement(each);
      node.inputs.clear();
      node.inputs.push_back(explanation.queries(change.rows->queries));
      return node;
    };
    PlanNode node = statement.select() != nullptr ? explanation.queries(statement.select()->queries)
                                                  : changed(*statement.change());
    for (const BoundWith::Part& part : statement.with()->parts)
      node.inputs.push_back(over("CTE " + part.name, changed(*part.change)));
    add(node);
  } else if (statement.select() != nullptr) {
    add(explanation.queries(statement.select()->queries));
  } else if (statement.change() != nullptr) {
    const BoundChange& change = *statement.change();
    const ir::Operation& each = change.each.procedure.operations.back();
    PlanNode node = explanation.operation(each);
    node.properties = notes.of_statement(each);
    node.inputs.clear();
    node.inputs.push_back(explanation.queries(change.rows->queries));
    add(node);
  } else {
    CHECK(statement.query() != nullptr);
    for (const ir::Operation& each : statement.query()->procedure.operations) {
      PlanNode node = explanation.operation(each);
      if (each.kind != ir::OperationKind::kSelect) note_first(node, notes.of_statement(each));
      if (counts != nullptr) node.text += fmt::format(" (actual rows={})", counts->rows);
      add(node);
    }
  }
  for (std::string& line : lines) line = shown_names(line);
  return lines;
}

}  // namespace mneme
