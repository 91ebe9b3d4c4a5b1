# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# A busy server, for the parts that want one: redis, PostgreSQL, a compiler, a compressor and processes that
# come and go.

# repeat NAME COMMAND...: one byte of done.NAME for each time that it was done.
repeat()
{
	local name=$1

	shift
	while "$@" >/dev/null 2>&1; do
		printf .
	done >>"$T/done.$name"
}

# PostgreSQL does not run as root.
as_nobody=(setpriv --reuid=nobody --regid=nogroup --clear-groups)

# needs COMMAND PACKAGE
needs()
{
	command -v "$1" >/dev/null || fail "load: no $1, of Debian's package $2"
}

serve_redis()
{
	needs redis-server redis-server
	start redis redis-server --port 0 --unixsocket "$T/redis" --save '' --dir "$T"
	until [ -S "$T/redis" ]; do sleep 0.05; done
}

# How many commands it has done so far.
count_redis()
{
	redis-cli -s "$T/redis" info stats | sed -n 's/^total_commands_processed:\([0-9]*\).*/\1/p'
}

start_redis()
{
	serve_redis
	start ask_redis redis-benchmark -s "$T/redis" -c 8 -n 1000000000 -q -t set
}

serve_postgres()
{
	postgres=$(find /usr/lib/postgresql -name initdb -printf '%h\n' 2>/dev/null | head -n 1)
	[ -n "$postgres" ] || fail 'load: no PostgreSQL'
	chmod 755 "$T"
	install -d -m 700 -o nobody -g nogroup "$T/data"
	"${as_nobody[@]}" "$postgres/initdb" -D "$T/data" >"$T/initdb.out" || fail 'load: initdb'
	start postgres "${as_nobody[@]}" "$postgres/postgres" -D "$T/data" -k "$T/data" -h '' \
		-c fsync=off
	server=$pid
	until "${as_nobody[@]}" "$postgres/pg_isready" -q -h "$T/data" -d postgres; do sleep 0.05; done
	"${as_nobody[@]}" "$postgres/pgbench" -h "$T/data" -i -q postgres >"$T/pgbench.out" 2>&1 ||
		fail 'load: pgbench'
}

start_postgres()
{
	serve_postgres
	start ask_postgres "${as_nobody[@]}" "$postgres/pgbench" -n -h "$T/data" -c 4 -T 86400 postgres
}

# What is compiled and compressed.
make_files()
{
	awk 'BEGIN {
		for (i = 0; i < 20; i++)
			printf "int f%d(int *a, int n) { int s = %d; for (int i = 0; i < n; i++) " \
				"s += a[i] * s ^ a[n - i] / (i + %d); return s; }\n", i, i, i + 1
	}' >"$T/source.c"
	head -c 500000 /dev/urandom | base64 >"$T/text"
}

start_work()
{
	make_files
	start compile repeat compile cc -O2 -c -o "$T/source.o" "$T/source.c"
	start compress repeat compress pigz -c "$T/text"
	start forks repeat forks "$out/tests/programs/forks" 20 4
}

stop_load()
{
	kill -INT "$server"
	wait "$server"
	for pid in "${started[@]}"; do
		end "$pid"
	done
	started=()
}
