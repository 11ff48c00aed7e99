// StreamOptions: of a log in the layout `distributed` (distributed_log.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/function_ref.h"
#include "logging/record/record_format.h"

namespace mneme {

inline constexpr uint32_t kMostStreams = 64;

// Which stream a transaction's record goes to.
enum class StreamPartition : uint8_t {
  kTransaction,  // its worker's
  kPage,         // each changed row's: of a page, a range of row slots
};

// When the records of streams in persistent memory count as durable.
enum class StreamCommit : uint8_t {
  kPassive,       // passive_group_commit.h
  kDurableCache,  // durable_cache_horizon.h
  kNone,          // once its own worker has fenced it: a crash test must fail on it
};

constexpr std::string_view name_of(StreamCommit commit) {
  constexpr std::string_view kNames[] = {"passive", "durable-cache", "none"};
  return kNames[static_cast<size_t>(commit)];
}

// Counters of the daemon of kPassive.
struct PassiveGroupCommitCounters {
  uint64_t looks = 0;    // at all workers
  uint64_t signals = 0;  // to stragglers
};

// Takes a record's payload apart: calls `piece` for one stretch after the other, with its end, and the page
// that it belongs to; nothing: to none. Stretches of one page go to one stream. Called by any worker.
using RecordSplitter = std::function<void(RecordKind kind, ByteSpan payload,
                                          FunctionRef<void(size_t end, std::optional<uint64_t> page)> piece)>;

struct StreamOptions {
  uint32_t count = 0;  // 0: one a NUMA node, and at least two
  StreamPartition partition = StreamPartition::kTransaction;
  RecordSplitter split{};                // of kPage: set by the owner that knows what records hold
  std::optional<StreamCommit> commit{};  // of persistent memory alone; nothing: there kPassive
  // Injected, to streams in turns: no flush of theirs takes less. Empty: as all
  // (DeviceOptions::latency).
  std::vector<std::chrono::nanoseconds> latencies{};
};

}  // namespace mneme
