# Sessions of pgbench: it makes its tables, which get some of the rows that its scripts ask for; then each script in each mode, one of ours, and
# one in a pipeline.
set -e
run() { /usr/lib/postgresql/15/bin/pgbench "$@" >/dev/null 2>&1; }
run -i -I dtp -q
/usr/lib/postgresql/15/bin/psql -X -q -c "INSERT INTO pgbench_branches VALUES (1, 0)" \
  -c "INSERT INTO pgbench_tellers SELECT tid, 1, 0 FROM generate_series(1, 10) AS tid" \
  -c "INSERT INTO pgbench_accounts VALUES (46505, 1, 0), (47854, 1, 0), (2944, 1, 0)"
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cat > "$folder/own.sql" <<'S'
\set id random(1, 5)
BEGIN;
UPDATE pgbench_tellers SET tbalance = tbalance + :id WHERE tid = :id;
SELECT tbalance FROM pgbench_tellers WHERE tid = :id \gset
SELECT :tbalance + 1 AS more;
END;
S
cat > "$folder/pipeline.sql" <<'S'
\set id random(1, 5)
\startpipeline
SELECT bid FROM pgbench_tellers WHERE tid = :id;
UPDATE pgbench_tellers SET filler = 'x' WHERE tid = :id;
SELECT filler FROM pgbench_tellers WHERE tid = :id;
\endpipeline
S
for mode in simple extended prepared; do
  for script in tpcb-like simple-update select-only; do
    run -n -M $mode -b $script -t 2 --random-seed=7
  done
  run -n -M $mode -f "$folder/own.sql" -t 2 --random-seed=7
  [ $mode = simple ] || run -n -M $mode -f "$folder/pipeline.sql" -t 2 --random-seed=7
done
run -M simple -b select-only -t 1 --random-seed=7
