#include "analyzer/slice_plan.h"

#include <algorithm>
#include <utility>

#include "analyzer/digraph.h"
#include "analyzer/expressions.h"
#include "base/check.h"

namespace mneme {

using ir::OperationMode;
using ir::Statement;
using ir::StatementKind;

SlicePlan::SlicePlan(const ProcedureAnalysis& analysis, const std::vector<OperationId>& operations,
                     KnownAtDispatch known)
    : analysis_(analysis),
      table_(analysis.table()),
      known_(std::move(known)),
      kept_(table_.size()),
      kept_to_locate_(table_.size()) {
  for (OperationId operation : operations) {
    if (analysis.is_live(operation)) replayed_.push_back(operation);
  }
  for (OperationId operation : replayed_) keep(analysis.statement_of(operation), kept_);
  find_unknown();
  find_independent_loop();
}

bool SlicePlan::is_own(StatementId id) const {
  const Statement& statement = table_.statement(id);
  return has_operation(statement) && std::ranges::binary_search(replayed_, statement.operation);
}

bool SlicePlan::is_foreign(StatementId id) const {
  return has_operation(table_.statement(id)) && !is_own(id);
}

bool SlicePlan::is_performed(StatementId id) const {
  return has_operation(table_.statement(id)) && known_.performed.contains(table_.statement(id).operation);
}

// Adds the statement and all that it needs.
void SlicePlan::keep(StatementId start, StatementSet& kept, bool to_locate) {
  std::vector<StatementId> pending = {start};
  while (!pending.empty()) {
    const StatementId at = pending.back();
    pending.pop_back();
    if (kept[at.value]) continue;
    kept[at.value] = true;
    for (const ControlDependence& control : analysis_.dependence().controls(at))
      pending.push_back(control.on);
    if (is_foreign(at) && !(to_locate && is_performed(at))) {
      recalled_.insert(table_.statement(at).operation);
      continue;
    }
    for (const ValueDependence& value : analysis_.dependence().values(at)) {
      if (!value.definition.valid()) continue;
      pending.push_back(value.definition);
      const Statement& definition = table_.statement(value.definition);
      if (has_operation(definition)) used_outputs_.emplace(definition.operation, value.variable);
    }
  }
}

void SlicePlan::find_unknown() {
  unknown_.assign(table_.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < table_.size(); ++i) {
      const StatementId id(i);
      if (unknown_[i]) continue;
      bool unknown = !is_performed(id) && (is_own(id) || (known_.from_arguments && is_foreign(id)));
      for (const ControlDependence& control : analysis_.dependence().controls(id)) {
        unknown |= unknown_[control.on.value];
      }
      if (!is_foreign(id) || is_performed(id)) {
        for (const ValueDependence& value : analysis_.dependence().values(id)) {
          unknown |= value.definition.valid() && unknown_[value.definition.value];
        }
      }
      changed |= unknown;
      unknown_[i] = unknown;
    }
  }
}

void SlicePlan::find_independent_loop() {
  if (replayed_.empty()) return;
  const StatementId loop = table_.place(analysis_.statement_of(replayed_.front())).outermost_loop;
  if (!loop.valid() || table_.statement(loop).kind == StatementKind::kWhile) return;
  // Dispatch does not know how many iterations there are.
  if (unknown_[loop.value]) return;
  for (OperationId operation : replayed_) {
    if (table_.place(analysis_.statement_of(operation)).outermost_loop != loop) return;
  }
  auto carried = [](const auto& dependence) { return dependence.loop_carried; };
  for (uint32_t i = 0; i < table_.size(); ++i) {
    const StatementId id(i);
    if (!kept_[i] || (id != loop && table_.place(id).outermost_loop != loop)) continue;
    if (std::ranges::any_of(analysis_.dependence().controls(id), carried)) return;
    if (!is_foreign(id) && std::ranges::any_of(analysis_.dependence().values(id), carried)) return;
  }
  independent_loop_ = loop;
}

bool SlicePlan::is_known(const ir::Expr& expr, StatementId at) const {
  std::set<VariableId> variables;
  add_variables(expr, variables);
  for (const ValueDependence& value : analysis_.dependence().values(at)) {
    if (variables.contains(value.variable) && value.definition.valid() && unknown_[value.definition.value])
      return false;
  }
  return true;
}

bool SlicePlan::runs_surely(StatementId at) const {
  return std::ranges::none_of(analysis_.dependence().controls(at), [this](const ControlDependence& control) {
    return unknown_[control.on.value];
  });
}

std::vector<AccessSite> SlicePlan::access_sites(const Catalog& catalog) const {
  std::vector<AccessSite> sites;
  for (OperationId id : replayed_) {
    const ir::Operation& operation = analysis_.procedure().operations[id.value];
    const StatementId at = analysis_.statement_of(id);
    for (uint32_t i = 0; i < operation.access.size(); ++i) {
      AccessSite& site = sites.emplace_back();
      site = {id, i, at, operation.access[i].table, &operation, fixed_columns(catalog, operation, i)};
      // A join's inner table is not looked at where the outer one has no rows, nor is any by LIMIT 0.
      const bool is_looked_at = i == 0 && !operation.limit && runs_surely(at);
      // Analysis for a database that opens first numbers its operations anew: the log's hints are not for
      // these.
      if (!known_.from_arguments) {
        if (std::optional<ToldKey> told = told_key(catalog, analysis_.procedure(), id); told && i == 0) {
          site.hint = told->hint;
          site.hint_columns = std::move(told->columns);
          site.told = std::move(told->values);
        }
      }
      std::erase_if(site.keys, [&](const auto& key) {
        // A key that the row of a join's outer table gives is not known, nor may one be evaluated that could
        // fail where the procedure would not have evaluated it.
        const ir::Expr& expr = key.second;
        return uses_columns(expr) || !is_known(expr, at) || !(is_looked_at || cannot_fail(expr));
      });
    }
  }
  return sites;
}

void SlicePlan::locate(std::vector<LocateSite> sites) {
  sites_ = std::move(sites);
  for (OperationId operation : replayed_) {
    const bool writes = analysis_.procedure().operations[operation.value].kind != ir::OperationKind::kSelect;
    if (writes && !is_located(operation)) independent_loop_ = StatementId();
  }
  for (const LocateSite& site : sites_) {
    keep_known_controls(site.at);
    std::set<VariableId> variables;
    for (const ir::Expr& expr : site.key) add_variables(expr, variables);
    for (const ValueDependence& value : analysis_.dependence().values(site.at)) {
      if (!value.definition.valid() || !variables.contains(value.variable)) continue;
      keep(value.definition, kept_to_locate_, true);
      const Statement& definition = table_.statement(value.definition);
      if (has_operation(definition)) used_outputs_.emplace(definition.operation, value.variable);
    }
  }
  find_parts();
}

bool SlicePlan::in_one_loop(OperationId a, OperationId b) const {
  const StatementId loop = table_.place(analysis_.statement_of(a)).outermost_loop;
  return loop.valid() && loop == table_.place(analysis_.statement_of(b)).outermost_loop;
}

// Two pieces of one lane would only cost more than one.
bool SlicePlan::have_common_key(OperationId a, OperationId b) const {
  return std::ranges::any_of(sites_, [&](const LocateSite& site) {
    return site.access.operation == a && std::ranges::any_of(sites_, [&](const LocateSite& other) {
             return other.access.operation == b && other.access.table == site.access.table &&
                    std::ranges::equal(other.key, site.key, same_expression);
           });
  });
}

// Joined are operations that flow joins, those of one loop, whose iterations would come in another order, and
// those that touch the same row. Parts that would not follow one another in program order are one.
void SlicePlan::find_parts() {
  const size_t count = replayed_.size();
  Partition parts(count);
  const auto place = [&](OperationId operation) {
    return static_cast<size_t>(std::ranges::lower_bound(replayed_, operation) - replayed_.begin());
  };
  const auto is_replayed = [&](OperationId operation) {
    return std::ranges::binary_search(replayed_, operation);
  };
  for (const FlowDependency& flow : analysis_.flow()) {
    if (is_replayed(flow.from) && is_replayed(flow.to)) parts.merge(place(flow.from), place(flow.to));
  }
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = i + 1; j < count; ++j) {
      if (in_one_loop(replayed_[i], replayed_[j]) || have_common_key(replayed_[i], replayed_[j]))
        parts.merge(i, j);
    }
  }
  for (size_t i = 0; i < count; ++i) {
    for (size_t between = parts.find(i) + 1; between < i; ++between) parts.merge(i, between);
  }
  part_of_.clear();
  for (size_t i = 0; i < count; ++i) part_of_.push_back(parts.find(i));
}

std::vector<std::vector<OperationId>> SlicePlan::parts() const {
  std::vector<std::vector<OperationId>> parts;
  for (size_t i = 0; i < replayed_.size(); ++i) {
    if (part_of_[i] == i) parts.emplace_back();
    parts.back().push_back(replayed_[i]);
  }
  if (parts.size() < 2 || iterations_independent()) parts.clear();
  return parts;
}

void SlicePlan::keep_recorded_together(const std::set<OperationId>& recorded) {
  for (OperationId operation : replayed_) {
    if (recorded.contains(operation) && !is_located(operation)) independent_loop_ = StatementId();
  }
}

bool SlicePlan::is_located(OperationId operation) const {
  return std::ranges::any_of(sites_,
                             [&](const LocateSite& site) { return site.access.operation == operation; });
}

void SlicePlan::keep_known_controls(StatementId at) {
  for (const ControlDependence& control : analysis_.dependence().controls(at)) {
    if (!unknown_[control.on.value]) {
      keep(control.on, kept_to_locate_, true);
    } else if (control.on == table_.place(at).parent) {
      keep_known_controls(control.on);  // dissolved; what encloses it need not be
    }
  }
}

ir::MarkedBody SlicePlan::body(const std::set<OperationId>& recorded) const {
  ir::MarkedBody body;
  add_kept(analysis_.body(), recorded, body, body.statements);
  return body;
}

ir::MarkedBody SlicePlan::part_body(const std::vector<OperationId>& part,
                                    const std::set<OperationId>& recorded) const {
  SlicePlan alone(analysis_, part);
  alone.sites_ = sites_;
  return alone.body(recorded);
}

void SlicePlan::add_kept(const std::vector<Statement>& list, const std::set<OperationId>& recorded,
                         ir::MarkedBody& body, std::vector<Statement>& out) const {
  for (const Statement& statement : list) {
    const StatementId id = table_.id_of(statement);
    if (!kept_[id.value]) continue;
    add_tell(statement, body, out);
    Statement copy = statement;
    copy.body.clear();
    copy.else_body.clear();
    add_kept(statement.body, recorded, body, copy.body);
    add_kept(statement.else_body, recorded, body, copy.else_body);
    if (id == independent_loop_ || has_operation(statement)) {
      const bool records = is_own(id) && recorded.contains(statement.operation);
      body.mark(copy, {.mode = is_foreign(id) ? OperationMode::kRecall
                               : records      ? OperationMode::kPerformAndRecord
                                              : OperationMode::kPerform,
                       .iterations_apart = id == independent_loop_});
    }
    out.push_back(std::move(copy));
  }
}

void SlicePlan::add_tell(const Statement& statement, ir::MarkedBody& body,
                         std::vector<Statement>& out) const {
  if (!has_operation(statement)) return;
  const auto site = std::ranges::find_if(sites_, [&](const LocateSite& each) {
    return each.access.operation == statement.operation && each.access.hint.valid();
  });
  if (site == sites_.end()) return;
  out.push_back(tell_statement(statement, site->access.hint, site->told, body));
}

ir::MarkedBody SlicePlan::locate_body() const {
  ir::MarkedBody body;
  add_locates(analysis_.body(), body, body.statements);
  return body;
}

void SlicePlan::add_locates(const std::vector<Statement>& list, ir::MarkedBody& body,
                            std::vector<Statement>& out) const {
  for (const Statement& statement : list) {
    const StatementId id = table_.id_of(statement);
    if (kept_to_locate_[id.value]) {
      CHECK(!unknown_[id.value]);
      Statement copy = statement;
      copy.body.clear();
      copy.else_body.clear();
      add_locates(statement.body, body, copy.body);
      add_locates(statement.else_body, body, copy.else_body);
      if (id == independent_loop_ || has_operation(statement)) {
        const bool recalls = has_operation(statement) && !is_performed(id);
        body.mark(copy, {.mode = recalls ? OperationMode::kRecall : OperationMode::kPerform,
                         .iterations_apart = id == independent_loop_});
      }
      out.push_back(std::move(copy));
    } else {
      add_locates_at(id, body, out);
      add_locates(statement.body, body, out);
      add_locates(statement.else_body, body, out);
    }
  }
}

void SlicePlan::add_locates_at(StatementId at, ir::MarkedBody& body, std::vector<Statement>& out) const {
  for (const LocateSite& site : sites_) {
    if (site.at != at) continue;
    // A read and then a write of one row, as most procedures have it, need not be reported twice.
    if (!out.empty() && repeats(out.back(), ir::StatementMarks(body.marks).of(out.back()), site)) continue;
    Statement locate;
    locate.kind = StatementKind::kOperation;
    locate.where = table_.statement(at).where;
    locate.operation = site.access.operation;
    body.mark(locate, {.mode = OperationMode::kLocate, .access = site.access.access, .lane_key = site.key});
    out.push_back(std::move(locate));
  }
}

bool SlicePlan::repeats(const Statement& statement, const ir::StatementMark& mark,
                        const LocateSite& site) const {
  if (mark.mode != OperationMode::kLocate) return false;
  const auto former = std::ranges::find_if(sites_, [&](const LocateSite& other) {
    return other.access.operation == statement.operation && other.access.access == mark.access;
  });
  const auto part_of = [&](OperationId operation) {
    return part_of_[static_cast<size_t>(std::ranges::lower_bound(replayed_, operation) - replayed_.begin())];
  };
  return part_of(statement.operation) == part_of(site.access.operation) &&
         former->access.table == site.access.table && former->access.columns == site.access.columns &&
         former->access.is_wide == site.access.is_wide &&
         former->access.is_wide_hinted == site.access.is_wide_hinted &&
         former->access.hint == site.access.hint &&
         std::ranges::equal(mark.lane_key, site.key, same_expression);
}

std::vector<LocatedAccess> SlicePlan::located() const {
  std::vector<LocatedAccess> accesses;
  for (const LocateSite& site : sites_) accesses.push_back(site.access);
  return accesses;
}

}  // namespace mneme
