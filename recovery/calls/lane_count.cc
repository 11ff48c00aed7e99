#include "recovery/calls/lane_count.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/bytes.h"
#include "logging/record/record_content.h"

namespace mneme {

namespace {

constexpr double kLoopTurns = 10;
constexpr double kLanesAShare = 4;
constexpr uint32_t kMostLanes = 64;
constexpr size_t kSampledCalls = 1000;

double work_of(std::span<const ir::Statement> statements) {
  double work = 0;
  for (const ir::Statement& statement : statements) {
    const double inside = work_of(statement.body) + work_of(statement.else_body);
    switch (statement.kind) {
      case ir::StatementKind::kForRange:
      case ir::StatementKind::kForQuery:
      case ir::StatementKind::kWhile:
        work += kLoopTurns * inside;
        break;
      default:
        work += inside;
    }
    // A recalled operation counts as work of the slice that performs it.
    const bool performs = statement.mode == ir::OperationMode::kPerform ||
                          statement.mode == ir::OperationMode::kPerformAndRecord;
    if (statement.operation.valid() && performs) ++work;
  }
  return work;
}

// Returns for each procedure how many of the sampled calls name it. Returns 1 for each if the sample holds no
// calls.
std::vector<double> sample_calls(size_t procedures, std::span<const RecordView> records) {
  std::vector<double> calls(procedures, 0);
  const size_t stride = std::max<size_t>(1, records.size() / kSampledCalls);
  for (size_t i = 0; i < records.size(); i += stride) {
    const std::optional<ByteSpan> call = call_of(records[i].kind, records[i].payload);
    if (!call) continue;
    // A call begins with its procedure's number (call_codec.h). Replay decodes and checks the rest of it.
    const uint64_t procedure = ByteReader(*call).get_varint();
    if (procedure < calls.size()) ++calls[procedure];
  }
  if (std::ranges::all_of(calls, [](double count) { return count == 0; })) std::ranges::fill(calls, 1);
  return calls;
}

uint32_t lanes_of(double share, uint32_t threads) {
  const double threads_worth = share * threads;
  if (threads_worth <= 1) return 1;
  return std::bit_ceil(std::min(kMostLanes, static_cast<uint32_t>(std::ceil(kLanesAShare * threads_worth))));
}

}  // namespace

std::vector<uint32_t> lane_counts(const DependencyGraph& graph, std::span<const RecordView> records,
                                  const ReplayOptions& options) {
  std::vector<uint32_t> lanes(graph.blocks.size() + 1, options.lanes_per_block);
  if (options.lanes_per_block > 0) return lanes;
  const uint32_t threads = options.lanes_for_threads > 0 ? options.lanes_for_threads : options.threads;
  // Unless batches are pipelined, one batch runs at a time. Then only those blocks run beside each other that
  // the graph leaves unordered, so a block gets `unplanned` lanes whatever its share of the work.
  const bool pipelines = options.level == ReplayLevel::kPipelined;
  const uint32_t unplanned = options.level == ReplayLevel::kStatic || threads == 1 ? 1 : kMostLanes;
  std::ranges::fill(lanes, unplanned);
  if (!pipelines) return lanes;

  const std::vector<double> calls = sample_calls(graph.procedures.size(), records);
  std::vector<double> work(graph.blocks.size(), 0);
  double all_work = 0;
  for (size_t b = 0; b < graph.blocks.size(); ++b) {
    for (const BlockMember& member : graph.blocks[b].members) {
      const Slice& slice = graph.local(member.procedure).slices[member.slice.value];
      work[b] += calls[member.procedure.value] * work_of(slice.body);
    }
    all_work += work[b];
  }
  for (size_t b = 0; b < graph.blocks.size(); ++b)
    lanes[b] = all_work == 0 ? 1 : lanes_of(work[b] / all_work, threads);
  return lanes;
}

}  // namespace mneme
