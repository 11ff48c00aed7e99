// Goal: parts of a procedure run as replay runs them: one slice performs and records, a later one recalls in
// its own variables, a locate body reports keys, and one iteration of a loop runs apart from the others.
// Method: a procedure is compiled and its statements are given modes by hand, as the analyzer would; the
// recording is a map.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "procedures/binder/program.h"
#include "procedures/interpreter/interpreter.h"
#include "procedures/testing/map_access.h"

namespace mneme {
namespace {

using ir::OperationMode;
using ir::Statement;
using testing::ElementsAre;

constexpr const char* kSlicedSql = R"sql(
CREATE TABLE price (p_item INT NOT NULL, p_price INT NOT NULL, PRIMARY KEY (p_item));
CREATE TABLE sold (s_item INT NOT NULL, s_sum INT NOT NULL, PRIMARY KEY (s_item));
CREATE PROCEDURE sell(p_items INT[], p_times INT) LANGUAGE plpgsql AS $$
DECLARE
    v_price INT;
BEGIN
    FOR v_n IN 1..cardinality(p_items) LOOP
        SELECT p_price INTO v_price FROM price WHERE p_item = p_items[v_n];
        UPDATE sold SET s_sum = s_sum + v_price * p_times WHERE s_item = p_items[v_n];
    END LOOP;
END;
$$;
)sql";

class MapRecording final : public Recording {
 public:
  void record(OperationId operation, uint32_t iteration, uint32_t rows,
              std::span<const Value> values) override {
    executions_[{operation, iteration}].push_back({rows, {values.begin(), values.end()}});
  }
  Recorded recall(OperationId operation, uint32_t iteration, uint32_t execution) override {
    const Execution& recorded = executions_.at({operation, iteration}).at(execution);
    return {recorded.rows, recorded.values};
  }
  std::optional<Recorded> find(OperationId operation, uint32_t iteration, uint32_t execution) override {
    return recall(operation, iteration, execution);
  }

 private:
  struct Execution {
    uint32_t rows;
    std::vector<Value> values;
  };
  std::map<std::pair<OperationId, uint32_t>, std::vector<Execution>> executions_;
};

class KeyList final : public LocateSink {
 public:
  void locate(OperationId, uint32_t access, uint32_t iteration, std::span<const Value> key) override {
    keys.emplace_back(access, iteration, key[0].as_int());
  }
  std::vector<std::tuple<uint32_t, uint32_t, int64_t>> keys;
};

class SliceRun : public testing::Test {
 protected:
  SliceRun() {
    // The loop of either slice: what reads prices, and what adds to the sums.
    CHECK(sell_.body.size() == 1 && sell_.body[0].body.size() == 2);
    reads_.statements = writes_.statements = locates_.statements = sell_.body;
    Statement& reads = reads_.statements[0];
    reads_.mark(reads.body[0], {.mode = OperationMode::kPerformAndRecord});
    reads.body.pop_back();
    Statement& writes = writes_.statements[0];
    writes_.mark(writes, {.iterations_apart = true});
    writes_.mark(writes.body[0], {.mode = OperationMode::kRecall});
    Statement& locates = locates_.statements[0];
    const ir::Operation& added = sell_.operations[locates.body[1].operation.value];
    locates_.mark(locates.body[1],
                  {.mode = OperationMode::kLocate, .lane_key = added.access[0].path.equalities[0].values});
    locates.body.erase(locates.body.begin());

    for (int64_t item = 1; item <= 3; ++item) {
      const Value price[] = {Value::of_int(item), Value::of_int(item * 10)};
      const Value sum[] = {Value::of_int(item), Value::of_int(0)};
      CHECK(rows_.insert(TableId{0}, price) == AccessStatus::kOk);
      CHECK(rows_.insert(TableId{1}, sum) == AccessStatus::kOk);
    }
  }

  Outcome run(ir::BodyView body, std::optional<uint32_t> only_iteration = std::nullopt) {
    RunRequest request = RunRequest::of(sell_, arguments_, rows_);
    request.body = body;
    request.recording = &recording_;
    request.locate = &located_;
    request.only_iteration = only_iteration;
    return interpreter_.run(request);
  }
  std::vector<std::string> sums() const { return rows_.dump(TableId{1}); }

  const std::unique_ptr<Program> program_ = compile(kSlicedSql, "test.sql").value();
  const ir::Procedure& sell_ = program_->procedures[0];
  const Schema schema_{program_->catalog};
  MapAccess rows_{schema_};
  Interpreter interpreter_{schema_};
  MapRecording recording_;
  KeyList located_;
  ir::MarkedBody reads_, writes_, locates_;

  const std::vector<Value> items_ = {Value::of_int(3), Value::of_int(1), Value::of_int(3)};
  const std::vector<Argument> arguments_ = {Argument::of_array(items_), Argument::of(Value::of_int(2))};
};

TEST_F(SliceRun, ALaterSliceRecallsWhatAnEarlierOneRecorded) {
  ASSERT_TRUE(run(reads_).completed());
  EXPECT_THAT(sums(), ElementsAre("1|0", "2|0", "3|0"));
  ASSERT_TRUE(run(writes_).completed());
  EXPECT_THAT(sums(), ElementsAre("1|20", "2|0", "3|120"));
}

TEST_F(SliceRun, IterationsRunApart) {
  ASSERT_TRUE(run(reads_).completed());
  ASSERT_TRUE(run(writes_, 1).completed());
  EXPECT_THAT(sums(), ElementsAre("1|20", "2|0", "3|0"));
  ASSERT_TRUE(run(writes_, 2).completed());
  EXPECT_THAT(sums(), ElementsAre("1|20", "2|0", "3|60"));
  ASSERT_TRUE(run(writes_, 3).completed());
  EXPECT_THAT(sums(), ElementsAre("1|20", "2|0", "3|60"));
}

TEST_F(SliceRun, ALocateBodyReportsKeysAndTouchesNothing) {
  ASSERT_TRUE(run(locates_).completed());
  EXPECT_THAT(located_.keys, ElementsAre(std::tuple(0, 0, 3), std::tuple(0, 1, 1), std::tuple(0, 2, 3)));
  EXPECT_THAT(sums(), ElementsAre("1|0", "2|0", "3|0"));
}

}  // namespace
}  // namespace mneme
