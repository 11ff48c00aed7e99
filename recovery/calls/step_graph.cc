#include "recovery/calls/step_graph.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/check.h"

namespace mneme {
namespace {

constexpr uint32_t kNoStep = std::numeric_limits<uint32_t>::max();

class GraphBuilder {
 public:
  GraphBuilder(const ScheduleRecorder& recorder, uint32_t batches_in_flight)
      : recorder_(recorder),
        batches_in_flight_(batches_in_flight),
        ns_per_tick_(recorder.ns_per_tick()),
        lanes_(recorder.blocks().size()) {
    for (size_t b = 0; b < lanes_.size(); ++b) lanes_[b].resize(recorder.blocks()[b].lane_count);
    graph_.blocks = static_cast<uint32_t>(lanes_.size());
  }

  StepGraph build() {
    for (const ScheduleStep& step : recorder_.steps(0)) {
      switch (step.kind) {
        case StepKind::kLoad:
          add_load(step);
          break;
        case StepKind::kDecode:
          batch(step.batch).decode = add(StepGraph::Kind::kLoad, step);
          break;
        case StepKind::kFill:
          batch(step.batch).fills[step.block] = add(StepGraph::Kind::kFill, step);
          break;
        case StepKind::kLists:
          graph_.steps[batch(step.batch).fills[step.block]].cost_ns += cost(step);
          batch(step.batch).placements[step.block] = step.other;
          break;
        case StepKind::kPieces:
          add_pieces(step);
          break;
        case StepKind::kRendezvous:
          end_rendezvous(step);
          break;
        case StepKind::kScheduling:
        case StepKind::kWaiting:
          break;
      }
    }
    CHECK(open_rendezvous_.empty());
    for (auto& lanes : lanes_) {
      for (Lane& lane : lanes) leave_batch(lane);
    }
    for (uint64_t n = 0; n < batches_.size(); ++n) join(n);
    order_edges();
    const uint64_t tasks = recorder_.tasks();
    // A task is recorded by one lap at least.
    graph_.task_ns =
        tasks == 0
            ? 0
            : std::max(0.0, recorder_.scheduling_ns() / static_cast<double>(tasks) - recorder_.lap_ns());
    return std::move(graph_);
  }

 private:
  struct Batch {
    std::vector<uint32_t> loads;  // more than one: the later ones ran alone
    uint32_t decode = kNoStep;
    std::vector<uint32_t> fills;       // by block
    std::vector<uint32_t> placements;  // by block
    std::vector<uint32_t> published;   // by block
    std::vector<uint32_t> joins;       // by block
    uint32_t retired = kNoStep;
  };
  struct Lane {
    uint32_t last = kNoStep;
    uint32_t join = kNoStep;  // of the block's batch that `last` belongs to
    uint64_t batch = 0;
  };

  double cost(const ScheduleStep& step) const {
    return std::max(0.0, static_cast<double>(step.end - step.begin) * ns_per_tick_ - recorder_.lap_ns());
  }
  uint32_t add(StepGraph::Kind kind, const ScheduleStep& step) {
    graph_.steps.push_back({kind, step.block, 0, cost(step)});
    return static_cast<uint32_t>(graph_.steps.size() - 1);
  }
  uint32_t add_join(uint32_t block) {
    graph_.steps.push_back({StepGraph::Kind::kJoin, block, 0, 0});
    return static_cast<uint32_t>(graph_.steps.size() - 1);
  }
  void order(uint32_t before, uint32_t after) {
    edges_.push_back({before, after});
    ++graph_.steps[after].predecessors;
  }

  Batch& batch(uint64_t number) {
    while (batches_.size() <= number) {
      Batch& added = batches_.emplace_back();
      added.fills.assign(lanes_.size(), kNoStep);
      added.placements.assign(lanes_.size(), 0);
      for (uint32_t b = 0; b < lanes_.size(); ++b) {
        added.published.push_back(add_join(b));
        added.joins.push_back(add_join(b));
      }
      added.retired = add_join(0);
    }
    return batches_[number];
  }

  void add_load(const ScheduleStep& step) {
    const uint32_t load = add(StepGraph::Kind::kLoad, step);
    batch(step.batch).loads.push_back(load);
  }

  // The lane goes on with `step`, which is of this batch.
  void append(Lane& lane, uint32_t block, uint64_t number, uint32_t step) {
    if (lane.last == kNoStep || lane.batch != number) {
      leave_batch(lane);
      lane.batch = number;
      lane.join = batches_[number].joins[block];
      order(batches_[number].published[block], step);
    }
    if (lane.last != kNoStep) order(lane.last, step);
    lane.last = step;
  }
  void leave_batch(const Lane& lane) {
    if (lane.last != kNoStep) order(lane.last, lane.join);
  }

  void add_pieces(const ScheduleStep& step) {
    Lane& lane = lanes_[step.block][step.lane];
    if (step.pieces > 0) append(lane, step.block, step.batch, add(StepGraph::Kind::kPieces, step));
    if (step.other == kNoEntry) return;
    // The first lane that comes to it makes the step; the last one says what it cost.
    uint32_t& rendezvous = open_rendezvous_.try_emplace(key(step), kNoStep).first->second;
    if (rendezvous == kNoStep) {
      rendezvous = static_cast<uint32_t>(graph_.steps.size());
      graph_.steps.push_back({StepGraph::Kind::kPieces, step.block, 0, 0});
    }
    append(lane, step.block, step.batch, rendezvous);
  }
  void end_rendezvous(const ScheduleStep& step) {
    const auto found = open_rendezvous_.find(key(step));
    CHECK(found != open_rendezvous_.end());
    graph_.steps[found->second].cost_ns = cost(step);
    open_rendezvous_.erase(found);
  }
  // Few batches are in flight at one time, so 12 bits tell them apart.
  uint64_t key(const ScheduleStep& step) const {
    return ((step.batch % 4096) << 52) | (uint64_t{step.block % 4096} << 32 << 8) | step.other;
  }

  // Adds the edges to and from the end of the whole batch.
  void join(uint64_t n) {
    const Batch& of = batches_[n];
    uint32_t loaded = kNoStep;
    for (const uint32_t load : of.loads) {
      if (loaded != kNoStep) order(loaded, load);
      if (loaded == kNoStep && n > 0) order(batches_[n - 1].loads.back(), load);
      if (loaded == kNoStep && n >= batches_in_flight_) order(batches_[n - batches_in_flight_].retired, load);
      if (loaded != kNoStep && n > 0) order(batches_[n - 1].retired, load);
      loaded = load;
    }
    if (of.decode != kNoStep) {
      order(loaded, of.decode);
      loaded = of.decode;
    }
    if (loaded != kNoStep) order(loaded, of.retired);
    if (n > 0) order(batches_[n - 1].retired, of.retired);
    for (uint32_t b = 0; b < lanes_.size(); ++b) {
      const uint32_t fill = of.fills[b];
      if (fill == kNoStep) continue;
      order(loaded, fill);
      for (const uint32_t predecessor : recorder_.blocks()[b].predecessors)
        order(of.joins[predecessor], fill);
      order(fill, of.published[b]);
      if (n > 0) order(batches_[n - 1].published[b], of.published[b]);
      if (n > 0 && batches_[n - 1].placements[b] != of.placements[b]) {
        // Older batches than these have been retired.
        for (uint64_t k = n; k > 0 && n - k < batches_in_flight_; --k)
          order(batches_[k - 1].joins[b], of.published[b]);
      }
      order(of.published[b], of.joins[b]);
      order(of.joins[b], of.retired);
    }
  }

  // By the step that comes before; of one step, in the order in which they were made.
  void order_edges() {
    std::vector<uint32_t>& first = graph_.first_successor;
    first.assign(graph_.steps.size() + 1, 0);
    for (const Edge& edge : edges_) ++first[edge.before + 1];
    for (size_t s = 0; s < graph_.steps.size(); ++s) first[s + 1] += first[s];
    graph_.successors.resize(edges_.size());
    std::vector<uint32_t> next(first.begin(), first.end() - 1);
    for (const Edge& edge : edges_) graph_.successors[next[edge.before]++] = edge.after;
  }

  struct Edge {
    uint32_t before;
    uint32_t after;
  };

  const ScheduleRecorder& recorder_;
  const uint32_t batches_in_flight_;
  const double ns_per_tick_;
  StepGraph graph_;
  std::vector<Edge> edges_;
  std::vector<Batch> batches_;
  std::vector<std::vector<Lane>> lanes_;  // by block and lane
  std::unordered_map<uint64_t, uint32_t> open_rendezvous_;
};

}  // namespace

double StepGraph::work_ns() const {
  double sum = 0;
  for (const Step& step : steps) sum += step.cost_ns;
  return sum;
}

std::vector<BlockTime> StepGraph::work_of_blocks() const {
  std::vector<BlockTime> times(blocks);
  for (const Step& step : steps) {
    if (step.kind == Kind::kFill || step.kind == Kind::kPieces) times[step.block].add(step);
  }
  return times;
}

StepGraph step_graph(const ScheduleRecorder& recorder, uint32_t batches_in_flight) {
  CHECK(recorder.runs() == 1 && recorder.thread_count() == 1 && recorder.records_rendezvous());
  return GraphBuilder(recorder, batches_in_flight).build();
}

}  // namespace mneme
