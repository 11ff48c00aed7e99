#include "analyzer/dependency_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "analyzer/conflict_rule.h"
#include "analyzer/replayed_procedure.h"
#include "analyzer/rewriting/constant_reads.h"
#include "analyzer/slice_plan.h"
#include "analyzer/slicing.h"
#include "analyzer/table_use.h"
#include "base/check.h"
#include "base/deep_stack.h"

namespace mneme {
namespace {

class Analyzer {
 public:
  Analyzer(const Program& program, const AnalysisOptions& options) : program_(program), options_(options) {}

  DependencyGraph run() {
    for (const ir::Procedure& procedure : program_.procedures) {
      analyses_.push_back(std::make_unique<ProcedureAnalysis>(procedure));
      LocalGraph& local = graph_.procedures.emplace_back();
      local.procedure = procedure.id;
      local.flow = analyses_.back()->flow();
      local.replay = replayed_procedure(program_.catalog, procedure, used_outputs(*analyses_.back()));
    }
    const ConflictRule conflicts = make_rule();
    for (LocalGraph& local : graph_.procedures) {
      local.data = data_dependencies(program_.procedure(local.procedure), conflicts);
    }
    form_slices(conflicts);
    for (LocalGraph& local : graph_.procedures) {
      order_slices(local);
      add_slice_edges(local);
    }
    fill_blocks();
    add_block_edges();
    share_columns(conflicts);
    graph_.insert_only = conflicts.insert_only_tables();
    plan_slices(conflicts);
    graph_.verify();
    return std::move(graph_);
  }

 private:
  const ProcedureAnalysis& analysis(ProcedureId id) const { return *analyses_[id.value]; }

  ConflictRule make_rule() const {
    std::vector<ConflictSubject> subjects;
    for (const LocalGraph& local : graph_.procedures) {
      ConflictSubject& subject = subjects.emplace_back();
      subject.replayed = &local.replay;
      subject.is_logged = program_.procedure(local.procedure).is_logged_by_call();
      for (const ir::Operation& operation : local.replay.operations) {
        subject.is_live.push_back(analysis(local.procedure).is_live(operation.id));
      }
    }
    return ConflictRule(program_.catalog, options_, subjects);
  }

  // Each procedure whole, as one slice.
  void form_one_block() {
    for (const LocalGraph& local : graph_.procedures) {
      const ir::Procedure& procedure = program_.procedure(local.procedure);
      GlobalSlice whole{local.procedure, {}, {}};
      for (const ir::Operation& operation : procedure.operations) whole.operations.push_back(operation.id);
      if (whole.operations.empty()) continue;
      Slice& slice = add_slice(whole);
      if (!procedure.is_logged_by_call()) continue;
      slice.block = BlockId(0);
      graph_.blocks.resize(1);
    }
    for (Block& block : graph_.blocks) {
      block.id = BlockId(0);
      block.name = block_name(block.id);
    }
  }

  void form_slices(const ConflictRule& conflicts) {
    if (options_.decompose == Decomposition::kWhole) return form_one_block();
    const ProcedureAnalyses* chopped = options_.decompose == Decomposition::kChopping ? &analyses_ : nullptr;
    std::vector<GlobalSlice> logged;
    for (LocalGraph& local : graph_.procedures) {
      const ir::Procedure& procedure = program_.procedure(local.procedure);
      const ReasonedPartition slices =
          local_slices(analysis(local.procedure), local.data, chopped, conflicts);
      for (const std::vector<size_t>& members : slices.partition.classes()) {
        GlobalSlice slice{local.procedure, {}, slices.reasons_of(members.front())};
        for (size_t operation : members) slice.operations.emplace_back(static_cast<uint32_t>(operation));
        if (procedure.is_logged_by_call()) {
          logged.push_back(std::move(slice));
        } else {
          add_slice(slice);
        }
      }
    }
    const Catalog* coalesced = options_.coalesce ? &program_.catalog : nullptr;
    for (GlobalBlock& formed : global_blocks(analyses_, logged, conflicts, coalesced)) {
      Block& block = graph_.blocks.emplace_back();
      block.id = BlockId(static_cast<uint32_t>(graph_.blocks.size() - 1));
      block.name = block_name(block.id);
      block.merges = std::move(formed.merges);
      for (GlobalSlice& member : formed.slices) add_slice(member).block = block.id;
    }
  }

  Slice& add_slice(GlobalSlice& from) {
    Slice& slice = graph_.procedures[from.procedure.value].slices.emplace_back();
    slice.operations = std::move(from.operations);
    slice.merges = std::move(from.merges);
    return slice;
  }

  static std::string block_name(BlockId id) {
    static constexpr std::string_view kLetters[] = {"α", "β", "γ", "δ", "ε", "ζ", "η", "θ",
                                                    "ι", "κ", "λ", "μ", "ν", "ξ", "ο", "π",
                                                    "ρ", "σ", "τ", "υ", "φ", "χ", "ψ", "ω"};
    const size_t round = id.value / std::size(kLetters);
    const std::string_view letter = kLetters[id.value % std::size(kLetters)];
    return round == 0 ? std::string(letter) : fmt::format("{}{}", letter, round + 1);
  }

  // Predecessors first; of several, in program order.
  void order_slices(LocalGraph& local) {
    std::ranges::sort(local.slices, {}, [](const Slice& slice) { return slice.operations.front(); });
    const std::vector<size_t> slice_of = slice_of_operation(local);
    Digraph graph(local.slices.size());
    for (const FlowDependency& flow : local.flow) {
      graph.add_edge(slice_of[flow.from.value], slice_of[flow.to.value]);
    }
    std::vector<Slice> ordered;
    for (size_t index : graph.topological_order()) {
      Slice& slice = ordered.emplace_back(std::move(local.slices[index]));
      slice.id = SliceId(static_cast<uint32_t>(ordered.size() - 1));
      slice.label = fmt::format("{}{}", label_prefix(local.procedure), ordered.size());
    }
    local.slices = std::move(ordered);
  }

  static std::vector<size_t> slice_of_operation(const LocalGraph& local) {
    std::map<OperationId, size_t> slice_of;
    for (size_t i = 0; i < local.slices.size(); ++i) {
      for (OperationId operation : local.slices[i].operations) slice_of[operation] = i;
    }
    std::vector<size_t> by_operation;
    for (const auto& [operation, slice] : slice_of) by_operation.push_back(slice);
    return by_operation;
  }

  // Returns as much of the procedure's name as distinguishes it from the others, with a capital letter.
  std::string label_prefix(ProcedureId id) const {
    const std::string& name = program_.procedure(id).name;
    size_t length = 1;
    for (const ir::Procedure& other : program_.procedures) {
      if (other.id == id) continue;
      while (length < name.size() && other.name.starts_with(name.substr(0, length))) ++length;
    }
    std::string prefix = name.substr(0, length);
    if (prefix[0] >= 'a' && prefix[0] <= 'z') prefix[0] = static_cast<char>(prefix[0] - 'a' + 'A');
    return prefix;
  }

  static void add_slice_edges(LocalGraph& local) {
    const std::vector<size_t> slice_of = slice_of_operation(local);
    std::map<std::pair<size_t, size_t>, std::vector<std::string>> reasons;
    for (const FlowDependency& flow : local.flow) {
      const size_t from = slice_of[flow.from.value];
      const size_t to = slice_of[flow.to.value];
      if (from == to) continue;
      std::vector<std::string>& list = reasons[{from, to}];
      if (!std::ranges::count(list, flow.reason)) list.push_back(flow.reason);
    }
    for (auto& [ends, list] : reasons) {
      local.edges.push_back({local.slices[ends.first].id, local.slices[ends.second].id, std::move(list)});
    }
  }

  void fill_blocks() {
    for (const LocalGraph& local : graph_.procedures) {
      for (const Slice& slice : local.slices) {
        if (!slice.block.valid()) continue;
        Block& block = graph_.blocks[slice.block.value];
        block.members.push_back({local.procedure, slice.id});
        for (OperationId id : slice.operations) {
          for (const ir::TableAccess& access :
               program_.procedure(local.procedure).operations[id.value].access) {
            block.tables.push_back(access.table);
          }
        }
      }
    }
    for (Block& block : graph_.blocks) {
      std::ranges::sort(block.tables);
      const auto repeated = std::ranges::unique(block.tables);
      block.tables.erase(repeated.begin(), repeated.end());
    }
  }

  void add_block_edges() {
    std::map<std::pair<BlockId, BlockId>, std::vector<std::string>> reasons;
    for (const LocalGraph& local : graph_.procedures) {
      if (!program_.procedure(local.procedure).is_logged_by_call()) continue;
      for (const SliceEdge& edge : local.edges) {
        const Slice& from = local.slices[edge.from.value];
        const Slice& to = local.slices[edge.to.value];
        std::vector<std::string>& list = reasons[{from.block, to.block}];
        for (const std::string& reason : edge.reasons) {
          list.push_back(fmt::format("{} -> {}: {}", from.label, to.label, reason));
        }
      }
    }
    for (auto& [ends, list] : reasons) {
      graph_.blocks[ends.first.value].successors.push_back(ends.second);
      graph_.blocks[ends.second.value].predecessors.push_back(ends.first);
      graph_.edges.push_back({ends.first, ends.second, std::move(list)});
    }
  }

  // Finds the columns to which several blocks add, and has them added to atomically.
  void share_columns(const ConflictRule& conflicts) {
    std::map<std::pair<TableId, ColumnId>, std::set<BlockId>> blocks;
    for_each_addition(conflicts, [&](const Slice& slice, TableId table, ir::Assignment& assignment) {
      blocks[{table, assignment.column}].insert(slice.block);
    });
    std::erase_if(blocks, [](const auto& entry) { return entry.second.size() < 2; });
    for_each_addition(conflicts, [&](const Slice&, TableId table, ir::Assignment& assignment) {
      if (!blocks.contains({table, assignment.column})) return;
      const Increment increment = *increment_of(program_.catalog.table(table), assignment);
      assignment.how = increment.is_subtracted ? ir::Assignment::How::kSubtract : ir::Assignment::How::kAdd;
      assignment.value = ir::Expr(*increment.by);
    });
    for (const auto& [what, of_blocks] : blocks) {
      graph_.shared_columns.push_back({what.first, what.second, {of_blocks.begin(), of_blocks.end()}});
    }
  }

  // Calls visit(slice, table, assignment) for the assignments of replayed updates that only add.
  template <typename Visit>
  void for_each_addition(const ConflictRule& conflicts, Visit&& visit) {
    for (LocalGraph& local : graph_.procedures) {
      if (!program_.procedure(local.procedure).is_logged_by_call()) continue;
      for (const Slice& slice : local.slices) {
        for (const OperationId id : slice.operations) {
          ir::Operation& operation = local.replay.operations[id.value];
          for (ir::Assignment& assignment : operation.assignments) {
            const TableId table = operation.access[0].table;
            if (conflicts.only_adds_to({local.procedure, id}, table, assignment.column))
              visit(slice, table, assignment);
          }
        }
      }
    }
  }

  // The procedure's reads of one row, which are cheap, that find the same whenever they run.
  std::set<OperationId> constant_reads(const LocalGraph& local, const ConflictRule& conflicts) const {
    std::set<OperationId> constant;
    for (const ir::Operation& operation : local.replay.operations) {
      if (operation.kind != ir::OperationKind::kSelect || !finds_one_row(operation)) continue;
      const OperationRef read{local.procedure, operation.id};
      const bool is_met = std::ranges::any_of(graph_.procedures, [&](const LocalGraph& other) {
        return program_.procedure(other.procedure).is_logged_by_call() &&
               std::ranges::any_of(other.replay.operations, [&](const ir::Operation& met) {
                 return conflicts.conflict(read, {other.procedure, met.id}).has_value();
               });
      });
      if (!is_met) constant.insert(operation.id);
    }
    return constant;
  }

  // Plans the bodies of each slice. Lanes need all slices of a block, and recording needs all slices of a
  // procedure.
  void plan_slices(const ConflictRule& conflicts) {
    std::vector<std::vector<std::unique_ptr<SlicePlan>>> plans(graph_.procedures.size());
    for (const LocalGraph& local : graph_.procedures) {
      if (!program_.procedure(local.procedure).is_logged_by_call()) continue;
      const KnownAtDispatch known{options_.lanes_from_arguments, options_.reads_to_locate
                                                                     ? constant_reads(local, conflicts)
                                                                     : std::set<OperationId>()};
      for (const Slice& slice : local.slices) {
        plans[local.procedure.value].push_back(
            std::make_unique<SlicePlan>(analysis(local.procedure), slice.operations, known));
      }
    }
    for (Block& block : graph_.blocks) plan_lanes(block, plans);
    for (LocalGraph& local : graph_.procedures) finish_slices(local, plans[local.procedure.value]);
  }

  void plan_lanes(Block& block, const std::vector<std::vector<std::unique_ptr<SlicePlan>>>& plans) {
    std::vector<AccessSite> all;
    std::vector<std::pair<SlicePlan*, std::vector<AccessSite>>> of_slice;
    for (const BlockMember& member : block.members) {
      SlicePlan& plan = *plans[member.procedure.value][member.slice.value];
      std::vector<AccessSite> sites = plan.access_sites(program_.catalog);
      all.insert(all.end(), sites.begin(), sites.end());
      of_slice.emplace_back(&plan, std::move(sites));
    }
    block.lanes = lane_tables(program_.catalog, all);
    for (auto& [plan, sites] : of_slice) {
      std::vector<LocateSite> located;
      for (AccessSite& site : sites) {
        const LaneTable* lanes = block.lane_table(site.table);
        if (lanes == nullptr || lanes->any_lane) continue;
        located.push_back(locate_site(program_.catalog, *lanes, site));
      }
      plan->locate(std::move(located));
    }
  }

  void finish_slices(LocalGraph& local, const std::vector<std::unique_ptr<SlicePlan>>& plans) const {
    std::set<OperationId> recorded;
    for (const std::unique_ptr<SlicePlan>& plan : plans) {
      recorded.insert(plan->recalled().begin(), plan->recalled().end());
    }
    for (size_t i = 0; i < plans.size(); ++i) {
      Slice& slice = local.slices[i];
      plans[i]->keep_recorded_together(recorded);
      slice.replayed = plans[i]->replayed();
      slice.body = plans[i]->body(recorded);
      slice.locate_body = plans[i]->locate_body();
      slice.located = plans[i]->located();
      slice.iterations_independent = plans[i]->iterations_independent();
      for (std::vector<OperationId>& part : plans[i]->parts()) {
        ir::MarkedBody body = plans[i]->part_body(part, recorded);
        slice.parts.push_back({std::move(part), std::move(body)});
      }
    }
  }

  const Program& program_;
  const AnalysisOptions options_;
  ProcedureAnalyses analyses_;
  DependencyGraph graph_;
};

}  // namespace

const LaneTable* Block::lane_table(TableId table) const {
  const auto found = std::ranges::find(lanes, table, &LaneTable::table);
  return found == lanes.end() ? nullptr : &*found;
}

namespace {

const ir::Statement* marked_loop(ir::BodyView body) {
  for (const ir::Statement& statement : body.statements) {
    if (body.marks.of(statement).iterations_apart) return &statement;
    if (const ir::Statement* loop = marked_loop(body.inner(statement.body))) return loop;
    if (const ir::Statement* loop = marked_loop(body.inner(statement.else_body))) return loop;
  }
  return nullptr;
}

}  // namespace

const ir::Statement* Slice::iteration_loop() const {
  return marked_loop(body);
}

bool DependencyGraph::is_shared(TableId table, ColumnId column) const {
  return std::ranges::any_of(shared_columns, [&](const SharedColumn& shared) {
    return shared.table == table && shared.column == column;
  });
}

void DependencyGraph::verify() const {
  for (uint32_t i = 0; i < blocks.size(); ++i) {
    CHECK(blocks[i].id == BlockId(i));
    std::set<ProcedureId> procedures_of_block;
    for (const BlockMember& member : blocks[i].members) {
      CHECK(procedures_of_block.insert(member.procedure).second);
      CHECK(local(member.procedure).slices[member.slice.value].block == BlockId(i));
    }
    CHECK(!blocks[i].members.empty());
    for (BlockId predecessor : blocks[i].predecessors) CHECK(predecessor < BlockId(i));
  }
  for (const LocalGraph& graph : procedures) {
    std::set<OperationId> operations;
    for (uint32_t i = 0; i < graph.slices.size(); ++i) {
      const Slice& slice = graph.slices[i];
      CHECK(slice.id == SliceId(i));
      CHECK(std::ranges::is_sorted(slice.operations));
      CHECK(std::ranges::includes(slice.operations, slice.replayed));
      CHECK(slice.is_replayed() == !slice.body.empty());
      CHECK(slice.iterations_independent == (slice.iteration_loop() != nullptr));
      for (OperationId operation : slice.operations) CHECK(operations.insert(operation).second);
    }
    CHECK(operations.size() == graph.replay.operations.size());
    for (const SliceEdge& edge : graph.edges) CHECK(edge.from < edge.to);
    for (const ir::Operation& operation : graph.replay.operations) {
      for (const ir::Assignment& assignment : operation.assignments) {
        CHECK((assignment.how != ir::Assignment::How::kSet) ==
              is_shared(operation.access[0].table, assignment.column));
      }
    }
    for (const DataDependency& data : graph.data) {
      const bool together = std::ranges::any_of(graph.slices, [&](const Slice& slice) {
        return std::ranges::binary_search(slice.operations, data.first) &&
               std::ranges::binary_search(slice.operations, data.second);
      });
      CHECK(together);
    }
  }
}

DependencyGraph analyze(const Program& program, const AnalysisOptions& options) {
  return on_deep_stack([&] {
    if (!options.lanes_from_arguments) return Analyzer(program, options).run();
    const std::unique_ptr<Program> apart = with_constant_reads_apart(program);
    return Analyzer(*apart, options).run();
  });
}

}  // namespace mneme
