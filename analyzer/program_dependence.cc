#include "analyzer/program_dependence.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "analyzer/flow_graph.h"

namespace mneme {
namespace {

// Which definitions of variables reach each step of a flow graph, by iteration to a fixpoint. A definition
// counts twice: fresh, and carried, which a fresh one becomes when its outermost loop begins another
// iteration. Definitions are numbered variable by variable, so that those of one variable lie side by side in
// a set.
class ReachingDefinitions {
 public:
  ReachingDefinitions(const FlowGraph& graph, const StatementTable& table) : graph_(graph), table_(table) {
    for (const FlowStep& step : graph.steps()) {
      for (const FlowStep::Definition& definition : step.defines) {
        const size_t variable = definition.variable.value;
        if (of_variable_.size() <= variable) of_variable_.resize(variable + 1);
        ++of_variable_[variable].end;  // for now, how many there are
      }
    }
    size_t count = 0;
    for (Range& range : of_variable_) {
      range.begin = count;
      count += std::exchange(range.end, count);
    }
    definitions_.resize(count);
    for (const FlowStep& step : graph.steps()) {
      first_of_step_.push_back(numbers_.size());
      for (const FlowStep::Definition& definition : step.defines) {
        numbers_.push_back(of_variable_[definition.variable.value].end++);
        definitions_[numbers_.back()] = definition;
      }
    }
    reaching_.assign(graph.steps().size(), Set(2 * definitions_.size()));
    // There and back in turns: steps that follow each other may be numbered either way, and a pass against
    // their order takes what reaches them one step further.
    bool forward = true;
    for (bool changed = true; changed; forward = !forward) {
      changed = false;
      ++passes_;
      for (size_t i = 0; i < graph.steps().size(); ++i) {
        const size_t step = forward ? i : graph.steps().size() - 1 - i;
        const Set out = after(step);
        for (size_t next : graph.steps()[step].successors) changed |= flow(step, out, next);
      }
    }
  }

  size_t passes() const { return passes_; }

  // visit(definition, carried) for each definition of the variable that reaches the step.
  template <typename Visit>
  void for_each(size_t step, VariableId variable, Visit visit) const {
    if (variable.value >= of_variable_.size()) return;
    const Range range = of_variable_[variable.value];
    reaching_[step].for_each(range.begin, range.end, [&](size_t i) { visit(definitions_[i], false); });
    reaching_[step].for_each(carried(range.begin), carried(range.end),
                             [&](size_t i) { visit(definitions_[i - definitions_.size()], true); });
  }

 private:
  struct Range {
    size_t begin = 0;
    size_t end = 0;
  };

  // A set of definitions, kept in words: procedures of hundreds of statements are taken apart while a user
  // waits for a recovery.
  class Set {
   public:
    explicit Set(size_t size) : words_((size + 63) / 64) {}

    bool has(size_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
    void put(size_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
    void remove(size_t i) { words_[i / 64] &= ~(uint64_t{1} << (i % 64)); }
    void remove(size_t begin, size_t end) {
      for_each_word(begin, end, [&](size_t w, uint64_t mask) { words_[w] &= ~mask; });
    }
    // visit(i) for those of [begin, end) that it has.
    template <typename Visit>
    void for_each(size_t begin, size_t end, Visit visit) const {
      for_each_word(begin, end, [&](size_t w, uint64_t mask) {
        for (uint64_t left = words_[w] & mask; left != 0; left &= left - 1)
          visit(w * 64 + static_cast<size_t>(std::countr_zero(left)));
      });
    }
    // Returns whether that adds any.
    bool put_all(const Set& other) {
      uint64_t added = 0;
      for (size_t w = 0; w < words_.size(); ++w) {
        added |= other.words_[w] & ~words_[w];
        words_[w] |= other.words_[w];
      }
      return added != 0;
    }

   private:
    // visit(word, which of its bits) for the words of [begin, end).
    template <typename Visit>
    static void for_each_word(size_t begin, size_t end, Visit visit) {
      while (begin < end) {
        const size_t first = begin % 64;
        const size_t bits = std::min(64 - first, end - begin);
        visit(begin / 64, (~uint64_t{0} >> (64 - bits)) << first);
        begin += bits;
      }
    }

    std::vector<uint64_t> words_;
  };

  size_t carried(size_t definition) const { return definitions_.size() + definition; }

  Set after(size_t step) const {
    Set set = reaching_[step];
    const std::vector<FlowStep::Definition>& defines = graph_.steps()[step].defines;
    for (const FlowStep::Definition& definition : defines) {
      if (!definition.always) continue;
      const Range range = of_variable_[definition.variable.value];
      set.remove(range.begin, range.end);
      set.remove(carried(range.begin), carried(range.end));
    }
    for (size_t i = 0; i < defines.size(); ++i) set.put(numbers_[first_of_step_[step] + i]);
    return set;
  }

  bool flow(size_t from, const Set& out, size_t to) {
    const FlowStep& target = graph_.steps()[to];
    const bool next_iteration = target.outermost_head && from != target.enter;
    if (!next_iteration) return reaching_[to].put_all(out);
    Set aged = out;
    for (size_t i = 0; i < definitions_.size(); ++i) {
      if (!out.has(i) || !in_loop(definitions_[i].owner, target.owner)) continue;
      aged.remove(i);
      aged.put(carried(i));
    }
    return reaching_[to].put_all(aged);
  }

  bool in_loop(StatementId id, StatementId loop) const {
    return id.valid() && (id == loop || table_.place(id).outermost_loop == loop);
  }

  const FlowGraph& graph_;
  const StatementTable& table_;
  std::vector<FlowStep::Definition> definitions_;
  std::vector<size_t> numbers_;        // of definitions, step by step
  std::vector<size_t> first_of_step_;  // in numbers_
  std::vector<Range> of_variable_;
  std::vector<Set> reaching_;
  size_t passes_ = 0;
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
  passes_ = reaching.passes();
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

// The jump may skip the statements after it, up to the end of the loop that it leaves or continues (RETURN:
// of the procedure), and further iterations of the loops that it leaves.
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
