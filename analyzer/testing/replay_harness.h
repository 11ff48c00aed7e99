// Replay harness: for tests, whole procedures on one set of rows and their slices on another.
//
// Calls run whole, one after another, on a plain map. What committed is then replayed on a second map as
// CLR-P would, on one thread and in random order as far as the graph leaves one open: blocks predecessors
// first, and within a block any piece that shares no lane with an earlier one that has not run. Lanes are as
// fine as can be, one a lane key; for each block and batch a random one of each table's lane ways is taken.
// Checked on the way   a piece touches tables of its block only, and rows whose lane it has reported; a
//                      recall finds what was recorded.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/dependency_graph.h"
#include "analyzer/testing/test_programs.h"
#include "engine/schema/schema.h"
#include "procedures/binder/program.h"
#include "procedures/interpreter/call.h"
#include "procedures/interpreter/interpreter.h"
#include "procedures/testing/map_access.h"
#include "procedures/times/interval.h"
#include "procedures/values/value_text.h"

namespace mneme {

// A lane: a table and the text of its lane key.
using Lane = std::pair<TableId, std::string>;

// By table, for the tables that have lanes: the number of the way (LaneTable::way).
using ChosenWays = std::map<TableId, size_t>;

inline std::string lane_key(const TableDefinition& table, const std::vector<ColumnId>& columns,
                            std::span<const Value> key) {
  fmt::memory_buffer text;
  for (size_t i = 0; i < key.size(); ++i) {
    if (key[i].is_null()) {
      text.append(std::string_view("NULL"));
    } else {
      print_value(table.column(columns[i]).type, key[i], text);
    }
    text.push_back('|');
  }
  return std::string(text.data(), text.size());
}

class MapRecording final : public Recording {
 public:
  explicit MapRecording(const ir::Procedure& procedure) : procedure_(procedure) {}

  void record(OperationId operation, uint32_t iteration, uint32_t rows,
              std::span<const Value> values) override {
    Execution& execution = executions_[{operation, iteration}].emplace_back();
    execution.rows = rows;
    const std::vector<ir::Output>& outputs = procedure_.operations[operation.value].outputs;
    for (size_t i = 0; i < values.size(); ++i) {
      const bool is_text = outputs[i % outputs.size()].expr.type.is_string() && !values[i].is_null();
      execution.values.push_back(is_text ? Value::of_text(texts_.emplace_back(values[i].as_text()))
                                         : values[i]);
    }
  }

  Recorded recall(OperationId operation, uint32_t iteration, uint32_t execution) override {
    const std::optional<Recorded> found = find(operation, iteration, execution);
    CHECK(found.has_value());
    return *found;
  }
  std::optional<Recorded> find(OperationId operation, uint32_t iteration, uint32_t execution) override {
    const auto found = executions_.find({operation, iteration});
    if (found == executions_.end() || execution >= found->second.size()) return std::nullopt;
    return Recorded{found->second[execution].rows, found->second[execution].values};
  }

 private:
  struct Execution {
    uint32_t rows;
    std::vector<Value> values;
  };
  const ir::Procedure& procedure_;
  std::map<std::pair<OperationId, uint32_t>, std::deque<Execution>> executions_;
  std::deque<std::string> texts_;
};

// Where a piece stands.
struct PieceLanes {
  std::set<Lane> lanes;
  bool is_wide = false;  // in all of the block's lanes

  bool meets(const PieceLanes& other) const {
    return is_wide || other.is_wide ||
           std::ranges::any_of(lanes, [&](const Lane& lane) { return other.lanes.contains(lane); });
  }
};

// Passes on what a piece of the block does to rows, if it keeps to its lanes.
class CheckedAccess final : public RowAccess {
 public:
  CheckedAccess(const Schema& schema, const Block& block, const ChosenWays& ways, const PieceLanes& lanes,
                RowAccess& rows)
      : schema_(schema), block_(block), ways_(ways), lanes_(lanes), rows_(rows) {}

  AccessStatus find_parts(IndexId index, const IndexKey& key, ImageParts, Purpose, RowRef& row) override {
    const AccessStatus status = rows_.find(index, key, row);
    check_table(schema_.catalog().index(index).table);
    if (status == AccessStatus::kOk) check_row(schema_.catalog().index(index).table, row.image);
    return status;
  }

  AccessStatus scan_parts(IndexId index, const KeyRange& range, Direction direction, ImageParts, Purpose,
                          FunctionRef<bool(const RowRef&)> visit) override {
    const TableId table = schema_.catalog().index(index).table;
    check_table(table);
    auto check_and_visit = [&](const RowRef& row) {
      check_row(table, row.image);
      return visit(row);
    };
    return rows_.scan(index, range, direction, check_and_visit);
  }

  AccessStatus insert(TableId table, std::span<const Value> values) override {
    check_write(table);
    const LaneTable* lanes = block_.lane_table(table);
    if (lanes != nullptr && !lanes->any_lane) {
      std::vector<Value> key;
      for (ColumnId column : lanes->way(ways_.at(table))) key.push_back(values[column.value]);
      check_lane(*lanes, key);
    }
    return rows_.insert(table, values);
  }

  std::byte* new_image(TableId table) override { return rows_.new_image(table); }
  AccessStatus insert_image(TableId table, std::byte* image) override {
    check_write(table);
    check_row(table, image);
    return rows_.insert_image(table, image);
  }

  AccessStatus change_parts(TableId table, RowRef& row, ImageParts changed, std::byte*& image) override {
    check_write(table);
    check_row(table, row.image);
    return rows_.change_parts(table, row, changed, image);
  }

  AccessStatus update(TableId table, RowRef& row, std::span<const ColumnValue> changes) override {
    check_write(table);
    check_row(table, row.image);
    const AccessStatus status = rows_.update(table, row, changes);
    if (status == AccessStatus::kOk) check_row(table, row.image);
    return status;
  }

  AccessStatus erase(TableId table, RowRef& row) override {
    check_write(table);
    check_row(table, row.image);
    return rows_.erase(table, row);
  }

 private:
  void check_table(TableId table) { EXPECT_TRUE(std::ranges::binary_search(block_.tables, table)); }

  void check_write(TableId table) {
    check_table(table);
    EXPECT_NE(block_.lane_table(table), nullptr) << "a table is written that the block is said to read only";
  }

  void check_row(TableId table, const std::byte* image) {
    const LaneTable* lanes = block_.lane_table(table);
    if (lanes == nullptr || lanes->any_lane) return;
    std::vector<Value> key;
    for (ColumnId column : lanes->way(ways_.at(table)))
      key.push_back(schema_.layout(table).get(image, column));
    check_lane(*lanes, key);
  }

  void check_lane(const LaneTable& lanes, std::span<const Value> key) {
    const TableDefinition& table = schema_.catalog().table(lanes.table);
    const Lane lane(lanes.table, lane_key(table, lanes.way(ways_.at(lanes.table)), key));
    EXPECT_TRUE(lanes_.is_wide || lanes_.lanes.contains(lane))
        << "a row of " << table.name << " in a lane that was not reported: " << lane.second;
  }

  const Schema& schema_;
  const Block& block_;
  const ChosenWays& ways_;
  const PieceLanes& lanes_;
  RowAccess& rows_;
};

class ReplayHarness {
 public:
  ReplayHarness(std::string_view sql, uint64_t seed, const AnalysisOptions& options = {})
      : random_(seed),
        program_(compile_or_die(sql)),
        schema_(program_->catalog),
        graph_(analyze(*program_, options)),
        whole_(schema_),
        sliced_(schema_),
        interpreter_(schema_) {}

  // Gives every table up to `rows` random rows, alike on both sides.
  void populate(uint32_t rows) {
    for (const TableDefinition& table : program_->catalog.tables()) {
      for (uint32_t i = 0; i < rows; ++i) {
        std::vector<Value> values;
        for (const Column& column : table.columns) {
          const bool null = column.nullable && below(4) == 0;
          values.push_back(null ? Value::null() : random_value(column.type));
        }
        const AccessStatus status = whole_.insert(table.id, values);
        ASSERT_EQ(sliced_.insert(table.id, values), status);
      }
    }
    whole_.commit();
    sliced_.commit();
  }

  // Runs random calls whole, replays those that committed, and compares all tables.
  void run_batch(uint32_t calls) {
    std::vector<Logged> batch;
    for (uint32_t i = 0; i < calls; ++i) {
      const ir::Procedure& procedure = program_->procedures[below(program_->procedures.size())];
      if (procedure.is_logged_by_rows()) continue;
      const LocalGraph& local = graph_.local(procedure.id);
      Logged logged{&local, random_arguments(procedure), std::make_unique<MapRecording>(local.replay)};
      if (!interpreter_.run(RunRequest::of(procedure, logged.arguments, whole_)).completed()) {
        whole_.roll_back();
        continue;
      }
      whole_.commit();
      if (!procedure.writes) continue;
      ++replayed_calls_;
      batch.push_back(std::move(logged));
    }
    for (BlockId block : random_block_order()) replay_block(graph_.block(block), batch);
    sliced_.commit();
    for (const TableDefinition& table : program_->catalog.tables()) {
      ASSERT_EQ(sliced_.dump(table.id), whole_.dump(table.id)) << table.name;
    }
  }

  uint64_t replayed_calls() const { return replayed_calls_; }
  uint64_t replayed_pieces() const { return replayed_pieces_; }
  uint64_t wide_pieces() const { return wide_pieces_; }
  uint64_t split_slices() const { return split_slices_; }
  const Program& program() const { return *program_; }
  const DependencyGraph& graph() const { return graph_; }

 private:
  struct Logged {
    const LocalGraph* local;
    std::vector<Argument> arguments;
    std::unique_ptr<MapRecording> recording;
  };

  struct Piece {
    const Slice* slice;
    Logged* call;
    std::optional<uint32_t> iteration;  // all of the slice, or of its part, if absent
    std::optional<size_t> part;
    PieceLanes lanes;
  };

  class LaneCollector final : public LocateSink {
   public:
    LaneCollector(const Catalog& catalog, const Block& block, const ChosenWays& ways, const Slice& slice)
        : catalog_(catalog), block_(block), ways_(ways), slice_(slice) {}

    void locate(OperationId operation, uint32_t access, uint32_t iteration,
                std::span<const Value> key) override {
      const auto located = std::ranges::find_if(slice_.located, [&](const LocatedAccess& l) {
        return l.operation == operation && l.access == access;
      });
      ASSERT_NE(located, slice_.located.end());
      ASSERT_EQ(key.size(), located->columns.size());
      const LaneTable* lanes = block_.lane_table(located->table);
      ASSERT_NE(lanes, nullptr);
      const size_t way = ways_.at(located->table);
      PieceLanes& piece = slice_.parts.empty() ? by_iteration[iteration] : by_part[part_of(operation)];
      piece.is_wide |= located->is_wide[way];
      is_wide |= located->is_wide[way];
      if (located->is_wide[way]) return;
      std::vector<Value> values;
      for (const ColumnId column : lanes->way(way)) {
        const auto at = std::ranges::find(located->columns, column);
        ASSERT_NE(at, located->columns.end());
        values.push_back(key[static_cast<size_t>(at - located->columns.begin())]);
      }
      piece.lanes.emplace(located->table, lane_key(catalog_.table(located->table), lanes->way(way), values));
    }

    std::map<uint32_t, PieceLanes> by_iteration;
    std::map<size_t, PieceLanes> by_part;
    bool is_wide = false;

   private:
    size_t part_of(OperationId operation) const {
      const auto found = std::ranges::find_if(slice_.parts, [&](const SlicePart& part) {
        return std::ranges::binary_search(part.replayed, operation);
      });
      return static_cast<size_t>(found - slice_.parts.begin());
    }

    const Catalog& catalog_;
    const Block& block_;
    const ChosenWays& ways_;
    const Slice& slice_;
  };

  std::vector<BlockId> random_block_order() {
    std::vector<BlockId> order;
    std::vector<BlockId> waiting;
    for (const Block& block : graph_.blocks) waiting.push_back(block.id);
    while (!waiting.empty()) {
      const size_t pick = below(waiting.size());
      const std::vector<BlockId>& before = graph_.block(waiting[pick]).predecessors;
      const bool ready =
          std::ranges::all_of(before, [&](BlockId id) { return std::ranges::count(order, id) > 0; });
      if (!ready) continue;
      order.push_back(waiting[pick]);
      waiting.erase(waiting.begin() + static_cast<ptrdiff_t>(pick));
    }
    return order;
  }

  void replay_block(const Block& block, std::vector<Logged>& batch) {
    ChosenWays ways;
    for (const LaneTable& lanes : block.lanes) ways[lanes.table] = below(lanes.ways());
    std::vector<Piece> waiting;
    for (Logged& call : batch) {
      for (const Slice& slice : call.local->slices) {
        if (slice.block == block.id && slice.is_replayed()) add_pieces(block, ways, slice, call, waiting);
      }
    }
    while (!waiting.empty()) {
      const size_t pick = below(waiting.size());
      const bool ready =
          std::none_of(waiting.begin(), waiting.begin() + static_cast<ptrdiff_t>(pick),
                       [&](const Piece& earlier) { return earlier.lanes.meets(waiting[pick].lanes); });
      if (!ready) continue;
      run_piece(block, ways, waiting[pick]);
      waiting.erase(waiting.begin() + static_cast<ptrdiff_t>(pick));
    }
  }

  void add_pieces(const Block& block, const ChosenWays& ways, const Slice& slice, Logged& call,
                  std::vector<Piece>& pieces) {
    LaneCollector collector(program_->catalog, block, ways, slice);
    RunRequest request;
    request.procedure = &call.local->replay;
    request.body = slice.locate_body;
    request.arguments = call.arguments;
    request.recording = call.recording.get();
    request.locate = &collector;
    EXPECT_TRUE(interpreter_.run(request).completed()) << slice.label << " could not be located";
    wide_pieces_ += collector.is_wide;
    if (slice.iterations_independent && !collector.is_wide) {
      for (auto& [iteration, lanes] : collector.by_iteration)
        pieces.push_back({&slice, &call, iteration, std::nullopt, lanes});
      return;
    }
    for (size_t part = 0; part < slice.parts.size() && !collector.is_wide; ++part)
      pieces.push_back({&slice, &call, std::nullopt, part, collector.by_part[part]});
    split_slices_ += !slice.parts.empty() && !collector.is_wide;
    if (!slice.parts.empty() && !collector.is_wide) return;
    Piece& piece = pieces.emplace_back(Piece{&slice, &call, std::nullopt, std::nullopt, {}});
    for (auto& [iteration, of] : collector.by_iteration)
      piece.lanes.lanes.insert(of.lanes.begin(), of.lanes.end());
    piece.lanes.is_wide = collector.is_wide;
  }

  void run_piece(const Block& block, const ChosenWays& ways, const Piece& piece) {
    ++replayed_pieces_;
    CheckedAccess rows(schema_, block, ways, piece.lanes, sliced_);
    RunRequest request;
    request.procedure = &piece.call->local->replay;
    request.body = piece.part ? piece.slice->parts[*piece.part].body : piece.slice->body;
    request.arguments = piece.call->arguments;
    request.rows = &rows;
    request.recording = piece.call->recording.get();
    request.only_iteration = piece.iteration;
    const Outcome outcome = interpreter_.run(request);
    EXPECT_TRUE(outcome.completed()) << piece.slice->label << ": " << outcome.message << " at line "
                                     << outcome.where.line;
  }

  std::vector<Argument> random_arguments(const ir::Procedure& procedure) {
    std::vector<Argument> arguments;
    for (const ir::Parameter& parameter : procedure.parameters) {
      const Type& type = procedure.variables[parameter.variable.value].type;
      if (below(12) == 0) {
        arguments.emplace_back();
      } else if (type.is_array) {
        std::vector<Value>& values = arrays_.emplace_back();
        for (uint64_t count = below(5); count > 0; --count) values.push_back(random_value(type.element()));
        arguments.push_back(Argument::of_array(values));
      } else {
        arguments.push_back(Argument::of(random_value(type)));
      }
    }
    if (procedure.call_time.valid())
      arguments.push_back(Argument::of(Value::of_int(static_cast<int64_t>(below(1000)))));
    return arguments;
  }

  // Few different values, so that calls meet.
  Value random_value(const Type& type) {
    static constexpr std::string_view kTexts[] = {"a", "b", "BC"};
    switch (type.kind) {
      case TypeKind::kBoolean:
        return Value::of_bool(below(2) == 0);
      case TypeKind::kNumeric: {
        // Often small, sometimes large enough to pass a threshold such as the bank's 10,000.
        const uint8_t digits = std::min<uint8_t>(type.precision, below(3) == 0 ? 8 : 3);
        int64_t bound = 1;
        for (uint8_t i = 0; i < digits; ++i) bound *= 10;
        return Value::of_numeric(static_cast<int128>(below(static_cast<uint64_t>(bound))));
      }
      case TypeKind::kDecimal: {
        // 1.5 equals 1.50, so equal ones differ in bits.
        const bool is_longer = below(2) == 0;
        const auto number = static_cast<int128>(below(30));
        return Value::of_decimal(is_longer ? number * 10 : number, is_longer ? 2 : 1);
      }
      case TypeKind::kInterval: {
        // A month equals 30 days, so equal ones differ in bits.
        const auto months = static_cast<int32_t>(below(2));
        return value_of(Interval{months, months == 0 ? 30 : 0, static_cast<int64_t>(below(2))});
      }
      case TypeKind::kReal:
      case TypeKind::kDouble:
        return Value::of_double(static_cast<double>(below(8)) / 2);
      case TypeKind::kChar:
      case TypeKind::kVarchar: {
        const std::string_view text = kTexts[below(std::size(kTexts))];
        return Value::of_text(type.length == 0 ? text : text.substr(0, type.length));
      }
      default:
        return Value::of_int(static_cast<int64_t>(1 + below(4)));
    }
  }

  std::mt19937_64 random_;
  const std::unique_ptr<Program> program_;
  const Schema schema_;
  const DependencyGraph graph_;
  MapAccess whole_;
  MapAccess sliced_;
  Interpreter interpreter_;
  std::deque<std::vector<Value>> arrays_;  // that arguments point to
  uint64_t replayed_calls_ = 0;
  uint64_t replayed_pieces_ = 0;
  uint64_t wide_pieces_ = 0;
  uint64_t split_slices_ = 0;

  uint64_t below(uint64_t bound) { return std::uniform_int_distribution<uint64_t>(0, bound - 1)(random_); }
};

}  // namespace mneme
