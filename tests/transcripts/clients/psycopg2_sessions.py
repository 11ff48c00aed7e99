"""Sessions of psycopg2."""

import io

import psycopg2
import psycopg2.extras


def session(*statements, run=None, autocommit=False):
    connection = psycopg2.connect("")
    connection.autocommit = autocommit
    try:
        with connection.cursor() as cursor:
            for statement, *values in statements:
                cursor.execute(statement, values or None)
                if cursor.description:
                    cursor.fetchall()
            if run:
                run(connection, cursor)
        connection.commit()
    except psycopg2.Error:
        connection.rollback()
    finally:
        connection.close()


def copy(_, cursor):
    cursor.copy_from(io.StringIO("10\tten\n11\t\\N\n"), "pair", columns=("id", "name"))
    cursor.copy_expert("COPY pair TO STDOUT (FORMAT csv)", io.StringIO())


def values(_, cursor):
    psycopg2.extras.execute_values(cursor, "INSERT INTO pair VALUES %s RETURNING id", [(20, "a"), (21, "b")], fetch=True)
    psycopg2.extras.execute_batch(cursor, "UPDATE pair SET name = %s WHERE id = %s", [("x", 20), ("y", 21)])


def named(connection, _):
    with connection.cursor(name="named") as cursor:
        cursor.itersize = 2
        cursor.execute("SELECT * FROM pair ORDER BY id")
        list(cursor)


session(("CREATE TABLE pair (id int PRIMARY KEY, name text)",))
session(("INSERT INTO pair VALUES (%s, %s), (%s, %s)", 1, "one", 2, None), ("SELECT * FROM pair ORDER BY id",))
session(("SELECT name FROM pair WHERE id IN %s", (1, 2)), ("SELECT %s, %s, %s", 1.5, True, [1, 2]))
session(("INSERT INTO pair VALUES (1, 'twice')",), ("SELECT 1",))
session(("SELECT * FROM pair WHERE id = %s FOR UPDATE", 1), ("SAVEPOINT a",), ("ROLLBACK TO a",))
session(run=copy)
session(run=values)
session(run=named)
session(("SET application_name = 'psycopg2'",), ("SHOW application_name",), autocommit=True)
