# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# How whole the stacks of real programs are, from their first instruction on, in percent: `whole`, samples
# whose user stack reached the outermost frame, of which `guess` had a frame that nothing describes;
# `start`, the number of those whose tables were not there yet; `main + idle`, the total of main and the time at level 0,
# of the elapsed time. Programs that are not installed are named at the end.

missing=()

# whole_row NAME MAIN COMMAND...: MAIN is the procedure that all work is on behalf of.
whole_row()
{
	local name=$1 main=$2

	shift 2
	command -v "$1" >/dev/null || {
		missing+=("$name")
		return
	}
	"$out/quartzctl" record -o "$T/profile" -- "$@" >"$T/work.out" 2>"$T/work.err" </dev/null
	"$out/quartzctl" report -i "$T/profile" --json 2>"$T/report.err" | jq -r --arg name "$name" --arg main "$main" '
		def percent: . * 10000 | round / 100;
		.scopes[0] as $s | $s.stack_ends as $ends |
		([$s.rows[] | select(.name == $main) | .total.norm_ns] | max // 0) as $norm |
		[$name, $s.samples, (([$ends | .outermost, .guessed] | add) / $s.samples | percent),
		 (($ends.guessed // 0) / $s.samples | percent),
		 ([$ends | .not_ready, .stale, .no_region] | add // 0),
		 (($norm + $s.idle_ns) / $s.elapsed_ns | percent)] | @tsv' |
		awk -F'\t' '{ printf "%-16s %7d %7.2f %7.2f %6d %12.2f\n", $1, $2, $3, $4, $5, $6 }'
}

# A server that is asked for three seconds, and ends with its client.
redis_session()
{
	redis-server --port 0 --unixsocket "$1/redis" --save '' --dir "$1" >/dev/null &
	until [ -S "$1/redis" ]; do sleep 0.05; done
	timeout 3 redis-benchmark -s "$1/redis" -c 8 -n 100000 -l -q -t set,get,lpush >/dev/null
	kill $!
	wait
}

# As nobody, since PostgreSQL does not run as root.
postgres_session()
{
	setpriv --reuid=nobody --regid=nogroup --clear-groups bash -c '
		"$1/initdb" -D "$2" >/dev/null
		"$1/pg_ctl" -s -w -D "$2" -o "-k $2 -h \"\"" -l "$2/log" start
		"$1/pgbench" -h "$2" -i -q postgres >/dev/null 2>&1
		"$1/pgbench" -h "$2" -c 4 -T 3 postgres >/dev/null 2>&1
		"$1/pg_ctl" -s -w -D "$2" stop' - "$1" "$2"
}
export -f redis_session postgres_session

head -c 20000000 /dev/urandom | base64 -w 60 >"$T/text"
chmod 755 "$T"
postgres=$(find /usr/lib/postgresql -name initdb -printf '%h\n' 2>/dev/null | head -n 1)
[ -z "$postgres" ] || install -d -m 700 -o nobody -g nogroup "$T/data"
! command -v rustc >/dev/null || rustc -O -o "$T/rust" tests/unwind/subject.rs
! command -v go >/dev/null || GO111MODULE=off GOFLAGS='' go build -o "$T/go" tests/unwind/subject.go

printf '%-16s %7s %7s %7s %6s %12s\n' program samples whole guess start 'main + idle'
whole_row xz main xz -k -T0 -3 -c "$T/text"
whole_row pigz main pigz -9 -k -c "$T/text"
whole_row sort main sort --parallel=2 "$T/text"
whole_row python3 Py_BytesMain python3 -c 'import json
for i in range(400):
    json.loads(json.dumps([{"a": i, "b": str(i) * 3} for i in range(2000)]))'
whole_row perl main perl -e 'for my $i (1..1000) {
	my %h = map { ("k$_", $_ * 2) } 1..1000;
	my $x = join ",", sort { $h{$a} <=> $h{$b} } keys %h;
}'
whole_row openssl-multi main openssl speed -seconds 1 -multi 2 sha256 ecdsap256
whole_row sysbench-cpu main sysbench cpu --threads=2 --time=3 run
whole_row sysbench-mutex main sysbench mutex --threads=4 run
whole_row OpenMP main "$out/tests/programs/omp_work" 1 2
whole_row rust main timeout 2 "$T/rust"
whole_row go runtime.goexit timeout 2 "$T/go"
whole_row ffmpeg-x264 main ffmpeg -nostdin -loglevel quiet -f lavfi -i testsrc2=size=640x360 -t 20 \
	-c:v libx264 -f null -
if command -v redis-server >/dev/null; then
	whole_row redis main bash -c 'redis_session "$1"' - "$T"
else
	missing+=(redis)
fi
if [ -n "$postgres" ]; then
	whole_row postgres main bash -c 'postgres_session "$1" "$2"' - "$postgres" "$T/data"
else
	missing+=(postgres)
fi
[ ${#missing[@]} -eq 0 ] || echo "not installed: ${missing[*]}"
