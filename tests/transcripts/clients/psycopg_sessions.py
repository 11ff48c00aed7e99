"""Sessions of psycopg 3."""

import datetime
import decimal

import psycopg


def session(*steps, **options):
    with psycopg.connect("", **options) as connection:
        for step in steps:
            try:
                step(connection)
            except psycopg.Error:
                connection.rollback()


ROW = (1, "naïve", decimal.Decimal("1.50"), 0.5, True, datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 1, 2, 3))


def make(connection):
    connection.execute("CREATE TABLE item (id int PRIMARY KEY, name text, price numeric(8,2), ratio float8, flag bool, day date, at timestamp)")


def insert(connection):
    connection.execute("INSERT INTO item VALUES (%s, %s, %s, %s, %s, %s, %s)", ROW)
    connection.cursor().executemany("INSERT INTO item (id, name) VALUES (%s, %s)", [(i, f"n{i}") for i in range(2, 6)])


def select(binary):
    return lambda connection: connection.execute("SELECT * FROM item WHERE id = %s", [1], binary=binary).fetchall()


def prepared(connection):
    for i in range(4):
        connection.execute("SELECT name FROM item WHERE id = %s", [i], prepare=True)


def pipeline(connection):
    with connection.pipeline():
        connection.execute("SELECT 1")
        connection.execute("UPDATE item SET name = %s WHERE id = %s", ["x", 2])
        connection.execute("SELECT name FROM item WHERE id = %s", [2])


def failing_pipeline(connection):
    with connection.pipeline():
        connection.execute("SELECT 1")
        connection.execute("SELECT 1 / 0")
        connection.execute("SELECT 2")


def copy(connection):
    with connection.cursor() as cursor:
        with cursor.copy("COPY item (id, name) FROM STDIN") as rows:
            rows.write_row((20, "copied"))
        with cursor.copy("COPY item (id, name) FROM STDIN (FORMAT binary)") as rows:
            rows.set_types(["int4", "text"])
            rows.write_row((21, None))
        with cursor.copy("COPY (SELECT id, name FROM item WHERE id > 4 ORDER BY id) TO STDOUT") as rows:
            list(rows.rows())


def cursors(connection):
    with connection.cursor(name="named") as cursor:
        cursor.itersize = 2
        cursor.execute("SELECT id FROM item ORDER BY id")
        list(cursor)
    with connection.cursor(name="kept", withhold=True, scrollable=True) as cursor:
        cursor.execute("SELECT id FROM item ORDER BY id")
        connection.commit()
        cursor.scroll(1)
        cursor.fetchone()


def nested(connection):
    with connection.transaction():
        connection.execute("DELETE FROM item WHERE id = 2")
        try:
            with connection.transaction():
                connection.execute("INSERT INTO item (id) VALUES (1)")
        except psycopg.errors.UniqueViolation:
            pass


def wrong(connection):
    connection.execute("SELECT * FROM nowhere WHERE id = %s", [1])


def arrays(connection):
    connection.execute("SELECT id FROM item WHERE id = ANY(%s) ORDER BY id", [[1, 3]])
    connection.execute("SELECT %s::int[], %s::text[]", [[1, None], ["a", "b c"]])


def levels(connection):
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    connection.read_only = True
    connection.execute("SELECT count(*) FROM item")


session(make)
session(insert)
session(select(False))
session(select(True))
session(prepared)
session(pipeline)
session(failing_pipeline)
session(copy)
session(cursors)
session(nested)
session(wrong)
session(arrays)
session(levels)
session(select(False), wrong, select(True), autocommit=True)
