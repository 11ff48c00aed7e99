// Goal: procedures mean here what they mean in PostgreSQL 15: every kind of statement, access path and
// run-time error. Method: a schema, procedures and a sequence of calls; what a real PostgreSQL 15.20 answered
// to each CALL and what it left in the tables. Run on maps, and by a session on the engine's transactions;
// both must answer the same.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/testing/test_database.h"
#include "procedures/interpreter/call_codec.h"
#include "procedures/interpreter/call_text.h"
#include "procedures/session/session.h"
#include "procedures/testing/map_access.h"

namespace mneme {
namespace {

constexpr const char* kInterpretedSql = R"sql(
CREATE TABLE item (
    i_id    INT NOT NULL,
    i_group INT NOT NULL,
    i_name  VARCHAR(20) NOT NULL,
    i_price NUMERIC(8,2),
    PRIMARY KEY (i_id)
);
CREATE INDEX item_by_group ON item (i_group, i_name);
CREATE TABLE line (
    l_order INT NOT NULL,
    l_n     INT NOT NULL,
    l_item  INT NOT NULL,
    l_qty   SMALLINT NOT NULL,
    PRIMARY KEY (l_order, l_n)
);
CREATE TABLE note (n_text VARCHAR(40) NOT NULL, n_number INT);

CREATE PROCEDURE add_item(p_id INT, p_group INT, p_name VARCHAR(20), p_price NUMERIC(8,2)) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO item VALUES (p_id, p_group, p_name, p_price);
END;
$$;

CREATE PROCEDURE add_lines(p_order INT, p_items INT[], p_qty INT) LANGUAGE plpgsql AS $$
BEGIN
    FOR v_n IN 1..cardinality(p_items) LOOP
        INSERT INTO line (l_order, l_n, l_item, l_qty) VALUES (p_order, v_n, p_items[v_n], p_qty * v_n);
    END LOOP;
END;
$$;

CREATE PROCEDURE rename(p_id INT, p_name VARCHAR(20), INOUT r_name VARCHAR(20), INOUT r_found BOOLEAN)
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE item SET i_name = p_name || '/' || i_name WHERE i_id = p_id RETURNING i_name INTO r_name;
    r_found := FOUND;
END;
$$;

CREATE PROCEDURE swap(p_id INT, INOUT r_group INT, INOUT r_price NUMERIC(8,2)) LANGUAGE plpgsql AS $$
BEGIN
    UPDATE item SET i_group = CAST(i_price AS INT), i_price = i_group WHERE i_id = p_id
    RETURNING i_group, i_price INTO r_group, r_price;
END;
$$;

CREATE PROCEDURE reprice(p_group INT, p_by NUMERIC(8,2), INOUT r_names VARCHAR(20)[], INOUT r_found BOOLEAN)
LANGUAGE plpgsql AS $$
DECLARE
    v_item RECORD;
BEGIN
    r_names := '{}';
    FOR v_item IN SELECT i_id, i_name, i_price FROM item WHERE i_group = p_group ORDER BY i_name DESC LOOP
        UPDATE item SET i_price = v_item.i_price + p_by, i_name = 'x' || i_name WHERE i_id = v_item.i_id;
        r_names := array_append(r_names, v_item.i_name);
    END LOOP;
    r_found := FOUND;
END;
$$;

CREATE PROCEDURE totals(p_group INT, INOUT r_rows BIGINT, INOUT r_prices BIGINT, INOUT r_kinds BIGINT,
                        INOUT r_sum NUMERIC(12,2), INOUT r_min NUMERIC(8,2), INOUT r_last VARCHAR(20))
LANGUAGE plpgsql AS $$
BEGIN
    SELECT count(*), count(i_price), count(DISTINCT i_price), sum(i_price), min(i_price), max(i_name)
    INTO r_rows, r_prices, r_kinds, r_sum, r_min, r_last
    FROM item WHERE i_group = p_group;
END;
$$;

CREATE PROCEDURE dearest(p_group INT, p_limit INT, p_offset INT, INOUT r_ids INT[]) LANGUAGE plpgsql AS $$
DECLARE
    v_item RECORD;
BEGIN
    r_ids := '{}';
    FOR v_item IN SELECT i_id FROM item WHERE i_group = p_group
                  ORDER BY i_price DESC, i_id LIMIT p_limit OFFSET p_offset LOOP
        r_ids := array_append(r_ids, v_item.i_id);
    END LOOP;
END;
$$;

CREATE PROCEDURE by_name(p_group INT, p_from VARCHAR(20), p_to VARCHAR(20), INOUT r_names VARCHAR(20)[])
LANGUAGE plpgsql AS $$
DECLARE
    v_item RECORD;
BEGIN
    FOR v_item IN SELECT i_name FROM item WHERE i_group = p_group AND i_name > p_from AND i_name <= p_to
                  ORDER BY i_name LOOP
        r_names := array_append(r_names, v_item.i_name);
    END LOOP;
END;
$$;

CREATE PROCEDURE which_case(p_number INT, INOUT r_name VARCHAR(20)) LANGUAGE plpgsql AS $$
BEGIN
    CASE p_number
        WHEN 1 THEN r_name := 'one';
    END CASE;
END;
$$;

CREATE PROCEDURE only_one(p_group INT, INOUT r_id INT) LANGUAGE plpgsql AS $$
BEGIN
    SELECT i_id INTO STRICT r_id FROM item WHERE i_group = p_group;
END;
$$;

CREATE PROCEDURE first_of(p_group INT, INOUT r_id INT, INOUT r_found BOOLEAN) LANGUAGE plpgsql AS $$
BEGIN
    r_id := 77;
    SELECT i_id INTO r_id FROM item WHERE i_group = p_group ORDER BY i_id DESC;
    r_found := FOUND;
END;
$$;

CREATE PROCEDURE change_group(p_group INT, INOUT r_id INT) LANGUAGE plpgsql AS $$
BEGIN
    UPDATE item SET i_price = 0 WHERE i_group = p_group RETURNING i_id INTO r_id;
END;
$$;

CREATE PROCEDURE remove(p_ids INT[], INOUT r_found BOOLEAN) LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM item WHERE i_id = ANY (p_ids);
    r_found := FOUND;
END;
$$;

CREATE PROCEDURE remove_one(p_id INT, INOUT r_name VARCHAR(20), INOUT r_price NUMERIC(8,2)) LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM item WHERE i_id IN (p_id, p_id) RETURNING i_name, i_price INTO r_name, r_price;
END;
$$;

CREATE PROCEDURE order_value(p_order INT, p_least INT, INOUT r_lines BIGINT, INOUT r_value NUMERIC(12,2),
                             INOUT r_names VARCHAR(20)[])
LANGUAGE plpgsql AS $$
DECLARE
    v_line RECORD;
BEGIN
    SELECT count(*), sum(l_qty * i_price) INTO r_lines, r_value
    FROM line, item WHERE l_order = p_order AND i_id = l_item AND l_qty >= p_least;
    r_names := '{}';
    FOR v_line IN SELECT i_name, l_n FROM line JOIN item ON i_id = l_item WHERE l_order = p_order
                  ORDER BY i_name, l_n DESC LOOP
        r_names := array_append(r_names, v_line.i_name);
    END LOOP;
END;
$$;

CREATE PROCEDURE by_item(p_order INT, INOUT r_items INT[]) LANGUAGE plpgsql AS $$
DECLARE
    v_item INT;
BEGIN
    r_items := '{}';
    FOR v_item IN SELECT i_id FROM line JOIN item ON i_id = l_item WHERE l_order = p_order ORDER BY i_id DESC LOOP
        r_items := array_append(r_items, v_item);
    END LOOP;
END;
$$;

CREATE PROCEDURE control(p_n INT, INOUT r_trace VARCHAR(200), INOUT r_found BOOLEAN) LANGUAGE plpgsql AS $$
DECLARE
    v_k INT := 0;
BEGIN
    r_trace := '';
    <<outer>>
    FOR v_i IN REVERSE p_n..1 BY 2 LOOP
        FOR v_j IN 1..p_n LOOP
            CONTINUE outer WHEN v_j = v_i;
            EXIT outer WHEN v_j > 3;
            EXIT WHEN v_i + v_j = 6;
            r_trace := r_trace || v_i || v_j || ' ';
        END LOOP;
        r_trace := r_trace || '.';
    END LOOP;
    r_found := FOUND;
    WHILE v_k < p_n LOOP
        v_k := v_k + 1;
        CONTINUE WHEN v_k % 2 = 0;
        CASE v_k
            WHEN 1 THEN r_trace := r_trace || 'one';
            WHEN 3, 4 THEN r_trace := r_trace || 'three';
            ELSE
                IF v_k = 7 THEN
                    r_trace := r_trace || '!';
                    RETURN;
                ELSIF v_k = 5 THEN
                    r_trace := r_trace || 'five';
                END IF;
        END CASE;
    END LOOP;
    r_trace := r_trace || ' end';
END;
$$;

CREATE PROCEDURE arrays(p_a INT[], INOUT r_sum INT, INOUT r_b INT[], INOUT r_c INT[]) LANGUAGE plpgsql AS $$
DECLARE
    v_copy INT[];
BEGIN
    r_sum := 0;
    FOR v_i IN 0..cardinality(p_a) + 1 LOOP
        r_sum := r_sum + coalesce(p_a[v_i], 1000);
    END LOOP;
    v_copy := p_a;
    r_b := array_append(r_b, 1);
    v_copy := array_append(v_copy, 5);
    r_c := v_copy;
    v_copy := array_append(v_copy, 6);
END;
$$;

CREATE PROCEDURE divide(p_a INT, p_b INT, INOUT r_q INT) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO note VALUES ('dividing', p_a);
    r_q := p_a / p_b;
    IF r_q > 100 THEN
        RAISE EXCEPTION 'quotient % of % is over 100%%: %', r_q, p_a, NULL::INT;
    END IF;
END;
$$;

CREATE PROCEDURE renumber(p_from INT, p_to INT, p_by INT) LANGUAGE plpgsql AS $$
BEGIN
    UPDATE item SET i_id = i_id + p_by WHERE i_id >= p_from AND i_id <= p_to;
END;
$$;

CREATE PROCEDURE unname(p_id INT, p_null VARCHAR(20)) LANGUAGE plpgsql AS $$
BEGIN
    UPDATE item SET i_name = p_null WHERE i_id = p_id;
END;
$$;
)sql";

constexpr const char* kNull = nullptr;

struct Step {
  const char* procedure;
  std::vector<const char*> arguments;
  const char* answer;  // the INOUT parameters, or ERROR, the code and the message
};

const Step kSteps[] = {
    {"add_item", {"1", "10", "apple", "2.50"}, ""},
    {"add_item", {"2", "10", "banana", "1.25"}, ""},
    {"add_item", {"3", "10", "cherry", kNull}, ""},
    {"add_item", {"4", "20", "date", "9.99"}, ""},
    {"add_item", {"5", "10", "elder", "2.50"}, ""},
    {"add_item",
     {"3", "30", "dup", "1"},
     R"(ERROR 23505: duplicate key value violates unique constraint "item_pkey")"},
    {"add_item",
     {"6", kNull, "x", "1"},
     R"(ERROR 23502: null value in column "i_group" of relation "item" violates not-null constraint)"},
    {"add_item", {"7", "30", "zebra", "5.00"}, ""},
    {"add_lines", {"1", "{1,2,4,9,2}", "3"}, ""},
    {"add_lines", {"2", "{5}", "1"}, ""},
    {"add_lines", {"2", "{}", "1"}, ""},
    {"add_lines", {"3", "{1,2,3}", "20000"}, "ERROR 22003: smallint out of range"},
    {"add_lines", {"4", kNull, "1"}, "ERROR 22004: upper bound of FOR loop cannot be null"},
    {"order_value", {"1", "6", kNull, kNull, kNull}, "3|116.16|{apple,banana,banana,date}"},
    {"order_value", {"1", "100", kNull, kNull, kNull}, "0|<NULL>|{apple,banana,banana,date}"},
    {"order_value", {"9", "1", kNull, kNull, kNull}, "0|<NULL>|{}"},
    {"by_item", {"1", kNull}, "{4,2,2,1}"},
    {"totals", {"10", kNull, kNull, kNull, kNull, kNull, kNull}, "4|3|2|6.25|1.25|elder"},
    {"totals", {"99", kNull, kNull, kNull, kNull, kNull, kNull}, "0|0|0|<NULL>|<NULL>|<NULL>"},
    {"dearest", {"10", "2", "0", kNull}, "{3,1}"},
    {"dearest", {"10", "2", "1", kNull}, "{1,5}"},
    {"dearest", {"10", kNull, "3", kNull}, "{2}"},
    {"dearest", {"10", "0", kNull, kNull}, "{}"},
    {"dearest", {"10", "-1", "0", kNull}, "ERROR 2201W: LIMIT must not be negative"},
    {"dearest", {"10", "1", "-1", kNull}, "ERROR 2201X: OFFSET must not be negative"},
    {"by_name", {"10", "apple", "cherry", kNull}, "{banana,cherry}"},
    {"by_name", {"10", kNull, "z", kNull}, "<NULL>"},
    {"by_name", {"10", "z", "a", kNull}, "<NULL>"},
    {"rename", {"2", "new", kNull, kNull}, "new/banana|t"},
    {"rename", {"99", "new", kNull, kNull}, "<NULL>|f"},
    {"rename",
     {"1", "fifteen letters", kNull, kNull},
     "ERROR 22001: value too long for type character varying(20)"},
    {"swap", {"4", kNull, kNull}, "10|20.00"},
    {"swap", {"4", kNull, kNull}, "20|10.00"},
    {"reprice", {"10", "0.75", kNull, kNull}, "{new/banana,elder,cherry,apple}|t"},
    {"reprice", {"11", "0.75", kNull, kNull}, "{}|f"},
    {"reprice", {"10", "999999.99", kNull, kNull}, "ERROR 22003: numeric field overflow"},
    {"totals", {"10", kNull, kNull, kNull, kNull, kNull, kNull}, "4|3|2|8.50|2.00|xnew/banana"},
    {"only_one", {"30", kNull}, "7"},
    {"only_one", {"10", kNull}, "ERROR P0003: query returned more than one row"},
    {"only_one", {"99", kNull}, "ERROR P0002: query returned no rows"},
    {"first_of", {"10", kNull, kNull}, "5|t"},
    {"first_of", {"99", kNull, kNull}, "<NULL>|f"},
    {"change_group", {"30", kNull}, "7"},
    {"change_group", {"10", kNull}, "ERROR P0003: query returned more than one row"},
    {"change_group", {"99", kNull}, "<NULL>"},
    {"renumber", {"1", "3", "100"}, ""},
    {"renumber",
     {"101", "101", "1"},
     R"(ERROR 23505: duplicate key value violates unique constraint "item_pkey")"},
    {"renumber", {"5", "5", "0"}, ""},
    {"remove", {"{102,4,4,NULL,55}", kNull}, "t"},
    {"remove", {"{55}", kNull}, "f"},
    {"remove", {kNull, kNull}, "f"},
    {"remove_one", {"5", kNull, kNull}, "xelder|3.25"},
    {"remove_one", {"5", kNull, kNull}, "<NULL>|<NULL>"},
    {"unname",
     {"7", kNull},
     R"(ERROR 23502: null value in column "i_name" of relation "item" violates not-null constraint)"},
    {"unname", {"99", kNull}, ""},
    {"control", {"5", kNull, kNull}, ".31 32 onethreefive end|t"},
    {"control", {"3", kNull, kNull}, "31 32 onethree end|t"},
    {"control", {"8", kNull, kNull}, "81 82 83 onethreefive!|t"},
    {"control", {"0", kNull, kNull}, " end|f"},
    {"arrays", {"{1,2,3}", kNull, "{9}", kNull}, "2006|{9,1}|{1,2,3,5}"},
    {"arrays", {"{}", kNull, kNull, kNull}, "2000|{1}|{5}"},
    {"arrays", {"{7,NULL}", kNull, "{}", kNull}, "3007|{1}|{7,NULL,5}"},
    {"divide", {"10", "3", kNull}, "3"},
    {"divide", {"10", "0", kNull}, "ERROR 22012: division by zero"},
    {"divide", {"1000", "2", kNull}, "ERROR P0001: quotient 500 of 1000 is over 100%: <NULL>"},
    {"divide", {"-7", "2", kNull}, "-3"},
    {"which_case", {"1", kNull}, "one"},
    {"which_case", {"2", kNull}, "ERROR 20000: case not found"},
    {"which_case", {kNull, kNull}, "ERROR 20000: case not found"},
    {"totals", {"10", kNull, kNull, kNull, kNull, kNull, kNull}, "2|1|1|3.25|3.25|xcherry"},
};

const std::vector<std::string> kItemRows = {"101|10|xapple|3.25", "103|10|xcherry|NULL", "7|30|zebra|0.00"};
const std::vector<std::string> kLineRows = {"1|1|1|3",  "1|2|2|6",  "1|3|4|9",
                                            "1|4|9|12", "1|5|2|15", "2|1|5|1"};
const std::vector<std::string> kNoteRows = {"dividing|-7", "dividing|10"};

std::unique_ptr<Program> compiled_example() {
  Result<std::unique_ptr<Program>> program = compile(kInterpretedSql, "test.sql");
  CHECK(program.ok());
  return std::move(program).value();
}

Call call_of(const Program& program, const Step& step, Arena& arena) {
  const ir::Procedure* procedure = program.find_procedure(step.procedure);
  CHECK(procedure != nullptr);
  Call call{procedure->id, {}};
  for (size_t i = 0; i < step.arguments.size(); ++i) {
    if (step.arguments[i] == nullptr) {
      call.arguments.emplace_back();
      continue;
    }
    const Result<Argument> argument = parse_argument(argument_type(*procedure, i), step.arguments[i], arena);
    CHECK(argument.ok());
    call.arguments.push_back(*argument);
  }
  return call;
}

std::string print_results(const ir::Procedure& procedure, std::span<const Argument> results) {
  std::string text;
  size_t next = 0;
  for (size_t i = 0; i < procedure.parameters.size(); ++i) {
    if (!procedure.parameters[i].inout) continue;
    if (next > 0) text += '|';
    text += print_argument(argument_type(procedure, i), results[next++]).value_or("<NULL>");
  }
  return text;
}

std::string print_error(std::string_view sqlstate, std::string_view message) {
  return "ERROR " + std::string(sqlstate) + ": " + std::string(message);
}

TEST(Interpreter, AnswersAsPostgresqlOnMaps) {
  const std::unique_ptr<Program> program = compiled_example();
  const Schema schema(program->catalog);
  MapAccess rows(schema);
  Interpreter interpreter(schema);
  Arena arena;
  for (const Step& step : kSteps) {
    const Call call = call_of(*program, step, arena);
    const ir::Procedure& procedure = program->procedure(call.procedure);
    const Outcome outcome = interpreter.run(RunRequest::of(procedure, call.arguments, rows));
    if (outcome.completed()) {
      rows.commit();
      EXPECT_EQ(print_results(procedure, interpreter.results()), step.answer) << print_call(*program, call);
    } else {
      rows.roll_back();
      EXPECT_EQ(print_error(outcome.sqlstate, outcome.message), step.answer) << print_call(*program, call);
    }
  }
  EXPECT_EQ(rows.dump(program->catalog.find_table("item")->id), kItemRows);
  EXPECT_EQ(rows.dump(program->catalog.find_table("line")->id), kLineRows);
  EXPECT_EQ(rows.dump(program->catalog.find_table("note")->id), kNoteRows);
}

TEST(Session, AnswersAsPostgresqlOnTransactions) {
  const std::unique_ptr<Program> program = compiled_example();
  CountingLog log;
  Database database(program->catalog, 1);
  database.attach_log(log);
  Session session(*program, database, WorkerId{0});
  Arena arena;
  for (const Step& step : kSteps) {
    const Call call = call_of(*program, step, arena);
    const CallResult result = session.run(call);
    const std::string answer = result.committed()
                                   ? print_results(program->procedure(call.procedure), result.results)
                                   : print_error(result.sqlstate, result.message);
    EXPECT_EQ(answer, step.answer) << print_call(*program, call);
    EXPECT_EQ(result.attempts, 1u);
  }
  EXPECT_EQ(log.filled(), session.counters().logged);
  EXPECT_GT(session.counters().rolled_back, 10u);
}

TEST(Session, ACallThatIsAskedToStopChangesNothing) {
  const std::unique_ptr<Program> program = compiled_example();
  CountingLog log;
  Database database(program->catalog, 1);
  database.attach_log(log);
  Session session(*program, database, WorkerId{0});
  Arena arena;
  const Call call = call_of(*program, kSteps[0], arena);
  StopRequest stop;
  stop.cancel();
  CallResult result = session.run(call, LoggedAs::kContent, &stop);
  EXPECT_EQ(result.status, CallResult::Status::kStopped);
  EXPECT_EQ(result.sqlstate, "57014");
  EXPECT_EQ(result.message, "canceling statement due to user request");
  EXPECT_EQ(log.filled(), 0u);
  stop.begin();
  result = session.run(call, LoggedAs::kContent, &stop);
  EXPECT_TRUE(result.committed()) << result.message;
  stop.end_connection();
  stop.cancel();
  stop.begin();
  EXPECT_EQ(stop.reason(), StopRequest::Reason::kConnectionEnds);
  result = session.run(call, LoggedAs::kContent, &stop);
  EXPECT_EQ(result.sqlstate, "57P01");
}

TEST(Session, RefusesACallThatIsNotWellFormed) {
  const std::unique_ptr<Program> program = compiled_example();
  CountingLog log;
  Database database(program->catalog, 1);
  database.attach_log(log);
  Session session(*program, database, WorkerId{0});
  const ir::Procedure* add_item = program->find_procedure("add_item");
  const CallResult result = session.run({add_item->id, std::vector<Argument>(3)});
  EXPECT_EQ(result.status, CallResult::Status::kRefused);
  EXPECT_EQ(result.message, "procedure add_item takes 4 arguments, not 3");

  const std::vector<Value> many(kMaxPayloadBytes, Value::of_int(1));
  const ir::Procedure* remove = program->find_procedure("remove");
  const CallResult large = session.run({remove->id, {Argument::of_array(many), Argument{}}});
  EXPECT_EQ(large.status, CallResult::Status::kRefused);
  EXPECT_THAT(std::string(large.message), testing::HasSubstr("and a record holds 262144"));
  EXPECT_EQ(log.filled(), 0u);
}

}  // namespace
}  // namespace mneme
