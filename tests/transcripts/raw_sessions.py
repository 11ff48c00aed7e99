"""Sessions that no client of ours has, written by hand for the corners of the protocol: what the client says in each.

Each function makes a transcript: a list of sessions, which share a database that is empty at first.
"""

import struct

from messages import line_of


def say(name, *fields):
    return line_of(">", name, *fields)


START = say("Startup", {"user": "tester", "database": "bank"})
SYNC, FLUSH, END = say("Sync"), say("Flush"), say("Terminate")


def query(*texts):
    return [say("Query", each) for each in texts]


def parse(text, name="", types=()):
    return say("Parse", name, text, list(types))


def bind(values=(), portal="", statement="", formats=(), results=()):
    return say("Bind", portal, statement, list(formats), list(values), list(results))


def execute(portal="", most=0):
    return say("Execute", portal, most)


def describe(kind, name=""):
    return say("Describe", kind, name)


def close(kind, name=""):
    return say("Close", kind, name)


def run(text, values=(), types=(), formats=(), results=()):
    """A statement by the extended protocol, described both ways."""
    return [parse(text, types=types), describe("S"), bind(values, formats=formats, results=results), describe("P"), execute(), SYNC]


def session(*parts):
    lines = [START]
    for part in parts:
        lines += [part] if isinstance(part, str) else part
    return [*lines, END]


def binary(form, *values):
    return {"hex": struct.pack(f"!{form}", *values).hex()}


TABLE = "CREATE TABLE t (id int PRIMARY KEY, name varchar(20), price numeric(10,2), at timestamp)"
ROWS = "INSERT INTO t VALUES (1, 'one', 1.50, '2024-02-29 01:02:03'), (2, 'two', NULL, NULL), (3, NULL, -3.25, '1999-12-31 23:59:59.5')"


def simple():
    """The simple protocol: several statements in a query, none at all, errors in the middle of one."""
    return [
        session(query(TABLE, ROWS, "SELECT * FROM t ORDER BY id")),
        session(query("", ";", ";;", "-- nothing", "/* nothing */", " \n\t ")),
        session(query("SELECT 1; SELECT 'two' AS b; SELECT NULL AS c")),
        session(query("SELECT 1;; SELECT 2;")),
        session(query("INSERT INTO t VALUES (4, 'four', 4, NULL); SELECT count(*) FROM t; DELETE FROM t WHERE id = 4")),
        session(query("INSERT INTO t VALUES (5, 'five', 5, NULL); SELECT 1 / 0; SELECT 3", "SELECT count(*) FROM t")),
        session(query("SELECT 1; SELEC 2; SELECT 3")),
        session(query("SELECT 1; SELECT * FROM nowhere; SELECT 3")),
        session(query("BEGIN; INSERT INTO t VALUES (6, 'six', 6, NULL); ROLLBACK; SELECT count(*) FROM t")),
        session(query("INSERT INTO t VALUES (7, 'seven', 7, NULL); BEGIN; SELECT 1; COMMIT", "DELETE FROM t WHERE id = 7")),
        session(query("UPDATE t SET name = 'x' WHERE id > 1; SELECT id, name FROM t ORDER BY id; UPDATE t SET name = NULL WHERE id > 99")),
        session(query("SELECT id FROM t WHERE false", "SELECT FROM t WHERE id = 1", "SELECT")),
        session(query("INSERT INTO t VALUES (8, 'eight', 8.88, NULL) RETURNING *, price * 2 AS twice", "DELETE FROM t WHERE id = 8 RETURNING id")),
        session(query("VALUES (1, 'a'), (2, NULL)", "TABLE t ORDER BY id LIMIT 1")),
        session(query("SELECT $1")),
    ]


def blocks():
    """Transactions, blocks that failed, savepoints."""
    return [
        session(query(TABLE, ROWS)),
        session(query("BEGIN", "SELECT 1 AS a", "COMMIT", "COMMIT", "ROLLBACK")),
        session(query("BEGIN", "BEGIN", "END")),
        session(query("BEGIN", "SELECT 1 / 0", "SELECT 1", "INSERT INTO t VALUES (9, 'x', 1, NULL)", "COMMIT", "SELECT 1")),
        session(query("BEGIN", "SELEC 1", "SELECT 1", "ROLLBACK", "SELECT 1")),
        session(query("BEGIN", "SAVEPOINT a", "INSERT INTO t VALUES (1, 'twice', 1, NULL)", "SELECT 1", "ROLLBACK TO a", "SELECT count(*) FROM t",
                      "RELEASE a", "COMMIT")),
        session(query("BEGIN", "SAVEPOINT a", "SAVEPOINT b", "ROLLBACK TO SAVEPOINT a", "RELEASE b", "ROLLBACK TO a", "COMMIT")),
        session(query("SAVEPOINT a", "RELEASE a", "ROLLBACK TO a", "SELECT 1")),
        session(query('BEGIN', 'SAVEPOINT "A b"', 'RELEASE SAVEPOINT "A b"', 'ROLLBACK TO "A b"', 'ROLLBACK')),
        session(query("BEGIN ISOLATION LEVEL SERIALIZABLE", "SHOW transaction_isolation", "COMMIT")),
        session(query("BEGIN ISOLATION LEVEL READ COMMITTED", "SHOW TRANSACTION ISOLATION LEVEL", "COMMIT")),
        session(query("START TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY", "DELETE FROM t", "SELECT 1", "ROLLBACK")),
        session(query("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ", "SHOW transaction_isolation",
                      "BEGIN", "SHOW transaction_isolation", "COMMIT")),
        session(query("BEGIN READ ONLY", "SELECT count(*) FROM t", "UPDATE t SET name = 'x'", "COMMIT")),
        session(query("BEGIN", "DELETE FROM t WHERE id = 1; SELECT 1 / 0", "SELECT count(*) FROM t", "ROLLBACK", "SELECT count(*) FROM t")),
        session(query("ABORT", "BEGIN TRANSACTION", "ABORT WORK")),
        session(query("BEGIN"), run("SELECT 1 / 0"), run("SELECT 1"), run("ROLLBACK"), run("SELECT 1")),
        session(run("BEGIN"), run("SAVEPOINT s"), run("SELECT * FROM nowhere"), run("ROLLBACK TO s"), run("COMMIT")),
    ]


def extended():
    """Parse, Bind, Describe, Execute, Close, Flush, in orders that drivers do not have."""
    by_id = "SELECT id, name FROM t WHERE id = $1"
    return [
        session(query(TABLE, ROWS)),
        session(run(by_id, ["1"]), run(by_id, ["99"]), run(by_id, [None])),
        session(parse(by_id, "s"), SYNC, bind(["1"], statement="s"), execute(), bind(["2"], statement="s"), execute(), SYNC,
                close("S", "s"), SYNC, bind(["1"], statement="s"), execute(), SYNC),
        session(parse(by_id, "s"), FLUSH, describe("S", "s"), FLUSH, bind(["3"], "p", "s"), FLUSH, describe("P", "p"), FLUSH,
                execute("p"), FLUSH, close("P", "p"), FLUSH, SYNC),
        session(parse("SELEC 1"), bind(), execute(), SYNC, *run("SELECT 1")),
        session(parse("SELECT 1"), bind(), execute(), parse("SELECT 1 / 0"), bind(), execute(), parse("SELECT 3"), bind(), execute(), SYNC,
                *run("SELECT 4")),
        session(parse("INSERT INTO t VALUES (10, 'ten', 10, NULL)"), bind(), execute(), parse("INSERT INTO t VALUES (1, 'one', 1, NULL)"), bind(),
                execute(), SYNC, query("SELECT count(*) FROM t")),
        session(parse("INSERT INTO t VALUES (11, 'x', 10, NULL)"), bind(), execute(), SYNC, parse("DELETE FROM t WHERE id = 11"), bind(), execute(),
                SYNC),
        session(parse("SELECT id FROM t ORDER BY id"), bind(portal="p"), execute("p", 1), execute("p", 1), execute("p", 1), execute("p", 1), SYNC),
        session(parse("SELECT id FROM t ORDER BY id"), bind(portal="p"), execute("p", 2), execute("p", 5), execute("p", 5), SYNC,
                execute("p"), SYNC),
        session(query("BEGIN"), parse("SELECT id FROM t ORDER BY id"), bind(portal="p"), execute("p", 2), SYNC, execute("p", 2), SYNC,
                execute("p", 2), SYNC, query("COMMIT"), execute("p", 2), SYNC),
        session(parse("SELECT id FROM t ORDER BY id"), bind(portal="p"), execute("p", 3), SYNC),
        session(parse("SELECT id FROM t ORDER BY id"), bind(portal="p"), execute("p"), execute("p"), SYNC),
        session(parse("INSERT INTO t SELECT a, 'many', 0, NULL FROM generate_series(100, 103) AS a RETURNING id"), bind(portal="p"),
                execute("p", 2), execute("p", 1), execute("p", 9), SYNC, query("DELETE FROM t WHERE id >= 100")),
        session(parse("UPDATE t SET price = price WHERE id < 3"), bind(), execute(most=1), SYNC),
        session(close("S", "none"), close("P", "none"), SYNC),
        session(describe("S", "none"), SYNC, describe("P", "none"), SYNC, execute("none"), SYNC, bind(statement="none"), SYNC),
        session(parse("SELECT 1", "s"), parse("SELECT 2", "s"), SYNC, bind(statement="s"), execute(), SYNC),
        session(parse("SELECT 1"), bind(portal="p"), bind(portal="p"), SYNC),
        session(parse(""), describe("S"), bind(), describe("P"), execute(), SYNC, parse(" ; "), bind(), execute(), SYNC),
        session(parse("SELECT 1; SELECT 2"), SYNC),
        session(run("UPDATE t SET name = $1 WHERE id = $2", ["uno", "1"]), run("DELETE FROM t WHERE id = $1", ["77"]),
                run("INSERT INTO t (id, name) VALUES ($1, $2) RETURNING name", ["20", "x"]), run("DELETE FROM t WHERE id = 20")),
        session(run("CREATE TABLE u (a int)"), run("DROP TABLE u"), run("SET statement_timeout = 0"), run("SHOW statement_timeout"), run("BEGIN"),
                run("COMMIT"), run("COMMIT")),
        session(parse(by_id), bind(["1", "2"]), SYNC, parse(by_id), bind([]), SYNC),
        session(parse(by_id), bind(["x"]), execute(), SYNC),
        session(parse(by_id), bind(["1"], formats=[0, 1]), SYNC),
        session(parse(by_id), bind(["1"], results=[0, 1, 0]), execute(), SYNC),
        session(parse(by_id), bind(["1"], results=[0, 1]), describe("P"), execute(), SYNC),
        session(parse("SELECT 1 AS first"), bind(), query("SELECT 2 AS simple"), execute(), SYNC),
        session(SYNC, SYNC, FLUSH, SYNC),
        session(parse("SELECT $1::int + $3::int"), SYNC),
        session(query("PREPARE by_id (int) AS SELECT name FROM t WHERE id = $1", "EXECUTE by_id (2)", "EXECUTE by_id ('x')", "EXECUTE none",
                      "DEALLOCATE by_id", "EXECUTE by_id (2)", "DEALLOCATE ALL")),
        session(parse("EXECUTE later(1)"), SYNC, query("PREPARE later AS SELECT $1::int AS a"), *run("EXECUTE later(1)")),
        session(query("BEGIN", "DECLARE c CURSOR FOR SELECT id FROM t ORDER BY id", "FETCH 2 FROM c", "FETCH ALL FROM c", "FETCH 1 FROM c",
                      "CLOSE c", "FETCH 1 FROM c", "ROLLBACK")),
        session(query("DECLARE c CURSOR FOR SELECT 1", "BEGIN", "DECLARE c CURSOR FOR SELECT id FROM t ORDER BY id"), describe("P", "c"),
                execute("c", 1), execute("c", 10), SYNC, query("COMMIT")),
    ]


VALUES = {
    "bool": (16, ["t", "false", "on", "0"], [binary("?", True), binary("?", False)], ["x", "2"]),
    "int2": (21, ["0", "-32768", " 7 "], [binary("h", -5), binary("h", 32767)], ["32768", "1.5", ""]),
    "int4": (23, ["0", "-2147483648"], [binary("i", -5), binary("i", 2147483647)], ["2147483648", "x"]),
    "int8": (20, ["0", "-9223372036854775808"], [binary("q", -5), binary("q", 1 << 62)], ["9223372036854775808"]),
    "float4": (700, ["0.1", "-Infinity", "nan", "1e10"], [binary("f", 1.5), binary("f", float("inf"))], ["1e99", "x"]),
    "float8": (701, ["0.1", "Infinity", "NaN", "1e-300"], [binary("d", 1 / 3), binary("d", -0.0)], ["1e999", ""]),
    "text": (25, ["", "a", "naïve €", "a\nb\t'\"\\"], ["plain", "é"], []),
    "varchar": (1043, ["", "abc"], ["xyz"], []),
    "bpchar": (1042, ["ab", "ab  "], ["xyz"], []),
    "date": (1082, ["2024-02-29", "0001-01-01", "20240301"], [binary("i", 0), binary("i", -36524)], ["2023-02-29", "x"]),
    "timestamp": (1114, ["2024-02-29 12:34:56.789", "2024-02-29", "2024-02-29T01:02:03"], [binary("q", 0), binary("q", -1)],
                  ["2024-02-30", "2024-01-01 25:00"]),
    "numeric": (1700, ["0", "-1.50", "12345678901234567890.123456789"],
                [binary("hhhhhh", 2, 0, 0, 2, 1, 5000), binary("hhhhh", 1, 1, 0x4000, 0, 3)], ["x", "1.2.3"]),
}


def type_sessions(name):
    oid, texts, binaries, wrong = VALUES[name]
    of_type = {"bpchar": "char(5)", "text": "text", "varchar": "varchar(30)", "numeric": "numeric"}.get(name, name)
    sessions = []
    text = f"SELECT $1::{of_type} AS v"
    sessions.append(session(*(run(text, [each], types=[oid]) for each in texts)))
    sessions.append(session(*(run(text, [each], types=[oid], formats=[1]) for each in binaries)))
    sessions.append(session(*(run(text, [each], types=[oid], results=[1]) for each in texts[:2]),
                            *(run(text, [each], types=[oid], formats=[1], results=[1]) for each in binaries)))
    sessions.append(session(run(text, [None], types=[oid]), run(text, [None], results=[1]), *(run(text, [each]) for each in wrong),
                            run(text, [{"hex": "00"}], types=[oid], formats=[1]) if name not in ("bool", "text", "varchar", "bpchar") else []))
    column = {"bpchar": "char(5)", "varchar": "varchar(30)", "numeric": "numeric(30,9)"}.get(name, name)
    sessions.append(session(query(f"CREATE TABLE of_{name} (id int PRIMARY KEY, v {column})"),
                            *(run(f"INSERT INTO of_{name} VALUES ($1, $2)", [str(i), each]) for i, each in enumerate(texts)),
                            *(run(f"INSERT INTO of_{name} VALUES ($1, $2)", [binary("i", 10 + i), each], formats=[1])
                              for i, each in enumerate(binaries)),
                            run(f"SELECT * FROM of_{name} ORDER BY id"), run(f"SELECT v FROM of_{name} ORDER BY id", results=[1]),
                            run(f"SELECT id FROM of_{name} WHERE v = $1", [texts[0]]),
                            query(f"DELETE FROM of_{name}")))
    return sessions


def numbers():
    """Parameters and results of the types of numbers and truth values, as text and binary."""
    return [each for name in ("bool", "int2", "int4", "int8", "float4", "float8", "numeric") for each in type_sessions(name)]


def texts_and_times():
    """Parameters and results of texts, dates and timestamps, as text and binary."""
    return [each for name in ("text", "varchar", "bpchar", "date", "timestamp") for each in type_sessions(name)]


def inference():
    """The types of parameters that no client gives, and those of results."""
    texts = ["SELECT $1", "SELECT $1 AS a, $2::int AS b", "SELECT $1 + 1", "SELECT $1 || 'x'", "SELECT $1 = 'x'", "SELECT $1 > 2.5",
             "SELECT coalesce($1, 7)", "SELECT CASE WHEN $1 THEN 1 ELSE 2 END", "SELECT upper($1)", "SELECT * FROM t WHERE name LIKE $1",
             "SELECT id FROM t WHERE id IN ($1, $2)", "SELECT id FROM t WHERE id = ANY($1)", "SELECT id FROM t WHERE name = ANY($1)",
             "SELECT id FROM t ORDER BY id LIMIT $1 OFFSET $2", "INSERT INTO t VALUES ($1, $2, $3, $4)", "UPDATE t SET price = price + $1",
             "SELECT id FROM t WHERE at BETWEEN $1 AND $2", "SELECT id + $1 FROM t", "SELECT price * $1 FROM t", "SELECT $1::int[]",
             "SELECT id FROM t WHERE (id, name) = ($1, $2)", "SELECT sum(id + $1) FROM t", "SELECT NULL", "SELECT 'x'", "SELECT 1.5",
             "SELECT -1", "SELECT true", "SELECT 1 UNION SELECT 2.5", "SELECT count(*), sum(id), avg(id), max(name) FROM t", "SELECT NOT $1",
             "SELECT -$1", "SELECT $1 IS NULL", "SELECT abs($1)", "SELECT nothing($1)", "SELECT $1 + $2", "SELECT id = $1 OR name = $1 FROM t"]
    sessions = [session(query(TABLE, ROWS))]
    for begin in range(0, len(texts), 3):
        sessions.append(session(*([parse(each), describe("S"), SYNC] for each in texts[begin:begin + 3])))
    return sessions


def arrays():
    """Arrays, empty ones and those with NULLs, in both formats."""
    elements = binary("iiIi", 1, 0, 23, 2)["hex"] + binary("i", 1)["hex"] + binary("ii", 4, 7)["hex"] + binary("ii", 4, 8)["hex"]
    empty = binary("iiI", 0, 0, 23)
    return [
        session(query(TABLE, ROWS)),
        session(run("SELECT ARRAY[1, 2, NULL]"), run("SELECT ARRAY['a', 'b c', 'null', '', '\"', NULL]"), run("SELECT ARRAY[1.5, 2]::numeric[]")),
        session(run("SELECT '{}'::int[]"), run("SELECT '{1,2}'::int[]", results=[1]), run("SELECT ARRAY[]::text[]"), run("SELECT ARRAY[]")),
        session(run("SELECT $1::int[] AS a", ["{1,2,NULL}"]), run("SELECT $1::int[] AS a", ["{}"]), run("SELECT $1::int[] AS a", [None])),
        session(run("SELECT $1::int[] AS a", [{"hex": elements}], formats=[1]), run("SELECT $1::int[] AS a", [empty], formats=[1]),
                run("SELECT $1::int[] AS a", ["{1,2}"], results=[1])),
        session(run("SELECT $1::text[] AS a", ['{a,"b c",NULL,"\\"x\\""}']), run("SELECT $1::text[] AS a", ["{a}"], results=[1])),
        session(run("SELECT id FROM t WHERE id = ANY($1) ORDER BY id", ["{1,3,77}"]), run("SELECT id FROM t WHERE id = ANY($1::int[])", ["{}"])),
        session(run("SELECT id FROM t WHERE id = ANY($1) ORDER BY id", [{"hex": elements}], types=[1007], formats=[1])),
        session(run("SELECT id FROM t WHERE name = ANY($1::text[])", ["{two,none}"]), run("SELECT cardinality($1::int[])", ["{1,2}"])),
        session(run("SELECT $1::int[]", ["1,2"]), run("SELECT $1::int[]", ["{1,x}"]), run("SELECT $1::int[]", ["{1"])),
        session(query("SELECT ARRAY[true, false], ARRAY['2024-02-29'::date], ARRAY[0.5::float8]", "SELECT unnest(ARRAY[1, 2])")),
    ]


def copies():
    """COPY in its three formats, and what goes wrong in one."""
    def rows(text, *data):
        return [say("Query", text), *(say("CopyData", each) for each in data), say("CopyDone")]
    signature = "5047434f50590aff0d0a00"
    header = signature + "00000000" * 2
    row = binary("hi", 3, 4)["hex"] + binary("i", 40)["hex"] + binary("i", 2)["hex"] + b"ab".hex() + binary("i", -1)["hex"]
    end = "ffff"
    return [
        session(query("CREATE TABLE c (id int PRIMARY KEY, name text, n numeric(6,2))")),
        session(rows("COPY c FROM STDIN", "1\tone\t1.5\n2\t\\N\t\\N\n"), query("SELECT * FROM c ORDER BY id")),
        session(rows("COPY c (id, name) FROM STDIN", "3\ttab\\there\n", "4\tback\\\\slash\n\\.\n"), query("SELECT * FROM c ORDER BY id")),
        session(rows("COPY c FROM STDIN"), rows("COPY c FROM STDIN (FORMAT csv)")),
        session(rows("COPY c FROM STDIN (FORMAT csv, HEADER)", 'id,name,n\n5,"a, ""b""",\n', "6,,2\n"), query("SELECT * FROM c WHERE id > 4 ORDER BY id")),
        session(rows("COPY c FROM STDIN (FORMAT csv, DELIMITER ';', NULL 'null')", "7;null;null\n"), query("SELECT * FROM c WHERE id = 7")),
        session(rows("COPY c FROM STDIN (FORMAT binary)", {"hex": header + row + end}), query("SELECT * FROM c WHERE id = 40")),
        session(query("COPY c TO STDOUT", "COPY c (name, id) TO STDOUT", "COPY (SELECT id FROM c WHERE id < 3 ORDER BY id) TO STDOUT")),
        session(query("COPY c TO STDOUT (FORMAT csv, HEADER)", "COPY (SELECT NULL, '', 'a\"b', 'x,y') TO STDOUT (FORMAT csv)",
                      "COPY (SELECT 1, 'a', NULL) TO STDOUT (FORMAT binary)", "COPY (SELECT 1 WHERE false) TO STDOUT")),
        session(rows("COPY c FROM STDIN", "1\ttwice\t1\n"), query("SELECT 1")),
        session(rows("COPY c FROM STDIN", "x\tx\t1\n"), rows("COPY c FROM STDIN", "50\tx\n"), rows("COPY c FROM STDIN", "50\tx\t1\t2\n")),
        session(rows("COPY c FROM STDIN", "50\tx\t12345.5\n"), rows("COPY c FROM STDIN", "50\tx\tmuch\n"), query("SELECT count(*) FROM c")),
        session([say("Query", "COPY c FROM STDIN"), say("CopyData", "60\tx\t1\n"), say("CopyFail", "enough")], query("SELECT count(*) FROM c")),
        session(rows("COPY c FROM STDIN (FORMAT binary)", {"hex": "00" * 20}), rows("COPY c FROM STDIN (FORMAT binary)", {"hex": header + "0002"})),
        session(rows("COPY c FROM STDIN (FORMAT csv)", '70,"never closed\n'), query("SELECT count(*) FROM c")),
        session(query("COPY none FROM STDIN", "COPY c (nothing) FROM STDIN", "COPY none TO STDOUT", "COPY c FROM STDIN (FORMAT odd)")),
        session(query("BEGIN"), rows("COPY c FROM STDIN", "80\tx\t1\n"), rows("COPY c FROM STDIN", "80\tx\t1\n"), query("SELECT 1", "ROLLBACK")),
        session(query("BEGIN"), rows("COPY c FROM STDIN", "81\tx\t1\n"), query("SELECT count(*) FROM c", "ROLLBACK", "SELECT count(*) FROM c")),
        session(parse("COPY c TO STDOUT"), bind(), describe("P"), execute(), SYNC),
        session(parse("COPY c FROM STDIN"), bind(), describe("P"), execute(), SYNC, say("CopyData", "90\tx\t1\n"), say("CopyDone"), SYNC,
                query("DELETE FROM c WHERE id = 90")),
        session(query("COPY c TO '/tmp/nowhere/file'", "COPY c TO STDOUT (FORMAT csv, QUOTE '''')")),
        session([say("CopyData", "1"), say("CopyDone")], query("SELECT 1")),
    ]


def settings():
    """SET, SHOW, RESET, DISCARD, in blocks and outside."""
    return [
        session(query("SHOW server_encoding", "SHOW client_encoding", "SHOW DateStyle", "SHOW standard_conforming_strings", "SHOW TimeZone")),
        session(query("SET application_name = 'a name'", "SHOW application_name", "RESET application_name", "SHOW application_name")),
        session(query("SET application_name TO unquoted", "SET SESSION application_name = 'x'", "SET LOCAL application_name = 'y'",
                      "SHOW application_name")),
        session(query("BEGIN", "SET application_name = 'in a block'", "ROLLBACK", "SHOW application_name")),
        session(query("BEGIN", "SET LOCAL application_name = 'local'", "SHOW application_name", "COMMIT", "SHOW application_name")),
        session(query("SET nothing = 1", "SHOW nothing", "RESET nothing", "SET a.b = 'custom'", "SHOW a.b", "SHOW a.c")),
        session(query("SET statement_timeout = '5s'", "SHOW statement_timeout", "SET statement_timeout = 1500", "SHOW statement_timeout",
                      "SET statement_timeout = 'x'", "SET statement_timeout TO DEFAULT", "SHOW statement_timeout")),
        session(query("SET client_encoding = 'UTF8'", "SET NAMES 'utf8'", "SET client_min_messages = warning", "SHOW client_min_messages",
                      "DROP TABLE IF EXISTS none", "SET client_min_messages = 'loud'")),
        session(query("SET TIME ZONE 'UTC'", "SHOW TIME ZONE", "SET extra_float_digits = 3", "SHOW extra_float_digits")),
        session(query("DISCARD ALL", "DISCARD PLANS", "DISCARD TEMP", "RESET ALL", "BEGIN", "DISCARD ALL", "ROLLBACK")),
        session(query("SELECT current_setting('application_name')", "SELECT set_config('application_name', 'by a function', false)",
                      "SHOW application_name")),
        session(query("SET search_path = public", "SHOW search_path", "SET datestyle = 'ISO, DMY'", "SHOW datestyle", "SHOW transaction_read_only")),
        [say("Startup", {"user": "tester", "database": "bank", "application_name": "at the start", "options": "-c statement_timeout=7s"}),
         *query("SHOW application_name", "SHOW statement_timeout", "RESET statement_timeout", "SHOW statement_timeout"), END],
        session(query("LISTEN channel", "UNLISTEN channel", "UNLISTEN *", "VACUUM", "ANALYZE", "CHECKPOINT")),
    ]


def errors():
    """Errors, their SQLSTATEs and places."""
    texts = ["SELEC 1", "SELECT 1 +", "SELECT 'never closed", "SELECT * FROM nowhere", "SELECT nothing FROM e", "SELECT e.nothing FROM e",
             "SELECT f.id FROM e", "SELECT nofunction(1)", "SELECT 1 / 0", "SELECT 'x'::int", "SELECT 1 = 'x'", "SELECT 'a' + 'b'", "SELECT true + 1",
             "SELECT id, count(*) FROM e", "SELECT id FROM e GROUP BY v", "SELECT count(count(*)) FROM e", "SELECT id FROM e WHERE count(*) > 1",
             "SELECT id FROM e ORDER BY 5", "SELECT id FROM e, e", "SELECT a.id FROM e a, e b WHERE id = 1", "INSERT INTO e VALUES (1, 1, 'x')",
             "INSERT INTO e VALUES (2)", "INSERT INTO e VALUES (2, 0, 'x')", "INSERT INTO e VALUES (2, 40000, 'x')",
             "INSERT INTO e VALUES (2, 1, 'long')", "INSERT INTO e VALUES (2, 1, 'x', 1000)", "INSERT INTO e (id, id) VALUES (1, 2)",
             "INSERT INTO e (nothing) VALUES (1)", "INSERT INTO e VALUES (1, 2, 'x', 1, 1)", "INSERT INTO e (id, v) VALUES (1)",
             "INSERT INTO child VALUES (9, 9)", "DELETE FROM e WHERE id = 1", "UPDATE e SET nothing = 1", "UPDATE e SET id = NULL",
             "UPDATE nowhere SET id = 1", "DELETE FROM nowhere", "DROP TABLE nowhere", "DROP TABLE e", "CREATE TABLE e (a int)", "CREATE TABLE f (a nothing)",
             "CREATE TABLE f (a int, a int)", "CREATE TABLE f (a int PRIMARY KEY, b int PRIMARY KEY)", "CREATE INDEX i ON e (nothing)",
             "CREATE INDEX i ON nowhere (id)", "DROP INDEX nowhere", "CALL nowhere(1)", "SELECT sqrt(-1)", "SELECT ln(0)", "SELECT 2147483647 + 1",
             "SELECT 9223372036854775807 + 1", "SELECT (SELECT id FROM e UNION ALL SELECT 2)", "SELECT date '2024-02-30'", "SELECT 1 WHERE 1",
             "SELECT 1 LIMIT -1", "SELECT id FROM e LIMIT 'x'", "SELECT substring('x' FROM 1 FOR -1)", "SELECT chr(0)", "TRUNCATE nowhere",
             "ALTER TABLE nowhere ADD COLUMN a int", "ALTER TABLE e ADD COLUMN id int", "ALTER TABLE e DROP COLUMN nothing",
             "SELECT 1 UNION SELECT 'x'", "SELECT 1, 2 UNION SELECT 1", "SELECT * FROM (SELECT 1)", "SELECT é", "EXPLAIN SELECT nothing"]
    sessions = [session(query("CREATE TABLE e (id int PRIMARY KEY, v smallint NOT NULL CHECK (v > 0), w varchar(3), n numeric(4,2))",
                              "CREATE TABLE child (id int PRIMARY KEY, e int REFERENCES e)", "INSERT INTO e VALUES (1, 1)",
                              "INSERT INTO child VALUES (1, 1)"))]
    for begin in range(0, len(texts), 6):
        sessions.append(session(query(*texts[begin:begin + 6]), query("SELECT 1")))
    return sessions


def routines():
    """Functions, procedures, what they say, and their errors."""
    return [
        session(query("CREATE TABLE r (id int PRIMARY KEY, v int)",
                      "CREATE FUNCTION plus(a int, b int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN a + b; END $$",
                      "CREATE PROCEDURE put(p_id int, p_v int) LANGUAGE plpgsql AS $$ BEGIN INSERT INTO r VALUES (p_id, p_v); END $$",
                      "CREATE PROCEDURE both(p_a int, INOUT p_b int) LANGUAGE plpgsql AS $$ BEGIN p_b := p_a + p_b; END $$",
                      "CREATE PROCEDURE says(p_a int) LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'a is %', p_a; RAISE WARNING 'careful'; END $$",
                      "CREATE PROCEDURE fails(p_a int) LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no %', p_a USING ERRCODE = '22012', HINT = 'a hint'; END $$")),
        session(query("SELECT plus(1, 2)", "SELECT * FROM plus(1, 2)", "SELECT plus(1, NULL) AS n", "SELECT plus('1', 2)", "SELECT plus(1)")),
        session(query("CALL put(1, 10)", "CALL put(1, 10)", "CALL put(2, NULL)", "CALL put(NULL, 1)", "SELECT * FROM r ORDER BY id")),
        session(query("CALL both(1, 2)", "CALL both(1, NULL)", "CALL both(1)"), run("CALL both($1, $2)", ["3", "4"])),
        session(run("CALL put($1, $2)", ["3", "30"]), run("CALL put($1, $2)", ["3", "30"]), run("SELECT plus($1, $2)", ["1", "2"])),
        session(query("CALL says(5)", "CALL fails(6)", "SELECT 1"), run("CALL says($1)", ["7"]), run("CALL fails($1)", ["8"])),
        session(query("BEGIN", "CALL put(4, 40)", "CALL fails(1)", "SELECT 1", "ROLLBACK", "SELECT count(*) FROM r")),
        session(query("SELECT put(1, 2)", "CALL plus(1, 2)", "DROP FUNCTION put", "DROP PROCEDURE none", "DROP PROCEDURE IF EXISTS none")),
        session(run("SELECT * FROM plus($1, $2, $3) AS result", ["1", "2", None], types=[23, 23, 2278])),
        session(query("DROP FUNCTION plus", "DROP PROCEDURE put", "DROP PROCEDURE both", "DROP TABLE r")),
    ]


ALL = {each.__name__: each for each in (simple, blocks, extended, numbers, texts_and_times, inference, arrays, copies, settings, errors, routines)}


