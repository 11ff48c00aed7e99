#include "logging/layout/distributed_log.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/check.h"
#include "logging/layout/stream_horizon.h"
#include "logging/nvm/durable_cache_horizon.h"
#include "logging/nvm/nvm_ring.h"
#include "logging/nvm/passive_group_commit.h"

namespace mneme {

namespace {

constexpr uint32_t kFewestStreams = 2;

uint32_t stream_count(const DurableLogOptions& options, uint32_t nodes) {
  if (options.streams.count > 0) return options.streams.count;
  return std::clamp(nodes, kFewestStreams, kMostStreams);
}

}  // namespace

Result<void> check_stream_options(const DurableLogOptions& options) {
  const LogDeviceTraits& device = traits_of(options.device);
  if (device.has_flusher && options.streams.commit) {
    return invalid_argument(
        "--group-commit {} is of streams in persistent memory, and on {} a flusher makes records durable: "
        "choose "
        "--log-device nvm, or leave it out",
        name_of(*options.streams.commit), name_of(options.device));
  }
  if (options.streams.commit == StreamCommit::kDurableCache && !device.has_flusher && device.loses_cache) {
    return invalid_argument(
        "--group-commit durable-cache rests on caches that survive a crash, and {} has some that don't: "
        "choose passive, "
        "or the device nvm",
        name_of(options.device));
  }
  if (!device.has_flusher && options.buffer != kDefaultLogBuffer) {
    return invalid_argument(
        "on {} a stream's buffer is a ring in persistent memory, in the order of {}: leave --stream-buffer "
        "{} out",
        name_of(options.device), name_of(kDefaultLogBuffer), name_of(options.buffer));
  }
  if (device.has_servers) {
    return invalid_argument(
        "the streams of --log-buffer distributed write files, and on {} one stream goes to the servers: "
        "leave "
        "--log-buffer distributed out, or choose the device file",
        name_of(options.device));
  }
  if (device.is_striped) {
    return invalid_argument(
        "the streams of --log-buffer distributed write side by side by themselves, which the device striped "
        "does for one "
        "stream: choose the device file, and name the streams' directories by --log-directory");
  }
  if (options.streams.count > kMostStreams) {
    return invalid_argument("{} streams: there are {} at most", options.streams.count, kMostStreams);
  }
  return {};
}

Result<std::unique_ptr<DistributedLog>> DistributedLog::open(ManifestFile& manifest,
                                                             const DurableLogOptions& options,
                                                             const NumaView& numa) {
  CHECK(!options.stream_directories.empty());
  CHECK(options.streams.partition == StreamPartition::kTransaction || options.streams.split);
  RETURN_IF_ERROR(check_stream_options(options));
  const Manifest current = manifest.current();
  const Incarnation& incarnation = current.incarnations.back();
  for (const SegmentEntry& each : current.segments) CHECK(each.incarnation < incarnation.number);
  std::unique_ptr<DistributedLog> log(
      new DistributedLog(manifest, options, incarnation.begin, stream_count(options, numa.nodes), numa));
  RETURN_IF_ERROR(log->open_streams());
  return log;
}

DistributedLog::DistributedLog(ManifestFile& manifest, const DurableLogOptions& options, Lsn begin,
                               uint32_t streams, const NumaView& numa)
    : manifest_(manifest),
      options_(options),
      begin_(begin),
      numa_(numa),
      states_(std::make_unique<CachePadded<WorkerState>[]>(options.appenders())) {
  for (uint32_t stream = 0; stream < streams; ++stream) {
    reporters_.push_back(std::make_unique<Reporter>(*this, stream));
  }
}

Result<void> DistributedLog::open_rings(SegmentNumbers& numbers) {
  RETURN_IF_ERROR(prepare_directories(manifest_.directory(), options_.stream_directories));
  DurableLogOptions of_stream = options_;
  of_stream.ring_bytes = options_.ring_bytes / reporters_.size();
  const std::vector<std::chrono::nanoseconds>& latencies = options_.streams.latencies;
  for (uint32_t stream = 0; stream < reporters_.size(); ++stream) {
    PersistentMemoryOptions memory;
    memory.latency = latencies.empty() ? options_.device_options.latency.value_or(kNvmLatency)
                                       : latencies[stream % latencies.size()];
    memory.volatile_cache = traits_of(options_.device).loses_cache;
    memory.durable_cache = options_.streams.commit == StreamCommit::kDurableCache;
    memory.seed = options_.device_options.lossy_seed + stream;
    auto ring = NvmRing::make(manifest_, numbers.next(), stream, directory_of(stream),
                              ring_bytes_for(of_stream), memory);
    if (!ring.ok()) return ring.error();
    rings_.push_back(std::move(*ring));
  }
  if (rings_.front()->memory().is_persistent() && !traits_of(options_.device).loses_cache) return {};
  notices_.push_back(
      "the log's persistent memory is emulated by a mapped file: what is acknowledged survives the end of "
      "the process, however it dies, but not that of the machine");
  return {};
}

// In two rings, so that the mark outlives either of them.
void DistributedLog::mark(Lsn durable) {
  rings_.front()->mark(durable);
  if (rings_.size() > 1) rings_.back()->mark(durable);
}

void DistributedLog::make_horizon(uint32_t streams) {
  if (rings_.empty()) {
    horizon_ = std::make_unique<StreamHorizon>(begin_, streams, options_.appenders());
    return;
  }
  const StreamCommit commit = options_.streams.commit.value_or(StreamCommit::kPassive);
  if (commit == StreamCommit::kDurableCache) {
    horizon_ = std::make_unique<DurableCacheHorizon>(begin_, options_.appenders());
    return;
  }
  PassiveGroupCommitOptions passive;
  passive.begin = begin_;
  passive.appenders = options_.appenders();
  if (options_.group.interval.count() > 0) passive.period = options_.group.interval;
  passive.hardens = traits_of(options_.device).hardens;
  passive.groups = commit == StreamCommit::kPassive;
  passive.rises = [this](Lsn durable) { mark(durable); };
  auto made = std::make_unique<PassiveGroupCommit>(std::move(passive));
  passive_ = made.get();
  horizon_ = std::move(made);
}

Result<void> DistributedLog::open_streams() {
  const auto count = static_cast<uint32_t>(reporters_.size());
  const auto numbers = std::make_shared<SegmentNumbers>(manifest_.current());
  if (!traits_of(options_.device).has_flusher) RETURN_IF_ERROR(open_rings(*numbers));
  make_horizon(count);
  DurableLogOptions options = options_;
  options.ring_bytes = options_.ring_bytes / count;
  std::vector<std::unique_ptr<DurableLog>> opened;
  for (uint32_t stream = 0; stream < count; ++stream) {
    const std::vector<std::chrono::nanoseconds>& latencies = options_.streams.latencies;
    if (!latencies.empty()) options.device_options.latency = latencies[stream % latencies.size()];
    options.device_options.lossy_seed = options_.device_options.lossy_seed + stream;
    StreamPlace place;
    place.stream = stream;
    place.directory = directory_of(stream);
    place.numbers = numbers;
    place.observer = reporters_[stream].get();
    place.durable_gsn = [this] { return horizon_->durable(); };
    if (!rings_.empty()) {
      place.ring = rings_[stream].get();
      place.horizon = horizon_.get();
      place.stores = passive_;
    }
    auto log = DurableLog::open_stream(manifest_, options, place);
    if (!log.ok()) return log.error();
    for (const std::string& notice : (*log)->notices()) {
      if (std::ranges::find(notices_, notice) == notices_.end()) notices_.push_back(notice);
    }
    opened.push_back(std::move(*log));
  }
  streams_ = std::move(opened);
  return {};
}

// Each makes durable what it holds, and reports. Of rings that is: destages what the horizon has passed.
DistributedLog::~DistributedLog() {
  if (!rings_.empty() && !streams_.empty()) {
    const Lsn end = horizon_->drawn();
    if (end > begin_ && horizon_->await(Lsn{end.value - 1})) mark(horizon_->durable());
  }
  for (auto& stream : streams_) stream.reset();
  if (!streams_.empty() && traits_of(options_.device).notes_close && !horizon_->has_failed())
    note_closed(manifest_, horizon_->durable());
}

// Streams are dealt to the nodes in turns, and a node's streams to its workers; where there is one node, that
// is all streams to all workers.
uint32_t DistributedLog::choose_stream(WorkerId worker) const {
  const auto count = static_cast<uint32_t>(streams_.size());
  const uint32_t nodes = std::min(numa_.nodes, count);
  const uint32_t node = numa_.node() % nodes;
  const uint32_t of_node = (count - node + nodes - 1) / nodes;
  return node + worker.value % of_node * nodes;
}

bool DistributedLog::await_space(WorkerId worker, uint32_t payload_bytes) {
  WorkerState& state = *states_[worker.value];
  if (state.stream == kNoStream) [[unlikely]] {
    state.stream = choose_stream(worker);
  }
  if (options_.streams.partition == StreamPartition::kTransaction) {
    return streams_[state.stream]->await_space(worker, payload_bytes) && !horizon_->has_failed();
  }
  // Which streams the record goes to is known when it is written: room that is found in one stays while
  // others are waited for, as it is this worker's until its next record.
  for (const auto& stream : streams_) {
    if (!stream->await_space(worker, payload_bytes)) return false;
  }
  return !horizon_->has_failed();
}

Lsn DistributedLog::reserve(WorkerId worker, uint32_t) {
  return horizon_->draw(worker);
}

void DistributedLog::fill(WorkerId worker, Lsn lsn, RecordKind kind, ByteSpan payload) {
  WorkerState& state = *states_[worker.value];
  if (kind == RecordKind::kSkip) payload = {};
  const uint64_t streams = split(state, kind, payload);
  if (!std::has_single_bit(streams)) return fill_parts(worker, lsn, kind, payload, streams);
  const auto stream = static_cast<uint32_t>(std::countr_zero(streams));
  horizon_->ends_in(worker, stream);
  const StreamPosition end = streams_[stream]->append(worker, {lsn, kind}, payload);
  horizon_->published(worker, stream, end);
  horizon_->settled(worker, lsn, kind);
  // Not before: a flusher that lies down now has seen that the worker is done.
  streams_[stream]->came(end);
}

void DistributedLog::fill_parts(WorkerId worker, Lsn lsn, RecordKind kind, ByteSpan payload,
                                uint64_t streams) {
  WorkerState& state = *states_[worker.value];
  const auto parts = static_cast<uint32_t>(std::popcount(streams));
  std::array<StreamPosition, kMostStreams> ends;
  uint32_t number = 0;
  for (uint64_t rest = streams; rest != 0; rest &= rest - 1, ++number) {
    const auto stream = static_cast<uint32_t>(std::countr_zero(rest));
    if (number + 1 == parts) horizon_->ends_in(worker, stream);
    make_part(payload, state.pieces, stream, number, parts, state.part);
    ends[number] = streams_[stream]->append(worker, {lsn, kind, /*is_part=*/true}, state.part);
    horizon_->published(worker, stream, ends[number]);
  }
  horizon_->settled(worker, lsn, kind);
  number = 0;
  for (uint64_t rest = streams; rest != 0; rest &= rest - 1, ++number) {
    streams_[static_cast<uint32_t>(std::countr_zero(rest))]->came(ends[number]);
  }
}

uint64_t DistributedLog::split(WorkerState& state, RecordKind kind, ByteSpan payload) const {
  const uint64_t own = uint64_t{1} << state.stream;
  if (options_.streams.partition == StreamPartition::kTransaction || payload.empty()) return own;
  state.pieces.clear();
  uint64_t streams = 0;
  uint32_t begin = 0;
  options_.streams.split(kind, payload, [&](size_t end, std::optional<uint64_t> page) {
    const uint32_t stream = page ? static_cast<uint32_t>(*page % streams_.size()) : state.stream;
    streams |= uint64_t{1} << stream;
    if (!state.pieces.empty() && state.pieces.back().stream == stream) {
      state.pieces.back().bytes += static_cast<uint32_t>(end) - begin;
    } else {
      state.pieces.push_back({begin, static_cast<uint32_t>(end) - begin, stream});
    }
    begin = static_cast<uint32_t>(end);
  });
  CHECK(begin == payload.size());
  // Parts take more than the payload: one that is too long for them stays whole.
  return payload.size() + part_overhead(state.pieces.size()) <= options_.largest_payload_bytes ? streams
                                                                                               : own;
}

bool DistributedLog::wait_durable(Lsn lsn) {
  if (lsn < durable()) return true;
  for (const auto& stream : streams_) stream->flusher().begin_wait();
  const bool is_durable = horizon_->await(lsn);
  for (const auto& stream : streams_) stream->flusher().end_wait();
  return is_durable;
}

std::optional<Error> DistributedLog::failure() const {
  for (const auto& stream : streams_) {
    if (auto failure = stream->failure()) return failure;
  }
  return std::nullopt;
}

std::optional<GroupCommit> DistributedLog::group() const {
  if (rings_.empty()) return streams_.front()->group();
  if (passive_ == nullptr) return std::nullopt;
  return GroupCommit{.interval =
                         options_.group.interval.count() > 0 ? options_.group.interval : kPassivePeriod};
}

LogCounters DistributedLog::counters() const {
  LogCounters sum;
  for (const auto& stream : streams_) sum.add(stream->counters());
  sum.streams = StreamCounters{.streams = static_cast<uint32_t>(streams_.size()), .nodes = numa_.nodes};
  if (!rings_.empty()) {
    sum.streams->commit = options_.streams.commit.value_or(StreamCommit::kPassive);
    if (passive_ != nullptr) sum.streams->passive = passive_->counters();
  }
  return sum;
}

}  // namespace mneme
