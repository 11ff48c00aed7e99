#include "lab/virtual_threads.h"

#include <algorithm>

namespace mneme::lab {

namespace {

const char* name_of(LaneTask::Kind kind) {
  switch (kind) {
    case LaneTask::Kind::kLoad:
      return "load";
    case LaneTask::Kind::kFill:
      return "fill";
    case LaneTask::Kind::kLane:
      return "lane";
  }
  return "";
}

}  // namespace

void VirtualThreads::run_all() {
  while (!ready_.empty()) {
    thread_ = static_cast<uint32_t>(random_() % threads_);
    const auto chosen = ready_.begin() + static_cast<ptrdiff_t>(random_() % ready_.size());
    const LaneTask task = std::move(*chosen);
    ready_.erase(chosen);
    task.run(ReplayThreadId(thread_));
  }
}

void VirtualThreads::saw(const LaneEvent& event) {
  const BlockBatch at{event.block, event.batch};
  const auto find_placed = [&](const Piece& piece) {
    return std::ranges::find_if(
        placed_[at], [&](const Placed& placed) { return placed.piece == piece && !placed.has_run; });
  };
  switch (event.kind) {
    case LaneEvent::Kind::kLoaded:
      loaded_.insert(event.batch);
      break;
    case LaneEvent::Kind::kFilled:
      filled_.insert(at);
      for (const LanedPiece& piece : event.pieces)
        placed_[at].push_back({piece.piece, {piece.lanes.begin(), piece.lanes.end()}, {}, false});
      break;
    case LaneEvent::Kind::kPublished:
      break;
    case LaneEvent::Kind::kArrived:
      if (const auto placed = find_placed(event.piece); placed != placed_[at].end())
        placed->arrived.insert(event.lane);
      break;
    case LaneEvent::Kind::kRan:
      if (const auto placed = find_placed(event.piece); placed != placed_[at].end()) placed->has_run = true;
      break;
    case LaneEvent::Kind::kFinished:
      finished_.insert(at);
      break;
    case LaneEvent::Kind::kRetired:
      loaded_.erase(event.batch);
      for (uint32_t b = 0; b < blocks_.size(); ++b) placed_.erase({b, event.batch});
      break;
  }
  saw_(event, thread_);
}

Json VirtualThreads::waiting() const {
  Json waiting = Json::array();
  for (const LaneTask& task : ready_) {
    Json entry = {{"what", "task"}, {"task", name_of(task.kind)}};
    if (task.kind != LaneTask::Kind::kLoad) entry["block"] = task.block;
    if (task.kind == LaneTask::Kind::kLane) entry["lane"] = task.lane;
    if (task.kind == LaneTask::Kind::kFill) entry["batch"] = task.batch;
    waiting.push_back(std::move(entry));
  }
  for (const uint64_t batch : loaded_) {
    for (uint32_t b = 0; b < blocks_.size(); ++b) {
      if (filled_.contains({b, batch})) continue;
      Json others = Json::array();
      for (const uint32_t predecessor : blocks_[b].predecessors) {
        if (!finished_.contains({predecessor, batch})) others.push_back(predecessor);
      }
      if (others.empty()) continue;
      waiting.push_back({{"what", "fill"}, {"block", b}, {"batch", batch}, {"for", std::move(others)}});
    }
  }
  for (const auto& [at, pieces] : placed_) {
    for (const Placed& placed : pieces) {
      if (placed.has_run || placed.arrived.empty()) continue;
      Json others = Json::array();
      for (const uint32_t lane : placed.lanes) {
        if (!placed.arrived.contains(lane)) others.push_back(lane);
      }
      for (const uint32_t lane : placed.arrived) {
        waiting.push_back({{"what", "lane"},
                           {"block", at.first},
                           {"lane", lane},
                           {"batch", at.second},
                           {"transaction", placed.piece.transaction},
                           {"for", others}});
      }
    }
  }
  return waiting;
}

}  // namespace mneme::lab
