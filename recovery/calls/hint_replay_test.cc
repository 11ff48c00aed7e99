// Goal: hints let pieces replay in parallel whose keys nothing else says, and no hint, right or wrong, makes
// a wrong state. Method: procedures that follow pointers of one table, so that each finds its keys in rows
// that others change, run random calls; the log that they leave, with hints and without, is replayed by CLR
// and by CLR-P, with several numbers of threads, lanes and calls a batch, interpreted and by machine code,
// and digests are compared. Hints are then forged, in each of a record's keys: replay has to stop at that
// record, or to end where it should. Machine code has to note what the interpreter notes.
#include <map>
#include <set>
#include <utility>

#include "analyzer/hints/told_procedures.h"
#include "base/testing/test_refusal.h"
#include "procedures/session/session.h"
#include "recovery/calls/piece_dispatch.h"
#include "recovery/calls/slice_units.h"
#include "recovery/testing/replay_fixture.h"

namespace mneme {
namespace {

constexpr std::string_view kNodesSql = R"(
CREATE TABLE node (id INT NOT NULL, next INT NOT NULL, weight INT NOT NULL, PRIMARY KEY (id));
CREATE TABLE alias (label VARCHAR(8) NOT NULL, target VARCHAR(8) NOT NULL, hits BIGINT NOT NULL,
                    PRIMARY KEY (label));
CREATE TABLE cell (x INT NOT NULL, y INT NOT NULL, right_x INT NOT NULL, v INT NOT NULL, PRIMARY KEY (x, y));

CREATE PROCEDURE add_node(p_id INT, p_next INT) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO node (id, next, weight) VALUES (p_id, p_next, 1);
END; $$;

CREATE PROCEDURE step(p_id INT, p_next INT) LANGUAGE plpgsql AS $$
DECLARE
    v INT;
BEGIN
    SELECT next INTO v FROM node WHERE id = p_id;
    UPDATE node SET next = p_next, weight = weight * 3 % 1009 WHERE id = v;
END; $$;

CREATE PROCEDURE walk(p_id INT, p_steps INT) LANGUAGE plpgsql AS $$
DECLARE
    v_at INT := p_id;
    v    INT;
BEGIN
    FOR i IN 1 .. p_steps LOOP
        SELECT next INTO v FROM node WHERE id = v_at;
        IF NOT FOUND THEN
            EXIT;
        END IF;
        UPDATE node SET weight = (weight * 5 + i) % 1009 WHERE id = v;
        v_at := v;
    END LOOP;
END; $$;

CREATE PROCEDURE drop_next(p_id INT) LANGUAGE plpgsql AS $$
DECLARE
    v INT;
BEGIN
    SELECT next INTO v FROM node WHERE id = p_id;
    IF v <> p_id THEN
        DELETE FROM node WHERE id = v;
    END IF;
END; $$;

CREATE PROCEDURE grow(p_id INT, p_next INT) LANGUAGE plpgsql AS $$
DECLARE
    v INT;
BEGIN
    SELECT next INTO v FROM node WHERE id = p_id;
    IF FOUND THEN
        INSERT INTO node (id, next, weight) VALUES (v, p_next, 2);
    END IF;
END; $$;

CREATE PROCEDURE add_alias(p_label VARCHAR(8), p_target VARCHAR(8)) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO alias (label, target, hits) VALUES (p_label, p_target, 1);
END; $$;

CREATE PROCEDURE follow(p_label VARCHAR(8), p_target VARCHAR(8)) LANGUAGE plpgsql AS $$
DECLARE
    v VARCHAR(8);
BEGIN
    SELECT target INTO v FROM alias WHERE label = p_label;
    UPDATE alias SET hits = hits * 7 % 1013, target = p_target WHERE label = v;
END; $$;

CREATE PROCEDURE add_cell(p_x INT, p_y INT, p_right INT) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO cell (x, y, right_x, v) VALUES (p_x, p_y, p_right, 1);
END; $$;

CREATE PROCEDURE hop(p_x INT, p_y INT, p_right INT) LANGUAGE plpgsql AS $$
DECLARE
    v_x INT;
    v_y INT;
BEGIN
    SELECT right_x, v % 8 INTO v_x, v_y FROM cell WHERE x = p_x AND y = p_y;
    UPDATE cell SET right_x = p_right, v = v * 3 % 1009 WHERE x = v_x AND y = v_y;
    UPDATE cell SET v = v + 1 WHERE x = p_x AND y = p_y;
END; $$;
)";

constexpr uint32_t kHintedCalls = 3000;
constexpr uint32_t kNodes = 8;

// The machine code of the nodes' slices, which every replay of their logs can run.
std::span<const NativeFunctions> native_slices() {
  static const ReplayFixture fixture(kNodesSql);
  static const CompiledUnits code = machine_code_of(fixture.program(), SliceUnits(fixture.graph()).units());
  return code.functions();
}

// A log of hinted calls, and what it leads to.
struct HintedLog {
  explicit HintedLog(bool hints = true) : fixture(kNodesSql, kNodes, PageSize::kSmall) {
    fixture.use_hints(hints);
    forward = fixture.run_forward(kHintedCalls, 11, {.content = RecordContent::kCommand});
  }

  ReplayFixture fixture;
  Digest forward;
};

TEST(HintReplay, EndsWhereTheTransactionsEnded) {
  for (const bool hints : {true, false}) {
    HintedLog log(hints);
    EXPECT_GT(log.fixture.records().size(), kHintedCalls / 4);
    EXPECT_EQ(log.fixture.hinted() > kHintedCalls / 8, hints) << log.fixture.hinted();
    EXPECT_EQ(log.fixture.replay_serially(), log.forward);
    for (const uint32_t threads : {1, 2, 4}) {
      for (const uint32_t lanes : {1, 8, 64}) {
        for (const uint32_t batch : {7, 1000}) {
          for (const bool is_native : {false, true}) {
            ReplayOptions options;
            options.threads = threads;
            options.lanes_per_block = lanes;
            options.batch_transactions = batch;
            if (is_native) options.native = native_slices();
            EXPECT_EQ(log.fixture.replay_in_parallel(options), log.forward)
                << hints << " hints, " << threads << " threads, " << lanes << " lanes, batches of " << batch
                << (is_native ? ", native" : "");
          }
        }
      }
    }
  }
}

AnalysisOptions not_decomposed() {
  AnalysisOptions analysis;
  analysis.decompose = Decomposition::kWhole;
  return analysis;
}

TEST(HintReplay, EveryAnalysisTakesTheHintsOfTheDefaultOne) {
  HintedLog log;
  AnalysisOptions apart;
  apart.coalesce = false;
  for (const AnalysisOptions& analysis :
       {AnalysisOptions::paper(), AnalysisOptions::for_ad_hoc(), not_decomposed(), apart}) {
    log.fixture.take_apart(analysis);
    ReplayOptions options;
    options.threads = 4;
    options.lanes_per_block = 8;
    EXPECT_EQ(log.fixture.replay_in_parallel(options), log.forward);
  }
}

// How a log's pieces stand in the lanes of a block.
struct Placed final : LaneFill {
  void place(uint32_t, uint32_t) override {}
  void append(Piece piece, std::span<const uint32_t> in) override {
    lanes[piece.transaction].insert(in.begin(), in.end());
  }
  void append_free(Piece) override {}
  void append_to_all(Piece) override { ++wide; }

  std::map<uint32_t, std::set<uint32_t>> lanes;  // by transaction
  uint64_t wide = 0;
};

// Locates a log's pieces, and holds those of `step` to the lanes of the two nodes that each touches. Returns
// how many pieces are in lanes of their own, and how many in all lanes.
std::pair<uint64_t, uint64_t> narrow_and_wide(ReplayFixture& fixture) {
  const Program& program = fixture.program();
  const Schema schema(program.catalog);
  const ChangeCodec codec(schema);
  ReplayOptions options;
  options.lanes_per_block = 8;
  const PieceDispatch dispatch(fixture.graph(), schema, options);
  LogBatch batch;
  EXPECT_TRUE(batch.load(program, codec, fixture.records()).ok());
  const RecordedOperations recorded(fixture.graph());
  BatchRecording recording(recorded, 1);
  recording.reset();
  for (uint32_t t = 0; t < batch.size(); ++t) recording.add(batch.procedure(t));
  PieceLocator locator(schema, dispatch, nullptr);
  const LanePlacement placement{.map = 0, .lanes = 8};
  const ProcedureId step = program.find_procedure("step")->id;
  std::pair<uint64_t, uint64_t> counts;
  for (uint32_t block = 0; block < fixture.graph().blocks.size(); ++block) {
    uint32_t failed = 0;
    Placed placed;
    const Outcome outcome =
        dispatch.fill(block, placement, batch, recording, locator, ReplayThreadId{0}, placed, failed);
    EXPECT_TRUE(outcome.completed());
    counts.first += placed.lanes.size();
    counts.second += placed.wide;
    const std::optional<RowLanes> nodes = dispatch.row_lanes(block, placement, TableId{0});
    for (uint32_t t = 0; nodes && t < batch.size(); ++t) {
      const Call& call = batch.call(t);
      if (call.procedure != step || call.hints.empty()) continue;
      std::set<uint32_t> expected = {dispatch.lane_of(*nodes, {&call.arguments[0].scalar, 1})};
      for (const Value& key : call.hints[0].keys) expected.insert(dispatch.lane_of(*nodes, {&key, 1}));
      EXPECT_EQ(placed.lanes[t], expected);
    }
  }
  return counts;
}

TEST(HintReplay, PiecesOfHintedCallsStandInTheirLanesAlone) {
  HintedLog with;
  HintedLog without(false);
  const auto [narrow, still_wide] = narrow_and_wide(with.fixture);
  EXPECT_EQ(still_wide, 0u);
  EXPECT_GT(narrow, kHintedCalls / 4);
  EXPECT_GT(narrow_and_wide(without.fixture).second, kHintedCalls / 8);
}

// The records, one of which is another.
class ForgedLog {
 public:
  ForgedLog(const Program& program, std::vector<RecordView> records) : program_(program), records_(records) {}

  // The record's call, to be forged and put back.
  Call call(size_t number) {
    Call call;
    EXPECT_TRUE(decode_call(program_, records_[number].payload, arena_, call).ok());
    return call;
  }
  std::vector<RecordView> with(size_t number, const Call& call) {
    payload_.clear();
    encode_call(program_, call, payload_);
    encode_hints(call.hints, payload_);
    std::vector<RecordView> records = records_;
    records[number].payload = payload_.span();
    return records;
  }
  Arena& arena() { return arena_; }

 private:
  const Program& program_;
  std::vector<RecordView> records_;
  Arena arena_;
  ByteBuffer payload_;
};

Result<ReplayStatistics> replay(const ReplayFixture& fixture, std::span<const RecordView> records,
                                std::span<const NativeFunctions> native, Database& database) {
  ReplayOptions options;
  options.threads = 2;
  options.lanes_per_block = 8;
  options.batch_transactions = 100;
  options.native = native;
  return replay_in_parallel(database, fixture.program(), fixture.graph(), records, options);
}

// Forges the hints of some of the log's records by `forge`, one at a time. Replay stops at the record with an
// error that names it, or, where the forged part is not needed, ends where the transactions ended.
void expect_stops(const std::function<void(CallHint&, Arena&)>& forge) {
  HintedLog log;
  const std::vector<RecordView> records = log.fixture.records();
  uint64_t stopped = 0;
  for (size_t number = 100; number < records.size() && stopped < 24; number += 13) {
    ForgedLog forged(log.fixture.program(), records);
    Call call = forged.call(number);
    if (call.hints.empty() || call.hints[0].keys.empty()) continue;
    const std::span<CallHint> hints = forged.arena().make_array<CallHint>(call.hints.size());
    std::ranges::copy(call.hints, hints.begin());
    for (CallHint& hint : hints) forge(hint, forged.arena());
    call.hints = hints;
    for (const bool is_native : {false, true}) {
      const std::unique_ptr<Database> database = log.fixture.before();
      const Result<ReplayStatistics> replayed =
          replay(log.fixture, forged.with(number, call),
                 is_native ? native_slices() : std::span<const NativeFunctions>(), *database);
      if (replayed.ok()) {
        EXPECT_EQ(state_of(*database), log.forward) << "record " << number;
        continue;
      }
      ++stopped;
      const ir::Procedure& procedure = log.fixture.program().procedure(call.procedure);
      const std::string& message = replayed.error().message;
      EXPECT_EQ(replayed.error().kind, ErrorKind::kDamaged);
      EXPECT_TRUE(message.starts_with(fmt::format("replay stopped at LSN {}: {} touches a row at line ",
                                                  records[number].lsn.value, procedure.name)))
          << message;
      EXPECT_TRUE(
          message.ends_with("whose key is not in the record's hint; nothing on disk was changed: recover "
                            "with --scheme clr, which "
                            "needs no hints"))
          << message;
    }
  }
  EXPECT_GE(stopped, 16u);
}

std::span<Value> copy_of(const CallHint& hint, Arena& arena) {
  const std::span<Value> keys = arena.make_array<Value>(hint.keys.size());
  std::ranges::copy(hint.keys, keys.begin());
  return keys;
}

TEST(HintReplay, AForgedKeyStopsRecovery) {
  expect_stops([](CallHint& hint, Arena& arena) {
    if (hint.keys.empty()) return;
    const std::span<Value> keys = copy_of(hint, arena);
    Value& key = keys.back();
    key = key.kind() == Value::Kind::kText ? Value::of_text("forged") : Value::of_int(key.as_int() + 1000);
    hint.keys = keys;
  });
}

TEST(HintReplay, AHintThatSaysThatNothingIsTouchedStopsRecovery) {
  expect_stops([](CallHint& hint, Arena&) { hint = {.operation = hint.operation}; });
}

// Here nothing but the hinted access has lanes: the slice's own read is of a table that no procedure writes.
TEST(HintReplay, APieceThatItsHintLeavesOutIsRun) {
  ReplayFixture fixture(R"(
CREATE TABLE route (id INT NOT NULL, target INT NOT NULL, PRIMARY KEY (id));
CREATE TABLE node (id INT NOT NULL, weight INT NOT NULL, PRIMARY KEY (id));
CREATE PROCEDURE send(p_id INT) LANGUAGE plpgsql AS $$
DECLARE
    v INT;
BEGIN
    SELECT target INTO v FROM route WHERE id = p_id;
    UPDATE node SET weight = weight * 3 % 1009 WHERE id = v;
END; $$;
)",
                        kNodes, PageSize::kSmall);
  (void)fixture.run_forward(100, 3, {.content = RecordContent::kCommand});
  fixture.take_apart(not_decomposed());
  const std::vector<RecordView> records = fixture.records();
  ASSERT_GT(records.size(), 10u);
  ForgedLog forged(fixture.program(), records);
  Call call = forged.call(5);
  const std::array nothing = {CallHint{.operation = OperationId{1}}};
  call.hints = nothing;
  const std::unique_ptr<Database> database = fixture.before();
  const Result<ReplayStatistics> replayed = replay(fixture, forged.with(5, call), {}, *database);
  ASSERT_FALSE(replayed.ok());
  EXPECT_TRUE(replayed.error().message.starts_with(
      fmt::format("replay stopped at LSN {}: send touches a row at line 9 ", records[5].lsn.value)))
      << replayed.error().message;
}

TEST(HintReplay, KeysOfOtherColumnsStopRecovery) {
  expect_stops([](CallHint& hint, Arena& arena) {
    if (hint.keys.empty()) return;
    const std::span<Value> keys = copy_of(hint, arena);
    for (Value& key : keys) key = key.kind() == Value::Kind::kText ? Value::of_int(77) : Value::of_text("77");
    hint.keys = keys;
  });
}

// Keys beyond those that are touched cost lanes, and no more.
TEST(HintReplay, MoreKeysThanAreTouchedDoNoHarm) {
  HintedLog log;
  std::vector<RecordView> records = log.fixture.records();
  std::vector<ByteBuffer> payloads(records.size());
  Arena arena;
  for (size_t i = 0; i < records.size(); ++i) {
    Call call;
    ASSERT_TRUE(decode_call(log.fixture.program(), records[i].payload, arena, call).ok());
    const std::span<CallHint> hints = arena.make_array<CallHint>(call.hints.size());
    std::ranges::copy(call.hints, hints.begin());
    for (CallHint& hint : hints) {
      if (hint.columns != 1 || hint.keys[0].kind() != Value::Kind::kInt) continue;
      std::vector<Value> more(hint.keys.begin(), hint.keys.end());
      more.push_back(Value::of_int(static_cast<int64_t>(i % 8)));
      const std::span<Value> keys = arena.make_array<Value>(more.size());
      std::ranges::copy(more, keys.begin());
      hint.keys = keys;
    }
    encode_call(log.fixture.program(), call, payloads[i]);
    encode_hints(hints, payloads[i]);
    records[i].payload = payloads[i].span();
  }
  const std::unique_ptr<Database> database = log.fixture.before();
  ASSERT_TRUE(replay(log.fixture, records, {}, *database).ok());
  EXPECT_EQ(state_of(*database), log.forward);
}

// Calls by sessions that note keys. Returns the records' payloads.
std::vector<std::vector<std::byte>> logged_by_session(const Program& program,
                                                      std::span<const ToldProcedure> told,
                                                      std::span<const NativeFunctions> native,
                                                      SessionCounters& counters) {
  KeptLog log;
  Database database(program.catalog, 1, PageSize::kSmall);
  database.attach_log(log, RecordContent::kCommand);
  {
    SessionOptions options;
    options.native = native;
    options.told = told;
    Session session(program, database, WorkerId{0}, options);
    RandomCalls calls(program, 5);
    for (uint32_t i = 0; i < kHintedCalls; ++i) (void)session.run(calls.next());
    counters = session.counters();
  }
  std::vector<std::vector<std::byte>> payloads;
  for (const RecordView& record : log.records())
    payloads.emplace_back(record.payload.begin(), record.payload.end());
  return payloads;
}

TEST(HintReplay, MachineCodeNotesWhatTheInterpreterNotes) {
  auto program = compile(kNodesSql, "nodes.sql");
  ASSERT_TRUE(program.ok());
  const std::vector<ToldProcedure> told = told_procedures(**program);
  const CompiledUnits procedures = machine_code_of(**program, procedure_units(**program, told));
  SessionCounters interpreted;
  SessionCounters native;
  SessionCounters off;
  const auto expected = logged_by_session(**program, told, {}, interpreted);
  EXPECT_EQ(logged_by_session(**program, told, procedures.functions(), native), expected);
  EXPECT_GT(interpreted.hinted, kHintedCalls / 16);
  EXPECT_EQ(native.hint_bytes, interpreted.hint_bytes);

  const auto without = logged_by_session(**program, {}, {}, off);
  EXPECT_EQ(off.hinted, 0u);
  ASSERT_EQ(without.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_LE(without[i].size(), expected[i].size());
    EXPECT_TRUE(std::equal(without[i].begin(), without[i].end(), expected[i].begin()));
  }
}

// The bound: a call that touches more keys than a hint has is wide.
TEST(HintReplay, ACallOfTooManyKeysHasNoHint) {
  constexpr std::string_view kSql = R"(
CREATE TABLE node (id INT NOT NULL, next INT NOT NULL, PRIMARY KEY (id));
CREATE PROCEDURE sweep(p_id INT, p_steps INT) LANGUAGE plpgsql AS $$
DECLARE
    v INT := p_id;
BEGIN
    FOR i IN 1 .. p_steps LOOP
        SELECT next INTO v FROM node WHERE id = v;
        UPDATE node SET next = (next + 1) % 100 WHERE id = v;
    END LOOP;
END; $$;
)";
  auto program = compile(kSql, "sweep.sql");
  ASSERT_TRUE(program.ok());
  const std::vector<ToldProcedure> told = told_procedures(**program);
  ASSERT_TRUE(told[0].has_hints());
  KeptLog log;
  Database database((*program)->catalog, 1, PageSize::kSmall);
  {
    UnloggedWriter writer(database);
    for (int64_t i = 0; i < 100; ++i)
      EXPECT_EQ(writer.insert(TableId{0}, std::array{Value::of_int(i), Value::of_int((i + 1) % 100)}),
                AccessStatus::kOk);
  }
  database.attach_log(log, RecordContent::kCommand);
  SessionOptions options;
  options.told = told;
  Session session(**program, database, WorkerId{0}, options);
  const auto run = [&](int64_t steps) {
    EXPECT_TRUE(
        session.run({ProcedureId{0}, {Argument::of(Value::of_int(1)), Argument::of(Value::of_int(steps))}})
            .committed());
    return session.counters().hinted;
  };
  EXPECT_EQ(run(20), 1u);
  EXPECT_EQ(run(90), 1u) << "its hint has more keys than a hint may";
  EXPECT_EQ(run(3), 2u);
}

}  // namespace
}  // namespace mneme
