"""psycopg 3 against the server that the environment names: its types in text and binary, cursors of the server, COPY, pipelines, savepoints."""

import datetime
import decimal

import psycopg


def equal(got, wanted):
    assert got == wanted, f"got {got}, wanted {wanted}"


def fill(connection):
    connection.execute("CREATE TABLE t (id SERIAL PRIMARY KEY, n INT, s TEXT, f FLOAT8, r REAL, d NUMERIC(8,2), b BOOL, day DATE, at TIMESTAMP)")
    connection.commit()
    first = datetime.date(2024, 1, 1)
    rows = [(i, f"s{i}", i / 3, i / 2, decimal.Decimal(i) / 4, i % 2 == 0, first + datetime.timedelta(i), datetime.datetime(2024, 1, 1, i % 24))
            for i in range(100)]
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO t (n, s, f, r, d, b, day, at) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)", rows)
    connection.commit()
    wanted = (7, 6, "s6", 2.0, 3.0, decimal.Decimal("1.50"), True, datetime.date(2024, 1, 7), datetime.datetime(2024, 1, 1, 6))
    for binary in (False, True):
        equal(connection.execute("SELECT * FROM t WHERE id = %s", [7], binary=binary).fetchone(), wanted)
        equal(connection.execute("SELECT id FROM t WHERE day = %s AND at = %s", wanted[-2:], binary=binary).fetchone(), (7,))
    equal(connection.execute("SELECT count(*) FROM t WHERE n = ANY(%s)", [[1, 2, 300]]).fetchone(), (2,))
    equal([(column.name, column.type_code) for column in connection.execute("SELECT * FROM t LIMIT 0").description][-2:],
          [("day", 1082), ("at", 1114)])


def server_cursors(connection):
    with connection.cursor(name="Some Cursor") as cursor:
        cursor.itersize = 10
        cursor.execute("SELECT id, s FROM t WHERE id > %s ORDER BY id", [5])
        rows = list(cursor)
        equal((len(rows), rows[0]), (95, (6, "s5")))
    with connection.cursor(name="moving", scrollable=True) as cursor:
        cursor.execute("SELECT id FROM t ORDER BY id")
        equal(cursor.fetchone(), (1,))
        cursor.scroll(10)
        equal(cursor.fetchmany(2), [(12,), (13,)])
        cursor.scroll(3, mode="absolute")
        equal(cursor.fetchone(), (4,))
    with connection.cursor(name="kept", withhold=True, binary=True) as cursor:
        cursor.execute("SELECT id, f, day FROM t ORDER BY id")
        connection.commit()
        equal(cursor.fetchmany(2), [(1, 0.0, datetime.date(2024, 1, 1)), (2, 1 / 3, datetime.date(2024, 1, 2))])
        equal(len(cursor.fetchall()), 98)


def copy(connection):
    with connection.cursor() as cursor:
        with cursor.copy("COPY t (n, s) FROM STDIN") as rows:
            for i in range(200, 210):
                rows.write_row((i, f"tab\t{i}"))
        with cursor.copy("COPY t (n, s, day, d) FROM STDIN (FORMAT binary)") as rows:
            rows.set_types(["int4", "text", "date", "numeric"])
            for i in range(300, 310):
                rows.write_row((i, None if i == 305 else f"b{i}", datetime.date(1999, 1, 1), decimal.Decimal("-1.5")))
        with cursor.copy("COPY (SELECT n, s, day, d FROM t WHERE n >= 300 ORDER BY n) TO STDOUT (FORMAT binary)") as rows:
            rows.set_types(["int4", "text", "date", "numeric"])
            got = list(rows.rows())
        equal((len(got), got[4], got[5]), (10, (304, "b304", datetime.date(1999, 1, 1), decimal.Decimal("-1.50")),
                                           (305, None, datetime.date(1999, 1, 1), decimal.Decimal("-1.50"))))
        with cursor.copy("COPY t (n, s) TO STDOUT") as rows:
            equal(len(list(rows.rows())), 120)
    connection.rollback()
    try:
        with connection.cursor() as cursor, cursor.copy("COPY t (n) FROM STDIN (FORMAT binary)") as rows:
            rows.write(b"no signature of a COPY\n")
    except psycopg.Error as error:
        equal(error.sqlstate, "22P04")
    else:
        raise AssertionError("bytes without a header were read")
    connection.rollback()


def names_that_change(connection):
    """A FETCH that was prepared meets a cursor of other columns: an answer or an error, and the server goes on."""
    with connection.transaction():
        connection.execute("DECLARE c CURSOR FOR SELECT 1")
        prepared = connection.pgconn.prepare(b"fetching", b"FETCH ALL FROM c")
        equal(prepared.status, psycopg.pq.ExecStatus.COMMAND_OK)
        connection.execute("CLOSE c")
        connection.execute("DECLARE c CURSOR FOR SELECT 'a', 'b', 'c'")
    with connection.transaction():
        connection.execute("DECLARE c CURSOR FOR SELECT 'a', 'b', 'c'")
        given = connection.pgconn.exec_prepared(b"fetching", [])
        assert given.status == psycopg.pq.ExecStatus.FATAL_ERROR or given.nfields == 3
        if given.status == psycopg.pq.ExecStatus.FATAL_ERROR:
            equal(given.error_field(psycopg.pq.DiagnosticField.SQLSTATE), b"0A000")
            raise psycopg.Rollback
    equal(connection.execute("SELECT 1").fetchone(), (1,))
    connection.commit()


def transactions(connection):
    with connection.pipeline():
        one = connection.execute("SELECT 1")
        two = connection.execute("SELECT n FROM t WHERE id = %s", [3])
    equal((one.fetchone(), two.fetchone()), ((1,), (2,)))
    with connection.transaction():
        connection.execute("INSERT INTO t (n) VALUES (1000)")
        try:
            with connection.transaction():
                connection.execute("INSERT INTO t (n) VALUES (1001)")
                connection.execute("SELECT 1 / 0")
        except psycopg.errors.DivisionByZero:
            pass
    equal(connection.execute("SELECT n FROM t WHERE n >= 1000").fetchall(), [(1000,)])
    connection.commit()
    for i in range(1, 8):
        equal(connection.execute("SELECT n FROM t WHERE id = %s", [i], prepare=True).fetchone(), (i - 1,))
    connection.commit()


def main():
    with psycopg.connect() as connection:
        for step in (fill, server_cursors, copy, names_that_change, transactions):
            print(step.__name__, flush=True)
            step(connection)


if __name__ == "__main__":
    main()
