#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# export.sh: what is exported has the form that the readers of each format want, and adds up to what reports say.
# O names the build directory.
set -u
out=$(cd "${O:-build}" && pwd) || exit 1
cd "$(dirname "$0")/profiles" || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
bad=0

fail()
{
	echo "export.sh: $*"
	bad=1
}

# export PROFILE OPTION...: to the file $tmp/out; that there is none of something is no failure here.
export_to()
{
	local profile=$1

	shift
	"$out/quartzctl" export -i "$profile" "$@" >"$tmp/out" 2>"$tmp/err" || [ $? = 7 ] || fail "$profile $*: $(cat "$tmp/err")"
}

# same WHAT GOT WANTED
same()
{
	[ "$2" = "$3" ] || fail "$1: '$2', not '$3'"
}

# The totals of the scopes that are exported by default, in ns: norm cpu blocked spin.
totals()
{
	"$out/quartzctl" report --json -i "$1" 2>/dev/null | jq -r '[.scopes[] | [.busy_ns,
		([.level_ns | to_entries[] | .key * .value] | add), .blocked_ns - .blocked_idle_ns, .spin_ns]] |
		transpose | map(add) | join(" ")'
}

# A line is frames and a whole number, as flamegraph.pl splits it; prints the sum.
sum_of_folded()
{
	LC_ALL=C awk '!/^[^;]+(;[^;]+)* [1-9][0-9]*$/ || /[\001-\037\177]/ { print "line " NR ": " $0; exit }
		{ sum += $NF } END { printf "%.0f\n", sum }' "$tmp/out"
}

# As the schema of speedscope has it, as far as it concerns sampled profiles. No output: all is well.
check_speedscope()
{
	jq -r 'def index($n): type == "number" and . >= 0 and . < $n and . == floor;
		def check($what; condition): if condition then empty else $what end;
		(.shared.frames | length) as $n |
		check("$schema"; ."$schema" == "https://www.speedscope.app/file-format-schema.json"),
		check("name"; .name | type == "string"),
		check("exporter"; .exporter | type == "string"),
		check("frames"; all(.shared.frames[]; (.name | type == "string") and
			((.file // "") | type == "string") and ((.line // 0) | type == "number") and
			(keys - ["name", "file", "line"] == []))),
		check("profiles"; .profiles | type == "array" and length >= 1),
		(.profiles[] | .name as $name |
			check($name + ": keys"; keys == ["endValue", "name", "samples", "startValue", "type", "unit", "weights"]),
			check($name + ": type"; .type == "sampled" and .unit == "nanoseconds"),
			check($name + ": lengths"; (.samples | length) == (.weights | length)),
			check($name + ": samples"; all(.samples[]; type == "array" and all(.[]; index($n)))),
			check($name + ": weights"; all(.weights[]; type == "number" and . > 0)),
			check($name + ": end"; .startValue == 0 and .endValue == ([.weights[]] | add // 0)))' "$tmp/out" 2>&1
}

check_stacks()
{
	local profile=$1 i=0 got
	local -a wanted

	read -ra wanted < <(totals "$profile")
	for value in norm cpu blocked spin; do
		export_to "$profile" --format folded --value "$value"
		same "$profile: folded $value" "$(sum_of_folded)" "$(((wanted[i++] + 500) / 1000))"
	done
	export_to "$profile" --format speedscope
	same "$profile: speedscope" "$(check_speedscope)" ''
	got=$(jq -r '[("normalized time", "processor time", "blocked", "spinning") as $name |
		[.profiles[] | select(.name == $name) | .endValue] | add // 0] | join(" ")' "$tmp/out")
	same "$profile: speedscope" "$got" "${wanted[*]}"
}

# By a reader that is not ours: each row has as many cells as there are columns, none is a formula, and all add up.
check_table()
{
	local profile=$1 got want

	export_to "$profile" --format csv
	got=$(python3 -c '
import csv, sys
rows = list(csv.reader(sys.stdin, strict=True))
head = rows[0] if rows else []
for row in rows[1:]:
    assert len(row) == len(head), row
    assert not any(cell[:1] in ("=", "+", "-", "@") for cell in row), row
    assert all(cell.isdigit() for name, cell in zip(head, row) if name.startswith(("self_", "total_"))), row
print(sum(int(row[head.index("self_norm_ns")]) for row in rows[1:]), len(rows[1:]))' <"$tmp/out" 2>&1)
	want=$("$out/quartzctl" report --json -i "$profile" 2>/dev/null | jq -r '
		"\([.scopes[] | .busy_ns - .unattributed_ns - .instrumentation_ns] | add) \([.scopes[].rows_total] | add)"')
	same "$profile: csv" "$got" "$want"
}

# One slice for each thread, whose normalized times add up to those of the threads.
check_trace()
{
	local profile=$1 got want

	export_to "$profile" --format perfetto
	got=$(jq -r '.traceEvents | (map(select(.ph == "X" and .ts >= 0 and .dur >= 0)) |
		"\(length) \(map(.args.norm_ns) | add // 0)"),
		(map(select((.ph | IN("X", "M", "i") | not) or (.pid | type != "number") or (.tid | type != "number") or
			(.name | type != "string") or (.args | type != "object"))) | .[])' "$tmp/out" 2>&1)
	want=$("$out/quartzctl" report --json -i "$profile" 2>/dev/null |
		jq -r '[.scopes[].threads[]] | "\(length) \(map(.norm_ns) | add // 0)"')
	same "$profile: trace" "$got" "$want"
}

for profile in *.pb.gz; do
	check_stacks "$profile"
	check_table "$profile"
	check_trace "$profile"
done

# The log of events beside a snapshot: magic, size, complete, dropped; then time, pid, tid, value, number, lost.
cp locked.pb.gz "$tmp/with.pb.gz"
python3 -c '
import struct, sys
sys.stdout.buffer.write(b"qzents01" + struct.pack("=IIQ", 32, 1, 0))
sys.stdout.buffer.write(struct.pack("=QIIIIII", 5000000001, 800, 801, 7, 1, 0, 0))' >"$tmp/with.pb.gz.events"
export_to "$tmp/with.pb.gz" --format perfetto
same 'events' "$(jq -c '.traceEvents[] | select(.ph == "i") | [.name, .tid, .ts]' "$tmp/out")" '["event 7",801,5000000.001]'
grep -q 'and 1 events, are in it' "$tmp/err" || fail "events: $(cat "$tmp/err")"

# Another user's file, or device, is no place for what root sees, in a directory where users cannot remove each other's files.
if [ "$(id -u)" = 0 ]; then
	mkdir -m 1777 "$tmp/shared"
	echo theirs >"$tmp/shared/file"
	mkfifo "$tmp/shared/pipe"
	chown 65534 "$tmp/shared"/*
	for name in file pipe; do
		"$out/quartzctl" export -f csv -i two.pb.gz -o "$tmp/shared/$name" 2>"$tmp/err"
		same "status of another user's $name" "$?" 1
		same "lines about another user's $name" "$(grep -c 'cannot be written' "$tmp/err")" 1
	done
	same "another user's file" "$(cat "$tmp/shared/file")" theirs
	same 'what is left' "$(ls -A "$tmp/shared" | tr '\n' ' ')" 'file pipe '
fi
exit $bad
