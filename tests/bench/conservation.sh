# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Whether all of a busy server is in what quartzd --system measures: the time of its processors (/proc/stat), of
# processes that ended (wait4) and of those that live (schedstat), all samples, and names. Differences of what
# lives are taken between two snapshots, and lie between the inner and the outer differences of the kernel's.

seconds=${WINDOW-40}

# shellcheck source=/dev/null
. "$here/load.sh"

# Compilers and compressors whose ends are noted; a process of each has no children. And the forks, all
# of them as one.
start_waited()
{
	make_files
	start compile "$out/tests/bench/waited" 0 "$(cc -print-prog-name=cc1)" -quiet -O2 \
		-o "$T/source.s" "$T/source.c"
	waiters=("$pid")
	start compress "$out/tests/bench/waited" 0 pigz -c "$T/text"
	waiters+=("$pid")
	start forks "$out/tests/bench/waited" 0.05 "$out/tests/programs/forks" 20 4
	waiters+=("$pid")
}

stop_waited()
{
	kill -TERM "${waiters[@]}"
	wait "${waiters[@]}"
}

# look NAME: "PID THREADS NS" of each process, and the time that all processors were idle, in ns.
look()
{
	grep -s '' /proc/[0-9]*/task/[0-9]*/schedstat | awk -F '[/: ]' '
		{ ns[$3] += $7; ids[$3] = ids[$3] "," $5 }
		END { for (p in ns) printf "%d %s %.0f\n", p, ids[p], ns[p] }' | sort >"$T/$1.cpu"
	awk '/^cpu / { printf "%.0f\n", ($5 + $6) * 1e7 }' /proc/stat >"$T/$1.idle"
}

# ask FILE COMMAND...: of quartzd, which may be late on a busy machine.
ask()
{
	local file=$1 tries

	shift
	for ((tries = 0; tries < 20; tries++)); do
		"$out/quartzctl" "$@" --rows 0 --json >"$T/$file" 2>"$T/ask.err"
		[ $? = 1 ] || return 0
	done
	fail "no $1: $(cat "$T/ask.err")"
}

# take N: what each process used, and what the processors did, each between two looks.
take()
{
	look "processes_before$1"
	ask "ps$1" ps
	look "processes_after$1"
	look "machine_before$1"
	ask "report$1" report
	look "machine_after$1"
}

# between FROM TO: "PID NS" of processes that have the same threads at both looks.
between()
{
	join "$T/$1.cpu" "$T/$2.cpu" | awk '$2 == $4 { printf "%d %.0f\n", $1, $5 - $3 }' | sort
}

# The time of all processors that was not idle: by the machine's levels, and by the kernel.
machine_busy()
{
	jq -r --slurpfile from "$T/report1" --argjson least "$(idle_between machine_before1 machine_after2)" \
		--argjson most "$(idle_between machine_after1 machine_before2)" '
		def busy: [.level_ns | to_entries[] | .key * .value] | add;
		.processors as $n | .scopes[0] as $to | $from[0].scopes[0] as $from |
		($n * ($to.elapsed_ns - $from.elapsed_ns)) as $all |
		"\(($to | busy) - ($from | busy)) \($all - $least) \($all - $most)"' "$T/report2"
}

idle_between()
{
	echo $(($(cat "$T/$2.idle") - $(cat "$T/$1.idle")))
}

# Of lines "MEASURED LEAST MOST": by how much the measured is out of the two, in ms, the median and the worst;
# and how many are out by more than 1 % and two ticks.
print_brackets()
{
	awk '{ off = $1 - $3; if ($1 <= $3) off = $1 < $2 ? $2 - $1 : 0; printf "%.0f %s\n", off, $0 }' |
		sort -g | awk -v title="$1" '
		{ off[NR] = $1; sum += $2; least += $3; most += $4; if ($1 > $4 * 0.01 && $1 > 2e7) wrong++ }
		END { printf "%s: %d, %.4f s measured; by the kernel %.4f to %.4f s; outside of it by %.3f ms " \
			"(median), %.3f ms (worst); by more than 1 %% and 2 ticks: %d\n", title, NR, sum / 1e9,
			least / 1e9, most / 1e9, off[int((NR + 1) / 2)] / 1e6, off[NR] / 1e6, wrong + 0 }'
}

# Of lines "PID NS ...": one for each number, which may have been used again.
add_up()
{
	awk '{ ns[$1] += $2 } END { for (p in ns) printf "%d %.0f\n", p, ns[p] }' | sort
}

# Those that have a row of their own. Others, of less than a second, are in one for all of their program.
ended_processes()
{
	awk '$3 >= 1e8 { print $1 }' "$T/compile.out" "$T/compress.out" | sort -u >"$T/long"
	cat "$T/compile.out" "$T/compress.out" | add_up >"$T/waited"
	jq -r '.rows[] | select(.name == "cc1" or .name == "pigz") | "\(.pid) \(.cpu_ns)"' "$T/ps" |
		add_up >"$T/measured"
	join "$T/long" "$T/waited" | join -o 2.2,1.2,1.2 - "$T/measured"
}

processes_of()
{
	awk -v measured="$(jq --arg name "$1" \
		'[.rows[] | select(.name == $name or .name == $name + " (short-lived)").cpu_ns] | add' "$T/ps")" '
		{ ns += $2 } END { printf "%.0f %.0f %.0f\n", measured, ns, ns }' "$T/$2.out"
}

# names TITLE FILTER: of the samples of rows.
names()
{
	jq -r --arg title "$1" "[.rows[] | select($2)] |
		([.[].samples] | add) as \$samples | ([.[].unresolved] | add) as \$without |
		\"\(\$title): \(\$without) of \(\$samples) samples without a name, \" +
		\"\((\$without / ([\$samples, 1] | max) * 10000 | round) / 100) %\"" "$T/ps"
}

export QUARTZ_RUNTIME_DIR=$T/run QUARTZ_STATE_DIR=$T/state QUARTZ_CONFIG_DIR=$T/etc QUARTZ_CACHE_DIR=$T/cache
start_redis
start_postgres
# no limit, so that samples are many: exact times do not depend on their number
start quartzd "$out/quartzd" --system --max-overhead 0 --ended-memory 32 --output "$T/profile"
daemon=$pid
await quartzd.err 'attached to'
start_waited
sleep 5
take 1
sleep "$seconds"
take 2
stop_waited
kill -TERM "$daemon"
wait "$daemon"
stop_load

"$out/quartzctl" ps -i "$T/profile" --rows 0 --json >"$T/ps"
"$out/quartzctl" report -i "$T/profile" --rows 1 --json >"$T/report"
echo "$(jq .rows_total "$T/ps") processes in $(jq '.window_ns / 1e9 | floor' "$T/ps") s"
machine_busy | print_brackets 'busy time of the machine'
ended_processes | print_brackets 'processes that lived 100 ms or more and ended'
processes_of cc1 compile | print_brackets 'all compilers together'
processes_of pigz compress | print_brackets 'all compressors together'
processes_of forks forks | print_brackets 'all forks together'
for at in 1 2; do
	jq -r '.rows[] | select(.ended | not) | select(.kind == "process") | "\(.pid) \(.cpu_ns)"' "$T/ps$at" |
		sort >"$T/cpu$at"
done
between processes_after1 processes_before2 >"$T/inner"
between processes_before1 processes_after2 >"$T/outer"
join "$T/cpu1" "$T/cpu2" | awk '{ printf "%d %.0f\n", $1, $3 - $2 }' | join - "$T/inner" | join - "$T/outer" |
	cut -d' ' -f2- | print_brackets 'processes that lived all the time'
names 'all' true
jq -r '[.rows | group_by(.name)[] | {name: .[0].name, n: [.[].unresolved] | add}] | max_by(.n) |
	"most of these: \(.n), of \(.name)"' "$T/ps"
names 'the load' '.name | IN("redis-server", "redis-benchmark", "postgres", "pgbench", "cc1", "pigz", "forks")'
jq -r '.ledger | "samples expected \(.expected), accepted \(.accepted), filtered \(.filtered), lost \([.lost[]] | add), " +
	"missing without a cause \(.unaccounted): \((.unaccounted / .expected * 10000 | round) / 100) %",
	(.events | "not followed: \(.scopes_refused) processes, \(.threads_refused) threads; events lost \(.events_lost)")' \
	"$T/report"
