#include "analyzer/program_dependence.h"

#include <algorithm>
#include <tuple>

#include "analyzer/flow_graph.h"

namespace mneme {
namespace {

// Which definitions of variables reach each step of a flow graph, by iteration to a fixpoint. A definition counts
// twice: fresh, and carried, which a fresh one becomes when its outermost loop begins another iteration.
class ReachingDefinitions {
 public:
  ReachingDefinitions(const FlowGraph& graph, const StatementTable& table) : graph_(graph), table_(table) {
    for (const FlowStep& step : graph.steps()) {
      first_of_step_.push_back(definitions_.size());
      definitions_.insert(definitions_.end(), step.defines.begin(), step.defines.end());
    }
    reaching_.assign(graph.steps().size(), Set(2 * definitions_.size()));
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t step = 0; step < graph.steps().size(); ++step) {
        const Set out = after(step);
        for (size_t next : graph.steps()[step].successors) changed |= flow(step, out, next);
      }
    }
  }

  // visit(definition, carried) for each definition of the variable that reaches the step.
  template <typename Visit>
  void for_each(size_t step, VariableId variable, Visit visit) const {
    for (size_t i = 0; i < definitions_.size(); ++i) {
      if (definitions_[i].variable != variable) continue;
      if (reaching_[step][i]) visit(definitions_[i], false);
      if (reaching_[step][carried(i)]) visit(definitions_[i], true);
    }
  }

 private:
  using Set = std::vector<bool>;

  size_t carried(size_t definition) const { return definitions_.size() + definition; }

  Set after(size_t step) const {
    Set set = reaching_[step];
    const std::vector<FlowStep::Definition>& defines = graph_.steps()[step].defines;
    for (const FlowStep::Definition& definition : defines) {
      if (!definition.always) continue;
      for (size_t i = 0; i < definitions_.size(); ++i) {
        if (definitions_[i].variable == definition.variable) set[i] = set[carried(i)] = false;
      }
    }
    for (size_t i = 0; i < defines.size(); ++i) set[first_of_step_[step] + i] = true;
    return set;
  }

  bool flow(size_t from, const Set& out, size_t to) {
    const FlowStep& target = graph_.steps()[to];
    const bool next_iteration = target.outermost_head && from != target.enter;
    bool changed = false;
    for (size_t i = 0; i < definitions_.size(); ++i) {
      const bool ages = next_iteration && in_loop(definitions_[i].owner, target.owner);
      changed |= add(to, ages ? carried(i) : i, out[i]);
      changed |= add(to, carried(i), out[carried(i)]);
    }
    return changed;
  }

  bool add(size_t step, size_t index, bool present) {
    if (!present || reaching_[step][index]) return false;
    reaching_[step][index] = true;
    return true;
  }

  bool in_loop(StatementId id, StatementId loop) const {
    return id.valid() && (id == loop || table_.place(id).outermost_loop == loop);
  }

  const FlowGraph& graph_;
  const StatementTable& table_;
  std::vector<FlowStep::Definition> definitions_;
  std::vector<size_t> first_of_step_;
  std::vector<Set> reaching_;
};

}  // namespace

ProgramDependence::ProgramDependence(const ir::Procedure& procedure, const std::vector<ir::Statement>& body,
                                     const StatementTable& table)
    : table_(table), values_(table.size()), controls_(table.size()) {
  find_values(procedure, body);
  for (uint32_t i = 0; i < table.size(); ++i) {
    const StatementId id(i);
    const StatementPlace& place = table.place(id);
    if (place.parent.valid()) controls_[i].push_back({place.parent, false});
    switch (place.statement->kind) {
      case ir::StatementKind::kExit:
      case ir::StatementKind::kContinue:
      case ir::StatementKind::kReturn:
        add_jump(id);
        break;
      default:
        break;
    }
  }
}

StatementId ProgramDependence::outermost_loop(StatementId id) const {
  const StatementPlace& place = table_.place(id);
  return !place.outermost_loop.valid() && is_loop(*place.statement) ? id : place.outermost_loop;
}

void ProgramDependence::find_values(const ir::Procedure& procedure, const std::vector<ir::Statement>& body) {
  const FlowGraph graph(procedure, body, table_);
  const ReachingDefinitions reaching(graph, table_);
  for (size_t step = 0; step < graph.steps().size(); ++step) {
    const StatementId user = graph.steps()[step].owner;
    if (!user.valid()) continue;
    const StatementId loop = outermost_loop(user);
    for (VariableId variable : graph.steps()[step].uses) {
      reaching.for_each(step, variable, [&](const FlowStep::Definition& definition, bool carried) {
        // Past the end of its loop, or in another one, a carried value is a value like any other.
        const bool same_loop =
            definition.owner.valid() && loop.valid() && outermost_loop(definition.owner) == loop;
        values_[user.value].push_back({variable, definition.owner, carried && same_loop});
      });
    }
  }
  for (std::vector<ValueDependence>& values : values_) {
    auto key = [](const ValueDependence& d) { return std::tuple(d.variable, d.definition, d.loop_carried); };
    std::ranges::sort(values, {}, key);
    const auto repeated = std::ranges::unique(values, {}, key);
    values.erase(repeated.begin(), repeated.end());
  }
}

// What the jump may skip: the statements after it, up to the end of the loop that it leaves or continues (RETURN: of
// the procedure), and further iterations of the loops that it leaves.
void ProgramDependence::add_jump(StatementId jump) {
  const ir::Statement& statement = table_.statement(jump);
  uint32_t loops_left = 0;
  for (StatementId at = jump; at.valid(); at = table_.place(at).parent) {
    const StatementPlace& place = table_.place(at);
    if (is_loop(*place.statement)) {
      const bool target =
          statement.kind != ir::StatementKind::kReturn && loops_left++ == statement.loop_depth;
      if (target && statement.kind == ir::StatementKind::kContinue) return;
      controls_[at.value].push_back({jump, !place.outermost_loop.valid()});
      if (target) return;
    }
    const ir::Statement* end = place.list->data() + place.list->size();
    for (const ir::Statement* later = place.statement + 1; later != end; ++later) {
      controls_[table_.id_of(*later).value].push_back({jump, false});
    }
  }
}

}  // namespace mneme
