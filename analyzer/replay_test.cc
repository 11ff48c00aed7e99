// Goal    replaying slices leaves the same rows as running whole procedures, in every order that the graph
//         allows.
// Method  replay_harness.h, over the workloads' files, the paper's bank, and procedures that are hard to
//         slice: each on its own and all together, with several seeds and by every analysis in turn.
#include <gtest/gtest.h>

#include "analyzer/testing/every_analysis.h"
#include "analyzer/testing/random_procedures.h"
#include "analyzer/testing/replay_harness.h"

namespace mneme {
namespace {

void expect_replay_equal(std::string_view sql, uint64_t seeds) {
  const std::vector<AnalysisOptions> analyses = every_analysis();
  uint64_t replayed = 0;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const AnalysisOptions& options = analyses[(seed - 1) % analyses.size()];
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << to_string(options));
    ReplayHarness harness(sql, seed, options);
    harness.populate(40);
    for (int batch = 0; batch < 4; ++batch) harness.run_batch(25);
    replayed += harness.replayed_calls();
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(replayed, seeds * 10) << "most calls fail: the test proves little";
}

TEST(Replay, BankEqualsWholeRuns) {
  expect_replay_equal(source_file("tests/data/bank.sql"), 20);
}
TEST(Replay, TpccEqualsWholeRuns) {
  expect_replay_equal(source_file("workloads/tpcc/tpcc.sql"), 10);
}
TEST(Replay, SmallbankEqualsWholeRuns) {
  expect_replay_equal(source_file("workloads/smallbank/smallbank.sql"), 20);
}

constexpr std::string_view kReplaySchema = R"(
CREATE TABLE a (id INT NOT NULL, v INT NOT NULL, PRIMARY KEY (id));
CREATE TABLE b (id INT NOT NULL, v INT NOT NULL, PRIMARY KEY (id));
CREATE TABLE c (id INT NOT NULL, v INT NOT NULL, PRIMARY KEY (id));
CREATE TABLE d (d1 INT NOT NULL, d2 INT NOT NULL, v INT, t VARCHAR(8), PRIMARY KEY (d1, d2));
CREATE INDEX d_by_v ON d (d2, v);
CREATE TABLE h (h1 INT, h2 INT);
CREATE TABLE u (id INT NOT NULL, k INT NOT NULL, v INT, PRIMARY KEY (id));
CREATE UNIQUE INDEX u_by_k ON u (k);
)";

struct Nasty {
  const char* name;
  const char* parameters;
  const char* declarations;
  const char* body;
};

constexpr Nasty kNasty[] = {
    {"nested_loops", "p INT", "x INT;", R"(
       FOR i IN 1..p LOOP
         SELECT v INTO x FROM a WHERE id = i;
         FOR j IN i..3 LOOP
           UPDATE b SET v = v + COALESCE(x, 0) WHERE id = j;
           FOR k IN REVERSE 3..j LOOP
             UPDATE c SET v = v + i * j WHERE id = k;
           END LOOP;
         END LOOP;
       END LOOP;)"},
    {"exit_and_continue", "p INT, q INT", "x INT; y INT;", R"(
       <<rows_loop>>
       FOR i IN 1..4 LOOP
         SELECT v INTO x FROM a WHERE id = i;
         CONTINUE WHEN x IS NULL OR x % 2 = 0;
         FOR j IN 1..4 LOOP
           UPDATE b SET v = v + 1 WHERE id = j RETURNING v INTO y;
           CONTINUE rows_loop WHEN y > q + 5;
           EXIT WHEN j = p;
           UPDATE c SET v = v + x WHERE id = j;
         END LOOP;
         UPDATE d SET v = i WHERE d1 = p AND d2 = i;
       END LOOP;)"},
    {"keys_that_nobody_looks_at", "p INT, q INT", "x INT; y INT;", R"(
       SELECT b.v INTO x FROM a JOIN b ON a.id = 77 AND b.id = 6 / (p - 1);
       SELECT v INTO y FROM c WHERE id = 6 / (q - 1) LIMIT 0;
       UPDATE b SET v = v + COALESCE(x, 1) WHERE id = q;
       UPDATE c SET v = v + COALESCE(y, 2) WHERE id = p;)"},
    {"return_in_a_loop", "p INT", "x INT;", R"(
       FOR i IN 1..4 LOOP
         UPDATE a SET v = v + 1 WHERE id = i;
         SELECT v INTO x FROM b WHERE id = i;
         IF x = p THEN
           UPDATE c SET v = 0 WHERE id = p;
           RETURN;
         END IF;
       END LOOP;
       UPDATE c SET v = v + 10 WHERE id = p;)"},
    {"found_everywhere", "p INT, q INT", "x INT;", R"(
       UPDATE a SET v = v + 1 WHERE id = p AND v < 3;
       IF FOUND THEN
         UPDATE b SET v = v + 1 WHERE id = p;
       ELSE
         DELETE FROM b WHERE id = q;
         IF NOT FOUND THEN INSERT INTO b VALUES (q, p); END IF;
       END IF;
       FOR i IN 2..q LOOP
         UPDATE c SET v = i WHERE id = i;
         EXIT WHEN NOT FOUND;
       END LOOP;
       IF FOUND THEN INSERT INTO h VALUES (p, q); END IF;)"},
    {"carried_sum", "ps INT[]", "x INT := 0; y INT;", R"(
       FOR i IN 1..COALESCE(cardinality(ps), 0) LOOP
         SELECT v INTO y FROM a WHERE id = ps[i];
         x := x + COALESCE(y, 0);
         UPDATE b SET v = x % 100 WHERE id = ps[i];
       END LOOP;
       UPDATE c SET v = x % 100 WHERE id = 1;)"},
    {"carried_without_reads", "ps INT[]", "x INT := 0;", R"(
       FOR i IN 1..COALESCE(cardinality(ps), 0) LOOP
         x := (x + COALESCE(ps[i], 0)) % 5;
         UPDATE b SET v = v + i WHERE id = x;
       END LOOP;)"},
    {"carried_cycle", "p INT", "x INT; y INT;", R"(
       x := p;
       FOR i IN 1..3 LOOP
         SELECT v INTO y FROM a WHERE id = x;
         UPDATE b SET v = (v + 1) % 4 WHERE id = y RETURNING v INTO x;
       END LOOP;
       UPDATE c SET v = COALESCE(x, 7) WHERE id = p;)"},
    {"for_over_select", "p INT, INOUT r INT", "w RECORD; n INT := 0;", R"(
       FOR w IN SELECT id, v FROM a WHERE id <= p ORDER BY v DESC LOOP
         UPDATE b SET v = w.v WHERE id = w.id;
         n := n + 1;
         INSERT INTO h VALUES (w.id, n);
       END LOOP;
       UPDATE c SET v = COALESCE(w.v, 0) + n WHERE id = p;
       IF FOUND THEN r := n; END IF;)"},
    {"while_over_reads", "p INT", "x INT; n INT := 0;", R"(
       SELECT v INTO x FROM a WHERE id = p;
       WHILE x > 0 AND n < 5 LOOP
         UPDATE b SET v = v + x WHERE id = n;
         x := x - 1;
         n := n + 1;
       END LOOP;
       UPDATE c SET v = n WHERE id = p;)"},
    {"both_branches", "p INT, q INT", "x INT; y INT; k INT;", R"(
       SELECT v INTO x FROM a WHERE id = p;
       IF x > 2 THEN
         k := p;
         SELECT v INTO y FROM b WHERE id = p;
       ELSIF x = 2 THEN
         k := q;
         y := x;
       ELSE
         k := 1;
         SELECT v INTO y FROM c WHERE id = q;
       END IF;
       UPDATE d SET v = y WHERE d1 = k AND d2 = p;
       INSERT INTO h VALUES (k, y);)"},
    {"arrays_in_loops", "ps INT[]", "xs INT[] := '{}'; zs INT[]; x INT;", R"(
       FOR i IN 1..COALESCE(cardinality(ps), 0) LOOP
         SELECT v INTO x FROM a WHERE id = ps[i];
         xs := array_append(xs, x);
       END LOOP;
       zs := xs;
       FOR i IN 1..cardinality(zs) LOOP
         UPDATE b SET v = v + COALESCE(zs[i], 0) WHERE id = ps[i];
       END LOOP;
       DELETE FROM d WHERE d1 = 1 AND v = ANY (zs);)"},
    {"inout_as_input", "INOUT r INT, INOUT s INT", "", R"(
       UPDATE a SET v = v + r WHERE id = s RETURNING v, id INTO r, s;
       UPDATE b SET v = r WHERE id = s;
       r := s;
       UPDATE c SET v = v + 1 WHERE id = r;)"},
    {"known_and_unknown_keys", "p INT, q INT", "x INT; k INT;", R"(
       k := q;
       SELECT v INTO x FROM d WHERE d1 = p AND d2 = q;
       IF x > 1 THEN
         k := k / (x - 1);
         UPDATE d SET t = 'up' WHERE d1 = p AND d2 = k;
       ELSE
         UPDATE d SET t = 'down' WHERE d1 = p + 1 AND d2 = q;
       END IF;)"},
    {"unknown_loop", "p INT", "n INT;", R"(
       SELECT count(*) INTO n FROM a WHERE id < p;
       FOR i IN 1..n LOOP
         UPDATE a SET v = v + i WHERE id = p;
         EXIT WHEN i > 2;
       END LOOP;)"},
    {"keys_given_up_and_taken", "p INT, q INT", "", R"(
       DELETE FROM d WHERE d2 = p AND v = q;
       UPDATE d SET v = q WHERE d1 = p AND d2 = q;
       UPDATE a SET id = id + 10 WHERE id = p AND v > 3;)"},
    {"insert_by_loop", "p INT, ps INT[]", "x INT;", R"(
       FOR i IN 1..COALESCE(cardinality(ps), 0) LOOP
         SELECT v INTO x FROM c WHERE id = ps[i];
         IF FOUND THEN
           UPDATE d SET v = x, t = 'l' || i WHERE d1 = ps[i] AND d2 = p;
           IF NOT FOUND THEN INSERT INTO d VALUES (ps[i], p, x, NULL); END IF;
         END IF;
         INSERT INTO h VALUES (i, x);
       END LOOP;)"},
    {"guards_of_raise", "p INT, q INT", "x INT; y INT;", R"(
       SELECT v INTO x FROM a WHERE id = p;
       IF NOT FOUND THEN
         INSERT INTO h VALUES (p, q);
         RAISE EXCEPTION 'no %', p;
       END IF;
       SELECT v INTO y FROM b WHERE id = q;
       CASE WHEN y > 2 THEN UPDATE c SET v = y WHERE id = p;
            WHEN y < 2 THEN UPDATE c SET v = -y WHERE id = p;
       END CASE;)"},
    {"unique_key_changes_hands", "p INT, q INT", "", R"(
       DELETE FROM u WHERE id = p;
       IF FOUND THEN INSERT INTO u VALUES (p, q, 1); END IF;)"},
    {"unique_key_is_updated", "p INT, q INT", "", R"(
       UPDATE u SET k = k % 4 + 1 WHERE id = p;
       UPDATE u SET v = q WHERE id = q;)"},
    {"lane_key_that_could_fail", "p INT, q INT", "x INT;", R"(
       SELECT v INTO x FROM a WHERE id = q;
       IF x > 2 AND p > 1 THEN
         UPDATE a SET v = v - 1 WHERE id = 4 / (p - 1);
       END IF;)"},
    {"found_after_a_jump_past_a_loop", "p INT", "", R"(
       UPDATE a SET v = v + 1 WHERE id = p;
       <<rows_loop>>
       FOR i IN 1..3 LOOP
         IF FOUND THEN UPDATE b SET v = v + i WHERE id = p; END IF;
         UPDATE c SET v = v + 1 WHERE id = i + p;
         FOR j IN 1..2 LOOP
           CONTINUE rows_loop WHEN j * i = p;
         END LOOP;
         UPDATE d SET v = 1 WHERE d1 = i AND d2 = p;
       END LOOP;)"},
    {"loop_without_rows", "p INT", "x INT;", R"(
       x := p;
       FOR x IN SELECT v FROM a WHERE id > p + 2 LOOP
         x := 1;
       END LOOP;
       UPDATE b SET v = COALESCE(x, 9) WHERE id = p;)"},
    {"groups_feed_writes", "p INT", "r RECORD;", R"(
       FOR r IN SELECT d2, count(*) AS n, sum(v) AS s FROM d WHERE d1 <> p GROUP BY d2 HAVING count(*) > 1
                ORDER BY s DESC LOOP
         UPDATE b SET v = COALESCE(r.s, 0) + r.n WHERE id = r.d2;
         UPDATE d SET v = r.n WHERE d1 = p AND d2 = r.d2;
       END LOOP;)"},
    {"first_group_decides", "p INT", "k INT; n BIGINT;", R"(
       SELECT v, count(*) INTO k, n FROM d WHERE d2 = p GROUP BY v;
       IF FOUND AND n < 3 THEN
         UPDATE a SET v = COALESCE(k, 7) WHERE id = p;
       END IF;)"},
    {"distinct_rows_once", "p INT", "x INT;", R"(
       FOR x IN SELECT DISTINCT v FROM d WHERE d1 <= p AND v IS NOT NULL LOOP
         UPDATE c SET v = v + 1 WHERE id = x;
       END LOOP;
       INSERT INTO h SELECT DISTINCT d2, p FROM d WHERE d1 = p;)"},
    {"join_feeds_writes", "p INT", "s INT;", R"(
       SELECT sum(b.v) INTO s FROM a JOIN b ON b.id = a.v WHERE a.id <= p;
       UPDATE c SET v = COALESCE(s, 0) WHERE id = p;)"},
};

std::string text_of(const Nasty& nasty) {
  return std::string("CREATE PROCEDURE ") + nasty.name + "(" + nasty.parameters +
         ") LANGUAGE plpgsql AS $$\nDECLARE n0 INT; " + nasty.declarations + "\nBEGIN" + nasty.body +
         "\nEND; $$;\n";
}

class NastyReplay : public testing::TestWithParam<Nasty> {};

TEST_P(NastyReplay, AloneEqualsWholeRuns) {
  expect_replay_equal(std::string(kReplaySchema) + text_of(GetParam()), 10);
}

INSTANTIATE_TEST_SUITE_P(Table, NastyReplay, testing::ValuesIn(kNasty),
                         [](const testing::TestParamInfo<Nasty>& info) { return info.param.name; });

TEST(Replay, TwoNastyProceduresEqualWholeRuns) {
  for (size_t i = 0; i < std::size(kNasty); ++i) {
    const size_t j = (i * 7 + 5) % std::size(kNasty);
    if (i == j) continue;
    SCOPED_TRACE(testing::Message() << kNasty[i].name << " with " << kNasty[j].name);
    expect_replay_equal(std::string(kReplaySchema) + text_of(kNasty[i]) + text_of(kNasty[j]), 4);
  }
}

TEST(Replay, AllNastyProceduresEqualWholeRuns) {
  std::string sql(kReplaySchema);
  for (const Nasty& nasty : kNasty) sql += text_of(nasty);
  expect_replay_equal(sql, 10);
}

constexpr uint64_t kRandomPrograms = 300;

TEST(Replay, RandomProceduresEqualWholeRuns) {
  const std::vector<AnalysisOptions> analyses = every_analysis();
  uint64_t calls = 0;
  uint64_t pieces = 0;
  uint64_t wide = 0;
  uint64_t split = 0;
  uint64_t shared_columns = 0;
  for (uint64_t seed = 1; seed <= kRandomPrograms; ++seed) {
    const std::string sql = RandomProcedures(seed).program(1 + seed % 3);
    const AnalysisOptions& options = analyses[(seed - 1) % analyses.size()];
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << to_string(options) << "\n" << sql);
    ReplayHarness harness(sql, seed, options);
    shared_columns += harness.graph().shared_columns.size();
    harness.populate(6);
    for (int batch = 0; batch < 2; ++batch) harness.run_batch(12);
    calls += harness.replayed_calls();
    pieces += harness.replayed_pieces();
    wide += harness.wide_pieces();
    split += harness.split_slices();
    if (HasFailure()) return;
  }
  EXPECT_GT(calls, kRandomPrograms * 10);
  EXPECT_GT(shared_columns, kRandomPrograms / 10) << "few procedures add to what others add to";
  EXPECT_GT(split, calls / 20) << "few slices fall into parts";
  EXPECT_GT(wide, calls / 20) << "few lanes are cut by columns that some accesses do not fix";
  EXPECT_GT(pieces, calls * 2) << "the procedures are hardly sliced: the test proves little";
}

}  // namespace
}  // namespace mneme
