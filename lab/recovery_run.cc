#include "lab/recovery_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/render.h"
#include "base/file/file.h"
#include "base/memory/arena.h"
#include "engine/transaction/digest.h"
#include "lab/virtual_threads.h"
#include "logging/reading/log_reader.h"
#include "logging/record/block_format.h"
#include "procedures/interpreter/call_codec.h"
#include "procedures/interpreter/call_text.h"
#include "recovery/calls/parallel_replayer.h"
#include "recovery/calls/piece_dispatch.h"
#include "recovery/calls/serial_replayer.h"
#include "recovery/database/checkpoint_loader.h"
#include "recovery/database/recover.h"
#include "recovery/rows/barrier_finder.h"
#include "recovery/rows/index_builder.h"

namespace mneme::lab {

namespace {

constexpr size_t kShownBlocks = 16;

bool is_zero(ByteSpan bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

Result<Json> describe_disk(const std::string& directory, const Manifest& manifest) {
  Json segments = Json::array();
  for (const SegmentEntry& entry : manifest.segments) {
    const Result<std::string> bytes = read_text_in(directory, entry.file);
    if (!bytes) return bytes.error();
    Json blocks = Json::array();
    for (uint32_t index = 0; block_offset(index) + kBlockBytes <= bytes->size(); ++index) {
      const ByteSpan block = as_bytes(*bytes).subspan(block_offset(index), kBlockBytes);
      const std::optional<BlockHeader> header = BlockHeader::decode(block);
      Json sectors = Json::array();
      for (size_t at = 0; at < kBlockBytes; at += kSectorBytes)
        sectors.push_back(is_zero(block.subspan(at, kSectorBytes)) ? 0 : 1);
      Json shown = {{"block", index}, {"state", "torn"}, {"sectors", std::move(sectors)}};
      if (header) {
        shown["begin"] = header->begin.value;
        shown["used"] = header->used_bytes;
        if (header->payload_is_intact(block)) shown["state"] = "whole";
      } else if (is_zero(block)) {
        shown["state"] = "empty";
      }
      blocks.push_back(std::move(shown));
    }
    // Empty blocks at a file's end look alike: the list shows the first ones alone.
    while (blocks.size() > kShownBlocks && blocks.back()["state"] == "empty") blocks.erase(blocks.size() - 1);
    segments.push_back({{"segment", entry.number}, {"file", entry.file}, {"blocks", std::move(blocks)}});
  }
  return segments;
}

std::string part_of(const PiecePart& part) {
  if (part.is_share()) return "the batch's whole share";
  return part.visit(
      [](const CallPart& call) -> std::string {
        if (call.iteration) return fmt::format("iteration {}", *call.iteration);
        if (call.slice_part) return fmt::format("part {}", *call.slice_part);
        return "";
      },
      [](uint32_t change) { return fmt::format("changed row {}", change); });
}

class Recovery {
 public:
  Recovery(const RecoveryRequest& request, const std::string& directory)
      : request_(request), directory_(directory) {}

  Result<Json> run() {
    RETURN_IF_ERROR(load());
    const Result<void> replayed = request_.scheme == "clr" ? replay_serially_in_steps() : replay_in_lanes();
    if (!replayed) return replayed.error();
    report_["steps"] = std::move(steps_);
    report_["digest"] = digest_of(*database_, 1).to_string();
    report_["rows"] = view_->rows();
    RETURN_IF_ERROR(recover_at_once());
    return std::move(report_);
  }

 private:
  // As recover() does it.
  Result<void> load() {
    Result<Manifest> manifest = read_manifest(directory_);
    if (!manifest) return manifest.error();
    Result<Json> disk = describe_disk(directory_, *manifest);
    if (!disk) return disk.error();
    report_["disk"] = std::move(*disk);
    Result<std::unique_ptr<Program>> program = read_catalog(directory_, *manifest);
    if (!program) return program.error();
    program_ = std::move(*program);
    database_ = std::make_unique<Database>(program_->catalog, 1);
    const Result<LoadedCheckpoint> checkpoint = load_checkpoint(*database_, directory_, *manifest, 1);
    if (!checkpoint) return checkpoint.error();
    RETURN_IF_ERROR(build_indexes(*database_, 1));
    view_ = std::make_unique<TableView>(*database_);
    report_["tables"] = describe_tables(*database_);
    report_["checkpoint"] = {{"lsn", manifest->checkpoint_lsn.value}, {"rows", checkpoint->rows}};
    report_["first_rows"] = view_->changes();
    Result<LogContents> log = read_log(directory_, *manifest, {.from = manifest->checkpoint_lsn});
    if (!log) return log.error();
    log_ = std::move(*log);
    Json records = Json::array();
    for (const RecordView& record : log_.records) {
      has_rows_ = has_rows_ || record.kind != RecordKind::kCommand;
      records.push_back({{"lsn", record.lsn.value}, {"text", text_of(record)}});
    }
    report_["log"] = {{"end", log_.end.value},
                      {"durable_seen", log_.durable_seen.value},
                      {"dropped_bytes", log_.dropped_bytes},
                      {"dropped_reason", log_.dropped_reason},
                      {"records", std::move(records)}};
    return {};
  }

  std::string text_of(const RecordView& record) const {
    if (record.kind != RecordKind::kCommand) return "rows that a statement changed";
    Arena arena;
    Call call;
    const Result<void> decoded = decode_call(*program_, record.payload, arena, call);
    return decoded.ok() ? print_call(*program_, call) : decoded.error().message;
  }

  Result<void> replay_serially_in_steps() {
    for (size_t number = 0; number < log_.records.size(); ++number) {
      const auto replayed = replay_serially(*database_, *program_,
                                            std::span<const RecordView>(log_.records).subspan(number, 1), {});
      if (!replayed) return replayed.error();
      steps_.push_back({{"kind", "replay"}, {"record", number}, {"changes", view_->changes()}});
    }
    return {};
  }

  ReplayOptions replay_options() const {
    ReplayOptions options;
    options.threads = request_.threads;
    options.batch_transactions = request_.batch;
    options.level = request_.level;
    // An explicit number would be taken at that level, too.
    options.lanes_per_block = request_.level == ReplayLevel::kStatic ? 1 : request_.lanes;
    return options;
  }
  AnalysisOptions analysis_options() const {
    return has_rows_ ? AnalysisOptions::for_ad_hoc() : AnalysisOptions();
  }

  Result<void> replay_in_lanes() {
    const DependencyGraph graph = analyze(*program_, analysis_options());
    ReplayOptions options = replay_options();
    const PieceDispatch dispatch(graph, database_->schema(), options);
    find_batches(dispatch);
    report_["graph"] = describe_graph(*program_, graph);
    Json lanes = Json::array();
    for (const ScheduledBlock& block : dispatch.blocks()) lanes.push_back(block.lane_count);
    report_["lane_counts"] = std::move(lanes);
    VirtualThreads threads(request_.threads, request_.seed,
                           {dispatch.blocks().begin(), dispatch.blocks().end()},
                           [this](const LaneEvent& event, uint32_t thread) { saw(event, thread); });
    threads_ = &threads;
    options.lane_threads = &threads;
    const auto replayed = replay_in_parallel(*database_, *program_, graph, log_.records, options);
    threads_ = nullptr;
    if (!replayed) return replayed.error();
    return {};
  }

  // As ParallelReplayer cuts the log into batches: a record that stands alone is in none.
  void find_batches(const PieceDispatch& dispatch) {
    const std::vector<size_t> alone =
        find_barriers(dispatch.changes(), database_->change_codec(), log_.records, 1);
    size_t next = 0;
    for (const size_t barrier : alone) {
      for (; next < barrier; next += std::min<size_t>(request_.batch, barrier - next))
        batches_.push_back(next);
      next = barrier + 1;
    }
    for (; next < log_.records.size(); next += request_.batch) batches_.push_back(next);
    Json barriers = Json::array();
    for (const size_t barrier : alone) barriers.push_back(barrier);
    report_["alone"] = std::move(barriers);
  }

  uint64_t record_of(uint64_t batch, const Piece& piece) const {
    return (batch < batches_.size() ? batches_[batch] : 0) + piece.transaction;
  }

  void saw(const LaneEvent& event, uint32_t thread) {
    using Kind = LaneEvent::Kind;
    Json step;
    switch (event.kind) {
      case Kind::kLoaded:
        step = {{"kind", "load"}, {"batch", event.batch}, {"first_record", record_of(event.batch, {})}};
        break;
      case Kind::kFilled:
        step = {{"kind", "fill"}, {"block", event.block}, {"batch", event.batch}, {"pieces", Json::array()}};
        for (const LanedPiece& piece : event.pieces) {
          step["pieces"].push_back(
              {{"record", record_of(event.batch, piece.piece)},
               {"part", part_of(piece.piece.part)},
               {"lanes", std::vector<uint32_t>(piece.lanes.begin(), piece.lanes.end())}});
        }
        break;
      case Kind::kPublished:
        return;
      case Kind::kArrived:
      case Kind::kRan:
        step = {{"kind", event.kind == Kind::kRan ? "run" : "arrive"},
                {"block", event.block},
                {"lane", event.lane},
                {"batch", event.batch},
                {"record", record_of(event.batch, event.piece)},
                {"part", part_of(event.piece.part)}};
        break;
      case Kind::kFinished:
        step = {{"kind", "finish"}, {"block", event.block}, {"batch", event.batch}};
        break;
      case Kind::kRetired:
        step = {{"kind", "retire"}, {"batch", event.batch}};
        break;
    }
    step["thread"] = thread;
    step["changes"] = view_->changes();
    step["waiting"] = threads_->waiting();
    steps_.push_back(std::move(step));
  }

  // What a program would call.
  Result<void> recover_at_once() {
    const Result<const RecoveryScheme*> scheme = recovery_scheme(request_.scheme);
    if (!scheme) return scheme.error();
    const DependencyGraph graph = analyze(*program_, analysis_options());
    RecoverOptions options;
    options.scheme = *scheme;
    options.replay = replay_options();
    options.analysis = analysis_options();
    options.keep_log = true;
    // One thread, which a browser has, loads the checkpoint and the log.
    options.replay.threads = 1;
    VirtualThreads threads(1, request_.seed, blocks_of(graph), [](const LaneEvent&, uint32_t) {});
    options.replay.lane_threads = &threads;
    const Result<RecoveredDatabase> recovered = recover(directory_, options);
    if (!recovered) return recovered.error();
    report_["recover_digest"] = digest_of(*recovered->database, 1).to_string();
    return {};
  }
  std::vector<ScheduledBlock> blocks_of(const DependencyGraph& graph) const {
    const PieceDispatch dispatch(graph, database_->schema(), replay_options());
    return {dispatch.blocks().begin(), dispatch.blocks().end()};
  }

  const RecoveryRequest& request_;
  const std::string directory_;
  Json report_;
  Json steps_ = Json::array();
  std::unique_ptr<Program> program_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<TableView> view_;
  LogContents log_;
  bool has_rows_ = false;
  std::vector<size_t> batches_;  // their first records
  VirtualThreads* threads_ = nullptr;
};

}  // namespace

Json describe_graph(const Program& program, const DependencyGraph& graph) {
  Json blocks = Json::array();
  for (const Block& block : graph.blocks) {
    Json tables = Json::array();
    Json lanes = Json::array();
    for (const TableId table : block.tables) tables.push_back(program.catalog.table(table).name);
    for (const LaneTable& table : block.lanes)
      lanes.push_back(render_lanes(program, graph, block, table.table));
    Json members = Json::array();
    for (const BlockMember& member : block.members) {
      const Slice& slice = graph.local(member.procedure).slices[member.slice.value];
      members.push_back({{"procedure", program.procedure(member.procedure).name},
                         {"slice", slice.label},
                         {"replayed", slice.is_replayed()}});
    }
    Json predecessors = Json::array();
    for (const BlockId predecessor : block.predecessors) predecessors.push_back(predecessor.value);
    blocks.push_back({{"name", block.name},
                      {"tables", std::move(tables)},
                      {"lanes", std::move(lanes)},
                      {"members", std::move(members)},
                      {"predecessors", std::move(predecessors)},
                      {"merges", block.merges}});
  }
  Json edges = Json::array();
  for (const BlockEdge& edge : graph.edges)
    edges.push_back({{"from", edge.from.value}, {"to", edge.to.value}, {"reasons", edge.reasons}});
  return {{"blocks", std::move(blocks)}, {"edges", std::move(edges)}};
}

Result<Json> run_recovery(const RecoveryRequest& request, const std::string& directory) {
  return Recovery(request, directory).run();
}

}  // namespace mneme::lab
