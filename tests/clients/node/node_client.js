// node-postgres against the server that PGHOST, PGPORT, PGUSER and PGDATABASE name. Prints all that it is answered: the test holds what it
// prints of Mneme against what it prints of PostgreSQL.
'use strict';

const { Client, Pool, types } = require('pg');
const Cursor = require('pg-cursor');

const print = (title, value) =>
  console.log(`${title}: ${JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}n` : each))}`);

/** Runs what fails, and prints how. */
async function attempt(title, run) {
  try {
    await run();
    print(title, 'done');
  } catch (error) {
    print(title, [error.code, error.position, error.severity]);
  }
}

async function connected(run) {
  const client = new Client();
  const notices = [];
  client.on('notice', (notice) => notices.push([notice.severity, notice.code, notice.message]));
  await client.connect();
  try {
    await run(client, notices);
  } finally {
    await client.end();
  }
}

async function typesAndParameters() {
  await connected(async (client) => {
    await client.query('DROP TABLE IF EXISTS every_type');
    await client.query(`CREATE TABLE every_type (id serial PRIMARY KEY, si smallint, i integer, b bigint, n numeric(20,2), r real,
        d double precision, v varchar(20), c char(5), t text, o boolean, day date, at timestamp)`);
    const insert = `INSERT INTO every_type (si, i, b, n, r, d, v, c, t, o, day, at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
        RETURNING *`;
    const rows = [
      [1, 2, '9007199254740993', '12.50', 0.5, 1 / 3, 'naïve', 'ab', 'a "quote" and \\ and €', true, '2024-02-29', '2024-02-29 12:34:56.789'],
      [-32768, -2147483648, '-9223372036854775808', '-0.01', -1.5, 1e300, '', '', '', false, '0001-01-01', '1999-12-31 23:59:59.999999'],
      [null, null, null, null, null, null, null, null, null, null, null, null],
      [7, 8, 9n, 10.25, 11, 12, 13, 14, 15, 'yes', new Date(Date.UTC(2020, 5, 6)), '2020-06-07'],
    ];
    for (const row of rows) {
      const result = await client.query(insert, row);
      print('inserted', [result.command, result.rowCount, result.rows]);
    }
    const all = await client.query('SELECT * FROM every_type ORDER BY id');
    print('fields', all.fields.map((field) => [field.name, field.dataTypeID, field.dataTypeSize, field.dataTypeModifier, field.columnID,
      field.tableID > 0, field.format]));
    print('rows', all.rows);
    // Statements that the server keeps.
    const named = { name: 'by id', text: 'SELECT id, v, n, at FROM every_type WHERE id = $1 AND v = $2' };
    for (const values of [[1, 'naïve'], [1, 'other'], [2, ''], ['1', 'naïve']]) {
      print('named', (await client.query({ ...named, values })).rows);
    }
    print('array mode', (await client.query({ text: 'SELECT id, i AS id, i FROM every_type ORDER BY 1', rowMode: 'array' })).rows);
    print('any', (await client.query('SELECT id FROM every_type WHERE id = ANY($1) ORDER BY id', [[1, 3, 77]])).rows);
    print('any text', (await client.query('SELECT id FROM every_type WHERE v = ANY($1::text[]) ORDER BY id', [['naïve', 'a,"b', null]])).rows);
    print('arrays', (await client.query("SELECT ARRAY[1, 2, NULL] AS a, ARRAY['x', 'y z', 'null', '\"'] AS b, ARRAY[true] AS c")).rows);
    print('array parameter', (await client.query('SELECT $1::int[] AS a, $2::text[] AS b',
      [[1, 2, 3], ['a', 'b c', null]])).rows);
    // A parser of the client's own.
    types.setTypeParser(types.builtins.INT8, BigInt);
    print('bigint', (await client.query('SELECT b FROM every_type WHERE id = 2')).rows);
    types.setTypeParser(types.builtins.INT8, (text) => text);
    print('several', (await client.query('SELECT 1 AS a; SELECT 2 AS b, 3 AS c; UPDATE every_type SET si = 1 WHERE id = 1'))
      .map((each) => [each.command, each.rowCount, each.rows]));
    print('empty', [(await client.query('')).rows, (await client.query('-- nothing')).rows]);
    const binary = await client.query({ text: 'SELECT id, si, i, d, o, t FROM every_type WHERE id = $1', values: [1], binary: true });
    print('binary', binary.rows);
  });
}

async function transactions() {
  await connected(async (client, notices) => {
    await client.query('DROP TABLE IF EXISTS moved');
    await client.query('CREATE TABLE moved (id int PRIMARY KEY, v int CHECK (v >= 0))');
    await client.query('BEGIN');
    await client.query('INSERT INTO moved VALUES ($1, $2), ($3, $4)', [1, 10, 2, 20]);
    await client.query('SAVEPOINT "A point"');
    await attempt('check', () => client.query('UPDATE moved SET v = v - $1', [15]));
    await attempt('failed block', () => client.query('SELECT 1'));
    await client.query('ROLLBACK TO "A point"');
    print('behind the savepoint', (await client.query('SELECT * FROM moved ORDER BY id')).rows);
    print('commit', (await client.query('COMMIT')).command);
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    print('level', (await client.query('SHOW transaction_isolation')).rows);
    await attempt('read only', () => client.query('DELETE FROM moved'));
    print('rollback', (await client.query('COMMIT')).command);
    print('kept', (await client.query('SELECT count(*) FROM moved')).rows);
    await client.query('DROP TABLE IF EXISTS nowhere_to_be_found');
    await client.query('COMMIT');
    print('notices', notices);
  });
}

async function pool() {
  const made = new Pool({ max: 4 });
  await made.query('DROP TABLE IF EXISTS pooled');
  await made.query('CREATE TABLE pooled (id int PRIMARY KEY, v text)');
  const results = await Promise.all(Array.from({ length: 40 }, (_, i) =>
    made.query('INSERT INTO pooled VALUES ($1, $2) RETURNING id', [i, `v${i}`])));
  print('inserted', results.map((each) => each.rows[0].id));
  const client = await made.connect();
  await client.query('BEGIN');
  await client.query('DELETE FROM pooled');
  print('inside', (await client.query('SELECT count(*) FROM pooled')).rows);
  print('outside', (await made.query('SELECT count(*) FROM pooled')).rows);
  await client.query('ROLLBACK');
  client.release();
  print('clients', made.totalCount <= 4);
  await made.end();
}

async function cursors() {
  await connected(async (client) => {
    const cursor = client.query(new Cursor('SELECT a, a * $1::int AS b FROM generate_series(1, 7) AS a', [10]));
    for (let i = 0; i < 4; ++i) {
      print('read', await cursor.read(3));
    }
    await cursor.close();
    const left = client.query(new Cursor('SELECT a FROM generate_series(1, 1000) AS a', []));
    print('left', (await left.read(2)).length);
    await left.close();
    const exact = client.query(new Cursor('SELECT a FROM generate_series(1, 3) AS a'));
    print('exact', [await exact.read(3), await exact.read(3)]);
    await exact.close();
    const failing = client.query(new Cursor('SELECT 1 / (3 - a) AS q FROM generate_series(1, 5) AS a'));
    await attempt('fails', () => failing.read(10));
    print('goes on', (await client.query('SELECT 1 AS one')).rows);
  });
}

async function errors() {
  await connected(async (client) => {
    await client.query('DROP TABLE IF EXISTS wrong');
    await client.query('CREATE TABLE wrong (id int PRIMARY KEY, v varchar(3) NOT NULL, n numeric(4,2))');
    await client.query("INSERT INTO wrong VALUES (1, 'x', 1)");
    for (const [text, values] of [['SELEC 1'], ['SELECT * FROM nowhere'], ['SELECT nothing FROM wrong'], ['SELECT 1 / $1::int', [0]],
      ["INSERT INTO wrong VALUES ($1, 'x')", [1]], ['INSERT INTO wrong VALUES ($1, $2)', [2, 'long']],
      ['INSERT INTO wrong VALUES ($1, $2)', [2, null]], ['INSERT INTO wrong VALUES ($1, $2)', ['two', 'x']],
      ['INSERT INTO wrong VALUES ($1, $2, $3)', [2, 'x', 1000]], ['SELECT $1::int', ['x']], ['SELECT $1', [1, 2]],
      ['SELECT nofunction($1)', [1]], ['SELECT * FROM wrong WHERE id = $1', ['é']]]) {
      await attempt(text, () => client.query(text, values));
    }
    print('goes on', (await client.query('SELECT $1::text AS t', ['here'])).rows);
  });
}

async function main() {
  for (const part of [typesAndParameters, transactions, pool, cursors, errors]) {
    console.log(`== ${part.name}`);
    await part();
  }
  console.log('== end');
}

main().catch((error) => {
  console.log(`failed: ${error.code} ${error.message}`);
  console.error(error);
  process.exitCode = 1;
});
