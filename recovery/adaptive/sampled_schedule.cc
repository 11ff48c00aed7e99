#include "recovery/adaptive/sampled_schedule.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "analyzer/dependency_graph.h"
#include "base/check.h"
#include "recovery/calls/piece_dispatch.h"

namespace mneme {
namespace {

// At a barrier all threads run empty, batch after batch, and start again: so long do they stand, in
// operations.
constexpr double kBarrierCost = 1000;
// To read one of a record's changed rows, in operations.
constexpr double kReadRowCost = 0.25;
constexpr double kMostLanesAThread = 4;  // as the planner has it
constexpr uint32_t kNoPiece = std::numeric_limits<uint32_t>::max();

ReplayOptions on_cores(uint32_t cores) {
  ReplayOptions options;
  options.threads = cores;
  return options;
}

bool recalls(ir::BodyView body) {
  return std::ranges::any_of(body.statements, [&](const ir::Statement& statement) {
    return (statement.operation.valid() && body.marks.of(statement).mode == ir::OperationMode::kRecall) ||
           recalls(body.inner(statement.body)) || recalls(body.inner(statement.else_body));
  });
}

}  // namespace

// One block's pieces, in commit order, with the lanes in which they stand.
class SampledSchedule::PlacedPieces final : public LaneFill {
 public:
  enum class Where : uint8_t { kLanes, kAnyLane, kAllLanes };
  struct Placed {
    uint32_t transaction = 0;
    Where where = Where::kLanes;
    uint32_t first_lane = 0;  // in lanes_
    uint32_t lane_count = 0;
    double cost = 0;
  };

  void clear(uint32_t lanes) {
    pieces_.clear();
    lanes_.clear();
    lane_count_ = lanes;
  }
  void place(uint32_t, uint32_t) override {}
  void append(Piece piece, std::span<const uint32_t> lanes) override {
    const auto first = static_cast<uint32_t>(lanes_.size());
    for (const uint32_t lane : lanes) {
      if (std::ranges::count(lanes_.begin() + first, lanes_.end(), lane) == 0) lanes_.push_back(lane);
    }
    pieces_.push_back(
        {piece.transaction, Where::kLanes, first, static_cast<uint32_t>(lanes_.size()) - first, 0});
  }
  void append_free(Piece piece) override { pieces_.push_back({piece.transaction, Where::kAnyLane, 0, 0, 0}); }
  void append_to_all(Piece piece) override {
    pieces_.push_back({piece.transaction, Where::kAllLanes, 0, 0, 0});
  }

  size_t size() const { return pieces_.size(); }
  const Placed& operator[](size_t number) const { return pieces_[number]; }
  std::span<const uint32_t> lanes_of(const Placed& piece) const {
    return std::span(lanes_).subspan(piece.first_lane, piece.lane_count);
  }
  uint32_t lane_count() const { return lane_count_; }

  // The pieces from `first` on share so much work. A piece of its own lane has to be located; one of several
  // makes them meet.
  void share_out(size_t first, double work) {
    const auto count = static_cast<double>(pieces_.size() - first);
    for (size_t p = first; p < pieces_.size(); ++p) {
      Placed& piece = pieces_[p];
      piece.cost = work / count;
      if (lane_count_ == 1) continue;
      const uint32_t lanes = piece.where == Where::kAllLanes ? lane_count_ : std::max(piece.lane_count, 1u);
      piece.cost += kLaneCost + kMeetingCost * (lanes - 1);
    }
  }

  double work() const {
    double work = 0;
    for (const Placed& piece : pieces_) work += piece.cost;
    return work;
  }
  // Returns how long these pieces take where nothing else is waited for.
  double path() const {
    std::vector<double> clocks(lane_count_, 0);
    double longest = 0;
    for (const Placed& piece : pieces_) {
      double begin = 0;
      const auto each_lane = [&](auto&& visit) {
        if (piece.where == Where::kAllLanes) std::ranges::for_each(clocks, visit);
        for (const uint32_t lane : lanes_of(piece)) visit(clocks[lane]);
      };
      each_lane([&](double& clock) { begin = std::max(begin, clock); });
      each_lane([&](double& clock) { clock = begin + piece.cost; });
      longest = std::max(longest, begin + piece.cost);
    }
    return longest;
  }

 private:
  std::vector<Placed> pieces_;
  std::vector<uint32_t> lanes_;
  uint32_t lane_count_ = 1;
};

double ScheduleEstimate::length(uint32_t cores) const {
  return std::max(path, work / cores);
}

class SampledSchedule::Changes {
 public:
  Result<void> load(const Program& program, const ChangeCodec& codec, std::span<const CallSample> samples) {
    std::vector<RecordView> records;
    places_.clear();
    for (const CallSample& sample : samples) {
      places_.push_back(sample.rows.empty() ? kNoPiece : static_cast<uint32_t>(records.size()));
      if (!sample.rows.empty()) records.push_back({sample.lsn, RecordKind::kLogical, sample.rows});
    }
    return batch_.load(program, codec, records);
  }
  std::span<const LoggedChange> of(size_t sample) const {
    return places_[sample] == kNoPiece ? std::span<const LoggedChange>() : batch_.changes(places_[sample]);
  }

 private:
  std::vector<uint32_t> places_;  // by sample
  LogBatch batch_;
};

// Replay of the program's calls by one analysis.
class SampledSchedule::Model {
 public:
  Model(const Program& program, const Schema& schema, const AnalysisOptions& analysis, uint32_t cores)
      : cores_(cores),
        graph_(analyze(program, analysis)),
        options_(on_cores(cores)),
        dispatch_(graph_, schema, options_),
        recorded_(graph_),
        recording_(recorded_, 1),
        locator_(schema, dispatch_, nullptr) {
    slices_.resize(dispatch_.blocks().size());
    for (uint32_t b = 0; b < slices_.size(); ++b) {
      for (const std::optional<SliceReplay>& slice : dispatch_.slices(b)) {
        OfSlice& of = slices_[b].emplace_back();
        if (!slice) continue;
        of.recalls_keys = recalls(slice->slice->locate_body);
        for (const OperationId operation : slice->slice->replayed) {
          const ir::Operation& what = slice->local->replay.operations[operation.value];
          if (what.kind != ir::OperationKind::kSelect) of.written.push_back(what.access[0].table);
        }
      }
    }
  }

  // Adds path and work.
  void estimate(const LogBatch& batch, std::span<const CallSample> samples, const Changes& changes,
                ScheduleEstimate& sum) {
    batch_ = &batch;
    changes_ = &changes;
    barriers_.clear();
    for (uint32_t t = 0; t < batch.size(); ++t) {
      if (batch.is_ad_hoc(t)) {
        sum.work += kDecodeCost + kReadRowCost * static_cast<double>(batch.changes(t).size());
        barriers_.push_back(std::ranges::any_of(batch.changes(t), [&](const LoggedChange& change) {
          return dispatch_.changes().is_barrier(change);
        }));
      } else {
        sum.work += kDecodeCost;
        barriers_.push_back(false);
      }
    }
    place_all(sum.work);
    for (const PlacedPieces& pieces : blocks_) sum.work += pieces.work();
    run(samples, sum);
  }

 private:
  struct OfSlice {
    bool recalls_keys = false;
    std::vector<TableId> written;
  };
  // A piece as it was run.
  struct Run {
    double end = 0;
    double cost = 0;
    uint32_t before = kNoPiece;  // the one that it waited for
    ProcedureId procedure;
  };
  struct Clock {
    double at = 0;
    uint32_t piece = kNoPiece;

    void wait_for(const Clock& other) {
      if (other.at > at) *this = other;
    }
  };

  // One lane for each block, but for those whose work is more than one thread's.
  void place_all(double decoding) {
    blocks_.resize(dispatch_.blocks().size());
    double all = decoding;
    for (uint32_t b = 0; b < blocks_.size(); ++b) {
      place(b, {}, blocks_[b]);
      all += blocks_[b].work();
    }
    for (uint32_t b = 0; b < blocks_.size(); ++b) {
      const double alone = blocks_[b].work();
      const double threads_worth = alone / all * cores_;
      if (threads_worth <= 1) continue;
      const auto wanted = std::bit_ceil(std::min(
          kMostLanes,
          static_cast<uint32_t>(std::ceil(kMostLanesAThread * std::min<double>(threads_worth, 64)))));
      double best = std::max(blocks_[b].path(), all / cores_);
      for (uint32_t map = 0; map < dispatch_.map_count(b); ++map) {
        for (const uint32_t lanes : {wanted, wanted / 4}) {
          if (lanes < 2) continue;
          place(b, {.map = map, .lanes = lanes}, tried_);
          const double length = std::max(tried_.path(), (all - alone + tried_.work()) / cores_);
          if (length >= best) continue;
          best = length;
          std::swap(tried_, blocks_[b]);
        }
      }
    }
  }

  void place(uint32_t block, const LanePlacement& placement, PlacedPieces& pieces) {
    pieces.clear(placement.lanes);
    if (placement.lanes > 1) reset_recording();
    locator_.begin(block, placement);
    for (uint32_t t = 0; t < batch_->size(); ++t) {
      const size_t first = pieces.size();
      if (batch_->is_ad_hoc(t)) {
        if (barriers_[t]) continue;
        locator_.dispatch(batch_->changes(t), t, pieces);
        pieces.share_out(first, static_cast<double>(pieces.size() - first));
        continue;
      }
      const ProcedureId procedure = batch_->call(t).procedure;
      const SliceReplay* slice = dispatch_.find(block, procedure);
      if (slice == nullptr) continue;
      const OfSlice& of = slices_[block][procedure.value];
      place_call(block, placement, t, *slice, of, pieces);
      const auto rows = std::ranges::count_if(changes_->of(t), [&](const LoggedChange& change) {
        return std::ranges::count(of.written, change.row.table) > 0;
      });
      pieces.share_out(first, std::max(slice->work, static_cast<double>(rows)));
    }
  }

  // To locate pieces makes room for what they would record.
  void reset_recording() {
    recording_.reset();
    for (uint32_t t = 0; t < batch_->size(); ++t) {
      if (batch_->is_ad_hoc(t))
        recording_.add_nothing();
      else
        recording_.add(batch_->call(t).procedure);
    }
  }

  void place_call(uint32_t block, const LanePlacement& placement, uint32_t t, const SliceReplay& slice,
                  const OfSlice& of, PlacedPieces& pieces) {
    const Piece whole{t, PiecePart::slice()};
    if (dispatch_.is_free(block)) return pieces.append_free(whole);
    if (placement.lanes == 1) return pieces.append(whole, std::array{0u});
    if (!of.recalls_keys) {
      const Outcome outcome =
          locator_.dispatch(slice, batch_->call(t), t, recording_, ReplayThreadId{0}, pieces);
      if (outcome.completed()) return;
    } else if (is_wide(block, placement, slice)) {
      return pieces.append_to_all(whole);
    }
    place_by_rows(placement, t, slice, of, pieces);
  }

  bool is_wide(uint32_t block, const LanePlacement& placement, const SliceReplay& slice) const {
    return std::ranges::any_of(slice.lanes, [&](const std::vector<AccessLanes>& accesses) {
      return std::ranges::any_of(accesses, [&](const AccessLanes& access) {
        if (access.table == nullptr || access.ways.empty()) return false;
        const auto lanes = dispatch_.row_lanes(block, placement, access.table->table);
        return lanes && access.ways[lanes->way].is_wide;
      });
    });
  }

  void place_by_rows(const LanePlacement& placement, uint32_t t, const SliceReplay& slice, const OfSlice& of,
                     PlacedPieces& pieces) {
    written_.clear();
    for (const LoggedChange& change : changes_->of(t)) {
      if (std::ranges::count(of.written, change.row.table) > 0) written_.push_back(change);
    }
    of_rows_.clear(placement.lanes);
    locator_.dispatch(written_, t, of_rows_);
    lanes_.clear();
    for (size_t p = 0; p < of_rows_.size(); ++p) {
      for (const uint32_t lane : of_rows_.lanes_of(of_rows_[p])) {
        if (std::ranges::count(lanes_, lane) == 0) lanes_.push_back(lane);
      }
    }
    const Piece whole{t, PiecePart::slice()};
    if (lanes_.empty()) lanes_.push_back(static_cast<uint32_t>(t * 0x9e3779b1u >> 8) % placement.lanes);
    if (!slice.by_iteration && slice.parts.empty()) return pieces.append(whole, lanes_);
    for (const uint32_t lane : lanes_) pieces.append(whole, std::array{lane});
  }

  // Runs all pieces on as many threads as they want.
  void run(std::span<const CallSample> samples, ScheduleEstimate& sum) {
    runs_.clear();
    std::vector<std::vector<Clock>> lanes;
    for (const PlacedPieces& pieces : blocks_) lanes.emplace_back(pieces.lane_count());
    std::vector<size_t> next(blocks_.size(), 0);
    std::vector<Clock> ends(blocks_.size());  // of the transaction's pieces
    Clock floor;
    Clock last;
    for (uint32_t t = 0; t < barriers_.size(); ++t) {
      const ProcedureId procedure = samples[t].procedure;
      if (barriers_[t]) {
        const double cost = kBarrierCost + static_cast<double>(batch_->changes(t).size());
        ++sum.barriers;
        sum.work += cost;
        floor = last = note(last, cost, procedure);
        continue;
      }
      for (uint32_t b = 0; b < blocks_.size(); ++b) {
        const PlacedPieces& pieces = blocks_[b];
        Clock begin = floor;
        for (const uint32_t predecessor : dispatch_.blocks()[b].predecessors)
          begin.wait_for(ends[predecessor]);
        ends[b] = begin;
        for (size_t& p = next[b]; p < pieces.size() && pieces[p].transaction == t; ++p) {
          const Clock end = run(pieces, pieces[p], begin, procedure, lanes[b]);
          ends[b].wait_for(end);
          last.wait_for(end);
        }
      }
    }
    sum.path = last.at;
    for (uint32_t p = last.piece; p != kNoPiece; p = runs_[p].before)
      sum.on_path[runs_[p].procedure.value] += runs_[p].cost;
  }

  Clock run(const PlacedPieces& pieces, const PlacedPieces::Placed& piece, Clock begin, ProcedureId procedure,
            std::vector<Clock>& lanes) {
    if (piece.where == PlacedPieces::Where::kAllLanes) {
      for (const Clock& lane : lanes) begin.wait_for(lane);
    }
    for (const uint32_t lane : pieces.lanes_of(piece)) begin.wait_for(lanes[lane]);
    const Clock end = note(begin, piece.cost, procedure);
    if (piece.where == PlacedPieces::Where::kAllLanes) std::ranges::fill(lanes, end);
    for (const uint32_t lane : pieces.lanes_of(piece)) lanes[lane] = end;
    return end;
  }

  Clock note(const Clock& begin, double cost, ProcedureId procedure) {
    runs_.push_back({begin.at + cost, cost, begin.piece, procedure});
    return {begin.at + cost, static_cast<uint32_t>(runs_.size() - 1)};
  }

  const uint32_t cores_;
  const DependencyGraph graph_;
  const ReplayOptions options_;
  const PieceDispatch dispatch_;
  const RecordedOperations recorded_;
  BatchRecording recording_;
  PieceLocator locator_;
  std::vector<std::vector<OfSlice>> slices_;  // by block and procedure

  // These belong to the estimate that is being made.
  const LogBatch* batch_ = nullptr;
  const Changes* changes_ = nullptr;
  std::vector<bool> barriers_;        // by transaction
  std::vector<PlacedPieces> blocks_;  // by block
  PlacedPieces tried_;
  PlacedPieces of_rows_;
  std::vector<LoggedChange> written_;
  std::vector<uint32_t> lanes_;
  std::vector<Run> runs_;
};

SampledSchedule::SampledSchedule(const Program& program, const Schema& schema, uint32_t cores)
    : program_(program),
      schema_(schema),
      codec_(schema),
      cores_(cores),
      changes_(std::make_unique<Changes>()) {
  CHECK(cores > 0);
}

SampledSchedule::~SampledSchedule() = default;

Result<void> SampledSchedule::load(std::span<const CallSample> samples) {
  samples_ = samples;
  return changes_->load(program_, codec_, samples);
}

ScheduleEstimate SampledSchedule::estimate(const std::vector<bool>& by_rows, bool log_has_rows) {
  ScheduleEstimate sum;
  sum.on_path.assign(program_.procedures.size(), 0);
  std::vector<RecordView> records;
  bool has_rows = log_has_rows;
  for (const CallSample& sample : samples_) {
    const bool is_by_rows = sample.call.empty() || (by_rows[sample.procedure.value] && !sample.rows.empty());
    const ByteSpan payload = is_by_rows ? sample.rows : sample.call;
    records.push_back({sample.lsn, is_by_rows ? RecordKind::kLogical : RecordKind::kCommand, payload});
    sum.log_bytes += kRecordHeaderBytes + payload.size();
    has_rows |= is_by_rows;
  }
  LogBatch batch;
  // They have been decoded as rows, and encoded as calls by this very program.
  if (const Result<void> loaded = batch.load(program_, codec_, records); !loaded) return sum;
  std::unique_ptr<Model>& model = models_[has_rows ? 1 : 0];
  if (model == nullptr) {
    model = std::make_unique<Model>(program_, schema_,
                                    has_rows ? AnalysisOptions::for_ad_hoc() : AnalysisOptions(), cores_);
  }
  model->estimate(batch, samples_, *changes_, sum);
  return sum;
}

}  // namespace mneme
