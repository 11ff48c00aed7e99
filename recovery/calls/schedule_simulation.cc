#include "recovery/calls/schedule_simulation.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <queue>

#include "base/check.h"

namespace mneme {
namespace {

using Kind = StepGraph::Kind;

constexpr uint32_t kNoSimulatedStep = std::numeric_limits<uint32_t>::max();

// Counts down what each step waits for. Joins cost nothing, so they end as soon as they may.
class Readiness {
 public:
  explicit Readiness(const StepGraph& graph) : graph_(graph) {
    to_come_.reserve(graph.steps.size());
    for (const StepGraph::Step& step : graph.steps) to_come_.push_back(step.predecessors);
  }

  // Returns the steps that may begin at the start.
  const std::vector<uint32_t>& first() {
    ready_.clear();
    for (uint32_t s = 0; s < graph_.steps.size(); ++s) {
      if (graph_.steps[s].predecessors == 0) take(s);
    }
    end_joins();
    return ready_;
  }
  // Returns the steps that may begin once this step has ended, in the order of its edges.
  const std::vector<uint32_t>& after(uint32_t step) {
    ready_.clear();
    end(step);
    end_joins();
    return ready_;
  }
  size_t ended() const { return ended_; }

 private:
  void end(uint32_t step) {
    ++ended_;
    for (const uint32_t next : graph_.successors_of(step)) {
      if (--to_come_[next] == 0) take(next);
    }
  }
  void take(uint32_t step) { (graph_.steps[step].kind == Kind::kJoin ? joins_ : ready_).push_back(step); }
  void end_joins() {
    while (!joins_.empty()) {
      const uint32_t join = joins_.back();
      joins_.pop_back();
      end(join);
    }
  }

  const StepGraph& graph_;
  std::vector<uint32_t> to_come_;
  std::vector<uint32_t> ready_;
  std::vector<uint32_t> joins_;
  size_t ended_ = 0;
};

class Simulation {
 public:
  Simulation(const StepGraph& graph, uint32_t cores, const SimulatedMachine& machine)
      : graph_(graph), machine_(machine), readiness_(graph), queues_(cores) {
    for (uint32_t c = cores; c > 0; --c) idle_.push_back(c - 1);
  }

  SimulatedSchedule run() {
    queue_up(0, readiness_.first());
    share_out(0);
    while (!ends_.empty()) {
      const End end = ends_.top();
      ends_.pop();
      schedule_.makespan_ns = end.at;
      go_on(end);
      share_out(end.at);
    }
    CHECK(readiness_.ended() == graph_.steps.size());
    schedule_.cores = static_cast<uint32_t>(queues_.size());
    if (machine_.memory_bytes_per_ns > 0)
      schedule_.memory_ns = graph_.memory_bytes / machine_.memory_bytes_per_ns;
    schedule_.makespan_ns = std::max(schedule_.makespan_ns, schedule_.memory_ns);
    return schedule_;
  }

 private:
  struct Queued {
    uint64_t number;  // in the order in which steps became ready
    uint32_t step;
  };
  struct End {
    double at;
    uint64_t number;  // ends at one time come in the order of their beginnings
    uint32_t core;
    uint32_t step;

    bool operator>(const End& other) const { return at != other.at ? at > other.at : number > other.number; }
  };

  // A lane goes on by itself; otherwise the core takes what its queue got last.
  void go_on(const End& end) {
    std::vector<uint32_t> ready = readiness_.after(end.step);
    uint32_t of_lane = kNoSimulatedStep;
    if (graph_.steps[end.step].kind == Kind::kPieces) {
      const auto found =
          std::ranges::find(ready, Kind::kPieces, [&](uint32_t s) { return graph_.steps[s].kind; });
      if (found != ready.end()) {
        of_lane = *found;
        ready.erase(found);
      }
    }
    queue_up(end.core, std::move(ready));
    std::deque<Queued>& own = queues_[end.core];
    if (of_lane != kNoSimulatedStep) {
      begin(end.core, of_lane, end.at, 0);
    } else if (!own.empty()) {
      const uint32_t step = own.back().step;
      own.pop_back();
      --queued_;
      begin(end.core, step, end.at, graph_.task_ns);
      ++schedule_.tasks;
    } else {
      idle_.push_back(end.core);
    }
  }

  void queue_up(uint32_t core, std::vector<uint32_t> ready) {
    const auto rank = [&](uint32_t step) {
      const Kind kind = graph_.steps[step].kind;
      return kind == Kind::kLoad ? 0 : kind == Kind::kPieces ? 1 : 2;
    };
    std::ranges::stable_sort(ready, {}, rank);
    for (const uint32_t step : ready) queues_[core].push_back({next_queued_++, step});
    queued_ += ready.size();
  }

  // Gives the oldest queued steps to the cores that have nothing to do.
  void share_out(double at) {
    while (queued_ > 0 && !idle_.empty()) {
      const auto oldest = std::ranges::min_element(queues_, {}, [](const std::deque<Queued>& queue) {
        return queue.empty() ? std::numeric_limits<uint64_t>::max() : queue.front().number;
      });
      const uint32_t step = oldest->front().step;
      oldest->pop_front();
      --queued_;
      const uint32_t core = idle_.back();
      idle_.pop_back();
      const bool is_stolen = oldest != queues_.begin() + core;
      begin(core, step, at, graph_.task_ns + (is_stolen ? machine_.steal_ns : 0));
      ++schedule_.tasks;
      schedule_.steals += is_stolen ? 1 : 0;
    }
  }

  void begin(uint32_t core, uint32_t step, double at, double before_ns) {
    const double cost = graph_.steps[step].cost_ns + before_ns;
    schedule_.busy_ns += cost;
    ends_.push({at + cost, next_begun_++, core, step});
  }

  const StepGraph& graph_;
  const SimulatedMachine machine_;
  Readiness readiness_;
  std::vector<std::deque<Queued>> queues_;  // by core
  std::vector<uint32_t> idle_;
  size_t queued_ = 0;
  uint64_t next_queued_ = 0;
  uint64_t next_begun_ = 0;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  SimulatedSchedule schedule_;
};

}  // namespace

SimulatedSchedule simulate(const StepGraph& graph, uint32_t cores, const SimulatedMachine& machine) {
  CHECK(cores > 0);
  return Simulation(graph, cores, machine).run();
}

uint32_t LongestPath::limiting_block() const {
  const auto largest = std::ranges::max_element(blocks, {}, &BlockTime::total_ns);
  if (largest == blocks.end() || largest->total_ns() < load_ns) return static_cast<uint32_t>(blocks.size());
  return static_cast<uint32_t>(largest - blocks.begin());
}

LongestPath longest_path(const StepGraph& graph) {
  const size_t count = graph.steps.size();
  std::vector<double> begins(count, 0);
  std::vector<uint32_t> before(count, kNoSimulatedStep);
  std::vector<uint32_t> to_come;
  std::vector<uint32_t> ready;
  for (uint32_t s = 0; s < count; ++s) {
    to_come.push_back(graph.steps[s].predecessors);
    if (to_come.back() == 0) ready.push_back(s);
  }
  uint32_t last = kNoSimulatedStep;
  double longest = -1;
  while (!ready.empty()) {
    const uint32_t step = ready.back();
    ready.pop_back();
    const double end = begins[step] + graph.steps[step].cost_ns;
    if (end > longest) {
      longest = end;
      last = step;
    }
    for (const uint32_t next : graph.successors_of(step)) {
      if (before[next] == kNoSimulatedStep || end > begins[next]) {
        begins[next] = end;
        before[next] = step;
      }
      if (--to_come[next] == 0) ready.push_back(next);
    }
  }

  LongestPath path;
  path.blocks.resize(graph.blocks);
  path.total_ns = std::max(0.0, longest);
  for (uint32_t step = last; step != kNoSimulatedStep; step = before[step]) {
    const StepGraph::Step& of = graph.steps[step];
    if (of.kind == Kind::kLoad) path.load_ns += of.cost_ns;
    if (of.kind == Kind::kFill || of.kind == Kind::kPieces) path.blocks[of.block].add(of);
  }
  return path;
}

}  // namespace mneme
