#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# crowd.sh O PROCESSES THREADS: quartzd --system beside so many processes of so many threads each, in a guest
# with memory enough. Prints what it took, and "ok WHAT: FIGURE" or "FAIL WHAT: FIGURE"; asserts no time.
set -u
o=$1 processes=$2 threads=$3
export LC_ALL=C QUARTZ_PAGER=cat
T=$(mktemp -d) || exit 1
failed=0
limit=3000 # seconds until the first full report
in_crowd='[.rows[] | select(.name == "crowd")]'

fail()
{
	echo "crowd: $*" >&2
	exit 1
}

# judge WHAT FIGURE CONDITION: the condition is of awk, on x, the figure.
judge()
{
	if awk -v x="$2" "BEGIN { exit !($3) }"; then
		echo "ok $1: $2"
	else
		failed=1
		echo "FAIL $1: $2, which is not $3"
	fi
}

seconds_since()
{
	awk -v us=$((${EPOCHREALTIME/./} - $1)) 'BEGIN { printf "%.1f", us / 1e6 }'
}

# await FILE WORDS PID
await()
{
	until grep -q -e "$2" "$T/$1" 2>/dev/null; do
		kill -0 "$3" 2>/dev/null || fail "no '$2' in $1: $(cat "$T/$1")"
		sleep 0.2
	done
}

family()
{
	local keeper

	keeper=$(pgrep -P "$daemon" | paste -sd,)
	echo "$daemon" "${keeper//,/ }"
	[ -z "$keeper" ] || pgrep -P "$keeper"
}

# memory_of PID: resident, of that not shared with files or maps, and proportional, in KiB.
memory_of()
{
	awk '$1 == "VmRSS:" { rss = $2 } $1 == "RssAnon:" { anon = $2 } $1 == "Pss:" { pss = $2 }
		END { print rss + 0, anon + 0, pss + 0 }' "/proc/$1/status" "/proc/$1/smaps_rollup" 2>/dev/null
}

# Of quartzd, resident and its own; of it and all that it has started, proportional. In KiB.
memory()
{
	local member

	for member in $(family); do
		memory_of "$member"
	done | awk 'NR == 1 { own = $1 " " $2 } { pss += $3 } END { print own, pss }'
}

maps_kib()
{
	cat "/proc/$daemon/fdinfo"/* 2>/dev/null |
		awk '/^memlock:/ { m = $2 } /^map_id:/ { if (!seen[$2]++) sum += m } END { print int(sum / 1024) }'
}

# Processes and threads of users that there are: those of the kernel have no memory.
count_all()
{
	grep -sh '^Name:\|^VmSize:\|^Threads:' /proc/[0-9]*/status |
		awk '$1 == "Name:" { mapped = 0 } $1 == "VmSize:" { mapped = 1; n++ }
			$1 == "Threads:" && mapped { t += $2 } END { print n, t }'
}

echo $((processes * threads + 100000)) >/proc/sys/kernel/threads-max
echo 262144 >/proc/sys/kernel/pid_max
began=${EPOCHREALTIME/./}
"$o/tests/programs/crowd" "$processes" "$threads" 1 >"$T/crowd" 2>&1 &
crowd=$!
await crowd "crowd $processes" "$crowd"
echo "$processes processes of $threads threads after $(seconds_since "$began") s;" \
	"$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo) MiB free"

began=${EPOCHREALTIME/./}
"$o/quartzd" --system -o "$T/profile" >"$T/quartzd" 2>&1 &
daemon=$!
while kill -0 "$daemon" 2>/dev/null && sleep 0.5; do
	memory
done >"$T/memory" &
watch=$!
await quartzd 'attached to' "$daemon"
echo "attached after $(seconds_since "$began") s"
until "$o/quartzctl" ps --json >"$T/ps" 2>"$T/ps.err" && [ "$(jq "$in_crowd | length" "$T/ps")" -gt "$processes" ]; do
	kill -0 "$daemon" 2>/dev/null || fail "quartzd has ended: $(cat "$T/quartzd")"
	[ $SECONDS -lt "$limit" ] || fail "no full report: $(jq -c "[.rows_total, ($in_crowd | length)]" "$T/ps"; cat "$T/ps.err")"
	sleep 1
done
echo "first full report after $(seconds_since "$began") s"

sleep 30
read -r before before_threads <<<"$(count_all)"
asked=${EPOCHREALTIME/./}
"$o/quartzctl" ps --json >"$T/ps" 2>"$T/ps.err" || fail "ps: $(cat "$T/ps.err")"
echo "ps takes $(seconds_since "$asked") s"
read -r after after_threads <<<"$(count_all)"
echo "by /proc: $before processes with $before_threads threads before, $after with $after_threads after"
judge 'crowd' "$(jq "$in_crowd | length" "$T/ps")" "x == $((processes + 1))"
judge 'threads of the crowd' "$(jq "$in_crowd | map(.threads) | add" "$T/ps")" \
	"x == $((processes * threads + 1))"
judge 'living processes' "$(jq '[.rows[] | select(.kind == "process" and (.ended | not))] | length' "$T/ps")" \
	"x >= $((before < after ? before : after)) - 20 && x <= $((before > after ? before : after)) + 20"
if [ -r /sys/fs/bpf/quartz/threads ]; then
	asked=${EPOCHREALTIME/./}
	cat /sys/fs/bpf/quartz/threads >"$T/text"
	echo "text of threads takes $(seconds_since "$asked") s, $(wc -c <"$T/text") bytes"
	pgrep -x crowd >"$T/pids"
	judge 'crowd in the text of threads' \
		"$(awk 'NR == FNR { crowd[$1]; next } $2 in crowd { n++ } END { print n + 0 }' "$T/pids" "$T/text")" \
		"x == $((processes * threads + 1))"
fi
"$o/quartzctl" status
echo "memory of BPF maps: $(maps_kib) KiB"
read -r rss anon pss <<<"$(memory)"
echo "then: $rss KiB resident, $anon its own, $pss proportional with its children"

asked=${EPOCHREALTIME/./}
kill -TERM "$daemon"
wait "$daemon"
judge 'exit status' $? 'x == 0'
echo "ends after $(seconds_since "$asked") s"
kill "$watch"
for column in 1 2 3; do
	sort -n -k $column "$T/memory" | tail -n 1 | cut -d' ' -f$column
done | paste -sd' ' >"$T/peak"
read -r rss anon pss <"$T/peak"
judge 'most of quartzd that is resident, KiB' "$rss" 'x > 0 && x <= 256 * 1024'
judge 'most of its own, KiB' "$anon" 'x > 0 && x <= 256 * 1024'
judge 'most with its children, proportional, KiB' "$pss" 'x > 0 && x <= 256 * 1024'
"$o/quartzctl" report -i "$T/profile" -n 1 --json | jq '.ledger' >"$T/ledger"
jq -c . "$T/ledger"
judge 'processes and threads refused' "$(jq '.events | .scopes_refused + .threads_refused' "$T/ledger")" 'x == 0'
judge 'samples expected, less all that is known of' \
	"$(jq '.expected - .accepted - .filtered - ([.lost[]] | add) - .unaccounted' "$T/ledger")" 'x == 0'
judge 'samples missing without a cause, share' \
	"$(jq '.unaccounted / ([.expected, 1] | max)' "$T/ledger")" 'x <= 0.01 && x >= -0.01'
cat "$T/quartzd"
kill -TERM "$crowd"
exit $failed
