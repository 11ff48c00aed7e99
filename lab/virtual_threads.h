// VirtualThreads: N threads of one: the lane scheduler's tasks, one after the other, each by a thread drawn
// by chance from those of a seed. The same seed, and the same log, give the same schedule.
//
// Why         a module of WebAssembly that a page opens from a disk has one thread. The scheduler's tasks
//             never wait inside, so that any order in which they run one by one is one that real threads may
//             come to; and to repeat it, its seed is enough.
// Steps       what a task does is told as it comes: `saw`. Behind each, waiting() says what cannot go on, and
//             for what it waits.
// Threads     one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "lab/table_view.h"
#include "recovery/calls/lane_threads.h"

namespace mneme::lab {

class VirtualThreads final : public LaneThreads {
 public:
  // An event, and the thread whose it is.
  using Saw = std::function<void(const LaneEvent& event, uint32_t thread)>;

  VirtualThreads(uint32_t threads, uint64_t seed, std::vector<ScheduledBlock> blocks, Saw saw)
      : threads_(threads), random_(seed), blocks_(std::move(blocks)), saw_(std::move(saw)) {}

  void add(LaneTask task) override { ready_.push_back(std::move(task)); }
  void run_all() override;
  void saw(const LaneEvent& event) override;

  // Tasks for which no thread is free, and what waits for more than a thread:
  //   {"what": "task", "task": "load" | "fill" | "lane", "block", "lane", "batch"}
  //   {"what": "fill", "block", "batch", "for": [BLOCK...]}: other blocks have not finished the batch
  //   {"what": "lane", "block", "lane", "batch", "transaction", "for": [LANE...]}: a piece of several lanes
  Json waiting() const;

 private:
  using BlockBatch = std::pair<uint32_t, uint64_t>;
  struct Placed {
    Piece piece;
    std::vector<uint32_t> lanes;
    std::set<uint32_t> arrived;
    bool has_run = false;
  };

  const uint32_t threads_;
  std::mt19937_64 random_;
  const std::vector<ScheduledBlock> blocks_;
  const Saw saw_;
  std::vector<LaneTask> ready_;
  uint32_t thread_ = 0;  // that runs

  // What the events say.
  std::set<uint64_t> loaded_;  // and not retired
  std::set<BlockBatch> filled_;
  std::set<BlockBatch> finished_;
  std::map<BlockBatch, std::vector<Placed>> placed_;
};

}  // namespace mneme::lab
