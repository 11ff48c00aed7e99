// Goal: blocks that write one row at the same time, in different columns or adding to one, lose nothing of
// each other. Method: few rows of narrow columns, NULL flags and texts side by side, each written by a
// procedure of its own, so that each is a block, and counters to which several add. More threads than cores,
// by every analysis; digests are compared. ThreadSanitizer sees whether two touch the same bytes.
#include "analyzer/testing/every_analysis.h"
#include "recovery/testing/replay_fixture.h"

namespace mneme {
namespace {

constexpr std::string_view kCellSql = R"(
CREATE TABLE cell (id INT NOT NULL, s SMALLINT NOT NULL, t SMALLINT NOT NULL, f BOOLEAN, g BOOLEAN, n INT,
                   c CHAR(3) NOT NULL, v VARCHAR(5), w VARCHAR(7), total BIGINT NOT NULL, few SMALLINT NOT NULL,
                   paid NUMERIC(9,2) NOT NULL, k INT NOT NULL, PRIMARY KEY (id));
CREATE INDEX cell_by_k ON cell (k);
CREATE TABLE note (n_id INT);

CREATE PROCEDURE set_s(p_id INT, p_x INT) LANGUAGE plpgsql AS $$
BEGIN UPDATE cell SET s = (s * 3 + p_x) % 1000 WHERE id = p_id; END; $$;
CREATE PROCEDURE set_t(p_id INT, p_x INT) LANGUAGE plpgsql AS $$
BEGIN UPDATE cell SET t = (t * 5 + p_x) % 1000, total = total + p_x WHERE id = p_id; END; $$;
CREATE PROCEDURE set_flags(p_id INT, p_x INT) LANGUAGE plpgsql AS $$
BEGIN UPDATE cell SET f = CASE WHEN f IS NULL THEN p_x > 3 ELSE NULL END WHERE id = p_id; END; $$;
CREATE PROCEDURE set_other_flag(p_id INT, p_x INT) LANGUAGE plpgsql AS $$
BEGIN UPDATE cell SET g = CASE WHEN g THEN NULL ELSE p_x > 2 END, few = few - 1 WHERE id = p_id; END; $$;
CREATE PROCEDURE set_n(p_id INT, p_x INT) LANGUAGE plpgsql AS $$
BEGIN UPDATE cell SET n = CASE WHEN p_x > 5 THEN NULL ELSE COALESCE(n, 0) + k END WHERE id = p_id; END; $$;
CREATE PROCEDURE set_c(p_id INT, p_x INT) LANGUAGE plpgsql AS $$
BEGIN UPDATE cell SET c = right(c || p_x, 3) WHERE id = p_id; INSERT INTO note VALUES (p_x); END; $$;
CREATE PROCEDURE set_texts(p_id INT, p_x INT) LANGUAGE plpgsql AS $$
BEGIN UPDATE cell SET v = right(w || p_x, 5), w = right(p_x || v, 7) WHERE id = p_id; END; $$;
CREATE PROCEDURE pay(p_id INT, p_x INT) LANGUAGE plpgsql AS $$
BEGIN
    UPDATE cell SET paid = paid + 0.25 * p_x, total = total - 1 WHERE id = p_id;
    INSERT INTO note VALUES (p_id);
END; $$;
CREATE PROCEDURE pay_back(p_id INT, p_x INT) LANGUAGE plpgsql AS $$
BEGIN UPDATE cell SET paid = paid - p_x, few = few + 1, total = 2 + total WHERE id = p_id; END; $$;
)";

TEST(ColumnReplayStress, BlocksThatShareRowsKeepToTheirColumns) {
  ReplayFixture fixture(kCellSql, /*rows=*/20);
  const Digest forward = fixture.run_forward(3000, 4);
  EXPECT_GE(fixture.graph().blocks.size(), 9u);
  EXPECT_EQ(fixture.graph().shared_columns.size(), 3u) << "total, few, paid";
  EXPECT_EQ(fixture.replay_serially(), forward);
  for (const AnalysisOptions& analysis : every_analysis()) {
    fixture.take_apart(analysis);
    for (const uint32_t batch : {20, 200}) {
      ReplayOptions options;
      options.threads = 4;
      options.batch_transactions = batch;
      EXPECT_EQ(fixture.replay_in_parallel(options), forward)
          << to_string(analysis) << ", batches of " << batch;
    }
  }
}

// Ad-hoc changes of the same rows: of columns that a block owns, of such as several add to, and of whole
// rows.
TEST(ColumnReplayStress, AdHocChangesFindTheirPlaceAmongThem) {
  for (const TupleImage image : {TupleImage::kFull, TupleImage::kChanged}) {
    ReplayFixture fixture(kCellSql, /*rows=*/20);
    const Digest forward = fixture.run_forward(1500, 5, {15, 10, image});
    for (const AnalysisOptions& analysis : every_analysis()) {
      fixture.take_apart(analysis);
      ReplayOptions options;
      options.threads = 4;
      options.batch_transactions = 50;
      EXPECT_EQ(fixture.replay_in_parallel(options), forward) << to_string(analysis);
    }
  }
}

}  // namespace
}  // namespace mneme
