#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# pprof-reader.sh: a foreign reader of pprof files sees what quartzctl sees: the sum of normalized
# time and the procedure on top. Exit status 77 when no reader is installed.
set -u
out=${O:-build}
profile=$(dirname "$0")/profiles/verify.pb.gz
fail()
{
	echo "pprof-reader.sh: $*"
	exit 1
}

python3 "$(dirname "$0")/strict.py" "$(dirname "$profile")"/*.pb.gz || fail 'not as Parca wants it'
if ! command -v go >/dev/null; then
	echo "pprof-reader.sh: skipped, no 'go tool pprof' here (package golang-go)"
	exit 77
fi
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
export PPROF_TMPDIR=$tmp HOME=$tmp GOFLAGS=-mod=mod GOTOOLCHAIN=local
foreign=$(go tool pprof -top -unit=ns -sample_index=norm_cpu "$profile" 2>&1) || fail "$foreign"

# "Showing nodes accounting for 16290000000ns, 100% of 16290000000ns total"
total=$(sed -nE 's/.* of ([0-9]+)ns total.*/\1/p' <<<"$foreign")
# The first row: flat, flat%, sum%, cum, cum%, name.
top=$(awk 'rows { sub(/ns$/, "", $1); print $1, $6; exit } $1 == "flat" { rows = 1 }' <<<"$foreign")

scope='.scopes[0]'
want_total=$("$out/quartzctl" report --json -i "$profile" | jq "[$scope.rows[].self.norm_ns] | add")
want_top=$("$out/quartzctl" report --json -i "$profile" |
	jq -r "[$scope.rows[]] | max_by(.self.norm_ns) | \"\(.self.norm_ns) \(.name)\"")
[ "$total" = "$want_total" ] || fail "the total is '$total', not '$want_total'"
[ "$top" = "$want_top" ] || fail "on top is '$top', not '$want_top'"

# Time blocked, and time spun, by the same reader: the sum and the leaf that has most of it.
foreign_top()
{
	go tool pprof -top -unit=ns -sample_index="$1" "$2" 2>&1 | awk '
		/ of [0-9]+ns total/ { sub(/ns$/, "", $(NF - 1)); total = $(NF - 1) }
		rows { print total, $6; exit }
		$1 == "flat" { rows = 1 }'
}
profiles=$(dirname "$profile")
got=$(foreign_top blocked "$profiles/locked.pb.gz")
[ "$got" = "32500000000 __lll_lock_wait" ] || fail "blocked, total and top are '$got'"
got=$(foreign_top spin "$profiles/spinning.pb.gz")
[ "$got" = "4000000000 gomp_barrier_wait" ] || fail "spin, total and top are '$got'"

# What pprof shows of the whole machine if it is asked for nothing adds up: no more than the time that it took.
system=$profiles/system.pb.gz
foreign=$(go tool pprof -top -unit=ns "$system" 2>&1) || fail "$foreign"
got=$(sed -nE 's/^(Type: |.*Total samples = )([a-z0-9_]+).*/\2/p' <<<"$foreign" | tr '\n' ' ')
[ "$got" = "machine_norm_cpu 9000000000ns " ] || fail "of the machine it shows '$got'"

# One process, program or unit of it.
tagged()
{
	go tool pprof -top -unit=ns -tagfocus="$1" "$system" 2>&1 | sed -nE 's/^Showing .* for ([0-9]+)ns.*/\1/p'
}
jq=$("$out/quartzctl" ps --json --by unit -i "$system")
want=$(jq '.rows[] | select(.name == "postgresql.service") | .norm_ns' <<<"$jq")
[ "$want" -gt 0 ] && [ "$(tagged unit=postgresql.service)" = "$want" ] ||
	fail "unit: '$(tagged unit=postgresql.service)', not '$want'"
while read -r pid comm want; do
	[ "$(tagged "pid=^$pid\$")" = "$want" ] || fail "pid $pid: '$(tagged "pid=^$pid\$")', not '$want'"
	[ "$(tagged "comm=^$comm\$")" = "$want" ] || fail "comm $comm: not '$want'"
done < <("$out/quartzctl" ps --json -i "$system" | jq -r '.rows[] | select(.norm_ns > 0) | "\(.pid) \(.name) \(.norm_ns)"')
