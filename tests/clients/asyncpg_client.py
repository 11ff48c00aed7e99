"""asyncpg against the server that the environment names. It speaks the extended protocol alone, all values in binary, and asks the catalogs
for each type that it meets."""

import asyncio
import datetime
import decimal
import io
import os

import asyncpg


def equal(got, wanted):
    assert got == wanted, f"got {got}, wanted {wanted}"


async def rows_and_arrays(connection):
    await connection.execute(
        "CREATE TABLE person (id SERIAL PRIMARY KEY, name TEXT, born DATE, balance NUMERIC(10,2), active BOOL, seen TIMESTAMPTZ, score FLOAT8)")
    seen = datetime.datetime(2024, 2, 29, 10, 30, tzinfo=datetime.timezone.utc)
    await connection.execute("INSERT INTO person (name, born, balance, active, seen, score) VALUES ($1, $2, $3, $4, $5, $6)", "Bob",
                             datetime.date(1984, 3, 1), decimal.Decimal("12.50"), True, seen, 1.5)
    await connection.executemany("INSERT INTO person (name, balance) VALUES ($1, $2)", [(f"x{i}", decimal.Decimal(i)) for i in range(100)])
    row = await connection.fetchrow("SELECT * FROM person WHERE name = $1", "Bob")
    equal(tuple(row), (1, "Bob", datetime.date(1984, 3, 1), decimal.Decimal("12.50"), True, seen, 1.5))
    equal(await connection.fetchval("SELECT count(*) FROM person WHERE id = ANY($1::int[])", [1, 2, 300]), 2)
    equal(await connection.fetchval("SELECT ARRAY[1, NULL, 3]"), [1, None, 3])
    equal(await connection.fetchval("SELECT array_agg(name ORDER BY id) FROM person WHERE id < 4"), ["Bob", "x0", "x1"])
    equal(await connection.fetchval("SELECT ARRAY[1.5, 20]"), [decimal.Decimal("1.5"), decimal.Decimal(20)])
    equal(await connection.fetchval("SELECT '{}'::date[]"), [])
    equal(await connection.fetchval("SELECT ARRAY['2024-02-29'::date]"), [datetime.date(2024, 2, 29)])
    equal(await connection.fetchval("SELECT '{1,2}'::text[]::bigint[]"), [1, 2])


async def catalogs(connection):
    # What drivers ask about a type; the common table in it takes a column from around it.
    types = await connection.fetch("SELECT t.oid, (WITH RECURSIVE up(oid, depth) AS (SELECT t.typelem, 0 UNION ALL SELECT e.typelem, depth + 1 "
                                   "FROM pg_type e, up WHERE up.oid = e.oid AND e.typelem <> 0) SELECT max(depth) FROM up) AS deepest "
                                   "FROM pg_type t WHERE t.typname IN ('int4', '_int4') ORDER BY t.typname")
    equal([tuple(each) for each in types], [(1007, 0), (23, 0)])
    names = "SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'person'::regclass AND attnum BETWEEN 1 AND 2"
    equal(await connection.fetchval(names), ["id", "name"])
    equal(await connection.fetchval("SELECT relnamespace FROM pg_class WHERE relname = $1", "person"), 2200)


async def transactions(connection):
    try:
        async with connection.transaction():
            async with connection.transaction():
                await connection.execute("INSERT INTO person (id) VALUES (5000)")
                raise ValueError
    except ValueError:
        pass
    equal(await connection.fetchval("SELECT count(*) FROM person WHERE id = 5000"), 0)
    async with connection.transaction():
        equal(len([row async for row in connection.cursor("SELECT * FROM person WHERE id > $1", 1)]), 100)
    try:
        await connection.execute("INSERT INTO person (id) VALUES (1)")
        raise AssertionError("no error")
    except asyncpg.UniqueViolationError as error:
        equal(error.constraint_name, "person_pkey")


async def settings(connection):
    equal(await connection.fetchval("SELECT set_config('application_name', $1, false)", "mine"), "mine")
    equal(await connection.fetchval("SELECT current_setting('application_name')"), "mine")
    equal(await connection.fetchval("SELECT count(set_config('search_path', 'public', false)) FROM pg_am WHERE amname = 'none'"), 0)
    equal(await connection.fetchval("SELECT current_setting('no such', true)"), None)
    await connection.reset()


async def copy(connection):
    equal(await connection.copy_records_to_table("person", records=[(1000 + i, f"c{i}") for i in range(50)], columns=["id", "name"]), "COPY 50")
    output = io.BytesIO()
    await connection.copy_from_query("SELECT id, name FROM person WHERE id > $1", 1047, output=output, format="csv")
    equal(output.getvalue(), b"1048,c48\n1049,c49\n")


async def pool():
    places = await asyncpg.create_pool(host=os.environ["PGHOST"], min_size=2, max_size=4)

    async def ask(number):
        async with places.acquire() as connection:
            return await connection.fetchval("SELECT $1::int * 2", number)

    equal(await asyncio.gather(*[ask(i) for i in range(20)]), [2 * i for i in range(20)])
    await places.close()


async def main():
    connection = await asyncpg.connect(host=os.environ["PGHOST"])
    for part in (rows_and_arrays, catalogs, transactions, settings, copy):
        await part(connection)
    await connection.close()
    await pool()


asyncio.run(main())
