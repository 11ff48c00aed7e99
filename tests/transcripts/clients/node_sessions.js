// Sessions of node-postgres.
'use strict';

const path = require('path');
const modules = path.join(__dirname, '..', '..', 'clients', 'node', 'node_modules');
const { Client } = require(path.join(modules, 'pg'));
const Cursor = require(path.join(modules, 'pg-cursor'));

async function session(run) {
  const client = new Client();
  await client.connect();
  try {
    await run(client);
  } catch (error) {
    if (!error.code) throw error;
  }
  await client.end();
}

async function main() {
  await session((client) => client.query('CREATE TABLE item (id int PRIMARY KEY, name text, price numeric(8,2), at timestamp, flag boolean)'));
  await session(async (client) => {
    await client.query('INSERT INTO item VALUES ($1, $2, $3, $4, $5)', [1, 'naïve', 1.5, '2024-02-29 01:02:03', true]);
    await client.query('INSERT INTO item (id, name) VALUES ($1, $2), ($3, $4) RETURNING *', [2, null, 3, 'three']);
  });
  await session((client) => client.query('SELECT * FROM item ORDER BY id'));
  await session(async (client) => {
    for (const id of [1, 2, 77]) await client.query({ name: 'by id', text: 'SELECT name FROM item WHERE id = $1', values: [id] });
  });
  await session((client) => client.query({ text: 'SELECT id, flag FROM item WHERE id = $1', values: [1], binary: true }));
  await session((client) => client.query('SELECT id FROM item WHERE id = ANY($1) ORDER BY id', [[1, 3]]));
  await session((client) => client.query('SELECT $1::int[] AS a, $2::text[] AS b', [[1, null], ['a', 'b c']]));
  await session(async (client) => {
    await client.query('BEGIN');
    await client.query('DELETE FROM item');
    await client.query('ROLLBACK');
  });
  await session((client) => client.query('SELECT 1; SELECT 2'));
  await session(async (client) => {
    const cursor = client.query(new Cursor('SELECT a FROM generate_series(1, $1::int) AS a', [5]));
    await cursor.read(2);
    await cursor.read(3);
    await cursor.read(3);
    await cursor.close();
  });
  await session((client) => client.query('INSERT INTO item VALUES ($1)', [1]));
  await session((client) => client.query('SELECT nothing FROM item'));
}

main();
