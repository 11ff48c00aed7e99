// Replay fixture: a program, random calls run forward as transactions, and their replay from memory.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/dependency_graph.h"
#include "analyzer/hints/told_procedures.h"
#include "engine/transaction/digest.h"
#include "engine/transaction/transaction.h"
#include "engine/transaction/unlogged_writer.h"
#include "logging/testing/kept_log.h"
#include "procedures/interpreter/call_codec.h"
#include "procedures/native/compiled_units.h"
#include "procedures/session/sequence_draws.h"
#include "recovery/calls/parallel_replayer.h"
#include "recovery/calls/serial_replayer.h"
#include "recovery/database/late_indexes.h"
#include "recovery/log/replayed_indexes.h"
#include "recovery/rows/index_builder.h"
#include "recovery/rows/location_replayer.h"
#include "recovery/rows/shuffle_replayer.h"
#include "recovery/rows/unordered_replayer.h"

namespace mneme {

// The parameter of tests of several schemas.
struct NamedSql {
  std::string_view name;
  std::string_view sql;
};

// The units as machine code, which a test runs or fails.
inline CompiledUnits machine_code_of(const Program& program, std::span<const NativeUnit> units) {
  const Schema schema(program.catalog);
  CompiledUnits code = CompiledUnits::load(program, schema, units, {"", {NativeFolders::of_program()}});
  EXPECT_EQ(code.execution(), Execution::kNative) << code.notices().front();
  return code;
}

inline Value random_value(const Type& type, std::mt19937& random, std::vector<std::string>& texts) {
  const auto number = static_cast<int64_t>(random() % 8);
  if (type.is_string()) return Value::of_text(texts.emplace_back(fmt::format("n{}", number)));
  if (type.kind == TypeKind::kNumeric) return Value::of_numeric(number * 100);
  if (type.is_floating()) return Value::of_double(static_cast<double>(number) / 2);
  if (type.kind == TypeKind::kBoolean) return Value::of_bool(number % 2 == 0);
  return Value::of_int(number);
}

// A call with arguments of its own, drawn at random from few values, so that calls meet.
class RandomCalls {
 public:
  RandomCalls(const Program& program, uint32_t seed) : program_(program), random_(seed) {}

  const Call& next() {
    const ir::Procedure& procedure = program_.procedures[random_() % program_.procedures.size()];
    call_.procedure = procedure.id;
    call_.arguments.clear();
    texts_.clear();
    arrays_.clear();
    texts_.reserve(64);
    arrays_.reserve(16);
    for (size_t i = 0; i < argument_count(procedure); ++i)
      call_.arguments.push_back(argument(argument_type(procedure, i)));
    return call_;
  }

 private:
  Argument argument(const Type& type) {
    if (!type.is_array) return Argument::of(value(type));
    auto& array = arrays_.emplace_back(random_() % 5);
    for (Value& element : array) element = value(type.element());
    return Argument::of_array(array);
  }
  Value value(const Type& type) { return random_value(type, random_, texts_); }

  const Program& program_;
  std::mt19937 random_;
  Call call_;
  std::vector<std::string> texts_;
  std::vector<std::vector<Value>> arrays_;
};

// Random statements of a client without procedures: rows of any table come, go, and get other values in any
// column.
class RandomStatements {
 public:
  RandomStatements(Database& database, uint32_t seed) : database_(database), random_(seed) {
    texts_.reserve(64);
  }

  // In a transaction that has begun. Not kOk: it is to be aborted.
  AccessStatus run(Transaction& transaction) {
    texts_.clear();
    AccessStatus status = AccessStatus::kOk;
    for (uint32_t n = 1 + random_() % 2; n > 0 && status == AccessStatus::kOk; --n) {
      const auto& tables = database_.catalog().tables();
      const TableDefinition& table = tables[random_() % tables.size()];
      if (is_sequence(table)) continue;
      RowRef row;
      status = find(transaction, table, row);
      if (status != AccessStatus::kOk) break;
      const uint32_t kind = random_() % 8;
      if (row.image == nullptr || kind == 0)
        status = insert(transaction, table);
      else if (kind == 1)
        status = transaction.erase(table.id, row);
      else
        status = update(transaction, table, row);
    }
    return status;
  }

 private:
  // A row under a random key, if there is one; where the table has no primary key, one of the first that an
  // index leads to.
  AccessStatus find(Transaction& transaction, const TableDefinition& table, RowRef& row) {
    if (!table.primary_key) return find_keyless(transaction, table, row);
    std::vector<Value> key;
    for (const ColumnId column : database_.catalog().index(*table.primary_key).columns)
      key.push_back(random_value(table.column(column).type, random_, texts_));
    const std::optional<IndexKey> encoded = database_.schema().codec(*table.primary_key).of_whole(key);
    if (!encoded) return AccessStatus::kOk;
    const AccessStatus status = transaction.find(*table.primary_key, *encoded, row);
    return status == AccessStatus::kAbsent ? AccessStatus::kOk : status;
  }
  AccessStatus find_keyless(Transaction& transaction, const TableDefinition& table, RowRef& row) {
    if (table.indexes.empty()) return AccessStatus::kOk;
    const std::optional<KeyRange> all = database_.schema().codec(table.indexes.front()).of_prefix({});
    uint32_t passed = random_() % 4;
    return transaction.scan(table.indexes.front(), *all, RowAccess::Direction::kForward,
                            [&](const RowRef& found) {
                              row = found;
                              return passed-- > 0;
                            });
  }
  Value value(const Column& column) {
    if (column.nullable && random_() % 4 == 0) return Value::null();
    return random_value(column.type, random_, texts_);
  }
  AccessStatus insert(Transaction& transaction, const TableDefinition& table) {
    std::vector<Value> values;
    for (const Column& column : table.columns) values.push_back(value(column));
    return transaction.insert(table.id, values);
  }
  AccessStatus update(Transaction& transaction, const TableDefinition& table, RowRef& row) {
    const ColumnId column{static_cast<uint32_t>(random_() % table.columns.size())};
    const ColumnValue change{column, value(table.column(column))};
    return transaction.update(table.id, row, {&change, 1});
  }

  Database& database_;
  std::mt19937 random_;
  std::vector<std::string> texts_;
};

// The database's digest, its indexes walked against its tables before.
inline Digest state_of(const Database& database) {
  const Result<IndexReport> walked = verify_indexes(database);
  EXPECT_TRUE(walked.ok()) << (walked.ok() ? "" : walked.error().message);
  return digest_of(database, 1);
}

// PLR on a database whose indexes are empty yet.
inline Result<ReplayStatistics> replay_located(Database& database, std::span<const RecordView> records,
                                               const ReplayOptions& options) {
  auto statistics = replay_by_location(database, records, kCheckpointLsn, options);
  if (!statistics) return statistics;
  const Result<bool> built = build_indexes(database, options.threads);
  if (!built) return built.error();
  return statistics;
}

// Says that replay is interrupted once it has been asked so often.
inline std::function<bool()> interrupted_after(uint64_t asks) {
  return [left = std::make_shared<std::atomic<int64_t>>(asks)] { return left->fetch_sub(1) <= 0; };
}

class ReplayFixture {
 public:
  // `rows`: how many are drawn for each table that has a primary key, before anything runs; those of one key
  // count once. `pages`: small ones where there are many short replays, as clearing huge ones would take most
  // of their time.
  explicit ReplayFixture(std::string_view sql, uint32_t rows = 0, PageSize pages = PageSize::kHuge)
      : rows_(rows), pages_(pages) {
    auto program = compile(sql, "test.sql");
    EXPECT_TRUE(program.ok()) << (program.ok() ? "" : program.error().message);
    program_ = std::move(*program);
    take_apart(AnalysisOptions());
  }

  // Parallel replay from here on is by this analysis.
  void take_apart(const AnalysisOptions& options) {
    graph_ = std::make_unique<DependencyGraph>(analyze(*program_, options));
  }

  // Calls that run forward from here on have hints in their records, where their procedures tell keys.
  void use_hints(bool hints) { told_ = hints ? told_procedures(*program_) : std::vector<ToldProcedure>(); }
  // How many have had one.
  uint64_t hinted() const { return hinted_; }

  const Program& program() const { return *program_; }
  const DependencyGraph& graph() const { return *graph_; }
  // They hold what RecordContent says, but ad-hoc ones rows alone.
  std::vector<RecordView> records() { return log_.records(); }

  struct AdHoc {
    uint32_t percent_of_calls = 0;  // that are logged by their rows
    uint32_t percent = 0;           // of RandomStatements, instead of calls
    TupleImage image = TupleImage::kFull;
    RecordContent content = RecordContent::kAll;
  };

  // Runs `count` random calls as transactions; those that commit make the log. Returns the digest of the end.
  Digest run_forward(uint32_t count, uint32_t seed) { return run_forward(count, seed, AdHoc()); }
  Digest run_forward(uint32_t count, uint32_t seed, const AdHoc& ad_hoc) {
    Database database(program_->catalog, 1, pages_);
    populate(database);
    database.attach_log(log_, ad_hoc.content, ad_hoc.image);
    std::mt19937 random(seed + 1000);
    RandomStatements statements(database, seed + 2000);
    Interpreter interpreter(database.schema());
    Transaction transaction(database, database.worker(WorkerId{0}));
    SequenceDraws draws(database, transaction);
    RandomCalls calls(*program_, seed);
    HintNotes notes;
    for (uint32_t i = 0; i < count; ++i) {
      if (random() % 100 < ad_hoc.percent) {
        transaction.begin();
        if (statements.run(transaction) != AccessStatus::kOk)
          transaction.abort();
        else
          expect_committed(transaction.commit_ad_hoc());
        continue;
      }
      const Call& call = calls.next();
      const ir::Procedure& procedure = program_->procedure(call.procedure);
      ByteBuffer payload;
      encode_call(*program_, call, payload);
      transaction.begin();
      RunRequest request = RunRequest::of(procedure, call.arguments, transaction);
      request.sequences = &draws;
      const bool tells = !told_.empty() && told_[procedure.id.value].has_hints();
      if (tells) {
        notes.begin(told_[procedure.id.value]);
        request.body = told_[procedure.id.value].body;
        request.keys = &notes;
      }
      const Outcome outcome = interpreter.run(request);
      if (!outcome.completed()) {
        EXPECT_EQ(outcome.kind, Outcome::Kind::kRaised) << outcome.message;
        transaction.abort();
        draws.rolled_back();
        continue;
      }
      if (tells) hinted_ += notes.encode(payload) > 0 ? 1 : 0;
      const bool is_ad_hoc = random() % 100 < ad_hoc.percent_of_calls || procedure.is_logged_by_rows();
      expect_committed(is_ad_hoc ? transaction.commit_ad_hoc() : transaction.commit(payload.span()));
      draws.committed();
    }
    return state_of(database);
  }

  Digest replay_serially(const ReplayOptions& options = {}) { return state_of(*replayed(options)); }
  // The database as a serial replay leaves it.
  std::unique_ptr<Database> replayed(const ReplayOptions& options = {}) {
    std::unique_ptr<Database> database = before();
    const auto statistics = mneme::replay_serially(*database, *program_, records(), options);
    EXPECT_TRUE(statistics.ok()) << (statistics.ok() ? "" : statistics.error().message);
    if (statistics.ok()) {
      EXPECT_EQ(statistics->transactions, records().size());
    }
    return database;
  }
  // The database as it was before anything ran.
  std::unique_ptr<Database> before() const {
    auto database = std::make_unique<Database>(program_->catalog, 1, pages_);
    populate(*database);
    return database;
  }

  using RowReplay = Result<ReplayStatistics> (*)(Database&, std::span<const RecordView>,
                                                 const ReplayOptions&);
  Digest replay_rows(RowReplay replay, const ReplayOptions& options) {
    Database database(program_->catalog, 1, pages_);
    populate(database);
    const auto statistics = replay(database, log_.records(), options);
    EXPECT_TRUE(statistics.ok()) << (statistics.ok() ? "" : statistics.error().message);
    if (statistics.ok()) {
      EXPECT_EQ(statistics->transactions, records().size());
    }
    return state_of(database);
  }

  // Two threads use as many lanes as the blocks' work demands, which in so small programs is often one;
  // others use many. With one thread, indexes that replay does not read are built when it has ended.
  Digest replay_in_parallel(ReplayOptions options) {
    if (options.lanes_per_block == 0 && options.threads != 2) options.lanes_per_block = 64;
    Database database(program_->catalog, 1, pages_);
    LateIndexes late(database);
    if (options.threads == 1) late.leave_out(unread_indexes(*graph_, program_->catalog));
    populate(database);
    const auto statistics = mneme::replay_in_parallel(database, *program_, *graph_, records(), options);
    EXPECT_TRUE(statistics.ok()) << (statistics.ok() ? "" : statistics.error().message);
    if (statistics.ok()) {
      EXPECT_EQ(statistics->transactions, records().size());
    }
    const Result<void> built = late.build(options.threads);
    EXPECT_TRUE(built.ok()) << (built.ok() ? "" : built.error().message);
    return state_of(database);
  }

 private:
  // Or refused, as no log of rows can hold what it did.
  static void expect_committed(const CommitOutcome& outcome) {
    EXPECT_TRUE(outcome.status == CommitStatus::kCommitted || outcome.status == CommitStatus::kUnnamed);
  }

  void populate(Database& database) const {
    std::mt19937 random(17);
    std::vector<std::string> texts;
    texts.reserve(64);
    UnloggedWriter writer(database);
    for (const TableDefinition& table : program_->catalog.tables()) {
      // A sequence's one row is its own affair.
      for (uint32_t i = 0; i < rows_ && table.primary_key && !is_sequence(table); ++i) {
        texts.clear();
        std::vector<Value> values;
        for (const Column& column : table.columns) values.push_back(random_value(column.type, random, texts));
        const AccessStatus status = writer.insert(table.id, values);
        EXPECT_TRUE(status == AccessStatus::kOk || status == AccessStatus::kDuplicateKey);
      }
    }
  }

  std::unique_ptr<Program> program_;
  std::unique_ptr<DependencyGraph> graph_;
  const uint32_t rows_;
  const PageSize pages_;
  std::vector<ToldProcedure> told_;
  uint64_t hinted_ = 0;
  KeptLog log_;
};

// The bank of the paper's Figure 2, with accounts that come and go.
inline constexpr std::string_view kBankSql = R"(
CREATE TABLE family (f_id INT NOT NULL, f_spouse INT, PRIMARY KEY (f_id));
CREATE TABLE current_account (c_id INT NOT NULL, c_balance INT NOT NULL, PRIMARY KEY (c_id));
CREATE TABLE saving (s_id INT NOT NULL, s_balance INT NOT NULL, PRIMARY KEY (s_id));
CREATE TABLE stats (t_nation INT NOT NULL, t_count INT NOT NULL, PRIMARY KEY (t_nation));

CREATE PROCEDURE open_account(p_id INT, p_spouse INT) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO family (f_id, f_spouse) VALUES (p_id, p_spouse);
    INSERT INTO current_account (c_id, c_balance) VALUES (p_id, 100);
    INSERT INTO saving (s_id, s_balance) VALUES (p_id, 100);
END; $$;

CREATE PROCEDURE close_account(p_id INT) LANGUAGE plpgsql AS $$
BEGIN
    IF p_id > 2 THEN
        RAISE EXCEPTION 'stays open';
    END IF;
    DELETE FROM family WHERE f_id = p_id;
    DELETE FROM current_account WHERE c_id = p_id;
    DELETE FROM saving WHERE s_id = p_id;
END; $$;

CREATE PROCEDURE transfer(p_source INT, p_amount INT) LANGUAGE plpgsql AS $$
DECLARE
    v_spouse  INT;
    v_balance INT;
BEGIN
    SELECT f_spouse INTO v_spouse FROM family WHERE f_id = p_source;
    IF v_spouse IS NOT NULL THEN
        SELECT c_balance INTO v_balance FROM current_account WHERE c_id = p_source;
        UPDATE current_account SET c_balance = v_balance - p_amount WHERE c_id = p_source;
        SELECT c_balance INTO v_balance FROM current_account WHERE c_id = v_spouse;
        UPDATE current_account SET c_balance = v_balance + p_amount WHERE c_id = v_spouse;
        UPDATE saving SET s_balance = s_balance + 1 WHERE s_id = p_source;
    END IF;
END; $$;

CREATE PROCEDURE deposit(p_name INT, p_amount INT, p_nation INT) LANGUAGE plpgsql AS $$
DECLARE
    v_balance INT;
    v_count   INT;
BEGIN
    SELECT c_balance INTO v_balance FROM current_account WHERE c_id = p_name;
    UPDATE current_account SET c_balance = v_balance + p_amount WHERE c_id = p_name;
    IF v_balance + p_amount > 110 THEN
        UPDATE saving SET s_balance = s_balance * 2 % 1000 WHERE s_id = p_name;
    END IF;
    SELECT t_count INTO v_count FROM stats WHERE t_nation = p_nation;
    IF NOT FOUND THEN
        INSERT INTO stats (t_nation, t_count) VALUES (p_nation, 1);
    ELSE
        UPDATE stats SET t_count = v_count + 1 WHERE t_nation = p_nation;
    END IF;
END; $$;
)";

// Loops whose iterations stand apart and loops whose don't, arrays, prefixes of keys, a table without a key,
// deletes, an index whose column changes, and whose keys are wider than usual.
inline constexpr std::string_view kOrdersSql = R"(
CREATE TABLE shop (w_id INT NOT NULL, w_next INT NOT NULL, w_sum NUMERIC(12,2) NOT NULL, PRIMARY KEY (w_id));
CREATE TABLE stock (s_w INT NOT NULL, s_i INT NOT NULL, s_quantity INT NOT NULL, s_note VARCHAR(200) NOT NULL,
                    PRIMARY KEY (s_w, s_i));
CREATE INDEX stock_by_note ON stock (s_w, s_note);
CREATE TABLE orders (o_w INT NOT NULL, o_id INT NOT NULL, o_lines INT NOT NULL, PRIMARY KEY (o_w, o_id));
CREATE TABLE line (l_w INT NOT NULL, l_o INT NOT NULL, l_n INT NOT NULL, l_i INT NOT NULL, l_left INT,
                   l_text VARCHAR(240) NOT NULL, PRIMARY KEY (l_w, l_o, l_n));
CREATE TABLE history (h_w INT NOT NULL, h_amount NUMERIC(6,2) NOT NULL, h_text VARCHAR(20),
                      h_at TIMESTAMP NOT NULL);

CREATE PROCEDURE add_shop(p_w INT, p_note VARCHAR(200)) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO shop (w_id, w_next, w_sum) VALUES (p_w, 1, 0);
    FOR v_i IN 0..7 LOOP
        INSERT INTO stock (s_w, s_i, s_quantity, s_note) VALUES (p_w, v_i, 20, p_note);
    END LOOP;
END; $$;

CREATE PROCEDURE place(p_w INT, p_items INT[], p_from INT[], INOUT r_id INT) LANGUAGE plpgsql AS $$
DECLARE
    v_left INT;
    v_note VARCHAR(200);
BEGIN
    UPDATE shop SET w_next = w_next + 1 WHERE w_id = p_w RETURNING w_next - 1 INTO r_id;
    IF NOT FOUND OR cardinality(p_items) <> cardinality(p_from) THEN
        RAISE EXCEPTION 'no such shop';
    END IF;
    INSERT INTO orders (o_w, o_id, o_lines) VALUES (p_w, r_id, cardinality(p_items));
    FOR v_n IN 1..cardinality(p_items) LOOP
        UPDATE stock SET s_quantity = CASE WHEN s_quantity > 5 THEN s_quantity - 1 ELSE s_quantity + 30 END
        WHERE s_w = p_from[v_n] AND s_i = p_items[v_n]
        RETURNING s_quantity, s_note INTO v_left, v_note;
        IF v_left IS NULL OR v_left % 2 = 0 THEN
            INSERT INTO line (l_w, l_o, l_n, l_i, l_left, l_text)
            VALUES (p_w, r_id, v_n, p_items[v_n], v_left, coalesce(v_note, '?') || v_n);
        END IF;
    END LOOP;
END; $$;

CREATE PROCEDURE pay(p_w INT, p_amount NUMERIC(6,2), p_text VARCHAR(20)) LANGUAGE plpgsql AS $$
DECLARE
    v_sum NUMERIC(12,2);
BEGIN
    UPDATE shop SET w_sum = w_sum + p_amount WHERE w_id = p_w RETURNING w_sum INTO v_sum;
    IF v_sum > 20 THEN
        INSERT INTO history (h_w, h_amount, h_text, h_at) VALUES (p_w, p_amount, p_text, LOCALTIMESTAMP);
    END IF;
END; $$;

CREATE PROCEDURE deliver(p_w INT) LANGUAGE plpgsql AS $$
DECLARE
    v_o     INT;
    v_total INT := 0;
    v_line  RECORD;
BEGIN
    FOR v_round IN 1..2 LOOP
        SELECT o_id INTO v_o FROM orders WHERE o_w = p_w ORDER BY o_id LIMIT 1;
        EXIT WHEN NOT FOUND;
        DELETE FROM orders WHERE o_w = p_w AND o_id = v_o;
        FOR v_line IN SELECT l_n, l_i FROM line WHERE l_w = p_w AND l_o = v_o ORDER BY l_n LOOP
            v_total := v_total + v_line.l_i;
            UPDATE line SET l_left = NULL, l_text = 'd' || l_text
            WHERE l_w = p_w AND l_o = v_o AND l_n = v_line.l_n;
        END LOOP;
    END LOOP;
    UPDATE shop SET w_sum = w_sum + v_total WHERE w_id = p_w;
END; $$;

CREATE PROCEDURE relabel(p_w INT, p_old VARCHAR(20), p_new VARCHAR(20)) LANGUAGE plpgsql AS $$
DECLARE
    v_i INT;
BEGIN
    SELECT s_i INTO v_i FROM stock WHERE s_w = p_w AND s_note = p_old ORDER BY s_i LIMIT 1;
    IF FOUND THEN
        UPDATE stock SET s_note = p_new, s_quantity = s_quantity + v_i WHERE s_w = p_w AND s_note = p_old;
    END IF;
END; $$;

CREATE PROCEDURE forget(p_w INT, p_below INT) LANGUAGE plpgsql AS $$
DECLARE
    v_n INT := 0;
BEGIN
    DELETE FROM line WHERE l_w = p_w AND l_o < p_below;
    WHILE v_n < p_below LOOP
        v_n := v_n + 1;
        CONTINUE WHEN v_n = 3;
        DELETE FROM stock WHERE s_w = p_w AND s_i = v_n AND s_quantity > 40;
    END LOOP;
END; $$;
)";

}  // namespace mneme
