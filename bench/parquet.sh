#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# parquet.sh -- merge -f parquet, and DuckDB on 100 million hits.
#
#	parquet.sh [PROGRAM-DIRECTORY]	where generate and make-members are
#
# CPPROF        the program (./cpprof)
# NODE_PATH     where node finds @duckdb/node-api; without it, only merge is
#               measured
# BENCH_DIR     where inputs are kept (a temporary directory, removed at the end)
# BENCH_FILES   how many files of 1 to 5 MB (20)
# BENCH_SIZE    bytes of the text whose stacks they have (20000000)
# BENCH_TIMES   how often DuckDB is given the same hits (23)
set -euo pipefail

programs=${1:-bench}
cpprof=${CPPROF:-./cpprof}
files=${BENCH_FILES:-20}
. "$(dirname "$0")/measure.sh"
make_directory

mapfile -t inputs < <(seq -f "$directory/member-%05.0f.pb.gz" "$files")
if [ ! -s "${inputs[-1]}" ]; then
	"$programs/generate" walk "${BENCH_SIZE:-20000000}" |
		"$programs/make-members" "$directory" "$files"
fi

tables=$directory/tables
rm -rf "$tables"
measure "$cpprof" merge -f parquet -o "$tables" "${inputs[@]}" |
	awk -v files="$files" '{
		printf "merge: %.2f s by the clock, %.2f s of a processor, ", $1, $2
		printf "%.3f s a file, %d MiB\n", $2 / files, $3 / 1024
	}'
du -sk "$tables"/* | awk '{ n = split($2, part, "/"); print part[n] ": " $1 " KiB" }'

if ! command -v node >/dev/null || [ ! -d "${NODE_PATH:-}/@duckdb/node-api" ]; then
	echo 'no @duckdb/node-api in NODE_PATH: no queries'
	exit
fi
ln -sfn "$NODE_PATH" "$directory/node_modules"
cat >"$directory/queries.mjs" <<'END'
import duckdb from '@duckdb/node-api';
import fs from 'fs';
const [tables, times] = process.argv.slice(2);
const files = fs.readdirSync(tables + '/hit').map(name => `'${tables}/hit/${name}'`);
const all = Array(Number(times)).fill(files).flat().join(', ');
const instance = await duckdb.DuckDBInstance.create(':memory:');
const connection = await instance.connect();
const hits = `read_parquet([${all}])`;
const paths = `select path from '${tables}/path/*.parquet'`;
const one = `from '${tables}/stack_path/*.parquet' where path in`;
for (const [what, query] of [
    ['hits', `select count(*) from ${hits}`],
    ['their sum', `select sum("count") from ${hits}`],
    ['a path', `select sum("count") from ${hits} where stack in (select stack
        ${one} (select min(path) from '${tables}/path/*.parquet' where len(names) = 3))`],
    ['bodies', `with h as (select stack, sum("count") as n from ${hits} group by stack)
        select count(*) from (select leaf, sum(n) from h join (select distinct stack, leaf
        from '${tables}/stack/*.parquet') using (stack) group by leaf)`],
    ['functions', `with h as (select stack, sum("count") as n from ${hits} group by stack)
        select count(*) from (select path, sum(n) from h join (select distinct stack, path
        ${one} (${paths} where len(names) = 1)) using (stack) group by path)`],
]) {
    const start = Date.now();
    const reader = await connection.runAndReadAll(query);
    console.log(`${what}: ${reader.getRows()[0][0]}, ${(Date.now() - start) / 1000} s`);
}
END
node "$directory/queries.mjs" "$tables" "${BENCH_TIMES:-23}"
