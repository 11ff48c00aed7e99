#include "recovery/calls/longest_lane.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "analyzer/render.h"

namespace mneme {

namespace {

// A part of the replay's time: with so much in one lane, more threads gain next to nothing.
constexpr double kNearlyAll = 0.8;
// A replay that is shorter is fast enough.
constexpr double kLeastSeconds = 0.2;

}  // namespace

std::vector<KernelTime> kernel_times(const DependencyGraph& graph, const ReplayStatistics& statistics) {
  std::vector<KernelTime> times;
  // The last ones are of the rows that no procedure touches.
  for (size_t b = 0; b < std::min(statistics.lane_pieces.size(), graph.blocks.size()); ++b) {
    if (statistics.lane_pieces[b] == 0) continue;
    times.push_back({graph.blocks[b].name, statistics.lane_pieces[b], statistics.lane_seconds[b]});
  }
  return times;
}

std::vector<SerialTable> serial_tables(const DependencyGraph& graph, const Catalog& catalog,
                                       std::span<const double> lane_seconds) {
  std::vector<SerialTable> tables;
  for (size_t b = 0; b < std::min(lane_seconds.size(), graph.blocks.size()); ++b) {
    if (lane_seconds[b] == 0) continue;
    for (const LaneTable& lanes : graph.blocks[b].lanes) {
      for (const LostColumn& lost : lanes.lost)
        tables.push_back({graph.blocks[b].name, catalog.table(lanes.table).name, lost, lane_seconds[b]});
    }
  }
  return tables;
}

std::optional<std::string> longest_lane_notice(const DependencyGraph& graph, const Catalog& catalog,
                                               std::span<const double> lane_seconds, double replay_seconds) {
  if (replay_seconds < kLeastSeconds) return std::nullopt;
  // The last is of the rows that no procedure touches.
  const std::span<const double> of_graph =
      lane_seconds.first(std::min(lane_seconds.size(), graph.blocks.size()));
  const auto longest = std::ranges::max_element(of_graph);
  if (longest == of_graph.end() || *longest < kNearlyAll * replay_seconds) return std::nullopt;
  const Block& block = graph.blocks[static_cast<size_t>(longest - of_graph.begin())];
  std::vector<std::string> reasons;
  for (const LaneTable& lanes : block.lanes) {
    // With more threads a finer way may pay, and one by hints if the records have them.
    if (!lanes.lost.empty() && lanes.plain_ways() == 1)
      reasons.push_back(
          fmt::format("{}: {}", catalog.table(lanes.table).name, fmt::join(lost_texts(lanes), "; ")));
  }
  if (reasons.empty()) return std::nullopt;
  return fmt::format(
      "block {} ran in one lane for {:.1f} s of the replay's {:.1f} s, so more threads would not help; what "
      "keeps its rows together: {}",
      block.name, *longest, replay_seconds, fmt::join(reasons, "; "));
}

}  // namespace mneme
